/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages on what the library chooses by itself. It prints nothing, and it reports failures by a
 * status and CclError, not here.
 *
 * Since: 0.3
 */
#ifndef CUDACCL_LOG_H
#define CUDACCL_LOG_H

#include <cudaccl/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How important a message is; the lower, the more. Since: 0.3 */
typedef enum CclLogLevel {
  CUDACCL_LOG_WARNING, /* results are right, but slower than they should be */
  CUDACCL_LOG_INFO,    /* what was opened or chosen: a device, an algorithm, an instruction set */
} CclLogLevel;

/* Takes a message.
 *
 * message: one line of UTF-8 without a line break, valid during the call. data: as given to
 * ccl_set_log_func(). It may be called in any thread that uses the library, by several at once, and
 * must not call ccl_set_log_func(). Messages come from functions that make objects, never from
 * those that run once per frame. Since: 0.3 */
typedef void (*CclLogFunc) (CclLogLevel level, const char *message, void *data);

/* Sets the function that takes all messages of the process; NULL, the default, drops them. When the
 * call returns, the former function is not called any more. Thread safe. Since: 0.3 */
CUDACCL_API
void ccl_set_log_func (CclLogFunc func, void *data);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_LOG_H */
