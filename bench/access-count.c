/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "access-count.h"

#include "images.h"
#include "implementation-cuda.h"

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

  TRY (ccl_cuda_call (driver, error, cuMemcpyDtoHAsync (values, counters, sizeof values, stream)));
  TRY (ccl_cuda_call (driver, error, cuStreamSynchronize (stream)));
  count->reads = values[READS];
  count->writes = values[WRITES];
  count->atomics = values[ATOMICS];
  return CCL_OK;
}

/* The end of the steps from first on that run together: the repeated steps, or one. */
static uint32_t
group_end (const CclCudaSequence *labelling, uint32_t first)
{
  const CclResearchAlgorithm *details = ccl_research_details (labelling->algorithm);
  const bool is_repeated = details && details->rounds.end && details->rounds.first == first;

  return is_repeated ? details->rounds.end : first + 1;
}

static CclStatus
count_steps (CclResearchRounds *rounds, CclCudaSequence *labelling, const CUdeviceptr *counters,
    CUstream stream, AccessCount *counts, CclError *error)
{
  const CclCudaDriver *driver = labelling->device->driver;

  for (uint32_t first = 0, end; first < labelling->n_steps; first = end) {
    end = group_end (labelling, first);
    for (uint32_t i = first; i < end; i++)
      TRY (reset_counters (driver, counters[i], stream, error));
    TRY (ccl_research_queue (rounds, labelling, first, end, stream, error));
    for (uint32_t i = first; i < end; i++) {
      counts[i].kernel = labelling->steps[i].kernel;
      TRY (read_counters (driver, counters[i], stream, &counts[i], error));
    }
  }
  return CCL_OK;
}

static const CountingImage *
find_image (const char *file)
{
  for (size_t i = 0; i < n_counting_images; i++)
    if (!strcmp (counting_images[i].file, file))
      return &counting_images[i];
  return NULL;
}

CclStatus
access_count (CclResearchRounds *rounds, CclCudaSequence *labelling, CUstream stream,
    AccessCount *counts, CclError *error)
{
  const CclCudaDriver *driver = labelling->device->driver;
  const char *file = labelling->algorithm->image->file;
  const CountingImage *image = find_image (file);
  CUfunction usual[CCL_MAX_STEPS];
  CUdeviceptr counters[CCL_MAX_STEPS];
  CUmodule module = NULL;
  CclStatus status;

  if (!image)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED, "no counting kernels of %s", file);
  status = ccl_cuda_call (driver, error, cuModuleLoadData (&module, image->ptx));
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
    status = count_steps (rounds, labelling, counters, stream, counts, error);
  driver->cuStreamSynchronize (stream);
  memcpy (labelling->functions, usual, sizeof usual);
  driver->cuModuleUnload (module);
  return status;
}

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
  exchange->image = find_image (usual->file);
  if (!exchange->image)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED, "no counting kernels of %s", usual->file);
  TRY (ccl_cuda_device_load (device, usual, &exchange->place, error));
  return ccl_cuda_call (
      device->driver, error, cuModuleLoadData (&exchange->counting, exchange->image->ptx));
}

/* Swaps the modules in which the device looks up kernels and the counting ones. */
static void
exchange_modules (CclCudaDevice *device, Exchange *exchanges, size_t n)
{
  pthread_mutex_lock (&device->lock);
  for (size_t i = 0; i < n; i++) {
    CUmodule module = exchanges[i].place->module;
    exchanges[i].place->module = exchanges[i].counting;
    exchanges[i].counting = module;
  }
  pthread_mutex_unlock (&device->lock);
}

/* Resets the counters of all kernels, or reads them. */
static CclStatus
visit_counters (const CclCudaDriver *driver, const Exchange *exchanges, size_t n_exchanges,
    bool reads, CUstream stream, AccessCount *counts, guint *n_counts, CclError *error)
{
  *n_counts = 0;
  for (size_t i = 0; i < n_exchanges; i++)
    for (const char *const *kernel = exchanges[i].image->kernels; *kernel; kernel++) {
      AccessCount count = {.kernel = *kernel};
      CUdeviceptr counters;
      if (*n_counts == MAX_COUNTED_STEPS)
        return ccl_error_set (error, CCL_ERROR_DEVICE, "more kernels than are counted");
      TRY (find_counters (driver, exchanges[i].counting, *kernel, &counters, error));
      TRY (reads ? read_counters (driver, counters, stream, &count, error)
                 : reset_counters (driver, counters, stream, error));
      counts[(*n_counts)++] = count;
    }
  return CCL_OK;
}

/* Counts the second frame of an engine: the first one includes work that is done only once. */
static CclStatus
count_frame (CclCudaDevice *device, CclCudaEngine *engine, const CclCudaInput *input,
    const CclLabels *labels, const Exchange *exchanges, size_t n_exchanges, CUstream stream,
    AccessCount *counts, guint *n_counts, CclError *error)
{
  const CclCudaDriver *driver = device->driver;

  TRY (engine->klass->queue (engine, input, labels, stream, error));
  TRY (visit_counters (driver, exchanges, n_exchanges, false, stream, counts, n_counts, error));
  TRY (engine->klass->queue (engine, input, labels, stream, error));
  return visit_counters (driver, exchanges, n_exchanges, true, stream, counts, n_counts, error);
}

CclStatus
access_count_engine (CclCudaDevice *device, const CclAlgorithm *algorithm, const CclPlan *plan,
    const CclCudaInput *input, const CclLabels *labels, CUstream stream, AccessCount *counts,
    guint *n_counts, CclError *error)
{
  const CclCudaImage *const images[] = {algorithm->image, &ccl_cuda_image_analysis};
  const size_t n_images = algorithm->steps[0].kernel ? 2 : 1;
  Exchange exchanges[2] = {{0}};
  CclCudaEngine *engine = NULL;
  CclStatus status = CCL_OK;

  for (size_t i = 0; status == CCL_OK && i < n_images; i++)
    status = load_counting (device, images[i], &exchanges[i], error);
  if (status == CCL_OK) {
    exchange_modules (device, exchanges, n_images);
    engine = algorithm->engine->new (device, algorithm, plan, stream, error);
    exchange_modules (device, exchanges, n_images);
    status = engine ? CCL_OK : error->status;
  }
  if (status == CCL_OK)
    status = count_frame (
        device, engine, input, labels, exchanges, n_images, stream, counts, n_counts, error);
  device->driver->cuStreamSynchronize (stream);
  if (engine)
    engine->klass->free (engine);
  for (size_t i = 0; i < n_images; i++)
    if (exchanges[i].counting)
      device->driver->cuModuleUnload (exchanges[i].counting);
  return status;
}
