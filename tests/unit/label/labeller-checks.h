/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks shared by all labellers. A backend provides functions that create its labellers and
 * run them on host memory; the checks compare every result with the reference, bit for bit. A
 * backend's test program is a main of a few lines:
 *
 *   int
 *   main (int argc, char **argv)
 *   {
 *     static const LabellerBackend backend = {
 *       .name = "cuda", .algorithms = …, .offers = …, .labeller_new = …, .run = …,
 *     };
 *     g_test_init (&argc, &argv, NULL);
 *     labeller_checks_register (&backend);
 *     return g_test_run ();
 *   }
 *
 * Every check becomes one test case, /NAME/ALGORITHM/CONNECTIVITY/what-it-checks, for each
 * algorithm and each connectivity that it offers. Cases with huge frames run only with -m slow; do
 * not pass it to a program that runs under a sanitizer or valgrind. The message of a failure names
 * the shape, size, stride, options and, for random masks, the seed.
 */
#pragma once

#include <cudaccl/labeller.h>

/* The huge frames of a backend whose code differs from that of another one, with all of them, in
 * less than a frame. */
typedef enum LabellerHugeFrames {
  HUGE_FRAMES_ALL = 0,
  HUGE_FRAMES_8_CONNECTED, /* the neighbours make no difference to sizes and numbers */
  HUGE_FRAMES_OF_ONE_ROW,  /* it differs inside rows; a single row has no neighbours above */
  HUGE_FRAMES_NONE,        /* it differs in small frames only */
} LabellerHugeFrames;

typedef struct LabellerBackend {
  /* The first word of the test cases' names. */
  const char *name;

  /* Names for plan.algorithm, NULL-terminated; each one is checked. */
  const char *const *algorithms;

  /* Whether an algorithm offers a connectivity; NULL when all offer both. */
  bool (*offers) (const char *algorithm, CclConnectivity connectivity);

  /* Plans a labeller. The checks free it with ccl_labeller_free(). */
  CclLabeller *(*labeller_new) (void *data, const CclLabellerPlan *plan, CclError *error);

  /* Like ccl_labeller_run(), with frame and label map in host memory.
   *
   * frame: host memory, read only; the bytes right before its first pixel and right after its
   *   last one may lie in unreadable pages.
   * labels: host memory or NULL; the padding of its rows holds a pattern that must not change. A
   *   backend whose label map is in device memory uploads the map with its padding, labels the
   *   frame, and downloads the map with its padding, so that the pattern also guards device
   *   memory. The last row has no padding: it ends 4 × width bytes after its start, and an
   *   inaccessible page may follow.
   * table: filled; its rows are read before the next run.
   *
   * NULL: ccl_labeller_run() itself, for labellers that work on host memory. */
  CclStatus (*run) (void *data, CclLabeller *labeller, const CclFrame *frame,
      const CclLabellerOptions *options, const CclLabels *labels, CclTable *table, CclError *error);

  /* The check of all masks of 4×4 puts this number of them, a power of two, side by side in a
   * frame. 0 and 1: each is a frame. Threads share each frame, which on a busy machine takes a time
   * slice of the scheduler. */
  uint32_t n_small_masks;

  /* Which huge frames are checked. */
  LabellerHugeFrames huge_frames;

  /* Passed to labeller_new and run. */
  void *data;
} LabellerBackend;

/* Adds the test cases of a backend. Between g_test_init() and g_test_run(); the backend must
 * live until the latter returns. May be called for several backends of different names. */
void labeller_checks_register (const LabellerBackend *backend);
