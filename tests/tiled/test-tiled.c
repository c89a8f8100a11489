/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures labelled in tiles by up to nine ranks, each a thread here, must equal a flood fill. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include <cudaccl/volume.h>

#include "shape-reference.h"
#include "tiled-case.h"

/* Messages between ranks, in order for each pair. */
typedef struct Network {
  GAsyncQueue *queues[MOST_RANKS][MOST_RANKS]; /* of GBytes, from and to */
} Network;

typedef struct Rank {
  Network *network;
  const TiledCase *c;
  uint32_t odd_rank, odd_plan; /* of test_plan_of_one_rank_is_refused_by_all() */
  CclTiledPeers peers;
  CclTiledResult result;
  bool passed;
  char message[512];
} Rank;

static CclStatus
send_bytes (void *data, uint32_t to, const void *bytes, uint64_t size, CclError *error)
{
  Rank *rank = data;
  (void)error;
  g_async_queue_push (rank->network->queues[rank->peers.rank][to], g_bytes_new (bytes, size));
  return CUDACCL_OK;
}

static CclStatus
receive_bytes (void *data, uint32_t from, void *bytes, uint64_t size, CclError *error)
{
  Rank *rank = data;
  gsize got;
  (void)error;
  GBytes *message = g_async_queue_pop (rank->network->queues[from][rank->peers.rank]);
  const void *content = g_bytes_get_data (message, &got);
  g_assert_cmpuint (got, ==, size);
  memcpy (bytes, content, MIN (size, got));
  g_bytes_unref (message);
  return CUDACCL_OK;
}

static Network *
network_new (void)
{
  Network *network = g_new0 (Network, 1);
  for (int i = 0; i < MOST_RANKS; i++)
    for (int j = 0; j < MOST_RANKS; j++)
      network->queues[i][j] = g_async_queue_new ();
  return network;
}

/* All messages must have been received. */
static void
network_free (Network *network)
{
  for (int i = 0; i < MOST_RANKS; i++) {
    for (int j = 0; j < MOST_RANKS; j++) {
      g_assert_cmpint (g_async_queue_length (network->queues[i][j]), ==, 0);
      g_async_queue_unref (network->queues[i][j]);
    }
  }
  g_free (network);
}

static gpointer
run_rank (gpointer data)
{
  Rank *rank = data;
  rank->passed = tiled_case_run (rank->c, &rank->peers, NULL, &rank->result, rank->message);
  return NULL;
}

/* Runs a case in as many threads as it has ranks. Returns the bytes that they sent. */
static uint64_t
run_case (const TiledCase *c)
{
  Network *network = network_new ();
  GThread *threads[MOST_RANKS];
  Rank ranks[MOST_RANKS] = {0};
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < c->n_ranks; i++) {
    ranks[i].network = network;
    ranks[i].c = c;
    ranks[i].peers = (CclTiledPeers){&ranks[i], i, c->n_ranks, send_bytes, receive_bytes};
    threads[i] = g_thread_new ("rank", run_rank, &ranks[i]);
  }
  for (uint32_t i = 0; i < c->n_ranks; i++) {
    g_thread_join (threads[i]);
    bytes += ranks[i].result.bytes_sent;
    if (!ranks[i].passed)
      g_test_message ("rank %u: %s", i, ranks[i].message);
    g_assert_true (ranks[i].passed);
  }
  network_free (network);
  return bytes;
}

static void
test_random_pictures_and_slabs (void)
{
  for (uint32_t seed = 0; seed < 1500 && !g_test_failed (); seed++) {
    TiledCase *c = tiled_case_new (seed);
    run_case (c);
    tiled_case_free (c);
  }
}

static void
test_one_process (void)
{
  for (uint32_t seed = 0; seed < 500 && !g_test_failed (); seed++) {
    TiledCase *c = tiled_case_new (seed);
    char message[512];
    if (!tiled_case_run (c, NULL, NULL, NULL, message))
      g_test_message ("%s", message);
    g_assert_cmpstr (message, ==, "");
    tiled_case_free (c);
  }
}

static void
test_every_split_of_nine_rows (void)
{
  for (uint32_t height = 1; height <= 9; height++)
    for (uint32_t composition = 0; composition < 1u << (height - 1); composition++) {
      TiledCase *c = tiled_case_new_split (composition, height, composition);
      run_case (c);
      tiled_case_free (c);
    }
}

