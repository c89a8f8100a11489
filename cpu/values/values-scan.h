/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scan of the labeller of values. A file for each instruction set includes it after it has
 * defined the function equal_… of each type (ValueType).
 */
#pragma once

#include "core/base/interruption.h"
#include "cpu/label/equivalences.h"
#include "values.h"

/* A type of values. equal() returns a bit for each of n values, 0…64: whether it equals that of b
 * or, with_zero, 0; b is not read then. */
typedef struct ValueType {
  size_t bytes;
  uint64_t (*equal) (const void *a, const void *b, uint32_t n, bool with_zero);
} ValueType;

/* A row of the picture, and its words among those of all rows. */
typedef struct Row {
  const uint8_t *values;
  const uint64_t *begins, *foreground;
  const uint32_t *runs_before;
} Row;

static ALWAYS_INLINE uint64_t
lowest_bits (uint32_t n)
{
  return n == 64 ? UINT64_MAX : (UINT64_C (1) << n) - 1;
}

/* A word of the bits of a row: the number of the run of each of its pixels, and of the pixels
 * beside. */
typedef struct Ranks {
  uint64_t begins;
  uint64_t next_begins; /* the same for the pixels at x + 1 */
  uint32_t runs_before;
} Ranks;

static ALWAYS_INLINE Ranks
ranks_of (const Row *row, uint32_t i, uint32_t n_words)
{
  const uint64_t begins = row->begins[i];
  const uint64_t next = i + 1 < n_words ? row->begins[i + 1] << 63 : 0;
  return (Ranks){begins, begins >> 1 | next, row->runs_before[i]};
}

/* The run of the pixel that is `shift` columns, -1, 0 or 1, from bit `at`. */
static ALWAYS_INLINE uint32_t
run_at (const Ranks *ranks, uint32_t at, int32_t shift)
{
  const uint64_t before = (UINT64_C (1) << at) - 1;
  const uint64_t up_to = shift < 0 ? before : before << 1 | 1;
  const uint32_t next = shift > 0 ? ranks->next_begins >> at & 1 : 0;
  return ranks->runs_before + count_bits (ranks->begins & up_to) + next - 1;
}

/* Unites the sets of a run and of one before it. */
static ALWAYS_INLINE void
join (uint32_t *parents, uint32_t run, uint32_t other)
{
  const uint32_t parent = parents[run], other_parent = parents[other];
  if (parent == other_parent)
    return;
  if (parent == run && parents[other_parent] == other_parent && other_parent < run)
    parents[run] = other_parent;
  else
    unite (parents, parent, other_parent);
}

/* Unites the runs of pixels of a word with those of the pixels of another row that are `shift`
 * columns from them. */
static ALWAYS_INLINE void
join_pixels (
    uint32_t *parents, const Ranks *ranks, const Ranks *others, uint64_t pixels, int32_t shift)
{
  for (; pixels; pixels &= pixels - 1) {
    const uint32_t at = lowest_bit (pixels);
    join (parents, run_at (ranks, at, 0), run_at (others, at, shift));
  }
}

/* The pixels of a word of a row that equal those of another row that are `shift` columns from them:
 * -1, 0 or 1. */
static ALWAYS_INLINE uint64_t
compare (const ValueType *type, const uint8_t *row, const uint8_t *other, uint32_t x, uint32_t n,
    uint32_t width, int32_t shift)
{
  if (shift < 0 && x == 0)
    return type->equal (row + type->bytes, other, n - 1, false) << 1;
  if (shift > 0 && x + n == width)
    n--;
  const ptrdiff_t first = x;
  return type->equal (row + first * (ptrdiff_t)type->bytes,
      other + (first + shift) * (ptrdiff_t)type->bytes, n, false);
}

