/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

/* What memory() hands to each input. */
typedef struct Memory {
  const GPtrArray *implementations;
  Table *table;
} Memory;

static void
count_one (Implementation *implementation, const Input *input, const InputSource *source,
    const char *title, Table *table)
{
  const ImplementationClass *klass = implementation->klass;
  AccessCount counts[MAX_COUNTED_KERNELS] = {{0}};
  guint n_counts = 0;
  CclError error;

  if ((klass->prepare (implementation, input, &error) != CCL_OK ||
          klass->count_accesses (implementation, counts, &n_counts, &error) != CCL_OK) &&
      error.status != CCL_ERROR_UNSUPPORTED) {
    implementation_report (implementation, title, &error);
    n_counts = 0;
  }
  for (guint i = 0; i < n_counts; i++) {
    if (!(counts[i].n[READS] + counts[i].n[WRITES] + counts[i].n[ATOMICS]))
      continue;
    table_row (table);
    table_text (table, "%s", source->set);
    table_text (table, "%s", source->name);
    table_number (table, (double)input_n_pixels (input), 0);
    table_text (table, "%s", implementation->algorithm);
    table_text (table, "%s", delivery_name (implementation->delivery));
    table_text (table, "%s", counts[i].kernel);
    for (int access = 0; access < N_ACCESSES; access++)
      table_number (table, (double)counts[i].n[access], 0);
  }
  klass->release (implementation);
}

static gboolean
count_input (const Input *input, const InputSource *source, const char *title, gpointer data)
{
  const Memory *memory = data;

  for (guint i = 0; i < memory->implementations->len; i++) {
    Implementation *implementation = memory->implementations->pdata[i];
    if (implementation->klass->count_accesses)
      count_one (implementation, input, source, title, memory->table);
  }
  return TRUE;
}

Table *
memory (const GPtrArray *sources, const GPtrArray *implementations)
{
  static const char *const columns[] = {"set", "input", "pixels", "algorithm", "delivers", "kernel",
      "reads", "writes", "atomics", NULL};
  Memory memory = {implementations, table_new (columns)};

  inputs_visit (sources, count_input, &memory);
  return memory.table;
}
