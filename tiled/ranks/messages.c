/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "messages.h"

#include "core/base/status.h"

#include <string.h>

void
messages_init (Messages *messages, const CclTiledPeers *peers)
{
  *messages = (Messages){.peers = {.n_ranks = 1}};
  if (peers)
    messages->peers = *peers;
}

void
messages_fail (Messages *messages, CclStatus status, const char *text)
{
  CclError *error = messages->is_decided ? &messages->late : &messages->failure;
  if (error->status == CUDACCL_OK)
    ccl_error_set (error, status, "%s", text);
}

void
messages_decide (Messages *messages)
{
  messages->is_decided = true;
  messages->late = messages->failure;
  messages->failure = (CclError){CUDACCL_OK, ""};
}

/* Notes that a message could not be sent or received. */
static void
fail_message (Messages *messages, const CclError *error)
{
  messages_fail (messages, error->status == CUDACCL_OK ? CUDACCL_ERROR_IO : error->status,
      error->message[0] ? error->message : "a message between ranks was lost");
}

/* Ends an exchange in which a message has failed twice. The other rank cannot be reached. */
static void
break_off (Messages *messages, Exchange *exchange, const CclError *error)
{
  exchange->is_over = true;
  messages->is_decided = false;
  fail_message (messages, error);
  if (messages->peers.abort && !messages->is_aborted)
    messages->peers.abort (messages->peers.data);
  messages->is_aborted = true;
}

static bool
try_to_send (Messages *messages, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  *error = (CclError){CUDACCL_OK, ""};
  return messages->peers.send (messages->peers.data, to, bytes, size, error) == CUDACCL_OK;
}

static bool
try_to_receive (Messages *messages, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  *error = (CclError){CUDACCL_OK, ""};
  return messages->peers.receive (messages->peers.data, from, bytes, size, error) == CUDACCL_OK;
}

static void
count (Messages *messages, uint64_t size)
{
  messages->bytes_sent += size;
  messages->n_messages++;
}

void
messages_send (Messages *messages, Exchange *exchange, const void *bytes, uint64_t size)
{
  CclError error;

  if (exchange->is_over || size == 0)
    return;
  if (!try_to_send (messages, exchange->peer, bytes, size, &error)) {
    fail_message (messages, &error);
    if (!try_to_send (messages, exchange->peer, bytes, size, &error)) {
      break_off (messages, exchange, &error);
      return;
    }
  }
  count (messages, size);
}

void
messages_receive (Messages *messages, Exchange *exchange, void *bytes, uint64_t size)
{
  CclError error;

  if (exchange->is_over || size == 0)
    return;
  if (try_to_receive (messages, exchange->peer, bytes, size, &error))
    return;
  fail_message (messages, &error);
  if (!try_to_receive (messages, exchange->peer, bytes, size, &error))
    break_off (messages, exchange, &error);
}

void
messages_send_report (Messages *messages, Exchange *exchange, Report *report)
{
  CclError error;

  if (exchange->is_over)
    return;
  report->status = messages->failure.status;
  if (!try_to_send (messages, exchange->peer, report, sizeof *report, &error)) {
    fail_message (messages, &error);
    report->status = messages->failure.status;
    if (!try_to_send (messages, exchange->peer, report, sizeof *report, &error)) {
      break_off (messages, exchange, &error);
      return;
    }
  }
  count (messages, sizeof *report);
  if (report->status != CUDACCL_OK)
    messages_send (messages, exchange, messages->failure.message, sizeof messages->failure.message);
  exchange->is_over |= report->status != CUDACCL_OK;
}

void
messages_receive_report (Messages *messages, Exchange *exchange, Report *report)
{
  char text[sizeof ((CclError *)0)->message] = "";

  *report = (Report){0};
  messages_receive (messages, exchange, report, sizeof *report);
  if (exchange->is_over || report->status == CUDACCL_OK)
    return;
  messages_receive (messages, exchange, text, sizeof text);
  text[sizeof text - 1] = '\0';
  messages_fail (messages, (CclStatus)report->status, text);
  exchange->is_over = true;
}

CclStatus
messages_status (const Messages *messages, CclError *error)
{
  const CclError *first = has_failed (messages) ? &messages->failure : &messages->late;
  return first->status == CUDACCL_OK ? CUDACCL_OK
                                     : ccl_error_set (error, first->status, "%s", first->message);
}
