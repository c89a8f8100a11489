/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-label: labels the connected components of a picture in files, of any size. docs/ccl-label.md
 * describes it. ccl-label-mpi is the same program for several processes. */
#include "all-outputs.h"
#include "core/base/divide-up.h"
#include "error.h"
#include "label-whole.h"
#include "label/output/plane-shapes.h"
#include "label/relabel/holes.h"
#include "label/relabel/largest.h"
#include "label/relabel/plan.h"
#include "label/relabel/relabel.h"
#include "same-file.h"
#include "statistics.h"
#include "value-counts.h"

#include <cudaccl/cudaccl.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTED_PIXELS = 1 << 20 }; /* whose values are read at once, but at least a row */

/* A picture while it is labelled. */
typedef struct Job {
  const Options *options;
  Processes processes;
  Picture *picture;
  Mask *mask;          /* NULL: the labeller compares pixels with the threshold */
  Holes *holes;        /* to be filled; NULL: none are */
  Largest *largest;    /* components that stay; NULL: all do */
  ManyValues many;     /* the picture, with --values */
  ValueCounts *counts; /* of the plane that is counted */
  uint64_t n_counted;  /* components */
  const char *input;   /* its name */
  AllOutputs outputs;
  ColumnPicture kind;
  Intensities intensities;
  uint32_t plane;      /* of the intensities, which the present run measures */
  PlaneShapes *shapes; /* of all planes; NULL: there is only one */
  bool has_distances;  /* of many values: they are written */
  bool shows_progress;
  Phases phases;
  double shown; /* seconds after the begin when the progress was last shown */
} Job;

static void
show_progress (void *data, uint64_t done, uint64_t total)
{
  Job *job = data;
  const uint32_t n_runs = job->kind.n_planes;
  const double seconds = phases_total (&job->phases);
  const double share = ((double)done / (double)total + (n_runs - 1 - job->plane)) / n_runs;
  enum { LENGTH = 30 };
  char bar[LENGTH + 1];

  if (!job->shows_progress || (seconds - job->shown < 0.1 && share < 1))
    return;
  job->shown = seconds;
  for (int i = 0; i < LENGTH; i++)
    bar[i] = i < share * LENGTH ? '#' : '.';
  bar[LENGTH] = '\0';
  fprintf (stderr, "\r[%s] %3.0f %%, %.0f s left \033[K", bar, 100 * share,
      share > 0 ? seconds / share - seconds : 0);
  if (share >= 1)
    fputs ("\r\033[K", stderr);
}

static uint64_t
rows_per_layer (const Job *job)
{
  return job->picture->is_volume ? job->picture->height : 1;
}

