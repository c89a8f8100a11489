/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the labeller of runs.c, and how it numbers components. */
#pragma once

#include "cpu/base/band.h"
#include "core/label/labeller-class.h"
#include "cpu/base/mapping.h"
#include "cpu/measure/run-measurer.h"
#include "cpu/base/workers.h"

#include <stdatomic.h>

/* The bands that belong to a thread, and its buffers. */
typedef struct Share {
  uint32_t first_band;
  uint32_t end_band;
  _Atomic uint32_t n_unlabelled; /* bands */
  uint32_t n_merged;             /* components that merging its bands has removed */

  /* Numbering by all threads. */
  uint32_t base;    /* the last label of the shares before */
  uint32_t foreign; /* a label whose parent is in a share before, or NO_LABEL; forest.merged has the
                     * next one of each */

  Scratch scratch; /* of the thread itself, for bands of any thread */
} Share;

typedef struct CpuLabeller {
  CclLabeller base;
  const RunLabeller *runs;
  Workers *workers; /* NULL before a frame size for which there are several threads */
  Job job;
  CclComponent *rows;
  uint32_t *roots; /* of the component in each row: its provisional label */
  uint32_t n_rows;
  RunMeasurer measurer; /* for plans with columns and 8-connectivity */
  uint32_t n_bands, n_threads;
  Band *bands;
  Share *shares;              /* of each thread */
  uint64_t min_shared_labels; /* all threads number the components from so many labels on */
  bool is_shared;             /* they do, or did in the last frame */
  uint32_t min_area, max_area;
  size_t max_cached_bytes; /* of a label map */

  uint64_t pixels_per_thread;
  uint32_t band_capacity, share_capacity;
  Mapping mapping;
} CpuLabeller;

static inline Share *
share_of (const CpuLabeller *self, uint32_t band)
{
  return &self->shares[band / (self->n_bands / self->n_threads)];
}

static inline bool
is_filtered (const CclLabellerOptions *options)
{
  return options->min_area > 1 || options->max_area > 0;
}

/* Lists the roots that pass the area filter, in label order, as far as the table has rows. Returns
 * their number, or n_wanted if there are more, without counting on. If runs are kept, the parent of
 * each provisional label is replaced by the final label, 0 if the filter removes the component. */
uint32_t runs_number_components (
    CpuLabeller *self, const CclLabellerOptions *options, uint32_t n_wanted);

/* The same in three steps, the first and the last of which are shared by the threads. */

/* data: the labeller. Numbers the components that begin in a share from 1. Replaces each parent by
 * the number, or, if the root is in another share, by the last label of the path that is in this
 * one. */
void runs_number_share (void *data, uint32_t index, uint32_t thread);

/* Finds the labels of components that reach from one share into the next. Returns the number of
 * components. */
uint32_t runs_join_numbers (CpuLabeller *self);

/* Replaces the parents of a band's labels by final labels and lists its roots. */
void runs_finish_numbers (const CpuLabeller *self, const Share *share, const Band *band);

/* Lays out what runs_measure() needs, for a table of n_rows; bands have been laid out. */
void runs_lay_out_measurer (CpuLabeller *self, Layout *layout, uint32_t n_rows);

/* Fills the features of the components in the table. */
void runs_measure (CpuLabeller *self, const CclIntensity *intensity);
