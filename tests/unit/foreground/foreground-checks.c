/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/foreground/foreground-checks.h"

#include "core/foreground/foreground-class.h"

#include "tests/unit/foreground/codebook-checks.h"
#include "tests/unit/guarded-memory.h"
#include "tests/unit/foreground/reduction-checks.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* The bytes of a mask before it is written. */
#define UNTOUCHED_BYTE 0xa5

/* The backend that a test case checks. */
typedef struct Subject {
  const ForegroundBackend *backend;
  void (*check) (const ForegroundBackend *backend);
} Subject;

/* The subjects of all registered cases. */
static GSList *subjects;

/* A test program runs one case at a time. */
static GuardedMemory frame_memory;
static GuardedMemory mask_memory;
static GuardedMemory chroma_memory[2];

/* The chroma of a format. */
typedef struct ChromaLayout {
  const char *format;
  uint32_t step, shift_x, shift_y;
  bool v_first;
  uint32_t
      lower_bytes; /* before the first sample's upper one: 0, or 1 where samples have 16 bits */
} ChromaLayout;

static const ChromaLayout chroma_layouts[] = {
    {"NV12", 2, 1, 1, false},
    {"NV21", 2, 1, 1, true},
    {"I420", 1, 1, 1, false},
    {"YV12", 1, 1, 1, true},
    {"Y42B", 1, 1, 0, false},
    {"Y444", 1, 0, 0, false},
    {"NV16", 2, 1, 0, false},
    {"NV24", 2, 0, 0, false},
    {"Y41B", 1, 2, 0, false},
    {"YUY2", 4, 1, 0, false},
};
/* Samples of 16 bits, of which the model reads the upper bytes. */
static const ChromaLayout chroma_of_16_bits[] = {
    {"P010_10LE", 4, 1, 1, false, 1},
    {"P010_10LE with v first", 4, 1, 1, true, 1},
};

/* The samples of a row. */
static uint32_t
chroma_width_of (const ChromaLayout *layout, uint32_t width)
{
  return (width + (1u << layout->shift_x) - 1) >> layout->shift_x;
}

/* A foreground method, its reference, and the memory layout of frames and masks. */
typedef struct Comparison {
  const ForegroundBackend *backend;
  CclForeground *foreground;
  ForegroundReference *reference;
  ModelState model; /* a copy of the backend's model */
  const ChromaLayout *chroma;
  CclPixelFormat format;
  const uint16_t *words; /* the pixels of 16 bits of the next frame; NULL: as place_frame() says */
  uint32_t padding;      /* bytes between two rows of a mask, pixels between two rows of a frame */
  bool at_start;         /* start right after a guard page instead of ending right before one */
  uint32_t n_frames;
} Comparison;

static const CclForegroundOptions usual_options = {
    .threshold = 127,
    .history = 500,
    .var_threshold = 16,
    .learning_rate = -1,
    .mixtures = 5,
};

/* Random numbers that are the same on every machine: the upper bits of a linear congruential
 * generator. */
static uint32_t
next_random (uint32_t *state)
{
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

static bool
comparison_begin (
    Comparison *comparison, const ForegroundBackend *backend, const CclForegroundPlan *plan)
{
  CclError error = {CUDACCL_OK};
  *comparison = (Comparison){
      .backend = backend,
      .foreground = backend->foreground_new (backend->data, plan, &error),
      .reference = foreground_reference_new (plan),
      .format = plan->format,
      .model = model_state_new (plan->width, plan->height),
  };
  if (!comparison->foreground)
    g_test_fail_printf ("no foreground for %u×%u: %s", plan->width, plan->height, error.message);
  return comparison->foreground != NULL;
}

static void
comparison_end (Comparison *comparison)
{
  ccl_foreground_free (&comparison->foreground);
  g_assert_null (comparison->foreground);
  foreground_reference_free (comparison->reference);
  model_state_clear (&comparison->model);
}

static char *
compare_masks (const CclMask *mask, const ForegroundReference *reference, uint32_t padding)
{
  for (uint32_t y = 0; y < reference->height; y++) {
    const uint8_t *row = (const uint8_t *)mask->data + y * mask->stride;
    const uint8_t *expected = reference->mask + (size_t)y * reference->width;
    for (uint32_t x = 0; x < reference->width; x++)
      if (row[x] != expected[x])
        return g_strdup_printf ("mask is %u instead of %u at %u,%u", row[x], expected[x], x, y);
    for (uint32_t i = 0; y < reference->height - 1 && i < padding; i++)
      if (row[reference->width + i] != UNTOUCHED_BYTE)
        return g_strdup_printf ("padding byte %u of mask row %u was written", i, y);
  }
  return NULL;
}

static char *
compare_models (const ModelState *model, const ForegroundReference *reference)
{
  const ModelState *expected = &reference->model;
  const size_t n = (size_t)reference->width * reference->height;
  for (size_t i = 0; i < CUDACCL_MAX_MIXTURES * n; i++)
    if (model->weights[i] != expected->weights[i] ||
        (model->weights[i] > 0 && (model->means[i] != expected->means[i] ||
                                      model->variances[i] != expected->variances[i] ||
                                      model->chroma[i] != expected->chroma[i])))
      return g_strdup_printf (
          "Gaussian %zu of pixel %zu is (%u, %u, %u, %u) instead of (%u, %u, %u, %u)", i / n, i % n,
          model->weights[i], model->means[i], model->variances[i], model->chroma[i],
          expected->weights[i], expected->means[i], expected->variances[i], expected->chroma[i]);
  return NULL;
}

/* Copies the samples of a frame's chroma, 2 × width × height bytes of which as many are used as its
 * subsampling needs, to memory that ends or starts at a guard page. */
static CclChroma
place_chroma (const Comparison *comparison, const uint8_t *samples)
{
  const ForegroundReference *reference = comparison->reference;
  const ChromaLayout *layout = comparison->chroma;
  const uint32_t width = chroma_width_of (layout, reference->width);
  const uint32_t height = (reference->height + layout->shift_y) >> layout->shift_y;
  const uint32_t distance = layout->step / 2; /* from a sample of u to that of v, in one memory */
  const size_t stride = (size_t)width * layout->step + comparison->padding;
  const size_t size =
      layout->lower_bytes + stride * (height - 1) + (width - 1) * layout->step + distance + 1;
  GuardedMemory *first = &chroma_memory[0], *second = &chroma_memory[layout->step == 1];

  guarded_memory_resize (first, size, !comparison->at_start);
  guarded_memory_resize (second, size, !comparison->at_start);
  uint8_t *u = first->data + layout->lower_bytes,
          *v = layout->step == 1 ? second->data : u + distance;
  if (layout->v_first) {
    uint8_t *swapped = u;
    u = v;
    v = swapped;
  }
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      u[y * stride + x * layout->step] = samples[2 * (y * (size_t)width + x)];
      v[y * stride + x * layout->step] = samples[2 * (y * (size_t)width + x) + 1];
    }
  }
  guarded_memory_set_read_only (first);
  if (second != first)
    guarded_memory_set_read_only (second);
  return (CclChroma){u, v, stride, stride, layout->step, layout->shift_x, layout->shift_y};
}

/* Writes pixels of 8 bits as a frame into memory that ends or starts at a guard page. Those of 16
 * bits get lower bytes at random, padding and the other bytes of packed ones random values. */
static CclFrame
place_frame (const Comparison *comparison, const uint8_t *pixels)
{
  const CclPixelFormat format = comparison->format;
  const uint32_t width = comparison->reference->width, height = comparison->reference->height;
  const size_t bytes = format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
  const size_t stride = bytes * (width + comparison->padding);
  const size_t size = stride * (height - 1) + bytes * width;
  const uint32_t offset =
      format == CUDACCL_PIXEL_FORMAT_8 || format == CUDACCL_PIXEL_FORMAT_8_FIRST ? 0 : 1;
  uint32_t state = comparison->n_frames;

  guarded_memory_resize (&frame_memory, size, !comparison->at_start);
  for (size_t i = 0; i < size; i++)
    frame_memory.data[i] = (uint8_t)next_random (&state);
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      uint8_t *pixel = frame_memory.data + y * stride + bytes * x;
      if (comparison->words) {
        pixel[0] = comparison->words[(size_t)y * width + x] % 256;
        pixel[1] = comparison->words[(size_t)y * width + x] / 256;
      } else
        pixel[offset] = pixels[(size_t)y * width + x];
    }
  }
  guarded_memory_set_read_only (&frame_memory);
  return (CclFrame){.data = frame_memory.data, .stride = stride};
}

