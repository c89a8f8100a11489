/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Log ratios of a frame to the model (light.h), sample by sample; vector code of pixels-avx2.c and
 * pixels-avx512.c has the same results. */
#pragma once

#include "core/foreground/light.h"
#include "pixels.h"

static inline int16_t
log_ratio (const uint8_t *logs, uint8_t of_frame, uint8_t of_model)
{
  const int frame = logs[of_frame], model = logs[of_model];
  return frame == 0 || model == 0 ? NO_LOG_RATIO : (int16_t)ccl_light_limited (frame - model);
}

static inline void
find_log_ratios (
    const uint8_t *logs, const uint8_t *frame, const uint8_t *model, uint32_t n, int16_t *ratios)
{
  for (uint32_t i = 0; i < n; i++)
    ratios[i] = log_ratio (logs, frame[i], model[i]);
}

static uint32_t
count_ratios (const int16_t *ratios, size_t stride, int16_t most)
{
  uint16_t counts[CUDACCL_LIGHT_SAMPLES] = {0}, n = 0;

  for (uint32_t j = 0; j < CUDACCL_LIGHT_SAMPLES; j++)
    for (uint32_t i = 0; i < CUDACCL_LIGHT_SAMPLES; i++)
      counts[i] = (uint16_t)(counts[i] + (ratios[j * stride + i] <= most));
  for (uint32_t i = 0; i < CUDACCL_LIGHT_SAMPLES; i++)
    n = (uint16_t)(n + counts[i]);
  return n;
}
