/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/measure/measure-parts.h"
#include "core/base/interruption.h"

#include "core/measure/neighbourhood.h"
#include "core/label/preceding.h"
#include "value-sums.h"

#include <math.h>
#include <stdlib.h>

/* Neighbours as bits (preceding.h). */
enum {
  N_PRECEDING = CCL_N_PRECEDING,
  ABOVE_NORTH_WEST = 1 << CCL_ABOVE_NORTH_WEST,
  ABOVE_NORTH = 1 << CCL_ABOVE_NORTH,
  ABOVE_WEST = 1 << CCL_ABOVE_WEST,
  ABOVE = 1 << CCL_ABOVE,
  NORTH_WEST = 1 << CCL_NORTH_WEST,
  NORTH = 1 << CCL_NORTH,
  WEST = 1 << CCL_WEST,
  ALL_OF_FRAME = 0xf << 9,
  ALL_OF_VOLUME = (1 << N_PRECEDING) - 1,
  MOVED = 03333, /* the first two of each row: those that were the last two of the pixel before */
};

enum { N_CELLS = CCL_N_PLACES - 1 };

typedef struct Cell {
  uint32_t preceding; /* pixels around it that precede the present one */
  int32_t sign;       /* of its kind in Euler's formula */
} Cell;

/* Pixels of a row with one label, and the rows around it. */
typedef struct Run {
  uint32_t label, begin, end;
  uint64_t y, z; /* in the picture */
  const uint32_t *row;
  const uint32_t *north, *above[3]; /* the row before, and those of the slice before */
} Run;

typedef struct Measurer {
  const CclPartMap *map;
  uint32_t columns;
  Cell cells[N_CELLS];
  const uint32_t *background; /* [width] */
  uint32_t *borders[3];       /* [width]: rows of the labels of border pixels, 0 for others */
  CclPart *parts;
  CclMeasures *measures;
} Measurer;

uint32_t
ccl_layers_before (uint32_t columns, bool is_volume)
{
  if (columns & CUDACCL_COLUMN_PERIMETER && !is_volume)
    return 2;
  return columns & CUDACCL_COLUMN_TOPOLOGY ? 1 : 0;
}

uint32_t
ccl_layers_after (uint32_t columns, bool is_volume)
{
  return columns & CUDACCL_COLUMN_PERIMETER && !is_volume ? 2 : 0;
}

static Cell
make_cell (uint32_t place)
{
  Cell cell = {0, ccl_cell_sign (place)};

  for (uint32_t neighbour = 0; neighbour < N_PRECEDING; neighbour++)
    cell.preceding |= ccl_cell_is_of (place, neighbour) << neighbour;
  return cell;
}

static void
make_cells (Measurer *self)
{
  Cell *cell = self->cells;

  for (uint32_t place = 0; place < CCL_N_PLACES; place++)
    if (place != CCL_OWN_PLACE)
      *cell++ = make_cell (place);
}

/* A row of the map; background outside it. */
static const uint32_t *
row_at (const Measurer *self, int64_t y, int64_t z)
{
  const CclPartMap *map = self->map;
  if (y < 0 || y >= map->height || z < 0 || z >= map->depth)
    return self->background;
  return map->labels + (size_t)z * map->slice_stride + (size_t)y * map->row_stride;
}

/* Whether a neighbour belongs to the component with that label. */
static inline bool
belongs (const Measurer *self, uint32_t neighbour, uint32_t label)
{
  return self->map->joins_neighbours ? neighbour != 0 : neighbour == label;
}

static inline uint32_t
bit_at (const Measurer *self, const uint32_t *row, uint32_t x, uint32_t label)
{
  return x < self->map->width && belongs (self, row[x], label);
}

/* The bits of a row's pixels x - 1…x + 1. */
static inline uint32_t
three_bits (const Measurer *self, const uint32_t *row, uint32_t x, uint32_t label)
{
  return bit_at (self, row, x - 1, label) | bit_at (self, row, x, label) << 1 |
         bit_at (self, row, x + 1, label) << 2;
}

