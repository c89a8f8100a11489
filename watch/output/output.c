/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "watch/system/log.h"
#include "output-private.h"

#define DEFAULT_QUEUE 10000
#define MAX_PAUSE (3 * G_TIME_SPAN_SECOND) /* between two calls of watch_output_report() */
#define REPORT_INTERVAL (10 * G_TIME_SPAN_SECOND)
#define DEFAULT_STUCK 10.0 /* seconds */

/* The outputs by their schemes. `library` is what an output that this build lacks needs. */
static const struct {
  const gchar *scheme;
  const WatchOutputClass *class;
  const gchar *library;
} schemes[] = {
    {"file://", &watch_output_file, NULL},
    {"tcp://", &watch_output_tcp, NULL},
    {"http://", &watch_output_http, NULL},
    {"https://", &watch_output_http, NULL},
#if HAVE_MQTT
    {"mqtt://", &watch_output_mqtt, NULL},
    {"mqtts://", &watch_output_mqtt, NULL},
#else
    {"mqtt://", NULL, "libmosquitto"},
    {"mqtts://", NULL, "libmosquitto"},
#endif
#if HAVE_KAFKA
    {"kafka://", &watch_output_kafka, NULL},
#else
    {"kafka://", NULL, "librdkafka"},
#endif
};

static gboolean
is_webhook (const gchar *uri)
{
  return g_str_has_prefix (uri, "http://") || g_str_has_prefix (uri, "https://");
}

static const WatchOutputClass *
class_of_uri (const gchar *uri, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++) {
    if (!g_str_has_prefix (uri, schemes[i].scheme))
      continue;
    if (!schemes[i].class)
      watch_fail (error, "this build has no output for %s: it was made without %s",
          schemes[i].scheme, schemes[i].library);
    return schemes[i].class;
  }
  if (!strstr (uri, "://"))
    return &watch_output_file;
  watch_fail (error,
      "the URI is none of -, a path, tcp://, mqtt://, mqtts://, kafka://, http:// and https://");
  return NULL;
}

const gchar *
watch_output_option (WatchOutput *output, const gchar *key)
{
  g_hash_table_add (output->used_options, (gpointer)key);
  return g_hash_table_lookup (output->options, key);
}

gchar *
watch_output_place (const gchar *uri)
{
  gchar *place = watch_redact (uri);
  gchar *host = strstr (place, "://");

  if (host)
    host[3 + strcspn (host + 3, "/?#")] = 0;
  return place;
}

/* The key "results". */
static gboolean
choose_results (WatchOutput *output, const gchar *results, GError **error)
{
  output->wants_events_alone = g_strcmp0 (results, "events") == 0;
  if (!results || output->wants_events_alone || strcmp (results, "all") == 0)
    return TRUE;
  return watch_fail (error, "results: \"%s\" is none of all and events", results);
}

/* The key "events". */
static gboolean
choose_kinds (WatchOutput *output, const gchar *events, GError **error)
{
  if (!events)
    events = output->class->is_for_persons ? "usual" : "all";
  return watch_event_kinds_parse (events, &output->wanted, error) ||
         watch_fail_at (error, "events");
}

static gboolean
has_control_character (const gchar *text)
{
  while (*text && !g_ascii_iscntrl (*text))
    text++;
  return *text != 0;
}

/* The values become headers of requests and topics, in which a line end would begin another one. */
static gboolean
check_characters (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  GHashTableIter iter;
  gpointer key, value;

  if (has_control_character (config->uri))
    return watch_fail (error, "the URI has a control character");
  g_hash_table_iter_init (&iter, output->options);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (has_control_character (value))
      return watch_fail (error, "%s: the value has a control character", (const gchar *)key);
  return TRUE;
}

/* The keys of all outputs. */
static gboolean
read_options (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  const gchar *queue = watch_output_option (output, "queue");
  const gchar *stuck = watch_output_option (output, "stuck");
  guint64 capacity = DEFAULT_QUEUE;
  GHashTableIter iter;
  gpointer key;

  if (queue && !g_ascii_string_to_unsigned (queue, 10, 1, 100000000, &capacity, error))
    return watch_fail_at (error, "queue");
  output->capacity = capacity;
  output->stuck_after = DEFAULT_STUCK;
  if (stuck && !watch_parse_duration (stuck, &output->stuck_after, error))
    return watch_fail_at (error, "stuck");
  if (!(output->stuck_after >= 0.5))
    return watch_fail (error, "stuck: it must be at least 0.5 s");
  if (!choose_results (output, watch_output_option (output, "results"), error))
    return FALSE;
  output->class = class_of_uri (config->uri, error);
  if (!output->class)
    return FALSE;
  if (!choose_kinds (output, watch_output_option (output, "events"), error) ||
      !check_characters (output, config, error))
    return FALSE;
  output->destination = output->class->new (output, config, error);
  if (!output->destination)
    return FALSE;
  g_hash_table_iter_init (&iter, output->options);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (!g_hash_table_contains (output->used_options, key))
      return watch_fail (error, "there is no key \"%s\"", (const gchar *)key);
  return TRUE;
}

