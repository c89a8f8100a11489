/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strips: labels and component table in one go; the project's own algorithm.
 *
 * It rests on an observation about 8-connectivity that is stronger than the one of 2×2 blocks
 * (Allegretti, Bolelli, Grana, TPDS 2020, section 4.3): in a strip of two rows, two foreground
 * pixels in the same or in adjacent columns always touch. So the runs of the bitwise OR of two
 * rows are connected sets; there are far fewer of them than of blocks or of ordinary runs, and
 * finding them takes a handful of bit operations. For 4-connectivity a strip is a single row.
 *
 *   strip   two rows (8-connectivity) or one (4-connectivity)
 *   word    32 columns of a strip; a column is occupied if any of its pixels is foreground
 *   run     consecutive occupied columns of a strip, as far as the tile goes
 *   part    what a run has in one word
 *   tile    a few words × 32 strips, labelled by one block of threads, one thread a word
 *   piece   what a component has in one tile; open if it touches an edge shared with another tile
 *   quad    128 columns of a row, one bit each
 *
 * Kernels, in stream order:
 *
 *   tile     pixels → bits; runs joined in shared memory; features of each piece; closed pieces
 *            are components, and the bit of their first pixel is set
 *   merge    joins open pieces across tile edges, the earlier first pixel always the parent, so a
 *            component's root is the piece with its first pixel
 *   fold     adds the features of open pieces to those of their root, and sets the roots' bits
 *   filter   sets them instead where there is an area filter, which needs the folded areas
 *   rank     counts the first-pixel bits before each: a component's label is the count of bits
 *            before its own, plus one; writes the table
 *   deliver  writes the label map, if wanted
 *
 * No result depends on the order in which threads get to run: components are identified by
 * their first pixel, and all sums are integers.
 */
#include "strips-parameters.h"
#include "device/dependent-launch.cuh"

typedef CclStripsParameters Parameters;

enum {
  WORD_WIDTH = CCL_STRIPS_WORD_WIDTH,
  WORDS = CCL_STRIPS_TILE_WORDS,
  STRIPS = CCL_STRIPS_TILE_STRIPS,
  TILE_WIDTH = CCL_STRIPS_TILE_WIDTH,
  TILE_THREADS = CCL_STRIPS_TILE_THREADS,
  TILE_WARPS = TILE_THREADS / 32,
  TILE_RUNS = CCL_STRIPS_TILE_RUNS,
  WARP_RUNS = TILE_RUNS / TILE_WARPS, /* the most runs that start in a warp's words */
  /* The most links that are listed for a warp's words. Up to 9 runs of the strip above and 8
   * parts of a word have one pair less than there are of both, and all new runs but one list one
   * pair less. */
  WARP_LINKS = 32 * 9,
  ROUND_PIECES = 1024, /* pieces whose features fit into shared memory at a time */
  TILE_EDGE = CCL_STRIPS_TILE_EDGE,
  QUAD_WIDTH = 128,
};

static const uint32_t NOTHING = CCL_STRIPS_NOTHING;
static const uint32_t ALL_LANES = 0xffffffffu;

/* ---- bits ---- */

/* The lowest run of ones of a word that is not zero. */
static __device__ __forceinline__ uint32_t
lowest_run (uint32_t word)
{
  return word & ~(word + (word & -word));
}

/* How many parts of a word start up to and including a column. Runs are numbered so that, with
 * the base number of their word, this tells the number of the run that has the column. */
static __device__ __forceinline__ uint32_t
parts_through (uint32_t occupied, uint32_t column)
{
  return __popc (occupied & ~(occupied << 1) & ((2u << column) - 1));
}

/* The sum of the positions of the ones of two words, one above the other. */
static __device__ __forceinline__ uint32_t
sum_of_positions (uint32_t top, uint32_t bottom)
{
  const uint32_t both = top | bottom << WORD_WIDTH;
  return __popc (both & 0xaaaaaaaau) + 2 * __popc (both & 0xccccccccu) +
         4 * __popc (both & 0xf0f0f0f0u) + 8 * __popc (both & 0xff00ff00u);
}

static __device__ __forceinline__ uint32_t
count_bits (uint4 quad)
{
  return __popc (quad.x) + __popc (quad.y) + __popc (quad.z) + __popc (quad.w);
}

/* ---- pixels to bits ---- */

/* Shifts four bits for four pixels in from below, the first pixel's lowest. A pixel is above the
 * threshold when adding the threshold's complement carries out of its byte; the three terms of
 * the majority are the carry out of the byte's upper bit. */
static __device__ __forceinline__ uint32_t
shift_in_four_pixels (uint32_t bits, uint32_t pixels, uint32_t complement)
{
  uint32_t low = (pixels & 0x7f7f7f7fu) + (complement & 0x7f7f7f7fu);
  uint32_t carry = (pixels & complement) | ((pixels | complement) & low);
  return __funnelshift_l ((carry & 0x80808080u) * 0x00204081u, bits, 4);
}

/* A word of a frame with aligned rows. */
static __device__ __forceinline__ uint32_t
word_of_aligned_row (const Parameters &p, uint32_t column, uint32_t row)
{
  if (column >= p.width || row >= p.height)
    return 0;
  const uint8_t *pixels = p.frame + row * p.frame_stride + column;
  const uint32_t inside = min (p.width - column, (uint32_t)WORD_WIDTH);
  uint32_t bits = 0;
  if (inside == WORD_WIDTH) {
    const uint32_t complement = (255 - p.threshold) * 0x01010101u;
    const uint4 group = __ldg ((const uint4 *)pixels);
    bits = shift_in_four_pixels (bits, group.w, complement);
    bits = shift_in_four_pixels (bits, group.z, complement);
    bits = shift_in_four_pixels (bits, group.y, complement);
    bits = shift_in_four_pixels (bits, group.x, complement);
  } else
    for (uint32_t i = 0; i < inside; i++)
      bits |= (uint32_t)(pixels[i] > p.threshold) << i;
  return (bits ^ p.invert) & ((1u << inside) - 1);
}

/* The same for rows at any address: the warp reads its words together, a pixel a lane. */
static __device__ __forceinline__ void
words_of_unaligned_rows (
    const Parameters &p, uint32_t column, uint32_t row, uint32_t rows, uint32_t words[2])
{
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t pair = 0; pair < 32; pair += 2) {
    const uint32_t x = __shfl_sync (ALL_LANES, column, pair) + lane;
    const uint32_t y = __shfl_sync (ALL_LANES, row, pair);
    for (uint32_t i = 0; i < rows; i++) {
      const bool inside = x < p.width && y + i < p.height;
      const bool foreground =
          inside && (p.frame[(y + i) * p.frame_stride + x] > p.threshold) != (p.invert != 0);
      const uint32_t bits = __ballot_sync (ALL_LANES, foreground);
      if (lane == pair)
        words[i] = bits & 0xffff;
      else if (lane == pair + 1)
        words[i] = bits >> 16;
    }
  }
}

