/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/foreground/codebook-checks.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* How a frame lies in memory: u and v at these places of the chroma, or of a packed frame. */
typedef struct Layout {
  const char *name;
  CclPixelFormat format;
  bool is_packed;
  uint32_t step, shift_x, shift_y; /* step 0: no chroma */
  uint32_t u, v;
} Layout;

static const Layout layouts[] = {
    {"GRAY8", CUDACCL_PIXEL_FORMAT_8, false, 0, 0, 0, 0, 0},
    {"NV12", CUDACCL_PIXEL_FORMAT_8, false, 2, 1, 1, 0, 1},
    {"NV21", CUDACCL_PIXEL_FORMAT_8, false, 2, 1, 1, 1, 0},
    {"NV16", CUDACCL_PIXEL_FORMAT_8, false, 2, 1, 0, 0, 1},
    {"NV24", CUDACCL_PIXEL_FORMAT_8, false, 2, 0, 0, 0, 1},
    {"I420", CUDACCL_PIXEL_FORMAT_8, false, 1, 1, 1, 0, 1000},
    {"Y444", CUDACCL_PIXEL_FORMAT_8, false, 1, 0, 0, 0, 1000},
    {"Y41B", CUDACCL_PIXEL_FORMAT_8, false, 1, 2, 0, 0, 1000},
    {"YUY2", CUDACCL_PIXEL_FORMAT_8_FIRST, true, 4, 1, 0, 1, 3},
    {"UYVY", CUDACCL_PIXEL_FORMAT_8_SECOND, true, 4, 1, 0, 0, 2},
    {"GRAY16_LE", CUDACCL_PIXEL_FORMAT_16, false, 0, 0, 0, 0, 0},
    {"P010_10LE", CUDACCL_PIXEL_FORMAT_16, false, 4, 1, 1, 1, 3},
};

/* A scene of textured ground under changing light, with noise, a moving object before its shadow,
 * leaves, and other pictures. */
typedef struct Scene {
  uint32_t width, height;
  const Layout *layout;
  size_t stride; /* of luma; rows of chroma have CHROMA_STRIDE */
  CclFrame frame;
  uint8_t *luma, *chroma;
  uint32_t state; /* of the random numbers */
} Scene;

enum { CHROMA_STRIDE = 2048 };

/* What the ground shows. */
typedef enum Picture {
  PICTURE_USUAL,
  PICTURE_OTHER,
  PICTURE_GREY,
  PICTURE_BLACK,
  PICTURE_WHITE
} Picture;

