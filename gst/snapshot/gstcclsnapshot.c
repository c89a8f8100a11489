/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cclsnapshot
 * @title: cclsnapshot
 * @short_description: makes a JPEG picture of the best view of each track
 * @see_also: ccltrack, cclrecord
 *
 * Behind `ccltrack`, or another tracker that sets tracks in the metadata, keeps the best view of
 * each confirmed track, and when the track vanishes, makes a JPEG picture of it: the object with
 * `margin` around it, made smaller if it is larger than `max-size`. With `max-wait`, the picture is
 * made after that time at the latest, of the best view until then. There is one picture a track.
 * Frames pass unchanged.
 *
 * A view is better the larger, the sharper and the more complete it is. Its quality is the product
 * of
 *
 * - the square root of the number of pixels in the box,
 * - one more than the standard deviation of the Laplacian of the luma (of green, in formats with
 *   colours) in the box, of 8 bits, at 64 × 64 pixels at most,
 * - a number from 0.25, where the box touches the edge of the frame, to 1, where its distance from
 *   the edge is a tenth of its longer side or more.
 *
 * A view takes the place of the former one if its quality is at least a tenth higher.
 *
 * With `post-messages`, an element message named `ccl-snapshot` has the fields `id`, the
 * `timestamp`, `stream-time` and `running-time` of the view where they are known, the box `x`, `y`,
 * `width` and `height` in pixels of the frame, `quality`, `class` where a detector named one,
 * `location` if there is a file, and `image`, a #GstSample of `image/jpeg`. With `location`, the
 * picture is written to a file whose name has the identity as %d or, for instance, %05d; a file of
 * that name is replaced.
 *
 * |[
 * gst-launch-1.0 filesrc location=in.avi ! decodebin ! videoconvert ! \
 *     ccl foreground=codebook min-area=200 ! ccltrack ! \
 *     cclsnapshot location=track-%05d.jpg ! fakesink
 * ]| This writes a picture of each moving object.
 *
 * A thread encodes, with `jpegenc`. All pictures are made before the element passes the end of the
 * stream on. Views of at most 4096 tracks and 256 MB are kept, those that wait to be encoded
 * included; beyond that, tracks have none, with a warning. A track that is in no frame for ten
 * seconds has vanished. If a picture cannot be encoded or written, the element posts an error.
 *
 * The frames are read where they are: those in CUDA memory are downloaded as soon as one has a
 * track, so put the element behind `videorate` or a smaller copy if that costs too much.
 *
 * Since: 0.4
 */
#include <gst/base/gstbasetransform.h>
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstcclpictures.h"
#include "gstcclview.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclerror.h"
#include "shared/gstcclevents.h"
#include "shared/gstcclframe.h"
#include "shared/gstccllocation.h"
#include "shared/gstcclproperty.h"
#include "shared/gstcclquery.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CCL_SNAPSHOT (gst_ccl_snapshot_get_type ())
G_DECLARE_FINAL_TYPE (GstCclSnapshot, gst_ccl_snapshot, GST, CCL_SNAPSHOT, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_snapshot_debug);
#define GST_CAT_DEFAULT gst_ccl_snapshot_debug

#define SNAPSHOT_MESSAGE "ccl-snapshot"
#define BETTER 1.1 /* a view replaces the kept one from this many times its quality on */
#define MAX_TRACKS 4096
#define MAX_BYTES ((gsize)256 * 1000 * 1000)
#define VANISH_TIME (10 * GST_SECOND)

/* The values of the properties. */
typedef struct {
  gchar *labeller, *location;
  gboolean post_messages;
  gdouble margin, max_wait;
  guint max_size;
} Settings;

static const Settings defaults = {.post_messages = TRUE, .margin = 0.1, .max_size = 512};

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (Settings, field)
#define PLAYING GST_CCL_CHANGES_IN_PLAYING

static const GstCclProperty properties[] = {
  {GST_CCL_KIND_STRING, FIELD (labeller), "labeller", "Labeller",
      "Name of the element whose tracks are pictured, where several labellers are upstream "
      "(NULL = the nearest one)",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_STRING, FIELD (location), "location", "Location",
      "Files of the pictures, with the identity of the track as %d or %05d (NULL = no files)",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_BOOLEAN, FIELD (post_messages), "post-messages", "Post messages",
      "Post an element message ccl-snapshot with each picture",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_DOUBLE, FIELD (margin), "margin", "Margin",
      "What a picture shows on each side of the object, as a part of the object's width and height",
      0, 10, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_UINT, FIELD (max_size), "max-size", "Maximum size",
      "Pixels of a picture's longer side at most; larger ones are made smaller",
      16, 4096, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_DOUBLE, FIELD (max_wait), "max-wait", "Maximum wait",
      "Seconds after the first view at which the picture is made although the track goes on "
      "(0 = when it vanishes)",
      0, 86400, NULL, PLAYING, GST_CCL_ALL_CLASSES},
};
/* clang-format on */

