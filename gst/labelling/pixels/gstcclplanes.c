/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclplanes.h"

#include "shared/gstcclerror.h"
#include "shared/gstccli18n.h"

void
gst_ccl_planes_init (GstCclPlanes *planes, const GstVideoInfo *info)
{
  *planes = (GstCclPlanes){
      .width = GST_VIDEO_INFO_WIDTH (info),
      .height = GST_VIDEO_INFO_HEIGHT (info),
      .map_flags = GST_MAP_READ,
      .location = CUDACCL_LOCATION_HOST,
  };
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info) && i < GST_CCL_MAX_PLANES; i++) {
    planes->offset[i] = GST_VIDEO_INFO_PLANE_OFFSET (info, i);
    planes->stride[i] = GST_VIDEO_INFO_PLANE_STRIDE (info, i);
  }
}

/* Bytes, with those of its bits that are not used. */
static gsize
sample_size (const GstVideoFormatInfo *format)
{
  return format->bits > 8 ? 2 : 1;
}

CclPixelFormat
gst_ccl_planes_pixel_format (const GstVideoInfo *info)
{
  const GstVideoFormatInfo *format = info->finfo;

  if (sample_size (format) == 2)
    return CUDACCL_PIXEL_FORMAT_16;
  if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0) == 1)
    return CUDACCL_PIXEL_FORMAT_8;
  return GST_VIDEO_FORMAT_INFO_POFFSET (format, 0) == 0 ? CUDACCL_PIXEL_FORMAT_8_FIRST
                                                        : CUDACCL_PIXEL_FORMAT_8_SECOND;
}

guint
gst_ccl_planes_pixel_max (const GstVideoInfo *info)
{
  return sample_size (info->finfo) == 2 ? G_MAXUINT16 : G_MAXUINT8;
}

/* Where a sample begins in its pixel, in bytes. GStreamer counts V of P010_10LE in samples. */
static guint
sample_offset (const GstVideoFormatInfo *format, guint component)
{
  return GST_ROUND_UP_N (GST_VIDEO_FORMAT_INFO_POFFSET (format, component), sample_size (format));
}

/* The bytes of a plane's row up to the last sample of any component in it, and its rows. */
static void
get_plane_size (const GstVideoInfo *info, guint plane, gsize *row_size, guint *n_rows)
{
  const GstVideoFormatInfo *format = info->finfo;

  *row_size = *n_rows = 0;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    gsize last_sample;

    if (GST_VIDEO_FORMAT_INFO_PLANE (format, i) != plane)
      continue;
    last_sample =
        (gsize)GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (format, i, GST_VIDEO_INFO_WIDTH (info)) - 1;
    *row_size = MAX (*row_size, sample_offset (format, i) +
                                    last_sample * (gsize)GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) +
                                    sample_size (format));
    *n_rows = (guint)GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (format, i, GST_VIDEO_INFO_HEIGHT (info));
  }
}

/* Checks that a layout holds width × height pixels. */
static gboolean
check_size (const GstCclPlanes *planes, guint width, guint height, CclError *error)
{
  if (planes->width >= width && planes->height >= height)
    return TRUE;
  gst_ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
      "The frame has %u×%u pixels where its caps say %u×%u", planes->width, planes->height, width,
      height);
  return FALSE;
}

/* Checks that a plane ends inside the buffer. Sets length to the distance in bytes from the first
 * byte of its first row to the end of its last one. */
static gboolean
check_plane (const GstCclPlanes *planes, const GstVideoInfo *info, guint plane, gsize buffer_size,
    gsize *length, CclError *error)
{
  const gint stride = planes->stride[plane];
  const gsize offset = planes->offset[plane];
  gsize row_size;
  guint n_rows;

  get_plane_size (info, plane, &row_size, &n_rows);
  if (stride < 0 || (gsize)stride < row_size) {
    gst_ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "The frame's stride of %d bytes is too small for rows of %zu bytes", stride, row_size);
    return FALSE;
  }
  *length = (gsize)stride * (n_rows - 1) + row_size;
  if (offset > buffer_size || *length > buffer_size - offset) {
    gst_ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "The frame is smaller than its caps say: %u×%u pixels with a stride of %d bytes from "
        "byte %zu on do not fit in %zu bytes",
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), stride, offset, buffer_size);
    return FALSE;
  }
  return TRUE;
}

