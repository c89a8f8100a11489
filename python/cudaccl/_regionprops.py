# SPDX-License-Identifier: LGPL-2.1-or-later
"""Component tables with the columns of scikit-image."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl, _host_measures
from ._arrays import on_host, view_of
from ._device_maps import check_map, device_map_of
from ._images import check_connectivity, check_integers
from ._labeller import label
from ._planes import is_measured_on_gpu, planes_of, values_on_gpu
from ._spacing import OF_MOMENTS, check_spacing, in_units
from ._types import AXES, COLUMN_OF, MEASURES, SIZES, is_table, shape_dtype, table_dtype, volume_shape_dtype


def no_map() -> NDArray[np.uint32]:
    raise ValueError("there is no label map in memory")  # not reached: no property of such pictures needs it


class Measured:
    """The measures of components.

    rows, shapes: of each component.
    connectivity: the number of neighbours of a pixel.
    measured: the properties that these pictures have.
    map: returns the label map in host memory. map_rows: rows with the labels that the map has; None: rows.
    are_components: labels are not in several parts.
    count_holes: returns the numbers of holes of the labels 0, 1, …
    channels: what is measured of the values of each channel; None: a pixel has one value.
    """

    def __init__(self, rows: NDArray[Any], shapes: NDArray[Any], connectivity: int, shape: tuple[int, ...],
                 measured: dict[str, Property], map: Callable[[], NDArray[np.uint32]] = no_map,
                 map_rows: NDArray[Any] | None = None, are_components: bool = True,
                 count_holes: Callable[[], NDArray[np.int64]] | None = None) -> None:
        self.rows, self.shapes, self.connectivity = rows, shapes, connectivity
        self.measured, self._shape = measured, shape
        self._map, self._map_rows = map, rows if map_rows is None else map_rows
        self._are_components, self._count_holes = are_components, count_holes
        self.parts: NDArray[np.uint32] | None = None  # of each row, where they are known
        self.channels: list[Measured] | None = None
        self.of_values: dict[str, list[NDArray[Any]]] | None = None  # columns that NumPy measures, by property
        self.medians: NDArray[np.float64] | None = None
        self.quantiles: dict[float, NDArray[np.float64]] = {}
        self._hulls: NDArray[np.float64] | None = None
        self._convex: NDArray[np.float64] | None = None

    def set_ranks(self, quantiles: Sequence[float], found: NDArray[np.float64]) -> None:
        """found: the medians, then a row for each quantile."""
        self.medians, self.quantiles = found[0], dict(zip(quantiles, found[1:]))

    @property
    def ndim(self) -> int:
        return len(self._shape)

    def tensor(self) -> list[NDArray[Any]]:
        xy = -self.shapes["covariance_xy"]
        return [self.shapes["variance_x"], xy, xy, self.shapes["variance_y"]]

    def n_holes(self) -> NDArray[np.int64]:
        if self._count_holes and not self._are_components:
            counts: NDArray[np.int64] = self._count_holes()[self._map_rows["label"]]
            return counts
        n: NDArray[np.int64] = self.n_parts() - self.shapes[f"euler_number_{self.connectivity}"].astype(np.int64)
        return n

    def n_parts(self) -> NDArray[np.int64]:
        """The numbers of parts whose pixels are connected: 1 of components."""
        if self.parts is not None:
            return self.parts.astype(np.int64)
        labels = self._map_rows["label"]
        if self._are_components or not len(labels):
            return np.ones(len(labels), np.int64)
        counts = _cudaccl.count_parts(view_of(self._map()), self.connectivity, int(labels.max()))
        n: NDArray[np.int64] = np.frombuffer(counts, np.uint32)[labels - 1].astype(np.int64)
        return n

    def touches_border(self) -> list[NDArray[np.bool_]]:
        """Of the sides with the least coordinates, then those with the greatest, in the order of axes."""
        rows, axes = self._map_rows, AXES[-len(self._shape):]
        ends = [rows[axis] + rows[size] for axis, size in zip(axes, SIZES[-len(self._shape):])]
        return [rows[axis] == 0 for axis in axes] + [end == length for end, length in zip(ends, self._shape)]

    def first_pixel(self) -> list[NDArray[np.int64]]:
        """Row and column of the first pixel in raster order."""
        map = self._map()
        columns = [row["x"] + np.argmax(map[row["y"], row["x"]:row["x"] + row["width"]] == row["label"])
                   for row in self._map_rows]
        return [self._map_rows["y"].astype(np.int64), np.array(columns, np.int64)]

    def hulls(self) -> NDArray[np.float64]:
        """Area and Feret diameters of the convex hulls, a row for each component."""
        if self._hulls is None:
            measures = (_cudaccl.measure_hulls(view_of(self._map()), self._map_rows.tobytes())
                        if len(self._map_rows) else bytearray())
            self._hulls = np.frombuffer(measures, np.float64).reshape(-1, 3)
        return self._hulls

    def convex(self) -> NDArray[np.float64]:
        """Pixels and greatest diameter of scikit-image's convex images, a row for each component."""
        if self._convex is None:
            self._convex = _host_measures.convex_measures(self._map(), self._map_rows)
        return self._convex

    def crofton_perimeters(self) -> list[NDArray[np.float64]]:
        n = int(self._map_rows["label"].max()) if len(self._map_rows) else 0
        return [_host_measures.crofton_perimeters(self._map(), n)[self._map_rows["label"] - 1]]

    def moments(self, is_central: bool) -> NDArray[np.float64]:
        return _host_measures.moments(self._map(), self._map_rows, AXES[-self.ndim:], is_central)


