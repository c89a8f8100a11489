/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins components over borders that touch, which are seams of the picture with itself. */
#include <cudaccl/chunks.h>
#include <cudaccl/periodic.h>

#include "core/base/interruption.h"
#include "core/measure/measured-map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_AXES = 3 };

typedef struct Arc {
  uint64_t start, length;
} Arc;

/* A label map while it is joined. Axes are x, y, z. */
typedef struct Torus {
  CclPartMap map;
  uint32_t *labels; /* that of the map, which is written */
  uint64_t sides[N_AXES];
  size_t strides[N_AXES]; /* labels */
  uint32_t connectivity, axes;
  uint32_t n, n_joined;
  CclPart *parts;    /* [n]: of the components before they are joined */
  uint64_t *roots;   /* [n] */
  uint32_t *numbers; /* [n + 1]: the new label of each */
  uint32_t *order;   /* [n]: the parts of joined components, one after the other */
  uint32_t *begins;  /* [n_joined + 1], in that order */
  Arc *arcs;         /* [n] */
  double *sums;      /* [2 n_joined]: of the directions of pixels */
  double *turns;     /* [2 × the longest side]: the directions of places along an axis */
} Torus;

static bool
is_periodic (const Torus *self, int axis)
{
  return self->axes >> axis & 1;
}

/* Copies the first or the last layer along an axis, with a copy of the opposite pixels around it
 * along the axes of the layer that are periodic, too. */
static void
copy_layer (const Torus *self, int axis, bool is_last, const int in_layer[2], uint64_t width,
    uint64_t height, uint32_t *copy)
{
  const uint32_t *from =
      self->labels + (is_last ? (self->sides[axis] - 1) * self->strides[axis] : 0);
  const int u = in_layer[0], v = in_layer[1];
  const uint64_t u_shift = is_periodic (self, u) ? self->sides[u] - 1 : 0;
  const uint64_t v_shift = is_periodic (self, v) ? self->sides[v] - 1 : 0;

  for (uint64_t y = 0; y < height; y++)
    for (uint64_t x = 0; x < width; x++)
      copy[y * width + x] = from[(x + u_shift) % self->sides[u] * self->strides[u] +
                                 (y + v_shift) % self->sides[v] * self->strides[v]];
}

