/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of labels: what is summed of some pixels of a tile, and how it is added to the sums of the
 * map in device memory. */
#pragma once

#include "measure-map-parameters.h"
#include "cuda/kernel-lib/warp.cuh"
#include "picture-sums.cuh"
#include "value-sums.cuh"

/* The words that are summed of a part, x, y and z in coordinates of its tile, and the words of its
 * values. Maxima come last, those of the box in coordinates of the map; the least value of
 * something is the maximum of its complement, so that all of nothing is 0. */
enum Count {
  N_PIXELS,
  X,
  Y,
  Z,
  XX,
  YY,
  ZZ,
  XY,
  XZ,
  YZ,
/* Those that depend on neighbours; negative numbers modulo 2^32. */
#define COUNT(column, type, field, combine) CCL_NEIGHBOURS_##column (COUNT_##field, )
  CCL_MEASURE_FIELDS (COUNT)
#undef COUNT
      VALUE_Z, /* two words */
  VALUES = VALUE_Z + 2,
  FIRST_MAXIMUM = VALUES + LEAST,
  LEAST_X = VALUES + N_VALUE_WORDS,
  LEAST_Y,
  LEAST_Z,
  GREATEST_X,
  GREATEST_Y,
  GREATEST_Z,
  FIRST, /* pixel in raster order, of the tile */
  N_COUNTS
};

enum { LOWER_BITS = 20 }; /* a label has at most 2^12 runs in the 2^13 pixels of a tile */

struct Part {
  uint32_t counts[N_COUNTS];
};

/* The number of a pixel in its tile: rows of all slices, 32 pixels each, one after the other. */
static __device__ __forceinline__ constexpr uint32_t
place_in_tile (uint32_t x, uint32_t row)
{
  return row << 8 | x;
}

/* A tile: its first pixel, the rows of its slices, and the map. */
struct Corner {
  uint32_t x, y, z;
  uint32_t y_shift, width, height;

  /* The number of a pixel of the tile in the map, which is below 2^31. */
  __device__ __forceinline__ uint32_t
  number (uint32_t place) const
  {
    const uint32_t row = place >> 8;
    return ((z + (row >> y_shift)) * height + y + (row & bits_below (y_shift))) * width + x +
           (place & 0xff);
  }
};

static __device__ __forceinline__ Corner
corner_of_tile (const CclMapParameters &p, uint32_t tile)
{
  const uint32_t row = tile / p.tile_columns;
  return {tile % p.tile_columns * 32, row % p.tile_rows << p.tile_y_shift,
      row / p.tile_rows << (p.rows_shift - p.tile_y_shift), p.tile_y_shift, p.width, p.height};
}

/* Whether a kernel with these flags needs a count. */
template <uint32_t FLAGS>
static __device__ __forceinline__ constexpr bool
is_measured (uint32_t count)
{
  const uint32_t flag = count < XX || count >= LEAST_X ? FLAGS
                        : count <= YZ                  ? CUDACCL_MAP_MOMENTS
                        : count < VALUE_Z              ? CUDACCL_MAP_NEIGHBOURS
                                                       : CUDACCL_MAP_VALUES;
  return (FLAGS & flag) == flag;
}

/* The columns of measures that a kernel with these flags has. */
static __device__ __forceinline__ constexpr uint32_t
columns_of (uint32_t flags)
{
  return (flags & CUDACCL_MAP_MOMENTS ? CUDACCL_COLUMN_MOMENTS : 0) |
         (flags & CUDACCL_MAP_NEIGHBOURS ? CUDACCL_COLUMN_TOPOLOGY | CUDACCL_COLUMN_PERIMETER : 0) |
         (flags & CUDACCL_MAP_VALUES ? CUDACCL_COLUMN_INTENSITY : 0);
}

/* The sum of the squares of 0…n - 1. */
static __device__ __forceinline__ uint32_t
sum_of_squares (uint32_t n)
{
  return n ? (n - 1) * n * (2 * n - 1) / 6 : 0;
}