# The fields that a property needs, the indices of its columns, and the columns.
Property = tuple[tuple[str, ...], tuple[str, ...], Callable[[Measured], list[NDArray[Any]]]]


def of_shapes(*fields: str, indices: tuple[str, ...] = ("",), dtype: type[Any] = np.float64) -> Property:
    """A property that consists of fields of the shapes."""
    return fields, indices, lambda m: [m.shapes[field].astype(dtype) for field in fields]


PLACES = {"FIRST": 0, "SECOND": 1, "THIRD": 2, "Z": -3, "Y": -2, "X": -1}


def properties_of(pictures: tuple[str, ...], ndim: int) -> dict[str, Property]:
    """The properties that consist of fields of the shapes of these pictures."""
    places: dict[str, dict[int, str]] = {}
    integers = set()
    for _, field, of, name, place, is_integer in MEASURES:
        if of not in pictures or not name or (ndim == 3 and place == "ONE_OF_FRAMES"):
            continue
        if is_integer:
            integers.add(name)
        places.setdefault(name, {})[PLACES.get(place, 0) % ndim] = field
    found: dict[str, Property] = {}
    for name, fields in places.items():
        ordered = [fields[place] for place in sorted(fields)]
        found[name] = of_shapes(*ordered, indices=tuple(map(str, range(len(ordered)))) if len(ordered) > 1 else ("",),
                                dtype=np.int64 if name in integers else np.float64)
    return found


def columns_of_moments(moments: NDArray[np.float64]) -> list[NDArray[Any]]:
    return list(moments.reshape(len(moments), -1).T) if len(moments) else [np.empty(0)] * int(np.prod(moments.shape[1:]))


def moments_of(ndim: int) -> dict[str, Property]:
    """scikit-image's moments, which NumPy computes from the label map."""
    indices = tuple("-".join(map(str, index)) for index in np.ndindex(*(_host_measures.ORDER + 1,) * ndim))
    return {
        "moments": ((), indices, lambda m: columns_of_moments(m.moments(False))),
        "moments_central": ((), indices, lambda m: columns_of_moments(m.moments(True))),
        "moments_normalized": ((), indices, lambda m: columns_of_moments(_host_measures.normalized(m.moments(True)))),
    }


