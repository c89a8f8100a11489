/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/values/values-reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint32_t values_bytes_of_types[] = {1, 2, 4, 8, 4, 8};

uint32_t
values_reference (const Picture *picture, uint32_t connectivity, bool zero_is_background,
    CclNanRule nan, uint32_t *labels)
{
  const int w = (int)picture->width, h = (int)picture->height, d = (int)picture->depth;
  const int most_steps = connectivity == 4 || connectivity == 6 ? 1 : connectivity == 26 ? 3 : 2;
  GArray *stack = g_array_new (FALSE, FALSE, sizeof (int));
  uint32_t n = 0;

  memset (labels, 0, sizeof *labels * (size_t)(w * h * d));
  for (int first = 0; first < w * h * d; first++) {
    if (labels[first] || (zero_is_background && picture->values[first] == 0) ||
        (nan == CUDACCL_NAN_IS_BACKGROUND && isnan (picture->values[first])))
      continue;
    labels[first] = ++n;
    g_array_append_val (stack, first);
    while (stack->len > 0) {
      const int at = g_array_index (stack, int, stack->len - 1);
      g_array_set_size (stack, stack->len - 1);
      for (int i = 0; i < 27; i++) {
        const int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dz = i / 9 - 1;
        const int x = at % w + dx, y = at / w % h + dy, z = at / w / h + dz;
        if (abs (dx) + abs (dy) + abs (dz) > most_steps || x < 0 || y < 0 || z < 0 || x >= w ||
            y >= h || z >= d)
          continue;
        const int other = (z * h + y) * w + x;
        if (!labels[other] && picture->values[other] == picture->values[at]) {
          labels[other] = n;
          g_array_append_val (stack, other);
        }
      }
    }
  }
  g_array_free (stack, TRUE);
  return n;
}

void
values_store (uint8_t *to, CclValueType type, double value)
{
  const float real = (float)value;

  switch (type) {
  case CUDACCL_VALUE_TYPE_REAL_32:
    memcpy (to, &real, sizeof real);
    break;
  case CUDACCL_VALUE_TYPE_REAL_64:
    memcpy (to, &value, sizeof value);
    break;
  default:
    for (uint32_t i = 0; i < values_bytes_of_types[type]; i++) /* a whole number */
      to[G_BYTE_ORDER == G_BIG_ENDIAN ? values_bytes_of_types[type] - 1 - i : i] =
          (uint8_t)((uint64_t)value >> (8 * i));
  }
}

void
values_draw (GRand *random, Picture *picture, CclValueType type)
{
  /* Above the lower bytes, so that all bytes of a value count. */
  static const double units[] = {1, 256, 65536, 281474976710656.0, 1, 1};
  const uint32_t n = picture->width * picture->height * picture->depth;
  const int n_values = g_rand_int_range (random, 1, 6), kind = g_rand_int_range (random, 0, 4);
  const uint32_t length = kind == 1 ? picture->width : kind == 2 ? 9 : 1;
  const bool has_nan = type >= CUDACCL_VALUE_TYPE_REAL_32 && g_rand_boolean (random);

  for (uint32_t i = 0; i < n; i++) {
    double value = g_rand_int_range (random, 0, n_values) * units[type];
    if (has_nan && g_rand_int_range (random, 0, 8) == 0)
      value = NAN;
    else if (type >= CUDACCL_VALUE_TYPE_REAL_32 && value == 0 && g_rand_boolean (random))
      value = -0.0;
    if (kind == 3 && g_rand_int_range (random, 0, 12) != 0)
      value = 0;
    const bool repeats = i >= length && g_rand_int_range (random, 0, 20) != 0;
    if (kind == 1)
      picture->values[i] = repeats ? picture->values[i - length] : value;
    else
      picture->values[i] = i % length ? picture->values[i - 1] : value;
  }
}
