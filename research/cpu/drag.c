/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DRAG, block-based with a directed rooted acyclic graph: BBDT with a decision tree that shares
 * equal subtrees.
 *
 * Bolelli, Baraldi, Cancilla, Grana: Connected Components Labeling on DRAGs, ICPR 2018; as in the
 * review by Bolelli et al., IEEE TPDS 2024, section III-B-7. 8-connectivity, with a graph made by
 * research/decision-trees/generate.c.
 */
#define BLOCK_TREE "drag-tree.inc"
#include "block-scans.h"

const TwoPassAlgorithm research_drag = {
    .row =
        {
            .name = "drag",
            .title = "DRAG: block-based scan with a directed rooted acyclic graph",
            .paper = "Bolelli, Baraldi, Cancilla, Grana: Connected Components Labeling on DRAGs, "
                     "ICPR 2018",
            .labeller_new = two_pass_labeller_new,
        },
    .rows_per_strip = 2,
    .first_scan = first_scan,
    .second_scan = second_scan,
};
