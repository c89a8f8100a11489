/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks shared by all foreground methods, like labeller-checks.h. A backend provides functions
 * that create its CclForeground objects and run them on host memory. The checks compare masks, and
 * background models where the backend can copy them, with the reference, bit for bit.
 *
 * Every check becomes one test case, /NAME/foreground/what-it-checks. The message of a failure
 * names the size, the options and the frame.
 */
#pragma once

#include "tests/unit/foreground/foreground-backend.h"

/* Adds the test cases of a backend. Between g_test_init() and g_test_run(); the backend must
 * live until the latter returns. May be called for several backends of different names. */
void foreground_checks_register (const ForegroundBackend *backend);
