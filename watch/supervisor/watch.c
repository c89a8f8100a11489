/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "watch-private.h"

#include <string.h>

#include "last-lines.h"
#include "watch/config/live-keys.h"
#include "watch/system/log.h"
#include "watch/system/process-limits.h"
#include "watch/system/web-guard.h"

#define MAX_STUCK 3 /* threads of one camera that are left alone */

/* Called by cameras. */

static void
on_line (gpointer data, WatchCamera *camera, const gchar *text, gsize length, gint *cancelled)
{
  Watch *watch = data;
  g_autoptr (WatchLine) line = watch_line_new (text, length, watch_camera_get_name (camera));
  g_autoptr (GPtrArray) outputs = NULL;

  g_mutex_lock (&watch->lock);
  watch_last_lines_take (watch->last_lines, line);
  outputs = g_ptr_array_ref (watch->outputs);
  g_mutex_unlock (&watch->lock);
  for (guint i = 0; i < outputs->len; i++)
    watch_output_push (g_ptr_array_index (outputs, i), line, cancelled);
}

static gboolean
call_all_ended (gpointer data)
{
  Watch *watch = data;
  gboolean all;

  g_mutex_lock (&watch->lock);
  all = !watch->is_stopping && watch->cameras->len > 0;
  for (guint i = 0; i < watch->cameras->len; i++)
    all = all && g_hash_table_contains (watch->ended, g_ptr_array_index (watch->cameras, i));
  g_mutex_unlock (&watch->lock);
  if (all && watch->all_ended)
    watch->all_ended (watch->data);
  return G_SOURCE_REMOVE;
}

static void
on_ended (gpointer data, WatchCamera *camera, gboolean failed)
{
  Watch *watch = data;

  g_mutex_lock (&watch->lock);
  g_hash_table_add (watch->ended, watch_camera_ref (camera));
  watch->failed = watch->failed || failed;
  g_mutex_unlock (&watch->lock);
  g_idle_add (call_all_ended, watch);
}

/* Cameras. */

static GPtrArray *
new_cameras (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)watch_camera_unref);
}

GPtrArray *
watch_get_cameras (Watch *watch)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&watch->lock);

  return g_ptr_array_ref (watch->cameras);
}

/* The first camera of this name; NULL if there is none. */
static WatchCamera *
find_camera (GPtrArray *cameras, const gchar *name)
{
  for (guint i = 0; i < cameras->len; i++)
    if (strcmp (watch_camera_get_name (cameras->pdata[i]), name) == 0)
      return cameras->pdata[i];
  return NULL;
}

WatchCamera *
watch_find_camera (Watch *watch, const gchar *name)
{
  g_autoptr (GPtrArray) cameras = watch_get_cameras (watch);
  WatchCamera *found = find_camera (cameras, name);

  return found ? watch_camera_ref (found) : NULL;
}

/* With the lock: puts `next` in the place of `old`; either may be NULL. */
static void
replace_camera (Watch *watch, WatchCamera *old, WatchCamera *next)
{
  GPtrArray *cameras = new_cameras ();

  for (guint i = 0; i < watch->cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (watch->cameras, i);

    if (camera != old)
      g_ptr_array_add (cameras, watch_camera_ref (camera));
    else if (next)
      g_ptr_array_add (cameras, watch_camera_ref (next));
  }
  if (!old && next)
    g_ptr_array_add (cameras, watch_camera_ref (next));
  if (old) {
    watch_camera_stop (old);
    g_ptr_array_add (watch->stopping, watch_camera_ref (old)); /* before the old array frees it */
  }
  g_ptr_array_unref (watch->cameras);
  watch->cameras = cameras;
}

/* Forgets cameras that have stopped. With the lock. */
static void
clear_stopped (Watch *watch)
{
  for (guint i = watch->stopping->len; i-- > 0;)
    if (watch_camera_wait (g_ptr_array_index (watch->stopping, i), 0)) {
      g_hash_table_remove (watch->ended, g_ptr_array_index (watch->stopping, i));
      g_ptr_array_add (watch->removed, watch_camera_ref (g_ptr_array_index (watch->stopping, i)));
      g_ptr_array_remove_index (watch->stopping, i);
    }
}

/* A camera that is armed as somebody has set it. */
static WatchCamera *
new_camera (Watch *watch, WatchCameraConfig *config)
{
  WatchCamera *camera = watch_camera_new (config, &watch->hub);

  watch_camera_set_arming (camera, watch_changes_get_arming (watch->changes, config->name));
  return camera;
}

