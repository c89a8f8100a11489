/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Feeds arbitrary caps and buffers to each element: odd sizes and formats, GstVideoMeta layouts
 * that fit the buffer or not, buffers that are too short or have several memories, metadata of
 * other frames, and properties that change between frames.
 *
 * No input may cause a crash or a critical warning. A failure posts an error message. The labellers
 * do not change pixels. For a frame with a valid layout the components equal the reference's.
 */
#include <gst/ccl/ccl.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/label/reference.h"
#include "target.h"

/* One element under test, and the caps that it accepted last. */
typedef struct Subject {
  const char *name;
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info;
  gboolean has_caps;
} Subject;

/* The layout of a frame's luma plane in its buffer. */
typedef struct Luma {
  gsize offset;
  gint stride;
  guint width, height;     /* according to the buffer */
  gboolean is_with_chroma; /* the planes of chroma lie inside the buffer, too */
} Luma;

static guint64 n_frames, n_labelled, n_refused; /* of all inputs */

static void
die (const Subject *subject, const char *what)
{
  fprintf (stderr, "%s, %dx%d %s: %s\n", subject->name, GST_VIDEO_INFO_WIDTH (&subject->info),
      GST_VIDEO_INFO_HEIGHT (&subject->info),
      subject->has_caps ? GST_VIDEO_INFO_NAME (&subject->info) : "(no caps)", what);
  abort ();
}

static void
finish (void)
{
  printf ("%lu frames, %lu of them labelled as the reference says, %lu refused with an error\n",
      (unsigned long)n_frames, (unsigned long)n_labelled, (unsigned long)n_refused);
}

static void
start (void)
{
  static gboolean started = FALSE;

  if (started)
    return;
  started = TRUE;
  gst_init (NULL, NULL);
  gst_debug_set_default_threshold (GST_LEVEL_NONE);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
  atexit (finish);
}

/* Sets some properties to random valid values. */
static void
set_properties (Subject *subject, Input *input)
{
  GObject *object = G_OBJECT (subject->harness->element);
  guint n;
  GParamSpec **properties = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++) {
    GParamSpec *property = properties[i];
    guint8 choice = take_byte (input);
    if (choice < 128 || !(property->flags & G_PARAM_WRITABLE) ||
        !(property->flags & GST_PARAM_MUTABLE_PLAYING))
      continue;
    if (G_IS_PARAM_SPEC_BOOLEAN (property)) {
      g_object_set (object, property->name, choice & 1, NULL);
    } else if (G_IS_PARAM_SPEC_ENUM (property)) {
      GEnumClass *values = G_PARAM_SPEC_ENUM (property)->enum_class;
      g_object_set (object, property->name, values->values[choice % values->n_values].value, NULL);
    } else if (G_IS_PARAM_SPEC_FLAGS (property)) {
      g_object_set (
          object, property->name, choice & G_PARAM_SPEC_FLAGS (property)->flags_class->mask, NULL);
    } else if (G_IS_PARAM_SPEC_UINT (property)) {
      GParamSpecUInt *range = G_PARAM_SPEC_UINT (property);
      guint value = choice & 64 ? take_number (input) : choice & 63;
      g_object_set (object, property->name, CLAMP (value, range->minimum, range->maximum), NULL);
    } else if (G_IS_PARAM_SPEC_DOUBLE (property)) {
      GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (property);
      gdouble value = (choice & 127) / 127.0;
      g_object_set (object, property->name, CLAMP (value, range->minimum, range->maximum), NULL);
    }
  }
  g_free (properties);
}

static gint
take_length (Input *input)
{
  guint8 choice = take_byte (input);

  switch (choice) {
  case 255:
    return (gint)take_number (input);
  case 254:
    return 46341; /* its square overflows a signed int */
  case 253:
    return 0;
  default:
    return 1 + choice % 70;
  }
}

