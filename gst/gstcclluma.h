/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the luma plane of a video frame. */
#ifndef __GST_CCL_LUMA_H__
#define __GST_CCL_LUMA_H__

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>

G_BEGIN_DECLS

/* The formats whose first plane is luma with one byte per pixel. */
#define GST_CCL_FORMATS "{ GRAY8, NV12, NV21, I420, YV12, Y42B, Y444 }"

/* The layout of the luma plane in the buffer of a frame. */
typedef struct {
  gsize offset;          /* of the first pixel, bytes */
  gint stride;           /* bytes; may be out of range until gst_ccl_luma_map() has checked it */
  guint width, height;   /* pixels that the memory holds */
  GstMapFlags map_flags; /* for reading */
  CclLocation location;
} GstCclLuma;

/* The layout that caps imply for a frame in system memory. */
void gst_ccl_luma_init (GstCclLuma *luma, const GstVideoInfo *info);

/* Maps the luma plane of a frame whose caps are info. The layout of a GstVideoMeta, if the buffer
 * has one, takes precedence over luma's.
 *
 * Fails, with the error filled, if caps, layout and size of the buffer contradict each other, so
 * that bytes outside the buffer are never read. On success the caller unmaps the buffer. */
gboolean gst_ccl_luma_map (const GstCclLuma *luma, const GstVideoInfo *info, GstBuffer *buffer,
    GstMapInfo *map, CclFrame *frame, CclError *error);

G_END_DECLS

#endif /* __GST_CCL_LUMA_H__ */
