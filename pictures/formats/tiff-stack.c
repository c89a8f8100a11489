/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tiff-stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 16 };

/* The number in a text after a key; 1 without the key, without a number, or for 0. */
static uint64_t
number_after (const char *text, const char *end, const char *key)
{
  const char *at = strstr (text, key);

  if (!at || at >= end || !isdigit ((unsigned char)at[strlen (key)]))
    return 1;
  const uint64_t number = strtoull (at + strlen (key), NULL, 10);
  return number ? number : 1;
}

/* Lines such as "slices=9", of ImageJ and of programs that follow it. */
static bool
read_imagej (const char *text, TiffStack *stack)
{
  const char *end = text + strlen (text);

  stack->n_slices = number_after (text, end, "\nslices=");
  stack->n_channels = number_after (text, end, "\nchannels=");
  stack->n_times = number_after (text, end, "\nframes=");
  /* A plain stack may have its number of images alone. */
  if (tiff_stack_planes (stack) == 1)
    stack->n_slices = number_after (text, end, "\nimages=");
  return tiff_stack_planes (stack) > 1;
}

/* The element Pixels of OME-XML, whose channels may be the samples of a pixel. */
static bool
read_ome (const char *text, uint64_t n_samples, TiffStack *stack)
{
  const char *pixels = strstr (text, "<Pixels ");
  const char *end = pixels ? strchr (pixels, '>') : NULL;

  if (!end)
    return false;
  stack->n_slices = number_after (pixels, end, " SizeZ=\"");
  stack->n_channels = number_after (pixels, end, " SizeC=\"");
  stack->n_times = number_after (pixels, end, " SizeT=\"");
  if (stack->n_channels % n_samples == 0)
    stack->n_channels /= n_samples;
  stack->n_images = 0;
  for (const char *at = pixels; at; at = strstr (at + 1, "<Pixels "))
    stack->n_images++;
  return tiff_stack_planes (stack) > 1 || stack->n_images > 1;
}

/* The text of a key in the JSON of tifffile, after the character that begins its value. */
static const char *
value_of (const char *text, const char *key, char begin)
{
  const char *at = strstr (text, key);

  if (!at)
    return NULL;
  at += strlen (key);
  at += strspn (at, " :");
  return *at == begin ? at + 1 : NULL;
}

/* {"shape": [9, 20, 30], "axes": "ZYX"} of tifffile. The last axes are those of a plane. */
static bool
read_shape (const char *text, uint64_t plane, TiffStack *stack)
{
  const char *at = value_of (text, "\"shape\"", '['), *axes = value_of (text, "\"axes\"", '"');
  const size_t n_names = axes ? strcspn (axes, "\"") : 0;
  uint64_t lengths[MOST_AXES];
  size_t n = 0;

  for (; at && n < MOST_AXES && isdigit ((unsigned char)*at); at += strspn (at, " ,"))
    lengths[n++] = strtoull (at, (char **)&at, 10);
  const bool has_names = n_names == n;
  for (; n > 0 && (plane > 1 || lengths[n - 1] == 1); n--) {
    if (lengths[n - 1] == 0 || plane % lengths[n - 1])
      return false;
    plane /= lengths[n - 1];
  }
  bool has_last = false; /* the last axis without a name is that of slices */
  while (n-- > 0 && plane == 1) {
    const char name = has_names && strchr ("ZCT", axes[n]) ? axes[n] : 0;
    const bool is_slices = name == 'Z' || (!has_names && !has_last && lengths[n] > 1);
    uint64_t *count = is_slices     ? &stack->n_slices
                      : name == 'C' ? &stack->n_channels
                      : name == 'T' ? &stack->n_times
                                    : &stack->n_others;
    has_last |= is_slices;
    if (__builtin_mul_overflow (*count, lengths[n] ? lengths[n] : 1, count))
      *count = UINT64_MAX;
  }
  return tiff_stack_planes (stack) > 1;
}

uint64_t
tiff_stack_planes (const TiffStack *stack)
{
  uint64_t n = stack->n_slices;

  return __builtin_mul_overflow (n, stack->n_channels, &n) ||
                 __builtin_mul_overflow (n, stack->n_times, &n) ||
                 __builtin_mul_overflow (n, stack->n_others, &n)
             ? UINT64_MAX
             : n;
}

bool
tiff_stack_read (const char *description, uint64_t n_samples, uint64_t n_pixels, TiffStack *stack)
{
  *stack = (TiffStack){1, 1, 1, 1, 1};
  if (strncmp (description, "ImageJ=", 7) == 0 || strncmp (description, "SCIFIO=", 7) == 0)
    return read_imagej (description, stack);
  if (description[0] == '{')
    return read_shape (description, n_samples * n_pixels, stack);
  return strstr (description, "<OME") && read_ome (description, n_samples, stack);
}
