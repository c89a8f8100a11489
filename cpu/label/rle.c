/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* COCO's run-length encoding, in the form of maskApi.c of cocodataset/cocoapi (2014). */
#include "core/label/labeller-class.h"

#include <cudaccl/rle.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A number of n bits takes a character for each 5 bits and the sign. */
enum { COUNT_CHARACTERS = 7 };

uint64_t
ccl_rle_most_counts (const CclComponent *row)
{
  return ((uint64_t)row->height + 1) * row->width + 1;
}

/* Counts of alternating runs. */
typedef struct RunCounter {
  uint32_t *counts;
  uint64_t n;     /* complete counts */
  uint64_t begin; /* of the present run, in pixels */
} RunCounter;

static inline void
end_run (RunCounter *counter, uint64_t here)
{
  counter->counts[counter->n++] = (uint32_t)(here - counter->begin);
  counter->begin = here;
}

uint64_t
ccl_rle_encode (const CclLabels *labels, uint32_t width, uint32_t height, const CclComponent *row,
    uint32_t *counts)
{
  RunCounter counter = {.counts = counts};

  for (uint32_t x = row->x; x < row->x + row->width; x++) {
    const uint64_t column = (uint64_t)x * height;
    const uint8_t *pixel = (const uint8_t *)labels->data + row->y * labels->stride + 4 * (size_t)x;
    for (uint32_t y = row->y; y < row->y + row->height; y++, pixel += labels->stride) {
      const bool is_foreground = *(const uint32_t *)pixel == row->label;
      if (is_foreground != (counter.n & 1))
        end_run (&counter, column + y);
    }
    /* Between the columns of the box is background, unless it has the mask's height. */
    if (counter.n & 1 && row->height < height)
      end_run (&counter, column + row->y + row->height);
  }
  if (counter.n & 1)
    end_run (&counter, ((uint64_t)row->x + row->width) * height);
  if (counter.begin < (uint64_t)width * height)
    end_run (&counter, (uint64_t)width * height);
  return counter.n;
}

/* The state of a mask whose counts are being written. */
typedef struct MaskState {
  uint32_t label;
  uint32_t n_runs;
  uint32_t end;  /* the pixel after the latest run */
  uint64_t next; /* where the next count goes */
} MaskState;

/* The states of the labels that runs have. */
typedef struct MaskStates {
  MaskState *states; /* [n], in order of labels */
  uint32_t n;
  uint32_t greatest; /* label */
  bool is_by_label;  /* the state of label l is at l; otherwise it is searched for */
} MaskStates;

static int
compare_labels (const void *a, const void *b)
{
  const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  return (one > other) - (one < other);
}

/* Lists the labels of runs, sorted, when they are few among the possible ones. Returns how many. */
static uint32_t
list_labels (const CclLabelRun *runs, uint64_t n, uint32_t *labels)
{
  uint32_t n_kept = 0;

  for (uint64_t i = 0; i < n; i++)
    labels[i] = runs[i].label;
  qsort (labels, n, sizeof *labels, compare_labels);
  for (uint64_t i = 0; i < n; i++)
    if (labels[i] && (n_kept == 0 || labels[i] != labels[n_kept - 1]))
      labels[n_kept++] = labels[i];
  return n_kept;
}

/* Makes the states of labels without runs. Returns false without memory. */
static bool
make_states (MaskStates *self, const CclLabelRun *runs, uint64_t n)
{
  self->is_by_label = self->greatest <= 4 * n + 1024;
  uint32_t *labels = self->is_by_label ? NULL : malloc (n * sizeof *labels);
  if (!self->is_by_label && !labels)
    return false;
  self->n = labels ? list_labels (runs, n, labels) : self->greatest + 1;
  self->states = calloc ((size_t)self->n + 1, sizeof *self->states);
  for (uint32_t i = 0; i < self->n && self->states; i++)
    self->states[i].label = labels ? labels[i] : i;
  free (labels);
  return self->states != NULL;
}

static inline MaskState *
state_of (const MaskStates *self, uint32_t label)
{
  if (self->is_by_label)
    return &self->states[label];
  return bsearch (&label, self->states, self->n, sizeof *self->states, compare_labels);
}

