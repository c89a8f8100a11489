/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The boxes of a frame and of its background model, from which the camera's moves are found. */
#pragma once

#include "codebook-light.h"
#include "core/foreground/camera/camera.h"

/* Fills the boxes that are wholly in the frame. */
void codebook_make_boxes (const CodebookLuma *luma, CclCamera *camera);
