/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of otsu.cu, light.cu and mog2.cu, and of the threshold in foreground.cu.
 *
 * A frame takes these kernels, as far as plan and options ask for them:
 *
 *   1. the histogram for Otsu's threshold, or the light of the frame: measured, then smoothed
 *   2. the threshold or the background model
 *   3. the filter that removes noise
 *   4. closing: dilation, then erosion
 *
 * Kernels 2 to 4 pass bits on; the last of them writes the mask. segmenter.c queues 3 and 4.
 */
#include "foreground-model.h"

#include <stdlib.h>

#include "codebook-foreground.h"
#include "images.h"
#include "cuda/driver/launch.h"
#include "segmenter.h"
#include "reduced-foreground.h"
#include "core/foreground/reduction.h"
#include "cuda/driver/tuning.h"

enum {
  HISTOGRAM,
  HISTOGRAM_WINDOWS,
  MEASURE_LIGHT,
  SMOOTH_LIGHT,
  LUMA, /* threshold or background model */
  N_KERNELS,
};

/* Bytes of the background model for the pixels of one thread, without and with chroma. */
#define LUMA_GROUP_SIZE                                                                            \
  (CUDACCL_MAX_MIXTURES * CUDACCL_FOREGROUND_PIXELS * (sizeof (uint32_t) + sizeof (uint16_t)))
#define COLOUR_GROUP_SIZE                                                                          \
  (LUMA_GROUP_SIZE + CUDACCL_MAX_MIXTURES * CUDACCL_FOREGROUND_PIXELS * sizeof (uint16_t))

typedef struct CudaForeground {
  CclCudaSegmenter segmenter;
  CUfunction functions[N_KERNELS];                           /* those of the plan's method */
  CUdeviceptr model, histogram, light, cells, factors, held; /* 0: not needed */
  size_t model_size;
  uint64_t plane_groups; /* groups of CUDACCL_FOREGROUND_PIXELS in a plane of the model */
  bool histogram_clean;  /* the histogram is in the state in which a frame starts */
  bool light_clean;      /* the light, too */
  bool may_have_begun;   /* the last run looked for a scene change, and its result was not read */
  bool has_held;         /* held has been written since the model began */
  CclForegroundParameters parameters;
} CudaForeground;

static bool
is_mog2 (const CudaForeground *self)
{
  return self->segmenter.base.plan.method == CUDACCL_FOREGROUND_MOG2;
}

static const CclCudaImage *
image_of (const CudaForeground *self, int kernel)
{
  switch (kernel) {
  case HISTOGRAM:
  case HISTOGRAM_WINDOWS:
    return &ccl_cuda_image_otsu;
  case MEASURE_LIGHT:
  case SMOOTH_LIGHT:
    return &ccl_cuda_image_light;
  case LUMA:
    return is_mog2 (self) ? &ccl_cuda_image_mog2 : &ccl_cuda_image_foreground;
  default:
    return &ccl_cuda_image_foreground;
  }
}

/* 0: one byte, 1: packed, 2: 16 bits. */
static int
kind_of_pixels (const CudaForeground *self)
{
  const CclPixelFormat format = self->segmenter.base.plan.format;
  return format == CUDACCL_PIXEL_FORMAT_8 ? 0 : format == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1;
}

static const char *
kernel_name (const CudaForeground *self, int kernel)
{
  /* Of the kernels that read the frame: for pixels of one byte, of packed ones, of 16 bits. */
  static const char *const histograms[] = {
      "ccl_histogram", "ccl_histogram_packed", "ccl_histogram_words"};
  static const char *const thresholds[] = {
      "ccl_threshold", "ccl_threshold_packed", "ccl_threshold_words"};
  static const char *const luma_models[] = {"ccl_mog2", "ccl_mog2_packed", "ccl_mog2_words"};
  static const char *const colour_models[] = {
      "ccl_mog2_colour", "ccl_mog2_colour_packed", "ccl_mog2_colour_words"};
  static const char *const measures[] = {
      "ccl_light_measure", "ccl_light_measure", "ccl_light_measure_words"};
  static const char *const names[N_KERNELS] = {
      [HISTOGRAM_WINDOWS] = "ccl_histogram_windows",
      [SMOOTH_LIGHT] = "ccl_light_smooth",
  };
  const int kind = kind_of_pixels (self);
  if (kernel == HISTOGRAM)
    return histograms[kind];
  if (kernel == MEASURE_LIGHT)
    return measures[kind];
  if (kernel == LUMA && is_mog2 (self))
    return self->segmenter.base.plan.has_chroma ? colour_models[kind] : luma_models[kind];
  return kernel == LUMA ? thresholds[kind] : names[kernel];
}

