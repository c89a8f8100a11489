/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One body of checks for every segmenter, in the manner of labeller-checks.h: a backend says how
 * its segmenters are made and run on host memory; the checks compare masks, and background models
 * where the backend can show them, with the reference, bit for bit.
 *
 * Every check becomes one test case, /NAME/segmenter/what-it-checks. A failure names the size, the
 * options and the frame.
 */
#ifndef CCL_TEST_SEGMENTER_CHECKS_H
#define CCL_TEST_SEGMENTER_CHECKS_H

#include "segmenter-reference.h"

typedef struct SegmenterBackend {
  /* First word of the names of the cases. */
  const char *name;

  /* Plans a segmenter. The checks free it with ccl_segmenter_free(). */
  CclSegmenter *(*segmenter_new) (void *data, const CclSegmenterPlan *plan, CclError *error);

  /* Does what ccl_segmenter_run() and ccl_segmenter_wait() do, with frame and mask in host memory.
   *
   * frame: read only; the byte behind its last pixel may lie in a page that cannot be read, and so
   *   may the byte before its first.
   * mask: the padding of its rows holds a pattern that must still be there afterwards. A backend
   *   whose masks live on a device uploads the mask with its padding and downloads it with its
   *   padding. The last row has no padding: a page that cannot be touched may follow.
   *
   * NULL: those functions themselves, for segmenters that work on host memory. */
  CclStatus (*run) (void *data, CclSegmenter *segmenter, const CclFrame *frame,
      const CclSegmenterOptions *options, const CclMask *mask, CclError *error);

  /* Copies the background model, CCL_MAX_MIXTURES × width × height numbers of each kind; those of
   * Gaussian k of pixel x, y at (k × height + y) × width + x. What it gives for the mean and
   * variance of a weight of 0 is not looked at. NULL: models are not compared. */
  void (*read_model) (void *data, CclSegmenter *segmenter, const ModelState *state);

  /* Passed to the functions above. */
  void *data;
} SegmenterBackend;

/* Adds the test cases of a backend. Between g_test_init() and g_test_run(); the backend must
 * live until the latter returns. May be called for several backends of different names. */
void segmenter_checks_register (const SegmenterBackend *backend);

#endif /* CCL_TEST_SEGMENTER_CHECKS_H */
