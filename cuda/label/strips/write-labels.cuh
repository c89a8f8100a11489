/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The write labels phase: the label map. It runs at the same time as the number phase, so its
 * blocks count the components before a group by themselves. */
#pragma once

#include "bits.cuh"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "cuda/kernel-lib/parents.cuh"

/* What a block needs of its tile. */
template <int ROWS> struct LabelledTile {
  uint32_t component_label[TILE_RUNS];
  alignas (16) uint16_t run_component[TILE_RUNS];
  uint16_t bits[STRIPS * ROWS][WORDS];
  uint16_t base[STRIPS][WORDS];
  uint32_t before_chunk[CUDACCL_STRIPS_MAX_CHUNKS]; /* components before each */
};

template <int ROWS>
static __device__ __forceinline__ void
load_tile (const Parameters &p, LabelledTile<ROWS> &tile, uint32_t tile_column, uint32_t tile_row)
{
  enum { THREADS = CUDACCL_STRIPS_NUMBER_THREADS, TILE_ROWS = STRIPS * ROWS };
  const uint32_t row_words = p.tile_columns * WORDS;
  for (uint32_t i = threadIdx.x; i < TILE_ROWS * WORDS; i += THREADS)
    tile.bits[i / WORDS][i % WORDS] =
        p.bits[(tile_row * TILE_ROWS + i / WORDS) * row_words + tile_column * WORDS + i % WORDS];
  for (uint32_t i = threadIdx.x; i < STRIPS * WORDS; i += THREADS)
    tile.base[i / WORDS][i % WORDS] =
        p.word_base[(tile_row * STRIPS + i / WORDS) * row_words + tile_column * WORDS + i % WORDS];
}

/* Counts the components before each chunk up to the last one that the tile needs. */
template <int ROWS>
static __device__ __forceinline__ void
count_before_chunks (const Parameters &p, LabelledTile<ROWS> &tile, uint32_t last)
{
  enum { THREADS = CUDACCL_STRIPS_NUMBER_THREADS };
  static_assert (CUDACCL_STRIPS_MAX_CHUNKS == THREADS * 4, "a thread adds four chunks");
  const uint32_t at = threadIdx.x * 4;
  uint4 counts = make_uint4 (0, 0, 0, 0);
  if (at <= last)
    counts = ((const uint4 *)p.chunk_count)[threadIdx.x];
  uint32_t total;
  uint32_t before =
      sum_before_thread_of_few<THREADS / 32> (counts.x + counts.y + counts.z + counts.w, &total);
  if (at > last)
    return;
  tile.before_chunk[at] = before;
  tile.before_chunk[at + 1] = before += counts.x;
  tile.before_chunk[at + 2] = before += counts.y;
  tile.before_chunk[at + 3] = before += counts.z;
}

/* Adds the first n bytes of a word to a sum; n may be out of range. */
static __device__ __forceinline__ uint32_t
add_first_bytes (uint32_t bytes, int n, uint32_t sum)
{
  const uint32_t mask = n <= 0 ? 0 : n >= 4 ? ~0u : (1u << n * 8) - 1;
  return __dp4a (bytes & mask, 0x01010101u, sum);
}

/* How many components have their first pixels in the groups of a chunk before this one. */
static __device__ __forceinline__ uint32_t
count_in_chunk (const Parameters &p, uint32_t group)
{
  enum { UNITS = 4 }; /* of 16 groups, loaded together; a chunk has a multiple of 64 groups */
  const uint32_t first = group >> p.chunk_shift << p.chunk_shift;
  const uint4 *counts = (const uint4 *)(p.group_count + first);
  uint32_t count = 0;
#pragma unroll 1
  for (int rest = group - first; rest > 0; rest -= UNITS * 16, counts += UNITS) {
    uint4 units[UNITS];
    for (int i = 0; i < UNITS; i++)
      units[i] = counts[i];
    for (int i = 0; i < UNITS; i++) {
      count = add_first_bytes (units[i].x, rest - i * 16, count);
      count = add_first_bytes (units[i].y, rest - i * 16 - 4, count);
      count = add_first_bytes (units[i].z, rest - i * 16 - 8, count);
      count = add_first_bytes (units[i].w, rest - i * 16 - 12, count);
    }
  }
  return count;
}

/* Where the component of a tile component begins. */
struct Origin {
  uint32_t pixel;
  uint4 group;     /* first pixels of components in the pixel's group */
  uint32_t before; /* components in the groups of the chunk before */
};

/* The origin of a tile component from p.component_first. */
static __device__ __forceinline__ Origin
load_origin (const Parameters &p, uint32_t component_first)
{
  Origin origin;
  origin.pixel = component_first & ~CUDACCL_STRIPS_OPEN;
  if (component_first & CUDACCL_STRIPS_OPEN)
#pragma unroll 1
    for (uint32_t above = load_parent (p.parent, origin.pixel); !(above & CUDACCL_STRIPS_ROOT);
         above = load_parent (p.parent, above))
      origin.pixel = above;
  origin.group = ((const uint4 *)p.first_bits)[origin.pixel / GROUP_WIDTH];
  origin.before = count_in_chunk (p, origin.pixel / GROUP_WIDTH);
  return origin;
}