static uint32_t
next_random (uint32_t *state)
{
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

static Scene
scene_new (const Layout *layout, uint32_t width, uint32_t height)
{
  Scene scene = {.width = width, .height = height, .layout = layout, .state = width + height};
  const bool is_wide = layout->format == CUDACCL_PIXEL_FORMAT_16; /* on a GPU: even strides */
  scene.stride = layout->is_packed ? CHROMA_STRIDE : 2 * (size_t)width + (is_wide ? 6 : 5);
  scene.luma = g_malloc0 (scene.stride * height + CHROMA_STRIDE);
  scene.chroma = g_malloc0 ((size_t)CHROMA_STRIDE * (height + 1));
  const uint8_t *chroma = layout->is_packed ? scene.luma : scene.chroma;
  scene.frame = (CclFrame){.data = scene.luma, .stride = scene.stride};
  if (layout->step > 0)
    scene.frame.chroma = (CclChroma){
        .u = chroma + layout->u,
        .v = chroma + layout->v,
        .u_stride = CHROMA_STRIDE,
        .v_stride = CHROMA_STRIDE,
        .step = layout->step,
        .shift_x = layout->shift_x,
        .shift_y = layout->shift_y,
    };
  return scene;
}

static void
scene_clear (Scene *self)
{
  g_free (self->luma);
  g_free (self->chroma);
}

static uint8_t
in_range (int value)
{
  return (uint8_t)CLAMP (value, 0, 255);
}

/* The luma of the ground: patches of 5×5 pixels. */
static int
ground_at (uint32_t x, uint32_t y, Picture picture)
{
  const uint32_t patch = (x / 5 + 37 * (y / 5)) * 2654435761u >> 24;
  switch (picture) {
  case PICTURE_OTHER:
    return 40 + (int)((patch + 90) % 180);
  case PICTURE_BLACK:
    return 8;
  case PICTURE_WHITE:
    return 245;
  default:
    return 40 + (int)(patch % 180);
  }
}

static void
set_luma (Scene *self, uint32_t x, uint32_t y, uint8_t value)
{
  uint8_t *row = self->luma + y * self->stride;
  switch (self->layout->format) {
  case CUDACCL_PIXEL_FORMAT_8_FIRST:
    row[2 * x] = value;
    break;
  case CUDACCL_PIXEL_FORMAT_8_SECOND:
    row[2 * x + 1] = value;
    break;
  case CUDACCL_PIXEL_FORMAT_16:
    row[2 * x] = (uint8_t)next_random (&self->state);
    row[2 * x + 1] = value;
    break;
  default:
    row[x] = value;
  }
}

static void
set_chroma (Scene *self, uint32_t x, uint32_t y, uint8_t u, uint8_t v)
{
  const CclChroma *chroma = &self->frame.chroma;
  const size_t at =
      (y >> chroma->shift_y) * (size_t)CHROMA_STRIDE + (x >> chroma->shift_x) * chroma->step;
  if (self->layout->step == 0)
    return;
  ((uint8_t *)chroma->u)[at] = u;
  ((uint8_t *)chroma->v)[at] = v;
}

static void
scene_draw (Scene *self, uint32_t number, Picture picture)
{
  const int object = (int)(number * 3 % (self->width + 20)) - 10;
  const int light = 64 + (int)(number / 16 % 5) * (number / 16 % 2 ? 3 : -3);

  for (uint32_t y = 0; y < self->height; y++) {
    for (uint32_t x = 0; x < self->width; x++) {
      const uint32_t random = next_random (&self->state);
      const int place = (int)x - object;
      const bool in_band = y > self->height / 4 && y < 3 * self->height / 4 && number > 6;
      int luma = ground_at (x, y, picture) * (x > self->width / 2 ? light : 64) / 64;
      int u = picture == PICTURE_GREY ? 128 : 110 + (int)(y % 9);
      int v = picture == PICTURE_GREY ? 128 : 140 + (int)(x % 7);
      if (in_band && place >= 0 && place < 12) {
        luma = 200 - luma / 2;
        u = 150;
      } else if (in_band && place >= 12 && place < 24) {
        luma = luma * 3 / 4;
      } else if (y < self->height / 5 && (number / 3 + x / 4) % 5 == 0) {
        luma += 60;
      }
      if (random % 97 == 0)
        luma = (int)(random >> 8) % 256;
      set_luma (self, x, y, in_range (luma + (int)(random >> 4 & 7) - 3));
      set_chroma (
          self, x, y, in_range (u + (int)(random >> 7 & 3)), in_range (v + (int)(random >> 9 & 3)));
    }
  }
}

/* A backend's object, and the reference. */
typedef struct Pair {
  const ForegroundBackend *backend;
  CclForegroundPlan plan;
  CclForeground *foreground;
  ForegroundReference *reference;
  uint8_t *mask;
  const char *name;
  uint32_t n_frames;
} Pair;

/* Returns false where the backend has no codebook model; the case is skipped then. */
static bool
pair_begin (
    Pair *self, const ForegroundBackend *backend, const CclForegroundPlan *plan, const char *name)
{
  CclError error = {CUDACCL_OK};
  *self = (Pair){.backend = backend, .plan = *plan, .name = name};
  self->plan.method = CUDACCL_FOREGROUND_CODEBOOK;
  self->foreground = backend->foreground_new (backend->data, &self->plan, &error);
  if (!self->foreground && error.status == CUDACCL_ERROR_UNSUPPORTED) {
    g_test_skip (error.message);
    return false;
  }
  g_assert_nonnull (self->foreground);
  self->reference = foreground_reference_new (&self->plan);
  self->mask = g_malloc ((size_t)plan->width * plan->height);
  return true;
}

static void
pair_end (Pair *self)
{
  ccl_foreground_free (&self->foreground);
  foreground_reference_free (self->reference);
  g_free (self->mask);
}

static void
run_backend (Pair *self, const CclFrame *frame, const CclForegroundOptions *options)
{
  const ForegroundBackend *backend = self->backend;
  const CclMask mask = {.data = self->mask, .stride = self->plan.width};
  CclError error = {CUDACCL_OK};
  const CclStatus status =
      backend->run ? backend->run (backend->data, self->foreground, frame, options, &mask, &error)
                   : ccl_foreground_run (self->foreground, frame, options, &mask, &error);
  if (status != CUDACCL_OK)
    g_error ("%s", error.message);
}

/* Whether both agree on a frame. */
static bool
pair_run (Pair *self, const CclFrame *frame, const CclForegroundOptions *options)
{
  const uint32_t number = self->n_frames++;
  run_backend (self, frame, options);
  foreground_reference_run (self->reference, frame, options);
  const CclSceneChange change = ccl_foreground_get_scene_change (self->foreground);
  if (change != self->reference->scene_change)
    g_test_fail_printf ("%s, %u×%u, frame %u: scene change %d instead of %d", self->name,
        self->plan.width, self->plan.height, number, (int)change,
        (int)self->reference->scene_change);
  for (uint32_t i = 0; i < self->plan.width * self->plan.height; i++) {
    if (self->mask[i] == self->reference->mask[i])
      continue;
    g_test_fail_printf ("%s, %u×%u, frame %u, light %d, shadows %d, hold %u, denoise %d: mask is "
                        "%u instead of %u at %u,%u",
        self->name, self->plan.width, self->plan.height, number, options->light,
        (int)options->shadows, options->hold, (int)options->denoise, self->mask[i],
        self->reference->mask[i], i % self->plan.width, i / self->plan.width);
    break;
  }
  return !g_test_failed ();
}

static CclForegroundOptions
options_of_frame (uint32_t number, bool light)
{
  static const uint64_t durations[] = {0, 16666667, 20000000, 100000000, 1000000000, 1000};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  options.light = light;
  if (number < 20)
    return options;
  options.shadows = (CclShadows)(number / 4 % 3);
  options.hold = number / 8 % 17;
  options.frame_duration = durations[number / 6 % G_N_ELEMENTS (durations)];
  options.absorb_after = number / 9 % 4 * UINT64_C (7000000000);
  options.sensitivity = number / 5 % 5 * 50;
  options.denoise = (CclDenoise)(number % 5);
  options.closing_width = number % 7 == 0 ? 9 : 1;
  options.invert = number % 11 == 0;
  return options;
}

/* Returns the numbers of pixels that were foreground and shadow; negative if the check is over. */
static int64_t
compare_frames (const ForegroundBackend *backend, const Layout *layout, uint32_t width,
    uint32_t height, uint32_t n_frames, bool light)
{
  uint8_t *roi = g_malloc ((size_t)width * height);
  for (uint32_t i = 0; i < width * height; i++)
    roi[i] = i % 31 != 0;
  const CclFrame roi_mask = {.data = roi, .stride = width};
  const CclForegroundPlan plan = {
      .width = width,
      .height = height,
      .has_chroma = layout->step > 0,
      .format = layout->format,
      .reduction = 1,
      .roi_mask = width % 2 ? &roi_mask : NULL,
  };
  Scene scene = scene_new (layout, width, height);
  Pair pair;
  int64_t n = -1;

  if (pair_begin (&pair, backend, &plan, layout->name)) {
    n = 0;
    for (uint32_t number = 0; number < n_frames; number++) {
      const CclForegroundOptions options = options_of_frame (number, light != (number % 40 > 35));
      if (number == n_frames - n_frames / 5) { /* both start anew */
        ccl_foreground_reset (pair.foreground);
        pair.reference->n_frames = 0;
      }
      scene_draw (&scene, number, PICTURE_USUAL);
      if (!pair_run (&pair, &scene.frame, &options))
        break;
      for (uint32_t i = 0; i < width * height; i++)
        n += pair.mask[i] != 0;
    }
    pair_end (&pair);
  }
  scene_clear (&scene);
  g_free (roi);
  return n;
}

void
check_codebook_of_every_format (const ForegroundBackend *backend)
{
  int64_t n_pixels = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (layouts) && !g_test_failed (); i++) {
    const int64_t n = compare_frames (backend, &layouts[i], 71, 47, 60, i % 3 != 2);
    if (n < 0)
      return;
    n_pixels += n;
  }
  g_assert_cmpint (n_pixels, >, 50000);
}

