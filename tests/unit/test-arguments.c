/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the library refuse NULL, and objects of the other backend. */
#include "research/cpu/research.h"
#include <cudaccl/cudaccl.h>

#include <glib.h>
#include <math.h>

static const CclLabellerPlan plan = {
    .width = 8, .height = 8, .connectivity = CUDACCL_CONNECTIVITY_8, .max_components = 4};
static const CclVolumePlan volume_plan = {.width = 8,
    .height = 8,
    .depth = 8,
    .connectivity = CUDACCL_CONNECTIVITY_26,
    .max_components = 4};
static const CclForegroundPlan foreground_plan = {.width = 8, .height = 8};
static const CclTrackerPlan tracker_plan = {
    .width = 8, .height = 8, .max_tracks = 4, .max_components = 4};
static const CclRegionsPlan regions_plan = {.width = 8, .height = 8, .max_tracks = 4};
static const CclLabellerOptions options = {0};
static const uint8_t pixels[512] = {1};

/* The call returns CUDACCL_ERROR_ARGUMENT with a message, also without an error to fill. */
#define assert_refused(function, ...)                                                              \
  G_STMT_START                                                                                     \
  {                                                                                                \
    CclError error = {CUDACCL_OK, ""};                                                             \
    g_assert_cmpint (function (__VA_ARGS__, &error), ==, CUDACCL_ERROR_ARGUMENT);                  \
    g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);                                    \
    g_assert_cmpstr (error.message, !=, "");                                                       \
    g_assert_cmpint (function (__VA_ARGS__, NULL), ==, CUDACCL_ERROR_ARGUMENT);                    \
  }                                                                                                \
  G_STMT_END

/* The call returns NULL with a message. In a build without GPU support, no device can be opened. */
#define assert_not_made(function, ...)                                                             \
  G_STMT_START                                                                                     \
  {                                                                                                \
    CclError error = {CUDACCL_OK, ""};                                                             \
    g_assert_null (function (__VA_ARGS__, &error));                                                \
    g_assert_true (                                                                                \
        error.status == CUDACCL_ERROR_ARGUMENT || error.status == CUDACCL_ERROR_NOT_FOUND);        \
    g_assert_cmpstr (error.message, !=, "");                                                       \
    g_assert_null (function (__VA_ARGS__, NULL));                                                  \
  }                                                                                                \
  G_STMT_END

static void
test_null_where_an_object_is_made (void)
{
  assert_not_made (ccl_cpu_labeller_new, NULL);
  assert_not_made (ccl_cpu_volume_labeller_new, NULL);
  assert_not_made (ccl_cpu_foreground_new, NULL);
  assert_not_made (ccl_tracker_new, NULL);
  assert_not_made (ccl_ground_new, NULL);
  assert_not_made (ccl_regions_new, NULL);
  assert_not_made (ccl_cuda_labeller_new, NULL, &plan);
  assert_not_made (ccl_cuda_labeller_new, NULL, NULL);
  assert_not_made (ccl_cuda_volume_labeller_new, NULL, &volume_plan);
  assert_not_made (ccl_cuda_foreground_new, NULL, &foreground_plan);
  assert_not_made (ccl_cuda_peer_new, NULL, NULL);
  assert_not_made (ccl_cuda_device_open_in_context, NULL);
}

