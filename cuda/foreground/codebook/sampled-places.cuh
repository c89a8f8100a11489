/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second background model (sampled-background.h), bit by bit: codebook.cu includes it after
 * value_at(). A warp has 32 places of a row. The objects of the codebook are candidates, and the
 * last kernel of a frame takes away those in cells that are not kept; all its blocks connect the
 * same cells, so that none waits for another.
 */
#ifndef CUDACCL_CUDA_SAMPLED_PLACES_CUH
#define CUDACCL_CUDA_SAMPLED_PLACES_CUH

enum { ROW_HALVES = CUDACCL_SAMPLED_CELLS / 32 }; /* words of bits in a row of cells */

static_assert (CUDACCL_SAMPLED_CELLS == 64, "a lane has two rows of cells, each in 64 bits");

/* ---- samples ---- */

/* Outside the frame, its last row and column are repeated. */
static __device__ __forceinline__ CclCodebookValue
colour_of_place (const Pixels &p, uint32_t column, uint32_t row)
{
  const uint32_t x = 2 * column, y = 2 * row;
  const uint32_t right = min (x + 1, p.extent.width - 1), below = min (y + 1, p.extent.height - 1);
  const bool has_rows = p.history->has_rows != 0;
  const auto value_of = [&] (uint32_t i, uint32_t j) {
    return value_at (p, luma_at (p.frame, i, j, p.is_wide), i, j, has_rows);
  };
  CclCodebookValue colour = value_of (x, y);
  const uint32_t sum = colour.luma + value_of (right, y).luma + value_of (x, below).luma +
                       value_of (right, below).luma;
  colour.luma = ccl_sampled_mean (sum);
  return colour;
}

/* A sample of a place: its luma, which u and v follow `plane` bytes further each. */
static __device__ __forceinline__ uint8_t *
sample_at (const CclSampledParameters &s, uint32_t k, size_t place)
{
  return s.samples + 3 * k * s.plane + place;
}

static __device__ __forceinline__ CclCodebookValue
load_sample (const CclSampledParameters &s, uint32_t k, size_t place, bool has_chroma)
{
  const uint8_t *sample = sample_at (s, k, place);
  CclCodebookValue value = {sample[0], 128, 128, 0};
  if (has_chroma) {
    value.u = sample[s.plane];
    value.v = sample[2 * s.plane];
  }
  return value;
}

static __device__ __forceinline__ void
store_sample (const CclSampledParameters &s, uint32_t k, size_t place, CclCodebookValue value)
{
  uint8_t *sample = sample_at (s, k, place);
  sample[0] = value.luma;
  sample[s.plane] = value.u;
  sample[2 * s.plane] = value.v;
}

/* The samples that most places need no others than. */
typedef CclCodebookValue FirstSamples[CUDACCL_SAMPLED_NEEDED];

static __device__ __forceinline__ void
load_first_samples (const CclSampledParameters &p, size_t place, FirstSamples &samples)
{
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_SAMPLED_NEEDED; k++)
    samples[k] = load_sample (p, k, place, p.pixels.frame.u != NULL);
}

/* Whether too few samples are near. */
static __device__ __forceinline__ bool
is_different (const CclSampledParameters &p, size_t place, const FirstSamples &first,
    CclCodebookValue colour, uint32_t restlessness)
{
  const uint32_t own = colour.luma >> 4, darker = own > 0 ? own - 1 : 0;
  const uint32_t calm = ccl_sampled_tolerance (tolerance_of_level (p.pixels, own),
      tolerance_of_level (p.pixels, darker), p.pixels.sensitivity);
  const uint32_t tolerance = ccl_sampled_restless_tolerance (calm, restlessness);
  uint32_t n_near = 0;
#pragma unroll
  for (uint32_t k = 0; k < CUDACCL_SAMPLED_NEEDED; k++)
    n_near += ccl_sampled_is_near (colour, first[k], tolerance);
  for (uint32_t k = CUDACCL_SAMPLED_NEEDED; k < CUDACCL_SAMPLED_VALUES; k++) {
    if (k % 2 == 0 && __all_sync (FULL_WARP, n_near >= CUDACCL_SAMPLED_NEEDED))
      break;
    n_near += ccl_sampled_is_near (
        colour, load_sample (p, k, place, p.pixels.frame.u != NULL), tolerance);
  }
  return n_near < CUDACCL_SAMPLED_NEEDED;
}

