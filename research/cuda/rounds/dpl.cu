/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DPL, Directional Propagation Labelling.
 *
 * Hawick, Leist, Playne: Parallel graph component labelling with GPUs and CUDA, Parallel
 * Computing 36(12), 2010; as in the review by Bolelli et al., IEEE TPDS 2024, section III-A-3.
 * 4-connectivity.
 *
 * 1. initialise: every foreground pixel gets a unique label; one thread for each pixel.
 * 2. rightwards, upwards, leftwards, downwards: a thread scans a row or column and propagates the
 *    smallest label of the current run; the four are repeated until no label changes.
 */
#include "research/cuda/pixels.cuh"

PIXEL_KERNEL (ccl_dpl_initialise, make_root)

/* Scans n pixels whose indices in the label buffer differ by step. */
static __device__ __forceinline__ void
propagate (const CclLabellingParameters &p, uint32_t first, uint32_t step, uint32_t n)
{
  uint32_t carried = 0;
  bool changed = false;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *label = &p.labels[first + i * step];
    if (carried && carried < *label) {
      *label = carried;
      changed = true;
    } else {
      carried = *label;
    }
  }
  if (changed)
    *p.changed = 1;
}

extern "C" __global__ void
ccl_dpl_rightwards (const CclLabellingParameters p)
{
  const uint32_t y = thread_row ();
  if (y < p.height)
    propagate (p, y * p.label_stride, 1, p.width);
}

extern "C" __global__ void
ccl_dpl_leftwards (const CclLabellingParameters p)
{
  const uint32_t y = thread_row ();
  if (y < p.height)
    propagate (p, y * p.label_stride + p.width - 1, (uint32_t)-1, p.width);
}

extern "C" __global__ void
ccl_dpl_downwards (const CclLabellingParameters p)
{
  const uint32_t x = thread_column ();
  if (x < p.width)
    propagate (p, x, p.label_stride, p.height);
}

extern "C" __global__ void
ccl_dpl_upwards (const CclLabellingParameters p)
{
  const uint32_t x = thread_column ();
  if (x < p.width)
    propagate (p, (p.height - 1) * p.label_stride + x, -p.label_stride, p.height);
}
