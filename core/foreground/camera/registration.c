/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "registration.h"
#include "extent.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
  BLOCK = CUDACCL_REGISTRATION_BLOCK,
  RANGE = CUDACCL_REGISTRATION_RANGE,
  SIDE = 2 * RANGE + 1,
  N_PLACES = SIDE * SIDE,
  MAX_BLOCKS = CUDACCL_REGISTRATION_MAX_BLOCKS,
  WINDOW = 2, /* boxes to each side of one in the mean */

  /* Texture is what differs from that mean by more than so many times the noise, in luma. */
  NOISE_FACTOR = 3,
  LEAST_TEXTURE = 3,
  MOST_NOISE = 4,
  MOST_TEXTURE = 4, /* times the least texture; a greater one is limited to this */
  /* Boxes of a textured block, times its least texture. */
  TEXTURED_BOXES = 12,

  /* Similarities. Equal pictures with noise have about 90, unrelated ones 10 to 45. */
  SIMILAR = 55,
  ABSENT = 0xff, /* a place is not wholly in the frame */
  MARGIN = 10,   /* of two similarities that differ */

  /* With so many eighths of the blocks at their place, no move is looked for. */
  AGREEING_EIGHTHS = 7,
  /* A displacement is supported by the blocks that it explains: by at least so many tenths of those
     that have a place, so many blocks, and so many times the blocks that are better explained by no
     displacement; and they extend over half of the extent of those that have a place. */
  SUPPORT_TENTHS = 4,
  ZOOM_SUPPORT_TENTHS = 6, /* of a zoom, for which each block has more places */
  LEAST_BLOCKS = 6,
  SUPPORT_FACTOR = 3,

  /* Texture is that of the whole picture if it is in so many quarters of the rows and of the
     columns; or in so many quarters of either, and the product of both numbers is so many
     hundredths of the boxes. */
  SPREAD_QUARTERS = 3,
  SPREAD_PERCENT = 20,

  /* Zooms in hundredths, in steps, about each of some centres. */
  MOST_ZOOM = 12,
  ZOOM_STEP = 2,
  ZOOM_RANGE = 4, /* displacement of the centre */

  /* Sums of the absolute texture of two blocks are at most so many. */
  MOST_SUM = 2 * BLOCK * BLOCK * MOST_TEXTURE * NOISE_FACTOR * MOST_NOISE,
  SHARE_SHIFT = 16,
};

/* A picture's texture: bytes of 128 ± texture, and sums of the texture's absolute values over all
 * boxes above and to the left. */
typedef struct Texture {
  uint8_t *values;
  uint32_t *sums; /* rows of width + 1, height + 1 of them */
} Texture;

typedef struct Block {
  uint32_t x, y, texture;
} Block;

struct CclRegistration {
  uint32_t width, height, stride;
  uint32_t step; /* boxes from block to block */
  Texture model, frame, before;
  bool has_before;
  uint8_t *frame_luma;           /* of the call before, for the noise */
  uint32_t shares[MOST_SUM + 1]; /* 100 / i in 1 / (1 << SHARE_SHIFT), instead of divisions */
  Block blocks[MAX_BLOCKS];
  uint32_t n_blocks;
  bool *rows, *columns;      /* in which textured blocks of the model have texture */
  uint16_t *sums_of_columns; /* of the windows around a row */
  uint8_t places[MAX_BLOCKS][N_PLACES], widened[MAX_BLOCKS][N_PLACES];
};

static bool
allocate_texture (const CclRegistration *self, Texture *texture)
{
  texture->values = malloc ((size_t)self->width * self->height);
  texture->sums = calloc ((size_t)(self->width + 1) * (self->height + 1), sizeof *texture->sums);
  return texture->values && texture->sums;
}

CclRegistration *
ccl_registration_new (uint32_t width, uint32_t height, uint32_t stride)
{
  CclRegistration *self = calloc (1, sizeof *self);
  if (!self)
    return NULL;
  self->width = width;
  self->height = height;
  self->stride = stride;
  for (uint32_t i = 1; i <= MOST_SUM; i++)
    self->shares[i] = (100u << SHARE_SHIFT) / i;
  self->step = (width / BLOCK) * (height / BLOCK) >= MAX_BLOCKS ? BLOCK : BLOCK / 2;
  self->frame_luma = malloc ((size_t)width * height + 1);
  self->rows = malloc ((size_t)height + 1);
  self->columns = malloc ((size_t)width + 1);
  self->sums_of_columns = malloc (((size_t)width + 1) * sizeof *self->sums_of_columns);
  if (self->frame_luma && self->rows && self->columns && self->sums_of_columns &&
      allocate_texture (self, &self->model) && allocate_texture (self, &self->frame) &&
      allocate_texture (self, &self->before))
    return self;
  ccl_registration_free (self);
  return NULL;
}

