/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metrics.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "watch/output/scene-change.h"
#include "watch/system/heartbeat.h"
#include "watch/system/process-limits.h"

/* Begins a metric; its samples follow. One whose name ends in "_total" is a counter. */
static void
add_metric (GString *text, const gchar *name, const gchar *help)
{
  g_string_append_printf (text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
      g_str_has_suffix (name, "_total") ? "counter" : "gauge");
}

/* Adds a sample with one label, whose value has no characters to escape. */
static void
add_sample (
    GString *text, const gchar *name, const gchar *label, const gchar *label_value, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s{%s=\"%s\"} %s\n", name, label, label_value,
      g_ascii_formatd (number, sizeof number, "%.17g", value));
}

/* Adds a metric that has one sample. */
static void
add_number (GString *text, const gchar *name, const gchar *help, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  add_metric (text, name, help);
  g_string_append_printf (
      text, "%s %s\n", name, g_ascii_formatd (number, sizeof number, "%.17g", value));
}

/* A metric whose samples are fields of a struct. */
typedef struct {
  const gchar *name, *help;
  enum { IS_BOOLEAN, IS_COUNT, IS_LONG_COUNT, IS_DOUBLE } kind;
  gsize offset; /* of the field, a gboolean, guint, guint64 or gdouble */
} Metric;

static gdouble
read_field (const Metric *metric, gconstpointer fields)
{
  gconstpointer field = G_STRUCT_MEMBER_P (fields, metric->offset);

  switch (metric->kind) {
  case IS_BOOLEAN:
    return *(const gboolean *)field;
  case IS_COUNT:
    return *(const guint *)field;
  case IS_LONG_COUNT:
    return *(const guint64 *)field;
  case IS_DOUBLE:
    return *(const gdouble *)field;
  }
  g_return_val_if_reached (0);
}

/* Adds metrics of structs whose first member is their name. */
static void
add_table (GString *text, const Metric *metrics, guint n_metrics, const gchar *label,
    const GPtrArray *structs)
{
  for (guint m = 0; m < n_metrics; m++) {
    add_metric (text, metrics[m].name, metrics[m].help);
    for (guint i = 0; i < structs->len; i++)
      add_sample (text, metrics[m].name, label, *(gchar **)structs->pdata[i],
          read_field (&metrics[m], structs->pdata[i]));
  }
}

typedef struct {
  const gchar *name;
  WatchStatus status;
  WatchLineCounts lines;
  gboolean has_scene_change;
} CameraStatus;

static void
camera_status_free (gpointer data)
{
  watch_status_clear (&((CameraStatus *)data)->status);
  g_free (data);
}

#define OF_CAMERA(field) G_STRUCT_OFFSET (CameraStatus, field)

/* Metrics with one sample per camera. */
static const Metric camera_metrics[] = {
    {"ccl_watch_frames_total", "Frames that were labelled.", IS_LONG_COUNT,
        OF_CAMERA (status.n_frames)},
    {"ccl_watch_skipped_frames_total",
        "Frames that were not labelled, because of max-fps or of a slow machine.", IS_LONG_COUNT,
        OF_CAMERA (status.n_skipped)},
    {"ccl_watch_late_frames_total",
        "Skipped frames that were not labelled because of a slow machine.", IS_LONG_COUNT,
        OF_CAMERA (status.n_late)},
    {"ccl_watch_reconnects_total", "Connections after the first one.", IS_LONG_COUNT,
        OF_CAMERA (status.n_reconnects)},
    {"ccl_watch_frames_per_second", "Frames labelled per second.", IS_DOUBLE,
        OF_CAMERA (status.fps)},
    {"ccl_watch_components", "Components of the last frame.", IS_COUNT,
        OF_CAMERA (status.n_components)},
    {"ccl_watch_motion", "1 while there is motion.", IS_BOOLEAN, OF_CAMERA (status.motion)},
    {"ccl_watch_armed", "1 while the camera raises alerts.", IS_BOOLEAN,
        OF_CAMERA (status.is_armed)},
    {"ccl_watch_scene_change",
        "1 while the camera is moved, covered or blinded, or settles after a switch to infrared.",
        IS_BOOLEAN, OF_CAMERA (has_scene_change)},
    {"ccl_watch_queue_frames", "Decoded frames that wait for the labeller.", IS_COUNT,
        OF_CAMERA (status.n_waiting)},
    {"ccl_watch_backlog_seconds", "Time by which the decoder is behind the arrival of the data.",
        IS_DOUBLE, OF_CAMERA (status.backlog)},
    {"ccl_watch_data_age_seconds",
        "Time since the last labelled frame arrived, or since the camera was added.", IS_DOUBLE,
        OF_CAMERA (status.age)},
    {"ccl_watch_queue_lines", "Lines that wait to be sent, in all outputs together.", IS_COUNT,
        OF_CAMERA (lines.n_queued)},
    {"ccl_watch_dropped_lines_total",
        "Lines dropped, because the queue of an output was full or the output ended.",
        IS_LONG_COUNT, OF_CAMERA (lines.n_dropped)},
};