void
check_codebook_of_every_width (const ForegroundBackend *backend)
{
  for (uint32_t width = 1; width <= 70 && !g_test_failed (); width++)
    if (compare_frames (backend, &layouts[width % G_N_ELEMENTS (layouts)], width, 1 + width % 19,
            10, width % 5 > 0) < 0)
      return;
  compare_frames (backend, &layouts[1], 601, 33, 8, true); /* cells of more than 16 pixels */
}

void
check_codebook_scene_changes (const ForegroundBackend *backend)
{
  static const struct {
    Picture picture;
    CclSceneChange there, back;
    uint32_t n_frames; /* after which it is reported */
  } cases[] = {
      {PICTURE_OTHER, CUDACCL_SCENE_MOVED, CUDACCL_SCENE_MOVED, 26},
      {PICTURE_GREY, CUDACCL_SCENE_INFRARED, CUDACCL_SCENE_INFRARED, 5},
      {PICTURE_BLACK, CUDACCL_SCENE_COVERED, CUDACCL_SCENE_UNCOVERED, 5},
      {PICTURE_WHITE, CUDACCL_SCENE_BLINDED, CUDACCL_SCENE_UNCOVERED, 5},
  };
  const CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;

  for (size_t i = 0; i < G_N_ELEMENTS (cases) && !g_test_failed (); i++) {
    const CclForegroundPlan plan = {.width = 99, .height = 50, .has_chroma = true, .reduction = 1};
    Scene scene = scene_new (&layouts[1], plan.width, plan.height);
    CclSceneChange changes[2] = {CUDACCL_SCENE_UNCHANGED, CUDACCL_SCENE_UNCHANGED};
    uint32_t frames[2] = {0, 0}, n_settled = 0;
    Pair pair;
    bool passed = pair_begin (&pair, backend, &plan, "scene change");
    const bool is_skipped = !passed;
    for (uint32_t number = 0; number < 210 && passed; number++) {
      const bool is_there = number >= 70 && number < 140;
      /* No object, and no change of light. */
      scene_draw (&scene, 0, is_there ? cases[i].picture : PICTURE_USUAL);
      passed = pair_run (&pair, &scene.frame, &options);
      const CclSceneChange change = ccl_foreground_get_scene_change (pair.foreground);
      if (change != CUDACCL_SCENE_UNCHANGED && change != CUDACCL_SCENE_SETTLED) {
        changes[number >= 140] = change;
        frames[number >= 140] = number % 70;
      }
      n_settled += change == CUDACCL_SCENE_SETTLED;
    }
    scene_clear (&scene);
    if (is_skipped)
      return;
    pair_end (&pair);
    g_assert_cmpint (changes[0], ==, cases[i].there);
    g_assert_cmpint (changes[1], ==, cases[i].back);
    g_assert_cmpuint (frames[0], <=, cases[i].n_frames + 3);
    g_assert_cmpuint (frames[1], <=, cases[i].n_frames + 3);
    g_assert_cmpuint (n_settled, ==, i < 2 ? 2 : 0);
  }
}

