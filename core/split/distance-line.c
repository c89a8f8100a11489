/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The distance transform of a line of pixels: the lower envelope of parabolas. */
#include "distance-line.h"

/* The parabola of a site at u. Sites outside the stretch, from first up to but not including end,
 * have distance 0. */
static int64_t
parabola (const DistanceLine *line, int64_t first, int64_t end, int64_t site, int64_t u)
{
  const int64_t height = site >= first && site < end ? (int64_t)line->squared[site] : 0;
  return (u - site) * (u - site) + height;
}

/* Adds the parabola of a site to the envelope of n sites before it. Returns the new number. */
static uint32_t
add_site (DistanceLine *line, int64_t first, int64_t end, uint32_t n, int64_t site)
{
  while (n > 0 && parabola (line, first, end, line->sites[n - 1], line->begins[n - 1]) >
                      parabola (line, first, end, site, line->begins[n - 1]))
    n--;
  int64_t begin = first;
  if (n > 0) {
    /* Behind the last column at which the site before is not farther. */
    const int64_t before = line->sites[n - 1];
    const int64_t difference =
        parabola (line, first, end, site, 0) - parabola (line, first, end, before, 0);
    begin = difference / (2 * (site - before)) + 1;
  }
  if (begin >= end)
    return n;
  line->sites[n] = site;
  line->begins[n] = begin;
  return n + 1;
}

/* Transforms a stretch of a line of `length` pixels. */
static void
transform_stretch (DistanceLine *line, int64_t first, int64_t end, int64_t length)
{
  uint32_t n = 0;

  if (first > 0)
    n = add_site (line, first, end, n, first - 1);
  for (int64_t x = first; x < end; x++)
    if (line->squared[x] != LINE_NO_DISTANCE)
      n = add_site (line, first, end, n, x);
  if (end < length)
    n = add_site (line, first, end, n, end);
  if (n == 0)
    return;
  /* The envelope is complete, and the distances behind u are not needed for those before it; those
   * of sites before u are changed later. */
  int64_t *const new = line->begins + length + 2;
  for (int64_t u = end - 1; u >= first; u--) {
    new[u] = parabola (line, first, end, line->sites[n - 1], u);
    if (u == line->begins[n - 1])
      n--;
  }
  for (int64_t u = first; u < end; u++)
    line->squared[u] = (uint64_t) new[u];
}

void
distance_line_transform (DistanceLine *line, int64_t length)
{
  for (int64_t first = 0, end; first < length; first = end) {
    const uint32_t label = line->labels[first];
    for (end = first + 1; end < length && line->labels[end] == label;)
      end++;
    if (label)
      transform_stretch (line, first, end, length);
  }
}
