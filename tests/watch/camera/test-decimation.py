#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""With max-fps, ccl-watch decodes no frames that it does not need. Prints TAP.

usage: test-decimation.py CCL_WATCH SLOW_DECODER
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, folder, tap  # noqa: E402

PROGRAM, SLOW_DECODER = sys.argv[1:3]
SECONDS, RATE = 30, 25


def record(name, encoder, parser):
    """A video with a key frame per second."""
    path = folder / f"{name}.mkv"
    subprocess.run([*f"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers={SECONDS * RATE} ! "
                    f"video/x-raw,format=I420,width=160,height=120,framerate={RATE}/1 ! {encoder} ! {parser} matroskamux ! "
                    "filesink".split(), f"location={path}"], check=True, timeout=120)
    return path


def run(video, max_fps):
    """How many frames a camera decodes, the numbers of its lines in each second, and the log."""
    decoded = folder / "decoded"
    decoded.unlink(missing_ok=True)
    with Watch(PROGRAM, f"a={video}", "--set", f"max-fps={max_fps}", "--set", "results=components",
               environment={"LD_PRELOAD": SLOW_DECODER, "DECODED": str(decoded)}) as program:
        tap.equal(program.finish(seconds=120), 0, "exit status")
        frames = [line for line in program.lines.all() if "frame" in line]
        per_second = [0] * SECONDS
        for line in frames:
            per_second[int(line["pts"] / 1e9)] += 1
        return decoded.stat().st_size, per_second, program.log()


def references():
    """of a stream with two B frames between two others, the others are enough for 5 frames per second"""
    video = record("b", "x264enc bframes=2 b-adapt=false b-pyramid=false key-int-max=25 speed-preset=ultrafast "
                   "option-string=scenecut=0", "h264parse !")
    n, per_second, log = run(video, 5)
    assert "the frames that others refer to are decoded" in log, log
    # All in the first ten seconds, then a third.
    assert 10 * RATE <= n <= 10 * RATE + 20 * RATE * 0.45, f"{n} frames were decoded"
    assert all(4 <= count <= 6 for count in per_second), f"frames per second: {per_second}"


def keys():
    """of a stream with a key frame per second, key frames are enough for 0.9 frames per second"""
    video = record("key", "x264enc key-int-max=25 bframes=0 speed-preset=ultrafast option-string=scenecut=0", "h264parse !")
    n, per_second, log = run(video, 0.9)
    assert "key frames alone are decoded" in log, log
    assert 10 * RATE <= n <= 10 * RATE + 25, f"{n} frames were decoded"
    assert 24 <= sum(per_second) <= 28, f"frames per second: {per_second}"


def all_needed():
    """of a stream whose frames all refer to the one before, all are decoded for 5 frames per second"""
    n, per_second, log = run(folder / "key.mkv", 5)
    assert "are decoded, for max-fps" not in log, log
    assert SECONDS * RATE <= n <= SECONDS * RATE + 2, f"{n} frames were decoded"
    assert all(4 <= count <= 6 for count in per_second), f"frames per second: {per_second}"


def without_references():
    """of pictures that need no other one, no more are decoded than 5 per second"""
    n, per_second, log = run(record("whole", "avenc_ffv1 gop-size=1", ""), 5)
    assert "key frames alone are decoded" in log, log
    assert 10 * RATE <= n <= 10 * RATE + 20 * 6, f"{n} frames were decoded"
    assert all(4 <= count <= 6 for count in per_second), f"frames per second: {per_second}"


sys.exit(tap.run(references, keys, all_needed, without_references))
