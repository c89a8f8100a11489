/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "relabel.h"

#include "pictures/error.h"
#include "holes.h"
#include "kept-map.h"
#include "plan.h"
#include "split.h"
#include "values-map.h"

#include <cudaccl/chunks.h>
#include <cudaccl/contacts.h>
#include <cudaccl/periodic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_ROWS = 4096, CHUNK_BYTES = 1 << 22 };

/* Bytes of a pixel while it is measured: two labels and a value. */
enum { BYTES_PER_PIXEL = 16 };

typedef struct Relabelling {
  const CclTiledPlan *plan;
  const CclTiledIo *io;
  const RelabelSettings *settings;
  uint64_t layer, n_layers; /* pixels of a layer, and how many layers there are */
  KeptMap *map;             /* of components, or of parts of them */
  const uint32_t *joined;   /* of each label of the map its component; NULL: itself */
  uint32_t *layers;         /* of components, the latest ones that were read */
  uint32_t n;               /* components */
  FileMemory numbers;       /* uint32_t [n + 1]: the final label of each component */
  uint64_t n_kept;

  struct Relabelling *labelled; /* of patches of a mask: its components, which are the first
                                 * patches; the map has those of the background alone. NULL: the
                                 * map has all patches */
  ValuesMap of_values; /* whose map and numbers those above are, if there are many values */
  CclBorders *borders; /* NULL: none touch */
  const CclTiledComponent *joined_rows;
  SplitBox *boxes;      /* [n]: of components that are split */
  SplitObjects objects; /* whose numbers are joined, if they are */
  uint32_t *n_parts;    /* [n + 1]: of each object; NULL: they are not counted */
  FileMemory sums;      /* of components */
} Relabelling;

static CclStatus
read_layers (void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  const Relabelling *self = data;
  return self->io->read (self->io->data, first_layer, n_layers, pixels, error);
}

static void
show_progress (void *data, uint64_t done, uint64_t total)
{
  const Relabelling *self = data;
  if (self->io->progress)
    self->io->progress (self->io->data, done, total);
}

static CclStatus
begin_components (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Relabelling *self = data;

  self->n = (uint32_t)n_components;
  if (self->settings->split_radius)
    self->boxes = reallocarray (NULL, n_components + 1, sizeof *self->boxes);
  return to_status (!self->settings->split_radius || self->boxes || fail_without_memory (error));
}

static CclStatus
take_boxes (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  Relabelling *self = data;

  for (size_t i = 0; i < n; i++) {
    const CclTiledComponent *row = &rows[i];
    const uint64_t first[3] = {row->x, row->y, row->z},
                   sides[3] = {row->width, row->height, row->depth};
    for (int axis = 0; axis < 3; axis++) {
      self->boxes[row->label - 1].first[axis] = (uint32_t)first[axis];
      self->boxes[row->label - 1].last[axis] = (uint32_t)(first[axis] + sides[axis] - 1);
    }
  }
  return CUDACCL_OK;
}

static CclStatus
keep_components (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  const Relabelling *self = data;

  if (!kept_map_write (self->map, first_layer * self->layer, labels, n_layers * self->layer,
          sizeof (uint32_t), error))
    return CUDACCL_ERROR_IO;
  return self->borders ? ccl_borders_add (self->borders, labels, n_layers, error) : CUDACCL_OK;
}

/* The plan to label all components. */
static CclTiledPlan
plan_of_all (const CclTiledPlan *of_some)
{
  CclTiledPlan plan = *of_some;

  plan.min_area = 1;
  plan.max_area = 0;
  plan.clears_border = false;
  plan.columns = 0;
  plan.label_bytes = sizeof (uint32_t);
  return plan;
}

