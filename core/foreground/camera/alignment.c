/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "alignment.h"
#include "extent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK = 8,  /* boxes of a block's side */
  WINDOW = 2, /* boxes to each side of one in the mean */
  STEPS = 6,  /* of the search, at most */
  ROUNDS = 4, /* in which blocks are weighed */
  LEAST_BLOCKS = 6,
  N_PARAMETERS = 4,
};

/* The search ends with a step of fewer boxes. */
static const float END = 0.02f;
/* The search ends when the displacement, in boxes, is smaller than this. */
static const float LEAST_SIZE = 0.06f;
/* A block shows a displacement if the difference that it makes there has VISIBLE times the energy
 * of the noise. Then a move explains the block if it removes the part EXPLAINED of that difference.
 */
static const float VISIBLE = 3, EXPLAINED = 0.5f;
/* Besides, the energy that is left is at most this part of that of the texture. */
static const float LEFT = 0.5f;
/* The least part of the blocks that show the displacement which it has to explain; they extend over
 * half of the extent of all of these, both ways. */
static const float SUPPORT = 0.6f;

/* The sums of a block: products of gradients, of gradients and differences, the energy of the
 * texture and of the difference. */
typedef struct Block {
  float xx, xy, yy, bx, by, texture, energy;
  bool is_inside;
} Block;

struct CclAlignment {
  uint32_t width, height, stride;
  uint32_t columns, rows; /* of blocks */
  float *reference, *frame, *warped;
  uint32_t n_frames; /* in the reference */
  float *sums;       /* of a row's columns */
  Block *blocks, *unmoved;
  float *weights;
};

CclAlignment *
ccl_alignment_new (uint32_t width, uint32_t height, uint32_t stride)
{
  CclAlignment *self = calloc (1, sizeof *self);
  if (!self)
    return NULL;
  self->width = width;
  self->height = height;
  self->stride = stride;
  self->columns = width / BLOCK;
  self->rows = height / BLOCK;
  const size_t n = (size_t)width * height + 1, n_blocks = (size_t)self->columns * self->rows + 1;
  self->reference = calloc (n, sizeof *self->reference);
  self->frame = calloc (n, sizeof *self->frame);
  self->warped = calloc (n, sizeof *self->warped);
  self->blocks = calloc (n_blocks, sizeof *self->blocks);
  self->unmoved = calloc (n_blocks, sizeof *self->unmoved);
  self->weights = calloc (n_blocks, sizeof *self->weights);
  self->sums = calloc ((size_t)width + 1, sizeof *self->sums);
  if (self->reference && self->frame && self->warped && self->blocks && self->unmoved &&
      self->weights && self->sums)
    return self;
  ccl_alignment_free (self);
  return NULL;
}

void
ccl_alignment_free (CclAlignment *self)
{
  if (!self)
    return;
  free (self->reference);
  free (self->frame);
  free (self->warped);
  free (self->blocks);
  free (self->unmoved);
  free (self->weights);
  free (self->sums);
  free (self);
}

void
ccl_alignment_begin (CclAlignment *self)
{
  self->n_frames = 0;
}

static uint32_t
window_first (uint32_t i)
{
  return i > WINDOW ? i - WINDOW : 0;
}

static uint32_t
window_last (uint32_t i, uint32_t n)
{
  return i + WINDOW < n ? i + WINDOW : n - 1;
}

/* Takes a picture less the means of its windows. The sums are exact: their terms are whole numbers.
 */
static void
take_frame (CclAlignment *self, const uint8_t *picture)
{
  const uint32_t width = self->width, height = self->height;

  for (uint32_t y = 0; y < height; y++) {
    const uint32_t first = window_first (y), last = window_last (y, height);
    memset (self->sums, 0, width * sizeof *self->sums);
    for (uint32_t j = first; j <= last; j++)
      for (uint32_t x = 0; x < width; x++)
        self->sums[x] += picture[(size_t)j * self->stride + x];
    float sum = 0;
    for (uint32_t x = 0; x < WINDOW && x < width; x++)
      sum += self->sums[x];
    for (uint32_t x = 0; x < width; x++) {
      if (x + WINDOW < width)
        sum += self->sums[x + WINDOW];
      if (x > WINDOW)
        sum -= self->sums[x - WINDOW - 1];
      const uint32_t n = (window_last (x, width) - window_first (x) + 1) * (last - first + 1);
      self->frame[(size_t)y * width + x] = picture[(size_t)y * self->stride + x] - sum / (float)n;
    }
  }
}

