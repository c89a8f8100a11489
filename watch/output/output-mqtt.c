/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines published to an MQTT broker: mqtt://[USER:PASSWORD@]HOST[:PORT]/TOPIC, mqtts:// with TLS.
 * Each line is a message of QoS 1, and delivered when the broker has acknowledged it. "{camera}" in
 * the topic stands for the camera's name, "{event}" for the kind of the event, or "frame". A topic
 * of its own holds whether ccl-watch is connected: {"state":"online"} or, by the last will,
 * {"state":"offline"}. Cameras are announced to Home Assistant if that is wanted.
 *
 * Each connection has a client of libmosquitto of its own, used in the output's thread alone. Its
 * functions with a loop of their own are not used: mosquitto_loop() cannot use a file descriptor of
 * 1024 or more, mosquitto_loop_forever() does not return from a host that is away, and ends without
 * a word where TLS fails. */
#include <errno.h>
#include <mosquitto.h>
#include <poll.h>
#include <string.h>

#include "event-kinds.h"
#include "home-assistant.h"
#include "output.h"

#define KEEPALIVE 10    /* seconds; a broker that does not answer is left after 1.5 times this */
#define MAX_PENDING 200 /* lines on their way */
#define CONNECT_TIMEOUT (5 * G_TIME_SPAN_SECOND) /* for the broker's answer */
#define PATIENT_ATTEMPT 4 /* one attempt of so many tries all addresses, which may take minutes */
#define CLOSE_TIMEOUT (G_TIME_SPAN_SECOND / 2)
#define MAX_COMMAND 64  /* bytes */
#define ROOM_TIMEOUT 20 /* ms to wait for an acknowledgement when all places are taken */

typedef struct {
  WatchOutput *output;
  gchar *host, *topic, *status_topic;
  gchar *user, *password, *cafile, *client_id;
  gint port;
  gboolean is_tls;
  guint n_attempts;                   /* since the last connection */
  WatchHomeAssistant *home_assistant; /* NULL: not wanted */
  gboolean has_pictures;
  gchar *command_topic; /* before the camera's name; NULL: no commands are taken */

  /* Of the connection. */
  struct mosquitto *client;
  GHashTable *sent; /* number of the message → WatchLine */
  guint max_sent;   /* at most; 1 in a new connection, one more with each acknowledgement: if the
                       broker ends each connection because of a line, that line is alone on its way,
                       and so it is found */
  gboolean connected;
  gchar *reason; /* why it failed, if the library said it */
} MqttOutput;

static void
mqtt_free (gpointer data)
{
  MqttOutput *self = data;

  if (self->client)
    mosquitto_destroy (self->client);
  g_clear_pointer (&self->home_assistant, watch_home_assistant_free);
  g_hash_table_unref (self->sent);
  g_free (self->host);
  g_free (self->topic);
  g_free (self->status_topic);
  g_free (self->command_topic);
  g_free (self->user);
  g_free (self->password);
  g_free (self->cafile);
  g_free (self->client_id);
  g_free (self->reason);
  g_free (self);
}

/* Called by libmosquitto in functions that this file calls. */

static void
on_connect (struct mosquitto *client, void *data, int code)
{
  MqttOutput *self = data;

  self->connected = code == 0;
  if (code != 0) {
    g_free (self->reason);
    self->reason = g_strdup (mosquitto_connack_string (code));
  }
}

static void
on_disconnect (struct mosquitto *client, void *data, int reason)
{
  MqttOutput *self = data;

  self->connected = FALSE;
}

/* The broker has acknowledged a message: a line, or another one, which is not in `sent`. */
static void
on_publish (struct mosquitto *client, void *data, int number)
{
  MqttOutput *self = data;
  gpointer line;

  if (!g_hash_table_steal_extended (self->sent, GINT_TO_POINTER (number), NULL, &line))
    return;
  self->max_sent = MIN (self->max_sent + 1, MAX_PENDING);
  if (self->home_assistant) /* here, because a line may be sent twice */
    watch_home_assistant_take_line (self->home_assistant, line);
  watch_output_acknowledge (self->output, line);
}