static CclStatus
find_components (Relabelling *self, CclTiledResult *result, CclError *error)
{
  const CclTiledPlan plan = plan_of_all (self->plan);
  const CclTiledIo io = {.data = self,
      .read = read_layers,
      .begin = begin_components,
      .write = keep_components,
      .rows = self->settings->split_radius ? take_boxes : NULL,
      .progress = show_progress};

  self->map = kept_map_new (self->plan->scratch_folder, "components", error);
  if (!self->map)
    return CUDACCL_ERROR_IO;
  if (self->settings->axes) {
    self->borders = ccl_borders_new (self->plan->width, self->plan->height, self->plan->depth,
        self->plan->connectivity, self->settings->axes, error);
    if (!self->borders)
      return CUDACCL_ERROR_NO_MEMORY;
  }
  return ccl_tiled_run (&plan, &io, NULL, result, error);
}

/* Whether the parts of objects are counted: a table of frames needs them. */
static bool
counts_parts (const Relabelling *self)
{
  return self->settings->split_radius && self->settings->take_parts && is_frame (self->plan) &&
         self->plan->columns & CUDACCL_COLUMN_TOPOLOGY;
}

/* Splits the components of the map into objects, which are components from then on. */
static CclStatus
split (Relabelling *self, CclError *error)
{
  /* Holes that are filled join parts. */
  const bool counts = counts_parts (self) && !self->settings->fills_holes;
  const CclStatus status = split_components (self->plan, self->settings->split_radius, self->map,
      self->boxes, self->n, counts, &self->objects, error);

  kept_map_free (self->map);
  self->map = self->objects.map;
  self->objects.map = NULL;
  self->joined = self->objects.numbers;
  self->n_parts = self->objects.n_parts;
  self->objects.n_parts = NULL;
  self->n = self->objects.n;
  free (self->boxes);
  self->boxes = NULL;
  return status;
}

/* Finds the components of a picture with many values. */
static CclStatus
find_values (Relabelling *self, const ValuesPicture *picture, CclError *error)
{
  const CclStatus status = values_map_find (&self->of_values, picture, self->plan, self->io, error);

  self->map = self->of_values.map;
  self->joined = self->of_values.numbers.data;
  self->n = self->of_values.n;
  return status;
}

static bool add_labels (
    Relabelling *self, uint64_t first_layer, uint64_t n_layers, CclError *error);

/* Reads layers of components. */
static bool
read_map (Relabelling *self, uint64_t first_layer, uint64_t n_layers, CclError *error)
{
  const uint64_t n = n_layers * self->layer;
  uint32_t *layers = reallocarray (self->layers, n, sizeof *layers);

  if (!layers)
    return fail_without_memory (error);
  self->layers = layers;
  if (!kept_map_read (self->map, first_layer * self->layer, layers, n, sizeof *layers, error))
    return false;
  for (uint64_t i = 0; i < n && self->joined; i++)
    layers[i] = self->joined[layers[i]];
  file_memory_rest (&self->of_values.numbers);
  return !self->labelled || add_labels (self, first_layer, n_layers, error);
}

/* Adds the components to layers that have patches of the background. The numbers of patches follow
 * those of components. */
static bool
add_labels (Relabelling *self, uint64_t first_layer, uint64_t n_layers, CclError *error)
{
  Relabelling *labelled = self->labelled;

  if (!read_map (labelled, first_layer, n_layers, error))
    return false;
  for (uint64_t i = 0; i < n_layers * self->layer; i++)
    self->layers[i] = self->layers[i] ? self->layers[i] + labelled->n : labelled->layers[i];
  return true;
}

/* Reads labels of components. */
static CclStatus
read_labels (void *data, uint64_t first_layer, uint64_t n_layers, void *labels, CclError *error)
{
  Relabelling *self = data;

  if (!read_map (self, first_layer, n_layers, error))
    return CUDACCL_ERROR_IO;
  memcpy (labels, self->layers, n_layers * self->layer * sizeof *self->layers);
  return CUDACCL_OK;
}

static CclStatus
begin_distances (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t bytes, CclError *error)
{
  const CclTiledIo *io = ((Relabelling *)data)->settings->distances;
  return io->begin (io->data, n_components, first_label, n_labels, bytes, error);
}

static CclStatus
write_distances (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *squared, CclError *error)
{
  const CclTiledIo *io = ((Relabelling *)data)->settings->distances;
  return io->write (io->data, first_layer, n_layers, squared, error);
}