MEDIAN: Property = ((), ("",), lambda m: [] if m.medians is None else [m.medians])
QUANTILES: Property = ((), (), lambda m: list(m.quantiles.values()))  # a column for each
OF_RANKS = {"intensity_median": MEDIAN, "intensity_quantile": QUANTILES}
# Of images and label maps that are in memory.
OF_MAPS: dict[str, Property] = {
    "area_convex": ((), ("",), lambda m: [m.convex()[:, 0]]),
    "solidity": ((), ("",), lambda m: [m.rows["area"] / m.convex()[:, 0]]),
    "feret_diameter_max": ((), ("",), lambda m: [m.convex()[:, 1]]),
    "perimeter_crofton": ((), ("",), lambda m: m.crofton_perimeters()),
    **moments_of(2),
    "moments_hu": ((), tuple("0123456"), lambda m: columns_of_moments(
        _host_measures.hu(_host_measures.normalized(m.moments(True))))),
}
N_HOLES: Property = (("euler_number_4", "euler_number_8"), ("",), lambda m: [m.n_holes()])
OF_HULLS: dict[str, Property] = {
    "hull_area": ((), ("",), lambda m: [m.hulls()[:, 0]]),
    "hull_solidity": ((), ("",), lambda m: [m.rows["area"] / m.hulls()[:, 0]]),
    "feret_max": ((), ("",), lambda m: [m.hulls()[:, 1]]),
    "feret_min": ((), ("",), lambda m: [m.hulls()[:, 2]]),
}


def tensor_of_volume(measured: Measured) -> list[NDArray[Any]]:
    x, y, z = (measured.shapes[f"variance_{axis}"] for axis in "xyz")
    xy, xz, yz = (-measured.shapes[f"covariance_{axes}"] for axes in ("xy", "xz", "yz"))
    return [y + x, yz, xz, yz, z + x, xy, xz, xy, z + y]


# Of images that are measured tile by tile, like volumes.
MEASURED_OF_TILES: dict[str, Property] = {
    **properties_of(("ALL", "FRAMES", "LARGE"), 2),
    **OF_RANKS,
    "n_holes": N_HOLES,
    "touches_border": ((), tuple("0123"), Measured.touches_border),
    "inertia_tensor": (("variance_x",), ("0-0", "0-1", "1-0", "1-1"), Measured.tensor),
}
MEASURED_OF_IMAGES: dict[str, Property] = {
    **MEASURED_OF_TILES,
    **OF_HULLS,
    **OF_MAPS,
    "first_pixel": ((), ("0", "1"), Measured.first_pixel),
}
MEASURED_OF_VOLUMES: dict[str, Property] = {
    **properties_of(("ALL", "VOLUMES", "LARGE"), 3),
    "surface_area": of_shapes("crack_length", dtype=np.int64),
    **moments_of(3),
    **OF_RANKS,
    "touches_border": ((), tuple("012345"), Measured.touches_border),
    "inertia_tensor": (("variance_x",), tuple(f"{i}-{j}" for i in range(3) for j in range(3)), tensor_of_volume),
}

MEASURED = {2: MEASURED_OF_IMAGES, 3: MEASURED_OF_VOLUMES}
# Of label maps on a GPU.
MEASURED_ON_GPU: dict[int, dict[str, Property]] = {2: {**MEASURED_OF_TILES, **OF_HULLS, **OF_MAPS},
                                                  3: MEASURED_OF_VOLUMES}
OF_TABLES = ("label", "area", "num_pixels", "area_bbox", "extent", "equivalent_diameter_area", "bbox", "centroid", "slice")
OF_VALUES = {name for column, _, _, name, *_ in MEASURES if name and column == COLUMN_OF["intensity_mean"]} | set(OF_RANKS)


def flags_of(properties: Iterable[str], measured: dict[str, Property]) -> int:
    """The flags of the columns that properties need."""
    columns = 0
    for name in properties:
        for field in measured[name][0] if name in measured else ():
            columns |= COLUMN_OF[field]
    return columns


def needs_values(properties: Iterable[str], intensity_image: Any) -> bool:
    """Whether properties need an intensity image; ValueError if there is none."""
    needs = not OF_VALUES.isdisjoint(properties)
    if needs and intensity_image is None:
        raise ValueError("properties of intensity need an intensity_image")
    return needs


def numbered(labels: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[Any] | None, int]:
    """A label map as uint32; the values of its labels if they are not 1…n, else None; and n."""
    if labels.size == 0:
        return labels.astype(np.uint32), None, 0
    if labels.min() < 0:
        raise ValueError("labels must not be negative")
    n = int(labels.max())
    if n <= labels.size:
        return np.require(labels, np.uint32, ["C", "A", "E"]), None, n
    values, places = np.unique(labels, return_inverse=True)
    has_background = values[0] == 0
    map = places.reshape(labels.shape).astype(np.uint32) + np.uint32(0 if has_background else 1)
    return map, values if has_background else np.insert(values, 0, 0), len(values) - int(has_background)


