/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every call of the driver fails once, and once for good: planning and running must say so, keep
 * nothing allocated, and work again when the device does. Prints TAP.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudalabeller.h"
#include "simcuda.h"

enum { WIDTH = 45, HEIGHT = 37, N_COMPONENTS = 12 };

static const char *const kinds[] = {"allocate", "copy", "launch", "synchronise", "create"};
static const char *const errors[] = {"2", "700:lost", "999"};

static void (*get_statistics) (SimcudaStatistics *);
static int (*order_fault) (const char *);
static CclCudaDevice *device;
static uint8_t frame_data[WIDTH * HEIGHT];
static int n_cases, n_failed, n_faults;

static void
report (bool passed, const char *algorithm, const char *what, const char *detail)
{
  n_cases++;
  n_failed += !passed;
  printf ("%sok %d %s: %s%s%s\n", passed ? "" : "not ", n_cases, algorithm, what,
      passed ? "" : ": ", passed ? "" : detail);
}

/* Twelve squares of 5×5. */
static void
draw (void)
{
  for (int i = 0; i < N_COMPONENTS; i++)
    for (int y = 0; y < 5; y++)
      memset (frame_data + (9 * (i / 4) + y) * WIDTH + 10 * (i % 4), 255, 5);
}

/* Plans, runs twice and frees. */
static CclStatus
use_labeller (const char *algorithm, CclError *error)
{
  CclPlan plan = {WIDTH, HEIGHT, CCL_CONNECTIVITY_8, 20, algorithm, 0};
  CclFrame frame = {frame_data, WIDTH, CCL_LOCATION_HOST};
  CclOptions options = {.threshold = 100, .min_area = 2};
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, error);
  if (!labeller)
    return error->status;
  CclStatus status = CCL_OK;
  for (int i = 0; i < 2 && status == CCL_OK; i++) {
    CclTable table = {0};
    status = ccl_labeller_run (labeller, &frame, &options, NULL, &table, error);
    if (status == CCL_OK && (table.n_components != N_COMPONENTS || table.rows[11].area != 25))
      status = ccl_error_set (error, CCL_ERROR_ARGUMENT, "the result is wrong");
  }
  ccl_labeller_free (&labeller);
  return status;
}

static bool
is_the_same (const SimcudaStatistics *a, const SimcudaStatistics *b)
{
  return a->device_allocations == b->device_allocations &&
         a->pinned_allocations == b->pinned_allocations && a->streams == b->streams &&
         a->events == b->events && a->graphs == b->graphs && a->contexts == b->contexts;
}

/* Lets the first, second, … call of a kind fail, until all calls of one use came through. */
static void
sweep (const char *algorithm, const char *kind, const char *error_text)
{
  char what[64];
  snprintf (what, sizeof what, "each %s fails with %s", kind, error_text);
  for (int n = 1;; n++) {
    char order[64], detail[400];
    SimcudaStatistics before, after;
    CclError error = {CCL_OK}, again = {CCL_OK};
    snprintf (order, sizeof order, "%s:%d:%s", kind, n, error_text);
    get_statistics (&before);
    order_fault (order);
    CclStatus status = use_labeller (algorithm, &error);
    get_statistics (&after);
    bool fired = after.faults > before.faults;
    order_fault (NULL);

    const char *wrong = NULL;
    if (fired && status == CCL_OK)
      wrong = "a failed call went unnoticed";
    else if (!fired && status != CCL_OK)
      wrong = "it fails without a fault";
    else if (fired && !strstr (error.message, "CUDA_ERROR"))
      wrong = "the message does not name CUDA's error";
    else if (!is_the_same (&before, &after))
      wrong = "something stayed allocated";
    else if (use_labeller (algorithm, &again) != CCL_OK)
      wrong = "afterwards nothing works";
    if (wrong) {
      snprintf (detail, sizeof detail, "%s (%s; %s)", wrong, order, error.message);
      report (false, algorithm, what, detail);
      return;
    }
    if (!fired)
      break;
    n_faults++;
  }
  report (true, algorithm, what, "");
}

static void
check_200_cycles (const char *algorithm)
{
  SimcudaStatistics before, after;
  CclError error = {CCL_OK};
  get_statistics (&before);
  for (int i = 0; i < 200; i++) {
    if (use_labeller (algorithm, &error) != CCL_OK) {
      report (false, algorithm, "200 labellers one after the other", error.message);
      return;
    }
  }
  get_statistics (&after);
  report (is_the_same (&before, &after), algorithm, "200 labellers leave nothing",
      "something stayed allocated");
}

/* A run allocates nothing and waits once. */
static void
check_run_is_lean (const char *algorithm)
{
  CclError error = {CCL_OK};
  CclPlan plan = {WIDTH, HEIGHT, CCL_CONNECTIVITY_8, 20, algorithm, 0};
  CclFrame frame = {frame_data, WIDTH, CCL_LOCATION_HOST};
  CclOptions options = {.threshold = 100};
  CclTable table;
  SimcudaStatistics before, after;
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error);
  get_statistics (&before);
  ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error);
  get_statistics (&after);
  ccl_labeller_free (&labeller);
  report (after.allocations == before.allocations, algorithm, "a run allocates nothing", "it does");
  report (after.synchronisations - before.synchronisations == 1, algorithm, "a run waits once",
      "it waits more often");
}

int
main (void)
{
  CclError error = {CCL_OK};
  device = ccl_cuda_device_open (-1, &error);
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library) {
    *(void **)&get_statistics = dlsym (library, "simcuda_get_statistics");
    *(void **)&order_fault = dlsym (library, "simcuda_order_fault");
  }
  if (!device || !get_statistics || !order_fault) {
    printf ("1..0 # SKIP %s\n", device ? "this is not the simulated driver" : error.message);
    return 0;
  }
  draw ();
  /* The first use loads kernels, which stay with the device. */
  static const char *const algorithms[] = {"strips", "bke"};
  for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
    use_labeller (algorithms[i], &error);
    check_run_is_lean (algorithms[i]);
    check_200_cycles (algorithms[i]);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
      for (size_t j = 0; j < sizeof errors / sizeof *errors; j++)
        sweep (algorithms[i], kinds[kind], errors[j]);
  }
  ccl_cuda_device_unref (&device);
  dlclose (library);
  printf ("# %d faults\n1..%d\n", n_faults, n_cases);
  return n_failed > 0;
}
