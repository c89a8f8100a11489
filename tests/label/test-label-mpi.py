#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-label under mpirun, with more ranks than processors, against scipy and against one process.

usage: test-label-mpi.py CCL-LABEL TEST-TILED-MPI
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy import ndimage

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402
from formats import read_bigtiff, write_tiff  # noqa: E402

PROGRAM, TILED = map(os.path.abspath, sys.argv[1:])
random = np.random.default_rng(15)
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # Open MPI 5
               "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm_rsh_agent": "",
               "OMPI_MCA_btl": "self,vader"}
if not shutil.which("mpirun"):
    print("1..0 # SKIP no mpirun")
    sys.exit(0)


def mpirun(n, *command, **settings):
    return subprocess.run(["mpirun", "-n", str(n), *map(str, command)], capture_output=True, text=True,
                          timeout=120, env=ENVIRONMENT, **settings)


def spiral(size):
    """A line of one pixel that crosses all rows many times."""
    image = np.zeros((size, size), np.uint8)
    y, x, dy, dx = 0, 0, 0, 1
    image[0, 0] = 1
    low, high = [0, 0], [size - 1, size - 1]
    for _ in range(size):
        while low[0] <= y + dy <= high[0] and low[1] <= x + dx <= high[1]:
            y, x = y + dy, x + dx
            image[y, x] = 1
        if dx == 1:
            low[0] += 2
        elif dy == 1:
            high[1] -= 2
        elif dx == -1:
            high[0] -= 2
        else:
            low[1] += 2
        dy, dx = dx, -dy
    return image


def comb(height, width):
    """Teeth that meet in the last row only."""
    image = np.zeros((height, width), np.uint8)
    image[:, ::2] = 1
    image[-1] = 1
    return image


def snake(height, width):
    """One path through all columns, up and down."""
    image = np.zeros((height, width), np.uint8)
    image[:, ::2] = 1
    image[0, 1::4] = image[-1, 3::4] = 1
    return image


def pictures():
    """Frames and volumes, and how they are connected."""
    for i in range(1600):
        if i % 10 == 0:
            yield spiral(int(random.integers(3, 30))), 4
        elif i % 10 == 1:
            yield comb(*random.integers(2, 30, 2)), int(random.choice([4, 8]))
        elif i % 10 == 2:
            yield snake(*random.integers(2, 30, 2)), int(random.choice([4, 8]))
        elif i % 10 < 7:
            shape = random.integers(1, 40, 2)
            yield (random.random(shape) < random.random()).astype(np.uint8), int(random.choice([4, 8]))
        else:
            shape = random.integers(1, 12, 3)
            yield (random.random(shape) < random.random() * 0.6).astype(np.uint8), int(random.choice([6, 18, 26]))


STRUCTURES = {4: ndimage.generate_binary_structure(2, 1), 8: ndimage.generate_binary_structure(2, 2),
              6: ndimage.generate_binary_structure(3, 1), 18: ndimage.generate_binary_structure(3, 2),
              26: ndimage.generate_binary_structure(3, 3)}


def write_case(file, image, connectivity, begins):
    labels, n = ndimage.label(image, STRUCTURES[connectivity])
    depth = image.shape[0] if image.ndim == 3 else 1
    tile = int(random.integers(1, len(image) + 1))
    head = [image.shape[-1], image.shape[-2], depth, connectivity, len(begins), tile, n, 0]
    bounds = (list(begins) + [len(image)] * 10)[:10]
    file.write(np.array(head + bounds, np.uint32).tobytes() + image.tobytes() + labels.astype(np.uint32).tobytes())


