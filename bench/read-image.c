/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks from image files: PNG by libpng's simplified interface, PBM and PGM here. */
#include "input.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

static Input *
fail (GError **error, const char *path, const char *reason)
{
  g_set_error (error, INPUT_ERROR, INPUT_ERROR_DAMAGED, "%s: %s", path, reason);
  return NULL;
}

/* libpng converts palettes, colours and 16 bits to 8 bits of grey. */
static Input *
read_png (const char *data, gsize size, const char *path, GError **error)
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  g_autoptr (Input) input = NULL;
  g_autofree char *reason = NULL;

  if (png_image_begin_read_from_memory (&image, data, size)) {
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

/* The number at a position of a PNM file, which moves behind it; -1 if there is none. Comments
 * extend from # to the end of the line. The text ends with a null character, as GLib's files do. */
static gint64
next_number (const char **text)
{
  char *end;
  gint64 number;

  for (*text += strspn (*text, " \t\r\n"); **text == '#'; *text += strspn (*text, " \t\r\n"))
    *text += strcspn (*text, "\n");
  number = g_ascii_isdigit (**text) ? g_ascii_strtoll (*text, &end, 10) : -1;
  if (number >= 0)
    *text = end;
  return number;
}

/* The four formats: P1 and P4 have bits, 1 for drawn pixels, P2 and P5 have bytes; P1 and P2 are
 * text. */
static Input *
read_pnm (const char *data, gsize size, const char *path, GError **error)
{
  const char format = data[1], *text = data + 2;
  const bool has_bits = format == '1' || format == '4', is_text = format <= '2';
  const gint64 width = next_number (&text), height = next_number (&text);
  const gint64 maximum = has_bits ? 1 : next_number (&text);
  g_autoptr (Input) input = NULL;
  size_t row_size;

  if (width < 1 || height < 1 || width > INT32_MAX || width > INT32_MAX / height || maximum < 1 ||
      maximum > 255)
    return fail (error, path, "damaged PNM header, or more than 8 bits per pixel");
  row_size = has_bits ? ((size_t)width + 7) / 8 : (size_t)width;
  if (!is_text && (size_t)(data + size - text) < 1 + row_size * (size_t)height)
    return fail (error, path, "damaged PNM: pixels are missing");
  input = input_new ((uint32_t)width, (uint32_t)height, 1);
  text += !is_text; /* one white-space character separates header and pixels */
  for (size_t i = 0; i < input_n_pixels (input); i++) {
    const size_t x = i % (size_t)width, y = i / (size_t)width;
    gint64 value;
    if (format == '1') { /* digits need no space between them */
      text += strspn (text, " \t\r\n");
      value = *text == '0' || *text == '1' ? *text++ - '0' : -1;
    } else if (format == '2') {
      value = next_number (&text);
    } else {
      const uint8_t byte = (uint8_t)text[y * row_size + (has_bits ? x / 8 : x)];
      value = has_bits ? byte >> (7 - x % 8) & 1 : byte;
    }
    if (value < 0 || value > maximum)
      return fail (error, path, "damaged PNM: pixels are missing");
    input->pixels[i] = (uint8_t)value;
  }
  return g_steal_pointer (&input);
}

Input *
input_read_image (const char *path, GError **error)
{
  g_autofree char *data = NULL;
  g_autoptr (GError) failure = NULL;
  gsize size;
  Input *input;

  if (!g_file_get_contents (path, &data, &size, &failure))
    return fail (error, path, failure->message);
  if (g_str_has_prefix (data, "\x89PNG\r\n\x1a\n"))
    input = read_png (data, size, path, error);
  else if (g_regex_match_simple ("^P[1245]", data, G_REGEX_RAW, 0))
    input = read_pnm (data, size, path, error);
  else
    input = fail (error, path, "neither a PNG nor a PBM or PGM image");
  /* All foreground pixels get the same value, so that every implementation reads the same bytes. */
  for (size_t i = 0; input && i < input_n_pixels (input); i++)
    input->pixels[i] = input->pixels[i] ? 255 : 0;
  return input;
}
