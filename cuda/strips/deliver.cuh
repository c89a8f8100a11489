/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The deliver phase: the label map. */
#ifndef CCL_STRIPS_DELIVER_CUH
#define CCL_STRIPS_DELIVER_CUH

#include "bits.cuh"
#include "dependent-launch.cuh"

/* The label of the component with this first pixel, which lies in a quad with this rank; 0 if the
 * area filter removed the component. */
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

/* What a block needs of its tile. */
template <int ROWS> struct DeliveredTile {
  uint32_t piece_label[TILE_RUNS];
  alignas (16) uint16_t run_piece[TILE_RUNS];
  uint16_t bits[STRIPS * ROWS][WORDS];
  uint16_t base[STRIPS][WORDS];
  uint4 quads[STRIPS * ROWS];
  uint32_t ranks[STRIPS * ROWS];
};

template <int ROWS>
static __device__ __forceinline__ void
load_tile (const Parameters &p, DeliveredTile<ROWS> &tile, uint32_t tile_column, uint32_t tile_row)
{
  enum { THREADS = CCL_STRIPS_DELIVER_THREADS, TILE_ROWS = STRIPS * ROWS };
  const uint32_t row_words = p.tile_columns * WORDS;
  for (uint32_t i = threadIdx.x; i < TILE_ROWS * WORDS; i += THREADS)
    tile.bits[i / WORDS][i % WORDS] =
        p.bits[(tile_row * TILE_ROWS + i / WORDS) * row_words + tile_column * WORDS + i % WORDS];
  for (uint32_t i = threadIdx.x; i < STRIPS * WORDS; i += THREADS)
    tile.base[i / WORDS][i % WORDS] =
        p.word_base[(tile_row * STRIPS + i / WORDS) * row_words + tile_column * WORDS + i % WORDS];
  const uint32_t first_quad = tile_row * TILE_ROWS * p.tile_columns + tile_column;
  if (threadIdx.x < TILE_ROWS && tile_row * TILE_ROWS + threadIdx.x < p.height) {
    tile.quads[threadIdx.x] =
        ((const uint4 *)p.first_bits)[first_quad + threadIdx.x * p.tile_columns];
    tile.ranks[threadIdx.x] = p.quad_rank[first_quad + threadIdx.x * p.tile_columns];
  }
}

/* The label of a piece from p.piece_first. */
template <int ROWS>
static __device__ __forceinline__ uint32_t
label_of_piece (
    const Parameters &p, const DeliveredTile<ROWS> &tile, uint32_t tile_row, uint32_t pixel)
{
  uint32_t above = CCL_STRIPS_ROOT;
  if (pixel & CCL_STRIPS_OPEN) {
    pixel &= ~CCL_STRIPS_OPEN;
    above = p.parent[pixel];
  }
  if (above & CCL_STRIPS_ROOT) {
    const uint32_t row = pixel / QUAD_WIDTH / p.tile_columns - tile_row * STRIPS * ROWS;
    return label_in_quad (tile.quads[row], tile.ranks[row], pixel);
  }
  /* The first pixel of the component lies in another tile. */
  const uint32_t quad = above / QUAD_WIDTH;
  return label_in_quad (((const uint4 *)p.first_bits)[quad], p.quad_rank[quad], above);
}

/* Writes the labels of a strip's four columns from x on, which start at bit shift of word w. */
template <int ROWS>
static __device__ __forceinline__ void
write_labels (const Parameters &p, const DeliveredTile<ROWS> &tile, uint32_t s, uint32_t w,
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
    first_label = last_label = tile.piece_label[tile.run_piece[base + first_part]];
    if (last_part != first_part) {
      after_gap = occupied & (occupied + (occupied & -occupied)); /* without the lowest run */
      last_label = tile.piece_label[tile.run_piece[base + last_part]];
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

template <int ROWS>
static __device__ __forceinline__ void
deliver_tile (const Parameters &p)
{
  enum {
    THREADS = CCL_STRIPS_DELIVER_THREADS,
    GROUPS = TILE_WIDTH / 4, /* a thread writes four pixels at a time */
  };
  __shared__ DeliveredTile<ROWS> tile;
  const uint32_t tile_row = quotient (blockIdx.x, p.tile_columns, p.tile_columns_inverse);
  const uint32_t tile_column = blockIdx.x - tile_row * p.tile_columns;
  let_next_kernel_start ();
  load_parameters (p.width | low_word (p.parent) | p.n_quads | low_word (p.piece_first));
  wait_for_previous_kernel ();

  /* The loads are issued before the number of pieces is known, so that their latencies overlap. */
  const uint32_t n_pieces = p.piece_count[blockIdx.x];
  uint32_t pixel = p.piece_first[blockIdx.x * TILE_RUNS + threadIdx.x];
  const uint4 pieces = ((const uint4 *)(p.run_piece + blockIdx.x * TILE_RUNS))[threadIdx.x];
  if (n_pieces == 0)
    return; /* the tile kernel has written the zeros */
  ((uint4 *)tile.run_piece)[threadIdx.x] = pieces;
  load_tile<ROWS> (p, tile, tile_column, tile_row);
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < n_pieces; i += THREADS) {
    if (i >= THREADS)
      pixel = p.piece_first[blockIdx.x * TILE_RUNS + i];
    tile.piece_label[i] = label_of_piece<ROWS> (p, tile, tile_row, pixel);
  }
  __syncthreads ();

  const uint32_t column = threadIdx.x % GROUPS * 4, x = tile_column * TILE_WIDTH + column;
  if (x >= p.width)
    return;
  for (uint32_t s = threadIdx.x / GROUPS; s < STRIPS; s += THREADS / GROUPS)
    write_labels<ROWS> (
        p, tile, s, column / WORD_WIDTH, column % WORD_WIDTH, x, (tile_row * STRIPS + s) * ROWS);
}

#endif /* CCL_STRIPS_DELIVER_CUH */