/* Runs the method and the reference on a frame of width × height pixels of 8 bits, which
 * place_frame() brings to the format of the plan. chroma: as
 * for place_chroma(); NULL without. On the first difference, fails the test case and returns
 * false. */
static bool
comparison_run_colour (Comparison *comparison, const uint8_t *pixels, const uint8_t *chroma,
    const CclForegroundOptions *options)
{
  const ForegroundReference *reference = comparison->reference;
  const ForegroundBackend *backend = comparison->backend;
  const uint32_t width = reference->width, height = reference->height;
  const size_t stride = (size_t)width + comparison->padding;
  const size_t size = stride * (height - 1) + width;

  guarded_memory_resize (&mask_memory, size, !comparison->at_start);
  memset (mask_memory.data, UNTOUCHED_BYTE, size);
  CclFrame frame = place_frame (comparison, pixels);
  if (chroma)
    frame.chroma = place_chroma (comparison, chroma);
  const CclMask mask = {.data = mask_memory.data, .stride = stride};

  CclError error = {CUDACCL_OK};
  CclStatus status;
  if (backend->run) {
    status = backend->run (backend->data, comparison->foreground, &frame, options, &mask, &error);
  } else {
    status = ccl_foreground_run (comparison->foreground, &frame, options, &mask, &error);
  }
  foreground_reference_run (comparison->reference, &frame, options);

  char *difference = NULL;
  if (status != CUDACCL_OK)
    difference = g_strdup_printf ("run failed: %s", error.message);
  if (!difference)
    difference = compare_masks (&mask, reference, comparison->padding);
  if (!difference &&
      ccl_foreground_get_scene_change (comparison->foreground) != reference->scene_change)
    difference = g_strdup_printf ("scene change is %d instead of %d",
        (int)ccl_foreground_get_scene_change (comparison->foreground),
        (int)reference->scene_change);
  if (!difference && reference->method == CUDACCL_FOREGROUND_MOG2 && backend->read_model) {
    backend->read_model (backend->data, comparison->foreground, &comparison->model);
    difference = compare_models (&comparison->model, reference);
  }
  if (difference)
    g_test_fail_printf (
        "%s, %u×%u, row padding %u, at %s, foreground %d, denoise %d, invert %d, "
        "region of interest mask %d, history %u, var-threshold %g, learning rate %g, mixtures %u, "
        "shadows %d, light %d, hold %u, closing %u×%u, pixel format %d, frame %u: %s",
        backend->name, width, height, comparison->padding, comparison->at_start ? "start" : "end",
        (int)reference->method, (int)options->denoise, options->invert, reference->roi_mask != NULL,
        options->history, (double)options->var_threshold, options->learning_rate, options->mixtures,
        (int)options->shadows, options->light, options->hold, options->closing_width,
        options->closing_height, (int)comparison->format, comparison->n_frames, difference);
  comparison->n_frames++;
  g_free (difference);
  return status == CUDACCL_OK && !g_test_failed ();
}

static bool
comparison_run (Comparison *comparison, const uint8_t *pixels, const CclForegroundOptions *options)
{
  return comparison_run_colour (comparison, pixels, NULL, options);
}

/* Noise, blobs of 3×3 pixels under noise, one value, two values, or a ramp. */
static void
draw_still (uint8_t *pixels, uint32_t width, uint32_t height, uint32_t kind, uint32_t seed)
{
  const uint32_t n_blobs = (width / 3 + 1) * (height / 3 + 1);
  uint8_t *blobs = g_new (uint8_t, n_blobs);
  uint32_t state = seed * 77 + kind;

  for (uint32_t i = 0; i < n_blobs; i++)
    blobs[i] = next_random (&state) % 3 ? 60 : 180;
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      const uint32_t random = next_random (&state);
      uint8_t value = 0;
      switch (kind % 5) {
      case 0:
        value = (uint8_t)random;
        break;
      case 1:
        value = random % 8 ? blobs[y / 3 * (width / 3 + 1) + x / 3] : (uint8_t)random;
        break;
      case 2:
        value = (uint8_t)(seed * 85);
        break;
      case 3:
        value = random % 4 ? 128 : 127;
        break;
      default:
        value = (uint8_t)(x * 3 + y);
        break;
      }
      pixels[(size_t)y * width + x] = value;
    }
  }
  g_free (blobs);
}

/* Every noise filter, with widths that end at every position in a word, at every alignment. */
static void
check_stills_of_format (const ForegroundBackend *backend, CclForegroundMethod method,
    bool with_roi_mask, CclPixelFormat format)
{
  static const uint32_t thresholds[] = {127 << 8 | 255, 127 << 8, 127 << 8 | 100, 65535, 0, 255};
  static const uint32_t heights[] = {1, 2, 3, 4, 5, 9};
  uint8_t pixels[150 * 9], roi_mask_pixels[150 * 9];
  bool passed = true;

  for (uint32_t width = 1; width <= 150 && passed; width += width < 70 ? 1 : 13) {
    const uint32_t height = heights[width % G_N_ELEMENTS (heights)];
    Comparison comparison;
    uint32_t state = width;
    for (uint32_t i = 0; i < width * height; i++)
      roi_mask_pixels[i] = next_random (&state) % 5 ? (uint8_t)(next_random (&state) | 1) : 0;
    if (width > 64)
      memset (roi_mask_pixels, 1, width * height / 2);
    const CclFrame roi_mask = {.data = roi_mask_pixels, .stride = width};
    const CclForegroundPlan plan = {
        .width = width,
        .height = height,
        .method = method,
        .roi_mask = with_roi_mask ? &roi_mask : NULL,
        .format = format,
    };
    passed = comparison_begin (&comparison, backend, &plan);
    /* The plan's region of interest mask was copied: later changes have no effect. */
    memset (roi_mask_pixels, 0, sizeof roi_mask_pixels);
    for (uint32_t i = 0; i < 15 && passed; i++) {
      CclForegroundOptions options = usual_options;
      options.denoise = i % 5;
      options.invert = i % 2;
      options.threshold = i == 7 ? 255 : i == 8 ? 0 : 127;
      if (format == CUDACCL_PIXEL_FORMAT_16)
        options.threshold = thresholds[i % G_N_ELEMENTS (thresholds)];
      comparison.padding = (width + i * 7) % 19;
      comparison.at_start = i % 3 == 0;
      draw_still (pixels, width, height, (width + i) / 2, i);
      passed = comparison_run (&comparison, pixels, &options);
    }
    comparison_end (&comparison);
  }
}

static void
check_stills (const ForegroundBackend *backend, CclForegroundMethod method, bool with_roi_mask)
{
  check_stills_of_format (backend, method, with_roi_mask, CUDACCL_PIXEL_FORMAT_8);
}

static void
check_threshold_of_16_bits (const ForegroundBackend *backend)
{
  check_stills_of_format (backend, CUDACCL_FOREGROUND_THRESHOLD, true, CUDACCL_PIXEL_FORMAT_16);
}

static void
check_threshold_of_packed_pixels (const ForegroundBackend *backend)
{
  check_stills_of_format (
      backend, CUDACCL_FOREGROUND_THRESHOLD, true, CUDACCL_PIXEL_FORMAT_8_FIRST);
  check_stills_of_format (
      backend, CUDACCL_FOREGROUND_THRESHOLD, false, CUDACCL_PIXEL_FORMAT_8_SECOND);
}

static void
check_otsu_of_16_bits (const ForegroundBackend *backend)
{
  check_stills_of_format (backend, CUDACCL_FOREGROUND_OTSU, false, CUDACCL_PIXEL_FORMAT_16);
  check_stills_of_format (backend, CUDACCL_FOREGROUND_OTSU, true, CUDACCL_PIXEL_FORMAT_16);
}

static void
check_otsu_of_packed_pixels (const ForegroundBackend *backend)
{
  check_stills_of_format (backend, CUDACCL_FOREGROUND_OTSU, false, CUDACCL_PIXEL_FORMAT_8_FIRST);
  check_stills_of_format (backend, CUDACCL_FOREGROUND_OTSU, true, CUDACCL_PIXEL_FORMAT_8_SECOND);
}

