/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host side of foreground.cu, otsu.cu, light.cu and mog2.cu.
 *
 * A frame takes these kernels, as far as plan and options ask for them:
 *
 *   1. the histogram for Otsu's threshold, or the light of the frame: measured, then smoothed
 *   2. the threshold or the background model
 *   3. the filter that removes noise
 *   4. closing: dilation, then erosion
 *
 * Kernels 2 to 4 pass bits on; the last of them writes the mask.
 */
#include "foreground-model.h"

#include "foreground-class.h"

#include <stdlib.h>

#include "foreground-parameters.h"
#include "frame-upload.h"
#include "images.h"
#include "launch.h"
#include "reduced-foreground.h"
#include "reduction.h"

enum {
  HISTOGRAM,
  HISTOGRAM_WINDOWS,
  MEASURE_LIGHT,
  SMOOTH_LIGHT,
  LUMA, /* threshold or background model */
  DILATE,
  ERODE,
  DENOISE, /* the filters, in the order of CclDenoise from CUDACCL_DENOISE_MEDIAN_3 on */
  DENOISE_CLASSES = DENOISE + CUDACCL_DENOISE_OPENING_5, /* median filters of classes */
  N_KERNELS = DENOISE_CLASSES + 2,
};

/* Bytes of the background model for the pixels of one thread, without and with chroma. */
#define LUMA_GROUP_SIZE                                                                            \
  (CUDACCL_MAX_MIXTURES * CUDACCL_FOREGROUND_PIXELS * (sizeof (uint32_t) + sizeof (uint16_t)))
#define COLOUR_GROUP_SIZE                                                                          \
  (LUMA_GROUP_SIZE + CUDACCL_MAX_MIXTURES * CUDACCL_FOREGROUND_PIXELS * sizeof (uint16_t))

/* Device memory of masks in bits; 0: not needed. */
typedef struct BitPlanes {
  CUdeviceptr found, filtered; /* results of kernels 2 and 3 */
  CUdeviceptr dilated;
  CUdeviceptr held, roi_mask;
  CUdeviceptr shadow, filtered_shadow; /* as found and filtered */
} BitPlanes;

typedef struct CudaForeground {
  CclForeground base;
  CclCudaDevice *device;
  CUfunction functions[N_KERNELS]; /* those of the plan's method */
  CUstream own_stream, stream;     /* stream: the caller's, or own_stream */
  CUevent done;                    /* recorded after the last run */
  bool is_pending;                 /* the last run has not been waited for */
  CclCudaFrameUpload upload;       /* of frames that come from the host */
  BitPlanes bits;
  CUdeviceptr model, histogram, light, cells, factors; /* 0: not needed */
  size_t model_size;
  uint64_t plane_groups; /* groups of CUDACCL_FOREGROUND_PIXELS in a plane of the model */
  bool histogram_clean;  /* the histogram is in the state in which a frame starts */
  bool light_clean;      /* the light, too */
  bool may_have_begun;   /* the last run looked for a scene change, and its result was not read */
  bool has_held;         /* bits.held has been written since the model began */
  void *scene_change;    /* pinned: CclSceneChange of the last run */
  CclForegroundParameters parameters;
} CudaForeground;

static bool
is_mog2 (const CudaForeground *self)
{
  return self->base.plan.method == CUDACCL_FOREGROUND_MOG2;
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
  const CclPixelFormat format = self->base.plan.format;
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
      [DILATE] = "ccl_dilate",
      [ERODE] = "ccl_erode",
      [DENOISE] = "ccl_denoise_median_3",
      [DENOISE + 1] = "ccl_denoise_median_5",
      [DENOISE + 2] = "ccl_denoise_opening_3",
      [DENOISE + 3] = "ccl_denoise_opening_5",
      [DENOISE_CLASSES] = "ccl_denoise_classes_3",
      [DENOISE_CLASSES + 1] = "ccl_denoise_classes_5",
  };
  const int kind = kind_of_pixels (self);
  if (kernel == HISTOGRAM)
    return histograms[kind];
  if (kernel == MEASURE_LIGHT)
    return measures[kind];
  if (kernel == LUMA && is_mog2 (self))
    return self->base.plan.has_chroma ? colour_models[kind] : luma_models[kind];
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
  return ccl_cuda_launch (self->device, &launch, &self->parameters, self->stream, error);
}

