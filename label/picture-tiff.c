/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TIFF and BigTIFF: strips, tiles, and files of several pages, which are the slices of a volume. */
#include "picture.h"

#include "error.h"
#include "tiff.h"

#include <stdlib.h>
#include <string.h>

/* The most bytes of a row of tiles, which is decoded at once. */
#define MOST_TILE_ROW_BYTES ((uint64_t)2 << 30)

/* What all pages of a file must have in common. */
typedef struct Page {
  uint32_t width, height;
  uint16_t bits, format, samples, photometric;
} Page;

typedef struct Tiff {
  Picture picture;
  char *path;
  TIFF *tiff;
  TiffMessage message;
  Page page;
  uint64_t open_page;
  uint64_t next_row; /* of strips, in the page */
  uint32_t rows_per_strip;
  uint8_t *packed;                  /* a row of 1 bit per pixel */
  uint8_t *tiles;                   /* a row of tiles, decoded */
  uint64_t tiles_row;               /* the first row of it in the picture; UINT64_MAX: none */
  uint32_t tile_width, tile_height; /* 0: strips */
} Tiff;

static Page
read_page (TIFF *tiff)
{
  Page page = {0};
  TIFFGetField (tiff, TIFFTAG_IMAGEWIDTH, &page.width);
  TIFFGetField (tiff, TIFFTAG_IMAGELENGTH, &page.height);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_BITSPERSAMPLE, &page.bits);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_SAMPLEFORMAT, &page.format);
  TIFFGetFieldDefaulted (tiff, TIFFTAG_SAMPLESPERPIXEL, &page.samples);
  if (!TIFFGetField (tiff, TIFFTAG_PHOTOMETRIC, &page.photometric))
    page.photometric = PHOTOMETRIC_MINISBLACK;
  return page;
}

static bool
find_type (const Page *page, SampleType *type)
{
  static const struct {
    uint16_t format, bits;
    SampleType type;
  } types[] = {
      {SAMPLEFORMAT_UINT, 1, SAMPLE_UINT8},
      {SAMPLEFORMAT_UINT, 8, SAMPLE_UINT8},
      {SAMPLEFORMAT_UINT, 16, SAMPLE_UINT16},
      {SAMPLEFORMAT_UINT, 32, SAMPLE_UINT32},
      {SAMPLEFORMAT_UINT, 64, SAMPLE_UINT64},
      {SAMPLEFORMAT_INT, 8, SAMPLE_INT8},
      {SAMPLEFORMAT_INT, 16, SAMPLE_INT16},
      {SAMPLEFORMAT_INT, 32, SAMPLE_INT32},
      {SAMPLEFORMAT_INT, 64, SAMPLE_INT64},
      {SAMPLEFORMAT_IEEEFP, 32, SAMPLE_FLOAT32},
      {SAMPLEFORMAT_IEEEFP, 64, SAMPLE_FLOAT64},
  };
  const uint16_t format = page->format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : page->format;

  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (types[i].format == format && types[i].bits == page->bits) {
      *type = types[i].type;
      return true;
    }
  }
  return false;
}

/* Notes the strips of the current page, of which no row has been read. */
static void
find_strips (Tiff *self)
{
  self->rows_per_strip = 0;
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_ROWSPERSTRIP, &self->rows_per_strip);
  if (self->rows_per_strip == 0)
    self->rows_per_strip = UINT32_MAX;
  self->next_row = 0;
}

/* Makes a page the current one and its first row the next. */
static bool
open_page (Tiff *self, uint64_t page, CclError *error)
{
  self->message.text[0] = '\0';
  if (page == self->open_page + 1 ? !TIFFReadDirectory (self->tiff)
                                  : !TIFFSetDirectory (self->tiff, (tdir_t)page))
    return tiff_fail (error, self->path, &self->message);
  const Page found = read_page (self->tiff);
  if (memcmp (&found, &self->page, sizeof found) != 0)
    return fail (error, "%s: page %llu has another size or kind of pixels than the first one",
        self->path, (unsigned long long)page + 1);
  uint32_t tile_width = 0, tile_height = 0;
  if (TIFFIsTiled (self->tiff)) {
    TIFFGetField (self->tiff, TIFFTAG_TILEWIDTH, &tile_width);
    TIFFGetField (self->tiff, TIFFTAG_TILELENGTH, &tile_height);
  }
  if (tile_width != self->tile_width || tile_height != self->tile_height)
    return fail (error, "%s: page %llu has other tiles than the first one", self->path,
        (unsigned long long)page + 1);
  self->open_page = page;
  find_strips (self);
  return true;
}