/* Finds the foreground of a row. Returns whether there is any. */
static ALWAYS_INLINE bool
find_foreground (
    const CpuValuesLabeller *self, const ValueType *type, const uint8_t *row, uint64_t *foreground)
{
  const CclValuesPlan *plan = &self->base.plan;
  const bool has_nan =
      plan->nan == CUDACCL_NAN_IS_BACKGROUND && plan->type >= CUDACCL_VALUE_TYPE_REAL_32;
  uint64_t all = 0;

  for (uint32_t i = 0; i < self->n_words; i++) {
    const uint32_t x = 64 * i, n = plan->width - x < 64 ? plan->width - x : 64;
    const uint8_t *values = row + (size_t)x * type->bytes;
    const uint64_t zeros = plan->zero_is_background ? type->equal (values, NULL, n, true) : 0;
    const uint64_t numbers = has_nan ? type->equal (values, values, n, false) : UINT64_MAX;
    all |= foreground[i] = ~zeros & numbers & lowest_bits (n);
  }
  return all != 0;
}

/* Finds the runs of a row and makes each one a set of its own. */
static ALWAYS_INLINE void
find_runs (CpuValuesLabeller *self, const ValueType *type, const Row *row, uint64_t *begins,
    uint32_t *runs_before)
{
  const uint32_t width = self->base.plan.width;
  uint32_t end = self->n_runs;

  for (uint32_t i = 0; i < self->n_words; i++) {
    const uint32_t x = 64 * i, n = width - x < 64 ? width - x : 64;
    const uint64_t foreground = row->foreground[i];
    begins[i] =
        foreground ? foreground & ~compare (type, row->values, row->values, x, n, width, -1) : 0;
    runs_before[i] = end;
    end += count_bits (begins[i]);
  }
  for (uint32_t run = self->n_runs; run < end; run++)
    self->parents[run] = run;
  self->n_runs = end;
}

static ALWAYS_INLINE bool
rows_are_equal (
    const CpuValuesLabeller *self, const ValueType *type, const Row *row, const Row *other)
{
  const uint32_t width = self->base.plan.width;

  for (uint32_t i = 0; i < self->n_words; i++) {
    const uint32_t x = 64 * i, n = width - x < 64 ? width - x : 64;
    if (row->foreground[i] != other->foreground[i] ||
        row->foreground[i] & ~compare (type, row->values, other->values, x, n, width, 0))
      return false;
  }
  return true;
}

/* Gives a row that equals one beside it, in y or z, the runs of that one. Returns the place of that
 * row in the list of the neighbourhood, or MOST_BEFORE. */
static ALWAYS_INLINE uint32_t
copy_runs (CpuValuesLabeller *self, const ValueType *type, const Row *row,
    const Row others[MOST_BEFORE], uint64_t *begins, uint32_t *runs_before)
{
  for (uint32_t k = 0; k < 2 && k < self->neighbourhood->n; k++)
    if (others[k].values && rows_are_equal (self, type, row, &others[k])) {
      memcpy (begins, others[k].begins, self->n_words * sizeof *begins);
      memcpy (runs_before, others[k].runs_before, self->n_words * sizeof *runs_before);
      return k;
    }
  return MOST_BEFORE;
}

/* A word of a row: its pixels that equal those of the rows before it. */
typedef struct Word {
  uint32_t x, n;
  Ranks ranks;
  uint64_t ends; /* last pixels of runs; ranks.begins are their first */
  uint64_t foreground;
  uint64_t same[MOST_BEFORE]; /* the pixel at the same x */
  uint64_t corners[2][MOST_BEFORE];
} Word;

/* The pixels that equal one of the given rows. */
static ALWAYS_INLINE uint64_t
union_of (const uint64_t equal[MOST_BEFORE], uint32_t rows)
{
  uint64_t pixels = 0;
  for (uint32_t i = 0; i < MOST_BEFORE; i++)
    pixels |= rows >> i & 1 ? equal[i] : 0;
  return pixels;
}

/* The pixels at word i of a row that lie beside the foreground of another one: of its pixels at
 * x - 1 or, with `side`, at x + 1. */
