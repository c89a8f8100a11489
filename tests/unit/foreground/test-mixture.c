/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The limit of a pixel's mixture of Gaussians, compared with Zivkovic's equations at every learning
 * rate. It shows that rounding, and weights that are not normalised in each frame, do not bias the
 * model in the long run. The tests of the foreground methods compare the single steps.
 */
#include "tests/unit/foreground/mixture-reference.h"

#include <glib.h>
#include <math.h>

/* One of the values of a pixel, with noise of standard deviation 3. */
typedef struct Look {
  double share, luma;
} Look;

static const double noise_deviation = 3;

static double
normal (GRand *random)
{
  return sqrt (-2 * log (1 - g_rand_double (random))) * cos (2 * G_PI * g_rand_double (random));
}

/* In steps of a mean, of luma of 8 or of 16 bits. */
static uint32_t
draw (const Look *looks, bool is_wide, GRand *random)
{
  double rest = g_rand_double (random);
  while (rest >= looks->share)
    rest -= looks++->share;
  const double luma = looks->luma + noise_deviation * normal (random);
  return (uint32_t)(is_wide ? lround (256 * luma) : 256 * lround (luma));
}

/* The expected weight of a Gaussian that matches a share π of the values, out of n Gaussians. The
 * mean change of the weight, rate × (π − w) − rate × c, is 0; the result is divided by the sum of
 * the weights, 1 − n × c. */
static double
settled_weight (double share, int n)
{
  return (share - CUDACCL_MIXTURE_COMPLEXITY) / (1 - n * CUDACCL_MIXTURE_COMPLEXITY);
}

static void
check_where_it_settles (double rate, int n_frames, const Look *looks, int n_looks, bool is_wide)
{
  const CclForegroundOptions options = {
      .history = 500, .var_threshold = 16, .learning_rate = rate, .mixtures = 5};
  CclGaussian gaussians[CUDACCL_MAX_MIXTURES] = {{0}};
  double weights[CUDACCL_MAX_MIXTURES] = {0}, means[CUDACCL_MAX_MIXTURES] = {0};
  double variances[CUDACCL_MAX_MIXTURES] = {0};
  GRand *random = g_rand_new_with_seed (1);

  for (int i = 0; i < n_frames; i++) {
    const CclMixtureParameters parameters = ccl_mixture_parameters (&options, (uint64_t)i);
    mixture_update (gaussians, draw (looks, is_wide, random), CUDACCL_NO_CHROMA, &parameters);
    for (int k = 0; k < n_looks && i >= n_frames / 2; k++) {
      weights[k] += gaussians[k].weight / (double)CUDACCL_MIXTURE_WEIGHT_STEPS;
      means[k] += gaussians[k].mean / (double)CUDACCL_MIXTURE_MEAN_STEPS;
      variances[k] += gaussians[k].variance / (double)CUDACCL_MIXTURE_VARIANCE_STEPS;
    }
  }
  g_rand_free (random);
  for (int k = 0; k < n_looks; k++) {
    const double n = n_frames - n_frames / 2;
    g_test_message ("rate %g, look %d: weight %.4f, mean %.2f, variance %.2f", rate, k,
        weights[k] / n, means[k] / n, variances[k] / n);
    g_assert_cmpfloat_with_epsilon (weights[k] / n, settled_weight (looks[k].share, n_looks), 0.01);
    g_assert_cmpfloat_with_epsilon (means[k] / n, looks[k].luma, 0.2);
    g_assert_cmpfloat_with_epsilon (variances[k] / n, noise_deviation * noise_deviation, 0.9);
  }
}

static void
test_where_it_settles (void)
{
  static const Look one[] = {{1, 100}};
  static const Look two[] = {{0.7, 100}, {0.3, 160}};
  static const Look three[] = {{0.6, 60}, {0.25, 120}, {0.15, 180}};
  static const Look finer[] = {{0.6, 100.4}, {0.4, 160.7}};
  static const struct {
    double rate;
    int n_frames;
  } cases[] = {{-1, 100000}, {0.003, 100000}, {0.001, 200000}, {0.0001, 1000000}};

  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    check_where_it_settles (cases[i].rate, cases[i].n_frames, one, 1, false);
    check_where_it_settles (cases[i].rate, cases[i].n_frames, two, 2, false);
    check_where_it_settles (cases[i].rate, cases[i].n_frames, three, 3, false);
    check_where_it_settles (cases[i].rate, cases[i].n_frames, finer, 2, true);
  }
}

/* A mean moves by a fraction of its distance from the value in each frame; this is far less than
 * the resolution of the stored mean. */
static void
test_slow_drift (void)
{
  const int n_frames = 10000;
  const double rate = 1.0 / n_frames;
  const CclForegroundOptions options = {
      .history = 500, .var_threshold = 16, .learning_rate = rate, .mixtures = 5};
  CclGaussian gaussians[CUDACCL_MAX_MIXTURES] = {{0}};

  for (int i = 0; i <= n_frames; i++) {
    const CclMixtureParameters parameters = ccl_mixture_parameters (&options, (uint64_t)i);
    mixture_update (gaussians, 256 * (i == 0 ? 100 : 101), CUDACCL_NO_CHROMA, &parameters);
  }
  const double way = gaussians[0].mean / (double)CUDACCL_MIXTURE_MEAN_STEPS - 100;
  g_assert_cmpfloat_with_epsilon (way, 1 - exp (-1), 0.01);
  g_assert_cmpuint (gaussians[0].weight, ==, CUDACCL_MIXTURE_FULL_WEIGHT);
  g_assert_cmpuint (gaussians[1].weight, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mixture/where-it-settles", test_where_it_settles);
  g_test_add_func ("/mixture/slow-drift", test_slow_drift);
  return g_test_run ();
}
