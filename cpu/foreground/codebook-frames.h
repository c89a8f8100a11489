/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The codebooks (core/foreground/codebook.h) of all pixels on the CPU, and the steps of a frame. */
#ifndef CUDACCL_CPU_CODEBOOK_FRAMES_H
#define CUDACCL_CPU_CODEBOOK_FRAMES_H

#include "cpu/pixels/pixels.h"
#include "cpu/base/workers.h"

#include "core/foreground/camera.h"

typedef struct Codebooks Codebooks;

/* The codebooks of frames of the plan. workers share the work of a frame, and must live longer.
 * NULL: there is no memory. Free with codebooks_free(). */
Codebooks *codebooks_new (const CclForegroundPlan *plan, const PixelCode *code, Workers *workers);

/* NULL is allowed. */
void codebooks_free (Codebooks *codebooks);

/* Updates the codebooks, and the second model that checks them (sampled-places.h), with a frame,
 * finds its objects, and makes the boxes that the camera takes. begins: a new model begins.
 * *change: the scene change that the frame is the first one of. Returns false if the former model
 * cannot be cleared. */
bool codebooks_update (Codebooks *codebooks, const CclFrame *frame,
    const CclForegroundOptions *options, bool begins, CclCamera *camera, CclSceneChange *change);

/* Copies the objects of row y, and their shadows unless these are kept. Each row once in a frame,
 * by any thread. */
void codebooks_finish_row (
    Codebooks *codebooks, uint32_t y, uint64_t *foreground, uint64_t *shadow);

/* When all rows are filtered: the pixels of objects, and those of them that have changed since the
 * frame before. */
void codebooks_count_objects (
    const Codebooks *codebooks, uint32_t *n_foreground, uint32_t *n_changed);

#endif /* CUDACCL_CPU_CODEBOOK_FRAMES_H */
