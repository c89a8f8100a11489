/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tile phase of replace.cu: a block labels its tile, writes closed components and keeps what
 * later phases need of the others. */
#pragma once

#include "masks.cuh"
#include "cuda/label/strips/runs.cuh"

#if defined(__CUDA_ARCH__) &&                                                                      \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define REPLACE_TILE_BLOCKS (__CUDA_ARCH__ == 800 ? 4 : 6) /* of each multiprocessor */
#else
#define REPLACE_TILE_BLOCKS 1
#endif

#define CUDACCL_REPLACE_FLAGS (CUDACCL_REPLACE_EDGES | CUDACCL_REPLACE_FULL)

enum {
  REPLACE_WORDS = CUDACCL_REPLACE_WORDS,
  REPLACE_ROWS = CUDACCL_REPLACE_ROWS,
  REPLACE_THREADS = CUDACCL_REPLACE_TILE_THREADS,
  REPLACE_WARPS = REPLACE_THREADS / 32,
  REPLACE_WARP_RUNS = CUDACCL_REPLACE_RUNS / REPLACE_WARPS,
  /* The most listed links of a warp's words; see WARP_LINKS. */
  REPLACE_WARP_LINKS = 32 * 17,
};

/* Flags of roots among the parents of a tile, behind the number of the run; the number of an open
 * tile component follows from bit 16 on. */
enum {
  RUN_MASK = CUDACCL_REPLACE_RUNS - 1,
  RUN_OPEN = 1 << 12,
  RUN_OUTER = 1 << 13,
};
static_assert (RUN_MASK < RUN_OPEN, "flags lie behind numbers of runs");

struct ReplaceTile {
  /* With an empty word on each side of a row and an empty row above the tile. */
  uint32_t words[REPLACE_ROWS + 1][REPLACE_WORDS + 2];
  uint32_t base[REPLACE_ROWS + 1][REPLACE_WORDS]; /* number of the run of a word's first part */
  uint32_t parent[CUDACCL_REPLACE_RUNS];          /* a run with a smaller number, or the run itself;
                                                   * with flags once the runs are joined */
  uint32_t n_open;
  union {
    uint32_t links[REPLACE_WARPS][REPLACE_WARP_LINKS]; /* two runs each */
    uint32_t area[CUDACCL_REPLACE_RUNS];               /* of roots */
  };
};

/* The place of a word. */
struct ReplacePlace {
  uint32_t w, row;                /* in the tile */
  uint32_t tile_column, tile_row; /* of the tile among all tiles */
  uint32_t x, y;                  /* of the word's first pixel, in the mask */
};

/* The parameters with the scratch memory of the block's mask. */
static __device__ __forceinline__ CclBatchParameters
parameters_of_mask (const CclBatchParameters &of_batch)
{
  CclBatchParameters batch = of_batch;
  const uint32_t mask = mask_of_block ();
  const uint64_t bytes = mask * batch.scratch_stride;
  batch.strips.frame += mask * batch.mask_stride;
  move (batch.strips.parent, bytes);
  move (batch.strips.open_count, bytes);
  move (batch.replacement.edge, bytes);
  move (batch.replacement.words, bytes);
  move (batch.replacement.base, bytes);
  move (batch.replacement.run_open, bytes);
  move (batch.replacement.area, bytes);
  return batch;
}

/* The index of an open tile component, or of all outer ones, among the parents. */
static __device__ __forceinline__ uint32_t
open_index (uint32_t tile, uint32_t number)
{
  return number ? tile * CUDACCL_REPLACE_OPEN + number : 0;
}

static __device__ __forceinline__ bool
has_area (const CclBatchSelection &selection, uint32_t area)
{
  return area >= selection.min_area && area <= selection.max_area;
}

static __device__ __forceinline__ ReplacePlace
place_of_word (const Parameters &p, uint32_t tile, uint32_t word)
{
  ReplacePlace place;
  place.w = word % REPLACE_WORDS;
  place.row = word / REPLACE_WORDS;
  place.tile_row = quotient (tile, p.tile_columns, p.tile_columns_inverse);
  place.tile_column = tile - place.tile_row * p.tile_columns;
  place.x = (place.tile_column * REPLACE_WORDS + place.w) * 32;
  place.y = place.tile_row * REPLACE_ROWS + place.row;
  return place;
}

