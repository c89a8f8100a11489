/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures label maps in device memory. measure-map.cu has the kernels. */
#include <cudaccl/device.h>

#include "images.h"
#include "core/label/labeller-class.h"
#include "cuda/driver/launch.h"
#include "measure-map-parameters.h"
#include "core/measure/measured-map.h"
#include "cuda/driver/runner.h"
#include "core/base/struct-size.h"

#include <stdlib.h>

enum {
  ADD,
  FINISH,
  SIGNAL,
  N_KERNELS,
};

/* Blocks for each multiprocessor, from which on they get larger tiles, and those of finish. */
enum { TILES_PER_PROCESSOR = 8, FINISH_BLOCKS = 2 };

struct CclMapMeasurer {
  CclMapMeasurerPlan plan;
  CclCudaRunner runner;
  CclCudaLaunch launches[N_KERNELS];
  CclMapParameters parameters;
  void *result_parts, *result_measures, *head; /* pinned */
  CclVolumeComponent *rows;
  CclVolumeShape *shapes;
  bool is_clean; /* sums are zeros */
};

/* A frame is measured as a volume of one slice. */
static CclVolumePlan
volume_plan (const CclMapMeasurerPlan *plan)
{
  return (CclVolumePlan){
      .width = plan->width,
      .height = plan->height,
      .depth = plan->depth ? plan->depth : 1,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = plan->max_labels,
  };
}

/* Tiles are as large as possible, unless there are too few of them then. */
static uint32_t
plan_tiles (CclMapParameters *p, int n_multiprocessors)
{
  const uint64_t wanted = (uint64_t)TILES_PER_PROCESSOR * (uint32_t)n_multiprocessors;
  uint64_t n_tiles = 0;

  p->tile_columns = divide_up (p->width, 32);
  for (p->rows_shift = CUDACCL_MAP_MOST_ROWS_SHIFT; p->rows_shift >= CUDACCL_MAP_WARPS_SHIFT;
       p->rows_shift--) {
    const uint32_t z_shift = p->depth > 1 ? p->rows_shift / 2 : 0;
    p->tile_y_shift = p->rows_shift - z_shift;
    p->tile_rows = divide_up (p->height, 1u << p->tile_y_shift);
    n_tiles = (uint64_t)p->tile_columns * p->tile_rows * divide_up (p->depth, 1u << z_shift);
    if (n_tiles >= wanted || p->rows_shift == CUDACCL_MAP_WARPS_SHIFT)
      break;
  }
  return (uint32_t)n_tiles;
}

static const char *
add_kernel (uint32_t columns)
{
#define NAME(flags) "ccl_measure_map_add_" #flags
  static const char *const names[] = {
      NAME (0), NAME (1), NAME (2), NAME (3), NAME (4), NAME (5), NAME (6), NAME (7)};
#undef NAME
  const uint32_t of_neighbours = CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY;

  return names[(columns & CUDACCL_COLUMN_MOMENTS ? CUDACCL_MAP_MOMENTS : 0) |
               (columns & of_neighbours ? CUDACCL_MAP_NEIGHBOURS : 0) |
               (columns & CUDACCL_COLUMN_INTENSITY ? CUDACCL_MAP_VALUES : 0)];
}

static CclStatus
plan_launches (CclMapMeasurer *self, CclError *error)
{
  CclCudaDevice *device = self->runner.device;
  const uint32_t n_tiles = plan_tiles (&self->parameters, device->n_multiprocessors);
  const CclCudaStep steps[N_KERNELS] = {
      [ADD] = {add_kernel (self->plan.columns), n_tiles, CUDACCL_MAP_THREADS, false},
      [FINISH] = {"ccl_measure_map_finish", FINISH_BLOCKS * (uint32_t)device->n_multiprocessors,
          CUDACCL_MAP_THREADS, true},
      [SIGNAL] = {"ccl_measure_map_signal", 1, 1, true},
  };
  return ccl_cuda_launch_plan (
      self->launches, device, &ccl_cuda_image_measure_map, steps, N_KERNELS, error);
}