static void
clear_output (WatchOutput *output)
{
  if (output->destination)
    output->class->free (output->destination);
  watch_line_queue_clear (&output->lines);
  g_clear_pointer (&output->first_line, watch_line_unref);
  g_clear_pointer (&output->pictures, g_hash_table_unref);
  g_hash_table_unref (output->used_options);
  g_hash_table_unref (output->options);
  g_mutex_clear (&output->lock);
  g_cond_clear (&output->changed);
  g_clear_pointer (&output->heartbeat, watch_heartbeat_free);
  g_free (output->refusal);
  g_free (output->trouble);
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
  g_autofree gchar *name = g_strdup_printf ("output %s", config->name);

  output->name = g_strdup (config->name);
  output->uri =
      is_webhook (config->uri) ? watch_output_place (config->uri) : watch_redact (config->uri);
  output->options = g_hash_table_ref (config->options);
  output->used_options = g_hash_table_new (g_str_hash, g_str_equal);
  output->retry_delay = WATCH_OUTPUT_RETRY_MIN;
  g_mutex_init (&output->lock);
  g_cond_init (&output->changed);
  watch_line_queue_init (&output->lines);
  if (!read_options (output, config, error)) {
    g_prefix_error (error, "output %s: ", config->name);
    watch_output_unref (output);
    return NULL;
  }
  output->heartbeat = watch_heartbeat_new (name);
  return output;
}

gboolean
watch_output_check (const WatchOutputConfig *config, GError **error)
{
  WatchOutput *output = new_output (config, error);
  const gboolean is_valid = output != NULL;

  g_clear_pointer (&output, watch_output_unref);
  return is_valid;
}

WatchOutput *
watch_output_new (const WatchOutputConfig *config, GError **error)
{
  WatchOutput *output = new_output (config, error);

  if (output)
    g_thread_unref (g_thread_new ("output", watch_output_run, watch_output_ref (output)));
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

static gboolean
is_full_locked (const WatchOutput *output)
{
  return watch_line_queue_length (&output->lines) >= output->capacity;
}

void
watch_output_take_kinds (WatchOutput *output, const gchar *kinds)
{
  watch_event_kinds_parse (kinds, &output->taken, NULL);
}

gboolean
watch_output_wants (WatchOutput *output, const WatchLine *line)
{
  if (line->is_past)
    return FALSE;
  return *line->kind ? watch_event_kinds_has (output->wanted, line->kind)
                     : !output->wants_events_alone;
}

/* Whether the destination gets it. */
static gboolean
takes_line (WatchOutput *output, const WatchLine *line)
{
  return watch_output_wants (output, line) ||
         (*line->kind && watch_event_kinds_has (output->taken, line->kind));
}

void
watch_output_push (WatchOutput *output, WatchLine *line, gint *cancelled)
{
  gboolean is_taken;

  if (!takes_line (output, line))
    return;
  g_mutex_lock (&output->lock);
  while (cancelled && !g_atomic_int_get (cancelled) && !output->ended && !output->closed &&
         is_full_locked (output))
    g_cond_wait_until (
        &output->changed, &output->lock, g_get_monotonic_time () + WATCH_OUTPUT_POLL_INTERVAL);
  if (is_full_locked (output) && !output->ended && !output->closed)
    watch_line_queue_drop_oldest (&output->lines);
  is_taken = !is_full_locked (output) && !output->ended && !output->closed;
  if (is_taken) {
    if (watch_line_queue_length (&output->lines) == 0)
      output->progress_time = g_get_monotonic_time ();
    watch_line_queue_push (&output->lines, line);
  } else {
    watch_line_queue_refuse (&output->lines, line);
  }
  g_mutex_unlock (&output->lock);
  /* With the lock, the output's thread would wake only to wait for it. */
  if (is_taken)
    g_cond_broadcast (&output->changed);
}

void
watch_output_set_commands (WatchOutput *output, WatchCommandFunc function, gpointer data)
{
  g_mutex_lock (&output->lock);
  output->command = function;
  output->command_data = data;
  g_mutex_unlock (&output->lock);
}

void
watch_output_command (
    WatchOutput *output, const gchar *camera, const gchar *region, const gchar *command)
{
  WatchCommandFunc function;
  gpointer data;

  g_mutex_lock (&output->lock);
  function = output->ended ? NULL : output->command;
  data = output->command_data;
  g_mutex_unlock (&output->lock);
  if (function)
    function (data, output->name, camera, region, command);
}

void
watch_output_want_pictures (WatchOutput *output)
{
  output->pictures =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
}

gboolean
watch_output_wants_pictures (WatchOutput *output)
{
  return output->pictures != NULL;
}

void
watch_output_push_picture (WatchOutput *output, const gchar *camera, GBytes *jpeg)
{
  g_mutex_lock (&output->lock);
  g_hash_table_replace (output->pictures, g_strdup (camera), g_bytes_ref (jpeg));
  g_mutex_unlock (&output->lock);
}

gboolean
watch_output_take_picture (WatchOutput *output, gchar **camera, GBytes **jpeg)
{
  GHashTableIter iter;
  gpointer key, value;
  gboolean has;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&output->lock);

  g_hash_table_iter_init (&iter, output->pictures);
  has = g_hash_table_iter_next (&iter, &key, &value);
  if (has) {
    *camera = key;
    *jpeg = value;
    g_hash_table_iter_steal (&iter);
  }
  return has;
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
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&output->lock);

  while (!output->finished && g_cond_wait_until (&output->changed, &output->lock, until)) {
  }
  return output->finished;
}