/* The bits that a column of pixels adds to those of the pixel before it. */
static inline uint32_t
bits_of_column (const Measurer *self, const Run *run, uint32_t x)
{
  uint32_t bits = bit_at (self, run->north, x, run->label) << 11;

  if (self->map->is_volume)
    for (uint32_t i = 0; i < 3; i++)
      bits |= bit_at (self, run->above[i], x, run->label) << (3 * i + 2);
  return bits;
}

static inline bool
has_all (uint32_t bits, uint32_t wanted)
{
  return (bits & wanted) == wanted;
}

/* What a pixel adds to the Euler number if pixels touch at faces only (in frames at edges): as a
 * point that is joined to its neighbours by lines, squares and cubes, those that it completes. */
static int64_t
euler_by_faces (uint32_t bits)
{
  const uint32_t square = NORTH | WEST | NORTH_WEST, wall = WEST | ABOVE | ABOVE_WEST;
  const uint32_t front = NORTH | ABOVE | ABOVE_NORTH;

  return 1 - has_all (bits, NORTH) - has_all (bits, WEST) - has_all (bits, ABOVE) +
         has_all (bits, square) + has_all (bits, wall) + has_all (bits, front) -
         has_all (bits, square | wall | front | ABOVE_NORTH_WEST);
}

/* The same if they touch at corners, too: as a solid cube, the cells that no pixel before has. */
static int64_t
euler_by_corners (const Measurer *self, uint32_t bits)
{
  int64_t sum = -1;
  for (uint32_t i = 0; i < N_CELLS; i++)
    sum += bits & self->cells[i].preceding ? 0 : self->cells[i].sign;
  return sum;
}

static void
add_topology (const Measurer *self, CclMeasures *measures, const Run *run)
{
  const bool is_volume = self->map->is_volume;
  const uint32_t all = is_volume ? ALL_OF_VOLUME : ALL_OF_FRAME;

  uint32_t columns =
      bits_of_column (self, run, run->begin - 1) >> 1 | bits_of_column (self, run, run->begin);
  /* Another run begins where the label changes, or where the measured pixels begin. */
  const bool continues = run->begin == self->map->columns_before &&
                         bit_at (self, run->row, run->begin - 1, run->label);

  for (uint32_t x = run->begin; x < run->end; x++) {
    columns = (columns >> 1 & MOVED) | bits_of_column (self, run, x + 1);
    const uint32_t bits = columns | (x > run->begin || continues ? WEST : 0);
    const int64_t n_joined = has_all (bits, NORTH) + has_all (bits, WEST) + has_all (bits, ABOVE);
    measures->crack_length += (is_volume ? 6 : 4) - 2 * n_joined;
    if (bits == all)
      continue;
    measures->euler_number_4 += euler_by_faces (bits);
    measures->euler_number_8 += euler_by_corners (self, bits);
  }
}

/* Whether the pixel above or below one with that label belongs to the same component. is_mark: its
 * row has no labels, but numbers other than 0 for foreground. */
static inline bool
belongs_at_edge (const Measurer *self, uint32_t neighbour, uint32_t label, bool is_mark)
{
  return is_mark ? neighbour != 0 : belongs (self, neighbour, label);
}

/* Finds the border pixels of a row of a frame. */
static void
find_borders (Measurer *self, int64_t y)
{
  const uint32_t *row = row_at (self, y, 0);
  const uint32_t *north = row_at (self, y - 1, 0), *south = row_at (self, y + 1, 0);
  const bool has_marks = self->map->has_marks;
  const bool north_is_mark = has_marks && y < self->map->first_row;
  const bool south_is_mark = has_marks && y >= self->map->end_row;
  uint32_t *border = self->borders[(y + 3) % 3];

  for (uint32_t x = 0; x < self->map->width; x++) {
    const uint32_t label = row[x];
    const bool is_inner = x > 0 && belongs (self, row[x - 1], label) && x + 1 < self->map->width &&
                          belongs (self, row[x + 1], label) &&
                          belongs_at_edge (self, north[x], label, north_is_mark) &&
                          belongs_at_edge (self, south[x], label, south_is_mark);
    border[x] = is_inner ? 0 : label;
  }
}

