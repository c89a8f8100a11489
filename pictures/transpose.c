/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "transpose.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

/* A block of the array is transposed at once: a part of some columns. A column is all samples with
 * the same x; in the file, they follow each other, z first. Blocks are chosen so that each read
 * and each write is long. */
enum { BLOCK_BYTES = 1 << 25, ACCESS_BYTES = 1 << 12 };

typedef struct Block {
  uint64_t x, n_columns;   /* the columns */
  uint64_t first, n;       /* the part of each, in its order in the file */
  uint8_t *columns, *rows; /* [n_columns × n] samples each */
} Block;

static bool
read_block (Flat *self, const Block *block, CclError *error)
{
  const uint64_t bytes = sample_bytes (self->picture.type);
  const uint64_t column = self->picture.height * self->picture.depth;

  for (uint64_t i = 0; i < block->n_columns; i++) {
    const uint64_t begin = (block->x + i) * column + block->first;
    if (!picture_file_read (self->file, self->offset + begin * bytes,
            block->columns + i * block->n * bytes, block->n * bytes, error))
      return false;
  }
  return true;
}

static bool
write_block (Flat *self, const Block *block, PictureFile *to, CclError *error)
{
  const uint64_t bytes = sample_bytes (self->picture.type), width = self->picture.width;
  const uint64_t depth = self->picture.depth, height = self->picture.height;

  for (uint64_t k = 0; k < block->n; k++)
    for (uint64_t i = 0; i < block->n_columns; i++)
      memcpy (block->rows + (k * block->n_columns + i) * bytes,
          block->columns + (i * block->n + k) * bytes, bytes);
  for (uint64_t k = 0; k < block->n; k++) {
    const uint64_t z = (block->first + k) % depth, y = (block->first + k) / depth;
    if (!picture_file_write (to, ((z * height + y) * width + block->x) * bytes,
            block->rows + k * block->n_columns * bytes, block->n_columns * bytes, error))
      return false;
  }
  return true;
}

static uint64_t
smaller (uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

bool
flat_transpose (Flat *self, CclError *error)
{
  const uint64_t bytes = sample_bytes (self->picture.type), width = self->picture.width;
  const uint64_t column = self->picture.height * self->picture.depth;
  const uint64_t n_columns = smaller (width, ACCESS_BYTES / bytes);
  const uint64_t n = smaller (column, BLOCK_BYTES / bytes / n_columns);
  PictureFile *to = picture_file_temporary (self->file->name, error);
  Block block = {.columns = malloc (n_columns * n * bytes), .rows = malloc (n_columns * n * bytes)};
  bool succeeded = to && ((block.columns && block.rows) || fail_without_memory (error));

  for (block.x = 0; succeeded && block.x < width; block.x += n_columns) {
    block.n_columns = smaller (width - block.x, n_columns);
    for (block.first = 0; succeeded && block.first < column; block.first += n) {
      block.n = smaller (column - block.first, n);
      succeeded = read_block (self, &block, error) && write_block (self, &block, to, error);
    }
  }
  free (block.columns);
  free (block.rows);
  if (!succeeded) {
    picture_file_close (to);
    return false;
  }
  picture_file_close (self->file);
  self->file = to;
  self->offset = 0;
  return true;
}
