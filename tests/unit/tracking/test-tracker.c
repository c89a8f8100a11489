/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracker on small drawn scenes whose tracks are known, and the assignment compared with brute
 * force. */
#include <cudaccl/regions.h>
#include <cudaccl/tracker.h>

#include "assignment.h"
#include "label-overlap.h"
#include "typical-size.h"

#include <glib.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define WIDTH 640
#define HEIGHT 360

/* Assignment */

/* The minimum cost over all assignments of the rows from `row` on. */
static double
brute_force (
    const double *cost, guint n_rows, guint n_columns, guint row, guint used, double unassigned)
{
  if (row == n_rows)
    return 0;
  double best = unassigned + brute_force (cost, n_rows, n_columns, row + 1, used, unassigned);
  for (guint column = 0; column < n_columns; column++) {
    const double entry = cost[row * n_columns + column];
    if (entry == INFINITY || used & 1u << column)
      continue;
    best = MIN (best,
        entry + brute_force (cost, n_rows, n_columns, row + 1, used | 1u << column, unassigned));
  }
  return best;
}

static double
assign (
    const double *cost, guint n_rows, guint n_columns, double unassigned, uint32_t *column_of_row)
{
  uint32_t first[8] = {0}, column[49], previous[14], row_of_column[14], touched[14];
  double entry[49], row_price[7], column_price[14], distance[14];
  uint8_t done[14];
  guint n = 0;
  for (guint r = 0; r < n_rows; r++) {
    for (guint c = 0; c < n_columns; c++)
      if (cost[r * n_columns + c] != INFINITY) {
        column[n] = c;
        entry[n++] = cost[r * n_columns + c];
      }
    first[r + 1] = n;
  }
  const CclAssignmentProblem problem = {n_rows, n_columns, first, column, entry, unassigned};
  const CclAssignmentScratch scratch = {
      row_price, column_price, distance, previous, row_of_column, touched, done};
  ccl_assign (&problem, &scratch, column_of_row);
  double sum = 0;
  for (guint r = 0; r < n_rows; r++)
    sum += column_of_row[r] == CUDACCL_UNASSIGNED ? unassigned
                                                  : cost[r * n_columns + column_of_row[r]];
  return sum;
}

static void
test_assignment_costs_as_little_as_brute_force (void)
{
  GRand *random = g_rand_new_with_seed (1);
  for (guint trial = 0; trial < 3000; trial++) {
    const guint n_rows = g_rand_int_range (random, 0, 7);
    const guint n_columns = g_rand_int_range (random, 0, 7);
    const gboolean integers = trial % 2; /* many are equal */
    double cost[49];
    for (guint i = 0; i < n_rows * n_columns; i++) {
      cost[i] = integers ? g_rand_int_range (random, 0, 4) : g_rand_double (random) * 3;
      if (g_rand_double (random) < 0.3)
        cost[i] = INFINITY;
    }
    uint32_t column_of_row[7];
    const double sum = assign (cost, n_rows, n_columns, 2, column_of_row);
    const double least = brute_force (cost, n_rows, n_columns, 0, 0, 2);
    if (fabs (sum - least) > 1e-9)
      g_error ("trial %u of %u×%u: %g, but %g is possible", trial, n_rows, n_columns, sum, least);
    for (guint a = 0; a < n_rows; a++)
      for (guint b = a + 1; b < n_rows; b++)
        g_assert_true (
            column_of_row[a] == CUDACCL_UNASSIGNED || column_of_row[a] != column_of_row[b]);
  }
  g_rand_free (random);
}

/* Scenes */

typedef struct Scene {
  CclTracker *tracker;
  CclTrackerOptions options;
  CclTracks tracks; /* of the last frame */
  double elapsed;
  guint n_events[4]; /* of each kind, in all frames */
} Scene;

static Scene *
scene_new (void)
{
  Scene *scene = g_new0 (Scene, 1);
  CclError error;
  scene->options = (CclTrackerOptions)CUDACCL_TRACKER_OPTIONS_DEFAULT;
  scene->options.frame_rate = 10;
  scene->elapsed = 1;
  scene->tracker = ccl_tracker_new (
      &(CclTrackerPlan){.width = WIDTH, .height = HEIGHT, .max_tracks = 64, .max_components = 64},
      &error);
  g_assert_nonnull (scene->tracker);
  return scene;
}

static void
scene_free (Scene *scene)
{
  ccl_tracker_free (&scene->tracker);
  g_assert_null (scene->tracker);
  g_free (scene);
}

/* A full rectangle. */
static CclComponent
box (guint x, guint y, guint width, guint height)
{
  return (CclComponent){
      .area = width * height,
      .x = x,
      .y = y,
      .width = width,
      .height = height,
      .centroid_x = x + (width - 1) / 2.0,
      .centroid_y = y + (height - 1) / 2.0,
  };
}

static void
scene_run_labels (Scene *scene, CclComponent *rows, guint n_rows, const CclLabels *labels)
{
  CclError error;
  for (guint i = 0; i < n_rows; i++)
    rows[i].label = i + 1;
  const CclTable table = {n_rows, n_rows, rows};
  const CclStatus status = ccl_tracker_run (
      scene->tracker, &table, labels, scene->elapsed, &scene->options, &scene->tracks, &error);
  if (status != CUDACCL_OK)
    g_error ("%s", error.message);
  for (guint i = 0; i < scene->tracks.n_events; i++)
    scene->n_events[scene->tracks.events[i].kind]++;
}

static void
scene_run (Scene *scene, CclComponent *rows, guint n_rows)
{
  scene_run_labels (scene, rows, n_rows, NULL);
}

#define run(scene, ...)                                                                            \
  G_STMT_START                                                                                     \
  {                                                                                                \
    CclComponent rows[] = {__VA_ARGS__};                                                           \
    scene_run (scene, rows, G_N_ELEMENTS (rows));                                                  \
  }                                                                                                \
  G_STMT_END

static const CclTrack *
find_track (const Scene *scene, guint64 id)
{
  for (guint i = 0; i < scene->tracks.n_tracks; i++)
    if (scene->tracks.tracks[i].id == id)
      return &scene->tracks.tracks[i];
  return NULL;
}

/* The identity in a row that has one member. */
static guint64
id_of_row (const Scene *scene, guint row)
{
  guint64 id = 0;
  for (guint i = 0; i < scene->tracks.n_members; i++)
    if (scene->tracks.members[i].row == row) {
      g_assert_cmpuint (id, ==, 0);
      id = scene->tracks.tracks[scene->tracks.members[i].track].id;
    }
  return id;
}

static void
test_one_object_keeps_its_identity (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 60; i++) {
    run (scene, box (50 + 5 * i, 100 + i, 30, 80));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    const CclTrack *t = &scene->tracks.tracks[0];
    g_assert_cmpuint (t->id, ==, 1);
    g_assert_cmpuint (t->age, ==, i);
    g_assert_cmpuint (t->label, ==, 1);
    g_assert_cmpint (t->state, ==, i < 2 ? CUDACCL_TRACK_TENTATIVE : CUDACCL_TRACK_CONFIRMED);
  }
  const CclTrack *t = &scene->tracks.tracks[0];
  g_assert_cmpfloat_with_epsilon (t->x, 50 + 5 * 59, 0.5);
  g_assert_cmpfloat_with_epsilon (t->y, 100 + 59, 0.5);
  g_assert_cmpfloat_with_epsilon (t->width, 30, 0.5);
  g_assert_cmpfloat_with_epsilon (t->height, 80, 0.5);
  g_assert_cmpfloat_with_epsilon (t->velocity_x, 5, 0.05);
  g_assert_cmpfloat_with_epsilon (t->velocity_y, 1, 0.05);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 0);
  scene_free (scene);
}

/* Two objects approach each other, are one component while their boxes touch, and separate. */
/* A component farther from where a track is expected than its own size is another object, also
 * while little is known of the track's motion. */
static void
test_identities_do_not_jump (void)
{
  static const struct {
    guint x, y;
  } jumps[] = {{100 + 70, 100}, {100 - 70, 100}, {100, 100 + 70}, {100 + 65, 100 + 65}};
  for (guint frames = 1; frames <= 20; frames++) {
    for (guint i = 0; i < G_N_ELEMENTS (jumps); i++) {
      Scene *scene = scene_new ();
      for (guint k = 0; k < frames; k++)
        run (scene, box (100, 100, 30, 60));
      run (scene, box (jumps[i].x, jumps[i].y, 30, 60));
      g_assert_cmpuint (id_of_row (scene, 0), !=, 1);
      scene_free (scene);
    }
  }
}

