/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distances to the nearest pixel with another label, tile by tile; a mask has the label 1. Along
 * the layers this pixel is above or below. A first pass notes for each tile and place in a layer
 * where the label first changes; from the last tile to the first one, this gives how far behind
 * each tile the next change is. So a second pass knows the distances along the layers, while it
 * carries those from above with it, and the axes in a layer follow (core/split/distance-line.h).
 *
 * Meijster, Roerdink, Hesselink: A General Algorithm for Computing Distance Transforms in Linear
 * Time, 2000; Felzenszwalb, Huttenlocher: Distance Transforms of Sampled Functions, 2012.
 */
#include "core/base/divide-up.h"
#include "core/base/struct-size.h"
#include "core/split/distance-line.h"
#include "passes.h"
#include "tiled/scratch/scratch-file.h"

#include <cudaccl/distance.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* There is no other label. */
#define NONE UINT32_MAX

/* Flags of a pixel: it has a label, and another one than the pixel before it in its row, in its
 * column, and in the layer before. Beside background, the last ones may be left out. */
enum { LABELLED = 1, STARTS_X = 2, STARTS_Y = 4, STARTS_LAYER = 8 };

/* The most pixels of a tile: larger ones are not faster. LINES lines along y are read together,
 * because the pixels of one are far apart in memory. */
enum { MOST_PIXELS = 1 << 22, LINES = 16 };

typedef struct Distances {
  CclTiledPlan plan;
  const CclTiledIo *io;
  uint64_t layer, n_layers, at_once, n_tiles; /* pixels of a layer, layers of the picture and of a
                                               * tile, tiles */
  uint64_t done;                              /* layers, over both passes */
  uint32_t bytes;                             /* of a squared distance that is written */
  bool has_labels;                            /* read as values, in place of pixels of a mask */
  uint8_t *pixels;                            /* of a tile: flags, after reading */
  uint64_t *squared;                          /* of a tile */
  uint32_t *latest;                           /* [layer]: labels of the layer before a tile */
  uint32_t *above; /* [layer]: layers from the last other label to the layer before a tile */
  uint32_t *below; /* [layer]: layers from the end of a tile to the next change */
  uint32_t *kept;  /* below of all tiles; NULL: they are in the file */
  int file;

  /* Lines in a layer. */
  uint64_t longest;
  uint32_t *labels;  /* [LINES × longest] */
  uint64_t *lines;   /* [LINES × longest] */
  int64_t *envelope; /* of one */
} Distances;

static uint64_t
layers_of (const Distances *self, uint64_t tile)
{
  const uint64_t first = tile * self->at_once;
  return self->n_layers - first < self->at_once ? self->n_layers - first : self->at_once;
}

/* Whether a pixel has another label than the one in the layer before, or none. */
static bool
ends_layers (uint8_t flags)
{
  return !(flags & LABELLED) || flags & STARTS_LAYER;
}

/* The flags of the pixels of a layer. before: its labels of the layer before; NULL: there is none.
 */
static void
flag_layer (const Distances *self, const uint32_t *labels, const uint32_t *before, uint8_t *pixels)
{
  const uint64_t width = self->plan.width;

  for (uint64_t row = 0; row < self->layer; row += width)
    for (uint64_t i = row; i < row + width; i++) {
      const uint32_t label = labels[i];
      pixels[i] = label ? LABELLED : 0;
      if (i > row && labels[i - 1] != label)
        pixels[i] |= STARTS_X;
      if (row > 0 && labels[i - width] != label)
        pixels[i] |= STARTS_Y;
      if (before && before[i] != label)
        pixels[i] |= STARTS_LAYER;
    }
}

/* Reads a tile of labels, into the memory of squared distances. */
static CclStatus
read_labels (Distances *self, uint64_t tile, CclError *error)
{
  const uint64_t first = tile * self->at_once, n_layers = layers_of (self, tile);
  uint32_t *labels = (uint32_t *)self->squared;
  const CclStatus status = self->io->read_values (self->io->data, first, n_layers, labels, error);

  for (uint64_t k = 0; k < n_layers && status == CUDACCL_OK; k++) {
    const uint32_t *before = k > 0       ? labels + (k - 1) * self->layer
                             : first > 0 ? self->latest
                                         : NULL;
    flag_layer (self, labels + k * self->layer, before, self->pixels + k * self->layer);
  }
  memcpy (self->latest, labels + (n_layers - 1) * self->layer, self->layer * sizeof *labels);
  return status;
}