static void
check_threshold (const ForegroundBackend *backend)
{
  check_stills (backend, CUDACCL_FOREGROUND_THRESHOLD, false);
}

static void
check_threshold_in_roi_mask (const ForegroundBackend *backend)
{
  check_stills (backend, CUDACCL_FOREGROUND_THRESHOLD, true);
}

static void
check_otsu (const ForegroundBackend *backend)
{
  check_stills (backend, CUDACCL_FOREGROUND_OTSU, false);
}

static void
check_otsu_in_roi_mask (const ForegroundBackend *backend)
{
  check_stills (backend, CUDACCL_FOREGROUND_OTSU, true);
}

/* Pixel i of n of a frame whose histogram is difficult: few values, values at the ends, several
 * thresholds that are equally good or nearly so. */
static uint32_t
difficult_word (uint32_t kind, uint32_t i, uint32_t n, uint32_t *state)
{
  const uint32_t random = next_random (state);
  const double share = (i + 0.5) / n;

  switch (kind) {
  case 0:
    return 40000;
  case 1: /* of one upper byte */
    return 40000 + random % 3 * random % 50;
  case 2: /* neighbours with different upper bytes */
    return 255 + random % 2;
  case 3:
    return 65535 - random % 2;
  case 4:
    return random % 2 * 65535;
  case 5: /* two equally good thresholds */
    return 10000 + i % 3 * 15000;
  case 6: /* many thresholds that are nearly equally good */
    if (share < 0.02 || share > 0.98)
      return share < 0.5 ? 32768 - 31500 : 32768 + 31500;
    return (uint32_t)(32768 + 2250 * (2 * share - 1) / sqrt (share * (1 - share)));
  case 7:
    return random & 0xffff;
  case 8: /* 10 of 16 bits */
    return 64 * (i % 7 ? 200 + random % 9 : 300 + random % 30);
  default: /* few pixels between two modes */
    return random % 50 ? 12000 + i % 2 * 40000 + random % 999 : 12000 + random % 40000;
  }
}

static void
check_otsu_of_difficult_words (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {
      .width = 333,
      .height = 101,
      .method = CUDACCL_FOREGROUND_OTSU,
      .format = CUDACCL_PIXEL_FORMAT_16,
  };
  const uint32_t n = plan.width * plan.height;
  uint16_t *words = g_new (uint16_t, n);
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);
  comparison.words = words;
  for (uint32_t kind = 0; kind < 10 && passed; kind++) {
    uint32_t state = kind;
    for (uint32_t i = 0; i < n; i++)
      words[i] = (uint16_t)difficult_word (kind, i, n, &state);
    passed = comparison_run (&comparison, NULL, &usual_options);
  }
  comparison_end (&comparison);
  g_free (words);
}

/* A frame large enough for several threads, blocks and words. */
static void
check_large (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {.width = 333, .height = 101, .method = CUDACCL_FOREGROUND_OTSU};
  uint8_t *pixels = g_malloc (333 * 101);
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);
  for (uint32_t i = 0; i < 10 && passed; i++) {
    CclForegroundOptions options = usual_options;
    options.denoise = i % 5;
    draw_still (pixels, 333, 101, 1, i);
    passed = comparison_run (&comparison, pixels, &options);
  }
  comparison_end (&comparison);
  g_free (pixels);
}

/* The value of a pixel over a sequence. On the left, neighbouring columns behave differently, so
 * that neighbouring threads take different branches; on the right, each row behaves alike. */
static void
draw_scene (uint8_t *pixels, uint32_t width, uint32_t height, uint32_t frame)
{
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      uint32_t state = (x * 7919 + y * 104729 + 1) * 2654435761u + frame * 40503;
      next_random (&state);
      const uint32_t random = next_random (&state);
      const uint32_t place = x * 2654435761u + y * 40503;
      uint32_t value = 0;
      switch ((x < 64 ? x / 5 + y : y) % 9) {
      case 0: /* camera noise of a few grey levels */
        value = 100 + place % 50 + random % 5;
        break;
      case 1: /* random values */
        value = random;
        break;
      case 2: /* two alternating values */
        value = (frame + place) / 3 % 2 ? 200 : 40;
        break;
      case 3: /* slow drift over the whole range, including the darkest and the brightest value */
        value = MIN (255, (frame * 3 + place % 200) % 300) + random % 2;
        value = MIN (255, value);
        break;
      case 4: /* a cycle of more values than a pixel may have Gaussians */
        value = (frame + place) % 8 * 36;
        break;
      case 5: /* a dark object sometimes passes over a bright background */
        value = (frame + x) % 17 < 3 ? 12 + random % 8 : 250 + random % 6;
        break;
      case 6: /* constant */
        value = place;
        break;
      case 7: /* close to 0, where a mean must not become negative */
        value = random % 7 ? 0 : random % 5;
        break;
      default: /* values close to the largest distance at which they match a Gaussian */
        value = 120 + random % 28;
        break;
      }
      pixels[(size_t)y * width + x] = (uint8_t)value;
    }
  }
}

/* Runs a sequence; options may change from frame to frame. */
static bool
check_sequence (const ForegroundBackend *backend, const CclForegroundPlan *size, uint32_t n_frames,
    void (*change) (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground))
{
  uint8_t *pixels = g_malloc ((size_t)size->width * size->height);
  CclForegroundPlan plan = *size;
  CclForegroundOptions options = usual_options;
  Comparison comparison;

  plan.method = CUDACCL_FOREGROUND_MOG2;
  bool passed = comparison_begin (&comparison, backend, &plan);
  for (uint32_t frame = 0; frame < n_frames && passed; frame++) {
    comparison.padding = frame * 5 % 23;
    comparison.at_start = frame % 3 == 0;
    if (change)
      change (&options, frame, comparison.foreground);
    if (comparison.foreground->n_frames == 0)
      comparison.reference->n_frames = 0;
    draw_scene (pixels, plan.width, plan.height, frame);
    passed = comparison_run (&comparison, pixels, &options);
  }
  comparison_end (&comparison);
  g_free (pixels);
  return passed;
}

static void
check_background (const ForegroundBackend *backend)
{
  check_sequence (backend, &(CclForegroundPlan){.width = 150, .height = 37}, 60, NULL);
}

static void
change_denoise (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->denoise = frame % 5;
  options->invert = frame % 7 == 0;
}

static void
check_background_of_every_width (const ForegroundBackend *backend)
{
  for (uint32_t width = 1; width <= 70; width++)
    if (!check_sequence (backend, &(CclForegroundPlan){.width = width, .height = 1 + width % 4}, 12,
            change_denoise))
      return;
}

static void
check_background_in_roi_mask (const ForegroundBackend *backend)
{
  uint8_t roi_mask_pixels[77 * 11];
  for (uint32_t i = 0; i < sizeof roi_mask_pixels; i++)
    roi_mask_pixels[i] = i / 9 % 3 != 0;
  const CclFrame roi_mask = {.data = roi_mask_pixels, .stride = 77};
  check_sequence (backend, &(CclForegroundPlan){.width = 77, .height = 11, .roi_mask = &roi_mask},
      30, change_denoise);
}

/* A mask comes, changes and goes; the model goes on. */
static void
check_roi_mask_that_changes_of (const ForegroundBackend *backend, CclForegroundMethod method)
{
  enum { WIDTH = 77, HEIGHT = 11 };
  uint8_t pixels[WIDTH * HEIGHT], roi_mask_pixels[WIDTH * HEIGHT];
  const CclFrame roi_mask = {.data = roi_mask_pixels, .stride = WIDTH};
  const CclFrame narrow = {.data = roi_mask_pixels, .stride = WIDTH - 1};
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .method = method};
  CclForegroundOptions options = usual_options;
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  for (uint32_t frame = 0; frame < 30 && passed; frame++) {
    if (frame % 6 == 5) {
      const CclFrame *next = frame % 4 == 1 ? NULL : &roi_mask;
      for (uint32_t i = 0; i < sizeof roi_mask_pixels; i++)
        roi_mask_pixels[i] = i / frame % 3 != 0;
      g_assert_cmpint (
          ccl_foreground_set_roi_mask (comparison.foreground, next, NULL), ==, CUDACCL_OK);
      g_assert_cmpint (ccl_foreground_set_roi_mask (comparison.foreground, &narrow, NULL), ==,
          CUDACCL_ERROR_ARGUMENT);
      foreground_reference_set_roi_mask (comparison.reference, next);
    }
    change_denoise (&options, frame, comparison.foreground);
    draw_scene (pixels, WIDTH, HEIGHT, frame);
    passed = comparison_run (&comparison, pixels, &options);
  }
  comparison_end (&comparison);
}

