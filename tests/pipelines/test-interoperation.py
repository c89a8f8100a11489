#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer's own elements read the metadata that ccl attaches. Prints TAP."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import foreground  # noqa: E402
import tap  # noqa: E402

scratch = tempfile.TemporaryDirectory(prefix="interoperation test ")
folder = pathlib.Path(scratch.name)
WIDTH, HEIGHT, FRAMES = 160, 120, 8
BACKGROUND, BALL = (0x20, 0x40, 0x60), (255, 255, 255)
SOURCE = (f"videotestsrc pattern=ball background-color=0xff204060 num-buffers={FRAMES}"
          f" ! video/x-raw,format=RGBA,width={WIDTH},height={HEIGHT},framerate=30/1")
# The labels' branch and the video's meet again at the combiner.
ON_VIDEO = (SOURCE + " ! tee name=t t. ! queue ! videoconvert ! video/x-raw,format=GRAY8"
            " ! ccl threshold=128 meta={meta} ! combiner.mask t. ! queue ! combiner.video"
            " cclcombiner name=combiner")
TRACK_AT_ONCE = " ! ccltrack least-way=0 confirm-frames=1"


def launch(line, *words):
    return ["gst-launch-1.0", "-q", *line.split(), *words]


def needs(element, *properties):
    """Skips where the element is not there, or has not these properties."""
    found = subprocess.run(["gst-inspect-1.0", element], check=False, capture_output=True, text=True)
    if found.returncode != 0:
        raise tap.Skip(f"this GStreamer has no {element}")
    for name in properties:
        if not has_property(element, name):
            raise tap.Skip(f"this GStreamer's {element} has no property {name}")


def has_property(element, name):
    found = subprocess.run(["gst-inspect-1.0", element], check=False, capture_output=True, text=True)
    return re.search(rf"\n  {name} *:", found.stdout)


def pictures(line):
    """The frames at the end of a pipeline: red, green and blue."""
    raw = folder / "pictures.rgba"
    subprocess.run(launch(line + " ! videoconvert ! video/x-raw,format=RGBA ! filesink", f"location={raw}"),
                   check=True, timeout=60)
    frames = numpy.fromfile(raw, numpy.uint8).reshape(-1, HEIGHT, WIDTH, 4)[..., :3]
    tap.equal(len(frames), FRAMES, "frames")
    return frames


def boxes():
    """Of the ball, on each frame, from scipy: x, y, width and height."""
    raw = folder / "ball.gray"
    subprocess.run(launch(SOURCE + " ! videoconvert ! video/x-raw,format=GRAY8 ! filesink",
                          f"location={raw}"), check=True, timeout=60)
    masks = numpy.fromfile(raw, numpy.uint8).reshape(FRAMES, HEIGHT, WIDTH)
    tables = [foreground.components(mask, 128, 1) for mask in masks]
    tap.equal([len(table) for table in tables], [1] * FRAMES, "balls")
    return [table[0][1:] for table in tables]


def regions_of_interest():
    """meta=roi: grabcut cuts out what is in the region, and does nothing without one"""
    needs("grabcut", "test-mode")
    cut = " ! grabcut test-mode=true scale=1.2"
    plain = pictures(SOURCE)
    without = pictures(ON_VIDEO.format(meta="ccl") + cut)
    assert (without == plain).all(), "grabcut changed frames without a region"

    # Of test mode, what is cut out stays; all else is black, but for a violet rectangle.
    result = pictures(ON_VIDEO.format(meta="ccl+roi") + cut)
    for number, (before, after, (x, y, width, height)) in enumerate(zip(plain, result, boxes())):
        left = (after == BACKGROUND).all(axis=2)
        tap.equal(int(left.sum()), 0, f"frame {number}: pixels of the background that are left:")
        ball = (before[y:y + height, x:x + width] == BALL).all(axis=2)
        kept = (after[y:y + height, x:x + width] == BALL).all(axis=2)
        share = (ball & kept).sum() / ball.sum()
        assert share > 0.95, f"frame {number}: only {share:.2f} of the ball is left"


def extent(mask):
    """The box of a mask's pixels: left, top, and the first column and row behind it."""
    rows, columns = map(numpy.ndarray.tolist, numpy.nonzero(mask))
    return min(columns), min(rows), max(columns) + 1, max(rows) + 1


def object_detections():
    """meta=analytics: objectdetectionoverlay draws the boxes"""
    needs("objectdetectionoverlay", "object-detection-outline-color")
    drawn = pictures(ON_VIDEO.format(meta="ccl+analytics") + " ! objectdetectionoverlay"
                     " object-detection-outline-color=0xffff0000 draw-labels=false")
    for number, (picture, (x, y, width, height)) in enumerate(zip(drawn, boxes())):
        red = (picture[..., 0] > 200) & (picture[..., 1] < 90) & (picture[..., 2] < 90)
        got = extent(red)
        want = (x, y, x + width, y + height)
        # The line has a width of its own.
        assert max(abs(a - b) for a, b in zip(got, want)) <= 2, f"frame {number}: {got} for {want}"
        assert not red[y + 3:y + height - 3, x + 3:x + width - 3].any(), f"frame {number}: filled"


