/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The labeller of volumes on the CPU. A run is a maximal sequence of foreground voxels in a row. It
 * gets the label of the runs that it touches in the rows before it, in its own slice and in the one
 * before. The connectivities differ only in these rows and in whether runs touch at neighbouring x.
 * Which runs of two rows touch is found in words of one bit per voxel.
 *
 * He, Chao, Suzuki: A Run-Based Two-Scan Labeling Algorithm, IEEE Transactions on Image Processing
 * 17(5), 2008, with the rows of a volume in place of those of an image. Labels of one component are
 * united by union-find (equivalences.h). Sums are added up run by run, so that the table needs
 * no second scan, and the label map is written from the runs.
 */
#include "core/base/interruption.h"
#include "core/base/divide-up.h"
#include "cpu/label/equivalences.h"
#include "cpu/base/lesser.h"
#include "cpu/base/mapping.h"
#include "cpu/pixels/pack-portable.h"
#include "core/label/labeller-class.h"
#include "core/measure/measured-map.h"
#include "core/volume/volume-class.h"

#include <stdlib.h>

typedef struct Run {
  uint32_t begin; /* first column */
  uint32_t end;   /* the column after the last */
  uint32_t label; /* provisional */
} Run;

typedef struct CpuVolumeLabeller {
  CclVolumeLabeller base;
  uint32_t n_rows; /* of the volume: height × depth, slice by slice */

  uint32_t n_words;  /* of a row of bits, one for each voxel */
  uint64_t *bits;    /* of the rows of two slices: that of even z, then that of odd z */
  Run *runs;         /* of all rows, in raster order */
  uint32_t *row_end; /* of each row: the index after its last run */

  uint32_t n_labels; /* labels given so far, with 0, which means no label */
  uint32_t *parents; /* of each label (equivalences.h); later its final label */
  CclPart *parts;    /* the sums over each label */

  CclVolumeComponent *rows;
  Mapping mapping;
} CpuVolumeLabeller;

/* A row of voxels. */
typedef struct Row {
  const uint64_t *bits;
  Run *runs;
} Row;

/* A row before the one at work that its runs may touch. */
typedef struct Neighbour {
  Row row;
  uint32_t reach; /* 1 if voxels at neighbouring x touch, 0 if only those at the same x */
} Neighbour;

/* One instruction in scan_with_popcnt(). */
static ALWAYS_INLINE uint32_t
bits_in (uint64_t word)
{
  return (uint32_t)__builtin_popcountll (word);
}

/* Writes the bits of a row and appends its runs. Returns the place after the last. */
static Run *
find_runs (Run *run, uint64_t *bits, const uint8_t *row, uint32_t width, uint8_t threshold,
    uint64_t inversion)
{
  uint64_t last = 0; /* the voxel before */

  for (uint32_t x = 0; x < width; x += 64) {
    uint64_t word;
    if (width - x >= 64) {
      word = pack_pixels (row + x, threshold) ^ inversion;
    } else {
      uint8_t rest[64] = {0};
      memcpy (rest, row + x, width - x);
      word = (pack_pixels (rest, threshold) ^ inversion) & ((UINT64_C (1) << (width - x)) - 1);
    }
    bits[x / 64] = word;
    /* The bits at which foreground begins and ends, in turn. */
    for (uint64_t edges = word ^ (word << 1 | last); edges; edges &= edges - 1) {
      const uint32_t at = x + lowest_bit (edges);
      if (word >> (at - x) & 1)
        *run = (Run){.begin = at};
      else
        (run++)->end = at;
    }
    last = word >> 63;
  }
  /* If the last word is not full, its background has ended the last run. */
  if (last)
    (run++)->end = width;
  return run;
}

/* Where the bits of a row are. */
static uint64_t *
bits_of_row (const CpuVolumeLabeller *self, uint32_t y, uint32_t z)
{
  return self->bits + ((size_t)(z & 1) * self->base.plan.height + y) * self->n_words;
}

/* Adds a row to the neighbours if it is inside the volume and has runs. */
static void
add_neighbour (const CpuVolumeLabeller *self, Neighbour *neighbours, uint32_t *n, int64_t y,
    int64_t z, uint32_t reach)
{
  if (y < 0 || y >= self->base.plan.height || z < 0)
    return;
  const size_t row = (size_t)z * self->base.plan.height + (size_t)y;
  const uint32_t begin = row ? self->row_end[row - 1] : 0;
  if (self->row_end[row] > begin)
    neighbours[(*n)++] = (Neighbour){
        .row = {bits_of_row (self, (uint32_t)y, (uint32_t)z), self->runs + begin},
        .reach = reach,
    };
}

/* Lists the rows before row y, z whose voxels touch those of that row. Returns their number. */
static uint32_t
find_neighbours (const CpuVolumeLabeller *self, uint32_t y, uint32_t z, Neighbour neighbours[4])
{
  const CclVolumeConnectivity connectivity = self->base.plan.connectivity;
  uint32_t n = 0;

  add_neighbour (self, neighbours, &n, (int64_t)y - 1, z, connectivity >= 18);
  add_neighbour (self, neighbours, &n, y, (int64_t)z - 1, connectivity >= 18);
  if (connectivity >= 18) {
    add_neighbour (self, neighbours, &n, (int64_t)y - 1, (int64_t)z - 1, connectivity == 26);
    add_neighbour (self, neighbours, &n, (int64_t)y + 1, (int64_t)z - 1, connectivity == 26);
  }
  return n;
}

