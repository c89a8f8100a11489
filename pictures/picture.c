/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "picture.h"

#include "error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of samples that are converted at once; more if a row has more. */
#define BYTES_AT_ONCE ((uint64_t)1 << 20)

/* The types of samples: number, type of C, name. */
#define SAMPLE_TYPES(EACH)                                                                         \
  EACH (SAMPLE_UINT8, uint8_t, "uint8")                                                            \
  EACH (SAMPLE_INT8, int8_t, "int8")                                                               \
  EACH (SAMPLE_UINT16, uint16_t, "uint16")                                                         \
  EACH (SAMPLE_INT16, int16_t, "int16")                                                            \
  EACH (SAMPLE_UINT32, uint32_t, "uint32")                                                         \
  EACH (SAMPLE_INT32, int32_t, "int32")                                                            \
  EACH (SAMPLE_UINT64, uint64_t, "uint64")                                                         \
  EACH (SAMPLE_INT64, int64_t, "int64")                                                            \
  EACH (SAMPLE_FLOAT32, float, "float32")                                                          \
  EACH (SAMPLE_FLOAT64, double, "float64")

static const struct {
  const char *name;
  uint32_t bytes;
} types[] = {
#define ROW(number, type, name) [number] = {name, sizeof (type)},
    SAMPLE_TYPES (ROW)
#undef ROW
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
picture_check (const Picture *picture, const PictureFile *file, CclError *error)
{
  const uint64_t width = picture->width, height = picture->height, depth = picture->depth;
  const uint64_t most = UINT32_MAX,
                 most_pixels = file->most_pixels ? file->most_pixels : INT64_MAX / 32;

  if (width < 1 || height < 1 || depth < 1)
    return fail (error, "%s: damaged: the picture is empty", file->name);
  if (width > most || height > most || depth > most || width * height > most_pixels / depth)
    return fail (error, "%s: a picture of %llu×%llu×%llu pixels is too large", file->name,
        (unsigned long long)width, (unsigned long long)height, (unsigned long long)depth);
  return true;
}

void *
picture_new (size_t size, PictureFile *file, CclError *error)
{
  void *picture = calloc (1, size);

  if (!picture) {
    fail_without_memory (error);
    picture_file_close (file);
  }
  return picture;
}

Picture *
picture_start_in_order (PictureInOrder *self, const PictureFile *file, CclError *error)
{
  if (self->rewind (self, error) && picture_check (&self->picture, file, error))
    return &self->picture;
  picture_free (&self->picture);
  return NULL;
}

static bool
read_rows_in_order (
    PictureInOrder *self, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  const Picture *picture = &self->picture;
  const uint64_t row_bytes = picture->width * picture->n_channels * sample_bytes (picture->type);

  if (first_row < self->next_row) {
    self->next_row = 0;
    if (!self->rewind (self, error))
      return false;
  }
  for (; self->next_row < first_row; self->next_row++)
    if (!self->read_row (self, samples, error)) /* skipped; overwritten by the rows to read */
      return false;
  for (uint64_t i = 0; i < n_rows; i++, self->next_row++)
    if (!self->read_row (self, (char *)samples + i * row_bytes, error))
      return false;
  return true;
}

bool
picture_read_in_order (
    Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  PictureInOrder *self = (PictureInOrder *)picture;

  if (read_rows_in_order (self, first_row, n_rows, samples, error))
    return true;
  self->next_row = UINT64_MAX; /* after a failure, the next call begins anew */
  return false;
}

/* Takes rows of samples. n: pixels; done: pixels before them. */
typedef void (*TakePixels) (
    const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data);

/* Reads rows of a type of samples, a few at a time, and gives them to a function. */
static bool
for_rows (Picture *picture, bool grey, uint64_t first_row, uint64_t n_rows, TakePixels take,
    void *data, CclError *error)
{
  const uint32_t n_channels = grey ? 1 : picture->n_channels;
  const uint64_t row_bytes = picture->width * n_channels * sample_bytes (picture->type);
  uint64_t at_once = BYTES_AT_ONCE / row_bytes;
  bool succeeded = true;

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
    succeeded = grey ? picture_read_grey (picture, first_row + row, n, samples, error)
                     : picture->klass->read (picture, first_row + row, n, samples, error);
    if (succeeded)
      take (picture, samples, n * picture->width, row * picture->width, data);
  }
  free (samples);
  return succeeded;
}

