/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which labels of a map in device memory touch. map-contacts.cu has the kernels. */
#include <cudaccl/device.h>

#include "core/label/word-map.h"
#include "cuda/driver/launch.h"
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
  p->labels = labels->data;
  p->row = labels->row_stride / sizeof (uint32_t);
  p->slice = labels->slice_stride / sizeof (uint32_t);
  p->capacity = capacity;
  for (p->mask = 1023; p->mask / 2 < capacity;)
    p->mask = 2 * p->mask + 1;
  return CUDACCL_OK;
}

static const CclCudaLoop loop = {
    &ccl_cuda_image_map_contacts, CUDACCL_MAP_CONTACTS_THREADS, CUDACCL_MAP_CONTACTS_BLOCKS};

static CclStatus
download (CclCudaDevice *device, const void *memory, void *host, size_t size, CUstream stream,
    CclError *error)
{
  CclStatus status = ccl_cuda_call (device->driver, error,
      cuMemcpyDtoHAsync (host, (CUdeviceptr)(uintptr_t)memory, size, stream));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (stream));
  return status;
}

/* Finds the pairs and copies them to the host. memory: of `size` bytes, with two counters, the
 * table and the list. */
static CclStatus
find (CclCudaDevice *device, CclMapContactsParameters *p, CUdeviceptr memory, size_t size,
    CUstream stream, CclContact *contacts, uint32_t *n, CclError *error)
{
  const uint64_t n_pixels = (uint64_t)p->width * p->height * p->depth;
  CclStatus status =
      ccl_cuda_call (device->driver, error, cuMemsetD8Async (memory, 0, size, stream));

  if (status == CUDACCL_OK)
    status =
        ccl_cuda_launch_loop (device, &loop, "ccl_map_contacts_find", n_pixels, p, stream, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_launch_loop (
        device, &loop, "ccl_map_contacts_list", (uint64_t)p->mask + 1, p, stream, error);
  if (status == CUDACCL_OK)
    status = download (device, p->n, n, sizeof *n, stream, error);
  if (status == CUDACCL_OK && *n > 0 && *n <= p->capacity)
    status = download (device, p->contacts, contacts, *n * sizeof *contacts, stream, error);
  if (status != CUDACCL_OK)
    device->driver->cuStreamSynchronize (stream); /* before the memory is freed */
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

/* The device's context is current. */
static CclStatus
run (CclCudaDevice *device, CclMapContactsParameters *p, CUstream stream, CclContact *contacts,
    uint32_t *n, CclError *error)
{
  const size_t table = ((size_t)p->mask + 1) * sizeof *p->entries;
  const size_t counters = sizeof *p->entries; /* keeps what follows aligned */
  const size_t size = counters + table + p->capacity * sizeof *p->contacts;
  CUdeviceptr memory = 0;
  CclStatus status = ccl_cuda_device_check_stream (device, stream, error);

  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (device, size, &memory, error);
  if (status != CUDACCL_OK)
    return status;
  p->n = (uint32_t *)(uintptr_t)memory;
  p->n_listed = p->n + 1;
  p->entries = (CclContactEntry *)(uintptr_t)(memory + counters);
  p->contacts = (CclContact *)(uintptr_t)(memory + counters + table);
  status = find (device, p, memory, size, stream, contacts, n, error);
  ccl_cuda_device_release (device, &memory);
  if (status == CUDACCL_OK && *n <= p->capacity)
    qsort (contacts, *n, sizeof *contacts, compare_pairs);
  return status;
}

CclStatus
ccl_cuda_label_contacts (CclCudaDevice *device, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, CclContact *contacts, uint32_t capacity,
    uint32_t *n, void *stream, CclError *error)
{
  CclMapContactsParameters p = {.width = width, .height = height, .depth = depth};

  if (!device || !contacts || !n || capacity < 1 || capacity > CUDACCL_MAX_CONTACTS)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "a device and memory for 1…%u pairs are needed", CUDACCL_MAX_CONTACTS);
  CclStatus status = describe (&p, labels, connectivity, capacity, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = run (device, &p, stream, contacts, n, error);
  ccl_cuda_device_leave (device);
  return status;
}