def slabs(n_layers, n_ranks):
    """Random slabs, some of them empty; every second time as even as possible."""
    if random.random() < 0.5:
        return [n_layers * r // n_ranks for r in range(n_ranks)]
    return [0, *sorted(int(b) for b in random.integers(0, n_layers + 1, n_ranks - 1))]


def equal_to_scipy():
    """thousands of frames and volumes on 1 to 9 ranks equal scipy's labels and a flood fill"""
    n = 0
    with open("cases", "wb") as file:
        for image, connectivity in pictures():
            write_case(file, image, connectivity, slabs(len(image), 1 + n % 9))
            n += 1
        for height in range(1, 10):  # every split of nine rows and fewer into slabs of one or more
            for split in range(1 << (height - 1)):
                image = (random.random((height, 9)) < 0.5).astype(np.uint8)
                write_case(file, image, 8, [0] + [y for y in range(1, height) if split >> (y - 1) & 1])
                n += 1
    result = mpirun(9, TILED, 400, "cases")
    assert result.returncode == 0, result.stdout + result.stderr
    tap.equal(result.stdout.strip(), f"{n + 400} cases passed")


def program_equals_one_process():
    """maps and tables are identical for 1 to 5 ranks, whatever the tiles"""
    image = (random.random((157, 211)) < 0.42).astype(np.uint8)
    volume = (random.random((14, 22, 31)) < 0.2).astype(np.uint8)
    np.save("a.npy", image)
    np.save("v.npy", volume)
    for source, connectivity in [("a.npy", 8), ("v.npy", 18)]:
        want, n = ndimage.label(np.load(source), STRUCTURES[connectivity])
        outputs = {}
        for ranks in [1, 2, 5]:
            for table in ["t.csv", "t.npy"]:
                arguments = [source, "-c", connectivity, "-o", "l.npy", "-t", table, "--tile", 1 + ranks, "--min-area", 2]
                if ranks == 1:
                    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
                else:
                    result = mpirun(ranks, PROGRAM, *arguments)
                assert result.returncode == 0, result.stderr
                for name in ["l.npy", table]:
                    content = open(name, "rb").read()
                    assert outputs.setdefault(name, content) == content, (name, ranks)
        keep = np.bincount(want.ravel()) >= 2
        keep[0] = False
        assert (np.load("l.npy") == np.where(keep, np.cumsum(keep), 0)[want]).all()


def clear_border_equals_one_process():
    """--clear-border leaves the components that touch no border, for 1 to 5 ranks"""
    for shape, density, connectivity in [((90, 61), 0.42, 8), ((61, 40), 0.5, 4), ((14, 22, 31), 0.2, 26)]:
        image = (random.random(shape) < density).astype(np.uint8)
        np.save("b.npy", image)
        labels, _ = ndimage.label(image, STRUCTURES[connectivity])
        stays = np.array([all(0 < side.start and side.stop < length for side, length in zip(box, shape))
                          for box in ndimage.find_objects(labels)])
        want = np.concatenate([[0], np.where(stays, np.cumsum(stays), 0)])[labels]
        for ranks in [2, 3, 5]:
            result = mpirun(ranks, PROGRAM, "b.npy", "-c", connectivity, "-o", "l.npy", "--clear-border", "--tile", ranks)
            assert result.returncode == 0, result.stderr
            assert result.stdout == f"{stays.sum()} components\n" and (np.load("l.npy") == want).all()


def columns_equal_one_process():
    """tables with columns have the same bytes for 1 to 9 ranks, some without a layer, whatever the tiles"""
    frame = (random.random((7, 61)) < 0.5).astype(np.uint8)
    volume = (random.random((6, 11, 9)) < 0.3).astype(np.uint8)
    both = "label,bbox,inertia_tensor,axis_minor_length,euler_number,first_pixel,intensity_std,centroid_weighted"
    of_frames = both + ",perimeter,crack_length,n_holes"
    for image, columns, connectivity in [(frame, of_frames, 8), (frame, of_frames, 4), (spiral(23), of_frames, 8),
                                         (volume, both + ",surface_area", 26), (volume, both, 6), (volume, both, 18)]:
        np.save("a.npy", image)
        np.save("i.npy", random.integers(0, 65536, image.shape).astype(np.uint16))
        values = "i.npy"
        if connectivity == 4:  # colours
            values = "i.ppm"
            with open(values, "wb") as file:
                file.write(b"P6 %d %d 255\n" % image.shape[::-1] + random.bytes(3 * image.size))
        contents = set()
        for ranks, table, tile in [(1, "t.csv", 99), (1, "t.npy", 99), (2, "t.npy", 3), (5, "t.csv", 1), (9, "t.npy", 2)]:
            result = mpirun(ranks, PROGRAM, "a.npy", "-c", connectivity, "--columns", columns, "--intensity", values,
                            "-t", table, "--tile", tile)
            assert result.returncode == 0, result.stderr
            contents.add((table, open(table, "rb").read()))
        tap.equal(len(contents), 2, f"{columns}: different tables:")


def filters_equal_one_process():
    """Otsu's threshold, noise filter and region of interest mask give the same for 1, 2 and 5 ranks, columns too"""
    np.save("a.npy", ndimage.uniform_filter(random.integers(0, 256, (83, 97)).astype(np.uint8), 5))
    np.save("roi.npy", (random.random((83, 97)) < 0.9).astype(np.uint8))
    arguments = ["a.npy", "-o", "l.npy", "--foreground", "otsu", "--denoise", "opening-3x3", "--roi-mask", "roi.npy",
                 "-t", "t.csv", "--columns", "label,perimeter,euler_number"]
    subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.DEVNULL)
    want, table = np.load("l.npy"), open("t.csv").read()
    assert want.max() > 20
    for ranks in [2, 5]:
        result = mpirun(ranks, PROGRAM, *arguments, "--tile", 4)
        assert result.returncode == 0, result.stderr
        assert (np.load("l.npy") == want).all(), ranks
        tap.equal(open("t.csv").read(), table, "table")


