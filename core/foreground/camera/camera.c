/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "camera.h"

#include <math.h>
#include <stdlib.h>

enum {
  /* Textured blocks of the model; with fewer, no finding is possible. */
  LEAST_BLOCKS = 6,
  /* The least part of these that are at their place if the camera has not moved. */
  AGREEING_EIGHTHS = 4,
  /* The greatest part of these that are at their place if the content is not in the frame. */
  ABSENT_EIGHTHS = 2,
  /* The least number of textured blocks that the frame has then, in quarters of the model's; or in
     eighths, if most of the frame's have another texture. */
  TEXTURED_QUARTERS = 2,
  PLAIN_EIGHTHS = 1,
  /* Of the frame's textured blocks, the least part that are where they were, in frames that do not
     change. */
  STILL_EIGHTHS = 6,
  /* In a cut, the greatest part of the frame's that are where they were, and the least part of the
     model's that were at their place before it. An object that fills the picture takes longer than
     one frame to cover it. */
  CUT_EIGHTHS = 2,
  BEFORE_CUT_EIGHTHS = 6,
  /* The exposure has changed if so many eighths of the boxes differ by more than so many steps of
     luma. */
  EXPOSURE_STEPS = 6,
  EXPOSURE_EIGHTHS = 1,
  /* Comparisons that a report needs. */
  LEAST_COMPARISONS = 2,
  /* Steps of registration: no shaking mast displaces the picture as far. */
  FAR = 6 * CUDACCL_REGISTRATION_STEPS,
};

/* The least displacement that counts, in pixels of the model and in boxes. */
static const float LEAST_MOVE = 0.8f, LEAST_BOXES = 0.1f;
/* The greatest zoom and turn that a displacement may have to count as a shift: in boxes, or as a
 * part of the shift. */
static const float SHIFT = 0.15f, SHIFT_SHARE = 0.2f;
/* A picture at rest is displaced by less than this from one comparison to the next, in boxes. */
static const float AT_REST = 0.1f;
/* A sway of less than this is forgotten, in boxes. */
static const float LEAST_SWAY = 0.08f;
/* A camera that shakes has come back if its displacement is less than this part of its peak. */
static const float COMES_BACK = 0.7f;
/* A displacement up to this multiple of a known sway is the same sway. */
static const float SWAY_MARGIN = 1.25f;

typedef enum Finding { NOTHING, AT_PLACE, SWAYING, ELSEWHERE, NOWHERE } Finding;

CclCamera *
ccl_camera_new (uint32_t width, uint32_t height)
{
  CclCamera *self = calloc (1, sizeof *self);
  if (!self)
    return NULL;
  self->grid = ccl_light_grid (width, height);
  self->box = CUDACCL_CAMERA_BOX << (self->grid.shift - 4);
  self->width = width / self->box;
  self->height = height / self->box;
  self->stride = self->grid.columns * (CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX);
  self->registration = ccl_registration_new (self->width, self->height, self->stride);
  self->alignment = ccl_alignment_new (self->width, self->height, self->stride);
  self->boxes = calloc (2, ccl_camera_boxes_size (self));
  if (self->registration && self->alignment && self->boxes)
    return self;
  ccl_camera_free (self);
  return NULL;
}

void
ccl_camera_free (CclCamera *self)
{
  if (!self)
    return;
  ccl_registration_free (self->registration);
  ccl_alignment_free (self->alignment);
  free (self->boxes);
  free (self);
}

size_t
ccl_camera_boxes_size (const CclCamera *self)
{
  return (size_t)self->stride * self->grid.rows * (CUDACCL_LIGHT_SAMPLES / CUDACCL_CAMERA_BOX);
}

/* Nothing is suspected. */
static void
clear_suspicion (CclCamera *self)
{
  self->displaced = self->left = self->absent = self->still = 0;
  self->n_comparisons = 0;
  self->was_cut = false;
}

void
ccl_camera_begin (CclCamera *self, uint64_t warm_up)
{
  clear_suspicion (self);
  self->was_found = self->was_calm = self->is_reported = self->takes_boxes = false;
  self->drift_x = self->drift_y = 0;
  self->settling = warm_up;
  self->exposing = 0;
  self->elapsed = 0;
  self->move = (CclDisplacement){0, 0, 0, 0};
  self->peak = self->sway = 0;
  ccl_alignment_begin (self->alignment);
}

