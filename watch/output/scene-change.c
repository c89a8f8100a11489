/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scene-change.h"

const gchar *
watch_scene_after (const gchar *kind)
{
  static const gchar *const lasting[] = {"moved", "infrared", "covered", "blinded"};

  for (guint i = 0; i < G_N_ELEMENTS (lasting); i++)
    if (g_strcmp0 (kind, lasting[i]) == 0)
      return lasting[i];
  return WATCH_SCENE_USUAL;
}