static CclStatus
read_layers (void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  Job *job = data;
  const uint64_t rows = rows_per_layer (job), first_row = first_layer * rows;
  const Phase before = phases_enter (&job->phases, PHASE_READ);
  bool succeeded = job->mask ? mask_read (job->mask, first_row, n_layers * rows, pixels, error)
                             : picture_read (job->picture, first_row, n_layers * rows,
                                   job->options->mask.threshold, pixels, error);
  if (job->holes && succeeded)
    succeeded = holes_fill (job->holes, first_layer, n_layers, pixels, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

static CclStatus
read_many_values (void *data, uint64_t first_layer, uint64_t n_layers, void *values,
    uint8_t *foreground, CclError *error)
{
  Job *job = data;
  const Phase before = phases_enter (&job->phases, PHASE_READ);
  const ValuesPicture *picture = &job->many.picture;
  const CclStatus status =
      picture->read (picture->data, first_layer, n_layers, values, foreground, error);
  phases_enter (&job->phases, before);
  return status;
}

static CclStatus
read_values (void *data, uint64_t first_layer, uint64_t n_layers, void *values, CclError *error)
{
  Job *job = data;
  const uint64_t rows = rows_per_layer (job);
  const Phase before = phases_enter (&job->phases, PHASE_READ);
  const bool succeeded = intensities_read (
      &job->intensities, job->plane, first_layer * rows, n_layers * rows, values, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

/* A copy of n numbers, in place of former ones. NULL without memory. */
static void *
copy_of (void *former, const void *numbers, uint64_t n, size_t bytes)
{
  void *copy = reallocarray (NULL, n + 1, bytes);

  free (former);
  return copy ? memcpy (copy, numbers, n * bytes) : NULL;
}

/* Keeps the values of components for their column. */
static CclStatus
take_values (void *data, const uint64_t *values, uint64_t n, CclError *error)
{
  ColumnPicture *kind = &((Job *)data)->kind;

  for (uint64_t i = 0; i < n && kind->value_type == SAMPLE_UINT64; i++)
    if (values[i] > INT64_MAX)
      return to_status (fail (error, "the column 'value' cannot have %llu: it ends at 2^63 − 1",
          (unsigned long long)values[i]));
  kind->values = copy_of (kind->values, values, n, sizeof *values);
  return to_status (kind->values || fail_without_memory (error));
}

/* Keeps the parts of objects for their columns. */
static CclStatus
take_parts (void *data, const uint32_t *n_parts, uint64_t n, CclError *error)
{
  ColumnPicture *kind = &((Job *)data)->kind;

  kind->n_parts = copy_of (kind->n_parts, n_parts, n, sizeof *n_parts);
  return to_status (kind->n_parts || fail_without_memory (error));
}

static CclStatus
begin_outputs (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Job *job = data;
  if (job->largest) {
    const uint64_t n_found = n_components;
    n_components = largest_choose (job->largest);
    largest_move (job->largest, job->kind.values, sizeof *job->kind.values, n_found);
    largest_move (job->largest, job->kind.n_parts, sizeof *job->kind.n_parts, n_found);
  }
  return to_status (outputs_begin (&job->outputs, n_components, first_label, label_bytes, error));
}

static CclStatus
write_layers (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  Job *job = data;
  const size_t n = n_layers * rows_per_layer (job) * job->picture->width;

  if (job->largest)
    labels = largest_labels (job->largest, labels, n, job->outputs.label_bytes, error);
  return to_status (
      labels && outputs_write_labels (&job->outputs, first_layer, n_layers, labels, error));
}

/* Counts the values of layers, a few rows at a time. */
static CclStatus
count_values (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  Job *job = data;
  const Intensities *intensities = &job->intensities;
  const uint64_t rows = rows_per_layer (job), width = job->picture->width;
  const uint32_t label_bytes = job->outputs.label_bytes;
  const uint64_t at_once = width < COUNTED_PIXELS ? COUNTED_PIXELS / width : 1;
  void *values = malloc (at_once * width * intensities_bytes (intensities));
  bool succeeded = values || fail_without_memory (error);

  if (succeeded && job->largest) {
    labels = largest_labels (job->largest, labels, n_layers * rows * width, label_bytes, error);
    succeeded = labels != NULL;
  }
  for (uint64_t done = 0; done < n_layers * rows && succeeded; done += at_once) {
    const uint64_t rest = n_layers * rows - done, n = rest < at_once ? rest : at_once;
    succeeded =
        intensities_read (intensities, job->plane, first_layer * rows + done, n, values, error) &&
        value_counts_add (job->counts, (const char *)labels + done * width * label_bytes,
            label_bytes, values, intensities->format, n * width, error);
  }
  free (values);
  return to_status (succeeded);
}

/* Prepares the counts when the number of components and their labels are known. */
static CclStatus
prepare_counts (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Job *job = data;
  job->n_counted = job->largest ? largest_choose (job->largest) : n_components;
  job->outputs.label_bytes = label_bytes;
  return CUDACCL_OK;
}

/* Begins to count the values of a plane. */
static bool
start_counts (Job *job, uint32_t plane, CclError *error)
{
  value_counts_free (job->counts);
  job->plane = plane;
  job->counts = value_counts_new (error);
  return job->counts != NULL;
}

/* Finds medians and quantiles from the counts of the plane's values. */
static bool
find_ranks_of_plane (Job *job, CclError *error)
{
  const Options *options = job->options;
  const uint32_t n_shares = 1 + options->n_quantiles, n_planes = job->kind.n_planes;
  double shares[1 + MOST_QUANTILES] = {VALUE_COUNTS_MEDIAN};

  memcpy (shares + 1, options->quantiles, options->n_quantiles * sizeof *shares);
  if (!job->kind.ranks)
    job->kind.ranks =
        reallocarray (NULL, (job->n_counted + 1) * n_planes, n_shares * sizeof *job->kind.ranks);
  if (!job->kind.ranks)
    return fail_without_memory (error);
  value_counts_find (job->counts, shares, n_shares, options->ignores_nan, job->n_counted,
      (size_t)n_planes * n_shares, &job->kind.ranks[job->plane * n_shares]);
  return true;
}

static CclStatus
write_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *shapes, size_t n,
    CclError *error)
{
  Job *job = data;
  bool succeeded = true;

  if (!job->largest)
    return to_status (outputs_write_rows (&job->outputs, rows, shapes, n, error));
  for (size_t i = 0; i < n && succeeded; i++) {
    const CclVolumeShape *of_row = shapes ? &shapes[i * job->kind.n_planes] : NULL;
    CclTiledComponent row = rows[i];
    row.label = largest_label (job->largest, row.label);
    if (row.label)
      succeeded = outputs_write_rows (&job->outputs, &row, of_row, 1, error);
  }
  return to_status (succeeded);
}

static CclStatus
write_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  return write_measured (data, rows, NULL, n, error);
}

/* Keeps the measures of a plane that is not the last. */
static CclStatus
keep_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *shapes, size_t n,
    CclError *error)
{
  Job *job = data;
  return to_status (plane_shapes_keep (job->shapes, shapes, n, error));
}

/* Joins the measures of the last plane with those of the others, and writes them. */
static CclStatus
join_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *shapes, size_t n,
    CclError *error)
{
  Job *job = data;
  const CclVolumeShape *all = plane_shapes_join (job->shapes, shapes, n, error);
  return all ? write_measured (data, rows, all, n, error) : CUDACCL_ERROR_IO;
}

