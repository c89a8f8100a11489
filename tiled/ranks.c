/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of two ranks, in this order; "up" is from the sender of a group to the rank that
 * merges it:
 *
 *   up    report: the group's size
 *   down  report: whether there is memory for it
 *   up    entries, first and last layer
 *   down  report, entries: identities and sizes
 *   up    labels, report: how many labels begin in the group
 *   down  report, labels: all ranks succeed
 *
 * All memory is allocated before the second message. Labels precede the last report on the way up,
 * so that every failure before it is reported to all ranks. A failure while the last report and the
 * labels are passed on is the rank's own: others may already write labels.
 */
#include "ranks.h"

#include "join.h"

#include <stdlib.h>
#include <string.h>

enum { CLOSED = -1 };

static void
fail_without_memory (Messages *messages)
{
  messages_fail (messages, CUDACCL_ERROR_NO_MEMORY, "not enough memory to unite slabs");
}

void
ranks_init (Ranks *ranks, const CclTiledPlan *plan, const CclTiledPeers *peers)
{
  *ranks = (Ranks){.plan = plan};
  messages_init (&ranks->messages, peers);
  ranks->parent = (Exchange){.is_over = true};
}

/* A hash of what must be equal in the plans of all ranks (FNV-1a). */
static uint64_t
hash_plan (const CclTiledPlan *plan)
{
  const uint64_t numbers[] = {plan->width, plan->height, plan->depth, plan->connectivity,
      plan->threshold, plan->invert, plan->min_area, plan->max_area, plan->label_bytes,
      plan->columns, plan->intensity_format};
  uint64_t hash = UINT64_C (14695981039346656037);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    hash = (hash ^ numbers[i]) * UINT64_C (1099511628211);
  return hash;
}

static void
group_free (Group *group)
{
  free (group->entries);
  free (group->first);
  free (group->last);
  *group = (Group){0};
}

/* Allocates the arrays of a group, except its labels. */
static bool
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
    ccl_measures_add (root->measures, joined->measures);
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

static void
merger_clear (Merger *merger)
{
  group_free (&merger->group);
  free (merger->entries);
  free (merger->open);
  free (merger->roots);
  free (merger->merged);
  free (merger->values);
}

/* Allocates what is needed to merge groups of n_upper and n_lower entries. */
static bool
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

