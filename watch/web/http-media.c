/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "http-media.h"

#include <errno.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http-respond.h"
#include "recording/clip-part.h"
#include "watch/system/offload.h"

#define READ_SECONDS 10
#define CHUNK_SIZE 262144
#define RANGE "ccl-watch-range"

/* A file on its way (in a reference-counted box of GLib). It is freed when the answer has ended and
 * no thread works for it. */
typedef struct {
  WatchFolder *folder;
  gchar *name;
  SoupServerMessage *message; /* main thread only */
  gint file;                  /* -1: it cannot be read */
  gint64 from, to;            /* of a part of a clip, microseconds since 1970; 0: the whole */
  ClipPart *part;             /* or NULL */
  GError *error;              /* why there is no such part, or NULL */
  goffset size;               /* of the file or the part */
  gboolean is_partial;        /* a range of it is sent */
  goffset at, end;            /* what remains to be sent */
  GBytes *chunk;              /* that was read; NULL after a failure */
} Sending;

static void
clear_sending (gpointer data)
{
  Sending *sending = data;

  g_clear_pointer (&sending->part, clip_part_free);
  if (sending->file >= 0)
    close (sending->file);
  watch_folder_unref (sending->folder);
  g_clear_pointer (&sending->chunk, g_bytes_unref);
  g_clear_error (&sending->error);
  g_object_unref (sending->message);
  g_free (sending->name);
}

/* In the main thread, where watch_offload() frees its data. */
static void
sending_unref (gpointer sending)
{
  g_rc_box_release_full (sending, clear_sending);
}

/* Chunks. */

static void
read_chunk (gpointer data)
{
  Sending *sending = data;
  gsize size = MIN (sending->end - sending->at, CHUNK_SIZE);
  guint8 *bytes = g_malloc (size);
  gssize n;

  do
    n = sending->part ? clip_part_read (sending->part, bytes, size, sending->at)
                      : pread (sending->file, bytes, size, sending->at);
  while (n < 0 && errno == EINTR);
  if (n > 0)
    sending->chunk = g_bytes_new_take (bytes, n);
  else
    g_free (bytes);
}

/* The length of the answer has been sent, so an error can only end the connection. */
static void
break_off (Sending *sending)
{
  g_autoptr (GIOStream) stream = soup_server_message_steal_connection (sending->message);

  if (stream)
    g_io_stream_close (stream, NULL, NULL);
}

static void
on_chunk (gpointer done_data, gpointer data)
{
  Sending *sending = done_data;

  if (data && sending->chunk) {
    sending->at += g_bytes_get_size (sending->chunk);
    soup_message_body_append_bytes (
        soup_server_message_get_response_body (sending->message), sending->chunk);
    g_clear_pointer (&sending->chunk, g_bytes_unref);
    soup_server_message_unpause (sending->message);
  } else {
    break_off (sending);
  }
  sending_unref (sending);
}

static void
begin_chunk (Sending *sending)
{
  watch_offload (read_chunk, g_rc_box_acquire (sending), sending_unref, READ_SECONDS, on_chunk,
      g_rc_box_acquire (sending));
}

static void
on_written (SoupServerMessage *message, gpointer data)
{
  Sending *sending = data;

  if (sending->at < sending->end)
    begin_chunk (sending);
}

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  g_signal_handlers_disconnect_by_data (message, data);
  sending_unref (data);
}

/* The beginning. */

static void
open_file (gpointer data)
{
  Sending *sending = data;
  struct stat status;

  sending->file = watch_folder_open (sending->folder, sending->name, NULL);
  if (sending->file < 0)
    return;
  if (sending->from || sending->to)
    sending->part = clip_part_new (sending->file, sending->from, sending->to, &sending->error);
  if (g_error_matches (sending->error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    g_clear_error (&sending->error); /* an earlier version wrote it: the whole clip */
  if (sending->part)
    sending->size = clip_part_get_size (sending->part);
  else if (fstat (sending->file, &status) == 0)
    sending->size = status.st_size;
  sending->end = sending->size;
}

/* Reads a number of decimal digits alone; one that is too great becomes the greatest offset. */
static gboolean
parse_position (const gchar *text, goffset *position)
{
  *position = MIN (g_ascii_strtoull (text, NULL, 10), G_MAXINT64);
  return *text && strspn (text, "0123456789") == strlen (text);
}

/* Takes the range of bytes that the request asks for (RFC 9110, 14.1.2). FALSE if it is not in the
 * file. For another unit, several ranges, or a range that is not valid, the whole file is sent. */
static gboolean
take_range (Sending *sending)
{
  const gchar *text = g_object_get_data (G_OBJECT (sending->message), RANGE);
  g_auto (GStrv) parts =
      text && g_ascii_strncasecmp (text, "bytes=", 6) == 0 ? g_strsplit (text + 6, "-", 2) : NULL;
  goffset first, last = G_MAXINT64;

  if (!parts || !parts[0] || !parts[1])
    return TRUE;
  g_strstrip (parts[0]);
  g_strstrip (parts[1]);
  if (*parts[0] ? !parse_position (parts[0], &first) ||
                      (*parts[1] && (!parse_position (parts[1], &last) || last < first))
                : !parse_position (parts[1], &first))
    return TRUE;
  if (!*parts[0]) /* "-N": the last N bytes */
    first = first == 0 ? sending->size : MAX (sending->size - first, 0);
  if (first >= sending->size)
    return FALSE;
  sending->at = first;
  sending->end = MIN (last, sending->size - 1) + 1;
  sending->is_partial = TRUE;
  return TRUE;
}

static void
refuse_range (Sending *sending)
{
  g_autofree gchar *text = g_strdup_printf ("bytes */%" G_GOFFSET_FORMAT, sending->size);

  watch_respond_error (sending->message, SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE,
      "the file does not have this range");
  soup_message_headers_replace (
      soup_server_message_get_response_headers (sending->message), "Content-Range", text);
}

static void
set_headers (Sending *sending)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (sending->message);

  soup_server_message_set_status (
      sending->message, sending->is_partial ? SOUP_STATUS_PARTIAL_CONTENT : SOUP_STATUS_OK, NULL);
  soup_message_headers_set_content_type (
      headers, g_str_has_suffix (sending->name, ".jpg") ? "image/jpeg" : "video/mp4", NULL);
  soup_message_headers_set_content_length (headers, sending->end - sending->at);
  soup_message_headers_replace (headers, "Accept-Ranges", "bytes");
  if (sending->is_partial)
    soup_message_headers_set_content_range (headers, sending->at, sending->end - 1, sending->size);
}

static void
on_opened (gpointer done_data, gpointer data)
{
  Sending *sending = done_data;
  SoupServerMessage *message = sending->message;

  if (!data) {
    watch_respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "the disk does not answer");
  } else if (sending->file < 0) {
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such file");
  } else if (sending->error) {
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, sending->error->message);
  } else if (!take_range (sending)) {
    refuse_range (sending);
  } else {
    set_headers (sending);
    if (sending->at < sending->end && soup_server_message_get_method (message) == SOUP_METHOD_GET) {
      soup_message_body_set_accumulate (soup_server_message_get_response_body (message), FALSE);
      g_signal_connect (message, "wrote-chunk", G_CALLBACK (on_written), sending);
      g_signal_connect (message, "finished", G_CALLBACK (on_finished), g_rc_box_acquire (sending));
      begin_chunk (sending);
      sending_unref (sending);
      return;
    }
  }
  soup_server_message_unpause (message);
  sending_unref (sending);
}

