/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "foreground-checks.h"

#include "foreground-class.h"

#include "guarded-memory.h"

#include <glib.h>
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

/* A foreground method, its reference, and the memory layout of frames and masks. */
typedef struct Comparison {
  const ForegroundBackend *backend;
  CclForeground *foreground;
  ForegroundReference *reference;
  ModelState model; /* a copy of the backend's model */
  uint32_t padding; /* bytes between two rows */
  bool at_start;    /* start right after a guard page instead of ending right before one */
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
  CclError error = {CCL_OK};
  *comparison = (Comparison){
      .backend = backend,
      .foreground = backend->foreground_new (backend->data, plan, &error),
      .reference = foreground_reference_new (plan),
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
  for (size_t i = 0; i < CCL_MAX_MIXTURES * n; i++)
    if (model->weights[i] != expected->weights[i] ||
        (model->weights[i] > 0 && (model->means[i] != expected->means[i] ||
                                      model->variances[i] != expected->variances[i])))
      return g_strdup_printf ("Gaussian %zu of pixel %zu is (%u, %u, %u) instead of (%u, %u, %u)",
          i / n, i % n, model->weights[i], model->means[i], model->variances[i],
          expected->weights[i], expected->means[i], expected->variances[i]);
  return NULL;
}

/* Runs the method and the reference on a frame of width × height bytes without padding. On the
 * first difference, fails the test case and returns false. */
static bool
comparison_run (Comparison *comparison, const uint8_t *pixels, const CclForegroundOptions *options)
{
  const ForegroundReference *reference = comparison->reference;
  const ForegroundBackend *backend = comparison->backend;
  const uint32_t width = reference->width, height = reference->height;
  const size_t stride = (size_t)width + comparison->padding;
  const size_t size = stride * (height - 1) + width;

  guarded_memory_resize (&frame_memory, size, !comparison->at_start);
  guarded_memory_resize (&mask_memory, size, !comparison->at_start);
  for (uint32_t y = 0; y < height; y++) {
    memcpy (frame_memory.data + y * stride, pixels + (size_t)y * width, width);
    if (y < height - 1)
      memset (frame_memory.data + y * stride + width, (int)(y * 37), comparison->padding);
  }
  memset (mask_memory.data, UNTOUCHED_BYTE, size);
  guarded_memory_set_read_only (&frame_memory);
  const CclFrame frame = {.data = frame_memory.data, .stride = stride};
  const CclMask mask = {.data = mask_memory.data, .stride = stride};

  CclError error = {CCL_OK};
  CclStatus status;
  if (backend->run) {
    status = backend->run (backend->data, comparison->foreground, &frame, options, &mask, &error);
  } else {
    status = ccl_foreground_run (comparison->foreground, &frame, options, &mask, &error);
    if (status == CCL_OK)
      status = ccl_foreground_wait (comparison->foreground, &error);
  }
  foreground_reference_run (comparison->reference, &frame, options);

  char *difference = NULL;
  if (status != CCL_OK)
    difference = g_strdup_printf ("run failed: %s", error.message);
  if (!difference)
    difference = compare_masks (&mask, reference, comparison->padding);
  if (!difference && reference->method == CCL_FOREGROUND_MOG2 && backend->read_model) {
    backend->read_model (backend->data, comparison->foreground, &comparison->model);
    difference = compare_models (&comparison->model, reference);
  }
  if (difference)
    g_test_fail_printf (
        "%s, %u×%u, row padding %u, at %s, foreground %d, denoise %d, invert %d, "
        "region of interest mask %d, history %u, var-threshold %g, learning rate %g, mixtures %u, "
        "frame %u: %s",
        backend->name, width, height, comparison->padding, comparison->at_start ? "start" : "end",
        (int)reference->method, (int)options->denoise, options->invert, reference->roi_mask != NULL,
        options->history, (double)options->var_threshold, options->learning_rate, options->mixtures,
        comparison->n_frames, difference);
  comparison->n_frames++;
  g_free (difference);
  return status == CCL_OK && !g_test_failed ();
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
check_stills (const ForegroundBackend *backend, CclForegroundMethod method, bool with_roi_mask)
{
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
    };
    passed = comparison_begin (&comparison, backend, &plan);
    /* The plan's region of interest mask was copied: later changes have no effect. */
    memset (roi_mask_pixels, 0, sizeof roi_mask_pixels);
    for (uint32_t i = 0; i < 15 && passed; i++) {
      CclForegroundOptions options = usual_options;
      options.denoise = i % 5;
      options.invert = i % 2;
      options.threshold = i == 7 ? 255 : i == 8 ? 0 : 127;
      comparison.padding = (width + i * 7) % 19;
      comparison.at_start = i % 3 == 0;
      draw_still (pixels, width, height, (width + i) / 2, i);
      passed = comparison_run (&comparison, pixels, &options);
    }
    comparison_end (&comparison);
  }
}