/* Takes the sample of a place that is due. */
static __device__ __forceinline__ void
take_sample (const CclSampledParameters &p, uint32_t column, uint32_t row, size_t place,
    CclCodebookValue colour, bool is_unfound)
{
  const uint32_t x = 2 * column;
  const uint32_t found = p.found[(size_t)2 * row * p.pixels.extent.row_words + x / 32];
  const uint32_t turn = ccl_sampled_turn (p.time, ccl_sampled_phase (column, row));
  if (ccl_sampled_learns (turn, found >> x % 32 & 1, is_unfound, p.period))
    store_sample (p, turn % CUDACCL_SAMPLED_VALUES, place, colour);
}

/* Updates the places of a warp. */
static __device__ __forceinline__ void
update_places (const CclSampledParameters &p, uint32_t word)
{
  const CclSampledPlaces &places = p.places;
  const uint32_t lane = lane_of_warp ();
  const uint32_t column = word % places.row_words * 32 + lane, row = word / places.row_words;
  const bool inside = column < places.grid.columns;
  const size_t place = (size_t)word * 32 + lane;
  const bool changes = p.judges_scene && p.pixels.history->scene.change != CUDACCL_SCENE_UNCHANGED;
  CclCodebookValue colour = {0, 128, 128, 0};
  FirstSamples first;
  const uint8_t before = p.restlessness[place];
  const bool was_different = places.different[word] >> lane & 1;
  load_first_samples (p, place, first);
  if (inside)
    colour = colour_of_place (p.pixels, column, row);
  if (p.renews || changes) { /* for all threads or for none */
    for (uint32_t k = 0; k < CUDACCL_SAMPLED_VALUES; k++)
      store_sample (p, k, place, colour);
    load_first_samples (p, place, first);
  }
  bool different = is_different (p, place, first, colour, before);
  if (p.sway.distance > 0 && inside && different)
    different = !is_sway_of_place (p, column, row, colour.luma);
  const bool is_onset = different && !was_different;
  const bool is_due = ccl_sampled_is_due (p.time, ccl_sampled_phase (column, row));
  const uint8_t restlessness = ccl_sampled_restlessness (before, is_onset, is_due);
  const uint32_t all_different = __ballot_sync (FULL_WARP, inside && different);
  const uint32_t all_restless =
      __ballot_sync (FULL_WARP, inside && restlessness >= CUDACCL_SAMPLED_RESTLESS);
  if (is_onset || is_due)
    p.restlessness[place] = restlessness;
  if (inside && is_due)
    take_sample (
        p, column, row, place, colour, ccl_sampled_is_unfound (p.time, is_onset, restlessness));
  if (lane == 0) {
    places.different[word] = all_different;
    places.restless[word] = all_restless;
  }
}

/* Clears the counts of a cell, and ages it. */
static __device__ __forceinline__ void
begin_cell (const CclSampledParameters &p, uint32_t i)
{
  const bool was_uncovered = p.uncovered.bits[i / 32] >> i % 32 & 1;
  p.places.cells[i] = {};
  p.places.outlines[i] = {};
  p.uncovered.ages[i] = ccl_uncovered_age (p.uncovered.ages[i], was_uncovered, p.time.elapsed);
}

/* A warp has a word of places. */
extern "C" __global__ void
__launch_bounds__ (CUDACCL_CODEBOOK_THREADS)
    ccl_codebook_sample (const __grid_constant__ CclSampledParameters p)
{
  const uint32_t word = blockIdx.x * CUDACCL_CODEBOOK_WARPS + threadIdx.x / 32;
  const uint32_t thread = blockIdx.x * CUDACCL_CODEBOOK_THREADS + threadIdx.x;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  for (uint32_t i = thread; i < CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS;
       i += gridDim.x * CUDACCL_CODEBOOK_THREADS)
    begin_cell (p, i);
  if (word < p.places.row_words * p.places.grid.rows)
    update_places (p, word);
}

/* ---- candidates ---- */

/* Each of the lower 16 bits twice. */
static __device__ __forceinline__ uint32_t
doubled_bits (uint32_t bits)
{
  bits = (bits | bits << 8) & 0x00ff00ffu;
  bits = (bits | bits << 4) & 0x0f0f0f0fu;
  bits = (bits | bits << 2) & 0x33333333u;
  bits = (bits | bits << 1) & 0x55555555u;
  return bits | bits << 1;
}

