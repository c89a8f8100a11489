/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HA4 and HA8, the hardware accelerated labellers.
 *
 * Hennequin, Lacassagne, Cabaret, Meunier: A new direct connected component labeling and
 * analysis algorithms for GPUs, DASIP 2018 (4-connectivity); for 8-connectivity as in the review
 * by Bolelli et al., IEEE TPDS 2024, section III-B-6. A warp holds 32 pixels of a row as a word of
 * bits and finds the runs by counting bits. Until the last step only the first pixel of a run
 * within a word has a label.
 *
 * 1. label_strips: for each of the four rows of a strip, one warp scans the row word by word. It
 *    unites runs with those of the row above in the strip. A run that continues from the preceding
 *    word is identified by the distance back to its start.
 * 2. merge_strips: unites runs on both sides of the border between two strips.
 * 3. label: the lane at the start of a run finds its root and broadcasts it to the run's pixels.
 *
 * For 8-connectivity the papers pass the last pixel of a word to the next warp through shared
 * memory. Here step 1 takes it from the distances of the preceding word, and in step 2 the last
 * lane reads the two pixels beyond its word.
 */
#include "cuda/kernel-lib/pixels.cuh"
#include "cuda/kernel-lib/warp.cuh"

#define STRIP 4

/* The length of the run of foreground pixels that ends right before the lane's pixel, within the
 * word. */
static __device__ __forceinline__ uint32_t
distance_to_start (uint32_t word, uint32_t lane)
{
  return lane == 0 ? 0 : __clz (~(word << (32 - lane)));
}

/* The number of consecutive foreground pixels at the end of the word. */
static __device__ __forceinline__ uint32_t
n_at_end (uint32_t word)
{
  return word == FULL_WARP ? 32 : __clz (~word);
}

static __device__ __forceinline__ bool
has_bit (uint32_t word, uint32_t lane)
{
  return word >> lane & 1;
}

/* One block of 32×4 threads for each strip. */
extern "C" __global__ void __launch_bounds__ (32 * STRIP)
    ccl_ha_label_strips (const CclLabellingParameters p)
{
  __shared__ uint32_t words[STRIP];
  __shared__ uint32_t distances[STRIP];
  const uint32_t lane = threadIdx.x, row = threadIdx.y, y = thread_row ();
  uint32_t *parents = parents_of_pixels (p);
  uint32_t distance =
      0; /* from the word's first pixel back to the start of the run that ends right before it */

  for (uint32_t start = 0; start < p.width; start += 32) {
    const Pixel pixel = pixel_at (p, start + lane, y);
    const uint32_t word = __ballot_sync (FULL_WARP, pixel.exists && is_foreground (p, pixel));
    const bool is_set = has_bit (word, lane);
    /* From the pixel back to the start of its run. */
    uint32_t back = distance_to_start (word, lane);
    const bool is_start_in_word = is_set && back == 0;
    if (back == lane)
      back += distance;
    if (is_start_in_word)
      parents[pixel.number] = pixel.number - back;
    if (lane == 0) {
      words[row] = word;
      distances[row] = distance;
    }
    __syncthreads ();

    if (row > 0) {
      const uint32_t above = words[row - 1], distance_above = distances[row - 1];
      uint32_t back_above = distance_to_start (above, lane);
      if (back_above == lane)
        back_above += distance_above;
      const uint32_t run = pixel.number - back;
      const uint32_t number_above = pixel.number - p.label_stride;
      if (is_set && has_bit (above, lane)) {
        if (back == 0 || back_above == 0)
          unite (parents, run, number_above - back_above);
      } else if (p.connectivity == 8) {
        /* The pixel touches the run that ends at its upper left, or the pixel above touches the
         * run that ends at the left. */
        const bool is_left_set = lane > 0 ? has_bit (word, lane - 1) : distance > 0;
        const bool is_upper_left_set = lane > 0 ? has_bit (above, lane - 1) : distance_above > 0;
        if (is_set && is_upper_left_set)
          unite (parents, run, number_above - back_above);
        else if (is_left_set && has_bit (above, lane))
          unite (parents, run, number_above - back_above);
      }
    }
    distance = word == FULL_WARP ? distance + 32 : n_at_end (word);
    __syncthreads ();
  }
}

/* One thread for each pixel of the strips' first rows; a thread block is one row of whole warps. */
extern "C" __global__ void
ccl_ha_merge_strips (const CclLabellingParameters p)
{
  const Pixel pixel = pixel_at (p, thread_column (), (thread_row () + 1) * STRIP);
  const uint32_t lane = lane_of_warp ();
  uint32_t *parents = parents_of_pixels (p);
  if (pixel.y >= p.height)
    return;
  const uint8_t *value = frame_row (p, pixel.y) + pixel.x, *above_value = value - p.frame_stride;
  const uint32_t word = __ballot_sync (FULL_WARP, pixel.exists && is_foreground (p, value[0]));
  const uint32_t above =
      __ballot_sync (FULL_WARP, pixel.exists && is_foreground (p, above_value[0]));
  if (!pixel.exists)
    return;

  const bool is_set = has_bit (word, lane), is_above_set = has_bit (above, lane);
  const uint32_t back = distance_to_start (word, lane);
  const uint32_t back_above = distance_to_start (above, lane);
  const uint32_t number_above = pixel.number - p.label_stride;
  if (is_set && is_above_set && (back == 0 || back_above == 0))
    unite (parents, pixel.number - back, number_above - back_above);
  if (p.connectivity == 8 && is_set != is_above_set && pixel.x + 1 < p.width) {
    /* The neighbour at the upper or lower right. It starts a run, because the pixel to its left is
     * background. */
    if (is_set && (lane < 31 ? has_bit (above, lane + 1) : is_foreground (p, above_value[1])))
      unite (parents, pixel.number - back, number_above + 1);
    if (is_above_set && (lane < 31 ? has_bit (word, lane + 1) : is_foreground (p, value[1])))
      unite (parents, number_above - back_above, pixel.number + 1);
  }
}

/* One thread for each pixel; a row of a thread block is made of whole warps. */
extern "C" __global__ void
ccl_ha_label (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  const uint32_t lane = threadIdx.x % 32;
  uint32_t *parents = parents_of_pixels (p);
  const bool is_set = pixel.exists && is_foreground (p, pixel);
  const uint32_t word = __ballot_sync (FULL_WARP, is_set);
  const uint32_t back = distance_to_start (word, lane);
  uint32_t label = 0;
  if (is_set && back == 0)
    label = find_root (parents, pixel.number);
  label = __shfl_sync (FULL_WARP, label, lane - back);
  if (pixel.exists)
    parents[pixel.number] = is_set ? label : 0;
}
