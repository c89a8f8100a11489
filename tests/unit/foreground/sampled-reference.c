/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/foreground/sampled-reference.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

SampledReference *
sampled_reference_new (uint32_t width, uint32_t height)
{
  SampledReference *self = g_new0 (SampledReference, 1);
  self->width = width;
  self->height = height;
  self->columns = (width + 1) / 2;
  self->rows = (height + 1) / 2;
  self->places = g_new0 (SampledPlace, (size_t)self->columns * self->rows);
  self->found = g_new0 (bool, (size_t)width *height);
  memset (self->uncovered_for, -1, sizeof self->uncovered_for);
  return self;
}

void
sampled_reference_free (SampledReference *self)
{
  if (!self)
    return;
  g_free (self->places);
  g_free (self->found);
  g_free (self);
}

/* Outside the frame, its last row and column are repeated. */
static CclCodebookValue
colour_of_place (
    const SampledReference *self, const CclCodebookValue *values, uint32_t column, uint32_t row)
{
  const uint32_t right = MIN (2 * column + 1, self->width - 1);
  const uint32_t below = MIN (2 * row + 1, self->height - 1);
  const CclCodebookValue *upper = values + (size_t)2 * row * self->width;
  const CclCodebookValue *lower = values + (size_t)below * self->width;
  CclCodebookValue colour = upper[2 * column];
  const int sum =
      upper[2 * column].luma + upper[right].luma + lower[2 * column].luma + lower[right].luma;
  colour.luma = (uint8_t)((sum + 2) / 4);
  return colour;
}

static void
update_place (SampledReference *self, CclCodebookValue colour, const uint8_t *tolerances,
    uint32_t column, uint32_t row, uint64_t then, uint64_t now, uint32_t period, bool begins,
    bool is_sway)
{
  SampledPlace *place = &self->places[row * self->columns + column];
  const bool in_object = self->found[2 * row * self->width + 2 * column];
  const uint64_t phase = (97 * column + 57 * row) % 256;
  const uint64_t turn = (now + phase) / 256;
  const bool is_due = turn != (then + phase) / 256;
  const int own = tolerances[colour.luma / 16];
  const int darker = tolerances[MAX (colour.luma / 16 - 1, 0)];
  const int most = MIN (1600 / (int)self->least_percent, 31);
  const int calm = MIN (MIN (own, darker) * 4 / 5, most);
  const int near = calm * (4 + MIN (place->restlessness / 16, 8)) / 4;
  int n_near = 0, n_alike = 0;

  for (int k = 0; k < 20; k++) {
    CclCodebookValue *sample = &place->samples[k];
    if (begins)
      *sample = colour;
    n_near += abs (sample->luma - colour.luma) <= near && abs (sample->u - colour.u) <= near / 2 &&
              abs (sample->v - colour.v) <= near / 2;
    n_alike += abs (sample->luma - colour.luma) <= self->faint;
  }
  place->was_different = place->is_different;
  place->is_different = n_near < 2 && !is_sway;
  if (place->is_different && !place->was_different)
    place->restlessness += 4;
  if (is_due)
    place->restlessness -= (place->restlessness + 15) / 16;
  place->restlessness = MIN (place->restlessness, 255);
  place->is_unlike = n_alike < 2 && place->restlessness < 40;
  const bool is_new = 8 * (now - then) >= 256 && place->is_different && !place->was_different &&
                      place->restlessness <= 4;
  if (is_due && (in_object ? turn % period == 0 : !is_new))
    place->samples[turn % 20] = colour;
}

/* Whether a luma is between the least and the greatest of the pixels of a place. */
static bool
is_between (const SampledReference *self, uint8_t luma, const uint8_t *low, const uint8_t *high,
    uint32_t column, uint32_t row)
{
  uint8_t least = UINT8_MAX, greatest = 0;
  for (uint32_t y = 2 * row; y < MIN (2 * row + 2, self->height); y++) {
    for (uint32_t x = 2 * column; x < MIN (2 * column + 2, self->width); x++) {
      least = MIN (least, low[y * self->width + x]);
      greatest = MAX (greatest, high[y * self->width + x]);
    }
  }
  return luma >= least && luma <= greatest;
}

