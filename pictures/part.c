/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "part.h"

#include "error.h"

#include <stdlib.h>

typedef struct Part {
  Picture picture;
  Picture *whole;
  uint64_t first_row; /* of the whole */
  uint32_t channel;   /* from 1 on; 0: all */
} Part;

static bool
part_read (Picture *picture, uint64_t first_row, uint64_t n_rows, void *samples, CclError *error)
{
  const Part *self = (const Part *)picture;
  const uint64_t first = self->first_row + first_row;

  return self->channel
             ? picture_read_colour (self->whole, self->channel - 1, first, n_rows, samples, error)
             : self->whole->klass->read (self->whole, first, n_rows, samples, error);
}

static void
part_free (Picture *picture)
{
  Part *self = (Part *)picture;
  picture_free (self->whole);
  free (self);
}

static const PictureClass part_class = {part_read, part_free};

/* Makes the part that of a page. The reader of a format may have opened no other page. */
static bool
choose_page (Part *self, uint64_t page, const char *name, CclError *error)
{
  Picture *picture = &self->picture;

  if (page > picture->depth && !picture->is_page)
    return fail (error, "%s: there is no page %llu of %llu", name, (unsigned long long)page,
        (unsigned long long)picture->depth);
  if (!picture->is_page)
    self->first_row = (page - 1) * picture->height;
  picture->depth = 1;
  picture->is_volume = picture->has_flat_colours = false;
  picture->may_be = NULL;
  return true;
}

static bool
choose_channel (Part *self, uint32_t channel, const char *name, CclError *error)
{
  const uint32_t n = picture_n_colours (&self->picture);

  if (channel > n)
    return fail (error, "%s: there is no channel %u of %u", name, channel, n);
  self->channel = channel;
  self->picture.n_channels = 1;
  return true;
}

Picture *
picture_part (Picture *whole, const PictureOptions *options, const char *name, CclError *error)
{
  if (!whole || (!options->page && !options->channel))
    return whole;
  Part *self = calloc (1, sizeof *self);
  if (!self) {
    fail_without_memory (error);
    picture_free (whole);
    return NULL;
  }
  if (options->channel && !options->page)
    picture_take_colours (whole);
  self->whole = whole;
  self->picture = *whole;
  self->picture.klass = &part_class;
  if ((!options->page || choose_page (self, options->page, name, error)) &&
      (!options->channel || choose_channel (self, options->channel, name, error)))
    return &self->picture;
  part_free (&self->picture);
  return NULL;
}
