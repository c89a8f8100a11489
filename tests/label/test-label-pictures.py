#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What files say beyond samples and their first directory: stacks and their axes, smaller copies, the numbers of
palettes and colours, few and odd bits, and orientation. tifffile, Pillow and scipy are the references.

usage: test-label-pictures.py CCL-LABEL
"""
import io
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import tifffile
from PIL import Image, ImageOps
from scipy import ndimage

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "runner"))
import tap  # noqa: E402
from formats import write_samples  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
random = np.random.default_rng(36)
VOLUME = np.zeros((9, 20, 30), np.uint8)
VOLUME[:, 5:9, 5:9] = 200
VOLUME[4, 15, 20] = 200


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def labels_of(*arguments):
    result = run(*arguments, "-o", "l.npy")
    assert result.returncode == 0, (arguments, result.stderr)
    return np.load("l.npy")


def check(mask, *arguments):
    """The labels of the files are scipy's of the mask."""
    labels = labels_of(*arguments)
    tap.equal(labels.shape, mask.shape, str(arguments))
    assert (labels == ndimage.label(mask, np.ones([3] * mask.ndim))[0]).all(), arguments


def refused(*arguments, word):
    result = run(*arguments)
    error = result.stderr
    assert result.returncode == 1 and error.count("\n") == 1 and word in error, (arguments, word, result)


def stacks_in_one_directory():
    """stacks of ImageJ and tifffile whose slices follow each other behind one directory"""
    tifffile.imwrite("ij.tif", VOLUME, imagej=True, metadata={"axes": "ZYX"}, truncate=True)
    labels = labels_of("ij.tif")
    tap.equal(labels.shape, (9, 20, 30))
    tap.equal(np.bincount(labels.ravel())[1:].tolist(), [144, 1])
    for kind, order in ("u1", ">"), ("u2", ">"), ("u2", "<"), ("f4", ">"), ("f4", "<"):
        tifffile.imwrite("ij.tif", VOLUME.astype(kind), imagej=True, metadata={"axes": "ZYX"}, truncate=True, byteorder=order)
        check(VOLUME > 0, "ij.tif", "--tile", 2)
        tifffile.imwrite("shaped.tif", VOLUME.astype(kind), truncate=True, byteorder=order, photometric="minisblack")
        check(VOLUME > 0, "shaped.tif")
    content = open("ij.tif", "rb").read()
    open("short.tif", "wb").write(content[:-100])
    refused("short.tif", word="short.tif")
    tifffile.imwrite("rgb.tif", np.stack([VOLUME] * 3, -1), photometric="rgb", truncate=True)
    check(VOLUME > 0, "rgb.tif")
    for settings in {}, {"tile": (16, 16, 16)}:
        tifffile.imwrite("sgi.tif", VOLUME, volumetric=True, photometric="minisblack", **settings)
        refused("sgi.tif", word="a volume of 9 slices (ImageDepth)")
    tifffile.imwrite("stk.tif", VOLUME[0], extratags=[(33629, 5, 9, (1, 1) * 9, True)])
    refused("stk.tif", word="MetaMorph")
    tifffile.imwrite("lsm.tif", VOLUME[0], extratags=[(34412, 1, 28, bytes(28), True)])
    refused("lsm.tif", word="LSM")


