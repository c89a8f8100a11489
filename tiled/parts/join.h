/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pixels that are neighbours across the seam between two layers. */
#pragma once

#include "part.h"

#include <cudaccl/chunks.h>

/* Calls unite (data, a, b) for the labels a > 0 of the upper pixel and b > 0 of the lower one of
 * pixels that are connected, at least once for each pair of labels. */
void join_seam (
    const CclSeam *seam, void (*unite) (void *data, uint32_t a, uint32_t b), void *data);

/* The same for the layers of a picture. */
void join_layers (const CclTiledPlan *plan, const uint32_t *upper, const uint32_t *lower,
    void (*unite) (void *data, uint32_t a, uint32_t b), void *data);