/* `target` is CAMERA or CAMERA/REGION, the latter with escapes as in a URI. */
static void
take_command (MqttOutput *self, const gchar *target, const struct mosquitto_message *message)
{
  g_auto (GStrv) parts = g_strsplit (target, "/", 2);
  g_autofree gchar *region = parts[1] ? g_uri_unescape_string (parts[1], NULL) : NULL;
  g_autofree gchar *text = g_strndup (message->payload, MIN (message->payloadlen, MAX_COMMAND));

  /* A retained command was sent before this connection, perhaps days ago. */
  if (!message->retain && (region || !parts[1]) && g_utf8_validate (text, -1, NULL))
    watch_output_command (self->output, parts[0], region, text);
}

/* A command, or Home Assistant has started and may have missed what was published. */
static void
on_message (struct mosquitto *client, void *data, const struct mosquitto_message *message)
{
  static const gchar online[] = "online";
  MqttOutput *self = data;

  if (self->command_topic && g_str_has_prefix (message->topic, self->command_topic))
    take_command (self, message->topic + strlen (self->command_topic), message);
  else if (!self->home_assistant)
    return;
  else if (message->payloadlen == (int)strlen (online) &&
           memcmp (message->payload, online, strlen (online)) == 0)
    watch_home_assistant_forget_sent (self->home_assistant);
}

/* Failures of TLS are reported only here. */
static void
on_log (struct mosquitto *client, void *data, int level, const char *text)
{
  MqttOutput *self = data;

  if (level == MOSQ_LOG_ERR) {
    g_free (self->reason);
    self->reason = g_strchomp (g_strdup (text));
  }
}

/* The configuration. */

/* Splits [USER[:PASSWORD]@]HOST[:PORT]/TOPIC. */
static gboolean
parse_uri (MqttOutput *self, const gchar *uri, GError **error)
{
  g_autofree gchar *scheme = NULL, *path = NULL;

  if (!g_uri_split_with_user (uri, G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_NON_DNS, &scheme,
          &self->user, &self->password, NULL, &self->host, &self->port, &path, NULL, NULL, error))
    return FALSE;
  if (!self->host || !*self->host || !path || strlen (path) < 2 || strpbrk (path, "+#"))
    return watch_fail (
        error, "the URI must be mqtt://HOST:PORT/TOPIC, and + and # cannot be in the topic");
  self->is_tls = strcmp (scheme, "mqtts") == 0;
  if (self->port < 0)
    self->port = self->is_tls ? 8883 : 1883;
  self->topic = g_strdup (path + 1);
  return TRUE;
}

static const gchar camera_marker[] = "{camera}", event_marker[] = "{event}";

static gchar *
replace (const gchar *text, const gchar *marker, const gchar *replacement)
{
  g_auto (GStrv) parts = g_strsplit (text, marker, -1);

  return g_strjoinv (replacement, parts);
}

static gchar *
topic_of_line (const gchar *topic, const WatchLine *line)
{
  g_autofree gchar *result = replace (topic, camera_marker, line->camera);

  return strstr (topic, event_marker)
             ? replace (result, event_marker, *line->kind ? line->kind : "frame")
             : g_steal_pointer (&result);
}

/* Whether a line of a camera may have `status_topic` as its topic, if the configuration has
 * `topic`. */
static gboolean
is_topic_of_camera (const gchar *topic, const gchar *status_topic)
{
  g_autofree gchar *kinds = g_strjoinv ("|", (gchar **)watch_event_kinds_get_names ());
  g_autofree gchar *event_pattern = g_strdup_printf ("(frame|%s)", kinds);
  g_autofree gchar *escaped = g_regex_escape_string (topic, -1);
  g_autofree gchar *camera = g_regex_escape_string (camera_marker, -1);
  g_autofree gchar *event = g_regex_escape_string (event_marker, -1);
  g_autofree gchar *part = replace (escaped, camera, "[A-Za-z0-9._-]+");
  g_autofree gchar *pattern = replace (part, event, event_pattern);
  g_autofree gchar *whole = g_strdup_printf ("^%s$", pattern);

  return g_regex_match_simple (whole, status_topic, G_REGEX_DOLLAR_ENDONLY, 0);
}

