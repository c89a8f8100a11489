/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernels of batch.cu, compiled by the host's C and by nvcc. */
#ifndef CUDACCL_BATCH_PARAMETERS_H
#define CUDACCL_BATCH_PARAMETERS_H

#include "strips-parameters.h"

enum { CUDACCL_BATCH_REPLACE_THREADS = 64 }; /* of a block, which has a tile */

/* Which components ccl_batch_replace() writes a value to. */
typedef struct CclBatchSelection {
  uint32_t min_area, max_area;
  uint32_t inside_only; /* those that do not touch the border of the mask */
  uint32_t value;
} CclBatchSelection;

typedef struct CclBatchParameters {
  /* Of the first mask. rows, max_components: of all masks together. n_components: [n_masks]. */
  CclStripsParameters strips;

  /* From what belongs to a mask to that of the next one. */
  uint64_t scratch_stride; /* bytes: of the scratch memory, without chunk_count */
  uint64_t counts_stride;  /* elements of chunk_count and next_chunk_count */
  uint64_t mask_stride;    /* bytes */
  uint64_t labels_slice;   /* elements of the label map */
  uint64_t areas_slice;    /* elements of the area map */

  uint32_t n_masks;
  uint32_t *mask_count;      /* [n_masks] components */
  uint32_t *areas;           /* the area map; NULL if not wanted */
  uint64_t areas_stride;     /* elements */
  uint32_t areas_vectorised; /* as labels_vectorised */
  CclBatchSelection selection;
} CclBatchParameters;

#endif /* CUDACCL_BATCH_PARAMETERS_H */
