/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sway-rows.h"

#include "core/foreground/sway.h"

#include <string.h>

/* Replaces values by those of another row that are less, or greater. */
typedef void Take (const uint8_t *from, uint32_t n, uint8_t *values);

static void
take_lesser (const uint8_t *from, uint32_t n, uint8_t *values)
{
  for (uint32_t i = 0; i < n; i++)
    values[i] = from[i] < values[i] ? from[i] : values[i];
}

static void
take_greater (const uint8_t *from, uint32_t n, uint8_t *values)
{
  for (uint32_t i = 0; i < n; i++)
    values[i] = from[i] > values[i] ? from[i] : values[i];
}

/* Columns first, with the first and last one repeated, then along the row. */
static void
find_extremes (const SwayPlane *plane, uint32_t y, Take *take, uint8_t *scratch, uint8_t *values)
{
  const uint32_t width = plane->width, distance = plane->distance;
  const uint32_t first = y > distance ? y - distance : 0;
  const uint32_t last = y + distance < plane->height ? y + distance : plane->height - 1;
  uint8_t *middle = scratch + distance;

  memcpy (middle, plane->luma + first * plane->stride, width);
  for (uint32_t i = first + 1; i <= last; i++)
    take (plane->luma + i * plane->stride, width, middle);
  memset (scratch, middle[0], distance);
  memset (middle + width, middle[width - 1], distance);
  memcpy (values, scratch, width);
  for (uint32_t i = 1; i <= 2 * distance; i++)
    take (scratch + i, width, values);
  values[width] = values[width - 1];
}

void
sway_find_range (const SwayPlane *plane, uint32_t y, uint8_t *scratch, uint8_t *low, uint8_t *high)
{
  find_extremes (plane, y, take_lesser, scratch, low);
  find_extremes (plane, y, take_greater, scratch, high);
}

void
sway_clear_row (const CodebookRow *row, const uint8_t *low, const uint8_t *high)
{
  for (uint32_t x = 0; x < row->width; x += 64) {
    const uint32_t word = x / 64;
    for (uint64_t bits = row->foreground[word] | row->shadow[word] | row->strong[word]; bits;
         bits &= bits - 1) {
      const uint32_t at = x + (uint32_t)__builtin_ctzll (bits);
      const uint64_t others = ~(bits & -bits);
      if (at >= row->width)
        break;
      if (!ccl_sway_explains (row->luma[at], low[at], high[at]))
        continue;
      row->foreground[word] &= others;
      row->shadow[word] &= others;
      row->strong[word] &= others;
      row->settled[word] &= others;
    }
  }
}
