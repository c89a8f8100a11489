/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU's algorithms. A new one is a file algorithms/<name>.c that defines cpu_<name>, and its
 * name in meson.build's list; "auto" selects the first of the list.
 *
 * A two-pass algorithm fills in its two scans (two-pass.h) and uses two_pass_labeller_new(); others
 * have their own labeller_new.
 */
#ifndef CUDACCL_CPU_ALGORITHMS_H
#define CUDACCL_CPU_ALGORITHMS_H

#include "core/label/labeller-class.h"
#include "labeller-tuning.h"

typedef struct TwoPass TwoPass;
typedef struct TwoPassStrip TwoPassStrip;

typedef struct CpuAlgorithm {
  const char *name;        /* as in CclLabellerPlan.algorithm */
  const char *title;       /* for people: what ccl_cpu_algorithm_title() returns */
  const char *paper;       /* where it is described */
  bool has_4_connectivity; /* all have 8-connectivity */
  bool uses_threads;       /* several threads can share a frame */

  /* Whether its labellers measure the columns of a plan; NULL: never. Otherwise they are measured
   * from the label map. */
  bool (*measures) (const CclLabellerPlan *plan);

  /* Makes a labeller. The plan has been checked; its algorithm is the name above. */
  CclLabeller *(*labeller_new) (const struct CpuAlgorithm *algorithm, const CclLabellerPlan *plan,
      const CclCpuTuning *tuning, CclError *error);

  /* Two-pass algorithms only. */
  uint32_t rows_per_strip; /* rows that are scanned together, 1 or 2 */
  void (*first_scan) (TwoPass *self, const TwoPassStrip *strip);
  void (*second_scan) (const TwoPass *self, const TwoPassStrip *strip);
} CpuAlgorithm;

/* CUDACCL_ERROR_ARGUMENT for frames in device memory. */
CclStatus ccl_cpu_check_frame (const CclFrame *frame, CclError *error);

/* Fills the error: there is not enough memory for frames of the size. */
void ccl_cpu_set_no_memory (CclError *error, uint32_t width, uint32_t height);

#endif /* CUDACCL_CPU_ALGORITHMS_H */
