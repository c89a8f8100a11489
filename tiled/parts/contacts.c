/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pairs of labels that touch, in a hash table with open addresses. */
#include <cudaccl/contacts.h>

#include "core/base/interruption.h"
#include "core/base/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 13, LEAST_CAPACITY = 1024 };

/* From a pixel to one that precedes it. */
typedef struct Step {
  int above; /* −1: in the layer before */
  int y, x;
} Step;

struct CclContacts {
  uint64_t width, height;
  uint32_t label_bytes;
  Step steps[MOST_STEPS];
  uint32_t n_steps, n_sides; /* the first ones are those over sides */
  uint64_t *layers[2];       /* [height × width]: the latest layer, and the one before it */
  bool has_layer;            /* the former is there */
  CclContact *pairs;         /* [capacity, a power of 2]; label 0: free */
  size_t n, capacity;
  size_t latest; /* the place of the latest pair */
  CclContact *rows;
};

void
ccl_contacts_free (CclContacts **contacts)
{
  CclContacts *self = contacts ? *contacts : NULL;

  if (!self)
    return;
  free (self->layers[0]);
  free (self->layers[1]);
  free (self->pairs);
  free (self->rows);
  free (self);
  *contacts = NULL;
}

/* Lists the steps along so many axes. */
static void
add_steps (CclContacts *self, int n_axes)
{
  for (int place = 0; place < 13; place++) {
    const Step step = {place / 9 - 1, place / 3 % 3 - 1, place % 3 - 1};
    if (abs (step.above) + abs (step.y) + abs (step.x) == n_axes)
      self->steps[self->n_steps++] = step;
  }
}

CclContacts *
ccl_contacts_new (
    uint64_t width, uint64_t height, uint32_t connectivity, uint32_t label_bytes, CclError *error)
{
  const bool are_rows = connectivity == 4 || connectivity == 8;
  const int reach = connectivity == 26 ? 3 : connectivity == 8 || connectivity == 18 ? 2 : 1;
  uint64_t n;

  if (!are_rows && connectivity != 6 && connectivity != 18 && connectivity != 26) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for images and 6, 18 or 26 for volumes, not %u",
        connectivity);
    return NULL;
  }
  if (width < 1 || height < 1 || width > UINT32_MAX || height > UINT32_MAX ||
      (are_rows && height > 1) || (label_bytes != 4 && label_bytes != 8)) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "there are no layers of %llu×%llu labels of %u bytes", (unsigned long long)height,
        (unsigned long long)width, label_bytes);
    return NULL;
  }
  n = width * height;
  CclContacts *self = calloc (1, sizeof *self);
  if (self) {
    self->width = width;
    self->height = height;
    self->label_bytes = label_bytes;
    add_steps (self, 1);
    self->n_sides = self->n_steps;
    for (int n_axes = 2; n_axes <= reach; n_axes++)
      add_steps (self, n_axes);
    self->capacity = LEAST_CAPACITY;
    self->pairs = calloc (self->capacity, sizeof *self->pairs);
    self->layers[0] = reallocarray (NULL, n, sizeof *self->layers[0]);
    self->layers[1] = reallocarray (NULL, n, sizeof *self->layers[1]);
  }
  if (!self || !self->pairs || !self->layers[0] || !self->layers[1]) {
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for two layers of labels");
    ccl_contacts_free (&self);
  }
  return self;
}

/* The place of a pair, or the free one where it belongs. */
static size_t
find_place (const CclContact *pairs, size_t capacity, uint64_t label, uint64_t neighbour)
{
  const uint64_t mixed = (label * 0x9e3779b97f4a7c15 ^ neighbour) * 0xd6e8feb86659fd93;
  size_t place = (size_t)(mixed >> 24) & (capacity - 1);

  while (pairs[place].label && (pairs[place].label != label || pairs[place].neighbour != neighbour))
    place = (place + 1) & (capacity - 1);
  return place;
}

