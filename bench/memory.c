/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory.h"

#include "problem.h"
#include "progress.h"

/* What a contender's steps did on all images of a data set. */
typedef struct Sum {
  const char *set; /* of a source */
  guint contender;
  unsigned n_images;
  double n_pixels;
  guint n_steps;
  AccessCount steps[MOST_COUNTED_STEPS];
} Sum;

static Sum *
find_sum (GPtrArray *sums, const char *set, guint contender)
{
  Sum *sum;

  for (guint i = 0; i < sums->len; i++) {
    sum = sums->pdata[i];
    if (sum->contender == contender && g_str_equal (sum->set, set))
      return sum;
  }
  sum = g_new0 (Sum, 1);
  sum->set = set;
  sum->contender = contender;
  g_ptr_array_add (sums, sum);
  return sum;
}

static void
count_one (Contender *contender, guint number, const Input *input, const char *set,
    const char *title, GPtrArray *sums)
{
  AccessCount counts[MOST_COUNTED_STEPS] = {{0}};
  guint n_steps = 0;
  g_autoptr (GError) error = NULL;

  if (contender->klass->prepare (contender, input, &error) &&
      contender->klass->count_accesses (contender, counts, &n_steps, &error)) {
    Sum *sum = find_sum (sums, set, number);
    sum->n_images++;
    sum->n_pixels += (double)input_n_pixels (input);
    sum->n_steps = n_steps;
    for (guint i = 0; i < n_steps; i++) {
      sum->steps[i].kernel = counts[i].kernel;
      sum->steps[i].reads += counts[i].reads;
      sum->steps[i].writes += counts[i].writes;
      sum->steps[i].atomics += counts[i].atomics;
    }
  } else if (!g_error_matches (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED)) {
    g_autofree char *name = contender_title (contender);
    problem_tell ("%s on %s: %s", name, title, error->message);
  }
  contender->klass->release (contender);
}

static void
add_row (Grid *grid, const Sum *sum, const Contender *contender, const AccessCount *count)
{
  const uint64_t values[] = {count->reads, count->writes, count->atomics};

  grid_row (grid);
  grid_cell (grid, "%s", sum->set);
  grid_cell (grid, "%u", sum->n_images);
  grid_cell (grid, "%s", contender->algorithm);
  grid_cell (grid, "%s", delivery_name (contender->delivery));
  grid_cell (grid, "%s", count->kernel);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    grid_cell (grid, "%.0f", (double)values[i] / sum->n_images);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    grid_cell (grid, "%.4f", (double)values[i] / sum->n_pixels);
}

Grid *
memory (const GPtrArray *sources, const GPtrArray *contenders)
{
  static const char *const heads[] = {"set", "images", "algorithm", "delivers", "kernel", "reads",
      "writes", "atomics", "reads a pixel", "writes a pixel", "atomics a pixel"};
  g_autoptr (GPtrArray) sums = g_ptr_array_new_with_free_func (g_free);
  Grid *grid = grid_new ("accesses to global memory, mean of an image");

  for (guint i = 0; i < sources->len; i++) {
    const InputSource *source = sources->pdata[i];
    g_autofree char *title = input_source_title (source);
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = NULL;

    progress_show (i, sources->len, title);
    input = input_source_load (source, &error);
    if (!input) {
      problem_tell ("%s", error->message);
      continue;
    }
    for (guint c = 0; c < contenders->len; c++) {
      Contender *contender = contenders->pdata[c];
      if (contender->klass->count_accesses)
        count_one (contender, c, input, source->set, title, sums);
    }
  }
  progress_show (sources->len, sources->len, "");

  grid_row (grid);
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    grid_cell (grid, "%s", heads[i]);
  for (guint i = 0; i < sums->len; i++) {
    const Sum *sum = sums->pdata[i];
    const Contender *contender = contenders->pdata[sum->contender];
    AccessCount total = {.kernel = "all"};
    for (guint step = 0; step < sum->n_steps; step++) {
      if (sum->steps[step].reads + sum->steps[step].writes + sum->steps[step].atomics)
        add_row (grid, sum, contender, &sum->steps[step]);
      total.reads += sum->steps[step].reads;
      total.writes += sum->steps[step].writes;
      total.atomics += sum->steps[step].atomics;
    }
    add_row (grid, sum, contender, &total);
  }
  return grid;
}
