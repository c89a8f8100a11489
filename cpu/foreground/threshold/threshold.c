/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by a threshold. */
#include "cpu/foreground/foreground.h"

void
cpu_foreground_compare_row (
    const CpuForeground *self, uint32_t y, uint32_t threshold, uint64_t *row)
{
  const CclForegroundPlan *plan = &self->base.plan;

  if (plan->format == CUDACCL_PIXEL_FORMAT_8)
    self->code->threshold_row (frame_row (self, y), plan->width, (uint8_t)threshold, row);
  else
    self->code->threshold_words (
        frame_row (self, y), plan->width, ccl_word_threshold (plan->format, threshold), row);
}

static void
threshold_find_row (
    const CpuForeground *self, uint32_t band, uint32_t y, uint64_t *row, uint64_t *shadow)
{
  (void)band, (void)shadow;
  cpu_foreground_compare_row (self, y, self->job.options->threshold, row);
}

const CpuMethod cpu_threshold = {.find_row = threshold_find_row};
