/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames a second through the elements: `cudaccl ! fakesink` with masks that lie in CUDA memory
 * already, or `ccl ! fakesink` with masks in ordinary memory, several streams in one process.
 *
 * Each stream has a thread that pushes references to the same few frames as fast as they are
 * taken, so nothing but the element and the sink is measured.
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if HAVE_CUDA
#include <gst/ccl/gstcclcuda.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#endif

enum { N_FRAMES = 4 }; /* a decoder's pool, in small */

typedef struct Stream {
  GstElement *pipeline;
  GstPad *source;
  GstBuffer *frames[N_FRAMES];
  gint64 end; /* monotonic time, in µs */
  guint64 n_pushed;
  GstFlowReturn flow;
  GThread *thread;
} Stream;

/* The first frame of a picture, as GRAY8. */
static GstSample *
load_mask (const gchar *path, GError **error)
{
  GstElement *pipeline =
      gst_parse_launch ("filesrc name=file ! pngdec ! videoconvert ! "
                        "video/x-raw,format=GRAY8 ! appsink name=sink sync=false",
          error);
  if (!pipeline)
    return NULL;
  GstElement *file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;
  g_object_set (file, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  if (!sample) {
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    if (message)
      gst_message_parse_error (message, error, NULL);
    else
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "%s has no picture", path);
    gst_clear_message (&message);
    gst_object_unref (bus);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (file);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return sample;
}

/* A frame with those pixels where the element takes them without a copy. */
static GstBuffer *
make_frame (const GstVideoInfo *info, GstBuffer *pixels, gpointer cuda_context)
{
#if HAVE_CUDA
  if (cuda_context) {
    GstBuffer *frame = gst_ccl_cuda_buffer_new_gray8 (
        cuda_context, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
    GstVideoFrame from, to;
    if (!frame)
      return NULL;
    if (!gst_video_frame_map (&from, info, pixels, GST_MAP_READ))
      g_error ("the mask cannot be read");
    if (!gst_video_frame_map (&to, info, frame, GST_MAP_WRITE))
      g_error ("CUDA memory cannot be written");
    gst_video_frame_copy (&to, &from);
    gst_video_frame_unmap (&to);
    gst_video_frame_unmap (&from);
    /* The upload happens when somebody wants to see the device memory. */
    GstMapInfo map;
    if (gst_buffer_map (frame, &map, GST_MAP_READ | GST_MAP_CUDA))
      gst_buffer_unmap (frame, &map);
    return frame;
  }
#endif
  return gst_buffer_copy_deep (pixels);
}

static gpointer
push_frames (gpointer data)
{
  Stream *stream = data;
  while (stream->flow == GST_FLOW_OK && g_get_monotonic_time () < stream->end) {
    GstBuffer *frame = gst_buffer_copy (stream->frames[stream->n_pushed % N_FRAMES]);
    stream->flow = gst_pad_push (stream->source, frame);
    stream->n_pushed++;
  }
  return NULL;
}

static gboolean
start_stream (Stream *stream, const gchar *element, GstCaps *caps)
{
  gchar *description = g_strdup_printf ("%s name=labeller ! fakesink sync=false", element);
  stream->pipeline = gst_parse_launch (description, NULL);
  g_free (description);
  if (!stream->pipeline)
    return FALSE;
  GstElement *labeller = gst_bin_get_by_name (GST_BIN (stream->pipeline), "labeller");
  GstPad *sink = gst_element_get_static_pad (labeller, "sink");
  stream->source = gst_pad_new ("source", GST_PAD_SRC);
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_element_set_state (stream->pipeline, GST_STATE_PLAYING);
  gst_pad_set_active (stream->source, TRUE);
  gboolean linked = gst_pad_link (stream->source, sink) == GST_PAD_LINK_OK;
  gst_pad_push_event (stream->source, gst_event_new_stream_start ("masks"));
  linked = linked && gst_pad_push_event (stream->source, gst_event_new_caps (caps));
  gst_pad_push_event (stream->source, gst_event_new_segment (&segment));
  gst_object_unref (sink);
  gst_object_unref (labeller);
  return linked;
}

static double
cpu_seconds (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
         1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Runs that many streams at once and prints a line. */
static gboolean
measure (const gchar *element, guint n_streams, double seconds, GstCaps *caps, GstBuffer **frames)
{
  Stream *streams = g_new0 (Stream, n_streams);
  gboolean ok = TRUE;
  guint64 n_pushed = 0;

  for (guint i = 0; i < n_streams && ok; i++) {
    ok = start_stream (&streams[i], element, caps);
    for (guint k = 0; k < N_FRAMES && ok; k++) {
      streams[i].frames[k] = frames[k];
      /* The first frames bring the GPU up to speed and the element's plan about. */
      streams[i].flow = gst_pad_push (streams[i].source, gst_buffer_copy (frames[k]));
      ok = streams[i].flow == GST_FLOW_OK;
    }
  }
  const gint64 start = g_get_monotonic_time ();
  const double cpu_start = cpu_seconds ();
  for (guint i = 0; i < n_streams && ok; i++) {
    streams[i].end = start + (gint64)(1e6 * seconds);
    streams[i].thread = g_thread_new ("stream", push_frames, &streams[i]);
  }
  for (guint i = 0; i < n_streams; i++) {
    if (streams[i].thread)
      g_thread_join (streams[i].thread);
    n_pushed += streams[i].n_pushed;
    ok = ok && streams[i].flow == GST_FLOW_OK;
  }
  const double elapsed = 1e-6 * (g_get_monotonic_time () - start);
  const double cpu = cpu_seconds () - cpu_start;
  for (guint i = 0; i < n_streams; i++) {
    if (!streams[i].pipeline)
      continue;
    gst_element_set_state (streams[i].pipeline, GST_STATE_NULL);
    gst_pad_set_active (streams[i].source, FALSE);
    gst_object_unref (streams[i].source);
    gst_object_unref (streams[i].pipeline);
  }
  g_free (streams);
  if (!ok) {
    g_printerr ("%s: a stream did not run\n", element);
    return FALSE;
  }
  printf ("%-40s %7u %12.0f %12.1f %14.1f\n", element, n_streams, n_pushed / elapsed,
      1e6 * elapsed * n_streams / n_pushed, 1e6 * cpu / n_pushed);
  return TRUE;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc < 3) {
    g_printerr ("usage: %s MASK.png ELEMENT [STREAMS…]\n"
                "  ELEMENT  ccl or cudaccl, with properties if wanted: \"cudaccl min-area=50\"\n"
                "  STREAMS  numbers of streams, one measurement each; default: 1 8\n",
        argv[0]);
    return 2;
  }
  GError *error = NULL;
  GstSample *mask = load_mask (argv[1], &error);
  if (!mask) {
    g_printerr ("%s: %s\n", argv[1], error->message);
    return 1;
  }
  GstCaps *caps = gst_caps_copy (gst_sample_get_caps (mask));
  GstVideoInfo info;
  if (!gst_video_info_from_caps (&info, caps))
    g_error ("the mask is no video frame");

  gpointer cuda_context = NULL;
#if HAVE_CUDA
  if (g_str_has_prefix (argv[2], "cudaccl")) {
    if (!gst_cuda_load_library () || !(cuda_context = gst_cuda_context_new (0))) {
      g_printerr ("there is no CUDA device that works on this machine\n");
      return 1;
    }
    gst_caps_set_features (
        caps, 0, gst_caps_features_new_single (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY));
  }
#endif
  GstBuffer *frames[N_FRAMES];
  for (guint i = 0; i < N_FRAMES; i++) {
    frames[i] = make_frame (&info, gst_sample_get_buffer (mask), cuda_context);
    if (!frames[i]) {
      g_printerr ("no memory for a frame\n");
      return 1;
    }
  }
  printf ("%-40s %7s %12s %12s %14s\n", "element", "streams", "frames/s", "µs a frame",
      "CPU µs a frame");
  gboolean ok = TRUE;
  if (argc == 3)
    ok = measure (argv[2], 1, 3, caps, frames) && measure (argv[2], 8, 3, caps, frames);
  for (int i = 3; i < argc && ok; i++)
    ok = measure (argv[2], MAX (1, atoi (argv[i])), 3, caps, frames);

  for (guint i = 0; i < N_FRAMES; i++)
    gst_buffer_unref (frames[i]);
  gst_caps_unref (caps);
  gst_sample_unref (mask);
  gst_clear_object (&cuda_context);
  return ok ? 0 : 1;
}
