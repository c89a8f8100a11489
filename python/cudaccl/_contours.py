# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contours of components, and their masks as run lengths."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, view_of
from ._device_maps import find_contours
from ._images import check_connectivity, exceeds, read_image
from ._labeller import check_integers, label
from ._regionprops import label_map_of, measure

contour_dtype: np.dtype[np.void] = np.dtype([(name, np.uint32) for name in (
    "component", "parent", "first_point", "n_points", "is_hole")])
"""A row of a table of contours. Since: 0.3"""

NO_CONTOUR = 2**32 - 1
"""The parent of a contour that is in no other one. Since: 0.3"""


class Contours:
    """The contours of an image: a sequence of arrays of points.

    table: an array of contour_dtype: the label of each contour's component, its parent, where its
        points are, and whether it is a hole. The parent of a hole is the outer contour of its component,
        that of an outer contour the hole that it is in, or NO_CONTOUR.
    points: an array of int32 with the shape (n, 2), x and y, of all contours one after the other.
    n_components: the number of outer contours.

    contours[i] has the points of contour i, a view. Contours are in raster order of their starts, so
    outer contours are in label order. Since: 0.3
    """

    def __init__(self, table: NDArray[np.void], points: NDArray[np.int32], n_components: int, cracks: bool) -> None:
        self.table, self.points, self.n_components, self._cracks = table, points, n_components, cracks

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        row = self.table[index]
        return self.points[int(row["first_point"]):int(row["first_point"]) + int(row["n_points"])]

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return (self[i] for i in range(len(self)))

    def simplify(self, tolerance: float) -> Contours:
        """New contours with fewer points, by the method of Douglas and Peucker: no point that is left
        out is farther than the tolerance, in pixels, from the edge that replaces it. Since: 0.3"""
        numbers, points = _cudaccl.simplify_contours(
            self.points.tobytes(), self.table["n_points"].tobytes(), float(tolerance))
        table = self.table.copy()
        table["n_points"] = np.frombuffer(numbers, np.uint32)
        table["first_point"] = np.cumsum(table["n_points"]) - table["n_points"]
        return Contours(table, np.frombuffer(points, np.int32).reshape(-1, 2), self.n_components, self._cracks)

    def polygons(self) -> list[list[NDArray[np.int32]]]:
        """For each component, in label order, its outer contour and then its holes. Since: 0.3"""
        groups: list[list[NDArray[np.int32]]] = [[] for _ in range(self.n_components)]
        for row, points in zip(self.table, self):
            groups[int(row["component"]) - 1].append(points)
        return groups

    def geojson(self) -> dict[str, Any]:
        """A FeatureCollection of GeoJSON with a polygon for each component, in pixels, and its label
        among the properties. Exact with kind='cracks'; contours of pixels with fewer than three points
        become lines or points. Since: 0.3"""
        return {"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"label": number}, "geometry": geometry(rings)}
            for number, rings in enumerate(self.polygons(), 1)]}


def geometry(rings: list[NDArray[np.int32]]) -> dict[str, Any]:
    """The geometry of a component in GeoJSON, whose rings end with their first point."""
    outer = rings[0].tolist()
    if len(outer) == 1:
        return {"type": "Point", "coordinates": outer[0]}
    if len(outer) == 2:
        return {"type": "LineString", "coordinates": outer}
    return {"type": "Polygon", "coordinates": [[*ring.tolist(), ring[0].tolist()] for ring in rings if len(ring) > 2]}


def mask_of(image: Any, neighbours: int, threshold: float, invert: bool, min_area: int, max_area: int) -> NDArray[Any]:
    """The foreground of an image in host memory, or the label map of its components within limits of area."""
    if min_area > 1 or max_area:
        mask: NDArray[Any] = label(np.asarray(image), neighbours, threshold=threshold, invert=invert, min_area=min_area,
                                   max_area=max_area)[0]
    elif threshold == 0 and not invert and np.asarray(image).dtype in (np.bool_, np.uint8):
        mask = np.asarray(image)
    else:
        mask = np.not_equal(exceeds(image, threshold), bool(invert))
    return np.ascontiguousarray(mask)


