/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines published to an MQTT broker: mqtt://[USER:PASSWORD@]HOST[:PORT]/TOPIC, mqtts:// with TLS.
 * Each line is a message of QoS 1: libmosquitto keeps it until the broker acknowledged it. The
 * topic TOPIC/status holds "online" or, by the last will, "offline". "{camera}" in the topic stands
 * for the camera's name. */
#include <mosquitto.h>
#include <pthread.h>
#include <string.h>

#include "log.h"
#include "output.h"

#define KEEPALIVE 10    /* seconds; a broker that does not answer is left after 1.5 times this */
#define MAX_PENDING 200 /* lines on their way */

typedef struct {
  WatchOutput *output;
  gchar *host, *topic, *status_topic;
  gchar *user, *password, *cafile;
  gint port;
  gboolean is_tls;
  struct mosquitto *client;
  pthread_t thread; /* of the client, while it is open */
  gint n_pending;   /* atomic */
  gint connected;   /* atomic */
  gint status_mid;  /* of the message about the status, which is no line */
} MqttOutput;

static void
mqtt_free (gpointer data)
{
  MqttOutput *self = data;

  if (self->client)
    mosquitto_destroy (self->client);
  g_free (self->host);
  g_free (self->topic);
  g_free (self->status_topic);
  g_free (self->user);
  g_free (self->password);
  g_free (self->cafile);
  g_free (self);
}

static void
on_connect (struct mosquitto *client, void *data, int code)
{
  MqttOutput *self = data;

  if (code != 0) {
    watch_log_warning (
        "output %s: %s", watch_output_name (self->output), mosquitto_connack_string (code));
    return;
  }
  g_atomic_int_set (&self->connected, TRUE);
  watch_output_set_connected (self->output, TRUE);
  mosquitto_publish (client, &self->status_mid, self->status_topic, 6, "online", 1, true);
}

static void
on_disconnect (struct mosquitto *client, void *data, int reason)
{
  MqttOutput *self = data;

  if (reason != 0 && g_atomic_int_get (&self->connected))
    watch_log_warning ("output %s: the connection to the broker is lost; trying again",
        watch_output_name (self->output));
  g_atomic_int_set (&self->connected, FALSE);
  watch_output_set_connected (self->output, FALSE);
}

static void
on_publish (struct mosquitto *client, void *data, int mid)
{
  MqttOutput *self = data;

  if (mid == self->status_mid)
    return;
  g_atomic_int_add (&self->n_pending, -1);
  watch_output_acknowledge (self->output, 1);
}

/* Splits [USER[:PASSWORD]@]HOST[:PORT]/TOPIC. */
static gboolean
parse_uri (MqttOutput *self, const gchar *uri, GError **error)
{
  gchar *scheme = NULL, *path = NULL;
  gboolean is_valid =
      g_uri_split_with_user (uri, G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_NON_DNS, &scheme,
          &self->user, &self->password, NULL, &self->host, &self->port, &path, NULL, NULL, error);

  if (is_valid &&
      (!self->host || !*self->host || !path || strlen (path) < 2 || strpbrk (path, "+#"))) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0,
        "the URI must be mqtt://HOST:PORT/TOPIC, and + and # cannot be in the topic");
    is_valid = FALSE;
  }
  if (is_valid) {
    self->is_tls = strcmp (scheme, "mqtts") == 0;
    if (self->port < 0)
      self->port = self->is_tls ? 8883 : 1883;
    self->topic = g_strdup (path + 1);
  }
  g_free (scheme);
  g_free (path);
  return is_valid;
}

static gchar *
topic_of_camera (const gchar *topic, const gchar *camera)
{
  gchar **parts = g_strsplit (topic, "{camera}", -1);
  gchar *result = g_strjoinv (camera, parts);

  g_strfreev (parts);
  return result;
}

static gboolean
configure (MqttOutput *self, const gchar *client_id)
{
  mosquitto_threaded_set (self->client, true);
  mosquitto_connect_callback_set (self->client, on_connect);
  mosquitto_disconnect_callback_set (self->client, on_disconnect);
  mosquitto_publish_callback_set (self->client, on_publish);
  mosquitto_reconnect_delay_set (self->client, 1, 30, true);
  mosquitto_max_inflight_messages_set (self->client, MAX_PENDING);
  return mosquitto_will_set (self->client, self->status_topic, 7, "offline", 1, true) == 0 &&
         (!self->user ||
             mosquitto_username_pw_set (self->client, self->user, self->password) == 0) &&
         (!self->is_tls || mosquitto_tls_set (self->client, self->cafile,
                               self->cafile ? NULL : "/etc/ssl/certs", NULL, NULL, NULL) == 0);
}

