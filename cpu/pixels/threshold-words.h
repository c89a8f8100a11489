/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thresholds a row of pixels of two bytes, with any instructions. */
#ifndef CUDACCL_CPU_THRESHOLD_WORDS_H
#define CUDACCL_CPU_THRESHOLD_WORDS_H

#include <stddef.h>
#include <string.h>

#include "core/label/labeller-class.h"
#include "words.h"

/* pack gives the foreground bits of 64 pixels. It is known at compile time and inlined. */
static ALWAYS_INLINE void
threshold_words_by (uint64_t (*pack) (const uint8_t *, CclWordThreshold), const uint8_t *pixels,
    uint32_t width, CclWordThreshold threshold, uint64_t *foreground)
{
  for (uint32_t x = 0; x < width; x += 64) {
    const uint8_t *of_word = pixels + 2 * (size_t)x;
    uint8_t rest[128] = {0};
    if (width - x < 64)
      of_word = memcpy (rest, of_word, 2 * (width - x));
    foreground[x / 64] = pack (of_word, threshold);
  }
}

#endif /* CUDACCL_CPU_THRESHOLD_WORDS_H */
