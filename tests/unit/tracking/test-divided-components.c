/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests of tracks in components of several objects side by side. The frames are drawn, and labelled
 * by the library: people of 30×80 pixels walk to the right by 2 pixels in a frame.
 */
#include <glib.h>
#include <string.h>

#include <cudaccl/tracker.h>

enum { WIDTH = 640, HEIGHT = 240, PERSON_WIDTH = 30, PERSON_HEIGHT = 80, TOP = 100 };

typedef struct Scene {
  CclLabeller *labeller;
  CclTracker *tracker;
  CclTracks tracks; /* of the last frame */
  guint n_rows;     /* of its component table */
  guint n_merged;   /* events, in all frames */
  gboolean with_labels;
  guint label_step; /* the tracker gets a sample of the label map */
  double frame_rate, least_way;
  gboolean with_picture; /* the tracker gets the pixels, too */
  guint8 pixels[HEIGHT][WIDTH];
  guint32 labels[HEIGHT][WIDTH], sample[HEIGHT * WIDTH];
} Scene;

static void
draw_grey (Scene *scene, guint x, guint y, guint width, guint height, guint8 grey)
{
  for (guint row = y; row < y + height; row++)
    memset (&scene->pixels[row][x], grey, width);
}

static void
draw (Scene *scene, guint x, guint y, guint width, guint height)
{
  draw_grey (scene, x, y, width, height, 255);
}

static void
draw_person (Scene *scene, guint x)
{
  draw (scene, x, TOP, PERSON_WIDTH, PERSON_HEIGHT);
}

/* Every label_step-th pixel of every label_step-th row. */
static CclLabels
sample_labels (Scene *scene)
{
  const guint step = scene->label_step, width = (WIDTH + step - 1) / step;
  for (guint y = 0; y < HEIGHT; y += step)
    for (guint x = 0; x < WIDTH; x += step)
      scene->sample[y / step * width + x / step] = scene->labels[y][x];
  return (CclLabels){scene->sample, width * sizeof *scene->sample};
}

/* Labels and tracks what was drawn, and begins the next frame. */
static void
end_frame (Scene *scene)
{
  const CclFrame frame = {.data = scene->pixels, .stride = WIDTH};
  const guint step = scene->label_step;
  CclLabels labels = {scene->labels, sizeof scene->labels[0]};
  const CclLabellerOptions labeller_options = CUDACCL_LABELLER_OPTIONS_DEFAULT;
  CclTrackerOptions options = CUDACCL_TRACKER_OPTIONS_DEFAULT;
  const CclTrackerPicture picture = {
      .step_x = 1, .step_y = 1, .planes = {{scene->pixels[0], WIDTH, 1}}};
  CclTable table;
  CclError error;
  if (ccl_labeller_run (scene->labeller, &frame, &labeller_options, &labels, &table, &error))
    g_error ("%s", error.message);
  if (step > 1) {
    options.label_step = step;
    labels = sample_labels (scene);
  }
  options.frame_rate = scene->frame_rate;
  options.least_way = scene->least_way;
  options.picture = scene->with_picture ? &picture : NULL;
  if (ccl_tracker_run (scene->tracker, &table, scene->with_labels ? &labels : NULL, 1, &options,
          &scene->tracks, &error))
    g_error ("%s", error.message);
  scene->n_rows = table.n_rows;
  for (guint i = 0; i < scene->tracks.n_events; i++)
    scene->n_merged += scene->tracks.events[i].kind == CUDACCL_TRACK_MERGED;
  memset (scene->pixels, 0, sizeof scene->pixels);
}

static Scene *
scene_new_empty (gboolean with_labels)
{
  Scene *scene = g_new0 (Scene, 1);
  CclLabellerPlan labeller = CUDACCL_LABELLER_PLAN_DEFAULT;
  CclTrackerPlan tracker = CUDACCL_TRACKER_PLAN_DEFAULT;
  CclError error;
  labeller.width = tracker.width = WIDTH;
  labeller.height = tracker.height = HEIGHT;
  scene->with_labels = with_labels;
  scene->labeller = ccl_cpu_labeller_new (&labeller, &error);
  scene->tracker = ccl_tracker_new (&tracker, &error);
  g_assert_nonnull (scene->labeller);
  g_assert_nonnull (scene->tracker);
  return scene;
}

/* A scene in which a person has walked through the picture, so that the height is known. */
static Scene *
scene_new (gboolean with_labels)
{
  Scene *scene = scene_new_empty (with_labels);
  for (guint i = 0; i < 60; i++) {
    draw_person (scene, 20 + 2 * i);
    end_frame (scene);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  for (guint i = 0; i < 20; i++)
    end_frame (scene);
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 0);
  return scene;
}

