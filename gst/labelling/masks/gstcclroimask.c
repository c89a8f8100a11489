/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclroimask.h"

#include <string.h>

#include "open.h"

/* A mask is scaled to the frames, so none needs more than the largest ones, 15360×8640. */
#define MAX_PIXELS (1 << 27)
#define MAX_FILE_SIZE (1 << 28)

/* A mask of zeros. */
static GstCclRoiMask *
roi_mask_new (guint64 width, guint64 height, guint64 max_pixels, GError **error)
{
  GstCclRoiMask *mask;
  guint8 *pixels = NULL;

  if (width > 0 && height > 0 && width <= max_pixels && height <= max_pixels / width)
    pixels = g_try_malloc0 ((gsize)width * (gsize)height);
  if (!pixels) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOMEM,
        "too large: %" G_GUINT64_FORMAT "×%" G_GUINT64_FORMAT " pixels", width, height);
    return NULL;
  }
  mask = g_new (GstCclRoiMask, 1);
  *mask = (GstCclRoiMask){(guint)width, (guint)height, pixels};
  return mask;
}

void
gst_ccl_roi_mask_free (GstCclRoiMask *mask)
{
  if (mask)
    g_free (mask->pixels);
  g_free (mask);
}

GstCclRoiMask *
gst_ccl_roi_mask_scale (const GstCclRoiMask *mask, guint width, guint height)
{
  GstCclRoiMask *scaled = roi_mask_new (width, height, CUDACCL_MAX_PIXELS, NULL);

  for (guint64 y = 0; scaled && y < height; y++) {
    const guint8 *from =
        mask->pixels + (2 * y + 1) * mask->height / (2 * (guint64)height) * mask->width;
    guint8 *to = scaled->pixels + y * width;

    for (guint64 x = 0; x < width; x++)
      to[x] = from[(2 * x + 1) * mask->width / (2 * (guint64)width)];
  }
  return scaled;
}

GstCclRoiMask *
gst_ccl_roi_mask_new_whole (guint width, guint height)
{
  GstCclRoiMask *mask = roi_mask_new (width, height, CUDACCL_MAX_PIXELS, NULL);

  if (mask)
    memset (mask->pixels, UINT8_MAX, (gsize)width * height);
  return mask;
}

GstCclRoiMask *
gst_ccl_roi_mask_read (const gchar *path, GError **error)
{
  static const PictureFormat *const formats[] = {&picture_png, &picture_pnm, NULL};
  const PictureOptions options = {
      .formats = formats, .most_bytes = MAX_FILE_SIZE, .most_pixels = MAX_PIXELS};
  CclError reason = {CUDACCL_OK, ""};
  Picture *picture = picture_open_file (path, &options, &reason);
  GstCclRoiMask *mask = NULL;

  if (picture)
    mask = roi_mask_new (picture->width, picture->height, MAX_PIXELS, error);
  if (mask && !picture_read_mask (picture, 0, mask->height, mask->pixels, &reason))
    g_clear_pointer (&mask, gst_ccl_roi_mask_free);
  if (reason.status != CUDACCL_OK)
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, reason.message);
  else if (!mask)
    g_prefix_error (error, "%s: ", path);
  picture_free (picture);
  return mask;
}