/* ---- warps ---- */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/* Every lane of the set reads every other, all in the same order. */
#define CCL_REDUCE(name, type, combine)                                                            \
  static __device__ __forceinline__ type name (uint32_t lanes, type value)                         \
  {                                                                                                \
    type result = __shfl_sync (lanes, value, __ffs (lanes) - 1);                                   \
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {                            \
      type other = __shfl_sync (lanes, value, __ffs (rest) - 1);                                   \
      result = combine;                                                                            \
    }                                                                                              \
    return result;                                                                                 \
  }
CCL_REDUCE (reduce_add, uint32_t, result + other)
CCL_REDUCE (reduce_min, uint32_t, min (result, other))
CCL_REDUCE (reduce_max, uint32_t, max (result, other))
CCL_REDUCE (reduce_add_long, unsigned long long, result + other)
#else
#define reduce_add __reduce_add_sync
#define reduce_min __reduce_min_sync
#define reduce_max __reduce_max_sync
/* In parts of 26 bits, whose sums over a warp fit into 32. */
static __device__ __forceinline__ unsigned long long
reduce_add_long (uint32_t lanes, unsigned long long value)
{
  const uint32_t mask = (1u << 26) - 1;
  unsigned long long low = __reduce_add_sync (lanes, (uint32_t)value & mask);
  unsigned long long middle = __reduce_add_sync (lanes, (uint32_t)(value >> 26) & mask);
  unsigned long long high = __reduce_add_sync (lanes, (uint32_t)(value >> 52));
  return low + (middle << 26) + (high << 52);
}
#endif

/* The sum of the values of the lanes up to and including this one. */
static __device__ __forceinline__ uint32_t
sum_through_lane (uint32_t value)
{
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    uint32_t other = __shfl_up_sync (ALL_LANES, value, distance);
    if (threadIdx.x % 32 >= distance)
      value += other;
  }
  return value;
}

/* How many lanes before this one are in the set. */
static __device__ __forceinline__ uint32_t
lanes_before (uint32_t lanes)
{
  return __popc (lanes & ((1u << (threadIdx.x % 32)) - 1));
}

/* ---- tile ---- */

/* What a tile knows of a piece, in coordinates of the tile. */
struct Features {
  uint32_t area;
  uint32_t sum_x, sum_y;
  uint32_t first; /* y × TILE_WIDTH + x of the first pixel */
  uint32_t left, right, last_row;
};

struct Tile {
  /* With one more word on each side of a strip, and one more strip above, that stay empty. */
  uint32_t occupied[STRIPS + 1][WORDS + 2];
  uint32_t bottom[STRIPS + 1][WORDS + 2]; /* the lower row of a strip of two */
  uint32_t base[STRIPS + 1][WORDS + 2];   /* see parts_through() */
  uint32_t top[STRIPS][WORDS];            /* the upper row, without all that */
  uint32_t parent[TILE_RUNS];             /* a run with a smaller number, or the run itself */
  uint16_t piece[TILE_RUNS];              /* of runs that are roots */
  alignas (16) uint32_t first_bits[2 * STRIPS][QUAD_WIDTH / 32];
  uint32_t n_pieces, n_open;
  union {
    uint32_t links[TILE_WARPS][WARP_LINKS]; /* two runs each */
    /* The features of the round's pieces, a field after the other. */
    struct {
      uint32_t area[ROUND_PIECES];
      uint32_t sum_x[ROUND_PIECES], sum_y[ROUND_PIECES];
      uint32_t first[ROUND_PIECES];
      uint32_t left[ROUND_PIECES], right[ROUND_PIECES], last_row[ROUND_PIECES];
    };
  };
};

/* Joins two sets of a forest in which parents have smaller numbers than their children. Steps up
 * from whichever is the larger until both are the same, so two that are close in the tree find
 * out soon, and links a root below the smaller. */
static __device__ __forceinline__ void
unite_runs (volatile uint32_t *parent, uint32_t a, uint32_t b)
{
  while (a != b) {
    uint32_t larger = max (a, b), smaller = min (a, b);
    uint32_t above = parent[larger];
    if (above == larger) {
      above = atomicMin ((uint32_t *)&parent[larger], smaller);
      if (above == larger)
        return;
    }
    a = above;
    b = smaller;
  }
}

/* The features of foreground pixels in one word. */
template <int ROWS>
static __device__ __forceinline__ Features
features_of (uint32_t top, uint32_t bottom, uint32_t column, uint32_t row)
{
  const uint32_t both = top | bottom;
  const uint32_t in_bottom = ROWS == 2 ? __popc (bottom) : 0;
  Features f;
  f.area = __popc (top) + in_bottom;
  f.sum_x = sum_of_positions (top, ROWS == 2 ? bottom : 0) + f.area * column;
  f.sum_y = f.area * row + in_bottom;
  f.left = column + __ffs (both) - 1;
  f.right = column + 31 - __clz (both);
  f.first = top ? row * TILE_WIDTH + column + __ffs (top) - 1 : (row + 1) * TILE_WIDTH + f.left;
  f.last_row = ROWS == 2 && bottom ? row + 1 : row;
  return f;
}

static __device__ __forceinline__ void
add_to_piece (Tile &tile, uint32_t piece, const Features &f)
{
  atomicAdd (&tile.area[piece], f.area);
  atomicAdd (&tile.sum_x[piece], f.sum_x);
  atomicAdd (&tile.sum_y[piece], f.sum_y);
  atomicMin (&tile.first[piece], f.first);
  atomicMin (&tile.left[piece], f.left);
  atomicMax (&tile.right[piece], f.right);
  atomicMax (&tile.last_row[piece], f.last_row);
}

/* Adds every lane's features (piece NOTHING: none). Lanes that share a piece with the first, as
 * most do inside a large component, are summed up by the warp before. */
