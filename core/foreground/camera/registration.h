/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registration: where the content of the background model is in a frame.
 *
 * Both are small pictures of luma, a byte for each box of pixels (camera.h). Only their texture
 * counts: what differs from the mean of 5×5 boxes by more than noise. Grey walls, roads and the
 * night sky have none. The picture of the model is divided into blocks of 8×8 boxes. The similarity
 * of a block with a place of the frame is 100 × (1 − SAD / (A + B)), where SAD is the sum of
 * absolute differences of both textures, and A and B are the sums of their absolute values: 100 for
 * equal textures, whatever their contrast, and 0 for textures that have nothing in common.
 *
 * A displacement is supported by the blocks that are more similar to the place there than to their
 * own. An object in front of texture has no such support, however large it is: it hides the content
 * of the model, and does not show it at another place.
 *
 * An object that the model has learnt, and that then moves, shows its own content at another place.
 * So the model's texture has to be spread over the picture, since in front of a plain wall an
 * object's is all that there is, and the supporting blocks over half of the model's, both ways.
 *
 * All numbers are integers, so that the result is the same wherever the pictures come from.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
  CUDACCL_REGISTRATION_BLOCK = 8,       /* boxes of a block's side */
  CUDACCL_REGISTRATION_RANGE = 12,      /* boxes that content is looked for in each direction */
  CUDACCL_REGISTRATION_MAX_BLOCKS = 64, /* that are looked for */
  CUDACCL_REGISTRATION_STEPS = 16,      /* of a displacement of one box */
};

typedef struct CclRegistration CclRegistration;

typedef struct CclRegistrationResult {
  uint32_t n_blocks;     /* of the model that have texture */
  uint32_t n_agreeing;   /* those that the frame has at their own place */
  bool is_spread;        /* their texture is that of the picture, and not of an object in it */
  uint32_t n_textured;   /* blocks of the frame that have texture */
  uint32_t n_still;      /* those that the frame of the call before has at their own place */
  uint32_t noise;        /* the median difference from that frame, at most 4 */
  bool is_displaced;     /* the frame has the model's content elsewhere */
  bool has_displacement; /* at the same distance everywhere: the picture was not zoomed */
  int32_t dx, dy;        /* how far, in 1 / CUDACCL_REGISTRATION_STEPS box, to the right and down */
} CclRegistrationResult;

/* Pictures of width × height boxes, in rows of `stride` bytes. NULL without memory. */
CclRegistration *ccl_registration_new (uint32_t width, uint32_t height, uint32_t stride);

void ccl_registration_free (CclRegistration *self);

/* Compares a frame with the model, and with the frame of the call before. The displacement is
 * looked for if the model's texture is spread, unless seven eighths of the blocks agree. */
CclRegistrationResult ccl_registration_compare (
    CclRegistration *self, const uint8_t *frame, const uint8_t *model);
