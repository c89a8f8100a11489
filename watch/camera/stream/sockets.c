/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sockets.h"

#include <gio/gio.h>
#include <libsoup/soup.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>

#include "watch/camera/camera-state.h"
#include "reach.h"

/* A source that sends so many bytes without a frame is cut off. Even the largest key frame with all
 * frames that wait for it is far smaller. */
#define MAX_BYTES (64 << 20)
#define MAX_CONNECTIONS 10 /* without a frame; more are redirections */
#define MARK "ccl-watch-"

static GMutex lock;         /* of this file, and of each camera's `sockets` */
static GHashTable *cameras; /* number → WatchCamera that is connected */
static guint last_number;   /* 0: none */
static GPrivate thread_number;

static void
forget_closed (GPtrArray *sockets)
{
  for (guint i = sockets->len; i-- > 0;)
    if (g_socket_is_closed (sockets->pdata[i]))
      g_ptr_array_remove_index_fast (sockets, i);
}

static gboolean
has_too_many_connections (WatchCamera *camera)
{
  return camera->sockets.n_connections > MAX_CONNECTIONS && watch_camera_is_first_frame (camera);
}

/* Some threads cannot be known, such as those that read the parts of a playlist: their connections
 * are of the only camera of that host and port. With the lock. */
static WatchCamera *
find_by_host (GSocketConnectable *connectable)
{
  WatchCamera *found = NULL;
  GHashTableIter iter;
  gpointer value;
  guint n = 0;

  g_hash_table_iter_init (&iter, cameras);
  while (G_IS_NETWORK_ADDRESS (connectable) && g_hash_table_iter_next (&iter, NULL, &value)) {
    const WatchSockets *other = &((WatchCamera *)value)->sockets;
    GNetworkAddress *address = G_NETWORK_ADDRESS (connectable);

    if (other->host && other->port == g_network_address_get_port (address) &&
        g_ascii_strcasecmp (other->host, g_network_address_get_hostname (address)) == 0 && n++ == 0)
      found = value;
  }
  return n == 1 ? found : NULL;
}

/* Called in the thread of an HTTP session before it connects. The session of a source has a thread
 * of its own, and its first request the address that mark_address() has made. */
static gboolean
on_request (GSignalInvocationHint *hint, guint n_values, const GValue *values, gpointer data)
{
  GUri *uri = soup_message_get_uri (g_value_get_object (&values[1]));
  const gchar *fragment = g_uri_get_fragment (uri);

  if (fragment && g_str_has_prefix (fragment, MARK))
    g_private_set (&thread_number,
        GUINT_TO_POINTER ((guint)g_ascii_strtoull (fragment + strlen (MARK), NULL, 10)));
  return TRUE;
}

/* With the lock. A library that follows redirections does so as fast as it can. */
static void
note_socket (WatchCamera *camera, GSocket *socket)
{
  WatchSockets *sockets = &camera->sockets;

  forget_closed (sockets->sockets);
  g_ptr_array_add (sockets->sockets, g_object_ref (socket));
  sockets->n_connections++;
  if (sockets->is_shut_down || has_too_many_connections (camera))
    g_socket_shutdown (socket, TRUE, TRUE, NULL);
}

/* Called for each event of each GSocketClient, in the thread that connects. */
static gboolean
on_event (GSignalInvocationHint *hint, guint n_values, const GValue *values, gpointer data)
{
  const GSocketClientEvent event = g_value_get_enum (&values[1]);
  const guint number = GPOINTER_TO_UINT (g_private_get (&thread_number));
  GObject *stream = g_value_get_object (&values[3]);
  WatchCamera *camera;

  if (event != G_SOCKET_CLIENT_CONNECTED || !G_IS_SOCKET_CONNECTION (stream))
    return TRUE;
  g_mutex_lock (&lock);
  camera = number ? g_hash_table_lookup (cameras, GUINT_TO_POINTER (number))
                  : find_by_host (g_value_get_object (&values[2]));
  if (camera)
    note_socket (camera, g_socket_connection_get_socket (G_SOCKET_CONNECTION (stream)));
  g_mutex_unlock (&lock);
  return TRUE;
}

