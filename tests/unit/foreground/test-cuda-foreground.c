/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checks shared by all foreground methods, on the GPU, with frames in host memory and in device
 * memory; and tests of the GPU's streams and errors.
 *
 * Runs with the real libcuda.so.1 or the simulated one. Without a device it is skipped.
 */
#include "tests/unit/foreground/foreground-checks.h"
#include "core/label/labeller-class.h"

#include "core/foreground/foreground-class.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "cuda/driver/device.h"
#include "cuda/foreground/mog2/mog2-model.h"
#include "cuda/foreground/reduction/reduced-foreground.h"
#include "cuda/foreground/segmenter.h"

static CclCudaDevice *device;

/* A copy of host memory in device memory, at an offset from a multiple of 256 bytes. The context is
 * current. */
static CUdeviceptr
upload (const void *data, size_t size, size_t distance)
{
  CUdeviceptr memory = 0;
  CclError error = {CUDACCL_OK};
  if (ccl_cuda_device_allocate (device, distance + size, &memory, &error) != CUDACCL_OK ||
      ccl_cuda_call (device->driver, &error,
          cuMemcpyHtoDAsync (memory + distance, data, size, NULL)) != CUDACCL_OK ||
      ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)) != CUDACCL_OK)
    g_error ("%s", error.message);
  return memory + distance;
}

static void
download (void *data, CUdeviceptr memory, size_t size)
{
  CclError error = {CUDACCL_OK};
  if (ccl_cuda_call (device->driver, &error, cuMemcpyDtoHAsync (data, memory, size, NULL)) !=
          CUDACCL_OK ||
      ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL)) != CUDACCL_OK)
    g_error ("%s", error.message);
}

static void
release (CUdeviceptr memory, size_t distance)
{
  memory -= distance;
  ccl_cuda_device_release (device, &memory);
}

static CclForeground *
foreground_new (void *data, const CclForegroundPlan *plan, CclError *error)
{
  return ccl_cuda_foreground_new (device, plan, error);
}

/* A frame's chroma in device memory, in one or in two pieces. */
typedef struct DeviceChroma {
  CclChroma chroma;
  CUdeviceptr memory[2];
  size_t distance[2];
} DeviceChroma;

static DeviceChroma
upload_chroma (const CclForegroundPlan *plan, const CclChroma *chroma)
{
  const size_t width = (plan->width + (1u << chroma->shift_x) - 1) >> chroma->shift_x;
  const size_t height = (plan->height + chroma->shift_y) >> chroma->shift_y;
  const size_t size =
      chroma->u_stride * (height - 1) + (width - 1) * chroma->step + chroma->step / 2 + 1;
  const uint8_t *u = chroma->u, *v = chroma->v, *first = u < v || chroma->step == 1 ? u : v;
  DeviceChroma copy = {*chroma};

  if (!u)
    return copy;
  copy.distance[0] = (uintptr_t)first % 16;
  copy.memory[0] = upload (first, size, copy.distance[0]);
  copy.chroma.u = (void *)(copy.memory[0] + (CUdeviceptr)(u - first));
  if (chroma->step == 1) {
    copy.distance[1] = (uintptr_t)v % 16;
    copy.memory[1] = upload (v, size, copy.distance[1]);
    copy.chroma.v = (void *)copy.memory[1];
  } else
    copy.chroma.v = (void *)(copy.memory[0] + (CUdeviceptr)(v - first));
  return copy;
}

/* Frame, chroma and mask have the same alignment modulo 16 bytes on the device as in host memory.
 */
