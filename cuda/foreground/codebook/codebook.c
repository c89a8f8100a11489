/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Foreground by codebooks (core/foreground/codebook.h). A frame takes these kernels:
 *
 *   1. where options.light is set, the light of the frame: measured, then smoothed
 *   2. where the camera shakes, what it may bring to each pixel (sway.cuh)
 *   3. the update of all codebooks, and of the samples of the second model (sampled-places.cuh)
 *   4. the candidates of both models
 *   5. the objects, which are the mask if no opening and no closing follows; two blocks beside
 *      those prepare the next frame: they set the tolerances and look for changes of the scene
 *
 * They are one launch of a graph, in which a kernel that reduces the frame may come first, and
 * the kernels of a labeller may follow.
 *
 * What the next frame needs of a frame stays in device memory. No run waits for the one before.
 */
#include "cuda/foreground/segmenter.h"

#include "core/base/layout.h"

#include <stddef.h>
#include <string.h>

#include "codebook-parameters.h"
#include "images.h"
#include "cuda/driver/kernel-graph.h"

/* FIRST: a kernel of the caller, which writes the frame. Those of a labeller follow. */
enum { FIRST, MEASURE, SMOOTH, SPREAD, UPDATE, OBJECTS, CONFIRM, N_KERNELS };
enum { N_LAUNCHES = N_KERNELS + CUDACCL_MOST_FOLLOWERS };

/* The parameters of all kernels. */
typedef struct Parameters {
  CclCodebookLightParameters light;
  CclCodebookSwayParameters sway;
  CclCodebookParameters update;
  CclCandidateParameters candidates;
  CclConfirmParameters confirm;
} Parameters;

static const struct {
  const char *name;
  size_t offset, size; /* of its parameters */
} kernels[N_KERNELS] = {
#define PARAMETERS(member) offsetof (Parameters, member), sizeof ((Parameters *)NULL)->member
    [MEASURE] = {"ccl_codebook_measure", PARAMETERS (light)},
    [SMOOTH] = {"ccl_codebook_smooth", PARAMETERS (light)},
    [SPREAD] = {"ccl_codebook_spread", PARAMETERS (sway)},
    [UPDATE] = {"ccl_codebook_update_words", PARAMETERS (update)},
    [OBJECTS] = {"ccl_codebook_objects", PARAMETERS (candidates)},
    [CONFIRM] = {"ccl_codebook_confirm", PARAMETERS (confirm)},
#undef PARAMETERS
};

/* The kernels of a frame as one launch, and what they were given last. */
typedef struct FrameGraph {
  CclCudaKernelGraph graph;
  uint32_t needed; /* the kernels in it, a bit for each launch */
  Parameters parameters;
  CclCudaLaunch followers[CUDACCL_MOST_FOLLOWERS];
  char follower_parameters[CUDACCL_MOST_FOLLOWER_PARAMETERS];
} FrameGraph;

typedef struct CudaCodebook {
  CclCudaSegmenter *segmenter;
  CclCudaLaunch launches[N_LAUNCHES]; /* the first one has no function where there is none */
  void *model;                        /* device memory: zero before the first frame */
  size_t model_size;
  void *counts; /* device memory: zero when a frame starts */
  size_t counts_size;
  bool counts_are_clean;
  CclFrameLight *frame_light; /* in counts */
  void *boxes;                /* pinned: CclCodebookLightParameters */
  uint8_t *boxes_on_device;   /* the same memory */
  void *objects;              /* pinned: counts of CclConfirmParameters */
  Parameters parameters;
  CclCodebookClock clock;
  uint64_t sampled_clock; /* nanoseconds since the first frame */

  FrameGraph graphs[2]; /* of both turns of followers; [0] without them */
} CudaCodebook;

/* A bit for each kernel that a frame with the parameters that are set takes. */
static uint32_t
find_needed (const CudaCodebook *self)
{
  const uint32_t of_light = self->parameters.light.pixels.light ? 1u << MEASURE | 1u << SMOOTH : 0;
  const uint32_t of_sway = self->parameters.sway.sway.distance > 0 ? 1u << SPREAD : 0;
  return (uint32_t)(self->launches[FIRST].function != NULL) << FIRST | of_light | of_sway |
         1u << UPDATE | 1u << OBJECTS | 1u << CONFIRM;
}