static void
test_crossing_objects_keep_their_identities (void)
{
  Scene *scene = scene_new ();
  guint n_shared = 0;
  for (guint i = 0; i < 60; i++) {
    const guint a = 100 + 3 * i, b = 280 - 3 * i;
    if (MAX (a, b) > MIN (a, b) + 30) {
      run (scene, box (a, 100, 30, 80), box (b, 105, 30, 80));
      g_assert_cmpuint (id_of_row (scene, 0), ==, 1);
      g_assert_cmpuint (id_of_row (scene, 1), ==, 2);
    } else {
      const guint left = MIN (a, b);
      run (scene, box (left, 100, MAX (a, b) + 30 - left, 85));
      n_shared++;
      g_assert_cmpuint (scene->tracks.n_members, ==, 2);
    }
    if (i < 5)
      continue;
    for (guint id = 1; id <= 2; id++) {
      const CclTrack *t = find_track (scene, id);
      g_assert_nonnull (t);
      g_assert_cmpfloat_with_epsilon (t->x, id == 1 ? a : b, 12);
      g_assert_cmpfloat_with_epsilon (t->width, 30, 8);
    }
  }
  g_assert_cmpuint (n_shared, ==, 11);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_MERGED], ==, 2);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_SPLIT], ==, 2);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 0);
  scene_free (scene);
}

static void
test_hidden_object_comes_back_as_itself (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 40; i++) {
    if (i < 15 || i >= 22) {
      run (scene, box (100 + 8 * i, 100, 30, 80));
    } else {
      scene_run (scene, NULL, 0);
      g_assert_cmpint (scene->tracks.tracks[0].state, ==, CUDACCL_TRACK_LOST);
      g_assert_cmpuint (scene->tracks.tracks[0].lost, ==, i - 14);
      g_assert_cmpuint (scene->tracks.tracks[0].label, ==, 0);
      g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].x, 100 + 8 * i, 3);
    }
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 1);
  }
  scene_free (scene);
}

static void
test_identities_are_not_used_again (void)
{
  Scene *scene = scene_new ();
  for (guint round = 0; round < 5; round++) {
    for (guint i = 0; i < 10; i++)
      run (scene, box (300 + i, 100, 30, 80));
    g_assert_cmpuint (scene->tracks.tracks[0].id, ==, round + 1);
    if (round == 3)
      ccl_tracker_reset (scene->tracker);
    else
      for (guint i = 0; i <= scene->options.max_lost; i++)
        scene_run (scene, NULL, 0);
    CclTracks *tracks = &scene->tracks;
    g_assert_cmpuint (round == 3 ? 0 : tracks->n_tracks, ==, 0);
  }
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 5);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 4);
  scene_free (scene);
}

static void
test_object_in_fragments_is_one_track (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 40; i++) {
    const guint x = 100 + 4 * i;
    if (i % 3 == 2) {
      run (scene, box (x, 100, 30, 50), box (x, 155, 30, 25));
      g_assert_cmpuint (id_of_row (scene, 0), ==, 1);
    } else {
      run (scene, box (x, 100, 30, 80));
    }
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 1);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].height, 80, 4);
  }
  scene_free (scene);
}

static void
test_noise_of_two_frames_is_not_confirmed (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 20; i++) {
    if (i % 3 < 2)
      run (scene, box (40 + 20 * i, 60 + 7 * (i % 5), 10, 10));
    else
      scene_run (scene, NULL, 0);
    for (guint j = 0; j < scene->tracks.n_tracks; j++)
      g_assert_cmpint (scene->tracks.tracks[j].state, ==, CUDACCL_TRACK_TENTATIVE);
  }
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 0);
  scene_free (scene);
}

static void
test_dropped_frames_do_not_matter (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 60; i += scene->elapsed) {
    scene->elapsed = i < 20 || i >= 40 ? 1 : 5;
    run (scene, box (50 + 8 * (i + (guint)scene->elapsed), 100, 30, 80));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 1);
  }
  g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].velocity_x, 8, 0.1);
  g_assert_cmpuint (scene->tracks.tracks[0].age, ==, 59);
  scene_free (scene);
}

static void
test_resting_object_becomes_static (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 100; i++) {
    run (scene, box (i < 70 ? 200 + i % 2 : 200 + 5 * (i - 70), 100, 30, 80));
    const CclTrackState state = scene->tracks.tracks[0].state;
    if (i < 49)
      g_assert_cmpint (state, !=, CUDACCL_TRACK_STATIC);
    else if (i < 70)
      g_assert_cmpint (state, ==, CUDACCL_TRACK_STATIC);
    else if (i >= 76)
      g_assert_cmpint (state, ==, CUDACCL_TRACK_CONFIRMED);
  }
  scene_free (scene);
}

/* Out of a hundred components the tracker uses at most the 64 largest. */
static void
test_more_components_than_planned (void)
{
  Scene *scene = scene_new ();
  CclComponent rows[100];
  for (guint frame = 0; frame < 5; frame++) {
    for (guint i = 0; i < 100; i++)
      rows[i] = box (10 + i % 10 * 50, 10 + i / 10 * 30, i % 2 ? 20 : 4, i % 2 ? 20 : 4);
    scene_run (scene, rows, 100);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 50);
  for (guint i = 0; i < 50; i++) {
    g_assert_cmpuint (scene->tracks.members[i].row, ==, 2 * i + 1);
    g_assert_cmpuint (scene->tracks.members[i].track, ==, i);
  }
  scene_free (scene);
}

/* Two trackers report the same for the same random boxes. */
static void
test_same_tables_give_same_bits (void)
{
  GRand *random = g_rand_new_with_seed (7);
  Scene *one = scene_new (), *two = scene_new ();
  for (guint frame = 0; frame < 200; frame++) {
    CclComponent rows[60];
    const guint n = g_rand_int_range (random, 0, 60);
    for (guint i = 0; i < n; i++)
      rows[i] = box (g_rand_int_range (random, 0, WIDTH - 60), g_rand_int_range (random, 0, 280),
          g_rand_int_range (random, 1, 60), g_rand_int_range (random, 1, 80));
    scene_run (one, rows, n);
    scene_run (two, rows, n);
    g_assert_cmpuint (one->tracks.n_tracks, ==, two->tracks.n_tracks);
    for (guint i = 0; i < one->tracks.n_tracks; i++) {
      const CclTrack *a = &one->tracks.tracks[i], *b = &two->tracks.tracks[i];
      g_assert_cmpuint (a->id, ==, b->id);
      g_assert_cmpmem (&a->x, 6 * sizeof (double), &b->x, 6 * sizeof (double));
      g_assert_true (isfinite (a->x) && isfinite (a->width) && a->width >= 1 && a->height >= 1);
    }
  }
  scene_free (one);
  scene_free (two);
  g_rand_free (random);
}

/* An object brakes and stops. At four times the frame rate, with a quarter of the time step, the
 * uncertainty in pixels and seconds is the same: the box overshoots equally far. */
static double
overshoot (guint steps)
{
  Scene *scene = scene_new ();
  double most = 0;
  scene->options.frame_rate = 10 * steps;
  for (guint i = 0; i < 40 * steps; i++) {
    const guint x = 100 + 8 * MIN (i, 20 * steps) / steps;
    run (scene, box (x, 100, 30, 80));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    most = MAX (most, scene->tracks.tracks[0].x - x);
  }
  scene_free (scene);
  return most;
}

static void
test_frame_rate_does_not_change_the_tracks (void)
{
  const double slow = overshoot (1), fast = overshoot (4);
  g_test_message ("overshoot %g and %g pixels", slow, fast);
  g_assert_cmpfloat (slow, >, 1);
  g_assert_cmpfloat_with_epsilon (slow, fast, 0.5 * slow);
}

