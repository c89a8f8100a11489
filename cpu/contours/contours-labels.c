/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chains of a label map, each label by itself (contour-links.h). */
#include "contours.h"
#include "core/base/divide-up.h"
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
  for (uint32_t i = 0; i < divide_up (width, 64); i++) {
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

/* Notes the partner of an end. Returns whether it lies straight below or above; then the lower one
 * continues the chain of the upper one. */
static bool
note_partner (
    ContourLabelRow *own, const ContourLabelRow *other, uint32_t end, CclContourPartner partner)
{
  const bool is_straight = partner.is_other && other->columns[partner.end] == own->columns[end];

  own->partners[end] =
      is_straight ? CONTOUR_IS_STRAIGHT : partner.end | (partner.is_other ? CONTOUR_IS_OTHER : 0);
  return is_straight;
}

/* Finds the partners of left ends above the line between two rows. */
static void
find_left_partners (ContourLabelRow *upper, ContourLabelRow *lower, uint32_t touch)
{
  const CclContourRuns above = runs_of (upper), below = runs_of (lower);
  uint32_t near = 0;

  for (uint32_t end = 0; end < 2 * upper->n; end += 2) {
    while (near < lower->n && lower->columns[2 * near] < upper->columns[end])
      near++;
    const CclContourPartner partner = ccl_contour_left_partner (&above, &below, end, near, touch);
    if (note_partner (upper, lower, end, partner))
      lower->chains[partner.end] = upper->chains[end];
  }
}

/* The same of right ends below the line. */
static void
find_right_partners (ContourLabelRow *upper, ContourLabelRow *lower, uint32_t touch)
{
  const CclContourRuns above = runs_of (upper), below = runs_of (lower);
  uint32_t near = 0;

  for (uint32_t end = 1; end < 2 * lower->n; end += 2) {
    while (near < upper->n && upper->columns[2 * near] < lower->columns[end])
      near++;
    const CclContourPartner partner = ccl_contour_right_partner (&below, &above, end, near, touch);
    if (note_partner (lower, upper, end, partner))
      lower->chains[end] = upper->chains[partner.end];
  }
}

/* Gives new chains to the ends of the lower row that do not continue one. */
static void
begin_chains (CpuContours *self, ContourLabelRow *lower, uint32_t y)
{
  for (uint32_t end = 0; end < 2 * lower->n; end++) {
    if (lower->chains[end] != CUDACCL_NO_CONTOUR)
      continue;
    lower->chains[end] = self->n_chains;
    self->chains[self->n_chains++] = (ContourChain){.x = lower->columns[end],
        .y = y,
        .is_right = end & 1,
        .left = lower->chains[(ptrdiff_t)end - 1]};
  }
}

/* Links the chain of an arriving end to that of its partner. Those of the upper row end here. */
static void
link_chain (CpuContours *self, const ContourLabelRow *own, const ContourLabelRow *other,
    uint32_t end, const ContourLabelRow *upper, uint32_t y)
{
  const uint32_t partner = own->partners[end] & ~CONTOUR_IS_OTHER;
  const ContourLabelRow *row = own->partners[end] & CONTOUR_IS_OTHER ? other : own;
  ContourChain *chain = &self->chains[own->chains[end]],
               *next = &self->chains[row->chains[partner]];

  chain->link = row->chains[partner];
  if (own == upper)
    chain->n = y - chain->y;
  if (row == upper)
    next->n = y - next->y;
}

static void
link_rows (CpuContours *self, ContourLabelRow *upper, ContourLabelRow *lower, uint32_t y)
{
  const uint32_t touch = self->base.plan.connectivity == CUDACCL_CONNECTIVITY_8;

  memset (lower->chains, 0xff, 2 * lower->n * sizeof *lower->chains);
  find_left_partners (upper, lower, touch);
  find_right_partners (upper, lower, touch);
  begin_chains (self, lower, y);
  for (uint32_t end = 0; end < 2 * upper->n; end += 2)
    if (upper->partners[end] != CONTOUR_IS_STRAIGHT)
      link_chain (self, upper, lower, end, upper, y);
  for (uint32_t end = 1; end < 2 * lower->n; end += 2)
    if (lower->partners[end] != CONTOUR_IS_STRAIGHT)
      link_chain (self, lower, upper, end, upper, y);
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
