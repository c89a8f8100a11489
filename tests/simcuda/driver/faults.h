/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fault injection: SIMCUDA_FAULT=KIND:N:ERROR[:lost] makes the N-th call (from 1) of a kind
 * (init, allocate, copy, launch, synchronise, create) return the CUresult ERROR. With "lost", and
 * with errors that destroy the context, all later calls fail as well.
 */
#pragma once

#include <cstdint>

#include <cuda.h>

namespace simcuda {

enum class CallKind { other, init, allocate, copy, launch, synchronise, create };

/* Counts a call; returns the error to return from it, or CUDA_SUCCESS. */
CUresult count_call (CallKind kind);

/* Requests a fault in the format of the variable and restarts the count. NULL cancels the request
 * and restores a lost device. Returns whether the text is valid. */
bool order_fault (const char *text);

/* The number of injected faults so far. */
uint64_t count_faults ();

} /* namespace simcuda */
