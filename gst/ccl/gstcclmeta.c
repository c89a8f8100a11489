/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * GstCclMeta:
 *
 * The connected components of a video frame.
 *
 * The elements `ccl` and `cudaccl` add one #GstCclMeta to every frame they label. It holds the
 * component table and, when the element's properties `attach-labels` and `attach-mask` are set,
 * the label map and the mask that was labelled.
 *
 * All coordinates are in pixels of the frame that carries the metadata, origin in its upper left
 * corner, and a box lies inside that frame. The metadata follows the frame:
 *
 * - Copying the buffer copies it. The table, the label map and the mask are shared, not
 *   duplicated.
 * - Scaling the video scales boxes and centroids; a scaled box is the smallest one of whole
 *   pixels that covers the component. Areas stay in pixels of the frame that was labelled;
 *   label map and mask are dropped, because they have that frame's size. Converting colours keeps
 *   all.
 * - Serialising it with gst_meta_serialize() (GStreamer 1.24 and later), as `unixfdsink` does,
 *   keeps the table, neither label map nor mask.
 * - What turns, crops or otherwise warps the video drops it.
 *
 * |[<!-- language="C" -->
 * GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
 * if (meta) {
 *   guint n_rows;
 *   const GstCclComponent *components = gst_ccl_meta_get_components (meta, &n_rows);
 *   for (guint i = 0; i < n_rows; i++)
 *     g_print ("%u: %u pixels\n", components[i].label, components[i].area);
 * }
 * ]|
 *
 * Thread safety: reading is safe from any number of threads as long as each holds a reference
 * to the buffer.
 */
#include "gstcclmeta.h"

#include <gst/video/video.h>
#include <string.h>

struct _GstCclMeta {
  GstMeta meta;

  guint frame_width, frame_height;
  guint n_components;
  guint n_rows;
  GstCclComponent *rows; /* an atomic reference counted box that copies share; NULL if no rows */
  GstBuffer *labels;
  gsize labels_stride;
  GstBuffer *mask;
  gsize mask_stride;
};

G_DEFINE_BOXED_TYPE (
    GstCclComponent, gst_ccl_component, gst_ccl_component_copy, gst_ccl_component_free)

/**
 * gst_ccl_component_copy:
 * @component: a #GstCclComponent
 *
 * Copies a component, so that it can outlive the metadata.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_component_free()
 */
GstCclComponent *
gst_ccl_component_copy (const GstCclComponent *component)
{
  return g_memdup2 (component, sizeof *component);
}

/**
 * gst_ccl_component_free:
 * @component: (transfer full): a #GstCclComponent that gst_ccl_component_copy() gave
 *
 * Frees a copy of a component. Those of a table belong to the metadata.
 */
void
gst_ccl_component_free (GstCclComponent *component)
{
  g_free (component);
}

static gboolean
gst_ccl_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset ((guint8 *)meta + sizeof (GstMeta), 0, sizeof (GstCclMeta) - sizeof (GstMeta));
  return TRUE;
}

static void
gst_ccl_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstCclMeta *self = (GstCclMeta *)meta;

  g_clear_pointer (&self->rows, g_atomic_rc_box_release);
  gst_clear_buffer (&self->labels);
  gst_clear_buffer (&self->mask);
}

/* Takes over the reference to the rows. */
static GstCclMeta *
add_meta (GstBuffer *buffer, guint frame_width, guint frame_height, guint n_components,
    GstCclComponent *rows, guint n_rows)
{
  GstCclMeta *self = (GstCclMeta *)gst_buffer_add_meta (buffer, GST_CCL_META_INFO, NULL);

  self->frame_width = frame_width;
  self->frame_height = frame_height;
  self->n_components = n_components;
  self->rows = rows;
  self->n_rows = n_rows;
  return self;
}

static GstCclComponent *
alloc_rows (guint n_rows)
{
  return n_rows ? g_atomic_rc_box_alloc (n_rows * sizeof (GstCclComponent)) : NULL;
}

