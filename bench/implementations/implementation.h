/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An implementation is anything whose time can be compared: this project's labellers, peers (other
 * makers' labellers), and bandwidth bounds, which only read and write as many bytes as a labelling
 * must. Each is prepared for an input, which is not timed, and then run again and again. */
#pragma once

#include <cudaccl/labeller.h>
#include <cudaccl/volume.h>
#include <glib.h>
#include <stdbool.h>
#include <time.h>

/* A binary image, or a volume if depth > 1. Pixels are 0 or 255, rows and slices follow each other
 * without padding. */
typedef struct Input {
  uint32_t width, height, depth; /* ≥ 1 */
  uint8_t *pixels;
} Input;

static inline size_t
input_n_pixels (const Input *input)
{
  return (size_t)input->width * input->height * input->depth;
}

/* The time on the monotonic clock in seconds. */
static inline double
seconds_now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The result of a run. */
typedef enum Delivery {
  DELIVER_NOTHING,          /* bandwidth bounds */
  DELIVER_RAW_LABELS,       /* a label map with arbitrary labels, as in the papers */
  DELIVER_TABLE,            /* the component table alone */
  DELIVER_LABELS_AND_TABLE, /* labels 1…N and the component table */
} Delivery;

/* A result, fetched to the host for checking. */
typedef struct Labelling {
  uint32_t *labels; /* one per pixel, 0 for background; NULL if there is no label map */
  bool is_raw;      /* labels are arbitrary, there is no table */
  uint32_t n_components;
  CclComponent *components; /* n_rows of them; none for volumes */
  uint32_t n_rows;
} Labelling;

/* The parts of a labelling as the papers' "average with steps" names them. */
typedef enum Step {
  STEP_ALLOCATION,
  STEP_SCAN,        /* first scan, or initialisation */
  STEP_MERGING,     /* of labels and of tiles */
  STEP_RELABELLING, /* compression and final labels */
  N_STEPS
} Step;

enum { READS, WRITES, ATOMICS, N_ACCESSES };

/* The accesses to device memory of all launches of one kernel. */
typedef struct AccessCount {
  const char *kernel;     /* static */
  uint64_t n[N_ACCESSES]; /* executed by all threads; a vector access counts as one */
} AccessCount;

enum { MAX_COUNTED_KERNELS = 32 };

typedef struct Implementation Implementation;

/* Functions that can fail return a status and fill the error. */
typedef struct ImplementationClass {
  /* Allocates everything that a run needs, runs once, and keeps the input, which must live until
   * release. CUDACCL_ERROR_UNSUPPORTED if it does not offer such inputs, which is no failure. If
   * the first run was given up, gave_up is set. */
  CclStatus (*prepare) (Implementation *implementation, const Input *input, CclError *error);

  /* One labelling. Returns when the result can be read: a table in host memory, a label map in the
   * memory of its device. */
  CclStatus (*run) (Implementation *implementation, CclError *error);

  /* Frees the memory of prepare(). */
  void (*release) (Implementation *implementation);

  /* Frees the implementation itself; g_free() if NULL. */
  void (*free) (Implementation *implementation);

  /* The mean time of one labelling over n_runs, by the device's clock, in seconds. NULL on a CPU.
   */
  CclStatus (*device_time) (
      Implementation *implementation, unsigned n_runs, double *seconds, CclError *error);

  /* The time of each step of one labelling in seconds, negative for steps that the algorithm lacks.
   * NULL where steps cannot be told apart. */
  CclStatus (*steps) (Implementation *implementation, double seconds[N_STEPS], CclError *error);

  /* Counts the memory accesses of each kernel of one labelling, after which only release may be
   * called. NULL if not possible. */
  CclStatus (*count_accesses) (Implementation *implementation,
      AccessCount counts[MAX_COUNTED_KERNELS], guint *n_counts, CclError *error);

  /* Fetches the result of the last run. NULL for bandwidth bounds. */
  CclStatus (*fetch) (Implementation *implementation, Labelling *labelling, CclError *error);
} ImplementationClass;