/* The sums of coordinates of a run in the row (y, z) of a tile. */
static __device__ __forceinline__ void
add_coordinates (Part &part, uint32_t begin, uint32_t end, uint32_t y, uint32_t z)
{
  const uint32_t n = end - begin, x = n * (begin + end - 1) / 2;
  uint32_t *const c = part.counts;
  c[N_PIXELS] = n;
  c[X] = x;
  c[Y] = n * y;
  c[Z] = n * z;
  c[XX] = sum_of_squares (end) - sum_of_squares (begin);
  c[YY] = n * y * y;
  c[ZZ] = n * z * z;
  c[XY] = x * y;
  c[XZ] = x * z;
  c[YZ] = n * y * z;
}

/* The box and the first pixel of a run in a row of a tile, at (y, z) of the map. */
static __device__ __forceinline__ void
add_box (Part &part, const Corner &corner, uint32_t begin, uint32_t end, uint32_t row, uint32_t y,
    uint32_t z)
{
  uint32_t *const c = part.counts;
  c[LEAST_X] = ~(corner.x + begin);
  c[LEAST_Y] = ~y;
  c[LEAST_Z] = ~z;
  c[GREATEST_X] = corner.x + end - 1;
  c[GREATEST_Y] = y;
  c[GREATEST_Z] = z;
  c[FIRST] = ~place_in_tile (begin, row);
}

/* ---- to device memory ---- */

/* What a part adds to the row of its label, in coordinates of the map. */
static __device__ __forceinline__ CclPart
part_of_map (const Corner &corner, const uint32_t *c)
{
  const Long n = c[N_PIXELS];
  CclPart part;
  part.area = n;
  part.sum_x = n * corner.x + c[X];
  part.sum_y = n * corner.y + c[Y];
  part.sum_z = n * corner.z + c[Z];
  part.least_x = ~c[LEAST_X];
  part.least_y = ~c[LEAST_Y];
  part.least_z = ~c[LEAST_Z];
  part.greatest_x = c[GREATEST_X];
  part.greatest_y = c[GREATEST_Y];
  part.greatest_z = c[GREATEST_Z];
  return part;
}

static __device__ __forceinline__ void
set_moments (CclMeasures &m, const Corner &corner, const uint32_t *c)
{
  const CclWide left = corner.x, top = corner.y, front = corner.z, n = c[N_PIXELS];
  m.sum_xx = (n * left + 2 * c[X]) * left + c[XX];
  m.sum_yy = (n * top + 2 * c[Y]) * top + c[YY];
  m.sum_zz = (n * front + 2 * c[Z]) * front + c[ZZ];
  m.sum_xy = (n * left + c[X]) * top + c[Y] * left + c[XY];
  m.sum_xz = (n * left + c[X]) * front + c[Z] * left + c[XZ];
  m.sum_yz = (n * top + c[Y]) * front + c[Z] * top + c[YZ];
}

static __device__ __forceinline__ void
set_count (uint64_t *to, uint32_t count)
{
  *to = count;
}

static __device__ __forceinline__ void
set_count (int64_t *to, uint32_t count)
{
  *to = (int32_t)count;
}

/* What a part adds to the measures of its label, in coordinates of the map. */
static __device__ __forceinline__ CclMeasures
measures_of_map (const Corner &corner, const uint32_t *c)
{
  CclMeasures m;
  m.first = corner.number (~c[FIRST]);
  set_moments (m, corner, c);
#define SET(column, type, field, combine)                                                          \
  CCL_NEIGHBOURS_##column (set_count (&m.field, c[COUNT_##field]);)
  CCL_MEASURE_FIELDS (SET)
#undef SET
  set_values<LOWER_BITS> (m, &c[VALUES], corner);
  m.sum_value_z = m.sum_value * corner.z + join_total<LOWER_BITS> (&c[VALUE_Z]);
  return m;
}

/* Adds a part of a tile to the sums of its label, in coordinates of the map. A function of its own,
 * so that the parts of those that call it stay in registers: they give it a copy. The measures that
 * a kernel with these flags lacks are not computed, as nothing reads them. */
template <uint32_t FLAGS>
static __device__ __noinline__ void
add_to_map (CclPart *to, CclMeasures *measures, uint32_t columns, Corner corner, const Part &part)
{
  add_part (to, part_of_map (corner, part.counts));
  if (columns)
    add_measures (measures, measures_of_map (corner, part.counts), columns & columns_of (FLAGS));
}