/* The pixels of a word that are in the mask. */
static __device__ __forceinline__ uint32_t
pixels_inside (const Parameters &p, const ReplacePlace &place)
{
  if (place.x >= p.width || place.y >= p.height)
    return 0;
  return p.width - place.x >= 32 ? UINT32_MAX : bits_below (p.width - place.x);
}

/* The 32 pixels of a word, of which those inside the mask count. All threads of a warp take part.
 */
static __device__ __forceinline__ uint32_t
read_word_of_mask (const Parameters &p, const ReplacePlace &place, uint32_t inside)
{
  const uint8_t *const pixels = p.frame + place.y * p.frame_stride + place.x;
  uint32_t word = 0;
  if (p.vectorised) {
    if (inside == UINT32_MAX) {
      const uint4 groups[] = {__ldg ((const uint4 *)pixels), __ldg ((const uint4 *)pixels + 1)};
      word = bits_of_pixels (p, &groups[0], uint8_t ()) | bits_of_pixels (p, &groups[1], uint8_t ())
                                                              << 16;
    } else {
#pragma unroll 1
      for (uint32_t i = 0; inside >> i; i++)
        word |= (uint32_t)is_above_threshold (p, pixels[i]) << i;
    }
  } else {
    const uint32_t lane = lane_of_warp ();
#pragma unroll 1
    for (uint32_t i = 0; i < 32; i++) {
      const uint32_t x = __shfl_sync (FULL_WARP, place.x, i) + lane;
      const uint32_t y = __shfl_sync (FULL_WARP, place.y, i);
      const bool above =
          x < p.width && y < p.height && is_above_threshold (p, pixels_of_row<uint8_t> (p, y)[x]);
      const uint32_t bits = __ballot_sync (FULL_WARP, above);
      if (lane == i)
        word = bits;
    }
  }
  return (word ^ p.invert) & inside;
}

/* 255 in each byte whose bit among the lowest four is set. */
static __device__ __forceinline__ uint32_t
bytes_of_bits (uint32_t bits)
{
  return ((bits & 0xf) * 0x00204081u & 0x01010101u) * 0xff;
}

/* Writes four equal bytes to those of 16 pixels whose bits are set. No other thread writes to one
 * of the 16. The kernel before may have written: the load is not from the first-level cache. */
static __device__ __forceinline__ void
change_pixels (uint4 *pixels, uint32_t four, uint32_t bits)
{
  uint4 changed = make_uint4 (four, four, four, four);
  if (bits != 0xffff) {
    const auto mix = [four] (uint32_t old, uint32_t mask) { return (old & ~mask) | (four & mask); };
    const uint4 old = __ldcg (pixels);
    changed = make_uint4 (mix (old.x, bytes_of_bits (bits)), mix (old.y, bytes_of_bits (bits >> 4)),
        mix (old.z, bytes_of_bits (bits >> 8)), mix (old.w, bytes_of_bits (bits >> 12)));
  }
  *pixels = changed;
}

/* Writes a value to pixels of a word. What is behind the mask's last column is not touched. */
static __device__ __forceinline__ void
write_word_value (const Parameters &p, const ReplacePlace &place, uint32_t value, uint32_t bits)
{
  uint8_t *const pixels = (uint8_t *)p.frame + place.y * p.frame_stride + place.x;
#pragma unroll
  for (uint32_t half = 0; half < 32; half += 16) {
    const uint32_t own = bits >> half & 0xffff;
    if (p.vectorised && own && place.x + half + 16 <= p.width) {
      change_pixels ((uint4 *)(pixels + half), value * 0x01010101u, own);
    } else {
#pragma unroll 1
      for (uint32_t rest = own; rest; rest &= rest - 1)
        pixels[half + __ffs (rest) - 1] = value;
    }
  }
}

/* Stores the word in the tile, whose border is empty, and numbers the runs of each warp in raster
 * order, the numbers of each warp apart. Returns the number of runs of the warp. */
