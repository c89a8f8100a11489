/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The distance transform, an axis after the other. In a line of pixels along an axis, those of one
 * label that follow each other are a stretch. Each of its pixels x has from the axes before a
 * squared distance f(x), at first none, and the pixels beside the stretch have 0. The new one of u
 * is the least (u - x)² + f(x): the lower envelope of parabolas.
 */
#include "core/base/interruption.h"
#include "core/label/word-map.h"

#include <stdlib.h>

/* Lines that are read together, because those along y and z are far apart in memory. */
enum { LINES = 16 };

typedef struct Line {
  uint32_t *labels, *squared; /* of its pixels */
  int64_t *sites;             /* pixels whose parabolas are parts of the envelope */
  int64_t *begins;            /* where these parts begin */
} Line;

/* The parabola of a site at u. Sites outside the stretch, from first up to but not including end,
 * have distance 0. */
static int64_t
parabola (const Line *line, int64_t first, int64_t end, int64_t site, int64_t u)
{
  const int64_t height = site >= first && site < end ? line->squared[site] : 0;
  return (u - site) * (u - site) + height;
}

/* Adds the parabola of a site to the envelope of n sites before it. Returns the new number. */
static uint32_t
add_site (Line *line, int64_t first, int64_t end, uint32_t n, int64_t site)
{
  while (n > 0 && parabola (line, first, end, line->sites[n - 1], line->begins[n - 1]) >
                      parabola (line, first, end, site, line->begins[n - 1]))
    n--;
  int64_t begin = first;
  if (n > 0) {
    /* Behind the last column at which the site before is not farther. */
    const int64_t before = line->sites[n - 1];
    const int64_t difference =
        parabola (line, first, end, site, 0) - parabola (line, first, end, before, 0);
    begin = difference / (2 * (site - before)) + 1;
  }
  if (begin >= end)
    return n;
  line->sites[n] = site;
  line->begins[n] = begin;
  return n + 1;
}

/* Transforms a stretch of a line of `length` pixels. */
static void
transform_stretch (Line *line, int64_t first, int64_t end, int64_t length)
{
  uint32_t n = 0;

  if (first > 0)
    n = add_site (line, first, end, n, first - 1);
  for (int64_t x = first; x < end; x++)
    if (line->squared[x] != CUDACCL_NO_DISTANCE)
      n = add_site (line, first, end, n, x);
  if (end < length)
    n = add_site (line, first, end, n, end);
  if (n == 0)
    return;
  /* The envelope is complete, and the distances behind u are not needed for those before it; those
   * of sites before u are changed later. */
  int64_t *const new = line->begins + length + 2;
  for (int64_t u = end - 1; u >= first; u--) {
    new[u] = parabola (line, first, end, line->sites[n - 1], u);
    if (u == line->begins[n - 1])
      n--;
  }
  for (int64_t u = first; u < end; u++)
    line->squared[u] = (uint32_t) new[u];
}

static void
transform_line (Line *line, int64_t length)
{
  for (int64_t first = 0, end; first < length; first = end) {
    const uint32_t label = line->labels[first];
    for (end = first + 1; end < length && line->labels[end] == label;)
      end++;
    if (label)
      transform_stretch (line, first, end, length);
  }
}

/* Up to LINES lines along y or z whose first pixels lie side by side in x. */
typedef struct Lines {
  const CclVolumeLabels *labels, *squared;
  uint32_t x, y, z;   /* the first pixel of the first line */
  bool is_along_y;    /* otherwise along z */
  uint32_t n, length; /* lines, pixels of a line */
} Lines;

static void
transform_lines (const Lines *lines, const Line memory[LINES])
{
  for (uint32_t k = 0; k < lines->length; k++) {
    const uint32_t y = lines->y + (lines->is_along_y ? k : 0);
    const uint32_t z = lines->z + (lines->is_along_y ? 0 : k);
    const uint32_t *labels = map_row (lines->labels, y, z) + lines->x;
    const uint32_t *squared = map_row (lines->squared, y, z) + lines->x;
    for (uint32_t i = 0; i < lines->n; i++) {
      memory[i].labels[k] = labels[i];
      memory[i].squared[k] = squared[i];
    }
  }
  for (uint32_t i = 0; i < lines->n; i++) {
    Line line = memory[i];
    transform_line (&line, lines->length);
  }
  for (uint32_t k = 0; k < lines->length; k++) {
    const uint32_t y = lines->y + (lines->is_along_y ? k : 0);
    const uint32_t z = lines->z + (lines->is_along_y ? 0 : k);
    uint32_t *squared = map_row (lines->squared, y, z) + lines->x;
    for (uint32_t i = 0; i < lines->n; i++)
      squared[i] = memory[i].squared[k];
  }
}

/* Transforms the lines along y or z. */
static void
transform_axis (const CclVolumeLabels *labels, const CclVolumeLabels *squared, const MapSize *size,
    bool is_along_y, const Line memory[LINES])
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
    const Line *memory)
{
  Line line = *memory;

  for (uint32_t z = 0; z < size->depth; z++)
    for (uint32_t y = 0; y < size->height; y++) {
      if (ccl_is_interrupted (size->width))
        return;
      line.labels = map_row (labels, y, z);
      line.squared = map_row (squared, y, z);
      for (uint32_t x = 0; x < size->width; x++)
        line.squared[x] = line.labels[x] ? CUDACCL_NO_DISTANCE : 0;
      transform_line (&line, size->width);
    }
}

CclStatus
ccl_label_distances (const CclVolumeLabels *labels, uint32_t width, uint32_t height, uint32_t depth,
    const CclVolumeLabels *squared, CclError *error)
{
  const MapSize size = {width, height, depth};
  CclStatus status = ccl_map_size_check (&size, error);
  Line memory[LINES];

  if (status == CUDACCL_OK)
    status = ccl_map_check (labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (squared, &size, "squared distances", error);
  if (status != CUDACCL_OK)
    return status;
  size_t longest = width > height ? width : height;
  longest = longest > depth ? longest : depth;
  uint32_t *words = malloc (2 * LINES * longest * sizeof *words);
  int64_t *envelope = malloc (3 * (longest + 2) * sizeof *envelope);
  if (words && envelope) {
    for (size_t i = 0; i < LINES; i++)
      memory[i] = (Line){
          words + 2 * i * longest, words + (2 * i + 1) * longest, envelope, envelope + longest + 2};
    transform_rows (labels, squared, &size, memory);
    if (height > 1)
      transform_axis (labels, squared, &size, true, memory);
    if (depth > 1)
      transform_axis (labels, squared, &size, false, memory);
    status = ccl_interruption_status (error);
  } else {
    status = ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "not enough memory for distances in lines of %zu pixels", longest);
  }
  free (words);
  free (envelope);
  return status;
}