static void
add_states (GString *text, const GPtrArray *cameras)
{
  add_metric (text, "ccl_watch_camera_state", "1 for the state that the camera has.");
  for (guint i = 0; i < cameras->len; i++) {
    const CameraStatus *camera = cameras->pdata[i];

    for (WatchState state = 0; state < WATCH_N_STATES; state++)
      g_string_append_printf (text, "ccl_watch_camera_state{camera=\"%s\",state=\"%s\"} %d\n",
          camera->name, watch_state_name (state), camera->status.state == state);
  }
}

static void
add_latencies (GString *text, const GPtrArray *cameras)
{
  g_string_append (text,
      "# HELP ccl_watch_latency_seconds Time from the arrival of a frame until its "
      "line is queued.\n# TYPE ccl_watch_latency_seconds histogram\n");
  for (guint i = 0; i < cameras->len; i++) {
    const CameraStatus *camera = cameras->pdata[i];
    guint64 count = 0;
    gchar bound[G_ASCII_DTOSTR_BUF_SIZE];

    for (guint b = 0; b <= WATCH_N_LATENCIES; b++) {
      count += camera->status.latency_counts[b];
      g_string_append_printf (text,
          "ccl_watch_latency_seconds_bucket{camera=\"%s\",le=\"%s\"} %" G_GUINT64_FORMAT "\n",
          camera->name,
          b < WATCH_N_LATENCIES ? g_ascii_formatd (bound, sizeof bound, "%g", watch_latencies[b])
                                : "+Inf",
          count);
    }
    add_sample (
        text, "ccl_watch_latency_seconds_sum", "camera", camera->name, camera->status.latency_sum);
    add_sample (text, "ccl_watch_latency_seconds_count", "camera", camera->name, count);
  }
}

static void
add_cameras (GString *text, Watch *watch)
{
  g_autoptr (GPtrArray) cameras = watch_get_cameras (watch);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (camera_status_free);

  for (guint i = 0; i < cameras->len; i++) {
    CameraStatus *camera = g_new (CameraStatus, 1);

    camera->name = watch_camera_get_name (cameras->pdata[i]);
    watch_camera_get_status (cameras->pdata[i], &camera->status);
    watch_count_lines (watch, camera->name, &camera->lines);
    camera->has_scene_change = !g_str_equal (camera->status.scene, WATCH_SCENE_USUAL);
    g_ptr_array_add (all, camera);
  }
  add_table (text, camera_metrics, G_N_ELEMENTS (camera_metrics), "camera", all);
  add_states (text, all);
  add_latencies (text, all);
}

#define OF_OUTPUT(field) G_STRUCT_OFFSET (WatchOutputStatus, field)

/* Metrics with one sample per output. */
static const Metric output_metrics[] = {
    {"ccl_watch_output_lines_total", "Lines written or acknowledged.", IS_LONG_COUNT,
        OF_OUTPUT (n_delivered)},
    {"ccl_watch_output_dropped_lines_total",
        "Lines dropped, because the queue was full, the receiver refused them or the output ended.",
        IS_LONG_COUNT, OF_OUTPUT (n_dropped)},
    {"ccl_watch_output_queue_lines", "Lines that wait or are not acknowledged yet.", IS_COUNT,
        OF_OUTPUT (n_queued)},
    {"ccl_watch_output_queue_capacity_lines", "Lines that the queue holds at most.", IS_COUNT,
        OF_OUTPUT (capacity)},
    {"ccl_watch_output_oldest_line_seconds",
        "Time since the oldest line that waits or is not acknowledged was made.", IS_DOUBLE,
        OF_OUTPUT (age)},
    {"ccl_watch_output_connected", "1 while the output is connected and takes lines.", IS_BOOLEAN,
        OF_OUTPUT (connected)},
};

static void
add_queue (gpointer data, gpointer text)
{
  const WatchObserver *observer = data;

  if (observer->queue_length)
    add_number (text, observer->queue_metric, observer->queue_help,
        observer->queue_length (observer->data));
}

static void
add_threads (GString *text)
{
  g_autoptr (GHashTable) ages = watch_heartbeat_get_ages ();
  GHashTableIter iter;
  gpointer name, age;

  add_metric (text, "ccl_watch_thread_age_seconds",
      "Seconds since the thread last answered; 0 while it waits for work.");
  g_hash_table_iter_init (&iter, ages);
  while (g_hash_table_iter_next (&iter, &name, &age))
    add_sample (text, "ccl_watch_thread_age_seconds", "thread", name, *(gdouble *)age);
}

static guint64
resident_memory (void)
{
  g_autofree gchar *text = NULL;
  unsigned long size, resident;

  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL) ||
      sscanf (text, "%lu %lu", &size, &resident) != 2)
    return 0;
  return (guint64)resident * sysconf (_SC_PAGESIZE);
}

static gdouble
processor_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void
add_process (GString *text)
{
  add_number (
      text, "process_cpu_seconds_total", "Processor time used, in seconds.", processor_seconds ());
  add_number (
      text, "process_resident_memory_bytes", "Resident memory in bytes.", resident_memory ());
  add_number (text, "process_open_fds", "Open file descriptors.", watch_limits_count_files ());
}

gchar *
watch_metrics (Watch *watch)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) outputs = watch_get_outputs (watch);

  add_cameras (text, watch);
  add_table (text, output_metrics, G_N_ELEMENTS (output_metrics), "output", outputs);
  watch_foreach_observer (watch, add_queue, text);
  add_threads (text);
  add_process (text);
  return g_string_free (text, FALSE);
}
