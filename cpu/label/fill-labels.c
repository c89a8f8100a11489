/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills the holes of each label of a label map: what its pixels cut off from the outside. */
#include "core/base/interruption.h"
#include "core/label/word-map.h"

#include <cudaccl/distance.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN = 0, CLOSED = 1, PAD = 2, MOST_STEPS = 26 };

/* The box of a label with two layers around it: the inner one is outside of the label, the outer
 * one ends the search. In a frame, there are no layers along z. */
typedef struct Box {
  uint32_t width, height, depth; /* with the layers */
  uint32_t pad_z;
  uint8_t *cells;  /* OPEN, or CLOSED: of the label, found, or of the outer layer */
  uint32_t *found; /* cells that are connected, in the order in which they are found */
  ptrdiff_t steps[MOST_STEPS];
  uint32_t n_steps;
} Box;

/* Lists the steps to the neighbours of the background: across sides alone, unless that is how the
 * pixels of labels are connected. */
static void
list_steps (Box *box, uint32_t connectivity)
{
  const int most = connectivity == 4 || connectivity == 6 ? 3 : 1;
  const ptrdiff_t row = box->width, slice = row * box->height;

  box->n_steps = 0;
  for (int place = 0; place < 27; place++) {
    const int x = place % 3 - 1, y = place / 3 % 3 - 1, z = place / 9 - 1;
    const int length = abs (x) + abs (y) + abs (z);
    if (length > 0 && length <= most && !(z && box->pad_z == 0))
      box->steps[box->n_steps++] = x + y * row + z * slice;
  }
}

/* Closes the open cells that are connected to one, and lists them. Returns their number. */
static size_t
find_connected (Box *box, uint32_t first)
{
  size_t n = 1;

  box->cells[first] = CLOSED;
  box->found[0] = first;
  for (size_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < box->n_steps; k++) {
      const size_t cell = (size_t)(box->found[i] + box->steps[k]);
      if (box->cells[cell] == OPEN) {
        box->cells[cell] = CLOSED;
        box->found[n++] = (uint32_t)cell;
      }
    }
  return n;
}

/* The pixels of a map at row y of slice z of a label's box. */
static uint32_t *
row_in_box (const CclVolumeLabels *map, const CclVolumeComponent *of, uint32_t y, uint32_t z)
{
  return map_row (map, of->y + y, of->z + z) + of->x;
}

static size_t
cell_at (const Box *box, uint32_t x, uint32_t y, uint32_t z)
{
  return ((size_t)(z + box->pad_z) * box->height + y + PAD) * box->width + x + PAD;
}

/* Closes the cells of a label and the outer layer. */
static void
draw (Box *box, const CclVolumeLabels *labels, const CclVolumeComponent *of)
{
  const size_t slice = (size_t)box->width * box->height, n = slice * box->depth;

  memset (box->cells, CLOSED, n);
  for (uint32_t z = box->pad_z ? 1 : 0; z < box->depth - (box->pad_z ? 1 : 0); z++)
    for (uint32_t y = 1; y < box->height - 1; y++)
      memset (box->cells + z * slice + y * box->width + 1, OPEN, box->width - 2);
  for (uint32_t z = 0; z < of->depth; z++)
    for (uint32_t y = 0; y < of->height; y++) {
      const uint32_t *row = row_in_box (labels, of, y, z);
      uint8_t *cells = box->cells + cell_at (box, 0, y, z);
      for (uint32_t x = 0; x < of->width; x++)
        cells[x] = row[x] == of->label ? CLOSED : OPEN;
    }
}

/* Writes the label to those of the n found cells that are background. */
static void
fill_found (const Box *box, size_t n, const CclVolumeLabels *labels, const CclVolumeComponent *of,
    const CclVolumeLabels *filled)
{
  for (size_t i = 0; i < n; i++) {
    const uint32_t cell = box->found[i];
    const uint32_t x = cell % box->width - PAD, y = cell / box->width % box->height - PAD;
    const uint32_t z = cell / box->width / box->height - box->pad_z;
    if (row_in_box (labels, of, y, z)[x] == 0)
      row_in_box (filled, of, y, z)[x] = of->label;
  }
}

static void
fill_label (Box *box, const CclVolumeLabels *labels, const CclVolumeComponent *of,
    uint32_t connectivity, uint32_t max_area, const CclVolumeLabels *filled)
{
  box->width = of->width + 2 * PAD;
  box->height = of->height + 2 * PAD;
  box->depth = of->depth + 2 * box->pad_z;
  list_steps (box, connectivity);
  draw (box, labels, of);
  find_connected (
      box, (uint32_t)((box->pad_z ? 1 : 0) * (size_t)box->width * box->height + box->width + 1));
  for (uint32_t z = 0; z < of->depth; z++)
    for (uint32_t y = 0; y < of->height; y++)
      for (uint32_t x = 0; x < of->width; x++) {
        const size_t cell = cell_at (box, x, y, z);
        if (box->cells[cell] != OPEN)
          continue;
        const size_t n = find_connected (box, (uint32_t)cell);
        if (max_area == 0 || n <= max_area)
          fill_found (box, n, labels, of, filled);
      }
}

