/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kept-map.h"

#include "core/base/unnamed-file.h"
#include "pictures/error.h"
#include "unnamed-file.h"

#include <string.h>

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
  return unnamed_write (self->file, first * label_bytes, labels, n * label_bytes) ||
         fail (error, "the labels of %s cannot be written: %s", self->what, strerror (errno));
}

bool
kept_map_read (const KeptMap *self, uint64_t first, void *labels, size_t n, uint32_t label_bytes,
    CclError *error)
{
  return unnamed_read (self->file, first * label_bytes, labels, n * label_bytes) ||
         fail (error, "the labels of %s cannot be read: %s", self->what,
             errno ? strerror (errno) : "they are too short");
}

void
kept_map_free (KeptMap *self)
{
  if (!self)
    return;
  close (self->file);
  free (self);
}
