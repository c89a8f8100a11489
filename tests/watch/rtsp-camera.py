#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera: serves a moving ball, or a video of 768x576 pixels, as RTSP on loopback.

usage: rtsp-camera.py PORT WIDTHxHEIGHT RATE [VIDEO]     prints a line when it serves

Port 0 is any free port. The path is /camera; /garbage, whose data cannot be decoded; or
/short, which ends after five frames. With the environment variable PASSWORD, that is required, and
"user" is the user. With the environment variable GARBAGE, /camera sends what /garbage sends. PATTERN is
that of videotestsrc in place of the ball, KEY_SECONDS the time between key frames, ENCODER further properties of x264enc, and
LOSS the part of the packets that are lost.
"""
import os
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
port, size, rate = sys.argv[1:4]
width, height = size.split("x")
if len(sys.argv) > 4:
    source = f'multifilesrc location="{sys.argv[4]}" loop=true ! decodebin ! videoconvert ! videoscale ! videorate'
    live = " ! identity sync=true"
else:
    source = f"videotestsrc is-live=true pattern={os.environ.get('PATTERN', 'ball')} motion=wavy"
    live = ""
caps = f"video/x-raw,format=I420,width={width},height={height},framerate={rate}/1"
encoder = (f"{source} ! {caps}{live} ! x264enc tune=zerolatency speed-preset=ultrafast threads=1"
           f" key-int-max={int(rate) * int(os.environ.get('KEY_SECONDS', '1'))}"
           f" {os.environ.get('ENCODER', '')} ! ")
pay = "rtph264pay name=pay0 config-interval=-1"
if "LOSS" in os.environ:
    pay = f"rtph264pay config-interval=-1 mtu=300 ! identity name=pay0 drop-probability={os.environ['LOSS']}"
launches = {
    "/camera": f"( {encoder}{pay} )",
    "/short": f"( videotestsrc num-buffers=5 ! {caps} ! x264enc tune=zerolatency threads=1 ! {pay} )",
    # Half of the bytes are random.
    "/garbage": f"( {encoder}breakmydata skip=200 probability=0.5 ! {pay} )",
}
if "GARBAGE" in os.environ:
    launches["/camera"] = launches["/garbage"]
server = GstRtspServer.RTSPServer.new()
server.set_address("127.0.0.1")
server.set_service(port)
if "PASSWORD" in os.environ:
    auth = GstRtspServer.RTSPAuth.new()
    token = GstRtspServer.RTSPToken.new()
    token.set_string("media.factory.role", "owner")
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic("user", os.environ["PASSWORD"]), token)
    server.set_auth(auth)
for path, launch in launches.items():
    factory = GstRtspServer.RTSPMediaFactory.new()
    factory.set_launch(launch)
    factory.set_shared(path != "/short")
    permissions = GstRtspServer.RTSPPermissions.new()
    permissions.add_permission_for_role("owner", "media.factory.access", True)
    permissions.add_permission_for_role("owner", "media.factory.construct", True)
    factory.set_permissions(permissions)
    server.get_mount_points().add_factory(path, factory)
if not server.attach(None):
    sys.exit("rtsp-camera.py: the port is taken")
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
