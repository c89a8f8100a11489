/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an element counts while it runs: frames, components, dropped frames, label times. */
#ifndef __GST_CCL_STATS_H__
#define __GST_CCL_STATS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Label times go into a histogram whose buckets are 1/64 of their value wide, so a percentile is
 * off by less than 2 % however long the element has run, in constant memory. */
#define GST_CCL_STATS_FINE_BITS 6
#define GST_CCL_STATS_OCTAVES 36 /* up to 2^41 ns, more than half an hour for one frame */
#define GST_CCL_STATS_BUCKETS ((GST_CCL_STATS_OCTAVES + 1) << GST_CCL_STATS_FINE_BITS)

/* Not thread safe; the owner locks. */
typedef struct {
  guint64 frames;
  guint64 components;
  guint64 dropped;
  guint64 label_time; /* sum over all frames, ns */
  guint64 histogram[GST_CCL_STATS_BUCKETS];
} GstCclStats;

void gst_ccl_stats_reset (GstCclStats *stats);

/* Counts one labelled frame: its components and the time labelling it took, in ns. */
void gst_ccl_stats_add_frame (GstCclStats *stats, guint n_components, guint64 label_time);

/* The smallest time in ns that at least this share (0…1) of the frames did not exceed; the upper
 * end of its bucket. 0 without frames. */
guint64 gst_ccl_stats_percentile (const GstCclStats *stats, gdouble share);

/* What the property "stats" shows. */
GstStructure *gst_ccl_stats_to_structure (const GstCclStats *stats);

G_END_DECLS

#endif /* __GST_CCL_STATS_H__ */
