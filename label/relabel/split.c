/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The picture is cut into blocks. A component that lies in one block is split with all others that
 * do; any other component is split alone, in a window of its own. A window has one pixel more on
 * each side than the components in it, because the nearest pixel outside of a component may be
 * there. The result does not depend on the window: in all windows that contain a component its
 * pixels have the same order, and the flood takes the same ways. A window that does not fit into
 * the memory is in a file.
 */
#include "split.h"

#include "core/base/divide-up.h"
#include "pictures/error.h"
#include "plan.h"
#include "unnamed-file.h"

#include <cudaccl/distance.h>
#include <cudaccl/values.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a pixel of a window: a label, a distance, an object, and what waits to flood. */
enum { BYTES_PER_PIXEL = 24 };

/* The longest side of a block: the squared diagonal of its window has 32 bits. */
enum { MOST_SIDE = 1 << 15 };

typedef struct Split {
  const CclTiledPlan *plan;
  uint32_t radius;
  const KeptMap *components;
  const SplitBox *boxes;
  uint32_t n;
  bool counts_parts;
  uint32_t block[3]; /* sides of blocks: x, y, z */
  SplitObjects *objects;
  uint64_t *first_peaks; /* [objects.n]: of each object, in raster order of the picture */
  uint32_t *found_parts; /* [objects.n] */
  uint32_t capacity;     /* of these two */

  /* A window. */
  SplitBox inner; /* the box of what is split */
  uint32_t only;  /* the component that is split; 0: all that lie in the box */
  uint32_t begin[3], sides[3];
  uint32_t *labels, *squared, *numbers;
  uint32_t *memory;     /* of all three */
  uint64_t n_allocated; /* pixels in it */
  FileMemory file;      /* in place of it for larger windows */
} Split;

/* The axis along which layers follow each other. */
static int
layer_axis (const Split *self)
{
  return is_frame (self->plan) ? 1 : 2;
}

/* The window around a box. Returns its pixels. */
static uint64_t
window_around (const Split *self, const SplitBox *box, uint32_t begin[3], uint32_t sides[3])
{
  const uint64_t picture[3] = {self->plan->width, self->plan->height, self->plan->depth};
  uint64_t n_pixels = 1;

  for (int i = 0; i < 3; i++) {
    begin[i] = box->first[i] - (box->first[i] > 0);
    const uint64_t last = box->last[i] + (uint64_t)(box->last[i] + (uint64_t)1 < picture[i]);
    sides[i] = (uint32_t)(last - begin[i] + 1);
    n_pixels = n_pixels > UINT64_MAX / sides[i] ? UINT64_MAX : n_pixels * sides[i];
  }
  return n_pixels;
}

static bool
lies_in (const SplitBox *box, const SplitBox *other)
{
  for (int i = 0; i < 3; i++)
    if (box->first[i] < other->first[i] || box->last[i] > other->last[i])
      return false;
  return true;
}

static CclVolumeLabels
map_of (const Split *self, uint32_t *words)
{
  const size_t row = 4 * (size_t)self->sides[0];
  return (CclVolumeLabels){words, row, row * self->sides[1]};
}

static bool
is_in_memory (const Split *self, uint64_t n_pixels)
{
  return n_pixels <= memory_of (self->plan) / BYTES_PER_PIXEL;
}

/* Finds memory for the maps of a window. */
static bool
allocate (Split *self, uint64_t n_pixels, CclError *error)
{
  const size_t size = n_pixels * 3 * sizeof *self->memory;
  const bool is_small = is_in_memory (self, n_pixels);

  if (!is_small && !file_memory_grow (&self->file, self->plan->scratch_folder, size, error))
    return false;
  if (is_small && n_pixels > self->n_allocated) {
    free (self->memory);
    self->memory = malloc (size);
    self->n_allocated = self->memory ? n_pixels : 0;
    if (!self->memory)
      return fail_without_memory (error);
  }
  self->labels = is_small ? self->memory : self->file.data;
  self->squared = self->labels + n_pixels;
  self->numbers = self->squared + n_pixels;
  return true;
}

/* The index in the picture of the first pixel of a row of the window, counted through its slices.
 */
