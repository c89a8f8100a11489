/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The appearance of an object: its mean colour by height. People differ in the colours of hair,
 * shirt and trousers, which are one above the other however they turn.
 *
 * A. Mittal, L. S. Davis, "M2Tracker: a multi-view approach to segmenting and tracking people in a
 * cluttered scene", International Journal of Computer Vision 51(3), 2003: a colour model for each
 * height of a person. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CUDACCL_BANDS 6   /* of the height, from the top downwards */
#define CUDACCL_COLOURS 3 /* luma, u, v, or what the planes of the picture have */

/* Sums over the pixels of a component, of each band. */
typedef struct CclColours {
  uint32_t n_pixels[CUDACCL_BANDS];
  uint64_t sums[CUDACCL_BANDS][CUDACCL_COLOURS];
} CclColours;

/* Adds the pixels of another part of the object. */
void ccl_colours_add (CclColours *colours, const CclColours *part);

/* What is known of an object. All 0: nothing. */
typedef struct CclAppearance {
  double
      n[CUDACCL_BANDS]; /* frames in which the band was learnt, at most as many as are averaged */
  double mean[CUDACCL_BANDS][CUDACCL_COLOURS];
  double variance[CUDACCL_BANDS][CUDACCL_COLOURS]; /* of the frames' means */
} CclAppearance;

/* Learns the colours of a frame. most: the greatest number of frames that are averaged, ≥ 1. */
void ccl_appearance_learn (CclAppearance *appearance, const CclColours *colours, double most);

/* How much the colours are those of the object, 0…1; -1: too little is known of them. least: frames
 * in which a band must have been learnt, ≥ 1. */
double ccl_appearance_compare (
    const CclAppearance *appearance, const CclColours *colours, uint32_t least);
