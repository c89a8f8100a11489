/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccltrack
 * @title: ccltrack
 * @short_description: tracks components and detections and gives them identities
 * @see_also: ccl, cudaccl, cclcombiner, ccljson, ccloverlay
 *
 * Tracks components from frame to frame by their motion and their colours. It belongs behind `ccl`,
 * `cudaccl` or `cclcombiner` and reads only the metadata of frames, so they may be in any memory.
 * For 200 tracks it takes 0.1 to 0.2 ms per frame.
 *
 * Beside the component table it asks the labeller upstream for its foreground mask at a reduced
 * size, whatever elements are in between. With it, it divides components of several objects side by
 * side, and compares the pixels of the components of successive frames, which distinguishes objects
 * whose boxes overlap. Where the labeller has a background model, some rows of the picture come
 * with the mask, and the colours of objects by height distinguish those that meet or come back.
 * That takes up to 0.15 ms for a frame of 1920×1080; `use-mask=false` saves it. Where no mask
 * arrives, behind `cclcombiner` or another process, a label map that is attached to the frames
 * (`attach-labels=true` on the labeller) serves the same purpose.
 *
 * It replaces the table of the #GstCclMeta by one with a row per track, in the order of their
 * identities. gst_ccl_meta_get_track() has the track of a row:
 *
 * - `id` is its identity, unique in the life of the element, from 1.
 * - The box is the estimated box of the whole object, also while the object shares a component
 *   with others, or is in several fragments.
 * - `label`, `area` and the centroid are those of the component that the track is in. Tracks that
 *   share a component have the same label, and gst_ccl_meta_get_ids() lists their identities.
 * - `state`, `age` and velocity are those of the track. Ages and velocities refer to frames of the
 *   negotiated frame rate, dropped frames included. Where the caps have no frame rate, a frame is
 *   the median of the latest 31 intervals between time stamps.
 * - `parent_id` is the older track that the track split from last: one with which it shared a
 *   component, or one whose component it began in.
 *
 * With regions or lines, gst_ccl_meta_get_region_state() tells which tracks are inside which
 * region, which cross a line in this frame, and the counts of each.
 *
 * Confirmed and static tracks are listed; the properties `tentative` and `lost` add the others. The
 * row of a lost track has its predicted box, label 0 and area 0.
 *
 * Regions of interest and object detections that the labeller attached (`meta=ccl+roi+analytics`)
 * are replaced, too, by one for each listed track, with the track's box. A region of interest has
 * the identity in the parameter `object_id`, as the int `id`, which trackers of DL Streamer set,
 * too, and as the uint64 `track`. With GStreamer 1.26 or later, a detection is related to a
 * #GstAnalyticsTrackingMtd of that identity; a lost track has the latter alone. Where the analytics
 * metadata has items of other elements, the detections of components stay beside those of tracks.
 *
 * It also tracks the detections of other elements, such as neural detectors: regions of interest
 * (#GstVideoRegionOfInterestMeta) and, with GStreamer 1.24 or later, object detections in analytics
 * metadata. The property `input` says what is tracked:
 *
 * - `components`: those of the labeller; detections are not read.
 * - `detections`: those of others. Each is a whole object, also where boxes overlap. They stay in
 *   the frame with their class and confidence; the identity is added to them, as the parameter
 *   `object_id` or as a related #GstAnalyticsTrackingMtd. The rows of tracks are in a #GstCclMeta
 *   whose labeller has the name of this element; `label` is the number of the detection.
 * - `both`: components are tracked, and have the class of the detection that their box fits. The
 *   detector may run in every Nth frame only; the class stays in between.
 * - `auto`, the default: `both` behind a labeller, else `detections`.
 *
 * gst_ccl_meta_get_classes() has class and confidence of each row. The class of a track is the one
 * that most of its detections had, weighted with their confidences. The property `least-way` does
 * not apply to detections: what stands still is an object, too.
 *
 * When a track appears, vanishes, merges into a component with another one or splits from it, the
 * element posts an element message named `ccl-track` and pushes a custom downstream event of the
 * same name and content before the frame. Fields: `event` ("appeared", "vanished", "merged",
 * "split"), `id`, `other` (the other track, the parent of a track that appeared, or 0), and, where
 * they are known, `class` and the frame's `timestamp`, `stream-time` and `running-time`. `ccljson`
 * writes the event as a line. At the end of a stream, where another stream begins, after a flush
 * and at the stop all tracks vanish, at the time of their last frame; after a flush the events come
 * before the next frame.
 *
 * Ages, dwells and speeds are times of the content, whatever the rate of playback is. Where it is
 * negative, frames arrive backwards: directions of crossings are those of the content, while
 * velocities and the other events are those of the pictures as they arrive.
 *
 * There are at most `max-tracks` tracks, and at most `max-components` rows of a frame's table
 * are read. Where components have no track for that reason, or were left out by
 * the labeller, the table is truncated: the number of components is that of the labeller, and the
 * element warns once.
 *
 * Regions are named polygons, and lines have a direction. The property `regions` has them as text,
 * and so has the file of `regions-location`, unless it is JSON; both may change while playing.
 * After a change with a mistake, the former regions stay, and a warning is posted. Items are
 * separated by semicolons or newlines:
 *
 * |[<!-- language="plain" -->
 * region NAME X,Y X,Y X,Y… [stay=SECONDS] [faster-than=KMH] [slower-than=KMH]
 * line NAME X,Y X,Y [faster-than=KMH] [slower-than=KMH]
 * ]|
 *
 * Coordinates are pixels, or parts of the frame where they end with `%`. The place of a track is
 * its foot point, the middle of its box's lower edge (property `anchor`). Further values of `event`
 * are "entered", "left" and "stayed", with the field `region`, and "crossed", with the fields
 * `line` and `direction`: "forward" from the left side of the line to its right side, seen from its
 * first point, or "backward". A track that left has the field `dwell`, seconds. The property
 * `stats` and the custom sticky event `ccl-regions` have the counts, and `ccloverlay` draws them.
 *
 * The property `ground` names at least four points of the ground, in the picture and in metres, for
 * instance the corners of a parking place:
 *
 * |[<!-- language="plain" -->
 * X,Y METRES,METRES; X,Y METRES,METRES; X,Y METRES,METRES; X,Y METRES,METRES
 * ]|
 *
 * The foot point of a track then has a position in metres, and the track a speed in km/h, both with
 * their uncertainty: gst_ccl_track_info_get_position() and gst_ccl_track_info_get_speed(). Tracks
 * at the horizon and beyond have none. The ground may change while playing, like the regions.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.avi ! decodebin ! videoconvert ! \
 *     ccl foreground=codebook min-area=200 ! ccltrack ! ccljson ! fdsink
 * ]| This prints the moving objects of each frame, with their identities, as lines of JSON.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.avi ! decodebin ! videoconvert ! \
 *     ccl foreground=codebook min-area=200 ! \
 *     ccltrack regions="region door 10%,20% 30%,20% 30%,90% stay=5; line gate 320,0 320,400" ! \
 *     ccloverlay ! videoconvert ! autovideosink
 * ]| This shows the number of tracks in the region, and how often the line was crossed in each
 * direction.
 *
 * Since: 0.2
 */
