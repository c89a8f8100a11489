/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "armed.h"

static void
clear_armed (WatchArmed *armed)
{
  g_clear_pointer (&armed->disarmed, g_hash_table_unref);
}

WatchArmed *
watch_armed_ref (WatchArmed *armed)
{
  return g_atomic_rc_box_acquire (armed);
}

void
watch_armed_unref (WatchArmed *armed)
{
  g_atomic_rc_box_release_full (armed, (GDestroyNotify)clear_armed);
}

gboolean
watch_armed_has_region (const WatchArmed *armed, const gchar *region)
{
  return armed->camera &&
         !(armed->disarmed && region && g_hash_table_contains (armed->disarmed, region));
}
