/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Leaks of GStreamer's objects, found by its own tracer, and of what a GPU gave, found by the
 * simulated one. */
#ifndef TESTS_CHECK_LEAKS_H
#define TESTS_CHECK_LEAKS_H

#include <glib.h>

/* Fails the test if something is left: objects, where GST_TRACERS names "leaks"; memory, streams
 * and the like of a device, where the CUDA driver is the simulated one. Fit for the teardown of a
 * checked fixture. */
void assert_no_leaks (void);

/* The same of objects only, for a device that takes nothing back because it is lost. */
void assert_no_object_leaks (void);

/* How many pieces of device and page-locked memory there are now; 0 if the CUDA driver is not the
 * simulated one. What a context has is gone with it, so these are counted before. */
guint64 count_device_memory (void);

#endif /* TESTS_CHECK_LEAKS_H */
