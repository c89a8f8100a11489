/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Leaks of GStreamer's objects, found by its own tracer, and of what a GPU gave, found by the
 * simulated one. */
#ifndef TESTS_CHECK_LEAKS_H
#define TESTS_CHECK_LEAKS_H

/* Fails the test if something is left: objects, where GST_TRACERS names "leaks"; memory, streams
 * and the like of a device, where the CUDA driver is the simulated one. Fit for the teardown of a
 * checked fixture. */
void assert_no_leaks (void);

/* The same of objects only, for a device that takes nothing back because it is lost. */
void assert_no_object_leaks (void);

#endif /* TESTS_CHECK_LEAKS_H */
