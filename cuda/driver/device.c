/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log-message.h"

static const int least_compute_capability = 75;

/* All devices that are open, linked by next_open. */
static CclCudaDevice *open_devices;
static pthread_mutex_t open_devices_lock = PTHREAD_MUTEX_INITIALIZER;

static void
add_open_device (CclCudaDevice *device)
{
  ccl_log (CUDACCL_LOG_INFO, "opened %s, compute capability %d.%d", device->name,
      device->compute_capability / 10, device->compute_capability % 10);
  pthread_mutex_lock (&open_devices_lock);
  device->next_open = open_devices;
  open_devices = device;
  pthread_mutex_unlock (&open_devices_lock);
}

/* Takes a device out of the list. A device that failed to open is not in the list. */
static void
remove_open_device (CclCudaDevice *device)
{
  pthread_mutex_lock (&open_devices_lock);
  CclCudaDevice **link = &open_devices;
  while (*link && *link != device)
    link = &(*link)->next_open;
  if (*link)
    *link = device->next_open;
  pthread_mutex_unlock (&open_devices_lock);
}

static int
count_open_devices (CUdevice handle)
{
  int count = 0;
  pthread_mutex_lock (&open_devices_lock);
  for (const CclCudaDevice *device = open_devices; device; device = device->next_open)
    count += device->handle == handle;
  pthread_mutex_unlock (&open_devices_lock);
  return count;
}

/* 90 for compute capability 9.0. */
static CclStatus
read_compute_capability (
    const CclCudaDriver *driver, CUdevice handle, int *compute_capability, CclError *error)
{
  int major = 0, minor = 0;
  CclStatus status = ccl_cuda_call (driver, error,
      cuDeviceGetAttribute (&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuDeviceGetAttribute (&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle));
  *compute_capability = 10 * major + minor;
  return status;
}

/* Reads the attributes of the device. Its context must be current. */
static CclStatus
read_attributes (CclCudaDevice *device, CclError *error)
{
  const CclCudaDriver *driver = device->driver;
  CclStatus status =
      read_compute_capability (driver, device->handle, &device->compute_capability, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (driver, error,
        cuDeviceGetAttribute (
            &device->n_multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device->handle));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (
        driver, error, cuDeviceGetName (device->name, sizeof device->name, device->handle));
  if (status != CUDACCL_OK)
    return status;
  if (device->compute_capability < least_compute_capability)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "%s has compute capability %d.%d; %d.%d is the least that works", device->name,
        device->compute_capability / 10, device->compute_capability % 10,
        least_compute_capability / 10, least_compute_capability % 10);
  return CUDACCL_OK;
}

static CclCudaDevice *
device_new (const CclCudaDriver *driver, CclError *error)
{
  CclCudaDevice *device = calloc (1, sizeof *device);
  if (!device) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a CUDA device");
    return NULL;
  }
  device->driver = driver;
  device->checks_capture = true;
  atomic_init (&device->references, 1);
  pthread_mutex_init (&device->lock, NULL);
  return device;
}

/* The number of devices, which may be 0; -1 after an error. */
static int
count_devices (const CclCudaDriver *driver, CclError *error)
{
  int n_devices = 0;
  if (ccl_cuda_call (driver, error, cuDeviceGetCount (&n_devices)) != CUDACCL_OK)
    return -1;
  return n_devices;
}

int
ccl_cuda_count_devices (CclError *error)
{
  const CclCudaDriver *driver = ccl_cuda_driver (error);
  const int n_devices = driver ? count_devices (driver, error) : -1;
  if (n_devices != 0)
    return n_devices;
  ccl_error_set (error, CUDACCL_ERROR_NOT_FOUND, "the NVIDIA driver here finds no device");
  return -1;
}

