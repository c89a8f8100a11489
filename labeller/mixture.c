/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mixture.h"

#include <math.h>

CclMixtureParameters
ccl_mixture_parameters (const CclSegmenterOptions *options, uint64_t n_frames)
{
  /* The automatic rate is that of a mean over the frames so far, though never of fewer than two,
   * until the history is full. */
  double frames = 2.0 * ((double)n_frames + 1);
  double rate = options->learning_rate;
  if (rate < 0 || n_frames == 0)
    rate = 1 / (frames < options->history ? frames : options->history);

  /* Steps of the golden section spread evenly over 0…1, however many frames are looked at. Only
   * the middles of 128 parts are taken, since a single float holds no more beside 16 bits. */
  double whole;
  double dither = modf ((double)(n_frames % (1u << 24)) * 0.6180339887498949, &whole);
  dither = (floor (dither * 128) + 0.5) / 128;

  CclMixtureParameters parameters = {
      .rate = (float)rate,
      .keep = 1.0f - (float)rate,
      .starvation = (float)rate * CCL_MIXTURE_COMPLEXITY,
      .var_threshold = options->var_threshold,
      .dither = (float)dither,
      .mixtures = options->mixtures,
  };
  return parameters;
}
