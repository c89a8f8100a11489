/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tiled-case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/label/masks.h"
#include "tests/unit/label/reference.h"
#include "shape-reference.h"
#include "tests/unit/volume/volume-reference.h"

/* What a rank has delivered. */
typedef struct Delivery {
  const TiledCase *c;
  uint64_t layer;             /* pixels */
  uint64_t next_written, end; /* layers */
  uint64_t first_label, n_labels, n_rows;
  uint32_t label_bytes;
  char *message; /* of the first difference */
} Delivery;

static uint32_t
draw (uint32_t *state, uint32_t below)
{
  *state = *state * 1664525 + 1013904223;
  return (uint32_t)((uint64_t)*state * below >> 32);
}

static void
reference_of_frame (TiledCase *c)
{
  const CclLabellerOptions options = {.threshold = c->plan.threshold,
      .invert = c->plan.invert,
      .min_area = (uint32_t)c->plan.min_area,
      .max_area = (uint32_t)c->plan.max_area};
  Reference *r = reference_new (c->pixels, (uint32_t)c->plan.width, (uint32_t)c->plan.height,
      c->plan.width, (CclConnectivity)c->plan.connectivity, &options);

  c->n_components = r->n_components;
  c->labels = r->labels;
  r->labels = NULL;
  c->rows = calloc (c->n_components + 1, sizeof *c->rows);
  for (uint32_t i = 0; i < r->n_components; i++) {
    const CclComponent *row = &r->rows[i];
    c->rows[i] = (CclTiledComponent){row->label, row->area, row->x, row->y, 0, row->width,
        row->height, 1, row->centroid_x, row->centroid_y, 0};
  }
  reference_free (r);
}

static void
reference_of_volume (TiledCase *c)
{
  const CclLabellerOptions options = {.threshold = c->plan.threshold,
      .invert = c->plan.invert,
      .min_area = (uint32_t)c->plan.min_area,
      .max_area = (uint32_t)c->plan.max_area};
  const CclVolumePlan plan = {.width = (uint32_t)c->plan.width,
      .height = (uint32_t)c->plan.height,
      .depth = (uint32_t)c->plan.depth,
      .connectivity = (CclVolumeConnectivity)c->plan.connectivity,
      .max_components = UINT32_MAX};
  const CclVolume volume = {
      c->pixels, c->plan.width, c->plan.width * c->plan.height, CUDACCL_LOCATION_HOST};
  VolumeReference *r = volume_reference_new (&volume, &plan, &options);

  c->n_components = r->n_components;
  c->labels = r->labels;
  r->labels = NULL;
  c->rows = calloc (c->n_components + 1, sizeof *c->rows);
  for (uint32_t i = 0; i < r->n_components; i++) {
    const CclVolumeComponent *row = &r->rows[i];
    c->rows[i] = (CclTiledComponent){row->label, row->n_voxels, row->x, row->y, row->z, row->width,
        row->height, row->depth, row->centroid_x, row->centroid_y, row->centroid_z};
  }
  volume_reference_free (r);
}

static uint64_t
layers (const TiledCase *c)
{
  return c->plan.connectivity <= 4 || c->plan.connectivity == 8 ? c->plan.height : c->plan.depth;
}

/* Draws the pixels: a shape in both directions, or noise. */
static void
draw_pixels (TiledCase *c, uint32_t *state)
{
  const uint32_t width = (uint32_t)c->plan.width, height = (uint32_t)c->plan.height;
  uint32_t n_shapes = 0;
  Mask *mask;

  while (shapes[n_shapes].name)
    n_shapes++;
  c->pixels = malloc (width * height * c->plan.depth);
  for (uint32_t z = 0; z < c->plan.depth; z++) {
    const uint32_t granularity = 1 + draw (state, 3), density = 5 + draw (state, 90);
    if (draw (state, 3) == 0)
      mask = mask_new_from_shape (&shapes[draw (state, n_shapes)], width, height);
    else
      mask = mask_new_from_noise (width, height, granularity, density, draw (state, 1u << 30));
    for (uint32_t i = 0; i < width * height; i++)
      c->pixels[z * width * height + i] = mask->pixels[i] != c->plan.invert ? 255 : 7;
    mask_free (mask);
  }
  c->plan.threshold = 7 + draw (state, 200);
}

