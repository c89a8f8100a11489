# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments of every layout, type and range: the same result, or one true sentence."""
import pathlib
import runpy
import subprocess
import sys
import types
import zipfile

import cudaccl
import numpy as np
import pytest

random = np.random.default_rng(36)
LABELS = np.kron(random.integers(0, 4, (4, 5)), np.ones((3, 4))).astype(np.int32)
PROPERTIES = ["intensity_mean", "intensity_min", "intensity_max", "intensity_std", "centroid_weighted"]


def measured(labels, image, **options):
    return cudaccl.regionprops_table(labels, PROPERTIES, intensity_image=image, **options)


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, err_msg=name)


def of_numpy(labels, image, ignore_nan=False):
    """The properties by their definitions, label after label."""
    rows = []
    for label in np.unique(labels[labels > 0]):
        places = np.argwhere(labels == label)
        values = image[labels == label].astype(float)
        if ignore_nan:
            places, values = places[~np.isnan(values)], values[~np.isnan(values)]
        with np.errstate(all="ignore"):
            rows.append([values.mean(), values.min(), values.max(), values.std(),
                         *((values[:, np.newaxis] * places).sum(0) / values.sum())])
    return dict(zip([*PROPERTIES[:-1], "centroid_weighted-0", "centroid_weighted-1"], np.array(rows).T))


def layouts(plane):
    """A plane in every layout that NumPy has."""
    wide = np.repeat(plane, 2, axis=1)
    return {"order": np.asfortranarray(plane), "step": wide[:, ::2], "channel": np.dstack([plane] * 3)[..., 1],
            "negative": plane[::-1, ::-1].copy()[::-1, ::-1], "big-endian": plane.astype(plane.dtype.newbyteorder(">")),
            "unaligned": np.frombuffer(b"x" + plane.tobytes(), plane.dtype, offset=1).reshape(plane.shape),
            "read-only": np.broadcast_to(plane, plane.shape)}


