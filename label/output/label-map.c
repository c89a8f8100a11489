/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "output.h"

#include "error.h"
#include "bigtiff.h"

#include <stdlib.h>
#include <string.h>

struct LabelMap {
  OutputFormat format;
  OutputFile *file;
  uint32_t label_bytes;
  uint64_t header; /* bytes before the labels of NPY and raw */
  BigTiff *tiff;   /* NULL: another format */
};

/* Rows of a layer. */
static uint64_t
layer_rows (const LabelMap *map)
{
  return map->format.is_volume ? map->format.height : 1;
}

/* Prepares for the format of the name's suffix. */
static bool
find_format (LabelMap *map, const char *name, const char *path, CclError *error)
{
  const bool is_compressed = strcmp (map->format.compression, "none") != 0;

  if (has_suffix (name, ".tif") || has_suffix (name, ".tiff")) {
    map->tiff = bigtiff_new (&map->format, path, error);
    return map->tiff != NULL;
  }
  if (is_compressed)
    return fail (error, "%s: only TIFF can be compressed", name);
  map->header = has_suffix (name, ".npy") ? NPY_HEADER : 0;
  return map->header || has_suffix (name, ".raw") ||
         fail (error, "%s: the name of a label map ends in .npy, .raw or .tif", name);
}

LabelMap *
label_map_open (const char *name, const char *path, const OutputFormat *format, CclError *error)
{
  LabelMap *map = calloc (1, sizeof *map);
  bool succeeded = map || fail_without_memory (error);

  if (succeeded) {
    map->format = *format;
    succeeded = find_format (map, name, path, error);
  }
  if (processes_agree (succeeded, error)) {
    map->file = output_file_open (path, error);
    if (map->file)
      return map;
  }
  if (map)
    bigtiff_free (map->tiff);
  free (map);
  return NULL;
}

uint64_t
label_map_unit (const LabelMap *map)
{
  return map->tiff && !map->format.is_volume ? bigtiff_strip_rows (&map->format) : 1;
}

bool
label_map_begin (LabelMap *map, uint32_t label_bytes, CclError *error)
{
  const OutputFormat *format = &map->format;
  char header[NPY_HEADER], shape[80];

  map->label_bytes = label_bytes;
  if (map->tiff)
    return bigtiff_begin (map->tiff, map->file, label_bytes, error);
  if (format->processes.rank != 0)
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
  npy_header (header, NPY_HEADER, label_bytes == 8 ? "'@u8'" : "'@u4'", shape);
  return output_file_write (map->file, 0, header, NPY_HEADER, error);
}

bool
label_map_write (
    LabelMap *map, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  const uint64_t first_row = first_layer * layer_rows (map), n_rows = n_layers * layer_rows (map);
  const uint64_t row_bytes = map->format.width * map->label_bytes;

  if (map->tiff)
    return bigtiff_write (map->tiff, first_row, n_rows, labels, error);
  return output_file_write_together (
      map->file, map->header + first_row * row_bytes, labels, n_rows * row_bytes, error);
}

bool
label_map_close (LabelMap *map, bool failed, CclError *error)
{
  if (!map)
    return true;
  if (map->tiff)
    failed = !bigtiff_finish (map->tiff, failed, error);
  const bool succeeded = output_file_close (map->file, failed, error) && !failed;
  bigtiff_free (map->tiff);
  free (map);
  return succeeded;
}
