/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "phases.h"

const char *
phase_name (Phase phase)
{
  static const char *const names[N_PHASES] = {
      [PHASE_OPEN] = "open",
      [PHASE_DEVICE] = "device",
      [PHASE_READ] = "read",
      [PHASE_LABEL] = "label",
      [PHASE_EXCHANGE] = "exchange",
      [PHASE_MAP] = "map",
      [PHASE_TABLE] = "table",
      [PHASE_CLOSE] = "close",
  };
  return names[phase];
}

static double
seconds_between (const struct timespec *begin, const struct timespec *end)
{
  return (double)(end->tv_sec - begin->tv_sec) + 1e-9 * (double)(end->tv_nsec - begin->tv_nsec);
}

void
phases_init (Phases *phases)
{
  *phases = (Phases){.phase = PHASE_OPEN};
  clock_gettime (CLOCK_MONOTONIC, &phases->since);
}

Phase
phases_enter (Phases *phases, Phase phase)
{
  const Phase ended = phases->phase;
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  phases->seconds[ended] += seconds_between (&phases->since, &now);
  phases->phase = phase;
  phases->since = now;
  return ended;
}

double
phases_total (const Phases *phases)
{
  struct timespec now;
  double total;

  clock_gettime (CLOCK_MONOTONIC, &now);
  total = seconds_between (&phases->since, &now);
  for (int i = 0; i < N_PHASES; i++)
    total += phases->seconds[i];
  return total;
}

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  Phases *phases = data;
  const Phase before = phases_enter (phases, PHASE_EXCHANGE);
  const CclStatus status = phases->peers->send (phases->peers->data, to, bytes, size, error);
  phases_enter (phases, before);
  return status;
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  Phases *phases = data;
  const Phase before = phases_enter (phases, PHASE_EXCHANGE);
  const CclStatus status = phases->peers->receive (phases->peers->data, from, bytes, size, error);
  phases_enter (phases, before);
  return status;
}

static void
abort_peers (void *data)
{
  Phases *phases = data;
  if (phases->peers->abort)
    phases->peers->abort (phases->peers->data);
}

CclTiledPeers
phases_watch_peers (Phases *phases, const CclTiledPeers *peers)
{
  phases->peers = peers;
  return (CclTiledPeers){
      .data = phases,
      .rank = peers->rank,
      .n_ranks = peers->n_ranks,
      .send = send_bytes,
      .receive = receive_bytes,
      .abort = abort_peers,
  };
}
