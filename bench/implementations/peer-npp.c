/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NPP's headers are not needed to build: the functions used are declared here, as NPP's reference
 * manual describes them. */
#include "implementation-cuda.h"

#include <dlfcn.h>
#include <stdio.h>

typedef struct NppSize {
  int width, height;
} NppSize;

typedef struct NppVersion {
  int major, minor, build;
} NppVersion;

/* NppStreamContext: the device and the stream of a call. */
typedef struct NppContext {
  CUstream stream;
  int device;
  int n_multiprocessors;
  int threads_per_multiprocessor;
  int threads_per_block;
  size_t shared_memory_per_block;
  int capability_major, capability_minor;
  unsigned stream_flags;
  int reserved;
} NppContext;

enum { NORM_8 = 0, NORM_4 = 1 }; /* nppiNormInf, nppiNormL1 */

static struct {
  const NppVersion *(*get_version) (void);
  int (*get_scratch_size) (NppSize size, void *bytes);
  int (*label) (const uint8_t *frame, int frame_stride, uint32_t *labels, int label_stride,
      NppSize size, int norm, uint8_t *scratch, NppContext context);
} npp;

/* The newest of the versions that have the functions used here. */
static void *
open_library (const char *name)
{
  static const char *const endings[] = {".so", ".so.14", ".so.13", ".so.12", ".so.11"};
  void *library = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (endings) && !library; i++) {
    char file[32];
    snprintf (file, sizeof file, "lib%s%s", name, endings[i]);
    library = dlopen (file, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

const char *
peer_npp_version (void)
{
  static char version[32];

  if (!npp.get_version) {
    void *core = open_library ("nppc"), *filters = open_library ("nppif");
    if (!core || !filters)
      return NULL;
    *(void **)&npp.get_version = dlsym (core, "nppGetLibVersion");
    *(void **)&npp.get_scratch_size = dlsym (filters, "nppiLabelMarkersUFGetBufferSize_32u_C1R");
    *(void **)&npp.label = dlsym (filters, "nppiLabelMarkersUF_8u32u_C1R_Ctx");
    if (!npp.get_version || !npp.get_scratch_size || !npp.label)
      return NULL;
    snprintf (version, sizeof version, "NPP %d.%d.%d", npp.get_version ()->major,
        npp.get_version ()->minor, npp.get_version ()->build);
  }
  return *version ? version : NULL;
}

static NppSize
size_of (const CudaImplementation *cuda)
{
  return (NppSize){(int)cuda->input->width, (int)cuda->input->height};
}

CclStatus
peer_npp_allocate (CudaImplementation *cuda, CclError *error)
{
  /* The size is an int in some versions and a size_t in others; 0 above makes them the same. */
  uint64_t bytes = 0;

  if (npp.get_scratch_size (size_of (cuda), &bytes) || !bytes)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "NPP does not label this size");
  return ccl_cuda_device_allocate (cuda->device, bytes, &cuda->scratch, error);
}

static int
get_attribute (const CclCudaDevice *device, CUdevice_attribute attribute)
{
  int value = 0;
  device->driver->cuDeviceGetAttribute (&value, attribute, device->handle);
  return value;
}

CclStatus
peer_npp_queue (CudaImplementation *cuda, CclError *error)
{
  const CclCudaDevice *device = cuda->device;
  const NppContext context = {
      .stream = cuda->stream,
      .device = device->handle,
      .n_multiprocessors = device->n_multiprocessors,
      .threads_per_multiprocessor =
          get_attribute (device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
      .threads_per_block = get_attribute (device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .shared_memory_per_block =
          (size_t)get_attribute (device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
      .capability_major = device->compute_capability / 10,
      .capability_minor = device->compute_capability % 10,
      .stream_flags = CU_STREAM_NON_BLOCKING,
  };
  const int result = npp.label ((const uint8_t *)cuda->frame, (int)cuda->frame_stride,
      (uint32_t *)cuda->label_map, (int)cuda->label_stride, size_of (cuda),
      cuda->connectivity == 8 ? NORM_8 : NORM_4, (uint8_t *)cuda->scratch, context);

  if (result != 0)
    return ccl_error_set (error, CUDACCL_ERROR_DEVICE, "NPP gives status %d", result);
  return CUDACCL_OK;
}