static uint32_t
new_label (CpuVolumeLabeller *self)
{
  const uint32_t label = self->n_labels++;
  self->parents[label] = label;
  self->parts[label] = CCL_EMPTY_PART;
  return label;
}

/* Unites the set of a label, which may be 0, with that of another one. Returns a label of it. */
static ALWAYS_INLINE uint32_t
join (uint32_t *parents, uint32_t label, uint32_t other)
{
  const uint32_t parent = parents[other];
  if (label == parent)
    return label;
  return label ? unite (parents, label, parent) : parent;
}

/* Unites the runs of a row with those of a row before it that they touch. */
static ALWAYS_INLINE void
join_rows (uint32_t *parents, const Row *row, const Row *before, uint32_t n_words, uint64_t reach)
{
  uint32_t n = 0, n_before = 0;       /* runs that begin in the words before */
  uint64_t last = 0, last_before = 0; /* the voxels before */

  for (uint32_t i = 0; i < n_words; i++) {
    const uint64_t bits = row->bits[i], bits_before = before->bits[i];
    const uint64_t shifted = bits << 1 | last, shifted_before = bits_before << 1 | last_before;
    const uint64_t begins = bits & ~shifted, begins_before = bits_before & ~shifted_before;
    /* Runs touch if they have a column in common; with reach, each has the column after it, too.
     * The first such column of two runs is where one of them begins. */
    const uint64_t common = (bits | (shifted & -reach)) & (bits_before | (shifted_before & -reach));
    for (uint64_t at = common & (begins | begins_before); at; at &= at - 1) {
      const uint64_t up_to = up_to_lowest_bit (at);
      Run *run = &row->runs[n + bits_in (begins & up_to) - 1];
      const Run *other = &before->runs[n_before + bits_in (begins_before & up_to) - 1];
      run->label = join (parents, run->label, other->label);
    }
    n += bits_in (begins);
    n_before += bits_in (begins_before);
    last = bits >> 63;
    last_before = bits_before >> 63;
  }
}

static CclPart
part_of_run (const Run *run, uint32_t y, uint32_t z)
{
  const uint64_t n = run->end - run->begin;
  return (CclPart){
      .area = n,
      .sum_x = n * ((uint64_t)run->begin + run->end - 1) / 2,
      .sum_y = n * y,
      .sum_z = n * z,
      .least_x = run->begin,
      .least_y = y,
      .least_z = z,
      .greatest_x = run->end - 1,
      .greatest_y = y,
      .greatest_z = z,
  };
}

static ALWAYS_INLINE void
scan_rows (CpuVolumeLabeller *self, const CclVolume *volume, const CclLabellerOptions *options)
{
  const uint8_t threshold = (uint8_t)options->threshold;
  const uint64_t inversion = options->invert ? UINT64_MAX : 0;
  Run *run = self->runs;
  uint32_t row = 0;

  self->n_labels = 1;
  for (uint32_t z = 0; z < self->base.plan.depth; z++) {
    const uint8_t *slice = (const uint8_t *)volume->data + z * volume->slice_stride;
    for (uint32_t y = 0; y < self->base.plan.height; y++, row++) {
      if (ccl_is_interrupted (self->base.plan.width))
        return;
      uint64_t *bits = bits_of_row (self, y, z);
      const Row at_work = {bits, run};
      Neighbour neighbours[4];
      Run *end = find_runs (
          run, bits, slice + y * volume->row_stride, self->base.plan.width, threshold, inversion);
      const uint32_t n_neighbours = run < end ? find_neighbours (self, y, z, neighbours) : 0;
      for (uint32_t i = 0; i < n_neighbours; i++)
        join_rows (self->parents, &at_work, &neighbours[i].row, self->n_words, neighbours[i].reach);
      for (; run < end; run++) {
        const CclPart part = part_of_run (run, y, z);
        if (!run->label)
          run->label = new_label (self);
        ccl_part_add (&self->parts[run->label], &part);
      }
      self->row_end[row] = (uint32_t)(run - self->runs);
    }
  }
}

#ifdef __x86_64__
/* For processors that count bits in one instruction: all but the first of this architecture. */
__attribute__ ((target ("popcnt"))) static void
scan_with_popcnt (
    CpuVolumeLabeller *self, const CclVolume *volume, const CclLabellerOptions *options)
{
  scan_rows (self, volume, options);
}
#endif

static void
scan (CpuVolumeLabeller *self, const CclVolume *volume, const CclLabellerOptions *options)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports ("popcnt")) {
    scan_with_popcnt (self, volume, options);
    return;
  }
#endif
  scan_rows (self, volume, options);
}

