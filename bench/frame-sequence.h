/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sequences of luma frames, of a drawn scene or from a file of raw frames. */
#ifndef BENCH_FRAME_SEQUENCE_H
#define BENCH_FRAME_SEQUENCE_H

#include <glib.h>
#include <stdint.h>

/* Frames without padding, one after the other. */
typedef struct FrameSequence {
  uint32_t width, height, n_frames;
  uint8_t *pixels;
} FrameSequence;

/* Parses a command line with the options of a sequence (size, number of frames, file) and the
 * program's own, and makes the sequence: raw frames scaled to the size, or a drawn street with
 * camera noise, waving leaves in a third of the picture, and objects that move at different speeds.
 *
 * Ends the program with one line and exit status 2 if the command line is wrong, 1 if the file
 * cannot be read. Free with frame_sequence_free(). */
FrameSequence *frame_sequence_from_command_line (
    int *argc, char ***argv, const GOptionEntry *entries, const char *summary);

void frame_sequence_free (FrameSequence *sequence);

/* The frame at a time from 0 on: forwards to the last frame, backwards to the first, and so on, so
 * that no object jumps. */
const uint8_t *frame_sequence_at (const FrameSequence *sequence, uint64_t time);

#endif /* BENCH_FRAME_SEQUENCE_H */