static uint32_t
connectivity_of (const Job *job)
{
  return job->options->connectivity ? job->options->connectivity : job->picture->is_volume ? 26 : 8;
}

/* Opens the outputs. Collective. */
static bool
open_outputs (Job *job, CclError *error)
{
  const OutputFormat format = {
      .processes = job->processes,
      .width = job->picture->width,
      .height = job->picture->height,
      .depth = job->picture->depth,
      .is_volume = job->picture->is_volume,
      .compression = job->options->compression,
      .connectivity = connectivity_of (job),
      .columns = &job->options->columns,
      .kind = &job->kind,
      .geo = job->picture->geo,
  };
  job->outputs.phases = &job->phases;
  return outputs_open (&job->outputs, job->options, &format, job->input, error);
}

/* The layer where the slab of a rank begins; n_layers after the last rank. */
static uint64_t
slab_begin (const Job *job, uint64_t n_layers, uint64_t rank)
{
  const uint64_t unit = job->outputs.map ? label_map_unit (job->outputs.map) : 1,
                 n_ranks = job->processes.n_ranks;
  const uint64_t n_units = divide_up (n_layers, unit), rest = n_units % n_ranks;
  const uint64_t begin = (n_units / n_ranks * rank + (rank < rest ? rank : rest)) * unit;
  return begin < n_layers ? begin : n_layers;
}

/* Whether pixels are more than compared with the threshold. */
static bool
needs_mask (const Job *job)
{
  return !job->options->many_values &&
         (mask_is_needed (&job->options->mask) || job->picture->has_no_data);
}