static void
scene_free (Scene *scene)
{
  ccl_labeller_free (&scene->labeller);
  ccl_tracker_free (&scene->tracker);
  g_free (scene);
}

/* Three people hand in hand are one component in all frames. With label maps each has a track, all
 * in this component. */
static void
walk_hand_in_hand (Scene *scene)
{
  for (guint i = 0; i < 60; i++) {
    const guint x = 50 + 2 * i;
    for (guint person = 0; person < 3; person++)
      draw_person (scene, x + 50 * person);
    draw (scene, x, TOP + 35, 130, 8);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 1);
  }
}

static void
assert_three_tracks (guint label_step)
{
  Scene *scene = scene_new (TRUE);
  scene->label_step = label_step;
  walk_hand_in_hand (scene);
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 3);
  g_assert_cmpuint (scene->tracks.n_members, ==, 3);
  for (guint i = 0; i < 3; i++) {
    const CclTrack *track = &scene->tracks.tracks[i];
    g_assert_cmpuint (track->state, ==, CUDACCL_TRACK_CONFIRMED);
    g_assert_cmpuint (track->label, ==, 1);
    g_assert_cmpuint (track->n_sharing, ==, 2);
    g_assert_cmpuint (track->age, >=, 55);
    g_assert_cmpfloat_with_epsilon (track->width, PERSON_WIDTH, 16);
    g_assert_cmpfloat_with_epsilon (track->height, PERSON_HEIGHT, 4);
    g_assert_cmpfloat_with_epsilon (track->velocity_x, 2, 0.3);
    g_assert_cmpuint (scene->tracks.members[i].row, ==, 0);
  }
  scene_free (scene);
}

static void
test_people_hand_in_hand_are_three_tracks (void)
{
  assert_three_tracks (1);
}

/* 240 rows are 60, 80 or 48 rows of the sample; people are at even places. */
static void
test_samples_of_label_maps_are_enough (void)
{
  assert_three_tracks (2);
  assert_three_tracks (3);
  assert_three_tracks (5);
}

/* Of people in clothes of the background's colour there are head, legs and a stripe between them.
 */
static void
draw_person_without_trunk (Scene *scene, guint x)
{
  draw (scene, x, TOP, PERSON_WIDTH, 15);
  draw (scene, x, TOP, 4, PERSON_HEIGHT);
  draw (scene, x, TOP + 60, PERSON_WIDTH, 20);
}

static void
test_holes_do_not_matter (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 40; i++) {
    draw_person_without_trunk (scene, 50 + 2 * i);
    draw_person_without_trunk (scene, 110 + 2 * i);
    draw (scene, 50 + 2 * i, TOP + 65, 80, 8);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 1);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
  scene_free (scene);
}

/* Shoulder to shoulder: the gap between two people is less than a third of their height. */
/* A hard shadow to the right, as long as the person, and slanted. A car has a bonnet as low as half
 * of it, which belongs to it. */
static void
test_shadows_do_not_widen_boxes (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 60; i++) {
    draw_person (scene, 20 + 2 * i);
    for (guint x = 0; x < PERSON_HEIGHT; x++)
      draw (scene, 40 + 2 * i + x, TOP + PERSON_HEIGHT - 4 + x / 4, 1, 8);
    for (guint part = 0; part < 2; part++)
      draw (scene, 330 + i + 90 * part, TOP - 40 + 45 * part, 90, 80 - 45 * part);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 2);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
  for (guint i = 0; i < 2; i++) {
    const CclTrack *track = &scene->tracks.tracks[i];
    const gboolean is_car = track->x > 300;
    g_assert_cmpfloat_with_epsilon (track->x, is_car ? 330 + 59 : 20 + 118, 9);
    g_assert_cmpfloat_with_epsilon (track->width, is_car ? 180 : PERSON_WIDTH, 10);
    g_assert_cmpfloat_with_epsilon (track->height, PERSON_HEIGHT, 9);
  }
  scene_free (scene);
}

static void
test_people_who_are_apart_only_at_their_heads_are_two_tracks (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 40; i++) {
    draw_person (scene, 50 + 2 * i);
    draw_person (scene, 95 + 2 * i);
    draw (scene, 50 + 2 * i, TOP + 24, 75, 56);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 1);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
  scene_free (scene);
}

static void
test_without_label_maps_a_group_is_one_track (void)
{
  Scene *scene = scene_new (FALSE);
  walk_hand_in_hand (scene);
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpuint (scene->tracks.tracks[0].n_sharing, ==, 0);
  scene_free (scene);
}

static guint
count_confirmed (const Scene *scene)
{
  guint n = 0;
  for (guint i = 0; i < scene->tracks.n_tracks; i++)
    n += scene->tracks.tracks[i].state != CUDACCL_TRACK_TENTATIVE;
  return n;
}

