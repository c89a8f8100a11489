/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kept-map.h"

#include "pictures/error.h"
#include "unnamed-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct KeptMap {
  int file;
  const char *what;
};

KeptMap *
kept_map_new (const char *folder, const char *what, CclError *error)
{
  KeptMap *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  self->what = what;
  self->file = unnamed_file_open (folder, error);
  if (self->file >= 0)
    return self;
  free (self);
  return NULL;
}

bool
kept_map_write (KeptMap *self, uint64_t first, const void *labels, size_t n, uint32_t label_bytes,
    CclError *error)
{
  const char *bytes = labels;
  const size_t size = n * label_bytes;

  for (size_t done = 0; done < size;) {
    const ssize_t n_written =
        pwrite (self->file, bytes + done, size - done, (off_t)(first * label_bytes + done));
    if (n_written < 0 && errno == EINTR)
      continue;
    if (n_written <= 0)
      return fail (error, "the labels of %s cannot be written: %s", self->what, strerror (errno));
    done += (size_t)n_written;
  }
  return true;
}

bool
kept_map_read (const KeptMap *self, uint64_t first, void *labels, size_t n, uint32_t label_bytes,
    CclError *error)
{
  char *bytes = labels;
  const size_t size = n * label_bytes;

  for (size_t done = 0; done < size;) {
    const ssize_t n_read =
        pread (self->file, bytes + done, size - done, (off_t)(first * label_bytes + done));
    if (n_read < 0 && errno == EINTR)
      continue;
    if (n_read <= 0)
      return fail (error, "the labels of %s cannot be read: %s", self->what,
          n_read < 0 ? strerror (errno) : "they are too short");
    done += (size_t)n_read;
  }
  return true;
}

void
kept_map_free (KeptMap *self)
{
  if (!self)
    return;
  close (self->file);
  free (self);
}
