/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of pictures, open for reading. Functions that return bool or a pointer fill the error when
 * they fail. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <cudaccl/labeller.h>

typedef struct PictureFile {
  char *name; /* for messages */
  int descriptor;
  uint64_t size;        /* bytes, when the file was opened */
  uint64_t most_pixels; /* that its picture may have; 0: no limit */
  bool is_slice;        /* of a volume, whatever it says about others */
  bool as_values;       /* see PictureOptions */
  uint64_t page;        /* the same */
} PictureFile;

/* Opens a regular file. Other kinds of files are refused without waiting for their data. With
 * pipes, the data of a pipe is first copied to a temporary file, and "-" is standard input. */
PictureFile *picture_file_open (const char *path, bool pipes, CclError *error);

/* An empty file without a name, in the folder that TMPDIR names, else in /tmp. name: for messages.
 */
PictureFile *picture_file_temporary (const char *name, CclError *error);

/* Appends to a temporary file. */
bool picture_file_write (
    PictureFile *file, uint64_t offset, const void *bytes, uint64_t size, CclError *error);

/* Reads at most size bytes. Returns the number of bytes, 0 at the end of the file, -1 with errno
 * set. */
ssize_t picture_file_read_some (PictureFile *file, uint64_t offset, void *bytes, uint64_t size);

/* Reads exactly size bytes. */
bool picture_file_read (
    PictureFile *file, uint64_t offset, void *bytes, uint64_t size, CclError *error);

void picture_file_close (PictureFile *file); /* NULL is allowed */