static void
check_roi_mask_that_changes (const ForegroundBackend *backend)
{
  check_roi_mask_that_changes_of (backend, CUDACCL_FOREGROUND_THRESHOLD);
  check_roi_mask_that_changes_of (backend, CUDACCL_FOREGROUND_OTSU);
  check_roi_mask_that_changes_of (backend, CUDACCL_FOREGROUND_MOG2);
}

/* A model must stay valid when the options change. */
static void
change_everything (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  static const double rates[] = {-1, 0.1, 0, 1, 1e-9, 0.5, 0.004, 0.999, 0.02, -0.5};
  static const float var_thresholds[] = {16, 1, 100, 9, 0.01f, 1e9f, 25};
  static const uint32_t histories[] = {500, 1, 20, 100000, UINT32_MAX};
  if (frame % 5 == 0)
    options->learning_rate = rates[frame / 5 % G_N_ELEMENTS (rates)];
  if (frame % 3 == 0)
    options->var_threshold = var_thresholds[frame / 3 % G_N_ELEMENTS (var_thresholds)];
  if (frame % 7 == 0)
    options->history = histories[frame / 7 % G_N_ELEMENTS (histories)];
  if (frame % 4 == 0)
    options->mixtures = 1 + (frame / 4 * 3) % 5;
}

static void
check_background_options (const ForegroundBackend *backend)
{
  check_sequence (backend, &(CclForegroundPlan){.width = 90, .height = 18}, 150, change_everything);
}

static void
fix_rate_to_zero (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->learning_rate = frame < 20 ? 0.05 : 0;
}

static void
fix_rate_to_one (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->learning_rate = 1;
}

static void
fix_rate_to_tiny (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->learning_rate = frame < 10 ? -1 : 1e-7;
}

static void
check_learning_rates (const ForegroundBackend *backend)
{
  const CclForegroundPlan size = {.width = 90, .height = 9};
  if (check_sequence (backend, &size, 40, fix_rate_to_zero) &&
      check_sequence (backend, &size, 20, fix_rate_to_one))
    check_sequence (backend, &size, 40, fix_rate_to_tiny);
}

static void
fix_mixtures (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->mixtures = 1 + frame / 25;
  options->history = 20;
}

static void
check_mixtures (const ForegroundBackend *backend)
{
  check_sequence (backend, &(CclForegroundPlan){.width = 90, .height = 9}, 125, fix_mixtures);
}

static void
reset_now_and_then (CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->history = 10;
  if (frame == 25 || frame == 26 || frame == 40)
    ccl_foreground_reset (foreground);
}

static void
check_reset (const ForegroundBackend *backend)
{
  check_sequence (backend, &(CclForegroundPlan){.width = 70, .height = 18}, 60, reset_now_and_then);
}

static void
raise_rate_and_lower_mixtures (
    CclForegroundOptions *options, uint32_t frame, CclForeground *foreground)
{
  options->learning_rate = frame < 10 ? 0.2 : 0.97;
  options->mixtures = frame < 10 ? 5 : 1;
}

/* The heaviest of five Gaussians may lose all its weight in one frame, when it is the only one. */
static void
check_large_rates (const ForegroundBackend *backend)
{
  check_sequence (
      backend, &(CclForegroundPlan){.width = 90, .height = 9}, 20, raise_rate_and_lower_mixtures);
}

/* Computed by hand: after the other Gaussians have been removed, the last one has weight 1. */
static void
check_recovery (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {.width = 40, .height = 2, .method = CUDACCL_FOREGROUND_MOG2};
  const uint32_t n_pixels = plan.width * plan.height;
  uint8_t pixels[40 * 2];
  CclForegroundOptions options = usual_options;
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  options.learning_rate = 0.1;
  for (uint32_t frame = 0; frame < 150 && passed; frame++) {
    for (uint32_t i = 0; i < n_pixels; i++)
      pixels[i] = (uint8_t)(frame < 20 ? frame % 4 * 60 : 60);
    passed = comparison_run (&comparison, pixels, &options);
    if (frame == 19)
      g_assert_cmpuint (comparison.reference->model.weights[3 * n_pixels], >, 0);
  }
  for (uint32_t i = 0; i < n_pixels && passed; i++) {
    g_assert_cmpuint (comparison.reference->model.weights[i], ==, CUDACCL_MIXTURE_FULL_WEIGHT);
    g_assert_cmpuint (comparison.reference->model.weights[n_pixels + i], ==, 0);
  }
  comparison_end (&comparison);
}

/* Computed by hand: a constant value is background from the first frame on; a new value is
 * foreground, and becomes background after it has lasted for a tenth of the history. */
static void
check_a_stone_that_remains (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {.width = 40, .height = 3, .method = CUDACCL_FOREGROUND_MOG2};
  uint8_t pixels[40 * 3];
  CclForegroundOptions options = usual_options;
  uint32_t n_foreground_frames = 0;
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  options.history = 100;
  options.learning_rate = 0.01;
  for (uint32_t frame = 0; frame < 60 && passed; frame++) {
    memset (pixels, 90, sizeof pixels);
    if (frame >= 30)
      pixels[40 + 17] = 200;
    passed = comparison_run (&comparison, pixels, &options);
    for (uint32_t i = 0; i < sizeof pixels && passed; i++) {
      const bool foreground = comparison.reference->mask[i] != 0;
      if (i == 40 + 17)
        n_foreground_frames += foreground;
      else
        g_assert_false (foreground);
    }
  }
  if (passed)
    g_assert_cmpint (ABS ((int)n_foreground_frames - 11), <=, 1);
  comparison_end (&comparison);
}

/* A scene with shadows, changes of light and of the picture: a background of coloured patches,
 * under light that fades from frame to frame, with objects and their shadows. From frame 30 on it
 * is another background, and from frame 55 on, that in infrared. */
static void
draw_colours (uint8_t *pixels, uint8_t *chroma, const ChromaLayout *layout, uint32_t width,
    uint32_t height, uint32_t frame)
{
  const uint32_t chroma_width = layout ? chroma_width_of (layout, width) : 0;
  const uint32_t picture = frame < 30 ? 1 : 2;

  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      uint32_t state = (x * 7919 + y * 104729 + 1) * 2654435761u + frame * 40503;
      uint32_t patch = (x / 5 * 31 + y / 3 * 17 + 1) * 2654435761u * picture;
      const uint32_t look = next_random (&patch), colours = next_random (&patch);
      const uint32_t noise = next_random (&state);
      const int light = frame % 20 < 10 ? 256 : (int)(256 + (x / 2 + frame) % 128);
      int luma = 40 + (int)(look % 110), u = 90 + (int)(colours % 70);
      int v = 90 + (int)(colours / 256 % 70);
      const uint32_t object = (x + 200 - frame * 3 % 200) % 60;
      if (object < 9) { /* an object, which stops now and then */
        luma = 220 - luma;
        u = 255 - u;
      } else if (object < 20) { /* its shadow, of a darkness that differs by row */
        luma = luma * (50 + (int)(y * 7 % 50)) / 100;
        u = 128 + (u - 128) * (50 + (int)(y * 7 % 50)) / 100;
      }
      if (frame >= 55) {
        luma = 255 - luma;
        u = v = 128;
      }
      luma = luma * light / 256 + (int)(noise % 5);
      pixels[(size_t)y * width + x] = (uint8_t)CLAMP (luma, 0, 255);
      if (layout) {
        const size_t sample =
            (size_t)(y >> layout->shift_y) * chroma_width + (x >> layout->shift_x);
        chroma[2 * sample] = (uint8_t)(u + (int)(noise / 8 % 3));
        chroma[2 * sample + 1] = (uint8_t)(v + (int)(noise / 32 % 3));
      }
    }
  }
}

/* What check_colours() has seen, so that a scene without shadows, light or a change is noticed. */
typedef struct Seen {
  uint32_t shadows, changes[6];
} Seen;

