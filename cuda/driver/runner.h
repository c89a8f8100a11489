/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What objects have in common whose runs queue work and wait for it: the device, the stream, and
 * the event that says that a run has ended. One thread at a time.
 */
#pragma once

#include "allocations.h"

typedef struct CclCudaRunner {
  CclCudaDevice *device;       /* a reference */
  CUstream own_stream, stream; /* stream: the caller's, or own_stream */
  CUevent done;                /* of a run that is waited for; else recorded after the last run */
  bool is_pending;             /* the last run has not been waited for */
  bool is_finished;            /* it has ended, as the caller knows */
  CclCudaAllocations memory;   /* of the object */
} CclCudaRunner;

/* Prepares an object for runs on a device: takes a reference to the device, makes stream and event,
 * and calls allocate (object) with the context current. After an error, the object must be closed,
 * too. */
CclStatus ccl_cuda_runner_open (CclCudaRunner *runner, CclCudaDevice *device,
    CclStatus (*allocate) (void *object, CclError *error), void *object, CclError *error);

/* Closes the object: waits for a run that is pending, calls release (object), which frees as much
 * as allocate() has made besides the runner's memory, and frees that. release: may be NULL. Where
 * the device is lost, only the host's memory is freed. */
void ccl_cuda_runner_close (CclCudaRunner *runner, void (*release) (void *object), void *object);

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

/* Waits for a run as ccl_cuda_wait() does. queued: the status of the calls that queued it; if one
 * of them failed, the work that was queued before it is waited for. Returns the status of the run.
 */
CclStatus ccl_cuda_runner_wait (
    CclCudaRunner *runner, CclStatus queued, const uint32_t *finished, CclError *error);
