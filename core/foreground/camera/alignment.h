/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Alignment: how far a frame is displaced from a reference, to a small part of a box.
 *
 * Frames are small pictures of luma, a byte for each box of pixels (camera.h). The reference is the
 * mean of the frames that were learnt, which follows a slow drift. Both are compared
 * without the mean of 5×5 boxes.
 *
 * The displacement is that of a similarity: a shift, a zoom and a rotation about the centre. It is
 * found by least squares from gradients, over blocks of 8×8 boxes, as B. Lucas and T. Kanade, "An
 * iterative image registration technique with an application to stereo vision", IJCAI 1981, do.
 * Each block may have a contrast of its own, and blocks that fit badly count little, so that light
 * and objects do not matter.
 *
 * A displacement is supported if most of the blocks in which it can be seen are explained by it: it
 * takes away at least half of the difference that it would make. Blocks that are hidden by an
 * object, or have stayed where they were, do not support it.
 *
 * Host code that CPU and GPU share: both give the same boxes, so the results are the same.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct CclAlignment CclAlignment;

/* A shift to the right and down, and how far a zoom and a rotation displace the middle of the right
 * edge; in boxes. */
typedef struct CclDisplacement {
  float dx, dy, zoom, turn;
} CclDisplacement;

typedef struct CclAlignmentResult {
  bool is_supported;     /* the frame is displaced by `move`; otherwise that is a guess */
  CclDisplacement move;  /* from where content is in the reference to where it is in the frame */
  float size;            /* how far it displaces the picture on average, in boxes */
  uint32_t n_blocks;     /* of the reference, in which it would be visible */
  uint32_t n_supporting; /* those of them that it explains */
} CclAlignmentResult;

/* For pictures of width × height boxes, in rows of `stride` bytes. NULL without memory. */
CclAlignment *ccl_alignment_new (uint32_t width, uint32_t height, uint32_t stride);

void ccl_alignment_free (CclAlignment *self);

/* Forgets the reference. */
void ccl_alignment_begin (CclAlignment *self);

/* Compares a frame with the reference. start: where the search begins. noise: the standard
 * deviation of a box. Without a reference nothing is displaced. */
CclAlignmentResult ccl_alignment_compare (
    CclAlignment *self, const uint8_t *frame, const CclDisplacement *start, float noise);

/* Takes the frame of the last comparison into the reference, with that share; as long as the
 * reference is of few frames, with a greater one that makes it the mean of all. */
void ccl_alignment_learn (CclAlignment *self, float share);

/* How far apart two displacements bring the picture on average, in boxes. */
float ccl_alignment_distance (
    const CclAlignment *self, const CclDisplacement *from, const CclDisplacement *to);
