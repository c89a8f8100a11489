/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a test can run here; if not, says why in the way that is counted. */
#ifndef TESTS_CHECK_SKIPS_H
#define TESTS_CHECK_SKIPS_H

#include <glib.h>

/* Prints that the test is skipped, and why. */
void skip (const char *test, const char *reason);

/* Whether the element exists. ccl has to. */
gboolean is_built (const char *element, const char *test);

/* Whether the element exists and can get ready: cudaccl needs a device. ccl has to. */
gboolean can_run (const char *element, const char *test);

#endif /* TESTS_CHECK_SKIPS_H */
