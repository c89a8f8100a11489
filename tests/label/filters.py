# SPDX-License-Identifier: LGPL-2.1-or-later
"""The filters of foreground masks by OpenCV."""
import cv2
import numpy as np

FILTERS = {"none": lambda mask: mask, "median-3x3": lambda mask: cv2.medianBlur(mask, 3),
           "median-5x5": lambda mask: cv2.medianBlur(mask, 5),
           "opening-3x3": lambda mask: cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3))),
           "opening-5x5": lambda mask: cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((5, 5)))}


def closed(mask, width, height):
    """The closing of a frame that background continues."""
    wide = np.pad(mask, 80)
    return cv2.morphologyEx(wide, cv2.MORPH_CLOSE, np.ones((height, width)))[80:-80, 80:-80]


def otsu_threshold(samples):
    """Otsu's threshold."""
    return cv2.threshold(samples.reshape(1, -1), 0, 255, cv2.THRESH_OTSU)[0]
