/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TIFF and BigTIFF: strips, tiles, and files of several pages, which are the slices of a volume. */
#include "pictures/error.h"
#include "core/base/divide-up.h"
#include "pictures/flat.h"
#include "geo-tiff.h"
#include "tiff-message.h"
#include "tiff-stack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of blocks that are decoded at once. */
#define MOST_BLOCK_BYTES ((uint64_t)2 << 30)

#define NO_PAGE UINT64_MAX

/* Tags of stacks that other programs put into one directory, or among pictures of other kinds. */
enum { TAG_STK_PLANES = 33629, TAG_LSM = 34412 };

/* What all pages of a file must have in common. */
typedef struct Page {
  uint32_t width, height;
  uint32_t tile_width, tile_height; /* 0: strips */
  uint16_t bits, format, samples, photometric, compression, orientation;
  bool has_planes; /* the samples of each channel are stored together */
} Page;

typedef struct Tiff {
  Picture picture;
  PictureFile *file;
  uint64_t at; /* where libtiff reads next */
  TIFF *tiff;
  TiffMessage message;
  Page page;
  uint32_t *directories; /* [n_pages]: where the pages are; others are reduced pictures and masks */
  uint64_t n_pages;
  uint64_t open_page; /* NO_PAGE: none, after a failure */

  /* Strips whose pixels are stored together are decoded row by row. */
  uint64_t next_row; /* in the page */
  uint32_t rows_per_strip;
  uint64_t stored_bytes;
  uint8_t *row; /* of stored_bytes, as it is stored; NULL before the first read */

  /* Of other files, all blocks, tiles or strips of planes, that have a row are decoded. */
  bool has_blocks;
  uint32_t block_width, block_height;
  uint64_t n_blocks, block_bytes;
  uint8_t *blocks;     /* [n_blocks][block_bytes]: a row of blocks for each plane */
  uint64_t blocks_row; /* the first row of them, counted through all pages; UINT64_MAX: none */

  GeoReference geo;
  const uint16_t *palette[3]; /* NULL: none */
  uint32_t palette_shift;     /* of its numbers, which makes bytes of them */
} Tiff;

static bool
read_page (TIFF *tiff, Page *page)
{
  uint16_t planes = PLANARCONFIG_CONTIG;

  *page = (Page){0};
  TIFFGetField (tiff, TIFFTAG_IMAGEWIDTH, &page->width);
  TIFFGetField (tiff, TIFFTAG_IMAGELENGTH, &page->height);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_BITSPERSAMPLE, &page->bits);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_SAMPLEFORMAT, &page->format);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_SAMPLESPERPIXEL, &page->samples);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_COMPRESSION, &page->compression);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_PLANARCONFIG, &planes);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_ORIENTATION, &page->orientation);
  if (!TIFFGetField (tiff, TIFFTAG_PHOTOMETRIC, &page->photometric))
    page->photometric = PHOTOMETRIC_MINISBLACK;
  if (page->format == SAMPLEFORMAT_VOID)
    page->format = SAMPLEFORMAT_UINT;
  page->has_planes = planes == PLANARCONFIG_SEPARATE && page->samples > 1;
  if (TIFFIsTiled (tiff)) {
    TIFFGetField (tiff, TIFFTAG_TILEWIDTH, &page->tile_width);
    TIFFGetField (tiff, TIFFTAG_TILELENGTH, &page->tile_height);
    return page->tile_width > 0 && page->tile_height > 0;
  }
  return true;
}

static bool
is_same (const Page *a, const Page *b)
{
  return a->width == b->width && a->height == b->height && a->tile_width == b->tile_width &&
         a->tile_height == b->tile_height && a->bits == b->bits && a->format == b->format &&
         a->samples == b->samples && a->photometric == b->photometric &&
         a->compression == b->compression && a->orientation == b->orientation &&
         a->has_planes == b->has_planes;
}

