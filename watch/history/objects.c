/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "objects.h"

#include <gst/ccl/ccl.h>
#include <string.h>

#include "watch/system/json.h"

/* Microseconds between the best view of an object and the end of a later one, at most. */
#define MAX_PICTURE_AGE (600 * G_USEC_PER_SEC)

/* Of a camera that plays. */
typedef struct {
  GHashTable *present; /* id → WatchObject that has not ended */
  gint64 motion;       /* when the present motion began; 0: there is none */
} Scene;

struct _WatchObjects {
  Watch *watch;
  WatchObserver observer;
  GMutex lock;
  GHashTable *scenes; /* WatchCamera → Scene */
  GQueue ended;       /* WatchObject, the newest first */
  GHashTable *counts; /* name of a camera → how many of them are its own */
  guint64 last;       /* number of the last one */
};

WatchObject *
watch_object_new (const gchar *camera)
{
  WatchObject *object = g_atomic_rc_box_new0 (WatchObject);

  object->camera = g_strdup (camera);
  object->places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  object->speed = -1;
  object->step = 1;
  return object;
}

static void
clear_object (WatchObject *object)
{
  g_free (object->camera);
  g_hash_table_unref (object->places);
}

void
watch_object_unref (WatchObject *object)
{
  g_atomic_rc_box_release_full (object, (GDestroyNotify)clear_object);
}

static void
scene_free (gpointer data)
{
  g_hash_table_unref (((Scene *)data)->present);
  g_free (data);
}

/* With the lock. */
static Scene *
get_scene (WatchObjects *self, WatchCamera *camera)
{
  Scene *scene = g_hash_table_lookup (self->scenes, camera);

  if (!scene) {
    scene = g_new0 (Scene, 1);
    scene->present = g_hash_table_new_full (
        g_int64_hash, g_int64_equal, NULL, (GDestroyNotify)watch_object_unref);
    g_hash_table_insert (self->scenes, camera, scene);
  }
  return scene;
}

/* When the path is full, every second point is removed, and from then on half as many are added. */
static void
add_point (WatchObject *object, gfloat x, gfloat y)
{
  if (object->n_frames++ % object->step != 0)
    return;
  if (object->n_points == WATCH_OBJECT_POINTS) {
    for (guint i = 0; i < WATCH_OBJECT_POINTS / 2; i++)
      memcpy (object->path[i], object->path[2 * i], sizeof object->path[i]);
    object->n_points = WATCH_OBJECT_POINTS / 2;
    object->step *= 2;
  }
  object->path[object->n_points][0] = x;
  object->path[object->n_points++][1] = y;
}

static void
take_row (WatchObject *object, const GstCclMeta *meta, guint row, gint64 utc)
{
  const GstCclComponent *box = gst_ccl_meta_get_component (meta, row);
  const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
  gdouble speed, deviation;

  object->end = utc;
  add_point (object, 100 * (box->x + box->width / 2.f) / gst_ccl_meta_get_frame_width (meta),
      100.f * (box->y + box->height) / gst_ccl_meta_get_frame_height (meta));
  /* Uncertain speeds are left out, because their errors would decide the maximum. */
  if (gst_ccl_track_info_get_speed (track, &speed, &deviation) && deviation < speed / 2)
    object->speed = MAX (object->speed, speed);
}

static void
on_frame (
    gpointer data, WatchCamera *camera, GstBuffer *buffer, GstCaps *caps, GstClockTime running_time)
{
  WatchObjects *self = data;
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  gboolean from_sender;
  const gint64 utc = gst_ccl_utc_of_buffer (buffer, &from_sender);
  Scene *scene;

  if (!meta)
    return;
  g_mutex_lock (&self->lock);
  scene = get_scene (self, camera);
  for (guint row = 0; row < gst_ccl_meta_get_n_rows (meta); row++) {
    const GstCclTrackInfo *track = gst_ccl_meta_get_track (meta, row);
    WatchObject *object = track ? g_hash_table_lookup (scene->present, &track->id) : NULL;

    if (object)
      take_row (object, meta, row, utc);
  }
  g_mutex_unlock (&self->lock);
}