/* Draws columns, and the second plane if they need one; some components have zeros only. */
static void
draw_columns (TiledCase *c, uint32_t *state)
{
  const uint64_t n_pixels = c->plan.width * c->plan.height * c->plan.depth;
  uint32_t columns = 1 + draw (state, CUDACCL_ALL_COLUMNS);

  if (c->plan.connectivity != 8 && c->plan.connectivity != 4)
    columns &= ~(uint32_t)CUDACCL_COLUMN_PERIMETER;
  c->plan.columns = columns;
  c->plan.intensity_format = draw (state, 2) ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
  if (!(columns & CUDACCL_COLUMN_INTENSITY))
    return;
  uint8_t *values = c->values = calloc (2, n_pixels);
  for (uint64_t i = 0; i < 2 * n_pixels; i++)
    values[i] = draw (state, 3) ? (uint8_t)draw (state, 256) : 0;
}

static void
finish (TiledCase *c, uint32_t *state)
{
  c->plan.invert = draw (state, 4) == 0;
  c->plan.min_area = draw (state, 3) ? 0 : draw (state, 12);
  c->plan.max_area = draw (state, 6) ? 0 : 1 + draw (state, 60);
  c->plan.label_bytes = 4 * draw (state, 3);
  draw_pixels (c, state);
  for (uint32_t i = 0; i < c->n_ranks; i++)
    c->tile_layers[i] = 1 + draw (state, 1 + draw (state, (uint32_t)layers (c)));
  if (c->plan.connectivity == 4 || c->plan.connectivity == 8)
    reference_of_frame (c);
  else
    reference_of_volume (c);
  if (draw (state, 2)) {
    draw_columns (c, state);
    c->shapes = shapes_new (&c->plan, c->labels, c->values, (uint32_t)c->n_components);
  }
  snprintf (c->name, sizeof c->name,
      "%ux%ux%u, %u-connected, invert %d, area %u..%u, columns %u, %u ranks",
      (unsigned)c->plan.width, (unsigned)c->plan.height, (unsigned)c->plan.depth,
      c->plan.connectivity, c->plan.invert, (unsigned)c->plan.min_area, (unsigned)c->plan.max_area,
      c->plan.columns, c->n_ranks);
}

static int
compare (const void *a, const void *b)
{
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

TiledCase *
tiled_case_new (uint32_t seed)
{
  static const uint32_t connectivities[] = {4, 8, 4, 8, 6, 18, 26};
  TiledCase *c = calloc (1, sizeof *c);
  uint32_t state = seed * 2654435761u + 1;

  c->plan.connectivity = connectivities[draw (&state, 7)];
  const bool is_frame = c->plan.connectivity == 4 || c->plan.connectivity == 8;
  c->plan.width = 1 + draw (&state, is_frame ? 70 : 12);
  c->plan.height = 1 + draw (&state, is_frame ? 60 : 12);
  c->plan.depth = is_frame ? 1 : 1 + draw (&state, 14);
  c->n_ranks = 1 + draw (&state, MOST_RANKS);
  for (uint32_t i = 1; i < c->n_ranks; i++)
    c->begins[i] = draw (&state, (uint32_t)layers (c) + 1);
  c->begins[c->n_ranks] = layers (c);
  qsort (c->begins, c->n_ranks, sizeof *c->begins, compare);
  finish (c, &state);
  return c;
}

TiledCase *
tiled_case_new_split (uint32_t seed, uint32_t height, uint32_t composition)
{
  TiledCase *c = calloc (1, sizeof *c);
  uint32_t state = seed * 2654435761u + 1;

  c->plan.connectivity = draw (&state, 2) ? 8 : 4;
  c->plan.width = 1 + draw (&state, 12);
  c->plan.height = height;
  c->plan.depth = 1;
  for (uint32_t y = 0; y < height; y++)
    if (y + 1 == height || composition >> y & 1)
      c->begins[++c->n_ranks] = y + 1;
  finish (c, &state);
  return c;
}

void
tiled_case_free (TiledCase *c)
{
  free (c->pixels);
  free (c->labels);
  free (c->rows);
  free (c->shapes);
  free (c->values);
  free (c);
}

/* Notes the first difference. */
static CclStatus
differ (Delivery *d, const char *what, uint64_t number)
{
  if (!d->message[0])
    snprintf (d->message, 512, "%s: %s %llu", d->c->name, what, (unsigned long long)number);
  return CUDACCL_OK;
}

static CclStatus
read_layers (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  Delivery *d = data;
  (void)error;
  memcpy (pixels, d->c->pixels + first * d->layer, n * d->layer);
  return CUDACCL_OK;
}

static CclStatus
begin (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Delivery *d = data;
  (void)error;
  d->first_label = first_label;
  d->n_labels = n_labels;
  d->label_bytes = label_bytes;
  if (n_components != d->c->n_components)
    return differ (d, "another number of components:", n_components);
  if (label_bytes != (d->c->plan.label_bytes ? d->c->plan.label_bytes : 4))
    return differ (d, "bytes of a label:", label_bytes);
  return CUDACCL_OK;
}

static CclStatus
write_layers (void *data, uint64_t first, uint64_t n, const void *labels, CclError *error)
{
  Delivery *d = data;
  const uint32_t *expected = d->c->labels + first * d->layer;
  (void)error;

  if (first != d->next_written)
    return differ (d, "layers are written out of order:", first);
  for (uint64_t i = 0; i < n * d->layer; i++) {
    const uint64_t label =
        d->label_bytes == 8 ? ((const uint64_t *)labels)[i] : ((const uint32_t *)labels)[i];
    if (label != expected[i])
      return differ (d, "another label in layer", first + i / d->layer);
  }
  d->next_written += n;
  return CUDACCL_OK;
}

static CclStatus
take_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  Delivery *d = data;
  const uint64_t first = d->first_label + d->n_rows;
  (void)error;

  if (d->n_rows + n > d->n_labels || first + n > d->c->n_components + 1)
    return differ (d, "too many rows:", d->n_rows + n);
  for (size_t i = 0; i < n && d->c->rows; i++)
    if (memcmp (&rows[i], &d->c->rows[first + i - 1], sizeof *rows) != 0)
      return differ (d, "another row of component", first + i);
  d->n_rows += n;
  return CUDACCL_OK;
}

