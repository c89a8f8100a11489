/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files without a name, for data that does not fit into memory. Functions that return bool fill the
 * error if they return false. */
#pragma once

#include <cudaccl/tiled.h>

/* Opens a file without a name in a folder; NULL: in that of temporary files. Returns −1 with the
 * error filled. */
int unnamed_file_open (const char *folder, CclError *error);

/* Memory in such a file: where memory is short, the system keeps its pages in the file. All zeros
 * is one of 0 bytes. */
typedef struct FileMemory {
  void *data;
  size_t size;
  int file; /* if data is not NULL */
} FileMemory;

/* Makes the memory as large as size bytes, if it is smaller; the address may change. New bytes are
 * 0. */
bool file_memory_grow (FileMemory *memory, const char *folder, size_t size, CclError *error);

/* Lets the system take the pages; they come back when they are read. */
void file_memory_rest (const FileMemory *memory);

void file_memory_free (FileMemory *memory);