/* Finds the distances of components. */
static CclStatus
find_distances (Relabelling *self, CclError *error)
{
  const CclTiledIo io = {.data = self,
      .begin = begin_distances,
      .write = write_distances,
      .progress = show_progress,
      .read_values = read_labels};
  return ccl_tiled_label_distances (self->plan, &io, error);
}

/* Layers that are read or written at once. */
static uint64_t
layers_at_once (const Relabelling *self)
{
  const uint64_t n = CHUNK_BYTES / sizeof (uint64_t) / self->layer;
  return n < 1 ? 1 : n < self->n_layers ? n : self->n_layers;
}

/* The number of layers from one on, at most so many. */
static uint64_t
layers_from (const Relabelling *self, uint64_t first, uint64_t at_once)
{
  return self->n_layers - first < at_once ? self->n_layers - first : at_once;
}

static CclSumsPlan
sums_plan (const CclTiledPlan *plan, uint32_t columns)
{
  return (CclSumsPlan){.size = sizeof (CclSumsPlan),
      .width = plan->width,
      .height = plan->height,
      .depth = is_frame (plan) ? 0 : plan->depth,
      .columns = columns,
      .intensity_format = plan->intensity_format};
}

/* Layers around those that are measured, on which columns depend. */
static uint32_t
most_around (const CclTiledPlan *plan)
{
  if (plan->columns & CUDACCL_COLUMN_PERIMETER)
    return 2;
  return plan->columns & CUDACCL_COLUMN_TOPOLOGY ? 1 : 0;
}

/* Layers that are measured at once. */
static uint64_t
layers_to_measure (const Relabelling *self)
{
  uint64_t n = self->plan->tile_layers ? self->plan->tile_layers
                                       : memory_of (self->plan) / 4 / BYTES_PER_PIXEL / self->layer;

  const uint64_t most = CUDACCL_MAX_PIXELS / self->layer, around = 2 * most_around (self->plan);
  if (n > most - around)
    n = most > around ? most - around : 1;
  return n < 1 ? 1 : n < self->n_layers ? n : self->n_layers;
}

/* The labels that occur in some layers, numbered without gaps. */
typedef struct Local {
  FileMemory memory;
  uint32_t *numbers; /* [n + 1], in this memory: of each label; 0: it is not there */
  uint64_t *owners;  /* of each number the label, counted from 0 */
  uint32_t n;
} Local;

static void
number_locally (Local *local, uint32_t *labels, size_t n)
{
  for (uint32_t i = 0; i < local->n; i++)
    local->numbers[local->owners[i] + 1] = 0;
  local->n = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t label = labels[i];
    if (label && !local->numbers[label]) {
      local->owners[local->n] = label - 1;
      local->numbers[label] = ++local->n;
    }
    labels[i] = label ? local->numbers[label] : 0;
  }
}

/* Adds the sums of layers. values: memory for their values; NULL without. */
static CclStatus
measure_layers (Relabelling *self, CclSumsPlan *plan, uint64_t first, uint64_t n_layers,
    Local *local, void *values, CclError *error)
{
  const uint32_t most = most_around (self->plan), width = (uint32_t)plan->width;
  const uint64_t left = self->n_layers - first - n_layers;
  const bool is_frame = plan->depth == 0;

  plan->layers_before = first < most ? (uint32_t)first : most;
  plan->layers_after = left < most ? (uint32_t)left : most;
  first -= plan->layers_before;
  n_layers += plan->layers_before + plan->layers_after;
  const uint64_t n = n_layers * self->layer;
  const uint32_t height = (uint32_t)(is_frame ? n_layers : plan->height);
  CclStatus status = to_status (read_map (self, first, n_layers, error));

  const size_t bytes = value_bytes (plan->intensity_format);
  /* Values around are not used. */
  if (status == CUDACCL_OK && values)
    status = self->io->read_values (self->io->data, first + plan->layers_before,
        n_layers - plan->layers_before - plan->layers_after,
        (char *)values + plan->layers_before * self->layer * bytes, error);
  if (status != CUDACCL_OK)
    return status;
  number_locally (local, self->layers, n);
  const CclVolumeLabels map = {self->layers, 4 * (size_t)width, 4 * (size_t)width * height};
  const CclVolumeIntensity intensity = {
      values, width * bytes, width * bytes * height, plan->intensity_format};
  void *sums = reallocarray (NULL, local->n + (size_t)1, ccl_sums_bytes ());
  if (!sums)
    return fail_without_memory (error), CUDACCL_ERROR_NO_MEMORY;
  status = ccl_sums_measure (plan, &map, width, height, is_frame ? 1 : (uint32_t)n_layers, 0,
      is_frame ? first : 0, is_frame ? 0 : first, values ? &intensity : NULL, local->n, sums,
      error);
  if (status == CUDACCL_OK)
    ccl_sums_add (plan, self->sums.data, sums, local->owners, local->n);
  free (sums);
  file_memory_rest (&self->sums);
  file_memory_rest (&local->memory);
  return status;
}