/* The pixel after a run. */
static inline uint64_t
end_of (const CclLabelRun *runs, uint64_t n, uint64_t n_pixels, uint64_t i)
{
  return i + 1 < n ? runs[i + 1].first : n_pixels;
}

/* Whether the runs are in order. Finds the greatest label. */
static bool
check_runs (const CclLabelRun *runs, uint64_t n, uint64_t n_pixels, uint32_t *greatest)
{
  bool is_ordered = n == 0 || runs[n - 1].first < n_pixels;

  *greatest = n > 0 ? runs[n - 1].label : 0;
  for (uint64_t i = 0; i + 1 < n; i++) {
    is_ordered &= runs[i].first < runs[i + 1].first;
    *greatest = runs[i].label > *greatest ? runs[i].label : *greatest;
  }
  return is_ordered;
}

/* Whether a run goes on with the label of the one before. */
static inline bool
goes_on (const CclLabelRun *runs, uint64_t i)
{
  return i > 0 && runs[i].label == runs[i - 1].label;
}

/* Finds how many counts each mask has: two for each run, and one for the background behind it. */
static void
place_masks (const MaskStates *self, const CclLabelRun *runs, uint64_t n, CclRleMasks *masks)
{
  uint64_t place = 0;

  for (uint64_t i = 0; i < n; i++)
    if (runs[i].label && !goes_on (runs, i))
      state_of (self, runs[i].label)->n_runs++;
  for (uint32_t i = 0; i < self->n; i++) {
    MaskState *state = &self->states[i];
    if (state->n_runs == 0)
      continue;
    masks->labels[masks->n_masks] = state->label;
    masks->first_count[masks->n_masks++] = state->next = place;
    place += 2 * (uint64_t)state->n_runs + (state->label != runs[n - 1].label);
  }
  masks->first_count[masks->n_masks] = place;
}

static void
count_runs (const MaskStates *self, const CclLabelRun *runs, uint64_t n, uint64_t n_pixels,
    uint32_t *counts)
{
  for (uint64_t i = 0; i < n; i++) {
    const uint32_t end = (uint32_t)end_of (runs, n, n_pixels, i);
    if (!runs[i].label)
      continue;
    MaskState *state = state_of (self, runs[i].label);
    if (goes_on (runs, i)) {
      counts[state->next - 1] += end - state->end;
    } else {
      counts[state->next++] = runs[i].first - state->end;
      counts[state->next++] = end - runs[i].first;
    }
    state->end = end;
  }
  for (uint32_t i = 0; i < self->n; i++)
    if (self->states[i].n_runs && self->states[i].end < n_pixels)
      counts[self->states[i].next] = (uint32_t)n_pixels - self->states[i].end;
}

static bool
allocate_masks (CclRleMasks *masks, uint64_t n_runs, uint64_t n_labels)
{
  masks->labels = malloc ((n_labels + 1) * sizeof *masks->labels);
  masks->first_count = malloc ((n_labels + 1) * sizeof *masks->first_count);
  masks->counts = malloc ((3 * n_runs + 1) * sizeof *masks->counts);
  return masks->labels && masks->first_count && masks->counts;
}

CclStatus
ccl_rle_group_runs (
    const CclLabelRun *runs, uint64_t n, uint64_t n_pixels, CclRleMasks *masks, CclError *error)
{
  MaskStates found = {0};

  if (!masks || (n > 0 && !runs) || n_pixels > CUDACCL_MAX_PIXELS || n > n_pixels)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "masks, and runs of at most %u pixels are needed", CUDACCL_MAX_PIXELS);
  *masks = (CclRleMasks){0};
  if (!check_runs (runs, n, n_pixels, &found.greatest))
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "runs must be in ascending order and inside the map");
  if (!make_states (&found, runs, n) || !allocate_masks (masks, n, found.n)) {
    free (found.states);
    ccl_rle_masks_free (masks);
    return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for run lengths");
  }
  masks->first_count[0] = 0;
  if (n > 0) {
    place_masks (&found, runs, n, masks);
    count_runs (&found, runs, n, n_pixels, masks->counts);
  }
  free (found.states);
  return CUDACCL_OK;
}

