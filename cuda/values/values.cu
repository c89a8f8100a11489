/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels of pictures with many values, of two or three dimensions.
 *
 * Pixels are the elements of a union-find forest, numbered in raster order. A parent is never
 * greater than its child, so the root of a component is its first pixel, and counting the roots in
 * raster order numbers the components.
 *
 * 1. label_tiles: each block unites the pixels of a tile of 32×64 pixels, or 32×8×8 in volumes, in
 *    shared memory. The pixels of a run begin as children of its first one.
 * 2. merge_tiles: unions across the faces, edges and corners of tiles, in device memory.
 * 3. number_roots: compresses all paths, and numbers the roots inside chunks of 4096 pixels.
 * 4. number_chunks: components before each chunk.
 * 5. With a label map only: write_labels.
 *
 * The neighbours of a pixel are bits of a word. The first two kernels compare a pixel with all of
 * them at once, and leave out the unions that follow from others, so that a solid picture needs one
 * for each row of a tile.
 *
 * Tile by tile in shared memory, then the borders of tiles: Playne, Hawick: A New Algorithm for
 * Parallel Connected-Component Labelling on GPUs, IEEE Transactions on Parallel and Distributed
 * Systems 29(6), 2018. Unions: union-find.cuh.
 */
#include "cuda/kernel-lib/chunks.cuh"
#include "cuda/kernel-lib/union-find.cuh"
#include "values-parameters.h"

typedef CclValuesParameters Parameters;

enum {
  THREADS = CUDACCL_VALUES_THREADS,
  WARPS = THREADS / 32,
  ROWS = CUDACCL_VALUES_TILE_ROWS,
  CHUNK = 1 << CUDACCL_VALUES_CHUNK_SHIFT,
};

/* ---- tiles ---- */

/* The first pixel of a block's tile. */
struct Tile {
  uint32_t x, y, z;
};

struct Pixel {
  uint32_t x, y, z;
  uint32_t number; /* in raster order */
  bool exists;     /* is inside the picture */
};

static __device__ __forceinline__ Tile
own_tile (const Parameters &p)
{
  Tile tile;
  uint32_t rest = blockIdx.x;
  tile.x = rest % p.tile_columns * 32;
  rest /= p.tile_columns;
  tile.y = rest % p.tile_rows << p.tile_y_shift;
  tile.z = rest / p.tile_rows << p.tile_z_shift;
  return tile;
}

static __device__ __forceinline__ Pixel
pixel_of_tile (const Parameters &p, const Tile &tile, uint32_t row, uint32_t column)
{
  Pixel pixel;
  pixel.x = tile.x + column;
  pixel.y = tile.y + (row & bits_below (p.tile_y_shift));
  pixel.z = tile.z + (row >> p.tile_y_shift);
  pixel.number = (pixel.z * p.height + pixel.y) * p.width + pixel.x;
  pixel.exists = pixel.x < p.width && pixel.y < p.height && pixel.z < p.depth;
  return pixel;
}

/* ---- neighbours as bits ---- */

static __device__ constexpr uint32_t
bit_of (int dx, int dy, int dz)
{
  return CUDACCL_VALUES_NEIGHBOUR (dx, dy, dz);
}

#define LEFT 0x1249249u          /* all with dx = -1 */
#define MIDDLE (LEFT << 1)       /* dx = 0 */
#define RIGHT (LEFT << 2)        /* dx = 1 */
#define ABOVE 0x01c0e07u         /* dy = -1 */
#define BELOW (ABOVE << 6)       /* dy = 1 */
#define BEHIND 0x00001ffu        /* dz = -1 */
#define ROW_BEHIND 0x0000038u    /* dy = 0, dz = -1 */
#define ALL_COMPARED 0x003dfffu  /* BEHIND and dz = 0, but for the pixel */
#define BESIDE bit_of (-1, 0, 0) /* the pixel before in the row */

/* The neighbours of a pixel inside a box, of which it is on these sides. There are none with
 * dz = 1. */
