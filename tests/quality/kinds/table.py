# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kinds of scenes: a row names what one is composed of."""
import dataclasses

WALK = (("person", 24, 7), ("person", 33, 6, 0.33, 0.95))  # two people walk through


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
    events: tuple = WALK  # things in the busy clip, which must be found
    disturbed: float = 0  # the time at which the disturbance begins: "quiet again" counts from there
    noise: float = 2.0  # standard deviation, grey levels
    size: tuple = (640, 360)
    rate: int = 10
    seconds: float = 42
    margin: float = 0.13  # of the canvas around the view
    background: str | None = None
    encode: tuple = ()  # as encode.py reads it
    suffix: str = ".mp4"
    damage: int = 0
    is_quick: bool = False


def kind(name, text, **composition):
    return Kind(name, text, **composition)


KINDS = [
    kind("calm", "nothing at all", is_quick=True),
    # the camera moves
    *(kind(f"knock-{px}", f"knocked by {px} pixels", camera=(("knock", px),), disturbed=12, is_quick=px == 12)
      for px in (2, 5, 12, 40)),
    kind("knock-12-1fps", "knocked by 12 pixels, 1 frame a second", camera=(("knock", 12, 40),), disturbed=40, rate=1,
         seconds=120, events=(("person", 70, 12), ("person", 95, 12, 0.33, 0.95))),
    kind("knock-12-25fps", "knocked by 12 pixels, 25 frames a second", camera=(("knock", 12),), disturbed=12, rate=25),
    kind("pan", "the camera turns for 8 s", camera=(("pan", 0.06),), disturbed=12, margin=0.5),
    kind("zoom", "the camera zooms for 8 s", camera=(("zoom", 0.05),), disturbed=12, margin=0.3),
    kind("presets", "a camera with three presets, 12 s each", camera=("presets",), disturbed=12, margin=0.6, seconds=84,
         events=(("person", 54, 5), ("person", 66, 5))),
    kind("shake", "a mast sways by 2 pixels", camera=(("shake", 2),)),
    kind("scene", "another scene, noise of 3 levels", surfaces=("other_scene",), disturbed=14, noise=3, is_quick=True),
    # things that stop
    kind("parked", "a car parks", always=(("car", 12, 8, 0.2, 0.85, 0.5, 1e6),), seconds=70,
         events=(("person", 40, 7, 0.27, 0.7), ("person", 52, 6, 0.33, 0.95)), is_quick=True),
    kind("parked-1fps", "a car parks, 1 frame a second", always=(("car", 40, 12, 0.2, 0.85, 0.5, 1e6),), rate=1, seconds=160,
         events=(("person", 100, 12, 0.27, 0.7), ("person", 120, 12, 0.33, 0.95))),
    kind("parked-25fps", "a car parks, 25 frames a second", always=(("car", 12, 8, 0.2, 0.85, 0.5, 1e6),), rate=25,
         seconds=60, events=(("person", 36, 7, 0.27, 0.7), ("person", 46, 6, 0.33, 0.95))),
    kind("left", "a bag is left", always=(("bag", 14),), seconds=60, events=(("person", 34, 7), ("person", 44, 6, 0.33, 0.95))),
    kind("taken", "a bag is taken away", always=(("bag", -1, 24),), seconds=60,
         events=(("person", 38, 7), ("person", 48, 6, 0.33, 0.95))),
    # light
    *(kind(f"banding-{depth}", f"banding of {depth} %", light=(("banding", depth / 100),), disturbed=8,
           is_quick=depth == 15) for depth in (5, 15, 30)),
    kind("hunting", "the exposure hunts by 20 %", light=(("hunting", 0.2),), disturbed=10),
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
           light=(("night", 40),), noise=noise, events=(("person", 20, 8, 0.27, 0.8, None, 0, levels),
                                                        ("person", 31, 6, 0.33, 0.95, None, 0, levels)),
           is_quick=(levels, noise) == (16, 2))
      for levels, noise in ((8, 1), (10, 2), (16, 2), (16, 4), (30, 5), (30, 10))),
    kind("black", "black night, noise of 6 levels", light=(("night", 17, 0.03),), noise=6,
         events=(("person", 20, 8, 0.27, 0.8, None, 0, 60), ("person", 31, 6, 0.33, 0.95, None, 0, 60))),
    kind("headlights", "lights of cars outside the picture, at night", light=(("night", 50, 0.3), ("headlights", 1.5)),
         disturbed=8, noise=3),
    # burned in, encoded, damaged
    *(kind(f"clock-{pixels}-{height}p", f"a clock of {pixels} pixels at {height}p", overlay=(("clock", pixels),),
           size=(height * 16 // 9, height)) for pixels, height in ((14, 360), (24, 720), (36, 720), (48, 1080))),
    kind("pumping", "the picture changes with each key frame", encode=(("kbits", 150), ("gop", 2.0)), noise=4),
    kind("damaged-ts", "H.264 with damaged bytes, TS", suffix=".ts", damage=1, disturbed=8),
    kind("damaged-mkv", "H.264 with damaged bytes, MKV", suffix=".mkv", damage=2, disturbed=8),
    # weather and animals
    kind("rain", "rain", weather=(("rain", 150),), disturbed=8),
    kind("snow", "snow", weather=(("snow", 120),), disturbed=8),
    kind("insects", "insects in infrared light at night", light=(("night", 40),), weather=(("insects", 1.0),), disturbed=8,
         events=(("person", 20, 8, 0.27, 0.8, None, 0, 50), ("person", 31, 6, 0.33, 0.95, None, 0, 50))),
    kind("crawler", "an insect walks about on the glass", weather=("crawler",), disturbed=10),
    kind("thread", "a spider's thread", light=(("night", 60, 0.3),), weather=("thread",), disturbed=8),
    # surfaces that move
    kind("water", "water, and a boat of its colours", surfaces=("water",), events=(("boat", 20, 10), ("boat", 31, 7))),
    kind("leaves", "leaves, and people of their colours", surfaces=(("leaves", 4, (0.0, 1.0)),),
         events=(("person", 22, 8, 0.27, 0.8, None, 0, 0, True), ("person", 32, 7, 0.33, 0.95, None, 0, 0, True))),
    kind("gusts", "gusts of 3 pixels", surfaces=(("gusts", 3),), disturbed=20, seconds=50,
         events=(("person", 30, 7), ("person", 40, 6, 0.33, 0.95))),
    kind("fan", "a fan", surfaces=("fan",)),
    # objects, rates and sizes
    kind("sitter", "a person who sits for two minutes", seconds=130, rate=5, events=(("sitter", 10, 8),)),
    kind("fast-5fps", "cars that cross in 0.8 s, 5 frames a second", rate=5, events=tuple(("car", at, 0.8) for at in (15, 21, 27, 33))),
    kind("slow", "people who need 30 s", seconds=50, events=(("person", 12, 30),)),
    kind("small", "people 30 pixels high", events=(("person", 14, 12, 0.083), ("person", 28, 12, 0.083, 0.6))),
    *(kind(f"rate-{rate}", f"{rate} frames a second", rate=rate, seconds=seconds, events=(
        ("person", seconds * 0.5, 8), ("person", seconds * 0.75, 7, 0.33, 0.95))) for rate, seconds in ((1, 90), (2, 60), (5, 40), (25, 30))),
    *(kind(f"size-{height}p", f"{height} rows", size=(height * 16 // 9 // 4 * 4, height), rate=5, seconds=24,
           events=(("person", 12, 5), ("person", 18, 5, 0.33, 0.95))) for height in (720, 1080, 2160)),
]
