/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flood of labels from markers in device memory. flood.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/base/interruption.h"
#include "core/base/layout.h"
#include "core/label/word-map.h"
#include "cuda/driver/job.h"
#include "images.h"
#include "flood-parameters.h"

#include <stdlib.h>

/* Between two questions whether something has changed. */
enum { PASSES = 4 };

/* Lists the steps to the neighbours; each has its opposite at the same place from the end. */
static void
list_steps (CclMapFloodParameters *p, uint32_t connectivity)
{
  const bool is_frame = connectivity == 4 || connectivity == 8;
  const int most = connectivity == 4 || connectivity == 6 ? 1 : connectivity == 26 ? 3 : 2;

  for (int place = 0; place < 27; place++) {
    const int x = place % 3 - 1, y = place / 3 % 3 - 1, z = place / 9 - 1;
    const int length = abs (x) + abs (y) + abs (z);
    if (length > 0 && length <= most && !(is_frame && z))
      p->steps[p->n_steps++] = (CclFloodStep){x, y, z};
  }
}

/* Queues a kernel with a block for each tile. */
static CclStatus
queue (const CclCudaJob *job, const char *kernel, CclMapFloodParameters *p, CclError *error)
{
  enum { N_THREADS = CUDACCL_MAP_FLOOD_COLUMNS * CUDACCL_MAP_FLOOD_ROWS };
  static const CclCudaLoop loop = {&ccl_cuda_image_flood, N_THREADS, CUDACCL_MAP_FLOOD_BLOCKS};
  const uint64_t n_tiles = (uint64_t)p->tile_columns * p->tile_rows * p->depth;
  return ccl_cuda_job_loop (job, &loop, kernel, n_tiles * N_THREADS, p, error);
}

/* Queues some passes, and finds whether they changed something. */
static CclStatus
run_passes (const CclCudaJob *job, const char *kernel, CclMapFloodParameters *p, uint32_t *changed,
    CclError *error)
{
  CclStatus status = ccl_cuda_job_clear (job, p->changed, sizeof *p->changed, error);

  for (int i = 0; i < PASSES && status == CUDACCL_OK; i++)
    status = queue (job, kernel, p, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_download (job, p->changed, changed, sizeof *changed, error);
  return status == CUDACCL_OK ? ccl_cuda_job_wait (job, error) : status;
}

static CclStatus
run_until_done (
    const CclCudaJob *job, const char *kernel, CclMapFloodParameters *p, CclError *error)
{
  uint32_t changed = 1;
  CclStatus status = CUDACCL_OK;

  while (changed && status == CUDACCL_OK) {
    if (ccl_is_interrupted ((uint64_t)p->width * p->height * p->depth))
      return ccl_interruption_status (error);
    status = run_passes (job, kernel, p, &changed, error);
  }
  return status;
}

/* Places the arrays of the flood in memory, which may be NULL. Returns their size. */
static size_t
place_arrays (CclMapFloodParameters *p, void *memory)
{
  const uint64_t n = (uint64_t)p->width * p->height * p->depth;
  Layout layout = {.memory = memory, .alignment = sizeof (uint64_t)};

  p->times = lay_out (&layout, n, sizeof *p->times);
  p->origins = lay_out (&layout, n, sizeof *p->origins);
  p->changed = lay_out (&layout, 1, sizeof *p->changed);
  return layout.size;
}

static CclStatus
flood (const CclCudaJob *job, void *object, CclError *error)
{
  CclMapFloodParameters *p = object;

  place_arrays (p, job->memory);
  CclStatus status = queue (job, "ccl_map_flood_begin", p, error);
  if (status == CUDACCL_OK)
    status = run_until_done (job, "ccl_map_flood_find_times", p, error);
  if (status == CUDACCL_OK)
    status = run_until_done (job, "ccl_map_flood_find_origins", p, error);
  return status == CUDACCL_OK ? queue (job, "ccl_map_flood_write", p, error) : status;
}

static CclStatus
check (const CclCudaFlood *maps, CclError *error)
{
  const MapSize size = {maps->width, maps->height, maps->depth};
  const uint32_t c = maps->connectivity;
  CclStatus status = ccl_map_size_check (&size, error);

  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->labels, &size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->squared, &size, "squared distances", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (&maps->objects, &size, "objects", error);
  if (status == CUDACCL_OK && c != 6 && c != 18 && c != 26 &&
      (maps->depth > 1 || (c != 4 && c != 8)))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames, 6, 18 or 26 for volumes, not %u", c);
  return status;
}

CclStatus
ccl_cuda_flood_objects (
    CclCudaDevice *device, const CclCudaFlood *maps, void *stream, CclError *error)
{
  if (!device || !maps)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and maps are needed");
  CclStatus status = check (maps, error);
  if (status != CUDACCL_OK)
    return status;
  CclMapFloodParameters p = {.labels = ccl_word_map (&maps->labels, maps->depth),
      .squared = ccl_word_map (&maps->squared, maps->depth),
      .objects = ccl_word_map (&maps->objects, maps->depth),
      .width = maps->width,
      .height = maps->height,
      .depth = maps->depth,
      .tile_columns = (uint32_t)divide_up (maps->width, CUDACCL_MAP_FLOOD_COLUMNS),
      .tile_rows = (uint32_t)divide_up (maps->height, CUDACCL_MAP_FLOOD_ROWS)};
  list_steps (&p, maps->connectivity);
  return ccl_cuda_job_run (device, stream, place_arrays (&p, NULL), flood, &p, error);
}