static GstCaps *
take_caps (Input *input)
{
  static const char *const formats[] = {"GRAY8", "NV12", "NV21", "I420", "YV12", "Y42B", "Y444",
      "NV16", "NV61", "NV24", "Y41B", "YUY2", "UYVY", "YVYU", "VYUY", "GRAY16_LE", "P010_10LE",
      "P012_LE", "P016_LE", "RGB", "BGRA", "v210", "I420_10LE", "AYUV64", "RGB16", "none"};
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  guint8 omitted = take_byte (input);

  if (omitted < 250)
    gst_caps_set_simple (
        caps, "format", G_TYPE_STRING, formats[take_byte (input) % G_N_ELEMENTS (formats)], NULL);
  if (omitted < 251)
    gst_caps_set_simple (caps, "width", G_TYPE_INT, take_length (input), NULL);
  if (omitted < 252)
    gst_caps_set_simple (caps, "height", G_TYPE_INT, take_length (input), NULL);
  return caps;
}

/* Whether the element has these caps now: the push may succeed although they were refused. */
static gboolean
took_caps (Subject *subject, GstCaps *caps)
{
  GstPad *pad = gst_pad_get_peer (subject->harness->srcpad);
  GstCaps *current = gst_pad_get_current_caps (pad);
  gboolean is_same = current && gst_caps_is_equal (current, caps);

  gst_clear_caps (&current);
  gst_object_unref (pad);
  return is_same;
}

static void
push_caps (Subject *subject, GstCaps *caps)
{
  GstSegment segment;
  GstVideoInfo info;

  gst_harness_push_event (subject->harness, gst_event_new_caps (caps));
  /* Caps that are refused may be an error. */
  gst_bus_set_flushing (subject->bus, TRUE);
  gst_bus_set_flushing (subject->bus, FALSE);
  subject->has_caps = took_caps (subject, caps) && gst_video_info_from_caps (&info, caps);
  if (subject->has_caps)
    subject->info = info;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (subject->harness, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

/* Attaches metadata that a labeller could have made for this or another frame, or invalid one. */
static void
add_components (GstBuffer *buffer, Input *input)
{
  guint8 choice = take_byte (input);
  guint width = 1 + take_byte (input), height = 1 + take_byte (input), n = choice % 5;
  GstCclComponent components[5];
  GstBuffer *labels = NULL;
  gsize labels_stride = 4 * (gsize)width + choice / 16;

  for (guint i = 0; i < n; i++) {
    GstCclComponent *c = &components[i];
    gboolean is_wild = take_byte (input) > 240;
    *c = (GstCclComponent){i + 1, 1, take_byte (input) % width, take_byte (input) % height};
    c->width = 1 + take_byte (input) % (width - c->x);
    c->height = 1 + take_byte (input) % (height - c->y);
    c->area = c->width * c->height;
    c->centroid_x = c->x + (c->width - 1) / 2.0;
    c->centroid_y = c->y + (c->height - 1) / 2.0;
    if (is_wild) {
      c->x = take_number (input);
      c->height = take_number (input);
      c->centroid_y = (gdouble)c->height * c->x;
    }
  }
  if (choice & 8) { /* sometimes too short */
    gsize size = labels_stride * (height - 1) + 4 * (gsize)width - (choice & 64 ? 4 : 0);
    labels = gst_buffer_new_allocate (NULL, size, NULL);
    gst_buffer_memset (labels, 0, choice, size);
  }
  gst_buffer_add_ccl_meta (
      buffer, width, height, n + (choice & 16 ? 3 : 0), components, n, labels, labels_stride);
  gst_clear_buffer (&labels);
}

/* A buffer of one or more memories with these bytes. Each ends at the end of a heap allocation,
 * where AddressSanitizer detects accesses beyond it. */
static GstBuffer *
new_buffer (const guint8 *bytes, gsize size, guint n_memories)
{
  GstBuffer *buffer = gst_buffer_new ();

  for (guint i = 0; i < n_memories; i++) {
    gsize start = size * i / n_memories, end = size * (i + 1) / n_memories;
    guint8 *part = g_memdup2 (bytes + start, end - start);
    if (part)
      gst_buffer_append_memory (
          buffer, gst_memory_new_wrapped (0, part, end - start, 0, end - start, part, g_free));
  }
  return buffer;
}

/* The bytes of a row of the plane with the luma, up to its last sample. In packed formats each pair
 * of pixels has four bytes; where the luma is behind the chroma and the width is odd, the last byte
 * is that of a pixel that does not exist. */
static guint
get_row_size (const GstVideoInfo *info)
{
  guint width = GST_VIDEO_INFO_WIDTH (info);

  if (info->finfo->bits > 8)
    return 2 * width;
  if (GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) == 1)
    return width;
  return (width + 1) / 2 * 4 - (width % 2 && GST_VIDEO_INFO_COMP_POFFSET (info, 0) > 0);
}

/* Whether the plane with the luma, with the layout of the caps, lies inside size bytes. */
static gboolean
fits (const GstVideoInfo *info, const Luma *luma, gsize size)
{
  guint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  guint row = get_row_size (info);

  return luma->width >= width && luma->height >= height && luma->stride >= (gint)row &&
         (unsigned __int128)luma->offset + (unsigned __int128)luma->stride * (height - 1) + row <=
             size;
}

/* The pixels whose luma is greater than the threshold: 1, and 0 for the others, width bytes in each
 * row. */
static guint8 *
compare_luma (const GstVideoInfo *info, const guint8 *bytes, const Luma *luma, guint threshold)
{
  const gsize width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  const gsize distance = GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  const guint8 *first = bytes + luma->offset + GST_VIDEO_INFO_COMP_POFFSET (info, 0);
  guint8 *copy = g_malloc (width * height);

  for (gsize y = 0; y < height; y++)
    for (gsize x = 0; x < width; x++) {
      const guint8 *sample = first + y * (gsize)luma->stride + x * distance;
      const guint value = info->finfo->bits > 8 ? sample[0] | sample[1] << 8 : sample[0];
      copy[y * width + x] = value > threshold;
    }
  return copy;
}

/* Whether the planes of chroma lie inside size bytes. */
static gboolean
chroma_fits (const GstVideoInfo *info, const gsize *offsets, const gint *strides, gsize size)
{
  const GstVideoFormatInfo *format = info->finfo;

  for (guint i = 1; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    const guint plane = GST_VIDEO_FORMAT_INFO_PLANE (format, i);
    const gint row = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) *
                     GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (format, i, info->width);
    const gint n_rows = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (format, i, info->height);
    if (strides[plane] < row || (unsigned __int128)offsets[plane] +
                                        (unsigned __int128)strides[plane] * (unsigned)(n_rows - 1) +
                                        (unsigned)row >
                                    size)
      return FALSE;
  }
  return TRUE;
}

