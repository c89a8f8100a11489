/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mixture.h"

#include <math.h>

CclMixtureParameters
ccl_mixture_parameters (const CclForegroundOptions *options, uint64_t n_frames)
{
  /* The automatic rate is 1 / (2 × frames so far), but not less than 1 / history. */
  const double frames = 2.0 * ((double)n_frames + 1);
  double rate = options->learning_rate;
  if (rate < 0 || n_frames == 0)
    rate = 1 / (frames < options->history ? frames : options->history);

  /* The finest parts in which losses, dither included, stay below 2^16. */
  uint32_t shift = 15;
  while (shift > 0 && rate * ldexp (1, 16 + (int)shift) + ldexp (1, (int)shift) > 65536)
    shift--;
  const double parts = ldexp (rate, 16 + (int)shift);
  const uint32_t decay = parts < 65535 ? (uint32_t)(parts + 0.5) : 65535;

  /* Multiples of the golden ratio modulo 1 are spread evenly over 0…1 for any number of frames. */
  double whole;
  const double dither = modf ((double)(n_frames % (1u << 24)) * 0.6180339887498949, &whole);
  const uint32_t round = (uint32_t)ldexp (dither, (int)shift);
  const uint32_t gain = (decay + round) >> shift;

  /* A Gaussian must not move past the value. */
  double steps = rate * CUDACCL_MIXTURE_WEIGHT_STEPS;
  if (gain > 0 && steps > gain)
    steps = gain;

  return (CclMixtureParameters){
      .decay = decay,
      .starvation = (uint32_t)(parts * CUDACCL_MIXTURE_COMPLEXITY + 0.5),
      .shift = shift,
      .round = round,
      .gain = gain,
      .rate = (float)steps,
      .dither = (float)((floor (dither * 65536) + 0.5) / 65536),
      .var_threshold = options->var_threshold * CUDACCL_MIXTURE_SQUARES,
      .mixtures = options->mixtures,
  };
}

bool
ccl_mixture_skips_held (const CclForegroundOptions *options, uint64_t n_frames)
{
  /* Objects in the first frames of a model must not stay, so hold starts at 1 and rises. */
  const uint64_t ramp = n_frames / CUDACCL_HOLD_RAMP;
  const uint64_t factor = ramp < options->hold ? ramp : options->hold;
  return factor > 1 && n_frames % factor != 0;
}
