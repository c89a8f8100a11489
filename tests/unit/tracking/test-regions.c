/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of regions and lines: the events of tracks that are moved by hand. The geometry is compared
 * with one of another kind: triangles for polygons, and polygons for lines. */
#include <cudaccl/regions.h>

#include <glib.h>
#include <math.h>
#include <string.h>

#define WIDTH 640
#define HEIGHT 480
#define MAX_TRACKS 8
#define SECOND G_GUINT64_CONSTANT (1000000000)

typedef struct {
  CclRegions *regions;
  CclRegionsOptions options;
  CclTrack tracks[MAX_TRACKS];
  double speeds[MAX_TRACKS];
  guint n;
  CclRegionsResult result;
} Scene;

static const CclPoint yard[] = {{100, 100}, {300, 100}, {300, 300}, {100, 300}};
static const CclPoint gate[] = {
    {400, 100}, {400, 300}}; /* downwards: its right side is in the west */

#define YARD                                                                                       \
  {                                                                                                \
    .name = "yard", .kind = CUDACCL_REGION_POLYGON, .n_points = 4, .points = yard,                 \
    .stay = 2 * SECOND                                                                             \
  }
#define GATE                                                                                       \
  {                                                                                                \
    .name = "gate", .kind = CUDACCL_REGION_LINE, .n_points = 2, .points = gate                     \
  }

static const CclRegion yard_and_gate[] = {YARD, GATE};

static CclRegions *
make (const CclRegion *regions, guint n)
{
  const CclRegionsPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .max_tracks = MAX_TRACKS,
      .n_regions = n,
      .regions = regions};
  CclError error = {0};
  CclRegions *made = ccl_regions_new (&plan, &error);

  g_assert_cmpstr (error.message, ==, "");
  g_assert_nonnull (made);
  return made;
}

static Scene *
scene_new (const CclRegion *regions, guint n, guint settle_frames)
{
  Scene *scene = g_new0 (Scene, 1);

  scene->regions = make (regions, n);
  scene->options.settle_frames = settle_frames;
  return scene;
}

static void
scene_free (Scene *scene)
{
  ccl_regions_free (&scene->regions);
  g_assert_null (scene->regions);
  g_free (scene);
}

/* Adds a track to the next frame; its foot point is (x, y). */
static CclTrack *
put (Scene *scene, guint64 id, double x, double y)
{
  scene->speeds[scene->n] = -1;
  scene->tracks[scene->n] = (CclTrack){.id = id,
      .state = CUDACCL_TRACK_CONFIRMED,
      .x = x - 10,
      .y = y - 50,
      .width = 20,
      .height = 50};
  return &scene->tracks[scene->n++];
}

/* Runs a frame with the tracks that were put. Returns its events as text. */
static gchar *
run (Scene *scene, guint64 elapsed)
{
  static const char *const kinds[] = {
      "entered", "left", "stayed", "forward", "backward", "faster", "slower"};
  const CclTracks tracks = {.n_tracks = scene->n, .tracks = scene->tracks};
  GString *text = g_string_new (NULL);
  CclError error;

  scene->options.speeds = scene->speeds;
  g_assert_cmpint (
      ccl_regions_run (scene->regions, &tracks, elapsed, &scene->options, &scene->result, &error),
      ==, CUDACCL_OK);
  scene->n = 0;
  for (guint i = 0; i < scene->result.n_events; i++) {
    const CclRegionEvent *event = &scene->result.events[i];
    g_string_append_printf (
        text, "%s%u %s %u", i > 0 ? ", " : "", (guint)event->id, kinds[event->kind], event->region);
  }
  return g_string_free (text, FALSE);
}

static void
expect (Scene *scene, guint64 elapsed, const char *expected)
{
  gchar *events = run (scene, elapsed);

  g_assert_cmpstr (events, ==, expected);
  g_free (events);
}

/* One track at a place. */
static void
step (Scene *scene, double x, double y, const char *expected)
{
  put (scene, 1, x, y);
  expect (scene, SECOND / 25, expected);
}

