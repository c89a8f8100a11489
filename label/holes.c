/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "holes.h"

#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of labels that are read at once. */
enum { CHUNK = 1 << 16 };

struct Holes {
  CclTiledPlan plan;
  uint64_t layer; /* pixels of a layer */
  CclStatus (*read) (
      void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error);
  void *data;
  FILE *labels; /* of all pixels */
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

  (void)first_label;
  (void)n_labels;
  self->label_bytes = label_bytes;
  self->is_hole = calloc (n_components / 8 + 1, 1);
  return self->is_hole || fail_without_memory (error) ? CUDACCL_OK : CUDACCL_ERROR_IO;
}

static CclStatus
keep_labels (
    void *data, uint64_t first_layer, uint64_t n_layers, const void *labels, CclError *error)
{
  const Holes *self = data;
  const size_t n = n_layers * self->layer;

  (void)first_layer; /* they come in order */
  if (fwrite (labels, self->label_bytes, n, self->labels) == n)
    return CUDACCL_OK;
  fail (error, "the labels of holes cannot be written: %s", strerror (errno));
  return CUDACCL_ERROR_IO;
}

/* Whether a component of the background touches no side of the picture. */
static bool
is_enclosed (const CclTiledPlan *plan, const CclTiledComponent *row)
{
  const bool is_frame = plan->connectivity == 4 || plan->connectivity == 8;

  return row->x > 0 && row->y > 0 && row->x + row->width < plan->width &&
         row->y + row->height < plan->height &&
         (is_frame || (row->z > 0 && row->z + row->depth < plan->depth));
}

static CclStatus
mark_holes (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  const Holes *self = data;

  (void)error;
  for (size_t i = 0; i < n; i++)
    if (is_enclosed (&self->plan, &rows[i]))
      self->is_hole[rows[i].label / 8] |= (uint8_t)(1 << rows[i].label % 8);
  return CUDACCL_OK;
}

/* The plan to label the background. */
static CclTiledPlan
background_plan (const CclTiledPlan *foreground, uint64_t max_area)
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

/* A file without a name, in the folder if there is one. */
static FILE *
open_file (const char *folder, CclError *error)
{
  char *name;
  FILE *file = NULL;

  if (asprintf (&name, "%s/ccl-label-XXXXXX", folder ? folder : P_tmpdir) < 0) {
    fail_without_memory (error);
    return NULL;
  }
  const int descriptor = mkstemp (name);
  if (descriptor >= 0)
    file = fdopen (descriptor, "w+b");
  if (!file)
    fail (error, "%s: %s", name, strerror (errno));
  if (descriptor >= 0)
    unlink (name);
  if (!file && descriptor >= 0)
    close (descriptor);
  free (name);
  return file;
}

Holes *
holes_find (const CclTiledPlan *plan,
    CclStatus (*read) (
        void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error),
    void *data, uint64_t max_area, CclError *error)
{
  const bool is_frame = plan->connectivity == 4 || plan->connectivity == 8;
  Holes *self = calloc (1, sizeof *self);

  if (!self) {
    fail_without_memory (error);
    return NULL;
  }
  *self = (Holes){
      .plan = background_plan (plan, max_area),
      .layer = is_frame ? plan->width : plan->width * plan->height,
      .read = read,
      .data = data,
      .labels = open_file (plan->scratch_folder, error),
      .value = plan->invert ? 0 : 255,
  };
  const CclTiledIo io = {
      .data = self, .read = read_layers, .begin = begin, .write = keep_labels, .rows = mark_holes};
  if (self->labels && ccl_tiled_run (&self->plan, &io, NULL, NULL, error) == CUDACCL_OK) {
    if (fflush (self->labels) == 0)
      return self;
    fail (error, "the labels of holes cannot be written: %s", strerror (errno));
  }
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
  const size_t bytes = self->label_bytes;

  for (uint64_t done = 0; done < n;) {
    const size_t rest = (n - done) * bytes, size = rest < CHUNK ? rest : CHUNK;
    const ssize_t n_read =
        pread (fileno (self->labels), labels, size, (off_t)((first + done) * bytes));
    if (n_read < (ssize_t)bytes)
      return fail (error, "the labels of holes cannot be read: %s",
          n_read < 0 ? strerror (errno) : "they are too short");
    const size_t n_labels = (size_t)n_read / bytes;
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
  if (self->labels)
    fclose (self->labels);
  free (self->is_hole);
  free (self);
}
