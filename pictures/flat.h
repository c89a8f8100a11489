/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that hold the samples one after the other behind a header. */
#pragma once

#include "picture.h"

typedef struct Flat {
  Picture picture;
  PictureFile *file;
  uint64_t offset;  /* of the first sample */
  bool swap;        /* the samples have the other byte order */
  bool has_more;    /* other bytes may follow the samples */
  bool is_bits;     /* rows of bits in whole bytes, as in PBM: 1 is black */
  uint8_t *bit_row; /* room for such a row */
} Flat;

/* A picture whose size and type are to be filled in. Takes the file, also if it fails. */
Flat *flat_new (PictureFile *file, CclError *error);

/* Returns the picture. If is_good is false, or if the file has another size than header and samples
 * have together, or is smaller with has_more, it frees it and returns NULL. */
Picture *flat_finish (Flat *flat, bool is_good, CclError *error);

/* Opens a file without a header. */
Picture *picture_open_raw (PictureFile *file, const RawFormat *raw, CclError *error);
