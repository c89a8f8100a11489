/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "statistics.h"

#include <stdio.h>

/* The most memory that this process has had resident, in KiB; 0 if the system does not say. Unlike
 * getrusage() it does not count the process that started this one. */
static uint64_t
most_resident (void)
{
  FILE *file = fopen ("/proc/self/status", "r");
  unsigned long long most = 0;
  char line[128];

  while (file && fgets (line, sizeof line, file))
    if (sscanf (line, "VmHWM: %llu", &most) == 1)
      break;
  if (file)
    fclose (file);
  return most;
}

void
statistics_print (const Processes *processes, const Phases *phases, const CclTiledResult *result)
{
  const double seconds = phases_total (phases);
  const uint64_t memory = processes_sum (most_resident ());
  const uint64_t tiles = processes_sum (result->n_tiles);
  const uint64_t seam_components = processes_sum (result->n_seam_components);
  const uint64_t bytes = processes_sum (result->bytes_sent);
  const uint64_t messages = processes_sum (result->n_messages);
  char means[64 * N_PHASES] = "";
  int length = 0;

  for (int i = 0; i < N_PHASES; i++) {
    const double sum = 1e-9 * (double)processes_sum ((uint64_t)(1e9 * phases->seconds[i]));
    length += snprintf (means + length, sizeof means - (size_t)length, "%s\"%s\":%.3f",
        i ? "," : "", phase_name ((Phase)i), sum / processes->n_ranks);
  }
  if (processes->rank != 0)
    return;
  fprintf (stderr,
      "{\"ranks\":%u,\"seconds\":%.3f,\"phases\":{%s},\"resident_kib\":%llu,\"tiles\":%llu,"
      "\"seam_components\":%llu,\"messages\":%llu,\"message_bytes\":%llu}\n",
      processes->n_ranks, seconds, means, (unsigned long long)memory, (unsigned long long)tiles,
      (unsigned long long)seam_components, (unsigned long long)messages, (unsigned long long)bytes);
}
