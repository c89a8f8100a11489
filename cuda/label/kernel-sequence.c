/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel-sequence.h"

#include <string.h>

#include "core/base/divide-up.h"
#include "core/label/labeller-class.h"

/* Rows of the label buffer start on a cache line, except those of narrow frames, where the padding
 * would take more memory than the labels. */
static uint32_t
padded_stride (uint32_t width)
{
  return (uint32_t)round_up (width, width >= 256 ? 32 : 2);
}

/* Sets the size of the frame and the layout of the label buffer. */
static void
set_size (CclCudaSequence *sequence, uint32_t width, uint32_t height, uint32_t depth)
{
  CclLabellingParameters *parameters = &sequence->parameters;
  parameters->width = width;
  parameters->height = height;
  parameters->depth = depth;
  /* Indices have 32 bits. Rows padded to an even length always fit, as a frame has at most
   * CUDACCL_MAX_PIXELS pixels. */
  parameters->label_stride = padded_stride (width);
  if ((uint64_t)parameters->label_stride * height * depth > INT32_MAX)
    parameters->label_stride = width + width % 2;
  parameters->label_slice = parameters->label_stride * height;
  sequence->n_elements = (size_t)parameters->label_stride * height * depth;
}

/* Bytes of scratch memory: 16 more than the arrays have, so that kernels may access the last
 * elements in vectors. */
static size_t
scratch_size (const CclCudaSequence *sequence)
{
  const CclLabellingParameters *p = &sequence->parameters;
  const CclScratch *scratch = &sequence->algorithm->scratch;
  const size_t n_blocks = (size_t)(p->label_stride / 2) * divide_up (p->height, 2) * p->depth;
  return 16 + scratch->per_element * sequence->n_elements + scratch->per_block * n_blocks +
         scratch->per_row * (size_t)p->height * p->depth;
}

CclStatus
ccl_cuda_sequence_init (CclCudaSequence *sequence, CclCudaDevice *device,
    const CclAlgorithm *algorithm, uint32_t width, uint32_t height, uint32_t depth,
    uint32_t connectivity, CUstream stream, CclError *error)
{
  memset (sequence, 0, sizeof *sequence);
  sequence->device = device;
  sequence->algorithm = algorithm;
  memcpy (sequence->steps, algorithm->steps, sizeof sequence->steps);
  while (sequence->n_steps < CUDACCL_MAX_STEPS && sequence->steps[sequence->n_steps].kernel)
    sequence->n_steps++;

  set_size (sequence, width, height, depth);
  sequence->parameters.connectivity = connectivity;
  if (algorithm->max_elements && sequence->n_elements > algorithm->max_elements)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "algorithm %s labels at most %u pixels, counting rows of odd width with one more pixel",
        algorithm->name, algorithm->max_elements);

  if (algorithm->max_width && width > algorithm->max_width)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "algorithm %s labels frames of at most %u columns", algorithm->name, algorithm->max_width);

  CclStatus status = CUDACCL_OK;
  for (uint32_t i = 0; status == CUDACCL_OK && i < sequence->n_steps; i++)
    status = ccl_cuda_device_find_kernel (
        device, algorithm->image, sequence->steps[i].kernel, &sequence->functions[i], error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (
        device, sequence->n_elements * sizeof (uint32_t), &sequence->labels, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (device, scratch_size (sequence), &sequence->scratch, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error,
        cuMemsetD8Async (sequence->labels, 0, sequence->n_elements * sizeof (uint32_t), stream));
  if (status != CUDACCL_OK) {
    ccl_cuda_sequence_clear (sequence);
    return status;
  }
  sequence->parameters.labels = (uint32_t *)sequence->labels;
  sequence->parameters.scratch = (void *)sequence->scratch;
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_sequence_set_format (CclCudaSequence *sequence, CclPixelFormat format, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  sequence->format = format;
  for (uint32_t i = 0; status == CUDACCL_OK && i < sequence->n_steps; i++) {
    CclStep *step = &sequence->steps[i];
    if (format == CUDACCL_PIXEL_FORMAT_8 || !step->words_kernel)
      continue;
    step->kernel = step->words_kernel;
    status = ccl_cuda_device_find_kernel (
        sequence->device, sequence->algorithm->image, step->kernel, &sequence->functions[i], error);
  }
  return status;
}

void
ccl_cuda_sequence_clear (CclCudaSequence *sequence)
{
  ccl_cuda_device_release (sequence->device, &sequence->labels);
  ccl_cuda_device_release (sequence->device, &sequence->scratch);
}

void
ccl_cuda_sequence_set_frame (CclCudaSequence *sequence, CUdeviceptr frame, size_t stride,
    size_t slice, uint32_t threshold, bool invert)
{
  sequence->parameters.frame = (const uint8_t *)frame;
  sequence->parameters.frame_stride = stride;
  sequence->parameters.frame_slice = slice;
  const CclWordThreshold words = ccl_word_threshold (sequence->format, threshold);
  sequence->parameters.threshold =
      sequence->format == CUDACCL_PIXEL_FORMAT_8 ? threshold : words.threshold;
  sequence->parameters.word_mask = words.mask;
  sequence->parameters.invert = invert;
}

CclStatus
ccl_cuda_sequence_queue (
    CclCudaSequence *sequence, uint32_t first, uint32_t end, CUstream stream, CclError *error)
{
  CclLabellingParameters *parameters = &sequence->parameters;
  CclStatus status = CUDACCL_OK;
  for (uint32_t i = first; status == CUDACCL_OK && i < end; i++) {
    const CclStep *step = &sequence->steps[i];
    CclCudaLaunch launch = {
        .function = sequence->functions[i],
        .kernel = step->kernel,
        .block = {step->block.x, step->block.y, step->block.z},
        .is_dependent = step->is_dependent,
    };
    ccl_cuda_launch_cover (
        &launch, step->work, parameters->width, parameters->height, parameters->depth);
    status = ccl_cuda_launch (sequence->device, &launch, parameters, stream, error);
  }
  return status;
}
