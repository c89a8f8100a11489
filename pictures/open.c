/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "open.h"

#include "error.h"
#include "flat.h"
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reports a file of no known format: "neither PNG, NPY nor TIFF". */
static void
fail_unknown (const char *name, const PictureFormat *const *formats, CclError *error)
{
  char names[100] = "";
  size_t length = 0;

  for (size_t i = 0; formats[i] && length < sizeof names; i++)
    length += (size_t)snprintf (names + length, sizeof names - length, "%s%s",
        i == 0           ? ""
        : formats[i + 1] ? ", "
                         : " nor ",
        formats[i]->name);
  fail (error, "%s: neither %s", name, names);
}

/* Opens a file of a format, and turns its picture if it is to be seen otherwise. */
static Picture *
open_turned (PictureFile *file, const PictureFormat *format, CclError *error)
{
  char *name = strdup (file->name);
  Picture *picture = format->open (file, error);

  if (picture && !name) {
    fail_without_memory (error);
    picture_free (picture);
    picture = NULL;
  }
  picture = picture ? picture_turn (picture, name, error) : NULL;
  free (name);
  return picture;
}

static Picture *
open_known (PictureFile *file, const PictureFormat *const *formats, CclError *error)
{
  uint8_t head[PICTURE_HEAD] = {0};
  const ssize_t n = picture_file_read_some (file, 0, head, sizeof head);

  for (size_t i = 0; formats[i]; i++) {
    if (n <= 0 || !formats[i]->begins (head, (size_t)n))
      continue;
    if (formats[i]->open)
      return open_turned (file, formats[i], error);
    fail (error, "%s: built without the library that reads %s", file->name, formats[i]->name);
    picture_file_close (file);
    return NULL;
  }
  fail_unknown (file->name, formats, error);
  picture_file_close (file);
  return NULL;
}

Picture *
picture_open_file (const char *path, const PictureOptions *options, CclError *error)
{
  PictureFile *file = picture_file_open (path, options->pipes, error);

  if (!file)
    return NULL;
  if (options->most_bytes && file->size > options->most_bytes) {
    fail (error, "%s: larger than %llu bytes", file->name, (unsigned long long)options->most_bytes);
    picture_file_close (file);
    return NULL;
  }
  file->most_pixels = options->most_pixels;
  file->is_slice = options->is_slice;
  file->as_values = options->as_values;
  file->page = options->page;
  if (options->raw.width)
    return picture_open_raw (file, &options->raw, error);
  return open_known (file, options->formats, error);
}