/* The default has two levels below the topic, so that subscribers to one level, the cameras, do not
 * get it. */
static gboolean
choose_status_topic (MqttOutput *self, const gchar *status_topic, GError **error)
{
  const gchar *camera = strstr (self->topic, camera_marker);
  const gchar *event = strstr (self->topic, event_marker);
  const gchar *marker = camera && event ? MIN (camera, event) : camera ? camera : event;
  const gsize length = marker ? (gsize)(marker - self->topic) : strlen (self->topic);
  g_autofree gchar *parent = g_strndup (self->topic, length);

  while (g_str_has_suffix (parent, "/"))
    parent[strlen (parent) - 1] = 0;
  self->status_topic = status_topic ? g_strdup (status_topic)
                       : *parent    ? g_strconcat (parent, "/ccl-watch/status", NULL)
                                    : g_strdup ("ccl-watch/status");
  if (mosquitto_pub_topic_check (self->status_topic) != MOSQ_ERR_SUCCESS || !*self->status_topic)
    return watch_fail (error, "status-topic: \"%s\" is no topic", self->status_topic);
  if (is_topic_of_camera (self->topic, self->status_topic))
    return watch_fail (error,
        "the topic of the status, \"%s\", can be that of a camera; set status-topic",
        self->status_topic);
  return TRUE;
}

/* The option `pictures`. Comes before choose_discovery(), which uses it. */
static gboolean
choose_pictures (MqttOutput *self, const gchar *pictures, const gchar *discovery, GError **error)
{
  if (pictures && !watch_parse_boolean (pictures, &self->has_pictures, error))
    return watch_fail_at (error, "pictures");
  if (self->has_pictures && g_strcmp0 (discovery, "homeassistant") != 0)
    return watch_fail (error, "pictures: there are none without discovery=homeassistant");
  if (self->has_pictures)
    watch_output_want_pictures (self->output);
  return TRUE;
}

/* The option `commands`. Comes after choose_status_topic(), whose topic it uses. */
static gboolean
choose_commands (MqttOutput *self, const gchar *commands, GError **error)
{
  gboolean has_commands = FALSE;

  if (commands && !watch_parse_boolean (commands, &has_commands, error))
    return watch_fail_at (error, "commands");
  if (has_commands)
    self->command_topic = watch_topic_beside (self->status_topic, "arm");
  return TRUE;
}

/* The option `discovery`. */
static gboolean
choose_discovery (MqttOutput *self, const gchar *discovery, const gchar *prefix, GError **error)
{
  g_autofree gchar *topic = NULL;

  if (!discovery || strcmp (discovery, "off") == 0)
    return !prefix ||
           watch_fail (
               error, "discovery-prefix: there is no discovery without discovery=homeassistant");
  if (strcmp (discovery, "homeassistant") != 0)
    return watch_fail (error, "discovery: \"%s\" is none of off and homeassistant", discovery);
  if (!prefix)
    prefix = "homeassistant";
  if (!*prefix || mosquitto_pub_topic_check (prefix) != MOSQ_ERR_SUCCESS)
    return watch_fail (error, "discovery-prefix: \"%s\" is no topic", prefix);
  watch_output_take_kinds (self->output, WATCH_HOME_ASSISTANT_KINDS);
  self->home_assistant = watch_home_assistant_new (
      prefix, self->status_topic, self->command_topic, self->has_pictures);
  topic = watch_home_assistant_get_topic (self->home_assistant, "a");
  return !is_topic_of_camera (self->topic, topic) ||
         watch_fail (error, "the topics of lines can be those of states; set status-topic");
}