static CclStatus
launch_kernels (CudaCodebook *self, uint32_t needed, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < N_KERNELS && status == CUDACCL_OK; i++) {
    const CclCudaLaunch *launch = &self->launches[i];
    if (needed >> i & 1)
      status = ccl_cuda_launch (self->segmenter->runner.device, launch, launch->parameters,
          self->segmenter->runner.stream, error);
  }
  return status;
}

/* Whether a graph has other parameters for a kernel than the frame. What the kernel of the caller
 * has is not known. */
static bool
has_changed (const CudaCodebook *self, const FrameGraph *frame, int kernel)
{
  const char *now = (const char *)&self->parameters + kernels[kernel].offset;
  const char *before = (const char *)&frame->parameters + kernels[kernel].offset;
  return kernel == FIRST || memcmp (now, before, kernels[kernel].size) != 0;
}

/* The same for the kernels that follow. */
static bool
have_followers_changed (const FrameGraph *frame, const CclCudaFollowers *followers)
{
  return memcmp (frame->followers, followers->launches,
             followers->n * sizeof *followers->launches) != 0 ||
         memcmp (frame->follower_parameters, followers->parameters, followers->parameters_size) !=
             0;
}

/* Notes what a graph has now. */
static void
note_parameters (CudaCodebook *self, FrameGraph *frame, const CclCudaFollowers *followers)
{
  frame->parameters = self->parameters;
  if (!followers)
    return;
  memcpy (frame->followers, followers->launches, followers->n * sizeof *followers->launches);
  memcpy (frame->follower_parameters, followers->parameters, followers->parameters_size);
}

/* Gives the kernels of a graph what has changed since its last launch. followers: NULL: none. */
static CclStatus
update_graph (CudaCodebook *self, FrameGraph *frame, uint32_t needed,
    const CclCudaFollowers *followers, CclError *error)
{
  CclCudaDevice *device = self->segmenter->runner.device;
  CclStatus status = CUDACCL_OK;

  if (!frame->graph.graph || needed != frame->needed) {
    frame->needed = needed;
    status = ccl_cuda_kernel_graph_build (
        &frame->graph, device, self->launches, N_LAUNCHES, needed, NULL, error);
  } else {
    const bool others = followers && have_followers_changed (frame, followers);
    for (int i = 0; i < N_LAUNCHES && status == CUDACCL_OK; i++)
      if (i < N_KERNELS ? has_changed (self, frame, i) : others)
        status = ccl_cuda_kernel_graph_set (
            &frame->graph, device, &self->launches[i], (uint32_t)i, NULL, error);
    if (status != CUDACCL_OK)
      ccl_cuda_kernel_graph_clear (&frame->graph, device);
  }
  note_parameters (self, frame, followers);
  return status;
}

/* The kernels that follow, if they read what the last kernel writes; else NULL. */
static CclCudaFollowers *
find_followers (CudaCodebook *self)
{
  CclCudaFollowers *followers = &self->segmenter->followers;
  return followers->launches && followers->mask == self->segmenter->mask.data &&
                 !self->segmenter->mask.result
             ? followers
             : NULL;
}

/* Has the kernels that follow launched with those of the frame. Returns a bit for each. */
static uint32_t
add_followers (CudaCodebook *self, CclCudaFollowers *followers)
{
  for (uint32_t i = 0; i < followers->n; i++) {
    CclCudaLaunch *launch = &self->launches[N_KERNELS + i];
    *launch = followers->launches[i];
    launch->is_dependent = true;
    launch->parameters = (void *)followers->parameters;
  }
  followers->are_queued = true;
  return followers->needed << N_KERNELS;
}

/* Queues the kernels of a frame. A graph is worth its making from the third frame on, which has the
 * kernels of most. */
static CclStatus
queue_kernels (CudaCodebook *self, CclError *error)
{
  CclCudaDevice *device = self->segmenter->runner.device;
  uint32_t needed = find_needed (self);
  if (self->segmenter->base.n_frames < 2 || !ccl_cuda_kernel_graph_is_possible (device))
    return launch_kernels (self, needed, error);
  CclCudaFollowers *followers = find_followers (self);
  FrameGraph *frame = &self->graphs[followers ? followers->turn : 0];
  if (followers)
    needed |= add_followers (self, followers);
  const CclStatus status = update_graph (self, frame, needed, followers, error);
  return status == CUDACCL_OK
             ? ccl_cuda_call (device->driver, error,
                   cuGraphLaunch (frame->graph.graph, self->segmenter->runner.stream))
             : status;
}

