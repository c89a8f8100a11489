/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs that are too slow to make in Python. Random numbers come from GLib's GRand, which is
 * MT19937 seeded as the C++ standard seeds std::mt19937, so that a seed gives the same picture
 * everywhere. */
#include "library.h"
#include "core/base/divide-up.h"

#include <png.h>
#include <string.h>

/* Random blocks, after Cabaret, Lacassagne and Etiemble (IPTA 2017, section IV): the picture is a
 * grid of granularity × granularity blocks, each foreground with a probability of density per
 * cent. One 32-bit number decides a block, in raster order; the smallest numbers are foreground,
 * so that with one seed a denser picture contains the sparser ones. */
void
draw_noise (Input *input, unsigned granularity, unsigned density, uint32_t seed)
{
  GRand *random = g_rand_new_with_seed (seed);
  const uint64_t limit = ((uint64_t)density << 32) / 100;
  const uint32_t columns = (uint32_t)divide_up (input->width, granularity);
  g_autofree uint8_t *blocks = g_malloc (columns * granularity);
  g_autofree uint8_t *layer = g_malloc ((size_t)input->width * input->height);

  for (uint32_t z = 0; z < input->depth; z += granularity) {
    for (uint32_t y = 0; y < input->height; y += granularity) {
      for (uint32_t column = 0; column < columns; column++)
        memset (blocks + column * granularity, g_rand_int (random) < limit ? 255 : 0, granularity);
      for (uint32_t row = y; row < MIN (y + granularity, input->height); row++)
        memcpy (layer + (size_t)row * input->width, blocks, input->width);
    }
    for (uint32_t slice = z; slice < MIN (z + granularity, input->depth); slice++)
      memcpy (input->pixels + (size_t)slice * input->width * input->height, layer,
          (size_t)input->width * input->height);
  }
  g_rand_free (random);
}

static unsigned
rotate_3_bits (unsigned bits, unsigned by)
{
  return (bits << by | bits >> (3 - by)) & 7;
}

/* Each cube of the construction is crossed from an entry corner to the corner next to it along an
 * exit axis, through its eight octants in Gray code order. entry_of and exit_of hold both for the
 * octants of the canonical cube, which is entered at the origin and left along the last axis. */
void
hilbert_position (unsigned order, uint64_t index, uint32_t position[3])
{
  static const uint8_t entry_of[8] = {0, 0, 0, 3, 3, 6, 6, 5};
  static const uint8_t exit_of[8] = {0, 1, 1, 2, 2, 1, 1, 0};
  unsigned entry = 0, exit = 2;

  memset (position, 0, 3 * sizeof *position);
  for (unsigned level = order; level-- > 0;) {
    const unsigned step = index >> (3 * level) & 7;
    const unsigned turn = (exit + 1) % 3;
    const unsigned octant = rotate_3_bits (step ^ step >> 1, turn) ^ entry;
    for (unsigned axis = 0; axis < 3; axis++)
      position[axis] |= (octant >> axis & 1) << level;
    entry ^= rotate_3_bits (entry_of[step], turn);
    exit = (exit + exit_of[step] + 1) % 3;
  }
}

/* The Hilbert data set of Allegretti, Bolelli and Grana (TPDS 2020, section 6.1.2): the curve of
 * the given order as a line one voxel thick that joins the centres of the 8^order cells into which
 * the volume is cut. The cells are cubes, so the volume must be one of a side that 2^order
 * divides. */
void
draw_hilbert (Input *input, unsigned order)
{
  const uint32_t cell = input->width >> order;
  uint32_t from[3], to[3];

  for (uint64_t index = 0; index < UINT64_C (1) << (3 * order); index++) {
    hilbert_position (order, index, to);
    for (unsigned axis = 0; axis < 3; axis++)
      to[axis] = to[axis] * cell + cell / 2;
    if (index == 0)
      memcpy (from, to, sizeof from);
    /* Neighbours on the curve differ along one axis only. */
    for (;;) {
      input->pixels[((size_t)from[2] * input->height + from[1]) * input->width + from[0]] = 255;
      if (!memcmp (from, to, sizeof from))
        break;
      for (unsigned axis = 0; axis < 3; axis++)
        from[axis] += (to[axis] > from[axis]) - (to[axis] < from[axis]);
    }
  }
}

/* libpng converts palettes, colours and 16 bits to 8 bits of grey. */
bool
read_png (const void *data, size_t size, Input *input, char reason[64])
{
  png_image image = {.version = PNG_IMAGE_VERSION};
  bool is_read = false;

  if (png_image_begin_read_from_memory (&image, data, size)) {
    image.format = PNG_FORMAT_GRAY;
    *input = (Input){image.width, image.height, 1, input->pixels};
    if (!input->pixels || image.width > INT32_MAX / image.height)
      is_read = !input->pixels;
    else
      is_read = png_image_finish_read (&image, NULL, input->pixels, (png_int_32)image.width, NULL);
  }
  g_strlcpy (reason, image.message, 64);
  png_image_free (&image);
  return is_read;
}
