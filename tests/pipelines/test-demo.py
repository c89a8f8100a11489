#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of pipelines/demo.py, on the real video among others. Prints TAP.

usage: test-demo.py MAKE_MASKS [FOLDER_OF_THE_SIMULATED_DRIVER]
"""
import csv
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
import numpy

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
    """The lines of frames; those of events have no field `frame`."""
    lines = map(json.loads, (folder / "out/components.ndjson").read_text().splitlines())
    return [line for line in lines if "frame" in line]


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


def drawn_over(shape, frames):
    """Where ccloverlay may draw: boxes, identities, and the trails of the latest 50 frames."""
    over = numpy.zeros(shape[:2], numpy.uint8)
    for frame in frames:
        for track in frame["components"]:
            foot = (track["x"] + track["width"] // 2, track["y"] + track["height"])
            cv2.circle(over, foot, 20, 255, -1)
    for track in frames[-1]["components"]:
        x, y = track["x"], track["y"]
        over[max(y - 30, 0):y + 30, max(x - 50, 0):x + 60] = 255
    for line in boxes.lines(frames[-1]["components"]):
        over[line] = 255
    return cv2.dilate(over, numpy.ones((17, 17))) > 0


def check_overlay(overlay, frames):
    """Every 50th picture differs from the video along the lines of the boxes, and not elsewhere."""
    seen = total = 0
    for number, (picture, original) in enumerate(zip(boxes.pictures(overlay), boxes.pictures(VIDEO))):
        if number % 50 or not frames[number]["components"]:
            continue
        difference = cv2.absdiff(picture, original).max(axis=2)
        for line in boxes.lines(frames[number]["components"]):
            if difference[line].size >= 8:
                total += 1
                seen += difference[line].mean() > 30
        elsewhere = difference[~drawn_over(picture.shape, frames[max(number - 50, 0):number + 1])]
        assert numpy.mean(elsewhere > 60) < 0.001, f"frame {number}: drawn where nothing is"
    assert total > 200 and seen > 0.95 * total, f"{seen} of {total} lines are seen"


def street():
    """the street video: each track is in a component that scipy finds; table and picture show it"""
    if not os.path.exists(VIDEO):
        raise tap.Skip("opencv-doc is not installed")
    result = demo(VIDEO, stdout=subprocess.PIPE)
    tap.equal(result.returncode, 0, "exit status")
    frames = read()
    tap.equal(len(frames), 795, "frames")
    first, last = {}, {}
    for number, (frame, mask) in enumerate(
            zip(frames, foreground.learnt_masks(MAKE_MASKS, VIDEO, 768, 576, 10))):
        tap.equal((frame["frame"], frame["count"]), (number, len(frame["components"])))
        components = foreground.components(mask, 0, 768 * 576 // 800)
        for track in frame["components"]:
            tap.equal(track["area"], components[track["label"] - 1][0], f"frame {number}, area")
            first.setdefault(track["id"], frame["pts"])
            last[track["id"]] = frame["pts"]
    assert sum(frame["count"] for frame in frames) > 3000
    with open(folder / "out/tracks.csv", encoding="utf-8") as table:
        rows = [(int(row["id"]), float(row["first_seconds"]), float(row["last_seconds"]))
                for row in csv.DictReader(table)]
    tap.equal(rows, [(identity, first[identity] / 1e9, last[identity] / 1e9) for identity in sorted(first)])
    assert f"tracks: {len(rows)}" in result.stdout.splitlines(), result.stdout
    counts = [frame["count"] for frame in frames]
    summary = result.stdout.splitlines()[-8:]
    tap.equal(summary[:2], ["frames: 795", f"tracks in a frame: min {min(counts)}, median "
                            f"{statistics.median(counts):g}, max {max(counts)}"])
    assert re.fullmatch(r"frames a second: \d+\.\d .*", summary[2]), summary[2]
    for line, name in zip(summary[3:], ("components.ndjson", "overlay.mp4", "overlay.png", "tracks.csv",
                                        "count.png")):
        assert line.endswith("/" + name), line
    tap.equal(sum(1 for _ in boxes.pictures(folder / "out/overlay.mp4")), 795, "pictures")
    check_overlay(folder / "out/overlay.mp4", frames)
    tap.equal(cv2.imread(str(folder / "out/overlay.png")).shape, (576, 768, 3))
    assert cv2.imread(str(folder / "out/count.png")).std() > 10, "the plot is empty"


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