/* In 1/256 s since the first frame, where each of the first five seconds is four. */
static uint64_t
moment (uint64_t nanoseconds)
{
  const uint64_t steps = nanoseconds * 256 / 1000000000;
  return steps < 5 * 256 ? 4 * steps : steps + 15 * 256;
}

void
sampled_reference_update (SampledReference *self, const CclCodebookValue *values,
    const uint8_t *tolerances, uint32_t period, uint64_t duration, bool begins, const uint8_t *low,
    const uint8_t *high)
{
  const uint64_t before = self->nanoseconds;
  self->nanoseconds += MIN (duration ? duration : 40000000, 1000000000);
  const uint64_t then = moment (before), now = moment (self->nanoseconds);
  self->elapsed = (int)(self->nanoseconds * 256 / 1000000000 - before * 256 / 1000000000);
  for (uint32_t row = 0; row < self->rows; row++)
    for (uint32_t column = 0; column < self->columns; column++) {
      const CclCodebookValue colour = colour_of_place (self, values, column, row);
      update_place (self, colour, tolerances, column, row, then, now, period, begins,
          low && is_between (self, colour.luma, low, high, column, row));
    }
}

static void
look_around (SampledReference *self, int column, int row)
{
  SampledPlace *own = &self->places[row * (int)self->columns + column];
  int n = 0, n_unlike = 0;
  for (int y = row - 2; y <= row + 2; y++)
    for (int x = column - 2; x <= column + 2; x++) {
      const SampledPlace *place =
          &self->places[CLAMP (y, 0, (int)self->rows - 1) * (int)self->columns +
                        CLAMP (x, 0, (int)self->columns - 1)];
      n += place->is_different;
      n_unlike += place->is_unlike;
    }
  own->is_around = n > 12;
  own->is_faint = n_unlike > 12;
}

/* Marks a cell that has candidates, and those that are connected with it. */
static void
keep_cells (int column, int row, const bool has_candidates[64][64], bool kept[64][64])
{
  if (column < 0 || row < 0 || column > 63 || row > 63 || kept[row][column] ||
      !has_candidates[row][column])
    return;
  kept[row][column] = true;
  for (int y = row - 1; y <= row + 1; y++)
    for (int x = column - 1; x <= column + 1; x++)
      keep_cells (x, y, has_candidates, kept);
}

/* 1 where two pixels, four apart, have the ground's ratio, −1 where not, 0 where neither is sure.
 */
static int
vote_of_pair (const uint8_t *frame, const uint8_t *ground, bool is_dark)
{
  const int a = frame[0], b = frame[4], c = ground[0], d = ground[4];
  const int level = (a + b + 1) / 2, ground_level = (c + d + 1) / 2;
  const int error = abs (a * d - b * c), texture = level * abs (c - d);
  if (texture >= 8 * ground_level && 2 * error <= texture)
    return 4 * level >= ground_level && level <= 4 * ground_level &&
           (is_dark ? abs (level - ground_level) >= 32
                    : level <= ground_level || level >= ground_level + 16);
  return error >= 8 * ground_level && 4 * error >= 3 * texture ? -1 : 0;
}

/* The pairs of candidates that agree with the ground, and those that do not, in cells. */
static void
count_votes (const SampledReference *self, const bool *candidates, const uint8_t *frame,
    const uint8_t *ground, uint32_t side, int votes[64][64][2])
{
  for (uint32_t i = 0; i < self->width * self->height; i++) {
    const uint32_t x = i % self->width, y = i / self->width;
    if (x % 8 > 3 || x + 4 >= self->width || !candidates[i] || !candidates[i + 4])
      continue;
    const int vote = vote_of_pair (frame + i, ground + i, self->is_dark);
    votes[y / side][x / side][0] += vote == 1;
    votes[y / side][x / side][1] += vote == -1;
  }
}

/* 1: lit; −1: not; 0: unknown. */
static int
light_of_cell (int votes[64][64][2], int column, int row)
{
  int *own = votes[row][column], sum[2] = {own[0], own[1]};
  if (own[0] + own[1] < 4) {
    sum[0] = sum[1] = 0;
    for (int y = MAX (row - 1, 0); y <= MIN (row + 1, 63); y++)
      for (int x = MAX (column - 1, 0); x <= MIN (column + 1, 63); x++) {
        sum[0] += votes[y][x][0];
        sum[1] += votes[y][x][1];
      }
    if (sum[0] + sum[1] < 8)
      return 0;
  }
  return sum[0] >= 2 * sum[1] ? 1 : -1;
}