void
ccl_rle_masks_free (CclRleMasks *masks)
{
  if (!masks)
    return;
  free (masks->labels);
  free (masks->first_count);
  free (masks->counts);
  *masks = (CclRleMasks){0};
}

CclStatus
ccl_rle_decode (const uint32_t *counts, uint64_t n, uint32_t width, uint32_t height, uint8_t *mask,
    size_t stride, CclError *error)
{
  const uint64_t n_pixels = (uint64_t)width * height;
  uint64_t sum = 0;
  uint32_t x = 0, y = 0;

  if ((!counts && n) || (!mask && n_pixels))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "counts and mask must not be NULL");
  for (uint64_t i = 0; i < n; i++) {
    sum += counts[i];
    if (sum > n_pixels)
      break;
    for (uint32_t j = 0; j < counts[i]; j++) {
      mask[y * stride + x] = i & 1;
      if (++y == height) {
        y = 0;
        x++;
      }
    }
  }
  if (sum != n_pixels)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the counts do not add up to the %u×%u pixels of the mask", width, height);
  return CUDACCL_OK;
}

uint64_t
ccl_rle_most_characters (uint64_t n)
{
  return COUNT_CHARACTERS * n + 1;
}

/* The lowest 35 bits of a number, five to a byte. */
static inline uint64_t
spread_bits (uint64_t number)
{
  number = (number & 0xfffff) | (number >> 20 & 0x7fff) << 32;
  number = (number & 0x000003ff000003ff) | (number & 0x000ffc00000ffc00) << 6;
  return (number & 0x001f001f001f001f) | (number & 0x03e003e003e003e0) << 3;
}

/* From the fourth count on, the difference from the last count but one is written, in characters of
 * 5 bits, the lowest first, with a bit that tells that more follow. Eight characters are
 * stored at once, for which there is room behind the last count, too. */
uint64_t
ccl_rle_compress (const uint32_t *counts, uint64_t n, char *text)
{
  uint64_t length = 0;

  for (uint64_t i = 0; i < n; i++) {
    const int64_t number = (int64_t)counts[i] - (i > 2 ? counts[i - 2] : 0);
    if (number >= -16 && number < 16) { /* most, where columns are like those before */
      text[length++] = (char)((number & 31) + 48);
      continue;
    }
    const uint64_t without_sign = (uint64_t)(number ^ number >> 63);
    const uint32_t n_bits = 64 - (uint32_t)__builtin_clzll (without_sign << 1 | 1);
    const uint32_t n_characters = (n_bits + 4) / 5;
    const uint64_t more = 0x2020202020202020 & ((UINT64_C (1) << 8 * (n_characters - 1)) - 1);
    const uint64_t characters =
        htole64 (spread_bits ((uint64_t)number) + 0x3030303030303030 + more);
    memcpy (text + length, &characters, sizeof characters);
    length += n_characters;
  }
  text[length] = '\0';
  return length;
}

static CclStatus
set_no_count (CclError *error, uint64_t place)
{
  return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
      "character %llu is not part of a compressed count", (unsigned long long)place);
}

CclStatus
ccl_rle_decompress (
    const char *text, uint64_t length, uint32_t *counts, uint64_t *n, CclError *error)
{
  if ((!text && length) || !counts || !n)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "text, counts and n must not be NULL");
  *n = 0;
  for (uint64_t i = 0; i < length;) {
    int64_t value = 0;
    uint32_t character, shift = 0;
    do {
      character = (uint32_t)(uint8_t)text[i] - 48;
      if (character > 0x3f || shift >= 5 * COUNT_CHARACTERS || i >= length)
        return set_no_count (error, i);
      value |= (int64_t)(character & 0x1f) << shift;
      shift += 5;
      i++;
    } while (character & 0x20 && i < length);
    if (character & 0x20)
      return set_no_count (error, i - 1);
    if (character & 0x10)
      value -= INT64_C (1) << shift;
    if (*n > 2)
      value += counts[*n - 2];
    if (value < 0 || value > UINT32_MAX)
      return set_no_count (error, i - 1);
    counts[(*n)++] = (uint32_t)value;
  }
  return CUDACCL_OK;
}
