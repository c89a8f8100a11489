/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any frames, plan and options for a segmenter: on the CPU with each of its instruction sets, on
 * the simulated GPU and in the naive reference the masks of all frames must be the same, and what
 * lies around a mask must stay as it was.
 *
 * The first twelve bytes say what is asked; each frame takes a byte and is filled from the others.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cpusegmenter.h"
#include "cudasegmenter.h"
#include "device.h"
#include "segmenter-reference.h"
#include "target.h"

enum { UNTOUCHED = 0xa5, MOST_FRAMES = 8, N_SEGMENTERS = 4 };

/* What is asked, and what is compared. The last segmenter is that of the GPU. */
static const char *const names[N_SEGMENTERS] = {"portable", "avx2", "avx512", "cuda"};

typedef struct Case {
  CclSegmenterPlan plan;
  CclSegmenterOptions options;
  size_t stride, mask_stride, frame_size, mask_size;
  bool on_device;
  uint8_t *frame, *mask;
  CclSegmenter *segmenters[N_SEGMENTERS]; /* NULL where the processor lacks the instructions */
  SegmenterReference *reference;
} Case;

static CclCudaDevice *device;
static uint64_t n_masks;

static void
die (const Case *c, const char *name, const char *what)
{
  fprintf (stderr,
      "%s: %ux%u, foreground %d, %s, stride %zu, mask stride %zu, threshold %u, invert %d, "
      "denoise %d, history %u, variance threshold %g, learning rate %g, %u mixtures, frame %lu: "
      "%s\n",
      name, c->plan.width, c->plan.height, (int)c->plan.foreground,
      c->plan.zone ? "a zone" : "no zone", c->stride, c->mask_stride, c->options.threshold,
      c->options.invert, (int)c->options.denoise, c->options.history,
      (double)c->options.var_threshold, c->options.learning_rate, c->options.mixtures,
      (unsigned long)c->reference->n_frames, what);
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
run_on_device (Case *c, CclSegmenter *segmenter)
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
  if (ccl_segmenter_run (segmenter, &frame, &c->options, &mask, &error) != CCL_OK ||
      ccl_segmenter_wait (segmenter, &error) != CCL_OK)
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

  segmenter_reference_run (c->reference, &frame, &c->options);
  for (int i = 0; i < N_SEGMENTERS; i++) {
    if (!c->segmenters[i])
      continue;
    memset (c->mask, UNTOUCHED, c->mask_size);
    if (i == N_SEGMENTERS - 1)
      run_on_device (c, c->segmenters[i]);
    else if (ccl_segmenter_run (c->segmenters[i], &frame, &c->options, &mask, &error) != CCL_OK)
      die (c, names[i], error.message);
    compare (c, names[i]);
  }
}

/* The frame's next look: noise around a level, a step of it, or the bytes as they are. */
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

static CclSegmenter *
new_segmenter (const Case *c, int i)
{
  CclError error = {CCL_OK};
  CclSegmenter *segmenter;

  if (i == N_SEGMENTERS - 1) {
    segmenter = ccl_cuda_segmenter_new (device, &c->plan, &error);
  } else {
    setenv ("CCL_CPU_INSTRUCTIONS", names[i], 1);
    segmenter = ccl_cpu_segmenter_new (&c->plan, &error);
    unsetenv ("CCL_CPU_INSTRUCTIONS");
  }
  if (!segmenter && error.status != CCL_ERROR_UNSUPPORTED)
    die (c, names[i], error.message);
  return segmenter;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const float variances[] = {16, 0.5f, 1e-3f, 4, 100, 1e6f};
  static const double rates[] = {-1, 0, 1, 0.01, 0.5, 1.0 / 3};
  static uint8_t zone_pixels[128 * 128];
  Input input = {data, size};
  Case c = {.on_device = false};
  CclFrame zone;

  start ();
  c.plan.width = take_byte (&input) % 128 + 1u;
  c.plan.height = take_byte (&input) % 64 + 1u;
  c.plan.foreground = (CclForeground)(take_byte (&input) % 3);
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
  c.stride = c.plan.width + paddings % 16;
  c.mask_stride = c.plan.width + paddings / 16;
  c.frame_size = c.stride * (c.plan.height - 1) + c.plan.width;
  c.mask_size = c.mask_stride * (c.plan.height - 1) + c.plan.width;
  c.frame = malloc (c.frame_size);
  c.mask = malloc (c.mask_size);
  if (flags & 4) {
    for (size_t i = 0; i < sizeof zone_pixels; i++)
      zone_pixels[i] = (uint8_t)(i / 128 * flags + i % 128 > 60 ? i : 0);
    zone = (CclFrame){zone_pixels, 128, CCL_LOCATION_HOST};
    c.plan.zone = &zone;
  }

  c.reference = segmenter_reference_new (&c.plan);
  for (int i = 0; i < N_SEGMENTERS; i++)
    c.segmenters[i] = new_segmenter (&c, i);
  for (uint32_t frame = 0; frame < MOST_FRAMES && input.size; frame++) {
    uint8_t way = take_byte (&input);
    if (way == 255) { /* forget the background, or go on with other options */
      for (int i = 0; i < N_SEGMENTERS; i++)
        ccl_segmenter_reset (c.segmenters[i]);
      c.reference->n_frames = 0;
    } else if (way >= 250) {
      c.options.mixtures = way - 249;
      c.options.invert = !c.options.invert;
      c.options.denoise = (CclDenoise)(way % 5);
    }
    draw (&c, way, frame, &input);
    run_frame (&c);
  }
  for (int i = 0; i < N_SEGMENTERS; i++)
    ccl_segmenter_free (&c.segmenters[i]);
  segmenter_reference_free (c.reference);
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
