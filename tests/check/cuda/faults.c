/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each call of the driver that cudaccl makes fails once, one call per run. The run ends with one
 * element error, or all frames are labelled; no memory leaks, and the same element works again
 * afterwards. Needs the simulated driver, into which failures can be injected.
 */
#include <dlfcn.h>

#include "tests/check/shared/frames.h"
#include "tests/check/shared/leaks.h"
#include "simcuda.h"

/* Properties of the element, each set with kernels and memory of its own. */
static const char *const uses[] = {
    "attach-labels=true",
    "attach-labels=true algorithm=bke",
    "attach-contours=cracks",
    "foreground=otsu",
    "foreground=mog2 denoise=median-3x3 attach-mask=true",
};
static const char *const kinds[] = {"allocate", "copy", "launch", "synchronise", "create"};
/* Out of memory; unknown error; illegal address, after which the device is lost. */
static const char *const errors[] = {"2", "999", "700:lost"};

#define N_CASES (int)(G_N_ELEMENTS (uses) * G_N_ELEMENTS (kinds) * G_N_ELEMENTS (errors))

enum { N_FRAMES = 3 };

static void (*get_statistics) (SimcudaStatistics *);
static int (*order_fault) (const char *);

static void
find_simulator (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_NOW);

  fail_unless (driver != NULL, "no CUDA driver: %s", dlerror ());
  *(void **)&get_statistics = dlsym (driver, "simcuda_get_statistics");
  *(void **)&order_fault = dlsym (driver, "simcuda_order_fault");
  fail_unless (get_statistics && order_fault, "this is not the simulated driver");
}

typedef struct {
  GstElement *pipeline, *labeller;
  guint n_labelled;
} Stream;

static void
count_labelled (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user_data)
{
  Stream *stream = user_data;

  stream->n_labelled += gst_buffer_get_ccl_meta (buffer) != NULL;
}

static void
open_stream (Stream *stream, const char *properties)
{
  gchar *line = g_strdup_printf (
      "videotestsrc pattern=ball num-buffers=%d ! video/x-raw,format=GRAY8,width=45,height=37 ! "
      "cudaccl name=labeller %s ! fakesink name=sink signal-handoffs=true sync=false",
      N_FRAMES, properties);
  GError *error = NULL;
  GstElement *sink;

  stream->pipeline = gst_parse_launch (line, &error);
  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  stream->labeller = gst_bin_get_by_name (GST_BIN (stream->pipeline), "labeller");
  sink = gst_bin_get_by_name (GST_BIN (stream->pipeline), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (count_labelled), stream);
  gst_object_unref (sink);
  g_free (line);
}

static void
close_stream (Stream *stream)
{
  gst_object_unref (stream->labeller);
  gst_object_unref (stream->pipeline);
}

/* Plays it from start to end. Returns the labeller's only error, or NULL. */
static GError *
play (Stream *stream, const char *what)
{
  GstBus *bus = gst_element_get_bus (stream->pipeline);
  GError *found = NULL;
  gboolean ended;

  stream->n_labelled = 0;
  ended = gst_element_set_state (stream->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE;
  while (!ended) {
    GstMessage *message =
        gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "%s: neither an error nor the end of the stream", what);
    ended = TRUE;
    /* The source posts an error of its own about one downstream. */
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR &&
        GST_MESSAGE_SRC (message) == GST_OBJECT (stream->labeller))
      gst_message_parse_error (message, &found, NULL);
    gst_message_unref (message);
  }
  /* The state change to NULL empties the bus, so other errors are read before it. */
  for (;;) {
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    if (!message)
      break;
    if (GST_MESSAGE_SRC (message) == GST_OBJECT (stream->labeller)) {
      fail_unless (found == NULL, "%s: more than one error", what);
      gst_message_parse_error (message, &found, NULL);
    }
    gst_message_unref (message);
  }
  gst_element_set_state (stream->pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  return found;
}

static void
assert_same (const SimcudaStatistics *before, const SimcudaStatistics *after, const char *what)
{
  fail_unless (before->device_allocations == after->device_allocations &&
                   before->pinned_allocations == after->pinned_allocations,
      "%s: memory stayed allocated", what);
  fail_unless (before->streams == after->streams && before->events == after->events &&
                   before->graphs == after->graphs && before->contexts == after->contexts,
      "%s: something stayed created", what);
}

GST_START_TEST (test_every_call_fails)
{
  const char *use = uses[__i__ / (G_N_ELEMENTS (kinds) * G_N_ELEMENTS (errors))];
  const char *kind = kinds[__i__ / G_N_ELEMENTS (errors) % G_N_ELEMENTS (kinds)];
  const char *code = errors[__i__ % G_N_ELEMENTS (errors)];
  guint n_errors = 0, n_absorbed = 0;
  gboolean fired = TRUE;
  Stream stream = {0};

  find_simulator ();
  open_stream (&stream, use);
  fail_unless (play (&stream, "without a fault") == NULL);
  fail_unless_equals_int (stream.n_labelled, N_FRAMES);

  for (guint n = 1; fired; n++) {
    gchar *what = g_strdup_printf ("%s:%u:%s", kind, n, code);
    SimcudaStatistics before, after;
    GError *error;

    get_statistics (&before);
    fail_unless_equals_int (order_fault (what), 0);
    error = play (&stream, what);
    order_fault (NULL);
    get_statistics (&after);
    fired = after.faults > before.faults;

    if (error) {
      fail_unless (fired, "%s: an error without a fault: %s", what, error->message);
      fail_unless (error->domain == GST_RESOURCE_ERROR, "%s: %s", what, error->message);
      n_errors++;
      g_clear_error (&error);
    } else {
      fail_unless_equals_int (stream.n_labelled, N_FRAMES);
      n_absorbed += fired;
    }
    /* Resources of a lost device cannot be freed. */
    if (!g_str_has_suffix (what, "lost"))
      assert_same (&before, &after, what);
    if (fired) {
      error = play (&stream, what);
      fail_unless (error == NULL, "%s: the next run fails: %s", what, error ? error->message : "");
      fail_unless_equals_int (stream.n_labelled, N_FRAMES);
    }
    g_free (what);
  }
  g_print ("faults: %s, error %s, %s: %u ended in an element error, %u did not stop labelling\n",
      kind, code, use, n_errors, n_absorbed);
  close_stream (&stream);
}
GST_END_TEST

static Suite *
faults_suite (void)
{
  Suite *suite = suite_create ("faults");
  TCase *tcase = tcase_create ("faults");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, NULL, assert_no_object_leaks);
  tcase_add_loop_test (tcase, test_every_call_fails, 0, N_CASES);
  return suite;
}

GST_CHECK_MAIN (faults);
