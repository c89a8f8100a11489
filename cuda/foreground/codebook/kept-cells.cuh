/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last kernel of the codebook (codebook.cu includes it): it takes away candidates in cells that
 * are not kept (sampled-background.h, texture.h, uncovered.h), and adds faint pixels (faint.h). All
 * its blocks connect the same cells, so that none waits for another; two more prepare the next
 * frame.
 */
#pragma once

enum {
  ROW_HALVES = CUDACCL_SAMPLED_CELLS / 32, /* columns of cells of a lane */
  ROWS_OF_WARP = CUDACCL_SAMPLED_CELLS / CUDACCL_CONFIRM_WARPS,
};

static_assert (ROW_HALVES == 2, "a lane has a column of each half, and two rows of bits");

/* What cells are, a bit for each. */
enum CellKind {
  WITH_CANDIDATES,
  KEPT,
  LIT, /* texture.h */
  UNKNOWN,
  UNCOVERED, /* uncovered.h */
  COVERED,
  FAINT, /* faint.h */
  N_CELL_KINDS,
  REACHED_UNCOVERED = N_CELL_KINDS, /* connect_kinds() */
  REACHED_COVERED,
  N_CELL_BITS
};

struct Cells {
  alignas (16) uint32_t bits[N_CELL_BITS][CUDACCL_SAMPLED_CELLS][ROW_HALVES];
};

/* Two rows of cells. */
struct CellRows {
  uint64_t upper, lower;
};

static __device__ __forceinline__ CellRows
operator& (const CellRows &a, const CellRows &b)
{
  return {a.upper & b.upper, a.lower & b.lower};
}

static __device__ __forceinline__ CellRows
operator| (const CellRows &a, const CellRows &b)
{
  return {a.upper | b.upper, a.lower | b.lower};
}

static __device__ __forceinline__ CellRows
operator~(const CellRows &a)
{
  return {~a.upper, ~a.lower};
}

static __device__ __forceinline__ uint64_t
row_of_cells (const Cells &cells, CellKind kind, uint32_t row)
{
  return cells.bits[kind][row][0] | (uint64_t)cells.bits[kind][row][1] << 32;
}

/* The two rows of a lane. */
static __device__ __forceinline__ CellRows
rows_of_lane (const Cells &cells, CellKind kind)
{
  const uint32_t row = 2 * lane_of_warp ();
  return {row_of_cells (cells, kind, row), row_of_cells (cells, kind, row + 1)};
}

/* The rows of other lanes beside a lane's: that above the upper one, and that below the lower one.
 */
static __device__ __forceinline__ CellRows
rows_around (const CellRows &rows)
{
  const uint64_t above = __shfl_up_sync (FULL_WARP, rows.lower, 1);
  const uint64_t below = __shfl_down_sync (FULL_WARP, rows.upper, 1);
  return {lane_of_warp () > 0 ? above : 0, lane_of_warp () < 31 ? below : 0};
}

/* The reached cells, and the candidates of their row that are connected with them: in a sum, a
 * carry runs through the candidates that follow a reached one. */
static __device__ __forceinline__ uint64_t
reached_in_row (uint64_t reached, uint64_t candidates)
{
  const uint64_t seeds = reached & candidates, mirrored = __brevll (candidates);
  const uint64_t left = candidates & ~(candidates + seeds);
  const uint64_t right = mirrored & ~(mirrored + __brevll (seeds));
  return reached | left | __brevll (right);
}

/* Adds to cells those of the candidates that are connected with them. One warp, a lane two rows. */
static __device__ __forceinline__ CellRows
connect_cells (const CellRows &candidates, CellRows cells)
{
  bool changes = __any_sync (FULL_WARP, cells.upper | cells.lower);
  while (changes) {
    const CellRows around = rows_around (cells);
    const uint64_t upper = reached_in_row (
        ccl_sampled_reached (around.upper, cells.upper, cells.lower, candidates.upper),
        candidates.upper);
    const uint64_t lower = reached_in_row (
        ccl_sampled_reached (upper, cells.lower, around.lower, candidates.lower), candidates.lower);
    changes = __any_sync (FULL_WARP, upper != cells.upper || lower != cells.lower);
    cells = {upper, lower};
  }
  return cells;
}

/* The lit cells that are not beside those whose texture differs from the ground's. */
static __device__ __forceinline__ CellRows
lit_cells (const CellRows &lit, const CellRows &differing)
{
  const CellRows around = rows_around (differing);
  return {ccl_sampled_lit (lit.upper, around.upper, differing.upper, differing.lower),
      ccl_sampled_lit (lit.lower, differing.upper, differing.lower, around.lower)};
}

