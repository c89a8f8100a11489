/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equivalences of provisional labels: union-find in an array. parents[l] ≤ l, so the least label of
 * a set is its root. Unions compress the paths that they follow.
 *
 * Wu, Otoo, Suzuki: Optimizing two-pass connected-component labeling algorithms, Pattern Analysis
 * and Applications 12, 2009.
 */
#pragma once

#include "cpu/pixels/words.h"

static ALWAYS_INLINE uint32_t
find_root (const uint32_t *parents, uint32_t label)
{
  while (parents[label] < label)
    label = parents[label];
  return label;
}

/* Path compression: links all labels of a path to the new root. */
static ALWAYS_INLINE void
link_path (uint32_t *parents, uint32_t label, uint32_t root)
{
  while (parents[label] < label) {
    const uint32_t parent = parents[label];
    parents[label] = root;
    label = parent;
  }
  parents[label] = root;
}

/* Unites two sets. Returns the root. */
static ALWAYS_INLINE uint32_t
unite (uint32_t *parents, uint32_t a, uint32_t b)
{
  uint32_t root;

  if (a == b)
    return a;
  const uint32_t root_a = find_root (parents, a), root_b = find_root (parents, b);
  root = root_a < root_b ? root_a : root_b;
  link_path (parents, a, root);
  link_path (parents, b, root);
  return root;
}
