/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plot.h"

#include "problem.h"

#include <math.h>
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

static bool
has_figures (const Results *results, guint contender, Clock clock)
{
  for (guint i = 0; i < results->inputs->len; i++)
    if (results_spread (results, i, contender, clock)->n)
      return true;
  return false;
}

/* The clock that shows a contender best: the device's where it has one. */
static Clock
clock_of (const Results *results, guint contender)
{
  return has_figures (results, contender, CLOCK_DEVICE) ? CLOCK_DEVICE : CLOCK_WALL;
}

/* What all or most labellers have in common, so that it need not stand at each of them. */
typedef struct Common {
  const char *device; /* NULL where they differ */
  unsigned threads;   /* of those on a CPU; 0 where they differ */
  Delivery delivery;  /* the most frequent one */
  bool has_device_time, has_wall_time;
} Common;

static Common
find_common (const Results *results)
{
  Common common = {0};
  unsigned n_deliveries[DELIVER_LABELS_AND_TABLE + 1] = {0};

  for (guint c = 0; c < results->contenders->len; c++) {
    const Contender *contender = results->contenders->pdata[c];
    const bool is_first = !common.has_device_time && !common.has_wall_time;
    if (!has_figures (results, c, CLOCK_WALL))
      continue;
    common.device =
        is_first || g_strcmp0 (common.device, contender->device) == 0 ? contender->device : NULL;
    common.has_device_time |= clock_of (results, c) == CLOCK_DEVICE;
    common.has_wall_time |= clock_of (results, c) == CLOCK_WALL;
    if (contender->is_floor)
      continue;
    n_deliveries[contender->delivery]++;
    if (n_deliveries[contender->delivery] > n_deliveries[common.delivery])
      common.delivery = contender->delivery;
    common.threads =
        !common.threads || common.threads == contender->threads ? contender->threads : UINT_MAX;
  }
  if (common.threads == UINT_MAX)
    common.threads = 0;
  return common;
}

/* The name of a contender in a picture: what it has not in common. */
static char *
make_label (const Contender *contender, const Common *common)
{
  GString *label = g_string_new (NULL);

  if (!common->device)
    g_string_append_printf (label, "%s ", contender->device);
  g_string_append_printf (
      label, "%s%s", contender->is_floor ? "floor: " : "", contender->algorithm);
  if (contender_is_peer (contender))
    g_string_append_printf (label, " (%s)", contender->maker);
  if (!contender->is_floor && contender->delivery != common->delivery)
    g_string_append_printf (label, ", %s", delivery_name (contender->delivery));
  if (!contender->is_floor && !common->threads && g_str_equal (contender->device, "cpu"))
    g_string_append_printf (
        label, ", %u thread%s", contender->threads, contender->threads == 1 ? "" : "s");
  return g_string_free (label, FALSE);
}

static const char *
clock_label (const Common *common)
{
  if (!common->has_device_time)
    return "µs, wall time";
  return common->has_wall_time ? "µs, GPU time on a GPU, wall time on a CPU" : "µs, GPU time";
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
  g_autofree char *script =
      g_strdup_printf ("set encoding utf8\n"
                       "set title \"%s\" noenhanced\n"
                       "set key outside right top Left reverse noenhanced samplen 3\n"
                       "set grid lt 1 lw 0.5 lc rgb '#c8c8c8'\n"
                       "%s"
                       "set terminal pngcairo size 1200,700 font 'sans,11'\n"
                       "set output '%s.png'\n"
                       "%s\n"
                       "set terminal svg size 1200,700 font 'sans,14' background rgb 'white'\n"
                       "set output '%s.svg'\n"
                       "replot\n",
          title, settings, name, plot, name);

  if (write_file (folder, name, ".dat", data) && write_file (folder, name, ".gp", script))
    call_gnuplot (folder, name);
}

/* A contender's points, and how high they are. */
typedef struct Curve {
  guint contender;
  char *label;
  GString *points;
  double sum_of_logarithms;
  unsigned n_points;
} Curve;

