/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BBDT, block-based with a decision tree: two passes over blocks of 2×2 pixels.
 *
 * Grana, Borghesani, Cucchiara: Optimized Block-based Connected Components Labeling with Decision
 * Trees, IEEE Transactions on Image Processing 19(6), 2010; as in the review by Bolelli et al.,
 * IEEE TPDS 2024, section III-B-7. 8-connectivity, with a tree made by
 * research/decision-trees/generate.c.
 */
#define BLOCK_TREE "bbdt-tree.inc"
#include "block-scans.h"

const TwoPassAlgorithm research_bbdt = {
    .row =
        {
            .name = "bbdt",
            .title = "BBDT: block-based scan with a decision tree",
            .paper =
                "Grana, Borghesani, Cucchiara: Optimized Block-based Connected Components Labeling "
                "with Decision Trees, IEEE Transactions on Image Processing 19(6), 2010",
            .labeller_new = two_pass_labeller_new,
        },
    .rows_per_strip = 2,
    .first_scan = first_scan,
    .second_scan = second_scan,
};
