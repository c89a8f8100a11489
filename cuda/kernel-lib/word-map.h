/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps of words of 32 bits in device memory, for the host's C and for nvcc. */
#pragma once

#include <cudaccl/volume.h>

/* A map of a picture; strides are words, too. */
typedef struct CclWordMap {
  uint32_t *words;
  uint64_t row, slice; /* slice: 0 for frames */
} CclWordMap;

/* The map of a caller, for pictures of this depth. */
static inline CclWordMap
ccl_word_map (const CclVolumeLabels *map, uint32_t depth)
{
  const CclWordMap of_words = {(uint32_t *)map->data, map->row_stride / sizeof (uint32_t),
      depth > 1 ? map->slice_stride / sizeof (uint32_t) : 0};
  return of_words;
}