static void
test_track_enters_and_leaves (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);

  step (scene, 50, 200, "");
  step (scene, 99, 200, "");
  step (scene, 100, 200, "1 entered 0"); /* the border is inside */
  step (scene, 300, 300, "");
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 1);
  step (scene, 301, 300, "1 left 0");
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 0);
  g_assert_cmpuint (scene->result.counts[0].entered, ==, 1);
  g_assert_cmpuint (scene->result.counts[0].left, ==, 1);
  scene_free (scene);
}

static void
test_track_appears_and_ends_inside (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);

  step (scene, 200, 200, "1 entered 0");
  expect (scene, SECOND, "1 left 0");
  expect (scene, SECOND, "");
  scene_free (scene);
}

static void
test_directions_of_a_line (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);

  step (scene, 450, 200, "");
  step (scene, 350, 210, "1 forward 1"); /* to the west */
  step (scene, 350, 90, "");
  step (scene, 450, 90, ""); /* past its end */
  step (scene, 350, 200, "1 forward 1");
  step (scene, 450, 200, "1 backward 1");
  g_assert_cmpuint (scene->result.counts[1].forward, ==, 2);
  g_assert_cmpuint (scene->result.counts[1].backward, ==, 1);
  scene_free (scene);
}

/* A way that ends on the line and goes on counts once; one that returns does not count. */
static void
test_place_on_a_line (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);

  step (scene, 450, 200, "");
  step (scene, 400, 200, "");
  step (scene, 450, 200, "");
  step (scene, 400, 200, "");
  step (scene, 399, 200, "1 forward 1");
  step (scene, 400, 200, "1 backward 1");
  step (scene, 450, 200, "");
  scene_free (scene);
}

/* A box that trembles on a border or a line gives no events. */
static void
test_changes_must_settle (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 3);

  for (guint i = 0; i < 21; i++)
    step (scene, i % 2 ? 101 : 99, 200, "");
  step (scene, 110, 200, "");
  step (scene, 110, 200, "");
  step (scene, 110, 200, "1 entered 0");
  for (guint i = 0; i < 20; i++)
    step (scene, i % 3 ? 99 : 101, 200, "");
  step (scene, 200, 400, "");
  step (scene, 450, 400, "1 left 0");
  step (scene, 450, 200, "");
  for (guint i = 0; i < 20; i++)
    step (scene, i % 2 ? 401 : 399, 200, "");
  step (scene, 399, 200, "");
  step (scene, 399, 200, "");
  step (scene, 399, 200, "1 forward 1");
  step (scene, 401, 200, "");
  expect (scene, 0, "1 backward 1"); /* it ended behind the line */
  scene_free (scene);
}

static void
test_stay (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 2);

  for (guint visit = 0; visit < 2; visit++) {
    step (scene, 200, 200, "");
    put (scene, 1, 200, 200);
    expect (scene, SECOND, "1 entered 0");
    put (scene, 1, 200, 200);
    expect (scene, SECOND - 1, "");
    put (scene, 1, 200, 200);
    expect (scene, 1, "1 stayed 0");
    put (scene, 1, 200, 200);
    expect (scene, 10 * SECOND, "");
    step (scene, 50, 200, "");
    step (scene, 50, 200, "1 left 0");
  }
  g_assert_cmpuint (scene->result.counts[0].stayed, ==, 2);
  scene_free (scene);
}

/* Tentative tracks have no events; when they are confirmed, what they did counts. */
static void
test_tentative_track (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 2);

  put (scene, 1, 450, 200)->state = CUDACCL_TRACK_TENTATIVE;
  put (scene, 2, 200, 200)->state = CUDACCL_TRACK_TENTATIVE;
  put (scene, 3, 200, 200)->state = CUDACCL_TRACK_TENTATIVE;
  expect (scene, SECOND, "");
  for (guint i = 0; i < 3; i++) {
    put (scene, 1, 350, 200)->state = CUDACCL_TRACK_TENTATIVE;
    put (scene, 2, 200, 200)->state = CUDACCL_TRACK_TENTATIVE;
    expect (scene, SECOND, "");
  }
  put (scene, 1, 340, 200);
  put (scene, 2, 200, 200);
  expect (scene, SECOND, "1 forward 1, 2 entered 0, 2 stayed 0");
  scene_free (scene);
}

