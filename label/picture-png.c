/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture.h"

#include "error.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of an interlaced picture, which is held in memory. */
#define MOST_INTERLACED_BYTES ((uint64_t)2 << 30)

typedef struct Png {
  Picture picture;
  char *path;
  FILE *file;
  png_structp png;
  png_infop info;
  uint64_t next_row;
  int n_passes;
  uint8_t *all;    /* all rows of an interlaced picture, which are complete at the end only */
  CclError *error; /* of the call at work */
} Png;

static void
on_error (png_structp png, png_const_charp message)
{
  Png *self = png_get_error_ptr (png);
  fail (self->error, "%s: %s", self->path, message);
  longjmp (png_jmpbuf (png), 1);
}

static void
on_warning (png_structp png, png_const_charp message)
{
  (void)png, (void)message;
}

static void
close_file (Png *self)
{
  if (self->png)
    png_destroy_read_struct (&self->png, &self->info, NULL);
  if (self->file)
    fclose (self->file);
  free (self->all);
  self->file = NULL;
  self->all = NULL;
}

/* Reads all rows of an interlaced picture. */
static void
read_interlaced (Png *self)
{
  const size_t row_bytes = png_get_rowbytes (self->png, self->info);

  if (row_bytes > MOST_INTERLACED_BYTES / self->picture.height)
    png_error (self->png, "an interlaced picture of more than 2 GiB");
  self->all = calloc (self->picture.height, row_bytes);
  if (!self->all)
    png_error (self->png, "not enough memory for an interlaced picture");
  for (int pass = 0; pass < self->n_passes; pass++)
    for (uint64_t y = 0; y < self->picture.height; y++)
      png_read_row (self->png, self->all + y * row_bytes, NULL);
}

/* Opens the file and reads up to the first row: samples of 8 or 16 bits. */
static bool
open_file (Png *self, CclError *error)
{
  close_file (self);
  self->error = error;
  self->next_row = 0;
  self->file = fopen (self->path, "rb");
  if (!self->file)
    return fail (error, "%s: %s", self->path, strerror (errno));
  self->png = png_create_read_struct (PNG_LIBPNG_VER_STRING, self, on_error, on_warning);
  if (!self->png)
    return fail (error, "%s: not enough memory", self->path);
  self->info = png_create_info_struct (self->png);
  if (setjmp (png_jmpbuf (self->png)))
    return false;
  png_set_user_limits (self->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_init_io (self->png, self->file);
  png_read_info (self->png, self->info);

  const png_byte colours = png_get_color_type (self->png, self->info);
  png_set_expand (self->png);
  png_set_strip_alpha (self->png);
  if (colours & PNG_COLOR_MASK_COLOR)
    png_set_rgb_to_gray (self->png, PNG_ERROR_ACTION_NONE, -1, -1);
  if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    png_set_swap (self->png);
  self->n_passes = png_set_interlace_handling (self->png);
  png_read_update_info (self->png, self->info);
  self->picture.width = png_get_image_width (self->png, self->info);
  self->picture.height = png_get_image_height (self->png, self->info);
  self->picture.depth = 1;
  self->picture.type =
      png_get_bit_depth (self->png, self->info) == 16 ? SAMPLE_UINT16 : SAMPLE_UINT8;
  if (png_get_rowbytes (self->png, self->info) !=
      self->picture.width * sample_bytes (self->picture.type))
    png_error (self->png, "the rows have an unknown layout");
  return true;
}

/* Reads the next row. The last one is followed by a check of the rest of the file. */
static bool
read_row (Png *self, void *samples, CclError *error)
{
  self->error = error;
  if (setjmp (png_jmpbuf (self->png)))
    return false;
  if (self->n_passes > 1) {
    const size_t row_bytes = png_get_rowbytes (self->png, self->info);
    if (!self->all)
      read_interlaced (self);
    memcpy (samples, self->all + self->next_row * row_bytes, row_bytes);
  } else {
    png_read_row (self->png, samples, NULL);
  }
  if (++self->next_row == self->picture.height)
    png_read_end (self->png, NULL);
  return true;
}

static bool
png_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Png *self = (Png *)picture;
  const uint64_t row_bytes = picture->width * sample_bytes (picture->type);

  if (first_row < self->next_row && !open_file (self, error))
    return false;
  while (self->next_row < first_row)
    if (!read_row (self, samples, error)) /* skipped; overwritten by the rows to read */
      return false;
  for (uint64_t i = 0; i < n_rows; i++)
    if (!read_row (self, (char *)samples + i * row_bytes, error))
      return false;
  return true;
}

static void
png_free_picture (Picture *picture)
{
  Png *self = (Png *)picture;
  close_file (self);
  free (self->path);
  free (self);
}

static const PictureClass png_class = {png_read, png_free_picture};

Picture *
picture_open_png (const char *path, CclError *error)
{
  Png *self = calloc (1, sizeof *self);

  self->picture.klass = &png_class;
  self->path = strdup (path);
  if (open_file (self, error) && picture_check (&self->picture, path, error))
    return &self->picture;
  png_free_picture (&self->picture);
  return NULL;
}
