/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole rows are copied, because that is sooner done than picking pixels, on the CPU and from a GPU
 * alike. They are few: an object of the height of a band of colours needs one. */
#include "gstcclpicture.h"

#include "gstcclsampler.h"

#define ROW_STEPS 4 /* of the sample of the foreground, from one row to the next */

/* The rows of planes that are copied one behind the other. */
typedef struct {
  const GstCclOwner *owner;
  GstCclSite *site;
  CclLabeller *labeller;
  CclLocation location;
  guint n_rows;
  guint8 *memory;
  gsize used; /* bytes */
} Copies;

static guint
sub_x (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_N_COMPONENTS (info) > 1 ? GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1) : 0;
}

/* The distances are multiples of those of chroma samples, whose greatest is 4. */
static void
choose_steps (const GstVideoInfo *info, GstCclPicture *picture)
{
  const guint step =
      gst_ccl_sample_step ((guint)GST_VIDEO_INFO_WIDTH (info), (guint)GST_VIDEO_INFO_HEIGHT (info));

  picture->step_x = MAX (step, 1u << sub_x (info));
  picture->step_y = ROW_STEPS * step;
}

static guint
count_rows (const GstVideoInfo *info, const GstCclPicture *picture)
{
  return gst_ccl_sampled ((guint)GST_VIDEO_INFO_HEIGHT (info), picture->step_y);
}

/* Rows have at most two bytes a pixel for luma, and as many for chroma. */
gsize
gst_ccl_picture_size (const GstVideoInfo *info)
{
  GstCclPicture picture;

  choose_steps (info, &picture);
  return 4 * (gsize)GST_VIDEO_INFO_WIDTH (info) * count_rows (info, &picture);
}

/* Copies rows of so many bytes. Returns where they are in the memory. */
static gboolean
copy_rows (Copies *copies, const guint8 *from, gsize stride, gsize row_size, GstCclPicturePlane *to,
    CclError *error)
{
  const GstCclRowCopy copy = {
      .from = {from, stride, copies->location},
      .row_size = row_size,
      .to_stride = row_size,
      .n_rows = copies->n_rows,
      .to = copies->memory + copies->used,
  };

  to->offset = copies->used;
  to->stride = row_size;
  copies->used += row_size * copies->n_rows;
  return gst_ccl_sampler_copy_rows (copies->owner, copies->site, copies->labeller, &copy, error);
}

static gboolean
copy_luma (Copies *copies, const GstVideoInfo *info, const CclFrame *frame, GstCclPicture *picture,
    CclError *error)
{
  const CclPixelFormat format = gst_ccl_planes_pixel_format (info);
  const guint size = gst_ccl_sample_pixel_size (format);
  /* Of two bytes, the value is in the upper one, or between those of chroma. */
  const guint at = format == CUDACCL_PIXEL_FORMAT_16 || format == CUDACCL_PIXEL_FORMAT_8_SECOND;
  const gsize row_size = size * ((gsize)GST_VIDEO_INFO_WIDTH (info) - 1) + 1;

  picture->planes[0].distance = size * picture->step_x;
  return copy_rows (copies, (const guint8 *)frame->data + at, frame->stride * picture->step_y,
      row_size, &picture->planes[0], error);
}

/* Copies both planes of chroma, at once where their samples take turns. */
static gboolean
copy_chroma (Copies *copies, const GstVideoInfo *info, const CclChroma *chroma,
    GstCclPicture *picture, CclError *error)
{
  const guint n_samples =
      gst_ccl_sampled ((guint)GST_VIDEO_INFO_WIDTH (info), 1u << chroma->shift_x);
  const gsize row_size = (gsize)chroma->step * (n_samples - 1) + 1;
  const gsize rows = picture->step_y >> chroma->shift_y;
  const guint8 *first = MIN (chroma->u, chroma->v), *second = MAX (chroma->u, chroma->v);
  const gboolean is_u_first = first == chroma->u;
  GstCclPicturePlane *a = &picture->planes[is_u_first ? 1 : 2];
  GstCclPicturePlane *b = &picture->planes[is_u_first ? 2 : 1];
  const gsize apart = (gsize)(second - first);

  a->distance = b->distance = chroma->step * (picture->step_x >> chroma->shift_x);
  if (apart < chroma->step && chroma->u_stride == chroma->v_stride) {
    if (!copy_rows (copies, first, rows * chroma->u_stride, row_size + apart, a, error))
      return FALSE;
    b->offset = a->offset + apart;
    b->stride = a->stride;
    return TRUE;
  }
  return copy_rows (
             copies, chroma->u, rows * chroma->u_stride, row_size, &picture->planes[1], error) &&
         copy_rows (
             copies, chroma->v, rows * chroma->v_stride, row_size, &picture->planes[2], error);
}

gboolean
gst_ccl_picture_queue (const GstCclOwner *owner, GstCclSite *site, CclLabeller *labeller,
    const GstVideoInfo *info, const CclFrame *frame, gpointer memory, GstCclPicture *picture,
    CclError *error)
{
  const gboolean has_chroma = frame->chroma.u != NULL;
  Copies copies = {
      .owner = owner,
      .site = site,
      .labeller = labeller,
      .location = frame->location,
      .memory = memory,
  };

  choose_steps (info, picture);
  copies.n_rows = count_rows (info, picture);
  picture->n_planes = has_chroma ? 3 : 1;
  return copy_luma (&copies, info, frame, picture, error) &&
         (!has_chroma || copy_chroma (&copies, info, &frame->chroma, picture, error));
}
