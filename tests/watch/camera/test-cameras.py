#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch with files, with real RTSP cameras and with a simulated V4L2 camera: results, states,
reconnections, configuration, signals. Prints TAP.

usage: test-cameras.py CCL_WATCH CLOCK_STEP FAKE_CAMERA
"""
import collections
import contextlib
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, ball, camera, folder, seconds_of, tap, wait_for  # noqa: E402

PROGRAM, CLOCK_STEP, FAKE_CAMERA = sys.argv[1:4]
watch = functools.partial(Watch, PROGRAM)
SMALL = ["-s", "ccl.min-area=20"]
WHOLE = "ccltrack.regions=region whole 0%,0% 100%,0% 100%,100% 0%,100%"
QUICK = [*SMALL, "-s", "retry-min=0.1", "-s", "retry-max=0.3", "-s", "timeout=1.5"]


def files():
    """files: a line per frame with camera and time, then status 0"""
    before = time.time()
    with watch(f"a={ball(60, 30)}", f"b={ball(40, 30)}", *SMALL) as program:
        tap.equal(program.finish(), 0, "exit status")
        for name, frames in (("a", 60), ("b", 40)):
            lines = program.lines.frames(name)
            tap.equal([line["frame"] for line in lines], list(range(frames)), name)
            assert all(before <= seconds_of(line) <= time.time() for line in lines)
            tap.equal({line["utc_from"] for line in lines}, {"arrival"})
            tap.equal(program.lines.states(name), ["playing", "ended"], "states")


def same_components():
    """files: the components are those of gst-launch"""
    video = ball(30, 30)
    with watch(f"a={video}", *SMALL, "-r", "components") as program:
        tap.equal(program.finish(), 0, "exit status")
        got = [line["components"] for line in program.lines.frames()]
    out = folder / "launch.ndjson"
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={video}", *"! decodebin ! videoconvert ! ccl "
                    "foreground=codebook min-area=20 ! ccljson source=a utc=true ! filesink".split(),
                    f"location={out}"], check=True, timeout=60)
    want = [json.loads(line) for line in out.read_text().splitlines()]
    tap.equal(got, [line["components"] for line in want], "components")
    assert any(got), "nothing was found"
    tap.equal({line["source"] for line in want}, {"a"})


def pendulum_video():
    """160×120, 15 frames/s: from 3 s on a box of 24×24 pixels swings by 6 pixels; from 8 s on another one crosses."""
    video = folder / "pendulum.avi"
    frames = bytearray()
    for i in range(12 * 15):
        boxes = [(60 + (0, 3, 6, 3)[i % 4], 20)] * (i >= 45) + [(2 * (i - 120), 80)] * (i >= 120)
        frame = bytearray([90]) * (160 * 120)
        for left, top in boxes:
            for row in range(top, top + 24):
                begin, end = min(160, left), min(160, left + 24)
                frame[row * 160 + begin:row * 160 + end] = bytes([200]) * (end - begin)
        frames += frame
    subprocess.run([*"gst-launch-1.0 -q fdsrc ! rawvideoparse format=gray8 width=160 height=120 framerate=15/1 ! jpegenc ! "
                    "avimux ! filesink".split(), f"location={video}"], input=bytes(frames), check=True, timeout=60)
    return video


def events():
    """events alone: motion begins before it ends, a track crosses a line; no line of a frame"""
    gate = "ccltrack.regions=line gate 100,60 100,120"
    with watch(f"a={pendulum_video()}", *SMALL, "--events", "-s", gate) as program:
        tap.equal(program.finish(), 0, "exit status")
        lines = program.lines.all()
    kinds = [line["event"] for line in lines]
    assert kinds.index("motion-begin") < kinds.index("motion-end"), kinds
    assert "appeared" in kinds, kinds
    tap.equal({line["line"] for line in lines if line["event"] == "crossed"}, {"gate"}, "lines that were crossed")
    assert all(line["source"] == "a" and "utc" in line for line in lines), lines


def motion_travels():
    """What swings in its place is no motion, what crosses the picture is; without tracks both are"""
    for results, first in (("events", 8), ("components", 3)):
        with watch(f"a={pendulum_video()}", *SMALL, "-r", results) as program:
            tap.equal(program.finish(), 0, "exit status")
            begins = [line["running_time"] / 1e9 for line in program.lines.all() if line.get("event") == "motion-begin"]
        assert len(begins) == 1 and first < begins[0] < first + 1.5, (results, begins)


def moved_video():
    """A still picture; the same 12 pixels farther to the left; black; the second picture again."""
    video = folder / "moved.avi"
    parts = [f"videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=GRAY8,width=44,height=32,framerate=10/1 ! "
             f"videoscale ! video/x-raw,width=352,height=256 ! videocrop left={left} right={32 - left} top=8 bottom=8 ! "
             f"imagefreeze num-buffers={n} ! video/x-raw,framerate=10/1 ! c." for left, n in ((0, 50), (12, 50), (12, 40))]
    parts.insert(2, "videotestsrc pattern=black num-buffers=40 ! "
                    "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1 ! c.")
    subprocess.run([*"gst-launch-1.0 -q concat name=c ! jpegenc ! avimux ! filesink".split(), f"location={video}",
                    *" ".join(parts).split()], check=True, timeout=60)
    return video


def scene_changes():
    """Changes of the scene, their displacement and their end are lines"""
    with watch(f"a={moved_video()}", "-r", "events") as program:
        tap.equal(program.finish(), 0, "exit status")
        lines = [line for line in program.lines.all() if line["event"] == "scene-change"]
    tap.equal([line["kind"] for line in lines], ["moved", "settled", "covered", "uncovered"])
    assert abs(lines[0]["dx"] + 12) <= 1 and abs(lines[0]["dy"]) <= 1, lines
    assert 5e9 < lines[0]["running_time"] <= 7e9 and lines[1]["running_time"] - lines[0]["running_time"] <= 3e9, lines


def alerts_video():
    """3 s still; 6 s with insects, each for 0.6 s at a place of its own, where it flutters; still until 20 s; an object that crosses twice,
    from 20 and from 28 s, for 2.7 s; at 40 s a lamp flickers in 60 % of the
    picture for 3 s. Ten frames a second."""
    generator = numpy.random.default_rng(4)
    frames = numpy.full((480, 120, 160), 90, numpy.uint8)
    for number in range(30, 90, 8):
        x, y = generator.integers(0, 140), generator.integers(0, 100)
        for frame in frames[number:number + 6]:
            frame[y:y + 14, x:x + 14] = generator.integers(150, 250, (14, 1))
    for number in (*range(200, 227), *range(280, 307)):
        left = 5 * (number % 80 - 40)
        frames[number, 40:80, left:left + 24] = 220
    frames[400:430, :, :96] += generator.integers(40, 120, (30, 1, 1), numpy.uint8)
    frames += generator.integers(0, 3, frames.shape, numpy.uint8)
    video = folder / "alerts.avi"
    subprocess.run([*"gst-launch-1.0 -q fdsrc fd=0 ! rawvideoparse width=160 height=120 format=gray8 framerate=10/1 ! jpegenc ! "
                    "avimux ! filesink".split(), f"location={video}"], input=frames.tobytes(), check=True, timeout=60)
    return video


def alerts():
    """Motion begins with a confirmed track, not with an insect; the cooldown, the least duration and the greatest share of
    the picture hold for each camera; motion=components is the former meaning"""
    video = alerts_video()
    keys = {"tracks": "", "components": "motion=components", "brief": "least-motion=5", "cool": "cooldown=30",
            "share": "most-motion=0.01\nsettle-time=1", "lamp": "motion=components\nmost-motion=0.5\nsettle-time=3"}
    path = folder / "alerts.conf"
    path.write_text("[cameras]\nccl.min-area=20\nccl.quiet-time=1\nccl.light=false\n" +
                    "".join(f"[camera {name}]\nuri={video}\n{key}\n" for name, key in keys.items()) +
                    f"[output file]\nuri={folder}/lines.ndjson\nresults=events\n")
    with watch("--config", path, output=False) as program:
        tap.equal(program.finish(), 0, "exit status")
        motions = {name: [(line["event"][7:], line["running_time"] / 1e9) for line in program.lines.all()
                          if line["source"] == name and line["event"].startswith("motion-")] for name in keys}
    begins = {name: [time for kind, time in found if kind == "begin"] for name, found in motions.items()}
    for name, found in motions.items():
        tap.equal([kind for kind, _ in found], ["begin", "end"] * (len(found) // 2), f"{name}: begin and end take turns")
    assert any(3 <= time < 9.5 for time in begins["components"]), motions
    tap.equal([20 <= time < 21 or 28 <= time < 29 for time in begins["tracks"] if time < 39], [True, True], str(motions))
    tap.equal([20 <= time < 21 for time in begins["cool"]], [True], str(motions))
    tap.equal(begins["brief"], [], str(motions))
    tap.equal([time for time in begins["share"] if time < 39], [], str(motions))
    assert any(40 <= time < 43.2 for time in begins["components"]), motions
    assert not any(40 <= time < 46 for time in begins["lamp"]), motions


def interlaced_video():
    """An object of 24 pixels' width, whose lower fields are 12 pixels farther on."""
    frames = numpy.full((60, 120, 160), 90, numpy.uint8)
    for number in range(30, 60):
        for field, left in enumerate((2 * number - 40, 2 * number - 28)):
            frames[number, 40 + field:80:2, left:left + 24] = 220
    video = folder / "interlaced.avi"
    subprocess.run([*"gst-launch-1.0 -q fdsrc fd=0 ! rawvideoparse width=160 height=120 format=gray8 framerate=10/1 ! jpegenc "
                    "quality=100 ! avimux ! filesink".split(), f"location={video}"], input=frames.tobytes(), check=True, timeout=60)
    return video


