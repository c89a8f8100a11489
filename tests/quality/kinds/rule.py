# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rule by which every method's motion is counted; the values are the defaults of ccl-watch."""

QUIET = 5.0  # pauses of fewer seconds do not end a motion, and a motion ends with its last frame: ccl.quiet-time
MIN_AREA = 200  # smaller components, in pixels, do not count: ccl.min-area
MIN_FRAMES = 3  # so many frames in a row with components begin a motion, and confirm a track: ccl.min-frames


def join(moments):
    """Intervals of moments that are less than QUIET seconds apart."""
    intervals = []
    for t in moments:
        if intervals and t - intervals[-1][1] < QUIET:
            intervals[-1][1] = t
        else:
            intervals.append([t, t])
    return intervals