static bool
check_colours_of_format (const ForegroundBackend *backend, uint32_t width, uint32_t height,
    const ChromaLayout *layout, uint32_t n_frames, uint32_t seed, CclPixelFormat format, Seen *seen)
{
  const CclForegroundPlan plan = {
      .width = width,
      .height = height,
      .method = CUDACCL_FOREGROUND_MOG2,
      .has_chroma = layout != NULL,
      .format = format,
  };
  uint8_t *pixels = g_malloc ((size_t)width * height);
  uint8_t *chroma = g_malloc (2 * (size_t)width * height);
  CclForegroundOptions options = usual_options;
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  comparison.chroma = layout;
  options.light = true;
  options.var_threshold = seed % 3 == 2 ? 4 : 10;
  options.history = 100;
  for (uint32_t frame = 0; frame < n_frames && passed; frame++) {
    comparison.padding = frame * 5 % 23;
    comparison.at_start = frame % 3 == 0;
    options.shadows = (frame + seed) % 3;
    options.hold = frame % 13 == 7 ? 0 : 1 + seed % 4;
    options.denoise = (frame / 4 + seed) % 5;
    options.closing_width = frame % 2 ? (frame + seed) * 7 % 64 : 0;
    options.closing_height = frame % 3 ? (frame * 5 + seed) % 64 : 0;
    options.invert = frame % 11 == 5;
    draw_colours (pixels, chroma, layout, width, height, frame);
    passed = comparison_run_colour (&comparison, pixels, layout ? chroma : NULL, &options);
    seen->changes[comparison.reference->scene_change]++;
    for (size_t i = 0; i < (size_t)width * height; i++)
      seen->shadows += comparison.reference->mask[i] == CUDACCL_MASK_SHADOW;
  }
  comparison_end (&comparison);
  g_free (pixels);
  g_free (chroma);
  return passed;
}

static bool
check_colours (const ForegroundBackend *backend, uint32_t width, uint32_t height,
    const ChromaLayout *layout, uint32_t n_frames, uint32_t seed, Seen *seen)
{
  return check_colours_of_format (
      backend, width, height, layout, n_frames, seed, CUDACCL_PIXEL_FORMAT_8, seen);
}

/* With and without chroma, light and shadows. */
static void
check_background_of_packed_pixels (const ForegroundBackend *backend)
{
  Seen seen = {0};
  for (uint32_t i = 0; i < 4; i++) {
    const CclPixelFormat format =
        i % 2 ? CUDACCL_PIXEL_FORMAT_8_SECOND : CUDACCL_PIXEL_FORMAT_8_FIRST;
    const ChromaLayout *layout = i < 2 ? &chroma_layouts[G_N_ELEMENTS (chroma_layouts) - 1] : NULL;
    if (!check_colours_of_format (backend, 61 + i, 33, layout, 40, i, format, &seen) ||
        !check_sequence (backend,
            &(CclForegroundPlan){.width = 75 + i, .height = 9, .format = format}, 20, NULL))
      return;
  }
}

/* With random lower bytes; luma has 16 bits, chroma 16, 8 or none. */
static void
check_background_of_16_bits (const ForegroundBackend *backend)
{
  const CclPixelFormat format = CUDACCL_PIXEL_FORMAT_16;
  const ChromaLayout *const layouts[] = {
      &chroma_of_16_bits[0], NULL, &chroma_of_16_bits[1], &chroma_layouts[0], &chroma_layouts[2]};
  static void (*const changes[]) (CclForegroundOptions *, uint32_t, CclForeground *) = {
      NULL, change_everything, fix_rate_to_one, fix_mixtures, reset_now_and_then};
  Seen seen = {0};

  for (uint32_t i = 0; i < G_N_ELEMENTS (layouts); i++) {
    if (!check_colours_of_format (backend, 61 + i, 33, layouts[i], 60, i, format, &seen) ||
        !check_sequence (backend,
            &(CclForegroundPlan){.width = 75 + i, .height = 18, .format = format}, 40, changes[i]))
      return;
  }
  g_assert_cmpuint (seen.shadows, >, 100);
  g_assert_cmpuint (seen.changes[CUDACCL_SCENE_MOVED], >=, G_N_ELEMENTS (layouts));
}

static void
check_16_bits_of_every_width (const ForegroundBackend *backend)
{
  Seen seen = {0};
  for (uint32_t width = 1; width <= 70; width++)
    if (!check_colours_of_format (backend, width, 1 + width % 7,
            width % 3 ? &chroma_of_16_bits[width % 2] : NULL, 8, width, CUDACCL_PIXEL_FORMAT_16,
            &seen))
      return;
}

/* Pixels of 16 bits that are 256 times those of 8 bits have the same masks and the same models,
 * with and without chroma. Chroma of 16 bits has the lower bytes that were in its memory. */
static void
check_8_bits_in_16 (const ForegroundBackend *backend)
{
  enum { WIDTH = 83, HEIGHT = 31, N = WIDTH * HEIGHT };
  uint8_t *pixels = g_malloc (N), *chroma = g_malloc (2 * N);
  uint16_t *words = g_new (uint16_t, N);

  for (uint32_t i = 0; i < 2 && !g_test_failed (); i++) {
    CclForegroundPlan plan = {
        .width = WIDTH, .height = HEIGHT, .method = CUDACCL_FOREGROUND_MOG2, .has_chroma = i > 0};
    CclForegroundOptions options = usual_options;
    Comparison narrow, wide;
    bool passed = comparison_begin (&narrow, backend, &plan);
    plan.format = CUDACCL_PIXEL_FORMAT_16;
    passed = comparison_begin (&wide, backend, &plan) && passed;
    narrow.chroma = &chroma_layouts[0];
    wide.chroma = &chroma_of_16_bits[0];
    wide.words = words;
    options.var_threshold = 9;
    options.hold = 3;
    for (uint32_t frame = 0; frame < 60 && passed; frame++) {
      options.shadows = frame % 3;
      options.denoise = frame / 3 % 5;
      draw_colours (pixels, chroma, narrow.chroma, WIDTH, HEIGHT, frame);
      for (uint32_t k = 0; k < N; k++)
        words[k] = (uint16_t)(256 * pixels[k]);
      passed = comparison_run_colour (&narrow, pixels, i > 0 ? chroma : NULL, &options) &&
               comparison_run_colour (&wide, pixels, i > 0 ? chroma : NULL, &options);
      if (passed && memcmp (narrow.reference->mask, wide.reference->mask, N) != 0)
        g_test_fail_printf ("another mask in frame %u", frame);
      char *difference = compare_models (&wide.model, narrow.reference);
      if (passed && difference)
        g_test_fail_printf ("frame %u: %s", frame, difference);
      g_free (difference);
    }
    comparison_end (&narrow);
    comparison_end (&wide);
  }
  g_free (pixels);
  g_free (chroma);
  g_free (words);
}

/* Begins with a background model of a row of pixels of 16 bits. */
static bool
comparison_begin_words (Comparison *comparison, const ForegroundBackend *backend, uint32_t width)
{
  const CclForegroundPlan plan = {.width = width,
      .height = 1,
      .method = CUDACCL_FOREGROUND_MOG2,
      .format = CUDACCL_PIXEL_FORMAT_16};

  return comparison_begin (comparison, backend, &plan);
}

/* Runs a method and the reference on pixels of 16 bits. */
static bool
comparison_run_words (
    Comparison *comparison, const uint16_t *words, const CclForegroundOptions *options)
{
  comparison->words = words;
  return comparison_run (comparison, NULL, options);
}

/* Computed by hand: the least variance is 4 in the scale of 8 bits, so that with a threshold of 0.1
 * variances a pixel is background up to a distance of 256 × √0.4 = 161.9. */
static void
check_values_between_those_of_8_bits (const ForegroundBackend *backend)
{
  static const int distances[] = {0, 161, -161, 162, -162, 255, -255, 3000};
  enum { WIDTH = G_N_ELEMENTS (distances), LEARNT = 300 };
  CclForegroundOptions options = usual_options;
  uint16_t words[WIDTH];
  Comparison comparison;
  bool passed = comparison_begin_words (&comparison, backend, WIDTH);

  options.var_threshold = 0.1f;
  options.learning_rate = 0.05;
  for (uint32_t frame = 0; frame <= LEARNT && passed; frame++) {
    for (uint32_t i = 0; i < WIDTH; i++)
      words[i] = (uint16_t)(25678 + (frame == LEARNT ? distances[i] : 0));
    passed = comparison_run_words (&comparison, words, &options);
    for (uint32_t i = 0; i < WIDTH && passed; i++)
      g_assert_cmpuint (
          comparison.reference->mask[i], ==, frame == LEARNT && ABS (distances[i]) > 161 ? 255 : 0);
  }
  comparison_end (&comparison);
}

