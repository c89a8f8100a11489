/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The orientation, 1…8, in Exif data, which begin with a header of TIFF; 0 without one. */
uint32_t exif_orientation (const uint8_t *bytes, size_t n);
