/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bigtiff.h"
#include "core/base/divide-up.h"

#include "error.h"
#include "pictures/formats/tiff-message.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a strip of 64-bit labels; more if a row has more. */
#define STRIP_BYTES ((uint64_t)1 << 18)

/* Sizes in a BigTIFF file. */
enum { FILE_HEADER = 16, N_TAGS = 11, TAG_BYTES = 20 };

/* The memory in which libtiff writes a file of one strip. */
typedef struct Packed {
  uint8_t *bytes;
  uint64_t size, capacity, at;
} Packed;

struct BigTiff {
  OutputFormat format;
  char *path;
  uint16_t scheme; /* of compression */
  OutputFile *file;
  uint32_t label_bytes;
  uint64_t row_bytes;
  uint64_t strip_rows, strips_per_page, page_bytes; /* of a directory with its arrays */
  uint64_t page_head;                               /* bytes of a directory without them */
  uint64_t geo;                                     /* where the values of GeoTIFF's tags begin */
  uint64_t data;                                    /* where the first strip begins */

  uint64_t first_strip;   /* of this rank, counted through all pages */
  uint64_t *sizes;        /* [n_sizes]: bytes of this rank's strips */
  uint64_t n_sizes, most; /* most: for which there is room */
  uint64_t bytes;         /* the sum of sizes */

  uint64_t n_rows; /* of the strip at work */
  uint8_t *rows;   /* compressed: the strip at work */
  Packed packed;   /* and the latest one */
  FILE *own_part;  /* and strips of a rank among several: their place is known at the end */
};

static const struct {
  const char *name;
  uint16_t scheme;
} compressions[] = {
    {"none", COMPRESSION_NONE},
    {"deflate", COMPRESSION_ADOBE_DEFLATE},
    {"lzw", COMPRESSION_LZW},
    {"zstd", COMPRESSION_ZSTD},
};

static uint16_t
find_compression (const char *name)
{
  for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
    if (strcmp (compressions[i].name, name) == 0)
      return compressions[i].scheme;
  return 0;
}

uint64_t
bigtiff_strip_rows (const OutputFormat *format)
{
  const uint64_t rows = STRIP_BYTES / (format->width * sizeof (uint64_t));
  return rows < 1 ? 1 : rows > format->height ? format->height : rows;
}

static uint32_t
n_geo_tags (const BigTiff *self)
{
  return self->format.geo ? self->format.geo->n_tags : 0;
}

/* The bytes that a tag's values take outside of the directory, where each begins at a word. */
static uint64_t
geo_bytes (const GeoTag *tag)
{
  return tag->n_bytes > 8 ? round_up (tag->n_bytes, 8) : 0;
}

BigTiff *
bigtiff_new (const OutputFormat *format, const char *path, CclError *error)
{
  const uint16_t scheme = find_compression (format->compression);

  if (!scheme || !TIFFIsCODECConfigured (scheme)) {
    fail (error, "libtiff has no compression '%s'", format->compression);
    return NULL;
  }
  BigTiff *self = calloc (1, sizeof *self);
  char *copy = strdup (path);
  if (!self || !copy) {
    fail_without_memory (error);
    free (self);
    free (copy);
    return NULL;
  }
  self->format = *format;
  self->path = copy;
  self->scheme = scheme;
  self->strip_rows = bigtiff_strip_rows (format);
  self->strips_per_page = divide_up (format->height, self->strip_rows);
  /* An array of one number is inside its tag. */
  self->page_head = 8 + (N_TAGS + n_geo_tags (self)) * TAG_BYTES + 8;
  self->page_bytes = self->page_head + (self->strips_per_page > 1 ? 16 * self->strips_per_page : 0);
  self->geo = FILE_HEADER + format->depth * self->page_bytes;
  self->data = self->geo;
  for (uint32_t i = 0; i < n_geo_tags (self); i++)
    self->data += geo_bytes (&format->geo->tags[i]);
  return self;
}

bool
bigtiff_begin (BigTiff *self, OutputFile *file, uint32_t label_bytes, CclError *error)
{
  const OutputFormat *format = &self->format;

  self->file = file;
  self->label_bytes = label_bytes;
  self->row_bytes = format->width * label_bytes;
  if (self->scheme == COMPRESSION_NONE)
    return format->processes.rank != 0 ||
           output_file_reserve (
               file, self->data + format->height * format->depth * self->row_bytes, error);
  self->rows = malloc (self->strip_rows * self->row_bytes);
  if (!self->rows)
    return fail (error, "%s: not enough memory for a strip", self->path);
  if (format->processes.n_ranks > 1)
    self->own_part = own_part_new (self->path, &format->processes, error);
  return format->processes.n_ranks == 1 || self->own_part;
}