/* The best view of a track. */
typedef struct {
  guint64 id;
  gdouble quality;
  GstSample *picture;       /* NULL: not made yet, or handed over */
  GstStructure *about;      /* what the message says of it */
  GstClockTime first, seen; /* running times of the first and of the latest view */
  gboolean is_given;        /* no further picture is made */
} Best;

struct _GstCclSnapshot {
  GstBaseTransform parent;

  Settings settings; /* guarded by the object lock */

  /* The streaming thread's. */
  GstVideoInfo info;
  GHashTable *tracks; /* guint64 → Best */
  gsize n_bytes;      /* of the pictures in it */
  GstCclPictures *pictures;
  gboolean warned_of_meta, warned_of_limit, warned_of_frame;
};

G_DEFINE_TYPE_WITH_CODE (GstCclSnapshot, gst_ccl_snapshot, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_snapshot_debug, "cclsnapshot", 0, "pictures of tracks"))
GST_ELEMENT_REGISTER_DEFINE (cclsnapshot, "cclsnapshot", GST_RANK_NONE, GST_TYPE_CCL_SNAPSHOT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

/* The best views. */

static gsize
size_of (const Best *best)
{
  return best->picture ? gst_buffer_get_size (gst_sample_get_buffer (best->picture)) : 0;
}

static void
best_free (gpointer data)
{
  Best *best = data;

  g_clear_pointer (&best->picture, gst_sample_unref);
  g_clear_pointer (&best->about, gst_structure_free);
  g_free (best);
}

/* The entry of a track, which is made where missing; NULL if there are too many. */
static Best *
get_best (GstCclSnapshot *self, guint64 id, GstClockTime now)
{
  Best *best = g_hash_table_lookup (self->tracks, &id);

  if (best || g_hash_table_size (self->tracks) >= MAX_TRACKS)
    return best;
  best = g_new0 (Best, 1);
  best->id = id;
  best->first = now;
  g_hash_table_insert (self->tracks, &best->id, best);
  return best;
}

/* Makes the picture of a track. */
static void
give (GstCclSnapshot *self, Best *best)
{
  if (best->picture) {
    self->n_bytes -= size_of (best);
    GST_OBJECT_LOCK (self);
    gst_ccl_pictures_push (self->pictures, g_steal_pointer (&best->picture),
        g_steal_pointer (&best->about), best->id, self->settings.location,
        self->settings.post_messages);
    GST_OBJECT_UNLOCK (self);
  }
  best->is_given = TRUE;
}

static void
give_all (GstCclSnapshot *self)
{
  GHashTableIter iter;
  gpointer best;

  g_hash_table_iter_init (&iter, self->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &best)) {
    give (self, best);
    g_hash_table_iter_remove (&iter);
  }
}

static void
vanish (GstCclSnapshot *self, guint64 id)
{
  Best *best = g_hash_table_lookup (self->tracks, &id);

  if (best) {
    give (self, best);
    g_hash_table_remove (self->tracks, &id);
  }
}

/* Ends tracks that were not seen for VANISH_TIME: not every tracker sends an event. */
static void
vanish_unseen (GstCclSnapshot *self, GstClockTime now)
{
  GHashTableIter iter;
  gpointer value;

  if (!GST_CLOCK_TIME_IS_VALID (now))
    return;
  g_hash_table_iter_init (&iter, self->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Best *best = value;

    if (GST_CLOCK_TIME_IS_VALID (best->seen) && now > best->seen &&
        now - best->seen > VANISH_TIME) {
      give (self, best);
      g_hash_table_iter_remove (&iter);
    }
  }
}

/* A frame. */

typedef struct {
  GstBuffer *buffer;
  const GstCclMeta *meta;
  GstVideoFrame mapped;
  gboolean is_mapped;
  GstClockTime now; /* its running time */
  gdouble margin, max_wait;
  guint max_size;
} Frame;

static void
warn (GstCclSnapshot *self, gboolean *warned, const gchar *text)
{
  if (!*warned)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%s", _ (text)), (NULL));
  *warned = TRUE;
}

