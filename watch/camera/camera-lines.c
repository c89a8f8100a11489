/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of a camera, and the events that some of them report. */
#include <string.h>

#include "camera-state.h"
#include "watch/output/line-queue.h"
#include "watch/output/scene-change.h"
#include "watch/system/json.h"
#include "watch/system/log.h"

/* A line with the members that all lines begin with. */
static JsonBuilder *
begin_line (WatchCamera *camera, WatchUtc utc, const gchar *kind)
{
  JsonBuilder *builder = watch_json_begin ();
  g_autofree gchar *time = gst_ccl_utc_format (utc.time);

  watch_json_add_text (builder, "source", camera->name);
  watch_json_add_text (builder, "utc", time);
  watch_json_add_text (builder, "utc_from", utc.from_sender ? "sender" : "arrival");
  watch_json_add_text (builder, "event", kind);
  return builder;
}

/* Lines of a file wait for room in the outputs, but not those that another thread writes because
 * the camera's own one is stuck. */
static void
push_line (WatchCamera *camera, const gchar *text, gsize length)
{
  const gboolean may_wait = !camera->is_live && !g_atomic_int_get (&camera->atomic.is_stuck);
  const gboolean is_own_thread = g_thread_self () == g_atomic_pointer_get (&camera->atomic.thread);

  g_atomic_int_inc (&camera->atomic.pushing);
  if (may_wait && is_own_thread)
    watch_heartbeat_rest (camera->heartbeat);
  camera->hub->line (
      camera->hub->data, camera, text, length, may_wait ? &camera->atomic.cancelled : NULL);
  if (may_wait && is_own_thread)
    watch_heartbeat_beat (camera->heartbeat);
  g_atomic_int_add (&camera->atomic.pushing, -1);
}

static void
notify_event (WatchCamera *camera, const WatchEvent *event)
{
  CALL_OBSERVERS (camera, event, event);
}

/* Takes the builder, and returns the line without the newline; free with g_free(). */
static gchar *
emit_line (WatchCamera *camera, JsonBuilder *builder)
{
  gchar *text = watch_json_end (builder);
  g_autofree gchar *line = g_strconcat (text, "\n", NULL);

  push_line (camera, line, strlen (line));
  return text;
}

/* Takes the builder. */
static void
emit_event (WatchCamera *camera, JsonBuilder *builder, WatchEvent *event)
{
  g_autofree gchar *text = emit_line (camera, builder);

  event->camera = camera->name;
  event->line = text;
  notify_event (camera, event);
}

void
watch_camera_emit_removed (WatchCamera *camera)
{
  WatchUtc now = {g_get_real_time (), FALSE};

  g_free (emit_line (camera, begin_line (camera, now, "removed")));
}

void
watch_camera_set_state (WatchCamera *camera, WatchState state, const gchar *detail)
{
  WatchEvent event = {.kind = "state", .running_time = GST_CLOCK_TIME_NONE};
  WatchUtc now = {g_get_real_time (), FALSE};
  g_autofree gchar *clean = detail ? watch_redact (detail) : NULL;
  JsonBuilder *builder;
  gint width, height;

  if (g_thread_self () == g_atomic_pointer_get (&camera->atomic.thread))
    watch_camera_note_alive (camera);
  g_mutex_lock (&camera->lock);
  if ((camera->locked.status.state == state &&
          g_strcmp0 (camera->locked.status.detail, clean) == 0) ||
      (g_atomic_int_get (&camera->atomic.is_stuck) && state != WATCH_STATE_STUCK)) {
    g_mutex_unlock (&camera->lock);
    return;
  }
  camera->locked.status.state = state;
  camera->locked.status.since = event.utc = now.time;
  g_free (camera->locked.status.detail);
  camera->locked.status.detail = g_strdup (clean);
  width = camera->locked.status.width;
  height = camera->locked.status.height;
  g_mutex_unlock (&camera->lock);

  if (state == WATCH_STATE_PLAYING || state == WATCH_STATE_ENDED || state == WATCH_STATE_CONNECTING)
    watch_log_info ("camera %s: %s", camera->name, watch_state_name (state));
  else
    watch_log_warning ("camera %s: %s%s%s", camera->name, watch_state_name (state),
        clean ? ": " : "", clean ? clean : "");
  builder = begin_line (camera, now, "state");
  watch_json_add_text (builder, "state", watch_state_name (state));
  if (clean)
    watch_json_add_text (builder, "detail", clean);
  if (width > 0 && (state == WATCH_STATE_PLAYING || state == WATCH_STATE_RESIZED)) {
    watch_json_add_int (builder, "width", width);
    watch_json_add_int (builder, "height", height);
  }
  emit_event (camera, builder, &event);
}

/* Begins the line of an event of the frame on its way, which the event keeps; it may be NULL. */
static JsonBuilder *
begin_frame_line (WatchCamera *camera, const gchar *kind, GstSample *frame, WatchEvent *event)
{
  const GstClockTime running_time = camera->delivery.running_time;
  JsonBuilder *builder = begin_line (camera, camera->delivery.utc, kind);

  *event = (WatchEvent){
      .kind = kind, .utc = camera->delivery.utc.time, .running_time = running_time, .frame = frame};
  if (GST_CLOCK_TIME_IS_VALID (running_time))
    watch_json_add_int (builder, "running_time", (gint64)running_time);
  else
    watch_json_add_text (builder, "running_time", NULL);
  return builder;
}

