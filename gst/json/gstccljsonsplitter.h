/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the lines of JSON in bytes that arrive in pieces of any size. */
#pragma once

#include <gst/gst.h>

#define GST_CCL_JSON_MAX_LINE (64u << 20) /* bytes */
#define GST_CCL_JSON_MAX_DEPTH 16         /* of objects and lists in each other */

/* How the lines come. */
typedef enum {
  GST_CCL_JSON_FORM_LINES,
  GST_CCL_JSON_FORM_MARKUP, /* lines as Pango markup, which demuxers make of texts in Matroska */
  GST_CCL_JSON_FORM_KLV,
} GstCclJsonForm;

typedef enum {
  GST_CCL_JSON_FOUND, /* a line */
  GST_CCL_JSON_DEEP, /* a line that is nested deeper than GST_CCL_JSON_MAX_DEPTH: do not parse it */
  GST_CCL_JSON_NO_LINE, /* more bytes are needed */
  GST_CCL_JSON_BROKEN,  /* the rest of the stream cannot be read */
} GstCclJsonFind;

/* Begin with gst_ccl_json_splitter_init(). */
typedef struct {
  GstCclJsonForm form;
  GByteArray *bytes;
  gsize begin, at; /* where the line begins, and where the search for its end goes on */
  guint depth, greatest_depth;
  gboolean in_string, escaped;
} GstCclJsonSplitter;

void gst_ccl_json_splitter_init (GstCclJsonSplitter *self);
void gst_ccl_json_splitter_clear (GstCclJsonSplitter *self);

/* Discards all bytes. */
void gst_ccl_json_splitter_reset (GstCclJsonSplitter *self, GstCclJsonForm form);

/* Adds bytes; lines that were found before become invalid. */
void gst_ccl_json_splitter_push (GstCclJsonSplitter *self, const guint8 *data, gsize size);

/* Finds the next line, which ends with its object or with a newline, or where no more bytes come
 * (at_end). It is not empty, and valid until the next push. */
GstCclJsonFind gst_ccl_json_splitter_next (
    GstCclJsonSplitter *self, gboolean at_end, const gchar **text, gsize *size);