static guint
get_number (Subject *subject, const char *property)
{
  guint value;

  g_object_get (subject->harness->element, property, &value, NULL);
  return value;
}

static gboolean
is_same_component (const GstCclComponent *a, const CclComponent *b)
{
  return a->label == b->label && a->area == b->area && a->x == b->x && a->y == b->y &&
         a->width == b->width && a->height == b->height && a->centroid_x == b->centroid_x &&
         a->centroid_y == b->centroid_y;
}

static void
check_components (Subject *subject, GstBuffer *buffer, const guint8 *bytes, const Luma *luma)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  CclLabellerOptions options = {
      .min_area = get_number (subject, "min-area"),
      .max_area = get_number (subject, "max-area"),
  };
  guint width = GST_VIDEO_INFO_WIDTH (&subject->info);
  guint height = GST_VIDEO_INFO_HEIGHT (&subject->info);
  gconstpointer rows;
  gsize row_stride;
  Reference *reference;
  guint8 *pixels;
  gint connectivity;
  gboolean invert;
  GstBuffer *labels;
  gsize stride;
  guint n;

  g_object_get (subject->harness->element, "connectivity", &connectivity, "invert", &invert, NULL);
  options.invert = invert;
  pixels = compare_luma (&subject->info, bytes, luma, get_number (subject, "threshold"));
  reference = reference_new (pixels, width, height, width, (CclConnectivity)connectivity, &options);
  rows = gst_ccl_meta_get_rows (meta, &n, &row_stride);
  if (gst_ccl_meta_get_n_components (meta) != reference->n_components ||
      n != MIN (reference->n_components, get_number (subject, "max-components")))
    die (subject, "another number of components");
  for (guint i = 0; i < n; i++)
    if (!is_same_component (GST_CCL_ROW (rows, row_stride, i), &reference->rows[i]))
      die (subject, "another component");
  labels = gst_ccl_meta_get_labels (meta, &stride);
  if (labels) {
    GstMapInfo map;
    if (!gst_buffer_map (labels, &map, GST_MAP_READ))
      die (subject, "a label map that cannot be read");
    for (guint y = 0; y < height; y++) {
      if (memcmp (map.data + y * stride, reference->labels + (gsize)y * width, 4 * (gsize)width))
        die (subject, "another label");
    }
    gst_buffer_unmap (labels, &map);
  }
  reference_free (reference);
  g_free (pixels);
  n_labelled++;
}