static __device__ __forceinline__ uint32_t
inside (bool is_first_x, bool is_last_x, bool is_first_y, bool is_last_y, bool is_first_z)
{
  return ~((is_first_x ? LEFT : 0) | (is_last_x ? RIGHT : 0) | (is_first_y ? ABOVE : 0) |
           (is_last_y ? BELOW : 0) | (is_first_z ? BEHIND : 0));
}

static __device__ __forceinline__ uint32_t
inside_picture (const Parameters &p, const Pixel &pixel)
{
  return inside (
      pixel.x == 0, pixel.x + 1 == p.width, pixel.y == 0, pixel.y + 1 == p.height, pixel.z == 0);
}

static __device__ __forceinline__ uint32_t
inside_tile (const Parameters &p, uint32_t row, uint32_t column)
{
  const uint32_t last = bits_below (p.tile_y_shift), y = row & last;
  return inside (column == 0, column == 31, y == 0, y == last, row == y);
}

/* The neighbours with a value, of those that are to be compared; ALL: of all. */
template <bool ALL, typename T>
static __device__ __forceinline__ uint32_t
compare_neighbours (const Parameters &p, const uint8_t *address, T value, uint32_t compared)
{
  uint32_t equal = 0;
#pragma unroll
  for (int dz = -1; dz <= 0; dz++) {
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
      const uint8_t *const row =
          address + dz * (int64_t)p.slice_stride + dy * (int64_t)p.row_stride;
#pragma unroll
      for (int dx = -1; dx <= 1; dx++) {
        const uint32_t bit = bit_of (dx, dy, dz);
        if (bit != bit_of (0, 0, 0) && (ALL || (compared & bit)) &&
            __ldg ((const T *)row + dx) == value)
          equal |= bit;
      }
    }
  }
  return equal;
}

/* The neighbours with the pixel's value, of those that are to be compared. */
template <typename T>
static __device__ __forceinline__ uint32_t
equal_neighbours (const Parameters &p, const Pixel &pixel, bool *is_foreground)
{
  *is_foreground = false;
  if (!pixel.exists)
    return 0;
  const uint8_t *const address =
      p.values + pixel.z * p.slice_stride + pixel.y * p.row_stride + pixel.x * sizeof (T);
  const T own = __ldg ((const T *)address);
  *is_foreground = !(p.zero_is_background && own == 0) && !(p.nan_is_background && own != own);
  if (!*is_foreground)
    return 0;
  const uint32_t compared = p.compared & inside_picture (p, pixel);
  return compared == ALL_COMPARED ? compare_neighbours<true> (p, address, own, compared)
                                  : compare_neighbours<false> (p, address, own, compared);
}

/* Both neighbours in x of those with dx = 0, in their rows. */
static __device__ __forceinline__ uint32_t
both_sides_of (uint32_t neighbours)
{
  return (neighbours & MIDDLE) << 1 | (neighbours & MIDDLE) >> 1;
}

/* The neighbours that a pixel is to be united with, of those with its value. A union follows from
 * others if a pixel that touches both ends has the value, on the way along one axis after another;
 * if dx = 0, from the union of the two pixels before both in their rows, and for the pixel behind,
 * from that of the two above. The pixel before in the row always is among them. */
static __device__ __forceinline__ uint32_t
needed_unions (const Parameters &p, uint32_t equal)
{
  uint32_t implied = both_sides_of (equal);
  if (equal & BESIDE)
    implied |= (equal & LEFT) << 1 | (LEFT & ~BESIDE);
  if (equal & BESIDE << 2)
    implied |= RIGHT;
  /* Rows above and below, one slice back, and the row behind, one row up and down. */
  const uint32_t behind = equal & ROW_BEHIND;
  const uint32_t diagonal = (equal & (ABOVE | BELOW)) >> 9 | behind >> 3 | behind << 3;
  implied |= diagonal | both_sides_of (diagonal);
  const uint32_t above = bit_of (0, -1, 0) | bit_of (0, -1, -1);
  if ((equal & above) == above)
    implied |= bit_of (0, 0, -1);
  return equal & (p.neighbours | BESIDE) & ~implied;
}

