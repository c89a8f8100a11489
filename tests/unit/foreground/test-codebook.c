/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties of the codebook model, of single pixels and of small frames whose truth is known.
 */
#include "core/foreground/faint.h"
#include "tests/unit/foreground/codebook-reference.h"
#include "core/foreground/reduction.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* A pixel and the parameters of its frame. Its mask is its class: it is its own window. */
typedef struct Pixel {
  CclCodeword words[CUDACCL_CODEBOOK_WORDS];
  CclCodebookState state;
  CclCodebookFrame frame;
  CclCodebookClock clock;
  uint64_t duration; /* of a frame */
} Pixel;

static Pixel
pixel_new (void)
{
  Pixel pixel = {.state = {.was_background = true}};
  memset (pixel.frame.tolerances, CUDACCL_CODEBOOK_TOLERANCE, sizeof pixel.frame.tolerances);
  memset (
      pixel.frame.weak_tolerances, CUDACCL_CODEBOOK_TOLERANCE, sizeof pixel.frame.weak_tolerances);
  return pixel;
}

static CclCodebookResult
show (Pixel *self, uint8_t luma)
{
  const CclCodebookValue value = {luma, 128, 128, 0};
  self->frame.time = ccl_codebook_advance (&self->clock, self->duration, ccl_absorb_time (0, 4));
  const CclCodebookResult result =
      ccl_codebook_update (self->words, value, self->state, &self->frame);
  self->state.was_background = result.pixel_class == CUDACCL_PIXEL_BACKGROUND;
  self->state.in_object = result.pixel_class == CUDACCL_PIXEL_FOREGROUND;
  return result;
}

static void
test_constant_scene_is_background (void)
{
  for (int luma = 0; luma < 256; luma++) {
    Pixel pixel = pixel_new ();
    for (int t = 0; t < 100; t++) {
      const CclCodebookResult result = show (&pixel, (uint8_t)luma);
      g_assert_cmpint (result.pixel_class, ==, CUDACCL_PIXEL_BACKGROUND);
      g_assert_cmpint (result.background, ==, luma);
    }
  }
}

static void
test_object_is_foreground_and_learnt_slowly (void)
{
  Pixel pixel = pixel_new ();
  for (int t = 0; t < 100; t++)
    show (&pixel, 100);
  int n = 0;
  while (show (&pixel, 160).pixel_class == CUDACCL_PIXEL_FOREGROUND)
    n++;
  /* 100 frames of the background, at 60 % of its weight, gained at a quarter of the rate. */
  g_assert_cmpint (n, >=, 235);
  g_assert_cmpint (n, <=, 245);
  g_assert_cmpint (show (&pixel, 100).pixel_class, ==, CUDACCL_PIXEL_BACKGROUND);
}

static void
test_darker_pixel_of_same_colour_is_shadow (void)
{
  Pixel pixel = pixel_new ();
  for (int t = 0; t < 100; t++)
    show (&pixel, 100);
  g_assert_cmpint (show (&pixel, 70).pixel_class, ==, CUDACCL_PIXEL_SHADOW);
  g_assert_cmpint (show (&pixel, 40).pixel_class, ==, CUDACCL_PIXEL_FOREGROUND);
}

/* Leaves: two frames in twenty. */
static uint8_t
leaves (int t)
{
  return t % 20 < 18 ? 100 : 160;
}

static void
test_recurrent_value_becomes_background (void)
{
  Pixel pixel = pixel_new ();
  for (int t = 0; t < 1000; t++) {
    const CclPixelClass class = show (&pixel, leaves (t)).pixel_class;
    if (leaves (t) == 100 || t > 600)
      g_assert_cmpint (class, ==, CUDACCL_PIXEL_BACKGROUND);
    else if (t < CUDACCL_CODEBOOK_RECURRENT_AGE)
      g_assert_cmpint (class, ==, CUDACCL_PIXEL_FOREGROUND);
  }
}

/* Normal noise of 10 levels, of which 30 are three standard deviations. Words of its tails would
 * come back again and again, and admit whatever is as far from the background as they are. */
static void
test_noise_makes_one_word (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  Pixel pixel = pixel_new ();
  memset (pixel.frame.tolerances, 20, sizeof pixel.frame.tolerances);
  memset (pixel.frame.noise_tolerances, 20, sizeof pixel.frame.noise_tolerances);
  for (int t = 0; t < 1500; t++) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
      sum += g_rand_double (random) - 0.5;
    show (&pixel, (uint8_t)lrint (100 + 10 * sum));
  }
  const CclCodebookResult result = show (&pixel, 130);
  g_assert_cmpint (result.pixel_class, ==, CUDACCL_PIXEL_FOREGROUND);
  g_assert_false (result.is_recurrent);
}

static void
test_word_of_least_weight_is_replaced (void)
{
  Pixel pixel = pixel_new ();
  /* Words of 20, 50, 80 …; each is seen one frame longer than the next. */
  for (int k = 0; k < CUDACCL_CODEBOOK_WORDS; k++)
    for (int t = 0; t < 2 * (CUDACCL_CODEBOOK_WORDS - k); t++)
      show (&pixel, (uint8_t)(20 + 25 * k));
  const Pixel before = pixel;
  show (&pixel, 250);
  for (int k = 0; k < CUDACCL_CODEBOOK_WORDS - 1; k++)
    g_assert_cmpmem (
        &pixel.words[k], sizeof pixel.words[k], &before.words[k], sizeof before.words[k]);
  const CclCodeword *last = &pixel.words[CUDACCL_CODEBOOK_WORDS - 1];
  g_assert_cmpint (last->luma, ==, 250 * CUDACCL_CODEBOOK_STEPS);
  g_assert_cmpint (last->birth, ==, before.frame.time.now + 1);
  g_assert_cmpint (last->visits, ==, 0);
}