/* A block for each two pairs of rows, so that the device distributes what takes unequal times; but
 * not so many that what each begins and ends with counts. */
static uint32_t
n_update_blocks (const CudaCodebook *self)
{
  const CclExtent *p = &self->parameters.update.pixels.extent;
  const uint32_t most =
      CUDACCL_CODEBOOK_GRID_BLOCKS * (uint32_t)self->segmenter->runner.device->n_multiprocessors;
  const uint32_t n_blocks =
      divide_up ((uint64_t)p->row_words * divide_up (p->height, 2), CUDACCL_CODEBOOK_ROW_PAIRS);
  return n_blocks < most ? n_blocks : most;
}

/* Looks up the kernels and sets their grids. */
static CclStatus
prepare_kernels (CudaCodebook *self, CclError *error)
{
  const CclLightGrid *grid = &self->parameters.update.pixels.grid;
  const CclExtent *extent = &self->segmenter->extent;
  const uint32_t n_cells = grid->columns * grid->rows;
  const uint32_t n_rows = grid->rows * CUDACCL_LIGHT_SAMPLES;
  const struct {
    uint32_t blocks, threads;
  } sizes[N_KERNELS] = {
      [MEASURE] = {grid->rows * (CUDACCL_LIGHT_SAMPLES / CUDACCL_CODEBOOK_WARPS +
                                    divide_up (grid->columns, CUDACCL_CODEBOOK_WARPS)),
          CUDACCL_CODEBOOK_THREADS},
      [SMOOTH] = {divide_up (n_cells + n_rows + 1, CUDACCL_CODEBOOK_WARPS),
          CUDACCL_CODEBOOK_THREADS},
      [SPREAD] = {divide_up ((uint64_t)extent->row_words * extent->height, CUDACCL_CODEBOOK_WARPS),
          CUDACCL_CODEBOOK_THREADS},
      [UPDATE] = {n_update_blocks (self), CUDACCL_CODEBOOK_THREADS},
  };
  CclStatus status = CUDACCL_OK;
  for (int i = MEASURE; i < N_KERNELS && status == CUDACCL_OK; i++) {
    CclCudaLaunch *launch = &self->launches[i];
    *launch = (CclCudaLaunch){
        .kernel = kernels[i].name,
        .grid = {sizes[i].blocks, 1, 1},
        .block = {sizes[i].threads, 1, 1},
        .is_dependent = true,
        .parameters = (char *)&self->parameters + kernels[i].offset,
    };
    if (i == OBJECTS || i == CONFIRM)
      ccl_cuda_filters_cover (extent->width, extent->height, 32 * 32,
          i == CONFIRM ? CUDACCL_CONFIRM_WARPS : CUDACCL_CODEBOOK_OBJECT_ROWS, launch);
    if (i == OBJECTS)
      launch->block[0] = CUDACCL_CODEBOOK_OBJECT_THREADS;
    if (i == CONFIRM)
      launch->grid[2] += 2; /* two of its blocks prepare the next frame */
    status = ccl_cuda_device_find_kernel (self->segmenter->runner.device, &ccl_cuda_image_codebook,
        kernels[i].name, &launch->function, error);
  }
  return status;
}

static CclStatus
codebook_reset (CclCudaSegmenter *segmenter, CclError *error)
{
  CudaCodebook *self = segmenter->model;
  self->clock = (CclCodebookClock){0};
  self->sampled_clock = 0;
  return ccl_cuda_call (segmenter->runner.device->driver, error,
      cuMemsetD8Async (
          (CUdeviceptr)(uintptr_t)self->model, 0, self->model_size, segmenter->runner.stream));
}

/* Gives what several kernels have to all of them. Those of the update are set, and the candidates
 * of the kernel that finds them. */
