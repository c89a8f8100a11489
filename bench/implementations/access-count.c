/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the accesses to global memory that kernels execute, with kernels that count-accesses.py
 * has instrumented. */
#include "images.h"
#include "implementation-cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_IMAGES = 2 };

/* A loaded image whose module is exchanged for one that counts. */
typedef struct Exchange {
  const CountingImage *image;
  CUmodule counting;
  CclCudaModule *place; /* of the device */
} Exchange;

static CclStatus
load_counting (
    CclCudaDevice *device, const CclCudaImage *usual, Exchange *exchange, CclError *error)
{
  const CountingImage *image = counting_images;

  while (image->file && strcmp (image->file, usual->file))
    image++;
  if (!image->file)
    return ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "no counting kernels of %s", usual->file);
  exchange->image = image;
  TRY (ccl_cuda_device_load (device, usual, &exchange->place, error));
  return ccl_cuda_call (device->driver, error, cuModuleLoadData (&exchange->counting, image->ptx));
}

/* Swaps the modules in which the device looks up kernels and the counting ones. */
static void
exchange_modules (CclCudaDevice *device, Exchange exchanges[MAX_IMAGES])
{
  pthread_mutex_lock (&device->lock);
  for (unsigned i = 0; i < MAX_IMAGES && exchanges[i].counting; i++) {
    CUmodule module = exchanges[i].place->module;
    exchanges[i].place->module = exchanges[i].counting;
    exchanges[i].counting = module;
  }
  pthread_mutex_unlock (&device->lock);
}

/* Where the counters of a kernel lie. */
static CclStatus
find_counters (const CclCudaDriver *driver, CUmodule module, const char *kernel,
    CUdeviceptr *counters, CclError *error)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  CUresult (*get_global) (CUdeviceptr *, size_t *, CUmodule, const char *) =
      library ? dlsym (library, "cuModuleGetGlobal_v2") : NULL;
  char name[128];
  size_t size;

  if (library)
    dlclose (library); /* the driver itself stays loaded */
  if (!get_global)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "the driver has no cuModuleGetGlobal");
  snprintf (name, sizeof name, "%s_accesses", kernel);
  return ccl_cuda_result (
      driver, get_global (counters, &size, module, name), "cuModuleGetGlobal", error);
}

/* Resets the counters of all kernels, or reads them. */
static CclStatus
visit_counters (CudaImplementation *cuda, const Exchange exchanges[MAX_IMAGES], bool reads,
    AccessCount *counts, guint *n_counts, CclError *error)
{
  *n_counts = 0;
  for (unsigned i = 0; i < MAX_IMAGES && exchanges[i].counting; i++)
    for (const char *const *kernel = exchanges[i].image->kernels; *kernel; kernel++) {
      AccessCount *count = &counts[*n_counts];
      CUdeviceptr counters;
      if (++*n_counts > MAX_COUNTED_KERNELS)
        return ccl_error_set (error, CUDACCL_ERROR_DEVICE, "more kernels than are counted");
      TRY (find_counters (cuda->device->driver, exchanges[i].counting, *kernel, &counters, error));
      count->kernel = *kernel;
      if (reads)
        TRY_DRIVER (cuda, cuMemcpyDtoHAsync (count->n, counters, sizeof count->n, cuda->stream));
      else
        TRY_DRIVER (cuda, cuMemsetD8Async (counters, 0, sizeof count->n, cuda->stream));
      TRY_DRIVER (cuda, cuStreamSynchronize (cuda->stream));
    }
  return CUDACCL_OK;
}

/* Counts the second run: the first one includes work that is done only once. */
static CclStatus
count_run (CudaImplementation *cuda, const Exchange exchanges[MAX_IMAGES], AccessCount *counts,
    guint *n_counts, CclError *error)
{
  for (int run = 0; run < 2; run++) {
    TRY (visit_counters (cuda, exchanges, false, counts, n_counts, error));
    cuda->rounds.deadline = cuda->patience > 0 ? seconds_now () + cuda->patience : 0;
    TRY (cuda_queue (cuda, error));
  }
  return visit_counters (cuda, exchanges, true, counts, n_counts, error);
}

CclStatus
cuda_count_accesses (Implementation *implementation, AccessCount counts[MAX_COUNTED_KERNELS],
    guint *n_counts, CclError *error)
{
  CudaImplementation *cuda = (CudaImplementation *)implementation;
  const CclAlgorithm *algorithm = cuda->algorithm;
  Exchange exchanges[MAX_IMAGES] = {{0}};
  CclStatus status;

  if (!algorithm)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "not a kernel of this project");
  if (cuda->labeller && cuda_is_iterative (algorithm))
    return ccl_error_set (error, CUDACCL_ERROR_DEVICE,
        "accesses of an iterative algorithm are counted for raw labels only");
  ENTER (cuda);
  status = load_counting (cuda->device, algorithm->image, &exchanges[0], error);
  if (status == CUDACCL_OK && cuda->labeller && algorithm->steps[0].kernel)
    status = load_counting (cuda->device, &ccl_cuda_image_analysis, &exchanges[1], error);
  if (status == CUDACCL_OK) {
    /* What is made meanwhile has the counting kernels. */
    exchange_modules (cuda->device, exchanges);
    if (cuda->has_labelling)
      cuda_deallocate (cuda);
    status = cuda->labeller ? cuda_make_engine (cuda, error) : cuda_allocate (cuda, error);
    exchange_modules (cuda->device, exchanges);
  }
  if (status == CUDACCL_OK)
    status = count_run (cuda, exchanges, counts, n_counts, error);
  cuda->device->driver->cuStreamSynchronize (cuda->stream);
  cuda_free_engine (cuda);
  cuda_deallocate (cuda);
  for (unsigned i = 0; i < MAX_IMAGES; i++)
    if (exchanges[i].counting)
      cuda->device->driver->cuModuleUnload (exchanges[i].counting);
  return status;
}