static void
curve_free (Curve *curve)
{
  g_free (curve->label);
  g_string_free (curve->points, TRUE);
  g_free (curve);
}

/* The highest first, as the legend is read beside the curves. */
static int
compare_curves (gconstpointer a, gconstpointer b)
{
  const Curve *one = *(const Curve *const *)a, *other = *(const Curve *const *)b;
  const double x = one->sum_of_logarithms / one->n_points;
  const double y = other->sum_of_logarithms / other->n_points;
  return (x < y) - (x > y);
}

/* Curves with points, the highest first; free the array. */
static GPtrArray *
make_curves (const Results *results, const char *set, unsigned granularity, Position position,
    const Common *common)
{
  GPtrArray *curves = g_ptr_array_new_with_free_func ((GDestroyNotify)curve_free);

  for (guint c = 0; c < results->contenders->len; c++) {
    const Clock clock = clock_of (results, c);
    Curve *curve = g_new (Curve, 1);
    *curve = (Curve){
        .contender = c,
        .label = make_label (results->contenders->pdata[c], common),
        .points = g_string_new (NULL),
    };
    for (guint i = 0; i < results->inputs->len; i++) {
      const Spread *spread = results_spread (results, i, c, clock);
      if (!belongs (results->inputs->pdata[i], set, granularity) || !(spread->median > 0))
        continue;
      g_string_append_printf (
          curve->points, "%.0f %.3f\n", position (results->inputs->pdata[i]), 1e6 * spread->median);
      curve->sum_of_logarithms += log (spread->median);
      curve->n_points++;
    }
    if (curve->n_points)
      g_ptr_array_add (curves, curve);
    else
      curve_free (curve);
  }
  g_ptr_array_sort (curves, compare_curves);
  return curves;
}

/* One line a contender, a point an input. Each contender's points are a block of the data file.
 * A contender has the same look in all pictures of a run: eight colours that people tell apart
 * with any kind of sight, then the same again with other dashes; floors are grey. */
static void
draw_lines (const Results *results, const char *folder, const char *mode, const char *set,
    unsigned granularity, Position position, const char *settings)
{
  static const char *const colours[] = {
      "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7b4fa3"};
  static const unsigned dashes[] = {1, 2, 4, 5}, points[] = {7, 5, 9, 4, 6, 8, 11};
  const Common common = find_common (results);
  g_autoptr (GPtrArray) curves = make_curves (results, set, granularity, position, &common);
  g_autofree char *name = make_file_name (mode, set, granularity);
  g_autofree char *all_settings =
      g_strdup_printf ("set ylabel \"%s\"\n%s", clock_label (&common), settings);
  g_autoptr (GString) title = g_string_new (mode);
  g_autoptr (GString) data = g_string_new (NULL);
  g_autoptr (GString) plot = g_string_new ("plot ");

  if (set)
    g_string_append_printf (title, ", %s", set);
  if (granularity)
    g_string_append_printf (title, ", granularity %u", granularity);
  if (common.delivery != DELIVER_NOTHING)
    g_string_append_printf (title, ": %s", delivery_name (common.delivery));
  for (guint i = 0; i < curves->len; i++) {
    const Curve *curve = curves->pdata[i];
    const Contender *contender = results->contenders->pdata[curve->contender];
    const guint look = curve->contender;
    g_string_append_printf (data, "# %s\n%s\n\n", curve->label, curve->points->str);
    g_string_append_printf (plot, "%s'%s.dat' index %u with linespoints title \"%s\" ",
        i ? ", " : "", name, i, curve->label);
    if (contender->is_floor)
      g_string_append_printf (plot, "lc rgb '#909090' lw 2 dt %u pt 0", look % 2 ? 1 : 3);
    else
      g_string_append_printf (plot, "lc rgb '%s' lw 1.5 dt %u pt %u ps 0.8",
          colours[look % G_N_ELEMENTS (colours)],
          dashes[look / G_N_ELEMENTS (colours) % G_N_ELEMENTS (dashes)],
          points[look % G_N_ELEMENTS (points)]);
  }
  if (curves->len)
    draw (folder, name, title->str, data->str, all_settings, plot->str);
}