static CclStatus
clear_sums (Relabelling *self, CclError *error)
{
  const size_t bytes = ccl_sums_bytes ();

  if (!file_memory_grow (
          &self->sums, self->plan->scratch_folder, ((size_t)self->n + 1) * bytes, error))
    return CUDACCL_ERROR_IO;
  for (size_t first = 0; first < self->n; first += CHUNK_ROWS) {
    const size_t n = self->n - first < CHUNK_ROWS ? self->n - first : CHUNK_ROWS;
    ccl_sums_clear ((char *)self->sums.data + first * bytes, n);
    file_memory_rest (&self->sums);
  }
  return CUDACCL_OK;
}

/* Measures the map. */
static CclStatus
measure (Relabelling *self, CclError *error)
{
  const uint64_t at_once = layers_to_measure (self);
  const size_t most = (at_once + 2 * most_around (self->plan)) * self->layer, n = self->n;
  CclSumsPlan plan = sums_plan (self->plan, self->plan->columns);
  Local local = {.owners = reallocarray (NULL, (n < most ? n : most) + 1, sizeof *local.owners)};
  void *values = NULL;
  CclStatus status = clear_sums (self, error);

  if (plan.columns & CUDACCL_COLUMN_INTENSITY)
    values = reallocarray (NULL, most, sizeof (double));
  if (!local.owners || (plan.columns & CUDACCL_COLUMN_INTENSITY && !values))
    status = to_status (fail_without_memory (error));
  if (status == CUDACCL_OK)
    status = to_status (file_memory_grow (
        &local.memory, self->plan->scratch_folder, (n + 1) * sizeof *local.numbers, error));
  local.numbers = local.memory.data;
  for (uint64_t first = 0; first < self->n_layers && status == CUDACCL_OK; first += at_once)
    status = measure_layers (
        self, &plan, first, layers_from (self, first, at_once), &local, values, error);
  file_memory_free (&local.memory);
  free (local.owners);
  free (values);
  return status;
}

/* The rows of components first…first + n − 1, before they are numbered anew, and their shapes if
 * these are not NULL. */
static void
derive (const Relabelling *self, uint32_t first, uint32_t n, CclTiledComponent *rows,
    CclVolumeShape *shapes)
{
  const CclSumsPlan plan = sums_plan (self->plan, shapes ? self->plan->columns : 0);

  if (self->borders)
    memcpy (rows, self->joined_rows + first, n * sizeof *rows);
  else
    ccl_sums_derive (
        &plan, (const char *)self->sums.data + first * ccl_sums_bytes (), n, rows, shapes);
  file_memory_rest (&self->sums);
}

bool
relabel_passes (const CclTiledPlan *plan, const CclTiledComponent *row)
{
  return row->area >= plan->min_area && (plan->max_area == 0 || row->area <= plan->max_area) &&
         !(plan->clears_border && !holes_is_enclosed (plan, row));
}

/* Numbers the components that pass the filters, and moves their values to the places of these
 * numbers. rows: memory for CHUNK_ROWS. */