def turned_video():
    """A QuickTime file whose track header has the matrix of a quarter turn, in place of the identity."""
    video = folder / "turned.mov"
    subprocess.run([*"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=20 ! video/x-raw,width=80,height=60,framerate=10/1 ! "
                    "jpegenc ! qtmux ! filesink".split(), f"location={video}"], check=True, timeout=60)
    data = video.read_bytes()
    identity, turn = (struct.pack(">9i", *matrix) for matrix in (
        (1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30), (0, 1 << 16, 0, -1 << 16, 0, 0, 0, 0, 1 << 30)))
    at = data.index(identity, data.index(b"tkhd"))
    video.write_bytes(data[:at] + turn + data[at + len(turn):])
    return video


def corrections():
    """deinterlace and rotate: an interlaced object has its own width; pictures are turned by degrees, or as the file says"""
    turned = turned_video()
    path = folder / "corrections.conf"
    keys = {"combed": "", "whole": "deinterlace=true", "auto": "deinterlace=auto"}
    sizes = {"plain": ("", (80, 60)), "tag": ("rotate=auto", (60, 80)), "right": ("rotate=90", (60, 80)),
             "half": ("rotate=180", (80, 60)), "both": ("rotate=270\ndeinterlace=true", (60, 80))}
    path.write_text("[cameras]\nccl.min-area=20\nccl.denoise=none\nresults=components\n" +
                    "".join(f"[camera {name}]\nuri={interlaced_video()}\n{key}\n" for name, key in keys.items()) +
                    "".join(f"[camera {name}]\nuri={turned}\n{key}\n" for name, (key, _) in sizes.items()) +
                    f"[output file]\nuri={folder}/lines.ndjson\n")
    with watch("--config", path, output=False) as program:
        tap.equal(program.finish(), 0, "exit status")
        lines = program.lines.all()
    for name, width in ("combed", 36), ("whole", 24), ("auto", 36):  # the stream does not say that it is interlaced
        widths = [part["width"] for line in lines if line["source"] == name and "frame" in line for part in line["components"]
                  if part["height"] > 30]
        assert len(widths) > 10 and abs(numpy.median(widths) - width) <= 2, (name, widths)
    for name, (_, size) in sizes.items():
        tap.equal([(line["width"], line["height"]) for line in lines if line["source"] == name and line.get("state") == "playing"],
                  [size], name)