/* Finds a displacement by alignment, which also sees those that are too small for registration, and
 * stores it in the result. Returns whether there is one. */
static bool
align (CclCamera *self, CclRegistrationResult *result)
{
  const CclDisplacement none = {0, 0, 0, 0};
  const float step = CUDACCL_REGISTRATION_STEPS,
              noise = result->noise ? (float)result->noise : 0.5f;
  const CclDisplacement registered = {(float)result->dx / step, (float)result->dy / step, 0, 0};
  CclAlignmentResult aligned =
      ccl_alignment_compare (self->alignment, self->boxes, &self->move, noise);

  if (!aligned.is_supported && result->has_displacement)
    aligned = ccl_alignment_compare (self->alignment, self->boxes, &registered, noise);
  if (!aligned.is_supported || aligned.size < LEAST_BOXES ||
      aligned.size * (float)self->box < LEAST_MOVE) {
    self->move = none;
    return false;
  }
  const float shift = sqrtf (aligned.move.dx * aligned.move.dx + aligned.move.dy * aligned.move.dy);
  const float most = SHIFT_SHARE * shift > SHIFT ? SHIFT_SHARE * shift : SHIFT;
  self->distance = ccl_alignment_distance (self->alignment, &self->move, &aligned.move);
  self->move = aligned.move;
  result->is_displaced = true;
  result->has_displacement = fabsf (aligned.move.zoom) < most && fabsf (aligned.move.turn) < most;
  result->dx = (int32_t)lrintf (step * aligned.move.dx);
  result->dy = (int32_t)lrintf (step * aligned.move.dy);
  return true;
}

/* Whether a displacement is that of a camera that shakes: it has come back, or is not greater than
 * one that has. */
static bool
is_swaying (CclCamera *self, float size)
{
  const bool comes_back = size < COMES_BACK * self->peak;
  if (comes_back) {
    self->sway = self->peak > self->sway ? self->peak : self->sway;
    self->peak = 0;
  }
  self->peak = size > self->peak ? size : self->peak;
  return comes_back || size <= SWAY_MARGIN * self->sway;
}

/* Whether the frame has about as much texture as the model. In fog it has less. */
static bool
is_as_textured (const CclRegistrationResult *result)
{
  return 4 * result->n_textured >= TEXTURED_QUARTERS * result->n_blocks;
}

static Finding
judge (CclCamera *self, CclRegistrationResult *result)
{
  const CclDisplacement none = {0, 0, 0, 0};

  if (result->n_blocks < LEAST_BLOCKS || !result->is_spread)
    return NOTHING;
  if (align (self, result))
    return result->has_displacement &&
                   is_swaying (self, ccl_alignment_distance (self->alignment, &none, &self->move))
               ? SWAYING
               : ELSEWHERE;
  if (result->is_displaced)
    return ELSEWHERE;
  if (8 * result->n_agreeing >= AGREEING_EIGHTHS * result->n_blocks)
    return is_swaying (self, 0) && self->sway > 0 ? SWAYING : AT_PLACE;
  return 8 * result->n_agreeing <= ABSENT_EIGHTHS * result->n_blocks &&
                 (is_as_textured (result) ||
                     (8 * result->n_textured >= PLAIN_EIGHTHS * result->n_blocks &&
                         8 * result->n_agreeing <= ABSENT_EIGHTHS * result->n_textured))
             ? NOWHERE
             : NOTHING;
}

/* Notes a finding. time: since the comparison before. */
static void
suspect (CclCamera *self, Finding finding, const CclRegistrationResult *result, uint64_t time)
{
  const bool is_cut =
      self->was_found && self->was_calm && 8 * result->n_still <= CUT_EIGHTHS * result->n_textured;
  const bool is_still =
      8 * result->n_still >= STILL_EIGHTHS * result->n_textured && self->distance < AT_REST;

  if (finding != ELSEWHERE && finding != NOWHERE) {
    clear_suspicion (self);
  } else {
    self->was_cut |= finding == NOWHERE && is_cut && is_as_textured (result);
    self->n_comparisons++;
    self->left = finding == ELSEWHERE ? self->displaced + time : self->left;
    self->displaced = finding == ELSEWHERE ? self->displaced + time : 0;
    self->absent = finding == NOWHERE ? self->absent + time : 0;
    self->still = is_still ? self->still + time : 0;
  }
  if (finding == AT_PLACE || finding == SWAYING)
    self->was_calm = is_still && finding == AT_PLACE;
  self->was_found =
      finding == ELSEWHERE || 8 * result->n_agreeing >= BEFORE_CUT_EIGHTHS * result->n_blocks;
}

