/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registration and the camera's moves (core/foreground/camera/camera.h), on pictures whose content
 * is a function of the place, so that it is known where each point has gone. */
#include "core/foreground/camera/camera.h"

#include <math.h>
#include <string.h>

#include <glib.h>

enum { WIDTH = 480, HEIGHT = 272, BOX = 4, N_BOXES = WIDTH / BOX * (HEIGHT / BOX) };
enum { SQUARE = 100 };

/* What a picture shows: the texture of a number at places that were moved and zoomed about the
 * centre. */
typedef struct View {
  uint32_t number;
  double dx, dy, zoom, turn; /* turn: radians */
  double light, noise;
  double textured; /* of the width; the rest is grey */
  int square;      /* where a bright square begins, from the left; 0: there is none */
  int hidden;      /* columns on the left that another texture hides, which moves with their edge */
} View;

static const View usual = {.number = 1, .zoom = 1, .light = 1, .noise = 3, .textured = 1};

/* A value of 0…1 at a place of a lattice. */
static double
lattice (uint32_t number, int x, int y)
{
  uint32_t hash = (uint32_t)x * 2654435761u + (uint32_t)y * 2246822519u;
  hash = (hash ^ hash >> 15) * 2246822519u + number * 668265263u;
  hash = (hash ^ hash >> 14) * 2654435761u;
  hash = (hash ^ hash >> 13) * 3266489917u;
  return (double)(hash >> 8 & 0xffff) / 0xffff;
}

/* Blurred squares of about 14 pixels. */
static double
texture_at (uint32_t number, double x, double y)
{
  const double u = x / 14, v = y / 14, i = floor (u), j = floor (v);
  const double fx = CLAMP ((u - i) * 3 - 1, 0, 1), fy = CLAMP ((v - j) * 3 - 1, 0, 1);
  const double top =
      lattice (number, (int)i, (int)j) * (1 - fx) + lattice (number, (int)i + 1, (int)j) * fx;
  const double bottom = lattice (number, (int)i, (int)j + 1) * (1 - fx) +
                        lattice (number, (int)i + 1, (int)j + 1) * fx;
  return 50 + 130 * (top * (1 - fy) + bottom * fy);
}

static double
luma_at (const View *view, int x, int y)
{
  if (view->square > 0 && x >= view->square && x < view->square + SQUARE && y >= 90 &&
      y < 90 + SQUARE)
    return 224;
  if (x < view->hidden)
    return texture_at (view->number + 99, x - view->hidden + 5000, y);
  if (x >= view->textured * WIDTH)
    return 110;
  const double right = (x - WIDTH / 2 - view->dx) / view->zoom;
  const double down = (y - HEIGHT / 2 - view->dy) / view->zoom;
  const double from_x = right + view->turn * down + WIDTH / 2;
  const double from_y = down - view->turn * right + HEIGHT / 2;
  return texture_at (view->number, from_x, from_y);
}

/* Draws the boxes of a view, from four of their pixels, with the noise that four have. */
static void
draw (GRand *random, const View *view, uint8_t boxes[N_BOXES])
{
  for (int i = 0; i < N_BOXES; i++) {
    const int left = i % (WIDTH / BOX) * BOX, top = i / (WIDTH / BOX) * BOX;
    double sum = 0;
    for (int k = 0; k < 4; k++)
      sum += luma_at (view, left + k % 2 * 2, top + k / 2 * 2);
    const double noise = view->noise / 2 * g_rand_double_range (random, -1.7, 1.7);
    boxes[i] = (uint8_t)CLAMP (view->light * sum / 4 + noise + 0.5, 0, 255);
  }
}

/* The registration of one view with another. */
static CclRegistrationResult
compare (GRand *random, const View *frame, const View *model)
{
  CclRegistration *registration = ccl_registration_new (WIDTH / BOX, HEIGHT / BOX, WIDTH / BOX);
  uint8_t of_frame[N_BOXES], of_model[N_BOXES];
  draw (random, frame, of_frame);
  draw (random, model, of_model);
  const CclRegistrationResult result = ccl_registration_compare (registration, of_frame, of_model);
  ccl_registration_free (registration);
  return result;
}

