/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "home-assistant.h"

#include <string.h>

#include "scene-change.h"
#include "watch/system/json.h"

#define COUNT_INTERVAL G_TIME_SPAN_SECOND

typedef enum {
  REGION,   /* tracks inside a region */
  FORWARD,  /* crossings of a line */
  BACKWARD, /* the same, in the other direction */
  ARMED,    /* whether a region or line is armed */
} MemberKind;

/* A member of a camera's state that belongs to a region or line. */
typedef struct {
  MemberKind kind;
  gchar *name;  /* of the region or line, as the configuration has it */
  gint64 value; /* a count; or TRUE: it is armed */
} Member;

typedef struct {
  gchar *name;
  gchar *id;      /* unique at the broker: letters, digits and '_' */
  gboolean known; /* whether the receiver has its discovery message */
  gboolean removed;
  gboolean urgent, changed; /* of the state: since it was sent */
  gint64 sent_time;         /* of the state, monotonic; 0 = never */

  gchar *state;
  gboolean connected, motion, is_armed;
  gchar *paused_until; /* UTC; NULL: it is not paused */
  const gchar *scene;  /* watch_scene_after(); a static string */
  gint64 count;        /* of components; -1 = unknown */
  gint64 n_tracks;     /* that appeared and have not vanished */
  GHashTable *members; /* id → Member */
} Camera;

struct _WatchHomeAssistant {
  gchar *prefix, *status_topic, *birth_topic;
  gchar *topic_parent;   /* of the states */
  gchar *command_topic;  /* before the camera's name; NULL: there are no commands */
  gchar *picture_parent; /* of the topics of pictures; NULL: there are none */
  gchar *instance;       /* of this ccl-watch, for ids */
  GHashTable *cameras;   /* name → Camera */
};

static void
member_free (gpointer data)
{
  g_free (((Member *)data)->name);
  g_free (data);
}

static void
camera_free (gpointer data)
{
  Camera *camera = data;

  g_hash_table_unref (camera->members);
  g_free (camera->state);
  g_free (camera->paused_until);
  g_free (camera->name);
  g_free (camera->id);
  g_free (camera);
}

/* Different texts give different ids of letters, digits and '_'. */
static gchar *
make_id (const gchar *first, const gchar *text)
{
  GString *id = g_string_new (first);

  g_string_append_c (id, '_');
  for (const gchar *at = text; *at; at++) {
    if (g_ascii_isalnum (*at))
      g_string_append_c (id, *at);
    else
      g_string_append_printf (id, "_%02x", (guchar)*at);
  }
  return g_string_free (id, FALSE);
}

gchar *
watch_topic_beside (const gchar *topic, const gchar *name)
{
  const gchar *slash = strrchr (topic, '/');

  return g_strdup_printf ("%.*s%s/", slash ? (gint)(slash + 1 - topic) : 0, topic, name);
}

WatchHomeAssistant *
watch_home_assistant_new (const gchar *prefix, const gchar *status_topic,
    const gchar *command_topic, gboolean has_pictures)
{
  WatchHomeAssistant *self = g_new0 (WatchHomeAssistant, 1);
  g_autofree gchar *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, status_topic, -1);

  digest[8] = 0;
  self->prefix = g_strdup (prefix);
  self->status_topic = g_strdup (status_topic);
  self->command_topic = g_strdup (command_topic);
  self->birth_topic = g_strconcat (prefix, "/status", NULL);
  self->topic_parent = watch_topic_beside (status_topic, "state");
  if (has_pictures)
    self->picture_parent = watch_topic_beside (status_topic, "picture");
  self->instance = g_strconcat ("ccl_", digest, NULL);
  self->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, camera_free);
  return self;
}

void
watch_home_assistant_free (WatchHomeAssistant *self)
{
  g_hash_table_unref (self->cameras);
  g_free (self->prefix);
  g_free (self->status_topic);
  g_free (self->birth_topic);
  g_free (self->topic_parent);
  g_free (self->picture_parent);
  g_free (self->command_topic);
  g_free (self->instance);
  g_free (self);
}

const gchar *
watch_home_assistant_get_birth_topic (WatchHomeAssistant *self)
{
  return self->birth_topic;
}

gchar *
watch_home_assistant_get_topic (WatchHomeAssistant *self, const gchar *camera)
{
  return g_strconcat (self->topic_parent, camera, NULL);
}

gchar *
watch_home_assistant_get_picture_topic (WatchHomeAssistant *self, const gchar *camera)
{
  return g_strconcat (self->picture_parent, camera, NULL);
}

