/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels a picture with many values (<cudaccl/values.h>), which is held in memory. */
#ifndef CUDACCL_LABEL_LABEL_VALUES_H
#define CUDACCL_LABEL_LABEL_VALUES_H

#include "picture.h"

#include <cudaccl/tiled.h>

/* A picture in memory and its label map. */
typedef struct ValuesLabels {
  uint32_t *labels;        /* of all pixels, without padding */
  CclTiledComponent *rows; /* [n_components] */
  uint32_t n_components;   /* that pass the area filter; labels are 1…n_components */
} ValuesLabels;

/* Reads a picture and labels it. min_area, max_area: as in CclTiledPlan. Pixels of value 0 are
 * background. Fills the error if it returns false. Clear the result in any case. */
bool values_label (Picture *picture, uint32_t connectivity, uint64_t min_area, uint64_t max_area,
    ValuesLabels *result, CclError *error);

void values_labels_clear (ValuesLabels *result);

#endif /* CUDACCL_LABEL_LABEL_VALUES_H */
