/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the checks of foreground methods need of a backend. */
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
