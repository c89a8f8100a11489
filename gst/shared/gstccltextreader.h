/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads texts of properties: items that are separated by semicolons or newlines, and consist of
 * words that are separated by spaces. */
#pragma once

#include <gst/gst.h>

#include <cudaccl/regions.h>

/* A text that is being read. */
typedef struct {
  const gchar *property; /* whose value it is, maybe with the file's path; for messages */
  const gchar *text, *at;
  GError **error;
} GstCclTextReader;

/* Sets the error for a place of the text: property, line, column and reason. Returns FALSE. */
gboolean gst_ccl_text_reader_fail (
    const GstCclTextReader *reader, const gchar *at, const gchar *format, ...) G_GNUC_PRINTF (3, 4);

/* Whether a character is behind the last one of an item, or of a word. */
gboolean gst_ccl_text_ends_item (gchar c);
gboolean gst_ccl_text_ends_word (gchar c);

/* The length of a word, for messages. */
gint gst_ccl_text_word_length (const gchar *word);

/* Goes on to the next word of the item, or to the item's end. */
void gst_ccl_text_reader_skip_spaces (GstCclTextReader *reader);

/* Goes on to the next item. Returns FALSE at the end of the text. */
gboolean gst_ccl_text_reader_find_item (GstCclTextReader *reader);

/* Reads a name, which is a word or in single or double quotes, and the spaces behind it. Sets name
 * to a new string. Returns FALSE with the error set. */
gboolean gst_ccl_text_reader_read_name (GstCclTextReader *reader, gchar **name);

/* Reads the word "X,Y". Sets relative if both numbers end with %, which are divided by 100 then.
 * Returns FALSE with the error set. */
gboolean gst_ccl_text_reader_read_point (
    GstCclTextReader *reader, CclPoint *point, gboolean *relative);

/* The same, and adds the point to those of an item (CclPoint). The first one decides whether all
 * are relative. */
gboolean gst_ccl_text_reader_add_point (
    GstCclTextReader *reader, GArray *points, gboolean *relative);