static void
test_bad_arguments_change_nothing (void)
{
  Scene *scene = scene_new ();
  CclError error = {0};
  CclComponent outside = box (WIDTH - 10, 0, 11, 5);
  const CclTable good = {0, 0, NULL}, bad = {1, 1, &outside};
  const CclTrackerOptions zero = {0};
  static const double elapsed[] = {0, -1, 1001, NAN, INFINITY};
  for (guint i = 0; i < G_N_ELEMENTS (elapsed); i++)
    g_assert_cmpint (ccl_tracker_run (scene->tracker, &good, NULL, elapsed[i], &scene->options,
                         &scene->tracks, &error),
        ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_cmpint (
      ccl_tracker_run (scene->tracker, &bad, NULL, 1, &scene->options, &scene->tracks, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  static const double bad_rates[] = {-1, 0.001, 10001, NAN, INFINITY};
  for (guint i = 0; i < G_N_ELEMENTS (bad_rates); i++) {
    CclTrackerOptions options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
    options.frame_rate = bad_rates[i];
    g_assert_cmpint (
        ccl_tracker_run (scene->tracker, &good, NULL, 1, &options, &scene->tracks, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
  }
  static const double ways[] = {-0.1, 101, NAN};
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    CclTrackerOptions options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
    options.least_way = ways[i];
    g_assert_cmpint (
        ccl_tracker_run (scene->tracker, &good, NULL, 1, &options, &scene->tracks, &error), ==,
        CUDACCL_ERROR_ARGUMENT);
  }
  g_assert_cmpint (ccl_tracker_run (scene->tracker, &good, NULL, 1, &zero, &scene->tracks, NULL),
      ==, CUDACCL_ERROR_ARGUMENT);
  static const CclTrackerPlan plans[] = {{0, 0, 1, 1, 1}, {0, 1, 0, 1, 1}, {0, 1, 1, 0, 1},
      {0, 1, 1, 1, 0}, {0, 1, 1, 4097, 1}, {0, 65536, 65536, 1, 1}};
  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    g_assert_null (ccl_tracker_new (&plans[i], &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  CclComponent rows[] = {box (0, 0, 5, 5), box (9, 0, 5, 5)};
  const CclTable twice = {2, 2, rows};
  guint32 *map = g_new0 (guint32, WIDTH * HEIGHT + 1);
  const CclLabels maps[] = {{NULL, 4 * WIDTH}, {map, 4 * WIDTH - 4}, {map, 4 * WIDTH + 2},
      {(char *)map + 1, 4 * WIDTH}, {map, 4 * WIDTH}}; /* the last one is good, the table is not */
  for (guint i = 0; i < G_N_ELEMENTS (maps); i++)
    g_assert_cmpint (ccl_tracker_run (scene->tracker, i < 4 ? &good : &twice, &maps[i], 1,
                         &scene->options, &scene->tracks, &error),
        ==, CUDACCL_ERROR_ARGUMENT);
  CclTrackerOptions sampled = CUDACCL_TRACKER_OPTIONS_DEFAULT;
  sampled.label_step = 4097;
  g_assert_cmpint (
      ccl_tracker_run (scene->tracker, &good, &maps[4], 1, &sampled, &scene->tracks, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  sampled.label_step = 4;
  const CclLabels short_rows = {map, 4 * ((WIDTH + 3) / 4) - 4};
  g_assert_cmpint (
      ccl_tracker_run (scene->tracker, &good, &short_rows, 1, &sampled, &scene->tracks, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  g_free (map);
  scene_free (scene);
  ccl_tracker_free (NULL);
  ccl_tracker_reset (NULL);
}

/* Label maps */

typedef struct Rectangle {
  gint x, y, width, height;
} Rectangle;

/* Runs a frame of objects that consist of two rectangles, with or without its label map. The
 * objects are in the order of their first pixels. */
static void
run_pairs (Scene *scene, const Rectangle (*objects)[2], guint n_objects, gboolean with_labels)
{
  static guint32 map[HEIGHT][WIDTH];
  CclComponent rows[8] = {0};
  memset (map, 0, sizeof map);
  for (guint i = 0; i < n_objects; i++)
    for (guint part = 0; part < 2; part++) {
      const Rectangle *r = &objects[i][part];
      for (gint y = r->y; y < r->y + r->height; y++)
        for (gint x = r->x; x < r->x + r->width; x++)
          map[y][x] = i + 1;
    }
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      if (map[y][x] == 0)
        continue;
      CclComponent *c = &rows[map[y][x] - 1];
      const guint left = c->area ? MIN (c->x, x) : x, top = c->area ? c->y : y;
      c->width = (c->area ? MAX (c->x + c->width, x + 1) : x + 1) - left;
      c->height = y + 1 - top;
      c->x = left;
      c->y = top;
      c->area++;
      c->centroid_x += (x - c->centroid_x) / c->area;
      c->centroid_y += (y - c->centroid_y) / c->area;
    }
  const CclLabels labels = {map, sizeof map[0]};
  scene_run_labels (scene, rows, n_objects, with_labels ? &labels : NULL);
}

/* A thick bar above with a thin tail on the left, and a thick bar below with a thin tail on the
 * right, 50 pixels farther to the right: their boxes overlap, their pixels do not. After a rest,
 * both move by 50 pixels at once, so the first box is then where the second one was. */
static void
jump (gboolean with_labels, guint64 *upper, guint64 *lower)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 20; i++) {
    const gint x = i < 19 ? 100 : 150;
    const Rectangle objects[][2] = {
        {{x, 100, 200, 100}, {x, 200, 10, 100}},
        {{x + 50, 210, 200, 90}, {x + 240, 100, 10, 110}},
    };
    run_pairs (scene, objects, 2, with_labels);
    *upper = id_of_row (scene, 0);
    *lower = id_of_row (scene, 1);
    if (i < 19) {
      g_assert_cmpuint (*upper, ==, 1);
      g_assert_cmpuint (*lower, ==, 2);
    }
  }
  scene_free (scene);
}

static void
test_pixels_distinguish_objects_whose_boxes_overlap (void)
{
  guint64 upper, lower;
  jump (TRUE, &upper, &lower);
  g_assert_cmpuint (upper, ==, 1);
  g_assert_cmpuint (lower, ==, 2);
  jump (FALSE, &upper, &lower);
  g_assert_cmpuint (upper, ==, 2); /* the boxes say so: the scene is one where pixels matter */
}

/* A small object comes to rest in the box of an angle, but outside of the angle, and a larger one
 * touches it in the end. The boxes of two components cover the small one then; its pixels are in
 * the second.
 */
static void
test_pixels_say_which_component_is_shared (void)
{
  for (guint with_labels = 0; with_labels < 2; with_labels++) {
    Scene *scene = scene_new ();
    for (guint i = 0; i < 30; i++) {
      const gint x = 360 - 4 * (gint)MIN (i, 20);
      const gint y = 120 + 5 * MAX (16 - (gint)i, 0);
      const gboolean touches = i >= 20;
      const Rectangle objects[][2] = {
          {{100, 50, 200, 30}, {100, 80, 30, 200}},
          {{220, y, 60, 60}, {220, y, 60, 60}},
          {{x, 100, 100, 100}, {x, 100, 100, 100}},
      };
      const Rectangle merged[][2] = {
          {{100, 50, 200, 30}, {100, 80, 30, 200}},
          {{220, 120, 60, 60}, {280, 100, 100, 100}},
      };
      run_pairs (scene, touches ? merged : objects, touches ? 2 : 3, with_labels);
      guint n_angle = 0;
      for (guint m = 0; m < scene->tracks.n_members; m++)
        n_angle += scene->tracks.members[m].row == 0;
      if (i == 20)
        g_assert_cmpuint (n_angle, ==, with_labels ? 1 : 2);
    }
    scene_free (scene);
  }
}

/* A map without a map in the frame before, and a frame without a map, change nothing. */
static void
test_single_label_maps_have_no_effect (void)
{
  Scene *one = scene_new (), *two = scene_new ();
  for (guint i = 0; i < 30; i++) {
    const gint x = 100 + 7 * (gint)i;
    const Rectangle objects[][2] = {
        {{x, 100, 60, 40}, {x, 100, 60, 40}}, {{x + 20, 145, 60, 40}, {x + 20, 145, 60, 40}}};
    run_pairs (one, objects, 2, i % 2);
    run_pairs (two, objects, 2, FALSE);
    g_assert_cmpuint (one->tracks.n_tracks, ==, two->tracks.n_tracks);
    for (guint j = 0; j < one->tracks.n_tracks; j++)
      g_assert_cmpmem (&one->tracks.tracks[j].x, 48, &two->tracks.tracks[j].x, 48);
  }
  scene_free (one);
  scene_free (two);
}

/* A map of rectangles with labels from 0 to 8, whose boxes are to be read. */
static void
draw_labels (GRand *random, CclLabelOverlap *overlap, guint32 *map)
{
  const guint width = overlap->width, height = overlap->height;
  memset (map, 0, (gsize)width * height * sizeof *map);
  for (guint i = 0; i < 20; i++) {
    const guint label = g_rand_int_range (random, 0, 9);
    const guint left = g_rand_int_range (random, 0, width),
                top = g_rand_int_range (random, 0, height);
    const guint right = MIN (left + 30, width), bottom = MIN (top + 1 + height / 5, height);
    for (guint y = top; y < bottom; y++)
      for (guint x = left; x < right; x++)
        map[(gsize)y * width + x] = label;
    ccl_label_overlap_cover (overlap, left, top, right, bottom);
  }
}

/* In frames of 1083 rows, the rows 0, 4, 8, … are counted, each for four rows. Label 5 is in no
 * table, and component 2 of the frame before in no group. */
static void
test_shared_pixels_are_those_of_the_sampled_rows (void)
{
  enum { N = 7, N_GROUPS = 3, MOST = 2500 * 540 };
  static const guint widths[] = {97, 97, 2500, 161, 1}, heights[] = {1, 539, 540, 1083, 40};
  static const guint steps[] = {1, 1, 2, 4, 1};
  guint32 label[N] = {1, 2, 3, 4, 6, 7, 8}, shared[N_GROUPS * N];
  guint16 group[N] = {0, 1, CUDACCL_NO_GROUP, 2, 0, 1, 2};
  CclShift shift[N_GROUPS] = {{0, 0}, {-13, 6}, {30, -200}};
  GRand *random = g_rand_new_with_seed (4);
  guint32 *before = g_new (guint32, MOST), *now = g_new (guint32, MOST);
  for (guint h = 0; h < G_N_ELEMENTS (heights); h++) {
    const guint width = widths[h], height = heights[h], step = steps[h];
    const guint n_words = ccl_label_overlap_words (width) * height;
    const gsize stride = width * sizeof *before;
    CclLabelOverlap overlap = {.width = width,
        .height = height,
        .step = ccl_label_overlap_step (height),
        .weight = step,
        .runs = g_new (CclLabelRun, (gsize)width * height),
        .covered = g_new0 (guint64, n_words),
        .group = group,
        .shift = shift,
        .n_components = N,
        .label = label,
        .shared = shared};
    g_assert_cmpuint (overlap.step, ==, step);
    for (guint i = 0; i < 3; i++) { /* the last one counts */
      draw_labels (random, &overlap, before);
      ccl_label_overlap_store (&overlap, &(CclLabels){before, stride});
    }
    draw_labels (random, &overlap, now);
    overlap.n_groups = N_GROUPS;
    ccl_label_overlap_count (&overlap, &(CclLabels){now, stride});

    guint32 expected[N_GROUPS * N] = {0};
    static const gint component_of[] = {-1, 0, 1, 2, 3, -1, 4, 5, 6};
    for (gint y = 0; y < (gint)height; y += step)
      for (gint x = 0; x < (gint)width; x++) {
        const gint c = component_of[before[y * (gint)width + x]];
        if (c < 0 || group[c] == CUDACCL_NO_GROUP)
          continue;
        const gint to_x = x + shift[group[c]].x, to_y = y + shift[group[c]].y;
        if (to_x < 0 || to_x >= (gint)width || to_y < 0 || to_y >= (gint)height)
          continue;
        const gint found = component_of[now[to_y * (gint)width + to_x]];
        if (found >= 0)
          expected[group[c] * N + found] += step;
      }
    g_assert_cmpmem (shared, sizeof shared, expected, sizeof expected);
    g_free (overlap.runs);
    g_free (overlap.covered);
  }
  g_free (before);
  g_free (now);
  g_rand_free (random);
}

/* Maps of noise whose labels are only partly in the table, with jumps of whole frames. */
static void
test_any_label_map_is_safe (void)
{
  GRand *random = g_rand_new_with_seed (3);
  static guint32 map[HEIGHT][WIDTH];
  Scene *scene = scene_new ();
  for (guint frame = 0; frame < 60; frame++) {
    CclComponent rows[70];
    const guint n = g_rand_int_range (random, 0, 70);
    for (guint i = 0; i < n; i++)
      rows[i] = box (g_rand_int_range (random, 0, WIDTH - 60), g_rand_int_range (random, 0, 280),
          g_rand_int_range (random, 1, 60), g_rand_int_range (random, 1, 80));
    for (guint y = 0; y < HEIGHT; y++)
      for (guint x = 0; x < WIDTH; x++)
        map[y][x] = (guint32)g_rand_int_range (random, 0, 90);
    map[0][0] = G_MAXUINT32;
    scene->elapsed = frame % 10 == 9 ? 1000 : 1;
    scene_run_labels (scene, rows, n, &(CclLabels){map, sizeof map[0]});
    for (guint i = 0; i < scene->tracks.n_tracks; i++)
      g_assert_true (isfinite (scene->tracks.tracks[i].x));
    if (frame == 30)
      ccl_tracker_reset (scene->tracker);
  }
  scene_free (scene);
  g_rand_free (random);
}

/* Out of the left border, across the frame, into the right border. */
static void
test_object_enters_and_leaves_through_the_border (void)
{
  Scene *scene = scene_new ();
  for (int left = -24; left < WIDTH; left += 6) {
    const guint from = MAX (left, 0), to = MIN (left + 30, WIDTH);
    run (scene, box (from, 100, to - from, 80));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    const CclTrack *t = &scene->tracks.tracks[0];
    g_assert_cmpuint (t->id, ==, 1);
    if (left > 20) {
      g_assert_cmpfloat_with_epsilon (t->width, 30, 6);
      g_assert_cmpfloat_with_epsilon (t->x, left, 6);
    }
  }
  g_assert_cmpint (scene->tracks.tracks[0].state, ==, CUDACCL_TRACK_CONFIRMED);
  scene_run (scene, NULL, 0);
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 0);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 1);
  scene_free (scene);
}

/* A line of 100×3 pixels is part of the component in some frames. */
static void
test_thin_things_that_stick_out_do_not_move_the_box (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 60; i++) {
    const guint x = 200 + 3 * i;
    CclComponent c = box (x, 100, 30, 80);
    if (i >= 20 && i % 4 < 2) {
      c.x -= 100;
      c.width += 100;
      c.centroid_x = (2400 * c.centroid_x + 300 * (x - 50)) / 2700;
      c.area = 2700;
    }
    run (scene, c);
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].x, x, 9);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, 30, 6);
  }
  scene_free (scene);
}

/* The intersection of a reported box and a box of the table over their union. */
static double
overlap (const CclTrack *t, const CclComponent *c)
{
  const double left = MAX (t->x, c->x), right = MIN (t->x + t->width, c->x + c->width);
  const double top = MAX (t->y, c->y), bottom = MIN (t->y + t->height, c->y + c->height);
  const double both = MAX (right - left, 0) * MAX (bottom - top, 0);
  return both / (t->width * t->height + (double)c->width * c->height - both);
}

/* The legs of somebody who walks: the box is 22 to 42 pixels wide, once to and fro in a second. */
static void
test_box_swings_with_the_limbs (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 60; i++) {
    const guint swing = (guint)(10 * fabs (cos (i * G_PI / 10)) + 0.5);
    CclComponent c = box (200 + 6 * i - swing, 100, 22 + 2 * swing, 80);
    run (scene, c);
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    if (i >= 10)
      g_assert_cmpfloat (overlap (&scene->tracks.tracks[0], &c), >, 0.75);
  }
  scene_free (scene);
}

