/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"

G_DEFINE_QUARK (watch - config - error, watch_config_error)

#define DEFAULT_TIMEOUT 10.0
#define DEFAULT_FROZEN 60.0
#define DEFAULT_RETRY_MIN 1.0
#define DEFAULT_RETRY_MAX 30.0
#define DEFAULT_CLIP_PRE 5.0
#define DEFAULT_CLIP_POST 5.0
#define DEFAULT_QUEUE 10000

gboolean
watch_fail (GError **error, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error)
    *error = g_error_new_valist (WATCH_CONFIG_ERROR, 0, format, arguments);
  va_end (arguments);
  return FALSE;
}

/* Values. */

static gboolean
parse_boolean (const gchar *text, gboolean *value, GError **error)
{
  *value =
      g_strcmp0 (text, "true") == 0 || g_strcmp0 (text, "yes") == 0 || g_strcmp0 (text, "1") == 0;
  if (*value || g_strcmp0 (text, "false") == 0 || g_strcmp0 (text, "no") == 0 ||
      g_strcmp0 (text, "0") == 0)
    return TRUE;
  return watch_fail (error, "\"%s\" is neither true nor false", text);
}

static gboolean
parse_number (const gchar *text, gdouble least, gdouble *value, GError **error)
{
  gchar *end;

  *value = g_ascii_strtod (text, &end);
  if (end == text || *end || !(*value >= least) || *value > 1e15)
    return watch_fail (error, "\"%s\" is not a number of at least %g", text, least);
  return TRUE;
}

/* A number with one of these letters, for instance "100M" or "7d". */
static gboolean
parse_with_unit (
    const gchar *text, const gchar *letters, const gdouble *factors, gdouble *value, GError **error)
{
  gchar *end;
  const gchar *letter;

  *value = g_ascii_strtod (text, &end);
  letter = *end ? strchr (letters, *end) : NULL;
  if (end == text || *value < 0 || *value > 1e15 || (*end && (!letter || end[1])))
    return watch_fail (
        error, "\"%s\" is not a number, which may be followed by one of %s", text, letters);
  if (letter)
    *value *= factors[letter - letters];
  return TRUE;
}

gboolean
watch_parse_size (const gchar *text, guint64 *bytes, GError **error)
{
  static const gdouble factors[] = {1e3, 1e6, 1e9, 1e12};
  gdouble value;

  if (!parse_with_unit (text, "kMGT", factors, &value, error))
    return FALSE;
  *bytes = value;
  return TRUE;
}

gboolean
watch_parse_duration (const gchar *text, gdouble *seconds, GError **error)
{
  static const gdouble factors[] = {1, 60, 3600, 86400};

  return parse_with_unit (text, "smhd", factors, seconds, error);
}

static gboolean
parse_results (const gchar *text, WatchResults *results, GError **error)
{
  if (strcmp (text, "components") == 0)
    *results = WATCH_RESULTS_COMPONENTS;
  else if (strcmp (text, "tracks") == 0)
    *results = WATCH_RESULTS_TRACKS;
  else if (strcmp (text, "events") == 0)
    *results = WATCH_RESULTS_EVENTS;
  else
    return watch_fail (error, "\"%s\" is none of components, tracks, events", text);
  return TRUE;
}

/* Cameras. */

WatchCameraConfig *
watch_camera_config_ref (WatchCameraConfig *config)
{
  return g_atomic_rc_box_acquire (config);
}

static void
clear_camera_config (WatchCameraConfig *config)
{
  g_free (config->name);
  g_free (config->uri);
  g_clear_pointer (&config->keys, g_hash_table_unref);
  g_clear_pointer (&config->properties, g_hash_table_unref);
}

void
watch_camera_config_unref (WatchCameraConfig *config)
{
  g_atomic_rc_box_release_full (config, (GDestroyNotify)clear_camera_config);
}

gboolean
watch_camera_config_equal (const WatchCameraConfig *a, const WatchCameraConfig *b)
{
  GHashTableIter iter;
  gpointer key, value;

  if (strcmp (a->name, b->name) != 0 || g_hash_table_size (a->keys) != g_hash_table_size (b->keys))
    return FALSE;
  g_hash_table_iter_init (&iter, a->keys);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (g_strcmp0 (g_hash_table_lookup (b->keys, key), value) != 0)
      return FALSE;
  return TRUE;
}

