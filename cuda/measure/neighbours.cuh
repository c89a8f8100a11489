/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What depends on the neighbours of pixels, for all pixels of a patch at once: a board has a bit
 * for each of 8×8 pixels, 8 × row + column, with the patch in its middle. */
#pragma once

#include "measure-parameters.h"
#include "patch.cuh"
#include "cuda/kernel-lib/warp.cuh"

typedef unsigned long long Board;

enum {
  MARGIN = 2, /* pixels around a patch that the perimeter depends on */
  N_FOREGROUND_ROWS = CUDACCL_MEASURE_TILE_HEIGHT + 2 * MARGIN,
  N_PATCHES = CUDACCL_MEASURE_TILE_WIDTH / PATCH, /* side by side in a tile */
};

/* The foreground of a tile and its margins: four pixels of a row each, in the lower bits. */
struct Foreground {
  uint8_t rows[N_FOREGROUND_ROWS][N_PATCHES + 2];
};

/* A bit for each of n labels from column x on, 0 outside the frame. Coordinates left of or above
 * the frame are large numbers. */
static __device__ __forceinline__ uint32_t
foreground_at (const CclMeasureParameters &p, uint32_t x, uint32_t y, uint32_t n)
{
  uint32_t bits = 0;
  for (uint32_t i = 0; i < n; i++)
    if (y < p.height && x + i < p.width && p.labels[y * p.label_stride + x + i] != 0)
      bits |= 1u << i;
  return bits;
}

/* Stores the foreground of the block's tile, of which each thread has the pixels of its patch, and
 * that of the margins. The block has at least eight warps. */
static __device__ __forceinline__ void
store_foreground (const CclMeasureParameters &p, Foreground &foreground, uint32_t pixels)
{
  const uint32_t left = blockIdx.x * CUDACCL_MEASURE_TILE_WIDTH;
  const uint32_t top = blockIdx.y * CUDACCL_MEASURE_TILE_HEIGHT;
  const uint32_t lane = lane_of_warp (), warp = threadIdx.x / 32;
  const uint32_t first_beside = 2 * MARGIN * 32;
  for (uint32_t i = 0; i < PATCH; i++)
    foreground.rows[MARGIN + warp * PATCH + i][1 + lane] = pixels >> PATCH * i & 0xf;
  if (threadIdx.x < first_beside) {
    const uint32_t row = warp < MARGIN ? warp : warp + CUDACCL_MEASURE_TILE_HEIGHT;
    foreground.rows[row][1 + lane] =
        foreground_at (p, left + lane * PATCH, top + row - MARGIN, PATCH);
  } else if (threadIdx.x < first_beside + 2 * N_FOREGROUND_ROWS) {
    const uint32_t row = (threadIdx.x - first_beside) / 2, y = top + row - MARGIN;
    if (threadIdx.x % 2 == 0)
      foreground.rows[row][0] = foreground_at (p, left - MARGIN, y, MARGIN) << MARGIN;
    else
      foreground.rows[row][1 + N_PATCHES] =
          foreground_at (p, left + CUDACCL_MEASURE_TILE_WIDTH, y, MARGIN);
  }
}

/* For each pixel of the board: whether it is foreground, and whether the neighbours at its corners
 * are in the same component. Neighbours at edges are, if they are foreground. */
struct Neighbours {
  Board foreground;
  Board north_west, north_east, south_west, south_east;
};

/* For each pixel, whether that beside it is set. Pixels at the edge of the board are undefined. */
#define NORTH_OF(board) ((board) << 8)
#define SOUTH_OF(board) ((board) >> 8)
#define WEST_OF(board) ((board) << 1)
#define EAST_OF(board) ((board) >> 1)

/* The pixels of a patch as those in the middle of a board. */
static __device__ __forceinline__ Board
board_of_patch (uint32_t pixels)
{
  Board board = 0;
#pragma unroll
  for (uint32_t row = 0; row < PATCH; row++)
    board |= (Board)(pixels >> PATCH * row & 0xf) << (8 * (row + MARGIN) + MARGIN);
  return board;
}

/* Of the pixels of the patch at (x, y) of the frame that have foreground at the corner (dx, dy),
 * those whose neighbour there is in the same component. edges: those with foreground at one of the
 * two edges beside that corner, which connects both. */
static __device__ __forceinline__ Board
same_at_corner (const CclMeasureParameters &p, Board foreground, Board corner, Board edges,
    int32_t dx, int32_t dy, uint32_t x, uint32_t y)
{
  if (p.connectivity == 8)
    return corner;
  Board same = corner & edges;
  for (Board rest = foreground & corner & ~edges & board_of_patch (0xffff); rest;
       rest &= rest - 1) {
    const uint32_t bit = __ffsll (rest) - 1;
    const uint32_t *const label =
        p.labels + (y + bit / 8 - MARGIN) * p.label_stride + x + bit % 8 - MARGIN;
    if (*label == label[dy * (int64_t)p.label_stride + dx])
      same |= (Board)1 << bit;
  }
  return same;
}