/* The coordinate of a place relative to the centre, in half widths of the picture. */
static float
from_centre (const CclAlignment *self, float at, uint32_t size)
{
  return (2 * at + 1 - (float)size) / (float)self->width;
}

/* How far a place is displaced. x, y: relative to the centre. */
static void
displace (const CclDisplacement *move, float x, float y, float *dx, float *dy)
{
  *dx = move->dx + move->zoom * x - move->turn * y;
  *dy = move->dy + move->zoom * y + move->turn * x;
}

/* The value of the frame between boxes, interpolated; outside the frame, that of its edge. */
static float
value_between (const CclAlignment *self, float x, float y)
{
  const float right = (float)self->width - 1.001f, bottom = (float)self->height - 1.001f;
  x = x < 0 ? 0 : x > right ? right : x;
  y = y < 0 ? 0 : y > bottom ? bottom : y;
  const uint32_t i = (uint32_t)x, j = (uint32_t)y;
  const float fx = x - (float)i, fy = y - (float)j;
  const float *at = self->frame + (size_t)j * self->width + i, *below = at + self->width;
  return (at[0] * (1 - fx) + at[1] * fx) * (1 - fy) + (below[0] * (1 - fx) + below[1] * fx) * fy;
}

/* Fills self->warped: the frame with its content where it was before the move. */
static void
warp (CclAlignment *self, const CclDisplacement *move)
{
  float *to = self->warped;
  for (uint32_t y = 0; y < self->height; y++) {
    for (uint32_t x = 0; x < self->width; x++) {
      float dx, dy;
      displace (move, from_centre (self, (float)x, self->width),
          from_centre (self, (float)y, self->height), &dx, &dy);
      *to++ = value_between (self, (float)x + dx, (float)y + dy);
    }
  }
}

/* Whether the block at a place is wholly in the frame after a move. */
static bool
is_inside (const CclAlignment *self, const CclDisplacement *move, uint32_t left, uint32_t top)
{
  for (uint32_t corner = 0; corner < 4; corner++) {
    const float x = (float)(left + corner % 2 * (BLOCK - 1));
    const float y = (float)(top + corner / 2 * (BLOCK - 1));
    float dx, dy;
    displace (
        move, from_centre (self, x, self->width), from_centre (self, y, self->height), &dx, &dy);
    if (x + dx < -0.5f || y + dy < -0.5f || x + dx > (float)self->width - 0.5f ||
        y + dy > (float)self->height - 0.5f)
      return false;
  }
  return true;
}

/* Adds a row to the sums of a block, before its contrast is taken into account. with_texture: sums
 * of the products of the texture with both gradients and with the difference. */
static void
add_row (const CclAlignment *self, const float *picture, uint32_t left, uint32_t y, Block *block,
    float with_texture[3])
{
  const uint32_t width = self->width;
  const size_t above = y > 0 ? width : 0, below = y + 1 < self->height ? width : 0;
  const float *a = self->reference + (size_t)y * width, *f = picture + (size_t)y * width;

  for (uint32_t x = left; x < left + BLOCK; x++) {
    const uint32_t l = x > 0 ? x - 1 : 0, r = x + 1 < width ? x + 1 : x;
    const float gx = (a[r] - a[l] + f[r] - f[l]) / 4;
    const float gy = (a[x + below] - *(a + x - above) + f[x + below] - *(f + x - above)) / 4;
    const float texture = (a[x] + f[x]) / 2, difference = a[x] - f[x];
    block->xx += gx * gx;
    block->xy += gx * gy;
    block->yy += gy * gy;
    block->bx += gx * difference;
    block->by += gy * difference;
    block->texture += texture * texture;
    block->energy += difference * difference;
    with_texture[0] += texture * gx;
    with_texture[1] += texture * gy;
    with_texture[2] += texture * difference;
  }
}

/* Measures a block. What a change of its contrast explains is taken away. */
static Block
measure_block (const CclAlignment *self, const float *picture, uint32_t left, uint32_t top)
{
  Block block = {0};
  float with_texture[3] = {0, 0, 0};
  for (uint32_t y = top; y < top + BLOCK; y++)
    add_row (self, picture, left, y, &block, with_texture);
  if (block.texture <= 0)
    return block;
  const float x = with_texture[0] / block.texture, y = with_texture[1] / block.texture;
  const float difference = with_texture[2] / block.texture;
  block.xx -= x * with_texture[0];
  block.xy -= x * with_texture[1];
  block.yy -= y * with_texture[1];
  block.bx -= x * with_texture[2];
  block.by -= y * with_texture[2];
  block.energy -= difference * with_texture[2];
  return block;
}