def tiff_equals_one_process():
    """BigTIFF that 2 to 4 ranks read and write has the bytes of one process's, compressed or not"""
    image = (random.random((64, 5000)) < 0.42).astype(np.uint8)  # strips of 6 rows
    volume = (random.random((7, 30, 2500)) < 0.2).astype(np.uint8)  # two strips a page, and a third
    write_tiff("a.tif", [image], tile=32, big=True, deflate=True)
    write_tiff("v.tif", list(volume), big=True, deflate=True)
    for source, pages, connectivity, all_ranks in [("a.tif", image[None], 8, [2, 3, 4]), ("v.tif", volume, 26, [3])]:
        structure = STRUCTURES[connectivity]
        want = ndimage.label(pages[0], structure)[0][None] if connectivity == 8 else ndimage.label(pages, structure)[0]
        for settings in [["--bits", 64], ["--compress", "deflate"]]:
            contents = []
            for ranks in [1, *all_ranks]:
                result = mpirun(ranks, PROGRAM, source, "-o", "l.tif", "-c", connectivity, "--tile", 3, *settings)
                assert result.returncode == 0, result.stderr
                contents.append(open("l.tif", "rb").read())
                assert contents[-1] == contents[0], f"{source} {settings}: {ranks} ranks write other bytes than one"
            assert (np.array(read_bigtiff("l.tif")) == want).all(), (source, settings)


def messages_follow_seams():
    """twice the height sends the same bytes, twice the width at most twice as many"""
    sent = {}
    for height, width in [(300, 200), (600, 200), (300, 400)]:
        image = np.zeros((height, width), np.uint8)
        image[:, ::2] = 1
        np.save("a.npy", image)
        result = mpirun(4, PROGRAM, "a.npy", "--statistics")
        lines = [line for line in result.stderr.splitlines() if line.startswith("{")]
        assert result.returncode == 0 and len(lines) == 1, (result.returncode, result.stderr)
        sent[height, width] = json.loads(lines[0])["message_bytes"]
    tap.equal(sent[600, 200], sent[300, 200])
    assert sent[300, 200] < sent[300, 400] <= 2 * sent[300, 200], sent


def files(prefix=""):
    return {name for name in os.listdir(".") if name.startswith(prefix)}


def failing_ranks():
    """damaged files and a full file system end the job with one line and leave nothing"""
    np.save("a.npy", np.zeros((5000, 5000), np.uint8))
    content = open("a.npy", "rb").read()
    open("short.npy", "wb").write(content[:-9])
    before = files()
    result = mpirun(3, PROGRAM, "short.npy", "-o", "l1.npy")
    assert result.returncode and result.stderr.count("ccl-label: ") == 1 and "bytes" in result.stderr, result.stderr

    for arguments, word in [(["-"], "standard input"), (["a.npy", "-o", "a.npy"], "it is read"), (["a.npy", "-c", "26"], "of volumes")]:
        result = mpirun(3, PROGRAM, *arguments, stdin=subprocess.DEVNULL)
        assert result.returncode and result.stderr.count("ccl-label: ") == 1 and word in result.stderr, result.stderr
    assert open("a.npy", "rb").read() == content

    # The limit is above the files that Open MPI needs, and below the label map of 100 MB.
    limited = 'ulimit -f 40000; exec "$0" "$@"'
    for output in ["l1.npy", "l1.tif"]:
        result = mpirun(3, "bash", "-c", limited, PROGRAM, "a.npy", "-o", output, "-t", "t1.csv")
        assert result.returncode and result.stderr.count("ccl-label: ") == 1, result.stderr
    tap.equal(files() - before, set(), "files left behind:")


def failing_messages():
    """a rank that fails once at an allocation, a send or a receive makes no other one wait"""
    result = mpirun(5, TILED, "faults")
    assert result.returncode == 0, result.stdout + result.stderr
    n, _, verdict = result.stdout.strip().partition(" ")
    tap.equal(verdict, "cases passed")
    assert int(n) > 100, n


def dying_rank():
    """a rank that dies ends the job and leaves no output"""
    with open("large.raw", "wb") as file:
        file.truncate(40000 * 40000)
    before = files()
    job = subprocess.Popen(["mpirun", "-n", "3", PROGRAM, "large.raw", "--size", "40000x40000", "-o", "l2.npy"],
                           stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
    while not files() - before and job.poll() is None:
        time.sleep(0.02)
    ranks = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True).stdout.split()
    assert len(ranks) == 3, ranks
    os.kill(int(ranks[1]), signal.SIGKILL)
    _, message = job.communicate(timeout=60)
    assert job.returncode != 0 and "signal 9" in message, (job.returncode, message)
    tap.equal(files() - before, set(), "files left behind:")
    os.unlink("large.raw")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = tap.run(equal_to_scipy, program_equals_one_process, clear_border_equals_one_process, columns_equal_one_process, filters_equal_one_process,
                     tiff_equals_one_process, messages_follow_seams, failing_ranks, failing_messages,
                     dying_rank)
    os.chdir("/")
sys.exit(status)
