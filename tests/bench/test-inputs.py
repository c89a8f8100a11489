#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmark's inputs: generators against known properties, files against the pictures written into them.
Prints TAP."""
import ctypes
import os
import struct
import sys
import tempfile
import zlib

import inputs
import tap
from inputs import DamagedError, SpecificationError
from library import lib

FOLDER = tempfile.TemporaryDirectory(prefix="ccl-bench-")


tests = []


def test(function):
    """Adds a case, named by its function."""
    function.__doc__ = function.__name__.replace("_", "-")
    tests.append(function)
    return function


def load(specification):
    source, = inputs.collect(specification)
    image = source.load()
    assert set(image.data) <= {0, 255} and len(image.data) == image.n_pixels
    return image


def n_foreground(image):
    return image.n_pixels - image.data.count(0)


def raises(kind, function, *arguments):
    """The text of an error, which is one line."""
    try:
        function(*arguments)
    except kind as error:
        assert "\n" not in str(error), error
        return str(error)
    raise AssertionError(f"{arguments}: no {kind.__name__}")


@test
def noise_is_mt19937():
    """The C++ standard ([rand.predef]) says that the 10000th number of a default-constructed std::mt19937 is
    4123659995; the first ones are those of Matsumoto's and Nishimura's own program, seeded with 5489. A picture of
    single pixels shows them."""
    half, below, above = (load(f"noise:10000x1:g=1:d={density}") for density in (50, 96, 97))
    for pixel, number in zip(half.data, (3499211612, 581869302, 3890346734, 3586334585, 545404204)):
        assert (pixel == 255) == (number < 2**31)
    assert (below.data[9999], above.data[9999]) == (0, 255)  # 4123659995 / 2^32 is 0.9601…


@test
def noise_has_its_density():
    for density in range(0, 101, 10):
        share = density / 100
        deviation = (share * (1 - share) * 1e6) ** 0.5
        assert abs(n_foreground(load(f"noise:1000x1000:g=1:d={density}")) - 1e6 * share) <= 4 * deviation


@test
def noise_comes_in_blocks():
    image, single = load("noise:101x67:g=7:d=50"), load("noise:15x10:g=1:d=50")  # as many blocks
    for i, pixel in enumerate(image.data):
        assert pixel == single.data[i // 101 // 7 * 15 + i % 101 // 7]
    volume = load("noise:21x23x25:g=4:d=50")
    for i, pixel in enumerate(volume.data):
        x, y, z = i % 21, i // 21 % 23, i // 21 // 23
        assert pixel == volume.data[(z // 4 * 4 * 23 + y // 4 * 4) * 21 + x // 4 * 4]
    assert n_foreground(volume) > 0


@test
def denser_noise_contains_sparser():
    sparse, dense, other = (load(f"noise:300x200:g=2:d={density}:seed={seed}")
                            for density, seed in ((30, 7), (70, 7), (30, 8)))
    assert all(map(int.__ge__, dense.data, sparse.data)) and sparse.data != other.data


@test
def lists_of_noise():
    assert len(inputs.collect("noise:8x8")) == 16 * 101  # the papers' grid
    assert len(inputs.collect("noise:8x8:g=1,4-6:d=0-100+25:seed=1-2")) == 4 * 5 * 2


@test
def hilbert_visits_all_by_single_steps():
    """The properties of a Hilbert curve: it visits every point once, in steps of length one, and every aligned cube of
    8, 64, … points in one go."""
    point = (ctypes.c_uint32 * 3)()
    for order in range(1, 6):
        visited, previous = set(), None
        for i in range(8**order):
            lib.hilbert_position(order, i, point)
            here = tuple(point)
            assert all(0 <= side < 2**order for side in here)
            visited.add(here)
            if previous:
                assert sum(abs(a - b) for a, b in zip(here, previous)) == 1
            if i % 8:  # still in the cube of the point before
                assert [side // 2 for side in here] == [side // 2 for side in previous]
            previous = here
        assert len(visited) == 8**order


@test
def hilbert_volumes_have_their_length():
    """A line of one voxel through 8^order points that are 128 / 2^order apart."""
    for order in range(1, 7):
        image = load(f"hilbert:order={order}")
        assert (image.width, image.height, image.depth) == (128, 128, 128)
        assert n_foreground(image) == (8**order - 1) * (128 >> order) + 1


@test
def drawings_look_like_what_they_are():
    # Printed pages of the papers' data sets are 5…15 % ink, surveillance masks 1…10 %.
    page, other_page = load("text:1240x1754"), load("text:1240x1754:n=1")
    assert 0.05 < n_foreground(page) / page.n_pixels < 0.20 and page.data != other_page.data
    frame, next_frame = load("blobs:1920x1080:n=3"), load("blobs:1920x1080:n=4")
    assert 0.01 < n_foreground(frame) / frame.n_pixels < 0.10
    # They move, but not far.
    assert 0 < sum(map(int.__ne__, frame.data, next_frame.data)) < n_foreground(frame)
    assert n_foreground(load("full:31x17")) == 31 * 17 and n_foreground(load("empty:31x17")) == 0


@test
def generators_work_for_small_sizes():
    for generator in ("noise:%dx%d:g=16:d=50", "text:%dx%d", "blobs:%dx%d", "full:%dx%d"):
        for width in range(1, 46, 4):
            for height in range(1, 46, 4):
                assert load(generator % (width, height)).n_pixels == width * height


@test
def wrong_specifications_are_refused():
    for wrong in ("noise", "noise:", "noise:8", "noise:0x8", "noise:8x8:g=17", "noise:8x8:d=101", "noise:8x8:d=5-1",
                  "noise:8x8:d=x", "noise:8x8:e=1", "noise:65536x65536", "hilbert:order=7", "text:8x8x8", "full:-1x8",
                  "/nowhere", "volume:/nowhere", "noise:8x8:seed=0-4294967294"):
        raises(SpecificationError, inputs.collect, wrong)


# Files. The picture is a row of numbers whose bits are the pixels.

WIDTH, HEIGHT = 13, 5
PICTURE = [[0x1b5d * (y + 3) >> x & 1 for x in range(WIDTH)] for y in range(HEIGHT)]
EXPECTED = bytes(255 * bit for row in PICTURE for bit in row)


def write_file(name, data):
    path = os.path.join(FOLDER.name, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(bits, colour, value=lambda x: 1, interlaced=False):
    """The picture as PNG. colour: 0 is grey, 2 is RGB, 3 has a palette; value(x): the samples of a foreground pixel."""
    passes = [(0, 0, 1, 1)]
    if interlaced:  # the seven passes of Adam7
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    size, data = bits * (3 if colour == 2 else 1), b""
    for left, top, step_x, step_y in passes:
        for y in range(top, HEIGHT, step_y):
            columns = range(left, WIDTH, step_x)
            text = "".join(f"{value(x) if PICTURE[y][x] else 0:0{size}b}" for x in columns)
            if columns:
                data += b"\0" + bytes(int(text[i:i + 8].ljust(8, "0"), 2) for i in range(0, len(text), 8))
    palette = chunk(b"PLTE", b"\0\0\0\xff\xff\xff") if colour == 3 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, colour, 0, 0, interlaced)) \
        + palette + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def grey(x):
    """Any value but 0 is foreground."""
    return 1 + 20 * x


def assert_is_the_picture(path):
    image = load(path)
    assert (image.width, image.height, bytes(image.data)) == (WIDTH, HEIGHT, EXPECTED), path


@test
def png_files_are_read():
    for data in (png(1, 0), png(8, 0, grey), png(1, 0, interlaced=True), png(8, 0, grey, interlaced=True), png(1, 3),
                 png(8, 2, lambda x: 0x5a5a00), png(16, 0, lambda x: 0x5a5a)):
        assert_is_the_picture(write_file("picture.png", data))


@test
def pnm_files_are_read():
    rows = ["".join(map(str, row)) for row in PICTURE]
    for head, data in ((b"P1\n# a comment\n13 5\n", "\n".join(rows).encode()),
                       (b"P4 13 5\n", b"".join(struct.pack(">H", int(row, 2) << 3) for row in rows)),
                       (b"P2\n13 5 255\n", " ".join(str(bit * (7 * x + 1)) for row in PICTURE
                                                    for x, bit in enumerate(row)).encode()),
                       (b"P5\n13 5\n# another\n255\n", bytes(bit * (200 + x) for row in PICTURE
                                                             for x, bit in enumerate(row)))):
        assert_is_the_picture(write_file("picture.pnm", head + data))


@test
def damaged_files_are_an_error_of_one_line():
    whole = png(8, 0, grey)
    for length in range(len(whole) - 12):  # the last chunk carries no pixels
        raises(DamagedError, inputs.read_image, write_file("cut.png", whole[:length]))
    for i in range(8, len(whole)):  # one flipped bit: an error, or the same pixels
        flipped = bytearray(whole)
        flipped[i] ^= 1 << i % 8
        path = write_file("flipped.png", flipped)
        try:
            assert bytes(inputs.read_image(path).data) == EXPECTED, i
        except DamagedError:
            pass
    for other in (b"", b"P", b"P5", b"P5\n13 5 255\nabc", b"P5\n0 5 255\n", b"P5\n13 5 70000\nabc", b"P4 100000 100000\n",
                  b"P1 2 2\n0 1 2 1", b"P2 2 1 255\n3", b"P2 2 1 5\n3 6", b"\211PNG\r\n\032\nnothing", b"not an image"):
        raises(DamagedError, inputs.read_image, write_file("other", other))


@test
def folders_are_sets():
    folder, nothing = (os.path.join(FOLDER.name, name) for name in ("set", "nothing"))
    os.mkdir(folder)
    os.mkdir(nothing)
    for name in ("b.png", "a.png", "notes.md"):
        write_file(f"set/{name}", png(1, 0))
    assert [(source.set, source.name) for source in inputs.collect(folder)] == [("set", "a.png"), ("set", "b.png")]
    # YACCLAB's list of files: its order, and nothing that it does not name.
    write_file("set/files.txt", b"b.png\r\n")
    assert [source.name for source in inputs.collect(folder)] == ["b.png"]
    assert "holds no PNG" in raises(SpecificationError, inputs.collect, nothing)


@test
def folders_of_folders_are_volumes():
    volumes = os.path.join(FOLDER.name, "volumes")
    os.makedirs(os.path.join(volumes, "one"))
    write_file("volumes/one/0.png", png(1, 0))
    write_file("volumes/one/1.png", png(8, 0, grey))
    for specification in (f"volume:{volumes}/one", volumes):  # by its folder, and by the folder around it
        volume = load(specification)
        assert volume.depth == 2 and bytes(volume.data) == 2 * EXPECTED
    write_file("volumes/one/2.pbm", b"P1 1 1\n1")  # a slice of another size
    assert "a slice of 1×1" in raises(DamagedError, inputs.collect(volumes)[0].load)


@test
def images_are_scaled_without_smoothing():
    path = write_file("s.pbm", b"P1 2 2\n10\n01")
    image = load(path + "@6x4")
    assert (image.width, image.height) == (6, 4)
    assert all(pixel == 255 * (i % 6 // 3 == i // 6 // 2) for i, pixel in enumerate(image.data))
    assert load(path + "@1x1").data == b"\xff"


sys.exit(tap.run(*tests))
