/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU algorithm of a plan. */
#include "algorithms.h"
#include "core/base/log-message.h"
#include "cpu/base/instructions.h"
#include "cpu/measure/measure.h"

#include <string.h>

/* The library has one algorithm; those of the papers are in research/. */
const char *const *
ccl_cpu_algorithms (void)
{
  static const char *const names[] = {"runs", NULL};
  return names;
}

/* The algorithm of that name, or NULL. */
static const CpuAlgorithm *
find_algorithm (const char *name)
{
  return name && strcmp (name, cpu_runs.name) == 0 ? &cpu_runs : NULL;
}

bool
ccl_cpu_algorithm_has (const CpuAlgorithm *algorithm, CclConnectivity connectivity)
{
  return connectivity == CUDACCL_CONNECTIVITY_8 ||
         (connectivity == CUDACCL_CONNECTIVITY_4 && algorithm->has_4_connectivity);
}

bool
ccl_cpu_algorithm_offers (const char *algorithm, CclConnectivity connectivity)
{
  const CpuAlgorithm *found = find_algorithm (algorithm);
  return found && ccl_cpu_algorithm_has (found, connectivity);
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

CclLabeller *
ccl_cpu_labeller_new_with (const CclLabellerPlan *plan, const CpuAlgorithm *algorithm,
    const CclCpuTuning *tuning, CclError *error)
{
  CclLabellerPlan own_plan;

  if (ccl_plan_check (plan, error) != CUDACCL_OK)
    return NULL;
  if (plan->table_location != CUDACCL_LOCATION_HOST) {
    ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the CPU writes tables to host memory only");
    return NULL;
  }
  if (!algorithm) {
    ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "the CPU has no algorithm '%s'", plan->algorithm);
    return NULL;
  }
  if (!ccl_cpu_algorithm_has (algorithm, plan->connectivity)) {
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
ccl_cpu_labeller_new_tuned (
    const CclLabellerPlan *plan, const CclCpuTuning *tuning, CclError *error)
{
  const bool is_auto = plan && (!plan->algorithm || strcmp (plan->algorithm, "auto") == 0);
  const CpuAlgorithm *algorithm = is_auto || !plan ? &cpu_runs : find_algorithm (plan->algorithm);

  return ccl_cpu_labeller_new_with (plan, algorithm, tuning, error);
}

CclLabeller *
ccl_cpu_labeller_new (const CclLabellerPlan *plan, CclError *error)
{
  const CclCpuTuning tuning = {.instructions = instructions_of_user ()};
  return ccl_cpu_labeller_new_tuned (plan, &tuning, error);
}