void
watch_sockets_install (void)
{
  g_type_ensure (G_TYPE_SOCKET_CLIENT);
  g_type_class_ref (G_TYPE_SOCKET_CLIENT);
  cameras = g_hash_table_new (NULL, NULL);
  g_signal_add_emission_hook (
      g_signal_lookup ("event", G_TYPE_SOCKET_CLIENT), 0, on_event, NULL, NULL);
  g_type_class_ref (SOUP_TYPE_SESSION);
  g_signal_add_emission_hook (
      g_signal_lookup ("request-queued", SOUP_TYPE_SESSION), 0, on_request, NULL, NULL);
}

void
watch_sockets_begin (WatchCamera *camera)
{
  WatchSockets *sockets = &camera->sockets;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  *sockets = (WatchSockets){.sockets = g_ptr_array_new_with_free_func (g_object_unref)};
  watch_reach_parse (camera_config (camera)->uri, &sockets->host, &sockets->port);
  sockets->number = ++last_number ? last_number : ++last_number;
  g_hash_table_insert (cameras, GUINT_TO_POINTER (sockets->number), camera);
}

void
watch_sockets_note_thread (WatchCamera *camera)
{
  g_private_set (&thread_number, GUINT_TO_POINTER (camera->sockets.number));
}

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const gsize n = GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST
                      ? gst_buffer_list_calculate_size (GST_PAD_PROBE_INFO_BUFFER_LIST (info))
                      : gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info));
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);

  ((WatchCamera *)data)->sockets.n_pushed += n;
  return GST_PAD_PROBE_OK;
}

/* Names the connection in the fragment of a source's HTTP address, which is not sent. */
static void
mark_address (WatchCamera *camera, GstElement *source)
{
  g_autofree gchar *location = NULL;

  if (!g_str_has_prefix (camera_config (camera)->uri, "http") ||
      !g_object_class_find_property (G_OBJECT_GET_CLASS (source), "location"))
    return;
  g_object_get (source, "location", &location, NULL);
  if (location) {
    g_autofree gchar *marked = g_strdup_printf (
        "%.*s#" MARK "%u", (gint)strcspn (location, "#"), location, camera->sockets.number);

    g_object_set (source, "location", marked, NULL);
  }
}

void
watch_sockets_add_source (WatchCamera *camera, GstElement *source)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "src");

  if (pad && watch_reach_can_ask (camera_config (camera)->uri))
    gst_pad_add_probe (
        pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_data, camera, NULL);
  mark_address (camera, source);
}

/* By the kernel's count, so that it does not matter who reads. */
static guint64
count_received (GPtrArray *sockets)
{
  guint64 n = 0;

  forget_closed (sockets);
  for (guint i = 0; i < sockets->len; i++) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    if (getsockopt (g_socket_get_fd (sockets->pdata[i]), IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
      n += info.tcpi_bytes_received;
  }
  return n;
}

const gchar *
watch_sockets_check (WatchCamera *camera)
{
  WatchSockets *sockets = &camera->sockets;
  const gchar *reason = NULL;
  guint64 n_bytes, n_frames;

  g_mutex_lock (&camera->lock);
  n_frames = camera->locked.status.n_frames + camera->locked.status.n_skipped;
  g_mutex_unlock (&camera->lock);
  g_mutex_lock (&lock);
  n_bytes = MAX (count_received (sockets->sockets), sockets->n_pushed);
  if (n_frames != sockets->n_frames || n_bytes < sockets->n_bytes)
    sockets->n_bytes = n_bytes;
  sockets->n_frames = n_frames;
  if (n_bytes - sockets->n_bytes > MAX_BYTES)
    reason = "it sends more than 64 MiB without a frame";
  else if (has_too_many_connections (camera))
    reason = "its address leads from redirection to redirection";
  g_mutex_unlock (&lock);
  return reason;
}

void
watch_sockets_shut_down (WatchCamera *camera)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&lock);
  GPtrArray *sockets = camera->sockets.sockets;

  camera->sockets.is_shut_down = TRUE;
  for (guint i = 0; sockets && i < sockets->len; i++)
    g_socket_shutdown (sockets->pdata[i], TRUE, TRUE, NULL);
}

void
watch_sockets_end (WatchCamera *camera)
{
  g_mutex_lock (&lock);
  g_hash_table_remove (cameras, GUINT_TO_POINTER (camera->sockets.number));
  g_clear_pointer (&camera->sockets.sockets, g_ptr_array_unref);
  g_clear_pointer (&camera->sockets.host, g_free);
  camera->sockets.number = 0;
  g_mutex_unlock (&lock);
}
