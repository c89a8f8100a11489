/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccljson
 * @title: ccljson
 * @short_description: writes the components of each frame as a line of JSON
 * @see_also: ccl, cudaccl, ccljsonparse
 *
 * Writes one JSON object and a newline for every frame. It reads only the metadata, so frames may
 * be in any memory. An empty gap buffer is no frame: it goes on as a gap event.
 *
 * |[<!-- language="plain" -->
 * {"pts":ns|null,"running_time":ns|null,"frame":n,"width":w,"height":h,"count":N,
 * "truncated":false,"components":[{"label":1,"area":a,"x":x,"y":y,"width":w,"height":h,"cx":1.5,"cy":2.25},…]}
 * ]|
 *
 * - `pts`: the frame's presentation time stamp in ns, null if it has none
 * - `running_time`: the same moment in running time, which is the same in all branches of a
 *   pipeline whatever their segments are; null outside of the segment
 * - `frame`: the number of frames that this element received before this one since it was started
 * - `width`, `height`: of the frame that boxes and centroids refer to, in pixels
 * - `labeller`: the name of the element that labelled the frame; only where several did
 * - `count`: the number of components of the frame, also when `truncated` says that `components`
 *   lists fewer; null for a frame that was not labelled, of which a warning is posted once
 * - `cx`, `cy`: the centroid, in the fewest digits that read back as the same number
 *
 * Behind `ccltrack`, each component has more fields: `id`, `state` ("tentative", "confirmed",
 * "static" or "lost"), `age` in frames, `vx` and `vy` in pixels per frame, and `ids`, the
 * identities of all tracks that are in the component. `parent` is the track that it split from; the
 * field is missing where there is none. With a `ground`, `position` is where the foot point is, [x,
 * y] in metres, and `speed` is in km/h; `position_deviation` and `speed_deviation` are their
 * standard deviations. All four are missing at the horizon and beyond. Each `ccl-track` event is a
 * line of its own before the frame's:
 *
 * |[<!-- language="plain" -->
 * {"pts":ns|null,"running_time":ns|null,"event":"merged","id":1,"other":2}
 * ]|
 *
 * - `event`: "appeared", "vanished", "merged", "split", "entered", "left", "stayed", "crossed",
 * "faster" or "slower"
 * - `other`: the other track, for "merged" and "split"; the parent, where a track that "appeared"
 * has one
 * - `class`: what the track is, where it is known
 * - `region` or `line`: the name of the region or line, for the events of regions and lines
 * - `direction`: "forward" or "backward", for "crossed"
 * - `dwell`: how long the track was inside in seconds, for "left"
 * - `speed`: in km/h, for the events of regions and lines where a `ground` is set; for "left", the
 * mean while it was inside
 *
 * Where frames have detections of another element, a component of `ccltrack` has `class`, what it
 * is, and `confidence`, 0…1, or null if it is not known; both are missing where the class is not
 * known.
 *
 * With regions or lines in `ccltrack`, each component has `in` and `crossed`, and the frame has
 * `regions`:
 *
 * |[<!-- language="plain" -->
 * {…,"components":[{…,"in":["door"],"crossed":[{"line":"gate","direction":"forward"}]},…],
 * "regions":[{"region":"door","inside":1},{"line":"gate","forward":3,"backward":0}]}
 * ]|
 *
 * - `in`: the names of the regions that the track is in
 * - `crossed`: the lines that the track crosses in this frame
 * - `inside`: the number of tracks in the region, also of those that are not listed
 * - `forward`, `backward`: how often the line was crossed since it was defined
 *
 * With `attach-contours` on the labeller, each component has `contours`, a list of closed polygons:
 * the outer boundary, then the holes.
 *
 * |[<!-- language="plain" -->
 * "contours":[{"hole":false,"points":[[x,y],…]},{"hole":true,"points":[[x,y],…]}]
 * ]|
 *
 * - `points`: pixels, or corners of pixels with `attach-contours=cracks`; the last one is joined to
 * the first one
 * - `inside`: the label of the component around this one, where it is in a hole of that
 *
 * With the property `source`, each line has the key `source`; with `utc`, it has the time of day:
 *
 * |[<!-- language="plain" -->
 * {"source":"door","utc":"2026-01-31T23:59:59.120000Z","utc_from":"sender","pts":ns|null,…}
 * ]|
 *
 * - `utc`: ISO 8601
 * - `utc_from`: "sender" if it is the time of the sender's clock, from a reference time stamp of
 * the frame, as `rtspsrc add-reference-timestamp-meta=true` attaches it; "arrival" if it is the
 * time at which the frame arrived. The time of an event is computed from the frame before it.
 *
 * With contours, the frame has `contour_kind`, "pixels" or "cracks".
 *
 * Beside encoded video, which loses the metadata, lines are a stream of their own: with the caps
 * `text/x-raw,format=utf8` behind the element, for instance for `matroskamux`, or with `meta/x-klv`
 * as KLV packets, whose values are the lines, for `mpegtsmux` and `rtpklvpay`. `ccljsonparse` reads
 * all of them.
 *
 * The output buffer of a frame has the frame's number as its offset; the buffer of an event has
 * none.
 *
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=30 ! \
 *     video/x-raw,format=GRAY8 ! ccl threshold=128 ! ccljson ! \
 *     filesink location=components.ndjson
 * ]| This writes a file of thirty lines, one for each frame.
 *
 * Since: 0.2
 */