static gboolean
set_error (MqttOutput *self, gint code, gint number, GError **error)
{
  if (self->reason)
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the broker %s: %s", self->host, self->reason);
  else if (code == MOSQ_ERR_EAI)
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the broker %s: the host is not known", self->host);
  else
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the broker %s: %s", self->host,
        code == MOSQ_ERR_ERRNO ? g_strerror (number) : mosquitto_strerror (code));
  return FALSE;
}

/* Makes the client of a connection. */
static gboolean
make_client (MqttOutput *self, GError **error)
{
  static const gchar will[] = "{\"state\":\"offline\"}";
  gint code = MOSQ_ERR_SUCCESS;

  g_clear_pointer (&self->reason, g_free);
  self->max_sent = 1;
  self->client = mosquitto_new (self->client_id, true, self);
  if (!self->client)
    return set_error (self, MOSQ_ERR_ERRNO, errno, error);
  mosquitto_connect_callback_set (self->client, on_connect);
  mosquitto_disconnect_callback_set (self->client, on_disconnect);
  mosquitto_publish_callback_set (self->client, on_publish);
  mosquitto_log_callback_set (self->client, on_log);
  mosquitto_message_callback_set (self->client, on_message);
  mosquitto_max_inflight_messages_set (self->client, MAX_PENDING + 1);
  code = mosquitto_will_set (self->client, self->status_topic, strlen (will), will, 1, true);
  if (code == MOSQ_ERR_SUCCESS && self->user)
    code = mosquitto_username_pw_set (self->client, self->user, self->password);
  if (code == MOSQ_ERR_SUCCESS && self->is_tls)
    code = mosquitto_tls_set (
        self->client, self->cafile, self->cafile ? NULL : "/etc/ssl/certs", NULL, NULL, NULL);
  if (code == MOSQ_ERR_SUCCESS)
    return TRUE;
  if (self->cafile && self->is_tls && code == MOSQ_ERR_INVAL)
    self->reason = g_strdup_printf ("%s cannot be read", self->cafile);
  return set_error (self, code, errno, error);
}

static gpointer
mqtt_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  MqttOutput *self = g_new0 (MqttOutput, 1);
  const gchar *password = watch_output_option (output, "password");
  const gchar *user = watch_output_option (output, "user");

  self->output = output;
  self->sent = g_hash_table_new (NULL, NULL);
  self->cafile = g_strdup (watch_output_option (output, "cafile"));
  self->client_id = g_strdup (watch_output_option (output, "client-id"));
  mosquitto_lib_init ();
  if (!parse_uri (self, config->uri, error) ||
      !choose_status_topic (self, watch_output_option (output, "status-topic"), error) ||
      !choose_commands (self, watch_output_option (output, "commands"), error) ||
      !choose_pictures (self, watch_output_option (output, "pictures"),
          watch_output_option (output, "discovery"), error) ||
      !choose_discovery (self, watch_output_option (output, "discovery"),
          watch_output_option (output, "discovery-prefix"), error)) {
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
  /* Only to see whether the library accepts the settings. */
  if (!make_client (self, error)) {
    mqtt_free (self);
    return NULL;
  }
  g_clear_pointer (&self->client, mosquitto_destroy);
  return self;
}

/* The connection. */

/* Reads and writes what there is, after at most `timeout` milliseconds. */
static gboolean
exchange (MqttOutput *self, gint timeout, GError **error)
{
  struct pollfd file = {.fd = mosquitto_socket (self->client), .events = POLLIN};
  gint code = MOSQ_ERR_SUCCESS;

  if (mosquitto_want_write (self->client))
    file.events |= POLLOUT;
  if (file.fd < 0)
    return set_error (self, MOSQ_ERR_CONN_LOST, 0, error);
  if (poll (&file, 1, timeout) > 0) {
    if (file.revents & ~POLLOUT)
      code = mosquitto_loop_read (self->client, 1);
    if (code == MOSQ_ERR_SUCCESS && file.revents & POLLOUT)
      code = mosquitto_loop_write (self->client, 1);
    /* With TLS, the library does not see that a connection in the background failed. */
    if (code == MOSQ_ERR_SUCCESS && file.revents & POLLHUP && !self->connected)
      return set_error (self, MOSQ_ERR_ERRNO, ECONNREFUSED, error);
  }
  if (code == MOSQ_ERR_SUCCESS)
    code = mosquitto_loop_misc (self->client); /* pings the broker */
  return code == MOSQ_ERR_SUCCESS || set_error (self, code, errno, error);
}

