/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis.h"
#include "core/base/divide-up.h"

#include <string.h>

#include "images.h"
#include "cuda/driver/tuning.h"

enum { THREADS = CUDACCL_TABLE_THREADS };

enum {
  COLLECT,
  MARK,
  NUMBER,
  WRITE_LABELS,
};

static const char *const kernels[CUDACCL_N_ANALYSIS_KERNELS] = {
    [COLLECT] = "ccl_analysis_collect",
    [MARK] = "ccl_analysis_mark",
    [NUMBER] = "ccl_analysis_number",
    [WRITE_LABELS] = "ccl_analysis_write_labels",
};

/* Each block of the numbering kernel adds up the counts of the chunks before its own. */
enum { MOST_CHUNKS = 1024 };

/* The most components of a frame: one isolated pixel in each 2×2, or every second pixel with
 * 4-connectivity. */
static size_t
most_components (const CclLabellingParameters *frame)
{
  if (frame->connectivity == CUDACCL_CONNECTIVITY_4)
    return divide_up ((size_t)frame->width * frame->height, 2);
  return divide_up (frame->width, 2) * divide_up (frame->height, 2);
}

static void
set_frame (CclAnalysisParameters *parameters, const CclCudaSequence *sequence)
{
  const CclLabellingParameters *frame = &sequence->parameters;
  parameters->labels = frame->labels;
  parameters->label_stride = frame->label_stride;
  parameters->width = frame->width;
  parameters->height = frame->height;
  parameters->n_elements = sequence->n_elements;
  parameters->rows_of_accumulator =
      frame->connectivity == CUDACCL_CONNECTIVITY_4 || sequence->algorithm->roots_share_blocks ? 1
                                                                                               : 2;
  const uint32_t n_words = divide_up (sequence->n_elements, 32);
  parameters->chunk_words = CUDACCL_CHUNK_WORDS;
  while (divide_up (n_words, parameters->chunk_words) > MOST_CHUNKS)
    parameters->chunk_words *= 2;
  parameters->n_chunks = divide_up (n_words, parameters->chunk_words);
}

/* Makes the accumulators empty, the list of roots as well, and clears all marks. The counts of
 * chunks are cleared by each frame. */
static CclStatus
clean (CclCudaAnalysis *analysis, CUstream stream, CclError *error)
{
  const CclCudaDriver *driver = analysis->memory.device->driver;
  const CclAnalysisParameters *p = &analysis->parameters;
  CclStatus status = ccl_cuda_call (driver, error,
      cuMemsetD8Async (
          (CUdeviceptr)(uintptr_t)p->accumulators, 0xff, analysis->accumulators_size, stream));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuMemsetD8Async (
            (CUdeviceptr)(uintptr_t)p->first_bits, 0, analysis->first_bits_size, stream));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuMemsetD8Async ((CUdeviceptr)(uintptr_t)p->n_roots, 0, sizeof *p->n_roots, stream));
  analysis->is_clean = status == CUDACCL_OK;
  return status;
}

/* Allocates everything in device memory. */
static CclStatus
allocate (CclCudaAnalysis *analysis, CclError *error)
{
  CclAnalysisParameters *p = &analysis->parameters;
  CclCudaAllocations *memory = &analysis->memory;
  CclStatus status = CUDACCL_OK;

  p->accumulators = ccl_cuda_allocate (memory, analysis->accumulators_size, &status, error);
  p->roots =
      ccl_cuda_allocate (memory, analysis->most_components * sizeof *p->roots, &status, error);
  p->n_roots = ccl_cuda_allocate (memory, sizeof *p->n_roots, &status, error);
  p->first_bits = ccl_cuda_allocate (memory, analysis->first_bits_size, &status, error);
  p->chunk_counts =
      ccl_cuda_allocate (memory, p->n_chunks * sizeof *p->chunk_counts, &status, error);
  return status;
}

