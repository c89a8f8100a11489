/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of labels of chunks. The memory of a program may be aligned to bytes only, so sums are
 * copied in and out. */
#include <cudaccl/chunks.h>

#include "core/base/struct-size.h"
#include "core/measure/measured-map.h"
#include "part.h"

#include <stdlib.h>
#include <string.h>

typedef struct Sums {
  CclMeasures measures;
  CclPart part;
} Sums;

size_t
ccl_sums_bytes (void)
{
  return sizeof (Sums);
}

static Sums
sums_at (const void *sums, size_t i)
{
  Sums found;
  memcpy (&found, (const uint8_t *)sums + i * sizeof found, sizeof found);
  return found;
}

static void
put_sums (void *sums, size_t i, const Sums *from)
{
  memcpy ((uint8_t *)sums + i * sizeof *from, from, sizeof *from);
}

static bool
has_reals (const CclSumsPlan *plan)
{
  return plan->columns & CUDACCL_COLUMN_INTENSITY && ccl_values_are_real (plan->intensity_format);
}

static CclStatus
check_plan (const CclSumsPlan *plan, CclError *error)
{
  if (!plan)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the plan is NULL");
  const CclStatus status = ccl_struct_size_check (plan, sizeof *plan, error);
  const uint64_t depth = plan->depth ? plan->depth : 1, most = UINT32_MAX;
  uint64_t longest = plan->width > plan->height ? plan->width : plan->height;
  uint64_t n_pixels;

  longest = depth > longest ? depth : longest;
  if (status != CUDACCL_OK)
    return status;
  if (plan->width < 1 || plan->height < 1 || longest > most)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "a picture has a side that is not 1…%u", UINT32_MAX);
  if (__builtin_mul_overflow (plan->width * plan->height, depth, &n_pixels) ||
      n_pixels > INT64_MAX / longest)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "in a picture of %llu×%llu×%llu pixels, sums of coordinates could exceed 64 bits",
        (unsigned long long)plan->width, (unsigned long long)plan->height,
        (unsigned long long)depth);
  return CUDACCL_OK;
}

static CclStatus
check_place (const CclSumsPlan *plan, const uint32_t size[3], const uint64_t place[3],
    const CclVolumeIntensity *intensity, CclError *error)
{
  const uint64_t lengths[3] = {plan->width, plan->height, plan->depth ? plan->depth : 1};

  for (int i = 0; i < 3; i++)
    if (size[i] < 1 || size[i] > lengths[i] || place[i] > lengths[i] - size[i])
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a chunk is not inside the picture");
  if (plan->columns & CUDACCL_COLUMN_INTENSITY && intensity &&
      intensity->format != plan->intensity_format)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the intensities have another format than the plan");
  return CUDACCL_OK;
}

/* What a chunk has of its neighbours along an axis, and what columns need of them. */
typedef struct Around {
  uint32_t before, after, least_before, least_after;
} Around;

/* Of the axes x, y and z. */
static void
find_around (const CclSumsPlan *plan, Around around[3])
{
  const bool is_volume = plan->depth > 0;
  const uint32_t before = ccl_layers_before (plan->columns, is_volume);
  const uint32_t after = ccl_layers_after (plan->columns, is_volume);

  around[0] = around[1] = around[2] = (Around){0};
  /* The neighbours of a pixel that precede it are on both sides of it, but in one layer before. */
  around[0] = (Around){plan->pixels_before, plan->pixels_after, before, before};
  if (is_volume)
    around[1] = (Around){plan->rows_before, plan->rows_after, before, before};
  around[is_volume ? 2 : 1] = (Around){plan->layers_before, plan->layers_after, before, after};
}

/* Checks the pixels around those that are measured. */
static CclStatus
check_around (
    const CclSumsPlan *plan, const uint32_t size[3], const uint64_t place[3], CclError *error)
{
  const uint64_t lengths[3] = {plan->width, plan->height, plan->depth ? plan->depth : 1};
  Around around[3];

  if (plan->depth == 0 && (plan->rows_before || plan->rows_after))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the rows of a frame are layers: it has no others");
  find_around (plan, around);
  for (int i = 0; i < 3; i++) {
    const Around *of = &around[i];
    if ((uint64_t)of->before + of->after >= size[i])
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "a chunk has no pixels to measure");
    const uint64_t before = place[i] + of->before;
    const uint64_t after = lengths[i] - place[i] - size[i] + of->after;
    if ((of->before < of->least_before && of->before < before) ||
        (of->after < of->least_after && of->after < after))
      return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
          "perimeters and topology need the pixels around those of the chunk");
  }
  return CUDACCL_OK;
}

/* Leaves pixels around out of what is measured. The map begins at y or z of the picture. */
static void
leave_out (const CclSumsPlan *plan, CclPartMap *map)
{
  const uint8_t *values = map->values;

  map->columns_before = plan->pixels_before;
  map->columns_after = plan->pixels_after;
  map->first_row = map->is_volume ? plan->rows_before : plan->layers_before;
  map->end_row -= map->is_volume ? plan->rows_after : plan->layers_after;
  if (map->is_volume) {
    map->first_slice = plan->layers_before;
    map->end_slice -= plan->layers_after;
  }
  map->y += map->first_row;
  map->z += map->first_slice;
  if (values)
    map->values = values + map->first_slice * map->value_slice_stride +
                  map->first_row * map->value_row_stride;
}

