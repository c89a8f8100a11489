/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clip-part.h"

#include <errno.h>
#include <gio/gio.h>
#include <gst/gst.h>
#include <string.h>
#include <unistd.h>

/* Of a box that is read whole: the head, or the table of a fragment. */
#define MAX_BOX (1024 * 1024)

#define NO_KEY_FRAME 0x10000 /* the flag of a sample */

/* A number in the part that differs from that of the clip. */
typedef struct {
  goffset at;
  guint64 value;
  guint width; /* bytes */
} Patch;

struct _ClipPart {
  gint file;
  goffset head;    /* bytes of the clip that come first */
  goffset skipped; /* bytes of the clip between the head and the first fragment */
  goffset size;
  GArray *patches; /* Patch, in the order of their places */
};

/* Reading. */

static gssize
read_some (gint file, gpointer bytes, gsize size, goffset at)
{
  gssize n;

  do
    n = pread (file, bytes, size, at);
  while (n < 0 && errno == EINTR);
  return n;
}

/* Places are those in the whole, also of a box within it. */
typedef struct {
  const guint8 *bytes;
  gsize at, end;
} Reader;

static gboolean
skip (Reader *reader, gsize n)
{
  if (n > reader->end - reader->at)
    return FALSE;
  reader->at += n;
  return TRUE;
}

/* A number of so many bytes. */
static gboolean
read_number (Reader *reader, guint width, guint64 *value)
{
  const gsize at = reader->at;

  if (!skip (reader, width))
    return FALSE;
  *value = 0;
  for (guint i = 0; i < width; i++)
    *value = *value << 8 | reader->bytes[at + i];
  return TRUE;
}

typedef struct {
  guint32 type;
  goffset at, body, end; /* in the file */
} Box;

/* The next box that is whole; FALSE if there is none. */
static gboolean
read_box (gint file, goffset at, goffset size, Box *box)
{
  guint8 bytes[16];
  const gssize n = read_some (file, bytes, sizeof bytes, at);
  Reader reader = {.bytes = bytes, .end = MAX (n, 0)};
  guint64 length, type;

  if (!read_number (&reader, 4, &length) || !read_number (&reader, 4, &type) ||
      (length == 1 && !read_number (&reader, 8, &length)))
    return FALSE;
  *box = (Box){.type = type, .at = at, .body = at + reader.at, .end = at + length};
  return length >= reader.at && length <= (guint64)(size - at);
}

/* The body of a box, to be freed; NULL if it cannot be read. */
static guint8 *
read_body (gint file, const Box *box)
{
  const goffset size = box->end - box->body;
  guint8 *bytes = size <= MAX_BOX ? g_malloc (size + 1) : NULL;

  if (bytes && read_some (file, bytes, size, box->body) != size)
    g_clear_pointer (&bytes, g_free);
  return bytes;
}

/* Boxes within boxes, in memory. */

#define BOX(a, b, c, d) ((guint32)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* Moves the reader into the first box of the type within it. */
static gboolean
enter (Reader *reader, guint32 type)
{
  guint64 size, found;

  while (read_number (reader, 4, &size) && read_number (reader, 4, &found) && size >= 8) {
    const gsize body = reader->at;

    if (!skip (reader, size - 8))
      return FALSE;
    if (found == type) {
      reader->end = reader->at;
      reader->at = body;
      return TRUE;
    }
  }
  return FALSE;
}

/* A reader in the box at the end of a path of types, which ends with 0. */
static gboolean
find_box (const Reader *from, const guint32 *path, Reader *reader)
{
  *reader = *from;
  for (; *path; path++)
    if (!enter (reader, *path) || (*path == BOX ('m', 'e', 't', 'a') && !skip (reader, 4)))
      return FALSE;
  return TRUE;
}

static gboolean
read_version (Reader *reader, guint64 *version, guint64 *flags)
{
  return read_number (reader, 1, version) && read_number (reader, 3, flags);
}

/* A number that has 8 bytes in a box of version 1, and 4 in one of version 0. */
static gboolean
read_patch (Reader *reader, guint64 version, Patch *number)
{
  number->at = reader->at;
  number->width = version ? 8 : 4;
  return read_number (reader, number->width, &number->value);
}

/* The head of a clip. */

typedef struct {
  guint64 timescale;     /* units of the track in a second */
  guint64 movie_scale;   /* of the whole */
  guint64 default_flags; /* of a sample */
  guint64 default_duration;
  Patch duration; /* of the whole; width 0: it is not there */
  gint64 utc;     /* of the first frame, in microseconds since 1970 */
} Head;

/* Of the boxes mvhd and mdhd: version and flags, two times, the scale. */
static guint64
get_scale (const Reader *moov, const guint32 *path)
{
  guint64 version, flags, scale;
  Reader reader;

  if (find_box (moov, path, &reader) && read_version (&reader, &version, &flags) &&
      skip (&reader, version ? 16 : 8) && read_number (&reader, 4, &scale))
    return scale;
  return 0;
}