static CclStatus
number (Relabelling *self, CclTiledComponent *rows, CclError *error)
{
  const size_t size = ((size_t)self->n + 1) * sizeof (uint32_t);
  uint64_t *values = self->of_values.values.data;

  if (!file_memory_grow (&self->numbers, self->plan->scratch_folder, size, error))
    return CUDACCL_ERROR_IO;
  uint32_t *numbers = self->numbers.data;
  for (uint32_t first = 0, n; first < self->n; first += n) {
    n = self->n - first < CHUNK_ROWS ? self->n - first : CHUNK_ROWS;
    derive (self, first, n, rows, NULL);
    for (uint32_t i = 0; i < n; i++) {
      if (!relabel_passes (self->plan, &rows[i]))
        continue;
      if (values)
        values[self->n_kept] = values[first + i];
      numbers[first + i + 1] = (uint32_t)++self->n_kept;
    }
    file_memory_rest (&self->numbers);
    file_memory_rest (&self->of_values.values);
  }
  return CUDACCL_OK;
}

/* Gives the rows of components that have a label to the caller. rows, shapes: memory for
 * CHUNK_ROWS. */
static CclStatus
write_rows (
    const Relabelling *self, CclTiledComponent *rows, CclVolumeShape *shapes, CclError *error)
{
  const uint32_t *numbers = self->numbers.data;
  CclStatus status = CUDACCL_OK;

  for (uint32_t first = 0, n; first < self->n && status == CUDACCL_OK; first += n) {
    uint32_t n_kept = 0;
    n = self->n - first < CHUNK_ROWS ? self->n - first : CHUNK_ROWS;
    derive (self, first, n, rows, shapes);
    for (uint32_t i = 0; i < n; i++) {
      if (!numbers[first + i + 1])
        continue;
      rows[n_kept] = rows[i];
      rows[n_kept].label = numbers[first + i + 1];
      if (shapes)
        shapes[n_kept] = shapes[i];
      n_kept++;
    }
    if (n_kept)
      status = shapes ? self->io->measured (self->io->data, rows, shapes, n_kept, error)
                      : self->io->rows (self->io->data, rows, n_kept, error);
  }
  return status;
}

/* Gives the label map to the caller. */
static CclStatus
write_map (Relabelling *self, uint32_t label_bytes, CclError *error)
{
  const uint64_t at_once = layers_at_once (self);
  const uint32_t *numbers = self->numbers.data;
  uint64_t *wide =
      label_bytes == 8 ? reallocarray (NULL, at_once * self->layer, sizeof *wide) : NULL;
  CclStatus status = CUDACCL_OK;

  if (label_bytes == 8 && !wide)
    return fail_without_memory (error), CUDACCL_ERROR_NO_MEMORY;
  for (uint64_t first = 0; first < self->n_layers && status == CUDACCL_OK; first += at_once) {
    const uint64_t n_layers = layers_from (self, first, at_once);
    status = to_status (read_map (self, first, n_layers, error));
    for (uint64_t i = 0; i < n_layers * self->layer && status == CUDACCL_OK; i++) {
      self->layers[i] = numbers[self->layers[i]];
      if (wide)
        wide[i] = self->layers[i];
    }
    if (status == CUDACCL_OK)
      status = self->io->write (
          self->io->data, first, n_layers, wide ? (const void *)wide : self->layers, error);
    file_memory_rest (&self->numbers);
  }
  free (wide);
  return status;
}

/* Gives the parts of the objects that have a label to the caller. */
static CclStatus
give_parts (const Relabelling *self, CclError *error)
{
  const uint32_t *numbers = self->numbers.data;
  uint32_t *n_parts = self->n_parts;

  for (uint32_t i = 1; i <= self->n; i++)
    if (numbers[i]) /* at most i */
      n_parts[numbers[i] - 1] = n_parts[i];
  return self->settings->take_parts (self->io->data, n_parts, self->n_kept, error);
}

