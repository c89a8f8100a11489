/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All formats, in a file of its own: a program that names its formats does not link the others. */
#include "picture.h"

#include <string.h>

#if !HAVE_PNG
static bool
begins_like_png (const uint8_t *head, size_t n)
{
  return n >= 4 && memcmp (head, "\x89PNG", 4) == 0;
}

const PictureFormat picture_png = {"PNG", begins_like_png, NULL};
#endif

#if !HAVE_TIFF
static bool
begins_like_tiff (const uint8_t *head, size_t n)
{
  return n >= 4 && (memcmp (head, "II*\0", 4) == 0 || memcmp (head, "MM\0*", 4) == 0);
}

const PictureFormat picture_tiff = {"TIFF", begins_like_tiff, NULL};
#endif

#if !HAVE_JPEG
static bool
begins_like_jpeg (const uint8_t *head, size_t n)
{
  return n >= 3 && memcmp (head, "\xff\xd8\xff", 3) == 0;
}

const PictureFormat picture_jpeg = {"JPEG", begins_like_jpeg, NULL};
#endif

const PictureFormat *const picture_formats[] = {
    &picture_png, &picture_jpeg, &picture_pnm, &picture_npy, &picture_tiff, NULL};
