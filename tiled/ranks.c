/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ranks.h"

#include "join.h"
#include "labeller-class.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 21, CLOSED = -1 };

/* The union of two groups that follow each other. Entries of both are numbered through: those of
 * the upper group, then those of the lower one, which keeps them in order of identity. */
typedef struct Merger {
  uint32_t peer; /* the rank that has sent the lower group */
  uint64_t n_upper, n_lower;
  Entry *entries;   /* [n_upper + n_lower] */
  uint32_t *roots;  /* of each entry: the least entry of its component */
  int64_t *merged;  /* of each root: its entry in the merged group; CLOSED if it touches neither
                     * the group's first nor its last layer */
  uint64_t *values; /* of each entry: its label, counted from the group's first one */
  uint64_t upper_labels; /* how many components begin in the upper group */
} Merger;

struct Ranks {
  const CclTiledPlan *plan;
  CclTiledPeers peers; /* n_ranks 1 without peers */
  uint32_t n_mergers;  /* of this rank */
  Merger mergers[MOST_LEVELS];
  uint32_t parent;    /* the rank that takes this rank's group; its own for rank 0 */
  uint64_t n_entries; /* of the group that this rank has sent or, rank 0, of the whole picture */
  uint64_t bytes_sent;
  uint32_t n_messages;
};

/* The head of a message. */
typedef struct Head {
  uint64_t status; /* CclStatus: all but CCL_OK end the run */
  uint64_t n_blocks, n_entries;
  uint64_t count; /* of labels: on the way to rank 0 those of the group, on the way back N */
  uint64_t base;  /* of labels before the group, on the way back */
  char message[sizeof ((CclError *)0)->message];
} Head;

Ranks *
ranks_new (const CclTiledPlan *plan, const CclTiledPeers *peers, CclError *error)
{
  Ranks *ranks = calloc (1, sizeof *ranks);

  if (!ranks) {
    ccl_error_set (error, CCL_ERROR_NO_MEMORY, "not enough memory");
    return NULL;
  }
  ranks->plan = plan;
  ranks->peers = peers ? *peers : (CclTiledPeers){.n_ranks = 1};
  ranks->parent = ranks->peers.rank;
  return ranks;
}

static CclStatus
no_memory (CclError *error)
{
  return ccl_error_set (error, CCL_ERROR_NO_MEMORY, "not enough memory to unite blocks");
}

static CclStatus
send_bytes (Ranks *ranks, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  if (size == 0)
    return CCL_OK;
  ranks->bytes_sent += size;
  ranks->n_messages++;
  return ranks->peers.send (ranks->peers.data, to, bytes, size, error);
}

static CclStatus
receive_bytes (Ranks *ranks, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  return size ? ranks->peers.receive (ranks->peers.data, from, bytes, size, error) : CCL_OK;
}

static CclStatus
send_head (Ranks *ranks, uint32_t to, Head *head, CclStatus status, CclError *error)
{
  head->status = status;
  if (status != CCL_OK)
    memcpy (head->message, error->message, sizeof head->message);
  return send_bytes (ranks, to, head, sizeof *head, error);
}

/* Returns the status that the other rank reports, with its message. */
static CclStatus
receive_head (Ranks *ranks, uint32_t from, Head *head, CclError *error)
{
  const CclStatus status = receive_bytes (ranks, from, head, sizeof *head, error);

  if (status != CCL_OK)
    return status;
  head->message[sizeof head->message - 1] = '\0';
  if (head->status != CCL_OK)
    return ccl_error_set (error, (CclStatus)head->status, "%s", head->message);
  return CCL_OK;
}

static void
group_free (Group *group)
{
  free (group->entries);
  free (group->first);
  free (group->last);
  *group = (Group){0};
}

/* Allocates the arrays of a group of n_blocks and n_entries. */
static CclStatus
group_allocate (Group *group, uint64_t layer, CclError *error)
{
  group->entries = malloc ((group->n_entries + 1) * sizeof *group->entries);
  group->first = calloc (layer, sizeof *group->first);
  group->last = calloc (layer, sizeof *group->last);
  if (!group->entries || !group->first || !group->last)
    return no_memory (error);
  return CCL_OK;
}

