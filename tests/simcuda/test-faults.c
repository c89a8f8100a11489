/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each driver call fails once, and once with the device lost. Planning and running must return the
 * error, free all memory, and work again on a working device. Prints TAP.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cudaccl/device.h>
#include "cuda/driver/device.h"
#include "simcuda.h"

enum { WIDTH = 45, HEIGHT = 37, N_COMPONENTS = 12 };

static const char *const kinds[] = {"allocate", "copy", "launch", "synchronise", "create"};
static const char *const errors[] = {"2", "700:lost", "999"};

static void (*get_statistics) (SimcudaStatistics *);
static int (*order_fault) (const char *);
static CclCudaDevice *device;
static uint8_t frame_data[WIDTH * HEIGHT];
static CUdeviceptr mask_memory, squares_memory;
static int n_cases, n_failed, n_faults;

/* The object under test: a labeller by its algorithm's name, all foreground methods, or volumes. */
typedef struct Use {
  const char *name;
  CclStatus (*function) (const char *name, CclError *error);
} Use;

static void
report (bool passed, const char *name, const char *what, const char *detail)
{
  n_cases++;
  n_failed += !passed;
  printf ("%sok %d %s: %s%s%s\n", passed ? "" : "not ", n_cases, name, what, passed ? "" : ": ",
      passed ? "" : detail);
}

/* Twelve squares of 5×5 pixels. */
static void
draw (void)
{
  for (int i = 0; i < N_COMPONENTS; i++)
    for (int y = 0; y < 5; y++)
      memset (frame_data + (9 * (i / 4) + y) * WIDTH + 10 * (i % 4), 255, 5);
}

/* Plans, runs twice and frees. columns: of the plan; the frame is its own second plane. */
static CclStatus
use_labeller_with (const char *algorithm, uint32_t columns, CclError *error)
{
  CclLabellerPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 20,
      .algorithm = algorithm,
      .columns = columns};
  CclFrame frame = {frame_data, WIDTH, CUDACCL_LOCATION_HOST};
  frame.intensity = (CclIntensity){frame_data, WIDTH, CUDACCL_PIXEL_FORMAT_8};
  CclLabellerOptions options = {.threshold = 100, .min_area = 2};
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, error);
  if (!labeller)
    return error->status;
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    CclTable table = {0};
    status = ccl_labeller_run (labeller, &frame, &options, NULL, &table, error);
    if (status == CUDACCL_OK && (table.n_components != N_COMPONENTS || table.rows[11].area != 25))
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the result is wrong");
    if (status == CUDACCL_OK && columns &&
        (table.features[11].sum_value != 25 * 255 || table.features[11].n_quads_1 != 4))
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the features are wrong");
  }
  ccl_labeller_free (&labeller);
  return status;
}

static CclStatus
use_labeller (const char *algorithm, CclError *error)
{
  return use_labeller_with (algorithm, 0, error);
}

static CclStatus
use_columns (const char *name, CclError *error)
{
  (void)name;
  return use_labeller_with ("strips", CUDACCL_ALL_COLUMNS, error);
}

/* Runs a foreground method on the frame and its inverse, and counts the final mask's pixels. */
static CclStatus
run_foreground (CclForeground *foreground, bool light, uint32_t *n_foreground, CclError *error)
{
  static uint8_t opposite[WIDTH * HEIGHT], mask_data[WIDTH * HEIGHT];
  const CclForegroundOptions options = {
      .denoise = CUDACCL_DENOISE_MEDIAN_3,
      .history = 10,
      .var_threshold = 16,
      .learning_rate = -1,
      .mixtures = 5,
      .light = light,
  };
  const CclMask mask = {(void *)mask_memory, WIDTH};
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    opposite[i] = 255 - frame_data[i];
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    const CclFrame frame = {i ? opposite : frame_data, WIDTH, CUDACCL_LOCATION_HOST};
    status = ccl_foreground_queue (foreground, &frame, &options, &mask, error);
  }
  if (status == CUDACCL_OK)
    status = ccl_foreground_wait (foreground, error);
  if (status == CUDACCL_OK && (status = ccl_cuda_device_enter (device, error)) == CUDACCL_OK) {
    status = ccl_cuda_call (
        device->driver, error, cuMemcpyDtoHAsync (mask_data, mask_memory, sizeof mask_data, NULL));
    if (status == CUDACCL_OK)
      status = ccl_cuda_call (device->driver, error, cuStreamSynchronize (NULL));
    ccl_cuda_device_leave (device);
  }
  *n_foreground = 0;
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    *n_foreground += mask_data[i] == 255;
  return status;
}

