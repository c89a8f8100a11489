/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report.h"

#include "grid.h"

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

static const Contender *
get_contender (const Results *results, guint c)
{
  return results->contenders->pdata[c];
}

static bool
has_clock (const Results *results, Clock clock)
{
  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++)
      if (results_spread (results, i, c, clock)->n)
        return true;
  return false;
}

static const Measurement *
get_measurement (const Results *results, guint i, guint c)
{
  const MeasuredInput *input = results->inputs->pdata[i];
  return &input->measurements[c];
}

/* Whether a contender was measured on any input, or was too slow there. */
static bool
is_measured (const Results *results, guint contender)
{
  for (guint i = 0; i < results->inputs->len; i++)
    if (results_spread (results, i, contender, CLOCK_WALL)->n ||
        get_measurement (results, i, contender)->outcome == TOO_SLOW)
      return true;
  return false;
}

static bool
is_any_too_slow (const Results *results)
{
  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++)
      if (get_measurement (results, i, c)->outcome == TOO_SLOW)
        return true;
  return false;
}

/* Whether a contender took fewer turns than it should have. */
static bool
is_short (const Results *results, unsigned n_turns)
{
  return n_turns && n_turns < results->repetitions;
}

static bool
is_any_short (const Results *results)
{
  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++)
      if (is_short (results, get_measurement (results, i, c)->n_turns))
        return true;
  return false;
}

/* The interquartile range as a share of the median, averaged over the inputs of a set. */
static double
mean_width (const Results *results, const char *set, guint contender, Clock clock)
{
  double sum = 0;
  unsigned n = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const Spread *spread = results_spread (results, i, contender, clock);
    if (g_str_equal (input->source->set, set) && spread->n) {
      sum += spread_width (spread);
      n++;
    }
  }
  return n ? sum / n : 0;
}

/* The contender of the same device whose floor is to read all pixels and write all labels. */
static int
find_floor (const Results *results, const char *device)
{
  for (guint c = 0; c < results->contenders->len; c++) {
    const Contender *contender = get_contender (results, c);
    if (contender->is_floor && g_str_equal (contender->device, device) &&
        strstr (contender->algorithm, "write 4"))
      return (int)c;
  }
  return -1;
}

/* What a device's figures are compared with: on a GPU the raw labels of the best published
 * labeller; on a CPU OpenCV's labels and statistics, one thread. -1 if it did not take part. */
static int
find_baseline (const Results *results, const char *device)
{
  int baseline = -1;

  for (guint c = 0; c < results->contenders->len; c++) {
    const Contender *contender = get_contender (results, c);
    const bool is_opencv = g_str_equal (contender->algorithm, "opencv") &&
                           contender->threads == 1 &&
                           contender->delivery == DELIVER_LABELS_AND_TABLE;
    const bool is_published = (g_str_equal (contender->algorithm, BASELINE_8) ||
                                  g_str_equal (contender->algorithm, BASELINE_4)) &&
                              contender->delivery == DELIVER_RAW_LABELS;
    if (!g_str_equal (contender->device, device) || !(is_opencv || is_published) ||
        !is_measured (results, c))
      continue;
    if (baseline < 0 || g_str_equal (contender->algorithm, BASELINE_8))
      baseline = (int)c;
  }
  return baseline;
}

static unsigned
count_inputs (const Results *results, const char *set)
{
  unsigned n = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    n += g_str_equal (input->source->set, set);
  }
  return n;
}

/* A mean time and its spread as two cells. */
static void
add_mean (Grid *grid, const Results *results, const char *set, guint contender, Clock clock)
{
  const double mean = results_mean (results, set, contender, clock);
  const double least = results_least_mean (results, set, contender, clock);

  if (least > 0)
    grid_cell (grid, "> %.0f", least / microsecond);
  else
    grid_time (grid, mean, microsecond);
  if (mean > 0)
    grid_cell (grid, "%.0f %%", 100 * mean_width (results, set, contender, clock));
  else
    grid_cell (grid, "-");
}

