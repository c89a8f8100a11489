/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scratch-file.h"

#include "core/base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns −1 with errno set. */
static int
open_file (const char *folder)
{
  char name[4096];
  const int file = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  /* Some file systems have no unnamed files. */
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
    return file;
  if (snprintf (name, sizeof name, "%s/ccl-seams-XXXXXX", folder) >= (int)sizeof name)
    return -1;
  const int named = mkostemp (name, O_CLOEXEC);
  if (named >= 0)
    unlink (name);
  return named;
}

int
scratch_file_open (const char *folder, CclError *error)
{
  const int file = open_file (folder);
  if (file < 0)
    ccl_error_set (error, CUDACCL_ERROR_IO, "no scratch file in %s: %s", folder, strerror (errno));
  return file;
}

CclStatus
scratch_file_write (int file, uint64_t offset, const void *bytes, size_t size, CclError *error)
{
  for (size_t done = 0; done < size;) {
    const ssize_t n =
        pwrite (file, (const char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return ccl_error_set (
          error, CUDACCL_ERROR_IO, "the scratch file cannot grow: %s", strerror (errno));
    done += (size_t)n;
  }
  return CUDACCL_OK;
}

CclStatus
scratch_file_read (int file, uint64_t offset, void *bytes, size_t size, CclError *error)
{
  for (size_t done = 0; done < size;) {
    const ssize_t n = pread (file, (char *)bytes + done, size - done, (off_t)(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return ccl_error_set (error, CUDACCL_ERROR_IO, "the scratch file cannot be read: %s",
          n < 0 ? strerror (errno) : "it is too short");
    done += (size_t)n;
  }
  return CUDACCL_OK;
}