/* Plans, runs twice and frees each foreground method; the leftmost column is outside the region of
 * interest. */
static CclStatus
use_foregrounds (const char *name, CclError *error)
{
  (void)name;
  static uint8_t roi_mask_data[WIDTH * HEIGHT];
  const CclFrame roi_mask = {roi_mask_data, WIDTH, CUDACCL_LOCATION_HOST};
  /* Threshold methods: in the inverse frame all pixels outside the squares exceed the threshold.
   * The median filter rounds off the squares' corners that do not lie at the frame's edge. The
   * leftmost column is outside the region of interest. Models: every pixel has changed. With
   * light, the codebook model takes the inverse frame for that of a camera that was uncovered, so
   * its mask is empty. */
  const uint32_t n_pixels = (WIDTH - 1) * HEIGHT;
  const uint32_t in_squares = (24 - 5) + 2 * (23 - 5) + 3 * 23 + 6 * 21;
  const struct {
    CclForegroundMethod method;
    bool light;
    uint32_t n_pixels;
  } cases[] = {
      {CUDACCL_FOREGROUND_THRESHOLD, false, n_pixels - in_squares},
      {CUDACCL_FOREGROUND_OTSU, false, n_pixels - in_squares},
      {CUDACCL_FOREGROUND_MOG2, false, n_pixels},
      {CUDACCL_FOREGROUND_CODEBOOK, false, n_pixels},
      {CUDACCL_FOREGROUND_CODEBOOK, true, 0},
  };
  CclStatus status = CUDACCL_OK;
  for (int y = 0; y < HEIGHT; y++)
    memset (roi_mask_data + y * WIDTH + 1, 1, WIDTH - 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases && status == CUDACCL_OK; i++) {
    const CclForegroundPlan plan = {
        .width = WIDTH, .height = HEIGHT, .method = cases[i].method, .roi_mask = &roi_mask};
    CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, error);
    if (!foreground)
      return error->status;
    uint32_t n_foreground = 0;
    status = run_foreground (foreground, cases[i].light, &n_foreground, error);
    if (status == CUDACCL_OK && n_foreground != cases[i].n_pixels)
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "foreground %d has %u pixels, not %u",
          (int)cases[i].method, n_foreground, cases[i].n_pixels);
    ccl_foreground_free (&foreground);
  }
  return status;
}

/* Plans, runs twice and frees: the squares are bars through three slices; a fourth slice, in host
 * memory, is background. */
static CclStatus
use_volumes (const char *name, CclError *error)
{
  (void)name;
  enum { DEPTH = 4, SLICE = WIDTH * HEIGHT + 3 };
  static uint8_t volume_data[DEPTH * SLICE];
  const CclVolumePlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .depth = DEPTH,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 20};
  const CclVolume volume = {volume_data, WIDTH, SLICE, CUDACCL_LOCATION_HOST};
  const CclLabellerOptions options = {.threshold = 100, .min_area = 2};
  for (int z = 0; z < DEPTH - 1; z++)
    memcpy (volume_data + z * SLICE, frame_data, sizeof frame_data);
  CclVolumeLabeller *labeller = ccl_cuda_volume_labeller_new (device, &plan, error);
  if (!labeller)
    return error->status;
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    CclVolumeTable table = {0};
    status = ccl_volume_labeller_run (labeller, &volume, &options, NULL, &table, error);
    if (status == CUDACCL_OK &&
        (table.n_components != N_COMPONENTS || table.rows[11].n_voxels != 75))
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the result is wrong");
  }
  ccl_volume_labeller_free (&labeller);
  return status;
}

