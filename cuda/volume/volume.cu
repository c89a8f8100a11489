/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Component table and label map of a volume, with 6, 18 or 26 neighbours.
 *
 * The foreground is kept as one bit per voxel, in words of 32 voxels of a row. A run is a maximal
 * sequence of set bits inside a word. Runs are the elements of a union-find forest: word w has the
 * elements w << element_shift and up, one for each run that it can have. Parents are never greater
 * than their children, so the root of a component is the run of its first voxel, and counting the
 * roots in order of their indices numbers the components in raster order.
 *
 * 1. find_runs: bits, and parents of runs; runs that continue across words of a tile are linked.
 * 2. merge: union with the runs in the four rows before a row: (y - 1, z), (y, z - 1),
 *    (y - 1, z - 1) and (y + 1, z - 1). A pair of runs that other unions connect is left out, so
 *    that solid foreground needs one union per row.
 * 3. With an area filter only: sum_areas.
 * 4. number_roots: compresses all paths, and numbers the roots that pass the filter inside chunks
 *    of 256 words.
 * 5. number_chunks: components before each chunk.
 * 6. sum_voxels: voxels, box and sums of coordinates of the components that have a row.
 * 7. write_table: the rows, in host memory.
 * 8. With a label map only: write_labels.
 *
 * Kernels with one word per thread see the volume in tiles of 256 words: as many words of a row as
 * there are, up to 32, then as many rows, then slices.
 *
 * Runs as the unit of labelling: He, Chao, Suzuki: A Run-Based Two-Scan Labeling Algorithm, IEEE
 * Transactions on Image Processing 17(5), 2008; on GPUs, with bit operations on words: Hennequin,
 * Lacassagne, Cabaret, Meunier: A new direct connected component labeling and analysis algorithms
 * for GPUs, DASIP 2018. The union is the one of union-find.cuh.
 */
#include "cuda/kernel-lib/chunks.cuh"
#include "part-sums.cuh"
#include "unite.cuh"

/* ---- find_runs ---- */

/* One bit for each of four voxels above the threshold. */
static __device__ __forceinline__ uint32_t
bits_of_four (const Parameters &p, uint32_t voxels)
{
  const uint32_t above = __vcmpgtu4 (voxels, p.threshold * 0x01010101u);
  return (above & 0x01010101u) * 0x10204080u >> 28;
}

static __device__ __forceinline__ uint32_t
bits_of_sixteen (const Parameters &p, uint4 voxels)
{
  return bits_of_four (p, voxels.x) | bits_of_four (p, voxels.y) << 4 |
         bits_of_four (p, voxels.z) << 8 | bits_of_four (p, voxels.w) << 12;
}

/* Reads the words that their threads cannot read alone: the warp reads each of them together, a
 * voxel per lane, eight words at a time to overlap the latency of the loads. */
static __device__ __forceinline__ uint32_t
read_words_together (
    const Parameters &p, const uint8_t *voxels, uint32_t n_voxels, uint32_t bits, bool is_needed)
{
  const uint32_t lane = lane_of_warp ();
  const uint32_t needed = __ballot_sync (FULL_WARP, is_needed);
  for (uint32_t first = 0; first < 32; first += 8) {
    if (!(needed >> first & 0xff))
      continue;
    bool is_above[8];
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
      const uint64_t address = __shfl_sync (FULL_WARP, (uint64_t)(uintptr_t)voxels, first + i);
      const uint32_t n = __shfl_sync (FULL_WARP, n_voxels, first + i);
      const bool is_inside = (needed >> (first + i) & 1) && lane < n;
      is_above[i] = is_inside && ((const uint8_t *)(uintptr_t)address)[lane] > p.threshold;
    }
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
      const uint32_t found = __ballot_sync (FULL_WARP, is_above[i]);
      if (lane == first + i && is_needed)
        bits = found;
    }
  }
  return bits;
}