/* Leaves at every pixel, and now and then an object. */
static uint8_t
luma_of_frame (uint32_t number, uint32_t pixel)
{
  return number % 97 < 3 && pixel < 4 ? 220 : (number + 3 * pixel) % 20 < 18 ? 100 : 160;
}

void
check_codebook_for_a_long_time (const ForegroundBackend *backend)
{
  enum { WIDTH = 4, HEIGHT = 2, N = WIDTH * HEIGHT, N_FRAMES = CUDACCL_CODEBOOK_MOST_TIME + 1000 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N], grey[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  Pair pair;

  /* The simulated GPU is too slow for so many frames. */
  if (!g_test_slow () && !g_str_has_prefix (backend->name, "cpu")) {
    g_test_skip ("only with -m slow");
    return;
  }
  if (!pair_begin (&pair, backend, &plan, "a long time"))
    return;
  CodebookReference *reference = codebook_reference_new (WIDTH, HEIGHT);
  options.light = reference->has_light = false;
  memset (grey, 128, N);
  for (uint32_t number = 0; number < N_FRAMES && !g_test_failed (); number++) {
    for (uint32_t i = 0; i < N; i++)
      luma[i] = luma_of_frame (number, i);
    run_backend (&pair, &frame, &options);
    codebook_reference_run (reference, luma, grey, grey);
    if (memcmp (pair.mask, reference->mask, N) != 0)
      g_test_fail_printf ("frame %u: another mask", number);
  }
  codebook_reference_free (reference);
  pair_end (&pair);
}

void
check_codebook_of_leaves (const ForegroundBackend *backend)
{
  enum { WIDTH = 40, HEIGHT = 10, N = WIDTH * HEIGHT, N_FRAMES = 540 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t n_young = 0, n_old = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "leaves");

  if (!passed)
    return;
  options.light = false;
  for (uint32_t number = 0; number < N_FRAMES && passed; number++) {
    for (uint32_t i = 0; i < N; i++) {
      const bool is_leaf = number > 50 && i % WIDTH >= 8 && (number + i % WIDTH / 8 * 3) % 20 >= 18;
      luma[i] = is_leaf ? 160 : 100;
    }
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++) {
      n_young += number < 200 && pair.mask[i];
      n_old += number >= 500 && pair.mask[i];
    }
  }
  pair_end (&pair);
  g_assert_cmpuint (n_young, >, 1000);
  g_assert_cmpuint (50 * n_old, <, n_young); /* a leaf is there for a tenth of the time */
}

