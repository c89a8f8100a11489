/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames per second and CPU time per frame of elements, several streams in one process: `cudaccl !
 * fakesink` with frames in CUDA memory, or any other elements with frames in system memory.
 *
 * Each stream has a thread that pushes references to the same few frames of its own without pause,
 * so that nothing but the elements and the sink is measured. Frames in CUDA memory are spread over
 * the GPUs, stream by stream. With --batch, a stream's buffers are batches of several frames each.
 */
#include "element-stream.h"

#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if HAVE_CUDA
#include <gst/ccl/ccl.h>
#include <gst/cuda/gstcudamemory.h>
#endif

#if HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif
#define BATCH_CAPS "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)"
#define HAS_BATCHES (HAVE_ANALYTICS && GST_CHECK_VERSION (1, 28, 0))

enum { N_FRAMES = 4, MOST_DEVICES = 16 };

static struct {
  gchar *format, *before;
  gint n_devices, device, batch;
  double seconds;
} options = {.n_devices = 1, .device = -1, .seconds = 3};

/* What all streams show. */
typedef struct Picture {
  GstCaps *caps;        /* of frames */
  GstCaps *pushed_caps; /* of the pushed buffers: frames or batches */
  GstVideoInfo info;
  GstBuffer *pixels;
  gpointer cuda_contexts[MOST_DEVICES + 1]; /* ended by NULL; none: frames in system memory */
} Picture;

typedef struct Stream {
  ElementStream elements;
  gint64 end; /* monotonic time in µs */
  GstBuffer *frames[N_FRAMES];
  GstEvent *caps;   /* of the frames in batches */
  guint64 n_pushed; /* frames */
  GstFlowReturn flow;
  GThread *thread;
} Stream;