/* The sum of the weights is 1. */
#define WEIGHTED(type, sum)                                                                        \
  for (uint64_t i = 0; i < n; i++) {                                                               \
    const type *s = (const type *)samples + i * n_channels;                                        \
    ((type *)data)[done + i] = (type)(sum);                                                        \
  }

static void
take_grey (const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data)
{
  const uint32_t n_channels = picture->n_channels, bytes = sample_bytes (picture->type);

  if (n_channels == 2) {
    for (uint64_t i = 0; i < n; i++)
      memcpy ((char *)data + (done + i) * bytes, (const char *)samples + 2 * i * bytes, bytes);
  } else if (picture->type == SAMPLE_UINT8) {
    WEIGHTED (uint8_t, (19595u * s[0] + 38470u * s[1] + 7471u * s[2] + 32768u) >> 16);
  } else if (picture->type == SAMPLE_UINT16) {
    WEIGHTED (uint16_t, (19595u * s[0] + 38470u * s[1] + 7471u * s[2] + 32768u) >> 16);
  } else if (picture->type == SAMPLE_FLOAT32) {
    WEIGHTED (float, 0.299 * s[0] + 0.587 * s[1] + 0.114 * s[2]);
  } else if (picture->type == SAMPLE_FLOAT64) {
    WEIGHTED (double, 0.299 * s[0] + 0.587 * s[1] + 0.114 * s[2]);
  }
}

bool
picture_read_grey (
    Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  if (picture->n_channels == 1)
    return picture->klass->read (picture, first_row, n_rows, samples, error);
  return for_rows (picture, false, first_row, n_rows, take_grey, samples, error);
}

/* Where the samples of a channel go. */
typedef struct Colour {
  uint32_t channel;
  void *samples;
} Colour;

static void
take_colour (const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data)
{
  const Colour *colour = data;
  const uint32_t bytes = sample_bytes (picture->type);
  const uint8_t *from = (const uint8_t *)samples + colour->channel * bytes;

  for (uint64_t i = 0; i < n; i++)
    memcpy ((uint8_t *)colour->samples + (done + i) * bytes, from + i * picture->n_channels * bytes,
        bytes);
}

SampleType
picture_value_type (const Picture *picture)
{
  if (picture->n_channels < 3)
    return picture->type;
  return picture->type == SAMPLE_UINT8 ? SAMPLE_UINT32 : SAMPLE_UINT64;
}

/* Puts the three samples of a colour into one number. */
static void
take_value (const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data)
{
  const uint32_t n_channels = picture->n_channels;

  if (n_channels == 2) {
    take_grey (picture, samples, n, done, data);
  } else if (picture->type == SAMPLE_UINT8) {
    for (uint64_t i = 0; i < n; i++) {
      const uint8_t *s = (const uint8_t *)samples + i * n_channels;
      ((uint32_t *)data)[done + i] = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];
    }
  } else {
    for (uint64_t i = 0; i < n; i++) {
      const uint16_t *s = (const uint16_t *)samples + i * n_channels;
      ((uint64_t *)data)[done + i] = (uint64_t)s[0] << 32 | (uint64_t)s[1] << 16 | s[2];
    }
  }
}

bool
picture_read_values (
    Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  if (picture->n_channels == 1)
    return picture->klass->read (picture, first_row, n_rows, samples, error);
  if (picture->n_channels > 2 && picture->type != SAMPLE_UINT8 && picture->type != SAMPLE_UINT16)
    return fail (error, "colours of %s are no values: they have 8 or 16 bits a channel",
        sample_type_name (picture->type));
  return for_rows (picture, false, first_row, n_rows, take_value, samples, error);
}

