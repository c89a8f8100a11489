/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "largest.h"

#include "pictures/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct Candidate {
  uint64_t area, label;
} Candidate;

struct Largest {
  Candidate *candidates; /* [capacity] */
  uint64_t n, k, capacity;
  void *labels; /* of the latest pixels */
  size_t size;  /* bytes of them */
};

/* The larger first, and of equal ones the first. */
static int
compare_areas (const void *a, const void *b)
{
  const Candidate *one = a, *other = b;
  if (one->area != other->area)
    return one->area > other->area ? -1 : 1;
  return one->label < other->label ? -1 : one->label > other->label;
}

static int
compare_labels (const void *a, const void *b)
{
  const Candidate *one = a, *other = b;
  return one->label < other->label ? -1 : one->label > other->label;
}

Largest *
largest_new (uint64_t k, CclError *error)
{
  Largest *self = calloc (1, sizeof *self);

  if (!self)
    fail_without_memory (error);
  else
    self->k = k;
  return self;
}

/* Forgets all but the k largest. */
static void
prune (Largest *self)
{
  qsort (self->candidates, self->n, sizeof *self->candidates, compare_areas);
  if (self->n > self->k)
    self->n = self->k;
}

bool
largest_add (Largest *self, const CclTiledComponent *rows, size_t n, CclError *error)
{
  for (size_t i = 0; i < n; i++) {
    if (self->n == self->capacity && self->n / 2 >= self->k)
      prune (self);
    if (self->n == self->capacity) {
      const uint64_t capacity = self->capacity ? 2 * self->capacity : 1024;
      Candidate *candidates = reallocarray (self->candidates, capacity, sizeof *candidates);
      if (!candidates)
        return fail_without_memory (error);
      self->candidates = candidates;
      self->capacity = capacity;
    }
    self->candidates[self->n++] = (Candidate){rows[i].area, rows[i].label};
  }
  return true;
}

uint64_t
largest_choose (Largest *self)
{
  if (self->n == 0)
    return 0;
  prune (self);
  qsort (self->candidates, self->n, sizeof *self->candidates, compare_labels);
  return self->n;
}

uint64_t
largest_label (const Largest *self, uint64_t label)
{
  const Candidate key = {.label = label};
  const Candidate *found =
      self->n ? bsearch (&key, self->candidates, self->n, sizeof key, compare_labels) : NULL;
  return found ? (uint64_t)(found - self->candidates) + 1 : 0;
}

void
largest_move (const Largest *self, void *numbers, size_t bytes, uint64_t n)
{
  for (uint64_t i = 0; i < n && numbers; i++) {
    const uint64_t label = largest_label (self, i + 1); /* at most i + 1 */
    if (label)
      memmove ((char *)numbers + (label - 1) * bytes, (char *)numbers + i * bytes, bytes);
  }
}

const void *
largest_labels (Largest *self, const void *labels, size_t n, uint32_t label_bytes, CclError *error)
{
  if (n * label_bytes > self->size) {
    free (self->labels);
    self->labels = malloc (n * label_bytes);
    self->size = self->labels ? n * label_bytes : 0;
    if (!self->labels) {
      fail_without_memory (error);
      return NULL;
    }
  }
  uint64_t before = 0, number = 0; /* of the last label, which many pixels have */
  for (size_t i = 0; i < n; i++) {
    const uint64_t label =
        label_bytes == 4 ? ((const uint32_t *)labels)[i] : ((const uint64_t *)labels)[i];
    if (label != before)
      number = label ? largest_label (self, label) : 0;
    before = label;
    if (label_bytes == 4)
      ((uint32_t *)self->labels)[i] = (uint32_t)number;
    else
      ((uint64_t *)self->labels)[i] = number;
  }
  return self->labels;
}

void
largest_free (Largest *self)
{
  if (!self)
    return;
  free (self->candidates);
  free (self->labels);
  free (self);
}
