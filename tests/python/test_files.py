# SPDX-License-Identifier: LGPL-2.1-or-later
"""label_file() against scipy: files and arrays, tiles, and ranks that are threads here."""
import os
import pathlib
import queue
import subprocess
import sys
import threading

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
    yield {"image": "image.png", "connectivity": 26}, image[None]


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
        results = run_ranks(n_ranks, lambda comm: cudaccl.label_file(labels="labels.npy", tile=tile, comm=comm, **arguments))
        assert results == [len(areas)] * n_ranks and (np.load("labels.npy") == want).all(), arguments


@pytest.mark.parametrize("denoise", FILTERS)
@pytest.mark.parametrize("strip_pixels", [1, 2**22])
def test_filters_as_opencv(denoise, strip_pixels, monkeypatch):
    """Otsu's threshold, noise filters, closing and region of interest masks, in many strips or at once."""
    from cudaccl import _mask

    monkeypatch.setattr(_mask, "STRIP_PIXELS", strip_pixels)
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
                                       ({"roi_mask": [[1]]}, TypeError, "list"), ({"memory": 1e9}, TypeError, "memory"),
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
