/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins components over borders that touch, which are seams of the picture with itself. */
#include <cudaccl/chunks.h>
#include <cudaccl/periodic.h>

#include "borders.h"
#include "core/base/interruption.h"
#include "part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static CclStatus
check (const uint64_t sides[N_AXES], uint32_t c, uint32_t axes, CclError *error)
{
  const uint32_t known = are_frames (c) ? 3 : 7;

  if (c != 4 && c != 8 && c != 6 && c != 18 && c != 26)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames and 6, 18 or 26 for volumes, not %u", c);
  for (int axis = 0; axis < N_AXES; axis++)
    if (sides[axis] < 1 || sides[axis] > UINT32_MAX)
      return ccl_error_set (
          error, CUDACCL_ERROR_ARGUMENT, "a picture has a side that is not 1…%u", UINT32_MAX);
  if (are_frames (c) && sides[2] > 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "frames have one slice");
  if (axes & ~known)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "axes must be flags of CclAxis, not %u", axes);
  return CUDACCL_OK;
}

static bool
make_axis (CclBorders *self, int axis)
{
  const uint64_t side = self->sides[axis];
  int in_layer[2];

  axes_of_layer (axis, in_layer);
  for (int end = 0; end < 2; end++)
    self->faces[axis][end] = reallocarray (
        NULL, self->sides[in_layer[0]], self->sides[in_layer[1]] * sizeof **self->faces[axis]);
  self->turns[axis] = reallocarray (NULL, side, 2 * sizeof *self->turns[axis]);
  if (!self->faces[axis][0] || !self->faces[axis][1] || !self->turns[axis])
    return false;
  for (uint64_t i = 0; i < side; i++) {
    const double turn = 2 * M_PI * (double)i / (double)side;
    self->turns[axis][2 * i] = llrint (ldexp (cos (turn), TURN_BITS));
    self->turns[axis][2 * i + 1] = llrint (ldexp (sin (turn), TURN_BITS));
  }
  return true;
}

CclBorders *
ccl_borders_new (uint64_t width, uint64_t height, uint64_t depth, uint32_t connectivity,
    uint32_t axes, CclError *error)
{
  const uint64_t sides[N_AXES] = {width, height, depth};
  bool succeeded;

  if (check (sides, connectivity, axes, error) != CUDACCL_OK)
    return NULL;
  CclBorders *self = calloc (1, sizeof *self);
  succeeded = self != NULL;
  if (self) {
    memcpy (self->sides, sides, sizeof sides);
    self->connectivity = connectivity;
    self->axes = axes;
  }
  for (int axis = 0; axis < N_AXES && succeeded; axis++)
    succeeded = !is_periodic (self, axis) || make_axis (self, axis);
  if (!succeeded) {
    no_memory (error);
    ccl_borders_free (&self);
  }
  return self;
}

bool
ccl_borders_reserve (CclBorders *self, uint32_t capacity)
{
  CclPart *parts = reallocarray (self->parts, capacity, sizeof *parts);

  if (!parts)
    return false;
  self->parts = parts;
  for (int axis = 0; axis < N_AXES; axis++) {
    if (!is_periodic (self, axis))
      continue;
    Turn *sums = reallocarray (self->sums[axis], capacity, sizeof *sums);
    if (!sums)
      return false;
    self->sums[axis] = sums;
  }
  self->capacity = capacity;
  return true;
}

/* Makes room for a label. */
static bool
grow (CclBorders *self)
{
  const uint32_t capacity = self->capacity;
  return ccl_borders_reserve (self, capacity > UINT32_MAX / 2 ? UINT32_MAX
                                    : capacity                ? 2 * capacity
                                                              : 256);
}

/* Begins a label, which must be the next one in order. */
static CclStatus
begin_label (CclBorders *self, uint32_t label, CclError *error)
{
  if (label != self->n + 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "label %u comes before label %u: labels must be in raster order of first pixels", label,
        self->n + 1);
  if (self->n == self->capacity && !grow (self))
    return no_memory (error);
  self->parts[self->n] = CCL_EMPTY_PART;
  for (int axis = 0; axis < N_AXES; axis++)
    if (is_periodic (self, axis))
      self->sums[axis][self->n] = (Turn){0};
  self->n++;
  return CUDACCL_OK;
}