static __device__ __forceinline__ uint32_t
store_word (ReplaceTile &tile, const ReplacePlace &place, uint32_t word)
{
  const uint32_t before = __shfl_up_sync (FULL_WARP, word, 1);
  const bool continues = word & 1 && place.w > 0 && before >> 31;
  const uint32_t n_starts = __popc (word & ~(word << 1)) - continues;
  const uint32_t starts_through = sum_up_to_lane (n_starts);
  tile.words[place.row + 1][place.w + 1] = word;
  tile.base[place.row + 1][place.w] =
      threadIdx.x / 32 * REPLACE_WARP_RUNS + starts_through - n_starts - continues;
  if (threadIdx.x < REPLACE_ROWS + 1)
    tile.words[threadIdx.x][0] = tile.words[threadIdx.x][REPLACE_WORDS + 1] = 0;
  if (threadIdx.x < REPLACE_WORDS)
    tile.words[0][threadIdx.x + 1] = tile.base[0][threadIdx.x] = 0;
  if (threadIdx.x == 0)
    tile.n_open = 0;
  return __shfl_sync (FULL_WARP, starts_through, 31);
}

/* The pixels of a word at which its runs are joined with runs of the row above, each pair of runs
 * once: straight above, before and after. */
struct Joints {
  uint32_t straight, before, after;
};

template <bool DIAGONAL>
static __device__ __forceinline__ Joints
joints_of_word (const ReplaceTile &tile, const ReplacePlace &place)
{
  const uint32_t *const row = &tile.words[place.row + 1][place.w + 1];
  const uint32_t *const row_above = &tile.words[place.row][place.w + 1];
  const uint32_t word = row[0], above = row_above[0];
  const uint32_t both = word & above, both_before = row[-1] & row_above[-1];
  Joints joints = {both & ~__funnelshift_l (both_before, both, 1), 0, 0};
  if (DIAGONAL) {
    /* Runs that touch at a corner alone. */
    const uint32_t corners = word & ~above;
    joints.before =
        corners & ~__funnelshift_l (row[-1], word, 1) & __funnelshift_l (row_above[-1], above, 1);
    joints.after =
        corners & ~__funnelshift_r (word, row[1], 1) & __funnelshift_r (above, row_above[1], 1);
  }
  return joints;
}

/* Links each run that starts in this thread's word to one run above it, and lists the other links
 * of the word's runs for later. Returns the length of the warp's list. */
template <bool DIAGONAL>
static __device__ __forceinline__ uint32_t
link_to_row_above (ReplaceTile &tile, const ReplacePlace &place)
{
  const uint32_t word = tile.words[place.row + 1][place.w + 1];
  const uint32_t above = tile.words[place.row][place.w + 1];
  const uint32_t parts = word & ~(word << 1), parts_above = above & ~(above << 1);
  const uint32_t base = tile.base[place.row + 1][place.w] - 1;
  const uint32_t base_above = tile.base[place.row][place.w] - 1;
  const Joints joints = joints_of_word<DIAGONAL> (tile, place);
  uint32_t *const links = tile.links[threadIdx.x / 32];
  uint32_t n_links = 0;
  uint32_t at_or_after = joints.straight | joints.after, before = joints.before;
  /* The run before this word has been linked there if it continues. */
  uint32_t linked = word & 1 && tile.words[place.row + 1][place.w] >> 31 ? base + 1 : NOTHING;
#pragma unroll 1
  while (__any_sync (FULL_WARP, at_or_after | before)) {
    const uint32_t rest = at_or_after | before, lowest = rest & -rest;
    const uint32_t through = lowest | (lowest - 1);
    const uint32_t run = base + __popc (parts & through);
    const bool is_before = before & lowest;
    const uint32_t run_above =
        base_above + __popc (parts_above & through) + (!is_before && joints.after & lowest);
    bool is_listed = false;
    if (rest) {
      if (is_before)
        before ^= lowest;
      else
        at_or_after ^= lowest;
      is_listed = run == linked;
      if (!is_listed)
        tile.parent[run] = run_above;
      linked = run;
    }
    const uint32_t listed = __ballot_sync (FULL_WARP, is_listed);
    if (is_listed)
      links[n_links + lanes_below (listed)] = run << 16 | run_above;
    n_links += __popc (listed);
  }
  return n_links;
}