static CclStatus
run (CclForeground *foreground, const CclFrame *frame, bool frame_on_device,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  const CclForegroundPlan *plan = &foreground->plan;
  const size_t frame_distance = (uintptr_t)frame->data % 16;
  const size_t mask_distance = (uintptr_t)mask->data % 16;
  const size_t frame_size =
      frame->stride * (plan->height - 1) + (size_t)ccl_pixel_bytes (plan->format) * plan->width;
  const size_t mask_size = mask->stride * (plan->height - 1) + plan->width;
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  CclFrame own_frame = *frame;
  DeviceChroma chroma = {0};
  if (frame_on_device) {
    own_frame.data = (void *)upload (frame->data, frame_size, frame_distance);
    own_frame.location = CUDACCL_LOCATION_DEVICE;
    chroma = upload_chroma (plan, &frame->chroma);
    own_frame.chroma = chroma.chroma;
  }
  const CUdeviceptr mask_memory = upload (mask->data, mask_size, mask_distance);
  const CclMask own_mask = {(void *)mask_memory, mask->stride};
  CclStatus status = ccl_foreground_run (foreground, &own_frame, options, &own_mask, error);
  download (mask->data, mask_memory, mask_size);
  release (mask_memory, mask_distance);
  if (frame_on_device)
    release ((CUdeviceptr)own_frame.data, frame_distance);
  for (int i = 0; i < 2; i++)
    if (chroma.memory[i])
      release (chroma.memory[i], chroma.distance[i]);
  ccl_cuda_device_leave (device);
  return status;
}

static CclStatus
run_on_host_frame (void *data, CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  return run (foreground, frame, false, options, mask, error);
}

static CclStatus
run_on_device_frame (void *data, CclForeground *foreground, const CclFrame *frame,
    const CclForegroundOptions *options, const CclMask *mask, CclError *error)
{
  return run (foreground, frame, true, options, mask, error);
}

/* Copies the model of MOG2 to the host. */
static void *
download_gaussians (CclCudaSegmenter *segmenter)
{
  const CudaMog2 *mog2 = segmenter->model;
  const CclCudaDriver *driver = device->driver;
  void *model = g_malloc (mog2->size);
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (driver->cuStreamSynchronize (segmenter->runner.stream), ==, CUDA_SUCCESS);
  download (model, (CUdeviceptr)(uintptr_t)mog2->gaussians, mog2->size);
  ccl_cuda_device_leave (device);
  return model;
}

static void
read_model (void *data, CclForeground *foreground, const ModelState *state)
{
  const CclForegroundPlan *plan = &foreground->plan;
  CclForeground *inner = ccl_cuda_reduced_foreground_inner (foreground);
  CclCudaSegmenter *segmenter = ccl_cuda_segmenter_of (inner ? inner : foreground);
  const CudaMog2 *mog2 = segmenter->model;
  const size_t row_pixels = (size_t)mog2->parameters.row_groups * CUDACCL_FOREGROUND_PIXELS;
  const size_t plane_pixels = mog2->plane_groups * CUDACCL_FOREGROUND_PIXELS;
  const uint32_t *shapes = download_gaussians (segmenter);
  const uint16_t *weights = (const uint16_t *)(shapes + CUDACCL_MAX_MIXTURES * plane_pixels);
  const uint16_t *chroma = weights + CUDACCL_MAX_MIXTURES * plane_pixels;

  for (size_t k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    for (size_t y = 0; y < plan->height; y++) {
      for (size_t x = 0; x < plan->width; x++) {
        const size_t from = k * plane_pixels + y * row_pixels + x;
        const size_t to = (k * plan->height + y) * plan->width + x;
        state->weights[to] = weights[from];
        state->means[to] = (uint16_t)shapes[from];
        state->variances[to] = (uint16_t)(shapes[from] >> 16);
        state->chroma[to] = plan->has_chroma ? chroma[from] : CUDACCL_NO_CHROMA;
      }
    }
  }
  g_free ((void *)shapes);
}

/* A foreground method and a labeller share a stream: the labeller reads the mask without a
 * synchronisation, and frames that earlier work on the stream writes are complete when read. */
