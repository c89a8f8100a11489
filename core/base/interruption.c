/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "interruption.h"

/* The program's function is called each time so many pixels are done, which takes milliseconds. */
enum { PIXELS_BETWEEN = 1 << 18 };

static _Thread_local struct {
  CclInterruption is_interrupted;
  void *data;
  uint64_t n_pixels; /* since the last call */
  bool stops;
} interruption;

void
ccl_set_interruption (CclInterruption is_interrupted, void *data)
{
  interruption.is_interrupted = is_interrupted;
  interruption.data = data;
  interruption.n_pixels = 0;
  interruption.stops = false;
}

bool
ccl_is_interrupted (uint64_t n_pixels)
{
  interruption.n_pixels += n_pixels;
  if (interruption.n_pixels < PIXELS_BETWEEN || !interruption.is_interrupted)
    return interruption.stops;
  interruption.n_pixels = 0;
  interruption.stops = interruption.stops || interruption.is_interrupted (interruption.data);
  return interruption.stops;
}

CclStatus
ccl_interruption_status (CclError *error)
{
  if (!interruption.stops)
    return CUDACCL_OK;
  interruption.stops = false;
  return ccl_error_set (error, CUDACCL_ERROR_INTERRUPTED, "interrupted");
}