/* The two words of bits of cells that are for a lane, as rows. */
static __device__ __forceinline__ CellRows
load_rows (const uint32_t *words)
{
  const uint4 four = ((const uint4 *)words)[lane_of_warp ()];
  return {four.x | (uint64_t)four.y << 32, four.z | (uint64_t)four.w << 32};
}

static __device__ __forceinline__ void
store_rows (uint32_t *words, const CellRows &rows)
{
  ((uint4 *)words)[lane_of_warp ()] = make_uint4 ((uint32_t)rows.upper,
      (uint32_t)(rows.upper >> 32), (uint32_t)rows.lower, (uint32_t)(rows.lower >> 32));
}

/* Whether any cell is in rows; the same for all lanes. */
static __device__ __forceinline__ bool
has_cells (const CellRows &rows)
{
  return __any_sync (FULL_WARP, (rows.upper | rows.lower) != 0);
}

/* The cells that are connected with cells of a kind by candidates. Three warps, a kind each:
 * uncovered and covered ones take the place of those before; of the faint ones, those are left that
 * no candidate reaches. */
static __device__ __forceinline__ void
connect_kinds (Cells *cells)
{
  const CellRows candidates = rows_of_lane (*cells, WITH_CANDIDATES);
  const uint32_t warp = threadIdx.x / 32;
  if (warp == 2) {
    const CellRows faint = rows_of_lane (*cells, FAINT);
    if (has_cells (faint))
      store_rows (
          &cells->bits[FAINT][0][0], faint & ~connect_cells (candidates | faint, candidates));
  } else if (has_cells (rows_of_lane (*cells, UNCOVERED))) {
    const CellKind kind = warp == 0 ? UNCOVERED : COVERED;
    const CellRows connected = connect_cells (candidates, rows_of_lane (*cells, kind));
    store_rows (&cells->bits[warp == 0 ? REACHED_UNCOVERED : REACHED_COVERED][0][0], connected);
  }
}

/* Takes cells that have been uncovered for long enough, and the lit ones, away from those with
 * candidates and those that are kept; then adds to these what is connected with them. One warp,
 * after connect_kinds(). old: cells that have been uncovered for long enough if this frame uncovers
 * them, too. */
static __device__ __forceinline__ void
keep_connected (const CclConfirmParameters &p, Cells *cells, const CellRows &old)
{
  CellRows candidates = rows_of_lane (*cells, WITH_CANDIDATES), kept = rows_of_lane (*cells, KEPT);
  CellRows uncovered = rows_of_lane (*cells, UNCOVERED), lit = rows_of_lane (*cells, LIT);
  const CellRows unknown = rows_of_lane (*cells, UNKNOWN);
  if (has_cells (uncovered))
    uncovered = rows_of_lane (*cells, REACHED_UNCOVERED) & ~rows_of_lane (*cells, REACHED_COVERED);
  if (blockIdx.x + blockIdx.y + blockIdx.z == 0)
    store_rows (p.uncovered.bits, uncovered);
  candidates = candidates & ~(uncovered & old);
  if (p.candidates.finds_light) {
    lit = lit_cells (lit, candidates & ~lit & ~unknown);
    candidates = candidates & ~connect_cells (unknown, lit);
  }
  kept = connect_cells (candidates, kept & candidates);
  store_rows (&cells->bits[KEPT][0][0], kept);
}

/* The pairs of a cell: CclTexturePairs, and CclOutlinePairs. */
struct CellPairs {
  uint2 texture, outlines;
};

static __device__ __forceinline__ uint2
operator+ (const uint2 &a, const uint2 &b)
{
  return make_uint2 (a.x + b.x, a.y + b.y);
}

/* A cell with those beside it in its row. sums: of the lane's columns of cells, one in each half of
 * the row. */
static __device__ __forceinline__ void
add_beside (uint2 (&sums)[ROW_HALVES])
{
  const uint32_t lane = lane_of_warp (), before = (lane + 31) % 32, after = (lane + 1) % 32;
  uint2 left[ROW_HALVES], right[ROW_HALVES];
#pragma unroll
  for (int k = 0; k < ROW_HALVES; k++) {
    left[k].x = __shfl_sync (FULL_WARP, sums[k].x, before);
    left[k].y = __shfl_sync (FULL_WARP, sums[k].y, before);
    right[k].x = __shfl_sync (FULL_WARP, sums[k].x, after);
    right[k].y = __shfl_sync (FULL_WARP, sums[k].y, after);
  }
  const uint2 none = {};
  sums[0] = sums[0] + (lane > 0 ? left[0] : none) + (lane < 31 ? right[0] : right[1]);
  sums[1] = sums[1] + (lane > 0 ? left[1] : left[0]) + (lane < 31 ? right[1] : none);
}

