/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip.h"

#include <gst/app/gstappsrc.h>
#include <string.h>

#define FRAGMENT_MS 1000

struct _Clip {
  GstElement *pipeline;
  GstElement *input; /* its appsrc; the pipeline holds it */
  const ClipFileFunctions *functions;
  gpointer file; /* until the pipeline has ended */
  GstClockTimeDiff start;
  gint has_failed; /* atomic */
  gint has_marks;  /* atomic */
  gint is_closing; /* atomic */

  /* Of the pipeline's last streaming thread. */
  goffset position; /* in the file */
  guint n_fragments;
};

/* Elements that make a stream fit for MP4; NULL if it cannot be. A stream without decoding times
 * gets them. */
static const gchar *
elements_for (GstCaps *caps, gboolean has_dts)
{
  const gchar *type = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  if (g_str_equal (type, "video/x-h264"))
    return has_dts ? "h264parse" : "h264parse ! h264timestamper";
  if (g_str_equal (type, "video/x-h265"))
    return has_dts ? "h265parse" : "h265parse ! h265timestamper";
  if (g_str_equal (type, "video/mpeg"))
    return "mpeg4videoparse";
  if (g_str_equal (type, "video/x-av1"))
    return "av1parse";
  if (g_str_equal (type, "video/x-vp9"))
    return "vp9parse";
  return NULL;
}

gboolean
clip_takes (GstCaps *caps)
{
  return elements_for (caps, TRUE) != NULL;
}

/* The caller holds the clip until its end, and the pipeline until it is closed. */

static void
clear_clip (Clip *clip)
{
  gst_object_unref (clip->pipeline);
}

static void
clip_unref (gpointer clip)
{
  g_atomic_rc_box_release_full (clip, (GDestroyNotify)clear_clip);
}

/* Stops the pipeline, in a thread that is none of its own. */
static void
close_clip (GstElement *pipeline, gpointer data)
{
  Clip *clip = data;

  gst_element_set_state (pipeline, GST_STATE_NULL);
  clip->functions->end (clip->file, !g_atomic_int_get (&clip->has_failed));
}

/* Has the pipeline stopped, once, although an error and an end may both be reported. */
static void
close_later (Clip *clip)
{
  if (g_atomic_int_compare_and_exchange (&clip->is_closing, FALSE, TRUE))
    gst_element_call_async (clip->pipeline, close_clip, clip, clip_unref);
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Clip *clip = data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_error (message, &error, NULL);
    clip->functions->fail (clip->file, error->message);
    g_atomic_int_set (&clip->has_failed, TRUE);
    close_later (clip);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* What the muxer makes. */

/* Whether the buffer begins a fragment. */
static gboolean
is_fragment (GstBuffer *buffer)
{
  guint8 head[8];

  return gst_buffer_extract (buffer, 0, head, sizeof head) == sizeof head &&
         memcmp (head + 4, "moof", 4) == 0;
}

static void
write_buffer (Clip *clip, GstBuffer *buffer)
{
  /* The first fragment follows the head, which is of no use alone. */
  if (is_fragment (buffer) && clip->n_fragments++ > 0) {
    clip->functions->mark (clip->file);
    g_atomic_int_set (&clip->has_marks, TRUE);
  }
  if (!clip->functions->write (clip->file, clip->position, gst_buffer_ref (buffer)))
    g_atomic_int_set (&clip->has_failed, TRUE);
  clip->position += gst_buffer_get_size (buffer);
}

static void
take_event (Clip *clip, GstEvent *event)
{
  const GstSegment *segment;

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    close_later (clip);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_BYTES)
      clip->position = segment->start;
  }
}

static GstPadProbeReturn
on_output (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Clip *clip = data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    write_buffer (clip, GST_PAD_PROBE_INFO_BUFFER (info));
  } else if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);

    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      write_buffer (clip, gst_buffer_list_get (list, i));
  } else if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    take_event (clip, GST_PAD_PROBE_INFO_EVENT (info));
  } else if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_SEEKING) {
    /* At the end, the muxer writes the duration into the head. */
    gst_query_set_seeking (GST_PAD_PROBE_INFO_QUERY (info), GST_FORMAT_BYTES, TRUE, 0, -1);
    return GST_PAD_PROBE_HANDLED;
  }
  return GST_PAD_PROBE_OK;
}