/* Whether a shift is so far that the camera does not shake, but goes on moving. */
static bool
is_far (const CclCamera *self, const CclRegistrationResult *result)
{
  return result->has_displacement &&
         (abs (self->drift_x + result->dx) >= FAR || abs (self->drift_y + result->dy) >= FAR);
}

/* Whether the model's content was displaced for some time before it was not found any more. */
static bool
has_left (const CclCamera *self)
{
  return self->left >= CUDACCL_CAMERA_LEAVING && self->absent >= CUDACCL_CAMERA_LEAVING &&
         self->left + self->absent >= CUDACCL_CAMERA_PERSISTENCE * 3 / 4;
}

/* Whether what was found so far is enough to report that the camera has moved. */
static bool
has_moved (const CclCamera *self, const CclRegistrationResult *result)
{
  if (self->n_comparisons < LEAST_COMPARISONS)
    return false;
  if (self->displaced > 0)
    return self->still >= CUDACCL_CAMERA_PERSISTENCE ||
           (self->displaced >= CUDACCL_CAMERA_PERSISTENCE && self->is_far) ||
           (self->displaced >= CUDACCL_CAMERA_ZOOM && !result->has_displacement) ||
           self->displaced >= CUDACCL_CAMERA_MOST_SHAKING;
  return self->absent > 0 && (self->still >= CUDACCL_CAMERA_PERSISTENCE || has_left (self) ||
                                 (self->was_cut && self->absent >= CUDACCL_CAMERA_CUT));
}

/* While a model settles: whether it has to begin anew, because the camera still moves. */
static bool
moves_on (const CclCamera *self, const CclRegistrationResult *result)
{
  return self->absent > 0 || self->displaced >= CUDACCL_CAMERA_PERSISTENCE ||
         (self->displaced > 0 && (self->is_far || !result->has_displacement ||
                                     self->still >= CUDACCL_CAMERA_PERSISTENCE / 2));
}

static void
report_move (CclCamera *self, const CclRegistrationResult *result)
{
  const int32_t step = CUDACCL_REGISTRATION_STEPS, half = step / 2;
  const int32_t dx = result->dx * (int32_t)self->box, dy = result->dy * (int32_t)self->box;

  self->change = CUDACCL_SCENE_MOVED;
  self->is_reported = true;
  self->has_displacement = result->has_displacement;
  self->dx = (dx + (dx < 0 ? -half : half)) / step;
  self->dy = (dy + (dy < 0 ? -half : half)) / step;
}

/* Forgets the displacement and the reference picture. */
static void
begin_again (CclCamera *self)
{
  clear_suspicion (self);
  self->peak = 0;
  self->move = (CclDisplacement){0, 0, 0, 0};
  ccl_alignment_begin (self->alignment);
}

/* Learns the picture where its content is not displaced, and lets the known sway fade. */
static void
learn (CclCamera *self, Finding finding, uint64_t time)
{
  const float seconds = (float)time / (float)CUDACCL_CAMERA_SECOND;
  const float memory = (float)(CUDACCL_CAMERA_MEMORY / CUDACCL_CAMERA_SECOND);
  const float of_sway = (float)(CUDACCL_CAMERA_SWAY_MEMORY / CUDACCL_CAMERA_SECOND);

  if (finding != ELSEWHERE && finding != NOWHERE)
    ccl_alignment_learn (self->alignment, seconds < memory ? seconds / memory : 1);
  self->sway -= seconds < of_sway ? self->sway * seconds / of_sway : self->sway;
  if (self->sway < LEAST_SWAY)
    self->sway = 0;
}

/* Whether the exposure has changed since the model began. Parts of the picture that were white then
 * have texture now, which no change of light explains. */