#include <gst/base/gstbasetransform.h>
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstccldetections.h"
#include "tracking/regions/gstcclground.h"
#include "gstcclparents.h"
#include "tracking/regions/gstcclregions.h"
#include "tracking/sample/gstcclsamplelabels.h"
#include "gstccltrackanalytics.h"
#include "gstccltrackclasses.h"
#include "gstccltrackreport.h"
#include "gstccltrackroi.h"
#include "gstccltracksettings.h"
#include "gstccltracktable.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclerror.h"
#include "shared/gstcclframe.h"
#include "shared/gstcclframeclock.h"
#include "shared/gstcclquery.h"
#include "shared/gstcclroi.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CCL_TRACK (gst_ccl_track_get_type ())
G_DECLARE_FINAL_TYPE (GstCclTrack, gst_ccl_track, GST, CCL_TRACK, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_track_debug);
#define GST_CAT_DEFAULT gst_ccl_track_debug

struct _GstCclTrack {
  GstBaseTransform parent;

  /* Guarded by the object lock. */
  GstCclTrackSettings settings;
  GstCclRegionFile *regions_file; /* as it was read last; NULL: none */
  gboolean regions_changed;       /* since they were loaded */
  gboolean ground_changed;        /* since it was loaded */
  guint64 n_confirmed;            /* tracks since the start */
  GstStructure *region_counts;

