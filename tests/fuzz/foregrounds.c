/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arbitrary frames, plans and options for the foreground methods. The masks of the CPU with each
 * instruction set, of the simulated GPU and of the naive reference must be equal for all frames,
 * and the bytes around a mask must not change.
 *
 * The first sixteen bytes are the plan and options; each frame takes one byte for its kind, and is
 * filled from the others. Its chroma is filled like the frame.
 */
#include <stdio.h>
#include <stdlib.h>

#include <cudaccl/foreground.h>
#include <cudaccl/device.h>
#include "cuda/driver/device.h"
#include "tests/unit/foreground/foreground-reference.h"
#include "target.h"

enum { UNTOUCHED = 0xa5, MOST_FRAMES = 24, N_FOREGROUNDS = 4 };

/* How chroma lies in memory. */
typedef struct ChromaLayout {
  uint32_t step, shift_x, shift_y;
  uint32_t first, second; /* offsets of u and v; in planes, v is behind u */
} ChromaLayout;

/* The first has none. */
static const ChromaLayout chroma_layouts[] = {
    {0}, {1, 1, 1, 0, 0}, /* I420 */
    {2, 1, 1, 0, 1},      /* NV12 */
    {2, 1, 1, 1, 0},      /* NV21 */
    {1, 0, 0, 0, 0},      /* Y444 */
    {1, 2, 0, 0, 0},      /* Y41B */
    {4, 1, 0, 0, 2},      /* YUY2 */
    {4, 1, 1, 1, 3},      /* P010_10LE */
};
#define N_CHROMA_LAYOUTS (sizeof chroma_layouts / sizeof *chroma_layouts)

/* The plan and options, and the objects that are compared. The last one is the GPU's. */
static const char *const names[N_FOREGROUNDS] = {"portable", "avx2", "avx512", "cuda"};

typedef struct Case {
  CclForegroundPlan plan;
  CclForegroundOptions options;
  const ChromaLayout *layout;
  size_t stride, mask_stride, frame_size, mask_size;
  size_t chroma_stride, chroma_size; /* 0 without chroma */
  bool on_device;
  uint8_t *frame, *chroma, *mask;
  CclForeground *foregrounds[N_FOREGROUNDS]; /* NULL where the processor lacks the instructions */
  ForegroundReference *reference;
} Case;

static CclCudaDevice *device;
static uint64_t n_masks, n_scene_changes;

static void
die (const Case *c, const char *name, const char *what)
{
  fprintf (stderr,
      "%s: %ux%u, format %d, foreground %d, %s, stride %zu, mask stride %zu, threshold %u, invert "
      "%d, denoise %d, closing %ux%u, history %u, variance threshold %g, learning rate %g, %u "
      "mixtures, shadows %d, light %d, hold %u, chroma layout %d, frame %lu: %s\n",
      name, c->plan.width, c->plan.height, (int)c->plan.format, (int)c->plan.method,
      c->plan.roi_mask ? "a region of interest mask" : "no region of interest mask", c->stride,
      c->mask_stride, c->options.threshold, c->options.invert, (int)c->options.denoise,
      c->options.closing_width, c->options.closing_height, c->options.history,
      (double)c->options.var_threshold, c->options.learning_rate, c->options.mixtures,
      (int)c->options.shadows, c->options.light, c->options.hold, (int)(c->layout - chroma_layouts),
      (unsigned long)c->reference->n_frames, what);
  abort ();
}

static void
finish (void)
{
  ccl_cuda_device_unref (&device);
  printf ("%lu masks made, %lu scene changes found\n", (unsigned long)n_masks,
      (unsigned long)n_scene_changes);
}

static void
start (void)
{
  CclError error = {CUDACCL_OK};

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
    CclError call_error = {CUDACCL_OK};                                                            \
    if (ccl_cuda_call (device->driver, &call_error, call) != CUDACCL_OK)                           \
      die (c, "cuda", call_error.message);                                                         \
  } while (0)

/* The frame, whose chroma is at that address. */
static CclFrame
describe_frame (const Case *c, const void *pixels, const uint8_t *chroma, CclLocation location)
{
  const ChromaLayout *layout = c->layout;
  CclFrame frame = {pixels, c->stride, location};

  if (c->plan.has_chroma)
    frame.chroma = (CclChroma){
        .u = chroma + layout->first,
        .v = chroma + layout->second + (layout->step == 1 ? c->chroma_size / 2 : 0),
        .u_stride = c->chroma_stride,
        .v_stride = c->chroma_stride,
        .step = layout->step,
        .shift_x = layout->shift_x,
        .shift_y = layout->shift_y,
    };
  return frame;
}

