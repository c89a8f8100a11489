/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "seams.h"

#include "core/base/status.h"
#include "tiled/scratch/scratch-file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

CclStatus
seams_init (Seams *seams, const CclTiledPlan *plan, CclError *error)
{
  const char *folder = plan->scratch_folder;

  *seams = (Seams){.file = -1, .has_reals = ccl_values_are_real (plan->intensity_format)};
  seams->node_size = sizeof (Node) + (plan->columns ? sizeof (CclMeasures) : 0);
  if (!folder)
    return CUDACCL_OK;
  seams->file = scratch_file_open (folder, error);
  return seams->file >= 0 ? CUDACCL_OK : CUDACCL_ERROR_IO;
}

static CclStatus
grow (Seams *seams, CclError *error)
{
  const uint64_t capacity = seams->capacity ? 2 * seams->capacity : 4096;
  const size_t old_size = seams->capacity * seams->node_size, size = capacity * seams->node_size;
  void *nodes;

  /* A full disk shows here and not as a signal at the first write to a page. */
  if (seams->file >= 0) {
    const int failure = posix_fallocate (seams->file, 0, (off_t)size);
    if (failure)
      return ccl_error_set (
          error, CUDACCL_ERROR_IO, "the scratch file cannot grow: %s", strerror (failure));
  }
  if (seams->nodes)
    nodes = mremap (seams->nodes, old_size, size, MREMAP_MAYMOVE);
  else
    nodes = mmap (NULL, size, PROT_READ | PROT_WRITE,
        seams->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, seams->file, 0);
  if (nodes == MAP_FAILED)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
        "not enough memory for %llu components at seams", (unsigned long long)capacity);
  seams->nodes = nodes;
  seams->capacity = capacity;
  return CUDACCL_OK;
}

CclStatus
seams_add (Seams *seams, const CclPart *part, const CclMeasures *measures, uint32_t tile_label,
    uint64_t label, CclError *error)
{
  if (seams->n == seams->capacity && grow (seams, error) != CUDACCL_OK)
    return error ? error->status : CUDACCL_ERROR_NO_MEMORY;
  Node *node = node_at (seams, seams->n);
  *node = (Node){
      .parent = seams->n,
      .label = label,
      .part = *part,
      .tile_label = tile_label,
  };
  if (measures)
    node->measures[0] = *measures;
  seams->n++;
  return CUDACCL_OK;
}

uint64_t
seams_find (Seams *seams, uint64_t node)
{
  while (node_at (seams, node)->parent != node) {
    Node *child = node_at (seams, node);
    const uint64_t next = node_at (seams, child->parent)->parent;
    /* An equal value is not written: the page would have to be written to the file again. */
    if (child->parent != next)
      child->parent = next;
    node = next;
  }
  return node;
}

void
seams_unite (Seams *seams, uint64_t a, uint64_t b)
{
  a = seams_find (seams, a);
  b = seams_find (seams, b);
  if (a == b)
    return;
  const uint64_t least = a < b ? a : b;
  Node *root = node_at (seams, least), *other = node_at (seams, a < b ? b : a);
  other->parent = least;
  ccl_part_add (&root->part, &other->part);
  if (seams->node_size > sizeof (Node))
    ccl_measures_add (root->measures, other->measures, seams->has_reals);
}

void
seams_rest (Seams *seams)
{
  if (seams->file >= 0 && seams->nodes)
    madvise (seams->nodes, seams->capacity * seams->node_size, MADV_DONTNEED);
}

void
seams_clear (Seams *seams)
{
  if (seams->nodes)
    munmap (seams->nodes, seams->capacity * seams->node_size);
  if (seams->file >= 0)
    close (seams->file);
  *seams = (Seams){.file = -1};
}
