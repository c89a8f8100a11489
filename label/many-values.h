/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A picture in files as one with many values. */
#pragma once

#include "label/relabel/values-tiles.h"
#include "picture.h"

typedef struct ManyValues {
  ValuesPicture picture;
  Picture *file;
  double background;
} ManyValues;

/* tolerance: by which values of neighbours may differ. background: the value of pixels that are
 * none of components. The structs must stay where they are. */
void many_values_init (ManyValues *self, Picture *file, double tolerance, double background);
