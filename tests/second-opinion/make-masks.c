/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes the foreground masks of frames on the CPU, for comparison with other programs.
 *
 * usage: make-masks FOREGROUND WIDTH HEIGHT [NAME=VALUE…] <FRAMES >MASKS
 *
 * FRAMES and MASKS are width × height bytes a frame, without padding; with chroma=1, FRAMES are
 * I420 frames without padding; with a wide other than 0, luma has 16 bits, little-endian. Each mask
 * is written before the next frame is read. FOREGROUND is threshold, otsu, mog2 or codebook. NAME
 * is threshold, invert, denoise (0…4 as CclDenoise), history, var-threshold, learning-rate,
 * mixtures, shadows (0…2 as CclShadows), light, hold, closing-width, closing-height, reduction,
 * chroma or wide. Where none is given, values are those of OpenCV without shadows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cudaccl/foreground.h>

static int
fail (const char *message)
{
  fprintf (stderr, "make-masks: %s\n", message);
  return EXIT_FAILURE;
}

static bool
set_option (CclForegroundPlan *plan, CclForegroundOptions *options, const char *argument)
{
  const char *value = strchr (argument, '=');
  if (!value)
    return false;
  const size_t length = (size_t)(value++ - argument);
  const double number = strtod (value, NULL);
#define IS(name) (length == strlen (name) && strncmp (argument, name, length) == 0)
  if (IS ("threshold"))
    options->threshold = (uint32_t)number;
  else if (IS ("invert"))
    options->invert = number != 0;
  else if (IS ("denoise"))
    options->denoise = (CclDenoise)number;
  else if (IS ("history"))
    options->history = (uint32_t)number;
  else if (IS ("var-threshold"))
    options->var_threshold = (float)number;
  else if (IS ("learning-rate"))
    options->learning_rate = number;
  else if (IS ("mixtures"))
    options->mixtures = (uint32_t)number;
  else if (IS ("shadows"))
    options->shadows = (CclShadows)number;
  else if (IS ("light"))
    options->light = number != 0;
  else if (IS ("hold"))
    options->hold = (uint32_t)number;
  else if (IS ("closing-width"))
    options->closing_width = (uint32_t)number;
  else if (IS ("closing-height"))
    options->closing_height = (uint32_t)number;
  else if (IS ("rate"))
    options->frame_duration = (uint64_t)(1e9 / number);
  else if (IS ("reduction"))
    plan->reduction = (uint32_t)number;
  else if (IS ("chroma"))
    plan->has_chroma = number != 0;
  else if (IS ("wide"))
    plan->format = number != 0 ? CUDACCL_PIXEL_FORMAT_16 : CUDACCL_PIXEL_FORMAT_8;
  else
    return false;
#undef IS
  return true;
}

int
main (int argc, char **argv)
{
  static const char *const kinds[] = {"threshold", "otsu", "mog2", "codebook"};
  if (argc < 4)
    return fail ("usage: make-masks FOREGROUND WIDTH HEIGHT [NAME=VALUE…] <FRAMES >MASKS");

  CclForegroundPlan plan = {
      .width = (uint32_t)strtoul (argv[2], NULL, 10),
      .height = (uint32_t)strtoul (argv[3], NULL, 10),
  };
  while (plan.method < 4 && strcmp (kinds[plan.method], argv[1]) != 0)
    plan.method++;
  CclForegroundOptions options = {
      .size = sizeof (CclForegroundOptions),
      .threshold = 127,
      .history = 500,
      .var_threshold = 16,
      .learning_rate = -1,
      .mixtures = 5,
  };
  for (int i = 4; i < argc; i++)
    if (!set_option (&plan, &options, argv[i]))
      return fail ("there is no such option");

  CclError error;
  CclForeground *foreground = ccl_cpu_foreground_new (&plan, &error);
  if (!foreground)
    return fail (error.message);
  const size_t n_pixels = (size_t)plan.width * plan.height;
  const size_t stride = ((size_t)plan.width + 1) / 2;
  const size_t n_samples = plan.has_chroma ? stride * (((size_t)plan.height + 1) / 2) : 0;
  const size_t pixel_size = plan.format == CUDACCL_PIXEL_FORMAT_16 ? 2 : 1;
  const size_t frame_size = pixel_size * n_pixels + 2 * n_samples;
  uint8_t *pixels = malloc (frame_size), *mask_pixels = malloc (n_pixels);
  if (!pixels || !mask_pixels)
    return fail ("out of memory");
  const uint8_t *u = pixels + pixel_size * n_pixels;
  const CclFrame frame = {
      .data = pixels,
      .stride = pixel_size * plan.width,
      .chroma = {u, u + n_samples, stride, stride, 1, 1, 1},
  };
  const CclMask mask = {.data = mask_pixels, .stride = plan.width};

  while (fread (pixels, 1, frame_size, stdin) == frame_size) {
    if (ccl_foreground_run (foreground, &frame, &options, &mask, &error) != CUDACCL_OK)
      return fail (error.message);
    if (fwrite (mask_pixels, 1, n_pixels, stdout) != n_pixels || fflush (stdout) != 0)
      return fail ("could not write the mask");
  }
  free (mask_pixels);
  free (pixels);
  ccl_foreground_free (&foreground);
  return EXIT_SUCCESS;
}
