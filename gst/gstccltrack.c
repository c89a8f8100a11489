/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccltrack
 * @title: ccltrack
 * @short_description: tracks components and gives them identities
 * @see_also: ccl, cudaccl, cclcombiner, ccljson, ccloverlay
 *
 * Tracks components from frame to frame by their motion. It belongs behind `ccl`, `cudaccl` or
 * `cclcombiner` and reads only the frame's #GstCclMeta, so frames may be in any memory. For 200
 * tracks it takes 0.1 to 0.2 ms per frame.
 *
 * It needs only the component table. Where the label map is attached, too (`attach-labels=true` on
 * the labeller), it also compares the pixels of the components of successive frames, which
 * distinguishes objects whose boxes overlap. That takes another 0.1 to 0.5 ms per frame, and a
 * label map in CUDA memory is downloaded. No label map is kept longer than its frame.
 *
 * It replaces the table of the #GstCclMeta by one with a row per track, in the order of their
 * identities. gst_ccl_meta_get_track() has the track of a row:
 *
 * - `id` is its identity, unique in the life of the element, from 1.
 * - The box is the estimated box of the whole object, also while the object shares a component
 *   with others, or is in several pieces.
 * - `label`, `area` and the centroid are those of the component that the track is in. Tracks that
 *   share a component have the same label, and gst_ccl_meta_get_ids() lists their identities.
 * - `state`, `age` and velocity are those of the track. Ages and velocities refer to frames of the
 *   negotiated frame rate, dropped frames included. Where the caps have no frame rate, a frame is
 *   the median of the latest 31 intervals between time stamps.
 * - `parent_id` is the older track that the track split from last: one with which it shared a
 *   component, or one whose component it began in.
 *
 * Confirmed and static tracks are listed; the properties `tentative` and `lost` add the others. The
 * row of a lost track has its predicted box, label 0 and area 0.
 *
 * Where the labeller attached analytics metadata (`meta=ccl+analytics`) and GStreamer is 1.26 or
 * later, each listed track is a #GstAnalyticsTrackingMtd related to the detections of its
 * components.
 *
 * When a track appears, vanishes, merges into a component with another one or splits from it, the
 * element posts an element message named `ccl-track` and pushes a custom downstream event of the
 * same name and content before the frame. Fields: `event` ("appeared", "vanished", "merged",
 * "split"), `id`, `other` (the other track, the parent of a track that appeared, or 0), and the
 * frame's `timestamp`, `stream-time` and `running-time`. `ccljson` writes the event as a line. A
 * flush removes all tracks without events.
 *
 * Regions are named polygons, and lines have a direction. The property `regions` has them as text,
 * the file of `regions-location` as JSON; both may change while playing. Items are separated by
 * semicolons or newlines:
 *
 * |[<!-- language="plain" -->
 * region NAME X,Y X,Y X,Y… [stay=SECONDS]
 * line NAME X,Y X,Y
 * ]|
 *
 * Coordinates are pixels, or parts of the frame where they end with `%`. The place of a track is
 * its foot point, the middle of its box's lower edge (property `anchor`). Further values of `event`
 * are "entered", "left" and "stayed", with the field `region`, and "crossed", with the fields
 * `line` and `direction`: "forward" from the left side of the line to its right side, seen from its
 * first point, or "backward". The property `stats` and the custom sticky event `ccl-regions` have
 * the counts, and `ccloverlay` draws them.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.avi ! decodebin ! videoconvert ! \
 *     ccl foreground=mog2 denoise=median-5x5 min-area=200 ! ccltrack ! ccljson ! fdsink
 * ]| This prints the moving objects of each frame, with their identities, as lines of JSON.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.avi ! decodebin ! videoconvert ! \
 *     ccl foreground=mog2 denoise=median-5x5 min-area=200 ! \
 *     ccltrack regions="region door 10%,20% 30%,20% 30%,90% stay=5; line gate 320,0 320,400" ! \
 *     ccloverlay ! videoconvert ! autovideosink
 * ]| This shows the number of tracks in the region, and how often the line was crossed in each
 * direction.
 *
 * Since: 0.2
 */
#include "gstccltrack.h"

#include <cudaccl/tracker.h>
#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <math.h>

#include "gstcclattach.h"
#include "gstcclerror.h"
#include "gstcclinterval.h"
#include "gstcclparents.h"
#include "gstcclregionlist.h"
#include "gstcclregions.h"

#define CAN_RELATE_TRACKS (HAVE_ANALYTICS && GST_CHECK_VERSION (1, 26, 0))
#if CAN_RELATE_TRACKS
#include <gst/analytics/analytics.h>
#endif