/* Plans, runs twice and frees: each square has a contour of 16 pixels. */
static CclStatus
use_contours (const char *name, CclError *error)
{
  (void)name;
  const CclContoursPlan plan = {
      .width = WIDTH, .height = HEIGHT, .connectivity = CUDACCL_CONNECTIVITY_8};
  const CclFrame frame = {frame_data, WIDTH, CUDACCL_LOCATION_HOST};
  const CclLabellerOptions options = {.threshold = 100};
  CclContours *contours = ccl_cuda_contours_new (device, &plan, error);
  if (!contours)
    return error->status;
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    CclContourTable table = {0};
    status = ccl_contours_of_frame (contours, &frame, &options, &table, error);
    if (status == CUDACCL_OK &&
        (table.n_contours != N_COMPONENTS || table.n_points != 16 * N_COMPONENTS))
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the result is wrong");
  }
  ccl_contours_free (&contours);
  return status;
}

/* Plans, fills holes that are not there, labels twice and frees. */
static CclStatus
use_batches (const char *name, CclError *error)
{
  (void)name;
  const CclBatchPlan plan = {
      .n_masks = 1, .width = WIDTH, .height = HEIGHT, .connectivity = CUDACCL_CONNECTIVITY_8};
  const CclMasks masks = {(void *)squares_memory, WIDTH, WIDTH * HEIGHT, CUDACCL_LOCATION_DEVICE};
  CclBatch *batch = ccl_cuda_batch_new (device, &plan, error);
  if (!batch)
    return error->status;
  CclStatus status = ccl_batch_fill_holes (batch, &masks, 0, 1, error);
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    CclBatchTable table = {0};
    status = ccl_batch_label (batch, &masks, NULL, NULL, &table, error);
    if (status == CUDACCL_OK && (table.offsets[1] != N_COMPONENTS || table.rows[11].area != 25))
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the result is wrong");
  }
  ccl_batch_free (&batch);
  return status;
}

/* Plans, counts twice and frees: the squares and their surroundings. */
static CclStatus
use_values (const char *name, CclError *error)
{
  (void)name;
  const CclValuesPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .depth = 1,
      .connectivity = 8,
      .type = CUDACCL_VALUE_TYPE_8};
  const CclValues values = {
      .data = (void *)squares_memory, .row_stride = WIDTH, .location = CUDACCL_LOCATION_DEVICE};
  CclValuesLabeller *labeller = ccl_cuda_values_labeller_new (device, &plan, error);
  if (!labeller)
    return error->status;
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    uint32_t n_components = 0;
    status = ccl_values_labeller_run (labeller, &values, NULL, &n_components, error);
    if (status == CUDACCL_OK && n_components != N_COMPONENTS + 1)
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the result is wrong");
  }
  ccl_values_labeller_free (&labeller);
  return status;
}

/* Measures the squares as if four bytes were a label: one that is too great. */
static CclStatus
use_measured_maps (const char *name, CclError *error)
{
  (void)name;
  enum { N = WIDTH * HEIGHT / 4 };
  const CclMapMeasurerPlan plan = {
      .width = N, .height = 1, .columns = CUDACCL_ALL_COLUMNS, .max_labels = 9};
  const CclVolumeLabels labels = {(void *)squares_memory, 4 * N, 0};
  const CclVolumeIntensity intensity = {(void *)squares_memory, N, 0, CUDACCL_PIXEL_FORMAT_8};
  CclMapMeasurer *measurer = ccl_cuda_map_measurer_new (device, &plan, error);
  if (!measurer)
    return error->status;
  CclStatus status = CUDACCL_OK;
  for (int i = 0; i < 2 && status == CUDACCL_OK; i++) {
    CclMapTable table = {0};
    status = ccl_cuda_map_measurer_run (measurer, &labels, &intensity, &table, error);
    if (status == CUDACCL_OK && (table.greatest_label <= 9 || table.n_rows != 9))
      status = ccl_error_set (error, CUDACCL_ERROR_ARGUMENT, "the result is wrong");
  }
  ccl_cuda_map_measurer_free (&measurer);
  return status;
}

static bool
is_the_same (const SimcudaStatistics *a, const SimcudaStatistics *b)
{
  return a->device_allocations == b->device_allocations &&
         a->pinned_allocations == b->pinned_allocations && a->streams == b->streams &&
         a->events == b->events && a->graphs == b->graphs && a->contexts == b->contexts;
}

