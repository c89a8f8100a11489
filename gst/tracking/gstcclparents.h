/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracks that other tracks split from. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/tracker.h>

/* What is known of a track. */
typedef struct {
  guint64 id, parent; /* parent: 0 for none */
  gboolean confirmed;
  guint32 label;                  /* of its component; 0: it is in none */
  guint left, top, right, bottom; /* the box of its components, pixels */
} GstCclLineage;

typedef struct {
  GstCclLineage *now, *before; /* of the tracks of this frame and of the one before */
  guint n, n_before, max_tracks;
} GstCclParents;

void gst_ccl_parents_init (GstCclParents *parents, guint max_tracks);

void gst_ccl_parents_clear (GstCclParents *parents);

/* Finds the parents of the tracks of a frame with this table.
 *
 * A track that leaves the component of an older track has that track as its parent, and so has a
 * new track whose component lies for the most part where those of a confirmed track were in the
 * frame before, if that one goes on in another component. */
void gst_ccl_parents_update (
    GstCclParents *parents, const CclTracks *tracks, const CclTable *table);

/* Removes all tracks. */
void gst_ccl_parents_reset (GstCclParents *parents);

/* The parent of a track of the latest frame; 0 if it has none. */
guint64 gst_ccl_parents_get (const GstCclParents *parents, guint64 id);