/* Turns bits to bytes, and white that is zero to white that is the greatest value. */
static void
finish_row (const Tiff *self, const uint8_t *packed, void *samples)
{
  const uint64_t width = self->picture.width;
  uint8_t *bytes = samples;

  if (self->page.bits == 1)
    for (uint64_t x = 0; x < width; x++)
      bytes[x] = packed[x / 8] >> (7 - x % 8) & 1 ? 255 : 0;
  if (self->page.photometric == PHOTOMETRIC_MINISWHITE)
    for (uint64_t i = 0; i < width * sample_bytes (self->picture.type); i++)
      bytes[i] = (uint8_t)~bytes[i];
}

/* Reads a row of strips. Compressed strips can only be decoded from their beginning, so the rows of
 * the strip before this one are read, too, unless the last call has left off there. */
static bool
read_strip_row (Tiff *self, uint64_t row, void *samples, CclError *error)
{
  const uint64_t strip = row - row % self->rows_per_strip;
  void *to = self->page.bits == 1 ? self->packed : samples;

  self->message.text[0] = '\0';
  if (row < self->next_row || strip > self->next_row)
    self->next_row = strip;
  for (; self->next_row <= row; self->next_row++)
    if (TIFFReadScanline (self->tiff, to, (uint32_t)self->next_row, 0) != 1)
      return tiff_fail (error, self->path, &self->message);
  finish_row (self, self->packed, samples);
  return true;
}

/* Decodes the row of tiles that has a row of the page. */
static bool
read_tiles (Tiff *self, uint64_t row, CclError *error)
{
  const uint64_t first = row - row % self->tile_height;
  const uint64_t size = (uint64_t)TIFFTileSize64 (self->tiff);

  self->tiles_row = UINT64_MAX;
  self->message.text[0] = '\0';
  for (uint64_t x = 0, i = 0; x < self->picture.width; x += self->tile_width, i++)
    if (TIFFReadTile (self->tiff, self->tiles + i * size, (uint32_t)x, (uint32_t)first, 0, 0) < 0)
      return tiff_fail (error, self->path, &self->message);
  self->tiles_row = self->open_page * self->picture.height + first;
  return true;
}

static bool
read_tile_row (Tiff *self, uint64_t row, void *samples, CclError *error)
{
  const uint64_t first = row - row % self->tile_height;
  const uint64_t size = (uint64_t)TIFFTileSize64 (self->tiff);
  const uint64_t row_bytes = (uint64_t)TIFFTileRowSize64 (self->tiff);
  const uint32_t bytes = sample_bytes (self->picture.type);

  if (self->tiles_row != self->open_page * self->picture.height + first &&
      !read_tiles (self, row, error))
    return false;
  for (uint64_t x = 0, i = 0; x < self->picture.width; x += self->tile_width, i++) {
    const uint8_t *from = self->tiles + i * size + (row - first) * row_bytes;
    const uint64_t left = self->picture.width - x;
    const uint64_t n = left < self->tile_width ? left : self->tile_width;
    if (self->page.bits == 1)
      memcpy (self->packed + x / 8, from, (n + 7) / 8);
    else
      memcpy ((char *)samples + x * bytes, from, n * bytes);
  }
  finish_row (self, self->packed, samples);
  return true;
}

static bool
tiff_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Tiff *self = (Tiff *)picture;
  const uint64_t row_bytes = picture->width * sample_bytes (picture->type);

  for (uint64_t i = 0; i < n_rows; i++) {
    const uint64_t page = (first_row + i) / picture->height;
    const uint64_t row = (first_row + i) % picture->height;
    if (page != self->open_page && !open_page (self, page, error))
      return false;
    if (!(self->tile_width ? read_tile_row : read_strip_row) (
            self, row, (char *)samples + i * row_bytes, error))
      return false;
  }
  return true;
}

