/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library's CPU labellers of images and of volumes. */
#include "implementation.h"

typedef struct CpuImplementation {
  Implementation head;
  bool labels_volumes;
  CclConnectivity connectivity;
  CclVolumeConnectivity volume_connectivity;
  unsigned max_components; /* UINT_MAX: as many as there are */
  bool allocation;         /* labeller and label map are made anew in every run */

  /* From prepare to release. */
  const Input *input;
  CclLabeller *labeller;
  CclVolumeLabeller *volume_labeller;
  uint32_t *labels;
  CclTable table;
  CclVolumeTable volume_table;
} CpuImplementation;

static uint32_t
n_components (const CpuImplementation *cpu)
{
  return cpu->labels_volumes ? cpu->volume_table.n_components : cpu->table.n_components;
}

static gboolean
label_once (CpuImplementation *cpu, GError **error)
{
  const Input *input = cpu->input;
  const size_t row = input->width, slice = row * input->height;
  const CclOptions options = {0};
  CclError failure;
  CclStatus status;

  if (cpu->labels_volumes) {
    const CclVolume volume = {.data = input->pixels, .row_stride = row, .slice_stride = slice};
    const CclVolumeLabels labels = {cpu->labels, 4 * row, 4 * slice};
    status = ccl_volume_labeller_run (cpu->volume_labeller, &volume, &options,
        cpu->labels ? &labels : NULL, &cpu->volume_table, &failure);
  } else {
    const CclFrame frame = {.data = input->pixels, .stride = row};
    const CclLabels labels = {cpu->labels, 4 * row};
    status = ccl_labeller_run (
        cpu->labeller, &frame, &options, cpu->labels ? &labels : NULL, &cpu->table, &failure);
  }
  return status == CCL_OK ? TRUE : implementation_fail (&failure, error);
}

static void
free_labeller (CpuImplementation *cpu)
{
  ccl_labeller_free (&cpu->labeller);
  ccl_volume_labeller_free (&cpu->volume_labeller);
  g_clear_pointer (&cpu->labels, g_free);
}

static gboolean
make_labeller (CpuImplementation *cpu, uint32_t max_components, GError **error)
{
  const Input *input = cpu->input;
  CclError failure;

  if (cpu->head.delivery == DELIVER_LABELS_AND_TABLE)
    cpu->labels = g_malloc (4 * input_n_pixels (input));
  if (cpu->labels_volumes)
    cpu->volume_labeller =
        ccl_cpu_volume_labeller_new (&(CclVolumePlan){.width = input->width,
                                         .height = input->height,
                                         .depth = input->depth,
                                         .connectivity = cpu->volume_connectivity,
                                         .max_components = max_components},
            &failure);
  else
    cpu->labeller = ccl_cpu_labeller_new (&(CclPlan){.width = input->width,
                                              .height = input->height,
                                              .connectivity = cpu->connectivity,
                                              .max_components = max_components,
                                              .algorithm = cpu->head.algorithm,
                                              .n_threads = cpu->head.threads},
        &failure);
  return cpu->labeller || cpu->volume_labeller ? TRUE : implementation_fail (&failure, error);
}

/* A labeller with room for all components has to be made anew for their number. */
static uint32_t
table_size (const CpuImplementation *cpu)
{
  return cpu->max_components == UINT_MAX ? MAX (1, n_components (cpu)) : cpu->max_components;
}

static gboolean
cpu_prepare (Implementation *implementation, const Input *input, GError **error)
{
  CpuImplementation *cpu = (CpuImplementation *)implementation;

  if (cpu->labels_volumes != (input->depth > 1)) {
    g_set_error (error, IMPLEMENTATION_ERROR, IMPLEMENTATION_ERROR_UNSUPPORTED, "%s only",
        cpu->labels_volumes ? "volumes" : "images");
    return FALSE;
  }
  cpu->input = input;
  cpu->table.n_components = cpu->volume_table.n_components = 0;
  if (!make_labeller (cpu, table_size (cpu), error) || !label_once (cpu, error))
    return FALSE;
  if (table_size (cpu) <= 1 || cpu->max_components != UINT_MAX)
    return TRUE;
  free_labeller (cpu);
  return make_labeller (cpu, table_size (cpu), error) && label_once (cpu, error);
}

static gboolean
cpu_run (Implementation *implementation, GError **error)
{
  CpuImplementation *cpu = (CpuImplementation *)implementation;

  if (cpu->allocation) {
    free_labeller (cpu);
    if (!make_labeller (cpu, table_size (cpu), error))
      return FALSE;
  }
  return label_once (cpu, error);
}

static gboolean
cpu_fetch (Implementation *implementation, Labelling *labelling, GError **error)
{
  CpuImplementation *cpu = (CpuImplementation *)implementation;

  *labelling = (Labelling){.n_components = n_components (cpu)};
  if (!cpu->labels_volumes) {
    labelling->n_rows = cpu->table.n_rows;
    labelling->components =
        g_memdup2 (cpu->table.rows, cpu->table.n_rows * sizeof *cpu->table.rows);
  }
  if (cpu->labels)
    labelling->labels = g_memdup2 (cpu->labels, 4 * input_n_pixels (cpu->input));
  return TRUE;
}

static void
cpu_release (Implementation *implementation)
{
  free_labeller ((CpuImplementation *)implementation);
}

static void
cpu_free (Implementation *implementation)
{
  cpu_release (implementation);
  g_free (implementation);
}

static void
add (GPtrArray *implementations, const ImplementationSettings *settings, const char *algorithm,
    unsigned threads, bool labels_volumes)
{
  static const ImplementationClass klass = {
      .prepare = cpu_prepare,
      .run = cpu_run,
      .fetch = cpu_fetch,
      .release = cpu_release,
      .free = cpu_free,
  };

  for (Delivery delivery = DELIVER_TABLE; delivery <= DELIVER_LABELS_AND_TABLE; delivery++) {
    CpuImplementation *cpu;
    if (!implementation_is_wanted (settings, algorithm, delivery, false))
      continue;
    cpu = g_new0 (CpuImplementation, 1);
    cpu->head = (Implementation){
        .klass = &klass,
        .device = "cpu",
        .maker = "cudaccl",
        .algorithm = algorithm,
        .delivery = delivery,
        .threads = threads,
    };
    cpu->labels_volumes = labels_volumes;
    cpu->connectivity = settings->connectivity;
    cpu->volume_connectivity = (CclVolumeConnectivity)settings->volume_connectivity;
    cpu->max_components = settings->max_components ? settings->max_components : UINT_MAX;
    cpu->allocation = settings->allocation;
    g_ptr_array_add (implementations, cpu);
  }
}

void
implementations_add_cpu (GPtrArray *implementations, const ImplementationSettings *settings)
{
  const char *const *names = ccl_cpu_algorithms ();
  const bool only_first = settings->only_chosen && !settings->algorithms;

  for (guint i = 0; names[i] && !(only_first && i); i++) {
    const bool shares = ccl_cpu_algorithm_uses_threads (names[i]);
    for (guint t = 0; t < (shares ? settings->threads->len : 1); t++)
      add (implementations, settings, names[i],
          shares ? g_array_index (settings->threads, unsigned, t) : 1, false);
  }
  add (implementations, settings, VOLUME_ALGORITHM, 1, true);
}
