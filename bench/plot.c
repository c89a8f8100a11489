/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plot.h"

#include "problem.h"

#include <string.h>

/* Where the figure of an input stands on the horizontal axis. */
typedef double (*Position) (const MeasuredInput *input);

static double
position_by_density (const MeasuredInput *input)
{
  return input->source->density;
}

static double
position_by_pixels (const MeasuredInput *input)
{
  return (double)input->width * input->height * input->depth;
}

/* The clock that shows a contender best: the device's where it has one. */
static Clock
clock_of (const Contender *contender)
{
  return contender->klass->device_time ? CLOCK_DEVICE : CLOCK_WALL;
}

/* Whether an input belongs to a picture; granularity 0 stands for all. */
static bool
belongs (const MeasuredInput *input, const char *set, unsigned granularity)
{
  return (!set || g_str_equal (input->source->set, set)) &&
         (!granularity || input->source->granularity == granularity);
}

static bool
write_file (const char *folder, const char *name, const char *ending, const char *text)
{
  g_autofree char *file = g_strconcat (name, ending, NULL);
  g_autofree char *path = g_build_filename (folder, file, NULL);
  g_autoptr (GError) error = NULL;

  if (g_file_set_contents (path, text, -1, &error))
    return true;
  problem_tell ("%s", error->message);
  return false;
}

static void
call_gnuplot (const char *folder, const char *name)
{
  g_autofree char *script = g_strconcat (name, ".gp", NULL);
  const char *const command[] = {"gnuplot", script, NULL};
  g_autofree char *messages = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (!g_spawn_sync (folder, (char **)command, NULL,
          G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &messages, &status,
          &error))
    problem_tell (
        "gnuplot does not start (the data and the script are in %s): %s", folder, error->message);
  else if (!g_spawn_check_wait_status (status, &error))
    problem_tell ("gnuplot cannot draw %s/%s: %s", folder, script,
        g_strdelimit (g_strstrip (messages), "\n", ' '));
}

/* A file name from a title: what is neither letter nor digit becomes a dash. */
static char *
make_file_name (const char *mode, const char *set, unsigned granularity)
{
  GString *name = g_string_new (mode);

  if (set)
    g_string_append_printf (name, "-%s", set);
  if (granularity)
    g_string_append_printf (name, "-g%u", granularity);
  for (char *c = name->str; *c; c++)
    if (!g_ascii_isalnum (*c))
      *c = '-';
  return g_string_free (name, FALSE);
}

/* Both kinds of picture from one script: the plot command is run once for each terminal. */
static void
draw (const char *folder, const char *name, const char *title, const char *data,
    const char *settings, const char *plot)
{
  g_autofree char *script = g_strdup_printf ("set title \"%s\" noenhanced\n"
                                             "set key outside right top noenhanced\n"
                                             "set grid\n"
                                             "%s"
                                             "set terminal pngcairo size 1200,700\n"
                                             "set output '%s.png'\n"
                                             "%s\n"
                                             "set terminal svg size 1200,700\n"
                                             "set output '%s.svg'\n"
                                             "replot\n",
      title, settings, name, plot, name);

  if (write_file (folder, name, ".dat", data) && write_file (folder, name, ".gp", script))
    call_gnuplot (folder, name);
}

/* One line a contender, a point an input. Each contender's points are a block of the data file. */
static void
draw_lines (const Results *results, const char *folder, const char *mode, const char *set,
    unsigned granularity, Position position, const char *settings)
{
  g_autofree char *name = make_file_name (mode, set, granularity);
  g_autoptr (GString) title = g_string_new (mode);
  g_autoptr (GString) data = g_string_new (NULL);
  g_autoptr (GString) plot = g_string_new ("plot ");
  unsigned block = 0;

  if (set)
    g_string_append_printf (title, ", %s", set);
  if (granularity)
    g_string_append_printf (title, ", granularity %u", granularity);
  for (guint c = 0; c < results->contenders->len; c++) {
    const Contender *contender = results->contenders->pdata[c];
    const Clock clock = clock_of (contender);
    g_autofree char *label = contender_title (contender);
    unsigned n_points = 0;

    for (guint i = 0; i < results->inputs->len; i++) {
      const Spread *spread = results_spread (results, i, c, clock);
      if (!belongs (results->inputs->pdata[i], set, granularity) || !spread->n)
        continue;
      if (!n_points++)
        g_string_append_printf (data, "# %s\n", label);
      g_string_append_printf (
          data, "%.0f %.3f\n", position (results->inputs->pdata[i]), 1e6 * spread->median);
    }
    if (!n_points)
      continue;
    g_string_append (data, "\n\n");
    g_string_append_printf (plot, "%s'%s.dat' index %u with linespoints title \"%s%s\"",
        block ? ", " : "", name, block, label, clock == CLOCK_DEVICE ? " (GPU time)" : "");
    block++;
  }
  if (block)
    draw (folder, name, title->str, data->str, settings, plot->str);
}