GST_DEBUG_CATEGORY_STATIC (gst_ccl_track_debug);
#define GST_CAT_DEFAULT gst_ccl_track_debug

enum {
  PROP_0,
  PROP_LABELLER,
  PROP_CONFIRM_FRAMES,
  PROP_MAX_LOST,
  PROP_STATIC_FRAMES,
  PROP_TENTATIVE,
  PROP_LOST,
  PROP_REGIONS,
  PROP_REGIONS_LOCATION,
  PROP_ANCHOR,
  PROP_SETTLE_FRAMES,
  PROP_STATS,
};

#define DEFAULT_LABELLER NULL
#define DEFAULT_CONFIRM_FRAMES 3
#define DEFAULT_MAX_LOST 15
#define DEFAULT_STATIC_FRAMES 50
#define DEFAULT_TENTATIVE FALSE
#define DEFAULT_LOST FALSE
#define DEFAULT_REGIONS NULL
#define DEFAULT_REGIONS_LOCATION NULL
#define DEFAULT_ANCHOR CCL_ANCHOR_FOOT
#define DEFAULT_SETTLE_FRAMES 3

#define MAX_TRACKS 1024
#define MAX_COMPONENTS 4096
#define MAX_IDS (MAX_TRACKS + MAX_COMPONENTS) /* no frame has more memberships */
#define MIN_FRAME_RATE 0.01
#define MAX_FRAME_RATE 10000.0
#define MAX_ELAPSED 1000.0 /* frames */

typedef struct {
  CclTrackerOptions options;
  CclRegionsOptions region_options;
  gboolean tentative, lost;
} GstCclTrackSettings;

struct _GstCclTrack {
  GstBaseTransform parent;

  /* Guarded by the object lock. */
  GstCclTrackSettings settings;
  gchar *labeller;
  gchar *regions, *regions_location;
  gboolean regions_changed; /* since they were loaded */
  guint64 n_confirmed;      /* tracks since the start */
  GstStructure *region_counts;

  /* Of the streaming thread. */
  CclTracker *tracker;
  guint frame_width, frame_height; /* that the tracker was planned for */
  guint64 id_offset;               /* added to the tracker's identities: those of former trackers */
  guint64 last_id;                 /* the greatest identity so far */
  gdouble frame_rate;              /* of the caps, or CCL_TRACKER_FRAME_RATE */
  gboolean is_constant_rate;       /* the caps have a frame rate */
  GstCclInterval interval;         /* used unless they have */
  GstClockTime last_time;          /* running time of the last frame */
  GstCclRegionStage region_stage;
  gboolean warned; /* that a frame has no GstCclMeta */
  CclComponent *components;
  GstCclComponent *rows;
  GstCclTrackInfo *infos; /* of the tracks in rows */
  guint64 *ids;
  guint *first_id;   /* of each component's identities in ids, and the end */
  guint *detections; /* analytics identifiers of the first n_detections components */
  guint n_detections;
  GstCclParents parents;
};

G_DEFINE_TYPE_WITH_CODE (GstCclTrack, gst_ccl_track, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_track_debug, "ccltrack", 0, "tracking of components"))
GST_ELEMENT_REGISTER_DEFINE (ccltrack, "ccltrack", GST_RANK_NONE, GST_TYPE_CCL_TRACK)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GType
anchor_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
      {CCL_ANCHOR_FOOT, "The middle of the lower edge of the box", "foot"},
      {CCL_ANCHOR_CENTER, "The middle of the box", "center"},
      {0, NULL, NULL},
  };

  if (g_once_init_enter (&type)) {
    GType registered = g_enum_register_static ("GstCclAnchor", values);
    g_once_init_leave (&type, registered);
  }
  return type;
}

static void
free_tracker (GstCclTrack *self)
{
  ccl_tracker_free (&self->tracker);
  self->id_offset = self->last_id;
  gst_ccl_parents_reset (&self->parents);
}

/* Makes a tracker for the frame size, or keeps the present one. */
static gboolean
ensure_tracker (GstCclTrack *self, guint frame_width, guint frame_height)
{
  const CclTrackerPlan plan = {
      .width = frame_width,
      .height = frame_height,
      .max_tracks = MAX_TRACKS,
      .max_components = MAX_COMPONENTS,
  };
  CclError error;

  if (self->tracker && self->frame_width == frame_width && self->frame_height == frame_height)
    return TRUE;
  free_tracker (self);
  self->tracker = ccl_tracker_new (&plan, &error);
  if (!self->tracker) {
    gst_ccl_error_post (GST_ELEMENT_CAST (self), &error);
    return FALSE;
  }
  self->frame_width = frame_width;
  self->frame_height = frame_height;
  GST_DEBUG_OBJECT (self, "tracking components of %u×%u frames", frame_width, frame_height);
  return TRUE;
}