def axes():
    """pages that are times, channels, or of more than three axes are no volume unless that is asked for"""
    for axis, word in ("T", "times"), ("C", "channels"):
        tifffile.imwrite("ij.tif", VOLUME, imagej=True, metadata={"axes": f"{axis}YX"})
        tifffile.imwrite("ome.tif", VOLUME, ome=True, metadata={"axes": f"{axis}YX"}, photometric="minisblack")
        tifffile.imwrite("shaped.tif", VOLUME, metadata={"axes": f"{axis}YX"}, photometric="minisblack")
        for name in "ij.tif", "ome.tif", "shaped.tif":
            refused(name, word=f"9×20×30: {word}, or a volume?")
            check(VOLUME > 0, name, "-c", 26)
    for dimensions in "CZYX", "TZYX":
        tifffile.imwrite("ome.tif", np.stack([VOLUME] * 2), ome=True, metadata={"axes": dimensions}, photometric="minisblack")
        refused("ome.tif", "-c", 26, word="save one volume")
        tifffile.imwrite("shaped.tif", np.stack([VOLUME] * 2), metadata={"axes": dimensions}, photometric="minisblack")
        refused("shaped.tif", "-c", 26, word="save one volume")
    tifffile.imwrite("ij.tif", np.stack([VOLUME] * 2, 1), imagej=True, metadata={"axes": "ZCYX"})
    refused("ij.tif", word="9×2×1×1: save one volume")
    tifffile.imwrite("four.tif", np.stack([VOLUME] * 2), photometric="minisblack")
    refused("four.tif", word="save one volume")
    for shape in VOLUME.shape, (1, *VOLUME.shape), (*VOLUME.shape, 1):
        tifffile.imwrite("z.tif", VOLUME.reshape(shape), photometric="minisblack")
        check(VOLUME > 0, "z.tif")
    for settings in {"imagej": True}, {"ome": True, "photometric": "minisblack"}, {"photometric": "minisblack"}:
        tifffile.imwrite("z.tif", VOLUME, metadata={"axes": "ZYX"}, **settings)
        check(VOLUME > 0, "z.tif")
    colours = np.stack([VOLUME] * 3, -1)
    for settings in {}, {"metadata": {"axes": "ZYXS"}, "ome": True}, {"planarconfig": "separate", "metadata": None}:
        data = np.moveaxis(colours, -1, 1) if "planarconfig" in settings else colours
        tifffile.imwrite("rgb.tif", data, photometric="rgb", **settings)
        check(VOLUME > 0, "rgb.tif")


def pages_and_directories():
    """smaller copies and masks are no pages; other pictures are refused, with OME-XML that counts others"""
    with tifffile.TiffWriter("cog.tif") as writer:
        for z in range(3):
            writer.write(VOLUME[z], subifds=1)
            writer.write(VOLUME[z, ::2, ::2], subfiletype=1)
        writer.write(VOLUME[0, ::2, ::2], subfiletype=1)
    check(VOLUME[:3] > 0, "cog.tif")
    with tifffile.TiffWriter("thumbnail.tif") as writer:
        writer.write(VOLUME[0, ::2, ::2], subfiletype=1)
        writer.write(VOLUME[4])
    check(VOLUME[4] > 0, "thumbnail.tif")
    with tifffile.TiffWriter("sub.tif") as writer:
        writer.write(VOLUME[0], subifds=1)
        writer.write(VOLUME[1])
    refused("sub.tif", word="SubIFDs")
    with tifffile.TiffWriter("sizes.tif") as writer:
        writer.write(VOLUME[0])
        writer.write(VOLUME[0, :-1])
    refused("sizes.tif", "-o", "l.npy", word="page 2 has another size")
    with tifffile.TiffWriter("two.ome.tif", ome=True) as writer:
        for _ in range(2):
            writer.write(VOLUME, photometric="minisblack")
    refused("two.ome.tif", word="2 images")
    tifffile.imwrite("ome.tif", VOLUME, ome=True, photometric="minisblack")
    text = tifffile.TiffFile("ome.tif").ome_metadata
    os.mkdir("parts")
    for z in range(9):
        tifffile.imwrite(f"parts/{z}.tif", VOLUME[z], description=text.encode(), metadata=None)
    refused("parts/0.tif", word="9 planes")
    check(VOLUME > 0, "parts")


def animations():
    """an animated PNG is refused"""
    frames = [Image.fromarray(page) for page in VOLUME[3:6]]
    frames[0].save("a.png", save_all=True, append_images=frames[1:])
    refused("a.png", word="an animation")
    frames[0].save("a.png")
    check(VOLUME[3] > 0, "a.png")


def components_of_values(image):
    whole, n = np.zeros(image.shape, int), 0
    for value in np.unique(image[image != 0]):
        part, count = ndimage.label(image == value, np.ones((3, 3)))
        whole[part > 0] = part[part > 0] + n
        n += count
    old, first = np.unique(whole[whole > 0], return_index=True)
    new = np.zeros(n + 1, int)
    new[old[np.argsort(first)]] = np.arange(1, n + 1)
    return new[whole]


