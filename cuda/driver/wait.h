/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for the end of a run. The device's context is current (device.h). */
#pragma once

#include "device.h"

/* Waits for all work of a run that is queued on the stream: the one synchronisation of a run. The
 * event was made with CU_EVENT_BLOCKING_SYNC. Each run records it anew, or does not use it.
 *
 * finished: the completion flag of the run, a word of pinned memory that was 0 when the run was
 * queued, and is set when everything that the caller reads has been written. NULL: it has none.
 * CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_wait (CclCudaDevice *device, CUevent event, CUstream stream,
    const uint32_t *finished, CclError *error);

/* Waits for an event that is recorded, which was made as above. CUDACCL_ERROR_DEVICE. */
CclStatus ccl_cuda_wait_for_event (CclCudaDevice *device, CUevent event, CclError *error);
