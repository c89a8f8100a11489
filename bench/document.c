/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "document.h"

#include "problem.h"

#include <json-glib/json-glib.h>
#include <string.h>

static const char *const step_names[N_STEPS] = {"allocation", "scan", "merging", "relabelling"};
static const char *const outcome_names[] = {"measured", "not offered", "failed", "too slow"};

const char *
document_step_name (Step step)
{
  return step_names[step];
}

unsigned
document_parse_outcome (const char *name)
{
  for (unsigned outcome = 0; outcome < G_N_ELEMENTS (outcome_names); outcome++)
    if (g_str_equal (name, outcome_names[outcome]))
      return outcome;
  return FAILED;
}

void
section_free (Section *section)
{
  results_free (section->results);
  grid_free (section->grid);
  g_free (section);
}

/* CSV. Every cell but the first of a line starts with its comma. */

static void
append_text (GString *csv, const char *text)
{
  if (csv->len && csv->str[csv->len - 1] != '\n')
    g_string_append_c (csv, ',');
  if (strpbrk (text, ",\"\n")) {
    g_auto (GStrv) parts = g_strsplit (text, "\"", -1);
    g_autofree char *escaped = g_strjoinv ("\"\"", parts);
    g_string_append_printf (csv, "\"%s\"", escaped);
  } else {
    g_string_append (csv, text);
  }
}

static void
append_spread (GString *csv, const Spread *spread)
{
  if (spread->n)
    g_string_append_printf (csv, ",%.3f,%.3f,%.3f,%.3f,%u", 1e6 * spread->median,
        1e6 * spread->first_quartile, 1e6 * spread->third_quartile, 1e6 * spread->minimum,
        spread->n);
  else
    g_string_append (csv, ",,,,,0");
}

static void
append_measurement (
    GString *csv, const char *mode, const MeasuredInput *input, const Results *results, guint c)
{
  const Contender *contender = results->contenders->pdata[c];
  const Measurement *measurement = &input->measurements[c];

  append_text (csv, mode);
  append_text (csv, input->source->set);
  append_text (csv, input->source->name);
  g_string_append_printf (
      csv, ",%u,%u,%u,%.4f", input->width, input->height, input->depth, input->density);
  append_text (csv, contender->device);
  append_text (csv, contender->maker);
  append_text (csv, contender->algorithm);
  append_text (csv, delivery_name (contender->delivery));
  g_string_append_printf (csv, ",%u", contender->threads);
  append_text (csv, outcome_names[measurement->outcome]);
  append_spread (csv, &measurement->wall);
  append_spread (csv, &measurement->device);
  for (unsigned step = 0; step < N_STEPS; step++)
    if (measurement->steps[step].n)
      g_string_append_printf (csv, ",%.3f", 1e6 * measurement->steps[step].median);
    else
      g_string_append_c (csv, ',');
  g_string_append_printf (csv, ",%u,", measurement->n_turns);
  if (measurement->outcome == TOO_SLOW)
    g_string_append_printf (csv, "%.0f", 1e6 * measurement->at_least);
  g_string_append_c (csv, '\n');
}

static void
append_results (GString *csv, const char *mode, const Results *results)
{
  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++)
      append_measurement (csv, mode, results->inputs->pdata[i], results, c);
}

static void
append_head (GString *csv)
{
  static const char *const clocks[] = {"wall", "gpu"};

  g_string_append (csv, "mode,set,input,width,height,depth,foreground,device,maker,algorithm,"
                        "delivers,threads,outcome");
  for (guint i = 0; i < G_N_ELEMENTS (clocks); i++)
    g_string_append_printf (csv, ",%s_us,%s_q1_us,%s_q3_us,%s_min_us,%s_n", clocks[i], clocks[i],
        clocks[i], clocks[i], clocks[i]);
  for (unsigned step = 0; step < N_STEPS; step++)
    g_string_append_printf (csv, ",%s_us", step_names[step]);
  g_string_append (csv, ",turns,at_least_us\n");
}

static void
append_grid (GString *csv, const Grid *grid)
{
  if (csv->len)
    g_string_append_c (csv, '\n');
  for (guint row = 0; row < grid_n_rows (grid); row++) {
    const GPtrArray *cells = grid_get_row (grid, row);
    for (guint c = 0; c < cells->len; c++)
      append_text (csv, cells->pdata[c]);
    g_string_append_c (csv, '\n');
  }
}