/* The foreground of the thread's word. All threads of a warp take part. */
static __device__ __forceinline__ uint32_t
read_word (const Parameters &p, const Place &place)
{
  const uint32_t n_voxels = n_voxels_of (p, place);
  const uint8_t *voxels = p.volume;
  if (place.exists)
    voxels += place.z * p.slice_stride + place.y * p.row_stride + place.column * 32;
  const bool is_vector = p.vectorised && n_voxels == 32;
  uint32_t bits = 0;
  if (is_vector) {
    const uint4 low = __ldg ((const uint4 *)voxels), high = __ldg ((const uint4 *)voxels + 1);
    bits = bits_of_sixteen (p, low) | bits_of_sixteen (p, high) << 16;
  }
  bits = read_words_together (p, voxels, n_voxels, bits, n_voxels && !is_vector);
  return n_voxels ? (bits ^ p.invert) & FULL_WARP >> (32 - n_voxels) : 0;
}

/* The element that the first run of the thread's word is linked to: the run's start in the same
 * tile if it continues one, or else itself. All threads of a warp take part. */
static __device__ __forceinline__ uint32_t
parent_of_first_run (const Parameters &p, const Place &place, uint32_t bits)
{
  const uint32_t lane = lane_of_warp ();
  const bool is_first_of_row = (threadIdx.x & bits_below (p.tile_x_shift)) == 0;
  const uint32_t before = __shfl_up_sync (FULL_WARP, bits, 1);
  const bool continues = !is_first_of_row && (bits & before >> 31);
  /* Words that are full pass on the run before them, so it starts in the nearest other one. */
  const uint32_t passing = __ballot_sync (FULL_WARP, continues && bits == FULL_WARP);
  const uint32_t starting = ~passing & bits_below (lane);
  const uint32_t source = continues ? 31 - __clz (starting) : lane;
  const uint32_t first = place.word << p.element_shift;
  const uint32_t last = first + __popc (starts_of (bits)) - 1;
  const uint32_t last_of_source = __shfl_sync (FULL_WARP, last, source);
  return continues ? last_of_source : first;
}

/* Makes each run of a word a tree, but for the first, whose parent is given. */
static __device__ __forceinline__ void
store_parents (const Parameters &p, uint32_t word, uint32_t bits, uint32_t first_parent)
{
  const uint32_t first = word << p.element_shift, n_runs = __popc (starts_of (bits));
  if (p.element_shift < 2) {
    for (uint32_t i = 0; i < n_runs; i++)
      p.parents[first + i] = i ? first + i : first_parent;
    return;
  }
  /* Elements without a run may be written: nothing reads them. */
  for (uint32_t i = 0; i < n_runs; i += 4) {
    const uint32_t next = first + i;
    *(uint4 *)&p.parents[next] = make_uint4 (i ? next : first_parent, next + 1, next + 2, next + 3);
  }
}

static __device__ __forceinline__ void
clear_areas (const Parameters &p, uint32_t word, uint32_t bits)
{
  const uint32_t first = word << p.element_shift, n_runs = __popc (starts_of (bits));
  for (uint32_t i = 0; i < n_runs; i++)
    p.areas[first + i] = 0;
}

/* A block for each tile, as in merge, sum_areas and write_labels. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_volume_find_runs (const CclVolumeParameters p)
{
  const Place place = own_place (p);
  const uint32_t bits = read_word (p, place);
  const uint32_t first_parent = parent_of_first_run (p, place, bits);
  if (!place.exists)
    return;
  p.words[place.word] = bits;
  store_parents (p, place.word, bits, first_parent);
  if (p.filtered)
    clear_areas (p, place.word, bits);
}

/* ---- merge ---- */

extern "C" __global__ void
__launch_bounds__ (THREADS, CUDACCL_VOLUME_MERGE_BLOCKS)
    ccl_volume_merge (const CclVolumeParameters p)
{
  const Place place = own_place (p);
  if (!place.exists)
    return;
  const Span own = span_at (p, place, 0, 0);
  if (!own.bits)
    return;
  const Span above = span_at (p, place, -1, 0), behind = span_at (p, place, 0, -1);
  const Span above_behind = span_at (p, place, -1, -1);

  /* find_runs has linked runs inside the tile only. */
  const bool is_first_of_tile = (place.column & bits_below (p.tile_x_shift)) == 0;
  if (is_first_of_tile && (own.bits & own.before >> 31))
    unite (p.parents, element_of (p, own.word, own.bits, 0),
        element_of (p, own.word - 1, own.before, 31));

  unite_overlaps (p, own, above, 0);
  unite_overlaps (p, own, behind, above.bits & above_behind.bits);
  if (p.connectivity == 6)
    return;
  unite_diagonals (p, own, above, 0, 0);
  unite_diagonals (p, own, behind, 0, 0);
  unite_across_edge (p, own, above_behind, above, behind);
  unite_across_edge (p, own, span_at (p, place, 1, -1), span_at (p, place, 1, 0), behind);
}

