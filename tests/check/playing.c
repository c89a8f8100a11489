/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every property that may change while playing, of every element of the plugin: no value that it
 * takes ends the stream.
 */
#include "tests/check/shared/elements.h"
#include "tests/check/shared/leaks.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#define WIDTH 64
#define HEIGHT 48
#define MAPS "attach-labels=true attach-mask=true attach-contours=pixels"

/* How an element, which is named e, gets frames with what it reads. Each line is a stream. */
static const struct {
  const char *element, *lines[4];
} streams[] = {
    {"ccl", {"ccl name=e " MAPS, "ccl name=e foreground=otsu meta=ccl+roi",
                "ccl name=e foreground=mog2", "ccl name=e foreground=codebook"}},
    {"cudaccl", {"cudaccl name=e " MAPS, "cudaccl name=e foreground=codebook"}},
    {"ccltrack", {"ccl ! ccltrack name=e", "ccl " MAPS " ! ccltrack name=e use-mask=false "
                                           "regions=\"region a 0,0 30,0 30,40; line b 9,0 9,40\" "
                                           "ground=\"0,47 0,0; 63,47 8,0; 50,9 8,9; 9,9 0,9\""}},
    {"ccloverlay", {"ccl " MAPS " ! ccltrack regions=\"region a 0,0 30,0 30,40\" ! ccloverlay "
                    "name=e fill-components=true draw-mask=true style=both trail-length=5"}},
    {"ccljson", {"ccl ! ccltrack ! ccljson name=e"}},
    {"ccljsonparse", {"ccl ! ccltrack ! ccljson ! ccljsonparse name=e"}},
    {"cclsnapshot", {"ccl ! ccltrack least-way=0 ! cclsnapshot name=e"}},
    {"cclcombiner", {"tee name=t ! queue ! e.video t. ! queue ! ccl ! e.mask cclcombiner name=e"}},
};

typedef struct {
  GstHarness *harness;
  GstElement *element;
  GstBus *bus;
  guint n_frames;
} Stream;

static Stream
open_stream (const char *line)
{
  Stream stream = {gst_harness_new_parse (line), .bus = gst_bus_new ()};

  stream.element = gst_bin_get_by_name (GST_BIN (stream.harness->element), "e");
  gst_element_set_bus (stream.element, stream.bus);
  gst_harness_set_src_caps (stream.harness, frame_caps ("I420", WIDTH, HEIGHT));
  return stream;
}

static void
close_stream (Stream *stream)
{
  gst_element_set_bus (stream->element, NULL);
  gst_object_unref (stream->bus);
  gst_object_unref (stream->element);
  gst_harness_teardown (stream->harness);
}

/* Two bright squares on a dark ground, of which one moves. */
static GstBuffer *
new_frame (guint number)
{
  GstBuffer *frame = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3 / 2, NULL);
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_WRITE);
  memset (map.data, 128, map.size);
  memset (map.data, 0, (gsize)WIDTH * HEIGHT);
  for (guint y = 10; y < 18; y++) {
    memset (map.data + y * WIDTH + 2 + number % 40, 200, 8);
    memset (map.data + (y + 20) * WIDTH + 50, 90, 8);
  }
  gst_buffer_unmap (frame, &map);
  GST_BUFFER_PTS (frame) = number * GST_SECOND / 25;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 25;
  return frame;
}

/* Fails the test unless frames pass, and no error is posted. what: what has changed, as text. */
static void
assert_frames_pass (Stream *stream, guint n, const char *name, const char *what)
{
  for (guint i = 0; i < n; i++) {
    const GstFlowReturn flow = gst_harness_push (stream->harness, new_frame (stream->n_frames++));
    GstMessage *error = gst_bus_pop_filtered (stream->bus, GST_MESSAGE_ERROR);
    GstBuffer *out;
    GError *text = NULL;

    if (error)
      gst_message_parse_error (error, &text, NULL);
    fail_unless (!error && flow == GST_FLOW_OK, "%s %s=%s: %s, %s",
        GST_OBJECT_NAME (stream->element), name, what, gst_flow_get_name (flow),
        text ? text->message : "no error");
    out = gst_harness_pull (stream->harness);
    fail_unless (out != NULL, "%s=%s: no frame passes", name, what);
    do
      gst_buffer_unref (out);
    while ((out = gst_harness_try_pull (stream->harness)));
  }
}

