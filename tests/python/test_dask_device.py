# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chunks of CuPy in cudaccl.dask, beside the same pictures in host memory: on a GPU, and everywhere with a stand-in for CuPy
in host memory, which takes the same ways through cudaccl.dask."""
import ctypes
import os
import sys
import types

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="Python module not installed: dask")

import cudaccl  # noqa: E402
import cudaccl.dask  # noqa: E402


class StandIn(np.ndarray):
    def get(self):
        return np.array(self)


def as_stand_in(array):
    return np.asarray(array).view(StandIn)


def has_gpu():
    """Whether there is one that CuPy can use."""
    try:
        return "simcuda" not in os.environ.get("LD_LIBRARY_PATH", "") and ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


@pytest.fixture(params=["stand-in", "cupy"])
def to_device(request, monkeypatch):
    """A function that makes an array of CuPy, or what stands in for one."""
    if request.param == "cupy":
        if not has_gpu():
            pytest.skip("chunks of CuPy need an NVIDIA GPU")
        return pytest.importorskip("cupy", reason="Python module not installed: cupy").asarray
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(asarray=as_stand_in))
    for name in "label_chunk", "label_values_of_chunk":
        def on_device(pixels, *arguments, function=getattr(cudaccl.dask, name), **others):
            assert isinstance(pixels, StandIn)
            labels, rest = function(np.asarray(pixels), *arguments, **others)
            return as_stand_in(labels), rest
        monkeypatch.setattr(cudaccl.dask, name, on_device)
    return as_stand_in


def picture(seed, ndim, greatest=1):
    random = np.random.default_rng([seed, ndim])
    shape = random.integers(10, 70 if ndim == 2 else 25, ndim)
    return random.integers(0, greatest + 1, shape) * (random.random(shape) < 0.6)


def chunks_of(image, to_device):
    return da.from_array(to_device(image), tuple(int(n) for n in np.array(image.shape) // 3 + 1), asarray=False)


def computed(array):
    """Chunks that have stayed where they were, in host memory."""
    meta = np.empty((0,) * array.ndim, array.dtype)
    return array.map_blocks(lambda chunk: chunk.get(), meta=meta).compute(scheduler="synchronous")


@pytest.mark.parametrize("connectivity", [4, 8, 6, 18, 26])
def test_labels(to_device, connectivity):
    ndim = 2 if connectivity < 9 and connectivity != 6 else 3
    image = picture(connectivity, ndim).astype(np.uint8)
    labels, n = cudaccl.dask.label(chunks_of(image, to_device), connectivity)
    expected, table = cudaccl.label(image, connectivity, ndim=ndim)
    np.testing.assert_array_equal(computed(labels), expected)
    assert n.compute(scheduler="synchronous") == len(table)


@pytest.mark.parametrize("ndim", [2, 3])
def test_labels_of_values(to_device, ndim):
    image = picture(1, ndim, 3).astype(np.uint16)
    labels, n = cudaccl.dask.label_values(chunks_of(image, to_device))
    expected, count = cudaccl.label_values(image, ndim=ndim)
    np.testing.assert_array_equal(computed(labels), expected)
    assert n.compute(scheduler="synchronous") == count


@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_holes_and_small_components(to_device, dtype):
    mask = picture(2, 2).astype(dtype)
    filled = cudaccl.dask.fill_holes(chunks_of(mask, to_device), 3, 8)
    np.testing.assert_array_equal(computed(filled), cudaccl.fill_holes(mask.copy(), 3, 8))
    kept = cudaccl.dask.remove_small(chunks_of(mask, to_device), 4, 4)
    np.testing.assert_array_equal(computed(kept), cudaccl.remove_small(mask.copy(), 4, 4))


def test_columns(to_device):
    image = picture(3, 2).astype(np.uint8)
    names = ["label", "area", "centroid", "inertia_tensor", "intensity_mean", "intensity_max"]
    labels, values = cudaccl.label(image)[0], picture(4, 2, 200)[:1, :1].astype(np.uint8) + image * np.uint8(7)
    found = cudaccl.dask.regionprops_table(chunks_of(labels, to_device), names, chunks_of(values, to_device)).compute(
        scheduler="synchronous")
    for name, column in cudaccl.regionprops_table(labels, names, intensity_image=values).items():
        np.testing.assert_array_equal(found[name], column, name)
