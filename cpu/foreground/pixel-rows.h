/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of each pixels-*.c: the models on its vectors, and the operations on rows that are the
 * same for all instruction sets. The including file defines, beside what codebook-rows.h names:
 *
 * - what a cpu/pixels/pack-*.h defines, and all functions of cpu/pixels/ that PIXEL_ROWS names;
 * - WRITTEN_COLUMNS, and write_columns(), which writes so many bits as bytes of 0 and 255; or else,
 *   where a part of a vector can be read and written, threshold_row() and write_row().
 */
#pragma once

#include "cpu/foreground/codebook/codebook-rows.h"
#include "cpu/foreground/mog2/mog2.h"
#include "cpu/foreground/codebook/sampled-rows.h"

#include <string.h>

/* As threshold_row(), for pixels of two bytes. */
static void
threshold_words (
    const uint8_t *pixels, uint32_t width, CclWordThreshold threshold, uint64_t *foreground)
{
  for (uint32_t x = 0; x < width; x += 64) {
    const uint8_t *of_word = pixels + 2 * (size_t)x;
    uint8_t rest[128] = {0};
    if (width - x < 64)
      of_word = memcpy (rest, of_word, 2 * (width - x));
    foreground[x / 64] = pack_words (of_word, threshold);
  }
}

#ifdef WRITTEN_COLUMNS
static void
threshold_row (const uint8_t *pixels, uint32_t width, uint8_t threshold, uint64_t *foreground)
{
  const Threshold thresholds = threshold_prepare (threshold);
  for (uint32_t x = 0; x < width; x += 64) {
    const uint8_t *of_word = pixels + x;
    uint8_t rest[64] = {0};
    if (width - x < 64)
      of_word = memcpy (rest, of_word, width - x);
    foreground[x / 64] = pack_pixels (of_word, thresholds);
  }
}

static void
write_row (const uint64_t *foreground, uint32_t width, uint8_t *mask)
{
  for (uint32_t x = 0; x < width; x += WRITTEN_COLUMNS) {
    const uint32_t bits = (uint32_t)(foreground[x / 64] >> x % 64);
    uint8_t rest[WRITTEN_COLUMNS];
    if (width - x >= WRITTEN_COLUMNS) {
      write_columns (bits, mask + x);
    } else {
      write_columns (bits, rest);
      memcpy (mask + x, rest, width - x);
    }
  }
}
#endif

/* The members of a PixelCode whose functions have the same names in all files. */
#define PIXEL_ROWS                                                                                 \
  .threshold_row = threshold_row, .threshold_words = threshold_words, .copy_bytes = copy_bytes,    \
  .background_row = background_row, .codebook_row = codebook_row, .sampled_row = sampled_row,      \
  .spread_chroma = spread_chroma, .correct_luma = correct_luma,                                    \
  .correct_wide_luma = correct_wide_luma, .correct_chroma = correct_chroma,                        \
  .count_ratios = count_ratios, .find_slack = find_slack, .count_extremes = count_extremes,        \
  .dilate_row = dilate_row, .median_of_classes = median_of_classes, .filter_row = filter_row,      \
  .write_row = write_row, .reduce_row = reduce_row, .reduce_wide_row = reduce_wide_row,            \
  .enlarge_row = enlarge_row