static gboolean
map_frame (GstCclSnapshot *self, Frame *frame)
{
  if (!frame->is_mapped && !gst_ccl_is_cropped (frame->buffer, &self->info))
    frame->is_mapped =
        gst_video_frame_map (&frame->mapped, &self->info, frame->buffer, GST_MAP_READ);
  if (!frame->is_mapped)
    warn (self, &self->warned_of_frame, N_ ("No picture of tracks: the frame cannot be read"));
  return frame->is_mapped;
}

static GstStructure *
describe (GstCclSnapshot *self, const Frame *frame, guint row, guint64 id, const GstCclView *view,
    gdouble quality)
{
  GstCclClasses *classes = gst_ccl_meta_get_classes (frame->meta);
  const gchar *name = classes ? gst_ccl_classes_get_name (classes, row) : NULL;
  GstStructure *about = gst_ccl_moment_structure (
      SNAPSHOT_MESSAGE, GST_BUFFER_PTS (frame->buffer), &GST_BASE_TRANSFORM_CAST (self)->segment);

  gst_structure_set (about, "id", G_TYPE_UINT64, id, "x", G_TYPE_UINT, view->x, "y", G_TYPE_UINT,
      view->y, "width", G_TYPE_UINT, view->width, "height", G_TYPE_UINT, view->height, "quality",
      G_TYPE_DOUBLE, quality, NULL);
  if (name)
    gst_structure_set (about, "class", G_TYPE_STRING, name, NULL);
  return about;
}

/* Keeps the view in place of the former one. */
static void
keep (GstCclSnapshot *self, Best *best, const Frame *frame, guint row, const GstCclView *view,
    gdouble quality)
{
  const GstCclView shown = gst_ccl_view_enlarge (view, frame->margin, &self->info);
  GstSample *picture;

  if (self->n_bytes + gst_ccl_pictures_get_waiting (self->pictures) > MAX_BYTES) {
    warn (self, &self->warned_of_limit,
        N_ ("Some tracks have no picture: too many are kept already"));
    return;
  }
  picture = gst_ccl_view_copy (&shown, &frame->mapped, frame->max_size);
  if (!picture) {
    warn (
        self, &self->warned_of_frame, N_ ("No picture of tracks: the format cannot be converted"));
    return;
  }
  self->n_bytes -= size_of (best);
  g_clear_pointer (&best->picture, gst_sample_unref);
  g_clear_pointer (&best->about, gst_structure_free);
  best->picture = picture;
  best->about = describe (self, frame, row, best->id, view, quality);
  best->quality = quality;
  self->n_bytes += size_of (best);
}

static gboolean
has_waited (const Best *best, const Frame *frame)
{
  return best->picture && frame->max_wait > 0 && GST_CLOCK_TIME_IS_VALID (frame->now) &&
         GST_CLOCK_TIME_IS_VALID (best->first) &&
         frame->now >= best->first + (GstClockTime)(frame->max_wait * GST_SECOND);
}

static void
view_track (GstCclSnapshot *self, Frame *frame, guint row, guint64 id)
{
  const GstCclView view = gst_ccl_view_of_box (gst_ccl_meta_get_component (frame->meta, row),
      gst_ccl_meta_get_frame_width (frame->meta), gst_ccl_meta_get_frame_height (frame->meta),
      &self->info);
  Best *best = get_best (self, id, frame->now);
  gdouble quality;

  if (!best) {
    warn (self, &self->warned_of_limit, N_ ("Some tracks have no picture: there are too many"));
    return;
  }
  best->seen = frame->now;
  if (best->is_given || view.width == 0 || !map_frame (self, frame))
    return;
  quality = gst_ccl_view_measure (&view, &frame->mapped);
  if (!best->picture || quality >= BETTER * best->quality)
    keep (self, best, frame, row, &view, quality);
  if (has_waited (best, frame))
    give (self, best);
}

static void
view_tracks (GstCclSnapshot *self, Frame *frame)
{
  for (guint row = 0; row < gst_ccl_meta_get_n_rows (frame->meta); row++) {
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (frame->meta, row);

    if (track && (track->state == GST_CCL_TRACK_STATE_CONFIRMED ||
                     track->state == GST_CCL_TRACK_STATE_STATIC))
      view_track (self, frame, row, track->id);
  }
  if (frame->is_mapped)
    gst_video_frame_unmap (&frame->mapped);
}

