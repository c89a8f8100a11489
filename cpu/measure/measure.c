/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/interruption.h"
#include "measure.h"
#include "value-sums.h"
#include "cpu/base/errors.h"

#include "core/label/component-row.h"

#include <stdlib.h>
#include <string.h>

/* Pixels of a row with one label, from begin up to but not including end. */
typedef struct LabelRun {
  uint32_t label, begin, end;
} LabelRun;

/* Four entries of a row. */
typedef uint32_t Four __attribute__ ((vector_size (16), aligned (4), may_alias));

static Four
four_at (const uint32_t *entries)
{
  return *(const Four *)entries;
}

/* Whether an entry is not 0. */
static bool
has_any (Four entries)
{
  typedef uint64_t Two __attribute__ ((vector_size (16)));
  const Two halves = (Two)entries;
  return halves[0] | halves[1];
}

/* The next column from x up to but not including end whose entry is not `value`, or end. Many runs
 * are short, so the first entries are looked at one by one. */
static uint32_t
next_other (const uint32_t *entries, uint32_t value, uint32_t x, uint32_t end)
{
  const uint32_t near = end - x < 8 ? end : x + 8;
  for (; x < near; x++)
    if (entries[x] != value)
      return x;
  for (; x + 16 <= end; x += 16) {
    const uint32_t *block = entries + x;
    if (has_any ((four_at (block) ^ value) | (four_at (block + 4) ^ value) |
                 (four_at (block + 8) ^ value) | (four_at (block + 12) ^ value)))
      break;
  }
  while (x < end && entries[x] == value)
    x++;
  return x;
}

/* Finds the next run from a column on. */
static bool
next_run (const uint32_t *labels, uint32_t width, uint32_t from, LabelRun *run)
{
  run->begin = next_other (labels, 0, from, width);
  if (run->begin == width)
    return false;
  run->label = labels[run->begin];
  run->end = next_other (labels, run->label, run->begin, width);
  return true;
}

/* Loads a row of the label map; background above and below it. */
static void
load_row (CpuMapMeasurer *self, uint32_t y)
{
  uint32_t *row = self->labels[y % 4] + 1;
  if (y < self->height)
    memcpy (
        row, (const uint8_t *)self->map->data + y * self->map->stride, self->width * sizeof *row);
  else
    memset (row, 0, self->width * sizeof *row);
}

static const uint32_t *
row_of (const CpuMapMeasurer *self, uint32_t y)
{
  return self->labels[y % 4] + 1;
}

/* Finds the border pixels of a row. */
static void
find_borders (CpuMapMeasurer *self, uint32_t y)
{
  const uint32_t *above = row_of (self, y + 3), *row = row_of (self, y),
                 *below = row_of (self, y + 1);
  uint32_t *border = self->borders[y % 3] + 1;

  if (y >= self->height) {
    memset (border, 0, self->width * sizeof *border);
    return;
  }
  for (uint32_t x = 0; x < self->width; x += 4) {
    const Four label = four_at (row + x);
    const Four other = (four_at (above + x) ^ label) | (four_at (below + x) ^ label) |
                       (four_at (row + x - 1) ^ label) | (four_at (row + x + 1) ^ label);
    *(Four *)(border + x) = label & (Four)(other != 0);
  }
}

/* Finds the pixels of a run that have a neighbour with another label. */
static void
find_differences (CpuMapMeasurer *self, const LabelRun *run, uint32_t y)
{
  const uint32_t *above = row_of (self, y + 3), *row = row_of (self, y),
                 *below = row_of (self, y + 1);
  const uint32_t label = run->label;

  for (uint32_t x = run->begin; x < run->end; x += 4)
    *(Four *)(self->differs + x) =
        (four_at (above + x - 1) ^ label) | (four_at (above + x) ^ label) |
        (four_at (above + x + 1) ^ label) | (four_at (row + x - 1) ^ label) |
        (four_at (row + x + 1) ^ label) | (four_at (below + x - 1) ^ label) |
        (four_at (below + x) ^ label) | (four_at (below + x + 1) ^ label);
}

/* The set of neighbours with a label; the rows are those around the pixel (neighbourhood.h). */
static uint32_t
neighbours_with (uint32_t label, const uint32_t *above, const uint32_t *row, const uint32_t *below)
{
  return (uint32_t)(above[-1] == label) | (uint32_t)(above[0] == label) << 1 |
         (uint32_t)(above[1] == label) << 2 | (uint32_t)(row[-1] == label) << 3 |
         (uint32_t)(row[1] == label) << 4 | (uint32_t)(below[-1] == label) << 5 |
         (uint32_t)(below[0] == label) << 6 | (uint32_t)(below[1] == label) << 7;
}

static void
add_quads (CclFeatures *features, const CclQuads *quads)
{
  features->n_quads_1 += quads->n_1;
  features->n_quads_2 += quads->n_2;
  features->n_quads_3 += quads->n_3;
  features->n_quads_diagonal += quads->n_diagonal;
}

