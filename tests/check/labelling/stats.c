/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of labelling times against a sorted list. */
#include "gstcclstats.h"

#include <gst/check/gstcheck.h>

static int
compare (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

  return (x > y) - (x < y);
}

static void
check_percentiles (const guint64 *times, guint n)
{
  GstCclStats *stats = g_new0 (GstCclStats, 1);
  guint64 *sorted = g_memdup2 (times, n * sizeof *times);

  for (guint i = 0; i < n; i++)
    gst_ccl_stats_add_frame (stats, 1, times[i]);
  qsort (sorted, n, sizeof *sorted, compare);
  for (guint percent = 1; percent <= 100; percent++) {
    guint64 exact = sorted[(guint)((guint64)percent * n + 99) / 100 - 1];
    guint64 found = gst_ccl_stats_percentile (stats, percent / 100.0);
    fail_unless (found >= exact && found <= exact + exact / 64 + 1,
        "%u %% of %u: %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT, percent, n, found,
        exact);
  }
  g_free (sorted);
  g_free (stats);
}

GST_START_TEST (test_percentiles)
{
  guint64 times[500];
  GRand *rand = g_rand_new_with_seed (7);

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    times[i] = i;
  check_percentiles (times, 100);
  check_percentiles (times, 500);
  check_percentiles (times + 63, 3);
  check_percentiles (times + 127, 3);
  for (guint octave = 0; octave < 41; octave++) {
    for (guint i = 0; i < G_N_ELEMENTS (times); i++)
      times[i] = ((guint64)1 << octave) + g_rand_int (rand) % ((guint64)1 << MIN (octave, 31));
    check_percentiles (times, G_N_ELEMENTS (times));
  }
  g_rand_free (rand);
}
GST_END_TEST

GST_START_TEST (test_longest_time)
{
  GstCclStats *stats = g_new0 (GstCclStats, 1);

  fail_unless_equals_uint64 (gst_ccl_stats_percentile (stats, 0.99), 0);
  gst_ccl_stats_add_frame (stats, 1, G_MAXUINT64);
  fail_unless (gst_ccl_stats_percentile (stats, 0.99) >= ((guint64)1 << 41));
  g_free (stats);
}
GST_END_TEST

GST_START_TEST (test_mean)
{
  GstCclStats *stats = g_new0 (GstCclStats, 1);
  GstStructure *structure;
  guint64 value;

  gst_ccl_stats_add_frame (stats, 3, 1000);
  gst_ccl_stats_add_frame (stats, 4, 3000);
  structure = gst_ccl_stats_to_structure (stats);
  fail_unless (gst_structure_get_uint64 (structure, "label-time-mean", &value));
  fail_unless_equals_uint64 (value, 2000);
  fail_unless (gst_structure_get_uint64 (structure, "components", &value));
  fail_unless_equals_uint64 (value, 7);
  gst_structure_free (structure);
  gst_ccl_stats_reset (stats);
  fail_unless_equals_uint64 (stats->frames, 0);
  g_free (stats);
}
GST_END_TEST

static Suite *
stats_suite (void)
{
  Suite *suite = suite_create ("stats");
  TCase *tcase = tcase_create ("stats");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_percentiles);
  tcase_add_test (tcase, test_longest_time);
  tcase_add_test (tcase, test_mean);
  return suite;
}

GST_CHECK_MAIN (stats);