static bool
find_type (const Page *page, SampleType *type)
{
  static const struct {
    uint16_t format, bits;
    SampleType type;
  } types[] = {
      {SAMPLEFORMAT_UINT, 1, SAMPLE_UINT8},
      {SAMPLEFORMAT_UINT, 2, SAMPLE_UINT8},
      {SAMPLEFORMAT_UINT, 4, SAMPLE_UINT8},
      {SAMPLEFORMAT_UINT, 8, SAMPLE_UINT8},
      {SAMPLEFORMAT_UINT, 10, SAMPLE_UINT16},
      {SAMPLEFORMAT_UINT, 12, SAMPLE_UINT16},
      {SAMPLEFORMAT_UINT, 14, SAMPLE_UINT16},
      {SAMPLEFORMAT_UINT, 16, SAMPLE_UINT16},
      {SAMPLEFORMAT_UINT, 24, SAMPLE_UINT32},
      {SAMPLEFORMAT_UINT, 32, SAMPLE_UINT32},
      {SAMPLEFORMAT_UINT, 64, SAMPLE_UINT64},
      {SAMPLEFORMAT_INT, 8, SAMPLE_INT8},
      {SAMPLEFORMAT_INT, 16, SAMPLE_INT16},
      {SAMPLEFORMAT_INT, 32, SAMPLE_INT32},
      {SAMPLEFORMAT_INT, 64, SAMPLE_INT64},
      {SAMPLEFORMAT_IEEEFP, 16, SAMPLE_FLOAT32},
      {SAMPLEFORMAT_IEEEFP, 32, SAMPLE_FLOAT32},
      {SAMPLEFORMAT_IEEEFP, 64, SAMPLE_FLOAT64},
  };

  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (types[i].format == page->format && types[i].bits == page->bits) {
      *type = types[i].type;
      return true;
    }
  }
  return false;
}

/* The numbers of a palette have 16 bits; some programs write 8. */
static bool
find_palette (Tiff *self)
{
  if (!TIFFGetField (
          self->tiff, TIFFTAG_COLORMAP, &self->palette[0], &self->palette[1], &self->palette[2]))
    return false;
  self->palette_shift = 0;
  for (uint32_t channel = 0; channel < 3; channel++)
    for (uint32_t i = 0; i < 1u << self->page.bits; i++)
      if (self->palette[channel][i] > 255)
        self->palette_shift = 8;
  return true;
}

/* Prepares to read the current page, of which no row has been read. */
static bool
begin_page (Tiff *self, CclError *error)
{
  self->rows_per_strip = 0;
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_ROWSPERSTRIP, &self->rows_per_strip);
  if (self->rows_per_strip == 0) /* libtiff would divide by it */
    return fail (error, "%s: damaged TIFF: strips without rows", self->file->name);
  if (self->rows_per_strip > self->page.height)
    self->rows_per_strip = self->page.height;
  self->next_row = 0;
  /* libtiff gives YCbCr of JPEG as RGB, for the page alone that is the current one. */
  if (self->page.photometric == PHOTOMETRIC_YCBCR)
    TIFFSetField (self->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  return self->page.photometric != PHOTOMETRIC_PALETTE || self->file->as_values ||
         find_palette (self) || fail (error, "%s: damaged TIFF: no palette", self->file->name);
}

/* Makes a page the current one and its first row the next. */
static bool
open_page (Tiff *self, uint64_t page, CclError *error)
{
  const uint64_t former = self->open_page;
  const bool is_next =
      former != NO_PAGE && self->directories[page] == self->directories[former] + 1;
  Page found;

  self->message.text[0] = '\0';
  self->open_page = NO_PAGE; /* libtiff keeps a half of a page that it cannot read */
  if (is_next ? !TIFFReadDirectory (self->tiff)
              : !TIFFSetDirectory (self->tiff, (tdir_t)self->directories[page]))
    return tiff_fail (error, self->file->name, &self->message);
  if (!read_page (self->tiff, &found) || !is_same (&found, &self->page))
    return fail (error,
        "%s: page %llu has another size, layout or kind of pixels than the first one",
        self->file->name, (unsigned long long)page + 1);
  if (!begin_page (self, error))
    return false;
  self->open_page = page;
  return true;
}

/* Reads a row of strips as it is stored. Compressed strips can only be decoded from their
 * beginning, so the rows of the strip before this one are read, too, unless the last call has left
 * off there. */
static bool
read_strip_row (Tiff *self, uint64_t row, CclError *error)
{
  const uint64_t strip = row - row % self->rows_per_strip;

  self->message.text[0] = '\0';
  if (row < self->next_row || strip > self->next_row)
    self->next_row = strip;
  for (; self->next_row <= row; self->next_row++)
    if (TIFFReadScanline (self->tiff, self->row, (uint32_t)self->next_row, 0) != 1)
      return tiff_fail (error, self->file->name, &self->message);
  return true;
}

