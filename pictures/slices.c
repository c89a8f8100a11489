/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Volumes whose slices are files. */
#include "slices.h"

#include "error.h"
#include "part.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

typedef struct Slices {
  Picture picture;
  char **paths; /* [depth] */
  PictureOptions options;
  uint64_t open_slice;
  Picture *open; /* NULL: none */
} Slices;

/* Makes a slice the open one. */
static bool
open_slice (Slices *self, uint64_t slice, CclError *error)
{
  const Picture *picture = &self->picture;
  const char *path = self->paths[slice];

  if (self->open && self->open_slice == slice)
    return true;
  picture_free (self->open);
  self->open = picture_open_file (path, &self->options, error);
  if (!self->open)
    return false;
  self->open_slice = slice;
  const Picture *open = self->open;
  if (open->depth != 1)
    return fail (error, "%s: a slice of a volume cannot be a volume", path);
  if (open->width != picture->width || open->height != picture->height ||
      open->type != picture->type || open->n_channels != picture->n_channels)
    return fail (error,
        "%s: %llu×%llu pixels of %u × %s, but the first slice has %llu×%llu of %u × %s", path,
        (unsigned long long)open->width, (unsigned long long)open->height, open->n_channels,
        sample_type_name (open->type), (unsigned long long)picture->width,
        (unsigned long long)picture->height, picture->n_channels, sample_type_name (picture->type));
  return true;
}

static bool
slices_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Slices *self = (Slices *)picture;
  const uint64_t row_bytes = picture->width * picture->n_channels * sample_bytes (picture->type);

  for (uint64_t done = 0, n; done < n_rows; done += n) {
    const uint64_t slice = (first_row + done) / picture->height;
    const uint64_t row = (first_row + done) % picture->height;
    n = picture->height - row < n_rows - done ? picture->height - row : n_rows - done;
    if (!open_slice (self, slice, error) ||
        !self->open->klass->read (self->open, row, n, (char *)samples + done * row_bytes, error))
      return false;
  }
  return true;
}

static void
free_paths (char **paths, uint64_t n)
{
  for (uint64_t i = 0; paths && i < n; i++)
    free (paths[i]);
  free (paths);
}

static void
slices_free (Picture *picture)
{
  Slices *self = (Slices *)picture;
  free_paths (self->paths, picture->depth);
  picture_free (self->open);
  free (self);
}

static const PictureClass slices_class = {slices_read, slices_free};

/* Takes the paths, also if it fails. */
static Picture *
open_slices (char **paths, uint32_t n_paths, const PictureOptions *options, CclError *error)
{
  Slices *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    free_paths (paths, n_paths);
    return NULL;
  }
  self->picture = (Picture){.klass = &slices_class, .depth = n_paths};
  self->paths = paths;
  self->options = *options;
  self->options.is_slice = true;
  self->options.page = self->options.channel = 0;
  self->options.pipes = false; /* slices are opened again and again */
  self->open = picture_open_file (paths[0], &self->options, error);
  if (!self->open) {
    slices_free (&self->picture);
    return NULL;
  }
  self->picture = *self->open;
  self->picture.klass = &slices_class;
  self->picture.depth = n_paths;
  self->picture.is_volume = true;
  self->picture.geo = NULL;
  return &self->picture;
}

static Picture *
open_several (char *const *given, uint32_t n_paths, const PictureOptions *options, CclError *error)
{
  char **paths = calloc (n_paths, sizeof *paths);

  for (uint32_t i = 0; paths && i < n_paths; i++) {
    paths[i] = strdup (given[i]);
    if (!paths[i]) {
      free_paths (paths, n_paths);
      paths = NULL;
    }
  }
  if (paths)
    return open_slices (paths, n_paths, options, error);
  fail_without_memory (error);
  return NULL;
}

/* Natural order: numbers in names are compared by their value. */
static int
compare_names (const struct dirent **a, const struct dirent **b)
{
  return strverscmp ((*a)->d_name, (*b)->d_name);
}

static int
is_visible (const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

/* Whether a folder is a Zarr array or group, of version 2 or 3. */
static bool
is_zarr (const char *folder)
{
  static const char *const names[] = {".zarray", ".zgroup", "zarr.json"};
  bool found = false;

  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *path;
    if (asprintf (&path, "%s/%s", folder, names[i]) < 0)
      return false;
    found |= access (path, F_OK) == 0;
    free (path);
  }
  return found;
}

static Picture *
open_folder (const char *folder, const PictureOptions *options, CclError *error)
{
  struct dirent **entries;

  if (is_zarr (folder)) {
    fail (error, "%s: a Zarr array, which label_file() of the Python package reads", folder);
    return NULL;
  }
  const int n = scandir (folder, &entries, is_visible, compare_names);
  bool succeeded = true;

  if (n < 0) {
    fail (error, "%s: %s", folder, strerror (errno));
    return NULL;
  }
  char **paths = calloc ((size_t)n + 1, sizeof *paths);
  succeeded = paths != NULL;
  for (int i = 0; i < n; i++) {
    if (succeeded && asprintf (&paths[i], "%s/%s", folder, entries[i]->d_name) < 0) {
      paths[i] = NULL;
      succeeded = false;
    }
    free (entries[i]);
  }
  free (entries);
  if (succeeded && n > 0)
    return open_slices (paths, (uint32_t)n, options, error);
  if (succeeded)
    fail (error, "%s: the folder is empty", folder);
  else
    fail_without_memory (error);
  free_paths (paths, (uint64_t)n);
  return NULL;
}

static Picture *
open_whole (char *const *paths, uint32_t n_paths, const PictureOptions *options, CclError *error)
{
  struct stat status;

  if (n_paths > 1)
    return open_several (paths, n_paths, options, error);
  if (stat (paths[0], &status) == 0 && S_ISDIR (status.st_mode))
    return open_folder (paths[0], options, error);
  return picture_open_file (paths[0], options, error);
}

Picture *
picture_open (char *const *paths, uint32_t n_paths, const PictureOptions *options, CclError *error)
{
  return picture_part (open_whole (paths, n_paths, options, error), options, paths[0], error);
}
