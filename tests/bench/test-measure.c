/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measuring and checks of the benchmark, with implementations whose behaviour is known. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "labeller-class.h"
#include "measure.h"
#include "modes.h"

/* An implementation that records its calls and delivers a given result. */
typedef struct FakeImplementation {
  Implementation head;
  char letter;
  unsigned fails_at;     /* the run that fails, from 1; 0: none */
  bool unsupported;      /* refuses all inputs */
  bool too_slow;         /* gives up on all inputs */
  double run_seconds;    /* of a run */
  double device_seconds; /* of a run on the device's clock */
  Labelling labelling;   /* fetch delivers a copy of it */
  unsigned n_runs, n_prepared;
  size_t n_pixels;
} FakeImplementation;

static GString *journal; /* a letter for each run, in order */

static CclStatus
fake_prepare (Implementation *implementation, const Input *input, CclError *error)
{
  FakeImplementation *fake = (FakeImplementation *)implementation;

  implementation->gave_up = fake->too_slow;
  if (fake->unsupported)
    return ccl_error_set (error, CCL_ERROR_UNSUPPORTED, "not such an input");
  if (fake->too_slow)
    return ccl_error_set (error, CCL_ERROR_DEVICE, "given up");
  fake->n_prepared++;
  fake->n_pixels = input_n_pixels (input);
  return CCL_OK;
}

static CclStatus
fake_run (Implementation *implementation, CclError *error)
{
  FakeImplementation *fake = (FakeImplementation *)implementation;

  g_string_append_c (journal, fake->letter);
  g_usleep ((gulong)(1e6 * fake->run_seconds));
  if (++fake->n_runs == fake->fails_at)
    return ccl_error_set (error, CCL_ERROR_DEVICE, "it broke");
  return CCL_OK;
}

static void
fake_release (Implementation *implementation)
{
  FakeImplementation *fake = (FakeImplementation *)implementation;
  fake->n_prepared -= fake->n_prepared > 0;
}

static CclStatus
fake_device_time (Implementation *implementation, unsigned n_runs, double *seconds, CclError *error)
{
  *seconds = ((FakeImplementation *)implementation)->device_seconds;
  return CCL_OK;
}

static CclStatus
fake_fetch (Implementation *implementation, Labelling *labelling, CclError *error)
{
  const FakeImplementation *fake = (FakeImplementation *)implementation;

  *labelling = fake->labelling;
  if (labelling->labels)
    labelling->labels = g_memdup2 (labelling->labels, 4 * fake->n_pixels);
  labelling->components =
      g_memdup2 (labelling->components, labelling->n_rows * sizeof *labelling->components);
  return CCL_OK;
}

static const ImplementationClass fake_class = {
    .prepare = fake_prepare,
    .run = fake_run,
    .release = fake_release,
    .fetch = fake_fetch,
};

static const ImplementationClass fake_device_class = {
    .prepare = fake_prepare,
    .run = fake_run,
    .release = fake_release,
    .device_time = fake_device_time,
    .fetch = fake_fetch,
};

static FakeImplementation
fake_new (char letter, const ImplementationClass *klass)
{
  return (FakeImplementation){
      .head = {.klass = klass,
          .device = "cpu",
          .maker = "cudaccl",
          .algorithm = "fake",
          .delivery = DELIVER_LABELS_AND_TABLE,
          .threads = 1},
      .letter = letter,
  };
}

static GPtrArray *
collect (FakeImplementation *fakes, guint n)
{
  GPtrArray *array = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (array, &fakes[i]);
  return array;
}

static const char *
problem (guint number)
{
  return json_array_get_string_element (problems_reported (), number);
}

/* A cell of a table; 0 for an empty number. */
static double
number_at (const Table *table, guint row, guint column)
{
  return json_object_get_double_member_with_default (
      json_array_get_object_element (table->rows, row), table->columns[column], 0);
}

static const char *
text_at (const Table *table, guint row, guint column)
{
  return json_object_get_string_member (
      json_array_get_object_element (table->rows, row), table->columns[column]);
}

static void
assert_close (double a, double b)
{
  g_assert_cmpfloat (fabs (a - b), <=, 1e-12 * fabs (b));
}

static void
test_spread (void)
{
  static const double values[] = {5, 1, 4, 2, 3, 10, 8, 9};
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (double));
  Spread spread;

  g_assert_cmpuint (spread_of (array).n, ==, 0);
  g_array_append_vals (array, values, G_N_ELEMENTS (values));
  spread = spread_of (array);
  g_assert_cmpuint (spread.n, ==, 8);
  /* The default quantiles of R and NumPy. */
  assert_close (spread.minimum, 1);
  assert_close (spread.first_quartile, 2.75);
  assert_close (spread.median, 4.5);
  assert_close (spread.third_quartile, 8.25);
}

