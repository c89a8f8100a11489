/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arbitrary lines for ccljsonparse. What is read of a line and written again must be read again,
 * and written as the same line. The first byte chooses the form of the lines, and whether the
 * others are the lines, or changes of a line of all kinds: places and bytes in turn.
 */
#include <gst/ccl/ccl.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/gstccljsonline.h"
#include "json/gstccljsonsplitter.h"
#include "json/gstccljsontext.h"
#include "target.h"

#define DIE(...) (fprintf (stderr, __VA_ARGS__), fputc ('\n', stderr), abort ())

#define CHANGES 128 /* of the first byte: the others are changes */

static const char sample[] =
    "{\"utc\":\"2026-01-31T23:59:59.120000Z\",\"utc_from\":\"sender\",\"pts\":5,\"running_time\":5,"
    "\"frame\":0,\"width\":40,\"height\":30,\"labeller\":\"a\",\"count\":3,\"truncated\":true,"
    "\"components\":[{\"label\":1,\"area\":9,\"x\":4,\"y\":2,\"width\":3,\"height\":3,\"cx\":5,"
    "\"cy\":3.25,\"perimeter\":8.5,\"sum_value\":null,\"id\":7,\"state\":\"confirmed\",\"age\":3,"
    "\"vx\":-0.5,\"vy\":1e-05,\"ids\":[7,8],\"parent\":2,\"position\":[-1.500,20.125],"
    "\"position_deviation\":0.100,\"speed\":12.50,\"speed_deviation\":1.25,\"class\":\"a "
    "\\\"b\\\"\",\"confidence\":0.125,\"in\":[\"yard\"],\"crossed\":[{\"line\":\"gate\","
    "\"direction\":\"backward\"}],\"contours\":[{\"hole\":false,\"points\":[[4,2],[6.50,4]]},"
    "{\"hole\":true,\"points\":[[5,3]]}]},{\"label\":2,\"area\":0,\"x\":5,\"y\":3,\"width\":1,"
    "\"height\":1,\"cx\":5,\"cy\":3,\"perimeter\":1,\"sum_value\":2,\"id\":8,\"state\":\"lost\","
    "\"age\":4000000000,\"vx\":0,\"vy\":0,\"ids\":[],\"in\":[],\"crossed\":[],\"contours\":["
    "{\"hole\":false,\"inside\":1,\"points\":[[5,3]]}]}],\"regions\":[{\"region\":\"yard\","
    "\"inside\":1},{\"line\":\"gate\",\"forward\":0,\"backward\":1}],\"contour_kind\":\"cracks\"}"
    "\n";

/* The line of a frame's metadata, without its times. */
static gchar *
write_line (GstBuffer *frame)
{
  GString *line = g_string_new ("{\"pts\":null,\"running_time\":null,");
  GstCclMeta *meta = gst_buffer_get_ccl_meta (frame);

  gst_ccl_json_append_meta (line, frame, meta);
  g_string_append (line, "}\n");
  return g_string_free (line, FALSE);
}

static void
check_line (const gchar *text, gsize size)
{
  GstCclJsonLine line, again;
  GError *error = NULL;
  gchar *first, *second;

  if (!gst_ccl_json_line_read (&line, text, size, &error)) {
    if (!error || !error->message[0] || strchr (error->message, '\n'))
      DIE ("not a line of an error: '%s'", error ? error->message : "");
    g_error_free (error);
    return;
  }
  if (!line.frame == !line.event)
    DIE ("neither a frame nor an event, or both");
  if (line.frame && gst_buffer_get_ccl_meta (line.frame)) {
    first = write_line (line.frame);
    if (!gst_ccl_json_line_read (&again, first, strlen (first), &error))
      DIE ("%s: %s", error->message, first);
    second = write_line (again.frame);
    if (strcmp (first, second) != 0)
      DIE ("%sbecame\n%s", first, second);
    g_free (first);
    g_free (second);
    gst_ccl_json_line_clear (&again);
  }
  gst_ccl_json_line_clear (&line);
}

/* Lines in pieces of some size. */
static void
check_lines (const guint8 *data, gsize size, GstCclJsonForm form, gsize piece)
{
  GstCclJsonSplitter splitter;
  const gchar *text;
  gsize length;

  gst_ccl_json_splitter_init (&splitter);
  gst_ccl_json_splitter_reset (&splitter, form);
  for (gsize at = 0; at < size || at == 0; at += piece) {
    const gboolean at_end = at + piece >= size;

    gst_ccl_json_splitter_push (&splitter, data + at, MIN (piece, size - at));
    for (GstCclJsonFind found = GST_CCL_JSON_FOUND;
         found == GST_CCL_JSON_FOUND || found == GST_CCL_JSON_DEEP;) {
      found = gst_ccl_json_splitter_next (&splitter, at_end, &text, &length);
      if (found == GST_CCL_JSON_FOUND)
        check_line (text, length);
    }
  }
  gst_ccl_json_splitter_clear (&splitter);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const GstCclJsonForm form = (GstCclJsonForm)(size > 0 ? data[0] % 3 : 0);
  guint8 line[sizeof sample - 1];

  if (!gst_is_initialized ())
    gst_init (NULL, NULL);
  if (size == 0)
    return 0;
  if (!(data[0] & CHANGES)) {
    check_lines (data + 1, size - 1, form, 1 + data[0] / 3);
    return 0;
  }
  memcpy (line, sample, sizeof line);
  for (size_t i = 1; i + 2 < size; i += 3)
    line[(data[i] << 8 | data[i + 1]) % sizeof line] = data[i + 2];
  check_line ((const gchar *)line, sizeof line);
  return 0;
}

/* Few changes, with characters that JSON consists of. */
void
make_quick (uint8_t *data, size_t size)
{
  static const char alphabet[] = "\"{}[],:0123456789-.eEntxai\\ ";

  data[0] |= CHANGES;
  for (size_t i = 4; i < size; i++)
    data[i] = i % 3 == 0 ? (uint8_t)alphabet[data[i] % (sizeof alphabet - 1)] : data[i];
  for (size_t i = 1 + 3 * (1 + data[1] % 6u); i + 2 < size; i += 3) /* the same place again */
    memcpy (data + i, data + i - 3, 3);
}
