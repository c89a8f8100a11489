/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Foreground by MOG2: the light of the frame, measured and smoothed, and the background model. */
#include "mog2-model.h"

#include "images.h"
#include "cuda/foreground/segmenter.h"

/* Bytes of the background model for the pixels of one thread, without and with chroma. */
#define LUMA_GROUP_SIZE                                                                            \
  (CUDACCL_MAX_MIXTURES * CUDACCL_FOREGROUND_PIXELS * (sizeof (uint32_t) + sizeof (uint16_t)))
#define COLOUR_GROUP_SIZE                                                                          \
  (LUMA_GROUP_SIZE + CUDACCL_MAX_MIXTURES * CUDACCL_FOREGROUND_PIXELS * sizeof (uint16_t))

static CclStatus
mog2_reset (CclCudaSegmenter *self, CclError *error)
{
  const CudaMog2 *mog2 = self->model;
  /* The weights of a new model must be 0. The other values of a pixel are written before their
   * first use; clearing them, too, keeps vector loads from reading uninitialised memory. */
  return ccl_cuda_call (self->runner.device->driver, error,
      cuMemsetD8Async (
          (CUdeviceptr)(uintptr_t)mog2->gaussians, 0, mog2->size, self->runner.stream));
}

static CclStatus
launch_light (
    CclCudaSegmenter *self, Mog2Kernel kernel, uint32_t blocks, bool is_dependent, CclError *error)
{
  CudaMog2 *mog2 = self->model;
  const CclCudaLaunch launch = {
      .function = mog2->functions[kernel],
      .kernel = mog2->kernels[kernel],
      .grid = {blocks, 1, 1},
      .block = {CUDACCL_LIGHT_THREADS, 1, 1},
      .is_dependent = is_dependent,
  };
  return ccl_cuda_launch (self->runner.device, &launch, &mog2->light, self->runner.stream, error);
}

static CclStatus
queue_light (CclCudaSegmenter *self, CclError *error)
{
  CudaMog2 *mog2 = self->model;
  const CclLightGrid *grid = &mog2->light.grid;
  const uint32_t n_cells = grid->columns * grid->rows;
  CclStatus status = CUDACCL_OK;

  mog2->light.frame = self->frame;
  if (!mog2->light_is_clean)
    status = ccl_cuda_call (self->runner.device->driver, error,
        cuMemsetD8Async ((CUdeviceptr)(uintptr_t)mog2->light.light, 0, sizeof (CclFrameLight),
            self->runner.stream));
  mog2->light_is_clean = false;
  if (status == CUDACCL_OK)
    status = launch_light (self, MEASURE_LIGHT, n_cells, false, error);
  if (status == CUDACCL_OK)
    status = launch_light (
        self, SMOOTH_LIGHT, divide_up (n_cells, CUDACCL_LIGHT_THREADS / 32), true, error);
  mog2->light_is_clean = mog2->may_have_begun = status == CUDACCL_OK;
  return status;
}

static CclStatus
mog2_queue (CclCudaSegmenter *self, const CclForegroundOptions *options, CclError *error)
{
  CudaMog2 *mog2 = self->model;
  CclMog2Parameters *p = &mog2->parameters;
  uint32_t *const held = options->hold > 1 ? mog2->held : NULL;
  const bool is_denoised = options->denoise != CUDACCL_DENOISE_NONE;
  CclStatus status = CUDACCL_OK;

  if (p->light)
    status = queue_light (self, error);
  p->frame = self->frame;
  p->mask = self->mask;
  p->next_held = is_denoised ? NULL : held;
  self->kept = held; /* by the noise filter */
  return status == CUDACCL_OK
             ? ccl_cuda_segmenter_launch (self, mog2->functions[UPDATE], mog2->kernels[UPDATE], p,
                   32 * CUDACCL_FOREGROUND_PIXELS, p->light != NULL, error)
             : status;
}

static void
mog2_take (CclCudaSegmenter *self)
{
  CudaMog2 *mog2 = self->model;
  CclForeground *base = &self->base;

  if (mog2->may_have_begun) {
    base->scene_change = *(const uint32_t *)self->scene_change;
    /* The frame with the change was the first one of a new model. */
    if (base->scene_change != CUDACCL_SCENE_UNCHANGED && base->n_frames > 0)
      base->n_frames = 1;
  }
  mog2->may_have_begun = false;
}

/* A scene change that the last run found decides how this one learns. */
static CclStatus
mog2_begin (CclCudaSegmenter *self, const CclForegroundOptions *options, CclError *error)
{
  CudaMog2 *mog2 = self->model;
  CclMog2Parameters *p = &mog2->parameters;
  CclStatus status = CUDACCL_OK;

  if (mog2->may_have_begun)
    status = ccl_cuda_segmenter_settle (self, error);
  if (status != CUDACCL_OK)
    return status;
  const uint64_t n_frames = self->base.n_frames;
  p->mixture = ccl_mixture_parameters (options, n_frames);
  p->tells_shadows = ccl_cuda_segmenter_tells_shadows (self, options);
  p->light = options->light && n_frames > 0 ? mog2->light.light : NULL;
  mog2->light.may_begin = n_frames >= CUDACCL_LIGHT_FIRST_FRAMES;
  mog2->has_held &= n_frames > 0;
  p->held = mog2->has_held && ccl_mixture_skips_held (options, n_frames) ? mog2->held : NULL;
  mog2->has_held = options->hold > 1;
  self->base.scene_change = CUDACCL_SCENE_UNCHANGED;
  return CUDACCL_OK;
}

