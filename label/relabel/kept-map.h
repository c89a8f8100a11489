/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A label map that is kept between two passes, in a file without a name. Functions that return bool
 * fill the error if they return false.
 */
#pragma once

#include <cudaccl/tiled.h>

typedef struct KeptMap KeptMap;

/* Makes a map in a folder; NULL: the folder of temporary files. what: what messages call the
 * labels. Returns NULL with the error filled. */
KeptMap *kept_map_new (const char *folder, const char *what, CclError *error);

/* Writes the labels of n pixels, of so many bytes each; first: the index of the first pixel. */
bool kept_map_write (KeptMap *map, uint64_t first, const void *labels, size_t n,
    uint32_t label_bytes, CclError *error);

/* Reads labels that were written. */
bool kept_map_read (const KeptMap *map, uint64_t first, void *labels, size_t n,
    uint32_t label_bytes, CclError *error);

void kept_map_free (KeptMap *map); /* NULL is allowed */
