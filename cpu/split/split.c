/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The split of components into objects: peaks of the distance, and a flood from them. */
#include "core/base/interruption.h"
#include "core/label/word-map.h"
#include "cpu/base/lesser.h"

#include <stdlib.h>

/* The most neighbours of a pixel. */
enum { MOST_NEIGHBOURS = 26 };

typedef struct Pixel {
  uint32_t x, y, z;
} Pixel;

typedef struct Step {
  int8_t x, y, z;
} Step;

/* Pixels as numbers in raster order. */
typedef struct Maps {
  MapSize size;
  const CclVolumeLabels *labels, *squared, *objects;
} Maps;

static Pixel
pixel_of (const MapSize *size, uint32_t number)
{
  const uint32_t row = number / size->width;
  return (Pixel){number % size->width, row % size->height, row / size->height};
}

static uint32_t *
at (const CclVolumeLabels *map, Pixel p)
{
  return map_row (map, p.y, p.z) + p.x;
}

/* Moves a pixel. Returns false outside the maps. */
static bool
step (const MapSize *size, Pixel *p, Step by)
{
  p->x += (uint32_t)by.x;
  p->y += (uint32_t)by.y;
  p->z += (uint32_t)by.z;
  return p->x < size->width && p->y < size->height && p->z < size->depth;
}

static CclStatus
check_maps (const Maps *maps, CclError *error)
{
  CclStatus status = ccl_map_size_check (&maps->size, error);

  if (status == CUDACCL_OK)
    status = ccl_map_check (maps->labels, &maps->size, "labels", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (maps->squared, &maps->size, "squared distances", error);
  if (status == CUDACCL_OK)
    status = ccl_map_check (maps->objects, &maps->size, "objects", error);
  return status;
}

static CclStatus
no_memory (CclError *error)
{
  return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to split components");
}

/* Numbers that grow. */
typedef struct List {
  uint32_t *numbers;
  size_t n, capacity;
} List;

static bool
append (List *list, uint32_t number)
{
  if (list->n == list->capacity) {
    const size_t capacity = list->capacity ? 2 * list->capacity : 1024;
    uint32_t *numbers = realloc (list->numbers, capacity * sizeof *numbers);
    if (!numbers)
      return false;
    list->numbers = numbers;
    list->capacity = capacity;
  }
  list->numbers[list->n++] = number;
  return true;
}

/* A window around a pixel, clipped to the maps: first and last pixel. */
typedef struct Window {
  Pixel first, last;
} Window;

static Window
window_around (const MapSize *size, Pixel p, uint32_t radius)
{
  return (Window){
      {p.x - lesser (p.x, radius), p.y - lesser (p.y, radius), p.z - lesser (p.z, radius)},
      {lesser (p.x + radius, size->width - 1), lesser (p.y + radius, size->height - 1),
          lesser (p.z + radius, size->depth - 1)}};
}

/* Whether no pixel of the same label in the window is farther from the border. */
static bool
is_highest (const Maps *maps, Pixel p, const Window *window)
{
  const uint32_t label = *at (maps->labels, p), height = *at (maps->squared, p);

  for (uint32_t z = window->first.z; z <= window->last.z; z++)
    for (uint32_t y = window->first.y; y <= window->last.y; y++) {
      const uint32_t *labels = map_row (maps->labels, y, z);
      const uint32_t *squared = map_row (maps->squared, y, z);
      for (uint32_t x = window->first.x; x <= window->last.x; x++)
        if (squared[x] > height && labels[x] == label)
          return false;
    }
  return true;
}

/* Most pixels have a higher one beside them. */
static bool
is_peak (const Maps *maps, Pixel p, uint32_t radius)
{
  const Window near = window_around (&maps->size, p, 1);
  const Window window = window_around (&maps->size, p, radius);

  return is_highest (maps, p, &near) && (radius == 1 || is_highest (maps, p, &window));
}

/* Stands in the map of objects for a peak whose object has no number yet. */
#define WAITING UINT32_MAX

/* Gives the number of an object to the peaks of the same label in the window of a pixel. */
static bool
number_window (const Maps *maps, Pixel p, uint32_t radius, uint32_t number, List *found)
{
  const Window window = window_around (&maps->size, p, radius);
  const uint32_t label = *at (maps->labels, p);

  for (uint32_t z = window.first.z; z <= window.last.z; z++)
    for (uint32_t y = window.first.y; y <= window.last.y; y++)
      for (uint32_t x = window.first.x; x <= window.last.x; x++) {
        const Pixel other = {x, y, z};
        uint32_t *object = at (maps->objects, other);
        if (*object != WAITING || *at (maps->labels, other) != label)
          continue;
        *object = number;
        if (!append (found, (z * maps->size.height + y) * maps->size.width + x))
          return false;
      }
  return true;
}

/* Gives each group of peaks a number. Returns false without memory. */
static bool
number_peaks (const Maps *maps, uint32_t n_pixels, uint32_t radius, uint32_t *n_objects)
{
  List found = {0};
  bool succeeded = true;

  *n_objects = 0;
  for (uint32_t i = 0; i < n_pixels && succeeded && !ccl_is_interrupted (1); i++) {
    const Pixel first = pixel_of (&maps->size, i);
    if (*at (maps->objects, first) != WAITING)
      continue;
    *at (maps->objects, first) = ++*n_objects;
    succeeded = append (&found, i);
    while (found.n > 0 && succeeded) {
      const Pixel p = pixel_of (&maps->size, found.numbers[--found.n]);
      succeeded = number_window (maps, p, radius, *n_objects, &found);
    }
  }
  free (found.numbers);
  return succeeded;
}

CclStatus
ccl_distance_peaks (const CclVolumeLabels *labels, const CclVolumeLabels *squared, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t radius, const CclVolumeLabels *objects,
    uint32_t *n_objects, CclError *error)
{
  const Maps maps = {{width, height, depth}, labels, squared, objects};
  const CclStatus status = check_maps (&maps, error);

  if (status != CUDACCL_OK)
    return status;
  if (radius < 1 || radius > CUDACCL_MAX_PEAK_RADIUS || !n_objects)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "peaks need a radius of 1…%d pixels, not %u, and memory for their number",
        CUDACCL_MAX_PEAK_RADIUS, radius);
  const uint32_t n_pixels = width * height * depth;
  for (uint32_t i = 0; i < n_pixels && !ccl_is_interrupted (1); i++) {
    const Pixel p = pixel_of (&maps.size, i);
    *at (objects, p) = *at (labels, p) && is_peak (&maps, p, radius) ? WAITING : 0;
  }
  return number_peaks (&maps, n_pixels, radius, n_objects) ? ccl_interruption_status (error)
                                                           : no_memory (error);
}

