/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclsampleruns.h"

#include <string.h>

#define WORD 64 /* pixels */

void
gst_ccl_sample_runs_clear (GstCclSampleRuns *self)
{
  g_free (self->pixels);
  g_free (self->bits);
  g_free (self->runs);
  g_free (self->parts);
  *self = (GstCclSampleRuns){0};
}

void
gst_ccl_sample_runs_set_size (GstCclSampleRuns *self, guint width, guint height)
{
  if (self->runs && self->width == width && self->height == height)
    return;
  gst_ccl_sample_runs_clear (self);
  self->width = width;
  self->height = height;
  self->pixels = g_malloc0 (width + WORD);
  self->bits = g_new0 (guint64, gst_ccl_sampled (width, WORD));
  self->runs = g_new (GstCclRun, (gsize)gst_ccl_sampled (width, 2) * height);
  self->parts = g_new (GstCclPart, GST_CCL_MAX_PARTS);
}

/* Copies the pixels of a row, one byte each: 0 for background. Compilers vectorise the loop where
 * the distance between pixels is constant. */
static inline void
take_bytes (
    const guint8 *row, gsize distance, guint8 least, guint8 background, gsize width, guint8 *pixels)
{
  for (gsize x = 0; x < width; x++)
    pixels[x] = (row[x * distance] > least) ^ background;
}

static void
take_row (const GstCclSample *sample, const guint8 *row, guint width, guint8 *pixels)
{
  const guint least = MIN (sample->threshold, G_MAXUINT16);
  const guint8 background = sample->invert ? 1 : 0;
  const guint distance = sample->distance * gst_ccl_sample_pixel_size (sample->format);

  if (sample->format == CUDACCL_PIXEL_FORMAT_16) {
    for (guint x = 0; x < width; x++, row += distance)
      pixels[x] = ((guint)(row[0] | row[1] << 8) > least) ^ background;
    return;
  }
  if (sample->format == CUDACCL_PIXEL_FORMAT_8_SECOND)
    row++;
  if (distance == 1)
    take_bytes (row, 1, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
  else if (distance == 2)
    take_bytes (row, 2, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
  else if (distance == 4)
    take_bytes (row, 4, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
  else
    take_bytes (row, distance, (guint8)MIN (least, G_MAXUINT8), background, width, pixels);
}

/* Packs pixels of 0 or 1 into bits, the first one into the lowest. The product has the sum of a
 * word's bytes, each moved to a bit of its own, in the highest byte. */
static guint64
pack (const guint8 pixels[WORD])
{
  guint64 words[WORD / 8], any = 0, bits = 0;

  memcpy (words, pixels, sizeof words);
  for (guint i = 0; i < WORD / 8; i++)
    any |= words[i];
  if (!any)
    return 0;
  for (guint i = 0; i < WORD / 8; i++)
    bits |= (GUINT64_FROM_LE (words[i]) * G_GUINT64_CONSTANT (0x0102040810204080) >> 56) << 8 * i;
  return bits;
}

/* Reads the bits of a row. */
static void
take_bits (GstCclSampleRuns *self, const GstCclSample *sample, const guint8 *row)
{
  const guint n_words = gst_ccl_sampled (self->width, WORD);

  if (!sample->is_bits) {
    take_row (sample, row, self->width, self->pixels);
    for (guint i = 0; i < n_words; i++)
      self->bits[i] = pack (self->pixels + i * WORD);
    return;
  }
  for (guint i = 0; i < n_words; i++) {
    const gboolean is_half = self->width - i * WORD <= 32;
    guint64 word = 0; /* rows are multiples of 4 bytes, so it may have any address */

    memcpy (&word, row + 8 * i, is_half ? 4 : 8);
    self->bits[i] = GUINT64_FROM_LE (word);
  }
}

/* Adds the runs of row y of bits. They begin and end where a pixel differs from the one before
 * it. */
static void
add_runs (GstCclSampleRuns *self, guint y)
{
  GstCclRun *run = self->runs + self->n_runs;
  gboolean is_open = FALSE;
  guint64 before = 0;

  for (guint x = 0; x < self->width; x += WORD) {
    const guint64 bits = self->bits[x / WORD];

    for (guint64 edges = bits ^ (bits << 1 | before); edges; edges &= edges - 1) {
      const guint at = x + (guint)__builtin_ctzll (edges);

      if (is_open)
        run++->end = at;
      else
        *run = (GstCclRun){.y = y, .begin = at};
      is_open = !is_open;
    }
    before = bits >> (WORD - 1);
  }
  if (is_open)
    run++->end = self->width;
  self->n_runs = (guint)(run - self->runs);
}

/* While components are joined, the `part` of a run is an earlier run of the same component; that of
 * the first run is the run itself. */
static guint
find_first (GstCclRun *runs, guint i)
{
  while (runs[i].part != i)
    i = runs[i].part = runs[runs[i].part].part;
  return i;
}

static void
join (GstCclRun *runs, guint i, guint k)
{
  const guint a = find_first (runs, i), b = find_first (runs, k);

  runs[MAX (a, b)].part = MIN (a, b);
}

/* Joins the runs of a row, from begin on, with those of the row before that touch them: from
 * `above` to before begin. */
static void
join_rows (GstCclSampleRuns *self, guint above, guint begin, guint reach)
{
  GstCclRun *runs = self->runs;

  for (guint i = begin; i < self->n_runs; i++) {
    runs[i].part = i;
    while (above < begin && runs[above].end + reach <= runs[i].begin)
      above++;
    for (guint k = above; k < begin && runs[k].begin < runs[i].end + reach; k++)
      join (runs, i, k);
  }
}

/* Numbers the components in the order of their first runs, and measures their boxes. */
static void
number_parts (GstCclSampleRuns *self)
{
  self->n_parts = 0;
  for (guint i = 0; i < self->n_runs; i++) {
    GstCclRun *run = &self->runs[i];
    GstCclPart *part;

    if (run->part != i) /* a run before it, whose part has its number by now */
      run->part = self->runs[run->part].part;
    else if (self->n_parts == GST_CCL_MAX_PARTS)
      run->part = GST_CCL_NO_PART;
    else {
      run->part = self->n_parts++;
      self->parts[run->part] = (GstCclPart){run->begin, run->y, run->end, run->y + 1};
    }
    if (run->part == GST_CCL_NO_PART)
      continue;
    part = &self->parts[run->part];
    part->left = MIN (part->left, run->begin);
    part->right = MAX (part->right, run->end);
    part->bottom = run->y + 1;
  }
}

void
gst_ccl_sample_runs_find (GstCclSampleRuns *self, const GstCclSample *sample, const guint8 *rows)
{
  const guint reach = sample->connectivity == CUDACCL_CONNECTIVITY_8 ? 1 : 0;
  guint above = 0;

  self->n_runs = 0;
  for (guint y = 0; y < self->height; y++) {
    const guint begin = self->n_runs;

    take_bits (self, sample, rows + y * sample->stride);
    add_runs (self, y);
    join_rows (self, above, begin, reach);
    above = begin;
  }
  number_parts (self);
}
