/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the number of points, the points as x, y, metres x, metres y, and then pixels as x, y.
 * Writes the positions of the pixels, or "none" for those beyond the horizon. */
#include <cudaccl/ground.h>

#include <stdio.h>

int
main (void)
{
  CclGroundPoint points[CUDACCL_MAX_GROUND_POINTS];
  unsigned n;
  if (scanf ("%u", &n) != 1 || n > CUDACCL_MAX_GROUND_POINTS)
    return 2;
  for (unsigned i = 0; i < n; i++)
    if (scanf ("%lf %lf %lf %lf", &points[i].x, &points[i].y, &points[i].ground_x,
            &points[i].ground_y) != 4)
      return 2;
  CclError error;
  CclGround *ground = ccl_ground_new (&(CclGroundPlan){.n_points = n, .points = points}, &error);
  if (!ground) {
    fprintf (stderr, "%s\n", error.message);
    return 1;
  }
  double x, y, ground_x, ground_y;
  while (scanf ("%lf %lf", &x, &y) == 2)
    if (ccl_ground_map (ground, x, y, &ground_x, &ground_y))
      printf ("%.17g %.17g\n", ground_x, ground_y);
    else
      printf ("none\n");
  ccl_ground_free (&ground);
  return 0;
}