bool
picture_take_colours (Picture *picture)
{
  if (!picture->has_flat_colours || picture->n_channels != 1)
    return false;
  picture->n_channels = (uint32_t)picture->width;
  picture->width = picture->height;
  picture->height = picture->depth;
  picture->depth = 1;
  picture->is_volume = false;
  picture->may_be = NULL;
  return true;
}

uint32_t
picture_n_colours (const Picture *picture)
{
  return picture->n_channels < 3 ? 1 : 3;
}

bool
picture_read_colour (Picture *picture, uint32_t channel, uint64_t first_row, uint64_t n_rows,
    void *samples, CclError *error)
{
  Colour colour = {channel, samples};

  if (picture->n_channels == 1)
    return picture->klass->read (picture, first_row, n_rows, samples, error);
  return for_rows (picture, false, first_row, n_rows, take_colour, &colour, error);
}

static void
take_reals (const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data)
{
  const Colour *colour = data;
  const uint32_t n_channels = picture->n_channels;
  double *reals = (double *)colour->samples + done;

#define CASE(number, type, name)                                                                   \
  case number:                                                                                     \
    for (uint64_t i = 0; i < n; i++)                                                               \
      reals[i] = (double)((const type *)samples)[i * n_channels + colour->channel];                \
    break;
  switch (picture->type) {
    SAMPLE_TYPES (CASE)
  }
#undef CASE
}

bool
picture_read_reals (Picture *picture, uint32_t channel, uint64_t first_row, uint64_t n_rows,
    double *samples, CclError *error)
{
  Colour colour = {channel, samples};

  return for_rows (picture, false, first_row, n_rows, take_reals, &colour, error);
}

#define COMPARE(number, type, limit)                                                               \
  case number:                                                                                     \
    for (uint64_t i = 0; i < n; i++)                                                               \
      pixels[i] = ((const type *)samples)[i] > (limit) ? 255 : 0;                                  \
    break;

/* Compares n samples with the threshold. No sample is rounded; an integer is greater than a number
 * when it is greater than the number's floor. */
static void
compare (SampleType type, const void *samples, uint64_t n, double threshold, uint8_t *pixels)
{
  const double limit = floor (threshold);

  /* Numbers outside the range of 64 bits cannot be converted. */
  if ((type == SAMPLE_UINT64 && (limit < 0 || limit >= 0x1p64)) ||
      (type == SAMPLE_INT64 && (limit < -0x1p63 || limit >= 0x1p63))) {
    memset (pixels, limit < 0 ? 255 : 0, n);
    return;
  }
  switch (type) {
    COMPARE (SAMPLE_UINT8, uint8_t, limit)
    COMPARE (SAMPLE_INT8, int8_t, limit)
    COMPARE (SAMPLE_UINT16, uint16_t, limit)
    COMPARE (SAMPLE_INT16, int16_t, limit)
    COMPARE (SAMPLE_UINT32, uint32_t, limit)
    COMPARE (SAMPLE_INT32, int32_t, limit)
    COMPARE (SAMPLE_UINT64, uint64_t, (uint64_t)limit)
    COMPARE (SAMPLE_INT64, int64_t, (int64_t)limit)
    COMPARE (SAMPLE_FLOAT32, float, threshold)
    COMPARE (SAMPLE_FLOAT64, double, threshold)
  }
}

/* Marks samples that are not the value of pixels without data. */
static void
mark_valid (SampleType type, const void *samples, uint64_t n, double no_data, uint8_t *valid)
{
#define CASE(number, type, name)                                                                   \
  case number:                                                                                     \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      const double value = (double)((const type *)samples)[i];                                     \
      valid[i] = isnan (no_data) ? !isnan (value) : value != no_data;                              \
    }                                                                                              \
    break;
  switch (type) {
    SAMPLE_TYPES (CASE)
  }