def pace():
    """pace: a file is played at its own speed; loop: it begins again"""
    start = time.monotonic()
    with watch(f"a={ball(30, 15)}", *SMALL, "-s", "pace=true") as program:
        tap.equal(program.finish(), 0, "exit status")
    assert 1.8 < time.monotonic() - start < 8
    with watch(f"a={ball(30, 30)}", *SMALL, "-s", "loop=true") as program:
        wait_for(lambda: len(program.lines.frames()) > 100, "it does not begin again")
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")


def pace_of_a_late_file():
    """pace: a file whose first frame is late is not played faster afterwards"""
    content = ball(45, 15).read_bytes()
    path = folder / "late.avi"
    os.mkfifo(path)

    def write():
        with open(path, "wb") as pipe:
            time.sleep(2)
            pipe.write(content)
    writer = threading.Thread(target=write)
    writer.start()
    with watch(f"a={path}", *SMALL, "-s", "pace=true") as program:
        tap.equal(program.finish(), 0, "exit status")
        states = [seconds_of(line) for line in program.lines.all() if line.get("event") == "state"]
        tap.equal(len(program.lines.frames()), 45, "frames")
    writer.join()
    passed = states[-1] - states[0]
    assert 2.5 < passed < 4, f"45 frames at 15 frames/s in {passed} s"


def broken_file():
    """a file that cannot be decoded: status 1, other cameras are not touched"""
    (folder / "broken.avi").write_bytes(b"RIFF" + bytes(5000))
    with watch(f"a={folder}/broken.avi", f"b={ball(40, 30)}", *SMALL) as program:
        tap.equal(program.finish(), 1, "exit status")
        tap.equal(program.lines.states("a"), ["garbage"], "states")
        tap.equal(len(program.lines.frames("b")), 40, "frames of the other camera")


@contextlib.contextmanager
def mute_file():
    """A file that can be opened and gives nothing: a pipe. The bytes that are written in short intervals only end reads that
    have begun, because filesrc cannot be interrupted."""
    path = folder / "mute.avi"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    ended = threading.Event()

    def write():
        while not ended.wait(0.2):
            with contextlib.suppress(BlockingIOError):
                os.write(pipe, bytes(4096))
    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield path
    finally:
        ended.set()
        writer.join()
        os.close(pipe)
        path.unlink()


def mute_files():
    """a file that gives no first frame is opened again, four times in all; then status 1"""
    quick = ["-s", "timeout=0.5", "-s", "retry-min=0.3", "-s", "retry-max=0.3"]
    with mute_file() as path:
        with watch(f"a={path}", *SMALL, *quick) as program:
            program.wait_for_state("silent")
            shutil.copy(ball(40, 30), folder / "sound.avi")
            (folder / "sound.avi").rename(path)
            tap.equal(program.finish(), 0, "exit status")
            tap.equal(program.lines.states(), ["silent", "playing", "ended"])
            tap.equal(len(program.lines.frames()), 40, "frames")
    with mute_file() as path:
        start = time.monotonic()
        with watch(f"a={path}", *SMALL, *quick) as program:
            tap.equal(program.finish(), 1, "exit status")
        passed = time.monotonic() - start
        assert passed > 4 * 0.5 + 3 * 0.3, f"{passed} s are too short for four attempts"


