/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame takes the kernels of the method, then those of the noise filter and of the closing, as
 * far as the options ask for them. Bits are passed on; the last kernel writes the mask.
 */
#include "segmenter.h"

#include "core/label/labeller-class.h"
#include "cuda/driver/upload.h"

#include <stdlib.h>

#define ROW(number, name, ...) [CUDACCL_FOREGROUND_##number] = &ccl_cuda_##name,
static const CclCudaMethod *const methods[] = {CCL_FOREGROUND_METHODS (ROW)};

size_t
ccl_cuda_segmenter_plane_size (const CclCudaSegmenter *self)
{
  return (size_t)self->extent.row_words * self->extent.height * sizeof (uint32_t);
}

CclStatus
ccl_cuda_segmenter_launch (CclCudaSegmenter *self, CUfunction function, const char *kernel,
    void *parameters, uint32_t warp_pixels, bool is_dependent, CclError *error)
{
  CclCudaLaunch launch = {.function = function, .kernel = kernel, .is_dependent = is_dependent};
  ccl_cuda_filters_cover (
      self->extent.width, self->extent.height, warp_pixels, CUDACCL_FOREGROUND_WARPS, &launch);
  return ccl_cuda_launch (self->runner.device, &launch, parameters, self->runner.stream, error);
}

/* A method makes a graph from its third frame on. */
bool
ccl_cuda_segmenter_takes_followers (
    const CclCudaSegmenter *self, const CclForegroundOptions *options)
{
  return self->method->takes_followers && self->base.n_frames >= 2 && !ccl_is_closed (options) &&
         ccl_foreground_denoise (&self->base, options) == CUDACCL_DENOISE_NONE;
}

