/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sizes and places of the latest objects. With them the tracker distinguishes a whole object
 * from a fragment and from several objects, whatever the objects are. */
#pragma once

#include "box.h"

#include <stdint.h>

#define CUDACCL_SIZES 256 /* the number of latest sizes that are kept */

typedef struct CclSizes {
  CclBox boxes[CUDACCL_SIZES];
  uint64_t n; /* added so far */
} CclSizes;

static inline void
ccl_sizes_add (CclSizes *sizes, const CclBox *box)
{
  sizes->boxes[sizes->n++ % CUDACCL_SIZES] = *box;
}

/* Whether there was an object of about the box's width and height near it. Distances are in sizes
 * of the box, because perspective changes the size of an object with its place. */
static inline bool
ccl_sizes_contain (const CclSizes *sizes, const CclBox *box)
{
  const double reach = 6, ratio = 1.35;
  const double width = box->right - box->left, height = box->bottom - box->top;
  const uint64_t n = sizes->n < CUDACCL_SIZES ? sizes->n : CUDACCL_SIZES;
  for (uint64_t i = 0; i < n; i++) {
    const CclBox *s = &sizes->boxes[i];
    const double w = s->right - s->left, h = s->bottom - s->top;
    const double dx = 0.5 * (s->left + s->right - box->left - box->right);
    const double dy = 0.5 * (s->top + s->bottom - box->top - box->bottom);
    if (dx * dx + dy * dy < reach * reach * width * height && width < ratio * w &&
        w < ratio * width && height < ratio * h && h < ratio * height)
      return true;
  }
  return false;
}
