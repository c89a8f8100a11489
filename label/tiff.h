/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The latest message of libtiff, which it hands to a function without an argument of the caller's.
 */
#ifndef CCL_LABEL_TIFF_H
#define CCL_LABEL_TIFF_H

#include <cudaccl/labeller.h>

#include <tiffio.h>

/* Silences libtiff and keeps its latest error. */
void tiff_catch_errors (void);

/* Fills the error with the latest message and returns false. */
bool tiff_fail (CclError *error, const char *path);

#endif /* CCL_LABEL_TIFF_H */
