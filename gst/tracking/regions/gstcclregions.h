/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions and lines of ccltrack. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/regions.h>

#include "gstcclregionlist.h"

/* Belongs to the streaming thread. Zero is one without regions. */
typedef struct {
  GArray *list;                    /* CclRegion; see gstcclregionlist.h */
  CclRegions *regions;             /* NULL: the list is empty, or there was no frame yet */
  guint frame_width, frame_height; /* of the latest frame; 0: there was none yet */
  gboolean changed;                /* list or counts are not those that were described last */
  GArray *infos;                   /* GstCclRegionInfo, of the latest frame */
  GByteArray *places;              /* of the latest frame, see gst_ccl_region_state_new() */
} GstCclRegionStage;

/* Replaces the regions by those of a text and of a file; NULL: none. Regions that are the same as
 * before keep their counts. On failure the former regions stay, and the error names the place in
 * the text or in the file, or the region. max_tracks is that of the tracker. */
gboolean gst_ccl_region_stage_load (GstCclRegionStage *stage, const gchar *text,
    const GstCclRegionFile *file, guint max_tracks, GError **error);

/* Frees everything. */
void gst_ccl_region_stage_close (GstCclRegionStage *stage);

/* Finds the events of a frame, whose size may differ from that of the frame before. */
gboolean gst_ccl_region_stage_run (GstCclRegionStage *stage, guint frame_width, guint frame_height,
    guint max_tracks, const CclTracks *tracks, GstClockTime elapsed,
    const CclRegionsOptions *options, CclRegionsResult *result, CclError *error);

/* Attaches where the tracks of the frame of the latest run are. The metadata has a row for each of
 * the tracks in `listed`, which are indices into the tracks of that run. */
void gst_ccl_region_stage_attach (GstCclRegionStage *stage, const CclTracks *tracks,
    const CclRegionsResult *result, const guint *listed, GstCclMeta *meta);

/* The definition that an event belongs to. */
const CclRegion *gst_ccl_region_stage_get (const GstCclRegionStage *stage, guint region);