/* The values to try: the ends of a range, or all of an enumeration. */
static GArray *
list_values (GParamSpec *property)
{
  static const char *const texts[] = {NULL, "", "no such thing", "region a 1,1", "line \xff 1,1"};
  GArray *values = g_array_new (FALSE, TRUE, sizeof (GValue));
  const GType type = property->value_type;

#define ADD(setter, ...)                                                                           \
  do {                                                                                             \
    GValue value = G_VALUE_INIT;                                                                   \
    g_value_init (&value, type);                                                                   \
    setter (&value, __VA_ARGS__);                                                                  \
    g_array_append_val (values, value);                                                            \
  } while (0)

  if (G_IS_PARAM_SPEC_BOOLEAN (property)) {
    ADD (g_value_set_boolean, FALSE);
    ADD (g_value_set_boolean, TRUE);
  } else if (G_IS_PARAM_SPEC_UINT (property)) {
    ADD (g_value_set_uint, G_PARAM_SPEC_UINT (property)->minimum);
    ADD (g_value_set_uint, G_PARAM_SPEC_UINT (property)->maximum);
  } else if (G_IS_PARAM_SPEC_UINT64 (property)) {
    ADD (g_value_set_uint64, G_PARAM_SPEC_UINT64 (property)->minimum);
    ADD (g_value_set_uint64, G_PARAM_SPEC_UINT64 (property)->maximum);
  } else if (G_IS_PARAM_SPEC_INT (property)) {
    ADD (g_value_set_int, G_PARAM_SPEC_INT (property)->minimum);
    ADD (g_value_set_int, G_PARAM_SPEC_INT (property)->maximum);
  } else if (G_IS_PARAM_SPEC_DOUBLE (property)) {
    ADD (g_value_set_double, G_PARAM_SPEC_DOUBLE (property)->minimum);
    ADD (g_value_set_double, G_PARAM_SPEC_DOUBLE (property)->maximum);
  } else if (G_IS_PARAM_SPEC_ENUM (property)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (property)->enum_class;
    for (guint i = 0; i < klass->n_values; i++)
      ADD (g_value_set_enum, klass->values[i].value);
  } else if (G_IS_PARAM_SPEC_FLAGS (property)) {
    const GFlagsClass *klass = G_PARAM_SPEC_FLAGS (property)->flags_class;
    for (guint i = 0; i < klass->n_values; i++)
      ADD (g_value_set_flags, klass->values[i].value);
    ADD (g_value_set_flags, 0);
    ADD (g_value_set_flags, klass->mask);
  } else if (G_IS_PARAM_SPEC_STRING (property)) {
    for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
      ADD (g_value_set_string, texts[i]);
  } else {
    fail ("no values for %s of type %s", property->name, g_type_name (type));
  }
#undef ADD
  g_array_set_clear_func (values, (GDestroyNotify)g_value_unset);
  return values;
}

/* The properties of the element itself that may change while it plays. */
static GPtrArray *
list_properties (GstElement *element)
{
  GPtrArray *found = g_ptr_array_new ();
  guint n;
  GParamSpec **all = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++)
    if (strstr (g_type_name (all[i]->owner_type), "Ccl") && (all[i]->flags & G_PARAM_WRITABLE) &&
        (all[i]->flags & GST_PARAM_MUTABLE_PLAYING))
      g_ptr_array_add (found, all[i]);
  g_free (all);
  fail_if (found->len == 0, "no property may change");
  return found;
}

static void
set_and_push (Stream *stream, const GParamSpec *property, const GValue *value)
{
  gchar *text = gst_value_serialize (value);

  g_object_set_property (G_OBJECT (stream->element), property->name, value);
  assert_frames_pass (stream, 2, property->name, text ? text : "a value without text");
  g_free (text);
}

