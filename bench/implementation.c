/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "implementation.h"

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
  switch (delivery) {
  case DELIVER_RAW_LABELS:
    return "raw labels";
  case DELIVER_TABLE:
    return "table";
  case DELIVER_LABELS_AND_TABLE:
    return "labels + table";
  default:
    return "-";
  }
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

gboolean
implementation_fail (const CclError *failure, GError **error)
{
  g_set_error_literal (error, IMPLEMENTATION_ERROR,
      failure->status == CCL_ERROR_UNSUPPORTED ? IMPLEMENTATION_ERROR_UNSUPPORTED
                                               : IMPLEMENTATION_ERROR_FAILED,
      failure->message);
  return FALSE;
}

void
implementation_free (Implementation *implementation)
{
  if (implementation)
    implementation->klass->free (implementation);
}