static gboolean
publish_status (MqttOutput *self, const gchar *text, gint qos)
{
  return mosquitto_publish (self->client, NULL, self->status_topic, strlen (text), text, qos,
             true) == MOSQ_ERR_SUCCESS;
}

static gboolean
publish_retained (gpointer data, const gchar *topic, const gchar *text)
{
  MqttOutput *self = data;

  return mosquitto_publish (self->client, NULL, topic, text ? strlen (text) : 0, text, 1, true) ==
         MOSQ_ERR_SUCCESS;
}

static gboolean
subscribe_to_commands (MqttOutput *self)
{
  static const gchar *const levels[] = {"+", "+/+"};
  gboolean is_done = TRUE;

  for (guint i = 0; self->command_topic && is_done && i < G_N_ELEMENTS (levels); i++) {
    g_autofree gchar *topic = g_strconcat (self->command_topic, levels[i], NULL);

    is_done = mosquitto_subscribe (self->client, NULL, topic, 1) == MOSQ_ERR_SUCCESS;
  }
  return is_done;
}

/* Asks for the birth message of Home Assistant; what a former connection published may be lost. */
static gboolean
begin_discovery (MqttOutput *self)
{
  if (!self->home_assistant)
    return TRUE;
  watch_home_assistant_forget_sent (self->home_assistant);
  return mosquitto_subscribe (self->client, NULL,
             watch_home_assistant_get_birth_topic (self->home_assistant), 1) == MOSQ_ERR_SUCCESS;
}

static gboolean
continue_discovery (MqttOutput *self, GError **error)
{
  return !self->home_assistant ||
         watch_home_assistant_send (self->home_assistant, publish_retained, self) ||
         set_error (self, MOSQ_ERR_CONN_LOST, 0, error);
}

/* Sends one picture of those that wait, so that lines wait for one at most. If it is lost with the
 * connection, the broker keeps the picture before it. */
static gboolean
send_picture (MqttOutput *self, GError **error)
{
  g_autofree gchar *camera = NULL, *topic = NULL;
  g_autoptr (GBytes) jpeg = NULL;
  gint code;

  if (!self->has_pictures || !watch_output_take_picture (self->output, &camera, &jpeg))
    return TRUE;
  topic = watch_home_assistant_get_picture_topic (self->home_assistant, camera);
  code = mosquitto_publish (
      self->client, NULL, topic, g_bytes_get_size (jpeg), g_bytes_get_data (jpeg, NULL), 1, true);
  return code == MOSQ_ERR_SUCCESS || set_error (self, code, errno, error);
}

static void
mqtt_close (gpointer data)
{
  MqttOutput *self = data;
  const gint64 until = g_get_monotonic_time () + CLOSE_TIMEOUT;

  /* No acknowledgement is needed: if this message is lost, the last will says the same. */
  if (self->connected && publish_status (self, "{\"state\":\"offline\"}", 0) &&
      mosquitto_disconnect (self->client) == MOSQ_ERR_SUCCESS)
    while (mosquitto_want_write (self->client) && g_get_monotonic_time () < until &&
           exchange (self, 50, NULL)) {
    }
  g_clear_pointer (&self->client, mosquitto_destroy);
  g_hash_table_remove_all (self->sent);
  self->connected = FALSE;
}

/* Waits for the broker's answer, which follows TLS's. */
static gboolean
wait_for_answer (MqttOutput *self, GError **error)
{
  const gint64 until = g_get_monotonic_time () + CONNECT_TIMEOUT;

  while (!self->connected && g_get_monotonic_time () < until)
    if (!exchange (self, 100, error))
      return FALSE;
  if (!self->connected)
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the broker %s does not answer", self->host);
  return self->connected;
}