/* Computed by hand: the ratio of a shadow is that of values rounded to 8 bits, which are at most
 * 255. */
static void
check_shadows_of_16_bits (const ForegroundBackend *backend)
{
  static const struct {
    uint16_t background, value;
    uint8_t mask;
  } cases[] = {
      {65535, 65535, 0},
      {65535, 65151, 127}, /* 254, the others 255 */
      {65535, 65152, 255},
      {65535, 41088, 127}, /* 161 of 255 */
      {65535, 41087, 255}, /* 160 of 255 is less than 161 / 256 */
      {38400, 24192, 127}, /* 94.5 is rounded to 95, more than 161 / 256 of 150 */
      {38400, 24191, 255},
      {38400, 38272, 255}, /* 149.5 is rounded to 150 */
      {38400, 38271, 127},
      {38400, 40000, 255},
  };
  enum { WIDTH = G_N_ELEMENTS (cases), LEARNT = 300 };
  CclForegroundOptions options = usual_options;
  uint16_t words[WIDTH];
  Comparison comparison;
  bool passed = comparison_begin_words (&comparison, backend, WIDTH);

  options.var_threshold = 0.01f;
  options.learning_rate = 0.05;
  options.shadows = CUDACCL_SHADOWS_MARK;
  for (uint32_t frame = 0; frame <= LEARNT && passed; frame++) {
    for (uint32_t i = 0; i < WIDTH; i++)
      words[i] = frame == LEARNT ? cases[i].value : cases[i].background;
    passed = comparison_run_words (&comparison, words, &options);
  }
  for (uint32_t i = 0; i < WIDTH && passed; i++)
    if (comparison.reference->mask[i] != cases[i].mask)
      g_test_fail_printf (
          "%u before %u is %u", cases[i].value, cases[i].background, comparison.reference->mask[i]);
  comparison_end (&comparison);
}

/* With a learning rate of 1 a mean moves by the whole deviation and the dither, which in this frame
 * is so close to 1 that their sum is rounded to the next integer. A mean of 65536 would not fit. */
static void
check_the_greatest_mean (const ForegroundBackend *backend)
{
  enum { WIDTH = 40, FRAME = 6765 };
  CclForegroundOptions options = usual_options;
  uint16_t words[WIDTH];
  Comparison comparison;
  bool passed = comparison_begin_words (&comparison, backend, WIDTH);

  options.learning_rate = 1;
  for (uint32_t i = 0; i < WIDTH; i++) /* some pixels get a second Gaussian, and a new match */
    words[i] = (uint16_t)(UINT16_MAX - 2900 + i % 4);
  passed = passed && comparison_run_words (&comparison, words, &options);
  comparison.foreground->n_frames = comparison.reference->n_frames = FRAME;
  for (uint32_t i = 0; i < WIDTH; i++)
    words[i] = i % 5 ? UINT16_MAX : 100;
  passed = passed && comparison_run_words (&comparison, words, &options);
  for (uint32_t i = 0; i < WIDTH && passed; i++)
    g_assert_cmpuint (comparison.reference->model.means[i], ==, words[i]);
  comparison_end (&comparison);
}

static void
check_colours_of_every_format (const ForegroundBackend *backend)
{
  for (uint32_t i = 0; i <= G_N_ELEMENTS (chroma_layouts); i++) {
    const ChromaLayout *layout = i < G_N_ELEMENTS (chroma_layouts) ? &chroma_layouts[i] : NULL;
    Seen seen = {0};
    if (!check_colours (backend, 131 + i, 47 + i, layout, 75, i, &seen))
      return;
    g_assert_cmpuint (seen.shadows, >, 100);
    g_assert_cmpuint (seen.changes[CUDACCL_SCENE_MOVED], >=, 1);
    if (layout)
      g_assert_cmpuint (seen.changes[CUDACCL_SCENE_INFRARED], >=, 1);
  }
}

/* Sizes at which cells, samples of chroma and words are cut off. */
static void
check_colours_of_every_width (const ForegroundBackend *backend)
{
  Seen seen = {0};
  for (uint32_t width = 1; width <= 70; width++)
    if (!check_colours (backend, width, 1 + width % 21,
            &chroma_layouts[width % G_N_ELEMENTS (chroma_layouts)], 20, width, &seen))
      return;
}

/* Cells of more than 16 pixels. */
static void
check_light_of_wide_frames (const ForegroundBackend *backend)
{
  Seen seen = {0};
  if (check_colours (backend, 1100, 50, &chroma_layouts[0], 34, 1, &seen))
    g_assert_cmpuint (seen.changes[CUDACCL_SCENE_MOVED], >=, 1);
}

/* Steps and shifts of chroma that no format has are refused, and nothing is written. */
static void
check_impossible_chroma (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {
      .width = 8, .height = 8, .method = CUDACCL_FOREGROUND_MOG2, .has_chroma = true};
  static const struct {
    uint32_t step, shift_x, shift_y;
    size_t stride;
  } cases[] = {
      {4, 0, 0, 32}, /* rows of 29 bytes, more than a GPU has for them */
      {3, 1, 1, 16},
      {0, 1, 1, 16},
      {2, 3, 1, 16},
      {2, 1, 2, 16},
      {4, 1, 1, 12},
      {2, 0, 0, 14},
  };
  uint8_t pixels[64] = {0}, samples[8 * 32] = {0}, mask_pixels[64];
  const CclMask mask = {.data = mask_pixels, .stride = 8};
  CclError error = {CUDACCL_OK};
  CclForeground *foreground = backend->foreground_new (backend->data, &plan, &error);

  g_assert_nonnull (foreground);
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    const CclFrame frame = {
        .data = pixels,
        .stride = 8,
        .chroma = {samples, samples + 1, cases[i].stride, cases[i].stride, cases[i].step,
            cases[i].shift_x, cases[i].shift_y},
    };
    memset (mask_pixels, UNTOUCHED_BYTE, sizeof mask_pixels);
    g_assert_cmpint (ccl_foreground_run (foreground, &frame, &usual_options, &mask, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpuint (mask_pixels[0], ==, UNTOUCHED_BYTE);
  }
  ccl_foreground_free (&foreground);
}

/* Computed by hand: all pixels of one colour, then some of them darker, with and without the
 * background's colour. */
static void
check_shadows (const ForegroundBackend *backend)
{
  enum { WIDTH = 8, HEIGHT = 4 };
  static const struct {
    uint8_t luma, u, v;
    bool is_shadow;
  } cases[] = {
      {140, 108, 148, true}, /* a little darker, the same hue */
      {100, 114, 142, true}, /* half as dark and half as colourful */
      {95, 115, 142, true},  /* close to the darkest shadow, 161 / 256 */
      {94, 115, 142, false}, /* too dark */
      {100, 128, 142,
          false}, /* u differs by more than the tolerance of (13 × 100 − 6 × 150) / 150 */
      {100, 114, 160, false}, /* v does */
      {180, 108, 148, false}, /* brighter */
  };
  const CclForegroundPlan plan = {
      .width = WIDTH, .height = HEIGHT, .method = CUDACCL_FOREGROUND_MOG2, .has_chroma = true};
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);
  CclForegroundOptions options = usual_options;

  comparison.chroma = &chroma_layouts[5];
  options.var_threshold = 1;
  for (uint32_t frame = 0; frame < 40 && passed; frame++) {
    uint8_t pixels[WIDTH * HEIGHT], chroma[2 * WIDTH * HEIGHT];
    options.shadows = frame % 3;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
      const bool tested = frame >= 30 && i < G_N_ELEMENTS (cases);
      pixels[i] = tested ? cases[i].luma : 150;
      chroma[2 * i] = tested ? cases[i].u : 106;
      chroma[2 * i + 1] = tested ? cases[i].v : 150;
    }
    passed = comparison_run_colour (&comparison, pixels, chroma, &options);
    for (uint32_t i = 0; i < WIDTH * HEIGHT && passed && frame == 30 + options.shadows; i++) {
      const bool is_background = i >= G_N_ELEMENTS (cases);
      const uint8_t of_shadow[] = {255, 127, 0};
      g_assert_cmpuint (comparison.reference->mask[i], ==,
          is_background        ? 0
          : cases[i].is_shadow ? of_shadow[options.shadows]
                               : 255);
    }
  }
  comparison_end (&comparison);
}

