/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arbitrary frames, plans and options for the foreground methods. The masks of the CPU with each
 * instruction set, of the simulated GPU and of the naive reference must be equal for all frames,
 * and the bytes around a mask must not change.
 *
 * The first twelve bytes are the plan and options; each frame takes one byte for its kind, and is
 * filled from the others.
 */
#include <stdio.h>
#include <stdlib.h>

#include <cudaccl/foreground.h>
#include <cudaccl/cuda.h>
#include "device.h"
#include "foreground-reference.h"
#include "target.h"

enum { UNTOUCHED = 0xa5, MOST_FRAMES = 8, N_FOREGROUNDS = 4 };

/* The plan and options, and the objects that are compared. The last one is the GPU's. */
static const char *const names[N_FOREGROUNDS] = {"portable", "avx2", "avx512", "cuda"};

typedef struct Case {
  CclForegroundPlan plan;
  CclForegroundOptions options;
  size_t stride, mask_stride, frame_size, mask_size;
  bool on_device;
  uint8_t *frame, *mask;
  CclForeground *foregrounds[N_FOREGROUNDS]; /* NULL where the processor lacks the instructions */
  ForegroundReference *reference;
} Case;

static CclCudaDevice *device;
static uint64_t n_masks;

static void
die (const Case *c, const char *name, const char *what)
{
  fprintf (stderr,
      "%s: %ux%u, format %d, foreground %d, %s, stride %zu, mask stride %zu, threshold %u, invert "
      "%d, "
      "denoise %d, history %u, variance threshold %g, learning rate %g, %u mixtures, frame %lu: "
      "%s\n",
      name, c->plan.width, c->plan.height, (int)c->plan.format, (int)c->plan.method,
      c->plan.roi_mask ? "a region of interest mask" : "no region of interest mask", c->stride,
      c->mask_stride, c->options.threshold, c->options.invert, (int)c->options.denoise,
      c->options.history, (double)c->options.var_threshold, c->options.learning_rate,
      c->options.mixtures, (unsigned long)c->reference->n_frames, what);
  abort ();
}

static void
finish (void)
{
  ccl_cuda_device_unref (&device);
  printf ("%lu masks made\n", (unsigned long)n_masks);
}

static void
start (void)
{
  CclError error = {CCL_OK};

  if (device)
    return;
  device = ccl_cuda_device_open (-1, &error);
  if (!device) {
    fprintf (stderr, "%s\n", error.message);
    exit (77);
  }
  atexit (finish);
}

#define CALL(call)                                                                                 \
  do {                                                                                             \
    CclError call_error = {CCL_OK};                                                                \
    if (ccl_cuda_call (device->driver, &call_error, call) != CCL_OK)                               \
      die (c, "cuda", call_error.message);                                                         \
  } while (0)

static void
run_on_device (Case *c, CclForeground *foreground)
{
  CclError error = {CCL_OK};
  CUdeviceptr frame_memory = 0, mask_memory = 0;
  CclFrame frame = {c->frame, c->stride, CCL_LOCATION_HOST};

  if (ccl_cuda_device_enter (device, &error) != CCL_OK)
    die (c, "cuda", error.message);
  if (c->on_device) {
    CALL (cuMemAlloc (&frame_memory, c->frame_size));
    CALL (cuMemcpyHtoDAsync (frame_memory, c->frame, c->frame_size, NULL));
    frame = (CclFrame){(void *)frame_memory, c->stride, CCL_LOCATION_DEVICE};
  }
  CALL (cuMemAlloc (&mask_memory, c->mask_size));
  CALL (cuMemsetD8Async (mask_memory, UNTOUCHED, c->mask_size, NULL));
  CALL (cuStreamSynchronize (NULL));
  CclMask mask = {(void *)mask_memory, c->mask_stride};
  if (ccl_foreground_run (foreground, &frame, &c->options, &mask, &error) != CCL_OK ||
      ccl_foreground_wait (foreground, &error) != CCL_OK)
    die (c, "cuda", error.message);
  CALL (cuMemcpyDtoHAsync (c->mask, mask_memory, c->mask_size, NULL));
  CALL (cuStreamSynchronize (NULL));
  CALL (cuMemFree (mask_memory));
  if (frame_memory)
    CALL (cuMemFree (frame_memory));
  ccl_cuda_device_leave (device);
}

static void
compare (const Case *c, const char *name)
{
  for (size_t i = 0; i < c->mask_size; i++) {
    size_t x = i % c->mask_stride, y = i / c->mask_stride;
    if (x >= c->plan.width && c->mask[i] != UNTOUCHED)
      die (c, name, "padding was written");
    if (x < c->plan.width && c->mask[i] != c->reference->mask[y * c->plan.width + x])
      die (c, name, "another mask");
  }
  n_masks++;
}

static void
run_frame (Case *c)
{
  CclFrame frame = {c->frame, c->stride, CCL_LOCATION_HOST};
  CclMask mask = {c->mask, c->mask_stride};
  CclError error = {CCL_OK};

  foreground_reference_run (c->reference, &frame, &c->options);
  for (int i = 0; i < N_FOREGROUNDS; i++) {
    if (!c->foregrounds[i])
      continue;
    memset (c->mask, UNTOUCHED, c->mask_size);
    if (i == N_FOREGROUNDS - 1)
      run_on_device (c, c->foregrounds[i]);
    else if (ccl_foreground_run (c->foregrounds[i], &frame, &c->options, &mask, &error) != CCL_OK)
      die (c, names[i], error.message);
    compare (c, names[i]);
  }
}

