/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "image.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* libpng tells errors by a call that must not return; the message is kept for the GError. */
typedef struct PngFailure {
  jmp_buf jump;
  char message[128];
} PngFailure;

static void
on_png_error (png_structp png, png_const_charp message)
{
  PngFailure *failure = png_get_error_ptr (png);
  g_strlcpy (failure->message, message, sizeof failure->message);
  longjmp (failure->jump, 1);
}

static void
on_png_warning (png_structp png, png_const_charp message)
{
}

static CclImage *
image_new (uint32_t width, uint32_t height)
{
  CclImage *image = g_new0 (CclImage, 1);

  image->width = width;
  image->height = height;
  image->pixels = g_malloc0 ((size_t)width * height);
  return image;
}

void
ccl_image_free (CclImage *image)
{
  if (image)
    g_free (image->pixels);
  g_free (image);
}

static CclImage *
read_png (FILE *file, const char *path, GError **error)
{
  PngFailure failure;
  png_structp png =
      png_create_read_struct (PNG_LIBPNG_VER_STRING, &failure, on_png_error, on_png_warning);
  png_infop info = png ? png_create_info_struct (png) : NULL;
  CclImage *volatile image = NULL;

  if (!info) {
    png_destroy_read_struct (&png, NULL, NULL);
    g_set_error (error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED, "%s: libpng cannot start", path);
    return NULL;
  }
  if (setjmp (failure.jump)) {
    ccl_image_free (image);
    png_destroy_read_struct (&png, &info, NULL);
    g_set_error (error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED, "%s: damaged PNG: %s", path,
        failure.message);
    return NULL;
  }

  png_init_io (png, file);
  png_read_info (png, info);
  const uint32_t width = png_get_image_width (png, info);
  const uint32_t height = png_get_image_height (png, info);
  const int colour = png_get_color_type (png, info);
  if (colour != PNG_COLOR_TYPE_GRAY && colour != PNG_COLOR_TYPE_PALETTE)
    png_error (png, "neither grey nor a palette of black and white");
  if (png_get_bit_depth (png, info) > 8)
    png_error (png, "more than 8 bits a pixel");
  if ((uint64_t)width * height > INT32_MAX)
    png_error (png, "more pixels than can be labelled");
  if (colour == PNG_COLOR_TYPE_PALETTE) {
    png_set_palette_to_rgb (png);
    png_set_strip_alpha (png);
    png_set_rgb_to_gray (
        png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
  } else {
    png_set_expand_gray_1_2_4_to_8 (png);
  }
  const int passes = png_set_interlace_handling (png);
  png_read_update_info (png, info);
  if (png_get_rowbytes (png, info) != width)
    png_error (png, "an unexpected row size");

  image = image_new (width, height);
  for (int pass = 0; pass < passes; pass++)
    for (uint32_t y = 0; y < height; y++)
      png_read_row (png, image->pixels + (size_t)y * width, NULL);
  png_read_end (png, NULL);
  png_destroy_read_struct (&png, &info, NULL);
  return image;
}

/* The next number of a PNM header; comments run from # to the end of the line. -1 if none. */
static int64_t
read_pnm_number (FILE *file)
{
  int c = fgetc (file);
  int64_t number = 0;

  while (g_ascii_isspace (c) || c == '#') {
    if (c == '#')
      while (c != '\n' && c != EOF)
        c = fgetc (file);
    else
      c = fgetc (file);
  }
  if (!g_ascii_isdigit (c))
    return -1;
  for (; g_ascii_isdigit (c) && number < INT32_MAX; c = fgetc (file))
    number = number * 10 + (c - '0');
  return number; /* the one white-space character after it is consumed */
}

/* The next pixel of a plain PBM, whose digits need no space between them. -1 if none. */
static int
read_pbm_digit (FILE *file)
{
  int c = fgetc (file);

  while (g_ascii_isspace (c))
    c = fgetc (file);
  return c == '0' || c == '1' ? c - '0' : -1;
}

static gboolean
read_pnm_pixels (FILE *file, int kind, int64_t maximum, CclImage *image)
{
  const size_t width = image->width;
  g_autofree uint8_t *row = g_malloc ((width + 7) / 8);

  for (size_t y = 0; y < image->height; y++) {
    uint8_t *pixels = image->pixels + y * width;
    switch (kind) {
    case '1': /* plain bits */
      for (size_t x = 0; x < width; x++) {
        const int bit = read_pbm_digit (file);
        if (bit < 0)
          return FALSE;
        pixels[x] = bit ? 0 : 255;
      }
      break;
    case '2': /* plain grey */
      for (size_t x = 0; x < width; x++) {
        const int64_t value = read_pnm_number (file);
        if (value < 0 || value > maximum)
          return FALSE;
        pixels[x] = (uint8_t)value;
      }
      break;
    case '4': /* raw bits, rows padded to bytes */
      if (fread (row, 1, (width + 7) / 8, file) != (width + 7) / 8)
        return FALSE;
      for (size_t x = 0; x < width; x++)
        pixels[x] = row[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
      break;
    default: /* '5', raw grey */
      if (fread (pixels, 1, width, file) != width)
        return FALSE;
    }
  }
  return TRUE;
}

static CclImage *
read_pnm (FILE *file, const char *path, GError **error)
{
  fgetc (file); /* the P */
  const int kind = fgetc (file);
  const gboolean grey = kind == '2' || kind == '5';
  const int64_t width = read_pnm_number (file);
  const int64_t height = read_pnm_number (file);
  const int64_t maximum = grey ? read_pnm_number (file) : 1;
  CclImage *image;

  if (width < 1 || height < 1 || maximum < 1 || width * height > INT32_MAX) {
    g_set_error (error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED, "%s: damaged PNM header", path);
    return NULL;
  }
  if (maximum > 255) {
    g_set_error (error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED,
        "%s: damaged PNM or more than 8 bits a pixel", path);
    return NULL;
  }
  image = image_new ((uint32_t)width, (uint32_t)height);
  image->is_bitmap = !grey;
  if (!read_pnm_pixels (file, kind, maximum, image)) {
    ccl_image_free (image);
    g_set_error (error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED,
        "%s: damaged PNM: pixels are missing", path);
    return NULL;
  }
  return image;
}

CclImage *
ccl_image_read (const char *path, GError **error)
{
  uint8_t magic[8] = {0};
  FILE *file = fopen (path, "rb");
  CclImage *image = NULL;

  if (!file) {
    g_set_error (
        error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED, "%s: %s", path, g_strerror (errno));
    return NULL;
  }
  const size_t n_read = fread (magic, 1, sizeof magic, file);
  rewind (file);
  if (n_read == sizeof magic && png_sig_cmp (magic, 0, sizeof magic) == 0)
    image = read_png (file, path, error);
  else if (n_read >= 2 && magic[0] == 'P' && strchr ("1245", magic[1]) && magic[1])
    image = read_pnm (file, path, error);
  else
    g_set_error (error, CCL_IMAGE_ERROR, CCL_IMAGE_ERROR_DAMAGED,
        "%s: neither a PNG nor a PBM or PGM image", path);
  fclose (file);
  return image;
}
