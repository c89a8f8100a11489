/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-changes.h"

#include "api-change.h"
#include "api.h"
#include "http-respond.h"
#include "watch/system/log.h"
#include "watch/system/offload.h"
#include "watch/system/turn.h"

#define CHECK_SECONDS 10  /* for the files that the camera names */
#define ANSWER_SECONDS 15 /* for everything */

typedef struct {
  SoupServerMessage *message; /* NULL: it is answered */
  guint timer;                /* id of a source; 0: it is answered */
  Watch *watch;
  gchar *name;
  gchar *client;   /* its address */
  gboolean exists; /* whether the camera existed when the change's turn came */
  void (*removed) (gpointer data, const gchar *name);
  gpointer data;
} Change;

/* The message is answered: sends the answer. */
static void
send_answer (Change *change)
{
  soup_server_message_unpause (change->message);
  g_clear_object (&change->message);
  if (change->timer)
    g_source_remove (change->timer);
  change->timer = 0;
}

static void
refuse (Change *change, guint status, const gchar *reason)
{
  if (!change->message)
    return;
  watch_respond_error (change->message, status, reason);
  send_answer (change);
}

/* A change was refused, or the state file cannot be written. */
static void
refuse_error (Change *change, const GError *error)
{
  g_autofree gchar *reason = watch_redact (error->message);

  refuse (change,
      error->domain == WATCH_CONFIG_ERROR ? SOUP_STATUS_BAD_REQUEST
                                          : SOUP_STATUS_INTERNAL_SERVER_ERROR,
      reason);
}

static gboolean
on_timeout (gpointer data)
{
  Change *change = data;

  change->timer = 0;
  refuse (change, SOUP_STATUS_SERVICE_UNAVAILABLE,
      "this takes too long; the change may still be made if a disk answers");
  return G_SOURCE_REMOVE;
}

static void
end_change (Change *change)
{
  g_free (change->name);
  g_free (change->client);
  g_free (change);
  watch_turn_end ();
}

/* The change is made: answers with the camera as it is now. */
static void
answer (Change *change)
{
  gchar *camera = watch_api_camera (change->watch, change->name);

  if (camera)
    watch_respond_json (change->message, camera);
  if (!camera)
    soup_server_message_set_status (change->message, SOUP_STATUS_NO_CONTENT, NULL);
  else if (!change->exists)
    soup_server_message_set_status (change->message, SOUP_STATUS_CREATED, NULL);
  send_answer (change);
}

/* The state file was written, or not. */
static void
on_noted (gpointer done_data, gpointer data)
{
  Change *change = done_data;
  WatchNote *note = data;
  g_autoptr (GError) error = NULL;

  if (!watch_make_change (change->watch, note, &error)) {
    refuse_error (change, error);
  } else {
    const gboolean is_removed = !note->camera && !note->is_arming;

    watch_log_info ("camera %s: %s by %s", change->name,
        note->is_arming  ? "armed or disarmed"
        : is_removed     ? "removed"
        : change->exists ? "changed"
                         : "added",
        change->client ? change->client : "a client that is gone");
    if (is_removed)
      change->removed (change->data, change->name);
    if (change->message)
      answer (change);
  }
  end_change (change);
}

/* Writes the state file; `note` is NULL if there is an error. */
static void
write_note (Change *change, WatchNote *note, const GError *error)
{
  if (note) {
    watch_offload (watch_note_write, note, watch_note_free, 0, on_noted, change);
  } else {
    refuse_error (change, error);
    end_change (change);
  }
}

/* The camera has this configuration, or is removed (NULL). */
static void
note_change (Change *change, WatchCameraConfig *config)
{
  g_autoptr (GError) error = NULL;
  WatchNote *note = watch_note_change (change->watch, change->name, config, &error);

  write_note (change, note, error);
}