/* With the lock. */
static void
count (WatchObjects *self, const WatchObject *object, gint change)
{
  const gint n = GPOINTER_TO_INT (g_hash_table_lookup (self->counts, object->camera)) + change;

  if (n > 0)
    g_hash_table_insert (self->counts, g_strdup (object->camera), GINT_TO_POINTER (n));
  else
    g_hash_table_remove (self->counts, object->camera);
}

/* With the lock. */
static void
forget_link (WatchObjects *self, GList *link)
{
  WatchObject *object = link->data;

  count (self, object, -1);
  watch_object_unref (object);
  g_queue_delete_link (&self->ended, link);
}

/* With the lock: the camera that has the most objects. */
static const gchar *
find_busiest (WatchObjects *self)
{
  GHashTableIter iter;
  gpointer camera, n, busiest = NULL;
  gint most = 0;

  g_hash_table_iter_init (&iter, self->counts);
  while (g_hash_table_iter_next (&iter, &camera, &n))
    if (GPOINTER_TO_INT (n) > most) {
      most = GPOINTER_TO_INT (n);
      busiest = camera;
    }
  return busiest;
}

/* With the lock: of too many, the oldest one of the camera with the most goes, so that a street
 * does not drive out those of a door. */
static void
forget_surplus (WatchObjects *self)
{
  while (g_queue_get_length (&self->ended) > WATCH_OBJECTS) {
    const gchar *camera = find_busiest (self);
    GList *l = self->ended.tail;

    while (!g_str_equal (((WatchObject *)l->data)->camera, camera))
      l = l->prev;
    forget_link (self, l);
  }
}

/* With the lock: takes a reference to an object that has ended. */
static void
keep (WatchObjects *self, WatchObject *object)
{
  object->number = ++self->last;
  g_queue_push_head (&self->ended, object);
  count (self, object, 1);
  forget_surplus (self);
}

static void
begin_object (Scene *scene, WatchCamera *camera, guint64 id, gint64 utc)
{
  WatchObject *object = watch_object_new (watch_camera_get_name (camera));

  object->id = id;
  object->begin = object->end = utc;
  object->motion = scene->motion;
  g_hash_table_replace (scene->present, &object->id, object);
}

static void
begin_motion (Scene *scene, gint64 utc)
{
  GHashTableIter iter;
  gpointer object;

  scene->motion = utc;
  g_hash_table_iter_init (&iter, scene->present);
  while (g_hash_table_iter_next (&iter, NULL, &object))
    if (((WatchObject *)object)->motion == 0)
      ((WatchObject *)object)->motion = utc;
}

/* An event of a track. */
static void
take_event (WatchObjects *self, Scene *scene, WatchCamera *camera, const WatchEvent *event)
{
  g_autoptr (JsonNode) root = json_from_string (event->line, NULL);
  JsonObject *line = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const guint64 id = line ? json_object_get_int_member_with_default (line, "id", 0) : 0;
  const gchar *place =
      line ? json_object_get_string_member_with_default (line, "region", NULL) : NULL;
  WatchObject *object = g_hash_table_lookup (scene->present, &id);

  if (line && !place)
    place = json_object_get_string_member_with_default (line, "line", NULL);
  if (!object && id && !event->is_muted && g_str_equal (event->kind, "appeared"))
    begin_object (scene, camera, id, event->utc);
  else if (object && place && !event->is_muted)
    g_hash_table_add (object->places, g_strdup (place));
  else if (object && g_str_equal (event->kind, "vanished")) {
    g_hash_table_steal (scene->present, &id);
    keep (self, object);
  }
}