/* The label of the component that begins there; 0 if the area filter removed it. */
template <int ROWS>
static __device__ __forceinline__ uint32_t
label_of (const Parameters &p, const LabelledTile<ROWS> &tile, const Origin &origin)
{
  const uint32_t bit = origin.pixel % 32, word = origin.pixel / 32 % 4;
  const uint4 group = origin.group;
  const uint32_t own = word == 0 ? group.x : word == 1 ? group.y : word == 2 ? group.z : group.w;
  if (!(own >> bit & 1))
    return 0;
  return tile.before_chunk[origin.pixel / GROUP_WIDTH >> p.chunk_shift] + origin.before + 1 +
         __popc (own & bits_below (bit)) + (word > 0 ? __popc (group.x) : 0) +
         (word > 1 ? __popc (group.y) : 0) + (word > 2 ? __popc (group.z) : 0);
}

/* Writes the labels of a strip's four columns from x on, which start at bit shift of word w. */
template <int ROWS>
static __device__ __forceinline__ void
write_labels (const Parameters &p, const LabelledTile<ROWS> &tile, uint32_t s, uint32_t w,
    uint32_t shift, uint32_t x, uint32_t y)
{
  const uint32_t rows[2] = {tile.bits[s * ROWS][w], tile.bits[s * ROWS + ROWS - 1][w]};
  const uint32_t word = rows[0] | rows[1], occupied = word >> shift & 15;
  /* Four columns have two parts at most, with a gap between them. */
  uint32_t first_label = 0, last_label = 0, after_gap = 0;
  if (occupied) {
    const uint32_t first_part = parts_through (word, shift + __ffs (occupied) - 1);
    const uint32_t last_part = parts_through (word, shift + 31 - __clz (occupied));
    const uint32_t base = tile.base[s][w] - 1;
    first_label = last_label = tile.component_label[tile.run_component[base + first_part]];
    if (last_part != first_part) {
      after_gap = occupied & (occupied + (occupied & -occupied)); /* without the lowest run */
      last_label = tile.component_label[tile.run_component[base + last_part]];
    }
  }
  for (uint32_t i = 0; i < ROWS; i++) {
    if (y + i >= p.height)
      return;
    const uint32_t foreground = rows[i] >> shift & 15;
    uint32_t pixels[4];
    for (uint32_t k = 0; k < 4; k++)
      pixels[k] = foreground >> k & 1 ? (after_gap >> k & 1 ? last_label : first_label) : 0;
    uint32_t *labels = p.labels + (y + i) * p.labels_stride + x;
    if (p.labels_vectorised && x + 4 <= p.width)
      __stcs ((uint4 *)labels, make_uint4 (pixels[0], pixels[1], pixels[2], pixels[3]));
    else
      for (uint32_t k = 0; k < 4 && x + k < p.width; k++)
        labels[k] = pixels[k];
  }
}

/* Writes the label map of a tile, or another number of its components, from component_label. */
template <int ROWS>
static __device__ __forceinline__ void
write_pixels (
    const Parameters &p, const LabelledTile<ROWS> &tile, uint32_t tile_column, uint32_t tile_row)
{
  enum {
    THREADS = CUDACCL_STRIPS_NUMBER_THREADS,
    ROW_THREADS = TILE_WIDTH / 4, /* a thread writes four pixels at a time */
  };
  const uint32_t column = threadIdx.x % ROW_THREADS * 4, x = tile_column * TILE_WIDTH + column;
  if (x >= p.width)
    return;
  for (uint32_t s = threadIdx.x / ROW_THREADS; s < STRIPS; s += THREADS / ROW_THREADS)
    write_labels<ROWS> (
        p, tile, s, column / WORD_WIDTH, column % WORD_WIDTH, x, (tile_row * STRIPS + s) * ROWS);
}

template <int ROWS>
static __device__ __forceinline__ void
write_tile_labels (const Parameters &p, LabelledTile<ROWS> &tile, uint32_t number)
{
  enum {
    THREADS = CUDACCL_STRIPS_NUMBER_THREADS,
    TILE_ROWS = STRIPS * ROWS,
  };
  const uint32_t tile_row = quotient (number, p.tile_columns, p.tile_columns_inverse);
  const uint32_t tile_column = number - tile_row * p.tile_columns;
  const uint32_t end_row = min ((tile_row + 1) * TILE_ROWS, p.height);
  const uint32_t last_group = (end_row - 1) * p.tile_columns + tile_column;
  load_parameters (p.width | low_word (p.parent) | p.n_groups | low_word (p.component_first));
  wait_for_previous_kernel ();

  /* Both are loaded before the number of tile components is needed, so that their latencies
   * overlap. */
  const uint32_t n_tile_components = p.component_count[number];
  const uint4 components = ((const uint4 *)(p.run_component + number * TILE_RUNS))[threadIdx.x];
  if (n_tile_components == 0)
    return; /* the tile kernel has written the zeros */
  ((uint4 *)tile.run_component)[threadIdx.x] = components;
  load_tile<ROWS> (p, tile, tile_column, tile_row);
  count_before_chunks<ROWS> (p, tile, last_group >> p.chunk_shift);
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < n_tile_components; i += THREADS) {
    const Origin origin = load_origin (p, p.component_first[number * TILE_RUNS + i]);
    tile.component_label[i] = label_of<ROWS> (p, tile, origin);
  }
  __syncthreads ();

  write_pixels<ROWS> (p, tile, tile_column, tile_row);
}
