/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts of the program that measures the background model. */
#ifndef BENCH_FOREGROUND_H
#define BENCH_FOREGROUND_H

#include "measure.h"

#include <cudaccl/foreground.h>

/* Luma frames without padding, one after the other. */
typedef struct FrameSequence {
  uint32_t width, height, n_frames;
  const uint8_t *pixels; /* on the GPU a device pointer */
} FrameSequence;

/* The frame at a time from 0 on: forwards to the last frame, backwards to the first, and so on, so
 * that no object jumps. */
const uint8_t *frame_at (const FrameSequence *sequence, uint64_t time);

/* Options of the elements' default model. */
CclForegroundOptions foreground_options (CclDenoise denoise);

/* Ends the program with the error's message. */
void stop_unless (bool ok, const CclError *error);

/* Measures on the GPU (foreground-cuda.c) and prints two tables: GPU time per frame with each noise
 * filter and with labelling, after so many frames of warm-up, and frames per second of up to
 * max_streams streams that wait for each table. */
void measure_cuda (
    const FrameSequence *sequence, unsigned n_warm_up, unsigned max_streams, double seconds);

/* OpenCV's MOG2, noise filters and labelling with statistics (peer-opencv.cpp): luma, one thread,
 * no shadows. Exported as "peer_mog2". */
typedef struct PeerMog2 {
  const char *version; /* "OpenCV 4.6.0" */
  void *(*create) (uint32_t width, uint32_t height, CclDenoise denoise);

  /* The steps of a frame, each on the result of the one before; label returns the number of
   * components. */
  void (*model) (void *peer, const uint8_t *pixels);
  void (*denoise) (void *peer);
  uint32_t (*label) (void *peer);

  void (*destroy) (void *peer);
} PeerMog2;

#endif /* BENCH_FOREGROUND_H */
