/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of CPU algorithms, and the choice of one for a plan. */
#include "algorithms.h"
#include "core/base/log-message.h"
#include "cpu/measure/measure.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* CPU_ALGORITHMS, from meson.build's list, is X(first)X(second)… */
#define X(name) extern const CpuAlgorithm cpu_##name;
CPU_ALGORITHMS
#undef X

static const CpuAlgorithm *const algorithms[] = {
#define X(name) &cpu_##name,
    CPU_ALGORITHMS
#undef X
};

#define N_ALGORITHMS (sizeof algorithms / sizeof *algorithms)

static pthread_once_t list_once = PTHREAD_ONCE_INIT;
static const char *names[N_ALGORITHMS + 1];

static void
list_names (void)
{
  for (size_t i = 0; i < N_ALGORITHMS; i++)
    names[i] = algorithms[i]->name;
}

const char *const *
ccl_cpu_algorithms (void)
{
  pthread_once (&list_once, list_names);
  return names;
}

/* The algorithm of that name, or NULL. */
static const CpuAlgorithm *
find_algorithm (const char *name)
{
  for (size_t i = 0; name && i < N_ALGORITHMS; i++)
    if (strcmp (algorithms[i]->name, name) == 0)
      return algorithms[i];
  return NULL;
}

static bool
has_connectivity (const CpuAlgorithm *algorithm, CclConnectivity connectivity)
{
  return connectivity == CUDACCL_CONNECTIVITY_8 ||
         (connectivity == CUDACCL_CONNECTIVITY_4 && algorithm->has_4_connectivity);
}

bool
ccl_cpu_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  const CpuAlgorithm *found = find_algorithm (algorithm);
  return found && has_connectivity (found, connectivity);
}

const char *
ccl_cpu_algorithm_title (const char *algorithm)
{
  const CpuAlgorithm *found = find_algorithm (algorithm);
  return found ? found->title : NULL;
}

bool
ccl_cpu_algorithm_uses_threads (const char *algorithm)
{
  const CpuAlgorithm *found = find_algorithm (algorithm);
  return found && found->uses_threads;
}

CclStatus
ccl_cpu_check_frame (const CclFrame *frame, CclError *error)
{
  if (frame->location != CUDACCL_LOCATION_HOST)
    return ccl_error_set (
        error, CUDACCL_ERROR_ARGUMENT, "the CPU cannot read frames in device memory");
  return CUDACCL_OK;
}

void
ccl_cpu_set_no_memory (CclError *error, uint32_t width, uint32_t height)
{
  ccl_error_set (error, CUDACCL_ERROR_NO_MEMORY,
      "not enough memory to label frames of %u×%u pixels", width, height);
}

CclLabeller *
ccl_cpu_labeller_new_tuned (
    const CclLabellerPlan *plan, const CclCpuTuning *tuning, CclError *error)
{
  const CpuAlgorithm *algorithm = algorithms[0];
  CclLabellerPlan own_plan;

  if (ccl_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  if (plan->table_location != CUDACCL_LOCATION_HOST) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the CPU writes tables to host memory only");
    return NULL;
  }
  if (plan->algorithm && strcmp (plan->algorithm, "auto") != 0)
    algorithm = find_algorithm (plan->algorithm);
  if (!algorithm) {
    ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "the CPU has no algorithm '%s'", plan->algorithm);
    return NULL;
  }
  if (!has_connectivity (algorithm, plan->connectivity)) {
    ccl_error_set (error, CUDACCL_ERROR_UNSUPPORTED, "algorithm %s has no %d-connectivity",
        algorithm->name, (int)plan->connectivity);
    return NULL;
  }
  own_plan = *plan;
  own_plan.algorithm = algorithm->name;
  CclLabeller *labeller = algorithm->labeller_new (algorithm, &own_plan, tuning, error);
  if (labeller)
    ccl_log (CUDACCL_LOG_INFO, "the CPU labels frames of %u×%u pixels by the algorithm %s",
        plan->width, plan->height, algorithm->name);
  if (!labeller || !plan->columns || (algorithm->measures && algorithm->measures (&own_plan)))
    return labeller;
  return cpu_measuring_labeller_new (labeller, error);
}

CclLabeller *
ccl_cpu_labeller_new (const CclLabellerPlan *plan, CclError *error)
{
  const CclCpuTuning tuning = {.instructions = getenv ("CCL_CPU_INSTRUCTIONS")};
  return ccl_cpu_labeller_new_tuned (plan, &tuning, error);
}