@pytest.mark.parametrize("dtype", ["u1", "u2", "i1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_intensities_of_every_type_and_layout(dtype):
    plane = random.integers(0, 100, LABELS.shape).astype(dtype)
    if np.dtype(dtype).kind != "u":
        plane -= np.array(30, dtype)
    expected = of_numpy(LABELS, plane)
    for name, image in layouts(plane).items():
        assert_same(measured(LABELS, image), expected)
        assert_same(measured(layouts(LABELS)[name], image), expected)
    colours = np.dstack([plane, plane[::-1]])
    found = measured(LABELS, colours)
    assert (found["intensity_min-1"] == of_numpy(LABELS, plane[::-1])["intensity_min"]).all()
    volume = np.stack([plane, plane])
    deep = cudaccl.regionprops_table(np.stack([LABELS, LABELS]), ["intensity_mean", "centroid_weighted"], intensity_image=volume)
    np.testing.assert_allclose(deep["intensity_mean"], expected["intensity_mean"])
    np.testing.assert_allclose(deep["centroid_weighted-0"], 0.5)


def test_files_with_channels(tmp_path):
    """label_file() measures each channel of an array, or of a NumPy file, whatever the tiles."""
    mask = (random.random((40, 30)) < 0.4).astype(np.uint8)
    colours = random.integers(0, 255, (40, 30, 3), np.uint8)
    names = ["label", "area", "intensity_mean", "intensity_max", "centroid_weighted"]
    want = cudaccl.regionprops_table(cudaccl.label(mask)[0], colours, names)
    np.save(tmp_path / "colours.npy", colours)
    for image in (colours, np.asfortranarray(colours), tmp_path / "colours.npy", colours.astype(">u2"), colours.astype(float), colours[..., :1]):
        for tile in 0, 3:
            cudaccl.label_file(mask, None, tmp_path / "t.npy", properties=names, intensity_image=image, tile=tile)
            table = np.load(tmp_path / "t.npy")
            assert len(table.dtype.names) == 2 + 4 * (np.load(image) if isinstance(image, type(tmp_path)) else image).shape[2]
            for name in table.dtype.names:
                np.testing.assert_allclose(table[name], want[name], rtol=1e-12)
    for image in colours[1:], colours[..., :0], colours.astype(complex):
        with pytest.raises((TypeError, ValueError)):
            cudaccl.label_file(mask, None, tmp_path / "t.npy", properties=names, intensity_image=image)


def test_values_that_are_no_number():
    plane = random.random(LABELS.shape) - 0.5
    plane[LABELS == 1] = np.nan
    plane[np.argwhere(LABELS == 2)[0, 0], np.argwhere(LABELS == 2)[0, 1]] = np.nan
    found, ignored = measured(LABELS, plane), measured(LABELS, plane, ignore_nan=True)
    for name in found:
        assert np.isnan(found[name][:2]).all() and not np.isnan(found[name][2:]).any()
        assert np.isnan(ignored[name][0]) and not np.isnan(ignored[name][1:]).any()
    want = of_numpy(np.where(LABELS == 1, 0, LABELS), plane, ignore_nan=True)
    assert_same({name: column[1:] for name, column in ignored.items()}, want)
    integers = random.integers(0, 9, LABELS.shape, np.uint8)
    assert_same(measured(LABELS, integers, ignore_nan=True), of_numpy(LABELS, integers))


def test_calls_of_scikit_image():
    skimage = pytest.importorskip("skimage.measure")
    image = random.integers(0, 255, LABELS.shape, np.uint8)
    names = ("label", "bbox", "area", "intensity_mean")
    for arguments, options in (((LABELS,), {}), ((LABELS, image), {}), ((LABELS, image, names), {}),
                               ((LABELS,), {"intensity_image": image, "properties": names}), ((LABELS, image), {"properties": names}),
                               ((), {"label_image": LABELS, "intensity_image": image, "properties": names, "cache": False}),
                               ((LABELS, None, ("label", "area")), {"separator": "_"})):
        found, want = cudaccl.regionprops_table(*arguments, **options), skimage.regionprops_table(*arguments, **options)
        assert list(found) == list(want)
        for name in found:
            np.testing.assert_allclose(found[name], want[name])
    ours = cudaccl.regionprops_table(LABELS, names, intensity_image=image)
    assert (ours["area"] == found["area"]).all()
    for arguments, options in (((), {}), ((LABELS, image, names, 3), {}), ((LABELS, image), {"intensity_image": image}),
                               ((LABELS, names, names), {})):
        with pytest.raises((TypeError, ValueError)):
            cudaccl.regionprops_table(*arguments, **options)


def test_tables_are_signed():
    """table["x"] - 5 does not wrap"""
    image = np.eye(3, dtype=np.uint8)
    for table in (cudaccl.components(image), cudaccl.label(image)[1], cudaccl.label(np.stack([image] * 2), 26)[1],
                  cudaccl.label_batch(image)[1]):
        for name in ("label", "area", "x", "width"):
            assert table.dtype[name] == np.int32 and (table[name] - 10 < 0).all()
    assert cudaccl.tiled_component_dtype["x"] == np.int64
    former = table.astype([(name, "u4" if kind == "i4" else kind) for name, (kind, _) in table.dtype.fields.items()])
    assert len(cudaccl.Tracker((3, 3)).update(former).tracks) == 1


def test_whole_objects():
    """the box of a bag in the box of a person, missed now and then, is one object, where rows are whole objects"""
    for whole_objects in (False, True):
        tracker, counts = cudaccl.Tracker((240, 640), whole_objects=whole_objects), set()
        for x in range(50, 250, 5):
            table = np.zeros(2, cudaccl.component_dtype)
            for row, (left, top, width, height) in zip(table, ((x, 100, 30, 80), (x + 8, 120, 10, 20))):
                row["x"], row["y"], row["width"], row["height"], row["area"] = left, top, width, height, width * height
                row["centroid_x"], row["centroid_y"] = left + (width - 1) / 2, top + (height - 1) / 2
            table["label"] = 1, 2
            counts.add(len(tracker.update(table[:1] if x % 25 == 20 else table).tracks))
        assert (counts == {2}) == whole_objects


def test_least_way_of_tracks():
    """a thing that stays in its place is confirmed without a least way alone"""
    image = np.zeros((60, 80), np.uint8)
    image[20:40, 30:50] = 1
    table = cudaccl.components(image)
    for least_way, state in ((0, 1), (0.3, 0)):
        tracker = cudaccl.Tracker(image.shape, least_way=least_way)
        states = [tracker.update(table).tracks["state"][0] for _ in range(10)]
        assert states[-1] == state
    tracker.least_way = 101
    with pytest.raises(ValueError, match="least_way"):
        tracker.update(table)
    tracker.least_way = "far"
    with pytest.raises(TypeError, match="least_way"):
        tracker.update(table)


@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("n_channels", [1, 3, 4])
def test_tracks_of_coloured_objects(turn, n_channels):
    """two boxes meet and pass each other, or turn: their masks are the same, so colours decide"""
    colours = np.array([[200, 40, 60, 0], [50, 60, 220, 0]], np.uint8)
    tracker, ids = cudaccl.Tracker((64, 200), frame_rate=25, max_lost=50), []
    for frame in range(90):
        way = min(frame, 90 - frame if turn else 90) * 2
        mask, image = np.zeros((64, 200), np.uint8), np.full((64, 200, n_channels), 90, np.uint8)
        for x, colour in zip((10 + way, 178 - way) if way < 90 or not turn else (98, 90), colours):
            mask[8:56, x:x + 12], image[8:56, x:x + 12] = 1, colour[:n_channels]
        labels, table = cudaccl.label(mask)
        image = image[..., :3] if n_channels > 1 else image[..., 0]
        tracks = tracker.update(table, labels=labels, image=image).tracks
        if len(table) == 2 and frame in (20, 88):
            at = {row["id"]: image[30, int(row["x"] + row["width"] / 2)] for row in tracks}
            ids.append([next(name for name, c in at.items() if (c == colour[:c.size]).all()) for colour in colours])
    assert len(ids) == 2 and ids[0] == ids[1] and ids[0][0] != ids[0][1]


def test_images_that_no_tracker_reads():
    tracker, table = cudaccl.Tracker((4, 6)), cudaccl.components(np.eye(4, 6, dtype=np.uint8))
    labels = cudaccl.label(np.eye(4, 6, dtype=np.uint8))[0]
    for image in (np.zeros((4, 6, 2), np.uint8), np.zeros((6, 4), np.uint8), np.zeros((4, 6, 3), np.float32),
                  np.zeros((3, 4, 6), np.uint8).transpose(1, 2, 0)):
        with pytest.raises(ValueError, match="image"):
            tracker.update(table, labels=labels, image=image)
    tracker.update(table, labels=labels, image=np.zeros((4, 6, 4), np.uint8)[..., :3])


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "i8", "u8"])
def test_thresholds_beyond_64_bits(dtype):
    limits = np.iinfo(dtype)
    image = np.array([[limits.min, 0, 1, limits.max - 1, limits.max]], dtype)
    for threshold in (2**63 - 1, 2**63, float(2**63), 2**64 - 2, 2**64 - 1, 2**64, 1e300, -2**63, -2**63 - 1, -1e300, 10**400):
        want = [int(value) > threshold for value in image[0].tolist()]
        labels = np.zeros(image.shape, np.uint32)
        cudaccl.label_file(image, labels, threshold=min(threshold, 1e300))
        for mask in (cudaccl.label(image, threshold=threshold)[0], cudaccl.label_batch(image, threshold=threshold)[0], labels,
                     cudaccl.Labeller(image.shape).label(image, threshold=threshold)[0]):
            assert (mask > 0).tolist() == [want], threshold


