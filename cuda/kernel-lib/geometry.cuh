/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The place of a thread in the grid. */
#pragma once

#include <stdint.h>

/* The thread's column among all threads of the grid. */
static __device__ __forceinline__ uint32_t
thread_column ()
{
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/* The block's row among all blocks of a frame's grid. The second dimension has at most 65,535
 * blocks, so taller grids continue in the third. */
static __device__ __forceinline__ uint32_t
block_row ()
{
  return blockIdx.z * gridDim.y + blockIdx.y;
}

/* The thread's row among all threads of a frame's grid. */
static __device__ __forceinline__ uint32_t
thread_row ()
{
  return block_row () * blockDim.y + threadIdx.y;
}