CclCudaDevice *
ccl_cuda_device_open (int number, CclError *error)
{
  const CclCudaDriver *driver = ccl_cuda_driver (error);
  if (!driver)
    return NULL;
  const int count = count_devices (driver, error);
  if (count < 0)
    return NULL;
  if (number < -1 || number >= count || count == 0) {
    ccl_error_set (error, CUDACCL_ERROR_NOT_FOUND, "there is no CUDA device %d; devices found: %d",
        number, count);
    return NULL;
  }
  CclCudaDevice *device = device_new (driver, error);
  if (!device)
    return NULL;
  CclStatus status =
      ccl_cuda_call (driver, error, cuDeviceGet (&device->handle, number < 0 ? 0 : number));
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_call (driver, error, cuDevicePrimaryCtxRetain (&device->context, device->handle));
  if (status == CUDACCL_OK) {
    device->is_primary = true;
    status = read_attributes (device, error);
  }
  if (status == CUDACCL_OK)
    add_open_device (device);
  else
    ccl_cuda_device_unref (&device);
  return device;
}

CclCudaDevice *
ccl_cuda_device_open_in_context (void *context, CclError *error)
{
  const CclCudaDriver *driver = ccl_cuda_driver (error);
  if (!driver)
    return NULL;
  if (!context) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a CUDA context is needed");
    return NULL;
  }
  CclCudaDevice *device = device_new (driver, error);
  if (!device)
    return NULL;
  device->context = context;
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status == CUDACCL_OK) {
    status = ccl_cuda_call (driver, error, cuCtxGetDevice (&device->handle));
    if (status == CUDACCL_OK)
      status = read_attributes (device, error);
    ccl_cuda_device_leave (device);
  }
  if (status == CUDACCL_OK)
    add_open_device (device);
  else
    ccl_cuda_device_unref (&device);
  return device;
}

void
ccl_cuda_device_set_capture_check (CclCudaDevice *device, bool check)
{
  if (device)
    device->checks_capture = check;
}

int
ccl_cuda_find_least_used_device (CclError *error)
{
  const CclCudaDriver *driver = ccl_cuda_driver (error);
  const int n_devices = driver ? count_devices (driver, error) : -1;
  int least_used = -1, least_count = 0;

  if (n_devices < 0)
    return -1;
  for (int number = 0; number < n_devices; number++) {
    CUdevice handle;
    int compute_capability;
    if (ccl_cuda_call (driver, error, cuDeviceGet (&handle, number)) != CUDACCL_OK ||
        read_compute_capability (driver, handle, &compute_capability, error) != CUDACCL_OK)
      return -1;
    int count = count_open_devices (handle);
    if (compute_capability >= least_compute_capability && (least_used < 0 || count < least_count)) {
      least_used = number;
      least_count = count;
    }
  }
  if (least_used < 0)
    ccl_error_set (error, CUDACCL_ERROR_NOT_FOUND,
        "there is no CUDA device of compute capability %d.%d or later; devices found: %d",
        least_compute_capability / 10, least_compute_capability % 10, n_devices);
  return least_used;
}

CclCudaDevice *
ccl_cuda_device_ref (CclCudaDevice *device)
{
  if (device)
    atomic_fetch_add (&device->references, 1);
  return device;
}

void
ccl_cuda_device_unref (CclCudaDevice **handle)
{
  if (!handle || !*handle)
    return;
  CclCudaDevice *device = *handle;
  *handle = NULL;
  if (atomic_fetch_sub (&device->references, 1) > 1)
    return;
  remove_open_device (device);
  if (device->context && ccl_cuda_device_enter (device, NULL) == CUDACCL_OK) {
    for (CclCudaModule *module = device->modules; module; module = module->next)
      device->driver->cuModuleUnload (module->module);
    ccl_cuda_device_leave (device);
  }
  if (device->is_primary)
    device->driver->cuDevicePrimaryCtxRelease (device->handle);
  while (device->modules) {
    CclCudaModule *next = device->modules->next;
    free (device->modules);
    device->modules = next;
  }
  pthread_mutex_destroy (&device->lock);
  free (device);
}

const char *
ccl_cuda_device_name (const CclCudaDevice *device)
{
  return device ? device->name : NULL;
}

CclStatus
ccl_cuda_device_enter (CclCudaDevice *device, CclError *error)
{
  return ccl_cuda_call (device->driver, error, cuCtxPushCurrent (device->context));
}

void
ccl_cuda_device_leave (CclCudaDevice *device)
{
  CUcontext context;
  device->driver->cuCtxPopCurrent (&context);
}

CclStatus
ccl_cuda_device_abandon (CclCudaDevice *device, CUstream stream, CclError *error)
{
  device->driver->cuStreamSynchronize (stream);
  if (error)
    error->status = CUDACCL_ERROR_DEVICE;
  return CUDACCL_ERROR_DEVICE;
}

