/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the program that measures the background model shares with OpenCV's module. */
#ifndef BENCH_FOREGROUND_H
#define BENCH_FOREGROUND_H

#include "implementation.h"

#include <cudaccl/foreground.h>

/* Frames without padding, one after the other: luma, and with NV12 chroma behind it. */
typedef struct FrameSequence {
  uint32_t width, height, n_frames;
  unsigned n_warm_up; /* frames that prepare processes */
  bool has_chroma;
  size_t frame_size; /* bytes */
  const uint8_t *pixels;
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

#endif /* BENCH_FOREGROUND_H */