static void
test_null_object (void)
{
  const CclFrame frame = {.data = pixels, .stride = 8};
  const CclVolume volume = {.data = pixels, .row_stride = 8, .slice_stride = 64};
  const CclForegroundOptions foreground_options = {0};
  const CclTrackerOptions tracker_options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
  const CclRegionsOptions regions_options = {.settle_frames = 1};
  const CclMask mask = {(void *)pixels, 8};
  const CclTracks no_tracks = {0};
  CclTable table = {0};
  CclVolumeTable volume_table;
  CclTracks tracks;
  CclRegionsResult result;

  assert_refused (ccl_labeller_run, NULL, &frame, &options, NULL, &table);
  assert_refused (ccl_labeller_queue, NULL, &frame, &options, NULL);
  assert_refused (ccl_labeller_wait, NULL, &table);
  assert_refused (ccl_labeller_resize, NULL, 8, 8);
  assert_refused (ccl_volume_labeller_run, NULL, &volume, &options, NULL, &volume_table);
  assert_refused (ccl_foreground_run, NULL, &frame, &foreground_options, &mask);
  assert_refused (ccl_foreground_wait, NULL);
  assert_refused (ccl_tracker_run, NULL, &table, NULL, 1, &tracker_options, &tracks);
  assert_refused (ccl_tracker_get_foot, NULL, 0, NULL);
  g_assert_false (ccl_ground_map (NULL, 0, 0, NULL, NULL));
  g_assert_false (ccl_ground_locate (NULL, NULL, 25, NULL));
  g_assert_true (isnan (ccl_ground_residual (NULL)));
  assert_refused (ccl_regions_run, NULL, &no_tracks, 1, &regions_options, &result);
  assert_refused (ccl_cuda_labeller_set_stream, NULL, NULL);
  assert_refused (ccl_cuda_volume_labeller_set_stream, NULL, NULL);
  assert_refused (ccl_cuda_foreground_set_stream, NULL, NULL);
  assert_refused (ccl_cuda_foreground_copy_bits, NULL, NULL);
  assert_refused (ccl_cuda_foreground_set_finished, NULL);
  assert_refused (ccl_cuda_labeller_queue_with_mask, NULL, NULL, &frame, &foreground_options, &mask,
      &options, NULL);
  assert_refused (ccl_tiled_run, NULL, NULL, NULL, NULL);
  g_assert_cmpint (ccl_cuda_peer_copy (NULL, NULL, NULL, NULL, NULL, 0, NULL), !=, CUDACCL_OK);
  g_assert_cmpint (ccl_cuda_memory_new (NULL, 1, NULL, NULL), !=, CUDACCL_OK);
  g_assert_cmpint (ccl_cuda_find_device_of (NULL, NULL), ==, -1);
  g_assert_null (ccl_cuda_labeller_get_stream (NULL));
  g_assert_null (ccl_labeller_algorithm (NULL));
  g_assert_null (ccl_cuda_device_name (NULL));
  g_assert_null (ccl_cuda_device_ref (NULL));
  g_assert_cmpint (ccl_foreground_get_scene_change (NULL), ==, CUDACCL_SCENE_UNCHANGED);
  g_assert_false (ccl_cpu_algorithm_offers (NULL, CUDACCL_CONNECTIVITY_8));
  g_assert_false (ccl_cpu_algorithm_uses_threads (NULL));
  g_assert_null (ccl_cpu_algorithm_title (NULL));
  g_assert_null (ccl_cuda_algorithm_title (NULL));
  g_assert_false (ccl_cuda_algorithm_offers (NULL, CUDACCL_CONNECTIVITY_8));
  ccl_foreground_reset (NULL);
  ccl_tracker_reset (NULL);
  ccl_regions_reset (NULL);
  ccl_regions_inherit (NULL, NULL);
  ccl_cuda_device_set_capture_check (NULL, false);
}

/* A handle that is NULL, as after it was freed, and no handle. */
static void
test_null_where_an_object_is_freed (void)
{
  CclLabeller *labeller = NULL;
  CclVolumeLabeller *volume_labeller = NULL;
  CclForeground *foreground = NULL;
  CclTracker *tracker = NULL;
  CclRegions *regions = NULL;
  CclGround *ground = NULL;
  CclCudaDevice *device = NULL;
  CclCudaPeer *peer = NULL;

  ccl_labeller_free (&labeller), ccl_labeller_free (NULL);
  ccl_volume_labeller_free (&volume_labeller), ccl_volume_labeller_free (NULL);
  ccl_foreground_free (&foreground), ccl_foreground_free (NULL);
  ccl_tracker_free (&tracker), ccl_tracker_free (NULL);
  ccl_regions_free (&regions), ccl_regions_free (NULL);
  ccl_ground_free (&ground), ccl_ground_free (NULL);
  ccl_cuda_device_unref (&device), ccl_cuda_device_unref (NULL);
  ccl_cuda_peer_free (&peer), ccl_cuda_peer_free (NULL);
}

