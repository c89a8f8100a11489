/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programmatic dependent launch (compute capability 9.0 and later): blocks of a kernel may become
 * resident while the previous kernel of the stream still runs, and wait here until the results of
 * that kernel are visible. On other GPUs a kernel starts after the previous one has ended. */
#pragma once

/* Waits for the previous kernels; their memory must not be accessed before. */
static __device__ __forceinline__ void
wait_for_previous_kernel ()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize ();
#endif
}

/* Lets blocks of the next kernel become resident as soon as there is room for them. */
static __device__ __forceinline__ void
let_next_kernel_start ()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion ();
#endif
}
