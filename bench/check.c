/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "modes.h"

#include "measure.h"
#include "reference.h"

#include <stdlib.h>
#include <string.h>

uint32_t *
check_label_volume (const Input *volume, unsigned connectivity, uint32_t *n_components)
{
  const int width = (int)volume->width, height = (int)volume->height, depth = (int)volume->depth;
  const int most_steps = connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3;
  const size_t n_voxels = input_n_pixels (volume);
  uint32_t *labels = g_malloc0 (4 * n_voxels);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (size_t));

  *n_components = 0;
  for (size_t first = 0; first < n_voxels; first++) {
    if (!volume->pixels[first] || labels[first])
      continue;
    labels[first] = ++*n_components;
    g_array_append_val (stack, first);
    while (stack->len) {
      const size_t voxel = g_array_index (stack, size_t, stack->len - 1);
      const int x = (int)(voxel % volume->width);
      const int y = (int)(voxel / volume->width % volume->height);
      const int z = (int)(voxel / volume->width / volume->height);
      g_array_set_size (stack, stack->len - 1);
      for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++) {
            const int nx = x + dx, ny = y + dy, nz = z + dz;
            size_t neighbour;
            if (abs (dx) + abs (dy) + abs (dz) > most_steps || nx < 0 || ny < 0 || nz < 0 ||
                nx >= width || ny >= height || nz >= depth)
              continue;
            neighbour = ((size_t)nz * volume->height + (size_t)ny) * volume->width + (size_t)nx;
            if (!volume->pixels[neighbour] || labels[neighbour])
              continue;
            labels[neighbour] = *n_components;
            g_array_append_val (stack, neighbour);
          }
    }
  }
  return labels;
}

/* The right result for an input; of volumes without rows. */
static Reference *
expect (const Input *input, const ImplementationSettings *settings)
{
  Reference *reference;

  if (input->depth == 1)
    return reference_new (input->pixels, input->width, input->height, input->width,
        settings->connectivity, &(CclOptions){0});
  reference = g_new0 (Reference, 1);
  reference->labels =
      check_label_volume (input, settings->volume_connectivity, &reference->n_components);
  return reference;
}

/* Renumbers arbitrary labels 1…N in raster order of first pixels. */
static void
number_labels (uint32_t *labels, size_t n_pixels)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  uint32_t last_raw = 0, last_number = 0; /* neighbours mostly have the same label */

  for (size_t i = 0; i < n_pixels; i++) {
    if (!labels[i])
      continue;
    if (labels[i] != last_raw) {
      gpointer number;
      last_raw = labels[i];
      if (!g_hash_table_lookup_extended (numbers, GUINT_TO_POINTER (last_raw), NULL, &number)) {
        number = GUINT_TO_POINTER (g_hash_table_size (numbers) + 1);
        g_hash_table_insert (numbers, GUINT_TO_POINTER (last_raw), number);
      }
      last_number = GPOINTER_TO_UINT (number);
    }
    labels[i] = last_number;
  }
}

/* Describes the first difference from the right result; NULL if there is none. Free with g_free().
 */
static char *
find_difference (const Reference *expected, Labelling *labelling, const Input *input)
{
  const size_t n_pixels = input_n_pixels (input);

  if (labelling->labels) {
    if (labelling->is_raw)
      number_labels (labelling->labels, n_pixels);
    for (size_t i = 0; i < n_pixels; i++)
      if (labelling->labels[i] != expected->labels[i])
        return g_strdup_printf ("pixel %zu, %zu, %zu has label %u instead of %u", i % input->width,
            i / input->width % input->height, i / input->width / input->height,
            labelling->labels[i], expected->labels[i]);
  }
  if (labelling->is_raw)
    return NULL;
  if (labelling->n_components != expected->n_components)
    return g_strdup_printf (
        "%u components instead of %u", labelling->n_components, expected->n_components);
  for (uint32_t row = 0; expected->rows && row < labelling->n_rows; row++)
    if (memcmp (&labelling->components[row], &expected->rows[row], sizeof (CclComponent)))
      return g_strdup_printf ("component %u differs", row + 1);
  return NULL;
}