/* The frames per second: of the caps, or estimated from the intervals between frames. */
static gdouble
estimate_frame_rate (GstCclTrack *self, GstClockTime elapsed)
{
  if (self->is_constant_rate)
    return self->frame_rate;
  gst_ccl_interval_add (&self->interval, elapsed);
  return CLAMP ((gdouble)GST_SECOND / (gdouble)gst_ccl_interval_estimate (&self->interval),
      MIN_FRAME_RATE, MAX_FRAME_RATE);
}

/* The time since the frame before, in nanoseconds and in frames: more than one after dropped frames
 * and gaps. Time stamps of a constant frame rate jitter, so there it is a whole number of frames.
 */
static gdouble
elapsed_frames (GstCclTrack *self, GstClockTime time, GstClockTime *elapsed_time)
{
  const GstClockTime last = self->last_time;
  gdouble elapsed;

  self->last_time = time;
  *elapsed_time = (GstClockTime)(GST_SECOND / self->frame_rate);
  if (!GST_CLOCK_TIME_IS_VALID (time) || !GST_CLOCK_TIME_IS_VALID (last) || time <= last)
    return 1;
  *elapsed_time = time - last;
  self->frame_rate = estimate_frame_rate (self, *elapsed_time);
  elapsed = (gdouble)*elapsed_time / GST_SECOND * self->frame_rate;
  if (self->is_constant_rate)
    elapsed = MAX (1, round (elapsed));
  return MIN (elapsed, MAX_ELAPSED);
}

/* The first rows of the metadata as the tracker takes them. */
static CclTable
read_table (GstCclTrack *self, const GstCclMeta *meta)
{
  gsize stride;
  guint n_rows;
  gconstpointer rows = gst_ccl_meta_get_rows (meta, &n_rows, &stride);

  n_rows = MIN (n_rows, MAX_COMPONENTS);
  for (guint i = 0; i < n_rows; i++) {
    const GstCclComponent *row = GST_CCL_ROW (rows, stride, i);
    self->components[i] = (CclComponent){row->label, row->area, row->x, row->y, row->width,
        row->height, row->centroid_x, row->centroid_y};
  }
  return (CclTable){gst_ccl_meta_get_n_components (meta), n_rows, self->components};
}

/* Maps the label map, where one is attached that the tracker can use. An application may have
 * attached rows in another order, and another tracker's rows are in the order of identities. */
static gboolean
map_labels (const GstCclMeta *meta, const CclTable *table, GstCclPixels *pixels)
{
  for (guint row = 1; row < table->n_rows; row++)
    if (table->rows[row].label <= table->rows[row - 1].label)
      return FALSE;
  if (!gst_ccl_meta_map_labels (meta, pixels))
    return FALSE;
  if (GPOINTER_TO_SIZE (pixels->data) % 4 == 0 && pixels->stride % 4 == 0)
    return TRUE;
  gst_ccl_pixels_unmap (pixels);
  return FALSE;
}

static CclStatus
run_tracker (GstCclTrack *self, const GstCclMeta *meta, const CclTable *table, gdouble elapsed,
    const CclTrackerOptions *options, CclTracks *tracks, CclError *error)
{
  GstCclPixels pixels;
  CclStatus status;

  if (!map_labels (meta, table, &pixels))
    return ccl_tracker_run (self->tracker, table, NULL, elapsed, options, tracks, error);
  status = ccl_tracker_run (self->tracker, table,
      &(CclLabels){(gpointer)pixels.data, pixels.stride}, elapsed, options, tracks, error);
  gst_ccl_pixels_unmap (&pixels);
  return status;
}

static gboolean
is_listed (const GstCclTrackSettings *settings, const CclTrack *track)
{
  switch (track->state) {
  case CCL_TRACK_TENTATIVE:
    return settings->tentative;
  case CCL_TRACK_LOST:
    return settings->lost;
  default:
    return TRUE;
  }
}

static const GstCclTrackState states[] = {
    [CCL_TRACK_TENTATIVE] = GST_CCL_TRACK_STATE_TENTATIVE,
    [CCL_TRACK_CONFIRMED] = GST_CCL_TRACK_STATE_CONFIRMED,
    [CCL_TRACK_STATIC] = GST_CCL_TRACK_STATE_STATIC,
    [CCL_TRACK_LOST] = GST_CCL_TRACK_STATE_LOST,
};

