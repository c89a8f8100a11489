/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclmeta-private.h"

#include <gst/video/video.h>
#include <string.h>

/**
 * GstCclMeta:
 *
 * The connected components of a video frame.
 *
 * The elements `ccl` and `cudaccl` add one #GstCclMeta to every frame that they label. It holds the
 * component table and, when the element's properties `attach-labels`, `attach-mask`,
 * `attach-contours` and `attach-columns` are set, the label map, the foreground mask, the contours
 * and further columns of the table. Several labellers
 * can follow each other in one chain: each adds a metadata of its own, and
 * gst_buffer_get_ccl_meta_by_name() tells them apart by the name of the element.
 *
 * All coordinates are in pixels of the frame that carries the metadata, origin in its upper left
 * corner. A box lies inside that frame. The metadata follows the frame:
 *
 * - Copying the buffer copies the metadata. The table, its columns, the label map, the mask and the
 *   contours are shared, not duplicated.
 * - Scaling the video scales boxes, centroids and contours; a scaled box is the smallest one of
 * whole pixels that covers the component. Areas and columns stay those of the frame that was
 * labelled. Label map and mask are dropped, because they have that frame's size. A colour
 * conversion keeps everything.
 * - With GStreamer 1.28 and later, boxes, centroids and velocities also follow where the video is
 *   cropped, flipped, turned by multiples of 90 degrees, or placed on another frame. A box is
 *   clipped to the frame. A component outside the frame is removed from the table, and is no longer
 *   counted in the number of components; labels, areas and columns of the others stay. Label map,
 * mask and contours are dropped. Earlier versions of GStreamer drop the metadata there, and all
 * versions drop it where the video is turned by other angles or distorted.
 * - Serialising the metadata with gst_meta_serialize() (GStreamer 1.24 and later), as `unixfdsink`
 *   does, keeps the table, its columns, the contours and the name of the labeller, neither its
 * settings nor label map and mask.
 *
 * |[<!-- language="C" -->
 * GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
 * if (meta) {
 *   for (guint i = 0; i < gst_ccl_meta_get_n_rows (meta); i++) {
 *     const GstCclComponent *component = gst_ccl_meta_get_component (meta, i);
 *     g_print ("%u: %u pixels\n", component->label, component->area);
 *   }
 * }
 * ]|
 *
 * In C, the metadata of a buffer is freed with its buffer. In Python and other languages,
 * `GstCcl.buffer_get_ccl_meta (buffer)` returns a copy that may be kept as long as one likes; it
 * shares table, label map and mask with the buffer.
 *
 * Thread safety: reading is safe from any number of threads as long as each holds a reference
 * to the buffer, or a copy of the metadata.
 *
 * Since: 0.2
 */
G_DEFINE_BOXED_TYPE (GstCclMeta, gst_ccl_meta, gst_ccl_meta_copy, gst_ccl_meta_free)

static void
unset (GstCclMeta *self)
{
  gst_ccl_meta_unset_table (self);
  g_clear_pointer (&self->labeller, gst_ccl_labeller_unref);
  gst_clear_buffer (&self->labels);
  gst_clear_buffer (&self->mask);
  g_clear_pointer (&self->contours, gst_ccl_contours_unref);
}

/* A reference to rows, tracks or identities; NULL for none. */
static gpointer
acquire (gpointer box)
{
  return box ? g_atomic_rc_box_acquire (box) : NULL;
}

void
gst_ccl_meta_share_origin (GstCclMeta *self, const GstCclMeta *other, GstCclTrackInfo *tracks)
{
  self->tracks = tracks;
  self->ids = acquire (other->ids);
  self->n_ids = other->n_ids;
  self->labeller = other->labeller ? gst_ccl_labeller_ref (other->labeller) : NULL;
}

