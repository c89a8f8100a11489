/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who takes part. */
#include "contender.h"

#if HAVE_CUDA
#include "contender-cuda.h"
#endif
#include "problem.h"

#include <string.h>

/* Whether a contender is an algorithm with another shape of thread block: "bke 32x8x1". */
static bool
is_shape_of (const Contender *contender, const char *algorithm)
{
  return g_str_has_prefix (contender->algorithm, algorithm) &&
         contender->algorithm[strlen (algorithm)] == ' ';
}

GPtrArray *
contenders_new (const ContenderSettings *settings)
{
  GPtrArray *contenders = g_ptr_array_new_with_free_func ((GDestroyNotify)contender_free);

#if HAVE_CUDA
  if (settings->cuda)
    contenders_add_cuda (contenders, settings);
#else
  if (settings->needs_cuda)
    problem_tell ("no GPU: the tool was built without CUDA");
#endif
  if (settings->cpu) {
    contenders_add_cpu_floors (contenders, settings);
    contenders_add_cpu (contenders, settings);
    contenders_add_cpu_volume (contenders, settings);
    if (settings->peers)
      contenders_add_opencv (contenders, settings);
  }

  for (char **name = settings->algorithms; name && *name; name++) {
    bool found = false;
    for (guint i = 0; i < contenders->len; i++) {
      const Contender *contender = contenders->pdata[i];
      found |=
          !contender->is_floor && (g_str_equal (contender->algorithm, *name) ||
                                      (settings->block_shapes && is_shape_of (contender, *name)));
    }
    if (!found)
      problem_tell (
          "algorithm \"%s\": the devices in use have none of that name (see --list)", *name);
  }
  return contenders;
}
