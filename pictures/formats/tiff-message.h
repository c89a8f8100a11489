/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors of libtiff: the latest message of each file, and nothing on standard error. */
#pragma once

#include <cudaccl/labeller.h>

#include <tiffio.h>

typedef struct TiffMessage {
  char text[200]; /* empty: none */
} TiffMessage;

/* Options that open a file whose errors go to the message, which must live as long as the file.
 * Free with TIFFOpenOptionsFree(). NULL without memory. */
TIFFOpenOptions *tiff_options_new (TiffMessage *message);

/* Fills the error with the message and returns false. */
bool tiff_fail (CclError *error, const char *path, const TiffMessage *message);
