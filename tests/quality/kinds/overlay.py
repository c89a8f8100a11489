# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the camera writes into the picture. A part draws into the planes of a frame."""
import datetime

import cv2

from parts import part


@part
def clock(scene, text_height):
    """The time, white on a dark bar, with letters of so many pixels."""
    start = datetime.datetime(2026, 3, 4, 10, 59, 40)
    font = cv2.FONT_HERSHEY_DUPLEX
    scale = cv2.getFontScaleFromHeight(font, text_height, 1)
    thickness = max(1, round(text_height / 12))

    def draw(luma, chroma, t):
        text = f"{start + datetime.timedelta(seconds=int(t)):%Y-%m-%d %H:%M:%S}"
        (width, height), below = cv2.getTextSize("0000-00-00 00:00:00", font, scale, thickness)
        right, bottom = 20 + width + 8, 20 + height + below + 6
        luma[12:bottom, 12:right] //= 2
        for plane in chroma:
            plane[6:bottom // 2, 6:right // 2] = 128
        cv2.putText(luma, text, (16, 16 + height), font, scale, 235, thickness, cv2.LINE_AA)
    return draw


@part
def logo(_scene, text="LIVE", every=1.0):
    """A sign that blinks."""
    def draw(luma, _chroma, t):
        if t % every < every / 2:
            cv2.putText(luma, text, (luma.shape[1] * 4 // 5, luma.shape[0] // 8), cv2.FONT_HERSHEY_DUPLEX,
                        luma.shape[0] / 360, 235, 2, cv2.LINE_AA)
    return draw
