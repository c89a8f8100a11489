# SPDX-License-Identifier: LGPL-2.1-or-later
"""The components that the video pipelines must find: the expectation of the tests."""
import pathlib
import subprocess
import sys
import tempfile

import numpy
from scipy import ndimage

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "second-opinion"))
from masks import Foreground  # noqa: E402


def i420(video, width, height):
    """A video's frames in I420 without padding: an array of frames, bytes."""
    row, rows = (width + 3) // 4 * 4, (height + 1) // 2 * 2
    size = row * rows + 2 * (((width + 1) // 2 + 3) // 4 * 4) * (rows // 2)
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!",
             "videoconvert", "!", "video/x-raw,format=I420", "!", "filesink", f"location={raw.name}"],
            check=True, timeout=120)
        frames = numpy.fromfile(raw.name, numpy.uint8).reshape(-1, size)
    planes, first = [], 0
    for stride, n_rows, bytes_, n in ((row, rows, width, height),) + 2 * (
            (((width + 1) // 2 + 3) // 4 * 4, rows // 2, (width + 1) // 2, (height + 1) // 2),):
        plane = frames[:, first:first + stride * n_rows].reshape(-1, n_rows, stride)
        planes.append(plane[:, :n, :bytes_].reshape(len(frames), -1))
        first += stride * n_rows
    return numpy.concatenate(planes, axis=1)


def learnt_masks(program, video, width, height, rate):
    """The foreground masks of foreground=codebook for frames at that rate, from the C library without
    GStreamer (the program make-masks; tests/second-opinion compares it with OpenCV)."""
    with Foreground(program, "codebook", (height, width), shadows=2, light=1, hold=4, chroma=1, rate=rate) as model:
        for frame in i420(video, width, height):
            yield model.mask(frame)


def components(mask, threshold, min_area):
    """Area, x, y, width and height of the components of one mask, in the order of their labels."""
    labels, _ = ndimage.label(mask > threshold, ndimage.generate_binary_structure(2, 2))
    areas = numpy.bincount(labels.ravel())[1:]
    rows = []
    for area, (rows_of, columns) in zip(areas.tolist(), ndimage.find_objects(labels)):
        if area >= min_area:
            rows.append((area, columns.start, rows_of.start, columns.stop - columns.start,
                         rows_of.stop - rows_of.start))
    return rows
