/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reduced-foreground.h"
#include "core/base/divide-up.h"

#include "core/foreground/foreground-class.h"
#include "core/foreground/reduction.h"

#include <stdlib.h>

#include "cuda/driver/frame-upload.h"
#include "cuda/driver/runner.h"
#include "images.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/upload.h"
#include "reduction-parameters.h"
#include "cuda/foreground/segmenter.h"

enum { REDUCE, REDUCE_BY_FOUR, ENLARGE, N_KERNELS };

typedef struct ReducedForeground {
  CclForeground base;
  CclForeground *inner;
  CclCudaRunner runner;
  CUfunction functions[N_KERNELS];
  CclCudaFrameUpload upload;
  uint32_t factor;
  uint32_t width, height; /* reduced */

  /* Device memory: the planes of the reduced frame and its mask, one behind the other. */
  uint8_t *planes;
  size_t stride;        /* bytes of a row of any of the planes */
  CUdeviceptr roi_mask; /* device memory; 0: there is none */

  CclReductionParameters reduction; /* of the last frame */
} ReducedForeground;

static const char *
kernel_name (const ReducedForeground *self, int kernel)
{
  if (kernel == ENLARGE)
    return "ccl_enlarge";
  if (kernel == REDUCE_BY_FOUR)
    return "ccl_reduce_by_four";
  return self->base.plan.format == CUDACCL_PIXEL_FORMAT_16 ? "ccl_reduce_words" : "ccl_reduce";
}

/* Luma, u, v, and the mask. */
static uint8_t *
plane_of (const ReducedForeground *self, int i)
{
  return self->planes + i * self->stride * self->height;
}

static uint32_t
shift_of (uint32_t n)
{
  uint32_t shift = 0;
  while (1u << shift < n)
    shift++;
  return shift;
}

/* CclReducedPlane.word_mask: four samples side by side, or two. has_pairs: samples of another plane
 * lie between those of this one. */
static uint32_t
word_mask (const CclReducedPlane *plane, bool has_pairs)
{
  const uintptr_t offset = (uintptr_t)plane->samples % 4;
  if (plane->factor_x * plane->step != 4 || plane->stride % 4 != 0)
    return 0;
  if (plane->step == 1)
    return offset == 0 ? UINT32_MAX : 0;
  return has_pairs && offset < 2 ? 0xff00ffu << 8 * offset : 0;
}

static CclReducedPlane
luma_plane (const ReducedForeground *self, const CclFrame *frame)
{
  const CclForegroundPlan *plan = &self->base.plan;
  return (CclReducedPlane){
      .samples = (const uint8_t *)frame->data + (plan->format == CUDACCL_PIXEL_FORMAT_8_SECOND),
      .stride = frame->stride,
      .step = ccl_pixel_bytes (plan->format),
      .n_samples = plan->width,
      .n_rows = plan->height,
      .factor_x = self->factor,
      .factor_y = self->factor,
      .shift = shift_of (self->factor * self->factor),
      .means = plane_of (self, 0),
      .means_stride = self->stride,
      .width = self->width,
      .height = self->height,
  };
}

static CclReducedPlane
chroma_plane (const ReducedForeground *self, const CclChroma *chroma, bool is_v)
{
  const CclChromaReduction x = ccl_reduce_chroma (self->factor, chroma->shift_x);
  const CclChromaReduction y = ccl_reduce_chroma (self->factor, chroma->shift_y);
  return (CclReducedPlane){
      .samples = is_v ? chroma->v : chroma->u,
      .stride = is_v ? chroma->v_stride : chroma->u_stride,
      .step = chroma->step,
      .n_samples = ccl_reduced (self->base.plan.width, 1u << chroma->shift_x),
      .n_rows = ccl_reduced (self->base.plan.height, 1u << chroma->shift_y),
      .factor_x = x.factor,
      .factor_y = y.factor,
      .shift = shift_of (x.factor * y.factor),
      .means = plane_of (self, is_v ? 2 : 1),
      .means_stride = self->stride,
      .width = ccl_reduced (self->width, 1u << x.shift),
      .height = ccl_reduced (self->height, 1u << y.shift),
  };
}

/* Whether the samples of four means that lie side by side are aligned words, of 16 bytes. */
static bool
has_four (const CclReducedPlane *plane, uint32_t factor_y)
{
  const uintptr_t samples = (uintptr_t)plane->samples & ~(uintptr_t)3;
  return plane->word_mask && plane->factor_y == factor_y && (samples | plane->stride) % 16 == 0;
}

