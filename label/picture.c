/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture.h"

#include "error.h"
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
  const char *name;
  uint32_t bytes;
} types[] = {
    [SAMPLE_UINT8] = {"uint8", 1},
    [SAMPLE_INT8] = {"int8", 1},
    [SAMPLE_UINT16] = {"uint16", 2},
    [SAMPLE_INT16] = {"int16", 2},
    [SAMPLE_UINT32] = {"uint32", 4},
    [SAMPLE_INT32] = {"int32", 4},
    [SAMPLE_UINT64] = {"uint64", 8},
    [SAMPLE_INT64] = {"int64", 8},
    [SAMPLE_FLOAT32] = {"float32", 4},
    [SAMPLE_FLOAT64] = {"float64", 8},
};

uint32_t
sample_bytes (SampleType type)
{
  return types[type].bytes;
}

const char *
sample_type_name (SampleType type)
{
  return types[type].name;
}

bool
sample_type_parse (const char *name, SampleType *type)
{
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp (types[i].name, name) == 0) {
      *type = (SampleType)i;
      return true;
    }
  }
  return false;
}

bool
picture_check (const Picture *picture, const char *path, CclError *error)
{
  const uint64_t most = UINT32_MAX;

  if (picture->width < 1 || picture->height < 1 || picture->depth < 1)
    return fail (error, "%s: the picture is empty", path);
  if (picture->width > most || picture->height > most || picture->depth > most ||
      picture->width * picture->height > INT64_MAX / 8 / picture->depth)
    return fail (error, "%s: a picture of %llu×%llu×%llu pixels is too large", path,
        (unsigned long long)picture->width, (unsigned long long)picture->height,
        (unsigned long long)picture->depth);
  return true;
}

/* A volume whose slices are files. */
typedef struct Slices {
  Picture picture;
  char **paths;
  RawFormat raw;
  uint64_t open_slice;
  Picture *open; /* NULL: none */
} Slices;

static bool
slices_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  Slices *self = (Slices *)picture;
  const uint64_t row_bytes = picture->width * sample_bytes (picture->type);

  for (uint64_t done = 0, n; done < n_rows; done += n) {
    const uint64_t slice = (first_row + done) / picture->height;
    const uint64_t row = (first_row + done) % picture->height;
    n = picture->height - row < n_rows - done ? picture->height - row : n_rows - done;
    if (!self->open || self->open_slice != slice) {
      picture_free (self->open);
      self->open = picture_open_file (self->paths[slice], &self->raw, error);
      if (!self->open)
        return false;
      self->open_slice = slice;
    }
    const Picture *open = self->open;
    if (open->depth != 1)
      return fail (error, "%s: a slice of a volume cannot be a volume", self->paths[slice]);
    if (open->width != picture->width || open->height != picture->height ||
        open->type != picture->type)
      return fail (error, "%s: %llu×%llu pixels of %s, but the first slice has %llu×%llu of %s",
          self->paths[slice], (unsigned long long)open->width, (unsigned long long)open->height,
          types[open->type].name, (unsigned long long)picture->width,
          (unsigned long long)picture->height, types[picture->type].name);
    if (!open->klass->read (self->open, row, n, (char *)samples + done * row_bytes, error))
      return false;
  }
  return true;
}

static void
slices_free (Picture *picture)
{
  Slices *self = (Slices *)picture;
  for (uint64_t i = 0; i < picture->depth; i++)
    free (self->paths[i]);
  free (self->paths);
  picture_free (self->open);
  free (self);
}

static const PictureClass slices_class = {slices_read, slices_free};