/* The whole pixels that an estimated interval covers, inside the frame, at least one. */
static void
clip_interval (gdouble begin, gdouble extent, guint size, guint32 *start, guint32 *length)
{
  const gdouble first = CLAMP (floor (begin + 0.5), 0, (gdouble)size - 1);
  const gdouble end = CLAMP (floor (begin + extent + 0.5), first + 1, (gdouble)size);

  *start = (guint32)first;
  *length = (guint32)(end - first);
}

/* The row of a track. */
static GstCclComponent
make_row (const GstCclTrack *self, const CclTable *table, const CclTrack *track, guint row)
{
  GstCclComponent c = {.label = track->label};

  clip_interval (track->x, track->width, self->frame_width, &c.x, &c.width);
  clip_interval (track->y, track->height, self->frame_height, &c.y, &c.height);
  if (row < table->n_rows) {
    c.area = table->rows[row].area;
    c.centroid_x = table->rows[row].centroid_x;
    c.centroid_y = table->rows[row].centroid_y;
  } else {
    c.centroid_x = track->x + track->width / 2 - 0.5;
    c.centroid_y = track->y + track->height / 2 - 0.5;
  }
  return c;
}

/* The row of the component that a track is in, by its label; n_rows if it is in none. */
static guint
find_row (const CclTable *table, guint32 label)
{
  guint low = 0, high = table->n_rows;

  while (low < high) { /* rows are in label order */
    const guint middle = (low + high) / 2;
    if (table->rows[middle].label < label)
      low = middle + 1;
    else
      high = middle;
  }
  return low < table->n_rows && table->rows[low].label == label ? low : table->n_rows;
}

/* The track, with the identities of the component in that row. */
static GstCclTrackInfo
make_info (const GstCclTrack *self, const CclTable *table, const CclTrack *track, guint row)
{
  const guint64 parent = gst_ccl_parents_get (&self->parents, track->id);
  GstCclTrackInfo info = {
      .id = self->id_offset + track->id,
      .velocity_x = (gfloat)track->velocity_x,
      .velocity_y = (gfloat)track->velocity_y,
      .age = (guint32)MIN (track->age, G_MAXUINT32),
      .state = states[track->state],
  };

  if (parent > 0)
    info.parent_id = self->id_offset + parent;
  if (row < table->n_rows) {
    info.first_id = self->first_id[row];
    info.n_ids = self->first_id[row + 1] - self->first_id[row];
  }
  return info;
}

/* Fills ids with the listed tracks of each component, and first_id with where they begin. */
static void
collect_ids (GstCclTrack *self, const CclTable *table, const CclTracks *tracks,
    const GstCclTrackSettings *settings)
{
  guint n_ids = 0, m = 0;

  for (guint row = 0; row < table->n_rows; row++) {
    self->first_id[row] = n_ids;
    for (; m < tracks->n_members && tracks->members[m].row == row; m++) {
      const CclTrack *track = &tracks->tracks[tracks->members[m].track];
      if (is_listed (settings, track))
        self->ids[n_ids++] = self->id_offset + track->id;
    }
  }
  self->first_id[table->n_rows] = n_ids;
}

/* Replaces the table of the metadata by one row for each listed track. */
static void
write_table (GstCclTrack *self, GstCclMeta *meta, const CclTable *table, const CclTracks *tracks,
    const GstCclTrackSettings *settings)
{
  guint n_rows = 0;

  collect_ids (self, table, tracks, settings);
  for (guint i = 0; i < tracks->n_tracks; i++) {
    const CclTrack *track = &tracks->tracks[i];
    const guint row = find_row (table, track->label);

    if (!is_listed (settings, track))
      continue;
    self->rows[n_rows] = make_row (self, table, track, row);
    self->infos[n_rows] = make_info (self, table, track, row);
    n_rows++;
  }
  gst_ccl_meta_set_table (
      meta, n_rows, self->rows, n_rows, self->infos, self->ids, self->first_id[table->n_rows]);
}

#if CAN_RELATE_TRACKS
/* Finds the detection of each component. The labeller added them in the order of its table. */
static void
find_detections (GstCclTrack *self, GstAnalyticsRelationMeta *relations, const CclTable *table)
{
  GstAnalyticsODMtd detection;
  gpointer state = NULL;
  guint row = 0;

  while (row < table->n_rows &&
         gst_analytics_relation_meta_iterate (relations, &state,
             gst_analytics_od_mtd_get_mtd_type (), (GstAnalyticsMtd *)&detection)) {
    const CclComponent *c = &table->rows[row];
    gint x, y, width, height;

    if (gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, NULL) &&
        x == (gint)c->x && y == (gint)c->y && width == (gint)c->width && height == (gint)c->height)
      self->detections[row++] = detection.id;
  }
  self->n_detections = row;
}

/* Adds a GstAnalyticsTrackingMtd for each listed track, and relates the detections of its
 * components to it. Times are running times, as those of ioutracker. */