static void
test_counters_saturate (void)
{
  Pixel pixel = pixel_new ();
  bool saturated = false;
  int n_rebases = 0;

  for (int t = 0; t < 100000; t++) {
    const CclPixelClass class = show (&pixel, leaves (t)).pixel_class;
    n_rebases += pixel.frame.time.rebases;
    if (t > 600)
      g_assert_cmpint (class, ==, CUDACCL_PIXEL_BACKGROUND);
    g_assert_cmpint (pixel.frame.time.now, <, CUDACCL_CODEBOOK_MOST_TIME);
    for (int k = 0; k < CUDACCL_CODEBOOK_WORDS; k++) {
      g_assert_cmpint (pixel.words[k].weight, <=, CUDACCL_CODEBOOK_MOST_WEIGHT);
      saturated |= pixel.words[k].weight > CUDACCL_CODEBOOK_MOST_WEIGHT - CUDACCL_CODEBOOK_GAIN;
      if (pixel.words[k].weight > 0)
        g_assert_cmpint (pixel.words[k].birth, <=, pixel.frame.time.now);
    }
  }
  g_assert_true (saturated);
  g_assert_cmpint (n_rebases, ==, 2);
}

static void
test_visits_saturate (void)
{
  CclCodeword words[CUDACCL_CODEBOOK_WORDS] = {{.weight = 1, .luma = 100 * CUDACCL_CODEBOOK_STEPS}};
  const CclCodebookPlaces places = {0, 1, 0, false};
  const CclCodebookValue value = {100, 128, 128, 0};
  const CclCodebookTime time = {.gain = 16, .move = 4};
  for (int i = 1; i <= 1000; i++) {
    ccl_codebook_learn (words, &places, &words[0], value, true, &time);
    g_assert_cmpint (words[0].visits, ==, MIN (i, CUDACCL_CODEBOOK_MOST_VISITS));
  }
}

static void
test_mean_stays_near_constant_value (void)
{
  for (uint32_t move = 2; move <= 5; move++) {
    for (uint32_t from = 0; from < 256; from++) {
      for (uint32_t value = 0; value < 256; value++) {
        uint32_t mean = from * CUDACCL_CODEBOOK_STEPS;
        for (int t = 0; t < 13 << move; t++)
          mean = ccl_codebook_moved (mean, value, move);
        g_assert_cmpint (mean >> 8, ==, value);
      }
    }
  }
}

static void
test_quantiles_of_noise (void)
{
  uint32_t counts[CUDACCL_CODEBOOK_DISTANCES] = {[3] = 100, [7] = 100, [63] = 55};
  g_assert_cmpint (ccl_codebook_quantile (counts, 8), ==, 0); /* too few */
  counts[63]++;
  g_assert_cmpint (ccl_codebook_quantile (counts, 8), ==, 7);
  g_assert_cmpint (ccl_codebook_quantile (counts, 15), ==, 63);
  counts[3] = 200;
  g_assert_cmpint (ccl_codebook_quantile (counts, 8), ==, 3);
  counts[3] = 15 * 156;
  g_assert_cmpint (ccl_codebook_quantile (counts, 15), ==, 3);
}

static uint8_t
tolerance (uint32_t level, uint16_t median)
{
  return ccl_codebook_tolerance (level, (CclCodebookLevel){median, 0, 0}, 100);
}

static void
test_tolerance_of_noise (void)
{
  g_assert_cmpint (tolerance (15, 0), ==, 20);
  g_assert_cmpint (tolerance (4, 0), ==, 20);
  g_assert_cmpint (tolerance (2, 0), ==, 11);
  g_assert_cmpint (tolerance (0, 0), ==, 8);
  g_assert_cmpint (tolerance (8, 10), ==, 30);
  g_assert_cmpint (tolerance (0, 10), ==, 30);
  g_assert_cmpint (tolerance (8, 63), ==, CUDACCL_CODEBOOK_MOST_TOLERANCE);
  /* Weak background begins below the tolerance, however noisy the frame is. */
  for (uint16_t distance = 0; distance < CUDACCL_CODEBOOK_DISTANCES; distance++)
    for (uint32_t level = 0; level < CUDACCL_CODEBOOK_LEVELS; level++) {
      CclCodebookLevel known = {distance, 0, 0};
      for (int i = 0; i < 1000; i++)
        known = ccl_codebook_next_level (known, level, distance, 0, false, 25);
      g_assert_cmpint (ccl_codebook_weak_tolerance (level, known, 100), <,
          ccl_codebook_tolerance (level, known, 100));
    }
}

/* After a second at luma 32 to 47 with noise up to a distance. */
static CclCodebookLevel
after_second (CclCodebookLevel before, uint32_t tail)
{
  return ccl_codebook_next_level (before, 2, 1, tail, true, 25);
}

/* In 5 seconds of a dark frame the tolerance of luma 32 to 47 falls from 11 to 6. Noise of a
 * sixteenth of the pixels that is near the tolerance takes that back at once, and for a minute it
 * takes 4 times as long: key frames come back. */
