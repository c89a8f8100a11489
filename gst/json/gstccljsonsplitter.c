/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstccljsonsplitter.h"

#include <string.h>

#include "gstcclklv.h"

void
gst_ccl_json_splitter_init (GstCclJsonSplitter *self)
{
  *self = (GstCclJsonSplitter){.bytes = g_byte_array_new ()};
}

void
gst_ccl_json_splitter_clear (GstCclJsonSplitter *self)
{
  g_clear_pointer (&self->bytes, g_byte_array_unref);
}

static void
begin_line (GstCclJsonSplitter *self, gsize begin)
{
  self->begin = self->at = begin;
  self->depth = self->greatest_depth = 0;
  self->in_string = self->escaped = FALSE;
}

void
gst_ccl_json_splitter_reset (GstCclJsonSplitter *self, GstCclJsonForm form)
{
  self->form = form;
  g_byte_array_set_size (self->bytes, 0);
  begin_line (self, 0);
}

/* Replaces the entities of markup in all bytes behind a place. */
static void
unescape (GByteArray *bytes, gsize from)
{
  static const struct {
    const gchar *entity;
    gchar character;
  } entities[] = {{"&quot;", '"'}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&apos;", '\''},
      {"&#39;", '\''}};
  gsize out = from;

  for (gsize in = from; in < bytes->len;) {
    gsize length = 1;
    guint8 character = bytes->data[in];

    for (guint i = 0; character == '&' && i < G_N_ELEMENTS (entities) && length == 1; i++) {
      const gsize entity = strlen (entities[i].entity);

      if (bytes->len - in >= entity && memcmp (bytes->data + in, entities[i].entity, entity) == 0) {
        bytes->data[out] = (guint8)entities[i].character;
        length = entity;
      }
    }
    if (length == 1)
      bytes->data[out] = character;
    out++;
    in += length;
  }
  g_byte_array_set_size (bytes, (guint)out);
}

void
gst_ccl_json_splitter_push (GstCclJsonSplitter *self, const guint8 *data, gsize size)
{
  guint kept;

  if (self->begin > 0) {
    g_byte_array_remove_range (self->bytes, 0, (guint)self->begin);
    self->at -= self->begin;
    self->begin = 0;
  }
  kept = self->bytes->len;
  g_byte_array_append (self->bytes, data, (guint)size);
  if (self->form == GST_CCL_JSON_FORM_MARKUP)
    unescape (self->bytes, kept);
}

/* Reads a character. Returns whether it ends the line. */
static gboolean
step (GstCclJsonSplitter *self, gchar c)
{
  if (c == '\n')
    return TRUE;
  if (self->in_string) {
    self->in_string = c != '"' || self->escaped;
    self->escaped = c == '\\' && !self->escaped;
  } else if (c == '"') {
    self->in_string = TRUE;
  } else if (c == '{' || c == '[') {
    self->depth++;
    self->greatest_depth = MAX (self->greatest_depth, self->depth);
  } else if ((c == '}' || c == ']') && self->depth > 0) {
    return --self->depth == 0;
  }
  return FALSE;
}

static void
skip_space (GstCclJsonSplitter *self)
{
  while (self->at == self->begin && self->at < self->bytes->len &&
         (g_ascii_isspace (self->bytes->data[self->at]) || self->bytes->data[self->at] == '\0'))
    self->begin = ++self->at;
}

/* The line that ends at `end`. */
static GstCclJsonFind
take_line (GstCclJsonSplitter *self, gsize end, const gchar **text, gsize *size)
{
  const gboolean is_deep = self->greatest_depth > GST_CCL_JSON_MAX_DEPTH;

  *text = (const gchar *)self->bytes->data + self->begin;
  *size = end - self->begin;
  begin_line (self, end);
  return is_deep ? GST_CCL_JSON_DEEP : GST_CCL_JSON_FOUND;
}

static GstCclJsonFind
find_line (GstCclJsonSplitter *self, gboolean at_end, const gchar **text, gsize *size)
{
  skip_space (self);
  while (self->at < self->bytes->len)
    if (step (self, (gchar)self->bytes->data[self->at++]))
      return take_line (self, self->at, text, size);
  if (self->at - self->begin > GST_CCL_JSON_MAX_LINE)
    return GST_CCL_JSON_BROKEN;
  return at_end && self->at > self->begin ? take_line (self, self->at, text, size)
                                          : GST_CCL_JSON_NO_LINE;
}

/* Finds how deeply the JSON in the value of a packet is nested. */
static void
measure_depth (GstCclJsonSplitter *self, gsize from, gsize to)
{
  for (gsize i = from; i < to; i++)
    step (self, (gchar)self->bytes->data[i]);
}

static GstCclJsonFind
find_packet (GstCclJsonSplitter *self, const gchar **text, gsize *size)
{
  while (self->begin < self->bytes->len) {
    gsize header_size = 0;
    guint64 value_size = 0;
    const GstCclKlvKind kind = gst_ccl_klv_read_header (
        self->bytes->data + self->begin, self->bytes->len - self->begin, &header_size, &value_size);
    const gsize left = self->bytes->len - self->begin - header_size;

    if (kind == GST_CCL_KLV_BROKEN || value_size > GST_CCL_JSON_MAX_LINE)
      return GST_CCL_JSON_BROKEN;
    if (kind == GST_CCL_KLV_INCOMPLETE || value_size > left)
      return GST_CCL_JSON_NO_LINE;
    begin_line (self, self->begin + header_size);
    if (kind == GST_CCL_KLV_OURS && value_size > 0) {
      measure_depth (self, self->begin, self->begin + (gsize)value_size);
      return take_line (self, self->begin + (gsize)value_size, text, size);
    }
    begin_line (self, self->begin + (gsize)value_size);
  }
  return GST_CCL_JSON_NO_LINE;
}

GstCclJsonFind
gst_ccl_json_splitter_next (
    GstCclJsonSplitter *self, gboolean at_end, const gchar **text, gsize *size)
{
  if (self->form == GST_CCL_JSON_FORM_KLV)
    return find_packet (self, text, size);
  return find_line (self, at_end, text, size);
}
