/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chains of a label map, each label by itself (contour-links.h). */
#include "contours.h"
#include "core/base/interruption.h"
#include "core/contours/contour-links.h"
#include "cpu/pixels/words.h"
#include "cpu/pixels/pixel-code.h"

#include <string.h>

/* Finds the runs of a row of labels. */
static void
find_runs (CpuContours *self, const uint32_t *labels, ContourLabelRow *row)
{
  const uint32_t width = self->base.plan.width;
  uint32_t n = 0;

  self->bytes[0] = labels[0] != 0;
  for (uint32_t x = 1; x < width; x++)
    self->bytes[x] = labels[x] != labels[x - 1];
  self->code->threshold_row (self->bytes, width, 0, self->bits[0]);
  for (uint32_t i = 0; i < (width + 63) / 64; i++) {
    for (uint64_t changes = self->bits[0][i]; changes; changes &= changes - 1) {
      const uint32_t x = 64 * i + lowest_bit (changes);
      if (x > 0 && labels[x - 1])
        row->columns[2 * n++ + 1] = x;
      row->columns[2 * n] = x; /* overwritten, if it is background */
      row->labels[n] = labels[x];
    }
  }
  if (labels[width - 1])
    row->columns[2 * n++ + 1] = width;
  row->n = n;
}

static CclContourRuns
runs_of (const ContourLabelRow *row)
{
  return (CclContourRuns){row->columns, row->labels, 0, row->n};
}

static uint32_t
note (CclContourPartner partner)
{
  return partner.end | (partner.is_other ? CONTOUR_IS_OTHER : 0);
}

/* Finds the partners of all ends that arrive at the line between two rows. */
static void
find_partners (ContourLabelRow *upper, ContourLabelRow *lower, uint32_t touch)
{
  const CclContourRuns above = runs_of (upper), below = runs_of (lower);
  uint32_t near = 0;

  for (uint32_t i = 0; i < upper->n; i++) {
    while (near < lower->n && lower->columns[2 * near] < upper->columns[2 * i])
      near++;
    upper->partners[2 * i] = note (ccl_contour_left_partner (&above, &below, 2 * i, near, touch));
  }
  near = 0;
  for (uint32_t i = 0; i < lower->n; i++) {
    while (near < upper->n && upper->columns[2 * near] < lower->columns[2 * i + 1])
      near++;
    lower->partners[2 * i + 1] =
        note (ccl_contour_right_partner (&below, &above, 2 * i + 1, near, touch));
  }
}

/* The end of the other row that lies straight below or above an arriving one and is its partner, or
 * CONTOUR_IS_OTHER. */
static uint32_t
straight_partner (const ContourLabelRow *own, const ContourLabelRow *other, uint32_t end)
{
  const uint32_t partner = own->partners[end] & ~CONTOUR_IS_OTHER;

  return own->partners[end] & CONTOUR_IS_OTHER && other->columns[partner] == own->columns[end]
             ? partner
             : CONTOUR_IS_OTHER;
}

/* Gives the ends of the lower row their chains: those of ends above, or new ones. */
static void
continue_chains (CpuContours *self, ContourLabelRow *upper, ContourLabelRow *lower, uint32_t y)
{
  memset (lower->chains, 0xff, 2 * lower->n * sizeof *lower->chains);
  for (uint32_t i = 0; i < upper->n; i++) {
    const uint32_t below = straight_partner (upper, lower, 2 * i);
    if (below != CONTOUR_IS_OTHER)
      lower->chains[below] = upper->chains[2 * i];
  }
  for (uint32_t end = 0; end < 2 * lower->n; end++) {
    const uint32_t above = end & 1 ? straight_partner (lower, upper, end) : CONTOUR_IS_OTHER;
    if (above != CONTOUR_IS_OTHER)
      lower->chains[end] = upper->chains[above];
    if (lower->chains[end] != CUDACCL_NO_CONTOUR)
      continue;
    lower->chains[end] = self->n_chains;
    self->chains[self->n_chains++] = (ContourChain){.x = lower->columns[end],
        .y = y,
        .is_right = end & 1,
        .left = lower->chains[(ptrdiff_t)end - 1]};
  }
}

/* Links the chain of an arriving end to that of its partner. */
static void
link_chain (
    CpuContours *self, const ContourLabelRow *own, const ContourLabelRow *other, uint32_t end)
{
  const uint32_t partner = own->partners[end] & ~CONTOUR_IS_OTHER;
  const ContourLabelRow *row = own->partners[end] & CONTOUR_IS_OTHER ? other : own;

  self->chains[own->chains[end]].link = row->chains[partner];
}

static void
end_chain (CpuContours *self, uint32_t chain, uint32_t y)
{
  self->chains[chain].n = y - self->chains[chain].y;
}

static void
link_rows (CpuContours *self, ContourLabelRow *upper, ContourLabelRow *lower, uint32_t y)
{
  find_partners (upper, lower, self->base.plan.connectivity == CUDACCL_CONNECTIVITY_8);
  continue_chains (self, upper, lower, y);
  /* A chain that goes on ends farther below; the last line that it crosses sets its length. */
  for (uint32_t end = 0; end < 2 * upper->n; end++)
    end_chain (self, upper->chains[end], y);
  for (uint32_t i = 0; i < upper->n; i++)
    if (straight_partner (upper, lower, 2 * i) == CONTOUR_IS_OTHER)
      link_chain (self, upper, lower, 2 * i);
  for (uint32_t i = 0; i < lower->n; i++)
    if (straight_partner (lower, upper, 2 * i + 1) == CONTOUR_IS_OTHER)
      link_chain (self, lower, upper, 2 * i + 1);
}

/* Links the row at work to the row before, which it becomes. */
static void
link_next_row (CpuContours *self, uint32_t y)
{
  const ContourLabelRow before = self->label_rows[0];

  link_rows (self, &self->label_rows[0], &self->label_rows[1], y);
  self->label_rows[0] = self->label_rows[1];
  self->label_rows[1] = before;
}

void
cpu_contours_chain_labels (CpuContours *self, const CclLabels *labels)
{
  const uint32_t width = self->base.plan.width, height = self->base.plan.height;
  const uint32_t *before = NULL;

  self->label_rows[0].n = 0;
  for (uint32_t y = 0; y < height && !ccl_is_interrupted (width); y++) {
    const uint32_t *row = (const uint32_t *)((const uint8_t *)labels->data + y * labels->stride);
    if (before && memcmp (before, row, width * sizeof *row) == 0)
      continue; /* its ends continue the chains of the row before */
    find_runs (self, row, &self->label_rows[1]);
    link_next_row (self, y);
    before = row;
  }
  self->label_rows[1].n = 0;
  link_next_row (self, height);
}
