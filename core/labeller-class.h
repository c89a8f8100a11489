/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/labeller.h>. */
#ifndef CCL_LABELLER_CLASS_H
#define CCL_LABELLER_CLASS_H

#include <cudaccl/labeller.h>

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclLabellerClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*run) (CclLabeller *labeller, const CclFrame *frame, const CclOptions *options,
      const CclLabels *labels, CclTable *table, CclError *error);
  void (*free) (CclLabeller *labeller);
} CclLabellerClass;

/* The first member of every backend's struct. */
struct CclLabeller {
  const CclLabellerClass *klass;
  CclPlan plan; /* algorithm: the name of the one that is used, a static string */

  /* If some_labels is set, only these two rows of a label map are read, and run() need not write
   * the others. */
  bool some_labels;
  uint32_t label_rows[2];
};

/* Checks that a plan is inside the documented ranges, except for the algorithm's name. Fills the
 * error and returns CCL_ERROR_ARGUMENT if it is not. */
CclStatus ccl_plan_check (const CclPlan *plan, CclError *error);

/* Fills the error (may be NULL) with a printf-style message and returns the status. */
CclStatus ccl_error_set (CclError *error, CclStatus status, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

#endif /* CCL_LABELLER_CLASS_H */
