/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of an output: it connects, sends lines, and connects again. Functions named _locked
 * are called with the lock. */
#include "watch/system/log.h"
#include "output-private.h"

#define RETRY_MAX (10 * G_TIME_SPAN_SECOND)
#define LONG_LINE 32768 /* bytes; shorter lines never make a receiver hang up */
#define MAX_HANG_UPS 5

static void
note_progress_locked (WatchOutput *output)
{
  output->progress_time = g_get_monotonic_time ();
  g_cond_broadcast (&output->changed);
}

static void
set_connected (WatchOutput *output, gboolean connected)
{
  g_mutex_lock (&output->lock);
  output->connected = connected;
  g_mutex_unlock (&output->lock);
}

/* Each failure is reported once: the same one follows from each attempt. */
static void
report_trouble (WatchOutput *output, const gchar *reason)
{
  if (g_strcmp0 (reason, output->trouble) != 0)
    watch_log_warning ("output %s: %s; trying again", output->name, reason);
  g_free (output->trouble);
  output->trouble = g_strdup (reason);
}

static void
end_trouble (WatchOutput *output)
{
  if (!output->trouble)
    return;
  watch_log_info ("output %s: works again", output->name);
  g_clear_pointer (&output->trouble, g_free);
  set_connected (output, output->is_open);
}

static void
refuse_locked (WatchOutput *output, const WatchLine *line, const gchar *reason)
{
  g_free (output->refusal);
  output->refusal =
      g_strdup_printf ("a line of camera %s with %" G_GSIZE_FORMAT " bytes was refused: %s",
          line->camera, line->length, reason);
  watch_line_queue_drop (&output->lines, line);
  note_progress_locked (output);
}

/* Called by destinations. */

void
watch_output_acknowledge (WatchOutput *output, const WatchLine *line)
{
  g_mutex_lock (&output->lock);
  watch_line_queue_deliver (&output->lines, line);
  note_progress_locked (output);
  g_mutex_unlock (&output->lock);
  if (output->class->is_stateless)
    output->retry_delay = WATCH_OUTPUT_RETRY_MIN;
  end_trouble (output);
}

void
watch_output_lose (WatchOutput *output, const WatchLine *line, const gchar *reason)
{
  g_mutex_lock (&output->lock);
  refuse_locked (output, line, reason);
  g_mutex_unlock (&output->lock);
}

void
watch_output_disconnected (WatchOutput *output, const gchar *reason)
{
  set_connected (output, FALSE);
  report_trouble (output, reason);
}

/* The connection. */

/* Whether the receiver may have ended the connection because of a line. */
static gboolean
is_hang_up (WatchOutput *output, const GError *error)
{
  return output->class->may_hang_up && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BUSY) &&
         !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

/* Drops a long line if connection after connection ends when it is sent. */
static void
drop_choking_line_locked (WatchOutput *output)
{
  WatchLine *first = g_queue_peek_head (&output->lines.sent);

  if (!first)
    return;
  if (first != output->first_line) {
    g_clear_pointer (&output->first_line, watch_line_unref);
    output->first_line = watch_line_ref (first);
    output->n_hang_ups = 0;
  }
  if (++output->n_hang_ups >= MAX_HANG_UPS && first->length >= LONG_LINE)
    refuse_locked (output, first, "the receiver ends each connection in which it is sent");
}

/* Takes the error. */
static void
lose_connection (WatchOutput *output, GError *error)
{
  const gboolean hung_up = is_hang_up (output, error);
  gint64 now = g_get_monotonic_time ();

  if (output->is_open) {
    output->class->close (output->destination);
    output->is_open = FALSE;
    if (now - output->open_time >= RETRY_MAX)
      output->retry_delay = WATCH_OUTPUT_RETRY_MIN;
  }
  report_trouble (output, error ? error->message : "the connection is lost");
  g_clear_error (&error);
  g_mutex_lock (&output->lock);
  output->connected = FALSE;
  if (hung_up)
    drop_choking_line_locked (output);
  watch_line_queue_take_back_all (&output->lines);
  g_mutex_unlock (&output->lock);
  output->retry_time = now + output->retry_delay;
  output->retry_delay = MIN (2 * output->retry_delay, RETRY_MAX);
}

static void
try_to_open (WatchOutput *output)
{
  const gboolean was_refused = output->trouble && !output->open_time;
  GError *error = NULL;

  if (output->is_open || g_get_monotonic_time () < output->retry_time)
    return;
  if (output->class->is_slow_to_open)
    watch_heartbeat_rest (output->heartbeat);
  output->is_open = output->class->open (output->destination, &error);
  watch_heartbeat_beat (output->heartbeat);
  output->open_time = output->is_open ? g_get_monotonic_time () : 0;
  if (!output->is_open) {
    lose_connection (output, error);
    return;
  }
  g_mutex_lock (&output->lock);
  output->connected = TRUE;
  note_progress_locked (output);
  g_mutex_unlock (&output->lock);
  /* What failed while it was open may fail again: only a delivered line shows that it works. */
  if (was_refused)
    end_trouble (output);
}

