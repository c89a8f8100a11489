/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "merger.h"

#include "tiled/parts/join.h"

#include <stdlib.h>
#include <string.h>

enum { CLOSED = -1 };

void
group_free (Group *group)
{
  free (group->entries);
  free (group->first);
  free (group->last);
  *group = (Group){0};
}

bool
group_allocate (Group *group, const CclTiledPlan *plan)
{
  const uint64_t layer = layer_size (plan);

  group->entries = malloc ((group->n_entries + 1) * entry_size (plan));
  group->first = calloc (layer, sizeof *group->first);
  group->last = calloc (layer, sizeof *group->last);
  return group->entries && group->first && group->last;
}

static uint32_t
find_root (uint32_t *roots, uint32_t entry)
{
  while (roots[entry] != entry)
    entry = roots[entry] = roots[roots[entry]];
  return entry;
}

/* Unites entry a of the upper group with entry b of the lower one, both counted from 1. */
static void
unite_entries (void *data, uint32_t a, uint32_t b)
{
  Merger *merger = data;
  uint32_t *roots = merger->roots;

  a = find_root (roots, a - 1);
  b = find_root (roots, (uint32_t)merger->n_upper + b - 1);
  if (a == b)
    return;
  const uint32_t least = a < b ? a : b, other = a < b ? b : a;
  Entry *root = entry_at (merger->plan, merger->entries, least);
  const Entry *joined = entry_at (merger->plan, merger->entries, other);
  roots[other] = least;
  ccl_part_add (&root->part, &joined->part);
  if (merger->plan->columns)
    ccl_measures_add (
        root->measures, joined->measures, ccl_values_are_real (merger->plan->intensity_format));
}

/* Marks the components of a layer of the merged group. first: the number of the layer's first
 * entry. */
static void
mark_open (Merger *merger, const uint32_t *layer, uint64_t size, uint64_t first)
{
  for (uint64_t i = 0; i < size; i++)
    if (layer[i])
      merger->merged[merger->roots[first + layer[i] - 1]] = 0;
}

/* Replaces the numbers in a layer by those of the merged group. */
static void
renumber (const Merger *merger, uint32_t *layer, uint64_t size, uint64_t first)
{
  for (uint64_t i = 0; i < size; i++)
    if (layer[i])
      layer[i] = (uint32_t)merger->merged[merger->roots[first + layer[i] - 1]] + 1;
}

void
merger_clear (Merger *merger)
{
  group_free (&merger->group);
  free (merger->entries);
  free (merger->open);
  free (merger->roots);
  free (merger->merged);
  free (merger->values);
  *merger = (Merger){.plan = merger->plan, .exchange = merger->exchange};
}

bool
merger_allocate (Merger *merger, uint64_t n_upper, uint64_t n_lower)
{
  const uint64_t n = n_upper + n_lower;
  const size_t size = entry_size (merger->plan);

  merger->n_upper = n_upper;
  merger->n_lower = merger->group.n_entries = n_lower;
  merger->entries = malloc ((n + 1) * size);
  merger->open = malloc ((n + 1) * size);
  merger->roots = malloc ((n + 1) * sizeof *merger->roots);
  merger->merged = malloc ((n + 1) * sizeof *merger->merged);
  merger->values = calloc (n + 1, sizeof *merger->values);
  return merger->entries && merger->open && merger->roots && merger->merged && merger->values &&
         group_allocate (&merger->group, merger->plan);
}

/* Numbers the entries of both groups through. */
static void
number_through (Merger *merger, const Group *upper)
{
  const Group *lower = &merger->group;
  const uint64_t n = merger->n_upper + merger->n_lower;
  const size_t size = entry_size (merger->plan);

  memcpy (merger->entries, upper->entries, upper->n_entries * size);
  memcpy (entry_at (merger->plan, merger->entries, upper->n_entries), lower->entries,
      lower->n_entries * size);
  for (uint64_t i = 0; i < n; i++) {
    merger->roots[i] = (uint32_t)i;
    merger->merged[i] = CLOSED;
  }
}

static void
swap_layers (uint32_t **a, uint32_t **b)
{
  uint32_t *spare = *a;
  *a = *b;
  *b = spare;
}

