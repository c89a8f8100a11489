/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels that seams between chunks connect, as pairs. When roots are asked for, the pairs become
 * those of each label and its root. */
#include "join.h"

#include "core/base/status.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL_BITS = 32, LEAST_CAPACITY = 256 };

struct CclForest {
  CclLabelPair *pairs;
  size_t n, capacity;
  size_t n_rooted; /* the first pairs, which are as ccl_forest_pairs() returns them */
};

/* A seam while its pairs are added. */
typedef struct Seaming {
  CclForest *forest;
  uint64_t upper, lower; /* what is added to labels */
  CclStatus status;
  CclError *error;
} Seaming;

CclForest *
ccl_forest_new (CclError *error)
{
  CclForest *self = calloc (1, sizeof *self);
  if (!self)
    ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for a forest");
  return self;
}

void
ccl_forest_free (CclForest **forest)
{
  if (!forest || !*forest)
    return;
  free ((*forest)->pairs);
  free (*forest);
  *forest = NULL;
}

static int
compare_labels (const void *a, const void *b)
{
  const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return (one > other) - (one < other);
}

/* Sorts labels and drops repeated ones. Returns how many there are. */
static size_t
sort_labels (uint64_t *labels, size_t n)
{
  size_t n_kept = 0;

  qsort (labels, n, sizeof *labels, compare_labels);
  for (size_t i = 0; i < n; i++)
    if (n_kept == 0 || labels[i] != labels[n_kept - 1])
      labels[n_kept++] = labels[i];
  return n_kept;
}

static size_t
place_of (const uint64_t *labels, size_t n, uint64_t label)
{
  return (
      size_t)((const uint64_t *)bsearch (&label, labels, n, sizeof label, compare_labels) - labels);
}

static size_t
find_root (size_t *parents, size_t place)
{
  while (parents[place] != place)
    place = parents[place] = parents[parents[place]];
  return place;
}

/* Replaces the pairs by one for each label: the label and its root. labels: memory for two of each
 * pair; parents: the same. */
static void
unite_pairs (CclForest *self, uint64_t *labels, size_t *parents)
{
  for (size_t i = 0; i < self->n; i++) {
    labels[2 * i] = self->pairs[i].label;
    labels[2 * i + 1] = self->pairs[i].root;
  }
  const size_t n = sort_labels (labels, 2 * self->n);
  for (size_t i = 0; i < n; i++)
    parents[i] = i;
  for (size_t i = 0; i < self->n; i++) {
    const size_t a = find_root (parents, place_of (labels, n, self->pairs[i].label));
    const size_t b = find_root (parents, place_of (labels, n, self->pairs[i].root));
    parents[a > b ? a : b] = a < b ? a : b;
  }
  self->n = 0;
  for (size_t i = 0; i < n; i++)
    if (parents[i] != i)
      self->pairs[self->n++] = (CclLabelPair){labels[i], labels[find_root (parents, i)]};
  self->n_rooted = self->n;
}

static CclStatus
find_roots (CclForest *self, CclError *error)
{
  if (self->n == self->n_rooted)
    return CUDACCL_OK;
  uint64_t *labels = reallocarray (NULL, 2 * self->n, sizeof *labels);
  size_t *parents = reallocarray (NULL, 2 * self->n, sizeof *parents);
  if (labels && parents)
    unite_pairs (self, labels, parents);
  const bool succeeded = labels && parents;
  free (labels);
  free (parents);
  return succeeded ? CUDACCL_OK
                   : ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
                         "not enough memory to unite %zu pairs of labels", self->n);
}

/* Makes room for n pairs more. A forest has fewer pairs when their roots are found. */
static CclStatus
make_room (CclForest *self, size_t n, CclError *error)
{
  if (n <= self->capacity - self->n)
    return CUDACCL_OK;
  const CclStatus status = find_roots (self, error);
  if (status != CUDACCL_OK || (n <= self->capacity - self->n && self->n <= self->capacity / 2))
    return status;
  const size_t least = n < SIZE_MAX / 4 - self->n ? self->n + n : SIZE_MAX / 4;
  const size_t capacity = least < LEAST_CAPACITY ? LEAST_CAPACITY : 2 * least;
  CclLabelPair *pairs = reallocarray (self->pairs, capacity, sizeof *pairs);
  if (!pairs)
    return ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %zu pairs of labels", capacity);
  self->pairs = pairs;
  self->capacity = capacity;
  return CUDACCL_OK;
}

