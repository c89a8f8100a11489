/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Kafka broker for the tests: librdkafka's own mock cluster, which speaks the real protocol and
 * keeps messages in memory. Prints where it listens and serves until its input ends. While a line
 * "down" was the last one read, its broker is unreachable; "up" ends that. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>

int
main (void)
{
  char error[512], line[64];
  rd_kafka_t *client = rd_kafka_new (RD_KAFKA_PRODUCER, rd_kafka_conf_new (), error, sizeof error);
  rd_kafka_mock_cluster_t *cluster = client ? rd_kafka_mock_cluster_new (client, 1) : NULL;

  /* One partition, in which order is kept. */
  if (!cluster || rd_kafka_mock_topic_create (cluster, "components", 1, 1) != 0) {
    fprintf (stderr, "kafka-mock: no cluster with a topic\n");
    return 1;
  }
  printf ("%s\n", rd_kafka_mock_cluster_bootstraps (cluster));
  fflush (stdout);
  while (fgets (line, sizeof line, stdin)) {
    if (strcmp (line, "down\n") == 0)
      rd_kafka_mock_broker_set_down (cluster, 1);
    else if (strcmp (line, "up\n") == 0)
      rd_kafka_mock_broker_set_up (cluster, 1);
  }
  rd_kafka_mock_cluster_destroy (cluster);
  rd_kafka_destroy (client);
  return 0;
}
