/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "results.h"

#include "problem.h"
#include "progress.h"

#include <math.h>
#include <string.h>

static const char *const step_names[N_STEPS] = {
    "allocation", "scan", "merging", "relabelling", "analysis"};

static void
measured_input_free (MeasuredInput *input)
{
  g_free (input->title);
  g_free (input->measurements);
  g_free (input);
}

static double
foreground_share (const Input *input)
{
  size_t n_foreground = 0;

  for (size_t i = 0, n = input_n_pixels (input); i < n; i++)
    n_foreground += input->pixels[i] != 0;
  return (double)n_foreground / (double)input_n_pixels (input);
}

Results *
results_measure (
    GPtrArray *sources, GPtrArray *contenders, const MeasureSettings *settings, double seconds)
{
  Results *results = g_new0 (Results, 1);
  MeasureSettings each = *settings;

  results->sources = sources;
  results->contenders = contenders;
  results->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)measured_input_free);
  each.seconds = sources->len ? seconds / sources->len : seconds;

  for (guint i = 0; i < sources->len; i++) {
    const InputSource *source = sources->pdata[i];
    g_autofree char *title = g_strdup_printf ("%s %s", source->set, source->name);
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = NULL;
    MeasuredInput *measured;

    progress_show (i, sources->len, title);
    input = input_source_load (source, &error);
    if (!input) {
      problem_tell ("%s", error->message);
      continue;
    }
    measured = g_new0 (MeasuredInput, 1);
    *measured = (MeasuredInput){
        .source = source,
        .title = g_strdup (title),
        .width = input->width,
        .height = input->height,
        .depth = input->depth,
        .density = foreground_share (input),
        .measurements = g_new0 (Measurement, contenders->len),
    };
    measure (contenders, input, title, &each, measured->measurements);
    g_ptr_array_add (results->inputs, measured);
  }
  progress_show (sources->len, sources->len, "");
  return results;
}

void
results_free (Results *results)
{
  if (!results)
    return;
  g_ptr_array_unref (results->inputs);
  g_ptr_array_unref (results->contenders);
  g_ptr_array_unref (results->sources);
  g_free (results);
}

const Spread *
results_spread (const Results *results, guint input, guint contender, Clock clock)
{
  const MeasuredInput *measured = results->inputs->pdata[input];
  const Measurement *measurement = &measured->measurements[contender];
  return clock == CLOCK_WALL ? &measurement->wall : &measurement->device;
}

static bool
is_in_set (const Results *results, guint input, const char *set)
{
  const MeasuredInput *measured = results->inputs->pdata[input];
  return !set || g_str_equal (measured->source->set, set);
}

/* Whether any contender was measured on an input. */
static bool
is_measured (const Results *results, guint input)
{
  for (guint c = 0; c < results->contenders->len; c++)
    if (results_spread (results, input, c, CLOCK_WALL)->n)
      return true;
  return false;
}

/* Sums up f(median) over a set; NAN where the mean would not compare. */
static double
mean_of (
    const Results *results, const char *set, guint contender, Clock clock, double (*f) (double))
{
  double sum = 0;
  unsigned n = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const Spread *spread = results_spread (results, i, contender, clock);
    if (!is_in_set (results, i, set) || !is_measured (results, i))
      continue;
    if (!spread->n)
      return NAN;
    sum += f (spread->median);
    n++;
  }
  return n ? sum / n : NAN;
}

static double
identity (double value)
{
  return value;
}

double
results_mean (const Results *results, const char *set, guint contender, Clock clock)
{
  const double mean = mean_of (results, set, contender, clock, identity);
  return isnan (mean) ? 0 : mean;
}

double
results_geometric_mean (const Results *results, const char *set, guint contender, Clock clock)
{
  const double mean = mean_of (results, set, contender, clock, log);
  return isnan (mean) ? 0 : exp (mean);
}

const char **
results_sets (const Results *results)
{
  g_autoptr (GPtrArray) sets = g_ptr_array_new ();

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    if (!g_ptr_array_find_with_equal_func (sets, input->source->set, g_str_equal, NULL))
      g_ptr_array_add (sets, input->source->set);
  }
  g_ptr_array_add (sets, NULL);
  return (const char **)g_ptr_array_steal (sets, NULL);
}

double
results_noisy_share (const Results *results)
{
  unsigned n = 0, n_noisy = 0;

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++)
      for (Clock clock = CLOCK_WALL; clock <= CLOCK_DEVICE; clock++) {
        const Spread *spread = results_spread (results, i, c, clock);
        n += spread->n > 0;
        n_noisy += spread->n > 0 && spread_width (spread) > 0.25;
      }
  return n ? (double)n_noisy / n : 0;
}