def wrong_configurations():
    """a wrong configuration: status 2 and one line, also with --check"""
    video = ball(30, 30)
    good = f"[camera a]\nuri={video}\n"
    files = {
        "no group": "uri=x\n", "unknown group": good + "[what]\n", "unknown key": good + "colour=red\n",
        "unknown property": good + "ccl.colour=red\n", "wrong value": good + "ccl.min-area=many\n",
        "wrong number": good + "timeout=-1\n", "wrong boolean": good + "loop=perhaps\n",
        "no URI": "[camera a]\ntimeout=1\n", "no file": "[camera a]\nuri=/nowhere/x.avi\n",
        "wrong name": f"[camera a b]\nuri={video}\n", "unknown output": good + "[output x]\nuri=ftp://x\n",
        "output without port": good + "[output x]\nuri=tcp://localhost\n",
        "unknown key of an output": good + "[output x]\nuri=-\ncolour=red\n",
        "unknown global key": good + "[ccl-watch]\ncolour=red\n", "no camera": "[ccl-watch]\ndevice=cpu\n",
        "device": good + "[ccl-watch]\ndevice=best\n", "kafka": good + "[output x]\nuri=kafka://h:1/t\nkafka.no=1\n",
    }
    files |= {
        "wrong region": good + "ccltrack.regions=line x\n", "no region file": good + "ccltrack.regions-location=/nowhere\n",
        "no region of interest mask": good + "ccl.roi-mask=/nowhere\n",
    }
    commands = {name: ["-c", folder / "watch.conf"] for name in files}
    commands |= {"device of the command line": [f"a={video}", "--device", "best"],
                 "no address": [f"a={video}", "--http", "here"], "no token": [f"a={video}", "--http", "0.0.0.0:0"],
                 "two of a name": [f"a={video}", f"a={video}"], "no name": [video], "nothing": [],
                 "unknown option": ["--colour"], "no configuration file": ["-c", "/nowhere"]}
    for name, words in commands.items():
        (folder / "watch.conf").write_text(files.get(name, ""))
        for check in ([], ["--check"]):
            done = subprocess.run([PROGRAM, *check, *map(str, words)], stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, text=True, timeout=20)
            lines = [line for line in done.stderr.splitlines() if "labelling on" not in line]
            tap.equal((name, check, done.returncode, len(lines)), (name, check, 2, 1), done.stderr)


def secrets():
    """passwords: refused in a file that others may read, and shown nowhere"""
    configuration = folder / "secret.conf"
    with camera(PASSWORD="s3cret") as (_, port):
        configuration.write_text(f"[camera door]\nuri=rtsp://user:s3cret@127.0.0.1:{port}/camera\n")
        configuration.chmod(0o644)
        done = subprocess.run([PROGRAM, "-c", configuration], stderr=subprocess.PIPE, text=True, timeout=20)
        tap.equal(done.returncode, 2, "exit status")
        assert "other users may read it" in done.stderr, done.stderr
        configuration.chmod(0o600)
        wrong = f"yard=rtsp://user:wr0ng@127.0.0.1:{port}/camera"
        with watch("-c", configuration, wrong, *QUICK) as program:
            program.wait_for_state("playing", "door")
            program.wait_for_state("lost", "yard")
            title = open(f"/proc/{program.process.pid}/cmdline").read()
            tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
            for text in (title, program.log(), program.lines.text()):
                assert "s3cret" not in text and "wr0ng" not in text, text
    assert "yard=rtsp://127.0.0.1" in title, title


def secret_properties():
    """passwords among the properties of a source: the same"""
    configuration = folder / "properties.conf"
    camera, uri = "[camera door]\n", "uri=rtsp://127.0.0.1:9/camera\n"
    for text, is_secret in {
            camera + uri + "source.user-pw=s3cret\n": True, "[cameras]\nsource.user-pw=s3cret\n" + camera + uri: True,
            "[cameras]\nsource.proxy=user:s3cret@host:80\n" + camera + uri: True,  # only its description says so
            camera + "uri=srt://127.0.0.1:9?passphrase=s3cret12345\n": True,
            camera + uri + "source.user-pw=\n": False, camera + uri + "source.user-id=key\n": False}.items():
        configuration.write_text(text)
        configuration.chmod(0o644)
        done = subprocess.run([PROGRAM, "--check", "-c", configuration], stderr=subprocess.PIPE, text=True, timeout=20)
        tap.equal((done.returncode, "other users may read it" in done.stderr), (2, True) if is_secret else (0, False), text)
        assert "s3cret" not in done.stderr, done.stderr
    secrets = ["source.user-pw=s3cret", "source.proxy=user:s3cret@host:80"]
    words = ["-s", secrets[0], "-s", secrets[1], "--set=source.proxy-pw=s3cret", *QUICK]
    with watch("a=rtsp://127.0.0.1:9/camera", *words) as program:
        program.wait_for_state("lost")
        title = open(f"/proc/{program.process.pid}/cmdline").read()
        for text in title, program.log(), program.lines.text():
            assert "s3cret" not in text, text