CclStatus
ccl_cuda_analysis_init (CclCudaAnalysis *analysis, const CclCudaSequence *sequence,
    uint32_t max_components, CclLocation table_location, CUstream stream, CclError *error)
{
  CclAnalysisParameters *parameters = &analysis->parameters;
  memset (analysis, 0, sizeof *analysis);
  analysis->memory.device = sequence->device;
  analysis->most_components = most_components (&sequence->parameters);
  set_frame (parameters, sequence);
  parameters->n_rows =
      max_components < analysis->most_components ? max_components : analysis->most_components;

  const size_t n_accumulators = (size_t)(parameters->label_stride / 2) *
                                divide_up (parameters->height, parameters->rows_of_accumulator);
  analysis->accumulators_size = n_accumulators * sizeof (CclAccumulator);
  analysis->first_bits_size = divide_up (sequence->n_elements, 32) * sizeof (uint32_t);

  CclCudaDevice *device = sequence->device;
  CclStatus status = CUDACCL_OK;
  for (int i = 0; status == CUDACCL_OK && i < CUDACCL_N_ANALYSIS_KERNELS; i++)
    status = ccl_cuda_device_find_kernel (
        device, &ccl_cuda_image_analysis, kernels[i], &analysis->functions[i], error);
  if (status == CUDACCL_OK)
    status = allocate (analysis, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_table_memory_resize (
        &analysis->table, device, parameters->n_rows, table_location, error);
  if (status == CUDACCL_OK)
    status = clean (analysis, stream, error);
  if (status != CUDACCL_OK) {
    ccl_cuda_analysis_clear (analysis);
    return status;
  }

  parameters->result_count = ccl_cuda_table_memory_head (&analysis->table);
  parameters->result_rows = ccl_cuda_table_memory_rows (&analysis->table);
  return CUDACCL_OK;
}

void
ccl_cuda_analysis_clear (CclCudaAnalysis *analysis)
{
  ccl_cuda_table_memory_clear (&analysis->table, analysis->memory.device);
  ccl_cuda_allocations_clear (&analysis->memory);
}

/* Queues a kernel with blocks of threads_x × threads_y threads that cover width × height pixels,
 * or any other things. */
static CclStatus
launch (CclCudaAnalysis *analysis, int kernel, CclWork work, uint32_t threads_x, uint32_t threads_y,
    uint32_t width, uint32_t height, CUstream stream, CclError *error)
{
  CclCudaLaunch launch = {
      .function = analysis->functions[kernel],
      .kernel = kernels[kernel],
      .block = {threads_x, threads_y, 1},
      .is_dependent = true,
  };
  ccl_cuda_launch_cover (&launch, work, width, height, 1);
  return ccl_cuda_launch (analysis->memory.device, &launch, &analysis->parameters, stream, error);
}

static CclStatus
launch_all (CclCudaAnalysis *analysis, bool writes_labels, CUstream stream, CclError *error)
{
  const CclAnalysisParameters *parameters = &analysis->parameters;
  const uint32_t width = parameters->width, height = parameters->height;
  const CclWork one = {1, 1, 1}, column_of_four = {1, 4, 1};
  const CclWork tile_column = {1, 32, 1}; /* 128 columns by two threads each, 32 rows */
  const uint32_t n_blocks = divide_up (analysis->most_components, THREADS);
  const uint32_t most_blocks =
      ccl_cuda_blocks_of (analysis->memory.device->n_multiprocessors, CUDACCL_MARK_BLOCKS);

  CclStatus status = launch (analysis, COLLECT, tile_column, THREADS, 1,
      divide_up (width, 128) * THREADS, height, stream, error);
  if (status == CUDACCL_OK)
    status = launch (analysis, MARK, one, THREADS, 1,
        (n_blocks < most_blocks ? n_blocks : most_blocks) * THREADS, 1, stream, error);
  if (status == CUDACCL_OK)
    status = launch (
        analysis, NUMBER, one, THREADS, 1, parameters->n_chunks * THREADS, 1, stream, error);
  if (status == CUDACCL_OK && writes_labels)
    status = launch (analysis, WRITE_LABELS, column_of_four, 32, 8, width, height, stream, error);
  return status;
}

CclStatus
ccl_cuda_analysis_queue (CclCudaAnalysis *analysis, const CclLabellerOptions *options,
    const CclLabels *labels, CUstream stream, CclError *error)
{
  CclAnalysisParameters *parameters = &analysis->parameters;
  parameters->min_area = options->min_area;
  parameters->max_area = options->max_area ? options->max_area : UINT32_MAX;
  parameters->label_map = labels ? labels->data : NULL;
  parameters->label_map_stride = labels ? labels->stride / sizeof (uint32_t) : 0;

  CclStatus status = analysis->is_clean ? CUDACCL_OK : clean (analysis, stream, error);
  if (status != CUDACCL_OK)
    return status;
  status = launch_all (analysis, labels, stream, error);
  analysis->is_clean = status == CUDACCL_OK;
  return status;
}

void
ccl_cuda_analysis_read (const CclCudaAnalysis *analysis, CclTable *table)
{
  ccl_cuda_table_memory_read (&analysis->table, analysis->parameters.n_rows, table);
}
