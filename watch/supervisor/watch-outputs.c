/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The outputs of a watch: they are made, replaced, reported and stopped together. */
#include <string.h>

#include "last-lines.h"
#include "watch/system/log.h"
#include "watch-private.h"

GPtrArray *
watch_outputs_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)watch_output_unref);
}

static void
clear_output_status (gpointer data)
{
  WatchOutputStatus *status = data;

  g_free (status->name);
  g_free (status->uri);
  g_free (status);
}

GPtrArray *
watch_get_outputs (Watch *watch)
{
  GPtrArray *statuses = g_ptr_array_new_with_free_func (clear_output_status);
  g_autoptr (GPtrArray) outputs = NULL;

  g_mutex_lock (&watch->lock);
  outputs = g_ptr_array_ref (watch->outputs);
  g_mutex_unlock (&watch->lock);
  for (guint i = 0; i < outputs->len; i++) {
    WatchOutputStatus *status = g_new (WatchOutputStatus, 1);

    watch_output_get_status (g_ptr_array_index (outputs, i), status);
    g_ptr_array_add (statuses, status);
  }
  return statuses;
}

void
watch_count_lines (Watch *watch, const gchar *camera, WatchLineCounts *counts)
{
  g_autoptr (GPtrArray) outputs = NULL;

  g_mutex_lock (&watch->lock);
  outputs = g_ptr_array_ref (watch->outputs);
  g_mutex_unlock (&watch->lock);
  *counts = (WatchLineCounts){0};
  for (guint i = 0; i < outputs->len; i++)
    watch_output_add_counts (g_ptr_array_index (outputs, i), camera, counts);
}

gboolean
watch_wants_pictures (Watch *watch)
{
  gboolean wants = FALSE;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&watch->lock);

  for (guint i = 0; i < watch->outputs->len; i++)
    wants = wants || watch_output_wants_pictures (g_ptr_array_index (watch->outputs, i));
  return wants;
}

void
watch_push_picture (Watch *watch, const gchar *camera, GBytes *jpeg)
{
  g_mutex_lock (&watch->lock);
  for (guint i = 0; i < watch->outputs->len; i++) {
    WatchOutput *output = g_ptr_array_index (watch->outputs, i);

    if (watch_output_wants_pictures (output))
      watch_output_push_picture (output, camera, jpeg);
  }
  g_mutex_unlock (&watch->lock);
}

/* The output that has this configuration already, or NULL. */
static WatchOutput *
same_output (Watch *watch, const WatchOutputConfig *config)
{
  for (guint i = 0; watch->config && i < watch->config->outputs->len; i++) {
    const WatchOutputConfig *other = g_ptr_array_index (watch->config->outputs, i);

    if (strcmp (other->name, config->name) == 0 && strcmp (other->uri, config->uri) == 0 &&
        watch_table_equal (other->options, config->options))
      return g_ptr_array_index (watch->outputs, i);
  }
  return NULL;
}

GPtrArray *
watch_outputs_make (Watch *watch, const WatchConfig *config, GError **error)
{
  GPtrArray *outputs = watch_outputs_new ();

  for (guint i = 0; i < config->outputs->len; i++) {
    const WatchOutputConfig *output_config = g_ptr_array_index (config->outputs, i);
    WatchOutput *output = same_output (watch, output_config);

    output = output ? watch_output_ref (output) : watch_output_new (output_config, error);
    if (!output) {
      for (guint j = 0; j < outputs->len; j++)
        if (!g_ptr_array_find (watch->outputs, g_ptr_array_index (outputs, j), NULL))
          watch_output_abandon (g_ptr_array_index (outputs, j));
      g_ptr_array_unref (outputs);
      return NULL;
    }
    watch_output_set_commands (output, watch_take_command, watch);
    g_ptr_array_add (outputs, output);
  }
  return outputs;
}

void
watch_outputs_replace (Watch *watch, GPtrArray *outputs)
{
  g_mutex_lock (&watch->lock);
  for (guint i = 0; i < watch->outputs->len; i++) {
    WatchOutput *old = g_ptr_array_index (watch->outputs, i);

    if (g_ptr_array_find (outputs, old, NULL)) {
      watch_output_reopen (old);
    } else {
      watch_output_end (old);
      g_ptr_array_add (watch->retired, watch_output_ref (old));
    }
  }
  for (guint i = 0; i < outputs->len; i++)
    if (!g_ptr_array_find (watch->outputs, g_ptr_array_index (outputs, i), NULL))
      watch_last_lines_push (watch->last_lines, g_ptr_array_index (outputs, i));
  g_ptr_array_unref (watch->outputs);
  watch->outputs = outputs;
  g_mutex_unlock (&watch->lock);
}

/* Forgets removed outputs that have delivered their lines. */
static void
clear_finished (Watch *watch)
{
  for (guint i = watch->retired->len; i-- > 0;)
    if (watch_output_wait (g_ptr_array_index (watch->retired, i), 0))
      g_ptr_array_remove_index (watch->retired, i);
}

void
watch_report_outputs (Watch *watch)
{
  clear_finished (watch);
  for (guint i = 0; i < watch->outputs->len; i++)
    watch_output_report (g_ptr_array_index (watch->outputs, i));
  for (guint i = 0; i < watch->retired->len; i++)
    watch_output_report (g_ptr_array_index (watch->retired, i));
}

gboolean
watch_has_closed_output (Watch *watch)
{
  gboolean closed = FALSE;

  for (guint i = 0; i < watch->outputs->len; i++)
    closed = closed || watch_output_is_closed (g_ptr_array_index (watch->outputs, i));
  return closed;
}

void
watch_end_outputs (Watch *watch)
{
  for (guint i = 0; i < watch->outputs->len; i++)
    watch_output_end (g_ptr_array_index (watch->outputs, i));
}

gboolean
watch_outputs_are_finished (Watch *watch)
{
  gboolean finished = TRUE;

  for (guint i = 0; i < watch->outputs->len; i++)
    finished = finished && watch_output_wait (g_ptr_array_index (watch->outputs, i), 0);
  return finished;
}

gboolean
watch_check_outputs (const WatchConfig *config, GError **error)
{
  for (guint i = 0; i < config->outputs->len; i++)
    if (!watch_output_check (g_ptr_array_index (config->outputs, i), error))
      return FALSE;
  return TRUE;
}

gboolean
watch_outputs_stop (GPtrArray *outputs, gint64 until)
{
  gboolean all_stopped = TRUE;

  for (guint i = 0; i < outputs->len; i++)
    watch_output_end (g_ptr_array_index (outputs, i));
  for (guint i = 0; i < outputs->len; i++) {
    WatchOutput *output = g_ptr_array_index (outputs, i);
    WatchOutputStatus status;

    if (watch_output_wait (output, until))
      continue;
    watch_output_get_status (output, &status);
    watch_log_warning (
        "output %s: %u lines were not delivered in time", status.name, status.n_queued);
    g_free (status.name);
    g_free (status.uri);
    all_stopped = FALSE;
  }
  return all_stopped;
}
