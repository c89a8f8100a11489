/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of the kernel of array-copy.cu, compiled by the host's C and by nvcc. */
#pragma once

#include <stdint.h>

enum {
  CUDACCL_ARRAY_COPY_THREADS = 256,
  CUDACCL_ARRAY_COPY_BLOCKS = 8, /* for each multiprocessor */
};

typedef struct CclArrayCopyParameters {
  const uint8_t *from;
  uint8_t *to;
  uint64_t n; /* elements */
  uint64_t shape[4];
  int64_t from_strides[4], to_strides[4]; /* bytes */
  uint32_t unit_bytes; /* 1, 2, 4 or 8: elements are copied in such parts, to which
                        * addresses and strides are aligned */
  uint32_t n_units;    /* of an element */
} CclArrayCopyParameters;
