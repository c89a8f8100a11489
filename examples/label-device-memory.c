/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels a frame in the memory of an NVIDIA GPU with libcudaccl, on the application's stream,
 * without GStreamer, and prints its components. The label map stays in the GPU's memory.
 *
 * Build: cc -o label-device-memory label-device-memory.c $(pkg-config --cflags --libs cudaccl) \
 *          -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda
 * Usage: label-device-memory */
#include <cuda.h>
#include <cudaccl/device.h>
#include <stdio.h>

#define WIDTH 320
#define HEIGHT 240

int
main (void)
{
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclTable table;
  CclError error;
  CclLabeller *labeller = NULL;
  CUcontext context;
  CUstream stream;
  CUdeviceptr pixels, labels;
  size_t pitch;
  uint32_t label;

  plan.width = WIDTH;
  plan.height = HEIGHT;
  options.threshold = 127;
  CclCudaDevice *device = ccl_cuda_device_open (0, &error); /* in its primary context */
  if (device)
    labeller = ccl_cuda_labeller_new (device, &plan, &error);
  if (!labeller)
    return fprintf (stderr, "label-device-memory: %s\n", error.message), 1;
  /* A frame in device memory with two rectangles, drawn by work queued on our stream. */
  cuDevicePrimaryCtxRetain (&context, 0);
  cuCtxSetCurrent (context);
  cuStreamCreate (&stream, CU_STREAM_NON_BLOCKING);
  cuMemAlloc (&labels, WIDTH * HEIGHT * sizeof (label));
  cuMemAllocPitch (&pixels, &pitch, WIDTH, HEIGHT, 4);
  cuMemsetD2D8Async (pixels, pitch, 0, WIDTH, HEIGHT, stream);
  cuMemsetD2D8Async (pixels + 20 * pitch + 100, pitch, 255, 40, 30, stream);
  cuMemsetD2D8Async (pixels + 50 * pitch + 10, pitch, 255, 25, 60, stream);

  /* The labeller's work is queued on the same stream, so no synchronisation is needed. */
  ccl_cuda_labeller_set_stream (labeller, stream, NULL);
  CclFrame frame = {(const void *)pixels, pitch, CUDACCL_LOCATION_DEVICE};
  CclLabels map = {(void *)labels, WIDTH * sizeof (label)};
  if (ccl_labeller_run (labeller, &frame, &options, &map, &table, &error) != CUDACCL_OK)
    return fprintf (stderr, "label-device-memory: %s\n", error.message), 1;
  for (const CclComponent *c = table.rows; c < table.rows + table.n_rows; c++)
    printf ("component %u: %u pixels, %u×%u at (%u, %u)\n", c->label, c->area, c->width, c->height,
        c->x, c->y);
  cuMemcpyDtoH (&label, labels + (70 * WIDTH + 20) * sizeof (label), sizeof (label));
  printf ("the label of the pixel (20, 70) is %u\n", label);
  ccl_labeller_free (&labeller);
  ccl_cuda_device_unref (&device);
  return 0;
}