/* With a warm-up run, each turn of an implementation is one untimed run and then timed ones. */
static void
test_implementations_take_turns (void)
{
  FakeImplementation fakes[2] = {fake_new ('a', &fake_class), fake_new ('b', &fake_device_class)};
  g_autoptr (GPtrArray) implementations = collect (fakes, 2);
  g_autoptr (Input) input = input_new (4, 4, 1);
  const MeasureSettings settings = {.repetitions = 5, .warm_up = 1, .seconds = 1e9};
  Measurement measurements[2] = {{0}};
  unsigned n_changes = 0;

  fakes[1].device_seconds = 0.25;
  g_string_truncate (journal, 0);
  measure (implementations, input, "input", &settings, measurements);
  for (gsize i = 1; i < journal->len; i++)
    n_changes += journal->str[i] != journal->str[i - 1];
  g_assert_cmpuint (n_changes, ==, 2 * 5 - 1);
  g_assert_cmpuint (measurements[0].times[TIME_WALL].n, ==, fakes[0].n_runs - 5);
  g_assert_cmpuint (measurements[0].times[TIME_DEVICE].n, ==, 0);
  g_assert_cmpuint (measurements[1].times[TIME_DEVICE].n, ==, 5);
  assert_close (measurements[1].times[TIME_DEVICE].median, 0.25);
  g_assert_cmpuint (fakes[0].n_prepared + fakes[1].n_prepared, ==, 0);
}

static void
test_time_limit_leaves_one_turn (void)
{
  FakeImplementation fake = fake_new ('a', &fake_device_class);
  g_autoptr (GPtrArray) implementations = collect (&fake, 1);
  g_autoptr (Input) input = input_new (4, 4, 1);
  const MeasureSettings settings = {.repetitions = 1000000, .warm_up = 0, .seconds = 0};
  Measurement measurement = {0};

  measure (implementations, input, "input", &settings, &measurement);
  g_assert_cmpuint (measurement.times[TIME_DEVICE].n, ==, 1);
  g_assert_cmpuint (measurement.n_turns, ==, 1);
  g_assert_cmpuint (measurement.times[TIME_WALL].n, >=, 1);
}

/* Four implementations share one second. The slow one needs 60 ms per turn; it gets a quarter and
 * the time that the fast ones do not need, but takes no turns from them. */
static void
test_slow_implementations_take_no_time_of_others (void)
{
  FakeImplementation fakes[4];
  g_autoptr (GPtrArray) implementations = NULL;
  g_autoptr (Input) input = input_new (4, 4, 1);
  const MeasureSettings settings = {.repetitions = 25, .warm_up = 1, .seconds = 1};
  Measurement measurements[4] = {{0}};

  for (guint i = 0; i < 4; i++)
    fakes[i] = fake_new ("abcd"[i], &fake_class);
  fakes[0].run_seconds = 0.06;
  implementations = collect (fakes, 4);
  measure (implementations, input, "input", &settings, measurements);
  g_assert_cmpuint (measurements[0].n_turns, >=, 2);
  g_assert_cmpuint (measurements[0].n_turns, <, 18);
  g_assert_cmpuint (measurements[0].times[TIME_WALL].n, ==, measurements[0].n_turns);
  /* One warm-up: the first run shows that the others need none. */
  g_assert_cmpuint (fakes[0].n_runs, ==, measurements[0].n_turns + 1);
  for (guint i = 1; i < 4; i++)
    g_assert_cmpuint (measurements[i].n_turns, ==, 25);
}

static void
test_too_slow_is_reported_and_no_failure (void)
{
  FakeImplementation fakes[2] = {fake_new ('a', &fake_class), fake_new ('b', &fake_class)};
  g_autoptr (GPtrArray) implementations = collect (fakes, 2);
  g_autoptr (Input) input = input_new (4, 4, 1);
  const MeasureSettings settings = {.repetitions = 4, .seconds = 1e9};
  Measurement measurements[2] = {{0}};
  const unsigned n_problems = problems_count ();

  fakes[0].too_slow = true;
  measure (implementations, input, "the long input", &settings, measurements);
  g_assert_cmpint (measurements[0].outcome, ==, TOO_SLOW);
  g_assert_cmpuint (measurements[0].times[TIME_WALL].n, ==, 0);
  g_assert_cmpint (measurements[1].outcome, ==, MEASURED);
  g_assert_cmpuint (problems_count (), ==, n_problems + 1);
  g_assert_nonnull (strstr (problem (n_problems), "the long input: given up"));
}