static CclStatus
send_group (Ranks *ranks, const Group *group, CclStatus status, CclError *error)
{
  const uint64_t layer = layer_size (ranks->plan) * sizeof (uint32_t);
  Head head = {.n_blocks = group->n_blocks, .n_entries = group->n_entries};
  const CclStatus sent = send_head (ranks, ranks->parent, &head, status, error);

  if (status != CCL_OK || sent != CCL_OK || group->n_entries == 0)
    return status != CCL_OK ? status : sent;
  status = send_bytes (
      ranks, ranks->parent, group->entries, group->n_entries * sizeof *group->entries, error);
  if (status == CCL_OK)
    status = send_bytes (ranks, ranks->parent, group->first, layer, error);
  return status == CCL_OK ? send_bytes (ranks, ranks->parent, group->last, layer, error) : status;
}

static CclStatus
receive_group (Ranks *ranks, uint32_t from, Group *group, CclError *error)
{
  const uint64_t layer = layer_size (ranks->plan);
  Head head;
  CclStatus status = receive_head (ranks, from, &head, error);

  if (status != CCL_OK)
    return status;
  group->n_blocks = head.n_blocks;
  group->n_entries = head.n_entries;
  status = group_allocate (group, layer, error);
  if (status != CCL_OK || group->n_entries == 0)
    return status;
  status = receive_bytes (ranks, from, group->entries, group->n_entries * sizeof (Entry), error);
  if (status == CCL_OK)
    status = receive_bytes (ranks, from, group->first, layer * sizeof (uint32_t), error);
  return status == CCL_OK
             ? receive_bytes (ranks, from, group->last, layer * sizeof (uint32_t), error)
             : status;
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
  const uint32_t root = a < b ? a : b, other = a < b ? b : a;
  roots[other] = root;
  part_add (&merger->entries[root].part, &merger->entries[other].part);
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
  free (merger->entries);
  free (merger->roots);
  free (merger->merged);
  free (merger->values);
}

static CclStatus
merger_init (Merger *merger, const Group *upper, const Group *lower, CclError *error)
{
  const uint64_t n = upper->n_entries + lower->n_entries;

  merger->n_upper = upper->n_entries;
  merger->n_lower = lower->n_entries;
  merger->entries = malloc ((n + 1) * sizeof *merger->entries);
  merger->roots = malloc ((n + 1) * sizeof *merger->roots);
  merger->merged = malloc ((n + 1) * sizeof *merger->merged);
  merger->values = malloc ((n + 1) * sizeof *merger->values);
  if (!merger->entries || !merger->roots || !merger->merged || !merger->values)
    return no_memory (error);
  memcpy (merger->entries, upper->entries, upper->n_entries * sizeof (Entry));
  memcpy (merger->entries + upper->n_entries, lower->entries, lower->n_entries * sizeof (Entry));
  for (uint64_t i = 0; i < n; i++) {
    merger->roots[i] = (uint32_t)i;
    merger->merged[i] = CLOSED;
  }
  return CCL_OK;
}

/* Replaces the upper group by its union with the lower one, whose arrays it may take. */
static CclStatus
merge (Ranks *ranks, Merger *merger, Group *upper, Group *lower, CclError *error)
{
  const uint64_t layer = layer_size (ranks->plan);
  const CclStatus status = merger_init (merger, upper, lower, error);
  uint64_t n = merger->n_upper + merger->n_lower, n_open = 0;

  if (status != CCL_OK)
    return status;
  if (upper->n_blocks && lower->n_blocks)
    join_layers (ranks->plan, upper->last, lower->first, unite_entries, merger);
  for (uint64_t i = 0; i < n; i++)
    merger->roots[i] = find_root (merger->roots, (uint32_t)i);

  /* The layers of an empty group are zeros, which count for nothing here. */
  uint32_t *first = upper->n_blocks ? upper->first : lower->first;
  uint32_t *last = lower->n_blocks ? lower->last : upper->last;
  const uint64_t first_entry = upper->n_blocks ? 0 : merger->n_upper;
  const uint64_t last_entry = lower->n_blocks ? merger->n_upper : 0;
  mark_open (merger, first, layer, first_entry);
  mark_open (merger, last, layer, last_entry);
  Entry *open = malloc ((n + 1) * sizeof *open);
  if (!open)
    return no_memory (error);
  for (uint64_t i = 0; i < n; i++) {
    if (merger->merged[i] != CLOSED) {
      open[n_open] = merger->entries[i];
      merger->merged[i] = (int64_t)n_open++;
    }
  }
  renumber (merger, first, layer, first_entry);
  renumber (merger, last, layer, last_entry);

  if (first != upper->first) {
    uint32_t *spare = upper->first;
    upper->first = lower->first;
    lower->first = spare;
  }
  if (last != upper->last) {
    uint32_t *spare = upper->last;
    upper->last = lower->last;
    lower->last = spare;
  }
  free (upper->entries);
  upper->entries = open;
  upper->n_entries = n_open;
  upper->n_blocks += lower->n_blocks;
  return CCL_OK;
}

