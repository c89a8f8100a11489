/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arbitrary frames, plans and options for the labellers. The CPU labeller, the GPU's algorithms and
 * the naive reference must agree bit for bit; the bytes around the frame and the label map must not
 * change.
 *
 * The first ten bytes are the plan and options, the others are the pixels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cudaccl/labeller.h>
#include <cudaccl/device.h>
#include "tests/unit/label/reference.h"
#include "research/cpu/research.h"
#include "research/cuda/research.h"
#include "target.h"

enum { HEADER = 10, UNTOUCHED = 0xa5 };

typedef struct Case {
  CclLabellerPlan plan;
  CclLabellerOptions options;
  bool with_labels, on_device, all_algorithms;
  uint32_t algorithm; /* the algorithm to run, unless all run */
  size_t stride, label_stride;
  size_t frame_size, labels_size;
  uint8_t *frame;
  Reference *reference; /* of the frame's foreground mask, unless pixels are bytes */
} Case;

static CclCudaDevice *device;
static uint64_t n_runs; /* of labellers */

static void
die (const Case *c, const char *algorithm, const char *what)
{
  fprintf (stderr,
      "%s: %ux%u, format %d, %d-connected, stride %zu, label stride %zu, threshold %u, invert %d, "
      "area %u..%u, %u rows, %s frame%s: %s\n",
      algorithm, c->plan.width, c->plan.height, (int)c->plan.format, (int)c->plan.connectivity,
      c->stride, c->label_stride, c->options.threshold, c->options.invert, c->options.min_area,
      c->options.max_area, c->plan.max_components, c->on_device ? "device" : "host",
      c->with_labels ? ", label map" : "", what);
  abort ();
}

/* Fills pixels from the bytes in one of four ways: one byte per pixel, one bit per pixel, run
 * lengths, or seed and density of noise. */
static void
draw (Case *c, uint32_t way, const uint8_t *data, size_t size)
{
  uint32_t position = 0, left = size ? data[0] : 0, noise = 1;
  bool foreground = false;
  for (size_t i = 0; i < size && way == 3; i++)
    noise = noise * 31 + data[i];
  for (uint32_t y = 0; y < c->plan.height; y++) {
    for (uint32_t x = 0; x < c->plan.width; x++, position++) {
      uint8_t *pixel = c->frame + y * c->stride + x;
      switch (size ? way : 0) {
      case 0:
        *pixel = size ? data[position % size] : 0;
        break;
      case 1:
        *pixel = data[position / 8 % size] >> position % 8 & 1 ? 255 : 0;
        break;
      case 2:
        while (left == 0) {
          noise = noise % size + 1;
          left = data[noise - 1] % 40 + (noise == size);
          foreground = !foreground;
        }
        left--;
        *pixel = foreground ? 255 : 0;
        break;
      default:
        noise = noise * 1664525 + 1013904223;
        *pixel = noise >> 24 < data[0] ? 255 : 0;
        break;
      }
    }
  }
}

/* Brings the frame, drawn with one byte per pixel, to the format of the plan, with a threshold in
 * its units. Finds the reference. */
static void
encode (Case *c, uint8_t low_byte)
{
  const uint32_t width = c->plan.width, height = c->plan.height;
  const CclPixelFormat format = c->plan.format;
  if (format == CUDACCL_PIXEL_FORMAT_8) {
    c->reference =
        reference_new (c->frame, width, height, c->stride, c->plan.connectivity, &c->options);
    return;
  }
  const size_t stride = 2 * c->stride, size = stride * (height - 1) + 2 * (size_t)width;
  uint8_t *frame = malloc (size), *mask = malloc ((size_t)width * height);
  CclLabellerOptions of_mask = c->options;
  of_mask.threshold = 0;
  if (format == CUDACCL_PIXEL_FORMAT_16)
    c->options.threshold = c->options.threshold << 8 | low_byte;
  memset (frame, low_byte, size);
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      const uint32_t pixel = c->frame[y * c->stride + x], other = (x * 37 + low_byte) % 256;
      uint8_t *bytes = frame + y * stride + 2 * x;
      const bool is_first = format == CUDACCL_PIXEL_FORMAT_8_FIRST;
      bytes[0] = (uint8_t)(is_first ? pixel : other);
      bytes[1] = (uint8_t)(is_first ? other : pixel);
      const uint32_t value = format == CUDACCL_PIXEL_FORMAT_16 ? pixel << 8 | other : pixel;
      mask[(size_t)y * width + x] = value > c->options.threshold;
    }
  }
  free (c->frame);
  c->frame = frame;
  c->stride = stride;
  c->frame_size = size;
  c->reference = reference_new (mask, width, height, width, c->plan.connectivity, &of_mask);
  free (mask);
}

