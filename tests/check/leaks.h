/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Leaks of GStreamer's objects, found by its own tracer. */
#ifndef TESTS_CHECK_LEAKS_H
#define TESTS_CHECK_LEAKS_H

/* Fails the test if objects are alive. Does nothing unless GST_TRACERS names "leaks". Fit for the
 * teardown of a checked fixture. */
void assert_no_leaks (void);

#endif /* TESTS_CHECK_LEAKS_H */
