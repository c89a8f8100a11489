/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the planes of a video frame: its luma, and its chroma where that is asked for. */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cudaccl/labeller.h>

/* The formats of frames: those with one byte per sample, whose first plane is luma alone; those
 * whose only plane holds the chroma of each two pixels between their luma; those with two bytes per
 * sample, whose first plane is luma alone. Converters prefer the earlier ones of a list. */
#define GST_CCL_BYTE_FORMATS                                                                       \
  "GRAY8, NV12, NV21, I420, YV12, Y42B, Y444, NV16, NV61, NV24, Y41B, YUY2, UYVY, YVYU, VYUY"
#define GST_CCL_FORMATS "{ " GST_CCL_BYTE_FORMATS ", GRAY16_LE, P010_10LE, P012_LE, P016_LE }"

/* The planes of these formats. */
#define GST_CCL_MAX_PLANES 3

/* Where the planes are in the buffer of a frame. */
typedef struct {
  gsize offset[GST_CCL_MAX_PLANES]; /* of the first pixel or sample, bytes */
  gint stride[GST_CCL_MAX_PLANES];  /* bytes; may be out of range until the planes are mapped */
  guint width, height;              /* pixels that the memory holds */
  GstMapFlags map_flags;            /* for reading */
  CclLocation location;
  GstBuffer *copy; /* of the frame's memory, which is read instead; NULL: the frame is read. Mapping
                    * takes the reference. */
} GstCclPlanes;

/* Mapped planes of a buffer. */
typedef struct {
  GstBuffer *buffer;
  GstBuffer *copy; /* that buffer is, or NULL; owned */
  GstMapInfo infos[GST_CCL_MAX_PLANES];
  GstVideoMeta *metas[GST_CCL_MAX_PLANES]; /* that mapped a plane; NULL: the buffer did */
  guint numbers[GST_CCL_MAX_PLANES];       /* of the planes, where there is a meta */
  guint n_planes;
} GstCclMappedPlanes;

/* The layout that a video info describes, in system memory. */
void gst_ccl_planes_init (GstCclPlanes *planes, const GstVideoInfo *info);

/* How frames of a format store luma. */
CclPixelFormat gst_ccl_planes_pixel_format (const GstVideoInfo *info);

/* The largest value of a pixel: 255 or 65535. */
guint gst_ccl_planes_pixel_max (const GstVideoInfo *info);

/* The bytes from the start of a frame's memory to the end of the last plane that is read: luma and,
 * with_chroma, chroma. G_MAXSIZE if the layout, which is that of the GstVideoMeta if the buffer has
 * one, is out of range. */
gsize gst_ccl_planes_get_end (
    const GstCclPlanes *planes, const GstVideoInfo *info, GstBuffer *buffer, gboolean with_chroma);

/* Maps the plane with the luma of a frame whose caps are info and, with_chroma, the planes of its
 * chroma, which the format must have. The layout of a GstVideoMeta, if the buffer has one, takes
 * precedence over planes'.
 *
 * Fails, with the error filled, if caps, layout and size of the buffer contradict each other, so
 * that bytes outside the buffer are never read. On success the caller unmaps the planes with
 * gst_ccl_planes_unmap(). */
gboolean gst_ccl_planes_map (const GstCclPlanes *planes, const GstVideoInfo *info,
    GstBuffer *buffer, gboolean with_chroma, GstCclMappedPlanes *mapped, CclFrame *frame,
    CclError *error);

/* Also does nothing to planes that are not mapped, or zero. */
void gst_ccl_planes_unmap (GstCclMappedPlanes *mapped);