/* Lets the first, second, … call of a kind fail, until one use succeeds. */
static void
sweep (const Use *use, const char *kind, const char *error_text)
{
  char what[64];
  snprintf (what, sizeof what, "each %s fails with %s", kind, error_text);
  for (int n = 1;; n++) {
    char order[64], detail[400];
    SimcudaStatistics before, after;
    CclError error = {CUDACCL_OK}, again = {CUDACCL_OK};
    snprintf (order, sizeof order, "%s:%d:%s", kind, n, error_text);
    get_statistics (&before);
    order_fault (order);
    CclStatus status = use->function (use->name, &error);
    get_statistics (&after);
    bool fired = after.faults > before.faults;
    order_fault (NULL);

    const char *wrong = NULL;
    if (fired && status == CUDACCL_OK)
      wrong = "a failed call went unnoticed";
    else if (!fired && status != CUDACCL_OK)
      wrong = "it fails without a fault";
    else if (fired && !strstr (error.message, "CUDA_ERROR"))
      wrong = "the message does not name CUDA's error";
    else if (!is_the_same (&before, &after))
      wrong = "something stayed allocated";
    else if (use->function (use->name, &again) != CUDACCL_OK)
      wrong = "afterwards nothing works";
    if (wrong) {
      snprintf (detail, sizeof detail, "%s (%s; %s)", wrong, order, error.message);
      report (false, use->name, what, detail);
      return;
    }
    if (!fired)
      break;
    n_faults++;
  }
  report (true, use->name, what, "");
}

static void
check_200_cycles (const Use *use)
{
  SimcudaStatistics before, after;
  CclError error = {CUDACCL_OK};
  get_statistics (&before);
  for (int i = 0; i < 200; i++) {
    if (use->function (use->name, &error) != CUDACCL_OK) {
      report (false, use->name, "200 uses one after the other", error.message);
      return;
    }
  }
  get_statistics (&after);
  report (is_the_same (&before, &after), use->name, "200 uses leave nothing",
      "something stayed allocated");
}

/* A run of a labeller allocates nothing and waits once. */
static void
check_labeller_is_lean (const char *name, const char *algorithm, uint32_t columns)
{
  CclError error = {CUDACCL_OK};
  CclLabellerPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 20,
      .algorithm = algorithm,
      .columns = columns};
  CclFrame frame = {frame_data, WIDTH, CUDACCL_LOCATION_HOST};
  frame.intensity = (CclIntensity){frame_data, WIDTH, CUDACCL_PIXEL_FORMAT_8};
  CclLabellerOptions options = {.threshold = 100};
  CclTable table;
  SimcudaStatistics before, after;
  CclLabeller *labeller = ccl_cuda_labeller_new (device, &plan, &error);
  ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error);
  get_statistics (&before);
  ccl_labeller_run (labeller, &frame, &options, NULL, &table, &error);
  get_statistics (&after);
  ccl_labeller_free (&labeller);
  report (after.allocations == before.allocations, name, "a run allocates nothing", "it does");
  report (after.synchronisations - before.synchronisations == 1, name, "a run waits once",
      "it waits more often");
}

/* Other threads of the process can invalidate a capture, so graphs are built without one. */
static void
check_captures (void)
{
  SimcudaStatistics before, after;
  CclError error = {CUDACCL_OK};
  get_statistics (&before);
  const CclStatus status = use_labeller ("strips", &error);
  get_statistics (&after);
  report (!status && after.captures == before.captures, "strips", "captures no stream",
      status ? error.message : "it captures");
}

/* A run of a foreground allocates nothing and does not wait; that of the codebook model not even
 * for the light of the frame before. */
static void
check_foreground_is_lean (CclForegroundMethod method)
{
  static const char *const names[] = {
      "foreground, threshold", "foreground, Otsu", "foreground, mog2", "foreground, codebook"};
  CclError error = {CUDACCL_OK};
  const CclForegroundPlan plan = {.width = WIDTH, .height = HEIGHT, .method = method};
  const CclFrame frame = {frame_data, WIDTH, CUDACCL_LOCATION_HOST};
  const CclForegroundOptions options = {.denoise = CUDACCL_DENOISE_OPENING_3,
      .history = 10,
      .var_threshold = 16,
      .learning_rate = -1,
      .mixtures = 5,
      .light = method == CUDACCL_FOREGROUND_CODEBOOK};
  const CclMask mask = {(void *)mask_memory, WIDTH};
  SimcudaStatistics before, after, waited;
  CclForeground *foreground = ccl_cuda_foreground_new (device, &plan, &error);
  ccl_foreground_queue (foreground, &frame, &options, &mask, &error);
  get_statistics (&before);
  ccl_foreground_queue (foreground, &frame, &options, &mask, &error);
  get_statistics (&after);
  ccl_foreground_wait (foreground, &error);
  get_statistics (&waited);
  ccl_foreground_free (&foreground);
  report (
      after.allocations == before.allocations, names[method], "a run allocates nothing", "it does");
  report (after.synchronisations == before.synchronisations, names[method], "a run does not wait",
      "it waits");
  report (waited.synchronisations - after.synchronisations == 1, names[method],
      "waiting is one wait", "it is not");
}

