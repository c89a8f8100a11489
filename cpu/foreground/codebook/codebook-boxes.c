/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "codebook-boxes.h"

#include <string.h>

enum { BOX = CUDACCL_CAMERA_BOX };

/* Adds n samples of a row, so many pixels apart. */
static void
add_samples (const uint8_t *row, uint32_t distance, uint32_t n, uint16_t *sums)
{
  if (distance == 1)
    for (uint32_t i = 0; i < n; i++)
      sums[i] = (uint16_t)(sums[i] + row[i]);
  else
    for (uint32_t i = 0; i < n; i++)
      sums[i] = (uint16_t)(sums[i] + row[(size_t)i * distance]);
}

static void
make_row (const CclCamera *camera, const uint8_t *plane, size_t stride, uint32_t y, uint8_t *boxes)
{
  const uint32_t distance = camera->box / BOX, n = camera->width * BOX;
  uint16_t sums[CODEBOOK_LIGHT_SAMPLES];

  memset (sums, 0, n * sizeof *sums);
  for (uint32_t j = 0; j < BOX; j++)
    add_samples (plane + (size_t)(y * camera->box + j * distance) * stride, distance, n, sums);
  for (uint32_t x = 0; x < camera->width; x++) {
    const uint16_t *of_box = sums + (size_t)BOX * x;
    boxes[x] =
        (uint8_t)((of_box[0] + of_box[1] + of_box[2] + of_box[3] + BOX * BOX / 2) / (BOX * BOX));
  }
}

void
codebook_make_boxes (const CodebookLuma *luma, CclCamera *camera)
{
  uint8_t *frame = camera->boxes, *model = frame + ccl_camera_boxes_size (camera);

  for (uint32_t y = 0; y < camera->height; y++, frame += camera->stride, model += camera->stride) {
    make_row (camera, luma->frame, luma->frame_stride, y, frame);
    make_row (camera, luma->model, luma->model_stride, y, model);
  }
}