#include <gst/base/gstbasetransform.h>
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "gstccljsontext.h"
#include "gstcclklv.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclerror.h"
#include "shared/gstcclevents.h"
#include "shared/gstcclframe.h"
#include "shared/gstcclproperty.h"

#define GST_TYPE_CCL_JSON (gst_ccl_json_get_type ())
G_DECLARE_FINAL_TYPE (GstCclJson, gst_ccl_json, GST, CCL_JSON, GstBaseTransform)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_json_debug);
#define GST_CAT_DEFAULT gst_ccl_json_debug

/* A time of day. */
typedef struct {
  gint64 time;          /* microseconds since 1970, UTC */
  gboolean from_sender; /* by the sender's clock; otherwise the time of arrival */
} Utc;

/* The values of the properties. */
typedef struct {
  gchar *labeller;
  gchar *source;
  gboolean utc;
} Settings;

/* clang-format off */
#define FIELD(field) G_STRUCT_OFFSET (Settings, field)
#define PLAYING GST_CCL_CHANGES_IN_PLAYING

static const GstCclProperty properties[] = {
  {GST_CCL_KIND_STRING, FIELD (labeller), "labeller", "Labeller",
      "Name of the element whose components are written, where several labellers are upstream "
      "(NULL = the nearest one)",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_STRING, FIELD (source), "source", "Source",
      "Name of the camera, written into every line, so that the lines of several cameras can be told "
      "apart (NULL = not written)",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
  {GST_CCL_KIND_BOOLEAN, FIELD (utc), "utc", "UTC",
      "Write the time of day: the sender's where the frame has it, else that of the arrival. Set it "
      "where lines are stored or compared with those of other cameras",
      0, 0, NULL, PLAYING, GST_CCL_ALL_CLASSES},
};
/* clang-format on */

struct _GstCclJson {
  GstBaseTransform parent;

  Settings settings; /* guarded by the object lock */

  /* The streaming thread's. */
  GstVideoInfo info;
  guint64 n_frames;
  gboolean warned;       /* a warning about a frame without GstCclMeta was posted */
  gboolean writes_klv;   /* the output is KLV packets; otherwise bare lines */
  GString *line;         /* reused for every frame */
  GQueue events;         /* GstBuffer: lines of events, pushed before the line of the next frame */
  GstClockTime last_pts; /* time stamp of the last frame; last_utc is its time of day */
  Utc last_utc;
};

G_DEFINE_TYPE_WITH_CODE (GstCclJson, gst_ccl_json, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_json_debug, "ccljson", 0, "components as JSON"))
GST_ELEMENT_REGISTER_DEFINE (ccljson, "ccljson", GST_RANK_NONE, GST_TYPE_CCL_JSON)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(ANY)"));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "application/x-ndjson; text/x-raw, format = (string) utf8; " GST_CCL_KLV_CAPS));

