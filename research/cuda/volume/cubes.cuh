/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cubes of 2×2×2 voxels, the counterpart of blocks of 2×2 pixels (blocks.cuh): with
 * 26-connectivity, all foreground voxels of a cube belong to one component.
 *
 * The 26 cubes around a cube X are numbered in raster order, so that 0 to 12 come before X, which
 * is number 13 itself. The 4×4×4 voxels with X in their middle are numbered in raster order, too,
 * from 0 to 63 (TPDS 2020, figure 9).
 */
#pragma once

#include "cuda/kernel-lib/foreground.cuh"
#include "cuda/kernel-lib/geometry.cuh"
#include "cuda/kernel-lib/union-find.cuh"

#define N_CUBES_BEFORE 13

/* The thread's slice among all threads of a volume's grid. The grid of a single slice may be
 * wrapped, as a frame's. */
static __device__ __forceinline__ uint32_t
thread_slice (const CclLabellingParameters &p)
{
  return p.depth == 1 ? threadIdx.z : blockIdx.z * blockDim.z + threadIdx.z;
}

/* The thread's row in its slice. */
static __device__ __forceinline__ uint32_t
thread_row_of_slice (const CclLabellingParameters &p)
{
  return p.depth == 1 ? thread_row () : blockIdx.y * blockDim.y + threadIdx.y;
}

/* Whether a voxel, which may be outside the volume, is foreground. Coordinates before the volume
 * wrap around to great numbers. */
static __device__ __forceinline__ bool
is_foreground_voxel (const CclLabellingParameters &p, uint32_t x, uint32_t y, uint32_t z)
{
  return x < p.width && y < p.height && z < p.depth &&
         is_foreground (p, p.frame[z * p.frame_slice + y * p.frame_stride + x]);
}

/* The cube of a thread. */
struct Cube {
  uint32_t x, y, z; /* its first voxel */
  uint32_t label;   /* that voxel's index in the label buffer, where the cube's label lies */
  bool exists;      /* is inside the volume */
};

static __device__ __forceinline__ Cube
own_cube (const CclLabellingParameters &p)
{
  Cube cube;
  cube.x = 2 * thread_column ();
  cube.y = 2 * thread_row_of_slice (p);
  cube.z = 2 * thread_slice (p);
  cube.label = cube.z * p.label_slice + cube.y * p.label_stride + cube.x;
  cube.exists = cube.x < p.width && cube.y < p.height && cube.z < p.depth;
  return cube;
}

/* The foreground voxels of a cube, bits in raster order. */
static __device__ __forceinline__ uint32_t
voxels_of_cube (const CclLabellingParameters &p, const Cube &cube)
{
  uint32_t voxels = 0;
  for (uint32_t i = 0; i < 8; i++)
    voxels |= is_foreground_voxel (p, cube.x + i % 2, cube.y + i / 2 % 2, cube.z + i / 4) << i;
  return voxels;
}

/* Which of the cubes around one, up to but not including end, it is connected to. */
static __device__ __forceinline__ uint32_t
connected_cubes (const CclLabellingParameters &p, const Cube &cube, uint32_t voxels, int end)
{
  /* The 3×3×3 voxels around each foreground voxel. */
  uint64_t around = 0;
  for (uint32_t i = 0; i < 8; i++) {
    if (voxels >> i & 1)
      around |= 0x0000077707770777ull << (i % 2 + i / 2 % 2 * 4 + i / 4 * 16);
  }
  uint32_t connected = 0;
#pragma unroll
  for (int i = 0; i < end; i++) {
    if (i == N_CUBES_BEFORE)
      continue;
    /* The neighbour's voxels among the 4×4×4: one layer, or two in the directions in which it is
     * level with X. */
    const int dx = i % 3, dy = i / 3 % 3, dz = i / 9;
    const int first_x = dx == 0 ? 0 : 2 * dx - 1, n_x = dx == 1 ? 2 : 1;
    const int first_y = dy == 0 ? 0 : 2 * dy - 1, n_y = dy == 1 ? 2 : 1;
    const int first_z = dz == 0 ? 0 : 2 * dz - 1, n_z = dz == 1 ? 2 : 1;
    bool is_connected = false;
    for (int z = first_z; z < first_z + n_z; z++) {
      for (int y = first_y; y < first_y + n_y; y++) {
        for (int x = first_x; x < first_x + n_x; x++) {
          if (!is_connected && (around >> (z * 16 + y * 4 + x) & 1))
            is_connected = is_foreground_voxel (p, cube.x + x - 1, cube.y + y - 1, cube.z + z - 1);
        }
      }
    }
    connected |= is_connected << i;
  }
  return connected;
}

/* The index of a cube's label, given that of the cube whose neighbour number i it is. */
static __device__ __forceinline__ uint32_t
label_of_neighbour (const CclLabellingParameters &p, const Cube &cube, int i)
{
  const uint32_t dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
  return cube.label + 2 * (dx + dy * p.label_stride + dz * p.label_slice);
}

/* Writes the label to the foreground voxels of the cube and 0 to the others. */
static __device__ __forceinline__ void
label_voxels (const CclLabellingParameters &p, const Cube &cube, uint32_t voxels, uint32_t label)
{
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t dx = i % 2, dy = i / 2 % 2, dz = i / 4;
    if (cube.x + dx < p.width && cube.y + dy < p.height && cube.z + dz < p.depth)
      p.labels[cube.label + dx + dy * p.label_stride + dz * p.label_slice] =
          voxels >> i & 1 ? label : 0;
  }
}

/* A kernel whose threads take step (p, cube), one for each cube of the volume. */
#define CUBE_KERNEL(name, step)                                                                    \
  extern "C" __global__ void name (const CclLabellingParameters p)                                 \
  {                                                                                                \
    const Cube cube = own_cube (p);                                                                \
    if (cube.exists)                                                                               \
      step (p, cube);                                                                              \
  }

/* Links a cube to its root, as compress_block() and compress_block_inline() do. */
static __device__ __forceinline__ void
compress_cube (const CclLabellingParameters &p, const Cube &cube)
{
  compress (p.labels, cube.label);
}

static __device__ __forceinline__ void
compress_cube_inline (const CclLabellingParameters &p, const Cube &cube)
{
  compress_inline (p.labels, cube.label);
}