static void
test_tolerance_falls_in_the_dark (void)
{
  CclCodebookLevel dark = {0};
  for (int second = 0; second < 5; second++) {
    g_assert_cmpint (ccl_codebook_tolerance (2, dark, 100), ==, 11 - second);
    dark = after_second (dark, 3);
  }
  for (int second = 0; second < 5; second++, dark = after_second (dark, 3))
    g_assert_cmpint (ccl_codebook_tolerance (2, dark, 100), ==, 6);
  dark = after_second (dark, 6);
  g_assert_cmpint (ccl_codebook_tolerance (2, dark, 100), ==, 8);
  dark = after_second (dark, 40);
  for (int second = 0; second < 20; second++, dark = after_second (dark, 3))
    g_assert_cmpint (ccl_codebook_tolerance (2, dark, 100), ==, 11 - second / 4);
  for (int second = 20; second < 60; second++)
    dark = after_second (dark, 3);
  dark = ccl_codebook_next_level ((CclCodebookLevel){0, 0, dark.caution}, 2, 1, 3, true, 25);
  g_assert_cmpint (ccl_codebook_tolerance (2, dark, 100), ==, 10);
}

/* Where it is bright, the tolerance stays, but for bright places of dark frames. */
static void
test_tolerance_stays_where_it_is_bright (void)
{
  CclCodebookLevel bright = {0}, at_night = {0};
  for (int second = 0; second < 30; second++) {
    bright = ccl_codebook_next_level (bright, 4, 1, 3, false, 25);
    at_night = ccl_codebook_next_level (at_night, 4, 1, 3, true, 25);
  }
  g_assert_cmpint (ccl_codebook_tolerance (4, bright, 100), ==, 20);
  g_assert_cmpint (ccl_codebook_tolerance (4, at_night, 100), ==, 6);
}

static void
test_automatic_reduction (void)
{
  static const struct {
    uint32_t width, height, of_codebook, of_mog2;
  } cases[] = {
      {320, 240, 1, 1},
      {480, 272, 1, 1},
      {768, 576, 2, 1},
      {1280, 720, 2, 2},
      {1920, 1080, 4, 4},
      {3840, 2160, 8, 8},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    CclForegroundPlan plan = {.width = cases[i].width, .height = cases[i].height};
    g_assert_cmpuint (ccl_reduction_factor (&plan), ==, 1); /* without a model */
    plan.method = CUDACCL_FOREGROUND_CODEBOOK;
    g_assert_cmpuint (ccl_reduction_factor (&plan), ==, cases[i].of_codebook);
    plan.method = CUDACCL_FOREGROUND_MOG2;
    g_assert_cmpuint (ccl_reduction_factor (&plan), ==, cases[i].of_mog2);
    plan.reduction = 2;
    g_assert_cmpuint (ccl_reduction_factor (&plan), ==, 2);
  }
}

/* Frames. */

enum { WIDTH = 80, HEIGHT = 48, N = WIDTH * HEIGHT };

typedef struct Scene {
  CodebookReference *reference;
  GRand *random;
  uint8_t luma[N], u[N], v[N];
} Scene;

static void
scene_start (Scene *self)
{
  self->reference = codebook_reference_new (WIDTH, HEIGHT);
  self->random = g_rand_new_with_seed (1);
  memset (self->u, 110, N);
  memset (self->v, 140, N);
}

static void
scene_clear (Scene *self)
{
  codebook_reference_free (self->reference);
  g_rand_free (self->random);
}

/* A texture of squares of 4 pixels. Those of numbers 1 and 2 differ by 75 everywhere. */
static uint8_t
texture (uint32_t number, int x, int y)
{
  uint32_t hash = (uint32_t)(x >> 2) * 2654435761u ^ (uint32_t)(y >> 2) * 40503u;
  hash = (hash ^ hash >> 15) * 2246822519u;
  return (uint8_t)(50 + ((hash >> 16) + 75 * number) % 150);
}

/* Draws a texture with its left columns hidden by another one, which moves with its edge. */
static void
draw (Scene *self, uint32_t number, int shift, int hidden, int noise)
{
  for (int i = 0; i < N; i++) {
    const int x = i % WIDTH, y = i / WIDTH;
    int luma = x < hidden ? texture (99, x - hidden + 1000, y) : texture (number, x + shift, y);
    for (int k = 0; k < 4 && noise > 0; k++)
      luma += g_rand_int_range (self->random, -noise, noise + 1);
    self->luma[i] = (uint8_t)CLAMP (luma, 0, 255);
  }
}

/* The foreground pixels of the next frame. */
static int
run (Scene *self)
{
  int n = 0;
  codebook_reference_run (self->reference, self->luma, self->u, self->v);
  for (int i = 0; i < N; i++)
    n += self->reference->mask[i] != 0;
  return n;
}

static void
test_noise_is_background (void)
{
  Scene scene;
  scene_start (&scene);
  for (int t = 0; t < 60; t++) {
    draw (&scene, 1, 100, 0, 11);
    const int n = run (&scene);
    if (t > 20)
      g_assert_cmpint (n, <, N / 25);
  }
  int widest = 0;
  for (int i = 0; i < CUDACCL_CODEBOOK_LEVELS; i++)
    widest = MAX (widest, scene.reference->frame.tolerances[i]);
  g_assert_cmpint (widest, >, CUDACCL_CODEBOOK_TOLERANCE);
  scene_clear (&scene);
}

static void
test_change_of_light_is_background (void)
{
  Scene scene;
  scene_start (&scene);
  for (int t = 0; t < 60; t++) {
    draw (&scene, 1, 100, 0, 0);
    for (int i = 0; i < N && t >= 30; i++) {
      scene.luma[i] = (uint8_t)(scene.luma[i] * 3 / 4);
      scene.u[i] = 114;
      scene.v[i] = 137;
    }
    g_assert_cmpint (run (&scene), ==, 0);
  }
  g_assert_cmpint (scene.reference->n_scene_changes, ==, 0);
  scene_clear (&scene);
}

