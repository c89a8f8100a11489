/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loaded before the C library, this is a disk or a network folder that hangs: to open, to read and
 * to write a file whose path contains "hung" waits for as long as the file exists that the
 * environment variable HUNG names. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES 4096

static _Atomic char is_hung[MAX_FILES]; /* by file descriptor */

static void
wait_for_the_disk (void)
{
  const char *path = getenv ("HUNG");

  while (path && access (path, F_OK) == 0)
    usleep (10000);
}

int
open64 (const char *path, int flags, ...)
{
  int (*next) (const char *, int, ...) = dlsym (RTLD_NEXT, "open64");
  const int hung = strstr (path, "hung") != NULL;
  va_list arguments;
  mode_t mode;
  int file;

  va_start (arguments, flags);
  mode = va_arg (arguments, mode_t);
  va_end (arguments);
  if (hung)
    wait_for_the_disk ();
  file = next (path, flags, mode);
  if (file >= 0 && file < MAX_FILES)
    is_hung[file] = hung;
  return file;
}

int
close (int file)
{
  int (*next) (int) = dlsym (RTLD_NEXT, "close");

  if (file >= 0 && file < MAX_FILES)
    is_hung[file] = 0;
  return next (file);
}

ssize_t
read (int file, void *bytes, size_t n)
{
  ssize_t (*next) (int, void *, size_t) = dlsym (RTLD_NEXT, "read");

  if (file >= 0 && file < MAX_FILES && is_hung[file])
    wait_for_the_disk ();
  return next (file, bytes, n);
}

ssize_t
write (int file, const void *bytes, size_t n)
{
  ssize_t (*next) (int, const void *, size_t) = dlsym (RTLD_NEXT, "write");

  if (file >= 0 && file < MAX_FILES && is_hung[file])
    wait_for_the_disk ();
  return next (file, bytes, n);
}
