/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Preloaded into ccl-watch: a folder whose disk hangs or is full. FAULTY_FOLDER is its path, and
 * FAULTY_FOLDER_STATE that of a file outside of it. While this file begins with 'h', each system
 * call on the folder waits; with 'f', writing fails, because no space is left. */
#undef _FILE_OFFSET_BITS /* or open() would be open64() */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__ (name) *)dlsym (RTLD_NEXT, #name))

/* Whether the path, which may be relative to an open folder, lies in the faulty folder. */
static int
is_faulty (int parent, const char *path)
{
  const char *folder = getenv ("FAULTY_FOLDER");
  char link[64], base[4096];
  ssize_t length;

  if (!folder || !path)
    return 0;
  if (path[0] == '/')
    return strncmp (path, folder, strlen (folder)) == 0;
  if (parent < 0)
    return 0;
  snprintf (link, sizeof link, "/proc/self/fd/%d", parent);
  length = NEXT (readlink) (link, base, sizeof base - 1);
  base[length < 0 ? 0 : length] = '\0';
  return strncmp (base, folder, strlen (folder)) == 0;
}

/* The first character of the state; 0 without one. */
static char
read_state (void)
{
  const char *path = getenv ("FAULTY_FOLDER_STATE");
  int file = path ? NEXT (open) (path, O_RDONLY | O_CLOEXEC) : -1;
  char state = 0;

  if (file < 0 || NEXT (read) (file, &state, 1) != 1)
    state = 0;
  if (file >= 0)
    close (file);
  return state;
}

/* Waits while the folder hangs. TRUE if it is full. */
static int
meet_fault (int parent, const char *path)
{
  char state;
  int error = errno;

  if (!is_faulty (parent, path))
    return 0;
  while ((state = read_state ()) == 'h')
    usleep (20000);
  errno = error;
  return state == 'f';
}

static int
fail_full (void)
{
  errno = ENOSPC;
  return -1;
}

#define OPEN(name)                                                                                 \
  int name (const char *path, int flags, ...)                                                      \
  {                                                                                                \
    va_list arguments;                                                                             \
    mode_t mode;                                                                                   \
                                                                                                   \
    va_start (arguments, flags);                                                                   \
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg (arguments, mode_t) : 0;                         \
    va_end (arguments);                                                                            \
    meet_fault (AT_FDCWD, path);                                                                   \
    return NEXT (name) (path, flags, mode);                                                        \
  }
OPEN (open)
OPEN (open64)

#define OPENAT(name)                                                                               \
  int name (int parent, const char *path, int flags, ...)                                          \
  {                                                                                                \
    va_list arguments;                                                                             \
    mode_t mode;                                                                                   \
                                                                                                   \
    va_start (arguments, flags);                                                                   \
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg (arguments, mode_t) : 0;                         \
    va_end (arguments);                                                                            \
    meet_fault (parent, path);                                                                     \
    return NEXT (name) (parent, path, flags, mode);                                                \
  }
OPENAT (openat)
OPENAT (openat64)

#define FOPEN(name)                                                                                \
  FILE *name (const char *path, const char *mode)                                                  \
  {                                                                                                \
    meet_fault (AT_FDCWD, path);                                                                   \
    return NEXT (name) (path, mode);                                                               \
  }
FOPEN (fopen)
FOPEN (fopen64)

DIR *
opendir (const char *path)
{
  meet_fault (AT_FDCWD, path);
  return NEXT (opendir) (path);
}

int
mkdir (const char *path, mode_t mode)
{
  meet_fault (AT_FDCWD, path);
  return NEXT (mkdir) (path, mode);
}

int
mkdirat (int parent, const char *path, mode_t mode)
{
  meet_fault (parent, path);
  return NEXT (mkdirat) (parent, path, mode);
}

int
access (const char *path, int mode)
{
  meet_fault (AT_FDCWD, path);
  return NEXT (access) (path, mode);
}

#define STAT(name, type)                                                                           \
  int name (const char *path, struct type *info)                                                   \
  {                                                                                                \
    meet_fault (AT_FDCWD, path);                                                                   \
    return NEXT (name) (path, info);                                                               \
  }
STAT (stat, stat)
STAT (stat64, stat64)
STAT (lstat, stat)
STAT (lstat64, stat64)

int
unlink (const char *path)
{
  meet_fault (AT_FDCWD, path);
  return NEXT (unlink) (path);
}

int
unlinkat (int parent, const char *path, int flags)
{
  meet_fault (parent, path);
  return NEXT (unlinkat) (parent, path, flags);
}

ssize_t
read (int file, void *data, size_t size)
{
  meet_fault (file, "");
  return NEXT (read) (file, data, size);
}

ssize_t
write (int file, const void *data, size_t size)
{
  return meet_fault (file, "") ? fail_full () : NEXT (write) (file, data, size);
}

ssize_t
writev (int file, const struct iovec *parts, int n)
{
  return meet_fault (file, "") ? fail_full () : NEXT (writev) (file, parts, n);
}

ssize_t
pwrite (int file, const void *data, size_t size, off_t position)
{
  return meet_fault (file, "") ? fail_full () : NEXT (pwrite) (file, data, size, position);
}

ssize_t
pwrite64 (int file, const void *data, size_t size, off64_t position)
{
  return meet_fault (file, "") ? fail_full () : NEXT (pwrite64) (file, data, size, position);
}