/* Of the ground, which is still for long. Then an object comes and stays, in the first columns
 * early and in the next ones after the weight of the ground has reached its limit. In the last
 * columns the ground becomes brighter until it has the luma of another word. */
static uint8_t
luma_of_ground (uint32_t number, uint32_t x)
{
  const uint32_t noise = (number ^ x) & 1, step = number % 700;
  if (x < 32)
    return (uint8_t)(number >= 600 && number < 1100 ? 200 : 100 + noise);
  if (x < 64)
    return (uint8_t)(number >= 2200 && number < 3400 ? 200 : 100 + noise);
  return (uint8_t)(step >= 50 && step < 54 ? 124 : step < 100 ? 100 : 100 + (step - 100) / 12);
}

void
check_codebook_at_rest (const ForegroundBackend *backend)
{
  enum { WIDTH = 96, HEIGHT = 5, N = WIDTH * HEIGHT, N_FRAMES = 3500 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t n_found[3] = {0};
  Pair pair;
  bool passed;

  if (!g_test_slow () && !g_str_has_prefix (backend->name, "cpu")) {
    g_test_skip ("only with -m slow");
    return;
  }
  if (!(passed = pair_begin (&pair, backend, &plan, "at rest")))
    return;
  options.light = false;
  options.hold = 1;
  for (uint32_t number = 0; number < N_FRAMES && passed; number++) {
    for (uint32_t i = 0; i < N; i++)
      luma[i] = luma_of_ground (number, i % WIDTH);
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < 3; i++)
      n_found[i] += pair.mask[2 * WIDTH + 32 * i + 16] != 0;
  }
  pair_end (&pair);
  /* Objects that stop are foreground for three to six seconds, with hold = 1. */
  for (uint32_t i = 0; i < 2; i++) {
    g_assert_cmpuint (n_found[i], >=, 75);
    g_assert_cmpuint (n_found[i], <=, 150);
  }
  g_assert_cmpuint (n_found[2], >, 0);
}

/* An object that has been there from the first frame on jumps, at 5 frames per second. Its ghost,
 * at places that make pairs beyond the frame, is found for half a second. */
void
check_codebook_of_uncovered_ground (const ForegroundBackend *backend)
{
  enum { WIDTH = 131, HEIGHT = 50, N = WIDTH * HEIGHT, LEAVES = 6, N_FRAMES = 14 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t state = 1;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "uncovered ground");

  options.light = false;
  options.frame_duration = 200000000;
  for (uint32_t number = 0; number < N_FRAMES && passed; number++) {
    const uint32_t left = number < LEAVES ? 104 : 20;
    uint32_t n_ghost = 0, n_object = 0;
    for (uint32_t i = 0; i < N; i++) {
      const uint32_t column = i % WIDTH - left, row = i / WIDTH - 10;
      luma[i] = (uint8_t)((column < 27 && row < 31 ? 60 : 150) + next_random (&state) % 4);
    }
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++) {
      n_ghost += i % WIDTH >= 90 && pair.mask[i];
      n_object += i % WIDTH < 60 && pair.mask[i];
    }
    g_assert_cmpuint (n_ghost > 700, ==, number >= LEAVES && number < LEAVES + 3);
    g_assert_cmpuint (n_object > 700, ==, number >= LEAVES);
  }
  pair_end (&pair);
}

void
check_codebook_in_light_of_noise (const ForegroundBackend *backend)
{
  enum { WIDTH = 48, HEIGHT = 32, N = WIDTH * HEIGHT };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  const CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t state = 1, n_found = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "light of noise");

  if (!passed)
    return;
  for (uint32_t number = 0; number < 60 && passed; number++) {
    for (uint32_t i = 0; i < N; i++) {
      const uint32_t random = next_random (&state) % 10;
      const uint32_t ground = random < 3 ? 34 : random < 6 ? 46 : 40;
      const uint32_t column = i % WIDTH - number % 40;
      const uint32_t object = number > 10 && column < 8 ? 10 + i / WIDTH % 24 : 0;
      luma[i] = (uint8_t)((ground + object) * (number > 20 && number % 2 ? 9 : 8) / 8);
    }
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++)
      n_found += pair.mask[i] != 0;
  }
  pair_end (&pair);
  g_assert_cmpuint (n_found, >, 1000);
}

