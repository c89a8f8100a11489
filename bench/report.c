/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include <math.h>
#include <string.h>

static const double microsecond = 1e-6, picosecond = 1e-12;

void
report_header (const GPtrArray *machine, FILE *file)
{
  for (guint i = 0; i + 1 < machine->len; i += 2)
    fprintf (
        file, "# %s: %s\n", (const char *)machine->pdata[i], (const char *)machine->pdata[i + 1]);
  fputc ('\n', file);
}

/* The properties of all measurements that decide on columns and notes. */
typedef struct Survey {
  bool has_device_time, has_steps, is_short, is_too_slow;
} Survey;

static Survey
survey (const Results *results)
{
  Survey all = {0};

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    for (guint c = 0; c < results->implementations->len; c++) {
      const Measurement *measurement = &input->measurements[c];
      all.has_device_time |= measurement->device.n > 0;
      for (Step step = 0; step < N_STEPS; step++)
        all.has_steps |= measurement->steps[step].n > 0;
      all.is_short |= measurement->n_turns && measurement->n_turns < results->repetitions;
      all.is_too_slow |= measurement->outcome == TOO_SLOW;
    }
  }
  return all;
}

/* The clock that counts on an implementation's device. */
static Clock
clock_of (const Implementation *implementation)
{
  return g_str_equal (implementation->device, "cpu") ? CLOCK_WALL : CLOCK_DEVICE;
}

/* The mean of the bandwidth bound that reads all pixels and writes all labels; NAN if none. */
static double
bound_of (const Results *results, const char *group, const char *device)
{
  for (guint c = 0; c < results->implementations->len; c++) {
    const Implementation *implementation = results->implementations->pdata[c];
    if (implementation->is_bound && g_str_equal (implementation->device, device) &&
        strstr (implementation->algorithm, "write 4"))
      return results_mean (results, group, c, clock_of (implementation)).seconds;
  }
  return NAN;
}

/* The number of inputs of a group, and the mean of their pixels. */
static unsigned
count_inputs (const Results *results, const char *group, double *n_pixels)
{
  unsigned n = 0;

  *n_pixels = 0;
  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    if (!g_str_equal (input->group, group))
      continue;
    *n_pixels += (double)input->width * input->height * input->depth;
    n++;
  }
  *n_pixels /= n;
  return n;
}

/* The interquartile range as a share of the median, averaged over the inputs of a group. */
static double
mean_width (const Results *results, const char *group, guint c, Clock clock)
{
  double sum = 0;
  unsigned n = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const Spread *spread = results_spread (results, i, c, clock);
    if (g_str_equal (input->group, group) && spread->n) {
      sum += spread_width (spread);
      n++;
    }
  }
  return n ? sum / n : NAN;
}

/* Adds a mean and its spread. */
static void
add_mean (Table *table, const Results *results, const char *group, guint c, Clock clock)
{
  const Mean mean = results_mean (results, group, c, clock);

  if (mean.is_least)
    table_text (table, "> %.0f", mean.seconds / microsecond);
  else
    table_time (table, mean.seconds, microsecond);
  if (mean.is_least || mean.seconds <= 0)
    table_text (table, "-");
  else
    table_text (table, "%.0f %%", 100 * mean_width (results, group, c, clock));
}

static void
add_row (Table *table, const Results *results, const char *group, guint c, double n_pixels,
    const Survey *all)
{
  const Implementation *implementation = results->implementations->pdata[c];
  const Mean mean = results_mean (results, group, c, clock_of (implementation));
  const double seconds = mean.is_least || mean.seconds <= 0 ? NAN : mean.seconds;
  g_autofree char *title = implementation_title (implementation);

  table_row (table);
  table_text (table, "%s", title);
  table_text (table, "%s", implementation->maker);
  add_mean (table, results, group, c, CLOCK_WALL);
  if (all->has_device_time)
    add_mean (table, results, group, c, CLOCK_DEVICE);
  for (Step step = 0; all->has_steps && step < N_STEPS; step++)
    table_time (table, results_step_mean (results, group, c, step), microsecond);
  table_number (table, seconds / n_pixels / picosecond, 1);
  table_number (table, seconds / bound_of (results, group, implementation->device), 2);
  if (all->is_short)
    table_number (table, results_fewest_turns (results, group, c), 0);
}

static void
report_group (const Results *results, const char *group, const Survey *all, FILE *file)
{
  static const char *const first[] = {"implementation", "by", "wall µs", "spread", NULL};
  double n_pixels;
  const unsigned n_inputs = count_inputs (results, group, &n_pixels);
  g_autofree char *title =
      g_strdup_printf ("%s: mean of %u input%s; spread is the interquartile range", group, n_inputs,
          n_inputs == 1 ? "" : "s");
  g_autoptr (Table) table = table_new (title, first);

  if (all->has_device_time) {
    table_add_column (table, "GPU µs");
    table_add_column (table, "spread");
  }
  for (Step step = 0; all->has_steps && step < N_STEPS; step++)
    table_add_column (table, step_names[step]);
  table_add_column (table, "ps a pixel");
  table_add_column (table, "÷ read 1, write 4");
  if (all->is_short)
    table_add_column (table, "turns");
  for (guint c = 0; c < results->implementations->len; c++)
    if (results_mean (results, group, c, CLOCK_WALL).seconds > 0)
      add_row (table, results, group, c, n_pixels, all);
  table_print (table, file);
}

void
report_results (const Results *results, FILE *file)
{
  g_autofree const char **groups = results_groups (results);
  const Survey all = survey (results);
  const double noisy_share = results_noisy_share (results);

  for (const char **group = groups; *group; group++)
    report_group (results, *group, &all, file);
  if (all.is_short)
    fprintf (file,
        "Time was short: some figures are from fewer than %u turns (--repetitions, --seconds).\n\n",
        results->repetitions);
  if (all.is_too_slow)
    fputs ("\">\" marks a lower limit: a run was given up (--patience).\n\n", file);
  if (noisy_share > 0.1)
    fprintf (file,
        "Warning: the machine is noisy. In %.0f %% of the measurements the interquartile range is "
        "more than a quarter of the median: compare ratios, and run again when it is quiet.\n\n",
        100 * noisy_share);
}
