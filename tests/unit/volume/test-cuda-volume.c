/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks shared by all labellers of volumes, on the GPU: with volumes in host memory under
 * /cuda-host-volumes, in device memory under /cuda-device-volumes; and tests of the GPU's streams.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include <cudaccl/device.h>
#include "cuda/driver/device.h"
#include "tests/unit/volume/volume-checks.h"
#include "core/volume/volume-class.h"

static CclCudaDevice *device;

static CclVolumeLabeller *
labeller_new (const CclVolumePlan *plan, CclError *error)
{
  return ccl_cuda_volume_labeller_new (device, plan, error);
}

static void
check (CclStatus status, const CclError *error)
{
  if (status != CUDACCL_OK)
    g_error ("%s", error->message);
}

/* A copy in device memory, byte for byte. offset: bytes by which it misses the alignment of an
 * allocation. Release the allocation. */
static CUdeviceptr
upload (const void *data, size_t size, size_t offset, CUdeviceptr *allocation)
{
  CclError error = {CUDACCL_OK};
  check (ccl_cuda_device_allocate (device, size + offset, allocation, &error), &error);
  check (ccl_cuda_call (
             device->driver, &error, cuMemcpyHtoDAsync (*allocation + offset, data, size, NULL)),
      &error);
  check (ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)), &error);
  return *allocation + offset;
}

static void
download (void *data, CUdeviceptr memory, size_t size)
{
  CclError error = {CUDACCL_OK};
  check (
      ccl_cuda_call (device->driver, &error, cuMemcpyDtoHAsync (data, memory, size, NULL)), &error);
  check (ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)), &error);
}

/* Bytes from the first voxel to the last. */
static size_t
extent (const CclVolumePlan *plan, size_t row_stride, size_t slice_stride, size_t voxel)
{
  return slice_stride * (plan->depth - 1) + row_stride * (plan->height - 1) + voxel * plan->width;
}

/* Runs with the label map in device memory and brings it back, padding included. */
static CclStatus
run_on_host_volume (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error)
{
  if (!labels)
    return ccl_volume_labeller_run (labeller, volume, options, NULL, table, error);
  const size_t size =
      extent (&labeller->plan, labels->row_stride, labels->slice_stride, sizeof (uint32_t));
  CUdeviceptr allocation;
  CclVolumeLabels on_device = *labels;
  on_device.data = (void *)upload (labels->data, size, 0, &allocation);
  CclStatus status = ccl_volume_labeller_run (labeller, volume, options, &on_device, table, error);
  download (labels->data, allocation, size);
  ccl_cuda_device_release (device, &allocation);
  return status;
}

/* The same with the volume in device memory, at a multiple of 16 bytes or anywhere. */
static CclStatus
run_on_device_volume (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error)
{
  const size_t size = extent (&labeller->plan, volume->row_stride, volume->slice_stride, 1);
  CUdeviceptr allocation;
  CclVolume on_device = *volume;
  on_device.data = (void *)upload (volume->data, size, options->threshold % 3, &allocation);
  on_device.location = CUDACCL_LOCATION_DEVICE;
  CclStatus status = run_on_host_volume (labeller, &on_device, options, labels, table, error);
  ccl_cuda_device_release (device, &allocation);
  return status;
}

static void
test_no_device (void)
{
  const CclVolumePlan plan = {.width = 2,
      .height = 2,
      .depth = 2,
      .connectivity = CUDACCL_CONNECTIVITY_6,
      .max_components = 1};
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cuda_volume_labeller_new (NULL, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_null (ccl_cuda_volume_labeller_new (NULL, &plan, NULL));
}

/* A run is queued on the caller's stream, and after a change to NULL on the labeller's own. */
static void
test_stream_of_the_caller (void)
{
  const CclVolumePlan plan = {.width = 64,
      .height = 64,
      .depth = 64,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 1};
  const size_t size = (size_t)plan.width * plan.height * plan.depth;
  const CclLabellerOptions options = {0};
  CclError error = {CUDACCL_OK};
  CUstream stream = NULL;
  CUdeviceptr memory = 0;
  CclVolumeTable table;
  CclVolumeLabeller *labeller = labeller_new (&plan, &error);
  g_assert_nonnull (labeller);
  check (ccl_cuda_call (device->driver, &error, cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING)),
      &error);
  check (ccl_cuda_device_allocate (device, size, &memory, &error), &error);
  const CclVolume volume = {
      (void *)memory, plan.width, plan.width * plan.height, CUDACCL_LOCATION_DEVICE};

  for (int with_stream = 1; with_stream >= 0; with_stream--) {
    ccl_cuda_volume_labeller_set_stream (labeller, with_stream ? stream : NULL, NULL);
    for (int value = 1; value >= 0; value--) {
      check (ccl_cuda_call (device->driver, &error,
                 cuMemsetD8Async (memory, (unsigned char)value, size, with_stream ? stream : NULL)),
          &error);
      check (ccl_volume_labeller_run (labeller, &volume, &options, NULL, &table, &error), &error);
      g_assert_cmpuint (table.n_components, ==, (guint)value);
    }
  }
  ccl_volume_labeller_free (&labeller);
  ccl_cuda_device_release (device, &memory);
  device->driver->cuStreamDestroy (stream);
}

int
main (int argc, char **argv)
{
  static const VolumeBackend host = {
      .name = "cuda-host-volumes",
      .labeller_new = labeller_new,
      .run = run_on_host_volume,
  };
  static const VolumeBackend on_device = {
      .name = "cuda-device-volumes",
      .labeller_new = labeller_new,
      .run = run_on_device_volume,
  };
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  g_test_set_nonfatal_assertions ();
  device = ccl_cuda_device_open (-1, &error);
  if (!device) {
    printf ("1..0 # SKIP %s\n", error.message);
    return 0;
  }
  check (ccl_cuda_device_enter (device, &error), &error);
  volume_checks_register (&host);
  volume_checks_register (&on_device);
  g_test_add_func ("/cuda-volume/no-device", test_no_device);
  g_test_add_func ("/cuda-volume/stream-of-the-caller", test_stream_of_the_caller);
  const int status = g_test_run ();
  volume_checks_clear ();
  ccl_cuda_device_leave (device);
  ccl_cuda_device_unref (&device);
  return status;
}
