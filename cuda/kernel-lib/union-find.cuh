/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Union-find on an array of parents in device memory, shared by all threads (TPDS 2020, section 2.1
 * and algorithm 1; the atomic union is Oliveira and Lotufo's).
 *
 * parents[a] is the parent of a; a root is its own parent. A parent is never greater than its
 * child, so a set's root is its smallest member. Algorithms that keep 0 for background number
 * their elements from 1 and pass the label buffer's address minus one element.
 *
 * parents.cuh has the rule for accesses that are not atomic. The loads here may be stale: the
 * atomic minimum of the union shows that a root has become a child.
 */
#pragma once

#include "parents.cuh"

/* The root of a's set. */
static __device__ __forceinline__ uint32_t
find_root (const uint32_t *parents, uint32_t a)
{
  uint32_t parent = load_stale_parent (parents, a);
  while (parent != a) {
    a = parent;
    parent = load_stale_parent (parents, a);
  }
  return a;
}

/* Links a to its root. */
static __device__ __forceinline__ void
compress (uint32_t *parents, uint32_t a)
{
  uint32_t parent = load_stale_parent (parents, a);
  if (parent == a)
    return;
  uint32_t root = find_root (parents, parent);
  if (root != parent)
    store_parent (parents, a, root);
}

/* Links a to each ancestor on the way to its root, which shortens the paths of other threads
 * through a at once (Yonehara and Aizawa's inline compression). */
static __device__ __forceinline__ void
compress_inline (uint32_t *parents, uint32_t a)
{
  uint32_t ancestor = load_stale_parent (parents, a);
  if (ancestor == a)
    return;
  for (;;) {
    uint32_t next = load_stale_parent (parents, ancestor);
    if (next == ancestor)
      return;
    ancestor = next;
    store_parent (parents, a, ancestor);
  }
}

/* Joins the sets of a and b. */
static __device__ __forceinline__ void
unite (uint32_t *parents, uint32_t a, uint32_t b)
{
  for (;;) {
    a = find_root (parents, a);
    b = find_root (parents, b);
    if (a == b)
      return;
    if (a < b) {
      uint32_t swapped = a;
      a = b;
      b = swapped;
    }
    uint32_t old = atomicMin (&parents[a], b);
    if (old == a)
      return; /* a was a root until now */
    a = old;  /* a had become a child of old, whose set must be joined with b's, too */
  }
}

/* The same for elements that are close in the tree, such as those of a tile in shared memory: each
 * step goes up from the larger of the two numbers until they are equal. A root is linked below the
 * smaller number. */
static __device__ __forceinline__ void
unite_by_steps (uint32_t *parent, uint32_t a, uint32_t b)
{
#pragma unroll 1
  while (a != b) {
    uint32_t larger = max (a, b), smaller = min (a, b);
    uint32_t above = load_parent (parent, larger);
    if (above == larger) {
      above = atomicMin (&parent[larger], smaller);
      if (above == larger)
        return;
    }
    a = above;
    b = smaller;
  }
}

/* The root of an element after all unions, also while roots are replaced by numbers that are
 * greater than any element. */
static __device__ __forceinline__ uint32_t
find_final_root (const uint32_t *parents, uint32_t element)
{
  uint32_t parent = parents[element];
  while (parent < element) {
    element = parent;
    parent = parents[element];
  }
  return element;
}
