# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kinds of scenes: a row names what one is composed of."""
import dataclasses

@dataclasses.dataclass(frozen=True)
class Kind:
    name: str
    text: str
    surfaces: tuple = ()
    camera: tuple = ()
    light: tuple = ()
    weather: tuple = ()
    overlay: tuple = ()
    always: tuple = ()  # things in the quiet and the busy clip: what they do until they stop is no mistake
    events: tuple = ()  # things in the busy clip, which must be found
    disturbed: float = 0  # the time at which the disturbance begins: "quiet again" counts from there
    noise: float = 2.0  # standard deviation, grey levels
    size: tuple = (640, 360)
    rate: int = 10
    seconds: float = 36
    margin: float = 0.13  # of the canvas around the view
    background: str | None = None
    encode: tuple = ()  # as encode.py reads it
    suffix: str = ".mp4"
    damage: int = 0
    is_quick: bool = False  # one of the test
    allowed: float = 0  # seconds of motion after the disturbance, in the test


    def drawing(self):
        """What the drawn clip depends on."""
        judging = ("text", "disturbed", "is_quick", "allowed")
        return repr({name: value for name, value in vars(self).items() if name not in judging})


def walk(first, second, seconds=6, other_seconds=6, row=0.8):
    """Two people walk through: when, in how many seconds, and where the first one does."""
    return ("person", first, seconds, 0.27, row), ("person", second, other_seconds, 0.33, 0.95)


def dark_walk(levels):
    """The same, of people so many grey levels above the ground."""
    return ("person", 20, 8, 0.27, 0.8, None, 0, levels), ("person", 29, 6, 0.33, 0.95, None, 0, levels)


def kind(name, text, **composition):
    return Kind(name, text, **({"events": walk(20, 28, 6, 5.5)} | composition))


