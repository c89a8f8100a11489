/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

#include "problem.h"

/* The accesses of an implementation's kernels on all images of a data set. */
typedef struct Sum {
  const char *set; /* of a source */
  guint implementation;
  unsigned n_images;
  double n_pixels;
  guint n_steps;
  AccessCount steps[MAX_COUNTED_STEPS];
} Sum;

static Sum *
find_sum (GPtrArray *sums, const char *set, guint implementation)
{
  Sum *sum;

  for (guint i = 0; i < sums->len; i++) {
    sum = sums->pdata[i];
    if (sum->implementation == implementation && g_str_equal (sum->set, set))
      return sum;
  }
  sum = g_new0 (Sum, 1);
  sum->set = set;
  sum->implementation = implementation;
  g_ptr_array_add (sums, sum);
  return sum;
}

static void
count_one (Implementation *implementation, guint number, const Input *input, const char *set,
    const char *title, GPtrArray *sums)
{
  AccessCount counts[MAX_COUNTED_STEPS] = {{0}};
  guint n_steps = 0;
  g_autoptr (GError) error = NULL;

  if (implementation->klass->prepare (implementation, input, &error) &&
      implementation->klass->count_accesses (implementation, counts, &n_steps, &error)) {
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
  } else if (!g_error_matches (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_UNSUPPORTED)) {
    g_autofree char *name = implementation_title (implementation);
    problem_report ("%s on %s: %s", name, title, error->message);
  }
  implementation->klass->release (implementation);
}

static void
add_row (
    Table *table, const Sum *sum, const Implementation *implementation, const AccessCount *count)
{
  const uint64_t values[] = {count->reads, count->writes, count->atomics};

  table_row (table);
  table_text (table, "%s", sum->set);
  table_number (table, sum->n_images, 0);
  table_text (table, "%s", implementation->algorithm);
  table_text (table, "%s", delivery_name (implementation->delivery));
  table_text (table, "%s", count->kernel);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    table_number (table, (double)values[i] / sum->n_images, 0);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    table_number (table, (double)values[i] / sum->n_pixels, 4);
}

/* Adds a row for each kernel that accesses memory, and one for all of them. */
static void
add_rows (Table *table, const Sum *sum, const Implementation *implementation)
{
  AccessCount total = {.kernel = "all"};

  for (guint step = 0; step < sum->n_steps; step++) {
    const AccessCount *count = &sum->steps[step];
    if (count->reads + count->writes + count->atomics)
      add_row (table, sum, implementation, count);
    total.reads += count->reads;
    total.writes += count->writes;
    total.atomics += count->atomics;
  }
  add_row (table, sum, implementation, &total);
}

Table *
memory (const GPtrArray *sources, const GPtrArray *implementations)
{
  static const char *const columns[] = {"set", "images", "algorithm", "delivers", "kernel", "reads",
      "writes", "atomics", "reads a pixel", "writes a pixel", "atomics a pixel", NULL};
  g_autoptr (GPtrArray) sums = g_ptr_array_new_with_free_func (g_free);
  Table *table = table_new (columns);

  for (guint i = 0; i < sources->len; i++) {
    const InputSource *source = sources->pdata[i];
    g_autofree char *title = input_source_title (source);
    g_autoptr (GError) error = NULL;
    g_autoptr (Input) input = NULL;

    progress_show (i, sources->len, title);
    input = input_source_load (source, &error);
    if (!input) {
      problem_report ("%s", error->message);
      continue;
    }
    for (guint c = 0; c < implementations->len; c++) {
      Implementation *implementation = implementations->pdata[c];
      if (implementation->klass->count_accesses)
        count_one (implementation, c, input, source->set, title, sums);
    }
  }
  progress_show (sources->len, sources->len, "");
  for (guint i = 0; i < sums->len; i++) {
    const Sum *sum = sums->pdata[i];
    add_rows (table, sum, implementations->pdata[sum->implementation]);
  }
  return table;
}
