/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The project's own algorithm: plans, threads, and the steps of a frame. runs.h labels a band.
 *
 * The rows are divided into bands, several per thread, as some take longer than others. The bands
 * of a thread follow each other; a thread that has done its own takes bands of the others.
 *
 *   1. The threads label bands: runs get provisional labels, and sums are added up. The thread
 *      that labels the last of a thread's bands merges them.
 *   2. One thread merges what the threads have merged. It numbers the roots that pass the area
 *      filter; if there are many labels, all threads do, band by band, and one joins the numbers.
 *   3. For each band, a thread fills a part of the table and, with a label map, writes the band's
 *      rows from the runs.
 *
 * Each pixel is read once.
 */
#include "algorithms.h"
#include "core/base/divide-up.h"
#include "cpu/base/errors.h"
#include "core/label/component-row.h"
#include "cpu/base/instructions.h"
#include "runs-labeller.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With fewer pixels, waking a thread takes longer than its work. */
#define DEFAULT_PIXELS_PER_THREAD 1000000

/* The bands of a thread, in eighths of its rows: the last ones are small, so that threads end at
 * about the same time. A thread with fewer strips than eight has one band. */
#define BANDS_PER_THREAD 4
static const uint32_t band_ends[BANDS_PER_THREAD + 1] = {0, 4, 6, 7, 8};

/* With fewer rows of the table and no label map, one thread fills it. */
#define MIN_SHARED_ROWS 4096

/* With fewer provisional labels than a thread's pixels divided by this, one thread numbers the
 * components. */
#define PIXELS_PER_SHARED_LABEL 32

/* A label map of more than this part of the third-level cache, in quarters, is written past the
 * caches, because they would read its memory before they write it. */
#define MAX_CACHED_QUARTERS 3

