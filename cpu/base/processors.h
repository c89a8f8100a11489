/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much of the machine's processors this process may use. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Processors {
  uint32_t n;     /* threads that can run at the same time, ≥ 1 */
  bool has_quota; /* the process has less processor time than the processors of its affinity mask
                   * have, so that time spent on waiting is missing for work */
} Processors;

/* The processors of the affinity mask, limited by processors_quota(). A part of a processor counts
 * as one, since a thread can run on it for a part of the time. */
Processors processors_find (void);

/* How many processors the quotas of the control groups (version 1 and 2) of this process and of
 * their ancestors allow; infinite without quotas. Reads files of /proc and /sys.
 *
 * root: a folder that has these files in place of "/", for tests; "" for the real ones. */
double processors_quota (const char *root);