static void
gst_ccl_json_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  gst_ccl_property_set (&properties[id - 1], &GST_CCL_JSON (object)->settings, value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_json_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  gst_ccl_property_get (&properties[id - 1], &GST_CCL_JSON (object)->settings, value);
  GST_OBJECT_UNLOCK (object);
}

static const GstCclMeta *
get_meta (GstCclJson *self, GstBuffer *frame)
{
  const GstCclMeta *meta;

  GST_OBJECT_LOCK (self);
  meta = gst_buffer_get_ccl_meta_by_name (frame, self->settings.labeller);
  GST_OBJECT_UNLOCK (self);
  return meta;
}

static void
append_utc (GString *line, Utc utc)
{
  g_autofree gchar *text = gst_ccl_utc_format (utc.time);

  if (text)
    g_string_append_printf (
        line, "\"utc\":\"%s\",\"utc_from\":\"%s\",", text, utc.from_sender ? "sender" : "arrival");
}

static Utc
utc_of_frame (GstCclJson *self, GstBuffer *frame)
{
  self->last_utc.time = gst_ccl_utc_of_buffer (frame, &self->last_utc.from_sender);
  self->last_pts = GST_BUFFER_PTS (frame);
  return self->last_utc;
}

/* Events arrive before their frame: the time of day is computed from that of the frame before. */
static Utc
utc_of_event (GstCclJson *self, GstClockTime pts)
{
  Utc utc = self->last_utc;

  if (!GST_CLOCK_TIME_IS_VALID (self->last_pts) || !GST_CLOCK_TIME_IS_VALID (pts))
    return (Utc){g_get_real_time (), FALSE};
  utc.time += GST_CLOCK_DIFF (self->last_pts, pts) / GST_USECOND;
  return utc;
}

/* Begins a line: the source, the time of day, and the times of the stream. `frame` is NULL for an
 * event. */
static void
begin_line (GstCclJson *self, GstBuffer *frame, GstClockTime pts)
{
  GString *line = self->line;
  gboolean utc;

  g_string_assign (line, "{");
  GST_OBJECT_LOCK (self);
  if (self->settings.source) {
    g_string_append (line, "\"source\":");
    gst_ccl_json_append_string (line, self->settings.source);
    g_string_append_c (line, ',');
  }
  utc = self->settings.utc;
  GST_OBJECT_UNLOCK (self);
  if (utc)
    append_utc (line, frame ? utc_of_frame (self, frame) : utc_of_event (self, pts));
  g_string_append (line, "\"pts\":");
  gst_ccl_json_append_time (line, pts);
  g_string_append (line, ",\"running_time\":");
  gst_ccl_json_append_time (
      line, gst_ccl_running_time (&GST_BASE_TRANSFORM_CAST (self)->segment, pts));
}

static void
format_line (GstCclJson *self, GstBuffer *frame)
{
  const GstCclMeta *meta = get_meta (self, frame);
  GString *line = self->line;

  begin_line (self, frame, GST_BUFFER_PTS (frame));
  g_string_append_printf (line, ",\"frame\":%" G_GUINT64_FORMAT ",", self->n_frames);

  if (meta) {
    gst_ccl_json_append_meta (line, frame, meta);
  } else {
    gst_ccl_json_append_unlabelled (line, &self->info);
    gst_ccl_error_warn_of_missing_meta (GST_ELEMENT_CAST (self), &self->warned);
  }
  g_string_append (line, "}\n");
}