/* Events of other kinds may come after the camera has stopped, when there is no Scene of it any
 * more. */
static gboolean
is_of_frames (const WatchEvent *event)
{
  static const gchar *const others[] = {"state", "arming", "scene-change", NULL};

  return !g_strv_contains (others, event->kind);
}

static void
on_event (gpointer data, WatchCamera *camera, const WatchEvent *event)
{
  WatchObjects *self = data;
  Scene *scene;

  if (!is_of_frames (event))
    return;
  g_mutex_lock (&self->lock);
  scene = get_scene (self, camera);
  if (watch_camera_is_removed (camera))
    g_hash_table_remove (self->scenes, camera);
  else if (g_str_equal (event->kind, "motion-begin"))
    begin_motion (scene, event->utc);
  else if (g_str_equal (event->kind, "motion-end"))
    scene->motion = 0;
  else
    take_event (self, scene, camera, event);
  g_mutex_unlock (&self->lock);
}

/* Of a track that is vanishing, or has just vanished. */
static void
on_picture (gpointer data, WatchCamera *camera, guint64 id, gint64 utc, GstBuffer *jpeg)
{
  WatchObjects *self = data;
  const gchar *name = watch_camera_get_name (camera);
  WatchObject *object;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);
  Scene *scene = g_hash_table_lookup (self->scenes, camera);

  object = scene ? g_hash_table_lookup (scene->present, &id) : NULL;
  for (GList *l = self->ended.head; l && !object; l = l->next) {
    WatchObject *ended = l->data;

    if (ended->begin > utc + MAX_PICTURE_AGE || ended->end < utc - MAX_PICTURE_AGE)
      break;
    if (ended->id == id && g_str_equal (ended->camera, name))
      object = ended;
  }
  if (object)
    object->best = utc;
}

/* Tracks end with their stream. */
static void
on_stopped (gpointer data, WatchCamera *camera)
{
  WatchObjects *self = data;
  GHashTableIter iter;
  gpointer object;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);

  if (!watch_camera_is_removed (camera)) {
    g_hash_table_iter_init (&iter, get_scene (self, camera)->present);
    while (g_hash_table_iter_next (&iter, NULL, &object)) {
      g_hash_table_iter_steal (&iter);
      keep (self, object);
    }
  }
  g_hash_table_remove (self->scenes, camera);
}

WatchObjects *
watch_objects_new (Watch *watch)
{
  WatchObjects *self = g_new0 (WatchObjects, 1);

  self->watch = watch;
  g_mutex_init (&self->lock);
  g_queue_init (&self->ended);
  self->counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->last = g_get_real_time () / 1000; /* exceeds those of former runs */
  self->scenes = g_hash_table_new_full (NULL, NULL, NULL, scene_free);
  self->observer = (WatchObserver){.event = on_event,
      .frame = on_frame,
      .picture = on_picture,
      .stopped = on_stopped,
      .data = self};
  watch_add_observer (watch, &self->observer);
  return self;
}

