/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the runs of label maps in device memory. map-runs.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/label/labeller-class.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/runner.h"
#include "cuda/driver/tuning.h"
#include "images.h"
#include "map-runs-parameters.h"

#include <stdlib.h>

enum {
  COUNT,
  NUMBER,
  WRITE,
  DELIVER,
  SIGNAL,
  N_KERNELS,
};

/* Pixels for each run for which there is memory at first. */
enum { PIXELS_PER_RUN = 16 };

struct CclMapRuns {
  CclCudaRunner runner;
  CclCudaLaunch launches[N_KERNELS];
  CclMapRunsParameters parameters;
  CUdeviceptr runs;
  void *host_runs, *head; /* pinned */
};

static CclStatus
plan_launches (CclMapRuns *self, CclError *error)
{
  const CclMapRunsParameters *p = &self->parameters;
  CclCudaDevice *device = self->runner.device;
  const uint32_t n_tiles = p->n_column_blocks * p->n_bands;
  const CclCudaStep steps[N_KERNELS] = {
      [COUNT] = {"ccl_map_runs_count", n_tiles, CUDACCL_MAP_RUNS_THREADS, false},
      [NUMBER] = {"ccl_map_runs_number", 1, CUDACCL_SCAN_THREADS, true},
      [WRITE] = {"ccl_map_runs_write", n_tiles, CUDACCL_MAP_RUNS_THREADS, true},
      [DELIVER] = {"ccl_map_runs_deliver",
          CUDACCL_MAP_RUNS_BLOCKS * (uint32_t)device->n_multiprocessors, CUDACCL_MAP_RUNS_THREADS,
          true},
      [SIGNAL] = {"ccl_map_runs_signal", 1, 1, true},
  };
  return ccl_cuda_launch_plan (
      self->launches, device, &ccl_cuda_image_map_runs, steps, N_KERNELS, error);
}

static void
release_runs (void *object)
{
  CclMapRuns *self = object;
  ccl_cuda_device_release (self->runner.device, &self->runs);
  ccl_cuda_device_release_pinned (self->runner.device, &self->host_runs);
  self->parameters.capacity = 0;
}

/* Allocates memory for so many runs, in place of what there is. After an error there is none. */
static CclStatus
allocate_runs (CclMapRuns *self, uint32_t n, CclError *error)
{
  CclCudaDevice *device = self->runner.device;
  CclMapRunsParameters *p = &self->parameters;
  CUdeviceptr memory = 0;

  release_runs (self);
  CclStatus status =
      ccl_cuda_device_allocate (device, (size_t)n * sizeof *p->runs, &self->runs, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        device, (size_t)n * sizeof *p->host_runs, &self->host_runs, &memory, error);
  if (status != CUDACCL_OK) {
    release_runs (self);
    return status;
  }
  p->runs = (CclLabelRun *)(uintptr_t)self->runs;
  p->host_runs = (CclLabelRun *)(uintptr_t)memory;
  p->capacity = n;
  return CUDACCL_OK;
}

static uint32_t
first_capacity (const CclMapRunsParameters *p)
{
  return (uint32_t)((uint64_t)p->width * p->height / PIXELS_PER_RUN + 256);
}

static CclStatus
allocate (void *object, CclError *error)
{
  CclMapRuns *self = object;
  CclMapRunsParameters *p = &self->parameters;
  CclCudaAllocations *memory = &self->runner.memory;
  CclStatus status = plan_launches (self, error);

  p->first =
      ccl_cuda_allocate (memory, (size_t)p->width * p->n_bands * sizeof *p->first, &status, error);
  p->total = ccl_cuda_allocate (memory, sizeof *p->total, &status, error);
  p->head = ccl_cuda_allocate_pinned (memory, sizeof *p->head, &self->head, &status, error);
  return status == CUDACCL_OK ? allocate_runs (self, first_capacity (p), error) : status;
}

CclMapRuns *
ccl_cuda_map_runs_new (CclCudaDevice *device, uint32_t width, uint32_t height, CclError *error)
{
  if (!device || width == 0 || height == 0 || (uint64_t)width * height > CUDACCL_MAX_PIXELS) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a device and a size of up to %u pixels are needed", CUDACCL_MAX_PIXELS);
    return NULL;
  }
  CclMapRuns *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for runs of label maps");
    return NULL;
  }
  self->parameters = (CclMapRunsParameters){
      .width = width,
      .height = height,
      .n_column_blocks = divide_up (width, 32),
      .n_bands = divide_up (height, CUDACCL_MAP_RUNS_BAND),
  };
  if (ccl_cuda_runner_open (&self->runner, device, allocate, self, error) != CUDACCL_OK)
    ccl_cuda_map_runs_free (&self);
  return self;
}

/* Finds the runs, the context being current. */
static CclStatus
find (CclMapRuns *self, CclError *error)
{
  CclCudaRunner *runner = &self->runner;
  CclMapRunsHead *head = self->head;
  CclStatus status = CUDACCL_OK;

  if (self->parameters.capacity == 0) /* there was no memory the last time */
    status = allocate_runs (self, first_capacity (&self->parameters), error);
  for (;;) {
    if (status != CUDACCL_OK)
      return status;
    head->finished = 0;
    status = ccl_cuda_launch_all (
        runner->device, self->launches, N_KERNELS, &self->parameters, runner->stream, error);
    status = ccl_cuda_runner_wait (runner, status, &head->finished, error);
    if (status != CUDACCL_OK || head->n_runs <= self->parameters.capacity)
      return status;
    status = allocate_runs (self, head->n_runs, error);
  }
}

CclStatus
ccl_cuda_map_runs_find (CclMapRuns *self, const CclLabels *labels, const CclLabelRun **runs,
    uint64_t *n, CclError *error)
{
  if (!self || !labels || !labels->data || !runs || !n)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "object, label map, runs and n must not be NULL");
  CclMapRunsParameters *p = &self->parameters;
  if (labels->stride / sizeof *p->labels < p->width ||
      ((uintptr_t)labels->data | labels->stride) % sizeof *p->labels != 0)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a label map of %u columns has a stride of at least %zu bytes and is aligned to 4",
        p->width, sizeof *p->labels * p->width);
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  p->labels = labels->data;
  p->label_row = labels->stride / sizeof *p->labels;
  status = find (self, error);
  ccl_cuda_device_leave (self->runner.device);
  if (status == CUDACCL_OK) {
    *runs = self->host_runs;
    *n = ((const CclMapRunsHead *)self->head)->n_runs;
  }
  return status;
}

CclStatus
ccl_cuda_map_runs_set_stream (CclMapRuns *self, void *stream, CclError *error)
{
  if (!self)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the object must not be NULL");
  ccl_cuda_runner_set_stream (&self->runner, stream);
  return CUDACCL_OK;
}

void
ccl_cuda_map_runs_free (CclMapRuns **runs)
{
  CclMapRuns *self = runs ? *runs : NULL;

  if (!self)
    return;
  *runs = NULL;
  ccl_cuda_runner_close (&self->runner, release_runs, self);
  free (self);
}
