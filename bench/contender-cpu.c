/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU labellers of this project as contenders. */
#include "contender.h"

#include <cudaccl/labeller.h>

#include <string.h>

typedef struct CpuContender {
  Contender head;
  CclPlan plan;
  unsigned max_components; /* 0: as many as there are */
  bool allocation;         /* plan and label map are made anew in every run */
  const Input *input;
  CclLabeller *labeller;
  uint32_t *labels;
  CclTable table;
} CpuContender;

static gboolean
label_once (CpuContender *cpu, GError **error)
{
  const CclFrame frame = {cpu->input->pixels, cpu->plan.width, CCL_LOCATION_HOST};
  const CclLabels labels = {cpu->labels, 4 * (size_t)cpu->plan.width};
  CclError failure;

  if (ccl_labeller_run (cpu->labeller, &frame, &(CclOptions){0}, cpu->labels ? &labels : NULL,
          &cpu->table, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  return TRUE;
}

static void
let_go (CpuContender *cpu)
{
  ccl_labeller_free (&cpu->labeller);
  g_clear_pointer (&cpu->labels, g_free);
}

static gboolean
make (CpuContender *cpu, GError **error)
{
  CclError failure;

  if (cpu->head.delivery == DELIVER_LABELS_AND_TABLE)
    cpu->labels = g_malloc (4 * input_n_pixels (cpu->input));
  cpu->labeller = ccl_cpu_labeller_new (&cpu->plan, &failure);
  return cpu->labeller ? TRUE : contender_fail (&failure, error);
}

static gboolean
cpu_prepare (Contender *contender, const Input *input, GError **error)
{
  CpuContender *cpu = (CpuContender *)contender;

  if (input->depth > 1) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED, "images only");
    return FALSE;
  }
  cpu->input = input;
  cpu->plan.width = input->width;
  cpu->plan.height = input->height;
  cpu->plan.max_components = MAX (1, cpu->max_components);
  if (!make (cpu, error) || !label_once (cpu, error))
    return FALSE;
  if (!cpu->max_components && cpu->table.n_components > 1) {
    cpu->plan.max_components = cpu->table.n_components;
    let_go (cpu);
    return make (cpu, error) && label_once (cpu, error);
  }
  return TRUE;
}

static gboolean
cpu_run (Contender *contender, GError **error)
{
  CpuContender *cpu = (CpuContender *)contender;

  if (cpu->allocation) {
    let_go (cpu);
    if (!make (cpu, error))
      return FALSE;
  }
  return label_once (cpu, error);
}

static gboolean
cpu_fetch (Contender *contender, Labelling *labelling, GError **error)
{
  CpuContender *cpu = (CpuContender *)contender;

  *labelling = (Labelling){
      .n_components = cpu->table.n_components,
      .components = g_memdup2 (cpu->table.rows, cpu->table.n_rows * sizeof *cpu->table.rows),
      .n_rows = cpu->table.n_rows,
  };
  if (cpu->labels)
    labelling->labels = g_memdup2 (cpu->labels, 4 * input_n_pixels (cpu->input));
  return TRUE;
}

static void
cpu_release (Contender *contender)
{
  CpuContender *cpu = (CpuContender *)contender;
  let_go (cpu);
  cpu->input = NULL;
}

static void
cpu_free (Contender *contender)
{
  cpu_release (contender);
  g_free (contender);
}

void
contenders_add_cpu (GPtrArray *contenders, const ContenderSettings *settings)
{
  static const ContenderClass klass = {
      .prepare = cpu_prepare,
      .run = cpu_run,
      .fetch = cpu_fetch,
      .release = cpu_release,
      .free = cpu_free,
  };
  static const Delivery deliveries[] = {DELIVER_TABLE, DELIVER_LABELS_AND_TABLE};

  for (const char *const *name = ccl_cpu_algorithms (); *name; name++)
    for (guint d = 0; d < G_N_ELEMENTS (deliveries); d++)
      for (guint t = 0; t < settings->threads->len; t++) {
        CpuContender *cpu;
        /* What one thread does alone takes part once. */
        if ((t > 0 && !ccl_cpu_algorithm_uses_threads (*name)) ||
            !contender_is_wanted (settings, *name, deliveries[d], false) ||
            (settings->only_chosen && !settings->algorithms && name != ccl_cpu_algorithms ()))
          continue;
        cpu = g_new0 (CpuContender, 1);
        cpu->head = (Contender){
            .klass = &klass,
            .device = "cpu",
            .maker = "cudaccl",
            .algorithm = *name,
            .delivery = deliveries[d],
            .threads = ccl_cpu_algorithm_uses_threads (*name)
                           ? g_array_index (settings->threads, unsigned, t)
                           : 1,
        };
        cpu->plan = (CclPlan){
            .connectivity = settings->connectivity,
            .algorithm = *name,
            .n_threads = cpu->head.threads,
        };
        cpu->max_components = settings->max_components == UINT_MAX ? 0 : settings->max_components;
        cpu->allocation = settings->allocation;
        g_ptr_array_add (contenders, cpu);
      }
}