static bool
grow (CclContacts *self)
{
  const size_t capacity = 2 * self->capacity;
  CclContact *pairs = calloc (capacity, sizeof *pairs);

  if (!pairs)
    return false;
  for (size_t i = 0; i < self->capacity; i++) {
    const CclContact *pair = &self->pairs[i];
    if (pair->label)
      pairs[find_place (pairs, capacity, pair->label, pair->neighbour)] = *pair;
  }
  free (self->pairs);
  self->pairs = pairs;
  self->capacity = capacity;
  return true;
}

/* Counts a side, or a corner: n_sides 0. Returns false without memory. */
static bool
add_pair (CclContacts *self, uint64_t a, uint64_t b, uint32_t n_sides)
{
  const uint64_t label = a < b ? a : b, neighbour = a < b ? b : a;
  CclContact *latest = &self->pairs[self->latest];

  if (latest->label == label && latest->neighbour == neighbour) {
    latest->n_sides += n_sides;
    return true;
  }
  if (self->n >= self->capacity / 2 && !grow (self))
    return false;
  self->latest = find_place (self->pairs, self->capacity, label, neighbour);
  latest = &self->pairs[self->latest];
  self->n += latest->label == 0;
  *latest = (CclContact){label, neighbour, latest->n_sides + n_sides};
  return true;
}

/* The label of the pixel that a step leads to; 0 outside the map. */
static uint64_t
label_at (const CclContacts *self, const Step *step, uint64_t y, uint64_t x)
{
  const uint64_t to_y = y + (uint64_t)(int64_t)step->y, to_x = x + (uint64_t)(int64_t)step->x;

  if (to_y >= self->height || to_x >= self->width || (step->above && !self->has_layer))
    return 0;
  return self->layers[step->above ? 1 : 0][to_y * self->width + to_x];
}

static bool
add_layer (CclContacts *self)
{
  for (uint64_t y = 0; y < self->height; y++) {
    for (uint64_t x = 0; x < self->width; x++) {
      const uint64_t label = self->layers[0][y * self->width + x];
      for (uint32_t i = 0; label && i < self->n_steps; i++) {
        const uint64_t other = label_at (self, &self->steps[i], y, x);
        if (other && other != label && !add_pair (self, label, other, i < self->n_sides))
          return false;
      }
    }
  }
  return true;
}

/* Takes a layer as the latest one. */
static void
take_layer (CclContacts *self, const void *labels)
{
  const uint64_t n = self->width * self->height;
  uint64_t *former = self->layers[0];

  self->layers[0] = self->layers[1];
  self->layers[1] = former;
  if (self->label_bytes == sizeof (uint64_t))
    memcpy (self->layers[0], labels, n * sizeof (uint64_t));
  else
    for (uint64_t i = 0; i < n; i++)
      self->layers[0][i] = ((const uint32_t *)labels)[i];
}

CclStatus
ccl_contacts_add (CclContacts *self, const void *labels, uint64_t n_layers, CclError *error)
{
  const uint8_t *bytes = labels;

  if (!self || (n_layers && !labels))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "labels or their contacts are NULL");
  for (uint64_t i = 0; i < n_layers; i++) {
    if (ccl_is_interrupted (self->width * self->height))
      return ccl_interruption_status (error);
    take_layer (self, bytes + i * self->width * self->height * self->label_bytes);
    if (!add_layer (self))
      return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
          "not enough memory for %zu pairs of labels", 2 * self->capacity);
    self->has_layer = true;
  }
  return CUDACCL_OK;
}

static int
compare_pairs (const void *a, const void *b)
{
  const CclContact *one = a, *other = b;
  if (one->label != other->label)
    return one->label < other->label ? -1 : 1;
  return (one->neighbour > other->neighbour) - (one->neighbour < other->neighbour);
}

CclStatus
ccl_contacts_rows (CclContacts *self, const CclContact **rows, size_t *n, CclError *error)
{
  if (!self || !rows || !n)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "contacts or an argument are NULL");
  CclContact *found = reallocarray (self->rows, self->n + 1, sizeof *found);
  if (!found)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %zu pairs of labels", self->n);
  self->rows = found;
  *n = 0;
  for (size_t i = 0; i < self->capacity; i++)
    if (self->pairs[i].label)
      found[(*n)++] = self->pairs[i];
  qsort (found, *n, sizeof *found, compare_pairs);
  *rows = found;
  return CUDACCL_OK;
}
