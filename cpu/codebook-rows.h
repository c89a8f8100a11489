/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The codebook model of core/codebook.h for rows of pixels, one pixel at a time. */
#ifndef CUDACCL_CPU_CODEBOOK_ROWS_H
#define CUDACCL_CPU_CODEBOOK_ROWS_H

#include "pixels.h"
#include "words.h"

static bool
bit_of (const uint64_t *row, uint32_t x)
{
  return row[x / 64] >> x % 64 & 1;
}

static void
set_bit (uint64_t *row, uint32_t x, bool bit)
{
  row[x / 64] = (row[x / 64] & ~((uint64_t)1 << x % 64)) | (uint64_t)bit << x % 64;
}

static void
count_pixel (CodebookCounts *counts, const CclCodebookResult *result)
{
  const uint32_t most = CUDACCL_CODEBOOK_DISTANCES - 1;
  counts->chroma += result->chroma;
  counts->model_chroma += result->model_chroma;
  counts->model_dark += result->model_luma < CUDACCL_LIGHT_LEAST_LUMA;
  counts->model_bright += result->model_luma > CUDACCL_LIGHT_MOST_LUMA;
  if (ccl_codebook_counts_as_noise (result))
    counts->noise[result->level][result->distance < most ? result->distance : most]++;
}

static void
codebook_row (const CodebookRow *row)
{
  for (uint32_t x = 0; x < row->width; x++) {
    CclCodebookBlock *block = &row->blocks[x / CUDACCL_CODEBOOK_LANES];
    const uint32_t lane = x % CUDACCL_CODEBOOK_LANES;
    const uint32_t chroma = row->chroma ? row->chroma[x] : 0x8080;
    const CclCodebookValue value = {
        row->luma[x], (uint8_t)chroma, (uint8_t)(chroma >> 8), row->slack[x]};
    const CclCodebookState state = {row->places[x], !bit_of (row->strong, x),
        bit_of (row->in_object, x), bit_of (row->is_dynamic, x)};
    CclCodeword words[CUDACCL_CODEBOOK_WORDS];

    for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
      words[k] = ccl_codebook_word (block, k, lane);
    const CclCodebookResult result = ccl_codebook_update (words, value, state, row->frame);
    for (uint32_t k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
      ccl_codebook_set_word (block, k, lane, words[k]);
    row->places[x] = result.place;
    row->background[x] = result.background;
    set_bit (row->strong, x, result.is_strong);
    set_bit (row->foreground, x, result.pixel_class == CUDACCL_PIXEL_FOREGROUND);
    set_bit (row->shadow, x, result.pixel_class == CUDACCL_PIXEL_SHADOW);
    set_bit (row->recurrent, x, result.is_recurrent);
    set_bit (row->settled, x, result.is_settled);
    count_pixel (row->counts, &result);
  }
}

#endif /* CUDACCL_CPU_CODEBOOK_ROWS_H */
