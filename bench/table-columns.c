/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What columns of the component table cost: the time of a table with columns, divided by that of
 * the plain table. All take turns on each mask. The frames and the second plane are in the memory
 * of the GPU, tables on the host. */
#include "bench/implementations/library.h"

#include <cudaccl/device.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  uint32_t columns;
} tables[] = {
    {"plain", 0},
    {"moments", CUDACCL_COLUMN_SUMS | CUDACCL_COLUMN_MOMENTS},
    {"all but values", CUDACCL_ALL_COLUMNS & ~CUDACCL_COLUMN_INTENSITY},
    {"all", CUDACCL_ALL_COLUMNS},
};
enum { N_TABLES = G_N_ELEMENTS (tables), N_TURNS = 300, N_WARM_UP = 30 };

static gboolean on_cpu;
static const GOptionEntry entries[] = {
    {"cpu", 0, 0, G_OPTION_ARG_NONE, &on_cpu, "measure the CPU, one thread", NULL}, {NULL}};

static void
must (CclStatus status, const CclError *error)
{
  if (status != CUDACCL_OK)
    g_error ("%s", error->message);
}

static Input
read_mask (const char *path)
{
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  Input input = {0};
  char reason[64];
  gsize size;

  if (!g_file_get_contents (path, &data, &size, &error))
    g_error ("%s", error->message);
  if (read_png (data, size, &input, reason)) {
    input.pixels = g_malloc (input_n_pixels (&input));
    if (read_png (data, size, &input, reason))
      return input;
  }
  g_error ("%s: %s", path, reason);
}

static CclLabeller *
new_labeller (CclCudaDevice *device, const Input *input, uint32_t columns)
{
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  CclError error;

  plan.width = input->width;
  plan.height = input->height;
  plan.columns = columns;
  plan.n_threads = 1;
  CclLabeller *labeller =
      device ? ccl_cuda_labeller_new (device, &plan, &error) : ccl_cpu_labeller_new (&plan, &error);
  if (!labeller)
    g_error ("%s", error.message);
  return labeller;
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Measures all tables of a frame in turns; medians in µs. Returns the number of rows. */
static uint32_t
measure (CclCudaDevice *device, const Input *input, const CclFrame *frame, double medians[N_TABLES])
{
  static double times[N_TABLES][N_TURNS];
  const CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclLabeller *labellers[N_TABLES];
  CclError error;
  CclTable table;

  for (unsigned i = 0; i < N_TABLES; i++)
    labellers[i] = new_labeller (device, input, tables[i].columns);
  for (int turn = -N_WARM_UP; turn < N_TURNS; turn++)
    for (unsigned i = 0; i < N_TABLES; i++) {
      const double begin = seconds_now ();
      must (ccl_labeller_run (labellers[i], frame, &options, NULL, &table, &error), &error);
      if (turn >= 0)
        times[i][turn] = 1e6 * (seconds_now () - begin);
    }
  for (unsigned i = 0; i < N_TABLES; i++) {
    qsort (times[i], N_TURNS, sizeof **times, compare);
    medians[i] = times[i][N_TURNS / 2];
    ccl_labeller_free (&labellers[i]);
  }
  return table.n_rows;
}

/* A copy of pixels in the memory of the device. */
static void *
upload (CclCudaDevice *device, const uint8_t *pixels, size_t size)
{
  CclError error;
  void *memory;

  must (ccl_cuda_memory_new (device, size, &memory, &error), &error);
  must (ccl_cuda_memory_upload (device, pixels, memory, size, &error), &error);
  return memory;
}

/* Prints a line, and adds the logarithms of the ratios. */
static void
measure_mask (CclCudaDevice *device, const char *path, double logarithms[N_TABLES])
{
  Input input = read_mask (path);
  const size_t size = input_n_pixels (&input);
  g_autofree uint8_t *values = g_malloc (size);
  g_autofree char *name = g_path_get_basename (path);
  CclFrame frame = {.data = input.pixels, .stride = input.width};
  double medians[N_TABLES];

  for (size_t i = 0; i < size; i++)
    values[i] = (uint8_t)(i * 2654435761u >> 24);
  frame.intensity = (CclIntensity){.data = values, .stride = input.width};
  if (device) {
    frame.location = CUDACCL_LOCATION_DEVICE;
    frame.data = upload (device, input.pixels, size);
    frame.intensity.data = upload (device, values, size);
  }
  const uint32_t n_rows = measure (device, &input, &frame, medians);
  printf ("%-28s %8u", name, n_rows);
  for (unsigned i = 0; i < N_TABLES; i++) {
    printf (" %16.1f", medians[i]);
    logarithms[i] += log (medians[i] / medians[0]);
  }
  puts ("");
  if (device) {
    void *memory[] = {(void *)frame.data, (void *)frame.intensity.data};
    ccl_cuda_memory_free (device, &memory[0]);
    ccl_cuda_memory_free (device, &memory[1]);
  }
  g_free (input.pixels);
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new ("MASK.png…");
  g_autoptr (GError) wrong = NULL;
  double logarithms[N_TABLES] = {0};
  CclCudaDevice *device = NULL;
  CclError error;

  g_option_context_set_summary (context, "Measures tables of masks with columns, medians in µs.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &wrong) || argc < 2) {
    fprintf (stderr, "table-columns: %s\n", wrong ? wrong->message : "no mask is named");
    return 2;
  }
  if (!on_cpu && !(device = ccl_cuda_device_open (-1, &error))) {
    fprintf (stderr, "table-columns: %s\n", error.message);
    return 1;
  }
  printf ("%-28s %8s", "mask", "rows");
  for (unsigned i = 0; i < N_TABLES; i++)
    printf (" %16s", tables[i].name);
  puts ("");
  for (int i = 1; i < argc; i++)
    measure_mask (device, argv[i], logarithms);
  printf ("%-37s", "geometric mean, ÷ plain");
  for (unsigned i = 0; i < N_TABLES; i++)
    printf (" %16.2f", exp (logarithms[i] / (argc - 1)));
  puts ("");
  ccl_cuda_device_unref (&device);
  return 0;
}
