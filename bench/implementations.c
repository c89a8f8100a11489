/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of all implementations. */
#include "implementation.h"

#include <string.h>

/* Adds OpenCV's labeller, whose algorithm is never named: peers stay beside named algorithms. */
static void
add_opencv (GPtrArray *implementations, const ImplementationSettings *settings)
{
  static const Delivery deliveries[] = {DELIVER_RAW_LABELS, DELIVER_LABELS_AND_TABLE};
  static bool has_told;
  ImplementationSettings any_algorithm = *settings;
  const char *why;
  const PeerOpenCVNew new = (PeerOpenCVNew)peer_opencv_symbol ("peer_opencv_new", &why);

  if (!new && !has_told) /* no problem: peers are optional */
    problem_remark ("no OpenCV to compare with: %s", why);
  has_told = true;
  any_algorithm.algorithms = NULL;
  for (guint d = 0; new &&d < G_N_ELEMENTS (deliveries); d++)
    for (guint t = 0; t < settings->threads->len; t++)
      if (implementation_is_wanted (&any_algorithm, "opencv", deliveries[d], true))
        g_ptr_array_add (implementations,
            new (settings, deliveries[d], g_array_index (settings->threads, unsigned, t)));
}

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
    if (settings->peers) {
      add_opencv (implementations, settings);
      implementations_add_slides (implementations, settings);
    }
  }
  for (char **name = settings->algorithms; name && *name; name++)
    if (!has_algorithm (implementations, *name, settings->block_shapes))
      problem_report (
          "algorithm \"%s\": the devices in use have none of that name (see --list)", *name);
  return implementations;
}
