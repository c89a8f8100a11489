/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample of a frame's foreground, as metadata of its buffer: every step-th pixel of every step-th
 * row. ccltrack tells objects apart with it; a label map of the whole frame would cost many times
 * as much. `ccl` and `cudaccl` attach it where ccltrack asks for it (gstcclquery.h), with some rows
 * of the picture, which has the colours of objects. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

#include <cudaccl/labeller.h>

/* Luma, u and v. */
#define GST_CCL_PICTURE_PLANES 3

/* Where a plane of a picture is: values of one byte. */
typedef struct {
  gsize offset, stride; /* bytes */
  guint distance;       /* bytes from one value to the next */
} GstCclPicturePlane;

/* Every step_x-th pixel of every step_y-th row of a frame, in system memory; there may be others
 * between them. Both are powers of two. */
typedef struct {
  GstBuffer *buffer; /* NULL: there is no picture */
  guint step_x, step_y;
  guint n_planes; /* 1 of grey frames, or 3 */
  GstCclPicturePlane planes[GST_CCL_PICTURE_PLANES];
} GstCclPicture;

/* The rows 0, step, 2·step, … of a frame or of its foreground mask, in system memory; each has all
 * of its pixels, or those of a mask of reduced size. Or the bits of such a mask: words of 32
 * pixels, the leftmost lowest, 1 for foreground. */
typedef struct {
  guint frame_width, frame_height, step;
  GstBuffer *rows;
  gsize stride;     /* bytes */
  gboolean is_bits; /* the following fields, apart from the connectivity, are for pixels */
  guint distance;   /* pixels of a row from one that is sampled to the next: step, or less */
  CclPixelFormat format;
  guint threshold; /* a pixel is foreground when its value is greater, or, with invert, not */
  gboolean invert;
  CclConnectivity connectivity;
  GstCclPicture picture;
} GstCclSample;

/* The step for frames of a size: the least power of two that leaves 250,000 pixels at most, which
 * is the factor by which a codebook reduces frames. So its masks lose nothing. */
guint gst_ccl_sample_step (guint frame_width, guint frame_height);

/* The number of those of `size` pixels or rows that a sample has. */
static inline guint
gst_ccl_sampled (guint size, guint step)
{
  return size / step + (size % step > 0);
}

/* The bytes of a pixel. */
static inline guint
gst_ccl_sample_pixel_size (CclPixelFormat format)
{
  return format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
}

/* Attaches a sample to a writable buffer. Its rows and its picture get another reference. */
void gst_ccl_sample_attach (
    GstBuffer *buffer, GstCclLabeller *labeller, const GstCclSample *sample);

/* The sample that belongs to a GstCclMeta of the buffer: of the same labeller and size; NULL if
 * there is none. */
const GstCclSample *gst_ccl_sample_find (GstBuffer *buffer, const GstCclMeta *meta);

/* Removes the sample of the labeller of that identity. */
void gst_ccl_sample_remove (GstBuffer *buffer, guint64 labeller);