/* Fills the next frame: noise around a level, a change of the level, or the input's bytes. */
static void
draw (Case *c, uint8_t way, uint32_t number, const Input *input)
{
  uint32_t noise = number * 2654435761u + way;

  for (size_t i = 0; i < c->frame_size; i++) {
    uint8_t byte = input->size ? input->data[(i + number) % input->size] : way;
    noise = noise * 1664525 + 1013904223;
    switch (way % 4) {
    case 0:
      c->frame[i] = byte;
      break;
    case 1:
      c->frame[i] = (uint8_t)(way + (noise >> 29));
      break;
    case 2:
      c->frame[i] = (uint8_t)(i % c->stride < way ? 40 + (noise >> 30) : 200);
      break;
    default:
      c->frame[i] = noise >> 24 < byte ? 255 : 0;
      break;
    }
  }
}

static CclForeground *
new_foreground (const Case *c, int i)
{
  CclError error = {CCL_OK};
  CclForeground *foreground;

  if (i == N_FOREGROUNDS - 1) {
    foreground = ccl_cuda_foreground_new (device, &c->plan, &error);
  } else {
    setenv ("CCL_CPU_INSTRUCTIONS", names[i], 1);
    foreground = ccl_cpu_foreground_new (&c->plan, &error);
    unsetenv ("CCL_CPU_INSTRUCTIONS");
  }
  if (!foreground && error.status != CCL_ERROR_UNSUPPORTED)
    die (c, names[i], error.message);
  return foreground;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const float variances[] = {16, 0.5f, 1e-3f, 4, 100, 1e6f};
  static const double rates[] = {-1, 0, 1, 0.01, 0.5, 1.0 / 3};
  static uint8_t roi_mask_pixels[128 * 128];
  Input input = {data, size};
  Case c = {.on_device = false};
  CclFrame roi_mask;

  start ();
  c.plan.width = take_byte (&input) % 128 + 1u;
  c.plan.height = take_byte (&input) % 64 + 1u;
  c.plan.method = (CclForegroundMethod)(take_byte (&input) % 3);
  uint8_t flags = take_byte (&input);
  c.plan.n_threads = take_byte (&input) % 3;
  c.options.threshold = take_byte (&input);
  c.options.denoise = (CclDenoise)(take_byte (&input) % 5);
  c.options.history = take_byte (&input) % 40 + 1u;
  c.options.var_threshold = variances[take_byte (&input) % (sizeof variances / sizeof *variances)];
  c.options.learning_rate = rates[take_byte (&input) % (sizeof rates / sizeof *rates)];
  c.options.mixtures = take_byte (&input) % 5 + 1u;
  uint8_t paddings = take_byte (&input);
  c.options.invert = flags & 1;
  c.on_device = flags & 2;
  c.plan.format = (CclPixelFormat)(flags >> 6);
  if (c.plan.format == CCL_PIXEL_FORMAT_16)
    c.options.threshold *= 257;
  const size_t bytes = c.plan.format == CCL_PIXEL_FORMAT_8 ? 1 : 2;
  c.stride = bytes * (c.plan.width + paddings % 16);
  c.mask_stride = c.plan.width + paddings / 16;
  c.frame_size = c.stride * (c.plan.height - 1) + bytes * c.plan.width;
  c.mask_size = c.mask_stride * (c.plan.height - 1) + c.plan.width;
  c.frame = malloc (c.frame_size);
  c.mask = malloc (c.mask_size);
  if (flags & 4) {
    for (size_t i = 0; i < sizeof roi_mask_pixels; i++)
      roi_mask_pixels[i] = (uint8_t)(i / 128 * flags + i % 128 > 60 ? i : 0);
    roi_mask = (CclFrame){roi_mask_pixels, 128, CCL_LOCATION_HOST};
    c.plan.roi_mask = &roi_mask;
  }

  c.reference = foreground_reference_new (&c.plan);
  for (int i = 0; i < N_FOREGROUNDS; i++)
    c.foregrounds[i] = new_foreground (&c, i);
  for (uint32_t frame = 0; frame < MOST_FRAMES && input.size; frame++) {
    uint8_t way = take_byte (&input);
    if (way == 255) { /* reset the background model, or continue with other options */
      for (int i = 0; i < N_FOREGROUNDS; i++)
        ccl_foreground_reset (c.foregrounds[i]);
      c.reference->n_frames = 0;
    } else if (way >= 250) {
      c.options.mixtures = way - 249;
      c.options.invert = !c.options.invert;
      c.options.denoise = (CclDenoise)(way % 5);
    }
    draw (&c, way, frame, &input);
    run_frame (&c);
  }
  for (int i = 0; i < N_FOREGROUNDS; i++)
    ccl_foreground_free (&c.foregrounds[i]);
  foreground_reference_free (c.reference);
  free (c.mask);
  free (c.frame);
  return 0;
}

void
make_quick (uint8_t *data, size_t size)
{
  data[0] %= 80;
  data[1] %= 24;
}
