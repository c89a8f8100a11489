/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "leaks.h"

#include <gst/check/gstcheck.h>
#include <gst/gst.h>

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

void
assert_no_leaks (void)
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