CclStatus
ccl_cuda_segmenter_begin_with (CclCudaSegmenter *self, const CclCudaLaunch *first, CclError *error)
{
  if (!self->method->queues_first)
    return ccl_cuda_launch (
        self->runner.device, first, first->parameters, self->runner.stream, error);
  self->first = *first;
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_segmenter_settle (CclCudaSegmenter *self, CclError *error)
{
  const CclStatus status = ccl_cuda_runner_settle (&self->runner, error);
  if (status == CUDACCL_OK && self->method->take)
    self->method->take (self);
  return status;
}

static void
set_chroma (CclCudaSegmenter *self, const CclChroma *chroma)
{
  CclFrameParameters *p = &self->frame;
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
  CclFrameParameters *p = &self->frame;
  CclFrame on_device;
  const CclStatus status = ccl_cuda_frame_upload_queue (
      &self->upload, &self->base.plan, frame, &on_device, self->runner.stream, error);
  const uintptr_t pixels = (uintptr_t)on_device.data;

  p->data = on_device.data;
  p->stride = on_device.stride;
  p->is_aligned = (pixels | on_device.stride) % (CUDACCL_FOREGROUND_PIXELS * p->pixel_bytes) == 0;
  if (self->base.plan.has_chroma)
    set_chroma (self, &on_device.chroma);
  return status;
}

/* Sets what the options say of the mask. Returns what follows the method. */
static CclCudaFiltering
set_mask (CclCudaSegmenter *self, const CclForegroundOptions *options, const CclMask *mask)
{
  const uint32_t width = options->closing_width, height = options->closing_height;
  const bool tells_shadows = ccl_cuda_segmenter_tells_shadows (self, options);
  const CclCudaFiltering filtering = {
      .denoise = ccl_foreground_denoise (&self->base, options),
      .reads_shadows = tells_shadows,
      .is_closed = ccl_is_closed (options),
      .closing_width = width > 1 ? width : 1,
      .closing_height = height > 1 ? height : 1,
  };
  const bool is_filtered = filtering.denoise != CUDACCL_DENOISE_NONE || filtering.is_closed;
  CclMaskParameters *p = &self->mask;

  p->result = is_filtered ? self->filters.found : NULL;
  p->shadow_result = is_filtered && tells_shadows ? self->filters.shadow : NULL;
  p->roi_mask = (const uint32_t *)(uintptr_t)self->roi_mask;
  p->data = mask->data;
  p->stride = mask->stride;
  p->is_aligned = ((uintptr_t)mask->data | mask->stride) % 16 == 0;
  p->invert = options->invert ? UINT32_MAX : 0;
  p->marks_shadows = tells_shadows && options->shadows == CUDACCL_SHADOWS_MARK;
  return filtering;
}

/* Queues all work of a frame. */
static CclStatus
queue (CclCudaSegmenter *self, const CclFrame *frame, const CclForegroundOptions *options,
    const CclMask *mask, CclError *error)
{
  const CclCudaMethod *method = self->method;
  CclCudaFiltering filtering = set_mask (self, options, mask);
  CclStatus status = set_frame (self, frame, error);

  if (status == CUDACCL_OK && self->base.n_frames == 0 && method->reset)
    status = method->reset (self, error);
  self->kept = NULL;
  if (status == CUDACCL_OK)
    status = method->queue (self, options, error);
  filtering.kept = self->kept;
  if (status == CUDACCL_OK)
    status = ccl_cuda_filters_queue (
        &self->filters, &filtering, &self->extent, &self->mask, self->runner.stream, error);
  self->first.function = NULL;
  self->mask.copy = NULL;
  return ccl_cuda_runner_end (&self->runner, status, error);
}

static CclStatus
segmenter_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  CclCudaSegmenter *self = (CclCudaSegmenter *)foreground;
  CclStatus status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  if (self->method->begin)
    status = self->method->begin (self, options, error);
  if (status == CUDACCL_OK)
    status = queue (self, frame, options, mask, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static CclStatus
segmenter_wait (CclForeground *foreground, CclError *error)
{
  CclCudaSegmenter *self = (CclCudaSegmenter *)foreground;
  if (!self->runner.is_pending)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_device_enter (self->runner.device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_segmenter_settle (self, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static void
release (void *object)
{
  CclCudaSegmenter *self = object;
  if (self->method->clear && self->model)
    self->method->clear (self);
  free (self->model);
  ccl_cuda_frame_upload_clear (&self->upload);
  ccl_cuda_device_release (self->runner.device, &self->roi_mask);
}

static void
segmenter_free (CclForeground *foreground)
{
  CclCudaSegmenter *self = (CclCudaSegmenter *)foreground;
  ccl_cuda_runner_close (&self->runner, release, self);
  free (self);
}

static CclStatus
upload_roi_mask (CclCudaRunner *runner, const CclForegroundPlan *plan, const CclFrame *roi_mask,
    CclRoiMaskWriter write, size_t size, CUdeviceptr *memory, CclError *error)
{
  CclStatus status =
      *memory ? CUDACCL_OK : ccl_cuda_device_allocate (runner->device, size, memory, error);
  if (status != CUDACCL_OK)
    return status;
  void *copy = calloc (1, size);
  if (!copy)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a region of interest mask");
  write (plan, roi_mask, copy);
  status =
      ccl_cuda_upload_and_wait (runner->device, copy, *memory, size, runner->own_stream, error);
  free (copy);
  return status;
}

CclStatus
ccl_cuda_set_roi_mask (CclCudaRunner *runner, const CclForegroundPlan *plan,
    const CclFrame *roi_mask, CclRoiMaskWriter write, size_t size, CUdeviceptr *memory,
    CclError *error)
{
  CclStatus status = ccl_cuda_device_enter (runner->device, error);
  if (status != CUDACCL_OK)
    return status;
  if (roi_mask)
    status = upload_roi_mask (runner, plan, roi_mask, write, size, memory, error);
  else
    ccl_cuda_device_release (runner->device, memory);
  ccl_cuda_device_leave (runner->device);
  return status;
}

/* Writes a region of interest mask as bits. */
static void
write_roi_mask (const CclForegroundPlan *plan, const CclFrame *roi_mask, void *copy)
{
  uint32_t *words = copy;

  for (size_t y = 0; y < plan->height; y++, words += divide_up (plan->width, 32)) {
    const uint8_t *row = (const uint8_t *)roi_mask->data + y * roi_mask->stride;
    for (size_t x = 0; x < plan->width; x++)
      words[x / 32] |= (uint32_t)(row[x] != 0) << x % 32;
  }
}

static CclStatus
segmenter_set_roi_mask (CclForeground *foreground, const CclFrame *roi_mask, CclError *error)
{
  CclCudaSegmenter *self = (CclCudaSegmenter *)foreground;
  return ccl_cuda_set_roi_mask (&self->runner, &foreground->plan, roi_mask, write_roi_mask,
      ccl_cuda_segmenter_plane_size (self), &self->roi_mask, error);
}

static const CclForegroundClass segmenter_class = {
    .name = "cuda",
    .queue = segmenter_queue,
    .wait = segmenter_wait,
    .set_roi_mask = segmenter_set_roi_mask,
    .free = segmenter_free,
};

/* Allocates everything, and sets the parameters that are the same in all frames. */
static CclStatus
allocate (void *object, CclError *error)
{
  CclCudaSegmenter *self = object;
  CclCudaAllocations *memory = &self->runner.memory;
  const CclForegroundPlan *plan = &self->base.plan;
  const CclMethod *method = ccl_find_method (plan->method);
  CclStatus status =
      ccl_cuda_filters_init (&self->filters, memory, &self->extent, method->has_model, error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_frame_upload_init (&self->upload, memory->device, plan, error);
  if (status == CUDACCL_OK && plan->roi_mask)
    status = segmenter_set_roi_mask (&self->base, plan->roi_mask, error);
  if (method->has_model)
    self->scene_change_on_device =
        ccl_cuda_allocate_pinned (memory, sizeof (uint32_t), &self->scene_change, &status, error);
  if (status == CUDACCL_OK && method->has_scene)
    status = ccl_foreground_watch_camera (&self->base, error);
  if (status != CUDACCL_OK)
    return status;
  self->model = calloc (1, self->method->model_size);
  return self->model ? self->method->prepare (self, error)
                     : ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a model");
}

CclStatus
ccl_cuda_segmenter_new (CclCudaDevice *device, const CclForegroundPlan *plan,
    CclForeground **foreground, CclError *error)
{
  CclCudaSegmenter *self = calloc (1, sizeof *self);
  if (!self)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a foreground segmenter");
  self->base.klass = &segmenter_class;
  self->base.plan = *plan;
  self->method = methods[plan->method];
  self->extent = (CclExtent){plan->width, plan->height, divide_up (plan->width, 32)};
  self->frame.pixel_bytes = ccl_pixel_bytes (plan->format);
  self->frame.luma_byte = ccl_pixel_luma_byte (plan->format);
  *foreground = &self->base;
  const CclStatus status = ccl_cuda_runner_open (&self->runner, device, allocate, self, error);
  self->base.plan.roi_mask = NULL;
  if (status != CUDACCL_OK)
    ccl_foreground_free (foreground);
  return status;
}

CclCudaSegmenter *
ccl_cuda_segmenter_of (CclForeground *foreground)
{
  return foreground && foreground->klass == &segmenter_class ? (CclCudaSegmenter *)foreground
                                                             : NULL;
}