/* What is sent must be in proportion to the seams, whatever the height of the slabs. */
static void
test_messages_are_in_proportion_to_seams (void)
{
  for (uint32_t seed = 0; seed < 100; seed++) {
    TiledCase *c = tiled_case_new (seed);
    const uint64_t layer =
        c->plan.width *
        (c->plan.connectivity > 4 && c->plan.connectivity != 8 ? c->plan.height : 1);
    /* Up: two layers and at most layer + 2 entries of 72 bytes with their labels, with columns 240
     * more, down the same without the layers; four heads. All that twice, and two layers of
     * identities down, if corners are measured that the neighbours do not join. */
    const uint64_t entry = c->plan.columns ? 320 : 80;
    const uint64_t once = layer * 8 + (layer + 2) * 2 * entry + 4 * 320;
    const bool is_twice = c->plan.connectivity != 8 && c->plan.connectivity != 26 &&
                          c->plan.columns & (CUDACCL_COLUMN_PERIMETER | CUDACCL_COLUMN_TOPOLOGY);
    const uint64_t most = (c->n_ranks - 1) * (is_twice ? 2 * once + layer * 16 : once);
    g_assert_cmpuint (run_case (c), <=, most);
    tiled_case_free (c);
  }
}

/* Functions that fail in one rank. */
static CclStatus
fail_to_read (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  (void)data, (void)first, (void)n, (void)pixels;
  *error = (CclError){CUDACCL_ERROR_IO, "the tape is broken"};
  return CUDACCL_ERROR_IO;
}

static CclStatus
read_nothing (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  (void)data, (void)first, (void)error;
  memset (pixels, 0, n * 10);
  return CUDACCL_OK;
}

static gpointer
run_with_broken_rank (gpointer data)
{
  Rank *rank = data;
  const CclTiledIo io = {.read = rank->passed ? read_nothing : fail_to_read};
  const CclTiledPlan plan = {.width = 10,
      .height = 18,
      .depth = 1,
      .connectivity = 8,
      .first_layer = 2 * rank->peers.rank,
      .n_layers = 2};
  CclError error = {CUDACCL_OK, ""};
  g_assert_cmpint (ccl_tiled_run (&plan, &io, &rank->peers, NULL, &error), ==, CUDACCL_ERROR_IO);
  g_assert_cmpstr (error.message, ==, "the tape is broken");
  return NULL;
}

static void
test_failure_of_one_rank_ends_all (void)
{
  for (uint32_t broken = 0; broken < MOST_RANKS; broken++) {
    Network *network = network_new ();
    GThread *threads[MOST_RANKS];
    Rank ranks[MOST_RANKS] = {0};
    for (uint32_t i = 0; i < MOST_RANKS; i++) {
      ranks[i].network = network;
      ranks[i].passed = i != broken;
      ranks[i].peers = (CclTiledPeers){&ranks[i], i, MOST_RANKS, send_bytes, receive_bytes};
      threads[i] = g_thread_new ("rank", run_with_broken_rank, &ranks[i]);
    }
    for (uint32_t i = 0; i < MOST_RANKS; i++)
      g_thread_join (threads[i]);
    network_free (network);
  }
}

