/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the simulated driver offers tests beyond the driver API. They look the functions up by name
 * (dlsym) and find none on a real driver. Any thread may call. */
#ifndef SIMCUDA_SIMCUDA_H
#define SIMCUDA_SIMCUDA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimcudaStatistics {
  /* Calls since the process began that were no failures. */
  uint64_t allocations; /* of device and pinned memory */
  uint64_t copies;      /* and memsets */
  uint64_t launches;    /* of kernels and graphs */
  uint64_t synchronisations;
  uint64_t faults; /* calls that failed as ordered, the first of a lost device only */
  /* Work since the process began. */
  uint64_t threads;  /* of kernels */
  uint64_t switches; /* from one thread of a kernel to another */
  /* What is there now. */
  uint64_t device_allocations, pinned_allocations;
  uint64_t contexts, streams, events, modules, graphs; /* graphs: launchable ones included */
} SimcudaStatistics;

void simcuda_get_statistics (SimcudaStatistics *statistics);

/* Orders a fault as the variable SIMCUDA_FAULT does, counting from now; NULL takes the order back
 * and repairs the device. Returns 0, or a CUresult for a text that is none. */
int simcuda_order_fault (const char *text);

#ifdef __cplusplus
}
#endif

#endif /* SIMCUDA_SIMCUDA_H */