static gboolean
check_name (const gchar *name, GError **error)
{
  static const gchar others[] = "._-";

  if (!*name || strlen (name) > 64 || name[0] == '.')
    return watch_fail (
        error, "\"%s\" is no name: it has 1 to 64 characters and does not begin with a dot", name);
  for (const gchar *c = name; *c; c++)
    if (!g_ascii_isalnum (*c) && !strchr (others, *c))
      return watch_fail (
          error, "\"%s\" is no name: it may have letters, digits, '.', '_' and '-'", name);
  return TRUE;
}

/* "rtsp://…", "/dev/video0" or the path of a file. */
static gchar *
camera_uri (const gchar *text, GError **error)
{
  gchar *uri;

  if (g_str_has_prefix (text, "/dev/video"))
    return g_strdup_printf ("v4l2://%s", text);
  if (strstr (text, "://"))
    uri = g_strdup (text);
  else
    uri = gst_filename_to_uri (text, error);
  if (uri && g_str_has_prefix (uri, "file://")) {
    gchar *path = g_filename_from_uri (uri, NULL, error);

    if (!path)
      g_clear_pointer (&uri, g_free);
    else if (g_access (path, R_OK) != 0) {
      watch_fail (error, "%s: %s", path, g_strerror (errno));
      g_clear_pointer (&uri, g_free);
    }
    g_free (path);
  }
  return uri;
}

/* Whether an element has the property and understands the value. */
static gboolean
check_property (GstElement *element, const gchar *property, const gchar *text, GError **error)
{
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  const gchar *type = GST_OBJECT_NAME (gst_element_get_factory (element));
  GValue value = G_VALUE_INIT;
  gboolean is_valid;

  if (!pspec || !(pspec->flags & G_PARAM_WRITABLE))
    return watch_fail (error, "%s has no property \"%s\" that can be set", type, property);
  g_value_init (&value, pspec->value_type);
  is_valid = gst_value_deserialize (&value, text) && !g_param_value_validate (pspec, &value);
  g_value_unset (&value);
  if (!is_valid)
    return watch_fail (
        error, "\"%s\" is no value of the property \"%s\" of %s", text, property, type);
  return TRUE;
}

/* Starts the element alone. It then reads the files and texts that its properties name. */
static gboolean
check_start (GstElement *element, const gchar *property, const gchar *text, GError **error)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_util_set_object_arg (G_OBJECT (element), property, text);
  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_PAUSED);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  if (message)
    gst_message_parse_error (message, error, NULL);
  g_clear_pointer (&message, gst_message_unref);
  gst_object_unref (bus);
  return !error || !*error;
}

static GstElement *
element_of_key (const WatchCameraConfig *config, const gchar *element, GError **error)
{
  GstElement *made = NULL;

  if (strcmp (element, "ccl") == 0 || strcmp (element, "ccltrack") == 0)
    made = gst_element_factory_make (element, NULL);
  else if (strcmp (element, "source") == 0)
    made = gst_element_make_from_uri (GST_URI_SRC, config->uri, NULL, NULL);
  else
    watch_fail (error,
        "there is no element \"%s\" to set: it is one of ccl, ccltrack, source, decoder", element);
  if (!made && error && !*error)
    watch_fail (error, "GStreamer has no element for %s", element);
  return made;
}

static gboolean
is_property_name (const gchar *text)
{
  const gchar *c = text;

  while (g_ascii_isalnum (*c) || *c == '-' || *c == '_')
    c++;
  return c > text && !*c;
}

/* `key` is "ELEMENT.PROPERTY". */
static gboolean
set_property_key (WatchCameraConfig *config, const gchar *key, const gchar *value, GError **error)
{
  const gchar *dot = strchr (key, '.');
  gboolean is_valid = TRUE;
  gchar *element;

  if (!dot || !is_property_name (dot + 1))
    return watch_fail (error, "there is no key \"%s\"", key);
  element = g_strndup (key, dot - key);
  /* Which decoder it will be is not known before the stream. */
  if (strcmp (element, "decoder") != 0) {
    GError *reason = NULL;
    GstElement *made = element_of_key (config, element, &reason);

    if (made)
      gst_object_ref_sink (made);
    is_valid = made && check_property (made, dot + 1, value, &reason) &&
               (strcmp (element, "source") == 0 || check_start (made, dot + 1, value, &reason));
    g_clear_pointer (&made, gst_object_unref);
    if (reason)
      g_propagate_error (error, reason);
  }
  if (is_valid)
    g_hash_table_insert (config->properties, g_strdup (key), g_strdup (value));
  g_free (element);
  return is_valid;
}

