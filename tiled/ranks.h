/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unites components across the seams between the slabs of ranks.
 *
 * The slabs are merged in a binomial tree. A group is a number of consecutive slabs that are
 * merged. It is described by its first and its last layer, with a number in place of each pixel,
 * and one entry for each component that touches one of the two. A group sends this description to
 * the rank that merges it with its predecessor. The results come back the same way: first the
 * identity and the size of each component, then, when all ranks have counted the components that
 * begin in their slabs, the final labels. A rank sends and receives O(layer size × log n_ranks)
 * bytes, and all together O(layer size × n_ranks).
 */
#ifndef CUDACCL_TILED_RANKS_H
#define CUDACCL_TILED_RANKS_H

#include "messages.h"
#include "part.h"

/* A component of a group that touches the group's first or last layer. */
typedef struct Entry {
  uint64_t identity; /* where the first pixel is: the rank in the upper 20 bits, and below them a
                      * number that increases in raster order inside the rank's slab */
  CclPart part;
  CclMeasures measures[]; /* one, as part, if the plan has columns */
} Entry;

static inline size_t
entry_size (const CclTiledPlan *plan)
{
  return sizeof (Entry) + (plan->columns ? sizeof (CclMeasures) : 0);
}

/* The entries of an array are entry_size() bytes apart. */
static inline Entry *
entry_at (const CclTiledPlan *plan, const Entry *entries, uint64_t index)
{
  return (Entry *)((uint8_t *)entries + index * entry_size (plan));
}

enum { IDENTITY_SHIFT = 44 };

/* Layers of consecutive slabs. */
typedef struct Group {
  uint64_t begin, end; /* layers of the picture; an empty group has no entries */
  uint64_t n_entries;
  Entry *entries;   /* in order of identity */
  uint32_t *first;  /* the first layer: at each pixel 0, or 1 + the index of an entry */
  uint32_t *last;   /* the last layer */
  uint64_t *labels; /* of the rank's own group: for each entry its label */
} Group;

static inline bool
is_empty (const Group *group)
{
  return group->begin == group->end;
}

/* The union of two groups that follow each other. Entries of both are numbered through: those of
 * the upper group, then those of the lower one, which keeps them in order of identity. */
typedef struct Merger {
  const CclTiledPlan *plan;
  Exchange exchange; /* with the rank that has sent the lower group */
  Group group;       /* the lower group, until it is merged */
  uint64_t n_upper, n_lower;
  Entry *entries;   /* [n_upper + n_lower] */
  Entry *open;      /* of the merged group, which takes them over */
  uint32_t *roots;  /* of each entry: the least entry of its component */
  int64_t *merged;  /* of each root: its entry in the merged group; -1 if it touches neither the
                     * group's first nor its last layer */
  uint64_t *values; /* of each entry: its label, counted from the group's first one */
  uint64_t upper_labels; /* how many components begin in the upper group */
} Merger;

enum { MOST_MERGERS = 20 }; /* of a rank: there are at most 2^20 ranks */

typedef struct Ranks {
  const CclTiledPlan *plan;
  Messages messages;
  uint32_t n_mergers; /* of this rank */
  Merger mergers[MOST_MERGERS];
  Exchange parent;  /* the rank that this rank sends its group to; over for rank 0 */
  Group merged;     /* the group that this rank sends or, rank 0, the whole picture */
  uint64_t *labels; /* of the entries of the merged group */
} Ranks;

/* peers may be NULL. The plan must outlive the object. */
void ranks_init (Ranks *ranks, const CclTiledPlan *plan, const CclTiledPeers *peers);

/* Merges the groups. On entry, group describes this rank's slab, and status and error say whether
 * the rank has failed. On success, each entry of the group has its final identity and the part of
 * the whole component. Otherwise ranks_label() is called all the same, because other ranks may not
 * know of the failure yet. */
CclStatus ranks_unite (Ranks *ranks, Group *group, CclStatus status, CclError *error);

/* Gives labels. n_labels: how many components begin in this rank's slab. group: labels has for
 * each entry 0, or, if its component begins in this slab, the label counted from the slab's first
 * one, 1…n_labels. On success, labels has the final ones. first_label: the first one of the slab.
 * n_components: N. All ranks fail, or none, except that a rank can fail alone to receive the final
 * labels or to pass them on. */
CclStatus ranks_label (Ranks *ranks, Group *group, uint64_t n_labels, uint64_t *first_label,
    uint64_t *n_components, CclError *error);

void ranks_clear (Ranks *ranks);

#endif /* CUDACCL_TILED_RANKS_H */
