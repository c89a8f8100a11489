/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output.h"

#include <string.h>

#include "log.h"

#define DEFAULT_QUEUE 10000
#define POLL_INTERVAL (50 * G_TIME_SPAN_MILLISECOND)
#define RETRY_MIN (G_TIME_SPAN_SECOND / 4)
#define RETRY_MAX (10 * G_TIME_SPAN_SECOND)
#define REPORT_INTERVAL (10 * G_TIME_SPAN_SECOND)

struct _WatchOutput {
  gchar *name;
  gchar *uri; /* without credentials */
  GHashTable *options;
  GHashTable *used_options;
  const WatchOutputClass *class;
  gpointer destination;
  guint capacity;

  GMutex lock;
  GCond changed;       /* the queue, a flag, or a count */
  GQueue lines;        /* WatchLine */
  GHashTable *cameras; /* name → WatchLineCounts */
  gboolean reopen, ended, abandoned, closed, finished;
  gboolean connected;
  guint n_pending;
  guint64 n_delivered, n_dropped;
  guint64 n_reported; /* of n_dropped */
  gint64 report_time;

  /* Of the thread. */
  gboolean is_open;
  gboolean failure_reported;
  gint64 retry_time, retry_delay;
};

/* Lines. */

WatchLine *
watch_line_new (const gchar *text, gsize length, const gchar *camera)
{
  WatchLine *line = g_atomic_rc_box_new0 (WatchLine);

  line->text = g_strndup (text, length);
  line->length = length;
  line->camera = g_strdup (camera);
  return line;
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
  g_free (line->camera);
}

void
watch_line_unref (WatchLine *line)
{
  g_atomic_rc_box_release_full (line, (GDestroyNotify)clear_line);
}

/* The thread. Functions named _locked are called with the lock. */

static void
report_dropped_locked (WatchOutput *output, gboolean now)
{
  gint64 time = g_get_monotonic_time ();

  if (output->n_dropped == output->n_reported ||
      (!now && time < output->report_time + REPORT_INTERVAL))
    return;
  watch_log_warning ("output %s: %" G_GUINT64_FORMAT " lines were dropped, %" G_GUINT64_FORMAT
                     " since the start",
      output->name, output->n_dropped - output->n_reported, output->n_dropped);
  output->n_reported = output->n_dropped;
  output->report_time = time;
}

static WatchLineCounts *
counts_of_locked (WatchOutput *output, const gchar *camera)
{
  WatchLineCounts *counts = g_hash_table_lookup (output->cameras, camera);

  if (!counts) {
    counts = g_new0 (WatchLineCounts, 1);
    g_hash_table_insert (output->cameras, g_strdup (camera), counts);
  }
  return counts;
}

/* A line that is not in the queue is dropped. */
static void
count_dropped_locked (WatchOutput *output, const WatchLine *line)
{
  output->n_dropped++;
  counts_of_locked (output, line->camera)->n_dropped++;
}

static void
push_locked (WatchOutput *output, WatchLine *line)
{
  g_queue_push_tail (&output->lines, watch_line_ref (line));
  counts_of_locked (output, line->camera)->n_queued++;
}

/* The first line leaves the queue; NULL if there is none. The caller frees it. */
static WatchLine *
pop_locked (WatchOutput *output)
{
  WatchLine *line = g_queue_pop_head (&output->lines);

  if (line)
    counts_of_locked (output, line->camera)->n_queued--;
  return line;
}

static void
drop_first_locked (WatchOutput *output)
{
  WatchLine *line = pop_locked (output);

  count_dropped_locked (output, line);
  watch_line_unref (line);
}

static void
drop_all_locked (WatchOutput *output)
{
  while (!g_queue_is_empty (&output->lines))
    drop_first_locked (output);
}

static void
report_failure (WatchOutput *output, GError *error)
{
  if (!output->failure_reported)
    watch_log_warning ("output %s: %s; trying again", output->name,
        error ? error->message : "the connection is lost");
  output->failure_reported = TRUE;
  g_clear_error (&error);
}

