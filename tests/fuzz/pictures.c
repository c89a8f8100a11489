/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arbitrary files for the readers of pictures. A reader either reports an error of one line, or
 * delivers the same pixels and the same mask however they are read. The first byte selects how the
 * rest is read: as a raw file or as one that says its format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "open.h"
#include "target.h"

enum { MOST_PIXELS = 1 << 18 };

static void
check_message (const CclError *error)
{
  if (error->status == CUDACCL_OK || !error->message[0] || strchr (error->message, '\n')) {
    fprintf (stderr, "not a line of an error: '%s'\n", error->message);
    abort ();
  }
}

static bool
read_rows (Picture *picture, bool mask, uint64_t row, uint64_t n, uint8_t *pixels, CclError *error)
{
  return mask ? picture_read_mask (picture, row, n, pixels, error)
              : picture_read (picture, row, n, 100, pixels, error);
}

/* Reads all rows at once, and again one by one from the last to the first. */
static void
read_all (Picture *picture, bool mask)
{
  const uint64_t n_rows = picture->height * picture->depth, width = picture->width;
  uint8_t *at_once = malloc (n_rows * width), *row = malloc (width);
  CclError error = {CUDACCL_OK, ""};

  if (!read_rows (picture, mask, 0, n_rows, at_once, &error)) {
    check_message (&error);
  } else {
    for (uint64_t y = n_rows; y-- > 0 && y + 20 > n_rows;) {
      if (!read_rows (picture, mask, y, 1, row, &error) ||
          memcmp (row, at_once + y * width, width) != 0) {
        fprintf (
            stderr, "row %lu differs when it is read alone: %s\n", (unsigned long)y, error.message);
        abort ();
      }
    }
  }
  free (at_once);
  free (row);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  CclError error = {CUDACCL_OK, ""};
  PictureOptions options = {.formats = picture_formats};
  char path[40];

  if (size < 1)
    return 0;
  if (data[0] % 16 == 15)
    options.raw = (RawFormat){1 + data[0] / 16, 3, 1, false, SAMPLE_UINT16};
  const int file = memfd_create ("picture", MFD_CLOEXEC);
  if (file < 0 || write (file, data + 1, size - 1) != (ssize_t)(size - 1))
    abort ();
  snprintf (path, sizeof path, "/proc/self/fd/%d", file);
  Picture *picture = picture_open_file (path, &options, &error);
  if (!picture) {
    check_message (&error);
  } else if (picture->width * picture->height * picture->depth <= MOST_PIXELS) {
    read_all (picture, false);
    read_all (picture, true);
  }
  picture_free (picture);
  close (file);
  return 0;
}

/* A generated input begins like a file of one of the formats. */
void
make_quick (uint8_t *data, size_t size)
{
  static const char *const heads[] = {"P5\n4 3\n255\n", "P5 3 2 65535\n", "\x89PNG\r\n\x1a\n",
      "\x93NUMPY\x01", "II*", "II+", "P1\n2 2\n", "P3 1 1 9\n", "\xff\xd8\xff\xe0", "P4\n9 2\n"};
  static const size_t lengths[] = {11, 13, 8, 8, 4, 4, 7, 9, 4, 7};
  const uint32_t format = data[0] % 11;
  if (format < 10 && size > 1 + lengths[format])
    memcpy (data + 1, heads[format], lengths[format]);
}
