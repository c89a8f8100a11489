/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UF for volumes.
 *
 * Union-find (uf.cu) with the neighbours of a voxel, without tiles; as in the review by Bolelli et
 * al., IEEE TPDS 2024, section III-B-1, and Allegretti, Bolelli, Cancilla, Grana, IPAS 2018.
 * 6, 18 and 26-connectivity. One thread for each voxel:
 *
 * 1. initialise: each foreground voxel is the root of its own tree.
 * 2. merge: unites a voxel with the foreground neighbours that precede it.
 * 3. compress.
 */
#include "cubes.cuh"
#include "cuda/kernel-lib/union-find.cuh"

/* The voxel of a thread. */
struct Voxel {
  uint32_t x, y, z;
  uint32_t number; /* label buffer index plus one */
  bool exists;
};

static __device__ __forceinline__ Voxel
own_voxel (const CclLabellingParameters &p)
{
  Voxel voxel;
  voxel.x = thread_column ();
  voxel.y = thread_row_of_slice (p);
  voxel.z = thread_slice (p);
  voxel.number = voxel.z * p.label_slice + voxel.y * p.label_stride + voxel.x + 1;
  voxel.exists = voxel.x < p.width && voxel.y < p.height && voxel.z < p.depth;
  return voxel;
}

extern "C" __global__ void
ccl_uf_3d_initialise (const CclLabellingParameters p)
{
  const Voxel voxel = own_voxel (p);
  if (voxel.exists)
    p.labels[voxel.number - 1] =
        is_foreground_voxel (p, voxel.x, voxel.y, voxel.z) ? voxel.number : 0;
}

extern "C" __global__ void
ccl_uf_3d_merge (const CclLabellingParameters p)
{
  const Voxel voxel = own_voxel (p);
  uint32_t *parents = p.labels - 1;
  if (!voxel.exists || !parents[voxel.number])
    return;
  /* The number of coordinates in which neighbours may differ. */
  const int most_different = p.connectivity == 6 ? 1 : p.connectivity == 18 ? 2 : 3;
  for (int i = 0; i < N_CUBES_BEFORE; i++) {
    const int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
    const uint32_t x = voxel.x + dx, y = voxel.y + dy, z = voxel.z + dz;
    if ((dx != 0) + (dy != 0) + (dz != 0) > most_different || x >= p.width || y >= p.height ||
        z >= p.depth)
      continue;
    const uint32_t other = z * p.label_slice + y * p.label_stride + x + 1;
    if (parents[other])
      unite (parents, voxel.number, other);
  }
}

extern "C" __global__ void
ccl_uf_3d_compress (const CclLabellingParameters p)
{
  const Voxel voxel = own_voxel (p);
  uint32_t *parents = p.labels - 1;
  if (voxel.exists && parents[voxel.number])
    compress (parents, voxel.number);
}
