/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "relabel.h"

#include "pictures/error.h"
#include "holes.h"
#include "kept-map.h"

#include <cudaccl/chunks.h>
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
  KeptMap *map;             /* of components, whose holes are filled later */
  uint32_t n;               /* of components, later of joined ones */
  uint32_t *numbers;        /* [n + 1]: the final label of each label of the map */
  uint64_t n_kept;

  CclBorders *borders; /* NULL: none touch */
  const uint32_t *joined;
  const CclTiledComponent *joined_rows;

  /* Holes. Patches are components, then those of the background. */
  KeptMap *background;
  CclPatch *patches;
  CclPatchPair *pairs; /* one or none for each patch */
  uint64_t *labels;    /* of patches, filled */
  uint32_t *layers;    /* of the map, beside those of the background */
  uint64_t n_background, n_pairs;
  uint32_t n_seen, n_background_seen; /* labels that came */

  void *sums; /* [n] */
} Relabelling;

static CclStatus
to_status (bool succeeded)
{
  return succeeded ? CUDACCL_OK : CUDACCL_ERROR_IO;
}

static bool
is_frame (const CclTiledPlan *plan)
{
  return plan->connectivity == 4 || plan->connectivity == 8;
}

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

  (void)first_label, (void)n_labels, (void)label_bytes;
  self->n = (uint32_t)n_components;
  if (!self->settings->fills_holes)
    return CUDACCL_OK;
  self->patches = reallocarray (NULL, n_components + 1, sizeof *self->patches);
  return to_status (self->patches || fail_without_memory (error));
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

static CclPatch
patch_of (const Relabelling *self, const CclTiledComponent *row, uint64_t label)
{
  return (CclPatch){label, row->area, {row->x, row->y, row->z},
      {row->x + row->width - 1, row->y + row->height - 1, row->z + row->depth - 1},
      !holes_is_enclosed (self->plan, row)};
}

