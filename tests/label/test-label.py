#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-label against scipy: formats, tiles, options, damaged files, and files that are left behind.

usage: test-label.py CCL-LABEL
"""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
from scipy import ndimage

try:
    import shapely.geometry
except ImportError:
    shapely = None

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402
from filters import FILTERS, closed, otsu_threshold  # noqa: E402
from formats import read_bigtiff, write_tiff  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
random = np.random.default_rng(12)
EIGHT = np.ones((3, 3))


def run(*arguments, **settings):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, **settings)


def label(*arguments):
    """Runs the program; returns the number of components that it prints."""
    result = run(*arguments)
    assert result.returncode == 0, result.stderr
    tap.equal(result.stderr, "", "standard error")
    return int(result.stdout.split()[0])


def refused(*arguments, word, **settings):
    """The program must end with one line that contains the word, and leave no file."""
    before = set(os.listdir("."))
    result = run(*arguments, **settings)
    assert result.returncode == 1, (arguments, result.returncode, result.stderr)
    assert result.stderr.startswith("ccl-label: ") and result.stderr.count("\n") == 1, result.stderr
    assert word in result.stderr, (word, result.stderr)
    tap.equal(set(os.listdir(".")) - before, set(), "files left behind:")


def noise(*shape, density=0.5, dtype=np.uint8):
    return ((random.random(shape) < density) * 100).astype(dtype)


def expect(image, structure=EIGHT):
    return ndimage.label(image > 0, structure)


def check(image, *arguments, structure=EIGHT):
    """Labels the files of the arguments and compares with scipy's labels of the image."""
    want, n = expect(image, structure)
    tap.equal(label(*arguments, "-o", "check.npy"), n, str(arguments))
    assert (np.load("check.npy") == want).all(), arguments


def npy_dtypes():
    """NPY arrays of all dtypes and byte orders"""
    for dtype in ["?", "u1", "i1", "<u2", ">u2", "<i2", ">i2", "<u4", ">i4", "<u8", ">i8", "<f4", ">f4", "<f8", ">f8"]:
        image = noise(37, 29, dtype=dtype)
        np.save("a.npy", image)
        check(image, "a.npy", "--tile", 5)


def png_pgm_raw():
    """PNG of 1, 8 and 16 bits, interlaced or coloured, PGM of 8 and 16 bits, and raw files"""
    image = noise(41, 33)
    cv2.imwrite("a.png", image)
    check(image, "a.png", "--tile", 4)
    cv2.imwrite("a.png", image, [cv2.IMWRITE_PNG_BILEVEL, 1])
    check(image, "a.png")
    cv2.imwrite("a.png", image.astype(np.uint16) * 300)
    check(image, "a.png", "--threshold", 29999, "--tile", 7)
    cv2.imwrite("a.png", cv2.merge([image, image, image]))
    check(image, "a.png")
    cv2.imwrite("a.pgm", image)
    check(image, "a.pgm", "--tile", 3)
    cv2.imwrite("a.pgm", image.astype(np.uint16) * 300)
    check(image, "a.pgm", "--threshold", 29999)
    image.astype("<u2").tofile("a.raw")
    check(image, "a.raw", "--size", "33x41", "--type", "uint16", "--tile", 11)


def tiff():
    """TIFF and BigTIFF in strips and tiles, both byte orders, deflated, and of several pages"""
    image = noise(61, 75)
    for settings in [{}, {"tile": 16}, {"big": True, "tile": 32}, {"order": ">"}, {"big": True, "order": ">"},
                     {"deflate": True}, {"deflate": True, "tile": 16, "big": True}]:
        for dtype in ["u1", "u2", "i4", "f4"]:
            write_tiff("a.tif", [image.astype(dtype)], **settings)
            check(image, "a.tif", "--tile", 9)
    volume = noise(6, 20, 30, density=0.2)
    write_tiff("v.tif", list(volume), tile=16)
    check(volume, "v.tif", "--tile", 1, structure=np.ones((3, 3, 3)))


