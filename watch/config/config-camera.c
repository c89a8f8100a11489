/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config-camera.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>

#include "watch/system/config-values.h"
#include "watch/system/log.h"
#include "watch/system/secrets.h"

/* Keys whose values are numbers. */
static const struct {
  const gchar *key;
  gsize offset; /* of a gdouble */
  gdouble least, usual;
} numbers[] = {
    {"timeout", G_STRUCT_OFFSET (WatchCameraConfig, timeout), 0.1, 10},
    {"frozen", G_STRUCT_OFFSET (WatchCameraConfig, frozen), 0, 60},
    {"max-delay", G_STRUCT_OFFSET (WatchCameraConfig, max_delay), 0, 2},
    {"stuck", G_STRUCT_OFFSET (WatchCameraConfig, stuck), 0.5, 30},
    {"max-fps", G_STRUCT_OFFSET (WatchCameraConfig, max_fps), 0, 0},
    {"retry-min", G_STRUCT_OFFSET (WatchCameraConfig, retry_min), 0.01, 1},
    {"retry-max", G_STRUCT_OFFSET (WatchCameraConfig, retry_max), 0.01, 30},
    {"clip-pre", G_STRUCT_OFFSET (WatchCameraConfig, clip_pre), 0, 5},
    {"clip-post", G_STRUCT_OFFSET (WatchCameraConfig, clip_post), 0, 5},
    {"least-motion", G_STRUCT_OFFSET (WatchCameraConfig, least_motion), 0, 0},
    {"cooldown", G_STRUCT_OFFSET (WatchCameraConfig, cooldown), 0, 0},
    {"settle-time", G_STRUCT_OFFSET (WatchCameraConfig, settle_time), 0, -1},
    {"most-motion", G_STRUCT_OFFSET (WatchCameraConfig, most_motion), 0, 0.7},
};

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

WatchCameraConfig *
watch_camera_config_ref (WatchCameraConfig *config)
{
  return g_atomic_rc_box_acquire (config);
}

/* The time when the program started, and a number that grows: no run repeats a version. */
static gchar *
new_version (void)
{
  static gint n_versions;
  static gsize start;

  if (g_once_init_enter (&start))
    g_once_init_leave (&start, (gsize)g_get_real_time ());
  return g_strdup_printf (
      "%" G_GSIZE_MODIFIER "x-%x", start, (guint)g_atomic_int_add (&n_versions, 1));
}

static void
clear_camera_config (WatchCameraConfig *config)
{
  g_free (config->version);
  g_free (config->name);
  g_free (config->uri);
  g_free (config->record_uri);
  g_free (config->decoder);
  g_free (config->rotate);
  g_clear_pointer (&config->keys, g_hash_table_unref);
  g_clear_pointer (&config->properties, g_hash_table_unref);
  g_clear_pointer (&config->schedule, watch_schedule_free);
  g_clear_pointer (&config->region_schedules, g_hash_table_unref);
  g_clear_pointer (&config->time_zone, g_time_zone_unref);
}

void
watch_camera_config_unref (WatchCameraConfig *config)
{
  g_atomic_rc_box_release_full (config, (GDestroyNotify)clear_camera_config);
}

gboolean
watch_camera_config_equal (const WatchCameraConfig *a, const WatchCameraConfig *b)
{
  return strcmp (a->name, b->name) == 0 && watch_table_equal (a->keys, b->keys);
}

gchar *
watch_camera_uri (const gchar *text, GError **error)
{
  if (g_str_has_prefix (text, "/dev/video"))
    return g_strdup_printf ("v4l2://%s", text);
  if (strstr (text, "://"))
    return g_strdup (text);
  return gst_filename_to_uri (text, error);
}

/* The URI of a camera, whose file can be read if it is one. */
static gchar *
check_uri (const gchar *text, GError **error)
{
  gchar *uri = watch_camera_uri (text, error);

  if (uri && g_str_has_prefix (uri, "file://")) {
    g_autofree gchar *path = g_filename_from_uri (uri, NULL, error);

    if (!path)
      g_clear_pointer (&uri, g_free);
    else if (g_access (path, R_OK) != 0) {
      watch_fail (error, "%s: %s", path, g_strerror (errno));
      g_clear_pointer (&uri, g_free);
    }
  }
  return uri;
}

/* Whether an element has the property and understands the value. */
static gboolean
check_property (GstElement *element, const gchar *property, const gchar *text, gboolean is_secret,
    GError **error)
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
    return watch_fail (error, "\"%s\" is no value of the property \"%s\" of %s",
        is_secret ? "***" : text, property, type);
  return TRUE;
}