/* Links each label to its root and adds its sums to those of the root. */
static void
flatten (CpuVolumeLabeller *self)
{
  for (uint32_t label = 1; label < self->n_labels; label++) {
    /* The parent is less than the label, so it has been linked to the root. */
    const uint32_t root = self->parents[self->parents[label]];
    self->parents[label] = root;
    if (root != label)
      ccl_part_add (&self->parts[root], &self->parts[label]);
  }
}

/* Replaces each label's parent by the final label, 0 if the area filter removes the component.
 * Roots are in raster order of first voxels, because labels are given in raster order of runs.
 * Returns the number of components. */
static uint32_t
number_components (CpuVolumeLabeller *self, const CclLabellerOptions *options)
{
  const uint32_t most_voxels = options->max_area ? options->max_area : UINT32_MAX;
  uint32_t n_components = 0;

  for (uint32_t label = 1; label < self->n_labels; label++) {
    const uint32_t root = self->parents[label];
    const CclPart *part = &self->parts[label];
    uint32_t final_label = 0;
    if (root != label) {
      final_label = self->parents[root];
    } else if (part->area >= options->min_area && part->area <= most_voxels) {
      final_label = ++n_components;
      if (final_label <= self->base.plan.max_components)
        self->rows[final_label - 1] = ccl_measured_row (part, final_label);
    }
    self->parents[label] = final_label;
  }
  return n_components;
}

static void
write_labels (const CpuVolumeLabeller *self, const CclVolumeLabels *labels)
{
  const Run *run = self->runs;
  uint32_t row = 0;

  for (uint32_t z = 0; z < self->base.plan.depth; z++) {
    uint8_t *slice = (uint8_t *)labels->data + z * labels->slice_stride;
    for (uint32_t y = 0; y < self->base.plan.height; y++, row++) {
      if (ccl_is_interrupted (self->base.plan.width))
        return;
      uint32_t *out = (uint32_t *)(slice + y * labels->row_stride);
      memset (out, 0, sizeof *out * self->base.plan.width);
      for (; run < self->runs + self->row_end[row]; run++) {
        const uint32_t label = self->parents[run->label];
        for (uint32_t x = run->begin; x < run->end; x++)
          out[x] = label;
      }
    }
  }
}

static CclStatus
cpu_volume_labeller_run (CclVolumeLabeller *labeller, const CclVolume *volume,
    const CclLabellerOptions *options, const CclVolumeLabels *labels, CclVolumeTable *table,
    CclError *error)
{
  CpuVolumeLabeller *self = (CpuVolumeLabeller *)labeller;

  if (volume->location != CUDACCL_LOCATION_HOST)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the CPU cannot read volumes in device memory");
  scan (self, volume, options);
  const CclStatus status = ccl_interruption_status (error);
  if (status != CUDACCL_OK)
    return status;
  flatten (self);
  table->n_components = number_components (self, options);
  table->n_rows = lesser (table->n_components, self->base.plan.max_components);
  table->rows = self->rows;
  if (labels)
    write_labels (self, labels);
  return ccl_interruption_status (error);
}

static void
cpu_volume_labeller_free (CclVolumeLabeller *labeller)
{
  CpuVolumeLabeller *self = (CpuVolumeLabeller *)labeller;

  mapping_unmap (&self->mapping);
  free (self);
}

static const CclVolumeLabellerClass cpu_volume_labeller_class = {
    .name = "cpu",
    .run = cpu_volume_labeller_run,
    .free = cpu_volume_labeller_free,
};

static void
lay_out_everything (Layout *layout, void *data)
{
  CpuVolumeLabeller *self = data;
  const size_t n_labels = ccl_volume_plan_most_components (&self->base.plan) + 1;
  const size_t n_runs = divide_up (self->base.plan.width, 2) * self->n_rows;

  self->bits =
      lay_out (layout, (size_t)2 * self->base.plan.height * self->n_words, sizeof *self->bits);
  self->runs = lay_out (layout, n_runs + 1, sizeof *self->runs);
  self->row_end = lay_out (layout, self->n_rows, sizeof *self->row_end);
  self->parents = lay_out (layout, n_labels, sizeof *self->parents);
  self->parts = lay_out (layout, n_labels, sizeof *self->parts);
  self->rows = lay_out (layout,
      self->base.plan.max_components < n_labels ? self->base.plan.max_components : n_labels,
      sizeof *self->rows);
}

CclVolumeLabeller *
ccl_cpu_volume_labeller_new (const CclVolumePlan *plan, CclError *error)
{
  CpuVolumeLabeller *self;

  if (ccl_volume_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  self = calloc (1, sizeof *self);
  if (self) {
    self->base.klass = &cpu_volume_labeller_class;
    self->base.plan = *plan;
    self->n_rows = plan->height * plan->depth;
    self->n_words = divide_up (plan->width, 64);
    if (mapping_lay_out (&self->mapping, lay_out_everything, self))
      return &self->base;
    free (self);
  }
  ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
      "not enough memory to label volumes of %u×%u×%u voxels", plan->width, plan->height,
      plan->depth);
  return NULL;
}