/* The first frame of a picture after the elements of --before. */
static GstSample *
load_picture (const gchar *path)
{
  g_autofree gchar *text = g_strdup_printf ("filesrc name=file ! pngdec ! videoconvert ! "
                                            "video/x-raw,format=%s ! %s ! appsink name=sink",
      options.format ? options.format : "GRAY8", options.before ? options.before : "identity");
  g_autoptr (GstElement) pipeline = parse_pipeline (text);
  g_autoptr (GstElement) file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;

  g_object_set (file, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  /* A failed pipeline never has a sample, and appsink would wait for it. */
  if (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS)
    g_signal_emit_by_name (sink, "pull-preroll", &sample);
  if (!sample) {
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    GError *error = NULL;
    if (message)
      gst_message_parse_error (message, &error, NULL);
    end_program ("%s: %s", path, error ? error->message : "no picture");
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}

static GstBuffer *
make_frame (const Picture *picture, gpointer cuda_context)
{
#if HAVE_CUDA
  if (cuda_context) {
    const GstVideoInfo *info = &picture->info;
    GstBuffer *frame = gst_ccl_cuda_buffer_new_gray8 (
        cuda_context, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), NULL);
    GstVideoFrame from, to;
    GstMapInfo map;
    if (!frame || !gst_video_frame_map (&from, info, picture->pixels, GST_MAP_READ) ||
        !gst_video_frame_map (&to, info, frame, GST_MAP_WRITE))
      end_program ("no CUDA memory for a frame");
    gst_video_frame_copy (&to, &from);
    gst_video_frame_unmap (&to);
    gst_video_frame_unmap (&from);
    /* Mapping the device memory uploads the frame. */
    if (gst_buffer_map (frame, &map, GST_MAP_READ | GST_MAP_CUDA))
      gst_buffer_unmap (frame, &map);
    return frame;
  }
#endif
  return gst_buffer_copy_deep (picture->pixels);
}

/* As after a decoder on the GPU: a copy of CUDA memory in system memory is out of date. */
static void
mark_as_written (GstBuffer *frame)
{
#if HAVE_CUDA
  GstMemory *memory = gst_buffer_peek_memory (frame, 0);

  if (gst_is_cuda_memory (memory))
    GST_MINI_OBJECT_FLAG_SET (memory, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
#endif
}

/* A reference to a frame of the stream, which are taken in turn. */
static GstBuffer *
next_frame (Stream *stream)
{
  GstBuffer *frame = gst_buffer_copy (stream->frames[stream->n_pushed++ % N_FRAMES]);

  mark_as_written (frame);
  return frame;
}

#if HAS_BATCHES

/* A batch of streams with a frame each. */
static GstBuffer *
next_batch (Stream *stream)
{
  GstBuffer *batch = gst_buffer_new ();
  GstAnalyticsBatchMeta *meta = gst_buffer_add_analytics_batch_meta (batch);

  meta->n_streams = (gsize)options.batch;
  meta->streams = g_new0 (GstAnalyticsBatchStream, meta->n_streams);
  for (guint i = 0; i < meta->n_streams; i++) {
    GstAnalyticsBatchStream *s = &meta->streams[i];
    s->index = i;
    s->n_sticky_events = s->n_objects = 1;
    s->sticky_events = g_new (GstEvent *, 1);
    s->sticky_events[0] = gst_event_ref (stream->caps);
    s->objects = g_new (GstMiniObject *, 1);
    s->objects[0] = GST_MINI_OBJECT_CAST (next_frame (stream));
  }
  return batch;
}

#else

static GstBuffer *
next_batch (Stream *stream)
{
  end_program ("batches need GStreamer 1.28");
}

#endif

static void
push (Stream *stream)
{
  GstBuffer *buffer = options.batch ? next_batch (stream) : next_frame (stream);

  stream->flow = gst_pad_push (stream->elements.source, buffer);
}

static gpointer
push_frames (gpointer data)
{
  Stream *stream = data;

  while (stream->flow == GST_FLOW_OK && g_get_monotonic_time () < stream->end)
    push (stream);
  return NULL;
}

/* Starts the elements and pushes each frame once, so that they have made their plans. */
static void
start_stream (Stream *stream, const gchar *elements, const Picture *picture, gpointer cuda_context)
{
  stream->elements = element_stream_start (elements, picture->pushed_caps, picture->cuda_contexts);
  stream->caps = gst_event_new_caps (picture->caps);
  for (guint i = 0; i < N_FRAMES; i++)
    stream->frames[i] = make_frame (picture, cuda_context);
  for (guint i = 0; i < N_FRAMES && stream->flow == GST_FLOW_OK; i++)
    push (stream);
  if (stream->flow != GST_FLOW_OK)
    end_program ("%s: %s", elements, gst_flow_get_name (stream->flow));
  stream->n_pushed = 0;
}

/* The GPU that holds the frames of a stream. */
static guint
device_of (guint stream)
{
  return options.device < 0 ? stream % (guint)options.n_devices : (guint)options.device;
}

/* Runs that many streams at once and prints a line. */
static void
measure (const gchar *elements, guint n_streams, const Picture *picture)
{
  g_autofree Stream *streams = g_new0 (Stream, n_streams);
  guint64 n_pushed = 0;

  for (guint i = 0; i < n_streams; i++)
    start_stream (&streams[i], elements, picture, picture->cuda_contexts[device_of (i)]);
  const gint64 start = g_get_monotonic_time ();
  const clock_t cpu_start = clock (); /* of all threads */
  for (guint i = 0; i < n_streams; i++) {
    streams[i].end = start + (gint64)(1e6 * options.seconds);
    streams[i].thread = g_thread_new ("stream", push_frames, &streams[i]);
  }
  for (guint i = 0; i < n_streams; i++) {
    g_thread_join (streams[i].thread);
    n_pushed += streams[i].n_pushed;
    if (streams[i].flow != GST_FLOW_OK)
      end_program ("%s: %s", elements, gst_flow_get_name (streams[i].flow));
  }
  const double elapsed = 1e-6 * (g_get_monotonic_time () - start);
  const double cpu = (double)(clock () - cpu_start) / CLOCKS_PER_SEC;
  for (guint i = 0; i < n_streams; i++) {
    element_stream_stop (&streams[i].elements);
    gst_event_unref (streams[i].caps);
    for (guint k = 0; k < N_FRAMES; k++)
      gst_buffer_unref (streams[i].frames[k]);
  }
  printf ("%-40s %7u %12.0f %12.1f %14.1f\n", elements, n_streams, n_pushed / elapsed,
      1e6 * elapsed * n_streams / n_pushed, 1e6 * cpu / n_pushed);
}

int
main (int argc, char **argv)
{
  static const GOptionEntry entries[] = {
      {"format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "video format of the frames; default: GRAY8", "FORMAT"},
      {"before", 0, 0, G_OPTION_ARG_STRING, &options.before,
          "elements that the picture passes first, not measured: \"ccl attach-labels=true\"",
          "ELEMENTS"},
      {"batch", 0, 0, G_OPTION_ARG_INT, &options.batch,
          "push batches of this many streams with a frame each (GStreamer 1.28); default: frames",
          "N"},
      {"devices", 0, 0, G_OPTION_ARG_INT, &options.n_devices,
          "use this many GPUs, and spread the streams' frames over them; default: 1", "N"},
      {"frames-on", 0, 0, G_OPTION_ARG_INT, &options.device,
          "all frames are in the memory of this one of the GPUs", "DEVICE"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds,
          "time of each measurement; default: 3", "S"},
      {NULL},
  };
  GOptionContext *context = g_option_context_new ("PICTURE.png ELEMENTS [STREAMS…]");
  GError *error = NULL;
  Picture picture = {NULL};

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  g_option_context_set_description (context,
      "ELEMENTS are ccl, cudaccl or others, with properties: \"cudaccl min-area=50\". STREAMS are "
      "numbers of streams, one measurement each; default: 1 8\n");
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 3 || options.seconds <= 0 ||
      options.n_devices < 1 || options.n_devices > MOST_DEVICES ||
      options.device >= options.n_devices || options.batch < 0) {
    g_printerr ("element-throughput: %s; see --help\n",
        error ? error->message : "a picture, elements and a positive time are needed");
    return 2;
  }
  g_option_context_free (context);
  g_autoptr (GstSample) sample = load_picture (argv[1]);
  picture.caps = gst_caps_copy (gst_sample_get_caps (sample));
  picture.pixels = gst_sample_get_buffer (sample);
  if (!gst_video_info_from_caps (&picture.info, picture.caps))
    end_program ("%s: no video frame", argv[1]);
  for (gint i = 0; i < options.n_devices; i++)
    picture.cuda_contexts[i] = element_stream_open_cuda (argv[2], (guint)i, picture.caps);
  if (picture.cuda_contexts[0] && options.format && !g_str_equal (options.format, "GRAY8"))
    end_program ("frames in CUDA memory are GRAY8");
  picture.pushed_caps =
      options.batch ? gst_caps_from_string (BATCH_CAPS) : gst_caps_ref (picture.caps);

  printf ("%-40s %7s %12s %12s %14s\n", "elements", "streams", "frames/s", "µs a frame",
      "CPU µs a frame");
  char *const *numbers = argc > 3 ? argv + 3 : (char *[]){"1", "8", NULL};
  for (; *numbers; numbers++)
    measure (argv[2], (guint)MAX (1, atoi (*numbers)), &picture);
  gst_caps_unref (picture.pushed_caps);
  gst_caps_unref (picture.caps);
  for (gint i = 0; i < options.n_devices; i++)
    gst_clear_object (&picture.cuda_contexts[i]);
  return 0;
}
