/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operations of cpu/pixels/pixels.h on rows of every width, beside plain sums: those whose vector
 * code ends in code for the rest of a row. */
#include "cpu/pixels/pixels.h"

#include <glib.h>
#include <string.h>

enum { MOST_WIDTH = 300, MOST_FACTOR = 8, MOST_STEP = 4, PADDING = 64 };

static const PixelCode *const codes[] = {
    &pixel_code_portable,
#if defined(__x86_64__)
    &pixel_code_avx2,
    &pixel_code_avx512,
#elif defined(__aarch64__)
    &pixel_code_neon,
#endif
};

static bool
is_supported (const PixelCode *code)
{
#if defined(__x86_64__)
  if (code == &pixel_code_avx2)
    return __builtin_cpu_supports ("avx2");
  if (code == &pixel_code_avx512)
    return __builtin_cpu_supports ("avx512vbmi2") && __builtin_cpu_supports ("avx512bitalg");
#endif
  return true;
}

/* Rows of random samples. Those of some rows are all as great as they can be. */
static uint8_t *
make_rows (GRand *random, uint32_t n_rows, size_t stride)
{
  uint8_t *rows = g_malloc (n_rows * stride);
  const bool is_bright = g_rand_int_range (random, 0, 8) == 0;
  for (size_t i = 0; i < n_rows * stride; i++)
    rows[i] = (uint8_t)(is_bright ? 255 : g_rand_int_range (random, 0, 256));
  return rows;
}

static void
check_reduced_row (const PixelCode *code, GRand *random, uint32_t width, uint32_t factor,
    uint32_t n_rows, uint32_t step)
{
  /* The row ends with its last sample: nothing is read behind it, as sanitizers would notice. */
  const size_t stride = (size_t)(width - 1) * step + 1;
  const uint32_t n_means = (width + factor - 1) / factor;
  g_autofree uint8_t *samples = make_rows (random, n_rows, stride);
  g_autofree uint16_t *sums = g_new (uint16_t, (n_means + PADDING) * MOST_FACTOR * MOST_STEP);
  uint8_t means[MOST_WIDTH + PADDING];
  const uint8_t *rows[MOST_FACTOR];

  for (uint32_t y = 0; y < n_rows; y++)
    rows[y] = samples + y * stride;
  memset (means, 0xa5, sizeof means);
  code->reduce_row (&(ReducedRow){.rows = rows,
      .n_rows = n_rows,
      .factor = factor,
      .n_samples = width,
      .step = step,
      .n_means = n_means,
      .sums = sums,
      .means = means});
  for (uint32_t i = 0; i < n_means; i++) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < n_rows * factor; k++) {
      const uint32_t x = MIN (i * factor + k % factor, width - 1);
      sum += rows[k / factor][(size_t)x * step];
    }
    if (means[i] != (2 * sum + n_rows * factor) / (2 * n_rows * factor))
      g_test_fail_printf ("%s, width %u, factor %u, %u rows, step %u: mean %u is %u", code->name,
          width, factor, n_rows, step, i, means[i]);
  }
  for (uint32_t i = n_means; i < G_N_ELEMENTS (means); i++)
    if (means[i] != 0xa5)
      g_test_fail_printf ("%s, width %u: written behind the means", code->name, width);
}

static void
test_reduced_rows (gconstpointer data)
{
  const PixelCode *code = data;
  GRand *random = g_rand_new_with_seed (7);

  for (uint32_t width = 1; width <= MOST_WIDTH && !g_test_failed (); width++)
    for (uint32_t factor = 1; factor <= MOST_FACTOR; factor *= 2)
      for (uint32_t n_rows = 1; n_rows <= MOST_FACTOR; n_rows *= 2)
        for (uint32_t step = 1; step <= MOST_STEP; step *= 2)
          check_reduced_row (code, random, width, factor, n_rows, step);
  g_rand_free (random);
}

static void
test_extremes (gconstpointer data)
{
  const PixelCode *code = data;
  GRand *random = g_rand_new_with_seed (8);

  for (uint32_t width = 1; width <= MOST_WIDTH && !g_test_failed (); width++) {
    g_autofree uint8_t *luma = make_rows (random, 1, width);
    uint32_t dark = 3, bright = 5, n_dark = 3, n_bright = 5;

    code->count_extremes (luma, width, &dark, &bright);
    for (uint32_t x = 0; x < width; x++) {
      n_dark += luma[x] < CUDACCL_LIGHT_LEAST_LUMA;
      n_bright += luma[x] > CUDACCL_LIGHT_MOST_LUMA;
    }
    if (dark != n_dark || bright != n_bright)
      g_test_fail_printf ("%s, width %u: %u dark and %u bright pixels instead of %u and %u",
          code->name, width, dark - 3, bright - 5, n_dark - 3, n_bright - 5);
  }
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (codes); i++) {
    if (!is_supported (codes[i]))
      continue;
    g_autofree char *reduced = g_strdup_printf ("/pixels/%s/reduced-rows", codes[i]->name);
    g_autofree char *extremes = g_strdup_printf ("/pixels/%s/extremes", codes[i]->name);
    g_test_add_data_func (reduced, codes[i], test_reduced_rows);
    g_test_add_data_func (extremes, codes[i], test_extremes);
  }
  return g_test_run ();
}