/* The predicted box of a lost track may be anywhere. */
static void
test_lost_track_stays (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);

  step (scene, 200, 200, "1 entered 0");
  put (scene, 1, 450, 200)->state = CUDACCL_TRACK_LOST;
  expect (scene, SECOND, "");
  put (scene, 1, 200, 200);
  expect (scene, SECOND, "1 stayed 0");
  put (scene, 1, 600, 200)->state = CUDACCL_TRACK_LOST;
  expect (scene, SECOND, "");
  expect (scene, SECOND, "1 left 0");
  scene_free (scene);
}

/* The foot point of a box that reaches out of the frame is at the frame's border. */
static void
test_anchors (void)
{
  static const CclPoint floor_points[] = {{0, 0.9}, {1, 0.9}, {1, 1}, {0, 1}};
  static const CclRegion floor_region = {.name = "floor",
      .kind = CUDACCL_REGION_POLYGON,
      .relative = true,
      .n_points = 4,
      .points = floor_points};
  Scene *scene = scene_new (&floor_region, 1, 1);

  step (scene, 200, 0.9 * HEIGHT - 1, "");
  step (scene, 200, 0.9 * HEIGHT, "1 entered 0");
  step (scene, WIDTH + 30, HEIGHT + 30, "");
  scene->options.anchor = CUDACCL_ANCHOR_CENTER;
  step (scene, 200, 0.9 * HEIGHT + 24, "1 left 0");
  step (scene, 200, 0.9 * HEIGHT + 25, "1 entered 0");
  scene_free (scene);
}

/* Identities may have gaps; tracks end and begin in the same frame. */
static void
test_many_tracks (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);

  put (scene, 3, 200, 200);
  put (scene, 5, 200, 200);
  put (scene, 9, 50, 200);
  expect (scene, SECOND, "3 entered 0, 5 entered 0");
  put (scene, 2, 200, 200);
  put (scene, 5, 50, 200);
  put (scene, 9, 200, 200);
  put (scene, 12, 200, 200);
  expect (scene, SECOND, "2 entered 0, 3 left 0, 5 left 0, 9 entered 0, 12 entered 0");
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 3);
  ccl_regions_reset (scene->regions);
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 0);
  g_assert_cmpuint (scene->result.counts[0].entered, ==, 5);
  put (scene, 20, 200, 200);
  expect (scene, SECOND, "20 entered 0");
  scene_free (scene);
}

/* One track at a place, with a speed in km/h. */
static void
drive (Scene *scene, double x, double speed, const char *expected)
{
  put (scene, 1, x, 200);
  scene->speeds[0] = speed;
  expect (scene, SECOND / 25, expected);
}

static const CclRegion limits[] = {
    {.name = "yard",
        .kind = CUDACCL_REGION_POLYGON,
        .n_points = 4,
        .points = yard,
        .faster_than = 10,
        .slower_than = 2},
    {.name = "gate",
        .kind = CUDACCL_REGION_LINE,
        .n_points = 2,
        .points = gate,
        .faster_than = 10,
        .slower_than = 2},
};

