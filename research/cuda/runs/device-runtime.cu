/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Can be linked only where CUDA's device runtime is found. */
#include "device-launch.cuh"

struct Nothing {};

extern "C" __global__ void
ccl_launched (const Nothing)
{
}

extern "C" __global__ void
ccl_launching (const Nothing nothing)
{
  launch_from_device<ccl_launched> (LAUNCH_AT_TAIL, 1, 1, nothing);
}