static uint64_t
blocks_per_row (const Tiff *self)
{
  return divide_up (self->page.width, self->block_width);
}

/* Decodes a block of the row of blocks that begins with a row of the page. */
static bool
read_block (Tiff *self, uint32_t x, uint32_t first, uint16_t channel, uint8_t *to)
{
  if (self->page.tile_width)
    return TIFFReadTile (self->tiff, to, x, first, 0, channel) >= 0;
  return TIFFReadEncodedStrip (self->tiff, TIFFComputeStrip (self->tiff, first, channel), to,
             (tmsize_t)self->block_bytes) >= 0;
}

/* Decodes the blocks that have a row of the page. */
static bool
read_blocks (Tiff *self, uint64_t row, CclError *error)
{
  const uint64_t first = row - row % self->block_height, n_per_row = blocks_per_row (self);
  const uint64_t begin = self->open_page * self->picture.height + first;
  const uint16_t n_planes = self->page.has_planes ? self->page.samples : 1;

  if (self->blocks_row == begin)
    return true;
  self->blocks_row = UINT64_MAX;
  self->message.text[0] = '\0';
  for (uint16_t channel = 0; channel < n_planes; channel++)
    for (uint64_t i = 0; i < n_per_row; i++)
      if (!read_block (self, (uint32_t)(i * self->block_width), (uint32_t)first, channel,
              self->blocks + (channel * n_per_row + i) * self->block_bytes))
        return tiff_fail (error, self->file->name, &self->message);
  self->blocks_row = begin;
  return true;
}

/* Bits of a pixel, or of a sample of a plane. */
static uint64_t
element_bits (const Tiff *self)
{
  return (uint64_t)self->page.bits * (self->page.has_planes ? 1 : self->page.samples);
}

/* Puts a row of a plane, or of all channels, together from the decoded blocks. */
static void
join_blocks (const Tiff *self, uint64_t row, uint16_t plane, uint8_t *to)
{
  const uint64_t n_per_row = blocks_per_row (self), bits = element_bits (self);
  const uint64_t row_bytes = divide_up (self->block_width * bits, 8);
  const uint64_t within = row % self->block_height;

  for (uint64_t i = 0; i < n_per_row; i++) {
    const uint64_t x = i * self->block_width, left = self->page.width - x;
    const uint64_t n = left < self->block_width ? left : self->block_width;
    memcpy (to + x * bits / 8,
        self->blocks + (plane * n_per_row + i) * self->block_bytes + within * row_bytes,
        divide_up (n * bits, 8));
  }
}

/* Reads a row as it is stored; the samples of planes one plane after the other. */
static bool
read_stored_row (Tiff *self, uint64_t row, CclError *error)
{
  if (!self->has_blocks)
    return read_strip_row (self, row, error);
  if (!read_blocks (self, row, error))
    return false;
  const uint64_t plane_bytes = self->page.width * (uint64_t)self->page.bits / 8;
  const uint16_t n_planes = self->page.has_planes ? self->page.samples : 1;
  for (uint16_t plane = 0; plane < n_planes; plane++)
    join_blocks (self, row, plane, self->row + plane * plane_bytes);
  return true;
}

/* Turns samples of 1, 2 or 4 bits to bytes: the greatest value becomes 255, unless they are indices
 * of a palette. */
static void
unpack (const Tiff *self, uint8_t *samples)
{
  const uint32_t bits = self->page.bits, greatest = (1u << bits) - 1;
  const uint32_t factor = self->page.photometric == PHOTOMETRIC_PALETTE ? 1 : 255 / greatest;

  for (uint64_t x = 0; x < self->page.width; x++)
    samples[x] =
        (uint8_t)(factor * (self->row[x * bits / 8] >> (8 - bits - x * bits % 8) & greatest));
}

/* Widens samples of 10, 12 or 14 bits, which follow each other without gaps. */
static void
unpack_words (const Tiff *self, uint16_t *samples)
{
  const uint32_t bits = self->page.bits;
  const uint16_t greatest = (uint16_t)((1u << bits) - 1);
  const uint16_t white = self->page.photometric == PHOTOMETRIC_MINISWHITE ? greatest : 0;

  for (uint64_t x = 0; x < self->page.width; x++) {
    const uint8_t *at = self->row + x * bits / 8;
    const uint32_t word = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
    samples[x] = (uint16_t)((word >> (24 - bits - x * bits % 8) & greatest) ^ white);
  }
}

