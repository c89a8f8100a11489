/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long elements take for each frame of live streams: from the push of a frame until it arrives
 * at the sink with its component metadata.
 *
 * Each stream has a thread that pushes a frame whenever one is due, as a camera does; streams are
 * out of phase with each other. Frames show moving rectangles on a textured background under noise,
 * so that there is work for the background model. Prints a JSON object a line for each number of
 * streams and frame rate; times are in µs. */
#include "element-stream.h"

#include <errno.h>
#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if HAVE_CUDA
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#endif

enum { N_FRAMES = 32, N_RECTANGLES = 12 };

static struct {
  gint width, height;
  gchar *format, **rates;
  double seconds, warm_up, content_rate;
  gboolean system_memory;
} options = {.width = 1920, .height = 1080, .seconds = 10, .warm_up = 2};

/* One measurement. */
typedef struct Run {
  const gchar *elements;
  guint n_streams;
  double rate;         /* frames per second of each stream */
  double content_rate; /* the same by their time stamps */
  GstCaps *caps;
  GstBuffer **frames;
  gpointer cuda_contexts[2]; /* of the frames, and NULL */
  guint n_pushes;            /* frames of each stream, with those of the warm-up */
  guint n_warm_up;
  gint64 start; /* monotonic time in ns */
} Run;

/* Times are monotonic, in ns. */
typedef struct Stream {
  const Run *run;
  guint number;
  ElementStream elements;
  gint64 *pushed, *arrived; /* by frame; 0: it did not arrive */
  guint64 n_components;
  GstFlowReturn flow;
  GThread *thread;
} Stream;

static gint64
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * G_GINT64_CONSTANT (1000000000) + time.tv_nsec;
}

static gint64
due_time (const Stream *stream, guint frame)
{
  const Run *run = stream->run;
  const double phase = (double)stream->number / run->n_streams;

  return run->start + (gint64)((frame + phase) * 1e9 / run->rate);
}

static void
sleep_until (gint64 time)
{
  const struct timespec end = {time / 1000000000, time % 1000000000};

  while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
    ;
}

/* Noise that is the same on every machine. */
static guint
hash (guint value)
{
  value = (value ^ value >> 16) * 0x45d9f3b;
  value = (value ^ value >> 16) * 0x45d9f3b;
  return value ^ value >> 16;
}

static void
draw_luma (guint8 *luma, gint stride, guint frame)
{
  const gint width = options.width, height = options.height, side = MAX (1, height / 12);

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      luma[y * stride + x] = (guint8)(40 + hash ((guint)(x / 8 + y / 8 * 4099)) % 100 +
                                      hash ((guint)(x + y * width) + frame * 7919) % 4);
  for (gint i = 0; i < N_RECTANGLES; i++) {
    const gint left = (gint)(hash ((guint)i) % (guint)width + frame * (guint)(2 + i)) % width;
    const gint top = (gint)(hash ((guint)i + 99) % (guint)height);
    for (gint y = top; y < MIN (top + side, height); y++)
      memset (luma + y * stride + left, 230, (gsize)MIN (side, width - left));
  }
}

static void
draw_frame (GstBuffer *buffer, const GstVideoInfo *info, guint number)
{
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE))
    end_program ("a frame cannot be written");
  for (guint i = 1; i < GST_VIDEO_FRAME_N_PLANES (&frame); i++)
    memset (GST_VIDEO_FRAME_PLANE_DATA (&frame, i), 128,
        (gsize)GST_VIDEO_FRAME_PLANE_STRIDE (&frame, i) *
            (gsize)GST_VIDEO_FRAME_COMP_HEIGHT (&frame, i));
  draw_luma (
      GST_VIDEO_FRAME_PLANE_DATA (&frame, 0), GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), number);
  gst_video_frame_unmap (&frame);
}

/* A pool of frames, in CUDA memory if there is a context. */
static GstBufferPool *
make_pool (GstCaps *caps, gsize size, gpointer cuda_context)
{
  GstBufferPool *pool = NULL;
  GstStructure *config;

#if HAVE_CUDA
  if (cuda_context)
    pool = gst_cuda_buffer_pool_new (cuda_context);
#endif
  if (!pool)
    pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, (guint)size, 0, 0);
  if (!gst_buffer_pool_set_config (pool, config) || !gst_buffer_pool_set_active (pool, TRUE))
    end_program ("no memory for frames of this format");
  return pool;
}

static void
make_frames (GstBuffer **frames, GstBufferPool *pool, const GstVideoInfo *info, gboolean is_cuda)
{
  for (guint i = 0; i < N_FRAMES; i++) {
    GstMapInfo map;

    if (gst_buffer_pool_acquire_buffer (pool, &frames[i], NULL) != GST_FLOW_OK)
      end_program ("no memory for a frame");
    draw_frame (frames[i], info, i);
#if HAVE_CUDA
    /* Mapping the device memory uploads the frame. */
    if (is_cuda && gst_buffer_map (frames[i], &map, GST_MAP_READ | GST_MAP_CUDA))
      gst_buffer_unmap (frames[i], &map);
#endif
  }
}