/* Fills the plan. */
static bool
make_plan (const Job *job, CclTiledPlan *plan, CclError *error)
{
  const Options *options = job->options;
  const Picture *picture = job->picture;
  const uint64_t n_layers = job->picture->is_volume ? picture->depth : picture->height;
  const uint64_t begin = slab_begin (job, n_layers, job->processes.rank);

  *plan = (CclTiledPlan){
      .size = sizeof *plan,
      .width = picture->width,
      .height = picture->height,
      .depth = picture->depth,
      .connectivity = connectivity_of (job),
      .invert = options->mask.invert && !needs_mask (job),
      .min_area = options->min_area,
      .max_area = options->max_area,
      .clears_border = options->clears_border,
      .first_layer = begin,
      .n_layers = slab_begin (job, n_layers, job->processes.rank + 1) - begin,
      .tile_layers = options->tile,
      .memory = options->memory,
      .n_threads = options->mask.n_threads,
      .label_bytes = options->bits / 8,
      .columns = options->columns.measured,
      .intensity_format = job->intensities.format,
  };
  if (picture->type == SAMPLE_UINT8) {
    const double threshold = options->mask.threshold;
    if (!(threshold >= 0 && threshold < 256))
      return fail (error, "the threshold of 8-bit pixels must be 0…255, not %g", threshold);
    plan->threshold = needs_mask (job) ? 0 : (uint32_t)threshold;
  }
  return true;
}

/* Opens the GPU of the options. */
static CclCudaDevice *
open_device (const Job *job, CclError *error)
{
  const int gpu = job->options->gpu;
  return ccl_cuda_device_open (gpu >= 0 ? gpu : (int)job->processes.local_rank, error);
}

static CclStatus
begin_distances (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t bytes, CclError *error)
{
  const Job *job = data;
  return to_status (label_map_begin (job->outputs.distances, bytes, error));
}

static CclStatus
write_distances (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *squared, CclError *error)
{
  Job *job = data;
  const Phase before = phases_enter (&job->phases, PHASE_MAP);
  const bool succeeded =
      label_map_write (job->outputs.distances, first_layer, n_layers, squared, error);
  phases_enter (&job->phases, before);
  return to_status (succeeded);
}

/* Labels the picture tile by tile. Collective, unless components change when they are known. */
static bool
run_tiles (Job *job, const CclTiledPlan *plan, const CclTiledIo *io, const CclTiledPeers *peers,
    CclTiledResult *result, CclError *error)
{
  const Options *options = job->options;
  ValuesPicture many = job->many.picture;
  const CclTiledIo distances = {.data = job, .begin = begin_distances, .write = write_distances};
  const bool wants_distances =
      options->outputs[DISTANCES] && options->many_values && !job->has_distances;
  const RelabelSettings settings = {.axes = options->axes,
      .fills_holes = options->fills_labels,
      .max_hole = options->max_hole,
      .values = options->many_values ? &many : NULL,
      .take_values = columns_have_values (&options->columns) ? take_values : NULL,
      .distances = wants_distances ? &distances : NULL,
      .split_radius = options->split_radius,
      .take_parts = take_parts};

  job->has_distances |= wants_distances;
  many.data = job;
  many.read = read_many_values;
  if (options->axes || options->fills_labels || options->many_values || options->split_radius)
    return relabel_run (plan, io, &settings, result, error) == CUDACCL_OK;
  return ccl_tiled_run (plan, io, peers, result, error) == CUDACCL_OK;
}

static CclStatus
choose_largest (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  Job *job = data;
  return to_status (largest_add (job->largest, rows, n, error));
}

/* A labelling before that of the outputs, which finds the components that stay. */
static bool
find_largest (Job *job, const CclTiledPlan *with_columns, CclError *error)
{
  const CclTiledIo io = {.data = job, .read = read_layers, .rows = choose_largest};
  CclTiledPlan plan = *with_columns;

  plan.columns = 0;
  job->largest = largest_new (job->options->kept, error);
  return job->largest && run_tiles (job, &plan, &io, NULL, NULL, error);
}

/* Labellings before that of the outputs, one for each plane, which count the values of components.
 */
