/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All headers of the library. */
#ifndef CUDACCL_H
#define CUDACCL_H

#include <cudaccl/batch.h>
#include <cudaccl/contours.h>
#include <cudaccl/device.h>
#include <cudaccl/distance.h>
#include <cudaccl/foreground.h>
#include <cudaccl/ground.h>
#include <cudaccl/interruption.h>
#include <cudaccl/labeller.h>
#include <cudaccl/log.h>
#include <cudaccl/order.h>
#include <cudaccl/regions.h>
#include <cudaccl/rle.h>
#include <cudaccl/tiled.h>
#include <cudaccl/tracker.h>
#include <cudaccl/values.h>
#include <cudaccl/version.h>
#include <cudaccl/volume.h>

#endif /* CUDACCL_H */
