/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers the components whose runs have provisional labels: by one thread, or by all of them. */
#include "runs-labeller.h"

/* When all threads number: this bit of a parent says that the other bits are a label, which has no
 * number yet. */
#define UNNUMBERED (UINT32_C (1) << 31)

uint32_t
runs_number_components (CpuLabeller *self, const CclLabellerOptions *options, uint32_t n_wanted)
{
  const Forest *forest = &self->job.forest;
  const uint32_t max_rows = self->base.plan.max_components;
  const uint32_t max_area = options->max_area ? options->max_area : UINT32_MAX;
  const bool filtered = is_filtered (options);
  const bool keeps_runs = self->job.keeps_runs;
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n_bands; i++) {
    for (uint32_t label = self->bands[i].first_label; label < self->bands[i].end_label; label++) {
      const uint32_t parent = forest->parents[label];
      const uint32_t area = filtered ? forest->sums[label].area : 0;
      uint32_t final_label = 0;

      if (parent != label) {
        /* The parent is less than the label, so its final label is known. */
        final_label = forest->parents[parent];
      } else if (!filtered || (area >= options->min_area && area <= max_area)) {
        if (n == n_wanted)
          return n;
        if (n < max_rows)
          self->roots[n] = label;
        final_label = ++n;
      }
      if (keeps_runs)
        forest->parents[label] = final_label;
    }
  }
  return n;
}

/* The first label of a share. */
static uint32_t
first_label (const CpuLabeller *self, const Share *share)
{
  return self->bands[share->first_band].first_label;
}

void
runs_number_share (void *data, uint32_t index, uint32_t thread)
{
  const CpuLabeller *self = data;
  const Forest *forest = &self->job.forest;
  uint32_t *const parents = forest->parents;
  Share *share = &self->shares[index];
  const uint32_t first = first_label (self, share);
  uint32_t n = 0;

  share->foreign = NO_LABEL;
  for (uint32_t i = share->first_band; i < share->end_band; i++) {
    Band *band = &self->bands[i];
    const uint32_t n_before = n;

    for (uint32_t label = band->first_label; label < band->end_label; label++) {
      const uint32_t parent = parents[label];
      if (parent == label) {
        const uint32_t area = forest->sums[label].area;
        parents[label] = area >= self->min_area && area <= self->max_area ? ++n : 0;
      } else if (parent < first) {
        parents[label] = UNNUMBERED | parent;
        forest->merged[label] = share->foreign;
        share->foreign = label;
      } else {
        const uint32_t value = parents[parent];
        const bool is_foreign = value & UNNUMBERED && (value & ~UNNUMBERED) < first;
        parents[label] = is_foreign ? UNNUMBERED | parent : value;
      }
    }
    band->n_numbers = n - n_before;
  }
}

/* The final label of a provisional label that is in this share or in one before it, all of which
 * know their base. */
static uint32_t
find_number (const CpuLabeller *self, const Share *share, uint32_t label)
{
  const uint32_t *const parents = self->job.forest.parents;

  while (parents[label] & UNNUMBERED)
    label = parents[label] & ~UNNUMBERED;
  while (label < first_label (self, share))
    share--;
  return parents[label] ? share->base + parents[label] : 0;
}

uint32_t
runs_join_numbers (CpuLabeller *self)
{
  uint32_t *const merged = self->job.forest.merged;
  uint32_t n = 0;

  for (Share *share = self->shares; share < self->shares + self->n_threads; share++) {
    share->base = n;
    for (uint32_t i = share->first_band; i < share->end_band; i++) {
      self->bands[i].base = n;
      n += self->bands[i].n_numbers;
    }
    for (uint32_t label = share->foreign, next; label != NO_LABEL; label = next) {
      next = merged[label];
      merged[label] = find_number (self, share, label);
    }
  }
  return n;
}

void
runs_finish_numbers (const CpuLabeller *self, const Share *share, const Band *band)
{
  const Forest *forest = &self->job.forest;
  const uint32_t max_rows = self->base.plan.max_components;
  const uint32_t first = first_label (self, share);
  uint32_t n = band->base;

  for (uint32_t label = band->first_label; label < band->end_label; label++) {
    const uint32_t value = forest->parents[label], target = value & ~UNNUMBERED;
    if (value & UNNUMBERED) {
      forest->parents[label] = forest->merged[target < first ? label : target];
      continue;
    }
    const uint32_t number = value ? share->base + value : 0;
    /* The numbers of roots ascend, and other labels follow their root. */
    if (number == n + 1) {
      if (n < max_rows)
        self->roots[n] = label;
      n++;
    }
    forest->parents[label] = number;
  }
}