static void
test_other_scene_becomes_background (void)
{
  Scene scene;
  scene_start (&scene);
  for (int t = 0; t < 180; t++) {
    const bool is_other = t >= 40 && t < 110;
    draw (&scene, is_other ? 2 : 1, 100, 0, 0);
    memset (scene.u, is_other ? 140 : 110, N);
    memset (scene.v, is_other ? 110 : 140, N);
    const int n = run (&scene);
    if ((t + 30) % 70 >= 3) /* until frames are compared again, it could be an object */
      g_assert_cmpint (n, ==, 0);
  }
  g_assert_cmpint (scene.reference->n_scene_changes, ==, 2);
  /* An object is found at once. */
  draw (&scene, 1, 100, 30, 0);
  g_assert_cmpint (run (&scene), >, 20 * HEIGHT);
  scene_clear (&scene);
}

static void
test_object_is_no_change_of_scene (void)
{
  Scene scene;
  scene_start (&scene);
  for (int t = 0; t < 300; t++) {
    draw (&scene, 1, 100, t < 50 ? 0 : 2 * (t - 50), 0); /* it passes and fills the picture */
    run (&scene);
    if (t == 70)
      g_assert_cmpint (run (&scene), >, 20 * HEIGHT);
    g_assert_cmpint (scene.reference->n_scene_changes, ==, 0);
  }
  scene_clear (&scene);
}

static void
test_shake_is_no_change_of_scene (void)
{
  Scene scene;
  scene_start (&scene);
  for (int t = 0; t < 600; t++) {
    draw (&scene, 1, 100 + g_rand_int_range (scene.random, -6, 7), 0, 0);
    run (&scene);
  }
  g_assert_cmpint (scene.reference->n_scene_changes, ==, 0);
  scene_clear (&scene);
}

/* The frames until a switch to infrared is reported. */
static int
find_infrared (int rate)
{
  Scene scene;
  int found = 0;
  scene_start (&scene);
  scene.reference->frame_duration = 1000000000 / (uint64_t)rate;
  for (int t = 0; t < 60; t++) {
    draw (&scene, 1, 100, 0, 0);
    if (t >= 30) {
      memset (scene.u, 128, N);
      memset (scene.v, 128, N);
      for (int i = 0; i < N; i++)
        if (i % WIDTH < WIDTH / 2)
          scene.luma[i] = (uint8_t)(250 - scene.luma[i]);
    }
    g_assert_cmpint (run (&scene), ==, 0);
    if (found == 0 && scene.reference->n_scene_changes > 0)
      found = t - 30;
  }
  g_assert_cmpint (scene.reference->n_scene_changes, ==, 1);
  scene_clear (&scene);
  return found;
}

/* The frame that begins with the new scene follows 0.16 seconds later, after at least two frames.
 */
static void
test_infrared_is_change_of_scene (void)
{
  static const int rates[] = {1, 2, 5, 10, 25, 50}, frames[] = {2, 2, 2, 3, 5, 8};
  for (size_t i = 0; i < G_N_ELEMENTS (rates); i++)
    g_assert_cmpint (find_infrared (rates[i]), ==, frames[i]);
}

/* Half of the picture is white at first, and shows its texture while the exposure settles. */
static void
test_infrared_settles_without_objects (void)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  scene.reference->frame_duration = 100000000;
  for (int t = 0; t < 140; t++) {
    const double gain = t < 60 ? 1 : 1 + 0.9 * exp (-0.06 * (t - 60));
    draw (&scene, 1, 100, 0, 0);
    for (int i = 0; i < N; i++)
      scene.luma[i] = (uint8_t)MIN (scene.luma[i] * gain, 235);
    memset (scene.u, t < 60 ? 110 : 128, N);
    memset (scene.v, t < 60 ? 140 : 128, N);
    n_found += run (&scene);
  }
  g_assert_cmpint (n_found, ==, 0);
  g_assert_cmpint (scene.reference->n_scene_changes, ==, 1);
  /* An object is found again. */
  draw (&scene, 1, 100, 30, 0);
  g_assert_cmpint (run (&scene), >, 20 * HEIGHT);
  scene_clear (&scene);
}

/* Draws a square of 20×20 pixels. */
static void
draw_square (Scene *self, int left, uint8_t luma)
{
  for (int y = 14; y < 34; y++)
    memset (self->luma + y * WIDTH + left, luma, 20);
}

/* Noise of a standard deviation of 1.6 steps, and an object that is 12 steps brighter. */
static void
test_faint_object_at_night_is_foreground (void)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  for (int t = 0; t < 140; t++) {
    memset (scene.luma, 40, N);
    if (t >= 100)
      draw_square (&scene, t - 100, 52);
    for (int i = 0; i < N; i++)
      for (int k = 0; k < 4; k++)
        scene.luma[i] = (uint8_t)(scene.luma[i] + g_rand_int_range (scene.random, -1, 2));
    const int n = run (&scene);
    if (t < 100)
      g_assert_cmpint (n, ==, 0);
    n_found += n;
  }
  g_assert_cmpint (n_found, >, 40 * 400 * 3 / 4);
  scene_clear (&scene);
}

/* Levels above a plain wall of luma 130 for a square that moves across it after six seconds, and
 * for one of the same height beside it. Returns the pixels found in 40 frames. */
