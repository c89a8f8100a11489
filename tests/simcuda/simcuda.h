/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions for tests beyond the driver API. Tests look them up by name (dlsym); a real driver does
 * not have them. Thread safe. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimcudaStatistics {
  /* Successful calls since the process began. */
  uint64_t allocations; /* of device and pinned memory */
  uint64_t copies;      /* and memsets */
  uint64_t launches;    /* of kernels and graphs */
  uint64_t synchronisations;
  uint64_t captures; /* of streams */
  uint64_t faults;   /* injected faults; of a lost device only the first call counts */
  /* Simulated threads since the process began. */
  uint64_t threads;  /* of kernels */
  uint64_t switches; /* from one thread of a kernel to another */
  /* Objects that exist now. */
  uint64_t device_allocations, pinned_allocations;
  uint64_t contexts, streams, events, modules, graphs; /* graphs: launchable ones included */
} SimcudaStatistics;

void simcuda_get_statistics (SimcudaStatistics *statistics);

/* Requests a fault in the format of the variable SIMCUDA_FAULT, counting from now. NULL cancels the
 * request and restores a lost device. Returns 0, or a CUresult for an invalid text. */
int simcuda_order_fault (const char *text);

#ifdef __cplusplus
}
#endif
