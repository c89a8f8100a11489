/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the papers' algorithms. */
#include "images.h"
#include "research-images.h"
#include "research.h"

#define TPDS_2020                                                                                  \
  "Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on " \
  "GPUs, IEEE TPDS 31(2), 2020"
#define HAWICK_2010                                                                                \
  "Hawick, Leist, Playne: Parallel graph component labelling with GPUs and CUDA, Parallel "        \
  "Computing 36(12), 2010"
#define KALENTEV_2011                                                                              \
  "Kalentev, Rai, Kemnitz, Schneider: Connected component labeling on a 2D grid using CUDA, "      \
  "Journal of Parallel and Distributed Computing 71(4), 2011"
#define HENNEQUIN_2018                                                                             \
  "Hennequin, Lacassagne, Cabaret, Meunier: A new direct connected component labeling and "        \
  "analysis algorithms for GPUs, DASIP 2018"
#define CABARET_2017                                                                               \
  "Cabaret, Lacassagne, Etiemble: Distanceless Label Propagation: an Efficient Direct Connected "  \
  "Component Labeling Algorithm for GPUs, IPTA 2017"
#define ZAVALISHIN_2016                                                                            \
  "Zavalishin, Safonov, Bekhtin, Kurilin: Block Equivalence Algorithm for Labeling 2D and 3D "     \
  "Images on GPU, Electronic Imaging 2016(2)"
#define STAVA_2011 "Stava, Benes: Connected Component Labeling in CUDA, GPU Computing Gems 2011"
#define CHEN_2011                                                                                  \
  "Chen, Zhao, Tao, Sang: Block-run-based connected component labelling algorithm for "            \
  "GPGPU using shared memory, Electronics Letters 47(24), 2011"
#define RASMUSSON_2013                                                                              \
  "Rasmusson, Sørensen, Ziegler: Connected components labeling on the GPU with generalization to " \
  "Voronoi diagrams and signed distance fields, ISVC 2013"
#define SOH_2014                                                                                   \
  "Soh, Raja, Hae, Kim: Fast parallel connected component labeling algorithms using CUDA based "   \
  "on "                                                                                            \
  "8-directional label selection, IJLRST 3, 2014"
#define PARAVECINO_2014                                                                            \
  "Nina Paravecino, Kaeli: Accelerated Connected Component Labeling Using CUDA Framework, ICCVG "  \
  "2014"
#define CAIP_2019                                                                                  \
  "Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana: How does Connected Components "      \
  "Labeling with Decision Trees perform on GPUs?, CAIP 2019"
#define OLIVEIRA_2010                                                                              \
  "Oliveira, Lotufo: A study on connected components labeling algorithms using GPUs, SIBGRAPI "    \
  "2010"
#define YONEHARA_2015                                                                              \
  "Yonehara, Aizawa: A line-based connected component labeling algorithm using GPUs, CANDAR 2015"

/* An algorithm, and one that repeats the steps from `first` to before `end`. */
#define ALGORITHM(...) {.row = {.engine = &ccl_research_engine, __VA_ARGS__}},
#define IN_ROUNDS(first, end, ...)                                                                 \
  {.row = {.engine = &ccl_research_engine, __VA_ARGS__}, .rounds = {first, end}},

