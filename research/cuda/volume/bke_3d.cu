/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BKE for volumes, Block-based Komura Equivalence with cubes of 2×2×2 voxels.
 *
 * Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on
 * GPUs, IEEE TPDS 31(2), 2020, section 5.3. 26-connectivity. One thread for each cube; the steps
 * are those of bke.cu. The information about a cube is an integer: bits 0 to 7 are its foreground
 * voxels in raster order, bits 8 to 20 the preceding cubes with which step 3 must unite it.
 *
 * The integer is stored in the label buffer at the cube's second voxel: to the right of the first,
 * else below it, else behind it. The last cube of a volume whose sides are all odd has one voxel
 * only. Its integer is stored at the last voxel of the preceding cube, in each direction that has
 * one, and that cube's thread writes its label. A volume that is one line of voxels needs a word
 * outside the label buffer.
 */
#include "cubes.cuh"
#include "cuda/kernel-lib/union-find.cuh"

#define VOXELS 0xffu
#define CONNECTED_SHIFT 8

/* The number of directions in which a cube has a preceding cube. */
static __device__ __forceinline__ uint32_t
n_directions_before (const Cube &cube)
{
  return (cube.x > 0) + (cube.y > 0) + (cube.z > 0);
}

static __device__ __forceinline__ bool
is_one_voxel (const CclLabellingParameters &p, const Cube &cube)
{
  return cube.x + 1 == p.width && cube.y + 1 == p.height && cube.z + 1 == p.depth;
}

static __device__ __forceinline__ uint32_t *
place_of_information (const CclLabellingParameters &p, const Cube &cube)
{
  if (cube.x + 1 < p.width)
    return &p.labels[cube.label + 1];
  if (cube.y + 1 < p.height)
    return &p.labels[cube.label + p.label_stride];
  if (cube.z + 1 < p.depth)
    return &p.labels[cube.label + p.label_slice];
  if (n_directions_before (cube) < 2)
    return (uint32_t *)p.scratch;
  return &p.labels[cube.label - (cube.x > 0) - (cube.y > 0) * p.label_stride -
                   (cube.z > 0) * p.label_slice];
}

extern "C" __global__ void
ccl_bke_3d_initialise (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const uint32_t voxels = voxels_of_cube (p, cube);
  uint32_t connected = connected_cubes (p, cube, voxels, N_CUBES_BEFORE);
  uint32_t parent = cube.label;
  if (connected) {
    /* The first connected cube becomes the parent and needs no union later. */
    parent = label_of_neighbour (p, cube, __ffs (connected) - 1);
    connected &= connected - 1;
  }
  p.labels[cube.label] = parent;
  *place_of_information (p, cube) = voxels | connected << CONNECTED_SHIFT;
}

CUBE_KERNEL (ccl_bke_3d_compress, compress_cube_inline)

CUBE_KERNEL (ccl_bke_3d_compress_at_end, compress_cube)

extern "C" __global__ void
ccl_bke_3d_reduce (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  uint32_t connected = *place_of_information (p, cube) >> CONNECTED_SHIFT;
  for (; connected; connected &= connected - 1)
    unite (p.labels, cube.label, label_of_neighbour (p, cube, __ffs (connected) - 1));
}

/* Whether, along a direction of that size, the cube that starts at the coordinate is the last cube,
 * one voxel long, or the cube right before it. */
static __device__ __forceinline__ bool
is_before_last (uint32_t coordinate, uint32_t size)
{
  return size == 1 || coordinate + 3 == size;
}

extern "C" __global__ void
ccl_bke_3d_label (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  if (is_one_voxel (p, cube) && n_directions_before (cube) >= 2)
    return; /* written by the thread of the cube that stores its information */

  const uint32_t voxels = *place_of_information (p, cube) & VOXELS;
  const uint32_t label = p.labels[cube.label] + 1;
  const bool is_host = is_before_last (cube.x, p.width) && is_before_last (cube.y, p.height) &&
                       is_before_last (cube.z, p.depth) &&
                       (p.width > 1) + (p.height > 1) + (p.depth > 1) >= 2;
  if (is_host) {
    Cube last;
    last.x = p.width - 1;
    last.y = p.height - 1;
    last.z = p.depth - 1;
    last.label = last.z * p.label_slice + last.y * p.label_stride + last.x;
    label_voxels (p, last, *place_of_information (p, last) & VOXELS, p.labels[last.label] + 1);
  }
  label_voxels (p, cube, voxels, label);
}
