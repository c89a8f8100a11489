/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The serial and the MPI labeller of Bester and Pulles, "Connected-Components Labeling" (slides).
 * Serial: a union-find array with an element for each pixel, a scan that unites each pixel with its
 * neighbours before it, and a scan that replaces each element by its root. MPI: the first process
 * scatters blocks of rows, each process labels its block, and the first one gathers the labels,
 * unites them across the seams and replaces them by their roots again. Here the processes are
 * threads that copy between memory of their own, as MPI does on one machine. */
#include "implementation.h"
#include "core/label/labeller-class.h"
#include "cpu/base/workers.h"

#include <string.h>

/* A process. */
typedef struct Block {
  uint32_t first_row, n_rows;
  uint8_t *pixels;  /* NULL: the input's */
  uint32_t *labels; /* of the block: 0, or 1 + the index of a pixel */
} Block;

typedef struct Slides {
  Implementation head;
  const Input *input;
  Workers *workers;
  Block *blocks; /* [head.threads] */
  uint32_t *labels;
} Slides;

static uint32_t
find_root (uint32_t *labels, uint32_t label)
{
  uint32_t root = label;
  while (labels[root - 1] != root)
    root = labels[root - 1];
  while (labels[label - 1] != root) {
    const uint32_t next = labels[label - 1];
    labels[label - 1] = root;
    label = next;
  }
  return root;
}

static void
unite (uint32_t *labels, uint32_t a, uint32_t b)
{
  a = find_root (labels, a);
  b = find_root (labels, b);
  labels[MAX (a, b) - 1] = MIN (a, b);
}

/* Unites the pixels of a row with those of the row above. */
static void
unite_rows (uint32_t *labels, uint32_t width, uint32_t row)
{
  for (uint32_t x = 0; x < width; x++) {
    const uint32_t pixel = row * width + x;
    if (!labels[pixel])
      continue;
    for (uint32_t above = x ? x - 1 : 0; above <= x + 1 && above < width; above++)
      if (labels[pixel - width - x + above])
        unite (labels, pixel - width - x + above + 1, pixel + 1);
  }
}

static void
label_block (const uint8_t *pixels, uint32_t *labels, uint32_t width, uint32_t n_rows)
{
  const uint32_t n = width * n_rows;

  for (uint32_t i = 0; i < n; i++)
    labels[i] = pixels[i] ? i + 1 : 0;
  for (uint32_t y = 0; y < n_rows; y++) {
    for (uint32_t i = y * width + 1; i < (y + 1) * width; i++)
      if (labels[i] && labels[i - 1])
        unite (labels, i, i + 1);
    if (y)
      unite_rows (labels, width, y);
  }
  for (uint32_t i = 0; i < n; i++)
    if (labels[i])
      labels[i] = find_root (labels, i + 1);
}

/* The work of one process, with the copies of MPI. */
static void
run_block (void *data, uint32_t index)
{
  Slides *slides = data;
  const Block *block = &slides->blocks[index];
  const uint32_t width = slides->input->width, first = block->first_row * width;
  const uint32_t n = width * block->n_rows;

  if (!n)
    return;
  memcpy (block->pixels, slides->input->pixels + first, n);
  label_block (block->pixels, block->labels, width, block->n_rows);
  for (uint32_t i = 0; i < n; i++)
    slides->labels[first + i] = block->labels[i] ? block->labels[i] + first : 0;
}

static CclStatus
slides_run (Implementation *implementation, CclError *error)
{
  Slides *slides = (Slides *)implementation;
  const Input *input = slides->input;

  if (!slides->workers) {
    label_block (input->pixels, slides->labels, input->width, input->height);
    return CUDACCL_OK;
  }
  workers_run (slides->workers, run_block, slides);
  for (unsigned i = 1; i < implementation->threads; i++)
    if (slides->blocks[i].n_rows && slides->blocks[i].first_row)
      unite_rows (slides->labels, input->width, slides->blocks[i].first_row);
  for (uint32_t i = 0; i < input->width * input->height; i++)
    if (slides->labels[i])
      slides->labels[i] = find_root (slides->labels, i + 1);
  return CUDACCL_OK;
}

static void
slides_release (Implementation *implementation)
{
  Slides *slides = (Slides *)implementation;

  for (unsigned i = 0; slides->blocks && i < implementation->threads; i++) {
    g_free (slides->blocks[i].pixels);
    g_free (slides->blocks[i].labels);
  }
  g_clear_pointer (&slides->blocks, g_free);
  g_clear_pointer (&slides->labels, g_free);
  g_clear_pointer (&slides->workers, workers_free);
}

static CclStatus
slides_prepare (Implementation *implementation, const Input *input, CclError *error)
{
  Slides *slides = (Slides *)implementation;
  const unsigned n = implementation->threads;

  if (input->depth > 1)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "images only");
  slides->input = input;
  slides->labels = g_malloc (4 * input_n_pixels (input));
  if (g_str_equal (implementation->algorithm, "slides-mpi")) {
    slides->workers = workers_new (n);
    if (!slides->workers)
      return ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY, "%u threads cannot be started", n);
    slides->blocks = g_new0 (Block, n);
    for (unsigned i = 0; i < n; i++) {
      Block *block = &slides->blocks[i];
      block->first_row = (uint32_t)((uint64_t)input->height * i / n);
      block->n_rows = (uint32_t)((uint64_t)input->height * (i + 1) / n) - block->first_row;
      block->pixels = g_malloc ((size_t)input->width * block->n_rows);
      block->labels = g_malloc (4 * (size_t)input->width * block->n_rows);
    }
  }
  return slides_run (implementation, error);
}

static CclStatus
slides_fetch (Implementation *implementation, Labelling *labelling, CclError *error)
{
  const Slides *slides = (Slides *)implementation;

  *labelling = (Labelling){
      .labels = g_memdup2 (slides->labels, 4 * input_n_pixels (slides->input)),
      .is_raw = true,
  };
  return CUDACCL_OK;
}

static void
add (GPtrArray *implementations, const ImplementationSettings *settings, const char *algorithm,
    unsigned threads)
{
  static const ImplementationClass klass = {
      .prepare = slides_prepare,
      .run = slides_run,
      .fetch = slides_fetch,
      .release = slides_release,
  };
  Slides *slides;

  if (!implementation_is_wanted (settings, algorithm, DELIVER_RAW_LABELS, true))
    return;
  slides = g_new0 (Slides, 1);
  slides->head = (Implementation){
      .klass = &klass,
      .device = "cpu",
      .maker = "Bester and Pulles",
      .algorithm = algorithm,
      .delivery = DELIVER_RAW_LABELS,
      .threads = threads,
  };
  g_ptr_array_add (implementations, slides);
}

void
implementations_add_slides (GPtrArray *implementations, const ImplementationSettings *settings)
{
  if (settings->connectivity != CUDACCL_CONNECTIVITY_8 ||
      (settings->only_chosen && !settings->algorithms))
    return;
  add (implementations, settings, "slides-serial", 1);
  for (unsigned t = 0; t < settings->n_threads; t++)
    add (implementations, settings, "slides-mpi", settings->threads[t]);
}