  /* Of the streaming thread. */
  CclTracker *tracker;
  guint max_tracks, max_components;
  guint frame_width, frame_height; /* that the tracker was planned for */
  guint64 id_offset;               /* added to the tracker's identities: those of former trackers */
  guint64 last_id;                 /* the greatest identity so far */
  GstCclFrameClock clock;
  GstCclMoment last; /* of the last frame */
  gboolean flushed;  /* the tracks of before the flush end with the next frame */
  GstCclRegionStage region_stage;
  GstCclGround ground;
  gint caps_width, caps_height; /* of frames without a GstCclMeta; 0: not known */
  GstCclLabeller *labeller;     /* this element, for the metadata that it adds itself */
  GstCclDetections detections;  /* of the latest frame */
  GstCclTrackClasses classes;
  gboolean saw_components, saw_detections; /* since the start */
  gboolean tracks_detections;              /* the tracks are those of detections */
  gboolean warned_of_limit;
  gboolean warned; /* that a frame has no GstCclMeta */
  GstCclTrackTable table;
  GstCclSampleLabels sample_labels;
  gboolean replaces_rois; /* see gst_ccl_track_roi_replace() */
  GstCclParents parents;
};

G_DEFINE_TYPE_WITH_CODE (GstCclTrack, gst_ccl_track, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_track_debug, "ccltrack", 0, "tracking of components"))
GST_ELEMENT_REGISTER_DEFINE (ccltrack, "ccltrack", GST_RANK_NONE, GST_TYPE_CCL_TRACK)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static void
free_tracker (GstCclTrack *self)
{
  ccl_tracker_free (&self->tracker);
  self->id_offset = self->last_id;
  gst_ccl_parents_reset (&self->parents);
}