void
gst_ccl_meta_share (GstCclMeta *self, const GstCclMeta *other)
{
  self->frame_width = other->frame_width;
  self->frame_height = other->frame_height;
  self->n_components = other->n_components;
  self->rows = acquire (other->rows);
  self->n_rows = other->n_rows;
  gst_ccl_meta_share_origin (self, other, acquire (other->tracks));
  self->labels = other->labels ? gst_buffer_ref (other->labels) : NULL;
  self->labels_stride = other->labels_stride;
  self->mask = other->mask ? gst_buffer_ref (other->mask) : NULL;
  self->mask_stride = other->mask_stride;
  self->contours = other->contours ? gst_ccl_contours_ref (other->contours) : NULL;
  self->columns = other->columns ? gst_ccl_columns_ref (other->columns) : NULL;
  self->classes = other->classes ? gst_ccl_classes_ref (other->classes) : NULL;
  self->region_state = other->region_state ? gst_ccl_region_state_ref (other->region_state) : NULL;
}

static gboolean
init_meta (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset ((guint8 *)meta + sizeof (GstMeta), 0, sizeof (GstCclMeta) - sizeof (GstMeta));
  return TRUE;
}

static void
free_meta (GstMeta *meta, GstBuffer *buffer)
{
  unset ((GstCclMeta *)meta);
}

/* GStreamer registers a type of that name, so it must differ from the boxed type's. */
#define META_NAME "GstCclMetaImpl"

static const GstMetaInfo *
register_meta (void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstMetaInfo *info =
      (GstMetaInfo *)gst_meta_info_new (GST_CCL_META_API_TYPE, META_NAME, sizeof (GstCclMeta));

  info->init_func = init_meta;
  info->free_func = free_meta;
  info->transform_func = gst_ccl_meta_transform;
  info->serialize_func = gst_ccl_meta_serialize;
  info->deserialize_func = gst_ccl_meta_deserialize;
  return gst_meta_info_register (info);
#else
  return gst_meta_register (GST_CCL_META_API_TYPE, META_NAME, sizeof (GstCclMeta), init_meta,
      free_meta, gst_ccl_meta_transform);
#endif
}

/**
 * gst_ccl_meta_api_get_type: (skip)
 *
 * The type under which gst_buffer_get_meta() and gst_buffer_iterate_meta_filtered() find the
 * metadata. May be called from any thread.
 *
 * Returns: the type `GstCclMetaAPI`
 *
 * Since: 0.2
 */
GType
gst_ccl_meta_api_get_type (void)
{
  static GType type = 0;
  /* The tags of GstVideoRegionOfInterestMeta: elements that only convert colours copy the
   * metadata, elements that scale transform it, elements that turn the image drop it. */
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
 * The description of the metadata, as gst_buffer_add_meta() takes it. The first call registers
 * the metadata, which must happen before a serialised one from another process can be read. May be
 * called from any thread.
 *
 * Returns: (transfer none): the description, valid as long as the process
 *
 * Since: 0.2
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

GstCclMeta *
gst_ccl_meta_add (GstBuffer *buffer, guint frame_width, guint frame_height, guint n_components,
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

/**
 * gst_buffer_add_ccl_meta: (skip)
 * @buffer: a writable #GstBuffer that holds a video frame
 * @frame_width: width of the frame in pixels, at least 1
 * @frame_height: height of the frame in pixels, at least 1
 * @n_components: N, the number of components of the frame
 * @components: (array length=n_rows) (nullable): the first @n_rows of them in label order; copied.
 *   gst_ccl_meta_set_table() adds tracks
 * @n_rows: at most @n_components; fewer mean that the table is truncated
 * @labels: (transfer none) (nullable): the label map, one native-endian guint32 a pixel, 0 for
 *   background; a reference is kept
 * @labels_stride: bytes from one row of @labels to the next
 *
 * Adds a #GstCclMeta to a buffer. Metadata that is there already stays.
 *
 * Returns: (transfer none): the metadata, owned by the buffer; %NULL when an argument is
 *   wrong
 *
 * Since: 0.2
 */
GstCclMeta *
gst_buffer_add_ccl_meta (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, const GstCclComponent *components, guint n_rows, GstBuffer *labels,
    gsize labels_stride)
{
  GstCclMeta *self;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), NULL);
  g_return_val_if_fail (frame_width > 0 && frame_height > 0, NULL);
  g_return_val_if_fail (n_rows <= n_components, NULL);
  g_return_val_if_fail (components != NULL || n_rows == 0, NULL);
  g_return_val_if_fail (labels == NULL || labels_stride >= 4 * (gsize)frame_width, NULL);

  self = gst_ccl_meta_add (buffer, frame_width, frame_height, n_components,
      gst_ccl_rows_copy (components, n_rows), n_rows);
  if (labels) {
    self->labels = gst_buffer_ref (labels);
    self->labels_stride = labels_stride;
  }
  return self;
}