/* The 32 pixels of a column of words, of the 32 places of the word that they are in. */
static __device__ __forceinline__ uint32_t
pixels_of_places (uint32_t places, uint32_t column)
{
  return doubled_bits (places >> 16 * (column % 2) & 0xffff);
}

/* Adds the pairs of candidates of a word, which are moved to its first bits, to a cell. */
static __device__ __forceinline__ void
count_pairs (uint32_t agrees, uint32_t differs, CclSampledCell *cell)
{
  if (agrees)
    atomicAdd (&cell->pairs.agreeing, (uint32_t)__popc (agrees));
  if (differs)
    atomicAdd (&cell->pairs.differing, (uint32_t)__popc (differs));
}

/* The same of pairs of the outline. */
static __device__ __forceinline__ void
count_outlines (uint32_t ended, uint32_t begun, CclOutlinePairs *outlines)
{
  if (ended)
    atomicAdd (&outlines->uncovered, (uint32_t)__popc (ended));
  if (begun)
    atomicAdd (&outlines->covered, (uint32_t)__popc (begun));
}

/* Adds the candidates of a word to their cells. around: those around which most places are
 * different. word: the place of the word. */
static __device__ __forceinline__ void
count_candidates (const CclCandidateParameters &p, uint32_t column, uint32_t y, size_t word,
    uint32_t candidates, uint32_t around)
{
  const CclSampledPlaces &s = p.places;
  const uint32_t pairs =
      p.candidates.finds_light ? candidates & candidates >> CUDACCL_TEXTURE_DISTANCE : 0;
  const uint32_t agrees = pairs ? pairs & p.bits.agrees[word] : 0;
  const uint32_t differs = pairs ? pairs & p.bits.differs[word] : 0;
  const uint32_t outline = (uint32_t)ccl_outline_pairs (candidates, ~UINT64_C (0));
  const uint32_t ended = outline ? outline & p.bits.ended[word] : 0;
  const uint32_t begun = outline ? outline & p.bits.begun[word] : 0;
  const uint32_t n = min (1u << s.grid.shift, 32u), mask = ~0u >> (32 - n);
  for (uint32_t x = 0; x < 32; x += n) {
    const uint32_t some = candidates >> x & mask;
    if (!some && !((ended | begun) >> x & mask))
      continue;
    const uint32_t i =
        (y >> s.grid.shift) * CUDACCL_SAMPLED_CELLS + ((32 * column + x) >> s.grid.shift);
    CclSampledCell *cell = &s.cells[i];
    if (some)
      atomicAdd (&cell->candidates, (uint32_t)__popc (some));
    if (some & around >> x)
      atomicAdd (&cell->confirming, (uint32_t)__popc (some & around >> x));
    count_pairs (agrees >> x & mask, differs >> x & mask, cell);
    count_outlines (ended >> x & mask, begun >> x & mask, &s.outlines[i]);
  }
}

/* Finds the candidates of a word from the objects of the codebook and its dynamic pixels, which are
 * inside the frame, and counts them. */
static __device__ __forceinline__ uint32_t
find_candidates (const CclCandidateParameters &p, uint32_t column, uint32_t y, uint32_t objects,
    uint32_t dynamic)
{
  const CclSampledPlaces &s = p.places;
  if (!(objects | dynamic))
    return 0;
  const CclExtent places = {s.grid.columns, s.grid.rows, s.row_words};
  const uint32_t around = pixels_of_places (
      majority<2> (count_window<2> (places, s.different, column / 2, y / 2)), column);
  const uint32_t restless =
      pixels_of_places (s.restless[(size_t)(y / 2) * s.row_words + column / 2], column);
  const uint32_t candidates = objects | (dynamic & around & ~restless);
  count_candidates (p, column, y, (size_t)y * p.extent.row_words + column, candidates, around);
  return candidates;
}

/* ---- cells ---- */

/* Bits of cells. */
typedef uint32_t CellBits[CUDACCL_SAMPLED_CELLS * ROW_HALVES];

struct Cells {
  CellBits candidates, kept;
  CellBits lit, unknown;       /* of texture.h */
  CellBits uncovered, covered; /* of uncovered.h */
  /* Of each cell: CclTexturePairs, then CclOutlinePairs. */
  uint2 pairs[CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS];
};

