/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include <math.h>
#include <string.h>

static const double microsecond = 1e-6, picosecond = 1e-12;

static const Implementation *
get_implementation (const Results *results, guint c)
{
  return results->implementations->pdata[c];
}

static const Measurement *
get_measurement (const Results *results, guint i, guint c)
{
  const MeasuredInput *input = results->inputs->pdata[i];
  return &input->measurements[c];
}

/* What a table needs to know about all measurements. */
typedef struct Survey {
  bool has_device_time, has_steps, is_short, is_too_slow;
} Survey;

static Survey
survey (const Results *results)
{
  Survey all = {0};

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->implementations->len; c++) {
      const Measurement *measurement = get_measurement (results, i, c);
      all.has_device_time |= measurement->device.n > 0;
      for (Step step = 0; step < N_STEPS; step++)
        all.has_steps |= measurement->steps[step].n > 0;
      all.is_short |= measurement->n_turns && measurement->n_turns < results->repetitions;
      all.is_too_slow |= measurement->outcome == TOO_SLOW;
    }
  return all;
}

/* Whether an implementation was measured on any input, or given up there. */
static bool
takes_part (const Results *results, guint c)
{
  for (guint i = 0; i < results->inputs->len; i++)
    if (get_measurement (results, i, c)->wall.n ||
        get_measurement (results, i, c)->outcome == TOO_SLOW)
      return true;
  return false;
}

void
report_header (const GPtrArray *machine, FILE *file)
{
  for (guint i = 0; i + 1 < machine->len; i += 2)
    fprintf (
        file, "# %s: %s\n", (const char *)machine->pdata[i], (const char *)machine->pdata[i + 1]);
  fputc ('\n', file);
}

/* The bandwidth bound of a device that reads all pixels and writes all labels; -1 if none. */
static int
find_bound (const Results *results, const char *device)
{
  for (guint c = 0; c < results->implementations->len; c++) {
    const Implementation *implementation = get_implementation (results, c);
    if (implementation->is_bound && g_str_equal (implementation->device, device) &&
        strstr (implementation->algorithm, "write 4"))
      return (int)c;
  }
  return -1;
}

/* The baseline of a device: on a GPU the raw labels of the fastest published algorithm, on a CPU
 * OpenCV's labels and statistics with one thread. -1 if it did not take part. */
static int
find_baseline (const Results *results, const char *device)
{
  int baseline = -1;

  for (guint c = 0; c < results->implementations->len; c++) {
    const Implementation *implementation = get_implementation (results, c);
    const char *name = implementation->algorithm;
    const bool is_opencv = g_str_equal (name, "opencv") && implementation->threads == 1 &&
                           implementation->delivery == DELIVER_LABELS_AND_TABLE;
    const bool is_published = (g_str_equal (name, BASELINE_8) || g_str_equal (name, BASELINE_4)) &&
                              implementation->delivery == DELIVER_RAW_LABELS;
    if (g_str_equal (implementation->device, device) && (is_opencv || is_published) &&
        takes_part (results, c) && (baseline < 0 || g_str_equal (name, BASELINE_8)))
      baseline = (int)c;
  }
  return baseline;
}

/* The interquartile range as a share of the median, averaged over the inputs of a set. */
static double
mean_width (const Results *results, const char *set, guint c, Clock clock)
{
  double sum = 0;
  unsigned n = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const Spread *spread = results_spread (results, i, c, clock);
    if (results_is_in_set (results, i, set) && spread->n) {
      sum += spread_width (spread);
      n++;
    }
  }
  return n ? sum / n : NAN;
}

static void
add_mean (
    Table *table, const Results *results, const char *set, guint c, Clock clock, bool is_geometric)
{
  const Mean mean = results_mean (results, set, c, clock, is_geometric);

  if (mean.is_least)
    table_text (table, "> %.0f", mean.seconds / microsecond);
  else
    table_time (table, mean.seconds, microsecond);
  if (mean.is_least || mean.seconds <= 0)
    table_text (table, "-");
  else
    table_text (table, "%.0f %%", 100 * mean_width (results, set, c, clock));
}

/* The ratio of two implementations' means, as they count on their device. */
static void
add_ratio (
    Table *table, const Results *results, const char *set, guint c, int other, bool is_geometric)
{
  const Clock clock =
      g_str_equal (get_implementation (results, c)->device, "cpu") ? CLOCK_WALL : CLOCK_DEVICE;
  const Mean mean = results_mean (results, set, c, clock, is_geometric);
  const Mean base =
      other < 0 ? (Mean){0} : results_mean (results, set, (guint)other, clock, is_geometric);
  const bool comparable = mean.seconds > 0 && base.seconds > 0 && !mean.is_least && !base.is_least;

  table_number (table, comparable ? mean.seconds / base.seconds : NAN, 3);
}