/* Receives the groups of the ranks below and merges them with the group, as far as this rank does.
 */
static CclStatus
merge_groups (Ranks *ranks, Group *group, CclStatus status, CclError *error)
{
  const uint32_t rank = ranks->peers.rank, n_ranks = ranks->peers.n_ranks;
  uint32_t step = 1;

  for (; step < n_ranks && !(rank & step); step *= 2) {
    if (rank + step >= n_ranks)
      continue;
    /* After a failure, groups are received all the same, so that no rank waits. */
    Merger *merger = &ranks->mergers[ranks->n_mergers++];
    Group lower = {0};
    CclError failure = {CCL_OK, ""};
    merger->peer = rank + step;
    CclStatus received = receive_group (ranks, merger->peer, &lower, &failure);
    if (received == CCL_OK && status == CCL_OK)
      received = merge (ranks, merger, group, &lower, &failure);
    if (received != CCL_OK && status == CCL_OK)
      status = ccl_error_set (error, received, "%s", failure.message);
    group_free (&lower);
  }
  if (rank & step)
    ranks->parent = rank - step;
  return status;
}

/* Passes a failure on to the ranks below. */
static CclStatus
tell_failure (Ranks *ranks, CclStatus status, CclError *error)
{
  Head head = {0};
  for (uint32_t i = ranks->n_mergers; i-- > 0;)
    send_head (ranks, ranks->mergers[i].peer, &head, status, error);
  return status;
}

/* Replaces the entries of both groups of a merger by the final ones of the merged group. */
static void
resolve (Merger *merger, const Entry *merged)
{
  const uint64_t n = merger->n_upper + merger->n_lower;

  /* A root precedes the other entries of its component. */
  for (uint64_t i = 0; i < n; i++) {
    if (merger->roots[i] != i)
      merger->entries[i] = merger->entries[merger->roots[i]];
    else if (merger->merged[i] != CLOSED)
      merger->entries[i] = merged[merger->merged[i]];
  }
}