static gboolean
set_camera_key (WatchCameraConfig *config, const gchar *key, const gchar *value, GError **error)
{
  static const struct {
    const gchar *key;
    gsize offset;
    gdouble least;
  } numbers[] = {
      {"timeout", G_STRUCT_OFFSET (WatchCameraConfig, timeout), 0.1},
      {"frozen", G_STRUCT_OFFSET (WatchCameraConfig, frozen), 0},
      {"max-fps", G_STRUCT_OFFSET (WatchCameraConfig, max_fps), 0},
      {"retry-min", G_STRUCT_OFFSET (WatchCameraConfig, retry_min), 0.01},
      {"retry-max", G_STRUCT_OFFSET (WatchCameraConfig, retry_max), 0.01},
      {"clip-pre", G_STRUCT_OFFSET (WatchCameraConfig, clip_pre), 0},
      {"clip-post", G_STRUCT_OFFSET (WatchCameraConfig, clip_post), 0},
  };
  static const struct {
    const gchar *key;
    gsize offset;
  } booleans[] = {
      {"pace", G_STRUCT_OFFSET (WatchCameraConfig, pace)},
      {"loop", G_STRUCT_OFFSET (WatchCameraConfig, loop)},
      {"pictures", G_STRUCT_OFFSET (WatchCameraConfig, pictures)},
      {"picture-boxes", G_STRUCT_OFFSET (WatchCameraConfig, picture_boxes)},
      {"clips", G_STRUCT_OFFSET (WatchCameraConfig, clips)},
  };

  if (strcmp (key, "uri") == 0)
    return TRUE;
  if (strcmp (key, "results") == 0)
    return parse_results (value, &config->results, error);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (strcmp (key, numbers[i].key) == 0)
      return parse_number (
          value, numbers[i].least, G_STRUCT_MEMBER_P (config, numbers[i].offset), error);
  for (guint i = 0; i < G_N_ELEMENTS (booleans); i++)
    if (strcmp (key, booleans[i].key) == 0)
      return parse_boolean (value, G_STRUCT_MEMBER_P (config, booleans[i].offset), error);
  return set_property_key (config, key, value, error);
}

WatchCameraConfig *
watch_camera_config_new (const gchar *name, GHashTable *keys, GError **error)
{
  WatchCameraConfig *config = g_atomic_rc_box_new0 (WatchCameraConfig);
  const gchar *uri = g_hash_table_lookup (keys, "uri");
  GHashTableIter iter;
  gpointer key, value;
  GError *reason = NULL;

  config->name = g_strdup (name);
  config->results = WATCH_RESULTS_TRACKS;
  config->timeout = DEFAULT_TIMEOUT;
  config->frozen = DEFAULT_FROZEN;
  config->retry_min = DEFAULT_RETRY_MIN;
  config->retry_max = DEFAULT_RETRY_MAX;
  config->pictures = TRUE;
  config->picture_boxes = TRUE;
  config->clip_pre = DEFAULT_CLIP_PRE;
  config->clip_post = DEFAULT_CLIP_POST;
  config->keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  config->properties = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (config->properties, g_strdup ("ccl.foreground"), g_strdup ("mog2"));
  g_hash_table_insert (config->properties, g_strdup ("ccl.denoise"), g_strdup ("median-5x5"));
  g_hash_table_insert (config->properties, g_strdup ("ccl.min-area"), g_strdup ("200"));

  if (!check_name (name, &reason))
    goto failed;
  if (!uri || !*uri) {
    watch_fail (&reason, "the key \"uri\" is missing");
    goto failed;
  }
  config->uri = camera_uri (uri, &reason);
  if (!config->uri)
    goto failed;
  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    if (!set_camera_key (config, key, value, &reason)) {
      g_prefix_error (&reason, "%s: ", (const gchar *)key);
      goto failed;
    }
    g_hash_table_insert (config->keys, g_strdup (key), g_strdup (value));
  }
  return config;

failed : {
  gchar *clean = watch_redact (reason->message);

  watch_fail (error, "camera %s: %s", name, clean);
  g_free (clean);
  g_error_free (reason);
  watch_camera_config_unref (config);
  return NULL;
}
}

