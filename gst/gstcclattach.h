/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hands a frame's components on: as metadata of its buffer and as a message's structure. */
#ifndef __GST_CCL_ATTACH_H__
#define __GST_CCL_ATTACH_H__

#include <gst/gst.h>

#include "labeller.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_META_FLAGS (gst_ccl_meta_flags_get_type ())

/* The kinds of metadata a labelled frame can carry. */
typedef enum {
  GST_CCL_META_FLAG_CCL = 1 << 0,
  GST_CCL_META_FLAG_ROI = 1 << 1,
#if HAVE_ANALYTICS
  GST_CCL_META_FLAG_ANALYTICS = 1 << 2,
#endif
} GstCclMetaFlags;

GType gst_ccl_meta_flags_get_type (void);

/* Adds the chosen kinds of metadata to a writable buffer. A GstCclMeta that is there already, of
 * an earlier labeller, is replaced.
 *
 * labels: the label map or NULL; a reference is kept by the GstCclMeta, and analytics metadata gets
 * a copy of at most 65535 labels (GStreamer 1.26). */
void gst_ccl_attach (GstBuffer *buffer, GstCclMetaFlags kinds, guint frame_width,
    guint frame_height, const CclTable *table, GstBuffer *labels, gsize labels_stride);

/* The content of the element message about a frame: a new structure of that name. The times are
 * the segment's; components is a GstValueArray of structures "component". */
GstStructure *gst_ccl_message_structure (
    const gchar *name, GstBuffer *buffer, const GstSegment *segment, const CclTable *table);

G_END_DECLS

#endif /* __GST_CCL_ATTACH_H__ */