/* The first member of every kind of implementation. */
struct Implementation {
  const ImplementationClass *klass;
  const char *device;    /* "cpu" or "cuda" */
  const char *maker;     /* "cudaccl", or the peer with its version */
  const char *algorithm; /* its name; of a bandwidth bound, the bytes that it moves per pixel */
  Delivery delivery;
  unsigned threads; /* CPU threads that share a frame */
  bool is_bound;
  bool may_be_inexact; /* by its paper's own account; a difference is reported, but no failure */
  bool gave_up;        /* the first run took longer than the settings' patience */
};

/* The algorithm of the library's labellers of volumes. */
#define VOLUME_ALGORITHM "runs-3d"

/* The GPU algorithms whose raw labels are the baseline: the fastest published ones for 8- and
 * 4-connectivity. */
#define BASELINE_8 "bke"
#define BASELINE_4 "ke"

/* Which implementations take part, and how they run. */
typedef struct ImplementationSettings {
  bool cpu, cuda;                /* devices to use */
  bool peers;                    /* other makers' labellers, where found */
  const char *const *algorithms; /* names, ended by NULL; or NULL for all */
  bool only_chosen;     /* if no algorithms are named: the one that "auto" selects, and baselines */
  bool cheapest_labels; /* instead of deliveries: the label map in its cheapest form, which is raw
                         * where an algorithm offers that */
  bool chosen_tables;   /* besides, table and label map of the algorithms of only_chosen; GPU */
  unsigned deliveries;  /* a bit per Delivery */
  CclConnectivity connectivity;
  unsigned volume_connectivity;
  unsigned max_components; /* rows of the table; 0: the device's default; UINT_MAX: all */
  bool allocation;         /* part of every run */
  bool block_shapes;       /* each GPU algorithm once for every shape of its thread blocks */
  bool only_direct; /* without iterative GPU algorithms, which ask the device after each round
                     * whether to go on */
  double patience;  /* seconds after which the first run of an iterative algorithm is given
                     * up, between rounds; 0: never */
  const unsigned *threads; /* [n_threads]: CPU threads, one implementation each */
  unsigned n_threads;
} ImplementationSettings;

/* Each file adds its implementations. */
void implementations_add_bandwidth (
    GPtrArray *implementations, const ImplementationSettings *settings);
void implementations_add_cpu (GPtrArray *implementations, const ImplementationSettings *settings);
void implementations_add_slides (
    GPtrArray *implementations, const ImplementationSettings *settings);
CclStatus implementations_add_cuda (
    GPtrArray *implementations, const ImplementationSettings *settings, CclError *error);

/* A symbol of the module that wraps OpenCV (peer-opencv.cpp); NULL without OpenCV, and why.  The
 * module lies beside the library. */
void *peer_opencv_symbol (const char *symbol, const char **why);

/* The module's "peer_opencv_new". */
typedef Implementation *(*PeerOpenCVNew) (
    const ImplementationSettings *settings, Delivery delivery, unsigned threads);

/* The names of the GPU and of the version of its driver's interface; empty without a GPU. */
void implementation_describe_cuda (char gpu[128], char driver[32]);

/* All that the settings ask for, bandwidth bounds of each device first, ended by NULL. The errors
 * say why no GPU and no OpenCV take part; their status is CUDACCL_OK if they do or are not asked
 * for. Free each with implementation_free(), and the array with g_free(). */
Implementation **implementations_new (
    const ImplementationSettings *settings, CclError *no_cuda, CclError *no_opencv);

/* Releases and frees it. */
void implementation_free (Implementation *implementation);

/* Whether the settings ask for an algorithm, with any delivery. */
bool implementation_is_named (const ImplementationSettings *settings, const char *algorithm);

/* Whether the settings ask for an algorithm and a delivery; has_raw_labels says whether the
 * algorithm offers raw labels. */
bool implementation_is_wanted (const ImplementationSettings *settings, const char *algorithm,
    Delivery delivery, bool has_raw_labels);

/* Returns from a function with the status of a call that failed. */
#define TRY(call)                                                                                  \
  G_STMT_START                                                                                     \
  {                                                                                                \
    const CclStatus try_status = (call);                                                           \
    if (try_status != CUDACCL_OK)                                                                  \
      return try_status;                                                                           \
  }                                                                                                \
  G_STMT_END
