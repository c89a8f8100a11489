/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Generated inputs. Random numbers come from GLib's GRand, which is MT19937 seeded as the C++
 * standard seeds std::mt19937, so that a seed gives the same picture everywhere.
 */
#include "input.h"

#include <string.h>

/* Random blocks, after Cabaret, Lacassagne and Etiemble (IPTA 2017, section IV): the picture is a
 * grid of granularity × granularity blocks, each foreground with a probability of density per
 * cent. One 32-bit number decides a block, in raster order; the smallest numbers are foreground,
 * so that with one seed a denser picture contains the sparser ones. */
static void
draw_noise (Input *input, const unsigned values[N_KEYS])
{
  GRand *random = g_rand_new_with_seed (values[KEY_SEED]);
  const unsigned granularity = values[KEY_GRANULARITY];
  const uint64_t limit = ((uint64_t)values[KEY_DENSITY] << 32) / 100;
  const uint32_t columns = (input->width + granularity - 1) / granularity;
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
static void
draw_hilbert (Input *input, const unsigned values[N_KEYS])
{
  const unsigned order = values[KEY_ORDER];
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

/* Letters of 5×7 dots, one string a row, five rows of dots each. */
static const char *const letters[] = {
    " ### #   ##   #######   ##   ##   #", /* A */
    "#### #   ##   ##### #   ##   ##### ", /* B */
    " ### #   ##    #    #    #   # ### ", /* C */
    "#### #   ##   ##   ##   ##   ##### ", /* D */
    "######    #    #### #    #    #####", /* E */
    "  #        ##    #    #    #   ### ", /* i */
    "  ###   #    #    #    # #  #  ##  ", /* J */
    "#   ##  # # #  ##   # #  #  # #   #", /* K */
    "#   ### ### # ##   ##   ##   ##   #", /* M */
    "#   ###  ## # ##  ###   ##   ##   #", /* N */
    " ### #   ##   ##   ##   ##   # ### ", /* O */
    "#### #   ##   ##### #    #    #    ", /* P */
    " ### #   ##     ###     ##   # ### ", /* S */
    "#####  #    #    #    #    #    #  ", /* T */
    "#   ##   ##   ##   ##   ##   # ### ", /* U */
    "#   ##   # # #   #   # # #   ##   #", /* X */
};

/* A page of words in paragraphs. The letters do not touch, so a page has thousands of small
 * components, as scanned print has, and one large component, a ruled frame. */
static void
draw_text (Input *input, const unsigned values[N_KEYS])
{
  GRand *random = g_rand_new_with_seed (values[KEY_SEED] + values[KEY_NUMBER]);
  const uint32_t dot = MAX (1, input->width / 620); /* about 100 letters per line */
  const uint32_t margin = 20 * dot, letter = 6 * dot, line = 12 * dot;
  const uint32_t width = input->width, height = input->height;

#define FILL(x0, y0, w, h)                                                                         \
  for (uint32_t fill_y = (y0); fill_y < MIN ((y0) + (h), height); fill_y++)                        \
  memset (input->pixels + (size_t)fill_y * width + MIN ((x0), width), 255,                         \
      MIN ((w), width - MIN ((x0), width)))

  FILL (margin / 2, margin / 2, width - MIN (width, margin), dot);
  FILL (margin / 2, height - MIN (height, margin / 2), width - MIN (width, margin), dot);
  FILL (margin / 2, margin / 2, dot, height - MIN (height, margin));
  FILL (width - MIN (width, margin / 2), margin / 2, dot, height - MIN (height, margin) + dot);

  for (uint32_t y = margin; y + line + margin <= height; y += line) {
    if (g_rand_int_range (random, 0, 8) == 0)
      continue; /* a blank line between paragraphs */
    for (uint32_t x = margin; x + letter + margin <= width;) {
      const gint32 word = g_rand_int_range (random, 2, 10);
      for (gint32 i = 0; i < word && x + letter + margin <= width; i++, x += letter) {
        const char *dots = letters[g_rand_int_range (random, 0, G_N_ELEMENTS (letters))];
        for (uint32_t row = 0; row < 7; row++)
          for (uint32_t column = 0; column < 5; column++)
            if (dots[row * 5 + column] == '#')
              FILL (x + column * dot, y + row * dot, dot, dot);
      }
      x += letter;
    }
  }
#undef FILL
  g_rand_free (random);
}

static void
draw_ellipse (Input *input, double centre_x, double centre_y, double radius_x, double radius_y)
{
  const int64_t first_y = MAX (0, (int64_t)(centre_y - radius_y));
  const int64_t last_y = MIN ((int64_t)input->height - 1, (int64_t)(centre_y + radius_y));
  const int64_t first_x = MAX (0, (int64_t)(centre_x - radius_x));
  const int64_t last_x = MIN ((int64_t)input->width - 1, (int64_t)(centre_x + radius_x));

  for (int64_t y = first_y; y <= last_y; y++)
    for (int64_t x = first_x; x <= last_x; x++) {
      const double dx = ((double)x - centre_x) / radius_x, dy = ((double)y - centre_y) / radius_y;
      if (dx * dx + dy * dy <= 1)
        input->pixels[(size_t)y * input->width + (size_t)x] = 255;
    }
}

/* A foreground mask of people who walk through a scene: 24 upright figures at different speeds, and
 * specks as background subtraction gives. About 2 % of the pixels are foreground. */
static void
draw_blobs (Input *input, const unsigned values[N_KEYS])
{
  enum { N_FIGURES = 24 };
  const unsigned frame = values[KEY_NUMBER];
  const uint32_t seed = values[KEY_SEED];
  GRand *random = g_rand_new_with_seed (seed);
  GRand *specks;

  for (unsigned i = 0; i < N_FIGURES; i++) {
    const double scale = input->height * g_rand_double_range (random, 0.03, 0.06);
    const double speed = input->width * g_rand_double_range (random, -0.004, 0.004);
    const double start = g_rand_double_range (random, 0, input->width);
    const double y = g_rand_double_range (random, 0, input->height);
    double x = start + speed * frame;
    x -= input->width * (double)(int64_t)(x / input->width);
    if (x < 0)
      x += input->width;
    draw_ellipse (input, x, y, MAX (1, 0.4 * scale), MAX (1, scale));
    draw_ellipse (input, x, y - 1.4 * scale, MAX (1, 0.25 * scale), MAX (1, 0.3 * scale));
  }
  g_rand_free (random);

  /* The specks differ from frame to frame. */
  specks = g_rand_new_with_seed (seed + 1 + frame);
  for (size_t i = 0, n = input_n_pixels (input) / 4000; i < n; i++)
    input->pixels[(size_t)(g_rand_double (specks) * (double)input_n_pixels (input))] = 255;
  g_rand_free (specks);
}

static void
draw_full (Input *input, const unsigned values[N_KEYS])
{
  memset (input->pixels, 255, input_n_pixels (input));
}

#define USES(key) (1u << KEY_##key)

const Generator generators[] = {
    {"noise", USES (GRANULARITY) | USES (DENSITY) | USES (SEED), draw_noise},
    {"hilbert", USES (ORDER), draw_hilbert},
    {"text", USES (NUMBER) | USES (SEED), draw_text},
    {"blobs", USES (NUMBER) | USES (SEED), draw_blobs},
    {"full", 0, draw_full},
    {"empty", 0, NULL},
    {NULL, 0, NULL},
};
