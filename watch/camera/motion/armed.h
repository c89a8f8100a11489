/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which parts of a camera raise alerts. */
#pragma once

#include <glib.h>

/* What raises alerts at a moment. Immutable. */
typedef struct {
  gboolean camera;
  GHashTable *disarmed; /* set of names of regions and lines; NULL: none is */
} WatchArmed;

WatchArmed *watch_armed_ref (WatchArmed *armed);
void watch_armed_unref (WatchArmed *armed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchArmed, watch_armed_unref)
gboolean watch_armed_has_region (const WatchArmed *armed, const gchar *region);
