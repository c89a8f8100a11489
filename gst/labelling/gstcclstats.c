/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclstats.h"

#include <math.h>
#include <string.h>

#define FINE ((guint64)1 << GST_CCL_STATS_FINE_BITS)

/* Each value below 2 × FINE has a bucket; above, each octave has FINE buckets. */
static guint
bucket_of (guint64 value)
{
  guint shift;

  if (value < FINE)
    return (guint)value;
  shift = 63 - (guint)__builtin_clzll (value) - GST_CCL_STATS_FINE_BITS;
  return MIN (((shift + 1) << GST_CCL_STATS_FINE_BITS) + (guint)((value >> shift) - FINE),
      GST_CCL_STATS_BUCKETS - 1);
}

static guint64
bucket_end (guint bucket)
{
  guint shift;

  if (bucket < FINE)
    return bucket;
  shift = (bucket >> GST_CCL_STATS_FINE_BITS) - 1;
  return (((bucket & (FINE - 1)) + FINE + 1) << shift) - 1;
}

void
gst_ccl_stats_reset (GstCclStats *stats)
{
  memset (stats, 0, sizeof *stats);
}

void
gst_ccl_stats_add_frame (GstCclStats *stats, guint n_components, guint64 label_time)
{
  stats->frames++;
  stats->components += n_components;
  stats->label_time += label_time;
  stats->histogram[bucket_of (label_time)]++;
}

guint64
gst_ccl_stats_percentile (const GstCclStats *stats, gdouble share)
{
  guint64 wanted = (guint64)ceil (share * (gdouble)stats->frames);
  guint64 seen = 0;

  if (stats->frames == 0)
    return 0;
  for (guint bucket = 0; bucket < GST_CCL_STATS_BUCKETS; bucket++) {
    seen += stats->histogram[bucket];
    if (seen >= wanted && seen > 0)
      return bucket_end (bucket);
  }
  return bucket_end (GST_CCL_STATS_BUCKETS - 1);
}

GstStructure *
gst_ccl_stats_to_structure (const GstCclStats *stats)
{
  guint64 mean = stats->frames ? stats->label_time / stats->frames : 0;

  return gst_structure_new ("stats", "frames", G_TYPE_UINT64, stats->frames, "components",
      G_TYPE_UINT64, stats->components, "dropped", G_TYPE_UINT64, stats->dropped, "label-time-mean",
      G_TYPE_UINT64, mean, "label-time-p99", G_TYPE_UINT64, gst_ccl_stats_percentile (stats, 0.99),
      NULL);
}
