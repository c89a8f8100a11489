/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scratch-file.h"

#include "core/base/status.h"
#include "core/base/unnamed-file.h"

#include <string.h>

int
scratch_file_open (const char *folder, CclError *error)
{
  const int file = unnamed_open (folder);
  if (file < 0)
    ccl_error_set (error, CUDACCL_ERROR_IO, "no scratch file in %s: %s", folder, strerror (errno));
  return file;
}

CclStatus
scratch_file_write (int file, uint64_t offset, const void *bytes, size_t size, CclError *error)
{
  if (unnamed_write (file, offset, bytes, size))
    return CUDACCL_OK;
  return ccl_error_set (
      error, CUDACCL_ERROR_IO, "the scratch file cannot grow: %s", strerror (errno));
}

CclStatus
scratch_file_read (int file, uint64_t offset, void *bytes, size_t size, CclError *error)
{
  if (unnamed_read (file, offset, bytes, size))
    return CUDACCL_OK;
  return ccl_error_set (error, CUDACCL_ERROR_IO, "the scratch file cannot be read: %s",
      errno ? strerror (errno) : "it is too short");
}