/* A night with white noise, whose tails are no words, and an object that moves. */
void
check_codebook_in_white_noise (const ForegroundBackend *backend)
{
  enum { WIDTH = 160, HEIGHT = 65, N = WIDTH * HEIGHT };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  const CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t state = 1, n_found = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "white noise");

  if (!passed)
    return;
  for (uint32_t number = 0; number < 50 && passed; number++) {
    for (uint32_t i = 0; i < N; i++) {
      const uint32_t first = next_random (&state) >> 8, second = next_random (&state) >> 8;
      const uint32_t noise = first % 26 + second % 26;
      const uint32_t column = i % WIDTH - 3 * number;
      luma[i] = (uint8_t)(25 + noise + (number > 10 && column < 12 ? 30 : 0));
    }
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++)
      n_found += number > 10 && pair.mask[i] != 0;
  }
  g_assert_true (!passed || pair.reference->codebook->is_white);
  g_assert_cmpuint (pair.reference->codebook->frame.noise_tolerances[3], >, 0);
  pair_end (&pair);
  g_assert_cmpuint (n_found, >, 1000);
}

/* A dark street in which two objects move, 14 levels darker and 12 brighter than the ground, whose
 * texture they keep. One frame of 40 is 6 levels brighter, as a key frame may be. */
void
check_codebook_at_night (const ForegroundBackend *backend)
{
  enum { WIDTH = 160, HEIGHT = 65, N = WIDTH * HEIGHT };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t state = 1, n_dark = 0, n_bright = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "night");

  options.frame_duration = 100000000;
  for (uint32_t number = 0; number < 90 && passed; number++) {
    for (uint32_t i = 0; i < N; i++) {
      const uint32_t x = i % WIDTH - 2 * number % WIDTH, y = i / WIDTH;
      const int object = number < 20 || x >= 16 ? 0 : y < HEIGHT / 2 ? -14 : 12;
      const int ground = 40 + ground_at (i % WIDTH, y, PICTURE_USUAL) / 8;
      luma[i] = in_range (
          ground + object + (number % 40 == 30 ? 6 : 0) + (int)(next_random (&state) >> 8) % 3);
    }
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++)
      *(i < N / 2 ? &n_dark : &n_bright) += pair.mask[i] != 0;
  }
  if (passed) {
    g_assert_true (pair.reference->codebook->frame.is_dark);
    pair_end (&pair);
    g_assert_cmpuint (n_dark, >, 10000); /* of 36,000 */
    g_assert_cmpuint (n_bright, >, 5000);
  }
}

/* A plain wall of luma 130, before which an object of 16×32 pixels moves that is 14 levels
 * brighter, and in the lower half a dark one that lights as much as 8 pixels beside it. In frames
 * 100 to 109 the light of a half is stronger by an eighth, and 10 more frames are noisier. */
static void
draw_wall (uint8_t *luma, uint32_t width, uint32_t height, uint32_t number, uint32_t *state)
{
  for (uint32_t i = 0; i < width * height; i++) {
    const bool is_upper = i / width < height / 2;
    const uint32_t x = i % width, begin = 2 * number + (is_upper ? 0 : width / 2);
    const uint32_t from_object = x - begin % width;
    int level = 130;
    if (number >= 70 && from_object < 16)
      level += is_upper ? 14 : -90;
    else if (number >= 70 && from_object < 24 && !is_upper)
      level += 14;
    level += number >= 100 && number < 110 && x < width / 2 ? level / 8 : 0;
    const uint32_t noise = number >= 115 && number < 125 ? 19 : 5;
    luma[i] = in_range (level + (int)((next_random (state) >> 8) % noise) - (int)noise / 2);
  }
}

void
check_codebook_of_faint_objects (const ForegroundBackend *backend)
{
  enum { WIDTH = 200, HEIGHT = 65, N = WIDTH * HEIGHT };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t state = 1, n_upper = 0, n_lower = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "faint objects");

  options.frame_duration = 100000000;
  for (uint32_t number = 0; number < 140 && passed; number++) {
    draw_wall (luma, WIDTH, HEIGHT, number, &state);
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; number < 100 && i < N; i++)
      *(i < N / 2 ? &n_upper : &n_lower) += pair.mask[i] != 0;
  }
  if (passed) {
    pair_end (&pair);
    g_assert_cmpuint (n_upper, >, 10000); /* of 15,360 */
    g_assert_cmpuint (n_lower, >, 13000); /* of 15,840, and 7,920 beside them */
    g_assert_cmpuint (n_lower, <, 18000);
  }
}

