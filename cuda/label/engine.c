/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine.h"

bool
ccl_cuda_algorithm_reads (const CclAlgorithm *algorithm, CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_8 || algorithm->engine->takes_all_formats ||
         algorithm->steps[0].words_kernel;
}
