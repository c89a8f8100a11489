/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernel launches from the device (dynamic parallelism). A file that includes this is linked with
 * CUDA's device runtime. */
#pragma once

#ifdef CUDACCL_SIMCUDA
#include "launch-child.h"
#endif

enum LaunchTime {
  LAUNCH_NOW,     /* after the kernels that the thread block launched before */
  LAUNCH_AT_TAIL, /* when the launching kernel and all others that it has launched have ended */
};

/* Launches a kernel from a thread. Without memory for one more launch the kernel fails. */
template <auto kernel, typename Parameters>
static __device__ __forceinline__ void
launch_from_device (LaunchTime time, dim3 grid, dim3 block, const Parameters &parameters)
{
#ifdef CUDACCL_SIMCUDA
  simcuda::launch_child<kernel> (time == LAUNCH_AT_TAIL, grid, block, parameters);
#else
  kernel<<<grid, block, 0, time == LAUNCH_AT_TAIL ? cudaStreamTailLaunch : 0>>> (parameters);
  if (cudaGetLastError () != cudaSuccess)
    __trap ();
#endif
}
