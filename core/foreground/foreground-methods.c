/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both backends know of the foreground methods. */
#include "foreground-class.h"
#include "foreground-list.h"
#include "otsu.h"

#include "core/label/labeller-class.h"

static CclStatus
check_threshold (
    const CclForegroundPlan *plan, const CclForegroundOptions *options, CclError *error)
{
  return ccl_threshold_check (options->threshold, plan->format, error);
}

static CclStatus
check_mog2 (const CclForegroundPlan *plan, const CclForegroundOptions *options, CclError *error)
{
  if (options->history < 1)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the history must be at least one frame");
  if (!(options->var_threshold > 0))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the variance threshold must be greater than 0, not %g", (double)options->var_threshold);
  if (!(options->learning_rate <= 1))
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the learning rate must be at most 1, not %g", options->learning_rate);
  if (options->mixtures < 1 || options->mixtures > CUDACCL_MAX_MIXTURES)
    return ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
        "the number of Gaussians per pixel must be 1…%d, not %u", CUDACCL_MAX_MIXTURES,
        options->mixtures);
  return CUDACCL_OK;
}

#define ROW(number, method, ...) [CUDACCL_FOREGROUND_##number] = {.name = #method, __VA_ARGS__},
static const CclMethod methods[] = {CCL_FOREGROUND_METHODS (ROW)};

const CclMethod *
ccl_find_method (CclForegroundMethod method)
{
  return (unsigned)method < sizeof methods / sizeof *methods ? &methods[method] : NULL;
}

CclStatus
ccl_method_check (CclForegroundMethod method, CclError *error)
{
  return ccl_find_method (method) ? CUDACCL_OK
                                  : ccl_error_set (error, CUDACCL_ERROR_ARGUMENT,
                                        "the foreground method must be 0…%zu, not %d",
                                        sizeof methods / sizeof *methods - 1, (int)method);
}

const char *
ccl_foreground_method_name (CclForegroundMethod method)
{
  const CclMethod *found = ccl_find_method (method);
  return found ? found->name : NULL;
}

bool
ccl_foreground_method_has_model (CclForegroundMethod method)
{
  const CclMethod *found = ccl_find_method (method);
  return found && found->has_model;
}

bool
ccl_foreground_method_has_scene (CclForegroundMethod method)
{
  const CclMethod *found = ccl_find_method (method);
  return found && found->has_scene;
}

uint32_t
ccl_otsu_threshold (const uint64_t *histogram, uint32_t n_values)
{
  return ccl_otsu_threshold_of (histogram, n_values);
}