static tmsize_t
packed_read (thandle_t data, void *bytes, tmsize_t size)
{
  (void)data, (void)bytes, (void)size;
  return 0;
}

static tmsize_t
packed_write (thandle_t data, void *bytes, tmsize_t size)
{
  Packed *self = data;
  const uint64_t end = self->at + (uint64_t)size;

  if (end > self->capacity) {
    uint8_t *larger = realloc (self->bytes, 2 * end);
    if (!larger)
      return 0;
    self->bytes = larger;
    self->capacity = 2 * end;
  }
  memcpy (self->bytes + self->at, bytes, (size_t)size);
  self->at = end;
  if (end > self->size)
    self->size = end;
  return size;
}

static toff_t
packed_seek (thandle_t data, toff_t offset, int whence)
{
  Packed *self = data;
  self->at = offset + (whence == SEEK_CUR ? self->at : whence == SEEK_END ? self->size : 0);
  return self->at;
}

static int
packed_close (thandle_t data)
{
  return 0;
}

static toff_t
packed_size (thandle_t data)
{
  return ((Packed *)data)->size;
}

/* Lets libtiff compress the strip at work. Returns the result, valid until the next call, and its
 * size; NULL with the error filled if that fails. */
static const uint8_t *
compress (BigTiff *self, uint64_t *size, CclError *error)
{
  TiffMessage message;
  TIFFOpenOptions *options = tiff_options_new (&message);
  TIFF *tiff = NULL;
  const tmsize_t n_bytes = (tmsize_t)(self->n_rows * self->row_bytes);
  uint64_t offset = 0; /* of the strip in what libtiff writes; it begins with a header */

  self->packed.size = self->packed.at = 0;
  if (options) {
    tiff = TIFFClientOpenExt (self->path, "w8", &self->packed, packed_read, packed_write,
        packed_seek, packed_close, packed_size, NULL, NULL, options);
    TIFFOpenOptionsFree (options);
  }
  if (tiff) {
    TIFFSetField (tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)self->format.width);
    TIFFSetField (tiff, TIFFTAG_IMAGELENGTH, (uint32_t)self->n_rows);
    TIFFSetField (tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)self->n_rows);
    TIFFSetField (tiff, TIFFTAG_BITSPERSAMPLE, 8 * self->label_bytes);
    TIFFSetField (tiff, TIFFTAG_COMPRESSION, self->scheme);
    if (TIFFWriteEncodedStrip (tiff, 0, self->rows, n_bytes) >= 0) {
      offset = TIFFGetStrileOffset (tiff, 0);
      *size = TIFFGetStrileByteCount (tiff, 0);
    }
    TIFFCleanup (tiff); /* may write a directory, which moves the bytes */
  }
  if (offset)
    return self->packed.bytes + offset;
  tiff_fail (error, self->path, &message);
  return NULL;
}

/* Appends to this rank's strips. */
static bool
append (BigTiff *self, const uint8_t *bytes, uint64_t size, CclError *error)
{
  if (!self->own_part)
    return output_file_write (self->file, self->data + self->bytes, bytes, size, error);
  return own_part_write (self->own_part, bytes, size, error);
}

/* Ends the strip at work. */
static bool
finish_strip (BigTiff *self, CclError *error)
{
  uint64_t size = self->n_rows * self->row_bytes;

  if (self->rows) {
    const uint8_t *bytes = compress (self, &size, error);
    if (!bytes || !append (self, bytes, size, error))
      return false;
  }
  if (self->n_sizes == self->most) {
    const uint64_t most = 2 * self->most + 64;
    uint64_t *sizes = realloc (self->sizes, most * sizeof *sizes);
    if (!sizes)
      return fail (error, "%s: not enough memory for strips", self->path);
    self->sizes = sizes;
    self->most = most;
  }
  self->sizes[self->n_sizes++] = size;
  self->bytes += size;
  self->n_rows = 0;
  return true;
}

