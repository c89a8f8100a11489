/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References for contours, which look at one pixel or one edge at a time.
 */
#pragma once

#include "tests/unit/label/masks.h"

#include <cudaccl/contours.h>
#include <glib.h>

typedef struct ContourReference {
  GArray *contours; /* of CclContour */
  GArray *points;   /* of CclContourPoint */
} ContourReference;

/* The border following of Suzuki and Abe (1985), appendix I: pixels, 8-connectivity. */
ContourReference *contour_reference_by_borders (const Mask *mask);

/* From edge to edge with the component on the left: both kinds and connectivities. */
ContourReference *contour_reference_by_edges (
    const Mask *mask, CclContourKind kind, CclConnectivity connectivity);

void contour_reference_free (ContourReference *reference);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ContourReference, contour_reference_free)
