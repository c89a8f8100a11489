/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plane-shapes.h"

#include "error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct PlaneShapes {
  uint32_t n_planes;
  FILE *file;          /* with the components in order, first of plane n-1, last of plane 1 */
  uint64_t n_kept;     /* shapes in the file */
  uint64_t n_joined;   /* components of plane 0 so far */
  CclVolumeShape *all; /* [n_planes × capacity] of joined components */
  CclVolumeShape *one; /* [capacity] of one plane */
  size_t capacity;
};

PlaneShapes *
plane_shapes_new (uint32_t n_planes, const char *path, const Processes *processes, CclError *error)
{
  PlaneShapes *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  self->n_planes = n_planes;
  self->file = own_part_new (path, processes, error);
  if (self->file)
    return self;
  free (self);
  return NULL;
}

bool
plane_shapes_keep (PlaneShapes *self, const CclVolumeShape *shapes, size_t n, CclError *error)
{
  self->n_kept += n;
  return own_part_write (self->file, shapes, n * sizeof *shapes, error);
}

static bool
grow (PlaneShapes *self, size_t n, CclError *error)
{
  if (self->all && n <= self->capacity)
    return true;
  if (n == 0)
    n = 1;
  free (self->all);
  free (self->one);
  self->all = calloc (n, self->n_planes * sizeof *self->all);
  self->one = calloc (n, sizeof *self->one);
  self->capacity = self->all && self->one ? n : 0;
  return self->capacity > 0 || fail_without_memory (error);
}

/* Reads the shapes of the next n components in a plane. */
static bool
read_plane (PlaneShapes *self, uint32_t plane, size_t n, CclError *error)
{
  const uint64_t n_components = self->n_kept / (self->n_planes - 1);
  const uint64_t first = (self->n_planes - 1 - plane) * n_components + self->n_joined;

  if (fseeko (self->file, (off_t)(first * sizeof *self->one), SEEK_SET) == 0 &&
      fread (self->one, sizeof *self->one, n, self->file) == n)
    return true;
  return fail (error, "the measures of a colour cannot be read again: %s",
      ferror (self->file) ? strerror (errno) : "the picture has changed");
}

const CclVolumeShape *
plane_shapes_join (PlaneShapes *self, const CclVolumeShape *shapes, size_t n, CclError *error)
{
  if (!grow (self, n, error))
    return NULL;
  for (uint32_t plane = 0; plane < self->n_planes; plane++) {
    if (plane > 0 && !read_plane (self, plane, n, error))
      return NULL;
    for (size_t i = 0; i < n; i++)
      self->all[i * self->n_planes + plane] = plane > 0 ? self->one[i] : shapes[i];
  }
  self->n_joined += n;
  return self->all;
}

bool
plane_shapes_check (const PlaneShapes *self, CclError *error)
{
  return self->n_kept == self->n_joined * (self->n_planes - 1) ||
         fail (error, "the picture has changed while its colours were measured");
}

void
plane_shapes_free (PlaneShapes *self)
{
  if (!self)
    return;
  fclose (self->file);
  free (self->all);
  free (self->one);
  free (self);
}
