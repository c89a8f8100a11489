/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture of --intensity: a plane of values for each colour. */
#pragma once

#include "open.h"

typedef struct Intensities {
  Picture *picture;      /* NULL: none was opened */
  CclPixelFormat format; /* of the values: of uint8 and uint16 as they are, of others doubles */
  uint32_t n_planes;
} Intensities;

/* Opens the intensities of a picture, of the same size. ignores_nan: in them. Close them in any
 * case. */
bool intensities_open (Intensities *self, const char *name, const PictureOptions *options,
    const Picture *picture, bool ignores_nan, CclError *error);

/* Reads rows of a plane, counted through all slices. */
bool intensities_read (const Intensities *self, uint32_t plane, uint64_t first_row, uint64_t n_rows,
    void *values, CclError *error);

/* Bytes of a value. */
size_t intensities_bytes (const Intensities *self);

void intensities_close (Intensities *self);
