/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ccl-watch: labels the video of many cameras, and goes on whatever happens to them. */
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib-unix.h>
#include <gst/gst.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "clips.h"
#include "http.h"
#include "key-file.h"
#include "process-limits.h"
#include "log.h"
#include "notify.h"
#include "offload.h"
#include "pictures.h"
#include "secrets.h"
#include "turn.h"
#include "watch.h"
#include "web-address.h"
#include "web-guard.h"

#define EXIT_FAILED 1  /* a file could not be read, or nobody reads the output */
#define EXIT_CONFIG 2  /* the command line or the configuration file is wrong */
#define STOP_SECONDS 4 /* for cameras and outputs after SIGTERM */
#define FILE_SECONDS 1 /* at least, for pictures and clips after that */
#define LOG_TIME (200 * G_TIME_SPAN_MILLISECOND) /* at least, for messages in the end */
#define MALLOC_ARENAS 4 /* many threads come and go: more arenas would only hold more memory */
#define RELOAD_SECONDS 30
#define TICK 1 /* s */

/* The command line. */
static struct {
  gchar *config;
  gchar **outputs;
  gchar **settings;
  gchar *results;
  gboolean events;
  gchar *device;
  gchar *http;
  gchar *token_file;
  gchar *folder;
  gchar *state;
  gchar **web_schemes;
  gchar **web_folders;
  gboolean web_local;
  gboolean check;
  gboolean version;
  gchar **cameras;
} options;

static const GOptionEntry entries[] = {
    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options.config,
        "read the configuration from FILE; SIGHUP reads it again", "FILE"},
    {"output", 'o', 0, G_OPTION_ARG_STRING_ARRAY, &options.outputs,
        "write lines to URI: - (the default), a file, tcp://HOST:PORT, mqtt://HOST/TOPIC or "
        "kafka://HOST:PORT/TOPIC; may be repeated",
        "URI"},
    {"events", 'e', 0, G_OPTION_ARG_NONE, &options.events,
        "write events alone, no line per frame (the same as --results=events)", NULL},
    {"results", 'r', 0, G_OPTION_ARG_STRING, &options.results,
        "what is written: components, tracks (the default) or events", "KIND"},
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &options.settings,
        "set a key of all cameras, for instance ccl.min-area=500 or timeout=5; may be repeated",
        "KEY=VALUE"},
    {"device", 'd', 0, G_OPTION_ARG_STRING, &options.device,
        "label on the GPU of this number, on the cpu, or on the gpu, where cameras are spread over "
        "all that there are; auto (the default): on the gpu if there is one",
        "DEVICE"},
    {"http", 0, 0, G_OPTION_ARG_STRING, &options.http,
        "serve the web page and the metrics at this address", "ADDRESS:PORT"},
    {"token-file", 0, 0, G_OPTION_ARG_FILENAME, &options.token_file,
        "read the token that web clients must have from FILE", "FILE"},
    {"folder", 0, 0, G_OPTION_ARG_FILENAME, &options.folder,
        "write pictures and clips of motion to FOLDER", "FOLDER"},
    {"state", 0, 0, G_OPTION_ARG_FILENAME, &options.state,
        "keep cameras that are added, changed or removed on the web page in FILE", "FILE"},
    {"web-scheme", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.web_schemes,
        "cameras that are added on the web page may have URIs of SCHEME; may be repeated",
        "SCHEME"},
    {"web-folder", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.web_folders,
        "cameras that are added on the web page may name files below FOLDER; may be repeated",
        "FOLDER"},
    {"web-local", 0, 0, G_OPTION_ARG_NONE, &options.web_local,
        "cameras that are added on the web page may have loopback and link-local addresses", NULL},
    {"check", 0, 0, G_OPTION_ARG_NONE, &options.check,
        "check the configuration and end with status 0 or 2", NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, &options.version, "print the version", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.cameras, NULL, "[NAME=URI…]"},
    {NULL},
};

static GMainLoop *loop;
static gchar *token_of_file, *state; /* those of the start */
static gboolean all_ended;
static gint exit_status;
static gint64 end; /* monotonic time at which the program ends at the latest; 0: not known */

/* The configuration. */

/* Adds "KEY=VALUE". */
static gboolean
add_setting (GHashTable *keys, const gchar *setting, GError **error)
{
  const gchar *equals = strchr (setting, '=');

  if (!equals || equals == setting)
    return watch_fail (error, "\"%s\" is not KEY=VALUE", setting);
  g_hash_table_insert (keys, g_strndup (setting, equals - setting), g_strdup (equals + 1));
  return TRUE;
}

