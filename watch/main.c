/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-watch: labels the video of many cameras, and goes on whatever happens to them. */
#include <errno.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib-unix.h>
#include <gst/gst.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "watch/camera/stream/sockets.h"
#include "watch/media/clips.h"
#include "watch/config/command-line.h"
#include "watch/config/places.h"
#include "watch/web/http.h"
#include "watch/system/lock.h"
#include "watch/system/log.h"
#include "watch/output/notify.h"
#include "watch/system/offload.h"
#include "watch/media/pictures.h"
#include "watch/system/process-limits.h"
#include "watch/system/turn.h"
#include "watch/supervisor/watch.h"
#include "watch/system/web-guard.h"

#define EXIT_FAILED 1                     /* a file could not be read, or nobody reads the output */
#define EXIT_CONFIG 2                     /* the command line or the configuration file is wrong */
#define STOP_SECONDS 4                    /* for cameras and outputs after SIGTERM */
#define FILE_SECONDS 1                    /* at least, for pictures and clips after that */
#define LOG_TIME (1 * G_TIME_SPAN_SECOND) /* at least, for messages in the end */
#define MALLOC_ARENAS 4 /* many threads come and go: more arenas would only hold more memory */
#define MALLOC_LARGE (4 << 20) /* bytes; as much or more returns to the system once it is freed */
#define RELOAD_SECONDS 30
#define TICK 1 /* s */

static GMainLoop *loop;
static gboolean all_ended;
static gint exit_status;
static gint64 end; /* monotonic time at which the program ends at the latest; 0: not known */

/* Whether the GPU of that number can be used; -1: any. */
static gboolean
has_gpu (gint number)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaccl", NULL);
  gboolean has;

  if (!element)
    return FALSE;
  g_object_set (element, "cuda-device-id", number, NULL);
  has = gst_element_set_state (element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
  gst_element_set_state (element, GST_STATE_NULL);
  return has;
}

/* Decoders of the GPU before those of the CPU. */
static void
prefer_gpu_decoders (void)
{
  GList *decoders = gst_element_factory_list_get_elements (
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_MEDIA_VIDEO, GST_RANK_NONE);

  for (GList *decoder = decoders; decoder; decoder = decoder->next)
    if (g_str_has_prefix (GST_OBJECT_NAME (decoder->data), "nv"))
      gst_plugin_feature_set_rank (decoder->data, GST_RANK_PRIMARY + 100);
  gst_plugin_feature_list_free (decoders);
}

static gboolean
choose_labeller (Watch *watch, GError **error)
{
  const gchar *text = watch_get_config (watch)->device;
  gint number = g_ascii_isdigit (text[0]) ? atoi (text) : -1;
  gboolean gpu = strcmp (text, "cpu") != 0 && has_gpu (number);
  static const gchar *const needed[] = {
      "ccl", "ccltrack", "ccljson", "videoconvert", "appsink", "uridecodebin3"};

  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (needed[i]);

    if (!factory)
      return watch_fail (error, "GStreamer does not find the element %s", needed[i]);
  }

  if (!gpu && strcmp (text, "gpu") == 0)
    return watch_fail (error, "no GPU can be used");
  if (!gpu && number >= 0)
    return watch_fail (error, "GPU %d cannot be used", number);
  if (gpu)
    prefer_gpu_decoders ();
  watch_set_labeller (watch, gpu ? "cudaccl" : "ccl", number);
  watch_log_info ("labelling on the %s", gpu ? "GPU" : "CPU");
  return TRUE;
}

static gboolean
on_stop (gpointer data)
{
  g_main_loop_quit (loop);
  return G_SOURCE_CONTINUE;
}

typedef struct {
  gchar *present;
  WatchConfig *config; /* NULL: see the error */
  WatchChanges *changes;
  GError *error;
} Reload;

static void
reload_free (gpointer data)
{
  Reload *reload = data;

  g_clear_pointer (&reload->config, watch_config_free);
  g_clear_pointer (&reload->changes, watch_changes_free);
  g_clear_error (&reload->error);
  g_free (reload->present);
  g_free (reload);
}

static void
load_again (gpointer data)
{
  Reload *reload = data;

  reload->config = watch_command_line_load (reload->present, &reload->changes, &reload->error);
}

