#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds every program of examples/ with the command that its head comment gives, runs it, and
compares what it says with scipy or with what was drawn. Prints TAP.

usage: test-examples.py FOLDER_TO_BUILD_IN MAKE_MASKS [FOLDER_OF_THE_SIMULATED_DRIVER]
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import cv2

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/runner"), str(ROOT / "tests/pipelines")]
import foreground  # noqa: E402
import tap  # noqa: E402

EXAMPLES = ROOT / "examples"
BUILD = pathlib.Path(sys.argv[1])
MAKE_MASKS = sys.argv[2]
DRIVER = sys.argv[3] if len(sys.argv) > 3 else None
scratch = tempfile.TemporaryDirectory(prefix="examples test ")
folder = pathlib.Path(scratch.name)
WIDTH, HEIGHT = 161, 121


def build(name):
    """The program, built by the command in its head comment."""
    text = (EXAMPLES / f"{name}.c").read_text()
    command = re.search(r"\* Build: (cc .*?)\n \* Usage", text, re.S)[1].replace("\n *", "\n")
    command = re.sub(rf"\b{name}\.c\b", shlex.quote(str(EXAMPLES / f"{name}.c")), command)
    command = command.replace("cc ", "cc -Wall -Werror ", 1)
    result = subprocess.run(["sh", "-c", command], cwd=BUILD, check=False, text=True,
                            capture_output=True, timeout=100)
    tap.equal((result.returncode, result.stderr), (0, ""), f"{command}:")
    return BUILD / name


def run(*words, **options):
    result = subprocess.run(words, check=False, text=True, capture_output=True, timeout=100, **options)
    tap.equal(result.returncode, 0, f"exit status ({result.stderr})")
    return result.stdout


def ball(rate, frames):
    """A video of so many frames at so many a second."""
    video = folder / f"a ball at {rate}.avi"
    run(*f"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers={frames} ! "
        f"video/x-raw,width={WIDTH},height={HEIGHT},framerate={rate}/1 ! jpegenc ! avimux ! "
        "filesink".split(), f"location={video}")
    return video


def print_components():
    """print-components.c: every component that scipy finds in the luma of a video"""
    import numpy
    video, raw = ball(25, 12), folder / "ball.gray"
    printed = run(build("print-components"), video, "60")
    run(*"gst-launch-1.0 -q filesrc".split(), f"location={video}",
        *"! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink".split(), f"location={raw}")
    stride = (WIDTH + 3) // 4 * 4
    masks = numpy.fromfile(raw, numpy.uint8).reshape(-1, HEIGHT, stride)[:, :, :WIDTH]
    want = []
    for number, mask in enumerate(masks):
        rows = foreground.components(mask, 60, 1)
        want.append(f"{number / 25:.3f} s: {len(rows)} components")
        want += [f"  {label}: {area} pixels, {width}×{height} at ({x}, {y})"
                 for label, (area, x, y, width, height) in enumerate(rows, 1)]
    got = [line.split(", centroid")[0] for line in printed.splitlines()]
    assert len(want) >= 24, want
    tap.equal(got, want)


def no_video():
    """a video that is not there, or is none, ends in one line and an exit status"""
    (folder / "text.avi").write_text("This is no video.\n" * 100)
    for words in ([build("print-components")], [sys.executable, EXAMPLES / "components-per-minute.py"]):
        for video in ("nowhere.avi", "text.avi"):
            result = subprocess.run([*words, folder / video, *([folder / "plot.png"] * (len(words) - 1))],
                                    check=False, capture_output=True, text=True, timeout=30)
            tap.equal(result.returncode, 1, "exit status")
            tap.equal(len(result.stderr.splitlines()), 1, result.stderr)


def needs_toolkit():
    """Skips where programs that use the CUDA driver cannot be built or run."""
    if not DRIVER:
        raise tap.Skip("the simulated driver is not built")
    if not os.path.exists("/usr/local/cuda/include/cuda.h"):
        raise tap.Skip("no CUDA toolkit in /usr/local/cuda")


def cuda_masks():
    """cuda-masks.c: the rectangle of each mask, from device memory"""
    needs_toolkit()
    libraries = ":".join([DRIVER, os.environ["LD_LIBRARY_PATH"]])
    printed = run(build("cuda-masks"), "12", env={**os.environ, "LD_LIBRARY_PATH": libraries})
    frames = [json.loads(line) for line in printed.splitlines()]
    tap.equal(len(frames), 12, "frames")
    for number, frame in enumerate(frames):
        tap.equal((frame["pts"], frame["width"], frame["height"]), (number * 40000000, 320, 240))
        tap.equal(frame["components"], [{"label": 1, "area": 1200, "x": 2 * number, "y": number,
                                         "width": 40, "height": 30, "cx": 2 * number + 19.5,
                                         "cy": number + 14.5}])


RECTANGLES = ("component 1: 1200 pixels, 40×30 at (100, 20)\n"
              "component 2: 1500 pixels, 25×60 at (10, 50)\n"
              "the label of the pixel (20, 70) is 2\n")


def label_frame():
    """label-frame.c: table and label map of the two rectangles that it draws"""
    tap.equal(run(build("label-frame")), RECTANGLES)


