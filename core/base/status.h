/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How functions of the library report errors. */
#pragma once

#include <cudaccl/labeller.h>

/* Fills the error (may be NULL) with a printf-style message and returns the status. */
CclStatus ccl_error_set (CclError *error, CclStatus status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