static CclStatus
read_tile (Distances *self, uint64_t tile, CclError *error)
{
  const uint64_t n_layers = layers_of (self, tile), n = n_layers * self->layer;
  const uint8_t threshold = (uint8_t)self->plan.threshold;
  const bool invert = self->plan.invert;

  if (self->has_labels)
    return read_labels (self, tile, error);
  const CclStatus status =
      self->io->read (self->io->data, tile * self->at_once, n_layers, self->pixels, error);
  for (uint64_t i = 0; i < n && status == CUDACCL_OK; i++)
    self->pixels[i] = (self->pixels[i] > threshold) != invert ? LABELLED : 0;
  return status;
}

static void
report (Distances *self, uint64_t n_layers)
{
  self->done += n_layers;
  if (self->io->progress)
    self->io->progress (self->io->data, self->done, 2 * self->n_layers);
}

static CclStatus
keep (Distances *self, uint64_t tile, const uint32_t *distances, CclError *error)
{
  const size_t size = self->layer * sizeof *distances;

  if (!self->kept)
    return scratch_file_write (self->file, tile * size, distances, size, error);
  memcpy (self->kept + tile * self->layer, distances, size);
  return CUDACCL_OK;
}

static CclStatus
get_kept (const Distances *self, uint64_t tile, uint32_t *distances, CclError *error)
{
  const size_t size = self->layer * sizeof *distances;

  if (!self->kept)
    return scratch_file_read (self->file, tile * size, distances, size, error);
  memcpy (distances, self->kept + tile * self->layer, size);
  return CUDACCL_OK;
}

/* Keeps the layers from the beginning of each tile to its first change. */
static CclStatus
find_first (Distances *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  for (uint64_t tile = 0; tile < self->n_tiles && status == CUDACCL_OK; tile++) {
    const uint64_t n_layers = layers_of (self, tile);
    status = read_tile (self, tile, error);
    if (status != CUDACCL_OK)
      break;
    memset (self->below, 0xff, self->layer * sizeof *self->below);
    for (uint64_t k = n_layers; k-- > 0;)
      for (uint64_t i = 0; i < self->layer; i++)
        if (ends_layers (self->pixels[k * self->layer + i]))
          self->below[i] = (uint32_t)k;
    status = keep (self, tile, self->below, error);
    report (self, n_layers);
  }
  return status;
}

/* Replaces what find_first() kept by the layers from the end of each tile to the next change. */
static CclStatus
carry_up (Distances *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  memset (self->below, 0xff, self->layer * sizeof *self->below);
  for (uint64_t tile = self->n_tiles; tile-- > 0 && status == CUDACCL_OK;) {
    const uint32_t n_layers = (uint32_t)layers_of (self, tile);
    status = get_kept (self, tile, self->above, error);
    if (status == CUDACCL_OK)
      status = keep (self, tile, self->below, error);
    for (uint64_t i = 0; i < self->layer; i++) {
      const uint32_t next = self->below[i];
      self->below[i] = self->above[i] != NONE ? self->above[i]
                       : next != NONE         ? next + n_layers
                                              : NONE;
    }
  }
  return status;
}

/* The distance of a pixel along the layers: one more than that of the neighbouring layer's pixel,
 * and 0 for background. A neighbour with another label has distance 0. */
static uint32_t
next_distance (uint32_t distance, uint8_t flags)
{
  return !(flags & LABELLED) ? 0 : distance == NONE ? NONE : distance + 1;
}

/* Finds the squared distances along the layers. below, above: changed. */
static void
transform_layers (Distances *self, uint64_t n_layers)
{
  for (uint64_t k = n_layers; k-- > 0;)
    for (uint64_t i = 0; i < self->layer; i++) {
      const uint8_t flags = self->pixels[k * self->layer + i];
      const uint32_t distance = next_distance (self->below[i], flags);
      self->squared[k * self->layer + i] = distance;
      self->below[i] = flags & STARTS_LAYER ? 0 : distance;
    }
  for (uint64_t k = 0; k < n_layers; k++)
    for (uint64_t i = 0; i < self->layer; i++) {
      const uint8_t flags = self->pixels[k * self->layer + i];
      uint64_t *squared = &self->squared[k * self->layer + i];
      self->above[i] = next_distance (flags & STARTS_LAYER ? 0 : self->above[i], flags);
      const uint64_t distance = *squared < self->above[i] ? *squared : self->above[i];
      *squared = distance == NONE ? LINE_NO_DISTANCE : distance * distance;
    }
}

static void
transform_line (const Distances *self, const uint32_t *labels, uint64_t *squared, uint64_t length)
{
  DistanceLine line = {labels, squared, self->envelope, self->envelope + self->longest + 2};
  distance_line_transform (&line, (int64_t)length);
}