/**
 * gst_buffer_attach_ccl_meta: (rename-to gst_buffer_add_ccl_meta)
 * @buffer: a writable #GstBuffer that holds a video frame
 * @frame_width: width of the frame in pixels, at least 1
 * @frame_height: height of the frame in pixels, at least 1
 * @n_components: N, the number of components of the frame
 * @components: (array length=n_rows) (nullable): the first @n_rows of them in label order; copied
 * @n_rows: at most @n_components; fewer mean that the table is truncated
 * @labels: (transfer none) (nullable): the label map, one native-endian guint32 a pixel, 0 for
 *   background; a reference is kept
 * @labels_stride: bytes from one row of @labels to the next
 *
 * Adds a #GstCclMeta to a buffer as gst_buffer_add_ccl_meta() does, for languages that must not
 * hold the metadata of a buffer.
 *
 * Since: 0.2
 */
void
gst_buffer_attach_ccl_meta (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, const GstCclComponent *components, guint n_rows, GstBuffer *labels,
    gsize labels_stride)
{
  gst_buffer_add_ccl_meta (
      buffer, frame_width, frame_height, n_components, components, n_rows, labels, labels_stride);
}

/* The last GstCclMeta of a buffer, of the labeller of that name; NULL: of any. */
static GstCclMeta *
find_meta (GstBuffer *buffer, const gchar *name)
{
  GstCclMeta *found = NULL, *meta;
  gpointer state = NULL;

  while ((meta = (GstCclMeta *)gst_buffer_iterate_meta_filtered (
              buffer, &state, GST_CCL_META_API_TYPE)))
    if (!name || (meta->labeller && g_str_equal (gst_ccl_labeller_get_name (meta->labeller), name)))
      found = meta;
  return found;
}

/**
 * gst_buffer_get_ccl_meta: (skip)
 * @buffer: a #GstBuffer
 *
 * Finds the components of a frame. Where several labellers are upstream, these are the components
 * of the nearest one, which labelled the frame last.
 *
 * Returns: (transfer none) (nullable): the last #GstCclMeta that was added to the buffer, or %NULL
 *
 * Since: 0.2
 */
GstCclMeta *
gst_buffer_get_ccl_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return find_meta (buffer, NULL);
}

/**
 * gst_buffer_get_ccl_meta_by_name: (skip)
 * @buffer: a #GstBuffer
 * @name: (nullable): the name of an element; %NULL for the last one
 *
 * Finds the components that one of several labellers found in a frame.
 *
 * Returns: (transfer none) (nullable): the last #GstCclMeta that a labeller of that name added to
 *   the buffer, or %NULL
 *
 * Since: 0.2
 */
GstCclMeta *
gst_buffer_get_ccl_meta_by_name (GstBuffer *buffer, const gchar *name)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return find_meta (buffer, name);
}

/**
 * gst_buffer_dup_ccl_meta: (rename-to gst_buffer_get_ccl_meta)
 * @buffer: a #GstBuffer
 *
 * Copies the components of a frame, so that they can outlive the buffer. Where several labellers
 * are upstream, these are the components of the nearest one, which labelled the frame last.
 *
 * Returns: (transfer full) (nullable): a copy of the last #GstCclMeta that was added to the buffer,
 *   to be freed with gst_ccl_meta_free(); %NULL if there is none
 *
 * Since: 0.2
 */
