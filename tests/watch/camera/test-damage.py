#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures that are damaged, because the connection began between two key frames or because packets were lost, are
neither analysed nor shown nor stored. Prints TAP.

usage: test-damage.py CCL_WATCH
"""
import functools
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, camera, folder, get, needs, running, tap, wait_for  # noqa: E402

watch = functools.partial(Watch, sys.argv[1])
STILL = {"PATTERN": "circular", "size": "320x240", "rate": 10}
QUICK = ["-s", "ccl.min-area=20", "-s", "results=components"]


def kept_running(uri):
    """A client that keeps the stream of a shared server running, so that others begin between two key frames."""
    return running("gst-launch-1.0", "-q", "rtspsrc", f"location={uri}", "protocols=tcp", "!", "fakesink")


def still_scene(*settings):
    with camera(**STILL, KEY_SECONDS="3") as (_, port):
        uri = f"rtsp://127.0.0.1:{port}/camera"
        with kept_running(uri):
            time.sleep(2)
            with watch(*[f"c{i}={uri}" for i in range(3)], *QUICK, *settings) as program:
                wait_for(lambda: len(program.lines.frames()) > 130, "too few frames")
                tap.equal(program.lines.events().count("motion-begin"), 0, "motions of a still scene")
                tap.equal(program.lines.states(), ["playing"] * 3, "states")


def between_key_frames():
    """connections that begin between two key frames of a still scene raise no motion"""
    still_scene()


def decoder_that_outputs_everything():
    """the same with a decoder that outputs damaged pictures, as others than libav's do"""
    still_scene("-s", "decoder.output-corrupt=true")


def moving_scene():
    """a connection between two key frames of a moving scene: the picture of the event has no grey area"""
    needs("gst-launch-1.0")
    from PIL import Image
    with camera(size="320x240", rate=10, KEY_SECONDS="3") as (_, port):
        uri = f"rtsp://127.0.0.1:{port}/camera"
        with kept_running(uri):
            time.sleep(2)
            media = folder / "media"
            with watch(f"a={uri}", *QUICK, "-s", "picture-boxes=false", "--folder", media) as program:
                picture = wait_for(lambda: next(media.glob("a/*.jpg"), None), "no picture")
                wait_for(lambda: picture.stat().st_size > 500, "an empty picture")
                time.sleep(0.2)
                grey = Image.open(picture).convert("L").histogram()[100:156]
                # The ball is white and the background black.
                assert sum(grey) < 0.05 * 320 * 240, sum(grey)


def lost_packets():
    """packets are lost again and again: a still scene raises no motion"""
    with camera(**STILL, LOSS="0.003") as (_, port), watch(
            f"a=rtsp://127.0.0.1:{port}/camera", *QUICK, "--http", "127.0.0.1:0") as program:
        wait_for(lambda: len(program.lines.frames()) > 40, "too few frames")
        tap.equal(program.lines.events().count("motion-begin"), 0, "motions of a still scene")
        text = get(program, "/metrics")[1]
        skipped = next(line for line in text.splitlines() if line.startswith("ccl_watch_skipped_frames_total{"))
        assert float(skipped.split()[1]) > 0, skipped


def cut_file():
    """a file that is cut short is analysed to its cut, and a warning says where it ended; a whole one has none"""
    whole, cut = folder / "whole.mkv", folder / "cut.mkv"
    subprocess.run([*"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=100 ! video/x-raw,width=320,height=240,framerate=10/1 "
                    "! jpegenc ! matroskamux ! filesink".split(), f"location={whole}"], check=True, timeout=60)
    cut.write_bytes(whole.read_bytes()[:whole.stat().st_size * 3 // 5])
    for path, warnings in ((whole, 0), (cut, 1)):
        result = subprocess.run([sys.argv[1], "-d", "cpu", "-e", *QUICK, "-o", folder / "cut.ndjson", f"cam={path}"],
                                stderr=subprocess.PIPE, text=True, check=True, timeout=60)
        found = re.findall(r"camera cam: the file ended at (\S+) s of (\S+) s", result.stderr)
        tap.equal(len(found), warnings, f"{path.name}: {result.stderr}")
        for position, duration in found:
            assert 5 <= float(position) <= 7 and 9.9 <= float(duration) <= 10, found


sys.exit(tap.run(cut_file, between_key_frames, decoder_that_outputs_everything, moving_scene, lost_packets))