static CclStatus
launch (CudaForeground *self, int kernel, const uint32_t grid[3], uint32_t threads,
    bool is_dependent, CclError *error)
{
  const CclCudaLaunch launch = {
      .function = self->functions[kernel],
      .kernel = kernel_name (self, kernel),
      .grid = {grid[0], grid[1], grid[2]},
      .block = {threads, 1, 1},
      .is_dependent = is_dependent,
  };
  return ccl_cuda_launch (
      self->segmenter.device, &launch, &self->parameters, self->segmenter.stream, error);
}

static bool
is_wide (const CudaForeground *self)
{
  return self->segmenter.base.plan.format == CUDACCL_PIXEL_FORMAT_16;
}

/* Bytes, with those of the wide histogram, which follows. */
static size_t
histogram_size (const CudaForeground *self)
{
  return sizeof (CclHistogram) + (is_wide (self) ? sizeof (CclWideHistogram) : 0);
}

/* One block for each multiprocessor, as each adds its counts to memory at its end, and a second one
 * if all warps have eight parts or more. */
static uint32_t
n_histogram_blocks (const CudaForeground *self)
{
  const CclForegroundPlan *plan = &self->segmenter.base.plan;
  const uint64_t row_parts = divide_up (plan->width, 32 * CUDACCL_FOREGROUND_PIXELS);
  const uint64_t n_parts = row_parts * plan->height;
  const uint32_t n_multiprocessors = (uint32_t)self->segmenter.device->n_multiprocessors;
  const uint32_t with_one = divide_up (n_parts, CUDACCL_HISTOGRAM_WARPS);
  const uint32_t with_eight = divide_up (n_parts, 8 * CUDACCL_HISTOGRAM_WARPS);
  const uint32_t most_parts =
      CUDACCL_HISTOGRAM_MOST_PARTS / CUDACCL_HISTOGRAM_WARPS * CUDACCL_HISTOGRAM_WARPS;
  const uint32_t least = is_wide (self) ? divide_up (n_parts, most_parts) : 1;
  const uint32_t first = with_one < n_multiprocessors ? with_one : n_multiprocessors;
  const uint32_t both = with_eight < 2 * n_multiprocessors ? with_eight : 2 * n_multiprocessors;
  const uint32_t best = first > both ? first : both;
  return best > least ? best : least;
}

static CclStatus
queue_histogram (CudaForeground *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  if (!self->histogram_clean)
    status = ccl_cuda_call (self->segmenter.device->driver, error,
        cuMemsetD8Async (self->histogram, 0, histogram_size (self), self->segmenter.stream));
  self->histogram_clean = false;
  const uint32_t blocks[] = {n_histogram_blocks (self), 1, 1};
  if (status == CUDACCL_OK)
    status = launch (self, HISTOGRAM, blocks, CUDACCL_HISTOGRAM_THREADS, false, error);
  if (status == CUDACCL_OK && is_wide (self))
    status = launch (self, HISTOGRAM_WINDOWS, blocks, CUDACCL_HISTOGRAM_THREADS, true, error);
  self->histogram_clean = status == CUDACCL_OK;
  return status;
}

static CclStatus
queue_light (CudaForeground *self, CclError *error)
{
  const CclLightGrid *grid = &self->parameters.grid;
  const uint32_t n_cells = grid->columns * grid->rows;
  const uint32_t cells[] = {n_cells, 1, 1};
  const uint32_t warps[] = {divide_up (n_cells, CUDACCL_LIGHT_THREADS / 32), 1, 1};
  CclStatus status = CUDACCL_OK;
  if (!self->light_clean)
    status = ccl_cuda_call (self->segmenter.device->driver, error,
        cuMemsetD8Async (self->light, 0, sizeof (CclFrameLight), self->segmenter.stream));
  self->light_clean = false;
  if (status == CUDACCL_OK)
    status = launch (self, MEASURE_LIGHT, cells, CUDACCL_LIGHT_THREADS, false, error);
  if (status == CUDACCL_OK)
    status = launch (self, SMOOTH_LIGHT, warps, CUDACCL_LIGHT_THREADS, true, error);
  self->light_clean = self->may_have_begun = status == CUDACCL_OK;
  return status;
}

