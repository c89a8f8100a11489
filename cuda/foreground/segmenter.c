/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "segmenter.h"

#include "core/label/labeller-class.h"

#include <stdlib.h>

#include "images.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/wait.h"

static const char *const kernel_names[CUDACCL_FILTER_KERNELS] = {
    [CUDACCL_DENOISE_KERNEL] = "ccl_denoise_median_3",
    [CUDACCL_DENOISE_KERNEL + 1] = "ccl_denoise_median_5",
    [CUDACCL_DENOISE_KERNEL + 2] = "ccl_denoise_opening_3",
    [CUDACCL_DENOISE_KERNEL + 3] = "ccl_denoise_opening_5",
    [CUDACCL_CLASSES_KERNEL] = "ccl_denoise_classes_3",
    [CUDACCL_CLASSES_KERNEL + 1] = "ccl_denoise_classes_5",
    [CUDACCL_DILATE_KERNEL] = "ccl_dilate",
    [CUDACCL_ERODE_KERNEL] = "ccl_erode",
};

size_t
ccl_cuda_segmenter_plane_size (const CclCudaSegmenter *self)
{
  return (size_t)self->parameters->row_words * self->parameters->height * sizeof (uint32_t);
}

/* Allocates the bit planes, apart from the region of interest mask. */
static CclStatus
allocate_bits (CclCudaSegmenter *self, bool is_model, CclError *error)
{
  const CclForegroundParameters *p = self->parameters;
  const size_t size = ccl_cuda_segmenter_plane_size (self);
  const size_t dilated_size = ((size_t)p->row_words + 2) *
                              (p->height + 2 * (size_t)CUDACCL_CLOSING_MARGIN) * sizeof (uint32_t);
  const struct {
    CUdeviceptr *memory;
    size_t size;
  } planes[] = {
      {&self->bits.found, size},
      {&self->bits.filtered, size},
      {&self->bits.dilated, dilated_size},
      {&self->bits.shadow, is_model ? size : 0},
      {&self->bits.filtered_shadow, is_model ? size : 0},
  };
  CclStatus status = CUDACCL_OK;
  for (size_t i = 0; i < sizeof planes / sizeof *planes && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_allocate (self->device, planes[i].size, planes[i].memory, error);
  return status;
}

/* Uploads the region of interest mask as bits. */
static CclStatus
upload_roi_mask (CclCudaSegmenter *self, const CclFrame *roi_mask, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  const CclCudaDriver *driver = self->device->driver;
  const size_t row_words = self->parameters->row_words;
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

static CclStatus
find_filters (CclCudaSegmenter *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < CUDACCL_FILTER_KERNELS && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (
        self->device, &ccl_cuda_image_foreground, kernel_names[i], &self->filters[i], error);
  return status;
}

CclStatus
ccl_cuda_segmenter_init (CclCudaSegmenter *self, CclCudaDevice *device,
    const CclForegroundPlan *plan, bool is_model, CclError *error)
{
  CclForegroundParameters *p = self->parameters;
  CUdeviceptr scene_change = 0;
  self->base.plan = *plan;
  self->base.plan.roi_mask = NULL;
  self->device = ccl_cuda_device_ref (device);
  p->width = plan->width;
  p->height = plan->height;
  p->row_words = divide_up (plan->width, 32);
  p->pixel_bytes = ccl_pixel_bytes (plan->format);
  p->luma_byte = ccl_pixel_luma_byte (plan->format);

  CclStatus status = ccl_cuda_device_create_stream (device, &self->own_stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error,
        cuEventCreate (&self->done, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
  self->stream = self->own_stream;
  if (status == CUDACCL_OK)
    status = find_filters (self, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_frame_upload_init (&self->upload, device, plan, error);
  if (status == CUDACCL_OK)
    status = allocate_bits (self, is_model, error);
  if (status == CUDACCL_OK && plan->roi_mask)
    status = upload_roi_mask (self, plan->roi_mask, error);
  if (status == CUDACCL_OK && is_model)
    status = ccl_cuda_device_allocate_pinned (
        device, sizeof (uint32_t), &self->scene_change, &scene_change, error);
  p->scene_change = (uint32_t *)(uintptr_t)scene_change;
  p->roi_mask = (const uint32_t *)(uintptr_t)self->bits.roi_mask;
  p->dilated = (uint32_t *)(uintptr_t)self->bits.dilated;
  return status;
}

CclStatus
ccl_cuda_segmenter_enter (CclCudaSegmenter *self, CclError *error)
{
  CclStatus status = ccl_cuda_device_enter (self->device, error);
  if (status != CUDACCL_OK || self->stream == self->own_stream)
    return status;
  status = ccl_cuda_device_check_stream (self->device, self->stream, error);
  if (status != CUDACCL_OK)
    ccl_cuda_device_leave (self->device);
  return status;
}

static void
set_chroma (CclCudaSegmenter *self, const CclChroma *chroma)
{
  CclForegroundParameters *p = self->parameters;
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
set_frame (CclCudaSegmenter *self, const CclFrame *frame, CclError *error)
{
  CclForegroundParameters *p = self->parameters;
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

CclStatus
ccl_cuda_segmenter_begin (CclCudaSegmenter *self, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CclForegroundParameters *p = self->parameters;
  const uint32_t width = options->closing_width, height = options->closing_height;
  p->invert = options->invert ? UINT32_MAX : 0;
  p->closing_width = width > 1 ? width : 1;
  p->closing_height = height > 1 ? height : 1;
  p->mask = mask->data;
  p->mask_stride = mask->stride;
  p->mask_aligned = ((uintptr_t)mask->data | mask->stride) % 16 == 0;
  return set_frame (self, frame, error);
}

static void
cover (uint32_t width, uint32_t height, uint32_t warp_pixels, CclCudaLaunch *launch)
{
  const uint32_t row_blocks = divide_up (height, CUDACCL_FOREGROUND_WARPS);
  const uint32_t most = UINT16_MAX; /* in the second and third dimension */
  launch->grid[0] = divide_up (width, warp_pixels);
  launch->grid[1] = row_blocks < most ? row_blocks : most;
  launch->grid[2] = divide_up (row_blocks, most);
  launch->block[0] = CUDACCL_FOREGROUND_THREADS;
  launch->block[1] = launch->block[2] = 1;
}

void
ccl_cuda_segmenter_set_grid (
    const CclCudaSegmenter *self, uint32_t warp_pixels, CclCudaLaunch *launch)
{
  cover (self->parameters->width, self->parameters->height, warp_pixels, launch);
}

CclStatus
ccl_cuda_segmenter_launch (CclCudaSegmenter *self, CUfunction function, const char *kernel,
    void *all, uint32_t warp_pixels, bool is_dependent, CclError *error)
{
  CclCudaLaunch launch = {.function = function, .kernel = kernel, .is_dependent = is_dependent};
  ccl_cuda_segmenter_set_grid (self, warp_pixels, &launch);
  return ccl_cuda_launch (self->device, &launch, all, self->stream, error);
}

/* Queues a filter of which each thread handles 32 pixels. */
static CclStatus
launch_filter (CclCudaSegmenter *self, int kernel, uint32_t width, uint32_t height, CclError *error)
{
  CclCudaLaunch launch = {
      .function = self->filters[kernel], .kernel = kernel_names[kernel], .is_dependent = true};
  cover (width, height, 32 * 32, &launch);
  return ccl_cuda_launch (self->device, &launch, self->parameters, self->stream, error);
}

/* Queues the noise filter. is_last: it writes the mask. */
static CclStatus
queue_denoise (
    CclCudaSegmenter *self, CclDenoise denoise, bool filters_shadows, bool is_last, CclError *error)
{
  CclForegroundParameters *p = self->parameters;
  uint32_t *const filtered_shadow = (uint32_t *)(uintptr_t)self->bits.filtered_shadow;
  const bool is_median = denoise == CUDACCL_DENOISE_MEDIAN_3 || denoise == CUDACCL_DENOISE_MEDIAN_5;
  const bool has_classes = is_median && filters_shadows;
  const int first = has_classes ? CUDACCL_CLASSES_KERNEL : CUDACCL_DENOISE_KERNEL;

  p->result = is_last ? NULL : (uint32_t *)(uintptr_t)self->bits.filtered;
  p->shadow_result = has_classes && !is_last ? filtered_shadow : NULL;
  CclStatus status = launch_filter (
      self, first + (int)denoise - CUDACCL_DENOISE_MEDIAN_3, p->width, p->height, error);
  p->bits = p->result;
  if (has_classes)
    p->shadow = filtered_shadow;
  return status;
}

CclStatus
ccl_cuda_segmenter_filter (CclCudaSegmenter *self, const CclForegroundOptions *options,
    bool filters_shadows, CclError *error)
{
  CclForegroundParameters *p = self->parameters;
  const bool is_closed = ccl_is_closed (options);
  CclStatus status = CUDACCL_OK;

  p->bits = (const uint32_t *)(uintptr_t)self->bits.found;
  p->shadow = (const uint32_t *)(uintptr_t)self->bits.shadow;
  if (options->denoise != CUDACCL_DENOISE_NONE)
    status = queue_denoise (self, options->denoise, filters_shadows, !is_closed, error);
  if (status == CUDACCL_OK && is_closed)
    status = launch_filter (self, CUDACCL_DILATE_KERNEL, p->width + 2 * 32,
        p->height + 2 * CUDACCL_CLOSING_MARGIN, error);
  if (status == CUDACCL_OK && is_closed)
    status = launch_filter (self, CUDACCL_ERODE_KERNEL, p->width, p->height, error);
  return status;
}

CclStatus
ccl_cuda_segmenter_end (CclCudaSegmenter *self, CclStatus status, CclError *error)
{
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (self->device->driver, error, cuEventRecord (self->done, self->stream));
  self->is_pending = status == CUDACCL_OK;
  self->is_finished = false;
  self->parameters->copy = NULL;
  return status == CUDACCL_OK ? status
                              : ccl_cuda_device_abandon (self->device, self->stream, error);
}

CclStatus
ccl_cuda_segmenter_settle (CclCudaSegmenter *self, CclError *error)
{
  if (self->is_pending && !self->is_finished) {
    CclStatus status = ccl_cuda_wait_for_event (self->device, self->done, error);
    if (status != CUDACCL_OK)
      return status;
  }
  self->is_pending = false;
  return CUDACCL_OK;
}

void
ccl_cuda_segmenter_clear (CclCudaSegmenter *self, CUdeviceptr *const memories[], size_t n)
{
  /* On a lost device only the host's memory can be freed. The event is waited for rather than the
   * stream, which the caller may have destroyed. */
  bool entered = ccl_cuda_device_enter (self->device, NULL) == CUDACCL_OK;
  const CclCudaDriver *driver = self->device->driver;
  CclCudaBitPlanes *bits = &self->bits;
  CUdeviceptr *const own[] = {&bits->found, &bits->filtered, &bits->dilated, &bits->shadow,
      &bits->filtered_shadow, &bits->roi_mask};
  if (self->is_pending)
    driver->cuEventSynchronize (self->done);
  if (self->done)
    driver->cuEventDestroy (self->done);
  ccl_cuda_frame_upload_clear (&self->upload);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    ccl_cuda_device_release (self->device, own[i]);
  for (size_t i = 0; i < n; i++)
    ccl_cuda_device_release (self->device, memories[i]);
  ccl_cuda_device_release_pinned (self->device, &self->scene_change);
  if (self->own_stream)
    driver->cuStreamDestroy (self->own_stream);
  if (entered)
    ccl_cuda_device_leave (self->device);
}
