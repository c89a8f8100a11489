/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strips-geometry.h"

#include "core/label/labeller-class.h"
#include "cuda/driver/launch.h"
#include "core/base/layout.h"

enum { GROUP_WIDTH = 128 };

size_t
ccl_strips_lay_out (CclStripsParameters *p, CUdeviceptr scratch, uint32_t strip_rows)
{
  const uint64_t n_tiles = (uint64_t)p->tile_columns * p->tile_rows;
  const uint64_t n_strips = (uint64_t)p->tile_rows * CUDACCL_STRIPS_TILE_STRIPS;
  const uint64_t n_runs = n_tiles * CUDACCL_STRIPS_TILE_RUNS;
  const uint64_t n_open = n_tiles * CUDACCL_STRIPS_TILE_OPEN;
  const uint64_t n_words = p->tile_columns * CUDACCL_STRIPS_TILE_WORDS;
  Layout layout = {.memory = (uint8_t *)(uintptr_t)scratch, .alignment = 256};
  p->bits = lay_out (&layout, n_strips * strip_rows * n_words, sizeof *p->bits);
  p->parent = lay_out (&layout, (uint64_t)p->n_groups * GROUP_WIDTH, sizeof *p->parent);
  p->word_base = lay_out (&layout, n_strips * n_words, sizeof *p->word_base);
  p->edge =
      lay_out (&layout, n_tiles * CUDACCL_STRIPS_EDGES * CUDACCL_STRIPS_TILE_EDGE, sizeof *p->edge);
  p->run_component = lay_out (&layout, n_runs, sizeof *p->run_component);
  p->component = lay_out (&layout, n_runs, 16);
  p->component_first = lay_out (&layout, n_runs, sizeof *p->component_first);
  p->component_count = lay_out (&layout, n_tiles, sizeof *p->component_count);
  p->open_count = lay_out (&layout, n_tiles, sizeof *p->open_count);
  p->open_first = lay_out (&layout, n_open, sizeof *p->open_first);
  CclStripsSums *f = &p->sums;
  f->sum_x = lay_out (&layout, n_open, sizeof *f->sum_x);
  f->sum_y = lay_out (&layout, n_open, sizeof *f->sum_y);
  f->area = lay_out (&layout, n_open, sizeof *f->area);
  f->left = lay_out (&layout, n_open, sizeof *f->left);
  f->right = lay_out (&layout, n_open, sizeof *f->right);
  f->bottom = lay_out (&layout, n_open, sizeof *f->bottom);
  p->first_bits = lay_out (&layout, p->n_groups, 16);
  p->chunk_count = lay_out (&layout, p->n_chunks + 1, sizeof *p->chunk_count);
  p->next_chunk_count = lay_out (&layout, p->n_chunks + 1, sizeof *p->next_chunk_count);
  p->group_count = lay_out (&layout, p->n_groups, 1);
  return layout.size;
}

size_t
ccl_strips_lay_out_columns (CclStripsColumnsParameters *p, CUdeviceptr scratch, uint32_t strip_rows)
{
  const uint64_t n_tiles = (uint64_t)p->strips.tile_columns * p->strips.tile_rows;
  const uint32_t n_words = CUDACCL_STRIPS_COLUMN_WORDS (
      CUDACCL_STRIPS_HAS_NEIGHBOURS (p->columns), CUDACCL_STRIPS_HAS_VALUES (p->columns));
  Layout layout = {.memory = (uint8_t *)(uintptr_t)scratch, .alignment = 256};
  layout.size = ccl_strips_lay_out (&p->strips, scratch, strip_rows);
  if (p->columns) {
    p->tile_words =
        lay_out (&layout, n_tiles * CUDACCL_STRIPS_TILE_RUNS, n_words * sizeof *p->tile_words);
    p->open = lay_out (&layout, n_tiles * CUDACCL_STRIPS_TILE_OPEN, sizeof *p->open);
  }
  return layout.size;
}

CclStatus
ccl_strips_set_geometry (
    CclStripsParameters *p, const CclLabellerPlan *plan, uint32_t strip_rows, CclError *error)
{
  const uint32_t tile_height = CUDACCL_STRIPS_TILE_STRIPS * strip_rows;
  p->width = plan->width;
  p->height = plan->height;
  const uint32_t most_components = ccl_plan_most_components (plan);
  p->max_components =
      plan->max_components < most_components ? plan->max_components : most_components;
  p->tile_columns = divide_up (plan->width, CUDACCL_STRIPS_TILE_WIDTH);
  p->tile_columns_inverse = UINT32_MAX / p->tile_columns;
  p->tile_rows = divide_up (plan->height, tile_height);
  if ((uint64_t)p->tile_columns * GROUP_WIDTH * p->tile_rows * tile_height > INT32_MAX)
    return ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED,
        "strips: frames of %u×%u pixels are too large when rows are padded to a multiple of %d",
        plan->width, plan->height, CUDACCL_STRIPS_TILE_WIDTH);
  p->n_groups = p->tile_columns * plan->height;
  /* A block that numbers adds up the counts of all chunks before its own, then scans its own:
   * chunks have 64 groups while that gives at most CUDACCL_STRIPS_MAX_CHUNKS of them. */
  p->chunk_shift = 6;
  while (p->n_groups >> p->chunk_shift >= CUDACCL_STRIPS_MAX_CHUNKS)
    p->chunk_shift++;
  p->n_chunks = divide_up (p->n_groups, 1u << p->chunk_shift);
  const uint64_t n_tiles = (uint64_t)p->tile_columns * p->tile_rows;
  if (n_tiles > 1)
    p->n_reduce_blocks = divide_up (n_tiles, CUDACCL_STRIPS_REDUCE_TILES);
  return CUDACCL_OK;
}
