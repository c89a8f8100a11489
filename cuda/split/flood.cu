/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flood of labels from markers, with the ties of cpu/split/split.c, which takes pixels from a
 * heap: those of the lowest level first, of equal ones those that came first.
 *
 * A pixel's level is its depth or the level of the pixel that reaches it, whichever is greater. In
 * a level, the heap is a queue: first come the pixels that were reached from lower levels, and the
 * markers, which are generation 0; then those that these reach, generation 1, and so on. Level
 * and generation together are the time of a pixel. The earliest of its neighbours reaches it, so
 * that its time follows from theirs: it is that of a shortest path, and does not depend on the
 * order in which threads find it.
 *
 * Of neighbours of the same time, the one that came first reaches the pixel. Markers came first, in
 * raster order. Of two other pixels, the one came first that the earlier pixel reached. These
 * pixels are of earlier times. So each pixel is decided once, when its earliest neighbours are.
 * Which of two pixels came first that one pixel reached makes no difference: they have the same
 * marker, and whatever they are compared with later is compared with that pixel.
 *
 * 1. begin: the times of markers.
 * 2. find_times: passes until no time changes. A thread writes its pixels alone; times only fall.
 * 3. find_origins: passes until no more pixel is decided.
 * 4. write: the number of each pixel's marker.
 *
 * In a pass, a block goes over its tile several times. What it reads of other tiles may be old:
 * that leaves work to the next pass.
 */
#include "flood-parameters.h"

typedef CclMapFloodParameters Parameters;

enum {
  COLUMNS = CUDACCL_MAP_FLOOD_COLUMNS,
  ROWS = CUDACCL_MAP_FLOOD_ROWS,
  THREADS = COLUMNS * ROWS,
};

struct Pixel {
  uint32_t x, y, z;
  bool exists;
};

static __device__ __forceinline__ uint64_t
number_of (const Parameters &p, const Pixel &pixel)
{
  return ((uint64_t)pixel.z * p.height + pixel.y) * p.width + pixel.x;
}

static __device__ __forceinline__ uint32_t *
at (const CclWordMap &map, const Pixel &pixel)
{
  return map.words + pixel.z * map.slice + pixel.y * map.row + pixel.x;
}

/* The thread's pixel of a tile. */
static __device__ __forceinline__ Pixel
pixel_of_tile (const Parameters &p, uint64_t tile)
{
  const uint32_t column = (uint32_t)(tile % p.tile_columns),
                 rest = (uint32_t)(tile / p.tile_columns);
  Pixel pixel;
  pixel.x = column * COLUMNS + threadIdx.x % COLUMNS;
  pixel.y = rest % p.tile_rows * ROWS + threadIdx.x / COLUMNS;
  pixel.z = rest / p.tile_rows;
  pixel.exists = pixel.x < p.width && pixel.y < p.height;
  return pixel;
}

static __device__ __forceinline__ Pixel
step_from (const Parameters &p, const Pixel &pixel, const CclFloodStep &step, bool is_back)
{
  Pixel other;
  other.x = is_back ? pixel.x - (uint32_t)step.x : pixel.x + (uint32_t)step.x;
  other.y = is_back ? pixel.y - (uint32_t)step.y : pixel.y + (uint32_t)step.y;
  other.z = is_back ? pixel.z - (uint32_t)step.z : pixel.z + (uint32_t)step.z;
  other.exists = other.x < p.width && other.y < p.height && other.z < p.depth;
  return other;
}

/* Other threads may write the value meanwhile. */
static __device__ __forceinline__ uint64_t
load (const uint64_t *values, uint64_t number)
{
  return *(const volatile uint64_t *)&values[number];
}

static __device__ __forceinline__ void
store (uint64_t *values, uint64_t number, uint64_t value)
{
  *(volatile uint64_t *)&values[number] = value;
}

static __device__ __forceinline__ bool
is_marker (uint64_t origin)
{
  return (uint32_t)origin == CUDACCL_MAP_FLOOD_MARKER;
}

/* ---- begin ---- */

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_map_flood_begin (const __grid_constant__ Parameters p)
{
  const uint64_t n_tiles = (uint64_t)p.tile_columns * p.tile_rows * p.depth;

  for (uint64_t tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
    const Pixel pixel = pixel_of_tile (p, tile);
    if (!pixel.exists)
      continue;
    const uint64_t number = number_of (p, pixel);
    uint32_t *const object = at (p.objects, pixel);
    uint64_t time = CUDACCL_MAP_FLOOD_NONE, origin = CUDACCL_MAP_FLOOD_NONE;
    if (*at (p.labels, pixel) == 0)
      *object = 0;
    else if (*object) {
      time = (uint64_t) ~*at (p.squared, pixel) << 32;
      origin = number << 32 | CUDACCL_MAP_FLOOD_MARKER;
    }
    p.times[number] = time;
    p.origins[number] = origin;
  }
}

/* ---- find_times ---- */

/* Finds an earlier time of a pixel. Returns whether there was one. */
static __device__ __forceinline__ bool
find_time (const Parameters &p, const Pixel &pixel)
{
  const uint64_t number = number_of (p, pixel), own = load (p.times, number);
  const uint32_t label = *at (p.labels, pixel);
  uint64_t earliest = CUDACCL_MAP_FLOOD_NONE;

  if (label == 0 || is_marker (p.origins[number]))
    return false;
  for (uint32_t i = 0; i < p.n_steps; i++) {
    const Pixel other = step_from (p, pixel, p.steps[i], false);
    if (other.exists && *at (p.labels, other) == label)
      earliest = min (earliest, load (p.times, number_of (p, other)));
  }
  if (earliest == CUDACCL_MAP_FLOOD_NONE)
    return false;
  const uint32_t depth = ~*at (p.squared, pixel);
  const uint64_t time = depth > (uint32_t)(earliest >> 32) ? (uint64_t)depth << 32 : earliest + 1;
  if (time >= own)
    return false;
  store (p.times, number, time);
  return true;
}

