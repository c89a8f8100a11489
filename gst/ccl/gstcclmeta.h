/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the labellers found in a frame, as metadata of the frame's buffer. */
#ifndef __GST_CCL_META_H__
#define __GST_CCL_META_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#ifndef GST_CCL_API
#define GST_CCL_API GST_API_EXPORT
#endif

#define GST_TYPE_CCL_COMPONENT (gst_ccl_component_get_type ())
#define GST_CCL_META_API_TYPE (gst_ccl_meta_api_get_type ())
#define GST_CCL_META_INFO (gst_ccl_meta_get_info ())

typedef struct _GstCclComponent GstCclComponent;
typedef struct _GstCclMeta GstCclMeta;

/**
 * GstCclComponent:
 * @label: 1…N in raster order of the components' first pixels; the value of the component's
 *   pixels in the label map
 * @area: number of pixels in the frame that was labelled (scaling the video leaves it as it is)
 * @x: left edge of the bounding box, pixels
 * @y: upper edge of the bounding box, pixels
 * @width: width of the bounding box, pixels, at least 1
 * @height: height of the bounding box, pixels, at least 1
 * @centroid_x: mean x of the pixels; pixel centres are at integer coordinates
 * @centroid_y: mean y of the pixels
 *
 * One connected component.
 */
struct _GstCclComponent {
  guint32 label;
  guint32 area;
  guint32 x;
  guint32 y;
  guint32 width;
  guint32 height;
  gdouble centroid_x;
  gdouble centroid_y;
};

GST_CCL_API
GType gst_ccl_component_get_type (void);

GST_CCL_API
GstCclComponent *gst_ccl_component_copy (const GstCclComponent *component);

GST_CCL_API
void gst_ccl_component_free (GstCclComponent *component);

GST_CCL_API
GType gst_ccl_meta_api_get_type (void);

GST_CCL_API
const GstMetaInfo *gst_ccl_meta_get_info (void);

GST_CCL_API
GstCclMeta *gst_buffer_add_ccl_meta (GstBuffer *buffer, guint frame_width, guint frame_height,
    guint n_components, const GstCclComponent *components, guint n_rows, GstBuffer *labels,
    gsize labels_stride);

GST_CCL_API
GstCclMeta *gst_buffer_get_ccl_meta (GstBuffer *buffer);

GST_CCL_API
guint gst_ccl_meta_get_frame_width (const GstCclMeta *meta);

GST_CCL_API
guint gst_ccl_meta_get_frame_height (const GstCclMeta *meta);

GST_CCL_API
guint gst_ccl_meta_get_n_components (const GstCclMeta *meta);

GST_CCL_API
gboolean gst_ccl_meta_is_truncated (const GstCclMeta *meta);

GST_CCL_API
const GstCclComponent *gst_ccl_meta_get_components (const GstCclMeta *meta, guint *n_rows);

GST_CCL_API
GstBuffer *gst_ccl_meta_get_labels (const GstCclMeta *meta, gsize *stride);

GST_CCL_API
void gst_ccl_meta_set_mask (GstCclMeta *meta, GstBuffer *mask, gsize stride);

GST_CCL_API
GstBuffer *gst_ccl_meta_get_mask (const GstCclMeta *meta, gsize *stride);

G_END_DECLS

#endif /* __GST_CCL_META_H__ */