static GstPadProbeReturn
note_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const gint64 time = now ();
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  const guint64 frame = GST_BUFFER_OFFSET (buffer);
  Stream *stream = user_data;

  if (!meta)
    end_program ("%s: no component metadata", stream->run->elements);
  if (frame < stream->run->n_pushes)
    stream->arrived[frame] = time;
  stream->n_components += gst_ccl_meta_get_n_components (meta);
  return GST_PAD_PROBE_OK;
}

static gpointer
push_frames (gpointer data)
{
  Stream *stream = data;
  const Run *run = stream->run;

  for (guint i = 0; i < run->n_pushes && stream->flow == GST_FLOW_OK; i++) {
    GstBuffer *frame = gst_buffer_copy (run->frames[(i + 5 * stream->number) % N_FRAMES]);

    GST_BUFFER_OFFSET (frame) = i;
    GST_BUFFER_PTS (frame) = (GstClockTime)(i * 1e9 / run->content_rate);
    GST_BUFFER_DURATION (frame) = (GstClockTime)(1e9 / run->content_rate);
    sleep_until (due_time (stream, i));
    stream->pushed[i] = now ();
    stream->flow = gst_pad_push (stream->elements.source, frame);
  }
  return NULL;
}

static void
start_stream (Stream *stream, const Run *run, guint number)
{
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstPad) pad = NULL;

  *stream = (Stream){
      .run = run,
      .number = number,
      .elements = element_stream_start (run->elements, run->caps, run->cuda_contexts),
      .pushed = g_new0 (gint64, run->n_pushes),
      .arrived = g_new0 (gint64, run->n_pushes),
  };
  sink = gst_bin_get_by_name (GST_BIN (stream->elements.pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_arrival, stream, NULL);
}

/* Waits until all frames have arrived, also those in queues. Ends the program after an error. */
static void
drain_stream (Stream *stream)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (stream->elements.pipeline);
  g_autoptr (GstMessage) message = NULL;
  GError *error = NULL;

  g_thread_join (stream->thread);
  if (stream->flow == GST_FLOW_OK)
    gst_pad_push_event (stream->elements.source, gst_event_new_eos ());
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  if (!message || error)
    end_program (
        "%s: %s", stream->run->elements, error ? error->message : gst_flow_get_name (stream->flow));
}

static void
clear_stream (Stream *stream)
{
  element_stream_stop (&stream->elements);
  g_free (stream->pushed);
  g_free (stream->arrived);
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Prints the distribution of times: by the nearest rank, so that each is one that was measured. */
static void
print_distribution (const gchar *name, GArray *times)
{
  static const struct {
    const gchar *name;
    double share;
  } ranks[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"worst", 1}};

  g_array_sort (times, compare_times);
  printf (", \"%s\": {", name);
  for (guint i = 0; i < G_N_ELEMENTS (ranks); i++) {
    const guint rank = (guint)(ranks[i].share * times->len + 0.999999);
    printf ("%s\"%s\": %.1f", i ? ", " : "", ranks[i].name,
        g_array_index (times, double, CLAMP (rank, 1, times->len) - 1));
  }
  printf ("}");
}

/* Prints the measurements after the warm-up. */
static void
print_run (const Run *run, const Stream *streams, double cpu_seconds, double elapsed)
{
  g_autoptr (GArray) latency = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) from_due = g_array_new (FALSE, FALSE, sizeof (double));
  g_autofree gchar *elements = g_strescape (run->elements, NULL);
  guint64 n_components = 0, n_frames = 0;
  guint n_lost = 0, n_late = 0;

  for (guint i = 0; i < run->n_streams; i++) {
    const Stream *stream = &streams[i];
    n_components += stream->n_components;
    for (guint k = 0; k < run->n_pushes; k++) {
      const double passed = 1e-3 * (double)(stream->arrived[k] - stream->pushed[k]);
      const double since_due = 1e-3 * (double)(stream->arrived[k] - due_time (stream, k));
      n_frames += stream->arrived[k] != 0;
      if (k < run->n_warm_up)
        continue;
      n_lost += !stream->arrived[k];
      if (!stream->arrived[k])
        continue;
      n_late += since_due > 1e6 / run->rate;
      g_array_append_val (latency, passed);
      g_array_append_val (from_due, since_due);
    }
  }
  printf ("{\"elements\": \"%s\", \"streams\": %u, \"fps\": %g, \"content_fps\": %g, \"width\": "
          "%d, \"height\": %d, "
          "\"format\": \"%s\", \"memory\": \"%s\", \"frames\": %u, \"lost\": %u, \"late\": %u, "
          "\"components\": %.1f, \"cpu_us\": %.1f, \"load\": %.2f",
      elements, run->n_streams, run->rate, run->content_rate, options.width, options.height,
      options.format, options.system_memory ? "system" : "CUDA", latency->len, n_lost, n_late,
      (double)n_components / (double)MAX (n_frames, 1),
      1e6 * cpu_seconds / (double)MAX (latency->len, 1), cpu_seconds / elapsed);
  if (latency->len > 0) {
    print_distribution ("latency_us", latency);
    print_distribution ("from_due_us", from_due);
  }
  printf ("}\n");
  fflush (stdout);
}