static void
compare (const Case *c, const char *algorithm, const CclTable *table,
    const uint8_t *labels /* or NULL */)
{
  const Reference *r = c->reference;
  uint32_t n_rows =
      r->n_components < c->plan.max_components ? r->n_components : c->plan.max_components;

  if (table->n_components != r->n_components)
    die (c, algorithm, "another number of components");
  if (table->n_rows != n_rows)
    die (c, algorithm, "another number of rows");
  for (uint32_t i = 0; i < n_rows; i++) {
    const CclComponent *a = &table->rows[i], *b = &r->rows[i];
    if (a->label != b->label || a->area != b->area || a->x != b->x || a->y != b->y ||
        a->width != b->width || a->height != b->height || a->centroid_x != b->centroid_x ||
        a->centroid_y != b->centroid_y)
      die (c, algorithm, "another component");
  }
  if (!labels)
    return;
  for (size_t i = 0; i < c->labels_size; i++) {
    size_t x = i % c->label_stride, y = i / c->label_stride;
    uint8_t expected = UNTOUCHED;
    if (x < 4 * (size_t)c->plan.width)
      expected = ((const uint8_t *)(r->labels + y * c->plan.width))[x];
    if (labels[i] != expected)
      die (c, algorithm, x < 4 * (size_t)c->plan.width ? "another label" : "padding was written");
  }
}

/* With the code for an instruction set; NULL: the labeller selects it. */
static void
check_cpu (Case *c, const char *algorithm, const char *instructions)
{
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = c->plan;
  plan.algorithm = algorithm;
  if (instructions)
    setenv ("CCL_CPU_INSTRUCTIONS", instructions, 1);
  CclLabeller *labeller = ccl_cpu_labeller_new (&plan, &error);
  if (instructions)
    unsetenv ("CCL_CPU_INSTRUCTIONS");
  if (!labeller && error.status == CUDACCL_ERROR_UNSUPPORTED)
    return;
  if (!labeller)
    die (c, algorithm, error.message);
  uint8_t *memory = malloc (c->labels_size);
  memset (memory, UNTOUCHED, c->labels_size);
  CclFrame frame = {c->frame, c->stride, CUDACCL_LOCATION_HOST};
  CclLabels labels = {memory, c->label_stride};
  CclTable table;
  if (ccl_labeller_run (labeller, &frame, &c->options, c->with_labels ? &labels : NULL, &table,
          &error) != CUDACCL_OK)
    die (c, algorithm, error.message);
  compare (c, algorithm, &table, c->with_labels ? memory : NULL);
  ccl_labeller_free (&labeller);
  free (memory);
  n_runs++;
}

#define CALL(call)                                                                                 \
  do {                                                                                             \
    CclError call_error = {CUDACCL_OK};                                                            \
    if (ccl_cuda_call (device->driver, &call_error, call) != CUDACCL_OK)                           \
      die (c, algorithm, call_error.message);                                                      \
  } while (0)

