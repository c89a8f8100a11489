/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contender.h"

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
contender_title (const Contender *contender)
{
  GString *title = g_string_new (contender->device);

  if (contender->is_floor)
    g_string_append_printf (title, " floor: %s", contender->algorithm);
  else
    g_string_append_printf (
        title, " %s, %s", contender->algorithm, delivery_name (contender->delivery));
  if (!contender->is_floor && g_str_equal (contender->device, "cpu"))
    g_string_append_printf (
        title, ", %u thread%s", contender->threads, contender->threads == 1 ? "" : "s");
  return g_string_free (title, FALSE);
}

bool
contender_is_peer (const Contender *contender)
{
  return !g_str_equal (contender->maker, "cudaccl");
}

bool
contender_is_named (const ContenderSettings *settings, const char *algorithm)
{
  return !settings->algorithms ||
         g_strv_contains ((const char *const *)settings->algorithms, algorithm);
}

bool
contender_is_wanted (const ContenderSettings *settings, const char *algorithm, Delivery delivery,
    bool has_raw_labels)
{
  const Delivery cheapest = has_raw_labels ? DELIVER_RAW_LABELS : DELIVER_LABELS_AND_TABLE;

  if (!contender_is_named (settings, algorithm))
    return false;
  return settings->cheapest_labels ? delivery == cheapest : settings->deliveries >> delivery & 1;
}

gboolean
contender_fail (const CclError *failure, GError **error)
{
  g_set_error_literal (error, CONTENDER_ERROR,
      failure->status == CCL_ERROR_UNSUPPORTED ? CONTENDER_ERROR_UNSUPPORTED
                                               : CONTENDER_ERROR_FAILED,
      failure->message);
  return FALSE;
}

void
contender_free (Contender *contender)
{
  if (contender)
    contender->klass->free (contender);
}