/* clang-format off */
const CclResearchAlgorithm ccl_research_table[] = {
  ALGORITHM (
    .name = "bke-nic", .title = "Block-based Komura Equivalence without inline compression",
    .paper = TPDS_2020 ", section 5.2", .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_bke,
    .scratch = {.per_block = sizeof (uint32_t) + sizeof (uint8_t)},
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_bke_initialise", {8, 2, 1}, {32, 8, 1}, .has_rows_of_warps = true, .is_dependent = true},
      {CUDACCL_PHASE_MERGING, "ccl_bke_compress_at_end", CUDACCL_WORK_BLOCK, {16, 16, 1}, .is_dependent = true},
      {CUDACCL_PHASE_MERGING, "ccl_bke_reduce", CUDACCL_WORK_BLOCK, {16, 16, 1}, .is_dependent = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_bke_label", {4, 2, 1}, {32, 8, 1}, .is_dependent = true},
    },
  )
  ALGORITHM (
    .name = "buf", .title = "Block-based Union-Find", .paper = TPDS_2020 ", section 5.1",
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_buf,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_buf_initialise", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_buf_merge", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_compress", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_label", CUDACCL_WORK_BLOCK, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "buf-nic", .title = "Block-based Union-Find without inline compression",
    .paper = TPDS_2020 ", section 5.1", .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_buf,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_buf_initialise", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_buf_merge", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_compress_at_end", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_label", CUDACCL_WORK_BLOCK, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "uf", .title = "Union-Find", .paper = OLIVEIRA_2010,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_uf, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_LOCAL_MERGING, "ccl_uf_merge_locally", CUDACCL_WORK_PIXEL, {16, 16, 1}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_uf_merge_rows", {1, 16, 1}, {128, 1, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_uf_merge_columns", {16, 1, 1}, {1, 128, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_uf_compress", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "c-drag", .title = "Block-based with a graph of decisions", .paper = CAIP_2019,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_c_drag,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_c_drag_initialise", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_c_drag_merge", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_c_drag_compress", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_c_drag_label", CUDACCL_WORK_BLOCK, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "c-bbdt", .title = "Block-based with a decision tree", .paper = CAIP_2019,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_c_bbdt,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_c_bbdt_initialise", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_c_bbdt_merge", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_c_bbdt_compress", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_c_bbdt_label", CUDACCL_WORK_BLOCK, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "c-sauf", .title = "Scan Array-based Union-Find", .paper = CAIP_2019,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_c_sauf, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_c_sauf_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_c_sauf_merge", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_c_sauf_compress", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "lbuf", .title = "Line-Based Union-Find", .paper = YONEHARA_2015,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_lbuf, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_LOCAL_MERGING, "ccl_lbuf_merge_lines", CUDACCL_WORK_PIXEL, {256, 1, 1}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_lbuf_merge", CUDACCL_WORK_PIXEL, {256, 1, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_lbuf_compress", CUDACCL_WORK_PIXEL, {256, 1, 1}},
    },
  )
  ALGORITHM (
    .name = "ha4", .title = "Hardware Accelerated 4", .paper = HENNEQUIN_2018,
    .connectivities = CUDACCL_OFFERS_4, .image = &ccl_cuda_image_ha, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_LOCAL_MERGING, "ccl_ha_label_strips", CUDACCL_WORK_ROW, {32, 4, 1}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_ha_merge_strips", {1, 4, 1}, {256, 1, 1}, .has_rows_of_warps = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_ha_label", CUDACCL_WORK_PIXEL, {32, 4, 1}, .has_rows_of_warps = true},
    },
  )
  ALGORITHM (
    .name = "ha8", .title = "Hardware Accelerated 8", .paper = HENNEQUIN_2018,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_ha, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_LOCAL_MERGING, "ccl_ha_label_strips", CUDACCL_WORK_ROW, {32, 4, 1}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_ha_merge_strips", {1, 4, 1}, {256, 1, 1}, .has_rows_of_warps = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_ha_label", CUDACCL_WORK_PIXEL, {32, 4, 1}, .has_rows_of_warps = true},
    },
  )
  ALGORITHM (
    .name = "dlp", .title = "Distanceless Label Propagation", .paper = CABARET_2017,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_dlp, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_LOCAL_MERGING, "ccl_dlp_label_tiles", CUDACCL_WORK_PIXEL, {84, 8, 1}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_dlp_merge_rows", {1, 8, 1}, {112, 1, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_dlp_merge_columns", {84, 1, 1}, {1, 96, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_dlp_relabel", CUDACCL_WORK_PIXEL, {64, 2, 1}},
    },
  )
#ifdef CUDACCL_HAVE_DEVICE_RUNTIME
  IN_ROUNDS (1, 2,
    .name = "accl", .title = "Accelerated Connected Component Labeling", .paper = PARAVECINO_2014,
    .connectivities = CUDACCL_OFFERS_4, .image = &ccl_cuda_image_accl,
    .scratch = {.per_element = 6, .per_row = 20},
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_accl_find_runs", CUDACCL_WORK_ROW, {1, 32, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_accl_merge", {0, 0, 0}, {1, 1, 1}, .is_fixed = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_accl_label", CUDACCL_WORK_ROW, {128, 1, 1}},
    },
  )