/* The oldest line that waits, now sent, or NULL. At most half of the queue is on its way: the other
 * half is for the newest lines.
 * @has_room: whether another line may be sent */
static const WatchLine *
take_line (WatchOutput *output, gboolean *has_room)
{
  const WatchLine *line = NULL;

  g_mutex_lock (&output->lock);
  *has_room = output->lines.sent.length < MAX (output->capacity / 2, 1);
  if (!output->abandoned && !output->reopen && *has_room)
    line = watch_line_queue_send (&output->lines);
  g_mutex_unlock (&output->lock);
  watch_heartbeat_beat (output->heartbeat);
  return line;
}

/* FALSE if the destination takes no line for the moment. */
static gboolean
send_line (WatchOutput *output, const WatchLine *line)
{
  g_autoptr (GError) error = NULL;
  const WatchSend result = output->class->send (output->destination, line, &error);

  g_mutex_lock (&output->lock);
  if (result == WATCH_SEND_DELIVERED) {
    watch_line_queue_deliver (&output->lines, line);
    note_progress_locked (output);
  } else if (result == WATCH_SEND_AGAIN) {
    watch_line_queue_take_back (&output->lines, line);
  } else if (result == WATCH_SEND_REFUSED) {
    refuse_locked (output, line, error->message);
  } else if (result == WATCH_SEND_CLOSED) {
    output->closed = TRUE;
    watch_line_queue_drop_all (&output->lines);
  }
  g_mutex_unlock (&output->lock);

  if (result == WATCH_SEND_DELIVERED)
    end_trouble (output);
  else if (result == WATCH_SEND_CLOSED)
    watch_log_error ("output %s: %s", output->name, error->message);
  else if (result == WATCH_SEND_FAILED)
    lose_connection (output, g_steal_pointer (&error));
  return result != WATCH_SEND_AGAIN && result != WATCH_SEND_FAILED;
}

/* Sends the waiting lines in order. FALSE if the destination takes no more for the moment. */
static gboolean
send_lines (WatchOutput *output)
{
  gboolean has_room;

  while (output->is_open) {
    const WatchLine *line = take_line (output, &has_room);

    if (!line)
      return has_room;
    if (!send_line (output, line))
      return FALSE;
  }
  return FALSE;
}

static void
poll_destination (WatchOutput *output)
{
  GError *error = NULL;

  watch_heartbeat_beat (output->heartbeat);
  if (output->is_open && output->class->poll && !output->class->poll (output->destination, &error))
    lose_connection (output, error);
}

static void
reopen (WatchOutput *output)
{
  GError *error = NULL;
  gboolean is_wanted;

  g_mutex_lock (&output->lock);
  is_wanted = output->reopen;
  output->reopen = FALSE;
  g_mutex_unlock (&output->lock);
  if (is_wanted && !output->is_open)
    output->retry_time = 0; /* somebody may have repaired it */
  else if (is_wanted && output->class->reopen &&
           !output->class->reopen (output->destination, &error))
    lose_connection (output, error);
}

/* Waits until there may be something to do. FALSE when the thread must end. */
static gboolean
wait_for_work (WatchOutput *output, gboolean can_send)
{
  gboolean is_ending, must_end;

  g_mutex_lock (&output->lock);
  is_ending = output->ended;
  must_end = output->abandoned || output->closed ||
             (output->ended && watch_line_queue_length (&output->lines) == 0);
  if (!must_end && !output->reopen && (g_queue_is_empty (&output->lines.waiting) || !can_send))
    g_cond_wait_until (
        &output->changed, &output->lock, g_get_monotonic_time () + WATCH_OUTPUT_POLL_INTERVAL);
  g_mutex_unlock (&output->lock);
  /* Little time is left: no long pause before the next attempt. */
  if (is_ending && !output->is_ending) {
    output->is_ending = TRUE;
    output->retry_time = 0;
    output->retry_delay = WATCH_OUTPUT_RETRY_MIN;
  }
  return !must_end;
}

static void
finish (WatchOutput *output)
{
  if (output->is_open)
    output->class->close (output->destination);
  /* Freed before this thread ends: later, the process may exit, and the libraries free their global
   * data. */
  output->class->free (output->destination);
  output->destination = NULL;

  g_mutex_lock (&output->lock);
  watch_line_queue_drop_all (&output->lines);
  output->connected = FALSE;
  output->drop_report_time = 0;
  g_mutex_unlock (&output->lock);
  watch_output_report (output);
  watch_heartbeat_rest (output->heartbeat);
  g_mutex_lock (&output->lock);
  output->finished = TRUE;
  g_cond_broadcast (&output->changed);
  g_mutex_unlock (&output->lock);
}

gpointer
watch_output_run (gpointer data)
{
  WatchOutput *output = data;
  gboolean can_send;

  do {
    try_to_open (output);
    poll_destination (output);
    can_send = send_lines (output);
    reopen (output);
  } while (wait_for_work (output, can_send));
  finish (output);
  watch_output_unref (output);
  return NULL;
}