/* The distance of a neighbour in an array of rows and slices of these lengths. */
static __device__ __forceinline__ uint32_t
distance_of (uint32_t neighbour, uint32_t row, uint32_t slice)
{
  const uint32_t dx = neighbour % 3 - 1, dy = neighbour / 3 % 3 - 1, dz = neighbour / 9 - 1;
  return dz * slice + dy * row + dx;
}

/* ---- label_tiles ---- */

/* The column in which the run of a pixel begins in the tile. All threads of a warp take part. */
static __device__ __forceinline__ uint32_t
start_of_run (uint32_t equal)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t starts = __ballot_sync (FULL_WARP, lane == 0 || !(equal & BESIDE));
  return 31 - __clz (starts & FULL_WARP >> (31 - lane));
}

template <typename T>
static __device__ __forceinline__ void
label_tile (const Parameters &p)
{
  __shared__ uint32_t parents[ROWS * 32], unions[ROWS * 32];
  const uint32_t lane = lane_of_warp (), warp = threadIdx.x / 32;
  const Tile tile = own_tile (p);

  for (uint32_t row = warp; row < ROWS; row += WARPS) {
    bool is_foreground;
    const uint32_t equal =
        equal_neighbours<T> (p, pixel_of_tile (p, tile, row, lane), &is_foreground);
    const uint32_t start = start_of_run (equal);
    parents[row * 32 + lane] = is_foreground ? row * 32 + start : CUDACCL_VALUES_BACKGROUND;
    unions[row * 32 + lane] = needed_unions (p, equal) & inside_tile (p, row, lane) & ~BESIDE;
  }
  __syncthreads ();
  for (uint32_t element = threadIdx.x; element < ROWS * 32; element += THREADS)
    for (uint32_t rest = unions[element]; rest; rest &= rest - 1)
      unite_by_steps (
          parents, element, element + distance_of (__ffs (rest) - 1, 32, 32 << p.tile_y_shift));
  __syncthreads ();
  for (uint32_t row = warp; row < ROWS; row += WARPS) {
    const Pixel pixel = pixel_of_tile (p, tile, row, lane);
    uint32_t root = parents[row * 32 + lane];
    if (!pixel.exists)
      continue;
    if (root != CUDACCL_VALUES_BACKGROUND) {
      root = find_root (parents, root);
      root = pixel_of_tile (p, tile, root / 32, root % 32).number;
    }
    p.parents[pixel.number] = root;
  }
}

/* ---- merge_tiles ---- */

template <typename T>
static __device__ __forceinline__ void
merge_pixel (const Parameters &p, const Tile &tile, uint32_t row, uint32_t column)
{
  const Pixel pixel = pixel_of_tile (p, tile, row, column);
  const uint32_t outside = ~inside_tile (p, row, column);
  if (!((p.neighbours | BESIDE) & outside))
    return;
  bool is_foreground;
  const uint32_t equal = equal_neighbours<T> (p, pixel, &is_foreground);
  for (uint32_t rest = needed_unions (p, equal) & outside; rest; rest &= rest - 1)
    unite (p.parents, pixel.number,
        pixel.number + distance_of (__ffs (rest) - 1, p.width, p.width * p.height));
}

/* A warp for each row at a face of the tile; of the others a thread for each end. */
template <typename T>
static __device__ __forceinline__ void
merge_tile (const Parameters &p)
{
  const Tile tile = own_tile (p);
  const auto is_at_face = [&p] (uint32_t row) { return p.neighbours & ~inside_tile (p, row, 1); };

  for (uint32_t row = threadIdx.x / 32; row < ROWS; row += WARPS)
    if (is_at_face (row))
      merge_pixel<T> (p, tile, row, lane_of_warp ());
  for (uint32_t end = threadIdx.x; end < 2 * ROWS; end += THREADS)
    if (!is_at_face (end / 2))
      merge_pixel<T> (p, tile, end / 2, end % 2 * 31);
}