static void
test_shares_the_labellers_stream (void)
{
  const uint32_t width = 640, height = 48;
  const CclCudaDriver *driver = device->driver;
  const CclForegroundPlan plan = {
      .width = width, .height = height, .method = CUDACCL_FOREGROUND_OTSU};
  const CclLabellerPlan labeller_plan = {.width = width,
      .height = height,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 10};
  CclError error = {CUDACCL_OK};
  uint8_t *zeroes = g_malloc0 (width * height);
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  const CUdeviceptr frame = upload (zeroes, width * height, 0);
  const CUdeviceptr mask = upload (zeroes, width * height, 0);
  CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &labeller_plan, &error);
  CUstream stream = ccl_cuda_labeller_get_stream (labeller);

  ccl_cuda_foreground_set_stream (foreground, stream, NULL);
  for (uint32_t value = 2; value <= 20; value++) {
    const CclForegroundOptions options = {.denoise = value % 2 ? CUDACCL_DENOISE_MEDIAN_3 : 0};
    CclTable table = {0};
    driver->cuMemsetD8Async (frame, 1, width * height, stream);
    driver->cuMemsetD8Async (frame, value, width * value, stream);
    g_assert_cmpint (ccl_foreground_queue (foreground,
                         &(CclFrame){(void *)frame, width, CUDACCL_LOCATION_DEVICE}, &options,
                         &(CclMask){(void *)mask, width}, &error),
        ==, CUDACCL_OK);
    g_assert_cmpint (
        ccl_labeller_run (labeller, &(CclFrame){(void *)mask, width, CUDACCL_LOCATION_DEVICE},
            &(CclLabellerOptions){.threshold = 127}, NULL, &table, &error),
        ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_components, ==, 1);
    g_assert_cmpuint (table.rows[0].area, ==, width * value);
  }
  /* The labeller and its stream are freed first; the foreground must not use that stream then. */
  ccl_labeller_free (&labeller);
  g_assert_cmpint (ccl_foreground_wait (foreground, &error), ==, CUDACCL_OK);
  ccl_cuda_foreground_set_stream (foreground, NULL, NULL);
  g_assert_cmpint (
      ccl_foreground_run (foreground, &(CclFrame){(void *)frame, width, CUDACCL_LOCATION_DEVICE},
          &(CclForegroundOptions){0}, &(CclMask){(void *)mask, width}, &error),
      ==, CUDACCL_OK);
  ccl_foreground_free (&foreground);
  release (frame, 0);
  release (mask, 0);
  ccl_cuda_device_leave (device);
  g_free (zeroes);
}

/* Fills a frame with noise, on which a bright square moves from frame 4 on. */
static void
draw_square (uint8_t *pixels, uint32_t width, uint32_t height, uint32_t number, GRand *random)
{
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      const uint32_t from_left = x - 3 * number, from_top = y - 10;
      const bool is_square = number >= 4 && from_left < 40 && from_top < 24;
      pixels[y * width + x] = (uint8_t)(is_square ? 220 : g_rand_int_range (random, 98, 103));
    }
}

/* The bits that the kernels write to the memory of the host are those of the mask, with and without
 * reduction, closing and inversion, and of the frame alone that was queued after the call. */
static void
test_bits_are_those_of_the_mask (void)
{
  enum { WIDTH = 270, HEIGHT = 76, N_WORDS = 9 * HEIGHT + 1 };
  CclError error = {CUDACCL_OK};
  GRand *random = g_rand_new_with_seed (5);
  uint8_t *pixels = g_malloc0 (WIDTH * HEIGHT);
  uint32_t *bits = NULL, n_set = 0;
  CUdeviceptr bits_on_device;
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_cuda_device_allocate_pinned (
                       device, 4 * N_WORDS, (void **)&bits, &bits_on_device, &error),
      ==, CUDACCL_OK);
  const CUdeviceptr mask = upload (pixels, WIDTH * HEIGHT, 0);
  for (uint32_t reduction = 1; reduction <= 2; reduction++) {
    const CclForegroundPlan plan = {.width = WIDTH,
        .height = HEIGHT,
        .method = CUDACCL_FOREGROUND_CODEBOOK,
        .reduction = reduction};
    const uint32_t width = WIDTH / reduction, height = HEIGHT / reduction;
    const uint32_t row_words = (width + 31) / 32;
    CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
    for (uint32_t number = 0; number < 10; number++) {
      CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
      options.reduced_mask = true;
      options.invert = number == 6;
      options.closing_width = number == 7 ? 5 : 1;
      draw_square (pixels, WIDTH, HEIGHT, number, random);
      memset (bits, 0xa5, 4 * N_WORDS);
      g_assert_cmpint (
          ccl_cuda_foreground_copy_bits (foreground, number == 8 ? NULL : bits, &error), ==,
          CUDACCL_OK);
      const CclFrame frame = {pixels, WIDTH, CUDACCL_LOCATION_HOST};
      g_assert_cmpint (ccl_foreground_run (
                           foreground, &frame, &options, &(CclMask){(void *)mask, WIDTH}, &error),
          ==, CUDACCL_OK);
      download (pixels, mask, WIDTH * HEIGHT);
      for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
          const uint32_t bit = bits[y * row_words + x / 32] >> x % 32 & 1;
          if (number != 8)
            g_assert_cmpuint (bit, ==, pixels[y * WIDTH + x] == CUDACCL_MASK_FOREGROUND);
          n_set += bit;
        }
      g_assert_cmphex (bits[number == 8 ? 0 : row_words * height], ==, 0xa5a5a5a5);
    }
    g_assert_cmpuint (n_set, >, 500 * reduction);
    ccl_foreground_free (&foreground);
  }
  ccl_cuda_device_release_pinned (device, (void **)&bits);
  release (mask, 0);
  ccl_cuda_device_leave (device);
  g_free (pixels);
  g_rand_free (random);
}

