/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes with edges between pixels: pixel x lies from x to x + 1. */
#pragma once

#include <stdbool.h>

typedef struct CclBox {
  double left, top, right, bottom;
} CclBox;

static inline double
ccl_min (double a, double b)
{
  return a < b ? a : b;
}

static inline double
ccl_max (double a, double b)
{
  return a > b ? a : b;
}

/* The longer side. */
static inline double
ccl_box_size (const CclBox *b)
{
  const double width = b->right - b->left, height = b->bottom - b->top;
  return width < height ? height : width;
}

static inline double
ccl_box_area (const CclBox *b)
{
  return (b->right - b->left) * (b->bottom - b->top);
}

static inline CclBox
ccl_box_union (const CclBox *a, const CclBox *b)
{
  return (CclBox){ccl_min (a->left, b->left), ccl_min (a->top, b->top),
      ccl_max (a->right, b->right), ccl_max (a->bottom, b->bottom)};
}

/* The area that both cover. */
static inline double
ccl_box_overlap (const CclBox *a, const CclBox *b)
{
  const double width = ccl_min (a->right, b->right) - ccl_max (a->left, b->left);
  const double height = ccl_min (a->bottom, b->bottom) - ccl_max (a->top, b->top);
  return width > 0 && height > 0 ? width * height : 0;
}

/* Whether b is inside a, or reaches out of it by no more than `slack` pixels. */
static inline bool
ccl_box_holds (const CclBox *a, const CclBox *b, double slack)
{
  return b->left >= a->left - slack && b->top >= a->top - slack && b->right <= a->right + slack &&
         b->bottom <= a->bottom + slack;
}

/* How far a box reaches out of another one; negative inside it. */
static inline double
ccl_box_reach (const CclBox *from, const CclBox *box)
{
  return ccl_max (ccl_max (from->left - box->left, box->right - from->right),
      ccl_max (from->top - box->top, box->bottom - from->bottom));
}