static void
test_limits_of_speed (void)
{
  Scene *scene = scene_new (limits, 1, 1);

  drive (scene, 50, 30, ""); /* outside */
  drive (scene, 110, 10, "1 entered 0");
  drive (scene, 120, 10.1, "1 faster 0");
  g_assert_cmpfloat (scene->result.events[0].speed, ==, 10.1);
  drive (scene, 130, 9.5, ""); /* less than a tenth below the limit */
  drive (scene, 140, 10.1, "");
  drive (scene, 150, -1, ""); /* not known */
  drive (scene, 150, NAN, "");
  drive (scene, 160, 8.9, "");
  drive (scene, 170, 20, "1 faster 0");
  drive (scene, 180, 1.9, "1 slower 0");
  drive (scene, 190, 2.1, "");
  drive (scene, 200, 1.9, "");
  drive (scene, 210, 2.3, "");
  drive (scene, 220, 1, "1 slower 0");
  drive (scene, 50, 1, "1 left 0");
  drive (scene, 60, 30, "");
  drive (scene, 110, 30, "1 entered 0, 1 faster 0"); /* another visit */
  g_assert_cmpuint (scene->result.counts[0].faster, ==, 3);
  g_assert_cmpuint (scene->result.counts[0].slower, ==, 2);
  scene_free (scene);
}

/* A speed that trembles at the limit is reported once, and only when it stays beyond. */
static void
test_trembling_speeds (void)
{
  Scene *scene = scene_new (limits, 1, 3);

  for (guint i = 0; i < 3; i++)
    drive (scene, 110, 5, i == 2 ? "1 entered 0" : "");
  for (guint i = 0; i < 21; i++)
    drive (scene, 110, i % 3 == 2 ? 9 : 11, "");
  for (guint i = 0; i < 20; i++)
    drive (scene, 110, i % 2 ? 9.2 : 11, "");
  for (guint i = 0; i < 20; i++)
    drive (scene, 110, 11, i == 2 ? "1 faster 0" : "");
  for (guint i = 0; i < 20; i++)
    drive (scene, 110, i % 3 == 2 ? 11 : 8, "");
  scene_free (scene);
}

/* The speed of a crossing is that at the line, also if the event comes later. */
static void
test_speeds_at_a_line (void)
{
  Scene *scene = scene_new (limits, 2, 3);

  drive (scene, 390, 5, "");
  drive (scene, 410, 12, "");
  drive (scene, 420, 1, "");
  drive (scene, 430, 1, "1 backward 1, 1 faster 1");
  g_assert_cmpfloat (scene->result.events[0].speed, ==, 12);
  g_assert_cmpfloat (scene->result.events[1].speed, ==, 12);
  drive (scene, 390, 1.5, "");
  expect (scene, SECOND, "1 forward 1, 1 slower 1"); /* it ended */
  g_assert_cmpfloat (scene->result.events[1].speed, ==, 1.5);
  drive (scene, 390, 5, "");
  drive (scene, 410, -1, "");
  drive (scene, 410, 50, "");
  drive (scene, 410, 50, "1 backward 1");
  g_assert_cmpfloat (scene->result.events[0].speed, <, 0);
  g_assert_cmpuint (scene->result.counts[1].faster, ==, 1);
  g_assert_cmpuint (scene->result.counts[1].slower, ==, 1);
  scene_free (scene);
}

/* A visit begins and ends where the track was found inside first and last. */
static void
test_dwell_and_mean_speed (void)
{
  Scene *scene = scene_new (limits, 1, 2);

  drive (scene, 90, 90, "");
  drive (scene, 110, 4, "");
  drive (scene, 110, -1, "1 entered 0");
  drive (scene, 110, 6, "");
  put (scene, 1, 600, 200)->state = CUDACCL_TRACK_LOST;
  expect (scene, SECOND, "");
  drive (scene, 110, 8, "");
  drive (scene, 90, 90, "");
  drive (scene, 90, 90, "1 left 0");
  g_assert_cmpfloat_with_epsilon (scene->result.events[0].speed, 6, 1e-12);
  g_assert_cmpuint (scene->result.events[0].dwell, ==, SECOND + 3 * SECOND / 25);
  drive (scene, 110, -1, "");
  drive (scene, 110, -1, "1 entered 0");
  put (scene, 1, 600, 200)->state = CUDACCL_TRACK_LOST;
  expect (scene, SECOND, "");
  expect (scene, SECOND, "1 left 0");
  g_assert_cmpfloat (scene->result.events[0].speed, <, 0);
  g_assert_cmpuint (scene->result.events[0].dwell, ==, SECOND / 25);
  scene_free (scene);
}

