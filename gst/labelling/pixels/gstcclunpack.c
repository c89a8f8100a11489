/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclunpack.h"

#include "gstcclmappool.h"
#include "gstcclplanes.h"
#include "shared/gstcclerror.h"

gboolean
gst_ccl_unpack_describe (const GstVideoInfo *packed, GstVideoInfo *unpacked)
{
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;

  if (GST_VIDEO_INFO_IS_RGB (packed))
    format = GST_VIDEO_FORMAT_Y444;
  else if (GST_VIDEO_INFO_FORMAT (packed) == GST_VIDEO_FORMAT_GRAY16_BE)
    format = GST_VIDEO_FORMAT_GRAY16_LE;
  else if (GST_VIDEO_INFO_FORMAT (packed) == GST_VIDEO_FORMAT_I420_10LE)
    format = GST_VIDEO_FORMAT_P010_10LE;
  return format != GST_VIDEO_FORMAT_UNKNOWN &&
         gst_video_info_set_format (unpacked, format, (guint)GST_VIDEO_INFO_WIDTH (packed),
             (guint)GST_VIDEO_INFO_HEIGHT (packed));
}

/* The first bytes of a frame's rows, read and written. */
typedef struct {
  const CclFrame *from;
  const GstVideoInfo *packed, *unpacked;
  guint8 *to;
} Copy;

static guint8 *
row_of (const Copy *copy, guint plane, guint y)
{
  return copy->to + GST_VIDEO_INFO_PLANE_OFFSET (copy->unpacked, plane) +
         (gsize)y * (gsize)GST_VIDEO_INFO_PLANE_STRIDE (copy->unpacked, plane);
}

static guint8
to_chroma (gint sum)
{
  return (guint8)MIN (((sum + 128) >> 8) + 128, 255); /* pure red and blue give 256 */
}

static void
unpack_colours (const Copy *copy, gboolean with_chroma)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (copy->packed);
  const gint step = GST_VIDEO_INFO_COMP_PSTRIDE (copy->packed, GST_VIDEO_COMP_R);
  const gint r_at = GST_VIDEO_INFO_COMP_POFFSET (copy->packed, GST_VIDEO_COMP_R);
  const gint g_at = GST_VIDEO_INFO_COMP_POFFSET (copy->packed, GST_VIDEO_COMP_G);
  const gint b_at = GST_VIDEO_INFO_COMP_POFFSET (copy->packed, GST_VIDEO_COMP_B);

  for (guint y = 0; y < (guint)GST_VIDEO_INFO_HEIGHT (copy->packed); y++) {
    const guint8 *from = (const guint8 *)copy->from->data + (gsize)y * copy->from->stride;
    guint8 *luma = row_of (copy, 0, y), *u = row_of (copy, 1, y), *v = row_of (copy, 2, y);

    for (guint x = 0; x < width; x++, from += step)
      luma[x] = (guint8)((77 * from[r_at] + 150 * from[g_at] + 29 * from[b_at] + 128) >> 8);
    from -= (gssize)width * step;
    for (guint x = 0; with_chroma && x < width; x++, from += step) {
      const gint r = from[r_at], g = from[g_at], b = from[b_at];

      u[x] = to_chroma (-43 * r - 85 * g + 128 * b);
      v[x] = to_chroma (128 * r - 107 * g - 21 * b);
    }
  }
}

static void
swap_bytes (const Copy *copy)
{
  for (guint y = 0; y < (guint)GST_VIDEO_INFO_HEIGHT (copy->packed); y++) {
    const guint8 *from = (const guint8 *)copy->from->data + (gsize)y * copy->from->stride;
    guint8 *to = row_of (copy, 0, y);

    for (guint x = 0; x < (guint)GST_VIDEO_INFO_WIDTH (copy->packed); x++)
      GST_WRITE_UINT16_LE (to + 2 * x, GST_READ_UINT16_BE (from + 2 * x));
  }
}

static void
raise_sample (const guint8 *from, guint8 *to)
{
  GST_WRITE_UINT16_LE (to, (guint16)(GST_READ_UINT16_LE (from) << 6));
}

static void
raise_samples (const Copy *copy, gboolean with_chroma)
{
  const CclFrame *from = copy->from;
  const GstVideoInfo *info = copy->unpacked;

  for (guint y = 0; y < (guint)GST_VIDEO_INFO_HEIGHT (info); y++) {
    const guint8 *row = (const guint8 *)from->data + (gsize)y * from->stride;

    for (guint x = 0; x < (guint)GST_VIDEO_INFO_WIDTH (info); x++)
      raise_sample (row + 2 * x, row_of (copy, 0, y) + 2 * x);
  }
  for (guint y = 0; with_chroma && y < (guint)GST_VIDEO_INFO_COMP_HEIGHT (info, 1); y++) {
    /* The chroma of a frame points to the upper bytes. */
    const guint8 *u = (const guint8 *)from->chroma.u - 1 + (gsize)y * from->chroma.u_stride;
    const guint8 *v = (const guint8 *)from->chroma.v - 1 + (gsize)y * from->chroma.v_stride;

    for (guint x = 0; x < (guint)GST_VIDEO_INFO_COMP_WIDTH (info, 1); x++) {
      raise_sample (u + 2 * x, row_of (copy, 1, y) + 4 * x);
      raise_sample (v + 2 * x, row_of (copy, 1, y) + 4 * x + 2);
    }
  }
}

static void
unpack (const Copy *copy, gboolean with_chroma)
{
  if (GST_VIDEO_INFO_IS_RGB (copy->packed))
    unpack_colours (copy, with_chroma);
  else if (GST_VIDEO_INFO_FORMAT (copy->packed) == GST_VIDEO_FORMAT_GRAY16_BE)
    swap_bytes (copy);
  else
    raise_samples (copy, with_chroma);
}

static GstBuffer *
acquire (GstBufferPool **pool, const GstVideoInfo *unpacked, CclError *error)
{
  GstBuffer *buffer = NULL;

  if (!*pool)
    *pool = gst_ccl_map_pool_new (GST_VIDEO_INFO_SIZE (unpacked));
  if (*pool && gst_buffer_pool_acquire_buffer (*pool, &buffer, NULL) == GST_FLOW_OK)
    return buffer;
  gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "No memory for the pixels of a frame");
  return NULL;
}

GstBuffer *
gst_ccl_unpack (GstBufferPool **pool, const GstVideoInfo *packed, const GstVideoInfo *unpacked,
    GstBuffer *frame, gboolean with_chroma, CclError *error)
{
  GstBuffer *buffer = acquire (pool, unpacked, error);
  const gboolean is_planar = GST_VIDEO_INFO_N_PLANES (packed) > 1;
  GstCclMappedPlanes mapped = {NULL};
  GstCclPlanes planes;
  CclFrame pixels;
  GstMapInfo map;

  gst_ccl_planes_init (&planes, packed);
  if (!buffer || !gst_ccl_planes_map (
                     &planes, packed, frame, with_chroma && is_planar, &mapped, &pixels, error)) {
    gst_clear_buffer (&buffer);
    return NULL;
  }
  if (gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    unpack (&(Copy){&pixels, packed, unpacked, map.data}, with_chroma);
    gst_buffer_unmap (buffer, &map);
  } else {
    gst_ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "No memory for the pixels of a frame");
    gst_clear_buffer (&buffer);
  }
  gst_ccl_planes_unmap (&mapped);
  return buffer;
}
