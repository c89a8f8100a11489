# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real pictures, of Debian's package opencv-doc, as backgrounds and as textures."""
import functools
import pathlib

import cv2
import numpy

FOLDER = pathlib.Path("/usr/share/doc/opencv-doc/examples/data")
BACKGROUNDS = ("home.jpg", "vtest.avi", "building.jpg", "leuvenA.jpg", "graf1.png", "aero1.jpg")
TEXTURES = ("baboon.jpg", "fruits.jpg", "graf3.png", "stuff.jpg", "board.jpg")


@functools.lru_cache(maxsize=4)
def read(name):
    video = cv2.VideoCapture(str(FOLDER / name)) if name.endswith(".avi") else None
    image = video.read()[1] if video else cv2.imread(str(FOLDER / name))
    if image is None:
        raise FileNotFoundError(f"{FOLDER / name}: install opencv-doc")
    return image


def fill(name, width, height):
    """The picture scaled until it covers the size, and cut from its middle."""
    image = read(name)
    scale = max(width / image.shape[1], height / image.shape[0])
    size = (max(width, round(image.shape[1] * scale)), max(height, round(image.shape[0] * scale)))
    image = cv2.resize(image, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    return numpy.ascontiguousarray(image[top:top + height, left:left + width])


def texture(rng, width, height):
    """A random cut of a random picture."""
    image = read(TEXTURES[rng.integers(len(TEXTURES))])
    width, height = min(width, image.shape[1]), min(height, image.shape[0])
    left, top = rng.integers(image.shape[1] - width + 1), rng.integers(image.shape[0] - height + 1)
    return image[top:top + height, left:left + width]