/* Shifts of 4 to 40 pixels, found to within half a box, in other light and noise. */
static void
assert_shifts (double textured)
{
  GRand *random = g_rand_new_with_seed (1);
  for (int i = 0; i < 16; i++) {
    const double angle = g_rand_double_range (random, 0, 2 * G_PI);
    const double size = g_rand_double_range (random, 4, 40);
    View model = usual, frame = usual;
    model.number = frame.number = (uint32_t)i;
    model.textured = frame.textured = textured;
    frame.dx = size * cos (angle);
    frame.dy = size * sin (angle);
    frame.light = g_rand_double_range (random, 0.5, 1.3);
    frame.noise = g_rand_double_range (random, 0, 6);
    const CclRegistrationResult result = compare (random, &frame, &model);
    g_assert_true (result.is_displaced && result.has_displacement);
    g_assert_cmpfloat (fabs (result.dx * BOX / 16.0 - frame.dx), <, BOX / 2.0);
    g_assert_cmpfloat (fabs (result.dy * BOX / 16.0 - frame.dy), <, BOX / 2.0);
  }
  g_rand_free (random);
}

static void
test_shifts (void)
{
  assert_shifts (1);
}

/* Most of the picture is grey. */
static void
test_shifts_of_a_quarter (void)
{
  assert_shifts (0.25);
}

static void
test_zooms (void)
{
  static const double zooms[] = {1.06, 1.08, 1.1, 0.94, 0.92, 0.9};
  GRand *random = g_rand_new_with_seed (2);
  for (size_t i = 0; i < G_N_ELEMENTS (zooms); i++) {
    View frame = usual;
    frame.zoom = zooms[i];
    g_assert_true (compare (random, &frame, &usual).is_displaced);
  }
  g_rand_free (random);
}

/* The same picture in another light, another picture, an object in front of any part, and none. */
static void
test_no_displacement (void)
{
  GRand *random = g_rand_new_with_seed (3);
  for (int i = 0; i < 16; i++) {
    View frame = usual, other = usual;
    frame.light = g_rand_double_range (random, 0.4, 1.4);
    frame.noise = g_rand_double_range (random, 0, 8);
    frame.hidden = i % 2 ? g_rand_int_range (random, 0, WIDTH + 1) : 0;
    other.number = (uint32_t)(2 + i);
    other.dx = g_rand_double_range (random, -300, 300);
    const CclRegistrationResult result = compare (random, &frame, &usual);
    g_assert_false (result.is_displaced);
    if (frame.hidden == 0)
      g_assert_cmpuint (10 * result.n_agreeing, >=, 9 * result.n_blocks);
    g_assert_false (compare (random, &other, &usual).is_displaced);
  }
  g_rand_free (random);
}

/* Pictures without texture, and those that are too small for blocks, have no blocks. */
static void
test_no_texture (void)
{
  GRand *random = g_rand_new_with_seed (4);
  View grey = usual;
  uint8_t pixels[64] = {0};
  grey.textured = 0;
  const CclRegistrationResult result = compare (random, &grey, &grey);
  g_assert_cmpuint (result.n_blocks, ==, 0);
  g_assert_false (result.is_displaced);
  for (uint32_t size = 0; size < 8; size++) {
    CclRegistration *registration = ccl_registration_new (size, size, 8);
    g_assert_cmpuint (ccl_registration_compare (registration, pixels, pixels).n_blocks, ==, 0);
    ccl_registration_free (registration);
  }
  g_rand_free (random);
}

/* In a picture of any height, texture in a few columns alone is not that of the whole picture. */
static void
test_tall_picture (void)
{
  enum { TALL_WIDTH = 80, TALL_HEIGHT = 1104, TEXTURED_COLUMNS = 8 };
  GRand *random = g_rand_new_with_seed (5);
  uint8_t *pixels = g_malloc0 (TALL_WIDTH * TALL_HEIGHT);
  CclRegistration *registration = ccl_registration_new (TALL_WIDTH, TALL_HEIGHT, TALL_WIDTH);
  for (uint32_t y = 0; y < TALL_HEIGHT; y++)
    for (uint32_t x = 0; x < TEXTURED_COLUMNS; x++)
      pixels[y * TALL_WIDTH + x] = g_rand_boolean (random) ? UINT8_MAX : 0;
  const CclRegistrationResult result = ccl_registration_compare (registration, pixels, pixels);
  g_assert_cmpuint (result.n_blocks, >=, TALL_HEIGHT / CUDACCL_REGISTRATION_BLOCK);
  g_assert_false (result.is_spread);
  ccl_registration_free (registration);
  g_free (pixels);
  g_rand_free (random);
}