/* Widens samples of 24 bits, in the byte order of this machine. */
static void
widen_24 (const Tiff *self, uint32_t *samples)
{
  const uint32_t white = self->page.photometric == PHOTOMETRIC_MINISWHITE ? 0xffffff : 0;
  const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

  for (uint64_t x = 0; x < self->page.width; x++) {
    const uint8_t *at = self->row + 3 * x;
    const uint32_t low = at[is_little ? 0 : 2], high = at[is_little ? 2 : 0];
    samples[x] = (high << 16 | (uint32_t)at[1] << 8 | low) ^ white;
  }
}

/* A float of 16 bits: 1 for the sign, 5 for the exponent, 10 for the fraction. */
static float
float_of_half (uint16_t half)
{
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                     : exponent == 0 ? ldexpf ((float)fraction, -24)
                                     : ldexpf ((float)(1024 + fraction), exponent - 25);
  return half & 0x8000 ? -size : size;
}

static void
widen_halves (const Tiff *self, uint64_t n, float *samples)
{
  for (uint64_t i = 0; i < n; i++) {
    uint16_t half;
    memcpy (&half, self->row + 2 * i, sizeof half);
    samples[i] = float_of_half (half);
  }
}

/* Whether samples are stored with fewer bits than they are delivered with, other than 1, 2 and 4.
 */
static bool
is_widened (const Page *page)
{
  return page->bits == 10 || page->bits == 12 || page->bits == 14 || page->bits == 24 ||
         (page->bits == 16 && page->format == SAMPLEFORMAT_IEEEFP);
}

static void
widen (const Tiff *self, uint64_t n, void *samples)
{
  if (self->page.bits == 24)
    widen_24 (self, samples);
  else if (self->page.bits == 16)
    widen_halves (self, n, samples);
  else
    unpack_words (self, samples);
}

/* Replaces the indices in the last third of a row by colours. Each is read before its place is
 * written. */
static void
apply_palette (const Tiff *self, uint8_t *samples)
{
  const uint64_t width = self->page.width;

  for (uint64_t x = 0; x < width; x++) {
    const uint8_t index = samples[2 * width + x];
    for (uint32_t channel = 0; channel < 3; channel++)
      samples[3 * x + channel] = (uint8_t)(self->palette[channel][index] >> self->palette_shift);
  }
}

/* Makes samples of the picture's type of a row as it is stored. */
static void
convert_row (Tiff *self, uint8_t *samples)
{
  const Page *page = &self->page;
  const uint64_t width = page->width, n_channels = self->picture.n_channels;
  const uint32_t bytes = sample_bytes (self->picture.type);

  if (is_widened (page)) {
    widen (self, width * n_channels, samples);
    return;
  }
  if (self->palette[0]) {
    if (page->bits < 8)
      unpack (self, samples + 2 * width);
    else
      memcpy (samples + 2 * width, self->row, width);
    apply_palette (self, samples);
  } else if (page->bits < 8) {
    unpack (self, samples);
  } else if (page->has_planes) {
    for (uint64_t channel = 0; channel < n_channels; channel++)
      for (uint64_t x = 0; x < width; x++)
        memcpy (samples + (x * n_channels + channel) * bytes,
            self->row + (channel * width + x) * bytes, bytes);
  } else {
    memcpy (samples, self->row, width * n_channels * bytes);
  }
  if (page->photometric == PHOTOMETRIC_MINISWHITE)
    for (uint64_t i = 0; i < width * bytes; i++)
      samples[i] = (uint8_t)~samples[i];
}

/* Allocates memory for rows and blocks, at the first read. */
static bool
allocate (Tiff *self, CclError *error)
{
  if (!self->row)
    self->row = malloc (self->stored_bytes + 64);
  if (!self->blocks && self->has_blocks)
    self->blocks = calloc (self->n_blocks, self->block_bytes);
  return (self->row && (self->blocks || !self->has_blocks)) || fail_without_memory (error);
}