def voc_palette():
    """The colours of the classes of Pascal VOC: the bits of the index, from the greatest bit of each channel on."""
    palette = np.zeros((256, 3), np.uint8)
    for index in range(256):
        for bit in range(8):
            palette[index, bit % 3] |= (index >> bit & 1) << (7 - bit // 3)
    return palette


def palettes_are_values():
    """--values: a palette's indices are the values, of PNG and TIFF with 1 to 8 bits"""
    palette = voc_palette()
    grey = np.round(palette @ [0.299, 0.587, 0.114])
    assert grey[1] == grey[16] == 38
    classes = np.array([[1, 1, 16, 16], [0, 0, 16, 7]], np.uint8)
    image = Image.fromarray(classes, "P")
    image.putpalette(palette.tobytes())
    image.save("voc.png")
    tap.equal(run("voc.png", "--values").stdout, "3 components\n")
    for bits in 1, 2, 4, 8:
        index = np.kron(random.integers(0, 2**bits, (9, 11)), np.ones((2, 3))).astype(np.uint8)
        image = Image.fromarray(index, "P")
        image.putpalette((palette[::-1] if bits == 8 else palette)[:2**bits].tobytes())
        image.save("a.png", bits=bits)
        assert Image.open("a.png").mode == "P" and open("a.png", "rb").read()[24] == bits
        tap.equal(labels_of("a.png", "--values").tolist(), components_of_values(index).tolist())
        image.save("t.png", bits=bits, transparency=1)
        tap.equal(labels_of("t.png", "--values").tolist(), components_of_values(index).tolist())
        write_samples("a.tif", index[..., None], photometric=3, bits=bits if bits < 8 else None, palette=palette[:2**bits].astype(np.uint16) * 257)
        tap.equal(labels_of("a.tif", "--values").tolist(), components_of_values(index).tolist())


def colours_are_values():
    """--values: each colour is a value, of 8 and 16 bits; (0, 0, 1) is no background"""
    dark = np.zeros((2, 4, 3), np.uint8)
    dark[:, 0, 2], dark[:, 1, 2], dark[0, 3, 1] = 1, 2, 1
    Image.fromarray(dark).save("ids.png")
    tap.equal(labels_of("ids.png", "--values").tolist(), [[1, 2, 0, 3], [1, 2, 0, 0]])
    colours = np.kron(random.integers(0, 3, (8, 9, 3)), np.ones((2, 3, 1))).astype(np.uint8)
    packed = colours.astype(int) @ [65536, 256, 1]
    want = components_of_values(packed).tolist()
    Image.fromarray(colours).save("c.png")
    Image.fromarray(np.dstack([colours, random.integers(0, 256, packed.shape).astype(np.uint8)])).save("a.png")
    Image.fromarray(colours).save("c.ppm")
    for name in "c.png", "a.png", "c.ppm":
        tap.equal(labels_of(name, "--values").tolist(), want, name)
    for settings in {}, {"planes": True}, {"tile": 16}:
        write_samples("c.tif", colours.astype(np.uint16) * 20000, **settings)
        tap.equal(labels_of("c.tif", "--values").tolist(), want)
    write_samples("f.tif", colours.astype(np.float32))
    refused("f.tif", "--values", word="float32")
    Image.fromarray(colours * 100).save("c.jpg", quality=95, subsampling=0)
    decoded = np.asarray(Image.open("c.jpg")).astype(int) @ [65536, 256, 1]
    n = len(np.unique(components_of_values(decoded))) - 1
    assert abs(int(run("c.jpg", "--values").stdout.split()[0]) - n) <= n // 20  # decoders may differ in a last bit


def odd_bits():
    """TIFF of 10, 12, 14 and 24 bits, and floats of 16; 6 bits are refused"""
    for bits in 10, 12, 14:
        image = random.integers(0, 2**bits, (9, 37)).astype(np.uint32)
        rows = np.unpackbits(image.astype(">u4").view(np.uint8).reshape(9, 37, 4), axis=2)[..., 32 - bits:].reshape(9, -1)
        write_packed("a.tif", image.shape, bits, np.packbits(rows, axis=1).tobytes(), 1)
        check(image > 2**bits // 2, "a.tif", "--threshold", 2**bits // 2)
        write_packed("a.tif", image.shape, bits, np.packbits(rows, axis=1).tobytes(), 0)
        check(2**bits - 1 - image.astype(int) > 9, "a.tif", "--threshold", 9)
    image = random.integers(0, 2**24, (9, 37)).astype("<u4")
    write_packed("a.tif", image.shape, 24, image.view(np.uint8).reshape(-1, 4)[:, :3].tobytes(), 1)
    check(image > 2**23, "a.tif", "--threshold", 2**23)
    write_packed("a.tif", image.shape, 24, image.view(np.uint8).reshape(-1, 4)[:, 2::-1].tobytes(), 1, order=">")
    check(image > 2**23, "a.tif", "--threshold", 2**23)
    halves = np.array([[0, 6e-8, 1, -1, 65504, np.inf, np.nan, 0.5, 6.1e-5, -0.0]], np.float16)
    for limit in 0, 5e-8, 6.2e-5, 0.5, 1, 65503, 65504:
        tifffile.imwrite("h.tif", halves, photometric="minisblack")
        check(halves.astype(float) > limit, "h.tif", "--threshold", limit)
    write_packed("a.tif", (9, 4), 6, bytes(27), 1)
    refused("a.tif", word="6 bits")


def write_packed(path, shape, bits, content, photometric, order="<"):
    """A TIFF whose samples are packed without gaps in a row."""
    tags = [(256, shape[1]), (257, shape[0]), (258, bits), (259, 1), (262, photometric), (273, 8), (277, 1), (278, shape[0]),
            (279, len(content))]
    fields = b"".join(struct.pack(order + "HHII", tag, 4, 1, value) for tag, value in tags)
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8 + len(content))
    open(path, "wb").write(head + content + struct.pack(order + "H", len(tags)) + fields + bytes(4))


def orientation():
    """pictures are labelled as they are seen: TIFF's tag and the Exif data of JPEG and PNG"""
    image = np.kron(random.random((5, 7)) < 0.5, np.ones((16, 16))).astype(np.uint8) * 255
    volume = np.stack([image, image[:, ::-1], np.zeros_like(image)])
    for number in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = number
        for order in "<", ">":
            exif.endian = order
            for name in "a.jpg", "a.png":
                Image.fromarray(image).save(name, exif=exif.tobytes())
                seen = np.asarray(ImageOps.exif_transpose(Image.open(name)))
                check(seen > 127, name, "--threshold", 127, "--tile", 9)
        for settings in {}, {"tile": (16, 16), "compression": "zlib"}:
            tifffile.imwrite("a.tif", image, extratags=[(274, 3, 1, number, True)], **settings)
            check(seen > 127, "a.tif", "--threshold", 127)
        tifffile.imwrite("v.tif", volume, photometric="minisblack", extratags=[(274, 3, 1, number, False)])
        turned = [np.asarray(ImageOps.exif_transpose(with_orientation(page, number))) for page in volume]
        check(np.stack(turned) > 127, "v.tif", "--threshold", 127)
    colours = np.kron(random.integers(0, 2, (4, 3, 3)), np.ones((3, 3, 1))).astype(np.uint8) * 255
    exif[0x0112] = 6
    Image.fromarray(colours).save("c.png", exif=exif.tobytes())
    packed = np.rot90(colours, -1).astype(int) @ [65536, 256, 1]
    tap.equal(labels_of("c.png", "--values").tolist(), components_of_values(packed).tolist())
    lying = b"MM\0*" + struct.pack(">IH", 8, 65535) + bytes(10)
    for data in b"", b"II*", lying, b"II*\0\xff\xff\xff\xff", exif.tobytes()[:20]:
        Image.fromarray(image).save("l.jpg", exif=data)
        check(image > 127, "l.jpg", "--threshold", 127)


def intensities_in_arrays():
    """--intensity: the three channels of a NumPy file are those of a picture"""
    image = (random.random((20, 30)) < 0.4).astype(np.uint8)
    colours = random.integers(0, 256, (20, 30, 3)).astype(np.uint8)
    np.save("i.npy", image)
    Image.fromarray(colours).save("c.png")
    columns = ["--columns", "label,area,intensity_mean,intensity_max,centroid_weighted"]
    assert run("i.npy", "-t", "want.csv", *columns, "--intensity", "c.png").returncode == 0
    assert "intensity_mean-2" in open("want.csv").read()
    for array in colours, np.asfortranarray(colours), np.dstack([colours, colours[..., 0]]), colours.astype(">u2"):
        np.save("c.npy", array)
        for more in [], ["--tile", 3]:
            result = run("i.npy", "-t", "t.csv", *columns, "--intensity", "c.npy", *more)
            assert result.returncode == 0, result.stderr
            tap.equal(open("t.csv").read(), open("want.csv").read())
    np.save("c.npy", colours[1:])
    refused("i.npy", "-t", "t.csv", *columns, "--intensity", "c.npy", word="another size")


def with_orientation(page, number):
    file = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = number
    Image.fromarray(page).save(file, "png", exif=exif.tobytes())
    return Image.open(file)


shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would wait for each output
with tempfile.TemporaryDirectory(dir=shared) as folder:
    os.chdir(folder)
    status = tap.run(stacks_in_one_directory, axes, pages_and_directories, animations, palettes_are_values,
                     colours_are_values, odd_bits, orientation, intensities_in_arrays)
    os.chdir("/")
sys.exit(status)
