/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strips: labels and component table in one go; the project's own algorithm.
 *
 * It rests on an observation about 8-connectivity that is stronger than the one of 2×2 blocks
 * (Allegretti, Bolelli, Grana, TPDS 2020, section 4.3): in a strip of two rows, two foreground
 * pixels in the same or in adjacent columns always touch. So the runs of the bitwise OR of two
 * rows are connected sets, there are far fewer of them than of blocks or of ordinary runs, and
 * finding them takes a handful of bit operations. For 4-connectivity a strip is a single row.
 * Everything below works on words of 32 columns of a strip.
 *
 *   word    32 columns of a strip
 *   part    what a run has in one word
 *   slot    a number for a part: half the column it starts in (parts are two apart or more)
 *   tile    128 columns × 32 strips, labelled by one block of threads, one a word
 *   piece   what a component has in one tile; open if it touches an edge shared with another tile
 *   quad    128 columns of a row, one bit each
 *
 * Kernels, in stream order:
 *
 *   tile     pixels → bits; parts joined in shared memory; features of each piece; closed pieces
 *            are components, and the bit of their first pixel is set
 *   merge    joins open pieces across tile edges, the earlier first pixel always the parent, so a
 *            component's root is the piece with its first pixel
 *   fold     adds the features of open pieces to those of their root
 *   filter   (only with an area filter) sets the first-pixel bit of the roots that pass
 *   rank     counts the first-pixel bits before each quad: a component's label is the count of
 *            bits before its own, plus one
 *   deliver  writes table rows, and the label map if wanted
 *
 * No result depends on the order in which threads get to run: pieces are identified by their
 * first pixel, and all sums are integers.
 */
#include "strips-parameters.h"
#include "device/dependent-launch.cuh"

typedef CclStripsParameters Parameters;

enum {
  WORDS = CCL_STRIPS_TILE_WORDS,
  STRIPS = CCL_STRIPS_TILE_STRIPS,
  TILE_WIDTH = CCL_STRIPS_TILE_WIDTH,
  TILE_THREADS = CCL_STRIPS_TILE_THREADS,
  WORD_SLOTS = 16,
  STRIP_SLOTS = CCL_STRIPS_STRIP_SLOTS,
  TILE_SLOTS = CCL_STRIPS_TILE_SLOTS,
  ROUND_PIECES = 1024, /* pieces whose features fit into shared memory at a time */
};

static const uint32_t NOTHING = 0xffffffffu;
static const uint32_t ALL_LANES = 0xffffffffu;

/* ---- bits ---- */

/* The lowest run of ones of a word that is not zero. */
static __device__ __forceinline__ uint32_t
lowest_run (uint32_t word)
{
  return word & ~(word + (word & -word));
}

/* The column in which the run that has this column starts, as far as this word knows. */
static __device__ __forceinline__ uint32_t
part_start (uint32_t occupied, uint32_t column)
{
  uint32_t gaps = ~occupied & ((1u << column) - 1);
  return 32 - __clz (gaps);
}

