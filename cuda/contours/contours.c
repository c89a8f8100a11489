/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contours on a GPU: memory and launches; contours.cu has the kernels. */
#include "core/contours/contours-class.h"
#include "contours-parameters.h"
#include "images.h"
#include "cuda/driver/kernel-graph.h"
#include "core/label/labeller-class.h"
#include "cuda/driver/launch.h"
#include "core/base/layout.h"
#include "cuda/driver/runner.h"
#include "cuda/driver/upload.h"

#include <stdlib.h>
#include <string.h>

enum {
  MOST_ROUNDS = 17, /* after which stretches are longer than any contour */
  FEW_ROUNDS = 6,   /* that suffice for contours of 1,024 ends, as most objects have */
};

/* The kernels in stream order; STEP_JOIN stands for all rounds. */
typedef enum Step {
  STEP_PACK,
  STEP_LIST,
  STEP_LINK,
  STEP_JOIN,
  STEP_COUNT,
  STEP_NUMBER,
  STEP_WRITE,
  STEP_DELIVER,
  STEP_FINISH,
  N_STEPS,
} Step;

static const char *const kernel_names[N_STEPS] = {
    "ccl_contours_pack",
    "ccl_contours_list",
    "ccl_contours_link",
    "ccl_contours_join",
    "ccl_contours_count",
    "ccl_contours_number",
    "ccl_contours_write",
    "ccl_contours_deliver",
    "ccl_contours_finish",
};

enum { MOST_LAUNCHES = N_STEPS - 1 + MOST_ROUNDS };
_Static_assert((int)MOST_LAUNCHES <= (int)CUDACCL_MAX_GRAPH_KERNELS, "one graph has all kernels");

typedef struct CudaContours {
  CclContours base;
  CclCudaRunner runner;
  CclContoursParameters parameters;
  CclCudaLaunch launches[MOST_LAUNCHES];
  uint32_t n_launches, most_rounds;
  CclCudaKernelGraph graphs[2];       /* of all launches, of frames and of maps, where the driver
                                       * has graphs */
  CclContoursParameters in_graphs[2]; /* the parameters of their first kernels */
  CclCudaUpload upload;               /* of frames that come from the host */
  CUdeviceptr scratch;
  void *rows, *points, *head; /* pinned */
} CudaContours;

/* The ends for which there is memory from the beginning: those of frames, and of maps whose labels
 * do not touch beside each other. */
static uint64_t
ends_of_frames (const CclContoursPlan *plan)
{
  return ((uint64_t)plan->width + 1) * plan->height;
}

/* The most ends of maps, each pixel of which has a label of its own. */
static uint64_t
ends_of_maps (const CclContoursPlan *plan)
{
  return 2 * (uint64_t)plan->width * plan->height;
}

/* The most points of contours with so many ends: one for each edge of a pixel. */
static uint64_t
most_points (const CclContoursPlan *plan, uint64_t capacity)
{
  return capacity > ends_of_frames (plan)
             ? 4 * (uint64_t)plan->width * plan->height
             : 2 * ((uint64_t)plan->width + 1) * ((uint64_t)plan->height + 1);
}

/* Lays out the scratch memory. Returns its size. */
static size_t
lay_out_scratch (CclContoursParameters *p, const CclContoursPlan *plan, CUdeviceptr scratch)
{
  const uint64_t n_words = (uint64_t)p->words_per_row * plan->height, n = p->capacity;
  Layout layout = {.memory = (uint8_t *)(uintptr_t)scratch, .alignment = 256};

  p->starts = lay_out (&layout, n_words, sizeof *p->starts);
  p->stops = lay_out (&layout, n_words, sizeof *p->stops);
  p->word_first = lay_out (&layout, n_words, sizeof *p->word_first);
  p->row_count = lay_out (&layout, plan->height, sizeof *p->row_count);
  p->row_first = lay_out (&layout, (uint64_t)plan->height + 1, sizeof *p->row_first);
  p->map = lay_out (&layout, 1, sizeof *p->map);
  p->run_label = lay_out (&layout, n / 2 + 1, sizeof *p->run_label);
  p->column = lay_out (&layout, n, sizeof *p->column);
  p->row = lay_out (&layout, n, sizeof *p->row);
  p->next = lay_out (&layout, n, sizeof *p->next);
  p->n_own = lay_out (&layout, n, sizeof *p->n_own);
  p->contour = lay_out (&layout, n, sizeof *p->contour);
  p->stretches[0] = lay_out (&layout, n, sizeof *p->stretches[0]);
  p->stretches[1] = lay_out (&layout, n, sizeof *p->stretches[1]);
  p->block_counts =
      lay_out (&layout, divide_up (n, CUDACCL_CONTOURS_THREADS), sizeof *p->block_counts);
  p->is_changing = lay_out (&layout, MOST_ROUNDS, sizeof *p->is_changing);
  p->rows = lay_out (&layout, n / 2 + 1, sizeof *p->rows);
  p->points = lay_out (&layout, most_points (plan, n), sizeof *p->points);
  p->total = lay_out (&layout, 1, sizeof *p->total);
  return layout.size;
}