/* The smallest whole-pixel interval that covers [start, start + length) after scaling. */
static void
scale_interval (guint32 *start, guint32 *length, guint from, guint to)
{
  guint64 first = (guint64)*start * to / from;
  guint64 end = (((guint64)*start + *length) * to + from - 1) / from;

  *start = (guint32)first;
  *length = (guint32)(end - first);
}

/* Pixel centres sit at integers, so pixel edges, which scaling keeps in proportion, at halves. */
static gdouble
scale_centre (gdouble centre, guint from, guint to)
{
  return (centre + 0.5) * to / from - 0.5;
}

static void
scale_components (GstCclComponent *scaled, const GstCclComponent *components, guint n,
    guint from_width, guint from_height, guint to_width, guint to_height)
{
  for (guint i = 0; i < n; i++) {
    scaled[i] = components[i];
    scale_interval (&scaled[i].x, &scaled[i].width, from_width, to_width);
    scale_interval (&scaled[i].y, &scaled[i].height, from_height, to_height);
    scaled[i].centroid_x = scale_centre (components[i].centroid_x, from_width, to_width);
    scaled[i].centroid_y = scale_centre (components[i].centroid_y, from_height, to_height);
  }
}

static void
copy_meta (GstBuffer *dest, const GstCclMeta *meta)
{
  GstCclMeta *copy = add_meta (dest, meta->frame_width, meta->frame_height, meta->n_components,
      meta->rows ? g_atomic_rc_box_acquire (meta->rows) : NULL, meta->n_rows);

  if (meta->labels)
    copy->labels = gst_buffer_ref (meta->labels);
  copy->labels_stride = meta->labels_stride;
  if (meta->mask)
    copy->mask = gst_buffer_ref (meta->mask);
  copy->mask_stride = meta->mask_stride;
}

static gboolean
scale_meta (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransform *scale)
{
  guint from_width = GST_VIDEO_INFO_WIDTH (scale->in_info);
  guint from_height = GST_VIDEO_INFO_HEIGHT (scale->in_info);
  guint to_width = GST_VIDEO_INFO_WIDTH (scale->out_info);
  guint to_height = GST_VIDEO_INFO_HEIGHT (scale->out_info);
  GstCclComponent *rows;

  if (from_width == 0 || from_height == 0)
    return FALSE;
  /* What converts colours calls it scaling, too. */
  if (from_width == to_width && from_height == to_height) {
    copy_meta (dest, meta);
    return TRUE;
  }
  rows = alloc_rows (meta->n_rows);
  scale_components (rows, meta->rows, meta->n_rows, from_width, from_height, to_width, to_height);
  add_meta (dest, to_width, to_height, meta->n_components, rows, meta->n_rows);
  return TRUE;
}

static gboolean
gst_ccl_meta_transform (
    GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  if (GST_META_TRANSFORM_IS_COPY (type)) {
    copy_meta (dest, (GstCclMeta *)meta);
    return TRUE;
  }
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return scale_meta (dest, (GstCclMeta *)meta, data);
  return FALSE;
}

#if GST_CHECK_VERSION(1, 24, 0)

/* Little endian: frame width, frame height, N, number of rows as 32-bit numbers, then the rows,
 * each its six 32-bit numbers and two doubles in the order of GstCclComponent. */
#define SERIAL_VERSION 1
#define SERIAL_HEADER_SIZE 16
#define SERIAL_ROW_SIZE 40

/* Wherever the bytes lie; GStreamer's macros store and load 64 bits at once, which C allows at
 * multiples of 8 only. */
static void
write_double (guint8 *out, gdouble value)
{
  value = GDOUBLE_TO_LE (value);
  memcpy (out, &value, sizeof value);
}

static gdouble
read_double (const guint8 *data)
{
  gdouble value;

  memcpy (&value, data, sizeof value);
  return GDOUBLE_FROM_LE (value);
}

