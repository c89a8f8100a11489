/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grids whose second and third dimension are the masks of a batch. */
#pragma once

#include "batch-parameters.h"
#include "cuda/kernel-lib/dependent-launch.cuh"

static __device__ __forceinline__ uint32_t
mask_of_block ()
{
  return blockIdx.z * gridDim.y + blockIdx.y;
}

/* Whether the grid, of whole planes, has more blocks than the masks need. Such blocks wait as all
 * do, as a kernel behind relies on that. */
static __device__ __forceinline__ bool
is_behind_last_mask (const CclBatchParameters &batch)
{
  if (mask_of_block () < batch.n_masks)
    return false;
  wait_for_previous_kernel ();
  return true;
}

template <typename T>
static __device__ __forceinline__ void
move (T *&pointer, uint64_t bytes)
{
  pointer = (T *)((uintptr_t)pointer + bytes);
}
