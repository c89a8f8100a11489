#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera of ccl-watch with two streams: the small one is analysed, and clips are made of the large one, which is not
decoded, may be away, and may come later. Prints TAP.

usage: test-record.py
"""
import contextlib
import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import served  # noqa: E402
from watching import HERE, free_port, needs, recording, running, tap, wait_for  # noqa: E402

STILL, MOVES, PRE, POST = 8, 3, 1, 2
LATER = 4  # seconds, so that wrong times are seen
LARGE = "320x240"


@contextlib.contextmanager
def small_stream():
    """Nothing moves, something does, nothing does. Yields the URI."""
    video = served.video("small", (STILL, False), (MOVES, True), (30, False))
    with running(sys.executable, HERE.parent / "pipelines/rtsp-server.py", video, stdout=subprocess.PIPE,
                 stderr=subprocess.DEVNULL) as process:
        uri = process.stdout.readline().strip()
        if not uri:
            raise tap.Skip("gir1.2-gst-rtsp-server-1.0 is not installed")
        yield uri


def large_stream(port):
    return running(sys.executable, HERE / "recorded-cameras.py", port, 1, recording(LARGE, 10), stdout=subprocess.PIPE,
                   stderr=subprocess.DEVNULL)


def ffprobe(path, entries):
    words = f"ffprobe -v error -select_streams v -of csv=p=0 -show_entries {entries}".split()
    return subprocess.run([*words, path], capture_output=True, text=True, timeout=30, check=True).stdout.split()


def watch(store, port, uri, *words, **options):
    return served.Served("--folder", store, *words, "--set", "clips=true", "--set", "retry-max=1", "--set",
                         f"clip-pre={PRE}", "--set", f"clip-post={POST}", "--set", f"record-uri=rtsp://u:w0rd@127.0.0.1:{port}/0",
                         f"a={uri}", **options)


def seconds_of(event):
    return datetime.datetime.fromisoformat(event["utc"].replace("Z", "+00:00")).timestamp()


def wait_until(server, time):
    """Until there is a frame of a time of day, in seconds."""
    wait_for(lambda: any("frame" in line and seconds_of(line) > time for line in server.lines[-5:]), "no later frame")


def clip_of_the_large_stream():
    """The clip is of the large stream, which came later than the small one, at the time of the motion; it is not decoded"""
    needs("ffprobe")
    port, store = free_port(), served.folder / "record"
    environment = {**os.environ, "GST_DEBUG": "GST_ELEMENT_FACTORY:4", "GST_DEBUG_NO_COLOR": "1"}
    with small_stream() as uri, watch(store, port, uri, env=environment) as server:
        first = wait_for(lambda: [line for line in server.lines if "frame" in line], "no frame")[0]
        wait_until(server, seconds_of(first) + LATER)
        wait_for(lambda: "record-uri" in " ".join(server.log), "no word about the stream that is away")
        with large_stream(port):
            begin = seconds_of(wait_for(lambda: server.events("motion-begin"), "no motion")[0])
            end = seconds_of(wait_for(lambda: server.events("motion-end"), "no end of the motion")[0])
            wait_until(server, end + POST + LATER)
            server.stop()
    clip, = store.glob("*/*.mp4")
    tap.equal({(line["width"], line["height"]) for line in server.lines if "frame" in line},
              {(served.WIDTH, served.HEIGHT)}, "analysed")
    tap.equal(ffprobe(clip, "stream=width,height")[0], LARGE.replace("x", ","), "recorded")
    assert "K" in ffprobe(clip, "packet=flags")[0], "the first frame is no key frame"
    # From the key frame before, of which there is one each second.
    seconds = float(ffprobe(clip, "format=duration")[0])
    assert end - begin + POST < seconds < end - begin + PRE + POST + 2.5, (seconds, end - begin)
    log = " ".join(server.log)
    assert "w0rd" not in log, log
    made = re.findall(r'creating element "(avdec_h264|openh264dec|\w*h264\w*dec)"', log)
    tap.equal(len(made), 1, f"decoders {made}")


def analysis_goes_on():
    """While the large stream is away or silent, the small one is analysed, the log says it once, and the program ends"""
    port, store = free_port(), served.folder / "away"
    with small_stream() as uri, watch(store, port, uri, "--set", "timeout=3") as server:
        wait_for(lambda: server.events("motion-begin"), "no motion")
        tap.equal(sum("record-uri" in line for line in server.log), 1, server.log)
        with large_stream(port) as process:
            wait_for(lambda: "record-uri: works again" in " ".join(server.log), "it does not work again")
            process.send_signal(signal.SIGSTOP)
            wait_for(lambda: "record-uri: no frame for 3 seconds" in " ".join(server.log), "the silence is not noticed")
            n = len(server.lines)
            wait_for(lambda: len(server.lines) > n + 5, "the analysis stands still")
            tap.equal({line["state"] for line in server.events("state")}, {"playing"}, "states")
            server.stop()


def wrong_uris():
    """A second stream must be in the network, and that of a file cannot be"""
    video = served.video("small", (STILL, False), (MOVES, True), (30, False))
    for uri, record in (("rtsp://h/a", video), ("rtsp://h/a", "/dev/video0"), ("rtsp://h/a", f"file://{video}"),
                        (video, "rtsp://h/b")):
        result = subprocess.run([served.WATCH, "--check", "--set", f"record-uri={record}", f"a={uri}"],
                                stderr=subprocess.PIPE, text=True, check=False)
        tap.equal(result.returncode, 2, f"{uri} {record}")
        assert "record-uri" in result.stderr, result.stderr


sys.exit(tap.run(clip_of_the_large_stream, analysis_goes_on, wrong_uris))