static bool
find_ranks (Job *job, const CclTiledPlan *with_columns, CclError *error)
{
  const CclTiledIo io = {
      .data = job, .read = read_layers, .begin = prepare_counts, .write = count_values};
  CclTiledPlan plan = *with_columns;
  bool succeeded = true;

  plan.columns = 0;
  for (uint32_t plane = 0; plane < job->kind.n_planes && succeeded; plane++)
    succeeded = start_counts (job, plane, error) &&
                run_tiles (job, &plan, &io, NULL, NULL, error) && find_ranks_of_plane (job, error);
  return succeeded;
}

/* Finds the distances of the mask that is labelled afterwards. */
static bool
find_distances (Job *job, const CclTiledPlan *plan, CclError *error)
{
  const CclTiledIo io = {.data = job,
      .read = read_layers,
      .begin = begin_distances,
      .write = write_distances,
      .progress = show_progress};
  return ccl_tiled_distances (plan, &io, error) == CUDACCL_OK;
}

/* Labels the picture once for each plane of the values, or once without values. Collective. */
static bool
label_planes (Job *job, CclTiledPlan *plan, CclTiledResult *result, CclError *error)
{
  const CclTiledPeers *peers = job->processes.peers;
  const uint32_t n_planes = job->kind.n_planes, columns = plan->columns;
  const CclTiledIo last = {
      .data = job,
      .read = read_layers,
      .begin = begin_outputs,
      .write =
          job->outputs.map || job->outputs.contours || job->outputs.contacts ? write_layers : NULL,
      .rows = job->outputs.table || job->outputs.contours ? write_rows : NULL,
      .progress = show_progress,
      .read_values = job->intensities.picture ? read_values : NULL,
      .measured = n_planes > 1 ? join_measured : write_measured,
  };
  CclTiledIo other = {.data = job,
      .read = read_layers,
      .progress = show_progress,
      .read_values = read_values,
      .measured = keep_measured};
  CclTiledPeers watched;
  bool succeeded = true;

  if (peers)
    watched = phases_watch_peers (&job->phases, peers);
  if (n_planes > 1) {
    job->shapes =
        plane_shapes_new (n_planes, job->outputs.names[TABLE].temporary, &job->processes, error);
    succeeded = processes_agree (job->shapes != NULL, error);
  }
  for (uint32_t i = n_planes; i-- > 0 && succeeded;) {
    job->plane = i;
    plan->columns = i > 0 ? CUDACCL_COLUMN_INTENSITY : columns;
    succeeded =
        run_tiles (job, plan, i > 0 ? &other : &last, peers ? &watched : NULL, result, error);
    if (i > 0)
      succeeded = processes_agree (succeeded, error);
  }
  return succeeded && (!job->shapes || plane_shapes_check (job->shapes, error));
}

static bool
label (Job *job, CclTiledResult *result, CclError *error)
{
  const Options *options = job->options;
  CclTiledPlan plan;
  bool succeeded = make_plan (job, &plan, error);

  phases_enter (&job->phases, PHASE_DEVICE);
  if (succeeded && options->use_gpu) {
    plan.device = open_device (job, error);
    succeeded = plan.device != NULL;
  }
  succeeded = processes_agree (succeeded, error);
  phases_enter (&job->phases, PHASE_READ);
  if (succeeded && needs_mask (job)) {
    const uint64_t rows = rows_per_layer (job);
    job->mask = mask_new (
        job->picture, &options->mask, plan.first_layer * rows, plan.n_layers * rows, error);
    succeeded = job->mask != NULL;
  }
  const char *output = NULL;
  for (int i = N_OUTPUTS; i-- > 0;)
    output = options->outputs[i] ? options->outputs[i] : output;
  char *folder = output ? folder_of (output) : NULL;
  if (succeeded && output && !folder)
    succeeded = fail_without_memory (error);
  succeeded = processes_agree (succeeded, error);
  plan.scratch_folder = folder;
  phases_enter (&job->phases, PHASE_LABEL);
  if (succeeded && options->fills_holes) {
    job->holes = holes_find (&plan, read_layers, job, options->max_hole, error);
    succeeded = job->holes != NULL;
  }
  if (succeeded && options->outputs[DISTANCES] && !options->many_values)
    succeeded = find_distances (job, &plan, error);
  if (succeeded && options->kept)
    succeeded = find_largest (job, &plan, error);
  if (succeeded && columns_have_ranks (&options->columns))
    succeeded = find_ranks (job, &plan, error);
  if (succeeded)
    succeeded = label_planes (job, &plan, result, error);
  if (succeeded && job->largest)
    result->n_components = largest_choose (job->largest);
  if (plan.device)
    ccl_cuda_device_unref (&plan.device);
  free (folder);
  return succeeded;
}