/* Adds a camera, or gives an existing one this configuration, which it takes. */
static void
set_camera (Watch *watch, WatchCameraConfig *config)
{
  g_autoptr (WatchCamera) old = watch_find_camera (watch, config->name);
  gboolean is_new = TRUE;

  if (old) {
    g_autoptr (WatchCameraConfig) present = watch_camera_get_config (old);

    is_new = !watch_camera_config_equal (present, config);
    if (is_new && watch_camera_can_change (old) && watch_live_keys_differ_alone (present, config)) {
      watch_camera_change (old, watch_camera_config_ref (config));
      is_new = FALSE;
    }
    watch_camera_set_arming (old, watch_changes_get_arming (watch->changes, config->name));
  }
  if (is_new) {
    g_autoptr (WatchCamera) camera = new_camera (watch, config);

    g_mutex_lock (&watch->lock);
    clear_stopped (watch);
    replace_camera (watch, old, camera);
    g_mutex_unlock (&watch->lock);
    if (!watch->is_stopping)
      watch_camera_start (camera);
  }
  watch_camera_config_unref (config);
}

static void
remove_camera (Watch *watch, WatchCamera *camera)
{
  watch_camera_set_removed (camera);
  g_mutex_lock (&watch->lock);
  clear_stopped (watch);
  replace_camera (watch, camera, NULL);
  g_mutex_unlock (&watch->lock);
  g_idle_add (call_all_ended, watch);
}

/* Whether there may be a camera of that name: there is one, or one more may be added. */
static gboolean
check_number (Watch *watch, const gchar *name, GError **error)
{
  g_autoptr (GPtrArray) cameras = watch_get_cameras (watch);

  return find_camera (cameras, name) || watch_limits_check_cameras (cameras->len + 1, error);
}

WatchNote *
watch_note_change (Watch *watch, const gchar *name, WatchCameraConfig *config, GError **error)
{
  if (config && !check_number (watch, name, error))
    return NULL;
  return watch_changes_note (watch->changes, name, config);
}

/* Whether the camera has shown a region or line of this name, or has a schedule for one. */
static gboolean
has_region (WatchCamera *camera, const gchar *region)
{
  g_autoptr (GArray) list = watch_camera_get_arming (camera);
  gboolean has = g_hash_table_contains (camera_config (camera)->region_schedules, region);

  for (guint i = 1; i < list->len && !has; i++)
    has = strcmp (g_array_index (list, WatchArmingStatus, i).region, region) == 0;
  return has;
}

WatchNote *
watch_note_arming (
    Watch *watch, const gchar *name, const gchar *region, const gchar *command, GError **error)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (watch, name);
  WatchNote *note = NULL;

  if (!camera)
    watch_fail (error, "there is no camera \"%s\"", name);
  else if (region && !has_region (camera, region))
    watch_fail (error, "camera %s: there is no region or line \"%s\"", name, region);
  else
    note = watch_changes_note_arming (watch->changes, name, region, command, error);
  return note;
}

gboolean
watch_make_change (Watch *watch, WatchNote *note, GError **error)
{
  g_autoptr (WatchCamera) camera = watch_find_camera (watch, note->name);
  gboolean is_made = watch_changes_take (watch->changes, note, error);

  if (is_made && note->camera)
    set_camera (watch, watch_camera_config_ref (note->camera));
  else if (is_made && camera && note->is_arming)
    watch_camera_set_arming (camera, watch_changes_get_arming (watch->changes, note->name));
  else if (is_made && camera)
    remove_camera (watch, camera);
  return is_made;
}

/* Threads of the camera that were replaced and have not ended. */
static guint
count_stuck (Watch *watch, const gchar *name)
{
  guint n = 0;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&watch->lock);

  clear_stopped (watch);
  for (guint i = 0; i < watch->stopping->len; i++)
    n += strcmp (watch_camera_get_name (g_ptr_array_index (watch->stopping, i)), name) == 0;
  return n;
}

/* A camera whose thread is stuck, for instance in a driver or on a disk, is replaced; its thread is
 * left alone. */
static void
replace_stuck (Watch *watch, WatchCamera *camera)
{
  const gchar *name = watch_camera_get_name (camera);
  WatchCamera *next;

  if (count_stuck (watch, name) >= MAX_STUCK)
    return;
  watch_log_error ("camera %s: its thread is stuck; a new one is started", name);
  next = new_camera (watch, (WatchCameraConfig *)camera_config (camera));
  g_mutex_lock (&watch->lock);
  replace_camera (watch, camera, next);
  g_mutex_unlock (&watch->lock);
  watch_camera_abandon (camera);
  watch_camera_start (next);
  watch_camera_unref (next);
}

