/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output.h"

#include "error.h"
#include "tiff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct LabelMap {
  OutputFormat format;
  char *path;
  uint32_t label_bytes;
  OutputFile *file; /* NPY and raw */
  uint64_t header;  /* bytes before the labels */
  bool is_tiff;
  TIFF *tiff;
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

/* Pixels of a layer: a row of a frame or a slice of a volume. */
static uint64_t
layer_size (const LabelMap *map)
{
  return map->format.is_volume ? map->format.width * map->format.height : map->format.width;
}

static bool
open_tiff (LabelMap *map, const char *name, CclError *error)
{
  const uint16_t scheme = find_compression (map->format.compression);

  if (map->format.processes.n_ranks > 1)
    return fail (error, "%s: several processes cannot write TIFF together; use .npy or .raw", name);
  if (!scheme || !TIFFIsCODECConfigured (scheme))
    return fail (error, "libtiff has no compression '%s'", map->format.compression);
  tiff_catch_errors ();
  map->tiff = TIFFOpen (map->path, "w8");
  return map->tiff ? true : tiff_fail (error, map->path);
}

LabelMap *
label_map_open (const char *name, const char *path, const OutputFormat *format, CclError *error)
{
  LabelMap *map = calloc (1, sizeof *map);
  bool succeeded;

  map->format = *format;
  map->path = strdup (path);
  map->is_tiff = has_suffix (name, ".tif") || has_suffix (name, ".tiff");
  map->header = has_suffix (name, ".npy") ? NPY_HEADER : 0;
  if (map->is_tiff) {
    succeeded = open_tiff (map, name, error);
  } else if (strcmp (format->compression, "none") != 0) {
    succeeded = fail (error, "%s: only TIFF can be compressed", name);
  } else if (!map->header && !has_suffix (name, ".raw")) {
    succeeded = fail (error, "%s: the name of a label map ends in .npy, .raw or .tif", name);
  } else {
    map->file = output_file_open (path, error);
    succeeded = map->file != NULL;
  }
  if (succeeded)
    return map;
  free (map->path);
  free (map);
  return NULL;
}

/* Describes the next page. */
static void
begin_page (LabelMap *map)
{
  const uint64_t row_bytes = map->format.width * map->label_bytes;
  const uint64_t rows = ((uint64_t)1 << 18) / row_bytes;

  TIFFSetField (map->tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)map->format.width);
  TIFFSetField (map->tiff, TIFFTAG_IMAGELENGTH, (uint32_t)map->format.height);
  TIFFSetField (map->tiff, TIFFTAG_BITSPERSAMPLE, 8 * map->label_bytes);
  TIFFSetField (map->tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  TIFFSetField (map->tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField (map->tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField (map->tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField (map->tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)(rows ? rows : 1));
  TIFFSetField (map->tiff, TIFFTAG_COMPRESSION, find_compression (map->format.compression));
}

bool
label_map_begin (LabelMap *map, uint32_t label_bytes, CclError *error)
{
  const OutputFormat *format = &map->format;
  char header[NPY_HEADER], shape[80];

  map->label_bytes = label_bytes;
  if (map->is_tiff || format->processes.rank != 0)
    return true;
  const uint64_t size = format->width * format->height * format->depth * label_bytes;
  if (!output_file_reserve (map->file, map->header + size, error))
    return false;
  if (!map->header)
    return true;
  if (format->is_volume)
    snprintf (shape, sizeof shape, "%llu, %llu, %llu", (unsigned long long)format->depth,
        (unsigned long long)format->height, (unsigned long long)format->width);
  else
    snprintf (shape, sizeof shape, "%llu, %llu", (unsigned long long)format->height,
        (unsigned long long)format->width);
  npy_header (header, label_bytes == 8 ? "'@u8'" : "'@u4'", shape);
  return output_file_write (map->file, 0, header, NPY_HEADER, error);
}

static bool
write_tiff (LabelMap *map, uint64_t first_row, uint64_t n_rows, const void *labels, CclError *error)
{
  const uint64_t row_bytes = map->format.width * map->label_bytes;

  for (uint64_t i = 0; i < n_rows; i++) {
    const uint64_t row = (first_row + i) % map->format.height;
    if (row == 0)
      begin_page (map);
    if (TIFFWriteScanline (map->tiff, (char *)labels + i * row_bytes, (uint32_t)row, 0) != 1)
      return tiff_fail (error, map->path);
    if (row + 1 == map->format.height && !TIFFWriteDirectory (map->tiff))
      return tiff_fail (error, map->path);
  }
  return true;
}

bool
label_map_write (
    LabelMap *map, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  const uint64_t layer_bytes = layer_size (map) * map->label_bytes;
  const uint64_t rows = map->format.is_volume ? map->format.height : 1;

  if (map->is_tiff)
    return write_tiff (map, first_layer * rows, n_layers * rows, labels, error);
  return output_file_write_together (
      map->file, map->header + first_layer * layer_bytes, labels, n_layers * layer_bytes, error);
}

bool
label_map_close (LabelMap *map, bool failed, CclError *error)
{
  bool succeeded;

  if (!map)
    return true;
  if (map->is_tiff) {
    if (!failed && fsync (TIFFFileno (map->tiff)) != 0)
      failed = !fail (error, "%s: %s", map->path, strerror (errno));
    TIFFClose (map->tiff);
    succeeded = !failed;
  } else {
    succeeded = output_file_close (map->file, failed, error);
  }
  free (map->path);
  free (map);
  return succeeded;
}