void
ccl_registration_free (CclRegistration *self)
{
  if (!self)
    return;
  Texture *const textures[] = {&self->model, &self->frame, &self->before};
  for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
    free (textures[i]->values);
    free (textures[i]->sums);
  }
  free (self->frame_luma);
  free (self->rows);
  free (self->columns);
  free (self->sums_of_columns);
  free (self);
}

/* The median difference from the frame of the call before: what noise makes of boxes. */
static uint32_t
measure_noise (CclRegistration *self, const uint8_t *frame)
{
  uint32_t counts[256] = {0}, n = 0, median = 0;
  const uint32_t width = self->width;

  for (uint32_t y = 0; y < self->height; y++) {
    uint8_t *before = self->frame_luma + (size_t)y * width;
    const uint8_t *now = frame + (size_t)y * self->stride;
    if (self->has_before) {
      for (uint32_t x = 0; x < width; x++)
        counts[now[x] < before[x] ? before[x] - now[x] : now[x] - before[x]]++;
      n += width;
    }
    memcpy (before, now, width);
  }
  for (uint32_t below = counts[0]; 2 * below < n && median < MOST_NOISE; below += counts[median])
    median++;
  return median;
}

/* Sums of the windows' columns around row y. */
static void
sum_columns (const CclRegistration *self, const uint8_t *picture, uint32_t y, uint16_t *sums)
{
  const uint32_t first = y > WINDOW ? y - WINDOW : 0;
  const uint32_t last = y + WINDOW < self->height ? y + WINDOW : self->height - 1;
  memset (sums, 0, self->width * sizeof *sums);
  for (uint32_t j = first; j <= last; j++)
    for (uint32_t x = 0; x < self->width; x++)
      sums[x] = (uint16_t)(sums[x] + picture[(size_t)j * self->stride + x]);
}

/* Most windows are whole; dividing by a constant is faster. */
static uint32_t
mean_of_window (uint32_t sum, uint32_t n)
{
  enum { WHOLE = (2 * WINDOW + 1) * (2 * WINDOW + 1) };
  return n == WHOLE ? (sum + WHOLE / 2) / WHOLE : (sum + n / 2) / n;
}

/* Finds the texture of a picture. least: of what counts. */
static void
find_texture (const CclRegistration *self, const uint8_t *picture, int least, Texture *texture)
{
  const uint32_t width = self->width, height = self->height;
  const int most = MOST_TEXTURE * least;
  uint16_t *columns = self->sums_of_columns;

  for (uint32_t y = 0; y < height; y++) {
    const uint32_t n_rows =
        (y + WINDOW < height ? y + WINDOW : height - 1) - (y > WINDOW ? y - WINDOW : 0) + 1;
    uint8_t *values = texture->values + (size_t)y * width;
    const uint32_t *above = texture->sums + (size_t)y * (width + 1);
    uint32_t *sums = texture->sums + (size_t)(y + 1) * (width + 1), of_row = 0, window = 0, n = 0;
    sum_columns (self, picture, y, columns);
    for (uint32_t x = 0; x < WINDOW && x < width; x++, n++)
      window += columns[x];
    for (uint32_t x = 0; x < width; x++) {
      if (x + WINDOW < width) {
        window += columns[x + WINDOW];
        n++;
      }
      if (x > WINDOW) {
        window -= columns[x - WINDOW - 1];
        n--;
      }
      const int mean = (int)mean_of_window (window, n * n_rows);
      const int difference = picture[(size_t)y * self->stride + x] - mean;
      const int size = difference < 0 ? -difference : difference;
      const int value = size <= least ? 0 : size < most ? size : most;
      values[x] = (uint8_t)(difference < 0 ? 128 - value : 128 + value);
      of_row += (uint32_t)value;
      sums[x + 1] = above[x + 1] + of_row;
    }
  }
}

/* The sum of the absolute texture of the block at a place. */
static uint32_t
texture_of_block (const CclRegistration *self, const Texture *texture, uint32_t x, uint32_t y)
{
  const uint32_t row = self->width + 1;
  const uint32_t *top = texture->sums + (size_t)y * row + x, *bottom = top + (size_t)BLOCK * row;
  return bottom[BLOCK] - bottom[0] - top[BLOCK] + top[0];
}