static void
try_to_open (WatchOutput *output)
{
  GError *error = NULL;
  gint64 now = g_get_monotonic_time ();

  if (output->is_open || now < output->retry_time)
    return;
  output->is_open = output->class->open (output->destination, &error);
  if (output->is_open) {
    if (output->failure_reported)
      watch_log_info ("output %s: connected again", output->name);
    output->failure_reported = FALSE;
    output->retry_delay = RETRY_MIN;
  } else {
    report_failure (output, error);
    output->retry_time = g_get_monotonic_time () + output->retry_delay;
    output->retry_delay = MIN (2 * output->retry_delay, RETRY_MAX);
  }
}

/* Sends one line. TRUE if it left the queue. */
static gboolean
send_line (WatchOutput *output, WatchLine *line)
{
  GError *error = NULL;
  WatchSend result;

  /* Counted before, because the acknowledgement may come at once. */
  g_mutex_lock (&output->lock);
  output->n_pending++;
  g_mutex_unlock (&output->lock);
  result = output->class->send (output->destination, line, &error);

  g_mutex_lock (&output->lock);
  if (result != WATCH_SEND_PENDING)
    output->n_pending--;
  switch (result) {
  case WATCH_SEND_DELIVERED:
    output->n_delivered++;
    break;
  case WATCH_SEND_CLOSED:
    output->closed = TRUE;
    count_dropped_locked (output, line);
    drop_all_locked (output);
    break;
  default:
    break;
  }
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);

  if (result == WATCH_SEND_FAILED) {
    output->class->close (output->destination);
    output->is_open = FALSE;
    output->retry_time = g_get_monotonic_time () + RETRY_MIN;
    report_failure (output, error);
  } else if (result == WATCH_SEND_CLOSED) {
    watch_log_error ("output %s: %s", output->name, error->message);
    g_clear_error (&error);
  }
  return result != WATCH_SEND_AGAIN && result != WATCH_SEND_FAILED;
}

/* Sends the waiting lines in order. FALSE if the destination takes no more for the moment. */
static gboolean
send_lines (WatchOutput *output)
{
  while (output->is_open) {
    WatchLine *line;
    gboolean sent;

    g_mutex_lock (&output->lock);
    line = output->abandoned || output->reopen ? NULL : pop_locked (output);
    g_mutex_unlock (&output->lock);
    if (!line)
      return TRUE;
    sent = send_line (output, line);
    if (sent) {
      watch_line_unref (line);
      continue;
    }
    g_mutex_lock (&output->lock);
    g_queue_push_head (&output->lines, line);
    counts_of_locked (output, line->camera)->n_queued++;
    g_mutex_unlock (&output->lock);
    return FALSE;
  }
  return FALSE;
}

static gboolean
is_flushed (WatchOutput *output)
{
  return !output->is_open || !output->class->flush || output->class->flush (output->destination);
}

static gpointer
run (gpointer data)
{
  WatchOutput *output = data;
  gboolean end = FALSE;

  while (!end) {
    gboolean reopen, is_empty, can_send;

    try_to_open (output);
    if (output->class->poll)
      output->class->poll (output->destination);
    can_send = send_lines (output);

    g_mutex_lock (&output->lock);
    report_dropped_locked (output, FALSE);
    is_empty = g_queue_is_empty (&output->lines) && output->n_pending == 0;
    end = output->abandoned || output->closed;
    g_mutex_unlock (&output->lock);
    if (!end && is_empty && is_flushed (output)) {
      g_mutex_lock (&output->lock);
      end = output->ended && g_queue_is_empty (&output->lines);
      g_mutex_unlock (&output->lock);
    }

    g_mutex_lock (&output->lock);
    if (!end && !output->reopen && (g_queue_is_empty (&output->lines) || !can_send))
      g_cond_wait_until (&output->changed, &output->lock, g_get_monotonic_time () + POLL_INTERVAL);
    reopen = output->reopen;
    output->reopen = FALSE;
    g_mutex_unlock (&output->lock);
    if (reopen && output->class->reopen)
      output->class->reopen (output->destination);
  }
  if (output->is_open)
    output->class->close (output->destination);
  /* In this thread, before the process may exit and the libraries free their global data. */
  output->class->free (output->destination);
  output->destination = NULL;

  g_mutex_lock (&output->lock);
  drop_all_locked (output);
  output->n_dropped += output->n_pending;
  output->n_pending = 0;
  report_dropped_locked (output, TRUE);
  output->finished = TRUE;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
  watch_output_unref (output);
  return NULL;
}

