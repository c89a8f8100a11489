/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-ccljsonparse
 * @title: ccljsonparse
 * @short_description: makes metadata of the lines of ccljson
 * @see_also: ccljson, cclcombiner, ccloverlay
 *
 * Reads what `ccljson` wrote and makes the metadata again: components, tracks, classes, columns,
 * contours and the state of regions. For each line of a frame it pushes a black frame of that size
 * with the #GstCclMeta; all frames share one memory, so they cost nothing. `ccloverlay` draws the
 * components on them, and `cclcombiner` attaches the metadata to the frames of a video with the
 * same time stamps. The line of an event becomes the element message and the custom downstream
 * event `ccl-track` that `ccltrack` sent.
 *
 * Lines come from a file, or from a stream beside encoded video:
 *
 * - `application/x-ndjson`: lines, in pieces of any size; also from `rtpgstdepay`
 * - `text/x-raw`: a text stream, for instance of Matroska
 * - `meta/x-klv`: packets, for instance of MPEG-TS or `rtpklvdepay`. Those with another key are
 *   skipped
 *
 * Where the stream has times, as behind a demuxer, they are those of the frames. Otherwise `pts`
 * and `running_time` of the lines are, with a segment in which they belong together; such a stream
 * cannot be sought in.
 *
 * A `ccljson` behind it writes the same lines again, with `utc=true` where they have a time of day.
 * Three things are lost, as lines do not have them: which labeller it was, where a frame had
 * several
 * (`labeller`); in which component another one is (`inside` of its contours), where the former has
 * no row; and the `source`, which its property sets. Also label map, mask, settings of the
 * labeller, the direction of a speed over ground, and the shapes of regions are not in the lines.
 *
 * A line that cannot be read is left out, and a warning is posted for the first one. A line of more
 * than 64 MiB, broken packets, and a stream without a single line of `ccljson` are errors.
 *
 * |[
 * gst-launch-1.0 filesrc location=components.ndjson ! ccljsonparse ! ccloverlay ! \
 *     videoconvert ! autovideosink sync=true
 * ]| This replays what was found.
 *
 * Since: 0.4
 */
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <string.h>

#include "gstccljsonline.h"
#include "gstccljsonsplitter.h"
#include "gstcclklv.h"
#include "shared/gstcclelements.h"
#include "shared/gstcclevents.h"
#include "shared/gstcclframe.h"
#include "shared/gstccli18n.h"

#define GST_TYPE_CCL_JSON_PARSE (gst_ccl_json_parse_get_type ())
G_DECLARE_FINAL_TYPE (GstCclJsonParse, gst_ccl_json_parse, GST, CCL_JSON_PARSE, GstElement)

GST_DEBUG_CATEGORY_STATIC (gst_ccl_json_parse_debug);
#define GST_CAT_DEFAULT gst_ccl_json_parse_debug

struct _GstCclJsonParse {
  GstElement parent;

  GstPad *sink, *src;

  /* Of the streaming thread. */
  GstCclJsonSplitter splitter;
  GstSegment segment;      /* segment of the output; undefined until one was pushed */
  GstEvent *input_segment; /* to be pushed before the next frame; NULL: none */
  gboolean has_times;      /* the input has time stamps, which the output takes over */
  GstMemory *black;        /* the pixels of all frames of this size */
  guint width, height;     /* of the frames, in the negotiated caps */
  guint64 n_lines;         /* lines that were read */
  gboolean warned;         /* a warning about a line that cannot be read was posted */
};

G_DEFINE_TYPE_WITH_CODE (GstCclJsonParse, gst_ccl_json_parse, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_json_parse_debug, "ccljsonparse", 0, "metadata of JSON"))
GST_ELEMENT_REGISTER_DEFINE (ccljsonparse, "ccljsonparse", GST_RANK_NONE, GST_TYPE_CCL_JSON_PARSE)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS ("application/x-ndjson; text/x-raw, format = (string) { utf8, pango-markup "
                         "}; " GST_CCL_KLV_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("GRAY8")));

/* calloc() takes no pages for large memory until somebody reads or writes it. */
static GstMemory *
new_black (gsize size)
{
  gpointer data = calloc (1, size);

  return data ? gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, data, size, 0, size, data, free)
              : NULL;
}

/* Negotiates frames of that size. */
static GstFlowReturn
set_size (GstCclJsonParse *self, guint width, guint height)
{
  GstVideoInfo info;
  g_autoptr (GstCaps) caps = NULL;

  if (width == self->width && height == self->height)
    return GST_FLOW_OK;
  g_clear_pointer (&self->black, gst_memory_unref);
  if (gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, height))
    self->black = new_black (GST_VIDEO_INFO_SIZE (&info));
  if (!self->black) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        (_ ("Not enough memory for a frame of %u×%u pixels"), width, height), (NULL));
    return GST_FLOW_ERROR;
  }
  caps = gst_video_info_to_caps (&info);
  if (!gst_pad_push_event (self->src, gst_event_new_caps (caps)))
    return GST_PAD_IS_FLUSHING (self->src) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
  self->width = width;
  self->height = height;
  return GST_FLOW_OK;
}

