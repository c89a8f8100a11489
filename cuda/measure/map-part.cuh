/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of labels: what is summed of some pixels of a tile, and how it is added to the sums of the
 * map in device memory. */
#ifndef CUDACCL_MEASURE_MAP_PART_CUH
#define CUDACCL_MEASURE_MAP_PART_CUH

#include "measure-map-parameters.h"
#include "totals.cuh"

/* The words that are summed of a part, x, y and z in coordinates of its tile. Sums over values have
 * two words (split_total()): a label has at most 2^12 runs in the 2^13 pixels of a tile. Maxima
 * come last, in coordinates of the map; the least value of something is the maximum of its
 * complement, so that all of nothing is 0. */
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
  CRACK_LENGTH,
  EULER_4, /* negative numbers modulo 2^32 */
  EULER_8,
  STRAIGHT,
  DIAGONAL,
  MIXED,
  VALUE,
  SQUARES = VALUE + 2,
  VALUE_X = SQUARES + 2,
  VALUE_Y = VALUE_X + 2,
  VALUE_Z = VALUE_Y + 2,
  FIRST_MAXIMUM = VALUE_Z + 2,
  LEAST_X = FIRST_MAXIMUM,
  LEAST_Y,
  LEAST_Z,
  GREATEST_X,
  GREATEST_Y,
  GREATEST_Z,
  FIRST, /* of pixels in raster order */
  LEAST_VALUE,
  GREATEST_VALUE,
  N_COUNTS
};

struct Part {
  uint32_t counts[N_COUNTS];
};

/* The pixel of a tile with the least coordinates. */
struct Corner {
  uint32_t x, y, z;
};

static __device__ __forceinline__ Corner
corner_of_tile (const CclMapParameters &p, uint32_t tile)
{
  const uint32_t row = tile / p.tile_columns;
  return {tile % p.tile_columns * 32, row % p.tile_rows << p.tile_y_shift,
      row / p.tile_rows << (p.rows_shift - p.tile_y_shift)};
}