def volumes():
    """volumes as NPY, raw, folders and lists of slices, with 6, 18 and 26 neighbours"""
    volume = noise(13, 17, 19, density=0.25)
    np.save("v.npy", volume)
    volume.tofile("v.raw")
    os.makedirs("slices", exist_ok=True)
    names = []
    for z, image in enumerate(volume):
        cv2.imwrite(f"slices/{z}.png", image)  # 10.png follows 9.png
        names.append(f"slices/{z}.png")
    for rank, connectivity in [(1, 6), (2, 18), (3, 26)]:
        structure = ndimage.generate_binary_structure(3, rank)
        for source in [["v.npy"], ["v.raw", "--size", "19x17x13"], ["slices"], names]:
            check(volume, *source, "-c", connectivity, "--tile", 2, structure=structure)


def outputs():
    """label maps as raw and BigTIFF, 32 and 64 bits, compressed or not"""
    image, volume = noise(50, 70), noise(5, 30, 20, density=0.2)
    np.save("a.npy", image)
    np.save("v.npy", volume)
    want = expect(image)[0]
    for bits, dtype in [(32, "<u4"), (64, "<u8")]:
        label("a.npy", "-o", "l.raw", "--bits", bits, "--tile", 8)
        assert (np.fromfile("l.raw", dtype).reshape(image.shape) == want).all()
        for compression in ["none", "deflate"]:
            label("a.npy", "-o", "l.tif", "--bits", bits, "--compress", compression, "--tile", 8)
            (page,) = read_bigtiff("l.tif")
            assert page.dtype == dtype and (page == want).all()
            label("v.npy", "-o", "l.tif", "--bits", bits, "--compress", compression, "--tile", 2)
            assert (np.array(read_bigtiff("l.tif")) == expect(volume, np.ones((3, 3, 3)))[0]).all()
    for compression in ["lzw", "zstd"]:  # read by ccl-label alone
        label("a.npy", "-o", "l.tif", "--compress", compression)
        check(image, "l.tif")


def tables():
    """component tables as CSV, NDJSON and NPY"""
    for shape, connectivity in [((60, 50), 8), ((9, 14, 12), 26)]:
        image = noise(*shape, density=0.2)
        np.save("a.npy", image)
        want, n = ndimage.label(image, np.ones((3,) * len(shape)))
        slices = ndimage.find_objects(want)
        centroids = np.array(ndimage.center_of_mass(image, want, range(1, n + 1)))
        for name in ["t.csv", "t.ndjson", "t.npy"]:
            tap.equal(label("a.npy", "-t", name, "--tile", 3), n)
            if name == "t.csv":
                rows = np.genfromtxt(name, delimiter=",", names=True)
            elif name == "t.npy":
                rows = np.load(name)
            else:
                parsed = [json.loads(line) for line in open(name)]
                rows = {key: np.array([row[key] for row in parsed]) for key in parsed[0]}
            assert (rows["label"] == np.arange(1, n + 1)).all()
            assert (rows["area"] == np.bincount(want.ravel())[1:]).all()
            for axis, (corner, side, centre) in enumerate([("x", "width", "cx"), ("y", "height", "cy"),
                                                           ("z", "depth", "cz")][:len(shape)]):
                spans = [s[len(shape) - 1 - axis] for s in slices]
                assert (rows[corner] == [s.start for s in spans]).all()
                assert (rows[side] == [s.stop - s.start for s in spans]).all()
                assert np.allclose(rows[centre], centroids[:, len(shape) - 1 - axis], rtol=1e-14)


def fill(rings, shape):
    """The pixels inside polygons of cracks, by the even-odd rule."""
    inside = np.zeros(shape, bool)
    for ring in rings:
        for (x, y), (next_x, next_y) in zip(ring, ring[1:] + ring[:1]):
            if x == next_x:
                inside[min(y, next_y):max(y, next_y), x:] ^= True
    return inside


def decode(encoding):
    """The mask of COCO's compressed run lengths."""
    counts, value, shift = [], 0, 0
    for character in encoding["counts"].encode():
        bits = character - 48
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            value -= (bits & 16) and 1 << shift
            counts.append(value + (counts[-2] if len(counts) > 2 else 0))
            value, shift = 0, 0
    height, width = encoding["size"]
    return np.repeat(np.arange(len(counts)) % 2 == 1, counts).reshape(width, height).T