/* Pushes the segment of the input, or the one in which the time stamp has the running time of the
 * line, unless the present one does. Caps come before it. */
static void
update_segment (GstCclJsonParse *self, const GstCclJsonLine *line)
{
  GstSegment segment;

  if (self->input_segment)
    gst_pad_push_event (self->src, g_steal_pointer (&self->input_segment));
  if (self->has_times)
    return;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (GST_CLOCK_TIME_IS_VALID (line->pts) && GST_CLOCK_TIME_IS_VALID (line->running_time)) {
    if (gst_ccl_running_time (&self->segment, line->pts) == line->running_time)
      return;
    if (line->pts >= line->running_time)
      segment.start = segment.time = segment.position = line->pts - line->running_time;
    else
      segment.base = line->running_time - line->pts;
  } else if (self->segment.format == GST_FORMAT_TIME) {
    return;
  }
  self->segment = segment;
  gst_pad_push_event (self->src, gst_event_new_segment (&segment));
}

/* Takes the frame of the line. */
static GstFlowReturn
push_frame (GstCclJsonParse *self, GstCclJsonLine *line, GstBuffer *input)
{
  GstBuffer *frame = line->frame;
  const GstFlowReturn flow = set_size (self, line->width, line->height);

  if (flow != GST_FLOW_OK)
    return flow;
  update_segment (self, line);
  line->frame = NULL;
  gst_buffer_append_memory (frame, gst_memory_ref (self->black));
  if (self->has_times && input)
    gst_buffer_copy_into (frame, input, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return gst_pad_push (self->src, frame);
}

static gboolean
copy_field (GQuark field, const GValue *value, gpointer structure)
{
  gst_structure_id_set_value (structure, field, value);
  return TRUE;
}

/* Posts the message and pushes the event that ccltrack sent. */
static void
push_event (GstCclJsonParse *self, const GstCclJsonLine *line, GstBuffer *input)
{
  const GstClockTime pts = self->has_times && input ? GST_BUFFER_PTS (input) : line->pts;
  GstStructure *event = gst_ccl_moment_structure (GST_CCL_TRACK_EVENT, pts, &self->segment);

  gst_structure_foreach (line->event, copy_field, event);
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self), gst_structure_copy (event)));
  gst_pad_push_event (self->src, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, event));
}

/* Warns of the first line that cannot be read. */
static void
refuse_line (GstCclJsonParse *self, const gchar *reason)
{
  GST_DEBUG_OBJECT (self, "a line is left out: %s", reason);
  if (self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, DECODE,
      (_ ("A line that ccljson does not write is left out: %s"), reason), (NULL));
}

static GstFlowReturn
handle_line (GstCclJsonParse *self, const gchar *text, gsize size, GstBuffer *input)
{
  GstFlowReturn flow = GST_FLOW_OK;
  g_autoptr (GError) error = NULL;
  GstCclJsonLine line;

  if (!gst_ccl_json_line_read (&line, text, size, &error)) {
    refuse_line (self, error->message);
    return GST_FLOW_OK;
  }
  self->n_lines++;
  if (line.event)
    push_event (self, &line, input);
  else
    flow = push_frame (self, &line, input);
  gst_ccl_json_line_clear (&line);
  return flow;
}

/* Handles the lines that are complete, or, at the end, all. */
static GstFlowReturn
handle_lines (GstCclJsonParse *self, gboolean at_end, GstBuffer *input)
{
  GstFlowReturn flow = GST_FLOW_OK;
  const gchar *text;
  gsize size;

  while (flow == GST_FLOW_OK) {
    switch (gst_ccl_json_splitter_next (&self->splitter, at_end, &text, &size)) {
    case GST_CCL_JSON_FOUND:
      flow = handle_line (self, text, size, input);
      break;
    case GST_CCL_JSON_DEEP:
      refuse_line (self, "its objects and lists are too deep in each other");
      break;
    case GST_CCL_JSON_NO_LINE:
      return GST_FLOW_OK;
    case GST_CCL_JSON_BROKEN:
      GST_ELEMENT_ERROR (self, STREAM, DECODE,
          (_ ("The lines of JSON end: one is longer than 64 MiB, or a packet is broken")), (NULL));
      return GST_FLOW_ERROR;
    }
  }
  return flow;
}