/* What lines say. */

static Camera *
get_camera (WatchHomeAssistant *self, const gchar *name)
{
  Camera *camera = g_hash_table_lookup (self->cameras, name);

  if (camera && !camera->removed)
    return camera;
  camera = g_new0 (Camera, 1);
  camera->name = g_strdup (name);
  camera->id = make_id (self->instance, name);
  camera->scene = watch_scene_after (NULL);
  camera->count = -1;
  camera->is_armed = TRUE;
  camera->members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, member_free);
  g_hash_table_replace (self->cameras, camera->name, camera);
  return camera;
}

/* The entities of a region or line are there from the first line that names it. */
static Member *
get_member (Camera *camera, MemberKind kind, const gchar *name)
{
  static const gchar *const kinds[] = {"region", "forward", "backward", "armed"};
  g_autofree gchar *id = make_id (kinds[kind], name);
  Member *member = g_hash_table_lookup (camera->members, id);

  if (!member) {
    member = g_new0 (Member, 1);
    member->kind = kind;
    member->name = g_strdup (name);
    g_hash_table_insert (camera->members, g_steal_pointer (&id), member);
    camera->known = FALSE;
  }
  return member;
}

static void
count (Camera *camera, MemberKind kind, const gchar *name, gint change)
{
  Member *member = get_member (camera, kind, name);

  member->value = MAX (member->value + change, 0);
}

/* Counts begin anew when the camera is armed again: no line told what happened meanwhile. */
static void
clear_counts (Camera *camera)
{
  GHashTableIter iter;
  gpointer value;

  camera->n_tracks = 0;
  g_hash_table_iter_init (&iter, camera->members);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (((Member *)value)->kind == REGION)
      ((Member *)value)->value = 0;
}

static void
take_region (JsonArray *array, guint index, JsonNode *node, gpointer data)
{
  JsonObject *object = json_node_get_object (node);
  const gchar *name = json_object_get_string_member_with_default (object, "name", "");

  get_member (data, ARMED, name)->value =
      json_object_get_boolean_member_with_default (object, "armed", TRUE);
}

static void
take_arming (Camera *camera, JsonObject *line)
{
  const gboolean is_armed = json_object_get_boolean_member_with_default (line, "armed", TRUE);

  if (is_armed != camera->is_armed)
    clear_counts (camera);
  camera->is_armed = is_armed;
  g_free (camera->paused_until);
  camera->paused_until =
      g_strdup (json_object_get_string_member_with_default (line, "paused_until", NULL));
  if (json_object_has_member (line, "regions"))
    json_array_foreach_element (
        json_object_get_array_member (line, "regions"), take_region, camera);
  camera->urgent = TRUE;
}

static void
take_event (Camera *camera, const gchar *kind, JsonObject *line)
{
  const gchar *region = json_object_get_string_member_with_default (line, "region", NULL);
  const gchar *crossed = json_object_get_string_member_with_default (line, "line", NULL);
  const gchar *direction = json_object_get_string_member_with_default (line, "direction", "");

  if (strcmp (kind, "state") == 0) {
    g_free (camera->state);
    camera->state = g_strdup (json_object_get_string_member_with_default (line, "state", ""));
    camera->connected =
        strcmp (camera->state, "playing") == 0 || strcmp (camera->state, "resized") == 0 ||
        strcmp (camera->state, "overloaded") == 0 || strcmp (camera->state, "frozen") == 0;
    camera->urgent = TRUE;
  } else if (g_str_has_prefix (kind, "motion-")) {
    camera->motion = strcmp (kind, "motion-begin") == 0;
    camera->count = json_object_get_int_member_with_default (line, "count", 0);
    camera->urgent = TRUE;
  } else if (strcmp (kind, "scene-change") == 0) {
    camera->scene =
        watch_scene_after (json_object_get_string_member_with_default (line, "kind", NULL));
    camera->urgent = TRUE;
  } else if (strcmp (kind, "arming") == 0) {
    take_arming (camera, line);
  } else if (strcmp (kind, "appeared") == 0) {
    camera->n_tracks++;
  } else if (strcmp (kind, "vanished") == 0) {
    camera->n_tracks = MAX (camera->n_tracks - 1, 0);
  } else if (region && strcmp (kind, "entered") == 0) {
    count (camera, REGION, region, 1);
  } else if (region && strcmp (kind, "left") == 0) {
    count (camera, REGION, region, -1);
  } else if (crossed && strcmp (kind, "crossed") == 0) {
    count (camera, strcmp (direction, "backward") == 0 ? BACKWARD : FORWARD, crossed, 1);
  }
  camera->changed = TRUE;
}