static CclStatus
allocate_on_device (CclMapMeasurer *self, CclError *error)
{
  CclMapParameters *p = &self->parameters;
  CclCudaAllocations *memory = &self->runner.memory;
  const size_t parts = p->n_rows * sizeof *p->parts;
  const size_t measures = self->plan.columns ? p->n_rows * sizeof *p->measures : 0;
  CclStatus status = CUDACCL_OK;

  p->parts = ccl_cuda_allocate (memory, parts, &status, error);
  p->measures = ccl_cuda_allocate (memory, measures, &status, error);
  p->greatest_label = ccl_cuda_allocate (memory, sizeof *p->greatest_label, &status, error);
  p->result_parts = ccl_cuda_allocate_pinned (memory, parts, &self->result_parts, &status, error);
  p->result_measures =
      ccl_cuda_allocate_pinned (memory, measures, &self->result_measures, &status, error);
  p->head = ccl_cuda_allocate_pinned (memory, sizeof *p->head, &self->head, &status, error);
  return status;
}

/* Allocates everything that the object needs, the context being current. */
static CclStatus
allocate (void *object, CclError *error)
{
  CclMapMeasurer *self = object;
  const size_t n = self->parameters.n_rows;
  CclStatus status = plan_launches (self, error);

  if (status == CUDACCL_OK)
    status = allocate_on_device (self, error);
  self->rows = malloc (n * sizeof *self->rows);
  if (self->plan.columns)
    self->shapes = malloc (n * sizeof *self->shapes);
  if (status == CUDACCL_OK && (!self->rows || (self->plan.columns && !self->shapes)))
    status = ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "no host memory for %u measured labels", (uint32_t)n);
  return status;
}

static CclStatus
check_plan (const CclCudaDevice *device, const CclMapMeasurerPlan *plan, CclError *error)
{
  if (!device || !plan)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and a plan are needed");
  CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  if (status != CUDACCL_OK)
    return status;
  const CclVolumePlan of_volume = volume_plan (plan);
  status = ccl_volume_plan_check (&of_volume, error);
  return status == CUDACCL_OK ? ccl_measured_columns_check (plan->columns, plan->depth > 0, error)
                              : status;
}

CclMapMeasurer *
ccl_cuda_map_measurer_new (CclCudaDevice *device, const CclMapMeasurerPlan *plan, CclError *error)
{
  if (check_plan (device, plan, error) != CUDACCL_OK)
    return NULL;
  CclMapMeasurer *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a measurer of label maps");
    return NULL;
  }
  const CclVolumePlan of_volume = volume_plan (plan);
  self->plan = *plan;
  self->parameters = (CclMapParameters){
      .width = plan->width,
      .height = plan->height,
      .depth = of_volume.depth,
      .is_volume = plan->depth > 0,
      .columns = plan->columns,
      .n_rows = plan->max_labels,
  };
  if (ccl_cuda_runner_open (&self->runner, device, allocate, self, error) != CUDACCL_OK)
    ccl_cuda_map_measurer_free (&self);
  return self;
}

/* The slice strides of frames do not matter. */
static void
set_slices (const CclMapMeasurerPlan *plan, CclVolumeLabels *labels, CclVolumeIntensity *intensity)
{
  if (plan->depth)
    return;
  labels->slice_stride = labels->row_stride * plan->height;
  intensity->slice_stride = intensity->row_stride * plan->height;
}

static void
set_run (CclMapMeasurer *self, const CclVolumeLabels *labels, const CclVolumeIntensity *intensity)
{
  CclMapParameters *p = &self->parameters;

  p->labels = labels->data;
  p->label_row = labels->row_stride / sizeof *p->labels;
  p->label_slice = labels->slice_stride / sizeof *p->labels;
  if (!(p->columns & CUDACCL_COLUMN_INTENSITY))
    return;
  p->values = intensity->data;
  p->value_row = intensity->row_stride;
  p->value_slice = intensity->slice_stride;
  p->value_bytes = ccl_pixel_bytes (intensity->format);
  p->values_are_aligned =
      ((uintptr_t)p->values | p->value_row | p->value_slice) % p->value_bytes == 0;
}

