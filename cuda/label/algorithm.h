/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a GPU algorithm consists of.
 *
 * Most algorithms are a sequence of kernels that leave raw labels (kernel-parameters.h), from which
 * the common analysis (analysis.h) makes the component table and the label map. An algorithm
 * that makes these by itself has an engine of its own (engine.h).
 */
#pragma once

#include "cuda/driver/device.h"
#include "cuda/driver/kernel-parameters.h"
#include "cuda/driver/launch.h"

/* The phase that a step belongs to, for times by phase as the papers report them. */
typedef enum CclPhase {
  CUDACCL_PHASE_INITIALISATION, /* or the first scan */
  CUDACCL_PHASE_LOCAL_MERGING,  /* inside tiles */
  CUDACCL_PHASE_MERGING,        /* union of connected pixels or blocks, path compression */
  CUDACCL_PHASE_RELABELLING,    /* final compression and labels of pixels */
} CclPhase;

#define CUDACCL_WORK_PIXEL                                                                         \
  {                                                                                                \
    1, 1, 1                                                                                        \
  }
#define CUDACCL_WORK_BLOCK                                                                         \
  {                                                                                                \
    2, 2, 1                                                                                        \
  } /* 2×2 pixels */
#define CUDACCL_WORK_CUBE                                                                          \
  {                                                                                                \
    2, 2, 2                                                                                        \
  }
#define CUDACCL_WORK_ROW                                                                           \
  {                                                                                                \
    0, 1, 1                                                                                        \
  }
#define CUDACCL_WORK_COLUMN                                                                        \
  {                                                                                                \
    1, 0, 1                                                                                        \
  }

/* One kernel launch: as many thread blocks of this shape as cover the frame. */
typedef struct CclStep {
  CclPhase phase;
  const char *kernel; /* "ccl_<file>_<what it does>" */
  CclWork work;
  struct {
    uint32_t x, y, z;
  } block;
  bool is_fixed;            /* the algorithm needs thread blocks of exactly this shape */
  bool has_rows_of_warps;   /* warps lie along rows: the width of a block is a multiple of 32 */
  bool is_dependent;        /* as in CclCudaLaunch */
  const char *words_kernel; /* for frames with pixels of two bytes, if it is another; or NULL */
} CclStep;

/* Scratch memory of an algorithm in bytes. */
typedef struct CclScratch {
  uint32_t per_element; /* of the label buffer */
  uint32_t per_block;   /* of 2×2 elements of the label buffer */
  uint32_t per_row;     /* of the label buffer */
} CclScratch;

typedef struct CclCudaEngineClass CclCudaEngineClass; /* engine.h */

#define CUDACCL_MAX_STEPS 12

typedef struct CclAlgorithm {
  const char *name;            /* as in CclLabellerPlan.algorithm */
  const char *title;           /* for people: what ccl_cuda_algorithm_title() returns */
  const char *paper;           /* where it is described */
  uint32_t connectivities;     /* of CUDACCL_OFFERS_… */
  bool roots_are_first_pixels; /* the root of a component is its first pixel in raster order */
  bool roots_share_blocks;     /* several roots may lie in one block of 2×2 elements of the label
                                * buffer; with 4-connectivity they always may */
  uint32_t max_elements;       /* of the label buffer; 0: no limit */
  uint32_t max_width;          /* pixels; 0: no limit */
  CclScratch scratch;
  const CclCudaImage *image;        /* the kernels */
  CclStep steps[CUDACCL_MAX_STEPS]; /* ended by one without a kernel; empty where the engine
                                     * launches kernels of its own */
  const CclCudaEngineClass *engine;
} CclAlgorithm;

#define CUDACCL_OFFERS_4 (1u << 0)
#define CUDACCL_OFFERS_8 (1u << 1)
#define CUDACCL_OFFERS_6 (1u << 2) /* this and the next two: of volumes */
#define CUDACCL_OFFERS_18 (1u << 3)
#define CUDACCL_OFFERS_26 (1u << 4)

/* Whether the algorithm labels with a connectivity (4, 8, 6, 18, 26). */
bool ccl_cuda_algorithm_has (const CclAlgorithm *algorithm, uint32_t connectivity);
