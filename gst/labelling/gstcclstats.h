/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of an element: frames, components, dropped frames, labelling times. */
#pragma once

#include <gst/gst.h>

/* Labelling times are counted in a histogram whose buckets are 1/64 of their value wide: the error
 * of a percentile is below 2 %, in constant memory. */
#define GST_CCL_STATS_FINE_BITS 6
#define GST_CCL_STATS_OCTAVES 36 /* up to 2^41 ns, more than half an hour for one frame */
#define GST_CCL_STATS_BUCKETS ((GST_CCL_STATS_OCTAVES + 1) << GST_CCL_STATS_FINE_BITS)

/* The caller locks. */
typedef struct {
  guint64 frames;
  guint64 components;
  guint64 dropped;
  guint64 label_time; /* sum over all frames, ns */
  guint64 histogram[GST_CCL_STATS_BUCKETS];
} GstCclStats;

void gst_ccl_stats_reset (GstCclStats *stats);

/* Adds a labelled frame: its number of components, and its labelling time in ns. */
void gst_ccl_stats_add_frame (GstCclStats *stats, guint n_components, guint64 label_time);

/* The labelling time in ns that the given share (0…1) of the frames did not exceed, rounded up to
 * the end of its bucket. 0 without frames. */
guint64 gst_ccl_stats_percentile (const GstCclStats *stats, gdouble share);

/* The value of the property "stats". */
GstStructure *gst_ccl_stats_to_structure (const GstCclStats *stats);
