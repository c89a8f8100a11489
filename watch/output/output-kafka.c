/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines produced to Kafka: kafka://HOST:PORT[,HOST:PORT…]/TOPIC. The key of a message is the
 * camera's name, so the lines of a camera stay in order. Each line is acknowledged by all in-sync
 * replicas and sent until it is. Keys "kafka.X" set librdkafka's property X. */
#include <librdkafka/rdkafka.h>
#include <string.h>

#include "output.h"

#define MAX_PENDING 10000
#define CONNECT_TIMEOUT 3000 /* ms */

typedef struct {
  WatchOutput *output;
  gchar *topic;
  rd_kafka_conf_t *conf;
  rd_kafka_t *producer;
  guint n_pending;
  gchar *failure;      /* why the producer is of no use any more */
  gchar *reason;       /* why the last connection to a broker failed */
  gboolean is_checked; /* the settings were accepted; before that, the producer only checks them,
                          and its errors are not reported */
} KafkaOutput;

static void
destroy_producer (KafkaOutput *self)
{
  if (!self->producer)
    return;
  rd_kafka_purge (self->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_poll (self->producer, 0);
  rd_kafka_destroy (g_steal_pointer (&self->producer));
  self->n_pending = 0;
}

static void
kafka_free (gpointer data)
{
  KafkaOutput *self = data;

  destroy_producer (self);
  rd_kafka_conf_destroy (self->conf);
  g_free (self->reason);
  g_free (self->failure);
  g_free (self->topic);
  g_free (self);
}

/* Whether the message itself is the reason, so that another attempt would fail, too. */
static gboolean
is_of_message (rd_kafka_resp_err_t code)
{
  return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_INVALID_MSG ||
         code == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || code == RD_KAFKA_RESP_ERR_INVALID_RECORD ||
         code == RD_KAFKA_RESP_ERR__BAD_MSG;
}

/* Called in rd_kafka_poll(). */
static void
on_delivery (rd_kafka_t *producer, const rd_kafka_message_t *message, void *data)
{
  KafkaOutput *self = data;

  self->n_pending--;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
    watch_output_acknowledge (self->output, message->_private);
  else if (is_of_message (message->err))
    watch_output_lose (self->output, message->_private, rd_kafka_err2str (message->err));
  else if (message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
           message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT && !self->failure)
    self->failure = g_strdup (rd_kafka_err2str (message->err));
}

static const gchar *
get_reason (KafkaOutput *self)
{
  return self->reason ? self->reason : "no broker answers";
}

/* Called in rd_kafka_poll(). */
static void
on_error (rd_kafka_t *producer, int code, const char *text, void *data)
{
  KafkaOutput *self = data;

  if (!self->is_checked)
    return;
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    watch_output_disconnected (self->output, get_reason (self));
  } else if (code == RD_KAFKA_RESP_ERR__FATAL && !self->failure) {
    self->failure = g_strdup (text);
  } else {
    const gchar *times = strstr (text, " (after ");

    /* The number of attempts and their time are cut off, so that the same cause has the same text
     * and is reported once. */
    g_free (self->reason);
    self->reason = g_strndup (text, times ? (gsize)(times - text) : strlen (text));
  }
}

/* Ignores librdkafka's log, which would go to the standard error. What matters comes to on_error(),
 * too. */
static void
on_log (const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
}

static gboolean
set (KafkaOutput *self, const gchar *key, const gchar *value, GError **error)
{
  gchar reason[256];

  if (rd_kafka_conf_set (self->conf, key, value, reason, sizeof reason) == RD_KAFKA_CONF_OK)
    return TRUE;
  return watch_fail (error, "%s", reason);
}