/* Links each run of a warp to its root. */
static __device__ __forceinline__ void
link_to_roots (uint32_t *parent, uint32_t first_run, uint32_t end_run)
{
#pragma unroll 1
  for (uint32_t run = first_run + lane_of_warp (); run < end_run; run += 32) {
    uint32_t above = load_parent (parent, run);
#pragma unroll 1
    for (uint32_t next = load_parent (parent, above); next != above;
         next = load_parent (parent, above))
      above = next;
    atomicMin (&parent[run], above);
  }
}

/* Sums the areas of the tile components. */
static __device__ __forceinline__ void
sum_areas (ReplaceTile &tile, const ReplacePlace &place, uint32_t word, uint32_t first_run,
    uint32_t end_run)
{
#pragma unroll 1
  for (uint32_t run = first_run + lane_of_warp (); run < end_run; run += 32)
    tile.area[run] = 0;
  __syncthreads ();
  uint32_t run = tile.base[place.row + 1][place.w];
#pragma unroll 1
  for (uint32_t rest = word; rest; run++) {
    const uint32_t part = lowest_run (rest);
    rest ^= part;
    atomicAdd (&tile.area[tile.parent[run]], __popc (part));
  }
  __syncthreads ();
}

/* A pixel of the tile's edge. */
struct EdgePixel {
  uint32_t edge, number;
  uint32_t run; /* NOTHING: background */
  bool is_border;
};

/* One of the two pixels of the edges for which a thread stands: half of the threads have the upper
 * and the left edge, the others the lower and the right one. The last pixels of the mask are on the
 * edge of their tile. */
static __device__ __forceinline__ EdgePixel
edge_pixel_of_thread (const Parameters &p, const ReplaceTile &tile, bool is_column)
{
  const ReplacePlace place = place_of_word (p, blockIdx.x, 0);
  const uint32_t at = threadIdx.x % TILE_EDGE;
  const bool is_first = threadIdx.x < TILE_EDGE;
  const uint32_t last_column = min (p.width - place.x, (uint32_t)TILE_WIDTH) - 1;
  const uint32_t last_row = min (p.height - place.y, (uint32_t)REPLACE_ROWS) - 1;
  const uint32_t column = !is_column ? at : is_first ? 0 : last_column;
  const uint32_t row = is_column ? min (at, last_row) : is_first ? 0 : last_row;
  const uint32_t w = column / 32, word = tile.words[row + 1][w + 1];
  EdgePixel pixel;
  pixel.number = at;
  if (is_column) {
    pixel.edge = is_first ? CUDACCL_STRIPS_LEFT : CUDACCL_STRIPS_RIGHT;
    pixel.is_border = is_first ? place.tile_column == 0 : place.tile_column + 1 == p.tile_columns;
  } else {
    pixel.edge = is_first ? CUDACCL_STRIPS_TOP : CUDACCL_STRIPS_BOTTOM;
    pixel.is_border = is_first ? place.tile_row == 0 : place.tile_row + 1 == p.tile_rows;
  }
  const uint32_t through = 2u << column % 32;
  pixel.run = word >> column % 32 & 1 && (!is_column || at <= last_row)
                  ? tile.base[row + 1][w] - 1 + __popc (word & ~(word << 1) & (through - 1))
                  : NOTHING;
  return pixel;
}

/* The flags and the number of a run's tile component. */
static __device__ __forceinline__ uint32_t
root_entry (const ReplaceTile &tile, uint32_t run)
{
  return load_parent (tile.parent, load_parent (tile.parent, run) & RUN_MASK);
}

static __device__ __forceinline__ void
mark_outer (ReplaceTile &tile, const EdgePixel &pixel)
{
  if (pixel.run == NOTHING || !pixel.is_border)
    return;
  const uint32_t entry = root_entry (tile, pixel.run);
  if (!(entry & RUN_OUTER))
    atomicOr (&tile.parent[entry & RUN_MASK], RUN_OUTER);
}

