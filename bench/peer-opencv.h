/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface of the module that wraps OpenCV. It is built if OpenCV is found, and loaded at run
 * time, so that the tool itself needs no OpenCV. */
#ifndef BENCH_PEER_OPENCV_H
#define BENCH_PEER_OPENCV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PeerOpenCV PeerOpenCV;

typedef struct PeerOpenCVModule {
  const char *(*version) (void);

  /* Makes a labeller of one frame, which must outlive it; rows have no padding. */
  PeerOpenCV *(*create) (const uint8_t *pixels, int width, int height, int connectivity);

  /* Labels with so many threads, with statistics or without; with fresh outputs if asked.
   * Returns the number of components, or -1 with a message that lives until the next run. */
  int (*run) (PeerOpenCV *peer, int threads, bool statistics, bool allocate, const char **message);

  /* The label map of the last run, width × height without padding. */
  const int32_t *(*labels) (PeerOpenCV *peer);

  void (*destroy) (PeerOpenCV *peer);
} PeerOpenCVModule;

/* The one symbol that the module exports, of this type. */
#define PEER_OPENCV_SYMBOL "peer_opencv_module"

#endif /* BENCH_PEER_OPENCV_H */