def sender_clock():
    """RTSP: the time is that of the sender's clock"""
    with camera() as (_, port), watch(f"door=rtsp://127.0.0.1:{port}/camera", *SMALL) as program:
        frames = wait_for(lambda: [line for line in program.lines.frames() if line["utc_from"] == "sender"][20:],
                          "no time of the sender")
        assert abs(seconds_of(frames[-1]) - time.time()) < 3, frames[-1]
        times = [seconds_of(line) for line in frames]
        tap.equal(times, sorted(times), "times")


def local_camera():
    """V4L2: a camera of this machine is labelled, is lost when it is unplugged, and comes back"""
    if subprocess.run(["gst-inspect-1.0", "--exists", "v4l2src"]).returncode:
        raise tap.Skip("GStreamer has no v4l2src (gstreamer1.0-plugins-good)")
    unplugged = folder / "unplugged"
    with watch("a=/dev/video99", *QUICK, "-s", "ccl.foreground=threshold", "-s", "ccl.threshold=128", "-r", "components",
               environment={"LD_PRELOAD": FAKE_CAMERA, "UNPLUGGED": str(unplugged)}) as program:
        n = program.wait_for_state("playing")
        wait_for(lambda: len(program.lines.frames()) > 10, "no frames")
        unplugged.touch()
        n = program.wait_for_state("lost", after=n)
        before = len(program.lines.frames())
        unplugged.unlink()
        program.wait_for_state("playing", after=n)
        wait_for(lambda: len(program.lines.frames()) > before + 10, "no frames of the second connection")
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
        for line in program.lines.frames():
            tap.equal((line["width"], line["height"]), (160, 120), "size")
            tap.equal([(c["width"], c["height"], c["y"]) for c in line["components"]], [(40, 40, 40)], "the square")
        assert len({c["x"] for line in program.lines.frames() for c in line["components"]}) > 10, "the square stands still"


def assert_tracks_ended(program, name):
    """Each track of the camera that appeared has vanished, and left the region, when the camera was lost."""
    lines = [line for line in program.lines.all() if line["source"] == name]
    lines = lines[:next(i for i, line in enumerate(lines) if line.get("state") in ("lost", "silent"))]
    for begin, end in ("appeared", "vanished"), ("entered", "left"):
        began, ended = ([line["id"] for line in lines if line.get("event") == event] for event in (begin, end))
        assert began, f"no {begin}"
        tap.equal(collections.Counter(ended), collections.Counter(began), end)


def camera_killed():
    """RTSP: a camera that is killed is lost, its tracks end; one of another size in its place plays; others go on"""
    with camera() as (_, other), camera() as (first, port):
        with watch(f"door=rtsp://127.0.0.1:{port}/camera", f"yard=rtsp://127.0.0.1:{other}/camera", *QUICK,
                   "-s", WHOLE) as program:
            program.wait_for_state("playing", "door")
            program.wait_for_state("playing", "yard")
            wait_for(lambda: "entered" in program.lines.events("door"), "no track in the region")
            first.kill()
            first.wait()
            seen = program.wait_for_state("lost", "door")
            assert_tracks_ended(program, "door")
            with camera(port, "240x180"):
                seen = program.wait_for_state("resized", "door", seen)
                program.wait_for_state("playing", "door", seen - 1)
                wait_for(lambda: program.lines.frames("door")[-1]["width"] == 240, "not the new size")
                tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
            tap.equal(program.lines.states("yard"), ["playing"], "states of the other camera")
            frames = program.lines.frames("yard")
            tap.equal([line["frame"] for line in frames], list(range(len(frames))), "its frames")


def quiet_start():
    """RTSP: the ball is no component in the first two seconds after connecting, and after a reconnection"""
    with camera(rate=5) as (first, port), watch(f"door=rtsp://127.0.0.1:{port}/camera", *QUICK) as program:
        def found():
            return any(line["components"] for line in program.lines.frames())
        wait_for(found, "no component")
        first.kill()
        first.wait()
        program.wait_for_state("lost")
        before = len(program.lines.frames())
        with camera(port, rate=5):
            wait_for(lambda: any(line["components"] for line in program.lines.frames()[before:]), "no component again")
        frames = program.lines.frames()
    for connection in frames[:before], frames[before:]:
        begin = seconds_of(connection[0])
        first_found = next(seconds_of(line) - begin for line in connection if line["components"])
        assert 1.5 < first_found < 10, first_found


