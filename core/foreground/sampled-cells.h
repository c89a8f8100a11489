/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cells of the second background model (sampled-background.h) keep their candidates. */
#pragma once

#include "sampled-background.h"

/* One bit for each cell, a word for each row of cells. */
typedef uint64_t CclSampledCells[CUDACCL_SAMPLED_CELLS];

/* A row of cells with those beside them. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint64_t
ccl_sampled_widened (uint64_t cells)
{
  return cells | cells << 1 | cells >> 1;
}

/* The cells of a row that are kept, given those of the rows above, of itself and below. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint64_t
ccl_sampled_reached (uint64_t above, uint64_t own, uint64_t below, uint64_t candidates)
{
  return own | (ccl_sampled_widened (above | own | below) & candidates);
}

/* The lit cells of a row (texture.h) that are not beside cells which differ from the ground, those
 * of the rows above, of itself and below. */
CUDACCL_CODEBOOK_HOST_FUNCTION uint64_t
ccl_sampled_lit (uint64_t lit, uint64_t above, uint64_t own, uint64_t below)
{
  return lit & ~ccl_sampled_widened (above | own | below);
}
