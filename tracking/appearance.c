/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "appearance.h"

#define MIN_PIXELS 3 /* of a band */
#define MIN_BANDS 3  /* that are known, to compare at all */
#define NOISE 8.0    /* standard deviation of the mean of a band, from place to place */
#define CHROMA_NOISE 4.0

void
ccl_colours_add (CclColours *colours, const CclColours *part)
{
  for (uint32_t band = 0; band < CUDACCL_BANDS; band++) {
    colours->n_pixels[band] += part->n_pixels[band];
    for (uint32_t i = 0; i < CUDACCL_COLOURS; i++)
      colours->sums[band][i] += part->sums[band][i];
  }
}

void
ccl_appearance_learn (CclAppearance *a, const CclColours *colours, double most)
{
  for (uint32_t band = 0; band < CUDACCL_BANDS; band++) {
    const uint32_t n = colours->n_pixels[band];
    if (n < MIN_PIXELS)
      continue;
    a->n[band] = a->n[band] + 1 < most ? a->n[band] + 1 : most;
    const double rate = 1 / a->n[band];
    for (uint32_t i = 0; i < CUDACCL_COLOURS; i++) {
      const double error = (double)colours->sums[band][i] / n - a->mean[band][i];
      a->mean[band][i] += rate * error;
      a->variance[band][i] += rate * ((1 - rate) * error * error - a->variance[band][i]);
    }
  }
}

/* The squared difference of a band, in variances, the mean of the colours. */
static double
difference (const CclAppearance *a, const CclColours *colours, uint32_t band)
{
  double sum = 0;
  for (uint32_t i = 0; i < CUDACCL_COLOURS; i++) {
    const double noise = i == 0 ? NOISE : CHROMA_NOISE;
    const double error =
        (double)colours->sums[band][i] / colours->n_pixels[band] - a->mean[band][i];
    sum += error * error / (a->variance[band][i] + noise * noise);
  }
  return sum / CUDACCL_COLOURS;
}

double
ccl_appearance_compare (const CclAppearance *a, const CclColours *colours, uint32_t least)
{
  double sum = 0, n = 0;
  for (uint32_t band = 0; band < CUDACCL_BANDS; band++) {
    if (a->n[band] < least || colours->n_pixels[band] < MIN_PIXELS)
      continue;
    sum += 1 / (1 + difference (a, colours, band) / 4);
    n++;
  }
  return n < MIN_BANDS ? -1 : sum / n;
}