/* The interface. */

static const WatchOutputClass *
class_of_uri (const gchar *uri)
{
  if (g_str_has_prefix (uri, "tcp://"))
    return &watch_output_tcp;
  if (g_str_has_prefix (uri, "mqtt://") || g_str_has_prefix (uri, "mqtts://"))
    return &watch_output_mqtt;
  if (g_str_has_prefix (uri, "kafka://"))
    return &watch_output_kafka;
  if (strstr (uri, "://") && !g_str_has_prefix (uri, "file://"))
    return NULL;
  return &watch_output_file;
}

const gchar *
watch_output_option (WatchOutput *output, const gchar *key)
{
  g_hash_table_add (output->used_options, (gpointer)key);
  return g_hash_table_lookup (output->options, key);
}

guint
watch_output_capacity (WatchOutput *output)
{
  return output->capacity;
}

const gchar *
watch_output_name (WatchOutput *output)
{
  return output->name;
}

static gboolean
read_options (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  const gchar *queue = watch_output_option (output, "queue");
  guint64 capacity = DEFAULT_QUEUE;
  GHashTableIter iter;
  gpointer key;

  if (queue && !g_ascii_string_to_unsigned (queue, 10, 1, 100000000, &capacity, error)) {
    g_prefix_error (error, "queue: ");
    return FALSE;
  }
  output->capacity = capacity;
  output->class = class_of_uri (config->uri);
  if (!output->class) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0,
        "the URI is none of -, a path, tcp://, mqtt://, mqtts:// and kafka://");
    return FALSE;
  }
  output->destination = output->class->new (output, config, error);
  if (!output->destination)
    return FALSE;
  g_hash_table_iter_init (&iter, output->options);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (!g_hash_table_contains (output->used_options, key)) {
      g_set_error (error, WATCH_CONFIG_ERROR, 0, "there is no key \"%s\"", (const gchar *)key);
      return FALSE;
    }
  return TRUE;
}

static void
clear_output (WatchOutput *output)
{
  if (output->destination)
    output->class->free (output->destination);
  g_queue_clear_full (&output->lines, (GDestroyNotify)watch_line_unref);
  g_hash_table_unref (output->cameras);
  g_hash_table_unref (output->used_options);
  g_hash_table_unref (output->options);
  g_mutex_clear (&output->lock);
  g_cond_clear (&output->changed);
  g_free (output->name);
  g_free (output->uri);
}

WatchOutput *
watch_output_ref (WatchOutput *output)
{
  return g_atomic_rc_box_acquire (output);
}

void
watch_output_unref (WatchOutput *output)
{
  g_atomic_rc_box_release_full (output, (GDestroyNotify)clear_output);
}

/* Without its thread. */
static WatchOutput *
new_output (const WatchOutputConfig *config, GError **error)
{
  WatchOutput *output = g_atomic_rc_box_new0 (WatchOutput);

  output->name = g_strdup (config->name);
  output->uri = watch_redact (config->uri);
  output->options = g_hash_table_ref (config->options);
  output->used_options = g_hash_table_new (g_str_hash, g_str_equal);
  output->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  output->retry_delay = RETRY_MIN;
  g_mutex_init (&output->lock);
  g_cond_init (&output->changed);
  g_queue_init (&output->lines);
  if (!read_options (output, config, error)) {
    g_prefix_error (error, "output %s: ", config->name);
    watch_output_unref (output);
    return NULL;
  }
  return output;
}