/* Queues a kernel of which each warp handles warp_pixels pixels of a row. */
static CclStatus
launch_on_rows (CudaForeground *self, int kernel, uint32_t width, uint32_t height,
    uint32_t warp_pixels, bool is_dependent, CclError *error)
{
  const uint32_t row_blocks = divide_up (height, CUDACCL_FOREGROUND_WARPS);
  const uint32_t most = UINT16_MAX; /* in the second and third dimension */
  const uint32_t blocks[] = {
      divide_up (width, warp_pixels),
      row_blocks < most ? row_blocks : most,
      divide_up (row_blocks, most),
  };
  return launch (self, kernel, blocks, CUDACCL_FOREGROUND_THREADS, is_dependent, error);
}

static bool
is_wide (const CudaForeground *self)
{
  return self->base.plan.format == CUDACCL_PIXEL_FORMAT_16;
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
  const CclForegroundPlan *plan = &self->base.plan;
  const uint64_t row_parts = divide_up (plan->width, 32 * CUDACCL_FOREGROUND_PIXELS);
  const uint64_t n_parts = row_parts * plan->height;
  const uint32_t n_multiprocessors = (uint32_t)self->device->n_multiprocessors;
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
    status = ccl_cuda_call (self->device->driver, error,
        cuMemsetD8Async (self->histogram, 0, histogram_size (self), self->stream));
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
    status = ccl_cuda_call (self->device->driver, error,
        cuMemsetD8Async (self->light, 0, sizeof (CclFrameLight), self->stream));
  self->light_clean = false;
  if (status == CUDACCL_OK)
    status = launch (self, MEASURE_LIGHT, cells, CUDACCL_LIGHT_THREADS, false, error);
  if (status == CUDACCL_OK)
    status = launch (self, SMOOTH_LIGHT, warps, CUDACCL_LIGHT_THREADS, true, error);
  self->light_clean = self->may_have_begun = status == CUDACCL_OK;
  return status;
}

static CclStatus
queue_closing (CudaForeground *self, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const uint32_t margin = 2 * CUDACCL_CLOSING_MARGIN;
  CclStatus status = launch_on_rows (
      self, DILATE, plan->width + 2 * 32, plan->height + margin, 32 * 32, true, error);
  if (status == CUDACCL_OK)
    status = launch_on_rows (self, ERODE, plan->width, plan->height, 32 * 32, true, error);
  return status;
}

/* The kernel of the noise filter. Median filters of the background model look at shadows, too. */
static int
denoise_kernel (const CudaForeground *self, const CclForegroundOptions *options)
{
  const bool is_median =
      options->denoise == CUDACCL_DENOISE_MEDIAN_3 || options->denoise == CUDACCL_DENOISE_MEDIAN_5;
  const int first =
      is_median && is_mog2 (self) && self->parameters.tells_shadows ? DENOISE_CLASSES : DENOISE;
  return first + (int)options->denoise - CUDACCL_DENOISE_MEDIAN_3;
}

/* Queues the noise filter. is_last: it writes the mask. */
static CclStatus
queue_denoise (
    CudaForeground *self, const CclForegroundOptions *options, bool is_last, CclError *error)
{
  CclForegroundParameters *p = &self->parameters;
  const CclForegroundPlan *plan = &self->base.plan;
  uint32_t *const filtered_shadow = (uint32_t *)(uintptr_t)self->bits.filtered_shadow;
  const int kernel = denoise_kernel (self, options);
  const bool filters_shadows = kernel >= DENOISE_CLASSES;

  p->result = is_last ? NULL : (uint32_t *)(uintptr_t)self->bits.filtered;
  p->shadow_result = filters_shadows && !is_last ? filtered_shadow : NULL;
  CclStatus status = launch_on_rows (self, kernel, plan->width, plan->height, 32 * 32, true, error);
  p->bits = p->result;
  if (filters_shadows)
    p->shadow = filtered_shadow;
  return status;
}