/* The sum of absolute differences of two blocks. */
static uint32_t
differ_by (const uint8_t *a, const uint8_t *b, uint32_t stride)
{
#ifdef __SSE2__
  __m128i sum = _mm_setzero_si128 ();
  for (uint32_t j = 0; j < BLOCK; j++, a += stride, b += stride)
    sum = _mm_add_epi64 (sum, _mm_sad_epu8 (_mm_loadl_epi64 ((const __m128i *)(const void *)a),
                                  _mm_loadl_epi64 ((const __m128i *)(const void *)b)));
  return (uint32_t)_mm_cvtsi128_si32 (sum);
#else
  uint32_t sum = 0;
  for (uint32_t j = 0; j < BLOCK; j++, a += stride, b += stride)
    for (uint32_t i = 0; i < BLOCK; i++)
      sum += (uint32_t)(a[i] < b[i] ? b[i] - a[i] : a[i] - b[i]);
  return sum;
#endif
}

/* The similarity of a block of the texture a with the place (to_x, to_y) of the texture b. */
static uint32_t
compare_blocks (const CclRegistration *self, const Texture *a, const Block *block, const Texture *b,
    uint32_t to_x, uint32_t to_y)
{
  const uint8_t *from = a->values + (size_t)block->y * self->width + block->x;
  const uint8_t *to = b->values + (size_t)to_y * self->width + to_x;
  const uint32_t both = block->texture + texture_of_block (self, b, to_x, to_y);
  return 100 - (differ_by (from, to, self->width) * self->shares[both] >> SHARE_SHIFT);
}

/* Marks the rows and columns in which a block has texture. */
static void
mark_texture (CclRegistration *self, const Texture *texture, const Block *block)
{
  for (uint32_t y = block->y; y < block->y + BLOCK; y++) {
    const uint8_t *values = texture->values + (size_t)y * self->width;
    for (uint32_t x = block->x; x < block->x + BLOCK; x++) {
      if (values[x] != 128)
        self->rows[y] = self->columns[x] = true;
    }
  }
}

/* Whether the marked rows and columns are those of the picture rather than of an object. */
static bool
is_spread (const CclRegistration *self)
{
  uint32_t n_rows = 0, n_columns = 0;
  for (uint32_t y = 0; y < self->height; y++)
    n_rows += self->rows[y];
  for (uint32_t x = 0; x < self->width; x++)
    n_columns += self->columns[x];
  const bool is_high = 4 * n_rows >= SPREAD_QUARTERS * self->height;
  const bool is_wide = 4 * n_columns >= SPREAD_QUARTERS * self->width;
  return (is_high && is_wide) ||
         ((is_high || is_wide) && (uint64_t)100 * n_rows * n_columns >=
                                      (uint64_t)SPREAD_PERCENT * self->width * self->height);
}

/* Counts the textured blocks of a picture, and those of them that another one has at the same
 * place. list: whether the blocks are listed, for a search, and their texture is marked. */
static uint32_t
count_agreeing (CclRegistration *self, const Texture *texture, const Texture *other, uint32_t least,
    bool list, uint32_t *n_agreeing)
{
  const uint32_t least_of_block = TEXTURED_BOXES * least;
  uint32_t n = 0, n_kept = 0, every = 1;

  *n_agreeing = 0;
  for (uint32_t y = 0; y + BLOCK <= self->height; y += self->step) {
    for (uint32_t x = 0; x + BLOCK <= self->width; x += self->step) {
      const Block block = {x, y, texture_of_block (self, texture, x, y)};
      if (block.texture < least_of_block)
        continue;
      *n_agreeing += compare_blocks (self, texture, &block, other, x, y) >= SIMILAR;
      if (list)
        mark_texture (self, texture, &block);
      /* Where there are more than can be listed, every second, fourth … is. */
      if (list && n % every == 0) {
        if (n_kept == MAX_BLOCKS) {
          for (uint32_t i = 0; i < MAX_BLOCKS / 2; i++)
            self->blocks[i] = self->blocks[2 * i];
          n_kept /= 2;
          every *= 2;
        }
        if (n % every == 0)
          self->blocks[n_kept++] = block;
      }
      n++;
    }
  }
  if (list)
    self->n_blocks = n_kept;
  return n;
}

/* Compares a block with all places in its range. */
static void
search_block (CclRegistration *self, uint32_t index)
{
  const Block *block = &self->blocks[index];
  uint8_t *places = self->places[index];

  for (int dy = -RANGE; dy <= RANGE; dy++) {
    for (int dx = -RANGE; dx <= RANGE; dx++, places++) {
      const int x = (int)block->x + dx, y = (int)block->y + dy;
      const bool is_inside =
          x >= 0 && y >= 0 && x + BLOCK <= (int)self->width && y + BLOCK <= (int)self->height;
      *places = is_inside ? (uint8_t)compare_blocks (
                                self, &self->model, block, &self->frame, (uint32_t)x, (uint32_t)y)
                          : ABSENT;
    }
  }
}

