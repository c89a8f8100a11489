/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file.h"

#include "error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes the descriptor, also if it fails. */
static PictureFile *
file_new (const char *name, int descriptor, CclError *error)
{
  PictureFile *file = calloc (1, sizeof *file);

  if (file) {
    file->name = strdup (name);
    file->descriptor = descriptor;
    if (file->name)
      return file;
  }
  fail_without_memory (error);
  free (file);
  close (descriptor);
  return NULL;
}

PictureFile *
picture_file_temporary (const char *name, CclError *error)
{
  const char *folder = getenv ("TMPDIR");
  char *path;

  if (!folder || !*folder)
    folder = "/tmp";
  if (asprintf (&path, "%s/ccl-XXXXXX", folder) < 0) {
    fail_without_memory (error);
    return NULL;
  }
  const int descriptor = mkostemp (path, O_CLOEXEC);
  if (descriptor < 0)
    fail (error, "%s: no temporary file in %s: %s", name, folder, strerror (errno));
  else
    unlink (path);
  free (path);
  return descriptor < 0 ? NULL : file_new (name, descriptor, error);
}

bool
picture_file_write (
    PictureFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0; done < size;) {
    const ssize_t n =
        pwrite (file->descriptor, (const char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return fail (error, "%s: its temporary file: %s", file->name, strerror (errno));
    done += (uint64_t)n;
  }
  if (offset + size > file->size)
    file->size = offset + size;
  return true;
}

/* Copies what a pipe delivers until its end. Closes the pipe. */
static PictureFile *
copy_pipe (int pipe, const char *name, CclError *error)
{
  PictureFile *file = picture_file_temporary (name, error);
  enum { SIZE = 1 << 16 };
  uint8_t *buffer = malloc (SIZE);
  bool succeeded = file && (buffer || fail_without_memory (error));

  while (succeeded) {
    const ssize_t n = read (pipe, buffer, SIZE);
    if (n == 0)
      break;
    if (n > 0)
      succeeded = picture_file_write (file, file->size, buffer, (uint64_t)n, error);
    else if (errno != EINTR)
      succeeded = fail (error, "%s: %s", file->name, strerror (errno));
  }
  free (buffer);
  close (pipe);
  if (succeeded)
    return file;
  picture_file_close (file);
  return NULL;
}

/* Opens the file to read. Returns the descriptor, or -1 with errno set. */
static int
open_path (const char *path, bool pipes)
{
  struct stat status;

  if (pipes && strcmp (path, "-") == 0)
    return fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  if (pipes && stat (path, &status) == 0 && S_ISFIFO (status.st_mode))
    return open (path, O_RDONLY | O_CLOEXEC); /* waits for a writer */
  return open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

PictureFile *
picture_file_open (const char *path, bool pipes, CclError *error)
{
  const char *name = pipes && strcmp (path, "-") == 0 ? "standard input" : path;
  const int descriptor = open_path (path, pipes);
  struct stat status = {0};

  if (descriptor < 0 || fstat (descriptor, &status) != 0) {
    fail (error, "%s: %s", name, strerror (errno));
    if (descriptor >= 0)
      close (descriptor);
    return NULL;
  }
  if (pipes && S_ISFIFO (status.st_mode))
    return copy_pipe (descriptor, name, error);
  PictureFile *file = file_new (name, descriptor, error);
  if (!file)
    return NULL;
  file->size = (uint64_t)status.st_size;
  if (S_ISREG (status.st_mode))
    return file;
  fail (error, "%s: not a regular file", file->name);
  picture_file_close (file);
  return NULL;
}

ssize_t
picture_file_read_some (PictureFile *file, uint64_t offset, void *bytes, uint64_t size)
{
  ssize_t n;

  do
    n = pread (file->descriptor, bytes, size, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n;
}

bool
picture_file_read (PictureFile *file, uint64_t offset, void *bytes, uint64_t size, CclError *error)
{
  for (uint64_t done = 0; done < size;) {
    const ssize_t n =
        picture_file_read_some (file, offset + done, (char *)bytes + done, size - done);
    if (n < 0)
      return fail (error, "%s: %s", file->name, strerror (errno));
    if (n == 0)
      return fail (error, "%s: the file ends too early", file->name);
    done += (uint64_t)n;
  }
  return true;
}

void
picture_file_close (PictureFile *file)
{
  if (!file)
    return;
  close (file->descriptor);
  free (file->name);
  free (file);
}