typedef gboolean (*MapFunction) (GstVideoMeta *meta, guint plane, GstMapInfo *info, gpointer *data,
    gint *stride, GstMapFlags flags);

/* How a GstVideoMeta maps planes unless a pool has a function of its own. */
static MapFunction
get_usual_map (void)
{
  static gsize usual_map = 0;

  if (g_once_init_enter (&usual_map)) {
    g_autoptr (GstBuffer) buffer = gst_buffer_new ();
    const GstVideoMeta *meta =
        gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1);

    g_once_init_leave (&usual_map, (gsize)meta->map);
  }
  return (MapFunction)usual_map;
}

/* The metadata of a frame whose pool maps planes by a function of its own, as those of VA and MSDK
 * do; NULL if the memory is mapped as usual, as that of CUDA and copies are. */
static GstVideoMeta *
get_own_map (const GstCclPlanes *planes, const GstCclMappedPlanes *mapped)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (mapped->buffer);

  return meta && meta->map != get_usual_map () && !mapped->copy &&
                 planes->location == CUDACCL_LOCATION_HOST
             ? meta
             : NULL;
}

/* Maps a plane by the pool's function, which also knows the stride. */
static const guint8 *
map_by_meta (GstVideoMeta *meta, GstCclPlanes *planes, const GstVideoInfo *info, guint plane,
    GstCclMappedPlanes *mapped, CclError *error)
{
  const guint n = mapped->n_planes;
  gsize length;
  gpointer data;

  if (!gst_video_meta_map (
          meta, plane, &mapped->infos[n], &data, &planes->stride[plane], planes->map_flags)) {
    gst_ccl_error_set (
        error, CUDACCL_ERROR_DEVICE, "The frame's memory cannot be mapped for reading");
    return NULL;
  }
  mapped->metas[n] = meta;
  mapped->numbers[n] = plane;
  mapped->n_planes++;
  planes->offset[plane] = 0;
  return check_plane (planes, info, plane, G_MAXSIZE, &length, error) ? data : NULL;
}

/* Maps a plane and returns its first byte; NULL after an error. */
static const guint8 *
map_plane (GstCclPlanes *planes, const GstVideoInfo *info, guint plane, GstCclMappedPlanes *mapped,
    CclError *error)
{
  GstVideoMeta *meta = get_own_map (planes, mapped);
  GstBuffer *buffer = mapped->buffer;
  guint first_memory, n_memories;
  gsize length, skip;

  if (meta)
    return map_by_meta (meta, planes, info, plane, mapped, error);
  if (!check_plane (planes, info, plane, gst_buffer_get_size (buffer), &length, error))
    return NULL;
  if (!gst_buffer_find_memory (
          buffer, planes->offset[plane], length, &first_memory, &n_memories, &skip)) {
    gst_ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "The frame's memory ends before its pixels");
    return NULL;
  }
  /* Mapping several memories as one would merge them in system memory. */
  if (planes->location == CUDACCL_LOCATION_DEVICE && n_memories != 1) {
    gst_ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "The frame's %s is spread over %u memories",
        plane == 0 ? _ ("luma") : _ ("chroma"), n_memories);
    return NULL;
  }
  if (!gst_buffer_map_range (buffer, first_memory, (gint)n_memories,
          &mapped->infos[mapped->n_planes], planes->map_flags)) {
    gst_ccl_error_set (
        error, CUDACCL_ERROR_DEVICE, "The frame's memory cannot be mapped for reading");
    return NULL;
  }
  return mapped->infos[mapped->n_planes++].data + skip;
}

