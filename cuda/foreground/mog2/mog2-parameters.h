/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of mog2.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "core/foreground/mixture.h"
#include "cuda/foreground/foreground-parameters.h"
#include "cuda/foreground/light/light-parameters.h"

/* Each Gaussian has a plane of weights and a plane of shapes. A shape is a mean in the lower and a
 * variance in the upper 16 bits. With chroma, it has a plane of chroma, too. The pixels of a thread
 * make a group; there are fewer than 2^32 groups. */
typedef struct CclMog2Parameters {
  CclExtent extent;
  CclFrameParameters frame;
  CclMaskParameters mask;
  struct uint2 *weights[CUDACCL_MAX_MIXTURES];
  struct uint4 *shapes[CUDACCL_MAX_MIXTURES];
  struct uint2 *chroma[CUDACCL_MAX_MIXTURES]; /* u in the lower, v in the upper byte; NULL: none */
  uint32_t row_groups;                        /* from row to row */
  CclMixtureParameters mixture;
  uint32_t tells_shadows;     /* shadows are not foreground */
  const CclFrameLight *light; /* NULL: the frame is not corrected */
  CclLightGrid grid;
  const uint16_t *factors; /* of the cells */
  const uint32_t *held;    /* pixels that the model skips; NULL: none */
  uint32_t *next_held;     /* a copy of the result for the next frame, may be held; NULL: none */
} CclMog2Parameters;