/* Clears what a failed run has left. */
static CclStatus
clear (CclMapMeasurer *self, CclError *error)
{
  const CclCudaDriver *driver = self->runner.device->driver;
  const CclMapParameters *p = &self->parameters;
  const struct {
    void *memory;
    size_t size;
  } blocks[] = {
      {p->greatest_label, sizeof *p->greatest_label},
      {p->parts, p->n_rows * sizeof *p->parts},
      {p->measures, p->n_rows * sizeof *p->measures},
  };
  CclStatus status = CUDACCL_OK;

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks && status == CUDACCL_OK; i++)
    if (blocks[i].memory)
      status = ccl_cuda_call (driver, error,
          cuMemsetD8Async (
              (CUdeviceptr)(uintptr_t)blocks[i].memory, 0, blocks[i].size, self->runner.stream));
  return status;
}

static CclStatus
queue (CclMapMeasurer *self, CclError *error)
{
  const CclStatus status = self->is_clean ? CUDACCL_OK : clear (self, error);

  return status == CUDACCL_OK ? ccl_cuda_launch_all (self->runner.device, self->launches, N_KERNELS,
                                    &self->parameters, self->runner.stream, error)
                              : status;
}

static void
read_table (CclMapMeasurer *self, CclMapTable *table)
{
  const CclMapParameters *p = &self->parameters;
  const CclMeasuredPicture picture = {p->width, p->height, p->is_volume};
  const CclPart *parts = self->result_parts;
  const CclMeasures *measures = self->result_measures;
  const uint32_t greatest = ((const CclMapHead *)self->head)->greatest_label;
  const uint32_t n = greatest < p->n_rows ? greatest : p->n_rows;

  for (uint32_t i = 0; i < n; i++) {
    self->rows[i] = ccl_measured_row (&parts[i], i + 1);
    if (self->shapes && parts[i].area)
      ccl_measures_derive (&parts[i], &measures[i], p->columns, &picture, &self->shapes[i]);
  }
  *table = (CclMapTable){greatest, n, self->rows, self->shapes};
}

CclStatus
ccl_cuda_map_measurer_run (CclMapMeasurer *measurer, const CclVolumeLabels *labels,
    const CclVolumeIntensity *intensity, CclMapTable *table, CclError *error)
{
  CclMapMeasurer *self = measurer;

  if (!self || !labels || !table)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "measurer, label map and table must not be NULL");
  const CclVolumePlan plan = volume_plan (&self->plan);
  CclVolumeLabels map = *labels;
  CclVolumeIntensity values = intensity ? *intensity : (CclVolumeIntensity){0};
  set_slices (&self->plan, &map, &values);
  CclStatus status = ccl_measured_intensity_check (&values, &plan, self->plan.columns, error);
  if (status == CUDACCL_OK && ccl_values_are_real (values.format))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "doubles are measured on the CPU: a GPU takes values of 8 or 16 bits");
  if (status == CUDACCL_OK)
    status = ccl_volume_labels_check (&map, &plan, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  CclMapHead *head = self->head;
  set_run (self, &map, &values);
  head->finished = 0;
  status = ccl_cuda_runner_wait (&self->runner, queue (self, error), &head->finished, error);
  self->is_clean = status == CUDACCL_OK;
  ccl_cuda_device_leave (self->runner.device);
  if (status == CUDACCL_OK)
    read_table (self, table);
  return status;
}

CclStatus
ccl_cuda_map_measurer_set_stream (CclMapMeasurer *measurer, void *stream, CclError *error)
{
  if (!measurer)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the measurer must not be NULL");
  ccl_cuda_runner_set_stream (&measurer->runner, stream);
  return CUDACCL_OK;
}

void
ccl_cuda_map_measurer_free (CclMapMeasurer **measurer)
{
  CclMapMeasurer *self = measurer ? *measurer : NULL;

  if (!self)
    return;
  *measurer = NULL;
  ccl_cuda_runner_close (&self->runner, NULL, NULL);
  free (self->rows);
  free (self->shapes);
  free (self);
}
