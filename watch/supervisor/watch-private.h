/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a watch, for watch.c and watch-outputs.c. */
#pragma once

#include "watch/camera/camera-state.h"
#include "watch/output/output.h"
#include "watch.h"

struct _Watch {
  WatchConfig *config;
  WatchChanges *changes;
  WatchHub hub;

  GMutex lock;
  GPtrArray *cameras;     /* WatchCamera, replaced and never changed */
  GPtrArray *outputs;     /* WatchOutput, the same */
  GHashTable *last_lines; /* watch_last_lines_new() */
  GPtrArray *stopping;    /* WatchCamera that were removed and may still run */
  GPtrArray *removed;     /* WatchCamera that have stopped, whose end no line reports yet */
  GPtrArray *retired;     /* WatchOutput that were removed and may still have lines */
  WatchFolder *folder;    /* or NULL */
  GHashTable *ended;      /* WatchCamera */
  gboolean failed;        /* an ended camera did not reach its end */
  gboolean is_stopping;

  void (*all_ended) (gpointer data);
  gpointer data;
};

/* A command that came by an output (WatchCommandFunc); `watch` is a Watch. Any thread. */
void watch_take_command (gpointer watch, const gchar *output, const gchar *camera,
    const gchar *region, const gchar *text);

/* An empty list of outputs. */
GPtrArray *watch_outputs_new (void);

/* The outputs of the configuration; those that exist are kept. NULL if one is wrong. */
GPtrArray *watch_outputs_make (Watch *watch, const WatchConfig *config, GError **error);

/* Takes a list of watch_outputs_make(). Outputs that are not in it end, and are kept until they
 * have delivered their lines. */
void watch_outputs_replace (Watch *watch, GPtrArray *outputs);

/* Ends outputs and waits until the monotonic time for their lines. Returns whether all threads of
 * them ended. */
gboolean watch_outputs_stop (GPtrArray *outputs, gint64 until);