/* Converts the number of a pixel in its chunk, which has `width` columns and begins at column x, to
 * its number in the rows of the picture where the chunk begins. */
static uint64_t
moved_number (const CclSumsPlan *plan, uint64_t number, uint32_t width, uint64_t x)
{
  return number / width * plan->width + number % width + x;
}

static void
move_intensity (const CclSumsPlan *plan, Sums *sums, uint32_t width, uint64_t x)
{
  CclMeasures *m = &sums->measures;

  if (has_reals (plan)) {
    m->reals.sum_x += m->reals.sum * (double)x;
    m->reals.place = moved_number (plan, m->reals.place, width, x);
    return;
  }
  const uint64_t number = CUDACCL_PLACE_OF (m->intensity_max_place);
  m->sum_value_x += (CclWide)m->sum_value * x;
  m->intensity_max_place = CUDACCL_PLACED (m->intensity_max, moved_number (plan, number, width, x));
}

/* Replaces sums of columns that are counted from the chunk's first one. */
static void
move (const CclSumsPlan *plan, Sums *sums, uint32_t width, uint64_t x)
{
  CclPart *part = &sums->part;
  CclMeasures *m = &sums->measures;

  m->first = moved_number (plan, m->first, width, x);
  if (plan->columns & CUDACCL_COLUMN_MOMENTS) {
    m->sum_xx += 2 * (CclWide)x * part->sum_x + (CclWide)part->area * x * x;
    m->sum_xy += (CclWide)x * part->sum_y;
    m->sum_xz += (CclWide)x * part->sum_z;
  }
  if (plan->columns & CUDACCL_COLUMN_INTENSITY)
    move_intensity (plan, sums, width, x);
  part->sum_x += part->area * x;
  part->least_x += (uint32_t)x;
  part->greatest_x += (uint32_t)x;
}

CclStatus
ccl_sums_measure (const CclSumsPlan *plan, const CclVolumeLabels *labels, uint32_t width,
    uint32_t height, uint32_t depth, uint64_t x, uint64_t y, uint64_t z,
    const CclVolumeIntensity *intensity, uint32_t n, void *sums, CclError *error)
{
  CclPartMap map;
  CclStatus status = check_plan (plan, error);

  if (status == CUDACCL_OK)
    status = check_place (plan, (const uint32_t[]){width, height, depth},
        (const uint64_t[]){x, y, z}, intensity, error);
  if (status == CUDACCL_OK)
    status = check_around (
        plan, (const uint32_t[]){width, height, depth}, (const uint64_t[]){x, y, z}, error);
  if (status == CUDACCL_OK)
    status = ccl_measured_map_init (
        &map, labels, width, height, plan->depth ? depth : 0, intensity, plan->columns, error);
  if (status == CUDACCL_OK && n && !sums)
    status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the memory for sums is NULL");
  if (status != CUDACCL_OK || n == 0)
    return status;
  map.y = y;
  map.z = z;
  map.picture_height = plan->height;
  leave_out (plan, &map);
  CclPart *parts = malloc (n * sizeof *parts);
  CclMeasures *measures = calloc (n, sizeof *measures);
  if (!parts || !measures)
    status =
        ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "not enough memory to measure %u labels", n);
  else
    status = ccl_parts_measure (&map, plan->columns, n, parts, measures, error);
  for (uint32_t i = 0; i < n && status == CUDACCL_OK; i++) {
    Sums found = {measures[i], parts[i]};
    if (found.part.area)
      move (plan, &found, width, x);
    put_sums (sums, i, &found);
  }
  free (parts);
  free (measures);
  return status;
}

void
ccl_sums_clear (void *sums, size_t n)
{
  const Sums empty = {CCL_EMPTY_MEASURES, CCL_EMPTY_PART};
  for (size_t i = 0; i < n; i++)
    put_sums (sums, i, &empty);
}

void
ccl_sums_add (
    const CclSumsPlan *plan, void *sums, const void *others, const uint64_t *owners, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const Sums other = sums_at (others, i);
    Sums whole = sums_at (sums, owners[i]);
    ccl_part_add (&whole.part, &other.part);
    ccl_measures_add (&whole.measures, &other.measures, has_reals (plan));
    put_sums (sums, owners[i], &whole);
  }
}

void
ccl_sums_derive (const CclSumsPlan *plan, const void *sums, size_t n, CclTiledComponent *rows,
    CclVolumeShape *shapes)
{
  const CclMeasuredPicture picture = {plan->width, plan->height, plan->depth > 0, has_reals (plan)};

  for (size_t i = 0; i < n; i++) {
    const Sums found = sums_at (sums, i);
    const bool is_empty = found.part.area == 0;
    rows[i] = is_empty ? (CclTiledComponent){0} : part_row (&found.part, i + 1);
    if (plan->columns && !is_empty)
      ccl_measures_derive (&found.part, &found.measures, plan->columns, &picture, &shapes[i]);
  }
}