/* Chooses the largest of a picture that is labelled as a whole. */
static bool
choose_objects (Job *job, WholeLabels *found, CclTiledResult *result, CclError *error)
{
  job->largest = largest_new (job->options->kept, error);
  if (!job->largest || !largest_add (job->largest, found->rows, found->n_components, error))
    return false;
  result->n_components = largest_choose (job->largest);
  return true;
}

/* Counts the values of components of a picture that is labelled as a whole. */
static bool
find_ranks_of_whole (Job *job, const WholeLabels *found, CclError *error)
{
  const Picture *picture = job->picture;
  const uint64_t n_layers = picture->is_volume ? picture->depth : picture->height;
  bool succeeded =
      prepare_counts (job, found->n_components, 1, found->n_components, 4, error) == CUDACCL_OK;

  for (uint32_t plane = 0; plane < job->kind.n_planes && succeeded; plane++)
    succeeded = start_counts (job, plane, error) &&
                count_values (job, 0, n_layers, found->labels, error) == CUDACCL_OK &&
                find_ranks_of_plane (job, error);
  return succeeded;
}

/* Labels a picture in memory. */
static bool
label_whole (Job *job, CclTiledResult *result, CclError *error)
{
  const Options *options = job->options;
  const Picture *picture = job->picture;
  const uint64_t n_layers = picture->is_volume ? picture->depth : picture->height;
  CclTiledPlan plan;
  WholeLabels found;

  if (!make_plan (job, &plan, error))
    return false;
  phases_enter (&job->phases, PHASE_DEVICE);
  if (!(plan.device = open_device (job, error)))
    return false;
  phases_enter (&job->phases, PHASE_LABEL);
  if (!options->many_values) {
    job->mask = mask_new (job->picture, &options->mask, 0, picture->height * picture->depth, error);
    if (!job->mask) {
      ccl_cuda_device_unref (&plan.device);
      return false;
    }
  }
  const WholeSettings settings = {.mask = job->mask,
      .values = &job->many.picture,
      .plan = &plan,
      .split_radius = options->split_radius,
      .fills_holes = options->fills_labels,
      .max_hole = (uint32_t)options->max_hole,
      .intensities = job->intensities.picture ? &job->intensities : NULL,
      .n_planes = job->kind.n_planes};
  bool succeeded = whole_label (job->picture, &settings, &found, error);
  result->n_components = found.n_components;
  if (succeeded && options->kept)
    succeeded = choose_objects (job, &found, result, error);
  if (succeeded && columns_have_ranks (&options->columns))
    succeeded = find_ranks_of_whole (job, &found, error);
  job->kind.n_parts = found.n_parts;
  found.n_parts = NULL;
  if (succeeded)
    succeeded =
        begin_outputs (job, found.n_components, 1, found.n_components, 4, error) == CUDACCL_OK &&
        write_layers (job, 0, n_layers, found.labels, error) == CUDACCL_OK &&
        write_measured (job, found.rows, found.shapes, found.n_components, error) == CUDACCL_OK;
  if (succeeded && job->outputs.distances)
    succeeded = label_map_begin (job->outputs.distances, sizeof *found.squared, error) &&
                label_map_write (job->outputs.distances, 0, n_layers, found.squared, error);
  whole_labels_clear (&found);
  ccl_cuda_device_unref (&plan.device);
  return succeeded;
}