/* ---- find_origins ---- */

enum Order { FIRST, SECOND, UNKNOWN };

/* Which of two pixels of the same time came first; UNKNOWN where one before them is not decided
 * yet. */
static __device__ __forceinline__ Order
compare (const Parameters &p, Pixel a, Pixel b)
{
  for (;;) {
    const uint64_t number_a = number_of (p, a), number_b = number_of (p, b);
    const uint64_t from_a = load (p.origins, number_a), from_b = load (p.origins, number_b);
    if (from_a == CUDACCL_MAP_FLOOD_NONE || from_b == CUDACCL_MAP_FLOOD_NONE)
      return UNKNOWN;
    if (is_marker (from_a) && is_marker (from_b))
      return number_a < number_b ? FIRST : SECOND;
    if (is_marker (from_a) || is_marker (from_b))
      return is_marker (from_a) ? FIRST : SECOND;
    a = step_from (p, a, p.steps[(uint32_t)from_a], true);
    b = step_from (p, b, p.steps[(uint32_t)from_b], true);
    const uint64_t before_a = number_of (p, a), before_b = number_of (p, b);
    if (before_a == before_b)
      return FIRST; /* or SECOND */
    const uint64_t time_a = p.times[before_a], time_b = p.times[before_b];
    if (time_a != time_b)
      return time_a < time_b ? FIRST : SECOND;
  }
}

static __device__ __forceinline__ uint64_t
earliest_time_around (const Parameters &p, const Pixel &pixel, uint32_t label)
{
  uint64_t earliest = CUDACCL_MAP_FLOOD_NONE;

  for (uint32_t i = 0; i < p.n_steps; i++) {
    const Pixel other = step_from (p, pixel, p.steps[i], false);
    if (other.exists && *at (p.labels, other) == label)
      earliest = min (earliest, p.times[number_of (p, other)]);
  }
  return earliest;
}

/* Decides which neighbour reaches a pixel, when this can be known. Returns whether it did. */
static __device__ __forceinline__ bool
find_origin (const Parameters &p, const Pixel &pixel)
{
  const uint64_t number = number_of (p, pixel);
  uint64_t origin = CUDACCL_MAP_FLOOD_NONE;
  Pixel first = pixel;

  if (p.times[number] == CUDACCL_MAP_FLOOD_NONE ||
      load (p.origins, number) != CUDACCL_MAP_FLOOD_NONE)
    return false;
  const uint32_t label = *at (p.labels, pixel);
  const uint64_t earliest = earliest_time_around (p, pixel, label);
  for (uint32_t i = 0; i < p.n_steps; i++) {
    const Pixel other = step_from (p, pixel, p.steps[i], false);
    if (!other.exists || *at (p.labels, other) != label ||
        p.times[number_of (p, other)] != earliest)
      continue;
    const uint64_t from = load (p.origins, number_of (p, other));
    if (from == CUDACCL_MAP_FLOOD_NONE)
      return false;
    if (origin != CUDACCL_MAP_FLOOD_NONE) {
      const Order order = compare (p, first, other);
      if (order == UNKNOWN)
        return false;
      if (order == FIRST)
        continue;
    }
    first = other;
    origin = (from >> 32 << 32) | (p.n_steps - 1 - i);
  }
  store (p.origins, number, origin);
  return true;
}

/* ---- passes ---- */

/* Changes the pixels of the block's tiles until there is nothing to change, or for some rounds. */
template <bool (*change) (const Parameters &, const Pixel &)>
static __device__ __forceinline__ void
pass (const Parameters &p)
{
  const uint64_t n_tiles = (uint64_t)p.tile_columns * p.tile_rows * p.depth;
  bool has_changed = false;

  for (uint64_t tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
    const Pixel pixel = pixel_of_tile (p, tile);
    for (int round = 0; round < CUDACCL_MAP_FLOOD_ROUNDS; round++) {
      const bool changes = pixel.exists && change (p, pixel);
      has_changed |= changes;
      if (!__syncthreads_or (changes))
        break;
    }
  }
  if (has_changed && *(volatile uint32_t *)p.changed == 0)
    atomicExch (p.changed, 1u);
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_map_flood_find_times (const __grid_constant__ Parameters p)
{
  pass<find_time> (p);
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_map_flood_find_origins (const __grid_constant__ Parameters p)
{
  pass<find_origin> (p);
}

/* ---- write ---- */

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_map_flood_write (const __grid_constant__ Parameters p)
{
  const uint64_t n_tiles = (uint64_t)p.tile_columns * p.tile_rows * p.depth;

  for (uint64_t tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
    const Pixel pixel = pixel_of_tile (p, tile);
    if (!pixel.exists)
      continue;
    const uint64_t origin = p.origins[number_of (p, pixel)];
    if (origin == CUDACCL_MAP_FLOOD_NONE || is_marker (origin))
      continue;
    const uint32_t marker = (uint32_t)(origin >> 32), row = marker / p.width;
    const Pixel from = {marker % p.width, row % p.height, row / p.height, true};
    *at (p.objects, pixel) = *at (p.objects, from);
  }
}
