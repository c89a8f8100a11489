/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All headers of the library. */
#ifndef CCL_CUDACCL_H
#define CCL_CUDACCL_H

#include <cudaccl/cuda.h>
#include <cudaccl/foreground.h>
#include <cudaccl/labeller.h>
#include <cudaccl/regions.h>
#include <cudaccl/tiled.h>
#include <cudaccl/tracker.h>
#include <cudaccl/volume.h>

#endif /* CCL_CUDACCL_H */