/* Loads an image; the lock is held. */
static CclStatus
add_module (
    CclCudaDevice *device, const CclCudaImage *image, CclCudaModule **added, CclError *error)
{
  CclCudaModule *module = calloc (1, sizeof *module);
  if (!module)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for a module");
  CclStatus status =
      ccl_cuda_call (device->driver, error, cuModuleLoadData (&module->module, image->data));
  if (status != CUDACCL_OK) {
    free (module);
    return status;
  }
  module->image = image;
  module->next = device->modules;
  *added = device->modules = module;
  return CUDACCL_OK;
}

CclStatus
ccl_cuda_device_load (
    CclCudaDevice *device, const CclCudaImage *image, CclCudaModule **module, CclError *error)
{
  CclStatus status = CUDACCL_OK;
  pthread_mutex_lock (&device->lock);
  *module = device->modules;
  while (*module && (*module)->image != image)
    *module = (*module)->next;
  if (!*module)
    status = add_module (device, image, module, error);
  pthread_mutex_unlock (&device->lock);
  return status;
}

CclStatus
ccl_cuda_device_find_kernel (CclCudaDevice *device, const CclCudaImage *image, const char *kernel,
    CUfunction *function, CclError *error)
{
  CclCudaModule *module;
  CclStatus status = ccl_cuda_device_load (device, image, &module, error);
  if (status != CUDACCL_OK)
    return status;
  CUresult result = device->driver->cuModuleGetFunction (function, module->module, kernel);
  return ccl_cuda_result (device->driver, result, kernel, error);
}

CclStatus
ccl_cuda_device_create_stream (CclCudaDevice *device, CUstream *stream, CclError *error)
{
  return ccl_cuda_call (device->driver, error, cuStreamCreate (stream, CU_STREAM_DEFAULT));
}

CclStatus
ccl_cuda_device_check_stream (CclCudaDevice *device, CUstream stream, CclError *error)
{
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!device->checks_capture)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_call (device->driver, error, cuStreamIsCapturing (stream, &capture));
  if (status == CUDACCL_OK && capture != CU_STREAM_CAPTURE_STATUS_NONE)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the stream is being captured: a run cannot become part of a CUDA graph");
  return status;
}

CclStatus
ccl_cuda_stream_check_capture (CclCudaDevice *device, void *stream, CclError *error)
{
  if (!device)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "device is NULL");
  if (!stream)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status != CUDACCL_OK)
    return status;
  status = ccl_cuda_device_check_stream (device, stream, error);
  ccl_cuda_device_leave (device);
  return status;
}

CclStatus
ccl_cuda_device_allocate (CclCudaDevice *device, size_t size, CUdeviceptr *memory, CclError *error)
{
  *memory = 0;
  if (size == 0)
    return CUDACCL_OK;
  CclStatus status = ccl_cuda_call (device->driver, error, cuMemAlloc (memory, size));
  if (status == CUDACCL_ERROR_NO_MEMORY)
    ccl_error_set (error, status, "%s has no %zu MiB of memory free (CUDA_ERROR_OUT_OF_MEMORY)",
        device->name, (size >> 20) + 1);
  return status;
}

CclStatus
ccl_cuda_device_allocate_pinned (
    CclCudaDevice *device, size_t size, void **host, CUdeviceptr *memory, CclError *error)
{
  *host = NULL;
  CclStatus status =
      ccl_cuda_call (device->driver, error, cuMemHostAlloc (host, size, CU_MEMHOSTALLOC_DEVICEMAP));
  if (status == CUDACCL_OK) {
    status = ccl_cuda_call (device->driver, error, cuMemHostGetDevicePointer (memory, *host, 0));
    if (status != CUDACCL_OK)
      ccl_cuda_device_release_pinned (device, host);
  }
  return status;
}

void
ccl_cuda_device_release (CclCudaDevice *device, CUdeviceptr *memory)
{
  if (*memory)
    device->driver->cuMemFree (*memory);
  *memory = 0;
}

void
ccl_cuda_device_release_pinned (CclCudaDevice *device, void **host)
{
  if (*host)
    device->driver->cuMemFreeHost (*host);
  *host = NULL;
}
