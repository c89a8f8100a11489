/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of ccltrack. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/regions.h>
#include <cudaccl/tracker.h>

/* What is tracked. Values are those of the property `input`. */
typedef enum {
  GST_CCL_TRACK_INPUT_AUTO = 0,
  GST_CCL_TRACK_INPUT_COMPONENTS = 1,
  GST_CCL_TRACK_INPUT_DETECTIONS = 2,
  GST_CCL_TRACK_INPUT_BOTH = 3,
} GstCclTrackInput;

/* A number of frames that follows from a time and the frame rate. */
#define GST_CCL_TRACK_BY_TIME G_MAXUINT

typedef struct {
  GstCclTrackInput input;
  CclTrackerOptions options;      /* frame_rate: not a property; max_lost, static_frames: or
                                   * GST_CCL_TRACK_BY_TIME */
  gdouble lost_time, static_time; /* seconds; static_time 0: never */
  CclRegionsOptions region_options;
  gboolean tentative, lost; /* list these tracks, too */
  guint max_tracks, max_components;
  gboolean use_mask; /* the labeller is asked for samples of its foreground */

  /* Owned. NULL: not set. */
  gchar *labeller;                   /* name of the one whose components are tracked */
  gchar *regions, *regions_location; /* as text; path of a file */
  gchar *ground;                     /* as text */
} GstCclTrackSettings;

/* Sets every field to the default of its property. */
void gst_ccl_track_settings_init (GstCclTrackSettings *settings);

/* Frees the fields' memory. */
void gst_ccl_track_settings_clear (GstCclTrackSettings *settings);

/* What a change of a property makes ccltrack do, besides taking the value. */
enum {
  GST_CCL_TRACK_CHANGES_REGIONS = 1 << 0,
  GST_CCL_TRACK_CHANGES_GROUND = 1 << 1,
  GST_CCL_TRACK_READS_FILE = 1 << 2, /* of regions */
  GST_CCL_TRACK_ASKS_AGAIN = 1 << 3, /* the labellers upstream repeat their query */
};

/* Marks of a property: the bits above. */
guint gst_ccl_track_settings_marks (guint id);

/* Set and get the field of the property with that number. The property `stats`, which has no field,
 * is left to the caller: then gst_ccl_track_settings_get() returns FALSE. */
void gst_ccl_track_settings_set (GstCclTrackSettings *settings, guint id, const GValue *value);
gboolean gst_ccl_track_settings_get (const GstCclTrackSettings *settings, guint id, GValue *value);

/* Installs the properties. For class_init. */
void gst_ccl_track_settings_install (GObjectClass *object_class);

/* Sets the numbers of frames that follow from times. frame_rate: frames per second; 0: unknown. */
void gst_ccl_track_settings_count_frames (GstCclTrackSettings *settings, gdouble frame_rate);

/* Whether the metadata lists a track. */
gboolean gst_ccl_track_settings_lists (const GstCclTrackSettings *settings, const CclTrack *track);