bool
bigtiff_write (
    BigTiff *self, uint64_t first_row, uint64_t n_rows, const void *labels, CclError *error)
{
  const uint64_t height = self->format.height;

  if (self->n_sizes == 0 && self->n_rows == 0)
    self->first_strip =
        first_row / height * self->strips_per_page + first_row % height / self->strip_rows;
  for (uint64_t done = 0, n; done < n_rows; done += n) {
    const uint64_t row = (first_row + done) % height;
    uint64_t end = row - row % self->strip_rows + self->strip_rows;
    end = end < height ? end : height;
    n = end - row < n_rows - done ? end - row : n_rows - done;
    if (self->rows)
      memcpy (self->rows + self->n_rows * self->row_bytes,
          (const uint8_t *)labels + done * self->row_bytes, n * self->row_bytes);
    self->n_rows += n;
    if (row + n == end && !finish_strip (self, error))
      return false;
  }
  return self->rows ||
         output_file_write_together (self->file, self->data + first_row * self->row_bytes, labels,
             n_rows * self->row_bytes, error);
}

static void
put_bytes (uint8_t **to, const void *number, size_t size)
{
  memcpy (*to, number, size);
  *to += size;
}

static void
put_64 (uint8_t **to, uint64_t number)
{
  put_bytes (to, &number, sizeof number);
}

/* Appends a tag. value: its number, or the offset of its count numbers. */
static void
put_tag (uint8_t **to, uint16_t tag, TIFFDataType type, uint64_t count, uint64_t value)
{
  const uint16_t type_16 = (uint16_t)type, value_16 = (uint16_t)value;
  const uint32_t value_32 = (uint32_t)value;
  uint8_t field[8] = {0};

  put_bytes (to, &tag, sizeof tag);
  put_bytes (to, &type_16, sizeof type_16);
  put_64 (to, count);
  memcpy (field,
      type == TIFF_SHORT  ? (const void *)&value_16
      : type == TIFF_LONG ? (const void *)&value_32
                          : &value,
      type == TIFF_SHORT  ? 2
      : type == TIFF_LONG ? 4
                          : 8);
  put_bytes (to, field, sizeof field);
}

/* Where the directory of a page begins; after the last page, 0. */
static uint64_t
page_begin (const BigTiff *self, uint64_t page)
{
  return page < self->format.depth ? FILE_HEADER + page * self->page_bytes : 0;
}

/* Appends GeoTIFF's tags. */
static void
put_geo_tags (const BigTiff *self, uint8_t **to)
{
  uint64_t offset = self->geo;

  for (uint32_t i = 0; i < n_geo_tags (self); i++) {
    const GeoTag *tag = &self->format.geo->tags[i];
    uint8_t field[8] = {0};
    memcpy (field, tag->n_bytes > 8 ? (const void *)&offset : tag->values,
        tag->n_bytes > 8 ? 8 : tag->n_bytes);
    put_bytes (to, &tag->tag, sizeof tag->tag);
    put_bytes (to, &tag->type, sizeof tag->type);
    put_64 (to, tag->count);
    put_bytes (to, field, sizeof field);
    offset += geo_bytes (tag);
  }
}

/* Writes the values of GeoTIFF's tags that are not in the directories. */
static bool
write_geo (BigTiff *self, CclError *error)
{
  uint64_t offset = self->geo;

  for (uint32_t i = 0; i < n_geo_tags (self); i++) {
    const GeoTag *tag = &self->format.geo->tags[i];
    if (geo_bytes (tag) &&
        !output_file_write (self->file, offset, tag->values, tag->n_bytes, error))
      return false;
    offset += geo_bytes (tag);
  }
  return true;
}

static bool
write_file_header (BigTiff *self, CclError *error)
{
  const uint16_t order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0x4949 : 0x4d4d;
  const uint16_t numbers[4] = {order, 43, 8, 0};
  uint8_t header[FILE_HEADER], *to = header;

  put_bytes (&to, numbers, sizeof numbers);
  put_64 (&to, page_begin (self, 0));
  return output_file_write (self->file, 0, header, sizeof header, error) && write_geo (self, error);
}

