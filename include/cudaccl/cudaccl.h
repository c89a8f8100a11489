/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All headers of the library. Begin with labeller.h, whose rules hold for all of them.
 *
 * Components:
 *
 *   labeller.h      frames: component table and label map; columns.h lists what is measured
 *   volume.h        volumes
 *   values.h        pictures with many values, such as class maps; parts and holes of labels
 *   periodic.h      pictures whose opposite borders touch
 *   batch.h         many masks in one call; holes filled, small components removed
 *   tiled.h         pictures that are larger than memory, in one process or several
 *   chunks.h        its parts, for programs that divide a picture by themselves
 *
 * What is made of components and label maps:
 *
 *   contours.h      boundaries as polygons
 *   contacts.h      which labels touch each other
 *   distance.h      distances to the border, and the split of objects that touch
 *   rle.h           COCO's run-length encoding, masks of one bit a pixel, crops
 *   order.h         rows of a table in another order
 *
 * Video:
 *
 *   foreground.h    foreground masks: thresholds and models of the background
 *   tracker.h       identities of objects
 *   regions.h       what enters regions and crosses lines
 *   ground.h        positions and speeds in metres
 *
 * Besides: device.h has all of it for NVIDIA GPUs, interruption.h ends long functions, log.h has
 * messages, version.h the version.
 */
#ifndef CUDACCL_H
#define CUDACCL_H

#include <cudaccl/batch.h>
#include <cudaccl/chunks.h>
#include <cudaccl/contacts.h>
#include <cudaccl/contours.h>
#include <cudaccl/device.h>
#include <cudaccl/distance.h>
#include <cudaccl/foreground.h>
#include <cudaccl/ground.h>
#include <cudaccl/interruption.h>
#include <cudaccl/labeller.h>
#include <cudaccl/log.h>
#include <cudaccl/order.h>
#include <cudaccl/periodic.h>
#include <cudaccl/regions.h>
#include <cudaccl/rle.h>
#include <cudaccl/tiled.h>
#include <cudaccl/tracker.h>
#include <cudaccl/values.h>
#include <cudaccl/version.h>
#include <cudaccl/volume.h>

#endif /* CUDACCL_H */
