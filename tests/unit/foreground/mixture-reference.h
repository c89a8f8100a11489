/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A step of the mixture of a pixel, one after the other, for the references. */
#pragma once

#include "core/foreground/mixture.h"

/* Updates the model of a pixel with its luma, in steps of a mean, and its chroma in a frame and
 * returns its class. */
static inline CclPixelClass
mixture_update (CclGaussian gaussians[CUDACCL_MAX_MIXTURES], uint32_t luma, uint32_t chroma,
    const CclMixtureParameters *parameters)
{
  ccl_mixture_decay (gaussians, parameters);
  const bool shadow = ccl_mixture_is_shadow (&gaussians[0], luma, chroma);
  if (ccl_mixture_match (gaussians, luma, chroma, parameters))
    return CUDACCL_PIXEL_BACKGROUND;
  return shadow ? CUDACCL_PIXEL_SHADOW : CUDACCL_PIXEL_FOREGROUND;
}