/* Adds a pair of labels of the upper and the lower chunk. */
static void
add_pair (void *data, uint32_t a, uint32_t b)
{
  Seaming *seaming = data;

  if (seaming->status == CUDACCL_OK)
    seaming->status = make_room (seaming->forest, 1, seaming->error);
  if (seaming->status == CUDACCL_OK)
    seaming->forest->pairs[seaming->forest->n++] =
        (CclLabelPair){seaming->upper | a, seaming->lower | b};
}

static CclStatus
check_seam (const CclSeam *seam, CclError *error)
{
  const uint32_t c = seam ? seam->connectivity : 0;
  const bool are_rows = c == 4 || c == 8;

  if (!seam || !seam->upper || !seam->lower || !seam->upper_values != !seam->lower_values)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a seam has labels and, of both sides or none, values");
  if (!are_rows && c != 6 && c != 18 && c != 26)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for rows and 6, 18 or 26 for layers, not %u", c);
  if (seam->width < 1 || seam->height < 1 || (are_rows && seam->height > 1))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a seam of %u×%u pixels has no %s",
        seam->height, seam->width, are_rows ? "single row" : "layer");
  if (seam->upper_values && (unsigned)seam->value_type > CUDACCL_VALUE_TYPE_REAL_64)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "there is no type %d of values", (int)seam->value_type);
  if (seam->upper_values && !(seam->tolerance >= 0))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a tolerance is 0 or more");
  return CUDACCL_OK;
}

static CclStatus
fail_without_forest (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a forest or its argument is NULL");
}

CclStatus
ccl_forest_add_seam (CclForest *self, const CclSeam *seam, uint32_t upper_chunk,
    uint32_t lower_chunk, CclError *error)
{
  Seaming seaming = {self, (uint64_t)upper_chunk << LABEL_BITS, (uint64_t)lower_chunk << LABEL_BITS,
      CUDACCL_OK, error};

  if (!self)
    return fail_without_forest (error);
  seaming.status = check_seam (seam, error);
  if (seaming.status == CUDACCL_OK)
    join_seam (seam, add_pair, &seaming);
  return seaming.status;
}

CclStatus
ccl_forest_add_pairs (CclForest *self, const CclLabelPair *pairs, size_t n, CclError *error)
{
  if (!self || (n && !pairs))
    return fail_without_forest (error);
  const CclStatus status = make_room (self, n, error);
  if (status == CUDACCL_OK && n) {
    memcpy (self->pairs + self->n, pairs, n * sizeof *pairs);
    self->n += n;
  }
  return status;
}

CclStatus
ccl_forest_pairs (CclForest *self, const CclLabelPair **pairs, size_t *n, CclError *error)
{
  if (!self || !pairs || !n)
    return fail_without_forest (error);
  const CclStatus status = find_roots (self, error);
  *pairs = self->pairs;
  *n = status == CUDACCL_OK ? self->n : 0;
  return status;
}

/* Where the label of a chunk is in the order of all; UINT64_MAX if it is not there. starts: of the
 * chunks, and the end of the last one. */
static uint64_t
number_of (const uint64_t *starts, size_t n_chunks, uint64_t label)
{
  const uint64_t chunk = label >> LABEL_BITS, number = label & UINT32_MAX;

  if (chunk >= n_chunks || number == 0 || number > starts[chunk + 1] - starts[chunk])
    return UINT64_MAX;
  return starts[chunk] + number - 1;
}

CclStatus
ccl_forest_roots (
    CclForest *self, const uint64_t *n_labels, size_t n_chunks, uint64_t *roots, CclError *error)
{
  if (!self || (n_chunks && (!n_labels || !roots)))
    return fail_without_forest (error);
  CclStatus status = find_roots (self, error);
  uint64_t *starts = reallocarray (NULL, n_chunks + 1, sizeof *starts);
  if (status == CUDACCL_OK && !starts)
    status = ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %zu chunks", n_chunks);
  if (status == CUDACCL_OK) {
    starts[0] = 0;
    for (size_t i = 0; i < n_chunks; i++)
      starts[i + 1] = starts[i] + n_labels[i];
    for (uint64_t i = 0; i < starts[n_chunks]; i++)
      roots[i] = i;
  }
  for (size_t i = 0; i < self->n && status == CUDACCL_OK; i++) {
    const uint64_t label = number_of (starts, n_chunks, self->pairs[i].label);
    const uint64_t root = number_of (starts, n_chunks, self->pairs[i].root);
    if (label == UINT64_MAX || root == UINT64_MAX)
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a forest has a label of no chunk");
    else
      roots[label] = root;
  }
  free (starts);
  return status;
}
