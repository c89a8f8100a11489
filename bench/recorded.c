/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recorded.h"

#include <json-glib/json-glib.h>

/* A contender of that run. */
typedef struct RecordedContender {
  Contender head;
  char *device, *maker, *algorithm; /* what the head points to */
} RecordedContender;

static void
recorded_free (Contender *contender)
{
  RecordedContender *recorded = (RecordedContender *)contender;

  g_free (recorded->device);
  g_free (recorded->maker);
  g_free (recorded->algorithm);
  g_free (recorded);
}

static const char *
get_text (JsonObject *object, const char *name)
{
  return json_object_get_string_member_with_default (object, name, "");
}

static unsigned
get_number (JsonObject *object, const char *name)
{
  return (unsigned)json_object_get_int_member_with_default (object, name, 0);
}

static Delivery
parse_delivery (const char *name)
{
  for (Delivery delivery = DELIVER_RAW_LABELS; delivery <= DELIVER_LABELS_AND_TABLE; delivery++)
    if (g_str_equal (name, delivery_name (delivery)))
      return delivery;
  return DELIVER_NOTHING;
}

/* The number of the contender that a measurement is of, which is added if it is new. */
static guint
find_contender (GPtrArray *contenders, JsonObject *measurement)
{
  static const ContenderClass klass = {.free = recorded_free};
  const Delivery delivery = parse_delivery (get_text (measurement, "delivers"));
  const unsigned threads = get_number (measurement, "threads");
  RecordedContender *recorded;

  for (guint c = 0; c < contenders->len; c++) {
    const Contender *contender = contenders->pdata[c];
    if (g_str_equal (contender->device, get_text (measurement, "device")) &&
        g_str_equal (contender->maker, get_text (measurement, "maker")) &&
        g_str_equal (contender->algorithm, get_text (measurement, "algorithm")) &&
        contender->delivery == delivery && contender->threads == threads)
      return c;
  }
  recorded = g_new (RecordedContender, 1);
  *recorded = (RecordedContender){
      .device = g_strdup (get_text (measurement, "device")),
      .maker = g_strdup (get_text (measurement, "maker")),
      .algorithm = g_strdup (get_text (measurement, "algorithm")),
  };
  recorded->head = (Contender){
      .klass = &klass,
      .device = recorded->device,
      .maker = recorded->maker,
      .algorithm = recorded->algorithm,
      .delivery = delivery,
      .threads = threads,
      .is_floor = delivery == DELIVER_NOTHING,
  };
  g_ptr_array_add (contenders, recorded);
  return contenders->len - 1;
}

/* The input that a measurement was taken on, which is added if it is new. */
static MeasuredInput *
find_input (Results *results, JsonObject *measurement)
{
  const char *set = get_text (measurement, "set"), *name = get_text (measurement, "input");
  MeasuredInput *input;
  InputSource *source;

  for (guint i = results->inputs->len; i-- > 0;) {
    input = results->inputs->pdata[i];
    if (g_str_equal (input->source->name, name) && g_str_equal (input->source->set, set))
      return input;
  }
  source = g_new (InputSource, 1);
  *source = (InputSource){
      .set = g_strdup (set),
      .name = g_strdup (name),
      .granularity = get_number (measurement, "granularity"),
      .density = get_number (measurement, "density"),
  };
  g_ptr_array_add (results->sources, source);
  input = g_new (MeasuredInput, 1);
  *input = (MeasuredInput){
      .source = source,
      .title = input_source_title (source),
      .width = get_number (measurement, "width"),
      .height = get_number (measurement, "height"),
      .depth = get_number (measurement, "depth"),
      .density = json_object_get_double_member_with_default (measurement, "foreground", 0),
      .measurements = g_new0 (Measurement, results->contenders->len),
  };
  g_ptr_array_add (results->inputs, input);
  return input;
}

static double
get_seconds (JsonObject *object, const char *name)
{
  return 1e-6 * json_object_get_double_member_with_default (object, name, 0);
}

static Spread
get_spread (JsonObject *measurement, const char *name)
{
  JsonNode *node = json_object_get_member (measurement, name);
  JsonObject *object = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

  if (!object)
    return (Spread){0};
  return (Spread){
      .median = get_seconds (object, "median"),
      .first_quartile = get_seconds (object, "q1"),
      .third_quartile = get_seconds (object, "q3"),
      .minimum = get_seconds (object, "min"),
      .n = get_number (object, "n"),
  };
}

static Measurement
get_measurement (JsonObject *object)
{
  Measurement measurement = {
      .outcome = document_parse_outcome (get_text (object, "outcome")),
      .at_least = get_seconds (object, "at_least_us"),
      .n_turns = get_number (object, "turns"),
      .wall = get_spread (object, "wall_us"),
      .device = get_spread (object, "gpu_us"),
  };

  for (unsigned step = 0; step < N_STEPS; step++) {
    g_autofree char *name = g_strdup_printf ("%s_us", document_step_name (step));
    measurement.steps[step] = get_spread (object, name);
  }
  return measurement;
}

/* The objects of an array member; NULL if it has another form. */
static GPtrArray *
get_objects (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  GPtrArray *objects = array ? g_ptr_array_new () : NULL;

  for (guint i = 0; array && i < json_array_get_length (array); i++) {
    JsonNode *element = json_array_get_element (array, i);
    if (JSON_NODE_HOLDS_OBJECT (element))
      g_ptr_array_add (objects, json_node_get_object (element));
  }
  return objects;
}

/* NULL if the run holds no measurements. */
static Section *
read_section (JsonObject *run)
{
  g_autoptr (GPtrArray) measurements = get_objects (run, "measurements");
  GPtrArray *contenders;
  Section *section;

  if (!measurements)
    return NULL;
  contenders = g_ptr_array_new_with_free_func ((GDestroyNotify)contender_free);
  for (guint i = 0; i < measurements->len; i++)
    find_contender (contenders, measurements->pdata[i]);
  section = g_new0 (Section, 1);
  section->mode = g_intern_string (get_text (run, "mode"));
  section->results =
      results_new (input_sources_new (), contenders, get_number (run, "repetitions"));
  for (guint i = 0; i < measurements->len; i++) {
    MeasuredInput *input = find_input (section->results, measurements->pdata[i]);
    input->measurements[find_contender (contenders, measurements->pdata[i])] =
        get_measurement (measurements->pdata[i]);
  }
  return section;
}

GPtrArray *
recorded_read (const char *path, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GPtrArray) runs = NULL;
  GPtrArray *sections;
  JsonNode *root;

  if (!json_parser_load_from_file (parser, path, error)) {
    g_prefix_error (error, "%s: ", path);
    return NULL;
  }
  root = json_parser_get_root (parser);
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    runs = get_objects (json_node_get_object (root), "runs");
  if (!runs) {
    g_set_error (
        error, INPUT_ERROR, INPUT_ERROR_DAMAGED, "%s: nothing that --json has written", path);
    return NULL;
  }
  sections = g_ptr_array_new_with_free_func ((GDestroyNotify)section_free);
  for (guint i = 0; i < runs->len; i++) {
    Section *section = read_section (runs->pdata[i]);
    if (section)
      g_ptr_array_add (sections, section);
  }
  return sections;
}