static CclStatus
take_components (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  Relabelling *self = data;
  (void)error;
  for (size_t i = 0; i < n; i++)
    self->patches[rows[i].label - 1] = patch_of (self, &rows[i], rows[i].label);
  return CUDACCL_OK;
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
      .rows = self->settings->fills_holes ? take_components : NULL,
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

static CclStatus
begin_background (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Relabelling *self = data;
  const size_t n = self->n + n_components + 1;

  (void)first_label, (void)n_labels, (void)label_bytes;
  self->n_background = n_components;
  CclPatch *patches = reallocarray (self->patches, n, sizeof *patches);
  if (patches)
    self->patches = patches;
  self->pairs = reallocarray (NULL, n, sizeof *self->pairs);
  self->labels = reallocarray (NULL, n, sizeof *self->labels);
  return to_status ((patches && self->pairs && self->labels) || fail_without_memory (error));
}

static CclStatus
take_background (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  Relabelling *self = data;
  (void)error;
  for (size_t i = 0; i < n; i++)
    self->patches[self->n + rows[i].label - 1] = patch_of (self, &rows[i], 0);
  return CUDACCL_OK;
}

/* The patch of a pixel with a label of a component or of the background. */
static uint64_t
patch_at (const Relabelling *self, uint32_t label, uint32_t of_background)
{
  return label ? label - 1 : (uint64_t)self->n + of_background - 1;
}

/* Whether a pixel is the first one of its patch. */
static bool
is_first (Relabelling *self, uint32_t label, uint32_t of_background)
{
  uint32_t *seen = label ? &self->n_seen : &self->n_background_seen;
  const uint32_t here = label ? label : of_background;

  if (here <= *seen)
    return false;
  *seen = here;
  return true;
}

static CclStatus
changed (CclError *error)
{
  fail (error, "the pixels changed while they were labelled");
  return CUDACCL_ERROR_IO;
}

/* Lists the pairs of patches that begin in layers, and those before their first pixels. */
static CclStatus
list_pairs (Relabelling *self, const uint32_t *background, uint64_t n_layers, CclError *error)
{
  const uint64_t n = n_layers * self->layer, n_patches = self->n + self->n_background;

  for (uint64_t i = 0; i < n; i++) {
    const uint32_t label = self->layers[i];
    if (!label == !background[i])
      return changed (error);
    if (!is_first (self, label, background[i]) || i % self->plan->width == 0)
      continue;
    const uint64_t patch = patch_at (self, label, background[i]);
    const uint64_t before = patch_at (self, self->layers[i - 1], background[i - 1]);
    if (patch >= n_patches || self->n_pairs > n_patches)
      return changed (error);
    self->pairs[self->n_pairs++] = (CclPatchPair){patch, before};
  }
  return CUDACCL_OK;
}

/* Reads layers of the map beside those of the background. */
static bool
read_map (Relabelling *self, uint64_t first_layer, uint64_t n_layers, CclError *error)
{
  const uint64_t n = n_layers * self->layer;
  uint32_t *layers = reallocarray (self->layers, n, sizeof *layers);

  if (!layers)
    return fail_without_memory (error);
  self->layers = layers;
  return kept_map_read (self->map, first_layer * self->layer, layers, n, sizeof *layers, error);
}

static CclStatus
keep_background (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  Relabelling *self = data;

  if (!kept_map_write (self->background, first_layer * self->layer, labels, n_layers * self->layer,
          sizeof (uint32_t), error) ||
      !read_map (self, first_layer, n_layers, error))
    return CUDACCL_ERROR_IO;
  return list_pairs (self, labels, n_layers, error);
}

/* Layers that are read or written at once. */
static uint64_t
layers_at_once (const Relabelling *self)
{
  const uint64_t n = CHUNK_BYTES / sizeof (uint64_t) / self->layer;
  return n < 1 ? 1 : n < self->n_layers ? n : self->n_layers;
}

/* Writes the labels of holes to the map. */
static CclStatus
fill_map (Relabelling *self, CclError *error)
{
  const uint64_t at_once = layers_at_once (self);
  uint32_t *background = reallocarray (NULL, at_once * self->layer, sizeof *background);
  bool succeeded = background || fail_without_memory (error);

  for (uint64_t first = 0; first < self->n_layers && succeeded; first += at_once) {
    const uint64_t n_layers = self->n_layers - first < at_once ? self->n_layers - first : at_once;
    const uint64_t n = n_layers * self->layer;
    succeeded = read_map (self, first, n_layers, error) &&
                kept_map_read (self->background, first * self->layer, background, n,
                    sizeof *background, error);
    for (uint64_t i = 0; i < n && succeeded; i++)
      if (!self->layers[i])
        self->layers[i] = (uint32_t)self->labels[self->n + background[i] - 1];
    succeeded = succeeded && kept_map_write (self->map, first * self->layer, self->layers, n,
                                 sizeof *self->layers, error);
  }
  free (background);
  return to_status (succeeded);
}

static CclStatus
fill_holes (Relabelling *self, CclError *error)
{
  const CclTiledPlan all = plan_of_all (self->plan);
  CclTiledPlan plan = holes_plan (&all, 0);
  const CclTiledIo io = {.data = self,
      .read = read_layers,
      .begin = begin_background,
      .write = keep_background,
      .rows = take_background};

  plan.label_bytes = sizeof (uint32_t);
  self->background = kept_map_new (self->plan->scratch_folder, "holes", error);
  CclStatus status =
      self->background ? ccl_tiled_run (&plan, &io, NULL, NULL, error) : CUDACCL_ERROR_IO;
  if (status == CUDACCL_OK &&
      (self->n_seen != self->n || self->n_background_seen != self->n_background))
    status = changed (error);
  if (status == CUDACCL_OK)
    status = ccl_fill_patches (self->patches, self->n + self->n_background, self->pairs,
        self->n_pairs, self->settings->max_hole, self->labels, error);
  if (status == CUDACCL_OK)
    status = fill_map (self, error);
  kept_map_free (self->background);
  self->background = NULL;
  free (self->patches);
  free (self->pairs);
  self->patches = NULL;
  self->pairs = NULL;
  return status;
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
  const uint64_t memory = self->plan->memory ? self->plan->memory : (uint64_t)1 << 30;
  uint64_t n = self->plan->tile_layers ? self->plan->tile_layers
                                       : memory / 4 / BYTES_PER_PIXEL / self->layer;

  const uint64_t most = CUDACCL_MAX_PIXELS / self->layer, around = 2 * most_around (self->plan);
  if (n > most - around)
    n = most > around ? most - around : 1;
  return n < 1 ? 1 : n < self->n_layers ? n : self->n_layers;
}

/* The labels that occur in some layers, numbered without gaps. */
typedef struct Local {
  uint32_t *numbers; /* [n + 1]: of each label; 0: it is not there */
  uint64_t *owners;  /* [n]: of each number the label, counted from 0 */
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

  const size_t value_bytes = plan->intensity_format == CUDACCL_PIXEL_FORMAT_8    ? 1
                             : plan->intensity_format == CUDACCL_PIXEL_FORMAT_16 ? 2
                                                                                 : sizeof (double);
  /* Values around are not used. */
  if (status == CUDACCL_OK && values)
    status = self->io->read_values (self->io->data, first + plan->layers_before,
        n_layers - plan->layers_before - plan->layers_after,
        (char *)values + plan->layers_before * self->layer * value_bytes, error);
  if (status != CUDACCL_OK)
    return status;
  number_locally (local, self->layers, n);
  const CclVolumeLabels map = {self->layers, 4 * (size_t)width, 4 * (size_t)width * height};
  const CclVolumeIntensity intensity = {
      values, width * value_bytes, width * value_bytes * height, plan->intensity_format};
  void *sums = reallocarray (NULL, local->n + (size_t)1, ccl_sums_bytes ());
  if (!sums)
    return fail_without_memory (error), CUDACCL_ERROR_NO_MEMORY;
  status = ccl_sums_measure (plan, &map, width, height, is_frame ? 1 : (uint32_t)n_layers, 0,
      is_frame ? first : 0, is_frame ? 0 : first, values ? &intensity : NULL, local->n, sums,
      error);
  if (status == CUDACCL_OK)
    ccl_sums_add (plan, self->sums, sums, local->owners, local->n);
  free (sums);
  return status;
}

/* Measures the map. */
static CclStatus
measure (Relabelling *self, CclError *error)
{
  const uint64_t at_once = layers_to_measure (self);
  CclSumsPlan plan = sums_plan (self->plan, self->plan->columns);
  const size_t n = (size_t)self->n + 1;
  Local local = {
      .numbers = calloc (n, sizeof *local.numbers), .owners = malloc (n * sizeof *local.owners)};
  void *values = NULL;
  CclStatus status = CUDACCL_OK;

  self->sums = reallocarray (NULL, n, ccl_sums_bytes ());
  if (plan.columns & CUDACCL_COLUMN_INTENSITY)
    values = reallocarray (
        NULL, (at_once + 2 * most_around (self->plan)) * self->layer, sizeof (double));
  if (!local.numbers || !local.owners || !self->sums ||
      (plan.columns & CUDACCL_COLUMN_INTENSITY && !values))
    status = to_status (fail_without_memory (error));
  else
    ccl_sums_clear (self->sums, self->n);
  for (uint64_t first = 0; first < self->n_layers && status == CUDACCL_OK; first += at_once) {
    const uint64_t n_layers = self->n_layers - first < at_once ? self->n_layers - first : at_once;
    status = measure_layers (self, &plan, first, n_layers, &local, values, error);
  }
  free (local.numbers);
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
    ccl_sums_derive (&plan, (const char *)self->sums + first * ccl_sums_bytes (), n, rows, shapes);
}

static bool
passes (const CclTiledPlan *plan, const CclTiledComponent *row)
{
  return row->area >= plan->min_area && (plan->max_area == 0 || row->area <= plan->max_area) &&
         !(plan->clears_border && !holes_is_enclosed (plan, row));
}

/* Numbers the components that pass the filters. rows: memory for CHUNK_ROWS. */
static CclStatus
number (Relabelling *self, CclTiledComponent *rows, CclError *error)
{
  self->numbers = calloc ((size_t)self->n + 1, sizeof *self->numbers);
  if (!self->numbers)
    return fail_without_memory (error), CUDACCL_ERROR_NO_MEMORY;
  for (uint32_t first = 0, n; first < self->n; first += n) {
    n = self->n - first < CHUNK_ROWS ? self->n - first : CHUNK_ROWS;
    derive (self, first, n, rows, NULL);
    for (uint32_t i = 0; i < n; i++)
      if (passes (self->plan, &rows[i]))
        self->numbers[first + i + 1] = (uint32_t)++self->n_kept;
  }
  return CUDACCL_OK;
}

/* Gives the rows of components that have a label to the caller. rows, shapes: memory for
 * CHUNK_ROWS. */
static CclStatus
write_rows (
    const Relabelling *self, CclTiledComponent *rows, CclVolumeShape *shapes, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint32_t first = 0, n; first < self->n && status == CUDACCL_OK; first += n) {
    uint32_t n_kept = 0;
    n = self->n - first < CHUNK_ROWS ? self->n - first : CHUNK_ROWS;
    derive (self, first, n, rows, shapes);
    for (uint32_t i = 0; i < n; i++) {
      if (!self->numbers[first + i + 1])
        continue;
      rows[n_kept] = rows[i];
      rows[n_kept].label = self->numbers[first + i + 1];
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
  uint64_t *wide =
      label_bytes == 8 ? reallocarray (NULL, at_once * self->layer, sizeof *wide) : NULL;
  CclStatus status = CUDACCL_OK;

  if (label_bytes == 8 && !wide)
    return fail_without_memory (error), CUDACCL_ERROR_NO_MEMORY;
  for (uint64_t first = 0; first < self->n_layers && status == CUDACCL_OK; first += at_once) {
    const uint64_t n_layers = self->n_layers - first < at_once ? self->n_layers - first : at_once;
    status = to_status (read_map (self, first, n_layers, error));
    for (uint64_t i = 0; i < n_layers * self->layer && status == CUDACCL_OK; i++) {
      const uint32_t label = self->joined ? self->joined[self->layers[i]] : self->layers[i];
      self->layers[i] = self->numbers[label];
      if (wide)
        wide[i] = self->layers[i];
    }
    if (status == CUDACCL_OK)
      status = self->io->write (
          self->io->data, first, n_layers, wide ? (const void *)wide : self->layers, error);
  }
  free (wide);
  return status;
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

CclStatus
relabel_run (const CclTiledPlan *plan, const CclTiledIo *io, const RelabelSettings *settings,
    CclTiledResult *result, CclError *error)
{
  Relabelling self = {.plan = plan,
      .io = io,
      .settings = settings,
      .layer = is_frame (plan) ? plan->width : plan->width * plan->height,
      .n_layers = is_frame (plan) ? plan->height : plan->depth};
  CclStatus status = find_components (&self, result, error);

  if (status == CUDACCL_OK && settings->axes)
    status = join (&self, error);
  if (status == CUDACCL_OK && settings->fills_holes)
    status = fill_holes (&self, error);
  if (status == CUDACCL_OK && !settings->axes)
    status = measure (&self, error);
  if (status == CUDACCL_OK)
    status = write_results (&self, error);
  if (result)
    result->n_components = self.n_kept;
  kept_map_free (self.map);
  kept_map_free (self.background);
  ccl_borders_free (&self.borders);
  free (self.patches);
  free (self.pairs);
  free (self.labels);
  free (self.layers);
  free (self.numbers);
  free (self.sums);
  return status;
}