/* The best code for this processor, or the code for the named instructions; NULL without any. */
static const RunLabeller *
choose_runs (const char *instructions)
{
  static const RunLabeller *const all[] = {
#if HAVE_X86_64
    &run_labeller_avx512,
    &run_labeller_avx2,
#elif HAVE_AARCH64
    &run_labeller_neon,
#endif
    &run_labeller_portable,
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (instructions_fit (all[i]->name, instructions))
      return all[i];
  return NULL;
}

static uint64_t *
lay_out_words (Layout *layout, size_t n)
{
  /* A word of zeros lies before the first word of a row. */
  uint64_t *words = lay_out_zeros (layout, n + 1, sizeof (uint64_t));
  return words ? words + 1 : NULL;
}

static void
lay_out_scratch (Layout *layout, Scratch *scratch, size_t n_words)
{
  /* Runs are at least two columns apart, links one. */
  const size_t n_runs = 32 * n_words + LIST_MARGIN;
  const size_t n_links = 64 * n_words + LIST_MARGIN;

  scratch->touching = lay_out (layout, n_words, sizeof *scratch->touching);
  scratch->touching_words =
      lay_out_zeros (layout, n_words / 64 + 1, sizeof *scratch->touching_words);
  scratch->links_above = lay_out (layout, n_links, sizeof *scratch->links_above);
  scratch->links_below = lay_out (layout, n_links, sizeof *scratch->links_below);
  for (int i = 0; i < 2; i++)
    scratch->same_labels[i] = lay_out (layout, n_links, sizeof *scratch->same_labels[i]);
  scratch->top_runs = lay_out (layout, n_runs / 8 + 8, sizeof *scratch->top_runs);
  scratch->firsts = lay_out (layout, n_runs, sizeof *scratch->firsts);
  scratch->lasts = lay_out (layout, n_runs, sizeof *scratch->lasts);
  scratch->span_labels = lay_out (layout, n_runs, sizeof *scratch->span_labels);
  /* Vector code reads some more than it has written, as indices. */
  scratch->span_firsts = lay_out_zeros (layout, n_runs, sizeof *scratch->span_firsts);
  scratch->span_lasts = lay_out (layout, n_runs + 16, sizeof *scratch->span_lasts);
  if (scratch->span_lasts)
    scratch->span_lasts += 16;
  scratch->word_counts = lay_out (layout, n_words + LIST_MARGIN, sizeof *scratch->word_counts);
  scratch->counts_before_span = lay_out (layout, n_runs, sizeof *scratch->counts_before_span);
  scratch->span_sums = lay_out (layout, n_runs, sizeof *scratch->span_sums);
  scratch->sums_before_span = lay_out (layout, n_runs, sizeof *scratch->sums_before_span);
  scratch->final_labels = lay_out (layout, n_runs + LIST_MARGIN, sizeof *scratch->final_labels);
  if (scratch->final_labels)
    scratch->final_labels += LIST_MARGIN;
  for (int i = 0; i < 2; i++)
    scratch->label_rows[i] = lay_out (layout, 64 * n_words, sizeof *scratch->label_rows[i]);
}

static void
lay_out_band (Layout *layout, const Job *job, Band *band)
{
  const size_t n_rows = band->end_row - band->first_row;
  const size_t n_strips = divide_up (n_rows, job->rows_per_strip);
  const size_t max_runs = divide_up (job->width, 2); /* of a strip */

  for (int i = 0; i < N_SLOTS; i++) {
    Strip *slot = &band->slots[i];
    slot->top = lay_out_words (layout, job->words_per_row);
    slot->bottom =
        job->rows_per_strip == 2 ? lay_out_words (layout, job->words_per_row) : slot->top;
    slot->starts = lay_out_words (layout, job->words_per_row);
    slot->ends = lay_out_words (layout, job->words_per_row);
    slot->occupied = lay_out_zeros (layout, job->n_words / 64 + 1, sizeof *slot->occupied);
    slot->runs_before = lay_out (layout, job->words_per_row, sizeof *slot->runs_before);
    slot->labels = lay_out (layout, max_runs + LIST_MARGIN, sizeof *slot->labels);
  }
  band->pixels =
      lay_out_words (layout, n_strips * job->rows_per_strip * job->words_per_row + LIST_MARGIN);
  band->run_counts = lay_out (layout, n_strips, sizeof *band->run_counts);
  band->run_labels =
      lay_out (layout, n_strips * max_runs + 2 * LIST_MARGIN, sizeof *band->run_labels);
  if (band->run_labels)
    band->run_labels += LIST_MARGIN;
}

/* Only a run that touches no run above gets a new label. The first pixels of two such runs are
 * never neighbours, so there is at most one label for two pixels, with 8 neighbours for four. */
static uint32_t
max_labels (const Job *job, const Band *band)
{
  const uint64_t n_rows = band->end_row - band->first_row;
  if (job->rows_per_strip == 2)
    return (uint32_t)(divide_up (job->width, 2) * divide_up (n_rows, 2));
  return (uint32_t)divide_up (job->width * n_rows, 2);
}

/* Whether columns are measured from the runs. */
static bool
measures (const CclLabellerPlan *plan)
{
  return plan->columns && plan->connectivity == CUDACCL_CONNECTIVITY_8;
}

static void
lay_out_everything (Layout *layout, void *data)
{
  CpuLabeller *self = data;
  const CclLabellerPlan *plan = &self->base.plan;
  Forest *forest = &self->job.forest;
  uint32_t n_labels = 0;

  for (uint32_t i = 0; i < self->n_threads; i++)
    lay_out_scratch (layout, &self->shares[i].scratch, self->job.n_words);
  for (uint32_t i = 0; i < self->n_bands; i++) {
    Band *band = &self->bands[i];
    lay_out_band (layout, &self->job, band);
    band->first_label = n_labels;
    n_labels += max_labels (&self->job, band);
  }
  forest->parents = lay_out (layout, n_labels, sizeof *forest->parents);
  forest->merged = lay_out (layout, n_labels, sizeof *forest->merged);
  forest->sums = lay_out (layout, n_labels, sizeof *forest->sums);
  forest->first_of_row = lay_out (layout, plan->height, sizeof *forest->first_of_row);
  const uint32_t n_rows = plan->max_components < n_labels ? plan->max_components : n_labels;
  self->rows = lay_out (layout, n_rows, sizeof *self->rows);
  self->roots = lay_out (layout, n_rows, sizeof *self->roots);
  if (measures (plan))
    runs_lay_out_measurer (self, layout, n_rows);
}

/* Divides the rows into equal shares for the threads, and these into bands. */
static void
cut_into_bands (CpuLabeller *self)
{
  const uint32_t height = self->base.plan.height;
  const uint32_t rows_per_strip = self->job.rows_per_strip;
  const uint32_t n_strips = (uint32_t)divide_up (height, rows_per_strip);
  const uint32_t bands_per_thread = self->n_bands / self->n_threads;

  for (uint32_t i = 0; i < self->n_threads; i++) {
    const uint32_t first = workers_first_part (n_strips, i, self->n_threads);
    const uint64_t n = workers_first_part (n_strips, i + 1, self->n_threads) - first;
    Share *share = &self->shares[i];

    share->first_band = i * bands_per_thread;
    share->end_band = share->first_band + bands_per_thread;
    for (uint32_t k = 0; k < bands_per_thread; k++) {
      Band *band = &self->bands[share->first_band + k];
      const uint64_t end = first + (bands_per_thread == 1 ? n : n * band_ends[k + 1] / 8);
      band->first_row = (uint32_t)(first + n * band_ends[k] / 8) * rows_per_strip;
      band->end_row = end * rows_per_strip < height ? (uint32_t)end * rows_per_strip : height;
    }
  }
}

static CclComponent
describe (const RowSums *sums, uint32_t label, uint32_t top)
{
  const uint32_t left = ~sums->left_complement;

  return ccl_component_row (
      label, sums->area, left, top, sums->right, sums->bottom, sums->sum_x, sums->sum_y);
}

/* Calls work (self, part, thread) for every part, as workers_share() does. */
static void
share_work (CpuLabeller *self, uint32_t n_parts, bool again_soon,
    void (*work) (void *data, uint32_t part, uint32_t thread))
{
  if (self->n_threads > 1) {
    workers_share (self->workers, n_parts, again_soon, work, self);
    return;
  }
  for (uint32_t part = 0; part < n_parts; part++)
    work (self, part, 0);
}

/* Merges a band with the one above it. Returns the number of components that this removes. */
static uint32_t
merge_with_above (const CpuLabeller *self, uint32_t band, const Scratch *scratch)
{
  return self->runs->merge_bands (&self->job, &self->bands[band - 1], &self->bands[band], scratch);
}

/* Labels a band. When it is the last one of a share, merges the bands of the share: no other thread
 * reads them before the end of the round. */
static void
label_band (void *data, uint32_t index, uint32_t thread)
{
  const CpuLabeller *self = data;
  const Scratch *scratch = &self->shares[thread].scratch;
  Share *share = share_of (self, index);

  self->runs->label_band (&self->job, &self->bands[index], scratch);
  if (atomic_fetch_sub_explicit (&share->n_unlabelled, 1, memory_order_acq_rel) > 1)
    return;
  share->n_merged = 0;
  for (uint32_t band = share->first_band + 1; band < share->end_band; band++)
    share->n_merged += merge_with_above (self, band, scratch);
}

/* Labels all bands. */
static void
label_bands (CpuLabeller *self)
{
  for (uint32_t i = 0; i < self->n_threads; i++) {
    Share *share = &self->shares[i];
    atomic_store_explicit (
        &share->n_unlabelled, share->end_band - share->first_band, memory_order_relaxed);
  }
  share_work (self, self->n_bands, self->job.labels || self->is_shared, label_band);
}

/* Merges components that reach from the bands of one thread into those of the next. Returns the
 * number of components. */
static uint32_t
merge_shares (CpuLabeller *self)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n_bands; i++)
    n += self->bands[i].end_label - self->bands[i].first_label - self->bands[i].n_merged;
  for (uint32_t i = 0; i < self->n_threads; i++) {
    n -= self->shares[i].n_merged;
    if (i > 0)
      n -= merge_with_above (self, self->shares[i].first_band, &self->shares[0].scratch);
  }
  return n;
}

