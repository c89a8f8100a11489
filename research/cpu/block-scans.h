/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two scans over blocks of 2×2 pixels, whose foreground is always connected. The including file
 * defines BLOCK_TREE as the name of the file with the decision tree or graph; this file defines
 * first_scan() and second_scan(). A block's provisional label is stored at its upper left pixel.
 *
 * The decisions test pixels and unite blocks:
 *
 *   blocks  P  Q  R    pixels  a b c d e f
 *           S  X               g h i j k l
 *                              m n o p
 *                              q r s t
 *
 * The pixels of the block itself are read once, before the decisions, because its features need all
 * of them.
 */
#include "two-pass.h"

#include <endian.h>
#include <string.h>

#define IS_b above[0][x - 1]
#define IS_c above[0][x]
#define IS_d above[0][x + 1]
#define IS_e above[0][x + 2]
#define IS_g above[1][x - 2]
#define IS_h above[1][x - 1]
#define IS_i above[1][x]
#define IS_j above[1][x + 1]
#define IS_k above[1][x + 2]
#define IS_m rows[0][x - 2]
#define IS_n rows[0][x - 1]
#define IS_o (pattern & BLOCK_o)
#define IS_p (pattern & BLOCK_p)
#define IS_r rows[1][x - 1]
#define IS_s (pattern & BLOCK_s)
#define LABEL_P labels_above[x - 2]
#define LABEL_Q labels_above[x]
#define LABEL_R labels_above[x + 2]
#define LABEL_S labels[x - 2]
#define IS(pixel) IS_##pixel
#define UNITE(neighbour)                                                                           \
  *label = *label ? unite (parents, *label, LABEL_##neighbour) : LABEL_##neighbour

enum { BLOCK_o = 1, BLOCK_p = 2, BLOCK_s = 4, BLOCK_t = 8 };

/* Gives a block the label of the blocks before it that touch it, united; 0 if there are none. */
static ALWAYS_INLINE void
take_label (uint32_t *label, ptrdiff_t x, uint32_t pattern, const uint8_t *const rows[2],
    const uint8_t *const above[2], const uint32_t *labels, const uint32_t *labels_above,
    uint32_t *parents)
{
#include BLOCK_TREE
}

/* Adds the features of the block at x, y. */
static ALWAYS_INLINE void
add_block (const TwoPass *self, TwoPassRowSums *features, uint32_t x, uint32_t y, uint32_t pattern)
{
  const uint32_t o = pattern & 1, p = pattern >> 1 & 1, s = pattern >> 2 & 1, t = pattern >> 3;
  const uint64_t area = o + p + s + t;
  const TwoPassRowSums block = {
      .sum_x = area * x + p + t,
      .sum_y = area * y + s + t,
      .area = (uint32_t)area,
      .left = x + !(o | s),
      .right = x + (p | t),
      .bottom = y + (s | t),
      .first = o | p ? y * self->width + x + !o : (y + 1) * self->width + x + !s,
  };
  two_pass_add (features, &block);
}

static const TwoPassRowSums no_features = {.left = UINT32_MAX, .first = UINT32_MAX};

/* The foreground pixels of a block, one bit each. */
static ALWAYS_INLINE uint32_t
block_pattern (const uint8_t *const rows[2], uint32_t x)
{
  uint16_t top, bottom;
  memcpy (&top, rows[0] + x, sizeof top);
  memcpy (&bottom, rows[1] + x, sizeof bottom);
  const uint32_t both = le16toh (top) | (uint32_t)le16toh (bottom) << 2;
  return (both | both >> 7) & 15;
}

static void
first_scan (TwoPass *self, const TwoPassStrip *strip)
{
  const uint8_t *const above[2] = {strip->pixels[0], strip->pixels[1]};
  const uint8_t *const rows[2] = {strip->pixels[2], strip->pixels[3]};
  uint32_t *labels = strip->labels;
  /* Neighbouring blocks mostly have one label, so their features are added up before they are
   * stored. */
  uint32_t last_label = 0;
  TwoPassRowSums features = no_features;

  for (uint32_t x = 0; x < self->width; x += 2) {
    const uint32_t pattern = block_pattern (rows, x);
    uint32_t label = 0;
    if (pattern) {
      take_label (&label, x, pattern, rows, above, labels, strip->labels_above, self->parents);
      if (!label)
        label = two_pass_new_label (self);
      if (label != last_label) {
        two_pass_add (&self->features[last_label], &features);
        last_label = label;
        features = no_features;
      }
      add_block (self, &features, x, strip->y, pattern);
    }
    labels[x] = label;
  }
  two_pass_add (&self->features[last_label], &features);
}

/* Writes the label where the pixel is 1, and 0 where it is 0. */
static ALWAYS_INLINE void
write_label (uint32_t *to, uint32_t pixel, uint32_t label)
{
  *to = label & -pixel;
}

static void
second_scan (const TwoPass *self, const TwoPassStrip *strip)
{
  const uint8_t *top = strip->pixels[2], *bottom = strip->pixels[3];
  uint32_t *labels = strip->labels, *labels_below = strip->labels_below;
  const uint32_t width = self->width;
  uint32_t x = 0;

  if (labels_below) {
    for (; x + 1 < width; x += 2) {
      const uint32_t label = self->final_labels[labels[x]];
      write_label (labels + x, top[x], label);
      write_label (labels + x + 1, top[x + 1], label);
      write_label (labels_below + x, bottom[x], label);
      write_label (labels_below + x + 1, bottom[x + 1], label);
    }
  }
  /* At the right or lower edge the rest of a block lies outside the frame. */
  for (; x < width; x += 2) {
    const uint32_t label = self->final_labels[labels[x]];
    write_label (labels + x, top[x], label);
    if (x + 1 < width)
      write_label (labels + x + 1, top[x + 1], label);
    if (labels_below)
      write_label (labels_below + x, bottom[x], label);
  }
}