static CclStatus
read_values (void *data, uint64_t first, uint64_t n, void *values, CclError *error)
{
  Delivery *d = data;
  const size_t bytes = d->c->plan.intensity_format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
  (void)error;
  memcpy (values, (uint8_t *)d->c->values + first * d->layer * bytes, n * d->layer * bytes);
  return CUDACCL_OK;
}

static CclStatus
take_measured (void *data, const CclTiledComponent *rows, const CclVolumeShape *found, size_t n,
    CclError *error)
{
  Delivery *d = data;
  const uint64_t first = d->first_label + d->n_rows;
  const uint32_t connectivity = d->c->plan.connectivity;
  const bool is_volume = connectivity != 4 && connectivity != 8;

  for (size_t i = 0; i < n && first + n <= d->c->n_components + 1; i++) {
    if (!shapes_are_equal (&found[i], &d->c->shapes[first + i - 1], is_volume))
      return differ (d, "another shape of component", first + i);
  }
  return take_rows (data, rows, n, error);
}

bool
tiled_case_run (const TiledCase *c, const CclTiledPeers *peers, CclCudaDevice *device,
    CclTiledResult *result, char message[512])
{
  const uint32_t rank = peers ? peers->rank : 0;
  const bool is_frame = c->plan.connectivity == 4 || c->plan.connectivity == 8;
  Delivery d = {.c = c, .message = message};
  CclTiledPlan plan = c->plan;
  /* A third of the cases is without a label map: then most labels are not computed. */
  const bool has_map = c->n_components % 3 != 0;
  const CclTiledIo io = {&d, read_layers, begin, has_map ? write_layers : NULL, take_rows, NULL,
      read_values, take_measured};
  CclError error = {CUDACCL_OK, ""};

  message[0] = '\0';
  plan.first_layer = peers ? c->begins[rank] : 0;
  d.end = peers ? c->begins[rank + 1] : layers (c);
  plan.n_layers = d.end - plan.first_layer;
  plan.tile_layers = c->tile_layers[rank];
  plan.n_threads = 1;
  plan.device = device;
  /* Every second rank keeps the components at seams in a file. */
  plan.scratch_folder = rank % 2 ? P_tmpdir : NULL;
  d.layer = c->plan.width * (is_frame ? 1 : c->plan.height);
  d.next_written = plan.first_layer;
  if (ccl_tiled_run (&plan, &io, peers, result, &error) != CUDACCL_OK) {
    snprintf (message, 512, "%s: %s", c->name, error.message);
    return false;
  }
  if (!message[0] && has_map && d.next_written != d.end)
    differ (&d, "the label map ends before layer", d.next_written);
  if (!message[0] && d.n_rows != d.n_labels)
    differ (&d, "too few rows:", d.n_rows);
  return !message[0];
}