/* Takes the number of components from the line of a frame, by a search, because most lines are
 * those of frames. Quotation marks in the texts of a line have a backslash before them, so that the
 * search finds the member alone. */
static void
take_frame (Camera *camera, const gchar *text)
{
  const gchar *number = strstr (text, ",\"count\":");
  gint64 count;
  gchar *end;

  if (!number)
    return;
  number += strlen (",\"count\":");
  count = g_ascii_strtoll (number, &end, 10);
  if (end == number || count == camera->count)
    return;
  camera->count = count;
  camera->changed = TRUE;
}

void
watch_home_assistant_take_line (WatchHomeAssistant *self, const WatchLine *line)
{
  Camera *camera = get_camera (self, line->camera);
  g_autoptr (JsonNode) root = NULL;

  if (!*line->kind) {
    take_frame (camera, line->text);
  } else if (strcmp (line->kind, "removed") == 0) {
    camera->removed = TRUE;
    camera->known = FALSE;
  } else {
    root = json_from_string (line->text, NULL);
    if (root && JSON_NODE_HOLDS_OBJECT (root))
      take_event (camera, line->kind, json_node_get_object (root));
  }
}

/* Messages. */

static void
add_switch (JsonBuilder *builder, const gchar *key, gboolean is_on)
{
  watch_json_add_text (builder, key, is_on ? "ON" : "OFF");
}

/* A switch to infrared comes with the night. */
static gboolean
is_tampered (const Camera *camera)
{
  return strcmp (camera->scene, WATCH_SCENE_USUAL) != 0 && strcmp (camera->scene, "infrared") != 0;
}

static gchar *
format_state (const Camera *camera)
{
  JsonBuilder *builder = watch_json_begin ();
  GHashTableIter iter;
  gpointer id, value;

  watch_json_add_text (builder, "state", camera->state ? camera->state : "connecting");
  add_switch (builder, "connection", camera->connected);
  add_switch (builder, "motion", camera->motion);
  add_switch (builder, "armed", camera->is_armed);
  watch_json_add_text (builder, "paused_until", camera->paused_until);
  add_switch (builder, "tamper", is_tampered (camera));
  watch_json_add_text (builder, "scene", camera->scene);
  if (camera->count < 0)
    watch_json_add_text (builder, "count", NULL);
  else
    watch_json_add_int (builder, "count", camera->count);
  watch_json_add_int (builder, "tracks", camera->n_tracks);
  g_hash_table_iter_init (&iter, camera->members);
  while (g_hash_table_iter_next (&iter, &id, &value))
    if (((Member *)value)->kind == ARMED)
      add_switch (builder, id, ((Member *)value)->value);
    else
      watch_json_add_int (builder, id, ((Member *)value)->value);
  return watch_json_end (builder);
}

/* Adds a topic, and which member of the objects that it has is meant. */
static void
add_topic (JsonBuilder *builder, const gchar *key, const gchar *topic, const gchar *member)
{
  g_autofree gchar *template = g_strdup_printf ("{{ value_json.%s }}", member);

  watch_json_add_text (builder, key, topic);
  watch_json_add_text (builder, "value_template", template);
}

/* An entity is available while ccl-watch is connected to the broker and, if it needs the camera,
 * the camera is connected, too. */