static uint64_t
row_begin (const Split *self, uint64_t row)
{
  const uint64_t y = self->begin[1] + row % self->sides[1],
                 z = self->begin[2] + row / self->sides[1];
  return (z * self->plan->height + y) * self->plan->width + self->begin[0];
}

static uint64_t
n_rows (const Split *self)
{
  return (uint64_t)self->sides[1] * self->sides[2];
}

/* Reads the labels of the window that are split in it; the others become background. Returns
 * whether there are any in n. */
static bool
read_labels (Split *self, uint64_t *n, CclError *error)
{
  uint32_t last = 0, last_kept = 0;

  *n = 0;
  for (uint64_t row = 0; row < n_rows (self); row++) {
    uint32_t *labels = self->labels + row * self->sides[0];
    if (!kept_map_read (
            self->components, row_begin (self, row), labels, self->sides[0], sizeof *labels, error))
      return false;
    for (uint32_t x = 0; x < self->sides[0]; x++) {
      const uint32_t label = labels[x];
      if (label != last) {
        const bool stays = label && (self->only ? label == self->only
                                                : lies_in (&self->boxes[label - 1], &self->inner));
        last = label;
        last_kept = stays ? label : 0;
      }
      labels[x] = last_kept;
      *n += last_kept != 0;
    }
  }
  return true;
}

/* Makes room for n more objects. */
static bool
grow (Split *self, uint32_t n, CclError *error)
{
  const uint64_t wanted = (uint64_t)self->objects->n + n;

  if (wanted >= UINT32_MAX)
    return fail (error, "there are more than %u objects", UINT32_MAX - 1);
  if (wanted <= self->capacity)
    return true;
  const uint64_t capacity = wanted + wanted / 2 < UINT32_MAX ? wanted + wanted / 2 : UINT32_MAX;
  uint64_t *peaks = reallocarray (self->first_peaks, capacity, sizeof *peaks);
  if (peaks)
    self->first_peaks = peaks;
  uint32_t *parts = reallocarray (self->found_parts, capacity, sizeof *parts);
  if (parts)
    self->found_parts = parts;
  if (!peaks || !parts)
    return fail_without_memory (error);
  self->capacity = (uint32_t)capacity;
  return true;
}

/* Notes where the first peak of each of n objects of the window is. */
static void
note_peaks (Split *self, uint32_t n)
{
  uint32_t n_seen = 0;

  for (uint64_t row = 0; row < n_rows (self) && n_seen < n; row++)
    for (uint32_t x = 0; x < self->sides[0]; x++)
      if (self->numbers[row * self->sides[0] + x] > n_seen)
        self->first_peaks[self->objects->n + n_seen++] = row_begin (self, row) + x;
}

/* Splits what was read. Returns the number of objects in n. */
static CclStatus
split_window (Split *self, uint32_t *n, CclError *error)
{
  const CclVolumeLabels labels = map_of (self, self->labels),
                        squared = map_of (self, self->squared),
                        objects = map_of (self, self->numbers);
  const uint32_t *sides = self->sides;
  CclStatus status = ccl_label_distances (&labels, sides[0], sides[1], sides[2], &squared, error);

  if (status == CUDACCL_OK)
    status = ccl_distance_peaks (
        &labels, &squared, sides[0], sides[1], sides[2], self->radius, &objects, n, error);
  if (status == CUDACCL_OK && !grow (self, *n, error))
    status = error->status;
  if (status != CUDACCL_OK)
    return status;
  note_peaks (self, *n);
  status = ccl_flood_objects (
      &labels, &squared, sides[0], sides[1], sides[2], self->plan->connectivity, &objects, error);
  if (status == CUDACCL_OK && self->counts_parts)
    status = ccl_count_parts (&objects, sides[0], sides[1], sides[2], self->plan->connectivity, *n,
        self->found_parts + self->objects->n, error);
  return status;
}

