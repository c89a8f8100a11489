/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU's algorithms. A new one is a file algorithms/<name>.c that defines cpu_<name>, and its
 * name in meson.build's list, whose first one is what "auto" picks.
 *
 * A two-pass algorithm fills in its two scans (two-pass.h) and takes two_pass_labeller_new; one
 * that does everything its own way brings a labeller_new of its own.
 */
#ifndef CCL_CPU_ALGORITHMS_H
#define CCL_CPU_ALGORITHMS_H

#include "labeller-class.h"
#include "labeller-tuning.h"

typedef struct TwoPass TwoPass;
typedef struct TwoPassStrip TwoPassStrip;

typedef struct CpuAlgorithm {
  const char *name;        /* what CclPlan.algorithm says */
  const char *paper;       /* where it is described */
  bool has_4_connectivity; /* 8-connectivity they all have */
  bool uses_threads;       /* several may share a frame */

  /* Plans a labeller. The plan has been checked; its algorithm is the name above. */
  CclLabeller *(*labeller_new) (const struct CpuAlgorithm *algorithm, const CclPlan *plan,
      const CclCpuTuning *tuning, CclError *error);

  /* Two-pass algorithms only. */
  uint32_t rows_per_strip; /* rows that are scanned together, 1 or 2 */
  void (*first_scan) (TwoPass *self, const TwoPassStrip *strip);
  void (*second_scan) (const TwoPass *self, const TwoPassStrip *strip);
} CpuAlgorithm;

/* Refuses frames that lie in device memory. */
CclStatus ccl_cpu_check_frame (const CclFrame *frame, CclError *error);

/* Says that a plan needs more memory than there is. */
void ccl_cpu_set_no_memory (CclError *error, const CclPlan *plan);

#endif /* CCL_CPU_ALGORITHMS_H */