/* The sum of the positions of the ones of two words. */
static __device__ __forceinline__ uint32_t
sum_of_positions (uint32_t a, uint32_t b)
{
  return (__popc (a & 0xaaaaaaaau) + __popc (b & 0xaaaaaaaau)) +
         2 * (__popc (a & 0xccccccccu) + __popc (b & 0xccccccccu)) +
         4 * (__popc (a & 0xf0f0f0f0u) + __popc (b & 0xf0f0f0f0u)) +
         8 * (__popc (a & 0xff00ff00u) + __popc (b & 0xff00ff00u)) +
         16 * (__popc (a & 0xffff0000u) + __popc (b & 0xffff0000u));
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

/* Sixteen pixels of a row, of which `inside` (1 to 16) are in the frame. */
static __device__ __forceinline__ uint32_t
sixteen_pixels (const uint8_t *pixels, uint32_t inside, const Parameters &p)
{
  uint32_t bits = 0;
  if (inside == 16) {
    uint32_t complement = (255 - p.threshold) * 0x01010101u;
    uint4 group = __ldcs ((const uint4 *)pixels);
    bits = shift_in_four_pixels (bits, group.w, complement);
    bits = shift_in_four_pixels (bits, group.z, complement);
    bits = shift_in_four_pixels (bits, group.y, complement);
    bits = shift_in_four_pixels (bits, group.x, complement);
    return bits;
  }
  for (uint32_t i = 0; i < inside; i++)
    bits |= (uint32_t)(pixels[i] > p.threshold) << i;
  return bits;
}

/* A thread's word of one row of a frame with aligned rows. */
static __device__ __forceinline__ uint32_t
word_of_aligned_row (const Parameters &p, uint32_t column, uint32_t row)
{
  if (column >= p.width || row >= p.height)
    return 0;
  const uint8_t *pixels = p.frame + row * p.frame_stride + column;
  uint32_t inside = min (p.width - column, 32u);
  uint32_t bits = sixteen_pixels (pixels, min (inside, 16u), p);
  if (inside > 16)
    bits |= sixteen_pixels (pixels + 16, inside - 16, p) << 16;
  return (bits ^ p.invert) & (NOTHING >> (32 - inside));
}

/* The same for rows at any address: the warp reads its words together, a pixel a lane. */
static __device__ __forceinline__ void
words_of_unaligned_rows (
    const Parameters &p, uint32_t column, uint32_t row, uint32_t rows, uint32_t words[2])
{
  uint32_t lane = threadIdx.x % 32;
  for (uint32_t other = 0; other < 32; other++) {
    uint32_t x = __shfl_sync (ALL_LANES, column, other) + lane;
    uint32_t y = __shfl_sync (ALL_LANES, row, other);
    for (uint32_t i = 0; i < rows; i++) {
      bool inside = x < p.width && y + i < p.height;
      bool foreground =
          inside && (p.frame[(y + i) * p.frame_stride + x] > p.threshold) != (p.invert != 0);
      uint32_t bits = __ballot_sync (ALL_LANES, foreground);
      if (lane == other)
        words[i] = bits;
    }
  }
}

/* ---- union-find ---- */

/* Joins two sets of a forest in which parents have smaller numbers than their children. Steps up
 * from whichever is the larger until both are the same, so two that are close in the tree find
 * out soon, and links a root below the smaller. */
static __device__ __forceinline__ void
unite (volatile uint32_t *parent, uint32_t a, uint32_t b)
{
  while (a != b) {
    if (a < b) {
      uint32_t smaller = a;
      a = b;
      b = smaller;
    }
    uint32_t above = parent[a];
    if (above == a) {
      above = atomicMin ((uint32_t *)&parent[a], b);
      if (above == a)
        return;
    }
    a = above;
  }
}

/* ---- tile ---- */

struct Tile {
  /* One word more on each side of a strip, and a strip more above, that are always empty. */
  uint32_t occupied[STRIPS + 1][WORDS + 2];
  uint32_t bottom[STRIPS + 1][WORDS + 2];  /* the lower row of the strip */
  uint32_t leaving[STRIPS + 1][WORDS + 2]; /* node of the run that has the last column */
  uint32_t parent[TILE_SLOTS];
  uint16_t piece[TILE_SLOTS]; /* of nodes that are roots */
  alignas (16) uint32_t first_bits[2 * STRIPS][WORDS];
  uint32_t warp_roots[TILE_THREADS / 32];
  uint32_t n_open;
  /* Features of the round's pieces, in tile coordinates. A tile has at most 2^13 pixels: sums of
   * y need 18 bits beside 14 for the area, sums of x need 19. */
  uint32_t area_sum_y[ROUND_PIECES]; /* area | sum of y << 14 */
  uint32_t sum_x[ROUND_PIECES];
  uint32_t first[ROUND_PIECES]; /* y × TILE_WIDTH + x */
  uint32_t left[ROUND_PIECES];
  uint32_t right[ROUND_PIECES];
  uint32_t last_row[ROUND_PIECES];
};

/* What a thread has gathered of one piece before it goes to shared memory. */
struct Gathered {
  uint32_t area_sum_y, sum_x, first, left, right, last_row;
};

template <int ROWS>
static __device__ __forceinline__ Gathered
gather (uint32_t top, uint32_t bottom, uint32_t column, uint32_t row)
{
  uint32_t both = top | bottom;
  uint32_t in_top = __popc (top), in_bottom = ROWS == 2 ? __popc (bottom) : 0;
  uint32_t area = in_top + in_bottom;
  uint32_t left = column + __ffs (both) - 1;
  Gathered g;
  g.area_sum_y = area | (area * row + in_bottom) << 14;
  g.sum_x = sum_of_positions (top, ROWS == 2 ? bottom : 0) + area * column;
  g.left = left;
  g.right = column + 31 - __clz (both);
  g.first = top ? row * TILE_WIDTH + column + __ffs (top) - 1 : (row + 1) * TILE_WIDTH + left;
  g.last_row = ROWS == 2 && bottom ? row + 1 : row;
  return g;
}

static __device__ __forceinline__ void
add_to_piece (Tile &tile, uint32_t piece, const Gathered &g)
{
  atomicAdd (&tile.area_sum_y[piece], g.area_sum_y);
  atomicAdd (&tile.sum_x[piece], g.sum_x);
  atomicMin (&tile.first[piece], g.first);
  atomicMin (&tile.left[piece], g.left);
  atomicMax (&tile.right[piece], g.right);
  atomicMax (&tile.last_row[piece], g.last_row);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define CCL_REDUCE(name, type, combine)                                                            \
  static __device__ __forceinline__ type name (uint32_t lanes, type value)                         \
  {                                                                                                \
    type result = value;                                                                           \
    for (uint32_t rest = lanes & ~(1u << (threadIdx.x % 32)); rest; rest &= rest - 1) {            \
      /* every lane of the set names one other lane at a time, in its own order */                 \
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
/* In pieces of 26 bits, whose sums over a warp fit 32. */
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

/* Adds what every lane has gathered (piece NOTHING: nothing). Lanes that share a piece with the
 * first, as most do inside a large component, are summed by the warp before. */
static __device__ __forceinline__ void
add_to_pieces_by_warp (Tile &tile, uint32_t piece, const Gathered &gathered)
{
  Gathered g = gathered;
  uint32_t waiting = __ballot_sync (ALL_LANES, piece != NOTHING);
  if (!waiting)
    return;
  uint32_t first_lane = __ffs (waiting) - 1;
  uint32_t shared_piece = __shfl_sync (ALL_LANES, piece, first_lane);
  uint32_t sharing = __ballot_sync (ALL_LANES, piece == shared_piece);
  if (__popc (sharing) > 2 && piece == shared_piece) {
    g.area_sum_y = reduce_add (sharing, g.area_sum_y);
    g.sum_x = reduce_add (sharing, g.sum_x);
    g.first = reduce_min (sharing, g.first);
    g.left = reduce_min (sharing, g.left);
    g.right = reduce_max (sharing, g.right);
    g.last_row = reduce_max (sharing, g.last_row);
    if (threadIdx.x % 32 != first_lane)
      piece = NOTHING;
  }
  if (piece != NOTHING)
    add_to_piece (tile, piece, g);
}

template <int ROWS>
static __device__ __forceinline__ void
label_tile (const Parameters &p)
{
  __shared__ Tile tile;

  const uint32_t w = threadIdx.x % WORDS, s = threadIdx.x / WORDS;
  const uint32_t tile_column = blockIdx.x % p.tile_columns, tile_row = blockIdx.x / p.tile_columns;
  const uint32_t tile_x = tile_column * TILE_WIDTH, tile_y = tile_row * STRIPS * ROWS;
  const uint32_t column = w * 32, row = s * ROWS; /* in the tile */
  const uint32_t row_words = p.row_quads * 4;
  const uint32_t row_pixels = p.row_quads * TILE_WIDTH;

  let_next_kernel_start ();

  /* Everything before the wait touches only the frame and shared memory. */
  uint32_t words[2] = {0, 0};
  if (p.vectorised)
    for (int i = 0; i < ROWS; i++)
      words[i] = word_of_aligned_row (p, tile_x + column, tile_y + row + i);
  else
    words_of_unaligned_rows (p, tile_x + column, tile_y + row, ROWS, words);
  const uint32_t top = words[0], bottom = words[ROWS - 1], occupied = words[0] | words[1];

  for (uint32_t i = threadIdx.x; i < STRIPS + 1; i += TILE_THREADS) {
    tile.occupied[i][0] = tile.occupied[i][WORDS + 1] = 0;
    tile.bottom[i][0] = tile.bottom[i][WORDS + 1] = 0;
  }
  for (uint32_t i = threadIdx.x; i < WORDS + 2; i += TILE_THREADS)
    tile.occupied[0][i] = tile.bottom[0][i] = 0;
  tile.occupied[s + 1][w + 1] = occupied;
  tile.bottom[s + 1][w + 1] = bottom;
  for (uint32_t i = 0; i < TILE_SLOTS / TILE_THREADS; i++)
    tile.parent[i * TILE_THREADS + threadIdx.x] = i * TILE_THREADS + threadIdx.x;
  for (uint32_t i = 0; i < 2 * STRIPS * WORDS / TILE_THREADS; i++)
    (&tile.first_bits[0][0])[i * TILE_THREADS + threadIdx.x] = 0;

  /* A run is one node wherever its parts lie; the node is the slot of its first part. */
  const uint32_t base = s * STRIP_SLOTS + w * WORD_SLOTS;
  uint32_t before = __shfl_up_sync (ALL_LANES, occupied, 1);
  const bool entering = w > 0 && (before >> 31) && (occupied & 1);
  uint32_t leaving = base + ((32 - __clz (~occupied)) >> 1); /* if it has the last column */
  uint32_t entered = base;
  for (uint32_t i = 1; i < WORDS; i++) {
    uint32_t left = __shfl_up_sync (ALL_LANES, leaving, 1);
    if (entering) {
      entered = left;
      if (occupied == NOTHING)
        leaving = left;
    }
  }
  tile.leaving[s + 1][w + 1] = leaving;

  bool nothing = !__syncthreads_or (occupied);
  wait_for_previous_kernel ();

  for (int i = 0; i < ROWS; i++)
    p.bits[(tile_y + row + i) * row_words + tile_x / 32 + w] = words[i];
  if (nothing) {
    for (uint32_t y = threadIdx.x; y < STRIPS * ROWS && tile_y + y < p.height; y += TILE_THREADS)
      ((uint4 *)p.first_bits)[(tile_y + y) * p.row_quads + tile_column] = make_uint4 (0, 0, 0, 0);
    if (threadIdx.x == 0)
      p.piece_count[blockIdx.x] = p.open_count[blockIdx.x] = 0;
    return;
  }

  /* Join runs to those of the strip above. In these 64-bit words column c is bit c + 1; bits 0
   * and 33 are the neighbouring words'. */
  if (s > 0) {
    uint64_t above_occupied = (uint64_t)tile.occupied[s][w + 1] << 1 | tile.occupied[s][w] >> 31 |
                              (uint64_t)(tile.occupied[s][w + 2] & 1) << 33;
    uint64_t above_bottom = (uint64_t)tile.bottom[s][w + 1] << 1 | tile.bottom[s][w] >> 31 |
                            (uint64_t)(tile.bottom[s][w + 2] & 1) << 33;
    for (uint32_t rest = occupied; rest;) {
      uint32_t part = lowest_run (rest);
      rest ^= part;
      uint64_t reach = (uint64_t)(top & part) << 1;
      if (ROWS == 2)
        reach |= reach << 1 | reach >> 1;
      uint64_t touched = above_bottom & reach;
      if (!touched)
        continue;
      uint32_t node = (part & 1) && entering ? entered : base + ((__ffs (part) - 1) >> 1);
      do {
        uint32_t bit = __ffsll ((long long)touched) - 1;
        uint64_t run = above_occupied & ~(above_occupied + (1ull << bit));
        touched &= ~run;
        uint32_t above;
        if (bit == 0)
          above = tile.leaving[s][w];
        else if (bit == 33)
          above =
              above_occupied >> 32 & 1 ? tile.leaving[s][w + 1] : base - STRIP_SLOTS + WORD_SLOTS;
        else {
          uint32_t start = part_start ((uint32_t)(above_occupied >> 1), bit - 1);
          above = start == 0 && (above_occupied & 1) ? tile.leaving[s][w]
                                                     : base - STRIP_SLOTS + (start >> 1);
        }
        unite (tile.parent, above, node);
      } while (touched);
    }
  }
  __syncthreads ();

  /* Flatten, and count the roots among the nodes that start in this word. */
  uint32_t roots = 0;
  for (uint32_t rest = occupied; rest;) {
    uint32_t part = lowest_run (rest);
    rest ^= part;
    if ((part & 1) && entering)
      continue;
    uint32_t node = base + ((__ffs (part) - 1) >> 1);
    volatile uint32_t *parent = tile.parent;
    uint32_t root = parent[node];
    if (root == node) {
      roots++;
      continue;
    }
    for (uint32_t above = parent[root]; above != root; above = parent[root])
      root = above;
    parent[node] = root;
  }

  /* Number the pieces. */
  uint32_t piece = roots;
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    uint32_t sum = __shfl_up_sync (ALL_LANES, piece, distance);
    if (threadIdx.x % 32 >= distance)
      piece += sum;
  }
  if (threadIdx.x % 32 == 31)
    tile.warp_roots[threadIdx.x / 32] = piece;
  piece -= roots;
  __syncthreads ();
  uint32_t n_pieces = 0;
  for (uint32_t i = 0; i < TILE_THREADS / 32; i++) {
    piece += i < threadIdx.x / 32 ? tile.warp_roots[i] : 0;
    n_pieces += tile.warp_roots[i];
  }
  if (roots)
    for (uint32_t rest = occupied; rest;) {
      uint32_t part = lowest_run (rest);
      rest ^= part;
      uint32_t node = base + ((__ffs (part) - 1) >> 1);
      if (!((part & 1) && entering) && tile.parent[node] == node)
        tile.piece[node] = piece++;
    }
  if (threadIdx.x == 0) {
    p.piece_count[blockIdx.x] = n_pieces;
    tile.n_open = 0;
  }

  const bool at_edge = s == 0 || s == STRIPS - 1;
  const uint32_t global_base = (tile_row * STRIPS + s) * (p.row_quads * STRIP_SLOTS) +
                               tile_column * STRIP_SLOTS + w * WORD_SLOTS;

  for (uint32_t round = 0; round < n_pieces; round += ROUND_PIECES) {
    const uint32_t in_round = min (n_pieces - round, (uint32_t)ROUND_PIECES);
    __syncthreads ();
    for (uint32_t i = threadIdx.x; i < in_round; i += TILE_THREADS) {
      tile.area_sum_y[i] = tile.sum_x[i] = tile.right[i] = tile.last_row[i] = 0;
      tile.first[i] = tile.left[i] = NOTHING;
    }
    __syncthreads ();

    /* Parts of a word that follow each other and belong to one piece are counted together. */
    uint32_t open_piece = NOTHING, gathered_top = 0, gathered_bottom = 0;
    for (uint32_t rest = occupied; rest;) {
      uint32_t part = lowest_run (rest);
      rest ^= part;
      uint32_t node = (part & 1) && entering ? entered : base + ((__ffs (part) - 1) >> 1);
      uint32_t number = tile.piece[tile.parent[node]] - round;
      if (number >= in_round)
        continue;
      if (number != open_piece && open_piece != NOTHING) {
        add_to_piece (tile, open_piece, gather<ROWS> (gathered_top, gathered_bottom, column, row));
        gathered_top = gathered_bottom = 0;
      }
      open_piece = number;
      gathered_top |= top & part;
      gathered_bottom |= bottom & part;
    }
    __syncwarp ();
    add_to_pieces_by_warp (
        tile, open_piece, gather<ROWS> (gathered_top, gathered_bottom, column, row));
    __syncthreads ();

    for (uint32_t i = threadIdx.x; i < in_round; i += TILE_THREADS) {
      uint32_t area = tile.area_sum_y[i] & 0x3fff, first = tile.first[i];
      uint32_t first_row = first / TILE_WIDTH, first_column = first % TILE_WIDTH;
      uint32_t pixel = (tile_y + first_row) * row_pixels + tile_x + first_column;
      bool open = (first_row == 0 && tile_row > 0) ||
                  (tile.last_row[i] == STRIPS * ROWS - 1 && tile_row + 1 < p.tile_rows) ||
                  (tile.left[i] == 0 && tile_column > 0) ||
                  (tile.right[i] == TILE_WIDTH - 1 && tile_column + 1 < p.tile_columns);
      uint32_t number = blockIdx.x * TILE_SLOTS + round + i;
      CclStripsRecord record;
      record.sum_x = (unsigned long long)area * tile_x + tile.sum_x[i];
      record.sum_y = (unsigned long long)area * tile_y + (tile.area_sum_y[i] >> 14);
      record.area = area;
      record.left = tile_x + tile.left[i];
      record.right = tile_x + tile.right[i];
      record.bottom = tile_y + tile.last_row[i];
      p.record[number] = record;
      p.piece_first[number] = open ? pixel | CCL_STRIPS_OPEN : pixel;
      if (open) {
        p.parent[pixel] = CCL_STRIPS_ROOT | number;
        p.open_piece[blockIdx.x * CCL_STRIPS_TILE_OPEN + atomicAdd (&tile.n_open, 1u)] =
            make_uint2 (pixel, number);
      } else if (area >= p.min_area && area <= p.max_area)
        atomicOr (&tile.first_bits[first_row][first_column / 32], 1u << (first_column % 32));
    }

    /* What the later kernels need to know of the parts: merge those at edges, deliver all. */
    if (at_edge || w == 0 || w == WORDS - 1 || p.labels)
      for (uint32_t rest = occupied; rest;) {
        uint32_t part = lowest_run (rest);
        rest ^= part;
        uint32_t slot = (__ffs (part) - 1) >> 1;
        uint32_t node = (part & 1) && entering ? entered : base + slot;
        uint32_t number = tile.piece[tile.parent[node]] - round;
        if (number >= in_round)
          continue;
        if (at_edge || (w == 0 && (part & 1)) || (w == WORDS - 1 && part >> 31)) {
          uint32_t first = tile.first[number];
          p.slot_first[global_base + slot] =
              (tile_y + first / TILE_WIDTH) * row_pixels + tile_x + first % TILE_WIDTH;
        }
        if (p.labels)
          p.slot_piece[global_base + slot] = round + number;
      }
  }
  __syncthreads ();

  for (uint32_t y = threadIdx.x; y < STRIPS * ROWS && tile_y + y < p.height; y += TILE_THREADS) {
    uint4 quad = *(const uint4 *)tile.first_bits[y];
    uint32_t number = (tile_y + y) * p.row_quads + tile_column;
    ((uint4 *)p.first_bits)[number] = quad;
    uint32_t count = __popc (quad.x) + __popc (quad.y) + __popc (quad.z) + __popc (quad.w);
    if (count)
      atomicAdd (&p.chunk_count[number >> p.chunk_shift], count);
  }
  if (threadIdx.x == 0)
    p.open_count[blockIdx.x] = tile.n_open;
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

/* Joins two pieces, given by their first pixels: unite() with roots marked by their upper bit,
 * which makes them larger than any pixel. */
static __device__ __forceinline__ void
unite_pieces (volatile uint32_t *parent, uint32_t a, uint32_t b)
{
  while (a != b) {
    if (a < b) {
      uint32_t smaller = a;
      a = b;
      b = smaller;
    }
    uint32_t above = parent[a];
    if (above & CCL_STRIPS_ROOT) {
      above = atomicMin ((uint32_t *)&parent[a], b);
      if (above & CCL_STRIPS_ROOT)
        return;
    }
    a = above;
  }
}

/* The first pixel of the piece that has a foreground column of a strip, for parts at tile edges. */
static __device__ __forceinline__ uint32_t
piece_at (const Parameters &p, uint32_t strip, uint32_t word, uint32_t occupied, uint32_t column)
{
  uint32_t slot = word * WORD_SLOTS + (part_start (occupied, column) >> 1);
  return p.slot_first[strip * (p.row_quads * STRIP_SLOTS) + slot];
}

/* The bits of a strip's word: both rows for occupied, one alone for a row. */
template <int ROWS>
static __device__ __forceinline__ void
load_word (const Parameters &p, uint32_t strip, uint32_t word, uint32_t &top, uint32_t &bottom)
{
  const uint32_t *bits = p.bits + (uint64_t)strip * ROWS * (p.row_quads * 4) + word;
  top = bits[0];
  bottom = ROWS == 2 ? bits[p.row_quads * 4] : top;
}

/* One column of the edge between two rows of tiles; the lanes of a warp have the columns of one
 * word. A column does nothing that the column before it does already. */
template <int ROWS>
static __device__ __forceinline__ void
merge_across_rows (const Parameters &p, uint32_t edge, uint32_t word)
{
  const uint32_t lane = threadIdx.x % 32, row_words = p.row_quads * 4;
  const uint32_t lower = (edge + 1) * STRIPS, upper = lower - 1;
  uint32_t top, bottom, above_top, above_bottom;
  load_word<ROWS> (p, lower, word, top, bottom);
  load_word<ROWS> (p, upper, word, above_top, above_bottom);
  const uint32_t occupied = top | bottom, above_occupied = above_top | above_bottom;

  /* The neighbouring words, for runs that go on there and for diagonals. */
  uint32_t before_top = 0, before_bottom = 0, before_above_top = 0, before_above_bottom = 0;
  uint32_t after_above_top = 0, after_above_bottom = 0;
  if (word > 0) {
    load_word<ROWS> (p, lower, word - 1, before_top, before_bottom);
    load_word<ROWS> (p, upper, word - 1, before_above_top, before_above_bottom);
  }
  if (ROWS == 2 && word + 1 < row_words)
    load_word<ROWS> (p, upper, word + 1, after_above_top, after_above_bottom);

  if (!(top >> lane & 1))
    return;
  /* Three bits, for the columns before, at and after this one. */
  uint64_t wide = (uint64_t)above_bottom << 1 | before_above_bottom >> 31 |
                  (uint64_t)(after_above_bottom & 1) << 33;
  uint32_t near = wide >> lane & 7;
  bool here = above_occupied >> lane & 1;
  if (ROWS == 1)
    near &= 2;
  if (!near)
    return;

  /* Is the column before this one joined to the run above already? It is when its own pixel in
   * the upper row of this strip is foreground, which makes it the same run here, and it sees a
   * pixel of the run above that this column sees, too. */
  uint64_t wide_top = (uint64_t)top << 1 | before_top >> 31;
  bool before = wide_top >> lane & 1;
  uint32_t done = before ? (ROWS == 2 ? near & 3 : near & 2 && wide >> lane & 1 ? near : 0) : 0;
  if (ROWS == 2 && here && done)
    done = near; /* all three columns are in one run above */

  uint32_t todo = near & ~done;
  if (!todo)
    return;
  uint32_t piece = piece_at (p, lower, word, occupied, lane);
  if (here || (todo & 3)) {
    /* One piece above: the one at this column, or else at the column before. */
    uint32_t other = NOTHING;
    if (here)
      other = piece_at (p, upper, word, above_occupied, lane);
    else if (todo & 1)
      other = lane ? piece_at (p, upper, word, above_occupied, lane - 1)
                   : piece_at (p, upper, word - 1, before_above_top | before_above_bottom, 31);
    if (other != NOTHING)
      unite_pieces (p.parent, other, piece);
  }
  if (!here && (todo & 4)) {
    uint32_t other = lane < 31
                         ? piece_at (p, upper, word, above_occupied, lane + 1)
                         : piece_at (p, upper, word + 1, after_above_top | after_above_bottom, 0);
    unite_pieces (p.parent, other, piece);
  }
}

/* One strip of the edge between two columns of tiles, and the diagonals to the strip below
 * unless that lies across an edge between rows of tiles. */
template <int ROWS>
static __device__ __forceinline__ void
merge_across_columns (const Parameters &p, uint32_t edge, uint32_t strip)
{
  const uint32_t right_word = (edge + 1) * WORDS, left_word = right_word - 1;
  uint32_t left_top, left_bottom, right_top, right_bottom;
  load_word<ROWS> (p, strip, left_word, left_top, left_bottom);
  load_word<ROWS> (p, strip, right_word, right_top, right_bottom);
  const uint32_t left_occupied = left_top | left_bottom, right_occupied = right_top | right_bottom;
  const bool left = left_occupied >> 31, right = right_occupied & 1;
  if (left && right)
    unite_pieces (p.parent, piece_at (p, strip, left_word, left_occupied, 31),
        piece_at (p, strip, right_word, right_occupied, 0));

  if (ROWS == 1 || strip % STRIPS == STRIPS - 1 || !(left || right))
    return;
  uint32_t below_left_top, below_left_bottom, below_right_top, below_right_bottom;
  load_word<ROWS> (p, strip + 1, left_word, below_left_top, below_left_bottom);
  load_word<ROWS> (p, strip + 1, right_word, below_right_top, below_right_bottom);
  /* A diagonal counts only where the two pixels beside it are background: else it joins nothing
   * new. */
  bool left_above = left_bottom >> 31, right_above = right_bottom & 1;
  bool left_below = below_left_top >> 31, right_below = below_right_top & 1;
  if (left_above && right_below && !right_above && !left_below)
    unite_pieces (p.parent, piece_at (p, strip, left_word, left_occupied, 31),
        piece_at (p, strip + 1, right_word, below_right_top | below_right_bottom, 0));
  if (right_above && left_below && !left_above && !right_below)
    unite_pieces (p.parent, piece_at (p, strip, right_word, right_occupied, 0),
        piece_at (p, strip + 1, left_word, below_left_top | below_left_bottom, 31));
}

template <int ROWS>
static __device__ __forceinline__ void
merge_tiles (const Parameters &p)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  const uint32_t row_words = p.row_quads * 4;
  const uint32_t column_threads = (p.tile_rows - 1) * row_words * 32;
  uint32_t thread = blockIdx.x * CCL_STRIPS_MERGE_THREADS + threadIdx.x;
  if (thread < column_threads) {
    merge_across_rows<ROWS> (p, thread / 32 / row_words, thread / 32 % row_words);
    return;
  }
  thread -= column_threads;
  const uint32_t strips = (p.height + ROWS - 1) / ROWS;
  if (thread < (p.tile_columns - 1) * strips)
    merge_across_columns<ROWS> (p, thread / strips, thread % strips);
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
  atomicAdd (&p.chunk_count[pixel / TILE_WIDTH >> p.chunk_shift], 1u);
}

/* The open piece of this thread, x its first pixel and y its record: each tile has as many threads
 * as it can have open pieces. */
static __device__ __forceinline__ bool
own_open_piece (const Parameters &p, uint2 &piece)
{
  const uint32_t thread = blockIdx.x * CCL_STRIPS_FOLD_THREADS + threadIdx.x;
  const uint32_t tile = thread / CCL_STRIPS_TILE_OPEN;
  if (tile >= p.tile_columns * p.tile_rows || thread % CCL_STRIPS_TILE_OPEN >= p.open_count[tile])
    return false;
  piece = p.open_piece[thread];
  return true;
}

static __device__ __forceinline__ void
add_to_record (CclStripsRecord *to, const CclStripsRecord &record)
{
  atomicAdd (&to->sum_x, record.sum_x);
  atomicAdd (&to->sum_y, record.sum_y);
  atomicAdd (&to->area, record.area);
  atomicMin (&to->left, record.left);
  atomicMax (&to->right, record.right);
  atomicMax (&to->bottom, record.bottom);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_FOLD_THREADS) ccl_strips_fold (const CclStripsParameters parameters)
{
  const Parameters &p = parameters;
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  uint2 piece;
  uint32_t root_record = NOTHING;
  CclStripsRecord record;
  if (own_open_piece (p, piece)) {
    volatile uint32_t *parent = p.parent;
    uint32_t root = piece.x, above = parent[root];
    while (!(above & CCL_STRIPS_ROOT)) {
      root = above;
      above = parent[root];
    }
    if (root != piece.x) {
      parent[piece.x] = root;
      root_record = above & ~CCL_STRIPS_ROOT;
      record = p.record[piece.y];
    } else if (!p.filtered)
      set_first_bit (p, root);
  }
  __syncwarp ();

  /* Pieces of one large component tend to lie side by side: sum them by warp, twice, before
   * what is left goes to memory one by one. */
  for (int i = 0; i < 2; i++) {
    uint32_t waiting = __ballot_sync (ALL_LANES, root_record != NOTHING);
    if (!waiting)
      return;
    uint32_t first_lane = __ffs (waiting) - 1;
    uint32_t shared_record = __shfl_sync (ALL_LANES, root_record, first_lane);
    if (root_record == shared_record) {
      uint32_t sharing = __activemask ();
      record.sum_x = reduce_add_long (sharing, record.sum_x);
      record.sum_y = reduce_add_long (sharing, record.sum_y);
      record.area = reduce_add (sharing, record.area);
      record.left = reduce_min (sharing, record.left);
      record.right = reduce_max (sharing, record.right);
      record.bottom = reduce_max (sharing, record.bottom);
      if (threadIdx.x % 32 == first_lane)
        add_to_record (&p.record[root_record], record);
      root_record = NOTHING;
    }
    __syncwarp ();
  }
  if (root_record != NOTHING)
    add_to_record (&p.record[root_record], record);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_FOLD_THREADS) ccl_strips_filter (const CclStripsParameters parameters)
{
  const Parameters &p = parameters;
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  uint2 piece;
  if (!own_open_piece (p, piece) || !(p.parent[piece.x] & CCL_STRIPS_ROOT))
    return;
  uint32_t area = p.record[piece.y].area;
  if (area >= p.min_area && area <= p.max_area)
    set_first_bit (p, piece.x);
}

/* ---- rank ---- */

/* The sum over the block of the values of the threads before this one; the sum of all in total.
 * Ends with a barrier. */
static __device__ __forceinline__ uint32_t
sum_before (uint32_t value, uint32_t *total)
{
  __shared__ uint32_t warp_sums[CCL_STRIPS_RANK_THREADS / 32];
  uint32_t sum = value;
  for (uint32_t distance = 1; distance < 32; distance *= 2) {
    uint32_t other = __shfl_up_sync (ALL_LANES, sum, distance);
    if (threadIdx.x % 32 >= distance)
      sum += other;
  }
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

static __device__ __forceinline__ uint32_t
count_bits (uint4 quad)
{
  return __popc (quad.x) + __popc (quad.y) + __popc (quad.z) + __popc (quad.w);
}

extern "C" __global__ void
__launch_bounds__ (CCL_STRIPS_RANK_THREADS) ccl_strips_rank (const CclStripsParameters parameters)
{
  const Parameters &p = parameters;
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  uint32_t before = 0;
  for (uint32_t i = threadIdx.x; i < blockIdx.x; i += CCL_STRIPS_RANK_THREADS)
    before += p.chunk_count[i];
  const uint32_t start = blockIdx.x << p.chunk_shift;
  const uint32_t end = min (start + (1u << p.chunk_shift), p.n_quads);
  uint32_t number = start + threadIdx.x;
  uint4 quad = make_uint4 (0, 0, 0, 0);
  if (number < end)
    quad = ((const uint4 *)p.first_bits)[number];
  uint32_t rank;
  sum_before (before, &rank);
  while (true) {
    uint32_t total;
    uint32_t own = rank + sum_before (count_bits (quad), &total);
    if (number < end)
      p.quad_rank[number] = own;
    rank += total;
    number += CCL_STRIPS_RANK_THREADS;
    if (number - threadIdx.x >= end)
      break;
    quad = number < end ? ((const uint4 *)p.first_bits)[number] : make_uint4 (0, 0, 0, 0);
  }
  if (blockIdx.x == p.n_chunks - 1 && threadIdx.x == 0)
    *p.n_components = rank;
}

/* ---- deliver ---- */

/* The label of the component whose first pixel this is; 0 if its area was filtered out. */
static __device__ __forceinline__ uint32_t
label_of_first_pixel (const Parameters &p, uint32_t pixel)
{
  const uint32_t quad_number = pixel / TILE_WIDTH, bit = pixel % 32, word = pixel / 32 % 4;
  const uint4 quad = ((const uint4 *)p.first_bits)[quad_number];
  const uint32_t rank = p.quad_rank[quad_number];
  const uint32_t own = word == 0 ? quad.x : word == 1 ? quad.y : word == 2 ? quad.z : quad.w;
  if (!(own >> bit & 1))
    return 0;
  return rank + 1 + __popc (own & ((1u << bit) - 1)) + (word > 0 ? __popc (quad.x) : 0) +
         (word > 1 ? __popc (quad.y) : 0) + (word > 2 ? __popc (quad.z) : 0);
}

static __device__ __forceinline__ void
write_row (const Parameters &p, uint32_t label, uint32_t pixel, const CclStripsRecord &record)
{
  CclComponent row;
  row.label = label;
  row.area = record.area;
  row.x = record.left;
  row.y = pixel / (p.row_quads * TILE_WIDTH);
  row.width = record.right - record.left + 1;
  row.height = record.bottom - row.y + 1;
  row.centroid_x = (double)record.sum_x / (double)record.area;
  row.centroid_y = (double)record.sum_y / (double)record.area;
  p.rows[label - 1] = row;
}

template <int ROWS>
static __device__ __forceinline__ void
write_labels_of_tile (const Parameters &p, const uint32_t *piece_label, bool nothing)
{
  const uint32_t tile_column = blockIdx.x % p.tile_columns, tile_row = blockIdx.x / p.tile_columns;
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t x = tile_column * TILE_WIDTH + lane * 4, first_y = tile_row * STRIPS * ROWS;
  const uint32_t word = x / 32, shift = x % 32;
  const uint32_t end_y = min (first_y + STRIPS * ROWS, p.height);
  if (x >= p.width)
    return;
  for (uint32_t y = first_y + threadIdx.x / 32; y < end_y; y += CCL_STRIPS_DELIVER_THREADS / 32) {
    uint32_t pixels[4] = {0, 0, 0, 0};
    if (!nothing) {
      const uint32_t strip = y / ROWS;
      uint32_t top, bottom;
      load_word<ROWS> (p, strip, word, top, bottom);
      const uint32_t foreground = (ROWS == 1 || y % 2 == 0 ? top : bottom) >> shift & 15;
      if (foreground) {
        /* Four columns hold at most two parts: that of the first pixel and that of the last. */
        const uint32_t occupied = top | bottom;
        const uint16_t *pieces =
            p.slot_piece + strip * (p.row_quads * STRIP_SLOTS) + word * WORD_SLOTS;
        const uint32_t first_start = part_start (occupied, shift + __ffs (foreground) - 1);
        const uint32_t last_start = part_start (occupied, shift + 31 - __clz (foreground));
        const uint32_t first_label = piece_label[pieces[first_start >> 1]];
        const uint32_t last_label =
            last_start == first_start ? first_label : piece_label[pieces[last_start >> 1]];
        for (uint32_t i = 0; i < 4; i++)
          if (foreground >> i & 1)
            pixels[i] = shift + i < last_start ? first_label : last_label;
      }
    }
    uint32_t *labels = p.labels + y * p.labels_stride + x;
    if (p.labels_vectorised && x + 4 <= p.width)
      __stcs ((uint4 *)labels, make_uint4 (pixels[0], pixels[1], pixels[2], pixels[3]));
    else
      for (uint32_t i = 0; i < 4 && x + i < p.width; i++)
        labels[i] = pixels[i];
  }
}

template <int ROWS>
static __device__ __forceinline__ void
deliver_tile (const Parameters &p)
{
  __shared__ uint32_t piece_label[TILE_SLOTS];
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  for (uint32_t i = blockIdx.x * CCL_STRIPS_DELIVER_THREADS + threadIdx.x; i < p.n_chunks;
       i += gridDim.x * CCL_STRIPS_DELIVER_THREADS)
    p.chunk_count[i] = 0;

  const uint32_t n_pieces = p.piece_count[blockIdx.x];
  for (uint32_t i = threadIdx.x; i < n_pieces; i += CCL_STRIPS_DELIVER_THREADS) {
    const uint32_t number = blockIdx.x * TILE_SLOTS + i;
    uint32_t pixel = p.piece_first[number];
    bool root = true;
    if (pixel & CCL_STRIPS_OPEN) {
      pixel &= ~CCL_STRIPS_OPEN;
      uint32_t above = p.parent[pixel];
      root = above & CCL_STRIPS_ROOT;
      if (!root)
        pixel = above;
    }
    if (!root && !p.labels)
      continue;
    uint32_t label = label_of_first_pixel (p, pixel);
    piece_label[i] = label;
    if (root && label && label <= p.max_components)
      write_row (p, label, pixel, p.record[number]);
  }
  if (p.labels) {
    __syncthreads ();
    write_labels_of_tile<ROWS> (p, piece_label, n_pieces == 0);
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