static void
measure_blocks (
    const CclAlignment *self, const float *picture, const CclDisplacement *move, Block *blocks)
{
  for (uint32_t row = 0; row < self->rows; row++) {
    for (uint32_t column = 0; column < self->columns; column++, blocks++) {
      const uint32_t left = column * BLOCK, top = row * BLOCK;
      const bool inside = is_inside (self, move, left, top);
      *blocks = inside ? measure_block (self, picture, left, top) : (Block){0};
      blocks->is_inside = inside;
    }
  }
}

/* The middle of a block. */
static void
middle_of (const CclAlignment *self, uint32_t index, float *x, float *y)
{
  const float half = (BLOCK - 1) / 2.0f;
  *x = from_centre (self, (float)(index % self->columns * BLOCK) + half, self->width);
  *y = from_centre (self, (float)(index / self->columns * BLOCK) + half, self->height);
}

/* The energy that a small further move of a block leaves. */
static float
energy_after (const Block *block, float dx, float dy)
{
  const float energy = block->energy - 2 * (block->bx * dx + block->by * dy) + block->xx * dx * dx +
                       2 * block->xy * dx * dy + block->yy * dy * dy;
  return energy > 0 ? energy : 0;
}

/* Solves a symmetric system of four equations by elimination. */
static void
solve (float matrix[N_PARAMETERS][N_PARAMETERS + 1], float solution[N_PARAMETERS])
{
  for (int i = 0; i < N_PARAMETERS; i++) {
    for (int j = i + 1; j < N_PARAMETERS; j++) {
      const float factor = matrix[j][i] / matrix[i][i];
      for (int k = i; k <= N_PARAMETERS; k++)
        matrix[j][k] -= factor * matrix[i][k];
    }
  }
  for (int i = N_PARAMETERS - 1; i >= 0; i--) {
    solution[i] = matrix[i][N_PARAMETERS];
    for (int j = i + 1; j < N_PARAMETERS; j++)
      solution[i] -= matrix[i][j] * solution[j];
    solution[i] /= matrix[i][i];
  }
}

/* The move, added to the present one, that fits the weighed blocks best. */
static CclDisplacement
fit (const CclAlignment *self, float noise)
{
  float matrix[N_PARAMETERS][N_PARAMETERS + 1] = {{0}}, solution[N_PARAMETERS];
  const uint32_t n = self->columns * self->rows;

  for (uint32_t i = 0; i < n; i++) {
    const Block *block = &self->blocks[i];
    const float weight = self->weights[i];
    float x, y;
    middle_of (self, i, &x, &y);
    const float to_x[N_PARAMETERS] = {1, 0, x, -y}, to_y[N_PARAMETERS] = {0, 1, y, x};
    for (int j = 0; j < N_PARAMETERS; j++) {
      const float along = to_x[j] * block->xx + to_y[j] * block->xy;
      const float across = to_x[j] * block->xy + to_y[j] * block->yy;
      for (int k = 0; k < N_PARAMETERS; k++)
        matrix[j][k] += weight * (along * to_x[k] + across * to_y[k]);
      matrix[j][N_PARAMETERS] += weight * (to_x[j] * block->bx + to_y[j] * block->by);
    }
  }
  for (int i = 0; i < N_PARAMETERS; i++) /* without texture, the solution is no move */
    matrix[i][i] += i < 2 ? noise : 4 * noise;
  solve (matrix, solution);
  return (CclDisplacement){solution[0], solution[1], solution[2], solution[3]};
}

/* The same; blocks that differ from the reference even after it count little. noise: the energy of
 * noise in a block. */
static CclDisplacement
fit_robustly (CclAlignment *self, float noise)
{
  const uint32_t n = self->columns * self->rows;
  CclDisplacement step = {0, 0, 0, 0};

  for (uint32_t i = 0; i < n; i++)
    self->weights[i] = self->blocks[i].is_inside ? 1 : 0;
  for (int round = 0; round < ROUNDS; round++) {
    step = fit (self, noise / BLOCK / BLOCK);
    for (uint32_t i = 0; i < n; i++) {
      float x, y, dx, dy;
      middle_of (self, i, &x, &y);
      displace (&step, x, y, &dx, &dy);
      if (self->blocks[i].is_inside)
        self->weights[i] = noise / (noise + energy_after (&self->blocks[i], dx, dy));
    }
  }
  return step;
}

