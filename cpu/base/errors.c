/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "errors.h"

CclStatus
ccl_cpu_check_frame (const CclFrame *frame, CclError *error)
{
  if (frame->location != CUDACCL_LOCATION_HOST)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the CPU cannot read frames in device memory");
  return CUDACCL_OK;
}

void
ccl_cpu_set_no_memory (CclError *error, uint32_t width, uint32_t height)
{
  ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
      "not enough memory to label frames of %u×%u pixels", width, height);
}

void
ccl_cpu_set_no_instructions (CclError *error, const char *name)
{
  ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
      "instruction set '%s' is unknown, or this processor lacks it", name);
}