/* Writes the last line of each camera that was removed, and not given another configuration. */
static void
report_removed (Watch *watch)
{
  g_autoptr (GPtrArray) removed = NULL;

  g_mutex_lock (&watch->lock);
  clear_stopped (watch);
  removed = watch->removed;
  watch->removed = new_cameras ();
  for (guint i = removed->len; i-- > 0;) {
    const gchar *name = watch_camera_get_name (g_ptr_array_index (removed, i));

    if (find_camera (watch->cameras, name) || find_camera (watch->stopping, name))
      g_ptr_array_remove_index (removed, i);
  }
  g_mutex_unlock (&watch->lock);
  for (guint i = 0; i < removed->len; i++)
    watch_camera_emit_removed (g_ptr_array_index (removed, i));
}

void
watch_start_again (Watch *watch)
{
  g_autoptr (GPtrArray) cameras = watch_get_cameras (watch);

  for (guint i = 0; i < cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (cameras, i);

    watch_camera_start (camera);
    if (watch_camera_check_thread (camera))
      replace_stuck (watch, camera);
  }
  report_removed (watch);
}

/* The folder of pictures and clips. */

WatchFolder *
watch_get_folder (Watch *watch)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&watch->lock);

  return watch->folder ? watch_folder_ref (watch->folder) : NULL;
}

/* Takes the reference to another folder, or NULL. The former one ends when its disk answers. */
static void
replace_folder (Watch *watch, WatchFolder *next)
{
  WatchFolder *old;

  g_mutex_lock (&watch->lock);
  old = watch->folder;
  watch->folder = next;
  g_mutex_unlock (&watch->lock);
  if (old) {
    watch_folder_stop (old, 0);
    watch_folder_unref (old);
  }
}

/* Takes the folder of the configuration, which may be the same as before. */
static void
set_folder (Watch *watch, const WatchConfig *config)
{
  const gchar *path = watch->folder ? watch_folder_get_path (watch->folder) : NULL;

  if (g_strcmp0 (path, config->folder) != 0)
    replace_folder (watch,
        config->folder ? watch_folder_new (config->folder, config->keep_days, config->keep_bytes)
                       : NULL);
  else if (watch->folder)
    watch_folder_set_limits (watch->folder, config->keep_days, config->keep_bytes);
}

/* The supervisor. */

/* Hosts that the configuration names may be local. */
static void
set_trusted_hosts (const WatchConfig *config)
{
  watch_guard_set_trusted (
      config->web_rules->allows_local ? NULL : g_ptr_array_ref (config->hosts));
}

gchar *
watch_get_changes (Watch *watch)
{
  return watch_changes_to_text (watch->changes);
}

WatchCameraConfig *
watch_get_configured (Watch *watch, const gchar *name)
{
  return watch_changes_get_configured (watch->changes, name);
}

Watch *
watch_new (WatchConfig *config, WatchChanges *changes, GError **error)
{
  Watch *watch = g_new0 (Watch, 1);
  GPtrArray *outputs;

  g_mutex_init (&watch->lock);
  g_mutex_init (&watch->hub.lock);
  watch->hub.contexts = g_ptr_array_new_with_free_func ((GDestroyNotify)gst_context_unref);
  g_rw_lock_init (&watch->hub.observers_lock);
  watch->hub.line = on_line;
  watch->hub.ended = on_ended;
  watch->hub.data = watch;
  watch->hub.observers = g_ptr_array_new ();
  watch->hub.labeller = "ccl";
  watch->cameras = new_cameras ();
  watch->stopping = new_cameras ();
  watch->removed = new_cameras ();
  watch->outputs = watch_outputs_new ();
  watch->last_lines = watch_last_lines_new ();
  watch->retired = watch_outputs_new ();
  watch->ended = g_hash_table_new_full (NULL, NULL, (GDestroyNotify)watch_camera_unref, NULL);
  watch->changes = changes;
  outputs = watch_outputs_make (watch, config, error);
  if (!outputs) {
    watch_config_free (config);
    watch_free (watch);
    return NULL;
  }
  g_ptr_array_unref (watch->outputs);
  watch->outputs = outputs;
  watch->config = config;
  set_folder (watch, config);
  set_trusted_hosts (config);
  return watch;
}

void
watch_add_observer (Watch *watch, const WatchObserver *observer)
{
  g_rw_lock_writer_lock (&watch->hub.observers_lock);
  g_ptr_array_add (watch->hub.observers, (gpointer)observer);
  g_rw_lock_writer_unlock (&watch->hub.observers_lock);
}

void
watch_foreach_observer (Watch *watch, GFunc function, gpointer data)
{
  g_rw_lock_reader_lock (&watch->hub.observers_lock);
  g_ptr_array_foreach (watch->hub.observers, function, data);
  g_rw_lock_reader_unlock (&watch->hub.observers_lock);
}

