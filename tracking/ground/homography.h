/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The homography between the picture and the ground. */
#pragma once

#include <cudaccl/ground.h>

/* From the picture to the ground: (x, y, 1) times the rows gives u, v and w, and the position is
 * origin + (u, v) / w. The origin is near the points, so that positions far from 0 keep their
 * digits. w is positive this side of the horizon and 0 on it. */
typedef struct CclHomography {
  double row[3][3];
  double origin_x, origin_y;
  double residual; /* pixels, root of the mean square */
} CclHomography;

/* Fits a homography to at least four points with finite coordinates. Returns false if no camera
 * sees them like this: too many are on one line, or a point would be beyond the horizon. */
bool ccl_homography_fit (
    const CclGroundPoint *points, uint32_t n_points, CclHomography *homography);