/* Writes the objects of a row of what was split. */
static bool
write_row (Split *self, uint64_t row, CclError *error)
{
  const uint32_t before = self->inner.first[0] - self->begin[0],
                 n = self->inner.last[0] - self->inner.first[0] + 1;
  uint32_t *numbers = self->numbers + row * self->sides[0] + before;
  uint32_t *others = self->labels + row * self->sides[0]; /* which are not needed any more */
  const uint64_t begin = row_begin (self, row) + before;

  for (uint32_t x = 0; x < n; x++)
    numbers[x] += numbers[x] ? self->objects->n : 0;
  if (self->only) {
    if (!kept_map_read (self->objects->map, begin, others, n, sizeof *others, error))
      return false;
    for (uint32_t x = 0; x < n; x++)
      numbers[x] = numbers[x] ? numbers[x] : others[x];
  }
  return kept_map_write (self->objects->map, begin, numbers, n, sizeof *numbers, error);
}

/* Writes the objects of the window, n of them, without the pixels around what was split. */
static bool
write_window (Split *self, uint32_t n, CclError *error)
{
  const uint32_t *first = self->inner.first, *last = self->inner.last;

  for (uint32_t z = first[2]; z <= last[2]; z++)
    for (uint32_t y = first[1]; y <= last[1]; y++)
      if (!write_row (
              self, (uint64_t)(z - self->begin[2]) * self->sides[1] + y - self->begin[1], error))
        return false;
  self->objects->n += n;
  return true;
}

/* Splits a component, or all that lie in a box. */
static CclStatus
split_box (Split *self, const SplitBox *box, uint32_t only, CclError *error)
{
  const uint64_t n_pixels = window_around (self, box, self->begin, self->sides);
  uint64_t n_foreground;
  uint32_t n = 0;
  CclStatus status = CUDACCL_OK;

  self->inner = *box;
  self->only = only;
  if (!allocate (self, n_pixels, error) || !read_labels (self, &n_foreground, error))
    return error->status;
  if (n_foreground)
    status = split_window (self, &n, error);
  else
    memset (self->numbers, 0, n_pixels * sizeof *self->numbers);
  if (status == CUDACCL_OK && !write_window (self, n, error))
    status = error->status;
  file_memory_rest (&self->file);
  return status;
}

/* The number of layers of a block. */
static uint32_t
layers_at_once (const Split *self)
{
  const CclTiledPlan *plan = self->plan;
  const uint64_t layer = layer_pixels (plan), n_layers = n_layers_of (plan);
  uint64_t most = memory_of (plan) / BYTES_PER_PIXEL;

  if (most > CUDACCL_MAX_PIXELS)
    most = CUDACCL_MAX_PIXELS;
  most = most / layer > 3 ? most / layer - 2 : 1;
  if (plan->tile_layers && plan->tile_layers < most)
    most = plan->tile_layers;
  most = most < MOST_SIDE ? most : MOST_SIDE;
  return (uint32_t)(most < n_layers ? most : n_layers);
}

/* Prepares the sides of blocks, and the number of blocks along the axes. */
static void
cut_into_blocks (Split *self, uint32_t n_blocks[3])
{
  const uint64_t picture[3] = {self->plan->width, self->plan->height, self->plan->depth};

  for (int i = 0; i < 3; i++)
    self->block[i] = i == layer_axis (self)   ? layers_at_once (self)
                     : picture[i] < MOST_SIDE ? (uint32_t)picture[i]
                                              : MOST_SIDE;
  for (int i = 0; i < 3; i++)
    n_blocks[i] = (uint32_t)divide_up (picture[i], self->block[i]);
}

/* The block of a pixel. */
static SplitBox
block_of (const Split *self, const uint32_t place[3])
{
  const uint64_t picture[3] = {self->plan->width, self->plan->height, self->plan->depth};
  SplitBox block;

  for (int i = 0; i < 3; i++) {
    block.first[i] = place[i] / self->block[i] * self->block[i];
    const uint64_t end = (uint64_t)block.first[i] + self->block[i];
    block.last[i] = (uint32_t)((end < picture[i] ? end : picture[i]) - 1);
  }
  return block;
}

static bool
lies_in_block (const Split *self, uint32_t label)
{
  const SplitBox *box = &self->boxes[label - 1], block = block_of (self, box->first);
  return lies_in (box, &block);
}