static void
test_failure_stops_one_implementation_only (void)
{
  FakeImplementation fakes[3] = {
      fake_new ('a', &fake_class), fake_new ('b', &fake_class), fake_new ('c', &fake_class)};
  g_autoptr (GPtrArray) implementations = collect (fakes, 3);
  g_autoptr (Input) input = input_new (4, 4, 1);
  const MeasureSettings settings = {.repetitions = 4, .warm_up = 0, .seconds = 1e9};
  Measurement measurements[3] = {{0}};
  const unsigned n_problems = problems_count ();

  fakes[0].fails_at = 2;
  fakes[1].unsupported = true;
  measure (implementations, input, "the failing input", &settings, measurements);
  g_assert_cmpint (measurements[0].outcome, ==, FAILED);
  g_assert_cmpuint (measurements[0].times[TIME_WALL].n, ==, 0);
  g_assert_cmpint (measurements[1].outcome, ==, NOT_OFFERED);
  g_assert_cmpint (measurements[2].outcome, ==, MEASURED);
  g_assert_cmpuint (measurements[2].times[TIME_WALL].n, >=, 4);
  g_assert_cmpuint (problems_count (), ==, n_problems + 1); /* an unsupported input is no problem */
  g_assert_nonnull (strstr (problem (n_problems), "the failing input: it broke"));
  g_assert_cmpuint (fakes[0].n_prepared + fakes[2].n_prepared, ==, 0);
}

static GPtrArray *
load_sources (const char *first, ...)
{
  GPtrArray *sources = input_sources_new ();
  va_list more;

  va_start (more, first);
  for (const char *each = first; each; each = va_arg (more, const char *))
    g_assert_true (input_sources_add (sources, each, NULL));
  va_end (more);
  return sources;
}

/* A picture of 4×1 pixels with two components. */
static void
check_four_pixels (FakeImplementation *fake, unsigned expected_problems)
{
  g_autofree char *path = NULL;
  g_autoptr (GPtrArray) implementations = collect (fake, 1);
  const ImplementationSettings settings = {.connectivity = CCL_CONNECTIVITY_8};
  const unsigned before = problems_count ();
  GPtrArray *sources;
  Table *table;

  g_close (g_file_open_tmp ("ccl-bench-XXXXXX.pbm", &path, NULL), NULL);
  g_assert_true (g_file_set_contents (path, "P1 4 1\n1011", -1, NULL));
  sources = load_sources (path, NULL);
  table = check (sources, implementations, &settings, 0);
  g_assert_cmpuint (problems_count () - before, ==, expected_problems);
  g_assert_cmpuint (json_array_get_length (table->rows), ==, 1);
  table_free (table);
  g_ptr_array_unref (sources);
  g_unlink (path);
}

/* A line is reported only once, so every case has another name. */
static void
test_check_finds_what_is_wrong (void)
{
  uint32_t right[] = {1, 0, 2, 2}, swapped[] = {2, 0, 1, 1}, raw[] = {9, 0, 4, 4},
           split[] = {9, 0, 4, 5}, merged[] = {9, 0, 9, 9}, spilled[] = {9, 9, 4, 4};
  CclComponent rows[] = {{1, 1, 0, 0, 1, 1, 0, 0}, {2, 2, 2, 0, 2, 1, 2.5, 0}};
  CclComponent off[] = {{1, 1, 0, 0, 1, 1, 0, 0}, {2, 2, 2, 0, 2, 1, 2.5000001, 0}};
  const struct {
    Labelling labelling;
    unsigned n_problems;
  } cases[] = {
      {{right, false, 2, rows, 2}, 0},
      {{right, false, 2, rows, 1}, 0}, /* a table with room for one row */
      {{NULL, false, 2, rows, 2}, 0},
      {{raw, true, 0, NULL, 0}, 0},
      {{swapped, true, 0, NULL, 0}, 0},  /* raw labels may have any order, */
      {{swapped, false, 2, rows, 2}, 1}, /* final ones may not */
      {{split, true, 0, NULL, 0}, 1},
      {{merged, true, 0, NULL, 0}, 1},
      {{spilled, true, 0, NULL, 0}, 1},
      {{right, false, 3, rows, 2}, 1},
      {{right, false, 2, off, 2}, 1},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FakeImplementation fake = fake_new ('a', &fake_class);
    g_autofree char *name = g_strdup_printf ("case %u", i);
    fake.head.algorithm = name;
    fake.labelling = cases[i].labelling;
    check_four_pixels (&fake, cases[i].n_problems);
    fake.head.may_be_inexact = true; /* then it is counted, but is no problem */
    check_four_pixels (&fake, 0);
    fake.head.may_be_inexact = false;
    fake.head.maker = "Another 1.0"; /* the same */
    check_four_pixels (&fake, 0);
  }
}

