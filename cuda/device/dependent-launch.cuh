/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programmatic dependent launch (compute capability 9.0 and later): a kernel may be brought onto
 * the GPU while the one before it in the stream still runs, and waits here until that one's
 * results are visible. Elsewhere kernels of a stream follow each other anyway. */
#ifndef CCL_DEPENDENT_LAUNCH_CUH
#define CCL_DEPENDENT_LAUNCH_CUH

/* Waits for the kernels before this one; nothing of theirs may be touched earlier. */
static __device__ __forceinline__ void
wait_for_previous_kernel ()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize ();
#endif
}

/* Lets the next kernel's blocks be brought in as soon as there is room for them. */
static __device__ __forceinline__ void
let_next_kernel_start ()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion ();
#endif
}

#endif /* CCL_DEPENDENT_LAUNCH_CUH */
