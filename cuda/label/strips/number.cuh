/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number phase: labels by the count of first pixels, and the component table. */
#pragma once

#include "core/label/component-row.h"
#include "cuda/kernel-lib/dependent-launch.cuh"
#include "component-sums.cuh"
#include "reduce.cuh"

/* The sums of a closed tile component of the tile at (tile_x, tile_y). */
static __device__ __forceinline__ ComponentSums
sums_of_closed (uint4 component, uint32_t tile_x, uint32_t tile_y)
{
  ComponentSums f;
  f.area = component.x & 0xffff;
  f.sum_x = (unsigned long long)f.area * tile_x + component.y;
  f.sum_y = (unsigned long long)f.area * tile_y + component.z;
  f.left = tile_x + (component.w & 0xffff);
  f.right = tile_x + (component.w >> 16);
  f.bottom = tile_y + (component.x >> 16);
  return f;
}

/* Waits for the blocks that reduce. They are the first of the kernel, and none of them waits. */
static __device__ __forceinline__ void
wait_for_reduction (const Parameters &p)
{
  while (*(volatile uint32_t *)&p.chunk_count[p.n_chunks] < p.n_reduce_blocks)
    __nanosleep (20);
  __threadfence ();
}

static __device__ __forceinline__ CclComponent
make_row (const ComponentSums &f, uint32_t label, uint32_t y)
{
  return ccl_component_row (label, f.area, f.left, y, f.right, f.bottom, f.sum_x, f.sum_y);
}

/* 32 pixels. */
struct NumberedWord {
  uint32_t bits;           /* first pixels of components */
  uint32_t y, tile_column; /* its place in the frame */
};

/* Where a word lies; needs nothing of the kernels before. */
static __device__ __forceinline__ NumberedWord
place_word (const Parameters &p, uint32_t word)
{
  NumberedWord w = {};
  w.y = quotient (word / 4, p.tile_columns, p.tile_columns_inverse);
  w.tile_column = word / 4 - w.y * p.tile_columns;
  return w;
}

/* What a block collects before it writes rows. */
struct Rows {
  /* The first pixels of the components, counted from the first of the block's words: 2×2 pixels
   * have at most one with 8-connectivity, two with 4-connectivity. */
  uint16_t firsts[CUDACCL_STRIPS_NUMBER_THREADS * 32 / 2];
  CclComponent rows[CUDACCL_STRIPS_NUMBER_THREADS];
  NumberedWord words[CUDACCL_STRIPS_NUMBER_THREADS];
};

/* The columns of rows: none. */
struct NoColumns {
  typedef NoReducedColumns Reduced;
  struct Row {};

  __device__ __forceinline__ Row
  load_open (uint32_t, const ComponentSums &) const
  {
    return {};
  }

  __device__ __forceinline__ Row
  load_closed (uint32_t, const ComponentSums &, uint32_t, uint32_t) const
  {
    return {};
  }

  __device__ __forceinline__ void
  write (Rows &, const Row &, uint32_t, uint32_t) const
  {
  }

  __device__ __forceinline__ Reduced
  reduced () const
  {
    return {};
  }
};

/* Writes the rows of n_rows components, the first of which has the label n_before + 1. Each thread
 * has the bits of its word, and before_word bits lie in the words of the threads before it. */
template <int ROWS, typename Columns>
static __device__ __forceinline__ void
write_rows (const Parameters &p, Rows &block, const NumberedWord &word, uint32_t before_word,
    uint32_t n_before, uint32_t n_rows, const Columns &columns)
{
  enum {
    THREADS = CUDACCL_STRIPS_NUMBER_THREADS,
    ROW_UNITS = sizeof (CclComponent) / sizeof (unsigned long long),
  };
  block.words[threadIdx.x] = word;
#pragma unroll 1
  for (uint32_t bits = word.bits, next = before_word; bits; bits &= bits - 1)
    block.firsts[next++] = threadIdx.x * 32 + __ffs (bits) - 1;
  __syncthreads ();
#pragma unroll 1
  for (uint32_t done = 0; done < n_rows; done += THREADS) {
    const uint32_t n = min (n_rows - done, (uint32_t)THREADS);
    uint32_t entry = CUDACCL_STRIPS_CLOSED, y = 0, tile_x = 0, tile_y = 0;
    if (threadIdx.x < n) {
      const uint32_t first = block.firsts[done + threadIdx.x];
      const NumberedWord &w = block.words[first / 32];
      y = w.y;
      tile_x = w.tile_column * TILE_WIDTH;
      tile_y = y / (STRIPS * ROWS) * (STRIPS * ROWS);
      entry = p.parent[y * p.tile_columns * GROUP_WIDTH + tile_x + first % TILE_WIDTH];
    }
    const bool open = !(entry & CUDACCL_STRIPS_CLOSED);
    uint4 component = {};
    if (threadIdx.x < n && !open)
      component = p.component[entry & ~(CUDACCL_STRIPS_ROOT | CUDACCL_STRIPS_CLOSED)];
    if (open && !p.filtered)
      wait_for_reduction (p);
    typename Columns::Row row;
    if (threadIdx.x < n) {
      const uint32_t number = entry & ~(CUDACCL_STRIPS_ROOT | CUDACCL_STRIPS_CLOSED);
      const ComponentSums f =
          open ? load_sums (p.sums, number) : sums_of_closed (component, tile_x, tile_y);
      row = open ? columns.load_open (number, f) : columns.load_closed (number, f, tile_x, tile_y);
      block.rows[threadIdx.x] = make_row (f, n_before + done + threadIdx.x + 1, y);
    }
    __syncthreads ();
    /* The rows cross the bus in whole lines. */
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < n * ROW_UNITS; i += THREADS)
      ((unsigned long long *)(p.rows + n_before + done))[i] = ((unsigned long long *)block.rows)[i];
    __syncthreads ();
    columns.write (block, row, n_before + done, n);
  }
}