/* Outputs. */

void
watch_output_config_free (WatchOutputConfig *config)
{
  g_free (config->name);
  g_free (config->uri);
  g_hash_table_unref (config->options);
  g_free (config);
}

WatchOutputConfig *
watch_output_config_new (const gchar *name, const gchar *uri)
{
  WatchOutputConfig *config = g_new0 (WatchOutputConfig, 1);

  config->name = g_strdup (name);
  config->uri = g_strdup (uri);
  config->options = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return config;
}

/* The file. */

WatchConfig *
watch_config_new (void)
{
  WatchConfig *config = g_new0 (WatchConfig, 1);

  config->cameras = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_camera_config_unref);
  config->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_output_config_free);
  config->device = g_strdup ("auto");
  return config;
}

void
watch_config_free (WatchConfig *config)
{
  g_ptr_array_unref (config->cameras);
  g_ptr_array_unref (config->outputs);
  g_free (config->device);
  g_free (config->http);
  g_free (config->http_token);
  g_free (config->folder);
  g_free (config->state);
  g_free (config);
}

static gboolean
replace_string (gchar **string, const gchar *text)
{
  g_free (*string);
  *string = g_strdup (text);
  return TRUE;
}

gboolean
watch_config_set (WatchConfig *config, const gchar *key, const gchar *value, GError **error)
{
  if (strcmp (key, "device") == 0) {
    guint64 number;

    if (strcmp (value, "auto") != 0 && strcmp (value, "cpu") != 0 && strcmp (value, "gpu") != 0 &&
        !g_ascii_string_to_unsigned (value, 10, 0, 1023, &number, NULL))
      return watch_fail (error, "\"%s\" is none of auto, cpu, gpu and the number of a GPU", value);
    return replace_string (&config->device, value);
  }
  if (strcmp (key, "http") == 0)
    return replace_string (&config->http, value);
  if (strcmp (key, "token") == 0)
    return replace_string (&config->http_token, value);
  if (strcmp (key, "folder") == 0)
    return replace_string (&config->folder, value);
  if (strcmp (key, "state") == 0)
    return replace_string (&config->state, value);
  if (strcmp (key, "keep-days") == 0)
    return parse_number (value, 0, &config->keep_days, error);
  if (strcmp (key, "keep-bytes") == 0)
    return watch_parse_size (value, &config->keep_bytes, error);
  return watch_fail (error, "there is no such key");
}

GHashTable *
watch_key_file_get_keys (GKeyFile *file, const gchar *group, GHashTable *defaults, GError **error)
{
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gchar **names = g_key_file_get_keys (file, group, NULL, NULL);
  GHashTableIter iter;
  gpointer key, value;

  if (defaults) {
    g_hash_table_iter_init (&iter, defaults);
    while (g_hash_table_iter_next (&iter, &key, &value))
      g_hash_table_insert (keys, g_strdup (key), g_strdup (value));
  }
  for (gchar **name = names; name && *name; name++) {
    gchar *text = g_key_file_get_string (file, group, *name, error);

    if (!text) {
      g_clear_pointer (&keys, g_hash_table_unref);
      break;
    }
    g_hash_table_insert (keys, g_strdup (*name), g_strchomp (text));
  }
  g_strfreev (names);
  return keys;
}