static CclStatus
write_results (Relabelling *self, CclError *error)
{
  const uint32_t label_bytes = self->plan->label_bytes ? self->plan->label_bytes : 4;
  CclTiledComponent *rows = malloc (CHUNK_ROWS * sizeof *rows);
  CclVolumeShape *shapes = self->plan->columns ? malloc (CHUNK_ROWS * sizeof *shapes) : NULL;
  CclStatus status = CUDACCL_OK;

  if (!rows || (self->plan->columns && !shapes))
    status = to_status (fail_without_memory (error));
  if (status == CUDACCL_OK)
    status = number (self, rows, error);
  if (status == CUDACCL_OK && self->n_parts)
    status = give_parts (self, error);
  if (status == CUDACCL_OK && self->settings->take_values && self->of_values.values.data)
    status = self->settings->take_values (
        self->io->data, self->of_values.values.data, self->n_kept, error);
  if (status == CUDACCL_OK && self->io->begin)
    status = self->io->begin (self->io->data, self->n_kept, 1, self->n_kept, label_bytes, error);
  if (status == CUDACCL_OK && (shapes ? self->io->measured != NULL : self->io->rows != NULL))
    status = write_rows (self, rows, shapes, error);
  if (status == CUDACCL_OK && self->io->write)
    status = write_map (self, label_bytes, error);
  free (rows);
  free (shapes);
  return status;
}

/* Joins the components over borders. */
static CclStatus
join (Relabelling *self, CclError *error)
{
  uint32_t n;
  return ccl_borders_join (self->borders, &n, &self->joined, &self->n, &self->joined_rows, error);
}

static void
clear (Relabelling *self)
{
  if (self->map != self->of_values.map)
    kept_map_free (self->map);
  values_map_clear (&self->of_values);
  split_objects_clear (&self->objects);
  free (self->n_parts);
  free (self->boxes);
  ccl_borders_free (&self->borders);
  free (self->layers);
  file_memory_free (&self->numbers);
  file_memory_free (&self->sums);
}

/* Reads the map as a picture with many values. */
static CclStatus
read_as_values (void *data, uint64_t first_layer, uint64_t n_layers, void *values,
    uint8_t *foreground, CclError *error)
{
  return read_labels (data, first_layer, n_layers, values, error);
}

/* Counts the connected parts of the objects of the map. */
static CclStatus
count_parts (Relabelling *self, CclError *error)
{
  const CclTiledPlan plan = plan_of_all (self->plan);
  const ValuesPicture map = {.data = self,
      .read = read_as_values,
      .type = CUDACCL_VALUE_TYPE_32,
      .zero_is_background = true};
  ValuesMap parts = {0};
  CclStatus status = values_map_find (&parts, &map, &plan, NULL, error);

  self->n_parts = calloc ((size_t)self->n + 1, sizeof *self->n_parts);
  if (status == CUDACCL_OK && !self->n_parts)
    status = to_status (fail_without_memory (error));
  for (uint32_t i = 0; i < parts.n && status == CUDACCL_OK; i++)
    self->n_parts[((const uint64_t *)parts.values.data)[i]]++;
  values_map_clear (&parts);
  return status;
}

/* Pairs of patches that touch; some are there several times. */
typedef struct Pairs {
  CclPatchPair *pairs;
  size_t n, capacity;
} Pairs;

static bool
append_pairs (Pairs *self, const CclContact *rows, size_t n, CclError *error)
{
  if (self->n + n > self->capacity) {
    const size_t capacity = self->n + n + self->capacity / 2;
    CclPatchPair *pairs = reallocarray (self->pairs, capacity, sizeof *pairs);
    if (!pairs)
      return fail_without_memory (error);
    self->pairs = pairs;
    self->capacity = capacity;
  }
  for (size_t i = 0; i < n; i++)
    self->pairs[self->n++] = (CclPatchPair){rows[i].label - 1, rows[i].neighbour - 1};
  return true;
}

/* Lists the patches that touch in layers, and in the one before them, which is NULL if there is
 * none. */