/* Whether ccl_reduce_by_four() can reduce these planes: luma, or luma and pairs of u and v. */
static bool
are_by_four (const CclReducedPlane *planes, uint32_t n_planes)
{
  return has_four (&planes[0], 4) &&
         (n_planes == 1 || (has_four (&planes[1], 2) && has_four (&planes[2], 2) &&
                               planes[1].stride == planes[2].stride));
}

/* Has the model begin with the reduction. */
static CclStatus
queue_reduction (ReducedForeground *self, const CclFrame *frame, CclError *error)
{
  const uint32_t n_planes = self->base.plan.has_chroma ? 3 : 1;
  CclReductionParameters parameters = {.planes[0] = luma_plane (self, frame)};

  for (uint32_t i = 1; i < n_planes; i++)
    parameters.planes[i] = chroma_plane (self, &frame->chroma, i == 2);
  for (uint32_t i = 0; i < n_planes; i++)
    parameters.planes[i].word_mask =
        word_mask (&parameters.planes[i], i > 0 && ccl_chroma_distance (&frame->chroma) == 1);
  const bool by_four = are_by_four (parameters.planes, n_planes);
  const int kernel = by_four ? REDUCE_BY_FOUR : REDUCE;
  CclCudaLaunch launch = {
      .function = self->functions[kernel],
      .kernel = kernel_name (self, kernel),
      .block = {32, 8, 1},
      .parameters = &self->reduction,
  };
  launch.grid[0] = divide_up (self->width, launch.block[0] * (by_four ? 4 : 1));
  launch.grid[1] = divide_up (self->height, launch.block[1]);
  if (launch.grid[1] > UINT16_MAX)
    launch.grid[1] = UINT16_MAX; /* threads take several rows */
  launch.grid[2] = by_four ? (n_planes + 1) / 2 : n_planes;
  self->reduction = parameters;
  return ccl_cuda_segmenter_begin_with (ccl_cuda_segmenter_of (self->inner), &launch, error);
}

static CclStatus
queue_enlargement (ReducedForeground *self, const CclMask *mask, bool invert, CclError *error)
{
  CclEnlargementParameters parameters = {
      .from = plane_of (self, 3),
      .from_stride = self->stride,
      .mask = mask->data,
      .mask_stride = mask->stride,
      .width = self->base.plan.width,
      .height = self->base.plan.height,
      .factor_shift = shift_of (self->factor),
      .invert = invert ? UINT8_MAX : 0,
      .aligned = ((uintptr_t)mask->data | mask->stride) % CUDACCL_ENLARGED_PIXELS == 0,
      .roi_mask = (const uint8_t *)(uintptr_t)self->roi_mask,
  };
  CclCudaLaunch launch = {
      .function = self->functions[ENLARGE],
      .kernel = kernel_name (self, ENLARGE),
      .block = {64, 4, 1},
  };
  ccl_cuda_launch_cover (
      &launch, (CclWork){CUDACCL_ENLARGED_PIXELS, 1, 0}, parameters.width, parameters.height, 1);
  return ccl_cuda_launch (self->runner.device, &launch, &parameters, self->runner.stream, error);
}

/* Queues the model's work on the reduced frame. reduced_mask: the caller's; NULL: it is enlarged.
 */
static CclStatus
run_inner (ReducedForeground *self, const CclFrame *frame, const CclForegroundOptions *options,
    const CclMask *reduced_mask, CclError *error)
{
  const CclForegroundOptions reduced = ccl_reduced_options (options, self->factor);
  const CclMask own_mask = {.data = plane_of (self, 3), .stride = self->stride};
  CclFrame small = {
      .data = plane_of (self, 0),
      .stride = self->stride,
      .location = CUDACCL_LOCATION_DEVICE,
  };
  if (self->base.plan.has_chroma)
    small.chroma = ccl_reduced_chroma (
        &frame->chroma, self->factor, plane_of (self, 1), plane_of (self, 2), self->stride);
  if (self->base.n_frames == 0)
    ccl_foreground_reset (self->inner);
  return ccl_foreground_queue (
      self->inner, &small, &reduced, reduced_mask ? reduced_mask : &own_mask, error);
}