/* ---- sum_areas and number_roots ---- */

/* Adds to the area of a root, in shared memory if it has a slot there. */
static __device__ __forceinline__ void
add_area (const Parameters &p, uint32_t *owners, uint32_t *areas, uint32_t root, uint32_t area)
{
  const uint32_t slot = find_slot (owners, root);
  atomicAdd (slot == N_SLOTS ? &p.areas[root] : &areas[slot], area);
}

extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_volume_sum_areas (const CclVolumeParameters p)
{
  __shared__ uint32_t owners[N_SLOTS], areas[N_SLOTS];
  const Place place = own_place (p);
  if (threadIdx.x < N_SLOTS) {
    owners[threadIdx.x] = NO_COMPONENT;
    areas[threadIdx.x] = 0;
  }
  __syncthreads ();
  const uint32_t bits = place.exists ? p.words[place.word] : 0;
  uint32_t element = place.word << p.element_shift;
  for (uint32_t starts = starts_of (bits); starts; starts &= starts - 1, element++) {
    const uint32_t start = __ffs (starts) - 1;
    const uint32_t root = find_final_root (p.parents, element);
    add_area (p, owners, areas, root, end_of_run (bits, start) - start);
  }
  __syncthreads ();
  if (threadIdx.x < N_SLOTS && owners[threadIdx.x] != NO_COMPONENT)
    atomicAdd (&p.areas[owners[threadIdx.x]], areas[threadIdx.x]);
}

static __device__ __forceinline__ bool
passes_filter (const Parameters &p, uint32_t root)
{
  if (!p.filtered)
    return true;
  const uint32_t area = p.areas[root];
  return area >= p.min_area && area <= p.max_area;
}

/* A block for each chunk, a thread for each word. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_volume_number_roots (const CclVolumeParameters p)
{
  __shared__ uint32_t sums[THREADS / 32];
  const uint32_t word = blockIdx.x * CUDACCL_VOLUME_CHUNK_WORDS + threadIdx.x;
  const uint32_t first = word << p.element_shift;
  const uint32_t n_runs = word < p.n_words ? __popc (starts_of (p.words[word])) : 0;
  uint32_t kept = 0; /* runs that are roots of components that pass the filter */
  for (uint32_t i = 0; i < n_runs; i++) {
    const uint32_t root = find_final_root (p.parents, first + i);
    if (root != first + i)
      p.parents[first + i] = root;
    else if (passes_filter (p, root))
      kept |= 1u << i;
    else
      p.parents[root] = CUDACCL_VOLUME_REMOVED;
  }
  uint32_t n_chunk;
  uint32_t number = sum_before_thread (__popc (kept), sums, THREADS / 32, &n_chunk);
  for (; kept; kept &= kept - 1)
    p.parents[first + __ffs (kept) - 1] = CUDACCL_VOLUME_ROOT | number++;
  if (threadIdx.x == 0)
    p.chunk_offsets[blockIdx.x] = n_chunk;
}

extern "C" __global__ void
__launch_bounds__ (CUDACCL_SCAN_THREADS) ccl_volume_number_chunks (const CclVolumeParameters p)
{
  const uint32_t n_components = number_chunks (p.chunk_offsets, p.n_chunks);
  if (threadIdx.x == 0) {
    *p.n_components = n_components;
    *p.result_count = n_components;
  }
}

/* ---- sum_voxels ---- */