/* Queues the kernels of a frame with the parameters that are set. */
static CclStatus
queue (CudaForeground *self, const CclForegroundOptions *options, CclError *error)
{
  CclForegroundParameters *p = &self->parameters;
  const bool is_denoised = options->denoise != CUDACCL_DENOISE_NONE;
  const bool is_filtered = is_denoised || ccl_is_closed (options);
  uint32_t *const next_held = p->next_held;
  CclStatus status = CUDACCL_OK;

  if (self->histogram)
    status = queue_histogram (self, error);
  /* The weights of a new model must be 0. The other values of a pixel are written before their
   * first use; clearing them, too, keeps vector loads from reading uninitialised memory. */
  if (self->model && self->segmenter.base.n_frames == 0)
    status = ccl_cuda_call (self->segmenter.device->driver, error,
        cuMemsetD8Async (self->model, 0, self->model_size, self->segmenter.stream));
  if (status == CUDACCL_OK && p->light)
    status = queue_light (self, error);

  p->result = is_filtered ? (uint32_t *)(uintptr_t)self->segmenter.bits.found : NULL;
  p->shadow_result = p->tells_shadows ? (uint32_t *)(uintptr_t)self->segmenter.bits.shadow : NULL;
  p->next_held = is_denoised ? NULL : next_held;
  const uint32_t parts = is_mog2 (self) ? 1 : p->threshold_parts;
  if (status == CUDACCL_OK)
    status = ccl_cuda_segmenter_launch (&self->segmenter, self->functions[LUMA],
        kernel_name (self, LUMA), p, parts * 32 * CUDACCL_FOREGROUND_PIXELS,
        self->histogram || p->light, error);
  p->next_held = is_denoised ? next_held : NULL;
  if (status == CUDACCL_OK)
    status = ccl_cuda_segmenter_filter (
        &self->segmenter, options, is_mog2 (self) && p->tells_shadows, error);
  return status;
}

/* Waits for the last run and reads its change of scene. */
static CclStatus
settle (CudaForeground *self, CclError *error)
{
  CclStatus status = ccl_cuda_segmenter_settle (&self->segmenter, error);
  if (status != CUDACCL_OK)
    return status;
  if (self->may_have_begun) {
    self->segmenter.base.scene_change = *(const uint32_t *)self->segmenter.scene_change;
    /* The frame with the change was the first one of a new model. */
    if (self->segmenter.base.scene_change != CUDACCL_SCENE_UNCHANGED &&
        self->segmenter.base.n_frames > 0)
      self->segmenter.base.n_frames = 1;
  }
  self->may_have_begun = false;
  return CUDACCL_OK;
}

/* Sets the parameters that describe the background model for a frame. */
static void
set_model (CudaForeground *self, const CclForegroundOptions *options)
{
  const uint64_t n_frames = self->segmenter.base.n_frames;
  CclForegroundParameters *p = &self->parameters;
  const bool holds = options->hold > 1;

  p->mixture = ccl_mixture_parameters (options, n_frames);
  p->tells_shadows = options->shadows != CUDACCL_SHADOWS_KEEP;
  p->marks_shadows = options->shadows == CUDACCL_SHADOWS_MARK;
  p->light = options->light && n_frames > 0 ? (CclFrameLight *)(uintptr_t)self->light : NULL;
  p->may_begin = n_frames >= CUDACCL_LIGHT_FIRST_FRAMES;
  if (n_frames == 0)
    self->has_held = false;
  p->held = self->has_held && ccl_mixture_skips_held (options, n_frames)
                ? (const uint32_t *)(uintptr_t)self->held
                : NULL;
  p->next_held = holds ? (uint32_t *)(uintptr_t)self->held : NULL;
  self->has_held = holds;
  self->segmenter.base.scene_change = CUDACCL_SCENE_UNCHANGED;
}

