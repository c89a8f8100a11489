/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels a picture tile by tile whose components change when they are known: they are joined over
 * borders that touch, split into objects, or their holes are filled; or which has many values.
 * Their label map is kept in a file without a name. For one process.
 */
#pragma once

#include "values-tiles.h"

typedef struct RelabelSettings {
  uint32_t axes;     /* flags of CclAxis: along them opposite borders touch; then no holes are
                      * filled and no columns are measured */
  bool fills_holes;  /* of each component */
  uint64_t max_hole; /* pixels of a hole that is filled; 0: any number */
  const ValuesPicture *values; /* what is labelled in place of a mask, without axes; NULL: a mask */

  /* Takes the values of the first pixels of the components that get a label, in order of labels;
   * each is in the first bytes of a number. Called before begin, with the data of the io. NULL: not
   * wanted, or a mask. */
  CclStatus (*take_values) (void *data, const uint64_t *values, uint64_t n, CclError *error);

  /* Takes the squared distances of the components of values, before their holes are filled, with
   * the functions begin and write that ccl_tiled_distances() calls. NULL: not wanted. */
  const CclTiledIo *distances;

  /* The radius of ccl_distance_peaks(); 0: components are not split. Objects are numbered in raster
   * order of their first peaks, and their holes are filled. For masks, without axes. */
  uint32_t split_radius;

  /* Takes the connected parts of the objects that get a label, in order of labels. Called before
   * begin, of objects of frames if the plan has the column of topology. NULL: not wanted. */
  CclStatus (*take_parts) (void *data, const uint32_t *n_parts, uint64_t n, CclError *error);
} RelabelSettings;

/* Does what ccl_tiled_run() does for one process. The filters of the plan and its columns are those
 * of what components become. Beyond the plan's memory, holes take some 140 bytes for each component
 * and each part of the background, or, of values and objects, 160 for each part of a label and of
 * the background; a split takes some 60 for each component and object; what else depends on the
 * number of components is in files. */
CclStatus relabel_run (const CclTiledPlan *plan, const CclTiledIo *io,
    const RelabelSettings *settings, CclTiledResult *result, CclError *error);

/* Whether a component passes the filters of the plan. */
bool relabel_passes (const CclTiledPlan *plan, const CclTiledComponent *row);
