/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "many-values.h"

#include <math.h>
#include <string.h>

static CclValueType
value_type (SampleType type)
{
  if (type == SAMPLE_FLOAT32)
    return CUDACCL_VALUE_TYPE_REAL_32;
  if (type == SAMPLE_FLOAT64)
    return CUDACCL_VALUE_TYPE_REAL_64;
  switch (sample_bytes (type)) {
  case 1:
    return CUDACCL_VALUE_TYPE_8;
  case 2:
    return CUDACCL_VALUE_TYPE_16;
  case 4:
    return CUDACCL_VALUE_TYPE_32;
  default:
    return CUDACCL_VALUE_TYPE_64;
  }
}

#define FIND_FOREGROUND(sample, type)                                                              \
  case sample:                                                                                     \
    for (size_t i = 0; i < n; i++) {                                                               \
      const long double value = ((const type *)samples)[i];                                        \
      foreground[i] = !isnan (value) && value != background;                                       \
    }                                                                                              \
    break;

/* Sets bytes to whether samples are numbers and not background. */
static void
find_foreground (
    SampleType sample, const void *samples, size_t n, long double background, uint8_t *foreground)
{
  switch (sample) {
    FIND_FOREGROUND (SAMPLE_UINT8, uint8_t)
    FIND_FOREGROUND (SAMPLE_INT8, int8_t)
    FIND_FOREGROUND (SAMPLE_UINT16, uint16_t)
    FIND_FOREGROUND (SAMPLE_INT16, int16_t)
    FIND_FOREGROUND (SAMPLE_UINT32, uint32_t)
    FIND_FOREGROUND (SAMPLE_INT32, int32_t)
    FIND_FOREGROUND (SAMPLE_UINT64, uint64_t)
    FIND_FOREGROUND (SAMPLE_INT64, int64_t)
    FIND_FOREGROUND (SAMPLE_FLOAT32, float)
    FIND_FOREGROUND (SAMPLE_FLOAT64, double)
  default:
    memset (foreground, 1, n);
  }
}

static CclStatus
read_layers (void *data, uint64_t first_layer, uint64_t n_layers, void *values, uint8_t *foreground,
    CclError *error)
{
  const ManyValues *self = data;
  Picture *file = self->file;
  const uint64_t rows = file->is_volume ? file->height : 1;
  const size_t n = n_layers * rows * file->width;

  if (!picture_read_values (file, first_layer * rows, n_layers * rows, values, error))
    return CUDACCL_ERROR_IO;
  picture_clear_no_data (file, values, n);
  if (foreground)
    find_foreground (picture_value_type (file), values, n, self->background, foreground);
  return CUDACCL_OK;
}

void
many_values_init (ManyValues *self, Picture *file, double tolerance, long double background)
{
  const SampleType type = picture_value_type (file);

  *self = (ManyValues){.picture = {.data = self,
                           .read = read_layers,
                           .type = value_type (type),
                           .is_signed = type == SAMPLE_INT8 || type == SAMPLE_INT16 ||
                                        type == SAMPLE_INT32 || type == SAMPLE_INT64,
                           .tolerance = tolerance,
                           .has_foreground = tolerance > 0 || background != 0,
                           .zero_is_background = true},
      .file = file,
      .background = background};
}
