/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trails of tracks: their foot points in the latest frames. A foot point is the middle of the
 * lower edge of a track's box. */
#pragma once

#include <gst/ccl/ccl.h>
#include <gst/gst.h>

/* A place as fractions of the frame's width and height, 0…1. */
typedef struct {
  gfloat x, y;
} GstCclPlace;

typedef struct _GstCclTrails GstCclTrails;

GstCclTrails *gst_ccl_trails_new (void);

void gst_ccl_trails_free (GstCclTrails *trails);

/* Removes all trails. */
void gst_ccl_trails_clear (GstCclTrails *trails);

/* Adds the places of the next frame's tracks, and removes those that are older than `length`
 * frames. NULL: a frame without metadata. */
void gst_ccl_trails_add_frame (GstCclTrails *trails, const GstCclMeta *meta, guint length);

/* The number of trails. They are in the order of identities. */
guint gst_ccl_trails_get_n (const GstCclTrails *trails);

/* Returns the number of places of a trail. */
guint gst_ccl_trails_get (const GstCclTrails *trails, guint trail, guint64 *id);

/* A place of a trail, from the oldest one. */
GstCclPlace gst_ccl_trails_get_place (const GstCclTrails *trails, guint trail, guint place);