/* What a warp loads of its rows of cells, and of one row above and below. */
struct LoadedCells {
  uint2 candidates[ROWS_OF_WARP][ROW_HALVES]; /* and how many of them confirm the cell */
  uint32_t faint[ROWS_OF_WARP][ROW_HALVES];
  CellPairs pairs[ROWS_OF_WARP + 2][ROW_HALVES];
};

static __device__ __forceinline__ uint32_t
n_cell_rows (const CclConfirmParameters &p)
{
  return CUDACCL_DIVIDE_UP (p.extent.height, 1u << p.grid.shift);
}

/* All is loaded before the first is used: nothing else hides how long that takes. */
static __device__ __forceinline__ void
load_cells (const CclConfirmParameters &p, LoadedCells *loaded)
{
  static_assert (
      sizeof (CclSampledCell) == sizeof (uint4) && sizeof (CclOutlinePairs) == sizeof (uint2));
  const uint32_t n_rows = n_cell_rows (p);
#pragma unroll
  for (int i = 0; i < ROWS_OF_WARP + 2; i++) {
    const int row = (int)threadIdx.x / 32 * ROWS_OF_WARP + i - 1;
    const bool inside = row >= 0 && row < (int)n_rows;
#pragma unroll
    for (int k = 0; k < ROW_HALVES; k++) {
      const int cell = row * CUDACCL_SAMPLED_CELLS + 32 * k + (int)lane_of_warp ();
      const uint4 counts = inside ? ((const uint4 *)p.cells)[cell] : make_uint4 (0, 0, 0, 0);
      loaded->pairs[i][k].texture = make_uint2 (counts.z, counts.w);
      loaded->pairs[i][k].outlines = inside ? ((const uint2 *)p.outlines)[cell] : make_uint2 (0, 0);
      if (i > 0 && i <= ROWS_OF_WARP) {
        loaded->candidates[i - 1][k] = make_uint2 (counts.x, counts.y);
        loaded->faint[i - 1][k] = inside ? p.faint_cells[cell] : 0;
      }
    }
  }
}

/* Finds what the cells of a warp are. */
static __device__ __forceinline__ void
find_kinds (const CclConfirmParameters &p, const LoadedCells &loaded, Cells *cells)
{
#pragma unroll
  for (int i = 0; i < ROWS_OF_WARP; i++) {
    const uint32_t row = threadIdx.x / 32 * ROWS_OF_WARP + i;
    uint2 texture[ROW_HALVES], outlines[ROW_HALVES];
#pragma unroll
    for (int k = 0; k < ROW_HALVES; k++) {
      const CellPairs &above = loaded.pairs[i][k], &own = loaded.pairs[i + 1][k];
      const CellPairs &below = loaded.pairs[i + 2][k];
      texture[k] = above.texture + own.texture + below.texture;
      outlines[k] = above.outlines + own.outlines + below.outlines;
    }
    add_beside (texture);
    add_beside (outlines);
#pragma unroll
    for (int k = 0; k < ROW_HALVES; k++) {
      const uint2 own = loaded.pairs[i + 1][k].texture;
      const bool has_candidates = loaded.candidates[i][k].x > 0;
      CclTexture kind = CCL_TEXTURE_DIFFERS;
      if (p.candidates.finds_light && has_candidates)
        kind = ccl_texture_of_cell ({own.x, own.y}, {texture[k].x, texture[k].y});
      const CclOutline outline = has_candidates
                                     ? ccl_outline_of_cell ({outlines[k].x, outlines[k].y})
                                     : CCL_OUTLINE_UNKNOWN;
      const uint32_t bits[N_CELL_KINDS] = {__ballot_sync (FULL_WARP, has_candidates),
          __ballot_sync (FULL_WARP, loaded.candidates[i][k].y >= CUDACCL_SAMPLED_CONFIRMING),
          __ballot_sync (FULL_WARP, kind == CCL_TEXTURE_AGREES),
          __ballot_sync (FULL_WARP, kind == CCL_TEXTURE_UNKNOWN),
          __ballot_sync (FULL_WARP, outline == CCL_OUTLINE_UNCOVERED),
          __ballot_sync (FULL_WARP, outline == CCL_OUTLINE_COVERED),
          __ballot_sync (FULL_WARP, loaded.faint[i][k] >= CUDACCL_SAMPLED_CONFIRMING)};
#pragma unroll
      for (int kind_of_bits = 0; kind_of_bits < N_CELL_KINDS; kind_of_bits++)
        if (lane_of_warp () == 0)
          cells->bits[kind_of_bits][row][k] = bits[kind_of_bits];
    }
  }
}

