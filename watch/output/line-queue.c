/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "line-queue.h"

#include <string.h>

/* Lines. */

WatchLine *
watch_line_new (const gchar *text, gsize length, const gchar *camera)
{
  WatchLine *line = g_atomic_rc_box_new0 (WatchLine);

  line->text = g_strndup (text, length);
  line->length = length;
  line->kind = watch_line_get_kind (line->text);
  line->camera = g_strdup (camera);
  line->time = g_get_monotonic_time ();
  return line;
}

WatchLine *
watch_line_new_past (const WatchLine *line)
{
  WatchLine *past = watch_line_new (line->text, line->length, line->camera);

  past->is_past = TRUE;
  return past;
}

WatchLine *
watch_line_ref (WatchLine *line)
{
  return g_atomic_rc_box_acquire (line);
}

static void
clear_line (WatchLine *line)
{
  g_free (line->text);
  g_free (line->kind);
  g_free (line->camera);
}

void
watch_line_unref (WatchLine *line)
{
  g_atomic_rc_box_release_full (line, (GDestroyNotify)clear_line);
}

gchar *
watch_line_get_kind (const gchar *text)
{
  const gchar *name = strstr (text, "\"event\":\"");
  const gchar *end;

  if (!name)
    return g_strdup ("");
  name += strlen ("\"event\":\"");
  end = strchr (name, '"');
  return g_strndup (name, end ? end - name : 0);
}

/* The queue. */

void
watch_line_queue_init (WatchLineQueue *queue)
{
  g_queue_init (&queue->waiting);
  g_queue_init (&queue->sent);
  queue->links = g_hash_table_new (NULL, NULL);
  queue->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

void
watch_line_queue_clear (WatchLineQueue *queue)
{
  g_queue_clear_full (&queue->waiting, (GDestroyNotify)watch_line_unref);
  g_queue_clear_full (&queue->sent, (GDestroyNotify)watch_line_unref);
  g_hash_table_unref (queue->links);
  g_hash_table_unref (queue->cameras);
}

guint
watch_line_queue_length (const WatchLineQueue *queue)
{
  return queue->waiting.length + queue->sent.length;
}

static WatchLineCounts *
counts_of (WatchLineQueue *queue, const WatchLine *line)
{
  WatchLineCounts *counts = g_hash_table_lookup (queue->cameras, line->camera);

  if (!counts) {
    counts = g_new0 (WatchLineCounts, 1);
    g_hash_table_insert (queue->cameras, g_strdup (line->camera), counts);
  }
  return counts;
}

void
watch_line_queue_push (WatchLineQueue *queue, WatchLine *line)
{
  g_queue_push_tail (&queue->waiting, watch_line_ref (line));
  counts_of (queue, line)->n_queued++;
}

void
watch_line_queue_refuse (WatchLineQueue *queue, const WatchLine *line)
{
  queue->n_dropped++;
  counts_of (queue, line)->n_dropped++;
}

/* Removes the oldest line that waits; NULL if there is none. The caller frees it. */
static WatchLine *
pop (WatchLineQueue *queue)
{
  WatchLine *line = g_queue_pop_head (&queue->waiting);

  if (line)
    counts_of (queue, line)->n_queued--;
  return line;
}

void
watch_line_queue_drop_oldest (WatchLineQueue *queue)
{
  WatchLine *line = pop (queue);

  if (line) {
    watch_line_queue_refuse (queue, line);
    watch_line_unref (line);
  }
}

void
watch_line_queue_drop_all (WatchLineQueue *queue)
{
  watch_line_queue_take_back_all (queue);
  while (!g_queue_is_empty (&queue->waiting))
    watch_line_queue_drop_oldest (queue);
}

const WatchLine *
watch_line_queue_send (WatchLineQueue *queue)
{
  WatchLine *line = pop (queue);

  if (line) {
    g_queue_push_tail (&queue->sent, line);
    g_hash_table_insert (queue->links, line, queue->sent.tail);
  }
  return line;
}

/* Removes a line that was sent; NULL if it was not. The caller frees it. */
static WatchLine *
remove_sent (WatchLineQueue *queue, const WatchLine *line)
{
  gpointer key, link;

  if (!g_hash_table_steal_extended (queue->links, line, &key, &link))
    return NULL;
  g_queue_delete_link (&queue->sent, link);
  return key;
}

void
watch_line_queue_deliver (WatchLineQueue *queue, const WatchLine *line)
{
  WatchLine *own = remove_sent (queue, line);

  if (own) {
    queue->n_delivered++;
    watch_line_unref (own);
  }
}

void
watch_line_queue_drop (WatchLineQueue *queue, const WatchLine *line)
{
  WatchLine *own = remove_sent (queue, line);

  if (own) {
    watch_line_queue_refuse (queue, own);
    watch_line_unref (own);
  }
}

void
watch_line_queue_take_back (WatchLineQueue *queue, const WatchLine *line)
{
  WatchLine *own = remove_sent (queue, line);

  if (own) {
    g_queue_push_head (&queue->waiting, own);
    counts_of (queue, own)->n_queued++;
  }
}

void
watch_line_queue_take_back_all (WatchLineQueue *queue)
{
  while (!g_queue_is_empty (&queue->sent))
    watch_line_queue_take_back (queue, g_queue_peek_tail (&queue->sent));
}

void
watch_line_queue_add_counts (
    const WatchLineQueue *queue, const gchar *camera, WatchLineCounts *counts)
{
  const WatchLineCounts *own = g_hash_table_lookup (queue->cameras, camera);

  if (own) {
    counts->n_queued += own->n_queued;
    counts->n_dropped += own->n_dropped;
  }
}
