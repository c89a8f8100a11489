/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of the library for programs that have set a function for them. */
#pragma once

#include <cudaccl/log.h>

/* Sends a message, without a line break; it is cut after 255 bytes. Any thread. Not for functions
 * that are called once per frame: it takes a lock. */
void ccl_log (CclLogLevel level, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
