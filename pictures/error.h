/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <cudaccl/labeller.h>

/* Fills the error, with CUDACCL_ERROR_IO, and returns false. The message is one line: control
 * characters, which names of files may have, become question marks, and of a long one the end is
 * kept. */
__attribute__ ((format (printf, 2, 3))) bool fail (CclError *error, const char *format, ...);

/* The same for an allocation that failed, with CUDACCL_ERROR_NO_MEMORY. */
bool fail_without_memory (CclError *error);