/* Queues the kernels of a frame with the parameters that are set. */
static CclStatus
queue (CudaForeground *self, const CclForegroundOptions *options, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  CclForegroundParameters *p = &self->parameters;
  const bool is_denoised = options->denoise != CUDACCL_DENOISE_NONE;
  const bool is_closed = options->closing_width > 1 || options->closing_height > 1;
  uint32_t *const found = (uint32_t *)(uintptr_t)self->bits.found;
  uint32_t *const shadow = (uint32_t *)(uintptr_t)self->bits.shadow;
  uint32_t *const next_held = p->next_held;
  CclStatus status = CUDACCL_OK;

  if (self->histogram)
    status = queue_histogram (self, error);
  /* The weights of a new model must be 0. The other values of a pixel are written before their
   * first use; clearing them, too, keeps vector loads from reading uninitialised memory. */
  if (self->model && self->base.n_frames == 0)
    status = ccl_cuda_call (self->device->driver, error,
        cuMemsetD8Async (self->model, 0, self->model_size, self->stream));
  if (status == CUDACCL_OK && p->light)
    status = queue_light (self, error);

  p->result = is_denoised || is_closed ? found : NULL;
  p->shadow_result = p->tells_shadows ? shadow : NULL;
  p->next_held = is_denoised ? NULL : next_held;
  const uint32_t parts = is_mog2 (self) ? 1 : p->threshold_parts;
  if (status == CUDACCL_OK)
    status = launch_on_rows (self, LUMA, plan->width, plan->height,
        parts * 32 * CUDACCL_FOREGROUND_PIXELS, self->histogram || p->light, error);
  p->bits = found;
  p->shadow = shadow;
  p->next_held = is_denoised ? next_held : NULL;
  if (status == CUDACCL_OK && is_denoised)
    status = queue_denoise (self, options, !is_closed, error);
  if (status == CUDACCL_OK && is_closed)
    status = queue_closing (self, error);
  return status;
}

/* Waits for the last run and reads its change of scene. */
static CclStatus
settle (CudaForeground *self, CclError *error)
{
  if (self->is_pending) {
    CclStatus status = ccl_cuda_call (self->device->driver, error, cuEventSynchronize (self->done));
    if (status != CUDACCL_OK)
      return status;
  }
  self->is_pending = false;
  if (self->may_have_begun) {
    self->base.scene_change = *(const uint32_t *)self->scene_change;
    /* The frame with the change was the first one of a new model. */
    if (self->base.scene_change != CUDACCL_SCENE_UNCHANGED && self->base.n_frames > 0)
      self->base.n_frames = 1;
  }
  self->may_have_begun = false;
  return CUDACCL_OK;
}

/* Sets the parameters that describe the background model for a frame. */
static void
set_model (CudaForeground *self, const CclForegroundOptions *options)
{
  const uint64_t n_frames = self->base.n_frames;
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
                ? (const uint32_t *)(uintptr_t)self->bits.held
                : NULL;
  p->next_held = holds ? (uint32_t *)(uintptr_t)self->bits.held : NULL;
  self->has_held = holds;
  self->base.scene_change = CUDACCL_SCENE_UNCHANGED;
}

static void
set_chroma (CudaForeground *self, const CclChroma *chroma)
{
  CclForegroundParameters *p = &self->parameters;
  const uintptr_t u = (uintptr_t)chroma->u, v = (uintptr_t)chroma->v;
  const uintptr_t first = (u < v ? u : v) - ccl_chroma_lower_byte (self->base.plan.format, chroma);
  const uint32_t sample = self->base.plan.format == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1; /* bytes */
  p->u = chroma->u;
  p->v = chroma->v;
  p->u_stride = chroma->u_stride;
  p->v_stride = chroma->v_stride;
  p->chroma_step = chroma->step;
  p->chroma_shift_x = chroma->shift_x;
  p->chroma_shift_y = chroma->shift_y;
  p->chroma_aligned = chroma->step == 2 * sample && chroma->shift_x == 1 &&
                      ccl_chroma_distance (chroma) == sample &&
                      (first | chroma->u_stride) % (4 * sample) == 0;
}