static __device__ __forceinline__ void
add_to_pieces_by_warp (Tile &tile, uint32_t piece, Features f)
{
  const uint32_t waiting = __ballot_sync (ALL_LANES, piece != NOTHING);
  if (!waiting)
    return;
  const uint32_t first_lane = __ffs (waiting) - 1;
  const uint32_t shared_piece = __shfl_sync (ALL_LANES, piece, first_lane);
  const uint32_t sharing = __ballot_sync (ALL_LANES, piece == shared_piece);
  if (__popc (sharing) > 2 && piece == shared_piece) {
    f.area = reduce_add (sharing, f.area);
    f.sum_x = reduce_add (sharing, f.sum_x);
    f.sum_y = reduce_add (sharing, f.sum_y);
    f.first = reduce_min (sharing, f.first);
    f.left = reduce_min (sharing, f.left);
    f.right = reduce_max (sharing, f.right);
    f.last_row = reduce_max (sharing, f.last_row);
    if (threadIdx.x % 32 != first_lane)
      piece = NOTHING;
  }
  if (piece != NOTHING)
    add_to_piece (tile, piece, f);
}

static __device__ __forceinline__ void
clear_features (Tile &tile, uint32_t piece)
{
  tile.area[piece] = tile.sum_x[piece] = tile.sum_y[piece] = 0;
  tile.right[piece] = tile.last_row[piece] = 0;
  tile.first[piece] = tile.left[piece] = NOTHING;
}

/* Links the runs that start in this thread's word to a run above each, and lists what other
 * links its runs have for later. Returns the length of the warp's list. */
template <int ROWS>
static __device__ __forceinline__ uint32_t
link_to_strip_above (
    Tile &tile, uint32_t w, uint32_t s, uint32_t top, uint32_t occupied, uint32_t starts)
{
  /* In these words column c is bit c + 1; bits 0 and 17 are the neighbours'. Row s of the tile's
   * arrays is the strip above. */
  const uint32_t above_occupied = tile.occupied[s][w + 1] << 1 | tile.occupied[s][w] >> 15 |
                                  (tile.occupied[s][w + 2] & 1) << 17;
  const uint32_t above_bottom =
      tile.bottom[s][w + 1] << 1 | tile.bottom[s][w] >> 15 | (tile.bottom[s][w + 2] & 1) << 17;
  const uint32_t above_starts = above_occupied >> 1 & ~(above_occupied & ~1u);
  const uint32_t above_base = tile.base[s][w + 1], above_next_base = tile.base[s][w + 2];
  uint32_t *const links = tile.links[threadIdx.x / 32];
  uint32_t n_links = 0;

  uint32_t rest = occupied, run = tile.base[s + 1][w + 1] - 1;
  uint32_t touched = 0;
  bool is_new = false;
  while (__any_sync (ALL_LANES, rest || touched)) {
    if (!touched && rest) {
      const uint32_t part = lowest_run (rest);
      rest ^= part;
      run++;
      uint32_t reach = (top & part) << 1;
      if (ROWS == 2)
        reach |= reach << 1 | reach >> 1;
      touched = above_bottom & reach;
      is_new = part & starts;
      if (is_new && !touched)
        tile.parent[run] = run;
    }
    bool is_listed = false;
    uint32_t above = 0;
    if (touched) {
      const uint32_t lowest = touched & -touched;
      touched &= above_occupied + lowest; /* clears what belongs to the same run */
      if (lowest == 1u << 17)
        above = above_next_base;
      else if (lowest == 1)
        above = above_base - 1 + (above_occupied >> 1 & 1);
      else
        above = above_base - 1 + __popc (above_starts & (lowest - 1));
      if (is_new)
        tile.parent[run] = above;
      is_listed = !is_new;
      is_new = false;
    }
    const uint32_t listed = __ballot_sync (ALL_LANES, is_listed);
    if (is_listed)
      links[n_links + lanes_before (listed)] = run << 16 | above;
    n_links += __popc (listed);
  }
  return n_links;
}

/* The number of the run that has an occupied column of the tile; row s + 1 of the tile's arrays is
 * strip s. */
static __device__ __forceinline__ uint32_t
run_at (const Tile &tile, uint32_t s, uint32_t column)
{
  const uint32_t w = column / WORD_WIDTH;
  return tile.base[s + 1][w + 1] - 1 +
         parts_through (tile.occupied[s + 1][w + 1], column % WORD_WIDTH);
}

/* Writes down which piece has a pixel of an edge, if it is one of this round's. */
template <int ROWS>
static __device__ __forceinline__ void
write_edge_pixel (const Parameters &p, const Tile &tile, uint32_t edge, uint32_t number,
    uint32_t row, uint32_t column, uint32_t round, uint32_t origin)
{
  const uint32_t s = row / ROWS, w = column / WORD_WIDTH;
  const uint32_t word = ROWS == 1 || row % 2 == 0 ? tile.top[s][w] : tile.bottom[s + 1][w + 1];
  uint32_t pixel = NOTHING;
  if (word >> (column % WORD_WIDTH) & 1) {
    const uint32_t piece = tile.piece[tile.parent[run_at (tile, s, column)]] - round;
    if (piece >= ROUND_PIECES)
      return;
    const uint32_t first = tile.first[piece];
    pixel = origin + first / TILE_WIDTH * (p.row_quads * QUAD_WIDTH) + first % TILE_WIDTH;
  } else if (round > 0)
    return;
  p.edge[(blockIdx.x * CCL_STRIPS_EDGES + edge) * TILE_EDGE + number] = pixel;
}

/* The label map of a tile without foreground. */
static __device__ __forceinline__ void
clear_labels_of_tile (const Parameters &p, uint32_t tile_x, uint32_t tile_y, uint32_t rows)
{
  const uint32_t lane = threadIdx.x % 32, end_y = min (tile_y + rows, p.height);
  const uint32_t x = tile_x + lane * 4;
  for (uint32_t y = tile_y + threadIdx.x / 32; y < end_y; y += TILE_WARPS) {
    uint32_t *labels = p.labels + y * p.labels_stride + x;
    if (p.labels_vectorised && x + 4 <= p.width)
      *(uint4 *)labels = make_uint4 (0, 0, 0, 0);
    else
      for (uint32_t i = 0; i < 4 && x + i < p.width; i++)
        labels[i] = 0;
  }
}

