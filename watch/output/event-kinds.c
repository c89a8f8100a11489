/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event-kinds.h"

#include <string.h>

#include "watch/system/config-values.h"

/* The kinds of the set "usual" come first. */
static const gchar *const names[] = {"motion-begin", "motion-end", "scene-change", "state",
    "removed", "arming", "appeared", "vanished", "entered", "left", "stayed", "crossed", "faster",
    "slower", "merged", "split", NULL};
#define N_USUAL (G_N_ELEMENTS (names) - 3)
#define USUAL ((1u << N_USUAL) - 1)

static WatchEventKinds
kind_of_name (const gchar *name)
{
  for (guint i = 0; names[i]; i++)
    if (strcmp (names[i], name) == 0)
      return 1u << i;
  return 0;
}

static gboolean
add_name (const gchar *name, WatchEventKinds *kinds, GError **error)
{
  const WatchEventKinds kind = strcmp (name, "all") == 0     ? WATCH_EVENT_KINDS_ALL
                               : strcmp (name, "usual") == 0 ? USUAL
                                                             : kind_of_name (name);
  g_autofree gchar *list = g_strjoinv (", ", (gchar **)names);

  *kinds |= kind;
  return kind || watch_fail (error, "\"%s\" is none of all, usual, %.*s and split", name,
                     (gint)(strrchr (list, ',') - list), list);
}

const gchar *const *
watch_event_kinds_get_names (void)
{
  return names;
}

gboolean
watch_event_kinds_parse (const gchar *text, WatchEventKinds *kinds, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", 0);
  gboolean is_valid = TRUE;

  *kinds = 0;
  for (gchar **part = parts; is_valid && *part; part++)
    is_valid = add_name (g_strstrip (*part), kinds, error);
  return is_valid && (*kinds || add_name ("", kinds, error));
}

gboolean
watch_event_kinds_has (WatchEventKinds kinds, const gchar *kind)
{
  const WatchEventKinds bit = kind_of_name (kind);

  return !bit || (kinds & bit);
}