static __device__ __forceinline__ uint64_t
row_of_cells (const uint32_t *words, uint32_t row)
{
  return words[ROW_HALVES * row] | (uint64_t)words[ROW_HALVES * row + 1] << 32;
}

static __device__ __forceinline__ void
set_row_of_cells (uint32_t *words, uint32_t row, uint64_t cells)
{
  words[ROW_HALVES * row] = (uint32_t)cells;
  words[ROW_HALVES * row + 1] = (uint32_t)(cells >> 32);
}

/* Adds to the kept cells those of the candidates that are connected with them. One warp, a thread
 * two rows. */
static __device__ __forceinline__ void
connect_cells (const CellBits &candidates, CellBits &kept)
{
  const uint32_t lane = lane_of_warp ();
  const uint64_t upper_candidates = row_of_cells (candidates, 2 * lane);
  const uint64_t lower_candidates = row_of_cells (candidates, 2 * lane + 1);
  uint64_t upper = row_of_cells (kept, 2 * lane);
  uint64_t lower = row_of_cells (kept, 2 * lane + 1);
  for (bool changes = true; changes;) {
    uint64_t above = __shfl_up_sync (FULL_WARP, lower, 1);
    uint64_t below = __shfl_down_sync (FULL_WARP, upper, 1);
    above = lane > 0 ? above : 0;
    below = lane < 31 ? below : 0;
    const uint64_t now_upper = ccl_sampled_reached (above, upper, lower, upper_candidates);
    const uint64_t now_lower = ccl_sampled_reached (now_upper, lower, below, lower_candidates);
    changes = __any_sync (FULL_WARP, now_upper != upper || now_lower != lower);
    upper = now_upper;
    lower = now_lower;
  }
  set_row_of_cells (kept, 2 * lane, upper);
  set_row_of_cells (kept, 2 * lane + 1, lower);
}

/* The cells of a row whose texture differs from the ground's. */
static __device__ __forceinline__ uint64_t
differing_cells (const Cells &cells, uint32_t row)
{
  return row_of_cells (cells.candidates, row) & ~row_of_cells (cells.lit, row) &
         ~row_of_cells (cells.unknown, row);
}

/* Removes lit cells beside those that differ. One warp, a thread two rows. */
static __device__ __forceinline__ void
remove_sides_of_objects (Cells *cells)
{
  const uint32_t lane = lane_of_warp ();
  const uint64_t upper = differing_cells (*cells, 2 * lane);
  const uint64_t lower = differing_cells (*cells, 2 * lane + 1);
  uint64_t above = __shfl_up_sync (FULL_WARP, lower, 1);
  uint64_t below = __shfl_down_sync (FULL_WARP, upper, 1);
  above = lane > 0 ? above : 0;
  below = lane < 31 ? below : 0;
  set_row_of_cells (cells->lit, 2 * lane,
      ccl_sampled_lit (row_of_cells (cells->lit, 2 * lane), above, upper, lower));
  set_row_of_cells (cells->lit, 2 * lane + 1,
      ccl_sampled_lit (row_of_cells (cells->lit, 2 * lane + 1), upper, lower, below));
}

/* The sums of the pairs of a cell and those around it. */
static __device__ __forceinline__ uint2
pairs_around (const uint2 *pairs, uint32_t i)
{
  const uint32_t N = CUDACCL_SAMPLED_CELLS, row = i / N, column = i % N;
  uint2 around = {};
  for (uint32_t y = row > 0 ? row - 1 : 0; y <= row + 1 && y < N; y++) {
    for (uint32_t x = column > 0 ? column - 1 : 0; x <= column + 1 && x < N; x++) {
      around.x += pairs[y * N + x].x;
      around.y += pairs[y * N + x].y;
    }
  }
  return around;
}

/* What a cell that has candidates says, with those around it. */
static __device__ __forceinline__ CclTexture
texture_of_cell (const uint2 *pairs, uint32_t i)
{
  const uint2 own = pairs[i], around = pairs_around (pairs, i);
  return ccl_texture_of_cell ({own.x, own.y}, {around.x, around.y});
}

/* What its outlines say. */
static __device__ __forceinline__ CclOutline
outline_of_cell (const uint2 *pairs, uint32_t i)
{
  const uint2 around = pairs_around (pairs, i);
  return ccl_outline_of_cell ({around.x, around.y});
}