GstCclMeta *
gst_buffer_dup_ccl_meta (GstBuffer *buffer)
{
  return gst_buffer_dup_ccl_meta_by_name (buffer, NULL);
}

/**
 * gst_buffer_dup_ccl_meta_by_name: (rename-to gst_buffer_get_ccl_meta_by_name)
 * @buffer: a #GstBuffer
 * @name: (nullable): the name of an element; %NULL for the last one
 *
 * Copies the components that one of several labellers found in a frame, so that they can outlive
 * the buffer.
 *
 * Returns: (transfer full) (nullable): a copy of the last #GstCclMeta that a labeller of that name
 *   added to the buffer, to be freed with gst_ccl_meta_free(); %NULL if there is none
 *
 * Since: 0.2
 */
GstCclMeta *
gst_buffer_dup_ccl_meta_by_name (GstBuffer *buffer, const gchar *name)
{
  const GstCclMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  meta = find_meta (buffer, name);
  return meta ? gst_ccl_meta_copy (meta) : NULL;
}

/**
 * gst_ccl_meta_copy:
 * @meta: a #GstCclMeta, of a buffer or a copy
 *
 * Copies the metadata, so that the copy can outlive the buffer. Table, label map and mask are
 * shared, so copying is cheap. A copy belongs to no buffer: it serves for reading, and for changes
 * that gst_buffer_replace_ccl_meta() attaches.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_meta_free()
 *
 * Since: 0.2
 */
GstCclMeta *
gst_ccl_meta_copy (const GstCclMeta *meta)
{
  GstCclMeta *copy;

  g_return_val_if_fail (meta != NULL, NULL);

  copy = g_new0 (GstCclMeta, 1);
  copy->meta.info = meta->meta.info;
  gst_ccl_meta_share (copy, meta);
  return copy;
}

/**
 * gst_ccl_meta_free:
 * @copy: (transfer full): what gst_ccl_meta_copy() or gst_buffer_dup_ccl_meta() returned
 *
 * Frees a copy. Metadata that belongs to a buffer is freed with the buffer, or removed with
 * gst_buffer_remove_meta().
 *
 * Since: 0.2
 */
void
gst_ccl_meta_free (GstCclMeta *copy)
{
  g_return_if_fail (copy != NULL);

  unset (copy);
  g_free (copy);
}

/**
 * gst_ccl_meta_get_frame_width:
 * @meta: a #GstCclMeta
 *
 * The width of the frame. Scaling the video changes it.
 *
 * Returns: width in pixels of the frame that boxes and centroids refer to
 *
 * Since: 0.2
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
 * The height of the frame. Scaling the video changes it.
 *
 * Returns: height in pixels of the frame that boxes and centroids refer to
 *
 * Since: 0.2
 */
guint
gst_ccl_meta_get_frame_height (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->frame_height;
}

/**
 * gst_ccl_meta_get_labeller:
 * @meta: a #GstCclMeta
 *
 * Which element labelled the frame, and with which settings.
 *
 * Returns: (transfer full) (nullable): the labeller, to be given back with
 *   gst_ccl_labeller_unref(); %NULL if it is not known
 *
 * Since: 0.2
 */
GstCclLabeller *
gst_ccl_meta_get_labeller (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->labeller ? gst_ccl_labeller_ref (meta->labeller) : NULL;
}

/**
 * gst_ccl_meta_set_labeller: (skip)
 * @meta: a #GstCclMeta of a writable buffer
 * @labeller: (transfer none) (nullable): the element that labelled the frame; a reference is kept
 *
 * Says which element labelled the frame.
 *
 * Since: 0.2
 */
void
gst_ccl_meta_set_labeller (GstCclMeta *meta, GstCclLabeller *labeller)
{
  GstCclLabeller *former;

  g_return_if_fail (meta != NULL);

  former = meta->labeller;
  meta->labeller = labeller ? gst_ccl_labeller_ref (labeller) : NULL;
  g_clear_pointer (&former, gst_ccl_labeller_unref);
}