/* Unchecked inputs are counted as unchecked and as a problem, never as equal. */
static void
test_check_counts_what_it_did_not_check (void)
{
  enum { NAME, BY, EQUAL, DIFFERENT, NOT_OFFERED, FAILED_ON, UNCHECKED };
  FakeImplementation fakes[4] = {fake_new ('a', &fake_class), fake_new ('b', &fake_class),
      fake_new ('c', &fake_class), fake_new ('d', &fake_class)};
  g_autoptr (GPtrArray) implementations = collect (fakes, 4);
  const ImplementationSettings settings = {.connectivity = CCL_CONNECTIVITY_8};
  const unsigned before = problems_count ();
  GPtrArray *sources = load_sources ("empty:4x1", "empty:5x1", NULL);
  uint32_t background[5] = {0}, spilled[5] = {1, 1, 1, 1, 1};
  Table *table;

  fakes[0].too_slow = true;
  fakes[1].labelling = fakes[2].labelling = (Labelling){background, false, 0, NULL, 0};
  fakes[2].head.may_be_inexact = true;
  fakes[2].head.algorithm = "inexact";
  fakes[3].labelling = (Labelling){spilled, true, 0, NULL, 0};
  fakes[3].head.maker = "Another 1.0";
  table = check (sources, implementations, &settings, 0);
  g_assert_cmpuint (problems_count (), ==, before + 2);
  g_assert_cmpuint (json_array_get_length (table->rows), ==, 4);
  g_assert_cmpfloat (number_at (table, 0, EQUAL), ==, 0);
  g_assert_cmpfloat (number_at (table, 0, UNCHECKED), ==, 2);
  g_assert_cmpfloat (number_at (table, 1, EQUAL), ==, 2);
  g_assert_nonnull (strstr (text_at (table, 2, NAME), "inexact"));
  g_assert_cmpfloat (number_at (table, 2, EQUAL), ==, 2);
  g_assert_cmpstr (text_at (table, 3, BY), ==, "Another 1.0");
  g_assert_cmpfloat (number_at (table, 3, DIFFERENT), ==, 2);
  table_free (table);

  /* The first input takes longer than there is time. */
  fakes[1].run_seconds = 0.01;
  table = check (sources, implementations, &settings, 0.005);
  g_assert_cmpuint (problems_count (), ==, before + 3);
  g_assert_cmpfloat (number_at (table, 1, EQUAL), ==, 1);
  g_assert_cmpfloat (number_at (table, 1, UNCHECKED), ==, 1);
  table_free (table);
  g_ptr_array_unref (sources);
}

/* Two voxels that share an edge, and two that share a corner only. */
static void
test_check_labels_volumes (void)
{
  static const struct {
    unsigned connectivity;
    uint32_t edge, corner;
  } cases[] = {{6, 2, 2}, {18, 1, 2}, {26, 1, 1}};

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Input) edge = input_new (2, 2, 2), corner = input_new (2, 2, 2);
    uint32_t n_components;
    edge->pixels[0] = edge->pixels[3] = 255;
    corner->pixels[0] = corner->pixels[7] = 255;
    g_free (check_label_volume (edge, cases[i].connectivity, &n_components));
    g_assert_cmpuint (n_components, ==, cases[i].edge);
    g_free (check_label_volume (corner, cases[i].connectivity, &n_components));
    g_assert_cmpuint (n_components, ==, cases[i].corner);
  }
}

/* A Hilbert curve is one line, whatever the connectivity. */
static void
test_hilbert_curve_is_one_component (void)
{
  for (unsigned order = 1; order <= 6; order += 5) {
    g_autofree char *specification = g_strdup_printf ("hilbert:order=%u", order);
    g_autoptr (GPtrArray) sources = load_sources (specification, NULL);
    g_autoptr (Input) volume = input_source_load (sources->pdata[0], NULL);
    uint32_t n_components;
    g_free (check_label_volume (volume, 6, &n_components));
    g_assert_cmpuint (n_components, ==, 1);
  }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  journal = g_string_new (NULL);
  g_test_add_func ("/measure/spread", test_spread);
  g_test_add_func ("/measure/implementations-take-turns", test_implementations_take_turns);
  g_test_add_func ("/measure/time-limit-leaves-one-turn", test_time_limit_leaves_one_turn);
  g_test_add_func ("/measure/slow-implementations-take-no-time-of-others",
      test_slow_implementations_take_no_time_of_others);
  g_test_add_func (
      "/measure/too-slow-is-reported-and-no-failure", test_too_slow_is_reported_and_no_failure);
  g_test_add_func (
      "/measure/failure-stops-one-implementation-only", test_failure_stops_one_implementation_only);
  g_test_add_func ("/check/finds-what-is-wrong", test_check_finds_what_is_wrong);
  g_test_add_func ("/check/counts-what-it-did-not-check", test_check_counts_what_it_did_not_check);
  g_test_add_func ("/check/labels-volumes", test_check_labels_volumes);
  g_test_add_func ("/check/hilbert-curve-is-one-component", test_hilbert_curve_is_one_component);
  status = g_test_run ();
  g_string_free (journal, TRUE);
  return status;
}
