/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of given ranks among those of each label. map-ranks.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/label/word-map.h"
#include "cuda/driver/job.h"
#include "images.h"
#include "map-ranks-parameters.h"

#include <stdlib.h>
#include <string.h>

static bool
has_type (const CclCudaRanks *ranks)
{
  const uint32_t n = ranks->value_bytes;
  const bool is_integer =
      ranks->kind == CUDACCL_NUMBER_UNSIGNED || ranks->kind == CUDACCL_NUMBER_SIGNED;

  return (is_integer && (n == 1 || n == 2 || n == 4 || n == 8)) ||
         (ranks->kind == CUDACCL_NUMBER_REAL && (n == 4 || n == 8));
}

static CclStatus
check (const CclCudaRanks *ranks, CclError *error)
{
  const MapSize size = {ranks->width, ranks->height, ranks->depth};

  if (size.width < 1 || size.height < 1 || size.depth < 1 ||
      (uint64_t)size.width * size.height > CUDACCL_MAX_PIXELS / size.depth)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a map of %u×%u×%u pixels is empty or too large", size.width, size.height, size.depth);
  if (!has_type (ranks))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "values must be integers of 8 to 64 bits or floats of 32 or 64, not of %u bytes",
        ranks->value_bytes);
  const uint64_t row = (uint64_t)size.width * ranks->value_bytes;
  if (!ranks->values || ranks->value_row_stride < row ||
      (size.depth > 1 && ranks->value_slice_stride / size.height < ranks->value_row_stride))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "values are missing or overlap");
  if (ranks->n_labels < 1 || !ranks->counts || (ranks->n_ranks && (!ranks->ranks || !ranks->found)))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "labels, and memory for what is found of them, are needed");
  return ccl_map_check (&ranks->labels, &size, "labels", error);
}

static CclMapRanksParameters
describe (const CclCudaRanks *ranks)
{
  const uint64_t value_slice = ranks->depth > 1 ? ranks->value_slice_stride : 0;

  return (CclMapRanksParameters){
      .labels = ccl_word_map (&ranks->labels, ranks->depth),
      .width = ranks->width,
      .height = ranks->height,
      .depth = ranks->depth,
      .n_labels = ranks->n_labels,
      .values = ranks->values,
      .value_row = ranks->value_row_stride,
      .value_slice = value_slice,
      .value_bytes = ranks->value_bytes,
      .kind = ranks->kind,
      .is_aligned =
          ((uintptr_t)ranks->values | ranks->value_row_stride | value_slice) % ranks->value_bytes ==
          0,
      .n_ranks = ranks->n_ranks,
  };
}

static const CclCudaLoop loop = {
    &ccl_cuda_image_map_ranks, CUDACCL_MAP_RANKS_THREADS, CUDACCL_MAP_RANKS_BLOCKS};

/* The number that has a key. */
static double
number_of (const CclCudaRanks *ranks, uint64_t key)
{
  const uint64_t sign = (uint64_t)1 << (8 * ranks->value_bytes - 1);

  if (ranks->kind == CUDACCL_NUMBER_UNSIGNED)
    return (double)key;
  if (ranks->kind == CUDACCL_NUMBER_SIGNED)
    return key & sign ? (double)(key ^ sign) : -(double)(sign - key);
  const uint64_t word = key & sign ? key ^ sign : sign | (sign - key);
  const uint32_t half = (uint32_t)word;
  float single;
  double number;
  memcpy (&single, &half, sizeof single);
  memcpy (&number, &word, sizeof number);
  return ranks->value_bytes == 4 ? single : number;
}

/* What a call looks for. */
typedef struct Search {
  const CclCudaRanks *ranks;
  CclRankTarget *targets; /* in host memory: ranks, and in the end the keys */
  size_t n;               /* of these */
} Search;

/* Finds all digits of the values, which the targets have in the end, on the device and the host.
 */
static CclStatus
select_values (
    const CclCudaJob *job, const Search *search, CclMapRanksParameters *p, CclError *error)
{
  const size_t size = search->n * sizeof *p->targets;
  CclStatus status = ccl_cuda_job_upload (job, search->targets, p->targets, size, error);

  for (p->shift = 8 * p->value_bytes; p->shift > 0 && status == CUDACCL_OK;) {
    p->shift -= CUDACCL_MAP_RANKS_BITS;
    status = ccl_cuda_job_loop (
        job, &loop, "ccl_map_ranks_digits", (uint64_t)p->width * p->height * p->depth, p, error);
    if (status == CUDACCL_OK)
      status = ccl_cuda_job_loop (job, &loop, "ccl_map_ranks_choose", search->n, p, error);
  }
  return status == CUDACCL_OK
             ? ccl_cuda_job_download (job, p->targets, search->targets, size, error)
             : status;
}

static size_t
counts_size (const CclCudaRanks *ranks)
{
  return 2 * (size_t)ranks->n_labels * sizeof *ranks->counts;
}

static CclStatus
find (const CclCudaJob *job, void *object, CclError *error)
{
  const Search *search = object;
  const CclCudaRanks *ranks = search->ranks;
  CclMapRanksParameters p = describe (ranks);

  p.targets = job->memory;
  p.counts = (uint32_t *)(p.targets + search->n);
  CclStatus status = ccl_cuda_job_clear (job, p.counts, counts_size (ranks), error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_loop (
        job, &loop, "ccl_map_ranks_count", (uint64_t)p.width * p.height * p.depth, &p, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_download (job, p.counts, ranks->counts, counts_size (ranks), error);
  return status == CUDACCL_OK && search->n ? select_values (job, search, &p, error) : status;
}

CclStatus
ccl_cuda_label_ranks (
    CclCudaDevice *device, const CclCudaRanks *ranks, void *stream, CclError *error)
{
  if (!device || !ranks)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and ranks are needed");
  CclStatus status = check (ranks, error);
  if (status != CUDACCL_OK)
    return status;
  const size_t n = (size_t)ranks->n_ranks * ranks->n_labels;
  Search search = {ranks, calloc (n + 1, sizeof (CclRankTarget)), n};
  if (!search.targets)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "no host memory for %zu values of labels", n);
  for (size_t i = 0; i < n; i++)
    search.targets[i].rank = ranks->ranks[i];
  status = ccl_cuda_job_run (
      device, stream, n * sizeof *search.targets + counts_size (ranks), find, &search, error);
  for (size_t i = 0; i < n && status == CUDACCL_OK; i++)
    ranks->found[i] = number_of (ranks, search.targets[i].key);
  free (search.targets);
  return status;
}
