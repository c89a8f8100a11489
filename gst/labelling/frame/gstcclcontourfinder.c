/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcontourfinder.h"

#include "labelling/pixels/gstcclmappool.h"
#include "shared/gstcclerror.h"

#include <string.h>

static void
drop_pool (GstCclContourFinder *self)
{
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  self->capacity = 0;
}

static void
drop_contours (GstCclContourFinder *self)
{
  if (self->is_of_site && self->contours)
    self->owner->methods->release_contours (self->site, self->contours);
  else
    ccl_contours_free (&self->contours);
  self->contours = NULL;
  self->is_of_site = FALSE;
}

void
gst_ccl_contour_finder_release (GstCclContourFinder *self)
{
  drop_contours (self);
  drop_pool (self);
  g_free (self->ends);
  g_free (self->places);
  *self = (GstCclContourFinder){NULL};
}

/* Makes an object where the label maps are, or on the CPU where there is no memory for it. */
static gboolean
plan_contours (GstCclContourFinder *self, const CclContoursPlan *plan, CclError *error)
{
  const GstCclMethods *methods = self->owner->methods;

  if (methods->plan_contours) {
    self->contours = methods->plan_contours (self->owner->element, self->site, plan, error);
    self->is_of_site = self->contours != NULL;
    if (!self->contours && error->status != CUDACCL_ERROR_NO_MEMORY)
      return FALSE;
  }
  if (!self->contours)
    self->contours = ccl_cpu_contours_new (plan, error);
  return self->contours != NULL;
}

gboolean
gst_ccl_contour_finder_prepare (GstCclContourFinder *self, const GstCclOwner *owner,
    GstCclSite *site, const GstVideoInfo *info, const GstCclSettings *settings, CclError *error)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (info);
  const guint height = (guint)GST_VIDEO_INFO_HEIGHT (info);
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;

  if (self->contours && self->kind == settings->attach_contours &&
      self->connectivity == settings->connectivity)
    return TRUE;
  drop_contours (self);
  if (settings->attach_contours == GST_CCL_ATTACH_CONTOURS_NONE)
    return TRUE;
  if (MAX (width, height) > CUDACCL_MAX_FEATURE_SIDE ||
      (guint64)width * height > CUDACCL_MAX_CONTOUR_PIXELS) {
    gst_ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "Frames of %u×%u pixels are too large for contours", width, height);
    return FALSE;
  }
  plan.width = width;
  plan.height = height;
  plan.connectivity = (CclConnectivity)settings->connectivity;
  plan.kind = settings->attach_contours == GST_CCL_ATTACH_CONTOURS_CRACKS ? CUDACCL_CONTOUR_CRACKS
                                                                          : CUDACCL_CONTOUR_PIXELS;
  self->owner = owner;
  self->site = site;
  self->kind = settings->attach_contours;
  self->connectivity = settings->connectivity;
  return plan_contours (self, &plan, error);
}

/* Makes room for that many numbers, and for a frame with somewhat more. */
static guint32 *
reserve (guint32 *numbers, guint *n_present, guint n)
{
  if (n <= *n_present)
    return numbers;
  g_free (numbers);
  *n_present = n + n / 2;
  return g_new (guint32, *n_present);
}

/* Memory of at least that size, or of 0 bytes, from a pool whose buffers grow as frames need it. */
static GstBuffer *
acquire (GstCclContourFinder *self, gsize size)
{
  GstBuffer *buffer = NULL;

  if (!self->pool || self->capacity < size) {
    drop_pool (self);
    self->capacity = MAX (size + size / 2, sizeof (GstCclContour));
    self->pool = gst_ccl_map_pool_new (self->capacity);
  }
  if (!self->pool || gst_buffer_pool_acquire_buffer (self->pool, &buffer, NULL) != GST_FLOW_OK)
    return NULL;
  return buffer;
}

/* Finds for each contour its place in label order. A component's outer contour starts before its
 * holes do, so it comes first. */
static void
sort_by_label (GstCclContourFinder *self, const CclContourTable *table)
{
  guint32 end = 0;

  self->ends = reserve (self->ends, &self->n_ends, table->n_components + 1);
  self->places = reserve (self->places, &self->n_places, table->n_contours);
  memset (self->ends, 0, (table->n_components + 1) * sizeof *self->ends);
  for (guint i = 0; i < table->n_contours; i++)
    self->ends[table->rows[i].component]++;
  for (guint label = 0; label <= table->n_components; label++) {
    const guint32 n = self->ends[label];
    self->ends[label] = end;
    end += n;
  }
  for (guint i = 0; i < table->n_contours; i++)
    self->places[i] = self->ends[table->rows[i].component]++;
}