template <int ROWS>
static __device__ __forceinline__ void
label_tile (const Parameters &p)
{
  __shared__ Tile tile;
  enum { TILE_ROWS = STRIPS * ROWS };

  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t w = threadIdx.x % WORDS, s = threadIdx.x / WORDS;
  const uint32_t tile_column = blockIdx.x % p.tile_columns, tile_row = blockIdx.x / p.tile_columns;
  const uint32_t tile_x = tile_column * TILE_WIDTH, tile_y = tile_row * TILE_ROWS;
  const uint32_t column = w * WORD_WIDTH, row = s * ROWS; /* in the tile */
  const uint32_t row_pixels = p.row_quads * QUAD_WIDTH;
  const uint32_t origin = tile_y * row_pixels + tile_x; /* the number of the tile's first pixel */

  let_next_kernel_start ();

  /* Everything before the wait touches only the frame and shared memory. */
  uint32_t words[2] = {0, 0};
  if (p.vectorised)
    for (int i = 0; i < ROWS; i++)
      words[i] = word_of_aligned_row (p, tile_x + column, tile_y + row + i);
  else
    words_of_unaligned_rows (p, tile_x + column, tile_y + row, ROWS, words);
  const uint32_t top = words[0], bottom = words[ROWS - 1], occupied = words[0] | words[1];

  if (threadIdx.x < STRIPS + 1) {
    tile.occupied[threadIdx.x][0] = tile.occupied[threadIdx.x][WORDS + 1] = 0;
    tile.bottom[threadIdx.x][0] = tile.bottom[threadIdx.x][WORDS + 1] = 0;
  }
  if (threadIdx.x < WORDS)
    tile.occupied[0][threadIdx.x + 1] = tile.bottom[0][threadIdx.x + 1] = 0;
  (&tile.first_bits[0][0])[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    tile.n_pieces = tile.n_open = 0;

  /* Number the runs in raster order of the warp's strips, the numbers of each warp apart. The
   * base of a word whose first part belongs to a run that started before is that run's number. */
  const uint32_t before = __shfl_up_sync (ALL_LANES, occupied, 1);
  const uint32_t starts = occupied & ~(occupied << 1 | (w > 0 ? before >> 15 : 0));
  const uint32_t n_starts = __popc (starts);
  const uint32_t starts_through = sum_through_lane (n_starts);
  const uint32_t n_runs = __shfl_sync (ALL_LANES, starts_through, 31);
  const uint32_t base =
      warp * WARP_RUNS + starts_through - n_starts - ((occupied & 1) && !(starts & 1));

  tile.top[s][w] = top;
  tile.occupied[s + 1][w + 1] = occupied;
  tile.bottom[s + 1][w + 1] = bottom;
  tile.base[s + 1][w + 1] = base;
  const bool nothing = !__syncthreads_or (occupied);
  wait_for_previous_kernel ();

  if (nothing) {
    if (threadIdx.x < TILE_ROWS && tile_y + threadIdx.x < p.height)
      ((uint4 *)p.first_bits)[(tile_y + threadIdx.x) * p.row_quads + tile_column] =
          make_uint4 (0, 0, 0, 0);
    if (threadIdx.x == 0)
      p.piece_count[blockIdx.x] = p.open_count[blockIdx.x] = 0;
    if (p.labels)
      clear_labels_of_tile (p, tile_x, tile_y, TILE_ROWS);
    return;
  }
  const uint32_t row_words = p.row_quads * WORDS, word = tile_column * WORDS + w;
  for (int i = 0; i < ROWS; i++)
    p.bits[(tile_y + row + i) * row_words + word] = words[i];
  p.word_base[(tile_row * STRIPS + s) * row_words + word] = base;

  const uint32_t n_links = link_to_strip_above<ROWS> (tile, w, s, top, occupied, starts);
  __syncthreads ();

  /* What is listed is joined after the trees that the first links made have been flattened. The
   * two may overlap: flattening writes to runs below a root only, joining to roots. */
  volatile uint32_t *const parent = tile.parent;
  const uint32_t first_run = warp * WARP_RUNS, end_run = first_run + n_runs;
  for (uint32_t run = first_run + lane; run < end_run; run += 32) {
    uint32_t above = parent[run];
    for (uint32_t next = parent[above]; next != above; next = parent[above]) {
      atomicMin (&tile.parent[run], next);
      above = next;
    }
  }
  __syncwarp ();
  for (uint32_t i = lane; i < n_links; i += 32) {
    const uint32_t link = tile.links[warp][i];
    unite_runs (parent, link >> 16, link & 0xffff);
  }
  __syncthreads ();

  /* Flatten again, and number the roots: they are the pieces. */
  uint32_t n_roots = 0;
  for (uint32_t run = first_run + lane; run - lane < end_run; run += 32) {
    bool is_root = false;
    if (run < end_run) {
      uint32_t above = parent[run];
      is_root = above == run;
      for (uint32_t next = parent[above]; next != above; next = parent[above])
        above = next;
      atomicMin (&tile.parent[run], above);
    }
    n_roots += __popc (__ballot_sync (ALL_LANES, is_root));
  }
  uint32_t piece = 0;
  if (lane == 0)
    piece = atomicAdd (&tile.n_pieces, n_roots);
  piece = __shfl_sync (ALL_LANES, piece, 0);
  for (uint32_t run = first_run + lane; run - lane < end_run; run += 32) {
    const bool is_root = run < end_run && parent[run] == run;
    const uint32_t roots = __ballot_sync (ALL_LANES, is_root);
    if (is_root) {
      const uint32_t number = piece + lanes_before (roots);
      tile.piece[run] = number;
      if (number < ROUND_PIECES)
        clear_features (tile, number);
    }
    piece += __popc (roots);
  }
  __syncthreads ();
  const uint32_t n_pieces = tile.n_pieces;

  for (uint32_t round = 0; round < n_pieces; round += ROUND_PIECES) {
    const uint32_t in_round = min (n_pieces - round, (uint32_t)ROUND_PIECES);
    if (round > 0) {
      __syncthreads ();
      for (uint32_t i = threadIdx.x; i < in_round; i += TILE_THREADS)
        clear_features (tile, i);
      __syncthreads ();
    }
    /* Parts of a word that follow each other and belong to one piece are counted together. */
    uint32_t current = NOTHING, its_top = 0, its_bottom = 0, run = base - 1;
    for (uint32_t rest = occupied; rest;) {
      const uint32_t part = lowest_run (rest);
      rest ^= part;
      run++;
      const uint32_t number = tile.piece[tile.parent[run]] - round;
      if (number >= in_round)
        continue;
      if (number != current && current != NOTHING) {
        add_to_piece (tile, current, features_of<ROWS> (its_top, its_bottom, column, row));
        its_top = its_bottom = 0;
      }
      current = number;
      its_top |= top & part;
      its_bottom |= bottom & part;
    }
    __syncwarp ();
    add_to_pieces_by_warp (tile, current, features_of<ROWS> (its_top, its_bottom, column, row));
    __syncthreads ();

    for (uint32_t i = threadIdx.x; i < in_round; i += TILE_THREADS) {
      const uint32_t area = tile.area[i], first = tile.first[i];
      const uint32_t first_row = first / TILE_WIDTH, first_column = first % TILE_WIDTH;
      const uint32_t pixel = origin + first_row * row_pixels + first_column;
      const bool is_open = (first_row == 0 && tile_row > 0) ||
                           (tile.last_row[i] == TILE_ROWS - 1 && tile_row + 1 < p.tile_rows) ||
                           (tile.left[i] == 0 && tile_column > 0) ||
                           (tile.right[i] == TILE_WIDTH - 1 && tile_column + 1 < p.tile_columns);
      const uint32_t number = blockIdx.x * TILE_RUNS + round + i;
      if (p.labels)
        p.piece_first[number] = is_open ? pixel | CCL_STRIPS_OPEN : pixel;
      if (is_open) {
        const uint32_t open = blockIdx.x * CCL_STRIPS_TILE_OPEN + atomicAdd (&tile.n_open, 1u);
        p.piece[number] = make_uint4 (0, open, 0, 0);
        p.open_first[open] = pixel;
        p.parent[pixel] = CCL_STRIPS_ROOT | open;
        p.features.sum_x[open] = (unsigned long long)area * tile_x + tile.sum_x[i];
        p.features.sum_y[open] = (unsigned long long)area * tile_y + tile.sum_y[i];
        p.features.area[open] = area;
        p.features.left[open] = tile_x + tile.left[i];
        p.features.right[open] = tile_x + tile.right[i];
        p.features.bottom[open] = tile_y + tile.last_row[i];
      } else {
        p.piece[number] = make_uint4 (area | tile.last_row[i] << 16, tile.sum_x[i], tile.sum_y[i],
            tile.left[i] | tile.right[i] << 16);
        if (area >= p.min_area && area <= p.max_area)
          atomicOr (&tile.first_bits[first_row][first_column / 32], 1u << (first_column % 32));
      }
    }

    /* The pieces that the edges' pixels belong to: half of the threads have the upper and the left
     * edge, half the lower and the right. */
    const uint32_t at = threadIdx.x % TILE_EDGE;
    const bool is_first = threadIdx.x < TILE_EDGE;
    write_edge_pixel<ROWS> (p, tile, is_first ? CCL_STRIPS_TOP : CCL_STRIPS_BOTTOM, at,
        is_first ? 0 : TILE_ROWS - 1, at, round, origin);
    if (at < TILE_ROWS)
      write_edge_pixel<ROWS> (p, tile, is_first ? CCL_STRIPS_LEFT : CCL_STRIPS_RIGHT, at, at,
          is_first ? 0 : TILE_WIDTH - 1, round, origin);
    for (uint32_t run = first_run + lane; run < end_run; run += 32) {
      const uint32_t number = tile.piece[tile.parent[run]] - round;
      if (number < in_round)
        p.run_piece[blockIdx.x * TILE_RUNS + run] = round + number;
    }
  }
  __syncthreads ();

  if (threadIdx.x < TILE_ROWS && tile_y + threadIdx.x < p.height) {
    const uint4 quad = *(const uint4 *)tile.first_bits[threadIdx.x];
    const uint32_t number = (tile_y + threadIdx.x) * p.row_quads + tile_column;
    ((uint4 *)p.first_bits)[number] = quad;
    const uint32_t count = count_bits (quad);
    if (count)
      atomicAdd (&p.chunk_count[number >> p.chunk_shift], count);
  }
  if (threadIdx.x == 0) {
    p.piece_count[blockIdx.x] = n_pieces;
    p.open_count[blockIdx.x] = tile.n_open;
  }
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_TILE_THREADS) ccl_strips_tile_4 (const CclStripsParameters parameters)
{
  label_tile<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_TILE_THREADS) ccl_strips_tile_8 (const CclStripsParameters parameters)
{
  label_tile<2> (parameters);
}

/* ---- merge ---- */

/* The root of a piece, both given by their first pixels, and what the root's entry holds. On the
 * way up, what is passed is linked to its grandparent, so that the next one has half as far to
 * go; only entries below roots are written, which nobody else joins anything to. */
static __device__ __forceinline__ uint32_t
find_root (volatile uint32_t *parent, uint32_t piece, uint32_t *entry)
{
  uint32_t above = parent[piece];
  if (above & CCL_STRIPS_ROOT) {
    *entry = above;
    return piece;
  }
  uint32_t next = parent[above];
  while (!(next & CCL_STRIPS_ROOT)) {
    parent[piece] = next;
    piece = above;
    above = next;
    next = parent[above];
  }
  *entry = next;
  return above;
}

/* Joins two pieces: the root with the later first pixel is linked below the other. */
static __device__ __forceinline__ void
unite_pieces (uint32_t *parent, uint32_t a, uint32_t b)
{
  uint32_t a_entry, b_entry;
  a = find_root (parent, a, &a_entry);
  b = find_root (parent, b, &b_entry);
  while (a != b) {
    if (a < b) {
      uint32_t swapped = a;
      a = b;
      b = swapped;
      swapped = a_entry;
      a_entry = b_entry;
      b_entry = swapped;
    }
    const uint32_t found = atomicCAS (&parent[a], a_entry, b);
    if (found == a_entry) {
      /* Pointer jumping from here on: where the pieces of a component follow each other in a long
       * line, all of them shorten it together instead of the few that have to climb it. */
      volatile uint32_t *entries = parent;
      for (uint32_t next = entries[b]; !(next & CCL_STRIPS_ROOT); next = entries[next])
        entries[a] = next;
      return;
    }
    a = find_root (parent, found, &a_entry); /* somebody else was faster */
  }
}

/* Joins the two pieces of every lane (b NOTHING: none), once where lanes have the same two. */
static __device__ __forceinline__ void
unite_pieces_by_warp (const Parameters &p, uint32_t a, uint32_t b)
{
  const uint32_t lanes = __ballot_sync (ALL_LANES, b != NOTHING);
  if (b == NOTHING)
    return;
  const uint32_t same = __match_any_sync (lanes, (unsigned long long)a << 32 | b);
  if (threadIdx.x % 32 == __ffs (same) - 1)
    unite_pieces (p.parent, a, b);
}

/* The piece of a pixel of an edge; NOTHING if the tile has no open pieces. The two loads do not
 * wait for each other. */
static __device__ __forceinline__ uint32_t
edge_pixel (const Parameters &p, uint32_t tile, uint32_t edge, uint32_t number)
{
  const uint32_t pixel = p.edge[(tile * CCL_STRIPS_EDGES + edge) * TILE_EDGE + number];
  return p.open_count[tile] ? pixel : NOTHING;
}

/* A thread has a pixel of a tile's upper or left edge, and joins it to the pixels across that it
 * touches. */
template <int ROWS>
static __device__ __forceinline__ void
merge_tiles (const Parameters &p)
{
  enum { TILE_ROWS = STRIPS * ROWS };
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t thread = blockIdx.x * CCL_STRIPS_MERGE_THREADS + threadIdx.x;
  const uint32_t number = thread % TILE_EDGE, edge = thread / TILE_EDGE;
  const uint32_t n_tiles = p.tile_columns * p.tile_rows, tile = edge % n_tiles;
  const uint32_t tile_column = tile % p.tile_columns, tile_row = tile / p.tile_columns;

  uint32_t own = NOTHING, across = NOTHING, before = NOTHING, after = NOTHING;
  if (edge < n_tiles) {
    if (tile_row > 0) {
      const uint32_t above = tile - p.tile_columns;
      own = edge_pixel (p, tile, CCL_STRIPS_TOP, number);
      across = edge_pixel (p, above, CCL_STRIPS_BOTTOM, number);
      if (ROWS == 2) {
        if (number > 0)
          before = edge_pixel (p, above, CCL_STRIPS_BOTTOM, number - 1);
        else if (tile_column > 0)
          before = edge_pixel (p, above - 1, CCL_STRIPS_BOTTOM, TILE_WIDTH - 1);
        if (number < TILE_WIDTH - 1)
          after = edge_pixel (p, above, CCL_STRIPS_BOTTOM, number + 1);
        else if (tile_column + 1 < p.tile_columns)
          after = edge_pixel (p, above + 1, CCL_STRIPS_BOTTOM, 0);
      }
    }
  } else if (edge < 2 * n_tiles && tile_column > 0 && number < TILE_ROWS) {
    /* Diagonals from one row of tiles to another are seen from the upper edges. */
    own = edge_pixel (p, tile, CCL_STRIPS_LEFT, number);
    across = edge_pixel (p, tile - 1, CCL_STRIPS_RIGHT, number);
    if (ROWS == 2) {
      if (number > 0)
        before = edge_pixel (p, tile - 1, CCL_STRIPS_RIGHT, number - 1);
      if (number < TILE_ROWS - 1)
        after = edge_pixel (p, tile - 1, CCL_STRIPS_RIGHT, number + 1);
    }
  }
  /* The pixel straight across is of one piece with its neighbours, or will be. */
  if (across == NOTHING)
    across = before;
  else
    after = NOTHING;
  unite_pieces_by_warp (p, own, own == NOTHING ? NOTHING : across);
  unite_pieces_by_warp (p, own, own == NOTHING ? NOTHING : after);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_MERGE_THREADS)
    ccl_strips_merge_4 (const CclStripsParameters parameters)
{
  merge_tiles<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_MERGE_THREADS)
    ccl_strips_merge_8 (const CclStripsParameters parameters)
{
  merge_tiles<2> (parameters);
}

/* ---- fold, filter ---- */

static __device__ __forceinline__ void
set_first_bit (const Parameters &p, uint32_t pixel)
{
  atomicOr (&p.first_bits[pixel / 32], 1u << (pixel % 32));
  atomicAdd (&p.chunk_count[pixel / QUAD_WIDTH >> p.chunk_shift], 1u);
}

/* The number and the first pixel of this thread's open piece, if it has one: each tile has as many
 * threads as it can have open pieces. */
static __device__ __forceinline__ bool
own_open_piece (const Parameters &p, uint32_t &open, uint32_t &first)
{
  open = blockIdx.x * CCL_STRIPS_FOLD_THREADS + threadIdx.x;
  const uint32_t tile = open / CCL_STRIPS_TILE_OPEN;
  if (tile >= p.tile_columns * p.tile_rows)
    return false;
  first = p.open_first[open]; /* without waiting for the count */
  return open % CCL_STRIPS_TILE_OPEN < p.open_count[tile];
}

/* The features of one piece. */
struct PieceFeatures {
  unsigned long long sum_x, sum_y;
  uint32_t area, left, right, bottom;
};

static __device__ __forceinline__ PieceFeatures
load_features (const CclStripsFeatures &f, uint32_t piece)
{
  return {f.sum_x[piece], f.sum_y[piece], f.area[piece], f.left[piece], f.right[piece],
      f.bottom[piece]};
}

static __device__ __forceinline__ void
add_to_root (const CclStripsFeatures &f, uint32_t root, const PieceFeatures &features)
{
  atomicAdd (&f.sum_x[root], features.sum_x);
  atomicAdd (&f.sum_y[root], features.sum_y);
  atomicAdd (&f.area[root], features.area);
  atomicMin (&f.left[root], features.left);
  atomicMax (&f.right[root], features.right);
  atomicMax (&f.bottom[root], features.bottom);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_FOLD_THREADS) ccl_strips_fold (const CclStripsParameters parameters)
{
  const Parameters &p = parameters;
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  uint32_t open, first, root_number = NOTHING;
  PieceFeatures features;
  if (own_open_piece (p, open, first)) {
    /* Pointer jumping, each thread in its own entry: whoever comes by later has half as far to
     * go, and in the end the entry holds the root. */
    volatile uint32_t *parent = p.parent;
    uint32_t root = first, entry = parent[root];
    features = load_features (p.features, open);
    if (!(entry & CCL_STRIPS_ROOT)) {
      root = entry;
      entry = parent[root];
      while (!(entry & CCL_STRIPS_ROOT)) {
        parent[first] = entry;
        root = entry;
        entry = parent[root];
      }
      root_number = entry & ~CCL_STRIPS_ROOT;
    } else if (!p.filtered)
      set_first_bit (p, root);
  }
  __syncwarp ();

  /* Pieces of one large component tend to lie side by side: sum them up by warp, twice, before
   * what is left goes to memory one by one. */
  for (int i = 0; i < 2; i++) {
    const uint32_t waiting = __ballot_sync (ALL_LANES, root_number != NOTHING);
    if (!waiting)
      return;
    const uint32_t first_lane = __ffs (waiting) - 1;
    const uint32_t shared_root = __shfl_sync (ALL_LANES, root_number, first_lane);
    const uint32_t sharing = __ballot_sync (ALL_LANES, root_number == shared_root);
    if (root_number == shared_root) {
      features.sum_x = reduce_add_long (sharing, features.sum_x);
      features.sum_y = reduce_add_long (sharing, features.sum_y);
      features.area = reduce_add (sharing, features.area);
      features.left = reduce_min (sharing, features.left);
      features.right = reduce_max (sharing, features.right);
      features.bottom = reduce_max (sharing, features.bottom);
      if (threadIdx.x % 32 == first_lane)
        add_to_root (p.features, root_number, features);
      root_number = NOTHING;
    }
    __syncwarp ();
  }
  if (root_number != NOTHING)
    add_to_root (p.features, root_number, features);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_FOLD_THREADS) ccl_strips_filter (const CclStripsParameters parameters)
{
  const Parameters &p = parameters;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  uint32_t open, first;
  if (!own_open_piece (p, open, first) || !(p.parent[first] & CCL_STRIPS_ROOT))
    return;
  const uint32_t area = p.features.area[open];
  if (area >= p.min_area && area <= p.max_area)
    set_first_bit (p, first);
}

/* ---- rank ---- */

/* The sum over the block of the values of the threads before this one; the sum of all in total.
 * Ends with a barrier. */
static __device__ __forceinline__ uint32_t
sum_before_thread (uint32_t value, uint32_t *total)
{
  __shared__ uint32_t warp_sums[CCL_STRIPS_RANK_THREADS / 32];
  const uint32_t sum = sum_through_lane (value);
  if (threadIdx.x % 32 == 31)
    warp_sums[threadIdx.x / 32] = sum;
  __syncthreads ();
  uint32_t before = 0, all = 0;
  for (uint32_t i = 0; i < CCL_STRIPS_RANK_THREADS / 32; i++) {
    before += i < threadIdx.x / 32 ? warp_sums[i] : 0;
    all += warp_sums[i];
  }
  __syncthreads ();
  *total = all;
  return before + sum - value;
}

/* The features of the component with this first pixel. */
template <int ROWS>
static __device__ __forceinline__ PieceFeatures
find_features (const Parameters &p, uint32_t x, uint32_t y)
{
  const uint32_t row_words = p.row_quads * WORDS, strip = y / ROWS, word = x / WORD_WIDTH;
  const uint16_t *bits = p.bits + strip * ROWS * row_words + word;
  const uint32_t occupied = bits[0] | (ROWS == 2 ? bits[row_words] : 0);
  const uint32_t base = p.word_base[strip * row_words + word];
  const uint32_t run = base - 1 + parts_through (occupied, x % WORD_WIDTH);
  const uint32_t tile_column = x / TILE_WIDTH, tile_row = strip / STRIPS;
  const uint32_t tile = tile_row * p.tile_columns + tile_column;
  const uint4 piece = p.piece[tile * TILE_RUNS + p.run_piece[tile * TILE_RUNS + run]];
  if (piece.x == 0)
    return load_features (p.features, piece.y);

  const uint32_t tile_x = tile_column * TILE_WIDTH, tile_y = tile_row * STRIPS * ROWS;
  PieceFeatures f;
  f.area = piece.x & 0xffff;
  f.sum_x = (unsigned long long)f.area * tile_x + piece.y;
  f.sum_y = (unsigned long long)f.area * tile_y + piece.z;
  f.left = tile_x + (piece.w & 0xffff);
  f.right = tile_x + (piece.w >> 16);
  f.bottom = tile_y + (piece.x >> 16);
  return f;
}

template <int ROWS>
static __device__ __forceinline__ CclComponent
make_row (const Parameters &p, uint32_t label, uint32_t pixel)
{
  const uint32_t row_pixels = p.row_quads * QUAD_WIDTH, y = pixel / row_pixels;
  const PieceFeatures f = find_features<ROWS> (p, pixel % row_pixels, y);
  CclComponent row;
  row.label = label;
  row.area = f.area;
  row.x = f.left;
  row.y = y;
  row.width = f.right - f.left + 1;
  row.height = f.bottom - y + 1;
  row.centroid_x = (double)f.sum_x / (double)f.area;
  row.centroid_y = (double)f.sum_y / (double)f.area;
  return row;
}

/* A block ranks a chunk of quads, a thread a word of 32 pixels at a time, and writes the rows of
 * the components that have their first pixels there. */
template <int ROWS>
static __device__ __forceinline__ void
rank_chunk (const Parameters &p)
{
  enum {
    THREADS = CCL_STRIPS_RANK_THREADS,
    ROW_UNITS = sizeof (CclComponent) / sizeof (unsigned long long),
  };
  /* First pixels of components, counted from the first of the words at hand: in 2×2 pixels there
   * is one at most with 8-connectivity, two with 4. */
  __shared__ uint16_t firsts[THREADS * 32 / 2];
  __shared__ CclComponent rows[THREADS];
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  const uint32_t start = (blockIdx.x << p.chunk_shift) * 4;
  const uint32_t end = min (start + (4u << p.chunk_shift), p.n_quads * 4);
  uint32_t bits = start + threadIdx.x < end ? p.first_bits[start + threadIdx.x] : 0;
  uint32_t before = 0;
  for (uint32_t i = threadIdx.x; i < blockIdx.x; i += THREADS)
    before += p.chunk_count[i];
  /* Nobody looks at the other counts before the next frame. */
  if (threadIdx.x == 0)
    p.next_chunk_count[blockIdx.x] = 0;
  uint32_t rank;
  sum_before_thread (before, &rank);

  for (uint32_t first = start; first < end; first += THREADS) {
    const uint32_t word = first + threadIdx.x;
    uint32_t total;
    const uint32_t before_word = sum_before_thread (__popc (bits), &total);
    if (word < end && word % 4 == 0)
      p.quad_rank[word / 4] = rank + before_word;

    /* The labels of these components are rank + 1 … rank + total. */
    const uint32_t n_rows = rank < p.max_components ? min (total, p.max_components - rank) : 0;
    if (n_rows) {
      for (uint32_t next = before_word; bits; bits &= bits - 1)
        firsts[next++] = threadIdx.x * 32 + __ffs (bits) - 1;
      __syncthreads ();
      for (uint32_t done = 0; done < n_rows; done += THREADS) {
        const uint32_t n = min (n_rows - done, (uint32_t)THREADS);
        if (threadIdx.x < n)
          rows[threadIdx.x] = make_row<ROWS> (
              p, rank + done + threadIdx.x + 1, first * 32 + firsts[done + threadIdx.x]);
        __syncthreads ();
        /* The rows cross the bus in whole lines. */
        for (uint32_t i = threadIdx.x; i < n * ROW_UNITS; i += THREADS)
          ((unsigned long long *)(p.rows + rank + done))[i] = ((unsigned long long *)rows)[i];
        __syncthreads ();
      }
    }
    rank += total;
    bits = word + THREADS < end ? p.first_bits[word + THREADS] : 0;
  }
  if (blockIdx.x == p.n_chunks - 1 && threadIdx.x == 0)
    *p.n_components = rank;
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_rank_4 (const CclStripsParameters parameters)
{
  rank_chunk<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_rank_8 (const CclStripsParameters parameters)
{
  rank_chunk<2> (parameters);
}

/* ---- deliver ---- */

/* The label of the component whose first pixel is this one of a quad with this rank; 0 if its area
 * was filtered out. */
static __device__ __forceinline__ uint32_t
label_in_quad (uint4 quad, uint32_t rank, uint32_t pixel)
{
  const uint32_t bit = pixel % 32, word = pixel / 32 % 4;
  const uint32_t own = word == 0 ? quad.x : word == 1 ? quad.y : word == 2 ? quad.z : quad.w;
  if (!(own >> bit & 1))
    return 0;
  return rank + 1 + __popc (own & ((1u << bit) - 1)) + (word > 0 ? __popc (quad.x) : 0) +
         (word > 1 ? __popc (quad.y) : 0) + (word > 2 ? __popc (quad.z) : 0);
}

template <int ROWS>
static __device__ __forceinline__ void
deliver_tile (const Parameters &p)
{
  enum {
    THREADS = CCL_STRIPS_DELIVER_THREADS,
    TILE_ROWS = STRIPS * ROWS,
    GROUPS = TILE_WIDTH / 4, /* a thread writes four pixels at a time */
  };
  __shared__ uint32_t piece_label[TILE_RUNS];
  alignas (16) __shared__ uint16_t run_piece[TILE_RUNS];
  __shared__ uint16_t bits[TILE_ROWS][WORDS];
  __shared__ uint16_t base[STRIPS][WORDS];
  __shared__ uint4 quads[TILE_ROWS];
  __shared__ uint32_t ranks[TILE_ROWS];
  const uint32_t tile_column = blockIdx.x % p.tile_columns, tile_row = blockIdx.x / p.tile_columns;
  const uint32_t row_words = p.row_quads * WORDS;
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  /* Most of what a tile has is loaded at once, before it is known how much of it there is. */
  const uint32_t n_pieces = p.piece_count[blockIdx.x];
  uint32_t pixel = p.piece_first[blockIdx.x * TILE_RUNS + threadIdx.x];
  const uint4 pieces = ((const uint4 *)(p.run_piece + blockIdx.x * TILE_RUNS))[threadIdx.x];
  if (n_pieces == 0)
    return; /* the tile kernel has written the zeros */
  ((uint4 *)run_piece)[threadIdx.x] = pieces;
  for (uint32_t i = threadIdx.x; i < TILE_ROWS * WORDS; i += THREADS)
    bits[i / WORDS][i % WORDS] =
        p.bits[(tile_row * TILE_ROWS + i / WORDS) * row_words + tile_column * WORDS + i % WORDS];
  for (uint32_t i = threadIdx.x; i < STRIPS * WORDS; i += THREADS)
    base[i / WORDS][i % WORDS] =
        p.word_base[(tile_row * STRIPS + i / WORDS) * row_words + tile_column * WORDS + i % WORDS];
  const uint32_t first_quad = tile_row * TILE_ROWS * p.row_quads + tile_column;
  if (threadIdx.x < TILE_ROWS && tile_row * TILE_ROWS + threadIdx.x < p.height) {
    quads[threadIdx.x] = ((const uint4 *)p.first_bits)[first_quad + threadIdx.x * p.row_quads];
    ranks[threadIdx.x] = p.quad_rank[first_quad + threadIdx.x * p.row_quads];
  }
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < n_pieces; i += THREADS) {
    if (i >= THREADS)
      pixel = p.piece_first[blockIdx.x * TILE_RUNS + i];
    uint32_t above = CCL_STRIPS_ROOT;
    if (pixel & CCL_STRIPS_OPEN) {
      pixel &= ~CCL_STRIPS_OPEN;
      above = p.parent[pixel];
    }
    if (above & CCL_STRIPS_ROOT) {
      const uint32_t row = pixel / QUAD_WIDTH / p.row_quads - tile_row * TILE_ROWS;
      piece_label[i] = label_in_quad (quads[row], ranks[row], pixel);
    } else {
      /* The component starts in another tile. */
      const uint32_t quad = above / QUAD_WIDTH;
      piece_label[i] =
          label_in_quad (((const uint4 *)p.first_bits)[quad], p.quad_rank[quad], above);
    }
  }
  __syncthreads ();

  const uint32_t column = threadIdx.x % GROUPS * 4, w = column / WORD_WIDTH;
  const uint32_t shift = column % WORD_WIDTH, x = tile_column * TILE_WIDTH + column;
  if (x >= p.width)
    return;
  for (uint32_t s = threadIdx.x / GROUPS; s < STRIPS; s += THREADS / GROUPS) {
    const uint32_t y = tile_row * TILE_ROWS + s * ROWS;
    const uint32_t rows[2] = {bits[s * ROWS][w], bits[s * ROWS + ROWS - 1][w]};
    const uint32_t word = rows[0] | rows[1], occupied = word >> shift & 15;
    /* Four columns have two parts at most, with a gap between them. */
    uint32_t first_label = 0, last_label = 0, after_gap = 0;
    if (occupied) {
      const uint32_t first_part = parts_through (word, shift + __ffs (occupied) - 1);
      const uint32_t last_part = parts_through (word, shift + 31 - __clz (occupied));
      first_label = last_label = piece_label[run_piece[base[s][w] - 1 + first_part]];
      if (last_part != first_part) {
        after_gap = occupied & (occupied + (occupied & -occupied)); /* without the lowest run */
        last_label = piece_label[run_piece[base[s][w] - 1 + last_part]];
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
        *(uint4 *)labels = make_uint4 (pixels[0], pixels[1], pixels[2], pixels[3]);
      else
        for (uint32_t k = 0; k < 4 && x + k < p.width; k++)
          labels[k] = pixels[k];
    }
  }
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_DELIVER_THREADS)
    ccl_strips_deliver_4 (const CclStripsParameters parameters)
{
  deliver_tile<1> (parameters);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_DELIVER_THREADS)
    ccl_strips_deliver_8 (const CclStripsParameters parameters)
{
  deliver_tile<2> (parameters);
}