static void
check_cuda (Case *c, const char *algorithm)
{
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = c->plan;
  plan.algorithm = algorithm;
  if (!ccl_research_offers (algorithm, plan.connectivity))
    return;
  CclLabeller *labeller = ccl_research_labeller_new (device, &plan, &error);
  if (!labeller)
    die (c, algorithm, error.message);
  if (ccl_cuda_device_enter (device, &error) != CUDACCL_OK)
    die (c, algorithm, error.message);

  CUdeviceptr frame_memory = 0, labels_memory = 0;
  uint8_t *memory = malloc (c->labels_size);
  CclFrame frame = {c->frame, c->stride, CUDACCL_LOCATION_HOST};
  if (c->on_device) {
    CALL (cuMemAlloc (&frame_memory, c->frame_size));
    CALL (cuMemcpyHtoDAsync (frame_memory, c->frame, c->frame_size, NULL));
    frame = (CclFrame){(void *)frame_memory, c->stride, CUDACCL_LOCATION_DEVICE};
  }
  CALL (cuMemAlloc (&labels_memory, c->labels_size));
  CALL (cuMemsetD8Async (labels_memory, UNTOUCHED, c->labels_size, NULL));
  CALL (cuStreamSynchronize (NULL));
  CclLabels labels = {(void *)labels_memory, c->label_stride};
  CclTable table;
  if (ccl_labeller_run (labeller, &frame, &c->options, c->with_labels ? &labels : NULL, &table,
          &error) != CUDACCL_OK)
    die (c, algorithm, error.message);
  CALL (cuMemcpyDtoHAsync (memory, labels_memory, c->labels_size, NULL));
  CALL (cuStreamSynchronize (NULL));
  compare (c, algorithm, &table, c->with_labels ? memory : NULL);
  CALL (cuMemFree (labels_memory));
  if (frame_memory)
    CALL (cuMemFree (frame_memory));
  ccl_cuda_device_leave (device);
  ccl_labeller_free (&labeller);
  free (memory);
  n_runs++;
}

static void
finish (void)
{
  ccl_cuda_device_unref (&device);
  printf ("%lu labellers run\n", (unsigned long)n_runs);
}

enum { MOST_ALGORITHMS = 64 };

/* Lists all algorithms that label frames on the GPU, and returns their number. */
static uint32_t
list_algorithms (const char *names[MOST_ALGORITHMS])
{
  const CclAlgorithm *row;
  uint32_t n = 0;
  for (size_t i = 0; (row = ccl_research_algorithm (i)) && n < MOST_ALGORITHMS; i++) {
    if (ccl_research_labels_frames (row))
      names[n++] = row->name;
  }
  return n;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (!device) {
    CclError error = {CUDACCL_OK};
    device = ccl_cuda_device_open (-1, &error);
    if (!device) {
      fprintf (stderr, "%s\n", error.message);
      exit (77);
    }
    atexit (finish);
  }
  if (size < HEADER)
    return 0;

  uint8_t flags = data[2];
  Case c = {
      .plan = {.width = data[0] + 1u,
          .height = data[1] % 128 + 1u,
          .connectivity = flags & 1 ? CUDACCL_CONNECTIVITY_4 : CUDACCL_CONNECTIVITY_8,
          .max_components = data[6] < 128 ? data[6] + 1u : 40000u,
          .n_threads = data[9] % 3,
          .format = (CclPixelFormat)(data[7] / 67)},
      .options = {.threshold = data[3],
          .invert = flags & 2,
          .min_area = data[4],
          .max_area = data[5]},
      .with_labels = flags & 4,
      .on_device = flags & 8,
      .all_algorithms = flags & 64,
      .algorithm = data[9],
  };
  c.stride = c.plan.width + data[7] % 67;
  c.label_stride = 4 * (c.plan.width + data[8] % 35u);
  c.frame_size = c.stride * (c.plan.height - 1) + c.plan.width;
  c.labels_size = c.label_stride * (c.plan.height - 1) + 4 * (size_t)c.plan.width;
  c.frame = malloc (c.frame_size);
  memset (c.frame, data[8], c.frame_size);
  draw (&c, flags >> 4 & 3, data + HEADER, size - HEADER);
  encode (&c, data[8]);

  for (const char *const *name = ccl_research_cpu_algorithms (); *name; name++)
    check_cpu (&c, *name, NULL);
  static const char *const instructions[] = {"portable", "avx2", "avx512"};
  for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
    check_cpu (&c, "runs", instructions[i]);
  const char *names[MOST_ALGORITHMS];
  const uint32_t n = list_algorithms (names);
  for (uint32_t i = 0; i < n; i++) {
    if (c.all_algorithms || i == 0 || i == c.algorithm % n)
      check_cuda (&c, names[i]);
  }
  reference_free (c.reference);
  free (c.frame);
  return 0;
}

void
make_quick (uint8_t *data, size_t size)
{
  data[1] %= 64;  /* small frames, more of them */
  data[2] &= ~64; /* not all algorithms */
  if (data[9] & 128)
    data[4] = data[5] = 0;
}
