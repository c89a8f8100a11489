/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "otsu.h"

#include <cudaccl/foreground.h>

uint32_t
ccl_otsu_threshold (const uint64_t *histogram, uint32_t n_values)
{
  return ccl_otsu_threshold_of (histogram, n_values);
}
