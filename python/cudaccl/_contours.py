# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contours of components, and their masks as run lengths."""
from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl
from ._arrays import HOST, as_numpy, view_of
from ._device_maps import as_labels, contour_dtype, device_map_of, find_contours
from ._images import check_connectivity, check_integers, exceeds, read_image
from ._labeller import label
from ._regionprops import label_map_of, measure

NO_CONTOUR = 2**32 - 1
"""The parent of a contour that is in no other one. Since: 0.3"""


class Contours:
    """The contours of an image: a sequence of arrays of points.

    table: an array of contour_dtype: the label of each contour's component, its parent, where its
        points are, and whether it is a hole. The parent of a hole is the outer contour of its component,
        that of an outer contour the hole that it is in, or NO_CONTOUR. Of a label map, the component is
        the label, of which several outer contours are several parts.
    points: an array of int32 with the shape (n, 2), x and y, of all contours one after the other.
    n_components: the number of outer contours.

    contours[i] has the points of contour i, a view. Contours are in raster order of their starts, so
    outer contours are in label order, unless those are of a label map numbered in another way.
    Since: 0.3
    """

    def __init__(self, table: NDArray[np.void], points: NDArray[np.int32], n_components: int, cracks: bool,
                 simplified_from: tuple[Contours, float] | None = None) -> None:
        self.table, self.points, self.n_components, self._cracks = table, points, n_components, cracks
        self._simplified_from = simplified_from

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
        table, points = simplified(self.table, self.points, tolerance)
        return Contours(table, points, self.n_components, self._cracks, (self, tolerance))

    def polygons(self) -> list[list[NDArray[np.int32]]]:
        """For each outer contour, in the order of the table, its points and then those of its holes.
        Since: 0.3"""
        return [rings for _, rings in grouped(self.table, self.points)]

    def geojson(self) -> dict[str, Any]:
        """A FeatureCollection of GeoJSON with the polygons of each label, in pixels, and the label among the
        properties.

        With kind='cracks' a label is a Polygon, or a MultiPolygon where it has several parts or where parts
        touch at corners only. Outer rings are counter-clockwise in x and y, and no ring touches itself, so
        that programs such as GEOS call all of them valid; areas are numbers of pixels. Simplified polygons
        may cross themselves; a ring that simplification would make a line keeps its corners. Contours of pixels go through the centres of pixels: those with fewer than three
        points become lines or points, and thin parts are passed twice. Since: 0.3; valid polygons since 0.4"""
        if not self._cracks:
            features = [(label, [rings]) for label, rings in grouped(self.table, self.points)]
        else:
            whole, tolerance = self._simplified_from or (self, None)
            features = by_label(rings_of(whole, tolerance))
        return {"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"label": label}, "geometry": geometry(polygons)}
            for label, polygons in features]}


def simplified(table: NDArray[np.void], points: NDArray[np.int32],
               tolerance: float) -> tuple[NDArray[np.void], NDArray[np.int32]]:
    """The table and the points of simplified contours."""
    n = table["n_points"].astype(np.int64)
    ordered = points[np.repeat(table["first_point"] - (np.cumsum(n) - n), n) + np.arange(n.sum())]  # as in the table
    numbers, kept = _cudaccl.simplify_contours(ordered.tobytes(), table["n_points"].tobytes(), float(tolerance))
    table = table.copy()
    table["n_points"] = np.frombuffer(numbers, np.uint32)
    table["first_point"] = np.cumsum(table["n_points"]) - table["n_points"]
    return table, np.frombuffer(kept, np.int32).reshape(-1, 2)


def grouped(table: NDArray[np.void], points: NDArray[np.int32]) -> list[tuple[int, list[NDArray[np.int32]]]]:
    """For each outer contour its component, and its points with those of its holes."""
    groups: dict[int, tuple[int, list[NDArray[np.int32]]]] = {}
    for i, (component, parent, first, n, is_hole) in enumerate(table.tolist()):
        outer = parent if is_hole else i
        groups.setdefault(outer, (component, []))[1].append(points[first:first + n])
    return list(groups.values())


