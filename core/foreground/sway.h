/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shaking camera displaces the picture by a few pixels, so that a pixel shows its neighbours.
 * While the camera shakes (camera.h), the neighbours within that displacement explain a pixel: it
 * is background if its luma lies between the least and the greatest luma of their background, and a
 * place of the second model (sampled-background.h) is not different then. The codebooks learn as
 * they do with a camera at rest.
 *
 * The background is the luma of the heaviest words before the frame. There is none outside the
 * frame.
 *
 * All numbers are integers, so that CPU and GPU give identical bits.
 */
#pragma once

#include "codebook.h"

CUDACCL_CODEBOOK_FUNCTION bool
ccl_sway_explains (uint32_t luma, uint32_t low, uint32_t high)
{
  return luma >= low && luma <= high;
}