/* The interface. */

static GstElement *
build_pipeline (const gchar *elements, GError **error)
{
  g_autofree gchar *description =
      g_strdup_printf ("appsrc name=in format=time max-bytes=0 ! %s ! "
                       "mp4mux name=muxer fragment-duration=%d ! "
                       "fakesink name=out async=false sync=false enable-last-sample=false",
          elements, FRAGMENT_MS);
  GstElement *pipeline =
      gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);

  return pipeline ? gst_object_ref_sink (pipeline) : NULL;
}

/* Connects the clip with its pipeline. */
static void
connect_pipeline (Clip *clip, GstCaps *caps)
{
  g_autoptr (GstElement) output = gst_bin_get_by_name (GST_BIN (clip->pipeline), "out");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (output, "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (clip->pipeline);

  clip->input = gst_bin_get_by_name (GST_BIN (clip->pipeline), "in");
  gst_object_unref (clip->input);
  gst_app_src_set_caps (GST_APP_SRC (clip->input), caps);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      on_output, clip, NULL);
  gst_bus_set_sync_handler (bus, on_message, clip, NULL);
}

static void
set_title (GstElement *pipeline, const gchar *title)
{
  g_autoptr (GstElement) muxer = gst_bin_get_by_name (GST_BIN (pipeline), "muxer");

  gst_tag_setter_add_tags (
      GST_TAG_SETTER (muxer), GST_TAG_MERGE_REPLACE, GST_TAG_TITLE, title, NULL);
}

Clip *
clip_new (const ClipFileFunctions *functions, gpointer file, GstCaps *caps, gboolean has_dts,
    GstClockTimeDiff start, const gchar *title, GError **error)
{
  GstElement *pipeline = build_pipeline (elements_for (caps, has_dts), error);
  Clip *clip;

  if (!pipeline)
    return NULL;
  clip = g_atomic_rc_box_new0 (Clip);
  clip->pipeline = pipeline;
  clip->functions = functions;
  clip->file = file;
  clip->start = start;
  connect_pipeline (clip, caps);
  if (title)
    set_title (pipeline, title);
  g_atomic_rc_box_acquire (clip); /* for the pipeline */
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return clip;
}

void
clip_add (Clip *clip, GstBuffer *buffer, GstClockTimeDiff running_time)
{
  GstClockTime time = MAX (0, running_time - clip->start);
  GstClockTime pts, dts;

  buffer = gst_buffer_copy (buffer);
  pts = GST_BUFFER_PTS (buffer);
  dts = GST_BUFFER_DTS (buffer);
  /* The running time is that of the DTS, or of the PTS where there is no DTS. */
  if (GST_CLOCK_TIME_IS_VALID (dts)) {
    GST_BUFFER_DTS (buffer) = time;
    if (GST_CLOCK_TIME_IS_VALID (pts))
      GST_BUFFER_PTS (buffer) = time + (pts - MIN (dts, pts));
  } else {
    GST_BUFFER_PTS (buffer) = time;
  }
  gst_app_src_push_buffer (GST_APP_SRC (clip->input), buffer);
}

GstClockTimeDiff
clip_get_start (Clip *clip)
{
  return clip->start;
}

guint64
clip_get_waiting (Clip *clip)
{
  return gst_app_src_get_current_level_bytes (GST_APP_SRC (clip->input));
}

gboolean
clip_has_failed (Clip *clip)
{
  return g_atomic_int_get (&clip->has_failed);
}

gboolean
clip_can_be_played (Clip *clip)
{
  return g_atomic_int_get (&clip->has_marks);
}

void
clip_end (Clip *clip)
{
  gst_app_src_end_of_stream (GST_APP_SRC (clip->input));
  clip_unref (clip);
}
