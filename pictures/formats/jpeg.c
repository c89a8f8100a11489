/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pictures/picture.h"

#include "pictures/error.h"
#include "exif.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* The most bytes of the coefficients of a picture in several scans, which are held in memory. */
#define MOST_COEFFICIENT_BYTES ((uint64_t)2 << 30)

enum { BUFFER = 1 << 16 };

typedef struct Jpeg {
  PictureInOrder in_order;
  PictureFile *file;
  uint64_t offset; /* in the file, of what follows the buffer */
  struct jpeg_decompress_struct decoder;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  bool has_decoder;
  jmp_buf jump;    /* where errors lead */
  CclError *error; /* of the call at work */
  uint8_t buffer[BUFFER];
} Jpeg;

static void
on_error (j_common_ptr decoder)
{
  Jpeg *self = decoder->client_data;
  char message[JMSG_LENGTH_MAX];

  decoder->err->format_message (decoder, message);
  fail (self->error, "%s: libjpeg cannot read it: %s", self->file->name, message);
  longjmp (self->jump, 1);
}

/* Warnings are about data that are missing or damaged, except these. */
static void
on_message (j_common_ptr decoder, int level)
{
  const int code = decoder->err->msg_code;

  if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM &&
      code != JWRN_JFIF_MAJOR)
    on_error (decoder);
}

static void
on_source (j_decompress_ptr decoder)
{
}

static boolean
fill_buffer (j_decompress_ptr decoder)
{
  Jpeg *self = decoder->client_data;
  const ssize_t n = picture_file_read_some (self->file, self->offset, self->buffer, BUFFER);

  if (n <= 0) {
    fail (self->error, "%s: the file ends too early", self->file->name);
    longjmp (self->jump, 1);
  }
  self->offset += (uint64_t)n;
  self->source.next_input_byte = self->buffer;
  self->source.bytes_in_buffer = (size_t)n;
  return TRUE;
}

static void
skip_bytes (j_decompress_ptr decoder, long n)
{
  Jpeg *self = decoder->client_data;

  while (n > (long)self->source.bytes_in_buffer) {
    n -= (long)self->source.bytes_in_buffer;
    fill_buffer (decoder);
  }
  self->source.next_input_byte += n;
  self->source.bytes_in_buffer -= (size_t)n;
}

static void
stop (Jpeg *self)
{
  if (self->has_decoder)
    jpeg_destroy_decompress (&self->decoder);
  self->has_decoder = false;
}

/* Several scans are decoded to coefficients before the first row. */
static void
check_scans (Jpeg *self)
{
  j_decompress_ptr decoder = &self->decoder;
  uint64_t n = 0;

  for (int i = 0; i < decoder->num_components; i++)
    n += (uint64_t)decoder->comp_info[i].width_in_blocks * decoder->comp_info[i].height_in_blocks;
  if (jpeg_has_multiple_scans (decoder) && n > MOST_COEFFICIENT_BYTES / sizeof (JBLOCK)) {
    fail (self->error, "%s: a progressive JPEG with coefficients of more than 2 GiB",
        self->file->name);
    longjmp (self->jump, 1);
  }
}

/* The orientation in the Exif data. */
static uint32_t
find_orientation (const Jpeg *self)
{
  for (jpeg_saved_marker_ptr marker = self->decoder.marker_list; marker; marker = marker->next)
    if (marker->data_length > 6 && memcmp (marker->data, "Exif\0", 6) == 0)
      return exif_orientation (marker->data + 6, marker->data_length - 6);
  return 0;
}

/* Reads the header and begins to decode: grey, if the file has luma that is wanted, else red, green
 * and blue. */
static void
start_decoder (Jpeg *self)
{
  j_decompress_ptr decoder = &self->decoder;
  Picture *picture = &self->in_order.picture;

  self->has_decoder = true;
  jpeg_create_decompress (decoder);
  decoder->client_data = self;
  decoder->src = &self->source;
  jpeg_save_markers (decoder, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header (decoder, TRUE);
  const bool has_luma = decoder->jpeg_color_space == JCS_GRAYSCALE ||
                        (decoder->jpeg_color_space == JCS_YCbCr && !self->file->as_values);
  if (!has_luma && decoder->jpeg_color_space != JCS_RGB && decoder->jpeg_color_space != JCS_YCbCr) {
    fail (self->error, "%s: a JPEG in CMYK: convert it to RGB or grey", self->file->name);
    longjmp (self->jump, 1);
  }
  decoder->out_color_space = has_luma ? JCS_GRAYSCALE : JCS_RGB;
  check_scans (self);
  jpeg_start_decompress (decoder);
  picture->width = decoder->output_width;
  picture->height = decoder->output_height;
  picture->depth = 1;
  picture->n_channels = has_luma ? 1 : 3;
  picture->type = SAMPLE_UINT8;
  picture->orientation = find_orientation (self);
}

static bool
start (PictureInOrder *in_order, CclError *error)
{
  Jpeg *self = (Jpeg *)in_order;

  stop (self);
  self->error = error;
  self->offset = 0;
  memset (&self->decoder, 0, sizeof self->decoder);
  self->source = (struct jpeg_source_mgr){
      .init_source = on_source,
      .fill_input_buffer = fill_buffer,
      .skip_input_data = skip_bytes,
      .resync_to_restart = jpeg_resync_to_restart,
      .term_source = on_source,
  };
  self->decoder.err = jpeg_std_error (&self->errors);
  self->decoder.client_data = self;
  self->errors.error_exit = on_error;
  self->errors.emit_message = on_message;
  if (setjmp (self->jump))
    return false;
  start_decoder (self);
  return true;
}

static bool
read_row (PictureInOrder *in_order, void *samples, CclError *error)
{
  Jpeg *self = (Jpeg *)in_order;
  JSAMPROW row = samples;

  self->error = error;
  if (setjmp (self->jump))
    return false;
  if (jpeg_read_scanlines (&self->decoder, &row, 1) != 1)
    return fail (error, "%s: the file ends too early", self->file->name);
  return true;
}

static void
jpeg_free_picture (Picture *picture)
{
  Jpeg *self = (Jpeg *)picture;
  stop (self);
  picture_file_close (self->file);
  free (self);
}

static const PictureClass jpeg_class = {picture_read_in_order, jpeg_free_picture};

static bool
begins_like_jpeg (const uint8_t *head, size_t n)
{
  return n >= 3 && memcmp (head, "\xff\xd8\xff", 3) == 0;
}

static Picture *
open_jpeg (PictureFile *file, CclError *error)
{
  Jpeg *self = picture_new (sizeof *self, file, error);

  if (!self)
    return NULL;
  self->file = file;
  self->in_order.picture.klass = &jpeg_class;
  self->in_order.rewind = start;
  self->in_order.read_row = read_row;
  return picture_start_in_order (&self->in_order, file, error);
}

const PictureFormat picture_jpeg = {"JPEG", begins_like_jpeg, open_jpeg};
