# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes of the light and of the exposure. A part returns the picture (BGR, 8 bits) at a time."""
import cv2
import numpy

from parts import part


def times(image, gain):
    """The picture with each pixel times a gain: one number or one a pixel."""
    if numpy.ndim(gain) == 0:
        return cv2.convertScaleAbs(image, alpha=float(gain))
    gain = numpy.broadcast_to(gain, image.shape[:2]).astype(numpy.float32)
    return cv2.multiply(image, cv2.merge([gain] * 3), dtype=cv2.CV_8U)


def grid(scene):
    """Columns and rows in parts of the height."""
    y, x = numpy.mgrid[:scene.height, :scene.width].astype(numpy.float32) / scene.height
    return x, y


@part
def banding(scene, depth, begin=8, speed=0.37, waves=2.2):
    """Lamps on the mains under a rolling shutter."""
    rows = numpy.arange(scene.height, dtype=numpy.float32)[:, None] / scene.height

    def light(image, t):
        return image if t < begin else times(image, 1 + depth * numpy.sin(2 * numpy.pi * (t * speed + rows * waves)))
    return light


@part
def hunting(_scene, depth, begin=10, end=28, period=2.6):
    """The automatic exposure overshoots again and again."""
    def light(image, t):
        return times(image, 1 + depth * numpy.sin(2 * numpy.pi * (t - begin) / period)) if begin <= t < end else image
    return light


@part
def lamp(scene, gain, begin=10, end=22):
    """A lamp is switched on and off; it lights one side more than the other."""
    x, y = grid(scene)
    field = 1 + (gain - 1) * numpy.exp(-((x - 0.5) ** 2 + (y - 0.1) ** 2) / 0.9)
    return lambda image, t: times(image, field) if begin <= t < end else image


@part
def clouds(scene, depth, softness, begin=8, speed=0.18):
    """Shadows of clouds cross the picture; `softness` is the width of their edges in parts of the height."""
    x, y = grid(scene)
    tilt, width = scene.rng.uniform(-0.5, 0.5), scene.rng.uniform(0.7, 1.3)

    def light(image, t):
        if t < begin:
            return image
        place = (x + tilt * y - (t - begin) * speed + 0.5) % (2 * width + 1.2)
        edge = numpy.minimum(place, width - place) / softness
        return times(image, 1 - depth * numpy.clip(edge + 0.5, 0, 1))
    return light


@part
def infrared(_scene, settle, begin=12):
    """The camera goes over to infrared light, in grey, and its exposure settles."""
    mix = numpy.array([[0.1, 0.25, 0.9]] * 3, numpy.float32)

    def light(image, t):
        if t < begin:
            return image
        grey = cv2.transform(image, mix)
        return times(grey, 1 + 0.9 * numpy.exp(-3 * (t - begin) / settle) if settle else 1.0)
    return light


@part
def ramp(_scene, seconds):
    """The exposure is dark when the stream begins."""
    return lambda image, t: times(image, 1 - 0.85 * numpy.exp(-3 * t / seconds))


@part
def night(_scene, level, contrast=0.06):
    """A picture of few levels around `level`."""
    return lambda image, _t: cv2.convertScaleAbs(image, alpha=contrast, beta=level - 110 * contrast)


@part
def headlights(scene, gain, every=7.0, begin=8):
    """The light of cars outside the picture runs over the ground."""
    x, y = grid(scene)

    def light(image, t):
        since = (t - begin) % every
        if t < begin or since > 2.5:
            return image
        spot = numpy.exp(-((x - 2.2 * since / 2.5 + 0.2) / 0.45) ** 2 - ((y - 0.7) / 0.25) ** 2)
        return times(image, 1 + gain * spot)
    return light


@part
def lightning(scene, gain, every=5.0, begin=8):
    """Flashes of one or two frames."""
    def light(image, t):
        return times(image, gain) if t >= begin and (t - begin) % every < 1.5 / scene.rate else image
    return light