/* ---- small displacements ---- */

/* The alignment of one view with another. */
static CclAlignmentResult
align (GRand *random, const View *frame, const View *model)
{
  CclAlignment *alignment = ccl_alignment_new (WIDTH / BOX, HEIGHT / BOX, WIDTH / BOX);
  const CclDisplacement none = {0, 0, 0, 0};
  uint8_t boxes[N_BOXES];
  for (int i = 0; i < 20; i++) {
    draw (random, model, boxes);
    ccl_alignment_compare (alignment, boxes, &none, 1);
    ccl_alignment_learn (alignment, 0.05F);
  }
  draw (random, frame, boxes);
  const CclAlignmentResult result = ccl_alignment_compare (alignment, boxes, &none, 1);
  ccl_alignment_free (alignment);
  return result;
}

/* Shifts of 0.6 to 4 pixels, zooms and turns, found to a fifth of a pixel, in other light and
 * noise, also behind an object that hides a third of the picture. */
static void
test_small_moves (void)
{
  GRand *random = g_rand_new_with_seed (6);
  for (int i = 0; i < 24; i++) {
    const double angle = g_rand_double_range (random, 0, 2 * G_PI);
    const double size = g_rand_double_range (random, 0.6, 4);
    const double to_boxes = (double)WIDTH / 2 / BOX;
    View model = usual, frame = usual;
    model.number = frame.number = (uint32_t)i;
    frame.dx = size * cos (angle);
    frame.dy = size * sin (angle);
    frame.zoom = i % 3 == 1 ? g_rand_double_range (random, 0.99, 1.01) : 1;
    frame.turn = i % 3 == 2 ? g_rand_double_range (random, -0.01, 0.01) : 0;
    frame.light = g_rand_double_range (random, 0.7, 1.2);
    frame.hidden = i % 2 ? WIDTH / 3 : 0;
    const CclAlignmentResult result = align (random, &frame, &model);
    g_assert_true (result.is_supported);
    g_assert_cmpfloat (fabs (result.move.dx * BOX - frame.dx), <, 0.3);
    g_assert_cmpfloat (fabs (result.move.dy * BOX - frame.dy), <, 0.3);
    g_assert_cmpfloat (fabs (result.move.zoom - (frame.zoom - 1) * to_boxes), <, 0.08);
    g_assert_cmpfloat (fabs (result.move.turn - frame.turn * to_boxes), <, 0.08);
  }
  g_rand_free (random);
}

/* The same picture, another one, one that an object hides, and a grey one are not displaced. */
static void
test_no_small_move (void)
{
  GRand *random = g_rand_new_with_seed (7);
  for (int i = 0; i < 16; i++) {
    View frame = usual, other = usual, grey = usual;
    frame.light = g_rand_double_range (random, 0.6, 1.3);
    frame.noise = g_rand_double_range (random, 0, 8);
    frame.hidden = i % 2 ? g_rand_int_range (random, 0, WIDTH + 1) : 0;
    other.number = (uint32_t)(2 + i);
    grey.textured = 0;
    g_assert_false (align (random, &frame, &usual).is_supported);
    g_assert_false (align (random, &other, &usual).is_supported);
    g_assert_false (align (random, &grey, &usual).is_supported);
    g_assert_false (align (random, &usual, &grey).is_supported);
  }
  g_rand_free (random);
}

/* Pictures that are too small for blocks. */
static void
test_small_pictures (void)
{
  const CclDisplacement none = {0, 0, 0, 0};
  const uint8_t pixels[64] = {0};
  for (uint32_t size = 0; size <= 8; size++) {
    CclAlignment *alignment = ccl_alignment_new (size, size, 8);
    for (int i = 0; i < 2; i++) {
      g_assert_false (ccl_alignment_compare (alignment, pixels, &none, 1).is_supported);
      ccl_alignment_learn (alignment, 0.1F);
    }
    ccl_alignment_free (alignment);
  }
}

/* ---- the camera ---- */

