/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies arrays in device memory whose elements are at any distances. */
#include <cudaccl/device.h>

#include "array-copy-parameters.h"
#include "cuda/driver/job.h"
#include "images.h"

#include <string.h>

/* Fills the parameters; false if the array is larger than memory. */
static bool
describe (CclArrayCopyParameters *p, const CclCudaArrayCopy *copy)
{
  uintptr_t alignment = (uintptr_t)copy->from | (uintptr_t)copy->to | copy->item_bytes;

  *p = (CclArrayCopyParameters){.from = copy->from, .to = copy->to, .n = 1};
  for (int d = 0; d < 4; d++) {
    if (__builtin_mul_overflow (p->n, copy->shape[d], &p->n) || p->n > PTRDIFF_MAX)
      return false;
    alignment |= (uintptr_t)copy->from_strides[d] | (uintptr_t)copy->to_strides[d];
  }
  memcpy (p->shape, copy->shape, sizeof p->shape);
  memcpy (p->from_strides, copy->from_strides, sizeof p->from_strides);
  memcpy (p->to_strides, copy->to_strides, sizeof p->to_strides);
  p->unit_bytes = (uint32_t)(alignment & -alignment);
  p->n_units = copy->item_bytes / p->unit_bytes;
  return true;
}

static CclStatus
check (const CclCudaDevice *device, const CclCudaArrayCopy *copy, CclError *error)
{
  if (!device || !copy)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a device and a copy are needed");
  const uint32_t size = copy->item_bytes;
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "an element has 1, 2, 4 or 8 bytes, not %u", size);
  return CUDACCL_OK;
}

static CclStatus
queue (const CclCudaJob *job, void *object, CclError *error)
{
  static const CclCudaLoop loop = {
      &ccl_cuda_image_array_copy, CUDACCL_ARRAY_COPY_THREADS, CUDACCL_ARRAY_COPY_BLOCKS};
  CclArrayCopyParameters *p = object;

  return ccl_cuda_job_loop (job, &loop, "ccl_array_copy", p->n, p, error);
}

CclStatus
ccl_cuda_array_copy (
    CclCudaDevice *device, const CclCudaArrayCopy *copy, void *stream, CclError *error)
{
  CclArrayCopyParameters p;
  CclStatus status = check (device, copy, error);

  if (status != CUDACCL_OK)
    return status;
  if (!describe (&p, copy))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the array is larger than memory");
  if (p.n == 0)
    return CUDACCL_OK;
  if (!p.from || !p.to)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "source and destination must not be NULL");
  return ccl_cuda_job_run (device, stream, 0, queue, &p, error);
}