static void
share_parameters (Parameters *p)
{
  p->light.pixels = p->update.pixels;
  p->sway.extent = p->candidates.extent = p->confirm.extent = p->update.pixels.extent;
  p->sway.background = p->update.pixels.background;
  p->sway.sway = p->update.sway;
  p->candidates.bits = p->update.bits;
  p->update.evidence.extent = p->update.pixels.extent;
  p->update.evidence.grid = p->update.pixels.grid;
  p->update.evidence.counts = p->update.pixels.counts;
  p->candidates.evidence = p->confirm.evidence = p->update.evidence;
  p->candidates.places = p->update.sampled.places;
  p->confirm.history = p->update.pixels.history;
  p->confirm.light = p->update.pixels.light;
  p->confirm.sensitivity = p->update.pixels.sensitivity;
  p->confirm.grid = p->update.sampled.places.grid;
  p->confirm.cells = p->update.sampled.places.cells;
  p->confirm.outlines = p->update.sampled.places.outlines;
  p->confirm.faint_cells = p->update.sampled.places.faint_cells;
  p->confirm.candidates = p->candidates.candidates;
  p->update.sampled.found = p->confirm.found;
  p->confirm.uncovered = p->update.sampled.uncovered;
}

/* Sets the parameters of a frame. */
static void
set_parameters (CudaCodebook *self, const CclForegroundOptions *options)
{
  const CclCudaSegmenter *segmenter = self->segmenter;
  const CclForeground *base = &segmenter->base;
  Parameters *p = &self->parameters;
  const bool is_first = base->n_frames == 0;
  const bool keeps_shadows = options->shadows == CUDACCL_SHADOWS_KEEP;
  const uint64_t absorb_time = ccl_absorb_time (options->absorb_after, options->hold);

  p->update.pixels.frame = segmenter->frame;
  p->update.pixels.sensitivity = ccl_codebook_sensitivity (options->sensitivity);
  p->update.pixels.light = options->light && !is_first ? self->frame_light : NULL;
  p->light.boxes = base->camera->takes_boxes ? self->boxes_on_device : NULL;
  p->update.sway.distance = is_first ? 0 : ccl_camera_sway (base->camera);
  p->update.evidence.judges_scene = options->light;
  p->update.time = ccl_codebook_advance (&self->clock, options->frame_duration, absorb_time);
  p->update.sampled.renews = is_first;
  p->update.sampled.period = ccl_sampled_period (absorb_time);
  p->update.sampled.time = ccl_sampled_advance (&self->sampled_clock, options->frame_duration);
  p->candidates.candidates.finds_light = options->light && !keeps_shadows;
  p->candidates.keeps_shadows = keeps_shadows;
  p->candidates.hides_objects = base->camera->hides;
  p->confirm.mask = segmenter->mask;
  self->launches[FIRST] = segmenter->first;
  share_parameters (p);
}

static CclStatus
codebook_queue (CclCudaSegmenter *segmenter, const CclForegroundOptions *options, CclError *error)
{
  CudaCodebook *self = segmenter->model;
  CclStatus status = CUDACCL_OK;

  segmenter->base.scene_change = CUDACCL_SCENE_UNCHANGED;
  set_parameters (self, options);
  if (!self->counts_are_clean) /* a failed run has left some */
    status = ccl_cuda_call (segmenter->runner.device->driver, error,
        cuMemsetD8Async (
            (CUdeviceptr)(uintptr_t)self->counts, 0, self->counts_size, segmenter->runner.stream));
  self->counts_are_clean = false;
  if (status == CUDACCL_OK)
    status = queue_kernels (self, error);
  self->counts_are_clean = status == CUDACCL_OK;
  return status;
}

/* One for each warp of a row of bits. */
static size_t
n_counts (const CudaCodebook *self)
{
  const CclExtent *extent = &self->segmenter->extent;
  return (size_t)extent->height * divide_up (extent->row_words, 32);
}

static void
count_objects (const CudaCodebook *self)
{
  CclForeground *base = &self->segmenter->base;
  const uint32_t *objects = self->objects;
  const size_t n = n_counts (self);

  base->n_foreground = base->n_changed = 0;
  for (size_t i = 0; i < n; i++) {
    base->n_foreground += objects[i] & UINT16_MAX;
    base->n_changed += objects[i] >> 16;
  }
}

