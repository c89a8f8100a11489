/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A camera that shakes brings what is around a place there. While it does (camera.h), a pixel whose
 * luma is between the least and the greatest of the background within the sway is background, and a
 * place of the second model (sampled-background.h) is not different. The codebooks learn as ever.
 *
 * The background is the luma of the heaviest words before the frame; beyond the frame there is
 * none.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#ifndef CUDACCL_SWAY_H
#define CUDACCL_SWAY_H

#include "codebook.h"

CUDACCL_CODEBOOK_FUNCTION bool
ccl_sway_explains (uint32_t luma, uint32_t low, uint32_t high)
{
  return luma >= low && luma <= high;
}

#endif /* CUDACCL_SWAY_H */