#endif
  ALGORITHM (
    .name = "accl-union-find", .title = "ACCL with union-find", .paper = PARAVECINO_2014 "; union-find in place of relabelling",
    .connectivities = CUDACCL_OFFERS_4, .image = &ccl_cuda_image_accl_union_find, .roots_are_first_pixels = true,
    .scratch = {.per_element = 4, .per_row = 8},
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_accl_union_find_find_runs", CUDACCL_WORK_ROW, {1, 32, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_accl_union_find_merge_rows", CUDACCL_WORK_ROW, {1, 32, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_accl_union_find_label", CUDACCL_WORK_ROW, {128, 1, 1}},
    },
  )
  IN_ROUNDS (1, 3,
    .name = "be", .title = "Block Equivalence", .paper = ZAVALISHIN_2016,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_be,
    .scratch = {.per_block = sizeof (uint32_t) + sizeof (uint8_t)},
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_be_initialise", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_be_scan", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_be_analyse", CUDACCL_WORK_BLOCK, {16, 16, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_be_label", CUDACCL_WORK_BLOCK, {16, 16, 1}},
    },
  )
  IN_ROUNDS (1, 3,
    .name = "stava", .title = "Stava and Benes", .paper = STAVA_2011,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_stava, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_LOCAL_MERGING, "ccl_stava_label_tiles", CUDACCL_WORK_PIXEL, {16, 16, 1}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_stava_merge_tiles", {16, 16, 1}, {4, 4, 16}, .is_fixed = true},
      {CUDACCL_PHASE_MERGING, "ccl_stava_compress_borders", {16, 16, 1}, {4, 4, 16}, .is_fixed = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_stava_compress", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "brb", .title = "Block-Run-Based", .paper = CHEN_2011,
    .connectivities = CUDACCL_OFFERS_8, .max_width = 4096, .image = &ccl_cuda_image_brb, .roots_share_blocks = true,
    .steps = {
      {CUDACCL_PHASE_MERGING, "ccl_brb_scan", {0, 0, 0}, {1024, 1, 1}, .is_fixed = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_brb_label", {0, 0, 0}, {1024, 1, 1}, .is_fixed = true},
    },
  )
  IN_ROUNDS (1, 3,
    .name = "brb-global", .title = "Block-Run-Based in global memory", .paper = CHEN_2011 "; global in place of shared memory",
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_brb_global, .roots_share_blocks = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_brb_global_extract_runs", {2, 1, 1}, {128, 1, 1}, .has_rows_of_warps = true},
      {CUDACCL_PHASE_MERGING, "ccl_brb_global_update", {2, 1, 1}, {128, 1, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_brb_global_compress", {2, 1, 1}, {128, 1, 1}},
      {CUDACCL_PHASE_RELABELLING, "ccl_brb_global_label", {2, 1, 1}, {128, 1, 1}},
    },
  )
  IN_ROUNDS (1, 4,
    .name = "le", .title = "Label Equivalence", .paper = HAWICK_2010,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_le, .roots_are_first_pixels = true,
    .scratch = {.per_element = sizeof (uint32_t)},
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_le_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_le_scan", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_le_analyse", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_le_label", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  IN_ROUNDS (1, 3,
    .name = "ole", .title = "Optimised Label Equivalence", .paper = KALENTEV_2011,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_ole, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_ole_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_ole_scan", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_ole_analyse", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  IN_ROUNDS (1, 2,
    .name = "rasmusson", .title = "Rasmusson, Sørensen and Ziegler", .paper = RASMUSSON_2013,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_rasmusson, .roots_are_first_pixels = true,
    .max_elements = (1u << 28) - 1,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_rasmusson_initialise", CUDACCL_WORK_PIXEL, {32, 8, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_rasmusson_propagate", CUDACCL_WORK_PIXEL, {32, 32, 1}, .is_fixed = true},
      {CUDACCL_PHASE_RELABELLING, "ccl_rasmusson_label", CUDACCL_WORK_PIXEL, {32, 8, 1}},
    },
  )
  IN_ROUNDS (1, 2,
    .name = "8dls", .title = "8-Directional Label Selection", .paper = SOH_2014,
    .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_8dls, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_8dls_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_8dls_select", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  {
    .row = {
      .engine = &ccl_research_engine,
      .name = "m8dls", .title = "Modified 8-Directional Label Selection", .paper = SOH_2014,
      .connectivities = CUDACCL_OFFERS_8, .image = &ccl_cuda_image_8dls, .roots_are_first_pixels = true,
      .steps = {
        {CUDACCL_PHASE_INITIALISATION, "ccl_8dls_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
        {CUDACCL_PHASE_MERGING, "ccl_8dls_select_modified", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      },
    },
    .is_inexact = true,
    .rounds = {1, 2},
  },
  IN_ROUNDS (1, 5,
    .name = "dpl", .title = "Directional Propagation Labelling", .paper = HAWICK_2010,
    .connectivities = CUDACCL_OFFERS_4, .image = &ccl_cuda_image_dpl, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_dpl_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_dpl_rightwards", CUDACCL_WORK_ROW, {1, 64, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_dpl_upwards", CUDACCL_WORK_COLUMN, {64, 1, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_dpl_leftwards", CUDACCL_WORK_ROW, {1, 64, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_dpl_downwards", CUDACCL_WORK_COLUMN, {64, 1, 1}},
    },
  )
  IN_ROUNDS (1, 2,
    .name = "lnp", .title = "Local Neighbour Propagation", .paper = HAWICK_2010,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_lnp, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_lnp_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_lnp_propagate", CUDACCL_WORK_PIXEL, {16, 16, 1}, .is_fixed = true},
    },
  )
  IN_ROUNDS (1, 2,
    .name = "np", .title = "Neighbour Propagation", .paper = HAWICK_2010,
    .connectivities = CUDACCL_OFFERS_4 | CUDACCL_OFFERS_8, .image = &ccl_cuda_image_np, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_np_initialise", CUDACCL_WORK_PIXEL, {16, 16, 1}},
      {CUDACCL_PHASE_MERGING, "ccl_np_propagate", CUDACCL_WORK_PIXEL, {16, 16, 1}},
    },
  )
  ALGORITHM (
    .name = "bke-3d", .title = "Block-based Komura Equivalence for volumes", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CUDACCL_OFFERS_26, .image = &ccl_cuda_image_bke_3d,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_bke_3d_initialise", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_bke_3d_compress", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_bke_3d_reduce", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_bke_3d_compress", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_bke_3d_label", CUDACCL_WORK_CUBE, {16, 4, 4}},
    },
  )
  ALGORITHM (
    .name = "buf-3d", .title = "Block-based Union-Find for volumes", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CUDACCL_OFFERS_26, .image = &ccl_cuda_image_buf_3d,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_buf_3d_initialise", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_buf_3d_merge", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_3d_compress", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_3d_label", CUDACCL_WORK_CUBE, {16, 4, 4}},
    },
  )
  ALGORITHM (
    .name = "bke-3d-nic", .title = "Block-based Komura Equivalence for volumes without inline compression", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CUDACCL_OFFERS_26, .image = &ccl_cuda_image_bke_3d,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_bke_3d_initialise", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_bke_3d_compress_at_end", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_bke_3d_reduce", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_bke_3d_compress_at_end", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_bke_3d_label", CUDACCL_WORK_CUBE, {16, 4, 4}},
    },
  )
  ALGORITHM (
    .name = "buf-3d-nic", .title = "Block-based Union-Find for volumes without inline compression", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CUDACCL_OFFERS_26, .image = &ccl_cuda_image_buf_3d,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_buf_3d_initialise", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_buf_3d_merge", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_3d_compress_at_end", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_buf_3d_label", CUDACCL_WORK_CUBE, {16, 4, 4}},
    },
  )
  IN_ROUNDS (1, 3,
    .name = "be-3d", .title = "Block Equivalence for volumes", .paper = ZAVALISHIN_2016,
    .connectivities = CUDACCL_OFFERS_26, .image = &ccl_cuda_image_be_3d,
    .scratch = {.per_block = 2 * sizeof (uint32_t)},
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_be_3d_initialise", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_be_3d_scan", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_MERGING, "ccl_be_3d_analyse", CUDACCL_WORK_CUBE, {16, 4, 4}},
      {CUDACCL_PHASE_RELABELLING, "ccl_be_3d_label", CUDACCL_WORK_CUBE, {16, 4, 4}},
    },
  )
  ALGORITHM (
    .name = "uf-3d", .title = "Union-Find for volumes", .paper = OLIVEIRA_2010,
    .connectivities = CUDACCL_OFFERS_6 | CUDACCL_OFFERS_18 | CUDACCL_OFFERS_26, .image = &ccl_cuda_image_uf_3d, .roots_are_first_pixels = true,
    .steps = {
      {CUDACCL_PHASE_INITIALISATION, "ccl_uf_3d_initialise", CUDACCL_WORK_PIXEL, {32, 4, 2}},
      {CUDACCL_PHASE_MERGING, "ccl_uf_3d_merge", CUDACCL_WORK_PIXEL, {32, 4, 2}},
      {CUDACCL_PHASE_RELABELLING, "ccl_uf_3d_compress", CUDACCL_WORK_PIXEL, {32, 4, 2}},
    },
  )
  {{NULL}},
};
/* clang-format on */
