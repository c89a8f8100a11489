/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the GPU's implementations. */
#ifndef BENCH_IMPLEMENTATION_CUDA_H
#define BENCH_IMPLEMENTATION_CUDA_H

#include "implementation.h"
#include "research.h"
#include "peer-npp.h"

typedef struct CudaImplementation {
  Implementation head;
  CclCudaDevice *device;
  const CclAlgorithm *algorithm; /* NULL for bandwidth bounds, peers and volumes */
  const char *bound_kernel;      /* NULL for labellers */
  CclWork bound_work;
  const PeerNpp *npp;  /* NULL for all others */
  bool labels_volumes; /* the library's labeller of volumes; algorithm is NULL */
  uint32_t connectivity, volume_connectivity;
  unsigned max_components; /* UINT_MAX: as many as there are */
  bool allocation;
  double patience;   /* as in ImplementationSettings */
  uint32_t block[3]; /* shape of the thread blocks where the algorithm allows it; 0: its own */
  char *name;        /* of the algorithm with that shape, or NULL */

  /* From prepare to release. */
  const Input *input;
  CUstream stream;
  CUevent begin, end;
  CUdeviceptr frame, label_map, scratch;
  size_t frame_stride, label_stride; /* bytes */
  CUfunction bound;
  CclCudaSequence labelling; /* raw labels */
  CclResearchRounds rounds;  /* of the labelling */
  bool has_labelling;
  CclLabeller *labeller; /* tables: wall time */
  CclVolumeLabeller *volume_labeller;
  uint32_t n_rows;       /* of the labeller's table */
  CclCudaEngine *engine; /* tables: device time */
  CclTable table;        /* of the last run */
  CclVolumeTable volume_table;
  CUgraphExec replay; /* one run; NULL if it cannot be recorded */
  bool tried_replay;
} CudaImplementation;

/* Returns from a function with the status of a call that failed. */
#define TRY(call)                                                                                  \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const CclStatus try_status = (call);                                                           \
    if (try_status != CCL_OK)                                                                      \
      return try_status;                                                                           \
  }                                                                                                \
  G_STMT_END

/* The same for a call of the driver; the CclError is named failure. */
#define TRY_DRIVER(cuda, call) TRY (ccl_cuda_call ((cuda)->device->driver, failure, call))

/* The functions that return a CclStatus need the device's context to be current. */

/* Whether an algorithm asks the device after each round whether to go on. */
bool cuda_is_iterative (const CclAlgorithm *algorithm);

/* The plan of a labeller for the input. */
CclPlan cuda_plan (const CudaImplementation *cuda);

/* Queues one run on the stream. */
CclStatus cuda_queue (CudaImplementation *cuda, CclError *failure);

/* Runs once and waits. */
CclStatus cuda_run_once (CudaImplementation *cuda, CclError *failure);

/* Allocates everything that a run needs, and frees it. */
CclStatus cuda_allocate (CudaImplementation *cuda, CclError *failure);
void cuda_deallocate (CudaImplementation *cuda);

/* Members of ImplementationClass (cuda-study.c). */
double cuda_device_time (Implementation *implementation, unsigned n_runs, GError **error);
gboolean cuda_steps (Implementation *implementation, double seconds[N_STEPS], GError **error);
gboolean cuda_count_accesses (Implementation *implementation, AccessCount counts[MAX_COUNTED_STEPS],
    guint *n_counts, GError **error);

#endif /* BENCH_IMPLEMENTATION_CUDA_H */