static void
test_null_inside_an_argument (void)
{
  const CclRegion region = {.name = "gate", .kind = CUDACCL_REGION_LINE, .n_points = 2};
  const CclRegionsOptions regions_options = {.settle_frames = 1};
  const CclTracks no_tracks = {.n_tracks = 1};
  const CclTrackerOptions tracker_options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
  const CclTable no_rows = {.n_components = 1, .n_rows = 1};
  CclRegionsPlan incomplete = regions_plan;
  CclRegionsResult result;
  CclTracks tracks;

  incomplete.n_regions = 1;
  assert_not_made (ccl_regions_new, &incomplete);
  incomplete.regions = &region;
  assert_not_made (ccl_regions_new, &incomplete);
  CclRegions *regions = ccl_regions_new (&regions_plan, NULL);
  assert_refused (ccl_regions_run, regions, &no_tracks, 1, &regions_options, &result);
  ccl_regions_free (&regions);
  CclTracker *tracker = ccl_tracker_new (&tracker_plan, NULL);
  assert_refused (ccl_tracker_run, tracker, &no_rows, NULL, 1, &tracker_options, &tracks);
  ccl_tracker_free (&tracker);
}

static void
test_names_of_status_codes (void)
{
  g_assert_cmpstr (ccl_status_name (CUDACCL_OK), ==, "CUDACCL_OK");
  g_assert_cmpstr (ccl_status_name (CUDACCL_ERROR_NO_MEMORY), ==, "CUDACCL_ERROR_NO_MEMORY");
  g_assert_cmpstr (ccl_status_name (CUDACCL_ERROR_IO), ==, "CUDACCL_ERROR_IO");
  g_assert_cmpstr (
      ccl_status_name ((CclStatus)(CUDACCL_ERROR_IO + 1)), ==, "CUDACCL_ERROR_INTERRUPTED");
  g_assert_null (ccl_status_name ((CclStatus)(CUDACCL_ERROR_IO + 2)));
  g_assert_null (ccl_status_name ((CclStatus)-1));
}