static bool
tiff_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Tiff *self = (Tiff *)picture;
  const uint64_t row_bytes = picture->width * picture->n_channels * sample_bytes (picture->type);

  if (!allocate (self, error))
    return false;
  for (uint64_t i = 0; i < n_rows; i++) {
    const uint64_t page = (first_row + i) / picture->height;
    const uint64_t row = (first_row + i) % picture->height;
    if (page != self->open_page && !open_page (self, page, error))
      return false;
    if (!read_stored_row (self, row, error))
      return false;
    convert_row (self, (uint8_t *)samples + i * row_bytes);
  }
  return true;
}

static void
tiff_free (Picture *picture)
{
  Tiff *self = (Tiff *)picture;
  if (self->tiff)
    TIFFClose (self->tiff);
  picture_file_close (self->file);
  geo_clear (&self->geo);
  free (self->directories);
  free (self->row);
  free (self->blocks);
  free (self);
}

static const PictureClass tiff_class = {tiff_read, tiff_free};

/* Finds out how many channels the pixels have. */
static bool
find_channels (Tiff *self, CclError *error)
{
  const Page *page = &self->page;
  Picture *picture = &self->picture;
  uint16_t n_extra = 0, *extra = NULL;
  const char *name = self->file->name;

  TIFFGetField (self->tiff, TIFFTAG_EXTRASAMPLES, &n_extra, &extra);
  const bool has_opacity = n_extra == 1 && extra[0] != EXTRASAMPLE_UNSPECIFIED;
  switch (page->photometric) {
  case PHOTOMETRIC_MINISBLACK:
  case PHOTOMETRIC_MINISWHITE:
  case PHOTOMETRIC_MASK:
    picture->n_channels = page->samples;
    if (page->samples > (has_opacity ? 2 : 1))
      return fail (error, "%s: %u samples per pixel that are no colours", name, page->samples);
    return true;
  case PHOTOMETRIC_PALETTE:
    picture->n_channels = self->file->as_values ? 1 : 3;
    return (page->samples == 1 && page->bits <= (self->file->as_values ? 16 : 8) &&
               page->format == SAMPLEFORMAT_UINT) ||
           fail (
               error, "%s: a palette with %u samples of %u bits", name, page->samples, page->bits);
  case PHOTOMETRIC_YCBCR:
    if (page->compression != COMPRESSION_JPEG)
      return fail (error, "%s: YCbCr that is not compressed as JPEG cannot be read", name);
    /* fall through */
  case PHOTOMETRIC_RGB:
    picture->n_channels = page->samples;
    if (page->samples < 3 || page->samples > 4)
      return fail (
          error, "%s: colours of %u samples per pixel cannot be read", name, page->samples);
    return true;
  default:
    return fail (error, "%s: colours of kind %u cannot be read: convert them to RGB or grey", name,
        page->photometric);
  }
}

/* Checks the tags of the first page. */
static bool
check_page (Tiff *self, CclError *error)
{
  const Page *page = &self->page;
  const char *name = self->file->name;

  if (!find_type (page, &self->picture.type))
    return fail (error, "%s: samples of %u bits in format %u cannot be read", name, page->bits,
        page->format);
  if (!find_channels (self, error))
    return false;
  if (self->picture.n_channels > 1 && page->photometric != PHOTOMETRIC_PALETTE &&
      (page->bits < 8 || (is_widened (page) && (page->bits != 16 || page->has_planes)) ||
          page->format == SAMPLEFORMAT_INT ||
          (page->format == SAMPLEFORMAT_UINT && page->bits > 16)))
    return fail (error, "%s: colours of %u bits in format %u cannot be read", name, page->bits,
        page->format);
  if (page->photometric == PHOTOMETRIC_MINISWHITE &&
      (page->format != SAMPLEFORMAT_UINT || page->samples > 1))
    return fail (error, "%s: white is zero in samples with a sign or with opacity", name);
  if (!TIFFIsCODECConfigured (page->compression))
    return fail (error, "%s: compression %u is not known", name, page->compression);
  return true;
}