static CclStatus
cuda_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
  CclForegroundParameters *p = &self->parameters;

  CclStatus status = ccl_cuda_segmenter_enter (&self->segmenter, error);
  if (status != CUDACCL_OK)
    return status;
  /* A scene change that the last run found decides how this one learns. */
  if (self->may_have_begun)
    status = settle (self, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_device_leave (self->segmenter.device);
    return status;
  }
  p->threshold = options->threshold;
  if (self->model)
    set_model (self, options);
  status = ccl_cuda_segmenter_begin (&self->segmenter, frame, options, mask, error);
  if (status == CUDACCL_OK)
    status = queue (self, options, error);
  status = ccl_cuda_segmenter_end (&self->segmenter, status, error);
  ccl_cuda_device_leave (self->segmenter.device);
  return status;
}

static CclStatus
cuda_foreground_wait (CclForeground *foreground, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
  if (!self->segmenter.is_pending)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_device_enter (self->segmenter.device, error);
  if (status != CUDACCL_OK)
    return status;
  status = settle (self, error);
  ccl_cuda_device_leave (self->segmenter.device);
  return status;
}

static void
cuda_foreground_free (CclForeground *foreground)
{
  CudaForeground *self = (CudaForeground *)foreground;
  CUdeviceptr *const memories[] = {
      &self->model, &self->histogram, &self->light, &self->cells, &self->factors, &self->held};
  ccl_cuda_segmenter_clear (&self->segmenter, memories, sizeof memories / sizeof *memories);
  ccl_cuda_device_unref (&self->segmenter.device);
  free (self);
}

static const CclForegroundClass cuda_foreground_class = {
    .name = "cuda",
    .queue = cuda_foreground_queue,
    .wait = cuda_foreground_wait,
    .free = cuda_foreground_free,
};

static CclStatus
find_kernels (CudaForeground *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < N_KERNELS && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (self->segmenter.device, image_of (self, i),
        kernel_name (self, i), &self->functions[i], error);
  return status;
}

