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

#include "tests/unit/foreground/foreground-reference.h"

typedef struct ForegroundBackend {
  /* The first word of the test cases' names. */
  const char *name;

  /* Plans a foreground. The checks free it with ccl_foreground_free(). */
  CclForeground *(*foreground_new) (void *data, const CclForegroundPlan *plan, CclError *error);

  /* Like ccl_foreground_run() and ccl_foreground_wait(), with frame and mask in host memory.
   *
   * frame: read only; the bytes right before its first pixel and right after its last one may lie
   *   in unreadable pages.
   * mask: the padding of its rows holds a pattern that must not change. A backend whose masks are
   *   in device memory uploads the mask with its padding and downloads it with its padding. The
   *   last row has no padding: an inaccessible page may follow.
   *
   * NULL: those two functions are called, for methods that work on host memory. */
  CclStatus (*run) (void *data, CclForeground *foreground, const CclFrame *frame,
      const CclForegroundOptions *options, const CclMask *mask, CclError *error);

  /* Copies the background model, CUDACCL_MAX_MIXTURES × width × height numbers of each kind; those
   * of Gaussian k of pixel x, y are at (k × height + y) × width + x. Where the weight is 0, mean
   * and variance are ignored. NULL: models are not compared. */
  void (*read_model) (void *data, CclForeground *foreground, const ModelState *state);

  /* Passed to the functions above. */
  void *data;
} ForegroundBackend;

/* Adds the test cases of a backend. Between g_test_init() and g_test_run(); the backend must
 * live until the latter returns. May be called for several backends of different names. */
void foreground_checks_register (const ForegroundBackend *backend);
