/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unnamed-file.h"

#include "core/base/unnamed-file.h"
#include "pictures/error.h"

#include <string.h>
#include <sys/mman.h>

int
unnamed_file_open (const char *folder, CclError *error)
{
  const char *in = folder ? folder : P_tmpdir;
  const int file = unnamed_open (in);

  if (file < 0)
    fail (error, "no file can be made in %s: %s", in, strerror (errno));
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