static Picture *
open_slices (char *const *paths, uint32_t n_paths, const RawFormat *raw, CclError *error)
{
  Picture *first = picture_open_file (paths[0], raw, error);
  Slices *self = calloc (1, sizeof *self);

  if (!first) {
    free (self);
    return NULL;
  }
  self->picture = (Picture){&slices_class, first->width, first->height, n_paths, first->type};
  self->paths = calloc (n_paths, sizeof *self->paths);
  for (uint32_t i = 0; i < n_paths; i++)
    self->paths[i] = strdup (paths[i]);
  self->raw = *raw;
  self->open = first;
  return &self->picture;
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

static Picture *
open_folder (const char *folder, const RawFormat *raw, CclError *error)
{
  struct dirent **entries;
  const int n = scandir (folder, &entries, is_visible, compare_names);
  Picture *picture = NULL;

  if (n < 0) {
    fail (error, "%s: %s", folder, strerror (errno));
    return NULL;
  }
  char **paths = calloc ((size_t)n + 1, sizeof *paths);
  for (int i = 0; i < n; i++) {
    if (asprintf (&paths[i], "%s/%s", folder, entries[i]->d_name) < 0)
      paths[i] = NULL;
    free (entries[i]);
  }
  free (entries);
  if (n == 0)
    fail (error, "%s: the folder is empty", folder);
  else
    picture = open_slices (paths, (uint32_t)n, raw, error);
  for (int i = 0; i < n; i++)
    free (paths[i]);
  free (paths);
  return picture;
}

Picture *
picture_open_file (const char *path, const RawFormat *raw, CclError *error)
{
  uint8_t head[8] = {0};
  struct stat status;

  if (stat (path, &status) != 0) {
    fail (error, "%s: %s", path, strerror (errno));
    return NULL;
  }
  if (!S_ISREG (status.st_mode)) {
    fail (error, "%s: not a file", path);
    return NULL;
  }
  if (raw->width)
    return picture_open_raw (path, raw, error);
  FILE *file = fopen (path, "rb");
  if (!file) {
    fail (error, "%s: %s", path, strerror (errno));
    return NULL;
  }
  const size_t n = fread (head, 1, sizeof head, file);
  fclose (file);
  if (n == 8 && memcmp (head, "\x89PNG\r\n\x1a\n", 8) == 0)
    return picture_open_png (path, error);
  if (n == 8 && memcmp (head, "\x93NUMPY", 6) == 0)
    return picture_open_npy (path, error);
  if (n >= 4 && (memcmp (head, "II*\0", 4) == 0 || memcmp (head, "MM\0*", 4) == 0 ||
                    memcmp (head, "II+\0", 4) == 0 || memcmp (head, "MM\0+", 4) == 0))
    return picture_open_tiff (path, error);
  if (n >= 2 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7')
    return picture_open_pgm (path, error);
  fail (error, "%s: neither PNG, PGM, NPY nor TIFF; give --size if it is raw", path);
  return NULL;
}

Picture *
picture_open (char *const *paths, uint32_t n_paths, const RawFormat *raw, CclError *error)
{
  struct stat status;

  if (n_paths > 1)
    return open_slices (paths, n_paths, raw, error);
  if (stat (paths[0], &status) == 0 && S_ISDIR (status.st_mode))
    return open_folder (paths[0], raw, error);
  return picture_open_file (paths[0], raw, error);
}

#define COMPARE(type, limit)                                                                       \
  for (uint64_t i = 0; i < n; i++)                                                                 \
  pixels[i] = ((const type *)samples)[i] > (limit) ? 255 : 0

/* Compares n samples with the threshold. No sample is rounded; an integer is greater than a number
 * when it is greater than the number's floor. */
static void
compare (SampleType type, const void *samples, uint64_t n, double threshold, uint8_t *pixels)
{
  const double limit = floor (threshold);

  switch (type) {
  case SAMPLE_UINT8:
    COMPARE (uint8_t, limit);
    break;
  case SAMPLE_INT8:
    COMPARE (int8_t, limit);
    break;
  case SAMPLE_UINT16:
    COMPARE (uint16_t, limit);
    break;
  case SAMPLE_INT16:
    COMPARE (int16_t, limit);
    break;
  case SAMPLE_UINT32:
    COMPARE (uint32_t, limit);
    break;
  case SAMPLE_INT32:
    COMPARE (int32_t, limit);
    break;
  case SAMPLE_UINT64:
    if (limit < 0)
      memset (pixels, 255, n);
    else if (limit >= 0x1p64)
      memset (pixels, 0, n);
    else
      COMPARE (uint64_t, (uint64_t)limit);
    break;
  case SAMPLE_INT64:
    if (limit < -0x1p63)
      memset (pixels, 255, n);
    else if (limit >= 0x1p63)
      memset (pixels, 0, n);
    else
      COMPARE (int64_t, (int64_t)limit);
    break;
  case SAMPLE_FLOAT32:
    COMPARE (float, threshold);
    break;
  case SAMPLE_FLOAT64:
    COMPARE (double, threshold);
    break;
  }
}

bool
picture_read (Picture *picture, uint64_t first_row, uint64_t n_rows, double threshold,
    uint8_t *pixels, CclError *error)
{
  const uint64_t row_bytes = picture->width * sample_bytes (picture->type);
  uint64_t at_once = ((uint64_t)1 << 20) / row_bytes;
  bool succeeded = true;

  if (picture->type == SAMPLE_UINT8)
    return picture->klass->read (picture, first_row, n_rows, pixels, error);
  if (at_once < 1)
    at_once = 1;
  if (at_once > n_rows)
    at_once = n_rows;
  void *samples = malloc (at_once * row_bytes);
  if (!samples)
    return fail (
        error, "not enough memory for rows of %llu pixels", (unsigned long long)picture->width);
  for (uint64_t row = 0; row < n_rows && succeeded; row += at_once) {
    const uint64_t n = n_rows - row < at_once ? n_rows - row : at_once;
    succeeded = picture->klass->read (picture, first_row + row, n, samples, error);
    if (succeeded)
      compare (
          picture->type, samples, n * picture->width, threshold, pixels + row * picture->width);
  }
  free (samples);
  return succeeded;
}

void
picture_free (Picture *picture)
{
  if (picture)
    picture->klass->free (picture);
}
