/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The labeller of values on the CPU. A run is a maximal sequence of equal values in the foreground
 * of a row. Rows are compared with the rows before them in words of one bit per pixel: where runs
 * begin, and where a pixel equals its neighbour of another row (values-scan.h). Two runs are united
 * once for each stretch on which they touch, and not where an equal neighbour between them has
 * united them before.
 *
 * All runs of a picture are numbered in raster order, and the root of a set is its least run
 * (equivalences.h), so that roots are in raster order of the components' first pixels.
 */
#include "values.h"
#include "core/base/divide-up.h"
#include "core/base/interruption.h"

#include "cpu/base/errors.h"
#include "cpu/base/instructions.h"
#include "core/label/labeller-class.h"
#include <stdlib.h>
#include <string.h>

static const Neighbourhood neighbourhoods[] = {
    {4, true, 1, {{-1, 0, false, 0, 0, 0}}},
    {8, true, 1, {{-1, 0, true, 0, 1 << 0, 0}}},
    {6, false, 2, {{0, -1, false, 0, 0, 0}, {-1, 0, false, 0, 0, 0}}},
    {18, false, 4,
        {{0, -1, true, 0, 1 << 0 | 1 << 2 | 1 << 3, 0},
            {-1, 0, true, 1 << 0, 1 << 1 | 1 << 2, 1 << 0}, {-1, -1, false, 1 << 0 | 1 << 1, 0, 0},
            {1, -1, false, 1 << 0, 0, 0}}},
    {26, true, 4,
        {{0, -1, true, 0, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3, 0},
            {-1, 0, true, 1 << 0, 1 << 0 | 1 << 1 | 1 << 2, 1 << 0},
            {-1, -1, true, 1 << 0 | 1 << 1, 1 << 0 | 1 << 1 | 1 << 2, 1 << 0 | 1 << 1},
            {1, -1, true, 1 << 0, 1 << 0 | 1 << 3, 1 << 0}}},
};

/* Replaces the parent of each run by its label. Returns the number of components. */
static uint32_t
number_components (CpuValuesLabeller *self)
{
  uint32_t n = 0;

  for (uint32_t run = 1; run < self->n_runs; run++) {
    const uint32_t parent = self->parents[run], label = self->parents[parent];
    n += parent == run;
    self->parents[run] = parent == run ? n : label;
  }
  return n;
}

static bool
row_has_foreground (const CpuValuesLabeller *self, size_t first_word)
{
  uint64_t all = 0;
  for (uint32_t i = 0; i < self->n_words; i++)
    all |= self->foreground[first_word + i];
  return all != 0;
}

static void
write_labels (const CpuValuesLabeller *self, const CclVolumeLabels *labels)
{
  const CclValuesPlan *plan = &self->base.plan;
  size_t word = 0;

  for (uint32_t z = 0; z < plan->depth; z++) {
    for (uint32_t y = 0; y < plan->height; y++, word += self->n_words) {
      if (ccl_is_interrupted (plan->width))
        return;
      uint32_t *out = (uint32_t *)((uint8_t *)labels->data + (z ? z * labels->slice_stride : 0) +
                                   y * labels->row_stride);
      if (row_has_foreground (self, word))
        self->code->write_row (self, word, out);
      else
        memset (out, 0, plan->width * sizeof *out);
    }
  }
}

static CclStatus
cpu_values_labeller_run (CclValuesLabeller *labeller, const CclValues *values,
    const CclVolumeLabels *labels, uint32_t *n_components, CclError *error)
{
  CpuValuesLabeller *self = (CpuValuesLabeller *)labeller;

  self->code->scan (self, values);
  const CclStatus status = ccl_interruption_status (error);
  if (status != CUDACCL_OK)
    return status;
  *n_components = number_components (self);
  if (labels)
    write_labels (self, labels);
  return ccl_interruption_status (error);
}

static void
cpu_values_labeller_free (CclValuesLabeller *labeller)
{
  CpuValuesLabeller *self = (CpuValuesLabeller *)labeller;

  mapping_unmap (&self->mapping);
  free (self);
}

static const CclValuesLabellerClass cpu_values_labeller_class = {
    .name = "cpu",
    .location = CUDACCL_LOCATION_HOST,
    .run = cpu_values_labeller_run,
    .free = cpu_values_labeller_free,
};

static void
lay_out_everything (Layout *layout, void *data)
{
  CpuValuesLabeller *self = data;
  const CclValuesPlan *plan = &self->base.plan;
  const size_t n_rows = (size_t)plan->height * plan->depth;

  self->begins = lay_out (layout, n_rows * self->n_words, sizeof *self->begins);
  self->runs_before = lay_out (layout, n_rows * self->n_words, sizeof *self->runs_before);
  self->foreground = lay_out (layout, n_rows * self->n_words, sizeof *self->foreground);
  self->parents = lay_out (layout, 1 + n_rows * plan->width + PARENTS_BLOCK, sizeof *self->parents);
}

/* The best code for this processor, or the code that the user asks for; NULL without any. */
static const ValuesCode *
choose_code (void)
{
  static const ValuesCode *const all[] = {
#if HAVE_X86_64
    &values_code_avx512,
    &values_code_avx2,
#endif
    &values_code_portable,
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (instructions_fit (all[i]->name, instructions_of_user ()))
      return all[i];
  return NULL;
}

CclValuesLabeller *
ccl_cpu_values_labeller_new (const CclValuesPlan *plan, CclError *error)
{
  CclValuesPlan complete;
  CpuValuesLabeller *self;

  if (ccl_values_plan_complete (&complete, plan, error) != CUDACCL_OK)
    return NULL;
  self = calloc (1, sizeof *self);
  if (self) {
    self->base.klass = &cpu_values_labeller_class;
    self->base.plan = complete;
    self->n_words = divide_up (plan->width, 64);
    self->neighbourhood = neighbourhoods;
    while (self->neighbourhood->connectivity != plan->connectivity)
      self->neighbourhood++;
    self->code = choose_code ();
    if (!self->code) {
      free (self);
      ccl_cpu_set_no_instructions (error, instructions_of_user ());
      return NULL;
    }
    if (mapping_lay_out (&self->mapping, lay_out_everything, self))
      return &self->base;
    free (self);
  }
  ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
      "not enough memory to label pictures of %u×%u×%u values", plan->width, plan->height,
      plan->depth);
  return NULL;
}
