/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the holes of labels that are known as patches and the pairs of them that touch. */
#include <cudaccl/chunks.h>

#include "core/base/interruption.h"
#include "core/base/status.h"

#include <stdlib.h>

/* A patch of a label. */
typedef struct Member {
  uint64_t label;
  uint32_t patch;
} Member;

typedef struct Filling {
  const CclPatch *patches; /* [n] */
  size_t n;
  uint64_t max_area;
  size_t *starts;       /* [n + 1]: of each patch in neighbours */
  uint32_t *neighbours; /* patches that touch it */
  Member *members;      /* [n]: patches of labels, those of each label one after the other */
  uint32_t *visits;     /* [n]: the latest label, by the place of its first member, 1 + */
  uint32_t *found;      /* [n]: patches that are connected without pixels of the label */
  uint64_t *sizes;      /* [n]: of the box of the label that fills a patch */
  uint64_t *labels;     /* [n]: the result */
} Filling;

static int
compare_members (const void *a, const void *b)
{
  const Member *one = a, *other = b;
  if (one->label != other->label)
    return one->label < other->label ? -1 : 1;
  return (one->patch > other->patch) - (one->patch < other->patch);
}

/* Lists the neighbours of each patch. */
static void
list_neighbours (Filling *self, const CclPatchPair *pairs, size_t n_pairs)
{
  size_t *starts = self->starts;

  for (size_t i = 0; i < n_pairs; i++) {
    starts[pairs[i].patch]++;
    starts[pairs[i].neighbour]++;
  }
  for (size_t i = 1; i <= self->n; i++)
    starts[i] += starts[i - 1];
  for (size_t i = 0; i < n_pairs; i++) { /* each end becomes the start */
    self->neighbours[--starts[pairs[i].patch]] = (uint32_t)pairs[i].neighbour;
    self->neighbours[--starts[pairs[i].neighbour]] = (uint32_t)pairs[i].patch;
  }
}

static void
extend (CclPatch *box, const CclPatch *patch)
{
  for (int axis = 0; axis < 3; axis++) {
    if (patch->least[axis] < box->least[axis])
      box->least[axis] = patch->least[axis];
    if (patch->greatest[axis] > box->greatest[axis])
      box->greatest[axis] = patch->greatest[axis];
  }
}

static uint64_t
size_of (const CclPatch *box)
{
  uint64_t size = 1;
  for (int axis = 0; axis < 3; axis++)
    size *= box->greatest[axis] - box->least[axis] + 1;
  return size;
}

/* Whether a patch could be in a hole of a label with this box. */
static bool
is_inside (const CclPatch *box, const CclPatch *patch)
{
  bool is_inside = !patch->at_border;
  for (int axis = 0; axis < 3; axis++)
    is_inside &=
        patch->least[axis] >= box->least[axis] && patch->greatest[axis] <= box->greatest[axis];
  return is_inside;
}

/* Finds the patches inside the box that are connected to a patch without the box's label. Returns
 * the number of these patches; area: of them, UINT64_MAX if they are connected to the outside. */
static size_t
find_connected (Filling *self, const CclPatch *box, uint32_t first, uint32_t visit, uint64_t *area)
{
  size_t n = 1;
  bool is_hole = true;

  self->found[0] = first;
  self->visits[first] = visit;
  *area = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t patch = self->found[i];
    *area += self->patches[patch].area;
    for (size_t k = self->starts[patch]; k < self->starts[patch + 1]; k++) {
      const uint32_t next = self->neighbours[k];
      if (self->patches[next].label == box->label || self->visits[next] == visit)
        continue;
      if (!is_inside (box, &self->patches[next])) {
        is_hole = false;
        continue;
      }
      self->visits[next] = visit;
      self->found[n++] = next;
    }
  }
  if (!is_hole)
    *area = UINT64_MAX;
  return n;
}

/* Gives the background among patches that are found to the box's label, unless a label with a
 * smaller box has it. */
