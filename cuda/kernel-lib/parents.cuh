/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Accesses to an array of parents that several threads read and change at the same time, for
 * union-find in device or shared memory. One rule holds for all of them:
 *
 * - A root is linked to another element by an atomic operation (atomicMin, atomicCAS), whose result
 *   shows whether the element still was a root.
 * - Any other entry is changed by store_parent() or an atomic operation, and only to another
 *   ancestor of the element. In shared memory it is an atomic operation: racecheck of
 *   compute-sanitizer reports relaxed stores there.
 * - Entries are read by load_parent(), or by load_stale_parent() where that is faster.
 *
 * So an entry that was read always names an ancestor, even if it has changed since.
 */
#pragma once

#include <stdint.h>

/* A relaxed load: it reads the latest link and bypasses the first-level cache. */
static __device__ __forceinline__ uint32_t
load_parent (const uint32_t *parents, uint32_t a)
{
  return *(const volatile uint32_t *)&parents[a];
}

/* A weak load, which the first-level cache may serve with an earlier parent. That costs a longer
 * path at worst, and saves the latency of the second-level cache where neighbouring threads follow
 * the same path: with load_parent() in its place, BKE takes a third more time on an H200 and KE 10
 * to 20 % more. */
static __device__ __forceinline__ uint32_t
load_stale_parent (const uint32_t *parents, uint32_t a)
{
  return parents[a];
}

/* A relaxed store. */
static __device__ __forceinline__ void
store_parent (uint32_t *parents, uint32_t a, uint32_t parent)
{
  *(volatile uint32_t *)&parents[a] = parent;
}
