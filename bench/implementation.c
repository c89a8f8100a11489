/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "implementation.h"

#include <dlfcn.h>
#include <string.h>

void
labelling_clear (Labelling *labelling)
{
  g_free (labelling->labels);
  g_free (labelling->components);
  *labelling = (Labelling){0};
}

const char *
delivery_name (Delivery delivery)
{
  static const char *const names[] = {"-", "raw labels", "table", "labels + table"};
  return names[delivery];
}

char *
implementation_title (const Implementation *implementation)
{
  GString *title = g_string_new (implementation->device);

  if (implementation->is_bound)
    g_string_append_printf (title, " bandwidth bound: %s", implementation->algorithm);
  else
    g_string_append_printf (
        title, " %s, %s", implementation->algorithm, delivery_name (implementation->delivery));
  if (!implementation->is_bound && g_str_equal (implementation->device, "cpu"))
    g_string_append_printf (
        title, ", %u thread%s", implementation->threads, implementation->threads == 1 ? "" : "s");
  return g_string_free (title, FALSE);
}

void
implementation_report (
    const Implementation *implementation, const char *input_name, const CclError *error)
{
  g_autofree char *title = implementation_title (implementation);
  problem_report ("%s on %s: %s", title, input_name, error->message);
}

bool
implementation_is_peer (const Implementation *implementation)
{
  return !g_str_equal (implementation->maker, "cudaccl");
}

bool
implementation_is_named (const ImplementationSettings *settings, const char *algorithm)
{
  return !settings->algorithms ||
         g_strv_contains ((const char *const *)settings->algorithms, algorithm);
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
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (program ? program : ".");
  const char *const folders[] = {folder, BENCH_MODULE_DIR};
  void *module = NULL;

  *why = "the tool was built without it";
  for (guint i = 0; i < G_N_ELEMENTS (folders) && !module; i++) {
    g_autofree char *path = g_build_filename (folders[i], "libpeer-opencv.so", NULL);
    if (g_file_test (path, G_FILE_TEST_EXISTS) && !(module = dlopen (path, RTLD_NOW | RTLD_LOCAL)))
      *why = dlerror ();
  }
  return module ? dlsym (module, symbol) : NULL;
}