#undef CASE
}

/* valid: NULL: pixels without data are compared like others. */
typedef struct Comparison {
  double threshold;
  uint8_t *pixels, *valid;
} Comparison;

static void
take_comparison (const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data)
{
  const Comparison *comparison = data;
  uint8_t *pixels = comparison->pixels + done;

  if (picture->type == SAMPLE_UINT8)
    memcpy (pixels, samples, n);
  else
    compare (picture->type, samples, n, comparison->threshold, pixels);
  if (!comparison->valid)
    return;
  uint8_t *valid = comparison->valid + done;
  mark_valid (picture->type, samples, n, picture->no_data, valid);
  for (uint64_t i = 0; i < n; i++)
    pixels[i] = valid[i] ? pixels[i] : 0;
}

bool
picture_read (Picture *picture, uint64_t first_row, uint64_t n_rows, double threshold,
    uint8_t *pixels, CclError *error)
{
  Comparison comparison = {threshold, pixels, NULL};

  if (picture->type == SAMPLE_UINT8)
    return picture_read_grey (picture, first_row, n_rows, pixels, error);
  return for_rows (picture, true, first_row, n_rows, take_comparison, &comparison, error);
}

bool
picture_read_valid (Picture *picture, uint64_t first_row, uint64_t n_rows, double threshold,
    uint8_t *pixels, uint8_t *valid, CclError *error)
{
  Comparison comparison = {threshold, pixels, valid};

  return for_rows (picture, true, first_row, n_rows, take_comparison, &comparison, error);
}

void
picture_clear_no_data (const Picture *picture, void *samples, uint64_t n)
{
  const uint32_t bytes = sample_bytes (picture->type);
  uint8_t valid[256];

  if (!picture->has_no_data)
    return;
  for (uint64_t done = 0, part; done < n; done += part) {
    uint8_t *first = (uint8_t *)samples + done * bytes;
    part = n - done < sizeof valid ? n - done : sizeof valid;
    mark_valid (picture->type, first, part, picture->no_data, valid);
    for (uint64_t i = 0; i < part; i++)
      if (!valid[i])
        memset (first + i * bytes, 0, bytes);
  }
}

/* Whether a sample is zero; floats have two zeros. */
static bool
is_zero (SampleType type, const uint8_t *sample)
{
  double real;
  float half;

  if (type == SAMPLE_FLOAT64) {
    memcpy (&real, sample, sizeof real);
    return real == 0;
  }
  if (type == SAMPLE_FLOAT32) {
    memcpy (&half, sample, sizeof half);
    return half == 0;
  }
  for (uint32_t i = 0; i < types[type].bytes; i++)
    if (sample[i])
      return false;
  return true;
}

static void
take_mask (const Picture *picture, const void *samples, uint64_t n, uint64_t done, void *data)
{
  const uint32_t n_channels = picture->n_channels, n_colours = n_channels < 3 ? 1 : 3;
  const uint32_t bytes = sample_bytes (picture->type);
  const uint8_t *sample = samples;
  uint8_t *pixels = (uint8_t *)data + done;

  for (uint64_t i = 0; i < n; i++) {
    bool is_black = true, is_transparent = false;
    for (uint32_t channel = 0; channel < n_channels; channel++, sample += bytes) {
      if (channel < n_colours)
        is_black &= is_zero (picture->type, sample);
      else
        is_transparent = is_zero (picture->type, sample);
    }
    pixels[i] = is_black || is_transparent ? 0 : 255;
  }
}

bool
picture_read_mask (
    Picture *picture, uint64_t first_row, uint64_t n_rows, uint8_t *pixels, CclError *error)
{
  return for_rows (picture, false, first_row, n_rows, take_mask, pixels, error);
}

void
picture_free (Picture *picture)
{
  if (picture)
    picture->klass->free (picture);
}
