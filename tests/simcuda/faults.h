/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors on order: SIMCUDA_FAULT=KIND:N:ERROR[:lost] makes the N-th call (from 1) of a kind
 * (allocate, copy, launch, synchronise, create) return a CUresult; with "lost", and with the
 * errors that no context survives, everything fails from then on.
 */
#ifndef SIMCUDA_FAULTS_H
#define SIMCUDA_FAULTS_H

#include <cstdint>

#include <cuda.h>

namespace simcuda {

enum class CallKind { other, allocate, copy, launch, synchronise, create };

/* Counts a call; returns the error that it has to end with. */
CUresult count_call (CallKind kind);

/* Orders a fault as the variable does, and starts counting anew; NULL orders none and finds the
 * device again. Returns whether the text was understood. */
bool order_fault (const char *text);

/* How many ordered faults have happened. */
uint64_t count_faults ();

} /* namespace simcuda */

#endif /* SIMCUDA_FAULTS_H */
