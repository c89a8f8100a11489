/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures whose opposite borders touch, as simulations and panoramas have them.
 *
 * Since: 0.4
 */
#ifndef CUDACCL_PERIODIC_H
#define CUDACCL_PERIODIC_H

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
 * axis is a circle; not a number where that sum is 0.
 *
 * It allocates some 200 bytes per component. Returns CUDACCL_OK, CUDACCL_ERROR_ARGUMENT (also if
 * the map has a label greater than n), CUDACCL_ERROR_NO_MEMORY or CUDACCL_ERROR_INTERRUPTED; after
 * the latter two the labels are undefined. Thread safe. Since: 0.4 */
CUDACCL_API
CclStatus ccl_join_borders (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t axes, uint32_t *n, CclVolumeComponent *rows,
    CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_PERIODIC_H */
