/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclroimask.h"

#include <png.h>
#include <string.h>

#include <cudaccl/labeller.h>

/* The largest sample of a PNM file. */
#define PNM_MAXIMUM 65535

/* A mask of zeros. */
static GstCclRoiMask *
roi_mask_new (guint64 width, guint64 height, GError **error)
{
  GstCclRoiMask *mask;
  guint8 *pixels = NULL;

  if (width > 0 && height > 0 && width <= CCL_MAX_PIXELS && height <= CCL_MAX_PIXELS / width)
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
  GstCclRoiMask *scaled = roi_mask_new (width, height, NULL);

  for (guint64 y = 0; scaled && y < height; y++) {
    const guint8 *from =
        mask->pixels + (2 * y + 1) * mask->height / (2 * (guint64)height) * mask->width;
    guint8 *to = scaled->pixels + y * width;

    for (guint64 x = 0; x < width; x++)
      to[x] = from[(2 * x + 1) * mask->width / (2 * (guint64)width)];
  }
  return scaled;
}

/* libpng converts all colour types and depths to red, green, blue and alpha of 8 or 16 bits. */
static GstCclRoiMask *
read_png (const guint8 *data, gsize size, GError **error)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  GstCclRoiMask *mask = NULL;
  guint8 *pixels = NULL;
  gsize sample_size;

  if (png_image_begin_read_from_memory (&image, data, size)) {
    /* Depths above 8 are reported as linear. */
    image.format =
        image.format & PNG_FORMAT_FLAG_LINEAR ? PNG_FORMAT_LINEAR_RGB_ALPHA : PNG_FORMAT_RGBA;
    sample_size = PNG_IMAGE_SAMPLE_COMPONENT_SIZE (image.format);
    mask = roi_mask_new (image.width, image.height, error);
    pixels = mask ? g_try_malloc (4 * sample_size * mask->width * mask->height) : NULL;
    if (pixels && png_image_finish_read (&image, NULL, pixels, 0, NULL)) {
      const guint8 none[6] = {0};
      const guint8 *pixel = pixels;

      for (gsize i = 0; i < (gsize)mask->width * mask->height; i++, pixel += 4 * sample_size) {
        const guint8 *alpha = pixel + 3 * sample_size;
        mask->pixels[i] =
            memcmp (pixel, none, 3 * sample_size) != 0 && memcmp (alpha, none, sample_size) != 0
                ? 255
                : 0;
      }
    } else {
      g_clear_pointer (&mask, gst_ccl_roi_mask_free);
    }
  }
  if (!mask && error && !*error)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "a PNG that libpng cannot read: %s",
        PNG_IMAGE_FAILED (image) ? image.message : "no memory");
  g_free (pixels);
  png_image_free (&image);
  return mask;
}

/* The unread part of a PNM file. */
typedef struct {
  const guint8 *data, *end;
} PnmReader;

/* Skips white space and comments, which run from # to the end of the line. */
static void
skip_pnm_space (PnmReader *reader)
{
  gboolean is_comment = FALSE;

  for (; reader->data < reader->end; reader->data++) {
    const guint8 c = *reader->data;

    is_comment = c == '#' || (is_comment && c != '\n');
    if (!is_comment && !g_ascii_isspace (c))
      return;
  }
}

/* The next decimal number, of at most n_digits digits; -1 if there is none. */
static gint64
read_pnm_number (PnmReader *reader, guint n_digits)
{
  gint64 number = -1;

  skip_pnm_space (reader);
  for (; reader->data < reader->end && g_ascii_isdigit (*reader->data) && n_digits > 0; n_digits--)
    number = MAX (number, 0) * 10 + (*reader->data++ - '0');
  return number;
}

