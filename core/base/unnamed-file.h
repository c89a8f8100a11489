/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary files without a name, which the system deletes when the process ends, for what does not
 * fit in memory. A header, because libcudaccl does not export these functions to the programs that
 * use them, too. They set errno if they fail. */
#ifndef CUDACCL_UNNAMED_FILE_H
#define CUDACCL_UNNAMED_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Opens a file without a name in the folder, to be closed with close(). Returns −1 if it fails. */
static inline int
unnamed_open (const char *folder)
{
  char name[PATH_MAX];
  const int file = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  /* Some file systems have no such files. */
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
    return file;
  if (snprintf (name, sizeof name, "%s/ccl-XXXXXX", folder) >= (int)sizeof name) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const int named = mkostemp (name, O_CLOEXEC);
  if (named >= 0)
    unlink (name);
  return named;
}

/* Writes all bytes at an offset. */
static inline bool
unnamed_write (int file, uint64_t offset, const void *bytes, size_t size)
{
  for (size_t done = 0; done < size;) {
    const ssize_t n =
        pwrite (file, (const char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

/* Reads all bytes at an offset. errno is 0 where the file ends before. */
static inline bool
unnamed_read (int file, uint64_t offset, void *bytes, size_t size)
{
  for (size_t done = 0; done < size;) {
    errno = 0;
    const ssize_t n = pread (file, (char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return true;
}

#endif /* CUDACCL_UNNAMED_FILE_H */
