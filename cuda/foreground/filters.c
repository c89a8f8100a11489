/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "filters.h"

#include "core/foreground/foreground-class.h"
#include "images.h"

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

CclStatus
ccl_cuda_filters_init (CclCudaFilters *self, CclCudaAllocations *memory, const CclExtent *extent,
    bool has_shadows, CclError *error)
{
  const size_t size = (size_t)extent->row_words * extent->height * sizeof (uint32_t);
  const size_t dilated_size = ((size_t)extent->row_words + 2) *
                              (extent->height + 2 * (size_t)CUDACCL_CLOSING_MARGIN) *
                              sizeof (uint32_t);
  CclStatus status = CUDACCL_OK;

  self->device = memory->device;
  for (int i = 0; i < CUDACCL_FILTER_KERNELS && status == CUDACCL_OK; i++)
    status = ccl_cuda_device_find_kernel (
        self->device, &ccl_cuda_image_filters, kernel_names[i], &self->functions[i], error);
  self->found = ccl_cuda_allocate (memory, size, &status, error);
  self->filtered = ccl_cuda_allocate (memory, size, &status, error);
  self->dilated = ccl_cuda_allocate (memory, dilated_size, &status, error);
  self->shadow = ccl_cuda_allocate (memory, has_shadows ? size : 0, &status, error);
  self->filtered_shadow = ccl_cuda_allocate (memory, has_shadows ? size : 0, &status, error);
  return status;
}

void
ccl_cuda_filters_cover (
    uint32_t width, uint32_t height, uint32_t warp_pixels, uint32_t warps, CclCudaLaunch *launch)
{
  const uint32_t row_blocks = divide_up (height, warps);
  const uint32_t most = UINT16_MAX; /* in the second and third dimension */
  launch->grid[0] = divide_up (width, warp_pixels);
  launch->grid[1] = row_blocks < most ? row_blocks : most;
  launch->grid[2] = divide_up (row_blocks, most);
  launch->block[0] = 32 * warps;
  launch->block[1] = launch->block[2] = 1;
}

/* Queues a filter of which each thread handles 32 pixels. */
static CclStatus
launch_filter (const CclCudaFilters *self, int kernel, uint32_t width, uint32_t height,
    CclFilterParameters *parameters, CUstream stream, CclError *error)
{
  CclCudaLaunch launch = {
      .function = self->functions[kernel], .kernel = kernel_names[kernel], .is_dependent = true};
  ccl_cuda_filters_cover (width, height, 32 * 32, CUDACCL_FOREGROUND_WARPS, &launch);
  return ccl_cuda_launch (self->device, &launch, parameters, stream, error);
}

/* Queues the noise filter, whose result becomes what the next filter reads. is_last: it writes the
 * mask. */
static CclStatus
queue_denoise (const CclCudaFilters *self, const CclCudaFiltering *filtering, bool is_last,
    CclFilterParameters *p, CUstream stream, CclError *error)
{
  const bool has_classes = ccl_denoise_is_median (filtering->denoise) && filtering->reads_shadows;
  const int first = has_classes ? CUDACCL_CLASSES_KERNEL : CUDACCL_DENOISE_KERNEL;

  p->mask.result = is_last ? NULL : self->filtered;
  p->mask.shadow_result = has_classes && !is_last ? self->filtered_shadow : NULL;
  p->kept = filtering->kept;
  const CclStatus status =
      launch_filter (self, first + (int)filtering->denoise - CUDACCL_DENOISE_MEDIAN_3,
          p->extent.width, p->extent.height, p, stream, error);
  p->bits = p->mask.result;
  if (has_classes)
    p->shadow = self->filtered_shadow;
  return status;
}

CclStatus
ccl_cuda_filters_queue (const CclCudaFilters *self, const CclCudaFiltering *filtering,
    const CclExtent *extent, const CclMaskParameters *mask, CUstream stream, CclError *error)
{
  CclFilterParameters p = {
      .extent = *extent,
      .mask = *mask,
      .bits = self->found,
      .shadow = self->shadow,
      .dilated = self->dilated,
      .closing_width = filtering->closing_width,
      .closing_height = filtering->closing_height,
  };
  const bool is_closed = filtering->is_closed;
  CclStatus status = CUDACCL_OK;

  if (filtering->denoise != CUDACCL_DENOISE_NONE)
    status = queue_denoise (self, filtering, !is_closed, &p, stream, error);
  if (status == CUDACCL_OK && is_closed)
    status = launch_filter (self, CUDACCL_DILATE_KERNEL, extent->width + 2 * 32,
        extent->height + 2 * CUDACCL_CLOSING_MARGIN, &p, stream, error);
  if (status == CUDACCL_OK && is_closed)
    status = launch_filter (
        self, CUDACCL_ERODE_KERNEL, extent->width, extent->height, &p, stream, error);
  return status;
}
