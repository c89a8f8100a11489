/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BUF for volumes, Block-based Union-Find with cubes of 2×2×2 voxels.
 *
 * Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on
 * GPUs, IEEE TPDS 31(2), 2020, section 5.3. 26-connectivity. One thread for each cube. As in
 * buf.cu, except that merge stores a byte with the foreground voxels of each cube for the last
 * step.
 *
 * As in the paper and in bke.cu, the byte is stored in the label buffer beside the cube's label. A
 * cube of one voxel has no room for it; the last step reads that voxel from the volume again.
 */
#include "cubes.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* The word that stores a cube's foreground voxels; NULL for a cube without a second voxel. */
static __device__ __forceinline__ uint32_t *
place_of_voxels (const CclLabellingParameters &p, const Cube &cube)
{
  if (cube.x + 1 < p.width)
    return &p.labels[cube.label + 1];
  if (cube.y + 1 < p.height)
    return &p.labels[cube.label + p.label_stride];
  if (cube.z + 1 < p.depth)
    return &p.labels[cube.label + p.label_slice];
  return NULL;
}

extern "C" __global__ void
ccl_buf_3d_initialise (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (cube.exists)
    p.labels[cube.label] = cube.label;
}

extern "C" __global__ void
ccl_buf_3d_merge (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const uint32_t voxels = voxels_of_cube (p, cube);
  uint32_t *place = place_of_voxels (p, cube);
  if (place)
    *place = voxels;
  const uint32_t connected = connected_cubes (p, cube, voxels, N_CUBES_BEFORE);
  for (int i = 0; i < N_CUBES_BEFORE; i++) {
    if (connected >> i & 1)
      unite (p.labels, cube.label, label_of_neighbour (p, cube, i));
  }
}

CUBE_KERNEL (ccl_buf_3d_compress, compress_cube_inline)

CUBE_KERNEL (ccl_buf_3d_compress_at_end, compress_cube)

extern "C" __global__ void
ccl_buf_3d_label (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const uint32_t *place = place_of_voxels (p, cube);
  const uint32_t voxels = place ? *place : is_foreground_voxel (p, cube.x, cube.y, cube.z);
  label_voxels (p, cube, voxels, p.labels[cube.label] + 1);
}