/* Creates a tracker for the frame size. */
static gboolean
make_tracker (GstCclTrack *self, guint frame_width, guint frame_height)
{
  const CclTrackerPlan plan = {
      .width = frame_width,
      .height = frame_height,
      .max_tracks = self->max_tracks,
      .max_components = self->max_components,
  };
  CclError error;

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

/* An application may have attached rows in another order than that of labels, and another tracker's
 * rows are in the order of identities. The tracker cannot use their label maps. */
static gboolean
is_in_label_order (const CclTable *table)
{
  for (guint row = 1; row < table->n_rows; row++)
    if (table->rows[row].label <= table->rows[row - 1].label)
      return FALSE;
  return TRUE;
}

/* Maps the label map, where one is attached that the tracker can use. */
static gboolean
map_labels (const GstCclMeta *meta, GstCclPixels *pixels)
{
  if (!gst_ccl_meta_map_labels (meta, pixels))
    return FALSE;
  if (GPOINTER_TO_SIZE (pixels->data) % 4 == 0 && pixels->stride % 4 == 0)
    return TRUE;
  gst_ccl_pixels_unmap (pixels);
  return FALSE;
}

/* Runs the tracker with the picture of the sample, where it has one. */
static CclStatus
run_with_picture (GstCclTrack *self, const GstCclPicture *sampled, const CclTable *table,
    const CclLabels *labels, gdouble elapsed, CclTrackerOptions *options, CclTracks *tracks,
    CclError *error)
{
  CclTrackerPicture picture = {.step_x = sampled->step_x, .step_y = sampled->step_y};
  GstMapInfo map;
  CclStatus status;

  if (!sampled->buffer)
    return ccl_tracker_run (self->tracker, table, labels, elapsed, options, tracks, error);
  if (!gst_buffer_map (sampled->buffer, &map, GST_MAP_READ)) {
    gst_ccl_error_set (
        error, CUDACCL_ERROR_DEVICE, "The memory of a sample of the picture cannot be mapped");
    return CUDACCL_ERROR_DEVICE;
  }
  for (guint i = 0; i < sampled->n_planes; i++)
    picture.planes[i] = (CclTrackerPlane){map.data + sampled->planes[i].offset,
        sampled->planes[i].stride, sampled->planes[i].distance};
  options->picture = &picture;
  status = ccl_tracker_run (self->tracker, table, labels, elapsed, options, tracks, error);
  options->picture = NULL;
  gst_buffer_unmap (sampled->buffer, &map);
  return status;
}

/* The tracker gets the sample of the foreground as a label map, or the attached label map. */
static CclStatus
run_tracker (GstCclTrack *self, GstBuffer *frame, const GstCclMeta *meta, const CclTable *table,
    gdouble elapsed, CclTrackerOptions *options, CclTracks *tracks, CclError *error)
{
  const GstCclSample *sample = gst_ccl_sample_find (frame, meta);
  GstCclPixels pixels;
  CclLabels labels;
  CclStatus status;

  options->label_step = 1;
  options->whole_objects = self->tracks_detections;
  if (self->tracks_detections)
    options->least_way = 0;
  if (self->tracks_detections || !is_in_label_order (table))
    return ccl_tracker_run (self->tracker, table, NULL, elapsed, options, tracks, error);
  if (sample) {
    options->label_step = sample->step;
    if (!gst_ccl_sample_labels_make (&self->sample_labels, sample, table, &labels, error))
      return error->status;
    return run_with_picture (
        self, &sample->picture, table, &labels, elapsed, options, tracks, error);
  }
  if (!map_labels (meta, &pixels))
    return ccl_tracker_run (self->tracker, table, NULL, elapsed, options, tracks, error);
  status = ccl_tracker_run (self->tracker, table,
      &(CclLabels){(gpointer)pixels.data, pixels.stride}, elapsed, options, tracks, error);
  gst_ccl_pixels_unmap (&pixels);
  return status;
}

/* Reports what happened in the last frame. */
static void
report (GstCclTrack *self, const CclTracks *tracks, const CclRegionsResult *regions)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM_CAST (self);
  const GstCclTrackReport common = {&self->last, &self->classes, self->id_offset};
  const guint n_confirmed = gst_ccl_track_report_tracks (trans, tracks, &self->parents, &common);
  GstStructure *counts;

  gst_ccl_track_report_regions (trans, &self->region_stage, regions, &common);
  counts = gst_ccl_track_announce_regions (trans, &self->region_stage, regions);
  GST_OBJECT_LOCK (self);
  self->n_confirmed += n_confirmed;
  if (counts) {
    g_clear_pointer (&self->region_counts, gst_structure_free);
    self->region_counts = counts;
  }
  GST_OBJECT_UNLOCK (self);
}

/* Ends all tracks at the time of the last frame, as if their objects were not found any more: they
 * leave their regions and vanish. */
static void
end_tracks (GstCclTrack *self)
{
  const CclTable nothing = {0};
  GstCclTrackSettings settings;
  CclRegionsResult regions;
  CclTracks tracks;
  CclError error;

  self->flushed = FALSE;
  if (!self->tracker)
    return;
  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  settings.options.max_lost = 0;
  settings.region_options.reversed = gst_ccl_is_reversed (&self->last.segment);
  settings.options.frame_rate = self->clock.frame_rate;
  if (ccl_tracker_run (self->tracker, &nothing, NULL, 1, &settings.options, &tracks, &error) !=
          CUDACCL_OK ||
      !gst_ccl_region_stage_run (&self->region_stage, self->frame_width, self->frame_height,
          self->max_tracks, &tracks, 0, &settings.region_options, &regions, &error)) {
    GST_WARNING_OBJECT (self, "tracks end without events: %s", error.message);
    return;
  }
  report (self, &tracks, &regions);
  gst_ccl_parents_reset (&self->parents);
  gst_ccl_track_classes_reset (&self->classes);
}

/* The tracks of before a flush, of frames of another size, or of another input, end before the
 * frame. */
static gboolean
prepare_tracker (GstCclTrack *self, const GstCclMeta *meta, gboolean are_detections)
{
  const guint frame_width = gst_ccl_meta_get_frame_width (meta);
  const guint frame_height = gst_ccl_meta_get_frame_height (meta);
  const gboolean is_new =
      !self->tracker || self->frame_width != frame_width || self->frame_height != frame_height;

  if (is_new || self->flushed || self->tracks_detections != are_detections)
    end_tracks (self);
  self->tracks_detections = are_detections;
  return !is_new || make_tracker (self, frame_width, frame_height);
}

