/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of all implementations, and functions that they share. */
#include "implementation.h"
#include "core/label/labeller-class.h"

#include <dlfcn.h>

bool
implementation_is_named (const ImplementationSettings *settings, const char *algorithm)
{
  return !settings->algorithms || g_strv_contains (settings->algorithms, algorithm);
}

bool
implementation_is_wanted (const ImplementationSettings *settings, const char *algorithm,
    Delivery delivery, bool has_raw_labels)
{
  const Delivery cheapest = has_raw_labels ? DELIVER_RAW_LABELS : DELIVER_LABELS_AND_TABLE;

  if (!implementation_is_named (settings, algorithm))
    return false;
  return settings->cheapest_labels ? delivery == cheapest : settings->deliveries >> delivery & 1;
}

void
implementation_free (Implementation *implementation)
{
  implementation->klass->release (implementation);
  if (implementation->klass->free)
    implementation->klass->free (implementation);
  else
    g_free (implementation);
}

void *
peer_opencv_symbol (const char *symbol, const char **why)
{
  Dl_info own = {0};
  g_autofree char *folder = NULL, *path = NULL;
  void *module = NULL;

  dladdr (peer_opencv_symbol, &own);
  folder = g_path_get_dirname (own.dli_fname);
  path = g_build_filename (folder, "libpeer-opencv.so", NULL);
  *why = "the tool was built without it";
  if (g_file_test (path, G_FILE_TEST_EXISTS) && !(module = dlopen (path, RTLD_NOW | RTLD_LOCAL)))
    *why = dlerror ();
  return module ? dlsym (module, symbol) : NULL;
}

/* Adds OpenCV's labeller, whose algorithm is never named: peers stay beside named algorithms. */
static void
add_opencv (GPtrArray *implementations, const ImplementationSettings *settings, CclError *no_opencv)
{
  static const Delivery deliveries[] = {DELIVER_RAW_LABELS, DELIVER_LABELS_AND_TABLE};
  ImplementationSettings any_algorithm = *settings;
  const char *why;
  const PeerOpenCVNew new = (PeerOpenCVNew)peer_opencv_symbol ("peer_opencv_new", &why);

  if (!new)
    ccl_error_set (no_opencv, CUDACCL_ERROR_UNSUPPORTED, "%s", why);
  any_algorithm.algorithms = NULL;
  for (guint d = 0; new &&d < G_N_ELEMENTS (deliveries); d++)
    for (unsigned t = 0; t < settings->n_threads; t++)
      if (implementation_is_wanted (&any_algorithm, "opencv", deliveries[d], true))
        g_ptr_array_add (implementations, new (settings, deliveries[d], settings->threads[t]));
}

Implementation **
implementations_new (const ImplementationSettings *settings, CclError *no_cuda, CclError *no_opencv)
{
  GPtrArray *implementations = g_ptr_array_new ();

  *no_cuda = *no_opencv = (CclError){.status = CUDACCL_OK};
#if HAVE_CUDA
  if (settings->cuda)
    implementations_add_cuda (implementations, settings, no_cuda);
#else
  if (settings->cuda)
    ccl_error_set (no_cuda, CUDACCL_ERROR_UNSUPPORTED, "the tool was built without CUDA");
#endif
  if (settings->cpu) {
    implementations_add_bandwidth (implementations, settings);
    implementations_add_cpu (implementations, settings);
    if (settings->peers) {
      add_opencv (implementations, settings, no_opencv);
      implementations_add_slides (implementations, settings);
    }
  }
  g_ptr_array_add (implementations, NULL);
  return (Implementation **)g_ptr_array_free (implementations, FALSE);
}
