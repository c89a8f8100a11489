/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground masks of pictures of any size, a few rows at a time: Otsu's threshold, noise filter,
 * closing and region of interest mask, as those of foreground.h. In a volume, filters work in each
 * slice, and Otsu's threshold is that of all slices.
 */
#pragma once

#include <cudaccl/foreground.h>

#include "slices.h"

typedef struct MaskSettings {
  bool use_otsu; /* choose the threshold; for pictures of SAMPLE_UINT8 */
  double threshold;
  bool invert; /* inside the region of interest */
  CclDenoise denoise;
  uint32_t closing_width, closing_height; /* pixels; 0 and 1: none */
  const char
      *roi_mask;      /* the name of a picture of the same width and height: where it is 0, there
                       * is no foreground. One of a single slice holds for all slices. NULL: none */
  uint32_t n_threads; /* as in CclForegroundPlan */
} MaskSettings;

typedef struct Mask Mask;

/* Whether the settings need a mask. Otherwise the labeller compares pixels with the threshold. */
bool mask_is_needed (const MaskSettings *settings);

/* Makes a reader of the picture's mask, and finds Otsu's threshold. first_row, n_rows: the rows of
 * this process, counted through all slices. The picture must live as long as the mask. Collective.
 * Returns NULL with the error filled. */
Mask *mask_new (Picture *picture, const MaskSettings *settings, uint64_t first_row, uint64_t n_rows,
    CclError *error);

/* Reads rows: 255 for foreground, 0 for background. Fast for rows that follow each other. */
bool mask_read (Mask *mask, uint64_t first_row, uint64_t n_rows, uint8_t *pixels, CclError *error);

void mask_free (Mask *mask); /* NULL is allowed */