/* The means of a set; of all inputs, geometric and beside the baseline, if set is NULL. */
static void
report_set (const Results *results, const char *set, const Survey *all, FILE *file)
{
  static const char *const first[] = {"implementation", "by", "wall µs", "spread", NULL};
  const bool is_geometric = !set;
  guint n_inputs = 0;
  g_autofree char *title = NULL;
  g_autoptr (Table) table = NULL;

  for (guint i = 0; i < results->inputs->len; i++)
    n_inputs += results_is_in_set (results, i, set);
  title =
      g_strdup_printf ("%s: %s of %u input%s; spread is the interquartile range", set ? set : "all",
          is_geometric ? "geometric mean" : "mean", n_inputs, n_inputs == 1 ? "" : "s");
  table = table_new (title, first);
  if (all->has_device_time) {
    table_add_column (table, "GPU µs");
    table_add_column (table, "spread");
  }
  for (Step step = 0; all->has_steps && step < N_STEPS; step++)
    table_add_column (table, step_names[step]);
  table_add_column (table, "÷ read 1, write 4");
  if (is_geometric)
    table_add_column (table, "÷ baseline");
  if (all->is_short)
    table_add_column (table, "turns");

  for (guint c = 0; c < results->implementations->len; c++) {
    const Implementation *implementation = get_implementation (results, c);
    const int baseline = find_baseline (results, implementation->device);
    g_autofree char *name = implementation_title (implementation);
    if (results_mean (results, set, c, CLOCK_WALL, is_geometric).seconds <= 0)
      continue;
    table_row (table);
    table_text (table, "%s%s", name, is_geometric && baseline == (int)c ? " (baseline)" : "");
    table_text (table, "%s", implementation->maker);
    add_mean (table, results, set, c, CLOCK_WALL, is_geometric);
    if (all->has_device_time)
      add_mean (table, results, set, c, CLOCK_DEVICE, is_geometric);
    for (Step step = 0; all->has_steps && step < N_STEPS; step++)
      table_time (table, results_step_mean (results, set, c, step), microsecond);
    add_ratio (table, results, set, c, find_bound (results, implementation->device), is_geometric);
    if (is_geometric)
      add_ratio (table, results, set, c, baseline, is_geometric);
    if (all->is_short)
      table_number (table, results_fewest_turns (results, set, c), 0);
  }
  table_print (table, file);
}

void
report_means (const Results *results, FILE *file)
{
  g_autofree const char **sets = results_sets (results);
  const Survey all = survey (results);

  for (const char **set = sets; *set; set++)
    report_set (results, *set, &all, file);
}

void
report_ratios (const Results *results, FILE *file)
{
  const Survey all = survey (results);
  report_set (results, NULL, &all, file);
}

/* The median of an implementation on an input as a cell. */
static void
add_median (Table *table, const Results *results, guint i, guint c, Clock clock, double unit)
{
  const Measurement *measurement = get_measurement (results, i, c);
  const double median = results_spread (results, i, c, clock)->median;

  if (measurement->outcome == TOO_SLOW)
    table_text (table, "> %.0f", measurement->at_least / unit);
  else if (median > 0 && measurement->n_turns < results->repetitions)
    table_text (
        table, "%.*f (%u)", median < 100 * unit ? 1 : 0, median / unit, measurement->n_turns);
  else
    table_time (table, median, unit);
}

static void
report_clock (const Results *results, Clock clock, bool per_pixel, FILE *file)
{
  static const char *const first[] = {"input", "pixels", "foreground", NULL};
  g_autofree char *title = g_strdup_printf ("%s time, median in %s",
      clock == CLOCK_WALL ? "wall" : "GPU", per_pixel ? "ps a pixel" : "µs");
  g_autoptr (Table) table = table_new (title, first);
  unsigned column = 0;

  for (guint c = 0; c < results->implementations->len; c++)
    if (takes_part (results, c)) {
      g_autofree char *number = g_strdup_printf ("[%u]", ++column);
      table_add_column (table, number);
    }
  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const double n_pixels = (double)input->width * input->height * input->depth;
    table_row (table);
    table_text (table, "%s", input->title);
    table_number (table, n_pixels, 0);
    table_text (table, "%.1f %%", 100 * input->foreground);
    for (guint c = 0; c < results->implementations->len; c++)
      if (takes_part (results, c))
        add_median (table, results, i, c, clock, per_pixel ? picosecond * n_pixels : microsecond);
  }
  table_print (table, file);
}

void
report_inputs (const Results *results, bool per_pixel, FILE *file)
{
  unsigned column = 0;

  fputs ("columns:\n", file);
  for (guint c = 0; c < results->implementations->len; c++) {
    g_autofree char *name = implementation_title (get_implementation (results, c));
    if (takes_part (results, c))
      fprintf (file, "  [%u] %s (%s)\n", ++column, name, get_implementation (results, c)->maker);
  }
  fputc ('\n', file);
  if (survey (results).has_device_time)
    report_clock (results, CLOCK_DEVICE, per_pixel, file);
  report_clock (results, CLOCK_WALL, per_pixel, file);
}

void
report_notes (const Results *results, FILE *file)
{
  const Survey all = survey (results);
  const double noisy_share = results_noisy_share (results);

  if (all.is_short)
    fprintf (file,
        "Time was short: some figures are from fewer than %u turns (--repetitions, --seconds). The "
        "column \"turns\" or the parentheses give their number.\n\n",
        results->repetitions);
  if (all.is_too_slow)
    fputs ("\">\" marks a lower limit: a run was given up (--patience).\n\n", file);
  if (noisy_share > 0.1)
    fprintf (file,
        "Warning: the machine is noisy. In %.0f %% of the measurements the interquartile range is "
        "more than a quarter of the median: compare ratios, and run again when it is quiet.\n\n",
        100 * noisy_share);
}
