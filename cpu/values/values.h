/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labeller of values on the CPU: its data, and its scans for the instruction sets. */
#pragma once

#include "cpu/base/mapping.h"
#include "core/values/values-class.h"

/* The most rows before a row whose pixels can touch its pixels. */
enum { MOST_BEFORE = 4 };

/* A row before the one at work. A union with a pixel of it is left out where another one implies
 * it: the pixel at work equals two neighbours that touch each other, and these have been united.
 * The masks say which rows of the list imply which unions, a bit each. */
typedef struct Before {
  int dy, dz;
  bool has_diagonals;      /* pixels also touch those at x - 1 and x + 1 of it */
  uint8_t same_implied;    /* rows whose pixel at x touches that at x of this one */
  uint8_t corners_implied; /* rows whose pixel at x touches those at x - 1 and x + 1 of this one */
  uint8_t corners_implied_by_corners; /* rows whose pixel at x - 1 touches that at x - 1 of this
                                       * one, in the list before it */
} Before;

typedef struct Neighbourhood {
  uint32_t connectivity;
  bool first_implies_all; /* the pixel of the first row touches those of all others */
  uint32_t n;
  Before before[MOST_BEFORE];
} Neighbourhood;

typedef struct CpuValuesLabeller {
  CclValuesLabeller base;
  const Neighbourhood *neighbourhood;
  uint32_t n_words; /* of a row of bits */

  /* Words of the bits of all rows in raster order. In rows without foreground, only that is set. */
  uint64_t *foreground;
  uint64_t *begins;      /* where runs begin */
  uint32_t *runs_before; /* of each word: the number of the first run that begins in it or later;
                          * equal rows have the same runs */
  uint32_t n_runs;       /* 1 + their number: runs are counted from 1 on */
  uint32_t *parents;     /* of each run; later its label */
  const struct ValuesCode *code;
  Mapping mapping;
} CpuValuesLabeller;

/* So many parents may be read behind the last one. */
enum { PARENTS_BLOCK = 16 };

/* What is compiled for each instruction set. All give identical results. */
typedef struct ValuesCode {
  const char *name;
  /* Finds the runs of a picture and unites those of each component. */
  void (*scan) (CpuValuesLabeller *self, const CclValues *values);
  /* Writes the labels of a row with foreground. parents has the labels of runs. */
  void (*write_row) (const CpuValuesLabeller *self, size_t first_word, uint32_t *labels);
} ValuesCode;

extern const ValuesCode values_code_portable;
extern const ValuesCode values_code_avx2;
extern const ValuesCode values_code_avx512;