static void
append_csv_text (GString *csv, const char *text)
{
  g_autofree char *escaped = NULL;
  g_auto (GStrv) parts = g_strsplit (text, "\"", -1);

  escaped = g_strjoinv ("\"\"", parts);
  g_string_append_printf (csv, strpbrk (text, ",\"\n") ? "\"%s\"," : "%s,", escaped);
}

static void
append_csv_spread (GString *csv, const Spread *spread)
{
  const double values[] = {
      spread->median, spread->first_quartile, spread->third_quartile, spread->minimum};
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    g_string_append_printf (
        csv, "%s,", spread->n ? g_ascii_formatd (text, sizeof text, "%.3f", 1e6 * values[i]) : "");
  g_string_append_printf (csv, "%u,", spread->n);
}

char *
results_to_csv (const Results *results)
{
  static const char *const outcomes[] = {"measured", "not offered", "failed"};
  GString *csv = g_string_new ("set,input,width,height,depth,foreground,device,maker,algorithm,"
                               "delivers,threads,outcome");

  for (Clock clock = CLOCK_WALL; clock <= CLOCK_DEVICE; clock++) {
    const char *name = clock == CLOCK_WALL ? "wall" : "gpu";
    g_string_append_printf (
        csv, ",%s_us,%s_q1_us,%s_q3_us,%s_min_us,%s_n", name, name, name, name, name);
  }
  for (unsigned step = 0; step < N_STEPS; step++)
    g_string_append_printf (csv, ",%s_us", step_names[step]);
  g_string_append_c (csv, '\n');

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++) {
      const MeasuredInput *input = results->inputs->pdata[i];
      const Measurement *measurement = &input->measurements[c];
      const Contender *contender = results->contenders->pdata[c];
      char text[G_ASCII_DTOSTR_BUF_SIZE];

      append_csv_text (csv, input->source->set);
      append_csv_text (csv, input->source->name);
      g_string_append_printf (csv, "%u,%u,%u,%s,", input->width, input->height, input->depth,
          g_ascii_formatd (text, sizeof text, "%.4f", input->density));
      append_csv_text (csv, contender->device);
      append_csv_text (csv, contender->maker);
      append_csv_text (csv, contender->algorithm);
      append_csv_text (csv, delivery_name (contender->delivery));
      g_string_append_printf (csv, "%u,%s,", contender->threads, outcomes[measurement->outcome]);
      append_csv_spread (csv, &measurement->wall);
      append_csv_spread (csv, &measurement->device);
      for (unsigned step = 0; step < N_STEPS; step++)
        g_string_append_printf (csv, "%s,",
            measurement->steps[step].n
                ? g_ascii_formatd (text, sizeof text, "%.3f", 1e6 * measurement->steps[step].median)
                : "");
      g_string_truncate (csv, csv->len - 1);
      g_string_append_c (csv, '\n');
    }
  return g_string_free (csv, FALSE);
}

static void
set_json_spread (JsonObject *object, const char *name, const Spread *spread)
{
  JsonObject *member;

  if (!spread->n)
    return;
  member = json_object_new ();
  json_object_set_double_member (member, "median", 1e6 * spread->median);
  json_object_set_double_member (member, "q1", 1e6 * spread->first_quartile);
  json_object_set_double_member (member, "q3", 1e6 * spread->third_quartile);
  json_object_set_double_member (member, "min", 1e6 * spread->minimum);
  json_object_set_int_member (member, "n", spread->n);
  json_object_set_object_member (object, name, member);
}

JsonArray *
results_to_json (const Results *results)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++) {
      const MeasuredInput *input = results->inputs->pdata[i];
      const Measurement *measurement = &input->measurements[c];
      const Contender *contender = results->contenders->pdata[c];
      JsonObject *object;

      if (measurement->outcome != MEASURED)
        continue;
      object = json_object_new ();
      json_object_set_string_member (object, "set", input->source->set);
      json_object_set_string_member (object, "input", input->source->name);
      json_object_set_int_member (object, "width", input->width);
      json_object_set_int_member (object, "height", input->height);
      json_object_set_int_member (object, "depth", input->depth);
      json_object_set_double_member (object, "foreground", input->density);
      json_object_set_string_member (object, "device", contender->device);
      json_object_set_string_member (object, "maker", contender->maker);
      json_object_set_string_member (object, "algorithm", contender->algorithm);
      json_object_set_string_member (object, "delivers", delivery_name (contender->delivery));
      json_object_set_int_member (object, "threads", contender->threads);
      set_json_spread (object, "wall_us", &measurement->wall);
      set_json_spread (object, "gpu_us", &measurement->device);
      for (unsigned step = 0; step < N_STEPS; step++) {
        g_autofree char *name = g_strdup_printf ("%s_us", step_names[step]);
        set_json_spread (object, name, &measurement->steps[step]);
      }
      json_array_add_object_element (array, object);
    }
  return array;
}
