/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawn people in colours. The masks of a scene are the same whoever of two people is where, so
 * motion alone gives the same tracks in both cases, and is wrong in one of them.
 */
#include <cudaccl/labeller.h>
#include <cudaccl/tracker.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#define WIDTH 320
#define HEIGHT 120
#define PERSON_WIDTH 16
#define PERSON_HEIGHT 48
#define FOOT 100
#define RATE 25

/* Hair, shirt and trousers as luma, u, v. */
typedef guint8 Clothes[3][3];

static const Clothes red = {{60, 128, 128}, {110, 100, 190}, {70, 120, 130}};
static const Clothes blue = {{160, 110, 140}, {90, 180, 105}, {150, 128, 128}};
static const Clothes green = {{60, 128, 128}, {130, 90, 90}, {40, 128, 128}};

typedef struct Person {
  double x; /* of the left edge; nobody is there if it is less than 0 */
  const Clothes *clothes;
} Person;

typedef struct Scene {
  CclTracker *tracker;
  CclLabeller *labeller;
  CclTrackerOptions options;
  CclTracks tracks;
  double light;       /* part of that at the begin */
  gboolean is_grey;   /* the picture has luma alone */
  gboolean is_hidden; /* the tracker gets no picture */
  guint step_x, step_y;
  gboolean has_leaves;  /* about the person */
  gboolean has_no_legs; /* the trousers have the colour of the background */
  guint8 mask[HEIGHT][WIDTH], picture[HEIGHT][WIDTH][3];
  guint32 labels[HEIGHT][WIDTH];
} Scene;

static Scene *
scene_new (gboolean has_picture)
{
  const CclTrackerPlan plan = {
      .width = WIDTH, .height = HEIGHT, .max_tracks = 32, .max_components = 32};
  const CclLabellerPlan labelling = {.width = WIDTH,
      .height = HEIGHT,
      .max_components = 32,
      .connectivity = CUDACCL_CONNECTIVITY_8};
  Scene *scene = g_new0 (Scene, 1);
  CclError error;
  scene->options = (CclTrackerOptions)CUDACCL_TRACKER_OPTIONS_DEFAULT;
  scene->options.frame_rate = RATE;
  scene->options.max_lost = 3 * RATE;
  scene->light = 1;
  scene->is_hidden = !has_picture;
  scene->step_x = 2;
  scene->step_y = 4;
  scene->tracker = ccl_tracker_new (&plan, &error);
  scene->labeller = ccl_cpu_labeller_new (&labelling, &error);
  g_assert_nonnull (scene->tracker);
  g_assert_nonnull (scene->labeller);
  return scene;
}

static void
scene_free (Scene *scene)
{
  ccl_tracker_free (&scene->tracker);
  ccl_labeller_free (&scene->labeller);
  g_free (scene);
}

static void
draw_pixel (Scene *scene, guint x, guint y, const guint8 colour[3])
{
  scene->mask[y][x] = 255;
  scene->picture[y][x][0] = (guint8)(scene->light * colour[0]);
  for (guint i = 1; i < 3; i++)
    scene->picture[y][x][i] = (guint8)(128 + scene->light * (colour[i] - 128));
}

static void
draw_person (Scene *scene, const Person *person)
{
  static const guint heights[] = {8, 20, 20};
  guint y = FOOT - PERSON_HEIGHT;
  for (guint part = 0; part < (scene->has_no_legs ? 2 : 3); part++)
    for (guint row = 0; row < heights[part]; row++, y++)
      for (guint x = 0; x < PERSON_WIDTH; x++)
        draw_pixel (scene, (guint)person->x + x, y, (*person->clothes)[part]);
}

/* A crown of a tree behind a person, which the mask has for a while. */
static void
draw_leaves (Scene *scene, const Person *person)
{
  static const guint8 leaf[3] = {90, 110, 120};
  for (guint y = 10; y < FOOT - PERSON_HEIGHT / 2; y++)
    for (guint x = (guint)person->x - 30; x < (guint)person->x + 40; x++)
      draw_pixel (scene, x, y, leaf);
}

/* The later ones of a list are in front. */
static void
scene_run (Scene *scene, const Person *people, guint n)
{
  const CclFrame mask = {scene->mask, WIDTH, CUDACCL_LOCATION_HOST};
  const CclLabels labels = {scene->labels, sizeof scene->labels[0]};
  const CclLabellerOptions labelling = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclTrackerPicture picture = {.step_x = scene->step_x, .step_y = scene->step_y};
  CclTable table;
  CclError error;
  memset (scene->mask, 0, sizeof scene->mask);
  memset (scene->picture, 100, sizeof scene->picture);
  if (scene->has_leaves)
    draw_leaves (scene, &people[0]);
  for (guint i = 0; i < n; i++)
    if (people[i].x >= 0)
      draw_person (scene, &people[i]);
  for (guint i = 0; i < (scene->is_grey ? 1 : 3); i++)
    picture.planes[i] = (CclTrackerPlane){
        &scene->picture[0][0][i], scene->step_y * sizeof scene->picture[0], 3 * scene->step_x};
  scene->options.picture = scene->is_hidden ? NULL : &picture;
  g_assert_cmpint (
      ccl_labeller_run (scene->labeller, &mask, &labelling, &labels, &table, &error), ==, 0);
  g_assert_cmpint (
      ccl_tracker_run (scene->tracker, &table, &labels, 1, &scene->options, &scene->tracks, &error),
      ==, CUDACCL_OK);
}