/* The line as a new buffer. */
static GstBuffer *
wrap_line (const GstCclJson *self)
{
  guint8 header[GST_CCL_KLV_HEADER_SIZE];
  GstBuffer *output;

  if (!self->writes_klv)
    return gst_buffer_new_memdup (self->line->str, self->line->len);
  gst_ccl_klv_write_header (header, self->line->len);
  output = gst_buffer_new_allocate (NULL, sizeof header + self->line->len, NULL);
  gst_buffer_fill (output, 0, header, sizeof header);
  gst_buffer_fill (output, sizeof header, self->line->str, self->line->len);
  return output;
}

static void
drop_events (GstCclJson *self)
{
  g_queue_clear_full (&self->events, (GDestroyNotify)gst_buffer_unref);
}

/* Pushes the lines of events, at the next frame or at the end of the stream: an event can arrive
 * before caps and segment, which must be pushed first, and its handler cannot return a flow. */
static GstFlowReturn
push_events (GstCclJson *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *line;

  while (flow == GST_FLOW_OK && (line = g_queue_pop_head (&self->events)))
    flow = gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), line);
  if (flow != GST_FLOW_OK)
    drop_events (self);
  return flow;
}

/* Writes the line of a ccl-track event. */
static void
write_track_event (GstCclJson *self, const GstStructure *event)
{
  static const gchar *const names[] = {"class", "region", "line", "direction"};
  static const gchar *const numbers[] = {"dwell", "speed"};
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  guint64 id = 0, other = 0;
  GString *line = self->line;
  gdouble number;
  GstBuffer *output;

  gst_structure_get_clock_time (event, "timestamp", &pts);
  gst_structure_get_uint64 (event, "id", &id);
  gst_structure_get_uint64 (event, "other", &other);
  begin_line (self, NULL, pts);
  g_string_append (line, ",\"event\":");
  gst_ccl_json_append_string (line, gst_structure_get_string (event, "event"));
  g_string_append_printf (line, ",\"id\":%" G_GUINT64_FORMAT, id);
  if (other)
    g_string_append_printf (line, ",\"other\":%" G_GUINT64_FORMAT, other);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *text = gst_structure_get_string (event, names[i]);
    if (text) {
      g_string_append_printf (line, ",\"%s\":", names[i]);
      gst_ccl_json_append_string (line, text);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (gst_structure_get_double (event, numbers[i], &number)) {
      g_string_append_printf (line, ",\"%s\":", numbers[i]);
      gst_ccl_json_append_rounded (line, number, 3);
    }
  }
  g_string_append (line, "}\n");

  output = wrap_line (self);
  GST_BUFFER_PTS (output) = pts;
  g_queue_push_tail (&self->events, output);
}

static gboolean
gst_ccl_json_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  const GstStructure *structure = gst_event_get_structure (event);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM && structure &&
      gst_structure_has_name (structure, GST_CCL_TRACK_EVENT) &&
      gst_structure_get_string (structure, "event"))
    write_track_event (GST_CCL_JSON (trans), structure);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS &&
      gst_pad_has_current_caps (GST_BASE_TRANSFORM_SRC_PAD (trans)))
    push_events (GST_CCL_JSON (trans));
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    drop_events (GST_CCL_JSON (trans));
  return GST_BASE_TRANSFORM_CLASS (gst_ccl_json_parent_class)->sink_event (trans, event);
}

