/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstcclcolors.h"

#include <math.h>

/* The hues are steps of the golden ratio around the colour circle. */
void
gst_ccl_color_of_number (guint64 number, gdouble rgb[3])
{
  const gdouble hue = fmod ((gdouble)(number % 100000) * 0.6180339887498949, 1.0) * 6;
  const gdouble rest = hue - floor (hue);
  const guint sector = (guint)hue;

  rgb[0] = rgb[1] = rgb[2] = 0;
  rgb[(sector + 1) / 2 % 3] = 1;
  rgb[(7 - sector) % 3] = sector % 2 ? 1 - rest : rest;
}

guint
gst_ccl_color_of_id (guint64 id)
{
  gdouble rgb[3];
  guint color = 0xff;

  gst_ccl_color_of_number (id, rgb);
  for (guint i = 0; i < 3; i++)
    color = color << 8 | (guint)(255 * (0.3 + 0.7 * rgb[i]) + 0.5);
  return color;
}
