/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command-line.h"

#include <gst/gst.h>
#include <string.h>

#include "http-address.h"
#include "key-file.h"
#include "watch/system/log.h"
#include "watch/system/process-limits.h"
#include "watch/system/secrets.h"
#include "watch/system/web-address.h"

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
        "write lines to URI: - (the default), a file, tcp://HOST:PORT, mqtt://HOST/TOPIC, "
        "kafka://HOST:PORT/TOPIC or the webhook http://HOST/PATH; may be repeated",
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

static gchar *token_of_file, *state; /* those of the start */

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
  g_autoptr (GHashTable) keys = watch_table_new ();
  g_autofree gchar *name = NULL;
  WatchCameraConfig *camera;

  if (!equals || equals == argument) {
    g_autofree gchar *clean = watch_redact (argument);

    return watch_fail (error, "\"%s\" is not NAME=URI", clean);
  }
  watch_table_add (keys, defaults);
  g_hash_table_insert (keys, g_strdup ("uri"), g_strdup (equals + 1));
  name = g_strndup (argument, equals - argument);
  camera = watch_camera_config_new (name, keys, error);
  if (camera)
    g_ptr_array_add (config->cameras, camera);
  return camera != NULL;
}

static gboolean
add_cameras (WatchConfig *config, GError **error)
{
  g_autoptr (GHashTable) defaults = watch_table_new ();
  gboolean is_valid = TRUE;

  if (options.events)
    g_hash_table_insert (defaults, g_strdup ("results"), g_strdup ("events"));
  else if (options.results)
    g_hash_table_insert (defaults, g_strdup ("results"), g_strdup (options.results));
  for (gchar **setting = options.settings; is_valid && setting && *setting; setting++)
    is_valid = add_setting (defaults, *setting, error);
  for (gchar **camera = options.cameras; is_valid && camera && *camera; camera++)
    is_valid = add_camera (config, defaults, *camera, error);
  return is_valid;
}

static gboolean
check_names (const WatchConfig *config, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_valid = TRUE;

  for (guint i = 0; is_valid && i < config->cameras->len; i++) {
    WatchCameraConfig *camera = g_ptr_array_index (config->cameras, i);

    if (!g_hash_table_add (names, camera->name))
      is_valid = watch_fail (error, "two cameras have the name \"%s\"", camera->name);
  }
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
    g_autofree gchar *name = g_strdup_printf ("output%u", ++n);

    g_ptr_array_add (config->outputs, watch_output_config_new (name, *uri));
  }
  if (config->outputs->len == 0)
    g_ptr_array_add (config->outputs, watch_output_config_new ("stdout", "-"));
  return read_token (config, error) && add_cameras (config, error);
}

static void
add_host (GPtrArray *hosts, const gchar *uri)
{
  gchar *host = watch_uri_host (uri);

  if (host)
    g_ptr_array_add (hosts, host);
}

/* The hosts that the configuration names, for the guard. */
static GPtrArray *
list_hosts (const WatchConfig *config)
{
  GPtrArray *hosts = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < config->cameras->len; i++) {
    const WatchCameraConfig *camera = config->cameras->pdata[i];

    add_host (hosts, camera->uri);
    if (camera->record_uri)
      add_host (hosts, camera->record_uri);
  }
  for (guint i = 0; i < config->outputs->len; i++)
    add_host (hosts, ((WatchOutputConfig *)config->outputs->pdata[i])->uri);
  return hosts;
}

/* A damaged state file must not keep the cameras off when the program starts. */
static WatchChanges *
load_changes (const gchar *present, GError **error)
{
  GError *damage = NULL;
  WatchChanges *changes = watch_changes_new (state, present, &damage);

  if (!changes && !present && !options.check && watch_changes_set_aside (state, damage)) {
    g_clear_error (&damage);
    changes = watch_changes_new (state, present, &damage);
  }
  if (damage)
    g_propagate_error (error, damage);
  return changes;
}

WatchConfig *
watch_command_line_load (const gchar *present, WatchChanges **changes, GError **error)
{
  WatchConfig *config =
      options.config ? watch_config_load (options.config, error) : watch_config_new ();

  *changes = NULL;
  if (!config)
    return NULL;
  if (apply_command_line (config, error) && check_names (config, error)) {
    if (!state)
      state = g_strdup (config->state);
    *changes = load_changes (present, error);
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

gboolean
watch_command_line_parse (gint argc, gchar **argv, WatchRequest *request)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_auto (GStrv) arguments = g_strdupv (argv);
  g_autoptr (GError) error = NULL;
  gboolean is_valid;

  watch_hide_arguments (argc, argv);
  g_option_context_set_summary (context,
      "Labels the connected components of what moves in front of cameras, and writes a JSON\n"
      "object per line. A URI is rtsp://…, /dev/video0, a file, or anything else that GStreamer "
      "plays.");
  g_option_context_set_description (context,
      "Exit status: 0 when all files were read or after SIGTERM or SIGINT, 1 when one\n"
      "could not be read, 2 for a wrong configuration. See ccl-watch(1).");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  is_valid = g_option_context_parse_strv (context, &arguments, &error);
  if (!is_valid)
    watch_log_error ("%s", error->message);
  *request = options.version ? WATCH_REQUEST_VERSION
             : options.check ? WATCH_REQUEST_CHECK
                             : WATCH_REQUEST_RUN;
  return is_valid;
}
