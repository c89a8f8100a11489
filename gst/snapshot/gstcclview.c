/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclview.h"

#include "core/base/divide-up.h"

#include <math.h>

#define MOST_SAMPLES 64 /* of a box in a row, and in a column */
#define LEAST_PLACE 0.25
#define FREE_DISTANCE 0.1 /* from the frame's edge, in longer sides of the box */

GstCclView
gst_ccl_view_of_box (
    const GstCclComponent *box, guint meta_width, guint meta_height, const GstVideoInfo *info)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (info);
  const guint height = (guint)GST_VIDEO_INFO_HEIGHT (info);
  const gdouble x_scale = (gdouble)width / MAX (meta_width, 1);
  const gdouble y_scale = (gdouble)height / MAX (meta_height, 1);
  const gdouble left = box->x * x_scale, top = box->y * y_scale;
  const gdouble right = MIN (left + box->width * x_scale, width);
  const gdouble bottom = MIN (top + box->height * y_scale, height);

  if (right - left < 1 || bottom - top < 1)
    return (GstCclView){0};
  return (GstCclView){
      (guint)left, (guint)top, (guint)right - (guint)left, (guint)bottom - (guint)top};
}

/* Where the luma of a frame is, or the green of one with colours. */
typedef struct {
  const guint8 *data;
  gint stride, distance;   /* bytes */
  gboolean is_long, is_be; /* samples of two bytes */
  guint shift;             /* to 8 bits */
} Luma;

/* FALSE if samples are packed, so that several share bytes. */
static gboolean
find_luma (const GstVideoFrame *frame, Luma *luma)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const guint component =
      GST_VIDEO_FORMAT_INFO_IS_RGB (format) ? GST_VIDEO_COMP_G : GST_VIDEO_COMP_Y;
  const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, component);

  if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX (format) || GST_VIDEO_FORMAT_INFO_IS_TILED (format) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format) || depth < 8 || depth > 16 ||
      GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component) == 0)
    return FALSE;
  *luma = (Luma){
      .data = GST_VIDEO_FRAME_COMP_DATA (frame, component),
      .stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, component),
      .distance = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component),
      .is_long = depth > 8,
      .is_be = !GST_VIDEO_FORMAT_INFO_IS_LE (format),
      .shift = GST_VIDEO_FORMAT_INFO_SHIFT (format, component) + depth - 8,
  };
  return TRUE;
}

static gint
read_luma (const Luma *luma, guint x, guint y)
{
  const guint8 *sample = luma->data + (gssize)y * luma->stride + (gssize)x * luma->distance;

  if (!luma->is_long)
    return *sample;
  return (luma->is_be ? GST_READ_UINT16_BE (sample) : GST_READ_UINT16_LE (sample)) >> luma->shift;
}

static gdouble
measure_sharpness (const GstCclView *view, const GstVideoFrame *frame)
{
  gdouble sum = 0, squares = 0;
  guint step_x, step_y, n = 0;
  Luma luma;

  if (view->width < 3 || view->height < 3 || !find_luma (frame, &luma))
    return 1;
  step_x = CUDACCL_DIVIDE_UP (view->width - 2, MOST_SAMPLES);
  step_y = CUDACCL_DIVIDE_UP (view->height - 2, MOST_SAMPLES);
  for (guint y = view->y + 1; y < view->y + view->height - 1; y += step_y) {
    for (guint x = view->x + 1; x < view->x + view->width - 1; x += step_x) {
      const gint laplacian = 4 * read_luma (&luma, x, y) - read_luma (&luma, x - 1, y) -
                             read_luma (&luma, x + 1, y) - read_luma (&luma, x, y - 1) -
                             read_luma (&luma, x, y + 1);

      sum += laplacian;
      squares += (gdouble)laplacian * laplacian;
      n++;
    }
  }
  return 1 + sqrt (MAX (squares / n - (sum / n) * (sum / n), 0));
}