static gboolean
gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCclMeta *self = (const GstCclMeta *)meta;
  guint8 *out = gst_byte_array_interface_append (
      data, SERIAL_HEADER_SIZE + (gsize)self->n_rows * SERIAL_ROW_SIZE);

  if (!out)
    return FALSE;
  GST_WRITE_UINT32_LE (out, self->frame_width);
  GST_WRITE_UINT32_LE (out + 4, self->frame_height);
  GST_WRITE_UINT32_LE (out + 8, self->n_components);
  GST_WRITE_UINT32_LE (out + 12, self->n_rows);
  out += SERIAL_HEADER_SIZE;
  for (guint i = 0; i < self->n_rows; i++, out += SERIAL_ROW_SIZE) {
    const GstCclComponent *c = &self->rows[i];
    GST_WRITE_UINT32_LE (out, c->label);
    GST_WRITE_UINT32_LE (out + 4, c->area);
    GST_WRITE_UINT32_LE (out + 8, c->x);
    GST_WRITE_UINT32_LE (out + 12, c->y);
    GST_WRITE_UINT32_LE (out + 16, c->width);
    GST_WRITE_UINT32_LE (out + 20, c->height);
    write_double (out + 24, c->centroid_x);
    write_double (out + 32, c->centroid_y);
  }
  *version = SERIAL_VERSION;
  return TRUE;
}

static GstMeta *
gst_ccl_meta_deserialize (
    const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size, guint8 version)
{
  guint frame_width, frame_height, n_components, n_rows;
  GstCclComponent *rows;

  if (version != SERIAL_VERSION || size < SERIAL_HEADER_SIZE)
    return NULL;
  frame_width = GST_READ_UINT32_LE (data);
  frame_height = GST_READ_UINT32_LE (data + 4);
  n_components = GST_READ_UINT32_LE (data + 8);
  n_rows = GST_READ_UINT32_LE (data + 12);
  if (frame_width == 0 || frame_height == 0 || n_rows > n_components ||
      (size - SERIAL_HEADER_SIZE) / SERIAL_ROW_SIZE != n_rows ||
      (size - SERIAL_HEADER_SIZE) % SERIAL_ROW_SIZE != 0)
    return NULL;

  rows = alloc_rows (n_rows);
  data += SERIAL_HEADER_SIZE;
  for (guint i = 0; i < n_rows; i++, data += SERIAL_ROW_SIZE)
    rows[i] = (GstCclComponent){
        .label = GST_READ_UINT32_LE (data),
        .area = GST_READ_UINT32_LE (data + 4),
        .x = GST_READ_UINT32_LE (data + 8),
        .y = GST_READ_UINT32_LE (data + 12),
        .width = GST_READ_UINT32_LE (data + 16),
        .height = GST_READ_UINT32_LE (data + 20),
        .centroid_x = read_double (data + 24),
        .centroid_y = read_double (data + 32),
    };
  return (GstMeta *)add_meta (buffer, frame_width, frame_height, n_components, rows, n_rows);
}

#endif

/* The description of the metadata, registered. */
static const GstMetaInfo *
register_meta (void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstMetaInfo *info =
      (GstMetaInfo *)gst_meta_info_new (GST_CCL_META_API_TYPE, "GstCclMeta", sizeof (GstCclMeta));

  info->init_func = gst_ccl_meta_init;
  info->free_func = gst_ccl_meta_free;
  info->transform_func = gst_ccl_meta_transform;
  info->serialize_func = gst_ccl_meta_serialize;
  info->deserialize_func = gst_ccl_meta_deserialize;
  return gst_meta_info_register (info);
#else
  return gst_meta_register (GST_CCL_META_API_TYPE, "GstCclMeta", sizeof (GstCclMeta),
      gst_ccl_meta_init, gst_ccl_meta_free, gst_ccl_meta_transform);
#endif
}