/* Starts the element alone. It then reads the files and texts that its properties name. */
static gboolean
check_start (GstElement *element, const gchar *property, const gchar *text, GError **error)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;

  gst_util_set_object_arg (G_OBJECT (element), property, text);
  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_PAUSED);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  if (message)
    gst_message_parse_error (message, error, NULL);
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
  g_autofree gchar *element = dot ? g_strndup (key, dot - key) : NULL;

  if (!dot || !is_property_name (dot + 1))
    return watch_fail (error, "there is no key \"%s\"", key);
  /* Which decoder it will be is not known before the stream. */
  if (strcmp (element, "decoder") != 0) {
    GError *reason = NULL;
    g_autoptr (GstElement) made = element_of_key (config, element, &reason);

    if (made)
      gst_object_ref_sink (made);
    is_valid =
        made &&
        check_property (made, dot + 1, value, watch_is_secret_key (key, config->uri), &reason) &&
        (strcmp (element, "source") == 0 || check_start (made, dot + 1, value, &reason));
    if (reason)
      g_propagate_error (error, reason);
  }
  if (is_valid)
    g_hash_table_insert (config->properties, g_strdup (key), g_strdup (value));
  return is_valid;
}

/* Frames of both streams are compared by the time of their arrival, which files do not have. */
static gboolean
parse_record_uri (const gchar *text, gchar **record_uri, GError **error)
{
  if (!strstr (text, "://") || g_str_has_prefix (text, "file:") || g_str_has_prefix (text, "v4l2:"))
    return watch_fail (error, "it must be the address of a stream in the network");
  *record_uri = g_strdup (text);
  return TRUE;
}

static gboolean
parse_deinterlace (const gchar *text, WatchDeinterlace *deinterlace, GError **error)
{
  gboolean is_on;

  *deinterlace = WATCH_DEINTERLACE_AUTO;
  if (strcmp (text, "auto") == 0)
    return TRUE;
  if (!watch_parse_boolean (text, &is_on, NULL))
    return watch_fail (error, "\"%s\" is none of auto, true and false", text);
  *deinterlace = is_on ? WATCH_DEINTERLACE_ALWAYS : WATCH_DEINTERLACE_NEVER;
  return TRUE;
}

/* Degrees clockwise. */
static gboolean
parse_rotation (const gchar *text, gchar **direction, GError **error)
{
  static const struct {
    const gchar *text, *direction;
  } rotations[] = {{"0", NULL}, {"90", "90r"}, {"180", "180"}, {"270", "90l"}, {"auto", "auto"}};

  for (guint i = 0; i < G_N_ELEMENTS (rotations); i++)
    if (strcmp (text, rotations[i].text) == 0) {
      *direction = g_strdup (rotations[i].direction);
      return TRUE;
    }
  return watch_fail (error, "\"%s\" is none of auto, 0, 90, 180 and 270", text);
}

static gboolean
parse_schedule (WatchCameraConfig *config, const gchar *region, const gchar *text, GError **error)
{
  WatchSchedule *schedule = watch_schedule_new (text, error);

  if (schedule && region)
    g_hash_table_insert (config->region_schedules, g_strdup (region), schedule);
  else
    config->schedule = schedule;
  return schedule != NULL;
}

static gboolean
parse_time_zone (WatchCameraConfig *config, const gchar *text, GError **error)
{
  g_clear_pointer (&config->time_zone, g_time_zone_unref);
  config->time_zone = g_time_zone_new_identifier (text);
  return config->time_zone ||
         watch_fail (error, "there is no time zone \"%s\"; they are such as Europe/Berlin", text);
}

static gboolean
parse_motion (const gchar *text, gboolean *has_track_motion, GError **error)
{
  *has_track_motion = strcmp (text, "tracks") == 0;
  return *has_track_motion || strcmp (text, "components") == 0 ||
         watch_fail (error, "\"%s\" is none of tracks and components", text);
}

/* The key `decoder`: auto, a kind, or names of elements with commas between them. */
static gboolean
check_decoder (const gchar *choice, GError **error)
{
  return g_regex_match_simple (
             "^[a-z][a-z0-9_]*(,[a-z][a-z0-9_]*)*$", choice, G_REGEX_DOLLAR_ENDONLY, 0) ||
         watch_fail (error,
             "\"%s\" is none of auto, software, vaapi, v4l2, nvdec, and names of elements such as "
             "avdec_h264,openh264dec",
             choice);
}

