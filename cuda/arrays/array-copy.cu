/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies arrays whose elements are at any distances. */
#include "array-copy-parameters.h"

template <typename Unit>
static __device__ __forceinline__ void
copy_element (const uint8_t *from, uint8_t *to, uint32_t n_units)
{
  for (uint32_t i = 0; i < n_units; i++)
    ((Unit *)to)[i] = ((const Unit *)from)[i];
}

/* Any number of threads, which copy elements in the order of the last dimension. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_ARRAY_COPY_THREADS)
    ccl_array_copy (const __grid_constant__ CclArrayCopyParameters p)
{
  const uint64_t n_threads = (uint64_t)gridDim.x * blockDim.x;

  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += n_threads) {
    uint64_t rest = i;
    const uint8_t *from = p.from;
    uint8_t *to = p.to;
    for (int d = 3; d >= 0; d--) {
      const int64_t place = (int64_t)(rest % p.shape[d]);
      rest /= p.shape[d];
      from += place * p.from_strides[d];
      to += place * p.to_strides[d];
    }
    switch (p.unit_bytes) {
    case 1:
      copy_element<uint8_t> (from, to, p.n_units);
      break;
    case 2:
      copy_element<uint16_t> (from, to, p.n_units);
      break;
    case 4:
      copy_element<uint32_t> (from, to, p.n_units);
      break;
    default:
      copy_element<uint64_t> (from, to, p.n_units);
    }
  }
}
