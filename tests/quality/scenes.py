# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws street scenes with exact truth, one a difficulty, as a camera records them.

    for frame, truth in draw("shadows", seed=1, n_frames=400): …
    for frame, boxes in draw_boxes("crossing"): …

frame is an I420 frame of limited range BT.601, an array of HEIGHT * 3/2 × WIDTH bytes; truth is a
bool array of HEIGHT × WIDTH, true where an object is. boxes is a dict from the number of each object to
its box (x, y, width, height). The same name and seed give the same scene.

A frame is computed in linear light: reflectance times illumination, then the camera's exposure,
shot noise, read noise, transfer function and 4:2:0 chroma. Objects are textured people and cars, of
which some have nearly the colours of the background.
"""
import cv2
import numpy

WIDTH, HEIGHT, N_FRAMES, FIRST_JUDGED = 480, 272, 400, 100
NAMES = ("baseline", "shadows", "lamp", "clouds", "infrared", "night", "rain", "leaves",
         "flicker", "shake", "stopgo", "crossing")
SHAKE_MARGIN = 8          # pixels around the frame that a shaking camera shows
LAMP_ON = range(160, 300)  # frames
INFRARED_FROM = 200       # frame
F = numpy.float32


def smooth(random, scale, low, high, height=HEIGHT, width=WIDTH):
    """Random values from low to high that vary over `scale` pixels."""
    coarse = random.random((int(height / scale) + 3, int(width / scale) + 3)).astype(F)
    fine = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    return low + (high - low) * numpy.clip(fine, 0, 1)


def street(random, height, width):
    """The reflectance of wall, pavement, road and grass (RGB, 0…1), the row where the wall ends and
    the row where the road ends."""
    def textured(colour, scale, amount):
        texture = smooth(random, scale, 1 - amount, 1 + amount, height, width)
        texture = texture * smooth(random, 1.6, 1 - amount / 2, 1 + amount / 2, height, width)
        return texture[..., None] * numpy.array(colour, F)

    image = textured(random.uniform(0.22, 0.5, 1) + random.uniform(-0.05, 0.05, 3), 12, 0.25)
    horizon = int(height * random.uniform(0.35, 0.5))
    road = textured(random.uniform(0.12, 0.25, 1) + random.uniform(-0.015, 0.015, 3), 5, 0.2)
    pavement = textured(random.uniform(0.3, 0.45, 1) + random.uniform(-0.03, 0.03, 3), 4, 0.15)
    grass = textured((0.10, 0.2, 0.06), 3, 0.45)
    bottom = int(height * random.uniform(0.75, 0.85))
    kerb = horizon + (bottom - horizon) // 3
    image[horizon:] = pavement[horizon:]
    image[kerb:bottom] = road[kerb:bottom]
    image[bottom:] = grass[bottom:]
    middle = (kerb + bottom) // 2
    for x in range(0, width, 56):
        image[middle:middle + 3, x:x + 28] = 0.6  # lane markings
    for _ in range(14):  # windows, doors and signs
        w, h = random.integers(10, 50), random.integers(10, 50)
        x, y = random.integers(0, width - w), random.integers(0, max(horizon - h, 1))
        colour = random.uniform(0.05, 0.6, 3)
        image[y:y + h, x:x + w] *= 0.3
        image[y:y + h, x:x + w] += 0.7 * colour
        cv2.rectangle(image, (int(x), int(y)), (int(x + w), int(y + h)), [float(v) for v in colour * 0.5], 1)
    for _ in range(3):  # posts
        x = int(random.integers(5, width - 5))
        cv2.line(image, (x, horizon // 2), (x, horizon + 15), (0.15, 0.15, 0.16), 3)
    return numpy.clip(cv2.GaussianBlur(image, (0, 0), 0.7), 0.02, 0.9), horizon, bottom


class Thing:
    """A person or a car. Its place is that of its feet or wheels."""

    def __init__(self, random, kind, start, speed, size, first=0, last=N_FRAMES, stop=None):
        self.kind, self.start, self.speed = kind, numpy.array(start, float), numpy.array(speed)
        self.first, self.last, self.stop = first, last, stop
        self.phase = random.uniform(0, 6)
        w, h = int(size * (2.2 if kind == "car" else 0.6)) | 1, int(size)
        self.shape = (h, w)
        grey = random.uniform(0.05, 0.6)
        self.colours = [numpy.clip(random.uniform(0.03, 0.65, 1) + random.uniform(-0.15, 0.15, 3), 0.02, 0.8)
                        for _ in range(3)]
        self.colours[2] = numpy.array([0.45, 0.3, 0.22]) * random.uniform(0.5, 1.3)
        if random.random() < 0.4:  # nearly the background's colours
            self.colours[0] = numpy.full(3, grey) + random.uniform(-0.02, 0.02, 3)
        self.texture = smooth(random, 4, 0.65, 1.35, h, w)[..., None].astype(F)
        self.stripes = random.random() < 0.3
        self.in_infrared = random.uniform(0.4, 2.2, 3)

    def place(self, t):
        moved = t - self.first
        if self.stop and t > self.stop[0]:
            moved = self.stop[0] - self.first + max(0, t - self.stop[1])
        return self.start + moved * self.speed

    def picture(self, t):
        """Opacity and reflectance, drawn at four times the size and reduced."""
        h, w = self.shape
        alpha = numpy.zeros((h * 4, w * 4), numpy.uint8)
        colour = numpy.zeros((h, w, 3), F)
        if self.kind == "car":
            self.draw_car(alpha, colour)
        else:
            self.draw_person(alpha, colour, t)
        alpha = cv2.resize(alpha, (w, h), interpolation=cv2.INTER_AREA).astype(F) / 255
        return alpha, numpy.clip(colour * self.texture, 0.01, 0.9)

    def draw_car(self, alpha, colour):
        h, w = self.shape
        cv2.rectangle(alpha, (0, h * 4 // 3), (w * 4, h * 4 * 85 // 100), 255, -1)
        cabin = [[w, h * 4 // 3], [int(w * 1.4), 4], [int(w * 2.9), 4], [int(w * 3.3), h * 4 // 3]]
        cv2.fillPoly(alpha, [numpy.array(cabin)], 255)
        for x in (w * 4 // 5, w * 16 // 5):
            cv2.circle(alpha, (x, h * 4 * 82 // 100), h * 4 * 17 // 100, 255, -1)
        colour[:] = self.colours[0]
        colour[2:h // 3, int(w * .36):int(w * .75)] = 0.08
        colour[h * 78 // 100:] *= 0.4

    def draw_person(self, alpha, colour, t):
        h, w = self.shape
        stands = self.stop and self.stop[0] <= t <= self.stop[1]
        swing = 0 if stands else numpy.sin(t * 0.45 + self.phase)
        middle = w * 2
        cv2.ellipse(alpha, (middle, int(h * 4 * .09)), (int(h * .3), int(h * .36)), 0, 0, 360, 255, -1)
        cv2.ellipse(alpha, (middle, int(h * 4 * .36)), (int(w * 4 * .3), int(h * 4 * .2)), 0, 0, 360, 255, -1)
        for side in (-1, 1):
            hip = (middle + side * w // 4, int(h * 4 * .5))
            foot = (int(middle + side * swing * w * 1.5), h * 4 - 4)
            cv2.line(alpha, hip, foot, 255, max(int(w * .75), 3))
            shoulder = (middle - side * int(w * .9), int(h * 4 * .25))
            hand = (int(middle - side * (w * .9 + swing * w * .5)), int(h * 4 * .55))
            cv2.line(alpha, shoulder, hand, 255, max(int(w * .45), 2))
        colour[:] = self.colours[1]
        colour[:int(h * .55)] = self.colours[0]
        colour[:int(h * .18)] = self.colours[2]
        if self.stripes:
            colour[int(h * .2):int(h * .55):4] *= 1.8


def populate(name, random, horizon, bottom):
    """The scene's people and cars, the farthest first."""
    things = []

    def walker(first=0, y=None, direction=None, speed=None, stop=None, x=None, last=N_FRAMES):
        size = random.uniform(30, 58)
        y = y if y is not None else random.uniform(horizon + 12, HEIGHT - 4)
        direction = direction or random.choice((-1, 1))
        speed = speed if speed is not None else random.uniform(0.8, 2.0)
        x = x if x is not None else (-20 if direction > 0 else WIDTH + 20)
        velocity = (direction * speed, random.uniform(-.08, .08))
        things.append(Thing(random, "person", (x, y), velocity, size, first, last, stop))

    def car(first):
        direction = random.choice((-1, 1))
        start = (-80 if direction > 0 else WIDTH + 80, random.uniform(horizon + 45, bottom))
        velocity = (direction * random.uniform(2.5, 4.5), 0)
        things.append(Thing(random, "car", start, velocity, random.uniform(28, 42), first))

    if name == "stopgo":
        for _ in range(5):  # people who come, stand and go on
            first = int(random.integers(40, 120))
            arrival = first + int(random.integers(40, 110))
            walker(first=first, stop=(arrival, arrival + int(random.integers(100, 180))), speed=1.8)
        for _ in range(2):  # people who stand there from the first frame and then go
            walker(x=random.uniform(120, 360), stop=(0, int(random.integers(180, 240))), speed=1.6)
        walker(first=250)
    elif name == "crossing":
        rows = numpy.linspace(horizon + 25, HEIGHT - 8, 4)
        for i in range(14):
            walker(first=i * 24, y=rows[i // 2 % 4] + random.uniform(-3, 3), direction=1 if i % 2 else -1)
    else:
        for i in range(9):
            walker(first=int(i * 42 + random.integers(0, 20)) - 30)
        for _ in range(2):
            walker(x=random.uniform(60, 400), speed=random.uniform(.5, 1), last=int(random.integers(300, 400)))
        for first in (60, 190, 310):
            car(first)
    return sorted(things, key=lambda thing: thing.start[1])


class Scene:
    """The parts of a scene that are the same in all frames."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random = numpy.random.default_rng([seed, NAMES.index(name)])
        self.noise = numpy.random.default_rng([seed, 99, NAMES.index(name)])
        height, width = HEIGHT + 2 * SHAKE_MARGIN, WIDTH + 2 * SHAKE_MARGIN
        self.ground, horizon, bottom = street(random, height, width)
        horizon, bottom = horizon - SHAKE_MARGIN, bottom - SHAKE_MARGIN
        self.ground_in_infrared = numpy.clip(
            self.ground @ random.dirichlet((1, 1, 1)).astype(F) * smooth(random, 25, 0.5, 1.6, height, width), 0.02, 0.9)
        self.ground_in_infrared[self.ground[..., 1] > self.ground[..., 0] * 1.3] *= 2.0  # plants are bright
        self.crowns = numpy.zeros((height, width), F)
        if name == "leaves":
            for _ in range(7):
                cv2.ellipse(self.crowns, (int(random.integers(0, WIDTH)), int(random.integers(0, HEIGHT // 2))),
                            (int(random.integers(20, 55)), int(random.integers(15, 45))), 0, 0, 360, 1.0, -1)
            self.crowns = cv2.GaussianBlur(self.crowns, (0, 0), 3)
        self.foliage = smooth(random, 2.2, 0.3, 1.5, height, width)[..., None] * numpy.array((0.09, 0.17, 0.05), F)
        self.columns, self.rows = numpy.meshgrid(numpy.arange(width, dtype=F), numpy.arange(height, dtype=F))
        self.things = populate(name, random, horizon, bottom)
        self.clouds = smooth(random, 160, 0, 1, HEIGHT, WIDTH * 6) if name == "clouds" else None
        self.shadow_slope = random.uniform(0.3, 0.7) * random.choice((-1, 1))
        x, y = random.uniform(0.2, 0.8, 2) * (WIDTH, HEIGHT)
        y_grid, x_grid = numpy.mgrid[0:HEIGHT, 0:WIDTH].astype(F)
        self.lamp = 0.9 / (1 + ((x_grid - x) ** 2 + (y_grid - y) ** 2) / (0.35 * WIDTH) ** 2)
        self.camera = numpy.zeros(2)
        self.exposure = None

    def background(self, t):
        """The reflectance of the scene without moving objects."""
        image = self.ground
        if self.in_infrared(t):
            image = numpy.repeat(self.ground_in_infrared[..., None], 3, axis=2)
        if self.name == "leaves":
            gust = 2.2 + 1.2 * numpy.sin(t / 37)
            sway = (gust * numpy.sin(2 * numpy.pi * t / 19 + self.rows / 17 + self.columns / 41)).astype(F)
            nod = (0.7 * gust * numpy.sin(2 * numpy.pi * t / 13 + self.columns / 23)).astype(F)
            foliage, opacity = (
                cv2.remap(layer, self.columns + sway, self.rows + nod, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
                for layer in (self.foliage, self.crowns))
            image = image * (1 - opacity[..., None]) + foliage * opacity[..., None]
        if self.name == "shake":
            self.camera = 0.85 * self.camera + self.random.normal(0, 0.45, 2)
        dx, dy = self.camera
        return cv2.warpAffine(image, numpy.array([[1, 0, dx - SHAKE_MARGIN], [0, 1, dy - SHAKE_MARGIN]], F),
                              (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)

    def in_infrared(self, t):
        return self.name == "infrared" and t >= INFRARED_FROM

    def light(self, t):
        """The illumination of each pixel."""
        light = numpy.full((HEIGHT, WIDTH, 1), 0.30 if self.name == "night" else 1.0, F)
        if self.name == "clouds":
            shift = int((t * 5.0) % (WIDTH * 5))
            density = numpy.clip((self.clouds[:, shift:shift + WIDTH] - 0.45) * 3.5, 0, 1)[..., None]
            light = light * (1 - 0.55 * density)
        if self.name == "lamp":
            light = light * 0.35
            if t in LAMP_ON:
                light = light * (1 + 2.0 * self.lamp[..., None]) + 0.15
        if self.name == "flicker":  # 100 Hz, seen at 29.97 frames a second, row after row
            phase = 2 * numpy.pi * 50 * 2 * t / 29.97 + self.rows[:HEIGHT, :WIDTH, None] * 0.012
            light = light * (1 + 0.10 * numpy.sin(phase))
        return light

    def cast(self, x, y, thing, alpha):
        """The light that the shadow of a thing leaves."""
        h, w = thing.shape
        if self.name in ("shadows", "stopgo", "crossing"):
            strength, length = (0.6, 0.8) if self.name == "shadows" else (0.35, 0.5)
            slope = self.shadow_slope
            to_ground = numpy.array([[1, slope, x - w / 2 - slope * h], [0, -length, y + length * h - 1]], F)
            shadow = cv2.warpAffine(alpha, to_ground, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)
            return 1 - strength * cv2.GaussianBlur(shadow, (0, 0), 1.2)
        shadow = numpy.zeros((HEIGHT, WIDTH), F)
        if self.name not in ("night", "infrared"):  # the shadow at the feet below an overcast sky
            cv2.ellipse(shadow, (int(x), int(y)), (int(w * .55), max(int(h * .06), 2)), 0, 0, 360, 0.3, -1)
        return 1 - cv2.GaussianBlur(shadow, (0, 0), 2)

    def compose(self, t):
        """Linear light from the scene, and the share of each pixel that objects cover."""
        image, light = self.background(t), self.light(t)
        shadow, truth = numpy.ones((HEIGHT, WIDTH), F), numpy.zeros((HEIGHT, WIDTH), F)
        layers = []
        for thing in self.things:
            h, w = thing.shape
            x, y = thing.place(t) + self.camera
            if not thing.first <= t < thing.last or x < -w or x > WIDTH + w:
                continue
            alpha, colour = thing.picture(t)
            if self.in_infrared(t):
                grey = colour.mean(axis=2, keepdims=True) * thing.in_infrared[0]
                colour = numpy.repeat(numpy.clip(grey, 0.02, 0.9), 3, axis=2)
            move = numpy.array([[1, 0, x - w / 2], [0, 1, y - h]], F)
            layers.append((cv2.warpAffine(alpha, move, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)[..., None],
                           cv2.warpAffine(colour, move, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR,
                                          borderMode=cv2.BORDER_REPLICATE)))
            shadow = numpy.minimum(shadow, self.cast(x, y, thing, alpha))
        shadow = shadow[..., None]
        sky_tint = 1 + (numpy.array((0.97, 1.0, 1.06), F) - 1) * (1 - shadow)  # shadows are bluish
        image = image * light * numpy.where(shadow < 0.99, shadow * sky_tint, 1)
        for alpha, colour in layers:
            image = image * (1 - alpha) + colour * light * alpha
            truth = numpy.maximum(truth * (1 - alpha[..., 0]), alpha[..., 0])
        return image, truth

    def boxes(self, t):
        """The boxes of the objects of the frame that was drawn last, also where they are hidden, inside the
        frame; without objects of which more than half is outside."""
        boxes = {}
        for number, thing in enumerate(self.things):
            if not thing.first <= t < thing.last:
                continue
            h, w = thing.shape
            rows, columns = numpy.nonzero(thing.picture(t)[0] > 0.5)
            start = thing.place(t) + self.camera - (w / 2, h) + (columns.min(), rows.min())
            size = numpy.array((numpy.ptp(columns) + 1, numpy.ptp(rows) + 1))
            low = numpy.clip(start, 0, (WIDTH, HEIGHT))
            high = numpy.clip(start + size, 0, (WIDTH, HEIGHT))
            if numpy.prod(high - low) >= 0.5 * numpy.prod(size):
                boxes[number] = (*low, *(high - low))
        return boxes

    def expose(self, image, target, low, high, speed):
        """Automatic exposure, which follows the mean of the picture slowly."""
        wanted = min(max(target / max(float(image.mean()), 1e-3), low), high)
        self.exposure = wanted if self.exposure is None else self.exposure + speed * (wanted - self.exposure)
        return image * self.exposure

    def rain(self, image):
        streaks = numpy.zeros((HEIGHT, WIDTH), F)
        for _ in range(90):
            x, y = int(self.random.integers(0, WIDTH)), int(self.random.integers(-20, HEIGHT))
            length = int(self.random.integers(8, 26))
            cv2.line(streaks, (x, y), (x + length // 6, y + length), float(self.random.uniform(0.08, 0.3)), 1)
        streaks = cv2.GaussianBlur(streaks, (0, 0), 0.6)[..., None]
        return image * (1 - streaks) + 0.6 * streaks

    def frame(self, t):
        """Frames must be drawn in order, each once."""
        image, truth = self.compose(t)
        if self.name == "lamp":
            if t in LAMP_ON:
                image = image * numpy.array((1.08, 1.0, 0.85), F)
            image = self.expose(image, 0.30, 0.5, 2.2, 0.08)
        elif self.name == "clouds":
            image = self.expose(image, 0.25, 0.7, 1.5, 0.05)
        elif self.name == "night":
            image = image * 2.2
        elif self.name == "rain":
            image = self.rain(image)
        electrons = {"night": 90.0, "lamp": 900.0}.get(self.name, 2500.0)  # of a white pixel
        read_noise = 0.012 if self.name == "night" else 0.0015
        deviation = numpy.sqrt(numpy.maximum(image, 0) / electrons + read_noise * read_noise)
        noise = self.noise.standard_normal(image.shape, dtype=F)
        noise = cv2.GaussianBlur(noise, (0, 0), 0.6) * 1.6  # demosaicing correlates neighbours
        return to_i420(transfer(numpy.clip(image + deviation * noise, 0, 1))), truth > 0.5


def transfer(linear):
    """R'G'B' of linear light, 0…1 (BT.601)."""
    return numpy.where(linear < 0.018, 4.5 * linear, 1.099 * numpy.power(numpy.maximum(linear, 1e-6), 0.45) - 0.099)


def to_i420(rgb):
    r, g, b = cv2.split(rgb.astype(F))
    luma = 16 + 219 * (0.299 * r + 0.587 * g + 0.114 * b)
    chroma = (128 + 224 * (-0.168736 * r - 0.331264 * g + 0.5 * b),
              128 + 224 * (0.5 * r - 0.418688 * g - 0.081312 * b))
    halved = [cv2.resize(plane, (WIDTH // 2, HEIGHT // 2), interpolation=cv2.INTER_AREA) for plane in chroma]
    samples = numpy.concatenate([plane.reshape(-1) for plane in (luma, *halved)])
    return numpy.clip(numpy.rint(samples), 0, 255).astype(numpy.uint8).reshape(HEIGHT * 3 // 2, WIDTH)


def draw(name, seed=1, n_frames=N_FRAMES):
    """The first n_frames frames of a scene with their truth, one after the other."""
    scene = Scene(name, seed)
    for t in range(n_frames):
        yield scene.frame(t)


def draw_boxes(name, seed=1, n_frames=N_FRAMES):
    """The first n_frames frames of a scene with the boxes of its objects, one after the other."""
    scene = Scene(name, seed)
    for t in range(n_frames):
        yield scene.frame(t)[0], scene.boxes(t)
