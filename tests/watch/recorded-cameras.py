#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that cost no encoder: serves videos of H.264 again and again as RTSP on loopback, 25 frames per second, with
the time of sending as the sender's clock. The paths are /0, /1, …; they have the videos in turn, and begin at different key
frames.

usage: recorded-cameras.py PORT N VIDEO.h264…     prints the port when it serves; 0 is any free port
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
port, n = sys.argv[1], int(sys.argv[2])
PERIOD = 40000  # µs
FORMAT = "video/x-h264,stream-format=byte-stream,alignment=au"


def read(path):
    """The frames, and which of them are key frames."""
    frames, keys = [], []
    pipeline = Gst.parse_launch(f'filesrc location="{path}" ! h264parse config-interval=-1 ! {FORMAT} ! '
                                "appsink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        buffer = sample.get_buffer()
        if not buffer.get_flags() & Gst.BufferFlags.DELTA_UNIT:
            keys.append(len(frames))
        frames.append(buffer.extract_dup(0, buffer.get_size()))
    pipeline.set_state(Gst.State.NULL)
    return frames, keys


videos = [read(path) for path in sys.argv[3:]]
sources = {}  # number → source, frames, number of the next frame


def configure(_, media, number):
    source = media.get_element().get_by_name("source")
    source.set_property("caps", Gst.Caps.from_string(FORMAT + ",framerate=25/1"))
    frames, keys = videos[number % len(videos)]
    sources[number] = [source, frames, keys[number * len(keys) // n]]


def send():
    """Sends a frame of each camera. The next one is due by the clock, so that delays do not add up."""
    global due
    due += PERIOD
    GLib.timeout_add(max(0, (due - GLib.get_monotonic_time()) // 1000), send)
    for number, (source, frames, frame) in list(sources.items()):
        if source.emit("push-buffer", Gst.Buffer.new_wrapped(frames[frame])) == Gst.FlowReturn.OK:
            sources[number][2] = (frame + 1) % len(frames)
        else:
            del sources[number]
    return False


server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service(port)
for number in range(n):
    factory = GstRtspServer.RTSPMediaFactory.new()
    factory.set_launch("( appsrc name=source is-live=true do-timestamp=true format=time ! h264parse ! "
                       "rtph264pay name=pay0 config-interval=-1 )")
    factory.set_shared(True)
    factory.connect("media-configure", configure, number)
    server.get_mount_points().add_factory(f"/{number}", factory)
if not server.attach(None):
    sys.exit("recorded-cameras.py: the port is taken")
due = GLib.get_monotonic_time()
send()
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
