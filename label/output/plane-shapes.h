/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The measures of components with each plane of values, the colours of --intensity. A run of the
 * labelling measures one plane: first planes 1…n-1, whose measures are kept in a file without a
 * name, then plane 0. Every run gives the same components in the same order. Not collective.
 */
#pragma once

#include "output.h"

typedef struct PlaneShapes PlaneShapes;

/* path: beside which the file is. Returns NULL with the error filled. */
PlaneShapes *plane_shapes_new (
    uint32_t n_planes, const char *path, const Processes *processes, CclError *error);

/* Keeps the measures of the next n components with a plane other than 0. */
bool plane_shapes_keep (PlaneShapes *self, const CclVolumeShape *shapes, size_t n, CclError *error);

/* Takes the measures of the next n components with plane 0. Returns those with all planes,
 * [n_planes] for each component, which are valid until the next call; NULL with the error filled.
 */
const CclVolumeShape *plane_shapes_join (
    PlaneShapes *self, const CclVolumeShape *shapes, size_t n, CclError *error);

/* Checks that the run with plane 0 had as many components as the others. */
bool plane_shapes_check (const PlaneShapes *self, CclError *error);

void plane_shapes_free (PlaneShapes *self); /* NULL is allowed */
