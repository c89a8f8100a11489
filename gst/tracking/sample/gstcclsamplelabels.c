/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Of a mask that a model has made at a reduced size, the sample has every pixel once, so its
 * components are those of the frame. In other masks a component can lose thin parts, or fall apart.
 */
#include "gstcclsamplelabels.h"

#include <string.h>

#include "shared/gstcclerror.h"

#define MIN_OVERLAP 0.5 /* intersection over union of boxes */

void
gst_ccl_sample_labels_clear (GstCclSampleLabels *self)
{
  gst_ccl_sample_runs_clear (&self->runs);
  g_free (self->labels);
  g_free (self->label_of);
  *self = (GstCclSampleLabels){.labels = NULL};
}

/* Makes memory for the size of the sample. */
static void
prepare (GstCclSampleLabels *self, const GstCclSample *sample)
{
  const guint width = gst_ccl_sampled (sample->frame_width, sample->step);
  const guint height = gst_ccl_sampled (sample->frame_height, sample->step);

  if (self->labels && self->runs.width == width && self->runs.height == height)
    return;
  gst_ccl_sample_labels_clear (self);
  gst_ccl_sample_runs_set_size (&self->runs, width, height);
  self->labels = g_new0 (guint32, (gsize)width * height);
  self->label_of = g_new (guint32, GST_CCL_MAX_PARTS);
}

/* The intersection over union of the boxes of a row and of a component of the sample, whose pixels
 * stand for step × step pixels of the frame. */
static gdouble
box_overlap (const CclComponent *row, const GstCclPart *part, guint step)
{
  const gint64 left = MAX (row->x, (gint64)part->left * step);
  const gint64 top = MAX (row->y, (gint64)part->top * step);
  const gint64 right = MIN ((gint64)row->x + row->width, (gint64)part->right * step);
  const gint64 bottom = MIN ((gint64)row->y + row->height, (gint64)part->bottom * step);
  const gdouble width = (gdouble)(part->right - part->left) * step;
  const gdouble height = (gdouble)(part->bottom - part->top) * step;
  gdouble both;

  if (right <= left || bottom <= top)
    return 0;
  both = (gdouble)(right - left) * (bottom - top);
  return both / ((gdouble)row->width * row->height + width * height - both);
}

/* The label of the row whose box fits best; 0 if none fits. Rows in the order of labels begin
 * further and further down. */
static guint32
find_label (const CclTable *table, const GstCclPart *part, guint step)
{
  const guint64 bottom = (guint64)part->bottom * step;
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

static gboolean
has_box (const CclComponent *row, const GstCclPart *part, guint step)
{
  return row->x == part->left * step && row->y == part->top * step &&
         row->width == (part->right - part->left) * step &&
         row->height == (part->bottom - part->top) * step;
}

/* Finds the label of each component. Both lists are in raster order of first pixels, so one with
 * the box of a row is found among the rows that begin at the same height. */
static void
find_labels (GstCclSampleLabels *self, const CclTable *table, guint step)
{
  guint first = 0;

  for (guint i = 0; i < self->runs.n_parts; i++) {
    const GstCclPart *part = &self->runs.parts[i];
    const guint top = part->top * step;
    guint row;

    while (first < table->n_rows && table->rows[first].y < top)
      first++;
    row = first;
    while (row < table->n_rows && table->rows[row].y == top &&
           !has_box (&table->rows[row], part, step))
      row++;
    if (row < table->n_rows && table->rows[row].y == top)
      self->label_of[i] = table->rows[row].label;
    else
      self->label_of[i] = find_label (table, part, step);
  }
}

/* Removes the components of the sample before from the label map. */
static void
erase (GstCclSampleLabels *self)
{
  for (guint i = 0; i < self->runs.n_runs; i++) {
    const GstCclRun *run = &self->runs.runs[i];
    guint32 *row = self->labels + (gsize)run->y * self->runs.width;
    memset (row + run->begin, 0, (run->end - run->begin) * sizeof *row);
  }
}

static void
paint (GstCclSampleLabels *self)
{
  for (guint i = 0; i < self->runs.n_runs; i++) {
    const GstCclRun *run = &self->runs.runs[i];
    guint32 *row = self->labels + (gsize)run->y * self->runs.width;
    const guint32 label = run->part == GST_CCL_NO_PART ? 0 : self->label_of[run->part];

    for (guint x = run->begin; x < run->end; x++)
      row[x] = label;
  }
}

gboolean
gst_ccl_sample_labels_make (GstCclSampleLabels *self, const GstCclSample *sample,
    const CclTable *table, CclLabels *labels, CclError *error)
{
  GstMapInfo map;

  if (!gst_buffer_map (sample->rows, &map, GST_MAP_READ)) {
    gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE,
        "The memory of a label map or foreground mask cannot be mapped");
    return FALSE;
  }
  prepare (self, sample);
  erase (self);
  gst_ccl_sample_runs_find (&self->runs, sample, map.data);
  gst_buffer_unmap (sample->rows, &map);
  find_labels (self, table, sample->step);
  paint (self);
  *labels = (CclLabels){self->labels, sizeof *self->labels * (gsize)self->runs.width};
  return TRUE;
}