static CclStatus
find_kernels (CclCudaSegmenter *self, CclError *error)
{
  static const char *const luma[] = {"ccl_mog2", "ccl_mog2_packed", "ccl_mog2_words"};
  static const char *const colour[] = {
      "ccl_mog2_colour", "ccl_mog2_colour_packed", "ccl_mog2_colour_words"};
  CudaMog2 *mog2 = self->model;
  CclStatus status = CUDACCL_OK;

  mog2->kernels[MEASURE_LIGHT] =
      ccl_cuda_segmenter_is_wide (self) ? "ccl_light_measure_words" : "ccl_light_measure";
  mog2->kernels[SMOOTH_LIGHT] = "ccl_light_smooth";
  mog2->kernels[UPDATE] =
      ccl_cuda_segmenter_choose_kernel (self, self->base.plan.has_chroma ? colour : luma);
  for (int i = 0; i < N_MOG2_KERNELS && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (self->runner.device,
        i == UPDATE ? &ccl_cuda_image_mog2 : &ccl_cuda_image_light, mog2->kernels[i],
        &mog2->functions[i], error);
  return status;
}

/* Sets where the planes of the Gaussians are. */
static void
place_gaussians (CclCudaSegmenter *self)
{
  CudaMog2 *mog2 = self->model;
  CclMog2Parameters *p = &mog2->parameters;

  for (int k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    /* Shapes lie before weights and chroma, which take half as many bytes, so that all are
     * aligned. */
    const size_t shapes = mog2->plane_groups * CUDACCL_FOREGROUND_PIXELS * sizeof (uint32_t);
    uint8_t *weights = mog2->gaussians + CUDACCL_MAX_MIXTURES * shapes;
    uint8_t *chroma = weights + CUDACCL_MAX_MIXTURES * shapes / 2;
    p->shapes[k] = (struct uint4 *)(mog2->gaussians + k * shapes);
    p->weights[k] = (struct uint2 *)(weights + k * shapes / 2);
    p->chroma[k] = self->base.plan.has_chroma ? (struct uint2 *)(chroma + k * shapes / 2) : NULL;
  }
}

/* Allocates everything, and sets the parameters that are the same in all frames. */
static CclStatus
allocate (CclCudaSegmenter *self, CclError *error)
{
  CudaMog2 *mog2 = self->model;
  CclMog2Parameters *p = &mog2->parameters;
  CclCudaAllocations *memory = &self->runner.memory;
  const CclLightGrid grid = ccl_light_grid (self->extent.width, self->extent.height);
  const size_t n_cells = (size_t)grid.columns * grid.rows;
  CclStatus status = CUDACCL_OK;

  mog2->gaussians = ccl_cuda_allocate (memory, mog2->size, &status, error);
  CclFrameLight *light = ccl_cuda_allocate (memory, sizeof *light, &status, error);
  CclLightCell *cells = ccl_cuda_allocate (memory, n_cells * sizeof *cells, &status, error);
  uint16_t *factors = ccl_cuda_allocate (memory, n_cells * sizeof *factors, &status, error);
  mog2->held = ccl_cuda_allocate (memory, ccl_cuda_segmenter_plane_size (self), &status, error);
  if (status != CUDACCL_OK)
    return status;
  place_gaussians (self);
  mog2->light = (CclLightParameters){
      .extent = self->extent,
      .shapes = (const uint32_t *)p->shapes[0],
      .chroma = (const uint16_t *)p->chroma[0],
      .row_groups = p->row_groups,
      .light = light,
      .grid = grid,
      .cells = cells,
      .factors = factors,
      .scene_change = self->scene_change_on_device,
  };
  p->extent = self->extent;
  p->grid = grid;
  p->factors = factors;
  return CUDACCL_OK;
}

static CclStatus
mog2_prepare (CclCudaSegmenter *self, CclError *error)
{
  const CclForegroundPlan *plan = &self->base.plan;
  CudaMog2 *mog2 = self->model;

  mog2->parameters.row_groups = divide_up (plan->width, CUDACCL_FOREGROUND_PIXELS);
  mog2->plane_groups =
      divide_up ((uint64_t)mog2->parameters.row_groups * plan->height, 32) * (uint64_t)32;
  mog2->size = mog2->plane_groups * (plan->has_chroma ? COLOUR_GROUP_SIZE : LUMA_GROUP_SIZE);
  const CclStatus status = find_kernels (self, error);
  return status == CUDACCL_OK ? allocate (self, error) : status;
}

const CclCudaMethod ccl_cuda_mog2 = {
    .model_size = sizeof (CudaMog2),
    .prepare = mog2_prepare,
    .begin = mog2_begin,
    .reset = mog2_reset,
    .queue = mog2_queue,
    .take = mog2_take,
};
