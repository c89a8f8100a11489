/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of picture-png.c where there is no libpng. */
#include "picture.h"

#include "error.h"

Picture *
picture_open_png (const char *path, CclError *error)
{
  fail (error, "%s: built without libpng, so PNG files cannot be read", path);
  return NULL;
}
