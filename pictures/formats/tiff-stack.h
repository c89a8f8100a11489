/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the description in a TIFF file says about its planes: their number and their axes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct TiffStack {
  uint64_t n_images;                      /* each with planes of its own */
  uint64_t n_slices, n_channels, n_times; /* of the first image, ≥ 1 */
  uint64_t n_others;                      /* along axes of another or no name, ≥ 1 */
} TiffStack;

/* Reads the descriptions of ImageJ, of OME-XML and of tifffile. n_samples: per pixel, which are no
 * planes. n_pixels: of a plane. Returns whether the description counts planes. */
bool tiff_stack_read (
    const char *description, uint64_t n_samples, uint64_t n_pixels, TiffStack *stack);

/* The number of planes of the first image; UINT64_MAX if it is greater. */
uint64_t tiff_stack_planes (const TiffStack *stack);