/* Two objects meet and then move on together, faster. */
static void
test_shared_component_carries_its_objects (void)
{
  Scene *scene = scene_new ();
  guint x = 50;
  for (guint i = 0; i < 60; i++) {
    if (i < 20)
      run (scene, box (x, 100, 30, 80), box (x + 35, 100, 30, 80));
    else
      run (scene, box (x, 100, 65, 80));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
    if (i > 5)
      for (guint j = 0; j < 2; j++) {
        g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[j].x, x + 35 * j, 8);
        g_assert_cmpuint (scene->tracks.tracks[j].n_sharing, ==, i >= 20);
      }
    x += i < 30 ? 3 : 6;
  }
  scene_free (scene);
}

/* An object disappears behind a larger one and does not reappear. */
static void
test_object_hidden_behind_another_ends_after_max_lost (void)
{
  Scene *scene = scene_new ();
  guint ended = 0;
  for (guint i = 0; i < 80; i++) {
    const guint x = 300 - 4 * MIN (i, 50);
    if (x > 252)
      run (scene, box (150, 80, 100, 150), box (x, 120, 30, 50));
    else
      run (scene, box (150, 80, MAX (x + 30, 250) - 150, 150));
    if (i > 5 && scene->tracks.n_tracks == 1 && !ended)
      ended = i;
  }
  g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 1);
  g_assert_cmpuint (ended, >=, 13 + scene->options.max_lost);
  g_assert_cmpuint (ended, <=, 25 + scene->options.max_lost);
  scene_free (scene);
}

