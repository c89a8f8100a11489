/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pixels that are neighbours across the seam between two layers. */
#ifndef CUDACCL_TILED_JOIN_H
#define CUDACCL_TILED_JOIN_H

#include "part.h"

/* Calls unite (data, a, b) for the numbers a > 0 in the upper layer and b > 0 in the lower one of
 * neighbouring pixels, at least once for each pair of numbers. */
void join_layers (const CclTiledPlan *plan, const uint32_t *upper, const uint32_t *lower,
    void (*unite) (void *data, uint32_t a, uint32_t b), void *data);

#endif /* CUDACCL_TILED_JOIN_H */
