/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 8DLS, 8-Directional Label Selection, and M8DLS, its modified form.
 *
 * Soh, Raja, Hae, Kim: Fast parallel connected component labeling algorithms using CUDA based on
 * 8-directional label selection, International Journal of Latest Research in Science and
 * Technology 3, 2014; as in the review by Bolelli et al., IEEE TPDS 2024, section III-A-7.
 * 8-connectivity. One thread for each pixel:
 *
 * 1. initialise: every foreground pixel gets a unique label.
 * 2. select: a pixel takes the smallest label found in each of the eight directions, up to the
 *    first background pixel; repeated until no label changes.
 *
 * M8DLS, select_modified, skips the pixels that still have their first label after two rounds. The
 * review says that its result may therefore be wrong: a component whose smallest label needs more
 * rounds to reach all pixels keeps several labels.
 */
#include "research/cuda/pixels.cuh"

PIXEL_KERNEL (ccl_8dls_initialise, make_root)

/* The smallest label in one direction, up to the first background pixel. */
static __device__ __forceinline__ uint32_t
min_on_the_way (const CclLabellingParameters &p, Pixel pixel, int dx, int dy, uint32_t least)
{
  const uint32_t *labels = parents_of_pixels (p);
  for (;;) {
    pixel = pixel_at (p, pixel.x + dx, pixel.y + dy);
    const uint32_t label = pixel.exists ? labels[pixel.number] : 0;
    if (!label)
      return least;
    least = min (least, label);
  }
}

static __device__ __forceinline__ void
take_least (const CclLabellingParameters &p, const Pixel &pixel)
{
  uint32_t *labels = parents_of_pixels (p);
  const uint32_t label = labels[pixel.number];
  uint32_t least = label;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      if (dx || dy)
        least = min_on_the_way (p, pixel, dx, dy, least);
    }
  }
  if (least < label) {
    labels[pixel.number] = least;
    *p.changed = 1;
  }
}

extern "C" __global__ void
ccl_8dls_select (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (pixel.exists && parents_of_pixels (p)[pixel.number])
    take_least (p, pixel);
}

extern "C" __global__ void
ccl_8dls_select_modified (const CclLabellingParameters p)
{
  const Pixel pixel = own_pixel (p);
  if (!pixel.exists)
    return;
  const uint32_t label = parents_of_pixels (p)[pixel.number];
  if (label && (p.round < 2 || label != pixel.number))
    take_least (p, pixel);
}
