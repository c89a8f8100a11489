# SPDX-License-Identifier: LGPL-2.1-or-later
"""What falls, flies or hangs before the lens. A part returns the picture (BGR, 8 bits) at a time."""
import cv2
import numpy

from parts import part


def blend(image, layer, alpha):
    """The picture under a layer of one grey value, whose opacity is 0 to 1 a pixel."""
    alpha = cv2.merge([alpha.astype(numpy.float32)] * 3)
    return cv2.add(image, (alpha * (layer - image.astype(numpy.float32))), dtype=cv2.CV_8U)


@part
def rain(scene, drops, begin=8):
    """Streaks of rain, new in each frame."""
    length = scene.height // 14

    def fall(image, t):
        if t < begin:
            return image
        layer = numpy.zeros(image.shape[:2], numpy.uint8)
        for x, y, brightness in scene.rng.uniform(0, 1, (drops, 3)):
            point = (int(x * scene.width), int(y * scene.height))
            cv2.line(layer, point, (point[0] + length // 6, point[1] + length), int(20 + 60 * brightness), 1)
        return cv2.add(image, cv2.merge([layer] * 3))
    return fall


@part
def snow(scene, flakes, begin=8):
    """Flakes that fall and sway; near ones are large and fast."""
    rng = scene.rng
    x, y, near, phase = (rng.uniform(0, 1, flakes) for _ in range(4))
    near = near ** 3

    def fall(image, t):
        if t < begin:
            return image
        layer = numpy.zeros(image.shape[:2], numpy.uint8)
        rows = (y + t * (0.25 + 0.9 * near)) % 1.1
        columns = (x + 0.03 * numpy.sin(3 * t + 6 * phase)) % 1
        for i in range(flakes):
            point = (int(columns[i] * scene.width), int(rows[i] * scene.height))
            cv2.circle(layer, point, int((1 + 4 * near[i]) * scene.height / 360), 150, -1, cv2.LINE_AA)
        return cv2.add(image, cv2.merge([layer] * 3))
    return fall


@part
def insects(scene, a_second, begin=8):
    """Insects in the light of the camera: bright streaks of one or two frames."""
    def fly(image, t):
        if t < begin or scene.rng.uniform() > a_second / scene.rate:
            return image
        layer = numpy.zeros(image.shape[:2], numpy.uint8)
        point = scene.rng.uniform(0, 1, 2) * (scene.width, scene.height)
        way = scene.rng.normal(0, 0.12, 2) * scene.height
        cv2.line(layer, point.astype(int).tolist(), (point + way).astype(int).tolist(), 180,
                 max(2, scene.height // 50), cv2.LINE_AA)
        return cv2.add(image, cv2.merge([cv2.GaussianBlur(layer, (0, 0), scene.height / 120)] * 3))
    return fly


@part
def crawler(scene, begin=10):
    """An insect walks about on the glass, within a tenth of the picture."""
    centre = scene.rng.uniform(0.3, 0.7, 2) * (scene.width, scene.height)
    place = numpy.zeros(2)

    def crawl(image, t):
        if t < begin:
            return image
        place[:] = place * 0.9 + scene.rng.normal(0, 0.012, 2) * scene.height
        alpha = numpy.zeros(image.shape[:2], numpy.uint8)
        radius = scene.height // 22
        cv2.ellipse(alpha, (centre + place).astype(int).tolist(), (radius, radius * 2 // 3), 360 * scene.rng.uniform(),
                    0, 360, 230, -1)
        return blend(image, 25.0, cv2.GaussianBlur(alpha, (0, 0), scene.height / 90) / 255)
    return crawl


@part
def thread(scene, begin=8):
    """A spider's thread near the lens sways and shines."""
    left, right = scene.rng.uniform(0.1, 0.9, 2)

    def sway(image, t):
        if t < begin:
            return image
        layer = numpy.zeros(image.shape[:2], numpy.uint8)
        shift = 0.06 * numpy.sin(1.9 * t) + 0.03 * numpy.sin(4.7 * t)
        rows = numpy.linspace(0, 1, 20)
        columns = left + (right - left) * rows + shift * numpy.sin(numpy.pi * rows)
        points = numpy.stack([columns * scene.width, rows * scene.height], 1).astype(numpy.int32)
        cv2.polylines(layer, [points], False, int(110 + 60 * numpy.sin(3.1 * t)), max(2, scene.height // 120),
                      cv2.LINE_AA)
        return cv2.add(image, cv2.merge([cv2.GaussianBlur(layer, (0, 0), scene.height / 240)] * 3))
    return sway