/* Writes a page's directory without its arrays. offset, size: of its first strip. */
static bool
write_page_head (BigTiff *self, uint64_t page, uint64_t offset, uint64_t size, CclError *error)
{
  const uint64_t begin = page_begin (self, page), n = self->strips_per_page;
  const uint64_t arrays = begin + self->page_head;
  uint8_t head[8 + (N_TAGS + MOST_GEO_TAGS) * TAG_BYTES + 8], *to = head;

  put_64 (&to, N_TAGS + n_geo_tags (self));
  put_tag (&to, TIFFTAG_IMAGEWIDTH, TIFF_LONG, 1, self->format.width);
  put_tag (&to, TIFFTAG_IMAGELENGTH, TIFF_LONG, 1, self->format.height);
  put_tag (&to, TIFFTAG_BITSPERSAMPLE, TIFF_SHORT, 1, 8 * self->label_bytes);
  put_tag (&to, TIFFTAG_COMPRESSION, TIFF_SHORT, 1, self->scheme);
  put_tag (&to, TIFFTAG_PHOTOMETRIC, TIFF_SHORT, 1, PHOTOMETRIC_MINISBLACK);
  put_tag (&to, TIFFTAG_STRIPOFFSETS, TIFF_LONG8, n, n > 1 ? arrays : offset);
  put_tag (&to, TIFFTAG_SAMPLESPERPIXEL, TIFF_SHORT, 1, 1);
  put_tag (&to, TIFFTAG_ROWSPERSTRIP, TIFF_LONG, 1, self->strip_rows);
  put_tag (&to, TIFFTAG_STRIPBYTECOUNTS, TIFF_LONG8, n, n > 1 ? arrays + 8 * n : size);
  put_tag (&to, TIFFTAG_PLANARCONFIG, TIFF_SHORT, 1, PLANARCONFIG_CONTIG);
  put_tag (&to, TIFFTAG_SAMPLEFORMAT, TIFF_SHORT, 1, SAMPLEFORMAT_UINT);
  put_geo_tags (self, &to);
  put_64 (&to, page_begin (self, page + 1));
  return output_file_write (self->file, begin, head, self->page_head, error);
}

/* Writes the entries of this rank's strips in the directories. offsets: of these strips. */
static bool
write_entries (BigTiff *self, const uint64_t *offsets, CclError *error)
{
  const uint64_t per_page = self->strips_per_page;

  for (uint64_t done = 0, n; done < self->n_sizes; done += n) {
    const uint64_t page = (self->first_strip + done) / per_page;
    const uint64_t strip = (self->first_strip + done) % per_page;
    const uint64_t arrays = page_begin (self, page) + self->page_head;
    n = per_page - strip < self->n_sizes - done ? per_page - strip : self->n_sizes - done;
    if (strip == 0 && !write_page_head (self, page, offsets[done], self->sizes[done], error))
      return false;
    if (per_page > 1 &&
        (!output_file_write (self->file, arrays + 8 * strip, offsets + done, 8 * n, error) ||
            !output_file_write (
                self->file, arrays + 8 * (per_page + strip), self->sizes + done, 8 * n, error)))
      return false;
  }
  return true;
}

/* Where this rank's first strip goes. Collective if the strips are compressed. */
static uint64_t
own_begin (const BigTiff *self)
{
  const uint64_t page = self->first_strip / self->strips_per_page;
  const uint64_t row = self->first_strip % self->strips_per_page * self->strip_rows;

  if (self->scheme != COMPRESSION_NONE)
    return self->data + processes_sum_before (self->bytes);
  return self->data + (page * self->format.height + row) * self->row_bytes;
}

bool
bigtiff_finish (BigTiff *self, bool failed, CclError *error)
{
  uint64_t *offsets = malloc ((self->n_sizes + 1) * sizeof *offsets);
  const uint64_t begin = own_begin (self);
  bool succeeded = !failed;

  if (succeeded && !offsets)
    succeeded = fail (error, "%s: not enough memory for strips", self->path);
  if (succeeded) {
    offsets[0] = begin;
    for (uint64_t i = 0; i < self->n_sizes; i++)
      offsets[i + 1] = offsets[i] + self->sizes[i];
    succeeded = (!self->own_part || own_part_copy (self->own_part, self->file, begin, error)) &&
                (self->format.processes.rank != 0 || write_file_header (self, error)) &&
                write_entries (self, offsets, error);
  }
  free (offsets);
  return succeeded;
}

void
bigtiff_free (BigTiff *self)
{
  if (!self)
    return;
  if (self->own_part)
    fclose (self->own_part);
  free (self->path);
  free (self->sizes);
  free (self->rows);
  free (self->packed.bytes);
  free (self);
}
