/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The codebook model of any backend (foreground-backend.h): masks and scene changes are those of
 * the reference. A backend without the model skips the checks. */
#pragma once

#include "tests/unit/foreground/foreground-backend.h"

/* Every pixel format and chroma layout, with options that change from frame to frame. */
void check_codebook_of_every_format (const ForegroundBackend *backend);

/* Widths that end at every position in a block and in a word. */
void check_codebook_of_every_width (const ForegroundBackend *backend);

/* Another picture, and a camera that turns to infrared, or is covered or blinded. */
void check_codebook_scene_changes (const ForegroundBackend *backend);

/* More frames than CUDACCL_CODEBOOK_MOST_TIME. */
void check_codebook_for_a_long_time (const ForegroundBackend *backend);

/* Words that come back again and again are background after CUDACCL_CODEBOOK_RECURRENT_AGE steps.
 */
void check_codebook_of_leaves (const ForegroundBackend *backend);

/* Ground that is still for long, before objects come and stay, and before it becomes another one.
 */
void check_codebook_at_rest (const ForegroundBackend *backend);

/* Light that flickers, in noise so strong that no cell is uniform: all have the frame's light. */
void check_codebook_of_uncovered_ground (const ForegroundBackend *backend);
void check_codebook_in_light_of_noise (const ForegroundBackend *backend);
void check_codebook_in_white_noise (const ForegroundBackend *backend);
void check_codebook_at_night (const ForegroundBackend *backend);
void check_codebook_of_faint_objects (const ForegroundBackend *backend);

/* Bands of light of 20 % that run through the frame, as lamps and a rolling shutter make them, are
 * not foreground, and an object before them is found. Later they stop, and the shadow of a cloud
 * comes, whose edges are sharp. */
void check_codebook_in_bands_of_light (const ForegroundBackend *backend);

/* A mast shakes by two pixels: its ground is no foreground, and objects are. */
void check_codebook_of_a_shaking_camera (const ForegroundBackend *backend);

/* A camera that loses a faint chroma, and nothing else: objects are still found. */
void check_codebook_without_chroma_from_now_on (const ForegroundBackend *backend);

/* Masks of reduced frames are those of frames that this check reduces. */
void check_codebook_of_reduced_frames (const ForegroundBackend *backend);