static void
fill_found (Filling *self, size_t n, const CclPatch *box)
{
  const uint64_t size = size_of (box);

  for (size_t i = 0; i < n; i++) {
    const uint32_t patch = self->found[i];
    if (self->patches[patch].label)
      continue;
    if (size < self->sizes[patch] ||
        (size == self->sizes[patch] && box->label > self->labels[patch])) {
      self->sizes[patch] = size;
      self->labels[patch] = box->label;
    }
  }
}

/* Fills the holes of the label of members begin…end − 1. */
static void
fill_label (Filling *self, size_t begin, size_t end)
{
  const uint32_t visit = (uint32_t)begin + 1;
  CclPatch box = self->patches[self->members[begin].patch];

  for (size_t i = begin; i < end; i++)
    extend (&box, &self->patches[self->members[i].patch]);
  for (size_t i = begin; i < end; i++) {
    const uint32_t patch = self->members[i].patch;
    for (size_t k = self->starts[patch]; k < self->starts[patch + 1]; k++) {
      const uint32_t next = self->neighbours[k];
      uint64_t area;
      if (self->patches[next].label == box.label || self->visits[next] == visit ||
          !is_inside (&box, &self->patches[next]))
        continue;
      const size_t n = find_connected (self, &box, next, visit, &area);
      if (area != UINT64_MAX && (self->max_area == 0 || area <= self->max_area))
        fill_found (self, n, &box);
    }
  }
}

static CclStatus
fill (Filling *self, CclError *error)
{
  size_t n_members = 0, end;

  for (size_t i = 0; i < self->n; i++) {
    self->labels[i] = self->patches[i].label;
    self->sizes[i] = UINT64_MAX;
    if (self->patches[i].label)
      self->members[n_members++] = (Member){self->patches[i].label, (uint32_t)i};
  }
  qsort (self->members, n_members, sizeof *self->members, compare_members);
  for (size_t begin = 0; begin < n_members; begin = end) {
    for (end = begin + 1;
         end < n_members && self->members[end].label == self->members[begin].label;)
      end++;
    if (ccl_is_interrupted (end - begin))
      return ccl_interruption_status (error);
    fill_label (self, begin, end);
  }
  return CUDACCL_OK;
}

static bool
are_pairs_valid (const CclPatchPair *pairs, size_t n_pairs, size_t n)
{
  for (size_t i = 0; i < n_pairs; i++)
    if (pairs[i].patch >= n || pairs[i].neighbour >= n)
      return false;
  return true;
}

static CclStatus
check (const CclPatch *patches, size_t n, const CclPatchPair *pairs, size_t n_pairs,
    const uint64_t *labels, CclError *error)
{
  if ((n && (!patches || !labels)) || (n_pairs && !pairs))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "patches, pairs or labels are NULL");
  if (n >= UINT32_MAX)
    return ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "%zu patches are more than %u", n, UINT32_MAX - 1);
  if (!are_pairs_valid (pairs, n_pairs, n))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a pair has a patch that is not there");
  return CUDACCL_OK;
}

CclStatus
ccl_fill_patches (const CclPatch *patches, size_t n, const CclPatchPair *pairs, size_t n_pairs,
    uint64_t max_area, uint64_t *labels, CclError *error)
{
  CclStatus status = check (patches, n, pairs, n_pairs, labels, error);

  if (status != CUDACCL_OK)
    return status;
  Filling self = {
      .patches = patches,
      .n = n,
      .max_area = max_area,
      .starts = calloc (n + 1, sizeof *self.starts),
      .neighbours = reallocarray (NULL, n_pairs + 1, 2 * sizeof *self.neighbours),
      .members = malloc ((n + 1) * sizeof *self.members),
      .visits = calloc (n + 1, sizeof *self.visits),
      .found = malloc ((n + 1) * sizeof *self.found),
      .sizes = malloc ((n + 1) * sizeof *self.sizes),
      .labels = labels,
  };
  if (self.starts && self.neighbours && self.members && self.visits && self.found && self.sizes) {
    list_neighbours (&self, pairs, n_pairs);
    status = fill (&self, error);
  } else {
    status = ccl_error_set (
        error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to fill holes among %zu patches", n);
  }
  free (self.starts);
  free (self.neighbours);
  free (self.members);
  free (self.visits);
  free (self.found);
  free (self.sizes);
  return status;
}