/* Numbers the tile component if it is open and has no number. */
static __device__ __forceinline__ void
mark_open (const CclBatchParameters &batch, ReplaceTile &tile, const EdgePixel &pixel)
{
  if (pixel.run == NOTHING || pixel.is_border)
    return;
  const uint32_t entry = root_entry (tile, pixel.run), root = entry & RUN_MASK;
  if (entry & (RUN_OPEN | RUN_OUTER) || atomicOr (&tile.parent[root], RUN_OPEN) & RUN_OPEN)
    return;
  const uint32_t number = 1 + atomicAdd (&tile.n_open, 1u), index = open_index (blockIdx.x, number);
  atomicOr (&tile.parent[root], number << 16);
  batch.strips.parent[index] = CUDACCL_STRIPS_ROOT | index;
  if (batch.selection.by_area)
    batch.replacement.area[index] = tile.area[root];
}

static __device__ __forceinline__ void
write_edge_pixel_of_mask (
    const CclBatchReplacement &r, const ReplaceTile &tile, const EdgePixel &pixel)
{
  if (pixel.number >= REPLACE_ROWS && pixel.edge >= CUDACCL_STRIPS_LEFT)
    return;
  r.edge[(blockIdx.x * CUDACCL_STRIPS_EDGES + pixel.edge) * TILE_EDGE + pixel.number] =
      pixel.run == NOTHING ? CUDACCL_REPLACE_NO_COMPONENT : root_entry (tile, pixel.run) >> 16;
}

/* Finds the open and the outer tile components and writes the edges. */
static __device__ __forceinline__ void
write_edges_of_mask (const CclBatchParameters &batch, ReplaceTile &tile)
{
  const EdgePixel pixels[] = {edge_pixel_of_thread (batch.strips, tile, false),
      edge_pixel_of_thread (batch.strips, tile, true)};
  if (batch.selection.inside_only) {
    for (const EdgePixel &pixel : pixels)
      mark_outer (tile, pixel);
    __syncthreads ();
  }
  for (const EdgePixel &pixel : pixels)
    mark_open (batch, tile, pixel);
  __syncthreads ();
  for (const EdgePixel &pixel : pixels)
    write_edge_pixel_of_mask (batch.replacement, tile, pixel);
}

static __device__ __forceinline__ bool
is_closed_selected (const CclBatchSelection &selection, const ReplaceTile &tile, uint32_t entry)
{
  return !(entry & (RUN_OPEN | RUN_OUTER)) &&
         (!selection.by_area || has_area (selection, tile.area[entry & RUN_MASK]));
}

/* Keeps what the write phase needs of open tile components. Returns whether a run of this thread is
 * of a selected closed component. */
static __device__ __forceinline__ bool
keep_runs (const CclBatchParameters &batch, const ReplaceTile &tile, const ReplacePlace &place,
    uint32_t word, uint32_t first_run, uint32_t end_run)
{
  const CclBatchReplacement &r = batch.replacement;
  const bool is_open = tile.n_open > 0;
  bool is_any = false;
  if (is_open) {
    r.words[blockIdx.x * REPLACE_THREADS + threadIdx.x] = word;
    r.base[blockIdx.x * REPLACE_THREADS + threadIdx.x] = tile.base[place.row + 1][place.w];
  }
#pragma unroll 1
  for (uint32_t run = first_run + lane_of_warp (); run < end_run; run += 32) {
    const uint32_t entry = root_entry (tile, run);
    is_any |= is_closed_selected (batch.selection, tile, entry);
    if (is_open)
      r.run_open[blockIdx.x * CUDACCL_REPLACE_RUNS + run] = entry >> 16;
  }
  return is_any;
}

/* Writes the value to the pixels of a word that are of selected closed components. */
static __device__ __forceinline__ void
write_closed (const CclBatchParameters &batch, const ReplaceTile &tile, const ReplacePlace &place,
    uint32_t word)
{
  uint32_t chosen = 0, run = tile.base[place.row + 1][place.w];
#pragma unroll 1
  for (uint32_t rest = word; rest; run++) {
    const uint32_t part = lowest_run (rest);
    rest ^= part;
    if (is_closed_selected (batch.selection, tile, root_entry (tile, run)))
      chosen |= part;
  }
  write_word_value (batch.strips, place, batch.selection.value, chosen);
}

