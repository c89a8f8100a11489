/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Commands that come by outputs: they arm and disarm cameras. */
#include "watch/system/log.h"
#include "watch/system/offload.h"
#include "watch/system/turn.h"
#include "watch-private.h"

#define MAX_WAITING 64 /* commands at a time; more are taken for an attack */

typedef struct {
  Watch *watch;
  gchar *output, *camera, *region, *text;
} Command;

static gint n_waiting; /* atomic */

static void
end_command (Command *command)
{
  g_free (command->output);
  g_free (command->camera);
  g_free (command->region);
  g_free (command->text);
  g_free (command);
  g_atomic_int_add (&n_waiting, -1);
  watch_turn_end ();
}

static void
report (const Command *command, const GError *error)
{
  if (error)
    watch_log_warning ("output %s: a command is refused: %s", command->output, error->message);
  else
    watch_log_info ("camera %s: %s%s%s by output %s", command->camera,
        command->region ? command->region : "", command->region ? ": " : "", command->text,
        command->output);
}

static void
on_noted (gpointer done_data, gpointer note)
{
  Command *command = done_data;
  g_autoptr (GError) error = NULL;

  watch_make_change (command->watch, note, &error);
  report (command, error);
  end_command (command);
}

static void
begin_command (gpointer data)
{
  Command *command = data;
  g_autoptr (GError) error = NULL;
  WatchNote *note =
      watch_note_arming (command->watch, command->camera, command->region, command->text, &error);

  if (note) {
    watch_offload (watch_note_write, note, watch_note_free, 0, on_noted, command);
  } else {
    report (command, error);
    end_command (command);
  }
}

static gboolean
take_turn (gpointer command)
{
  watch_turn_take (begin_command, command);
  return G_SOURCE_REMOVE;
}

void
watch_take_command (
    gpointer data, const gchar *output, const gchar *camera, const gchar *region, const gchar *text)
{
  Command *command;

  if (g_atomic_int_add (&n_waiting, 1) >= MAX_WAITING) {
    g_atomic_int_add (&n_waiting, -1);
    return;
  }
  command = g_new (Command, 1);
  command->watch = data;
  command->output = g_strdup (output);
  command->camera = g_strdup (camera);
  command->region = g_strdup (region);
  command->text = g_strdup (text);
  g_idle_add (take_turn, command);
}