char *
document_to_csv (const GPtrArray *sections)
{
  GString *csv = g_string_new (NULL);

  for (guint i = 0; i < sections->len; i++) {
    const Section *section = sections->pdata[i];
    if (section->results && !csv->len)
      append_head (csv);
    if (section->results)
      append_results (csv, section->mode, section->results);
  }
  for (guint i = 0; i < sections->len; i++) {
    const Section *section = sections->pdata[i];
    if (section->grid)
      append_grid (csv, section->grid);
  }
  return g_string_free (csv, FALSE);
}

/* JSON. */

static void
set_spread (JsonObject *object, const char *name, const Spread *spread)
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

static JsonObject *
measurement_to_json (const MeasuredInput *input, const Results *results, guint c)
{
  const Contender *contender = results->contenders->pdata[c];
  const Measurement *measurement = &input->measurements[c];
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "set", input->source->set);
  json_object_set_string_member (object, "input", input->source->name);
  json_object_set_int_member (object, "width", input->width);
  json_object_set_int_member (object, "height", input->height);
  json_object_set_int_member (object, "depth", input->depth);
  json_object_set_double_member (object, "foreground", input->density);
  if (input->source->granularity) { /* noise: what was asked for */
    json_object_set_int_member (object, "granularity", input->source->granularity);
    json_object_set_int_member (object, "density", input->source->density);
  }
  json_object_set_string_member (object, "device", contender->device);
  json_object_set_string_member (object, "maker", contender->maker);
  json_object_set_string_member (object, "algorithm", contender->algorithm);
  json_object_set_string_member (object, "delivers", delivery_name (contender->delivery));
  json_object_set_int_member (object, "threads", contender->threads);
  json_object_set_string_member (object, "outcome", outcome_names[measurement->outcome]);
  json_object_set_int_member (object, "turns", measurement->n_turns);
  if (measurement->outcome == TOO_SLOW)
    json_object_set_double_member (object, "at_least_us", 1e6 * measurement->at_least);
  set_spread (object, "wall_us", &measurement->wall);
  set_spread (object, "gpu_us", &measurement->device);
  for (unsigned step = 0; step < N_STEPS; step++) {
    g_autofree char *name = g_strdup_printf ("%s_us", step_names[step]);
    set_spread (object, name, &measurement->steps[step]);
  }
  return object;
}

static JsonArray *
results_to_json (const Results *results)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < results->inputs->len; i++)
    for (guint c = 0; c < results->contenders->len; c++)
      json_array_add_object_element (
          array, measurement_to_json (results->inputs->pdata[i], results, c));
  return array;
}

/* A cell is a number where it reads as one. */
static void
set_cell (JsonObject *object, const char *name, const char *text)
{
  char *end;
  const double number = g_ascii_strtod (text, &end);

  if (*text && !*end)
    json_object_set_double_member (object, name, number);
  else
    json_object_set_string_member (object, name, text);
}

static JsonArray *
grid_to_json (const Grid *grid)
{
  JsonArray *array = json_array_new ();

  for (guint row = 1; row < grid_n_rows (grid); row++) {
    const GPtrArray *head = grid_get_row (grid, 0), *cells = grid_get_row (grid, row);
    JsonObject *object = json_object_new ();
    for (guint c = 0; c < cells->len && c < head->len; c++)
      set_cell (object, head->pdata[c], cells->pdata[c]);
    json_array_add_object_element (array, object);
  }
  return array;
}

static JsonObject *
section_to_json (const Section *section)
{
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "mode", section->mode);
  if (section->results) {
    json_object_set_int_member (object, "repetitions", section->results->repetitions);
    json_object_set_double_member (object, "noisy_share", results_noisy_share (section->results));
    json_object_set_array_member (object, "measurements", results_to_json (section->results));
  }
  if (section->grid)
    json_object_set_array_member (object, "rows", grid_to_json (section->grid));
  return object;
}

char *
document_to_json (const GPtrArray *sections, const GPtrArray *machine)
{
  JsonObject *root = json_object_new (), *description = json_object_new ();
  JsonArray *problems = json_array_new (), *runs = json_array_new ();
  JsonNode *node = json_node_init_object (json_node_alloc (), root);
  char *text;

  for (guint i = 0; i + 1 < machine->len; i += 2)
    json_object_set_string_member (description, machine->pdata[i], machine->pdata[i + 1]);
  for (const char *const *line = problems_told (); *line; line++)
    json_array_add_string_element (problems, *line);
  for (guint i = 0; i < sections->len; i++)
    json_array_add_object_element (runs, section_to_json (sections->pdata[i]));
  json_object_set_object_member (root, "machine", description);
  json_object_set_array_member (root, "problems", problems);
  json_object_set_array_member (root, "runs", runs);
  json_object_unref (root);
  text = json_to_string (node, TRUE);
  json_node_unref (node);
  return text;
}
