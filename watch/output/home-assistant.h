/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cameras as devices of Home Assistant, by its MQTT discovery. What is known of a camera is learnt
 * from its lines. All functions are called in the output's thread. */
#pragma once

#include "line-queue.h"

/* The kinds of events that watch_home_assistant_take_line() needs. */
#define WATCH_HOME_ASSISTANT_KINDS                                                                 \
  "state,motion-begin,motion-end,scene-change,arming,removed,appeared,vanished,entered,left,"      \
  "crossed"

typedef struct _WatchHomeAssistant WatchHomeAssistant;

/* Publishes a retained message; one without text removes the former one. FALSE if the connection is
 * lost. */
typedef gboolean (*WatchPublish) (gpointer data, const gchar *topic, const gchar *text);

/* The beginning of topics that are beside a topic: "a/b/NAME/" for "a/b/c". Free with g_free(). */
gchar *watch_topic_beside (const gchar *topic, const gchar *name);

/* `prefix` is that of Home Assistant's discovery; `status_topic` says whether ccl-watch is
 * connected, and is another one for each ccl-watch of the broker. With pictures, cameras have an
 * entity for the last one, whose topic the caller publishes. Commands to arm go to `command_topic`
 * and the camera's name, or NULL: none are taken. */
WatchHomeAssistant *watch_home_assistant_new (const gchar *prefix, const gchar *status_topic,
    const gchar *command_topic, gboolean has_pictures);
void watch_home_assistant_free (WatchHomeAssistant *self);

/* The topic to which Home Assistant publishes "online" when it starts. */
const gchar *watch_home_assistant_get_birth_topic (WatchHomeAssistant *self);

/* The topic of the state of a camera; free with g_free(). */
gchar *watch_home_assistant_get_topic (WatchHomeAssistant *self, const gchar *camera);

/* The same of the last picture. */
gchar *watch_home_assistant_get_picture_topic (WatchHomeAssistant *self, const gchar *camera);

/* Notes what a line says. Each line must be given once: some are counted. */
void watch_home_assistant_take_line (WatchHomeAssistant *self, const WatchLine *line);

/* The receiver has forgotten all that was sent: the next watch_home_assistant_send() sends it
 * again. */
void watch_home_assistant_forget_sent (WatchHomeAssistant *self);

/* Sends the devices and states that changed since they were sent; a state in which only counts
 * changed at most once a second. FALSE if publishing failed. */
gboolean watch_home_assistant_send (WatchHomeAssistant *self, WatchPublish publish, gpointer data);