/* How far a move displaces the picture, on average. */
static float
size_of (const CclAlignment *self, const CclDisplacement *move)
{
  const float ratio = (float)self->height / (float)self->width;
  const float spread = (1 + ratio * ratio) / 3; /* of the squared distance from the centre */
  return sqrtf (move->dx * move->dx + move->dy * move->dy +
                (move->zoom * move->zoom + move->turn * move->turn) * spread);
}

/* Counts the blocks that show a move, and those that it explains. */
static void
count_support (const CclAlignment *self, float noise, CclAlignmentResult *result)
{
  const uint32_t n = self->columns * self->rows;
  Extent of_all = {0, 0, 0, 0}, of_supporting = {0, 0, 0, 0};

  result->n_blocks = result->n_supporting = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Block *unmoved = &self->unmoved[i], *moved = &self->blocks[i];
    float x, y, dx, dy;
    middle_of (self, i, &x, &y);
    displace (&result->move, x, y, &dx, &dy);
    const float change = unmoved->xx * dx * dx + 2 * unmoved->xy * dx * dy + unmoved->yy * dy * dy;
    const float visible = change < unmoved->texture ? change : unmoved->texture;
    if (!moved->is_inside || visible < VISIBLE * noise)
      continue;
    result->n_blocks++;
    extend (&of_all, i % self->columns, i / self->columns, 1);
    if (unmoved->energy - moved->energy < EXPLAINED * visible ||
        moved->energy > LEFT * moved->texture + noise)
      continue;
    result->n_supporting++;
    extend (&of_supporting, i % self->columns, i / self->columns, 1);
  }
  result->is_supported = result->n_supporting >= LEAST_BLOCKS &&
                         (float)result->n_supporting >= SUPPORT * (float)result->n_blocks &&
                         is_half_of (&of_supporting, &of_all);
}

static void
add (CclDisplacement *move, const CclDisplacement *step)
{
  move->dx += step->dx;
  move->dy += step->dy;
  move->zoom += step->zoom;
  move->turn += step->turn;
}

CclAlignmentResult
ccl_alignment_compare (
    CclAlignment *self, const uint8_t *frame, const CclDisplacement *start, float noise)
{
  const CclDisplacement none = {0, 0, 0, 0};
  const float of_block = BLOCK * BLOCK * (noise * noise + 0.1f);
  CclAlignmentResult result = {.move = *start};

  take_frame (self, frame);
  if (self->n_frames == 0 || self->columns * self->rows == 0)
    return (CclAlignmentResult){0};
  measure_blocks (self, self->frame, &none, self->unmoved);
  for (int i = 0; i < STEPS; i++) {
    if (size_of (self, &result.move) > 0) {
      warp (self, &result.move);
      measure_blocks (self, self->warped, &result.move, self->blocks);
    } else {
      memcpy (
          self->blocks, self->unmoved, (size_t)self->columns * self->rows * sizeof *self->blocks);
    }
    const CclDisplacement step = fit_robustly (self, of_block);
    const float size = size_of (self, &step);
    if (i > 0 && size < END)
      break;
    add (&result.move, &step);
    if (i == 0 && size_of (self, &result.move) < LEAST_SIZE)
      break;
  }
  result.size = size_of (self, &result.move);
  if (result.size >= LEAST_SIZE)
    count_support (self, of_block, &result);
  return result;
}

void
ccl_alignment_learn (CclAlignment *self, float share)
{
  const size_t n = (size_t)self->width * self->height;
  const float of_mean = 1.0f / (float)(self->n_frames + 1);

  if (of_mean > share)
    self->n_frames++;
  if (of_mean > share || self->n_frames == 0)
    share = of_mean;
  for (size_t i = 0; i < n; i++)
    self->reference[i] += share * (self->frame[i] - self->reference[i]);
}

float
ccl_alignment_distance (
    const CclAlignment *self, const CclDisplacement *from, const CclDisplacement *to)
{
  const CclDisplacement difference = {
      to->dx - from->dx, to->dy - from->dy, to->zoom - from->zoom, to->turn - from->turn};
  return size_of (self, &difference);
}
