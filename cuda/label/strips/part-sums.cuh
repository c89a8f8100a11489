/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums over some of the pixels of a word, up to 16×2, in words of 32 bits: the lower half has the
 * upper row. */
#pragma once

#include "bits.cuh"
#include "cuda/measure/value-sums.cuh"
#include "strips-columns-parameters.h"

/* The words of a tile component by number, see strips-columns-parameters.h. */
enum { XX, YY, XY, N_MOMENTS };
static_assert (N_MOMENTS == CUDACCL_STRIPS_MOMENT_WORDS, "");
static_assert (N_VALUE_WORDS == CUDACCL_STRIPS_VALUE_WORDS, "");

/* A word of pixels has at most 8 parts, so a tile adds at most 2^11 totals; squares of the values
 * of a tile have 45 bits. Those of bytes in one word of pixels have no upper part. */
enum { LOWER_BITS = 21 };

/* ---- moments ---- */

/* The sums of squares and products of the coordinates of pixels of the word at (x, y). A column is
 * b0 + 2 b1 + 4 b2 + 8 b3 of its bits; the masks have the pixels in which bits are set. */
static __device__ __forceinline__ void
sum_moments (uint32_t *sums, uint32_t pixels, uint32_t x, uint32_t y)
{
  const uint32_t below = pixels >> WORD_WIDTH, n = __popc (pixels), n_below = __popc (below);
  const uint32_t b0 = __popc (pixels & 0xaaaaaaaau), b1 = __popc (pixels & 0xccccccccu);
  const uint32_t b2 = __popc (pixels & 0xf0f0f0f0u), b3 = __popc (pixels & 0xff00ff00u);
  const uint32_t squares = b0 + 4 * b1 + 16 * b2 + 64 * b3 + 4 * __popc (pixels & 0x88888888u) +
                           8 * __popc (pixels & 0xa0a0a0a0u) + 16 * __popc (pixels & 0xaa00aa00u) +
                           16 * __popc (pixels & 0xc0c0c0c0u) + 32 * __popc (pixels & 0xcc00cc00u) +
                           64 * __popc (pixels & 0xf000f000u);
  const uint32_t columns = b0 + 2 * b1 + 4 * b2 + 8 * b3;
  const uint32_t columns_below = sum_of_positions (below, 0);
  sums[XX] = (n * x + 2 * columns) * x + squares;
  sums[YY] = n * y * y + n_below * (2 * y + 1);
  sums[XY] = (n * x + columns) * y + n_below * x + columns_below;
}

/* ---- neighbours ---- */

/* Six rows of the foreground around a word: its own in the middle, with two columns on each side
 * below and above them. */
struct Surroundings {
  uint32_t rows[6];
};

/* The pixels of the word's place in two rows, shifted by dx columns. */
static __device__ __forceinline__ uint32_t
pair_of_rows (uint32_t upper, uint32_t lower, int dx)
{
  return (upper >> (2 + dx) & 0xffff) | lower >> (2 + dx) << WORD_WIDTH;
}

/* Which pixels of a word count as what: see cuda/measure/neighbours.cuh, here for components of
 * 8-connectivity, in which foreground that touches is one component. */
struct NeighbourMasks {
  uint32_t straight, diagonal, mixed;
  uint32_t n, s, w, e, nw, ne, sw, se; /* whether there is foreground */
};

/* The bits of a sum of four bits. */
struct BitCount {
  uint32_t bit_0, bit_1, bit_2;
};

static __device__ __forceinline__ BitCount
count_four (uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  const uint32_t ab = a ^ b, cd = c ^ d;
  return {ab ^ cd, (a & b) ^ (c & d) ^ (ab & cd), a & b & c & d};
}

/* Border pixels by their kind (CclBorderKind in neighbourhood.h). */
static __device__ __forceinline__ void
find_border_kinds (NeighbourMasks &m, const uint32_t f[6])
{
  uint32_t b[4]; /* border pixels of the rows 1…4 */
#pragma unroll
  for (int i = 0; i < 4; i++)
    b[i] = f[i + 1] & ~(f[i] & f[i + 2] & f[i + 1] << 1 & f[i + 1] >> 1);
  const BitCount edge = count_four (pair_of_rows (b[0], b[1], 0), pair_of_rows (b[2], b[3], 0),
      pair_of_rows (b[1], b[2], -1), pair_of_rows (b[1], b[2], 1));
  const BitCount corner = count_four (pair_of_rows (b[0], b[1], -1), pair_of_rows (b[0], b[1], 1),
      pair_of_rows (b[2], b[3], -1), pair_of_rows (b[2], b[3], 1));
  const uint32_t border = pair_of_rows (b[1], b[2], 0);
  const uint32_t edge_0 = ~(edge.bit_0 | edge.bit_1 | edge.bit_2);
  const uint32_t edge_1 = edge.bit_0 & ~edge.bit_1;
  const uint32_t corner_1 = corner.bit_0 & ~corner.bit_1, corner_2 = corner.bit_1 & ~corner.bit_0;
  const uint32_t corner_3 = corner.bit_0 & corner.bit_1;
  m.straight = border & edge.bit_1 & ~(corner_3 | corner.bit_2);
  m.diagonal = border & ((edge_0 & corner_2) | (edge_1 & corner_3));
  m.mixed = border & edge_1 & (corner_1 | corner_2);
}