static void
relate_tracks (GstCclTrack *self, GstBuffer *frame, const CclTable *table, const CclTracks *tracks,
    const GstCclTrackSettings *settings)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (frame);
  const GstClockTime now = self->last_time;
  const gdouble duration = GST_SECOND / self->frame_rate;

  if (!relations || !GST_CLOCK_TIME_IS_VALID (now))
    return;
  find_detections (self, relations, table);
  for (guint i = 0; i < tracks->n_tracks; i++) {
    const CclTrack *track = &tracks->tracks[i];
    const GstClockTime age = (GstClockTime)((gdouble)track->age * duration);
    const GstClockTime lost = (GstClockTime)((gdouble)track->lost * duration);
    GstAnalyticsTrackingMtd tracking;

    if (!is_listed (settings, track) ||
        !gst_analytics_relation_meta_add_tracking_mtd (
            relations, self->id_offset + track->id, now - MIN (age, now), &tracking))
      continue;
    gst_analytics_tracking_mtd_update_last_seen (&tracking, now - MIN (lost, now));
    if (track->state == CCL_TRACK_LOST)
      gst_analytics_tracking_mtd_set_lost (&tracking);
    for (guint m = 0; m < tracks->n_members; m++)
      if (tracks->members[m].track == i && tracks->members[m].row < self->n_detections)
        gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO,
            self->detections[tracks->members[m].row], tracking.id);
  }
}
#endif

/* Posts a message and pushes an event of the same content. Takes the structure. */
static void
report (GstCclTrack *self, GstStructure *structure)
{
  GST_LOG_OBJECT (self, "%" GST_PTR_FORMAT, structure);
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self), gst_structure_copy (structure)));
  gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, structure));
}

static GstStructure *
new_event (GstCclTrack *self, GstBuffer *frame, const gchar *event, guint64 id, guint64 other)
{
  GstStructure *structure = gst_ccl_moment_structure (
      GST_CCL_TRACK_EVENT, GST_BUFFER_PTS (frame), &GST_BASE_TRANSFORM_CAST (self)->segment);

  gst_structure_set (structure, "event", G_TYPE_STRING, event, "id", G_TYPE_UINT64,
      self->id_offset + id, "other", G_TYPE_UINT64, other ? self->id_offset + other : 0, NULL);
  return structure;
}

static void
report_events (GstCclTrack *self, const CclTracks *tracks, GstBuffer *frame)
{
  static const gchar *const names[] = {
      [CCL_TRACK_APPEARED] = "appeared",
      [CCL_TRACK_VANISHED] = "vanished",
      [CCL_TRACK_MERGED] = "merged",
      [CCL_TRACK_SPLIT] = "split",
  };
  guint n_confirmed = 0;

  for (guint i = 0; i < tracks->n_events; i++) {
    const CclTrackEvent *event = &tracks->events[i];

    const gboolean appeared = event->kind == CCL_TRACK_APPEARED;
    const guint64 other = appeared ? gst_ccl_parents_get (&self->parents, event->id) : event->other;

    report (self, new_event (self, frame, names[event->kind], event->id, other));
    n_confirmed += appeared;
  }
  GST_OBJECT_LOCK (self);
  self->n_confirmed += n_confirmed;
  GST_OBJECT_UNLOCK (self);
}

static void
report_region_events (GstCclTrack *self, const CclRegionsResult *result, GstBuffer *frame)
{
  static const gchar *const names[] = {
      [CCL_REGION_ENTERED] = "entered",
      [CCL_REGION_LEFT] = "left",
      [CCL_REGION_STAYED] = "stayed",
      [CCL_REGION_FORWARD] = "crossed",
      [CCL_REGION_BACKWARD] = "crossed",
  };

  for (guint i = 0; i < result->n_events; i++) {
    const CclRegionEvent *event = &result->events[i];
    const CclRegion *region = gst_ccl_region_stage_get (&self->region_stage, event->region);
    GstStructure *structure = new_event (self, frame, names[event->kind], event->id, 0);

    if (region->kind == CCL_REGION_LINE)
      gst_structure_set (structure, "line", G_TYPE_STRING, region->name, "direction", G_TYPE_STRING,
          event->kind == CCL_REGION_FORWARD ? "forward" : "backward", NULL);
    else
      gst_structure_set (structure, "region", G_TYPE_STRING, region->name, NULL);
    report (self, structure);
  }
}

