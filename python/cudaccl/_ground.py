# SPDX-License-Identifier: LGPL-2.1-or-later
"""Positions in metres and speeds of tracks."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _cudaccl
from ._arrays import view_of
from ._tracker import foot_dtype

motion_dtype: np.dtype[np.void] = np.dtype([(name, np.float64) for name in (
    "x", "y", "velocity_x", "velocity_y", "speed", "xx", "xy", "yy", "vxx", "vxy", "vyy", "position_deviation",
    "speed_deviation")])
"""The motion of an object on the ground: position (metres), velocity (metres per second), speed (km/h),
covariances of the position (m²) and of the velocity ((m/s)²), the standard deviation of the position in
the direction in which it is least certain (metres), and that of the speed along the motion (km/h).
Since: 0.3"""


class Ground:
    """The ground that objects stand on: four or more points of the picture whose positions are known in
    metres. The method, a homography, is described in cudaccl/ground.h of the C library.

    points: N×4, N from 4 to 256, no three of four on one line: x and y in the picture (pixels, edges
        are between pixels), x and y on the ground (metres, axes and origin of your choice). With four
        points the homography is exact, with more it has the least squared distances in the picture.

    Raises ValueError if the points do not determine a homography, or MemoryError. A ground does not
    change, so any number of threads may use it. Since: 0.3
    """

    def __init__(self, points: ArrayLike) -> None:
        rows = np.ascontiguousarray(points, np.float64)
        if rows.ndim != 2 or rows.shape[1] != 4:
            raise ValueError(f"points have the shape (N, 4), not {rows.shape}")
        self._ground = _cudaccl.Ground(view_of(rows.view(np.uint8)))

    @property
    def residual(self) -> float:
        """The root of the mean squared distance in pixels between the given points and those where the
        homography has them. More than a few pixels mean that a point is wrong or the ground is not flat.
        Since: 0.3"""
        return self._ground.residual()

    def locate(self, places: ArrayLike) -> NDArray[np.float64]:
        """The positions of points of the ground that are seen in the picture.

        places: N×2, x and y in the picture (pixels).

        Returns N×2, x and y in metres; NaN for a point at or beyond the horizon. Raises ValueError.
        Since: 0.3
        """
        rows = np.ascontiguousarray(places, np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(f"places have the shape (N, 2), not {rows.shape}")
        return np.frombuffer(self._ground.locate(view_of(rows.view(np.uint8)))).reshape(-1, 2)

    def motion(self, feet: NDArray[Any], frame_rate: float) -> NDArray[Any]:
        """The motion of tracks on the ground, with its uncertainty.

        feet: rows of foot_dtype, as Tracker.feet has them.
        frame_rate: frames per second that the tracker counts, greater than 0.

        Returns a row of motion_dtype for each foot point, of NaN where it is not certainly this side of
        the horizon. Raises ValueError or TypeError. Since: 0.3
        """
        if getattr(feet, "dtype", None) != foot_dtype or feet.ndim != 1:
            raise TypeError("an array of foot_dtype is needed")
        if not 0 < frame_rate < float("inf"):
            raise ValueError(f"frame_rate must be greater than 0, not {frame_rate}")
        rows = np.ascontiguousarray(feet).view(np.uint8)
        return np.frombuffer(self._ground.motion(view_of(rows), frame_rate), motion_dtype)
