/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a test can run here; a test that cannot is printed as skipped, with the reason. */
#pragma once

#include <glib.h>

/* Prints that the test is skipped. */
void skip (const char *test, const char *reason);

/* Whether the element exists. It is a failure if ccl does not. */
gboolean is_built (const char *element, const char *test);

/* Whether the element exists and reaches READY, for which cudaccl needs a device. It is a failure
 * if ccl does not. */
gboolean can_run (const char *element, const char *test);
