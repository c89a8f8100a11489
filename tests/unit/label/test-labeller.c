/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contract of labeller.h apart from the labels: arguments, errors, ownership. */
#include "core/label/labeller-class.h"
#include "cpu/label/labeller-tuning.h"
#include "cpu/base/processors.h"
#include "research/cpu/research.h"
#include <cudaccl/foreground.h>
#include <cudaccl/volume.h>

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* AddressSanitizer: a macro of GCC, a feature of clang. */
#ifdef __has_feature
#define HAS_ADDRESS_SANITIZER __has_feature (address_sanitizer)
#elif defined __SANITIZE_ADDRESS__
#define HAS_ADDRESS_SANITIZER 1
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

/* The linker's --wrap redirects the labellers' allocations to these functions. */
static int n_allocations;
static int n_good_allocations = -1; /* that succeed until the others fail; negative: all do */

static bool
allocation_fails (void)
{
  n_allocations++;
  if (n_good_allocations <= 0)
    return n_good_allocations == 0;
  n_good_allocations--;
  return false;
}

void *__real_malloc (size_t size);
void *__wrap_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__real_realloc (void *memory, size_t size);
void *__wrap_realloc (void *memory, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);
void *__real_mmap (void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__real_mmap64 (void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap (void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64 (void *address, size_t size, int protection, int flags, int file, off_t offset);

void *
__wrap_malloc (size_t size)
{
  return allocation_fails () ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return allocation_fails () ? NULL : __real_calloc (n, size);
}

void *
__wrap_realloc (void *memory, size_t size)
{
  return allocation_fails () ? NULL : __real_realloc (memory, size);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return allocation_fails () ? NULL : __real_aligned_alloc (alignment, size);
}

void *
__wrap_mmap (void *address, size_t size, int protection, int flags, int file, off_t offset)
{
  return allocation_fails () ? MAP_FAILED
                             : __real_mmap (address, size, protection, flags, file, offset);
}

/* The name with large file offsets. */
void *
__wrap_mmap64 (void *address, size_t size, int protection, int flags, int file, off_t offset)
{
  return allocation_fails () ? MAP_FAILED
                             : __real_mmap64 (address, size, protection, flags, file, offset);
}

static const CclLabellerPlan small_plan = {
    .width = 3, .height = 2, .connectivity = CUDACCL_CONNECTIVITY_8, .max_components = 8};
static const uint8_t small_pixels[] = {1, 0, 1, 1, 0, 0};
static const CclFrame small_frame = {.data = small_pixels, .stride = 3};
static const CclLabellerOptions no_options = {0};

static CclLabeller *
small_labeller (void)
{
  CclError error = {0};
  CclLabeller *labeller = ccl_cpu_labeller_new (&small_plan, &error);
  g_assert_cmpstr (error.message, ==, "");
  g_assert_nonnull (labeller);
  return labeller;
}

/* An error has a status and one line of text without a full stop. */
static void
assert_error (const CclError *error, CclStatus status, const char *word)
{
  g_assert_cmpint (error->status, ==, status);
  g_assert_nonnull (strstr (error->message, word));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_false (g_str_has_suffix (error->message, "."));
}

static void
assert_refused (const CclLabellerPlan *plan, CclStatus status, const char *word)
{
  CclError error = {0};
  g_assert_null (ccl_research_cpu_labeller_new (plan, NULL, &error));
  assert_error (&error, status, word);
  g_assert_null (ccl_research_cpu_labeller_new (plan, NULL, NULL));
}

static void
test_plans_out_of_range_are_refused (void)
{
  CclLabellerPlan plan = small_plan;
  plan.width = 0;
  assert_refused (&plan, CUDACCL_ERROR_ARGUMENT, "0×2");

  plan = small_plan;
  plan.height = 0;
  assert_refused (&plan, CUDACCL_ERROR_ARGUMENT, "3×0");

  plan = small_plan;
  plan.width = 65536;
  plan.height = 32768; /* one pixel more than is allowed */
  assert_refused (&plan, CUDACCL_ERROR_ARGUMENT, "too large");

  plan.width = UINT32_MAX;
  plan.height = UINT32_MAX;
  assert_refused (&plan, CUDACCL_ERROR_ARGUMENT, "too large");

  plan = small_plan;
  plan.connectivity = (CclConnectivity)6;
  assert_refused (&plan, CUDACCL_ERROR_ARGUMENT, "connectivity");

  plan = small_plan;
  plan.max_components = 0;
  assert_refused (&plan, CUDACCL_ERROR_ARGUMENT, "table");

  assert_refused (NULL, CUDACCL_ERROR_ARGUMENT, "plan");
}

static void
test_the_largest_frame_can_be_planned (void)
{
  CclLabellerPlan plan = small_plan;
  CclError error = {0};
  CclLabeller *labeller;
  plan.width = 1;
  plan.height = CUDACCL_MAX_PIXELS;
  labeller = ccl_research_cpu_labeller_new (&plan, NULL, &error);
  g_assert_cmpstr (error.message, ==, "");
  ccl_labeller_free (&labeller);
}

static void
test_unknown_algorithms_are_refused (void)
{
  CclLabellerPlan plan = small_plan;
  plan.algorithm = "guesswork";
  assert_refused (&plan, CUDACCL_ERROR_UNSUPPORTED, "'guesswork'");
}

static void
test_connectivities_that_an_algorithm_lacks_are_refused (void)
{
  CclLabellerPlan plan = small_plan;
  guint n_lacking = 0;

  plan.connectivity = CUDACCL_CONNECTIVITY_4;
  for (const char *const *algorithm = ccl_research_cpu_algorithms (); *algorithm; algorithm++) {
    plan.algorithm = *algorithm;
    g_assert_true (ccl_research_cpu_offers (*algorithm, CUDACCL_CONNECTIVITY_8));
    if (ccl_research_cpu_offers (*algorithm, CUDACCL_CONNECTIVITY_4)) {
      CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
      g_assert_nonnull (labeller);
      ccl_labeller_free (&labeller);
    } else {
      assert_refused (&plan, CUDACCL_ERROR_UNSUPPORTED, "has no 4-connectivity");
      n_lacking++;
    }
  }
  g_assert_cmpuint (n_lacking, >, 0);
  g_assert_true (ccl_cpu_algorithm_offers ("runs", CUDACCL_CONNECTIVITY_4));
  g_assert_nonnull (ccl_cpu_algorithm_title ("runs"));
  g_assert_false (ccl_cpu_algorithm_offers ("guesswork", CUDACCL_CONNECTIVITY_8));
  g_assert_false (ccl_cpu_algorithm_offers (NULL, CUDACCL_CONNECTIVITY_8));
  g_assert_false (ccl_cpu_algorithm_offers (ccl_cpu_algorithms ()[0], (CclConnectivity)6));
  g_assert_false (ccl_cpu_algorithm_uses_threads ("guesswork"));
}

static void
test_every_listed_algorithm_and_auto_can_be_planned (void)
{
  const char *const *algorithms = ccl_cpu_algorithms ();
  g_assert_nonnull (algorithms[0]);
  for (const char *const *algorithm = algorithms; *algorithm; algorithm++) {
    char name[64];
    CclLabellerPlan plan = small_plan;
    g_strlcpy (name, *algorithm, sizeof name);
    plan.algorithm = name;
    CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
    g_assert_nonnull (labeller);
    /* The name needs to be valid during the call only. */
    memset (name, 'x', sizeof name - 1);
    g_assert_cmpstr (labeller->plan.algorithm, ==, *algorithm);
    ccl_labeller_free (&labeller);
  }

  CclLabellerPlan plan = small_plan;
  plan.algorithm = "auto";
  CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
  g_assert_cmpstr (labeller->plan.algorithm, ==, algorithms[0]);
  ccl_labeller_free (&labeller);
}

static void
test_instructions_are_chosen_by_the_environment (void)
{
  const char *const names[] = {"portable", "avx2", "avx512", "neon"};
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    const CclCpuTuning tuning = {.instructions = names[i]};
    CclLabeller *tuned = ccl_cpu_labeller_new_tuned (&small_plan, &tuning, NULL);
    g_setenv ("CCL_CPU_INSTRUCTIONS", names[i], TRUE);
    CclLabeller *labeller = ccl_cpu_labeller_new (&small_plan, NULL);
    /* Both succeed or both fail: the processor may lack the instructions. */
    g_assert_true ((tuned == NULL) == (labeller == NULL));
    ccl_labeller_free (&tuned);
    ccl_labeller_free (&labeller);
  }
  g_setenv ("CCL_CPU_INSTRUCTIONS", "abacus", TRUE);
  assert_refused (&small_plan, CUDACCL_ERROR_UNSUPPORTED, "abacus");
  g_setenv ("CCL_CPU_INSTRUCTIONS", "", TRUE);
  CclLabeller *labeller = ccl_cpu_labeller_new (&small_plan, NULL);
  g_assert_nonnull (labeller);
  ccl_labeller_free (&labeller);
  g_unsetenv ("CCL_CPU_INSTRUCTIONS");
}

/* Limits the address space to 1 GiB; old becomes the limit before. Returns false, and skips the
 * test, where that is not possible. */
static bool
limit_memory (struct rlimit *old)
{
#if HAS_ADDRESS_SANITIZER
  g_test_skip ("address space cannot be limited under AddressSanitizer");
  return false;
#endif
  struct rlimit limit, set;
  g_assert_cmpint (getrlimit (RLIMIT_AS, old), ==, 0);
  limit = *old;
  limit.rlim_cur = 1 << 30;
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
  g_assert_cmpint (getrlimit (RLIMIT_AS, &set), ==, 0);
  if (set.rlim_cur == limit.rlim_cur)
    return true;
  g_test_skip ("QEMU ignores limits of the address space");
  return false;
}

static void
test_too_little_memory_is_an_error (void)
{
  CclLabellerPlan plan = small_plan;
  struct rlimit limit;
  plan.width = 16384;
  plan.height = 16384;
  if (!limit_memory (&limit))
    return;
  for (const char *const *algorithm = ccl_research_cpu_algorithms (); *algorithm; algorithm++) {
    plan.algorithm = *algorithm;
    assert_refused (&plan, CUDACCL_ERROR_NO_MEMORY, "16384×16384");
  }
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
}

/* Runs with arguments that are not allowed, and then with others: the labeller still works. */
static void
assert_run_refused (const CclFrame *frame, const CclLabellerOptions *options,
    const CclLabels *labels, bool with_table, const char *word)
{
  CclLabeller *labeller = small_labeller ();
  CclError error = {0};
  CclTable table = {.n_components = 77};

  g_assert_cmpint (
      ccl_labeller_run (labeller, frame, options, labels, with_table ? &table : NULL, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  assert_error (&error, CUDACCL_ERROR_ARGUMENT, word);
  g_assert_cmpuint (table.n_components, ==, 77);
  g_assert_cmpint (
      ccl_labeller_run (labeller, frame, options, labels, with_table ? &table : NULL, NULL), ==,
      CUDACCL_ERROR_ARGUMENT);

  g_assert_cmpint (
      ccl_labeller_run (labeller, &small_frame, &no_options, NULL, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 2);
  ccl_labeller_free (&labeller);
}

static void
test_frames_that_do_not_fit_are_refused (void)
{
  CclFrame frame = small_frame;
  frame.data = NULL;
  assert_run_refused (&frame, &no_options, NULL, true, "no data");

  frame = small_frame;
  frame.stride = 2;
  assert_run_refused (&frame, &no_options, NULL, true, "stride of 2");

  frame = small_frame;
  frame.location = CUDACCL_LOCATION_DEVICE;
  assert_run_refused (&frame, &no_options, NULL, true, "device");
  for (const char *const *algorithm = ccl_research_cpu_algorithms (); *algorithm; algorithm++) {
    CclLabellerPlan plan = small_plan;
    CclError error = {0};
    CclTable table;
    plan.algorithm = *algorithm;
    CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
    g_assert_cmpint (ccl_labeller_run (labeller, &frame, &no_options, NULL, &table, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
    assert_error (&error, CUDACCL_ERROR_ARGUMENT, "device");
    ccl_labeller_free (&labeller);
  }
}

static void
test_missing_arguments_are_refused (void)
{
  CclTable table;
  CclError error = {0};
  assert_run_refused (NULL, &no_options, NULL, true, "NULL");
  assert_run_refused (&small_frame, NULL, NULL, true, "NULL");
  assert_run_refused (&small_frame, &no_options, NULL, false, "NULL");
  g_assert_cmpint (ccl_labeller_run (NULL, &small_frame, &no_options, NULL, &table, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
}

/* Tables of two labellers whose frames were queued one after the other. */
static void
test_frames_are_queued_and_waited_for (void)
{
  const CclLabellerPlan plan = {
      .width = 4, .height = 1, .connectivity = CUDACCL_CONNECTIVITY_8, .max_components = 4};
  const uint8_t pixels[2][4] = {{1, 0, 1, 1}, {0, 1, 0, 0}};
  CclLabeller *labellers[2];
  CclError error = {0};
  CclTable table;

  for (int i = 0; i < 2; i++) {
    labellers[i] = ccl_research_cpu_labeller_new (&plan, NULL, &error);
    g_assert_cmpint (ccl_labeller_wait (labellers[i], &table, &error), ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_cmpint (
        ccl_labeller_queue (labellers[i], &(CclFrame){pixels[i], 4}, &no_options, NULL, &error), ==,
        CUDACCL_OK);
  }
  g_assert_cmpint (
      ccl_labeller_queue (labellers[0], &(CclFrame){pixels[0], 4}, &no_options, NULL, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_labeller_run (labellers[0], &(CclFrame){pixels[0], 4}, &no_options, NULL, &table, &error),
      ==, CUDACCL_ERROR_ARGUMENT);
  for (int i = 0; i < 2; i++) {
    g_assert_true (ccl_labeller_is_done (labellers[i]));
    g_assert_cmpint (ccl_labeller_wait (labellers[i], &table, &error), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_components, ==, i ? 1 : 2);
    g_assert_cmpuint (table.rows[0].x, ==, i);
    ccl_labeller_free (&labellers[i]);
  }
}

static void
test_thresholds_above_255_are_refused (void)
{
  assert_run_refused (&small_frame, &(CclLabellerOptions){.threshold = 256}, NULL, true, "256");
}

/* After a refusal, frames keep their size. */
static void
test_sizes_that_are_refused (void)
{
  static const struct {
    uint32_t width, height;
  } sizes[] = {{0, 2}, {3, 0}, {65536, 65536}, {UINT32_MAX, UINT32_MAX}};
  CclLabeller *labeller = small_labeller ();
  CclError error;
  CclTable table;

  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_assert_cmpint (ccl_labeller_resize (labeller, sizes[i].width, sizes[i].height, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
    assert_error (&error, CUDACCL_ERROR_ARGUMENT, "pixels");
  }
  g_assert_cmpint (
      ccl_labeller_queue (labeller, &small_frame, &no_options, NULL, &error), ==, CUDACCL_OK);
  g_assert_cmpint (ccl_labeller_resize (labeller, 5, 5, &error), ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (ccl_labeller_wait (labeller, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpint (
      ccl_labeller_run (labeller, &small_frame, &no_options, NULL, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 2);
  ccl_labeller_free (&labeller);
}

/* The columns that need no second plane. */
#define PLAIN_COLUMNS (CUDACCL_ALL_COLUMNS & ~CUDACCL_COLUMN_INTENSITY)

static void
assert_sizes_without_memory (const char *algorithm, uint32_t columns)
{
  CclLabellerPlan plan = small_plan;
  plan.algorithm = algorithm;
  plan.n_threads = 2;
  plan.columns = columns;
  CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
  uint8_t *pixels = g_malloc0 (3000 * 1000);
  const CclFrame large = {.data = pixels, .stride = 3000};
  CclError error;
  CclTable table;

  pixels[0] = pixels[2] = 1;
  for (n_good_allocations = 0;; n_good_allocations++) {
    const int n_good = n_good_allocations;
    const CclStatus status = ccl_labeller_resize (labeller, 3000, 1000, &error);
    n_good_allocations = n_good;
    if (status == CUDACCL_OK)
      break;
    assert_error (&error, CUDACCL_ERROR_NO_MEMORY, "3000×1000");
    g_assert_cmpint (ccl_labeller_run (labeller, &small_frame, &no_options, NULL, &table, &error),
        ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_components, ==, 2);
    if (columns)
      g_assert_cmpuint (table.features[1].sum_x, ==, 2);
  }
  g_assert_cmpint (n_good_allocations, >, 0);
  n_good_allocations = -1;
  g_assert_cmpint (
      ccl_labeller_run (labeller, &large, &no_options, NULL, &table, &error), ==, CUDACCL_OK);
  g_assert_cmpuint (table.n_components, ==, 2);
  ccl_labeller_free (&labeller);
  g_free (pixels);
}

/* When there is no memory, frames keep their size. With memory again, they get the new one. */
static void
test_sizes_without_memory (void)
{
  for (const char *const *name = ccl_research_cpu_algorithms (); *name; name++) {
    assert_sizes_without_memory (*name, 0);
    assert_sizes_without_memory (*name, PLAIN_COLUMNS);
  }
}

/* Planning with columns fails at each allocation, and leaves nothing behind. */
static void
test_columns_without_memory (void)
{
  CclLabellerPlan plan = small_plan;
  CclLabeller *labeller = NULL;
  CclError error;

  plan.columns = PLAIN_COLUMNS;
  for (n_good_allocations = 0; !labeller; n_good_allocations++) {
    const int n_good = n_good_allocations;
    labeller = ccl_research_cpu_labeller_new (&plan, NULL, &error);
    n_good_allocations = n_good;
    if (!labeller)
      assert_error (&error, CUDACCL_ERROR_NO_MEMORY, "3×2");
  }
  g_assert_cmpint (n_good_allocations, >, 3);
  n_good_allocations = -1;
  ccl_labeller_free (&labeller);
}

static void
test_label_maps_that_do_not_fit_are_refused (void)
{
  uint32_t map[8];
  CclLabels labels = {.data = NULL, .stride = 12};
  assert_run_refused (&small_frame, &no_options, &labels, true, "label map");

  labels = (CclLabels){.data = map, .stride = 8};
  assert_run_refused (&small_frame, &no_options, &labels, true, "label map");

  labels = (CclLabels){.data = map, .stride = 14};
  assert_run_refused (&small_frame, &no_options, &labels, true, "label map");

  labels = (CclLabels){.data = (char *)map + 2, .stride = 12};
  assert_run_refused (&small_frame, &no_options, &labels, true, "label map");
}

static void
test_freeing_clears_the_handle_and_takes_null (void)
{
  CclLabeller *labeller = small_labeller ();
  ccl_labeller_free (&labeller);
  g_assert_null (labeller);
  ccl_labeller_free (&labeller);
  ccl_labeller_free (NULL);
}

static void
test_long_messages_are_cut (void)
{
  CclError error;
  char *text = g_strnfill (1000, 'x');
  g_assert_cmpint (
      ccl_error_set (&error, CUDACCL_ERROR_DEVICE, "%s", text), ==, CUDACCL_ERROR_DEVICE);
  g_assert_cmpint (strlen (error.message), ==, sizeof error.message - 1);
  g_assert_cmpint (
      ccl_error_set (NULL, CUDACCL_ERROR_DEVICE, "%s", text), ==, CUDACCL_ERROR_DEVICE);
  g_free (text);
}

/* Planning allocates; running does not, for any contents of the frame. */
static void
assert_labelled_without_allocating (const char *algorithm, uint32_t columns)
{
  const CclLabellerPlan plan = {.width = 333,
      .height = 222,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 100,
      .algorithm = algorithm,
      .n_threads = 2,
      .columns = columns};
  const CclCpuTuning tuning = {.pixels_per_thread = 1};
  uint8_t *pixels = g_malloc (333 * 222);
  uint32_t *map = g_malloc (4 * 333 * 222);
  const CclFrame frame = {.data = pixels, .stride = 333};
  const CclLabels labels = {.data = map, .stride = 4 * 333};
  CclTable table;
  CclLabeller *labeller;

  n_allocations = 0;
  labeller = ccl_research_cpu_labeller_new (&plan, &tuning, NULL);
  g_assert_nonnull (labeller);
  g_assert_cmpint (n_allocations, >, 0);

  for (int density = 0; density <= 100; density += 10) {
    for (int i = 0; i < 333 * 222; i++)
      pixels[i] = g_random_int_range (0, 100) < density;
    n_allocations = 0;
    g_assert_cmpint (
        ccl_labeller_run (labeller, &frame, &no_options, &labels, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpint (n_allocations, ==, 0);
  }
  ccl_labeller_free (&labeller);
  g_free (map);
  g_free (pixels);
}

static void
test_frames_are_labelled_without_allocating (void)
{
  for (const char *const *algorithm = ccl_research_cpu_algorithms (); *algorithm; algorithm++) {
    assert_labelled_without_allocating (*algorithm, 0);
    assert_labelled_without_allocating (*algorithm, PLAIN_COLUMNS);
  }
}

static void
test_volumes_are_labelled_without_allocating (void)
{
  const CclVolumePlan plan = {.width = 70,
      .height = 30,
      .depth = 20,
      .connectivity = CUDACCL_CONNECTIVITY_26,
      .max_components = 100};
  uint8_t *voxels = g_malloc (70 * 30 * 20);
  uint32_t *map = g_malloc (4 * 70 * 30 * 20);
  const CclVolume volume = {voxels, 70, 70 * 30};
  const CclVolumeLabels labels = {map, 4 * 70, 4 * 70 * 30};
  CclVolumeLabeller *labeller;
  CclVolumeTable table;

  n_allocations = 0;
  labeller = ccl_cpu_volume_labeller_new (&plan, NULL);
  g_assert_nonnull (labeller);
  g_assert_cmpint (n_allocations, >, 0);
  for (int density = 0; density <= 100; density += 20) {
    for (int i = 0; i < 70 * 30 * 20; i++)
      voxels[i] = g_random_int_range (0, 100) < density;
    n_allocations = 0;
    g_assert_cmpint (ccl_volume_labeller_run (
                         labeller, &volume, &(CclLabellerOptions){0}, &labels, &table, NULL),
        ==, CUDACCL_OK);
    g_assert_cmpint (n_allocations, ==, 0);
  }
  ccl_volume_labeller_free (&labeller);
  g_free (map);
  g_free (voxels);
}

/* The largest volumes of each connectivity are refused in one line when address space is short. */
static void
test_too_little_memory_for_a_volume_is_an_error (void)
{
  static const int connectivities[] = {6, 18, 26};
  struct rlimit limit;
  if (!limit_memory (&limit))
    return;
  for (size_t i = 0; i < G_N_ELEMENTS (connectivities); i++) {
    const CclVolumePlan plan = {.width = 1024,
        .height = 1024,
        .depth = 1024,
        .connectivity = (CclVolumeConnectivity)connectivities[i],
        .max_components = 8};
    CclError error = {0};
    g_assert_null (ccl_cpu_volume_labeller_new (&plan, &error));
    assert_error (&error, CUDACCL_ERROR_NO_MEMORY, "1024×1024×1024");
  }
  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
}

static guint
count_threads (void)
{
  guint n = 0;
  GDir *tasks = g_dir_open ("/proc/self/task", 0, NULL);
  g_assert_nonnull (tasks);
  while (g_dir_read_name (tasks))
    n++;
  g_dir_close (tasks);
  return n;
}

/* The number of threads that a labeller of such frames starts. */
static guint
count_labeller_threads (uint32_t side, uint32_t n_threads)
{
  const CclLabellerPlan plan = {.width = side,
      .height = side,
      .connectivity = CUDACCL_CONNECTIVITY_8,
      .max_components = 1,
      .n_threads = n_threads};
  const guint before = count_threads ();
  CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
  g_assert_nonnull (labeller);
  const guint n = count_threads () - before;
  ccl_labeller_free (&labeller);
  return n;
}

static guint
count_foreground_threads (uint32_t side, uint32_t n_threads)
{
  const CclForegroundPlan plan = {.width = side, .height = side, .n_threads = n_threads};
  const guint before = count_threads ();
  CclForeground *foreground = ccl_cpu_foreground_new (&plan, NULL);
  g_assert_nonnull (foreground);
  const guint n = count_threads () - before;
  ccl_foreground_free (&foreground);
  return n;
}

/* 0 means as many threads as are useful: one per processor for large frames, one for small ones. */
static void
test_number_of_threads (void)
{
  const guint n_processors = processors_find ().n;

  g_assert_cmpuint (count_labeller_threads (8192, 0), ==, MIN (n_processors, 67) - 1);
  g_assert_cmpuint (count_labeller_threads (640, 0), ==, 0);
  g_assert_cmpuint (count_labeller_threads (8192, 1), ==, 0);
  g_assert_cmpuint (count_labeller_threads (8192, 3), ==, 2);
  g_assert_cmpuint (count_foreground_threads (4096, 0), ==, MIN (n_processors, 64) - 1);
  g_assert_cmpuint (count_foreground_threads (320, 0), ==, 0);
  g_assert_cmpuint (count_foreground_threads (4096, 1), ==, 0);
  g_assert_cmpuint (count_foreground_threads (4096, 3), ==, 2);
}

/* Random masks of 13×9 pixels, each of which is enlarged. */
static void
test_components_of_enlarged_masks (void)
{
  enum { WIDTH = 13, HEIGHT = 9 };
  GRand *random = g_rand_new_with_seed (3);

  for (uint32_t factor = 1; factor <= CUDACCL_MAX_REDUCTION; factor++) {
    const uint32_t width = factor * WIDTH, height = factor * HEIGHT;
    uint8_t mask[WIDTH * HEIGHT];
    uint8_t *whole_mask = g_malloc (width * height);
    CclLabellerPlan plan = CUDACCL_LABELLER_PLAN_DEFAULT;
    CclLabellerOptions options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
    CclTable table, whole_table;

    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
      mask[i] = g_rand_int_range (random, 0, 10) < 4 ? 255 : 0;
    for (uint32_t i = 0; i < width * height; i++)
      whole_mask[i] = mask[i / width / factor * WIDTH + i % width / factor];
    plan.width = WIDTH;
    plan.height = HEIGHT;
    CclLabeller *labeller = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
    plan.width = width;
    plan.height = height;
    CclLabeller *whole = ccl_research_cpu_labeller_new (&plan, NULL, NULL);
    const CclFrame frame = {mask, WIDTH}, whole_frame = {whole_mask, width};
    g_assert_cmpint (
        ccl_labeller_run (labeller, &frame, &options, NULL, &table, NULL), ==, CUDACCL_OK);
    g_assert_cmpint (
        ccl_labeller_run (whole, &whole_frame, &options, NULL, &whole_table, NULL), ==, CUDACCL_OK);
    g_assert_cmpuint (table.n_rows, ==, whole_table.n_rows);
    g_assert_cmpuint (table.n_rows, >, 2);
    for (uint32_t i = 0; i < table.n_rows; i++) {
      CclComponent row = table.rows[i];
      ccl_component_enlarge (&row, factor);
      g_assert_cmpmem (&row, sizeof row, &whole_table.rows[i], sizeof row);
    }
    ccl_labeller_free (&labeller);
    ccl_labeller_free (&whole);
    g_free (whole_mask);
  }
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add_func ("/labeller/" name, function)
  ADD ("plans-out-of-range-are-refused", test_plans_out_of_range_are_refused);
  ADD ("the-largest-frame-can-be-planned", test_the_largest_frame_can_be_planned);
  ADD ("unknown-algorithms-are-refused", test_unknown_algorithms_are_refused);
  ADD ("connectivities-that-an-algorithm-lacks-are-refused",
      test_connectivities_that_an_algorithm_lacks_are_refused);
  ADD (
      "every-listed-algorithm-can-be-planned", test_every_listed_algorithm_and_auto_can_be_planned);
  ADD ("instructions-from-the-environment", test_instructions_are_chosen_by_the_environment);
  ADD ("too-little-memory-is-an-error", test_too_little_memory_is_an_error);
  ADD ("frames-that-do-not-fit-are-refused", test_frames_that_do_not_fit_are_refused);
  ADD ("missing-arguments-are-refused", test_missing_arguments_are_refused);
  ADD ("frames-are-queued-and-waited-for", test_frames_are_queued_and_waited_for);
  ADD ("thresholds-above-255-are-refused", test_thresholds_above_255_are_refused);
  ADD ("sizes-that-are-refused", test_sizes_that_are_refused);
  ADD ("sizes-without-memory", test_sizes_without_memory);
  ADD ("columns-without-memory", test_columns_without_memory);
  ADD ("label-maps-that-do-not-fit-are-refused", test_label_maps_that_do_not_fit_are_refused);
  ADD ("freeing-clears-the-handle", test_freeing_clears_the_handle_and_takes_null);
  ADD ("long-messages-are-cut", test_long_messages_are_cut);
  ADD ("number-of-threads", test_number_of_threads);
  ADD ("components-of-enlarged-masks", test_components_of_enlarged_masks);
  ADD ("frames-are-labelled-without-allocating", test_frames_are_labelled_without_allocating);
  ADD ("volumes-are-labelled-without-allocating", test_volumes_are_labelled_without_allocating);
  ADD ("too-little-memory-for-a-volume-is-an-error",
      test_too_little_memory_for_a_volume_is_an_error);
  return g_test_run ();
}
