/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "turn.h"

#include "error.h"
#include "flat.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of rows that are turned at once; more if a row has more. */
#define BAND_BYTES ((uint64_t)1 << 25)

/* How each slice is turned: first mirrored, then transposed. */
typedef struct Turn {
  bool mirrors_x, mirrors_y, transposes;
} Turn;

static Turn
turn_of (uint32_t orientation)
{
  static const Turn turns[] = {{false, false, false}, {false, false, false}, {true, false, false},
      {true, true, false}, {false, true, false}, {false, false, true}, {false, true, true},
      {true, true, true}, {true, false, true}};
  return turns[orientation < sizeof turns / sizeof *turns ? orientation : 0];
}

/* Rows of the picture: n from row y of a slice on. */
typedef struct Band {
  uint64_t slice, y, n;
  uint8_t *rows, *line; /* line: room for a row or, transposed, for a part of a column */
} Band;

/* The part of a row or column of the turned picture that a band has, in the order of the turned
 * one. */
static void
gather (const Picture *picture, const Turn *turn, const Band *band, uint64_t place, uint64_t bytes,
    uint64_t n)
{
  const uint64_t row = picture->width * bytes;
  const uint64_t step = turn->transposes ? row : bytes;
  const bool is_mirrored = turn->transposes ? turn->mirrors_y : turn->mirrors_x;
  const uint8_t *first = band->rows + place * (turn->transposes ? bytes : row);

  for (uint64_t i = 0; i < n; i++)
    memcpy (band->line + i * bytes, first + (is_mirrored ? n - 1 - i : i) * step, bytes);
}

/* Writes a band to where it is in the turned picture. */
static bool
write_band (
    const Picture *picture, const Turn *turn, const Band *band, PictureFile *to, CclError *error)
{
  const uint64_t bytes = picture->n_channels * sample_bytes (picture->type);
  const uint64_t width = picture->width, height = picture->height;
  const uint64_t y = turn->mirrors_y ? height - band->y - band->n : band->y;
  const uint64_t n_lines = turn->transposes ? width : band->n;
  const uint64_t n = turn->transposes ? band->n : width;

  for (uint64_t i = 0; i < n_lines; i++) {
    const bool is_mirrored = turn->transposes ? turn->mirrors_x : turn->mirrors_y;
    const uint64_t line = is_mirrored ? n_lines - 1 - i : i;
    const uint64_t offset = turn->transposes ? line * height + y : (y + line) * width;
    gather (picture, turn, band, i, bytes, n);
    if (!picture_file_write (
            to, (band->slice * width * height + offset) * bytes, band->line, n * bytes, error))
      return false;
  }
  return true;
}

static bool
turn_all (Picture *picture, PictureFile *to, CclError *error)
{
  const Turn turn = turn_of (picture->orientation);
  const uint64_t bytes = picture->n_channels * sample_bytes (picture->type);
  const uint64_t row = picture->width * bytes, height = picture->height;
  uint64_t most = BAND_BYTES / row;
  Band band = {0};

  if (most < 1 || most > height)
    most = most < 1 ? 1 : height;
  band.rows = malloc (most * row);
  band.line = malloc (row > most * bytes ? row : most * bytes);
  bool succeeded = (band.rows && band.line) || fail_without_memory (error);
  for (; band.slice < picture->depth && succeeded; band.slice++) {
    for (band.y = 0; band.y < height && succeeded; band.y += band.n) {
      band.n = height - band.y < most ? height - band.y : most;
      succeeded =
          picture->klass->read (picture, band.slice * height + band.y, band.n, band.rows, error) &&
          write_band (picture, &turn, &band, to, error);
    }
  }
  free (band.rows);
  free (band.line);
  return succeeded;
}

Picture *
picture_turn (Picture *picture, const char *name, CclError *error)
{
  if (picture->orientation < 2)
    return picture;
  PictureFile *to = picture_file_temporary (name, error);
  Flat *flat = to ? flat_new (to, error) : NULL;
  bool succeeded = false;

  if (flat) {
    const PictureClass *klass = flat->picture.klass;
    flat->picture = *picture;
    flat->picture.klass = klass;
    flat->picture.orientation = 1;
    flat->picture.geo = NULL; /* which is that of the picture as it was */
    if (turn_of (picture->orientation).transposes) {
      flat->picture.width = picture->height;
      flat->picture.height = picture->width;
    }
    succeeded = turn_all (picture, to, error);
  }
  picture_free (picture);
  return flat ? flat_finish (flat, succeeded, error) : NULL;
}
