/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions and lines as users write them, in texts and files, and as GStreamer structures. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/regions.h>

/* A new empty list: an array of CclRegion that owns names and points. Free it with
 * g_array_unref(). */
GArray *gst_ccl_region_list_new (void);

/* Adds the regions and lines of a text; NULL or "" has none. The text consists of items that are
 * separated by semicolons or newlines:
 *
 *   region NAME X,Y X,Y X,Y… [stay=SECONDS] [faster-than=KMH] [slower-than=KMH]
 *   line NAME X,Y X,Y [faster-than=KMH] [slower-than=KMH]
 *
 * A name is a word, or in single or double quotes. Coordinates are pixels, or fractions of the
 * frame if all numbers of an item end with %.
 *
 * Returns FALSE with the error set; its message names line and column. */
gboolean gst_ccl_region_list_add_text (GArray *list, const gchar *text, GError **error);

/* The content of a regular file of at most 2^20 bytes, or the error of reading it. Counted by
 * references. */
typedef struct {
  gchar *path, *text; /* text is NULL after an error */
  gsize size;         /* of the text */
  GError *error;
} GstCclRegionFile;

/* Reads the file, whatever it contains. NULL for NULL; then the other functions do nothing. */
GstCclRegionFile *gst_ccl_region_file_read (const gchar *path);
GstCclRegionFile *gst_ccl_region_file_ref (GstCclRegionFile *file);
void gst_ccl_region_file_unref (GstCclRegionFile *file);

/* Adds the regions and lines of a file: such a text in UTF-8, or the
 * same as JSON, which docs/tracking.md describes. Returns FALSE with the error set; its message
 * names the file and the place in it. */
gboolean gst_ccl_region_list_add_file (GArray *list, const GstCclRegionFile *file, GError **error);

/* Sets the field `regions` of a structure to an array of structures, one for each region and line:
 * `name`, `kind` ("region" or "line"), `points` (x and y in turn, fractions of a frame of the given
 * size), and its counts: `inside`, `entered`, `left` and `stayed`, or `forward` and `backward`;
 * `faster` and `slower`. */
void gst_ccl_region_list_describe (const GArray *list, guint frame_width, guint frame_height,
    const CclRegionCounts *counts, GstStructure *structure);
