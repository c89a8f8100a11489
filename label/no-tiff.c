/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of picture-tiff.c where there is no libtiff. */
#include "picture.h"

#include "error.h"

Picture *
picture_open_tiff (const char *path, CclError *error)
{
  fail (error, "%s: built without libtiff, so TIFF files cannot be read", path);
  return NULL;
}
