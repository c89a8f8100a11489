/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The expected shapes of the components of a label map: of frames by ccl_measure_labels(), which
 * measures whole frames in other ways, of volumes by the definitions. */
#pragma once

#include <cudaccl/tiled.h>

/* labels: of the whole picture. values: of the plan's intensity_format; NULL without that column.
 * Free with free(). */
CclVolumeShape *shapes_new (
    const CclTiledPlan *plan, const uint32_t *labels, const void *values, uint32_t n);

/* Whether two shapes are equal: in frames to the bit, in volumes as far as they are rounded. */
bool shapes_are_equal (const CclVolumeShape *a, const CclVolumeShape *b, bool is_volume);
