/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The component table as the tracker reads it from the metadata of a frame, and the table of tracks
 * that replaces it. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/tracker.h>

#include "tracking/regions/gstcclground.h"
#include "gstcclparents.h"
#include "gstccltracksettings.h"

/* Memory for both tables, allocated once. */
typedef struct {
  guint max_tracks, max_components;
  CclComponent *components;
  GstCclComponent *rows;
  GstCclTrackInfo *infos; /* of the tracks in rows */
  guint *origins;         /* of the tracks in rows: the rows of their components */
  guint *listed;          /* of the tracks in rows: their indices in the tracker's result */
  guint64 *ids;
  guint *first_id; /* of each component's identities in ids, and the end */
} GstCclTrackTable;

void gst_ccl_track_table_init (GstCclTrackTable *self, guint max_tracks, guint max_components);
void gst_ccl_track_table_clear (GstCclTrackTable *self);

/* The first rows of the metadata, at most max_components; valid until the next call. */
CclTable gst_ccl_track_table_read (GstCclTrackTable *self, const GstCclMeta *meta);

/* Replaces the table of the metadata, from which `table` was read, by one row for each track that
 * the settings list, with their motions on the ground. id_offset is added to the identities of the
 * tracker.
 *
 * Returns whether components have no track because there are too many. Then the table is truncated,
 * and its number of components stays. */
gboolean gst_ccl_track_table_write (GstCclTrackTable *self, GstCclMeta *meta, const CclTable *table,
    const CclTracks *tracks, const GstCclParents *parents, const GstCclGround *ground,
    const GstCclTrackSettings *settings, guint64 id_offset);