static CclStatus
list_pairs (const Relabelling *patches, const uint32_t *before, uint64_t n_layers, Pairs *pairs,
    CclError *error)
{
  const CclTiledPlan *plan = patches->plan;
  CclContacts *contacts = ccl_contacts_new (plan->width, is_frame (plan) ? 1 : plan->height,
      plan->connectivity, sizeof (uint32_t), error);
  CclStatus status = contacts ? CUDACCL_OK : CUDACCL_ERROR_NO_MEMORY;
  const CclContact *rows = NULL;
  size_t n;

  if (status == CUDACCL_OK && before)
    status = ccl_contacts_add (contacts, before, 1, error);
  if (status == CUDACCL_OK)
    status = ccl_contacts_add (contacts, patches->layers, n_layers, error);
  if (status == CUDACCL_OK)
    status = ccl_contacts_rows (contacts, &rows, &n, error);
  if (status == CUDACCL_OK)
    status = to_status (append_pairs (pairs, rows, n, error));
  ccl_contacts_free (&contacts);
  return status;
}

/* Lists the patches that touch, some layers at a time. */
static CclStatus
find_pairs (Relabelling *patches, Pairs *pairs, CclError *error)
{
  const uint64_t at_once = layers_at_once (patches), layer = patches->layer;
  uint32_t *before = reallocarray (NULL, layer, sizeof *before);
  CclStatus status = to_status (before || fail_without_memory (error));

  for (uint64_t first = 0; first < patches->n_layers && status == CUDACCL_OK; first += at_once) {
    const uint64_t n_layers = layers_from (patches, first, at_once);
    status = to_status (read_map (patches, first, n_layers, error));
    if (status == CUDACCL_OK)
      status = list_pairs (patches, first > 0 ? before : NULL, n_layers, pairs, error);
    if (status == CUDACCL_OK)
      memcpy (before, patches->layers + (n_layers - 1) * layer, layer * sizeof *before);
  }
  free (before);
  return status;
}

static CclPatch
patch_of (const CclTiledPlan *plan, const CclTiledComponent *row, uint64_t label)
{
  return (CclPatch){label, row->area, {row->x, row->y, row->z},
      {row->x + row->width - 1, row->y + row->height - 1, row->z + row->depth - 1},
      !holes_is_enclosed (plan, row)};
}

/* Describes the patches from their rows. Returns NULL with the error filled. */
static CclPatch *
list_patches (const Relabelling *self, CclError *error)
{
  const uint64_t *values = self->of_values.values.data;
  const uint32_t n_labelled = self->labelled ? self->labelled->n : 0;
  CclTiledComponent *rows = malloc (CHUNK_ROWS * sizeof *rows);
  CclPatch *patches = reallocarray (NULL, (size_t)self->n + 1, sizeof *patches);

  if (!rows || !patches)
    fail_without_memory (error);
  for (uint32_t first = 0, n; rows && patches && first < self->n; first += n) {
    n = self->n - first < CHUNK_ROWS ? self->n - first : CHUNK_ROWS;
    derive (self, first, n, rows, NULL);
    for (uint32_t i = 0; i < n; i++) {
      uint32_t label = first + i < n_labelled ? first + i + 1 : 0;
      if (!self->labelled)
        memcpy (&label, &values[first + i], sizeof label);
      patches[first + i] = patch_of (self->plan, &rows[i], label);
    }
  }
  free (rows);
  if (rows)
    return patches;
  free (patches);
  return NULL;
}

/* Writes the labels of patches to the map. */
static CclStatus
fill_map (Relabelling *self, Relabelling *patches, const uint64_t *labels, CclError *error)
{
  const uint64_t at_once = layers_at_once (self);
  bool succeeded = true;

  for (uint64_t first = 0; first < self->n_layers && succeeded; first += at_once) {
    const uint64_t n_layers = layers_from (self, first, at_once), n = n_layers * self->layer;
    succeeded = read_map (patches, first, n_layers, error);
    for (uint64_t i = 0; i < n && succeeded; i++)
      patches->layers[i] = (uint32_t)labels[patches->layers[i] - 1];
    succeeded = succeeded && kept_map_write (self->map, first * self->layer, patches->layers, n,
                                 sizeof *patches->layers, error);
  }
  self->joined = NULL;
  return to_status (succeeded);
}

