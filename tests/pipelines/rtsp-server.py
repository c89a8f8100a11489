#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera: serves a video as RTSP on loopback, H.264 without loss, at the video's own pace.

usage: rtsp-server.py VIDEO          prints the URL and runs until it is killed
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service("0")  # any free port
factory = GstRtspServer.RTSPMediaFactory.new()
factory.set_launch(f'( filesrc location="{sys.argv[1]}" ! decodebin ! videoconvert'
                   " ! video/x-raw,format=I420 ! x264enc tune=zerolatency speed-preset=ultrafast"
                   " pass=quant quantizer=0 ! rtph264pay name=pay0 config-interval=1 )")
server.get_mount_points().add_factory("/camera", factory)
server.attach(None)
print(f"rtsp://127.0.0.1:{server.get_bound_port()}/camera", flush=True)
GLib.MainLoop().run()
