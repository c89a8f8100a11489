/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of map-ranks.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/kernel-lib/word-map.h"

enum {
  CUDACCL_MAP_RANKS_THREADS = 256,
  CUDACCL_MAP_RANKS_BLOCKS = 16, /* for each multiprocessor */
  CUDACCL_MAP_RANKS_BITS = 4,    /* of a digit */
  CUDACCL_MAP_RANKS_DIGITS = 1 << CUDACCL_MAP_RANKS_BITS,
};

/* A value that is looked for: the key whose first digits are found, and its rank among the values
 * that begin with them. */
typedef struct CclRankTarget {
  uint64_t key;
  uint32_t rank;
  uint32_t n[CUDACCL_MAP_RANKS_DIGITS]; /* values by their next digit */
} CclRankTarget;

typedef struct CclMapRanksParameters {
  CclWordMap labels;
  uint32_t width, height, depth; /* pixels */
  uint32_t n_labels;
  const uint8_t *values;
  uint64_t value_row, value_slice; /* bytes */
  uint32_t value_bytes;
  uint32_t kind;          /* a CclNumberKind */
  uint32_t is_aligned;    /* all values are */
  uint32_t *counts;       /* [n_labels] of numbers, then [n_labels] of NaN */
  CclRankTarget *targets; /* [n_ranks × n_labels] */
  uint32_t n_ranks;
  uint32_t shift; /* bits after the digit that is looked for */
} CclMapRanksParameters;