/* Whether the labeller attaches a GstCclMeta; otherwise an existing one stays. */
static gboolean
attaches_ccl_meta (Subject *subject)
{
  GParamSpec *property =
      g_object_class_find_property (G_OBJECT_GET_CLASS (subject->harness->element), "meta");
  GFlagsValue *ccl = g_flags_get_value_by_nick (G_PARAM_SPEC_FLAGS (property)->flags_class, "ccl");
  guint kinds;

  g_object_get (subject->harness->element, "meta", &kinds, NULL);
  return (kinds & ccl->value) != 0;
}

static gint
get_enum (Subject *subject, const char *property)
{
  gint value;

  g_object_get (subject->harness->element, property, &value, NULL);
  return value;
}

/* Only background models, the methods from 2 on, and mean colours read chroma. */
static gboolean
reads_chroma (Subject *subject)
{
  guint columns, color = 1 << 4;

  g_object_get (subject->harness->element, "attach-columns", &columns, NULL);
  return get_enum (subject, "foreground") >= 2 || (columns & color);
}

/* Whether the foreground is given by a threshold, the only method of the reference. */
static gboolean
is_plain_threshold (Subject *subject)
{
  return get_enum (subject, "foreground") == 0 && get_enum (subject, "denoise") == 0 &&
         get_number (subject, "closing-width") == 1 && get_number (subject, "closing-height") == 1;
}

static gboolean
is_labeller (const Subject *subject)
{
  return g_str_has_suffix (subject->name, "ccl");
}

/* Whether an event of the type came out since the last call. */
static gboolean
pull_event (Subject *subject, GstEventType type)
{
  gboolean found = FALSE;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (subject->harness))) {
    found = found || GST_EVENT_TYPE (event) == type;
    gst_event_unref (event);
  }
  return found;
}

/* Whether ccljson turns the buffer into an event, or, where it has no time, into nothing. */
static gboolean
becomes_event (const Subject *subject, gboolean is_gap)
{
  return is_gap && strcmp (subject->name, "ccljson") == 0;
}

/* Checks the output buffer and the messages. A gap buffer may pass with any layout. */
static void
check_output (Subject *subject, GstFlowReturn flow, const guint8 *bytes, gsize size,
    const Luma *luma, gboolean is_gap, gboolean has_time)
{
  gboolean is_event = becomes_event (subject, is_gap);
  GstBuffer *out = gst_harness_try_pull (subject->harness);
  GstMessage *error = gst_bus_pop_filtered (subject->bus, GST_MESSAGE_ERROR);
  GError *reason = NULL;
  gboolean labels = is_labeller (subject) && subject->has_caps;

  if (error)
    gst_message_parse_error (error, &reason, NULL);
  n_frames++;
  if ((flow == GST_FLOW_OK && !is_event) != (out != NULL))
    die (subject, out ? "a frame came out in spite of an error" : "a frame was lost");
  if (pull_event (subject, GST_EVENT_GAP) != (flow == GST_FLOW_OK && is_event && has_time))
    die (subject, "a gap event too few or too many");
  if (flow == GST_FLOW_OK && error)
    die (subject, "an error was posted, but the frame came out");
  if (flow == GST_FLOW_ERROR && !error)
    die (subject, "an error that nobody hears of");
  /* An element error is right if the algorithm does not offer the connectivity, or if no pixel of
   * the format can have the threshold's value. */
  if (labels && fits (&subject->info, luma, size) && flow != GST_FLOW_OK &&
      !(subject->info.finfo->bits <= 8 && get_number (subject, "threshold") > 255) &&
      (luma->is_with_chroma || !reads_chroma (subject)) &&
      !g_error_matches (reason, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS))
    die (subject, reason ? reason->message : "a sound frame was refused");
  if (labels && !fits (&subject->info, luma, size) && flow == GST_FLOW_OK && !is_gap)
    die (subject, "an unsound frame was labelled");

  if (out && is_labeller (subject)) {
    GstMapInfo map;
    if (!gst_buffer_map (out, &map, GST_MAP_READ) || map.size != size ||
        (size && memcmp (map.data, bytes, size)))
      die (subject, "the frame has changed");
    gst_buffer_unmap (out, &map);
    if (labels && fits (&subject->info, luma, size) && attaches_ccl_meta (subject) &&
        is_plain_threshold (subject))
      check_components (subject, out, bytes, luma);
  }
  n_refused += error != NULL;
  gst_clear_buffer (&out);
  g_clear_error (&reason);
  if (error)
    gst_message_unref (error);
  gst_bus_set_flushing (subject->bus, TRUE);
  gst_bus_set_flushing (subject->bus, FALSE);
}

