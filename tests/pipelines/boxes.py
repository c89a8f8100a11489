# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a video shows the boxes that a list of components says, as OpenCV decodes it."""
import cv2
import numpy

LINE = 2  # ccloverlay's box-width
# Compression and colour at half resolution leave of the lines' pure green what is above GREEN.
# Elsewhere, farther from a line than NEAR pixels, nothing in the tested videos is as green as this.
GREEN, STRAY, NEAR = 60, 90, 4
TEXT = (30, 20)  # a label's number is not larger than this, in frames of up to 600 rows


def pictures(video):
    """The frames of a video: rows, columns, and blue, green, red."""
    capture = cv2.VideoCapture(str(video))
    assert capture.isOpened(), f"{video} does not open"
    while True:
        there, picture = capture.read()
        if not there:
            return
        yield picture


def lines(components):
    """The four lines of each box: rows, columns."""
    for c in components:
        left, top, right, bottom = c["x"], c["y"], c["x"] + c["width"], c["y"] + c["height"]
        yield slice(top, top + LINE), slice(left, right)
        yield slice(bottom - LINE, bottom), slice(left, right)
        yield slice(top, bottom), slice(left, left + LINE)
        yield slice(top, bottom), slice(right - LINE, right)


def written_over(shape, components):
    """Where numbers may stand, above or in the upper left corner of a box."""
    over = numpy.zeros(shape, bool)
    for c in components:
        top = max(c["y"] - TEXT[1], 0)
        left = max(min(c["x"] - 2, shape[1] - TEXT[0]), 0)
        over[top:top + TEXT[1], left:left + TEXT[0]] = True
    return over


def missing_lines(picture, components, what):
    """The lines that are not seen, and how many could be. Fails where anything else is as green."""
    blue, green, red = cv2.split(picture)
    greenness = cv2.subtract(green, cv2.max(blue, red))
    drawn = numpy.zeros(greenness.shape, numpy.uint8)
    visible = ~written_over(greenness.shape, components)
    missing, total = [], 0
    for line in lines(components):
        drawn[line] = 1
        seen = greenness[line][visible[line]]
        if seen.size >= 8:
            total += 1
            if seen.mean() < GREEN:
                missing.append(f"{what}: rows, columns {line}")
    near = cv2.dilate(drawn, numpy.ones((2 * NEAR + 1, 2 * NEAR + 1))) > 0
    stray = (greenness > STRAY) & ~near
    assert not stray.any(), f"{what}: green away from any box: {numpy.argwhere(stray)[:4].tolist()}"
    return missing, total


def check_video(video, frames):
    """Fails unless the video has these frames (of ccljson) and their boxes. The encoder may leave
    out the colour of one line in a thousand."""
    missing, total, n = [], 0, 0
    for picture in pictures(video):
        assert n < len(frames), f"{video}: more than {len(frames)} frames"
        not_seen, lines_of_frame = missing_lines(picture, frames[n]["components"], f"frame {n}")
        missing += not_seen
        total += lines_of_frame
        n += 1
    assert n == len(frames), f"{video}: {n} frames instead of {len(frames)}"
    assert total, f"{video}: no box"
    assert len(missing) <= total / 1000, f"{len(missing)} of {total} lines missing: {missing[:5]}"