/* Adds pixels begin…end − 1 of a row to a component. */
static void
add_run (CclBorders *self, uint32_t label, uint64_t begin, uint64_t end, uint64_t y, uint64_t z)
{
  const uint64_t n = end - begin;
  const CclPart run = {n, n * begin + n * (n - 1) / 2, n * y, n * z, (uint32_t)begin, (uint32_t)y,
      (uint32_t)z, (uint32_t)end - 1, (uint32_t)y, (uint32_t)z};
  const uint64_t places[N_AXES] = {0, y, z};

  ccl_part_add (&self->parts[label - 1], &run);
  for (int axis = 1; axis < N_AXES; axis++)
    if (is_periodic (self, axis)) {
      Turn *sum = &self->sums[axis][label - 1];
      sum->cosine += (Wide)n * self->turns[axis][2 * places[axis]];
      sum->sine += (Wide)n * self->turns[axis][2 * places[axis] + 1];
    }
  if (is_periodic (self, 0)) {
    Turn *sum = &self->sums[0][label - 1];
    for (uint64_t x = begin; x < end; x++) {
      sum->cosine += self->turns[0][2 * x];
      sum->sine += self->turns[0][2 * x + 1];
    }
  }
}

/* Keeps the pixels of a row that are at borders. */
static void
keep_faces (CclBorders *self, const uint32_t *row, uint64_t y, uint64_t z)
{
  const uint64_t width = self->sides[0], height = self->sides[1];

  for (int end = 0; end < 2; end++) {
    if (is_periodic (self, 0))
      self->faces[0][end][z * height + y] = row[end ? width - 1 : 0];
    if (is_periodic (self, 1) && y == (end ? height - 1 : 0))
      memcpy (self->faces[1][end] + z * width, row, width * sizeof *row);
    if (is_periodic (self, 2) && z == (end ? self->sides[2] - 1 : 0))
      memcpy (self->faces[2][end] + y * width, row, width * sizeof *row);
  }
}

/* Takes the next row. */
static CclStatus
add_row (CclBorders *self, const uint32_t *row, CclError *error)
{
  const uint64_t width = self->sides[0];
  const uint64_t y = self->n_rows % self->sides[1], z = self->n_rows / self->sides[1];
  CclStatus status = CUDACCL_OK;
  uint64_t end;

  if (ccl_is_interrupted (width))
    return ccl_interruption_status (error);
  for (uint64_t x = 0; x < width && status == CUDACCL_OK; x = end) {
    const uint32_t label = row[x];
    for (end = x + 1; end < width && row[end] == label;)
      end++;
    if (label > self->n)
      status = begin_label (self, label, error);
    if (label && status == CUDACCL_OK)
      add_run (self, label, x, end, y, z);
  }
  keep_faces (self, row, y, z);
  self->n_rows++;
  return status;
}

CclStatus
ccl_borders_add (CclBorders *self, const uint32_t *labels, uint64_t n_layers, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  if (!self || (n_layers && !labels))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "labels or borders are NULL");
  const uint64_t rows = are_frames (self->connectivity) ? 1 : self->sides[1];
  if (n_layers > (self->sides[1] * self->sides[2] - self->n_rows) / rows)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there are more layers than the picture has");
  for (uint64_t i = 0; i < n_layers * rows && status == CUDACCL_OK; i++)
    status = add_row (self, labels + i * self->sides[0], error);
  return status;
}

/* Copies the first or the last layer along an axis, with a copy of the opposite pixels around it
 * along the axes of the layer that are periodic, too. */
