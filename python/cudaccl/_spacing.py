# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns in the units of pixels whose sides are not 1, as those of scikit-image with spacing."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]

OF_MOMENTS = ("axis_major_length", "axis_minor_length", "eccentricity", "inertia_tensor", "inertia_tensor_eigvals",
              "orientation")
OF_SIDES = {"perimeter": 1, "perimeter_crofton": 1, "feret_diameter_max": 1, "crack_length": 1, "feret_max": 1, "feret_min": 1, "surface_area": 2}  # powers of the side


def check_spacing(spacing: Any, ndim: int) -> NDArray[np.float64]:
    """The lengths of a pixel along the axes."""
    try:
        lengths = np.broadcast_to(np.asarray(spacing, np.float64), (ndim,))
    except (TypeError, ValueError):
        raise ValueError(f"spacing is a number or {ndim} numbers, not {spacing!r}") from None
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError(f"spacing must be greater than 0 and finite, not {spacing!r}")
    return lengths


def scaled_tensors(columns: list[NDArray[Any]], spacing: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inertia tensors [n, axis, axis] of pixels with such sides. columns: of 'inertia_tensor' with sides of 1."""
    ndim = len(spacing)
    tensors = np.stack([np.asarray(column, np.float64) for column in columns], 1).reshape(-1, ndim, ndim)
    one = np.eye(ndim)
    trace = np.trace(tensors, axis1=1, axis2=2)[:, np.newaxis, np.newaxis]
    covariances = (trace / (ndim - 1) * one - tensors) * np.outer(spacing, spacing)
    scaled: NDArray[np.float64] = np.trace(covariances, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] * one - covariances
    return scaled


def of_moments(name: str, tensors: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The columns of a property that follows from inertia tensors."""
    ndim = tensors.shape[-1]
    if name == "inertia_tensor":
        return list(tensors.reshape(-1, ndim * ndim).T)
    values = np.clip(np.linalg.eigvalsh(tensors), 0, None)[:, ::-1]
    if name == "inertia_tensor_eigvals":
        return list(values.T)
    if name == "axis_major_length":
        sums = values[:, 0] if ndim == 2 else values[:, 0] + values[:, 1] - values[:, 2]
        return [4 * np.sqrt(sums) if ndim == 2 else np.sqrt(10 * sums)]
    if name == "axis_minor_length":
        sums = values[:, 1] if ndim == 2 else np.clip(-values[:, 0] + values[:, 1] + values[:, 2], 0, None)
        return [4 * np.sqrt(sums) if ndim == 2 else np.sqrt(10 * sums)]
    if name == "eccentricity":
        return [np.sqrt(1 - np.divide(values[:, 1], values[:, 0], out=np.ones(len(values)), where=values[:, 0] > 0))]
    a, b, c = tensors[:, 0, 0], tensors[:, 0, 1], tensors[:, 1, 1]
    # Adding 0.0 makes −0.0 positive: the angle of a horizontal object is π/2, not −π/2.
    return [np.where(a == c, np.where(b < 0, np.pi / 4, -np.pi / 4), 0.5 * np.arctan2(-2 * b + 0.0, c - a))]


def in_units(name: str, columns: Columns, tensor: list[NDArray[Any]] | None, spacing: NDArray[np.float64],
             separator: str) -> Columns:
    """The columns of a property for pixels with such sides. tensor: the columns of 'inertia_tensor', if it follows from
    them."""
    ndim, volume = len(spacing), float(np.prod(spacing))
    if name in OF_MOMENTS:
        assert tensor is not None
        return dict(zip(columns, of_moments(name, scaled_tensors(tensor, spacing))))
    if name in OF_SIDES:
        if (spacing != spacing[0]).any():
            raise ValueError(f"{name!r} needs pixels with equal sides, not spacing {spacing.tolist()}")
        return {key: column * spacing[0]**OF_SIDES[name] for key, column in columns.items()}
    if name.startswith("moments") and (spacing != 1).any():
        raise ValueError(f"{name!r} has no spacing")
    if name in ("area", "area_bbox", "area_convex", "hull_area"):
        return {key: column * volume for key, column in columns.items()}
    if name == "equivalent_diameter_area":
        return {key: column * volume**(1 / ndim) for key, column in columns.items()}
    if name in ("centroid", "centroid_weighted"):
        def axis_of(key: str) -> int:
            return int(key[len(name) + len(separator):].split(separator)[0])

        return {key: column * spacing[axis_of(key)] for key, column in columns.items()}
    return columns
