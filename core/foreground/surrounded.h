/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What objects surround is theirs: the inside of a flat object explains itself by light, clothes
 * have colours of the ground. A pixel is surrounded if its row has pixels of objects before and
 * after it, and its column above and below it, each at a distance of at most
 * CUDACCL_SURROUNDED_REACH. There are no objects outside the frame.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "codebook.h"

/* docs/internals/foreground.md says how the value was chosen. At most 32. */
enum { CUDACCL_SURROUNDED_REACH = 24 };

/* The next step of a sum that has n of CUDACCL_SURROUNDED_REACH terms, and doubles them. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_surrounded_step (uint32_t n)
{
  const uint32_t rest = CUDACCL_SURROUNDED_REACH - n;
  return n < rest ? n : rest;
}

/* Which of the upper 32 pixels, the later ones, have a set pixel before them. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_surrounded_before (uint64_t pixels)
{
  for (uint32_t n = 1; n < CUDACCL_SURROUNDED_REACH; n += ccl_surrounded_step (n))
    pixels |= pixels << ccl_surrounded_step (n);
  return (uint32_t)(pixels << 1 >> 32);
}

/* Which of the lower 32 pixels have a set pixel after them. */
CUDACCL_CODEBOOK_FUNCTION uint32_t
ccl_surrounded_after (uint64_t pixels)
{
  for (uint32_t n = 1; n < CUDACCL_SURROUNDED_REACH; n += ccl_surrounded_step (n))
    pixels |= pixels >> ccl_surrounded_step (n);
  return (uint32_t)(pixels >> 1);
}