/* Finds out how rows and blocks are stored. */
static bool
find_layout (Tiff *self, CclError *error)
{
  const Page *page = &self->page;
  const uint64_t pixel_bits = (uint64_t)page->bits * page->samples;

  self->stored_bytes = divide_up (page->width * pixel_bits, 8);
  self->has_blocks = page->tile_width || page->has_planes;
  if (!self->has_blocks)
    return (uint64_t)TIFFScanlineSize64 (self->tiff) <= self->stored_bytes ||
           fail (error, "%s: damaged TIFF", self->file->name);
  self->block_width = page->tile_width ? page->tile_width : page->width;
  self->block_height = page->tile_height ? page->tile_height : self->rows_per_strip;
  self->block_bytes = page->tile_width ? TIFFTileSize64 (self->tiff)
                                       : TIFFVStripSize64 (self->tiff, self->rows_per_strip);
  self->n_blocks = (page->has_planes ? page->samples : 1) * blocks_per_row (self);
  self->blocks_row = UINT64_MAX;
  if (self->block_bytes == 0 || self->block_bytes > MOST_BLOCK_BYTES / self->n_blocks)
    return fail (error, "%s: a row of tiles or strips is larger than %llu bytes", self->file->name,
        (unsigned long long)MOST_BLOCK_BYTES);
  if (blocks_per_row (self) > 1 && self->block_width * element_bits (self) % 8)
    return fail (error, "%s: tiles whose rows end within a byte", self->file->name);
  return self->block_bytes >= divide_up (self->block_width * element_bits (self), 8) *
                                  (uint64_t)self->block_height ||
         fail (error, "%s: damaged TIFF", self->file->name);
}

/* libtiff reads the file by these functions. */

static tmsize_t
on_read (thandle_t data, void *bytes, tmsize_t size)
{
  Tiff *self = data;
  const ssize_t n = picture_file_read_some (self->file, self->at, bytes, (uint64_t)size);
  if (n > 0)
    self->at += (uint64_t)n;
  return n;
}

static tmsize_t
on_write (thandle_t data, void *bytes, tmsize_t size)
{
  (void)data, (void)bytes, (void)size;
  return -1;
}

static toff_t
on_seek (thandle_t data, toff_t offset, int whence)
{
  Tiff *self = data;
  const uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? self->at : self->file->size;
  self->at = from + offset;
  return self->at;
}

static toff_t
on_size (thandle_t data)
{
  return ((Tiff *)data)->file->size;
}

static int
on_close (thandle_t data)
{
  return 0;
}

static bool
open_file (Tiff *self, CclError *error)
{
  TIFFOpenOptions *options = tiff_options_new (&self->message);

  if (!options)
    return fail_without_memory (error);
  self->tiff = TIFFClientOpenExt (self->file->name, "rm", self, on_read, on_write, on_seek,
      on_close, on_size, NULL, NULL, options); /* m: read, do not map */
  TIFFOpenOptionsFree (options);
  return self->tiff || tiff_fail (error, self->file->name, &self->message);
}

/* Whether the current directory is a smaller copy of a picture, or a mask of one. */
static bool
is_secondary (TIFF *tiff)
{
  uint32_t kind = 0;

  TIFFGetFieldDefaulted (tiff, TIFFTAG_SUBFILETYPE, &kind);
  return kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK);
}

/* Refuses pictures in directories below the current one, unless they are smaller copies. */
static bool
check_sub_directories (Tiff *self, uint32_t directory, CclError *error)
{
  uint16_t n = 0;
  const uint64_t *found = NULL;

  if (!TIFFGetField (self->tiff, TIFFTAG_SUBIFD, &n, &found) || n == 0)
    return true;
  uint64_t *offsets = malloc (n * sizeof *offsets);
  if (!offsets)
    return fail_without_memory (error);
  memcpy (offsets, found, n * sizeof *offsets);
  bool succeeded = true;
  for (uint16_t i = 0; i < n && succeeded; i++) {
    if (!TIFFSetSubDirectory (self->tiff, offsets[i]))
      succeeded = tiff_fail (error, self->file->name, &self->message);
    else if (!is_secondary (self->tiff))
      succeeded = fail (error,
          "%s: page %u has more pictures in SubIFDs: save each picture as a page or a file",
          self->file->name, directory + 1);
  }
  free (offsets);
  if (succeeded && !TIFFSetDirectory (self->tiff, (tdir_t)directory))
    return tiff_fail (error, self->file->name, &self->message);
  return succeeded;
}

/* Leaves the page that the options choose. */
static bool
choose_page (Tiff *self, CclError *error)
{
  const uint64_t page = self->file->page;

  if (page > self->n_pages)
    return fail (error, "%s: there is no page %llu of %llu", self->file->name,
        (unsigned long long)page, (unsigned long long)self->n_pages);
  self->directories[0] = self->directories[page - 1];
  self->n_pages = 1;
  return self->picture.is_page = true;
}