/* A cluster of bars a data set, a bar a contender. */
static void
draw_bars (const Results *results, const char *folder, const char *mode)
{
  g_autofree const char **sets = results_sets (results);
  g_autoptr (GString) data = g_string_new ("set");
  g_autoptr (GString) plot = g_string_new ("plot ");
  unsigned column = 1;

  for (guint c = 0; c < results->contenders->len; c++) {
    g_autofree char *label = contender_title (results->contenders->pdata[c]);
    g_string_append_printf (data, " \"%s\"", label);
    column++;
    g_string_append_printf (plot, "%s'%s.dat' using %u%s title columnheader", c ? ", " : "", mode,
        column, c ? "" : ":xtic(1)");
  }
  g_string_append_c (data, '\n');
  for (const char **set = sets; *set; set++) {
    g_string_append_printf (data, "\"%s\"", *set);
    for (guint c = 0; c < results->contenders->len; c++) {
      const Clock clock = clock_of (results->contenders->pdata[c]);
      const double mean = results_mean (results, *set, c, clock);
      if (mean > 0)
        g_string_append_printf (data, " %.3f", 1e6 * mean);
      else
        g_string_append (data, " ?");
    }
    g_string_append_c (data, '\n');
  }
  draw (folder, mode, mode, data->str,
      "set ylabel \"µs (GPU time on a GPU, wall time on a CPU)\"\n"
      "set logscale y\nset datafile missing '?'\n"
      "set style data histogram\nset style histogram clustered\nset style fill solid 0.7\n",
      plot->str);
}

/* A stack a contender, made of its steps. */
static void
draw_steps (const Results *results, const char *folder, const char *mode, const char *set)
{
  g_autofree char *name = make_file_name (mode, set, 0);
  g_autofree char *title = g_strdup_printf ("%s, %s", mode, set);
  g_autoptr (GString) data = g_string_new ("contender allocation scan merging relabelling\n");
  g_autoptr (GString) plot = g_string_new ("plot ");
  unsigned n_stacks = 0;

  for (guint c = 0; c < results->contenders->len; c++) {
    const Contender *contender = results->contenders->pdata[c];
    double means[N_STEPS];
    double sum = 0;
    for (unsigned step = 0; step < N_STEPS; step++) {
      means[step] = results_step_mean (results, set, c, step);
      sum += means[step];
    }
    if (sum <= 0)
      continue;
    n_stacks++;
    g_string_append_printf (data, "\"%s\"", contender->algorithm);
    for (unsigned step = 0; step < N_STEPS; step++)
      g_string_append_printf (data, " %.3f", 1e6 * means[step]);
    g_string_append_c (data, '\n');
  }
  for (unsigned step = 0; step < N_STEPS; step++)
    g_string_append_printf (plot, "%s'%s.dat' using %u%s title columnheader", step ? ", " : "",
        name, step + 2, step ? "" : ":xtic(1)");
  if (n_stacks)
    draw (folder, name, title, data->str,
        "set ylabel \"µs\"\nset xtics rotate by -45 noenhanced\n"
        "set style data histogram\nset style histogram rowstacked\nset boxwidth 0.7\n"
        "set style fill solid 0.7\n",
        plot->str);
}

void
plot_results (const Results *results, const char *mode, const char *folder)
{
  g_autofree const char **sets = results_sets (results);

  if (g_mkdir_with_parents (folder, 0777) != 0) {
    problem_tell ("%s: cannot be made", folder);
    return;
  }
  if (g_str_equal (mode, "density")) {
    for (const char **set = sets; *set; set++)
      for (unsigned granularity = 1; granularity <= 16; granularity++)
        draw_lines (results, folder, mode, *set, granularity, position_by_density,
            "set xlabel \"density in per cent\"\nset ylabel \"µs\"\n");
  } else if (g_str_equal (mode, "size") || g_str_equal (mode, "growth")) {
    draw_lines (results, folder, mode, NULL, 0, position_by_pixels,
        "set xlabel \"pixels\"\nset ylabel \"µs\"\nset logscale xy\n");
  } else if (g_str_equal (mode, "steps")) {
    for (const char **set = sets; *set; set++)
      draw_steps (results, folder, mode, *set);
  } else if (*sets) {
    draw_bars (results, folder, mode);
  }
}
