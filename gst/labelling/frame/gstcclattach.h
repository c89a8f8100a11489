/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame's components as metadata of its buffer, and as the structure of a message. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/labeller.h>

/* The kinds of metadata that a labelled frame can carry. */
typedef enum {
  GST_CCL_META_FLAG_CCL = 1 << 0,
  GST_CCL_META_FLAG_ROI = 1 << 1,
#if HAVE_ANALYTICS
  GST_CCL_META_FLAG_ANALYTICS = 1 << 2,
#endif
} GstCclMetaFlags;

/* The kinds that include the label map. */
#if HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)
#define GST_CCL_META_FLAGS_WITH_LABELS (GST_CCL_META_FLAG_CCL | GST_CCL_META_FLAG_ANALYTICS)
#else
#define GST_CCL_META_FLAGS_WITH_LABELS GST_CCL_META_FLAG_CCL
#endif

GType gst_ccl_meta_flags_get_type (void);

/* A label map or mask on its way to a GstCclMeta, which keeps a reference. */
typedef struct {
  GstBuffer *buffer; /* NULL: none */
  gsize stride;      /* bytes */
} GstCclAttachment;

/* Adds the chosen kinds of metadata to a writable buffer. Replaces all kinds of metadata that a
 * labeller of the same identity added to it before; metadata of other labellers stays. Analytics
 * metadata gets a copy of the label map, if there is one and it has at most 65535 labels (GStreamer
 * 1.26), in a buffer of the pool, which is made when first needed; the caller deactivates and
 * unrefs the pool when the size of frames changes. */
void gst_ccl_attach (GstBuffer *buffer, GstCclMetaFlags kinds, GstCclLabeller *labeller,
    guint frame_width, guint frame_height, const CclTable *table, const GstCclAttachment *labels,
    const GstCclAttachment *mask, GstBufferPool **segmentation_pool);

/* The content of the element message about a frame: the moment, duration, count, truncated, and
 * components, a GstValueArray of structures "component". */
GstStructure *gst_ccl_message_structure (
    const gchar *name, GstBuffer *buffer, const GstSegment *segment, const CclTable *table);
