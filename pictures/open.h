/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "picture.h"

/* How to open a picture. */
typedef struct PictureOptions {
  RawFormat raw;
  const PictureFormat *const *formats; /* with NULL at the end */
  bool as_values;   /* numbers that name classes: palettes have their indices, JPEG its colours */
  bool is_slice;    /* the file is a slice of a volume, whatever it says about others */
  uint64_t page;    /* of several, from 1 on, which becomes a frame; 0: all */
  uint32_t channel; /* of colour, from 1 on: red, green, blue; 0: all */
  bool pipes;       /* read pipes, too, and "-" as standard input; only for single files */
  uint64_t most_bytes, most_pixels; /* of a file; 0: no limit */
} PictureOptions;

/* Opens one file, of the format that its first bytes tell, turned by its orientation. Free with
 * picture_free(). */
Picture *picture_open_file (const char *path, const PictureOptions *options, CclError *error);
