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

static const CountingImage *
find_image (const char *file)
{
  for (size_t i = 0; i < n_counting_images; i++)
    if (!strcmp (counting_images[i].file, file))
      return &counting_images[i];
  return NULL;
}

CclStatus
access_count (CclCudaLabelling *labelling, CUstream stream, AccessCount *counts, CclError *error)
{
  const CclCudaDriver *driver = labelling->device->driver;
  const char *file = labelling->algorithm->file;
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
    status = count_steps (labelling, counters, stream, counts, error);
  driver->cuStreamSynchronize (stream);
  memcpy (labelling->functions, usual, sizeof usual);
  driver->cuModuleUnload (module);
  return status;
}

/* A file of kernels whose place in the device the counting ones take for a while. */
typedef struct Exchange {
  const CountingImage *image;
  CUmodule module, usual;
  size_t slot; /* of the device's modules */
} Exchange;

static CclStatus
load_counting (const CclCudaDriver *driver, const char *file, Exchange *exchange, CclError *error)
{
  exchange->image = find_image (file);
  while (exchange->slot < ccl_cuda_n_images &&
         strcmp (ccl_cuda_images[exchange->slot].file, file) != 0)
    exchange->slot++;
  if (!exchange->image || exchange->slot == ccl_cuda_n_images)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED, "no counting kernels of %s", file);
  return ccl_cuda_call (driver, error, cuModuleLoadData (&exchange->module, exchange->image->ptx));
}

/* Puts the counting kernels where the device looks for kernels, or takes them away again. */
static void
exchange_modules (CclCudaDevice *device, Exchange *exchanges, size_t n, bool counting)
{
  pthread_mutex_lock (&device->lock);
  for (size_t i = 0; i < n; i++) {
    CUmodule *place = &device->modules[exchanges[i].slot];
    if (counting)
      exchanges[i].usual = *place;
    *place = counting ? exchanges[i].module : exchanges[i].usual;
  }
  pthread_mutex_unlock (&device->lock);
}

/* Runs an engine on a frame that it has seen before, and reads the counters of all kernels. */
static CclStatus
count_frame (CclCudaDevice *device, CclCudaEngine *engine, const CclCudaInput *input,
    const CclLabels *labels, const Exchange *exchanges, size_t n_exchanges, CUstream stream,
    AccessCount *counts, guint *n_counts, CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  CclStatus status = engine->klass->queue (engine, input, labels, stream, error);

  *n_counts = 0;
  for (unsigned pass = 0; pass < 2; pass++) { /* clear, label, read */
    for (size_t i = 0; i < n_exchanges; i++)
      for (const char *const *kernel = exchanges[i].image->kernels; *kernel; kernel++) {
        AccessCount count = {.kernel = *kernel};
        CUdeviceptr counters;
        if (status == CCL_OK)
          status = find_counters (driver, exchanges[i].module, *kernel, &counters, error);
        if (status == CCL_OK)
          status = pass == 0 ? reset_counters (driver, counters, stream, error)
                             : read_counters (driver, counters, stream, &count, error);
        if (status == CCL_OK && pass == 1 && *n_counts == MAX_COUNTED_STEPS)
          status = ccl_error_set (error, CCL_ERROR_DEVICE, "more kernels than are counted");
        if (status == CCL_OK && pass == 1)
          counts[(*n_counts)++] = count;
      }
    if (pass == 0 && status == CCL_OK)
      status = engine->klass->queue (engine, input, labels, stream, error);
    if (status == CCL_OK)
      status = ccl_cuda_call (driver, error, cuStreamSynchronize (stream));
  }
  return status;
}

CclStatus
access_count_engine (CclCudaDevice *device, const CclAlgorithm *algorithm, const CclPlan *plan,
    const CclCudaInput *input, const CclLabels *labels, CUstream stream, AccessCount *counts,
    guint *n_counts, CclError *error)
{
  const CclCudaEngineClass *klass = algorithm->engine ? algorithm->engine : &ccl_cuda_steps_engine;
  const char *const files[] = {algorithm->file, "analysis"};
  const size_t n_files = algorithm->engine ? 1 : 2;
  Exchange exchanges[2] = {{0}};
  CclCudaEngine *engine = NULL;
  CclStatus status = CCL_OK;

  for (size_t i = 0; status == CCL_OK && i < n_files; i++)
    status = load_counting (device->driver, files[i], &exchanges[i], error);
  if (status == CCL_OK) {
    exchange_modules (device, exchanges, n_files, true);
    engine = klass->new (device, algorithm, plan, stream, error);
    exchange_modules (device, exchanges, n_files, false);
    status = engine ? CCL_OK : error->status;
  }
  if (status == CCL_OK)
    status = count_frame (
        device, engine, input, labels, exchanges, n_files, stream, counts, n_counts, error);
  device->driver->cuStreamSynchronize (stream);
  if (engine)
    klass->free (engine);
  for (size_t i = 0; i < n_files; i++)
    if (exchanges[i].module)
      device->driver->cuModuleUnload (exchanges[i].module);
  return status;
}