/* When the clip began, by its title; 0: it does not say so. */
static gint64
get_utc (const Reader *moov)
{
  static const guint32 path[] = {BOX ('u', 'd', 't', 'a'), BOX ('m', 'e', 't', 'a'),
      BOX ('i', 'l', 's', 't'), BOX (0xa9, 'n', 'a', 'm'), BOX ('d', 'a', 't', 'a'), 0};
  g_autofree gchar *text = NULL;
  g_autoptr (GDateTime) time = NULL;
  Reader reader;

  if (!find_box (moov, path, &reader) || !skip (&reader, 8))
    return 0;
  text = g_strndup ((const gchar *)reader.bytes + reader.at, reader.end - reader.at);
  time = g_date_time_new_from_iso8601 (text, NULL);
  return time ? g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time)
              : 0;
}

static gboolean
read_head (const Reader *moov, Head *head)
{
  static const guint32 movie[] = {BOX ('m', 'v', 'h', 'd'), 0};
  static const guint32 media[] = {
      BOX ('t', 'r', 'a', 'k'), BOX ('m', 'd', 'i', 'a'), BOX ('m', 'd', 'h', 'd'), 0};
  static const guint32 defaults[] = {BOX ('m', 'v', 'e', 'x'), BOX ('t', 'r', 'e', 'x'), 0};
  static const guint32 duration[] = {BOX ('m', 'v', 'e', 'x'), BOX ('m', 'e', 'h', 'd'), 0};
  guint64 version, flags;
  Reader reader;

  head->timescale = get_scale (moov, media);
  head->movie_scale = get_scale (moov, movie);
  head->utc = get_utc (moov);
  if (find_box (moov, duration, &reader) && read_version (&reader, &version, &flags) &&
      !read_patch (&reader, version, &head->duration))
    head->duration.width = 0;
  return head->timescale && head->movie_scale && find_box (moov, defaults, &reader) &&
         skip (&reader, 12) && read_number (&reader, 4, &head->default_duration) &&
         skip (&reader, 4) && read_number (&reader, 4, &head->default_flags);
}

/* Fragments. */

typedef struct {
  Patch time; /* of decoding its first sample */
  guint64 duration;
  gboolean is_key;
} Fragment;

/* The table of the samples: adds up their durations, and takes the flags of the first one. */
static gboolean
read_samples (Reader *reader, Fragment *fragment, guint64 duration, guint64 sample_flags)
{
  guint64 version, flags, n;

  if (!read_version (reader, &version, &flags) || !read_number (reader, 4, &n) ||
      !skip (reader, flags & 0x1 ? 4 : 0) ||
      (flags & 0x4 && !read_number (reader, 4, &sample_flags)))
    return FALSE;
  if (!(flags & 0xf00)) { /* all samples are alike; often there is one alone */
    fragment->duration = n * duration;
    fragment->is_key = !(sample_flags & NO_KEY_FRAME);
    return n > 0;
  }
  for (guint64 i = 0; i < n; i++) {
    guint64 own_flags = sample_flags;

    if ((flags & 0x100 && !read_number (reader, 4, &duration)) ||
        !skip (reader, flags & 0x200 ? 4 : 0) ||
        (flags & 0x400 && !read_number (reader, 4, &own_flags)) ||
        !skip (reader, flags & 0x800 ? 4 : 0))
      return FALSE;
    fragment->duration += duration;
    if (i == 0)
      fragment->is_key = !((flags & 0x4 ? sample_flags : own_flags) & NO_KEY_FRAME);
  }
  return n > 0;
}

/* FALSE for a fragment of another form, for example one whose offsets count from the beginning of
 * the file. */
static gboolean
read_fragment (const Reader *moof, const Head *head, Fragment *fragment)
{
  static const guint32 header[] = {BOX ('t', 'r', 'a', 'f'), BOX ('t', 'f', 'h', 'd'), 0};
  static const guint32 time[] = {BOX ('t', 'r', 'a', 'f'), BOX ('t', 'f', 'd', 't'), 0};
  static const guint32 samples[] = {BOX ('t', 'r', 'a', 'f'), BOX ('t', 'r', 'u', 'n'), 0};
  guint64 duration = head->default_duration, sample_flags = head->default_flags;
  guint64 version, flags;
  Reader reader;

  if (!find_box (moof, header, &reader) || !read_version (&reader, &version, &flags) ||
      flags & 0x1 || !skip (&reader, flags & 0x2 ? 8 : 4) ||
      (flags & 0x8 && !read_number (&reader, 4, &duration)) ||
      !skip (&reader, flags & 0x10 ? 4 : 0) ||
      (flags & 0x20 && !read_number (&reader, 4, &sample_flags)))
    return FALSE;
  return find_box (moof, time, &reader) && read_version (&reader, &version, &flags) &&
         read_patch (&reader, version, &fragment->time) && find_box (moof, samples, &reader) &&
         read_samples (&reader, fragment, duration, sample_flags);
}

/* The part. */

/* What is looked for, in units of the track. */
typedef struct {
  Head head;
  gint64 from, to;
  goffset begin, end; /* of the part in the file; 0: no fragment belongs to it */
  guint64 begin_time, end_time;
  guint64 fragment_end; /* time of the end of the last table; its samples follow */
} Search;

