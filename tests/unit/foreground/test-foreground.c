/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The foreground methods on the CPU in each variant, and Otsu's threshold. */
#include "cpu/foreground/foreground-tuning.h"
#include "cpu/foreground/foreground.h"
#include "cpu/foreground/mog2/mog2-model.h"
#include "tests/unit/foreground/foreground-checks.h"

#include <glib.h>
#include <string.h>

/* A variant: an instruction set and a number of threads, used for small frames, too. */
typedef struct Way {
  const char *name;
  CclCpuTuning tuning;
  uint32_t n_threads;
} Way;

static const Way ways[] = {
    {"cpu-portable", {.instructions = "portable"}, 1},
    {"cpu-avx2", {.instructions = "avx2"}, 1},
    {"cpu-avx512", {.instructions = "avx512"}, 1},
    {"cpu-neon", {.instructions = "neon"}, 1},
    {"cpu-3-threads", {.pixels_per_thread = 1}, 3},
};

static CclForeground *
foreground_new (void *data, const CclForegroundPlan *plan, CclError *error)
{
  const Way *way = data;
  if (!plan)
    return ccl_cpu_foreground_new_tuned (plan, &way->tuning, error);
  CclForegroundPlan own_plan = *plan;
  own_plan.n_threads = way->n_threads;
  return ccl_cpu_foreground_new_tuned (&own_plan, &way->tuning, error);
}

static void
read_model (void *data, CclForeground *foreground, const ModelState *state)
{
  const CpuForeground *own = (const CpuForeground *)ccl_foreground_model (foreground);
  const Model *model = &((const Mog2 *)own->model)->model;
  const uint32_t width = foreground->plan.width, height = foreground->plan.height;
  for (uint32_t k = 0; k < CUDACCL_MAX_MIXTURES; k++) {
    for (uint32_t y = 0; y < height; y++) {
      for (uint32_t x = 0; x < width; x++) {
        const size_t i = ((size_t)k * height + y) * width + x;
        const size_t block = k * model->n_blocks + y * model->blocks_per_row + x / BLOCK_PIXELS;
        const GaussianBlock *gaussians = &model->gaussians[block];
        state->weights[i] = model->weights[block].weights[x % BLOCK_PIXELS];
        state->means[i] = gaussians->means[x % BLOCK_PIXELS];
        state->variances[i] = gaussians->variances[x % BLOCK_PIXELS];
        state->chroma[i] =
            model->chroma ? model->chroma[block].chroma[x % BLOCK_PIXELS] : CUDACCL_NO_CHROMA;
      }
    }
  }
}

static void
skip_way (gconstpointer data)
{
  const Way *way = data;
  g_test_skip_printf ("this processor has no %s", way->tuning.instructions);
}

static bool
is_offered (const Way *way)
{
  const CclForegroundPlan plan = {.width = 1, .height = 1};
  CclError error = {0};
  CclForeground *foreground = ccl_cpu_foreground_new_tuned (&plan, &way->tuning, &error);
  bool offered = foreground != NULL;
  g_assert_true (offered || error.status == CUDACCL_ERROR_UNSUPPORTED);
  ccl_foreground_free (&foreground);
  return offered;
}

/* The between-class variance of a threshold as an exact fraction: with n pixels of sum s, of which
 * m pixels of sum t are not above the threshold, (m × s − n × t)² / (m × (n − m)). */
static bool
separates_better (const uint64_t histogram[256], uint32_t a, uint32_t b)
{
  const uint32_t thresholds[] = {a, b};
  long double separations[2];
  int64_t n = 0, s = 0;
  for (int64_t value = 0; value < 256; value++) {
    n += histogram[value];
    s += value * histogram[value];
  }
  for (int i = 0; i < 2; i++) {
    int64_t m = 0, t = 0;
    for (int64_t value = 0; value <= thresholds[i]; value++) {
      m += histogram[value];
      t += value * histogram[value];
    }
    const long double difference = (long double)(m * s - n * t);
    separations[i] = m == 0 || m == n ? 0 : difference * difference / (long double)(m * (n - m));
  }
  return separations[0] > separations[1] * (1 + 1e-12L);
}

