/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PNM: PBM, PGM and PPM, with samples in binary form (P4, P5, P6) or as text (P1, P2, P3). */
#include "pictures/error.h"
#include "pictures/flat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Text of a file, read through a buffer. */
typedef struct Text {
  PictureFile *file;
  uint64_t offset; /* in the file, of the byte behind the buffer */
  uint8_t buffer[1 << 12];
  size_t at, n; /* in the buffer */
} Text;

/* What the header says. */
typedef struct Header {
  uint32_t kind; /* 1…6 */
  uint64_t width, height, greatest;
  uint64_t end; /* where the samples begin */
} Header;

/* The next byte, which stays the next one; −1 at the end or after an error. */
static int
peek (Text *text)
{
  if (text->at == text->n) {
    const ssize_t n =
        picture_file_read_some (text->file, text->offset, text->buffer, sizeof text->buffer);
    if (n <= 0)
      return -1;
    text->offset += (uint64_t)n;
    text->n = (size_t)n;
    text->at = 0;
  }
  return text->buffer[text->at];
}

static uint64_t
position (const Text *text)
{
  return text->offset - (text->n - text->at);
}

/* Skips white space and comments, which run from # to the end of the line. */
static void
skip_space (Text *text)
{
  bool is_comment = false;

  for (int c = peek (text); c >= 0; text->at++, c = peek (text)) {
    is_comment = c == '#' || (is_comment && c != '\n');
    if (!is_comment && !isspace (c))
      return;
  }
}

/* Reads a number of at most n_digits digits; only the single ones of bitmaps may follow each other.
 */
static bool
read_number (Text *text, uint32_t n_digits, uint64_t *number)
{
  uint32_t n = 0;

  skip_space (text);
  for (*number = 0; n < n_digits && isdigit (peek (text)); n++)
    *number = *number * 10 + (uint64_t)(text->buffer[text->at++] - '0');
  return n > 0 && (n_digits == 1 || !isdigit (peek (text)));
}

static bool
read_header (Text *text, Header *header)
{
  const bool is_bitmap = header->kind == 1 || header->kind == 4;

  text->at = text->n = 0;
  text->offset = 2;
  header->greatest = 1;
  if (!read_number (text, 10, &header->width) || !read_number (text, 10, &header->height) ||
      (!is_bitmap && !read_number (text, 10, &header->greatest)) || !isspace (peek (text)))
    return false;
  text->at++; /* one white-space character ends the header */
  header->end = position (text);
  return header->width > 0 && header->height > 0;
}

/* Fills what the header says about the samples. */
static void
describe (Picture *picture, const Header *header)
{
  picture->width = header->width;
  picture->height = header->height;
  picture->depth = 1;
  picture->n_channels = header->kind % 3 == 0 ? 3 : 1;
  picture->type = header->greatest < 256 ? SAMPLE_UINT8 : SAMPLE_UINT16;
}

static Picture *
open_binary (PictureFile *file, const Header *header, CclError *error)
{
  Flat *self = flat_new (file, error);

  if (!self)
    return NULL;
  describe (&self->picture, header);
  self->is_bits = header->kind == 4;
  self->swap = header->greatest > 255 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  self->offset = header->end;
  return flat_finish (self, true, error);
}

/* Samples as text. */
typedef struct Plain {
  PictureInOrder in_order;
  Text text;
  Header header;
} Plain;

static bool
plain_rewind (PictureInOrder *in_order, CclError *error)
{
  Plain *self = (Plain *)in_order;
  self->text.offset = self->header.end;
  self->text.at = self->text.n = 0;
  return true;
}

static bool
plain_read_row (PictureInOrder *in_order, void *samples, CclError *error)
{
  Plain *self = (Plain *)in_order;
  const Picture *picture = &in_order->picture;
  const bool is_bitmap = self->header.kind == 1;
  uint64_t number;

  for (uint64_t i = 0; i < picture->width * picture->n_channels; i++) {
    if (!read_number (&self->text, is_bitmap ? 1 : 5, &number) || number > self->header.greatest)
      return fail (error, "%s: damaged: samples are missing or too large", self->text.file->name);
    if (is_bitmap) /* the ones of a bitmap are black */
      ((uint8_t *)samples)[i] = number ? 0 : 255;
    else if (picture->type == SAMPLE_UINT8)
      ((uint8_t *)samples)[i] = (uint8_t)number;
    else
      ((uint16_t *)samples)[i] = (uint16_t)number;
  }
  return true;
}

static void
plain_free (Picture *picture)
{
  Plain *self = (Plain *)picture;
  picture_file_close (self->text.file);
  free (self);
}

static const PictureClass plain_class = {picture_read_in_order, plain_free};

static Picture *
open_plain (PictureFile *file, const Header *header, CclError *error)
{
  Plain *self = picture_new (sizeof *self, file, error);

  if (!self)
    return NULL;
  self->text.file = file;
  self->header = *header;
  self->in_order.picture.klass = &plain_class;
  self->in_order.rewind = plain_rewind;
  self->in_order.read_row = plain_read_row;
  describe (&self->in_order.picture, header);
  Picture *picture = picture_start_in_order (&self->in_order, file, error);
  if (!picture || header->width * header->height <= file->size) /* a sample has at least one byte */
    return picture;
  fail (error, "%s: damaged: samples are missing", file->name);
  plain_free (picture);
  return NULL;
}

static bool
begins_like_pnm (const uint8_t *head, size_t n)
{
  return n >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
         (isspace (head[2]) || head[2] == '#');
}

static Picture *
open_pnm (PictureFile *file, CclError *error)
{
  Text text = {.file = file};
  Header header = {0};
  uint8_t head[2];

  if (!picture_file_read (file, 0, head, sizeof head, error)) {
    picture_file_close (file);
    return NULL;
  }
  header.kind = head[1] - '0';
  if (!read_header (&text, &header)) {
    fail (error, "%s: a damaged PNM header", file->name);
  } else if (header.greatest < 1 || header.greatest > 65535) {
    fail (error, "%s: a damaged PNM header: the greatest value must be 1…65535, not %llu",
        file->name, (unsigned long long)header.greatest);
  } else {
    return header.kind > 3 ? open_binary (file, &header, error) : open_plain (file, &header, error);
  }
  picture_file_close (file);
  return NULL;
}

const PictureFormat picture_pnm = {"PNM", begins_like_pnm, open_pnm};