static ALWAYS_INLINE uint64_t
beside (const Row *other, uint32_t i, uint32_t n_words, uint32_t side)
{
  const uint64_t here = other->foreground[i];
  if (side)
    return here >> 1 | (i + 1 < n_words ? other->foreground[i + 1] << 63 : 0);
  return here << 1 | (i > 0 ? other->foreground[i - 1] >> 63 : 0);
}

/* Unites the runs of a word with those of a row before it that they touch at corners. */
static ALWAYS_INLINE void
join_corners (CpuValuesLabeller *self, const ValueType *type, const Row *row, const Row *other,
    const Ranks *others, const Before *before, uint32_t which, Word *word)
{
  const uint32_t width = self->base.plan.width;
  const uint64_t new = word->foreground & ~union_of (word->same, before->corners_implied);

  for (uint32_t side = 0; side < 2; side++) {
    const uint64_t candidates =
        new &(side ? word->ends : word->ranks.begins) &
        ~union_of (word->corners[side], before->corners_implied_by_corners) &
        beside (other, word->x / 64, self->n_words, side);
    word->corners[side][which] = 0;
    if (!candidates)
      continue;
    const int32_t shift = side ? 1 : -1;
    const uint64_t pixels =
        candidates & compare (type, row->values, other->values, word->x, word->n, width, shift);
    word->corners[side][which] = pixels;
    join_pixels (self->parents, &word->ranks, others, pixels, shift);
  }
}

/* Which of the rows before a row its foreground in word i may touch, as bits. */
static ALWAYS_INLINE uint32_t
rows_within_reach (
    const CpuValuesLabeller *self, uint64_t foreground, const Row others[MOST_BEFORE], uint32_t i)
{
  uint32_t rows = 0;

  for (uint32_t k = 0; k < self->neighbourhood->n; k++) {
    if (!others[k].values)
      continue;
    uint64_t reached = others[k].foreground[i];
    if (self->neighbourhood->before[k].has_diagonals)
      reached |=
          beside (&others[k], i, self->n_words, 0) | beside (&others[k], i, self->n_words, 1);
    rows |= (uint32_t)((reached & foreground) != 0) << k;
  }
  return rows;
}

/* Finds the runs that begin and end in word i of a row. */
static ALWAYS_INLINE Word
word_of (const CpuValuesLabeller *self, const Row *row, uint32_t i)
{
  const uint32_t width = self->base.plan.width, n_words = self->n_words;
  Word word = {.x = 64 * i, .foreground = row->foreground[i]};
  const uint64_t east = i + 1 < n_words ? row->foreground[i + 1] << 63 : 0;

  word.n = width - word.x < 64 ? width - word.x : 64;
  word.ranks = ranks_of (row, i, n_words);
  word.ends = word.foreground & (word.ranks.next_begins | ~(word.foreground >> 1 | east));
  return word;
}

/* Unites the runs of a row with those of the rows before it. */
static ALWAYS_INLINE void
join_rows (
    CpuValuesLabeller *self, const ValueType *type, const Row *row, const Row others[MOST_BEFORE])
{
  const Neighbourhood *neighbourhood = self->neighbourhood;
  uint64_t last[MOST_BEFORE] = {0}; /* the pixel before the word, as Word.same */

  for (uint32_t i = 0; i < self->n_words; i++) {
    const uint64_t foreground = row->foreground[i];
    uint32_t rows = foreground ? rows_within_reach (self, foreground, others, i) : 0;
    if (!rows) {
      memset (last, 0, sizeof last);
      continue;
    }
    Word word = word_of (self, row, i);
    for (uint32_t k = 0; k < neighbourhood->n; k++) {
      if (rows >> k & 1)
        word.same[k] = foreground & compare (type, row->values, others[k].values, word.x, word.n,
                                        self->base.plan.width, 0);
      if (k == 0 && neighbourhood->first_implies_all && word.same[0] == foreground)
        rows &= 1;
    }
    for (uint32_t k = 0; k < neighbourhood->n; k++) {
      const Before *before = &neighbourhood->before[k];
      if (!(rows >> k & 1))
        continue;
      const Ranks ranks = ranks_of (&others[k], i, self->n_words);
      const uint64_t stretches =
          word.same[k] & (word.ranks.begins | ~(word.same[k] << 1 | last[k]));
      join_pixels (self->parents, &word.ranks, &ranks,
          stretches & ~union_of (word.same, before->same_implied), 0);
      if (before->has_diagonals)
        join_corners (self, type, row, &others[k], &ranks, before, k, &word);
    }
    for (uint32_t k = 0; k < MOST_BEFORE; k++)
      last[k] = word.same[k] >> 63;
  }
}

