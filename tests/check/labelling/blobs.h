/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A drawing with four components; with 4-connectivity one of them splits. */
#pragma once

#include "tests/check/shared/frames.h"

static const char blobs[] = "##....#.\n"
                            "##...#..\n"
                            "........\n"
                            ".#.#....\n"
                            ".###...#\n"
                            ".......#\n";

#define BLOBS_8                                                                                    \
  {4, 0, 0, 2, 2, 0.5, 0.5}, {2, 5, 0, 2, 2, 5.5, 0.5}, {5, 1, 3, 3, 2, 2.0, 3.6},                 \
  {                                                                                                \
    2, 7, 4, 1, 2, 7.0, 4.5                                                                        \
  }

#define BLOBS_4                                                                                    \
  {4, 0, 0, 2, 2, 0.5, 0.5}, {1, 6, 0, 1, 1, 6.0, 0.0}, {1, 5, 1, 1, 1, 5.0, 1.0},                 \
      {5, 1, 3, 3, 2, 2.0, 3.6},                                                                   \
  {                                                                                                \
    2, 7, 4, 1, 2, 7.0, 4.5                                                                        \
  }

/* The label map with 8-connectivity. */
static const guint32 blobs_labels[6][8] = {
    {1, 1, 0, 0, 0, 0, 2, 0},
    {1, 1, 0, 0, 0, 2, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, 3, 0, 3, 0, 0, 0, 0},
    {0, 3, 3, 3, 0, 0, 0, 4},
    {0, 0, 0, 0, 0, 0, 0, 4},
};
