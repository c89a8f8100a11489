/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a foreground segmenter with MOG2 has besides the frame and the mask. */
#pragma once

#include "cpu/base/mapping.h"
#include "cpu/pixels/bit-rows.h"
#include "cpu/foreground/light/frame-light.h"

/* One row each: luma in the model's light in the format's number of bits, the chroma of pixels, the
 * factors of pixels. */
typedef struct Mog2Band {
  uint8_t *luma;
  uint16_t *chroma, *factors;
} Mog2Band;

typedef struct Mog2 {
  Model model;
  Light light;
  Mog2Band *bands;
  BitRows held;  /* the mask of the last frame before its closing */
  bool has_held; /* held has been written since the model began */

  /* Of the frame at work. */
  CclMixtureParameters parameters;
  bool has_light;  /* the frame is corrected by the light's factors */
  bool is_empty;   /* light does not explain the frame: no mask yet */
  bool skips_held; /* the model skips held pixels */

  Mapping rows_mapping, model_mapping;
} Mog2;