/* The same of a warp whose rows are outside the frame. */
static __device__ __forceinline__ void
clear_kinds (Cells *cells)
{
  constexpr uint32_t N = ROWS_OF_WARP * ROW_HALVES;
  for (uint32_t i = lane_of_warp (); i < N_CELL_KINDS * N; i += 32)
    (&cells->bits[i / N][threadIdx.x / 32 * ROWS_OF_WARP][0])[i % N] = 0;
}

/* Finds the cells that are kept. All threads of a block. */
static __device__ __forceinline__ void
find_kept_cells (const CclConfirmParameters &p, Cells *cells)
{
  CellRows old = {};
  if (threadIdx.x / 32 * ROWS_OF_WARP < n_cell_rows (p)) {
    LoadedCells loaded;
    load_cells (p, &loaded);
    if (threadIdx.x < 32)
      old = load_rows (p.uncovered.old);
    find_kinds (p, loaded, cells);
  } else {
    clear_kinds (cells);
  }
  __syncthreads ();
  if (threadIdx.x < 3 * 32)
    connect_kinds (cells);
  __syncthreads ();
  if (threadIdx.x < 32)
    keep_connected (p, cells, old);
  __syncthreads ();
}

/* The pixels of a word that are in cells of a kind. */
static __device__ __forceinline__ uint32_t
kept_pixels (
    const CclSampledGrid &grid, const Cells &cells, CellKind kind, uint32_t column, uint32_t y)
{
  const uint64_t row = row_of_cells (cells, kind, y >> grid.shift);
  const uint32_t n = min (1u << grid.shift, 32u);
  uint32_t pixels = 0;
  for (uint32_t x = 0; x < 32; x += n) {
    const uint32_t cell = (32 * column + x) >> grid.shift;
    pixels |= cell < CUDACCL_SAMPLED_CELLS && (row >> cell & 1) ? ~0u >> (32 - n) << x : 0;
  }
  return pixels;
}

/* Writes the mask of a warp's words, and gives the host their counts. */
static __device__ __forceinline__ void
confirm_words (const CclConfirmParameters &p, Cells *cells)
{
  const uint32_t first_column = blockIdx.x * 32, column = first_column + lane_of_warp ();
  const uint32_t y = row_of_warp<CUDACCL_CONFIRM_WARPS> ();
  const size_t word = (size_t)y * p.extent.row_words + column;
  const bool inside = y < p.extent.height && column < p.extent.row_words;
  uint32_t object = inside ? p.candidates.objects[word] : 0;
  const uint32_t shadow = inside ? p.candidates.shadows[word] : 0;
  const uint32_t faint = inside ? p.candidates.faint[word] : 0;
  const size_t i = (size_t)y * gridDim.x + blockIdx.x;
  if (lane_of_warp () == 0 && y < p.extent.height)
    p.counts[i] = p.candidates.counts[i];
  find_kept_cells (p, cells);
  if (y >= p.extent.height)
    return;
  if (object)
    object &= kept_pixels (p.grid, *cells, KEPT, column, y);
  if (faint)
    object |= faint & kept_pixels (p.grid, *cells, FAINT, column, y);
  if (inside) {
    p.found[word] = object;
    if (p.mask.result)
      p.mask.result[word] = object;
    if (p.mask.shadow_result)
      p.mask.shadow_result[word] = shadow;
  }
  if (!p.mask.result)
    finish_words (p.extent, p.mask, first_column, y, object, p.mask.marks_shadows ? shadow : 0);
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONFIRM_THREADS)
    ccl_codebook_confirm (const __grid_constant__ CclConfirmParameters p)
{
  __shared__ Cells cells;
  __shared__ SharedNoise noise;
  __shared__ SharedScene scene;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  if (blockIdx.z + 2 < gridDim.z)
    confirm_words (p, &cells);
  else if (blockIdx.x + blockIdx.y > 0)
    return;
  else if (blockIdx.z + 1 < gridDim.z)
    prepare_noise (p, &noise);
  else
    prepare_scene (p, &scene);
}