/* The provisional labels of all bands. */
static uint32_t
count_labels (const CpuLabeller *self)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < self->n_bands; i++)
    n += self->bands[i].end_label - self->bands[i].first_label;
  return n;
}

/* Fills rows of the table. */
static void
fill_rows (const CpuLabeller *self, uint32_t first, uint32_t end)
{
  const Forest *forest = &self->job.forest;
  const uint32_t height = self->base.plan.height;
  uint32_t y = 0;

  for (uint32_t i = first; i < end; i++) {
    const uint32_t root = self->roots[i];
    while (y + 1 < height && forest->first_of_row[y + 1] <= root)
      y++;
    self->rows[i] = describe (&forest->sums[root], i + 1, y);
  }
}

/* Finishes a band whose components runs_number_share() has numbered. */
static void
finish_band (void *data, uint32_t index, uint32_t thread)
{
  const CpuLabeller *self = data;
  Band *band = &self->bands[index];
  const uint32_t end = band->base + band->n_numbers;

  runs_finish_numbers (self, share_of (self, index), band);
  fill_rows (self, band->base, end < self->n_rows ? end : self->n_rows);
  if (self->job.labels)
    self->runs->write_band (&self->job, band, &self->shares[thread].scratch);
}

/* Fills a part of the table, an equal number of rows for each band, and writes the band's rows of
 * the label map. */
