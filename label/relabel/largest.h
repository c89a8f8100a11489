/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The largest components of a picture, which alone stay, and their new labels. Functions that
 * return bool or a pointer fill the error. */
#pragma once

#include <cudaccl/tiled.h>

typedef struct Largest Largest;

/* k: how many components stay, at most; of equal ones the first. */
Largest *largest_new (uint64_t k, CclError *error);

/* Takes rows of all components, in the order of labels. */
bool largest_add (Largest *self, const CclTiledComponent *rows, size_t n, CclError *error);

/* Ends the choice. Returns how many stay. */
uint64_t largest_choose (Largest *self);

/* The new label of a component, 1…, in the order of the old ones; 0 if it does not stay. After
 * largest_choose(). */
uint64_t largest_label (const Largest *self, uint64_t label);

/* Moves numbers of components, so many bytes for each of n, to the places of the new labels of
 * those that stay. After largest_choose(). numbers: NULL is allowed. */
void largest_move (const Largest *self, void *numbers, size_t bytes, uint64_t n);

/* Labels of n pixels with new labels, valid until the next call; NULL without memory. */
const void *largest_labels (
    Largest *self, const void *labels, size_t n, uint32_t label_bytes, CclError *error);

void largest_free (Largest *self); /* NULL is allowed */