/* The shadow of a person is as wide as the person, and both are narrower than a group of people. */
static void
test_short_shadows_do_not_widen_boxes (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 60; i++) {
    draw_person (scene, 50 + 2 * i);
    draw (scene, 50 + 2 * i + PERSON_WIDTH, TOP + PERSON_HEIGHT - 8, 26, 8);
    end_frame (scene);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, PERSON_WIDTH, 10);
  scene_free (scene);
}

/* The legs of somebody who walks are as low and as wide as that shadow, on both sides. */
static void
test_legs_belong_to_boxes (void)
{
  const guint stride = 26;
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 60; i++) {
    draw_person (scene, 50 + 2 * i);
    draw (scene, 50 + 2 * i - stride, TOP + PERSON_HEIGHT - 8, PERSON_WIDTH + 2 * stride, 8);
    end_frame (scene);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, PERSON_WIDTH + 2 * stride, 4);
  scene_free (scene);
}

static void
draw_near_and_far (Scene *scene, guint near, guint far)
{
  draw (scene, near, 100, 40, 120);
  draw (scene, far, 100, 30, 60);
}

/* Somebody near and somebody far away who come as one component are two tracks, each of his size,
 * once the height by the row of the feet is known. */
static void
test_people_at_different_distances_are_two_tracks (void)
{
  Scene *scene = scene_new_empty (TRUE);
  for (guint i = 0; i < 60; i++) {
    draw_near_and_far (scene, 20 + 2 * i, 300 + 2 * i);
    for (guint far = 0; far < 3; far++)
      draw (scene, 350 + 50 * far + 2 * i, 100, 30, 60);
    end_frame (scene);
  }
  for (guint i = 0; i < 20; i++)
    end_frame (scene);
  for (guint i = 0; i < 60; i++) {
    draw_near_and_far (scene, 50 + 2 * i, 110 + 2 * i);
    draw (scene, 50 + 2 * i, 132, 70, 6);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 1);
  }
  g_assert_cmpuint (count_confirmed (scene), ==, 2);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[i].width, i ? 30 : 40, 26);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[i].height, i ? 60 : 120, 4);
  }
  scene_free (scene);
}

/* Two people meet, stand hand in hand, and part. Both keep their identities and their sizes, and
 * the events say that they met. */
static void
test_people_who_meet_keep_their_identities (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 120; i++) {
    const guint gap = i < 40 ? 100 - 2 * i : i < 80 ? 20 : 20 + 2 * (i - 80);
    draw_person (scene, 300 - gap / 2 - PERSON_WIDTH);
    draw_person (scene, 300 + gap / 2);
    if (gap == 20)
      draw (scene, 290, TOP + 35, 20, 8);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, gap == 20 ? 1 : 2);
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 2);
    g_assert_cmpuint (scene->tracks.tracks[0].id, ==, 2);
    g_assert_cmpfloat_with_epsilon (
        scene->tracks.tracks[0].x, 300 - (gdouble)gap / 2 - PERSON_WIDTH, 8);
    g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[1].x, 300 + (gdouble)gap / 2, 8);
  }
  g_assert_cmpuint (scene->n_merged, ==, 2);
  scene_free (scene);
}

/* A car is wider than a person, and all of it is tall; a bonnet is not an object. */
static void
test_car_is_one_track (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 60; i++) {
    const guint x = 50 + 4 * i;
    draw (scene, x, TOP, 110, PERSON_HEIGHT);
    draw (scene, x + 110, TOP + 45, 40, PERSON_HEIGHT - 45);
    end_frame (scene);
  }
  g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, 150, 6);
  scene_free (scene);
}

/* Specks of 5×5 pixels around a person have no tracks, not even tentative ones. */
static void
test_specks_have_no_tracks (void)
{
  Scene *scene = scene_new (TRUE);
  for (guint i = 0; i < 60; i++) {
    draw_person (scene, 50 + 2 * i);
    draw (scene, 400 + i % 3, 60, 5, 5);
    draw (scene, 500, 150 + i % 2, 5, 5);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 3);
    g_assert_cmpuint (scene->tracks.n_tracks, ==, 1);
  }
  scene_free (scene);
}

/* The height is known when the first tracks are confirmed. */
static void
test_specks_in_the_first_frames_have_no_tracks (void)
{
  Scene *scene = scene_new_empty (TRUE);
  for (guint i = 0; i < 20; i++) {
    draw_person (scene, 50 + 2 * i);
    draw (scene, 400 + i % 3, 60, 5, 5);
    draw (scene, 500, 150 + i % 2, 5, 5);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 3);
    g_assert_cmpuint (count_confirmed (scene), ==, i < 2 ? 0 : 1);
  }
  scene_free (scene);
}

