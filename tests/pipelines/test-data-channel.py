#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The lines of ccljson over a data channel of WebRTC, from webrtcbin to a page in a headless Chromium. Prints TAP."""
import json
import pathlib
import shutil
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/runner"), str(ROOT / "tests/watch/page")]
import tap  # noqa: E402
from processes import wait_for  # noqa: E402

try:
    import gi
    for library in "Gst", "GstSdp", "GstWebRTC":
        gi.require_version(library, "1.0")
    from gi.repository import GLib, Gst, GstSdp, GstWebRTC
    import browser
except (ImportError, ValueError) as error:
    print(f"1..0 # SKIP {error}")
    sys.exit()

LINES = ("videotestsrc pattern=ball num-buffers=200 ! video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1 ! ccl threshold=128 ! "
         "ccltrack ! ccljson ! appsink name=sink sync=false")

# A page that shows each line, and the answer to an offer, with all its candidates.
PAGE = """data:text/html,<pre id=lines></pre><script>
async function answer(offer) {
  const peer = new RTCPeerConnection();
  peer.ondatachannel = ({ channel }) => channel.onmessage = ({ data }) => lines.append(data + "\\n");
  await peer.setRemoteDescription({ type: "offer", sdp: offer });
  await peer.setLocalDescription(await peer.createAnswer());
  while (peer.iceGatheringState != "complete")
    await new Promise((resolve) => setTimeout(resolve, 50));
  return peer.localDescription.sdp;
}
</script>""".replace("\n", " ")


def offer_of(peer):
    """The offer, when it has all candidates."""
    def made(promise):
        reply = promise.get_reply()  # to which the description belongs
        peer.emit("set-local-description", reply.get_value("offer"), Gst.Promise.new())

    peer.emit("create-offer", None, Gst.Promise.new_with_change_func(made))
    wait_for(lambda: peer.get_property("local-description") and
             peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE, "no candidates")
    return peer.get_property("local-description").sdp.as_text()


def take_answer(peer, text):
    _, message = GstSdp.SDPMessage.new_from_text(text)
    peer.emit("set-remote-description", GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message),
              Gst.Promise.new())


def lines_of(pipeline):
    sink = pipeline.get_by_name("sink")
    while sample := sink.emit("pull-sample"):
        buffer = sample.get_buffer()
        yield buffer.extract_dup(0, buffer.get_size()).decode().rstrip("\n")


def browser_shows_lines():
    """a page in a browser shows each line of ccljson, in order"""
    executable = shutil.which("chromium")
    if not executable or not Gst.ElementFactory.find("webrtcbin") or not Gst.ElementFactory.find("nicesrc"):
        raise tap.Skip("chromium, webrtcbin or the plugin of libnice is not installed")
    view = browser.Browser(executable)
    pipeline, lines = Gst.Pipeline.new(), Gst.parse_launch(LINES)
    peer = Gst.ElementFactory.make("webrtcbin")
    pipeline.add(peer)
    try:
        pipeline.set_state(Gst.State.PLAYING)
        channel = peer.emit("create-data-channel", "ccl", None)
        is_open = threading.Event()
        channel.connect("on-open", lambda channel: is_open.set())
        view.open(PAGE)
        take_answer(peer, view.evaluate(f"answer({json.dumps(offer_of(peer))})"))
        assert is_open.wait(20), "the channel does not open"
        lines.set_state(Gst.State.PLAYING)
        sent = list(lines_of(lines))
        for line in sent:
            channel.emit("send-string", line)
        view.wait(f"lines.textContent.split('\\n').length > {len(sent)}")
        shown = view.evaluate("lines.textContent").splitlines()
        tap.equal(shown, sent, "lines")
        rows = [json.loads(line) for line in shown]
        tap.equal([row["frame"] for row in rows if "frame" in row], list(range(200)), "frames")
        assert "appeared" in {row.get("event") for row in rows}, shown[-1]
        tap.equal(view.problems, [])
    finally:
        for each in lines, pipeline:
            each.set_state(Gst.State.NULL)
        view.close()


Gst.init(None)
sys.exit(tap.run(browser_shows_lines))