static uint8_t
greater_place (uint8_t a, uint8_t b)
{
  return a == ABSENT ? b : b == ABSENT ? a : a > b ? a : b;
}

/* The best of each place and its eight neighbours, where the place is in the frame. */
static void
widen_places (const uint8_t *places, uint8_t *widened)
{
  uint8_t rows[N_PLACES];
  for (int i = 0; i < N_PLACES; i++) {
    const int column = i % SIDE;
    const uint8_t left = column > 0 ? places[i - 1] : (uint8_t)ABSENT;
    const uint8_t right = column < SIDE - 1 ? places[i + 1] : (uint8_t)ABSENT;
    rows[i] = greater_place (greater_place (left, places[i]), right);
  }
  for (int i = 0; i < N_PLACES; i++) {
    const uint8_t above = i >= SIDE ? rows[i - SIDE] : (uint8_t)ABSENT;
    const uint8_t below = i + SIDE < N_PLACES ? rows[i + SIDE] : (uint8_t)ABSENT;
    widened[i] = places[i] == ABSENT ? (uint8_t)ABSENT
                                     : greater_place (greater_place (above, rows[i]), below);
  }
}

/* A displacement: of the centre in boxes, and a zoom in hundredths. */
typedef struct Move {
  int dx, dy, zoom;
} Move;

/* The place of a block that has moved; −1: out of range. */
static int
place_after (const CclRegistration *self, const Block *block, const Move *move)
{
  if (move->zoom == 0)
    return (move->dy + RANGE) * SIDE + move->dx + RANGE;
  const int x = 2 * (int)block->x + BLOCK - (int)self->width; /* from the centre, in half boxes */
  const int y = 2 * (int)block->y + BLOCK - (int)self->height;
  const int half_x = x < 0 ? -100 : 100, half_y = y < 0 ? -100 : 100;
  const int dx = move->dx + (move->zoom * x + half_x * (move->zoom < 0 ? -1 : 1)) / 200;
  const int dy = move->dy + (move->zoom * y + half_y * (move->zoom < 0 ? -1 : 1)) / 200;
  if (dx < -RANGE || dx > RANGE || dy < -RANGE || dy > RANGE)
    return -1;
  return (dy + RANGE) * SIDE + dx + RANGE;
}

/* How much more similar the blocks are where a move brings them than where they were. */
static uint32_t
gain_of (const CclRegistration *self, const Move *move)
{
  uint32_t gain = 0;
  for (uint32_t i = 0; i < self->n_blocks; i++) {
    const uint8_t *places = move->zoom ? self->widened[i] : self->places[i];
    const int place = place_after (self, &self->blocks[i], move);
    const uint32_t here = self->places[i][N_PLACES / 2];
    if (place >= 0 && places[place] != ABSENT && places[place] > here)
      gain += places[place] - here;
  }
  return gain;
}

/* Whether the blocks are where a move brings them, and not where they were. */
static bool
is_supported (const CclRegistration *self, const Move *move)
{
  const uint32_t tenths = move->zoom ? ZOOM_SUPPORT_TENTHS : SUPPORT_TENTHS;
  uint32_t n = 0, n_there = 0, n_here = 0;
  Extent of_all = {0, 0, 0, 0}, of_supporting = {0, 0, 0, 0};
  for (uint32_t i = 0; i < self->n_blocks; i++) {
    const uint8_t *places = move->zoom ? self->widened[i] : self->places[i];
    const int place = place_after (self, &self->blocks[i], move);
    if (place < 0 || places[place] == ABSENT)
      continue;
    const uint32_t there = places[place], here = self->places[i][N_PLACES / 2];
    const bool is_there = there >= SIMILAR && there >= here + MARGIN;
    n++;
    extend (&of_all, self->blocks[i].x, self->blocks[i].y, BLOCK);
    if (is_there)
      extend (&of_supporting, self->blocks[i].x, self->blocks[i].y, BLOCK);
    n_there += is_there;
    n_here += here >= SIMILAR && here + MARGIN >= there;
  }
  return n_there >= LEAST_BLOCKS && 10 * n_there >= tenths * n && 4 * n >= self->n_blocks &&
         n_there >= SUPPORT_FACTOR * n_here && is_half_of (&of_supporting, &of_all);
}

static void
try_move (const CclRegistration *self, const Move *move, Move *best, uint32_t *greatest)
{
  const uint32_t gain = gain_of (self, move);
  if (gain > *greatest) {
    *greatest = gain;
    *best = *move;
  }
}

