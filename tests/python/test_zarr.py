# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_file() reads and writes Zarr arrays and OME-Zarr images."""
import os
import pathlib
import subprocess
import sys

import cudaccl
import numpy as np
import pytest

zarr = pytest.importorskip("zarr", reason="Python module not installed: zarr")
FORMATS = [2] if zarr.__version__.startswith("2.") else [2, 3]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options(version):
    return {"zarr_format": version} if len(FORMATS) > 1 else {}


def store(name, data, version, **attributes):
    """An array; with attributes, the first one of a group."""
    if attributes:
        zarr.open_group(name, mode="w", **options(version)).attrs.update(attributes)
    path = f"{name}/s0" if attributes else name
    array = zarr.open_array(path, mode="w", shape=data.shape, chunks=tuple(min(7, n) for n in data.shape), dtype=data.dtype,
                            **options(version))
    array[...] = data


def image_of(version, names, scale):
    types = {"t": "time", "c": "channel"}
    image = {"axes": [{"name": name, "type": types.get(name, "space"), **({} if name in types else {"unit": "micrometer"})}
                      for name in names],
             "datasets": [{"path": "s0", "coordinateTransformations": [{"type": "scale", "scale": scale}]},
                          {"path": "s1", "coordinateTransformations": [{"type": "scale", "scale": scale}]}]}
    return ({"multiscales": [{"version": "0.4", **image}]} if version == 2
            else {"ome": {"version": "0.5", "multiscales": [image]}})


def noise(*shape):
    return (np.random.default_rng(1).random(shape) < 0.5).astype(np.uint16)


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("shape", [(50, 41), (12, 15, 17)])
def test_an_array_is_labelled_and_written(version, shape):
    data = noise(*shape)
    store("picture.zarr", data, version)
    n = cudaccl.label_file("picture.zarr", "labels.zarr", "table.npy", tile=5)
    expected, table = cudaccl.label(data, ndim=len(shape))
    labels = zarr.open("labels.zarr", mode="r")
    np.testing.assert_array_equal(labels[...], expected)
    assert labels.dtype == np.uint32 and n == len(table) == len(np.load("table.npy"))
    assert sorted(path.name for path in pathlib.Path().iterdir()) == ["labels.zarr", "picture.zarr", "table.npy"]


@pytest.mark.parametrize("version", FORMATS)
def test_axes_and_scales_of_an_image_are_those_of_its_labels(version):
    data = noise(9, 20, 30)
    store("picture.zarr", data[None, None], version, **image_of(version, "tczyx", [1, 1, 2, 0.5, 0.25]))
    n = cudaccl.label_file("picture.zarr", "labels.zarr", connectivity=26)
    labels = zarr.open("labels.zarr", mode="r")
    np.testing.assert_array_equal(labels["0"][...], cudaccl.label(data, 26)[0])
    assert labels["0"][...].max() == n
    attributes = labels.attrs.asdict()
    image = attributes["multiscales" if version == 2 else "ome"]
    image = image[0] if version == 2 else image["multiscales"][0]
    assert [axis["name"] for axis in image["axes"]] == ["z", "y", "x"] and image["axes"][0]["unit"] == "micrometer"
    assert image["datasets"] == [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [2, 0.5, 0.25]}]}]
    again = np.empty(data.shape, np.uint32)  # what was written can be read
    assert cudaccl.label_file("labels.zarr", again, connectivity=26) == n


@pytest.mark.parametrize("version", FORMATS)
def test_one_layer_is_an_image_unless_a_volume_is_wanted(version):
    data = noise(1, 20, 30)
    store("picture.zarr", data, version, **image_of(version, "zyx", [1, 1, 1]))
    for ndim, shape in ((None, (20, 30)), (3, (1, 20, 30))):
        cudaccl.label_file("picture.zarr", "labels.zarr", ndim=ndim)
        assert zarr.open("labels.zarr", mode="r")["0"].shape == shape


def test_several_channels_and_other_groups_are_refused():
    store("picture.zarr", noise(3, 8, 8), 2, **image_of(2, "cyx", [1, 1, 1]))
    with pytest.raises(ValueError, match="picture.zarr has 3 places on the axis 'c'"):
        cudaccl.label_file("picture.zarr")
    store("group.zarr", noise(8, 8), 2, note="none")
    with pytest.raises(ValueError, match="group.zarr is a group of Zarr without an OME-Zarr image"):
        cudaccl.label_file("group.zarr")


def test_outputs_that_would_destroy_something_are_refused():
    store("picture.zarr", noise(8, 8), 2)
    pathlib.Path("other.zarr").mkdir()
    pathlib.Path("other.zarr/letter").write_text("keep")
    with pytest.raises(ValueError, match="is the file picture.zarr, which is read"):
        cudaccl.label_file("picture.zarr", "picture.zarr")
    with pytest.raises(IsADirectoryError):
        cudaccl.label_file("picture.zarr", "other.zarr")
    with pytest.raises(ValueError, match="ends in .npy, not 'table.zarr'"):
        cudaccl.label_file("picture.zarr", None, "table.zarr")
    assert sorted(path.name for path in pathlib.Path().iterdir()) == ["other.zarr", "picture.zarr"]