static void
add_availability (
    WatchHomeAssistant *self, JsonBuilder *builder, const gchar *topic, gboolean needs_camera)
{
  watch_json_begin_array (builder, "availability");
  json_builder_begin_object (builder);
  add_topic (builder, "topic", self->status_topic, "state");
  json_builder_end_object (builder);
  if (needs_camera) {
    json_builder_begin_object (builder);
    add_topic (builder, "topic", topic, "connection");
    watch_json_add_text (builder, "payload_available", "ON");
    watch_json_add_text (builder, "payload_not_available", "OFF");
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  watch_json_add_text (builder, "availability_mode", "all");
}

/* An entity. The id is also the name of the member of the camera's state that it shows. */
typedef struct {
  const gchar *id, *name, *platform;
  const gchar *device_class, *state_class, *icon; /* NULL: none */
  gboolean is_diagnostic;                         /* it is available without the camera, too */
  const gchar *command;     /* of a switch or button: the topic behind the common one */
  const gchar *payload;     /* of a button: its message; a button has no state */
  gboolean is_disabled;     /* until somebody enables it in Home Assistant */
  const gchar *image_topic; /* of a picture, in place of a state */
} Entity;

/* A switch sends "armed" or "disarmed"; the state that it shows is ON or OFF. */
static void
add_command (WatchHomeAssistant *self, JsonBuilder *builder, const Entity *entity)
{
  g_autofree gchar *topic = g_strconcat (self->command_topic, entity->command, NULL);

  watch_json_add_text (builder, "command_topic", topic);
  if (entity->payload) {
    watch_json_add_text (builder, "payload_press", entity->payload);
  } else {
    watch_json_add_text (builder, "payload_on", "armed");
    watch_json_add_text (builder, "payload_off", "disarmed");
    watch_json_add_text (builder, "state_on", "ON");
    watch_json_add_text (builder, "state_off", "OFF");
  }
}

static void
add_entity (
    WatchHomeAssistant *self, JsonBuilder *builder, const Camera *camera, const Entity *entity)
{
  g_autofree gchar *topic = watch_home_assistant_get_topic (self, camera->name);
  g_autofree gchar *unique_id = g_strdup_printf ("%s_%s", camera->id, entity->id);

  watch_json_begin_object (builder, entity->id);
  watch_json_add_text (builder, "platform", entity->platform);
  watch_json_add_text (builder, "unique_id", unique_id);
  watch_json_add_text (builder, "name", entity->name);
  if (entity->image_topic) {
    watch_json_add_text (builder, "image_topic", entity->image_topic);
    watch_json_add_text (builder, "content_type", "image/jpeg");
  } else if (!entity->payload) {
    add_topic (builder, "state_topic", topic, entity->id);
  }
  if (entity->device_class)
    watch_json_add_text (builder, "device_class", entity->device_class);
  if (entity->state_class)
    watch_json_add_text (builder, "state_class", entity->state_class);
  if (entity->icon)
    watch_json_add_text (builder, "icon", entity->icon);
  if (entity->is_diagnostic)
    watch_json_add_text (builder, "entity_category", "diagnostic");
  if (entity->is_disabled)
    watch_json_add_boolean (builder, "enabled_by_default", FALSE);
  if (entity->command)
    add_command (self, builder, entity);
  add_availability (
      self, builder, topic, !entity->is_diagnostic && !entity->command && !entity->image_topic);
  json_builder_end_object (builder);
}

static void
add_counter (WatchHomeAssistant *self, JsonBuilder *builder, const Camera *camera, const gchar *id,
    const Member *member)
{
  static const gchar *const endings[] = {"", " forward", " backward"};
  g_autofree gchar *name = g_strconcat (member->name, endings[member->kind], NULL);
  const Entity entity = {
      .id = id,
      .name = name,
      .platform = "sensor",
      .state_class = member->kind == REGION ? "measurement" : "total_increasing",
      .icon = member->kind == REGION ? "mdi:vector-polygon" : "mdi:vector-line",
  };

  add_entity (self, builder, camera, &entity);
}

/* What arms the camera, or a region of it. */
static void
add_arming (
    WatchHomeAssistant *self, JsonBuilder *builder, const Camera *camera, const gchar *region)
{
  static const Entity entities[] = {
      {"armed", "Armed", "switch", .icon = "mdi:shield-home"},
      {"pause", "Pause for 10 minutes", "button", .icon = "mdi:pause", .payload = "pause 600"},
      {"schedule", "Follow schedule", "button", .icon = "mdi:calendar", .payload = "schedule"},
  };
  g_autofree gchar *escaped = g_uri_escape_string (region ? region : "", NULL, FALSE);
  g_autofree gchar *target = g_strconcat (camera->name, region ? "/" : "", escaped, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (entities); i++) {
    Entity entity = entities[i];
    const gchar *name = entity.name;
    g_autofree gchar *own_id = region ? make_id (entity.id, region) : g_strdup (entity.id);
    g_autofree gchar *own_name =
        region ? g_strdup_printf ("%s %c%s", region, g_ascii_tolower (*name), name + 1)
               : g_strdup (name);

    entity.id = own_id;
    entity.name = own_name;
    entity.command = target;
    entity.is_disabled = region && entity.payload;
    add_entity (self, builder, camera, &entity);
  }
}

/* Regions and lines. */
static void
add_members (WatchHomeAssistant *self, JsonBuilder *builder, const Camera *camera)
{
  GHashTableIter iter;
  gpointer id, value;

  g_hash_table_iter_init (&iter, camera->members);
  while (g_hash_table_iter_next (&iter, &id, &value)) {
    const Member *member = value;

    if (member->kind != ARMED)
      add_counter (self, builder, camera, id, member);
    else if (self->command_topic)
      add_arming (self, builder, camera, member->name);
  }
}

static void
add_picture (WatchHomeAssistant *self, JsonBuilder *builder, const Camera *camera)
{
  g_autofree gchar *topic = watch_home_assistant_get_picture_topic (self, camera->name);
  const Entity picture = {"picture", "Last motion", "image", .image_topic = topic};

  add_entity (self, builder, camera, &picture);
}

static gchar *
format_device (WatchHomeAssistant *self, const Camera *camera)
{
  static const Entity entities[] = {
      {"motion", "Motion", "binary_sensor", "motion"},
      {"count", "Components", "sensor", NULL, "measurement", "mdi:shape"},
      {"tracks", "Tracks", "sensor", NULL, "measurement", "mdi:map-marker-path"},
      {"tamper", "Tampering", "binary_sensor", "tamper"},
      {"scene", "Scene", "sensor", .icon = "mdi:image-sync", .is_diagnostic = TRUE},
      {"connection", "Connection", "binary_sensor", "connectivity", .is_diagnostic = TRUE},
      {"state", "State", "sensor", .icon = "mdi:cctv", .is_diagnostic = TRUE},
  };
  static const Entity paused = {
      "paused_until", "Paused until", "sensor", "timestamp", .is_diagnostic = TRUE};
  JsonBuilder *builder = watch_json_begin ();

  watch_json_begin_object (builder, "device");
  watch_json_begin_array (builder, "identifiers");
  json_builder_add_string_value (builder, camera->id);
  json_builder_end_array (builder);
  watch_json_add_text (builder, "name", camera->name);
  watch_json_add_text (builder, "manufacturer", "cudaccl");
  watch_json_add_text (builder, "model", "camera of ccl-watch");
  json_builder_end_object (builder);
  watch_json_begin_object (builder, "origin");
  watch_json_add_text (builder, "name", "ccl-watch");
  json_builder_end_object (builder);
  watch_json_begin_object (builder, "components");
  for (guint i = 0; i < G_N_ELEMENTS (entities); i++)
    add_entity (self, builder, camera, &entities[i]);
  if (self->command_topic) {
    add_arming (self, builder, camera, NULL);
    add_entity (self, builder, camera, &paused);
  }
  add_members (self, builder, camera);
  if (self->picture_parent)
    add_picture (self, builder, camera);
  json_builder_end_object (builder);
  return watch_json_end (builder);
}

void
watch_home_assistant_forget_sent (WatchHomeAssistant *self)
{
  GHashTableIter iter;
  gpointer camera;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &camera))
    ((Camera *)camera)->known = FALSE;
}