static void
test_unchanged_regions_keep_their_counts (void)
{
  static const CclPoint moved_gate[] = {{410, 100}, {410, 300}};
  const CclRegion changed[] = {
      {.name = "gate", .kind = CUDACCL_REGION_LINE, .n_points = 2, .points = moved_gate}, YARD};
  Scene *scene = scene_new (yard_and_gate, 2, 1);
  CclRegions *former;

  step (scene, 450, 200, "");
  step (scene, 200, 200, "1 entered 0, 1 forward 1");
  former = scene->regions;
  scene->regions = make (changed, 2);
  ccl_regions_inherit (scene->regions, former);
  ccl_regions_free (&former);
  step (scene, 200, 200, "");
  g_assert_cmpuint (scene->result.counts[1].entered, ==, 1);
  g_assert_cmpuint (scene->result.counts[1].inside, ==, 1);
  g_assert_cmpuint (scene->result.counts[0].forward, ==, 0);
  step (scene, 450, 200, "1 backward 0, 1 left 1");
  scene_free (scene);
}

/* A set for fewer tracks than the former one has continues with the oldest. */
static void
test_more_tracks_than_fit_are_not_inside_for_ever (void)
{
  const CclRegionsPlan plan = {
      .width = WIDTH, .height = HEIGHT, .max_tracks = 2, .n_regions = 2, .regions = yard_and_gate};
  Scene *scene = scene_new (yard_and_gate, 2, 1);
  CclRegions *former = scene->regions;

  for (guint i = 1; i <= 4; i++)
    put (scene, i, 200, 200);
  expect (scene, SECOND, "1 entered 0, 2 entered 0, 3 entered 0, 4 entered 0");
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 4);
  scene->regions = ccl_regions_new (&plan, NULL);
  ccl_regions_inherit (scene->regions, former);
  ccl_regions_free (&former);
  put (scene, 1, 200, 200);
  put (scene, 2, 200, 200);
  expect (scene, SECOND, "");
  g_assert_cmpuint (scene->result.counts[0].entered, ==, 4);
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 2);
  expect (scene, SECOND, "1 left 0, 2 left 0");
  g_assert_cmpuint (scene->result.counts[0].inside, ==, 0);
  scene_free (scene);
}

/* Where a place is relative to a triangle: the areas with its corners add up inside. */
static gboolean
in_triangle (const CclPoint *a, const CclPoint *b, const CclPoint *c, double x, double y)
{
  const double whole = fabs ((b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x));
  const double parts = fabs ((a->x - x) * (b->y - y) - (a->y - y) * (b->x - x)) +
                       fabs ((b->x - x) * (c->y - y) - (b->y - y) * (c->x - x)) +
                       fabs ((c->x - x) * (a->y - y) - (c->y - y) * (a->x - x));

  return parts <= whole + 1e-6;
}

/* Stars with concave corners, made of triangles around their middle; places are odd multiples of
 * 1/256 pixel, so that few of them are on inner edges. */
static void
test_polygons_are_unions_of_triangles (void)
{
  CclPoint corners[16];
  guint n_inside = 0;

  for (guint star = 0; star < 20; star++) {
    const guint n = 3 + (guint)g_test_rand_int_range (0, 13);
    const CclPoint middle = {320.5, 240.25};
    const CclRegion region = {
        .name = "star", .kind = CUDACCL_REGION_POLYGON, .n_points = n, .points = corners};
    Scene *scene;

    for (guint i = 0; i < n; i++) {
      const double angle = 2 * G_PI * i / n, radius = g_test_rand_double_range (20, 230);
      corners[i] = (CclPoint){
          round (middle.x + radius * cos (angle)), round (middle.y + radius * sin (angle))};
    }
    scene = scene_new (&region, 1, 1);
    for (guint i = 0; i < 500; i++) {
      const double x = (2 * g_test_rand_int_range (0, 128 * WIDTH) + 1) / 256.0;
      const double y = (2 * g_test_rand_int_range (0, 128 * HEIGHT) + 1) / 256.0;
      gboolean expected = FALSE;

      for (guint t = 0; t < n; t++)
        expected |= in_triangle (&middle, &corners[t], &corners[(t + 1) % n], x, y);
      ccl_regions_reset (scene->regions);
      put (scene, i + 1, x, y);
      g_free (run (scene, 0));
      g_assert_cmpuint (scene->result.counts[0].inside, ==, expected);
      n_inside += expected;
    }
    scene_free (scene);
  }
  g_assert_cmpuint (n_inside, >, 500);
}