/* Lists the directories with pages; the first one, if all are smaller copies. */
static bool
find_pages (Tiff *self, CclError *error)
{
  const uint32_t n = (uint32_t)TIFFNumberOfDirectories (self->tiff);

  self->directories = malloc ((n + 1) * sizeof *self->directories);
  if (!self->directories)
    return fail_without_memory (error);
  for (uint32_t i = 0; i < n; i++) {
    if (i > 0 && !TIFFReadDirectory (self->tiff))
      return tiff_fail (error, self->file->name, &self->message);
    if (!is_secondary (self->tiff))
      self->directories[self->n_pages++] = i;
    if (!check_sub_directories (self, i, error))
      return false;
  }
  if (self->n_pages == 0)
    self->directories[self->n_pages++] = 0;
  if (self->file->page && self->n_pages > 1 && !choose_page (self, error))
    return false;
  return TIFFSetDirectory (self->tiff, (tdir_t)self->directories[0]) ||
         tiff_fail (error, self->file->name, &self->message);
}

/* Whether the current directory has a tag that libtiff does not know, with more than one value. */
static bool
has_tag (TIFF *tiff, uint32_t tag)
{
  const TIFFField *field = TIFFFindField (tiff, tag, TIFF_ANY);
  uint32_t n = 0;
  const void *values = NULL;

  return field && TIFFFieldPassCount (field) && TIFFGetField (tiff, tag, &n, &values) && n > 1;
}

/* Refuses volumes that other programs put into one directory. */
static bool
check_tags (const Tiff *self, CclError *error)
{
  static const char help[] = "save it with a page for each slice";
  const char *name = self->file->name;
  uint32_t depth = 1, tile_depth = 1;

  TIFFGetField (self->tiff, TIFFTAG_IMAGEDEPTH, &depth);
  TIFFGetField (self->tiff, TIFFTAG_TILEDEPTH, &tile_depth);
  if (depth > 1 || tile_depth > 1)
    return fail (error, "%s: one directory has a volume of %u slices (ImageDepth): %s", name,
        depth > 1 ? depth : tile_depth, help);
  if (has_tag (self->tiff, TAG_STK_PLANES))
    return fail (error, "%s: one directory has a stack of MetaMorph: %s", name, help);
  if (has_tag (self->tiff, TAG_LSM))
    return fail (error, "%s: a stack of Zeiss LSM: %s", name, help);
  return true;
}

/* What the planes of a stack are, if they are not all slices. */
static bool
check_axes (Tiff *self, const TiffStack *stack, CclError *error)
{
  const uint64_t n_planes = tiff_stack_planes (stack);
  const uint64_t longest = stack->n_slices * (stack->n_slices == n_planes) +
                           stack->n_channels * (stack->n_channels == n_planes) +
                           stack->n_times * (stack->n_times == n_planes) +
                           stack->n_others * (stack->n_others == n_planes);

  if (stack->n_images > 1)
    return fail (error, "%s: %llu images in one file: save one of them", self->file->name,
        (unsigned long long)stack->n_images);
  if (longest != n_planes)
    return fail (error,
        "%s: slices × channels × times × others are %llu×%llu×%llu×%llu: save one volume of them",
        self->file->name, (unsigned long long)stack->n_slices,
        (unsigned long long)stack->n_channels, (unsigned long long)stack->n_times,
        (unsigned long long)stack->n_others);
  self->picture.may_be = stack->n_channels > 1 ? "channels"
                         : stack->n_times > 1  ? "times"
                         : stack->n_others > 1 ? "pictures along another axis"
                                               : NULL;
  return true;
}

/* Finds the number of slices. joined: whether they follow each other in the only page. */
static bool
find_slices (Tiff *self, bool *joined, CclError *error)
{
  const char *description = NULL;
  TiffStack stack;

  self->picture.depth = self->n_pages;
  if (!TIFFGetField (self->tiff, TIFFTAG_IMAGEDESCRIPTION, &description) || !description ||
      !tiff_stack_read (
          description, self->page.samples, (uint64_t)self->page.width * self->page.height, &stack))
    return true;
  if ((self->file->is_slice && self->n_pages == 1) || self->picture.is_page)
    return true;
  const uint64_t n_planes = tiff_stack_planes (&stack);
  if (!self->file->page && !check_axes (self, &stack, error))
    return false;
  *joined = self->n_pages == 1 && !strstr (description, "<OME");
  if (!*joined && n_planes != self->n_pages)
    return fail (error, "%s: the description counts %llu planes, but the number of pages is %llu",
        self->file->name, (unsigned long long)n_planes, (unsigned long long)self->n_pages);
  self->picture.depth = n_planes;
  return true;
}