def contours(image: Any, connectivity: int | None = None, *, kind: str = "pixels", threshold: float = 0,
             invert: bool = False, min_area: int = 0, max_area: int = 0, tolerance: float | None = None) -> Contours:
    """The outer boundary and the holes of every component, as ordered closed polygons.

        for points in cudaccl.contours(mask):
            cv2.polylines(picture, [points], True, (0, 255, 0))

    image: a mask, an image or a label map, as label() takes it. On a GPU the contours are found there.
    connectivity, threshold, invert, min_area, max_area: as for label().
    kind: 'pixels': the pixels along the boundary; with connectivity 8 the points of OpenCV's
        findContours() with RETR_CCOMP and CHAIN_APPROX_NONE, in its order. 'cracks': the corners of the
        boundary between pixels, where pixel (x, y) is the square from (x, y) to (x + 1, y + 1).
    tolerance: see Contours.simplify(). None: all points.

    Returns Contours. Raises ValueError or TypeError for a wrong argument. Since: 0.3
    """
    if kind not in ("pixels", "cracks"):
        raise ValueError(f"kind must be 'pixels' or 'cracks', not {kind!r}")
    neighbours = check_connectivity(connectivity, 2)
    read, view, threshold, invert = read_image(image, threshold, invert, None)
    if len(view.shape) != 2:
        raise ValueError(f"an image has 2 dimensions, not {len(view.shape)}")
    if 0 in view.shape:
        rows, points, n_components = bytearray(), bytearray(), 0
    elif view.device != HOST:
        rows, points, n_components = find_contours(read, neighbours, kind == "cracks", threshold, bool(invert), min_area,
                                                   max_area)
    else:
        mask = mask_of(read, neighbours, threshold, invert, min_area, max_area)
        rows, points, n_components = _cudaccl.find_contours(view_of(mask), neighbours, kind == "cracks")
    found = Contours(np.frombuffer(rows, contour_dtype), np.frombuffer(points, np.int32).reshape(-1, 2), n_components,
                     kind == "cracks")
    return found if tolerance is None else found.simplify(tolerance)


def rle(labels: Any, connectivity: int | None = None, *, compressed: bool = True) -> list[dict[str, Any]]:
    """The mask of each component in COCO's run-length encoding, as pycocotools reads it.

    labels: a label map of integers, or a mask of bool, which is labelled; on a GPU a label map is of int32 or
        uint32, or its library converts it. It is copied to the host.
    connectivity: 4 or 8, None for 8: of a mask.
    compressed: whether 'counts' are bytes in COCO's compressed form, or a list of numbers.

    Returns a list of dicts, {'size': [height, width], 'counts': …}, for the labels that have pixels, in
    ascending order. Since: 0.3
    """
    map, _, n = label_map_of(labels, check_connectivity(connectivity, 2))
    if not n or not map.size:
        return []
    rows = measure(map, None, (), connectivity).rows
    rows = rows[rows["area"] > 0]
    size = [int(length) for length in map.shape]
    return [{"size": size, "counts": counts if compressed else np.frombuffer(counts, np.uint32).tolist()}
            for counts in _cudaccl.encode_rle(view_of(map), rows.tobytes(), compressed)]


def rle_decode(encoding: dict[str, Any]) -> NDArray[np.bool_]:
    """The mask of a run-length encoding, of rle() or of COCO.

    encoding: {'size': [height, width], 'counts': …}, where counts are bytes or str in the compressed form,
        or a list of numbers.
    Returns an array of bool. Raises ValueError if it is no encoding. Since: 0.3
    """
    try:
        height, width = encoding["size"]
        counts = encoding["counts"]
    except (KeyError, TypeError, ValueError):
        raise ValueError("an encoding has 'size', two numbers, and 'counts'") from None
    if isinstance(counts, str):
        counts = counts.encode("ascii", "replace")
    compressed = isinstance(counts, (bytes, bytearray))
    try:
        check_integers(0, 2**32 - 1, height=height, width=width)
    except TypeError as error:
        raise ValueError(str(error)) from None
    if not compressed:
        counts = run_lengths(counts).tobytes()
    mask = _cudaccl.decode_rle(bytes(counts), compressed, int(width), int(height))
    return np.frombuffer(mask, np.bool_).reshape(int(height), int(width))


def run_lengths(counts: Any) -> NDArray[np.uint32]:
    """A list of run lengths, none of which is rounded or wraps."""
    try:
        numbers = np.asarray(counts)
    except (OverflowError, ValueError):
        numbers = np.empty((), object)
    if numbers.size == 0 and numbers.ndim == 1:
        return np.empty(0, np.uint32)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= 2**32:
        raise ValueError(f"counts must be a list of integers of 0…{2**32 - 1}")
    return numbers.astype(np.uint32)
