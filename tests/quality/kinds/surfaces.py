# SPDX-License-Identifier: LGPL-2.1-or-later
"""Surfaces of the place that move where they are. A part returns the canvas (BGR, 8 bits) at a time."""
import cv2
import numpy

import stills
from parts import part


def waver(scene, image, region, strength):
    """The canvas, whose pixels in `region` (top, bottom in parts of its height) are taken from a place beside them,
    which changes: strength(t) pixels at most."""
    height, width = image.shape[:2]
    top, bottom = int(region[0] * height), int(region[1] * height)
    y, x = numpy.mgrid[top:bottom, :width].astype(numpy.float32)
    phase = scene.rng.uniform(0, 6, 6)
    size = scene.height / 360
    waves = [(scene.rng.uniform(0.03, 0.12) / size, scene.rng.uniform(0.03, 0.2) / size, scene.rng.uniform(3, 9))
             for _ in range(3)]

    def move(source, t):
        pixels = strength(t)
        if pixels == 0:
            return source
        angle = [fx * x + fy * y + speed * t for fx, fy, speed in waves]
        shift = sum(numpy.sin(a + phase[i]) for i, a in enumerate(angle)) * (pixels / 2)
        out = source.copy()
        out[top:bottom] = cv2.remap(source, x + shift, y + shift[::-1] * 0.6, cv2.INTER_LINEAR,
                                    borderMode=cv2.BORDER_REFLECT)
        return out
    return move


@part
def leaves(scene, pixels, region=(0.0, 0.45)):
    """Leaves move all the time."""
    return waver(scene, scene.canvas, region, lambda _t: pixels * scene.height / 360)


@part
def gusts(scene, pixels, begin=20, region=(0.0, 0.5)):
    """A calm tree, then gusts of four seconds with pauses of two."""
    return waver(scene, scene.canvas, region,
                 lambda t: pixels * scene.height / 360 * max(0.0, numpy.sin(numpy.pi * ((t - begin) % 6) / 4))
                 if t >= begin and (t - begin) % 6 < 4 else 0)


@part
def water(scene, region=(0.4, 1.0)):
    """Waves of many levels, with glints."""
    height, width = scene.canvas.shape[:2]
    top, bottom = int(region[0] * height), int(region[1] * height)
    y, x = numpy.mgrid[top:bottom:2, :width:2].astype(numpy.float32) * (360 / scene.height)  # half the size: faster
    depth = 12 + (y - y[0]) * 0.12
    phase = scene.rng.uniform(0, 6, 4)

    def flow(source, t):
        wave = (numpy.sin(x / depth * 2 + numpy.float32(1.7 * t + phase[0]))
                + numpy.sin(y / depth * 7 - numpy.float32(3.1 * t - phase[1])
                            + 1.5 * numpy.sin(x / 40 + numpy.float32(t)))
                + numpy.sin((x + 2 * y) / depth * 1.3 + numpy.float32(4.3 * t + phase[2]))) / 3
        grey = (85 + 40 * wave + 70 * (wave > 0.72)).astype(numpy.float32)
        colours = cv2.merge([cv2.convertScaleAbs(grey, alpha=gain, beta=more)
                             for gain, more in ((1.05, 8), (1, 0), (0.85, 0))])
        out = source.copy()
        out[top:bottom] = cv2.resize(colours, (width, bottom - top), interpolation=cv2.INTER_LINEAR)
        return out
    return flow


@part
def fan(scene, at=(0.72, 0.3)):
    """A fan, or a screen: its place changes for ever."""
    size = scene.height // 6
    texture = cv2.resize(stills.texture(scene.rng, 160, 160), (size, size))
    left, top = int(at[0] * scene.canvas.shape[1]), int(at[1] * scene.canvas.shape[0])

    def turn(source, t):
        out = source.copy()
        matrix = cv2.getRotationMatrix2D((size / 2, size / 2), 200 * t, 1)
        out[top:top + size, left:left + size] = cv2.warpAffine(texture, matrix, (size, size),
                                                               borderMode=cv2.BORDER_REFLECT)
        return out
    return turn


@part
def other_scene(scene, at=14):
    """Another picture instead of this one."""
    others = [name for name in stills.BACKGROUNDS if name != scene.background]
    height, width = scene.canvas.shape[:2]
    other = stills.fill(others[scene.rng.integers(len(others))], width, height)
    return lambda source, t: source if t < at else other
