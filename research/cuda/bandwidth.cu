/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bandwidth bounds: every labeller must read one byte per pixel, and write four bytes per pixel for
 * a label map. These kernels do nothing else. A thread accesses 16 or 4 pixels at a time where the
 * alignment allows it.
 */
#include "bandwidth-parameters.h"
#include "cuda/kernel-lib/geometry.cuh"

/* Reads one byte per pixel. The condition of the write, which keeps the compiler from removing the
 * reads, is practically never true. */
extern "C" __global__ void
ccl_bandwidth_read (const CclBandwidthParameters p)
{
  const uint32_t x = 16 * thread_column (), y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint8_t *pixels = p.frame + y * p.frame_stride + x;
  uint32_t sum = 0;
  if (x + 16 <= p.width && (size_t)pixels % 16 == 0) {
    const uint4 quads = *(const uint4 *)pixels;
    sum = quads.x ^ quads.y ^ quads.z ^ quads.w;
  } else {
    for (uint32_t i = 0; i < 16 && x + i < p.width; i++)
      sum = sum << 5 ^ pixels[i] ^ sum >> 27;
  }
  if (sum == 0x9e3779b9)
    p.labels[0] = sum;
}

/* Reads one byte and writes four bytes per pixel. */
extern "C" __global__ void
ccl_bandwidth_read_write (const CclBandwidthParameters p)
{
  const uint32_t x = 4 * thread_column (), y = thread_row ();
  if (x >= p.width || y >= p.height)
    return;
  const uint8_t *pixels = p.frame + y * p.frame_stride + x;
  uint32_t *labels = p.labels + y * p.label_stride + x;
  if (x + 4 <= p.width && (size_t)pixels % 4 == 0 && (size_t)labels % 16 == 0) {
    const uchar4 quad = *(const uchar4 *)pixels;
    *(uint4 *)labels = make_uint4 (quad.x, quad.y, quad.z, quad.w);
  } else {
    for (uint32_t i = 0; i < 4 && x + i < p.width; i++)
      labels[i] = pixels[i];
  }
}