/* Sets the pixels of the frame, which are uploaded if they come from the host. */
static CclStatus
set_frame (CudaForeground *self, const CclFrame *frame, CclError *error)
{
  CclForegroundParameters *p = &self->parameters;
  CclFrame on_device;
  const CclStatus status = ccl_cuda_frame_upload_queue (
      &self->upload, &self->base.plan, frame, &on_device, self->stream, error);
  const uintptr_t pixels = (uintptr_t)on_device.data;

  p->frame = on_device.data;
  p->frame_stride = on_device.stride;
  p->frame_aligned =
      (pixels | on_device.stride) % (CUDACCL_FOREGROUND_PIXELS * p->pixel_bytes) == 0;
  if (self->base.plan.has_chroma)
    set_chroma (self, &on_device.chroma);
  return status;
}

static CclStatus
cuda_foreground_run (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
  CclForegroundParameters *p = &self->parameters;
  const uint32_t width = options->closing_width, height = options->closing_height;

  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status != CUDACCL_OK)
    return status;
  if (self->stream != self->own_stream)
    status = ccl_cuda_device_check_stream (self->device, self->stream, error);
  /* A scene change that the last run found decides how this one learns. */
  if (status == CUDACCL_OK && self->may_have_begun)
    status = settle (self, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_device_leave (self->device);
    return status;
  }
  p->threshold = options->threshold;
  p->invert = options->invert ? UINT32_MAX : 0;
  p->closing_width = width > 1 ? width : 1;
  p->closing_height = height > 1 ? height : 1;
  p->dilated = (uint32_t *)(uintptr_t)self->bits.dilated;
  p->mask = mask->data;
  p->mask_stride = mask->stride;
  p->mask_aligned = ((uintptr_t)mask->data | mask->stride) % 16 == 0;
  if (self->model)
    set_model (self, options);
  status = set_frame (self, frame, error);
  if (status == CUDACCL_OK)
    status = queue (self, options, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (self->device->driver, error, cuEventRecord (self->done, self->stream));
  self->is_pending = status == CUDACCL_OK;
  if (status != CUDACCL_OK)
    status = ccl_cuda_device_abandon (self->device, self->stream, error);
  ccl_cuda_device_leave (self->device);
  return status;
}

static CclStatus
cuda_foreground_wait (CclForeground *foreground, CclError *error)
{
  CudaForeground *self = (CudaForeground *)foreground;
  if (!self->is_pending)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status != CUDACCL_OK)
    return status;
  status = settle (self, error);
  ccl_cuda_device_leave (self->device);
  return status;
}

static void
cuda_foreground_free (CclForeground *foreground)
{
  CudaForeground *self = (CudaForeground *)foreground;
  /* On a lost device only the host's memory can be freed. The event is waited for rather than the
   * stream, which the caller may have destroyed. */
  bool entered = ccl_cuda_device_enter (self->device, NULL) == CUDACCL_OK;
  const CclCudaDriver *driver = self->device->driver;
  if (self->is_pending)
    driver->cuEventSynchronize (self->done);
  if (self->done)
    driver->cuEventDestroy (self->done);
  ccl_cuda_frame_upload_clear (&self->upload);
  CUdeviceptr *memories[] = {&self->model, &self->histogram, &self->light, &self->cells,
      &self->factors, &self->bits.found, &self->bits.filtered, &self->bits.dilated,
      &self->bits.held, &self->bits.shadow, &self->bits.filtered_shadow, &self->bits.roi_mask};
  for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
    ccl_cuda_device_release (self->device, memories[i]);
  ccl_cuda_device_release_pinned (self->device, &self->scene_change);
  if (self->own_stream)
    driver->cuStreamDestroy (self->own_stream);
  if (entered)
    ccl_cuda_device_leave (self->device);
  ccl_cuda_device_unref (&self->device);
  free (self);
}

static const CclForegroundClass cuda_foreground_class = {
    .name = "cuda",
    .run = cuda_foreground_run,
    .wait = cuda_foreground_wait,
    .free = cuda_foreground_free,
};

