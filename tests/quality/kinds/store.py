# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps drawn clips, their truth and the results of other programs in a folder.

A file's name has a digest of what it depends on: the row of the table, and the code that draws or judges.
"""
import hashlib
import json
import os
import pathlib

import numpy

from clip import Scene
from encode import encode
from models import Score

HERE = pathlib.Path(__file__).parent
DRAWING = ("parts.py", "stills.py", "camera.py", "light.py", "weather.py", "surfaces.py", "things.py", "overlay.py",
           "clip.py", "encode.py")


def digest(*files, extra=""):
    data = b"".join((HERE / file).read_bytes() for file in files) + extra.encode()
    return hashlib.sha256(data).hexdigest()[:12]


class Clip:
    """A drawn clip: `video`, and its truth, a dictionary; see draw()."""

    def __init__(self, folder, kind, seed, is_busy):
        self.kind, self.seed, self.is_busy = kind, seed, is_busy
        name = f"{kind.name}-{seed}-{'busy' if is_busy else 'quiet'}-{digest(*DRAWING, extra=kind.drawing())}"
        self.video = pathlib.Path(folder).resolve() / (name + kind.suffix)
        self.masks = self.video.with_suffix(".npz")
        self.notes = self.video.with_suffix(".json")

    def draw(self):
        """Draws the clip unless it is there. The truth holds for each thing the frames that have it with its box, and
        the time from which it stands still."""
        if not self.notes.exists():
            self._draw()
        self.truth = json.loads(self.notes.read_text())
        return self

    def _draw(self):
        self.video.parent.mkdir(parents=True, exist_ok=True)
        scene = Scene(self.kind, self.seed, self.is_busy)
        things = [{"stops": thing.stops, "boxes": []} for thing in scene.things]
        masks = []

        def frames():
            for number, (frame, boxes, mask) in enumerate(scene):
                for i, *box in boxes:
                    things[i]["boxes"].append([number / scene.rate, *(round(float(value), 1) for value in box)])
                if self.is_busy:
                    masks.append(numpy.packbits(mask))
                yield frame
        part = self.video.with_name(f"part-{os.getpid()}-{self.video.name}")
        encode(frames(), part, self.kind)
        if self.is_busy:
            numpy.savez_compressed(self.masks, *masks)
        part.rename(self.video)
        self.notes.write_text(json.dumps({"seconds": scene.n_frames / scene.rate, "background": scene.background,
                                          "things": things}))

    def true_masks(self):
        """The masks of the things a frame, or None in clips that have none, or whose frames are damaged."""
        if not self.is_busy or self.kind.damage:
            return None
        with numpy.load(self.masks) as packed:
            n_pixels = self.kind.size[0] * self.kind.size[1]
            return [numpy.unpackbits(packed[name])[:n_pixels].reshape(self.kind.size[::-1]).astype(bool)
                    for name in packed.files]

    def f_measure(self, masks):
        truth = self.true_masks()
        if truth is None:
            return None
        score = Score()
        for mask, wanted in zip(masks, truth):
            score.add(mask, wanted)
        return score.f_measure

    def kept(self, name, version, make):
        """The result of make(), a dictionary for JSON, which is kept under a name and a version."""
        path = self.video.with_suffix(f".{name}-{version}.json")
        if not path.exists():
            result = make()
            part = path.with_name(f"part-{os.getpid()}-{path.name}")
            part.write_text(json.dumps(result))
            part.rename(path)
        return json.loads(path.read_text())