/* The height of a contender's bar: its mean on a data set, or what that is at least. */
static double
bar_height (const Results *results, const char *set, guint contender, bool *is_least)
{
  const Clock clock = clock_of (results, contender);
  const double mean = results_mean (results, set, contender, clock);

  *is_least = mean <= 0;
  return mean > 0 ? mean : results_least_mean (results, set, contender, clock);
}

typedef struct Bar {
  guint contender;
  double height; /* on the first data set that it has a bar for */
} Bar;

static int
compare_bars (gconstpointer a, gconstpointer b)
{
  const Bar *one = a, *other = b;
  return (one->height > other->height) - (one->height < other->height);
}

/* A cluster of bars a contender, a bar a data set; the quickest first. */
static void
draw_bars (const Results *results, const char *folder, const char *mode)
{
  const Common common = find_common (results);
  g_autofree const char **sets = results_sets (results);
  g_autoptr (GArray) bars = g_array_new (FALSE, FALSE, sizeof (Bar));
  g_autoptr (GString) data = g_string_new ("contender");
  g_autoptr (GString) plot = g_string_new ("plot ");
  g_autofree char *title = common.delivery == DELIVER_NOTHING
                               ? g_strdup (mode)
                               : g_strdup_printf ("%s: %s", mode, delivery_name (common.delivery));
  g_autofree char *settings = g_strdup_printf (
      "set ylabel \"%s\"\nset logscale y\nset format y '%%.0f'\nset grid noxtics\nset datafile "
      "missing '?'\n"
      "set key inside left top\nset xtics rotate by 50 right noenhanced\n"
      "set style data histogram\nset style histogram clustered\nset style fill solid 0.8\n",
      clock_label (&common));
  unsigned column = 1;

  for (guint c = 0; c < results->contenders->len; c++) {
    Bar bar = {.contender = c};
    bool is_least;
    for (const char **set = sets; *set && bar.height <= 0; set++)
      bar.height = bar_height (results, *set, c, &is_least);
    if (bar.height > 0)
      g_array_append_val (bars, bar);
  }
  g_array_sort (bars, compare_bars);

  for (const char **set = sets; *set; set++) {
    g_string_append_printf (data, " \"%s\"", *set);
    column++;
    g_string_append_printf (plot, "%s'%s.dat' using %u%s title columnheader",
        column > 2 ? ", " : "", mode, column, column > 2 ? "" : ":xtic(1)");
  }
  g_string_append_c (data, '\n');
  for (guint b = 0; b < bars->len; b++) {
    const guint c = g_array_index (bars, Bar, b).contender;
    g_autofree char *label = make_label (results->contenders->pdata[c], &common);
    g_autoptr (GString) heights = g_string_new (NULL);
    bool is_any_least = false;
    for (const char **set = sets; *set; set++) {
      bool is_least;
      const double height = bar_height (results, *set, c, &is_least);
      if (height > 0)
        g_string_append_printf (heights, " %.3f", 1e6 * height);
      else
        g_string_append (heights, " ?");
      is_any_least |= is_least && height > 0;
    }
    g_string_append_printf (
        data, "\"%s%s\"%s\n", label, is_any_least ? " (at least)" : "", heights->str);
  }
  if (bars->len)
    draw (folder, mode, title, data->str, settings, plot->str);
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
            "set xlabel \"density in per cent\"\nset logscale y\nset format y '%.0f'\nset xrange "
            "[0:100]\n");
  } else if (g_str_equal (mode, "size") || g_str_equal (mode, "growth")) {
    draw_lines (results, folder, mode, NULL, 0, position_by_pixels,
        "set xlabel \"pixels\"\nset logscale xy\nset format x '10^{%T}'\nset format y '%.0f'\n");
  } else if (g_str_equal (mode, "steps")) {
    for (const char **set = sets; *set; set++)
      draw_steps (results, folder, mode, *set);
  } else if (*sets) {
    draw_bars (results, folder, mode);
  }
}
