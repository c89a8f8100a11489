# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways in which a camera moves. A part returns (shift right, shift down, zoom) at a time: pixels of the view."""
import numpy

from parts import part


@part
def knock(scene, pixels, at=12):
    """Somebody knocks against the camera once."""
    angle = scene.rng.uniform(0, 2 * numpy.pi)
    shift = (round(pixels * numpy.cos(angle)), round(pixels * numpy.sin(angle)), 1.0)
    return lambda t: shift if t >= at else (0, 0, 1.0)


@part
def pan(scene, speed, begin=12, end=20):
    """The view moves to the right by `speed` of its widths in a second."""
    return lambda t: (speed * scene.width * (numpy.clip(t, begin, end) - begin), 0, 1.0)


@part
def zoom(_scene, rate, begin=12, end=20):
    """The picture grows by the factor 1 + `rate` in a second."""
    return lambda t: (0, 0, (1 + rate) ** (numpy.clip(t, begin, end) - begin))


@part
def presets(scene, every=12.0, travel=0.8):
    """The camera goes round three places."""
    places = numpy.array([(0, 0), (0.45, 0.1), (-0.4, -0.15)]) * (scene.width, scene.height)

    def shift(t):
        stop, since = int(t // every), t % every
        here = places[stop % 3]
        if stop > 0 and since < travel:
            here = places[(stop - 1) % 3] + (here - places[(stop - 1) % 3]) * since / travel
        return (*here, 1.0)
    return shift


@part
def shake(scene, pixels, begin=0):
    """A mast sways."""
    phase = scene.rng.uniform(0, 6, 4)

    def shift(t):
        if t < begin:
            return (0, 0, 1.0)
        return (pixels * 0.7 * (numpy.sin(7.1 * t + phase[0]) + 0.5 * numpy.sin(16.3 * t + phase[1])),
                pixels * 0.7 * (numpy.sin(5.3 * t + phase[2]) + 0.5 * numpy.sin(13.7 * t + phase[3])), 1.0)
    return shift
