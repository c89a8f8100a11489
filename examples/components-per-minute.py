#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the moving components of a video minute by minute, prints and plots the counts.

usage: components-per-minute.py VIDEO PLOT.png

A component that is visible in ten frames counts ten times. Needs the plugin, and the packages
python3-gst-1.0, python3-matplotlib, gir1.2-gstccl-1.0, gstreamer1.0-plugins-base, -good and -libav.
"""
import sys

import gi
import matplotlib

gi.require_version("Gst", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import Gst, GstCcl  # noqa: E402

matplotlib.use("Agg")  # draws without a screen
from matplotlib import pyplot  # noqa: E402

PIPELINE = ("filesrc name=file ! decodebin ! videoconvert"
            " ! ccl foreground=codebook min-area=200"
            " ! appsink name=sink sync=false max-buffers=4")


def count(video):
    """Frames and components of each minute, as a list of pairs."""
    minutes = []
    pipeline = Gst.parse_launch(PIPELINE)
    pipeline.get_by_name("file").set_property("location", video)
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    error = None
    while not error and not sink.get_property("eos"):
        sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
        if not sample:  # after an error there may be no end of stream
            error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
            continue
        frame = sample.get_buffer()
        meta = GstCcl.buffer_get_ccl_meta(frame)
        minute = frame.pts // (60 * Gst.SECOND)
        minutes += [[0, 0]] * (minute + 1 - len(minutes))
        frames, components = minutes[minute]
        minutes[minute] = [frames + 1, components + meta.get_n_components()]
    pipeline.set_state(Gst.State.NULL)
    if error:
        sys.exit(f"components-per-minute: {error.parse_error()[0].message}")
    return minutes


def plot(minutes, picture):
    figure, axes = pyplot.subplots()
    axes.bar(range(len(minutes)), [components for _, components in minutes])
    axes.set_xlabel("minute")
    axes.set_ylabel("components, all frames together")
    figure.savefig(picture)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: components-per-minute.py VIDEO PLOT.png")
    Gst.init(None)
    minutes = count(sys.argv[1])
    for minute, (frames, components) in enumerate(minutes):
        print(f"minute {minute}: {components} components in {frames} frames")
    plot(minutes, sys.argv[2])


main()