/* The old ones of a word of uncovered cells. */
static __device__ __forceinline__ uint32_t
old_cells (const CclConfirmParameters &p, uint32_t word, uint32_t uncovered)
{
  uint32_t old = 0;
  for (uint32_t rest = uncovered; rest; rest &= rest - 1) {
    const uint32_t i = (uint32_t)__ffs ((int)rest) - 1;
    old |= (uint32_t)(p.uncovered.ages[32 * word + i] >= CUDACCL_UNCOVERED_AGE) << i;
  }
  return old;
}

/* Takes cells that have been uncovered for long enough away from those with candidates and those
 * that are kept. One warp. */
static __device__ __forceinline__ void
remove_uncovered_cells (const CclConfirmParameters &p, Cells *cells)
{
  const uint32_t lane = lane_of_warp ();
  uint32_t some = 0;
  for (uint32_t i = lane; i < CUDACCL_SAMPLED_CELLS * ROW_HALVES; i += 32)
    some |= cells->uncovered[i];
  if (__any_sync (FULL_WARP, some)) {
    connect_cells (cells->candidates, cells->covered);
    connect_cells (cells->candidates, cells->uncovered);
  }
  __syncwarp ();
  for (uint32_t i = lane; i < CUDACCL_SAMPLED_CELLS * ROW_HALVES; i += 32) {
    const uint32_t uncovered = cells->uncovered[i] & ~cells->covered[i];
    const uint32_t old = old_cells (p, i, uncovered);
    cells->candidates[i] &= ~old;
    cells->kept[i] &= ~old;
    if (blockIdx.x == 0 && blockIdx.y == 0)
      p.uncovered.bits[i] = uncovered;
  }
  __syncwarp ();
}

/* Takes the uncovered and the lit cells away from those with candidates and those that are kept,
 * then adds to these what is connected with them. One warp. */
static __device__ __forceinline__ void
keep_connected (const CclConfirmParameters &p, Cells *cells)
{
  remove_uncovered_cells (p, cells);
  if (p.candidates.finds_light) {
    remove_sides_of_objects (cells);
    __syncwarp ();
    connect_cells (cells->unknown, cells->lit);
    __syncwarp ();
    for (uint32_t i = lane_of_warp (); i < CUDACCL_SAMPLED_CELLS * ROW_HALVES; i += 32) {
      cells->candidates[i] &= ~cells->lit[i];
      cells->kept[i] &= cells->candidates[i];
    }
    __syncwarp ();
  }
  connect_cells (cells->candidates, cells->kept);
}

/* Finds what the outlines of a cell say. A warp has 32 in a row. */
static __device__ __forceinline__ void
find_outline (Cells *cells, uint32_t i, bool is_candidate)
{
  const CclOutline outline = is_candidate ? outline_of_cell (cells->pairs, i) : CCL_OUTLINE_UNKNOWN;
  const uint32_t uncovered = __ballot_sync (FULL_WARP, outline == CCL_OUTLINE_UNCOVERED);
  const uint32_t covered = __ballot_sync (FULL_WARP, outline == CCL_OUTLINE_COVERED);
  if (lane_of_warp () == 0) {
    cells->uncovered[i / 32] = uncovered;
    cells->covered[i / 32] = covered;
  }
}

/* Finds the cells that are kept. All threads of a block, which load what they need of all cells
 * before they use the first: nothing else hides how long that takes. */