/**
 * gst_ccl_meta_api_get_type: (skip)
 *
 * The type under which gst_buffer_get_meta() and gst_buffer_iterate_meta_filtered() find the
 * metadata. May be called from any thread.
 *
 * Returns: the type `GstCclMetaAPI`
 */
GType
gst_ccl_meta_api_get_type (void)
{
  static GType type = 0;
  /* The tags of GstVideoRegionOfInterestMeta: elements that only convert colours carry the
   * metadata along, those that scale ask it to follow, those that turn the image drop it. */
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
      GST_META_TAG_VIDEO_ORIENTATION_STR, NULL};

  if (g_once_init_enter (&type)) {
    GType registered = gst_meta_api_type_register ("GstCclMetaAPI", tags);
    g_once_init_leave (&type, registered);
  }
  return type;
}

/**
 * gst_ccl_meta_get_info: (skip)
 *
 * The description of the metadata, as gst_buffer_add_meta() takes it. Calling it once registers
 * the metadata, which deserialising one from another process needs. May be called from any thread.
 *
 * Returns: (transfer none): the description, valid as long as the process
 */
const GstMetaInfo *
gst_ccl_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered = register_meta ();
    g_once_init_leave ((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

/**
 * gst_buffer_add_ccl_meta:
 * @buffer: a writable #GstBuffer that holds a video frame
 * @frame_width: width of the frame in pixels, at least 1
 * @frame_height: height of the frame in pixels, at least 1
 * @n_components: N, how many components the frame has
 * @components: (array length=n_rows) (nullable): the first @n_rows of them in label order; copied
 * @n_rows: at most @n_components; fewer mean that the table is truncated
 * @labels: (transfer none) (nullable): the label map, one native-endian guint32 a pixel, 0 for
 *   background; a reference is kept
 * @labels_stride: bytes from one row of @labels to the next
 *
 * Adds a #GstCclMeta to a buffer.
 *
 * Returns: (transfer none): the metadata, owned by the buffer; NULL when an argument is wrong
 */
GstCclMeta *
gst_buffer_add_ccl_meta (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, const GstCclComponent *components, guint n_rows, GstBuffer *labels,
    gsize labels_stride)
{
  GstCclComponent *rows;
  GstCclMeta *self;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), NULL);
  g_return_val_if_fail (frame_width > 0 && frame_height > 0, NULL);
  g_return_val_if_fail (n_rows <= n_components, NULL);
  g_return_val_if_fail (components != NULL || n_rows == 0, NULL);
  g_return_val_if_fail (labels == NULL || labels_stride >= 4 * (gsize)frame_width, NULL);

  rows = alloc_rows (n_rows);
  if (rows)
    memcpy (rows, components, n_rows * sizeof *rows);
  self = add_meta (buffer, frame_width, frame_height, n_components, rows, n_rows);
  if (labels) {
    self->labels = gst_buffer_ref (labels);
    self->labels_stride = labels_stride;
  }
  return self;
}

/**
 * gst_buffer_get_ccl_meta:
 * @buffer: a #GstBuffer
 *
 * Finds the components that were attached to a frame.
 *
 * Returns: (transfer none) (nullable): the first #GstCclMeta of the buffer, or %NULL
 */
GstCclMeta *
gst_buffer_get_ccl_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCclMeta *)gst_buffer_get_meta (buffer, GST_CCL_META_API_TYPE);
}

/**
 * gst_ccl_meta_get_frame_width:
 * @meta: a #GstCclMeta
 *
 * How wide the frame is. Scaling the video changes it.
 *
 * Returns: width in pixels of the frame that boxes and centroids refer to
 */
guint
gst_ccl_meta_get_frame_width (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->frame_width;
}

/**
 * gst_ccl_meta_get_frame_height:
 * @meta: a #GstCclMeta
 *
 * How high the frame is. Scaling the video changes it.
 *
 * Returns: height in pixels of the frame that boxes and centroids refer to
 */
