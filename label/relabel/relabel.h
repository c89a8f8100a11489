/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels a picture tile by tile whose components change when they are known: they are joined over
 * borders that touch, or their holes are filled. Their label map is kept in a file without a name.
 * For one process.
 */
#ifndef CUDACCL_LABEL_RELABEL_H
#define CUDACCL_LABEL_RELABEL_H

#include <cudaccl/tiled.h>

typedef struct RelabelSettings {
  uint32_t axes;     /* flags of CclAxis: along them opposite borders touch; then no holes are
                      * filled and no columns are measured */
  bool fills_holes;  /* of each component */
  uint64_t max_hole; /* pixels of a hole that is filled; 0: any number */
} RelabelSettings;

/* Does what ccl_tiled_run() does for one process. The filters of the plan and its columns are those
 * of what components become; It takes some 600 bytes for each
 * component beyond the plan's memory. */
CclStatus relabel_run (const CclTiledPlan *plan, const CclTiledIo *io,
    const RelabelSettings *settings, CclTiledResult *result, CclError *error);

#endif /* CUDACCL_LABEL_RELABEL_H */