static void
copy_layer (const CclBorders *self, const uint32_t *face, const int in_layer[2], uint64_t width,
    uint64_t height, uint32_t *copy)
{
  const uint64_t u_side = self->sides[in_layer[0]], v_side = self->sides[in_layer[1]];
  const uint64_t u_shift = is_periodic (self, in_layer[0]) ? u_side - 1 : 0;
  const uint64_t v_shift = is_periodic (self, in_layer[1]) ? v_side - 1 : 0;

  for (uint64_t y = 0; y < height; y++)
    for (uint64_t x = 0; x < width; x++)
      copy[y * width + x] = face[(y + v_shift) % v_side * u_side + (x + u_shift) % u_side];
}

/* Connects the labels that touch over the borders of an axis. */
static CclStatus
join_axis (const CclBorders *self, int axis, CclForest *forest, CclError *error)
{
  int in_layer[2];

  axes_of_layer (axis, in_layer);
  const uint64_t width = self->sides[in_layer[0]] + (is_periodic (self, in_layer[0]) ? 2 : 0);
  const uint64_t height =
      are_frames (self->connectivity)
          ? 1
          : self->sides[in_layer[1]] + (is_periodic (self, in_layer[1]) ? 2 : 0);
  if (width > UINT32_MAX || height > UINT32_MAX)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "periodic sides have at most %u pixels", UINT32_MAX - 2);
  uint32_t *layers = reallocarray (NULL, width * height, 2 * sizeof *layers);
  if (!layers)
    return no_memory (error);
  for (int end = 0; end < 2; end++)
    copy_layer (
        self, self->faces[axis][end], in_layer, width, height, layers + (end ? 0 : width * height));
  const CclSeam seam = {.width = (uint32_t)width,
      .height = (uint32_t)height,
      .connectivity = self->connectivity,
      .upper = layers,
      .lower = layers + width * height};
  const CclStatus status = ccl_forest_add_seam (forest, &seam, 0, 0, error);
  free (layers);
  return status;
}

static CclStatus
find_roots (CclBorders *self, CclError *error)
{
  const uint64_t n = self->n;
  CclForest *forest = ccl_forest_new (error);
  CclStatus status = forest ? CUDACCL_OK : CUDACCL_ERROR_NO_MEMORY;

  for (int axis = 0; axis < N_AXES && status == CUDACCL_OK; axis++)
    if (is_periodic (self, axis))
      status = join_axis (self, axis, forest, error);
  if (status == CUDACCL_OK)
    status = ccl_forest_roots (forest, &n, 1, self->roots, error);
  ccl_forest_free (&forest);
  return status;
}

/* Numbers joined components by their first parts, and puts the parts of each one after the other.
 */
static void
number (CclBorders *self)
{
  self->n_joined = 0;
  for (uint32_t i = 0; i < self->n; i++)
    self->numbers[i + 1] =
        self->roots[i] == i ? ++self->n_joined : self->numbers[self->roots[i] + 1];
  memset (self->begins, 0, (self->n_joined + (size_t)1) * sizeof *self->begins);
  for (uint32_t i = 1; i <= self->n; i++)
    self->begins[self->numbers[i]]++;
  for (uint32_t i = 0; i < self->n_joined; i++)
    self->begins[i + 1] += self->begins[i];
  for (uint32_t i = self->n; i-- > 0;) /* each begin becomes that of its component */
    self->order[--self->begins[self->numbers[i + 1]]] = i;
  memmove (self->begins, self->begins + 1, self->n_joined * sizeof *self->begins);
  self->begins[self->n_joined] = self->n;
}

static int
compare_starts (const void *a, const void *b)
{
  const Arc *one = a, *other = b;
  return (one->start > other->start) - (one->start < other->start);
}

/* The shortest arc of a circle around n ≥ 1 arcs that do not go over its end. */
static Arc
arc_around (Arc *arcs, uint32_t n, uint64_t side)
{
  uint64_t end = 0, widest = 0, start = 0;

  qsort (arcs, n, sizeof *arcs, compare_starts);
  for (uint32_t i = 0; i < n; i++) {
    const uint64_t here = arcs[i].start + arcs[i].length;
    const uint64_t next = i + 1 < n ? arcs[i + 1].start : arcs[0].start + side;
    end = here > end ? here : end;
    if (next > end && next - end > widest) {
      widest = next - end;
      start = next % side;
    }
  }
  return (Arc){start, side - widest};
}

