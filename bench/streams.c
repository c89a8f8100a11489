/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

#include "measure.h"

static const unsigned numbers[] = {1, 8, 32}; /* of streams, one measurement each */
static const double frame_rate = 60;          /* of the paced measurement, frames per second */

/* Adds a row for n prepared copies of one implementation. */
static CclStatus
measure_copies (const ImplementationSettings *settings, guint which, unsigned n, const Input *input,
    double seconds, Table *table, CclError *error)
{
  g_autoptr (GPtrArray) copies =
      g_ptr_array_new_with_free_func ((GDestroyNotify)implementation_free);
  g_autofree char *title = NULL;

  for (unsigned i = 0; i < n; i++) {
    g_autoptr (GPtrArray) all = implementations_new (settings);
    Implementation *copy = g_ptr_array_steal_index (all, which);
    g_ptr_array_add (copies, copy);
    TRY (copy->klass->prepare (copy, input, error));
  }
  title = implementation_title (copies->pdata[0]);
  table_row (table);
  table_text (table, "%s", title);
  table_number (table, n, 0);
  TRY (measure_streams (copies, seconds, 0, table, error));
  return measure_streams (copies, seconds, 1 / frame_rate, table, error);
}

/* Whether an implementation runs in streams. */
static bool
is_chosen (const GPtrArray *implementations, guint which, const ImplementationSettings *settings)
{
  const Implementation *implementation = implementations->pdata[which];

  if (implementation->is_bound)
    return false;
  if (settings->algorithms)
    return true;
  for (guint i = 0; i < which; i++) { /* the first labeller of its device */
    const Implementation *earlier = implementations->pdata[i];
    if (!earlier->is_bound && g_str_equal (earlier->device, implementation->device))
      return false;
  }
  return true;
}

/* What streams() hands to the input. */
typedef struct Streams {
  ImplementationSettings settings;
  double seconds; /* for all measurements together */
  Table *table;
} Streams;

static gboolean
measure_input (const Input *input, const InputSource *source, const char *title, gpointer data)
{
  Streams *streams = data;
  g_autoptr (GPtrArray) implementations = implementations_new (&streams->settings);
  unsigned n_measurements = 0, done = 0;

  for (guint i = 0; i < implementations->len; i++)
    if (is_chosen (implementations, i, &streams->settings))
      n_measurements += G_N_ELEMENTS (numbers);

  for (guint i = 0; i < implementations->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (numbers); k++) {
      g_autofree char *name = implementation_title (implementations->pdata[i]);
      CclError error;
      if (!is_chosen (implementations, i, &streams->settings))
        continue;
      progress_show (done++, n_measurements, name);
      if (measure_copies (&streams->settings, i, numbers[k], input,
              streams->seconds / (2 * n_measurements), streams->table, &error) != CCL_OK)
        problem_report ("%s in %u streams: %s", name, numbers[k], error.message);
    }
  return FALSE;
}

Table *
streams (const GPtrArray *sources, const ImplementationSettings *settings, double seconds)
{
  static const char *const columns[] = {"implementation", "streams", "frames/s", "CPU µs a frame",
      "paced frames/s", "CPU µs a frame, paced", "late %", NULL};
  g_autoptr (GArray) one_thread = g_array_new (FALSE, FALSE, sizeof (unsigned));
  Streams streams = {*settings, MIN (seconds, 30), table_new (columns)};
  unsigned *deliveries = &streams.settings.deliveries;

  /* Streams share the machine, so each has one thread and delivers the cheapest useful result. */
  g_array_append_vals (one_thread, &(unsigned){1}, 1);
  streams.settings.threads = one_thread;
  streams.settings.peers = false;
  *deliveries &= ~(1u << DELIVER_RAW_LABELS);
  if (*deliveries >> DELIVER_TABLE & 1)
    *deliveries = 1u << DELIVER_TABLE;
  inputs_visit (sources, measure_input, &streams);
  return streams.table;
}
