/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "leaks.h"

#include <dlfcn.h>
#include <gst/check/gstcheck.h>
#include <gst/gst.h>

#include "simcuda.h"

static GstTracer *
find_leaks_tracer (void)
{
  GList *tracers = gst_tracing_get_active_tracers ();
  GstTracer *leaks = NULL;

  for (GList *l = tracers; l && !leaks; l = l->next) {
    if (g_str_equal (G_OBJECT_TYPE_NAME (l->data), "GstLeaksTracer"))
      leaks = gst_object_ref (l->data);
  }
  g_list_free_full (tracers, gst_object_unref);
  return leaks;
}

/* The resources in use of the simulated CUDA driver; zeros if another driver is loaded, or none. */
static SimcudaStatistics
get_device_statistics (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void (*get_statistics) (SimcudaStatistics *) = NULL;
  SimcudaStatistics statistics = {0};

  if (driver) {
    *(void **)&get_statistics = dlsym (driver, "simcuda_get_statistics");
    if (get_statistics)
      get_statistics (&statistics);
    dlclose (driver);
  }
  return statistics;
}

guint64
count_device_memory (void)
{
  SimcudaStatistics statistics = get_device_statistics ();

  return statistics.device_allocations + statistics.pinned_allocations;
}

static void
assert_no_device_leaks (void)
{
  SimcudaStatistics statistics = get_device_statistics ();

  fail_unless_equals_uint64 (statistics.device_allocations, 0);
  fail_unless_equals_uint64 (statistics.pinned_allocations, 0);
  fail_unless_equals_uint64 (statistics.streams, 0);
  fail_unless_equals_uint64 (statistics.events, 0);
  fail_unless_equals_uint64 (statistics.modules, 0);
  fail_unless_equals_uint64 (statistics.graphs, 0);
  fail_unless_equals_uint64 (statistics.contexts, 0);
}

void
assert_no_object_leaks (void)
{
  GstTracer *tracer = find_leaks_tracer ();
  GstStructure *alive = NULL;
  const GValue *list;

  if (!tracer)
    return;
  g_signal_emit_by_name (tracer, "get-live-objects", &alive);
  gst_object_unref (tracer);
  fail_unless (alive != NULL);

  list = gst_structure_get_value (alive, "live-objects-list");
  if (list && gst_value_list_get_size (list) > 0) {
    gchar *text = gst_structure_to_string (alive);
    fail ("objects are alive: %s", text);
    g_free (text);
  }
  gst_structure_free (alive);
}

void
assert_no_leaks (void)
{
  assert_no_object_leaks ();
  assert_no_device_leaks ();
}