static gdouble
measure_place (const GstCclView *view, const GstVideoFrame *frame)
{
  const guint right = (guint)GST_VIDEO_FRAME_WIDTH (frame) - view->x - view->width;
  const guint bottom = (guint)GST_VIDEO_FRAME_HEIGHT (frame) - view->y - view->height;
  const guint distance = MIN (MIN (view->x, right), MIN (view->y, bottom));
  const gdouble free = distance / (FREE_DISTANCE * MAX (view->width, view->height));

  return LEAST_PLACE + (1 - LEAST_PLACE) * MIN (free, 1);
}

gdouble
gst_ccl_view_measure (const GstCclView *view, const GstVideoFrame *frame)
{
  return sqrt ((gdouble)view->width * view->height) * measure_sharpness (view, frame) *
         measure_place (view, frame);
}

GstCclView
gst_ccl_view_enlarge (const GstCclView *view, gdouble margin, const GstVideoInfo *info)
{
  const guint dx = (guint)(margin * view->width), dy = (guint)(margin * view->height);
  const guint left = view->x - MIN (dx, view->x), top = view->y - MIN (dy, view->y);
  const guint right = MIN (view->x + view->width + dx, (guint)GST_VIDEO_INFO_WIDTH (info));
  const guint bottom = MIN (view->y + view->height + dy, (guint)GST_VIDEO_INFO_HEIGHT (info));

  return (GstCclView){left, top, right - left, bottom - top};
}

static void
describe_copy (GstVideoInfo *copy, const GstCclView *view, const GstVideoInfo *info, guint max_size)
{
  const gdouble scale = MIN (1, (gdouble)max_size / MAX (view->width, view->height));

  gst_video_info_set_format (copy, GST_VIDEO_FORMAT_I420, MAX ((guint)(view->width * scale), 1),
      MAX ((guint)(view->height * scale), 1));
  /* These must be equal: a converter changes neither. */
  copy->fps_n = info->fps_n;
  copy->fps_d = info->fps_d;
  copy->par_n = info->par_n;
  copy->par_d = info->par_d;
}

static gboolean
convert (
    const GstCclView *view, const GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoInfo from = frame->info, to = *info;
  GstVideoConverter *converter;
  GstVideoFrame copy;

  from.interlace_mode = to.interlace_mode; /* rows of both fields take turns */
  if (!gst_video_frame_map (&copy, &to, buffer, GST_MAP_WRITE))
    return FALSE;
  converter = gst_video_converter_new (&from, &to,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, (gint)view->x,
          GST_VIDEO_CONVERTER_OPT_SRC_Y, G_TYPE_INT, (gint)view->y,
          GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, (gint)view->width,
          GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, (gint)view->height, NULL));
  if (converter) {
    gst_video_converter_frame (converter, frame, &copy);
    gst_video_converter_free (converter);
  }
  gst_video_frame_unmap (&copy);
  return converter != NULL;
}

static GstSample *
copy_part (const GstCclView *view, const GstVideoFrame *frame, guint max_size)
{
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GstCaps) caps = NULL;
  GstVideoInfo info;

  describe_copy (&info, view, &frame->info, max_size);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  if (!convert (view, frame, &info, buffer))
    return NULL;
  caps = gst_video_info_to_caps (&info);
  return gst_sample_new (buffer, caps, NULL, NULL);
}

GstSample *
gst_ccl_view_copy (const GstCclView *view, const GstVideoFrame *frame, guint max_size)
{
  const GstCclView whole = {0, 0, (guint)frame->info.width, (guint)frame->info.height};
  g_autoptr (GstSample) copy = NULL;
  GstSample *sample = NULL;
  GstVideoFrame mapped;
  GstVideoInfo info;

  if (!GST_VIDEO_FORMAT_INFO_IS_COMPLEX (frame->info.finfo))
    return copy_part (view, frame, max_size);
  /* A converter reads rows of packed samples from their beginning: it gets a copy. */
  copy = copy_part (&whole, frame, MAX (whole.width, whole.height));
  if (!copy)
    return NULL;
  gst_video_info_from_caps (&info, gst_sample_get_caps (copy));
  if (gst_video_frame_map (&mapped, &info, gst_sample_get_buffer (copy), GST_MAP_READ)) {
    sample = copy_part (view, &mapped, max_size);
    gst_video_frame_unmap (&mapped);
  }
  return sample;
}