static CclStatus
allocate_pinned (CudaContours *self, CclError *error)
{
  const CclContoursPlan *plan = &self->base.plan;
  CclContoursParameters *p = &self->parameters;
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_allocate_pinned (self->runner.device,
      (p->capacity / 2 + 1) * sizeof *p->host_rows, &self->rows, &memory, error);

  p->host_rows = (CclContour *)(uintptr_t)memory;
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (self->runner.device,
        most_points (plan, p->capacity) * sizeof *p->host_points, &self->points, &memory, error);
  p->host_points = (CclContourPoint *)(uintptr_t)memory;
  return status;
}

/* Frees the memory that depends on the number of ends. */
static void
release_ends (CudaContours *self)
{
  ccl_cuda_device_release (self->runner.device, &self->scratch);
  ccl_cuda_device_release_pinned (self->runner.device, &self->rows);
  ccl_cuda_device_release_pinned (self->runner.device, &self->points);
}

/* Allocates memory for so many ends, in place of what there is. After an error there is none, and
 * the capacity is 0. */
static CclStatus
allocate_ends (CudaContours *self, uint64_t capacity, CclError *error)
{
  CclContoursParameters *p = &self->parameters;

  release_ends (self);
  p->capacity = capacity;
  CclStatus status = ccl_cuda_device_allocate (
      self->runner.device, lay_out_scratch (p, &self->base.plan, 0), &self->scratch, error);
  if (status == CUDACCL_OK) {
    lay_out_scratch (p, &self->base.plan, self->scratch);
    status = allocate_pinned (self, error);
  }
  if (status == CUDACCL_OK)
    return status;
  release_ends (self);
  p->capacity = 0;
  return status;
}

static CclStatus
allocate_memory (CudaContours *self, CclError *error)
{
  const CclContoursPlan *plan = &self->base.plan;
  CclContoursParameters *p = &self->parameters;
  CclStatus status = ccl_cuda_upload_init (&self->upload, self->runner.device,
      plan->width * ccl_pixel_bytes (plan->format), plan->height, error);
  p->head =
      ccl_cuda_allocate_pinned (&self->runner.memory, sizeof *p->head, &self->head, &status, error);
  return status == CUDACCL_OK ? allocate_ends (self, ends_of_frames (plan), error) : status;
}

static void
clear_graphs (CudaContours *self)
{
  for (uint32_t is_map = 0; is_map < 2; is_map++)
    ccl_cuda_kernel_graph_clear (&self->graphs[is_map], self->runner.device);
}

/* Adds a kernel to the launches: of as many blocks as it has work for, but at most as many as keep
 * the GPU busy. */
static CclStatus
add_launch (CudaContours *self, Step step, CclError *error)
{
  const uint32_t n_processors = (uint32_t)self->runner.device->n_multiprocessors;
  const bool has_rows = step == STEP_PACK || step == STEP_LIST;
  const uint64_t work =
      step == STEP_FINISH ? 1
      : has_rows          ? self->base.plan.height
                          : divide_up (ends_of_frames (&self->base.plan), CUDACCL_CONTOURS_THREADS);
  const uint64_t most = (uint64_t)n_processors * (has_rows ? 8 : CUDACCL_CONTOURS_BLOCKS);
  CclCudaLaunch *launch = &self->launches[self->n_launches++];

  *launch = (CclCudaLaunch){
      .kernel = kernel_names[step],
      .grid = {(uint32_t)(work < most ? work : most), 1, 1},
      .block = {step == STEP_FINISH ? 1 : CUDACCL_CONTOURS_THREADS, 1, 1},
      .is_dependent = step != STEP_PACK,
  };
  return ccl_cuda_device_find_kernel (
      self->runner.device, &ccl_cuda_image_contours, launch->kernel, &launch->function, error);
}

/* Sets the launches of so many rounds, in place of those that there are. */
static CclStatus
set_launches (CudaContours *self, uint32_t n_rounds, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  clear_graphs (self);
  self->n_launches = 0;
  self->parameters.n_rounds = n_rounds;
  for (Step step = STEP_PACK; step < N_STEPS; step++)
    for (uint32_t i = 0; i < (step == STEP_JOIN ? self->parameters.n_rounds : 1); i++)
      if (status == CUDACCL_OK)
        status = add_launch (self, step, error);
  return status;
}