/* Brings the boxes of the frame and of the model, which lie cell by cell, in rows. */
static void
take_boxes (CudaCodebook *self)
{
  const CclCamera *camera = self->segmenter->base.camera;
  const uint32_t n = CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX; /* in a row of a cell */
  const uint8_t *cell = self->boxes;

  for (uint32_t row = 0; row < camera->grid.rows; row++) {
    for (uint32_t column = 0; column < camera->grid.columns; column++) {
      uint8_t *frame = camera->boxes + (size_t)row * n * camera->stride + column * n;
      uint8_t *model = frame + ccl_camera_boxes_size (camera);
      for (uint32_t i = 0; i < n; i++, cell += n)
        memcpy (frame + i * camera->stride, cell, n);
      for (uint32_t i = 0; i < n; i++, cell += n)
        memcpy (model + i * camera->stride, cell, n);
    }
  }
}

static void
codebook_take (CclCudaSegmenter *segmenter)
{
  CudaCodebook *self = segmenter->model;
  segmenter->base.scene_change = *(const uint32_t *)segmenter->scene_change;
  count_objects (self);
  if (segmenter->base.camera->takes_boxes)
    take_boxes (self);
}

static void
codebook_clear (CclCudaSegmenter *segmenter)
{
  CudaCodebook *self = segmenter->model;
  for (int i = 0; i < 2; i++)
    ccl_cuda_kernel_graph_clear (&self->graphs[i].graph, segmenter->runner.device);
}

static Layout
begin_layout (void *memory)
{
  return (Layout){.memory = memory, .alignment = 256};
}

/* Places what the second model has of places and cells. */
static void
place_sampled (Layout *layout, CclSampledParameters *s)
{
  CclSampledPlaces *places = &s->places;
  const size_t n_words = (size_t)places->row_words * places->grid.rows;
  s->plane = 32 * n_words;
  s->samples = lay_out (layout, CUDACCL_SAMPLED_VALUES, 3 * s->plane);
  s->restlessness = lay_out (layout, s->plane, 1);
  places->different = lay_out (layout, n_words, sizeof *places->different);
  places->restless = lay_out (layout, n_words, sizeof *places->restless);
  places->unlike = lay_out (layout, n_words, sizeof *places->unlike);
  places->cells =
      lay_out (layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS, sizeof *places->cells);
  places->outlines =
      lay_out (layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS, sizeof *places->outlines);
  places->faint_cells =
      lay_out (layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS, sizeof *places->faint_cells);
  s->uncovered.bits = lay_out (
      layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS / 32, sizeof *s->uncovered.bits);
  s->uncovered.old = lay_out (
      layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS / 32, sizeof *s->uncovered.old);
  s->uncovered.ages =
      lay_out (layout, CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS, sizeof *s->uncovered.ages);
}

/* Places the arrays of the model in memory, which may be NULL. Returns the size of all. */
static size_t
place_model (CudaCodebook *self, void *memory)
{
  Parameters *p = &self->parameters;
  CclCodebookPixels *pixels = &p->update.pixels;
  CclCodebookBits *bits = &p->update.bits;
  CclCodebookCandidates *candidates = &p->candidates.candidates;
  const size_t n_words = (size_t)pixels->extent.row_words * pixels->extent.height;
  const size_t plane = ccl_cuda_segmenter_plane_size (self->segmenter);
  uint32_t **const planes[] = {&bits->strong, &bits->foreground, &bits->shadow, &bits->recurrent,
      &bits->object, &bits->dynamic, &bits->settled, &candidates->objects, &candidates->shadows,
      &candidates->faint, &p->confirm.found, &bits->agrees, &bits->differs, &bits->ended,
      &bits->begun};
  Layout layout = begin_layout (memory);

  p->update.blocks = lay_out (&layout, n_words, sizeof *p->update.blocks);
  pixels->history = lay_out (&layout, 1, sizeof *pixels->history);
  pixels->background = lay_out (&layout, n_words, 32);
  p->update.sway.low = lay_out (&layout, n_words, 32);
  p->update.sway.high = lay_out (&layout, n_words, 32);
  place_sampled (&layout, &p->update.sampled);
  candidates->counts = lay_out (&layout, n_counts (self), sizeof *candidates->counts);
  for (size_t i = 0; i < CUDACCL_CODEBOOK_PLACE_BITS; i++)
    bits->place[i] = lay_out (&layout, 1, plane);
  for (size_t i = 0; i < sizeof planes / sizeof *planes; i++)
    *planes[i] = lay_out (&layout, 1, plane);
  return layout.size;
}

