/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of two ranks, in this order; "up" is from the sender of a group to the rank that
 * merges it:
 *
 *   up    report: the group's size
 *   down  report: whether there is memory for it
 *   up    entries, first and last layer
 *   down  report, entries: identities and sizes; if wanted, the identities around the group
 *   up    labels, report: how many labels begin in the group
 *   down  report, labels: all ranks succeed
 *
 * The first four are repeated if the groups are united twice. All memory is allocated before the
 * second message. Labels precede the last report on the way up,
 * so that every failure before it is reported to all ranks. A failure while the last report and the
 * labels are passed on is the rank's own: others may already write labels.
 */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

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
  const uint32_t rank = ranks->messages.peers.rank;
  ranks->parent = (Exchange){.peer = rank & (rank - 1), .is_over = rank == 0};
}

/* A hash of what must be equal in the plans of all ranks (FNV-1a). */
static uint64_t
hash_plan (const CclTiledPlan *plan)
{
  const uint64_t numbers[] = {plan->width, plan->height, plan->depth, plan->connectivity,
      plan->threshold, plan->invert, plan->min_area, plan->max_area, plan->label_bytes,
      plan->columns, plan->intensity_format, plan->clears_border};
  uint64_t hash = UINT64_C (14695981039346656037);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    hash = (hash ^ numbers[i]) * UINT64_C (1099511628211);
  return hash;
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
      merger_merge (ranks->plan, merger, &ranks->merged);
    else
      messages_fail (messages, CUDACCL_ERROR_IO, "a message from another rank is damaged");
  }
  if (!ranks->around)
    group_free (group);
}

/* Receives the groups that this rank merges with its own one. After a failure, the ranks that send
 * them get a report of it. */
static void
receive_groups (Ranks *ranks)
{
  const uint32_t rank = ranks->messages.peers.rank, n_ranks = ranks->messages.peers.n_ranks;

  for (uint32_t step = 1; step < n_ranks && !(rank & step); step *= 2) {
    if (rank + step >= n_ranks)
      continue;
    Merger *merger = &ranks->mergers[ranks->n_mergers++];
    merger->plan = ranks->plan;
    merger->exchange.peer = rank + step;
    receive_group (ranks, merger);
  }
  if (rank == 0 && !has_failed (&ranks->messages) &&
      (ranks->merged.begin != 0 || ranks->merged.end != all_layers (ranks->plan)))
    messages_fail (&ranks->messages, CUDACCL_ERROR_ARGUMENT,
        "the slabs of the ranks do not cover the whole picture");
}

/* Allocates the labels of the largest group that this rank has to do with, and a layer. */
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
  if (ranks->around)
    ranks->spare = malloc (layer_size (ranks->plan) * sizeof *ranks->spare);
  if (!ranks->labels || (ranks->around && !ranks->spare))
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

/* Receives the identities around the merged group. */
static void
receive_around (Ranks *ranks)
{
  const uint64_t bytes = layer_size (ranks->plan) * sizeof *ranks->spare;

  if (!ranks->around || ranks->merged.n_entries == 0)
    return;
  messages_receive (&ranks->messages, &ranks->parent, ranks->around->before, bytes);
  messages_receive (&ranks->messages, &ranks->parent, ranks->around->after, bytes);
}

/* Sends the identities around the lower group of a merger, and makes those around the merged group
 * those around the upper one. */
static void
pass_around (Ranks *ranks, Merger *merger)
{
  Messages *messages = &ranks->messages;
  Around *around = ranks->around;
  const uint64_t bytes = layer_size (ranks->plan) * sizeof *ranks->spare;
  const bool has_seam = merger->has_seam && !has_failed (messages);

  if (!around)
    return;
  if (has_seam)
    merger_identify_above (merger, ranks->spare);
  if (merger->n_lower > 0) {
    messages_send (messages, &merger->exchange, has_seam ? ranks->spare : around->before, bytes);
    messages_send (messages, &merger->exchange, around->after, bytes);
  }
  if (has_seam)
    merger_identify_below (merger, around->after);
  group_free (&merger->group);
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
  receive_around (ranks);
  for (uint32_t i = ranks->n_mergers; i-- > 0;) {
    Merger *merger = &ranks->mergers[i];
    if (!has_failed (messages)) {
      merger_resolve (merger, entries);
      entries = merger->entries;
    }
    report = (Report){0};
    messages_send_report (messages, &merger->exchange, &report);
    messages_send (messages, &merger->exchange, lower_entries (merger),
        merger->n_lower * entry_size (ranks->plan));
    pass_around (ranks, merger);
  }
}

CclStatus
ranks_unite (Ranks *ranks, Group *group, Around *around, CclStatus status, CclError *error)
{
  Messages *messages = &ranks->messages;

  if (messages->peers.n_ranks == 1)
    return status;
  ranks_clear (ranks);
  ranks->around = around;
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
      merger_merge_labels (merger, ranks->labels, n_labels, ranks->labels);
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
      merger_resolve_labels (merger, labels, n_labels_before);
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
  free (ranks->spare);
  ranks->labels = ranks->spare = NULL;
  for (uint32_t i = 0; i < ranks->n_mergers; i++)
    merger_clear (&ranks->mergers[i]);
  ranks->n_mergers = 0;
}
