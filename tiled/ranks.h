/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unites components across the seams between the blocks of ranks.
 *
 * The blocks are merged in a binomial tree. A group is a number of consecutive blocks that are
 * merged. It is described by its first and its last layer, with a number in place of each pixel,
 * and one entry for each component that touches one of the two. A group sends this description to
 * the rank that merges it with its predecessor. The results come back the same way: first the
 * identity and the size of each component, then, when all ranks have counted the components that
 * begin in their blocks, the final labels. A rank sends and receives O(layer size × log n_ranks)
 * bytes, and all together O(layer size × n_ranks).
 */
#ifndef CCL_TILED_RANKS_H
#define CCL_TILED_RANKS_H

#include "part.h"

/* A component of a group that touches the group's first or last layer. */
typedef struct Entry {
  uint64_t identity; /* where the first pixel is: the rank in the upper 20 bits, and below them a
                      * number that increases in raster order inside the rank's block */
  Part part;
} Entry;

enum { IDENTITY_SHIFT = 44 };

typedef struct Group {
  uint64_t n_blocks; /* that are not empty; if 0, the group has no layers and no entries */
  uint64_t n_entries;
  Entry *entries;  /* in order of identity */
  uint32_t *first; /* the first layer: at each pixel 0, or 1 + the index of an entry */
  uint32_t *last;  /* the last layer */
} Group;

typedef struct Ranks Ranks;

/* peers may be NULL. The plan must outlive the object. Returns NULL if there is no memory. */
Ranks *ranks_new (const CclTiledPlan *plan, const CclTiledPeers *peers, CclError *error);

/* Merges the groups. On entry, group describes this rank's block, and status and error say whether
 * the rank has failed. On success, each entry of the group has its final identity and the part of
 * the whole component. All ranks return the same status. Takes ownership of nothing. */
CclStatus ranks_unite (Ranks *ranks, Group *group, CclStatus status, CclError *error);

/* Gives labels. n_labels: how many components begin in this rank's block. labels: for each entry of
 * the group 0, or, if its component begins in this block, the label counted from the block's first
 * one, 1…n_labels. On success, labels has the final ones. first_label: the first one of the block.
 * n_components: N. */
CclStatus ranks_label (Ranks *ranks, uint64_t n_labels, uint64_t *labels, uint64_t *first_label,
    uint64_t *n_components, CclError *error);

/* Bytes and messages sent so far. */
void ranks_count (const Ranks *ranks, uint64_t *bytes_sent, uint32_t *n_messages);

void ranks_free (Ranks *ranks);

#endif /* CCL_TILED_RANKS_H */