def check_geometry(geometry, mask):
    """Valid polygons with counter-clockwise exteriors that cover a mask."""
    many = geometry["type"] == "MultiPolygon"
    polygons = geometry["coordinates"] if many else [geometry["coordinates"]]
    assert many == (len(polygons) > 1)
    assert (fill([ring[:-1] for rings in polygons for ring in rings], mask.shape) == mask).all()
    if shapely:
        whole = shapely.geometry.shape(geometry)
        assert whole.is_valid and whole.area == mask.sum()
        assert all(polygon.exterior.is_ccw for polygon in getattr(whole, "geoms", [whole]))


def contours_of_whole_pictures():
    """contours of many values, which touch, and of objects that are split"""
    classes = np.kron(np.random.default_rng(7).integers(0, 4, (15, 22)), np.ones((2, 2))).astype(np.uint8)
    np.save("v.npy", classes)
    blobs = (cv2.blur(noise(60, 90, density=0.5), (5, 5)) > 120).astype(np.uint8)
    np.save("s.npy", blobs)
    for name, arguments in ("v.npy", ["--values", "-c", "4"]), ("s.npy", ["--split", "3"]):
        label(name, "--contours", "c.geojson", "-o", "l.npy", *arguments)
        labels = np.load("l.npy")
        with open("c.geojson") as file:
            features = json.load(file)["features"]
        tap.equal([one["properties"]["label"] for one in features], list(range(1, labels.max() + 1)))
        for feature in features:
            check_geometry(feature["geometry"], labels == feature["properties"]["label"])
        label(name, "--contours", "c.json", *arguments)
        with open("c.json") as file:
            tap.equal(len(json.load(file)["annotations"]), len(features))


