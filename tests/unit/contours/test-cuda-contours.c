/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks of contours on the GPU: with frames in host memory under /cuda-host-frames, in device
 * memory under /cuda-device-frames. Label maps are in device memory in both.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include "tests/unit/contours/contour-checks.h"
#include "cuda/driver/device.h"

#include <cudaccl/device.h>
#include <stdio.h>

static CclCudaDevice *device;

static CclContours *
contours_new (const CclContoursPlan *plan, CclError *error)
{
  return ccl_cuda_contours_new (device, plan, error);
}

/* Copies rows to memory of the device. Their number and the stride give the size. */
static void *
upload (const void *data, size_t size)
{
  CclError error = {CUDACCL_OK};
  void *memory = NULL;

  ccl_cuda_memory_new (device, size, &memory, &error);
  ccl_cuda_memory_upload (device, data, memory, size, &error);
  g_assert_cmpstr (error.message, ==, "");
  return memory;
}

static uint32_t planned_height;

static CclContours *
contours_new_noted (const CclContoursPlan *plan, CclError *error)
{
  planned_height = plan->height;
  return contours_new (plan, error);
}

static CclStatus
of_device_frame (CclContours *contours, const CclFrame *frame, const CclLabellerOptions *options,
    CclContourTable *table, CclError *error)
{
  void *memory = upload (frame->data, frame->stride * planned_height);
  CclFrame copy = *frame;

  copy.data = memory;
  copy.location = CUDACCL_LOCATION_DEVICE;
  const CclStatus status = ccl_contours_of_frame (contours, &copy, options, table, error);
  ccl_cuda_memory_free (device, &memory);
  return status;
}

static CclStatus
of_labels (CclContours *contours, const CclLabels *labels, CclContourTable *table, CclError *error)
{
  void *memory = upload (labels->data, labels->stride * planned_height);
  const CclLabels copy = {memory, labels->stride};
  const CclStatus status = ccl_contours_of_labels (contours, &copy, table, error);

  ccl_cuda_memory_free (device, &memory);
  return status;
}

/* The same bits as the CPU's, on the caller's stream, of a frame with long contours. */
static void
test_large_frames (void)
{
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;

  plan.width = 333;
  plan.height = 300;
  for (uint32_t i = 0; i < 4; i++) {
    Mask *mask = mask_new_from_noise (plan.width, plan.height, 1 + 4 * (i / 2), 55, i);
    const CclFrame frame = {.data = mask->pixels, .stride = plan.width};
    CclContourTable table, expected;
    plan.kind = (CclContourKind)(i % 2);
    CclContours *cpu = ccl_cpu_contours_new (&plan, NULL);
    CclContours *gpu = ccl_cuda_contours_new (device, &plan, NULL);
    g_assert_cmpint (ccl_contours_of_frame (cpu, &frame, &options, &expected, NULL), ==, 0);
    for (uint32_t again = 0; again < 2; again++) {
      g_assert_cmpint (ccl_contours_of_frame (gpu, &frame, &options, &table, NULL), ==, 0);
      g_assert_cmpuint (table.n_components, ==, expected.n_components);
      g_assert_cmpmem (table.rows, table.n_contours * sizeof *table.rows, expected.rows,
          expected.n_contours * sizeof *table.rows);
      g_assert_cmpmem (table.points, table.n_points * sizeof *table.points, expected.points,
          expected.n_points * sizeof *table.points);
    }
    ccl_contours_free (&cpu);
    ccl_contours_free (&gpu);
    mask_free (mask);
  }
}

static void
test_arguments (void)
{
  CclContoursPlan plan = CUDACCL_CONTOURS_PLAN_DEFAULT;

  g_assert_null (ccl_cuda_contours_new (device, &plan, NULL));
  plan.width = plan.height = 1;
  g_assert_null (ccl_cuda_contours_new (NULL, &plan, NULL));
  CclContours *cpu = ccl_cpu_contours_new (&plan, NULL);
  g_assert_cmpint (ccl_cuda_contours_set_stream (cpu, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_cuda_contours_set_stream (NULL, NULL, NULL), ==, CUDACCL_ERROR_ARGUMENT);
  ccl_contours_free (&cpu);
}

int
main (int argc, char **argv)
{
  static const ContourBackend backends[] = {
      {"cuda-host-frames", contours_new_noted, ccl_contours_of_frame, of_labels, 97},
      {"cuda-device-frames", contours_new_noted, of_device_frame, of_labels, 101},
  };
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  device = ccl_cuda_device_open (0, &error);
  if (!device) {
    printf ("1..0 # SKIP no GPU: %s\n", error.message);
    return error.status == CUDACCL_ERROR_NOT_FOUND ? 0 : 1;
  }
  for (uint32_t i = 0; i < G_N_ELEMENTS (backends); i++)
    contour_checks_register (&backends[i]);
  g_test_add_func ("/cuda/contours/large-frames", test_large_frames);
  g_test_add_func ("/cuda/contours/arguments", test_arguments);
  const int result = g_test_run ();
  ccl_cuda_device_unref (&device);
  return result;
}