/* Allocates a background model, and the light of its frames. */
static CclStatus
allocate_model (CudaForeground *self, CclError *error)
{
  const CclForegroundPlan *plan = &self->segmenter.base.plan;
  CclForegroundParameters *p = &self->parameters;

  self->plane_groups = divide_up ((uint64_t)p->row_groups * plan->height, 32) * 32;
  self->model_size = self->plane_groups * (plan->has_chroma ? COLOUR_GROUP_SIZE : LUMA_GROUP_SIZE);
  CclStatus status =
      ccl_cuda_device_allocate (self->segmenter.device, self->model_size, &self->model, error);
  if (status != CUDACCL_OK)
    return status;
  for (int k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    /* Shapes lie before weights and chroma, which take half as many bytes, so that all are
     * aligned. */
    const size_t shapes = self->plane_groups * CUDACCL_FOREGROUND_PIXELS * sizeof (uint32_t);
    const CUdeviceptr weights = self->model + CUDACCL_MAX_MIXTURES * shapes;
    const CUdeviceptr chroma = weights + CUDACCL_MAX_MIXTURES * shapes / 2;
    p->shapes[k] = (struct uint4 *)(uintptr_t)(self->model + k * shapes);
    p->weights[k] = (struct uint2 *)(uintptr_t)(weights + k * shapes / 2);
    p->chroma[k] = plan->has_chroma ? (struct uint2 *)(uintptr_t)(chroma + k * shapes / 2) : NULL;
  }

  p->grid = ccl_light_grid (plan->width, plan->height);
  const size_t n_cells = (size_t)p->grid.columns * p->grid.rows;
  status = ccl_cuda_device_allocate (
      self->segmenter.device, sizeof (CclFrameLight), &self->light, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (
        self->segmenter.device, n_cells * sizeof (CclLightCell), &self->cells, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (
        self->segmenter.device, n_cells * sizeof (uint16_t), &self->factors, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (self->segmenter.device,
        ccl_cuda_segmenter_plane_size (&self->segmenter), &self->held, error);
  p->cells = (CclLightCell *)(uintptr_t)self->cells;
  p->factors = (uint16_t *)(uintptr_t)self->factors;
  return status;
}

/* As many parts as leave enough thread blocks of the threshold for each multiprocessor. */
static uint32_t
threshold_parts (const CudaForeground *self)
{
  const CclForegroundPlan *plan = &self->segmenter.base.plan;
  const uint64_t row_parts = divide_up (plan->width, 32 * CUDACCL_FOREGROUND_PIXELS);
  const uint64_t n_blocks = row_parts * divide_up (plan->height, CUDACCL_FOREGROUND_WARPS);
  const uint64_t parts =
      n_blocks / (CUDACCL_THRESHOLD_BLOCKS * (uint64_t)self->segmenter.device->n_multiprocessors);
  return parts < 1                              ? 1
         : parts < CUDACCL_THRESHOLD_MOST_PARTS ? (uint32_t)parts
                                                : CUDACCL_THRESHOLD_MOST_PARTS;
}

/* Allocates everything of a foreground. */
static CclStatus
allocate (
    CudaForeground *self, CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  CclForegroundParameters *p = &self->parameters;
  const bool has_model = plan->method == CUDACCL_FOREGROUND_MOG2;

  CclStatus status = ccl_cuda_segmenter_init (&self->segmenter, device, plan, has_model, error);
  p->row_groups = divide_up (plan->width, CUDACCL_FOREGROUND_PIXELS);
  p->threshold_parts = threshold_parts (self);
  if (status == CUDACCL_OK)
    status = find_kernels (self, error);
  if (status == CUDACCL_OK && plan->method == CUDACCL_FOREGROUND_OTSU)
    status = ccl_cuda_device_allocate (device, histogram_size (self), &self->histogram, error);
  if (status == CUDACCL_OK && has_model)
    status = allocate_model (self, error);
  p->histogram = (CclHistogram *)(uintptr_t)self->histogram;
  p->wide_histogram =
      self->histogram && is_wide (self) ? (CclWideHistogram *)(p->histogram + 1) : NULL;
  return status;
}

static CclForeground *
foreground_new (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  CudaForeground *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a foreground segmenter");
    return NULL;
  }
  self->segmenter.base.klass = &cuda_foreground_class;
  self->segmenter.parameters = &self->parameters;
  if (allocate (self, device, plan, error) == CUDACCL_OK)
    return &self->segmenter.base;
  cuda_foreground_free (&self->segmenter.base);
  return NULL;
}

/* An object for frames that are not reduced. */
static CclForeground *
new_for_whole_frames (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  if (ccl_cuda_device_enter (device, error) != CUDACCL_OK)
    return NULL;
  CclForeground *foreground = plan->method == CUDACCL_FOREGROUND_CODEBOOK
                                  ? ccl_cuda_codebook_foreground_new (device, plan, error)
                                  : foreground_new (device, plan, error);
  ccl_cuda_device_leave (device);
  return foreground;
}

CclForeground *
ccl_cuda_foreground_new (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device is needed");
    return NULL;
  }
  if (ccl_foreground_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  const uint32_t factor = ccl_reduction_factor (plan);
  if (factor == 1)
    return new_for_whole_frames (device, plan, error);
  const CclForegroundPlan reduced_plan = ccl_reduced_plan (plan, factor);
  CclForeground *inner = new_for_whole_frames (device, &reduced_plan, error);
  return inner ? ccl_cuda_reduced_foreground_new (device, plan, factor, inner, error) : NULL;
}

CclStatus
ccl_cuda_foreground_set_stream (CclForeground *foreground, void *stream, CclError *error)
{
  if (foreground && ccl_cuda_reduced_foreground_inner (foreground)) {
    ccl_cuda_reduced_foreground_set_stream (foreground, stream);
    return CUDACCL_OK;
  }
  if (!foreground || (foreground->klass != &cuda_foreground_class &&
                         !ccl_cuda_is_codebook_foreground (foreground)))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
  CclCudaSegmenter *segmenter = (CclCudaSegmenter *)foreground;
  segmenter->stream = stream ? stream : segmenter->own_stream;
  return CUDACCL_OK;
}

/* The segmenter of an object, that of reduced frames if it has one; NULL: none of a GPU. */
static CclCudaSegmenter *
find_segmenter (CclForeground *foreground)
{
  CclForeground *inner = foreground ? ccl_cuda_reduced_foreground_inner (foreground) : NULL;
  CclForeground *found = inner ? inner : foreground;
  return found &&
                 (found->klass == &cuda_foreground_class || ccl_cuda_is_codebook_foreground (found))
             ? (CclCudaSegmenter *)found
             : NULL;
}

CclStatus
ccl_cuda_foreground_copy_bits (CclForeground *foreground, void *bits, CclError *error)
{
  CclCudaSegmenter *segmenter = find_segmenter (foreground);
  CUdeviceptr copy = 0;
  if (!segmenter || (uintptr_t)bits % sizeof (uint32_t) != 0)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "bits need an object of a GPU, and memory aligned to 4 bytes");
  if (!ccl_cuda_is_codebook_foreground (&segmenter->base))
    return ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "only masks of the codebook are copied as bits");
  CclStatus status = ccl_cuda_device_enter (segmenter->device, error);
  if (status == CUDACCL_OK) {
    if (bits &&
        segmenter->device->driver->cuMemHostGetDevicePointer (&copy, bits, 0) != CUDA_SUCCESS)
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the memory is not page-locked");
    ccl_cuda_device_leave (segmenter->device);
  }
  segmenter->parameters->copy = (uint32_t *)(uintptr_t)copy;
  return status;
}

