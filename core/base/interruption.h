/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interruptions of long functions (ccl_set_interruption()), for the loops of these functions. */
#pragma once

#include "core/base/status.h"

#include <cudaccl/interruption.h>

#include <stdbool.h>

/* Notes that so many pixels are done. Returns whether the caller has to stop; then it returns as
 * soon as it can, with ccl_interruption_status(). Always false in a thread that has not called
 * ccl_set_interruption(). */
bool ccl_is_interrupted (uint64_t n_pixels);

/* What a function returns that has called the one above: CUDACCL_OK, or CUDACCL_ERROR_INTERRUPTED
 * if it was to stop. */
CclStatus ccl_interruption_status (CclError *error);
