# SPDX-License-Identifier: LGPL-2.1-or-later
"""The inputs: images and volumes from files, and generated ones. A run first collects sources, the names of inputs, and
then loads one at a time."""
import ctypes
import dataclasses
import itertools
import math
import operator
import os
import re
import typing

from library import Input, Random, lib

SPECIFICATIONS = """Inputs:
  FILE                     a PNG, a PBM or a PGM; non-zero pixels are foreground
  FOLDER                   all images in it, or those that its files.txt lists, one a line
                           (the layout of the YACCLAB data sets); a folder of folders holds
                           volumes, one image a slice
  volume:FOLDER            the images in it are the slices of one volume
  PATH@WxH                 the same, scaled to W×H without smoothing
  noise:WxH[xD][:g=LIST][:d=LIST][:seed=LIST]
                           random blocks (MT19937); granularity g 1-16, density d 0-100 %
  hilbert[:order=LIST]     3D Hilbert curves 1-6 in 128×128×128
  text:WxH[:n=LIST]        drawn pages of text
  blobs:WxH[:n=LIST]       foreground masks of walking people
  full:WxH, empty:WxH      one value everywhere
  LIST is 5, 1,4,16, 1-6 or 0-100+10 (from, to, step).
"""
LONGEST_LIST = 100000
MOST_PIXELS = 2**31 - 1
NO_IMAGES = "the folder holds no PNG, PBM or PGM image"

# The numbers that specify a generated input: the smallest, the largest, the list if none is given (the papers'
# values where they have any), and the error message.
KEYS = {
    "seed": (0, 2**32 - 2, "5489", "seed is a list of numbers"),
    "g": (1, 16, "1-16", "granularity is a list of numbers from 1 to 16"),
    "d": (0, 100, "0-100", "density is a list of numbers from 0 to 100"),
    "order": (1, 6, "1-6", "order is a list of numbers from 1 to 6"),
    "n": (0, 99999, "0", "n is a list of numbers from 0 to 99999"),
}


class SpecificationError(Exception):
    """An input's specification is not understood, or out of range."""


class DamagedError(Exception):
    """A file is missing, damaged or of another kind."""


@dataclasses.dataclass
class Source:
    """One input that can be loaded."""
    set: str  # its data set: a folder, or a generator with its size
    name: str  # inside the set; empty if the set has no other input
    load: typing.Callable[[], Input]  # raises DamagedError
    values: dict = dataclasses.field(default_factory=dict)  # of the keys, if generated

    @property
    def title(self):
        return f"{self.set} {self.name}".strip()


# Generators: each draws into a background input.

def draw_noise(image, values):
    lib.draw_noise(ctypes.byref(image), values["g"], values["d"], values["seed"])


def draw_hilbert(image, values):
    lib.draw_hilbert(ctypes.byref(image), values["order"])


def fill(image, left, top, width, height):
    """Fills the part of a rectangle that lies in the image."""
    left, top = max(0, left), max(0, top)
    width = max(0, min(width, image.width - left))
    for y in range(top, min(top + height, image.height)):
        image.data[y * image.width + left:y * image.width + left + width] = b"\xff" * width


# Letters of 5×7 dots, a row after the other.
LETTERS = (
    " ### #   ##   #######   ##   ##   #",  # A
    "#### #   ##   ##### #   ##   ##### ",  # B
    " ### #   ##    #    #    #   # ### ",  # C
    "#### #   ##   ##   ##   ##   ##### ",  # D
    "######    #    #### #    #    #####",  # E
    "  #        ##    #    #    #   ### ",  # i
    "  ###   #    #    #    # #  #  ##  ",  # J
    "#   ##  # # #  ##   # #  #  # #   #",  # K
    "#   ### ### # ##   ##   ##   ##   #",  # M
    "#   ###  ## # ##  ###   ##   ##   #",  # N
    " ### #   ##   ##   ##   ##   # ### ",  # O
    "#### #   ##   ##### #    #    #    ",  # P
    " ### #   ##     ###     ##   # ### ",  # S
    "#####  #    #    #    #    #    #  ",  # T
    "#   ##   ##   ##   ##   ##   # ### ",  # U
    "#   ##   # # #   #   # # #   ##   #",  # X
)