def camera_stopped():
    """RTSP: a camera that hangs is silent, its tracks end, and it plays when it goes on"""
    with camera() as (process, port), watch(f"door=rtsp://127.0.0.1:{port}/camera", *QUICK, "-s", WHOLE) as program:
        seen = program.wait_for_state("playing")
        wait_for(lambda: "entered" in program.lines.events(), "no track in the region")
        process.send_signal(signal.SIGSTOP)
        seen = program.wait_for_state("silent", after=seen)
        assert_tracks_ended(program, "door")
        process.send_signal(signal.SIGCONT)
        program.wait_for_state("playing", after=seen)
        ids = [line["id"] for line in program.lines.all() if line.get("event") == "appeared"]
        tap.equal(len(ids), len(set(ids)), "identities are not used again")


def garbage():
    """RTSP: data that cannot be decoded"""
    with camera() as (_, port), watch(f"door=rtsp://127.0.0.1:{port}/garbage", *QUICK) as program:
        try:
            program.wait_for_state("garbage")
        except AssertionError:
            if program.process.poll() == -signal.SIGSEGV and crashes_alone(f"rtsp://127.0.0.1:{port}/garbage"):
                raise tap.Skip("uridecodebin3 of this GStreamer crashes on such data, in gst-launch-1.0 too") from None
            raise


def crashes_alone(uri):
    """Whether the stock decoder, without any code of this project, dies: that of 1.26.2 does."""
    launch = ["gst-launch-1.0", "--no-fault", "-q", "uridecodebin3", f"uri={uri}", "!", "fakesink"]
    environment = {key: value for key, value in os.environ.items() if key != "GST_PLUGIN_PATH"}
    try:
        return subprocess.run(launch, env=environment, capture_output=True, timeout=15).returncode == -signal.SIGSEGV
    except subprocess.TimeoutExpired:
        return False


def no_stream():
    """a server that accepts connections and says nothing"""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        with watch(f"door=rtsp://127.0.0.1:{port}/camera", *QUICK) as program:
            program.wait_for_state("silent")
            tap.equal(program.finish(signal.SIGTERM, 6), 0, "exit status")


@contextlib.contextmanager
def answering(answer):
    """A port that takes connections and answers the first data with these bytes; None: not at all."""
    def serve(server):
        with contextlib.suppress(OSError):
            while True:
                connection = server.accept()[0]
                connections.append(connection)
                if answer is not None:
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.close()
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=[server], daemon=True).start()
        yield server.getsockname()[1]