/* No threshold may have a clearly greater between-class variance than the returned one. */
static void
test_otsu_separates_best (void)
{
  for (uint32_t seed = 0; seed < 300; seed++) {
    uint64_t histogram[256] = {0};
    GRand *random = g_rand_new_with_seed (seed);
    const int n_values = g_rand_int_range (random, 2, seed % 2 ? 10 : 200);
    for (int i = 0; i < n_values; i++)
      histogram[g_rand_int_range (random, 0, 256)] +=
          (uint64_t)g_rand_int_range (random, 1, seed % 3 ? 5 : 10000);
    g_rand_free (random);
    const uint32_t threshold = ccl_otsu_threshold (histogram, 256);
    g_assert_cmpuint (threshold, <, 256);
    for (uint32_t other = 0; other < 256; other++)
      if (separates_better (histogram, other, threshold))
        g_error ("seed %u: %u separates better than %u", seed, other, threshold);
  }
}

static void
test_otsu_by_hand (void)
{
  uint64_t histogram[256] = {0};
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 256), ==, 255);
  histogram[77] = 1000;
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 256), ==, 255);
  histogram[200] = 1; /* all thresholds from 77 to 199 are equally good */
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 256), ==, 77);
  memset (histogram, 0, sizeof histogram);
  histogram[0] = histogram[255] = UINT32_MAX / 2;
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 256), ==, 0);
  histogram[0] = 1;
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 256), ==, 0);
  memset (histogram, 0, sizeof histogram);
  histogram[10] = histogram[20] = histogram[30] =
      5; /* both gaps are equally good: the lower one is used */
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 256), ==, 10);
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 21), ==, 10);
  g_assert_cmpuint (ccl_otsu_threshold (histogram, 11), ==, 10); /* the last of one value */
}

/* The CPU refuses frames in device memory. */
static void
test_device_frames_are_refused (void)
{
  const CclForegroundPlan plan = {.width = 8, .height = 1};
  uint8_t bytes[8] = {0}, mask_bytes[8];
  const CclFrame frame = {.data = bytes, .stride = 8, .location = CUDACCL_LOCATION_DEVICE};
  const CclMask mask = {.data = mask_bytes, .stride = 8};
  const CclForegroundOptions options = {0};
  CclError error = {CUDACCL_OK};
  CclForeground *foreground = ccl_cpu_foreground_new (&plan, &error);
  g_assert_nonnull (foreground);
  g_assert_cmpint (
      ccl_foreground_run (foreground, &frame, &options, &mask, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error.message, "device memory"));
  ccl_foreground_free (&foreground);
}

static void
test_unknown_instructions_are_unsupported (void)
{
  const CclForegroundPlan plan = {.width = 8, .height = 1};
  const CclCpuTuning tuning = {.instructions = "abacus"};
  CclError error = {CUDACCL_OK};
  g_assert_null (ccl_cpu_foreground_new_tuned (&plan, &tuning, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error.message, "abacus"));
}

static void
test_names_of_filters (void)
{
  g_assert_cmpstr (ccl_denoise_name (CUDACCL_DENOISE_NONE), ==, "none");
  g_assert_cmpstr (ccl_denoise_name (CUDACCL_DENOISE_OPENING_5), ==, "opening-5x5");
  g_assert_null (ccl_denoise_name ((CclDenoise)(CUDACCL_DENOISE_OPENING_5 + 1)));
  g_assert_null (ccl_denoise_name ((CclDenoise)-1));
}