/* After whole objects, one object appears in two fragments, and whole in some frames. */
static void
test_object_that_begins_in_fragments_is_one_track (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 60; i++)
    run (scene, box (50 + 5 * i, 100, 30, 80));
  for (guint i = 0; i <= scene->options.max_lost; i++)
    scene_run (scene, NULL, 0);
  for (guint i = 0; i < 30; i++) {
    const guint x = 100 + 5 * i;
    if (i < 6)
      run (scene, box (x, 100, 30, 38), box (x, 142, 30, 38));
    else
      run (scene, box (x, 100, 30, 80));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  }
  g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 2);
  scene_free (scene);
}

/* A small component beside an object of known size is neither a fragment of it nor an object. */
static void
test_specks_in_the_box_of_a_whole_object_are_ignored (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 60; i++) {
    const guint x = 50 + 5 * i;
    if (i < 40)
      run (scene, box (x, 100, 30, 80));
    else
      run (scene, box (x, 100, 30, 80), box (x + 26, 110, 7, 20));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    g_assert_cmpuint (scene->tracks.n_members, ==, 1);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, 30, 1);
  }
  scene_free (scene);
}

/* A bag in the box of a person, and missed in every fifth frame: a detector's boxes are objects of
 * their own, and one that is missed is in no other. */
static void
test_whole_objects (void)
{
  for (guint whole = 0; whole < 2; whole++) {
    Scene *scene = scene_new ();
    scene->options.whole_objects = whole;
    guint n_with_two = 0;
    for (guint i = 0; i < 60; i++) {
      const guint x = 50 + 5 * i;
      if (i % 5 == 4)
        run (scene, box (x, 100, 30, 80));
      else
        run (scene, box (x, 100, 30, 80), box (x + 8, 120, 10, 20));
      n_with_two += scene->tracks.n_tracks == 2;
      g_assert_cmpuint (scene->tracks.tracks[0].n_sharing, ==, 0);
      g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 1);
      g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, 30, 2);
      if (whole && i >= 2)
        g_assert_cmpuint (scene->tracks.tracks[1].state, ==,
            i % 5 == 4 ? CUDACCL_TRACK_LOST : CUDACCL_TRACK_CONFIRMED);
    }
    g_assert_cmpuint (n_with_two == 60, ==, whole);
    scene_free (scene);
  }
}

/* Two objects that were one component from the start are one track; soon after they separate it has
 * the size of one of them. */
static void
test_box_that_fits_badly_is_measured_anew (void)
{
  Scene *scene = scene_new ();
  guint n_wide = 0;
  for (guint i = 0; i < 80; i++) {
    if (i < 5)
      run (scene, box (300, 100, 80, 80));
    else
      run (scene, box (300 - 3 * (i - 5), 100, 30, 80));
    n_wide += i >= 5 && scene->tracks.tracks[0].width > 36;
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 1);
  g_assert_cmpuint (n_wide, <=, 5);
  scene_free (scene);
}

/* People of 30×80 pixels walk through the picture, so that the tracker learns their height. */
static void
show_people (Scene *scene)
{
  for (guint i = 0; i < 60; i++)
    run (scene, box (50 + 5 * i, 100, 30, 80));
  for (guint i = 0; i <= scene->options.max_lost; i++)
    scene_run (scene, NULL, 0);
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 0);
}

/* A person who is head, trunk and legs in every frame is one track and crosses a line once. */
static void
test_person_in_fragments_crosses_a_line_once (void)
{
  const CclPoint ends[] = {{200, 0}, {200, HEIGHT}};
  const CclRegion line = {
      .kind = CUDACCL_REGION_LINE, .name = "gate", .points = ends, .n_points = 2};
  CclRegionsPlan plan = CUDACCL_REGIONS_PLAN_DEFAULT;
  plan.width = WIDTH;
  plan.height = HEIGHT;
  plan.n_regions = 1;
  plan.regions = &line;
  const CclRegionsOptions options = CUDACCL_REGIONS_OPTIONS_DEFAULT;
  CclRegionsResult result;
  CclError error;
  Scene *scene = scene_new ();
  show_people (scene);
  CclRegions *regions = ccl_regions_new (&plan, &error);
  g_assert_nonnull (regions);
  for (guint i = 0; i < 60; i++) {
    const guint x = 80 + 4 * i, sway = i % 4;
    run (scene, box (x + 8, 100, 14, 12), box (x + sway, 117, 28, 30), box (x + 4, 152, 22, 28));
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].height, 80, 4);
    for (guint row = 0; row < 3; row++)
      g_assert_cmpuint (id_of_row (scene, row), ==, 2);
    g_assert_cmpint (
        ccl_regions_run (regions, &scene->tracks, 0.1, &options, &result, &error), ==, CUDACCL_OK);
  }
  g_assert_cmpuint (result.counts[0].forward + result.counts[0].backward, ==, 1);
  ccl_regions_free (&regions);
  scene_free (scene);
}

/* Barrier tape between people moves to and fro at its place: it is never an object. A dog as small
 * that walks away is one. */
static void
test_small_objects_must_go_somewhere (void)
{
  Scene *scene = scene_new ();
  show_people (scene);
  for (guint i = 0; i < 100; i++) {
    run (scene, box (100 + i % 3, 200, 60, 6));
    g_assert_cmpint (scene->tracks.tracks[0].state, ==, CUDACCL_TRACK_TENTATIVE);
  }
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
  for (guint i = 0; i < 100; i++)
    run (scene, box (100 + 4 * i, 290, 40, 25));
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpint (scene->tracks.tracks[0].state, ==, CUDACCL_TRACK_CONFIRMED);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 2);
  scene_free (scene);
}

/* Two people are one component from the start, and no person was ever seen alone. When they
 * separate, both have a track with a box of their own. */
static void
test_people_who_came_together_separate (void)
{
  Scene *scene = scene_new ();
  for (guint i = 0; i < 30; i++)
    run (scene, box (100 + 2 * i, 100, 80, 80));
  for (guint i = 0; i < 40; i++) {
    run (scene, box (160 + 2 * i, 100, 30, 80), box (210 + 2 * i + i / 2, 100, 30, 80));
    if (i < 10)
      continue;
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
    g_assert_cmpuint (id_of_row (scene, 0), !=, id_of_row (scene, 1));
    for (guint j = 0; j < 2; j++)
      g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[j].width, 30, 6);
  }
  scene_free (scene);
}

/* Two halves that are too far apart to be joined are two tracks, until they are one component: then
 * they are the fragments of one object. */
static void
test_tracks_of_fragments_become_one (void)
{
  Scene *scene = scene_new ();
  show_people (scene);
  for (guint i = 0; i < 20; i++)
    run (scene, box (300, 100, 30, 50), box (300, 160, 30, 50));
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
  const guint64 first = scene->tracks.tracks[0].id;
  for (guint i = 0; i < 20; i++)
    run (scene, box (300, 100, 30, 110));
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpuint (scene->tracks.tracks[0].id, ==, first);
  scene_free (scene);
}

/* People whose height is a quarter of the row of their feet, of whom a third are fragments and
 * every tenth is a group of three. */
static void
test_typical_height_follows_perspective (void)
{
  CclTypicalSize size = {0};
  GRand *random = g_rand_new_with_seed (5);
  g_assert_cmpfloat (ccl_typical_height (&size, 100), ==, 0);
  for (guint frame = 0; frame < 200; frame++) {
    for (guint i = 0; i < 6; i++) {
      const double foot = g_rand_double_range (random, 120, 350), x = 300;
      double height = foot / 4 * g_rand_double_range (random, 0.95, 1.05), width = 0.4 * height;
      if (g_rand_int_range (random, 0, 3) == 0)
        height *= g_rand_double_range (random, 0.2, 0.6);
      else if (g_rand_int_range (random, 0, 10) == 0)
        width *= 3;
      ccl_typical_size_learn (&size, &(CclBox){x, foot - height, x + width, foot});
    }
    if (frame >= 50 && frame < 55) /* a lamp is switched on */
      ccl_typical_size_learn (&size, &(CclBox){1, 1, 600, 350});
    ccl_typical_size_end_frame (&size, 1);
  }
  for (double foot = 140; foot < 350; foot += 20)
    g_assert_cmpfloat_with_epsilon (ccl_typical_height (&size, foot), foot / 4, 0.15 * foot / 4);
  g_rand_free (random);
}

/* Objects travel. LEAST_WAY is the default of ccltrack. */