/* The kinds of scene changes, on a textured picture that is replaced at frame 20 and again at
 * frame 40. */
static void
check_scene_changes (const ForegroundBackend *backend)
{
  enum { WIDTH = 96, HEIGHT = 64 };
  static const struct {
    const char
        *second; /* 1: another picture, grey: without colours, black, white, dim: less light */
    CclSceneChange at_20, at_40;
  } cases[] = {
      {"other", CUDACCL_SCENE_MOVED, CUDACCL_SCENE_MOVED},
      {"grey", CUDACCL_SCENE_INFRARED, CUDACCL_SCENE_INFRARED},
      {"black", CUDACCL_SCENE_COVERED, CUDACCL_SCENE_UNCOVERED},
      {"white", CUDACCL_SCENE_BLINDED, CUDACCL_SCENE_UNCOVERED},
      {"dim", CUDACCL_SCENE_UNCHANGED, CUDACCL_SCENE_UNCHANGED},
  };
  const CclForegroundPlan plan = {
      .width = WIDTH, .height = HEIGHT, .method = CUDACCL_FOREGROUND_MOG2, .has_chroma = true};
  uint8_t *pixels = g_malloc (WIDTH * HEIGHT), *chroma = g_malloc (2 * WIDTH * HEIGHT);

  for (uint32_t k = 0; k < G_N_ELEMENTS (cases) && !g_test_failed (); k++) {
    const char *second = cases[k].second;
    CclForegroundOptions options = usual_options;
    Comparison comparison;
    bool passed = comparison_begin (&comparison, backend, &plan);
    comparison.chroma = &chroma_layouts[2];
    options.light = true;
    for (uint32_t frame = 0; frame < 45 && passed; frame++) {
      const bool changed = frame >= 20 && frame < 40;
      for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t state = i / 3 * (changed && second[0] != 'd' ? 5 : 7);
        next_random (&state);
        const uint32_t look = next_random (&state);
        pixels[i] = (uint8_t)(80 + look % 100);
        chroma[2 * i] = changed && second[0] == 'g' ? 128 : 150;
        chroma[2 * i + 1] = changed && second[0] == 'g' ? 128 : 90;
        if (changed && (second[0] == 'b' || second[0] == 'w'))
          pixels[i] = second[0] == 'b' ? 8 : 250;
        if (changed && second[0] == 'd') {
          pixels[i] = (uint8_t)(pixels[i] * 3 / 4);
          chroma[2 * i] = 128 + 22 * 3 / 4;
          chroma[2 * i + 1] = 128 - 38 * 3 / 4;
        }
      }
      passed = comparison_run_colour (&comparison, pixels, chroma, &options);
      const CclSceneChange change = comparison.reference->scene_change;
      if (passed && change != (frame == 20      ? cases[k].at_20
                                  : frame == 40 ? cases[k].at_40
                                                : CUDACCL_SCENE_UNCHANGED))
        g_test_fail_printf ("%s: scene change %d in frame %u", second, (int)change, frame);
      /* Neither a change of scene nor one of light floods the mask. */
      for (uint32_t i = 0; i < WIDTH * HEIGHT && passed; i++)
        g_assert_cmpuint (comparison.reference->mask[i], ==, 0);
    }
    comparison_end (&comparison);
  }
  g_free (pixels);
  g_free (chroma);
}

/* Noise on a dark ground is no change of light or scene, and objects before it are found. In the
 * second half of the frames the light is brighter by a quarter, which is not foreground. */
static void
check_light_of_noise (const ForegroundBackend *backend)
{
  enum { WIDTH = 96, HEIGHT = 64 };
  const CclForegroundPlan plan = {
      .width = WIDTH, .height = HEIGHT, .method = CUDACCL_FOREGROUND_MOG2};
  uint8_t *pixels = g_malloc (WIDTH * HEIGHT);
  CclForegroundOptions options = usual_options;
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  options.light = true;
  options.denoise = CUDACCL_DENOISE_MEDIAN_3;
  for (uint32_t frame = 0; frame < 80 && passed; frame++) {
    const uint32_t left = frame % 40 * 2;
    uint32_t state = frame + 1, found = 0, all = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
      pixels[i] = (uint8_t)((40 + next_random (&state) % 20) * (frame < 40 ? 4 : 5) / 4);
    for (uint32_t y = 20; y < 40; y++)
      memset (pixels + y * WIDTH + left, 220, 10);
    passed = comparison_run (&comparison, pixels, &options);
    for (uint32_t y = 20; y < 40; y++)
      for (uint32_t x = left; x < left + 10; x++)
        found += comparison.reference->mask[y * WIDTH + x] > 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
      all += comparison.reference->mask[i] > 0;
    if (passed && comparison.reference->scene_change != CUDACCL_SCENE_UNCHANGED)
      g_test_fail_printf ("scene change in frame %u", frame);
    if (passed && frame > 30 && found < 180)
      g_test_fail_printf ("%u of 200 pixels of the object found in frame %u", found, frame);
    if (passed && frame > 30 && all > found + 60)
      g_test_fail_printf ("%u false foreground pixels in frame %u", all - found, frame);
  }
  comparison_end (&comparison);
  g_free (pixels);
}

/* When an object leaves the place where it stood, the mixture still has the background there: what
 * is uncovered is no foreground. */
static void
check_no_ghost_of_what_stood (const ForegroundBackend *backend)
{
  enum { WIDTH = 24, HEIGHT = 16, ARRIVES = 150, LEAVES = 550, END = 560 };
  const CclForegroundPlan plan = {
      .width = WIDTH, .height = HEIGHT, .method = CUDACCL_FOREGROUND_MOG2};
  uint8_t *pixels = g_malloc (WIDTH * HEIGHT);
  CclForegroundOptions options = usual_options;

  for (options.hold = 1; options.hold <= 4 && !g_test_failed (); options.hold += 3) {
    Comparison comparison;
    bool passed = comparison_begin (&comparison, backend, &plan);
    options.history = 500;
    for (uint32_t frame = 0; frame < END && passed; frame++) {
      const bool stands = frame >= ARRIVES && frame < LEAVES;
      uint32_t state = frame + 1, found = 0;
      for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        pixels[i] = (uint8_t)(100 + next_random (&state) % 5);
      for (uint32_t y = 4; y < 12 && stands; y++)
        memset (pixels + y * WIDTH + 6, 180, 10);
      passed = comparison_run (&comparison, pixels, &options);
      for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        found += comparison.reference->mask[i] > 0;
      if (passed && frame == ARRIVES && found < 70)
        g_test_fail_printf ("only %u pixels of an object are found", found);
      if (passed && frame >= LEAVES && found > 0)
        g_test_fail_printf (
            "%u pixels of a ghost in frame %u, hold %u", found, frame - LEAVES, options.hold);
    }
    comparison_end (&comparison);
  }
  g_free (pixels);
}

/* Computed by hand: an object that stands still stays four times as long. */
static void
check_hold (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {.width = 40, .height = 3, .method = CUDACCL_FOREGROUND_MOG2};
  uint8_t pixels[40 * 3];
  CclForegroundOptions options = usual_options;
  uint32_t n_foreground_frames = 0;
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  options.learning_rate = 0.01;
  options.hold = 4;
  for (uint32_t frame = 0; frame < 140 && passed; frame++) {
    memset (pixels, 90, sizeof pixels);
    if (frame >= 80)
      pixels[40 + 17] = 200;
    passed = comparison_run (&comparison, pixels, &options);
    n_foreground_frames += comparison.reference->mask[40 + 17] != 0;
  }
  if (passed)
    g_assert_cmpint (ABS ((int)n_foreground_frames - 42), <=, 6);
  comparison_end (&comparison);
}

