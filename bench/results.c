/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "results.h"

#include "problem.h"
#include "progress.h"

#include <math.h>

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
results_new (GPtrArray *sources, GPtrArray *contenders, unsigned repetitions)
{
  Results *results = g_new (Results, 1);

  *results = (Results){
      .repetitions = repetitions,
      .sources = sources,
      .contenders = contenders,
      .inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)measured_input_free),
  };
  return results;
}

Results *
results_measure (
    GPtrArray *sources, GPtrArray *contenders, const MeasureSettings *settings, double seconds)
{
  Results *results = results_new (sources, contenders, settings->repetitions);
  MeasureSettings each = *settings;

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

double
results_least_mean (const Results *results, const char *set, guint contender, Clock clock)
{
  unsigned n = 0, n_slow = 0;
  double sum = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const Measurement *measurement = &input->measurements[contender];
    const Spread *spread = results_spread (results, i, contender, clock);
    if (!is_in_set (results, i, set) || !is_measured (results, i))
      continue;
    if (!spread->n && measurement->outcome != TOO_SLOW)
      return 0;
    sum += measurement->outcome == TOO_SLOW ? measurement->at_least : spread->median;
    n_slow += measurement->outcome == TOO_SLOW;
    n++;
  }
  return n_slow ? sum / n : 0;
}

unsigned
results_fewest_turns (const Results *results, const char *set, guint contender)
{
  unsigned fewest = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const unsigned n_turns = input->measurements[contender].n_turns;
    if (is_in_set (results, i, set) && n_turns && (!fewest || n_turns < fewest))
      fewest = n_turns;
  }
  return fewest;
}

double
results_step_mean (const Results *results, const char *set, guint contender, Step step)
{
  double sum = 0;
  unsigned n = 0;

  for (guint i = 0; i < results->inputs->len; i++) {
    const MeasuredInput *input = results->inputs->pdata[i];
    const Spread *spread = &input->measurements[contender].steps[step];
    if (is_in_set (results, i, set) && spread->n) {
      sum += spread->median;
      n++;
    }
  }
  return n ? sum / n : 0;
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