static void
tiff_free (Picture *picture)
{
  Tiff *self = (Tiff *)picture;
  if (self->tiff)
    TIFFClose (self->tiff);
  free (self->packed);
  free (self->tiles);
  free (self->path);
  free (self);
}

static const PictureClass tiff_class = {tiff_read, tiff_free};

/* Checks the tags of the first page. */
static bool
check_page (Tiff *self, CclError *error)
{
  const Page *page = &self->page;
  uint16_t compression = COMPRESSION_NONE;

  if (page->samples != 1 ||
      (page->photometric != PHOTOMETRIC_MINISBLACK && page->photometric != PHOTOMETRIC_MINISWHITE &&
          page->photometric != PHOTOMETRIC_MASK))
    return fail (error, "%s: the pixels have colours; only grey ones can be read", self->path);
  if (!find_type (page, &self->picture.type))
    return fail (error, "%s: samples of %u bits in format %u cannot be read", self->path,
        page->bits, page->format);
  if (page->photometric == PHOTOMETRIC_MINISWHITE && page->format != SAMPLEFORMAT_UINT)
    return fail (error, "%s: white is zero in samples with a sign", self->path);
  TIFFGetFieldDefaulted (self->tiff, TIFFTAG_COMPRESSION, &compression);
  if (!TIFFIsCODECConfigured (compression))
    return fail (error, "%s: compression %u is not known", self->path, compression);
  return true;
}

static bool
allocate (Tiff *self, CclError *error)
{
  self->packed = malloc (self->picture.width / 8 + 64);
  if (self->tile_width) {
    const uint64_t n_tiles = (self->picture.width + self->tile_width - 1) / self->tile_width;
    const uint64_t size = (uint64_t)TIFFTileSize64 (self->tiff);
    if (self->tile_height == 0 || size == 0 || size > MOST_TILE_ROW_BYTES / n_tiles)
      return fail (error, "%s: a row of tiles is larger than %llu bytes", self->path,
          (unsigned long long)MOST_TILE_ROW_BYTES);
    self->tiles = malloc (n_tiles * size);
    self->tiles_row = UINT64_MAX;
  } else if ((uint64_t)TIFFScanlineSize64 (self->tiff) >
             self->picture.width * sample_bytes (self->picture.type)) {
    return fail (error, "%s: damaged TIFF", self->path);
  }
  if (!self->packed || (self->tile_width && !self->tiles))
    return fail (error, "%s: not enough memory for a row of tiles", self->path);
  return true;
}

static bool
open_tiff (Tiff *self, CclError *error)
{
  TIFFOpenOptions *options = tiff_options_new (&self->message);

  self->tiff = TIFFOpenExt (self->path, "rm", options); /* m: read, do not map */
  TIFFOpenOptionsFree (options);
  if (!self->tiff)
    return tiff_fail (error, self->path, &self->message);
  self->page = read_page (self->tiff);
  self->picture.width = self->page.width;
  self->picture.height = self->page.height;
  if (!check_page (self, error))
    return false;
  if (TIFFIsTiled (self->tiff)) {
    TIFFGetField (self->tiff, TIFFTAG_TILEWIDTH, &self->tile_width);
    TIFFGetField (self->tiff, TIFFTAG_TILELENGTH, &self->tile_height);
  }
  find_strips (self);
  /* Counting the pages reads the directories of all of them. */
  self->picture.depth = TIFFNumberOfDirectories (self->tiff);
  return picture_check (&self->picture, self->path, error) && allocate (self, error);
}

Picture *
picture_open_tiff (const char *path, CclError *error)
{
  Tiff *self = calloc (1, sizeof *self);

  self->picture.klass = &tiff_class;
  self->path = strdup (path);
  if (open_tiff (self, error))
    return &self->picture;
  tiff_free (&self->picture);
  return NULL;
}