static GstFlowReturn
gst_ccl_snapshot_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstCclSnapshot *self = GST_CCL_SNAPSHOT (trans);
  Frame frame = {
      .buffer = buffer, .now = gst_ccl_running_time (&trans->segment, GST_BUFFER_PTS (buffer))};

  if (gst_ccl_pictures_have_failed (self->pictures))
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (self);
  frame.meta = gst_buffer_get_ccl_meta_by_name (buffer, self->settings.labeller);
  frame.margin = self->settings.margin;
  frame.max_wait = self->settings.max_wait;
  frame.max_size = self->settings.max_size;
  GST_OBJECT_UNLOCK (self);
  if (frame.meta)
    view_tracks (self, &frame);
  else if (!gst_ccl_is_empty_gap (buffer))
    gst_ccl_error_warn_of_missing_meta (GST_ELEMENT_CAST (self), &self->warned_of_meta);
  vanish_unseen (self, frame.now);
  return GST_FLOW_OK;
}

/* The element. */

static gboolean
gst_ccl_snapshot_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCclSnapshot *self = GST_CCL_SNAPSHOT (trans);
  const GstStructure *structure = gst_event_get_structure (event);
  guint64 id;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM && structure &&
      gst_structure_has_name (structure, GST_CCL_TRACK_EVENT) &&
      g_strcmp0 (gst_structure_get_string (structure, "event"), "vanished") == 0 &&
      gst_structure_get_uint64 (structure, "id", &id)) {
    vanish (self, id);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    give_all (self);
    gst_ccl_pictures_wait (self->pictures);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_snapshot_parent_class)->sink_event (trans, event);
}

/* Passes the peer's answer on, except for GstVideoCropMeta. */
static gboolean
gst_ccl_snapshot_query (GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  const gboolean answered =
      GST_BASE_TRANSFORM_CLASS (gst_ccl_snapshot_parent_class)->query (trans, direction, query);

  if (answered && GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION)
    gst_ccl_query_remove_crop_meta (query);
  return answered;
}

static gboolean
gst_ccl_snapshot_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  return gst_video_info_from_caps (&GST_CCL_SNAPSHOT (trans)->info, in);
}

static gboolean
gst_ccl_snapshot_start (GstBaseTransform *trans)
{
  GstCclSnapshot *self = GST_CCL_SNAPSHOT (trans);
  g_autofree gchar *location = NULL, *name = NULL;
  g_autoptr (GError) error = NULL;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->settings.location);
  GST_OBJECT_UNLOCK (self);
  name = location ? gst_ccl_location_format (location, 0, &error) : NULL;
  if (error) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  self->tracks = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, best_free);
  self->n_bytes = 0;
  self->pictures = gst_ccl_pictures_new (GST_ELEMENT_CAST (self));
  self->warned_of_meta = self->warned_of_limit = self->warned_of_frame = FALSE;
  return TRUE;
}

static gboolean
gst_ccl_snapshot_stop (GstBaseTransform *trans)
{
  GstCclSnapshot *self = GST_CCL_SNAPSHOT (trans);

  give_all (self);
  g_clear_pointer (&self->tracks, g_hash_table_unref);
  g_clear_pointer (&self->pictures, gst_ccl_pictures_free);
  return TRUE;
}

static void
gst_ccl_snapshot_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  const GstCclProperty *row = &properties[id - 1];
  const gchar *text = G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;

  if (row->offset == FIELD (location) && text &&
      gst_ccl_location_refuse (GST_ELEMENT_CAST (object), text))
    return;
  GST_OBJECT_LOCK (object);
  gst_ccl_property_set (row, &GST_CCL_SNAPSHOT (object)->settings, value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_snapshot_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  gst_ccl_property_get (&properties[id - 1], &GST_CCL_SNAPSHOT (object)->settings, value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_snapshot_finalize (GObject *object)
{
  gst_ccl_properties_clear (
      properties, G_N_ELEMENTS (properties), &GST_CCL_SNAPSHOT (object)->settings);
  G_OBJECT_CLASS (gst_ccl_snapshot_parent_class)->finalize (object);
}

static void
gst_ccl_snapshot_class_init (GstCclSnapshotClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_ccl_snapshot_set_property;
  object_class->get_property = gst_ccl_snapshot_get_property;
  object_class->finalize = gst_ccl_snapshot_finalize;
  gst_ccl_properties_install (
      object_class, properties, G_N_ELEMENTS (properties), GST_CCL_ALL_CLASSES, &defaults);

  gst_element_class_set_static_metadata (element_class, "Pictures of tracks",
      "Filter/Analyzer/Video/Metadata", "Makes a JPEG picture of the best view of each track",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_snapshot_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_snapshot_stop);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_snapshot_set_caps);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_ccl_snapshot_query);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_snapshot_sink_event);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_ccl_snapshot_transform_ip);
}

static void
gst_ccl_snapshot_init (GstCclSnapshot *self)
{
  self->settings = defaults;
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
