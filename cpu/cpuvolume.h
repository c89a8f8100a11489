/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connected components of volumes, on the CPU: labeller.h with one dimension more. Its house
 * rules hold here, too, with voxels for pixels: labels are 1…N in raster order of each component's
 * first voxel, which is the order of x within y within z.
 */
#ifndef CCL_CPU_VOLUME_H
#define CCL_CPU_VOLUME_H

#include "labeller.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclVolumeConnectivity {
  CCL_CONNECTIVITY_6 = 6,   /* voxels that share a face */
  CCL_CONNECTIVITY_18 = 18, /* voxels that share a face or an edge */
  CCL_CONNECTIVITY_26 = 26, /* voxels that share a face, an edge or a corner */
} CclVolumeConnectivity;

/* What a labeller is planned for. */
typedef struct CclVolumePlan {
  uint32_t width;  /* ≥ 1, in x */
  uint32_t height; /* ≥ 1, in y */
  uint32_t depth;  /* ≥ 1, in z; width × height × depth ≤ CCL_MAX_PIXELS */
  CclVolumeConnectivity connectivity;
  uint32_t max_components; /* rows of the component table, ≥ 1 */
} CclVolumePlan;

/* A volume of the planned size in host memory, one byte a voxel. Only width bytes of each row are
 * read. The caller keeps it; it is never written. */
typedef struct CclVolume {
  const void *data;
  size_t row_stride;   /* from a row to the next in y, ≥ width; any alignment */
  size_t slice_stride; /* from a slice to the next in z, ≥ row_stride × (height - 1) + width; any
                        * alignment */
} CclVolume;

/* Where the label map of a volume goes: one uint32_t a voxel, 0 for background, in host memory
 * aligned to 4 bytes. The caller keeps it; bytes between rows and slices are left alone. */
typedef struct CclVolumeLabels {
  void *data;
  size_t row_stride;   /* ≥ 4 × width, a multiple of 4 */
  size_t slice_stride; /* ≥ row_stride × (height - 1) + 4 × width, a multiple of 4 */
} CclVolumeLabels;

/* One component. */
typedef struct CclVolumeComponent {
  uint32_t label;                /* 1…N in raster order of first voxels */
  uint32_t n_voxels;             /* what the area is to an image */
  uint32_t x, y, z;              /* the corner of the bounding box with the least coordinates */
  uint32_t width, height, depth; /* of the bounding box, ≥ 1 */
  double centroid_x;             /* exact 64-bit sums of coordinates divided by n_voxels, rounded */
  double centroid_y;             /* once; voxel centres are at integer coordinates */
  double centroid_z;
} CclVolumeComponent;

/* The component table of a volume. */
typedef struct CclVolumeTable {
  uint32_t n_components; /* N: all components that pass the filter */
  uint32_t n_rows;       /* rows delivered: the smaller of N and the plan's max_components */
  const CclVolumeComponent *rows; /* in label order; memory of the labeller, valid until its next
                                   * run or its end */
} CclVolumeTable;

typedef struct CclVolumeLabeller CclVolumeLabeller;

/* Plans a labeller that runs on the thread that calls it. Free with ccl_volume_labeller_free().
 * Any thread may call.
 *
 * Address space is reserved for the worst volume, some 40 bytes a voxel; memory is taken only as
 * far as volumes need it.
 *
 * Returns the labeller, or NULL with the error filled: CCL_ERROR_ARGUMENT, CCL_ERROR_NO_MEMORY. */
CclVolumeLabeller *ccl_volume_labeller_new (const CclVolumePlan *plan, CclError *error);

/* Labels one volume. Allocates nothing.
 *
 * options: threshold and inversion as for frames; the areas are numbers of voxels.
 * labels: where the label map goes; NULL if none is wanted, which saves its cost.
 * table: filled on success.
 *
 * Errors: CCL_ERROR_ARGUMENT (nothing was read or written). */
CclStatus ccl_volume_labeller_run (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error);

/* Frees the labeller and clears the handle. NULL and a handle that is NULL already are fine. */
void ccl_volume_labeller_free (CclVolumeLabeller **labeller);

#ifdef __cplusplus
}
#endif

#endif /* CCL_CPU_VOLUME_H */
