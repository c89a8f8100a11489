/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The label map that ccltrack makes of a sample of the foreground is that of a labeller, which the
 * tests of labellers compare with a flood fill. */
#include "tracking/sample/gstcclsamplelabels.h"

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

typedef struct {
  guint width, height; /* of the sample */
  guint step;          /* pixels of the frame */
  guint density;       /* pixels of 100 that are foreground */
  CclConnectivity connectivity;
  CclPixelFormat format;
  guint distance;
  gboolean invert;
  gboolean is_bits; /* the four before have no meaning */
} Case;

/* A pixel of a foreground mask: noise in blobs of different sizes. */
static guint8 *
draw_mask (GRand *random, const Case *c)
{
  guint8 *mask = g_malloc0 ((gsize)c->width * c->height);

  for (guint y = 0; y < c->height; y++)
    for (guint x = 0; x < c->width; x++) {
      const guint length = (guint)g_rand_int_range (random, 1, 80);

      if ((guint)g_rand_int_range (random, 0, 100) < c->density)
        memset (mask + y * c->width + x, 1, MIN (length, c->width - x));
    }
  return mask;
}

/* Writes a pixel as the labeller reads it: greater than the threshold if it is foreground. */
static void
write_pixel (const Case *c, guint8 *at, gboolean is_foreground)
{
  const guint value = is_foreground != c->invert ? 201 : 200;

  switch (c->format) {
  case CUDACCL_PIXEL_FORMAT_16:
    at[0] = (guint8)value;
    at[1] = (guint8)(value >> 8);
    break;
  case CUDACCL_PIXEL_FORMAT_8_SECOND:
    at[0] = is_foreground ? 0 : 255; /* another component */
    at[1] = (guint8)value;
    break;
  default:
    at[0] = (guint8)value;
    break;
  }
}

/* Bits of rows of whole words of 32. */
static GstCclSample
make_bits (const Case *c, const guint8 *mask)
{
  GstCclSample sample = {
      .frame_width = c->width * c->step,
      .frame_height = c->height * c->step,
      .step = c->step,
      .is_bits = TRUE,
      .stride = 4 * ((c->width + 31) / 32),
      .connectivity = c->connectivity,
  };
  GstMapInfo map;

  sample.rows = gst_buffer_new_allocate (NULL, sample.stride * c->height, NULL);
  gst_buffer_memset (sample.rows, 0, 0, (gsize)-1);
  fail_unless (gst_buffer_map (sample.rows, &map, GST_MAP_WRITE));
  for (guint y = 0; y < c->height; y++)
    for (guint x = 0; x < c->width; x++)
      map.data[y * sample.stride + x / 8] |= (guint8)(mask[y * c->width + x] << x % 8);
  gst_buffer_unmap (sample.rows, &map);
  return sample;
}

static GstCclSample
make_sample (const Case *c, const guint8 *mask)
{
  if (c->is_bits)
    return make_bits (c, mask);

  const guint pixel = c->distance * gst_ccl_sample_pixel_size (c->format);
  GstCclSample sample = {
      .frame_width = c->width * c->step,
      .frame_height = c->height * c->step,
      .step = c->step,
      .stride = (gsize)c->width * pixel + 3,
      .distance = c->distance,
      .format = c->format,
      .threshold = 200,
      .invert = c->invert,
      .connectivity = c->connectivity,
  };
  GstMapInfo map;

  sample.rows = gst_buffer_new_allocate (NULL, sample.stride * c->height, NULL);
  gst_buffer_memset (sample.rows, 0, 255, (gsize)-1);
  fail_unless (gst_buffer_map (sample.rows, &map, GST_MAP_WRITE));
  for (guint y = 0; y < c->height; y++)
    for (guint x = 0; x < c->width; x++)
      write_pixel (c, map.data + y * sample.stride + x * pixel, mask[y * c->width + x]);
  gst_buffer_unmap (sample.rows, &map);
  return sample;
}

/* Two components may have the same box; either label is right then. */
static gboolean
is_right (const CclTable *table, guint32 label, guint32 expected)
{
  const CclComponent *a, *b;

  if (label == expected || label == 0 || expected == 0)
    return label == expected;
  a = &table->rows[label - 1];
  b = &table->rows[expected - 1];
  return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
}