/* The rows before row y, z that its pixels touch, in the order of the neighbourhood. */
static ALWAYS_INLINE void
find_others (const CpuValuesLabeller *self, const CclValues *values, uint32_t y, uint32_t z,
    Row others[MOST_BEFORE])
{
  const uint32_t height = self->base.plan.height;

  for (uint32_t k = 0; k < self->neighbourhood->n; k++) {
    const Before *before = &self->neighbourhood->before[k];
    const int64_t other_y = (int64_t)y + before->dy, other_z = (int64_t)z + before->dz;
    if (other_y < 0 || other_y >= height || other_z < 0)
      continue;
    const size_t word = ((size_t)other_z * height + (size_t)other_y) * self->n_words;
    others[k] = (Row){
        .values = (const uint8_t *)values->data +
                  (other_z ? (size_t)other_z * values->slice_stride : 0) +
                  (size_t)other_y * values->row_stride,
        .begins = self->begins + word,
        .foreground = self->foreground + word,
        .runs_before = self->runs_before + word,
    };
  }
}

static ALWAYS_INLINE void
scan (CpuValuesLabeller *self, const ValueType *type, const CclValues *values)
{
  const CclValuesPlan *plan = &self->base.plan;
  size_t word = 0;

  self->n_runs = 1;
  for (uint32_t z = 0; z < plan->depth; z++) {
    const uint8_t *data = (const uint8_t *)values->data + (z ? z * values->slice_stride : 0);
    for (uint32_t y = 0; y < plan->height; y++, word += self->n_words, data += values->row_stride) {
      if (ccl_is_interrupted (plan->width))
        return;
      uint64_t *begins = self->begins + word, *foreground = self->foreground + word;
      uint32_t *runs_before = self->runs_before + word;
      const Row row = {data, begins, foreground, runs_before};
      Row others[MOST_BEFORE] = {0};

      if (!find_foreground (self, type, data, foreground))
        continue;
      find_others (self, values, y, z, others);
      const uint32_t copied = copy_runs (self, type, &row, others, begins, runs_before);
      if (copied == 0 && self->neighbourhood->first_implies_all)
        continue;
      if (copied == MOST_BEFORE)
        find_runs (self, type, &row, begins, runs_before);
      join_rows (self, type, &row, others);
    }
  }
}

/* Each type has a scan of its own, in which its comparison is inlined. */
#define VALUE_TYPE_CASE(TYPE, type)                                                                \
  case CUDACCL_VALUE_TYPE_##TYPE: {                                                                \
    static const ValueType value_type = {sizeof (type##_value), equal_##type};                     \
    scan (self, &value_type, values);                                                              \
    break;                                                                                         \
  }

typedef uint8_t integer_8_value;
typedef uint16_t integer_16_value;
typedef uint32_t integer_32_value;
typedef uint64_t integer_64_value;
typedef float real_32_value;
typedef double real_64_value;

static ALWAYS_INLINE void
scan_type (CpuValuesLabeller *self, const CclValues *values)
{
  switch (self->base.plan.type) {
    VALUE_TYPE_CASE (8, integer_8)
    VALUE_TYPE_CASE (16, integer_16)
    VALUE_TYPE_CASE (32, integer_32)
    VALUE_TYPE_CASE (64, integer_64)
    VALUE_TYPE_CASE (REAL_32, real_32)
    VALUE_TYPE_CASE (REAL_64, real_64)
  }
}