def contours_without_disk():
    """contours whose label map, which is in a file, does not fit on the disk"""
    np.save("b.npy", np.ones((1000, 1000), np.uint8))
    done = subprocess.run([PROGRAM, "b.npy", "--contours", "b.geojson"], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    tap.equal((done.returncode, done.stderr), (1, "ccl-label: .: File too large\n"))
    assert not os.path.exists("b.geojson")


def contours():
    """contours as GeoJSON and as COCO annotations give back the components, whatever the tiles and areas"""
    image = cv2.blur(noise(60, 90, density=0.4), (3, 3)) // 50
    np.save("a.npy", image)
    labels, count = expect(image)
    areas = np.bincount(labels.ravel())
    for least, *arguments in [(1,), (1, "--tile", "7", "-o", "l.npy", "--bits", "64"), (9, "--min-area", "9", "-t", "t.csv")]:
        kept = [i for i in range(1, count + 1) if areas[i] >= least]
        tap.equal(label("a.npy", "--contours", "c.geojson", *arguments), len(kept))
        label("a.npy", "--contours", "c.json", *arguments)
        with open("c.geojson") as geojson, open("c.json") as coco:
            features, annotations = json.load(geojson)["features"], json.load(coco)
        tap.equal(annotations["images"], [{"id": 1, "file_name": "a.npy", "width": 90, "height": 60}])
        tap.equal([len(features), len(annotations["annotations"])], [len(kept)] * 2)
        for number, (old, feature, one) in enumerate(zip(kept, features, annotations["annotations"]), 1):
            mask = labels == old
            y, x = np.nonzero(mask)
            tap.equal(feature["properties"], {"label": number, "area": int(areas[old])})
            check_geometry(feature["geometry"], mask)
            tap.equal([one["id"], one["area"], one["bbox"]], [number, int(areas[old]), [
                int(x.min()), int(y.min()), int(np.ptp(x)) + 1, int(np.ptp(y)) + 1]])
            parts = one["segmentation"]
            rings = [] if one["iscrowd"] else [list(zip(part[::2], part[1::2])) for part in parts]
            assert all(len(set(ring)) == len(ring) for ring in rings), "a ring touches itself"
            assert ((decode(parts) if one["iscrowd"] else fill(rings, mask.shape)) == mask).all()
    tap.equal({one["iscrowd"] for one in annotations["annotations"]}, {0, 1})
    square = np.pad(np.ones((4, 4), np.uint8), ((0, 2), (0, 3)))
    square[2, 2] = 0
    np.save("p.npy", np.roll(square, (-1, -1), (0, 1)))  # over the lower and the right border
    tap.equal(label("p.npy", "--contours", "p.json", "--periodic", "xy"), 1)
    with open("p.json") as coco:
        one, = json.load(coco)["annotations"]
    assert one["bbox"] == [0, 0, 7, 6] and (decode(one["segmentation"]) == np.load("p.npy")).all()
    label("a.npy", "--contours", "simple.geojson", "--tolerance", "2", "--min-area", "9")
    assert os.path.getsize("simple.geojson") < os.path.getsize("c.geojson")
    label("a.npy", "--contours", "simple.json", "--tolerance", "5")  # of four numbers, readers make a box
    label("a.npy", "--contours", "simple.geojson", "--tolerance", "5")
    with open("simple.json") as coco, open("simple.geojson") as geojson:
        parts = [part for one in json.load(coco)["annotations"] if not one["iscrowd"] for part in one["segmentation"]]
        polygons = [geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
                    for geometry in (feature["geometry"] for feature in json.load(geojson)["features"])]
    assert all(len(part) >= 6 for part in parts) and all(len(ring) >= 4 for one in polygons for rings in one for ring in rings)
    np.save("v.npy", noise(3, 4, 5))
    refused("v.npy", "--contours", "x.json", "-c", "26", word="volumes")
    refused("a.npy", "--contours", "x.txt", word=".geojson")
    refused("a.npy", "--contours", "absent/x.json", word="absent/x.json")
    refused("a.npy", "--contours", "x.json", "--tolerance", "-1", word="tolerance")
    refused("a.npy", "--contours", "x.json", "-o", "x.json", word="x.json")


def options():
    """threshold, inversion and areas"""
    image = random.integers(0, 256, (60, 70)).astype(np.uint8)
    image = cv2.GaussianBlur(image, (5, 5), 0)
    np.save("a.npy", image)
    for threshold in [0, 120, 127, 255]:
        for invert in [False, True]:
            mask = (image > threshold) != invert
            want, _ = ndimage.label(mask, EIGHT)
            areas = np.bincount(want.ravel())
            keep = (areas >= 4) & (areas <= 200)
            keep[0] = False
            want = np.where(keep, np.cumsum(keep), 0)[want]
            label("a.npy", "--threshold", threshold, *["--invert"] * invert, "--min-area", 4, "--max-area", 200,
                  "-o", "l.npy", "--tile", 6)
            assert (np.load("l.npy") == want).all(), (threshold, invert)
    for arguments, word in [(["--threshold", "x"], "threshold"), (["-c", "7"], "not 7"), (["--bits", 16], "bits"),
                            (["--memory", "0"], "memory"), (["--what"], "--what"), (["--size", "3x"], "size"),
                            (["-o", "l.gif"], "l.gif"), (["-t", "t.txt"], "t.txt"),
                            (["-o", "l.npy", "--compress", "lzw"], "only TIFF"), (["-c", "6", "--gpu=77"], ""),
                            (["-o", "no/where.npy"], "no/where.npy"), (["--threshold", 300], "0…255")]:
        refused("a.npy", *arguments, word=word)
    refused(word="no input")
    refused("absent.npy", word="absent.npy: No such file")


def filters():
    """Otsu's threshold, noise filters, closing and region of interest masks as OpenCV's, for all tiles"""
    image = cv2.GaussianBlur(random.integers(0, 256, (90, 71)).astype(np.uint8), (3, 3), 0)
    roi = cv2.circle(np.zeros_like(image), (30, 40), 33, 1, -1)
    image[roi == 0] //= 2  # so that Otsu's threshold of the region is another one
    cv2.imwrite("a.png", image)
    cv2.imwrite("roi.png", roi * 200)
    np.save("a16.npy", image.astype(np.uint16) * 100)
    for name, by_opencv in FILTERS.items():
        for otsu, width, height, use_roi, invert in [(0, 1, 1, 0, 0), (1, 1, 1, 0, 1), (1, 1, 1, 1, 0), (0, 5, 3, 1, 1),
                                                     (0, 1, 63, 0, 0), (1, 7, 1, 0, 1)]:
            threshold = 120
            if otsu:
                counted = image[roi > 0] if use_roi else image
                threshold = otsu_threshold(counted)
            mask = closed(by_opencv(np.where(image > threshold, 255, 0).astype(np.uint8)), width, height) > 0
            mask = (mask ^ bool(invert)) & (roi > 0 if use_roi else True)
            settings = ["--denoise", name, "--closing-width", width, "--closing-height", height,
                        *["--roi-mask", "roi.png"] * use_roi, *["--invert"] * invert]
            for tile in [1, 7, 90]:
                check(mask, "a.png", *(["--foreground", "otsu"] if otsu else ["--threshold", 120]), *settings, "--tile", tile)
            check(mask, "a16.npy", *(["--foreground", "otsu"] if otsu else ["--threshold", 12000]), *settings, "--tile", 11)
    image[:] = 7
    np.save("flat.npy", image)
    tap.equal(label("flat.npy", "--foreground", "otsu"), 0, "components of a flat picture")


def filtered_strips():
    """a picture that is filtered in many strips has the labels of one that is filtered at once"""
    width, height = 300_000, 61
    with open("wide.raw", "wb") as file:
        file.write(noise(height, width, density=0.5).tobytes())
    mask = np.fromfile("wide.raw", np.uint8).reshape(height, width)
    mask = closed(cv2.medianBlur(np.where(mask > 0, 255, 0).astype(np.uint8), 5), 1, 3)
    check(mask, "wide.raw", "--size", f"{width}x{height}", "--denoise", "median-5x5", "--closing-height", 3, "--tile", 20)
    os.unlink("wide.raw")


def filters_of_volumes():
    """filters work in each slice of a volume, and Otsu's threshold is that of all slices"""
    volume = np.stack([cv2.GaussianBlur(random.integers(0, 256, (20, 31)).astype(np.uint8), (3, 3), 0) // n
                       for n in [1, 2, 3, 1]])
    roi = noise(*volume.shape, density=0.9)
    np.save("v.npy", volume)
    np.save("roi.npy", roi)
    np.save("roi1.npy", roi[2])
    threshold = otsu_threshold(volume[roi > 0])
    mask = np.stack([cv2.medianBlur(np.where(s > threshold, 255, 0).astype(np.uint8), 3) for s in volume])
    check(np.where(roi > 0, mask, 0), "v.npy", "--foreground", "otsu", "--denoise", "median-3x3", "--roi-mask", "roi.npy",
          "--tile", 3, structure=np.ones((3, 3, 3)))
    mask = np.where(volume > 60, 1, 0) * (roi[2] > 0)
    check(mask, "v.npy", "--threshold", 60, "--roi-mask", "roi1.npy", "--tile", 1, structure=np.ones((3, 3, 3)))
    refused("v.npy", "--roi-mask", "a.npy", word="another size")
    np.save("i32.npy", volume.astype(np.int32))
    refused("i32.npy", "--foreground", "otsu", word="uint8 or uint16")
    refused("v.npy", "--foreground", "mog2", word="mog2")
    refused("v.npy", "--denoise", "blur", word="denoise")
    refused("v.npy", "--closing-width", "64", word="closing-width")
    refused("v.npy", "--roi-mask", "absent.png", word="absent.png")


def damaged_files():
    """damaged files, and files whose header contradicts their content, end in one line"""
    np.save("good.npy", noise(20, 30))
    npy = open("good.npy", "rb").read()
    cv2.imwrite("good.png", noise(20, 30))
    png = open("good.png", "rb").read()
    write_tiff("good.tif", [noise(40, 50)], tile=16)
    tiff_bytes = open("good.tif", "rb").read()
    pgm = b"P5 30 20 255\n" + bytes(600)
    cases = [(npy[:-1], "bytes"), (npy + b"x", "bytes"), (npy[:9], "NPY"), (npy[:60], "NPY"), (npy[:6], ""),
             (npy.replace(b"(20, 30)", b"(20, 31)"), "bytes"), (npy.replace(b"|u1", b"<c8"), "must hold"),
             (npy.replace(b"False", b"Maybe"), "damaged"), (npy.replace(b"(20, 30), ", b"(1,2,3,4),"), "dimensions"),
             (npy.replace(b"(20, 30)", b"(0, 300)"), "empty"), (npy.replace(b"\x01\0", b"\x09\0", 1), "version"),
             (pgm[:-1], "bytes"), (pgm + b"x", "bytes"), (b"P2 1 1 255\n256", "too large"), (b"P5 1 x", "header"),
             (b"P5 30 20 70000\n" + bytes(1200), "70000"), (b"P5 99999999999 2 255\n", "header"),
             (png[:100], ""), (png[:-30], ""), (png[:50] + b"xxxx" + png[54:], ""), (b"", "neither"), (b"GIF89a..", "neither"),
             (tiff_bytes[:2000], ""), (tiff_bytes[:-200], ""), (b"II*\0\xff\xff\xff\x7f", ""), (b"II*\0\x08\0\0\0\0\0", "")]
    for i, (content, word) in enumerate(cases):
        with open("bad", "wb") as file:
            file.write(content)
        refused("bad", "-o", "l.npy", "-t", "t.csv", word=word)
    write_tiff("bad", [np.zeros((4, 6), np.uint8), np.zeros((4, 7), np.uint8)])
    refused("bad", "-o", "l.npy", word="page 2")
    os.makedirs("mixed", exist_ok=True)
    np.save("mixed/0.npy", noise(4, 5))
    np.save("mixed/1.npy", noise(5, 5))
    refused("mixed", "-o", "l.npy", word="mixed/1.npy")
    os.makedirs("empty", exist_ok=True)
    refused("empty", word="empty")
    refused("good.npy", "--size", "30x20", word="bytes")


def limited_files():
    """a full file system ends in one line and leaves nothing"""
    np.save("a.npy", noise(2000, 2000))

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))

    for output in ["l.npy", "l.raw", "l.tif"]:
        refused("a.npy", "-o", output, "-t", "t.csv", word="", preexec_fn=limit)
    open("l.npy", "w").write("old")
    refused("a.npy", "-o", "l.npy", word="", preexec_fn=limit)
    tap.equal(open("l.npy").read(), "old", "the old file")


