/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "open.h"

/* Opens a file, a folder of slices, or several files, each a slice of a volume. Its first bytes
 * tell the format of a file. Free with picture_free(). */
Picture *picture_open (
    char *const *paths, uint32_t n_paths, const PictureOptions *options, CclError *error);