static __device__ __forceinline__ NeighbourMasks
masks_of (const Surroundings &around)
{
  const uint32_t *const f = around.rows;
  NeighbourMasks m;
  find_border_kinds (m, f);
  m.n = pair_of_rows (f[1], f[2], 0);
  m.s = pair_of_rows (f[3], f[4], 0);
  m.w = pair_of_rows (f[2], f[3], -1);
  m.e = pair_of_rows (f[2], f[3], 1);
  m.nw = pair_of_rows (f[1], f[2], -1);
  m.ne = pair_of_rows (f[1], f[2], 1);
  m.sw = pair_of_rows (f[3], f[4], -1);
  m.se = pair_of_rows (f[3], f[4], 1);
  return m;
}

/* Counts border pixels among pixels of a word, and the squares of 2×2 pixels in which one of them
 * is the component's first. */
static __device__ __forceinline__ void
count_neighbours (uint32_t *counts, const NeighbourMasks &m, uint32_t pixels)
{
  const uint32_t s = m.s, e = m.e, se = m.se;
  const uint32_t first_of_row = pixels & ~m.w, below_none = pixels & ~(m.n | m.ne);
  counts[CCL_COUNT_n_straight] = __popc (pixels & m.straight);
  counts[CCL_COUNT_n_diagonal] = __popc (pixels & m.diagonal);
  counts[CCL_COUNT_n_mixed] = __popc (pixels & m.mixed);
  counts[CCL_COUNT_n_quads_1] = __popc (pixels & ~(e | s | se)) +
                                __popc (first_of_row & ~(s | m.sw)) + __popc (below_none & ~e) +
                                __popc (pixels & ~(m.n | m.nw | m.w));
  counts[CCL_COUNT_n_quads_2] =
      __popc (pixels & (e ^ s) & ~se) + __popc (first_of_row & s & ~m.sw) + __popc (below_none & e);
  counts[CCL_COUNT_n_quads_3] =
      __popc (pixels & ((e & s & ~se) | (se & (e ^ s)))) + __popc (first_of_row & m.sw & s);
  counts[CCL_COUNT_n_quads_diagonal] =
      __popc (pixels & se & ~(e | s)) + __popc (first_of_row & m.sw & ~s);
}

/* ---- values ---- */

/* The values of a word that are bytes, in groups of four pixels, row by row. */
struct Bytes {
  uint32_t groups[8];
};

/* Four values of a row from column x on; any numbers outside the frame. */
static __device__ __forceinline__ FourValues
load_four_values (const CclStripsColumnsParameters &p, uint32_t x, uint32_t y)
{
  const uint8_t *const row = p.values + y * p.value_stride;
  FourValues four = {0, 0};
#pragma unroll
  for (uint32_t i = 0; i < 4; i++)
    if (y < p.strips.height && x + i < p.strips.width) {
      const uint32_t value = p.value_bytes == 2 ? ((const uint16_t *)row)[x + i] : row[x + i];
      four.low |= (value & 0xff) << 8 * i;
      four.high |= value >> 8 << 8 * i;
    }
  return four;
}

/* The values of the word at (x, y) of the frame, if they are bytes. */
template <int ROWS>
static __device__ __forceinline__ void
load_bytes (const CclStripsColumnsParameters &p, uint32_t x, uint32_t y, Bytes &bytes)
{
  if (p.value_bytes != 1)
    return;
#pragma unroll
  for (uint32_t row = 0; row < ROWS; row++) {
    const uint8_t *const word = p.values + (y + row) * p.value_stride + x;
    if (y + row < p.strips.height && x + WORD_WIDTH <= p.strips.width &&
        (uintptr_t)word % sizeof (uint4) == 0) {
      const uint4 four = __ldg ((const uint4 *)word);
      bytes.groups[4 * row] = four.x;
      bytes.groups[4 * row + 1] = four.y;
      bytes.groups[4 * row + 2] = four.z;
      bytes.groups[4 * row + 3] = four.w;
    } else {
#pragma unroll
      for (uint32_t i = 0; i < 4; i++)
        bytes.groups[4 * row + i] = load_four_values (p, x + 4 * i, y + row).low;
    }
  }
}

/* Bytes of ones where the lower four bits are set. */
static __device__ __forceinline__ uint32_t
bytes_of_bits (uint32_t bits)
{
  return ((bits & 15) * 0x00204081 & 0x01010101) * 0xff;
}

/* The place of a word: in its tile, and in the frame. */
struct WordPlace {
  uint32_t x, y, frame_x, frame_y;
};

/* Sums over the values of pixels of a word. */
template <int ROWS>
static __device__ __forceinline__ void
sum_values (uint32_t *sums, const CclStripsColumnsParameters &p, const Bytes &bytes,
    uint32_t pixels, const WordPlace &word)
{
  WordTotals totals;
  if (p.value_bytes == 1) {
#pragma unroll
    for (uint32_t i = 0; i < 4 * ROWS; i++)
      add_bytes (totals, bytes.groups[i], bytes_of_bits (pixels >> 4 * i), i);
  } else {
#pragma unroll 1
    for (uint32_t i = 0; i < 4 * ROWS; i++)
      add_words (totals, load_four_values (p, word.frame_x + i % 4 * 4, word.frame_y + i / 4),
          bytes_of_bits (pixels >> 4 * i), i);
  }
  set_words<LOWER_BITS> (sums, totals_of_word (totals, p.value_bytes == 1), word.x, word.y);
  if (!pixels)
    sums[LEAST] = sums[GREATEST] = 0;
}
