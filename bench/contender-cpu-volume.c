/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This project's CPU labeller of volumes as a contender. */
#include "contender.h"

#include <cudaccl/volume.h>

#define ALGORITHM "runs-3d"

typedef struct VolumeContender {
  Contender head;
  CclVolumePlan plan;
  unsigned max_components; /* 0: as many as there are */
  bool allocation;         /* plan and label map are made anew in every run */
  const Input *input;
  CclVolumeLabeller *labeller;
  uint32_t *labels;
  CclVolumeTable table;
} VolumeContender;

static gboolean
label_once (VolumeContender *cpu, GError **error)
{
  const size_t row = cpu->plan.width, slice = row * cpu->plan.height;
  const CclVolume volume = {cpu->input->pixels, row, slice};
  const CclVolumeLabels labels = {cpu->labels, 4 * row, 4 * slice};
  CclError failure;

  if (ccl_volume_labeller_run (cpu->labeller, &volume, &(CclOptions){0},
          cpu->labels ? &labels : NULL, &cpu->table, &failure) != CCL_OK)
    return contender_fail (&failure, error);
  return TRUE;
}

static void
let_go (VolumeContender *cpu)
{
  ccl_volume_labeller_free (&cpu->labeller);
  g_clear_pointer (&cpu->labels, g_free);
}

static gboolean
make (VolumeContender *cpu, GError **error)
{
  CclError failure;

  if (cpu->head.delivery == DELIVER_LABELS_AND_TABLE)
    cpu->labels = g_malloc (4 * input_n_pixels (cpu->input));
  cpu->labeller = ccl_cpu_volume_labeller_new (&cpu->plan, &failure);
  return cpu->labeller ? TRUE : contender_fail (&failure, error);
}

static gboolean
volume_prepare (Contender *contender, const Input *input, GError **error)
{
  VolumeContender *cpu = (VolumeContender *)contender;

  if (input->depth == 1) {
    g_set_error (error, CONTENDER_ERROR, CONTENDER_ERROR_UNSUPPORTED, "volumes only");
    return FALSE;
  }
  cpu->input = input;
  cpu->plan.width = input->width;
  cpu->plan.height = input->height;
  cpu->plan.depth = input->depth;
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
volume_run (Contender *contender, GError **error)
{
  VolumeContender *cpu = (VolumeContender *)contender;

  if (cpu->allocation) {
    let_go (cpu);
    if (!make (cpu, error))
      return FALSE;
  }
  return label_once (cpu, error);
}

/* A Labelling has no room for boxes with depth, so its rows stay out. */
static gboolean
volume_fetch (Contender *contender, Labelling *labelling, GError **error)
{
  VolumeContender *cpu = (VolumeContender *)contender;

  *labelling = (Labelling){.n_components = cpu->table.n_components};
  if (cpu->labels)
    labelling->labels = g_memdup2 (cpu->labels, 4 * input_n_pixels (cpu->input));
  return TRUE;
}

static void
volume_release (Contender *contender)
{
  VolumeContender *cpu = (VolumeContender *)contender;
  let_go (cpu);
  cpu->input = NULL;
}

static void
volume_free (Contender *contender)
{
  volume_release (contender);
  g_free (contender);
}

void
contenders_add_cpu_volume (GPtrArray *contenders, const ContenderSettings *settings)
{
  static const ContenderClass klass = {
      .prepare = volume_prepare,
      .run = volume_run,
      .fetch = volume_fetch,
      .release = volume_release,
      .free = volume_free,
  };
  static const Delivery deliveries[] = {DELIVER_TABLE, DELIVER_LABELS_AND_TABLE};

  for (guint d = 0; d < G_N_ELEMENTS (deliveries); d++) {
    VolumeContender *cpu;
    if (!contender_is_wanted (settings, ALGORITHM, deliveries[d], false))
      continue;
    cpu = g_new0 (VolumeContender, 1);
    cpu->head = (Contender){
        .klass = &klass,
        .device = "cpu",
        .maker = "cudaccl",
        .algorithm = ALGORITHM,
        .delivery = deliveries[d],
        .threads = 1,
    };
    cpu->plan.connectivity = (CclVolumeConnectivity)settings->volume_connectivity;
    cpu->max_components = settings->max_components == UINT_MAX ? 0 : settings->max_components;
    cpu->allocation = settings->allocation;
    g_ptr_array_add (contenders, cpu);
  }
}