static void
push_frame (Subject *subject, Input *input)
{
  guint8 flags = take_byte (input), n_memories = 1 + take_byte (input) % 4;
  GstVideoInfo *info = &subject->info;
  gsize offsets[GST_VIDEO_MAX_PLANES], size;
  gint strides[GST_VIDEO_MAX_PLANES];
  GstBuffer *buffer;
  guint8 *bytes;
  Luma luma;
  GstFlowReturn flow;
  gboolean is_gap = FALSE, has_time;

  memcpy (offsets, info->offset, sizeof offsets);
  memcpy (strides, info->stride, sizeof strides);
  size = MIN (GST_VIDEO_INFO_SIZE (info), 1 << 18);
  luma = (Luma){offsets[0], strides[0], (guint)MAX (info->width, 0), (guint)MAX (info->height, 0)};
  if (flags & 1) { /* another layout, which usually fits */
    gsize end = 0;
    for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
      strides[i] = MIN (strides[i], 1 << 12) + take_byte (input) % 40;
      offsets[i] = end + take_byte (input) % 24;
      end = offsets[i] + (gsize)strides[i] * MIN (luma.height, 1 << 8);
    }
    size = MIN (end, 1 << 18);
    if (flags & 2) { /* does not fit, or is invalid */
      guint8 plane = take_byte (input) % GST_VIDEO_MAX_PLANES;
      strides[plane] = flags & 32 ? (gint)take_number (input) : take_byte (input) - 100;
      offsets[plane] = flags & 64 ? take_long_number (input) : take_number (input) % 5000;
    }
    luma.offset = offsets[0];
    luma.stride = strides[0];
    if (flags & 4) {
      luma.width += take_byte (input) - 10u;
      luma.height += take_byte (input) - 10u;
    }
  }
  if (flags & 8) {
    guint32 missing = take_number (input) % 300;
    size -= MIN (size, missing);
  }

  luma.is_with_chroma = subject->has_caps && chroma_fits (info, offsets, strides, size);

  bytes = g_malloc (size + 1);
  for (gsize i = 0; i < size; i++)
    bytes[i] = input->size ? input->data[(i >> (flags >> 6)) % input->size] : (guint8)(i * flags);
  buffer = new_buffer (bytes, size, n_memories);
  GST_BUFFER_PTS (buffer) = flags & 16 ? GST_CLOCK_TIME_NONE : n_frames * GST_SECOND;
  if (flags & 1)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
        luma.width, luma.height, GST_VIDEO_INFO_N_PLANES (info), offsets, strides);
  if (flags & 16)
    add_components (buffer, input);
  if (take_byte (input) > 240) {
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    is_gap = size == 0;
  }

  has_time = GST_BUFFER_PTS_IS_VALID (buffer);

  flow = gst_harness_push (subject->harness, buffer);
  check_output (subject, flow, bytes, size, &luma, is_gap, has_time);
  g_free (bytes);
}

/* cclcombiner has two sink pads with one thread each: a pad blocks on its second buffer until the
 * first is consumed. */
typedef struct Branch {
  GstHarness *harness;
  GstBuffer *buffers[5]; /* ends with NULL */
} Branch;

