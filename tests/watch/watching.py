# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs ccl-watch and cameras for its tests, and reads the lines of ccl-watch."""
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "runner"))
import tap  # noqa: E402,F401
from processes import free_port, listens, make_certificate, mosquitto, running, wait_for  # noqa: E402,F401

scratch = tempfile.TemporaryDirectory(prefix="watch test ")
folder = pathlib.Path(scratch.name)
os.environ["PATH"] += ":/usr/sbin"  # of mosquitto
STREET = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"


def ball(frames, rate, size="80x60"):
    """A video that takes frames ÷ rate seconds; the ball moves all the time."""
    video = folder / f"ball {frames} {rate} {size}.avi"
    width, height = size.split("x")
    if not video.exists():
        subprocess.run([*f"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers={frames} ! "
                        f"video/x-raw,width={width},height={height},framerate={rate}/1 ! jpegenc ! avimux ! "
                        "filesink".split(), f"location={video}"], check=True, timeout=60)
    return video


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise tap.Skip(f"{program} is not installed")


def numbers(lines):
    """Of the frames among the lines."""
    return [line["frame"] for line in lines if "frame" in line]


class Lines:
    """The lines of a file that grows, as objects."""

    def __init__(self, path):
        self.path = path

    def text(self):
        return self.path.read_text() if self.path.exists() else ""

    def all(self):
        """Every complete line must be an object."""
        return [json.loads(line) for line in self.text().splitlines(True) if line.endswith("\n")]

    def frames(self, source=None):
        return [line for line in self.all() if "frame" in line and source in (None, line["source"])]

    def events(self, source=None):
        return [line["event"] for line in self.all() if "event" in line and source in (None, line["source"])]

    def usual(self):
        """Those that a webhook and an MQTT broker get where the configuration does not say which."""
        return [line for line in self.all() if line.get("event") not in ("merged", "split")]

    def states(self, source=None, everything=False):
        """Without `everything`, as if no camera had been overloaded, which depends on what else the machine does."""
        states = [(line["source"], line["state"]) for line in self.all()
                  if line.get("event") == "state" and source in (None, line["source"])]
        if everything:
            return [state for _, state in states]
        kept, last = [], {}
        for name, state in states:
            if state != "overloaded" and (state, last.get(name)) != ("playing", "playing"):
                kept.append(state)
                last[name] = state
        return kept


class Watch:
    """ccl-watch, writing to a file and to the outputs in the arguments."""

    def __init__(self, program, *words, output=True, environment=None, **options):
        self.path = folder / "lines.ndjson"
        if not options.pop("keep", False):
            self.path.unlink(missing_ok=True)
        self.lines = Lines(self.path)
        self.log_path = folder / "watch.log"
        self.log_file = open(self.log_path, "w")
        outputs = ["-o", self.path] if output else []
        self.process = subprocess.Popen(
            [str(word) for word in [program, *outputs, *words]], stderr=self.log_file, text=True,
            env={**os.environ, **(environment or {})}, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self.log_file.close()

    def log(self):
        return self.log_path.read_text()

    def wait_for_state(self, state, source=None, after=0, seconds=30):
        """Waits until the state appears behind the first `after` states; returns how many there are then."""
        def find():
            states = self.lines.states(source)
            return after + states[after:].index(state) + 1 if state in states[after:] else 0
        try:
            return wait_for(find, f"not {state}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; states {self.lines.states(source)}; {self.log()}") from None

    def finish(self, number=None, seconds=60):
        """The exit status; with a number, that signal is sent first."""
        if number:
            self.process.send_signal(number)
        return self.process.wait(timeout=seconds)

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self):
        """Resident memory in KiB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


def seconds_of(line):
    return datetime.datetime.fromisoformat(line["utc"].replace("Z", "+00:00")).timestamp()


def get(program, path):
    """Status and text that the web server of a Watch answers."""
    url = wait_for(lambda: re.search(r"web page at (http://\S+?)/?\s", program.log()), "no address")[1]
    try:
        with urllib.request.urlopen(url + path, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


def metric(program, name, **labels):
    wanted = name + "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"
    return next(float(line.split()[-1]) for line in get(program, "/metrics")[1].splitlines()
                if line.startswith(wanted))


def recording(size, seconds, key_seconds=1):
    """A video of H.264 with 25 frames per second, and a key frame every few seconds, for recorded_cameras()."""
    path = folder / f"{size} {seconds} {key_seconds}.h264"
    width, height = size.split("x")
    if not path.exists():
        subprocess.run([*f"gst-launch-1.0 -q videotestsrc pattern=ball motion=wavy num-buffers={25 * seconds} ! "
                        f"video/x-raw,format=I420,width={width},height={height},framerate=25/1 ! x264enc tune=zerolatency "
                        f"speed-preset=ultrafast key-int-max={25 * key_seconds} ! video/x-h264,stream-format=byte-stream ! "
                        "filesink".split(), f"location={path}"], check=True, timeout=120)
    return path


@contextlib.contextmanager
def recorded_cameras(n, *videos):
    """recorded-cameras.py; yields the process and its port."""
    with running(sys.executable, HERE / "recorded-cameras.py", 0, n, *videos, stdout=subprocess.PIPE,
                 stderr=subprocess.DEVNULL) as process:
        yield process, int(process.stdout.readline())


@contextlib.contextmanager
def camera(port=0, size="160x120", rate=15, video=None, **environment):
    """A camera of rtsp-camera.py; yields the process and its port."""
    words = [sys.executable, HERE / "rtsp-camera.py", port, size, rate]
    with running(*words, *([video] if video else []), stdout=subprocess.PIPE,
                 stderr=subprocess.DEVNULL, env={**os.environ, **environment}) as process:
        yield process, int(process.stdout.readline())
