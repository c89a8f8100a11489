/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BE for volumes, Block Equivalence with cubes of 2×2×2 voxels.
 *
 * Zavalishin, Safonov, Bekhtin, Kurilin: Block Equivalence Algorithm for Labeling 2D and 3D
 * Images on GPU, Electronic Imaging 2016(2). 26-connectivity. As in be.cu; the array of
 * connections has a word for each cube, bits in the order of cubes.cuh.
 */
#include "cubes.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* The arrays of cubes. */
struct Cubes {
  uint32_t stride, slice; /* elements from row to row, from slice to slice */
  uint32_t *labels;       /* numbered from 1 */
  uint32_t *connected;    /* numbered from 1 */
};

static __device__ __forceinline__ Cubes
cubes_of (const CclLabellingParameters &p)
{
  Cubes cubes;
  cubes.stride = p.label_stride / 2;
  cubes.slice = cubes.stride * ((p.height + 1) / 2);
  cubes.labels = (uint32_t *)p.scratch - 1;
  cubes.connected = cubes.labels + (size_t)cubes.slice * ((p.depth + 1) / 2);
  return cubes;
}

static __device__ __forceinline__ uint32_t
number_of (const Cubes &cubes, const Cube &cube)
{
  return cube.z / 2 * cubes.slice + cube.y / 2 * cubes.stride + cube.x / 2 + 1;
}

extern "C" __global__ void
ccl_be_3d_initialise (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const Cubes cubes = cubes_of (p);
  const uint32_t number = number_of (cubes, cube), voxels = voxels_of_cube (p, cube);
  cubes.labels[number] = voxels ? number : 0;
  cubes.connected[number] = connected_cubes (p, cube, voxels, 2 * N_CUBES_BEFORE + 1);
}

extern "C" __global__ void
ccl_be_3d_scan (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const Cubes cubes = cubes_of (p);
  const uint32_t number = number_of (cubes, cube), label = cubes.labels[number];
  uint32_t least = label;
  for (uint32_t connected = cubes.connected[number]; connected; connected &= connected - 1) {
    const int i = __ffs (connected) - 1;
    const uint32_t dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
    least = min (least, cubes.labels[number + dx + dy * cubes.stride + dz * cubes.slice]);
  }
  if (least < label) {
    if (cubes.labels[label] > least)
      cubes.labels[label] = least;
    *p.changed = 1;
  }
}

extern "C" __global__ void
ccl_be_3d_analyse (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const Cubes cubes = cubes_of (p);
  const uint32_t number = number_of (cubes, cube);
  if (cubes.labels[number])
    compress (cubes.labels, number);
}

extern "C" __global__ void
ccl_be_3d_label (const CclLabellingParameters p)
{
  const Cube cube = own_cube (p);
  if (!cube.exists)
    return;
  const Cubes cubes = cubes_of (p);
  const uint32_t root = cubes.labels[number_of (cubes, cube)] - 1;
  const uint32_t z = root / cubes.slice, y = root % cubes.slice / cubes.stride;
  const uint32_t x = root % cubes.stride;
  label_voxels (
      p, cube, voxels_of_cube (p, cube), 2 * (z * p.label_slice + y * p.label_stride + x) + 1);
}
