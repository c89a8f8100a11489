/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unions of the runs of a word with those of a neighbouring row, without those that other unions
 * make unnecessary. */
#pragma once

#include "cuda/kernel-lib/union-find.cuh"
#include "words.cuh"

/* A word with the words on both sides of it. */
struct Span {
  uint32_t word; /* index */
  uint32_t bits;
  uint32_t before, after; /* bits of the words on both sides */
};

/* The span in a neighbouring row; rows outside the volume are background. */
static __device__ __forceinline__ Span
span_at (const Parameters &p, const Place &place, int dy, int dz)
{
  Span span = {0, 0, 0, 0};
  const uint32_t y = place.y + dy, z = place.z + dz; /* wrap around before the volume */
  if (y >= p.height || z >= p.depth)
    return span;
  span.word = (z * p.height + y) * p.row_words + place.column;
  span.bits = p.words[span.word];
  span.before = place.column > 0 ? p.words[span.word - 1] : 0;
  span.after = place.column + 1 < p.row_words ? p.words[span.word + 1] : 0;
  return span;
}

/* For each voxel, the one left or right of it. */
static __device__ __forceinline__ uint32_t
left_of (const Span &span)
{
  return span.bits << 1 | span.before >> 31;
}

static __device__ __forceinline__ uint32_t
right_of (const Span &span)
{
  return span.bits >> 1 | span.after << 31;
}

/* Unites the runs of a at the bits that are set with those of b at the same bits. */
static __device__ __forceinline__ void
unite_at (const Parameters &p, const Span &a, const Span &b, uint32_t bits)
{
  for (; bits; bits &= bits - 1) {
    const uint32_t bit = __ffs (bits) - 1;
    unite (p.parents, element_of (p, a.word, a.bits, bit), element_of (p, b.word, b.bits, bit));
  }
}

/* Unites the runs of a at the bits that are set with those of b one voxel further left. */
static __device__ __forceinline__ void
unite_with_left (const Parameters &p, const Span &a, const Span &b, uint32_t bits)
{
  for (; bits; bits &= bits - 1) {
    const uint32_t bit = __ffs (bits) - 1;
    unite (p.parents, element_of (p, a.word, a.bits, bit),
        bit ? element_of (p, b.word, b.bits, bit - 1) : element_of (p, b.word - 1, b.before, 31));
  }
}

/* The same with those one voxel further right. */
static __device__ __forceinline__ void
unite_with_right (const Parameters &p, const Span &a, const Span &b, uint32_t bits)
{
  for (; bits; bits &= bits - 1) {
    const uint32_t bit = __ffs (bits) - 1;
    unite (p.parents, element_of (p, a.word, a.bits, bit),
        bit < 31 ? element_of (p, b.word, b.bits, bit + 1)
                 : element_of (p, b.word + 1, b.after, 0));
  }
}

/* Unites runs of a and b that have voxels at the same x. The overlap of two runs is one sequence of
 * bits; they need no union if that sequence holds a connected bit, one where other unions connect
 * a with b, or if it continues from the word before, where the pair has been seen. */
static __device__ __forceinline__ void
unite_overlaps (const Parameters &p, const Span &a, const Span &b, uint32_t connected)
{
  const uint32_t overlap = a.bits & b.bits;
  connected |= (a.before & b.before) >> 31;
  /* Adding the first bit of a sequence carries into the bit past its end, unless a connected bit
   * stops the carry. */
  const uint64_t carried = (uint64_t)(overlap & ~connected) + starts_of (overlap);
  unite_at (p, a, b, (uint32_t)((carried & ~(uint64_t)overlap) >> 1));
}

/* Unites runs of a and b that do not overlap where one ends and the other begins at the next x. A
 * voxel that touches both makes the union unnecessary: beside_left and beside_right say where there
 * is one, for b left and right of a. */
static __device__ __forceinline__ void
unite_diagonals (
    const Parameters &p, const Span &a, const Span &b, uint32_t beside_left, uint32_t beside_right)
{
  const uint32_t alone = a.bits & ~b.bits;
  unite_with_left (p, a, b, alone & ~left_of (a) & left_of (b) & ~beside_left);
  unite_with_right (p, a, b, alone & ~right_of (a) & right_of (b) & ~beside_right);
}

/* 18 and 26 neighbours: the row whose voxels share an edge with those of a at the same x, and a
 * corner at neighbouring x. beside and below are the two rows that touch both. */
static __device__ __forceinline__ void
unite_across_edge (
    const Parameters &p, const Span &a, const Span &b, const Span &beside, const Span &below)
{
  const uint32_t between = beside.bits | below.bits;
  unite_overlaps (p, a, b, between);
  if (p.connectivity == 26)
    unite_diagonals (p, a, b, between | left_of (beside) | left_of (below),
        between | right_of (beside) | right_of (below));
}