/* A camera whose model is a view, as long as no new one begins: then it is the frame. */
typedef struct Watch {
  CclCamera *camera;
  GRand *random;
  View model;
  uint64_t duration; /* of a frame */
  double time;       /* seconds */
  /* What has been found so far. */
  uint32_t n_moved, n_settled, n_hidden;
  double moved, settled; /* when, the last time */
  int32_t dx, dy;
} Watch;

static void
watch_start (Watch *self, double frames_per_second)
{
  *self = (Watch){.camera = ccl_camera_new (WIDTH, HEIGHT),
      .random = g_rand_new_with_seed (5),
      .model = usual,
      .duration = (uint64_t)(1e9 / frames_per_second)};
  ccl_camera_begin (self->camera, 0);
}

static void
watch_clear (Watch *self)
{
  ccl_camera_free (self->camera);
  g_rand_free (self->random);
}

static void
watch_frame (Watch *self, const View *frame)
{
  CclCamera *camera = self->camera;
  if (ccl_camera_advance (camera, self->duration, true))
    self->model = *frame;
  if (camera->takes_boxes) {
    draw (self->random, frame, camera->boxes);
    draw (self->random, &self->model, camera->boxes + ccl_camera_boxes_size (camera));
  }
  if (camera->change == CUDACCL_SCENE_MOVED) {
    self->n_moved++;
    self->moved = self->time;
    self->dx = camera->dx;
    self->dy = camera->dy;
  }
  if (camera->change == CUDACCL_SCENE_SETTLED) {
    self->n_settled++;
    self->settled = self->time;
  }
  self->n_hidden += camera->hides;
  self->time += (double)self->duration / 1e9;
}

static void
watch_for (Watch *self, double seconds, const View *frame)
{
  for (const double end = self->time + seconds - 1e-6; self->time < end;)
    watch_frame (self, frame);
}

/* A knock and another picture are reported once within two seconds, and over within three more, at
 * every frame rate. */
static void
test_knock_and_cut (void)
{
  static const double rates[] = {1, 5, 25};
  for (size_t i = 0; i < G_N_ELEMENTS (rates); i++) {
    for (int is_cut = 0; is_cut < 2; is_cut++) {
      View after = usual;
      Watch watch;
      after.dx = is_cut ? 0 : -11;
      after.number = is_cut ? 7 : 1;
      watch_start (&watch, rates[i]);
      watch_for (&watch, 5, &usual);
      g_assert_cmpuint (watch.n_moved + watch.n_hidden, ==, 0);
      const double knock = watch.time;
      watch_for (&watch, 8, &after);
      g_assert_cmpuint (watch.n_moved, ==, 1);
      g_assert_cmpuint (watch.n_settled, ==, 1);
      g_assert_cmpfloat (watch.moved - knock, <=, 2.01);
      g_assert_cmpfloat (watch.settled - watch.moved, <=, 3);
      g_assert_cmpint (watch.camera->hides, ==, 0);
      if (!is_cut)
        g_assert_cmpint (ABS (watch.dx + 11), <=, 1);
      watch_clear (&watch);
    }
  }
}

/* A knock by a fraction of a box, and one that only turns the camera. */
static void
test_small_knock (void)
{
  static const double rates[] = {1, 5, 25};
  for (size_t i = 0; i < G_N_ELEMENTS (rates); i++) {
    for (int turns = 0; turns < 2; turns++) {
      View after = usual;
      Watch watch;
      after.dx = turns ? 0 : 1.6;
      after.dy = turns ? 0 : -1.2;
      after.turn = turns ? 0.02 : 0;
      watch_start (&watch, rates[i]);
      watch_for (&watch, 5, &usual);
      g_assert_cmpuint (watch.n_moved + watch.n_hidden, ==, 0);
      const double knock = watch.time;
      watch_for (&watch, 8, &after);
      g_assert_cmpuint (watch.n_moved, ==, 1);
      g_assert_cmpuint (watch.n_settled, ==, 1);
      g_assert_cmpfloat (watch.moved - knock, <=, 2.01);
      g_assert_cmpint (watch.camera->hides, ==, 0);
      g_assert_cmpint (watch.dx, ==, turns ? 0 : 2);
      g_assert_cmpint (watch.dy, ==, turns ? 0 : -1);
      watch_clear (&watch);
    }
  }
}

