#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Says who crosses which line, and how many are where then. All of it is in the frame's metadata.

usage: who-crosses.py 'filesrc location=VIDEO ! decodebin ! videoconvert ! ccl … ! ccltrack regions=…'

Needs the plugin, and the packages python3-gst-1.0 and gir1.2-gstccl-1.0.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import GLib, Gst, GstCcl  # noqa: E402


def print_frame(frame):
    meta = GstCcl.buffer_get_ccl_meta(frame)
    state = meta.get_region_state() if meta else None
    classes = meta.get_classes() if meta else None
    regions = [state.get_region(index) for index in range(state.get_n_regions())] if state else []
    inside = "".join(f", {region.inside} in {region.name}" for region in regions if not region.is_line)
    for index, line in enumerate(regions):
        for row in range(meta.get_n_rows()):
            crossing = state.get_crossing(index, row)
            if crossing:
                name = classes and classes.get_name(row) or "object"
                direction = "forward" if crossing > 0 else "backward"
                print(f"{frame.pts / 1e9:.3f} s: {name} {meta.get_track(row).id} crosses {line.name} {direction}{inside}")


def main():
    Gst.init(None)
    try:
        pipeline = Gst.parse_launch(f"{' '.join(sys.argv[1:])} ! appsink name=sink sync=false")
    except GLib.Error as error:
        sys.exit(f"who-crosses: {error.message}")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    error = None
    while not error and not sink.get_property("eos"):
        sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
        if sample:
            print_frame(sample.get_buffer())
        else:  # after an error there may be no end of stream
            error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        sys.exit(f"who-crosses: {error.parse_error()[0].message}")


main()
