/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CCL_CPU_EXPAND_H
#define CCL_CPU_EXPAND_H

#include <stdint.h>
#include <string.h>

/* Writes the label map of one word of a row.
 *
 * n: columns of the frame in this word, 1…64.
 * starts: the columns at which runs of the strip start.
 * labels: labels[0] is that of the run that reaches into the word from the left (anything if
 *   there is none), labels[i] that of the i-th run that starts in the word. */
static inline void
expand_portable (
    uint32_t *out, uint32_t n, uint64_t pixels, uint64_t starts, const uint32_t *labels)
{
  memset (out, 0, n * sizeof *out);
  while (pixels) {
    const uint64_t up_to_first = pixels ^ (pixels - 1);
    const uint32_t label = labels[__builtin_popcountll (starts & up_to_first)];
    uint32_t x = (uint32_t)__builtin_ctzll (pixels);
    /* Adding the first bit clears the ones that follow it without a gap. */
    const uint64_t rest = pixels & (pixels + (pixels & -pixels));
    const uint32_t end = x + (uint32_t)__builtin_popcountll (pixels & ~rest);
    for (; x < end; x++)
      out[x] = label;
    pixels = rest;
  }
}

#endif /* CCL_CPU_EXPAND_H */