CclStatus
ranks_unite (Ranks *ranks, Group *group, CclStatus status, CclError *error)
{
  const uint32_t rank = ranks->peers.rank;
  const uint64_t layer = layer_size (ranks->plan);
  Group merged = {.n_blocks = group->n_blocks, .n_entries = group->n_entries};
  CclError own_error = {CCL_OK, ""};
  Head head = {0};

  if (!error)
    error = &own_error;
  if (status == CCL_OK && ranks->peers.n_ranks > 1) {
    status = group_allocate (&merged, layer, error);
    if (status == CCL_OK && group->n_blocks) {
      memcpy (merged.entries, group->entries, group->n_entries * sizeof (Entry));
      memcpy (merged.first, group->first, layer * sizeof (uint32_t));
      memcpy (merged.last, group->last, layer * sizeof (uint32_t));
    }
  }
  status = merge_groups (ranks, &merged, status, error);
  ranks->n_entries = merged.n_entries;
  if (ranks->parent != rank) {
    status = send_group (ranks, &merged, status, error);
    const CclStatus told = receive_head (ranks, ranks->parent, &head, error);
    status = status == CCL_OK ? told : status;
    if (status == CCL_OK)
      status = receive_bytes (
          ranks, ranks->parent, merged.entries, merged.n_entries * sizeof (Entry), error);
  }
  if (status != CCL_OK) {
    group_free (&merged);
    return tell_failure (ranks, status, error);
  }

  const Entry *final = merged.entries;
  for (uint32_t i = ranks->n_mergers; i-- > 0 && status == CCL_OK;) {
    Merger *merger = &ranks->mergers[i];
    resolve (merger, final);
    status = send_head (ranks, merger->peer, &head, CCL_OK, error);
    if (status == CCL_OK)
      status = send_bytes (ranks, merger->peer, merger->entries + merger->n_upper,
          merger->n_lower * sizeof (Entry), error);
    final = merger->entries;
  }
  if (status == CCL_OK && ranks->peers.n_ranks > 1)
    memcpy (group->entries, final, group->n_entries * sizeof (Entry));
  group_free (&merged);
  return status;
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

CclStatus
ranks_label (Ranks *ranks, uint64_t n_labels, uint64_t *labels, uint64_t *first_label,
    uint64_t *n_components, CclError *error)
{
  const uint32_t rank = ranks->peers.rank;
  uint64_t size = ranks->n_entries, base = 0;
  CclStatus status = CCL_OK;
  Head head = {0};

  for (uint32_t i = 0; i < ranks->n_mergers; i++)
    if (ranks->mergers[i].n_upper > size)
      size = ranks->mergers[i].n_upper;
  uint64_t *values = malloc ((size + 1) * sizeof *values);
  if (!values)
    return no_memory (error);
  const uint64_t n_own = ranks->n_mergers ? ranks->mergers[0].n_upper : ranks->n_entries;
  memcpy (values, labels, n_own * sizeof *values);

  head.count = n_labels;
  for (uint32_t i = 0; i < ranks->n_mergers && status == CCL_OK; i++) {
    Merger *merger = &ranks->mergers[i];
    Head lower;
    status = receive_head (ranks, merger->peer, &lower, error);
    if (status == CCL_OK)
      status = receive_bytes (ranks, merger->peer, merger->values + merger->n_upper,
          merger->n_lower * sizeof *values, error);
    if (status == CCL_OK) {
      merge_labels (merger, values, head.count, values);
      head.count += lower.count;
    }
  }
  if (ranks->parent != rank && status == CCL_OK) {
    const uint64_t bytes = ranks->n_entries * sizeof *values;
    status = send_head (ranks, ranks->parent, &head, CCL_OK, error);
    if (status == CCL_OK)
      status = send_bytes (ranks, ranks->parent, values, bytes, error);
    if (status == CCL_OK)
      status = receive_head (ranks, ranks->parent, &head, error);
    if (status == CCL_OK)
      status = receive_bytes (ranks, ranks->parent, values, bytes, error);
    base = head.base;
  }
  const uint64_t total = head.count;
  const uint64_t *final = values;
  for (uint32_t i = ranks->n_mergers; i-- > 0 && status == CCL_OK;) {
    Merger *merger = &ranks->mergers[i];
    resolve_labels (merger, final, base);
    head = (Head){.count = total, .base = base + merger->upper_labels};
    status = send_head (ranks, merger->peer, &head, CCL_OK, error);
    if (status == CCL_OK)
      status = send_bytes (ranks, merger->peer, merger->values + merger->n_upper,
          merger->n_lower * sizeof *values, error);
    final = merger->values;
  }
  memcpy (labels, final, n_own * sizeof *values);
  *first_label = base + 1;
  *n_components = total;
  free (values);
  return status;
}

void
ranks_count (const Ranks *ranks, uint64_t *bytes_sent, uint32_t *n_messages)
{
  *bytes_sent = ranks->bytes_sent;
  *n_messages = ranks->n_messages;
}

void
ranks_free (Ranks *ranks)
{
  if (!ranks)
    return;
  for (uint32_t i = 0; i < ranks->n_mergers; i++)
    merger_clear (&ranks->mergers[i]);
  free (ranks);
}