static int
run_before_wall (int levels, int beside)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  for (int t = 0; t < 200; t++) {
    memset (scene.luma, 130, N);
    if (t >= 160) {
      draw_square (&scene, t - 160, (uint8_t)(130 + levels));
      if (beside)
        draw_square (&scene, t - 150, (uint8_t)(130 + beside));
    }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < 4; k++)
        scene.luma[i] = (uint8_t)(scene.luma[i] + g_rand_int_range (scene.random, -1, 2));
    const int n = run (&scene);
    if (t < 160)
      g_assert_cmpint (n, ==, 0);
    n_found += n;
  }
  scene_clear (&scene);
  return n_found;
}

/* By less than the tolerance of 20, or darker by a fifth, as a shadow is. What is beside an object
 * of other luma is its reflection or its shadow. */
static void
test_faint_object_by_day_is_foreground (void)
{
  g_assert_cmpint (run_before_wall (15, 0), >, 40 * 400 * 3 / 4);
  g_assert_cmpint (run_before_wall (-15, 0), >, 40 * 400 * 3 / 4);
  g_assert_cmpint (run_before_wall (-26, 0), >, 40 * 400 * 3 / 4);
  const int strong = run_before_wall (60, 60), with_reflection = run_before_wall (15, 60);
  const int with_shadow = run_before_wall (-15, 60);
  g_assert_cmpint (strong, >, 40 * 500);
  g_assert_cmpint (with_reflection, <, 40 * 500);
  g_assert_cmpint (with_shadow, <, 40 * 500);
}

/* After a second 15, after six 10, if three quarters of the pixels do not pass 4 levels. 6 take it
 * back to 13, and for a minute it falls by a quarter of a level in a second. */
static void
test_faint_tolerance_follows_noise (void)
{
  CclCodebookLevel known = {0};
  g_assert_cmpint (ccl_faint_tolerance (known, true, 100), ==, 255);
  for (int second = 1; second < 9; second++) {
    known = ccl_faint_next (known, 4, 25);
    g_assert_cmpint (ccl_faint_tolerance (known, true, 100), ==, MAX (16 - second, 10));
  }
  g_assert_cmpint (ccl_faint_tolerance (known, false, 100), ==, 255);
  g_assert_cmpint (ccl_faint_tolerance (known, true, 50), ==, 20);
  g_assert_cmpint (ccl_faint_tolerance (known, true, 200), ==, 10);
  known = ccl_faint_next (known, 6, 25);
  g_assert_cmpint (ccl_faint_tolerance (known, true, 100), ==, 13);
  for (int second = 0; second < 4; second++)
    known = ccl_faint_next (known, 4, 25);
  g_assert_cmpint (ccl_faint_tolerance (known, true, 100), ==, 12);
  known = ccl_faint_next (known, 8, 25);
  g_assert_cmpint (ccl_faint_tolerance (known, true, 100), ==, 255);
}

/* A quarter more for each 16, at most three times. */
static void
test_tolerance_of_restless_places (void)
{
  static const struct {
    uint32_t tolerance, restlessness, expected;
  } cases[] = {{16, 0, 16}, {16, 15, 16}, {16, 16, 20}, {6, 40, 9}, {16, 64, 32}, {16, 128, 48},
      {16, 255, 48}};
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (ccl_sampled_restless_tolerance (cases[i].tolerance, cases[i].restlessness), ==,
        cases[i].expected);
}

/* At the right, patches of levels from 30 to 220 follow each other, more than 20 samples tell. */
static void
draw_patches (Scene *self, uint32_t seed)
{
  GRand *random = g_rand_new_with_seed (seed);
  for (int i = 0; i < N; i++)
    self->luma[i] = (uint8_t)(30 + i % WIDTH * 190 / 52);
  for (int y = 0; y < HEIGHT; y += 12)
    for (int x = 52; x < WIDTH; x += 14) {
      const int level = g_rand_int_range (random, 30, 221);
      for (int i = y; i < y + 12; i++)
        memset (self->luma + i * WIDTH + x, level, 14);
    }
  g_rand_free (random);
}

/* The clock of the samples: four times as fast for five seconds, at every frame rate. */
static void
test_young_model_takes_four_samples_a_second (void)
{
  static const uint64_t durations[] = {1000000000, 40000000, 5000000};
  for (size_t i = 0; i < G_N_ELEMENTS (durations); i++) {
    uint64_t clock = 0;
    uint32_t n_due[2] = {0};
    for (uint64_t t = durations[i]; t <= UINT64_C (25000000000); t += durations[i]) {
      const CclSampledTime time = ccl_sampled_advance (&clock, durations[i]);
      const uint8_t phase = ccl_sampled_phase (7, 3);
      n_due[t > UINT64_C (5000000000)] += ccl_sampled_is_due (time, phase);
      if (t == UINT64_C (5000000000))
        g_assert_cmpuint (time.now, ==, 20 * 256);
    }
    g_assert_cmpuint (n_due[0], ==, durations[i] == 1000000000 ? 5 : 20);
    g_assert_cmpuint (n_due[1], ==, 20);
  }
}

/* They are silent in the end, and an object of another colour is found. */
static void
test_levels_between_samples_are_background_where_it_is_restless (void)
{
  Scene scene;
  int n_late = 0;
  scene_start (&scene);
  scene.reference->has_light = false;
  for (int t = 0; t < 900; t++) {
    draw_patches (&scene, (uint32_t)t / 4);
    if (t >= 890)
      for (int y = 14; y < 34; y++)
        memset (scene.u + y * WIDTH + 56, 200, 20);
    const int n = run (&scene);
    if (t >= 800 && t < 890)
      n_late += n;
  }
  g_assert_cmpint (
      n_late, <, 90 * 28 * HEIGHT / 16); /* an eleventh without the greater tolerance */
  for (int y = 18; y < 30; y++)
    for (int x = 60; x < 72; x++)
      g_assert_cmpint (scene.reference->mask[y * WIDTH + x], ==, 255);
  scene_clear (&scene);
}