/* Writes rows and points in label order. The points are simplified where they are written, as
 * integers, and become numbers of floating point there. Returns the number of points; 0 if memory
 * is short. */
static guint
write_contours (const GstCclContourFinder *self, const CclContourTable *table, gdouble tolerance,
    guint8 *memory)
{
  GstCclContour *rows = (GstCclContour *)(gpointer)memory;
  guint8 *points = memory + table->n_contours * sizeof *rows;
  guint n_points = 0;

  for (guint i = 0; i < table->n_contours; i++) {
    const CclContour *from = &table->rows[i];
    CclContourPoint *out = (CclContourPoint *)(gpointer)points + n_points;
    guint n = from->n_points;

    if (tolerance >= 0)
      n = ccl_contour_simplify (table->points + from->first_point, n, tolerance, out);
    else
      memcpy (out, table->points + from->first_point, n * sizeof *out);
    if (n == 0)
      return 0;
    rows[self->places[i]] = (GstCclContour){from->component,
        from->parent == CUDACCL_NO_CONTOUR ? GST_CCL_NO_CONTOUR : self->places[from->parent],
        n_points, n, from->is_hole};
    n_points += n;
  }
  for (gsize i = 0; i < 2 * (gsize)n_points; i++) {
    gint32 coordinate;
    gfloat number;

    memcpy (&coordinate, points + 4 * i, sizeof coordinate);
    number = (gfloat)coordinate;
    memcpy (points + 4 * i, &number, sizeof number);
  }
  return n_points;
}

static GstCclContours *
store (GstCclContourFinder *self, const CclContourTable *table, const GstCclSettings *settings,
    CclError *error)
{
  GstBuffer *buffer = acquire (
      self, table->n_contours * sizeof (GstCclContour) + table->n_points * sizeof *table->points);
  GstMapInfo map;
  guint n_points = 0;

  if (buffer && gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    sort_by_label (self, table);
    n_points = write_contours (self, table, settings->contour_tolerance, map.data);
    gst_buffer_unmap (buffer, &map);
  }
  if (!buffer || (n_points == 0 && table->n_contours > 0)) {
    gst_clear_buffer (&buffer);
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "No memory for the contours of a frame");
    return NULL;
  }
  return gst_ccl_contours_new (buffer,
      self->kind == GST_CCL_ATTACH_CONTOURS_CRACKS ? GST_CCL_CONTOUR_KIND_CRACKS
                                                   : GST_CCL_CONTOUR_KIND_PIXELS,
      table->n_contours, n_points);
}

/* Finds the contours and stores them: the object may find those of another stream next. */
static GstCclContours *
find (GstCclContourFinder *self, const GstCclSettings *settings, gpointer labels, gsize stride,
    CclError *error)
{
  CclContourTable table;

  if (ccl_contours_of_labels (self->contours, &(CclLabels){labels, stride}, &table, error) !=
      CUDACCL_OK)
    return NULL;
  return store (self, &table, settings, error);
}

GstCclContours *
gst_ccl_contour_finder_run_behind (GstCclContourFinder *self, const GstCclSettings *settings,
    CclLabeller *labeller, gpointer labels, gsize stride, CclError *error)
{
  if (!self->owner->methods->connect_contours (self->contours, labeller, error))
    return NULL;
  return find (self, settings, labels, stride, error);
}

GstCclContours *
gst_ccl_contour_finder_run (GstCclContourFinder *self, const GstCclSettings *settings,
    const GstCclMap *labels, CclError *error)
{
  GstCclContours *contours;
  GstMapInfo map;

  /* Without GST_MAP_CUDA, memory of a GPU is downloaded. */
  if (!gst_buffer_map (labels->buffer, &map, GST_MAP_READ)) {
    gst_ccl_error_set (error, CUDACCL_ERROR_DEVICE, "The label map cannot be read");
    return NULL;
  }
  contours = find (self, settings, map.data, labels->stride, error);
  gst_buffer_unmap (labels->buffer, &map);
  return contours;
}