/* The neighbours of the patch of a lane and a warp. */
static __device__ __forceinline__ Neighbours
neighbours_of (
    const CclMeasureParameters &p, const Foreground &foreground, uint32_t lane, uint32_t warp)
{
  const uint32_t x = blockIdx.x * CUDACCL_MEASURE_TILE_WIDTH + lane * PATCH;
  const uint32_t y = blockIdx.y * CUDACCL_MEASURE_TILE_HEIGHT + warp * PATCH;
  Board f = 0;
#pragma unroll
  for (uint32_t row = 0; row < 8; row++) {
    const uint8_t *const four = &foreground.rows[warp * PATCH + row][lane];
    f |= (Board)(four[0] >> MARGIN | four[1] << MARGIN | (four[2] & 3) << (MARGIN + PATCH))
         << 8 * row;
  }
  const Board n = NORTH_OF (f), s = SOUTH_OF (f), w = WEST_OF (f), e = EAST_OF (f);
  return Neighbours{
      .foreground = f,
      .north_west = same_at_corner (p, f, NORTH_OF (w), n | w, -1, -1, x, y),
      .north_east = same_at_corner (p, f, NORTH_OF (e), n | e, 1, -1, x, y),
      .south_west = same_at_corner (p, f, SOUTH_OF (w), s | w, -1, 1, x, y),
      .south_east = same_at_corner (p, f, SOUTH_OF (e), s | e, 1, 1, x, y),
  };
}

/* The number of boards, of four, that have each pixel, as one board for each bit of the number. */
struct BoardCount {
  Board bit_0, bit_1, bit_2;
};

static __device__ __forceinline__ BoardCount
count_boards (Board a, Board b, Board c, Board d)
{
  const Board ab = a ^ b, cd = c ^ d, carry = ab & cd;
  return BoardCount{
      .bit_0 = ab ^ cd,
      .bit_1 = (a & b) ^ (c & d) ^ carry,
      .bit_2 = (a & b & c & d),
  };
}

/* Border pixels by their kind (CclBorderKind in neighbourhood.h). */
struct BorderBoards {
  Board straight, diagonal, mixed;
};

static __device__ __forceinline__ BorderBoards
border_boards (const Neighbours &neighbours)
{
  const Board f = neighbours.foreground;
  const Board border = f & ~(NORTH_OF (f) & SOUTH_OF (f) & WEST_OF (f) & EAST_OF (f));
  const Board north = NORTH_OF (border), south = SOUTH_OF (border);
  const BoardCount edge = count_boards (north, south, WEST_OF (border), EAST_OF (border));
  const BoardCount corner = count_boards (WEST_OF (north) & neighbours.north_west,
      EAST_OF (north) & neighbours.north_east, WEST_OF (south) & neighbours.south_west,
      EAST_OF (south) & neighbours.south_east);
  const Board edge_0 = ~(edge.bit_0 | edge.bit_1 | edge.bit_2);
  const Board edge_1 = edge.bit_0 & ~edge.bit_1;
  const Board edge_2_or_3 = edge.bit_1;
  const Board corner_1 = corner.bit_0 & ~corner.bit_1;
  const Board corner_2 = corner.bit_1 & ~corner.bit_0;
  const Board corner_3 = corner.bit_0 & corner.bit_1;
  return BorderBoards{
      .straight = border & edge_2_or_3 & ~(corner_3 | corner.bit_2),
      .diagonal = border & ((edge_0 & corner_2) | (edge_1 & corner_3)),
      .mixed = border & edge_1 & (corner_1 | corner_2),
  };
}

/* As CclQuads (neighbourhood.h). */
struct QuadCounts {
  uint32_t n_1, n_2, n_3, n_diagonal;
};

/* Counts the squares of 2×2 pixels in which one of these pixels is the component's first. */
static __device__ __forceinline__ QuadCounts
count_quads (const Neighbours &neighbours, Board pixels)
{
  const Board f = neighbours.foreground;
  const Board n = NORTH_OF (f), s = SOUTH_OF (f), w = WEST_OF (f), e = EAST_OF (f);
  const Board nw = neighbours.north_west, ne = neighbours.north_east;
  const Board sw = neighbours.south_west & ~w & pixels, se = neighbours.south_east & pixels;
  const Board first_of_row = pixels & ~w, below_none = pixels & ~(n | ne);
  return QuadCounts{
      .n_1 = (uint32_t)(__popcll (pixels & ~(e | s | se)) + __popcll (first_of_row & ~(s | sw)) +
                        __popcll (below_none & ~e) + __popcll (pixels & ~(n | nw | w))),
      .n_2 = (uint32_t)(__popcll (pixels & (e ^ s) & ~se) + __popcll (first_of_row & s & ~sw) +
                        __popcll (below_none & e)),
      .n_3 = (uint32_t)(__popcll (pixels & ((e & s & ~se) | (se & (e ^ s)))) + __popcll (sw & s)),
      .n_diagonal = (uint32_t)(__popcll (se & ~(e | s)) + __popcll (sw & ~s)),
  };
}
