/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One body of checks for every foreground, in the manner of labeller-checks.h: a backend says how
 * its foregrounds are made and run on host memory; the checks compare masks, and background models
 * where the backend can show them, with the reference, bit for bit.
 *
 * Every check becomes one test case, /NAME/foreground/what-it-checks. A failure names the size, the
 * options and the frame.
 */
#ifndef CCL_TEST_FOREGROUND_CHECKS_H
#define CCL_TEST_FOREGROUND_CHECKS_H

#include "foreground-reference.h"

typedef struct ForegroundBackend {
  /* First word of the names of the cases. */
  const char *name;

  /* Plans a foreground. The checks free it with ccl_foreground_free(). */
  CclForeground *(*foreground_new) (void *data, const CclForegroundPlan *plan, CclError *error);

  /* Does what ccl_foreground_run() and ccl_foreground_wait() do, with frame and mask in host
   * memory.
   *
   * frame: read only; the byte behind its last pixel may lie in a page that cannot be read, and so
   *   may the byte before its first.
   * mask: the padding of its rows holds a pattern that must still be there afterwards. A backend
   *   whose masks live on a device uploads the mask with its padding and downloads it with its
   *   padding. The last row has no padding: a page that cannot be touched may follow.
   *
   * NULL: those functions themselves, for foregrounds that work on host memory. */
  CclStatus (*run) (void *data, CclForeground *foreground, const CclFrame *frame,
      const CclForegroundOptions *options, const CclMask *mask, CclError *error);

  /* Copies the background model, CCL_MAX_MIXTURES × width × height numbers of each kind; those of
   * Gaussian k of pixel x, y at (k × height + y) × width + x. What it gives for the mean and
   * variance of a weight of 0 is not looked at. NULL: models are not compared. */
  void (*read_model) (void *data, CclForeground *foreground, const ModelState *state);

  /* Passed to the functions above. */
  void *data;
} ForegroundBackend;

/* Adds the test cases of a backend. Between g_test_init() and g_test_run(); the backend must
 * live until the latter returns. May be called for several backends of different names. */
void foreground_checks_register (const ForegroundBackend *backend);

#endif /* CCL_TEST_FOREGROUND_CHECKS_H */
