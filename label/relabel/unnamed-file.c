/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unnamed-file.h"

#include "pictures/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int
unnamed_file_open (const char *folder, CclError *error)
{
  char *name;

  if (asprintf (&name, "%s/ccl-label-XXXXXX", folder ? folder : P_tmpdir) < 0) {
    fail_without_memory (error);
    return -1;
  }
  const int file = mkostemp (name, O_CLOEXEC);
  if (file < 0)
    fail (error, "%s: %s", name, strerror (errno));
  else
    unlink (name);
  free (name);
  return file;
}

bool
file_memory_grow (FileMemory *self, const char *folder, size_t size, CclError *error)
{
  if (size <= self->size)
    return true;
  const int file = self->data ? self->file : unnamed_file_open (folder, error);
  if (file < 0)
    return false;
  /* A full disk shows here, and not as a signal when a page is written. */
  const int failure = posix_fallocate (file, (off_t)self->size, (off_t)(size - self->size));
  void *data = MAP_FAILED;
  if (failure)
    fail (error, "%s: %s", folder ? folder : P_tmpdir, strerror (failure));
  else if (self->data)
    data = mremap (self->data, self->size, size, MREMAP_MAYMOVE);
  else
    data = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    if (!self->data)
      close (file);
    return failure ? false : fail_without_memory (error);
  }
  *self = (FileMemory){data, size, file};
  return true;
}

void
file_memory_rest (const FileMemory *self)
{
  if (self->data)
    madvise (self->data, self->size, MADV_DONTNEED);
}

void
file_memory_free (FileMemory *self)
{
  if (!self->data)
    return;
  munmap (self->data, self->size);
  close (self->file);
  *self = (FileMemory){0};
}
