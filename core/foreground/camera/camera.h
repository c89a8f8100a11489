/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the camera has moved, from the registration of frames with the background model.
 *
 * Both are reduced to boxes of CUDACCL_CAMERA_BOX × CUDACCL_CAMERA_BOX samples of the grid of the
 * light (light.h). A backend makes the boxes of a frame and of the model before that frame; they
 * are compared before the next frame, ten times in a second of the scene at most.
 *
 * - The model's content is elsewhere for a second, or most of it is nowhere while the frames do not
 *   change, or since a cut, or since it was seen to go away: the camera has moved. A new model
 *   begins.
 * - Meanwhile the mask is empty where the content is elsewhere, and after a cut. A mast that shakes
 *   comes back before a second has passed, and nothing is reported. From then on, displacements
 *   that are no greater count as those of the mast.
 * - Then the model settles: the mask is empty for CUDACCL_CAMERA_SETTLING, and longer while the
 *   camera goes on moving: models begin anew, without a further report.
 *
 * CPU and GPU give the same boxes, so what follows is the same, frame by frame.
 */
#pragma once

#include "alignment.h"
#include "core/foreground/light.h"
#include "registration.h"

enum { CUDACCL_CAMERA_BOX = 4, CUDACCL_CAMERA_MOST_SWAY = 6 };

#define CUDACCL_CAMERA_SECOND UINT64_C (1000000000)
/* Nanoseconds of the scene: */
#define CUDACCL_CAMERA_INTERVAL (CUDACCL_CAMERA_SECOND / 10) /* from comparison to comparison */
#define CUDACCL_CAMERA_PERSISTENCE (CUDACCL_CAMERA_SECOND * 4 / 5) /* of what is reported */
#define CUDACCL_CAMERA_LEAVING (CUDACCL_CAMERA_SECOND / 5)         /* of content that goes away */
#define CUDACCL_CAMERA_ZOOM (CUDACCL_CAMERA_SECOND * 8 / 5)        /* of a zoom */
/* Of a shift that is not far, and of content that is nowhere since a cut, in frames that change: */
#define CUDACCL_CAMERA_MOST_SHAKING (3 * CUDACCL_CAMERA_SECOND)
#define CUDACCL_CAMERA_CUT (CUDACCL_CAMERA_SECOND * 6 / 5)
/* How long masks are empty after a move; and after a turn to infrared light, once the exposure has
 * settled, and the longest wait for that. */
#define CUDACCL_CAMERA_SETTLING (CUDACCL_CAMERA_SECOND * 3 / 2)
#define CUDACCL_CAMERA_INFRARED_SETTLING (CUDACCL_CAMERA_SECOND * 6 / 10)
#define CUDACCL_CAMERA_MOST_EXPOSING (8 * CUDACCL_CAMERA_SECOND)
#define CUDACCL_CAMERA_MEMORY (25 * CUDACCL_CAMERA_SECOND)        /* of the picture at rest */
#define CUDACCL_CAMERA_SWAY_MEMORY (16 * CUDACCL_CAMERA_SECOND)   /* of a mast that sways */
#define CUDACCL_CAMERA_MOST_DURATION (10 * CUDACCL_CAMERA_SECOND) /* a frame counts no more */

typedef struct CclCamera {
  CclLightGrid grid;
  uint32_t width, height, stride; /* in boxes: those wholly in the frame, and from row to row */
  uint32_t box;                   /* pixels of the model in a box's side */
  uint8_t *boxes;                 /* of the frame, then of the model */
  CclRegistration *registration;
  CclAlignment *alignment;

  bool takes_boxes;                  /* the frame at work makes them */
  bool hides;                        /* its mask is empty */
  uint64_t elapsed;                  /* since the last comparison, the frame at work included */
  uint64_t settling;                 /* time that is left */
  uint64_t exposing;                 /* time that is left for the exposure to settle */
  uint64_t displaced, absent, still; /* for how long content has been elsewhere, or nowhere, and
                                      * frames have not changed meanwhile */
  uint64_t left;                     /* `displaced` when content was elsewhere last */
  uint32_t n_comparisons;            /* in which content was elsewhere or nowhere */
  int32_t drift_x, drift_y; /* of the models of this move so far, in steps of registration.h */
  bool is_far;              /* the last displacement found is that of no shaking camera */
  bool was_cut;             /* content is nowhere since a cut */
  bool was_found;       /* the last comparison has found the content, at its place or elsewhere */
  bool was_calm;        /* frames did not change when the content was last at its place */
  bool is_reported;     /* a change was reported, and its end is to be */
  CclDisplacement move; /* the last displacement found, none if there was none */
  float distance;       /* from the one before, in boxes */
  float peak, sway;     /* in boxes: the greatest displacement since the picture came back last, and
                         * the greatest from which it has come back */

  /* Of the last run. */
  CclSceneChange change;
  bool has_displacement;
  int32_t dx, dy; /* pixels of the model */
} CclCamera;

/* For a model of width × height pixels. NULL without memory. */
CclCamera *ccl_camera_new (uint32_t width, uint32_t height);

void ccl_camera_free (CclCamera *self);

/* The bytes of the boxes of a frame, and of the model. */
size_t ccl_camera_boxes_size (const CclCamera *self);

/* Begins a model. warm_up: how long its masks are empty, in nanoseconds of the scene. */
void ccl_camera_begin (CclCamera *self, uint64_t warm_up);

/* Takes the time of a frame, and what the boxes of the frame before show, if it has made any.
 * Returns whether a new model has to begin with the frame. looks: the frame makes boxes if it is
 * asked to. */
bool ccl_camera_advance (CclCamera *self, uint64_t duration, bool looks);

/* How far a shaking camera displaces the picture, in pixels of the model, rounded up. 0 where it
 * does not, or by more than CUDACCL_CAMERA_MOST_SWAY: too much of an object would be explained
 * (sway.h). */
uint32_t ccl_camera_sway (const CclCamera *self);

/* The backend has found a change of the scene by other means. */
void ccl_camera_note (CclCamera *self, CclSceneChange change);