static gint64
to_units (const Search *search, gint64 utc)
{
  const gdouble units = (gdouble)(utc - search->head.utc) / G_USEC_PER_SEC * search->head.timescale;

  return CLAMP (units, -9e18, 9e18);
}

/* A fragment in front of the part, or of the part. FALSE behind it. */
static gboolean
take_fragment (ClipPart *self, Search *search, const Box *box, Fragment *fragment)
{
  const gint64 time = fragment->time.value;

  if (time >= search->to && search->begin)
    return FALSE;
  if (fragment->is_key && (time <= search->from || !search->begin)) {
    search->begin = box->at;
    search->begin_time = time;
    g_array_set_size (self->patches, 0);
  }
  fragment->time.at += box->body;
  g_array_append_val (self->patches, fragment->time);
  search->fragment_end = time + fragment->duration;
  return TRUE;
}

static gboolean
take_head (ClipPart *self, Search *search, const Box *box, gint64 from, gint64 to)
{
  g_autofree guint8 *bytes = read_body (self->file, box);

  const Reader moov = {.bytes = bytes, .end = box->end - box->body};

  if (!bytes || !read_head (&moov, &search->head))
    return FALSE;
  search->head.duration.at += box->body;
  search->from = to_units (search, from);
  search->to = to_units (search, to);
  return TRUE;
}

/* FALSE behind the last fragment of the part, or where the file is no clip. */
static gboolean
take_table (ClipPart *self, Search *search, const Box *box)
{
  g_autofree guint8 *bytes = read_body (self->file, box);
  const Reader moof = {.bytes = bytes, .end = box->end - box->body};
  Fragment fragment = {0};

  if (self->head == 0)
    self->head = box->at;
  return bytes && search->head.timescale && read_fragment (&moof, &search->head, &fragment) &&
         take_fragment (self, search, box, &fragment);
}

/* Goes through the boxes of the file up to the end of the part. */
static void
look (ClipPart *self, Search *search, gint64 from, gint64 to)
{
  const goffset size = lseek (self->file, 0, SEEK_END);
  goffset at = 0;
  Box box;

  while (read_box (self->file, at, size, &box)) {
    if ((box.type == BOX ('m', 'o', 'o', 'v') && !take_head (self, search, &box, from, to)) ||
        (box.type == BOX ('m', 'o', 'o', 'f') && !take_table (self, search, &box)))
      return;
    at = box.end;
    if (box.type == BOX ('m', 'd', 'a', 't') && search->begin) {
      search->end = box.end;
      search->end_time = search->fragment_end;
    }
  }
}

/* Makes times and offsets count from the beginning of the part. */
static void
finish (ClipPart *self, const Search *search)
{
  Patch duration = search->head.duration;

  self->skipped = search->begin - self->head;
  self->size = search->end - self->skipped;
  for (guint i = 0; i < self->patches->len; i++) {
    Patch *patch = &g_array_index (self->patches, Patch, i);

    patch->at -= self->skipped;
    patch->value -= search->begin_time;
  }
  duration.value = gst_util_uint64_scale (
      search->end_time - search->begin_time, search->head.movie_scale, search->head.timescale);
  if (duration.width > 0)
    g_array_prepend_val (self->patches, duration);
}

ClipPart *
clip_part_new (gint file, gint64 from, gint64 to, GError **error)
{
  ClipPart *self = g_new0 (ClipPart, 1);
  Search search = {0};

  self->file = file;
  self->patches = g_array_new (FALSE, FALSE, sizeof (Patch));
  look (self, &search, from, to);
  if (search.end && search.head.utc && search.end_time > search.begin_time &&
      (gint64)search.end_time > search.from && (gint64)search.begin_time < search.to) {
    finish (self, &search);
    return self;
  }
  if (search.head.utc)
    g_set_error_literal (
        error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "the clip has nothing of this time");
  else
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
        "the file is no clip that says when it begins");
  clip_part_free (self);
  return NULL;
}

void
clip_part_free (ClipPart *self)
{
  g_array_unref (self->patches);
  g_free (self);
}

goffset
clip_part_get_size (ClipPart *self)
{
  return self->size;
}

/* Writes the number's bytes that are among the @n bytes at this place. */
static void
apply (const Patch *patch, guint8 *bytes, gsize n, goffset at)
{
  for (guint i = 0; i < patch->width; i++) {
    const goffset place = patch->at + i - at;

    if (place >= 0 && place < (goffset)n)
      bytes[place] = patch->value >> 8 * (patch->width - 1 - i);
  }
}

gssize
clip_part_read (ClipPart *self, guint8 *bytes, gsize size, goffset at)
{
  const gboolean is_head = at < self->head;
  const goffset left = (is_head ? self->head : self->size) - at;
  gssize n = left <= 0 ? 0
                       : read_some (self->file, bytes, MIN ((goffset)size, left),
                             is_head ? at : at + self->skipped);

  for (guint i = 0; n > 0 && i < self->patches->len; i++)
    apply (&g_array_index (self->patches, Patch, i), bytes, n, at);
  return n;
}