/* Counts the border pixels of a run by their neighbours. y: of the map. */
static void
add_borders (const Measurer *self, CclMeasures *measures, const Run *run, uint32_t y)
{
  const uint32_t *row = self->borders[y % 3];
  const uint32_t *north = self->borders[(y + 2) % 3], *south = self->borders[(y + 1) % 3];

  for (uint32_t x = run->begin; x < run->end; x++) {
    if (!row[x])
      continue;
    const uint32_t above = three_bits (self, north, x, run->label);
    const uint32_t beside = three_bits (self, row, x, run->label);
    const uint32_t below = three_bits (self, south, x, run->label);
    const uint32_t n_edge = (above >> 1 & 1) + (beside & 1) + (beside >> 2) + (below >> 1 & 1);
    const uint32_t n_corner = (above & 1) + (above >> 2) + (below & 1) + (below >> 2);
    const CclBorderKind kind = ccl_border_kind (n_edge, n_corner);
    measures->n_straight += kind == CCL_BORDER_STRAIGHT;
    measures->n_diagonal += kind == CCL_BORDER_DIAGONAL;
    measures->n_mixed += kind == CCL_BORDER_MIXED;
  }
}

/* The sum of the squares of 0…n - 1. */
static CclWide
sum_of_squares (uint64_t n)
{
  return n ? (CclWide)(n - 1) * n * (2 * n - 1) / 6 : 0;
}

static uint64_t
sum_of_x (const Run *run)
{
  return (run->end - run->begin) * ((uint64_t)run->begin + run->end - 1) / 2;
}

static void
add_moments (CclMeasures *measures, const Run *run)
{
  const CclWide n = run->end - run->begin, sum_x = sum_of_x (run), y = run->y, z = run->z;

  measures->sum_xx += sum_of_squares (run->end) - sum_of_squares (run->begin);
  measures->sum_yy += n * y * y;
  measures->sum_zz += n * z * z;
  measures->sum_xy += sum_x * y;
  measures->sum_xz += sum_x * z;
  measures->sum_yz += n * y * z;
}

/* values: of the row. number: of the run's first pixel. */
static void
add_reals (const Measurer *self, CclMeasures *measures, const Run *run, const double *values,
    uint64_t number)
{
  const bool ignores = self->map->value_format == CUDACCL_PIXEL_FORMAT_REAL_OR_NAN;
  CclReals reals = {.least = INFINITY, .greatest = -INFINITY};
  uint32_t greatest = run->begin;

  for (uint32_t x = run->begin; x < run->end; x++) {
    if (ignores && isnan (values[x]))
      continue;
    reals.n++;
    reals.sum += values[x];
    reals.sum_x += values[x] * x;
    reals.least = isnan (values[x]) || values[x] < reals.least ? values[x] : reals.least;
    if (reals.n == 1 || values[x] > reals.greatest)
      greatest = x;
    reals.greatest = isnan (values[x]) || values[x] > reals.greatest ? values[x] : reals.greatest;
  }
  reals.sum_y = reals.sum * (double)run->y;
  reals.sum_z = reals.sum * (double)run->z;
  const double mean = reals.sum / reals.n;
  for (uint32_t x = run->begin; x < run->end; x++)
    if (!ignores || !isnan (values[x]))
      reals.squares += (values[x] - mean) * (values[x] - mean);
  reals.place = number + (greatest - run->begin);
  ccl_reals_add (&measures->reals, &reals);
}

static void
add_to_part (CclPart *part, const Run *run)
{
  const uint64_t n = run->end - run->begin;
  const uint32_t y = (uint32_t)run->y, z = (uint32_t)run->z;
  const CclPart pixels = {n, sum_of_x (run), n * y, n * z, run->begin, y, z, run->end - 1, y, z};
  ccl_part_add (part, &pixels);
}