static GstFlowReturn
gst_ccl_json_parse_chain (GstPad *pad, GstObject *parent, GstBuffer *input)
{
  GstCclJsonParse *self = GST_CCL_JSON_PARSE (parent);
  GstFlowReturn flow = GST_FLOW_ERROR;
  GstMapInfo map;

  if (GST_BUFFER_IS_DISCONT (input) && !self->has_times)
    gst_ccl_json_splitter_reset (&self->splitter, self->splitter.form);
  if (!gst_buffer_map (input, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, (_ ("Lines of JSON cannot be read")), (NULL));
  } else {
    gst_ccl_json_splitter_push (&self->splitter, map.data, map.size);
    gst_buffer_unmap (input, &map);
    flow = handle_lines (self, FALSE, input);
  }
  gst_buffer_unref (input);
  return flow;
}

static GstCclJsonForm
form_of (const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);

  if (gst_structure_has_name (structure, "meta/x-klv"))
    return GST_CCL_JSON_FORM_KLV;
  return g_strcmp0 (gst_structure_get_string (structure, "format"), "pango-markup") == 0
             ? GST_CCL_JSON_FORM_MARKUP
             : GST_CCL_JSON_FORM_LINES;
}

/* Ends the stream. The bytes that are left are its last line; without any line it is an error. */
static void
end_stream (GstCclJsonParse *self)
{
  const gboolean had_bytes = self->splitter.bytes->len > 0 || self->warned;

  handle_lines (self, TRUE, NULL);
  if (self->n_lines == 0 && had_bytes)
    GST_ELEMENT_ERROR (
        self, STREAM, WRONG_TYPE, (_ ("No line of the stream is one of ccljson")), (NULL));
}

/* Keeps the segment of an input with time stamps, to be pushed before the first frame. Takes the
 * event. */
static void
take_segment (GstCclJsonParse *self, GstEvent *event)
{
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  gst_clear_event (&self->input_segment);
  self->has_times = segment->format == GST_FORMAT_TIME;
  if (self->has_times) {
    self->segment = *segment;
    self->input_segment = event;
  } else {
    gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
    gst_event_unref (event);
  }
}

static gboolean
gst_ccl_json_parse_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstCclJsonParse *self = GST_CCL_JSON_PARSE (parent);
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS: /* the output's caps follow from the first line */
    gst_event_parse_caps (event, &caps);
    gst_ccl_json_splitter_reset (&self->splitter, form_of (caps));
    gst_event_unref (event);
    return TRUE;
  case GST_EVENT_SEGMENT:
    take_segment (self, event);
    return TRUE;
  case GST_EVENT_FLUSH_STOP:
    gst_ccl_json_splitter_reset (&self->splitter, self->splitter.form);
    gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
    break;
  case GST_EVENT_EOS:
    end_stream (self);
    break;
  case GST_EVENT_CUSTOM_DOWNSTREAM: /* not passed on: lines contain the event, too */
    if (gst_event_has_name (event, GST_CCL_TRACK_EVENT)) {
      gst_event_unref (event);
      return TRUE;
    }
    break;
  default:
    break;
  }
  return gst_pad_event_default (pad, parent, event);
}

static void
reset (GstCclJsonParse *self)
{
  gst_ccl_json_splitter_reset (&self->splitter, GST_CCL_JSON_FORM_LINES);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  g_clear_pointer (&self->black, gst_memory_unref);
  gst_clear_event (&self->input_segment);
  self->has_times = self->warned = FALSE;
  self->width = self->height = 0;
  self->n_lines = 0;
}

static GstStateChangeReturn
gst_ccl_json_parse_change_state (GstElement *element, GstStateChange transition)
{
  GstCclJsonParse *self = GST_CCL_JSON_PARSE (element);
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    reset (self);
  result = GST_ELEMENT_CLASS (gst_ccl_json_parse_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    reset (self);
  return result;
}

static void
gst_ccl_json_parse_finalize (GObject *object)
{
  GstCclJsonParse *self = GST_CCL_JSON_PARSE (object);

  g_clear_pointer (&self->black, gst_memory_unref);
  gst_clear_event (&self->input_segment);
  gst_ccl_json_splitter_clear (&self->splitter);
  G_OBJECT_CLASS (gst_ccl_json_parse_parent_class)->finalize (object);
}

static void
gst_ccl_json_parse_class_init (GstCclJsonParseClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_ccl_json_parse_finalize;
  gst_element_class_set_static_metadata (element_class, "JSON to connected components",
      "Parser/Video/Metadata",
      "Makes black frames with the components, tracks and events that ccljson wrote as lines",
      GST_CCL_AUTHOR);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  element_class->change_state = GST_DEBUG_FUNCPTR (gst_ccl_json_parse_change_state);
}

static void
gst_ccl_json_parse_init (GstCclJsonParse *self)
{
  self->sink = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sink, GST_DEBUG_FUNCPTR (gst_ccl_json_parse_chain));
  gst_pad_set_event_function (self->sink, GST_DEBUG_FUNCPTR (gst_ccl_json_parse_sink_event));
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->sink);
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->src);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->src);
  gst_ccl_json_splitter_init (&self->splitter);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
}