/* Writes all that later phases need of a full tile that is not the only one. */
static __device__ __forceinline__ void
write_full_tile_of_mask (const CclBatchParameters &batch)
{
  const Parameters &p = batch.strips;
  const ReplacePlace place = place_of_word (p, blockIdx.x, 0);
  const bool is_border = place.tile_row == 0 || place.tile_row + 1 == p.tile_rows ||
                         place.tile_column == 0 || place.tile_column + 1 == p.tile_columns;
  const uint32_t number = is_border && batch.selection.inside_only ? 0 : 1;
  uint32_t *const edges =
      (uint32_t *)(batch.replacement.edge + blockIdx.x * (CUDACCL_STRIPS_EDGES * TILE_EDGE));
  edges[threadIdx.x] = number | number << 16;
  if (threadIdx.x > 0)
    return;
  p.open_count[blockIdx.x] = CUDACCL_REPLACE_EDGES | CUDACCL_REPLACE_FULL | number;
  if (number) {
    const uint32_t index = open_index (blockIdx.x, number);
    p.parent[index] = CUDACCL_STRIPS_ROOT | index;
    if (batch.selection.by_area)
      batch.replacement.area[index] = min (p.width - place.x, (uint32_t)TILE_WIDTH) *
                                      min (p.height - place.y, (uint32_t)REPLACE_ROWS);
  }
}
static_assert (REPLACE_THREADS * 2 == CUDACCL_STRIPS_EDGES * TILE_EDGE, "a thread has two pixels");

/* Joins the runs of a tile and writes what later phases need of them. */
template <bool DIAGONAL>
static __device__ __forceinline__ void
join_tile_of_mask (const CclBatchParameters &batch, ReplaceTile &tile, const ReplacePlace &place,
    uint32_t word, uint32_t n_runs)
{
  const uint32_t first_run = threadIdx.x / 32 * REPLACE_WARP_RUNS, end_run = first_run + n_runs;
#pragma unroll 1
  for (uint32_t run = first_run + lane_of_warp (); run < end_run; run += 32)
    tile.parent[run] = run;
  __syncwarp ();
  const uint32_t n_links = link_to_row_above<DIAGONAL> (tile, place);
  __syncthreads ();
  join_runs (tile.parent, tile.links[threadIdx.x / 32], n_links, first_run, end_run);
  __syncthreads ();
  link_to_roots (tile.parent, first_run, end_run);
  __syncthreads ();
  if (batch.selection.by_area)
    sum_areas (tile, place, word, first_run, end_run);
  write_edges_of_mask (batch, tile);
  const bool is_any = keep_runs (batch, tile, place, word, first_run, end_run);
  if (threadIdx.x == 0)
    batch.strips.open_count[blockIdx.x] = CUDACCL_REPLACE_EDGES | tile.n_open;
  if (__syncthreads_or (is_any))
    write_closed (batch, tile, place, word);
}

template <bool DIAGONAL>
static __device__ __forceinline__ void
label_tile_of_mask (const CclBatchParameters &batch)
{
  __shared__ ReplaceTile tile;
  const Parameters &p = batch.strips;
  const ReplacePlace place = place_of_word (p, blockIdx.x, threadIdx.x);
  const uint32_t inside = pixels_inside (p, place);
  const uint32_t word = read_word_of_mask (p, place, inside);
  const uint32_t n_runs = store_word (tile, place, word);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    p.parent[0] = CUDACCL_STRIPS_ROOT;
  if (!__syncthreads_or (word)) {
    if (threadIdx.x == 0)
      p.open_count[blockIdx.x] = 0;
    return;
  }
  if (__syncthreads_and (word == inside) && p.tile_columns * p.tile_rows > 1)
    write_full_tile_of_mask (batch);
  else
    join_tile_of_mask<DIAGONAL> (batch, tile, place, word, n_runs);
}