/* Loads the regions if they changed. Returns FALSE with the error set if that fails; then the
 * former regions stay. */
static gboolean
load_regions (GstCclTrack *self, GError **error)
{
  GstCclRegionFile *file = NULL;
  g_autofree gchar *text = NULL;
  gboolean changed, ok;

  GST_OBJECT_LOCK (self);
  changed = self->regions_changed;
  self->regions_changed = FALSE;
  if (changed) {
    text = g_strdup (self->settings.regions);
    file = gst_ccl_region_file_ref (self->regions_file);
  }
  GST_OBJECT_UNLOCK (self);
  ok = !changed ||
       gst_ccl_region_stage_load (&self->region_stage, text, file, self->max_tracks, error);
  gst_ccl_region_file_unref (file);
  return ok;
}

/* The same for the ground. */
static gboolean
load_ground (GstCclTrack *self, GError **error)
{
  g_autofree gchar *text = NULL;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->ground_changed;
  self->ground_changed = FALSE;
  if (changed)
    text = g_strdup (self->settings.ground);
  GST_OBJECT_UNLOCK (self);
  return !changed || gst_ccl_ground_load (&self->ground, text, self->max_tracks, error);
}

/* A mistake in the regions or in the ground must not end a stream that is playing. */
static void
update_scene (GstCclTrack *self)
{
  GError *error = NULL;

  if (!load_regions (self, &error))
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        (_ ("%s; the former regions and lines stay"), error->message), (NULL));
  g_clear_error (&error);
  if (!load_ground (self, &error))
    GST_ELEMENT_WARNING (
        self, RESOURCE, SETTINGS, (_ ("%s; the former ground stays"), error->message), (NULL));
  g_clear_error (&error);
}

/* Warns once that components have no track because there are too many. */
static void
warn_of_limit (GstCclTrack *self, guint n_components)
{
  if (self->warned_of_limit)
    return;
  self->warned_of_limit = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
      (_ ("A frame has %u components, not all of which are tracked: there are at most %u rows of "
          "components and %u tracks; raise max-components, here and upstream, max-tracks or "
          "min-area"),
          n_components, self->max_components, self->max_tracks),
      (NULL));
}

/* A sample is private to the two elements, and keeps memory of the labeller's pool. */
static void
remove_sample (GstBuffer *frame, const GstCclMeta *meta)
{
  g_autoptr (GstCclLabeller) labeller = gst_ccl_meta_get_labeller (meta);

  if (labeller)
    gst_ccl_sample_remove (frame, gst_ccl_labeller_get_id (labeller));
}

/* Reads the detections of the frame, of which meta has the components; NULL: it has none. */
static void
read_detections (GstCclTrack *self, GstBuffer *frame, const GstCclMeta *meta)
{
  if (meta)
    gst_ccl_detections_read (&self->detections, frame, gst_ccl_meta_get_frame_width (meta),
        gst_ccl_meta_get_frame_height (meta));
  else
    gst_ccl_detections_read (
        &self->detections, frame, (guint)self->caps_width, (guint)self->caps_height);
}

/* Whether detections are tracked. meta: the components of the frame; NULL: it has none. */
static gboolean
chooses_detections (GstCclTrack *self, GstCclTrackInput input, const GstCclMeta *meta)
{
  self->saw_components |= meta != NULL;
  self->saw_detections |= self->detections.n > 0;
  return input == GST_CCL_TRACK_INPUT_DETECTIONS ||
         (input == GST_CCL_TRACK_INPUT_AUTO && !self->saw_components && self->saw_detections);
}

/* Metadata for the tracks of detections. */
static GstCclMeta *
add_meta (GstCclTrack *self, GstBuffer *frame)
{
  GstCclMeta *meta = gst_buffer_add_ccl_meta (
      frame, (guint)self->caps_width, (guint)self->caps_height, 0, NULL, 0, NULL, 0);

  gst_ccl_meta_set_labeller (meta, self->labeller);
  return meta;
}

