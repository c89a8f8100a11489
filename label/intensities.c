/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "intensities.h"

#include "error.h"
#include "label/relabel/plan.h"
#include "slices.h"

static CclPixelFormat
format_of (SampleType type, bool ignores_nan)
{
  if (type == SAMPLE_UINT8)
    return CUDACCL_PIXEL_FORMAT_8;
  if (type == SAMPLE_UINT16)
    return CUDACCL_PIXEL_FORMAT_16;
  return ignores_nan ? CUDACCL_PIXEL_FORMAT_REAL_OR_NAN : CUDACCL_PIXEL_FORMAT_REAL;
}

bool
intensities_open (Intensities *self, const char *name, const PictureOptions *options,
    const Picture *picture, bool ignores_nan, CclError *error)
{
  PictureOptions how = *options;

  how.pipes = false;
  how.page = how.channel = 0;
  self->picture = picture_open ((char *const *)&name, 1, &how, error);
  if (!self->picture)
    return false;
  if (!picture->is_volume && self->picture->is_volume)
    picture_take_colours (self->picture);
  if (self->picture->width != picture->width || self->picture->height != picture->height ||
      self->picture->depth != picture->depth)
    return fail (error, "%s: the intensities have another size than the picture", name);
  self->format = format_of (self->picture->type, ignores_nan);
  self->n_planes = picture_n_colours (self->picture);
  return true;
}

bool
intensities_read (const Intensities *self, uint32_t plane, uint64_t first_row, uint64_t n_rows,
    void *values, CclError *error)
{
  if (self->format == CUDACCL_PIXEL_FORMAT_8 || self->format == CUDACCL_PIXEL_FORMAT_16)
    return picture_read_colour (self->picture, plane, first_row, n_rows, values, error);
  return picture_read_reals (self->picture, plane, first_row, n_rows, values, error);
}

size_t
intensities_bytes (const Intensities *self)
{
  return value_bytes (self->format);
}

void
intensities_close (Intensities *self)
{
  picture_free (self->picture);
  self->picture = NULL;
}