gboolean
watch_has_busy_observer (Watch *watch)
{
  gboolean is_busy = FALSE;

  g_rw_lock_reader_lock (&watch->hub.observers_lock);
  for (guint i = 0; i < watch->hub.observers->len; i++) {
    const WatchObserver *observer = g_ptr_array_index (watch->hub.observers, i);

    is_busy = is_busy || (observer->is_busy && observer->is_busy (observer->data));
  }
  g_rw_lock_reader_unlock (&watch->hub.observers_lock);
  return is_busy;
}

void
watch_set_labeller (Watch *watch, const gchar *labeller, gint gpu)
{
  watch->hub.labeller = labeller;
  watch->hub.gpu = gpu;
}

void
watch_set_all_ended (Watch *watch, void (*all_ended) (gpointer data), gpointer data)
{
  watch->all_ended = all_ended;
  watch->data = data;
}

const WatchConfig *
watch_get_config (Watch *watch)
{
  return watch->config;
}

void
watch_start (Watch *watch)
{
  for (guint i = 0; i < watch->config->cameras->len; i++)
    set_camera (watch, watch_camera_config_ref (g_ptr_array_index (watch->config->cameras, i)));
}

gboolean
watch_reload (Watch *watch, WatchConfig *config, WatchChanges *changes, GError **error)
{
  GPtrArray *outputs = watch_outputs_make (watch, config, error);
  g_autoptr (GPtrArray) cameras = watch_get_cameras (watch);
  g_autoptr (GHashTable) names = watch_config_get_camera_names (config);
  WatchConfig *old = watch->config;

  if (!outputs) {
    watch_changes_free (changes);
    watch_config_free (config);
    return FALSE;
  }
  watch_outputs_replace (watch, outputs);
  set_folder (watch, config);
  watch->config = config;
  watch_changes_free (watch->changes);
  watch->changes = changes;
  set_trusted_hosts (config);
  for (guint i = 0; i < cameras->len; i++)
    if (!g_hash_table_contains (names, watch_camera_get_name (g_ptr_array_index (cameras, i))))
      remove_camera (watch, g_ptr_array_index (cameras, i));
  watch_start (watch);
  watch_config_free (old);
  return TRUE;
}

gboolean
watch_is_healthy (Watch *watch)
{
  return !watch->is_stopping && !watch_has_closed_output (watch);
}

gboolean
watch_has_failed (Watch *watch)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&watch->lock);

  return watch->failed;
}

/* Whether all threads of cameras ended. */
static gboolean
stop_cameras (Watch *watch, gint64 until)
{
  gboolean all_stopped = TRUE;

  g_mutex_lock (&watch->lock);
  watch->is_stopping = TRUE;
  while (watch->cameras->len > 0)
    replace_camera (watch, g_ptr_array_index (watch->cameras, 0), NULL);
  g_mutex_unlock (&watch->lock);
  for (guint i = 0; i < watch->stopping->len; i++) {
    WatchCamera *camera = g_ptr_array_index (watch->stopping, i);

    if (watch_camera_wait (camera, until))
      continue;
    watch_log_warning ("camera %s: its pipeline does not stop", watch_camera_get_name (camera));
    all_stopped = FALSE;
  }
  return all_stopped;
}

gboolean
watch_stop (Watch *watch, gdouble seconds)
{
  gint64 start = g_get_monotonic_time ();
  gint64 until = start + (gint64)(seconds * G_TIME_SPAN_SECOND);
  gboolean all_stopped;

  if (watch->folder)
    watch_folder_stop (watch->folder, 0);
  all_stopped = stop_cameras (watch, (start + until) / 2);
  g_rw_lock_writer_lock (&watch->hub.observers_lock);
  g_ptr_array_set_size (watch->hub.observers, 0);
  g_rw_lock_writer_unlock (&watch->hub.observers_lock);
  all_stopped = watch_outputs_stop (watch->outputs, until) && all_stopped;
  all_stopped = watch_outputs_stop (watch->retired, until) && all_stopped;
  return (!watch->folder || watch_folder_stop (watch->folder, until)) && all_stopped;
}

void
watch_free (Watch *watch)
{
  g_ptr_array_unref (watch->cameras);
  g_ptr_array_unref (watch->stopping);
  g_ptr_array_unref (watch->removed);
  g_ptr_array_unref (watch->outputs);
  g_hash_table_unref (watch->last_lines);
  g_ptr_array_unref (watch->retired);
  g_clear_pointer (&watch->folder, watch_folder_unref);
  g_hash_table_unref (watch->ended);
  g_ptr_array_unref (watch->hub.observers);
  g_ptr_array_unref (watch->hub.contexts);
  g_clear_pointer (&watch->config, watch_config_free);
  watch_changes_free (watch->changes);
  g_mutex_clear (&watch->hub.lock);
  g_rw_lock_clear (&watch->hub.observers_lock);
  g_mutex_clear (&watch->lock);
  g_free (watch);
}