KINDS = [
    kind("calm", "nothing happens", is_quick=True),
    # the camera moves
    *(kind(f"knock-{px}", f"knocked by {px} pixels", camera=(("knock", px),), disturbed=12, is_quick=px == 12,
           allowed=5)
      for px in (2, 5, 12, 40)),
    kind("knock-12-1fps", "knocked by 12 pixels, 1 frame a second", camera=(("knock", 12, 40),), disturbed=40, rate=1,
         seconds=120, events=walk(70, 95, 12, 12)),
    kind("knock-12-5fps", "knocked by 12 pixels, 5 frames a second", camera=(("knock", 12),), disturbed=12, rate=5),
    kind("knock-12-25fps", "knocked by 12 pixels, 25 frames a second", camera=(("knock", 12),), disturbed=12, rate=25,
         seconds=30, events=(("person", 20, 6),)),
    kind("pan", "the camera turns for 8 s", camera=(("pan", 0.06),), disturbed=12, margin=0.5,
         seconds=40, events=walk(26, 33, 6, 5.5)),
    kind("zoom", "the camera zooms for 8 s", camera=(("zoom", 0.05),), disturbed=12, margin=0.3,
         seconds=40, events=walk(26, 33, 6, 5.5)),
    kind("presets", "a camera with three presets, 12 s each", camera=("presets",), disturbed=12, margin=0.6, seconds=84,
         events=(("person", 54, 5), ("person", 66, 5))),
    kind("shake", "a mast sways by 2 pixels", camera=(("shake", 2),)),
    kind("scene", "another scene, noise of 3 levels", surfaces=("other_scene",), disturbed=14, noise=3,
         is_quick=True, allowed=5),
    # things that stop
    kind("parked", "a car parks", always=(("car", 12, 8, 0.2, 0.85, 0.5, 1e6),), seconds=70,
         events=walk(40, 52, 7, 6, 0.7), is_quick=True, allowed=10),
    kind("parked-1fps", "a car parks, 1 frame a second", always=(("car", 40, 12, 0.2, 0.85, 0.5, 1e6),), rate=1,
         seconds=160, events=walk(100, 120, 12, 12, 0.7)),
    kind("parked-5fps", "a car parks, 5 frames a second", always=(("car", 12, 8, 0.2, 0.85, 0.5, 1e6),), rate=5,
         seconds=70, events=walk(40, 52, 7, 6, 0.7)),
    kind("parked-25fps", "a car parks, 25 frames a second", always=(("car", 8, 6, 0.2, 0.85, 0.5, 1e6),), rate=25,
         seconds=36, events=walk(24, 30, 5, 5, 0.7)),
    kind("left", "a bag is left", always=(("bag", 14),), seconds=60, events=walk(34, 44, 7)),
    kind("taken", "a bag is taken away", always=(("bag", -1, 24),), seconds=60,
         events=walk(38, 48, 7)),
    # light
    *(kind(f"banding-{depth}", f"banding of {depth} %", light=(("banding", depth / 100),), disturbed=8,
           is_quick=depth == 15) for depth in (5, 15, 30)),
    kind("hunting", "the exposure hunts by 20 %", light=(("hunting", 0.2, 10, 24),), disturbed=10),
    kind("lamp", "a lamp is switched on and off", light=(("lamp", 1.8),), disturbed=10),
    *(kind(f"clouds-{name}-{depth}", f"shadows of clouds of {depth} %, {name} edges",
           light=(("clouds", depth / 100, softness),), disturbed=8)
      for name, softness in (("hard", 0.02), ("soft", 0.5)) for depth in (30, 45, 60)),
    *(kind(f"infrared-{settle}s", f"infrared, settles in {settle} s", light=(("infrared", settle),), disturbed=12)
      for settle in (0, 2, 5)),
    kind("ramp", "the exposure starts dark", light=(("ramp", 3),)),
    kind("lightning", "lightning", light=(("night", 60, 0.3), ("lightning", 3)), disturbed=8),
    # night
    *(kind(f"night-{levels}-{noise}", f"night, people {levels} levels above the ground, noise of {noise}",
           light=(("night", 40),), noise=noise, events=dark_walk(levels),
           is_quick=(levels, noise) == (16, 2))
      for levels, noise in ((8, 1), (10, 2), (16, 2), (16, 4), (30, 5), (30, 10))),
    kind("black", "black night, noise of 6 levels", light=(("night", 17, 0.03),), noise=6,
         events=dark_walk(60)),
    kind("headlights", "lights of cars outside the picture, at night", light=(("night", 50, 0.3), ("headlights", 1.5)),
         disturbed=8, noise=3),
    # burned in, encoded, damaged
    *(kind(f"clock-{pixels}-{height}p", f"a clock of {pixels} pixels at {height}p", overlay=(("clock", pixels),),
           size=(height * 16 // 9, height), rate=5, seconds=30, events=walk(15, 23, row=0.6))
      for pixels, height in ((14, 360), (24, 720), (36, 720), (48, 1080))),
    kind("pumping", "the picture changes with each key frame", encode=(("kbits", 150), ("gop", 2.0)), noise=4),
    kind("damaged-ts", "H.264 with damaged bytes, TS", suffix=".ts", damage=1, disturbed=8),
    kind("damaged-mkv", "H.264 with damaged bytes, MKV", suffix=".mkv", damage=2, disturbed=8),
    # weather and animals
    kind("rain", "rain", weather=(("rain", 150),), disturbed=8),
    kind("snow", "snow", weather=(("snow", 120),), disturbed=8),
    kind("insects", "insects in infrared light at night", light=(("night", 40),), weather=(("insects", 1.0),),
         disturbed=8, events=dark_walk(50)),
    kind("crawler", "an insect walks about on the glass", weather=("crawler",), disturbed=10),
    kind("thread", "a spider's thread", light=(("night", 60, 0.3),), weather=("thread",), disturbed=8),
    # surfaces that move
    kind("water", "water, and a boat of its colours", surfaces=("water",), events=(("boat", 14, 10), ("boat", 27, 7))),
    kind("leaves", "leaves, and people of their colours", surfaces=(("leaves", 4, (0.0, 1.0)),), background="aero1.jpg",
         events=(("person", 18, 7, 0.27, 0.8, None, 0, 0, True), ("person", 28, 6, 0.33, 0.95, None, 0, 0, True))),
    kind("gusts", "gusts of 3 pixels", surfaces=(("gusts", 3),), background="aero1.jpg", disturbed=20, seconds=50,
         events=walk(30, 40, 7)),
    kind("fan", "a fan", surfaces=("fan",)),
    # objects, rates and sizes
    kind("sitter", "a person who sits for two minutes", seconds=120, rate=5, events=(("sitter", 10, 8),)),
    kind("fast-5fps", "cars that cross in 0.8 s, 5 frames a second", rate=5,
         events=tuple(("car", at, 0.8) for at in (15, 21, 27, 33))),
    kind("slow", "people who need 30 s", seconds=50, events=(("person", 12, 30),)),
    kind("small", "people 40 pixels high", events=(("person", 12, 11, 0.111), ("person", 24, 11, 0.111, 0.6))),
    *(kind(f"rate-{rate}", f"{rate} frames a second", rate=rate, seconds=seconds,
           events=walk(seconds / 2, seconds * 3 / 4, 6, 5.5))
      for rate, seconds in ((1, 90), (2, 60), (5, 36), (25, 24))),
    *(kind(f"size-{height}p", f"{height} rows", size=(height * 16 // 9 // 4 * 4, height), rate=min(5, 4320 // height),
           seconds=24,
           events=walk(12, 18, 5, 5)) for height in (720, 1080, 2160)),
]


def quick():
    """The kinds of the test, at half the size."""
    return [dataclasses.replace(row, size=(320, 180)) for row in KINDS if row.is_quick]
