/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The second background model (core/foreground/sampled-background.h) of a frame on the CPU. The
 * codebooks (codebook.c) are the first one, and call it. */
#pragma once

#include "core/foreground/faint.h"
#include "core/foreground/sampled-cells.h"
#include "core/foreground/uncovered.h"
#include "cpu/pixels/bit-rows.h"
#include "cpu/pixels/pixels.h"

/* Counts of a row of cells. */
typedef struct SampledCellCounts {
  uint64_t candidates; /* cells that have any */
  uint32_t faint[CUDACCL_SAMPLED_CELLS];
  uint32_t confirming[CUDACCL_SAMPLED_CELLS];
  CclTexturePairs pairs[CUDACCL_SAMPLED_CELLS];
  CclOutlinePairs outlines[CUDACCL_SAMPLED_CELLS];
} SampledCellCounts;

typedef struct SampledPlaces {
  uint32_t width, height; /* pixels */
  bool has_chroma;
  const PixelCode *code;
  CclSampledGrid grid;
  size_t n_words, n_pixel_words; /* of 64 places, of 64 pixels, in a row */
  size_t stride;                 /* bytes of a row of places */

  /* The model: memory of zeros before the first frame. */
  SampleBlock *samples; /* of each word of places */
  uint8_t *restlessness;
  BitRows different, restless; /* of places */
  BitRows found;               /* the mask of the last frame, of pixels */
  uint64_t clock;
  uint64_t *uncovered;     /* for each row of cells those that were (uncovered.h) */
  uint16_t *uncovered_for; /* of each of these cells: ccl_uncovered_age() */

  /* The frame at work. */
  CclSampledTime time;
  bool begins;
  uint32_t period;                             /* ccl_sampled_period() */
  uint8_t tolerances[CUDACCL_CODEBOOK_LEVELS]; /* ccl_sampled_tolerance() */
  uint8_t faint_tolerance;                     /* ccl_faint_tolerance() */
  bool finds_faint;                            /* pixels */
  BitRows unlike;                              /* places (faint.h) */
  BitRows around;                              /* places around which most are different */
  BitRows faint;                               /* the same of places that are unlike */
  BitRows candidates;                          /* pixels */
  BitRows shadows;
  bool is_dark;              /* the frame (codebook-frame.h) */
  bool finds_light;          /* cells that are lit are told from objects */
  BitRows agrees, differs;   /* first pixels of pairs of candidates (texture.h) */
  BitRows ended, begun;      /* of pairs of outlines, where the edge is the model's; the frame's */
  SampledCellCounts *counts; /* for each row of cells */
  uint64_t *kept;            /* for each row of cells, a row of pixels */
  uint64_t *kept_faint;      /* the same of faint pixels */
} SampledPlaces;

void sampled_places_init (
    SampledPlaces *places, const PixelCode *code, uint32_t width, uint32_t height, bool has_chroma);

/* Lays out the memory that is zero before the first frame, and that of a frame. */
void sampled_places_lay_out_model (Layout *layout, SampledPlaces *places);
void sampled_places_lay_out_frame (Layout *layout, SampledPlaces *places);

/* Begins a frame. begins: the samples are those of this frame alone. */
void sampled_places_begin_frame (SampledPlaces *places, const CclForegroundOptions *options,
    bool begins, const uint8_t tolerances[CUDACCL_CODEBOOK_LEVELS], uint8_t faint_tolerance);

/* Updates a row of places with two rows of pixels, and the chroma of the upper one or NULL. ranges:
 * of a shaking camera (sway-rows.h), the least luma of both rows, then the greatest; NULL: it does
 * not shake. Any thread, each row once. */
void sampled_places_update_row (SampledPlaces *places, uint32_t row, const uint8_t *upper,
    const uint8_t *lower, const uint16_t *chroma, const uint8_t *const ranges[4]);

/* Then for each row of places: those around which most are different. */
void sampled_places_look_around (SampledPlaces *places, uint32_t row, uint64_t *scratch);

/* Then for each row of pixels: adds the dynamic ones that are different to its candidates, which
 * the caller has filled with the objects of the codebook. */
void sampled_places_add_candidates (SampledPlaces *places, uint32_t y, const uint64_t *dynamic);

/* The faint ones of 64 pixels of row y. */
uint64_t sampled_places_faint (const SampledPlaces *places, uint32_t y, size_t word);

/* Then for each row of pixels: compares the texture and the outlines of its candidates, in the luma
 * of the frame and of the background. */
void sampled_places_compare (
    SampledPlaces *places, uint32_t y, const uint8_t *frame, const uint8_t *model);

/* Then once: finds the cells whose candidates are kept. */
void sampled_places_connect (SampledPlaces *places);

/* Then for each row of pixels: the objects and their shadows. */
void sampled_places_finish_row (
    SampledPlaces *places, uint32_t y, uint64_t *foreground, uint64_t *shadow);
