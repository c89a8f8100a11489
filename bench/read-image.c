/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks from image files: PNG by libpng's simplified interface, PBM and PGM here. */
#include "input.h"

#include <errno.h>
#include <inttypes.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

static Input *
fail (GError **error, const char *path, const char *reason)
{
  g_set_error (error, INPUT_ERROR, INPUT_ERROR_DAMAGED, "%s: %s", path, reason);
  return NULL;
}

/* libpng converts palettes, colours and 16 bits to 8 bits of grey. */
static Input *
read_png (FILE *file, const char *path, GError **error)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  g_autoptr (Input) input = NULL;
  g_autofree char *reason = NULL;

  if (png_image_begin_read_from_stdio (&image, file)) {
    image.format = PNG_FORMAT_GRAY;
    if (image.width > INT32_MAX / image.height) {
      png_image_free (&image);
      return fail (error, path, "more pixels than can be labelled");
    }
    input = input_new (image.width, image.height, 1);
    if (png_image_finish_read (&image, NULL, input->pixels, (png_int_32)image.width, NULL))
      return g_steal_pointer (&input);
  }
  reason = g_strdup_printf ("damaged PNG: %s", image.message);
  png_image_free (&image);
  return fail (error, path, reason);
}

/* The next number of a PNM file; comments extend from # to the end of the line. -1 if none. */
static int64_t
read_number (FILE *file)
{
  int64_t number = -1;
  char hash[2];

  while (fscanf (file, " %1[#]", hash) == 1)
    if (fscanf (file, "%*[^\n]") == EOF)
      return -1;
  return fscanf (file, "%9" SCNd64, &number) == 1 ? number : -1;
}

/* Reads a row of n pixels in one of the four formats; false if the file is too short. In a PBM, a
 * drawn pixel has the bit 1. */
static bool
read_row (FILE *file, int format, int64_t maximum, uint8_t *pixels, size_t n)
{
  char digit[2];
  int bits = 0;

  if (format == '5')
    return fread (pixels, 1, n, file) == n;
  for (size_t x = 0; x < n; x++) {
    int64_t value;
    if (format == '4') {
      if (x % 8 == 0)
        bits = fgetc (file);
      value = bits == EOF ? -1 : bits >> (7 - x % 8) & 1;
    } else if (format == '2') {
      value = read_number (file);
    } else {
      value = fscanf (file, " %1[01]", digit) == 1 ? *digit - '0' : -1;
    }
    if (value < 0 || value > maximum)
      return false;
    pixels[x] = (uint8_t)value;
  }
  return true;
}

static Input *
read_pnm (FILE *file, const char *path, GError **error)
{
  g_autoptr (Input) input = NULL;
  const int format = fgetc (file) == 'P' ? fgetc (file) : EOF;
  const bool is_grey = format == '2' || format == '5';
  const int64_t width = read_number (file), height = read_number (file);
  const int64_t maximum = is_grey ? read_number (file) : 1;

  fgetc (file); /* one white-space character separates header and pixels */
  if (width < 1 || height < 1 || width > INT32_MAX / height || maximum < 1 || maximum > 255)
    return fail (error, path, "damaged PNM header, or more than 8 bits per pixel");
  input = input_new ((uint32_t)width, (uint32_t)height, 1);
  for (int64_t y = 0; y < height; y++)
    if (!read_row (file, format, maximum, input->pixels + y * width, (size_t)width))
      return fail (error, path, "damaged PNM: pixels are missing");
  return g_steal_pointer (&input);
}

Input *
input_read_image (const char *path, GError **error)
{
  char magic[9] = "";
  FILE *file = fopen (path, "rb");
  Input *input;

  if (!file)
    return fail (error, path, g_strerror (errno));
  magic[fread (magic, 1, 8, file)] = '\0';
  rewind (file);
  if (g_str_has_prefix (magic, "\x89PNG\r\n\x1a\n"))
    input = read_png (file, path, error);
  else if (*magic == 'P' && magic[1] && strchr ("1245", magic[1]))
    input = read_pnm (file, path, error);
  else
    input = fail (error, path, "neither a PNG nor a PBM or PGM image");
  fclose (file);
  /* All foreground pixels get the same value, so that every implementation reads the same bytes. */
  for (size_t i = 0; input && i < input_n_pixels (input); i++)
    input->pixels[i] = input->pixels[i] ? 255 : 0;
  return input;
}