static gpointer
mqtt_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  MqttOutput *self = g_new0 (MqttOutput, 1);
  const gchar *client_id = watch_output_option (output, "client-id");
  const gchar *password = watch_output_option (output, "password");
  const gchar *user = watch_output_option (output, "user");
  gchar *parent;

  self->output = output;
  self->cafile = g_strdup (watch_output_option (output, "cafile"));
  if (!parse_uri (self, config->uri, error)) {
    mqtt_free (self);
    return NULL;
  }
  if (user) {
    g_free (self->user);
    self->user = g_strdup (user);
  }
  if (password) {
    g_free (self->password);
    self->password = g_strdup (password);
  }
  parent = topic_of_camera (self->topic, "");
  while (g_str_has_suffix (parent, "/"))
    parent[strlen (parent) - 1] = 0;
  self->status_topic = g_strconcat (*parent ? parent : "ccl-watch", "/status", NULL);
  g_free (parent);
  mosquitto_lib_init ();
  self->client = mosquitto_new (client_id, true, self);
  if (!self->client || !configure (self, client_id)) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "libmosquitto does not accept the settings");
    mqtt_free (self);
    return NULL;
  }
  return self;
}

static void *
run_client (void *client)
{
  mosquitto_loop_forever (client, KEEPALIVE * 1000, 1);
  return NULL;
}

/* From here on, a thread connects again by itself, and repeats messages that were not acknowledged.
 * mosquitto_loop_start() is not used, because mosquitto_loop_stop() of libmosquitto 2.0.21 does not
 * join a thread that has ended by itself. */
static gboolean
mqtt_open (gpointer data, GError **error)
{
  MqttOutput *self = data;
  gint code = mosquitto_connect_async (self->client, self->host, self->port, KEEPALIVE);

  if (code == MOSQ_ERR_INVAL) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "%s", mosquitto_strerror (code));
    return FALSE;
  }
  if (code != MOSQ_ERR_SUCCESS)
    watch_log_warning ("output %s: %s; trying again", watch_output_name (self->output),
        code == MOSQ_ERR_ERRNO ? "the broker does not answer" : mosquitto_strerror (code));
  code = pthread_create (&self->thread, NULL, run_client, self->client);
  if (code != 0)
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "%s", g_strerror (code));
  return code == 0;
}

static void
mqtt_close (gpointer data)
{
  MqttOutput *self = data;
  const gboolean connected = g_atomic_int_get (&self->connected);

  /* Without acknowledgement: the last will says the same if this is lost. */
  if (connected)
    mosquitto_publish (self->client, &self->status_mid, self->status_topic, 7, "offline", 0, true);
  /* Without a connection, the thread may be looking up a name, or waiting to try again. */
  if (mosquitto_disconnect (self->client) != MOSQ_ERR_SUCCESS || !connected)
    pthread_cancel (self->thread);
  pthread_join (self->thread, NULL);
}

static WatchSend
mqtt_send (gpointer data, const WatchLine *line, GError **error)
{
  MqttOutput *self = data;
  gchar *topic;
  gint code;

  if (!g_atomic_int_get (&self->connected) || g_atomic_int_get (&self->n_pending) >= MAX_PENDING)
    return WATCH_SEND_AGAIN;
  topic = topic_of_camera (self->topic, line->camera);
  g_atomic_int_inc (&self->n_pending);
  /* Without the newline: a message has a length. */
  code = mosquitto_publish (self->client, NULL, topic, line->length - 1, line->text, 1, false);
  g_free (topic);
  /* Without a connection the message is kept for the next one. */
  if (code == MOSQ_ERR_SUCCESS || code == MOSQ_ERR_NO_CONN)
    return WATCH_SEND_PENDING;
  g_atomic_int_add (&self->n_pending, -1);
  return WATCH_SEND_AGAIN;
}

const WatchOutputClass watch_output_mqtt = {
    .new = mqtt_new,
    .free = mqtt_free,
    .open = mqtt_open,
    .close = mqtt_close,
    .send = mqtt_send,
};
