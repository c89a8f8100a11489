/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "history.h"

#include <gst/ccl/ccl.h>
#include <string.h>

#define EVENTS_PER_KIND 50

/* What is kept of one camera. */
typedef struct {
  GHashTable *events; /* kind → GQueue of WatchPastEvent, the newest first */
  gint64 second;      /* of the newest count; monotonic time, so clock steps do not matter */
  guint16 counts[WATCH_HISTORY_SECONDS]; /* at the index: second modulo the length */
} Past;

struct _WatchHistory {
  WatchObserver observer;
  GMutex lock;
  GHashTable *cameras; /* name → Past */
  gint64 start;        /* UTC in microseconds */
  guint64 first, last; /* numbers: before the program's first event, and of the last one */
};

WatchPastEvent *
watch_past_event_new (gint64 utc, const gchar *camera, const gchar *kind, const gchar *line)
{
  WatchPastEvent *event = g_atomic_rc_box_new0 (WatchPastEvent);

  event->utc = utc;
  event->camera = g_strdup (camera);
  event->kind = g_strdup (kind);
  event->line = g_strdup (line);
  return event;
}

static void
clear_event (gpointer data)
{
  WatchPastEvent *event = data;

  g_free (event->camera);
  g_free (event->kind);
  g_free (event->line);
}

static void
event_unref (gpointer event)
{
  g_atomic_rc_box_release_full (event, clear_event);
}

static void
event_queue_free (gpointer queue)
{
  g_queue_free_full (queue, event_unref);
}

static gint64
current_second (void)
{
  return g_get_monotonic_time () / G_USEC_PER_SEC;
}

static void
past_free (gpointer data)
{
  Past *past = data;

  g_hash_table_unref (past->events);
  g_free (past);
}

/* Called with the lock held. */
static Past *
get_past (WatchHistory *history, const gchar *camera)
{
  Past *past = g_hash_table_lookup (history->cameras, camera);

  if (!past) {
    past = g_new (Past, 1);
    past->events = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, event_queue_free);
    past->second = current_second ();
    memset (past->counts, 0xff, sizeof past->counts);
    g_hash_table_insert (history->cameras, g_strdup (camera), past);
  }
  return past;
}

/* The same. */
static GQueue *
get_queue (Past *past, const gchar *kind)
{
  GQueue *queue = g_hash_table_lookup (past->events, kind);

  if (!queue) {
    queue = g_queue_new ();
    g_hash_table_insert (past->events, g_strdup (kind), queue);
  }
  return queue;
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  WatchHistory *history = data;
  WatchPastEvent *past_event;
  GQueue *queue;
  g_autoptr (GMutexLocker) locker = NULL;

  if (event->is_muted)
    return;
  locker = g_mutex_locker_new (&history->lock);
  if (watch_camera_is_removed (camera))
    return;
  past_event = watch_past_event_new (event->utc, event->camera, event->kind, event->line);
  past_event->number = ++history->last;
  queue = get_queue (get_past (history, event->camera), event->kind);
  g_queue_push_head (queue, past_event);
  if (g_queue_get_length (queue) > EVENTS_PER_KIND)
    event_unref (g_queue_pop_tail (queue));
}

/* Moves the newest count to this second and marks those in between as without a frame. */
static void
advance (Past *past, gint64 second)
{
  if (second - past->second > WATCH_HISTORY_SECONDS)
    past->second = second - WATCH_HISTORY_SECONDS;
  while (past->second < second)
    past->counts[++past->second % WATCH_HISTORY_SECONDS] = WATCH_HISTORY_NO_FRAME;
}

static void
on_frame (
    gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time)
{
  WatchHistory *history = data;
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint16 n, *count;
  Past *past;

  if (!meta)
    return;
  n = MIN (gst_ccl_meta_get_n_components (meta), WATCH_HISTORY_NO_FRAME - 1);
  g_mutex_lock (&history->lock);
  if (!watch_camera_is_removed (camera)) {
    past = get_past (history, watch_camera_get_name (camera));
    advance (past, current_second ());
    count = &past->counts[past->second % WATCH_HISTORY_SECONDS];
    if (*count == WATCH_HISTORY_NO_FRAME || n > *count)
      *count = n;
  }
  g_mutex_unlock (&history->lock);
}