/* The circular mean; not a number where there is none but for rounding. */
static double
circular_mean (const Turn *sum, uint64_t n_pixels, double side)
{
  const double cosine = ldexp ((double)sum->cosine, -TURN_BITS);
  const double sine = ldexp ((double)sum->sine, -TURN_BITS);

  if (hypot (cosine, sine) <= 1e-9 * (double)n_pixels)
    return NAN;
  const double mean = atan2 (sine, cosine) * side / (2 * M_PI);
  const double positive = mean < 0 ? mean + side : mean;
  return positive >= side - 1e-9 ? 0 : positive;
}

/* Measures a joined component along a periodic axis. */
static void
measure_axis (CclBorders *self, int axis, CclTiledComponent *row)
{
  const uint32_t begin = self->begins[row->label - 1], end = self->begins[row->label];
  Turn sum = {0};

  for (uint32_t k = begin; k < end; k++) {
    const CclPart *part = &self->parts[self->order[k]];
    const Turn *turn = &self->sums[axis][self->order[k]];
    const uint32_t least[] = {part->least_x, part->least_y, part->least_z};
    const uint32_t greatest[] = {part->greatest_x, part->greatest_y, part->greatest_z};
    self->arcs[k] = (Arc){least[axis], (uint64_t)greatest[axis] - least[axis] + 1};
    sum.cosine += turn->cosine;
    sum.sine += turn->sine;
  }
  const Arc arc = arc_around (&self->arcs[begin], end - begin, self->sides[axis]);
  *(axis == 0 ? &row->x : axis == 1 ? &row->y : &row->z) = arc.start;
  *(axis == 0 ? &row->width : axis == 1 ? &row->height : &row->depth) = arc.length;
  *(axis == 0     ? &row->centroid_x
      : axis == 1 ? &row->centroid_y
                  : &row->centroid_z) = circular_mean (&sum, row->area, (double)self->sides[axis]);
}

static void
measure (CclBorders *self)
{
  for (uint32_t i = 0; i < self->n_joined; i++) {
    CclPart whole = CCL_EMPTY_PART;
    for (uint32_t k = self->begins[i]; k < self->begins[i + 1]; k++)
      ccl_part_add (&whole, &self->parts[self->order[k]]);
    self->rows[i] = part_row (&whole, (uint64_t)i + 1);
    for (int axis = 0; axis < N_AXES; axis++)
      if (is_periodic (self, axis))
        measure_axis (self, axis, &self->rows[i]);
  }
}

static void
free_results (CclBorders *self)
{
  free (self->roots);
  free (self->numbers);
  free (self->order);
  free (self->begins);
  free (self->arcs);
  free (self->rows);
}

CclStatus
ccl_borders_find (CclBorders *self, CclError *error)
{
  const size_t n = (size_t)self->n + 1;

  free_results (self);
  self->roots = malloc (n * sizeof *self->roots);
  self->numbers = calloc (n, sizeof *self->numbers);
  self->order = malloc (n * sizeof *self->order);
  self->begins = malloc ((n + 1) * sizeof *self->begins);
  self->arcs = malloc (n * sizeof *self->arcs);
  self->rows = malloc (n * sizeof *self->rows);
  if (!self->roots || !self->numbers || !self->order || !self->begins || !self->arcs || !self->rows)
    return no_memory (error);
  const CclStatus status = find_roots (self, error);
  if (status == CUDACCL_OK) {
    number (self);
    measure (self);
  }
  return status;
}

CclStatus
ccl_borders_join (CclBorders *self, uint32_t *n, const uint32_t **numbers, uint32_t *n_joined,
    const CclTiledComponent **rows, CclError *error)
{
  if (!self || !n || !numbers || !n_joined || !rows)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "borders or an argument are NULL");
  if (self->n_rows < self->sides[1] * self->sides[2])
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "not all layers have been added");
  const CclStatus status = ccl_borders_find (self, error);
  *n = self->n;
  *numbers = self->numbers;
  *n_joined = self->n_joined;
  *rows = self->rows;
  return status;
}