guint
gst_ccl_meta_get_frame_height (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->frame_height;
}

/**
 * gst_ccl_meta_get_n_components:
 * @meta: a #GstCclMeta
 *
 * How many components were found.
 *
 * Returns: N, the number of components in the frame, also when the table holds fewer
 */
guint
gst_ccl_meta_get_n_components (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->n_components;
}

/**
 * gst_ccl_meta_is_truncated:
 * @meta: a #GstCclMeta
 *
 * Whether components are missing from the table, because there were more than the element
 * was to describe.
 *
 * Returns: whether the frame has more components than the table holds
 */
gboolean
gst_ccl_meta_is_truncated (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, FALSE);

  return meta->n_rows < meta->n_components;
}

/**
 * gst_ccl_meta_get_components:
 * @meta: a #GstCclMeta
 * @n_rows: (out): how many components the table holds
 *
 * The component table.
 *
 * Returns: (transfer none) (array length=n_rows) (nullable): the table, in label order, valid as
 *   long as the metadata; %NULL if it is empty
 */
const GstCclComponent *
gst_ccl_meta_get_components (const GstCclMeta *meta, guint *n_rows)
{
  g_return_val_if_fail (meta != NULL, NULL);
  g_return_val_if_fail (n_rows != NULL, NULL);

  *n_rows = meta->n_rows;
  return meta->rows;
}

/**
 * gst_ccl_meta_get_labels:
 * @meta: a #GstCclMeta
 * @stride: (out) (optional): bytes from one row to the next
 *
 * The label map: one native-endian guint32 for each pixel of the frame, 0 for background,
 * otherwise the label of the pixel's component. It is complete also when the table is truncated.
 * From `ccl` it is system memory, from `cudaccl` CUDA memory, which gst_buffer_map() downloads
 * unless it is called with GST_MAP_CUDA.
 *
 * Returns: (transfer none) (nullable): the label map, or %NULL if none is attached
 */
GstBuffer *
gst_ccl_meta_get_labels (const GstCclMeta *meta, gsize *stride)
{
  g_return_val_if_fail (meta != NULL, NULL);

  if (stride)
    *stride = meta->labels_stride;
  return meta->labels;
}

/**
 * gst_ccl_meta_set_mask:
 * @meta: a #GstCclMeta of a writable buffer
 * @mask: (transfer none) (nullable): one byte for each pixel of the frame, 255 for foreground, 0
 *   for background; a reference is kept. %NULL takes it away
 * @stride: bytes from one row of @mask to the next, at least the frame's width
 *
 * Attaches the mask that was labelled, replacing one that is there.
 */
void
gst_ccl_meta_set_mask (GstCclMeta *meta, GstBuffer *mask, gsize stride)
{
  g_return_if_fail (meta != NULL);
  g_return_if_fail (mask == NULL || stride >= meta->frame_width);

  gst_buffer_replace (&meta->mask, mask);
  meta->mask_stride = mask ? stride : 0;
}

/**
 * gst_ccl_meta_get_mask:
 * @meta: a #GstCclMeta
 * @stride: (out) (optional): bytes from one row to the next
 *
 * The mask that was labelled: one byte for each pixel of the frame, 255 for foreground and 0 for
 * background, before small and large components were left out. The elements attach it when their
 * property `attach-mask` is set. From `ccl` it is system memory, from `cudaccl` CUDA memory, which
 * gst_buffer_map() downloads unless it is called with GST_MAP_CUDA.
 *
 * Returns: (transfer none) (nullable): the mask, or %NULL if none is attached
 */
GstBuffer *
gst_ccl_meta_get_mask (const GstCclMeta *meta, gsize *stride)
{
  g_return_val_if_fail (meta != NULL, NULL);

  if (stride)
    *stride = meta->mask_stride;
  return meta->mask;
}