/* Whether one of the cells around has candidates whose texture differs from the ground's. */
static bool
is_beside_object (int votes[64][64][2], bool has_candidates[64][64], int column, int row)
{
  for (int y = MAX (row - 1, 0); y <= MIN (row + 1, 63); y++)
    for (int x = MAX (column - 1, 0); x <= MIN (column + 1, 63); x++)
      if (has_candidates[y][x] && light_of_cell (votes, x, y) == -1)
        return true;
  return false;
}

/* Takes lit cells apart from objects, and those without texture that such cells connect with them,
 * from those with candidates. */
static void
remove_lit_cells (int votes[64][64][2], bool has_candidates[64][64])
{
  static bool are_unknown[64][64], are_lit[64][64];
  memset (are_unknown, 0, sizeof are_unknown);
  memset (are_lit, 0, sizeof are_lit);
  for (int i = 0; i < 64 * 64; i++)
    are_unknown[i / 64][i % 64] =
        has_candidates[i / 64][i % 64] && light_of_cell (votes, i % 64, i / 64) == 0;
  for (int i = 0; i < 64 * 64; i++) {
    const int x = i % 64, y = i / 64;
    if (!has_candidates[y][x] || light_of_cell (votes, x, y) != 1 ||
        is_beside_object (votes, has_candidates, x, y))
      continue;
    are_lit[y][x] = true;
    for (int k = 0; k < 9; k++)
      keep_cells (x + k % 3 - 1, y + k / 3 - 1, are_unknown, are_lit);
  }
  for (int i = 0; i < 64 * 64; i++)
    has_candidates[i / 64][i % 64] &= !are_lit[i / 64][i % 64];
}

/* 1 where the ground alone has an edge between two pixels, four apart, −1 where the frame alone
 * has.
 */
static int
vote_of_outline (const uint8_t *frame, const uint8_t *ground)
{
  const int level = (frame[0] + frame[4] + 1) / 2, ground_level = (ground[0] + ground[4] + 1) / 2;
  const int edge = ground_level * abs (frame[0] - frame[4]);
  const int ground_edge = level * abs (ground[0] - ground[4]);
  if (ground_edge > 0 && ground_edge >= 12 * ground_level && 2 * edge <= ground_edge)
    return 1;
  return edge > 0 && edge >= 12 * level && 2 * ground_edge <= edge ? -1 : 0;
}

/* Counts them in cells, where one of the two is a candidate. */
static void
count_outlines (const SampledReference *self, const bool *candidates, const uint8_t *frame,
    const uint8_t *ground, uint32_t side, int votes[64][64][2])
{
  for (uint32_t i = 0; i < self->width * self->height; i++) {
    const uint32_t x = i % self->width, y = i / self->width;
    if (x % 32 > 27 || x + 4 >= self->width || candidates[i] == candidates[i + 4])
      continue;
    const int vote = vote_of_outline (frame + i, ground + i);
    votes[y / side][x / side][0] += vote == 1;
    votes[y / side][x / side][1] += vote == -1;
  }
}

/* Takes those cells from the ones with candidates that have been ground for half a second which an
 * object has uncovered: they are connected with a cell around which the ground's edges prevail, and
 * with none around which the frame's do. */