static gboolean
configure (KafkaOutput *self, const WatchOutputConfig *config, GError **error)
{
  const gchar *hosts = config->uri + strlen ("kafka://");
  const gchar *slash = strchr (hosts, '/');
  GHashTableIter iter;
  gpointer key, value;
  g_autofree gchar *brokers = NULL;
  gboolean is_valid;

  if (!slash || slash == hosts || !slash[1])
    return watch_fail (error, "the URI must be kafka://HOST:PORT/TOPIC");
  self->topic = g_strdup (slash + 1);
  brokers = g_strndup (hosts, slash - hosts);
  is_valid = set (self, "bootstrap.servers", brokers, error) &&
             set (self, "client.id", "ccl-watch", error) && set (self, "acks", "all", error) &&
             set (self, "message.timeout.ms", "0", error) && set (self, "linger.ms", "20", error) &&
             set (self, "reconnect.backoff.max.ms", "5000", error) &&
             set (self, "socket.timeout.ms", "10000", error);
  g_hash_table_iter_init (&iter, config->options);
  while (is_valid && g_hash_table_iter_next (&iter, &key, &value))
    if (g_str_has_prefix (key, "kafka.")) {
      watch_output_option (self->output, key);
      is_valid = set (self, (const gchar *)key + strlen ("kafka."), value, error);
    }
  return is_valid;
}

static gboolean
make_producer (KafkaOutput *self, GError **error)
{
  rd_kafka_conf_t *conf = rd_kafka_conf_dup (self->conf);
  gchar reason[256];

  self->producer = rd_kafka_new (RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
  if (self->producer)
    return TRUE;
  rd_kafka_conf_destroy (conf);
  return watch_fail (error, "%s", reason);
}

static gpointer
kafka_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  KafkaOutput *self = g_new0 (KafkaOutput, 1);

  self->output = output;
  self->conf = rd_kafka_conf_new ();
  rd_kafka_conf_set_opaque (self->conf, self);
  rd_kafka_conf_set_dr_msg_cb (self->conf, on_delivery);
  rd_kafka_conf_set_error_cb (self->conf, on_error);
  rd_kafka_conf_set_log_cb (self->conf, on_log);
  /* The producer only shows whether the library accepts the settings. */
  if (!configure (self, config, error) || !make_producer (self, error)) {
    kafka_free (self);
    return NULL;
  }
  destroy_producer (self);
  self->is_checked = TRUE;
  return self;
}

static void
kafka_close (gpointer data)
{
  KafkaOutput *self = data;

  destroy_producer (self);
  g_clear_pointer (&self->failure, g_free);
  g_clear_pointer (&self->reason, g_free);
}

/* librdkafka connects by itself; the first answer of a broker shows that it can. */
static gboolean
kafka_open (gpointer data, GError **error)
{
  KafkaOutput *self = data;
  const rd_kafka_metadata_t *metadata = NULL;
  rd_kafka_resp_err_t code;

  if (!make_producer (self, error))
    return FALSE;
  code = rd_kafka_metadata (self->producer, 0, NULL, &metadata, CONNECT_TIMEOUT);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_metadata_destroy (metadata);
    return TRUE;
  }
  rd_kafka_poll (self->producer, 0);
  watch_fail (error, "%s", get_reason (self));
  kafka_close (self);
  return FALSE;
}

static WatchSend
kafka_send (gpointer data, const WatchLine *line, GError **error)
{
  KafkaOutput *self = data;
  rd_kafka_resp_err_t code;

  if (self->n_pending >= MAX_PENDING)
    return WATCH_SEND_AGAIN;
  /* Without the newline: a message has a length. */
  code = rd_kafka_producev (self->producer, RD_KAFKA_V_TOPIC (self->topic),
      RD_KAFKA_V_KEY (line->camera, strlen (line->camera)),
      RD_KAFKA_V_VALUE (line->text, line->length - 1), RD_KAFKA_V_MSGFLAGS (RD_KAFKA_MSG_F_COPY),
      RD_KAFKA_V_OPAQUE ((void *)line), RD_KAFKA_V_END);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    self->n_pending++;
    return WATCH_SEND_PENDING;
  }
  if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
    return WATCH_SEND_AGAIN;
  watch_fail (error, "%s", rd_kafka_err2str (code));
  return is_of_message (code) ? WATCH_SEND_REFUSED : WATCH_SEND_FAILED;
}

/* Runs the callbacks. */
static gboolean
kafka_poll (gpointer data, GError **error)
{
  KafkaOutput *self = data;

  rd_kafka_poll (self->producer, 0);
  return !self->failure || watch_fail (error, "%s", self->failure);
}

const WatchOutputClass watch_output_kafka = {
    .new = kafka_new,
    .free = kafka_free,
    .open = kafka_open,
    .close = kafka_close,
    .send = kafka_send,
    .poll = kafka_poll,
    .is_slow_to_open = TRUE,
};
