# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws a clip of a kind: frames as a camera would send them, before they are encoded, with their truth.

A frame is composed in this order; each step is a list of parts (parts.py), which may be empty:

    still → surfaces → things → camera → light → weather → things of few levels → noise → overlay

Surfaces and things are drawn on a canvas that is larger than the view, so that the camera can move.
"""
import zlib

import cv2
import numpy

import camera  # noqa: F401 (these modules register parts)
import light  # noqa: F401
import overlay  # noqa: F401
import stills
import surfaces  # noqa: F401
import things  # noqa: F401
import weather  # noqa: F401
from parts import build


class Scene:
    """One clip of a kind. Iterating gives (I420 frame, boxes of the things, mask of the things)."""

    def __init__(self, kind, seed, is_busy):
        cv2.setNumThreads(1)
        key = [zlib.crc32(kind.name.encode()), seed]
        cv2.setRNGSeed(key[0] % 2 ** 31 + seed)
        self.rng, self.thing_rng = numpy.random.default_rng(key), numpy.random.default_rng(key + [1])
        self.width, self.height = kind.size
        self.rate, self.n_frames = kind.rate, round(kind.seconds * kind.rate)
        self.margin = round(kind.margin * self.width), round(kind.margin * self.height)
        self.background = kind.background or stills.BACKGROUNDS[(key[0] + seed) % len(stills.BACKGROUNDS)]
        self.canvas = stills.fill(self.background, self.width + 2 * self.margin[0], self.height + 2 * self.margin[1])
        self.surfaces = [build(self, row) for row in kind.surfaces]
        self.camera = [build(self, row) for row in kind.camera]
        self.light = [build(self, row) for row in kind.light]
        self.weather = [build(self, row) for row in kind.weather]
        self.overlay = [build(self, row) for row in kind.overlay]
        self.things = [build(self, row) for row in kind.always + (kind.events if is_busy else ())]
        self.noise = self._noise_tiles(kind.noise)

    def surface(self, t):
        image = self.canvas
        for surface in self.surfaces:
            image = surface(image, t)
        return image

    def __iter__(self):
        for number in range(self.n_frames):
            yield self._frame(number / self.rate)

    def _frame(self, t):
        image = self.surface(t)
        mask = numpy.zeros(image.shape[:2], numpy.uint8)
        boxes, matrix = [], self._view(t)
        places = [(thing, thing.foot(t)) for thing in self.things]
        painted = [(i, thing, foot) for i, (thing, foot) in enumerate(places) if foot and not thing.added]
        if painted:
            image = image.copy()
        for i, thing, foot in painted:
            box = paste(image, mask, thing.sprite(t), foot[0] + self.margin[0], foot[1] + self.margin[1])
            boxes.append((i, *transform_box(matrix, box)))
        image, mask = self._look(image, matrix), self._look(mask, matrix, cv2.INTER_NEAREST)
        for step in self.light + self.weather:
            image = step(image, t)
        for i, (thing, foot) in enumerate(places):
            if foot and thing.added:
                boxes.append((i, *add_levels(image, mask, thing.sprite(t)[..., 3], thing.added, *foot)))
        boxes = [clipped for box in boxes if (clipped := self._clip(box))]
        return self._encode(image, t), boxes, mask > 0

    def _view(self, t):
        """The matrix that takes the canvas to the view."""
        right = down = 0
        zoom = 1.0
        for move in self.camera:
            shift = move(t)
            right, down, zoom = right + shift[0], down + shift[1], zoom * shift[2]
        middle = self.margin[0] + self.width / 2 + right, self.margin[1] + self.height / 2 + down
        return numpy.array([[zoom, 0, self.width / 2 - zoom * middle[0]],
                            [0, zoom, self.height / 2 - zoom * middle[1]]])

    def _look(self, image, matrix, interpolation=cv2.INTER_LINEAR):
        left, top = -matrix[0, 2], -matrix[1, 2]
        is_whole = matrix[0, 0] == 1 and left == round(left) and top == round(top)
        if is_whole and 0 <= left <= image.shape[1] - self.width and 0 <= top <= image.shape[0] - self.height:
            return image[int(top):int(top) + self.height, int(left):int(left) + self.width].copy()
        return cv2.warpAffine(image, matrix, (self.width, self.height), flags=interpolation,
                              borderMode=cv2.BORDER_REFLECT)

    def _clip(self, box):
        i, x, y, width, height = box
        left, top = max(0, x), max(0, y)
        right, bottom = min(self.width, x + width), min(self.height, y + height)
        return (i, left, top, right - left, bottom - top) if right - left > 1 and bottom - top > 1 else None

    def _noise_tiles(self, deviation):
        """Noise of the luma, and of the chroma with a third of it, in tiles that are shifted from frame to frame."""
        shape = self.height + 64, self.width + 64
        return [cv2.randn(numpy.empty(shape, numpy.int16), 0, sd) if sd else None
                for sd in (deviation, deviation / 3)]

    def _noisy(self, plane, tile):
        if tile is None:
            return plane
        height, width = plane.shape
        top, left = (self.rng.integers(tile.shape[i] - plane.shape[i] + 1) for i in (0, 1))
        return cv2.add(plane, tile[top:top + height, left:left + width], dtype=cv2.CV_8U)

    def _encode(self, image, t):
        frame = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420)
        luma = self._noisy(frame[:self.height], self.noise[0])
        half = self.height // 2, self.width // 2
        chroma = [self._noisy(numpy.ascontiguousarray(plane), self.noise[1])
                  for plane in frame[self.height:].reshape(2, *half)]
        for draw in self.overlay:
            draw(luma, chroma, t)
        return b"".join(plane.tobytes() for plane in (luma, *chroma))


def paste(image, mask, sprite, x, y):
    """Puts the sprite on the picture, the middle of its lower edge at x, y; returns its box."""
    height, width = sprite.shape[:2]
    left, top = round(x - width / 2), round(y - height)
    box = (left, top, width, height)
    a, b = max(0, -left), max(0, -top)
    c, d = min(width, image.shape[1] - left), min(height, image.shape[0] - top)
    if c > a and d > b:
        sprite = sprite[b:d, a:c]
        place = (slice(top + b, top + d), slice(left + a, left + c))
        alpha = sprite[..., 3:].astype(numpy.uint16)
        image[place] = ((image[place] * (255 - alpha) + sprite[..., :3] * alpha) // 255).astype(numpy.uint8)
        mask[place] |= numpy.where(alpha[..., 0] > 127, 255, 0).astype(numpy.uint8)
    return box


def add_levels(image, mask, alpha, levels, x, y):
    layer = numpy.zeros((*image.shape[:2], 3), numpy.uint8)
    box = paste(layer, mask, numpy.dstack([numpy.full((*alpha.shape, 3), abs(levels), numpy.uint8), alpha]), x, y)
    (cv2.add if levels > 0 else cv2.subtract)(image, layer, image)
    return box


def transform_box(matrix, box):
    x, y, width, height = box
    zoom = matrix[0, 0]
    return (zoom * x + matrix[0, 2], zoom * y + matrix[1, 2], zoom * width, zoom * height)
