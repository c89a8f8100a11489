/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "algorithms.h"
#include "strips.h"

#include <pthread.h>
#include <string.h>

/* Papers. */
#define TPDS_2020                                                                                  \
  "Allegretti, Bolelli, Grana: Optimized Block-Based Algorithms to Label Connected Components on " \
  "GPUs, IEEE TPDS 31(2), 2020"
#define KOMURA_2015                                                                                \
  "Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration, "       \
  "Computer Physics Communications 194, 2015"
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

/* clang-format off */
const CclAlgorithm ccl_cuda_algorithm_table[] = {
  {
    .name = "strips", .title = "Strips", .paper = "this project",
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "strips",
    .engine = &ccl_cuda_strips_engine,
  },
  {
    .name = "bke", .title = "Block-based Komura Equivalence", .paper = TPDS_2020 ", section 5.2",
    .connectivities = CCL_OFFERS_8, .file = "bke",
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
  {
    .name = "bke-nic", .title = "Block-based Komura Equivalence without inline compression",
    .paper = TPDS_2020 ", section 5.2", .connectivities = CCL_OFFERS_8, .file = "bke",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_bke_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_bke_compress_at_end", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_bke_reduce", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_bke_compress_at_end", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_bke_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "buf", .title = "Block-based Union-Find", .paper = TPDS_2020 ", section 5.1",
    .connectivities = CCL_OFFERS_8, .file = "buf",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_buf_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_buf_merge", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_buf_compress", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_buf_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "buf-nic", .title = "Block-based Union-Find without inline compression",
    .paper = TPDS_2020 ", section 5.1", .connectivities = CCL_OFFERS_8, .file = "buf",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_buf_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_buf_merge", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_buf_compress_at_end", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_buf_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "uf", .title = "Union-Find", .paper = OLIVEIRA_2010,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "uf", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_LOCAL_MERGING, "ccl_uf_merge_locally", CCL_WORK_PIXEL, {16, 16, 1}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_uf_merge_rows", {1, 16, 1}, {128, 1, 1}},
      {CCL_PHASE_MERGING, "ccl_uf_merge_columns", {16, 1, 1}, {1, 128, 1}},
      {CCL_PHASE_RELABELLING, "ccl_uf_compress", CCL_WORK_PIXEL, {16, 16, 1}},
    },
  },
  {
    .name = "c-drag", .title = "Block-based with a graph of decisions", .paper = CAIP_2019,
    .connectivities = CCL_OFFERS_8, .file = "c_drag",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_c_drag_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_c_drag_merge", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_c_drag_compress", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_c_drag_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "c-bbdt", .title = "Block-based with a decision tree", .paper = CAIP_2019,
    .connectivities = CCL_OFFERS_8, .file = "c_bbdt",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_c_bbdt_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_c_bbdt_merge", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_c_bbdt_compress", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_c_bbdt_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "c-sauf", .title = "Scan Array-based Union-Find", .paper = CAIP_2019,
    .connectivities = CCL_OFFERS_8, .file = "c_sauf", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_c_sauf_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_c_sauf_merge", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_RELABELLING, "ccl_c_sauf_compress", CCL_WORK_PIXEL, {16, 16, 1}},
    },
  },
  {
    .name = "lbuf", .title = "Line-Based Union-Find", .paper = YONEHARA_2015,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "lbuf", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_LOCAL_MERGING, "ccl_lbuf_merge_lines", CCL_WORK_PIXEL, {256, 1, 1}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_lbuf_merge", CCL_WORK_PIXEL, {256, 1, 1}},
      {CCL_PHASE_RELABELLING, "ccl_lbuf_compress", CCL_WORK_PIXEL, {256, 1, 1}},
    },
  },
  {
    .name = "ha4", .title = "Hardware Accelerated 4", .paper = HENNEQUIN_2018,
    .connectivities = CCL_OFFERS_4, .file = "ha", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_LOCAL_MERGING, "ccl_ha_label_strips", CCL_WORK_ROW, {32, 4, 1}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_ha_merge_strips", {1, 4, 1}, {256, 1, 1}, .has_rows_of_warps = true},
      {CCL_PHASE_RELABELLING, "ccl_ha_label", CCL_WORK_PIXEL, {32, 4, 1}, .has_rows_of_warps = true},
    },
  },
  {
    .name = "ha8", .title = "Hardware Accelerated 8", .paper = HENNEQUIN_2018,
    .connectivities = CCL_OFFERS_8, .file = "ha", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_LOCAL_MERGING, "ccl_ha_label_strips", CCL_WORK_ROW, {32, 4, 1}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_ha_merge_strips", {1, 4, 1}, {256, 1, 1}, .has_rows_of_warps = true},
      {CCL_PHASE_RELABELLING, "ccl_ha_label", CCL_WORK_PIXEL, {32, 4, 1}, .has_rows_of_warps = true},
    },
  },
  {
    .name = "dlp", .title = "Distanceless Label Propagation", .paper = CABARET_2017,
    .connectivities = CCL_OFFERS_8, .file = "dlp", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_LOCAL_MERGING, "ccl_dlp_label_tiles", CCL_WORK_PIXEL, {84, 8, 1}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_dlp_merge_rows", {1, 8, 1}, {112, 1, 1}},
      {CCL_PHASE_MERGING, "ccl_dlp_merge_columns", {84, 1, 1}, {1, 96, 1}},
      {CCL_PHASE_RELABELLING, "ccl_dlp_relabel", CCL_WORK_PIXEL, {64, 2, 1}},
    },
  },
  {
    .name = "accl", .title = "Accelerated Connected Component Labeling", .paper = PARAVECINO_2014,
    .connectivities = CCL_OFFERS_4, .file = "accl", .roots_are_first_pixels = true,
    .scratch = {.per_element = 4, .per_row = 8},
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_accl_find_runs", CCL_WORK_ROW, {1, 32, 1}},
      {CCL_PHASE_MERGING, "ccl_accl_merge_rows", CCL_WORK_ROW, {1, 32, 1}},
      {CCL_PHASE_RELABELLING, "ccl_accl_label", CCL_WORK_ROW, {128, 1, 1}},
    },
  },
  {
    .name = "be", .title = "Block Equivalence", .paper = ZAVALISHIN_2016,
    .connectivities = CCL_OFFERS_8, .file = "be",
    .scratch = {.per_block = sizeof (uint32_t) + sizeof (uint8_t)},
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_be_initialise", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_be_scan", CCL_WORK_BLOCK, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_be_analyse", CCL_WORK_BLOCK, {16, 16, 1}, .repeats = 2},
      {CCL_PHASE_RELABELLING, "ccl_be_label", CCL_WORK_BLOCK, {16, 16, 1}},
    },
  },
  {
    .name = "stava", .title = "Stava and Benes", .paper = STAVA_2011,
    .connectivities = CCL_OFFERS_8, .file = "stava", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_LOCAL_MERGING, "ccl_stava_label_tiles", CCL_WORK_PIXEL, {16, 16, 1}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_stava_merge_tiles", {16, 16, 1}, {4, 4, 16}, .is_fixed = true},
      {CCL_PHASE_MERGING, "ccl_stava_compress_borders", {16, 16, 1}, {4, 4, 16}, .repeats = 2, .is_fixed = true},
      {CCL_PHASE_RELABELLING, "ccl_stava_compress", CCL_WORK_PIXEL, {16, 16, 1}},
    },
  },
  {
    .name = "brb", .title = "Block-Run-Based", .paper = CHEN_2011,
    .connectivities = CCL_OFFERS_8, .file = "brb",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_brb_extract_runs", {2, 1, 1}, {128, 1, 1}, .has_rows_of_warps = true},
      {CCL_PHASE_MERGING, "ccl_brb_update", {2, 1, 1}, {128, 1, 1}},
      {CCL_PHASE_MERGING, "ccl_brb_compress", {2, 1, 1}, {128, 1, 1}, .repeats = 2},
      {CCL_PHASE_RELABELLING, "ccl_brb_label", {2, 1, 1}, {128, 1, 1}},
    },
  },
  {
    .name = "le", .title = "Label Equivalence", .paper = HAWICK_2010,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "le", .roots_are_first_pixels = true,
    .scratch = {.per_element = sizeof (uint32_t)},
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_le_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_le_scan", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_le_analyse", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_le_label", CCL_WORK_PIXEL, {16, 16, 1}, .repeats = 3},
    },
  },
  {
    .name = "ole", .title = "Optimised Label Equivalence", .paper = KALENTEV_2011,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "ole", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_ole_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_ole_scan", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_ole_analyse", CCL_WORK_PIXEL, {16, 16, 1}, .repeats = 2},
    },
  },
  {
    .name = "rasmusson", .title = "Rasmusson, Sørensen and Ziegler", .paper = RASMUSSON_2013,
    .connectivities = CCL_OFFERS_8, .file = "rasmusson", .roots_are_first_pixels = true,
    .max_elements = (1u << 28) - 1,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_rasmusson_initialise", CCL_WORK_PIXEL, {32, 8, 1}},
      {CCL_PHASE_MERGING, "ccl_rasmusson_propagate", CCL_WORK_PIXEL, {32, 32, 1}, .repeats = 1, .is_fixed = true},
      {CCL_PHASE_RELABELLING, "ccl_rasmusson_label", CCL_WORK_PIXEL, {32, 8, 1}},
    },
  },
  {
    .name = "8dls", .title = "8-Directional Label Selection", .paper = SOH_2014,
    .connectivities = CCL_OFFERS_8, .file = "8dls", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_8dls_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_8dls_select", CCL_WORK_PIXEL, {16, 16, 1}, .repeats = 1},
    },
  },
  {
    .name = "m8dls", .title = "Modified 8-Directional Label Selection", .paper = SOH_2014,
    .connectivities = CCL_OFFERS_8, .is_inexact = true, .file = "8dls", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_8dls_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_8dls_select_modified", CCL_WORK_PIXEL, {16, 16, 1}, .repeats = 1},
    },
  },
  {
    .name = "dpl", .title = "Directional Propagation Labelling", .paper = HAWICK_2010,
    .connectivities = CCL_OFFERS_4, .file = "dpl", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_dpl_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_dpl_rightwards", CCL_WORK_ROW, {1, 64, 1}},
      {CCL_PHASE_MERGING, "ccl_dpl_upwards", CCL_WORK_COLUMN, {64, 1, 1}},
      {CCL_PHASE_MERGING, "ccl_dpl_leftwards", CCL_WORK_ROW, {1, 64, 1}},
      {CCL_PHASE_MERGING, "ccl_dpl_downwards", CCL_WORK_COLUMN, {64, 1, 1}, .repeats = 4},
    },
  },
  {
    .name = "lnp", .title = "Local Neighbour Propagation", .paper = HAWICK_2010,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "lnp", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_lnp_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_lnp_propagate", CCL_WORK_PIXEL, {16, 16, 1}, .repeats = 1, .is_fixed = true},
    },
  },
  {
    .name = "np", .title = "Neighbour Propagation", .paper = HAWICK_2010,
    .connectivities = CCL_OFFERS_4 | CCL_OFFERS_8, .file = "np", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_np_initialise", CCL_WORK_PIXEL, {16, 16, 1}},
      {CCL_PHASE_MERGING, "ccl_np_propagate", CCL_WORK_PIXEL, {16, 16, 1}, .repeats = 1},
    },
  },
  {
    .name = "bke-3d", .title = "Block-based Komura Equivalence for volumes", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CCL_OFFERS_26, .file = "bke_3d",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_bke_3d_initialise", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_bke_3d_compress", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_bke_3d_reduce", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_bke_3d_compress", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_bke_3d_label", CCL_WORK_CUBE, {16, 4, 4}},
    },
  },
  {
    .name = "buf-3d", .title = "Block-based Union-Find for volumes", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CCL_OFFERS_26, .file = "buf_3d",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_buf_3d_initialise", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_buf_3d_merge", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_buf_3d_compress", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_buf_3d_label", CCL_WORK_CUBE, {16, 4, 4}},
    },
  },
  {
    .name = "bke-3d-nic", .title = "Block-based Komura Equivalence for volumes without inline compression", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CCL_OFFERS_26, .file = "bke_3d",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_bke_3d_initialise", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_bke_3d_compress_at_end", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_bke_3d_reduce", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_bke_3d_compress_at_end", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_bke_3d_label", CCL_WORK_CUBE, {16, 4, 4}},
    },
  },
  {
    .name = "buf-3d-nic", .title = "Block-based Union-Find for volumes without inline compression", .paper = TPDS_2020 ", section 5.3",
    .connectivities = CCL_OFFERS_26, .file = "buf_3d",
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_buf_3d_initialise", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_buf_3d_merge", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_buf_3d_compress_at_end", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_RELABELLING, "ccl_buf_3d_label", CCL_WORK_CUBE, {16, 4, 4}},
    },
  },
  {
    .name = "be-3d", .title = "Block Equivalence for volumes", .paper = ZAVALISHIN_2016,
    .connectivities = CCL_OFFERS_26, .file = "be_3d",
    .scratch = {.per_block = 2 * sizeof (uint32_t)},
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_be_3d_initialise", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_be_3d_scan", CCL_WORK_CUBE, {16, 4, 4}},
      {CCL_PHASE_MERGING, "ccl_be_3d_analyse", CCL_WORK_CUBE, {16, 4, 4}, .repeats = 2},
      {CCL_PHASE_RELABELLING, "ccl_be_3d_label", CCL_WORK_CUBE, {16, 4, 4}},
    },
  },
  {
    .name = "uf-3d", .title = "Union-Find for volumes", .paper = OLIVEIRA_2010,
    .connectivities = CCL_OFFERS_6 | CCL_OFFERS_18 | CCL_OFFERS_26, .file = "uf_3d", .roots_are_first_pixels = true,
    .steps = {
      {CCL_PHASE_INITIALISATION, "ccl_uf_3d_initialise", CCL_WORK_PIXEL, {32, 4, 2}},
      {CCL_PHASE_MERGING, "ccl_uf_3d_merge", CCL_WORK_PIXEL, {32, 4, 2}},
      {CCL_PHASE_RELABELLING, "ccl_uf_3d_compress", CCL_WORK_PIXEL, {32, 4, 2}},
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

static pthread_once_t list_once = PTHREAD_ONCE_INIT;
static const char
    *labeller_names[sizeof ccl_cuda_algorithm_table / sizeof ccl_cuda_algorithm_table[0]];

static void
list_labellers (void)
{
  size_t n = 0;
  for (const CclAlgorithm *row = ccl_cuda_algorithm_table; row->name; row++) {
    if (is_for_labellers (row))
      labeller_names[n++] = row->name;
  }
}

const char *const *
ccl_cuda_algorithms (void)
{
  pthread_once (&list_once, list_labellers);
  return labeller_names;
}

bool
ccl_cuda_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  const CclAlgorithm *row = algorithm ? ccl_cuda_algorithm_find (algorithm) : NULL;
  return row && is_for_labellers (row) && ccl_cuda_algorithm_has (row, connectivity);
}