/* A way into a convex polygon crosses its sides once more forward than backward. */
static void
test_crossings_agree_with_polygons (void)
{
  static const CclPoint corners[] = {{120, 80}, {420, 60}, {560, 300}, {300, 440}, {90, 330}};
  CclPoint sides[5][2];
  CclRegion regions[6] = {
      {.name = "whole", .kind = CUDACCL_REGION_POLYGON, .n_points = 5, .points = corners}};
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  Scene *scene;
  guint n_changes = 0;

  for (guint i = 0; i < 5; i++) { /* clockwise: the inside is on the right */
    sides[i][0] = corners[i];
    sides[i][1] = corners[(i + 1) % 5];
    regions[i + 1] = (CclRegion){
        .name = names[i], .kind = CUDACCL_REGION_LINE, .n_points = 2, .points = sides[i]};
  }
  scene = scene_new (regions, 6, 1);
  for (guint i = 0; i < 5000; i++) {
    gint inside = 0;

    put (scene, 1, g_test_rand_double_range (0, WIDTH), g_test_rand_double_range (0, HEIGHT));
    g_free (run (scene, 0));
    for (guint side = 1; side < 6; side++)
      inside +=
          (gint)scene->result.counts[side].forward - (gint)scene->result.counts[side].backward;
    if (i == 0 && scene->result.counts[0].inside) { /* it must begin outside */
      ccl_regions_reset (scene->regions);
      i--;
      continue;
    }
    g_assert_cmpint (inside, ==, (gint)scene->result.counts[0].inside);
    n_changes += scene->result.n_events > 0;
  }
  g_assert_cmpuint (n_changes, >, 1000);
  scene_free (scene);
}

static void
refuse (const CclRegion *regions, guint n, const char *part)
{
  const CclRegionsPlan plan = {.width = WIDTH,
      .height = HEIGHT,
      .max_tracks = MAX_TRACKS,
      .n_regions = n,
      .regions = regions};
  CclError error;

  g_assert_null (ccl_regions_new (&plan, &error));
  g_assert_cmpint (error.status, ==, CUDACCL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error.message, part));
}

static void
test_bad_definitions (void)
{
  static const CclPoint far[] = {{0, 0}, {1e9, 0}, {0, 5}}, nan_points[] = {{0, 0}, {NAN, 1}};
  const CclRegion twice[] = {YARD, YARD};
  const CclRegion nameless = {
      .name = "", .kind = CUDACCL_REGION_POLYGON, .n_points = 4, .points = yard};
  const CclRegion two = {
      .name = "two", .kind = CUDACCL_REGION_POLYGON, .n_points = 2, .points = yard};
  const CclRegion bent = {
      .name = "bent", .kind = CUDACCL_REGION_LINE, .n_points = 3, .points = yard};
  const CclRegion wide = {
      .name = "wide", .kind = CUDACCL_REGION_POLYGON, .n_points = 3, .points = far};
  const CclRegion nan_line = {
      .name = "nan", .kind = CUDACCL_REGION_LINE, .n_points = 2, .points = nan_points};
  static const CclPoint same[] = {{0, 0}, {0, 0}}, diagonal[] = {{1, 1}, {1, 1}, {5, 5}, {3, 3}};
  const CclRegion dot = {.name = "dot", .kind = CUDACCL_REGION_LINE, .n_points = 2, .points = same};
  const CclRegion flat = {
      .name = "flat", .kind = CUDACCL_REGION_POLYGON, .n_points = 4, .points = diagonal};

  const CclRegion fast = {.name = "fast",
      .kind = CUDACCL_REGION_LINE,
      .n_points = 2,
      .points = gate,
      .faster_than = INFINITY};
  const CclRegion slow = {.name = "slow",
      .kind = CUDACCL_REGION_LINE,
      .n_points = 2,
      .points = gate,
      .slower_than = -1};

  refuse (&fast, 1, "speed of region \"fast\"");
  refuse (&slow, 1, "speed of region \"slow\"");
  refuse (twice, 2, "\"yard\"");
  refuse (&nameless, 1, "no name");
  refuse (&two, 1, "\"two\" has 2 corners");
  refuse (&bent, 1, "\"bent\" has 3 points");
  refuse (&wide, 1, "point 2 of region \"wide\"");
  refuse (&nan_line, 1, "point 2 of region \"nan\"");
  refuse (&dot, 1, "both points of line \"dot\" are the same");
  refuse (&flat, 1, "all corners of region \"flat\" are on one line");
}

