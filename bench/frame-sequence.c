/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame-sequence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

G_GNUC_PRINTF (2, 3)
G_NORETURN static void
stop (int status, const char *format, ...)
{
  va_list arguments;

  fprintf (stderr, "%s: ", g_get_prgname ());
  va_start (arguments, format);
  vfprintf (stderr, format, arguments);
  va_end (arguments);
  fputc ('\n', stderr);
  exit (status);
}

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

const uint8_t *
frame_sequence_at (const FrameSequence *sequence, uint64_t time)
{
  const uint64_t n = sequence->n_frames, period = n > 1 ? 2 * (n - 1) : 1;
  const uint64_t place = time % period, index = place < n ? place : period - place;
  return sequence->pixels + index * sequence->width * sequence->height;
}

/* A pseudo-random number that depends on the arguments only. */
static uint32_t
hash (uint32_t x, uint32_t y, uint32_t z)
{
  uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ z * 0xc2b2ae3du;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

/* Camera noise: the sum of four numbers is nearly normal, with a standard deviation of 2. */
static int
noise (uint32_t random)
{
  int sum = (int)(random & 7) + (int)(random >> 3 & 7) + (int)(random >> 6 & 7);
  return (sum + (int)(random >> 9 & 7) - 14) / 2;
}

static void
draw_frame (uint8_t *pixels, uint32_t width, uint32_t height, uint32_t frame)
{
  enum { N_OBJECTS = 24 };
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      int value = 60 + (int)(hash (x / 16, y / 16, 1) % 100) + (int)(hash (x, y, 2) % 20);
      /* Leaves of 6×6 pixels change their brightness for some frames. */
      if (y < height / 3 && hash (x / 6, y / 6, frame / 3 + hash (x / 6, y / 6, 3) % 7) % 4 == 0)
        value = 40 + (int)(hash (x / 6, y / 6, 4) % 160);
      value += noise (hash (x, y, frame + 1000));
      pixels[(size_t)y * width + x] = (uint8_t)CLAMP (value, 0, 255);
    }
  }
  for (uint32_t i = 0; i < N_OBJECTS; i++) {
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

/* Reads frames until there is room for no more, and ends the program if there is none. */
static void
read_frames (FrameSequence *sequence, const char *path, const uint32_t size[2], bool is_nv12)
{
  const size_t n_pixels = (size_t)sequence->width * sequence->height;
  const size_t luma_size = (size_t)size[0] * size[1];
  const size_t frame_size = luma_size + (is_nv12 ? luma_size / 2 : 0);
  g_autofree uint8_t *frame = g_malloc (frame_size);
  const uint32_t room = sequence->n_frames;
  FILE *file = fopen (path, "rb");

  if (!file)
    stop (1, "%s: %s", path, g_strerror (errno));
  sequence->n_frames = 0;
  while (sequence->n_frames < room && fread (frame, frame_size, 1, file) == 1)
    scale (frame, size[0], size[1], sequence->pixels + n_pixels * sequence->n_frames++,
        sequence->width, sequence->height);
  fclose (file);
  if (sequence->n_frames == 0)
    stop (1, "%s has no frame of %u×%u", path, size[0], size[1]);
}

FrameSequence *
frame_sequence_from_command_line (
    int *argc, char ***argv, const GOptionEntry *entries, const char *summary)
{
  int width = 1920, height = 1080, n_frames = 100;
  g_autofree char *file = NULL, *file_size = NULL;
  gboolean is_nv12 = FALSE;
  uint32_t size[2] = {0, 0};
  const GOptionEntry own_entries[] = {
      {"width", 0, 0, G_OPTION_ARG_INT, &width, "width of the frames; default: 1920", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &height, "height of the frames; default: 1080", "PIXELS"},
      {"frames", 0, 0, G_OPTION_ARG_INT, &n_frames,
          "different frames, which are used forwards and backwards; default: 100", "N"},
      {"file", 0, 0, G_OPTION_ARG_FILENAME, &file,
          "raw frames, which are scaled; default: a drawn scene", "FILE"},
      {"file-size", 0, 0, G_OPTION_ARG_STRING, &file_size, "size of the file's frames",
          "WIDTHxHEIGHT"},
      {"nv12", 0, 0, G_OPTION_ARG_NONE, &is_nv12, "the file's frames are NV12, not GRAY8", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new (summary);
  g_autoptr (GError) error = NULL;
  FrameSequence *sequence;

  g_option_context_add_main_entries (context, own_entries, NULL);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &error))
    stop (2, "%s", error->message);
  if (width < 1 || height < 1 || n_frames < 1)
    stop (2, "--width, --height and --frames take numbers from 1 on");
  if (file &&
      (!file_size || sscanf (file_size, "%ux%u", &size[0], &size[1]) != 2 || !size[0] || !size[1]))
    stop (2, "--file needs the size of its frames: --file-size WIDTHxHEIGHT");

  sequence = sequence_new ((uint32_t)width, (uint32_t)height, (uint32_t)n_frames);
  if (file)
    read_frames (sequence, file, size, is_nv12);
  for (uint32_t i = 0; !file && i < sequence->n_frames; i++)
    draw_frame (sequence->pixels + (size_t)width * (size_t)height * i, sequence->width,
        sequence->height, i);
  printf (
      "%d×%d, %u frames of %s\n", width, height, sequence->n_frames, file ? file : "a drawn scene");
  return sequence;
}
