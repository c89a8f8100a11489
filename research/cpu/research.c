/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "research.h"

#include "two-pass.h"

#include <stdlib.h>
#include <string.h>

extern const TwoPassAlgorithm research_bbdt, research_drag, research_sauf;

static const CpuAlgorithm *const algorithms[] = {
    &cpu_runs, &research_bbdt.row, &research_drag.row, &research_sauf.row};

#define N_ALGORITHMS (sizeof algorithms / sizeof *algorithms)

const char *const *
ccl_research_cpu_algorithms (void)
{
  static const char *const names[N_ALGORITHMS + 1] = {"runs", "bbdt", "drag", "sauf"};
  return names;
}

static const CpuAlgorithm *
find_algorithm (const char *name)
{
  for (size_t i = 0; name && i < N_ALGORITHMS; i++)
    if (strcmp (algorithms[i]->name, name) == 0)
      return algorithms[i];
  return NULL;
}

bool
ccl_research_cpu_offers (const char *algorithm, CclConnectivity connectivity)
{
  const CpuAlgorithm *found = find_algorithm (algorithm);
  return found && ccl_cpu_algorithm_has (found, connectivity);
}

bool
ccl_research_cpu_uses_threads (const char *algorithm)
{
  const CpuAlgorithm *found = find_algorithm (algorithm);
  return found && found->uses_threads;
}

CclLabeller *
ccl_research_cpu_labeller_new (
    const CclLabellerPlan *plan, const CclCpuTuning *tuning, CclError *error)
{
  const CclCpuTuning defaults = {.instructions = getenv ("CCL_CPU_INSTRUCTIONS")};
  const CpuAlgorithm *algorithm = plan ? find_algorithm (plan->algorithm) : NULL;

  if (!tuning)
    tuning = &defaults;
  if (!algorithm)
    return ccl_cpu_labeller_new_tuned (plan, tuning, error);
  return ccl_cpu_labeller_new_with (plan, algorithm, tuning, error);
}