/* Draws ground of some texture at night, with noise of a standard deviation of about 1, and a
 * square that differs by so many levels from the ground. */
static void
draw_night (Scene *self, int left, int levels)
{
  for (int i = 0; i < N; i++) {
    const int x = i % WIDTH, y = i / WIDTH;
    const bool is_object = x >= left && x < left + 20 && y >= 14 && y < 34;
    self->luma[i] =
        (uint8_t)(36 + texture (1, x, y) / 20 + (is_object ? levels : 0) +
                  g_rand_int_range (self->random, -1, 2) + (int)g_rand_boolean (self->random));
  }
}

/* After six seconds, so many levels brighter or darker. */
static void
find_people_at_night (int levels)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  for (int t = 0; t < 190; t++) {
    draw_night (&scene, t < 150 ? WIDTH : t - 150, levels);
    const int n = run (&scene);
    if (t < 150)
      g_assert_cmpint (n, ==, 0);
    n_found += n;
  }
  g_assert_cmpint (n_found, >, 40 * 400 * 3 / 4);
  scene_clear (&scene);
}

static void
test_people_of_eight_levels_at_night_are_foreground (void)
{
  find_people_at_night (8);
}

/* They look like shadow, but there is no sun. */
static void
test_darker_people_at_night_are_foreground (void)
{
  find_people_at_night (-8);
  find_people_at_night (-12);
  find_people_at_night (-16);
}

/* Water whose colours the codebook knows. Their tolerance, doubled where pixels are dynamic, admits
 * the object; the samples do not. */
static void
test_object_on_water_is_foreground (void)
{
  static const uint8_t colours[] = {100, 128, 156};
  Scene scene;
  int n_before = 0;
  scene_start (&scene);
  for (int t = 0; t < 900; t++) {
    for (int i = 0; i < N; i++)
      scene.luma[i] = colours[(t / 5 + i % WIDTH / 7 + i / WIDTH / 5) % 3];
    if (t >= 890)
      draw_square (&scene, 30, 186);
    const int n = run (&scene);
    n_before += t >= 800 && t < 890 ? n : 0;
  }
  g_assert_cmpint (n_before, ==, 0);
  for (int y = 18; y < 30; y++)
    for (int x = 34; x < 46; x++)
      g_assert_cmpint (scene.reference->mask[y * WIDTH + x], ==, 255);
  scene_clear (&scene);
}

/* Seconds in which an object that stops is found, after a time in which the scene was still. */
static double
find_stopped_object (int rate, int before, int absorb_after)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  scene.reference->frame_duration = 1000000000 / (uint64_t)rate;
  scene.reference->absorb_after = 1000000000 * (uint64_t)absorb_after;
  for (int t = 0; t < (before + 3 * (absorb_after ? absorb_after : 24) / 2) * rate; t++) {
    memset (scene.luma, 100, N);
    if (t >= before * rate)
      draw_square (&scene, 30, 200);
    n_found += run (&scene) > 0;
  }
  scene_clear (&scene);
  return (double)n_found / rate;
}

/* However long the scene was still before, and whatever the frame rate. */
static void
test_object_that_stops_is_learnt_in_seconds (void)
{
  static const int rates[] = {1, 2, 5, 10, 25};
  static const struct {
    int before, absorb_after;
  } cases[] = {{20, 0}, {60, 0}, {20, 8}};
  for (size_t k = 0; k < G_N_ELEMENTS (rates); k++) {
    for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
      const int absorb = cases[i].absorb_after ? cases[i].absorb_after : 24;
      const double found = find_stopped_object (rates[k], cases[i].before, cases[i].absorb_after);
      g_test_message ("%d frames/s, still for %d s, absorb_after %d: %.1f s", rates[k],
          cases[i].before, cases[i].absorb_after, found);
      g_assert_cmpfloat (found, >=, absorb / 2 - 1);
      g_assert_cmpfloat (found, <=, absorb + 1);
    }
  }
}

/* A pixel has had a value for a minute. How long another one is foreground, before both are
 * background. */
static void
test_codebook_counts_seconds (void)
{
  static const int rates[] = {1, 2, 5, 10, 25, 50};
  for (size_t k = 0; k < G_N_ELEMENTS (rates); k++) {
    Pixel pixel = pixel_new ();
    int n_object = 0, n_ground = 0;
    pixel.duration = 1000000000 / (uint64_t)rates[k];
    for (int t = 0; t < 60 * rates[k]; t++)
      show (&pixel, 100);
    while (show (&pixel, 160).pixel_class == CUDACCL_PIXEL_FOREGROUND)
      n_object++;
    while (show (&pixel, 100).pixel_class == CUDACCL_PIXEL_BACKGROUND && n_ground < 20 * rates[k])
      n_ground++;
    /* Three fifths of the ground's weight at a quarter of its gain; the first frame gains four
     * times as much. */
    g_test_message ("%d frames/s: %.2f s", rates[k], (double)n_object / rates[k]);
    g_assert_cmpfloat (n_object, >=, (144 - 4) * rates[k]);
    g_assert_cmpfloat (n_object, <=, (144 + 1) * rates[k]);
    g_assert_cmpint (n_ground, ==, 20 * rates[k]);
  }
}

