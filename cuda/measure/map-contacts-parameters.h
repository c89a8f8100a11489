/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of map-contacts.cu, compiled by the host's C and by nvcc. */
#pragma once

#include "cuda/kernel-lib/word-map.h"

#include <cudaccl/contacts.h>

enum {
  CUDACCL_MAP_CONTACTS_THREADS = 256,
  CUDACCL_MAP_CONTACTS_BLOCKS = 16, /* for each multiprocessor */
  CUDACCL_MAP_CONTACTS_STEPS = 13,  /* the most pixels that precede one */
};

/* From a pixel to one that precedes it. */
typedef struct CclContactStep {
  int32_t x, y, z;
} CclContactStep;

/* A place of the hash table. */
typedef struct CclContactEntry {
  uint64_t pair; /* the lesser label << 32 | the greater one; 0: free */
  uint64_t n_sides;
} CclContactEntry;

typedef struct CclMapContactsParameters {
  CclWordMap labels;
  uint32_t width, height, depth;
  CclContactStep steps[CUDACCL_MAP_CONTACTS_STEPS];
  uint32_t n_steps, n_sides; /* the first ones are those over sides */
  CclContactEntry *entries;  /* [mask + 1], a power of 2, at least twice the capacity */
  uint32_t mask;
  uint32_t capacity;
  uint32_t *n; /* pairs found; more than the capacity if there is no room for all */
  uint32_t *n_listed;
  CclContact *contacts; /* [capacity] */
} CclMapContactsParameters;
