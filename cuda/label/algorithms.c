/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "algorithms.h"

#include <pthread.h>
#include <string.h>

#include "images.h"
#include "sequence-engine.h"
#include "cuda/label/strips/strips.h"

#define TPDS_2020                                                                                  \
  "Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on " \
  "GPUs, IEEE TPDS 31(2), 2020"
#define KOMURA_2015                                                                                \
  "Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration, "       \
  "Computer Physics Communications 194, 2015"

/* clang-format off */
const CclAlgorithm ccl_cuda_algorithm_table[] = {
  {
    .name = "strips", .title = "Strips: connects runs of foreground pixels in horizontal strips", .paper = "this project",
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_strips,
    .engine = &ccl_cuda_strips_engine,
  },
  {
    .name = "bke", .title = "BKE: block-based Komura equivalence", .paper = TPDS_2020 ", section 5.2",
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_bke,
    .scratch = {.per_block = sizeof (uint32_t) + sizeof (uint8_t)},
    .engine = &ccl_cuda_sequence_engine,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_bke_initialise", {8, 2, 1}, {32, 8, 1}, .has_rows_of_warps = true, .is_dependent = true,
       .words_kernel = "ccl_bke_initialise_words"},
      {CUDACCL_PHASE_MERGING, "ccl_bke_compress", CUDACCL_WORK_BLOCK, {16, 16, 1}, .is_dependent = true},
      {CUDACCL_PHASE_MERGING, "ccl_bke_reduce", CUDACCL_WORK_BLOCK, {16, 16, 1}, .is_dependent = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_bke_label", {4, 2, 1}, {32, 8, 1}, .is_dependent = true},
    },
  },
  {
    .name = "ke", .title = "KE: Komura equivalence", .paper = KOMURA_2015,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_ke, .roots_are_first_pixels = true,
    .engine = &ccl_cuda_sequence_engine,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_ke_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}, .words_kernel = "ccl_ke_initialise_words"},
      {CUDACCL_PHASE_MERGING, "ccl_ke_compress", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_ke_reduce", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_ke_compress", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  },
  {NULL},
};
/* clang-format on */

static const char *names[sizeof ccl_cuda_algorithm_table / sizeof *ccl_cuda_algorithm_table];
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

/* The table ends with a row without a name, and so does the list. */
static void
list_names (void)
{
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    names[i] = ccl_cuda_algorithm_table[i].name;
}

const CclAlgorithm *
ccl_cuda_algorithm_find (const char *name)
{
  for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++) {
    if (!strcmp (row->name, name))
      return row;
  }
  return NULL;
}

const char *const *
ccl_cuda_algorithms (void)
{
  pthread_once (&names_once, list_names);
  return names;
}

bool
ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  const CclAlgorithm *row = algorithm ? ccl_cuda_algorithm_find (algorithm) : NULL;
  return row && ccl_cuda_algorithm_has (row, connectivity);
}

const char *
ccl_cuda_algorithm_title (const char *algorithm)
{
  const CclAlgorithm *row = algorithm ? ccl_cuda_algorithm_find (algorithm) : NULL;
  return row ? row->title : NULL;
}
