/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis.h"

#include <string.h>

#include "images.h"

enum {
  FIND_FIRSTS,
  MARK_FIRSTS,
  NUMBER_CHUNKS,
  FILTER_FIRSTS,
  SUM_AREAS,
  SUM_FEATURES,
  WRITE_TABLE,
  WRITE_LABELS,
};

static const char *const kernels[CCL_N_ANALYSIS_KERNELS] = {
    [FIND_FIRSTS] = "ccl_analysis_find_firsts",
    [MARK_FIRSTS] = "ccl_analysis_mark_firsts",
    [NUMBER_CHUNKS] = "ccl_analysis_number_chunks",
    [FILTER_FIRSTS] = "ccl_analysis_filter_firsts",
    [SUM_AREAS] = "ccl_analysis_sum_areas",
    [SUM_FEATURES] = "ccl_analysis_sum_features",
    [WRITE_TABLE] = "ccl_analysis_write_table",
    [WRITE_LABELS] = "ccl_analysis_write_labels",
};

/* The most components of a frame: one isolated pixel in each 2×2, or every second pixel with
 * 4-connectivity. */
static size_t
most_components (const CclLabellingParameters *frame)
{
  if (frame->connectivity == CCL_CONNECTIVITY_4)
    return ((size_t)frame->width * frame->height + 1) / 2;
  return ((size_t)frame->width + 1) / 2 * (((size_t)frame->height + 1) / 2);
}