/* `data` is the WatchApiChange, or NULL if the check took too long. */
static void
on_checked (gpointer done_data, gpointer data)
{
  Change *change = done_data;
  g_autoptr (GError) error = NULL;
  WatchCameraConfig *config = data ? watch_api_change_get (data, &error) : NULL;

  if (config) {
    note_change (change, config);
    return;
  }
  if (error)
    refuse_error (change, error);
  else
    refuse (change, SOUP_STATUS_SERVICE_UNAVAILABLE,
        "the files that the camera names could not be read in time");
  end_change (change);
}

/* Whether the keys are those that the client has read, if it says which. */
static gboolean
has_version (Change *change)
{
  const gchar *wanted = soup_message_headers_get_one (
      soup_server_message_get_request_headers (change->message), "If-Match");
  g_autofree gchar *version = watch_api_version (change->watch, change->name);
  g_autofree gchar *tag = g_strdup_printf ("\"%s\"", version ? version : "");

  return !wanted || (version && (g_str_equal (wanted, "*") || g_str_equal (wanted, tag)));
}

/* Reads the request; NULL after an answer. */
static WatchApiChange *
read_request (Change *change)
{
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (change->message));
  gboolean merge = g_str_equal (soup_server_message_get_method (change->message), "PATCH");
  WatchApiChange *made;
  g_autoptr (GError) error = NULL;

  if (merge && !change->exists) {
    refuse (change, SOUP_STATUS_NOT_FOUND, "there is no such camera");
    return NULL;
  }
  made = watch_api_change_new (change->watch, change->name, g_bytes_get_data (body, NULL),
      g_bytes_get_size (body), merge, &error);
  if (!made)
    refuse_error (change, error);
  return made;
}

/* It is the change's turn. */
static void
begin_change (gpointer data)
{
  Change *change = data;
  g_autoptr (WatchCamera) camera = watch_find_camera (change->watch, change->name);
  gboolean is_removal =
      change->message && soup_server_message_get_method (change->message) == SOUP_METHOD_DELETE;
  WatchApiChange *made = NULL;

  change->exists = camera != NULL;
  if (change->message && !has_version (change)) {
    refuse (change, SOUP_STATUS_PRECONDITION_FAILED,
        "somebody else has changed this camera meanwhile: read it again");
  } else if (is_removal && change->exists) {
    note_change (change, NULL);
    return;
  } else if (is_removal)
    refuse (change, SOUP_STATUS_NOT_FOUND, "there is no such camera");
  else if (change->message)
    made = read_request (change);
  if (made)
    watch_offload (
        watch_api_change_check, made, watch_api_change_free, CHECK_SECONDS, on_checked, change);
  else
    end_change (change);
}

/* The same of a request to arm. */
static void
begin_arming (gpointer data)
{
  Change *change = data;
  g_autofree gchar *region = NULL, *command = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) body = NULL;
  WatchNote *note = NULL;

  change->exists = TRUE;
  if (!change->message) {
    end_change (change);
    return;
  }
  body = soup_message_body_flatten (soup_server_message_get_request_body (change->message));
  if (watch_api_read_arming (
          g_bytes_get_data (body, NULL), g_bytes_get_size (body), &region, &command, &error))
    note = watch_note_arming (change->watch, change->name, region, command, &error);
  write_note (change, note, error);
}

/* The message is answered when the change has had its turn. */
static Change *
new_change (SoupServerMessage *message, Watch *watch, const gchar *name)
{
  Change *change = g_new0 (Change, 1);

  change->message = g_object_ref (message);
  change->watch = watch;
  change->name = g_strdup (name);
  change->client = g_strdup (soup_server_message_get_remote_host (message));
  change->timer = g_timeout_add_seconds (ANSWER_SECONDS, on_timeout, change);
  soup_server_message_pause (message);
  return change;
}

void
watch_http_change_camera (SoupServerMessage *message, Watch *watch, const gchar *name,
    void (*removed) (gpointer data, const gchar *name), gpointer data)
{
  Change *change = new_change (message, watch, name);

  change->removed = removed;
  change->data = data;
  watch_turn_take (begin_change, change);
}

void
watch_http_arm_camera (SoupServerMessage *message, Watch *watch, const gchar *name)
{
  watch_turn_take (begin_arming, new_change (message, watch, name));
}