void
report_average (const Results *results, FILE *file)
{
  g_autofree const char **sets = results_sets (results);
  const bool device = has_clock (results, CLOCK_DEVICE), turns = is_any_short (results);

  for (const char **set = sets; *set; set++) {
    const unsigned n = count_inputs (results, *set);
    g_autofree char *title = g_strdup_printf (
        "%s: mean of %u input%s; spread is the interquartile range", *set, n, n == 1 ? "" : "s");
    Grid *grid = grid_new (title);
    grid_row (grid);
    grid_cell (grid, "contender");
    grid_cell (grid, "by");
    grid_cell (grid, "wall µs");
    grid_cell (grid, "spread");
    if (device) {
      grid_cell (grid, "GPU µs");
      grid_cell (grid, "spread");
    }
    grid_cell (grid, "÷ read 1, write 4");
    if (turns)
      grid_cell (grid, "turns");
    for (guint c = 0; c < results->contenders->len; c++) {
      const Contender *contender = get_contender (results, c);
      g_autofree char *name = contender_title (contender);
      const Clock clock = g_str_equal (contender->device, "cpu") ? CLOCK_WALL : CLOCK_DEVICE;
      const int floor = find_floor (results, contender->device);
      const double mean = results_mean (results, *set, c, clock);
      const double floor_mean = floor >= 0 ? results_mean (results, *set, (guint)floor, clock) : 0;
      if (mean <= 0 && results_least_mean (results, *set, c, clock) <= 0)
        continue;
      grid_row (grid);
      grid_cell (grid, "%s", name);
      grid_cell (grid, "%s", contender->maker);
      add_mean (grid, results, *set, c, CLOCK_WALL);
      if (device)
        add_mean (grid, results, *set, c, CLOCK_DEVICE);
      if (mean > 0 && floor_mean > 0)
        grid_cell (grid, "%.2f", mean / floor_mean);
      else
        grid_cell (grid, "-");
      if (turns)
        grid_cell (grid, "%u", results_fewest_turns (results, *set, c));
    }
    grid_print_and_free (grid, file);
  }
}

/* Whether the steps of a contender were told apart on any input. */
static bool
has_steps (const Results *results, guint contender)
{
  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    for (unsigned step = 0; step < N_STEPS; step++)
      if (input->measurements[contender].steps[step].n)
        return true;
  }
  return false;
}

void
report_steps (const Results *results, FILE *file)
{
  static const char *const heads[N_STEPS] = {
      "allocation µs", "scan µs", "merging µs", "relabelling µs"};
  g_autofree const char **sets = results_sets (results);

  for (const char **set = sets; *set; set++) {
    g_autofree char *title =
        g_strdup_printf ("%s: mean GPU time, and of each step by itself", *set);
    Grid *grid = grid_new (title);
    grid_row (grid);
    grid_cell (grid, "contender");
    grid_cell (grid, "by");
    grid_cell (grid, "GPU µs");
    for (unsigned step = 0; step < N_STEPS; step++)
      grid_cell (grid, "%s", heads[step]);
    for (guint c = 0; c < results->contenders->len; c++) {
      g_autofree char *name = contender_title (get_contender (results, c));
      const double mean = results_mean (results, *set, c, CLOCK_DEVICE);
      /* Floors of a GPU are there to compare with; a CPU's labellers have no steps. */
      if (!has_steps (results, c) && !(get_contender (results, c)->is_floor && mean > 0))
        continue;
      grid_row (grid);
      grid_cell (grid, "%s", name);
      grid_cell (grid, "%s", get_contender (results, c)->maker);
      grid_time (grid, mean, microsecond);
      for (unsigned step = 0; step < N_STEPS; step++)
        grid_time (grid, results_step_mean (results, *set, c, step), microsecond);
    }
    grid_print_and_free (grid, file);
  }
}

/* The largest ratio to the baseline over all inputs; the input's number by reference. */
static double
worst_ratio (
    const Results *results, guint contender, guint baseline, Clock clock, guint *worst_input)
{
  double worst = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const Spread *spread = results_spread (results, i, contender, clock);
    const Spread *base = results_spread (results, i, baseline, clock);
    if (spread->n && base->n && spread->median / base->median > worst) {
      worst = spread->median / base->median;
      *worst_input = i;
    }
  }
  return worst;
}

