/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages between ranks that go on after a failure, so that no rank waits for ever for another
 * one.
 *
 * Two ranks exchange messages in an order and of sizes that are fixed for both. A message that
 * could not be sent or received is tried a second time, so that a single failure does not interrupt
 * the exchange. Some messages are reports, which carry the first failure that has reached the
 * sender. An exchange is over, for both ranks, after a report of a failure, and for a rank that has
 * failed twice to send or receive a message.
 */
#pragma once

#include <cudaccl/tiled.h>

typedef struct Messages {
  CclTiledPeers peers; /* n_ranks 1 without peers */
  CclError failure;    /* the first one of this rank or of a report; CUDACCL_OK: none */
  CclError late;       /* the first one after the decision, which only this rank returns */
  bool is_decided;     /* all ranks succeed: failures are no longer reported */
  bool is_aborted;
  uint64_t bytes_sent;
  uint32_t n_messages; /* sent */
} Messages;

typedef struct Exchange {
  uint32_t peer; /* the other rank */
  bool is_over;
} Exchange;

/* What ranks report to each other. Which numbers have a meaning depends on the report. */
typedef struct Report {
  uint64_t status;           /* CclStatus; the functions below set it */
  uint64_t plan;             /* a hash of what must be equal in the plans of all ranks */
  uint64_t first_layer, end; /* of a group */
  uint64_t n_entries;        /* of a group */
  uint64_t n_labels;         /* that begin in a group, or in the picture */
  uint64_t n_labels_before;  /* that begin before a group */
} Report;

/* peers may be NULL. */
void messages_init (Messages *messages, const CclTiledPeers *peers);

/* Whether this rank or one that has reported to it has failed, so that all ranks will. */
static inline bool
has_failed (const Messages *messages)
{
  return messages->failure.status != CUDACCL_OK;
}

/* Notes a failure, unless there was one before. */
void messages_fail (Messages *messages, CclStatus status, const char *text);

/* All ranks succeed: a failure of this rank from now on, or in the message that said so, is its
 * own.
 */
void messages_decide (Messages *messages);

/* The functions below do nothing in an exchange that is over, and note their failures. After a
 * failure, the bytes that are received are those that were sent, unless the exchange is over. */
void messages_send (Messages *messages, Exchange *exchange, const void *bytes, uint64_t size);
void messages_receive (Messages *messages, Exchange *exchange, void *bytes, uint64_t size);
void messages_send_report (Messages *messages, Exchange *exchange, Report *report);
void messages_receive_report (Messages *messages, Exchange *exchange, Report *report);

/* The status of the rank, with its error. */
CclStatus messages_status (const Messages *messages, CclError *error);