/* Connects the labels that touch over the borders of an axis. */
static CclStatus
join_axis (const Torus *self, int axis, CclForest *forest, CclError *error)
{
  const bool is_frame = self->connectivity == 4 || self->connectivity == 8;
  const int in_layer[2] = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
  const uint64_t width = self->sides[in_layer[0]] + (is_periodic (self, in_layer[0]) ? 2 : 0);
  const uint64_t height =
      is_frame ? 1 : self->sides[in_layer[1]] + (is_periodic (self, in_layer[1]) ? 2 : 0);
  uint32_t *layers = reallocarray (NULL, width * height, 2 * sizeof *layers);

  if (!layers)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for the borders of a picture");
  copy_layer (self, axis, true, in_layer, width, height, layers);
  copy_layer (self, axis, false, in_layer, width, height, layers + width * height);
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
find_roots (Torus *self, CclError *error)
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
number (Torus *self)
{
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

static CclStatus
renumber (const Torus *self, CclError *error)
{
  for (uint64_t z = 0; z < self->sides[2]; z++) {
    for (uint64_t y = 0; y < self->sides[1]; y++) {
      uint32_t *row = self->labels + z * self->strides[2] + y * self->strides[1];
      if (ccl_is_interrupted (self->sides[0]))
        return ccl_interruption_status (error);
      for (uint64_t x = 0; x < self->sides[0]; x++)
        row[x] = self->numbers[row[x]];
    }
  }
  return CUDACCL_OK;
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

/* Sums the directions of the pixels of each component along an axis. */
static void
sum_directions (const Torus *self, int axis)
{
  double *sums = self->sums, *turns = self->turns;

  for (uint64_t i = 0; i < self->sides[axis]; i++) {
    const double turn = 2 * M_PI * (double)i / (double)self->sides[axis];
    turns[2 * i] = cos (turn);
    turns[2 * i + 1] = sin (turn);
  }
  memset (sums, 0, 2 * (size_t)self->n_joined * sizeof *sums);
  for (uint64_t z = 0; z < self->sides[2]; z++) {
    for (uint64_t y = 0; y < self->sides[1]; y++) {
      const uint32_t *row = self->labels + z * self->strides[2] + y * self->strides[1];
      for (uint64_t x = 0; x < self->sides[0]; x++) {
        if (!row[x])
          continue;
        const uint64_t place = axis == 0 ? x : axis == 1 ? y : z;
        sums[2 * ((size_t)row[x] - 1)] += turns[2 * place];
        sums[2 * ((size_t)row[x] - 1) + 1] += turns[2 * place + 1];
      }
    }
  }
}

/* The circular mean; not a number where there is none but for rounding. */
static double
circular_mean (const double *sum, uint32_t n_pixels, double side)
{
  if (hypot (sum[0], sum[1]) <= 1e-9 * n_pixels)
    return NAN;
  const double mean = atan2 (sum[1], sum[0]) * side / (2 * M_PI);
  const double positive = mean < 0 ? mean + side : mean;
  return positive >= side - 1e-9 ? 0 : positive;
}

static void
measure_axis (const Torus *self, int axis, CclVolumeComponent *rows)
{
  sum_directions (self, axis);
  for (uint32_t i = 0; i < self->n_joined; i++) {
    const uint32_t begin = self->begins[i], n = self->begins[i + 1] - begin;
    for (uint32_t k = begin; k < begin + n; k++) {
      const CclPart *part = &self->parts[self->order[k]];
      const uint32_t least[] = {part->least_x, part->least_y, part->least_z};
      const uint32_t greatest[] = {part->greatest_x, part->greatest_y, part->greatest_z};
      self->arcs[k] = (Arc){least[axis], (uint64_t)greatest[axis] - least[axis] + 1};
    }
    const Arc arc = arc_around (&self->arcs[begin], n, self->sides[axis]);
    CclVolumeComponent *row = &rows[i];
    *(axis == 0 ? &row->x : axis == 1 ? &row->y : &row->z) = (uint32_t)arc.start;
    *(axis == 0 ? &row->width : axis == 1 ? &row->height : &row->depth) = (uint32_t)arc.length;
    *(axis == 0     ? &row->centroid_x
        : axis == 1 ? &row->centroid_y
                    : &row->centroid_z) =
        circular_mean (&self->sums[2 * (size_t)i], row->n_voxels, (double)self->sides[axis]);
  }
}

static void
measure (const Torus *self, CclVolumeComponent *rows)
{
  for (uint32_t i = 0; i < self->n_joined; i++) {
    CclPart whole = CCL_EMPTY_PART;
    for (uint32_t k = self->begins[i]; k < self->begins[i + 1]; k++)
      ccl_part_add (&whole, &self->parts[self->order[k]]);
    rows[i] = ccl_measured_row (&whole, i + 1);
  }
  for (int axis = 0; axis < N_AXES; axis++)
    if (is_periodic (self, axis))
      measure_axis (self, axis, rows);
}

static CclStatus
check (const Torus *self, CclError *error)
{
  const uint32_t c = self->connectivity, known = self->sides[2] > 1 || c > 8 || c == 6 ? 7 : 3;

  if (c != 4 && c != 8 && c != 6 && c != 18 && c != 26)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames and 6, 18 or 26 for volumes, not %u", c);
  if ((c == 4 || c == 8) && self->sides[2] > 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "frames have one slice");
  if (self->axes & ~known)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "axes must be flags of CclAxis, not %u", self->axes);
  return CUDACCL_OK;
}

/* Whether each label has pixels, and none is greater than n. */
static bool
are_labels_complete (const Torus *self)
{
  for (uint32_t i = 0; i < self->n; i++)
    if (self->parts[i].area == 0)
      return false;
  for (uint64_t z = 0; z < self->sides[2]; z++)
    for (uint64_t y = 0; y < self->sides[1]; y++)
      for (uint64_t x = 0; x < self->sides[0]; x++)
        if (self->labels[z * self->strides[2] + y * self->strides[1] + x] > self->n)
          return false;
  return true;
}

static bool
allocate (Torus *self)
{
  const size_t n = (size_t)self->n + 1;
  uint64_t longest = self->sides[0] > self->sides[1] ? self->sides[0] : self->sides[1];

  longest = self->sides[2] > longest ? self->sides[2] : longest;
  self->turns = malloc (2 * longest * sizeof *self->turns);
  self->parts = malloc (n * sizeof *self->parts);
  self->roots = malloc (n * sizeof *self->roots);
  self->numbers = calloc (n, sizeof *self->numbers);
  self->order = malloc (n * sizeof *self->order);
  self->begins = malloc ((n + 1) * sizeof *self->begins);
  self->arcs = malloc (n * sizeof *self->arcs);
  self->sums = malloc (2 * n * sizeof *self->sums);
  return self->parts && self->roots && self->numbers && self->order && self->begins && self->arcs &&
         self->sums && self->turns;
}

static CclStatus
join (Torus *self, CclVolumeComponent *rows, CclError *error)
{
  if (!allocate (self))
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to join %u components", self->n);
  CclStatus status = ccl_parts_measure (&self->map, 0, self->n, self->parts, NULL, error);
  if (status == CUDACCL_OK && !are_labels_complete (self))
    status = ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the map has other labels than 1…%u", self->n);
  if (status == CUDACCL_OK)
    status = find_roots (self, error);
  if (status == CUDACCL_OK)
    number (self);
  if (status == CUDACCL_OK)
    status = renumber (self, error);
  if (status == CUDACCL_OK)
    measure (self, rows);
  return status;
}

CclStatus
ccl_join_borders (const CclVolumeLabels *labels, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, uint32_t axes, uint32_t *n, CclVolumeComponent *rows, CclError *error)
{
  Torus self = {
      .sides = {width, height, depth}, .connectivity = connectivity, .axes = axes, .n = n ? *n : 0};
  const bool is_frame = connectivity == 4 || connectivity == 8;
  CclStatus status = check (&self, error);

  if (status == CUDACCL_OK)
    status = ccl_measured_map_init (
        &self.map, labels, width, height, is_frame ? 0 : depth, NULL, 0, error);
  if (status == CUDACCL_OK && (!n || (*n && !rows)))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "there is no memory for the rows");
  if (status != CUDACCL_OK || *n == 0)
    return status;
  self.labels = labels->data;
  self.strides[0] = 1;
  self.strides[1] = self.map.row_stride;
  self.strides[2] = self.map.slice_stride;
  status = join (&self, rows, error);
  if (status == CUDACCL_OK)
    *n = self.n_joined;
  free (self.parts);
  free (self.roots);
  free (self.numbers);
  free (self.order);
  free (self.begins);
  free (self.arcs);
  free (self.sums);
  free (self.turns);
  return status;
}
