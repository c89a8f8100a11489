/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What objects have in common whose runs queue work and wait for it: the device, the stream, and
 * the event that says that a run has ended. One thread at a time.
 */
#ifndef CUDACCL_CUDA_RUNNER_H
#define CUDACCL_CUDA_RUNNER_H

#include "device.h"

typedef struct CclCudaRunner {
  CclCudaDevice *device;       /* a reference */
  CUstream own_stream, stream; /* stream: the caller's, or own_stream */
  CUevent done;                /* of a run that is waited for; else recorded after the last run */
  bool is_pending;             /* the last run has not been waited for */
  bool is_finished;            /* it has ended, as the caller knows */
} CclCudaRunner;

/* Makes stream and event; the context is current and the device is set. What was made before an
 * error is left to ccl_cuda_runner_clear(). */
CclStatus ccl_cuda_runner_init (CclCudaRunner *runner, CclError *error);

/* Waits for a run that is pending, whatever comes of it. */
void ccl_cuda_runner_drain (CclCudaRunner *runner);

/* Destroys stream and event; the context is current, or the device is lost. The reference stays. */
void ccl_cuda_runner_clear (CclCudaRunner *runner);

/* Selects the caller's stream; NULL: the own one. */
void ccl_cuda_runner_set_stream (CclCudaRunner *runner, void *stream);

/* Makes the device's context current, until ccl_cuda_device_leave(), and checks that work can be
 * queued on the stream. After an error it is not current. */
CclStatus ccl_cuda_runner_enter (CclCudaRunner *runner, CclError *error);

/* Ends a run that nobody waits for at once: records the event, or, if `queued` says that a call has
 * failed, waits for what was queued before. Returns the status of the run. */
CclStatus ccl_cuda_runner_end (CclCudaRunner *runner, CclStatus queued, CclError *error);

/* Waits for the run that was ended last, unless it is known to have finished. */
CclStatus ccl_cuda_runner_settle (CclCudaRunner *runner, CclError *error);

/* Waits for a run of which all calls returned `queued`, as ccl_cuda_wait() does; if one of them
 * failed, only for what was queued before. Returns the status of the run. */
CclStatus ccl_cuda_runner_wait (
    CclCudaRunner *runner, CclStatus queued, const uint32_t *finished, CclError *error);

#endif /* CUDACCL_CUDA_RUNNER_H */
