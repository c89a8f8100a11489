/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which labels of a map in device memory touch. map-contacts.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/base/layout.h"
#include "core/label/word-map.h"
#include "cuda/driver/job.h"
#include "images.h"
#include "map-contacts-parameters.h"

#include <stdlib.h>

/* Lists the steps to pixels before one that differ along so many axes. */
static void
add_steps (CclMapContactsParameters *p, int n_axes)
{
  for (int place = 0; place < 13; place++) {
    const CclContactStep step = {place % 3 - 1, place / 3 % 3 - 1, place / 9 - 1};
    if (abs (step.x) + abs (step.y) + abs (step.z) == n_axes && (p->depth > 1 || step.z == 0))
      p->steps[p->n_steps++] = step;
  }
}

static CclStatus
describe (CclMapContactsParameters *p, const CclVolumeLabels *labels, uint32_t connectivity,
    uint32_t capacity, CclError *error)
{
  const int reach = connectivity == 26                        ? 3
                    : connectivity == 8 || connectivity == 18 ? 2
                    : connectivity == 4 || connectivity == 6  ? 1
                                                              : 0;
  const bool are_frames = connectivity == 4 || connectivity == 8;

  if (reach == 0 || (are_frames && p->depth > 1))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for images and 6, 18 or 26 for volumes, not %u",
        connectivity);
  if (p->width < 1 || p->height < 1 || p->depth < 1 ||
      (uint64_t)p->width * p->height > CUDACCL_MAX_PIXELS / p->depth)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a map of %u×%u×%u pixels is empty or too large", p->width, p->height, p->depth);
  const MapSize size = {p->width, p->height, p->depth};
  const CclStatus status = ccl_map_check (labels, &size, "labels", error);
  if (status != CUDACCL_OK)
    return status;
  add_steps (p, 1);
  p->n_sides = p->n_steps;
  for (int n_axes = 2; n_axes <= reach; n_axes++)
    add_steps (p, n_axes);
  p->labels = ccl_word_map (labels, p->depth);
  p->capacity = capacity;
  for (p->mask = 1023; p->mask / 2 < capacity;)
    p->mask = 2 * p->mask + 1;
  return CUDACCL_OK;
}

/* What a call finds. */
typedef struct Search {
  CclMapContactsParameters parameters;
  CclContact *contacts; /* the caller's, as is n */
  uint32_t *n;
} Search;

/* Places the counters, the table and the list in memory, which may be NULL. Returns their size. */
static size_t
place_arrays (CclMapContactsParameters *p, void *memory)
{
  Layout layout = {.memory = memory, .alignment = sizeof (uint64_t)};

  p->n = lay_out (&layout, 1, sizeof *p->n);
  p->n_listed = lay_out (&layout, 1, sizeof *p->n_listed);
  p->entries = lay_out (&layout, (uint64_t)p->mask + 1, sizeof *p->entries);
  p->contacts = lay_out (&layout, p->capacity, sizeof *p->contacts);
  return layout.size;
}

/* Finds the pairs and copies them to the host. */
static CclStatus
find (const CclCudaJob *job, void *object, CclError *error)
{
  static const CclCudaLoop loop = {
      &ccl_cuda_image_map_contacts, CUDACCL_MAP_CONTACTS_THREADS, CUDACCL_MAP_CONTACTS_BLOCKS};
  Search *search = object;
  CclMapContactsParameters *p = &search->parameters;
  const uint64_t n_pixels = (uint64_t)p->width * p->height * p->depth;
  CclStatus status = ccl_cuda_job_clear (job, job->memory, place_arrays (p, job->memory), error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_job_loop (job, &loop, "ccl_map_contacts_find", n_pixels, p, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_job_loop (job, &loop, "ccl_map_contacts_list", (uint64_t)p->mask + 1, p, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_download (job, p->n, search->n, sizeof *p->n, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_wait (job, error);
  if (status == CUDACCL_OK && *search->n > 0 && *search->n <= p->capacity)
    status = ccl_cuda_job_download (
        job, p->contacts, search->contacts, *search->n * sizeof *p->contacts, error);
  return status;
}

static int
compare_pairs (const void *a, const void *b)
{
  const CclContact *one = a, *other = b;
  if (one->label != other->label)
    return one->label < other->label ? -1 : 1;
  return (one->neighbour > other->neighbour) - (one->neighbour < other->neighbour);
}

CclStatus
ccl_cuda_label_contacts (CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, CclContact *contacts, uint32_t capacity,
    uint32_t *n, void *stream, CclError *error)
{
  Search search = {{.width = width, .height = height, .depth = depth}, contacts, n};

  if (!device || !contacts || !n || capacity < 1 || capacity > CUDACCL_MAX_CONTACTS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a device and memory for 1…%u pairs are needed", CUDACCL_MAX_CONTACTS);
  CclStatus status = describe (&search.parameters, labels, connectivity, capacity, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_job_run (
        device, stream, place_arrays (&search.parameters, NULL), find, &search, error);
  if (status == CUDACCL_OK && *n <= capacity)
    qsort (contacts, *n, sizeof *contacts, compare_pairs);
  return status;
}
