/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The distance transform, an axis after the other. */
#include "core/base/interruption.h"
#include "core/label/word-map.h"
#include "core/split/distance-line.h"

#include <stdlib.h>

/* Lines that are read together, because those along y and z are far apart in memory. */
enum { LINES = 16 };

/* A line in memory of its own. */
typedef struct Line {
  uint32_t *labels;
  uint64_t *squared;
} Line;

/* Memory for lines. */
typedef struct Memory {
  Line lines[LINES];
  int64_t *envelope;
  size_t longest; /* pixels */
} Memory;

static uint64_t
widened (uint32_t squared)
{
  return squared == CUDACCL_NO_DISTANCE ? LINE_NO_DISTANCE : squared;
}

static void
transform (const Memory *memory, const uint32_t *labels, uint64_t *squared, uint32_t length)
{
  DistanceLine line = {labels, squared, memory->envelope, memory->envelope + memory->longest + 2};
  distance_line_transform (&line, length);
}

/* Up to LINES lines along y or z whose first pixels lie side by side in x. */
typedef struct Lines {
  const CclVolumeLabels *labels, *squared;
  uint32_t x, y, z;   /* the first pixel of the first line */
  bool is_along_y;    /* otherwise along z */
  uint32_t n, length; /* lines, pixels of a line */
} Lines;

static void
transform_lines (const Lines *lines, const Memory *memory)
{
  for (uint32_t k = 0; k < lines->length; k++) {
    const uint32_t y = lines->y + (lines->is_along_y ? k : 0);
    const uint32_t z = lines->z + (lines->is_along_y ? 0 : k);
    const uint32_t *labels = map_row (lines->labels, y, z) + lines->x;
    const uint32_t *squared = map_row (lines->squared, y, z) + lines->x;
    for (uint32_t i = 0; i < lines->n; i++) {
      memory->lines[i].labels[k] = labels[i];
      memory->lines[i].squared[k] = widened (squared[i]);
    }
  }
  for (uint32_t i = 0; i < lines->n; i++)
    transform (memory, memory->lines[i].labels, memory->lines[i].squared, lines->length);
  for (uint32_t k = 0; k < lines->length; k++) {
    const uint32_t y = lines->y + (lines->is_along_y ? k : 0);
    const uint32_t z = lines->z + (lines->is_along_y ? 0 : k);
    uint32_t *squared = map_row (lines->squared, y, z) + lines->x;
    for (uint32_t i = 0; i < lines->n; i++)
      squared[i] = (uint32_t)memory->lines[i].squared[k]; /* also of no distance */
  }
}

/* Transforms the lines along y or z. */
static void
transform_axis (const CclVolumeLabels *labels, const CclVolumeLabels *squared, const MapSize *size,
    bool is_along_y, const Memory *memory)
{
  const uint32_t n_rows = is_along_y ? size->depth : size->height;

  for (uint32_t row = 0; row < n_rows; row++)
    for (uint32_t x = 0; x < size->width; x += LINES) {
      const Lines lines = {.labels = labels,
          .squared = squared,
          .x = x,
          .y = is_along_y ? 0 : row,
          .z = is_along_y ? row : 0,
          .is_along_y = is_along_y,
          .n = size->width - x < LINES ? size->width - x : LINES,
          .length = is_along_y ? size->height : size->depth};
      if (ccl_is_interrupted ((uint64_t)lines.n * lines.length))
        return;
      transform_lines (&lines, memory);
    }
}

/* Transforms the rows. */
static void
transform_rows (const CclVolumeLabels *labels, const CclVolumeLabels *squared, const MapSize *size,
    const Memory *memory)
{
  uint64_t *const found = memory->lines[0].squared;

  for (uint32_t z = 0; z < size->depth; z++)
    for (uint32_t y = 0; y < size->height; y++) {
      const uint32_t *row = map_row (labels, y, z);
      uint32_t *to = map_row (squared, y, z);
      if (ccl_is_interrupted (size->width))
        return;
      for (uint32_t x = 0; x < size->width; x++)
        found[x] = row[x] ? LINE_NO_DISTANCE : 0;
      transform (memory, row, found, size->width);
      for (uint32_t x = 0; x < size->width; x++)
        to[x] = (uint32_t)found[x];
    }
}

CclStatus
ccl_label_distances (const CclVolumeLabels *labels, uint32_t width, uint32_t height, uint32_t depth,
    const CclVolumeLabels *squared, CclError *error)
{
  const MapSize size = {width, height, depth};
  CclStatus status = ccl_map_size_check (&size, error);
  Memory memory;

  if (status == CUDACCL_OK)
    status = ccl_map_check (labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (squared, &size, "squared distances", error);
  if (status != CUDACCL_OK)
    return status;
  memory.longest = width > height ? width : height;
  memory.longest = memory.longest > depth ? memory.longest : depth;
  uint32_t *words = malloc (LINES * memory.longest * sizeof *words);
  uint64_t *long_words = malloc (LINES * memory.longest * sizeof *long_words);
  memory.envelope = malloc (distance_line_numbers (memory.longest) * sizeof *memory.envelope);
  if (words && long_words && memory.envelope) {
    for (size_t i = 0; i < LINES; i++)
      memory.lines[i] = (Line){words + i * memory.longest, long_words + i * memory.longest};
    transform_rows (labels, squared, &size, &memory);
    if (height > 1)
      transform_axis (labels, squared, &size, true, &memory);
    if (depth > 1)
      transform_axis (labels, squared, &size, false, &memory);
    status = ccl_interruption_status (error);
  } else {
    status = ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "not enough memory for distances in lines of %zu pixels", memory.longest);
  }
  free (words);
  free (long_words);
  free (memory.envelope);
  return status;
}