/* The identity of the confirmed track at a place; 0: none. */
static guint64
id_at (const Scene *scene, double x)
{
  guint64 id = 0;
  for (guint i = 0; i < scene->tracks.n_tracks; i++) {
    const CclTrack *t = &scene->tracks.tracks[i];
    const double middle = t->x + t->width / 2;
    if (t->state == CUDACCL_TRACK_CONFIRMED && middle > x && middle < x + PERSON_WIDTH)
      id = t->id;
  }
  return id;
}

/* Two people walk towards each other, stand together for half a second, and walk on, or back to
 * where they came from. Returns whether both have their identities after. */
static gboolean
meet (Scene *scene, gboolean turn)
{
  Person people[] = {{60, &red}, {240, &blue}};
  guint64 ids[2];
  for (; people[0].x < 146; people[0].x += 2, people[1].x -= 2)
    scene_run (scene, people, 2);
  for (guint i = 0; i < 2; i++) {
    ids[i] = id_at (scene, people[i].x + (i ? 2 : -2));
    g_assert_cmpuint (ids[i], !=, 0);
  }
  for (guint frame = 0; frame < RATE / 2; frame++)
    scene_run (scene, people, 2);
  for (guint frame = 0; frame < 40; frame++) {
    people[0].x += turn ? -2 : 2;
    people[1].x -= turn ? -2 : 2;
    scene_run (scene, people, 2);
  }
  return id_at (scene, people[0].x) == ids[0] && id_at (scene, people[1].x) == ids[1];
}

static gboolean
meet_in_new_scene (gboolean has_picture, gboolean turn, gboolean is_grey, double light)
{
  Scene *scene = scene_new (has_picture);
  scene->is_grey = is_grey;
  scene->light = light;
  const gboolean same = meet (scene, turn);
  scene_free (scene);
  return same;
}

static void
test_people_who_meet_are_themselves_after (void)
{
  for (guint turn = 0; turn < 2; turn++) {
    g_assert_true (meet_in_new_scene (TRUE, turn, FALSE, 1));
    g_assert_true (meet_in_new_scene (TRUE, turn, TRUE, 1));
    g_assert_true (meet_in_new_scene (TRUE, turn, FALSE, 0.6));
  }
  g_assert_false (
      meet_in_new_scene (FALSE, FALSE, FALSE, 1) && meet_in_new_scene (FALSE, TRUE, FALSE, 1));
}

/* A person goes behind a wall; after two seconds somebody comes out at the other end of it, or at
 * the same one. Returns whether it is the same track. */
static gboolean
hide (gboolean has_picture, const Clothes *clothes, double place, double step)
{
  Scene *scene = scene_new (has_picture);
  Person person = {60, &red};
  for (; person.x < 140; person.x += 2)
    scene_run (scene, &person, 1);
  const guint64 id = id_at (scene, person.x - 2);
  g_assert_cmpuint (id, !=, 0);
  person.x = -1;
  for (guint frame = 0; frame < 2 * RATE; frame++)
    scene_run (scene, &person, 1);
  person = (Person){place, clothes};
  for (guint frame = 0; frame < RATE; frame++, person.x += step)
    scene_run (scene, &person, 1);
  const gboolean same = id_at (scene, person.x - step) == id;
  g_assert_cmpuint (id_at (scene, person.x - step), !=, 0);
  scene_free (scene);
  return same;
}

static void
test_who_comes_back_after_two_seconds_is_known_by_colours (void)
{
  static const double places[][2] = {{240, 2}, {140, -2}, {160, 2}};
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_assert_true (hide (TRUE, &red, places[i][0], places[i][1]));
    g_assert_false (hide (TRUE, &blue, places[i][0], places[i][1]));
  }
  /* Motion knows who stopped there, but not that it is somebody else. */
  g_assert_true (hide (FALSE, &blue, 140, -2));
}

