/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "contender.h"

#if HAVE_CUDA
#include "contender-cuda.h"
#endif
#include "problem.h"

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
contender_is_wanted (const ContenderSettings *settings, const char *algorithm, Delivery delivery)
{
  return (settings->deliveries >> delivery & 1) &&
         (!settings->algorithms ||
             g_strv_contains ((const char *const *)settings->algorithms, algorithm));
}

void
contender_free (Contender *contender)
{
  if (contender)
    contender->klass->free (contender);
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
    if (settings->peers)
      contenders_add_opencv (contenders, settings);
  }

  for (char **name = settings->algorithms; name && *name; name++) {
    bool found = false;
    for (guint i = 0; i < contenders->len; i++) {
      const Contender *contender = contenders->pdata[i];
      found |= !contender->is_floor && g_str_equal (contender->algorithm, *name);
    }
    if (!found)
      problem_tell (
          "algorithm \"%s\": the devices in use have none of that name (see --list)", *name);
  }
  return contenders;
}
