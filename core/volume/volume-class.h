/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface that the backends implement behind <cudaccl/volume.h>. */
#pragma once

#include <cudaccl/volume.h>

/* The operations of a backend. The public functions check the arguments before they call them. */
typedef struct CclVolumeLabellerClass {
  const char *name; /* "cpu", "cuda" */
  CclStatus (*run) (CclVolumeLabeller *labeller, const CclVolume *volume,
      const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
      CclError *error);
  void (*free) (CclVolumeLabeller *labeller);
} CclVolumeLabellerClass;

/* The first member of every backend's struct. */
struct CclVolumeLabeller {
  const CclVolumeLabellerClass *klass;
  CclVolumePlan plan;
};

/* Checks that a plan is inside the documented ranges. */
CclStatus ccl_volume_plan_check (const CclVolumePlan *plan, CclError *error);

/* Checks address and strides of a label map. */
CclStatus ccl_volume_labels_check (
    const CclVolumeLabels *labels, const CclVolumePlan *plan, CclError *error);

/* An upper bound of the components that a volume of the plan can have. It also bounds the labels of
 * a scan in raster order that gives a new label only to a voxel without labelled neighbours. */
size_t ccl_volume_plan_most_components (const CclVolumePlan *plan);