/* A rank with another plan than the others. */
static gpointer
run_with_another_plan (gpointer data)
{
  const Rank *rank = data;
  const CclTiledIo io = {.read = read_nothing};
  CclTiledPlan plan = {.width = 10,
      .height = 6,
      .depth = 1,
      .connectivity = 8,
      .first_layer = 2 * rank->peers.rank,
      .n_layers = 2};
  CclError error = {CUDACCL_OK, ""};

  if (rank->peers.rank == rank->odd_rank) {
    switch (rank->odd_plan) {
    case 0:
      plan.connectivity = 5;
      break;
    case 1:
      plan.connectivity = 4;
      break;
    case 2:
      plan.first_layer++;
      plan.n_layers--;
      break;
    case 3:
      plan.first_layer = 5;
      break;
    case 4:
      plan.columns = CUDACCL_COLUMN_MOMENTS;
      break;
    }
  }
  g_assert_cmpint (
      ccl_tiled_run (&plan, &io, &rank->peers, NULL, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  return NULL;
}

static void
test_plan_of_one_rank_is_refused_by_all (void)
{
  enum { N_RANKS = 3, N_PLANS = 5 };
  for (uint32_t fault = 0; fault < N_PLANS * N_RANKS; fault++) {
    Network *network = network_new ();
    GThread *threads[N_RANKS];
    Rank ranks[N_RANKS] = {0};
    for (uint32_t i = 0; i < N_RANKS; i++) {
      ranks[i] =
          (Rank){.network = network, .odd_rank = fault / N_PLANS, .odd_plan = fault % N_PLANS};
      ranks[i].peers = (CclTiledPeers){&ranks[i], i, N_RANKS, send_bytes, receive_bytes};
      threads[i] = g_thread_new ("rank", run_with_another_plan, &ranks[i]);
    }
    for (uint32_t i = 0; i < N_RANKS; i++)
      g_thread_join (threads[i]);
    network_free (network);
  }
}

/* Pixels that differ between the passes. */
static CclStatus
read_changing (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  int *n_reads = data;
  (void)first, (void)error;
  memset (pixels, 0, n * 10);
  pixels[5] = (*n_reads)++ < 4 ? 255 : 0;
  return CUDACCL_OK;
}

static CclStatus
discard_rows (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  (void)data, (void)rows, (void)n, (void)error;
  return CUDACCL_OK;
}

static void
test_changing_pixels_are_an_error (void)
{
  int n_reads = 0;
  const CclTiledIo io = {.data = &n_reads, .read = read_changing, .rows = discard_rows};
  const CclTiledPlan plan = {
      .width = 10, .height = 8, .depth = 1, .connectivity = 8, .n_layers = 8, .tile_layers = 2};
  CclError error = {CUDACCL_OK, ""};
  g_assert_cmpint (ccl_tiled_run (&plan, &io, NULL, NULL, &error), ==, CUDACCL_ERROR_IO);
  g_assert_nonnull (strstr (error.message, "changed"));
}

static void
check_refused (CclTiledPlan plan, CclStatus status, const char *word)
{
  const CclTiledIo io = {.read = read_nothing};
  CclError error = {CUDACCL_OK, ""};
  g_assert_cmpint (ccl_tiled_run (&plan, &io, NULL, NULL, &error), ==, status);
  if (!strstr (error.message, word))
    g_test_message ("%s", error.message);
  g_assert_nonnull (strstr (error.message, word));
}

static void
test_plans_that_are_refused (void)
{
  const CclTiledPlan good = {
      .width = 10, .height = 8, .depth = 1, .connectivity = 8, .n_layers = 8};
  CclTiledPlan plan = good;
  plan.width = 0;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "0×8×1");
  plan = good;
  plan.connectivity = 5;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "not 5");
  plan = good;
  plan.depth = 3;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "3 slices");
  plan = good;
  plan.n_layers = 7;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "whole picture");
  plan = good;
  plan.threshold = 256;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "threshold");
  plan = good;
  plan.label_bytes = 2;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "not 2");
  plan = good;
  plan.width = UINT32_MAX;
  check_refused (plan, CUDACCL_ERROR_UNSUPPORTED, "too large");
  plan = good;
  plan.width = 1u << 30, plan.height = plan.n_layers = 1u << 31;
  check_refused (plan, CUDACCL_ERROR_UNSUPPORTED, "64 bits");
  plan = good;
  plan.columns = CUDACCL_ALL_COLUMNS + 1;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "CclColumn");
  plan.columns = CUDACCL_COLUMN_INTENSITY;
  check_refused (plan, CUDACCL_ERROR_ARGUMENT, "read values");
  plan.columns = CUDACCL_COLUMN_PERIMETER;
  plan.connectivity = 6;
  plan.n_layers = 1;
  check_refused (plan, CUDACCL_ERROR_UNSUPPORTED, "volumes");
  plan = good;
  plan.scratch_folder = "/nowhere";
  check_refused (plan, CUDACCL_ERROR_IO, "/nowhere");
}

/* Checks the labels of a volume that is measured at once. Rows, slices and values have gaps, and
 * the labels above n are background. */
