/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reference for volumes: a flood fill from each unvisited voxel in raster order, one voxel at a
 * time. It is simple rather than fast, and shares only types with the labeller.
 */
#pragma once

#include <cudaccl/volume.h>

/* The whole result of a volume. */
typedef struct VolumeReference {
  uint32_t n_components;
  CclVolumeComponent *rows; /* n_components of them, in label order */
  uint32_t *labels;         /* width × height × depth, without padding */
} VolumeReference;

/* Labels a volume of the planned size. Free with volume_reference_free(). */
VolumeReference *volume_reference_new (
    const CclVolume *volume, const CclVolumePlan *plan, const CclLabellerOptions *options);

void volume_reference_free (VolumeReference *reference);
