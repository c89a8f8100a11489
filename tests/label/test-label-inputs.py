#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ccl-label reads, against other readers: colours, JPEG, PNM, arrays in Fortran order, and pipes. And
what it must refuse: files that lie about their size, and outputs that are inputs.

usage: test-label-inputs.py CCL-LABEL FAILING-ALLOCATION.so
"""
import io
import itertools
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import zlib

import cv2
import numpy as np
import tifffile
from scipy import ndimage

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402
from formats import write_samples, write_tiff  # noqa: E402

PROGRAM, FAILING = map(os.path.abspath, sys.argv[1:])
random = np.random.default_rng(23)


def run(*arguments, **settings):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120, **settings)


def refused(*arguments, word, **settings):
    """The program must end with one line that contains the word, and leave no file."""
    before = {path: path.lstat().st_mtime_ns for path in pathlib.Path().rglob("*")}
    result = run(*arguments, **settings)
    error = result.stderr.decode()
    assert result.returncode == 1, (arguments, result.returncode, error)
    assert error.startswith("ccl-label: ") and error.count("\n") == 1 and word in error, (arguments, word, error)
    tap.equal({path: path.lstat().st_mtime_ns for path in pathlib.Path().rglob("*")}, before, "files")


def check(mask, *arguments, **settings):
    """The labels of the files are scipy's of the mask."""
    want, n = ndimage.label(mask, np.ones((3,) * mask.ndim))
    result = run(*arguments, "-o", "check.npy", **settings)
    assert result.returncode == 0 and not result.stderr, (arguments, result.stderr)
    labels = np.load("check.npy")
    tap.equal(labels.shape, want.shape, str(arguments))
    assert (labels == want).all(), arguments
    tap.equal(int(result.stdout.split()[0]), n)


def grey(colours):
    """BT.601, in the units of the colours."""
    red, green, blue = (colours[..., i].astype(np.float64) for i in range(3))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def fortran_order():
    """NPY arrays in Fortran order, whatever their shape, type and tiles"""
    for dtype in ["?", "u1", ">u2", "<i4", "<f8"]:
        image = (random.random((57, 91)) < 0.45).astype(dtype)
        np.save("a.npy", np.asfortranarray(image))
        assert b"'fortran_order': True" in open("a.npy", "rb").read(100)
        check(image > 0, "a.npy", "--tile", 7)
    volume = (random.random((9, 23, 31)) < 0.2).astype(np.uint16)
    np.save("v.npy", np.asfortranarray(volume))
    check(volume > 0, "v.npy", "--tile", 2)
    wide = (random.random((5000, 9000)) < 0.3).astype(np.uint8)  # more than a block in both directions
    np.save("w.npy", np.asfortranarray(wide))
    check(wide > 0, "w.npy", "--memory", "20M")
    refused("a.npy", word="no temporary file in /no/where", env={**os.environ, "TMPDIR": "/no/where"})


def colours_become_grey():
    """RGB in TIFF, PNG and PPM: grey by the weights of BT.601, opacity is ignored"""
    rgb = cv2.GaussianBlur(random.integers(0, 256, (40, 53, 3)).astype(np.uint8), (3, 3), 0)
    rgba = np.dstack([rgb, random.integers(0, 2, (40, 53)).astype(np.uint8) * 255])
    value = grey(rgb)
    level = int(np.median(value))
    assert not (np.abs(value - level - 0.5) < 0.002).any()  # no pixel whose grey value depends on rounding
    mask = np.round(value) > level
    cv2.imwrite("a.png", rgb[..., ::-1])
    cv2.imwrite("b.png", cv2.cvtColor(rgba, cv2.COLOR_RGBA2BGRA))
    cv2.imwrite("a.ppm", rgb[..., ::-1])
    for name in ["a.png", "b.png", "a.ppm"]:
        check(mask, name, "--threshold", level, "--tile", 9)
    for settings in [{}, {"planes": True}, {"tile": 16}, {"planes": True, "tile": 16}]:
        write_samples("a.tif", rgb, **settings)
        check(mask, "a.tif", "--threshold", level, "--tile", 9)
        write_samples("a.tif", rgba, extra=2, **settings)
        check(mask, "a.tif", "--threshold", level)
        deep = rgb.astype(np.uint16) * 200
        write_samples("a.tif", deep, **settings)
        check(np.round(grey(deep)) > 200 * level, "a.tif", "--threshold", 200 * level, "--tile", 3)
        write_samples("a.tif", rgb.astype(np.float32), **settings)
        check(value > level + 0.25, "a.tif", "--threshold", level + 0.25)
    otsu = cv2.threshold(np.round(value).astype(np.uint8), 0, 255, cv2.THRESH_OTSU)[0]
    check(np.round(value) > otsu, "a.png", "--foreground", "otsu")
    np.save("rgb.npy", rgb)
    refused("rgb.npy", word="40×53×3: colours, or a volume?")
    check(rgb > level, "rgb.npy", "-c", 26, "--threshold", level)
    write_samples("five.tif", np.dstack([rgba, rgb[..., 0]]), extra=0)
    refused("five.tif", word="5 samples")
    write_samples("cmyk.tif", rgba, photometric=5)
    refused("cmyk.tif", word="kind 5")
    write_samples("channels.tif", rgb[..., :2], photometric=1, extra=0)
    refused("channels.tif", word="2 samples")
    write_samples("i32.tif", rgb.astype(np.int32))
    refused("i32.tif", word="32 bits")


