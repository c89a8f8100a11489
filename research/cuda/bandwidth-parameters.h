/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of bandwidth.cu, for the C that launches it and for nvcc. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct CclBandwidthParameters {
  const uint8_t *frame;
  size_t frame_stride; /* bytes */
  uint32_t width, height;
  uint32_t *labels;
  size_t label_stride; /* elements */
} CclBandwidthParameters;