CclStatus
ccl_cuda_foreground_set_finished (CclForeground *foreground, CclError *error)
{
  CclCudaSegmenter *segmenter = find_segmenter (foreground);
  if (!segmenter)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
  segmenter->is_finished = true;
  if (&segmenter->base != foreground)
    ccl_cuda_reduced_foreground_set_finished (foreground);
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_foreground_read_model (CclForeground *foreground, uint16_t *weights, uint16_t *means,
    uint16_t *variances, uint16_t *chroma, CclError *error)
{
  CclForeground *inner = ccl_cuda_reduced_foreground_inner (foreground);
  if (inner)
    foreground = inner;
  CudaForeground *self = (CudaForeground *)foreground;
  const CclCudaDriver *driver = self->segmenter.device->driver;
  const CclForegroundPlan *plan = &foreground->plan;
  const size_t row_pixels = (size_t)self->parameters.row_groups * CUDACCL_FOREGROUND_PIXELS;
  const size_t plane_pixels = self->plane_groups * CUDACCL_FOREGROUND_PIXELS;
  uint8_t *model = malloc (self->model_size);
  if (!model)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a model");
  CclStatus status = ccl_cuda_device_enter (self->segmenter.device, error);
  if (status == CUDACCL_OK) {
    status = ccl_cuda_call (driver, error,
        cuMemcpyDtoHAsync (model, self->model, self->model_size, self->segmenter.stream));
    CclStatus end_status = ccl_cuda_call (
        driver, status == CUDACCL_OK ? error : NULL, cuStreamSynchronize (self->segmenter.stream));
    if (status == CUDACCL_OK)
      status = end_status;
    ccl_cuda_device_leave (self->segmenter.device);
  }
  const uint32_t *all_shapes = (const uint32_t *)model;
  const uint16_t *all_weights =
      (const uint16_t *)(all_shapes + CUDACCL_MAX_MIXTURES * plane_pixels);
  const uint16_t *all_chroma =
      plan->has_chroma ? all_weights + CUDACCL_MAX_MIXTURES * plane_pixels : NULL;
  for (size_t k = 0; k < CUDACCL_MAX_MIXTURES && status == CUDACCL_OK; k++) {
    for (size_t y = 0; y < plan->height; y++) {
      for (size_t x = 0; x < plan->width; x++) {
        const size_t from = k * plane_pixels + y * row_pixels + x;
        const size_t to = (k * plan->height + y) * plan->width + x;
        weights[to] = all_weights[from];
        means[to] = (uint16_t)all_shapes[from];
        variances[to] = (uint16_t)(all_shapes[from] >> 16);
        chroma[to] = all_chroma ? all_chroma[from] : CUDACCL_NO_CHROMA;
      }
    }
  }
  free (model);
  return status;
}