def by_label(
        polygons: list[tuple[int, list[NDArray[np.int32]]]]) -> list[tuple[int, list[list[NDArray[np.int32]]]]]:
    """The polygons of each label, in ascending order."""
    features: dict[int, list[list[NDArray[np.int32]]]] = {}
    for label, rings in polygons:
        features.setdefault(label, []).append(rings)
    return sorted(features.items())


def rings_of(contours: Contours, tolerance: float | None) -> list[tuple[int, list[NDArray[np.int32]]]]:
    """Labels and simple rings of polygons. They are those of the label map that the contours surround, with 4
    neighbours."""
    if not len(contours):
        return []
    map, corner = drawn(contours)
    rows, points, _ = found_on_host(map, 4, True)
    rings, divided = _cudaccl.divide_contours(bytes(rows), bytes(points))
    table, corners = np.frombuffer(rings, contour_dtype), np.frombuffer(divided, np.int32).reshape(-1, 2)
    exact = grouped(table, corners + corner)
    if tolerance is None:
        return exact
    table, corners = simplified(table, corners, tolerance)
    return [(label, [ring if is_ring(ring, i > 0) else whole[i] for i, ring in enumerate(rings)])
            for (label, whole), (_, rings) in zip(exact, grouped(table, corners + corner))]


def is_ring(points: NDArray[np.int32], is_hole: bool) -> bool:
    """Whether a simplified ring still goes round an area, in its direction."""
    x, y = points.T.astype(np.int64)
    area = int((np.roll(x, -1) * y - x * np.roll(y, -1)).sum())
    return area < 0 if is_hole else area > 0


