/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures whose opposite borders touch, as simulations and panoramas have them.
 *
 * Since: 0.4
 */
#ifndef CUDACCL_PERIODIC_H
#define CUDACCL_PERIODIC_H

#include <cudaccl/tiled.h>
#include <cudaccl/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The axes along which the last pixels are neighbours of the first ones. Since: 0.4 */
typedef enum CclAxis {
  CUDACCL_AXIS_X = 1 << 0,
  CUDACCL_AXIS_Y = 1 << 1,
  CUDACCL_AXIS_Z = 1 << 2, /* of volumes */
} CclAxis;

/* Joins components over the borders that touch, and measures them.
 *
 * labels: the label map of a labeller, of width × height × depth pixels in host memory: 1…n in
 * raster order of first pixels. It gets the labels of the joined components, in the same order.
 * depth: 1 for frames. connectivity: that of the labeller, 4 or 8 with a depth of 1; 6, 18 or 26.
 * axes: flags of CclAxis.
 * n: of components; set to that of the joined ones.
 * rows: [n], filled as far as there are joined components. Along periodic axes a box begins at x, y
 * or z and goes on at 0 where it reaches the end: it is the shortest one around the component. Its
 * centroid is a circular mean there: the direction of the sum of the pixels' directions, when the
 * axis is a circle; not a number where that sum is 0. Sums are exact, so that they are the same in
 * whatever order pixels come.
 *
 * ccl_cuda_join_borders() does the same in device memory (device.h).
 *
 * It allocates some 200 bytes per component. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if
 * the map has a label greater than n), CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_INTERRUPTED; after
 * the latter two the labels are undefined. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_join_borders (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t axes, uint32_t *n, CclVolumeComponent *rows,
    CclError *error);

/* An opaque joining of components over borders, for label maps of any size. Since: 0.4 */
typedef struct CclBorders CclBorders;

/* Makes a joining for a picture of which the labels follow, layer by layer: rows of frames, slices
 * of volumes, as in tiled.h.
 *
 * width, height, depth: 1…UINT32_MAX; depth is 1 for frames. connectivity, axes: as of
 * ccl_join_borders(). It keeps the pixels of the borders that touch, 4 bytes each, and some 150
 * bytes per component. Free it with ccl_borders_free(). Functions for one joining are not to be
 * called at the same time. Returns NULL with the error filled: CUDACCL_ERROR_ARGUMENT,
 * CUDACCL_ERROR_NO_MEMORY. Thread safe. Since: 0.4 */
CUDACCL_API
CclBorders *ccl_borders_new (uint64_t width, uint64_t height, uint64_t depth, uint32_t connectivity,
    uint32_t axes, CclError *error);

/* Takes the labels of the next n_layers layers, without padding: of components, numbered in raster
 * order of first pixels. Returns CUDACCL_OK; CUDACCL_ERROR_ARGUMENT, also if a label comes before
 * a lesser one; CUDACCL_ERROR_NO_MEMORY; CUDACCL_ERROR_INTERRUPTED. Since: 0.4 */
CUDACCL_API
CclStatus ccl_borders_add (
    CclBorders *borders, const uint32_t *labels, uint64_t n_layers, CclError *error);

/* Joins the components, after all layers have been added. The results belong to the joining.
 *
 * n: of the labels that came. numbers: [n + 1]: the label that each of them gets, 0 for 0.
 * n_joined: of the joined components. rows: [n_joined], as those of ccl_join_borders().
 *
 * Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (layers are missing) or CUDACCL_ERROR_NO_MEMORY.
 * Since: 0.4 */
CUDACCL_API
CclStatus ccl_borders_join (CclBorders *borders, uint32_t *n, const uint32_t **numbers,
    uint32_t *n_joined, const CclTiledComponent **rows, CclError *error);

/* Frees a joining, and sets the handle to NULL. Since: 0.4 */
CUDACCL_API
void ccl_borders_free (CclBorders **borders);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_PERIODIC_H */