/* The parameters of the launch at an index: rounds have their numbers. */
static CclContoursParameters
parameters_of (const CudaContours *self, uint32_t index)
{
  CclContoursParameters p = self->parameters;

  if (index >= STEP_JOIN && index < STEP_JOIN + p.n_rounds)
    p.round = index - STEP_JOIN;
  return p;
}

static CclStatus
build_graph (CudaContours *self, CclError *error)
{
  CclCudaKernelGraph *graph = &self->graphs[self->parameters.is_map];
  CclStatus status = ccl_cuda_kernel_graph_build (graph, self->runner.device, self->launches,
      self->n_launches, UINT32_MAX, &self->parameters, error);

  for (uint32_t i = STEP_JOIN; i < STEP_JOIN + self->parameters.n_rounds && !status; i++) {
    CclContoursParameters p = parameters_of (self, i);
    status =
        ccl_cuda_kernel_graph_set (graph, self->runner.device, &self->launches[i], i, &p, error);
  }
  return status;
}

/* Queues all kernels as one graph. Only the first one reads what differs between frames, or between
 * maps. */
static CclStatus
queue_graph (CudaContours *self, CclError *error)
{
  CclCudaDevice *device = self->runner.device;
  CclCudaKernelGraph *graph = &self->graphs[self->parameters.is_map];
  CclContoursParameters *in_graph = &self->in_graphs[self->parameters.is_map];
  CclStatus status = CUDACCL_OK;

  if (!graph->graph)
    status = build_graph (self, error);
  else if (memcmp (in_graph, &self->parameters, sizeof *in_graph) != 0)
    status = ccl_cuda_kernel_graph_set (
        graph, device, &self->launches[STEP_PACK], STEP_PACK, &self->parameters, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_kernel_graph_clear (graph, device);
    return status;
  }
  *in_graph = self->parameters;
  return ccl_cuda_call (device->driver, error, cuGraphLaunch (graph->graph, self->runner.stream));
}

static CclStatus
queue_kernels (CudaContours *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  if (ccl_cuda_kernel_graph_is_possible (self->runner.device))
    return queue_graph (self, error);
  for (uint32_t i = 0; i < self->n_launches && status == CUDACCL_OK; i++) {
    CclContoursParameters p = parameters_of (self, i);
    status =
        ccl_cuda_launch (self->runner.device, &self->launches[i], &p, self->runner.stream, error);
  }
  return status;
}

/* Sets the parent of each contour, whose parent is the one to the left of its start, and the
 * component of those of a frame. */
static uint32_t
place_contours (CclContour *rows, uint32_t n, bool is_map)
{
  uint32_t n_components = 0;

  for (uint32_t i = 0; i < n; i++) {
    const uint32_t left = rows[i].parent;
    if (left != CUDACCL_NO_CONTOUR && rows[left].is_hole == rows[i].is_hole)
      rows[i].parent = rows[left].parent;
    n_components += !rows[i].is_hole;
    if (!is_map)
      rows[i].component = rows[i].is_hole ? rows[rows[i].parent].component : n_components;
  }
  return n_components;
}

/* Runs the kernels, and waits until the head is there. */
static CclStatus
run_kernels (CudaContours *self, CclError *error)
{
  CclContoursHead *head = self->head;

  head->finished = 0;
  return ccl_cuda_runner_wait (&self->runner, queue_kernels (self, error), &head->finished, error);
}

/* Finds the contours of what the parameters describe. The device's context is current. */
static CclStatus
find_contours (CudaContours *self, CclContourTable *table, CclError *error)
{
  CclContoursParameters *p = &self->parameters;
  const CclContoursHead *head = self->head;
  CclStatus status = CUDACCL_OK;

  p->is_aligned = p->pixel_bytes == 1 && ((uintptr_t)p->pixels | p->stride) % 4 == 0;
  if (p->capacity == 0) /* there was no memory the last time */
    status = allocate_ends (self, ends_of_frames (&self->base.plan), error);
  if (status == CUDACCL_OK)
    status = run_kernels (self, error);
  if (status == CUDACCL_OK && head->n_ends > p->capacity) {
    clear_graphs (self);
    status = allocate_ends (self, ends_of_maps (&self->base.plan), error);
    if (status == CUDACCL_OK)
      status = run_kernels (self, error);
  }
  if (status == CUDACCL_OK && head->is_unfinished) {
    status = set_launches (self, self->most_rounds, error);
    if (status == CUDACCL_OK)
      status = run_kernels (self, error);
  }
  if (status != CUDACCL_OK)
    return status;
  const CclContourCounts total = head->total;
  if (total.n_points == 0 && total.n_contours > 0)
    return ccl_contours_set_too_many (error);
  const uint32_t n_components = place_contours (self->rows, total.n_contours, p->is_map);
  *table =
      (CclContourTable){n_components, total.n_contours, total.n_points, self->rows, self->points};
  return CUDACCL_OK;
}