/* Replaces the upper group by its union with the merger's group, of which it may take arrays. */
static void
merge (const CclTiledPlan *plan, Merger *merger, Group *upper)
{
  Group *lower = &merger->group;
  const uint64_t layer = layer_size (plan), n = merger->n_upper + merger->n_lower;
  uint64_t n_open = 0;

  if (is_empty (lower))
    lower->begin = lower->end = upper->end;
  number_through (merger, upper);
  if (!is_empty (upper) && !is_empty (lower))
    join_layers (plan, upper->last, lower->first, unite_entries, merger);
  for (uint64_t i = 0; i < n; i++)
    merger->roots[i] = find_root (merger->roots, (uint32_t)i);

  /* The layers of an empty group are zeros, which count for nothing here. */
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

/* Whether the numbers in a layer are those of entries. */
static bool
is_layer_valid (const Group *group, const uint32_t *layer, uint64_t size)
{
  for (uint64_t i = 0; i < size; i++)
    if (layer[i] > group->n_entries)
      return false;
  return true;
}

/* Checks a report on a group that follows the rank's own one, and allocates memory for it. */
static void
prepare_for_group (Ranks *ranks, Merger *merger, const Report *report)
{
  Messages *messages = &ranks->messages;
  const Group *upper = &ranks->merged;
  const uint64_t layer = layer_size (ranks->plan);

  if (has_failed (messages))
    return;
  if (report->plan != hash_plan (ranks->plan)) {
    messages_fail (messages, CUDACCL_ERROR_ARGUMENT, "the plans of the ranks differ");
    return;
  }
  merger->group.begin = report->first_layer;
  merger->group.end = report->end;
  if (!is_empty (&merger->group) && !is_empty (upper) && merger->group.begin != upper->end)
    messages_fail (
        messages, CUDACCL_ERROR_ARGUMENT, "the slabs of the ranks do not follow each other");
  else if (report->n_entries > 2 * layer)
    messages_fail (messages, CUDACCL_ERROR_IO, "a message from another rank is damaged");
  else if (!merger_allocate (merger, upper->n_entries, report->n_entries))
    fail_without_memory (messages);
}

/* Receives the group of the merger's peer and merges it with the rank's own one. */
static void
receive_group (Ranks *ranks, Merger *merger)
{
  Messages *messages = &ranks->messages;
  Exchange *peer = &merger->exchange;
  Group *group = &merger->group;
  const uint64_t layer = layer_size (ranks->plan);
  Report report, answer = {0};

  messages_receive_report (messages, peer, &report);
  if (peer->is_over)
    return;
  prepare_for_group (ranks, merger, &report);
  messages_send_report (messages, peer, &answer);
  if (group->n_entries > 0) {
    messages_receive (messages, peer, group->entries, group->n_entries * entry_size (ranks->plan));
    messages_receive (messages, peer, group->first, layer * sizeof *group->first);
    messages_receive (messages, peer, group->last, layer * sizeof *group->last);
  }
  if (!has_failed (messages)) {
    if (is_layer_valid (group, group->first, layer) && is_layer_valid (group, group->last, layer))
      merge (ranks->plan, merger, &ranks->merged);
    else
      messages_fail (messages, CUDACCL_ERROR_IO, "a message from another rank is damaged");
  }
  group_free (group);
}

/* Receives the groups that this rank merges with its own one. After a failure, the ranks that send
 * them get a report of it. */
static void
receive_groups (Ranks *ranks)
{
  const uint32_t rank = ranks->messages.peers.rank, n_ranks = ranks->messages.peers.n_ranks;
  uint32_t step = 1;

  for (; step < n_ranks && !(rank & step); step *= 2) {
    if (rank + step >= n_ranks)
      continue;
    Merger *merger = &ranks->mergers[ranks->n_mergers++];
    merger->plan = ranks->plan;
    merger->exchange.peer = rank + step;
    receive_group (ranks, merger);
  }
  if (rank & step)
    ranks->parent = (Exchange){.peer = rank - step};
  else if (!has_failed (&ranks->messages) &&
           (ranks->merged.begin != 0 || ranks->merged.end != all_layers (ranks->plan)))
    messages_fail (&ranks->messages, CUDACCL_ERROR_ARGUMENT,
        "the slabs of the ranks do not cover the whole picture");
}

/* Allocates the labels of the largest group that this rank has to do with. */
static void
allocate_labels (Ranks *ranks)
{
  uint64_t n = ranks->merged.n_entries;

  if (has_failed (&ranks->messages))
    return;
  for (uint32_t i = 0; i < ranks->n_mergers; i++)
    if (ranks->mergers[i].n_upper > n)
      n = ranks->mergers[i].n_upper;
  ranks->labels = calloc (n + 1, sizeof *ranks->labels);
  if (!ranks->labels)
    fail_without_memory (&ranks->messages);
}

static void
send_group (Ranks *ranks)
{
  Messages *messages = &ranks->messages;
  const Group *group = &ranks->merged;
  const uint64_t layer = layer_size (ranks->plan) * sizeof (uint32_t);
  Report answer, report = {
                     .plan = hash_plan (ranks->plan),
                     .first_layer = group->begin,
                     .end = group->end,
                     .n_entries = group->n_entries,
                 };

  messages_send_report (messages, &ranks->parent, &report);
  messages_receive_report (messages, &ranks->parent, &answer);
  if (group->n_entries > 0) {
    messages_send (
        messages, &ranks->parent, group->entries, group->n_entries * entry_size (ranks->plan));
    messages_send (messages, &ranks->parent, group->first, layer);
    messages_send (messages, &ranks->parent, group->last, layer);
  }
}

/* Replaces the entries of both groups of a merger by the final ones of the merged group. */
static void
resolve (Merger *merger, const Entry *merged)
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

/* Makes a copy of the rank's own group, which groups of other ranks are merged with. */
static void
copy_group (Ranks *ranks, const Group *group)
{
  const uint64_t layer = layer_size (ranks->plan);
  Group *merged = &ranks->merged;

  *merged = (Group){group->begin, group->end, group->n_entries};
  if (!group_allocate (merged, ranks->plan)) {
    fail_without_memory (&ranks->messages);
    return;
  }
  memcpy (merged->entries, group->entries, group->n_entries * entry_size (ranks->plan));
  memcpy (merged->first, group->first, layer * sizeof *merged->first);
  memcpy (merged->last, group->last, layer * sizeof *merged->last);
}

/* The entries and the values of a merger's lower group; NULL after a failure, if none were
 * allocated. */
static Entry *
lower_entries (const Merger *merger)
{
  return merger->entries ? entry_at (merger->plan, merger->entries, merger->n_upper) : NULL;
}

static uint64_t *
lower_values (const Merger *merger)
{
  return merger->values ? merger->values + merger->n_upper : NULL;
}

/* Passes identities and sizes on, from the rank that has merged this rank's group. */
static void
pass_entries (Ranks *ranks)
{
  Messages *messages = &ranks->messages;
  Group *merged = &ranks->merged;
  const Entry *entries = merged->entries;
  Report report;

  messages_receive_report (messages, &ranks->parent, &report);
  messages_receive (
      messages, &ranks->parent, merged->entries, merged->n_entries * entry_size (ranks->plan));
  for (uint32_t i = ranks->n_mergers; i-- > 0;) {
    Merger *merger = &ranks->mergers[i];
    if (!has_failed (messages)) {
      resolve (merger, entries);
      entries = merger->entries;
    }
    report = (Report){0};
    messages_send_report (messages, &merger->exchange, &report);
    messages_send (messages, &merger->exchange, lower_entries (merger),
        merger->n_lower * entry_size (ranks->plan));
  }
}

CclStatus
ranks_unite (Ranks *ranks, Group *group, CclStatus status, CclError *error)
{
  Messages *messages = &ranks->messages;

  if (messages->peers.n_ranks == 1)
    return status;
  if (status != CUDACCL_OK)
    messages_fail (messages, status, error->message);
  else
    copy_group (ranks, group);
  receive_groups (ranks);
  allocate_labels (ranks);
  send_group (ranks);
  pass_entries (ranks);
  if (!has_failed (messages)) {
    const Entry *entries = ranks->n_mergers ? ranks->mergers[0].entries : ranks->merged.entries;
    memcpy (group->entries, entries, group->n_entries * entry_size (ranks->plan));
  }
  return messages_status (messages, error);
}

/* Gives the merged group the labels of two groups; merged may be upper. */
static void
merge_labels (Merger *merger, const uint64_t *upper, uint64_t n_upper_labels, uint64_t *merged)
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

/* The final labels of both groups from those of the merged group, whose first label is base + 1. */
static void
resolve_labels (Merger *merger, const uint64_t *merged, uint64_t base)
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

/* Counts the labels of the group that this rank has merged, and collects those of its entries. */
static uint64_t
collect_labels (Ranks *ranks, uint64_t n_labels)
{
  Messages *messages = &ranks->messages;

  for (uint32_t i = 0; i < ranks->n_mergers; i++) {
    Merger *merger = &ranks->mergers[i];
    Report lower;
    messages_receive (messages, &merger->exchange, lower_values (merger),
        merger->n_lower * sizeof *merger->values);
    messages_receive_report (messages, &merger->exchange, &lower);
    if (!has_failed (messages)) {
      merge_labels (merger, ranks->labels, n_labels, ranks->labels);
      n_labels += lower.n_labels;
    }
  }
  return n_labels;
}

/* Passes the final labels on to the ranks whose groups this rank has merged. Returns those of its
 * own group. */
static const uint64_t *
pass_labels (Ranks *ranks, uint64_t n_labels, uint64_t n_labels_before)
{
  Messages *messages = &ranks->messages;
  const uint64_t *labels = ranks->labels;

  for (uint32_t i = ranks->n_mergers; i-- > 0;) {
    Merger *merger = &ranks->mergers[i];
    Report report = {
        .n_labels = n_labels, .n_labels_before = n_labels_before + merger->upper_labels};
    if (!has_failed (messages)) {
      resolve_labels (merger, labels, n_labels_before);
      labels = merger->values;
    }
    messages_send_report (messages, &merger->exchange, &report);
    messages_send (messages, &merger->exchange, lower_values (merger),
        merger->n_lower * sizeof *merger->values);
  }
  return labels;
}

CclStatus
ranks_label (Ranks *ranks, Group *group, uint64_t n_labels, uint64_t *first_label,
    uint64_t *n_components, CclError *error)
{
  Messages *messages = &ranks->messages;
  const uint64_t bytes = ranks->merged.n_entries * sizeof *ranks->labels;
  Report report = {0};

  *first_label = 1;
  *n_components = n_labels;
  if (messages->peers.n_ranks == 1)
    return CUDACCL_OK;
  if (!has_failed (messages))
    memcpy (ranks->labels, group->labels, group->n_entries * sizeof *group->labels);
  report.n_labels = collect_labels (ranks, n_labels);
  if (messages->peers.rank > 0) {
    messages_send (messages, &ranks->parent, ranks->labels, bytes);
    messages_send_report (messages, &ranks->parent, &report);
    messages_receive_report (messages, &ranks->parent, &report);
  }
  if (!ranks->parent.is_over || (messages->peers.rank == 0 && !has_failed (messages)))
    messages_decide (messages);
  messages_receive (messages, &ranks->parent, ranks->labels, bytes);
  const uint64_t *labels = pass_labels (ranks, report.n_labels, report.n_labels_before);
  if (!has_failed (messages)) {
    memcpy (group->labels, labels, group->n_entries * sizeof *labels);
    *first_label = report.n_labels_before + 1;
    *n_components = report.n_labels;
  }
  return messages_status (messages, error);
}

void
ranks_clear (Ranks *ranks)
{
  group_free (&ranks->merged);
  free (ranks->labels);
  for (uint32_t i = 0; i < ranks->n_mergers; i++)
    merger_clear (&ranks->mergers[i]);
}
