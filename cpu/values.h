/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The labeller of values on the CPU: its data, and its scans for the instruction sets. */
#ifndef CUDACCL_CPU_VALUES_H
#define CUDACCL_CPU_VALUES_H

#include "mapping.h"
#include "values-class.h"

/* The parent of a run of background. */
#define BACKGROUND UINT32_MAX

/* The rows before a row that its pixels touch: the most of them. */
enum { MOST_BEFORE = 4 };

/* A row before the one at work. The masks have a bit for each row of the list. A pixel that equals
 * one of its neighbours and another one that these two touch has been united with both. */
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

  uint64_t *begins;      /* of all rows in raster order: where runs begin */
  uint32_t *runs_before; /* of each of these words: the number of the first run that begins in it or
                          * later; equal rows have the same runs */
  uint64_t *foreground;  /* of the row at work */
  uint32_t n_runs;
  uint32_t *parents; /* of each run, or BACKGROUND; later its label */
  void (*scan) (struct CpuValuesLabeller *self, const CclValues *values);
  Mapping mapping;
} CpuValuesLabeller;

/* Finds the runs of a picture and unites those of each component. All give identical results. */
void values_scan_portable (CpuValuesLabeller *self, const CclValues *values);
void values_scan_avx2 (CpuValuesLabeller *self, const CclValues *values);
void values_scan_avx512 (CpuValuesLabeller *self, const CclValues *values);

#endif /* CUDACCL_CPU_VALUES_H */
