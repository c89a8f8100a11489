# SPDX-License-Identifier: LGPL-2.1-or-later
"""Component tables with the columns of scikit-image."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cudaccl

AXES = ("z", "y", "x")
SIZES = ("depth", "height", "width")


def table_dtype(count_type: type[np.unsignedinteger[Any]], *, ndim: int) -> np.dtype[np.void]:
    """The type of a row of the component table of images (2) or volumes (3), by the library's list of columns."""
    return np.dtype([(name, np.float64 if is_real else count_type)
                     for name, is_real, is_of_volumes in _cudaccl.columns if ndim == 3 or not is_of_volumes])


def check_table(table: NDArray[Any]) -> None:
    if "area" not in (getattr(getattr(table, "dtype", None), "names", None) or ()):
        raise TypeError("a component table is needed, such as components() returns")


def regionprops_table(table: NDArray[Any], properties: Iterable[str] = ("label", "bbox"), *,
                      separator: str = "-") -> dict[str, NDArray[Any]]:
    """The columns of skimage.measure.regionprops_table() for a component table.

    table: of component_dtype or volume_component_dtype, from label() or components().
    properties: of 'label', 'area', 'num_pixels', 'bbox', 'area_bbox', 'extent', 'centroid', 'slice'
        and 'equivalent_diameter_area'.
    separator: between a property's name and the index of a column.

    Returns a dict from column names ('label', 'bbox-0', …) to arrays of the length of the table, in
    scikit-image's order of axes (rows first), units and types; bounding boxes are half-open. Raises
    ValueError for another property. Since: 0.2
    """
    check_table(table)
    if isinstance(properties, str):
        properties = [properties]
    axes = [axis for axis in AXES if axis in (table.dtype.names or ())]
    start = [table[axis].astype(np.int64) for axis in axes]
    stop = [low + table[size] for low, size in zip(start, SIZES[-len(axes):])]
    area = table["area"].astype(np.float64)
    box_area = np.prod([high - low for low, high in zip(start, stop)], axis=0).astype(np.float64)

    columns: dict[str, NDArray[Any]] = {}
    for name in properties:
        if name == "label":
            columns[name] = table["label"].astype(np.int64)
        elif name == "area":
            columns[name] = area
        elif name == "num_pixels":
            columns[name] = table["area"].astype(np.int64)
        elif name == "area_bbox":
            columns[name] = box_area
        elif name == "extent":
            columns[name] = area / box_area
        elif name == "equivalent_diameter_area":
            columns[name] = (2 * len(axes) * area / np.pi) ** (1 / len(axes))
        elif name == "bbox":
            for i, column in enumerate([*start, *stop]):
                columns[f"{name}{separator}{i}"] = column
        elif name == "centroid":
            for i, axis in enumerate(axes):
                columns[f"{name}{separator}{i}"] = table[f"centroid_{axis}"].copy()
        elif name == "slice":
            slices = np.empty(len(table), object)
            for row in range(len(table)):
                slices[row] = tuple(slice(int(low[row]), int(high[row])) for low, high in zip(start, stop))
            columns[name] = slices
        else:
            raise ValueError(f"a component table has no property {name!r}")
    return columns