static bool
changes_exposure (const CclCamera *self)
{
  const uint8_t *model = self->boxes + ccl_camera_boxes_size (self);
  uint32_t n_changed = 0;
  for (uint32_t y = 0; y < self->height; y++)
    for (uint32_t x = 0; x < self->width; x++) {
      const size_t i = (size_t)y * self->stride + x;
      n_changed += abs (self->boxes[i] - model[i]) > EXPOSURE_STEPS;
    }
  return (uint64_t)8 * n_changed >= (uint64_t)EXPOSURE_EIGHTHS * self->width * self->height;
}

/* Compares the boxes of the frame before. Returns whether a new model has to begin. */
static bool
compare (CclCamera *self)
{
  const uint64_t time = self->elapsed;
  CclRegistrationResult result = ccl_registration_compare (
      self->registration, self->boxes, self->boxes + ccl_camera_boxes_size (self));
  const bool is_settling = self->settling > 0;

  self->elapsed = 0;
  self->distance = 0;
  const Finding finding = judge (self, &result);
  self->is_far = is_far (self, &result);
  learn (self, finding, time);
  suspect (self, finding, &result, time);
  if (is_settling && self->exposing > 0 && changes_exposure (self)) {
    begin_again (self);
    self->settling = CUDACCL_CAMERA_INFRARED_SETTLING;
    return true;
  }
  if (is_settling ? !moves_on (self, &result) : !has_moved (self, &result))
    return false;
  if (!is_settling)
    report_move (self, &result);
  self->drift_x = is_settling ? self->drift_x + result.dx : 0;
  self->drift_y = is_settling ? self->drift_y + result.dy : 0;
  begin_again (self);
  self->settling = CUDACCL_CAMERA_SETTLING;
  self->exposing = 0;
  return true;
}

/* Takes the time of a frame off what is left of settling, and reports the end of it. */
static void
settle (CclCamera *self, uint64_t duration)
{
  if (self->settling == 0)
    return;
  self->exposing -= duration < self->exposing ? duration : self->exposing;
  self->settling -= duration < self->settling ? duration : self->settling;
  if (self->settling == 0 && self->displaced > 0)
    self->settling = 1; /* the camera goes on moving, or the model begins anew */
  if (self->settling == 0 && self->is_reported && self->change == CUDACCL_SCENE_UNCHANGED) {
    self->change = CUDACCL_SCENE_SETTLED;
    self->is_reported = false;
  }
}

bool
ccl_camera_advance (CclCamera *self, uint64_t duration, bool looks)
{
  const uint64_t most = CUDACCL_CAMERA_MOST_DURATION;
  const uint64_t time = duration == 0 ? CUDACCL_FRAME_DURATION : duration < most ? duration : most;
  bool begins = false;

  self->change = CUDACCL_SCENE_UNCHANGED;
  self->has_displacement = false;
  self->dx = self->dy = 0;
  if (self->takes_boxes)
    begins = compare (self);
  if (!begins)
    settle (self, time);
  self->elapsed += time;
  self->takes_boxes = looks && !begins && self->elapsed >= CUDACCL_CAMERA_INTERVAL;
  self->hides = self->settling > 0 || self->was_cut || (self->displaced > 0 && self->was_calm);
  return begins;
}

void
ccl_camera_note (CclCamera *self, CclSceneChange change)
{
  if (change == CUDACCL_SCENE_UNCHANGED)
    return;
  begin_again (self);
  const bool is_infrared = change == CUDACCL_SCENE_INFRARED;
  self->settling = is_infrared ? CUDACCL_CAMERA_INFRARED_SETTLING : CUDACCL_CAMERA_SETTLING;
  self->exposing = is_infrared ? CUDACCL_CAMERA_MOST_EXPOSING : 0;
  self->is_reported = change == CUDACCL_SCENE_INFRARED || change == CUDACCL_SCENE_MOVED;
}

uint32_t
ccl_camera_sway (const CclCamera *self)
{
  const float greatest = self->peak > self->sway ? self->peak : self->sway;
  const uint32_t pixels = (uint32_t)ceilf (greatest * (float)self->box);
  return greatest < LEAST_SWAY || pixels > CUDACCL_CAMERA_MOST_SWAY ? 0 : pixels;
}