/* Tells the elements downstream, and the readers of `stats`, about new regions and counts. */
static void
announce_regions (GstCclTrack *self, const CclRegionsResult *result)
{
  GstStructure *structure;

  if (!self->region_stage.changed)
    return;
  self->region_stage.changed = FALSE;
  structure = gst_structure_new_empty (GST_CCL_REGIONS_EVENT);
  gst_ccl_region_list_describe (
      self->region_stage.list, self->frame_width, self->frame_height, result->counts, structure);
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->region_counts, gst_structure_free);
  self->region_counts = gst_structure_copy (structure);
  GST_OBJECT_UNLOCK (self);
  gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, structure));
}

/* Loads the regions if they changed. Returns FALSE after an element error. */
static gboolean
load_regions (GstCclTrack *self)
{
  gchar *text = NULL, *path = NULL;
  GError *error = NULL;
  gboolean changed, ok = TRUE;

  GST_OBJECT_LOCK (self);
  changed = self->regions_changed;
  self->regions_changed = FALSE;
  if (changed) {
    text = g_strdup (self->regions);
    path = g_strdup (self->regions_location);
  }
  GST_OBJECT_UNLOCK (self);
  if (changed && !gst_ccl_region_stage_load (&self->region_stage, text, path, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    g_clear_error (&error);
    ok = FALSE;
  }
  g_free (text);
  g_free (path);
  return ok;
}

static gboolean
is_empty_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

static GstClockTime
running_time (GstBaseTransform *trans, GstBuffer *frame)
{
  if (trans->segment.format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
}

static GstFlowReturn
gst_ccl_track_transform_ip (GstBaseTransform *trans, GstBuffer *frame)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);
  GstCclTrackSettings settings;
  CclRegionsResult regions;
  GstClockTime elapsed_time;
  GstCclMeta *meta;
  CclTracks tracks;
  CclError error;

  if (is_empty_gap (frame))
    return GST_FLOW_OK;
  GST_OBJECT_LOCK (self);
  settings = self->settings;
  meta = gst_buffer_get_ccl_meta_by_name (frame, self->labeller);
  GST_OBJECT_UNLOCK (self);
  if (!meta) {
    gst_ccl_error_warn_of_missing_meta (GST_ELEMENT_CAST (self), &self->warned);
    return GST_FLOW_OK;
  }
  if (!load_regions (self) || !ensure_tracker (self, gst_ccl_meta_get_frame_width (meta),
                                  gst_ccl_meta_get_frame_height (meta)))
    return GST_FLOW_ERROR;

  const CclTable table = read_table (self, meta);
  const gdouble elapsed = elapsed_frames (self, running_time (trans, frame), &elapsed_time);
  settings.options.frame_rate = self->frame_rate;
  if (run_tracker (self, meta, &table, elapsed, &settings.options, &tracks, &error) != CCL_OK ||
      !gst_ccl_region_stage_run (&self->region_stage, self->frame_width, self->frame_height,
          MAX_TRACKS, &tracks, elapsed_time, &settings.region_options, &regions, &error)) {
    gst_ccl_error_post (GST_ELEMENT_CAST (self), &error);
    return GST_FLOW_ERROR;
  }
  if (tracks.n_tracks > 0)
    self->last_id = MAX (self->last_id, self->id_offset + tracks.tracks[tracks.n_tracks - 1].id);
#if CAN_RELATE_TRACKS
  relate_tracks (self, frame, &table, &tracks, &settings);
#endif
  gst_ccl_parents_update (&self->parents, &tracks, &table);
  write_table (self, meta, &table, &tracks, &settings);
  report_events (self, &tracks, frame);
  report_region_events (self, &regions, frame);
  announce_regions (self, &regions);
  return GST_FLOW_OK;
}

static void
gst_ccl_track_before_transform (GstBaseTransform *trans, GstBuffer *frame)
{
  const GstClockTime time =
      gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (trans), time);
}

static gboolean
gst_ccl_track_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);
  const GstStructure *structure = gst_caps_get_structure (incaps, 0);
  gint numerator = 0, denominator = 1;

  gst_structure_get_fraction (structure, "framerate", &numerator, &denominator);
  self->is_constant_rate = numerator > 0;
  self->interval = (GstCclInterval){0};
  self->frame_rate = self->is_constant_rate
                         ? CLAMP ((gdouble)numerator / denominator, MIN_FRAME_RATE, MAX_FRAME_RATE)
                         : CCL_TRACKER_FRAME_RATE;
  return TRUE;
}

static gboolean
gst_ccl_track_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    ccl_tracker_reset (self->tracker);
    gst_ccl_region_stage_reset (&self->region_stage);
    gst_ccl_parents_reset (&self->parents);
    self->last_time = GST_CLOCK_TIME_NONE;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_track_parent_class)->sink_event (trans, event);
}