/* A block for sum_depth tiles, one behind another. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_volume_sum_voxels (const CclVolumeParameters p)
{
  __shared__ BlockSums block;
  const Corner corner = corner_of_tile (p, blockIdx.x, p.sum_depth);
  if (threadIdx.x < N_SLOTS) {
    block.owners[threadIdx.x] = NO_COMPONENT;
    block.sums[threadIdx.x] = no_sums ();
  }
  __syncthreads ();

  Pending pending = {NO_COMPONENT, no_sums ()};
  Corner tile = corner;
  for (uint32_t i = 0; i < p.sum_depth; i++) {
    const Place place = place_in_tile (p, tile);
    if (place.exists)
      add_word (p, block, corner, place, pending);
    tile.z += 1u << p.tile_z_shift;
  }
  /* Where one component fills the tile, one lane adds for the warp. */
  if (__all_sync (FULL_WARP, pending.component == __shfl_sync (FULL_WARP, pending.component, 0))) {
    pending.sums = reduce_in_warp (pending.sums);
    if (lane_of_warp () > 0)
      pending.component = NO_COMPONENT;
  }
  if (pending.component != NO_COMPONENT)
    add_to_block (p, block, corner, pending.component, pending.sums);
  __syncthreads ();
  if (threadIdx.x < N_SLOTS && block.owners[threadIdx.x] != NO_COMPONENT)
    add_to_component (p, corner, block.owners[threadIdx.x], block.sums[threadIdx.x]);
}

/* ---- write_table and write_labels ---- */

/* A thread for each row. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_volume_write_table (const CclVolumeParameters p)
{
  __shared__ CclVolumeComponent rows[THREADS];
  const uint32_t n_rows = min (*p.n_components, p.n_rows), first_row = blockIdx.x * THREADS;
  if (first_row >= n_rows)
    return;
  const uint32_t n_block_rows = min (n_rows - first_row, (uint32_t)THREADS);
  if (threadIdx.x < n_block_rows) {
    const CclVolumeAccumulator sums = p.accumulators[first_row + threadIdx.x];
    CclVolumeComponent *row = &rows[threadIdx.x];
    row->label = first_row + threadIdx.x + 1;
    row->n_voxels = sums.n_voxels + 1;
    row->x = sums.min_x;
    row->y = sums.min_y;
    row->z = sums.min_z;
    row->width = ~sums.max_x_complement - sums.min_x + 1;
    row->height = ~sums.max_y_complement - sums.min_y + 1;
    row->depth = ~sums.max_z_complement - sums.min_z + 1;
    row->centroid_x = (double)(sums.sum_x + 1) / (double)row->n_voxels;
    row->centroid_y = (double)(sums.sum_y + 1) / (double)row->n_voxels;
    row->centroid_z = (double)(sums.sum_z + 1) / (double)row->n_voxels;
  }
  __syncthreads ();
  store_rows (p.rows + first_row, rows, n_block_rows);
}

/* A warp writes its 32 words one after the other, a voxel per lane. */
extern "C" __global__ void
__launch_bounds__ (THREADS) ccl_volume_write_labels (const CclVolumeParameters p)
{
  const uint32_t lane = lane_of_warp ();
  const Place place = own_place (p);
  const uint32_t own_bits = place.exists ? p.words[place.word] : 0;
  const uint32_t own_n_voxels = n_voxels_of (p, place);
  const uint64_t own_offset =
      place.z * p.label_slice + place.y * p.label_row + (uint64_t)place.column * 32;
#pragma unroll 4
  for (uint32_t i = 0; i < 32; i++) {
    const uint32_t bits = __shfl_sync (FULL_WARP, own_bits, i);
    const uint32_t word = __shfl_sync (FULL_WARP, place.word, i);
    const uint32_t n_voxels = __shfl_sync (FULL_WARP, own_n_voxels, i);
    const uint64_t offset = __shfl_sync (FULL_WARP, own_offset, i);
    uint32_t label = 0;
    /* The number of a component that was filtered out is UINT32_MAX, which makes label 0. */
    if (bits >> lane & 1)
      label = component_number (p, element_of (p, word, bits, lane)) + 1;
    if (lane < n_voxels)
      p.labels[offset + lane] = label;
  }
}
