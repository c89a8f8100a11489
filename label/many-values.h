/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a picture in files for labelling by values (label/relabel/values-tiles.h). */
#pragma once

#include "label/relabel/values-tiles.h"
#include "picture.h"

typedef struct ManyValues {
  ValuesPicture picture;
  Picture *file;
  long double background;
} ManyValues;

/* tolerance: by which values of neighbours may differ. background: the value of pixels that are
 * in no component. The struct points to itself, so it must not be moved; file must outlive it. */
void many_values_init (ManyValues *self, Picture *file, double tolerance, long double background);
