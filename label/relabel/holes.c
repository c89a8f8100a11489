/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "holes.h"

#include "pictures/error.h"
#include "kept-map.h"
#include "plan.h"

#include <stdlib.h>

/* Bytes of labels that are read at once. */
enum { CHUNK = 1 << 16 };

struct Holes {
  CclTiledPlan plan;
  uint64_t layer; /* pixels of a layer */
  CclStatus (*read) (
      void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error);
  void *data;
  KeptMap *labels; /* of all pixels */
  uint32_t label_bytes;
  uint8_t *is_hole; /* one bit for each label */
  uint8_t value;    /* of pixels that become foreground */
};

static CclStatus
read_layers (void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  const Holes *self = data;
  return self->read (self->data, first_layer, n_layers, pixels, error);
}

static CclStatus
begin (void *data, uint64_t n_components, uint64_t first_label, uint64_t n_labels,
    uint32_t label_bytes, CclError *error)
{
  Holes *self = data;

  self->label_bytes = label_bytes;
  self->is_hole = calloc (n_components / 8 + 1, 1);
  return to_status (self->is_hole || fail_without_memory (error));
}

static CclStatus
keep_labels (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  const Holes *self = data;
  return to_status (kept_map_write (self->labels, first_layer * self->layer, labels,
      n_layers * self->layer, self->label_bytes, error));
}

bool
holes_is_enclosed (const CclTiledPlan *plan, const CclTiledComponent *row)
{
  return row->x > 0 && row->y > 0 && row->x + row->width < plan->width &&
         row->y + row->height < plan->height &&
         (is_frame (plan) || (row->z > 0 && row->z + row->depth < plan->depth));
}

static CclStatus
mark_holes (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  const Holes *self = data;

  for (size_t i = 0; i < n; i++)
    if (holes_is_enclosed (&self->plan, &rows[i]))
      self->is_hole[rows[i].label / 8] |= (uint8_t)(1 << rows[i].label % 8);
  return CUDACCL_OK;
}

CclTiledPlan
holes_plan (const CclTiledPlan *foreground, uint64_t max_area)
{
  CclTiledPlan plan = *foreground;

  plan.connectivity = plan.connectivity == 4   ? 8
                      : plan.connectivity == 8 ? 4
                      : plan.connectivity == 6 ? 26
                                               : 6;
  plan.invert = !plan.invert;
  plan.min_area = 1;
  plan.clears_border = false;
  plan.max_area = max_area;
  plan.label_bytes = 0;
  plan.columns = 0;
  return plan;
}

Holes *
holes_find (const CclTiledPlan *plan,
    CclStatus (*read) (
        void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error),
    void *data, uint64_t max_area, CclError *error)
{
  Holes *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  *self = (Holes){
      .plan = holes_plan (plan, max_area),
      .layer = layer_pixels (plan),
      .read = read,
      .data = data,
      .labels = kept_map_new (plan->scratch_folder, "holes", error),
      .value = plan->invert ? 0 : 255,
  };
  const CclTiledIo io = {
      .data = self, .read = read_layers, .begin = begin, .write = keep_labels, .rows = mark_holes};
  if (self->labels && ccl_tiled_run (&self->plan, &io, NULL, NULL, error) == CUDACCL_OK)
    return self;
  holes_free (self);
  return NULL;
}

/* Fills holes in pixels, whose labels are given. */
static void
fill_pixels (const Holes *self, const void *labels, size_t n, uint8_t *pixels)
{
  const uint32_t *words = labels;
  const uint64_t *long_words = labels;

  for (size_t i = 0; i < n; i++) {
    const uint64_t label = self->label_bytes == 4 ? words[i] : long_words[i];
    if (self->is_hole[label / 8] >> label % 8 & 1)
      pixels[i] = self->value;
  }
}

bool
holes_fill (
    const Holes *self, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error)
{
  uint64_t labels[CHUNK / sizeof (uint64_t)];
  const uint64_t first = first_layer * self->layer, n = n_layers * self->layer;

  for (uint64_t done = 0; done < n;) {
    const uint64_t most = CHUNK / self->label_bytes;
    const size_t n_labels = n - done < most ? n - done : most;
    if (!kept_map_read (self->labels, first + done, labels, n_labels, self->label_bytes, error))
      return false;
    fill_pixels (self, labels, n_labels, pixels + done);
    done += n_labels;
  }
  return true;
}

void
holes_free (Holes *self)
{
  if (!self)
    return;
  kept_map_free (self->labels);
  free (self->is_hole);
  free (self);
}