/* A connection in the background tries the first address of a name alone. One in the foreground
 * tries all, but gives each up only after minutes. */
static gboolean
begin_to_connect (MqttOutput *self, GError **error)
{
  const gboolean tries_all =
      ++self->n_attempts % PATIENT_ATTEMPT == 0 && !g_hostname_is_ip_address (self->host);
  const gint code = (tries_all ? mosquitto_connect : mosquitto_connect_async) (
      self->client, self->host, self->port, KEEPALIVE);

  return code == MOSQ_ERR_SUCCESS || set_error (self, code, errno, error);
}

static gboolean
mqtt_open (gpointer data, GError **error)
{
  MqttOutput *self = data;
  gboolean is_open =
      make_client (self, error) && begin_to_connect (self, error) && wait_for_answer (self, error);

  if (is_open && !(publish_status (self, "{\"state\":\"online\"}", 1) &&
                     subscribe_to_commands (self) && begin_discovery (self)))
    is_open = set_error (self, MOSQ_ERR_CONN_LOST, 0, error);
  g_clear_pointer (&self->reason, g_free);
  if (is_open)
    self->n_attempts = 0;
  else
    mqtt_close (self);
  return is_open;
}

/* Takes a line that is not published and that only Home Assistant's states need. It waits until the
 * lines before it are acknowledged, which is when they are counted. */
static WatchSend
take_unwanted (MqttOutput *self, const WatchLine *line, GError **error)
{
  if (g_hash_table_size (self->sent) > 0 && !exchange (self, ROOM_TIMEOUT, error))
    return WATCH_SEND_FAILED;
  if (g_hash_table_size (self->sent) > 0)
    return WATCH_SEND_AGAIN;
  watch_home_assistant_take_line (self->home_assistant, line);
  return WATCH_SEND_DELIVERED;
}

static WatchSend
mqtt_send (gpointer data, const WatchLine *line, GError **error)
{
  MqttOutput *self = data;
  const WatchLine *former;
  gint code, number = 0;
  g_autofree gchar *topic = NULL;

  if (!watch_output_wants (self->output, line))
    return take_unwanted (self, line, error);
  if (g_hash_table_size (self->sent) >= self->max_sent && !exchange (self, ROOM_TIMEOUT, error))
    return WATCH_SEND_FAILED;
  if (g_hash_table_size (self->sent) >= self->max_sent)
    return WATCH_SEND_AGAIN;
  topic = topic_of_line (self->topic, line);
  /* Without the newline: a message has a length. */
  code = mosquitto_publish (self->client, &number, topic, line->length - 1, line->text, 1, false);
  if (code == MOSQ_ERR_PAYLOAD_SIZE || code == MOSQ_ERR_OVERSIZE_PACKET) {
    watch_fail (error, "%s", mosquitto_strerror (code));
    return WATCH_SEND_REFUSED;
  }
  if (code != MOSQ_ERR_SUCCESS) {
    set_error (self, code, errno, error);
    return WATCH_SEND_FAILED;
  }
  /* Numbers have 16 bits and come again. */
  former = g_hash_table_lookup (self->sent, GINT_TO_POINTER (number));
  if (former)
    watch_output_lose (self->output, former, "the broker has not acknowledged it");
  g_hash_table_insert (self->sent, GINT_TO_POINTER (number), (gpointer)line);
  return WATCH_SEND_PENDING;
}

static gboolean
mqtt_poll (gpointer data, GError **error)
{
  return exchange (data, 0, error) && continue_discovery (data, error) &&
         send_picture (data, error);
}

const WatchOutputClass watch_output_mqtt = {
    .new = mqtt_new,
    .free = mqtt_free,
    .open = mqtt_open,
    .close = mqtt_close,
    .send = mqtt_send,
    .poll = mqtt_poll,
    .is_slow_to_open = TRUE,
    .may_hang_up = TRUE,
    .is_for_persons = TRUE,
};
