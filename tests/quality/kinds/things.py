# SPDX-License-Identifier: LGPL-2.1-or-later
"""Things that move through a scene. A part returns a Thing."""
import dataclasses
import typing

import cv2
import numpy

import stills
from parts import part


@dataclasses.dataclass
class Thing:
    sprite: typing.Callable  # the picture (BGR and opacity, 8 bits) at a time
    foot: typing.Callable  # the place of the middle of its lower edge, pixels of the view, at a time; None: not there
    added: float = 0  # not 0: it is no picture, but this number of grey levels above what is behind it
    stops: float | None = None  # from this time on it does not move


def covered_with(rng, alpha, canvas=None):
    """A sprite of the given opacity with a random texture: of a random picture, or of a part of the canvas."""
    height, width = alpha.shape
    if canvas is None:
        texture = stills.texture(rng, max(40, width), max(80, height))
    else:
        left = rng.integers(canvas.shape[1] - width)
        texture = canvas[-height:, left:left + width]
    return numpy.dstack([cv2.resize(texture, (width, height), interpolation=cv2.INTER_AREA), alpha])


def person_opacity(height, gait):
    """The shape of a person of this height at a phase of the gait, −1 to 1."""
    big, width = 240, 120  # drawn large, then reduced: soft edges
    shape = numpy.zeros((big, width), numpy.uint8)
    cv2.circle(shape, (60, 20), 17, 255, -1)
    cv2.ellipse(shape, (60, 85), (29, 52), 0, 0, 360, 255, -1)
    for side in (-1, 1):
        cv2.line(shape, (60 + 9 * side, 120), (int(60 + 28 * side * gait), 234), 255, 22)
        cv2.line(shape, (60 + 18 * side, 55), (int(60 + 20 * side - 26 * side * gait), 118), 255, 12)
    return cv2.resize(shape, (round(height / 2), round(height)), interpolation=cv2.INTER_AREA)


def person_sprite(rng, height, canvas=None, steps_a_second=1.8):
    phases = [person_opacity(height, gait) for gait in numpy.sin(numpy.arange(8) * numpy.pi / 4)]
    clothes = covered_with(rng, phases[0], canvas)[..., :3].copy()
    middle = round(height * 0.5)
    for part_of_body in (clothes[:middle], clothes[middle:]):  # trousers are of another colour
        plain = numpy.full_like(part_of_body, rng.integers(15, 235, 3) if canvas is None else part_of_body.mean((0, 1)))
        part_of_body[:] = cv2.addWeighted(part_of_body, 0.5, plain, 0.5, 0)
    pictures = [numpy.dstack([clothes, phase]) for phase in phases]
    still = numpy.dstack([clothes, phases[0]])
    return lambda t, walks=True: pictures[int(t * steps_a_second * 8) % 8] if walks else still


def way(scene, begin, seconds, row, width, stop=None, stay=0.0):
    """The foot of a thing that crosses the view in so many seconds, and may stop at `stop` of its way for `stay`."""
    leftward = scene.thing_rng.uniform() < 0.5
    row = row * scene.height

    def foot(t):
        passed = (t - begin) / seconds
        if stop is not None and passed > stop:
            passed = max(stop, passed - stay / seconds)
        if not 0 <= passed <= 1:
            return None
        place = -width / 2 + passed * (scene.width + width)
        return (scene.width - place if leftward else place), row
    return foot


@part
def person(scene, begin, seconds, size=0.27, row=0.8, stop=None, stay=0.0, added=0, alike=False):
    """A person walks through; `alike`: clothes of the colours of the canvas."""
    height = size * scene.height
    sprite = person_sprite(scene.thing_rng, height, scene.surface(begin) if alike else None)
    foot = way(scene, begin, seconds, row, height / 2, stop, stay)
    stops = begin + stop * seconds if stop is not None else None

    def picture(t):
        return sprite(t, stops is None or not stops <= t < stops + stay)
    return Thing(picture, foot, added, stops)


@part
def sitter(scene, begin, seconds, at=0.5, size=0.27, row=0.8):
    """A person walks in, stays to the end and moves a little all the time."""
    walker = person(scene, begin, seconds, size, row, at, 1e6)
    arrives = begin + at * seconds
    sway = 0.012 * scene.height

    def foot(t):
        place = walker.foot(t)
        return place if place is None or t < arrives else (place[0] + sway * numpy.sin(0.8 * t), place[1])
    return Thing(walker.sprite, foot, 0, None)


@part
def car(scene, begin, seconds, size=0.2, row=0.85, stop=None, stay=0.0):
    """A car drives through; with `stop` it parks there."""
    height = max(8, round(size * scene.height))
    width = round(2.3 * height)
    shape = numpy.zeros((200, 460), numpy.uint8)
    outline = ((5, 160), (10, 95), (110, 80), (160, 15), (330, 15), (385, 85), (452, 100), (455, 160))
    cv2.fillPoly(shape, [numpy.array(outline)], 255)
    for x in (100, 360):
        cv2.circle(shape, (x, 160), 38, 255, -1)
    picture = covered_with(scene.thing_rng, cv2.resize(shape, (width, height), interpolation=cv2.INTER_AREA))
    body = numpy.full_like(picture[..., :3], scene.thing_rng.integers(10, 245, 3))
    picture[..., :3] = cv2.addWeighted(picture[..., :3], 0.25, body, 0.75, 0)
    picture[height // 8:height // 2, width * 3 // 8:width * 11 // 16, :3] = 40
    return Thing(lambda _t: picture, way(scene, begin, seconds, row, width, stop, stay),
                 stops=None if stop is None else begin + stop * seconds)


@part
def bag(scene, begin, end=1e9, size=0.1, at=0.5, row=0.8):
    """A bag stands there from `begin` to `end`."""
    height = round(size * scene.height)
    picture = covered_with(scene.thing_rng, numpy.full((height, round(1.3 * height)), 255, numpy.uint8))
    foot = (at * scene.width, row * scene.height)
    return Thing(lambda _t: picture, lambda t: foot if begin <= t < end else None, stops=begin)


@part
def boat(scene, begin, seconds, size=0.12, row=0.75):
    """A boat of the colours of the water, with a person in it."""
    height = round(size * scene.height)
    shape = numpy.zeros((100, 400), numpy.uint8)
    cv2.fillPoly(shape, [numpy.array([(2, 50), (398, 50), (350, 98), (50, 98)])], 255)
    cv2.ellipse(shape, (200, 35), (22, 33), 0, 0, 360, 255, -1)
    alpha = cv2.resize(shape, (4 * height, height), interpolation=cv2.INTER_AREA)
    picture = covered_with(scene.thing_rng, alpha, scene.surface(begin))
    picture[..., :3] = cv2.convertScaleAbs(cv2.blur(picture[..., :3], (9, 9)), alpha=0.65)
    return Thing(lambda _t: picture, way(scene, begin, seconds, row, 4 * height))