/* Noise so strong that all cells have the frame's light, and maybe an object of many brightnesses.
 */
static void
draw_noise (uint8_t *frame, uint32_t *state, uint32_t eighths, bool has_object)
{
  for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
    *state = *state * 1664525 + 1013904223;
    const uint32_t random = (*state >> 8) % 10, column = i % WIDTH;
    const uint32_t object = has_object && column < 12 ? 10 + i / WIDTH % 24 : 0;
    const uint32_t luma = (random < 3 ? 34 : random < 6 ? 46 : 40) + object;
    frame[i] = (uint8_t)(luma * eighths / 8);
  }
}

/* Runs the codebook model with light and downloads the mask. */
static CclStatus
run_codebook (CclForeground *foreground, const uint8_t *pixels, uint8_t *mask_data)
{
  const CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  const CclFrame frame = {pixels, WIDTH, CUDACCL_LOCATION_HOST};
  CclError error = {CUDACCL_OK};
  CclStatus status = ccl_foreground_run (
      foreground, &frame, &options, &(CclMask){(void *)mask_memory, WIDTH}, &error);
  if (status == CUDACCL_OK && ccl_cuda_device_enter (device, &error) == CUDACCL_OK) {
    ccl_cuda_call (
        device->driver, &error, cuMemcpyDtoHAsync (mask_data, mask_memory, WIDTH * HEIGHT, NULL));
    ccl_cuda_call (device->driver, &error, cuStreamSynchronize (NULL));
    ccl_cuda_device_leave (device);
  }
  return status;
}

/* A run that fails after the light of its frame has been counted does not change the next ones.
 * has_graphs: as with a driver that has graphs, whose kernels are one launch. */
static void
check_codebook_after_a_fault (const char *order, bool has_graphs)
{
  CclCudaDriver *driver = (CclCudaDriver *)device->driver;
  const CclCudaDriver all = *driver;
  static uint8_t frame[WIDTH * HEIGHT], masks[2][WIDTH * HEIGHT];
  const CclForegroundPlan plan = {
      .width = WIDTH, .height = HEIGHT, .method = CUDACCL_FOREGROUND_CODEBOOK};
  CclError error = {CUDACCL_OK};
  CclForeground *with_fault = ccl_cuda_foreground_new (device, &plan, &error);
  CclForeground *without = ccl_cuda_foreground_new (device, &plan, &error);
  uint32_t state = 1, n_pixels = 0;
  bool passed = with_fault && without;

  if (!has_graphs)
    driver->cuGraphLaunch = NULL;

  for (int i = 0; i < 30 && passed; i++) {
    if (i == 20) {
      draw_noise (frame, &state, 7, false);
      order_fault (order);
      passed = run_codebook (with_fault, frame, masks[0]) != CUDACCL_OK;
      order_fault (NULL);
    }
    draw_noise (frame, &state, 8, i >= 20);
    passed = passed && run_codebook (with_fault, frame, masks[0]) == CUDACCL_OK &&
             run_codebook (without, frame, masks[1]) == CUDACCL_OK &&
             memcmp (masks[0], masks[1], sizeof masks[0]) == 0;
    for (int k = 0; k < WIDTH * HEIGHT; k++)
      n_pixels += masks[1][k] == 255;
  }
  driver->cuGraphLaunch = all.cuGraphLaunch;
  report (passed && n_pixels > 100, order, "the codebook model continues after a fault",
      "the masks differ, or are empty");
  ccl_foreground_free (&with_fault);
  ccl_foreground_free (&without);
}

