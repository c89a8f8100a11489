/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool into which decoders write frames that are analysed where they are, without a copy. */
#pragma once

#include <gst/gst.h>

/* Adds the pool to an allocation query for frames in system memory, except large ones.
 *
 * The decoders of libav have frames of whole macroblocks. They copy each frame of 1080 rows unless
 * they are offered a pool, which takes this padding. And as long as they predict others from a
 * frame, they keep it mapped for writing, so that a buffer for metadata of its own gets a copy of
 * the pixels. Frames of this pool are mapped for reading even then, and such buffers share them. No
 * decoder changes a frame that it has passed on. */
void watch_frame_pool_offer (GstQuery *query);
