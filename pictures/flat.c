/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flat.h"
#include "core/base/divide-up.h"

#include "error.h"

#include <stdlib.h>

static void
swap_bytes (uint8_t *samples, uint64_t n, uint32_t bytes)
{
  for (uint64_t i = 0; i < n; i++, samples += bytes) {
    for (uint32_t j = 0; j < bytes / 2; j++) {
      const uint8_t byte = samples[j];
      samples[j] = samples[bytes - 1 - j];
      samples[bytes - 1 - j] = byte;
    }
  }
}

static uint64_t
row_bytes (const Flat *self)
{
  const Picture *picture = &self->picture;
  return self->is_bits ? divide_up (picture->width, 8)
                       : picture->width * picture->n_channels * sample_bytes (picture->type);
}

static bool
read_bits (Flat *self, uint64_t first_row, uint64_t n_rows, uint8_t *samples, CclError *error)
{
  const uint64_t size = row_bytes (self), width = self->picture.width;

  for (uint64_t i = 0; i < n_rows; i++, samples += width) {
    if (!picture_file_read (
            self->file, self->offset + (first_row + i) * size, self->bit_row, size, error))
      return false;
    for (uint64_t x = 0; x < width; x++)
      samples[x] = self->bit_row[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
  }
  return true;
}

static bool
flat_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Flat *self = (Flat *)picture;
  const uint64_t size = row_bytes (self);

  if (self->is_bits)
    return read_bits (self, first_row, n_rows, samples, error);
  if (!picture_file_read (
          self->file, self->offset + first_row * size, samples, n_rows * size, error))
    return false;
  if (self->swap)
    swap_bytes (
        samples, n_rows * picture->width * picture->n_channels, sample_bytes (picture->type));
  return true;
}

static void
flat_free (Picture *picture)
{
  Flat *self = (Flat *)picture;
  picture_file_close (self->file);
  free (self->bit_row);
  free (self);
}

static const PictureClass flat_class = {flat_read, flat_free};

Flat *
flat_new (PictureFile *file, CclError *error)
{
  Flat *self = picture_new (sizeof *self, file, error);

  if (!self)
    return NULL;
  self->picture = (Picture){.klass = &flat_class, .depth = 1, .n_channels = 1};
  self->file = file;
  return self;
}

static bool
check_size (Flat *self, CclError *error)
{
  const Picture *p = &self->picture;

  if (!picture_check (p, self->file, error))
    return false;
  const uint64_t expected = self->offset + p->height * p->depth * row_bytes (self);
  if (self->file->size < expected || (self->file->size > expected && !self->has_more))
    return fail (error,
        "%s: damaged: the file has %llu bytes, a picture of %llu×%llu×%llu has %llu",
        self->file->name, (unsigned long long)self->file->size, (unsigned long long)p->width,
        (unsigned long long)p->height, (unsigned long long)p->depth, (unsigned long long)expected);
  self->bit_row = self->is_bits ? malloc (row_bytes (self)) : NULL;
  return !self->is_bits || self->bit_row || fail_without_memory (error);
}

Picture *
flat_finish (Flat *self, bool is_good, CclError *error)
{
  if (is_good && check_size (self, error))
    return &self->picture;
  flat_free (&self->picture);
  return NULL;
}

Picture *
picture_open_raw (PictureFile *file, const RawFormat *raw, CclError *error)
{
  Flat *self = flat_new (file, error);

  if (!self)
    return NULL;
  self->picture.width = raw->width;
  self->picture.height = raw->height;
  self->picture.depth = raw->depth;
  self->picture.is_volume = raw->is_volume;
  self->picture.type = raw->type;
  return flat_finish (self, true, error);
}