/* A pixel that waits to flood its neighbours. */
typedef struct Entry {
  uint64_t key; /* the least comes first: depth below the greatest distance, then age */
  uint32_t pixel;
} Entry;

/* A binary heap: an entry comes before the two at twice its index. The first one has index 1. */
typedef struct Heap {
  Entry *entries;
  size_t n, capacity;
} Heap;

static bool
heap_push (Heap *heap, Entry entry)
{
  if (heap->n + 1 >= heap->capacity) {
    const size_t capacity = heap->capacity ? 2 * heap->capacity : 1024;
    Entry *entries = realloc (heap->entries, capacity * sizeof *entries);
    if (!entries)
      return false;
    heap->entries = entries;
    heap->capacity = capacity;
  }
  size_t i = ++heap->n;
  for (; i > 1 && heap->entries[i / 2].key > entry.key; i /= 2)
    heap->entries[i] = heap->entries[i / 2];
  heap->entries[i] = entry;
  return true;
}

static Entry
heap_pop (Heap *heap)
{
  const Entry first = heap->entries[1], last = heap->entries[heap->n--];
  size_t i = 1;

  for (size_t child; (child = 2 * i) <= heap->n; i = child) {
    if (child < heap->n && heap->entries[child + 1].key < heap->entries[child].key)
      child++;
    if (heap->entries[child].key >= last.key)
      break;
    heap->entries[i] = heap->entries[child];
  }
  heap->entries[i] = last;
  return first;
}