typedef enum Outcome { EQUAL, DIFFERENT, NOT_OFFERED_BY, FAILED_ON, UNCHECKED, N_OUTCOMES } Outcome;

/* Numbers of inputs by outcome. */
typedef struct Count {
  unsigned inputs[N_OUTCOMES];
} Count;

/* What check() hands to each input. */
typedef struct Check {
  const GPtrArray *implementations;
  const ImplementationSettings *settings;
  double end; /* on the monotonic clock; 0: no limit */
  unsigned n_checked;
  Count *counts; /* one per implementation */
} Check;

static Outcome
check_one (Implementation *implementation, const Input *input, const char *title,
    const Reference *expected, bool is_first_difference)
{
  const ImplementationClass *klass = implementation->klass;
  g_autofree char *name = implementation_title (implementation);
  g_autofree char *difference = NULL;
  Labelling labelling = {0};
  CclError error;

  if (klass->prepare (implementation, input, &error) != CCL_OK ||
      klass->run (implementation, &error) != CCL_OK ||
      klass->fetch (implementation, &labelling, &error) != CCL_OK) {
    if (error.status == CCL_ERROR_UNSUPPORTED)
      return NOT_OFFERED_BY;
    implementation_report (implementation, title, &error);
    return implementation->gave_up ? UNCHECKED : FAILED_ON;
  }
  difference = find_difference (expected, &labelling, input);
  labelling_clear (&labelling);
  if (difference && implementation_is_peer (implementation)) {
    if (is_first_difference)
      problem_remark ("%s (%s) on %s differs, and maybe on other inputs: %s", name,
          implementation->maker, title, difference);
  } else if (difference && !implementation->may_be_inexact) {
    problem_report ("%s on %s is wrong: %s", name, title, difference);
  }
  return difference ? DIFFERENT : EQUAL;
}

static gboolean
check_input (const Input *input, const InputSource *source, const char *title, gpointer data)
{
  Check *check = data;
  Reference *expected = expect (input, check->settings);

  for (guint i = 0; i < check->implementations->len; i++) {
    Implementation *implementation = check->implementations->pdata[i];
    unsigned *counts = check->counts[i].inputs;
    if (!implementation->klass->fetch)
      continue;
    counts[check_one (implementation, input, title, expected, !counts[DIFFERENT])]++;
    implementation->klass->release (implementation);
  }
  reference_free (expected);
  check->n_checked++;
  return !check->end || seconds_now () < check->end;
}

static void
add_row (Table *table, const Implementation *implementation, const Count *count)
{
  g_autofree char *title = implementation_title (implementation);

  table_row (table);
  table_text (
      table, "%s%s", title, implementation->may_be_inexact ? " (inexact by its paper)" : "");
  table_text (table, "%s", implementation->maker);
  for (Outcome outcome = 0; outcome < N_OUTCOMES; outcome++)
    table_number (table, count->inputs[outcome], 0);
}

Table *
check (const GPtrArray *sources, const GPtrArray *implementations,
    const ImplementationSettings *settings, double seconds)
{
  static const char *const columns[] = {
      "implementation", "by", "equal", "different", "not offered", "failed", "unchecked", NULL};
  g_autofree Count *counts = g_new0 (Count, implementations->len);
  Check check = {implementations, settings, seconds > 0 ? seconds_now () + seconds : 0, 0, counts};
  Table *table = table_new (columns);
  const guint n_visited = inputs_visit (sources, check_input, &check);

  for (guint i = 0; i < implementations->len; i++) {
    const Implementation *implementation = implementations->pdata[i];
    counts[i].inputs[UNCHECKED] += sources->len - check.n_checked;
    if (implementation->klass->fetch)
      add_row (table, implementation, &counts[i]);
  }
  if (n_visited < sources->len)
    problem_report ("%u of %u inputs were not checked: %g s were over", sources->len - n_visited,
        sources->len, seconds);
  return table;
}