/* Plans and options begin with their size, so that they can grow. */
static void
test_sizes_of_structs (void)
{
  struct {
    CclLabellerPlan plan; /* as newer headers would have it */
    uint64_t unknown;
  } newer = {CUDACCL_LABELLER_PLAN_DEFAULT, 0};
  CclLabellerPlan older = CUDACCL_LABELLER_PLAN_DEFAULT;
  CclLabeller *labeller;
  CclError error;

  newer.plan.width = newer.plan.height = older.width = older.height = 8;
  newer.plan.size = sizeof newer;
  labeller = ccl_cpu_labeller_new (&newer.plan, NULL);
  g_assert_nonnull (labeller);
  ccl_labeller_free (&labeller);
  newer.unknown = 1;
  g_assert_null (ccl_cpu_labeller_new (&newer.plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  older.size = 0;
  labeller = ccl_cpu_labeller_new (&older, NULL);
  g_assert_nonnull (labeller);
  ccl_labeller_free (&labeller);
  older.size = sizeof older - 1;
  g_assert_null (ccl_cpu_labeller_new (&older, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
}

/* A model of reduced frames gets options of its own, which do not have the caller's size. */
static void
test_sizes_of_reduced_frames (void)
{
  struct {
    CclForegroundOptions options; /* as newer headers would have it */
    uint8_t unknown[4096];
  } newer = {CUDACCL_FOREGROUND_OPTIONS_DEFAULT, {0}};
  CclForegroundPlan plan = CUDACCL_FOREGROUND_PLAN_DEFAULT;
  uint8_t pixels[64] = {0}, mask[64];
  CclError error = {CUDACCL_OK};

  newer.options.size = sizeof newer;
  plan.width = plan.height = 8;
  plan.reduction = 2;
  for (CclForegroundMethod method = CUDACCL_FOREGROUND_MOG2; method <= CUDACCL_FOREGROUND_CODEBOOK;
       method++) {
    plan.method = method;
    CclForeground *foreground = ccl_cpu_foreground_new (&plan, &error);
    g_assert_nonnull (foreground);
    g_assert_cmpint (ccl_foreground_run (foreground, &(CclFrame){pixels, 8}, &newer.options,
                         &(CclMask){mask, 8}, &error),
        ==, CUDACCL_OK);
    ccl_foreground_free (&foreground);
  }
}

/* Options of version 0.3 have no later fields: what lies behind them is not read. */
static void
test_options_of_version_0_3 (void)
{
  const CclForegroundPlan plan = {
      .width = 8, .height = 8, .method = CUDACCL_FOREGROUND_CODEBOOK, .reduction = 1};
  CclForegroundOptions options = CUDACCL_FOREGROUND_OPTIONS_DEFAULT;
  CclForeground *foreground = ccl_cpu_foreground_new (&plan, NULL);
  uint8_t mask[64];
  CclError error = {CUDACCL_OK};

  g_assert_nonnull (foreground);
  for (size_t less = 0; less < 2; less++) {
    options.size = offsetof (CclForegroundOptions, frame_duration) - less;
    g_assert_cmpint (ccl_foreground_run (
                         foreground, &(CclFrame){pixels, 8}, &options, &(CclMask){mask, 8}, &error),
        ==, less ? CUDACCL_ERROR_ARGUMENT : CUDACCL_OK);
  }
  ccl_foreground_free (&foreground);
}

/* Every call that takes a plan or options looks at their size. */
static void
test_sizes_that_are_refused (void)
{
  const CclFrame frame = {.data = pixels, .stride = 8};
  const CclVolume volume = {.data = pixels, .row_stride = 8, .slice_stride = 64};
  const CclMask mask = {g_alloca (64), 8};
  const CclLabellerOptions small_options = {.size = 1};
  const CclForegroundOptions small_foreground_options = {.size = 1};
  const CclTrackerOptions small_tracker_options = {.size = 1, .confirm_frames = 1};
  const CclRegionsOptions small_regions_options = {.size = 1, .settle_frames = 1};
  const CclTracks no_tracks = {0};
  CclForegroundPlan small_foreground = foreground_plan;
  CclVolumePlan small_volume = volume_plan;
  CclTrackerPlan small_tracker = tracker_plan;
  CclRegionsPlan small_regions = regions_plan;
  CclLabeller *labeller = ccl_cpu_labeller_new (&plan, NULL);
  CclVolumeLabeller *volume_labeller = ccl_cpu_volume_labeller_new (&volume_plan, NULL);
  CclForeground *foreground = ccl_cpu_foreground_new (&foreground_plan, NULL);
  CclTracker *tracker = ccl_tracker_new (&tracker_plan, NULL);
  CclRegions *regions = ccl_regions_new (&regions_plan, NULL);
  CclTable table = {0};
  CclVolumeTable volume_table;
  CclTracks tracks;
  CclRegionsResult result;

  small_foreground.size = small_volume.size = small_tracker.size = small_regions.size = 1;
  assert_not_made (ccl_cpu_foreground_new, &small_foreground);
  assert_not_made (ccl_cpu_volume_labeller_new, &small_volume);
  assert_not_made (ccl_tracker_new, &small_tracker);
  assert_not_made (ccl_regions_new, &small_regions);
  assert_refused (ccl_labeller_run, labeller, &frame, &small_options, NULL, &table);
  assert_refused (
      ccl_volume_labeller_run, volume_labeller, &volume, &small_options, NULL, &volume_table);
  assert_refused (ccl_foreground_run, foreground, &frame, &small_foreground_options, &mask);
  assert_refused (ccl_tracker_run, tracker, &table, NULL, 1, &small_tracker_options, &tracks);
  assert_refused (ccl_regions_run, regions, &no_tracks, 1, &small_regions_options, &result);
  ccl_labeller_free (&labeller);
  ccl_volume_labeller_free (&volume_labeller);
  ccl_foreground_free (&foreground);
  ccl_tracker_free (&tracker);
  ccl_regions_free (&regions);
}

static void
test_version (void)
{
  const unsigned version = ccl_version ();
  g_autofree char *text =
      g_strdup_printf ("%u.%u.%u", version >> 16, version >> 8 & 255, version & 255);

  g_assert_cmpstr (text, ==, PROJECT_VERSION);
  g_assert_true (CUDACCL_CHECK_VERSION (0, 4, 0));
  g_assert_true (CUDACCL_CHECK_VERSION (0, 3, 255));
  g_assert_false (CUDACCL_CHECK_VERSION (
      CUDACCL_VERSION_MAJOR, CUDACCL_VERSION_MINOR, CUDACCL_VERSION_MICRO + 1));
  g_assert_false (CUDACCL_CHECK_VERSION (CUDACCL_VERSION_MAJOR + 1, 0, 0));
}

/* Strides whose product with the height is greater than a size_t. */
static void
test_strides_that_wrap_around (void)
{
  const CclVolume volume = {.data = pixels, .row_stride = SIZE_MAX / 7 + 1, .slice_stride = 64};
  const CclVolume good = {.data = pixels, .row_stride = 8, .slice_stride = 64};
  uint32_t map[512];
  const CclVolumeLabels labels = {map, (SIZE_MAX / 7 + 4) / 4 * 4, 256};
  CclVolumeLabeller *labeller = ccl_cpu_volume_labeller_new (&volume_plan, NULL);
  CclVolumeTable table;

  assert_refused (ccl_volume_labeller_run, labeller, &volume, &options, NULL, &table);
  assert_refused (ccl_volume_labeller_run, labeller, &good, &options, &labels, &table);
  ccl_volume_labeller_free (&labeller);
}

/* Functions for objects of a GPU leave those of the CPU as they are. */
static void
test_objects_of_the_cpu (void)
{
  const CclFrame frame = {.data = pixels, .stride = 8};
  const CclVolume volume = {.data = pixels, .row_stride = 8, .slice_stride = 64};
  const CclForegroundOptions foreground_options = {0};
  uint8_t mask_pixels[64];
  const CclMask mask = {mask_pixels, 8};
  void *stream = GINT_TO_POINTER (0x1234);
  CclTable table;
  CclVolumeTable volume_table;

  for (const char *const *name = ccl_research_cpu_algorithms (); *name; name++) {
    CclLabellerPlan own_plan = plan;
    own_plan.algorithm = *name;
    CclLabeller *labeller = ccl_research_cpu_labeller_new (&own_plan, NULL, NULL);
    assert_refused (ccl_cuda_labeller_set_stream, labeller, stream);
    assert_refused (ccl_cuda_labeller_set_stream, labeller, NULL);
    g_assert_null (ccl_cuda_labeller_get_stream (labeller));
    g_assert_cmpint (
        ccl_labeller_run (labeller, &frame, &options, NULL, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_components, ==, 1);
    ccl_labeller_free (&labeller);
    g_assert_null (labeller);
  }

  CclVolumeLabeller *volumes = ccl_cpu_volume_labeller_new (&volume_plan, NULL);
  assert_refused (ccl_cuda_volume_labeller_set_stream, volumes, stream);
  g_assert_cmpint (ccl_volume_labeller_run (volumes, &volume, &options, NULL, &volume_table, NULL),
      ==, CUDACCL_OK);
  g_assert_cmpuint (volume_table.n_components, ==, 1);
  ccl_volume_labeller_free (&volumes);

  CclForeground *foreground = ccl_cpu_foreground_new (&foreground_plan, NULL);
  assert_refused (ccl_cuda_foreground_set_stream, foreground, stream);
  assert_refused (ccl_cuda_foreground_copy_bits, foreground, mask_pixels);
  assert_refused (ccl_cuda_foreground_set_finished, foreground);
  assert_refused (ccl_cuda_labeller_queue_with_mask, NULL, foreground, &frame, &foreground_options,
      &mask, &options, NULL);
  g_assert_cmpint (
      ccl_foreground_run (foreground, &frame, &foreground_options, &mask, NULL), ==, CUDACCL_OK);
  g_assert_cmpuint (mask_pixels[0], ==, 255);
  ccl_foreground_free (&foreground);
}

/* Tables are where the backend can write them. */
static void
test_table_locations (void)
{
  CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
  CclCudaTable table;

  plan.width = plan.height = 8;
  for (plan.table_location = 0; plan.table_location < 3; plan.table_location++) {
    CclError error;
    CclLabeller *labeller = ccl_cpu_labeller_new (&plan, &error);

    g_assert_true (!labeller == (plan.table_location != CUDACCL_LOCATION_HOST));
    if (!labeller)
      g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_cuda_labeller_get_table (labeller, &table, NULL), ==, CUDACCL_ERROR_ARGUMENT);
    ccl_labeller_free (&labeller);
  }
}

static void
take_message (CclLogLevel level, const char *message, void *data)
{
  g_ptr_array_add (data, g_strdup_printf ("%d %s", (int)level, message));
}

/* The function gets the messages until it is replaced. */
static void
test_log (void)
{
  const CclLabellerPlan plan = {
      .width = 12, .height = 7, .connectivity = CUDACCL_CONNECTIVITY_8, .max_components = 1};
  g_autoptr (GPtrArray) messages = g_ptr_array_new_with_free_func (g_free);

  for (int i = 0; i < 3; i++) {
    CclLabeller *labeller;

    ccl_set_log_func (i == 1 ? take_message : NULL, messages);
    labeller = ccl_cpu_labeller_new (&plan, NULL);
    g_assert_nonnull (labeller);
    ccl_labeller_free (&labeller);
    g_assert_cmpuint (messages->len, ==, i == 0 ? 0 : 1);
  }
  g_assert_cmpstr (g_ptr_array_index (messages, 0), ==,
      "1 the CPU labels frames of 12×7 pixels by the algorithm runs");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/arguments/null-where-an-object-is-made", test_null_where_an_object_is_made);
  g_test_add_func ("/arguments/null-object", test_null_object);
  g_test_add_func ("/arguments/null-where-an-object-is-freed", test_null_where_an_object_is_freed);
  g_test_add_func ("/arguments/null-inside-an-argument", test_null_inside_an_argument);
  g_test_add_func ("/arguments/strides-that-wrap-around", test_strides_that_wrap_around);
  g_test_add_func ("/arguments/names-of-status-codes", test_names_of_status_codes);
  g_test_add_func ("/arguments/sizes-of-structs", test_sizes_of_structs);
  g_test_add_func ("/arguments/sizes-of-reduced-frames", test_sizes_of_reduced_frames);
  g_test_add_func ("/arguments/options-of-version-0.3", test_options_of_version_0_3);
  g_test_add_func ("/arguments/sizes-that-are-refused", test_sizes_that_are_refused);
  g_test_add_func ("/arguments/version", test_version);
  g_test_add_func ("/arguments/log", test_log);
  g_test_add_func ("/arguments/table-locations", test_table_locations);
  g_test_add_func ("/arguments/objects-of-the-cpu", test_objects_of_the_cpu);
  return g_test_run ();
}