/* A run of a labeller of volumes allocates nothing and waits once. */
static void
check_volumes_are_lean (void)
{
  static const uint8_t voxels[7 * 5 * 3];
  const CclVolumePlan plan = {.width = 7,
      .height = 5,
      .depth = 3,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 20};
  const CclVolume volume = {voxels, 7, 7 * 5, CUDACCL_LOCATION_HOST};
  const CclLabellerOptions options = {.min_area = 2};
  CclError error = {CUDACCL_OK};
  CclVolumeTable table;
  SimcudaStatistics before, after;
  CclVolumeLabeller *labeller = ccl_cuda_volume_labeller_new (device, &plan, &error);
  ccl_volume_labeller_run (labeller, &volume, &options, NULL, &table, &error);
  get_statistics (&before);
  ccl_volume_labeller_run (labeller, &volume, &options, NULL, &table, &error);
  get_statistics (&after);
  ccl_volume_labeller_free (&labeller);
  report (after.allocations == before.allocations, "volumes", "a run allocates nothing", "it does");
  report (after.synchronisations - before.synchronisations == 1, "volumes", "a run waits once",
      "it does not");
}

int
main (void)
{
  CclError error = {CUDACCL_OK};
  device = ccl_cuda_device_open (-1, &error);
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library) {
    *(void **)&get_statistics = dlsym (library, "simcuda_get_statistics");
    *(void **)&order_fault = dlsym (library, "simcuda_order_fault");
  }
  if (!device || !get_statistics || !order_fault) {
    printf ("1..0 # SKIP %s\n", device ? "this is not the simulated driver" : error.message);
    return 0;
  }
  draw ();
  if (ccl_cuda_device_enter (device, &error) != CUDACCL_OK ||
      ccl_cuda_device_allocate (device, WIDTH * HEIGHT, &mask_memory, &error) != CUDACCL_OK ||
      ccl_cuda_device_allocate (device, WIDTH * HEIGHT, &squares_memory, &error) != CUDACCL_OK ||
      ccl_cuda_memory_upload (device, frame_data, (void *)squares_memory, WIDTH * HEIGHT, &error) !=
          CUDACCL_OK) {
    fprintf (stderr, "%s\n", error.message);
    return 1;
  }
  ccl_cuda_device_leave (device);
  check_captures ();
  static const Use uses[] = {{"strips", use_labeller}, {"bke", use_labeller},
      {"columns", use_columns}, {"foregrounds", use_foregrounds}, {"volumes", use_volumes},
      {"contours", use_contours}, {"batches", use_batches}, {"values", use_values},
      {"measured-maps", use_measured_maps}};
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
    /* The first use loads kernels, which stay with the device. */
    CclStatus status = uses[i].function (uses[i].name, &error);
    report (status == CUDACCL_OK, uses[i].name, "works", error.message);
    if (uses[i].function == use_labeller)
      check_labeller_is_lean (uses[i].name, uses[i].name, 0);
    else if (uses[i].function == use_columns)
      check_labeller_is_lean (uses[i].name, "strips", CUDACCL_ALL_COLUMNS);
    else if (uses[i].function == use_volumes)
      check_volumes_are_lean ();
    else if (uses[i].function == use_foregrounds)
      for (CclForegroundMethod method = 0; method <= CUDACCL_FOREGROUND_CODEBOOK; method++)
        check_foreground_is_lean (method);
    if (uses[i].function == use_foregrounds) {
      check_codebook_after_a_fault ("launch:1:999", true);
      check_codebook_after_a_fault ("launch:2:999", false);
      check_codebook_after_a_fault ("launch:3:999", false);
    }
    check_200_cycles (&uses[i]);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
      for (size_t j = 0; j < sizeof errors / sizeof *errors; j++)
        sweep (&uses[i], kinds[kind], errors[j]);
  }
  if (ccl_cuda_device_enter (device, NULL) == CUDACCL_OK) {
    ccl_cuda_device_release (device, &mask_memory);
    ccl_cuda_device_release (device, &squares_memory);
    ccl_cuda_device_leave (device);
  }
  ccl_cuda_device_unref (&device);
  dlclose (library);
  printf ("# %d faults\n1..%d\n", n_faults, n_cases);
  return n_failed > 0;
}