@contextlib.contextmanager
def full_queue():
    """A port whose queue of connections is full: the system does not answer another one."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, socket.socket() as first, socket.socket() as second:
        for client in first, second:
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def unreachable():
    """cameras that cannot be reached: one clear sentence for each reason"""
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as http, answering(None) as mute, full_queue() as full, \
            camera(PASSWORD="s3cret") as (_, port):
        expected = {
            "rtsp://127.0.0.1:9/x": ("lost", "127.0.0.1 refuses connections to port 9"),
            "http://127.0.0.1:9/x": ("lost", "127.0.0.1 refuses connections to port 9"),
            "rtsp://user:s3cret@nowhere.invalid/x": ("lost", "there is no host named nowhere.invalid"),
            "rtsp://255.255.255.255/x": ("lost", "there is no route to 255.255.255.255"),
            f"rtsp://127.0.0.1:{full}/x": ("lost", f"127.0.0.1 does not answer on port {full}"),
            f"rtsp://127.0.0.1:{http}/x": ("lost", f"port {http} of 127.0.0.1 does not speak RTSP"),
            f"rtsp://127.0.0.1:{mute}/x": ("silent", f"127.0.0.1 accepts connections to port {mute} and sends nothing"),
            f"rtsp://127.0.0.1:{port}/camera": ("lost", "the user name or the password is missing or wrong"),
            f"rtsp://user:s3cret@127.0.0.1:{port}/nothing": ("lost", "the camera has no stream of this address"),
        }
        names = {f"c{i}": uri for i, uri in enumerate(expected)}
        with watch(*[f"{name}={uri}" for name, uri in names.items()], "-s", "timeout=1.5", "-s", "retry-min=60",
                   "-s", "retry-max=60") as program:
            def states():
                return {line["source"]: (line["state"], line["detail"]) for line in program.lines.all()
                        if line.get("event") == "state"}
            wait_for(lambda: len(states()) == len(names), "not all states")
            # A machine without a name server does not know whether there is such a host.
            offline = ("lost", "the address of the host nowhere.invalid cannot be found now")
            for name, uri in names.items():
                assert states()[name] == expected[uri] or "invalid" in uri and states()[name] == offline, states()[name]
            assert "s3cret" not in program.log(), program.log()
            tap.equal(program.finish(signal.SIGTERM, 6), 0, "exit status")


def refused():
    """a server that is not there: lost, not garbage; a setting without effect is in the log"""
    with watch("a=http://127.0.0.1:9/stream", f"b={ball(40, 30)}", *QUICK, "-s", "ccl.min-area=9",
               "-s", "ccl.max-area=3") as program:
        program.wait_for_state("ended", "b")
        program.wait_for_state("lost", "a")
        tap.equal(set(program.lines.states("a")), {"lost"}, "states")
        assert "camera b: No component can pass min-area=9 and max-area=3" in program.log(), program.log()


def frozen():
    """a camera whose picture does not change is frozen"""
    video = folder / "black.avi"
    subprocess.run([*"gst-launch-1.0 -q videotestsrc pattern=black num-buffers=200 ! video/x-raw,width=80,height=60,"
                    "framerate=20/1 ! jpegenc ! avimux ! filesink".split(), f"location={video}"], check=True, timeout=60)
    with watch(f"a={video}", "-s", "pace=true", "-s", "frozen=1.5") as program:
        program.wait_for_state("frozen")


def kept_alive():
    """a still that an encoder refines after each key frame is frozen, too: its key frames are identical"""
    video = folder / "refined.mkv"
    subprocess.run([*"gst-launch-1.0 -q videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=I420,width=160,height=120 ! "
                    "imagefreeze num-buffers=240 ! video/x-raw,framerate=20/1 ! x264enc pass=qual quantizer=34 key-int-max=13 "
                    "tune=zerolatency speed-preset=veryfast ! matroskamux ! filesink".split(), f"location={video}"],
                   check=True, timeout=60)
    with watch(f"a={video}", "-s", "pace=true", "-s", "frozen=7") as program:
        program.wait_for_state("frozen")


def reload():
    """SIGHUP: cameras come and go, the others are not interrupted; an error changes nothing"""
    configuration = folder / "reload.conf"

    def write(*cameras, more=""):
        configuration.write_text("[cameras]\npace=true\nloop=true\nccl.min-area=20\n" + more + "".join(
            f"[camera {name}]\nuri={ball(100, 20)}\n" for name in cameras))

    write("a", "b")
    with watch("-c", configuration) as program:
        program.wait_for_state("playing", "a")
        program.wait_for_state("playing", "b")
        write("a", "c")
        program.process.send_signal(signal.SIGHUP)
        program.wait_for_state("playing", "c")
        wait_for(lambda: "read again" in program.log(), "no message")
        stopped = len(program.lines.frames("b"))
        write("a", "c", more="colour=red\n")
        program.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "the present configuration stays" in program.log(), "no message")
        time.sleep(0.5)
        tap.equal(len(program.lines.frames("b")), stopped, "frames of the camera that went")
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
        frames = [line["frame"] for line in program.lines.frames("a")]
        tap.equal(frames, [i % 100 for i in range(len(frames))], "frames of the camera that stayed, whose file is looped")


def notifications():
    """messages to the service manager: ready, alive, stopping"""
    path = folder / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(20)
        environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "600000"}
        with watch(f"a={ball(100, 20)}", "-s", "pace=true", environment=environment) as program:
            tap.equal(manager.recv(100), b"READY=1")
            tap.equal([manager.recv(100) for _ in range(3)], [b"WATCHDOG=1"] * 3)
            program.process.send_signal(signal.SIGTERM)
            while (message := manager.recv(100)) == b"WATCHDOG=1":
                pass
            tap.equal(message, b"STOPPING=1")
            tap.equal(program.finish(), 0, "exit status")


def clock_steps():
    """the machine's clock steps back and forth: no line is lost, times follow the clock"""
    offset = folder / "clock"
    offset.write_text("0")
    environment = {"LD_PRELOAD": CLOCK_STEP, "CLOCK_STEP": str(offset)}
    with watch(f"a={ball(100, 25)}", *SMALL, "-s", "pace=true", environment=environment) as program:
        for seconds in (-3600, 7200, 0):
            frames = len(wait_for(program.lines.frames, "no frames"))
            offset.write_text(str(seconds))
            wait_for(lambda: len(program.lines.frames()) > frames + 20 and
                     abs(seconds_of(program.lines.frames()[-1]) - time.time() - seconds) < 5,
                     f"the time is not {seconds} s off")
        tap.equal(program.finish(), 0, "exit status")
        tap.equal(len(program.lines.frames()), 100, "frames")


def reconnections():
    """200 connections that fail or end: memory and open files stay the same"""
    refused = []

    def refuse(server):
        with contextlib.suppress(OSError):
            while True:
                server.accept()[0].close()
                refused.append(True)

    with camera() as (_, port), socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=refuse, args=[server], daemon=True).start()
        refusing = server.getsockname()[1]
        names = [f"c{i}=rtsp://127.0.0.1:{refusing}/none" for i in range(3)]
        names += [f"d{i}=rtsp://127.0.0.1:{port}/short" for i in range(3)]
        with watch(*names, *SMALL, "-s", "retry-min=0.05", "-s", "retry-max=0.05", "-s", "timeout=5",
                   environment={"MALLOC_PERTURB_": "0"}) as program:
            def measure(count):
                """The least number of open files and the least memory during 40 reconnections."""
                def reached(number):
                    return len(refused) + program.lines.states().count("lost") >= first + number
                wait_for(lambda: reached(count), f"not {count} reconnections", 90)
                samples = []
                while not reached(count + 40):
                    samples.append((program.open_files(), program.memory()))
                    time.sleep(0.05)
                return map(min, zip(*samples))
            # On a slow machine, many connections are refused before the first decoder is loaded.
            wait_for(lambda: program.lines.states().count("lost") > 5, "no connections were lost", 90)
            first = len(refused)
            files, memory = measure(20)
            more_files, more_memory = measure(180)
            assert program.lines.states().count("lost") > 10, "no connection was lost"
            tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
    assert more_files <= files + 10, f"{files} open files, then {more_files}"
    assert more_memory <= memory * 1.2 + 16384, f"{memory} KiB, then {more_memory}"


