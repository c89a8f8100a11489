/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ground that objects stand on. */
#include "module.h"

#include <cmath>

/* Points, feet and motions are arrays of doubles in Python. */
static_assert (sizeof (CclGroundPoint) == 4 * sizeof (double));
static_assert (sizeof (CclTrackFoot) == 12 * sizeof (double));
static_assert (sizeof (CclGroundMotion) == 13 * sizeof (double));

class Ground {
public:
  /* points: rows of CclGroundPoint as bytes. */
  explicit Ground (const View &points)
  {
    const CclGroundPlan plan = {.size = sizeof (CclGroundPlan),
        .n_points = to_uint32 (
            "the number of points", (int64_t)(points.n_elements () / sizeof (CclGroundPoint))),
        .points = (const CclGroundPoint *)points.data};
    handle_.make ([&] (CclError *error) { return ccl_ground_new (&plan, error); });
  }

  double
  residual () const
  {
    return ccl_ground_residual (handle_);
  }

  /* The positions of places of the picture, rows of two doubles as bytes. */
  nb::bytearray
  locate (const View &places) const
  {
    const size_t n = places.n_elements () / (2 * sizeof (double));
    const double *place = (const double *)places.data;
    std::vector<double> positions (2 * n, NAN);
    for (size_t i = 0; i < n; i++)
      ccl_ground_map (
          handle_, place[2 * i], place[2 * i + 1], &positions[2 * i], &positions[2 * i + 1]);
    return nb::bytearray ((const char *)positions.data (), positions.size () * sizeof (double));
  }

  /* The motions of feet, rows of CclTrackFoot as bytes. */
  nb::bytearray
  motion (const View &feet, double frame_rate) const
  {
    const size_t n = feet.n_elements () / sizeof (CclTrackFoot);
    const CclTrackFoot *foot = (const CclTrackFoot *)feet.data;
    std::vector<double> motions (n * sizeof (CclGroundMotion) / sizeof (double), NAN);
    for (size_t i = 0; i < n; i++)
      ccl_ground_locate (handle_, &foot[i], frame_rate, (CclGroundMotion *)motions.data () + i);
    return nb::bytearray ((const char *)motions.data (), motions.size () * sizeof (double));
  }

private:
  Handle<CclGround, ccl_ground_free> handle_;
};

void
bind_ground (nb::module_ &module)
{
  nb::class_<Ground> (module, "Ground", "The ground that objects stand on.")
      .def (nb::init<const View &> (), "points"_a)
      .def ("residual", &Ground::residual, "The residual of the points in pixels.")
      .def ("locate", &Ground::locate, "places"_a,
          "The positions of places of the picture; NaN beyond the horizon.")
      .def ("motion", &Ground::motion, "feet"_a, "frame_rate"_a,
          "The motions of feet; NaN beyond the horizon.");
}