static void
remove_uncovered_cells (SampledReference *self, int votes[64][64][2], bool has_candidates[64][64])
{
  static bool covered[64][64], uncovered[64][64];
  memset (covered, 0, sizeof covered);
  memset (uncovered, 0, sizeof uncovered);
  for (int i = 0; i < 64 * 64; i++) {
    int sum[2] = {0, 0};
    if (!has_candidates[i / 64][i % 64]) /* keep_cells() would mark none */
      continue;
    for (int k = 0; k < 18; k++) {
      const int x = i % 64 + k / 2 % 3 - 1, y = i / 64 + k / 6 - 1;
      sum[k % 2] += x >= 0 && y >= 0 && x < 64 && y < 64 ? votes[y][x][k % 2] : 0;
    }
    if (sum[0] >= 8 && sum[0] >= 2 * sum[1])
      keep_cells (i % 64, i / 64, has_candidates, uncovered);
    else if (sum[1] >= 16 && sum[1] >= 2 * sum[0])
      keep_cells (i % 64, i / 64, has_candidates, covered);
  }
  for (int i = 0; i < 64 * 64; i++) {
    int *age = &self->uncovered_for[i / 64][i % 64];
    if (!uncovered[i / 64][i % 64] || covered[i / 64][i % 64])
      *age = -1;
    else
      *age = *age < 0 ? 0 : *age + self->elapsed;
    has_candidates[i / 64][i % 64] &= *age < 128;
  }
}

/* The cells with at least eight faint pixels that are not connected with candidates. */
static void
find_faint_cells (
    const SampledReference *self, uint32_t side, bool has_candidates[64][64], bool faint[64][64])
{
  static bool both[64][64], reached[64][64];
  static uint32_t n[64][64];
  memset (n, 0, sizeof n);
  memset (reached, 0, sizeof reached);
  for (uint32_t i = 0; i < self->width * self->height; i++) {
    const uint32_t x = i % self->width, y = i / self->width;
    n[y / side][x / side] += self->places[y / 2 * self->columns + x / 2].is_faint;
  }
  for (int i = 0; i < 64 * 64; i++)
    both[i / 64][i % 64] = has_candidates[i / 64][i % 64] || n[i / 64][i % 64] >= 8;
  for (int i = 0; i < 64 * 64; i++)
    if (has_candidates[i / 64][i % 64])
      keep_cells (i % 64, i / 64, both, reached);
  for (int i = 0; i < 64 * 64; i++)
    faint[i / 64][i % 64] = both[i / 64][i % 64] && !reached[i / 64][i % 64];
}

void
sampled_reference_judge (SampledReference *self, const bool *is_dynamic, bool adds,
    bool finds_light, const uint8_t *frame, const uint8_t *ground, bool *candidates)
{
  static bool has_candidates[64][64], kept[64][64], faint[64][64];
  static uint32_t n_confirming[64][64];
  static int votes[64][64][2], outlines[64][64][2];
  uint32_t side = 8;

  memset (votes, 0, sizeof votes);
  memset (outlines, 0, sizeof outlines);
  memset (has_candidates, 0, sizeof has_candidates);
  memset (kept, 0, sizeof kept);
  memset (n_confirming, 0, sizeof n_confirming);
  while (64 * side < MAX (self->width, self->height))
    side *= 2;
  for (uint32_t i = 0; i < self->columns * self->rows; i++)
    look_around (self, (int)(i % self->columns), (int)(i / self->columns));
  for (uint32_t i = 0; i < self->width * self->height; i++) {
    const uint32_t x = i % self->width, y = i / self->width;
    const SampledPlace *place = &self->places[y / 2 * self->columns + x / 2];
    candidates[i] |= adds && is_dynamic[i] && place->is_around && place->restlessness < 40;
    has_candidates[y / side][x / side] |= candidates[i];
    n_confirming[y / side][x / side] += candidates[i] && place->is_around;
  }
  memset (faint, 0, sizeof faint);
  if (adds && self->finds_faint)
    find_faint_cells (self, side, has_candidates, faint);
  count_outlines (self, candidates, frame, ground, side, outlines);
  remove_uncovered_cells (self, outlines, has_candidates);
  if (finds_light) {
    count_votes (self, candidates, frame, ground, side, votes);
    remove_lit_cells (votes, has_candidates);
  }
  for (int i = 0; i < 64 * 64; i++)
    if (n_confirming[i / 64][i % 64] >= 8)
      keep_cells (i % 64, i / 64, has_candidates, kept);
  for (uint32_t i = 0; i < self->width * self->height; i++) {
    const uint32_t x = i % self->width, y = i / self->width;
    candidates[i] =
        (candidates[i] && kept[y / side][x / side]) ||
        (self->places[y / 2 * self->columns + x / 2].is_faint && faint[y / side][x / side]);
    self->found[i] = candidates[i];
  }
}