/* The dropped lines that were not reported, if it is time to report them; `refusal` is freed by the
 * caller. */
static guint64
count_new_drops_locked (WatchOutput *output, gint64 now, gchar **refusal)
{
  const guint64 n_new = output->lines.n_dropped - output->n_reported;

  if (n_new == 0 ||
      (output->drop_report_time > 0 && now < output->drop_report_time + REPORT_INTERVAL))
    return 0;
  output->n_reported = output->lines.n_dropped;
  output->drop_report_time = now;
  *refusal = g_steal_pointer (&output->refusal);
  return n_new;
}

/* Sets `stuck` and `stalled`, unless the process was stopped since the last call: then the thread
 * was, too. */
static void
check_progress_locked (WatchOutput *output, gint64 now)
{
  const gboolean was_stopped = now - output->check_time > MAX_PAUSE;

  output->check_time = now;
  if (was_stopped)
    return;
  output->stuck = watch_heartbeat_get_age (output->heartbeat) > output->stuck_after;
  output->stalled =
      output->stuck ||
      (output->connected && !output->finished && watch_line_queue_length (&output->lines) > 0 &&
          now - output->progress_time > output->stuck_after * G_TIME_SPAN_SECOND);
}

void
watch_output_report (WatchOutput *output)
{
  gboolean was_stalled, is_stalled, is_connected;
  g_autofree gchar *refusal = NULL;
  guint64 n_new, n_dropped;
  guint n_lines;

  g_mutex_lock (&output->lock);
  was_stalled = output->stalled;
  check_progress_locked (output, g_get_monotonic_time ());
  is_stalled = output->stalled;
  is_connected = output->connected;
  n_new = count_new_drops_locked (output, g_get_monotonic_time (), &refusal);
  n_dropped = output->lines.n_dropped;
  n_lines = watch_line_queue_length (&output->lines);
  g_mutex_unlock (&output->lock);

  if (n_new > 0)
    watch_log_warning ("output %s: %" G_GUINT64_FORMAT " lines were dropped, %" G_GUINT64_FORMAT
                       " since the start%s%s",
        output->name, n_new, n_dropped, refusal ? "; " : "", refusal ? refusal : "");
  if (is_stalled && !was_stalled)
    watch_log_warning ("output %s: nothing was taken for %g s; %u lines wait", output->name,
        output->stuck_after, n_lines);
  else if (was_stalled && !is_stalled && is_connected)
    watch_log_info ("output %s: lines are taken again", output->name);
}

static gdouble
age_of_oldest_locked (WatchOutput *output)
{
  const WatchLine *line = g_queue_peek_head (&output->lines.sent);

  if (!line)
    line = g_queue_peek_head (&output->lines.waiting);
  return line ? (g_get_monotonic_time () - line->time) / 1e6 : 0;
}

void
watch_output_get_status (WatchOutput *output, WatchOutputStatus *status)
{
  g_mutex_lock (&output->lock);
  *status = (WatchOutputStatus){
      .name = g_strdup (output->name),
      .uri = g_strdup (output->uri),
      .connected = output->connected && !output->stalled,
      .stuck = output->stuck,
      .n_delivered = output->lines.n_delivered,
      .n_dropped = output->lines.n_dropped,
      .n_queued = watch_line_queue_length (&output->lines),
      .age = age_of_oldest_locked (output),
      .capacity = output->capacity,
  };
  g_mutex_unlock (&output->lock);
}

void
watch_output_add_counts (WatchOutput *output, const gchar *camera, WatchLineCounts *counts)
{
  g_mutex_lock (&output->lock);
  watch_line_queue_add_counts (&output->lines, camera, counts);
  g_mutex_unlock (&output->lock);
}

gboolean
watch_output_is_closed (WatchOutput *output)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&output->lock);

  return output->closed;
}