static gpointer
push_branch (gpointer data)
{
  Branch *branch = data;

  for (guint i = 0; branch->buffers[i]; i++)
    gst_harness_push (branch->harness, branch->buffers[i]);
  gst_harness_push_event (branch->harness, gst_event_new_eos ());
  return NULL;
}

static void
fill_branch (Branch *branch, Input *input)
{
  guint n = take_byte (input) % G_N_ELEMENTS (branch->buffers);
  GstClockTime time = 0;

  for (guint i = 0; i < n; i++) {
    guint8 flags = take_byte (input);
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, flags & 3, NULL);
    time += flags / 32 * GST_MSECOND;
    GST_BUFFER_PTS (buffer) = flags & 16 ? time : GST_CLOCK_TIME_NONE;
    GST_BUFFER_DURATION (buffer) = flags & 8 ? GST_MSECOND : GST_CLOCK_TIME_NONE;
    if (flags & 4)
      add_components (buffer, input);
    if (flags & 2)
      gst_buffer_add_video_region_of_interest_meta (buffer, "thing", 3, 4, take_byte (input), 6);
    branch->buffers[i] = buffer;
  }
}

static void
run_combiner (Input *input)
{
  Subject subject = {"cclcombiner"};
  Branch video = {NULL}, mask = {NULL};
  GThread *threads[2];
  GstBuffer *out = NULL;
  guint n_out = 0;
  GstVideoInfo info;
  GstCaps *caps;

  video.harness = subject.harness = gst_harness_new_with_padnames (subject.name, "video", "src");
  mask.harness = gst_harness_new_with_element (subject.harness->element, "mask", NULL);
  subject.bus = gst_bus_new ();
  gst_element_set_bus (subject.harness->element, subject.bus);
  set_properties (&subject, input);

  subject.harness = mask.harness;
  push_caps (&subject, take_caps (input));
  subject.harness = video.harness;
  caps = take_caps (input);
  if (!gst_video_info_from_caps (&info, caps)) { /* without caps the video pad gives no output */
    gst_caps_unref (caps);
    caps = gst_caps_from_string ("video/x-raw,format=GRAY8,width=8,height=8,framerate=25/1");
  }
  push_caps (&subject, caps);

  fill_branch (&video, input);
  fill_branch (&mask, input);
  threads[0] = g_thread_new ("video", push_branch, &video);
  threads[1] = g_thread_new ("mask", push_branch, &mask);
  while (gst_harness_pull_until_eos (video.harness, &out) && out) {
    n_out++;
    gst_clear_buffer (&out);
  }
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  for (guint i = 0; video.buffers[i]; i++, n_frames++, n_out--) {
  }
  if (n_out != 0)
    die (&subject, "more or fewer frames came out than went in");

  gst_element_set_bus (video.harness->element, NULL);
  gst_object_unref (subject.bus);
  gst_harness_teardown (mask.harness);
  gst_harness_teardown (video.harness);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const names[] = {"ccl", "cudaccl", "ccljson", "ccloverlay"};
  Input input = {data, size};
  Subject subject = {NULL};
  guint8 choice;

  start ();
  choice = take_byte (&input);
  if (choice % 8 == 7) {
    run_combiner (&input);
    return 0;
  }
  subject.name = names[choice % 8 % G_N_ELEMENTS (names)];
  subject.harness = gst_harness_new (subject.name);
  if (!subject.harness) /* built without */
    return 0;
  subject.bus = gst_bus_new ();
  gst_element_set_bus (subject.harness->element, subject.bus);
  gst_video_info_init (&subject.info);

  for (guint round = 0; round < 3 && input.size; round++) {
    push_caps (&subject, take_caps (&input));
    for (guint frame = 0; frame < 2 && input.size; frame++) {
      set_properties (&subject, &input);
      push_frame (&subject, &input);
    }
  }
  gst_element_set_bus (subject.harness->element, NULL);
  gst_object_unref (subject.bus);
  gst_harness_teardown (subject.harness);
  return 0;
}

void
make_quick (uint8_t *data, size_t size)
{
  /* Caps that elements usually accept. */
  data[1] %= 250;
  data[2] %= 16;
  data[3] %= 253;
  data[4] %= 253;
}