def tracks():
    """behind ccltrack, objectdetectionoverlay draws the detections, from 1.28 on in colours of tracks"""
    needs("objectdetectionoverlay", "object-detection-outline-color")
    overlay = " ! objectdetectionoverlay object-detection-outline-color=0xffff0000 draw-labels=false"
    if has_property("objectdetectionoverlay", "draw-tracking-labels"):
        overlay += " draw-tracking-labels=false"
    line = ON_VIDEO.format(meta="ccl+analytics")
    plain = pictures(line)
    for number, frames in enumerate(zip(plain, pictures(line + overlay), pictures(line + TRACK_AT_ONCE + overlay))):
        untracked, tracked = [extent((frame != frames[0]).any(axis=2)) for frame in frames[1:]]
        # The tracker smooths boxes.
        assert max(abs(a - b) for a, b in zip(untracked, tracked)) <= 2, f"frame {number}: {tracked} for {untracked}"


# Prints a line of JSON for each frame: the identity of each tracking metadata that is related to a detection.
READ_TRACKS = """
import json, sys
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstAnalytics", "1.0")
from gi.repository import Gst, GstAnalytics
Gst.init(None)
pipeline = Gst.parse_launch(sys.argv[1] + " ! appsink name=sink sync=false")
pipeline.set_state(Gst.State.PLAYING)
while sample := pipeline.get_by_name("sink").emit("pull-sample"):
    meta = GstAnalytics.buffer_get_analytics_relation_meta(sample.get_buffer())
    items = range(16) if meta else ()
    detections = [i for i in items if meta.get_od_mtd(i)[0]]
    tracks = {i: meta.get_tracking_mtd(i)[1].get_info()[1] for i in items if meta.get_tracking_mtd(i)[0]}
    print(json.dumps([track for i, track in tracks.items() for other in detections if int(meta.get_relation(other, i))]))
pipeline.set_state(Gst.State.NULL)
"""


def other_tracker():
    """meta=analytics: ioutracker gives the ball one identity"""
    needs("ioutracker")
    result = subprocess.run([sys.executable, "-c", READ_TRACKS, ON_VIDEO.format(meta="ccl+analytics") + " ! ioutracker"],
                            check=False, capture_output=True, text=True, timeout=60)
    if "Namespace GstAnalytics not available" in result.stderr or "No module named 'gi'" in result.stderr:
        raise tap.Skip("Python's bindings of GstAnalytics are not installed")
    tap.equal(result.returncode, 0, result.stderr)
    tracks = [json.loads(line) for line in result.stdout.splitlines()]
    tap.equal(tracks, [tracks[0]] * FRAMES, "identities:")
    tap.equal(len(tracks[0]), 1, "tracks:")


def segmentation():
    """meta=analytics with attach-labels: segmentationoverlay colours the ball, and nothing else"""
    needs("segmentationoverlay")
    # The frames that are labelled are those that are coloured: a combiner does not carry segmentation.
    line = (SOURCE + " ! videoconvert ! video/x-raw,format=GRAY8"
            " ! ccl threshold=128 meta=ccl+analytics attach-labels=true ! videoconvert ! video/x-raw,format=RGBA")
    raw = folder / "gray"
    subprocess.run(launch(SOURCE + " ! videoconvert ! video/x-raw,format=GRAY8 ! filesink", f"location={raw}"),
                   check=True, timeout=60)
    masks = numpy.fromfile(raw, numpy.uint8).reshape(FRAMES, HEIGHT, WIDTH) > 128
    changed = (pictures(line + " ! segmentationoverlay") != pictures(line)).any(axis=3)
    assert masks.any() and (changed == masks).all(), [int((a != b).sum()) for a, b in zip(changed, masks)]


def processes():
    """the metadata crosses from process to process through unixfdsink and unixfdsrc"""
    needs("unixfdsrc")
    needs("unixfdsink", "wait-for-connection")
    sent, received, socket = folder / "sent.ndjson", folder / "received.ndjson", folder / "socket"
    labelled = SOURCE + " ! videoconvert ! video/x-raw,format=GRAY8 ! ccl threshold=128"
    subprocess.run(launch(labelled + " ! ccljson ! filesink", f"location={sent}"), check=True, timeout=60)
    sender = subprocess.Popen(launch(labelled + " ! unixfdsink wait-for-connection=true",
                                     f"socket-path={socket}"))
    try:
        end = time.monotonic() + 20
        while not socket.exists() and time.monotonic() < end:
            time.sleep(0.05)
        subprocess.run(launch("unixfdsrc", f"socket-path={socket}", *"! ccljson ! filesink".split(),
                              f"location={received}"), check=True, timeout=60)
        tap.equal(sender.wait(timeout=30), 0, "the sender's exit status")
    finally:
        sender.kill()
        sender.wait()
    keys = ("count", "truncated", "width", "height", "components")
    tables = [[[json.loads(line)[key] for key in keys] for line in path.read_text().splitlines()]
              for path in (sent, received)]
    tap.equal(len(tables[0]), FRAMES, "frames sent")
    tap.equal(tables[1], tables[0], "received")


sys.exit(tap.run(regions_of_interest, object_detections, tracks, other_tracker, segmentation, processes))
