/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* COCO's run-length encoding, in the form of maskApi.c of cocodataset/cocoapi (2014). */
#include "core/label/labeller-class.h"

#include <cudaccl/rle.h>

#include <stdlib.h>
#include <string.h>

/* A number of n bits takes a character for each 5 bits and the sign. */
enum { COUNT_CHARACTERS = 7 };

enum { SORT_PLACES = 1 << 16 };

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

/* A run of a label that is not 0. */
typedef struct Piece {
  uint32_t label, first, end; /* pixels */
} Piece;

/* Sorts by 16 bits of the labels, from the lowest bit `shift` on; equal ones stay in their order.
 */
static void
sort_pieces (const Piece *from, Piece *to, uint64_t n, int shift, uint32_t *places)
{
  uint32_t place = 0;

  memset (places, 0, SORT_PLACES * sizeof *places);
  for (uint64_t i = 0; i < n; i++)
    places[from[i].label >> shift & (SORT_PLACES - 1)]++;
  for (uint32_t key = 0; key < SORT_PLACES; key++) {
    const uint32_t count = places[key];
    places[key] = place;
    place += count;
  }
  for (uint64_t i = 0; i < n; i++)
    to[places[from[i].label >> shift & (SORT_PLACES - 1)]++] = from[i];
}

/* Whether a label has more than 16 bits. */
static bool
has_long_labels (const Piece *pieces, uint64_t n)
{
  uint32_t bits = 0;

  for (uint64_t i = 0; i < n; i++)
    bits |= pieces[i].label;
  return bits >> 16 != 0;
}

/* Lists the runs of labels; returns their number, or UINT64_MAX if they are not in order. */
static uint64_t
list_pieces (const CclLabelRun *runs, uint64_t n, uint64_t n_pixels, Piece *pieces)
{
  uint64_t n_pieces = 0;

  for (uint64_t i = 0; i < n; i++) {
    const uint64_t end = i + 1 < n ? runs[i + 1].first : n_pixels;
    if (end <= runs[i].first || end > n_pixels)
      return UINT64_MAX;
    if (i > 0 && runs[i].label == runs[i - 1].label && runs[i].label)
      pieces[n_pieces - 1].end = (uint32_t)end;
    else if (runs[i].label)
      pieces[n_pieces++] = (Piece){runs[i].label, runs[i].first, (uint32_t)end};
  }
  return n_pieces;
}

/* Writes the counts of the pieces, which are sorted. */
static void
count_pieces (const Piece *pieces, uint64_t n, uint64_t n_pixels, CclRleMasks *masks)
{
  RunCounter counter = {.counts = masks->counts};

  for (uint64_t i = 0; i < n; i++) {
    const bool is_first = i == 0 || pieces[i].label != pieces[i - 1].label;
    const bool is_last = i + 1 == n || pieces[i].label != pieces[i + 1].label;
    if (is_first) {
      masks->first_count[masks->n_masks] = counter.n;
      masks->labels[masks->n_masks++] = pieces[i].label;
      counter.begin = 0;
    }
    end_run (&counter, pieces[i].first);
    end_run (&counter, pieces[i].end);
    if (is_last && pieces[i].end < n_pixels)
      end_run (&counter, n_pixels);
  }
  masks->first_count[masks->n_masks] = counter.n;
}

static CclStatus
allocate_masks (CclRleMasks *masks, uint64_t n, CclError *error)
{
  masks->labels = malloc ((n + 1) * sizeof *masks->labels);
  masks->first_count = malloc ((n + 1) * sizeof *masks->first_count);
  masks->counts = malloc ((3 * n + 1) * sizeof *masks->counts);
  if (masks->labels && masks->first_count && masks->counts)
    return CUDACCL_OK;
  ccl_rle_masks_free (masks);
  return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "no host memory for run lengths");
}

CclStatus
ccl_rle_group_runs (
    const CclLabelRun *runs, uint64_t n, uint64_t n_pixels, CclRleMasks *masks, CclError *error)
{
  if (!masks || (n > 0 && !runs) || n_pixels > CUDACCL_MAX_PIXELS || n > n_pixels)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "masks, and runs of at most %u pixels are needed", CUDACCL_MAX_PIXELS);
  *masks = (CclRleMasks){0};
  Piece *pieces = malloc ((2 * n + 1) * sizeof *pieces), *other = pieces ? pieces + n : NULL;
  uint32_t *places = malloc (SORT_PLACES * sizeof *places);
  CclStatus status = !pieces || !places ? ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
                                              "no host memory for run lengths")
                                        : CUDACCL_OK;
  const uint64_t n_pieces = status == CUDACCL_OK ? list_pieces (runs, n, n_pixels, pieces) : 0;
  if (n_pieces == UINT64_MAX)
    status = ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "runs must be in ascending order and inside the map");
  if (status == CUDACCL_OK)
    status = allocate_masks (masks, n_pieces, error);
  if (status == CUDACCL_OK) {
    sort_pieces (pieces, other, n_pieces, 0, places);
    if (has_long_labels (pieces, n_pieces))
      sort_pieces (other, pieces, n_pieces, 16, places);
    count_pieces (has_long_labels (pieces, n_pieces) ? pieces : other, n_pieces, n_pixels, masks);
  }
  free (pieces);
  free (places);
  return status;
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

/* From the fourth count on, the difference from the last count but one is written, in characters of
 * 5 bits, the lowest first, with a bit that tells that more follow. */
uint64_t
ccl_rle_compress (const uint32_t *counts, uint64_t n, char *text)
{
  uint64_t length = 0;

  for (uint64_t i = 0; i < n; i++) {
    int64_t rest = (int64_t)counts[i] - (i > 2 ? counts[i - 2] : 0);
    bool has_more;
    do {
      const uint32_t bits = rest & 0x1f;
      rest >>= 5;
      has_more = bits & 0x10 ? rest != -1 : rest != 0;
      text[length++] = (char)(48 + (bits | (has_more ? 0x20 : 0)));
    } while (has_more);
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