WatchHistory *
watch_history_new (Watch *watch)
{
  WatchHistory *history = g_new0 (WatchHistory, 1);

  /* Events are numbered from the time on, in milliseconds. As there is less than one event a
   * millisecond, the numbers exceed those of all former runs. */
  history->start = g_get_real_time ();
  history->first = history->last = history->start / 1000;
  g_mutex_init (&history->lock);
  history->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, past_free);
  history->observer = (WatchObserver){.event = on_event, .frame = on_frame, .data = history};
  watch_add_observer (watch, &history->observer);
  return history;
}

void
watch_history_free (WatchHistory *history)
{
  g_hash_table_unref (history->cameras);
  g_mutex_clear (&history->lock);
  g_free (history);
}

void
watch_history_forget (WatchHistory *history, const gchar *camera)
{
  g_mutex_lock (&history->lock);
  g_hash_table_remove (history->cameras, camera);
  g_mutex_unlock (&history->lock);
}

static gint
compare_newest_first (gconstpointer a, gconstpointer b)
{
  const WatchPastEvent *first = *(const WatchPastEvent *const *)a;
  const WatchPastEvent *second = *(const WatchPastEvent *const *)b;

  return (first->number < second->number) - (first->number > second->number);
}

/* Adds a past's events to the list. */
static void
collect (Past *past, const gchar *const *kinds, guint64 after, GPtrArray *events)
{
  GHashTableIter iter;
  gpointer kind, queue;

  g_hash_table_iter_init (&iter, past->events);
  while (g_hash_table_iter_next (&iter, &kind, &queue)) {
    if (kinds && !g_strv_contains (kinds, kind))
      continue;
    for (GList *l = ((GQueue *)queue)->head; l; l = l->next)
      if (((WatchPastEvent *)l->data)->number > after)
        g_ptr_array_add (events, l->data);
  }
}

guint
watch_history_count_events (WatchHistory *history)
{
  GHashTableIter cameras, kinds;
  gpointer past, queue;
  guint n = 0;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&history->lock);

  g_hash_table_iter_init (&cameras, history->cameras);
  while (g_hash_table_iter_next (&cameras, NULL, &past)) {
    g_hash_table_iter_init (&kinds, ((Past *)past)->events);
    while (g_hash_table_iter_next (&kinds, NULL, &queue))
      n += g_queue_get_length (queue);
  }
  return n;
}

guint64
watch_history_add_past (WatchHistory *history, GPtrArray *events)
{
  g_mutex_lock (&history->lock);
  for (guint i = events->len; i-- > 0;) {
    WatchPastEvent *event = events->pdata[i];
    GQueue *queue = get_queue (get_past (history, event->camera), event->kind);

    /* The clock may have been set back. */
    event->number = MIN (event->number, history->first - (events->len - 1 - i));
    if (g_queue_get_length (queue) < EVENTS_PER_KIND)
      g_queue_push_tail (queue, event);
    else
      event_unref (event);
  }
  g_mutex_unlock (&history->lock);
  g_ptr_array_unref (events);
  return history->first;
}

GPtrArray *
watch_history_get_events (WatchHistory *history, const gchar *camera, const gchar *const *kinds,
    guint64 after, guint limit)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  GPtrArray *events = g_ptr_array_new_with_free_func (event_unref);
  GHashTableIter iter;
  gpointer name, past;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&history->lock);

  g_hash_table_iter_init (&iter, history->cameras);
  while (g_hash_table_iter_next (&iter, &name, &past))
    if (!camera || g_str_equal (camera, name))
      collect (past, kinds, after, all);
  g_ptr_array_sort (all, compare_newest_first);
  for (guint i = 0; i < MIN (all->len, limit); i++)
    g_ptr_array_add (events, g_atomic_rc_box_acquire (all->pdata[i]));
  return events;
}

gint64
watch_history_get_start (WatchHistory *history)
{
  return history->start;
}

void
watch_history_get_counts (
    WatchHistory *history, const gchar *camera, guint step, guint n_points, guint16 *counts)
{
  Past *past;

  memset (counts, 0xff, n_points * sizeof *counts);
  g_mutex_lock (&history->lock);
  past = g_hash_table_lookup (history->cameras, camera);
  if (past) {
    gint64 end, first;

    advance (past, current_second ());
    end = past->second + 1;
    first = end - (gint64)step * n_points;
    for (gint64 s = MAX (MAX (first, 0), end - WATCH_HISTORY_SECONDS); s < end; s++) {
      guint16 count = past->counts[s % WATCH_HISTORY_SECONDS];
      guint16 *point = &counts[(s - first) / step];

      if (count != WATCH_HISTORY_NO_FRAME && (*point == WATCH_HISTORY_NO_FRAME || count > *point))
        *point = count;
    }
  }
  g_mutex_unlock (&history->lock);
}