/* Fills the holes of patches, and writes the map. */
static CclStatus
fill_patches (Relabelling *self, Relabelling *patches, CclError *error)
{
  Pairs pairs = {0};
  CclStatus status = find_pairs (patches, &pairs, error);
  CclPatch *all = status == CUDACCL_OK ? list_patches (patches, error) : NULL;
  uint64_t *labels = all ? reallocarray (NULL, (size_t)patches->n + 1, sizeof *labels) : NULL;

  if (status == CUDACCL_OK && !labels)
    status = to_status (fail_without_memory (error));
  if (status == CUDACCL_OK)
    status = ccl_fill_patches (
        all, patches->n, pairs.pairs, pairs.n, self->settings->max_hole, labels, error);
  free (pairs.pairs);
  free (all);
  if (status == CUDACCL_OK)
    status = fill_map (self, patches, labels, error);
  free (labels);
  return status;
}

/* Reads the map's background as a picture whose other pixels are 0. */
static CclStatus
read_background (void *data, uint64_t first_layer, uint64_t n_layers, void *values,
    uint8_t *foreground, CclError *error)
{
  Relabelling *self = data;
  uint8_t *is_background = values;

  if (!read_map (self, first_layer, n_layers, error))
    return CUDACCL_ERROR_IO;
  for (uint64_t i = 0; i < n_layers * self->layer; i++)
    is_background[i] = self->layers[i] == 0;
  return CUDACCL_OK;
}

/* Fills the holes of each label of the map, whose patches are the components of the map as a
 * picture with many values. Of a mask, each label is taken for one patch, although its parts may
 * touch at corners only: the two other pixels at such a corner are of the label too, or background
 * that connects the parts. */
static CclStatus
fill_holes (Relabelling *self, CclError *error)
{
  const bool is_mask = !self->settings->values && !self->settings->split_radius;
  const CclTiledPlan all = plan_of_all (self->plan), plan = holes_plan (&all, 0);
  const ValuesPicture map = {.data = self,
      .read = is_mask ? read_background : read_as_values,
      .type = is_mask ? CUDACCL_VALUE_TYPE_8 : CUDACCL_VALUE_TYPE_32,
      .zero_is_background = is_mask};
  Relabelling patches = {.plan = &plan, .layer = self->layer, .n_layers = self->n_layers};
  CclStatus status = find_values (&patches, &map, error);

  if (status == CUDACCL_OK && is_mask) {
    patches.labelled = self;
    if (patches.n >= UINT32_MAX - self->n)
      status = to_status (fail (error, "there are more than 2^32 components and holes together"));
    patches.n += self->n;
  }
  if (status == CUDACCL_OK)
    status = measure (&patches, error);
  if (status == CUDACCL_OK)
    status = fill_patches (self, &patches, error);
  clear (&patches);
  return status;
}

CclStatus
relabel_run (const CclTiledPlan *plan, const CclTiledIo *io, const RelabelSettings *settings,
    CclTiledResult *result, CclError *error)
{
  Relabelling self = {.plan = plan,
      .io = io,
      .settings = settings,
      .layer = layer_pixels (plan),
      .n_layers = n_layers_of (plan)};
  CclStatus status = settings->values ? find_values (&self, settings->values, error)
                                      : find_components (&self, result, error);

  if (status == CUDACCL_OK && settings->axes)
    status = join (&self, error);
  if (status == CUDACCL_OK && settings->split_radius)
    status = split (&self, error);
  if (status == CUDACCL_OK && settings->distances)
    status = find_distances (&self, error);
  if (status == CUDACCL_OK && settings->fills_holes)
    status = fill_holes (&self, error);
  if (status == CUDACCL_OK && settings->fills_holes && counts_parts (&self))
    status = count_parts (&self, error);
  if (status == CUDACCL_OK && !settings->axes)
    status = measure (&self, error);
  if (status == CUDACCL_OK)
    status = write_results (&self, error);
  if (result)
    result->n_components = self.n_kept;
  if (result && settings->values)
    result->n_tiles = self.of_values.n_tiles;
  clear (&self);
  return status;
}