CclStatus
ccl_cuda_analysis_init (CclCudaAnalysis *analysis, const CclCudaSequence *sequence,
    uint32_t max_components, CclError *error)
{
  const CclLabellingParameters *frame = &sequence->parameters;
  CclAnalysisParameters *parameters = &analysis->parameters;
  memset (analysis, 0, sizeof *analysis);
  analysis->device = sequence->device;
  analysis->most_components = most_components (frame);
  parameters->labels = frame->labels;
  parameters->label_stride = frame->label_stride;
  parameters->width = frame->width;
  parameters->height = frame->height;
  parameters->n_elements = sequence->n_elements;
  parameters->n_chunks = (sequence->n_elements + CCL_CHUNK_ELEMENTS - 1) / CCL_CHUNK_ELEMENTS;
  parameters->n_rows =
      max_components < analysis->most_components ? max_components : analysis->most_components;

  size_t accumulators_size = parameters->n_rows * sizeof (CclAccumulator);
  analysis->sums_size = accumulators_size;
  if (!sequence->algorithm->roots_are_first_pixels)
    analysis->sums_size += sequence->n_elements * sizeof (uint32_t);
  size_t n_words = (sequence->n_elements + 31) / 32;
  size_t result_size = CCL_RESULT_ROWS_OFFSET + parameters->n_rows * sizeof (CclComponent);
  CUdeviceptr result = 0;

  CclCudaDevice *device = analysis->device;
  CclStatus status = CCL_OK;
  for (int i = 0; status == CCL_OK && i < CCL_N_ANALYSIS_KERNELS; i++)
    status = ccl_cuda_device_find_kernel (
        device, &ccl_cuda_image_analysis, kernels[i], &analysis->functions[i], error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (device, analysis->sums_size, &analysis->sums, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (
        device, n_words * sizeof (CclFirstPixels), &analysis->first_pixels, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (
        device, parameters->n_chunks * sizeof (uint32_t), &analysis->chunk_offsets, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (
        device, analysis->most_components * sizeof (uint32_t), &analysis->areas, error);
  if (status == CCL_OK)
    status = ccl_cuda_device_allocate (device, sizeof (uint32_t), &analysis->n_components, error);
  if (status == CCL_OK)
    status =
        ccl_cuda_device_allocate_pinned (device, result_size, &analysis->result, &result, error);
  if (status != CCL_OK) {
    ccl_cuda_analysis_clear (analysis);
    return status;
  }

  parameters->accumulators = (CclAccumulator *)analysis->sums;
  if (!sequence->algorithm->roots_are_first_pixels)
    parameters->firsts = (uint32_t *)(analysis->sums + accumulators_size);
  parameters->first_pixels = (CclFirstPixels *)analysis->first_pixels;
  parameters->chunk_offsets = (uint32_t *)analysis->chunk_offsets;
  parameters->areas = (uint32_t *)analysis->areas;
  parameters->n_components = (uint32_t *)analysis->n_components;
  parameters->result_count = (uint32_t *)result;
  parameters->result_rows = (CclComponent *)(result + CCL_RESULT_ROWS_OFFSET);
  return CCL_OK;
}

void
ccl_cuda_analysis_clear (CclCudaAnalysis *analysis)
{
  ccl_cuda_device_release (analysis->device, &analysis->sums);
  ccl_cuda_device_release (analysis->device, &analysis->first_pixels);
  ccl_cuda_device_release (analysis->device, &analysis->chunk_offsets);
  ccl_cuda_device_release (analysis->device, &analysis->areas);
  ccl_cuda_device_release (analysis->device, &analysis->n_components);
  ccl_cuda_device_release_pinned (analysis->device, &analysis->result);
}

static CclStatus
launch (CclCudaAnalysis *analysis, int kernel, CclWork work, uint32_t threads_x, uint32_t threads_y,
    uint32_t width, uint32_t height, CUstream stream, CclError *error)
{
  CclCudaLaunch launch = {
      .function = analysis->functions[kernel],
      .kernel = kernels[kernel],
      .block = {threads_x, threads_y, 1},
  };
  ccl_cuda_launch_cover (&launch, work, width, height, 1);
  return ccl_cuda_launch (analysis->device, &launch, &analysis->parameters, stream, error);
}

CclStatus
ccl_cuda_analysis_queue (CclCudaAnalysis *analysis, const CclOptions *options,
    const CclLabels *labels, CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = analysis->device->driver;
  CclAnalysisParameters *parameters = &analysis->parameters;
  const uint32_t width = parameters->width, height = parameters->height;
  const uint32_t n_elements = parameters->n_elements, n_chunks = parameters->n_chunks;
  const CclWork one = {1, 1, 1}, four = {4, 1, 1};
  const CclWork tile_column = {1, 32, 1}; /* 128 columns by two threads each, 32 rows */
  const uint32_t n_numbering = n_chunks < 1024 ? (n_chunks + 31) / 32 * 32 : 1024;
  const bool is_filtered = options->min_area > 1 || options->max_area > 0;

  parameters->min_area = options->min_area;
  parameters->max_area = options->max_area ? options->max_area : UINT32_MAX;
  parameters->label_map = labels ? labels->data : NULL;
  parameters->label_map_stride = labels ? labels->stride / sizeof (uint32_t) : 0;

  CclStatus status = ccl_cuda_call (
      driver, error, cuMemsetD8Async (analysis->sums, 0xff, analysis->sums_size, stream));
  if (status == CCL_OK && parameters->firsts)
    status = launch (analysis, FIND_FIRSTS, four, 256, 1, n_elements, 1, stream, error);
  if (status == CCL_OK)
    status = launch (analysis, MARK_FIRSTS, one, 256, 1, n_chunks * 256, 1, stream, error);
  if (status == CCL_OK)
    status = launch (analysis, NUMBER_CHUNKS, one, n_numbering, 1, 1, 1, stream, error);
  if (status == CCL_OK && is_filtered) {
    status = ccl_cuda_call (driver, error,
        cuMemsetD8Async (
            analysis->areas, 0, analysis->most_components * sizeof (uint32_t), stream));
    if (status == CCL_OK)
      status = launch (analysis, SUM_AREAS, tile_column, 256, 1, (width + 127) / 128 * 256, height,
          stream, error);
    if (status == CCL_OK)
      status = launch (analysis, FILTER_FIRSTS, one, 256, 1, n_chunks * 256, 1, stream, error);
    if (status == CCL_OK)
      status = launch (analysis, NUMBER_CHUNKS, one, n_numbering, 1, 1, 1, stream, error);
  }
  if (status == CCL_OK)
    status = launch (analysis, SUM_FEATURES, tile_column, 256, 1, (width + 127) / 128 * 256, height,
        stream, error);
  if (status == CCL_OK)
    status = launch (analysis, WRITE_TABLE, one, 256, 1, parameters->n_rows, 1, stream, error);
  if (status == CCL_OK && labels)
    status = launch (analysis, WRITE_LABELS, one, 32, 8, width, height, stream, error);
  return status;
}

void
ccl_cuda_analysis_read (const CclCudaAnalysis *analysis, CclTable *table)
{
  uint32_t n_components = *(const uint32_t *)analysis->result;
  uint32_t most_rows = analysis->parameters.n_rows;
  table->n_components = n_components;
  table->n_rows = n_components < most_rows ? n_components : most_rows;
  table->rows = (const CclComponent *)((const char *)analysis->result + CCL_RESULT_ROWS_OFFSET);
}
