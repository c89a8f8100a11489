/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "access-count.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { READS, WRITES, ATOMICS, N_COUNTERS };

typedef CUresult (*GetGlobal) (CUdeviceptr *address, size_t *size, CUmodule module, const char *);

/* Where the counters of a kernel lie. */
static CclStatus
find_counters (const CclCudaDriver *driver, CUmodule module, const char *kernel,
    CUdeviceptr *counters, CclError *error)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  GetGlobal get_global = library ? (GetGlobal)dlsym (library, "cuModuleGetGlobal_v2") : NULL;
  char name[128];
  size_t size;

  if (library)
    dlclose (library); /* the driver itself stays loaded */
  if (!get_global)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED, "the driver has no cuModuleGetGlobal");
  snprintf (name, sizeof name, "%s_accesses", kernel);
  return ccl_cuda_result (
      driver, get_global (counters, &size, module, name), "cuModuleGetGlobal", error);
}

static CclStatus
reset_counters (const CclCudaDriver *driver, CUdeviceptr counters, CUstream stream, CclError *error)
{
  return ccl_cuda_call (
      driver, error, cuMemsetD8Async (counters, 0, N_COUNTERS * sizeof (uint64_t), stream));
}

static CclStatus
read_counters (const CclCudaDriver *driver, CUdeviceptr counters, CUstream stream,
    AccessCount *count, CclError *error)
{
  uint64_t values[N_COUNTERS];
  CclStatus status =
      ccl_cuda_call (driver, error, cuMemcpyDtoHAsync (values, counters, sizeof values, stream));

  if (status == CCL_OK)
    status = ccl_cuda_call (driver, error, cuStreamSynchronize (stream));
  if (status == CCL_OK) {
    count->reads = values[READS];
    count->writes = values[WRITES];
    count->atomics = values[ATOMICS];
  }
  return status;
}

/* The steps from first on that must run together: a repeated group, or one. */
static uint32_t
group_end (const CclCudaLabelling *labelling, uint32_t first)
{
  for (uint32_t i = first; i < labelling->n_steps; i++)
    if (labelling->steps[i].repeats && i + 1 - labelling->steps[i].repeats == first)
      return i + 1;
  return first + 1;
}

static CclStatus
count_steps (CclCudaLabelling *labelling, const CUdeviceptr *counters, CUstream stream,
    AccessCount *counts, CclError *error)
{
  const CclCudaDriver *driver = labelling->device->driver;
  CclStatus status = CCL_OK;

  for (uint32_t first = 0; status == CCL_OK && first < labelling->n_steps;) {
    const uint32_t end = group_end (labelling, first);
    for (uint32_t i = first; status == CCL_OK && i < end; i++)
      status = reset_counters (driver, counters[i], stream, error);
    if (status == CCL_OK)
      status = ccl_cuda_labelling_queue (labelling, first, end, stream, error);
    for (uint32_t i = first; status == CCL_OK && i < end; i++) {
      counts[i].kernel = labelling->steps[i].kernel;
      status = read_counters (driver, counters[i], stream, &counts[i], error);
    }
    first = end;
  }
  return status;
}

CclStatus
access_count (CclCudaLabelling *labelling, CUstream stream, AccessCount *counts, CclError *error)
{
  const CclCudaDriver *driver = labelling->device->driver;
  const char *file = labelling->algorithm->file;
  CUfunction usual[CCL_MAX_STEPS];
  CUdeviceptr counters[CCL_MAX_STEPS];
  const char *ptx = NULL;
  CUmodule module = NULL;
  CclStatus status;

  for (size_t i = 0; i < n_counting_images; i++)
    if (!strcmp (counting_images[i].file, file))
      ptx = counting_images[i].ptx;
  if (!ptx)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED, "no counting kernels of %s", file);
  status = ccl_cuda_call (driver, error, cuModuleLoadData (&module, ptx));
  if (status != CCL_OK)
    return status;

  memcpy (usual, labelling->functions, sizeof usual);
  for (uint32_t i = 0; status == CCL_OK && i < labelling->n_steps; i++) {
    status = find_counters (driver, module, labelling->steps[i].kernel, &counters[i], error);
    if (status == CCL_OK)
      status = ccl_cuda_call (driver, error,
          cuModuleGetFunction (&labelling->functions[i], module, labelling->steps[i].kernel));
  }
  if (status == CCL_OK)
    status = count_steps (labelling, counters, stream, counts, error);
  driver->cuStreamSynchronize (stream);
  memcpy (labelling->functions, usual, sizeof usual);
  driver->cuModuleUnload (module);
  return status;
}