/* The sun bends a mast: a pixel in a minute. */
static void
test_drift (void)
{
  static const double rates[] = {1, 10};
  for (size_t i = 0; i < G_N_ELEMENTS (rates); i++) {
    View frame = usual;
    Watch watch;
    watch_start (&watch, rates[i]);
    for (int j = 0; j < 240 * rates[i]; j++) {
      frame.dx = j / rates[i] / 60;
      watch_frame (&watch, &frame);
      watch.model = frame; /* which follows */
    }
    g_assert_cmpuint (watch.n_moved + watch.n_hidden, ==, 0);
    watch_clear (&watch);
  }
}

/* A mast that shakes by two pixels is no move and hides nothing. How far it shakes is known after
 * a second, and forgotten when it has been still for long. */
static void
test_sway (void)
{
  View frame = usual;
  Watch watch;
  watch_start (&watch, 10);
  for (int i = 0; i < 200; i++) {
    frame.dx = 1.4 * (sin (0.71 * i) + 0.5 * sin (1.63 * i));
    frame.dy = 1.4 * (sin (0.53 * i) + 0.5 * sin (1.37 * i));
    watch_frame (&watch, &frame);
    if (i > 10)
      g_assert_cmpuint (ccl_camera_sway (watch.camera), >=, 2);
  }
  g_assert_cmpuint (watch.n_moved, ==, 0);
  g_assert_cmpuint (watch.n_hidden, <=, 2);
  watch_for (&watch, 60, &usual);
  g_assert_cmpuint (ccl_camera_sway (watch.camera), ==, 0);
  g_assert_cmpuint (watch.n_moved, ==, 0);
  watch_clear (&watch);
}

/* A pan and a zoom are reported once, and hide all until they are over. */
static void
test_pan_and_zoom (void)
{
  for (int is_zoom = 0; is_zoom < 2; is_zoom++) {
    View frame = usual;
    Watch watch;
    watch_start (&watch, 12.5);
    watch_for (&watch, 3, &usual);
    for (int i = 0; i < 100; i++) { /* 8 seconds */
      frame.dx += is_zoom ? 0 : 4;
      frame.zoom *= is_zoom ? 1.005 : 1;
      watch_frame (&watch, &frame);
      if (watch.time > 3 + 2.5)
        g_assert_true (watch.camera->hides);
    }
    g_assert_cmpuint (watch.n_moved, ==, 1);
    g_assert_cmpuint (watch.n_settled, ==, 0);
    watch_for (&watch, 3, &frame);
    g_assert_cmpuint (watch.n_moved, ==, 1);
    g_assert_cmpuint (watch.n_settled, ==, 1);
    g_assert_false (watch.camera->hides);
    watch_clear (&watch);
  }
}

/* Another picture has less texture than the model. Where only a part of the model's is left, as in
 * fog, nothing has moved. */
static void
test_cut_to_less_texture (void)
{
  static const double rates[] = {1, 5, 25};
  for (size_t i = 0; i < G_N_ELEMENTS (rates); i++) {
    for (int is_fog = 0; is_fog < 2; is_fog++) {
      View after = usual;
      Watch watch;
      after.textured = 0.4;
      after.number = is_fog ? usual.number : 7;
      watch_start (&watch, rates[i]);
      watch_for (&watch, 5, &usual);
      const double cut = watch.time;
      watch_for (&watch, 8, &after);
      g_assert_cmpuint (watch.n_moved, ==, !is_fog);
      g_assert_cmpuint (watch.n_settled, ==, !is_fog);
      g_assert_cmpint (watch.camera->hides, ==, 0);
      if (!is_fog)
        g_assert_cmpfloat (watch.moved - cut, <=, 2.01);
      watch_clear (&watch);
    }
  }
}

/* A zoom of half a second to a picture that the model takes for its own soon after, because most of
 * it is within its tolerances. */
static void
test_fast_zoom (void)
{
  View frame = usual;
  Watch watch;
  watch_start (&watch, 10);
  watch_for (&watch, 5, &usual);
  for (int i = 0; i < 5; i++) {
    frame.zoom *= 1.04;
    watch_frame (&watch, &frame);
  }
  frame.number = 7; /* farther than a zoom is looked for */
  watch_for (&watch, 0.3, &frame);
  watch.model = frame;
  watch_for (&watch, 5, &frame);
  g_assert_cmpuint (watch.n_moved, ==, 1);
  g_assert_cmpuint (watch.n_settled, ==, 1);
  watch_clear (&watch);
}