#define LEAST_WAY 0.3

static const guint rates[] = {5, 10, 25};

static Scene *
scene_new_of_rate (guint rate)
{
  Scene *scene = scene_new ();
  scene->options.frame_rate = rate;
  scene->options.least_way = LEAST_WAY;
  return scene;
}

/* A leaf of 40×30 pixels swings by 4 pixels to each side, a flag of 60×40 blows to 40 % more on its
 * free side, and an insect of 30×30 on the lens is anywhere within 5 pixels. Each is missing in one
 * of 12 frames. */
static void
test_what_moves_in_its_place_is_no_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    GRand *random = g_rand_new_with_seed (r);
    for (guint i = 0; i < 60 * rates[r]; i++) {
      const double seconds = (double)i / rates[r];
      CclComponent rows[3];
      guint n = 0;
      if (g_rand_int_range (random, 0, 12))
        rows[n++] = box (100 + (guint)lrint (4 + 4 * sin (4 * seconds)), 100, 40, 30);
      if (g_rand_int_range (random, 0, 12))
        rows[n++] = box (300, 100, 60 + (guint)lrint (12 + 12 * sin (9 * seconds)), 40);
      if (g_rand_int_range (random, 0, 12))
        rows[n++] = box (
            500 + g_rand_int_range (random, 0, 6), 200 + g_rand_int_range (random, 0, 6), 30, 30);
      scene_run (scene, rows, n);
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 0);
    g_rand_free (random);
    scene_free (scene);
  }
}

/* An insect of 30×22 pixels walks about on the glass for 25 s, by chance, within some 30
 * pixels: it has no track. A person who comes out of a door in the middle of the picture is
 * a track within a second. */
static void
test_what_appears_and_walks_by_chance_is_no_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    GRand *random = g_rand_new_with_seed (r);
    const double kept = rates[r] > 10 ? 0.96 : 0.9, step = rates[r] > 10 ? 4.7 : 7.5;
    double place[2] = {0, 0};
    for (guint i = 0; i < 5 * rates[r]; i++)
      scene_run (scene, NULL, 0);
    for (guint i = 0; i < 25 * rates[r]; i++) {
      for (guint axis = 0; axis < 2; axis++)
        place[axis] = kept * place[axis] + g_rand_double_range (random, -step, step);
      run (scene, box ((guint)lrint (300 + place[0]), (guint)lrint (200 + place[1]), 30, 22));
    }
    const guint n = scene->n_events[CUDACCL_TRACK_APPEARED];
    g_test_message ("%u/s: %u tracks in 25 s", rates[r], n);
    g_assert_cmpuint (n, ==, 0);
    for (guint i = 0; i < rates[r]; i++)
      run (scene, box (100 + 60 * i / rates[r], 100, 30, 80));
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, n + 1);
    g_rand_free (random);
    scene_free (scene);
  }
}

/* Two people walk as one component. When one stands still and the other one walks on, both have a
 * track, from the third frame in which they are apart. */
static void
test_who_comes_out_of_a_component_has_a_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    for (guint i = 0; i < 3 * rates[r]; i++)
      run (scene, box (20 + 60 * i / rates[r], 100, 60, 80));
    for (guint i = 0; i < 8; i++) {
      const guint x = 200 + 60 * i / rates[r];
      CclComponent rows[] = {box (200, 100, 30, 80), box (x + 32, 100, 30, 80)};
      scene_run (scene, rows, 2);
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 2);
    scene_free (scene);
  }
}

/* Each of 24 leaves of 10 to 20 pixels flashes up in half of the frames, within 10 pixels. */
static void
flicker (Scene *scene, GRand *random, guint seconds)
{
  for (guint i = 0; i < seconds * scene->options.frame_rate; i++) {
    CclComponent rows[24];
    guint n = 0;
    for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
      if (g_rand_boolean (random))
        rows[n++] = box (100 + k % 6 * 30 + g_rand_int_range (random, 0, 11),
            50 + k / 6 * 30 + g_rand_int_range (random, 0, 11), g_rand_int_range (random, 10, 21),
            g_rand_int_range (random, 10, 21));
    scene_run (scene, rows, n);
  }
}

/* After a minute the tree is known as restless, and has a quarter at most of the tracks that it has
 * where no way is asked for. An object that walks through it then is confirmed. */
static void
test_flicker_is_learnt_as_restless (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    guint n[2];
    for (guint asks = 0; asks < 2; asks++) {
      Scene *scene = scene_new_of_rate (rates[r]);
      GRand *random = g_rand_new_with_seed (r);
      scene->options.least_way = asks ? LEAST_WAY : 0;
      flicker (scene, random, 60);
      n[asks] = scene->n_events[CUDACCL_TRACK_APPEARED];
      flicker (scene, random, 60);
      n[asks] = scene->n_events[CUDACCL_TRACK_APPEARED] - n[asks];
      const guint before = scene->n_events[CUDACCL_TRACK_APPEARED];
      for (guint i = 0; i < 4 * rates[r]; i++)
        run (scene, box (20 + 60 * i / rates[r], 100, 40, 90));
      g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, before + 1);
      g_rand_free (random);
      scene_free (scene);
    }
    g_test_message ("%u/s: %u tracks a minute, %u without a least way", rates[r], n[1], n[0]);
    g_assert_cmpuint (4 * n[1], <=, n[0]);
  }
}

/* Waves of 24 to 36 × 16 to 24 pixels: each appears anywhere within 400×200 pixels, goes 60 pixels
 * a second to the left, as all do, and is gone after least to most seconds. */
typedef struct Wave {
  double x, y, left; /* left: seconds */
  guint width, height;
} Wave;

typedef struct Sea {
  guint n_waves;
  double least, most;
} Sea;

static void
move_waves (const Sea *sea, Wave waves[16], CclComponent rows[16], GRand *random, double elapsed)
{
  for (guint k = 0; k < sea->n_waves; k++) {
    if (waves[k].left <= 0)
      waves[k] = (Wave){g_rand_double_range (random, MAX (160, 60 * sea->most), 560),
          g_rand_double_range (random, 120, 320),
          g_rand_double_range (random, sea->least, sea->most),
          (guint)g_rand_int_range (random, 24, 37), (guint)g_rand_int_range (random, 16, 25)};
    waves[k].left -= elapsed;
    waves[k].x -= 60 * elapsed;
    rows[k] = box ((guint)waves[k].x, (guint)waves[k].y, waves[k].width, waves[k].height);
  }
}

/* A boat, above the waves, comes in from the left. */
static CclComponent
boat_at (double way, guint width, guint height)
{
  const guint left = (guint)MAX (way - width, 0);
  return box (left, 20, MAX ((guint)MIN (way, width), 1), height);
}

/* Whether a confirmed track has at least this height and its foot above the waves. */
static gboolean
has_boat (const Scene *scene, guint height)
{
  for (guint i = 0; i < scene->tracks.n_tracks; i++) {
    const CclTrack *t = &scene->tracks.tracks[i];
    if (t->state == CUDACCL_TRACK_CONFIRMED && t->height >= 0.9 * height && t->y + t->height < 110)
      return TRUE;
  }
  return FALSE;
}

enum { MOST_WAVES = 40 }; /* that have tracks */

static void
check_waves (const Sea *sea, guint rate, guint width, guint height)
{
  Scene *scene = scene_new_of_rate (rate);
  GRand *random = g_rand_new_with_seed (rate);
  Wave waves[16] = {{0}};
  CclComponent rows[17];
  const guint n = sea->n_waves;
  guint before = 0, after = 0;
  for (guint i = 0; i < 35 * rate; i++) {
    const double seconds = (double)i / rate;
    before = seconds <= 10 ? scene->n_events[CUDACCL_TRACK_APPEARED] : before;
    after = seconds <= 30 ? scene->n_events[CUDACCL_TRACK_APPEARED] : after;
    move_waves (sea, waves, rows, random, 1.0 / rate);
    rows[n] = boat_at (60 * MAX (seconds - 30, 0), width, height);
    scene_run (scene, rows, seconds > 30 ? n + 1 : n);
  }
  g_test_message ("%u/s: %u tracks in 20 s", rate, after - before);
  g_assert_cmpuint (after - before, <=, MOST_WAVES);
  g_assert_true (has_boat (scene, height));
  g_rand_free (random);
  scene_free (scene);
}

/* Each wave goes farther than its own size, and yet at most 40 of some 240 in 20 s have tracks,
 * where more than 130 had with a least way alone. A boat that comes in then has one within 5 s,
 * also where it is hardly larger than a wave. */