/* borders: the neighbours that are border pixels of the same component. */
static void
add_border (CclFeatures *features, uint32_t borders)
{
  const uint32_t n_edge = (uint32_t)__builtin_popcount (borders & CCL_EDGE_NEIGHBOURS);
  const uint32_t n_corner = (uint32_t)__builtin_popcount (borders & ~CCL_EDGE_NEIGHBOURS);
  const CclBorderKind kind = ccl_border_kind (n_edge, n_corner);
  features->n_straight += kind == CCL_BORDER_STRAIGHT;
  features->n_diagonal += kind == CCL_BORDER_DIAGONAL;
  features->n_mixed += kind == CCL_BORDER_MIXED;
}

/* Adds what depends on the neighbours of the pixels. */
static void
add_neighbours (CpuMapMeasurer *self, CclFeatures *features, const LabelRun *run, uint32_t y)
{
  const uint32_t *rows[3] = {row_of (self, y + 3), row_of (self, y), row_of (self, y + 1)};
  const uint32_t *borders[3];

  for (uint32_t i = 0; i < 3; i++)
    borders[i] = self->borders[(y + 2 + i) % 3] + 1;
  find_differences (self, run, y);
  for (uint32_t x = next_other (self->differs, 0, run->begin, run->end); x < run->end;
       x = next_other (self->differs, 0, x + 1, run->end)) {
    if (self->columns & CUDACCL_COLUMN_TOPOLOGY)
      add_quads (features,
          &self->quads[neighbours_with (run->label, rows[0] + x, rows[1] + x, rows[2] + x)]);
    if (self->columns & CUDACCL_COLUMN_PERIMETER && borders[1][x])
      add_border (
          features, neighbours_with (run->label, borders[0] + x, borders[1] + x, borders[2] + x));
  }
}

/* The sum of the squares of 0…n - 1. */
static uint64_t
sum_of_squares (uint64_t n)
{
  return n ? (n - 1) * n * (2 * n - 1) / 6 : 0;
}

static void
add_coordinates (CclFeatures *features, const LabelRun *run, uint64_t y)
{
  const uint64_t n = run->end - run->begin;
  const uint64_t sum_x = n * ((uint64_t)run->begin + run->end - 1) / 2;
  features->sum_x += sum_x;
  features->sum_y += n * y;
  features->sum_xx += sum_of_squares (run->end) - sum_of_squares (run->begin);
  features->sum_yy += n * y * y;
  features->sum_xy += sum_x * y;
}

static void
add_values (const CpuMapMeasurer *self, CclFeatures *features, const LabelRun *run, uint32_t y)
{
  const CclIntensity *plane = self->intensity;

  add_values_of_run (
      features, &(ValueRun){.values = (const uint8_t *)plane->data + y * plane->stride,
                    .format = plane->format,
                    .step = self->n_channels,
                    .begin = run->begin,
                    .end = run->end,
                    .y = y,
                    .number = (uint64_t)y * CUDACCL_MAX_FEATURE_SIDE + run->begin});
}

static void
measure_row (CpuMapMeasurer *self, uint32_t y)
{
  LabelRun run = {0};

  while (next_run (row_of (self, y), self->width, run.end, &run)) {
    if (run.label > self->n)
      continue;
    CclFeatures *features = &self->features[run.label - 1];
    if (self->columns & (CUDACCL_COLUMN_SUMS | CUDACCL_COLUMN_MOMENTS))
      add_coordinates (features, &run, y);
    if (self->columns & CUDACCL_COLUMN_INTENSITY)
      add_values (self, features, &run, y);
    if (self->columns & (CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY))
      add_neighbours (self, features, &run, y);
  }
}

void
cpu_map_measurer_lay_out (CpuMapMeasurer *self, Layout *layout)
{
  /* A column on both sides, and what vectors that begin in the row read and write behind it. */
  const size_t n = (size_t)self->width + 2 + 4;

  for (uint32_t i = 0; i < 4; i++)
    self->labels[i] = lay_out_zeros (layout, n, sizeof *self->labels[i]);
  for (uint32_t i = 0; i < 3; i++)
    self->borders[i] = lay_out_zeros (layout, n, sizeof *self->borders[i]);
  self->differs = lay_out (layout, n, sizeof *self->differs);
  for (uint32_t neighbours = 0; neighbours <= CCL_ALL_NEIGHBOURS; neighbours++)
    self->quads[neighbours] = ccl_quads_of_pixel (neighbours);
}

void
cpu_map_measurer_run (CpuMapMeasurer *self, const CclLabels *map, const CclIntensity *intensity,
    uint32_t n, CclFeatures *features)
{
  const bool has_borders = self->columns & CUDACCL_COLUMN_PERIMETER;

  self->map = map;
  self->intensity = intensity;
  self->n = n;
  self->features = features;
  for (uint32_t i = 0; i < n; i++)
    features[i] = ccl_features_of_nothing ();
  /* The row above the first one, in the places of rows -1, is background. */
  memset (self->labels[3], 0, ((size_t)self->width + 2) * sizeof *self->labels[3]);
  memset (self->borders[2], 0, ((size_t)self->width + 2) * sizeof *self->borders[2]);
  load_row (self, 0);
  load_row (self, 1);
  if (has_borders)
    find_borders (self, 0);
  for (uint32_t y = 0; y < self->height && !ccl_is_interrupted (self->width); y++) {
    load_row (self, y + 2);
    if (has_borders)
      find_borders (self, y + 1);
    measure_row (self, y);
  }
}