static uint32_t
n_light_cells (const CudaCodebook *self)
{
  const CclLightGrid *grid = &self->parameters.update.pixels.grid;
  return grid->columns * grid->rows;
}

/* The same for the counts of a frame. */
static size_t
place_counts (CudaCodebook *self, void *memory)
{
  Parameters *p = &self->parameters;
  CclCodebookPixels *pixels = &p->update.pixels;
  Layout layout = begin_layout (memory);

  self->frame_light = lay_out (&layout, 1, sizeof *self->frame_light);
  pixels->counts = lay_out (&layout, 1, sizeof *pixels->counts);
  p->update.evidence.cells =
      lay_out (&layout, n_light_cells (self), sizeof *p->update.evidence.cells);
  return layout.size;
}

/* The same of the light of cells and rows. */
static size_t
place_light (CudaCodebook *self, void *memory)
{
  CclCodebookPixels *pixels = &self->parameters.update.pixels;
  CclCodebookLightParameters *p = &self->parameters.light;
  const size_t n_rows = (size_t)pixels->grid.rows * CUDACCL_LIGHT_SAMPLES;
  Layout layout = begin_layout (memory);

  p->cells = lay_out (&layout, n_light_cells (self), sizeof *p->cells);
  pixels->factors = lay_out (&layout, n_light_cells (self), sizeof *pixels->factors);
  p->ratios = lay_out (
      &layout, n_rows * CUDACCL_LIGHT_SAMPLES, CUDACCL_LIGHT_MAX_COLUMNS * sizeof *p->ratios);
  pixels->rows = lay_out (&layout, n_rows, sizeof *pixels->rows);
  return layout.size;
}

static CclStatus
allocate_memory (CudaCodebook *self, CclError *error)
{
  CclCudaAllocations *memory = &self->segmenter->runner.memory;
  const size_t boxes = (size_t)n_light_cells (self) * 2 * CUDACCL_CODEBOOK_CELL_BOXES;
  const size_t objects = n_counts (self) * sizeof *self->parameters.confirm.counts;
  CclStatus status = CUDACCL_OK;

  self->model_size = place_model (self, NULL);
  self->counts_size = place_counts (self, NULL);
  self->model = ccl_cuda_allocate (memory, self->model_size, &status, error);
  self->counts = ccl_cuda_allocate (memory, self->counts_size, &status, error);
  void *light = ccl_cuda_allocate (memory, place_light (self, NULL), &status, error);
  self->boxes_on_device = ccl_cuda_allocate_pinned (memory, boxes, &self->boxes, &status, error);
  self->parameters.confirm.counts =
      ccl_cuda_allocate_pinned (memory, objects, &self->objects, &status, error);
  place_model (self, self->model);
  place_counts (self, self->counts);
  place_light (self, light);
  return status;
}

static CclStatus
codebook_prepare (CclCudaSegmenter *segmenter, CclError *error)
{
  const CclForegroundPlan *plan = &segmenter->base.plan;
  CudaCodebook *self = segmenter->model;
  CclCodebookPixels *pixels = &self->parameters.update.pixels;
  CclSampledPlaces *places = &self->parameters.update.sampled.places;
  self->segmenter = segmenter;
  self->parameters.confirm.scene_change = segmenter->scene_change_on_device;
  pixels->extent = segmenter->extent;
  pixels->is_wide = ccl_cuda_segmenter_is_wide (segmenter);
  pixels->grid = ccl_light_grid (plan->width, plan->height);
  pixels->sample_shift = pixels->grid.shift - 4;
  places->grid = ccl_sampled_grid (plan->width, plan->height);
  places->row_words = divide_up (places->grid.columns, 32);
  const CclStatus status = prepare_kernels (self, error);
  return status == CUDACCL_OK ? allocate_memory (self, error) : status;
}

const CclCudaMethod ccl_cuda_codebook = {
    .model_size = sizeof (CudaCodebook),
    .queues_first = true,
    .copies_bits = true,
    .takes_followers = true,
    .prepare = codebook_prepare,
    .reset = codebook_reset,
    .queue = codebook_queue,
    .take = codebook_take,
    .clear = codebook_clear,
};