static void
check_labels_of_volume (const TiledCase *c, guint32 n)
{
  const CclTiledPlan *plan = &c->plan;
  const gsize bytes = plan->intensity_format == CUDACCL_PIXEL_FORMAT_8 ? 1 : 2;
  const gsize row = plan->width + 3, slice = row * plan->height + 1;
  guint32 *labels = g_new (guint32, slice * plan->depth);
  guint8 *values = g_new (guint8, slice * plan->depth * bytes + 1);
  CclVolumeComponent *rows = g_new (CclVolumeComponent, n + 1);
  CclVolumeShape *found = g_new (CclVolumeShape, n + 1);
  const CclVolumeLabels map = {labels, 4 * row, 4 * slice};
  const CclVolumeIntensity intensity = {
      values + 1, row * bytes, slice * bytes, plan->intensity_format};

  memset (labels, 255, 4 * slice * plan->depth);
  for (gsize i = 0; i < plan->width * plan->height * plan->depth; i++) {
    const gsize x = i % plan->width, y = i / plan->width % plan->height;
    const gsize place = i / plan->width / plan->height * slice + y * row + x;
    labels[place] = c->labels[i];
    if (c->values)
      memcpy (values + 1 + place * bytes, (guint8 *)c->values + i * bytes, bytes);
  }
  g_assert_cmpint (
      ccl_measure_volume_labels (&map, (guint32)plan->width, (guint32)plan->height,
          (guint32)plan->depth, c->values ? &intensity : NULL, plan->columns, n, rows, found, NULL),
      ==, CUDACCL_OK);
  for (guint32 i = 0; i < n; i++) {
    g_assert_true (shapes_are_equal (&found[i], &c->shapes[i], true));
    g_assert_cmpuint (rows[i].n_voxels, ==, c->rows[i].area);
    g_assert_cmpuint (rows[i].z + rows[i].depth, ==, c->rows[i].z + c->rows[i].depth);
    g_assert_true (rows[i].centroid_y == c->rows[i].centroid_y);
  }
  g_free (labels);
  g_free (values);
  g_free (rows);
  g_free (found);
}

static void
test_labels_of_volumes (void)
{
  guint n_checked = 0;

  for (guint32 seed = 0; seed < 300; seed++) {
    TiledCase *c = tiled_case_new (seed);
    if (c->plan.connectivity != 4 && c->plan.connectivity != 8 && c->shapes) {
      check_labels_of_volume (c, (guint32)c->n_components);
      check_labels_of_volume (c, (guint32)c->n_components / 2);
      n_checked++;
    }
    tiled_case_free (c);
  }
  g_assert_cmpuint (n_checked, >, 20);
}

