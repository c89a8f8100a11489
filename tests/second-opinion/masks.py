# SPDX-License-Identifier: LGPL-2.1-or-later
"""Foreground masks from the CPU in Python, through the program make-masks, and their scores."""
import subprocess

import numpy

DENOISE = {"none": 0, "median-3": 1, "median-5": 2, "opening-3": 3, "opening-5": 4}


class Foreground:
    """with Foreground(program, "mog2", (height, width), history=500) as foreground: …"""

    def __init__(self, program, foreground, shape, **options):
        self.shape = shape
        self.is_wide = bool(options.get("wide"))
        options["denoise"] = DENOISE[options.get("denoise", "none")]
        self.process = subprocess.Popen(
            [program, foreground, str(shape[1]), str(shape[0])]
            + [f"{name.replace('_', '-')}={value}" for name, value in options.items()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait() != 0:
            raise RuntimeError("make-masks failed")

    def mask(self, frame):
        """The mask of the next frame, 0 and 255. With chroma=1, the frame is all bytes of an I420
        frame without padding; else its luma, of uint16 unless wide=0."""
        assert frame.dtype == (numpy.uint16 if self.is_wide else numpy.uint8)
        self.process.stdin.write(numpy.ascontiguousarray(frame).data)
        self.process.stdin.flush()
        data = self.process.stdout.read(self.shape[0] * self.shape[1])
        return numpy.frombuffer(data, numpy.uint8).reshape(self.shape)


class Score:
    """Counts of true positives, false negatives and false positives over the measured frames."""

    def __init__(self):
        self.found = self.mistaken = self.missed = 0

    def add(self, mask, truth):
        self.found += int(numpy.count_nonzero(mask & truth))
        self.mistaken += int(numpy.count_nonzero(mask & ~truth))
        self.missed += int(numpy.count_nonzero(~mask & truth))

    @property
    def precision(self):
        return self.found / max(self.found + self.mistaken, 1)

    @property
    def recall(self):
        return self.found / max(self.found + self.missed, 1)

    @property
    def f_measure(self):
        return 2 * self.found / max(2 * self.found + self.mistaken + self.missed, 1)
