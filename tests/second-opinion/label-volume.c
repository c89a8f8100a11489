/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels one volume, for comparison with other programs; on the CPU, or compiled with ON_GPU as 1
 * on the first GPU.
 *
 * usage: label-volume CONNECTIVITY WIDTH HEIGHT DEPTH <VOLUME >RESULT
 *
 * VOLUME is width × height × depth bytes. RESULT, all little endian: the number of components
 * (uint32), the label map (uint32 a voxel), then for each component label, voxels, x, y, z, width,
 * height, depth (uint32) and the centroid (three doubles).
 */
#include <stdio.h>
#include <stdlib.h>

#include <cudaccl/device.h>
#if ON_GPU
#include "cuda/driver/device.h"
#endif

static int
fail (const char *message)
{
  fprintf (stderr, "label-volume: %s\n", message);
  return EXIT_FAILURE;
}

#if ON_GPU

static CclCudaDevice *device;

static CclVolumeLabeller *
labeller_new (const CclVolumePlan *plan, CclError *error)
{
  device = ccl_cuda_device_open (-1, error);
  return device ? ccl_cuda_volume_labeller_new (device, plan, error) : NULL;
}

/* Runs with the label map in device memory and copies it to host memory. */
static CclStatus
run (CclVolumeLabeller *labeller, const CclVolume *volume, const CclLabellerOptions *options,
    const CclVolumeLabels *labels, size_t size, CclVolumeTable *table, CclError *error)
{
  CUdeviceptr memory = 0;
  CclVolumeLabels on_device = *labels;
  CclStatus status = ccl_cuda_device_enter (device, error);
  if (status == CUDACCL_OK)
    status = ccl_cuda_device_allocate (device, size, &memory, error);
  on_device.data = (void *)memory;
  if (status == CUDACCL_OK)
    status = ccl_volume_labeller_run (labeller, volume, options, &on_device, table, error);
  if (status == CUDACCL_OK)
    status =
        ccl_cuda_call (device->driver, error, cuMemcpyDtoHAsync (labels->data, memory, size, NULL));
  if (status == CUDACCL_OK)
    status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (NULL));
  ccl_cuda_device_release (device, &memory);
  return status;
}

#else

static CclVolumeLabeller *
labeller_new (const CclVolumePlan *plan, CclError *error)
{
  return ccl_cpu_volume_labeller_new (plan, error);
}

static CclStatus
run (CclVolumeLabeller *labeller, const CclVolume *volume, const CclLabellerOptions *options,
    const CclVolumeLabels *labels, size_t size, CclVolumeTable *table, CclError *error)
{
  return ccl_volume_labeller_run (labeller, volume, options, labels, table, error);
}

#endif

int
main (int argc, char **argv)
{
  if (argc != 5)
    return fail ("usage: label-volume CONNECTIVITY WIDTH HEIGHT DEPTH <VOLUME >RESULT");

  CclVolumePlan plan = {
      .width = (uint32_t)strtoul (argv[2], NULL, 10),
      .height = (uint32_t)strtoul (argv[3], NULL, 10),
      .depth = (uint32_t)strtoul (argv[4], NULL, 10),
      .connectivity = (CclVolumeConnectivity)strtoul (argv[1], NULL, 10),
  };
  const size_t row = plan.width, slice = row * plan.height, n_voxels = slice * plan.depth;
  plan.max_components = (uint32_t)(n_voxels / 2 + 1);

  CclError error;
  CclVolumeLabeller *labeller = labeller_new (&plan, &error);
  if (!labeller)
    return fail (error.message);

  uint8_t *voxels = malloc (n_voxels);
  uint32_t *labels = malloc (n_voxels * sizeof *labels);
  if (!voxels || !labels)
    return fail ("out of memory");
  if (fread (voxels, 1, n_voxels, stdin) != n_voxels)
    return fail ("the volume is shorter than its size");

  const CclVolume volume = {voxels, row, slice};
  const CclVolumeLabels map = {labels, 4 * row, 4 * slice};
  const CclLabellerOptions options = {0};
  CclVolumeTable table;
  if (run (labeller, &volume, &options, &map, n_voxels * sizeof *labels, &table, &error) !=
      CUDACCL_OK)
    return fail (error.message);

  size_t written = fwrite (&table.n_components, sizeof table.n_components, 1, stdout);
  written += fwrite (labels, sizeof *labels, n_voxels, stdout);
  for (uint32_t i = 0; i < table.n_rows; i++) {
    const CclVolumeComponent *c = &table.rows[i];
    const uint32_t whole[8] = {
        c->label, c->n_voxels, c->x, c->y, c->z, c->width, c->height, c->depth};
    const double centroid[3] = {c->centroid_x, c->centroid_y, c->centroid_z};
    written += fwrite (whole, sizeof whole, 1, stdout);
    written += fwrite (centroid, sizeof centroid, 1, stdout);
  }
  if (written != 1 + n_voxels + 2 * (size_t)table.n_rows || fflush (stdout) != 0)
    return fail ("could not write the result");

  free (labels);
  free (voxels);
  ccl_volume_labeller_free (&labeller);
  return EXIT_SUCCESS;
}