static CclStatus
find_kernels (CudaForeground *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < N_KERNELS && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (
        self->device, image_of (self, i), kernel_name (self, i), &self->functions[i], error);
  return status;
}

/* Uploads the region of interest mask as bits. */
static CclStatus
upload_roi_mask (CudaForeground *self, const CclFrame *roi_mask, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  const size_t row_words = self->parameters.row_words;
  const size_t size = row_words * plan->height * sizeof (uint32_t);
  CclStatus status = ccl_cuda_device_allocate (self->device, size, &self->bits.roi_mask, error);
  if (status != CUDACCL_OK)
    return status;
  uint32_t *words = calloc (row_words * plan->height, sizeof *words);
  if (!words)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a region of interest mask");
  for (size_t y = 0; y < plan->height; y++) {
    const uint8_t *row = (const uint8_t *)roi_mask->data + y * roi_mask->stride;
    for (size_t x = 0; x < plan->width; x++)
      words[y * row_words + x / 32] |= (uint32_t)(row[x] != 0) << x % 32;
  }
  status = ccl_cuda_call (
      driver, error, cuMemcpyHtoDAsync (self->bits.roi_mask, words, size, self->own_stream));
  CclStatus end_status = ccl_cuda_call (
      driver, status == CUDACCL_OK ? error : NULL, cuStreamSynchronize (self->own_stream));
  free (words);
  return status == CUDACCL_OK ? end_status : status;
}

