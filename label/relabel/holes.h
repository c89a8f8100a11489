/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The holes of a picture's foreground: components of the background that do not touch the picture's
 * border. They are found by a labelling of the background before that of the foreground; its label
 * map is kept in a file without a name. For one process.
 */
#pragma once

#include <cudaccl/tiled.h>

typedef struct Holes Holes;

/* The plan to label the background, components of at most max_area pixels, 0: of any. foreground:
 * the plan of the foreground. */
CclTiledPlan holes_plan (const CclTiledPlan *foreground, uint64_t max_area);

/* Whether a component touches no side of the picture; of a volume the first and the last slice are
 * sides, too. */
bool holes_is_enclosed (const CclTiledPlan *plan, const CclTiledComponent *row);

/* Finds holes of at most max_area pixels, 0: of any area. plan: of the foreground, for all layers
 * of the picture. read, data: as in CclTiledIo. Holes have the neighbours that do not pass between
 * foreground pixels: 8 with 4 of the foreground and 4 with 8; 26 with 6, and 6 with 18 and 26.
 * Returns NULL with the error filled. */
Holes *holes_find (const CclTiledPlan *plan,
    CclStatus (*read) (
        void *data, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error),
    void *data, uint64_t max_area, CclError *error);

/* Makes the pixels of holes in layers of the picture foreground. */
bool holes_fill (
    const Holes *holes, uint64_t first_layer, uint64_t n_layers, uint8_t *pixels, CclError *error);

void holes_free (Holes *holes); /* NULL is allowed */
