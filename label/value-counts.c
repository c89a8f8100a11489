/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "value-counts.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A label, a value, and how many pixels have both. */
typedef struct Pair {
  uint64_t label; /* 0: the place is free */
  double value;   /* of NaN all are one value, and zeros have no sign */
  uint64_t n;
} Pair;

/* A hash table with open addressing; sorted when quantiles are found. */
struct ValueCounts {
  Pair *pairs;
  size_t size, n; /* places, a power of 2, of which n are used */
};

enum { FIRST_SIZE = 1 << 12 };

ValueCounts *
value_counts_new (CclError *error)
{
  ValueCounts *self = calloc (1, sizeof *self);

  if (self)
    self->pairs = calloc (FIRST_SIZE, sizeof *self->pairs);
  if (self && self->pairs) {
    self->size = FIRST_SIZE;
    return self;
  }
  value_counts_free (self);
  fail_without_memory (error);
  return NULL;
}

static uint64_t
bits_of (double value)
{
  uint64_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/* The place of a pair, or the free one where it belongs. */
static Pair *
place_of (const ValueCounts *self, uint64_t label, double value)
{
  uint64_t hash =
      (label ^ bits_of (value) * UINT64_C (0x9e3779b97f4a7c15)) * UINT64_C (0xff51afd7ed558ccd);

  for (hash ^= hash >> 32;; hash++) {
    Pair *const pair = &self->pairs[hash & (self->size - 1)];
    if (!pair->label || (pair->label == label && bits_of (pair->value) == bits_of (value)))
      return pair;
  }
}

static bool
grow (ValueCounts *self, CclError *error)
{
  ValueCounts grown = {.size = 2 * self->size, .n = self->n};

  grown.pairs = calloc (grown.size, sizeof *grown.pairs);
  if (!grown.pairs)
    return fail_without_memory (error);
  for (size_t i = 0; i < self->size; i++)
    if (self->pairs[i].label)
      *place_of (&grown, self->pairs[i].label, self->pairs[i].value) = self->pairs[i];
  free (self->pairs);
  *self = grown;
  return true;
}

static double
value_at (const void *values, CclPixelFormat format, size_t i)
{
  if (format == CUDACCL_PIXEL_FORMAT_8)
    return ((const uint8_t *)values)[i];
  if (format == CUDACCL_PIXEL_FORMAT_16)
    return ((const uint16_t *)values)[i];
  const double value = ((const double *)values)[i];
  return isnan (value) ? (double)NAN : value + 0.0;
}

bool
value_counts_add (ValueCounts *self, const void *labels, uint32_t label_bytes, const void *values,
    CclPixelFormat format, size_t n, CclError *error)
{
  for (size_t i = 0; i < n; i++) {
    const uint64_t label =
        label_bytes == 8 ? ((const uint64_t *)labels)[i] : ((const uint32_t *)labels)[i];
    if (!label)
      continue;
    if (2 * self->n >= self->size && !grow (self, error))
      return false;
    const double value = value_at (values, format, i);
    Pair *const pair = place_of (self, label, value);
    self->n += !pair->label;
    *pair = (Pair){label, value, pair->n + 1};
  }
  return true;
}

/* By label, then by value, NaN last. */
static int
compare_pairs (const void *a, const void *b)
{
  const Pair *one = a, *other = b;

  if (one->label != other->label)
    return one->label < other->label ? -1 : 1;
  if (isnan (one->value) || isnan (other->value))
    return (isnan (one->value) != 0) - (isnan (other->value) != 0);
  return (one->value > other->value) - (one->value < other->value);
}

/* Moves the pairs to the front and sorts them. */
static void
sort (ValueCounts *self)
{
  size_t n = 0;

  for (size_t i = 0; i < self->size; i++)
    if (self->pairs[i].label)
      self->pairs[n++] = self->pairs[i];
  qsort (self->pairs, n, sizeof *self->pairs, compare_pairs);
}

/* The value of a rank, from 0, of the pairs of a label. */
static double
value_of_rank (const Pair *pairs, uint64_t rank)
{
  while (rank >= pairs->n)
    rank -= (pairs++)->n;
  return pairs->value;
}

/* A quantile of the n > 0 values of a label. */
static double
quantile (const Pair *pairs, uint64_t n, double share)
{
  const double place = (share == VALUE_COUNTS_MEDIAN ? 0.5 : share) * (double)(n - 1);
  const double part = place - floor (place);
  const double low = value_of_rank (pairs, (uint64_t)floor (place)),
               high = value_of_rank (pairs, (uint64_t)ceil (place));

  if (share == VALUE_COUNTS_MEDIAN)
    return (low + high) / 2;
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

void
value_counts_find (ValueCounts *self, const double *shares, uint32_t n_shares, bool ignores_nan,
    uint64_t n_labels, size_t stride, double *found)
{
  sort (self);
  for (uint64_t label = 1, i = 0; label <= n_labels; label++) {
    const Pair *const first = &self->pairs[i];
    uint64_t n = 0;
    bool has_nan = false;
    for (; i < self->n && self->pairs[i].label == label; i++) {
      has_nan |= isnan (self->pairs[i].value) != 0;
      n += isnan (self->pairs[i].value) ? 0 : self->pairs[i].n;
    }
    for (uint32_t k = 0; k < n_shares; k++)
      found[(label - 1) * stride + k] =
          n == 0 || (has_nan && !ignores_nan) ? (double)NAN : quantile (first, n, shares[k]);
  }
}

void
value_counts_free (ValueCounts *self)
{
  if (self)
    free (self->pairs);
  free (self);
}