static void
write_band (void *data, uint32_t index, uint32_t thread)
{
  const CpuLabeller *self = data;
  fill_rows (self, (uint32_t)((uint64_t)self->n_rows * index / self->n_bands),
      (uint32_t)((uint64_t)self->n_rows * (index + 1) / self->n_bands));
  if (self->job.labels)
    self->runs->write_band (&self->job, &self->bands[index], &self->shares[thread].scratch);
}

static CclStatus
cpu_labeller_run (CclLabeller *labeller, const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, CclTable *table, CclError *error)
{
  CpuLabeller *self = (CpuLabeller *)labeller;
  Job *job = &self->job;
  const uint32_t max_rows = self->base.plan.max_components;

  if (ccl_cpu_check_frame (frame, error) != CUDACCL_OK)
    return CUDACCL_ERROR_ARGUMENT;

  job->data = frame->data;
  job->stride = frame->stride;
  job->threshold = (uint8_t)options->threshold;
  job->has_words = ccl_pixel_bytes (labeller->plan.format) == 2;
  job->word_threshold = ccl_word_threshold (labeller->plan.format, options->threshold);
  job->inversion = options->invert ? UINT64_MAX : 0;
  job->keeps_runs = labels || measures (&labeller->plan);
  job->labels = labels ? labels->data : NULL;
  job->labels_stride = labels ? labels->stride : 0;
  job->is_streamed = labels && labels->stride * self->base.plan.height > self->max_cached_bytes;
  job->some_labels = labeller->some_labels;
  memcpy (job->label_rows, labeller->label_rows, sizeof job->label_rows);

  label_bands (self);
  uint32_t n_components = merge_shares (self);
  self->is_shared = self->n_threads > 1 && count_labels (self) >= self->min_shared_labels;
  if (self->is_shared) {
    self->min_area = options->min_area;
    self->max_area = options->max_area ? options->max_area : UINT32_MAX;
    share_work (self, self->n_threads, true, runs_number_share);
    n_components = runs_join_numbers (self);
  } else if (job->keeps_runs || is_filtered (options)) {
    n_components = runs_number_components (self, options, UINT32_MAX);
  } else {
    runs_number_components (self, options, max_rows);
  }
  self->n_rows = n_components < max_rows ? n_components : max_rows;
  if (self->is_shared)
    share_work (self, self->n_bands, false, finish_band);
  else if (labels || self->n_rows >= MIN_SHARED_ROWS)
    share_work (self, self->n_bands, false, write_band);
  else
    fill_rows (self, 0, self->n_rows);

  *table = (CclTable){.n_components = n_components, .n_rows = self->n_rows, .rows = self->rows};
  if (measures (&labeller->plan)) {
    runs_measure (self, &frame->intensity);
    table->features = self->measurer.features;
  }
  return CUDACCL_OK;
}

/* Makes sure that an array has room for n elements. Its content is lost. */
static bool
ensure (void *array, uint32_t *capacity, uint32_t n, size_t size)
{
  if (n <= *capacity)
    return true;
  void *larger = calloc (n, size);
  if (!larger)
    return false;
  free (*(void **)array);
  *(void **)array = larger;
  *capacity = n;
  return true;
}

/* Threads stay while one is enough. */
static bool
ensure_workers (CpuLabeller *self)
{
  if (self->n_threads == 1 || (self->workers && workers_number (self->workers) == self->n_threads))
    return true;
  Workers *workers = workers_new (self->n_threads);
  if (!workers)
    return false;
  workers_free (self->workers);
  self->workers = workers;
  return true;
}

/* Divides frames of a size into bands for as many threads as are useful. What is allocated stays
 * for other sizes, too; when there is no memory, the former size is to be set again, for which
 * nothing is allocated. */
