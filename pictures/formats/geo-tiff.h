/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pictures/geo.h"

#include <cudaccl/labeller.h>
#include <tiffio.h>

/* Reads the tags of the current directory. Clear it in any case. Fills the error without memory. */
bool geo_read (TIFF *tiff, GeoReference *geo, CclError *error);

void geo_clear (GeoReference *geo);

/* The value of pixels without data, of GDAL's tag. Returns whether there is one. */
bool geo_read_no_data (TIFF *tiff, double *value);