static void
test_waves_that_travel_are_no_tracks (void)
{
  for (guint r = 1; r < G_N_ELEMENTS (rates); r++) {
    check_waves (&(Sea){16, 0.7, 2}, rates[r], 140, 70);
    check_waves (&(Sea){16, 0.7, 2}, rates[r], 50, 40);
  }
}

/* 8 waves last for 2.5 to 4 s, so that each can outlive those that are lost. */
static void
test_waves_that_last_are_no_tracks (void)
{
  for (guint r = 1; r < G_N_ELEMENTS (rates); r++)
    check_waves (&(Sea){8, 2.5, 4}, rates[r], 140, 70);
}

/* Above waves that last, something of their size appears in the picture and goes 100 pixels a
 * second to the left: it has a track within 2.5 s, though many waves did, too. */
static void
test_small_boat_among_waves_that_last (void)
{
  const Sea sea = {16, 2.5, 4};
  for (guint r = 1; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    GRand *random = g_rand_new_with_seed (rates[r]);
    Wave waves[16] = {{0}};
    CclComponent rows[17];
    for (guint i = 0; i < 225 * rates[r] / 10; i++) {
      const double way = 100 * MAX ((double)i / rates[r] - 20, 0);
      move_waves (&sea, waves, rows, random, 1.0 / rates[r]);
      rows[16] = box ((guint)lrint (520 - way), 80, 30, 22);
      scene_run (scene, rows, way > 0 ? 17 : 16);
    }
    g_assert_true (has_boat (scene, 22));
    g_rand_free (random);
    scene_free (scene);
  }
}

/* Above waves, something of their size goes 60 pixels a second to the left for 7 s, and meanwhile
 * 20 pixels up and down once a second, as the tops of waves do that are taken for one object. */
static void
test_what_winds_like_waves_is_no_track (void)
{
  const Sea sea = {16, 0.7, 2};
  for (guint r = 1; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    GRand *random = g_rand_new_with_seed (r);
    Wave waves[16] = {{0}};
    CclComponent rows[17];
    for (guint i = 0; i < 17 * rates[r]; i++) {
      const double way = 60 * MAX ((double)i / rates[r] - 10, 0);
      move_waves (&sea, waves, rows, random, 1.0 / rates[r]);
      rows[16] = box (
          (guint)lrint (520 - way), (guint)lrint (80 + 20 * sin (2 * G_PI / 60 * way)), 30, 22);
      scene_run (scene, rows, way > 0 ? 17 : 16);
      g_assert_false (has_boat (scene, 22));
    }
    g_rand_free (random);
    scene_free (scene);
  }
}

/* After 2 s a gust begins: 24 leaves of 30×20 pixels at a time. Each goes 100 pixels a second to
 * one side for some 0.4 s, and then another one begins near it. In the first second, twenty go far
 * enough for a track, and five of them at most have one. */
static void
test_what_begins_in_numbers_is_no_track (void)
{
  for (guint r = 1; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    GRand *random = g_rand_new_with_seed (r);
    Wave leaves[24] = {{0}};
    CclComponent rows[24];
    for (guint i = 0; i < 3 * rates[r]; i++) {
      for (guint k = 0; k < 24; k++) {
        if (leaves[k].left <= 0)
          leaves[k] = (Wave){.x = 60 + 80 * (k % 6),
              .y = 40 + 60 * (k / 6) + g_rand_int_range (random, 0, 30),
              .left = g_rand_double_range (random, 0.3, 0.5)};
        leaves[k].left -= 1.0 / rates[r];
        leaves[k].x += 100.0 / rates[r];
        rows[k] = box ((guint)leaves[k].x, (guint)leaves[k].y, 30, 20);
      }
      scene_run (scene, rows, i < 2 * rates[r] ? 0 : 24);
    }
    g_test_message ("%u/s: %u tracks", rates[r], scene->n_events[CUDACCL_TRACK_APPEARED]);
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], <=, 5);
    g_rand_free (random);
    scene_free (scene);
  }
}

/* 18 people are there from the first frame on, and each walks: all have tracks within 2 s. */
static void
test_crowd_of_the_first_frame_has_tracks (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    CclComponent rows[18];
    for (guint i = 0; i < 2 * rates[r]; i++) {
      for (guint k = 0; k < 18; k++)
        rows[k] = box (20 + 60 * (k % 9) + 25 * i / rates[r], 40 + 140 * (k / 9), 30, 70);
      scene_run (scene, rows, 18);
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 18);
    scene_free (scene);
  }
}

/* A flag of 60×40 pixels blows 30 pixels to one side in the first second, and to and fro afterwards
 * for a minute: its track ends within 4 s, and no other one follows. */
static void
test_what_comes_back_again_and_again_loses_its_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    for (guint i = 0; i < 60 * rates[r]; i++) {
      run (scene, box (300 + (guint)lrint (30 * sin (2 * (double)i / rates[r])), 100, 60, 40));
      if (i == rates[r])
        g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
      if (i == 4 * rates[r])
        g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 1);
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
    scene_free (scene);
  }
}

/* A fan of 60×60 pixels, whose edges tremble by a pixel, becomes background within 20 s, but for a
 * bright part of 26 pixels, which goes round in 1.8 s. Neither has a track, nor have they later. A
 * person who walks in, and past the fan, has one. */
static void
test_part_of_a_place_that_moves_for_ever_is_no_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    GRand *random = g_rand_new_with_seed (r);
    for (guint i = 0; i < 60 * rates[r]; i++) {
      const double seconds = (double)i / rates[r], angle = 2 * G_PI / 1.8 * seconds;
      if (seconds < 20)
        run (scene, box (400 + g_rand_int_range (random, 0, 3), 100, 60, 60));
      else if (seconds < 20.5)
        scene_run (scene, NULL, 0);
      else
        run (scene, box (417 + (guint)lrint (17 * cos (angle)),
                        117 + (guint)lrint (17 * sin (angle)), 26, 26));
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 0);
    for (guint i = 0; i < 6 * rates[r]; i++)
      run (scene, box (100 * i / rates[r], 80, 30, 80));
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
    g_rand_free (random);
    scene_free (scene);
  }
}

/* A car crosses 640 pixels in 0.8 s at 5 frames a second. */
static void
test_fast_object_is_confirmed_in_its_third_frame (void)
{
  Scene *scene = scene_new_of_rate (5);
  for (guint i = 0; i < 20; i++)
    scene_run (scene, NULL, 0);
  run (scene, box (0, 150, 60, 60)); /* it enters */
  run (scene, box (110, 150, 110, 60));
  run (scene, box (270, 150, 110, 60));
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
  run (scene, box (430, 150, 110, 60));
  const guint64 id = id_of_row (scene, 0);
  run (scene, box (590, 150, 50, 60));
  g_assert_cmpuint (id_of_row (scene, 0), ==, id);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
  scene_free (scene);
}

/* A cyclist crosses 640 pixels in 0.4 s, while somebody walks there. */
static void
test_object_that_crosses_in_four_tenths_of_a_second (void)
{
  static const guint fast_rates[] = {10, 25};
  for (guint r = 0; r < G_N_ELEMENTS (fast_rates); r++) {
    Scene *scene = scene_new_of_rate (fast_rates[r]);
    for (guint i = 0; i < 5 * fast_rates[r]; i++) {
      const double seconds = (double)i / fast_rates[r];
      const guint x = (guint)MAX (lrint (1600 * (seconds - 4.03)), 0);
      CclComponent rows[2] = {box ((guint)lrint (30 * seconds), 20, 40, 90), box (x, 200, 54, 108)};
      scene_run (scene, rows, seconds > 4.03 && x + 54 < WIDTH ? 2 : 1);
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 2);
    scene_free (scene);
  }
}

/* Things of one size that flash up far from each other, in no line, are no fast object. */
static void
test_flashes_are_no_leaps (void)
{
  static const guint places[][2] = {
      {50, 50}, {200, 60}, {80, 200}, {300, 50}, {180, 250}, {60, 60}};
  Scene *scene = scene_new_of_rate (5);
  for (guint i = 0; i < 80; i++)
    run (scene, box (places[i % 6][0], places[i % 6][1], 60, 60));
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 0);
  scene_free (scene);
}

/* At 20,000 frames a second, two seconds are 40,000 runs. An object appears at another place
 * every fourth frame. Tracks that are lost for longest end, so that each object has its track. */