static __device__ __forceinline__ void
find_kept_cells (const CclConfirmParameters &p, Cells *cells)
{
  constexpr uint32_t ALL = CUDACCL_SAMPLED_CELLS * CUDACCL_SAMPLED_CELLS;
  constexpr uint32_t N = ALL / CUDACCL_CONFIRM_THREADS; /* of a thread */
  static_assert (ALL % CUDACCL_CONFIRM_THREADS == 0 && sizeof (CclSampledCell) == sizeof (uint4));
  const uint32_t n_cells =
      CUDACCL_DIVIDE_UP (p.extent.height, 1u << p.grid.shift) * CUDACCL_SAMPLED_CELLS;
  uint4 loaded[N];   /* CclSampledCell */
  uint2 outlines[N]; /* CclOutlinePairs */
#pragma unroll
  for (uint32_t k = 0; k < N; k++) {
    const uint32_t i = threadIdx.x + k * CUDACCL_CONFIRM_THREADS;
    loaded[k] = i < n_cells ? ((const uint4 *)p.cells)[i] : make_uint4 (0, 0, 0, 0);
    outlines[k] = i < n_cells ? ((const uint2 *)p.outlines)[i] : make_uint2 (0, 0);
    cells->pairs[i] = {loaded[k].z, loaded[k].w};
  }
  __syncthreads ();
#pragma unroll
  for (uint32_t k = 0; k < N; k++) {
    const uint32_t i = threadIdx.x + k * CUDACCL_CONFIRM_THREADS;
    const bool is_candidate = loaded[k].x > 0;
    const CclTexture texture = p.candidates.finds_light && is_candidate
                                   ? texture_of_cell (cells->pairs, i)
                                   : CCL_TEXTURE_DIFFERS;
    const uint32_t candidates = __ballot_sync (FULL_WARP, is_candidate);
    const uint32_t kept = __ballot_sync (FULL_WARP, loaded[k].y >= CUDACCL_SAMPLED_CONFIRMING);
    const uint32_t lit = __ballot_sync (FULL_WARP, texture == CCL_TEXTURE_AGREES);
    const uint32_t unknown = __ballot_sync (FULL_WARP, texture == CCL_TEXTURE_UNKNOWN);
    if (lane_of_warp () == 0) {
      cells->candidates[i / 32] = candidates;
      cells->kept[i / 32] = kept;
      cells->lit[i / 32] = lit;
      cells->unknown[i / 32] = unknown;
    }
  }
  __syncthreads ();
#pragma unroll
  for (uint32_t k = 0; k < N; k++)
    cells->pairs[threadIdx.x + k * CUDACCL_CONFIRM_THREADS] = outlines[k];
  __syncthreads ();
#pragma unroll
  for (uint32_t k = 0; k < N; k++)
    find_outline (cells, threadIdx.x + k * CUDACCL_CONFIRM_THREADS, loaded[k].x > 0);
  __syncthreads ();
  if (threadIdx.x < 32)
    keep_connected (p, cells);
  __syncthreads ();
}

/* The pixels of a word that are in kept cells. */
static __device__ __forceinline__ uint32_t
kept_pixels (const CclSampledGrid &grid, const Cells &cells, uint32_t column, uint32_t y)
{
  const uint64_t row = row_of_cells (cells.kept, y >> grid.shift);
  const uint32_t n = min (1u << grid.shift, 32u);
  uint32_t pixels = 0;
  for (uint32_t x = 0; x < 32; x += n) {
    const uint32_t cell = (32 * column + x) >> grid.shift;
    pixels |= cell < CUDACCL_SAMPLED_CELLS && (row >> cell & 1) ? ~0u >> (32 - n) << x : 0;
  }
  return pixels;
}

/* Gives the host the counts of a warp's words, and the change of the scene. */
static __device__ __forceinline__ void
tell_host (const CclConfirmParameters &p, uint32_t y)
{
  const size_t i = (size_t)y * gridDim.x + blockIdx.x;
  if (lane_of_warp () == 0 && y < p.extent.height)
    p.counts[i] = p.candidates.counts[i];
  if (threadIdx.x == 0 && blockIdx.x + blockIdx.y + blockIdx.z == 0)
    *p.scene_change = p.history->change;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_CONFIRM_THREADS)
    ccl_codebook_confirm (const __grid_constant__ CclConfirmParameters p)
{
  __shared__ Cells cells;
  const uint32_t first_column = blockIdx.x * 32, column = first_column + lane_of_warp ();
  const uint32_t y = row_of_warp<CUDACCL_CONFIRM_WARPS> ();
  const size_t word = (size_t)y * p.extent.row_words + column;
  const bool inside = y < p.extent.height && column < p.extent.row_words;
  wait_for_previous_kernel ();
  let_next_kernel_start ();
  uint32_t object = inside ? p.candidates.objects[word] : 0;
  const uint32_t shadow = inside ? p.candidates.shadows[word] : 0;
  tell_host (p, y);
  find_kept_cells (p, &cells);
  if (y >= p.extent.height)
    return;
  if (object)
    object &= kept_pixels (p.grid, cells, column, y);
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

#endif /* CUDACCL_CUDA_SAMPLED_PLACES_CUH */
