/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/label/masks.h"

#include <glib.h>

static bool
empty (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return false;
}

static bool
full (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return true;
}

static bool
first_pixel (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x == 0 && y == 0;
}

static bool
last_pixel (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x == width - 1 && y == height - 1;
}

static bool
four_corners (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return (x == 0 || x == width - 1) && (y == 0 || y == height - 1);
}

static bool
frame_border (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x == 0 || x == width - 1 || y == 0 || y == height - 1;
}

/* 4-connectivity: one component for each pixel. 8-connectivity: one component. */
static bool
chequerboard (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return (x + y) % 2 == 0;
}

/* The largest number of components that a frame can have with 8-connectivity. */
static bool
dots (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x % 2 == 0 && y % 2 == 0;
}

static bool
grid (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x % 2 == 0 || y % 2 == 0;
}

static bool
horizontal_stripes (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return y % 2 == 0;
}

static bool
vertical_stripes (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x % 2 == 0;
}

/* Columns that only the last row connects, after each has got a label. */
static bool
comb_up (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x % 2 == 0 || y == height - 1;
}

static bool
comb_down (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x % 2 == 0 || y == 0;
}

static bool
comb_left (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return y % 2 == 0 || x == width - 1;
}

static bool
comb_right (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return y % 2 == 0 || x == 0;
}

/* Two combs with interleaved teeth that never touch. */
static bool
interleaved_combs (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  if (y == 0)
    return true;
  if (y == height - 1)
    return height > 2;
  return x % 4 == 0 ? y < height - 2 : x % 4 == 2 && y > 1;
}

/* One line that fills the frame going right, down, left, down, and so on. */
static bool
serpentine (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return y % 2 == 0 || (y % 4 == 1 ? x == width - 1 : x == 0);
}

static bool
serpentine_upright (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return x % 2 == 0 || (x % 4 == 1 ? y == height - 1 : y == 0);
}

static uint32_t
distance_to_border (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return MIN (MIN (x, width - 1 - x), MIN (y, height - 1 - y));
}

static bool
concentric_rings (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return distance_to_border (x, y, width, height) % 2 == 0;
}

/* Rings, each open below its upper left corner and connected there to the next inner ring. */
static bool
spiral (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  uint32_t distance = distance_to_border (x, y, width, height);
  bool below_corner = x == distance && y == distance + 1;
  return (distance % 2 == 0) != below_corner;
}

/* Vertical lines with connections whose number halves every four rows: a binary tree of unions. */
static bool
tournament (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  uint32_t level = MIN (y / 4 + 1, 31);
  if (x % 2 == 0)
    return true;
  return y % 4 == 3 && x % (1u << level) == (1u << level) / 2 - 1;
}

static bool
diagonals_down (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return (x + 2 * (y % 3)) % 3 == 0;
}

static bool
diagonals_up (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return (x + y) % 3 == 0;
}

/* Zigzags of four rows: peaks and valleys at all columns modulo a power of two. */
static bool
zigzag (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  uint32_t phase = x % 6;
  return y % 5 == (phase < 4 ? phase : 6 - phase);
}

/* Vertical lines at the first and last columns of machine words and vectors. */
static bool
word_edges (uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  return (x % 64 == 63 && y % 3 != 0) || (x % 64 == 0 && y % 3 != 1) || x % 32 == 31;
}

const Shape shapes[] = {
    {"empty", empty},
    {"full", full},
    {"first-pixel", first_pixel},
    {"last-pixel", last_pixel},
    {"four-corners", four_corners},
    {"frame-border", frame_border},
    {"chequerboard", chequerboard},
    {"dots", dots},
    {"grid", grid},
    {"horizontal-stripes", horizontal_stripes},
    {"vertical-stripes", vertical_stripes},
    {"comb-up", comb_up},
    {"comb-down", comb_down},
    {"comb-left", comb_left},
    {"comb-right", comb_right},
    {"interleaved-combs", interleaved_combs},
    {"serpentine", serpentine},
    {"serpentine-upright", serpentine_upright},
    {"concentric-rings", concentric_rings},
    {"spiral", spiral},
    {"tournament", tournament},
    {"diagonals-down", diagonals_down},
    {"diagonals-up", diagonals_up},
    {"zigzag", zigzag},
    {"word-edges", word_edges},
    {NULL, NULL},
};

static Mask *
mask_new (const char *name, uint32_t width, uint32_t height)
{
  Mask *mask = g_new (Mask, 1);
  mask->name = name;
  mask->width = width;
  mask->height = height;
  mask->pixels = g_new (bool, (size_t)width *height);
  return mask;
}

Mask *
mask_new_from_shape (const Shape *shape, uint32_t width, uint32_t height)
{
  Mask *mask = mask_new (shape->name, width, height);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      mask->pixels[(size_t)y * width + x] = shape->is_foreground (x, y, width, height);
  return mask;
}

Mask *
mask_new_from_noise (
    uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed)
{
  Mask *mask = mask_new ("noise", width, height);
  GRand *random = g_rand_new_with_seed (seed);

  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      bool *pixel = &mask->pixels[(size_t)y * width + x];
      if (y % granularity != 0)
        *pixel = pixel[-(ptrdiff_t)width];
      else if (x % granularity != 0)
        *pixel = pixel[-1];
      else
        *pixel = g_rand_int_range (random, 0, 100) < (gint32)density;
    }
  }
  g_rand_free (random);
  return mask;
}

void
mask_free (Mask *mask)
{
  g_free (mask->pixels);
  g_free (mask);
}
