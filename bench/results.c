/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "results.h"

#include "problem.h"

#include <math.h>

static void
measured_input_free (MeasuredInput *input)
{
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
    GPtrArray *sources, GPtrArray *implementations, const MeasureSettings *settings, double seconds)
{
  Results *results = g_new (Results, 1);
  MeasureSettings each = *settings;

  *results = (Results){
      .sources = sources,
      .implementations = implementations,
      .inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)measured_input_free),
  };
  each.seconds = sources->len ? seconds / sources->len : seconds;

  for (guint i = 0; i < sources->len; i++) {
    const InputSource *source = sources->pdata[i];
    g_autofree char *title = input_source_title (source);
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = NULL;
    MeasuredInput *measured;

    progress_show (i, sources->len, title);
    input = input_source_load (source, &error);
    if (!input) {
      problem_report ("%s", error->message);
      continue;
    }
    measured = g_new0 (MeasuredInput, 1);
    *measured = (MeasuredInput){
        .source = source,
        .width = input->width,
        .height = input->height,
        .depth = input->depth,
        .foreground = foreground_share (input),
        .measurements = g_new0 (Measurement, implementations->len),
    };
    measure (implementations, input, title, &each, measured->measurements);
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
  g_ptr_array_unref (results->implementations);
  g_ptr_array_unref (results->sources);
  g_free (results);
}

static const Measurement *
get_measurement (const Results *results, guint input, guint implementation)
{
  const MeasuredInput *measured = results->inputs->pdata[input];
  return &measured->measurements[implementation];
}

double
results_noisy_share (const Results *results)
{
  unsigned n = 0, n_noisy = 0;

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->implementations->len; c++) {
      const Measurement *measurement = get_measurement (results, i, c);
      const Spread *const spreads[] = {&measurement->wall, &measurement->device};
      for (guint k = 0; k < G_N_ELEMENTS (spreads); k++) {
        n += spreads[k]->n > 0;
        n_noisy += spreads[k]->n > 0 && spread_width (spreads[k]) > 0.25;
      }
    }
  return n ? (double)n_noisy / n : 0;
}

static void
add_spread (Table *table, const Spread *spread)
{
  const double seconds[] = {
      spread->median, spread->first_quartile, spread->third_quartile, spread->minimum};

  for (guint i = 0; i < G_N_ELEMENTS (seconds); i++)
    table_number (table, spread->n ? 1e6 * seconds[i] : NAN, 3);
  table_number (table, spread->n, 0);
}

static void
add_measurement (Table *table, const char *mode, const MeasuredInput *input,
    const Implementation *implementation, const Measurement *measurement)
{
  static const char *const outcomes[] = {"measured", "not offered", "failed", "too slow"};
  const bool is_noise = input->source->granularity > 0;

  table_row (table);
  table_text (table, "%s", mode);
  table_text (table, "%s", input->source->set);
  table_text (table, "%s", input->source->name);
  table_number (table, input->width, 0);
  table_number (table, input->height, 0);
  table_number (table, input->depth, 0);
  table_number (table, input->foreground, 4);
  table_number (table, is_noise ? input->source->granularity : NAN, 0);
  table_number (table, is_noise ? input->source->density : NAN, 0);
  table_text (table, "%s", implementation->device);
  table_text (table, "%s", implementation->maker);
  table_text (table, "%s", implementation->algorithm);
  table_text (table, "%s", delivery_name (implementation->delivery));
  table_number (table, implementation->threads, 0);
  table_text (table, "%s", outcomes[measurement->outcome]);
  add_spread (table, &measurement->wall);
  add_spread (table, &measurement->device);
  for (Step step = 0; step < N_STEPS; step++)
    table_number (
        table, measurement->steps[step].n ? 1e6 * measurement->steps[step].median : NAN, 3);
  table_number (table, measurement->n_turns, 0);
  table_number (table, measurement->outcome == TOO_SLOW ? 1e6 * measurement->at_least : NAN, 0);
}

Table *
results_to_table (const Results *results, const char *mode)
{
  static const char *const columns[] = {"mode", "set", "input", "width", "height", "depth",
      "foreground", "granularity", "density", "device", "maker", "algorithm", "delivers", "threads",
      "outcome", "wall_us", "wall_q1_us", "wall_q3_us", "wall_min_us", "wall_n", "gpu_us",
      "gpu_q1_us", "gpu_q3_us", "gpu_min_us", "gpu_n", "allocation_us", "scan_us", "merging_us",
      "relabelling_us", "turns", "at_least_us", NULL};
  Table *table = table_new (columns);

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->implementations->len; c++)
      add_measurement (table, mode, results->inputs->pdata[i], results->implementations->pdata[c],
          get_measurement (results, i, c));
  return table;
}
