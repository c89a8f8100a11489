/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the GPU's implementations. */
#pragma once

#include "implementation.h"
#include "research/cuda/research.h"

typedef struct CudaImplementation {
  Implementation head;
  CclCudaDevice *device;
  const CclAlgorithm *algorithm; /* NULL for bandwidth bounds, peers and volumes */
  const char *bound_kernel;      /* NULL for labellers */
  CclWork bound_work;
  bool is_npp;
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

/* TRY() for a call of the driver; the CclError is named error. */
#define TRY_DRIVER(cuda, call) TRY (ccl_cuda_call ((cuda)->device->driver, error, call))

/* Makes the device's context current until the end of the block, or returns from the function. */
typedef CclCudaDevice CurrentDevice;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CurrentDevice, ccl_cuda_device_leave)
#define ENTER(cuda)                                                                                \
  TRY (ccl_cuda_device_enter ((cuda)->device, error));                                             \
  G_GNUC_UNUSED g_autoptr (CurrentDevice) current_device = (cuda)->device

/* The functions that follow need the device's context to be current. */

/* Whether an algorithm asks the device after each round whether to go on. */
bool cuda_is_iterative (const CclAlgorithm *algorithm);

/* The plan of a labeller for the input. */
CclLabellerPlan cuda_plan (const CudaImplementation *cuda);

/* Queues one run on the stream. */
CclStatus cuda_queue (CudaImplementation *cuda, CclError *error);

/* Runs once and waits. */
CclStatus cuda_run_once (CudaImplementation *cuda, CclError *error);

/* Allocates everything that a run needs, and frees it. */
CclStatus cuda_allocate (CudaImplementation *cuda, CclError *error);
void cuda_deallocate (CudaImplementation *cuda);

/* Frees the recorded run, which uses the memory that cuda_deallocate() frees (cuda-study.c). */
void cuda_free_replay (CudaImplementation *cuda);

/* Makes the engine anew, and frees it. */
CclStatus cuda_make_engine (CudaImplementation *cuda, CclError *error);
void cuda_free_engine (CudaImplementation *cuda);

/* Members of ImplementationClass (cuda-study.c, access-count.c). */
CclStatus cuda_device_time (
    Implementation *implementation, unsigned n_runs, double *seconds, CclError *error);
CclStatus cuda_steps (Implementation *implementation, double seconds[N_STEPS], CclError *error);
CclStatus cuda_count_accesses (Implementation *implementation,
    AccessCount counts[MAX_COUNTED_KERNELS], guint *n_counts, CclError *error);

/* NVIDIA's Performance Primitives, the labeller that comes with CUDA (peer-npp.c), looked up at run
 * time. "NPP 13.0.0", or NULL if it is not found or older than CUDA 11. */
const char *peer_npp_version (void);

/* Allocates NPP's memory beside the label map, and queues a labelling. Background pixels get
 * labels like all others, and 0 is a label. */
CclStatus peer_npp_allocate (CudaImplementation *cuda, CclError *error);
CclStatus peer_npp_queue (CudaImplementation *cuda, CclError *error);

/* The instrumented kernels of one file. */
typedef struct CountingImage {
  const char *file;           /* "bke" for bke.cu */
  const char *const *kernels; /* their names, ended by NULL */
  const char *ptx;
} CountingImage;

extern const CountingImage counting_images[]; /* generated; ended by one without a file */
