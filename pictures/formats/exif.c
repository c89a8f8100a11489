/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "exif.h"

#include <stdbool.h>
#include <string.h>

enum { ENTRY_BYTES = 12, TAG_ORIENTATION = 274, TYPE_SHORT = 3 };

static uint32_t
number_at (const uint8_t *bytes, bool is_little, uint32_t n)
{
  uint32_t number = 0;

  for (uint32_t i = 0; i < n; i++)
    number = number << 8 | bytes[is_little ? n - 1 - i : i];
  return number;
}

uint32_t
exif_orientation (const uint8_t *bytes, size_t n)
{
  if (n < 8 || (memcmp (bytes, "II*", 4) != 0 && memcmp (bytes, "MM\0*", 4) != 0))
    return 0;
  const bool is_little = bytes[0] == 'I';
  const uint32_t directory = number_at (bytes + 4, is_little, 4);
  if (directory > n - 2)
    return 0;
  const uint32_t n_entries = number_at (bytes + directory, is_little, 2);
  for (uint32_t i = 0; i < n_entries; i++) {
    const size_t at = directory + 2 + (size_t)i * ENTRY_BYTES;
    if (at + ENTRY_BYTES > n)
      return 0;
    if (number_at (bytes + at, is_little, 2) != TAG_ORIENTATION ||
        number_at (bytes + at + 2, is_little, 2) != TYPE_SHORT)
      continue;
    const uint32_t orientation = number_at (bytes + at + 8, is_little, 2);
    return orientation <= 8 ? orientation : 0;
  }
  return 0;
}