/* What is tracked in a frame: sets tracks_detections. NULL if there is nothing, or after an error,
 * which *flow tells. */
static GstCclMeta *
find_input (GstCclTrack *self, GstBuffer *frame, GstCclTrackInput *input, GstFlowReturn *flow)
{
  GstCclMeta *meta = NULL;
  gboolean are_detections;

  *flow = GST_FLOW_OK;
  GST_OBJECT_LOCK (self);
  *input = self->settings.input;
  if (*input != GST_CCL_TRACK_INPUT_DETECTIONS)
    meta = gst_buffer_get_ccl_meta_by_name (frame, self->settings.labeller);
  GST_OBJECT_UNLOCK (self);
  self->detections.n = self->detections.n_found = 0;
  if (*input != GST_CCL_TRACK_INPUT_COMPONENTS)
    read_detections (self, frame, meta);
  are_detections = chooses_detections (self, *input, meta);
  if (!meta && !are_detections) {
    gst_ccl_error_warn_of_missing_meta (GST_ELEMENT_CAST (self), &self->warned);
    return NULL;
  }
  if (are_detections && (self->caps_width == 0 || self->caps_height == 0)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        (_ ("The caps have no frame size, so detections are nowhere")), (NULL));
    *flow = GST_FLOW_NOT_NEGOTIATED;
    return NULL;
  }
  meta = are_detections ? add_meta (self, frame) : meta;
  if (prepare_tracker (self, meta, are_detections))
    return meta;
  *flow = GST_FLOW_ERROR;
  return NULL;
}

/* Finds the classes of the tracks, and attaches them. */
static void
attach_classes (
    GstCclTrack *self, GstCclTrackInput input, const CclTracks *tracks, GstCclMeta *meta)
{
  if (input == GST_CCL_TRACK_INPUT_COMPONENTS)
    gst_ccl_track_classes_reset (&self->classes);
  else
    gst_ccl_track_classes_update (
        &self->classes, tracks, &self->detections, self->tracks_detections);
  gst_ccl_track_classes_attach (&self->classes, self->table.listed, meta);
}

/* Puts the tracks into the metadata that others than readers of GstCclMeta read. */
static void
attach_identities (
    GstCclTrack *self, GstBuffer *frame, const GstCclMeta *meta, const CclTracks *tracks)
{
  for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++) {
    const guint i = gst_ccl_track_classes_get_detection (&self->classes, self->table.listed[row]);

    if (i != GST_CCL_NO_DETECTION && self->detections.items[i].roi)
      gst_ccl_roi_identify (self->detections.items[i].roi, gst_ccl_meta_get_track (meta, row)->id);
  }
  if (!self->tracks_detections)
    gst_ccl_track_roi_replace (frame, meta, &self->replaces_rois);
  gst_ccl_track_analytics_replace (frame, meta, tracks, self->table.listed, &self->detections,
      &self->classes, self->tracks_detections, &self->last, self->clock.frame_rate);
}

