# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracking of components."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import view_of
from ._images import check_integers
from ._labeller import ALL, check_sides, component_dtype
from ._regionprops import label_map_of

DEFAULTS = _cudaccl.tracker_defaults()  # those of the library and the elements

track_dtype: np.dtype[np.void] = np.dtype(
    [("id", np.uint64), ("state", np.uint32), ("age", np.int64), ("lost", np.int64), ("label", np.int32),
     ("n_sharing", np.int32), ("x", np.float64), ("y", np.float64), ("width", np.float64), ("height", np.float64),
     ("velocity_x", np.float64), ("velocity_y", np.float64)], align=True)
"""A track: id (from 1, unique in the tracker's life), state (0 tentative, 1 confirmed, 2 static, 3
lost), age and lost (frames since it was first and last found), label of its component (0 when lost),
n_sharing (other tracks in that component), the estimated box of the object (pixels; edges are between
pixels) and its velocity (pixels per frame). Since: 0.2"""

member_dtype: np.dtype[np.void] = np.dtype([("row", np.int32), ("track", np.int32)])
"""A track that is in a component: the row of the component table and the index of the track.
Since: 0.2"""

event_dtype: np.dtype[np.void] = np.dtype([("kind", np.uint32), ("id", np.uint64), ("other", np.uint64)], align=True)
"""An event of a confirmed track: kind (0 appeared, 1 vanished, 2 merged, 3 split), its id, and for
merged and split the id of the oldest other track. Since: 0.2"""


foot_dtype: np.dtype[np.void] = np.dtype([(name, np.float64) for name in (
    "x", "y", "velocity_x", "velocity_y", "height", "lag", "var_x", "var_velocity_x", "cov_x", "var_y", "var_velocity_y",
    "cov_y")])
"""The foot point of a track, the middle of its box's lower edge (pixels), the velocity of the middle of
its box (pixels per frame), the height of the box, the number of frames by which the height follows late,
and for each axis the variances of position and velocity and their covariance. Since: 0.3"""


def host_labels(labels: Any) -> NDArray[np.uint32]:
    """A label map of a frame in host memory, as the library reads it."""
    map: NDArray[np.uint32] = label_map_of(labels, None)[0]
    return map


class Tracks(NamedTuple):
    """The tracks of a frame. Since: 0.2"""

    tracks: NDArray[Any]
    """Rows of track_dtype in the order of their ids."""

    members: NDArray[Any]
    """Rows of member_dtype in the order of components."""

    events: NDArray[Any]
    """Rows of event_dtype."""


class Tracker:
    """Gives the components of successive frames identities: an id for each object, also while it is
    hidden, in pieces, or in one component with others. The method is described in
    cudaccl/tracker.h of the C library; the same input gives the same tracks on every machine.

    shape: (height, width) of the frames.
    max_tracks: 1…4096; with this number of tracks, no new one begins.
    max_components: 1…4096; of a longer table, only the largest components are tracked.

    The other arguments are attributes, too, and hold from the next frame:

    confirm_frames: at least 1: a track is confirmed when it was found in this number of successive
        frames.
    max_lost: frames: a track ends when it was not found for longer.
    static_frames: a track that stayed at its place for this number of frames is static; 0: never.
    frame_rate: frames per second, 0.01…10000; 0: unknown, 25 is used.
    least_way: 0…100, in sizes of the object (the square root of its box's area): a track must go so far, and farther
        where tracks come to nothing, before it is confirmed. ccltrack uses 0.3. 0: none must. Since: 0.4
    whole_objects: whether each row is an object by itself, as the boxes of a detector are: none is divided or joined, and
        tracks share none. Since: 0.4

    Raises ValueError or MemoryError. Calls from several threads run one after the other. Since: 0.2
    """

    def __init__(self, shape: tuple[int, int], *, max_tracks: int = DEFAULTS["max_tracks"],
                 max_components: int = DEFAULTS["max_components"], confirm_frames: int = DEFAULTS["confirm_frames"],
                 max_lost: int = DEFAULTS["max_lost"], static_frames: int = DEFAULTS["static_frames"],
                 frame_rate: float = DEFAULTS["frame_rate"], least_way: float = DEFAULTS["least_way"],
                 whole_objects: bool = DEFAULTS["whole_objects"]) -> None:
        sides = check_sides(shape)
        check_integers(1, 4096, max_tracks=max_tracks, max_components=max_components)
        self._tracker = _cudaccl.Tracker(*sides, max_tracks, max_components)
        self.confirm_frames = confirm_frames
        self.max_lost = max_lost
        self.static_frames = static_frames
        self.frame_rate = frame_rate
        self.least_way = least_way
        self.whole_objects = whole_objects
        self.feet: NDArray[Any] = np.empty(0, foot_dtype)
        """The foot points of the tracks that update() returned last, rows of foot_dtype, for Ground.motion().
        Since: 0.3"""

    def update(self, table: NDArray[Any], elapsed: float = 1.0, *, labels: NDArray[Any] | None = None,
               image: NDArray[Any] | None = None) -> Tracks:
        """Tracks the components of the next frame.

        table: rows of component_dtype, without a label map in any order.
        elapsed: frames since the last call, greater than 0 and at most 1000: 2 when one was dropped.
        labels: the label map of the table, of integers, as label() returns it; from a GPU it is copied. The
            rows must then be in the order of their labels. Where successive frames have label maps, the
            pixels that components have in common distinguish objects whose boxes overlap. Components of
            several objects side by side are divided.
        image: the frame, (height, width) or (height, width, 3) of uint8 in host memory, whose colours by height
            distinguish objects that meet, part or come back; it has an effect with a label map. Any colours do:
            RGB, BGR, YUV. Since: 0.4

        Returns the tracks, their components, and events. Raises ValueError or TypeError; the tracks
        are then as before. Since: 0.2
        """
        if getattr(getattr(table, "dtype", None), "names", None) != component_dtype.names or table.ndim != 1:
            raise TypeError("a component table of an image is needed: an array of component_dtype")
        table = table.astype(component_dtype, copy=False)  # those of former versions have uint32
        rows = np.ascontiguousarray(table).view(np.uint8)
        map_view = None if labels is None else view_of(host_labels(labels))
        image_view = None if image is None else view_of(image)
        settings = (elapsed, self.confirm_frames, self.max_lost, self.static_frames, self.frame_rate, self.least_way,
                    bool(self.whole_objects))
        try:
            tracks, members, events, feet = self._tracker.run(view_of(rows), map_view, image_view, *settings)
        except TypeError:
            check_integers(0, ALL, confirm_frames=self.confirm_frames, max_lost=self.max_lost, static_frames=self.static_frames)
            raise TypeError(f"elapsed, frame_rate and least_way must be numbers, not {elapsed!r:.40}, {self.frame_rate!r:.40} "
                            f"and {self.least_way!r:.40}") from None
        self.feet = np.frombuffer(feet, foot_dtype)
        return Tracks(np.frombuffer(tracks, track_dtype), np.frombuffer(members, member_dtype),
                      np.frombuffer(events, event_dtype))

    def reset(self) -> None:
        """Removes all tracks, without events, as after a cut. Since: 0.2"""
        self._tracker.reset()