static void
test_labels_of_volumes_that_are_refused (void)
{
  guint32 label = 1;
  const CclVolumeLabels map = {&label, 4, 4}, overlapping = {&label, 4, 0};
  const CclVolumeIntensity thin = {&label, 1, 1, CUDACCL_PIXEL_FORMAT_16};
  CclVolumeComponent row;
  CclVolumeShape shape;
  const guint32 values = CUDACCL_COLUMN_INTENSITY, sums = CUDACCL_COLUMN_SUMS;
#define REFUSED(...)                                                                               \
  g_assert_cmpint (ccl_measure_volume_labels (__VA_ARGS__, NULL), ==, CUDACCL_ERROR_ARGUMENT)
  REFUSED (NULL, 1, 1, 1, NULL, sums, 1, &row, &shape);
  REFUSED (&map, 0, 1, 1, NULL, sums, 1, &row, &shape);
  REFUSED (&map, 2, 1, 1, NULL, sums, 1, &row, &shape);
  REFUSED (&overlapping, 1, 1, 1, NULL, sums, 1, &row, &shape);
  REFUSED (&map, 1, 1, 1, NULL, CUDACCL_COLUMN_PERIMETER, 1, &row, &shape);
  REFUSED (&map, 1, 1, 1, NULL, values, 1, &row, &shape);
  REFUSED (&map, 1, 1, 1, &thin, values, 1, &row, &shape);
  REFUSED (&map, 1, 1, 1, NULL, sums, 1, &row, NULL);
#undef REFUSED
  g_assert_cmpint (
      ccl_measure_volume_labels (&map, 1, 1, 1, NULL, 0, 1, &row, NULL, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (row.n_voxels, ==, 1);
}

/* Tiles labelled on a GPU. */
static void
test_gpu (void)
{
  CclError error = {CUDACCL_OK, ""};
  CclCudaDevice *device = ccl_cuda_device_open (-1, &error);

  if (!device) {
    g_test_skip (error.message);
    return;
  }
  for (uint32_t seed = 5000; seed < 5060 && !g_test_failed (); seed++) {
    TiledCase *c = tiled_case_new (seed);
    char message[512];
    tiled_case_run (c, NULL, device, NULL, message);
    g_assert_cmpstr (message, ==, "");
    tiled_case_free (c);
  }
  ccl_cuda_device_unref (&device);
}

/* Isolated pixels, every second one of every second row. */
enum { DOTS = 1030 };

static CclStatus
read_dots (void *data, uint64_t first, uint64_t n, uint8_t *pixels, CclError *error)
{
  (void)data, (void)error;
  for (uint64_t y = 0; y < n; y++)
    for (uint64_t x = 0; x < 2 * DOTS; x++)
      pixels[y * 2 * DOTS + x] = x % 2 == 0 && (first + y) % 2 == 0;
  return CUDACCL_OK;
}

static CclStatus
check_dots (void *data, const CclTiledComponent *rows, size_t n, CclError *error)
{
  uint64_t *n_rows = data;
  (void)error;
  for (size_t i = 0; i < n; i++, ++*n_rows)
    if (rows[i].label != *n_rows + 1 || rows[i].area != 1 || rows[i].x != 2 * (*n_rows % DOTS) ||
        rows[i].y != 2 * (*n_rows / DOTS))
      return CUDACCL_ERROR_IO;
  return CUDACCL_OK;
}

/* A tile has more components than a GPU's table has rows at first. */
static void
test_gpu_with_many_components (void)
{
  CclError error = {CUDACCL_OK, ""};
  uint64_t n_rows = 0;
  const CclTiledIo io = {.data = &n_rows, .read = read_dots, .rows = check_dots};
  CclTiledPlan plan = {
      .width = 2 * DOTS, .height = 2 * DOTS, .depth = 1, .connectivity = 8, .n_layers = 2 * DOTS};

  plan.device = ccl_cuda_device_open (-1, &error);
  if (!plan.device) {
    g_test_skip (error.message);
    return;
  }
  g_assert_cmpint (ccl_tiled_run (&plan, &io, NULL, NULL, &error), ==, CUDACCL_OK);
  g_assert_cmpstr (error.message, ==, "");
  g_assert_cmpuint (n_rows, ==, (uint64_t)DOTS * DOTS);
  ccl_cuda_device_unref (&plan.device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_set_nonfatal_assertions ();
  if (argc > 1 && strcmp (argv[1], "--gpu") == 0) {
    g_test_add_func ("/tiled/gpu", test_gpu);
    g_test_add_func ("/tiled/gpu-with-many-components", test_gpu_with_many_components);
    return g_test_run ();
  }
  g_test_add_func ("/tiled/one-process", test_one_process);
  g_test_add_func ("/tiled/every-split-of-nine-rows", test_every_split_of_nine_rows);
  g_test_add_func ("/tiled/random-pictures-and-slabs", test_random_pictures_and_slabs);
  g_test_add_func (
      "/tiled/messages-are-in-proportion-to-seams", test_messages_are_in_proportion_to_seams);
  g_test_add_func ("/tiled/failure-of-one-rank-ends-all", test_failure_of_one_rank_ends_all);
  g_test_add_func (
      "/tiled/plan-of-one-rank-is-refused-by-all", test_plan_of_one_rank_is_refused_by_all);
  g_test_add_func ("/tiled/changing-pixels-are-an-error", test_changing_pixels_are_an_error);
  g_test_add_func ("/tiled/plans-that-are-refused", test_plans_that_are_refused);
  g_test_add_func ("/tiled/labels-of-volumes", test_labels_of_volumes);
  g_test_add_func (
      "/tiled/labels-of-volumes-that-are-refused", test_labels_of_volumes_that_are_refused);
  return g_test_run ();
}
