/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connected-component labelling of volumes, on the CPU; device.h has the GPU's. The rules of
 * labeller.h hold, with voxels for pixels: labels are 1…N in raster order of each component's
 * first voxel, which is the order of x within y within z.
 *
 * Since: 0.2
 */
#ifndef CUDACCL_VOLUME_H
#define CUDACCL_VOLUME_H

#include <cudaccl/columns.h>
#include <cudaccl/labeller.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclVolumeConnectivity {
  CUDACCL_CONNECTIVITY_6 = 6,   /* voxels that share a face are neighbours */
  CUDACCL_CONNECTIVITY_18 = 18, /* voxels that share a face or an edge are neighbours */
  CUDACCL_CONNECTIVITY_26 = 26, /* voxels that share a face, an edge or a corner are neighbours */
} CclVolumeConnectivity;

/* The properties of a labeller that are fixed when it is made. */
typedef struct CclVolumePlan {
  size_t size;     /* of this struct in bytes, or 0 (labeller.h) */
  uint32_t width;  /* voxels in x, ≥ 1 */
  uint32_t height; /* voxels in y, ≥ 1 */
  uint32_t depth;  /* voxels in z, ≥ 1; width × height × depth ≤ CUDACCL_MAX_PIXELS */
  CclVolumeConnectivity connectivity;
  uint32_t max_components; /* rows of the component table, ≥ 1 */
} CclVolumePlan;

/* The defaults of CclVolumePlan; width, height and depth must be set. Since: 0.3 */
#define CUDACCL_VOLUME_PLAN_DEFAULT                                                                \
  {                                                                                                \
    .size = sizeof (CclVolumePlan), .connectivity = CUDACCL_CONNECTIVITY_26,                       \
    .max_components = 4096                                                                         \
  }

/* A volume of the planned size, one byte per voxel. Only width bytes of each row are read. It
 * belongs to the caller and is never written. */
typedef struct CclVolume {
  const void *data;
  size_t row_stride;   /* bytes from a row to the next in y, ≥ width; any alignment */
  size_t slice_stride; /* bytes from a slice to the next in z, ≥ row_stride × (height - 1) + width;
                        * any alignment */
  CclLocation location; /* CUDACCL_LOCATION_DEVICE for GPU labellers only */
} CclVolume;

/* The memory for the label map of a volume: one uint32_t per voxel, 0 for background, aligned to 4
 * bytes. It belongs to the caller; bytes between rows and slices are not written. A GPU labeller
 * takes device memory, a CPU labeller host memory. */
typedef struct CclVolumeLabels {
  void *data;
  size_t row_stride;   /* bytes, ≥ 4 × width, a multiple of 4 */
  size_t slice_stride; /* bytes, ≥ row_stride × (height - 1) + 4 × width, a multiple of 4 */
} CclVolumeLabels;

/* One component. */
typedef struct CclVolumeComponent {
  uint32_t label;                /* 1…N in raster order of first voxels */
  uint32_t n_voxels;             /* voxels; min_area and max_area filter by it */
  uint32_t x, y, z;              /* the corner of the bounding box with the least coordinates */
  uint32_t width, height, depth; /* of the bounding box, voxels, ≥ 1 */

  /* The mean coordinates of its voxels, whose centres are at integer coordinates: exact 64-bit sums
   * divided by n_voxels, rounded once. */
  double centroid_x;
  double centroid_y;
  double centroid_z;
} CclVolumeComponent;

/* The component table of a volume. */
typedef struct CclVolumeTable {
  uint32_t n_components; /* N: all components that pass the filter */
  uint32_t n_rows;       /* rows of the table: the smaller of N and the plan's max_components */
  const CclVolumeComponent *rows; /* in label order; host memory of the labeller, valid until its
                                   * next run or until it is freed */
} CclVolumeTable;

/* An opaque labeller of volumes. Since: 0.2 */
typedef struct CclVolumeLabeller CclVolumeLabeller;

/* Makes a labeller that uses the CPU, one thread. Free it with ccl_volume_labeller_free().
 *
 * Address space is reserved for the worst volume, some 40 bytes per voxel; memory is used only as
 * far as volumes need it.
 *
 * Returns the labeller, or NULL with the error filled: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.2 */
CUDACCL_API
CclVolumeLabeller *ccl_cpu_volume_labeller_new (const CclVolumePlan *plan, CclError *error);

/* Labels one volume and waits for the result. Allocates nothing.
 *
 * options: threshold and inversion as for frames; the areas are numbers of voxels.
 * labels: the memory for the label map, or NULL for no label map, which saves its cost.
 * table: filled on success.
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (nothing was read or written) or CUDACCL_ERROR_DEVICE.
 * Since: 0.2 */
CUDACCL_API
CclStatus ccl_volume_labeller_run (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error);

/* The values of a second volume of the same size, in host memory: a grey picture, a density. Words
 * of 16 bits may have any address. Since: 0.3 */
typedef struct CclVolumeIntensity {
  const void *data;
  size_t row_stride;     /* bytes, at least those of a row's values */
  size_t slice_stride;   /* bytes, so that slices do not overlap */
  CclPixelFormat format; /* CUDACCL_PIXEL_FORMAT_8 or CUDACCL_PIXEL_FORMAT_16; on the CPU also
                          * doubles, at addresses that are multiples of eight (since 0.4) */
} CclVolumeIntensity;

/* Measures the labels of a label map of a volume or a frame, of whatever origin, on the CPU. A
 * label may be in several parts that do not touch.
 *
 * labels: width × height × depth voxels in host memory, at most CUDACCL_MAX_PIXELS. depth: slices
 * of the volume, or 0: the label map of a frame, whose slice stride is not used; its rows have z 0
 * and depth 1, and its shapes are those of ccl_features_derive(). intensity: needed with
 * CUDACCL_COLUMN_INTENSITY; NULL is allowed otherwise. columns: flags of CclColumn, without
 * CUDACCL_COLUMN_PERIMETER for volumes, or 0 for rows alone. n: the labels 1…n are measured; voxels
 * with other labels count as background. rows: [n] filled; the row of a label without voxels is all
 * zeros. NULL: not wanted. shapes: [n] filled, undefined for such labels; NULL if columns is 0.
 *
 * It allocates 300 bytes per label. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT or
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.3 */
CUDACCL_API
CclStatus ccl_measure_volume_labels (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, const CclVolumeIntensity *intensity, uint32_t columns, uint32_t n,
    CclVolumeComponent *rows, CclVolumeShape *shapes, CclError *error);

/* Replaces the measures of a component by those in the unit of the sides of a pixel.
 *
 * x, y, z: these sides, > 0; z: 0 for the shapes of frames. Covariances and what follows from them
 * and weighted centroids are scaled by each side. Perimeter, crack length and surface are not a
 * number where the sides differ. Places of pixels, Euler numbers and intensities stay. Thread safe.
 * Since: 0.4 */
CUDACCL_API
void ccl_volume_shape_scale (CclVolumeShape *shape, double x, double y, double z);

/* Frees a labeller of any backend with all its memory, and sets the handle to NULL. Since: 0.2 */
CUDACCL_API
void ccl_volume_labeller_free (CclVolumeLabeller **labeller);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_VOLUME_H */