/* Whether all samples of the page follow each other as they are. */
static bool
is_plain (const Tiff *self)
{
  const Page *page = &self->page;
  uint16_t order = FILLORDER_MSB2LSB;
  uint64_t end = TIFFGetStrileOffset (self->tiff, 0);

  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_FILLORDER, &order);
  if (page->compression != COMPRESSION_NONE || page->tile_width || page->has_planes ||
      page->bits < 8 || is_widened (page) || page->photometric == PHOTOMETRIC_MINISWHITE ||
      page->photometric == PHOTOMETRIC_PALETTE || order != FILLORDER_MSB2LSB)
    return false;
  for (uint32_t strip = 1; strip < TIFFNumberOfStrips (self->tiff); strip++) {
    end += TIFFVStripSize64 (self->tiff, self->rows_per_strip);
    if (TIFFGetStrileOffset (self->tiff, strip) != end)
      return false;
  }
  return true;
}

/* Makes a picture of slices that follow each other behind the offset of the only page, as ImageJ
 * and tifffile write large stacks. Frees the reader of TIFF. */
static Picture *
open_joined (Tiff *self, CclError *error)
{
  Flat *flat = NULL;

  if (!is_plain (self)) {
    fail (error, "%s: one directory has a stack of %llu slices: save it with a page for each",
        self->file->name, (unsigned long long)self->picture.depth);
  } else {
    flat = flat_new (self->file, error);
    self->file = NULL;
  }
  if (flat) {
    const PictureClass *klass = flat->picture.klass;
    flat->picture = self->picture;
    flat->picture.klass = klass;
    flat->picture.geo = NULL;
    flat->offset = TIFFGetStrileOffset (self->tiff, 0);
    flat->swap = TIFFIsByteSwapped (self->tiff);
    flat->has_more = true;
  }
  tiff_free (&self->picture);
  return flat ? flat_finish (flat, true, error) : NULL;
}

static bool
start (Tiff *self, bool *joined, CclError *error)
{
  if (!open_file (self, error) || !find_pages (self, error))
    return false;
  if (!read_page (self->tiff, &self->page))
    return tiff_fail (error, self->file->name, &self->message);
  self->picture.width = self->page.width;
  self->picture.height = self->page.height;
  self->picture.orientation = self->page.orientation;
  if (!geo_read (self->tiff, &self->geo, error))
    return false;
  self->picture.geo = self->geo.n_tags ? &self->geo : NULL;
  if (!check_tags (self, error) || !check_page (self, error) || !begin_page (self, error) ||
      !find_slices (self, joined, error))
    return false;
  self->picture.is_volume = self->picture.depth > 1;
  self->picture.has_no_data = self->picture.n_channels < 3 && self->page.bits >= 8 &&
                              geo_read_no_data (self->tiff, &self->picture.no_data);
  if (self->picture.type == SAMPLE_FLOAT32) /* the text of which may have more digits */
    self->picture.no_data = (float)self->picture.no_data;
  return picture_check (&self->picture, self->file, error) && find_layout (self, error);
}

static bool
begins_like_tiff (const uint8_t *head, size_t n)
{
  static const char heads[4][5] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};

  for (size_t i = 0; i < 4; i++)
    if (n >= 4 && memcmp (head, heads[i], 4) == 0)
      return true;
  return false;
}

static Picture *
open_tiff (PictureFile *file, CclError *error)
{
  Tiff *self = picture_new (sizeof *self, file, error);

  if (!self)
    return NULL;
  self->file = file;
  self->picture.klass = &tiff_class;
  bool joined = false;
  if (start (self, &joined, error))
    return joined ? open_joined (self, error) : &self->picture;
  tiff_free (&self->picture);
  return NULL;
}

const PictureFormat picture_tiff = {"TIFF", begins_like_tiff, open_tiff};
