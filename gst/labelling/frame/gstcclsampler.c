/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclsampler.h"

#include <string.h>

#define CACHE_LINE 64 /* bytes */

static guint
n_rows_of (const GstVideoInfo *info, guint step)
{
  return gst_ccl_sampled ((guint)GST_VIDEO_INFO_HEIGHT (info), step);
}

gsize
gst_ccl_sampler_size (const GstVideoInfo *info)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (info);
  const guint step = gst_ccl_sample_step (width, (guint)GST_VIDEO_INFO_HEIGHT (info));

  return 2 * (gsize)width * n_rows_of (info, step);
}

/* Rows to be copied are far apart in memory that no cache has: no processor loads them ahead. */
static void
prefetch_row (const guint8 *row, gsize size)
{
  for (gsize at = 0; at < size; at += CACHE_LINE)
    __builtin_prefetch (row + at);
}

gboolean
gst_ccl_sampler_copy_rows (const GstCclOwner *owner, GstCclSite *site, CclLabeller *labeller,
    const GstCclRowCopy *copy, CclError *error)
{
  if (copy->from.location == CUDACCL_LOCATION_DEVICE)
    return owner->methods->copy_rows (owner->element, site, labeller, copy, error);
  for (guint y = 0; y < copy->n_rows; y++) {
    const guint8 *row = (const guint8 *)copy->from.data + y * copy->from.stride;

    if (y + 1 < copy->n_rows)
      prefetch_row (row + copy->from.stride, copy->row_size);
    memcpy ((guint8 *)copy->to + y * copy->to_stride, row, copy->row_size);
  }
  return TRUE;
}

/* Describes the place of a sample in frames of a format. */
static void
describe (const GstVideoInfo *info, GstCclSample *sample)
{
  sample->frame_width = (guint)GST_VIDEO_INFO_WIDTH (info);
  sample->frame_height = (guint)GST_VIDEO_INFO_HEIGHT (info);
  sample->step = gst_ccl_sample_step (sample->frame_width, sample->frame_height);
}

void
gst_ccl_sampler_share (
    const GstVideoInfo *info, guint scale, GstBuffer *mask, gsize stride, GstCclSample *sample)
{
  describe (info, sample);
  sample->rows = mask;
  sample->distance = sample->step / scale;
  sample->stride = stride * sample->distance;
  sample->format = CUDACCL_PIXEL_FORMAT_8;
  sample->threshold = CUDACCL_MASK_SHADOW;
}

gboolean
gst_ccl_sampler_take_bits (const GstCclOwner *owner, CclForeground *foreground,
    const GstVideoInfo *info, guint scale, gpointer memory, GstCclSample *sample)
{
  describe (info, sample);
  if (!owner->methods->copy_bits || sample->step != scale ||
      ccl_foreground_get_reduction (foreground) != scale ||
      !owner->methods->copy_bits (owner->element, foreground, memory))
    return FALSE;
  sample->is_bits = TRUE;
  sample->stride =
      sizeof (guint32) * gst_ccl_sampled (gst_ccl_sampled (sample->frame_width, scale), 32);
  return TRUE;
}

gboolean
gst_ccl_sampler_queue (const GstCclOwner *owner, GstCclSite *site, CclLabeller *labeller,
    const GstVideoInfo *info, const CclFrame *pixels, CclPixelFormat format, guint scale,
    const CclLabellerOptions *options, gpointer memory, GstCclSample *sample, CclError *error)
{
  const guint width = (guint)GST_VIDEO_INFO_WIDTH (info);
  const guint height = (guint)GST_VIDEO_INFO_HEIGHT (info);
  const guint step = gst_ccl_sample_step (width, height);
  const guint distance = step / scale;
  const gsize stride = (gsize)(width / scale) * gst_ccl_sample_pixel_size (format);
  const GstCclRowCopy copy = {
      .from = {pixels->data, pixels->stride * distance, pixels->location},
      /* What follows the last pixel's value may be outside of the frame. */
      .row_size = stride - (format == CUDACCL_PIXEL_FORMAT_8_FIRST),
      .to_stride = stride,
      .n_rows = n_rows_of (info, step),
      .to = memory,
  };

  describe (info, sample);
  sample->stride = stride;
  sample->distance = distance;
  sample->format = format;
  sample->threshold = options->threshold;
  sample->invert = options->invert;
  return gst_ccl_sampler_copy_rows (owner, site, labeller, &copy, error);
}