static GstFlowReturn
gst_ccl_track_transform_ip (GstBaseTransform *trans, GstBuffer *frame)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);
  GstCclTrackSettings settings;
  CclRegionsResult regions;
  GstClockTime elapsed_time;
  GstCclTrackInput input;
  GstFlowReturn flow;
  GstCclMeta *meta;
  CclTracks tracks;
  CclError error;

  if (gst_ccl_is_empty_gap (frame))
    return GST_FLOW_OK;
  update_scene (self);
  meta = find_input (self, frame, &input, &flow);
  if (!meta)
    return flow;
  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);

  const CclTable table = self->tracks_detections ? gst_ccl_detections_table (&self->detections)
                                                 : gst_ccl_track_table_read (&self->table, meta);
  const gdouble elapsed = gst_ccl_frame_clock_advance (
      &self->clock, &trans->segment, GST_BUFFER_PTS (frame), &elapsed_time);
  self->last = (GstCclMoment){GST_BUFFER_PTS (frame), trans->segment};
  settings.options.frame_rate = self->clock.frame_rate;
  gst_ccl_track_settings_count_frames (&settings, self->clock.frame_rate);
  if (run_tracker (self, frame, meta, &table, elapsed, &settings.options, &tracks, &error) !=
          CUDACCL_OK ||
      !gst_ccl_ground_run (&self->ground, self->frame_width, self->frame_height, self->tracker,
          tracks.n_tracks, self->clock.frame_rate, &error)) {
    gst_ccl_error_post (GST_ELEMENT_CAST (self), &error);
    return GST_FLOW_ERROR;
  }
  remove_sample (frame, meta);
  settings.region_options.speeds = self->ground.speeds;
  settings.region_options.reversed = gst_ccl_is_reversed (&trans->segment);
  if (!gst_ccl_region_stage_run (&self->region_stage, self->frame_width, self->frame_height,
          self->max_tracks, &tracks, elapsed_time, &settings.region_options, &regions, &error)) {
    gst_ccl_error_post (GST_ELEMENT_CAST (self), &error);
    return GST_FLOW_ERROR;
  }
  if (tracks.n_tracks > 0)
    self->last_id = MAX (self->last_id, self->id_offset + tracks.tracks[tracks.n_tracks - 1].id);
  gst_ccl_parents_update (&self->parents, &tracks, &table);
  if (gst_ccl_track_table_write (&self->table, meta, &table, &tracks, &self->parents, &self->ground,
          &settings, self->id_offset))
    warn_of_limit (self, table.n_components);
  gst_ccl_region_stage_attach (&self->region_stage, &tracks, &regions, self->table.listed, meta);
  attach_classes (self, input, &tracks, meta);
  attach_identities (self, frame, meta, &tracks);
  report (self, &tracks, &regions);
  return GST_FLOW_OK;
}

/* Whether the element needs samples of the foreground from that labeller. */
static gboolean
wants_sample (GstCclTrack *self, const gchar *labeller, gboolean is_nearest)
{
  const gchar *named;
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  named = self->settings.labeller;
  wanted = self->settings.use_mask && self->settings.input != GST_CCL_TRACK_INPUT_DETECTIONS &&
           (named ? g_str_equal (named, labeller) : is_nearest);
  GST_OBJECT_UNLOCK (self);
  return wanted;
}

static gboolean
gst_ccl_track_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  const gchar *labeller;
  gboolean is_nearest;

  if (direction == GST_PAD_SINK && gst_ccl_query_is_for_sample (query, &labeller, &is_nearest) &&
      wants_sample (GST_CCL_TRACK (trans), labeller, is_nearest))
    return TRUE;
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_track_parent_class)->query (trans, direction, query);
}

static gboolean
gst_ccl_track_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);
  const GstStructure *structure = gst_caps_get_structure (incaps, 0);

  if (!gst_structure_get_int (structure, "width", &self->caps_width) ||
      !gst_structure_get_int (structure, "height", &self->caps_height))
    self->caps_width = self->caps_height = 0;
  gst_ccl_frame_clock_set_caps (&self->clock, incaps);
  return TRUE;
}

static gboolean
gst_ccl_track_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_FLUSH_STOP: /* no event passes before the next segment */
    self->flushed = TRUE;
    gst_ccl_frame_clock_reset (&self->clock);
    break;
  case GST_EVENT_STREAM_START:
    gst_ccl_frame_clock_reset (&self->clock);
    end_tracks (self);
    break;
  case GST_EVENT_EOS:
    end_tracks (self);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_track_parent_class)->sink_event (trans, event);
}

static void
free_arrays (GstCclTrack *self)
{
  gst_ccl_region_stage_close (&self->region_stage);
  gst_ccl_ground_close (&self->ground);
  gst_ccl_track_table_clear (&self->table);
  gst_ccl_parents_clear (&self->parents);
  gst_ccl_detections_clear (&self->detections);
  gst_ccl_track_classes_clear (&self->classes);
  g_clear_pointer (&self->labeller, gst_ccl_labeller_unref);
  gst_ccl_sample_labels_clear (&self->sample_labels);
}

/* Reads the file of regions in the application's thread: a disk must not hold up frames. */
static void
read_regions_file (GstCclTrack *self, const gchar *path)
{
  GstCclRegionFile *file = gst_ccl_region_file_read (path), *former;

  GST_OBJECT_LOCK (self);
  former = self->regions_file;
  self->regions_file = file;
  self->regions_changed = TRUE;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_region_file_unref (former);
}

