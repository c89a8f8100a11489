/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A picture that is labelled in tiles by several ranks, and compared with a flood fill. Every rank
 * makes the same cases from the same seeds and checks the labels and rows that it delivers.
 */
#pragma once

#include <cudaccl/tiled.h>

enum { MOST_RANKS = 9 };

typedef struct TiledCase {
  char name[128]; /* what it is, for messages */
  CclTiledPlan plan;
  uint8_t *pixels;
  void *values; /* of the second plane; NULL without one */
  uint32_t n_ranks;
  uint64_t begins[MOST_RANKS + 1]; /* the first layer of each rank's slab; the end of the last */
  uint64_t tile_layers[MOST_RANKS];

  /* The expected result. */
  uint64_t n_components;
  uint32_t *labels;
  CclTiledComponent *rows; /* NULL: not to be compared */
  CclVolumeShape *shapes;  /* NULL without columns */
} TiledCase;

/* Makes the case of a seed: a shape or noise, frame or volume, with a random number of ranks,
 * random slabs, some of them empty, random tiles and, in every second case, random columns. */
TiledCase *tiled_case_new (uint32_t seed);

/* Like tiled_case_new(), for a small frame, with the given number of ranks and the slabs of the
 * composition (the bit i is set: a slab ends after row i). */
TiledCase *tiled_case_new_split (uint32_t seed, uint32_t height, uint32_t composition);

void tiled_case_free (TiledCase *c);

/* Labels the slab of peers->rank, or the whole picture if peers is NULL, and compares. Fills the
 * message and returns false if anything differs. result may be NULL. */
bool tiled_case_run (const TiledCase *c, const CclTiledPeers *peers, CclCudaDevice *device,
    CclTiledResult *result, char message[512]);