/* Checks what the command line says about the picture. */
static bool
check_picture (const Job *job, const char *name, CclError *error)
{
  const Picture *picture = job->picture;
  const uint32_t connectivity = job->options->connectivity;
  const bool is_of_volumes = connectivity == 6 || connectivity == 18 || connectivity == 26;

  if (is_of_volumes && !picture->is_volume)
    return fail (
        error, "%s: a picture has 4 or 8 neighbours; %u are those of volumes", name, connectivity);
  if (job->processes.n_ranks > 1 &&
      (options_are_whole (job->options) || job->options->axes || job->options->fills_labels ||
          job->options->fills_holes || job->options->kept || job->options->outputs[CONTACTS] ||
          job->options->outputs[DISTANCES] || job->options->split_radius))
    return fail (error, "--values, --periodic, --split, --distances, --fill-holes, "
                        "--fill-label-holes, --keep-largest and --adjacency are for one process");
  if (job->options->axes & CUDACCL_AXIS_Z && !picture->is_volume)
    return fail (error, "%s: a picture has no axis z; --periodic z is for volumes", name);
  if (job->options->background != 0 && picture->has_no_data)
    return fail (error,
        "%s: pixels without data are the background; --background is for pictures without them",
        name);
  if (!connectivity && picture->may_be)
    return fail (error, "%s: %llu×%llu×%llu: %s, or a volume? Then give its --connectivity", name,
        (unsigned long long)picture->depth, (unsigned long long)picture->height,
        (unsigned long long)picture->width, picture->may_be);
  return true;
}

/* Checks the columns of the table, and opens what they need. */
static bool
prepare_columns (Job *job, CclError *error)
{
  const Options *options = job->options;
  const Picture *picture = job->picture;

  job->kind = (ColumnPicture){.sides = {picture->depth, picture->height, picture->width},
      .is_volume = picture->is_volume,
      .connectivity = connectivity_of (job),
      .n_planes = 1,
      .affine = picture->geo && picture->geo->has_affine ? picture->geo->affine : NULL,
      .spacing = options->n_spacing ? options->spacing : NULL,
      .has_values = options->many_values && !options_are_whole (options),
      .value_type = picture_value_type (picture),
      .n_quantiles = options->n_quantiles,
      .quantiles = options->quantiles};
  if (options->n_spacing > 1 && options->n_spacing != (picture->is_volume ? 3 : 2))
    return fail (error, "--spacing has %u numbers, and the picture %d axes", options->n_spacing,
        picture->is_volume ? 3 : 2);
  if (!columns_check (&options->columns, &job->kind, error))
    return false;
  if (job->processes.n_ranks > 1 && columns_have_ranks (&options->columns))
    return fail (
        error, "the columns 'intensity_median' and 'intensity_quantile' are for one process");
  if (options->intensity) {
    if (!intensities_open (&job->intensities, options->intensity, &options->picture, picture,
            options->ignores_nan, error))
      return false;
    job->kind.n_planes = job->intensities.n_planes;
  }
  if (options->sort_by || options->largest) {
    if (job->processes.n_ranks > 1)
      return fail (error, "--sort-by and --largest are for one process, not for several");
    job->outputs.order =
        row_order_new (&options->columns, &job->kind, options->sort_by, options->largest, error);
    if (!job->outputs.order)
      return false;
  }
  return true;
}

/* Opens the picture, unless an output would overwrite it. */
static bool
open_input (Job *job, char **inputs, uint32_t n_inputs, CclError *error)
{
  const Options *options = job->options;
  const char *const *const outputs = options->outputs;
  char *const roi_mask = (char *)options->mask.roi_mask;
  char *const intensity = (char *)options->intensity;
  PictureOptions how = options->picture;

  how.pipes = job->processes.n_ranks == 1;
  if (!how.pipes && strcmp (inputs[0], "-") == 0)
    return fail (error, "one process alone can read standard input; give several a file");
  if (!check_output_names (inputs, n_inputs, outputs, N_OUTPUTS, error) ||
      !check_output_names (&roi_mask, 1, outputs, N_OUTPUTS, error) ||
      !check_output_names (&intensity, 1, outputs, N_OUTPUTS, error))
    return false;
  how.as_values = options->many_values;
  job->picture = picture_open (inputs, n_inputs, &how, error);
  if (!job->picture)
    return false;
  many_values_init (&job->many, job->picture, options->value_tolerance, options->background);
  return check_picture (job, inputs[0], error) && prepare_columns (job, error);
}

