/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strips: label map and component table; this project's own algorithm.
 *
 * It uses a property of 8-connectivity that is stronger than that of 2×2 blocks (Allegretti,
 * Bolelli, Grana, TPDS 2020, section 4.3): in a strip of two rows, two foreground pixels in the
 * same or in adjacent columns always touch. So the runs of the bitwise OR of the two rows are
 * connected. There are far fewer of them than of blocks or of ordinary runs, and a few bit
 * operations find them. For 4-connectivity a strip is a single row.
 *
 *   strip           two rows (8-connectivity) or one (4-connectivity)
 *   word            16 columns of a strip; a column is occupied if any of its pixels is foreground
 *   run             consecutive occupied columns of a strip, inside one tile
 *   part            the part of a run in one word
 *   tile            8 words × 32 strips, labelled by one block of threads, one thread per word
 *   tile component  the part of a component in one tile; open if it touches an edge of two tiles
 *   group           128 columns of a row, one bit each
 *
 * Phases in stream order. The first two are kernels. The others are blocks of one kernel, of which
 * those that number wait where they need reduced sums; with an area filter, reduce and filter
 * are kernels of their own:
 *
 *   tile      pixels to bits; runs joined in shared memory; sums over each tile component. The
 *             bit of its first pixel is set if it counts as a component: a closed one does unless
 *             the area filter removes it, an open one if there is no filter
 *   merge     joins open tile components across the edges of tiles. The one with the earlier first
 *             pixel is the parent, so the root is the one with the component's first pixel. The
 *             bits of the others are cleared
 *   reduce    adds the sums of open tile components to those of their root
 *   filter    with an area filter, sets the bits of roots by their reduced areas
 *   number    a prefix sum over the bits: the number of bits before one, plus one, is the
 *             component's label; writes the table
 *   labels    the same prefix sum, then the label map, if there is one
 *
 * Latency decides, not throughput: a phase takes a few thousand cycles, most of them for chains of
 * dependent instructions and loads. So kernels compute indices and load their parameters before
 * they wait for the previous kernel, and loops with few iterations are not unrolled, because the
 * code is longer then and has to be loaded.
 *
 * The result does not depend on the order in which threads run: components are identified by their
 * first pixel, and all sums are integers.
 */
#include "last-phases.cuh"
#include "label-tile.cuh"
#include "merge.cuh"

#define KERNEL(name, threads, ...)                                                                 \
  extern "C" __global__ void __launch_bounds__ (threads)                                           \
      ccl_strips_##name (const CclStripsParameters parameters)                                     \
  {                                                                                                \
    __VA_ARGS__ (parameters);                                                                      \
  }

KERNEL (tile_4, CUDACCL_STRIPS_TILE_THREADS, label_tile<uint8_t, 1>)
KERNEL (tile_8, CUDACCL_STRIPS_TILE_THREADS, label_tile<uint8_t, 2>)
/* The same for pixels of two bytes. */
KERNEL (tile_words_4, CUDACCL_STRIPS_TILE_THREADS, label_tile<uint16_t, 1>)
KERNEL (tile_words_8, CUDACCL_STRIPS_TILE_THREADS, label_tile<uint16_t, 2>)
KERNEL (merge_4, CUDACCL_STRIPS_MERGE_THREADS, merge_tiles<1>)
KERNEL (merge_8, CUDACCL_STRIPS_MERGE_THREADS, merge_tiles<2>)

extern "C" __global__ void
__launch_bounds__ (CUDACCL_STRIPS_NUMBER_THREADS)
    ccl_strips_reduce (const CclStripsParameters parameters)
{
  let_next_kernel_start ();
  wait_for_previous_kernel ();
  reduce_components (parameters);
}

KERNEL (filter, CUDACCL_STRIPS_NUMBER_THREADS, filter_roots)
KERNEL (number_4, CUDACCL_STRIPS_NUMBER_THREADS, number_components<1>)
KERNEL (number_8, CUDACCL_STRIPS_NUMBER_THREADS, number_components<2>)
KERNEL (write_labels_4, CUDACCL_STRIPS_NUMBER_THREADS, number_and_write_labels<1>)
KERNEL (write_labels_8, CUDACCL_STRIPS_NUMBER_THREADS, number_and_write_labels<2>)

/* Sets the completion flag, which the host polls, behind the table and the count. A kernel of its
 * own does that sooner than the last block of the number kernel, because then each block would have
 * to wait until its rows are in host memory. */
extern "C" __global__ void __launch_bounds__ (1)
    ccl_strips_finish (const CclStripsParameters parameters)
{
  wait_for_previous_kernel ();
  __threadfence_system ();
  *(volatile uint32_t *)parameters.finished = 1;
}