def palettes_and_few_bits():
    """TIFF of 1, 2, 4 and 8 bits, with a palette or without, and with white that is zero"""
    for bits in [1, 2, 4, 8]:
        index = random.integers(0, 2**bits, (33, 45, 1)).astype(np.uint8)
        value = index[..., 0].astype(int) * (255 // (2**bits - 1))
        write_samples("a.tif", index, photometric=1, bits=bits)
        check(value > 100, "a.tif", "--threshold", 100, "--tile", 5)
        write_samples("a.tif", index, photometric=0, bits=bits)
        check(255 - value > 100, "a.tif", "--threshold", 100)
        palette = random.integers(0, 256, (2**bits, 3)) * 257
        write_samples("a.tif", index, photometric=3, bits=bits, palette=palette)
        shown = np.round(grey(palette[index[..., 0]] >> 8))
        check(shown > 100, "a.tif", "--threshold", 100)


def jpeg():
    """JPEG: grey, with colours, and progressive, as OpenCV reads its luma; CMYK is refused"""
    image = cv2.GaussianBlur(random.integers(0, 256, (67, 83, 3)).astype(np.uint8), (5, 5), 0)
    for settings in [[], [cv2.IMWRITE_JPEG_PROGRESSIVE, 1], [cv2.IMWRITE_JPEG_RST_INTERVAL, 3]]:
        for picture in [image, image[..., 0]]:
            cv2.imwrite("a.jpg", picture, settings)
            luma = cv2.imread("a.jpg", cv2.IMREAD_GRAYSCALE)
            check(luma > 127, "a.jpg", "--threshold", 127, "--tile", 6)
    content = open("a.jpg", "rb").read()
    for n in [3, 20, 200, len(content) // 2, len(content) - 40]:
        open("short.jpg", "wb").write(content[:n])
        refused("short.jpg", "-o", "l.npy", word="short.jpg")
    at = content.index(b"\xff\xda") + 60
    open("noise.jpg", "wb").write(content[:at] + random.bytes(len(content) - at))
    result = run("noise.jpg", "-o", "l.npy")  # noise may be a picture
    assert result.returncode == 0 or (result.returncode == 1 and result.stderr.count(b"\n") == 1), result
    try:
        from PIL import Image
    except ImportError:
        return
    Image.fromarray(image).convert("CMYK").save("cmyk.jpg")
    refused("cmyk.jpg", word="CMYK")


def pnm():
    """PBM, PGM and PPM, in binary form and as text"""
    image = (random.random((21, 37)) < 0.5).astype(np.uint8)
    bits = np.packbits(1 - image, axis=1).tobytes()
    text = " ".join(str(1 - value) for value in image.ravel()).encode()
    files = [b"P1 # a comment\n37 21\n" + text, b"P1 37 21 " + text.replace(b" ", b""), b"P4\n37 21\n" + bits,
             b"P2\n37 21 300\n" + b"\n".join(b"%d" % (300 * int(value)) for value in image.ravel()),
             b"P3 37 21 9 " + b" ".join(b"0 %d 0" % (9 * value) for value in image.ravel()) + b"\n",
             b"P6 37 21 255\n" + np.repeat(image * 255, 3).tobytes(),
             b"P6 37 21 65535\n" + np.repeat(image * np.uint16(500), 3).astype(">u2").tobytes()]
    for content in files:
        open("a.pnm", "wb").write(content)
        check(image > 0, "a.pnm", "--tile", 4)
        for n in [3, 8, len(content) - 3 if b" " not in content[-3:] else len(content) - 9]:
            open("short.pnm", "wb").write(content[:n])
            refused("short.pnm", word="short.pnm")
    open("large.pnm", "wb").write(b"P2 2 1 9\n3 10\n")
    refused("large.pnm", word="too large")
    open("p7.pnm", "wb").write(b"P7\nWIDTH 1\n")
    refused("p7.pnm", word="neither")


def encoded(image):
    """A picture in each format."""
    file = io.BytesIO()
    np.save(file, image)
    fortran = io.BytesIO()
    np.save(fortran, np.asfortranarray(image))
    write_tiff("pipe.tif", [image], tile=16, deflate=True)
    return {"npy": file.getvalue(), "fortran": fortran.getvalue(), "tiff": open("pipe.tif", "rb").read(),
            "png": cv2.imencode(".png", image)[1].tobytes(), "pgm": cv2.imencode(".pgm", image)[1].tobytes(),
            "jpeg": cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 100])[1].tobytes()}


