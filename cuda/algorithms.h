/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of GPU algorithms. A new one is a file algorithms/<name>.cu, its name in meson.build's
 * list and a row in algorithms.c.
 *
 * Most algorithms are a list of kernels that leave raw labels (kernel-parameters.h), from which
 * the common analysis (analysis.h) makes the component table and the label map. An algorithm
 * that delivers these by itself brings an engine of its own instead.
 */
#ifndef CCL_CUDA_ALGORITHMS_H
#define CCL_CUDA_ALGORITHMS_H

#include "device.h"
#include "kernel-parameters.h"

/* The part of the work a step belongs to, for times taken apart as the papers do. */
typedef enum CclPhase {
  CCL_PHASE_INITIALISATION, /* or the first scan */
  CCL_PHASE_LOCAL_MERGING,  /* inside tiles */
  CCL_PHASE_MERGING,        /* union of what belongs together, with its compressions */
  CCL_PHASE_RELABELLING,    /* final compression and labels of pixels */
} CclPhase;

/* Pixels of a frame that one thread works on; 0 means all of the frame in that direction. */
typedef struct CclWork {
  uint32_t x, y, z;
} CclWork;

#define CCL_WORK_PIXEL                                                                             \
  {                                                                                                \
    1, 1, 1                                                                                        \
  }
#define CCL_WORK_BLOCK                                                                             \
  {                                                                                                \
    2, 2, 1                                                                                        \
  } /* 2×2 pixels */
#define CCL_WORK_CUBE                                                                              \
  {                                                                                                \
    2, 2, 2                                                                                        \
  }
#define CCL_WORK_ROW                                                                               \
  {                                                                                                \
    0, 1, 1                                                                                        \
  }
#define CCL_WORK_COLUMN                                                                            \
  {                                                                                                \
    1, 0, 1                                                                                        \
  }

/* One kernel launch: as many thread blocks as the frame needs, each of x × y × z threads.
 * Kernels find their place by geometry.cuh, which folds grids that are too tall. */
typedef struct CclStep {
  CclPhase phase;
  const char *kernel; /* "ccl_<file>_<what it does>" */
  CclWork work;
  struct {
    uint32_t x, y, z;
  } block;
  uint32_t repeats; /* not 0: this many steps, this one being the last of them, are run again as
                     * long as they set the changed flag */
  bool is_fixed;    /* the algorithm is written for thread blocks of just this shape */
  bool has_rows_of_warps; /* warps look along rows: blocks must be as wide as one, or several */
} CclStep;

/* Scratch memory of an algorithm in bytes. */
typedef struct CclScratch {
  uint32_t per_element; /* of the label buffer */
  uint32_t per_block;   /* of 2×2 elements of the label buffer */
  uint32_t per_row;     /* of the label buffer */
} CclScratch;

typedef struct CclCudaEngineClass CclCudaEngineClass; /* engine.h */

#define CCL_MAX_STEPS 12

typedef struct CclAlgorithm {
  const char *name;        /* what CclPlan.algorithm says */
  const char *title;       /* for people */
  const char *paper;       /* where it is described */
  uint32_t connectivities; /* of CCL_OFFERS_… */
  bool is_inexact; /* some frames come out wrong, by the paper's own account: never offered to
                    * labellers, only to the benchmark */
  bool roots_are_first_pixels; /* the root of a component is its first pixel in raster order */
  uint32_t max_elements;       /* of the label buffer; 0 means that every frame will do */
  CclScratch scratch;
  const char *file;             /* of the kernels: "bke" for algorithms/bke.cu */
  CclStep steps[CCL_MAX_STEPS]; /* up to the first without a kernel */

  const CclCudaEngineClass *engine; /* instead of file and steps */
} CclAlgorithm;

#define CCL_OFFERS_4 (1u << 0)
#define CCL_OFFERS_8 (1u << 1)
#define CCL_OFFERS_6 (1u << 2) /* the other three are for volumes */
#define CCL_OFFERS_18 (1u << 3)
#define CCL_OFFERS_26 (1u << 4)

/* All algorithms, in the order of preference of "auto", ended by one without a name. */
extern const CclAlgorithm ccl_cuda_algorithm_table[];

/* The row of that name, or NULL. */
const CclAlgorithm *ccl_cuda_algorithm_find (const char *name);

/* Whether the algorithm labels with a connectivity (4, 8, 6, 18, 26). */
bool ccl_cuda_algorithm_has (const CclAlgorithm *algorithm, uint32_t connectivity);

#endif /* CCL_CUDA_ALGORITHMS_H */
