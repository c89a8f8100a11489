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
#pragma once

#include "merger.h"

/* The layers before and after a slab: 1 + the identity of the component at each pixel, 0 for
 * background and outside the picture. They are known if the slab's first or last layer has
 * components. */
typedef struct Around {
  uint64_t *before, *after; /* [layer_size] */
} Around;

enum { MOST_MERGERS = 20 }; /* of a rank: there are at most 2^20 ranks */

typedef struct Ranks {
  const CclTiledPlan *plan;
  Messages messages;
  uint32_t n_mergers; /* of this rank */
  Merger mergers[MOST_MERGERS];
  Exchange parent;  /* the rank that this rank sends its group to; over for rank 0 */
  Group merged;     /* the group that this rank sends or, rank 0, the whole picture */
  uint64_t *labels; /* of the entries of the merged group */
  Around *around;   /* what ranks_unite() fills; NULL: nothing */
  uint64_t *spare;  /* a layer of identities, if there are any */
} Ranks;

/* peers may be NULL. The plan must outlive the object. */
void ranks_init (Ranks *ranks, const CclTiledPlan *plan, const CclTiledPeers *peers);

/* Merges the groups. On entry, group describes this rank's slab, and status and error say whether
 * the rank has failed. On success, each entry of the group has its final identity and the part of
 * the whole component. Otherwise ranks_label() is called all the same, because other ranks may not
 * know of the failure yet.
 *
 * around: filled, with identities that the layers of zeros that it has on entry do not know; NULL:
 * not wanted, by any rank. All ranks may call the function again, for groups with the same layers
 * and other measures, before they call ranks_label(). */
CclStatus ranks_unite (
    Ranks *ranks, Group *group, Around *around, CclStatus status, CclError *error);

/* Gives labels. n_labels: how many components begin in this rank's slab. group: labels has for
 * each entry 0, or, if its component begins in this slab, the label counted from the slab's first
 * one, 1…n_labels. On success, labels has the final ones. first_label: the first one of the slab.
 * n_components: N. All ranks fail, or none, except that a rank can fail alone to receive the final
 * labels or to pass them on. */
CclStatus ranks_label (Ranks *ranks, Group *group, uint64_t n_labels, uint64_t *first_label,
    uint64_t *n_components, CclError *error);

void ranks_clear (Ranks *ranks);