/* Makes sure that the window of a component can be held. */
static bool
reserve (Split *self, uint32_t label, CclError *error)
{
  uint32_t begin[3], sides[3];
  const uint64_t n_pixels = window_around (self, &self->boxes[label - 1], begin, sides);
  uint64_t diagonal = 0;

  for (int i = 0; i < 3; i++)
    diagonal += (uint64_t)(sides[i] - 1) * (sides[i] - 1);
  if (n_pixels > CUDACCL_MAX_PIXELS || diagonal >= CUDACCL_NO_DISTANCE)
    return fail (error,
        "component %u lies in a box of %u×%u×%u pixels: at most %d pixels with a squared diagonal "
        "of 32 bits can be split",
        label, sides[2], sides[1], sides[0], CUDACCL_MAX_PIXELS);
  return is_in_memory (self, n_pixels) || allocate (self, n_pixels, error);
}

/* Splits the components that lie in blocks. */
static CclStatus
split_blocks (Split *self, const uint32_t n_blocks[3], CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint32_t z = 0; z < n_blocks[2]; z++)
    for (uint32_t y = 0; y < n_blocks[1]; y++)
      for (uint32_t x = 0; x < n_blocks[0] && status == CUDACCL_OK; x++) {
        const uint32_t first[3] = {x * self->block[0], y * self->block[1], z * self->block[2]};
        const SplitBox block = block_of (self, first);
        status = split_box (self, &block, 0, error);
      }
  return status;
}

/* Splits all components. */
static CclStatus
split_all (Split *self, CclError *error)
{
  uint32_t n_blocks[3];
  CclStatus status;

  cut_into_blocks (self, n_blocks);
  for (uint32_t label = 1; label <= self->n; label++)
    if (!lies_in_block (self, label) && !reserve (self, label, error))
      return error->status;
  status = split_blocks (self, n_blocks, error);
  for (uint32_t label = 1; label <= self->n && status == CUDACCL_OK; label++)
    if (!lies_in_block (self, label))
      status = split_box (self, &self->boxes[label - 1], label, error);
  return status;
}

typedef struct Peak {
  uint64_t place;
  uint32_t object;
} Peak;

static int
compare_peaks (const void *a, const void *b)
{
  const Peak *one = a, *other = b;
  return (one->place > other->place) - (one->place < other->place);
}

/* Numbers the objects in raster order of their first peaks. */
static bool
number_objects (Split *self, CclError *error)
{
  SplitObjects *objects = self->objects;
  const size_t n = objects->n;
  Peak *peaks = reallocarray (NULL, n + 1, sizeof *peaks);

  objects->numbers = calloc (n + 1, sizeof *objects->numbers);
  if (self->counts_parts)
    objects->n_parts = calloc (n + 1, sizeof *objects->n_parts);
  if (!peaks || !objects->numbers || (self->counts_parts && !objects->n_parts)) {
    free (peaks);
    return fail_without_memory (error);
  }
  for (uint32_t i = 0; i < n; i++)
    peaks[i] = (Peak){self->first_peaks[i], i};
  qsort (peaks, n, sizeof *peaks, compare_peaks);
  for (uint32_t i = 0; i < n; i++) {
    objects->numbers[peaks[i].object + 1] = i + 1;
    if (objects->n_parts)
      objects->n_parts[i + 1] = self->found_parts[peaks[i].object];
  }
  free (peaks);
  return true;
}

CclStatus
split_components (const CclTiledPlan *plan, uint32_t radius, const KeptMap *components,
    const SplitBox *boxes, uint32_t n, bool counts_parts, SplitObjects *objects, CclError *error)
{
  Split self = {.plan = plan,
      .radius = radius,
      .components = components,
      .boxes = boxes,
      .n = n,
      .counts_parts = counts_parts,
      .objects = objects};
  CclStatus status = CUDACCL_ERROR_IO;

  *objects = (SplitObjects){.map = kept_map_new (plan->scratch_folder, "objects", error)};
  if (objects->map)
    status = split_all (&self, error);
  if (status == CUDACCL_OK && !number_objects (&self, error))
    status = error->status;
  free (self.first_peaks);
  free (self.found_parts);
  free (self.memory);
  file_memory_free (&self.file);
  return status;
}

void
split_objects_clear (SplitObjects *objects)
{
  kept_map_free (objects->map);
  free (objects->numbers);
  free (objects->n_parts);
  *objects = (SplitObjects){0};
}