static gboolean
set_camera_key (WatchCameraConfig *config, const gchar *key, const gchar *value, GError **error)
{
  static const struct {
    const gchar *key;
    gsize offset;
  } booleans[] = {
      {"pace", G_STRUCT_OFFSET (WatchCameraConfig, pace)},
      {"loop", G_STRUCT_OFFSET (WatchCameraConfig, loop)},
      {"pictures", G_STRUCT_OFFSET (WatchCameraConfig, pictures)},
      {"picture-boxes", G_STRUCT_OFFSET (WatchCameraConfig, picture_boxes)},
      {"object-pictures", G_STRUCT_OFFSET (WatchCameraConfig, object_pictures)},
      {"clips", G_STRUCT_OFFSET (WatchCameraConfig, clips)},
  };

  if (strcmp (key, "uri") == 0)
    return TRUE;
  if (strcmp (key, "record-uri") == 0)
    return parse_record_uri (value, &config->record_uri, error);
  if (strcmp (key, "decoder") == 0) {
    config->decoder = g_strdup (value);
    return check_decoder (value, error);
  }
  if (strcmp (key, "results") == 0)
    return parse_results (value, &config->results, error);
  if (strcmp (key, "deinterlace") == 0)
    return parse_deinterlace (value, &config->deinterlace, error);
  if (strcmp (key, "rotate") == 0)
    return parse_rotation (value, &config->rotate, error);
  if (strcmp (key, "schedule") == 0)
    return parse_schedule (config, NULL, value, error);
  if (g_str_has_prefix (key, "schedule."))
    return parse_schedule (config, key + strlen ("schedule."), value, error);
  if (strcmp (key, "time-zone") == 0)
    return parse_time_zone (config, value, error);
  if (strcmp (key, "motion") == 0)
    return parse_motion (value, &config->has_track_motion, error);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (strcmp (key, numbers[i].key) == 0)
      return watch_parse_number (
          value, numbers[i].least, G_STRUCT_MEMBER_P (config, numbers[i].offset), error);
  for (guint i = 0; i < G_N_ELEMENTS (booleans); i++)
    if (strcmp (key, booleans[i].key) == 0)
      return watch_parse_boolean (value, G_STRUCT_MEMBER_P (config, booleans[i].offset), error);
  return set_property_key (config, key, value, error);
}

/* A camera has a folder of its name beside these files, perhaps where case makes no difference. */
static gboolean
check_reserved (const gchar *name, GError **error)
{
  static const gchar *const files[] = {"events.ndjson", "objects.ndjson", "traffic.ndjson"};

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if (g_ascii_strcasecmp (name, files[i]) == 0)
      return watch_fail (error, "the name is that of a file of the history");
  return TRUE;
}

/* A value that goes to a camera has no control characters: a line end would begin another header.
 * Those of the analysis, such as regions, may have several lines. */
static gboolean
check_characters (const gchar *key, const gchar *value, GError **error)
{
  const gboolean may_have_lines =
      g_str_has_prefix (key, "ccl.") || g_str_has_prefix (key, "ccltrack.");

  for (const gchar *c = value; *c; c++)
    if (g_ascii_iscntrl (*c) && !(may_have_lines && g_ascii_isspace (*c)))
      return watch_fail (error, "the value has a control character");
  return TRUE;
}

/* Keeps the keys, and takes what they say. */
static gboolean
take_keys (WatchCameraConfig *config, GHashTable *keys, GError **error)
{
  const gchar *uri = g_hash_table_lookup (keys, "uri");
  GHashTableIter iter;
  gpointer key, value;

  if (!watch_check_name (config->name, error) || !check_reserved (config->name, error))
    return FALSE;
  if (!uri || !*uri)
    return watch_fail (error, "the key \"uri\" is missing");
  config->uri = check_characters ("uri", uri, error) ? check_uri (uri, error) : NULL;
  if (!config->uri)
    return FALSE;
  if (g_hash_table_contains (keys, "record-uri") && g_str_has_prefix (config->uri, "file:"))
    return watch_fail (error, "record-uri: a file has no second stream");
  g_hash_table_iter_init (&iter, keys);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    if (!check_characters (key, value, error) || !set_camera_key (config, key, value, error))
      return watch_fail_at (error, key);
    g_hash_table_insert (config->keys, g_strdup (key), g_strdup (value));
  }
  if (config->results == WATCH_RESULTS_COMPONENTS) {
    if (g_strcmp0 (g_hash_table_lookup (keys, "motion"), "tracks") == 0)
      return watch_fail (error, "motion: with results=components there are no tracks");
    config->has_track_motion = FALSE;
  }
  return TRUE;
}

WatchCameraConfig *
watch_camera_config_new (const gchar *name, GHashTable *keys, GError **error)
{
  WatchCameraConfig *config = g_atomic_rc_box_new0 (WatchCameraConfig);
  g_autoptr (GError) reason = NULL;
  g_autofree gchar *clean = NULL;

  config->version = new_version ();
  config->name = g_strdup (name);
  config->results = WATCH_RESULTS_TRACKS;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    G_STRUCT_MEMBER (gdouble, config, numbers[i].offset) = numbers[i].usual;
  config->pictures = TRUE;
  config->picture_boxes = TRUE;
  config->time_zone = g_time_zone_new_local ();
  config->region_schedules =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)watch_schedule_free);
  config->has_track_motion = TRUE;
  config->keys = watch_table_new ();
  config->properties = watch_table_new ();
  g_hash_table_insert (config->properties, g_strdup ("ccl.foreground"), g_strdup ("codebook"));
  g_hash_table_insert (config->properties, g_strdup ("ccl.denoise"), g_strdup ("median-5x5"));
  g_hash_table_insert (config->properties, g_strdup ("ccl.min-area"), g_strdup ("200"));

  if (take_keys (config, keys, &reason))
    return config;
  clean = watch_redact (reason->message);
  watch_fail (error, "camera %s: %s", name, clean);
  watch_camera_config_unref (config);
  return NULL;
}