/* One property after the other, from the stream's settings and back to them. */
static void
check_values (Stream *stream)
{
  GPtrArray *properties = list_properties (stream->element);

  assert_frames_pass (stream, 3, "nothing", "changed");
  for (guint i = 0; i < properties->len; i++) {
    GParamSpec *property = g_ptr_array_index (properties, i);
    GArray *values = list_values (property);
    GValue before = G_VALUE_INIT;

    g_value_init (&before, property->value_type);
    g_object_get_property (G_OBJECT (stream->element), property->name, &before);
    for (guint k = 0; k < values->len; k++)
      set_and_push (stream, property, &g_array_index (values, GValue, k));
    set_and_push (stream, property, &before);
    g_value_unset (&before);
    g_array_unref (values);
  }
  g_ptr_array_unref (properties);
}

/* Changes that stay, in an order by chance that is the same in each run. */
static void
check_combinations (Stream *stream)
{
  GPtrArray *properties = list_properties (stream->element);
  GRand *chance = g_rand_new_with_seed (36);

  assert_frames_pass (stream, 1, "nothing", "changed");
  for (guint i = 0; i < 100; i++) {
    const guint chosen = (guint)g_rand_int_range (chance, 0, (gint)properties->len);
    GParamSpec *property = g_ptr_array_index (properties, chosen);
    GArray *values = list_values (property);

    set_and_push (stream, property,
        &g_array_index (values, GValue, (guint)g_rand_int_range (chance, 0, (gint)values->len)));
    g_array_unref (values);
  }
  g_rand_free (chance);
  g_ptr_array_unref (properties);
}

/* Control bindings go from one end of the range to the other. */
static void
check_bindings (Stream *stream)
{
  GPtrArray *properties = list_properties (stream->element);

  for (guint i = 0; i < properties->len; i++) {
    const GParamSpec *property = g_ptr_array_index (properties, i);
    GstControlSource *source = gst_interpolation_control_source_new ();
    GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);
    GstControlBinding *binding;
    const GstClockTime now = stream->n_frames * GST_SECOND / 25;

    g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
    gst_timed_value_control_source_set (points, now, 0);
    gst_timed_value_control_source_set (points, now + 4 * GST_SECOND / 25, 1);
    if (property->flags & GST_PARAM_CONTROLLABLE) {
      binding =
          gst_direct_control_binding_new (GST_OBJECT (stream->element), property->name, source);
      fail_unless (gst_object_add_control_binding (GST_OBJECT (stream->element), binding));
      assert_frames_pass (stream, 6, property->name, "a binding from 0 to 1");
      gst_object_remove_control_binding (GST_OBJECT (stream->element), binding);
    }
    gst_object_unref (source);
  }
  g_ptr_array_unref (properties);
}

static void
for_each_stream (void (*check) (Stream *stream))
{
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    if (!g_str_equal (streams[i].element, element_name ()))
      continue;
    for (guint k = 0; k < G_N_ELEMENTS (streams[i].lines) && streams[i].lines[k]; k++) {
      Stream stream = open_stream (streams[i].lines[k]);

      check (&stream);
      close_stream (&stream);
    }
  }
}

/* clang-format off */
TEST (test_every_value) { for_each_stream (check_values); }
GST_END_TEST

TEST (test_combinations) { for_each_stream (check_combinations); }
GST_END_TEST

TEST (test_control_bindings) { for_each_stream (check_bindings); }
GST_END_TEST
/* clang-format on */

/* Each element of the plugin has a stream above, apart from cclrecord, which takes encoded video
 * and is tested in record.c. */
GST_START_TEST (test_no_element_is_forgotten)
{
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "ccl");

  for (GList *link = features; link; link = link->next) {
    const gchar *name = gst_plugin_feature_get_name (link->data);
    gboolean found = g_str_equal (name, "cclrecord");

    for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
      found |= g_str_equal (streams[i].element, name);
    fail_unless (found, "%s is not tested", name);
  }
  gst_plugin_feature_list_free (features);
}
GST_END_TEST

static Suite *
playing_suite (void)
{
  Suite *suite = suite_create ("playing");
  TCase *tcase = tcase_create (element_name ());

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_leaks);
  tcase_add_test (tcase, test_no_element_is_forgotten);
  tcase_add_test (tcase, test_every_value);
  tcase_add_test (tcase, test_combinations);
  tcase_add_test (tcase, test_control_bindings);
  return suite;
}

GST_CHECK_MAIN (playing);