static CclStatus
reduced_foreground_queue (CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  CclFrame on_device;

  CclStatus status = ccl_reduced_mask_check (options, self->roi_mask != 0, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_runner_enter (&self->runner, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_frame_upload_queue (
      &self->upload, &foreground->plan, frame, &on_device, self->runner.stream, error);
  if (status == CUDACCL_OK)
    status = queue_reduction (self, &on_device, error);
  if (status == CUDACCL_OK)
    status = run_inner (self, &on_device, options, options->reduced_mask ? mask : NULL, error);
  if (status == CUDACCL_OK && !options->reduced_mask)
    status = queue_enlargement (self, mask, options->invert, error);
  /* The work on a reduced mask ends with that of the model, which is waited for. */
  self->runner.is_pending = false;
  if (status != CUDACCL_OK || !options->reduced_mask)
    status = ccl_cuda_runner_end (&self->runner, status, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static CclStatus
reduced_foreground_wait (CclForeground *foreground, CclError *error)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  CclStatus status = ccl_foreground_wait (self->inner, error);
  if (status != CUDACCL_OK || !self->runner.is_pending)
    return status;
  status = ccl_cuda_device_enter (self->runner.device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_runner_settle (&self->runner, error);
  ccl_cuda_device_leave (self->runner.device);
  return status;
}

static void
release (void *object)
{
  ReducedForeground *self = object;
  ccl_cuda_frame_upload_clear (&self->upload);
  ccl_cuda_device_release (self->runner.device, &self->roi_mask);
}

static void
reduced_foreground_free (CclForeground *foreground)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  ccl_cuda_runner_close (&self->runner, release, self);
  ccl_foreground_free (&self->inner);
  free (self);
}

static void
write_roi_mask (const CclForegroundPlan *plan, const CclFrame *roi_mask, void *copy)
{
  ccl_copy_roi_mask (plan, roi_mask, copy);
}

static CclStatus
reduced_foreground_set_roi_mask (
    CclForeground *foreground, const CclFrame *roi_mask, CclError *error)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  const CclForegroundPlan *plan = &foreground->plan;
  return ccl_cuda_set_roi_mask (&self->runner, plan, roi_mask, write_roi_mask,
      (size_t)plan->width * plan->height, &self->roi_mask, error);
}

static const CclForegroundClass reduced_foreground_class = {
    .name = "cuda",
    .queue = reduced_foreground_queue,
    .wait = reduced_foreground_wait,
    .set_roi_mask = reduced_foreground_set_roi_mask,
    .free = reduced_foreground_free,
};

static CclStatus
allocate (void *object, CclError *error)
{
  ReducedForeground *self = object;
  CclStatus status = CUDACCL_OK;
  ccl_cuda_reduced_foreground_set_stream (&self->base, NULL);
  for (int i = 0; i < N_KERNELS && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (self->runner.device, &ccl_cuda_image_reduction,
        kernel_name (self, i), &self->functions[i], error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_frame_upload_init (&self->upload, self->runner.device, &self->base.plan, error);
  self->planes =
      ccl_cuda_allocate (&self->runner.memory, 4 * self->stride * self->height, &status, error);
  if (status == CUDACCL_OK && self->base.plan.roi_mask)
    status = reduced_foreground_set_roi_mask (&self->base, self->base.plan.roi_mask, error);
  return status;
}

CclForeground *
ccl_cuda_reduced_foreground_new (CclCudaDevice *device, const CclForegroundPlan *plan,
    uint32_t factor, CclForeground *inner, CclError *error)
{
  ReducedForeground *self = calloc (1, sizeof *self);
  if (!self) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a foreground segmenter");
    ccl_foreground_free (&inner);
    return NULL;
  }
  self->base.klass = &reduced_foreground_class;
  self->base.plan = *plan;
  self->base.model = inner;
  self->inner = inner;
  self->factor = factor;
  self->width = ccl_reduced (plan->width, factor);
  self->height = ccl_reduced (plan->height, factor);
  /* Samples of 16 bits need two bytes. */
  self->stride = round_up ((size_t)self->width * 2, 64);

  const CclStatus status = ccl_cuda_runner_open (&self->runner, device, allocate, self, error);
  self->base.plan.roi_mask = NULL;
  if (status == CUDACCL_OK)
    return &self->base;
  reduced_foreground_free (&self->base);
  return NULL;
}

CclForeground *
ccl_cuda_reduced_foreground_inner (CclForeground *foreground)
{
  return foreground->klass == &reduced_foreground_class ? ((ReducedForeground *)foreground)->inner
                                                        : NULL;
}

void
ccl_cuda_reduced_foreground_set_stream (CclForeground *foreground, CUstream stream)
{
  ReducedForeground *self = (ReducedForeground *)foreground;
  ccl_cuda_runner_set_stream (&self->runner, stream);
  ccl_cuda_runner_set_stream (&ccl_cuda_segmenter_of (self->inner)->runner, self->runner.stream);
}

void
ccl_cuda_reduced_foreground_set_finished (CclForeground *foreground)
{
  ((ReducedForeground *)foreground)->runner.is_finished = true;
}