static uint64_t
size_of_box (const CclVolumeComponent *row)
{
  return (uint64_t)row->width * row->height * row->depth;
}

/* Greater boxes come first: of the labels around a hole, the last one that fills it is the one with
 * the smallest box. */
static int
compare_boxes (const void *a, const void *b)
{
  const CclVolumeComponent *first = a, *second = b;
  const uint64_t size = size_of_box (first), other = size_of_box (second);

  if (size != other)
    return size > other ? -1 : 1;
  return first->label < second->label ? -1 : first->label > second->label;
}

static void
copy_map (const CclVolumeLabels *from, const CclVolumeLabels *to, const MapSize *size)
{
  for (uint32_t z = 0; z < size->depth; z++)
    for (uint32_t y = 0; y < size->height; y++)
      memcpy (map_row (to, y, z), map_row (from, y, z), size->width * sizeof (uint32_t));
}

/* Allocates the cells of the greatest box of n rows. */
static bool
allocate (Box *box, const CclVolumeComponent *rows, uint32_t n)
{
  uint64_t most = 1;

  for (uint32_t i = 0; i < n; i++) {
    const uint64_t cells = (rows[i].width + 2 * PAD) * (uint64_t)(rows[i].height + 2 * PAD) *
                           (rows[i].depth + 2 * box->pad_z);
    most = cells > most && rows[i].width ? cells : most;
  }
  if (most > UINT32_MAX)
    return false;
  box->cells = malloc (most);
  box->found = malloc (most * sizeof *box->found);
  return box->cells && box->found;
}

/* Fills the holes of labels whose boxes are known. */
static CclStatus
fill_labels (const CclVolumeLabels *labels, CclVolumeComponent *rows, uint32_t n,
    uint32_t connectivity, uint32_t max_area, const CclVolumeLabels *filled, CclError *error)
{
  Box box = {.pad_z = connectivity == 4 || connectivity == 8 ? 0 : PAD};
  CclStatus status = CUDACCL_OK;

  if (allocate (&box, rows, n)) {
    qsort (rows, n, sizeof *rows, compare_boxes);
    for (uint32_t i = 0; i < n && rows[i].width > 0 && !ccl_is_interrupted (size_of_box (&rows[i]));
         i++)
      fill_label (&box, labels, &rows[i], connectivity, max_area, filled);
    status = ccl_interruption_status (error);
  } else {
    status = ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to fill holes");
  }
  free (box.cells);
  free (box.found);
  return status;
}

static CclStatus
check (const CclVolumeLabels *labels, const CclVolumeLabels *filled, const MapSize *size,
    uint32_t connectivity, CclError *error)
{
  const bool is_of_frames = connectivity == 4 || connectivity == 8;
  CclStatus status = ccl_map_check (labels, size, "labels", error);

  if (status == CUDACCL_OK)
    status = ccl_map_check (filled, size, "filled labels", error);
  if (status != CUDACCL_OK)
    return status;
  if (!is_of_frames && connectivity != 6 && connectivity != 18 && connectivity != 26)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4, 8, 6, 18 or 26, not %u", connectivity);
  else if (size->depth < 1 || (is_of_frames && size->depth > 1))
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "with a connectivity of 4 or 8 the depth must be 1, with 6, 18 or 26 at least 1, not %u",
        size->depth);
  return status;
}

CclStatus
ccl_fill_label_holes (const CclVolumeLabels *labels, uint32_t width, uint32_t height,
    uint32_t depth, uint32_t connectivity, uint32_t n, uint32_t max_area,
    const CclVolumeLabels *filled, CclError *error)
{
  const MapSize size = {width, height, depth};
  CclStatus status = check (labels, filled, &size, connectivity, error);

  if (status != CUDACCL_OK)
    return status;
  CclVolumeComponent *rows = malloc (((size_t)n + 1) * sizeof *rows);
  if (!rows)
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for %u labels", n);
  const uint32_t depth_of_volume = connectivity == 4 || connectivity == 8 ? 0 : depth;
  status = ccl_measure_volume_labels (
      labels, width, height, depth_of_volume, NULL, 0, n, rows, NULL, error);
  if (status == CUDACCL_OK) {
    copy_map (labels, filled, &size);
    status = fill_labels (labels, rows, n, connectivity, max_area, filled, error);
  }
  free (rows);
  return status;
}