/* A block for each tile, as in write_labels. */
#define TILE_KERNELS(name, type)                                                                   \
  extern "C" __global__ void __launch_bounds__ (THREADS)                                           \
      ccl_values_label_tiles_##name (const CclValuesParameters p)                                  \
  {                                                                                                \
    label_tile<type> (p);                                                                          \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__ (THREADS)                                           \
      ccl_values_merge_tiles_##name (const CclValuesParameters p)                                  \
  {                                                                                                \
    merge_tile<type> (p);                                                                          \
  }

TILE_KERNELS (8, uint8_t)
TILE_KERNELS (16, uint16_t)
TILE_KERNELS (32, uint32_t)
TILE_KERNELS (64, unsigned long long)
TILE_KERNELS (real_32, float)
TILE_KERNELS (real_64, double)

/* ---- number_roots and number_chunks ---- */

/* A block for each chunk. A warp reads words of 32 pixels; lane i keeps which pixels of word i are
 * roots, so that the words of a block's threads are in raster order. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_values_number_roots (const CclValuesParameters p)
{
  enum { WORDS = CHUNK / THREADS };
  __shared__ uint32_t sums[WARPS];
  const uint32_t lane = lane_of_warp ();
  const uint32_t first = blockIdx.x * CHUNK + threadIdx.x / 32 * WORDS * 32 + lane;
  uint32_t roots = 0, n_chunk;

#pragma unroll 4
  for (uint32_t i = 0; i < WORDS; i++) {
    const uint32_t pixel = first + i * 32;
    const uint32_t parent = pixel < p.n_pixels ? p.parents[pixel] : CUDACCL_VALUES_BACKGROUND;
    if (parent < pixel) {
      const uint32_t root = find_final_root (p.parents, parent);
      if (root != parent)
        p.parents[pixel] = root;
    }
    const uint32_t here = __ballot_sync (FULL_WARP, parent == pixel);
    roots = lane == i ? here : roots;
  }
  const uint32_t before = sum_before_thread (__popc (roots), sums, WARPS, &n_chunk);
  for (uint32_t i = 0; i < WORDS; i++) {
    const uint32_t here = __shfl_sync (FULL_WARP, roots, i);
    const uint32_t number = __shfl_sync (FULL_WARP, before, i) + lanes_below (here);
    if (here >> lane & 1)
      p.parents[first + i * 32] = CUDACCL_VALUES_ROOT | number;
  }
  if (threadIdx.x == 0)
    p.chunk_offsets[blockIdx.x] = n_chunk;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_SCAN_THREADS) ccl_values_number_chunks (const CclValuesParameters p)
{
  const uint32_t n_components = number_chunks (p.chunk_offsets, p.n_chunks);
  if (threadIdx.x == 0)
    *p.n_components = n_components;
}

/* ---- write_labels ---- */

static __device__ __forceinline__ uint32_t
label_of (const Parameters &p, uint32_t pixel)
{
  uint32_t root = pixel, parent = p.parents[pixel];
  if (parent == CUDACCL_VALUES_BACKGROUND)
    return 0;
  if (!(parent & CUDACCL_VALUES_ROOT)) {
    root = parent;
    parent = p.parents[root];
  }
  return p.chunk_offsets[root >> CUDACCL_VALUES_CHUNK_SHIFT] + (parent & ~CUDACCL_VALUES_ROOT) + 1;
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_values_write_labels (const CclValuesParameters p)
{
  const Tile tile = own_tile (p);
#pragma unroll 4
  for (uint32_t row = threadIdx.x / 32; row < ROWS; row += WARPS) {
    const Pixel pixel = pixel_of_tile (p, tile, row, lane_of_warp ());
    if (pixel.exists)
      p.labels[pixel.z * p.label_slice + pixel.y * p.label_row + pixel.x] =
          label_of (p, pixel.number);
  }
}