static void
check_threshold (const ForegroundBackend *backend)
{
  check_stills (backend, CCL_FOREGROUND_THRESHOLD, false);
}

static void
check_threshold_in_roi_mask (const ForegroundBackend *backend)
{
  check_stills (backend, CCL_FOREGROUND_THRESHOLD, true);
}

static void
check_otsu (const ForegroundBackend *backend)
{
  check_stills (backend, CCL_FOREGROUND_OTSU, false);
}

static void
check_otsu_in_roi_mask (const ForegroundBackend *backend)
{
  check_stills (backend, CCL_FOREGROUND_OTSU, true);
}

/* A frame large enough for several threads, blocks and words. */
static void
check_large (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {.width = 333, .height = 101, .method = CCL_FOREGROUND_OTSU};
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

  plan.method = CCL_FOREGROUND_MOG2;
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
  const CclForegroundPlan plan = {.width = 40, .height = 2, .method = CCL_FOREGROUND_MOG2};
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
    g_assert_cmpuint (comparison.reference->model.weights[i], ==, CCL_MIXTURE_FULL_WEIGHT);
    g_assert_cmpuint (comparison.reference->model.weights[n_pixels + i], ==, 0);
  }
  comparison_end (&comparison);
}

/* Computed by hand: a constant value is background from the first frame on; a new value is
 * foreground, and becomes background after it has lasted for a tenth of the history. */
static void
check_a_stone_that_remains (const ForegroundBackend *backend)
{
  const CclForegroundPlan plan = {.width = 40, .height = 3, .method = CCL_FOREGROUND_MOG2};
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

static void
check_impossible_arguments (const ForegroundBackend *backend)
{
  CclError error = {CCL_OK};
  CclForegroundPlan plan = {.width = 8, .height = 0};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_cmpint (error.status, ==, CCL_ERROR_ARGUMENT);
  plan = (CclForegroundPlan){.width = 8, .height = 8, .method = 3};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_nonnull (strstr (error.message, "method must be 0…2, not 3"));
  uint8_t bytes[64] = {0}, untouched[64];
  const CclFrame narrow = {.data = bytes, .stride = 7};
  plan = (CclForegroundPlan){.width = 8, .height = 8, .roi_mask = &narrow};
  g_assert_null (backend->foreground_new (backend->data, &plan, &error));
  g_assert_nonnull (strstr (error.message, "region of interest mask"));
  g_assert_null (backend->foreground_new (backend->data, NULL, NULL));

  plan = (CclForegroundPlan){.width = 8, .height = 8, .method = CCL_FOREGROUND_MOG2};
  CclForeground *foreground = backend->foreground_new (backend->data, &plan, &error);
  g_assert_nonnull (foreground);
  static const CclForegroundOptions bad[] = {
      {.history = 0, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
      {.history = 9, .var_threshold = 0, .learning_rate = -1, .mixtures = 5},
      {.history = 9, .var_threshold = 16, .learning_rate = 1.1, .mixtures = 5},
      {.history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 6},
      {.history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 0},
      {.denoise = 5, .history = 9, .var_threshold = 16, .learning_rate = -1, .mixtures = 5},
  };
  static const char *const words[] = {
      "history", "variance", "learning rate", "Gaussians", "Gaussians", "denoise"};
  memset (untouched, UNTOUCHED_BYTE, sizeof untouched);
  const CclFrame frame = {.data = bytes, .stride = 8};
  const CclMask mask = {.data = untouched, .stride = 8};
  for (size_t i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_cmpint (
        ccl_foreground_run (foreground, &frame, &bad[i], &mask, &error), ==, CCL_ERROR_ARGUMENT);
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
      {"large-frame", check_large},
      {"mog2", check_background},
      {"background-of-every-width", check_background_of_every_width},
      {"background-in-roi-mask", check_background_in_roi_mask},
      {"background-options", check_background_options},
      {"learning-rates", check_learning_rates},
      {"large-rates", check_large_rates},
      {"mixtures", check_mixtures},
      {"recovery", check_recovery},
      {"reset", check_reset},
      {"a-stone-that-remains", check_a_stone_that_remains},
      {"impossible-arguments", check_impossible_arguments},
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