static void
test_lost_tracks_are_limited (void)
{
  Scene *scene = scene_new ();
  scene->options.frame_rate = 10000; /* the highest */
  scene->options.max_lost = 40000;
  for (guint i = 0; i < 200; i++) {
    CclComponent object = box (32 * (i % 20), 33 * (i / 20), 20, 24);
    for (guint j = 0; j < 4; j++)
      scene_run (scene, &object, j < 3);
    const CclTracks *tracks = &scene->tracks;
    g_assert_cmpuint (tracks->n_tracks, ==, MIN (i + 1, 32)); /* half of 64 */
    g_assert_cmpuint (tracks->tracks[0].id, ==, i < 32 ? 1 : i - 30);
    g_assert_cmpuint (tracks->tracks[tracks->n_tracks - 1].id, ==, i + 1);
  }
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 200);
  g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 168);
  scene_free (scene);
}

/* A detector gives thousands of boxes about one place, all of which overlap. */
static void
test_flood_of_detections_takes_bounded_time (void)
{
  enum { N = 4096, FRAMES = 3 };
  CclError error;
  Scene *scene = scene_new ();
  ccl_tracker_free (&scene->tracker);
  const CclTrackerPlan plan = {
      .width = WIDTH, .height = HEIGHT, .max_tracks = 1024, .max_components = N};
  scene->tracker = ccl_tracker_new (&plan, &error);
  scene->options.whole_objects = 1;
  CclComponent *rows = g_new (CclComponent, N);
  GRand *random = g_rand_new_with_seed (38);
  const clock_t begin = clock ();
  for (guint i = 0; i < FRAMES; i++) {
    for (guint j = 0; j < N; j++)
      rows[j] = box (100 + (guint)g_rand_int_range (random, 0, 9),
          100 + (guint)g_rand_int_range (random, 0, 9), 200, 100);
    scene_run (scene, rows, N);
    g_assert_cmpuint (scene->tracks.n_tracks, ==, plan.max_tracks);
  }
  g_assert_cmpfloat ((double)(clock () - begin) / CLOCKS_PER_SEC / FRAMES, <, 1);
  g_rand_free (random);
  g_free (rows);
  scene_free (scene);
}

/* A person walks 60 pixels a second and is hidden for 2 s, in which it goes on, goes at half of the
 * speed, stops, or turns back. */
static void
test_hidden_person_comes_back_after_two_seconds (void)
{
  static const double factors[] = {1, 0.5, 0, -0.5};
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++)
    for (guint f = 0; f < G_N_ELEMENTS (factors); f++) {
      Scene *scene = scene_new_of_rate (rates[r]);
      scene->options.max_lost = 9 * rates[r] / 4;
      for (guint i = 0; i < 7 * rates[r]; i++) {
        const double seconds = (double)i / rates[r];
        const double hidden = CLAMP (seconds - 3, 0, 2);
        const double x = 60 * (seconds - hidden + factors[f] * hidden);
        CclComponent person = box ((guint)lrint (20 + x), 100, 30, 80);
        scene_run (scene, &person, seconds >= 3 && seconds < 5 ? 0 : 1);
        if (seconds >= 5)
          g_assert_cmpuint (id_of_row (scene, 0), ==, 1);
      }
      g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
      g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_VANISHED], ==, 0);
      scene_free (scene);
    }
}

static void
test_person_who_walked_in_stays_a_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    for (guint i = 0; i < 124 * rates[r]; i++) {
      const double seconds = (double)i / rates[r];
      const double x = seconds < 4 ? 60 * seconds : 240 + 4 * sin (3 * (seconds - 4));
      run (scene, box ((guint)lrint (20 + x), 100, 30, 80));
      if (seconds < 1)
        continue;
      g_assert_cmpuint (id_of_row (scene, 0), ==, 1);
      g_assert_cmpint (scene->tracks.tracks[0].state, !=, CUDACCL_TRACK_TENTATIVE);
    }
    g_assert_cmpuint (scene->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
    scene_free (scene);
  }
}

/* A car parks and is static after 2 s. It becomes background from the left to the right, which is
 * no motion; when it leaves, it moves. */
static void
test_what_becomes_background_stays_static (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *scene = scene_new_of_rate (rates[r]);
    scene->options.static_frames = 2 * rates[r];
    for (guint i = 0; i < 12 * rates[r]; i++) {
      const double seconds = (double)i / rates[r];
      const guint hidden = (guint)lrint (CLAMP (seconds - 8, 0, 3) * 20);
      const guint left = (guint)lrint (60 * MIN (seconds, 4));
      run (scene, box (left + hidden, 200, 120 - hidden, 60));
      if (seconds > 6.5)
        g_assert_cmpint (scene->tracks.tracks[0].state, ==, CUDACCL_TRACK_STATIC);
    }
    for (guint i = 1; i <= rates[r]; i++)
      run (scene, box (300 + 60 * i / rates[r], 200, 60, 60));
    g_assert_cmpint (scene->tracks.tracks[0].state, ==, CUDACCL_TRACK_CONFIRMED);
    scene_free (scene);
  }
}

/* A fifth of the own height in a second; and a car that parked from the first frame on and leaves
 * after 20 s. */
static void
test_slow_and_parked_objects_have_one_track (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++) {
    Scene *slow = scene_new_of_rate (rates[r]), *parked = scene_new_of_rate (rates[r]);
    for (guint i = 0; i < 2 * rates[r]; i++)
      run (slow, box (100 + 16 * i / rates[r], 100, 30, 80));
    g_assert_cmpuint (slow->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
    for (guint i = 0; i < 22 * rates[r]; i++) {
      const double gone = MAX ((double)i / rates[r] - 20, 0);
      run (parked, box ((guint)lrint (100 + 40 * gone * gone), 200, 120, 60));
    }
    g_assert_cmpuint (parked->n_events[CUDACCL_TRACK_APPEARED], ==, 1);
    scene_free (slow);
    scene_free (parked);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define add(name) g_test_add_func ("/tracker/" #name, test_##name)
  add (assignment_costs_as_little_as_brute_force);
  add (one_object_keeps_its_identity);
  add (identities_do_not_jump);
  add (crossing_objects_keep_their_identities);
  add (hidden_object_comes_back_as_itself);
  add (identities_are_not_used_again);
  add (object_in_fragments_is_one_track);
  add (noise_of_two_frames_is_not_confirmed);
  add (dropped_frames_do_not_matter);
  add (resting_object_becomes_static);
  add (object_enters_and_leaves_through_the_border);
  add (thin_things_that_stick_out_do_not_move_the_box);
  add (box_swings_with_the_limbs);
  add (shared_component_carries_its_objects);
  add (object_hidden_behind_another_ends_after_max_lost);
  add (object_that_begins_in_fragments_is_one_track);
  add (person_in_fragments_crosses_a_line_once);
  add (small_objects_must_go_somewhere);
  add (people_who_came_together_separate);
  add (tracks_of_fragments_become_one);
  add (typical_height_follows_perspective);
  add (specks_in_the_box_of_a_whole_object_are_ignored);
  add (whole_objects);
  add (box_that_fits_badly_is_measured_anew);
  add (more_components_than_planned);
  add (same_tables_give_same_bits);
  add (pixels_distinguish_objects_whose_boxes_overlap);
  add (pixels_say_which_component_is_shared);
  add (single_label_maps_have_no_effect);
  add (shared_pixels_are_those_of_the_sampled_rows);
  add (any_label_map_is_safe);
  add (frame_rate_does_not_change_the_tracks);
  add (what_moves_in_its_place_is_no_track);
  add (what_appears_and_walks_by_chance_is_no_track);
  add (what_becomes_background_stays_static);
  add (who_comes_out_of_a_component_has_a_track);
  add (flicker_is_learnt_as_restless);
  add (waves_that_travel_are_no_tracks);
  add (waves_that_last_are_no_tracks);
  add (what_comes_back_again_and_again_loses_its_track);
  add (small_boat_among_waves_that_last);
  add (what_winds_like_waves_is_no_track);
  add (what_begins_in_numbers_is_no_track);
  add (crowd_of_the_first_frame_has_tracks);
  add (part_of_a_place_that_moves_for_ever_is_no_track);
  add (fast_object_is_confirmed_in_its_third_frame);
  add (object_that_crosses_in_four_tenths_of_a_second);
  add (flashes_are_no_leaps);
  add (lost_tracks_are_limited);
  add (flood_of_detections_takes_bounded_time);
  add (hidden_person_comes_back_after_two_seconds);
  add (person_who_walked_in_stays_a_track);
  add (slow_and_parked_objects_have_one_track);
  add (bad_arguments_change_nothing);
  return g_test_run ();
}
