/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCV's labeller on the CPU, through the module of peer-opencv.cpp. */
#include "implementation.h"

#include "peer-opencv.h"
#include "problem.h"

#include <dlfcn.h>

typedef struct OpenCVImplementation {
  Implementation head;
  const PeerOpenCVModule *module;
  int connectivity;
  bool allocation;
  const Input *input;
  PeerOpenCV *peer;
  int n_components;
} OpenCVImplementation;

static gboolean
opencv_run (Implementation *implementation, GError **error)
{
  OpenCVImplementation *opencv = (OpenCVImplementation *)implementation;
  const char *message = NULL;

  opencv->n_components = opencv->module->run (opencv->peer, (int)implementation->threads,
      implementation->delivery == DELIVER_LABELS_AND_TABLE, opencv->allocation, &message);
  if (opencv->n_components < 0) {
    g_autofree char *line = g_strdup (message);
    g_strdelimit (line, "\n", ' ');
    g_set_error (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_FAILED, "%s", g_strstrip (line));
    return FALSE;
  }
  return TRUE;
}

static gboolean
opencv_prepare (Implementation *implementation, const Input *input, GError **error)
{
  OpenCVImplementation *opencv = (OpenCVImplementation *)implementation;

  if (input->depth > 1) {
    g_set_error (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_UNSUPPORTED, "images only");
    return FALSE;
  }
  opencv->input = input;
  opencv->peer = opencv->module->create (
      input->pixels, (int)input->width, (int)input->height, opencv->connectivity);
  return opencv_run (implementation, error);
}

/* OpenCV does not promise an order of its labels, so they count as raw. */
static gboolean
opencv_fetch (Implementation *implementation, Labelling *labelling, GError **error)
{
  OpenCVImplementation *opencv = (OpenCVImplementation *)implementation;

  *labelling = (Labelling){
      .labels =
          g_memdup2 (opencv->module->labels (opencv->peer), 4 * input_n_pixels (opencv->input)),
      .is_raw = true,
      .n_components = (uint32_t)opencv->n_components,
  };
  return TRUE;
}

static void
opencv_release (Implementation *implementation)
{
  OpenCVImplementation *opencv = (OpenCVImplementation *)implementation;

  if (opencv->peer)
    opencv->module->destroy (opencv->peer);
  opencv->peer = NULL;
  opencv->input = NULL;
}

static void
opencv_free (Implementation *implementation)
{
  opencv_release (implementation);
  g_free ((char *)implementation->maker);
  g_free (implementation);
}

/* The module lies beside the program in the build folder, and in its own folder after installation.
 */
static const PeerOpenCVModule *
load_module (char **why)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (program ? program : ".");
  g_autofree char *beside = g_build_filename (folder, "libpeer-opencv.so", NULL);
  g_autofree char *installed = g_build_filename (BENCH_MODULE_DIR, "libpeer-opencv.so", NULL);
  const char *const places[] = {beside, installed};
  void *library = NULL;

  *why = g_strdup ("the tool was built without it");
  for (guint i = 0; i < G_N_ELEMENTS (places) && !library; i++) {
    if (!g_file_test (places[i], G_FILE_TEST_EXISTS))
      continue;
    library = dlopen (places[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      g_free (*why);
      *why = g_strdup (dlerror ());
    }
  }
  return library ? dlsym (library, PEER_OPENCV_SYMBOL) : NULL;
}

void
implementations_add_opencv (GPtrArray *implementations, const ImplementationSettings *settings)
{
  static const ImplementationClass klass = {
      .prepare = opencv_prepare,
      .run = opencv_run,
      .fetch = opencv_fetch,
      .release = opencv_release,
      .free = opencv_free,
  };
  static const Delivery deliveries[] = {DELIVER_RAW_LABELS, DELIVER_LABELS_AND_TABLE};
  ImplementationSettings any_algorithm = *settings;
  g_autofree char *why = NULL;
  const PeerOpenCVModule *module = load_module (&why);

  if (!module) { /* no problem: peers are optional */
    static bool told;
    if (!told)
      g_printerr ("ccl-bench: no OpenCV to compare with: %s\n", why);
    told = true;
    return;
  }
  any_algorithm.algorithms = NULL; /* peers stay beside named algorithms */
  for (guint d = 0; d < G_N_ELEMENTS (deliveries); d++)
    for (guint t = 0; t < settings->threads->len; t++) {
      OpenCVImplementation *opencv;
      if (!implementation_is_wanted (&any_algorithm, "opencv", deliveries[d], true))
        continue;
      opencv = g_new0 (OpenCVImplementation, 1);
      opencv->head = (Implementation){
          .klass = &klass,
          .device = "cpu",
          .maker = g_strdup_printf ("OpenCV %s", module->version ()),
          .algorithm = "opencv",
          .delivery = deliveries[d],
          .threads = g_array_index (settings->threads, unsigned, t),
      };
      opencv->module = module;
      opencv->connectivity = (int)settings->connectivity;
      opencv->allocation = settings->allocation;
      g_ptr_array_add (implementations, opencv);
    }
}