def drawn(contours: Contours) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The label map that contours as cracks surround, cropped, and its upper left corner."""
    table, points = contours.table, contours.points
    low = points.min(axis=0)
    width, height = (points.max(axis=0) - low).tolist()
    behind = np.arange(1, len(points) + 1)
    behind[table["first_point"] + table["n_points"] - 1] = table["first_point"]
    lengths = points[behind, 1] - points[:, 1]  # downwards beside the left pixel of a run, upwards beside its right one
    rows = np.minimum(points[:, 1], points[behind, 1]) - low[1]
    n = np.abs(lengths)
    row = np.repeat(rows - (np.cumsum(n) - n), n) + np.arange(n.sum())
    column = np.repeat(points[:, 0] - low[0], n)
    change = np.repeat(np.sign(lengths) * np.repeat(table["component"].astype(np.int64), table["n_points"]), n)
    map = np.zeros((height, width + 1), np.int64)
    np.add.at(map, (row, column), change)
    return np.cumsum(map, axis=1)[:, :width].astype(np.uint32), low


def geometry(polygons: list[list[NDArray[np.int32]]]) -> dict[str, Any]:
    """The geometry of a component in GeoJSON, whose rings end with their first point."""
    outer = polygons[0][0].tolist()
    if len(polygons) == 1 and len(outer) == 1:
        return {"type": "Point", "coordinates": outer[0]}
    if len(polygons) == 1 and len(outer) == 2:
        return {"type": "LineString", "coordinates": outer}
    # The points of a contour are clockwise in x and y: y points downwards.
    rings = [[[ring[0].tolist(), *ring[::-1].tolist()] for ring in polygon if len(ring) > 2] for polygon in polygons]
    return ({"type": "Polygon", "coordinates": rings[0]} if len(rings) == 1
            else {"type": "MultiPolygon", "coordinates": rings})


def mask_of(image: Any, neighbours: int, threshold: float, invert: bool, min_area: int, max_area: int) -> NDArray[Any]:
    """The foreground of an image in host memory, or the label map of its components within limits of area."""
    if min_area > 1 or max_area:
        mask: NDArray[Any] = label(as_numpy(image), neighbours, threshold=threshold, invert=invert, min_area=min_area,
                                   max_area=max_area)[0]
    elif threshold == 0 and not invert and as_numpy(image).dtype in (np.bool_, np.uint8):
        mask = as_numpy(image)
    else:
        mask = np.not_equal(exceeds(image, threshold), bool(invert))
    return np.ascontiguousarray(mask)


def has_several_values(image: Any) -> bool:
    """Whether an array of uint8 in host memory could be a label map: its values besides 0 differ."""
    values = np.asarray(image)
    return values.dtype == np.uint8 and values.size > 0 and bool(((values != 0) & (values != values.max())).any())


def is_label_map(view: _cudaccl.View, threshold: float, invert: bool, labels: bool | None) -> bool:
    """Whether an image is a label map: as the caller says, or by its type."""
    if labels is None:
        return not view.is_float and not view.is_byte and view.dtype != "bool" and threshold == 0 and not invert
    if labels and (view.is_float or threshold != 0 or invert):
        raise ValueError("a label map has integers, and neither threshold nor invert")
    return labels


def within(contours: Contours, areas: NDArray[Any], min_area: int, max_area: int) -> Contours:
    """The contours of labels whose areas are within limits. areas: of the labels 0, 1, …"""
    area = areas[contours.table["component"]]
    stays = (area >= min_area) & (area <= (max_area or area.max(initial=0)))
    if stays.all():
        return contours
    table = contours.table.copy()
    parents = np.append(table["parent"], NO_CONTOUR)  # so that parents[NO_CONTOUR] is NO_CONTOUR
    goes = np.append(~stays, False)
    parent = np.minimum(table["parent"], len(table))
    while goes[parent].any():  # in a hole of a removed label: the next parent outside
        parent = np.where(goes[parent], np.minimum(parents[parent], len(table)), parent)
    places = np.append(np.cumsum(stays) - 1, NO_CONTOUR)
    table["parent"] = places[parent]
    points = contours.points[np.repeat(stays, table["n_points"])]
    table = table[stays]
    table["first_point"] = np.cumsum(table["n_points"]) - table["n_points"]
    return Contours(table, points, int((table["is_hole"] == 0).sum()), contours._cracks)


def contours_of_labels(map: NDArray[Any], neighbours: int, cracks: bool, min_area: int, max_area: int) -> Contours:
    """The contours of the labels of a map in host memory."""
    if map.size and map.min() < 0:
        raise ValueError("labels must not be negative")
    if map.size and map.max() >= 2**32:
        raise ValueError("labels must be less than 2³²")
    plain = np.require(map, np.uint32, ["C", "A", "E"])
    found = Contours(*arrays_of(*found_on_host(plain, neighbours, cracks)), cracks)
    if min_area <= 1 and not max_area:
        return found
    values, numbers, areas = np.unique(plain, return_inverse=True, return_counts=True)
    numbered = found.table.copy()
    numbered["component"] = np.searchsorted(values, found.table["component"])
    kept = within(Contours(numbered, found.points, found.n_components, cracks), areas, min_area, max_area)
    kept.table["component"] = values[kept.table["component"]]
    return kept


def found_on_host(image: NDArray[Any], neighbours: int, cracks: bool) -> tuple[Any, Any, int]:
    """Rows, points and the number of components of a mask of bytes or a label map in host memory."""
    found: tuple[Any, Any, int] = _cudaccl.ContourFinder(image.shape, neighbours, cracks, HOST).run(view_of(image), 0, False)
    return found


def arrays_of(rows: Any, points: Any, n_components: int) -> tuple[NDArray[np.void], NDArray[np.int32], int]:
    return np.frombuffer(rows, contour_dtype), np.frombuffer(points, np.int32).reshape(-1, 2), n_components


def contours(image: Any, connectivity: int | None = None, *, kind: str = "pixels", threshold: float = 0,
             invert: bool = False, min_area: int = 0, max_area: int = 0, tolerance: float | None = None,
             labels: bool | None = None) -> Contours:
    """The outer boundary and the holes of every component, as ordered closed polygons.

        for points in cudaccl.contours(mask):
            cv2.polylines(picture, [points], True, (0, 255, 0))

    image: a mask or an image, as label() takes it, or a label map. On a GPU the contours are found there.
    connectivity, threshold, invert, min_area, max_area: as for label(). In a label map, areas are those of
        labels, whose parts need not be connected.
    kind: 'pixels': the pixels along the boundary; with connectivity 8 the points of OpenCV's
        findContours() with RETR_CCOMP and CHAIN_APPROX_NONE, in its order. 'cracks': the corners of the
        boundary between pixels, where pixel (x, y) is the square from (x, y) to (x + 1, y + 1).
    tolerance: see Contours.simplify(). None: all points.
    labels: whether the image is a label map, in which each label has contours of its own, those of the mask
        image == label, and names them. None: integers of more than 8 bits are, without threshold and invert;
        of uint8 in host memory with several values besides 0, a warning says that they are taken for a mask.

    Returns Contours. Raises ValueError or TypeError for a wrong argument. Since: 0.3; label maps whose labels
    touch since 0.4
    """
    if kind not in ("pixels", "cracks"):
        raise ValueError(f"kind must be 'pixels' or 'cracks', not {kind!r}")
    neighbours = check_connectivity(connectivity, 2)
    check_integers(0, 2**32 - 1, min_area=min_area, max_area=max_area)
    read, view, threshold, invert = read_image(image, threshold, invert, None)
    if len(view.shape) != 2:
        raise ValueError(f"an image has 2 dimensions, not {len(view.shape)}")
    are_labels = is_label_map(view, threshold, invert, labels)
    if 0 in view.shape:
        found = Contours(*arrays_of(bytearray(), bytearray(), 0), kind == "cracks")
    elif view.device != HOST:
        found = contours_on_gpu(read, neighbours, kind == "cracks", threshold, bool(invert), min_area, max_area,
                                are_labels)
    elif are_labels:
        found = contours_of_labels(np.asarray(read), neighbours, kind == "cracks", min_area, max_area)
    else:
        if labels is None and threshold == 0 and not invert and has_several_values(read):
            warnings.warn("an image of uint8 with several values is taken for a mask: labels=True outlines each value by "
                          "itself, and labels=False says that it is a mask", stacklevel=2)
        mask = mask_of(read, neighbours, threshold, invert, min_area, max_area)
        found = Contours(*arrays_of(*found_on_host(mask, neighbours, kind == "cracks")), kind == "cracks")
    return found if tolerance is None else found.simplify(tolerance)


def contours_on_gpu(image: Any, neighbours: int, cracks: bool, threshold: float, invert: bool, min_area: int,
                    max_area: int, are_labels: bool) -> Contours:
    if not are_labels:
        return Contours(*arrays_of(*find_contours(image, neighbours, cracks, threshold, invert, min_area, max_area)),
                        cracks)
    map = device_map_of(as_labels(image), None, (2,))
    assert map is not None
    rows, _, n = map.measure(0, None)  # raises for negative labels
    found = Contours(*arrays_of(*find_contours(map.array, neighbours, cracks, 0, False, 0, 0, True)), cracks)
    if min_area <= 1 and not max_area:
        return found
    if n > len(rows):
        raise ValueError("labels on a GPU must not exceed the number of pixels where areas are limited")
    return within(found, np.concatenate(([0], rows["area"])), min_area, max_area)


def rle(labels: Any, connectivity: int | None = None, *, compressed: bool = True) -> list[dict[str, Any]]:
    """The mask of each component in COCO's run-length encoding, as pycocotools reads it.

    labels: a label map of integers, or a mask of bool, which is labelled; on a GPU a label map is of int32 or
        uint32, or its library converts it. Runs are found there.
    connectivity: 4 or 8, None for 8: of a mask.
    compressed: whether 'counts' are bytes in COCO's compressed form, or a list of numbers.

    Returns a list of dicts in host memory, {'size': [height, width], 'counts': …}, for the labels that have pixels, in
    ascending order. Since: 0.3
    """
    on_gpu = None if type(labels) is np.ndarray else device_map_of(labels, check_connectivity(connectivity, 2), (2,))
    if on_gpu is not None:
        found = [] if 0 in on_gpu.view.shape else on_gpu.encode(compressed)
        return encodings(on_gpu.view.shape, found, compressed)
    map, _, n = label_map_of(labels, check_connectivity(connectivity, 2))
    if not n or not map.size:
        return []
    rows = measure(map, None, (), connectivity).rows
    rows = rows[rows["area"] > 0]
    return encodings(map.shape, _cudaccl.encode_rle(view_of(map), rows.tobytes(), compressed), compressed)


def encodings(shape: Any, found: list[bytes], compressed: bool) -> list[dict[str, Any]]:
    """Counts of masks of a shape as COCO has them."""
    size = [int(length) for length in shape]
    return [{"size": size, "counts": counts if compressed else np.frombuffer(counts, np.uint32).tolist()} for counts in found]


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