@pytest.mark.parametrize("counts", [[2**32 + 9], [-1, 10], [9.5], [4.5, 4.5], [2**70], ["9"], [[9]], 9, None, [2**31, 2**31 + 9],
                                    np.array([9], float), [True] * 9])
def test_run_lengths_that_are_refused(counts):
    with pytest.raises(ValueError):
        cudaccl.rle_decode({"size": [3, 3], "counts": counts})


def test_run_lengths():
    assert cudaccl.rle_decode({"size": [3, 3], "counts": [4, 5]}).sum() == 5
    assert cudaccl.rle_decode({"size": np.array([3, 3]), "counts": np.array([4, 5], ">i8")}).sum() == 5
    assert cudaccl.rle_decode({"size": [0, 3], "counts": []}).shape == (0, 3)
    for size in ([3.5, 3], [-3, 3], [2**40, 3], ["3", 3], [3], [1e300, 3]):
        with pytest.raises(ValueError):
            cudaccl.rle_decode({"size": size, "counts": [4, 5]})


ONES = np.ones((4, 4), np.uint8)
INTEGERS = {
    "min_area": lambda n: cudaccl.label(ONES, min_area=n), "max_area": lambda n: cudaccl.label(ONES, max_area=n),
    "n_threads": lambda n: cudaccl.label(ONES, n_threads=n), "holes": lambda n: cudaccl.fill_holes(ONES.copy(), n),
    "value": lambda n: cudaccl.fill_holes(ONES.copy(), value=n), "small": lambda n: cudaccl.remove_small(ONES.copy(), n),
    "largest": lambda n: cudaccl.regionprops_table(ONES, largest=n), "radius": lambda n: cudaccl.split_touching(ONES, n),
    "min_area of files": lambda n: cudaccl.label_file(ONES, min_area=n), "tile": lambda n: cudaccl.label_file(ONES, tile=n),
    "max_tracks": lambda n: cudaccl.Tracker((4, 4), max_tracks=n),
    "max_lost": lambda n: cudaccl.Tracker((4, 4), max_lost=n).update(cudaccl.components(ONES)),
    "rows": lambda n: cudaccl.Labeller((4, 4), max_components=n), "hold": lambda n: cudaccl.Foreground((4, 4), hold=n).apply(ONES),
    "threads": lambda n: cudaccl.Foreground((4, 4), n_threads=n), "shape": lambda n: cudaccl.Labeller((4, n)),
    "shape of tracks": lambda n: cudaccl.Tracker((4, n)), "shape of models": lambda n: cudaccl.Foreground((4, n)),
    "connectivity": lambda n: cudaccl.label(ONES, n), "device": lambda n: cudaccl.copy_to_device(ONES, n),
}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("value", [-1, -2**70, 2**70, 2.5, 1e300, "3", [3]])
def test_integers_that_are_refused(name, value):
    """One short line that is of the package, not of the binding."""
    with pytest.raises((TypeError, ValueError, RuntimeError if name == "device" else ValueError)) as error:
        INTEGERS[name](value)
    text = str(error.value)
    assert len(text) < 200 and "\n" not in text, text