/* Labels the picture. Collective. */
static bool
run (Job *job, char **inputs, uint32_t n_inputs, CclError *error)
{
  CclTiledResult result = {0};
  bool succeeded;

  phases_init (&job->phases);
  job->input = inputs[0];
  job->shows_progress = !job->options->quiet && job->processes.rank == 0 && isatty (STDERR_FILENO);
  if (!processes_agree (open_input (job, inputs, n_inputs, error), error))
    return false;
  succeeded = open_outputs (job, error) &&
              (options_are_whole (job->options) ? label_whole : label) (job, &result, error);
  if (job->shows_progress && !succeeded)
    fputs ("\r\033[K", stderr);
  phases_enter (&job->phases, PHASE_CLOSE);
  succeeded = outputs_close (&job->outputs, &job->processes, succeeded, error);
  phases_enter (&job->phases, PHASE_OPEN);
  if (succeeded && job->processes.rank == 0 &&
      (printf ("%llu components\n", (unsigned long long)result.n_components) < 0 ||
          fflush (stdout) != 0))
    return fail (error, "standard output: %s", strerror (errno));
  if (succeeded && job->options->statistics)
    statistics_print (&job->processes, &job->phases, &result);
  return succeeded;
}

#if !CUDACCL_LABEL_MPI
/* Started by mpirun, the program for several processes takes over. */
static void
hand_over (char **argv)
{
  const char *n_ranks = getenv ("OMPI_COMM_WORLD_SIZE");
  char path[PATH_MAX + 8];
  const ssize_t n = readlink ("/proc/self/exe", path, PATH_MAX);

  if (!n_ranks || strcmp (n_ranks, "1") == 0 || n < 0)
    return;
  strcpy (path + n, "-mpi");
  execv (path, argv);
  fprintf (stderr, "ccl-label: mpirun needs %s: %s\n", path, strerror (errno));
  exit (1);
}
#endif

int
main (int argc, char **argv)
{
  CclError error = {CUDACCL_OK, ""};
  Options options;

#if !CUDACCL_LABEL_MPI
  hand_over (argv);
#endif
  /* A line is one write: mpirun mixes what it reads of several ranks, and the C library writes in
   * pieces where it has no buffer. */
  setvbuf (stderr, NULL, _IOLBF, BUFSIZ);
  const Processes processes = processes_start (&argc, &argv, pending_names_remove);
  int first = 0;
  pending_names_watch_signals ();
  const Request request = options_parse (argc, argv, &options, &first, &error);
  Job job = {.options = &options, .processes = processes};
  bool succeeded = request != REQUEST_INVALID;
  if (request == REQUEST_LABEL)
    succeeded = run (&job, argv + first, (uint32_t)(argc - first), &error);
  else if (request != REQUEST_INVALID && processes.rank == 0)
    fputs (request == REQUEST_HELP ? options_help : "ccl-label " CUDACCL_VERSION "\n", stdout);
  row_order_free (job.outputs.order);
  plane_shapes_free (job.shapes);
  holes_free (job.holes);
  largest_free (job.largest);
  mask_free (job.mask);
  picture_free (job.picture);
  intensities_close (&job.intensities);
  free (job.kind.values);
  free (job.kind.n_parts);
  free (job.kind.ranks);
  value_counts_free (job.counts);
  if (!succeeded && processes.rank == 0)
    fprintf (stderr, "ccl-label: %s\n", error.message);
  processes_end ();
  return !succeeded;
}
