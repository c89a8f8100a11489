/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RASMUSSON, connected components by propagation sizes.
 *
 * Rasmusson, Sørensen, Ziegler: Connected components labeling on the GPU with generalization to
 * Voronoi diagrams and signed distance fields, ISVC 2013; as in the review by Bolelli et al.,
 * IEEE TPDS 2024, section III-A-8. 8-connectivity. The upper four bits of a label are the pixel's
 * connections to its neighbours on the right and below, so at most 2^28 - 1 pixels can be
 * labelled. One thread for each pixel:
 *
 * 1. initialise: unique labels with their connection bits.
 * 2. propagate: in tiles of 32×32 pixels plus the next row and column. A warp is laid along each
 *    direction; its lanes find in five doublings, by shuffles, how far each pixel is connected in
 *    that direction. The pixel then takes the smallest label of the two ends and of its direct
 *    neighbours, including those in other tiles. Repeated until no label changes.
 * 3. label: clears the connection bits.
 *
 * The paper does not say how labels cross the left and upper borders of a tile, whose extra row and
 * column are at the right and below. Here they cross when a pixel reads its direct neighbours.
 */
#include "cuda/kernel-lib/pixels.cuh"
#include "cuda/kernel-lib/warp.cuh"

#define TILE 32
#define LABEL 0x0fffffffu
#define TO_RIGHT (1u << 28)
#define TO_LOWER_LEFT (1u << 29)
#define TO_BELOW (1u << 30)
#define TO_LOWER_RIGHT (1u << 31)

extern "C" __global__ void
ccl_rasmusson_initialise (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (!pixel.exists)
    return;
  const uint8_t *value = frame_row (p, pixel.y) + pixel.x, *below = value + p.frame_stride;
  const bool has_right = pixel.x + 1 < p.width, has_below = pixel.y + 1 < p.height;
  uint32_t label = 0;
  if (is_foreground (p, value[0])) {
    label = pixel.number;
    if (has_right && is_foreground (p, value[1]))
      label |= TO_RIGHT;
    if (has_below && pixel.x > 0 && is_foreground (p, below[-1]))
      label |= TO_LOWER_LEFT;
    if (has_below && is_foreground (p, below[0]))
      label |= TO_BELOW;
    if (has_below && has_right && is_foreground (p, below[1]))
      label |= TO_LOWER_RIGHT;
  }
  parents_of_pixels (p)[pixel.number] = label;
}

/* The number of consecutive connected lanes that follow this lane in the direction of higher (or
 * lower) lanes. is_connected: this lane is connected to the next one. */
static __device__ __forceinline__ uint32_t
reach (bool is_connected, bool upwards)
{
  uint32_t n_steps = is_connected;
  for (int i = 0; i < 5; i++) {
    const uint32_t lane = lane_of_warp ();
    n_steps += __shfl_sync (FULL_WARP, n_steps, upwards ? lane + n_steps : lane - n_steps);
  }
  return n_steps;
}

/* A tile and the smallest label found so far for each of its pixels. */
struct Tile {
  uint32_t words[TILE + 1][TILE + 1];
  uint32_t least[TILE][TILE + 1];
};

/* Lowers the label of this thread's pixel, for a warp laid along a direction: the pixel of the next
 * lane is dx columns to the right and dy rows below. is_cut: the line leaves the tile here, so the
 * next lane's pixel is not the next one on the line. */
static __device__ __forceinline__ void
propagate_along (Tile *tile, uint32_t x, uint32_t y, int dx, int dy, uint32_t connection)
{
  const uint32_t word = tile->words[y][x], lane = lane_of_warp ();
  const bool is_connected = word & connection;
  const bool is_cut = lane == 31 || x + dx >= TILE;

  /* Towards higher lanes, plus one pixel in the tile's extra row or column. */
  const uint32_t up = reach (is_connected && !is_cut, true);
  const bool end_goes_on = __shfl_sync (FULL_WARP, is_connected && is_cut, lane + up);
  const uint32_t last_x = x + up * dx, last_y = y + up * dy;
  uint32_t least = tile->least[y][x];
  if (word) {
    least = min (least, tile->words[last_y][last_x] & LABEL);
    if (end_goes_on && last_x + dx <= TILE)
      least = min (least, tile->words[last_y + dy][last_x + dx] & LABEL);
  }

  /* Towards lower lanes: connected if the lane below is connected to this one. */
  const bool from_below = __shfl_up_sync (FULL_WARP, is_connected && !is_cut, 1);
  const uint32_t down = reach (lane > 0 && from_below, false);
  if (word)
    least = min (least, tile->words[y - down * dy][x - down * dx] & LABEL);
  tile->least[y][x] = least;
}

extern "C" __global__ void
__launch_bounds__ (TILE *TILE) ccl_rasmusson_propagate (const CclLabellingParameters p)
{
  __shared__ Tile tile;
  const uint32_t lane = threadIdx.x, warp = threadIdx.y, thread = warp * TILE + lane;
  const uint32_t tile_x = blockIdx.x * TILE, tile_y = block_row () * TILE;
  uint32_t *words = parents_of_pixels (p);

  for (uint32_t i = thread; i < (TILE + 1) * (TILE + 1); i += TILE * TILE) {
    const uint32_t x = i % (TILE + 1), y = i / (TILE + 1);
    const Pixel pixel = pixel_at (p, tile_x + x, tile_y + y);
    tile.words[y][x] = pixel.exists ? words[pixel.number] : 0;
  }
  __syncthreads ();

  /* Direct neighbours, inside and outside the tile. */
  const Pixel pixel = pixel_at (p, tile_x + lane, tile_y + warp);
  const uint32_t word = tile.words[warp][lane];
  uint32_t least = word & LABEL;
  for (int dy = -1; word && dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      const Pixel other = pixel_at (p, pixel.x + dx, pixel.y + dy);
      const uint32_t label = other.exists ? words[other.number] & LABEL : 0;
      if (label)
        least = min (least, label);
    }
  }
  tile.least[warp][lane] = least;
  __syncthreads ();

  /* Rows: a warp's lanes are columns. */
  {
    const bool is_connected = word & TO_RIGHT;
    const uint32_t up = reach (is_connected && lane < 31, true);
    const bool end_goes_on = __shfl_sync (FULL_WARP, is_connected && lane == 31, lane + up);
    const bool from_below = __shfl_up_sync (FULL_WARP, is_connected, 1);
    const uint32_t down = reach (lane > 0 && from_below, false);
    if (word) {
      least = min (least, tile.words[warp][lane + up] & LABEL);
      least = min (least, tile.words[warp][lane - down] & LABEL);
      if (end_goes_on)
        least = min (least, tile.words[warp][TILE] & LABEL);
      tile.least[warp][lane] = least;
    }
  }
  __syncthreads ();
  /* Columns and the two diagonals: a warp's lanes are rows; diagonals wrap around at the side. */
  propagate_along (&tile, warp, lane, 0, 1, TO_BELOW);
  __syncthreads ();
  propagate_along (&tile, (warp + lane) % TILE, lane, 1, 1, TO_LOWER_RIGHT);
  __syncthreads ();
  propagate_along (&tile, (warp - lane) % TILE, lane, -1, 1, TO_LOWER_LEFT);
  __syncthreads ();

  least = tile.least[warp][lane];
  if (word && least < (word & LABEL)) {
    words[pixel.number] = (word & ~LABEL) | least;
    *p.changed = 1;
  }
}

extern "C" __global__ void
ccl_rasmusson_label (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (pixel.exists)
    parents_of_pixels (p)[pixel.number] &= LABEL;
}