void
merger_merge (const CclTiledPlan *plan, Merger *merger, Group *upper)
{
  Group *lower = &merger->group;
  const uint64_t layer = layer_size (plan), n = merger->n_upper + merger->n_lower;
  uint64_t n_open = 0;

  if (is_empty (lower))
    lower->begin = lower->end = upper->end;
  number_through (merger, upper);
  merger->has_seam = !is_empty (upper) && !is_empty (lower);
  if (merger->has_seam)
    join_layers (plan, upper->last, lower->first, unite_entries, merger);
  for (uint64_t i = 0; i < n; i++)
    merger->roots[i] = find_root (merger->roots, (uint32_t)i);

  /* An empty group has layers of zeros, which must not replace the layers of the other group. */
  const uint64_t first_entry = is_empty (upper) ? merger->n_upper : 0;
  const uint64_t last_entry = is_empty (lower) ? 0 : merger->n_upper;
  if (is_empty (upper)) {
    swap_layers (&upper->first, &lower->first);
    upper->begin = lower->begin;
  }
  if (!is_empty (lower))
    swap_layers (&upper->last, &lower->last);
  upper->end = lower->end;
  mark_open (merger, upper->first, layer, first_entry);
  mark_open (merger, upper->last, layer, last_entry);
  for (uint64_t i = 0; i < n; i++) {
    if (merger->merged[i] != CLOSED) {
      memcpy (entry_at (plan, merger->open, n_open), entry_at (plan, merger->entries, i),
          entry_size (plan));
      merger->merged[i] = (int64_t)n_open++;
    }
  }
  renumber (merger, upper->first, layer, first_entry);
  renumber (merger, upper->last, layer, last_entry);

  free (upper->entries);
  upper->entries = merger->open;
  merger->open = NULL;
  upper->n_entries = n_open;
}

void
merger_resolve (Merger *merger, const Entry *merged)
{
  const CclTiledPlan *plan = merger->plan;
  const uint64_t n = merger->n_upper + merger->n_lower;

  /* A root precedes the other entries of its component. */
  for (uint64_t i = 0; i < n; i++) {
    const Entry *final = NULL;
    if (merger->roots[i] != i)
      final = entry_at (plan, merger->entries, merger->roots[i]);
    else if (merger->merged[i] != CLOSED)
      final = entry_at (plan, merged, (uint64_t)merger->merged[i]);
    if (final)
      memcpy (entry_at (plan, merger->entries, i), final, entry_size (plan));
  }
}

/* first: the number of the layer's first entry. */
static void
identify (const Merger *merger, const uint32_t *layer, uint64_t first, uint64_t *identities)
{
  const uint64_t size = layer_size (merger->plan);
  for (uint64_t i = 0; i < size; i++)
    identities[i] =
        layer[i] ? entry_at (merger->plan, merger->entries, first + layer[i] - 1)->identity + 1 : 0;
}

void
merger_identify_above (const Merger *merger, uint64_t *identities)
{
  identify (merger, merger->group.last, 0, identities);
}

void
merger_identify_below (const Merger *merger, uint64_t *identities)
{
  identify (merger, merger->group.first, merger->n_upper, identities);
}

void
merger_merge_labels (
    Merger *merger, const uint64_t *upper, uint64_t n_upper_labels, uint64_t *merged)
{
  const uint64_t n = merger->n_upper + merger->n_lower;

  merger->upper_labels = n_upper_labels;
  memcpy (merger->values, upper, merger->n_upper * sizeof *upper);
  for (uint64_t i = merger->n_upper; i < n; i++)
    if (merger->values[i])
      merger->values[i] += n_upper_labels;
  /* At most one entry of a component has a label: the one where it begins. */
  for (uint64_t i = 0; i < n; i++)
    if (merger->values[i])
      merger->values[merger->roots[i]] = merger->values[i];
  for (uint64_t i = 0; i < n; i++)
    if (merger->roots[i] == i && merger->merged[i] != CLOSED)
      merged[merger->merged[i]] = merger->values[i];
}

void
merger_resolve_labels (Merger *merger, const uint64_t *merged, uint64_t base)
{
  const uint64_t n = merger->n_upper + merger->n_lower;

  for (uint64_t i = 0; i < n; i++) {
    if (merger->roots[i] != i)
      merger->values[i] = merger->values[merger->roots[i]];
    else if (merger->merged[i] != CLOSED)
      merger->values[i] = merged[merger->merged[i]];
    else if (merger->values[i])
      merger->values[i] += base;
  }
}