void
watch_http_media_note_range (SoupServerMessage *message)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  const gchar *range = soup_message_headers_get_one (headers, "Range");

  if (range)
    g_object_set_data_full (G_OBJECT (message), RANGE, g_strdup (range), g_free);
  soup_message_headers_remove (headers, "Range");
}

void
watch_http_media_send (
    SoupServerMessage *message, WatchFolder *folder, const gchar *name, gint64 from, gint64 to)
{
  Sending *sending;

  if (!folder || !watch_folder_is_name (name)) {
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such file");
    return;
  }
  sending = g_rc_box_new0 (Sending);
  sending->folder = watch_folder_ref (folder);
  sending->name = g_strdup (name);
  sending->from = from;
  sending->to = to;
  sending->message = g_object_ref (message);
  sending->file = -1;
  soup_server_message_pause (message);
  watch_offload (
      open_file, sending, sending_unref, READ_SECONDS, on_opened, g_rc_box_acquire (sending));
}

/* Keeping. */

typedef struct {
  WatchFolder *folder;
  gchar *name;
  gboolean is_kept;
  GError *error;
} Keeping;

static void
keeping_free (gpointer data)
{
  Keeping *keeping = data;

  watch_folder_unref (keeping->folder);
  g_clear_error (&keeping->error);
  g_free (keeping->name);
  g_free (keeping);
}

static void
keep_file (gpointer data)
{
  Keeping *keeping = data;

  watch_folder_keep (keeping->folder, keeping->name, keeping->is_kept, &keeping->error);
}

/* The message of the error names paths. */
static void
on_kept (gpointer message, gpointer data)
{
  const Keeping *keeping = data;

  if (!keeping)
    watch_respond_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE, "the disk does not answer");
  else if (!keeping->error)
    soup_server_message_set_status (message, SOUP_STATUS_NO_CONTENT, NULL);
  else if (g_error_matches (keeping->error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such file");
  else
    watch_respond_error (
        message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "the file's mode cannot be changed");
  soup_server_message_unpause (message);
  g_object_unref (message);
}

/* FALSE if the body is neither {"keep":true} nor {"keep":false}. */
static gboolean
read_keep (SoupServerMessage *message, gboolean *is_kept)
{
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (message));
  g_autofree gchar *text = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  g_autoptr (JsonNode) root = json_from_string (text, NULL);
  JsonNode *node = root && JSON_NODE_HOLDS_OBJECT (root)
                       ? json_object_get_member (json_node_get_object (root), "keep")
                       : NULL;

  if (!node || !JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return FALSE;
  *is_kept = json_node_get_boolean (node);
  return TRUE;
}

void
watch_http_media_keep (SoupServerMessage *message, WatchFolder *folder, const gchar *name)
{
  Keeping *keeping;
  gboolean is_kept;

  if (!folder || !watch_folder_is_name (name)) {
    watch_respond_error (message, SOUP_STATUS_NOT_FOUND, "there is no such file");
    return;
  }
  if (!read_keep (message, &is_kept)) {
    watch_respond_error (message, SOUP_STATUS_BAD_REQUEST,
        "the body is neither {\"keep\":true} nor {\"keep\":false}");
    return;
  }
  keeping = g_new0 (Keeping, 1);
  keeping->folder = watch_folder_ref (folder);
  keeping->name = g_strdup (name);
  keeping->is_kept = is_kept;
  soup_server_message_pause (message);
  watch_offload (keep_file, keeping, keeping_free, READ_SECONDS, on_kept, g_object_ref (message));
}
