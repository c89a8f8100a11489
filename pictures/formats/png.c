/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pictures/picture.h"

#include "pictures/error.h"
#include "exif.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of an interlaced picture, which is held in memory. */
#define MOST_INTERLACED_BYTES ((uint64_t)2 << 30)

typedef struct Png {
  PictureInOrder in_order;
  PictureFile *file;
  uint64_t offset; /* in the file, of what libpng reads next */
  png_structp png;
  png_infop info;
  int n_passes;
  uint8_t *all;    /* all rows of an interlaced picture, which are complete at the end only */
  CclError *error; /* of the call at work */
} Png;

static void
on_error (png_structp png, png_const_charp message)
{
  Png *self = png_get_error_ptr (png);
  fail (self->error, "%s: libpng cannot read it: %s", self->file->name, message);
  longjmp (png_jmpbuf (png), 1);
}

static void
on_warning (png_structp png, png_const_charp message)
{
  (void)png, (void)message;
}

static void
on_read (png_structp png, png_bytep bytes, size_t size)
{
  Png *self = png_get_io_ptr (png);

  for (size_t done = 0; done < size;) {
    const ssize_t n = picture_file_read_some (self->file, self->offset, bytes + done, size - done);
    if (n <= 0)
      png_error (png, n < 0 ? strerror (errno) : "the file ends too early");
    self->offset += (uint64_t)n;
    done += (size_t)n;
  }
}

static void
stop (Png *self)
{
  if (self->png)
    png_destroy_read_struct (&self->png, &self->info, NULL);
  free (self->all);
  self->all = NULL;
}

/* Reads all rows of an interlaced picture. */
static void
read_interlaced (Png *self)
{
  const size_t row_bytes = png_get_rowbytes (self->png, self->info);
  const uint64_t height = self->in_order.picture.height;

  if (row_bytes > MOST_INTERLACED_BYTES / height)
    png_error (self->png, "an interlaced picture of more than 2 GiB");
  self->all = calloc (height, row_bytes);
  if (!self->all)
    png_error (self->png, "not enough memory for an interlaced picture");
  for (int pass = 0; pass < self->n_passes; pass++)
    for (uint64_t y = 0; y < height; y++)
      png_read_row (self->png, self->all + y * row_bytes, NULL);
}

/* Refuses a file with more frames than the first one, by the chunk of APNG that counts them. */
static void
check_frames (Png *self)
{
  png_unknown_chunkp chunks;
  const int n = png_get_unknown_chunks (self->png, self->info, &chunks);

  for (int i = 0; i < n; i++)
    if (memcmp (chunks[i].name, "acTL", 4) == 0 && chunks[i].size >= 4 &&
        png_get_uint_32 (chunks[i].data) > 1)
      png_error (self->png, "an animation: save its frames as files");
}

static void
find_orientation (Png *self)
{
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 n = 0;
  png_bytep exif = NULL;

  if (png_get_eXIf_1 (self->png, self->info, &n, &exif))
    self->in_order.picture.orientation = exif_orientation (exif, n);
#else
#endif
}

/* Reads the header. The samples will have 8 or 16 bits. */
static void
read_info (Png *self)
{
  Picture *picture = &self->in_order.picture;

  png_set_user_limits (self->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_read_fn (self->png, self, on_read);
  png_set_keep_unknown_chunks (self->png, PNG_HANDLE_CHUNK_ALWAYS, (png_const_bytep) "acTL", 1);
  png_read_info (self->png, self->info);
  check_frames (self);
  find_orientation (self);
  if (self->file->as_values)
    png_set_packing (self->png);
  else
    png_set_expand (self->png);
  if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    png_set_swap (self->png);
  self->n_passes = png_set_interlace_handling (self->png);
  png_read_update_info (self->png, self->info);
  picture->width = png_get_image_width (self->png, self->info);
  picture->height = png_get_image_height (self->png, self->info);
  picture->depth = 1;
  picture->n_channels = png_get_channels (self->png, self->info);
  picture->type = png_get_bit_depth (self->png, self->info) == 16 ? SAMPLE_UINT16 : SAMPLE_UINT8;
  if (png_get_rowbytes (self->png, self->info) !=
      picture->width * picture->n_channels * sample_bytes (picture->type))
    png_error (self->png, "the rows have an unknown layout");
}

/* Begins to read the file. */
static bool
start (PictureInOrder *in_order, CclError *error)
{
  Png *self = (Png *)in_order;

  stop (self);
  self->error = error;
  self->offset = 0;
  self->png = png_create_read_struct (PNG_LIBPNG_VER_STRING, self, on_error, on_warning);
  self->info = self->png ? png_create_info_struct (self->png) : NULL;
  if (!self->info)
    return fail_without_memory (error);
  if (setjmp (png_jmpbuf (self->png)))
    return false;
  read_info (self);
  return true;
}

/* Reads the next row. The last one is followed by a check of the rest of the file. */
static bool
read_row (PictureInOrder *in_order, void *samples, CclError *error)
{
  Png *self = (Png *)in_order;

  self->error = error;
  if (setjmp (png_jmpbuf (self->png)))
    return false;
  if (self->n_passes > 1) {
    const size_t row_bytes = png_get_rowbytes (self->png, self->info);
    if (!self->all)
      read_interlaced (self);
    memcpy (samples, self->all + in_order->next_row * row_bytes, row_bytes);
  } else {
    png_read_row (self->png, samples, NULL);
  }
  if (in_order->next_row + 1 == in_order->picture.height)
    png_read_end (self->png, NULL);
  return true;
}

static void
png_free_picture (Picture *picture)
{
  Png *self = (Png *)picture;
  stop (self);
  picture_file_close (self->file);
  free (self);
}

static const PictureClass png_class = {picture_read_in_order, png_free_picture};

static bool
begins_like_png (const uint8_t *head, size_t n)
{
  return n >= 8 && memcmp (head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static Picture *
open_png (PictureFile *file, CclError *error)
{
  Png *self = picture_new (sizeof *self, file, error);

  if (!self)
    return NULL;
  self->file = file;
  self->in_order.picture.klass = &png_class;
  self->in_order.rewind = start;
  self->in_order.read_row = read_row;
  return picture_start_in_order (&self->in_order, file, error);
}

const PictureFormat picture_png = {"PNG", begins_like_png, open_png};