def pipes():
    """standard input and FIFOs, of every format"""
    image = cv2.resize((random.random((30, 40)) < 0.5).astype(np.uint8) * 255, (320, 240), interpolation=cv2.INTER_NEAREST)
    for name, content in encoded(image).items():
        check(image > 127, "-", "--threshold", 127, "--tile", 30, input=content)
        os.mkfifo("fifo")
        writer = threading.Thread(target=lambda: open("fifo", "wb").write(content))
        writer.start()
        check(image > 127, "fifo", "--threshold", 127, "--tile", 30)
        writer.join()
        os.unlink("fifo")
        refused("-", "-o", "l.npy", word="standard input", input=content[:len(content) // 2])
    check(image > 127, "-", "--size", "320x240", "--threshold", 127, input=image.tobytes())
    np.save("a.npy", image)
    with open("a.npy", "rb") as file:
        check(image > 127, "-", "--threshold", 127, stdin=file)
    with open("a.npy", "rb") as file:
        refused("-", "-o", "a.npy", word="it is read", stdin=file)
    refused("-", word="neither", input=b"")
    refused("-", word="standard input", stdin=subprocess.DEVNULL)
    refused("-", "a.npy", word="-: No such file", input=b"")
    tap.equal(os.listdir(os.environ["TMPDIR"]), [], "temporary files")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    refused("-", word="temporary file: File too large", input=encoded(image)["npy"], preexec_fn=limit)


def one_file_twice():
    """an output that is an input or another output is refused, whatever the links between their names"""
    image = np.ones((20, 30), np.uint8)
    for name in ["a.npy", "roi.npy"]:
        np.save(name, image)
    os.mkdir("folder")
    np.save("folder/0.npy", image)
    os.symlink("a.npy", "symbolic.npy")
    os.link("a.npy", "hard.npy")
    os.symlink("absent.npy", "dangling.npy")
    os.symlink(".", "here")
    os.mkdir("folder.npy")
    for arguments in [["a.npy", "-o", "a.npy"], ["a.npy", "-t", "a.npy"], ["a.npy", "-o", "symbolic.npy"], ["a.npy", "-o", "hard.npy"],
                      ["symbolic.npy", "-o", "a.npy"], ["a.npy", "-o", "here/a.npy"], ["a.npy", "-o", os.path.abspath("a.npy")],
                      ["a.npy", "--roi-mask", "roi.npy", "-o", "roi.npy"], ["folder", "-o", "folder/0.npy"],
                      ["a.npy", "roi.npy", "-t", "roi.npy"], ["a.npy", "-o", "new.npy", "-t", "new.npy"],
                      ["a.npy", "-o", "new.npy", "-t", "./new.npy"], ["a.npy", "-o", "new.npy", "-t", "here/new.npy"],
                      ["a.npy", "-o", "dangling.npy", "-t", "absent.npy"], ["a.npy", "-o", "folder.npy"]]:
        refused(*arguments, word="output")
    assert (np.load("a.npy") == image).all()
    tap.equal(run("a.npy", "-o", "folder/1.npy", "-t", "folder/1.csv").returncode, 0)


def masks_as_in_elements():
    """black and transparent pixels of a region of interest mask are outside"""
    image = np.full((1, 8), 9, np.uint8)
    np.save("a.npy", image)
    rgba = np.zeros((1, 8, 4), np.uint8)
    rgba[0, :, 3] = [255, 255, 255, 255, 0, 255, 0, 255]
    rgba[0, 1, 0] = rgba[0, 3, 2] = rgba[0, 4, 1] = rgba[0, 7, 1] = 1
    want = np.array([[0, 1, 0, 1, 0, 0, 0, 1]])
    cv2.imwrite("roi.png", cv2.cvtColor(rgba, cv2.COLOR_RGBA2BGRA))
    check(want, "a.npy", "--roi-mask", "roi.png")
    write_samples("roi.tif", rgba, extra=2)
    check(want, "a.npy", "--roi-mask", "roi.tif")
    np.save("roi.npy", np.array([[0, -1, 0, 0.25, 0, 0, 0, np.nan]], np.float32))
    check(want, "a.npy", "--roi-mask", "roi.npy")


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def files_that_lie():
    """huge sizes in small files end in one line, in little memory"""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)) + chunk(
        b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    interlaced = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 1)) + chunk(
        b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    jpeg = bytearray(cv2.imencode(".jpg", np.zeros((8, 8, 3), np.uint8), [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes())
    at = jpeg.index(b"\xff\xc2") + 5
    jpeg[at:at + 4] = struct.pack(">HH", 65500, 65500)
    header = b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + b"{'descr': '|u1', 'fortran_order': False, 'shape': (%s), }"

    def npy(shape, order=b"False"):
        return header.replace(b"%s", shape).replace(b"False", order).ljust(127) + b"\n" + bytes(100)

    write_tiff("a.tif", [np.zeros((10, 10), np.uint8)], rows_per_strip=10)
    tiff = bytearray(open("a.tif", "rb").read())
    for tag in 256, 257, 278:
        at = tiff.index(struct.pack("<HHI", tag, 4, 1)) + 8
        tiff[at:at + 4] = b"\xff\xff\xff\xff"
    write_tiff("t.tif", [np.zeros((10, 10), np.uint8)], tile=16)
    tiles = bytearray(open("t.tif", "rb").read())
    for tag in 322, 323, 256:
        at = tiles.index(struct.pack("<HHI", tag, 4, 1)) + 8
        tiles[at:at + 4] = struct.pack("<I", 0xfffffff0)
    loop = bytearray(open("a.tif", "rb").read())
    struct.pack_into("<I", loop, len(loop) - 4, struct.unpack_from("<I", loop, 4)[0])  # a page that follows itself
    open("loop.tif", "wb").write(loop)
    tap.equal(run("loop.tif").returncode, 0)
    for name, content in {"png": png, "interlaced": interlaced, "jpeg": bytes(jpeg), "tiff": bytes(tiff), "tiles": bytes(tiles),
                          "pgm": b"P5 4294967295 4294967295 255\n", "pbm": b"P4 4294967295 2147483647\n",
                          "text": b"P2 100000 100000 255\n1 2 3", "npy": npy(b"4294967295, 4294967295"),
                          "npy3": npy(b"4294967295, 4294967295, 4294967295"), "npy4": npy(b"99999999999999999999, 1"),
                          "fortran": npy(b"4294967295, 4294967295", b"True ")}.items():
        open(name, "wb").write(content)
        refused(name, "-o", "l.npy", "-t", "t.csv", word=name, preexec_fn=limit)
    refused("pgm", "--size", "4294967295x4294967295x4294967295", word="too large", preexec_fn=limit)
    os.mkdir("devices")
    for name in ["/dev/zero", "/dev/null", "/dev/tty"]:
        refused(name, "-o", "l.npy", word="/dev/")
    os.symlink("/dev/zero", "devices/0.png")
    refused("devices", word="not a regular file")
    refused("x" * 300, word="x: File name too long")
    refused("no\nwhere\x1b[2J.npy", word="no?where?[2J.npy: No such file")


def arguments_that_are_refused():
    """--memory 1, neighbours of volumes for a picture, and a standard output that is full"""
    np.save("a.npy", np.ones((5, 6), np.uint8))
    np.save("v.npy", np.ones((2, 5, 6), np.uint8))
    for size in ["1", "1000K", "1023KiB", "0", "-1", "1e9", "1 G", "G", "", "1X", "1GG", "inf", "99999999T"]:
        refused("a.npy", "--memory", size, word="--memory cannot be")
    for size in ["1048576", "1049K", "1MiB", "1mib", "1.5G", "2GB", "0.25TiB"]:
        tap.equal(run("a.npy", "--memory", size).returncode, 0, size)
    for connectivity in [6, 18, 26]:
        refused("a.npy", "-c", connectivity, word="are those of volumes")
    refused("v.npy", "-c", 8, word="8")
    tap.equal(run("v.npy", "-c", 18).returncode, 0)
    with open("/dev/full", "w") as full:
        result = subprocess.run([PROGRAM, "a.npy"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1 and "standard output: No space left" in result.stderr, result


def decoded(name):
    """What an output says; without memory for another one, libtiff compresses by zlib, to other bytes."""
    if name.endswith(".tif"):
        return tifffile.imread(name).tobytes()
    with open(name, "rb") as file:
        return file.read()


def failed_allocations():
    """an allocation that fails, whichever, ends in one line or changes nothing"""
    image = (random.random((9, 40)) < 0.5).astype(np.uint8) * 255
    for name, content in encoded(image).items():
        open(f"a.{name}", "wb").write(content)
    os.mkdir("slices")
    for z in range(2):
        np.save(f"slices/{z}.npy", image)
    commands = [[f"a.{name}", "--threshold", 127, "-o", "l.tif", "-t", "t.csv"] for name in encoded(image)]
    commands += [["slices", "--threshold", 127, "-o", "l.npy"], ["a.npy", "--foreground", "otsu", "--denoise", "median-3x3", "--roi-mask",
                 "a.png", "-o", "l.tif", "--compress", "deflate", "-t", "t.npy"],
                 ["a.npy", "-t", "t.npy", "--columns", "perimeter,centroid_weighted", "--intensity", "a.png", "--tile", 2],
                 ["a.npy", "-t", "t.npy", "--columns", "label,intensity_mean", "--intensity", "c.ppm", "--tile", 2, "--largest", 3],
                 ["a.npy", "--split", 2, "-t", "t.npy", "--columns", "perimeter,intensity_mean", "--intensity", "c.ppm"]]
    with open("c.ppm", "wb") as file:
        file.write(b"P6 40 9 255\n" + random.bytes(3 * image.size))
    for command in commands:
        outputs = [name for name in command if name in ("l.npy", "l.tif", "t.csv", "t.npy")]
        result = run(*command, "--n-threads", 1)
        assert result.returncode == 0, result.stderr
        want = [result.stdout, *map(decoded, outputs)]
        for number in range(1, 1000):
            for name in outputs:
                os.unlink(name)
            result = run(*command, "--n-threads", 1,
                         env={**os.environ, "LD_PRELOAD": FAILING, "FAIL_AT": str(number), "FAIL_MARK": "mark"})
            if result.returncode == 1:
                assert result.stderr.startswith(b"ccl-label: ") and result.stderr.count(b"\n") == 1, (command, number, result)
                assert not any(map(os.path.exists, outputs)), (command, number)
                for name in outputs:
                    open(name, "w")
            else:
                tap.equal(result.returncode, 0, f"{command} {number}: {result.stderr}: status")
                tap.equal([result.stdout, *map(decoded, outputs)] == want, True, f"{command} {number}")
            if not os.path.exists("mark"):
                break
            os.unlink("mark")
        assert number > 20, number


shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would wait for each output
with tempfile.TemporaryDirectory(dir=shared) as folder, tempfile.TemporaryDirectory() as temporary:
    os.environ["TMPDIR"] = temporary
    cases = [fortran_order, colours_become_grey, palettes_and_few_bits, jpeg, pnm, pipes, one_file_twice,
             masks_as_in_elements, files_that_lie, failed_allocations, arguments_that_are_refused]

    def in_folder(case):
        def call():
            with tempfile.TemporaryDirectory(dir=folder) as own:
                os.chdir(own)
                try:
                    case()
                finally:
                    os.chdir("/")
        call.__doc__ = case.__doc__
        return call

    status = tap.run(*map(in_folder, cases))
sys.exit(status)