/* The sum of `value`, at most 16, before this thread and over the block, and the sum of `other`
 * over the block. */
template <uint32_t WARPS>
static __device__ __forceinline__ uint32_t
sums_of_block (uint32_t value, uint32_t other, uint32_t *total, uint32_t *other_total)
{
  __shared__ uint32_t values[WARPS], others[WARPS];
  uint32_t of_warp;
  const uint32_t sum = sum_bits_up_to_lane<5> (value, &of_warp);
  const uint32_t other_sum = reduce_add (FULL_WARP, other);
  if (lane_of_warp () == 31) {
    values[threadIdx.x / 32] = of_warp;
    others[threadIdx.x / 32] = other_sum;
  }
  __syncthreads ();
  uint32_t before = 0, all = 0, all_others = 0;
  for (uint32_t i = 0; i < WARPS; i++) {
    before += i < threadIdx.x / 32 ? values[i] : 0;
    all += values[i];
    all_others += others[i];
  }
  *total = all;
  *other_total = all_others;
  return before + sum - value;
}

/* A block numbers a chunk of groups, each thread a word of 32 pixels at a time, and writes the rows
 * of the components that have their first pixels there. */
template <int ROWS, typename Columns = NoColumns>
static __device__ __forceinline__ void
number_chunk (const Parameters &p, Rows &block, uint32_t chunk, const Columns &columns = {})
{
  enum { THREADS = CUDACCL_STRIPS_NUMBER_THREADS };
  const uint32_t start = (chunk << p.chunk_shift) * 4;
  const uint32_t end = min (start + (4u << p.chunk_shift), p.n_groups * 4);
  NumberedWord word = place_word (p, start + threadIdx.x);
  load_parameters (p.width | low_word (p.parent) | low_word (p.open_first) | p.n_groups);
  wait_for_previous_kernel ();

  word.bits = start + threadIdx.x < end ? p.first_bits[start + threadIdx.x] : 0;
  uint32_t before = 0;
  for (uint32_t i = threadIdx.x; i < chunk; i += THREADS)
    before += p.chunk_count[i];
  /* The next counts are not read before the next frame. */
  if (threadIdx.x == 0)
    p.next_chunk_count[chunk] = 0;
  if (threadIdx.x == 0 && chunk == 0)
    p.next_chunk_count[p.n_chunks] = 0;
  uint32_t n_before, total;
  uint32_t before_word =
      sums_of_block<THREADS / 32> (__popc (word.bits), before, &total, &n_before);

#pragma unroll 1
  for (uint32_t first = start; first < end; first += THREADS) {
    const uint32_t number = first + threadIdx.x;
    /* The labels of these components are n_before + 1 … n_before + total. */
    const uint32_t n_rows =
        n_before < p.max_components ? min (total, p.max_components - n_before) : 0;
    if (n_rows)
      write_rows<ROWS> (p, block, word, before_word, n_before, n_rows, columns);
    n_before += total;
    if (first + THREADS < end) {
      word = place_word (p, number + THREADS);
      word.bits = number + THREADS < end ? p.first_bits[number + THREADS] : 0;
      before_word = sum_before_thread_of_few<THREADS / 32> (__popc (word.bits), &total);
    }
  }
  if (chunk == p.n_chunks - 1 && threadIdx.x == 0)
    *p.n_components = n_before;
}

/* Without an area filter, the first blocks of the last kernel reduce. */
template <typename Columns = NoReducedColumns>
static __device__ __forceinline__ void
reduce_before_numbering (const Parameters &p, const Columns &columns = {})
{
  load_parameters (p.width | low_word (p.parent) | low_word (p.open_first));
  wait_for_previous_kernel ();
  if (p.filtered)
    return;
  reduce_components (p, columns);
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0)
    atomicAdd (&p.chunk_count[p.n_chunks], 1u);
}