/* Three people become one component, in which they change places. */
static void
test_three_people_change_places (void)
{
  Person people[] = {{40, &red}, {140, &green}, {260, &blue}};
  static const double ends[] = {200, 60, 130};
  guint64 ids[3];
  Scene *scene = scene_new (TRUE);
  for (guint frame = 0; frame < 45; frame++) {
    for (guint i = 0; i < 3; i++)
      people[i].x += i == 0 ? 2 : i == 2 ? -2 : 0.2;
    scene_run (scene, people, 3);
  }
  for (guint i = 0; i < 3; i++) {
    ids[i] = id_at (scene, people[i].x);
    g_assert_cmpuint (ids[i], !=, 0);
  }
  for (guint frame = 0; frame < 60; frame++) {
    for (guint i = 0; i < 3; i++)
      people[i].x += CLAMP (ends[i] - people[i].x, -2, 2);
    scene_run (scene, people, 3);
  }
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (id_at (scene, people[i].x), ==, ids[i]);
  scene_free (scene);
}

/* How far the edges of the only confirmed track are from those of a person, at most. */
static double
edge_error (const Scene *scene, const Person *person)
{
  for (guint i = 0; i < scene->tracks.n_tracks; i++) {
    const CclTrack *t = &scene->tracks.tracks[i];
    if (t->state != CUDACCL_TRACK_CONFIRMED)
      continue;
    const double left = fabs (t->x - person->x), top = fabs (t->y - (FOOT - PERSON_HEIGHT));
    const double right = fabs (t->x + t->width - person->x - PERSON_WIDTH);
    return MAX (MAX (left, right), MAX (top, fabs (t->y + t->height - FOOT)));
  }
  return G_MAXDOUBLE;
}

/* Leaves about a person make a component of 70×90 pixels of one of 16×48. The colours tell where
 * the person is in it. */
static void
test_leaves_about_a_person_do_not_widen_the_box (void)
{
  Scene *scene = scene_new (TRUE);
  Person person = {40, &red};
  for (guint frame = 0; frame < 2 * RATE; frame++, person.x += 2)
    scene_run (scene, &person, 1);
  scene->has_leaves = TRUE;
  for (guint frame = 0; frame < RATE / 2; frame++, person.x += 2) {
    scene_run (scene, &person, 1);
    g_assert_cmpfloat (edge_error (scene, &person), <, 6);
  }
  scene_free (scene);
}

/* A person of whom only the upper part is found for 2 s has a whole box two seconds later. */
static void
test_box_grows_to_a_person_who_was_seen_in_part (void)
{
  Scene *scene = scene_new (TRUE);
  Person person = {40, &red};
  for (guint frame = 0; frame < 4 * RATE; frame++, person.x += 2) {
    scene->has_no_legs = frame < 2 * RATE;
    scene_run (scene, &person, 1);
  }
  person.x -= 2;
  g_assert_cmpfloat (edge_error (scene, &person), <, 3);
  scene_free (scene);
}

/* Light that falls to a half within two seconds changes all colours, and nobody's identity. */
static void
test_colours_follow_the_light (void)
{
  Scene *scene = scene_new (TRUE);
  Person person = {40, &red};
  guint64 id = 0;
  for (guint frame = 0; frame < 4 * RATE; frame++, person.x += 2) {
    scene->light = 1 - 0.5 * MIN (frame, 2 * RATE) / (2 * RATE);
    scene_run (scene, &person, 1);
    if (frame == RATE)
      id = id_at (scene, person.x);
  }
  g_assert_cmpuint (id, !=, 0);
  g_assert_cmpuint (id_at (scene, person.x - 2), ==, id);
  scene_free (scene);
}

static void
test_bad_pictures_are_refused (void)
{
  static const guint8 pixels[WIDTH] = {0};
  const CclTrackerPlane good = {pixels, WIDTH, 1};
  const CclTrackerPicture pictures[] = {
      {0, 1, {good}},
      {1, 0, {good}},
      {4097, 1, {good}},
      {1, 4097, {good}},
      {1, 1, {{NULL, WIDTH, 1}}},
      {1, 1, {{pixels, WIDTH, 0}}},
      {1, 1, {{pixels, WIDTH - 1, 1}}},
      {1, 1, {good, {pixels, WIDTH, 2}}},
      {1, 1, {good, good, {pixels, 0, UINT32_MAX}}},
  };
  Scene *scene = scene_new (TRUE);
  const CclTable table = {0};
  CclError error;
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    scene->options.picture = &pictures[i];
    g_assert_cmpint (
        ccl_tracker_run (scene->tracker, &table, NULL, 1, &scene->options, &scene->tracks, &error),
        ==, CUDACCL_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error.message, "picture"));
  }
  scene_free (scene);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define add(name) g_test_add_func ("/appearance/" #name, test_##name)
  add (people_who_meet_are_themselves_after);
  add (who_comes_back_after_two_seconds_is_known_by_colours);
  add (three_people_change_places);
  add (leaves_about_a_person_do_not_widen_the_box);
  add (box_grows_to_a_person_who_was_seen_in_part);
  add (colours_follow_the_light);
  add (bad_pictures_are_refused);
  return g_test_run ();
}