/* A mast that shakes by up to ten pixels, and a bus that passes and fills the picture. */
static void
test_no_move (void)
{
  View frame = usual;
  Watch watch;
  watch_start (&watch, 12.5);
  watch_for (&watch, 2, &usual);
  for (int i = 0; i < 120; i++) {
    frame.dx = 10 * sin (i * 0.31);
    frame.dy = 4 * sin (i * 0.5);
    watch_frame (&watch, &frame);
  }
  watch_for (&watch, 2, &usual);
  g_assert_cmpuint (watch.n_moved, ==, 0);
  frame = usual;
  for (frame.hidden = 0; frame.hidden < WIDTH + 200; frame.hidden += 12)
    watch_frame (&watch, &frame);
  watch_for (&watch, 1, &usual);
  g_assert_cmpuint (watch.n_moved + watch.n_settled, ==, 0);
  g_assert_false (watch.camera->hides);
  watch_clear (&watch);
}

/* An object in front of a plain wall, which the model has learnt, moves all the time, or stops near
 * its place or far from it. Its texture is all that there is. */
static void
test_object_in_front_of_a_wall (void)
{
  static const int ways[] = {20, 44, 100, 300};
  for (size_t i = 0; i < G_N_ELEMENTS (ways); i++) {
    for (int stops = 0; stops < 2; stops++) {
      View frame = usual;
      Watch watch;
      frame.textured = 0;
      frame.square = 20;
      watch_start (&watch, 10);
      watch.model = frame;
      watch_for (&watch, 2, &frame);
      for (int j = 0; j < 50; j++) {
        frame.square = 20 + (stops ? MIN (5 * j, ways[i]) : 5 * j % ways[i]);
        watch_frame (&watch, &frame);
      }
      watch_for (&watch, 4, &frame);
      g_assert_cmpuint (watch.n_moved + watch.n_settled + watch.n_hidden, ==, 0);
      watch_clear (&watch);
    }
  }
}

/* The masks of a young model are empty. */
static void
test_warm_up (void)
{
  static const uint32_t rates[] = {1, 2, 5, 10, 25};
  for (size_t i = 0; i < G_N_ELEMENTS (rates); i++) {
    Watch watch;
    watch_start (&watch, rates[i]);
    ccl_camera_begin (watch.camera, 2 * CUDACCL_CAMERA_SECOND);
    watch_for (&watch, 6, &usual);
    g_assert_cmpuint (watch.n_hidden, >=, 2 * rates[i] - 1);
    g_assert_cmpuint (watch.n_hidden, <=, 2 * rates[i]);
    g_assert_cmpuint (watch.n_moved + watch.n_settled, ==, 0);
    watch_clear (&watch);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/registration/shifts", test_shifts);
  g_test_add_func ("/registration/shifts-of-a-quarter", test_shifts_of_a_quarter);
  g_test_add_func ("/registration/zooms", test_zooms);
  g_test_add_func ("/registration/no-displacement", test_no_displacement);
  g_test_add_func ("/registration/no-texture", test_no_texture);
  g_test_add_func ("/registration/tall-picture", test_tall_picture);
  g_test_add_func ("/alignment/small-moves", test_small_moves);
  g_test_add_func ("/alignment/no-small-move", test_no_small_move);
  g_test_add_func ("/alignment/small-pictures", test_small_pictures);
  g_test_add_func ("/camera/knock-and-cut", test_knock_and_cut);
  g_test_add_func ("/camera/small-knock", test_small_knock);
  g_test_add_func ("/camera/drift", test_drift);
  g_test_add_func ("/camera/sway", test_sway);
  g_test_add_func ("/camera/pan-and-zoom", test_pan_and_zoom);
  g_test_add_func ("/camera/cut-to-less-texture", test_cut_to_less_texture);
  g_test_add_func ("/camera/fast-zoom", test_fast_zoom);
  g_test_add_func ("/camera/no-move", test_no_move);
  g_test_add_func ("/camera/object-in-front-of-a-wall", test_object_in_front_of_a_wall);
  g_test_add_func ("/camera/warm-up", test_warm_up);
  return g_test_run ();
}