def test_an_older_map_stays_after_an_error_and_is_replaced_after_success():
    store("picture.zarr", noise(8, 8), 2)
    cudaccl.label_file("picture.zarr", "labels.zarr")
    before = zarr.open("labels.zarr", mode="r")[...]

    class Torn:
        shape, dtype = (8, 8), np.dtype(np.uint8)

        def __getitem__(self, layers):
            raise OSError("torn")

    with pytest.raises(OSError, match="torn"):
        cudaccl.label_file(Torn(), "labels.zarr")
    np.testing.assert_array_equal(zarr.open("labels.zarr", mode="r")[...], before)
    cudaccl.label_file(np.ones((4, 4), np.uint8), "labels.zarr")
    assert zarr.open("labels.zarr", mode="r")[...].tolist() == [[1] * 4] * 4
    assert sorted(path.name for path in pathlib.Path().iterdir()) == ["labels.zarr", "picture.zarr"]


def test_what_a_killed_process_left_is_no_obstacle():
    pathlib.Path(f"labels.zarr.{os.getpid():x}.part/old").mkdir(parents=True)
    cudaccl.label_file(np.ones((4, 4), np.uint8), "labels.zarr")
    assert [path.name for path in pathlib.Path().iterdir()] == ["labels.zarr"]
    assert not pathlib.Path("labels.zarr/old").exists()


def test_a_missing_package_is_named():
    store("picture.zarr", noise(8, 8), 2)
    program = ("import sys; sys.modules['zarr'] = None\nimport cudaccl\n"
               "try:\n    cudaccl.label_file('picture.zarr')\nexcept ImportError as error:\n    print(error)\n")
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "Zarr needs the package zarr: install python3-zarr, or zarr with pip\n"


def test_damaged_arrays_and_images_are_one_line_that_names_them():
    zarr.open("a.zarr", mode="w", shape=(6, 5), chunks=(2, 2), dtype="u1", fill_value=0)[:] = 1
    mark = next(name for name in (".zarray", "zarr.json") if os.path.exists(f"a.zarr/{name}"))
    text = open(f"a.zarr/{mark}").read()
    for damaged in "", "{}", "[]", text[:40], text.replace("6", "-6", 1), text.replace("6", "1e99", 1), "null":
        open(f"a.zarr/{mark}", "w").write(damaged)
        with pytest.raises((OSError, ValueError), match="a.zarr|sides of 1") as raised:
            cudaccl.label_file("a.zarr", "labels.npy")
        assert "\n" not in str(raised.value)
    open(f"a.zarr/{mark}", "w").write(text)
    for folder, _, names in os.walk("a.zarr"):
        for name in set(names) - {mark}:
            open(os.path.join(folder, name), "wb").write(b"garbage")
    with pytest.raises(OSError, match="a.zarr cannot be read"):
        cudaccl.label_file("a.zarr", "labels.npy")
    group = zarr.open_group("g.zarr", mode="w")
    zarr.open("g.zarr/0", mode="w", shape=(4, 4), dtype="u1", chunks=(4, 4))[:] = 1
    for image in {}, {"datasets": []}, {"datasets": [{}]}, {"datasets": [{"path": "missing"}]}, {"datasets": [{"path": "0"}], "axes": [{}, {}]}, \
            {"datasets": [{"path": "0", "coordinateTransformations": "no"}], "axes": ["y", "x"]}, "no":
        group.attrs["multiscales"] = [image]
        with pytest.raises(OSError, match="g.zarr cannot be read"):
            cudaccl.label_file("g.zarr", "labels.npy")
    assert sorted(os.listdir()) == ["a.zarr", "g.zarr"]


@pytest.mark.parametrize("seed", range(16))
def test_types_chunks_and_fill_values(seed):
    """Big-endian and short types, chunks of any sides, chunks that are not there, both orders, shards; label_file() and Dask."""
    da = pytest.importorskip("dask.array", reason="Python module not installed: dask")
    ndimage = pytest.importorskip("scipy.ndimage", reason="Python module not installed: scipy")
    import cudaccl.dask

    random = np.random.default_rng(seed)
    shape = tuple(random.integers(3, 30 if seed % 2 else 12, 2 + seed % 2).tolist())
    dtype = ["?", "u1", ">u2", "<i2", ">f4", "f8", ">i8", "f2"][seed // 2 % 8]
    chunks = tuple(random.integers(2, 9, len(shape)).tolist())
    more = {"order": "CF"[seed // 2 % 2]} if len(FORMATS) == 1 else {"zarr_format": FORMATS[seed // 2 % 2]}
    if more.get("zarr_format") == 3:
        more["shards"] = tuple(int(random.integers(1, 4)) * n for n in chunks)
    create = zarr.create_array if len(FORMATS) > 1 else zarr.open_array
    array = create("a.zarr", shape=shape, chunks=chunks, dtype=dtype, fill_value=seed // 4 % 2, **({"mode": "w"} if len(FORMATS) == 1 else {}), **more)
    part = (slice(0, shape[0] // 2),)
    array[part] = (random.random(array[part].shape) < 0.4).astype(dtype)
    want, n = ndimage.label(np.asarray(array[...]).astype(bool), np.ones((3,) * len(shape)))
    assert cudaccl.label_file("a.zarr", "labels.npy", ndim=len(shape), tile=2) == n and (np.load("labels.npy") == want).all()
    labels, count = cudaccl.dask.label(da.from_zarr("a.zarr"))
    assert (labels.compute(scheduler="synchronous") == want).all() and count.compute(scheduler="synchronous") == n