/* Numbers the runs of equal labels in a line: the number of a pixel from `before`, that of the
 * pixel before it; 0 for background. */
static uint32_t
number_of (uint8_t flags, uint8_t start, uint32_t before)
{
  return !(flags & LABELLED) ? 0 : flags & start ? before + 1 : before > 1 ? before : 1;
}

/* Transforms the columns of a slice. */
static void
transform_columns (const Distances *self, const uint8_t *pixels, uint64_t *squared)
{
  const uint64_t width = self->plan.width, height = self->plan.height;
  const bool has_labels = self->has_labels; /* flags of a mask are its labels */

  for (uint64_t x = 0; x < width; x += LINES) {
    const uint64_t n = width - x < LINES ? width - x : LINES;
    for (uint64_t y = 0; y < height; y++)
      for (uint64_t i = 0; i < n; i++) {
        self->labels[i * self->longest + y] =
            !has_labels ? pixels[y * width + x + i]
                        : number_of (pixels[y * width + x + i], STARTS_Y,
                              y > 0 ? self->labels[i * self->longest + y - 1] : 0);
        self->lines[i * self->longest + y] = squared[y * width + x + i];
      }
    for (uint64_t i = 0; i < n; i++)
      transform_line (
          self, self->labels + i * self->longest, self->lines + i * self->longest, height);
    for (uint64_t y = 0; y < height; y++)
      for (uint64_t i = 0; i < n; i++)
        squared[y * width + x + i] = self->lines[i * self->longest + y];
  }
}

/* Transforms a layer along its axes. */
static void
transform_layer (const Distances *self, const uint8_t *pixels, uint64_t *squared)
{
  const uint64_t width = self->plan.width;
  const bool has_labels = self->has_labels;

  if (self->layer > width)
    transform_columns (self, pixels, squared);
  for (uint64_t row = 0; row < self->layer; row += width) {
    for (uint64_t x = 0; x < width; x++)
      self->labels[x] =
          !has_labels ? pixels[row + x]
                      : number_of (pixels[row + x], STARTS_X, x > 0 ? self->labels[x - 1] : 0);
    transform_line (self, self->labels, squared + row, width);
  }
}

/* Writes the squared distances of a tile; short ones in the memory of the long ones. */
static CclStatus
write_tile (Distances *self, uint64_t tile, CclError *error)
{
  const uint64_t n_layers = layers_of (self, tile);
  uint32_t *words = (uint32_t *)self->squared;

  if (self->bytes == sizeof *words)
    for (uint64_t i = 0; i < n_layers * self->layer; i++) {
      const uint32_t word = (uint32_t)self->squared[i]; /* also of no distance */
      memcpy (words + i, &word, sizeof word);
    }
  return self->io->write (self->io->data, tile * self->at_once, n_layers, self->squared, error);
}

static CclStatus
transform_tiles (Distances *self, CclError *error)
{
  CclStatus status = CUDACCL_OK;

  memset (self->above, 0xff, self->layer * sizeof *self->above);
  for (uint64_t tile = 0; tile < self->n_tiles && status == CUDACCL_OK; tile++) {
    const uint64_t n_layers = layers_of (self, tile);
    status = read_tile (self, tile, error);
    if (status == CUDACCL_OK)
      status = get_kept (self, tile, self->below, error);
    if (status != CUDACCL_OK)
      break;
    transform_layers (self, n_layers);
    for (uint64_t k = 0; k < n_layers; k++)
      transform_layer (self, self->pixels + k * self->layer, self->squared + k * self->layer);
    status = write_tile (self, tile, error);
    report (self, n_layers);
  }
  return status;
}

/* Decides how many layers a tile has. */
static void
cut_into_tiles (Distances *self)
{
  const CclTiledPlan *plan = &self->plan;
  const uint64_t per_pixel = sizeof *self->pixels + sizeof *self->squared;
  const uint64_t memory = plan->memory ? plan->memory : (uint64_t)1 << 30;
  uint64_t most = memory / 2 / per_pixel;

  self->layer = layer_size (plan);
  self->n_layers = all_layers (plan);
  if (most > MOST_PIXELS)
    most = MOST_PIXELS;
  self->at_once = plan->tile_layers ? plan->tile_layers : most / self->layer;
  if (self->at_once > CUDACCL_MAX_PIXELS / self->layer)
    self->at_once = CUDACCL_MAX_PIXELS / self->layer;
  if (self->at_once > self->n_layers)
    self->at_once = self->n_layers;
  if (self->at_once < 1)
    self->at_once = 1;
  self->n_tiles = divide_up (self->n_layers, self->at_once);
  self->longest = plan->width;
  if (self->layer > plan->width && plan->height > plan->width)
    self->longest = plan->height;
}

