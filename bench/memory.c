/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

#include <string.h>

/* The accesses of an implementation's kernels on all images of a data set. */
typedef struct Sum {
  unsigned n_images;
  double n_pixels;
  guint n_kernels;
  AccessCount kernels[MAX_COUNTED_KERNELS];
} Sum;

/* What memory() hands to each input. */
typedef struct Memory {
  const GPtrArray *implementations;
  Sum *sums; /* one per implementation, of the data set */
  char *set;
  Table *table;
} Memory;

static void
count_one (Implementation *implementation, const Input *input, const char *title, Sum *sum)
{
  const ImplementationClass *klass = implementation->klass;
  AccessCount counts[MAX_COUNTED_KERNELS] = {{0}};
  CclError error;

  if (klass->prepare (implementation, input, &error) == CCL_OK &&
      klass->count_accesses (implementation, counts, &sum->n_kernels, &error) == CCL_OK) {
    sum->n_images++;
    sum->n_pixels += (double)input_n_pixels (input);
    for (guint i = 0; i < sum->n_kernels; i++) {
      sum->kernels[i].kernel = counts[i].kernel;
      for (int access = 0; access < N_ACCESSES; access++)
        sum->kernels[i].n[access] += counts[i].n[access];
    }
  } else if (error.status != CCL_ERROR_UNSUPPORTED) {
    g_autofree char *name = implementation_title (implementation);
    problem_report ("%s on %s: %s", name, title, error.message);
  }
  klass->release (implementation);
}

static void
add_row (Table *table, const char *set, const Implementation *implementation, const Sum *sum,
    const AccessCount *count)
{
  table_row (table);
  table_text (table, "%s", set);
  table_number (table, sum->n_images, 0);
  table_text (table, "%s", implementation->algorithm);
  table_text (table, "%s", delivery_name (implementation->delivery));
  table_text (table, "%s", count->kernel);
  for (int access = 0; access < N_ACCESSES; access++)
    table_number (table, (double)count->n[access] / sum->n_images, 0);
  for (int access = 0; access < N_ACCESSES; access++)
    table_number (table, (double)count->n[access] / sum->n_pixels, 4);
}

/* Ends a data set: adds a row for each kernel that accesses memory, and one for all of them. */
static void
add_rows (Memory *memory)
{
  for (guint i = 0; i < memory->implementations->len; i++) {
    const Implementation *implementation = memory->implementations->pdata[i];
    const Sum *sum = &memory->sums[i];
    AccessCount total = {.kernel = "all"};
    if (!sum->n_images)
      continue;
    for (guint k = 0; k < sum->n_kernels; k++) {
      const AccessCount *count = &sum->kernels[k];
      if (count->n[READS] + count->n[WRITES] + count->n[ATOMICS])
        add_row (memory->table, memory->set, implementation, sum, count);
      for (int access = 0; access < N_ACCESSES; access++)
        total.n[access] += count->n[access];
    }
    add_row (memory->table, memory->set, implementation, sum, &total);
  }
  memset (memory->sums, 0, memory->implementations->len * sizeof *memory->sums);
}

static gboolean
count_input (const Input *input, const InputSource *source, const char *title, gpointer data)
{
  Memory *memory = data;

  if (g_strcmp0 (memory->set, source->set) != 0) {
    add_rows (memory);
    memory->set = source->set;
  }
  for (guint i = 0; i < memory->implementations->len; i++) {
    Implementation *implementation = memory->implementations->pdata[i];
    if (implementation->klass->count_accesses)
      count_one (implementation, input, title, &memory->sums[i]);
  }
  return TRUE;
}

Table *
memory (const GPtrArray *sources, const GPtrArray *implementations)
{
  static const char *const columns[] = {"set", "images", "algorithm", "delivers", "kernel", "reads",
      "writes", "atomics", "reads a pixel", "writes a pixel", "atomics a pixel", NULL};
  g_autofree Sum *sums = g_new0 (Sum, implementations->len);
  Memory memory = {implementations, sums, NULL, table_new (columns)};

  inputs_visit (sources, count_input, &memory);
  add_rows (&memory);
  return memory.table;
}