void
ccl_borders_free (CclBorders **borders)
{
  CclBorders *self = borders ? *borders : NULL;

  if (!self)
    return;
  for (int axis = 0; axis < N_AXES; axis++) {
    free (self->faces[axis][0]);
    free (self->faces[axis][1]);
    free (self->turns[axis]);
    free (self->sums[axis]);
  }
  free (self->parts);
  free_results (self);
  free (self);
  *borders = NULL;
}

static CclStatus
renumber (const CclBorders *self, uint32_t *labels, const CclPartMap *map, CclError *error)
{
  for (uint64_t z = 0; z < self->sides[2]; z++) {
    for (uint64_t y = 0; y < self->sides[1]; y++) {
      uint32_t *row = labels + z * map->slice_stride + y * map->row_stride;
      if (ccl_is_interrupted (self->sides[0]))
        return ccl_interruption_status (error);
      for (uint64_t x = 0; x < self->sides[0]; x++)
        row[x] = self->numbers[row[x]];
    }
  }
  return CUDACCL_OK;
}

static CclVolumeComponent
volume_row (const CclTiledComponent *row)
{
  return (CclVolumeComponent){.label = (uint32_t)row->label,
      .n_voxels = (uint32_t)row->area,
      .x = (uint32_t)row->x,
      .y = (uint32_t)row->y,
      .z = (uint32_t)row->z,
      .width = (uint32_t)row->width,
      .height = (uint32_t)row->height,
      .depth = (uint32_t)row->depth,
      .centroid_x = row->centroid_x,
      .centroid_y = row->centroid_y,
      .centroid_z = row->centroid_z};
}

void
ccl_borders_write_rows (const CclBorders *self, CclVolumeComponent *rows)
{
  for (uint32_t i = 0; i < self->n_joined; i++)
    rows[i] = volume_row (&self->rows[i]);
}

/* Joins the n components of a map in memory. */
static CclStatus
join_map (CclBorders *self, const CclPartMap *map, uint32_t *labels, uint32_t n,
    CclVolumeComponent *rows, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint64_t z = 0; z < self->sides[2] && status == CUDACCL_OK; z++)
    for (uint64_t y = 0; y < self->sides[1] && status == CUDACCL_OK; y++)
      status = add_row (self, labels + z * map->slice_stride + y * map->row_stride, error);
  if (status == CUDACCL_OK && self->n != n)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the map has other labels than 1…%u", n);
  if (status == CUDACCL_OK)
    status = ccl_borders_find (self, error);
  if (status == CUDACCL_OK)
    status = renumber (self, labels, map, error);
  if (status == CUDACCL_OK)
    ccl_borders_write_rows (self, rows);
  return status;
}

CclStatus
ccl_borders_check_map (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t axes, const uint32_t *n,
    const CclVolumeComponent *rows, CclPartMap *map, CclError *error)
{
  const uint64_t sides[N_AXES] = {width, height, depth};
  CclStatus status = check (sides, connectivity, axes, error);

  if (status == CUDACCL_OK)
    status = ccl_measured_map_init (
        map, labels, width, height, are_frames (connectivity) ? 0 : depth, NULL, 0, error);
  if (status == CUDACCL_OK && (!n || (*n && !rows)))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "there is no memory for the rows");
  return status;
}

CclStatus
ccl_join_borders (const CclVolumeLabels *labels, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, uint32_t axes, uint32_t *n, CclVolumeComponent *rows, CclError *error)
{
  CclPartMap map;
  CclStatus status = ccl_borders_check_map (
      labels, width, height, depth, connectivity, axes, n, rows, &map, error);

  if (status != CUDACCL_OK || *n == 0)
    return status;
  CclBorders *self = ccl_borders_new (width, height, depth, connectivity, axes, error);
  if (!self)
    return CUDACCL_ERROR_NO_MEMORY;
  status = join_map (self, &map, labels->data, *n, rows, error);
  if (status == CUDACCL_OK)
    *n = self->n_joined;
  ccl_borders_free (&self);
  return status;
}