/* The state is sent once more after the device: only then are the device's entities subscribed to
 * it. */
static gboolean
send_device (WatchHomeAssistant *self, Camera *camera, WatchPublish publish, gpointer data)
{
  g_autofree gchar *topic = g_strdup_printf ("%s/device/%s/config", self->prefix, camera->id);
  g_autofree gchar *text = camera->removed ? NULL : format_device (self, camera);

  camera->known = publish (data, topic, text);
  camera->changed = camera->urgent = TRUE;
  return camera->known;
}

static gboolean
send_state (
    WatchHomeAssistant *self, Camera *camera, gint64 now, WatchPublish publish, gpointer data)
{
  g_autofree gchar *topic = watch_home_assistant_get_topic (self, camera->name);
  g_autofree gchar *text = camera->removed ? NULL : format_state (camera);
  gboolean is_sent = publish (data, topic, text);

  if (is_sent && camera->removed && self->picture_parent) {
    g_autofree gchar *picture_topic = watch_home_assistant_get_picture_topic (self, camera->name);

    is_sent = publish (data, picture_topic, NULL);
  }
  if (is_sent) {
    camera->changed = camera->urgent = FALSE;
    camera->sent_time = now;
  }
  return is_sent;
}

/* Removed cameras stay in the table: the broker may not have got the message that removes one, so
 * the next connection sends it again. */
gboolean
watch_home_assistant_send (WatchHomeAssistant *self, WatchPublish publish, gpointer data)
{
  const gint64 now = g_get_monotonic_time ();
  gboolean is_sent = TRUE;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->cameras);
  while (is_sent && g_hash_table_iter_next (&iter, NULL, &value)) {
    Camera *camera = value;

    if (!camera->known)
      is_sent = send_device (self, camera, publish, data);
    if (is_sent && camera->changed &&
        (camera->urgent || camera->sent_time == 0 || now - camera->sent_time >= COUNT_INTERVAL))
      is_sent = send_state (self, camera, now, publish, data);
  }
  return is_sent;
}