/* A track is inside from its event `entered` on until its event `left`, also while it is lost. */
static void
test_inside_agrees_with_events (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 2);

  step (scene, 200, 200, "");
  g_assert_false (ccl_regions_is_inside (scene->regions, 0, 0));
  step (scene, 200, 200, "1 entered 0");
  g_assert_true (ccl_regions_is_inside (scene->regions, 0, 0));
  g_assert_false (ccl_regions_is_inside (scene->regions, 0, 1)); /* a line */
  g_assert_false (ccl_regions_is_inside (scene->regions, 0, 2)); /* no region */
  g_assert_false (ccl_regions_is_inside (scene->regions, 1, 0)); /* no track */
  step (scene, 10, 200, "");
  g_assert_true (ccl_regions_is_inside (scene->regions, 0, 0));
  step (scene, 10, 200, "1 left 0");
  g_assert_false (ccl_regions_is_inside (scene->regions, 0, 0));
  scene_free (scene);
}

static void
test_bad_arguments_change_nothing (void)
{
  Scene *scene = scene_new (yard_and_gate, 2, 1);
  const CclTrack unordered[] = {
      {.id = 2, .width = 1, .height = 1}, {.id = 1, .width = 1, .height = 1}};
  const CclTracks tracks = {.n_tracks = 2, .tracks = unordered};
  CclRegionsOptions options = CUDACCL_REGIONS_OPTIONS_DEFAULT;
  CclRegionsResult result;
  CclError error;

  step (scene, 200, 200, "1 entered 0");
  g_assert_cmpint (ccl_regions_run (scene->regions, &tracks, 0, &options, &result, &error), ==,
      CUDACCL_ERROR_ARGUMENT);
  options.settle_frames = 0;
  g_assert_cmpint (ccl_regions_run (scene->regions, &(CclTracks){0}, 0, &options, &result, &error),
      ==, CUDACCL_ERROR_ARGUMENT);
  step (scene, 200, 200, "");
  ccl_regions_free (NULL);
  ccl_regions_reset (NULL);
  ccl_regions_inherit (scene->regions, NULL);
  step (scene, 200, 200, "");
  scene_free (scene);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define add(name) g_test_add_func ("/regions/" #name, test_##name)
  add (track_enters_and_leaves);
  add (track_appears_and_ends_inside);
  add (directions_of_a_line);
  add (place_on_a_line);
  add (changes_must_settle);
  add (stay);
  add (tentative_track);
  add (lost_track_stays);
  add (anchors);
  add (many_tracks);
  add (limits_of_speed);
  add (trembling_speeds);
  add (speeds_at_a_line);
  add (dwell_and_mean_speed);
  add (unchanged_regions_keep_their_counts);
  add (more_tracks_than_fit_are_not_inside_for_ever);
  add (polygons_are_unions_of_triangles);
  add (crossings_agree_with_polygons);
  add (inside_agrees_with_events);
  add (bad_definitions);
  add (bad_arguments_change_nothing);
  return g_test_run ();
}