static void
free_arrays (GstCclTrack *self)
{
  g_clear_pointer (&self->components, g_free);
  g_clear_pointer (&self->rows, g_free);
  g_clear_pointer (&self->infos, g_free);
  g_clear_pointer (&self->ids, g_free);
  g_clear_pointer (&self->first_id, g_free);
  g_clear_pointer (&self->detections, g_free);
  gst_ccl_parents_clear (&self->parents);
}

static gboolean
gst_ccl_track_start (GstBaseTransform *trans)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);

  self->components = g_new (CclComponent, MAX_COMPONENTS);
  self->rows = g_new (GstCclComponent, MAX_TRACKS);
  self->infos = g_new (GstCclTrackInfo, MAX_TRACKS);
  self->ids = g_new (guint64, MAX_IDS);
  self->first_id = g_new (guint, MAX_COMPONENTS + 1);
  self->detections = g_new (guint, MAX_COMPONENTS);
  gst_ccl_parents_init (&self->parents, MAX_TRACKS);
  self->last_time = GST_CLOCK_TIME_NONE;
  self->warned = FALSE;
  GST_OBJECT_LOCK (self);
  self->n_confirmed = 0;
  g_clear_pointer (&self->region_counts, gst_structure_free);
  self->regions_changed = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (load_regions (self))
    return TRUE;
  free_arrays (self);
  return FALSE;
}

static gboolean
gst_ccl_track_stop (GstBaseTransform *trans)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);

  free_tracker (self);
  gst_ccl_region_stage_close (&self->region_stage);
  free_arrays (self);
  return TRUE;
}

