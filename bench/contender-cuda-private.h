/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the GPU's contenders share. */
#ifndef BENCH_CONTENDER_CUDA_PRIVATE_H
#define BENCH_CONTENDER_CUDA_PRIVATE_H

#include "contender.h"
#include "engine.h"
#include "labelling.h"
#include "peer-npp.h"

typedef struct CudaContender {
  Contender head;
  CclCudaDevice *device;
  const CclAlgorithm *algorithm; /* NULL for floors and peers */
  const char *floor_kernel;      /* NULL for labellers */
  CclWork floor_work;
  const PeerNpp *npp; /* NULL for all others */
  uint32_t connectivity, volume_connectivity;
  unsigned max_components; /* UINT_MAX: as many as there are */
  bool allocation;
  double patience;   /* seconds for the first run of an iterative algorithm; 0: any time */
  uint32_t block[3]; /* threads of a block where the algorithm leaves that open; 0: as it has it */
  char *name;        /* of the algorithm with that shape */

  /* From prepare to release. */
  const Input *input;
  CUstream stream;
  CUevent begin, end;
  CUdeviceptr frame, label_map, scratch;
  size_t frame_stride, label_stride; /* bytes */
  CUfunction floor;
  CclCudaLabelling labelling; /* raw labels */
  bool has_labelling;
  CclLabeller *labeller; /* tables: for wall time */
  CclCudaEngine *engine; /* tables: for device time */
  CclTable table;
  CUgraphExec replay; /* of one run; NULL where that cannot be recorded */
  bool tried_replay;
} CudaContender;

/* Whether an algorithm asks the device again and again whether to go on. */
bool cuda_algorithm_is_iterative (const CclAlgorithm *algorithm);

/* What its labeller is planned for. */
CclPlan cuda_contender_plan (const CudaContender *cuda, unsigned max_components);

/* These four want the device's context to be current. */

/* Queues one run on the contender's stream. */
CclStatus cuda_contender_queue (CudaContender *cuda, CclError *failure);

/* One run and a wait. */
CclStatus cuda_contender_run_once (CudaContender *cuda, CclError *failure);

/* Allocates what a labeller needs for a run, and lets it go again. */
CclStatus cuda_contender_make (CudaContender *cuda, CclError *failure);
void cuda_contender_let_go (CudaContender *cuda);

/* Members of ContenderClass (contender-cuda-time.c). */
double cuda_contender_device_time (Contender *contender, unsigned n_runs, GError **error);
gboolean cuda_contender_steps (Contender *contender, double seconds[N_STEPS], GError **error);
gboolean cuda_contender_count_accesses (
    Contender *contender, AccessCount counts[MOST_COUNTED_STEPS], guint *n_steps, GError **error);

#endif /* BENCH_CONTENDER_CUDA_PRIVATE_H */
