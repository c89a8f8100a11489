/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The least rectangle of some blocks of a picture, empty without any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Extent {
  uint32_t left, right, top, bottom;
} Extent;

/* Extends it by a square. */
static inline void
extend (Extent *extent, uint32_t x, uint32_t y, uint32_t side)
{
  if (extent->right == 0)
    *extent = (Extent){x, x + side, y, y + side};
  extent->left = x < extent->left ? x : extent->left;
  extent->right = x + side > extent->right ? x + side : extent->right;
  extent->top = y < extent->top ? y : extent->top;
  extent->bottom = y + side > extent->bottom ? y + side : extent->bottom;
}

/* Whether a part extends over half of the whole, both ways. */
static inline bool
is_half_of (const Extent *part, const Extent *whole)
{
  return 2 * (part->right - part->left) >= whole->right - whole->left &&
         2 * (part->bottom - part->top) >= whole->bottom - whole->top;
}
