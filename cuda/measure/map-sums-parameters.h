/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of map-sums.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "core/measure/map-sum.h"
#include "cuda/kernel-lib/word-map.h"

enum {
  CUDACCL_MAP_SUMS_THREADS = 256,
  CUDACCL_MAP_SUMS_BLOCKS = 16, /* for each multiprocessor */
  CUDACCL_MAP_SUMS_PIXELS = 32, /* of a row, that a thread adds up */
};

typedef struct CclMapSumsParameters {
  CclWordMap labels;
  uint32_t width, height, depth; /* pixels */
  uint32_t n;

  /* The sums of the labels 1…n. */
  CclWordMap others;       /* no words: none */
  CclMapSum *sums;         /* [n] */
  const int64_t *turns[3]; /* [2 × side]; NULL: none */
  CclMapTurn *turn_sums[3];
  uint32_t *greatest;

  /* New labels. */
  const uint32_t *numbers; /* [n + 1] */
  CclWordMap to;
} CclMapSumsParameters;
