/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "processes.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct OutputFile {
  int file;
  char *path;
};

Processes
processes_start (int *argc, char ***argv, void (*clean_up) (void))
{
  (void)argc, (void)argv, (void)clean_up;
  return (Processes){.n_ranks = 1};
}

bool
processes_agree (bool succeeded, CclError *error)
{
  return succeeded;
}

uint64_t
processes_share (uint64_t value)
{
  return value;
}

uint64_t
processes_sum_before (uint64_t value)
{
  return 0;
}

uint64_t
processes_sum (uint64_t value)
{
  return value;
}

void
processes_sum_all (uint64_t *numbers, uint32_t n)
{
}

void
processes_end (void)
{
}

OutputFile *
output_file_open (const char *path, CclError *error)
{
  OutputFile *file = calloc (1, sizeof *file);
  char *copy = strdup (path);

  if (file && copy) {
    *file = (OutputFile){open (path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), copy};
    if (file->file >= 0)
      return file;
    fail (error, "%s: %s", path, strerror (errno));
  } else {
    fail_without_memory (error);
  }
  free (copy);
  free (file);
  return NULL;
}

bool
output_file_reserve (OutputFile *file, uint64_t size, CclError *error)
{
  if (fallocate (file->file, 0, 0, (off_t)size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    return fail (error, "%s: %s", file->path, strerror (errno));
  return true;
}

bool
output_file_write (
    OutputFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0; done < size;) {
    const ssize_t n =
        pwrite (file->file, (const char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail (error, "%s: %s", file->path, strerror (errno));
    done += (uint64_t)n;
  }
  return true;
}

bool
output_file_write_together (
    OutputFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error)
{
  return output_file_write (file, offset, bytes, size, error);
}

bool
output_file_close (OutputFile *file, bool failed, CclError *error)
{
  bool succeeded = true;

  if (!file)
    return true;
  /* The file is renamed next; without this, a crash of the system could leave an empty one. */
  if (!failed && fsync (file->file) != 0)
    succeeded = fail (error, "%s: %s", file->path, strerror (errno));
  close (file->file);
  free (file->path);
  free (file);
  return succeeded;
}
