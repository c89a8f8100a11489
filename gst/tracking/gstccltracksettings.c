/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccltracksettings.h"

#include "shared/gstcclproperty.h"

#define LEAST_WAY 0.3       /* sizes */
#define LOST_TIME 2.0       /* seconds */
#define STATIC_TIME 2.0     /* seconds */
#define MIN_LOST 2          /* frames */
#define MAX_FRAMES 10000000 /* that a time is counted as */

static const GEnumValue anchor_values[] = {
    {CUDACCL_ANCHOR_FOOT, "The middle of the lower edge of the box", "foot"},
    {CUDACCL_ANCHOR_CENTER, "The middle of the box", "center"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (anchor_get_type, "GstCclAnchor", anchor_values)

static const GEnumValue input_values[] = {
    {GST_CCL_TRACK_INPUT_AUTO, "both where a labeller is upstream, else detections", "auto"},
    {GST_CCL_TRACK_INPUT_COMPONENTS, "Components; detections are not read", "components"},
    {GST_CCL_TRACK_INPUT_DETECTIONS, "Detections of other elements; components are not read",
        "detections"},
    {GST_CCL_TRACK_INPUT_BOTH,
        "Components, whose tracks have the classes of the detections that they fit", "both"},
    {0, NULL, NULL},
};
GST_CCL_DEFINE_ENUM_TYPE (input_get_type, "GstCclTrackInput", input_values)

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (GstCclTrackSettings, field)
#define PLAYING GST_CCL_CHANGES_IN_PLAYING, GST_CCL_ALL_CLASSES
#define CONTROLLED GST_CCL_CONTROLLABLE, GST_CCL_ALL_CLASSES

static const GstCclProperty properties[] = {
  {GST_CCL_KIND_ENUM, FIELD (input), "input", "Input",
      "What is tracked: the components of a labeller, or the detections of another element, which are "
      "regions of interest and object detections in analytics metadata",
      0, 0, input_get_type, PLAYING, GST_CCL_TRACK_ASKS_AGAIN},
  {GST_CCL_KIND_STRING, FIELD (labeller), "labeller", "Labeller",
      "Name of the element whose components are tracked, where several labellers are upstream "
      "(NULL = the nearest one)",
      0, 0, NULL, PLAYING, GST_CCL_TRACK_ASKS_AGAIN},
  {GST_CCL_KIND_BOOLEAN, FIELD (use_mask), "use-mask", "Use mask",
      "Whether the labeller upstream is asked for its foreground mask at a reduced size, which "
      "distinguishes people side by side and objects whose boxes overlap; switch it off to save time "
      "where objects are always apart",
      0, 0, NULL, PLAYING, GST_CCL_TRACK_ASKS_AGAIN},
  {GST_CCL_KIND_UINT, FIELD (options.confirm_frames), "confirm-frames", "Confirm frames",
      "The number of successive frames in which an object must be found before its track is confirmed; "
      "raise it where noise gives short tracks",
      1, 1000, NULL, CONTROLLED},
  {GST_CCL_KIND_DOUBLE, FIELD (options.least_way), "least-way", "Least way",
      "In sizes of the object (the square root of its box's area): a track must go at least so far "
      "before it is confirmed, and farther where tracks end again and again that go nowhere, such as "
      "leaves and flags; 0 = tracks that stay in their place are confirmed, too",
      0, 100, NULL, CONTROLLED},
  {GST_CCL_KIND_DOUBLE, FIELD (lost_time), "lost-time", "Lost time",
      "The time in seconds for which a track is kept while its object is not found, two frames at least; "
      "raise it where objects pass behind others for longer",
      0, 86400, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (options.max_lost), "max-lost", "Maximum lost",
      "lost-time as a number of frames, as in former releases; -1 (the default) = lost-time decides",
      0, GST_CCL_TRACK_BY_TIME, NULL, CONTROLLED},
  {GST_CCL_KIND_DOUBLE, FIELD (static_time), "static-time", "Static time",
      "The time in seconds without motion after which a track is static; 0 means never. Raise it where "
      "objects that only pause must not become static",
      0, 86400, NULL, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (options.static_frames), "static-frames", "Static frames",
      "static-time as a number of frames, as in former releases, and 0 means never; -1 (the default) = "
      "static-time decides",
      0, GST_CCL_TRACK_BY_TIME, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (tentative), "tentative", "Tentative",
      "Whether tracks that are not confirmed yet are listed; set it to see objects confirm-frames "
      "earlier, with more noise",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_BOOLEAN, FIELD (lost), "lost", "Lost",
      "Whether lost tracks are listed with their predicted boxes; set it where a box must be shown "
      "while its object is hidden for a short time",
      0, 0, NULL, CONTROLLED},
  {GST_CCL_KIND_STRING, FIELD (regions), "regions", "Regions",
      "Regions and lines as text: region NAME X,Y X,Y X,Y… [stay=SECONDS]; line NAME X,Y X,Y; both "
      "[faster-than=KMH] [slower-than=KMH]; numbers are pixels, or parts of the frame with %",
      0, 0, NULL, PLAYING, GST_CCL_TRACK_CHANGES_REGIONS},
  {GST_CCL_KIND_STRING, FIELD (regions_location), "regions-location", "Regions location",
      "Path of a file with regions and lines, in addition to those of the property regions: the same "
      "text, or JSON. It is read at the start and each time the property is set",
      0, 0, NULL, PLAYING, GST_CCL_TRACK_READS_FILE},
  {GST_CCL_KIND_ENUM, FIELD (region_options.anchor), "anchor", "Anchor",
      "The point of a box that regions and lines refer to; use center where the camera looks "
      "straight down, or where feet are hidden",
      0, 0, anchor_get_type, CONTROLLED},
  {GST_CCL_KIND_UINT, FIELD (region_options.settle_frames), "settle-frames", "Settle frames",
      "The number of successive frames on the other side of a border or line after which a "
      "track has entered, left or crossed; raise it where boxes tremble, lower it for earlier events",
      1, 1000, NULL, CONTROLLED},
  {GST_CCL_KIND_STRING, FIELD (ground), "ground", "Ground",
      "Four or more points of the ground as text: X,Y METRES,METRES; X,Y METRES,METRES; … X and Y are "
      "pixels, or parts of the frame with %. Set it to get positions in metres and speeds in km/h",
      0, 0, NULL, PLAYING, GST_CCL_TRACK_CHANGES_GROUND},
  {GST_CCL_KIND_UINT, FIELD (max_tracks), "max-tracks", "Maximum tracks",
      "The largest number of tracks at a time; while there are so many, no new one begins. Raise it "
      "where messages say so",
      1, 4096, NULL, GST_CCL_CHANGES_IN_READY, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_UINT, FIELD (max_components), "max-components", "Maximum components",
      "The largest number of rows of a frame's component table that are read; the components of "
      "others are not tracked",
      1, 4096, NULL, GST_CCL_CHANGES_IN_READY, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_STATS, 0, "stats", "Statistics",
      "Counts since the start: confirmed tracks, and the events of each region and line",
      0, 0, NULL, 0, GST_CCL_ALL_CLASSES},
};
/* clang-format on */

void
gst_ccl_track_settings_init (GstCclTrackSettings *settings)
{
  const CclTrackerPlan plan = CUDACCL_TRACKER_PLAN_DEFAULT;

  *settings = (GstCclTrackSettings){
      .options = CUDACCL_TRACKER_OPTIONS_DEFAULT,
      .region_options = CUDACCL_REGIONS_OPTIONS_DEFAULT,
      .max_tracks = plan.max_tracks,
      .max_components = plan.max_components,
      .use_mask = TRUE,
      .lost_time = LOST_TIME,
      .static_time = STATIC_TIME,
  };
  settings->options.max_lost = settings->options.static_frames = GST_CCL_TRACK_BY_TIME;
  settings->options.least_way = LEAST_WAY;
}

void
gst_ccl_track_settings_clear (GstCclTrackSettings *settings)
{
  gst_ccl_properties_clear (properties, G_N_ELEMENTS (properties), settings);
}

void
gst_ccl_track_settings_set (GstCclTrackSettings *settings, guint id, const GValue *value)
{
  gst_ccl_property_set (&properties[id - 1], settings, value);
}

guint
gst_ccl_track_settings_marks (guint id)
{
  return properties[id - 1].marks;
}

gboolean
gst_ccl_track_settings_get (const GstCclTrackSettings *settings, guint id, GValue *value)
{
  return gst_ccl_property_get (&properties[id - 1], settings, value);
}

void
gst_ccl_track_settings_install (GObjectClass *object_class)
{
  GstCclTrackSettings initial;

  gst_ccl_track_settings_init (&initial);
  gst_ccl_properties_install (
      object_class, properties, G_N_ELEMENTS (properties), GST_CCL_ALL_CLASSES, &initial);
}

static guint
frames_of (gdouble seconds, gdouble frame_rate, guint least)
{
  const gdouble rate = frame_rate > 0 ? frame_rate : CUDACCL_TRACKER_FRAME_RATE;

  return (guint)CLAMP (seconds * rate + 0.5, least, MAX_FRAMES);
}

void
gst_ccl_track_settings_count_frames (GstCclTrackSettings *settings, gdouble frame_rate)
{
  CclTrackerOptions *options = &settings->options;

  if (options->max_lost == GST_CCL_TRACK_BY_TIME)
    options->max_lost = frames_of (settings->lost_time, frame_rate, MIN_LOST);
  if (options->static_frames == GST_CCL_TRACK_BY_TIME)
    options->static_frames =
        settings->static_time > 0 ? frames_of (settings->static_time, frame_rate, 1) : 0;
}

gboolean
gst_ccl_track_settings_lists (const GstCclTrackSettings *settings, const CclTrack *track)
{
  switch (track->state) {
  case CUDACCL_TRACK_TENTATIVE:
    return settings->tentative;
  case CUDACCL_TRACK_LOST:
    return settings->lost;
  default:
    return TRUE;
  }
}