void
watch_objects_free (WatchObjects *self)
{
  g_hash_table_unref (self->scenes);
  g_queue_clear_full (&self->ended, (GDestroyNotify)watch_object_unref);
  g_hash_table_unref (self->counts);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* Those of the camera, or of any one (NULL), that ended before the time. */
static void
forget (WatchObjects *self, const gchar *camera, gint64 utc)
{
  g_mutex_lock (&self->lock);
  for (GList *l = self->ended.head, *next; l; l = next) {
    WatchObject *object = l->data;

    next = l->next;
    if ((camera && !g_str_equal (object->camera, camera)) || object->end >= utc)
      continue;
    forget_link (self, l);
  }
  g_mutex_unlock (&self->lock);
}

void
watch_objects_forget (WatchObjects *self, const gchar *camera)
{
  forget (self, camera, G_MAXINT64);
}

void
watch_objects_forget_old (WatchObjects *self)
{
  g_autoptr (WatchFolder) folder = watch_get_folder (self->watch);
  const gdouble days = folder ? watch_folder_get_keep_days (folder) : 0;

  if (days > 0)
    forget (self, NULL, g_get_real_time () - (gint64)(MIN (days, 1e6) * 86400 * G_USEC_PER_SEC));
}

static gboolean
matches (const WatchObject *object, const WatchObjectQuery *query)
{
  return (!query->camera || g_str_equal (query->camera, object->camera)) &&
         (!query->place || g_hash_table_contains (object->places, query->place)) &&
         (query->from == 0 || object->end >= query->from) &&
         (query->to == 0 || object->begin <= query->to);
}

GPtrArray *
watch_objects_find (WatchObjects *self, const WatchObjectQuery *query)
{
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify)watch_object_unref);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);

  for (GList *l = self->ended.head; l && found->len < query->limit; l = l->next) {
    if (((WatchObject *)l->data)->number <= query->after)
      break;
    if (matches (l->data, query))
      g_ptr_array_add (found, g_atomic_rc_box_acquire (l->data));
  }
  return found;
}

guint
watch_objects_count (WatchObjects *self)
{
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&self->lock);

  return g_queue_get_length (&self->ended);
}

guint64
watch_objects_add_past (WatchObjects *self, GPtrArray *objects)
{
  guint64 first;

  g_mutex_lock (&self->lock);
  first = self->last - g_queue_get_length (&self->ended);
  for (guint i = objects->len; i-- > 0;) {
    WatchObject *object = objects->pdata[i];

    /* The clock may have been set back. */
    object->number = MIN (object->number, first - (objects->len - 1 - i));
    g_queue_push_tail (&self->ended, object);
    count (self, object, 1);
  }
  forget_surplus (self);
  g_mutex_unlock (&self->lock);
  g_ptr_array_unref (objects);
  return first;
}

static void
add_time (JsonBuilder *builder, const gchar *name, gint64 utc)
{
  g_autofree gchar *text = gst_ccl_utc_format (utc);

  watch_json_add_text (builder, name, text);
}

static void
append_path (GString *text, const WatchObject *object)
{
  g_string_append (text, ",\"path\":[");
  for (guint i = 0; i < object->n_points; i++) {
    g_string_append (text, i > 0 ? ",[" : "[");
    watch_json_append_number (text, "%.1f", object->path[i][0]);
    g_string_append_c (text, ',');
    watch_json_append_number (text, "%.1f", object->path[i][1]);
    g_string_append_c (text, ']');
  }
  g_string_append_c (text, ']');
}

static void
add_places (JsonBuilder *builder, const WatchObject *object)
{
  g_autoptr (GList) names =
      g_list_sort (g_hash_table_get_keys (object->places), (GCompareFunc)strcmp);

  watch_json_begin_array (builder, "regions");
  for (GList *l = names; l; l = l->next)
    json_builder_add_string_value (builder, l->data);
  json_builder_end_array (builder);
}

gchar *
watch_object_to_json (const WatchObject *object)
{
  JsonBuilder *builder = watch_json_begin ();
  g_autofree gchar *members = NULL;
  GString *text;

  watch_json_add_int (builder, "number", object->number);
  watch_json_add_text (builder, "source", object->camera);
  watch_json_add_int (builder, "id", object->id);
  add_time (builder, "begin", object->begin);
  add_time (builder, "end", object->end);
  if (object->motion)
    add_time (builder, "motion", object->motion);
  if (object->best)
    add_time (builder, "best", object->best);
  add_places (builder, object);
  members = watch_json_end (builder);
  text = g_string_new_len (members + 1, strlen (members) - 2);
  if (object->speed >= 0) {
    g_string_append (text, ",\"speed\":");
    watch_json_append_number (text, "%.1f", object->speed);
  }
  append_path (text, object);
  return g_string_free (text, FALSE);
}