/* Compares a table with that of a mask in device memory, which is labelled by itself. */
static void
compare_components (
    const CclTable *table, CclLabeller *labeller, const CclFrame *mask, uint32_t min_area)
{
  const CclLabellerOptions options = {.threshold = CUDACCL_MASK_SHADOW, .min_area = min_area};
  CclTable expected = {0};
  g_assert_cmpint (
      ccl_labeller_run (labeller, mask, &options, NULL, &expected, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (table->n_components, ==, expected.n_components);
  g_assert_cmpmem (table->rows, table->n_rows * sizeof *table->rows, expected.rows,
      expected.n_rows * sizeof *expected.rows);
}

/* Masks whose labels are queued with them have the same components as masks that are labelled
 * later: from the first frame on, with a noise filter or a label map for one frame, and with
 * another labeller. */
static void
test_labels_are_queued_with_the_mask (void)
{
  enum { WIDTH = 300, HEIGHT = 150, SIZE = WIDTH * HEIGHT };
  GRand *random = g_rand_new_with_seed (6);
  uint8_t *pixels = g_malloc0 (SIZE), *zeroes = g_malloc0 (4 * SIZE);
  uint32_t n_found = 0;
  CclError error = {CUDACCL_OK};
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  const CUdeviceptr mask = upload (pixels, SIZE, 0), expected = upload (pixels, SIZE, 0);
  const CUdeviceptr map = upload (zeroes, 4 * SIZE, 0);
  for (uint32_t reduction = 1; reduction <= 2; reduction++) {
    const CclForegroundPlan plan = {.width = WIDTH,
        .height = HEIGHT,
        .method = CUDACCL_FOREGROUND_CODEBOOK,
        .reduction = reduction};
    const uint32_t width = WIDTH / reduction, height = HEIGHT / reduction;
    CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
    CclForeground *reference = ccl_cuda_foreground_new (device, &plan, &error);
    CclLabeller *labellers[2], *references[2];
    for (uint32_t i = 0; i < 2; i++) {
      CclLabellerPlan labels_plan = CUDACCL_LABELLER_PLAN_DEFAULT;
      labels_plan.width = width;
      labels_plan.height = height;
      labels_plan.connectivity = i ? CUDACCL_CONNECTIVITY_4 : CUDACCL_CONNECTIVITY_8;
      labellers[i] = ccl_cuda_labeller_new (device, &labels_plan, &error);
      references[i] = ccl_cuda_labeller_new (device, &labels_plan, &error);
    }
    for (uint32_t number = 0; number < 16; number++) {
      const uint32_t other = number >= 12, min_area = number == 10 ? 30 : 1;
      const CclLabellerOptions label_options = {
          .threshold = CUDACCL_MASK_SHADOW, .min_area = min_area};
      const CclFrame frame = {pixels, WIDTH, CUDACCL_LOCATION_HOST};
      const CclMask on_device = {(void *)mask, WIDTH};
      const CclLabels labels = {(void *)map, 4 * WIDTH};
      CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
      CclTable table = {0};
      options.reduced_mask = true;
      options.closing_width = number == 7 ? 5 : 1;
      draw_square (pixels, WIDTH, HEIGHT, number, random);
      g_assert_cmpint (
          ccl_cuda_labeller_queue_with_mask (labellers[other], foreground, &frame, &options,
              &on_device, &label_options, number == 8 ? &labels : NULL, &error),
          ==, CUDACCL_OK);
      g_assert_cmpint (ccl_labeller_wait (labellers[other], &table, &error), ==, CUDACCL_OK);
      g_assert_cmpint (ccl_foreground_wait (foreground, &error), ==, CUDACCL_OK);
      g_assert_cmpint (ccl_foreground_run (reference, &frame, &options,
                           &(CclMask){(void *)expected, WIDTH}, &error),
          ==, CUDACCL_OK);
      compare_components (&table, references[other],
          &(CclFrame){(void *)expected, WIDTH, CUDACCL_LOCATION_DEVICE}, min_area);
      n_found += table.n_components;
    }
    for (uint32_t i = 0; i < 2; i++) {
      ccl_labeller_free (&labellers[i]);
      ccl_labeller_free (&references[i]);
    }
    ccl_foreground_free (&foreground);
    ccl_foreground_free (&reference);
  }
  g_assert_cmpuint (n_found, >=, 20);
  release (mask, 0);
  release (expected, 0);
  release (map, 0);
  ccl_cuda_device_leave (device);
  g_free (pixels);
  g_free (zeroes);
  g_rand_free (random);
}

/* Bits go to page-locked memory alone, and other methods do not write any. */
static void
test_bits_are_refused (void)
{
  CclForegroundPlan plan = {.width = 64, .height = 8, .method = CUDACCL_FOREGROUND_CODEBOOK};
  CclError error = {CUDACCL_OK};
  uint32_t *pageable = g_malloc0 (64);
  CclForeground *codebook = ccl_cuda_foreground_new (device, &plan, &error);
  g_assert_cmpint (
      ccl_cuda_foreground_copy_bits (codebook, pageable, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_cuda_foreground_copy_bits (codebook, (char *)pageable + 2, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  plan.method = CUDACCL_FOREGROUND_MOG2;
  CclForeground *mixture = ccl_cuda_foreground_new (device, &plan, &error);
  g_assert_cmpint (
      ccl_cuda_foreground_copy_bits (mixture, NULL, &error), ==, CUDACCL_ERROR_UNSUPPORTED);
  ccl_foreground_free (&codebook);
  ccl_foreground_free (&mixture);
  g_free (pageable);
}

/* Without a stream of the caller, the mask is computed after the work queued earlier on the legacy
 * default stream, and work queued there later reads the finished mask. Filling the memory first
 * takes a GPU much longer than the mask. */
static void
test_waits_for_the_legacy_stream (void)
{
  const uint32_t width = 640, height = 48;
  const size_t ballast_size = 32 << 20;
  const CclCudaDriver *driver = device->driver;
  const CclForegroundPlan plan = {.width = width, .height = height};
  const CclForegroundOptions options = {.threshold = 9};
  CclError error = {CUDACCL_OK};
  uint8_t *pixels = g_malloc0 (width * height);
  g_assert_cmpint (ccl_cuda_device_enter (device, NULL), ==, CUDACCL_OK);
  const CUdeviceptr frame = upload (pixels, width * height, 0);
  const CUdeviceptr mask = upload (pixels, width * height, 0);
  CUdeviceptr ballast;
  g_assert_cmpint (
      ccl_cuda_device_allocate (device, ballast_size, &ballast, &error), ==, CUDACCL_OK);
  CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
  g_assert_nonnull (foreground);
  for (uint32_t rows = 1; rows <= 2; rows++) {
    for (int i = 0; i < 32; i++)
      driver->cuMemsetD8Async (ballast, i, ballast_size, NULL);
    driver->cuMemsetD8Async (frame, 10, width * rows, NULL);
    g_assert_cmpint (ccl_foreground_queue (foreground,
                         &(CclFrame){(void *)frame, width, CUDACCL_LOCATION_DEVICE}, &options,
                         &(CclMask){(void *)mask, width}, &error),
        ==, CUDACCL_OK);
    download (pixels, mask, width * height);
    for (uint32_t i = 0; i < width * height; i++)
      g_assert_cmpuint (pixels[i], ==, i < width * rows ? 255 : 0);
  }
  ccl_foreground_free (&foreground);
  ccl_cuda_device_release (device, &ballast);
  release (frame, 0);
  release (mask, 0);
  ccl_cuda_device_leave (device);
  g_free (pixels);
}

static void
test_waits_before_the_first_run (void)
{
  const CclForegroundPlan plan = {.width = 3, .height = 3};
  CclError error = {CUDACCL_OK};
  CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
  g_assert_nonnull (foreground);
  g_assert_cmpint (ccl_foreground_wait (foreground, &error), ==, CUDACCL_OK);
  ccl_foreground_free (&foreground);
}

/* More rows than one dimension of a grid has thread blocks. */
static void
test_tall_frame (void)
{
  const uint32_t width = 3, height = 4 * UINT16_MAX + 6;
  const CclForegroundPlan plan = {.width = width, .height = height};
  const CclForegroundOptions options = {.threshold = 9, .denoise = CUDACCL_DENOISE_OPENING_3};
  CclError error = {CUDACCL_OK};
  uint8_t *pixels = g_malloc0 (width * height), *mask = g_malloc0 (width * height);
  memset (pixels + width * (height - 7), 10, width * 3);
  CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
  g_assert_nonnull (foreground);
  g_assert_cmpint (
      run (foreground, &(CclFrame){pixels, width}, true, &options, &(CclMask){mask, width}, &error),
      ==, CUDACCL_OK);
  for (uint32_t i = 0; i < width * height; i++)
    g_assert_cmpuint (mask[i], ==, pixels[i] ? 255 : 0);
  ccl_foreground_free (&foreground);
  g_free (pixels);
  g_free (mask);
}

static void
test_impossible_plans_say_why (void)
{
  const CclForegroundPlan plan = {.width = 1, .height = 1};
  const CclForegroundPlan huge = {
      .width = 1, .height = CUDACCL_MAX_PIXELS, .method = CUDACCL_FOREGROUND_MOG2, .reduction = 1};
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cuda_foreground_new (NULL, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_null (ccl_cuda_foreground_new (device, &huge, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error.message, "MiB"));
}

int
main (int argc, char **argv)
{
  CclError error = {CUDACCL_OK};

  g_test_init (&argc, &argv, NULL);
  device = ccl_cuda_device_open (-1, &error);
  if (!device) {
    printf ("1..0 # SKIP %s\n", error.message);
    return 0;
  }
  ForegroundBackend host = {
      .name = "cuda-host-frames",
      .foreground_new = foreground_new,
      .run = run_on_host_frame,
      .read_model = read_model,
  };
  ForegroundBackend on_device = host;
  on_device.name = "cuda-device-frames";
  on_device.run = run_on_device_frame;
  foreground_checks_register (&host);
  foreground_checks_register (&on_device);
  g_test_add_func (
      "/cuda/foreground/shares-the-labellers-stream", test_shares_the_labellers_stream);
  g_test_add_func (
      "/cuda/foreground/waits-for-the-legacy-stream", test_waits_for_the_legacy_stream);
  g_test_add_func ("/cuda/foreground/bits-are-those-of-the-mask", test_bits_are_those_of_the_mask);
  g_test_add_func (
      "/cuda/foreground/labels-are-queued-with-the-mask", test_labels_are_queued_with_the_mask);
  g_test_add_func ("/cuda/foreground/bits-are-refused", test_bits_are_refused);
  g_test_add_func ("/cuda/foreground/waits-before-the-first-run", test_waits_before_the_first_run);
  g_test_add_func ("/cuda/foreground/impossible-plans-say-why", test_impossible_plans_say_why);
  if (g_test_slow ()) /* this holds on the simulated driver */
    g_test_add_func ("/cuda/foreground/tall-frame", test_tall_frame);
  int result = g_test_run ();
  ccl_cuda_device_unref (&device);
  return result;
}