def draw_text(image, values):
    """A page of words in paragraphs. The letters do not touch, so a page has thousands of small components, as scanned
    print has, and one large component, a ruled frame."""
    random = Random(values["seed"] + values["n"] & 0xffffffff)
    width, height = image.width, image.height
    dot = max(1, width // 620)  # about 100 letters per line
    margin, letter, line = 20 * dot, 6 * dot, 12 * dot

    for top in (margin // 2, height - margin // 2):
        fill(image, margin // 2, top, width - margin, dot)
    fill(image, margin // 2, margin // 2, dot, height - margin)
    fill(image, width - margin // 2, margin // 2, dot, max(0, height - margin) + dot)
    for y in range(margin, height - line - margin + 1, line):
        if random.integer(0, 8) == 0:
            continue  # a blank line between paragraphs
        x = margin
        while x + letter + margin <= width:
            for _ in range(min(random.integer(2, 10), (width - margin - x) // letter)):
                for i, pixel in enumerate(LETTERS[random.integer(0, len(LETTERS))]):
                    if pixel == "#":
                        fill(image, x + i % 5 * dot, y + i // 5 * dot, dot, dot)
                x += letter
            x += letter


def draw_ellipse(image, x, y, radius_x, radius_y):
    for row in range(max(0, int(y - radius_y)), min(image.height, int(y + radius_y) + 1)):
        for column in range(max(0, int(x - radius_x)), min(image.width, int(x + radius_x) + 1)):
            across, down = (column - x) / radius_x, (row - y) / radius_y
            if across * across + down * down <= 1:
                image.data[row * image.width + column] = 255


def draw_blobs(image, values):
    """A foreground mask of people who walk through a scene: 24 upright figures at different speeds, and specks as
    background subtraction gives. About 2 % of the pixels are foreground."""
    random = Random(values["seed"])
    for _ in range(24):
        size = image.height * random.real(0.03, 0.06)
        speed, start = image.width * random.real(-0.004, 0.004), random.real(0, image.width)
        y = random.real(0, image.height)
        x = math.fmod(start + speed * values["n"], image.width)
        x += image.width * (x < 0)
        draw_ellipse(image, x, y, max(1, 0.4 * size), max(1, size))
        draw_ellipse(image, x, y - 1.4 * size, max(1, 0.25 * size), max(1, 0.3 * size))
    random = Random(values["seed"] + 1 + values["n"] & 0xffffffff)  # the specks differ from frame to frame
    for _ in range(image.n_pixels // 4000):
        image.data[int(random.real(0, 1) * image.n_pixels)] = 255


def draw_full(image, values):
    fill(image, 0, 0, image.width, image.height)


GENERATORS = {
    "noise": (draw_noise, ("seed", "g", "d")),
    "hilbert": (draw_hilbert, ("order",)),
    "text": (draw_text, ("seed", "n")),
    "blobs": (draw_blobs, ("seed", "n")),
    "full": (draw_full, ()),
    "empty": (lambda image, values: None, ()),
}


def parse_list(text, key):
    """5 or 1,4,16 or 1-6 or 0-100+10, or several of these with commas."""
    least, most, _, message = KEYS[key]
    numbers = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+)(?:\+(\d+))?)?", part, re.ASCII)
        if not match:
            raise SpecificationError(message)
        first, step = int(match[1]), int(match[3] or 1)
        last = int(match[2] or first)
        if not least <= first <= last <= most or step < 1 or (last - first) // step >= LONGEST_LIST:
            raise SpecificationError(message)
        numbers += range(first, last + 1, step)
    return numbers


def parse_size(text):
    """Width, height and depth of 8x8 or 8x8x8; None if that is not understood or too large."""
    match = re.fullmatch(r"(\d+)x(\d+)(?:x(\d+))?", text, re.ASCII)
    size = tuple(int(side or 1) for side in match.groups()) if match else (0, 0, 0)
    return size if 0 < size[0] * size[1] * size[2] <= MOST_PIXELS else None


def name_of(values):
    """The name of a generated input inside its set."""
    if "order" in values:
        return f"order {values['order']}"
    if "g" in values:
        seed = "" if str(values["seed"]) == KEYS["seed"][2] else f" seed={values['seed']}"
        return f"g={values['g']} d={values['d']}{seed}"
    return str(values.get("n", ""))


def generated(kind, parts):
    """The sources of all combinations of the lists' numbers; the last key varies fastest."""
    draw, keys = GENERATORS[kind]
    size = (128, 128, 128)
    if kind != "hilbert":
        size, parts = parse_size(parts[0] if parts else ""), parts[1:]
        if not size:
            raise SpecificationError("a size such as 1920x1080 is needed after the colon")
        if size[2] > 1 and kind != "noise":
            raise SpecificationError("only noise and hilbert offer volumes")
    lists = {key: KEYS[key][2] for key in keys}
    for part in parts:
        key, equals, text = part.partition("=")
        if key not in lists or not equals:
            raise SpecificationError(f'"{part}" is not understood')
        lists[key] = text

    def load(values):
        image = Input(*size)
        draw(image, values)
        return image

    name = f"{kind} {size[0]}x{size[1]}" + (f"x{size[2]}" if size[2] > 1 else "")
    for numbers in itertools.product(*(parse_list(text, key) for key, text in lists.items())):
        values = dict(zip(keys, numbers))
        yield Source(name, name_of(values), lambda values=values: load(values), values)


# Files

def is_image_name(name):
    return re.search(r"\.(png|p[bgn]m)$", name, re.IGNORECASE) is not None


def list_folder(folder, want_folders=False):
    """The images or the folders in a folder, sorted; if it has a files.txt, the names in that file, in its order."""
    listed = os.path.join(folder, "files.txt")
    if os.path.isfile(listed):
        with open(listed, encoding="utf-8", errors="surrogateescape") as lines:
            return [line.strip() for line in lines if line.strip() and want_folders != is_image_name(line.strip())]
    return sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)) == want_folders and
                  (want_folders or is_image_name(name)))


def read_png(data):
    image, reason = Input(1, 1), ctypes.create_string_buffer(64)
    image.pixels = None  # asks for the size
    if lib.read_png(data, len(data), ctypes.byref(image), reason):
        if image.n_pixels > MOST_PIXELS:
            raise DamagedError("more pixels than can be labelled")
        image = Input(image.width, image.height)
        if lib.read_png(data, len(data), ctypes.byref(image), reason):
            return image.width, image.height, bytes(image.data)
    raise DamagedError(f"damaged PNG: {reason.value.decode(errors='replace')}")


def read_pnm(data):
    """The four formats: P1 and P4 have bits, 1 for drawn pixels, P2 and P5 have bytes; P1 and P2 are text."""
    kind, has_bits = data[1:2], data[1:2] in b"14"
    header = re.match(rb"P\d" + rb"(?:\s|#[^\n]*\n)+(\d{1,9})" * (2 if has_bits else 3), data)
    width, height, *maximum = map(int, header.groups()) if header else (0, 0)
    maximum = maximum[0] if maximum else 1
    if not 0 < width * height <= MOST_PIXELS or not 0 < maximum < 256:
        raise DamagedError("damaged PNM header, or more than 8 bits per pixel")
    text, raw = data[header.end():], data[header.end() + 1:]  # one white-space character separates header and raw pixels
    if kind == b"1":  # digits need no space between them
        pixels = [digit - ord("0") for digit in re.sub(rb"\s", b"", re.match(rb"[01\s]*", text)[0])]
    elif kind == b"2":
        pixels = list(map(int, re.match(rb"(?:\s+\d+)*", re.sub(rb"#[^\n]*", b"", text))[0].split()))
    elif kind == b"4":
        size = (width + 7) // 8  # of a row
        rows = [raw[start:start + size] for start in range(0, min(len(raw), size * height), size)]
        pixels = [digit - ord("0") for row in rows for digit in f"{int.from_bytes(row, 'big'):0{8 * len(row)}b}".encode()[:width]]
    else:
        pixels = raw
    pixels = pixels[:width * height]
    if len(pixels) < width * height or max(pixels) > maximum:
        raise DamagedError("damaged PNM: pixels are missing")
    return width, height, bytes(pixels)


def read_image(path):
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            width, height, pixels = read_png(data)
        elif re.match(rb"P[1245]", data):
            width, height, pixels = read_pnm(data)
        else:
            raise DamagedError("neither a PNG nor a PBM or PGM image")
    except (DamagedError, OSError) as error:
        raise DamagedError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    # All foreground pixels get the same value, so that every implementation reads the same bytes.
    return Input(width, height, 1, pixels.translate(b"\0" + b"\xff" * 255))


def scale(image, width, height):
    """Nearest neighbour, so that a mask stays binary."""
    pick = operator.itemgetter(*(x * image.width // width for x in range(width)), 0)  # two and more give a tuple
    rows = {y: bytes(pick(image.data[y * image.width:(y + 1) * image.width])[:width])
            for y in {y * image.height // height for y in range(height)}}
    return Input(width, height, 1, b"".join(rows[y * image.height // height] for y in range(height)))


def read_slices(folder):
    """The images in a folder as one volume."""
    names = list_folder(folder)
    if not names:
        raise DamagedError(f'input "{folder}": {NO_IMAGES}')
    slices = []
    for name in names:
        slices.append(read_image(os.path.join(folder, name)))
        if slices[0].n_pixels * len(names) > MOST_PIXELS:
            raise DamagedError(f'input "{folder}": the volume has more voxels than can be labelled')
        sizes = [f"{each.width}×{each.height}" for each in (slices[-1], slices[0])]
        if sizes[0] != sizes[1]:
            raise DamagedError(f"{folder}/{name}: a slice of {sizes[0]} pixels in a volume of {sizes[1]}")
    return Input(slices[0].width, slices[0].height, len(slices), b"".join(each.data for each in slices))


def of_path(path, folder, size=None):
    """The source of an image, scaled if there is a size, or of a folder of slices."""
    def load():
        if os.path.isdir(path):
            return read_slices(path)
        image = read_image(path)
        return scale(image, *size[:2]) if size else image

    suffix = f"@{size[0]}x{size[1]}" if size else ""
    return Source(os.path.basename(os.path.abspath(folder)) + suffix, os.path.basename(os.path.abspath(path)), load)


def of_files(specification):
    path, size = specification, None
    if not os.path.exists(path) and "@" in path:
        path, _, text = path.rpartition("@")
        size = parse_size(text)
        if not size or size[2] != 1:
            raise SpecificationError("a size such as 1280x720 is needed after @")
    if not os.path.exists(path):
        raise SpecificationError("no such file or folder, and no generator of that name")
    if not os.path.isdir(path):
        return [of_path(path, os.path.dirname(path) or ".", size)]
    names = list_folder(path) or list_folder(path, want_folders=True)
    if not names:
        raise SpecificationError(NO_IMAGES)
    return [of_path(os.path.join(path, name), path, size) for name in names]


def collect(specification):
    """The sources that a specification names; raises SpecificationError if there are none."""
    kind, *parts = specification.split(":")
    try:
        if kind in GENERATORS:
            return list(generated(kind, parts))
        if kind == "volume" and parts:
            folder = specification.partition(":")[2]
            if not os.path.isdir(folder):
                raise SpecificationError("no such folder")
            return [of_path(folder, folder)]
        return of_files(specification)
    except (SpecificationError, OSError) as error:
        raise SpecificationError(f'input "{specification}": {error}') from None
