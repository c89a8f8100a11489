/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DLP, Distanceless Label Propagation.
 *
 * Cabaret, Lacassagne, Etiemble: Distanceless Label Propagation: an Efficient Direct Connected
 * Component Labeling Algorithm for GPUs, IPTA 2017, sections II and III. 8-connectivity. All
 * foreground pixels of a square of 2×2 are neighbours, and every two neighbours lie in a common
 * square.
 *
 * 1. label_tiles: labels tiles of 84×8 pixels in shared memory, with one thread for each pixel.
 *    DLP-SR writes the smallest label of each square to the roots of its labels; DLP-R links
 *    pixels to their roots; DLP-RUF unites the labels of each square; then DLP-R again.
 * 2. merge_rows, merge_columns: DLP-RUF on the squares that lie across the borders of tiles.
 * 3. relabel: DLP-R on the frame.
 *
 * The paper's recursive union is always a tail call; here it is a loop.
 */
#include "research/cuda/pixels.cuh"

#define TILE_WIDTH 84
#define TILE_HEIGHT 8

/* The union of two labels (algorithm 4 of the paper). */
static __device__ __forceinline__ void
unite_labels (uint32_t *labels, uint32_t greater, uint32_t smaller)
{
  while (greater > smaller) {
    const uint32_t old = atomicMin (&labels[greater], smaller);
    if (old == greater || old == smaller)
      return;
    greater = max (old, smaller);
    smaller = min (old, smaller);
  }
}

/* The labels of a square, 0 for background. */
struct Square {
  uint32_t labels[4];
  uint32_t least; /* UINT32_MAX without foreground */
};

static __device__ __forceinline__ Square
read_square (
    const uint32_t *labels, uint32_t number, uint32_t stride, bool has_right, bool has_below)
{
  Square square;
  square.labels[0] = labels[number];
  square.labels[1] = has_right ? labels[number + 1] : 0;
  square.labels[2] = has_below ? labels[number + stride] : 0;
  square.labels[3] = has_right && has_below ? labels[number + stride + 1] : 0;
  square.least = UINT32_MAX;
  for (int i = 0; i < 4; i++) {
    if (square.labels[i])
      square.least = min (square.least, square.labels[i]);
  }
  return square;
}

static __device__ __forceinline__ void
unite_square (uint32_t *labels, const Square &square)
{
  for (int i = 0; i < 4; i++) {
    if (square.labels[i])
      unite_labels (labels, square.labels[i], square.least);
  }
}

extern "C" __global__ void
__launch_bounds__ (TILE_WIDTH *TILE_HEIGHT) ccl_dlp_label_tiles (const CclLabellingParameters p)
{
  __shared__ uint32_t labels[TILE_WIDTH * TILE_HEIGHT + 1]; /* numbered from 1 */
  const Pixel pixel = own_pixel (p);
  const uint32_t column = threadIdx.x, row = threadIdx.y;
  const uint32_t number = row * TILE_WIDTH + column + 1;
  const bool has_right = column + 1 < TILE_WIDTH, has_below = row + 1 < TILE_HEIGHT;
  const bool foreground = pixel.exists && is_foreground (p, pixel);

  labels[number] = foreground ? number : 0;
  __syncthreads ();

  Square square = read_square (labels, number, TILE_WIDTH, has_right, has_below);
  for (int i = 0; i < 4; i++) {
    if (square.labels[i] > square.least)
      atomicMin (&labels[square.labels[i]], square.least);
  }
  __syncthreads ();
  if (foreground)
    compress (labels, number);
  __syncthreads ();
  unite_square (labels, read_square (labels, number, TILE_WIDTH, has_right, has_below));
  __syncthreads ();

  if (!pixel.exists)
    return;
  uint32_t label = 0;
  if (foreground) {
    const uint32_t root = find_root (labels, number) - 1;
    label = pixel_at (p, pixel.x - column + root % TILE_WIDTH, pixel.y - row + root / TILE_WIDTH)
                .number;
  }
  parents_of_pixels (p)[pixel.number] = label;
}

/* DLP-RUF on the square whose upper left pixel is given. */
static __device__ __forceinline__ void
merge_square (const CclLabellingParameters &p, const Pixel &pixel)
{
  if (!pixel.exists)
    return;
  uint32_t *labels = parents_of_pixels (p);
  unite_square (labels, read_square (labels, pixel.number, p.label_stride, pixel.x + 1 < p.width,
                            pixel.y + 1 < p.height));
}

extern "C" __global__ void
ccl_dlp_merge_rows (const CclLabellingParameters p)
{
  merge_square (p, pixel_at (p, thread_column (), thread_row () * TILE_HEIGHT + TILE_HEIGHT - 1));
}

extern "C" __global__ void
ccl_dlp_merge_columns (const CclLabellingParameters p)
{
  merge_square (p, pixel_at (p, thread_column () * TILE_WIDTH + TILE_WIDTH - 1, thread_row ()));
}

PIXEL_KERNEL (ccl_dlp_relabel, compress_pixel)