/* Frame `number` of textured ground with bands of light, from frame 20 on with the shadow of a
 * cloud, and with an object of 12×24 pixels from frame 6 on. */
static void
draw_bands (uint8_t *luma, uint32_t width, uint32_t height, uint32_t number, uint32_t *state)
{
  for (uint32_t y = 0; y < height; y++) {
    const int phase = (int)((y * 2 + number * 37) % 128); /* 64 rows a band */
    const int in_band = number < 20 ? (phase < 64 ? phase : 128 - phase) - 32 : 0;
    for (uint32_t x = 0; x < width; x++) {
      const bool in_cloud = number >= 20 && x - number % 7 * 4 < width / 2;
      const bool in_object = number >= 6 && x - number * 4 % width < 12 && y - height / 2 < 24;
      const int ground =
          in_object ? 220 - ground_at (x, y, PICTURE_USUAL) / 2 : ground_at (x, y, PICTURE_USUAL);
      const int light = in_cloud ? 116 : 160 + in_band;
      luma[y * width + x] = in_range (ground * light / 160 + (int)(next_random (state) % 3) - 1);
    }
  }
}

/* The pixels of the mask that are in the object, and more than two pixels from it. */
static void
count_bands (const Pair *pair, uint32_t number, uint32_t *inside, uint32_t *outside)
{
  const uint32_t width = pair->plan.width, height = pair->plan.height;
  for (uint32_t i = 0; i < width * height; i++) {
    const uint32_t x = i % width - number * 4 % width, y = i / width - height / 2;
    *inside += pair->mask[i] && x < 12 && y < 24;
    *outside += pair->mask[i] && (x + 2 >= 16 || y + 2 >= 28);
  }
}

static void
check_bands (const ForegroundBackend *backend, uint32_t width, uint32_t height, uint32_t n_frames)
{
  const CclForegroundPlan plan = {.width = width, .height = height, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  g_autofree uint8_t *luma = g_malloc (width * height);
  const CclFrame frame = {.data = luma, .stride = width};
  uint32_t state = 1, inside = 0, outside = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "bands of light");

  options.shadows = CUDACCL_SHADOWS_KEEP;
  if (!passed)
    return;
  for (uint32_t number = 0; number < n_frames && passed; number++) {
    draw_bands (luma, width, height, number, &state);
    passed = pair_run (&pair, &frame, &options);
    if (number >= 6 && number < 20)
      count_bands (&pair, number, &inside, &outside);
  }
  pair_end (&pair);
  g_assert_cmpuint (outside, ==, 0);
  g_assert_cmpuint (inside, >=, 8 * 12 * 24 * (MIN (n_frames, 20) - 6) / 10);
}

void
check_codebook_in_bands_of_light (const ForegroundBackend *backend)
{
  check_bands (backend, 112, 144, 32);
  check_bands (backend, 519, 67, 8); /* a sample every second pixel */
}

/* Waves of light and dark at a place, whose slopes are 20 levels in two pixels and more. */
static uint8_t
waves_at (double x, double y)
{
  return (uint8_t)(112 + 50 * sin (0.29 * x + 0.11 * y) + 40 * sin (0.23 * y - 0.13 * x));
}

/* Frame `number` of waves before a camera that shakes by up to two pixels both ways, with an object
 * of 24×40 pixels from frame 40 on, which is too dark to be taken for light. */
static void
draw_shaken (uint8_t *luma, uint32_t width, uint32_t height, uint32_t number)
{
  const double right = 2 * sin (0.9 * number), down = 2 * sin (1.3 * number + 1);
  for (uint32_t i = 0; i < width * height; i++) {
    const uint32_t x = i % width, y = i / width;
    const bool in_object = number >= 40 && x - 2 * number < 24 && y - 40 < 40;
    luma[i] = in_object ? 10 : waves_at (x + right, y + down);
  }
}

