/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of a mask that a model has made at a reduced size, the sample has every pixel once, so its
 * components are those of the frame. In other masks a component can lose thin parts, or fall apart.
 */
#include "gstcclsamplelabels.h"

#include "shared/gstcclerror.h"

#define MAX_COMPONENTS 4096
#define BLOCK 32        /* pixels */
#define MIN_OVERLAP 0.5 /* intersection over union of boxes */

void
gst_ccl_sample_labels_clear (GstCclSampleLabels *self)
{
  ccl_labeller_free (&self->labeller);
  g_free (self->pixels);
  g_free (self->labels);
  g_free (self->label_of);
  *self = (GstCclSampleLabels){NULL};
}

/* Makes labeller and memory for the size of the sample. */
static gboolean
prepare (GstCclSampleLabels *self, const GstCclSample *sample, CclError *error)
{
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  gsize n_pixels;

  plan.width = gst_ccl_sampled (sample->frame_width, sample->step);
  plan.height = gst_ccl_sampled (sample->frame_height, sample->step);
  plan.connectivity = sample->connectivity;
  plan.max_components = MAX_COMPONENTS;
  plan.n_threads = 1;
  if (self->labeller && self->plan.width == plan.width && self->plan.height == plan.height &&
      self->plan.connectivity == plan.connectivity)
    return TRUE;
  gst_ccl_sample_labels_clear (self);
  n_pixels = (gsize)plan.width * plan.height;
  self->plan = plan;
  self->pixels = g_malloc (n_pixels);
  self->labels = g_new (guint32, n_pixels);
  self->label_of = g_new (guint32, 1 + MAX_COMPONENTS);
  self->labeller = ccl_cpu_labeller_new (&plan, error);
  return self->labeller != NULL;
}

/* Copies the pixels of a row, one byte each: 0 for background. Compilers vectorise the loop where
 * the distance between pixels is constant. */
static inline void
take_bytes (
    const guint8 *row, gsize distance, guint8 least, guint8 background, gsize width, guint8 *pixels)
{
  for (gsize x = 0; x < width; x++)
    pixels[x] = (row[x * distance] > least) ^ background;
}

static void
take_row (const GstCclSample *sample, const guint8 *row, guint width, guint8 *pixels)
{
  const guint least = MIN (sample->threshold, G_MAXUINT16);
  const guint8 background = sample->invert ? 1 : 0;
  const guint distance = sample->distance * gst_ccl_sample_pixel_size (sample->format);

  if (sample->format == CUDACCL_PIXEL_FORMAT_16) {
    for (guint x = 0; x < width; x++)
      pixels[x] = (GST_READ_UINT16_LE (row + (gsize)x * distance) > least) ^ background;
    return;
  }
  if (sample->format == CUDACCL_PIXEL_FORMAT_8_SECOND)
    row++;
  if (distance == 1)
    take_bytes (row, 1, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
  else if (distance == 2)
    take_bytes (row, 2, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
  else if (distance == 4)
    take_bytes (row, 4, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
  else
    take_bytes (row, distance, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
}

static gboolean
take_pixels (GstCclSampleLabels *self, const GstCclSample *sample, CclError *error)
{
  const guint width = self->plan.width;
  GstMapInfo map;

  if (!gst_buffer_map (sample->rows, &map, GST_MAP_READ)) {
    gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE,
        "The memory of a label map or foreground mask cannot be mapped");
    return FALSE;
  }
  for (guint y = 0; y < self->plan.height; y++)
    take_row (sample, map.data + y * sample->stride, width, self->pixels + (gsize)y * width);
  gst_buffer_unmap (sample->rows, &map);
  return TRUE;
}

/* The intersection over union of the boxes of a row and of a component of the sample, whose pixels
 * stand for step × step pixels of the frame. */
static gdouble
box_overlap (const CclComponent *row, const CclComponent *part, guint step)
{
  const gint64 left = MAX (row->x, (gint64)part->x * step);
  const gint64 top = MAX (row->y, (gint64)part->y * step);
  const gint64 right = MIN ((gint64)row->x + row->width, (gint64)(part->x + part->width) * step);
  const gint64 bottom = MIN ((gint64)row->y + row->height, (gint64)(part->y + part->height) * step);
  const gdouble both = right > left && bottom > top ? (gdouble)(right - left) * (bottom - top) : 0;

  return both / ((gdouble)row->width * row->height +
                    (gdouble)part->width * part->height * step * step - both);
}

/* The label of the row whose box fits best; 0 if none fits. Rows in the order of labels begin
 * further and further down. */
static guint32
find_label (const CclTable *table, const CclComponent *part, guint step)
{
  const guint64 bottom = (guint64)(part->y + part->height) * step;
  gdouble best = MIN_OVERLAP;
  guint32 label = 0;

  for (guint i = 0; i < table->n_rows && table->rows[i].y < bottom; i++) {
    const gdouble overlap = box_overlap (&table->rows[i], part, step);
    if (overlap > best) {
      best = overlap;
      label = table->rows[i].label;
    }
  }
  return label;
}

static void
translate_pixels (GstCclSampleLabels *self, const CclTable *parts, gsize begin, gsize end)
{
  for (gsize i = begin; i < end; i++) {
    const guint32 label = self->labels[i];
    if (label > 0)
      self->labels[i] = label <= parts->n_rows ? self->label_of[label] : 0;
  }
}

/* Replaces the labels of the sample's components by those of the frame's. Most blocks of pixels are
 * background. */
static void
translate (GstCclSampleLabels *self, const CclTable *parts)
{
  const gsize n_pixels = (gsize)self->plan.width * self->plan.height;
  gsize i = 0;

  for (; i + BLOCK <= n_pixels; i += BLOCK) {
    guint32 any = 0;
    for (guint j = 0; j < BLOCK; j++)
      any |= self->labels[i + j];
    if (any)
      translate_pixels (self, parts, i, i + BLOCK);
  }
  translate_pixels (self, parts, i, n_pixels);
}

gboolean
gst_ccl_sample_labels_make (GstCclSampleLabels *self, const GstCclSample *sample,
    const CclTable *table, CclLabels *labels, CclError *error)
{
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclTable parts;

  if (!prepare (self, sample, error) || !take_pixels (self, sample, error))
    return FALSE;
  *labels = (CclLabels){self->labels, sizeof *self->labels * (gsize)self->plan.width};
  if (ccl_labeller_run (self->labeller, &(CclFrame){self->pixels, self->plan.width}, &options,
          labels, &parts, error) != CUDACCL_OK)
    return FALSE;
  for (guint i = 0; i < parts.n_rows; i++)
    self->label_of[parts.rows[i].label] = find_label (table, &parts.rows[i], sample->step);
  translate (self, &parts);
  return TRUE;
}
