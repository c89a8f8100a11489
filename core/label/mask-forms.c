/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks of one bit per pixel, and of one component. */
#include <cudaccl/rle.h>

void
ccl_mask_pack (const uint8_t *mask, size_t stride, uint32_t width, uint32_t height, uint8_t *bits,
    size_t bits_stride)
{
  for (uint32_t y = 0; y < height; y++) {
    const uint8_t *row = mask + y * stride;
    uint8_t *packed = bits + y * bits_stride;
    for (uint32_t x = 0; x < width; x += 8) {
      const uint32_t end = width - x < 8 ? width - x : 8;
      uint32_t byte = 0;
      for (uint32_t i = 0; i < end; i++)
        byte |= (uint32_t)(row[x + i] > 0) << i;
      packed[x / 8] = (uint8_t)byte;
    }
  }
}

void
ccl_mask_unpack (const uint8_t *bits, size_t bits_stride, uint32_t width, uint32_t height,
    uint8_t *mask, size_t stride)
{
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      mask[y * stride + x] = bits[y * bits_stride + x / 8] >> x % 8 & 1;
}

void
ccl_mask_crop (const CclLabels *labels, const CclComponent *row, uint8_t *mask, size_t stride)
{
  for (uint32_t y = 0; y < row->height; y++) {
    const uint32_t *from =
        (const uint32_t *)((const uint8_t *)labels->data + (row->y + y) * labels->stride) + row->x;
    for (uint32_t x = 0; x < row->width; x++)
      mask[y * stride + x] = from[x] == row->label;
  }
}