static bool
find_shift (const CclRegistration *self, Move *best)
{
  uint32_t greatest = 0;
  for (int dy = -RANGE; dy <= RANGE; dy++)
    for (int dx = -RANGE; dx <= RANGE; dx++)
      try_move (self, &(Move){dx, dy, 0}, best, &greatest);
  return (best->dx || best->dy) && is_supported (self, best);
}

static bool
find_zoom (const CclRegistration *self, Move *best)
{
  uint32_t greatest = 0;
  for (int zoom = -MOST_ZOOM; zoom <= MOST_ZOOM; zoom += ZOOM_STEP)
    for (int dy = -ZOOM_RANGE; dy <= ZOOM_RANGE && zoom; dy++)
      for (int dx = -ZOOM_RANGE; dx <= ZOOM_RANGE; dx++)
        try_move (self, &(Move){dx, dy, zoom}, best, &greatest);
  return greatest > 0 && is_supported (self, best);
}

/* The similarity of all blocks that have the three places around a displacement, at each of them.
 */
static void
sum_around (const CclRegistration *self, const Move *move, int distance, int32_t sums[3])
{
  const int place = (move->dy + RANGE) * SIDE + move->dx + RANGE;
  sums[0] = sums[1] = sums[2] = 0;
  for (uint32_t i = 0; i < self->n_blocks; i++) {
    const uint8_t *at = self->places[i] + place;
    if (at[-distance] == ABSENT || at[0] == ABSENT || at[distance] == ABSENT)
      continue;
    for (int j = 0; j < 3; j++)
      sums[j] += at[(j - 1) * distance];
  }
}

/* The vertex of the parabola through three sums, from the middle one, in steps. */
static int32_t
vertex_of (const int32_t sums[3])
{
  const int32_t curve = 2 * (2 * sums[1] - sums[0] - sums[2]);
  const int32_t slope = CUDACCL_REGISTRATION_STEPS * (sums[2] - sums[0]);
  const int32_t most = CUDACCL_REGISTRATION_STEPS / 2;
  if (curve <= 0)
    return 0;
  const int32_t vertex = (slope + (slope < 0 ? -curve : curve) / 2) / curve;
  return vertex < -most ? -most : vertex > most ? most : vertex;
}

/* Sets the displacement of the result to a shift, refined to steps. */
static void
refine (const CclRegistration *self, const Move *move, CclRegistrationResult *result)
{
  int32_t sums[3];
  result->has_displacement = true;
  result->dx = CUDACCL_REGISTRATION_STEPS * move->dx;
  result->dy = CUDACCL_REGISTRATION_STEPS * move->dy;
  if (move->dx > -RANGE && move->dx < RANGE) {
    sum_around (self, move, 1, sums);
    result->dx += vertex_of (sums);
  }
  if (move->dy > -RANGE && move->dy < RANGE) {
    sum_around (self, move, SIDE, sums);
    result->dy += vertex_of (sums);
  }
}

static void
find_move (CclRegistration *self, CclRegistrationResult *result)
{
  Move move = {0, 0, 0};
  for (uint32_t i = 0; i < self->n_blocks; i++) {
    search_block (self, i);
    widen_places (self->places[i], self->widened[i]);
  }
  if (find_shift (self, &move)) {
    result->is_displaced = true;
    refine (self, &move, result);
  } else {
    result->is_displaced = find_zoom (self, &move);
  }
}

CclRegistrationResult
ccl_registration_compare (CclRegistration *self, const uint8_t *frame, const uint8_t *model)
{
  const Texture before = self->frame;
  CclRegistrationResult result = {.noise = measure_noise (self, frame)};
  const uint32_t noise = NOISE_FACTOR * result.noise;
  const uint32_t least = noise > LEAST_TEXTURE ? noise : LEAST_TEXTURE;

  self->frame = self->before;
  self->before = before;
  find_texture (self, frame, (int)least, &self->frame);
  find_texture (self, model, (int)least, &self->model);
  result.n_textured =
      count_agreeing (self, &self->frame, &self->before, least, false, &result.n_still);
  if (!self->has_before)
    result.n_still = 0;
  memset (self->rows, 0, self->height * sizeof *self->rows);
  memset (self->columns, 0, self->width * sizeof *self->columns);
  result.n_blocks =
      count_agreeing (self, &self->model, &self->frame, least, true, &result.n_agreeing);
  result.is_spread = is_spread (self);
  if (result.is_spread && 8 * result.n_agreeing < AGREEING_EIGHTHS * result.n_blocks)
    find_move (self, &result);
  self->has_before = true;
  return result;
}
