/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words of 32 voxels, their places in tiles, and the runs in them; volume.cu explains both. */
#pragma once

#include "volume-parameters.h"
#include "cuda/kernel-lib/warp.cuh"

typedef CclVolumeParameters Parameters;

enum { THREADS = CUDACCL_VOLUME_THREADS };

/* The word of a thread. */
struct Place {
  uint32_t column; /* of words */
  uint32_t y, z;
  uint32_t word; /* index */
  bool exists;   /* is inside the volume */
};

/* The first word, row and slice of a tile. */
struct Corner {
  uint32_t column, y, z;
};

static __device__ __forceinline__ Corner
corner_of_tile (const Parameters &p, uint32_t tile, uint32_t depth_in_tiles)
{
  Corner corner;
  corner.column = tile % p.tile_columns << p.tile_x_shift;
  tile /= p.tile_columns;
  corner.y = tile % p.tile_rows << p.tile_y_shift;
  corner.z = tile / p.tile_rows * depth_in_tiles << p.tile_z_shift;
  return corner;
}

static __device__ __forceinline__ Place
place_in_tile (const Parameters &p, const Corner &corner)
{
  const uint32_t thread = threadIdx.x;
  Place place;
  place.column = corner.column + (thread & bits_below (p.tile_x_shift));
  place.y = corner.y + (thread >> p.tile_x_shift & bits_below (p.tile_y_shift));
  place.z = corner.z + (thread >> (p.tile_x_shift + p.tile_y_shift));
  place.word = (place.z * p.height + place.y) * p.row_words + place.column;
  place.exists = place.column < p.row_words && place.y < p.height && place.z < p.depth;
  return place;
}

static __device__ __forceinline__ Place
own_place (const Parameters &p)
{
  return place_in_tile (p, corner_of_tile (p, blockIdx.x, 1));
}

/* How many voxels of the word are inside the volume. */
static __device__ __forceinline__ uint32_t
n_voxels_of (const Parameters &p, const Place &place)
{
  return place.exists ? min (p.width - place.column * 32, 32u) : 0;
}

/* The first voxels of all runs. */
static __device__ __forceinline__ uint32_t
starts_of (uint32_t bits)
{
  return bits & ~(bits << 1);
}

/* The element of the run that holds a bit. */
static __device__ __forceinline__ uint32_t
element_of (const Parameters &p, uint32_t word, uint32_t bits, uint32_t bit)
{
  const uint32_t up_to_bit = FULL_WARP >> (31 - bit);
  return (word << p.element_shift) + __popc (starts_of (bits) & up_to_bit) - 1;
}

/* One past the last bit of the run that starts at a bit. */
static __device__ __forceinline__ uint32_t
end_of_run (uint32_t bits, uint32_t start)
{
  const uint32_t background = ~(bits >> start);
  return background ? start + __ffs (background) - 1 : 32;
}