static gboolean
read_global_group (WatchConfig *config, GHashTable *keys, GError **error)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!watch_config_set (config, key, value, error)) {
      g_prefix_error (error, "[ccl-watch] %s: ", (const gchar *)key);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_output_group (WatchConfig *config, const gchar *name, GHashTable *keys, GError **error)
{
  const gchar *uri = g_hash_table_lookup (keys, "uri");
  WatchOutputConfig *output;

  if (!check_name (name, error))
    return FALSE;
  if (!uri)
    return watch_fail (error, "output %s: the key \"uri\" is missing", name);
  output = watch_output_config_new (name, uri);
  g_hash_table_remove (keys, "uri");
  g_hash_table_unref (output->options);
  output->options = g_hash_table_ref (keys);
  g_ptr_array_add (config->outputs, output);
  return TRUE;
}

static gboolean
read_group (
    WatchConfig *config, GKeyFile *file, const gchar *group, GHashTable *defaults, GError **error)
{
  gboolean is_camera = g_str_has_prefix (group, "camera ");
  GHashTable *keys = watch_key_file_get_keys (file, group, is_camera ? defaults : NULL, error);
  gboolean is_valid = FALSE;

  if (!keys)
    return FALSE;
  if (is_camera) {
    WatchCameraConfig *camera = watch_camera_config_new (group + strlen ("camera "), keys, error);
    is_valid = camera != NULL;
    if (camera)
      g_ptr_array_add (config->cameras, camera);
  } else if (g_str_has_prefix (group, "output ")) {
    is_valid = read_output_group (config, group + strlen ("output "), keys, error);
  } else if (strcmp (group, "ccl-watch") == 0) {
    is_valid = read_global_group (config, keys, error);
  } else if (strcmp (group, "cameras") == 0) {
    is_valid = TRUE; /* the defaults, which every camera used */
  } else {
    watch_fail (error, "there is no group \"%s\"", group);
  }
  g_hash_table_unref (keys);
  return is_valid;
}

static gboolean
read_groups (WatchConfig *config, GKeyFile *file, GError **error)
{
  gchar **groups = g_key_file_get_groups (file, NULL);
  GHashTable *defaults = watch_key_file_get_keys (file, "cameras", NULL, error);
  gboolean is_valid = defaults != NULL;

  for (gchar **group = groups; is_valid && *group; group++)
    is_valid = read_group (config, file, *group, defaults, error);
  g_clear_pointer (&defaults, g_hash_table_unref);
  g_strfreev (groups);
  return is_valid;
}

/* The mode is that of the file that was read, not of one that replaces it. */
static gboolean
read_file (const gchar *path, gchar **text, gboolean *others_may_read, GError **error)
{
  gint fd = g_open (path, O_RDONLY | O_CLOEXEC);
  FILE *stream = fd >= 0 ? fdopen (fd, "r") : NULL;
  GString *read = g_string_new (NULL);
  struct stat status;
  gchar buffer[4096];
  gsize n;

  if (!stream || fstat (fd, &status) != 0) {
    watch_fail (error, "%s", g_strerror (errno));
    g_string_free (read, TRUE);
    if (stream)
      fclose (stream);
    return FALSE;
  }
  while ((n = fread (buffer, 1, sizeof buffer, stream)) > 0)
    g_string_append_len (read, buffer, n);
  fclose (stream);
  *others_may_read = (status.st_mode & S_IROTH) != 0;
  *text = g_string_free (read, FALSE);
  return TRUE;
}

static gboolean
group_has_secret (GKeyFile *file, const gchar *group)
{
  gchar **keys = g_key_file_get_keys (file, group, NULL, NULL);
  gboolean has = FALSE;

  for (gchar **key = keys; key && *key && !has; key++) {
    gchar *value = g_key_file_get_value (file, group, *key, NULL);
    gchar *line = g_strdup_printf ("%s=%s", *key, value ? value : "");

    has = watch_has_secret (line);
    g_free (line);
    g_free (value);
  }
  g_strfreev (keys);
  return has;
}

static gboolean
file_has_secret (GKeyFile *file)
{
  gchar **groups = g_key_file_get_groups (file, NULL);
  gboolean has = FALSE;

  for (gchar **group = groups; *group && !has; group++)
    has = group_has_secret (file, *group);
  g_strfreev (groups);
  return has;
}

GKeyFile *
watch_key_file_load (const gchar *path, GError **error)
{
  GKeyFile *file = g_key_file_new ();
  gboolean others_may_read, is_valid;
  gchar *text = NULL;

  is_valid = read_file (path, &text, &others_may_read, error) &&
             g_key_file_load_from_data (file, text, -1, G_KEY_FILE_KEEP_COMMENTS, error);
  if (is_valid && others_may_read && file_has_secret (file))
    is_valid =
        watch_fail (error, "it holds a password and other users may read it (chmod o= %s)", path);
  if (!is_valid) {
    g_prefix_error (error, "%s: ", path);
    g_clear_pointer (&file, g_key_file_unref);
  }
  g_free (text);
  return file;
}

WatchConfig *
watch_config_load (const gchar *path, GError **error)
{
  GKeyFile *file = watch_key_file_load (path, error);
  WatchConfig *config;

  if (!file)
    return NULL;
  config = watch_config_new ();
  if (!read_groups (config, file, error)) {
    g_prefix_error (error, "%s: ", path);
    g_clear_pointer (&config, watch_config_free);
  }
  g_key_file_unref (file);
  return config;
}