/* Lists the steps to the neighbours, those that share a side first. Returns their number. */
static uint32_t
list_steps (uint32_t connectivity, Step steps[MOST_NEIGHBOURS])
{
  const bool is_frame = connectivity == 4 || connectivity == 8;
  const int most = connectivity == 4 || connectivity == 6 ? 1 : connectivity == 26 ? 3 : 2;
  uint32_t n = 0;

  for (int length = 1; length <= most; length++)
    for (int place = 0; place < 27; place++) {
      const int x = place % 3 - 1, y = place / 3 % 3 - 1, z = place / 9 - 1;
      if (abs (x) + abs (y) + abs (z) == length && !(is_frame && z))
        steps[n++] = (Step){(int8_t)x, (int8_t)y, (int8_t)z};
    }
  return n;
}

/* How far a pixel is below the greatest distance. */
static uint32_t
depth_of (const Maps *maps, Pixel p)
{
  return UINT32_MAX - *at (maps->squared, p);
}

static uint64_t
key_of (uint32_t depth, uint32_t age)
{
  return (uint64_t)depth << 32 | age;
}

/* Floods the neighbours of a pixel. The flood does not rise: a neighbour that is higher than the
 * pixel counts as equal to it. */
static bool
flood_neighbours (
    const Maps *maps, Entry entry, const Step *steps, uint32_t n_steps, uint32_t *age, Heap *heap)
{
  const Pixel p = pixel_of (&maps->size, entry.pixel);
  const uint32_t label = *at (maps->labels, p), object = *at (maps->objects, p);
  const uint32_t least_depth = (uint32_t)(entry.key >> 32);

  for (uint32_t i = 0; i < n_steps; i++) {
    Pixel other = p;
    if (!step (&maps->size, &other, steps[i]) || *at (maps->labels, other) != label ||
        *at (maps->objects, other))
      continue;
    *at (maps->objects, other) = object;
    const uint32_t depth = depth_of (maps, other);
    const uint32_t pixel = (other.z * maps->size.height + other.y) * maps->size.width + other.x;
    const uint64_t key = key_of (depth > least_depth ? depth : least_depth, (*age)++);
    if (!heap_push (heap, (Entry){key, pixel}))
      return false;
  }
  return true;
}

CclStatus
ccl_flood_objects (const CclVolumeLabels *labels, const CclVolumeLabels *squared, uint32_t width,
    uint32_t height, uint32_t depth, uint32_t connectivity, const CclVolumeLabels *objects,
    CclError *error)
{
  const Maps maps = {{width, height, depth}, labels, squared, objects};
  const CclStatus status = check_maps (&maps, error);
  Step steps[MOST_NEIGHBOURS];
  Heap heap = {0};
  uint32_t age = 0;
  bool succeeded = true;

  if (status != CUDACCL_OK)
    return status;
  if (connectivity != 6 && connectivity != 18 && connectivity != 26 &&
      (depth > 1 || (connectivity != 4 && connectivity != 8)))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the connectivity must be 4 or 8 for frames, 6, 18 or 26 for volumes, not %u",
        connectivity);
  const uint32_t n_steps = list_steps (connectivity, steps), n_pixels = width * height * depth;
  for (uint32_t i = 0; i < n_pixels && succeeded && !ccl_is_interrupted (1); i++) {
    const Pixel p = pixel_of (&maps.size, i);
    if (!*at (labels, p))
      *at (objects, p) = 0;
    else if (*at (objects, p))
      succeeded = heap_push (&heap, (Entry){key_of (depth_of (&maps, p), age++), i});
  }
  while (heap.n > 0 && succeeded && !ccl_is_interrupted (1)) {
    const Entry entry = heap_pop (&heap);
    succeeded = flood_neighbours (&maps, entry, steps, n_steps, &age, &heap);
  }
  free (heap.entries);
  return succeeded ? ccl_interruption_status (error) : no_memory (error);
}