/* Fills the rows of the labels 1…n. */
static void
fill_rows (const CpuMapMeasurer *self, const CclLabels *map, uint32_t n, CclComponent *rows)
{
  memset (rows, 0, n * sizeof *rows);
  for (uint32_t y = 0; y < self->height && !ccl_is_interrupted (self->width); y++) {
    const uint32_t *labels = (const uint32_t *)((const uint8_t *)map->data + y * map->stride);
    LabelRun run = {0};
    while (next_run (labels, self->width, run.end, &run)) {
      if (run.label > n)
        continue;
      CclComponent *row = &rows[run.label - 1];
      const CclFeatures *features = &self->features[run.label - 1];
      const uint32_t area = row->area + run.end - run.begin;
      const uint32_t left = row->area && row->x < run.begin ? row->x : run.begin;
      const uint32_t before = row->area ? row->x + row->width - 1 : 0;
      const uint32_t right = before > run.end - 1 ? before : run.end - 1;
      *row = ccl_component_row (run.label, area, left, row->area ? row->y : y, right, y,
          features->sum_x, features->sum_y);
    }
  }
}

static void
lay_out_rows (Layout *layout, void *data)
{
  cpu_map_measurer_lay_out (data, layout);
}

static CclStatus
check_labels (const CclLabels *labels, uint32_t width, uint32_t height, CclError *error)
{
  if (width < 1 || height < 1 || (uint64_t)width * height > CUDACCL_MAX_PIXELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a label map of %u×%u pixels cannot be measured", width, height);
  return ccl_labels_check (labels, width, error);
}

CclStatus
ccl_measure_labels (const CclLabels *labels, uint32_t width, uint32_t height,
    const CclIntensity *intensity, uint32_t columns, uint32_t n, CclComponent *rows,
    CclFeatures *features, CclError *error)
{
  CpuMapMeasurer self = {
      .width = width, .height = height, .columns = columns | CUDACCL_COLUMN_SUMS};
  Mapping mapping = {0};
  CclFeatures *own = NULL;
  CclStatus status = check_labels (labels, width, height, error);

  if (status == CUDACCL_OK)
    status = ccl_columns_check (self.columns, width, height, error);
  if (status == CUDACCL_OK)
    status = ccl_intensity_check (intensity, columns, width, CUDACCL_LOCATION_HOST, error);
  if (status == CUDACCL_OK && columns && n && !features)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "columns need memory for features");
  if (status != CUDACCL_OK || n == 0)
    return status;
  if (!features)
    features = own = malloc (n * sizeof *own);
  if (features && mapping_lay_out (&mapping, lay_out_rows, &self)) {
    cpu_map_measurer_run (&self, labels, intensity, n, features);
    if (rows)
      fill_rows (&self, labels, n, rows);
    status = ccl_interruption_status (error);
  } else {
    ccl_cpu_set_no_memory (error, width, height);
    status = CUDACCL_ERROR_NO_MEMORY;
  }
  mapping_unmap (&mapping);
  free (own);
  return status;
}

static CclStatus
check_channels (const CclIntensity *intensity, uint32_t width, uint32_t n_channels,
    const CclFeatures *features, CclError *error)
{
  if (n_channels < 1 || n_channels > CUDACCL_MAX_CHANNELS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a picture has 1…%d channels, not %u",
        CUDACCL_MAX_CHANNELS, n_channels);
  if (!features)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "channels need memory for features");
  return ccl_intensity_check (
      intensity, CUDACCL_COLUMN_INTENSITY, width * n_channels, CUDACCL_LOCATION_HOST, error);
}

CclStatus
ccl_measure_channels (const CclLabels *labels, uint32_t width, uint32_t height,
    const CclIntensity *intensity, uint32_t n_channels, uint32_t n, CclFeatures *features,
    CclError *error)
{
  CpuMapMeasurer self = {.width = width, .height = height, .columns = CUDACCL_COLUMN_INTENSITY};
  Mapping mapping = {0};
  CclStatus status = check_labels (labels, width, height, error);

  if (status == CUDACCL_OK)
    status = ccl_columns_check (self.columns, width, height, error);
  if (status == CUDACCL_OK)
    status = check_channels (intensity, width, n_channels, features, error);
  if (status != CUDACCL_OK || n == 0)
    return status;
  if (!mapping_lay_out (&mapping, lay_out_rows, &self)) {
    ccl_cpu_set_no_memory (error, width, height);
    return CUDACCL_ERROR_NO_MEMORY;
  }
  self.n_channels = n_channels;
  for (uint32_t i = 0; i < n_channels; i++) {
    CclIntensity channel = *intensity;
    channel.data = (const uint8_t *)channel.data + i * ccl_pixel_bytes (channel.format);
    cpu_map_measurer_run (&self, labels, &channel, n, features + (size_t)i * n);
  }
  mapping_unmap (&mapping);
  return ccl_interruption_status (error);
}