static void
run_on_device (Case *c, CclForeground *foreground)
{
  CclError error = {CUDACCL_OK};
  CUdeviceptr frame_memory = 0, chroma_memory = 0, mask_memory = 0;
  CclFrame frame = describe_frame (c, c->frame, c->chroma, CUDACCL_LOCATION_HOST);

  if (ccl_cuda_device_enter (device, &error) != CUDACCL_OK)
    die (c, "cuda", error.message);
  if (c->on_device) {
    CALL (cuMemAlloc (&frame_memory, c->frame_size));
    CALL (cuMemcpyHtoDAsync (frame_memory, c->frame, c->frame_size, NULL));
    if (c->chroma_size) {
      CALL (cuMemAlloc (&chroma_memory, c->chroma_size));
      CALL (cuMemcpyHtoDAsync (chroma_memory, c->chroma, c->chroma_size, NULL));
    }
    frame = describe_frame (
        c, (void *)frame_memory, (const uint8_t *)chroma_memory, CUDACCL_LOCATION_DEVICE);
  }
  CALL (cuMemAlloc (&mask_memory, c->mask_size));
  CALL (cuMemsetD8Async (mask_memory, UNTOUCHED, c->mask_size, NULL));
  CALL (cuStreamSynchronize (NULL));
  CclMask mask = {(void *)mask_memory, c->mask_stride};
  if (ccl_foreground_run (foreground, &frame, &c->options, &mask, &error) != CUDACCL_OK)
    die (c, "cuda", error.message);
  CALL (cuMemcpyDtoHAsync (c->mask, mask_memory, c->mask_size, NULL));
  CALL (cuStreamSynchronize (NULL));
  CALL (cuMemFree (mask_memory));
  if (frame_memory)
    CALL (cuMemFree (frame_memory));
  if (chroma_memory)
    CALL (cuMemFree (chroma_memory));
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
compare_scene_change (const Case *c, int i)
{
  if (ccl_foreground_get_scene_change (c->foregrounds[i]) != c->reference->scene_change)
    die (c, names[i], "another scene change");
  n_scene_changes += c->reference->scene_change != CUDACCL_SCENE_UNCHANGED;
}

static void
run_frame (Case *c)
{
  CclFrame frame = describe_frame (c, c->frame, c->chroma, CUDACCL_LOCATION_HOST);
  CclMask mask = {c->mask, c->mask_stride};
  CclError error = {CUDACCL_OK};

  foreground_reference_run (c->reference, &frame, &c->options);
  for (int i = 0; i < N_FOREGROUNDS; i++) {
    if (!c->foregrounds[i])
      continue;
    memset (c->mask, UNTOUCHED, c->mask_size);
    if (i == N_FOREGROUNDS - 1)
      run_on_device (c, c->foregrounds[i]);
    else if (ccl_foreground_run (c->foregrounds[i], &frame, &c->options, &mask, &error) !=
             CUDACCL_OK)
      die (c, names[i], error.message);
    compare (c, names[i]);
    compare_scene_change (c, i);
  }
}

/* Fills memory of the next frame: noise around a level, a change of the level, or the input's
 * bytes. */
static void
draw (uint8_t *bytes, size_t size, size_t stride, uint8_t way, uint32_t number, const Input *input)
{
  uint32_t noise = number * 2654435761u + way;

  for (size_t i = 0; i < size; i++) {
    uint8_t byte = input->size ? input->data[(i + number) % input->size] : way;
    noise = noise * 1664525 + 1013904223;
    switch (way % 4) {
    case 0:
      bytes[i] = byte;
      break;
    case 1:
      bytes[i] = (uint8_t)(way + (noise >> 29));
      break;
    case 2:
      bytes[i] = (uint8_t)(i % stride < way ? 40 + (noise >> 30) : 200);
      break;
    default:
      bytes[i] = noise >> 24 < byte ? 255 : 0;
      break;
    }
  }
}

static CclForeground *
new_foreground (const Case *c, int i)
{
  CclError error = {CUDACCL_OK};
  CclForeground *foreground;

  if (i == N_FOREGROUNDS - 1) {
    foreground = ccl_cuda_foreground_new (device, &c->plan, &error);
  } else {
    setenv ("CCL_CPU_INSTRUCTIONS", names[i], 1);
    foreground = ccl_cpu_foreground_new (&c->plan, &error);
    unsetenv ("CCL_CPU_INSTRUCTIONS");
  }
  if (!foreground && error.status != CUDACCL_ERROR_UNSUPPORTED)
    die (c, names[i], error.message);
  return foreground;
}

/* Takes the chroma, its layout, shadows and light, and the other options of background models. */
static void
take_colours (Case *c, Input *input, uint32_t padding)
{
  const uint8_t flags = take_byte (input);
  const uint8_t hold = take_byte (input);

  c->layout = &chroma_layouts[flags % N_CHROMA_LAYOUTS];
  /* With luma of 16 bits, a step of 4 means samples of 16 bits. */
  if (c->plan.format == CUDACCL_PIXEL_FORMAT_16 && c->layout->step == 4)
    c->layout = &chroma_layouts[N_CHROMA_LAYOUTS - 1];
  c->plan.has_chroma = c->layout->step > 0 && c->plan.method >= CUDACCL_FOREGROUND_MOG2;
  c->options.shadows = (CclShadows)((flags >> 3 & 3) % 3);
  c->options.light = flags & 64;
  c->options.hold = hold % 17;
  c->options.size = sizeof c->options;
  c->options.sensitivity = hold < 17 ? 0 : 50 + (uint32_t)hold % 151;
  c->options.closing_width = take_byte (input) % (CUDACCL_MAX_CLOSING + 1);
  c->options.closing_height = take_byte (input) % (CUDACCL_MAX_CLOSING + 1);
  if (!c->plan.has_chroma)
    return;
  const uint32_t round_x = (1u << c->layout->shift_x) - 1;
  const size_t width = (c->plan.width + round_x) >> c->layout->shift_x;
  const size_t height = (c->plan.height + c->layout->shift_y) >> c->layout->shift_y;
  c->chroma_stride = width * c->layout->step + padding;
  c->chroma_size = (c->layout->step == 1 ? 2 : 1) * c->chroma_stride * height;
}

enum { ROI_MASK_STRIDE = 128, ROI_MASK_SIZE = 128 * 128 };

static CclFrame
draw_roi_mask (uint8_t *pixels, uint8_t kind)
{
  for (uint32_t i = 0; i < ROI_MASK_SIZE; i++)
    pixels[i] = (uint8_t)(i / 128 * kind + i % 128 > 60 ? i : 0);
  return (CclFrame){pixels, ROI_MASK_STRIDE, CUDACCL_LOCATION_HOST};
}

/* All objects go on with another region of interest mask, or without one. */
static void
change_roi_mask (const Case *c, uint8_t *pixels, uint8_t kind)
{
  const CclFrame drawn = draw_roi_mask (pixels, kind);
  const CclFrame *roi_mask = kind % 4 == 0 ? NULL : &drawn;
  CclError error = {CUDACCL_OK};

  for (int i = 0; i < N_FOREGROUNDS; i++)
    if (c->foregrounds[i] &&
        ccl_foreground_set_roi_mask (c->foregrounds[i], roi_mask, &error) != CUDACCL_OK)
      die (c, names[i], error.message);
  foreground_reference_set_roi_mask (c->reference, roi_mask);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const float variances[] = {16, 0.5f, 1e-3f, 4, 100, 1e6f};
  static const double rates[] = {-1, 0, 1, 0.01, 0.5, 1.0 / 3};
  static uint8_t roi_mask_pixels[ROI_MASK_SIZE];
  Input input = {data, size};
  Case c = {.on_device = false};
  CclFrame roi_mask;

  start ();
  c.plan.width = take_byte (&input) % 128 + 1u;
  c.plan.height = take_byte (&input) % 64 + 1u;
  c.plan.method = (CclForegroundMethod)(take_byte (&input) % 4);
  c.plan.reduction = 1; /* the reference sees whole frames */
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
  take_colours (&c, &input, paddings % 16);
  if (c.plan.format == CUDACCL_PIXEL_FORMAT_16)
    c.options.threshold *= 257;
  const size_t bytes = c.plan.format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
  c.stride = bytes * (c.plan.width + paddings % 16);
  c.mask_stride = c.plan.width + paddings / 16;
  c.frame_size = c.stride * (c.plan.height - 1) + bytes * c.plan.width;
  c.mask_size = c.mask_stride * (c.plan.height - 1) + c.plan.width;
  c.frame = malloc (c.frame_size);
  c.chroma = malloc (c.chroma_size);
  c.mask = malloc (c.mask_size);
  if (flags & 4) {
    roi_mask = draw_roi_mask (roi_mask_pixels, flags);
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
    } else if (way >= 236) {
      change_roi_mask (&c, roi_mask_pixels, way);
    }
    draw (c.frame, c.frame_size, c.stride, way, frame, &input);
    draw (c.chroma, c.chroma_size, c.chroma_stride, (uint8_t)(3 * way), frame, &input);
    run_frame (&c);
  }
  for (int i = 0; i < N_FOREGROUNDS; i++)
    ccl_foreground_free (&c.foregrounds[i]);
  foreground_reference_free (c.reference);
  free (c.mask);
  free (c.chroma);
  free (c.frame);
  return 0;
}

void
make_quick (uint8_t *data, size_t size)
{
  data[0] %= 80;
  data[1] %= 24;
  data[14] %= 8; /* the closing's window */
  data[15] %= 8;
}
