# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that play a video by RTSP on chosen processors, for watch-price and watch-rtsp.

tests/watch/recorded-cameras.py serves the video, for which gst-rtsp-server and its bindings for Python are needed."""
import contextlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


def processors_of_server_and_client():
    """The server has all but the last one, if there are several."""
    processors = os.sched_getaffinity(0)
    last = {max(processors)}
    return processors - last or last, last


@contextlib.contextmanager
def running(processors, *words):
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, processors))
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def processor_time(process):
    """User and system time so far, in seconds."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def write_byte_stream(video, folder):
    """H.264 in MP4 as a stream that recorded-cameras.py reads; returns its path."""
    stream = pathlib.Path(folder) / "video.h264"
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={video}", *"! qtdemux ! h264parse".split(), "!",
                    "video/x-h264,stream-format=byte-stream,alignment=au", "!", "filesink", f"location={stream}"], check=True)
    return stream


@contextlib.contextmanager
def serving(processors, n, stream):
    """Serves a stream as n cameras; yields the addresses."""
    with running(processors, sys.executable, ROOT / "tests/watch/recorded-cameras.py", 0, n, stream) as server:
        port = int(server.stdout.readline() or 0)
        if port == 0:
            sys.exit("the RTSP server has not started: it needs gst-rtsp-server and its bindings for Python")
        yield [f"rtsp://127.0.0.1:{port}/{i}" for i in range(n)]
