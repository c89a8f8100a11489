/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of all implementations. */
#include "implementation.h"
#include "problem.h"

#include <string.h>

/* Whether a list holds an algorithm, or one of its shapes of thread block: "bke 32x8x1". */
static bool
has_algorithm (const GPtrArray *implementations, const char *name, bool with_shapes)
{
  const size_t length = strlen (name);

  for (guint i = 0; i < implementations->len; i++) {
    const Implementation *implementation = implementations->pdata[i];
    const char *own = implementation->algorithm;
    if (!implementation->is_bound && g_str_has_prefix (own, name) &&
        (!own[length] || (with_shapes && own[length] == ' ')))
      return true;
  }
  return false;
}

GPtrArray *
implementations_new (const ImplementationSettings *settings)
{
  GPtrArray *implementations = g_ptr_array_new_with_free_func ((GDestroyNotify)implementation_free);

#if HAVE_CUDA
  if (settings->cuda)
    implementations_add_cuda (implementations, settings);
#else
  if (settings->needs_cuda)
    problem_report ("no GPU: the tool was built without CUDA");
#endif
  if (settings->cpu) {
    implementations_add_bandwidth (implementations, settings);
    implementations_add_cpu (implementations, settings);
    if (settings->peers)
      implementations_add_opencv (implementations, settings);
  }
  for (char **name = settings->algorithms; name && *name; name++)
    if (!has_algorithm (implementations, *name, settings->block_shapes))
      problem_report (
          "algorithm \"%s\": the devices in use have none of that name (see --list)", *name);
  return implementations;
}