/* By hand: gaps narrower than the window are filled, others are not, and nothing grows. */
static void
check_closing (const ForegroundBackend *backend)
{
  enum { WIDTH = 100, HEIGHT = 30 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT};
  uint8_t pixels[WIDTH * HEIGHT] = {0};
  Comparison comparison;
  bool passed = comparison_begin (&comparison, backend, &plan);

  for (uint32_t y = 8; y < 20; y++)
    for (uint32_t x = 20; x < 80; x++)
      pixels[y * WIDTH + x] = x < 40 || (x >= 46 && x < 60) || x >= 68 ? 200 : 0;
  for (uint32_t size = 1; size <= CUDACCL_MAX_CLOSING && passed; size++) {
    CclForegroundOptions options = usual_options;
    options.closing_width = size;
    options.closing_height = size % 4;
    passed = comparison_run (&comparison, pixels, &options);
    const uint8_t *row = comparison.reference->mask + 12 * WIDTH;
    g_assert_cmpuint (row[43], ==, size > 6 ? 255 : 0);
    g_assert_cmpuint (row[64], ==, size > 8 ? 255 : 0);
    g_assert_cmpuint (row[19], ==, 0);
    g_assert_cmpuint (row[80], ==, 0);
  }
  comparison_end (&comparison);
}

static void
check_impossible_arguments (const ForegroundBackend *backend)
{
  CclError error = {CUDACCL_OK};
  CclForegroundPlan plan = {.width = 8, .height = 0};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  plan = (CclForegroundPlan){.width = 8, .height = 8, .method = 4};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_nonnull (strstr (error.message, "method must be 0…3, not 4"));
  plan = (CclForegroundPlan){.width = 8, .height = 8, .format = (CclPixelFormat)4};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_nonnull (strstr (error.message, "pixel format must be 0…3, not 4"));
  uint8_t bytes[64] = {0}, untouched[64];
  const CclFrame narrow = {.data = bytes, .stride = 7};
  plan = (CclForegroundPlan){.width = 8, .height = 8, .roi_mask = &narrow};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_nonnull (strstr (error.message, "region of interest mask"));
  g_assert_null (backend->foreground_new (backend->data, NULL, NULL));

  plan = (CclForegroundPlan){.width = 8, .height = 8, .method = CUDACCL_FOREGROUND_MOG2};
  CclForeground *foreground = backend->foreground_new (backend->data, &plan, &error);
  g_assert_nonnull (foreground);
  static const CclForegroundOptions bad[] = {
      {.history = 0, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
      {.history = 9, .var_threshold = 0, .learning_rate = -1, .mixtures = 5},
      {.history = 9, .var_threshold = 16, .learning_rate = 1.1, .mixtures = 5},
      {.history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 6},
      {.history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 0},
      {.denoise = 5, .history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
      {.shadows = 3, .history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
      {.hold = 17, .history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
      {.size = sizeof (CclForegroundOptions),
          .sensitivity = 49,
          .history = 9,
          .var_threshold = 16,
          .learning_rate = -1,
          .mixtures = 5},
      {.size = sizeof (CclForegroundOptions),
          .sensitivity = 201,
          .history = 9,
          .var_threshold = 16,
          .learning_rate = -1,
          .mixtures = 5},
      {.closing_width = 64, .history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
      {.closing_height = 64, .history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
  };
  static const char *const words[] = {"history", "variance", "learning rate", "Gaussians",
      "Gaussians", "denoise", "shadows", "hold", "sensitivity", "sensitivity", "closing",
      "closing"};
  memset (untouched, UNTOUCHED_BYTE, sizeof untouched);
  const CclFrame frame = {.data = bytes, .stride = 8};
  const CclMask mask = {.data = untouched, .stride = 8};
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_cmpint (ccl_foreground_run (foreground, &frame, &bad[i], &mask, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
    if (!strstr (error.message, words[i]))
      g_error ("\"%s\" does not say \"%s\"", error.message, words[i]);
    g_assert_cmpuint (untouched[0], ==, UNTOUCHED_BYTE);
  }
  g_assert_cmpuint (foreground->n_frames, ==, 0);
  ccl_foreground_free (&foreground);
  ccl_foreground_free (&foreground);
  ccl_foreground_free (NULL);
  ccl_foreground_reset (NULL);
}

static void
run_check (gconstpointer data)
{
  const Subject *subject = data;
  subject->check (subject->backend);
}

static void
free_subjects (void)
{
  g_slist_free_full (subjects, g_free);
  guarded_memory_clear (&frame_memory);
  guarded_memory_clear (&mask_memory);
  guarded_memory_clear (&chroma_memory[0]);
  guarded_memory_clear (&chroma_memory[1]);
}

void
foreground_checks_register (const ForegroundBackend *backend)
{
  static const struct {
    const char *name;
    void (*check) (const ForegroundBackend *backend);
  } checks[] = {
      {"threshold", check_threshold},
      {"threshold-in-roi-mask", check_threshold_in_roi_mask},
      {"otsu", check_otsu},
      {"otsu-in-roi-mask", check_otsu_in_roi_mask},
      {"threshold-of-16-bits", check_threshold_of_16_bits},
      {"threshold-of-packed-pixels", check_threshold_of_packed_pixels},
      {"otsu-of-16-bits", check_otsu_of_16_bits},
      {"otsu-of-difficult-words", check_otsu_of_difficult_words},
      {"otsu-of-packed-pixels", check_otsu_of_packed_pixels},
      {"background-of-packed-pixels", check_background_of_packed_pixels},
      {"background-of-16-bits", check_background_of_16_bits},
      {"16-bits-of-every-width", check_16_bits_of_every_width},
      {"8-bits-in-16", check_8_bits_in_16},
      {"values-between-those-of-8-bits", check_values_between_those_of_8_bits},
      {"shadows-of-16-bits", check_shadows_of_16_bits},
      {"the-greatest-mean", check_the_greatest_mean},
      {"impossible-chroma", check_impossible_chroma},
      {"large-frame", check_large},
      {"mog2", check_background},
      {"background-of-every-width", check_background_of_every_width},
      {"background-in-roi-mask", check_background_in_roi_mask},
      {"roi-mask-that-changes", check_roi_mask_that_changes},
      {"background-options", check_background_options},
      {"learning-rates", check_learning_rates},
      {"large-rates", check_large_rates},
      {"mixtures", check_mixtures},
      {"recovery", check_recovery},
      {"reset", check_reset},
      {"a-stone-that-remains", check_a_stone_that_remains},
      {"impossible-arguments", check_impossible_arguments},
      {"shadows", check_shadows},
      {"scene-changes", check_scene_changes},
      {"hold", check_hold},
      {"closing", check_closing},
      {"colours-of-every-format", check_colours_of_every_format},
      {"colours-of-every-width", check_colours_of_every_width},
      {"light-of-wide-frames", check_light_of_wide_frames},
      {"light-of-noise", check_light_of_noise},
      {"no-ghost-of-what-stood", check_no_ghost_of_what_stood},
      {"codebook-of-every-format", check_codebook_of_every_format},
      {"codebook-of-every-width", check_codebook_of_every_width},
      {"codebook-scene-changes", check_codebook_scene_changes},
      {"codebook-for-a-long-time", check_codebook_for_a_long_time},
      {"codebook-of-leaves", check_codebook_of_leaves},
      {"codebook-at-rest", check_codebook_at_rest},
      {"codebook-of-uncovered-ground", check_codebook_of_uncovered_ground},
      {"codebook-in-light-of-noise", check_codebook_in_light_of_noise},
      {"codebook-in-white-noise", check_codebook_in_white_noise},
      {"codebook-at-night", check_codebook_at_night},
      {"codebook-of-faint-objects", check_codebook_of_faint_objects},
      {"codebook-in-bands-of-light", check_codebook_in_bands_of_light},
      {"codebook-of-a-shaking-camera", check_codebook_of_a_shaking_camera},
      {"codebook-without-chroma-from-now-on", check_codebook_without_chroma_from_now_on},
      {"codebook-of-reduced-frames", check_codebook_of_reduced_frames},
      {"reduction", check_reduction},
      {"reduction-factors", check_reduction_factors},
  };

  if (!subjects)
    atexit (free_subjects);
  for (size_t i = 0; i < G_N_ELEMENTS (checks); i++) {
    char *path = g_strdup_printf ("/%s/foreground/%s", backend->name, checks[i].name);
    Subject *subject = g_new (Subject, 1);
    *subject = (Subject){backend, checks[i].check};
    subjects = g_slist_prepend (subjects, subject);
    g_test_add_data_func (path, subject, run_check);
    g_free (path);
  }
}
