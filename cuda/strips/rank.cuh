/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rank phase: labels by the count of first pixels, and the component table. */
#ifndef CCL_STRIPS_RANK_CUH
#define CCL_STRIPS_RANK_CUH

#include "dependent-launch.cuh"
#include "features.cuh"

/* The features of the component with its first pixel at (x, y). */
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

/* What a block collects before it writes rows. */
struct Rows {
  /* The first pixels of the components, counted from the first of the block's words: 2×2 pixels
   * have at most one with 8-connectivity, two with 4-connectivity. */
  uint16_t firsts[CCL_STRIPS_RANK_THREADS * 32 / 2];
  CclComponent rows[CCL_STRIPS_RANK_THREADS];
};

/* Writes the rows of n_rows components, the first of which has the label rank + 1. Each thread has
 * the bits of its word, and before_word bits lie in the words of the threads before it. */
template <int ROWS>
static __device__ __forceinline__ void
write_rows (const Parameters &p, Rows &block, uint32_t first_word, uint32_t bits,
    uint32_t before_word, uint32_t rank, uint32_t n_rows)
{
  enum {
    THREADS = CCL_STRIPS_RANK_THREADS,
    ROW_UNITS = sizeof (CclComponent) / sizeof (unsigned long long),
  };
  for (uint32_t next = before_word; bits; bits &= bits - 1)
    block.firsts[next++] = threadIdx.x * 32 + __ffs (bits) - 1;
  __syncthreads ();
  for (uint32_t done = 0; done < n_rows; done += THREADS) {
    const uint32_t n = min (n_rows - done, (uint32_t)THREADS);
    if (threadIdx.x < n)
      block.rows[threadIdx.x] = make_row<ROWS> (
          p, rank + done + threadIdx.x + 1, first_word * 32 + block.firsts[done + threadIdx.x]);
    __syncthreads ();
    /* The rows cross the bus in whole lines. */
    for (uint32_t i = threadIdx.x; i < n * ROW_UNITS; i += THREADS)
      ((unsigned long long *)(p.rows + rank + done))[i] = ((unsigned long long *)block.rows)[i];
    __syncthreads ();
  }
}

/* Tells the host that the table is written, which the block does that gets here last. Frames with a
 * label map have a later phase. has_written: the block has written to the table or the count; a
 * barrier lies between the writes of its other threads and this call. */
static __device__ __forceinline__ void
finish_chunk (const Parameters &p, bool has_written)
{
  if (p.labels || threadIdx.x != 0)
    return;
  /* The next frame may start on another stream as soon as the host knows. */
  if (has_written)
    __threadfence_system ();
  else
    __threadfence ();
  if (atomicAdd (p.n_ranked, 1u) != p.n_chunks - 1)
    return;
  *p.n_ranked = 0;
  __threadfence_system ();
  *(volatile uint32_t *)p.finished = 1;
}

/* A block ranks a chunk of quads, each thread a word of 32 pixels at a time, and writes the rows of
 * the components that have their first pixels there. */
template <int ROWS>
static __device__ __forceinline__ void
rank_chunk (const Parameters &p)
{
  enum { THREADS = CCL_STRIPS_RANK_THREADS };
  __shared__ Rows block;
  let_next_kernel_start ();
  wait_for_previous_kernel ();

  const uint32_t start = (blockIdx.x << p.chunk_shift) * 4;
  const uint32_t end = min (start + (4u << p.chunk_shift), p.n_quads * 4);
  uint32_t bits = start + threadIdx.x < end ? p.first_bits[start + threadIdx.x] : 0;
  uint32_t before = 0;
  for (uint32_t i = threadIdx.x; i < blockIdx.x; i += THREADS)
    before += p.chunk_count[i];
  /* The next counts are not read before the next frame. */
  if (threadIdx.x == 0)
    p.next_chunk_count[blockIdx.x] = 0;
  uint32_t rank;
  sum_before_thread_of_few<THREADS / 32> (before, &rank);

  bool has_written = blockIdx.x == p.n_chunks - 1;
  for (uint32_t first = start; first < end; first += THREADS) {
    const uint32_t word = first + threadIdx.x;
    uint32_t total;
    const uint32_t before_word = sum_before_thread_of_few<THREADS / 32> (__popc (bits), &total);
    if (p.labels && word < end && word % 4 == 0)
      p.quad_rank[word / 4] = rank + before_word;

    /* The labels of these components are rank + 1 … rank + total. */
    const uint32_t n_rows = rank < p.max_components ? min (total, p.max_components - rank) : 0;
    if (n_rows)
      write_rows<ROWS> (p, block, first, bits, before_word, rank, n_rows);
    has_written |= n_rows > 0;
    rank += total;
    bits = word + THREADS < end ? p.first_bits[word + THREADS] : 0;
  }
  if (blockIdx.x == p.n_chunks - 1 && threadIdx.x == 0)
    *p.n_components = rank;
  finish_chunk (p, has_written);
}

#endif /* CCL_STRIPS_RANK_CUH */