def test_values_of_pictures_of_pil():
    image = pytest.importorskip("PIL.Image")
    classes = np.array([[1, 1, 16, 16], [0, 0, 16, 7]], np.uint8)
    palette = image.fromarray(classes, "P")
    palette.putpalette([0, 0, 0] + [128, 0, 0] * 255)  # one colour for all
    want = cudaccl.label_values(classes)
    found = cudaccl.label_values(palette)
    assert found[1] == want[1] == 3 and (found[0] == want[0]).all()
    colours = np.zeros((2, 4, 3), np.uint8)
    colours[:, 0, 2], colours[:, 1, 2], colours[0, 3, 1] = 1, 2, 1
    for mode in "RGB", "RGBA":
        found = cudaccl.label_values(image.fromarray(colours).convert(mode))
        assert found[1] == 3 and found[0].tolist() == [[1, 2, 0, 3], [1, 2, 0, 0]]
    with pytest.raises(ValueError, match="CMYK") as error:
        cudaccl.label_values(image.fromarray(colours).convert("CMYK"))
    assert "'L'" not in str(error.value)
    with pytest.raises(ValueError, match="label_values"):
        cudaccl.label(palette)


def test_a_wheel_of_a_later_python_serves_the_first_one_with_the_stable_abi(tmp_path, monkeypatch):
    """Also of 3.13: nanobind's stable ABI begins with 3.12."""
    pytest.importorskip("wheel")
    source = pathlib.Path(__file__).parents[2] / "python" / "backend.py"
    monkeypatch.setitem(sys.modules, "mesonpy", types.SimpleNamespace(
        build_sdist=None, get_requires_for_build_sdist=None, get_requires_for_build_wheel=None))
    backend = runpy.run_path(str(source))
    name, info = "cudaccl-1.0-cp313-abi3-linux_x86_64.whl", tmp_path / "cudaccl-1.0" / "cudaccl-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: cp313-abi3-linux_x86_64\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cudaccl\nVersion: 1.0\n")
    subprocess.run([sys.executable, "-m", "wheel", "pack", tmp_path / "cudaccl-1.0", "--dest-dir", tmp_path], check=True,
                   stdout=subprocess.DEVNULL)
    found = backend["with_stable_tag"](str(tmp_path), name)
    assert found == name.replace("cp313", "cp312") and [path.name for path in tmp_path.glob("*.whl")] == [found]
    assert b"Tag: cp312-abi3-linux_x86_64" in zipfile.ZipFile(tmp_path / found).read("cudaccl-1.0.dist-info/WHEEL")
    for other in found, "cudaccl-1.0-cp311-cp311-linux_x86_64.whl":
        assert backend["with_stable_tag"](str(tmp_path), other) == other


def test_the_package_leaves_nothing_at_exit():
    done = subprocess.run([sys.executable, "-c", "import cudaccl, numpy; cudaccl.label(numpy.eye(3, dtype='u1'))"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr and not done.stdout
    leaked = {kind.__name__ for module in list(sys.modules.values()) if getattr(module, "__name__", "").startswith("cudaccl")
              for kind in map(type, vars(module).values()) if kind.__module__ == "cudaccl._cudaccl"}
    assert not leaked
