/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions and lines of ccltrack. */
#ifndef __GST_CCL_REGIONS_H__
#define __GST_CCL_REGIONS_H__

#include <gst/gst.h>

#include <cudaccl/regions.h>

G_BEGIN_DECLS

/* The name of the custom sticky downstream event with the regions, lines and counts of a ccltrack.
 * Its field `regions` is that of gst_ccl_region_list_describe(). */
#define GST_CCL_REGIONS_EVENT "ccl-regions"

/* Belongs to the streaming thread. Zero is one without regions. */
typedef struct {
  GArray *list;        /* CclRegion; see gstcclregionlist.h */
  CclRegions *regions; /* NULL: none, or not planned yet */
  guint frame_width, frame_height;
  gboolean is_new;  /* the list was loaded after the regions were planned */
  gboolean changed; /* list or counts are not those that were described last */
} GstCclRegionStage;

/* Replaces the list by the regions of a text and of a file; NULL: none. On failure the list stays,
 * and the error names the place in the text or in the file. */
gboolean gst_ccl_region_stage_load (
    GstCclRegionStage *stage, const gchar *text, const gchar *path, GError **error);

/* Frees everything. */
void gst_ccl_region_stage_close (GstCclRegionStage *stage);

/* Removes all tracks, without events. */
void gst_ccl_region_stage_reset (GstCclRegionStage *stage);

/* Finds the events of a frame, whose size may differ from that of the frame before. Regions that
 * are the same as before keep their counts. */
gboolean gst_ccl_region_stage_run (GstCclRegionStage *stage, guint frame_width, guint frame_height,
    guint max_tracks, const CclTracks *tracks, GstClockTime elapsed,
    const CclRegionsOptions *options, CclRegionsResult *result, CclError *error);

/* The definition that an event belongs to. */
const CclRegion *gst_ccl_region_stage_get (const GstCclRegionStage *stage, guint region);

G_END_DECLS

#endif /* __GST_CCL_REGIONS_H__ */