def wait_for_counts(program, what, condition):
    """Waits until the condition holds for the numbers of cameras by their last state."""
    def count():
        return collections.Counter({line["source"]: line["state"] for line in program.lines.all()
                                    if line.get("event") == "state"}.values())
    wait_for(lambda: condition(count()), what)


def details(program):
    """Why cameras were lost."""
    return {line["detail"] for line in program.lines.all() if line.get("state") == "lost"}


def limit_of_files():
    """open files run short: cameras are lost, the others and the program go on, and all come back"""
    n = 12
    names = [f"c{i}={ball(60, 15)}" for i in range(n)]
    again = [*SMALL, "-s", "loop=true", "-s", "pace=true", "-r", "events"]
    with watch(*names, *again, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))) as program:
        tap.equal(program.finish(), 2, "exit status")
        assert "12 cameras: too many open files (the limit is 60)" in program.log(), program.log()
    with watch(*names, *again) as program:
        wait_for_counts(program, "not all cameras play", lambda counts: counts["playing"] == n)
        # A connection begins when 64 + 24 files are left. So a camera whose video begins again is lost once the limit is
        # low enough, which gives others its files.
        time.sleep(3)
        limits = iter(range(program.open_files() + 64 + 24, 64, -2))

        def are_lost(counts):
            """Whether some cameras are lost; if not, lowers the limit."""
            if counts["lost"] > 1 < counts["playing"]:
                return True
            time.sleep(0.3)
            resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (next(limits), 4096))
            return False
        wait_for_counts(program, "no camera is lost, or all", are_lost)
        resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (4096, 4096))
        wait_for_counts(program, "not all cameras play again", lambda counts: counts["playing"] == n)
        assert all(re.fullmatch(r"too many open files \(the limit is \d+\)", detail) for detail in details(program)), \
            details(program)
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
        assert "CRITICAL" not in program.log(), program.log()


def limit_of_threads():
    """threads run short: cameras are lost, the others and the program go on"""
    if os.geteuid() != 0:
        raise tap.Skip("the limit holds for all processes of a user: only root can start one as a user of its own")
    user = {"user": 54321, "group": 54321, "extra_groups": []}
    folder.chmod(0o755)
    try:
        subprocess.run([PROGRAM, "--version"], check=True, stdout=subprocess.DEVNULL, **user)
    except PermissionError:
        raise tap.Skip("other users cannot reach the build folder") from None
    names = [f"c{i}={ball(60, 15)}" for i in range(12)]
    again = [*SMALL, "-s", "loop=true", "-s", "pace=true", "-r", "events"]
    with watch(*names, *again) as program:
        wait_for_counts(program, "not all cameras play", lambda counts: counts["playing"] == len(names))
        limit = len(os.listdir(f"/proc/{program.process.pid}/task")) * 3 // 4
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
    with open(folder / "lines.ndjson", "w") as file, watch(
            *names, *again, output=False, keep=True, stdout=file,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit)), **user) as program:
        wait_for_counts(program, "no camera is lost, or all", lambda counts: counts["lost"] > 1 < counts["playing"])
        tap.equal(details(program), {f"too many threads (the limit is {limit})"})
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
        assert "CRITICAL" not in program.log(), program.log()


def help_and_version():
    """--help shows every option, --version the version; the manual has the same options"""
    text = subprocess.run([PROGRAM, "--help"], check=True, stdout=subprocess.PIPE, text=True, timeout=20).stdout
    manual = open(os.path.join(os.path.dirname(__file__), "../../../watch/ccl-watch.1")).read().replace("\\-", "-")
    for option in ("config", "output", "events", "results", "set", "device", "http", "token-file", "folder", "state",
                   "check", "version"):
        assert f"--{option}" in text, option
        assert f"--{option}" in manual, f"--{option} is not in the manual"
    version = subprocess.run([PROGRAM, "--version"], check=True, stdout=subprocess.PIPE, text=True, timeout=20).stdout
    assert version.startswith("ccl-watch "), version


sys.exit(tap.run(files, same_components, events, motion_travels, alerts, corrections, scene_changes, pace, pace_of_a_late_file, broken_file, mute_files, wrong_configurations,
                 secrets, secret_properties, sender_clock, local_camera, camera_killed, quiet_start, camera_stopped, garbage, no_stream,
                 unreachable, refused, frozen, kept_alive, reload, notifications, clock_steps, reconnections, limit_of_files, limit_of_threads,
                 help_and_version))