/* The greatest squared distance that there can be; UINT64_MAX if it is too great. */
static uint64_t
squared_diagonal (const CclTiledPlan *plan)
{
  const uint64_t sides[] = {plan->width, plan->height, plan->depth}, most = (uint64_t)1 << 62;
  uint64_t sum = 0;

  for (int i = 0; i < 3; i++) {
    const uint64_t square = (sides[i] - 1) * (sides[i] - 1);
    if (sides[i] > (uint64_t)1 << 31 || sum + square >= most)
      return UINT64_MAX;
    sum += square;
  }
  return sum;
}

static CclStatus
check (Distances *self, const CclTiledPlan *plan, const CclTiledIo *io, CclError *error)
{
  if (!plan || !io || !io->write || (self->has_labels ? !io->read_values : !io->read))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "plan, functions and those to read and to write must not be NULL");
  self->plan = (CclTiledPlan)CUDACCL_TILED_PLAN_DEFAULT;
  CclStatus status = ccl_struct_complete (
      &self->plan, sizeof self->plan, plan, offsetof (CclTiledPlan, clears_border), error);
  self->plan.columns = 0;
  if (status == CUDACCL_OK)
    status = tiled_check_plan (&self->plan, io, NULL, error);
  if (status != CUDACCL_OK)
    return status;
  const uint64_t diagonal = squared_diagonal (&self->plan);
  if (diagonal == UINT64_MAX)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "in a picture of %llu×%llu×%llu pixels, squared distances could exceed 62 bits",
        (unsigned long long)self->plan.width, (unsigned long long)self->plan.height,
        (unsigned long long)self->plan.depth);
  self->bytes = diagonal < CUDACCL_NO_DISTANCE ? 4 : 8;
  return CUDACCL_OK;
}

static CclStatus
allocate (Distances *self, CclError *error)
{
  const uint64_t tile = self->at_once * self->layer;

  self->pixels = malloc (tile * sizeof *self->pixels);
  self->squared = malloc (tile * sizeof *self->squared);
  if (self->has_labels)
    self->latest = malloc (self->layer * sizeof *self->latest);
  self->above = malloc (self->layer * sizeof *self->above);
  self->below = malloc (self->layer * sizeof *self->below);
  self->labels = malloc (LINES * self->longest * sizeof *self->labels);
  self->lines = malloc (LINES * self->longest * sizeof *self->lines);
  self->envelope = malloc (distance_line_numbers (self->longest) * sizeof *self->envelope);
  if (self->plan.scratch_folder)
    self->file = scratch_file_open (self->plan.scratch_folder, error);
  else
    self->kept = reallocarray (NULL, self->n_tiles, self->layer * sizeof *self->kept);
  if (self->plan.scratch_folder && self->file < 0)
    return CUDACCL_ERROR_IO;
  if (self->pixels && self->squared && self->above && self->below && self->labels && self->lines &&
      self->envelope && (self->latest || !self->has_labels) &&
      (self->kept || self->plan.scratch_folder))
    return CUDACCL_OK;
  return ccl_error_set (
      error, CUDACCL_ERROR_NO_MEMORY, "not enough memory for distances tile by tile");
}

static void
clear (Distances *self)
{
  free (self->pixels);
  free (self->squared);
  free (self->latest);
  free (self->above);
  free (self->below);
  free (self->kept);
  free (self->labels);
  free (self->lines);
  free (self->envelope);
  if (self->file >= 0)
    close (self->file);
}

static CclStatus
find_distances (const CclTiledPlan *plan, const CclTiledIo *io, bool has_labels, CclError *error)
{
  Distances self = {.io = io, .has_labels = has_labels, .file = -1};
  CclStatus status = check (&self, plan, io, error);

  if (status != CUDACCL_OK)
    return status;
  cut_into_tiles (&self);
  status = allocate (&self, error);
  if (status == CUDACCL_OK && io->begin)
    status = io->begin (io->data, 0, 0, 0, self.bytes, error);
  if (status == CUDACCL_OK)
    status = find_first (&self, error);
  if (status == CUDACCL_OK)
    status = carry_up (&self, error);
  if (status == CUDACCL_OK)
    status = transform_tiles (&self, error);
  clear (&self);
  return status;
}

CclStatus
ccl_tiled_distances (const CclTiledPlan *plan, const CclTiledIo *io, CclError *error)
{
  return find_distances (plan, io, false, error);
}

CclStatus
ccl_tiled_label_distances (const CclTiledPlan *plan, const CclTiledIo *io, CclError *error)
{
  return find_distances (plan, io, true, error);
}
