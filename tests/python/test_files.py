# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_file() against scipy: files and arrays, tiles, and ranks that are threads here."""
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

import cudaccl
import numpy as np
import pytest

ndimage = pytest.importorskip("scipy.ndimage")
hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).parents[1] / "label"))
from formats import write_tiff  # noqa: E402

cv2 = pytest.importorskip("cv2")
tifffile = pytest.importorskip("tifffile")
from filters import FILTERS, closed, otsu_threshold  # noqa: E402

RANK = {4: 1, 8: 2, 6: 1, 18: 2, 26: 3}
FIELDS = {"x": "width", "y": "height", "z": "depth"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Threads:
    """The communicators of ranks that are threads, with the functions of mpi4py's that are used."""

    def __init__(self, rank, queues, barrier, values):
        self.rank, self.queues, self.barrier, self.values = rank, queues, barrier, values

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return len(self.values)

    def Send(self, data, dest, tag):
        self.queues[self.rank, dest].put(bytes(data))

    def Recv(self, data, source, tag):
        data[:] = self.queues[source, self.rank].get(timeout=60)

    def allgather(self, value):
        self.values[self.rank] = value
        self.barrier.wait(60)
        values = list(self.values)
        self.barrier.wait(60)
        return values


def run_ranks(n, function):
    """Calls function(comm) in n ranks; returns their results or exceptions."""
    queues = {(a, b): queue.Queue() for a in range(n) for b in range(n)}
    barrier, values, results = threading.Barrier(n), [None] * n, [None] * n

    def run(rank):
        try:
            results[rank] = function(Threads(rank, queues, barrier, values))
        except BaseException as error:
            results[rank] = error

    threads = [threading.Thread(target=run, args=[rank]) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def expected(mask, connectivity, min_area=0, max_area=0):
    """The label map by scipy, and areas."""
    labels, n = ndimage.label(mask, ndimage.generate_binary_structure(mask.ndim, RANK[connectivity]))
    areas = np.bincount(labels.ravel(), minlength=n + 1)
    keep = (areas >= min_area) & ((areas <= max_area) | (max_area == 0))
    keep[0] = False
    return np.where(keep, np.cumsum(keep), 0)[labels], areas[keep]


def check(labels, table, want, areas):
    assert (labels == want).all()
    assert (table["label"] == np.arange(1, len(areas) + 1)).all() and (table["area"] == areas).all()
    for axis, (corner, side) in enumerate(list(FIELDS.items())[:want.ndim]):
        spans = [s[want.ndim - 1 - axis] for s in ndimage.find_objects(want)]
        assert (table[corner] == [s.start for s in spans]).all()
        assert (table[side] == [s.stop - s.start for s in spans]).all()
    centres = np.array(ndimage.center_of_mass(want > 0, want, range(1, len(areas) + 1))).reshape(-1, want.ndim)
    for axis, name in enumerate(["centroid_x", "centroid_y", "centroid_z"][:want.ndim]):
        np.testing.assert_allclose(table[name], centres[:, want.ndim - 1 - axis], rtol=1e-12, atol=1e-12)


@st.composite
def pictures(draw):
    """Noise, and lines that cross seams many times."""
    ndim = draw(st.sampled_from([2, 2, 3]))
    shape = draw(st.tuples(*[st.integers(1, 24 if ndim == 2 else 9)] * ndim))
    kind = draw(st.sampled_from(["noise", "comb", "snake"]))
    image = np.zeros(shape, np.uint8)
    if kind == "noise":
        image = (np.random.default_rng(draw(st.integers(0, 2**32))).random(shape) < draw(st.floats(0, 1))).astype(np.uint8)
    else:
        image[..., ::2] = 1
        image[-1 if kind == "comb" else 0, ..., 1::4] = 1
        image[-1, ..., 3::4] = 1
    return image, draw(st.sampled_from([4, 8] if ndim == 2 else [6, 18, 26]))


@settings(max_examples=80)
@given(pictures(), st.integers(1, 9), st.integers(0, 6), st.booleans(), st.integers(0, 4), st.sampled_from([0, 30]))
def test_any_ranks_and_tiles_as_scipy(picture, n_ranks, tile, invert, min_area, max_area):
    image, connectivity = picture
    want, areas = expected((image > 0) ^ invert, connectivity, min_area, max_area)
    np.save("image.npy", image)
    results = run_ranks(n_ranks, lambda comm: cudaccl.label_file(
        "image.npy", "labels.npy", "table.npy", connectivity=connectivity, invert=invert, min_area=min_area,
        max_area=max_area, tile=tile, n_threads=1, comm=comm))
    assert results == [len(areas)] * n_ranks
    check(np.load("labels.npy"), np.load("table.npy"), want, areas)
    assert sorted(os.listdir()) == ["image.npy", "labels.npy", "table.npy"]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", ">u2", "int32", "uint64", "float32", ">f8"])
def test_types_and_thresholds(dtype):
    image = np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 100, (31, 40)).astype(dtype)
    np.save("image.npy", image)
    for threshold in [0, 0.5, -3, 60]:
        want, _ = expected(image > np.floor(threshold) if dtype[-2] != "f" else image > threshold, 8)
        for given in ["image.npy", image]:
            labels = np.zeros(image.shape, np.uint32)
            assert cudaccl.label_file(given, labels, threshold=threshold, tile=4) == want.max()
            assert (labels == want).all()


def every_file(image, volume):
    """Writes each kind of file; yields what label_file() is given for it, and the picture."""
    np.save("image.npy", image)
    cv2.imwrite("image.png", image)
    cv2.imwrite("image.pgm", image)
    (image * np.uint16(300)).tofile("image.raw")
    write_tiff("strips.tif", [image])
    write_tiff("tiles.tif", [image.astype(np.float32)], tile=16, big=True, deflate=True, order=">")
    for name in ["image.npy", "image.png", "image.pgm", "strips.tif", "tiles.tif"]:
        yield {"image": name}, image
    yield {"image": "image.raw", "raw_shape": image.shape, "raw_dtype": np.uint16}, image
    os.mkdir("slices")
    for z, page in enumerate(volume):
        cv2.imwrite(f"slices/{z}.png", page)  # 10.png follows 9.png
    np.save("volume.npy", volume)
    volume.tofile("volume.raw")
    write_tiff("pages.tif", list(volume))
    for name in ["volume.npy", "slices", pathlib.Path("pages.tif"), [f"slices/{z}.png" for z in range(len(volume))]]:
        yield {"image": name}, volume
    yield {"image": "volume.raw", "raw_shape": volume.shape}, volume
    np.save("slice.npy", image[None])
    yield {"image": "slice.npy", "connectivity": 26}, image[None]
    cv2.imwrite("image.jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 100])
    yield {"image": "image.jpg", "threshold": 127}, cv2.imread("image.jpg", cv2.IMREAD_GRAYSCALE) > 127
    np.save("fortran.npy", np.asfortranarray(volume))
    yield {"image": "fortran.npy"}, volume


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_files(n_ranks):
    """Every kind of file that ccl-label reads."""
    noise = np.random.default_rng(3)
    for settings, image in every_file((noise.random((50, 60)) < 0.4).astype(np.uint8) * 200,
                                      (noise.random((12, 20, 30)) < 0.2).astype(np.uint8)):
        want, areas = expected(image, 8 if image.ndim == 2 else 26)
        results = run_ranks(n_ranks, lambda comm: cudaccl.label_file(
            labels="labels.npy", table="table.npy", label_bytes=8, tile=3, comm=comm, **settings))
        assert results == [len(areas)] * n_ranks, settings
        assert np.load("labels.npy").dtype == np.uint64
        check(np.load("labels.npy"), np.load("table.npy"), want, areas)


def blurred(shape, seed):
    return cv2.GaussianBlur(np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8), (3, 3), 0)


def check_mask(mask, **arguments):
    """label_file() finds the components of a mask, for all ranks and tiles."""
    want, areas = expected(mask, 8 if mask.ndim == 2 else 26)
    for n_ranks, tile in (1, 0), (1, 1), (3, 7):
        results = run_ranks(n_ranks, lambda comm: cudaccl.label_file(
            labels="labels.npy", ndim=mask.ndim, tile=tile, comm=comm, **arguments))
        assert results == [len(areas)] * n_ranks and (np.load("labels.npy") == want).all(), arguments


@pytest.mark.parametrize("denoise", FILTERS)
@pytest.mark.parametrize("strip_pixels", [1, 2**22])
def test_filters_as_opencv(denoise, strip_pixels, monkeypatch):
    """Otsu's threshold, noise filters, closing and region of interest masks, in many strips or at once."""
    from cudaccl._files import mask as _mask

    monkeypatch.setattr(_mask, "BAND_PIXELS", strip_pixels)
    image = blurred((90, 71), 5)
    roi = cv2.circle(np.zeros_like(image), (30, 40), 33, 200, -1)
    image[roi == 0] //= 2  # so that Otsu's threshold of the region is another one
    cv2.imwrite("image.png", image)
    cv2.imwrite("roi.png", roi)
    for method, closing, region, invert in [("threshold", (1, 1), None, False), ("otsu", (1, 1), None, True),
                                            ("otsu", (1, 1), "roi.png", False), ("threshold", (5, 3), roi, True),
                                            ("threshold", (0, 13), None, False)]:
        threshold = 120 if method == "threshold" else otsu_threshold(image if region is None else image[roi > 0])
        mask = FILTERS[denoise](np.where(image > threshold, 255, 0).astype(np.uint8))
        mask = closed(mask, *(max(1, length) for length in closing)) > 0
        mask = (mask ^ invert) & (True if region is None else roi > 0)
        settings = {"foreground": method, "denoise": denoise, "closing": closing, "roi_mask": region, "invert": invert}
        check_mask(mask, image="image.png", threshold=120, **settings)
        if method == "threshold":
            check_mask(mask, image=image * np.float32(0.01), threshold=1.2, **settings)
        else:
            check_mask(mask, image=(image * np.uint16(257)).astype(">u2"), **settings)


def test_components_at_the_border():
    mask = blurred((60, 47), 11) > 128
    whole, _ = expected(mask, 8)
    edges = set(whole[0]) | set(whole[-1]) | set(whole[:, 0]) | set(whole[:, -1])
    stays = np.array([label not in edges and label > 0 for label in range(whole.max() + 1)])
    want = np.where(stays, np.cumsum(stays), 0)[whole]
    for n_ranks, tile in (1, 0), (1, 1), (3, 7):
        results = run_ranks(n_ranks, lambda comm: cudaccl.label_file(
            mask, labels="labels.npy", tile=tile, comm=comm, clear_border=True))
        assert results == [want.max()] * n_ranks and (np.load("labels.npy") == want).all()


def test_pixels_without_data():
    """Those of GeoTIFF are background, inverted or not."""
    image = np.random.default_rng(3).integers(0, 5, (50, 40)).astype(np.uint8)
    gone = np.random.default_rng(4).random(image.shape) < 0.3
    image[gone] = 255
    tifffile.imwrite("gone.tif", image, metadata=None, compression="zlib", rowsperstrip=4, extratags=[(42113, 2, 0, "255", True)])
    check_mask((image > 2) & ~gone, image="gone.tif", threshold=2)
    check_mask((image <= 2) & ~gone, image="gone.tif", threshold=2, invert=True)
    check_mask((image > otsu_threshold(image[~gone])) & ~gone, image="gone.tif", foreground="otsu")


def test_filters_of_volumes():
    """Filters work in each slice, and Otsu's threshold is that of all slices."""
    volume = np.stack([blurred((20, 31), n) // n for n in [1, 2, 3, 1]])
    roi = (np.random.default_rng(6).random(volume.shape) < 0.9).astype(np.int16)
    np.save("roi.npy", roi)
    np.save("slice.npy", roi[2])
    threshold = otsu_threshold(volume[roi > 0])
    mask = np.stack([cv2.medianBlur(np.where(page > threshold, 255, 0).astype(np.uint8), 3) for page in volume])
    check_mask((mask > 0) & (roi > 0), image=volume, foreground="otsu", denoise="median-3x3", roi_mask="roi.npy")
    for region in "slice.npy", roi[2], roi[2:3]:
        check_mask((volume > 60) & (roi[2] > 0), image=volume, threshold=60, roi_mask=region)
    check_mask((volume > 60) & (roi[:, ::-1] > 0), image=volume, threshold=60, roi_mask=roi[:, ::-1])


def test_filters_that_are_refused():
    image = np.ones((9, 8), np.uint8)
    for flat in image, image * np.uint16(65535):  # a flat picture has no foreground
        assert cudaccl.label_file(flat, foreground="otsu") == 0
    for n_ranks in 1, 2:
        for arguments, error, word in [({"foreground": "mog2"}, ValueError, "mog2"), ({"denoise": "blur"}, ValueError, "blur"),
                                       ({"closing": (64, 1)}, ValueError, "closing"), ({"closing": (1,)}, TypeError, "closing"),
                                       ({"roi_mask": image[:8]}, ValueError, "another size"),
                                       ({"roi_mask": image[:1]}, ValueError, "another size"),
                                       ({"roi_mask": "absent.png"}, OSError, "absent.png"),
                                       ({"roi_mask": [["a"]]}, TypeError, "pixels"), ({"memory": 1e9}, TypeError, "memory"),
                                       ({"tile": -1}, ValueError, "tile"), ({"threshold": np.nan}, ValueError, "threshold"),
                                       ({"image": image.astype(np.int16), "foreground": "otsu"}, ValueError, "uint16")]:
            for result in run_ranks(n_ranks, lambda comm: cudaccl.label_file(
                    **{"image": image, "labels": "labels.npy", **arguments}, comm=comm)):
                assert isinstance(result, error) and word in str(result), (arguments, result)
    assert os.listdir() == []


def test_arrays_that_are_files():
    image = (np.random.default_rng(3).random((50, 60)) < 0.4).astype(np.uint8)
    _, areas = expected(image, 8)
    image.tofile("image.raw")
    assert cudaccl.label_file(np.memmap("image.raw", np.uint8, "r", shape=image.shape), table="table.npy") == len(areas)
    assert cudaccl.regionprops_table(np.load("table.npy"), ["area"])["area"].tolist() == areas.tolist()


def test_damaged_files():
    np.save("image.npy", np.ones((9, 9), np.uint8))
    write_tiff("image.tif", [np.ones((90, 90), np.uint8)], deflate=True)
    content = pathlib.Path("image.tif").read_bytes()
    pathlib.Path("short.tif").write_bytes(content[:40] + bytes(20) + content[60:])
    pathlib.Path("text").write_text("no picture")
    for arguments, error in [({"image": "short.tif"}, OSError), ({"image": "text"}, OSError),
                             ({"image": ["image.npy", "image.tif"]}, OSError),
                             ({"image": "image.npy", "raw_shape": (9, 9)}, OSError),
                             ({"image": "text", "raw_shape": (2, 5, 1), "raw_dtype": complex}, ValueError),
                             ({"image": "text", "raw_shape": (5, 1), "raw_dtype": ">u2"}, ValueError),
                             ({"image": "text", "raw_shape": (10,)}, ValueError),
                             ({"image": "text", "raw_shape": (0, 10)}, ValueError)]:
        with pytest.raises(error):
            cudaccl.label_file(**arguments, table="table.npy")
    assert not os.path.exists("table.npy")


class Layers:
    """A picture whose layers are what a function makes of the right ones."""

    def __init__(self, image, change):
        self.image, self.change, self.shape, self.dtype = image, change, image.shape, image.dtype

    def __getitem__(self, rows):
        return self.change(self.image[rows])


@pytest.mark.parametrize("change, error, message", [
    (lambda rows: rows[0], ValueError, "has the shape"), (lambda rows: rows[:1], ValueError, "has the shape"),
    (lambda rows: rows[:-1], ValueError, "has the shape"), (lambda rows: rows[:, :-1], ValueError, "has the shape"),
    (lambda rows: rows[0, 0], ValueError, "has the shape"), (lambda rows: rows[None], ValueError, "has the shape"),
    (lambda rows: rows.astype(np.float32), TypeError, "is of float32")])
@pytest.mark.parametrize("roi", [False, True])
def test_layers_that_are_not_as_they_should_be(change, error, message, roi):
    image = np.ones((20, 30), np.uint8)
    labels = np.full(image.shape, 7, np.uint32)
    arguments = {"image": image, "roi_mask": Layers(image, change)} if roi else {"image": Layers(image, change)}
    with pytest.raises(error, match=message):
        cudaccl.label_file(**arguments, labels=labels, tile=4)
    assert (labels == 7).all()
    assert cudaccl.label_file(Layers(image, lambda rows: rows[:, ::-1]), labels) == 1 and (labels == 1).all()


@pytest.mark.parametrize("labels, error, message", [
    (np.zeros((40, 29), np.uint32), ValueError, "has the shape"), (np.zeros((41, 30), np.uint32), ValueError, "has the shape"),
    (np.zeros(30, np.uint32), ValueError, "has the shape"), (np.zeros((40, 30), np.uint8), ValueError, "300 labels"),
    (np.zeros((40, 30), np.int8), ValueError, "300 labels"), (np.zeros((40, 30), bool), ValueError, "300 labels"),
    (np.broadcast_to(np.uint32(0), (40, 30)), ValueError, "read-only"), (5, TypeError, "assignment")])
def test_label_maps_that_are_refused(labels, error, message):
    image = np.zeros((40, 30), np.uint8)
    image[::2, ::2] = 1
    with pytest.raises(error, match=message):
        cudaccl.label_file(image, labels)
    assert isinstance(labels, int) or not labels.any()
    fitting = np.zeros(image.shape, np.int16)
    assert cudaccl.label_file(image, fitting) == 300 == fitting.max()


def test_the_label_map_is_not_the_picture():
    image = np.ones((9, 8), np.uint32)
    for labels in image, image[::-1]:
        with pytest.raises(ValueError, match="memory of the picture"):
            cudaccl.label_file(image, labels)
    assert (image == 1).all()


def test_outputs_that_are_inputs_or_each_other():
    """By device and inode: names, links, and names of files that are not there yet."""
    image = np.ones((9, 8), np.uint8)
    np.save("image.npy", image)
    np.save("roi.npy", image)
    os.mkdir("folder")
    np.save("folder/0.npy", image)
    os.symlink("image.npy", "symbolic.npy")
    os.link("image.npy", "hard.npy")
    os.symlink("absent.npy", "dangling.npy")
    os.symlink(".", "here")
    before = {path: path.read_bytes() for path in pathlib.Path().rglob("*.npy") if path.exists()}
    for arguments in [{"labels": "image.npy"}, {"table": "image.npy"}, {"labels": "symbolic.npy"}, {"labels": "hard.npy"},
                      {"labels": "here/image.npy"}, {"labels": os.path.abspath("image.npy")},
                      {"labels": "roi.npy", "roi_mask": "roi.npy"}, {"image": "folder", "labels": "folder/0.npy"},
                      {"image": ["image.npy", "roi.npy"], "table": "roi.npy"},
                      {"image": np.load("image.npy", mmap_mode="r"), "labels": "image.npy"},
                      {"labels": "new.npy", "table": "new.npy"}, {"labels": "new.npy", "table": "./new.npy"},
                      {"labels": "new.npy", "table": "here/new.npy"}, {"labels": "dangling.npy", "table": "absent.npy"},
                      {"image": image, "labels": "image.npy", "table": "hard.npy"}]:
        for n_ranks in 1, 2:
            for result in run_ranks(n_ranks, lambda comm: cudaccl.label_file(**{"image": "image.npy", **arguments}, comm=comm)):
                assert isinstance(result, ValueError), (arguments, result)
    assert {path: path.read_bytes() for path in pathlib.Path().rglob("*.npy") if path.exists()} == before
    assert cudaccl.label_file("image.npy", "folder/1.npy", "new.npy") == 1


@pytest.mark.parametrize("name", ["labels.gif", "labels", "labels.npy.gz", ".npy/labels"])
def test_names_of_outputs_that_are_refused(name):
    image = np.ones((9, 8), np.uint8)
    for output in "labels", "table":
        with pytest.raises((ValueError, FileNotFoundError), match="labels|npy"):
            cudaccl.label_file(image, **{output: name})
    os.mkdir("folder.npy")
    with pytest.raises(IsADirectoryError):
        cudaccl.label_file(image, "folder.npy")
    assert os.listdir() == ["folder.npy"]
    assert cudaccl.label_file(image, "LABELS.NPY") == 1 and np.load("LABELS.NPY").all()


def test_missing_and_unreadable_files():
    for name in "absent.npy", ["absent.npy"], "no/where.png":
        with pytest.raises(FileNotFoundError, match="absent|where") as error:
            cudaccl.label_file(name)
        assert error.value.filename
    with pytest.raises(FileNotFoundError):
        cudaccl.label_file(np.ones((3, 3), bool), roi_mask="absent.npy")
    with pytest.raises(FileNotFoundError):
        cudaccl.label_file(np.ones((3, 3), bool), "no/where.npy")
    with pytest.raises(OSError, match="not a regular file"):
        cudaccl.label_file("/dev/zero")


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint64", "int64"])
def test_thresholds_are_not_rounded(dtype):
    """float32(0.1) is greater than 0.1, and 2**63 + 1 is not 2**63."""
    cases = [(0.1, [0.1, 0.0], [True, False])] if dtype[0] == "f" else []
    if dtype == "float32":
        cases = [(0.1, np.array([0.1, 0.0], np.float32), [True, False])]
    if dtype == "uint64":
        cases = [(2**63, [2**63 + 1, 2**63], [True, False]), (-1, [0, 1], [True, True]), (2**64, [2**64 - 1, 0], [False, False]),
                 (2**53, [2**53 + 1, 2**53], [True, False])]
    if dtype == "int64":
        cases = [(-2**70, [-2**63, 0], [True, True]), (2**53, [2**53 + 1, 2**53], [True, False]), (np.inf, [2**63 - 1, 0], [False, False])]
    if dtype == "float64":
        cases = [(0.1, [np.nextafter(0.1, 1), 0.1], [True, False]), (-np.inf, [-1e300, np.nan], [True, False])]
    for threshold, row, want in cases:
        image = np.array([row], dtype)
        labels = np.zeros(image.shape, np.uint32)
        cudaccl.label_file(image, labels, threshold=threshold)
        assert (labels > 0).tolist() == [want], (threshold, row)
        if abs(threshold) != np.inf or dtype[0] == "f":
            assert (cudaccl.label(image, threshold=threshold)[0] > 0).tolist() == [want], (threshold, row)


def test_lists_masked_arrays_and_pictures_of_pil():
    image = np.array([[0, 3, 3], [0, 0, 0], [5, 0, 5]], np.uint8)
    assert cudaccl.label_file(image.tolist()) == 3
    assert cudaccl.label_file(np.ma.masked_equal(image, 5)) == 1
    labels = np.zeros(image.shape, np.uint32)
    cudaccl.label_file(np.ma.masked_equal(image, 5), labels, invert=True)
    assert (labels > 0).tolist() == (image == 0).tolist()
    with pytest.raises(ValueError, match="masked"):
        cudaccl.label_file(np.ma.masked_equal(image, 5), roi_mask=image)
    pil = pytest.importorskip("PIL.Image")
    assert cudaccl.label_file(pil.fromarray(image)) == 3


def test_a_volume_is_asked_for():
    volume = np.ones((5, 6, 3), np.uint8)
    for connectivity in None, 8, 1:
        with pytest.raises(ValueError, match="ndim=3"):
            cudaccl.label_file(volume, connectivity=connectivity)
    for arguments in {"ndim": 3}, {"connectivity": 26}, {"connectivity": 3}, {"ndim": 3, "connectivity": 1}:
        assert cudaccl.label_file(volume, **arguments) == 1
    np.save("volume.npy", np.ones((5, 6, 9), np.uint8))
    assert cudaccl.label_file("volume.npy") == 1  # a file with a volume is one
    np.save("colours.npy", volume)
    with pytest.raises(ValueError, match="colours, or a volume"):
        cudaccl.label_file("colours.npy")
    assert cudaccl.label_file("colours.npy", ndim=3) == 1
    cv2.imwrite("image.png", volume[0])
    for arguments in {"ndim": 3}, {"connectivity": 26}:
        with pytest.raises(ValueError, match="3 dimensions, not 2"):
            cudaccl.label_file("image.png", **arguments)


def test_masks_in_files():
    """What is black or transparent is outside, whatever the format."""
    image = np.ones((1, 4), np.uint8)
    rgba = np.zeros((1, 4, 4), np.uint8)
    rgba[0, :, 3] = [255, 255, 0, 255]
    rgba[0, 1, 2] = rgba[0, 2, 1] = 1
    cv2.imwrite("roi.png", rgba)
    np.save("roi.npy", np.array([[0, -1, 0, 0]], np.int8))
    for roi in "roi.png", "roi.npy", np.array([[0, -1, 0, 0]]), np.array([[0, 0.5, 0, 0]]):
        labels = np.zeros(image.shape, np.uint32)
        cudaccl.label_file(image, labels, roi_mask=roi)
        assert labels.tolist() == [[0, 1, 0, 0]], roi


class Broken:
    """A picture with an unreadable row."""
    shape, dtype = (20, 30), np.dtype(np.uint8)

    def __getitem__(self, rows):
        if rows.stop > 15:
            raise ConnectionError("no such rows")
        return np.ones((rows.stop - rows.start, 30), np.uint8)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_errors_leave_nothing(n_ranks):
    open("labels.npy", "w").write("old")
    results = run_ranks(n_ranks, lambda comm: cudaccl.label_file(Broken(), "labels.npy", "table.npy", tile=2, comm=comm))
    assert isinstance(results[-1], ConnectionError) and all(isinstance(result, OSError) for result in results)
    assert all("no such rows" in str(result) for result in results)
    assert os.listdir() == ["labels.npy"] and open("labels.npy").read() == "old"
    np.save("image.npy", np.ones((9, 9), np.uint8))
    for arguments, error in [({"image": "absent.npy"}, OSError), ({"image": "a.gif"}, OSError),
                             ({"labels": "no/where.npy"}, OSError), ({"connectivity": 5}, ValueError),
                             ({"label_bytes": 3}, ValueError), ({"image": np.ones(4)}, ValueError),
                             ({"image": np.ones((0, 4))}, ValueError), ({"image": np.ones((4, 4), complex)}, TypeError)]:
        for result in run_ranks(n_ranks, lambda comm: cudaccl.label_file(
                **{"image": "image.npy", "table": "t.npy", **arguments}, comm=comm)):
            assert isinstance(result, error), (arguments, result)
    assert sorted(os.listdir()) == ["image.npy", "labels.npy"]


class FailingMessages(Threads):
    """In one rank, one call of Send or Recv raises, or all do from one on."""

    faulty_rank, function, number, is_lasting = 0, "Send", 0, False
    n_calls = 0
    has_raised = False

    def check(self, function):
        if self.rank == self.faulty_rank and function == self.function:
            FailingMessages.n_calls += 1
            if self.n_calls - 1 == self.number or (self.is_lasting and self.n_calls > self.number):
                FailingMessages.has_raised = True
                raise ZeroDivisionError("the line is cut")

    def Send(self, data, dest, tag):
        self.check("Send")
        super().Send(data, dest, tag)

    def Recv(self, data, source, tag):
        self.check("Recv")
        while True:
            try:
                data[:] = self.queues[source, self.rank].get(timeout=0.01)
                return
            except queue.Empty:
                if self.aborted.is_set():
                    raise ConnectionError("aborted") from None
                assert time.monotonic() < self.end, "a rank waits for ever"

    def Abort(self):
        self.aborted.set()


@pytest.mark.parametrize("is_lasting", [False, True])
@pytest.mark.parametrize("function", ["Send", "Recv"])
@pytest.mark.parametrize("faulty_rank", [0, 1, 2])
def test_ranks_that_fail_to_send_or_receive(faulty_rank, function, is_lasting, monkeypatch):
    image = np.ones((9, 5), np.uint8)
    monkeypatch.setattr(sys.modules[__name__], "Threads", FailingMessages)
    FailingMessages.faulty_rank, FailingMessages.function, FailingMessages.is_lasting = faulty_rank, function, is_lasting
    number, has_raised = 0, True
    while has_raised:
        FailingMessages.number, FailingMessages.n_calls, FailingMessages.has_raised = number, 0, False
        FailingMessages.aborted, FailingMessages.end = threading.Event(), time.monotonic() + 60
        results = run_ranks(3, lambda comm: cudaccl.label_file(image, "labels.npy", comm=comm))
        has_raised = FailingMessages.has_raised
        if has_raised:
            assert isinstance(results[faulty_rank], ZeroDivisionError), results
            assert all(isinstance(result, (OSError, ZeroDivisionError)) for result in results), results
            assert not os.listdir()
        else:
            assert results == [1] * 3
        number += 1
    assert number > 2


def test_a_full_disk_leaves_nothing():
    np.save("image.npy", np.ones((1000, 1000), np.uint8))
    program = ("import cudaccl, resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
               "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
               "cudaccl.label_file('image.npy', 'labels.npy')")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1 and "File too large" in result.stderr, result.stderr
    assert os.listdir() == ["image.npy"]


def test_memory_is_bounded():
    with open("tall.raw", "wb") as file:
        file.truncate(4096 * 65536)
    program = ("import cudaccl, numpy, resource\n"
               "class Rows:\n"
               "    shape, dtype = (65536, 4096), numpy.dtype('u1')\n"
               "    def __getitem__(self, rows):\n"
               "        return numpy.fromfile('tall.raw', 'u1', (rows.stop - rows.start) * 4096,\n"
               "                              offset=rows.start * 4096).reshape(-1, 4096)\n"
               "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
               "cudaccl.label_file(Rows(), memory=48 << 20)\n"
               "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 64 * 1024


def test_a_device_that_is_not_there():
    with pytest.raises(RuntimeError):
        cudaccl.label_file(np.ones((4, 4), np.uint8), device="cuda:77")


def test_mpi4py():
    pytest.importorskip("mpi4py")
    image = blurred((53, 40), 4)
    np.save("image.npy", image)
    np.save("roi.npy", image % 16)
    mask = cv2.medianBlur(np.where(image > otsu_threshold(image[image % 16 > 0]), 255, 0).astype(np.uint8), 3)
    want, areas = expected((mask > 0) & (image % 16 > 0), 8)
    with open("program.py", "w") as file:
        file.write("import cudaccl\nfrom mpi4py import MPI\n"
                   "n = cudaccl.label_file('image.npy', 'labels.npy', 'table.npy', foreground='otsu', denoise='median-3x3',\n"
                   "                       roi_mask='roi.npy', tile=3, comm=MPI.COMM_WORLD)\n"
                   "counts = MPI.COMM_WORLD.gather(n)\n"
                   "if counts:\n"
                   "    print(*counts)\n")
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
                   "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm_rsh_agent": "",
                   "OMPI_MCA_btl": "self,vader"}
    result = subprocess.run(["mpirun", "-n", "3", sys.executable, "program.py"], capture_output=True, text=True,
                            env=environment, timeout=100)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [str(len(areas))] * 3
    check(np.load("labels.npy"), np.load("table.npy"), want, areas)


OF_ALL = ["label", "bbox", "area", "centroid", "inertia_tensor", "inertia_tensor_eigvals", "axis_major_length",
          "axis_minor_length", "euler_number", "first_pixel", "touches_border", "extent", "equivalent_diameter_area"]
OF_VALUES = ["intensity_mean", "intensity_min", "intensity_max", "intensity_max_position", "intensity_std", "centroid_weighted"]
OF_IMAGES = ["perimeter", "eccentricity", "orientation", "crack_length", "n_holes"]


@given(st.sampled_from([2, 3]), st.integers(0, 2**32), st.floats(0, 1), st.integers(1, 9),
       st.sampled_from(["u1", "<u2", ">u2", "<i2", ">i4", "<u8", "<f4", ">f8", "nan"]), st.booleans())
@settings(max_examples=60)
def test_properties_are_those_of_regionprops_table(ndim, seed, density, tile, dtype, ignore_nan):
    random = np.random.default_rng(seed)
    mask = random.random(random.integers(1, 25 if ndim == 2 else 9, ndim)) < density
    values = random.integers(0, 60000, mask.shape).astype("f4" if dtype == "nan" else dtype)
    if values.dtype.kind in "if":
        values -= np.array(10000).astype(values.dtype)
    if dtype == "nan":
        values[random.random(mask.shape) < 0.3] = np.nan
    properties = OF_ALL + OF_VALUES + (OF_IMAGES if ndim == 2 else ["surface_area"])
    cudaccl.label_file(mask, None, "t.npy", ndim=ndim, tile=tile, properties=properties, intensity_image=values,
                       ignore_nan=ignore_nan)
    found = np.load("t.npy")
    native = values.astype(values.dtype.newbyteorder("="))
    expected = cudaccl.regionprops_table(cudaccl.label(mask, ndim=ndim)[0], properties, intensity_image=native,
                                         ignore_nan=ignore_nan)
    assert list(found.dtype.names) == list(expected)
    for name, column in expected.items():
        assert found[name].dtype == column.dtype, name
        is_exact = native.dtype in (np.uint8, np.uint16) or not name.startswith(("intensity_", "centroid_weighted"))
        np.testing.assert_allclose(found[name], column, rtol=0 if is_exact else 1e-9, atol=0 if is_exact else 1e-9, err_msg=name)


def test_properties_of_ranks_and_files():
    random = np.random.default_rng(5)
    image, values = (random.random((40, 31)) < 0.5).astype(np.uint8), random.integers(0, 255, (40, 31)).astype(np.uint8)
    cv2.imwrite("image.png", image)
    cv2.imwrite("values.png", values)
    for properties, connectivity in ((["label", "bbox", "touches_border"], 8), (["perimeter", "intensity_std", "label"], 8),
                                     (["perimeter", "euler_number", "n_holes"], 4)):
        cudaccl.label_file("image.png", None, "one.npy", connectivity=connectivity, properties=properties,
                           intensity_image="values.png" if "intensity_std" in properties else None)
        for n_ranks in (3, 7):
            run_ranks(n_ranks, lambda comm: cudaccl.label_file(
                image, None, "many.npy", connectivity=connectivity, properties=properties,
                intensity_image=values if "intensity_std" in properties else None, tile=2, comm=comm))
            assert open("one.npy", "rb").read() == open("many.npy", "rb").read()


@pytest.mark.parametrize("ignore_nan", [False, True])
def test_real_values_of_ranks_and_files(ignore_nan):
    """Floats with NaN, in files of NumPy and TIFF, have the same measures in one tile and over seams of tiles and ranks."""
    random = np.random.default_rng(6)
    image, values = random.random((40, 31)) < 0.5, random.normal(1e6, 0.5, (40, 31)).astype(np.float32)
    values[3, 4:9] = np.nan
    want = cudaccl.regionprops_table(cudaccl.label(image)[0], ["label", *OF_VALUES], intensity_image=values, ignore_nan=ignore_nan)
    np.save("values.npy", values)
    tifffile.imwrite("values.tif", values)
    for number, source in enumerate(["values.npy", "values.tif", values.astype(float)]):
        run_ranks(1 + 2 * number, lambda comm: cudaccl.label_file(
            image, None, "t.npy", properties=["label", *OF_VALUES], intensity_image=source, ignore_nan=ignore_nan, tile=3,
            comm=comm))
        found = np.load("t.npy")
        for name, column in want.items():
            np.testing.assert_allclose(found[name], column, rtol=1e-9, atol=1e-9, err_msg=name)
    assert np.isnan(want["intensity_mean"]).any() != ignore_nan


def test_colours_of_files_are_channels():
    random = np.random.default_rng(7)
    image, colours = random.random((20, 30)) < 0.5, random.integers(0, 255, (20, 30, 4), np.uint8)
    cv2.imwrite("colours.png", colours[..., 2::-1])
    cv2.imwrite("opacity.png", colours[..., [2, 1, 0, 3]])
    tifffile.imwrite("colours.tif", colours[..., :3], photometric="rgb")
    tifffile.imwrite("planes.tif", np.moveaxis(colours[..., :3].astype(np.uint16), 2, 0), photometric="rgb", planarconfig="separate")
    want = cudaccl.regionprops_table(cudaccl.label(image)[0], OF_VALUES, intensity_image=colours[..., :3])
    assert "intensity_mean-2" in want
    for name in "colours.png", "opacity.png", "colours.tif", "planes.tif":
        cudaccl.label_file(image, None, "t.npy", properties=OF_VALUES, intensity_image=name)
        found = np.load("t.npy")
        assert list(found.dtype.names) == list(want), name
        for column, numbers in want.items():
            np.testing.assert_array_equal(found[column], numbers, err_msg=f"{name} {column}")


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("connectivity", [4, 8, 26])
def test_medians_of_components(dtype, connectivity):
    """As numpy.quantile() of their pixels."""
    random = np.random.default_rng(connectivity)
    image = random.random((40, 50) if connectivity < 26 else (12, 13, 14)) < 0.55 if connectivity < 26 else random.random((12, 13, 14)) < 0.2
    values = random.normal(100, 30, (*image.shape, 2)).astype(dtype)
    if dtype == "float32":
        values[random.random(values.shape) < 0.01] = np.nan
    names, shares = ["label", "intensity_median", "intensity_quantile", "area"], [0.1, 0.75]
    for ignore_nan in (False, True):
        cudaccl.label_file(image, "l.npy", "t.npy", connectivity=connectivity, tile=3, properties=names, intensity_image=values,
                           ignore_nan=ignore_nan, quantiles=shares)
        found, labels = np.load("t.npy"), np.load("l.npy")
        expected = cudaccl.regionprops_table(labels.astype(np.int64), names, values, ignore_nan=ignore_nan, quantiles=shares)
        assert list(found.dtype.names) == list(expected)
        for name, column in expected.items():
            np.testing.assert_array_equal(found[name], column, err_msg=name)
        quantile = np.nanquantile if ignore_nan else np.quantile
        for row in found[:9]:
            of_row = values[labels == row["label"]][:, 1].astype(float)
            np.testing.assert_allclose(row["intensity_quantile-0.75-1"], quantile(of_row, 0.75), rtol=1e-14)
    cudaccl.label_file(image, "l.npy", "t.npy", connectivity=connectivity, keep_largest=3, properties=names, intensity_image=values,
                       quantiles=shares)
    expected = cudaccl.regionprops_table(np.load("l.npy").astype(np.int64), names, values, quantiles=shares)
    for name, column in expected.items():
        np.testing.assert_array_equal(np.load("t.npy")[name], column, err_msg=name)
    cudaccl.label_file(np.zeros_like(image), None, "t.npy", connectivity=connectivity, properties=names, intensity_image=values, quantiles=shares)
    assert len(np.load("t.npy")) == 0


def test_properties_that_are_refused():
    mask, values = np.eye(6, dtype=bool), np.zeros((6, 6), np.uint8)
    for kind, word, options in [
            (ValueError, "table", {"table": None, "properties": ["label"]}),
            (ValueError, "volume_of", {"properties": ["volume_of"]}),
            (ValueError, "slice", {"properties": ["slice"]}),
            (ValueError, "surface_area", {"properties": ["surface_area"]}),
            (ValueError, "quantiles", {"properties": ["intensity_quantile"], "intensity_image": values}),
            (ValueError, "quantiles", {"quantiles": [0.5]}),
            (ValueError, "0…1", {"properties": ["intensity_quantile"], "intensity_image": values, "quantiles": [2]}),
            (ValueError, "intensity_image", {"properties": ["intensity_max"]}),
            (ValueError, "shape", {"properties": ["intensity_max"], "intensity_image": values[1:]}),
            (TypeError, "complex", {"properties": ["intensity_max"], "intensity_image": values.astype(complex)}),
            (ValueError, "read", {"properties": ["intensity_max"], "intensity_image": np.lib.format.open_memmap(
                "t.npy", "w+", np.uint8, (6, 6))})]:
        with pytest.raises(kind, match=word):
            cudaccl.label_file(mask, None, **{"table": "t.npy", **options})