/* y, z: of the map. */
static void
measure_run (Measurer *self, const Run *run, uint32_t y, uint32_t z)
{
  const CclPartMap *map = self->map;

  if (self->parts)
    add_to_part (&self->parts[run->label - 1], run);
  if (!self->measures)
    return;
  CclMeasures *measures = &self->measures[run->label - 1];
  const uint64_t first = (run->z * map->picture_height + run->y) * map->width + run->begin;
  if (first < measures->first)
    measures->first = first;
  if (self->columns & CUDACCL_COLUMN_MOMENTS)
    add_moments (measures, run);
  if (self->columns & CUDACCL_COLUMN_TOPOLOGY)
    add_topology (self, measures, run);
  if (self->borders[0])
    add_borders (self, measures, run, y);
  if (!(self->columns & CUDACCL_COLUMN_INTENSITY))
    return;
  const uint8_t *values = (const uint8_t *)map->values +
                          (z - map->first_slice) * map->value_slice_stride +
                          (y - map->first_row) * map->value_row_stride;
  if (ccl_values_are_real (map->value_format))
    add_reals (self, measures, run, (const double *)(const void *)values, first);
  else
    add_values_of_long_run (measures, &(ValueRun){.values = values,
                                          .format = map->value_format,
                                          .begin = run->begin,
                                          .end = run->end,
                                          .y = run->y,
                                          .z = run->z,
                                          .number = first});
}

static void
measure_row (Measurer *self, uint32_t y, uint32_t z, uint32_t n)
{
  const CclPartMap *map = self->map;
  const int64_t row = y, slice = z;
  const uint32_t end = map->width - map->columns_after;
  Run run = {.end = map->columns_before,
      .row = row_at (self, row, slice),
      .north = row_at (self, row - 1, slice),
      .y = map->y + (y - map->first_row),
      .z = map->z + (z - map->first_slice)};

  for (int i = 0; i < 3; i++)
    run.above[i] = row_at (self, row - 1 + i, slice - 1);
  while (run.end < end) {
    run.begin = run.end;
    run.label = run.row[run.begin];
    while (run.end < end && run.row[run.end] == run.label)
      run.end++;
    if (run.label && run.label <= n)
      measure_run (self, &run, y, z);
  }
}

static bool
allocate (Measurer *self, uint32_t **memory)
{
  const bool has_borders = self->columns & CUDACCL_COLUMN_PERIMETER && !self->map->is_volume;
  const size_t width = self->map->width;

  *memory = calloc (has_borders ? 4 : 1, width * sizeof **memory);
  self->background = *memory;
  for (size_t i = 0; i < 3 && has_borders && *memory; i++)
    self->borders[i] = *memory + (i + 1) * width;
  return *memory;
}

CclStatus
ccl_parts_measure (const CclPartMap *map, uint32_t columns, uint32_t n, CclPart *parts,
    CclMeasures *measures, CclError *error)
{
  Measurer self = {.map = map, .columns = columns, .parts = parts, .measures = measures};
  uint32_t *memory;

  if (!allocate (&self, &memory))
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to measure rows of %u", map->width);
  make_cells (&self);
  for (uint32_t i = 0; i < n; i++) {
    if (parts)
      parts[i] = CCL_EMPTY_PART;
    if (measures)
      measures[i] = CCL_EMPTY_MEASURES;
  }
  for (uint32_t z = map->first_slice; z < map->end_slice; z++) {
    for (uint32_t y = map->first_row; y < map->end_row && !ccl_is_interrupted (map->width); y++) {
      for (int64_t row = y == map->first_row ? (int64_t)y - 1 : (int64_t)y + 1;
           self.borders[0] && row <= (int64_t)y + 1; row++)
        find_borders (&self, row);
      measure_row (&self, y, z, n);
    }
  }
  free (memory);
  return ccl_interruption_status (error);
}