/* Whether a kernel with these flags needs a count. */
template <uint32_t FLAGS>
static __device__ __forceinline__ constexpr bool
is_measured (uint32_t count)
{
  const uint32_t flag = count < XX || (count >= LEAST_X && count <= FIRST) ? FLAGS
                        : count < CRACK_LENGTH                             ? CUDACCL_MAP_MOMENTS
                        : count < VALUE                                    ? CUDACCL_MAP_NEIGHBOURS
                                                                           : CUDACCL_MAP_VALUES;
  return (FLAGS & flag) == flag;
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

/* The box and the first pixel of a run in the row (y, z) of the map. */
static __device__ __forceinline__ void
add_box (const CclMapParameters &p, Part &part, const Corner &corner, uint32_t begin, uint32_t end,
    uint32_t y, uint32_t z)
{
  uint32_t *const c = part.counts;
  c[LEAST_X] = ~(corner.x + begin);
  c[LEAST_Y] = ~y;
  c[LEAST_Z] = ~z;
  c[GREATEST_X] = corner.x + end - 1;
  c[GREATEST_Y] = y;
  c[GREATEST_Z] = z;
  c[FIRST] = ~((z * p.height + y) * p.width + corner.x + begin); /* below 2^31 */
}

/* ---- to device memory ---- */

static __device__ __forceinline__ void
add_signed (int64_t *to, uint32_t value)
{
  add_long ((uint64_t *)to, (Long)(int64_t)(int32_t)value);
}

/* The lower half carries to the upper one, whatever the order in which others add. */
static __device__ __forceinline__ void
add_wide (CclWide *to, CclWide value)
{
  Long *const halves = (Long *)to;
  const Long low = (Long)value;
  Long high = (Long)(value >> 64);
  if (low)
    high += atomicAdd (&halves[0], low) + low < low;
  if (high)
    atomicAdd (&halves[1], high);
}

static __device__ __forceinline__ void
raise_word (uint32_t *to, uint32_t value)
{
  if (value > *(volatile uint32_t *)to)
    atomicMax (to, value);
}

static __device__ __forceinline__ void
add_moments (CclMeasures *to, const Corner &corner, const uint32_t *c)
{
  const CclWide left = corner.x, top = corner.y, front = corner.z, n = c[N_PIXELS];
  add_wide (&to->sum_xx, (n * left + 2 * c[X]) * left + c[XX]);
  add_wide (&to->sum_yy, (n * top + 2 * c[Y]) * top + c[YY]);
  add_wide (&to->sum_xy, (n * left + c[X]) * top + c[Y] * left + c[XY]);
  add_wide (&to->sum_zz, (n * front + 2 * c[Z]) * front + c[ZZ]);
  add_wide (&to->sum_xz, (n * left + c[X]) * front + c[Z] * left + c[XZ]);
  add_wide (&to->sum_yz, (n * top + c[Y]) * front + c[Z] * top + c[YZ]);
}

static __device__ __forceinline__ void
add_intensity (CclMeasures *to, const Corner &corner, const uint32_t *c)
{
  const CclWide value = join_total (&c[VALUE]);
  add_long (&to->sum_value, (Long)value);
  add_wide (&to->sum_squares, join_total (&c[SQUARES]));
  add_wide (&to->sum_value_x, value * corner.x + join_total (&c[VALUE_X]));
  add_wide (&to->sum_value_y, value * corner.y + join_total (&c[VALUE_Y]));
  add_wide (&to->sum_value_z, value * corner.z + join_total (&c[VALUE_Z]));
  raise_word (&to->least_value, c[LEAST_VALUE]);
  raise_word (&to->greatest_value, c[GREATEST_VALUE]);
}

static __device__ __forceinline__ void
add_measures (uint32_t columns, CclMeasures *to, const Corner &corner, const uint32_t *c)
{
  /* The complement of a number of 32 bits in 64. */
  atomicMax ((Long *)&to->first, ~(Long)(uint32_t)~c[FIRST]);
  if (columns & CUDACCL_COLUMN_MOMENTS)
    add_moments (to, corner, c);
  if (columns & CUDACCL_COLUMN_TOPOLOGY) {
    add_signed (&to->crack_length, c[CRACK_LENGTH]);
    add_signed (&to->euler_number_4, c[EULER_4]);
    add_signed (&to->euler_number_8, c[EULER_8]);
  }
  if (columns & CUDACCL_COLUMN_PERIMETER) {
    add_long (&to->n_straight, c[STRAIGHT]);
    add_long (&to->n_diagonal, c[DIAGONAL]);
    add_long (&to->n_mixed, c[MIXED]);
  }
  if (columns & CUDACCL_COLUMN_INTENSITY)
    add_intensity (to, corner, c);
}

/* Adds a part of a tile to the sums of its label, in coordinates of the map. A function of its own,
 * so that the parts of those that call it stay in registers: they give it a copy. */
static __device__ __noinline__ void
add_to_map (CclPart *to, CclMeasures *measures, uint32_t columns, Corner corner, const Part &part)
{
  const uint32_t *const c = part.counts;
  const Long n = c[N_PIXELS];
  add_long (&to->area, n);
  add_long (&to->sum_x, n * corner.x + c[X]);
  add_long (&to->sum_y, n * corner.y + c[Y]);
  add_long (&to->sum_z, n * corner.z + c[Z]);
  raise_word (&to->least_x, c[LEAST_X]);
  raise_word (&to->least_y, c[LEAST_Y]);
  raise_word (&to->least_z, c[LEAST_Z]);
  raise_word (&to->greatest_x, c[GREATEST_X]);
  raise_word (&to->greatest_y, c[GREATEST_Y]);
  raise_word (&to->greatest_z, c[GREATEST_Z]);
  if (columns)
    add_measures (columns, measures, corner, c);
}

#endif /* CUDACCL_MEASURE_MAP_PART_CUH */
