/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is compared: labellers of this project, their peers, and the floors that the memory sets.
 * Each is prepared for an input outside the time and then run on it again and again.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "input.h"
#include <cudaccl/labeller.h>

#include <stdbool.h>

/* What one run leaves behind for the caller to read. */
typedef enum Delivery {
  DELIVER_NOTHING,          /* floors: bytes moved, nothing labelled */
  DELIVER_RAW_LABELS,       /* a label map with arbitrary labels, as in the papers */
  DELIVER_TABLE,            /* the component table alone */
  DELIVER_LABELS_AND_TABLE, /* labels 1…N and the component table */
} Delivery;

/* One labelling, fetched to the host for checking. */
typedef struct Labelling {
  uint32_t *labels; /* one per pixel, 0 for background; NULL if there is no label map */
  bool is_raw;      /* labels are arbitrary, there is no table */
  uint32_t n_components;
  CclComponent *components; /* n_rows of them */
  uint32_t n_rows;
} Labelling;

void labelling_clear (Labelling *labelling);

/* The parts of a labelling as the papers' "average with steps" names them, in seconds; a part
 * that an algorithm lacks is negative. */
typedef enum Step {
  STEP_ALLOCATION,
  STEP_SCAN,        /* first scan, or initialisation */
  STEP_MERGING,     /* of labels and of tiles */
  STEP_RELABELLING, /* compression and final labels */
  N_STEPS
} Step;

/* What one kernel launch, or all launches of one kernel, did to the device's memory. */
typedef struct AccessCount {
  const char *kernel;              /* static */
  uint64_t reads, writes, atomics; /* executed by all threads; a vector access is one */
} AccessCount;

enum { MOST_COUNTED_STEPS = 24 };

typedef struct Contender Contender;

typedef struct ContenderClass {
  /* Makes everything that a run needs, fills caches of code, and remembers the input, which
   * outlives it until release. Errors: CONTENDER_ERROR_UNSUPPORTED if it does not do such inputs,
   * which is no failure; CONTENDER_ERROR_TOO_SLOW if the first run was given up; else
   * CONTENDER_ERROR_FAILED. */
  gboolean (*prepare) (Contender *contender, const Input *input, GError **error);

  /* One labelling, until its delivery can be read where it belongs. */
  gboolean (*run) (Contender *contender, GError **error);

  /* Lets go of what prepare made. */
  void (*release) (Contender *contender);

  void (*free) (Contender *contender);

  /* The mean device time of one labelling over a batch of them, by the device's own clock, in
   * seconds; negative with an error. NULL on a CPU. */
  double (*device_time) (Contender *contender, unsigned n_runs, GError **error);

  /* The time of each step of one labelling. NULL where steps cannot be told apart. */
  gboolean (*steps) (Contender *contender, double seconds[N_STEPS], GError **error);

  /* Counts the memory accesses of each step or kernel of one labelling. NULL where that cannot be
   * told. */
  gboolean (*count_accesses) (
      Contender *contender, AccessCount counts[MOST_COUNTED_STEPS], guint *n_steps, GError **error);

  /* Fetches the result of the last run. NULL for floors. */
  gboolean (*fetch) (Contender *contender, Labelling *labelling, GError **error);
} ContenderClass;

/* The head of every kind. */
struct Contender {
  const ContenderClass *klass;
  const char *device;    /* "cpu" or "cuda" */
  const char *maker;     /* "cudaccl", or the peer with its version */
  const char *algorithm; /* as the labeller names it; of a floor, what it moves */
  Delivery delivery;
  unsigned threads; /* CPU threads that share a frame */
  bool is_floor;
  bool may_be_inexact; /* by its paper's own account; a difference is told, but is no failure */
};

/* The GPU algorithms whose raw labels the others are compared with: the best published ones for
 * 8- and 4-connectivity. */
#define BASELINE_8 "bke"
#define BASELINE_4 "ke"

/* How contenders are made. */
typedef struct ContenderSettings {
  bool cpu, cuda;       /* devices to use */
  bool needs_cuda;      /* it is a problem if there is no GPU */
  bool peers;           /* other makers' labellers, where found */
  char **algorithms;    /* names, or NULL for all */
  bool only_chosen;     /* where no algorithms are named: what "auto" picks, and baselines */
  bool cheapest_labels; /* instead of deliveries: the label map in the form that costs least,
                         * which is raw where an algorithm has that */
  bool chosen_tables;   /* besides, table and label map of what only_chosen stands for; GPU */
  unsigned deliveries;  /* a bit per Delivery */
  CclConnectivity connectivity;
  unsigned volume_connectivity;
  unsigned max_components; /* rows of the table; 0: the device's default; UINT_MAX: all */
  bool allocation;         /* part of every run */
  bool block_shapes;       /* each GPU algorithm once for every shape of its thread blocks */
  bool only_direct;        /* leaves out what asks the device again and again whether to go on */
  double patience;         /* seconds after which a first run is given up, where it can be: between
                            * the rounds of iterative GPU algorithms; 0: never */
  GArray *threads;         /* unsigned: CPU threads, one contender each */
} ContenderSettings;

#define CONTENDER_ERROR (g_quark_from_static_string ("contender"))
enum {
  CONTENDER_ERROR_UNSUPPORTED,
  CONTENDER_ERROR_TOO_SLOW,
  CONTENDER_ERROR_FAILED,
};

/* Each part adds its contenders, and tells problems (problem.h) where one that was asked for
 * cannot be had. */
void contenders_add_cpu_floors (GPtrArray *contenders, const ContenderSettings *settings);
void contenders_add_cpu (GPtrArray *contenders, const ContenderSettings *settings);
void contenders_add_cpu_volume (GPtrArray *contenders, const ContenderSettings *settings);
void contenders_add_opencv (GPtrArray *contenders, const ContenderSettings *settings);

/* All that the settings ask for, floors first. Tells algorithms that nobody has. */
GPtrArray *contenders_new (const ContenderSettings *settings);

void contender_free (Contender *contender);

/* Whether another maker's labeller. */
bool contender_is_peer (const Contender *contender);

/* Whether the settings ask for an algorithm, whatever it delivers. */
bool contender_is_named (const ContenderSettings *settings, const char *algorithm);

/* Whether the settings ask for an algorithm and a delivery; has_raw_labels says whether the
 * algorithm can deliver those. */
bool contender_is_wanted (const ContenderSettings *settings, const char *algorithm,
    Delivery delivery, bool has_raw_labels);

/* For contenders that are labellers of ours: fills the error from theirs and returns FALSE. */
gboolean contender_fail (const CclError *failure, GError **error);

/* "cpu runs, labels + table, 2 threads". Free with g_free(). */
char *contender_title (const Contender *contender);

const char *delivery_name (Delivery delivery);

#endif /* BENCH_CONTENDER_H */
