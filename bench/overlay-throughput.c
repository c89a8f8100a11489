/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processor time that ccloverlay takes for a frame, for some formats and styles. Half of the
 * components are people's size, the others specks.
 *
 * usage: overlay-throughput [COMPONENTS [FRAMES [WIDTH HEIGHT]]]     (500 100 1920 1080)
 */
#include <gst/ccl/gstcclmeta.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  guint n_components, n_frames, width, height;
} Size;

static GstBuffer *taken;

static GstFlowReturn
take (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  taken = buffer;
  return GST_FLOW_OK;
}

/* The same each time: a small generator of our own. */
static guint
draw_number (guint below)
{
  static guint64 state = 1;

  state = state * 6364136223846793005u + 1442695040888963407u;
  return (guint)(state >> 33) % below;
}

static void
add_meta (GstBuffer *frame, const Size *size)
{
  GstCclComponent *components = g_new0 (GstCclComponent, size->n_components);
  gsize stride = 4 * (gsize)size->width;
  GstBuffer *labels = gst_buffer_new_allocate (NULL, stride * size->height, NULL);
  GstMapInfo map;

  gst_buffer_map (labels, &map, GST_MAP_WRITE);
  memset (map.data, 0, map.size);
  for (guint i = 0; i < size->n_components; i++) {
    GstCclComponent *c = &components[i];
    c->width = MIN (i % 2 ? 40 : 8, size->width);
    c->height = MIN (i % 2 ? 80 : 8, size->height);
    c->x = draw_number (size->width - c->width + 1);
    c->y = draw_number (size->height - c->height + 1);
    c->label = i + 1;
    c->area = c->width * c->height;
    c->centroid_x = c->x + c->width / 2.0;
    c->centroid_y = c->y + c->height / 2.0;
    for (guint y = c->y; y < c->y + c->height; y++)
      for (guint x = c->x; x < c->x + c->width; x++)
        ((guint32 *)map.data)[(gsize)y * size->width + x] = c->label;
  }
  gst_buffer_unmap (labels, &map);
  gst_buffer_add_ccl_meta (frame, size->width, size->height, size->n_components, components,
      size->n_components, labels, stride);
  gst_buffer_unref (labels);
  g_free (components);
}

static double
processor_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Milliseconds of processor time a frame; negative when the overlay fails. */
static double
measure (const gchar *format, const gchar *properties, const Size *size)
{
  gchar *line = g_strdup_printf ("ccloverlay name=overlay %s", properties);
  GstElement *overlay = gst_parse_launch (line, NULL);
  GstPad *source = gst_pad_new ("source", GST_PAD_SRC), *sink = gst_pad_new ("sink", GST_PAD_SINK);
  GstPad *in, *out;
  GstVideoInfo info;
  GstSegment segment;
  GstFlowReturn flow = GST_FLOW_OK;
  double seconds = 0;

  g_free (line);
  if (!overlay)
    return -1;
  in = gst_element_get_static_pad (overlay, "sink");
  out = gst_element_get_static_pad (overlay, "src");
  gst_pad_set_chain_function (sink, take);
  gst_pad_link (source, in);
  gst_pad_link (out, sink);
  gst_pad_set_active (sink, TRUE);
  gst_element_set_state (overlay, GST_STATE_PLAYING);
  gst_pad_set_active (source, TRUE);

  gst_video_info_set_format (
      &info, gst_video_format_from_string (format), size->width, size->height);
  GstCaps *caps = gst_video_info_to_caps (&info);
  gst_pad_push_event (source, gst_event_new_stream_start ("overlay-throughput"));
  gst_pad_push_event (source, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (source, gst_event_new_segment (&segment));
  gst_caps_unref (caps);

  taken = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (taken, 0, 128, info.size);
  if (size->n_components > 0)
    add_meta (taken, size);
  /* The first one makes the canvas. */
  for (guint i = 0; i <= size->n_frames && flow == GST_FLOW_OK; i++) {
    GstBuffer *frame = taken;
    taken = NULL;
    if (i == 1)
      seconds = processor_seconds ();
    flow = gst_pad_push (source, frame);
  }
  seconds = processor_seconds () - seconds;

  gst_element_set_state (overlay, GST_STATE_NULL);
  gst_pad_set_active (source, FALSE);
  gst_pad_set_active (sink, FALSE);
  gst_clear_buffer (&taken);
  gst_object_unref (in);
  gst_object_unref (out);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (overlay);
  return flow == GST_FLOW_OK ? 1000 * seconds / size->n_frames : -1;
}

int
main (int argc, char **argv)
{
  static const gchar *const formats[] = {"I420", "NV12", "BGRx"};
  static const struct {
    const gchar *what, *properties;
  } styles[] = {
      {"boxes", ""},
      {"boxes, labels", "draw-labels=true"},
      {"boxes, labels, areas, centroids", "draw-labels=true draw-areas=true draw-centroids=true"},
      {"boxes, filled components", "fill-components=true"},
      {"nothing", "draw-boxes=false"},
  };
  Size size = {500, 100, 1920, 1080};
  int status = 0;

  gst_init (&argc, &argv);
  if (argc > 1)
    size.n_components = (guint)atoi (argv[1]);
  if (argc > 2)
    size.n_frames = (guint)MAX (atoi (argv[2]), 1);
  if (argc > 4) {
    size.width = (guint)MAX (atoi (argv[3]), 1);
    size.height = (guint)MAX (atoi (argv[4]), 1);
  }
  printf ("%u×%u, %u components, ms of one processor a frame\n", size.width, size.height,
      size.n_components);
  for (guint i = 0; i < G_N_ELEMENTS (styles); i++) {
    printf ("%-32s", styles[i].what);
    for (guint j = 0; j < G_N_ELEMENTS (formats); j++) {
      double ms = measure (formats[j], styles[i].properties, &size);
      if (ms < 0)
        status = 1;
      printf ("  %s %6.2f", formats[j], ms);
    }
    printf ("\n");
  }
  if (status)
    fprintf (stderr, "overlay-throughput: ccloverlay is not there or has failed\n");
  return status;
}