def as_int64(labels: NDArray[Any]) -> NDArray[np.int64]:
    if labels.size and int(labels.max()) >= 2**63:
        raise ValueError("labels must be less than 2⁶³")
    return labels.astype(np.int64)


def label_map_of(labels: Any, connectivity: int | None,
                 dimensions: tuple[int, ...] = (2,)) -> tuple[NDArray[np.uint32], NDArray[Any] | None, int]:
    """The components of a mask of bool, or a label map, as numbered() returns them."""
    if not isinstance(labels, np.ndarray):
        on_device = device_map_of(labels, connectivity, dimensions)
        labels = on_device.complete().copy_to_host() if on_device else np.asarray(labels)
    if isinstance(labels, np.ma.MaskedArray):
        labels = labels.filled(0)
    check_map(labels.ndim, labels.dtype.kind, connectivity, dimensions)
    if labels.dtype == bool:
        labels = label(labels, check_connectivity(connectivity, labels.ndim))[0]
    return numbered(labels)


def is_long(shape: tuple[int, ...]) -> bool:
    """Whether an image has sides that need sums of 128 bits: it is measured as a volume of one slice is."""
    return len(shape) == 2 and max(shape) > 65536


def measure_plane(map: NDArray[np.uint32], n: int, plane: NDArray[Any] | None, columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows and shapes of the labels 1…n."""
    is_volume = map.ndim == 3 or is_long(map.shape)
    rows = shapes = bytearray()
    if n and map.size:
        measure_labels = _cudaccl.measure_volume_labels if is_volume else _cudaccl.measure_labels
        rows, shapes = measure_labels(view_of(map), None if plane is None else view_of(plane), columns, n)
    table = np.frombuffer(rows, table_dtype(np.int32, ndim=3 if is_volume else 2))
    return (rows_of_image(table) if is_volume and map.ndim == 2 else table,
            np.frombuffer(shapes, volume_shape_dtype if is_volume else shape_dtype))


def is_of_the_library(plane: NDArray[Any] | None) -> bool:
    """Whether the library measures the values of a plane, exactly; NumPy measures others."""
    return plane is None or plane.dtype in (np.bool_, np.uint8, np.uint16)


def measure_values(map: NDArray[np.uint32], there: NDArray[np.bool_], plane: NDArray[Any],
                   ignore_nan: bool) -> dict[str, list[NDArray[Any]]]:
    """The properties of intensity of the labels that have pixels, of values of any type."""
    values = plane.astype(np.float64, copy=False).ravel()
    pixels = np.flatnonzero(map if not ignore_nan else (map != 0) & ~np.isnan(values).reshape(map.shape))
    labels = map.ravel()[pixels]
    order = np.argsort(labels, kind="stable")
    pixels, labels = pixels[order], labels[order]
    values = values[pixels]
    starts = np.flatnonzero(np.diff(labels, prepend=np.uint32(0)))
    owners = labels[starts].astype(np.int64) - 1
    counts = np.diff(starts, append=len(labels))

    def of_all(found: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each label, also those without a value."""
        result = np.full(len(there), np.nan)
        result[owners] = found
        return result[there]

    def sums(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.add.reduceat(numbers, starts) if len(starts) else np.empty(0)

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = sums(values) / counts
        deviations = np.sqrt(sums((values - np.repeat(means, counts)) ** 2) / counts)
        total = sums(values)
        centroids = [sums(values * place) / total for place in np.unravel_index(pixels, map.shape)]
    least, greatest = ((np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)) if len(starts)
                       else (np.empty(0), np.empty(0)))
    first = np.full(len(there), map.size)  # [label]: number of its first pixel with the greatest value
    if len(starts):
        first[owners] = np.minimum.reduceat(np.where(values == np.repeat(greatest, counts), pixels, map.size), starts)
    is_known = first[there] < map.size
    positions = [np.where(is_known, place, -1)
                 for place in np.unravel_index(np.where(is_known, first[there], 0), map.shape)]
    return {"intensity_mean": [of_all(means)], "intensity_std": [of_all(deviations)], "intensity_min": [of_all(least)],
            "intensity_max_position": positions,
            "intensity_max": [of_all(greatest)], "centroid_weighted": [of_all(centroid) for centroid in centroids]}


def rows_of_image(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of a volume of one slice as those of an image."""
    table = np.empty(len(rows), table_dtype(np.int32, ndim=2))
    for name in table.dtype.names or ():
        table[name] = rows[name]
    return table


def measure_on_gpu(labels: Any, intensity_image: Any, properties: list[str], connectivity: int | None,
                   dimensions: tuple[int, ...], ignore_nan: bool, quantiles: Sequence[float]) -> Measured | None:
    """Measures a mask or a label map on a GPU; None if it is in host memory."""
    if isinstance(labels, np.ndarray):
        return None
    map = device_map_of(labels, connectivity, dimensions)
    if map is None:
        return None
    ndim = len(map.view.shape)
    neighbours = check_connectivity(connectivity, ndim)
    columns = flags_of(properties, MEASURED_ON_GPU[ndim])
    of_values = columns & COLUMN_OF["intensity_mean"]
    has_values = needs_values(properties, intensity_image)
    if of_values and 0 not in map.view.shape and not is_measured_on_gpu(intensity_image):
        return measure(map.complete().copy_to_host(), on_host(intensity_image), properties, connectivity, dimensions, ignore_nan,
                       quantiles)
    planes, are_channels = values_on_gpu(intensity_image if has_values else None, ndim, map.view.device)
    if 0 in map.view.shape:
        return measure(map.copy_to_host(), np.empty(map.view.shape, np.uint8), properties, connectivity, dimensions, ignore_nan,
                       quantiles)
    parts = [map.measure(columns, planes[0] if of_values else None)]
    if parts[0][2] > np.prod(map.view.shape):
        raise ValueError("labels on a GPU must not exceed the number of pixels")
    parts += [map.measure(of_values, plane) if of_values else parts[0] for plane in planes[1:]]
    there = parts[0][0]["area"] > 0
    rows = parts[0][0][there]
    rows = rows_of_image(rows) if ndim == 2 else rows
    found = [Measured(rows, shapes[there], neighbours, map.view.shape, MEASURED_ON_GPU[ndim], map.copy_to_host, rows,
                      map.are_components, lambda: map.count_holes(neighbours)) for _, shapes, _ in parts]
    for part, plane in zip(found, planes):
        if plane is not None and OF_RANKS.keys() & set(properties):
            part.set_ranks(quantiles, map.quantiles(plane, len(there), ignore_nan, [None, *quantiles])[:, there])
    if are_channels:
        found[0].channels = found
    return found[0]


def measure(labels: Any, intensity_image: Any, properties: Iterable[str], connectivity: int | None,
            dimensions: tuple[int, ...] = (2,), ignore_nan: bool = False, quantiles: Sequence[float] = ()) -> Measured:
    """Measures the components of a mask, or the labels of a label map."""
    properties = list(properties)
    on_gpu = measure_on_gpu(labels, intensity_image, properties, connectivity, dimensions, ignore_nan, quantiles)
    if on_gpu:
        return on_gpu
    are_components = getattr(labels, "dtype", None) == bool
    map, values, n = label_map_of(labels, connectivity, dimensions)
    measured = MEASURED_ON_GPU[2] if is_long(map.shape) else MEASURED[map.ndim]
    columns = flags_of(properties, measured)
    of_values = columns & COLUMN_OF["intensity_mean"]
    has_values = needs_values(properties, intensity_image)
    neighbours = check_connectivity(connectivity, map.ndim)
    planes, are_channels = planes_of(intensity_image if has_values else None, map.ndim)
    if has_values and planes[0] is not None and planes[0].shape != map.shape:
        raise ValueError("the intensity image has another shape than the labels")
    is_of_library = is_of_the_library(planes[0])
    if is_of_library:
        parts = [measure_plane(map, n, planes[0], columns), *(measure_plane(map, n, plane, of_values) for plane in planes[1:])]
    else:
        parts = [measure_plane(map, n, None, columns ^ of_values)] * len(planes)
    there = parts[0][0]["area"] > 0
    rows = map_rows = parts[0][0][there]
    if values is not None:
        kinds = [(name, np.int64 if name == "label" else kind) for name, (kind, *_) in (rows.dtype.fields or {}).items()]
        rows = rows.astype(kinds)
        rows["label"] = as_int64(values)[rows["label"]]
    found = [Measured(rows, shapes[there], neighbours, map.shape, measured, lambda: map, map_rows, are_components)
             for _, shapes in parts]
    for part, plane in zip(found, planes):
        if plane is not None and of_values and not is_of_library:
            part.of_values = measure_values(map, there, plane, ignore_nan)
        if plane is not None and OF_RANKS.keys() & set(properties):
            part.set_ranks(quantiles, _host_measures.quantiles(map, n, plane, ignore_nan, [None, *quantiles])[:, there])
    if are_channels:
        found[0].channels = found
    return found[0]


def measured_columns(found: Measured, name: str, separator: str, of: Property) -> dict[str, NDArray[Any]]:
    """The columns of a property that is measured."""
    _, indices, make = of
    if of is QUANTILES:
        indices = tuple(np.format_float_positional(share, trim="-") for share in found.quantiles)
    channels = found.channels if name in OF_VALUES and found.channels else [found]
    columns = [channel.of_values[name] if channel.of_values and name in channel.of_values else make(channel)
               for channel in channels]
    result = {}
    for place, index in enumerate(indices):
        for number, of_channel in enumerate(columns):
            parts = [name, *filter(None, index.split("-"))] + ([str(number)] if channels is found.channels else [])
            result[separator.join(parts)] = np.array(of_channel[place])
    return result


Properties = Union[str, Iterable[str]]


def are_properties(argument: Any) -> bool:
    """Whether an argument names properties, and is no image."""
    return isinstance(argument, str) or (
        isinstance(argument, (list, tuple, set, frozenset, dict)) and all(isinstance(name, str) for name in argument))


def regionprops_table(table: Any = None, *arguments: Any, properties: Properties | None = None,
                      intensity_image: Any = None, label_image: Any = None, cache: bool = True, separator: str = "-",
                      connectivity: int | None = None, sort_by: str | None = None, largest: int | None = None,
                      ignore_nan: bool = False, spacing: Any = None, quantiles: Iterable[float] = ()) -> dict[str, NDArray[Any]]:
    """The columns of skimage.measure.regionprops_table() for a component table, a mask or a label map.

    table: of component_dtype or volume_component_dtype, from label() or components(); or a mask of
        bool, whose components are measured; or a label map of integers with 0 for background. Masks and
        maps have two or three dimensions. On a GPU they are measured there;
        label maps are of int32 or uint32 there, or their library converts them, and no label exceeds the number
        of pixels. A mask of three dimensions needs the connectivity of a volume.
    arguments: the intensity image and the properties, as in scikit-image and cuCIM, whose calls may stay as they are:
        regionprops_table(labels, image, properties=[…]); or the properties alone: regionprops_table(labels, […]).
    label_image: scikit-image's name of the first argument; cache is accepted, too, and has no effect.
    properties: of 'label', 'area', 'num_pixels', 'bbox', 'area_bbox', 'extent', 'centroid', 'slice'
        and 'equivalent_diameter_area'; with a mask or a map also of 'axis_major_length',
        'axis_minor_length', 'eccentricity', 'euler_number', 'inertia_tensor', 'inertia_tensor_eigvals',
        'orientation', 'perimeter', 'perimeter_crofton', 'area_convex', 'solidity', 'feret_diameter_max', 'moments',
        'moments_central', 'moments_hu', 'moments_normalized'; with an intensity image 'centroid_weighted', 'intensity_max',
        'intensity_mean', 'intensity_median', 'intensity_min', 'intensity_std'. Not in scikit-image: 'intensity_quantile', 'intensity_max_position', that of the
        first pixel in raster order with the greatest value, −1 where a value is not a number; 'crack_length', the number of edges between pixels of the component and others, 'n_holes', and of the convex hull of
        the pixels as squares 'hull_area', 'hull_solidity' (the area divided by that of the hull),
        'feret_max' and 'feret_min', the greatest and least distance of two parallel lines around it;
        'first_pixel' in raster order, row and column; 'touches_border', whether it touches the upper, left,
        lower and right border of the image. In volumes, 'surface_area', the number of faces between voxels
        of the component and others, is in place of 'crack_length'; there are no 'eccentricity', 'orientation',
        'perimeter', 'perimeter_crofton', 'n_holes', 'moments_hu' and properties of hulls. NumPy computes the moments,
        'perimeter_crofton' and scikit-image's convex images on the host, and medians and quantiles of label maps there.
    intensity_image: an image of the same shape, of bool, integers or floats, in any layout; in host memory or on a GPU,
        also if the map is not there. bool, uint8 and uint16 are summed as exact integers, others as doubles, on the host. With one dimension
        more it has channels, such as colours: the columns of intensity are 'intensity_mean-0', …, and
        'centroid_weighted-0-1' is that of the first axis and the second channel.
    ignore_nan: whether pixels whose value is not a number are left out of the properties of intensity, also of the mean,
        which is NaN where no pixel is left. False: the properties of a component with such a pixel are NaN.
    connectivity: 4 or 8, None for 8, in volumes 6, 18 or 26, None for 26: of the components of a mask, and
        for 'n_holes'.
    separator: between a property's name and the index of a column.
    sort_by: 'area' or a column of the result; its rows are in ascending order of it, equal ones in the order
        of labels. None: the order of labels.
    largest: only so many rows, those with the greatest values of sort_by (None: 'area'), greatest first, equal
        ones in the order of labels. None: all rows.

    spacing: the lengths of a pixel along the axes, or one for all; None: 1. Areas, centroids, diameters and what follows
        from moments are in these units, as scikit-image's are; bounding boxes and numbers of pixels are not.
        'perimeter', 'crack_length', 'surface_area', 'feret_max' and 'feret_min' need equal sides. Since 0.4
    quantiles: numbers of 0…1 for 'intensity_quantile', whose columns are 'intensity_quantile-0.25', …: those of
        numpy.quantile(). Since 0.4

    Returns a dict from column names ('label', 'bbox-0', …) to arrays of the length of the table, in
    scikit-image's order of axes (rows first), units and types; bounding boxes are half-open. Raises
    ValueError for another property. Since: 0.2; masks and label maps since 0.3
    """
    table, intensity_image, properties = sorted_arguments(table, label_image, arguments, intensity_image, properties)
    properties = [properties] if isinstance(properties, str) else list(properties)
    check_names(properties)
    shares = check_quantiles(quantiles, properties)
    found = None
    if is_table(table):
        measured = [name for name in properties if name not in OF_TABLES]
        if measured:
            raise ValueError(f"a component table has no property {measured[0]!r}: give the mask or the label map")
    else:
        found = measure(table, intensity_image, properties, connectivity, (2, 3), ignore_nan, shares)
        check_dimensions(properties, found)
        table = found.rows
    lengths = None if spacing is None else check_spacing(spacing, 3 if "z" in (table.dtype.names or ()) else 2)
    return in_order(columns_of(found, table, properties, separator, lengths), table["area"], sort_by, largest)


def columns_of(found: Measured | None, table: NDArray[Any], properties: Iterable[str], separator: str,
               spacing: NDArray[np.float64] | None) -> dict[str, NDArray[Any]]:
    """The columns of properties. table: rows of the component table. found: what else is measured of them."""
    result: dict[str, NDArray[Any]] = {}
    for name in properties:
        if found and name in found.measured:
            columns = measured_columns(found, name, separator, found.measured[name])
        else:
            columns = columns_of_table(table, name, separator)
        if spacing is not None:
            tensor = (list(measured_columns(found, "inertia_tensor", "-", found.measured["inertia_tensor"]).values())
                      if found and name in OF_MOMENTS else None)
            columns = in_units(name, columns, tensor, spacing, separator)
        result.update(columns)
    return result


def sorted_arguments(table: Any, label_image: Any, arguments: tuple[Any, ...], intensity_image: Any,
                     properties: Properties | None) -> tuple[Any, Any, Properties]:
    """Table, intensity image and properties of a call in the order of scikit-image, or with the properties second."""
    if (table is None) == (label_image is None):
        raise TypeError("regionprops_table() needs a component table, a mask or a label map, once")
    if len(arguments) > 2:
        raise TypeError(f"regionprops_table() takes at most 3 positional arguments, not {1 + len(arguments)}")
    for place, argument in enumerate(arguments):
        if properties is None and (are_properties(argument) or place == 1):
            properties = argument
        elif argument is not None and intensity_image is None and not are_properties(argument):
            intensity_image = argument
        elif argument is not None:
            raise TypeError("regionprops_table() got its intensity image or its properties twice")
    return label_image if table is None else table, intensity_image, ("label", "bbox") if properties is None else properties


def check_names(properties: list[str]) -> None:
    for name in properties:
        if not isinstance(name, str):
            raise TypeError(f"properties are names, not {name!r:.40}")
        if name not in OF_TABLES and not any(name in known for known in MEASURED.values()):
            raise ValueError(f"there is no property {name!r}")


def check_quantiles(quantiles: Iterable[float], properties: Iterable[str]) -> list[float]:
    shares = [float(share) for share in quantiles]
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"quantiles must be numbers of 0…1, not {shares}")
    if bool(shares) != ("intensity_quantile" in properties):
        raise ValueError("'intensity_quantile' needs quantiles, and they are for it alone")
    return shares


def check_dimensions(properties: list[str], found: Measured) -> None:
    """Refuses properties that these dimensions, or label maps on a GPU, do not have."""
    for name in properties:
        if name not in OF_TABLES and name not in found.measured:
            raise ValueError(f"{found.ndim} dimensions have no property {name!r}")


def in_order(columns: dict[str, NDArray[Any]], area: NDArray[Any], sort_by: str | None,
             largest: int | None) -> dict[str, NDArray[Any]]:
    """The rows of columns in the order of one of them, or the largest."""
    if sort_by is None and largest is None:
        return columns
    if largest is not None:
        check_integers(0, 2**63 - 1, largest=largest)
    if sort_by not in (None, "area") and sort_by not in columns:
        raise ValueError(f"the result has no column {sort_by!r} to sort by")
    keys = columns[sort_by] if sort_by in columns else area
    if largest is None:
        places = np.argsort(keys, kind="stable")
    else:  # reversed twice: equal ones stay in the order of labels
        places = len(keys) - 1 - np.argsort(keys[::-1], kind="stable")[::-1]
        places = places[np.argsort((keys != keys)[places], kind="stable")][:largest]
    return {name: column[places] for name, column in columns.items()}


def columns_of_table(table: NDArray[Any], name: str, separator: str) -> dict[str, NDArray[Any]]:
    """The columns of a property that a component table has."""
    axes = [axis for axis in AXES if axis in (table.dtype.names or ())]
    start = [table[axis].astype(np.int64) for axis in axes]
    stop = [low + table[size].astype(np.int64) for low, size in zip(start, SIZES[-len(axes):])]
    area = table["area"].astype(np.float64)
    box_area = np.prod([high - low for low, high in zip(start, stop)], axis=0).astype(np.float64)

    if name == "label":
        return {name: table["label"].astype(np.int64)}
    if name == "area":
        return {name: area}
    if name == "num_pixels":
        return {name: table["area"].astype(np.int64)}
    if name == "area_bbox":
        return {name: box_area}
    if name == "extent":
        return {name: area / box_area}
    if name == "equivalent_diameter_area":
        return {name: (2 * len(axes) * area / np.pi) ** (1 / len(axes))}
    if name == "bbox":
        return {f"{name}{separator}{i}": column for i, column in enumerate([*start, *stop])}
    if name == "centroid":
        return {f"{name}{separator}{i}": table[f"centroid_{axis}"].copy() for i, axis in enumerate(axes)}
    if name == "slice":
        slices = np.empty(len(table), object)
        for row in range(len(table)):
            slices[row] = tuple(slice(int(low[row]), int(high[row])) for low, high in zip(start, stop))
        return {name: slices}
    raise ValueError(f"there is no property {name!r} here")
