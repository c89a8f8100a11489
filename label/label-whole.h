/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels a picture that is held in memory as a whole, because a GPU splits its components or
 * measures their distances (<cudaccl/device.h>). */
#pragma once

#include "intensities.h"
#include "many-values.h"
#include "mask.h"

#include <cudaccl/device.h>
#include <cudaccl/tiled.h>

typedef struct WholeSettings {
  Mask *mask;                     /* the foreground */
  const ValuesPicture *values;    /* the picture in place of a mask, if that is NULL */
  const CclTiledPlan *plan;       /* with the device that labels, splits and fills */
  uint32_t split_radius;          /* of ccl_distance_peaks(); 0: components are not split */
  bool fills_holes;               /* of each label */
  uint32_t max_hole;              /* of ccl_fill_label_holes() */
  const Intensities *intensities; /* NULL with no CUDACCL_COLUMN_INTENSITY */
  uint32_t n_planes;              /* of the intensities; 1 without */
} WholeSettings;

/* A label map and its components, or the objects into which they are split. */
typedef struct WholeLabels {
  uint32_t *labels;        /* of all pixels, without padding */
  uint32_t *squared;       /* distances of all pixels to the border of their component, before it is
                            * split or filtered */
  CclTiledComponent *rows; /* [n_components] */
  uint32_t *n_parts; /* of the labels 1…n_components; NULL: components, or no column needs it */
  CclVolumeShape *shapes; /* [n_planes] of each component; NULL: no columns are measured */
  uint32_t n_components;  /* that pass the area filter; labels are 1…n_components */
} WholeLabels;

/* Reads a picture and labels it. Fills the error if it returns false. Clear the result in any case.
 */
bool whole_label (
    Picture *picture, const WholeSettings *settings, WholeLabels *result, CclError *error);

void whole_labels_clear (WholeLabels *result);