def interrupted():
    """Ctrl-C leaves nothing behind"""
    # A file with holes keeps the program busy without a read from the disk.
    with open("large.raw", "wb") as file:
        file.truncate(40000 * 40000)
    before = set(os.listdir("."))
    for number in [signal.SIGINT, signal.SIGTERM]:
        process = subprocess.Popen([PROGRAM, "large.raw", "--size", "40000x40000", "-o", "l.npy", "-t", "t.csv",
                                    "--n-threads", "1"], stderr=subprocess.DEVNULL)
        while len(set(os.listdir(".")) - before) < 2 and process.poll() is None:
            time.sleep(0.01)
        assert any(name.endswith(".part") for name in os.listdir(".")), os.listdir(".")
        process.send_signal(number)
        tap.equal(process.wait(20), -number)
        tap.equal(set(os.listdir(".")) - before, set(), "files left behind:")
    os.unlink("large.raw")


def bounded_memory():
    """--memory bounds the memory, whatever the picture"""
    width, height = 2048, 24000
    with open("tall.raw", "wb") as file:
        for _ in range(height // 240):
            file.write(noise(240, width, density=0.35).tobytes())  # many components at 4 neighbours
    result = run("tall.raw", "--size", f"{width}x{height}", "-c", 4, "--memory", "48M", "-t", "t.npy", "--statistics")
    statistics = json.loads(result.stderr)
    assert statistics["resident_kib"] < 64 * 1024, statistics
    assert statistics["tiles"] > 50, statistics
    phases = statistics["phases"]
    assert min(phases["read"], phases["label"], phases["table"]) > 0, phases
    assert abs(sum(phases.values()) - statistics["seconds"]) < 0.02 + 0.02 * statistics["seconds"], statistics
    tap.equal(len(np.load("t.npy", mmap_mode="r")), int(result.stdout.split()[0]))
    os.unlink("tall.raw")


def progress():
    """the progress bar is shown on a terminal only"""
    np.save("a.npy", noise(300, 300))
    import pty
    for quiet in [False, True]:
        parent, child = pty.openpty()
        subprocess.run([PROGRAM, "a.npy", "--tile", "10", *["-q"] * quiet], stderr=child, stdout=subprocess.DEVNULL, check=True)
        os.close(child)
        try:
            shown = os.read(parent, 1000)
        except OSError:
            shown = b""
        os.close(parent)
        assert (b"#" in shown) != quiet, shown


shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would wait for each output
with tempfile.TemporaryDirectory(dir=shared) as folder:
    os.chdir(folder)
    status = tap.run(npy_dtypes, png_pgm_raw, tiff, volumes, outputs, tables, contours, contours_without_disk, contours_of_whole_pictures, options, filters, filtered_strips,
                     filters_of_volumes, damaged_files, limited_files, interrupted, bounded_memory, progress)
    os.chdir("/")
sys.exit(status)
