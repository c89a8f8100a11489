/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files without a name, for what does not stay in memory. */
#ifndef CUDACCL_SCRATCH_FILE_H
#define CUDACCL_SCRATCH_FILE_H

#include <cudaccl/tiled.h>

#include <stddef.h>

/* Opens a file without a name in the folder, to be closed with close(). Returns −1 with the error
 * filled. */
int scratch_file_open (const char *folder, CclError *error);

/* Write and read bytes at an offset; what is read was written. */
CclStatus scratch_file_write (
    int file, uint64_t offset, const void *bytes, size_t size, CclError *error);
CclStatus scratch_file_read (int file, uint64_t offset, void *bytes, size_t size, CclError *error);

#endif /* CUDACCL_SCRATCH_FILE_H */
