#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends the lines of ccljson over a data channel of WebRTC, and prints what the other peer receives.

usage: data-channel.py 'filesrc location=VIDEO ! decodebin ! videoconvert ! ccl … ! ccltrack ! ccljson'

Both peers are in this program, so that it runs without a server: an application sends the two descriptions and the
candidates, which are text, through its own. A page in a browser receives the lines by ondatachannel and onmessage.
Needs the plugin, GStreamer's "bad" plugins, and the packages gstreamer1.0-nice, python3-gst-1.0 and gir1.2-gst-plugins-bad-1.0.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402, F401

END = "end"  # of the lines; none of them is this
MOST_BUFFERED = 1 << 20  # bytes that wait in the channel
loop = GLib.MainLoop()


def add_peer(pipeline, name):
    peer = Gst.ElementFactory.make("webrtcbin", name)
    if not peer or not Gst.ElementFactory.find("nicesrc"):
        sys.exit("data-channel: webrtcbin or libnice's plugin is missing (gstreamer1.0-plugins-bad, gstreamer1.0-nice)")
    pipeline.add(peer)
    return peer


def describe(peer, kind, then):
    """Has a peer make an offer or an answer, and passes it on."""
    def made(promise):
        reply = promise.get_reply()
        description = reply.get_value(kind)  # which belongs to the reply
        peer.emit("set-local-description", description, Gst.Promise.new())
        then(description)

    peer.emit(f"create-{kind}", None, Gst.Promise.new_with_change_func(made))


def connect(caller, callee):
    """The descriptions and candidates go from one peer to the other."""
    def answer(offer):
        callee.emit("set-remote-description", offer, Gst.Promise.new_with_change_func(
            lambda promise: describe(callee, "answer",
                                     lambda reply: caller.emit("set-remote-description", reply, Gst.Promise.new()))))

    caller.connect("on-ice-candidate", lambda peer, line, text: callee.emit("add-ice-candidate", line, text))
    callee.connect("on-ice-candidate", lambda peer, line, text: caller.emit("add-ice-candidate", line, text))
    describe(caller, "offer", answer)


def send_lines(channel, sink):
    """Sends what has come, unless too much waits, until the lines end."""
    while channel.get_property("buffered-amount") < MOST_BUFFERED:
        sample = sink.emit("try-pull-sample", 0)
        if not sample:
            if not sink.get_property("eos"):
                break
            channel.emit("send-string", END)
            return False
        buffer = sample.get_buffer()
        channel.emit("send-string", buffer.extract_dup(0, buffer.get_size()).decode().rstrip("\n"))
    return True


def receive(channel, text):
    if text == END:
        loop.quit()
    else:
        print(text)


def main():
    Gst.init(None)
    try:
        lines = Gst.parse_launch(f"{' '.join(sys.argv[1:])} ! appsink name=sink sync=false max-buffers=100")
    except GLib.Error as error:
        sys.exit(f"data-channel: {error.message}")
    peers = Gst.Pipeline.new("peers")
    caller, callee = add_peer(peers, "caller"), add_peer(peers, "callee")
    peers.set_state(Gst.State.PLAYING)
    channel = caller.emit("create-data-channel", "ccl", None)
    channel.connect("on-open", lambda channel: GLib.timeout_add(5, send_lines, channel, lines.get_by_name("sink")))
    callee.connect("on-data-channel", lambda peer, other: other.connect("on-message-string", receive))
    connect(caller, callee)
    lines.set_state(Gst.State.PLAYING)
    GLib.timeout_add_seconds(60, lambda: sys.exit("data-channel: no connection, or no end, after 60 s"))
    loop.run()
    for pipeline in lines, peers:
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
