#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of pipelines/demo.py, on the real video among others. Prints TAP.

usage: test-demo.py MAKE_MASKS [FOLDER_OF_THE_SIMULATED_DRIVER]
"""
import json
import os
import pathlib
import pty
import re
import statistics
import subprocess
import sys
import tempfile

import cv2

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import boxes  # noqa: E402
import foreground  # noqa: E402
import tap  # noqa: E402

MAKE_MASKS = sys.argv[1]
DRIVER = sys.argv[2] if len(sys.argv) > 2 else None
# Meson puts the folders of all libraries there that were built, the simulated driver's, too.
LIBRARIES = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path != DRIVER]
os.environ["LD_LIBRARY_PATH"] = ":".join(LIBRARIES)
VIDEO = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
scratch = tempfile.TemporaryDirectory(prefix="demo test ")
folder = pathlib.Path(scratch.name)


def demo(video, **options):
    return subprocess.run([sys.executable, ROOT / "pipelines/demo.py", video, folder / "out"],
                          text=True, timeout=120, cwd=folder, **options)


def read():
    return [json.loads(line) for line in (folder / "out/components.ndjson").read_text().splitlines()]


def make(name, *elements):
    subprocess.run(["gst-launch-1.0", "-q", *" ! ".join(elements).split(), "!", "filesink",
                    f"location={folder / name}"], check=True, timeout=60)
    return folder / name


def refused(video, *words):
    result = demo(video, capture_output=True)
    assert result.returncode != 0, "exit status 0"
    tap.equal(len(result.stderr.splitlines()), 1, f"lines of {result.stderr!r}:")
    for word in ("demo: ", str(video), *words):
        assert word in result.stderr, f"{word!r} is not in {result.stderr!r}"


def street():
    """the street video: the components that scipy finds in each mask, and their boxes"""
    if not os.path.exists(VIDEO):
        raise tap.Skip("opencv-doc is not installed")
    result = demo(VIDEO, stdout=subprocess.PIPE)
    tap.equal(result.returncode, 0, "exit status")
    frames = read()
    tap.equal(len(frames), 795, "frames")
    for number, (frame, mask) in enumerate(
            zip(frames, foreground.learnt_masks(MAKE_MASKS, VIDEO, 768, 576))):
        tap.equal((frame["frame"], frame["count"]), (number, len(frame["components"])))
        tap.equal([tuple(c[k] for k in ("area", "x", "y", "width", "height"))
                   for c in frame["components"]], foreground.components(mask, 0, 64))
    assert sum(frame["count"] for frame in frames) > 3000
    counts = [frame["count"] for frame in frames]
    summary = result.stdout.splitlines()[-6:]
    tap.equal(summary[:2], ["frames: 795", f"components a frame: min {min(counts)}, median "
                            f"{statistics.median(counts):g}, max {max(counts)}"])
    assert re.fullmatch(r"frames a second: \d+\.\d .*", summary[2]), summary[2]
    for line, name in zip(summary[3:], ("components.ndjson", "overlay.mp4", "overlay.png")):
        assert line.endswith("/" + name), line
    boxes.check_video(folder / "out/overlay.mp4", frames)
    busiest = max(frames, key=lambda frame: sum(c["area"] for c in frame["components"]))
    picture = cv2.imread(str(folder / "out/overlay.png"))
    missing, total = boxes.missing_lines(picture, busiest["components"], "overlay.png")
    assert total and not missing, missing


def ball(frames):
    return make("ball.avi", f"videotestsrc pattern=ball num-buffers={frames}",
                "video/x-raw,width=320,height=240,framerate=30/1", "jpegenc", "avimux")


def device():
    """takes cudaccl where there is a device, else ccl, with the same result"""
    if not DRIVER:
        raise tap.Skip("the simulated driver is not built")
    video, written = ball(20), []
    for environment, element in (({"LD_LIBRARY_PATH": ":".join([DRIVER, *LIBRARIES])}, "cudaccl"),
                                 ({"CUDA_VISIBLE_DEVICES": ""}, "ccl")):
        result = demo(video, stdout=subprocess.PIPE, env={**os.environ, **environment})
        tap.equal(result.returncode, 0, "exit status")
        assert f"({element})" in result.stdout.splitlines()[0], result.stdout
        written.append(read())
    tap.equal(len(written[0]), 20, "frames")
    assert any(frame["count"] for frame in written[0]), "the ball was never found"
    tap.equal(written[0], written[1])


def terminal():
    """on a terminal one line shows the frames done, of how many, and frames a second"""
    video = ball(600)
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, ROOT / "pipelines/demo.py", video, folder / "out"],
                          stdout=theirs, cwd=folder) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # the other end closed
            pass
    os.close(ours)
    tap.equal(process.returncode, 0, "exit status")
    lines = re.findall(r"(\d+) of (\d+) frames, \d+\.\d frames/s *\r", shown.decode())
    assert len(lines) >= 2, shown
    tap.equal({total for _, total in lines}, {"600"}, "totals")
    done = [int(frames) for frames, _ in lines]
    assert done == sorted(done) and done[-1] == 600, done


def other_format():
    """another container and codec, a name with spaces and umlauts, sound beside the video"""
    video = make("für alle #1 100%.mkv", "matroskamux name=m audiotestsrc num-buffers=40",
                 "vorbisenc", "queue", "m. videotestsrc pattern=ball num-buffers=25",
                 "video/x-raw,width=321,height=243,framerate=25/1", "theoraenc", "queue", "m. m.")
    tap.equal(demo(video, stdout=subprocess.DEVNULL).returncode, 0, "exit status")
    frames = read()
    tap.equal([frame["frame"] for frame in frames], list(range(25)))
    tap.equal({(frame["width"], frame["height"]) for frame in frames}, {(321, 243)})
    assert any(frame["count"] for frame in frames), "the ball was never found"
    shapes = [picture.shape for picture in boxes.pictures(folder / "out/overlay.mp4")]
    tap.equal(shapes, [(242, 320, 3)] * 25, "the overlay's frames, of even size:")


def missing():
    """a video that is not there: one line that says so"""
    refused(folder / "nowhere.avi", "no such video")


def no_media():
    """a file that is no video: one line that says so"""
    text = folder / "text.avi"
    text.write_text("This is no video.\n" * 100)
    refused(text)


def empty():
    """an empty file: one line that says so"""
    (folder / "empty.avi").touch()
    refused(folder / "empty.avi")


def sound():
    """a file that holds sound alone: one line that says so"""
    refused(make("sound.ogg", "audiotestsrc num-buffers=40", "vorbisenc", "oggmux"), "no video")


sys.exit(tap.run(street, device, terminal, other_format, missing, no_media, empty, sound))