def label_device_memory():
    """label-device-memory.c: the same result from device memory, and one line without a GPU"""
    needs_toolkit()
    program = build("label-device-memory")
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join([DRIVER, os.environ["LD_LIBRARY_PATH"]])}
    tap.equal(run(program, env=environment), RECTANGLES)
    result = subprocess.run([program], check=False, text=True, capture_output=True, timeout=30,
                            env={**environment, "SIMCUDA_DEVICES": "0"})
    tap.equal((result.returncode, result.stdout), (1, ""))
    assert re.fullmatch("label-device-memory: .*no CUDA device.*\n", result.stderr), result.stderr


def components_per_minute():
    """components-per-minute.py: as many in each minute as scipy finds, and a plot of them"""
    for module in ("gi", "matplotlib"):
        try:
            __import__(module)
        except ImportError:
            raise tap.Skip(f"Python has no module {module}") from None
    if not os.path.exists(os.path.join(os.environ["GI_TYPELIB_PATH"], "GstCcl-1.0.typelib")):
        raise tap.Skip("built without GObject introspection")
    video, plot = ball(1, 150), folder / "plot.png"
    printed = run(sys.executable, EXAMPLES / "components-per-minute.py", video, plot)
    counts = [len(foreground.components(mask, 0, 200))
              for mask in foreground.learnt_masks(MAKE_MASKS, video, WIDTH, HEIGHT, 1)]
    assert sum(counts) > 10, "the ball was never found"
    minutes = [counts[:60], counts[60:120], counts[120:]]
    tap.equal(printed.splitlines(),
              [f"minute {number}: {sum(minute)} components in {len(minute)} frames"
               for number, minute in enumerate(minutes)])
    picture = cv2.imread(str(plot))
    # The bars are in matplotlib's first colour.
    blue = (picture == (180, 119, 31)).all(axis=2)
    assert blue.any(axis=0).sum() > 100, "no bars"


def crossings():
    """who-crosses.c, who-crosses.py: classes, identities and regions of frames whose lines are written here"""
    def row(identity, inside, crossed, **more):
        return {"label": 1, "area": 9, "x": 1, "y": 1, "width": 3, "height": 3, "cx": 2, "cy": 2, "id": identity,
                "state": "confirmed", "age": 5, "vx": 0, "vy": 0, "ids": [identity], **more, "in": inside,
                "crossed": crossed}

    def frame(number, rows, inside, forward):
        return {"pts": number * 40000000, "running_time": number * 40000000, "frame": number, "width": 20, "height": 10,
                "count": len(rows), "truncated": False, "components": rows,
                "regions": [{"region": "yard", "inside": inside}, {"line": "gate", "forward": forward, "backward": 0}]}

    gate = [{"line": "gate", "direction": "forward"}]
    lines = [frame(0, [], 0, 0),
             frame(1, [row(7, ["yard"], gate, **{"class": "person", "confidence": 0.5}), row(9, [], [])], 3, 1),
             frame(2, [row(8, [], [{"line": "gate", "direction": "backward"}])], 2, 1)]
    place = folder / "lines.ndjson"
    place.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = f'filesrc location="{place}" ! ccljsonparse'
    want = "0.040 s: person 7 crosses gate forward, 3 in yard\n0.080 s: object 8 crosses gate backward, 2 in yard\n"
    broken = "filesrc location=/nowhere ! ccljsonparse"
    program = build("who-crosses")
    tap.equal(run(program, words), want)
    tap.equal(subprocess.run([program, broken], check=False, capture_output=True, timeout=30).returncode, 1)
    try:
        __import__("gi")
    except ImportError:
        return
    if os.path.exists(os.path.join(os.environ["GI_TYPELIB_PATH"], "GstCcl-1.0.typelib")):
        tap.equal(run(sys.executable, EXAMPLES / "who-crosses.py", words), want)
        result = subprocess.run([sys.executable, EXAMPLES / "who-crosses.py", broken], check=False, capture_output=True,
                                text=True, timeout=30)
        tap.equal((result.returncode, len(result.stderr.splitlines())), (1, 1), result.stderr)


def data_channel():
    """data-channel.py: the lines of ccljson arrive at the other peer"""
    if subprocess.run(["gst-inspect-1.0", "nicesrc"], check=False, capture_output=True).returncode != 0:
        raise tap.Skip("gstreamer1.0-nice is not installed")
    try:
        __import__("gi").require_version("GstWebRTC", "1.0")
    except (ImportError, ValueError) as reason:
        raise tap.Skip(f"{reason}")
    lines = f"filesrc location=\"{ball(25, 60)}\" ! decodebin ! videoconvert ! ccl threshold=128 ! ccltrack ! ccljson"
    place = folder / "sent.ndjson"
    run("sh", "-c", f"gst-launch-1.0 -q {lines} ! filesink location='{place}'")
    tap.equal(run(sys.executable, EXAMPLES / "data-channel.py", lines), place.read_text())


def every_example():
    """every example is tried here"""
    tap.equal({path.name for path in EXAMPLES.iterdir()},
              {"print-components.c", "cuda-masks.c", "components-per-minute.py", "label-frame.c",
               "label-device-memory.c", "who-crosses.c", "who-crosses.py", "data-channel.py"})


sys.exit(tap.run(every_example, print_components, cuda_masks, components_per_minute, no_video,
                 label_frame, label_device_memory, crossings, data_channel))