gboolean
watch_output_check (const WatchOutputConfig *config, GError **error)
{
  WatchOutput *output = new_output (config, error);
  gboolean is_valid = output != NULL;

  g_clear_pointer (&output, watch_output_unref);
  return is_valid;
}

WatchOutput *
watch_output_new (const WatchOutputConfig *config, GError **error)
{
  WatchOutput *output = new_output (config, error);

  if (output)
    g_thread_unref (g_thread_new ("output", run, watch_output_ref (output)));
  return output;
}

void
watch_output_abandon (WatchOutput *output)
{
  g_mutex_lock (&output->lock);
  output->abandoned = TRUE;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
}

void
watch_output_push (WatchOutput *output, WatchLine *line, gint *cancelled)
{
  g_mutex_lock (&output->lock);
  while (cancelled && !g_atomic_int_get (cancelled) && !output->ended && !output->closed &&
         g_queue_get_length (&output->lines) >= output->capacity)
    g_cond_wait_until (&output->changed, &output->lock, g_get_monotonic_time () + POLL_INTERVAL);
  if (output->ended || output->closed) {
    count_dropped_locked (output, line);
  } else {
    if (g_queue_get_length (&output->lines) >= output->capacity)
      drop_first_locked (output);
    push_locked (output, line);
    g_cond_broadcast (&output->changed);
  }
  g_mutex_unlock (&output->lock);
}

void
watch_output_acknowledge (WatchOutput *output, guint n_lines)
{
  g_mutex_lock (&output->lock);
  n_lines = MIN (n_lines, output->n_pending);
  output->n_pending -= n_lines;
  output->n_delivered += n_lines;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
}

void
watch_output_lose (WatchOutput *output, guint n_lines, const gchar *reason)
{
  watch_log_warning ("output %s: a line was refused: %s", output->name, reason);
  g_mutex_lock (&output->lock);
  n_lines = MIN (n_lines, output->n_pending);
  output->n_pending -= n_lines;
  output->n_dropped += n_lines;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
}

void
watch_output_set_connected (WatchOutput *output, gboolean connected)
{
  g_mutex_lock (&output->lock);
  output->connected = connected;
  g_mutex_unlock (&output->lock);
}

void
watch_output_reopen (WatchOutput *output)
{
  g_mutex_lock (&output->lock);
  output->reopen = TRUE;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
}

void
watch_output_end (WatchOutput *output)
{
  g_mutex_lock (&output->lock);
  output->ended = TRUE;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
}

gboolean
watch_output_wait (WatchOutput *output, gint64 until)
{
  gboolean finished;

  g_mutex_lock (&output->lock);
  while (!output->finished && g_cond_wait_until (&output->changed, &output->lock, until)) {
  }
  finished = output->finished;
  g_mutex_unlock (&output->lock);
  return finished;
}

void
watch_output_get_status (WatchOutput *output, WatchOutputStatus *status)
{
  g_mutex_lock (&output->lock);
  *status = (WatchOutputStatus){
      .name = g_strdup (output->name),
      .uri = g_strdup (output->uri),
      .connected = output->connected,
      .n_delivered = output->n_delivered,
      .n_dropped = output->n_dropped,
      .n_queued = g_queue_get_length (&output->lines) + output->n_pending,
      .capacity = output->capacity,
  };
  g_mutex_unlock (&output->lock);
}

void
watch_output_add_counts (WatchOutput *output, const gchar *camera, WatchLineCounts *counts)
{
  const WatchLineCounts *own;

  g_mutex_lock (&output->lock);
  own = g_hash_table_lookup (output->cameras, camera);
  if (own) {
    counts->n_queued += own->n_queued;
    counts->n_dropped += own->n_dropped;
  }
  g_mutex_unlock (&output->lock);
}

gboolean
watch_output_is_closed (WatchOutput *output)
{
  gboolean closed;

  g_mutex_lock (&output->lock);
  closed = output->closed;
  g_mutex_unlock (&output->lock);
  return closed;
}
