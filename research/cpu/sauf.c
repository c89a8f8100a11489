/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SAUF, scan array-based union-find: two passes over pixels, with a decision tree that tests as few
 * neighbours as possible.
 *
 * Wu, Otoo, Suzuki: Optimizing two-pass connected-component labeling algorithms, Pattern Analysis
 * and Applications 12, 2009; as in the review by Bolelli et al., IEEE TPDS 2024, section III-B-7.
 * 4- and 8-connectivity, each with a tree made by research/decision-trees/generate.c. Features are
 * added up run by run, at the label of the run's last pixel: all pixels of a run belong to one
 * component.
 */
#include "two-pass.h"

/* Pixels:  p q r
 *          s x     */
#define IS_p above[x - 1]
#define IS_q above[x]
#define IS_r above[x + 1]
#define IS_s row[x - 1]
#define IS_x row[x]
#define LABEL_P labels_above[x - 1]
#define LABEL_Q labels_above[x]
#define LABEL_R labels_above[x + 1]
#define LABEL_S labels[x - 1]
#define IS(pixel) IS_##pixel
#define UNITE(neighbour)                                                                           \
  *label = *label ? unite (parents, *label, LABEL_##neighbour) : LABEL_##neighbour

/* Gives a pixel the label of the pixels before it that touch it, united; 0 if there are none. */
static ALWAYS_INLINE void
take_label (uint32_t *label, ptrdiff_t x, const uint8_t *row, const uint8_t *above,
    const uint32_t *labels, const uint32_t *labels_above, uint32_t *parents)
{
#include "sauf-tree.inc"
}

static ALWAYS_INLINE void
take_label_4 (uint32_t *label, ptrdiff_t x, const uint8_t *row, const uint8_t *above,
    const uint32_t *labels, const uint32_t *labels_above, uint32_t *parents)
{
#include "sauf4-tree.inc"
}

/* Adds the features of the pixels from column begin to column end - 1. */
static ALWAYS_INLINE void
add_run (TwoPass *self, uint32_t label, uint32_t y, uint32_t begin, uint32_t end)
{
  const uint64_t n = end - begin;
  const TwoPassRowSums run = {
      .sum_x = n * ((uint64_t)begin + end - 1) / 2,
      .sum_y = n * y,
      .area = (uint32_t)n,
      .left = begin,
      .right = end - 1,
      .bottom = y,
      .first = y * self->width + begin,
  };
  two_pass_add (&self->features[label], &run);
}

static ALWAYS_INLINE void
scan_row (TwoPass *self, const TwoPassStrip *strip, CclConnectivity connectivity)
{
  const uint8_t *row = strip->pixels[2], *above = strip->pixels[1];
  uint32_t *labels = strip->labels;

  for (uint32_t x = 0; x < self->width;) {
    uint32_t begin = x, label;
    if (!row[x]) {
      labels[x++] = 0;
      continue;
    }
    do {
      label = 0;
      if (connectivity == CUDACCL_CONNECTIVITY_8)
        take_label (&label, x, row, above, labels, strip->labels_above, self->parents);
      else
        take_label_4 (&label, x, row, above, labels, strip->labels_above, self->parents);
      if (!label)
        label = two_pass_new_label (self);
      labels[x] = label;
    } while (row[++x]);
    add_run (self, label, strip->y, begin, x);
  }
}

static void
first_scan (TwoPass *self, const TwoPassStrip *strip)
{
  if (self->base.plan.connectivity == CUDACCL_CONNECTIVITY_8)
    scan_row (self, strip, CUDACCL_CONNECTIVITY_8);
  else
    scan_row (self, strip, CUDACCL_CONNECTIVITY_4);
}

static void
second_scan (const TwoPass *self, const TwoPassStrip *strip)
{
  for (uint32_t x = 0; x < self->width; x++)
    strip->labels[x] = self->final_labels[strip->labels[x]];
}

const TwoPassAlgorithm research_sauf = {
    .row =
        {
            .name = "sauf",
            .title = "SAUF: pixel-based scan with an array-based union-find",
            .paper =
                "Wu, Otoo, Suzuki: Optimizing two-pass connected-component labeling algorithms, "
                "Pattern Analysis and Applications 12, 2009",
            .has_4_connectivity = true,
            .labeller_new = two_pass_labeller_new,
        },
    .rows_per_strip = 1,
    .first_scan = first_scan,
    .second_scan = second_scan,
};
