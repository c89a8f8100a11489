/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "last-lines.h"

#include <string.h>

/* What a camera has one of at a time: the first letters of the kinds of lines that tell it. */
static const gchar *const aspects[] = {"state", "arming", "scene-change", "motion-"};

typedef struct {
  WatchLine *lines[G_N_ELEMENTS (aspects)]; /* NULL: nothing was told */
} LastLines;

static void
last_lines_free (gpointer data)
{
  LastLines *last = data;

  for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
    g_clear_pointer (&last->lines[i], watch_line_unref);
  g_free (last);
}

GHashTable *
watch_last_lines_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, last_lines_free);
}

static LastLines *
get_camera (GHashTable *cameras, const gchar *name)
{
  LastLines *last = g_hash_table_lookup (cameras, name);

  if (!last) {
    last = g_new0 (LastLines, 1);
    g_hash_table_insert (cameras, g_strdup (name), last);
  }
  return last;
}

void
watch_last_lines_take (GHashTable *cameras, WatchLine *line)
{
  if (strcmp (line->kind, "removed") == 0)
    g_hash_table_remove (cameras, line->camera);
  for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
    if (g_str_has_prefix (line->kind, aspects[i])) {
      WatchLine **kept = &get_camera (cameras, line->camera)->lines[i];

      g_clear_pointer (kept, watch_line_unref);
      *kept = watch_line_ref (line);
    }
}

void
watch_last_lines_push (GHashTable *cameras, WatchOutput *output)
{
  GHashTableIter iter;
  gpointer last;

  g_hash_table_iter_init (&iter, cameras);
  while (g_hash_table_iter_next (&iter, NULL, &last))
    for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
      if (((LastLines *)last)->lines[i]) {
        g_autoptr (WatchLine) past = watch_line_new_past (((LastLines *)last)->lines[i]);

        watch_output_push (output, past, NULL);
      }
}
