/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distances to the borders of components, and the split of components that are several objects
 * which touch: each peak of the distance floods its surroundings.
 *
 *   ccl_label_distances (&labels, width, height, 1, &squared, &error);
 *   ccl_distance_peaks (&labels, &squared, width, height, 1, 5, &objects, &n_objects, &error);
 *   ccl_flood_objects (&labels, &squared, width, height, 1, 4, &objects, &error);
 *
 * Maps are label maps of any origin, width × height × depth words of 32 bits in host memory, with a
 * depth of 1 for frames, whose slice strides are not read. They have at most CUDACCL_MAX_PIXELS
 * pixels, and their squared diagonal is less than 2³². Pixels of label 0 are background.
 *
 * ccl_cuda_label_distances() and its neighbours in device.h do the same in device memory.
 *
 * The functions run on the CPU and allocate while they run. Each returns CUDACCL_OK,
 * CUDACCL_ERROR_ARGUMENT (nothing was written), CUDACCL_ERROR_NO_MEMORY or
 * CUDACCL_ERROR_INTERRUPTED. Thread safe. Since: 0.3
 */
#ifndef CUDACCL_DISTANCE_H
#define CUDACCL_DISTANCE_H

#include <cudaccl/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The squared distance of pixels of a label that has all pixels of the map. Since: 0.3 */
#define CUDACCL_NO_DISTANCE UINT32_MAX

/* The most pixels of a radius of ccl_distance_peaks(). Since: 0.3 */
#define CUDACCL_MAX_PEAK_RADIUS 255

/* Finds the squared Euclidean distance of each pixel to the nearest pixel with another label,
 * background or not: exact integers. What lies outside the map does not count. For a mask they are
 * the squares of scipy.ndimage.distance_transform_edt().
 *
 * squared: filled; 0 for background. It must not be the map of the labels.
 *
 * Felzenszwalb, Huttenlocher: Distance Transforms of Sampled Functions, Theory of Computing 8,
 * 2012; in integers by Meijster, Roerdink, Hesselink: A General Algorithm for Computing Distance
 * Transforms in Linear Time, 2000. Since: 0.3 */
CUDACCL_API
CclStatus ccl_label_distances (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, const CclVolumeLabels *squared, CclError *error);

/* Finds the peaks of distances and joins them to objects. A pixel is a peak if no pixel of its
 * label with a greater distance is within the radius in every coordinate. Peaks of a label that are
 * within the radius of each other belong to one object.
 *
 * squared: of ccl_label_distances(). radius: 1…CUDACCL_MAX_PEAK_RADIUS. objects: filled with the
 * numbers of objects, 1…n_objects in raster order of their first peaks, and 0 elsewhere.
 * n_objects: filled. Since: 0.3 */
CUDACCL_API
CclStatus ccl_distance_peaks (const CclVolumeLabels *labels, const CclVolumeLabels *squared,
    uint32_t width, uint32_t height, uint32_t depth, uint32_t radius,
    const CclVolumeLabels *objects, uint32_t *n_objects, CclError *error);

/* Floods the labels from objects, the greatest distances first. A pixel gets the number of the
 * object from which it is reached first.
 *
 * squared: of ccl_label_distances(), or other heights. connectivity: 4, 6, 8, 18 or 26: the
 * neighbours over which objects grow, inside a label. objects: numbers of markers, such as peaks,
 * and 0 elsewhere; filled as far as they reach.
 *
 * A pixel that is higher than that from which it is reached counts as equal to it.
 * Of pixels with equal distances, markers come in raster order, and then those first that were
 * reached first; a pixel reaches its neighbours that share a side before those that share an edge,
 * and these before those that share a corner, each in raster order. Where distances of markers
 * differ, the result is that of scikit-image 0.26's watershed (-distance, markers, mask=labels >
 * 0), if there is one label.
 *
 * Meyer: Color Image Segmentation, 1992, after Beucher, Lantuéjoul: Use of Watersheds in Contour
 * Detection, 1979. Since: 0.3 */
CUDACCL_API
CclStatus ccl_flood_objects (const CclVolumeLabels *labels, const CclVolumeLabels *squared,
    uint32_t width, uint32_t height, uint32_t depth, uint32_t connectivity,
    const CclVolumeLabels *objects, CclError *error);

/* Fills the holes of each label of a label map with it. A hole of a label is what its pixels cut
 * off from the outside: a set of other pixels that are connected and are not connected to the
 * outside of the label's bounding box. Pixels of the background in it get the label; other labels
 * stay, and do not help to close a gap. Of several labels around a pixel, that with the smallest
 * bounding box fills it, the greatest one of equals.
 *
 * connectivity: of the labels: 4 or 8 with a depth of 1; 6, 18 or 26. Holes have the other one: 8,
 * 4; 26, 6, 6.
 * n: the holes of the labels 1…n are filled; with the greatest label, those of all.
 * max_area: holes with more pixels, those of labels in them among them, stay; 0: all are filled.
 * filled: the map of the result; it must not be that of the labels.
 *
 * ccl_cuda_fill_label_holes() does the same in device memory (device.h).
 *
 * The time is that of the bounding boxes of all labels, memory five bytes for each pixel of the
 * greatest one. Diagonals may be longer than above. Since: 0.4 */
CUDACCL_API
CclStatus ccl_fill_label_holes (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t n, uint32_t max_area,
    const CclVolumeLabels *filled, CclError *error);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_DISTANCE_H */
