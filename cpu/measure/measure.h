/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures components from a label map, whatever algorithm has made it: the columns that the plan
 * asks for. Pixels are read row by row; runs of a label add their sums at once, and only pixels
 * whose neighbours differ are looked at one by one.
 */
#pragma once

#include "core/label/component-features.h"
#include "cpu/base/mapping.h"
#include "core/measure/neighbourhood.h"

typedef struct CpuMapMeasurer {
  uint32_t width, height;
  uint32_t columns;

  /* Rows y - 1…y + 2 of the label map in the entries of their numbers modulo 4, and rows y - 1…y +
   * 1 of the labels of border pixels, 0 for others, modulo 3. Index 0 is the column before the
   * frame; there is background around it. */
  uint32_t *labels[4];
  uint32_t *borders[3];
  uint32_t *differs; /* of the present row: not 0 where a neighbour has another label */

  CclQuads quads[CCL_ALL_NEIGHBOURS + 1]; /* of a pixel with these neighbours */

  const CclLabels *map;
  const CclIntensity *intensity;
  uint32_t n_channels; /* of which the values of one are measured; 0 and 1: there is one */
  uint32_t n;          /* the labels 1…n are measured */
  CclFeatures *features;
} CpuMapMeasurer;

/* Lays out the rows for frames of the struct's width. */
void cpu_map_measurer_lay_out (CpuMapMeasurer *self, Layout *layout);

/* Fills n features. */
void cpu_map_measurer_run (CpuMapMeasurer *self, const CclLabels *map,
    const CclIntensity *intensity, uint32_t n, CclFeatures *features);

/* A labeller that measures the components of another one, which it owns. Returns NULL if there is
 * no memory; the other one is then freed, too. */
CclLabeller *cpu_measuring_labeller_new (CclLabeller *labeller, CclError *error);
