/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interruptions: how a program stops a long function of the library, for example at Ctrl-C.
 *
 * Since: 0.4
 */
#ifndef CUDACCL_INTERRUPTION_H
#define CUDACCL_INTERRUPTION_H

#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a function that was interrupted. Only a thread that has set a function with
 * ccl_set_interruption() gets it. Since: 0.4 */
#define CUDACCL_ERROR_INTERRUPTED ((CclStatus)7)

/* Returns whether the library's function that runs in this thread has to stop. Since: 0.4 */
typedef bool (*CclInterruption) (void *data);

/* Sets a function that long functions of the library on the CPU call now and then in the calling
 * thread, every few hundred thousand pixels: those that label volumes and values, measure, find
 * contours and distances, split objects and work on batches. If it returns true, they stop within
 * milliseconds and return CUDACCL_ERROR_INTERRUPTED; what they were to fill is undefined, and their
 * objects can run again. Work on a GPU and labelling of one frame are not interrupted.
 *
 * is_interrupted: NULL: none, as in the beginning. data: for its calls. Both are of this thread and
 * stay until they are set again. Thread safe. Since: 0.4 */
CUDACCL_API
void ccl_set_interruption (CclInterruption is_interrupted, void *data);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_INTERRUPTION_H */