static void
measure (Run *run)
{
  g_autofree Stream *streams = g_new (Stream, run->n_streams);

  run->n_warm_up = (guint)(options.warm_up * run->rate);
  run->n_pushes = run->n_warm_up + MAX (1, (guint)(options.seconds * run->rate));
  for (guint i = 0; i < run->n_streams; i++)
    start_stream (&streams[i], run, i);
  run->start = now () + 10000000; /* when all threads have begun */
  for (guint i = 0; i < run->n_streams; i++)
    streams[i].thread = g_thread_new ("stream", push_frames, &streams[i]);
  /* In the warm-up the elements make their plans and load their kernels. */
  const gint64 warm = run->start + (gint64)(run->n_warm_up * 1e9 / run->rate);
  sleep_until (warm);
  const clock_t cpu_start = clock (); /* of all threads */
  for (guint i = 0; i < run->n_streams; i++)
    drain_stream (&streams[i]);
  const double cpu_seconds = (double)(clock () - cpu_start) / CLOCKS_PER_SEC;
  print_run (run, streams, cpu_seconds, 1e-9 * (double)(now () - warm));
  for (guint i = 0; i < run->n_streams; i++)
    clear_stream (&streams[i]);
}

static void
parse_options (int *argc, char ***argv)
{
  static const GOptionEntry entries[] = {
      {"width", 0, 0, G_OPTION_ARG_INT, &options.width, "of the frames; default: 1920", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &options.height, "of the frames; default: 1080", "PIXELS"},
      {"format", 0, 0, G_OPTION_ARG_STRING, &options.format,
          "video format of the frames; default: NV12", "FORMAT"},
      {"fps", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.rates,
          "frames per second of each stream; may be given several times; default: 25", "RATE"},
      {"content-fps", 0, 0, G_OPTION_ARG_DOUBLE, &options.content_rate,
          "frames per second by their time stamps; default: that of --fps", "RATE"},
      {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds,
          "time of each measurement; default: 10", "S"},
      {"warm-up", 0, 0, G_OPTION_ARG_DOUBLE, &options.warm_up,
          "time before each measurement, in which frames do not count; default: 2", "S"},
      {"system-memory", 0, 0, G_OPTION_ARG_NONE, &options.system_memory,
          "frames for cudaccl are in system memory, not in CUDA memory", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("ELEMENTS [STREAMS…]");
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  g_option_context_set_description (context,
      "ELEMENTS are ccl, cudaccl or others, with properties: \"cudaccl foreground=mog2\". STREAMS "
      "are numbers of streams, one measurement each; default: 1\n");
  if (!g_option_context_parse (context, argc, argv, &error) || *argc < 2 || options.seconds <= 0 ||
      options.warm_up < 0 || options.content_rate < 0 || options.width < 1 || options.height < 1) {
    g_printerr ("element-latency: %s; see --help\n",
        error ? error->message : "elements, a size and a positive time are needed");
    exit (2);
  }
  if (!options.format)
    options.format = g_strdup ("NV12");
  if (!options.rates)
    options.rates = g_strsplit ("25", ",", 0);
}

int
main (int argc, char **argv)
{
  GstBuffer *frames[N_FRAMES];
  gpointer cuda_context = NULL;
  GstVideoInfo info;
  Run run;

  parse_options (&argc, &argv);
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      options.format, "width", G_TYPE_INT, options.width, "height", G_TYPE_INT, options.height,
      "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  if (!gst_video_info_from_caps (&info, caps))
    end_program ("there is no video format %s", options.format);
  if (!options.system_memory)
    cuda_context = element_stream_open_cuda (argv[1], 0, caps);
  if (cuda_context && !g_str_equal (options.format, "NV12"))
    end_program ("frames in CUDA memory are NV12");
  options.system_memory = !cuda_context;
  GstBufferPool *pool = make_pool (caps, GST_VIDEO_INFO_SIZE (&info), cuda_context);
  make_frames (frames, pool, &info, cuda_context != NULL);

  char *const *numbers = argc > 2 ? argv + 2 : (char *[]){"1", NULL};
  for (; *numbers; numbers++) {
    for (gchar **rate = options.rates; *rate; rate++) {
      run = (Run){
          .elements = argv[1],
          .n_streams = (guint)MAX (1, atoi (*numbers)),
          .rate = g_ascii_strtod (*rate, NULL),
          .content_rate = options.content_rate,
          .caps = caps,
          .frames = frames,
          .cuda_contexts = {cuda_context},
      };
      if (!(run.rate > 0))
        end_program ("%s is no frame rate", *rate);
      if (run.content_rate <= 0)
        run.content_rate = run.rate;
      measure (&run);
    }
  }
  for (guint i = 0; i < N_FRAMES; i++)
    gst_buffer_unref (frames[i]);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_clear_object (&cuda_context);
  return 0;
}