static void
check_case (GstCclSampleLabels *sample_labels, const Case *c, GRand *random)
{
  const gsize n_pixels = (gsize)c->width * c->height;
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  guint8 *mask = draw_mask (random, c);
  guint32 *expected = g_new (guint32, n_pixels);
  GstCclSample sample = make_sample (c, mask);
  CclLabeller *labeller;
  CclComponent *rows;
  CclLabels labels;
  CclTable table;
  CclError error;

  plan.width = c->width;
  plan.height = c->height;
  plan.connectivity = c->connectivity;
  plan.max_components = GST_CCL_MAX_PARTS;
  labeller = ccl_cpu_labeller_new (&plan, &error);
  fail_unless (ccl_labeller_run (labeller, &(CclFrame){mask, c->width}, &options,
                   &(CclLabels){expected, 4 * (gsize)c->width}, &table, &error) == CUDACCL_OK);
  rows = g_new (CclComponent, MAX (1, table.n_rows));
  for (guint i = 0; i < table.n_rows; i++) {
    rows[i] = table.rows[i];
    ccl_component_enlarge (&rows[i], c->step);
  }
  table.rows = rows;
  fail_unless (gst_ccl_sample_labels_make (sample_labels, &sample, &table, &labels, &error));
  fail_unless_equals_int (labels.stride, 4 * c->width);
  for (gsize i = 0; i < n_pixels; i++) {
    const guint32 label = ((const guint32 *)labels.data)[i];
    const guint32 right = expected[i] <= table.n_rows ? expected[i] : 0; /* too many */
    fail_unless (is_right (&table, label, right), "%u×%u, density %u, pixel %u: %u, not %u",
        c->width, c->height, c->density, (guint)i, label, right);
  }
  ccl_labeller_free (&labeller);
  gst_buffer_unref (sample.rows);
  g_free (rows);
  g_free (expected);
  g_free (mask);
}

/* Frames of a stream follow each other, so nothing of one may be left in the next. */
GST_START_TEST (test_labels_are_those_of_a_labeller)
{
  static const guint widths[] = {1, 32, 63, 64, 65, 97, 200}, densities[] = {0, 1, 5, 100};
  static const CclPixelFormat formats[] = {
      CUDACCL_PIXEL_FORMAT_8, CUDACCL_PIXEL_FORMAT_16, CUDACCL_PIXEL_FORMAT_8_SECOND};
  GstCclSampleLabels labels = {.labels = NULL};
  GRand *random = g_rand_new_with_seed (26);

  for (guint w = 0; w < G_N_ELEMENTS (widths); w++)
    for (guint i = 0; i < 24; i++) {
      const Case c = {
          .width = widths[w],
          .height = 40,
          .step = 1 << i % 3,
          .density = densities[(i + 1) % 4],
          .connectivity = i % 2 ? CUDACCL_CONNECTIVITY_8 : CUDACCL_CONNECTIVITY_4,
          .format = formats[i / 2 % 3],
          .distance = 1 + i % 4,
          .invert = i % 5 == 0,
          .is_bits = i % 3 == 1,
      };
      check_case (&labels, &c, random);
    }
  gst_ccl_sample_labels_clear (&labels);
  g_rand_free (random);
}
GST_END_TEST

/* A table has no room for so many components: those behind have no label. */
GST_START_TEST (test_many_components)
{
  const Case c = {
      .width = 200,
      .height = 100,
      .step = 4,
      .connectivity = CUDACCL_CONNECTIVITY_4,
      .format = CUDACCL_PIXEL_FORMAT_8,
      .distance = 1,
  };
  const CclTable nothing = {.n_rows = 0};
  guint8 *mask = g_malloc0 (c.width * c.height);
  GstCclSampleLabels sample_labels = {.labels = NULL};
  GstCclSample sample;
  CclLabels labels;
  CclError error;

  for (guint i = 0; i < c.width * c.height; i++)
    mask[i] = (i + i / c.width) % 2 == 0;
  sample = make_sample (&c, mask);
  fail_unless (gst_ccl_sample_labels_make (&sample_labels, &sample, &nothing, &labels, &error));
  fail_unless_equals_int (sample_labels.runs.n_runs, c.width * c.height / 2);
  fail_unless_equals_int (sample_labels.runs.n_parts, GST_CCL_MAX_PARTS);
  for (guint i = 0; i < c.width * c.height; i++)
    fail_unless_equals_int (((const guint32 *)labels.data)[i], 0);
  gst_ccl_sample_labels_clear (&sample_labels);
  gst_buffer_unref (sample.rows);
  g_free (mask);
}
GST_END_TEST

static Suite *
sample_labels_suite (void)
{
  Suite *suite = suite_create ("sample-labels");
  TCase *tcase = tcase_create ("sample-labels");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_labels_are_those_of_a_labeller);
  tcase_add_test (tcase, test_many_components);
  return suite;
}

GST_CHECK_MAIN (sample_labels);
