/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Background model and labelling of a sequence of frames. */
#pragma once

#include "implementation.h"

#include <cudaccl/device.h>
#include <cudaccl/foreground.h>

/* Frames without padding, one after the other: luma, and with NV12 chroma behind it. */
typedef struct FrameSequence {
  uint32_t width, height, n_frames;
  unsigned n_warm_up; /* frames that prepare processes */
  uint32_t reduction; /* as CclForegroundPlan.reduction */
  bool has_chroma;
  size_t frame_size;     /* bytes */
  const uint8_t *pixels; /* device memory if there is a device */
  CclCudaDevice *device; /* NULL: the CPU */
} FrameSequence;

/* The index of the frame at a time from 0 on: forwards to the last frame, backwards to the first,
 * and so on, so that no object jumps. */
static inline size_t
frame_at (const FrameSequence *sequence, uint64_t time)
{
  const uint64_t n = sequence->n_frames, period = n > 1 ? 2 * (n - 1) : 1;
  const uint64_t place = time % period;
  return place < n ? place : period - place;
}

/* The module's "peer_mog2_new": OpenCV's MOG2 without shadows, a noise filter, and labelling with
 * statistics if asked, one thread. Each run processes the next frame. */
typedef Implementation *(*PeerMog2New) (
    const FrameSequence *sequence, CclDenoise denoise, bool labels);

/* One of the library's background models with a noise filter, and its labeller if it has to label.
 * Each run processes the next frame, from a time on. Free with implementation_free(). */
Implementation *foreground_new (const FrameSequence *sequence, CclForegroundMethod method,
    CclDenoise denoise, bool labels, uint64_t time);

/* OpenCV's; NULL without OpenCV. */
Implementation *foreground_new_opencv (
    const FrameSequence *sequence, CclDenoise denoise, bool labels);

/* Draws a scene into all frames of a sequence. */
void foreground_draw (const FrameSequence *sequence, uint8_t *pixels);

/* Copies the frames to the GPU, whose context becomes current and lives as long as the program. */
CclStatus foreground_move_to_gpu (FrameSequence *sequence, char name[128], CclError *error);