static CclStatus
cuda_contours_of_frame (CclContours *contours, const CclFrame *frame,
    const CclLabellerOptions *options, CclContourTable *table, CclError *error)
{
  CudaContours *self = (CudaContours *)contours;
  CclContoursParameters *p = &self->parameters;
  const CclWordThreshold words = ccl_word_threshold (contours->plan.format, options->threshold);
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);

  if (status != CUDACCL_OK)
    return status;
  p->pixels = frame->data;
  p->stride = frame->stride;
  p->pixel_bytes = ccl_pixel_bytes (contours->plan.format);
  p->threshold = p->pixel_bytes == 2 ? words.threshold : options->threshold;
  p->word_mask = p->pixel_bytes == 2 ? words.mask : UINT8_MAX;
  p->invert = options->invert;
  p->is_map = false;
  if (frame->location == CUDACCL_LOCATION_HOST) {
    status = ccl_cuda_upload_queue (&self->upload, frame, self->runner.stream, error);
    p->pixels = (const uint8_t *)(uintptr_t)self->upload.memory;
    p->stride = self->upload.stride;
  }
  status = status == CUDACCL_OK
               ? find_contours (self, table, error)
               : ccl_cuda_device_abandon (self->runner.device, self->runner.stream, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static CclStatus
cuda_contours_of_labels (
    CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error)
{
  CudaContours *self = (CudaContours *)contours;
  CclContoursParameters *p = &self->parameters;
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);

  if (status != CUDACCL_OK)
    return status;
  p->pixels = labels->data;
  p->stride = labels->stride;
  p->pixel_bytes = sizeof (uint32_t);
  p->is_map = true;
  status = find_contours (self, table, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static void
release (void *object)
{
  CudaContours *self = object;
  clear_graphs (self);
  ccl_cuda_upload_clear (&self->upload);
  release_ends (self);
}

static void
cuda_contours_free (CclContours *contours)
{
  CudaContours *self = (CudaContours *)contours;
  ccl_cuda_runner_close (&self->runner, release, self);
  free (self);
}

static const CclContoursClass cuda_contours_class = {
    .of_frame = cuda_contours_of_frame,
    .of_labels = cuda_contours_of_labels,
    .free = cuda_contours_free,
};

/* The rounds until a stretch is as long as the longest contour, and one that changes nothing. */
static uint32_t
count_rounds (uint64_t n_ends)
{
  uint32_t n = 1;
  for (uint64_t length = 1; length < n_ends; length *= CUDACCL_CONTOURS_JUMPS)
    n++;
  return n;
}

static CclStatus
allocate (void *object, CclError *error)
{
  CudaContours *self = object;
  const uint32_t most = self->most_rounds;
  const CclStatus status = set_launches (self, most < FEW_ROUNDS ? most : FEW_ROUNDS, error);
  return status == CUDACCL_OK ? allocate_memory (object, error) : status;
}

CclContours *
ccl_cuda_contours_new (CclCudaDevice *device, const CclContoursPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_contours_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  CudaContours *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for contours");
    return NULL;
  }
  self->base = (CclContours){.klass = &cuda_contours_class, .plan = *plan};
  self->parameters = (CclContoursParameters){
      .width = plan->width,
      .height = plan->height,
      .words_per_row = plan->width / 32 + 1,
      .is_8_connected = plan->connectivity == CUDACCL_CONNECTIVITY_8,
      .is_cracks = plan->kind == CUDACCL_CONTOUR_CRACKS,
  };
  self->most_rounds = count_rounds (ends_of_frames (plan));
  if (ccl_cuda_runner_open (&self->runner, device, allocate, self, error) == CUDACCL_OK)
    return &self->base;
  cuda_contours_free (&self->base);
  return NULL;
}

CclStatus
ccl_cuda_contours_set_stream (CclContours *contours, void *stream, CclError *error)
{
  CudaContours *self = (CudaContours *)contours;
  if (!contours || contours->klass != &cuda_contours_class)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
  ccl_cuda_runner_set_stream (&self->runner, stream);
  return CUDACCL_OK;
}