/* Maps the planes of u and v, which may be the same one. */
static gboolean
map_chroma (GstCclPlanes *planes, const GstVideoInfo *info, GstCclMappedPlanes *mapped,
    CclChroma *chroma, CclError *error)
{
  const GstVideoFormatInfo *format = info->finfo;
  const guint u_plane = GST_VIDEO_FORMAT_INFO_PLANE (format, 1);
  const guint v_plane = GST_VIDEO_FORMAT_INFO_PLANE (format, 2);
  const guint8 *u = map_plane (planes, info, u_plane, mapped, error);
  /* The background model has chroma of 8 bits: the upper byte of longer samples. */
  const gsize upper_byte = sample_size (format) - 1;
  const guint8 *v = u_plane == v_plane ? u
                    : u                ? map_plane (planes, info, v_plane, mapped, error)
                                       : NULL;

  if (!u || !v)
    return FALSE;
  *chroma = (CclChroma){
      .u = u + sample_offset (format, 1) + upper_byte,
      .v = v + sample_offset (format, 2) + upper_byte,
      .u_stride = (gsize)planes->stride[u_plane],
      .v_stride = (gsize)planes->stride[v_plane],
      .step = (guint)GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 1),
      .shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (format, 1),
      .shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (format, 1),
  };
  return TRUE;
}

/* The layout of a frame: that of its GstVideoMeta takes precedence. */
static GstCclPlanes
get_layout (const GstCclPlanes *planes, GstBuffer *buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstCclPlanes layout = *planes;

  if (meta) {
    for (guint i = 0; i < MIN (meta->n_planes, GST_CCL_MAX_PLANES); i++) {
      layout.offset[i] = meta->offset[i];
      layout.stride[i] = meta->stride[i];
    }
    layout.width = meta->width;
    layout.height = meta->height;
  }
  return layout;
}

gsize
gst_ccl_planes_get_end (
    const GstCclPlanes *planes, const GstVideoInfo *info, GstBuffer *buffer, gboolean with_chroma)
{
  const GstCclPlanes layout = get_layout (planes, buffer);
  const guint n_planes = with_chroma ? GST_VIDEO_INFO_N_PLANES (info) : 1;
  gsize end = 0;

  for (guint i = 0; i < n_planes; i++) {
    gsize length;

    if (!check_plane (&layout, info, i, G_MAXSIZE, &length, NULL))
      return G_MAXSIZE;
    end = MAX (end, layout.offset[i] + length);
  }
  return end;
}

gboolean
gst_ccl_planes_map (const GstCclPlanes *planes, const GstVideoInfo *info, GstBuffer *buffer,
    gboolean with_chroma, GstCclMappedPlanes *mapped, CclFrame *frame, CclError *error)
{
  GstCclPlanes layout = get_layout (planes, buffer);

  *mapped = (GstCclMappedPlanes){
      .buffer = planes->copy ? planes->copy : buffer,
      .copy = planes->copy,
  };
  *frame = (CclFrame){.location = layout.location};
  if (check_size (&layout, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), error))
    frame->data = map_plane (&layout, info, 0, mapped, error);
  if (!frame->data || (with_chroma && !map_chroma (&layout, info, mapped, &frame->chroma, error))) {
    gst_ccl_planes_unmap (mapped);
    return FALSE;
  }
  frame->stride = (gsize)layout.stride[0];
  return TRUE;
}

void
gst_ccl_planes_unmap (GstCclMappedPlanes *mapped)
{
  while (mapped->n_planes > 0) {
    const guint n = --mapped->n_planes;

    if (mapped->metas[n])
      gst_video_meta_unmap (mapped->metas[n], mapped->numbers[n], &mapped->infos[n]);
    else
      gst_buffer_unmap (mapped->buffer, &mapped->infos[n]);
    mapped->metas[n] = NULL;
  }
  gst_clear_buffer (&mapped->copy);
}