/* `data` is NULL if it took too long. */
static void
end_reload (gpointer watch, gpointer data)
{
  Reload *reload = data;

  if (!reload)
    watch_log_error (
        "the configuration could not be read in %d seconds; the present configuration stays",
        RELOAD_SECONDS);
  else if (reload->config && watch_reload (watch, g_steal_pointer (&reload->config),
                                 g_steal_pointer (&reload->changes), &reload->error))
    watch_log_info ("the configuration was read again");
  else
    watch_log_error ("%s; the present configuration stays", reload->error->message);
  watch_notify ("READY=1");
  watch_turn_end ();
}

static void
begin_reload (gpointer watch)
{
  Reload *reload = g_new0 (Reload, 1);

  reload->present = watch_get_changes (watch);
  watch_offload (load_again, reload, reload_free, RELOAD_SECONDS, end_reload, watch);
}

static gboolean
on_reload (gpointer watch)
{
  g_autofree gchar *text =
      g_strdup_printf ("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time ());

  watch_notify (text);
  watch_turn_take (begin_reload, watch);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_tick (gpointer data)
{
  Watch *watch = data;

  watch_start_again (watch);
  watch_report_outputs (watch);
  if (watch_has_closed_output (watch)) {
    exit_status = EXIT_FAILED;
    g_main_loop_quit (loop);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
on_watchdog (gpointer data)
{
  watch_notify ("WATCHDOG=1");
  return G_SOURCE_CONTINUE;
}

static gboolean
quit_when_finished (gpointer data)
{
  if (!watch_outputs_are_finished (data) || watch_has_busy_observer (data))
    return G_SOURCE_CONTINUE;
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static void
on_all_ended (gpointer data)
{
  if (all_ended)
    return;
  all_ended = TRUE;
  /* Without a limit: SIGTERM ends it. */
  watch_end_outputs (data);
  g_timeout_add (10, quit_when_finished, data);
}

/* Waits until the messages are written. FALSE if nobody reads them. */
static gboolean
write_messages (void)
{
  return watch_log_stop (MAX (end, g_get_monotonic_time () + LOG_TIME));
}

/* The usual end could wait for a lock that a hanging thread holds. */
static void
end_now (gint number)
{
  static const gchar text[] = "ccl-watch: a thread hangs; the program ends without it\n";
  struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};

  if (poll (&file, 1, 0) > 0 && write (STDERR_FILENO, text, sizeof text - 1) < 0) {
  }
  _exit (exit_status);
}

/* Runs until a signal or the end of all cameras; FALSE if the web server has no address. */
static gboolean
run (Watch *watch, GError **error)
{
  guint64 interval = watch_notify_interval ();
  WatchHttp *http = watch_http_new (watch, error);
  WatchWriter *writer;
  WatchPictures *pictures;
  WatchClips *clips;
  gboolean all_stopped;

  if (!http)
    return FALSE;
  writer = watch_writer_new (watch);
  pictures = watch_pictures_new (watch, writer);
  clips = watch_clips_new (watch, writer);

  loop = g_main_loop_new (NULL, FALSE);
  g_unix_signal_add (SIGTERM, on_stop, NULL);
  g_unix_signal_add (SIGINT, on_stop, NULL);
  g_unix_signal_add (SIGHUP, on_reload, watch);
  g_timeout_add_seconds (TICK, on_tick, watch);
  if (interval > 0)
    g_timeout_add (interval / 3000, on_watchdog, NULL);
  watch_set_all_ended (watch, on_all_ended, watch);
  watch_start (watch);
  watch_notify ("READY=1");
  g_main_loop_run (loop);

  watch_notify ("STOPPING=1");
  signal (SIGALRM, end_now);
  alarm (STOP_SECONDS + FILE_SECONDS + 1);
  end = g_get_monotonic_time () + (STOP_SECONDS + FILE_SECONDS) * G_TIME_SPAN_SECOND;
  all_stopped = watch_stop (watch, STOP_SECONDS);
  all_stopped = watch_http_free (http, end) && all_stopped;
  watch_clips_free (clips);
  all_stopped =
      watch_pictures_free (pictures, end) && watch_writer_free (writer, end) && all_stopped;
  g_main_loop_unref (loop);
  if (watch_has_failed (watch) && exit_status == 0)
    exit_status = EXIT_FAILED;
  /* Threads that are stuck may still use the watch: only the process's end frees it. */
  if (!all_stopped) {
    write_messages ();
    _exit (exit_status);
  }
  return TRUE;
}

/* Takes the configuration. */
static gboolean
watch_cameras (WatchConfig *config, WatchChanges *changes, GError **error)
{
  Watch *watch = watch_new (config, changes, error);
  gboolean has_run;

  if (!watch)
    return FALSE;
  has_run = choose_labeller (watch, error) && run (watch, error);
  /* Outputs run from the beginning. */
  if (!has_run && !watch_stop (watch, 1)) {
    watch_log_error ("%s", (*error)->message);
    write_messages ();
    _exit (EXIT_CONFIG);
  }
  watch_free (watch);
  return has_run;
}

/* With GLib 2.74, the function of a type with interfaces and the initialiser of a class that names
 * this type wait for each other for ever if two threads call them for the first time together. The
 * first connection of an output and the start of the web server did. So the types are registered
 * before the first thread starts. */
static void
register_network_types (void)
{
  g_type_ensure (G_TYPE_SOCKET);
  g_type_ensure (G_TYPE_INET_SOCKET_ADDRESS);
  g_type_ensure (G_TYPE_UNIX_SOCKET_ADDRESS);
  g_type_ensure (G_TYPE_PROXY_ADDRESS);
  g_type_ensure (G_TYPE_NETWORK_ADDRESS);
  g_type_ensure (G_TYPE_TASK);
}

/* Keeps memory the same however many cameras came and went. By itself, malloc() raises the size
 * from which freed memory returns to the system, up to 32 MiB, and a tracker allocates more than
 * half of that. */
static void
limit_malloc (void)
{
  mallopt (M_ARENA_MAX, MALLOC_ARENAS);
  mallopt (M_MMAP_THRESHOLD, MALLOC_LARGE);
  mallopt (M_TRIM_THRESHOLD, 2 * MALLOC_LARGE);
}

/* A thread that gets work waits for its turn and does not interrupt the one that runs. A frame
 * passes through several threads, and each of its packets would interrupt the analysis of the one
 * before. The user's choice of a policy stays. */
static void
run_in_turn (void)
{
  const struct sched_param none = {0};

  if (sched_getscheduler (0) == SCHED_OTHER)
    sched_setscheduler (0, SCHED_BATCH, &none);
}

/* Two processes with one state file would lose each other's changes. Status 1, because the other
 * one may be on its way out. */
static gboolean
lock_state (const WatchConfig *config)
{
  g_autofree gchar *path = config->state ? g_strconcat (config->state, ".lock", NULL) : NULL;

  if (!path || watch_lock_file (path) >= 0 || errno != EWOULDBLOCK)
    return TRUE;
  watch_log_error ("%s: another ccl-watch uses this state file", config->state);
  return FALSE;
}

gint
main (gint argc, gchar **argv)
{
  GError *error = NULL;
  WatchChanges *changes;
  WatchConfig *config;
  WatchRequest request;
  gboolean is_valid = FALSE;

  limit_malloc ();
  run_in_turn ();
  setlocale (LC_ALL, "");
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN); /* write() says that a file is too large */
  watch_limits_raise ();
  register_network_types ();
  watch_sockets_install ();
  if (!watch_command_line_parse (argc, argv, &request))
    return EXIT_CONFIG;
  if (request == WATCH_REQUEST_VERSION) {
    g_print ("ccl-watch %s\n", PACKAGE_VERSION);
    return 0;
  }
  config = watch_command_line_load (NULL, &changes, &error);
  if (config && request == WATCH_REQUEST_CHECK) {
    is_valid = watch_check_outputs (config, &error) && watch_places_check (config, &error);
    watch_changes_free (changes);
    watch_config_free (config);
  } else if (config) {
    if (config->http || config->state)
      watch_guard_install ();
    if (!lock_state (config))
      return EXIT_FAILED;
    watch_log_start ();
    is_valid = watch_cameras (config, changes, &error);
    if (!write_messages ())
      _exit (is_valid ? exit_status : EXIT_CONFIG);
  }
  if (!is_valid) {
    watch_log_error ("%s", error->message);
    g_error_free (error);
    return EXIT_CONFIG;
  }
  return exit_status;
}