static bool
set_size (CpuLabeller *self, uint32_t width, uint32_t height)
{
  const uint32_t n_strips = height / 2 + height % 2;
  const uint32_t n_threads = workers_choose_number (
      self->base.plan.n_threads, (uint64_t)width * height, self->pixels_per_thread, n_strips);
  const uint32_t n_bands =
      n_threads > 1 && n_strips / n_threads >= 8 ? n_threads * BANDS_PER_THREAD : n_threads;

  if (!ensure (&self->bands, &self->band_capacity, n_bands, sizeof *self->bands) ||
      !ensure (&self->shares, &self->share_capacity, n_threads, sizeof *self->shares))
    return false;
  self->base.plan.width = width;
  self->base.plan.height = height;
  self->n_threads = n_threads;
  self->n_bands = n_bands;
  self->is_shared = false;
  self->job.width = width;
  self->job.n_words = divide_up (width, 64);
  self->job.words_per_row = self->job.n_words + 1;
  cut_into_bands (self);
  return mapping_lay_out (&self->mapping, lay_out_everything, self) && ensure_workers (self);
}

static CclStatus
cpu_labeller_resize (CclLabeller *labeller, uint32_t width, uint32_t height, CclError *error)
{
  CpuLabeller *self = (CpuLabeller *)labeller;
  const CclLabellerPlan former = labeller->plan;

  if (set_size (self, width, height))
    return CUDACCL_OK;
  ccl_cpu_set_no_memory (error, width, height);
  set_size (self, former.width, former.height);
  return CUDACCL_ERROR_NO_MEMORY;
}

static void
cpu_labeller_free (CclLabeller *labeller)
{
  CpuLabeller *self = (CpuLabeller *)labeller;
  workers_free (self->workers);
  mapping_unmap (&self->mapping);
  free (self->bands);
  free (self->shares);
  free (self);
}

static const CclLabellerClass cpu_labeller_class = {
    .name = "cpu",
    .run = cpu_labeller_run,
    .resize = cpu_labeller_resize,
    .free = cpu_labeller_free,
};

static size_t max_cached_bytes;
static pthread_once_t max_cached_bytes_once = PTHREAD_ONCE_INIT;

/* Finds the size of the largest label map that is worth caching. */
static void
find_max_cached_bytes (void)
{
  /* On some processors sysconf() adds up the caches of all cores. */
  FILE *file = fopen ("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
  size_t kib = 0;

  if (file) {
    if (fscanf (file, "%zuK", &kib) != 1)
      kib = 0;
    fclose (file);
  }
  max_cached_bytes = kib ? kib * 1024 / 4 * MAX_CACHED_QUARTERS : SIZE_MAX;
}

static CclLabeller *
runs_labeller_new (const CpuAlgorithm *algorithm, const CclLabellerPlan *plan,
    const CclCpuTuning *tuning, CclError *error)
{
  const RunLabeller *runs = choose_runs (tuning->instructions);
  CpuLabeller *self;

  if (!runs) {
    ccl_cpu_set_no_instructions (error, tuning->instructions);
    return NULL;
  }

  pthread_once (&max_cached_bytes_once, find_max_cached_bytes);
  self = calloc (1, sizeof *self);
  if (self) {
    self->base.klass = &cpu_labeller_class;
    self->base.plan = *plan;
    self->runs = runs;
    self->job.rows_per_strip = plan->connectivity == CUDACCL_CONNECTIVITY_8 ? 2 : 1;
    self->pixels_per_thread =
        tuning->pixels_per_thread ? tuning->pixels_per_thread : DEFAULT_PIXELS_PER_THREAD;
    self->min_shared_labels = self->pixels_per_thread / PIXELS_PER_SHARED_LABEL;
    self->max_cached_bytes = tuning->max_cached_bytes ? tuning->max_cached_bytes : max_cached_bytes;
    if (set_size (self, plan->width, plan->height))
      return &self->base;
    cpu_labeller_free (&self->base);
  }
  ccl_cpu_set_no_memory (error, plan->width, plan->height);
  return NULL;
}

const CpuAlgorithm cpu_runs = {
    .name = "runs",
    .title = "Runs: connects runs of foreground pixels",
    .paper = "this project",
    .has_4_connectivity = true,
    .uses_threads = true,
    .measures = measures,
    .labeller_new = runs_labeller_new,
};