static void
gst_ccl_track_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclTrack *self = GST_CCL_TRACK (object);

  GST_OBJECT_LOCK (object);
  switch (id) {
  case PROP_LABELLER:
    g_free (self->labeller);
    self->labeller = g_value_dup_string (value);
    break;
  case PROP_CONFIRM_FRAMES:
    self->settings.options.confirm_frames = g_value_get_uint (value);
    break;
  case PROP_MAX_LOST:
    self->settings.options.max_lost = g_value_get_uint (value);
    break;
  case PROP_STATIC_FRAMES:
    self->settings.options.static_frames = g_value_get_uint (value);
    break;
  case PROP_TENTATIVE:
    self->settings.tentative = g_value_get_boolean (value);
    break;
  case PROP_LOST:
    self->settings.lost = g_value_get_boolean (value);
    break;
  case PROP_REGIONS:
    g_free (self->regions);
    self->regions = g_value_dup_string (value);
    self->regions_changed = TRUE;
    break;
  case PROP_REGIONS_LOCATION:
    g_free (self->regions_location);
    self->regions_location = g_value_dup_string (value);
    self->regions_changed = TRUE;
    break;
  case PROP_ANCHOR:
    self->settings.region_options.anchor = (CclAnchor)g_value_get_enum (value);
    break;
  case PROP_SETTLE_FRAMES:
    self->settings.region_options.settle_frames = g_value_get_uint (value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (object);
}

/* The object lock is held. */
static GstStructure *
new_stats (const GstCclTrack *self)
{
  GstStructure *stats =
      gst_structure_new ("stats", "tracks", G_TYPE_UINT64, self->n_confirmed, NULL);
  GValue none = G_VALUE_INIT;

  if (self->region_counts) {
    gst_structure_set_value (
        stats, "regions", gst_structure_get_value (self->region_counts, "regions"));
  } else {
    gst_value_array_init (&none, 0);
    gst_structure_take_value (stats, "regions", &none);
  }
  return stats;
}

static void
gst_ccl_track_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCclTrack *self = GST_CCL_TRACK (object);

  GST_OBJECT_LOCK (object);
  switch (id) {
  case PROP_LABELLER:
    g_value_set_string (value, self->labeller);
    break;
  case PROP_CONFIRM_FRAMES:
    g_value_set_uint (value, self->settings.options.confirm_frames);
    break;
  case PROP_MAX_LOST:
    g_value_set_uint (value, self->settings.options.max_lost);
    break;
  case PROP_STATIC_FRAMES:
    g_value_set_uint (value, self->settings.options.static_frames);
    break;
  case PROP_TENTATIVE:
    g_value_set_boolean (value, self->settings.tentative);
    break;
  case PROP_LOST:
    g_value_set_boolean (value, self->settings.lost);
    break;
  case PROP_REGIONS:
    g_value_set_string (value, self->regions);
    break;
  case PROP_REGIONS_LOCATION:
    g_value_set_string (value, self->regions_location);
    break;
  case PROP_ANCHOR:
    g_value_set_enum (value, self->settings.region_options.anchor);
    break;
  case PROP_SETTLE_FRAMES:
    g_value_set_uint (value, self->settings.region_options.settle_frames);
    break;
  case PROP_STATS:
    g_value_take_boxed (value, new_stats (self));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    break;
  }
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_track_finalize (GObject *object)
{
  GstCclTrack *self = GST_CCL_TRACK (object);

  g_free (self->labeller);
  g_free (self->regions);
  g_free (self->regions_location);
  g_clear_pointer (&self->region_counts, gst_structure_free);
  G_OBJECT_CLASS (gst_ccl_track_parent_class)->finalize (object);
}

static void
install_region_properties (GObjectClass *object_class, GParamFlags flags)
{
  g_object_class_install_property (object_class, PROP_REGIONS,
      g_param_spec_string ("regions", "Regions",
          "Regions and lines as text: region NAME X,Y X,Y X,Y… [stay=SECONDS]; line NAME X,Y X,Y; "
          "numbers are pixels, or parts of the frame with %",
          DEFAULT_REGIONS, flags));
  g_object_class_install_property (object_class, PROP_REGIONS_LOCATION,
      g_param_spec_string ("regions-location", "Regions location",
          "Path of a JSON file with more regions and lines. It is read at the start and each time "
          "the property is set",
          DEFAULT_REGIONS_LOCATION, flags));
  g_object_class_install_property (object_class, PROP_ANCHOR,
      g_param_spec_enum ("anchor", "Anchor", "The point of a box that regions and lines refer to",
          anchor_get_type (), DEFAULT_ANCHOR, flags | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_SETTLE_FRAMES,
      g_param_spec_uint ("settle-frames", "Settle frames",
          "The number of successive frames on the other side of a border or line after which a "
          "track has entered, left or crossed",
          1, 1000, DEFAULT_SETTLE_FRAMES, flags | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counts since the start: confirmed tracks, and the events of each region and line",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api (anchor_get_type (), 0);
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const GParamFlags controlled = flags | GST_PARAM_CONTROLLABLE;

  g_object_class_install_property (object_class, PROP_LABELLER,
      g_param_spec_string ("labeller", "Labeller",
          "Name of the element whose components are tracked, where several labellers are upstream "
          "(NULL = the nearest one)",
          DEFAULT_LABELLER, flags));
  g_object_class_install_property (object_class, PROP_CONFIRM_FRAMES,
      g_param_spec_uint ("confirm-frames", "Confirm frames",
          "Successive frames in which an object is found until its track is confirmed", 1, 1000,
          DEFAULT_CONFIRM_FRAMES, controlled));
  g_object_class_install_property (object_class, PROP_MAX_LOST,
      g_param_spec_uint ("max-lost", "Maximum lost",
          "Frames for which a track is kept while its object is not found", 0, 100000,
          DEFAULT_MAX_LOST, controlled));
  g_object_class_install_property (object_class, PROP_STATIC_FRAMES,
      g_param_spec_uint ("static-frames", "Static frames",
          "Frames without motion after which a track is static; 0 means never", 0, 100000000,
          DEFAULT_STATIC_FRAMES, controlled));
  g_object_class_install_property (object_class, PROP_TENTATIVE,
      g_param_spec_boolean ("tentative", "Tentative", "List tracks that are not confirmed yet",
          DEFAULT_TENTATIVE, controlled));
  g_object_class_install_property (object_class, PROP_LOST,
      g_param_spec_boolean ("lost", "Lost", "List lost tracks, with their predicted boxes",
          DEFAULT_LOST, controlled));
  install_region_properties (object_class, flags);
}

static void
gst_ccl_track_class_init (GstCclTrackClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_ccl_track_set_property;
  object_class->get_property = gst_ccl_track_get_property;
  object_class->finalize = gst_ccl_track_finalize;
  install_properties (object_class);

  gst_element_class_set_static_metadata (element_class, "Tracker of components",
      "Filter/Analyzer/Video/Metadata",
      "Gives the connected components of successive frames identities", GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_track_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_track_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_track_set_caps);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_track_sink_event);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_ccl_track_before_transform);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_track_transform_ip);
}

static void
gst_ccl_track_init (GstCclTrack *self)
{
  self->settings = (GstCclTrackSettings){
      .options =
          {
              .confirm_frames = DEFAULT_CONFIRM_FRAMES,
              .max_lost = DEFAULT_MAX_LOST,
              .static_frames = DEFAULT_STATIC_FRAMES,
          },
      .region_options = {.anchor = DEFAULT_ANCHOR, .settle_frames = DEFAULT_SETTLE_FRAMES},
      .tentative = DEFAULT_TENTATIVE,
      .lost = DEFAULT_LOST,
  };
  self->frame_rate = CCL_TRACKER_FRAME_RATE;
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