/* Reads one sample. FALSE at the end of the data. */
static gboolean
read_pnm_sample (
    PnmReader *reader, gboolean is_plain, gboolean is_bitmap, gint64 maximum, gint64 *sample)
{
  const gsize size = maximum > 255 ? 2 : 1;

  if (is_plain) {
    *sample = read_pnm_number (reader, is_bitmap ? 1 : 5);
    return *sample >= 0 && *sample <= maximum;
  }
  if ((gsize)(reader->end - reader->data) < size)
    return FALSE;
  *sample = size == 2 ? reader->data[0] << 8 | reader->data[1] : reader->data[0];
  reader->data += size;
  return TRUE;
}

/* Rows of a raw PBM are bits, padded to bytes. */
static gboolean
read_pnm_bits (PnmReader *reader, GstCclRoiMask *mask)
{
  const gsize row_size = ((gsize)mask->width + 7) / 8;

  if ((gsize)(reader->end - reader->data) / row_size < mask->height)
    return FALSE;
  for (gsize y = 0; y < mask->height; y++)
    for (gsize x = 0; x < mask->width; x++)
      mask->pixels[y * mask->width + x] =
          reader->data[y * row_size + x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
  return TRUE;
}

static gboolean
read_pnm_pixels (PnmReader *reader, gint kind, gint64 maximum, GstCclRoiMask *mask)
{
  const gboolean is_plain = kind <= 3, is_bitmap = kind == 1;
  const guint n_channels = kind == 3 || kind == 6 ? 3 : 1;
  const gsize n_pixels = (gsize)mask->width * mask->height;

  if (kind == 4)
    return read_pnm_bits (reader, mask);
  for (gsize i = 0; i < n_pixels; i++) {
    gint64 sum = 0, sample;

    for (guint channel = 0; channel < n_channels; channel++) {
      if (!read_pnm_sample (reader, is_plain, is_bitmap, maximum, &sample))
        return FALSE;
      sum += sample;
    }
    /* The ones of a bitmap are black. */
    mask->pixels[i] = (sum != 0) != is_bitmap ? 255 : 0;
  }
  return TRUE;
}

static GstCclRoiMask *
read_pnm (const guint8 *data, gsize size, GError **error)
{
  const gint kind = data[1] - '0';
  PnmReader reader = {data + 2, data + size};
  const gint64 width = read_pnm_number (&reader, 10);
  const gint64 height = read_pnm_number (&reader, 10);
  const gint64 maximum = kind == 1 || kind == 4 ? 1 : read_pnm_number (&reader, 10);
  GstCclRoiMask *mask;

  if (width < 1 || height < 1 || maximum < 1 || maximum > PNM_MAXIMUM) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "a damaged PNM header");
    return NULL;
  }
  mask = roi_mask_new ((guint64)width, (guint64)height, error);
  if (!mask)
    return NULL;
  /* One white-space character ends the header. */
  reader.data = MIN (reader.data + 1, reader.end);
  if (!read_pnm_pixels (&reader, kind, maximum, mask)) {
    g_set_error_literal (
        error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "a damaged PNM: pixels are missing");
    g_clear_pointer (&mask, gst_ccl_roi_mask_free);
  }
  return mask;
}

GstCclRoiMask *
gst_ccl_roi_mask_read (const gchar *path, GError **error)
{
  static const guint8 png_signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  GstCclRoiMask *mask = NULL;
  GError *reason = NULL;
  gchar *contents;
  gsize size;

  if (!g_file_get_contents (path, &contents, &size, error))
    return NULL;
  if (size >= sizeof png_signature && memcmp (contents, png_signature, sizeof png_signature) == 0)
    mask = read_png ((guint8 *)contents, size, &reason);
  else if (size >= 3 && contents[0] == 'P' && contents[1] >= '1' && contents[1] <= '6')
    mask = read_pnm ((guint8 *)contents, size, &reason);
  else
    g_set_error_literal (
        &reason, G_FILE_ERROR, G_FILE_ERROR_NOSYS, "neither PNG nor PBM, PGM or PPM");
  g_free (contents);
  if (reason)
    g_propagate_prefixed_error (error, reason, "%s: ", path);
  return mask;
}
