/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "algorithms.h"

#include <string.h>

#define TPDS_2020                                                                                  \
  "Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on " \
  "GPUs, IEEE TPDS 31(2), 2020"
#define KOMURA_2015                                                                                \
  "Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration, "       \
  "Computer Physics Communications 194, 2015"

/* clang-format off */
const CclAlgorithm ccl_cuda_algorithm_table[] = {
  {
    .name = "bke", .title = "Block-based Komura Equivalence", .paper = TPDS_2020 ", section 5.2",
    .connectivities = CCL_OFFERS_8, .file = "bke", .scratch = {.per_element = 0},
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_bke_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_bke_compress", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_bke_reduce", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_bke_compress", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_bke_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "ke", .title = "Komura Equivalence", .paper = KOMURA_2015,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "ke", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_ke_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_ke_compress", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_ke_reduce", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_ke_compress", CCL_WORK_PIXEL, {16, 16, 1}},
    },
  },
  {NULL},
};
/* clang-format on */

const CclAlgorithm *
ccl_cuda_algorithm_find (const char *name)
{
  for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++) {
    if (!strcmp (row->name, name))
      return row;
  }
  return NULL;
}

bool
ccl_cuda_algorithm_has (const CclAlgorithm *algorithm, uint32_t connectivity)
{
  switch (connectivity) {
  case 4:
    return algorithm->connectivities & CCL_OFFERS_4;
  case 8:
    return algorithm->connectivities & CCL_OFFERS_8;
  case 6:
    return algorithm->connectivities & CCL_OFFERS_6;
  case 18:
    return algorithm->connectivities & CCL_OFFERS_18;
  case 26:
    return algorithm->connectivities & CCL_OFFERS_26;
  default:
    return false;
  }
}

/* A labeller takes exact algorithms for frames. */
static bool
is_for_labellers (const CclAlgorithm *algorithm)
{
  return !algorithm->is_inexact && (algorithm->connectivities & (CCL_OFFERS_4 | CCL_OFFERS_8));
}

const char *const *
ccl_cuda_algorithms (void)
{
  static const char *names[sizeof ccl_cuda_algorithm_table / sizeof ccl_cuda_algorithm_table[0]];
  /* Threads that come here together write the same values. */
  size_t n = 0;
  for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++) {
    if (is_for_labellers (row))
      __atomic_store_n (&names[n++], row->name, __ATOMIC_RELAXED);
  }
  return names;
}

bool
ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  const CclAlgorithm *row = algorithm ? ccl_cuda_algorithm_find (algorithm) : NULL;
  return row && is_for_labellers (row) && ccl_cuda_algorithm_has (row, connectivity);
}
