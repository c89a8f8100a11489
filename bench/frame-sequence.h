/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Luma frames one after the other: those of a video, or of a scene that is drawn. */
#ifndef BENCH_FRAME_SEQUENCE_H
#define BENCH_FRAME_SEQUENCE_H

#include <glib.h>
#include <stdint.h>

/* Frames without padding, one behind the other. */
typedef struct FrameSequence {
  uint32_t width, height, n_frames;
  uint8_t *pixels;
} FrameSequence;

/* A street, so to speak: a textured ground with camera noise, leaves that wave in a third of it,
 * and things that move, every one at its own speed. Free with frame_sequence_free(). */
FrameSequence *frame_sequence_new_drawn (uint32_t width, uint32_t height, uint32_t n_frames);

/* Reads frames of file_width × file_height from a file that holds nothing else, GRAY8 or, with
 * is_nv12, NV12 without padding, and scales them. At most n_frames; NULL if the file has none. */
FrameSequence *frame_sequence_new_from_file (const char *path, uint32_t file_width,
    uint32_t file_height, gboolean is_nv12, uint32_t width, uint32_t height, uint32_t n_frames,
    GError **error);

void frame_sequence_free (FrameSequence *sequence);

/* The frame at a time that goes on for ever: forwards to the end, backwards to the start, and so
 * on, so that nothing jumps. */
uint32_t frame_sequence_index_at (uint32_t n_frames, uint64_t time);

#endif /* BENCH_FRAME_SEQUENCE_H */