/* This element as the source of metadata. */
static GstCclLabeller *
new_labeller (GstCclTrack *self)
{
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT_CAST (self));

  return gst_ccl_labeller_new_with_id (name, gst_ccl_labeller_new_id (), NULL);
}

static gboolean
gst_ccl_track_start (GstBaseTransform *trans)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);
  g_autoptr (GError) error = NULL;
  g_autofree gchar *path = NULL;

  GST_OBJECT_LOCK (self);
  path = g_strdup (self->settings.regions_location);
  GST_OBJECT_UNLOCK (self);
  read_regions_file (self, path);
  GST_OBJECT_LOCK (self);
  self->max_tracks = self->settings.max_tracks;
  self->max_components = self->settings.max_components;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_track_table_init (&self->table, self->max_tracks, self->max_components);
  gst_ccl_parents_init (&self->parents, self->max_tracks);
  gst_ccl_detections_init (&self->detections, self->max_components);
  gst_ccl_track_classes_init (&self->classes, self->max_tracks, self->max_components);
  self->labeller = new_labeller (self);
  gst_ccl_frame_clock_reset (&self->clock);
  self->last.pts = GST_CLOCK_TIME_NONE;
  gst_segment_init (&self->last.segment, GST_FORMAT_UNDEFINED);
  self->flushed = self->replaces_rois = FALSE;
  self->saw_components = self->saw_detections = self->tracks_detections = FALSE;
  self->warned = self->warned_of_limit = FALSE;
  GST_OBJECT_LOCK (self);
  self->n_confirmed = 0;
  g_clear_pointer (&self->region_counts, gst_structure_free);
  self->regions_changed = TRUE;
  self->ground_changed = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (load_regions (self, &error) && load_ground (self, &error))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  free_arrays (self);
  return FALSE;
}

static gboolean
gst_ccl_track_stop (GstBaseTransform *trans)
{
  GstCclTrack *self = GST_CCL_TRACK (trans);

  end_tracks (self); /* its events are lost by now, its messages are not */
  free_tracker (self);
  free_arrays (self);
  return TRUE;
}

static void
gst_ccl_track_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCclTrack *self = GST_CCL_TRACK (object);
  const guint marks = gst_ccl_track_settings_marks (id);

  GST_OBJECT_LOCK (object);
  gst_ccl_track_settings_set (&self->settings, id, value);
  self->regions_changed |= (marks & GST_CCL_TRACK_CHANGES_REGIONS) != 0;
  self->ground_changed |= (marks & GST_CCL_TRACK_CHANGES_GROUND) != 0;
  GST_OBJECT_UNLOCK (object);
  if (marks & GST_CCL_TRACK_READS_FILE)
    read_regions_file (self, g_value_get_string (value));
  if (marks & GST_CCL_TRACK_ASKS_AGAIN)
    gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (object));
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
  if (!gst_ccl_track_settings_get (&self->settings, id, value))
    g_value_take_boxed (value, new_stats (self));
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_track_finalize (GObject *object)
{
  GstCclTrack *self = GST_CCL_TRACK (object);

  gst_ccl_track_settings_clear (&self->settings);
  g_clear_pointer (&self->region_counts, gst_structure_free);
  g_clear_pointer (&self->regions_file, gst_ccl_region_file_unref);
  G_OBJECT_CLASS (gst_ccl_track_parent_class)->finalize (object);
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
  gst_ccl_track_settings_install (object_class);

  gst_element_class_set_static_metadata (element_class, "Tracker of components and detections",
      "Filter/Analyzer/Video/Metadata",
      "Gives connected components, and what other elements detect, identities over successive "
      "frames",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_track_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_track_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_track_set_caps);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_ccl_track_query);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_track_sink_event);
  trans_class->before_transform = GST_DEBUG_FUNCPTR (gst_ccl_sync_values);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_track_transform_ip);
}

static void
gst_ccl_track_init (GstCclTrack *self)
{
  gst_ccl_track_settings_init (&self->settings);
  gst_ccl_frame_clock_init (&self->clock);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