/* The output's size depends on the frame's components, so the whole output is made here. */
static GstFlowReturn
gst_ccl_json_prepare_output_buffer (GstBaseTransform *trans, GstBuffer *input, GstBuffer **output)
{
  GstCclJson *self = GST_CCL_JSON (trans);
  const GstFlowReturn flow = push_events (self);

  if (flow != GST_FLOW_OK)
    return flow;
  if (gst_ccl_is_empty_gap (input)) {
    *output = gst_buffer_new ();
    return GST_FLOW_OK;
  }
  format_line (self, input);
  GST_LOG_OBJECT (self, "frame %" G_GUINT64_FORMAT ": %" G_GSIZE_FORMAT " bytes", self->n_frames,
      self->line->len);

  *output = wrap_line (self);
  gst_buffer_copy_into (*output, input, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  GST_BUFFER_FLAG_UNSET (*output, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_OFFSET (*output) = self->n_frames++;
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_json_transform (GstBaseTransform *trans, GstBuffer *input, GstBuffer *output)
{
  if (!gst_ccl_is_empty_gap (input))
    return GST_FLOW_OK;
  /* A gap event must have a time. */
  if (GST_BUFFER_PTS_IS_VALID (input))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (trans),
        gst_event_new_gap (GST_BUFFER_PTS (input), GST_BUFFER_DURATION (input)));
  return GST_BASE_TRANSFORM_FLOW_DROPPED;
}

static GstCaps *
gst_ccl_json_transform_caps (
    GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD (trans)
                                            : GST_BASE_TRANSFORM_SINK_PAD (trans);
  g_autoptr (GstCaps) other_caps = gst_pad_get_pad_template_caps (other);

  return filter ? gst_caps_intersect_full (filter, other_caps, GST_CAPS_INTERSECT_FIRST)
                : g_steal_pointer (&other_caps);
}

static gboolean
gst_ccl_json_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  /* Only frames without metadata need it, so formats that GstVideoInfo does not know are fine. */
  if (!gst_video_info_from_caps (&self->info, incaps))
    gst_video_info_init (&self->info);
  self->writes_klv = gst_structure_has_name (gst_caps_get_structure (outcaps, 0), "meta/x-klv");
  return TRUE;
}

static gboolean
gst_ccl_json_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  /* The element reads no pixel, so frames may have any layout. */
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
gst_ccl_json_start (GstBaseTransform *trans)
{
  GstCclJson *self = GST_CCL_JSON (trans);

  self->n_frames = 0;
  self->warned = FALSE;
  self->last_pts = GST_CLOCK_TIME_NONE;
  return TRUE;
}

static gboolean
gst_ccl_json_stop (GstBaseTransform *trans)
{
  drop_events (GST_CCL_JSON (trans));
  return TRUE;
}

static void
gst_ccl_json_finalize (GObject *object)
{
  GstCclJson *self = GST_CCL_JSON (object);

  g_string_free (self->line, TRUE);
  gst_ccl_properties_clear (properties, G_N_ELEMENTS (properties), &self->settings);
  G_OBJECT_CLASS (gst_ccl_json_parent_class)->finalize (object);
}

static void
gst_ccl_json_class_init (GstCclJsonClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  object_class->set_property = gst_ccl_json_set_property;
  object_class->get_property = gst_ccl_json_get_property;
  object_class->finalize = gst_ccl_json_finalize;

  gst_ccl_properties_install (
      object_class, properties, G_N_ELEMENTS (properties), GST_CCL_ALL_CLASSES, &(Settings){NULL});

  gst_element_class_set_static_metadata (element_class, "Connected components to JSON",
      "Converter/Video/Metadata",
      "Writes the components that ccl and cudaccl found as one line of JSON per frame",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->start = GST_DEBUG_FUNCPTR (gst_ccl_json_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_ccl_json_stop);
  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_json_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_json_propose_allocation);
  trans_class->prepare_output_buffer = GST_DEBUG_FUNCPTR (gst_ccl_json_prepare_output_buffer);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_ccl_json_sink_event);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_ccl_json_transform);
}

static void
gst_ccl_json_init (GstCclJson *self)
{
  self->line = g_string_new (NULL);
  g_queue_init (&self->events);
  gst_video_info_init (&self->info);
}