static gboolean
add_camera (WatchConfig *config, GHashTable *defaults, const gchar *argument, GError **error)
{
  const gchar *equals = strchr (argument, '=');
  GHashTable *keys;
  GHashTableIter iter;
  gpointer key, value;
  WatchCameraConfig *camera;
  gchar *name;

  if (!equals || equals == argument) {
    gchar *clean = watch_redact (argument);

    watch_fail (error, "\"%s\" is not NAME=URI", clean);
    g_free (clean);
    return FALSE;
  }
  keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_iter_init (&iter, defaults);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (keys, g_strdup (key), g_strdup (value));
  g_hash_table_insert (keys, g_strdup ("uri"), g_strdup (equals + 1));
  name = g_strndup (argument, equals - argument);
  camera = watch_camera_config_new (name, keys, error);
  if (camera)
    g_ptr_array_add (config->cameras, camera);
  g_free (name);
  g_hash_table_unref (keys);
  return camera != NULL;
}

static gboolean
add_cameras (WatchConfig *config, GError **error)
{
  GHashTable *defaults = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gboolean is_valid = TRUE;

  if (options.events)
    g_hash_table_insert (defaults, g_strdup ("results"), g_strdup ("events"));
  else if (options.results)
    g_hash_table_insert (defaults, g_strdup ("results"), g_strdup (options.results));
  for (gchar **setting = options.settings; is_valid && setting && *setting; setting++)
    is_valid = add_setting (defaults, *setting, error);
  for (gchar **camera = options.cameras; is_valid && camera && *camera; camera++)
    is_valid = add_camera (config, defaults, *camera, error);
  g_hash_table_unref (defaults);
  return is_valid;
}

static gboolean
check_names (const WatchConfig *config, GError **error)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_valid = TRUE;

  for (guint i = 0; is_valid && i < config->cameras->len; i++) {
    WatchCameraConfig *camera = g_ptr_array_index (config->cameras, i);

    if (!g_hash_table_add (names, camera->name))
      is_valid = watch_fail (error, "two cameras have the name \"%s\"", camera->name);
  }
  g_hash_table_unref (names);
  return is_valid;
}

static gboolean
check_number (const WatchConfig *config, GError **error)
{
  if (config->cameras->len == 0 && !config->http)
    return watch_fail (error, "no camera is given (ccl-watch --help)");
  return watch_limits_check_cameras (config->cameras->len, error);
}

/* The file may be a pipe, which can be read only once. */
static gboolean
read_token (WatchConfig *config, GError **error)
{
  if (!options.token_file)
    return TRUE;
  if (!token_of_file && !watch_token_read (options.token_file, &token_of_file, error))
    return FALSE;
  g_free (config->http_token);
  config->http_token = g_strdup (token_of_file);
  return TRUE;
}

/* An option that stands for a key of the group [ccl-watch]. */
static gboolean
apply_option (WatchConfig *config, const gchar *key, const gchar *value, GError **error)
{
  if (!value || watch_config_set (config, key, value, error))
    return TRUE;
  g_prefix_error (error, "--%s: ", key);
  return FALSE;
}

static gboolean
apply_command_line (WatchConfig *config, GError **error)
{
  guint n = 0;

  if (!apply_option (config, "device", options.device, error) ||
      !apply_option (config, "http", options.http, error) ||
      !apply_option (config, "folder", options.folder, error) ||
      !apply_option (config, "state", options.state, error) ||
      !apply_option (config, "web-local", options.web_local ? "true" : NULL, error))
    return FALSE;
  for (gchar **scheme = options.web_schemes; scheme && *scheme; scheme++)
    g_ptr_array_add (config->web_rules->schemes, g_strdup (*scheme));
  for (gchar **folder = options.web_folders; folder && *folder; folder++)
    g_ptr_array_add (config->web_rules->folders, g_strdup (*folder));
  for (gchar **uri = options.outputs; uri && *uri; uri++) {
    gchar *name = g_strdup_printf ("output%u", ++n);

    g_ptr_array_add (config->outputs, watch_output_config_new (name, *uri));
    g_free (name);
  }
  if (config->outputs->len == 0)
    g_ptr_array_add (config->outputs, watch_output_config_new ("stdout", "-"));
  return read_token (config, error) && add_cameras (config, error);
}