static void
report_ratios_by (const Results *results, Clock clock, FILE *file)
{
  g_autofree char *title = g_strdup_printf ("%s time, geometric mean of %u inputs",
      clock == CLOCK_WALL ? "wall" : "GPU", results->inputs->len);
  Grid *grid = grid_new (title);

  grid_row (grid);
  grid_cell (grid, "contender");
  grid_cell (grid, "by");
  grid_cell (grid, "µs");
  grid_cell (grid, "÷ read 1, write 4");
  grid_cell (grid, "÷ baseline");
  grid_cell (grid, "worst");
  grid_cell (grid, "on");
  for (guint c = 0; c < results->contenders->len; c++) {
    const Contender *contender = get_contender (results, c);
    g_autofree char *name = contender_title (contender);
    const double mean = results_geometric_mean (results, NULL, c, clock);
    const int baseline = find_baseline (results, contender->device);
    const int floor = find_floor (results, contender->device);
    const double floor_mean =
        floor >= 0 ? results_geometric_mean (results, NULL, (guint)floor, clock) : 0;
    const double baseline_mean =
        baseline >= 0 ? results_geometric_mean (results, NULL, (guint)baseline, clock) : 0;
    guint worst_input = 0;
    const double worst =
        baseline >= 0 ? worst_ratio (results, c, (guint)baseline, clock, &worst_input) : 0;

    if (!is_measured (results, c) || (clock == CLOCK_DEVICE && mean <= 0))
      continue;
    grid_row (grid);
    grid_cell (grid, "%s%s", name, baseline == (int)c ? " (baseline)" : "");
    grid_cell (grid, "%s", contender->maker);
    grid_time (grid, mean, microsecond);
    if (mean > 0 && floor_mean > 0)
      grid_cell (grid, "%.2f", mean / floor_mean);
    else
      grid_cell (grid, "-");
    if (mean > 0 && baseline_mean > 0)
      grid_cell (grid, "%.3f", mean / baseline_mean);
    else
      grid_cell (grid, "-");
    if (worst > 0 && baseline != (int)c) {
      const MeasuredInput *input = results->inputs->pdata[worst_input];
      grid_cell (grid, "%.3f", worst);
      grid_cell (grid, "%s", input->title);
    } else {
      grid_cell (grid, "-");
      grid_cell (grid, "-");
    }
  }
  grid_print_and_free (grid, file);
}

void
report_ratios (const Results *results, FILE *file)
{
  if (has_clock (results, CLOCK_DEVICE))
    report_ratios_by (results, CLOCK_DEVICE, file);
  report_ratios_by (results, CLOCK_WALL, file);
}

/* The median of a contender on an input as a cell. */
static void
add_median (Grid *grid, const Results *results, guint i, guint c, Clock clock, double unit)
{
  const Measurement *measurement = get_measurement (results, i, c);
  const double median = results_spread (results, i, c, clock)->median;

  if (measurement->outcome == TOO_SLOW)
    grid_cell (grid, "> %.0f", measurement->at_least / unit);
  else if (median > 0 && is_short (results, measurement->n_turns))
    grid_cell (grid, "%.*f (%u)", median < 100 * unit ? 1 : 0, median / unit, measurement->n_turns);
  else
    grid_time (grid, median, unit);
}

static void
report_matrix (const Results *results, Clock clock, bool per_pixel, FILE *file)
{
  g_autofree char *title = g_strdup_printf ("%s time, median in %s",
      clock == CLOCK_WALL ? "wall" : "GPU", per_pixel ? "ps a pixel" : "µs");
  Grid *grid = grid_new (title);
  unsigned column = 0;

  grid_row (grid);
  grid_cell (grid, "input");
  grid_cell (grid, "pixels");
  grid_cell (grid, "foreground");
  for (guint c = 0; c < results->contenders->len; c++)
    if (is_measured (results, c))
      grid_cell (grid, "[%u]", ++column);
  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const double n_pixels = (double)input->width * input->height * input->depth;
    grid_row (grid);
    grid_cell (grid, "%s", input->title);
    grid_cell (grid, "%.0f", n_pixels);
    grid_cell (grid, "%.1f %%", 100 * input->density);
    for (guint c = 0; c < results->contenders->len; c++)
      if (is_measured (results, c))
        add_median (grid, results, i, c, clock, per_pixel ? picosecond * n_pixels : microsecond);
  }
  grid_print_and_free (grid, file);
}

void
report_matrices (const Results *results, bool per_pixel, FILE *file)
{
  unsigned column = 0;

  fputs ("columns:\n", file);
  for (guint c = 0; c < results->contenders->len; c++) {
    g_autofree char *name = contender_title (get_contender (results, c));
    if (is_measured (results, c))
      fprintf (file, "  [%u] %s (%s)\n", ++column, name, get_contender (results, c)->maker);
  }
  fputc ('\n', file);
  if (has_clock (results, CLOCK_DEVICE))
    report_matrix (results, CLOCK_DEVICE, per_pixel, file);
  report_matrix (results, CLOCK_WALL, per_pixel, file);
}

void
report_limits (const Results *results, FILE *file)
{
  if (is_any_short (results))
    fprintf (file,
        "Time was short: not all figures stand on %u turns of each contender (--repetitions, "
        "--seconds). The fewest are told, in the column \"turns\" or in parentheses.\n\n",
        results->repetitions);
  if (is_any_too_slow (results))
    fputs ("\">\": at least so much. One run or more was given up (--patience).\n\n", file);
}

void
report_noise (const Results *results, FILE *file)
{
  const double share = results_noisy_share (results);

  if (share > 0.1)
    fprintf (file,
        "Warning: the machine is noisy. In %.0f %% of the measurements the interquartile range is "
        "more than a quarter of the median: compare ratios, and run again when it is quiet.\n\n",
        100 * share);
}