/* A value that a pixel has in a fifth of each two seconds is background once it is 16 seconds old.
 */
static void
test_recurrent_value_is_known_by_seconds (void)
{
  static const int rates[] = {5, 10, 25, 50};
  for (size_t k = 0; k < G_N_ELEMENTS (rates); k++) {
    Pixel pixel = pixel_new ();
    int last = 0;
    pixel.duration = 1000000000 / (uint64_t)rates[k];
    for (int t = 0; t < 40 * rates[k]; t++) {
      const bool is_leaf = t % (2 * rates[k]) < 2 * rates[k] / 5 && t > 0;
      if (show (&pixel, is_leaf ? 160 : 100).pixel_class != CUDACCL_PIXEL_BACKGROUND)
        last = t;
    }
    g_test_message ("%d frames/s: %.2f s", rates[k], (double)last / rates[k]);
    g_assert_cmpfloat (last, >=, 14 * rates[k]);
    g_assert_cmpfloat (last, <=, 20 * rates[k]);
  }
}

/* Darkens a rectangle to two fifths of its light, with a hard edge, as the shadow of an object. */
static void
draw_shadow (Scene *self, int left, int right)
{
  for (int y = 8; y < HEIGHT - 8; y++)
    for (int x = left; x < right; x++)
      self->luma[y * WIDTH + x] = (uint8_t)(self->luma[y * WIDTH + x] * 2 / 5);
}

/* A hard shadow, which keeps the ground's texture, at the side of an object, which does not. */
static void
test_hard_shadow_is_no_object (void)
{
  Scene scene;
  int n_shadow = 0, n_object = 0;
  scene_start (&scene);
  for (int t = 0; t < 60; t++) {
    draw (&scene, 1, 100, 0, 1);
    if (t >= 30) {
      draw_shadow (&scene, 40, 72);
      draw_square (&scene, 12, 25);
    }
    run (&scene);
    for (int i = 0; i < N && t >= 30; i++) {
      n_shadow += i % WIDTH >= 40 && scene.reference->mask[i];
      n_object += i % WIDTH >= 12 && i % WIDTH < 32 && scene.reference->mask[i];
    }
  }
  g_assert_cmpint (n_shadow, ==, 0);
  g_assert_cmpint (n_object, >, 30 * 400 * 3 / 4);
  scene_clear (&scene);
}

/* The hard edge of a cloud's shadow travels over plain ground, where no texture helps: pixels at
 * its sides are between cells of different light. */
static void
test_edge_of_cloud_is_background (void)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  for (int t = 0; t < 60; t++) {
    const int edge = t < 30 ? 0 : 38 + (t - 30) / 3;
    memset (scene.luma, 150, N);
    for (int i = 0; i < N; i++) {
      const bool in_shadow = i % WIDTH < edge;
      scene.luma[i] = (uint8_t)((in_shadow ? 80 : 150) + g_rand_int_range (scene.random, -2, 3));
      scene.u[i] = in_shadow ? 118 : 110;
      scene.v[i] = in_shadow ? 134 : 140;
    }
    n_found += run (&scene);
  }
  g_assert_cmpint (n_found, ==, 0);
  scene_clear (&scene);
}

/* A cloud's shadow has passed the left border but for a strip that is narrower than half a cell;
 * the sun is on the right side, too. */
static void
test_strip_of_light_at_border_is_background (void)
{
  Scene scene;
  int n_found = 0;
  scene_start (&scene);
  for (int t = 0; t < 40; t++) {
    for (int i = 0; i < N; i++) {
      const bool in_shadow = t >= 30 && i % WIDTH >= 6 && i % WIDTH < 48;
      scene.luma[i] = (uint8_t)((in_shadow ? 80 : 150) + g_rand_int_range (scene.random, -2, 3));
      scene.u[i] = in_shadow ? 118 : 110;
      scene.v[i] = in_shadow ? 134 : 140;
    }
    n_found += run (&scene);
  }
  g_assert_cmpint (n_found, ==, 0);
  scene_clear (&scene);
}

/* Without texture, on ground without texture, nothing speaks for light. */
static void
test_plain_object_on_plain_ground_is_foreground (void)
{
  Scene scene;
  scene_start (&scene);
  for (int t = 0; t < 40; t++) {
    memset (scene.luma, 150, N);
    if (t >= 30)
      draw_square (&scene, 30, 60);
    const int n = run (&scene);
    if (t > 30)
      g_assert_cmpint (n, >, 350);
  }
  scene_clear (&scene);
}

/* The sensitivity is what a difference of luma is divided by, from the next frame on: 20 steps make
 * an object where it is 100. In the first second, in which nothing is faint (faint.h). */
static void
test_sensitivity (void)
{
  static const struct {
    uint32_t sensitivity;
    uint8_t contrast;
    bool is_found;
  } cases[] = {{0, 19, false}, {0, 22, true}, {100, 19, false}, {100, 22, true}, {200, 9, false},
      {200, 12, true}, {50, 38, false}, {50, 42, true}};
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    Scene scene;
    scene_start (&scene);
    scene.reference->shadows = CUDACCL_SHADOWS_KEEP;
    for (int t = 0; t < 22; t++) {
      memset (scene.luma, 150, N);
      if (t >= 20) {
        draw_square (&scene, 30, (uint8_t)(150 - cases[i].contrast));
        scene.reference->sensitivity = cases[i].sensitivity;
      }
      const int n = run (&scene);
      if (t >= 20)
        g_assert_cmpint (n > 300, ==, cases[i].is_found);
    }
    scene_clear (&scene);
  }
}

