/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame-sequence.h"

#include <gio/gio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static FrameSequence *
sequence_new (uint32_t width, uint32_t height, uint32_t n_frames)
{
  FrameSequence *sequence = g_new (FrameSequence, 1);
  *sequence = (FrameSequence){width, height, n_frames, NULL};
  sequence->pixels = g_malloc ((size_t)width * height * n_frames);
  return sequence;
}

void
frame_sequence_free (FrameSequence *sequence)
{
  if (sequence)
    g_free (sequence->pixels);
  g_free (sequence);
}

uint32_t
frame_sequence_index_at (uint32_t n_frames, uint64_t time)
{
  const uint64_t period = n_frames > 1 ? 2 * (uint64_t)(n_frames - 1) : 1;
  const uint64_t place = time % period;
  return (uint32_t)(place < n_frames ? place : period - place);
}

/* Numbers that depend on nothing but the arguments. */
static uint32_t
hash (uint32_t x, uint32_t y, uint32_t z)
{
  uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ z * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

/* Noise of a camera: the sum of four numbers is nearly normal, here with a deviation of 2. */
static int
noise (uint32_t random)
{
  int sum = (int)(random & 7) + (int)(random >> 3 & 7) + (int)(random >> 6 & 7);
  return (sum + (int)(random >> 9 & 7) - 14) / 2;
}

static void
draw_frame (uint8_t *pixels, uint32_t width, uint32_t height, uint32_t frame)
{
  enum { N_THINGS = 24 };
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      int value = 60 + (int)(hash (x / 16, y / 16, 1) % 100) + (int)(hash (x, y, 2) % 20);
      /* Leaves: each of 6×6 pixels turns its other side for some frames. */
      if (y < height / 3 && hash (x / 6, y / 6, frame / 3 + hash (x / 6, y / 6, 3) % 7) % 4 == 0)
        value = 40 + (int)(hash (x / 6, y / 6, 4) % 160);
      value += noise (hash (x, y, frame + 1000));
      pixels[(size_t)y * width + x] = (uint8_t)CLAMP (value, 0, 255);
    }
  }
  for (uint32_t i = 0; i < N_THINGS; i++) {
    const uint32_t w = width / 48 + hash (i, 5, 0) % (width / 48 + 1);
    const uint32_t h = height / 16 + hash (i, 6, 0) % (height / 16 + 1);
    const int speed = 1 + (int)(hash (i, 7, 0) % 6);
    const uint32_t left =
        (hash (i, 8, 0) + (uint32_t)(i % 2 ? speed : (int)width - speed) * frame) % width;
    const uint32_t top = height / 3 + hash (i, 9, 0) % (height - height / 3);
    for (uint32_t y = top; y < MIN (top + h, height); y++) {
      for (uint32_t x = left; x < MIN (left + w, width); x++) {
        const int value = (i % 3 ? 20 : 210) + (int)(hash (x - left, y - top, i) % 25);
        pixels[(size_t)y * width + x] = (uint8_t)value;
      }
    }
  }
}

FrameSequence *
frame_sequence_new_drawn (uint32_t width, uint32_t height, uint32_t n_frames)
{
  FrameSequence *sequence = sequence_new (width, height, n_frames);
  for (uint32_t i = 0; i < n_frames; i++)
    draw_frame (sequence->pixels + (size_t)width * height * i, width, height, i);
  return sequence;
}

/* Bilinear, pixel centres at half coordinates. */
static void
scale (const uint8_t *from, uint32_t from_width, uint32_t from_height, uint8_t *to, uint32_t width,
    uint32_t height)
{
  for (uint32_t y = 0; y < height; y++) {
    const double at_y = ((double)y + 0.5) * from_height / height - 0.5;
    const double inside_y = CLAMP (at_y, 0, from_height - 1.0);
    const uint32_t top = MIN ((uint32_t)inside_y, from_height - 1);
    const uint32_t bottom = MIN (top + 1, from_height - 1);
    for (uint32_t x = 0; x < width; x++) {
      const double at_x = ((double)x + 0.5) * from_width / width - 0.5;
      const double inside_x = CLAMP (at_x, 0, from_width - 1.0);
      const uint32_t left = MIN ((uint32_t)inside_x, from_width - 1);
      const uint32_t right = MIN (left + 1, from_width - 1);
      const double u = inside_x - left, v = inside_y - top;
      const uint8_t *upper = from + (size_t)top * from_width;
      const uint8_t *lower = from + (size_t)bottom * from_width;
      to[(size_t)y * width + x] = (uint8_t)((1 - v) * ((1 - u) * upper[left] + u * upper[right]) +
                                            v * ((1 - u) * lower[left] + u * lower[right]) + 0.5);
    }
  }
}

FrameSequence *
frame_sequence_new_from_file (const char *path, uint32_t file_width, uint32_t file_height,
    gboolean is_nv12, uint32_t width, uint32_t height, uint32_t n_frames, GError **error)
{
  const size_t luma_size = (size_t)file_width * file_height;
  const size_t chroma_size = is_nv12 ? luma_size / 2 : 0;
  g_autofree uint8_t *frame = g_malloc (luma_size + chroma_size);
  FILE *file = fopen (path, "rb");
  if (!file) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot open %s", path);
    return NULL;
  }
  FrameSequence *sequence = sequence_new (width, height, n_frames);
  sequence->n_frames = 0;
  while (sequence->n_frames < n_frames && fread (frame, luma_size + chroma_size, 1, file) == 1) {
    scale (frame, file_width, file_height,
        sequence->pixels + (size_t)width * height * sequence->n_frames, width, height);
    sequence->n_frames++;
  }
  fclose (file);
  if (sequence->n_frames == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s has no frame of %u×%u", path,
        file_width, file_height);
    g_clear_pointer (&sequence, frame_sequence_free);
  }
  return sequence;
}
