/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines produced to Kafka: kafka://HOST:PORT[,HOST:PORT…]/TOPIC. The key of a message is the
 * camera's name, so the lines of a camera stay in order. Each line is acknowledged by all in-sync
 * replicas and sent until it is. Keys "kafka.X" set librdkafka's property X. */
#include <librdkafka/rdkafka.h>
#include <string.h>

#include "log.h"
#include "output.h"

#define MAX_PENDING 10000

typedef struct {
  WatchOutput *output;
  gchar *topic;
  rd_kafka_conf_t *conf; /* until the producer takes it */
  rd_kafka_t *producer;
  gint n_pending;
  gint is_open; /* atomic */
} KafkaOutput;

static void
kafka_free (gpointer data)
{
  KafkaOutput *self = data;

  if (self->producer) {
    rd_kafka_purge (self->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll (self->producer, 0);
    rd_kafka_destroy (self->producer);
  }
  if (self->conf)
    rd_kafka_conf_destroy (self->conf);
  g_free (self->topic);
  g_free (self);
}

static void
on_delivery (rd_kafka_t *producer, const rd_kafka_message_t *message, void *data)
{
  KafkaOutput *self = data;

  self->n_pending--;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
    watch_output_acknowledge (self->output, 1);
  else if (message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
           message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
    watch_output_lose (self->output, 1, rd_kafka_err2str (message->err));
}

static void
on_error (rd_kafka_t *producer, int code, const char *reason, void *data)
{
  KafkaOutput *self = data;

  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
    watch_output_set_connected (self->output, FALSE);
}

/* librdkafka's own messages go to the standard error otherwise. It resolves the brokers' names as
 * soon as a producer exists; where the configuration is only checked, such failures are not shown.
 */
static void
on_log (const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
  KafkaOutput *self = rd_kafka_opaque (producer);

  if (level <= 3 && g_atomic_int_get (&self->is_open))
    watch_log_warning ("output %s: %s", watch_output_name (self->output), text);
}

static gboolean
set (KafkaOutput *self, const gchar *key, const gchar *value, GError **error)
{
  gchar reason[256];

  if (rd_kafka_conf_set (self->conf, key, value, reason, sizeof reason) == RD_KAFKA_CONF_OK)
    return TRUE;
  g_set_error (error, WATCH_CONFIG_ERROR, 0, "%s", reason);
  return FALSE;
}

static gboolean
configure (KafkaOutput *self, const WatchOutputConfig *config, GError **error)
{
  const gchar *hosts = config->uri + strlen ("kafka://");
  const gchar *slash = strchr (hosts, '/');
  GHashTableIter iter;
  gpointer key, value;
  gchar *brokers;
  gboolean is_valid;

  if (!slash || slash == hosts || !slash[1]) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "the URI must be kafka://HOST:PORT/TOPIC");
    return FALSE;
  }
  self->topic = g_strdup (slash + 1);
  brokers = g_strndup (hosts, slash - hosts);
  is_valid = set (self, "bootstrap.servers", brokers, error) &&
             set (self, "client.id", "ccl-watch", error) && set (self, "acks", "all", error) &&
             set (self, "message.timeout.ms", "0", error) && set (self, "linger.ms", "20", error) &&
             set (self, "reconnect.backoff.max.ms", "5000", error) &&
             set (self, "socket.timeout.ms", "10000", error);
  g_free (brokers);
  g_hash_table_iter_init (&iter, config->options);
  while (is_valid && g_hash_table_iter_next (&iter, &key, &value))
    if (g_str_has_prefix (key, "kafka.")) {
      watch_output_option (self->output, key);
      is_valid = set (self, (const gchar *)key + strlen ("kafka."), value, error);
    }
  return is_valid;
}

static gpointer
kafka_new (WatchOutput *output, const WatchOutputConfig *config, GError **error)
{
  KafkaOutput *self = g_new0 (KafkaOutput, 1);
  gchar reason[256];

  self->output = output;
  self->conf = rd_kafka_conf_new ();
  if (!configure (self, config, error)) {
    kafka_free (self);
    return NULL;
  }
  rd_kafka_conf_set_opaque (self->conf, self);
  rd_kafka_conf_set_dr_msg_cb (self->conf, on_delivery);
  rd_kafka_conf_set_error_cb (self->conf, on_error);
  rd_kafka_conf_set_log_cb (self->conf, on_log);
  self->producer = rd_kafka_new (RD_KAFKA_PRODUCER, self->conf, reason, sizeof reason);
  if (!self->producer) {
    g_set_error (error, WATCH_CONFIG_ERROR, 0, "%s", reason);
    kafka_free (self);
    return NULL;
  }
  self->conf = NULL;
  return self;
}

/* librdkafka connects by itself. */
static gboolean
kafka_open (gpointer data, GError **error)
{
  KafkaOutput *self = data;

  g_atomic_int_set (&self->is_open, TRUE);
  return TRUE;
}

static void
kafka_close (gpointer data)
{
}

static WatchSend
kafka_send (gpointer data, const WatchLine *line, GError **error)
{
  KafkaOutput *self = data;
  rd_kafka_resp_err_t code;

  if (self->n_pending >= MAX_PENDING) {
    rd_kafka_poll (self->producer, 0);
    return WATCH_SEND_AGAIN;
  }
  /* Without the newline: a message has a length. */
  code = rd_kafka_producev (self->producer, RD_KAFKA_V_TOPIC (self->topic),
      RD_KAFKA_V_KEY (line->camera, strlen (line->camera)),
      RD_KAFKA_V_VALUE (line->text, line->length - 1), RD_KAFKA_V_MSGFLAGS (RD_KAFKA_MSG_F_COPY),
      RD_KAFKA_V_END);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_poll (self->producer, 0);
    return WATCH_SEND_AGAIN;
  }
  self->n_pending++;
  return WATCH_SEND_PENDING;
}

/* Runs the callbacks. */
static void
kafka_poll (gpointer data)
{
  KafkaOutput *self = data;
  gint before = self->n_pending;

  rd_kafka_poll (self->producer, 0);
  if (self->n_pending < before)
    watch_output_set_connected (self->output, TRUE);
}

const WatchOutputClass watch_output_kafka = {
    .new = kafka_new,
    .free = kafka_free,
    .open = kafka_open,
    .close = kafka_close,
    .send = kafka_send,
    .poll = kafka_poll,
};