/* Allocates a background model, and the light of its frames. */
static CclStatus
allocate_model (CudaForeground *self, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  CclForegroundParameters *p = &self->parameters;
  CUdeviceptr scene_change = 0;

  self->plane_groups = divide_up ((uint64_t)p->row_groups * plan->height, 32) * 32;
  self->model_size = self->plane_groups * (plan->has_chroma ? COLOUR_GROUP_SIZE : LUMA_GROUP_SIZE);
  CclStatus status = ccl_cuda_device_allocate (self->device, self->model_size, &self->model, error);
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
  status = ccl_cuda_device_allocate (self->device, sizeof (CclFrameLight), &self->light, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (
        self->device, n_cells * sizeof (CclLightCell), &self->cells, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_device_allocate (self->device, n_cells * sizeof (uint16_t), &self->factors, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate_pinned (
        self->device, sizeof (uint32_t), &self->scene_change, &scene_change, error);
  p->cells = (CclLightCell *)(uintptr_t)self->cells;
  p->factors = (uint16_t *)(uintptr_t)self->factors;
  p->scene_change = (uint32_t *)(uintptr_t)scene_change;
  return status;
}

/* Allocates the bit planes, apart from the region of interest mask. */
static CclStatus
allocate_bits (CudaForeground *self, CclError *error)
{
  const CclForegroundParameters *p = &self->parameters;
  const size_t size = (size_t)p->row_words * p->height * sizeof (uint32_t);
  const size_t dilated_size = ((size_t)p->row_words + 2) *
                              (p->height + 2 * (size_t)CUDACCL_CLOSING_MARGIN) * sizeof (uint32_t);
  const struct {
    CUdeviceptr *memory;
    size_t size;
  } planes[] = {
      {&self->bits.found, size},
      {&self->bits.filtered, size},
      {&self->bits.dilated, dilated_size},
      {&self->bits.held, is_mog2 (self) ? size : 0},
      {&self->bits.shadow, is_mog2 (self) ? size : 0},
      {&self->bits.filtered_shadow, is_mog2 (self) ? size : 0},
  };
  CclStatus status = CUDACCL_OK;
  for (size_t i = 0; i < sizeof planes / sizeof *planes && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_allocate (self->device, planes[i].size, planes[i].memory, error);
  return status;
}

/* As many parts as leave four thread blocks of the threshold for each multiprocessor. */
static uint32_t
threshold_parts (const CudaForeground *self)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const uint64_t row_parts = divide_up (plan->width, 32 * CUDACCL_FOREGROUND_PIXELS);
  const uint64_t n_blocks = row_parts * divide_up (plan->height, CUDACCL_FOREGROUND_WARPS);
  const uint64_t parts = n_blocks / (4 * (uint64_t)self->device->n_multiprocessors);
  return parts < 1                              ? 1
         : parts < CUDACCL_THRESHOLD_MOST_PARTS ? (uint32_t)parts
                                                : CUDACCL_THRESHOLD_MOST_PARTS;
}

/* Allocates everything of a foreground. */
static CclStatus
allocate (CudaForeground *self, const CclFrame *roi_mask, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  CclForegroundParameters *p = &self->parameters;
  p->width = plan->width;
  p->height = plan->height;
  p->row_words = divide_up (plan->width, 32);
  p->row_groups = divide_up (plan->width, CUDACCL_FOREGROUND_PIXELS);
  p->threshold_parts = threshold_parts (self);
  p->pixel_bytes = ccl_pixel_bytes (plan->format);
  p->luma_byte = ccl_pixel_luma_byte (plan->format);

  CclStatus status = ccl_cuda_device_create_stream (self->device, &self->own_stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuEventCreate (&self->done, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
  self->stream = self->own_stream;
  if (status == CUDACCL_OK)
    status = find_kernels (self, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_frame_upload_init (&self->upload, self->device, plan, error);
  if (status == CUDACCL_OK)
    status = allocate_bits (self, error);
  if (status == CUDACCL_OK && plan->method == CUDACCL_FOREGROUND_OTSU)
    status =
        ccl_cuda_device_allocate (self->device, histogram_size (self), &self->histogram, error);
  if (status == CUDACCL_OK && plan->method == CUDACCL_FOREGROUND_MOG2)
    status = allocate_model (self, error);
  if (status == CUDACCL_OK && roi_mask)
    status = upload_roi_mask (self, roi_mask, error);
  p->roi_mask = (const uint32_t *)(uintptr_t)self->bits.roi_mask;
  p->histogram = (CclHistogram *)(uintptr_t)self->histogram;
  p->wide_histogram =
      self->histogram && is_wide (self) ? (CclWideHistogram *)(p->histogram + 1) : NULL;
  return status;
}

/* An object that sees whole frames. */
static CclForeground *
new_for_whole_frames (CclCudaDevice *device, const CclForegroundPlan *plan, CclError *error)
{
  CudaForeground *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a foreground segmenter");
    return NULL;
  }
  self->base.klass = &cuda_foreground_class;
  self->base.plan = *plan;
  self->base.plan.roi_mask = NULL;
  self->device = ccl_cuda_device_ref (device);

  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status == CUDACCL_OK) {
    status = allocate (self, plan->roi_mask, error);
    ccl_cuda_device_leave (device);
  }
  if (status != CUDACCL_OK) {
    cuda_foreground_free (&self->base);
    return NULL;
  }
  return &self->base;
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
  if (plan->method == CUDACCL_FOREGROUND_CODEBOOK) {
    ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "the codebook model (CUDACCL_FOREGROUND_CODEBOOK) runs on the CPU only; the GPU has "
        "CUDACCL_FOREGROUND_MOG2");
    return NULL;
  }
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
  if (!foreground || foreground->klass != &cuda_foreground_class)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "only an object of a GPU has a stream");
  CudaForeground *self = (CudaForeground *)foreground;
  self->stream = stream ? stream : self->own_stream;
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
  const CclCudaDriver *driver = self->device->driver;
  const CclForegroundPlan *plan = &foreground->plan;
  const size_t row_pixels = (size_t)self->parameters.row_groups * CUDACCL_FOREGROUND_PIXELS;
  const size_t plane_pixels = self->plane_groups * CUDACCL_FOREGROUND_PIXELS;
  uint8_t *model = malloc (self->model_size);
  if (!model)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a model");
  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status == CUDACCL_OK) {
    status = ccl_cuda_call (
        driver, error, cuMemcpyDtoHAsync (model, self->model, self->model_size, self->stream));
    CclStatus end_status = ccl_cuda_call (
        driver, status == CUDACCL_OK ? error : NULL, cuStreamSynchronize (self->stream));
    if (status == CUDACCL_OK)
      status = end_status;
    ccl_cuda_device_leave (self->device);
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