static void
test_names_of_settings (void)
{
  g_assert_cmpstr (ccl_foreground_method_name (CUDACCL_FOREGROUND_CODEBOOK), ==, "codebook");
  g_assert_null (ccl_foreground_method_name ((CclForegroundMethod)4));
  g_assert_cmpstr (ccl_shadows_name (CUDACCL_SHADOWS_KEEP), ==, "keep");
  g_assert_null (ccl_shadows_name ((CclShadows)-1));
  g_assert_cmpstr (ccl_scene_change_name (CUDACCL_SCENE_SETTLED), ==, "settled");
  g_assert_null (ccl_scene_change_name ((CclSceneChange)7));
}

/* A pixel as far away as the reach changes the mask, one farther away does not. */
static void
test_reach_of_filters (void)
{
  enum { SIZE = 31, MIDDLE = SIZE / 2 };
  uint8_t *pixels = g_malloc (SIZE * SIZE),
          *masks[2] = {g_malloc (SIZE * SIZE), g_malloc (SIZE * SIZE)};
  GRand *random = g_rand_new_with_seed (1);
  for (int filter = 0; ccl_denoise_name ((CclDenoise)filter); filter++) {
    uint32_t farthest = 0;
    for (guint i = 0; i < 2000; i++) {
      const CclForegroundPlan plan = {.width = SIZE, .height = SIZE, .n_threads = 1};
      const CclForegroundOptions options = {.denoise = (CclDenoise)filter};
      const CclFrame frame = {pixels, SIZE, CUDACCL_LOCATION_HOST};
      const gint percent = g_rand_int_range (random, 30, 95);
      for (guint k = 0; k < SIZE * SIZE; k++)
        pixels[k] = g_rand_int_range (random, 0, 100) < percent ? 255 : 0;
      CclForeground *foreground = ccl_cpu_foreground_new (&plan, NULL);
      for (guint k = 0; k < 2; k++) {
        const CclMask mask = {masks[k], SIZE};
        pixels[MIDDLE * SIZE + MIDDLE] = k ? 255 : 0;
        g_assert_cmpint (
            ccl_foreground_run (foreground, &frame, &options, &mask, NULL), ==, CUDACCL_OK);
      }
      ccl_foreground_free (&foreground);
      for (int k = 0; k < SIZE * SIZE; k++)
        if (masks[0][k] != masks[1][k])
          farthest =
              (uint32_t)MAX ((int)farthest, MAX (ABS (k % SIZE - MIDDLE), ABS (k / SIZE - MIDDLE)));
    }
    g_assert_cmpuint (ccl_denoise_reach ((CclDenoise)filter), ==, farthest);
  }
  g_assert_cmpuint (ccl_denoise_reach ((CclDenoise)-1), ==, 0);
  g_rand_free (random);
  g_free (pixels);
  g_free (masks[0]);
  g_free (masks[1]);
}

int
main (int argc, char **argv)
{
  static ForegroundBackend backends[G_N_ELEMENTS (ways)];

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/otsu/separates-best", test_otsu_separates_best);
  g_test_add_func ("/otsu/by-hand", test_otsu_by_hand);
  g_test_add_func ("/foreground/names-of-filters", test_names_of_filters);
  g_test_add_func ("/foreground/names-of-settings", test_names_of_settings);
  g_test_add_func ("/foreground/reach-of-filters", test_reach_of_filters);
  g_test_add_func ("/cpu/foreground/device-frames-are-refused", test_device_frames_are_refused);
  g_test_add_func (
      "/cpu/foreground/unknown-instructions", test_unknown_instructions_are_unsupported);
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++) {
    if (is_offered (&ways[i])) {
      backends[i] = (ForegroundBackend){
          .name = ways[i].name,
          .foreground_new = foreground_new,
          .read_model = read_model,
          .data = (void *)&ways[i],
      };
      foreground_checks_register (&backends[i]);
    } else {
      char *path = g_strdup_printf ("/%s/foreground/all", ways[i].name);
      g_test_add_data_func (path, &ways[i], skip_way);
      g_free (path);
    }
  }
  return g_test_run ();
}