void
watch_camera_emit_motion (
    WatchCamera *camera, gboolean begins, guint n_components, GstSample *frame)
{
  WatchEvent event;
  JsonBuilder *builder =
      begin_frame_line (camera, begins ? "motion-begin" : "motion-end", frame, &event);

  g_mutex_lock (&camera->lock);
  camera->locked.status.motion = begins;
  g_mutex_unlock (&camera->lock);
  watch_json_add_int (builder, "count", n_components);
  emit_event (camera, builder, &event);
}

static void
add_arming (JsonBuilder *builder, const WatchArmingStatus *status, WatchFormatTime format)
{
  watch_json_add_boolean (builder, "armed", status->is_on);
  watch_json_add_text (builder, "arming", watch_arming_mode_name (status->mode));
  if (status->paused_until) {
    g_autofree gchar *until = format (status->paused_until);

    watch_json_add_text (builder, "paused_until", until);
  }
}

void
watch_camera_add_arming (JsonBuilder *builder, const GArray *list, WatchFormatTime format)
{
  add_arming (builder, &g_array_index (list, WatchArmingStatus, 0), format);
  watch_json_begin_array (builder, "regions");
  for (guint i = 1; i < list->len; i++) {
    const WatchArmingStatus *status = &g_array_index (list, WatchArmingStatus, i);

    json_builder_begin_object (builder);
    watch_json_add_text (builder, "name", status->region);
    add_arming (builder, status, format);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static gchar *
format_armings (const GArray *list)
{
  JsonBuilder *builder = watch_json_begin ();

  watch_camera_add_arming (builder, list, gst_ccl_utc_format);
  return watch_json_end (builder);
}

/* For a camera without regions that is always armed, there is no line until that changes. */
void
watch_camera_emit_arming (WatchCamera *camera)
{
  static const gchar usual[] = "{\"armed\":true,\"arming\":\"schedule\",\"regions\":[]}";
  WatchEvent event = {.kind = "arming", .running_time = GST_CLOCK_TIME_NONE};
  WatchUtc now = {g_get_real_time (), FALSE};
  const gchar *reported = camera->connection.reported_arming;
  g_autoptr (GArray) list = watch_camera_get_arming (camera);
  g_autofree gchar *text = format_armings (list);
  JsonBuilder *builder;

  if (strcmp (text, reported ? reported : usual) != 0) {
    g_free (camera->connection.reported_arming);
    camera->connection.reported_arming = g_steal_pointer (&text);
    event.utc = now.time;
    builder = begin_line (camera, now, event.kind);
    watch_camera_add_arming (builder, list, gst_ccl_utc_format);
    emit_event (camera, builder, &event);
  }
}

void
watch_camera_scene_change (WatchCamera *camera, const GstStructure *change)
{
  g_clear_pointer (&camera->delivery.scene_change, gst_structure_free);
  camera->delivery.scene_change = gst_structure_copy (change);
}

static void
add_pixels (JsonBuilder *builder, const GstStructure *change, const gchar *key)
{
  gint pixels;

  if (gst_structure_get_int (change, key, &pixels))
    watch_json_add_int (builder, key, pixels);
}

gboolean
watch_camera_emit_scene_change (WatchCamera *camera, GstSample *frame)
{
  g_autoptr (GstStructure) change = g_steal_pointer (&camera->delivery.scene_change);
  WatchEvent event;
  const gchar *kind;
  JsonBuilder *builder;

  if (!change)
    return FALSE;
  kind = gst_structure_get_string (change, "kind");
  builder = begin_frame_line (camera, "scene-change", frame, &event);
  g_mutex_lock (&camera->lock);
  camera->locked.status.scene = watch_scene_after (kind);
  g_mutex_unlock (&camera->lock);
  watch_json_add_text (builder, "kind", kind ? kind : "");
  add_pixels (builder, change, "dx");
  add_pixels (builder, change, "dy");
  emit_event (camera, builder, &event);
  return TRUE;
}

/* The region or line of an event of ccltrack; NULL if it is of none. Free with g_free(). */
static gchar *
region_of_line (const gchar *line)
{
  g_autoptr (JsonNode) root = json_from_string (line, NULL);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const gchar *name =
      object ? json_object_get_string_member_with_default (object, "region", NULL) : NULL;

  if (object && !name)
    name = json_object_get_string_member_with_default (object, "line", NULL);
  return g_strdup (name);
}

static gboolean
is_muted (WatchCamera *camera, const gchar *line)
{
  g_autoptr (WatchArmed) armed = watch_camera_get_armed (camera);
  g_autofree gchar *region = armed->disarmed ? region_of_line (line) : NULL;

  return !watch_armed_has_region (armed, region);
}

void
watch_camera_line (WatchCamera *camera, const gchar *text, gsize length, gboolean is_frame,
    GstClockTime running_time)
{
  if (!is_frame) {
    g_autofree gchar *line =
        g_strndup (text, length > 0 ? length - 1 : 0); /* without the newline */
    g_autofree gchar *kind = watch_line_get_kind (line);
    WatchEvent event = {
        .kind = kind,
        .camera = camera->name,
        .utc = camera->delivery.utc.time,
        .running_time = running_time,
        .line = line,
        .is_muted = is_muted (camera, line),
    };

    if (!event.is_muted)
      push_line (camera, text, length);
    notify_event (camera, &event);
    return;
  }
  if (camera_config (camera)->results != WATCH_RESULTS_EVENTS)
    push_line (camera, text, length);
  watch_camera_count_latency (camera);
}
