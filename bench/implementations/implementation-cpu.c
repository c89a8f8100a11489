/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library's CPU labellers of images and of volumes. */
#include "implementation.h"
#include "research/cpu/research.h"
#include "core/label/labeller-class.h"

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

static CclStatus
cpu_run_once (CpuImplementation *cpu, CclError *error)
{
  const Input *input = cpu->input;
  const size_t row = input->width, slice = row * input->height;
  const CclLabellerOptions options = {0};

  if (cpu->labels_volumes) {
    const CclVolume volume = {.data = input->pixels, .row_stride = row, .slice_stride = slice};
    const CclVolumeLabels labels = {cpu->labels, 4 * row, 4 * slice};
    return ccl_volume_labeller_run (cpu->volume_labeller, &volume, &options,
        cpu->labels ? &labels : NULL, &cpu->volume_table, error);
  }
  const CclFrame frame = {.data = input->pixels, .stride = row};
  const CclLabels labels = {cpu->labels, 4 * row};
  return ccl_labeller_run (
      cpu->labeller, &frame, &options, cpu->labels ? &labels : NULL, &cpu->table, error);
}

static void
cpu_release (Implementation *implementation)
{
  CpuImplementation *cpu = (CpuImplementation *)implementation;

  ccl_labeller_free (&cpu->labeller);
  ccl_volume_labeller_free (&cpu->volume_labeller);
  g_clear_pointer (&cpu->labels, g_free);
}

/* Makes labeller and label map; with room for all components, once their number is known. */
static CclStatus
cpu_allocate (CpuImplementation *cpu, CclError *error)
{
  const Input *input = cpu->input;
  const uint32_t max_components =
      cpu->max_components == UINT_MAX ? MAX (1, n_components (cpu)) : cpu->max_components;
  const CclLabellerPlan plan = {
      .width = input->width,
      .height = input->height,
      .connectivity = cpu->connectivity,
      .max_components = max_components,
      .algorithm = cpu->head.algorithm,
      .n_threads = cpu->head.threads,
  };
  const CclVolumePlan volume_plan = {
      .width = input->width,
      .height = input->height,
      .depth = input->depth,
      .connectivity = cpu->volume_connectivity,
      .max_components = max_components,
  };

  cpu_release (&cpu->head);
  if (cpu->head.delivery == DELIVER_LABELS_AND_TABLE)
    cpu->labels = g_malloc (4 * input_n_pixels (input));
  if (cpu->labels_volumes)
    cpu->volume_labeller = ccl_cpu_volume_labeller_new (&volume_plan, error);
  else
    cpu->labeller = ccl_research_cpu_labeller_new (&plan, NULL, error);
  return cpu->labeller || cpu->volume_labeller ? CUDACCL_OK : error->status;
}

static CclStatus
cpu_prepare (Implementation *implementation, const Input *input, CclError *error)
{
  CpuImplementation *cpu = (CpuImplementation *)implementation;

  if (cpu->labels_volumes != (input->depth > 1))
    return ccl_error_set (
        error, CUDACCL_ERROR_UNSUPPORTED, "%s only", cpu->labels_volumes ? "volumes" : "images");
  cpu->input = input;
  cpu->table.n_components = cpu->volume_table.n_components = 0;
  TRY (cpu_allocate (cpu, error));
  TRY (cpu_run_once (cpu, error));
  if (cpu->max_components != UINT_MAX || n_components (cpu) <= 1)
    return CUDACCL_OK;
  TRY (cpu_allocate (cpu, error));
  return cpu_run_once (cpu, error);
}

static CclStatus
cpu_run (Implementation *implementation, CclError *error)
{
  CpuImplementation *cpu = (CpuImplementation *)implementation;

  if (cpu->allocation)
    TRY (cpu_allocate (cpu, error));
  return cpu_run_once (cpu, error);
}

static CclStatus
cpu_fetch (Implementation *implementation, Labelling *labelling, CclError *error)
{
  const CpuImplementation *cpu = (CpuImplementation *)implementation;

  *labelling = (Labelling){
      .labels = g_memdup2 (cpu->labels, 4 * input_n_pixels (cpu->input)),
      .n_components = n_components (cpu),
      .n_rows = cpu->table.n_rows, /* 0 for volumes */
      .components = g_memdup2 (cpu->table.rows, cpu->table.n_rows * sizeof *cpu->table.rows),
  };
  return CUDACCL_OK;
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
  const char *const *names = ccl_research_cpu_algorithms ();
  const bool only_first = settings->only_chosen && !settings->algorithms;

  for (guint i = 0; names[i] && !(only_first && i); i++) {
    const bool shares = ccl_research_cpu_uses_threads (names[i]);
    for (unsigned t = 0; t < (shares ? settings->n_threads : 1); t++)
      add (implementations, settings, names[i], shares ? settings->threads[t] : 1, false);
  }
  add (implementations, settings, VOLUME_ALGORITHM, 1, true);
}
