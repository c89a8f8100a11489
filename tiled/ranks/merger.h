/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The union of the components of two groups of slabs. ranks.h explains groups. */
#pragma once

#include "messages.h"
#include "tiled/parts/part.h"

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
  Group group; /* the lower group, until it is merged; then its first layer, and the last one of the
                * upper group, if both have layers */
  bool has_seam; /* both have layers */
  uint64_t n_upper, n_lower;
  Entry *entries;   /* [n_upper + n_lower] */
  Entry *open;      /* of the merged group, which takes them over */
  uint32_t *roots;  /* of each entry: the least entry of its component */
  int64_t *merged;  /* of each root: its entry in the merged group; -1 if it touches neither the
                     * group's first nor its last layer */
  uint64_t *values; /* of each entry: its label, counted from the group's first one */
  uint64_t upper_labels; /* how many components begin in the upper group */
} Merger;

void group_free (Group *group);

/* Allocates the arrays of a group, except its labels. */
bool group_allocate (Group *group, const CclTiledPlan *plan);

/* Allocates the memory to merge groups of n_upper and n_lower entries. */
bool merger_allocate (Merger *merger, uint64_t n_upper, uint64_t n_lower);

/* Replaces the upper group by its union with the merger's group, of which it may take arrays. */
void merger_merge (const CclTiledPlan *plan, Merger *merger, Group *upper);

/* Replaces the entries of both groups by the final ones of the merged group. */
void merger_resolve (Merger *merger, const Entry *merged);

/* With final entries, and if there is a seam: the layer of the upper group at the seam, and that of
 * the lower one, with 1 + the identity of the component at each pixel, 0 for background. */
void merger_identify_above (const Merger *merger, uint64_t *identities);
void merger_identify_below (const Merger *merger, uint64_t *identities);

/* Gives the merged group the labels of two groups; merged may be upper. */
void merger_merge_labels (
    Merger *merger, const uint64_t *upper, uint64_t n_upper_labels, uint64_t *merged);

/* The final labels of both groups from those of the merged group, whose first label is base + 1. */
void merger_resolve_labels (Merger *merger, const uint64_t *merged, uint64_t base);

/* Frees the arrays. The exchange stays as it is. */
void merger_clear (Merger *merger);
