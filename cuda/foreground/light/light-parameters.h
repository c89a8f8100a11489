/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is measured of a frame's light (core/foreground/light.h), for the host's C and for nvcc. */
#pragma once

#include <stdint.h>

#include "core/foreground/light.h"
#include "cuda/foreground/foreground-parameters.h"

enum {
  CUDACCL_LIGHT_THREADS =
      CUDACCL_LIGHT_SAMPLES * CUDACCL_LIGHT_SAMPLES, /* a sample each, or a warp per cell */
  CUDACCL_LIGHT_RATIOS = 2 * CUDACCL_LIGHT_LIMIT + 1,
};

/* The light of a frame. Counts and sums are zero when a frame starts. */
typedef struct CclFrameLight {
  uint32_t begins;       /* the scene has changed: a new model begins with this frame */
  uint32_t is_empty;     /* light does not explain the frame: its mask is empty */
  uint32_t is_corrected; /* a factor is not one */
  uint32_t n_blocks;     /* blocks that have added their sums */
  uint32_t n_factors;    /* cells with a factor other than one */
  uint32_t counts[CUDACCL_LIGHT_RATIOS]; /* explained cells of each log ratio */
  CclLightSums sums;
} CclFrameLight;

/* The parameters of the kernels of light.cu. */
typedef struct CclLightParameters {
  CclExtent extent;
  CclFrameParameters frame;
  /* Of the heaviest Gaussians, as in CclMog2Parameters. */
  const uint32_t *shapes;
  const uint16_t *chroma;
  uint32_t row_groups;
  CclFrameLight *light;
  CclLightGrid grid;
  CclLightCell *cells;
  uint16_t *factors;      /* of the cells */
  uint32_t may_begin;     /* the model has learnt from enough frames to find scene changes */
  uint32_t *scene_change; /* CclSceneChange of a new model; memory of the host */
} CclLightParameters;