/* The hosts that the configuration names, for the guard. */
static GPtrArray *
list_hosts (const WatchConfig *config)
{
  GPtrArray *hosts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < config->cameras->len; i++) {
    gchar *host = watch_uri_host (((WatchCameraConfig *)config->cameras->pdata[i])->uri);

    if (host)
      g_ptr_array_add (hosts, host);
  }
  for (guint i = 0; i < config->outputs->len; i++) {
    gchar *host = watch_uri_host (((WatchOutputConfig *)config->outputs->pdata[i])->uri);

    if (host)
      g_ptr_array_add (hosts, host);
  }
  return hosts;
}

/* Reads the configuration and the changes that lie over it. `present` are the changes of now. */
static WatchConfig *
load (const gchar *present, WatchChanges **changes, GError **error)
{
  WatchConfig *config =
      options.config ? watch_config_load (options.config, error) : watch_config_new ();

  *changes = NULL;
  if (!config)
    return NULL;
  if (apply_command_line (config, error) && check_names (config, error)) {
    if (!state)
      state = g_strdup (config->state);
    *changes = watch_changes_new (state, present, error);
  }
  if (*changes) {
    config->hosts = list_hosts (config);
    watch_changes_apply (*changes, config);
    if (check_number (config, error) && watch_http_check (config, error))
      return config;
  }
  g_clear_pointer (changes, watch_changes_free);
  watch_config_free (config);
  return NULL;
}

/* The process. */

/* FALSE after a message of one line. */
static gboolean
parse_command_line (gint argc, gchar **argv)
{
  GOptionContext *context = g_option_context_new (NULL);
  gchar **arguments = g_strdupv (argv);
  GError *error = NULL;
  gboolean is_valid;

  watch_hide_arguments (argc, argv);
  g_option_context_set_summary (context,
      "Labels the connected components of what moves in front of cameras, and writes a JSON "
      "object\n"
      "per line. A URI is rtsp://…, /dev/video0, a file, or anything else that GStreamer plays.");
  g_option_context_set_description (context,
      "Exit status: 0 when all files were read or after SIGTERM or SIGINT, 1 when one could not "
      "be\n"
      "read, 2 for a wrong configuration. See ccl-watch(1).");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  is_valid = g_option_context_parse_strv (context, &arguments, &error);
  if (!is_valid) {
    watch_log_error ("%s", error->message);
    g_error_free (error);
  }
  g_strfreev (arguments);
  g_option_context_free (context);
  return is_valid;
}

/* Whether the GPU of that number can be used; -1: any. */
static gboolean
has_gpu (gint number)
{
  GstElement *element = gst_element_factory_make ("cudaccl", NULL);
  gboolean has;

  if (!element)
    return FALSE;
  gst_object_ref_sink (element);
  g_object_set (element, "cuda-device-id", number, NULL);
  has = gst_element_set_state (element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
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
    GstElementFactory *factory = gst_element_factory_find (needed[i]);

    if (!factory)
      return watch_fail (error, "GStreamer does not find the element %s", needed[i]);
    gst_object_unref (factory);
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

  reload->config = load (reload->present, &reload->changes, &reload->error);
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
  gchar *text =
      g_strdup_printf ("RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time ());

  watch_notify (text);
  watch_turn_take (begin_reload, watch);
  g_free (text);
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

/* Has the messages written that wait. FALSE if nobody reads them. */
static gboolean
write_messages (void)
{
  return watch_log_stop (MAX (end, g_get_monotonic_time () + LOG_TIME));
}

/* A thread that hangs holds what the end needs. */
static void
end_now (gint number)
{
  static const gchar text[] = "ccl-watch: a thread hangs; the program ends without it\n";
  struct pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT};

  if (poll (&file, 1, 0) > 0 && write (STDERR_FILENO, text, sizeof text - 1) < 0) {
  }
  _exit (exit_status);
}

/* Runs until a signal or the end of all cameras; FALSE if the web server cannot listen. */
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

gint
main (gint argc, gchar **argv)
{
  GError *error = NULL;
  WatchChanges *changes;
  WatchConfig *config;
  gboolean is_valid;

  mallopt (M_ARENA_MAX, MALLOC_ARENAS);
  setlocale (LC_ALL, "");
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN); /* write() says that a file is too large */
  watch_limits_raise ();
  register_network_types ();
  if (!parse_command_line (argc, argv))
    return EXIT_CONFIG;
  if (options.version) {
    g_print ("ccl-watch %s\n", PACKAGE_VERSION);
    return 0;
  }
  config = load (NULL, &changes, &error);
  if (config && options.check) {
    is_valid = watch_check_outputs (config, &error);
    watch_changes_free (changes);
    watch_config_free (config);
  } else {
    if (config && (config->http || config->state))
      watch_guard_install ();
    watch_log_start ();
    is_valid = config && watch_cameras (config, changes, &error);
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
