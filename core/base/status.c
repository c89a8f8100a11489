/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

#include <cudaccl/interruption.h>

#include <stdarg.h>
#include <stdio.h>

CclStatus
ccl_error_set (CclError *error, CclStatus status, const char *format, ...)
{
  if (error) {
    va_list arguments;
    error->status = status;
    va_start (arguments, format);
    vsnprintf (error->message, sizeof error->message, format, arguments);
    va_end (arguments);
  }
  return status;
}

const char *
ccl_status_name (CclStatus status)
{
  static const char *const names[] = {
      [CUDACCL_OK] = "CUDACCL_OK",
      [CUDACCL_ERROR_ARGUMENT] = "CUDACCL_ERROR_ARGUMENT",
      [CUDACCL_ERROR_UNSUPPORTED] = "CUDACCL_ERROR_UNSUPPORTED",
      [CUDACCL_ERROR_NOT_FOUND] = "CUDACCL_ERROR_NOT_FOUND",
      [CUDACCL_ERROR_NO_MEMORY] = "CUDACCL_ERROR_NO_MEMORY",
      [CUDACCL_ERROR_DEVICE] = "CUDACCL_ERROR_DEVICE",
      [CUDACCL_ERROR_IO] = "CUDACCL_ERROR_IO",
      [CUDACCL_ERROR_INTERRUPTED] = "CUDACCL_ERROR_INTERRUPTED",
  };
  return (unsigned)status < sizeof names / sizeof *names ? names[status] : NULL;
}
