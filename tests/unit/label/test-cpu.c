/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU labeller: each single-threaded algorithm, and each variant of the algorithms that use
 * threads and vector instructions. */
#include "research/cpu/research.h"

#include "tests/unit/label/feature-checks.h"
#include "tests/unit/label/labeller-checks.h"

#include <glib.h>

/* A variant: an instruction set, a number of threads and streaming stores, used for small frames,
 * too. */
typedef struct Way {
  const char *name;
  CclCpuTuning tuning;
  uint32_t n_threads;
  bool is_plain; /* for the algorithms that use no threads */
  /* Instructions differ inside rows. Label maps of huge frames are streamed in any case, and huge
   * frames have more pixels than any number of threads needs. */
  LabellerHugeFrames huge_frames;
} Way;

static const Way ways[] = {
    {"cpu-portable", {.instructions = "portable"}, 1, .huge_frames = HUGE_FRAMES_8_CONNECTED},
    {"cpu-avx2", {.instructions = "avx2"}, 1, .huge_frames = HUGE_FRAMES_OF_ONE_ROW},
    {"cpu-avx512", {.instructions = "avx512"}, 1, .huge_frames = HUGE_FRAMES_OF_ONE_ROW},
    {"cpu-avx2-streaming", {.instructions = "avx2", .max_cached_bytes = 1}, 1,
        .huge_frames = HUGE_FRAMES_NONE},
    {"cpu-avx512-streaming", {.instructions = "avx512", .max_cached_bytes = 1}, 1,
        .huge_frames = HUGE_FRAMES_NONE},
    {"cpu-neon", {.instructions = "neon"}, 1, .huge_frames = HUGE_FRAMES_OF_ONE_ROW},
    {"cpu-2-threads", {.pixels_per_thread = 1}, 2, .huge_frames = HUGE_FRAMES_NONE},
    {"cpu-7-threads", {.pixels_per_thread = 1}, 7, .huge_frames = HUGE_FRAMES_8_CONNECTED},
    {"cpu-useful-threads", {.pixels_per_thread = 1000}, 0, .huge_frames = HUGE_FRAMES_NONE},
    {"cpu", {NULL}, 0, .is_plain = true, .huge_frames = HUGE_FRAMES_8_CONNECTED},
};

/* The algorithms that use threads and those that do not; each list ends with NULL. */
static const char *algorithms[2][64];

static void
sort_algorithms (void)
{
  guint n[2] = {0};

  for (const char *const *name = ccl_research_cpu_algorithms (); *name; name++) {
    bool uses_threads = ccl_research_cpu_uses_threads (*name);
    algorithms[uses_threads][n[uses_threads]++] = *name;
  }
  g_assert_cmpuint (n[0] + n[1], <, G_N_ELEMENTS (algorithms[0]));
}

static CclLabeller *
labeller_new (void *data, const CclLabellerPlan *plan, CclError *error)
{
  const Way *way = data;
  CclLabellerPlan own_plan = *plan;
  own_plan.n_threads = way->n_threads;
  return ccl_research_cpu_labeller_new (&own_plan, &way->tuning, error);
}

static void
skip_way (gconstpointer data)
{
  const Way *way = data;
  g_test_skip_printf ("this processor has no %s", way->tuning.instructions);
}

static bool
is_offered (const Way *way)
{
  const CclLabellerPlan plan = {.width = 1, .height = 1, .connectivity = 8, .max_components = 1};
  CclError error = {0};
  CclLabeller *labeller = ccl_cpu_labeller_new_tuned (&plan, &way->tuning, &error);
  bool offered = labeller != NULL;
  g_assert_true (offered || error.status == CUDACCL_ERROR_UNSUPPORTED);
  ccl_labeller_free (&labeller);
  return offered;
}

int
main (int argc, char **argv)
{
  static LabellerBackend backends[G_N_ELEMENTS (ways)];

  g_test_init (&argc, &argv, NULL);
  sort_algorithms ();
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++) {
    if (is_offered (&ways[i])) {
      backends[i] = (LabellerBackend){
          .name = ways[i].name,
          .algorithms = algorithms[!ways[i].is_plain],
          .offers = ccl_research_cpu_offers,
          .labeller_new = labeller_new,
          .n_small_masks = ways[i].n_threads > 1 ? 256 : 1,
          .huge_frames = ways[i].huge_frames,
          .data = (void *)&ways[i],
      };
      labeller_checks_register (&backends[i]);
      feature_checks_register (&backends[i]);
    } else {
      char *path = g_strdup_printf ("/%s/all", ways[i].name);
      g_test_add_data_func (path, &ways[i], skip_way);
      g_free (path);
    }
  }
  return g_test_run ();
}
