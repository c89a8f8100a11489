# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the video pipelines should find, from scipy: the expectation of the tests."""
import subprocess
import tempfile

import numpy
from scipy import ndimage


def masks(video, width, height):
    """The masks that stock elements give for a video: an array of frames, rows, columns."""
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!",
             "videoconvert", "!", "segmentation", "test-mode=true", "!", "videoconvert", "!",
             "video/x-raw,format=GRAY8", "!", "filesink", f"location={raw.name}"],
            check=True, timeout=120)
        stride = (width + 3) // 4 * 4
        return numpy.fromfile(raw.name, numpy.uint8).reshape(-1, height, stride)[:, :, :width]


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


def moving(video, width, height):
    """Masks of what moves, as OpenCV sees it: its MOG2 on the luma, without shadows, and a median."""
    import cv2
    size = width * height * 3 // 2
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(
            ["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!",
             "videoconvert", "!", "video/x-raw,format=I420", "!", "filesink", f"location={raw.name}"],
            check=True, timeout=120)
        background = cv2.createBackgroundSubtractorMOG2(detectShadows=False)
        for frame in numpy.memmap(raw.name, numpy.uint8, "r").reshape(-1, size):
            luma = frame[:width * height].reshape(height, width)
            yield cv2.medianBlur(background.apply(luma), 5)