/* An object that stands there from the first frame on goes to another place. The ground that it
 * leaves differs from the model for more than a minute, and is no object after half a second. */
static void
test_uncovered_ground_is_no_object (void)
{
  static const int rates[] = {2, 5, 25};
  for (size_t k = 0; k < G_N_ELEMENTS (rates); k++) {
    const int rate = rates[k];
    Scene scene;
    scene_start (&scene);
    scene.reference->has_light = false; /* nor are moves of the camera looked for */
    scene.reference->frame_duration = 1000000000 / (uint64_t)rate;
    for (int t = 0; t < 10 * rate; t++) {
      int n_left = 0, n_right = 0;
      memset (scene.luma, 150, N);
      draw_square (&scene, t < 4 * rate ? 10 : 50, 60);
      run (&scene);
      for (int i = 0; i < N; i++) {
        n_left += i % WIDTH < 40 && scene.reference->mask[i];
        n_right += i % WIDTH >= 40 && scene.reference->mask[i];
      }
      if (t > 5 * rate)
        g_assert_cmpint (n_left, ==, 0);
      if (t > 4 * rate)
        g_assert_cmpint (n_right, >, 350);
    }
    scene_clear (&scene);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/codebook/constant-scene-is-background", test_constant_scene_is_background);
  g_test_add_func ("/codebook/object-is-foreground-and-learnt-slowly",
      test_object_is_foreground_and_learnt_slowly);
  g_test_add_func ("/codebook/darker-pixel-of-same-colour-is-shadow",
      test_darker_pixel_of_same_colour_is_shadow);
  g_test_add_func (
      "/codebook/recurrent-value-becomes-background", test_recurrent_value_becomes_background);
  g_test_add_func (
      "/codebook/word-of-least-weight-is-replaced", test_word_of_least_weight_is_replaced);
  g_test_add_func ("/codebook/noise-makes-one-word", test_noise_makes_one_word);
  g_test_add_func ("/codebook/counters-saturate", test_counters_saturate);
  g_test_add_func ("/codebook/visits-saturate", test_visits_saturate);
  g_test_add_func ("/codebook/mean-stays-near-constant-value", test_mean_stays_near_constant_value);
  g_test_add_func ("/codebook/quantiles-of-noise", test_quantiles_of_noise);
  g_test_add_func ("/codebook/tolerance-of-noise", test_tolerance_of_noise);
  g_test_add_func ("/codebook/tolerance-falls-in-the-dark", test_tolerance_falls_in_the_dark);
  g_test_add_func (
      "/codebook/tolerance-stays-where-it-is-bright", test_tolerance_stays_where_it_is_bright);
  g_test_add_func ("/codebook/tolerance-of-restless-places", test_tolerance_of_restless_places);
  g_test_add_func ("/codebook/levels-between-samples-are-background-where-it-is-restless",
      test_levels_between_samples_are_background_where_it_is_restless);
  g_test_add_func ("/codebook/people-of-eight-levels-at-night-are-foreground",
      test_people_of_eight_levels_at_night_are_foreground);
  g_test_add_func ("/codebook/young-model-takes-four-samples-a-second",
      test_young_model_takes_four_samples_a_second);
  g_test_add_func ("/codebook/darker-people-at-night-are-foreground",
      test_darker_people_at_night_are_foreground);
  g_test_add_func ("/codebook/automatic-reduction", test_automatic_reduction);
  g_test_add_func ("/codebook/noise-is-background", test_noise_is_background);
  g_test_add_func ("/codebook/change-of-light-is-background", test_change_of_light_is_background);
  g_test_add_func ("/codebook/other-scene-becomes-background", test_other_scene_becomes_background);
  g_test_add_func ("/codebook/object-is-no-change-of-scene", test_object_is_no_change_of_scene);
  g_test_add_func ("/codebook/shake-is-no-change-of-scene", test_shake_is_no_change_of_scene);
  g_test_add_func ("/codebook/infrared-is-change-of-scene", test_infrared_is_change_of_scene);
  g_test_add_func (
      "/codebook/faint-object-at-night-is-foreground", test_faint_object_at_night_is_foreground);
  g_test_add_func ("/codebook/faint-object-by-day", test_faint_object_by_day_is_foreground);
  g_test_add_func ("/codebook/faint-tolerance", test_faint_tolerance_follows_noise);
  g_test_add_func ("/codebook/object-on-water-is-foreground", test_object_on_water_is_foreground);
  g_test_add_func ("/codebook/object-that-stops-is-learnt-in-seconds",
      test_object_that_stops_is_learnt_in_seconds);
  g_test_add_func ("/codebook/counts-seconds", test_codebook_counts_seconds);
  g_test_add_func (
      "/codebook/recurrent-value-is-known-by-seconds", test_recurrent_value_is_known_by_seconds);
  g_test_add_func ("/codebook/hard-shadow-is-no-object", test_hard_shadow_is_no_object);
  g_test_add_func ("/codebook/strip-of-light-at-border-is-background",
      test_strip_of_light_at_border_is_background);
  g_test_add_func (
      "/codebook/infrared-settles-without-objects", test_infrared_settles_without_objects);
  g_test_add_func ("/codebook/edge-of-cloud-is-background", test_edge_of_cloud_is_background);
  g_test_add_func ("/codebook/sensitivity", test_sensitivity);
  g_test_add_func ("/codebook/uncovered-ground-is-no-object", test_uncovered_ground_is_no_object);
  g_test_add_func ("/codebook/plain-object-on-plain-ground-is-foreground",
      test_plain_object_on_plain_ground_is_foreground);
  return g_test_run ();
}