/* Specks in an empty picture do not teach the height of objects, so they are ignored soon after the
 * first person has come. */
static void
test_specks_teach_no_height (void)
{
  Scene *scene = scene_new_empty (TRUE);
  for (guint i = 0; i < 120; i++) {
    if (i >= 100)
      draw_person (scene, 50 + 2 * i);
    draw (scene, 20 + i % 3, 60, 5, 5);
    draw (scene, 500, 150 + i % 2, 5, 5);
    end_frame (scene);
  }
  g_assert_cmpuint (scene->n_rows, ==, 3);
  g_assert_cmpuint (scene->tracks.n_members, ==, 1);
  scene_free (scene);
}

/* The number of confirmed tracks. */
static guint
n_confirmed (const Scene *scene)
{
  guint n = 0;
  for (guint i = 0; i < scene->tracks.n_tracks; i++)
    n += scene->tracks.tracks[i].state == CUDACCL_TRACK_CONFIRMED;
  return n;
}

/* A pickup with columns of two heights, which would be divided, crosses the picture in four frames.
 */
static void
test_fast_car_is_one_track (void)
{
  Scene *scene = scene_new (TRUE);
  scene->frame_rate = 10;
  for (guint i = 0; i < 3; i++) {
    const guint x = 10 + 200 * i;
    draw (scene, x, TOP, 40, PERSON_HEIGHT);
    draw (scene, x + 40, TOP + 50, 40, 30);
    draw (scene, x + 80, TOP, 40, PERSON_HEIGHT);
    end_frame (scene);
  }
  g_assert_cmpuint (n_confirmed (scene), ==, 1);
  g_assert_cmpfloat_with_epsilon (scene->tracks.tracks[0].width, 120, 10);
  scene_free (scene);
}

/* A clock whose digits become background bit by bit: the columns of one become low from the left to
 * the right, so the part that is left of it moves, but the component does not. */
static void
test_parts_of_what_stays_do_not_travel (void)
{
  Scene *scene = scene_new_empty (TRUE);
  scene->least_way = 0.3;
  for (guint i = 0; i < 30; i++) {
    draw_person (scene, 20 + 2 * i);
    end_frame (scene);
  }
  for (guint i = 0; i < 24; i++) {
    draw (scene, 300, TOP, 40, PERSON_HEIGHT);
    draw (scene, 340, TOP + 50, 100, 30);
    draw (scene, 350 + 2 * i, TOP, 30, PERSON_HEIGHT);
    end_frame (scene);
    g_assert_cmpuint (scene->n_rows, ==, 1);
    for (guint k = 0; k < scene->tracks.n_tracks; k++)
      if (scene->tracks.tracks[k].x > 250)
        g_assert_cmpuint (scene->tracks.tracks[k].state, ==, CUDACCL_TRACK_TENTATIVE);
  }
  g_assert_cmpuint (scene->tracks.n_members, ==, 2);
  scene_free (scene);
}

/* Two frames, 5 s after the first one, at two frames a second. */
static guint
count_after_two_frames (guint width, guint8 grey)
{
  Scene *scene = scene_new_empty (TRUE);
  scene->frame_rate = 2;
  scene->with_picture = TRUE;
  for (guint i = 0; i < 10; i++)
    end_frame (scene);
  draw_grey (scene, 20, TOP, 120, 80, 255);
  end_frame (scene);
  draw_grey (scene, 400, TOP, width, 80, grey);
  end_frame (scene);
  const guint n = n_confirmed (scene);
  scene_free (scene);
  return n;
}

static void
test_two_places_are_enough_for_one_shape_and_colour (void)
{
  g_assert_cmpuint (count_after_two_frames (120, 255), ==, 1);
  g_assert_cmpuint (count_after_two_frames (120, 100), ==, 0);
  g_assert_cmpuint (count_after_two_frames (160, 255), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define add(name) g_test_add_func ("/divided-components/" #name, test_##name)
  add (people_hand_in_hand_are_three_tracks);
  add (samples_of_label_maps_are_enough);
  add (holes_do_not_matter);
  add (shadows_do_not_widen_boxes);
  add (short_shadows_do_not_widen_boxes);
  add (legs_belong_to_boxes);
  add (people_at_different_distances_are_two_tracks);
  add (people_who_are_apart_only_at_their_heads_are_two_tracks);
  add (without_label_maps_a_group_is_one_track);
  add (people_who_meet_keep_their_identities);
  add (car_is_one_track);
  add (specks_have_no_tracks);
  add (specks_in_the_first_frames_have_no_tracks);
  add (specks_teach_no_height);
  add (parts_of_what_stays_do_not_travel);
  add (fast_car_is_one_track);
  add (two_places_are_enough_for_one_shape_and_colour);
  return g_test_run ();
}
