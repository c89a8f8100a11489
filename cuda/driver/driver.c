/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TEXT(name) #name
#define EXPANDED_TEXT(name) TEXT (name)

typedef struct Symbol {
  const char *name;
  size_t offset;
  bool core;
} Symbol;

static const Symbol symbols[] = {
#define CORE(name) {EXPANDED_TEXT (name), offsetof (CclCudaDriver, name), true},
#define OPTIONAL(name) {EXPANDED_TEXT (name), offsetof (CclCudaDriver, name), false},
    CUDACCL_CUDA_CORE_FUNCTIONS (CORE) CUDACCL_CUDA_OPTIONAL_FUNCTIONS (OPTIONAL)
#undef CORE
#undef OPTIONAL
};

static CclStatus
find_functions (void *library, CclCudaDriver *driver, CclError *error)
{
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *address = dlsym (library, symbols[i].name);
    if (!address && symbols[i].core)
      return ccl_error_set (error, CUDACCL_ERROR_NOT_FOUND,
          "the NVIDIA driver here is too old: libcuda.so.1 lacks %s", symbols[i].name);
    memcpy ((char *)driver + symbols[i].offset, &address, sizeof address);
  }
  return CUDACCL_OK;
}

static CclStatus
load_driver (CclCudaDriver *driver, CclError *error)
{
  /* dlopen() searches LD_LIBRARY_PATH first, where tests put the simulated driver. */
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return ccl_error_set (
        error, CUDACCL_ERROR_NOT_FOUND, "there is no NVIDIA driver here: %s", dlerror ());
  CclStatus status = find_functions (library, driver, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error, cuInit (0));
  if (status != CUDACCL_OK)
    dlclose (library);
  return status;
}

const CclCudaDriver *
ccl_cuda_driver (CclError *error)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static CclCudaDriver driver;
  static bool is_loaded;

  /* A failure is not stored: a driver may be installed, and a device may appear, while the
   * process runs. */
  pthread_mutex_lock (&lock);
  if (!is_loaded)
    is_loaded = load_driver (&driver, error) == CUDACCL_OK;
  const bool is_usable = is_loaded;
  pthread_mutex_unlock (&lock);
  return is_usable ? &driver : NULL;
}

CclStatus
ccl_cuda_result (const CclCudaDriver *driver, CUresult result, const char *call, CclError *error)
{
  const char *name = NULL, *description = NULL;
  CclStatus status;

  switch (result) {
  case CUDA_SUCCESS:
    return CUDACCL_OK;
  case CUDA_ERROR_OUT_OF_MEMORY:
    status = CUDACCL_ERROR_NO_MEMORY;
    break;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
    status = CUDACCL_ERROR_NOT_FOUND;
    break;
  default:
    status = CUDACCL_ERROR_DEVICE;
    break;
  }
  driver->cuGetErrorName (result, &name);
  driver->cuGetErrorString (result, &description);
  return ccl_error_set (error, status, "%s (%s) from %s", name ? name : "an unknown CUDA error",
      description ? description : "no description", call);
}