void
check_codebook_of_a_shaking_camera (const ForegroundBackend *backend)
{
  enum { WIDTH = 161, HEIGHT = 99, N = WIDTH * HEIGHT, N_FRAMES = 50 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH};
  uint32_t inside = 0, outside = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "a shaking camera");

  if (!passed)
    return;
  options.frame_duration = 100000000;
  for (uint32_t number = 0; number < N_FRAMES && passed; number++) {
    draw_shaken (luma, WIDTH, HEIGHT, number);
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++) {
      const uint32_t x = i % WIDTH - 2 * number, y = i / WIDTH - 40;
      const bool in_object = number >= 40 && x < 24 && y < 40;
      inside += in_object && pair.mask[i];
      outside += number >= 20 && !in_object && (x + 2 >= 28 || y + 2 >= 44) && pair.mask[i];
    }
  }
  g_assert_cmpuint (pair.reference->codebook->n_swaying, >, N_FRAMES - 10);
  pair_end (&pair);
  g_assert_cmpuint (outside, <, 30 * N * 4 / 300); /* 13 % of 30 frames without the sway */
  g_assert_cmpuint (inside, >=, 10 * 24 * 40 * 9 / 10);
}

void
check_codebook_without_chroma_from_now_on (const ForegroundBackend *backend)
{
  enum { WIDTH = 48, HEIGHT = 16, N = WIDTH * HEIGHT };
  const CclForegroundPlan plan = {
      .width = WIDTH, .height = HEIGHT, .has_chroma = true, .reduction = 1};
  const CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  uint8_t luma[N], u[N], v[N];
  const CclFrame frame = {.data = luma, .stride = WIDTH, .chroma = {u, v, WIDTH, WIDTH, 1, 0, 0}};
  uint32_t n_found = 0;
  Pair pair;
  bool passed = pair_begin (&pair, backend, &plan, "lost chroma");

  if (!passed)
    return;
  for (uint32_t number = 0; number < 80 && passed; number++) {
    for (uint32_t i = 0; i < N; i++) {
      luma[i] = number > 5 && i % WIDTH - number % 40 < 6 ? 200 : 100;
      u[i] = number < 60 ? 123 : 128;
      v[i] = number < 60 ? 133 : 128;
    }
    passed = pair_run (&pair, &frame, &options);
    for (uint32_t i = 0; i < N; i++)
      n_found += number >= 60 && pair.mask[i];
  }
  pair_end (&pair);
  g_assert_cmpuint (n_found, >, 1000);
}

/* The mean of factor × factor pixels; the frame's last row and column are repeated. */
static uint8_t
mean_of (const Scene *scene, uint32_t x, uint32_t y, uint32_t factor)
{
  uint32_t sum = 0;
  for (uint32_t i = 0; i < factor * factor; i++) {
    const uint32_t column = MIN (x * factor + i % factor, scene->width - 1);
    const uint32_t row = MIN (y * factor + i / factor, scene->height - 1);
    sum += scene->luma[row * scene->stride + column];
  }
  return (uint8_t)((2 * sum + factor * factor) / (2 * factor * factor));
}

void
check_codebook_of_reduced_frames (const ForegroundBackend *backend)
{
  enum { WIDTH = 131, HEIGHT = 70, FACTOR = 2, SMALL_WIDTH = 66, SMALL_HEIGHT = 35 };
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .reduction = FACTOR};
  const CclForegroundPlan small_plan = {
      .width = SMALL_WIDTH, .height = SMALL_HEIGHT, .method = CUDACCL_FOREGROUND_CODEBOOK};
  const CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  Scene scene = scene_new (&layouts[0], WIDTH, HEIGHT);
  uint8_t means[SMALL_WIDTH * SMALL_HEIGHT];
  const CclFrame small = {.data = means, .stride = SMALL_WIDTH};
  Pair pair;
  uint32_t n_pixels = 0;

  if (pair_begin (&pair, backend, &plan, "reduced")) {
    ForegroundReference *reference = foreground_reference_new (&small_plan);
    for (uint32_t number = 0; number < 40; number++) {
      scene_draw (&scene, number, PICTURE_USUAL);
      for (uint32_t i = 0; i < G_N_ELEMENTS (means); i++)
        means[i] = mean_of (&scene, i % SMALL_WIDTH, i / SMALL_WIDTH, FACTOR);
      foreground_reference_run (reference, &small, &options);
      run_backend (&pair, &scene.frame, &options);
      for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const uint32_t x = i % WIDTH / FACTOR, y = i / WIDTH / FACTOR;
        g_assert_cmpuint (pair.mask[i], ==, reference->mask[y * SMALL_WIDTH + x]);
        n_pixels += pair.mask[i] == 255;
      }
    }
    g_assert_cmpuint (n_pixels, >, 1000);
    foreground_reference_free (reference);
    pair_end (&pair);
  }
  scene_clear (&scene);
}
