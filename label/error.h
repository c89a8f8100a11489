/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CCL_LABEL_ERROR_H
#define CCL_LABEL_ERROR_H

#include <cudaccl/labeller.h>

#include <stdarg.h>
#include <stdio.h>

/* Fills the error, with CCL_ERROR_IO, and returns false. */
__attribute__ ((format (printf, 2, 3))) static inline bool
fail (CclError *error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  error->status = CCL_ERROR_IO;
  vsnprintf (error->message, sizeof error->message, format, arguments);
  va_end (arguments);
  return false;
}

#endif /* CCL_LABEL_ERROR_H */
