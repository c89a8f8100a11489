/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segmenter's work on pixels for any processor. */
#include "filters.h"

#include <string.h>

static void
threshold_row (const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground)
{
  for (uint32_t x = 0; x < width; x += 64) {
    const uint32_t n = width - x < 64 ? width - x : 64;
    uint64_t word = 0;
    for (uint32_t i = 0; i < n; i++)
      word |= (uint64_t)(pixels[x + i] > threshold) << i;
    foreground[x / 64] = word;
  }
}

static bool
update_pixel (
    uint8_t luma, const CclMixtureParameters *parameters, const Model *model, size_t block, int i)
{
  CclGaussian gaussians[CCL_MAX_MIXTURES] = {0};
  uint8_t n = 0;

  for (; n < model->uses[block].most; n++) {
    const GaussianBlock *kept = &model->gaussians[n * model->n_blocks + block];
    if (kept->weights[i] == 0)
      break;
    gaussians[n] = (CclGaussian){
        .weight = (float)kept->weights[i] / CCL_MIXTURE_WEIGHT_STEPS,
        .mean = (float)kept->means[i] / CCL_MIXTURE_MEAN_STEPS,
        .variance = (float)kept->variances[i] / CCL_MIXTURE_VARIANCE_STEPS,
    };
  }
  const bool background = ccl_mixture_update (gaussians, luma, parameters);
  const float dither = parameters->dither;
  for (uint8_t k = 0; k < CCL_MAX_MIXTURES; k++) {
    if (gaussians[k].weight > 0) {
      GaussianBlock *kept = &model->gaussians[k * model->n_blocks + block];
      kept->weights[i] = ccl_mixture_pack_weight (gaussians[k].weight, dither);
      kept->means[i] = ccl_mixture_pack (gaussians[k].mean, CCL_MIXTURE_MEAN_STEPS, dither);
      kept->variances[i] =
          ccl_mixture_pack (gaussians[k].variance, CCL_MIXTURE_VARIANCE_STEPS, dither);
      if (model->uses[block].most <= k)
        model->uses[block].most = (uint8_t)(k + 1);
    } else if (k < n) {
      model->gaussians[k * model->n_blocks + block].weights[i] = 0;
    }
  }
  return background;
}

static void
background_row (const uint8_t *pixels, uint32_t width, const CclMixtureParameters *parameters,
    const Model *model, uint32_t y, uint64_t *foreground)
{
  const size_t first_block = y * model->blocks_per_row;
  for (uint32_t x = 0; x < width; x += 64) {
    const uint32_t n = width - x < 64 ? width - x : 64;
    uint64_t word = 0;
    for (uint32_t i = 0; i < n; i++) {
      const size_t block = first_block + (x + i) / BLOCK_PIXELS;
      word |=
          (uint64_t)!update_pixel (pixels[x + i], parameters, model, block, (int)(i % BLOCK_PIXELS))
          << i;
    }
    foreground[x / 64] = word;
  }
}

static void
write_row (const uint64_t *foreground, uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x++)
    mask[x] = foreground[x / 64] >> x % 64 & 1 ? 255 : 0;
}

const PixelCode pixel_code_portable = {
    .name = "portable",
    .threshold_row = threshold_row,
    .background_row = background_row,
    .filter_row = filter_row,
    .write_row = write_row,
};
