# SPDX-License-Identifier: LGPL-2.1-or-later
"""The faults of soak.py. Each is a function of the scene that does damage, repairs it and returns. It raises
an AssertionError if ccl-watch does not do what it should."""
import contextlib
import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import hostile_cameras
from watching import HERE, ball, folder, free_port, make_certificate, mosquitto, running, wait_for

RATE = 5
SIZES = ("160x120", "192x144")


class Camera:
    """A camera on a port of its own, which can be killed and started again."""

    def __init__(self, number, video=None):
        self.name = f"c{number}"
        self.port = free_port()
        self.video = [video] if video else []
        self.process = None
        self.start(SIZES[0])

    def start(self, size, **environment):
        self.process = subprocess.Popen(
            [sys.executable, HERE / "rtsp-camera.py", str(self.port), size, str(RATE), *self.video],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment})

    def kill(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


class Broker:
    """mosquitto, which can be ended and started again."""

    def __init__(self, port, stack, place, *settings):
        self.port, self.stack, self.place, self.settings = port, stack, place, settings
        self.start()

    def start(self, *settings):
        self.own_stack = self.stack.enter_context(contextlib.ExitStack())
        self.process = self.own_stack.enter_context(mosquitto(self.port, self.place, *(settings or self.settings)))

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.own_stack.close()


class SafeBroker(Broker):
    """mosquitto with TLS."""

    def __init__(self, stack):
        place = folder / "safe"
        place.mkdir()
        self.right, self.wrong = make_certificate(place, "right"), make_certificate(place, "wrong")
        super().__init__(free_port(), stack, place, *self.right)
        self.authority = place / "right.crt"


class Reader:
    """A program that reads what ccl-watch writes to a named pipe, into a file."""

    def __init__(self, stack):
        self.pipe, self.received = folder / "pipe", folder / "read.ndjson"
        os.mkfifo(self.pipe)
        file = os.open(self.pipe, os.O_RDWR)
        stack.callback(os.close, file)
        fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, 4096)
        self.process = stack.enter_context(running("cat", self.pipe, stdout=open(self.received, "w")))


class Scene:
    """What runs: ccl-watch, its cameras, its brokers and a reader; and the files that were the output's before."""

    def __init__(self, program, cameras, broker, page, safe_broker, reader, fast):
        self.program, self.cameras, self.broker, self.page = program, cameras, broker, page  # the page's port
        self.safe_broker, self.reader = safe_broker, reader
        self.fast = fast  # a file; without it, decoders are slow
        self.old_files = []

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.page}{path}", timeout=20) as answer:
            return answer.read().decode()

    def metric(self, name):
        return float(next(line for line in self.get("/metrics").splitlines() if line.startswith(name)).split()[-1])

    def metric_of_cameras(self, name):
        return [self.metric(f'{name}{{camera="{camera.name}"}}') for camera in self.cameras]

    def add_camera(self, text):
        """Adds a camera to the configuration. Returns the function that removes it."""
        configuration = folder / "soak.conf"
        before = configuration.read_text()
        configuration.write_text(before + text)
        configuration_reloaded(self)

        def remove():
            configuration.write_text(before)
            configuration_reloaded(self)
        return remove

    def wait_for_message(self, text, action):
        """Does what makes ccl-watch log the text, and waits for it."""
        count = self.program.log().count(text)
        action()
        wait_for(lambda: self.program.log().count(text) > count, f'not "{text}"', 60)

    def camera(self):
        return random.choice(self.cameras)


FAULTS, LONG_FAULTS = [], []


def fault(function):
    """Makes a function one of the faults."""
    FAULTS.append(function)
    return function


def long_fault(function):
    """Makes a function a fault that takes a minute or more: it is done once, and only in long runs."""
    LONG_FAULTS.append(function)
    return function


def next_faults(is_long):
    """All faults, in another order each time."""
    if is_long:
        yield from LONG_FAULTS
    while True:
        yield from random.sample(FAULTS, len(FAULTS))


def pause():
    time.sleep(random.uniform(0.5, 4))


@fault
def camera_killed(scene):
    camera = scene.camera()
    camera.kill()
    pause()
    camera.start(SIZES[0])


@fault
def camera_of_another_size(scene):
    camera = scene.camera()
    camera.kill()
    pause()
    camera.start(random.choice(SIZES))


@fault
def camera_sends_garbage(scene):
    camera = scene.camera()
    camera.kill()
    camera.start(SIZES[0], GARBAGE="1")
    time.sleep(3)
    pause()
    camera.kill()
    camera.start(SIZES[0])


def stopped(process):
    process.send_signal(signal.SIGSTOP)
    pause()
    process.send_signal(signal.SIGCONT)


@fault
def camera_stopped(scene):
    stopped(scene.camera().process)


def write_until_read(scene, pipe):
    """Writes a video until it was read to its end. A pipe loses what is written while its reader closes it to try again."""
    count = scene.program.log().count("camera pipe: ended")
    for _ in range(5):
        pipe.write_bytes(ball(40, 30).read_bytes())
        with contextlib.suppress(AssertionError):
            return wait_for(lambda: scene.program.log().count("camera pipe: ended") > count, "not read", 20)
    raise AssertionError("the camera has not read any of five videos from its pipe")


@fault
def pipe_as_a_file(scene):
    """A camera whose file is a named pipe without a writer is silent, and no thread is stuck; then a video comes."""
    pipe = folder / "video pipe"
    os.mkfifo(pipe)
    remove = []
    scene.wait_for_message("camera pipe: silent", lambda: remove.append(
        scene.add_camera(f"[camera pipe]\nuri={pipe}\n")))
    assert scene.get("/healthz") == "ok\n"
    write_until_read(scene, pipe)
    remove[0]()
    pipe.unlink()


@fault
def overload(scene):
    """Decoders get slow: frames are skipped, and those that are labelled stay young."""
    late = scene.metric_of_cameras("ccl_watch_late_frames_total")
    scene.fast.unlink()
    wait_for(lambda: all(now > before for now, before in
                         zip(scene.metric_of_cameras("ccl_watch_late_frames_total"), late)), "no frame is late", 60)
    pause()
    assert max(scene.metric_of_cameras("ccl_watch_backlog_seconds")) < 5
    assert max(scene.metric_of_cameras("ccl_watch_data_age_seconds")) < 10
    scene.fast.touch()


@long_fault
def long_overload(scene):
    """Decoders are slow for some time: all cameras are overloaded, and play again afterwards."""
    def have_state(state):
        return all(scene.program.lines.states(camera.name, everything=True)[-1] == state for camera in scene.cameras)
    scene.fast.unlink()
    wait_for(lambda: have_state("overloaded"), "not all cameras are overloaded", 60)
    scene.fast.touch()
    wait_for(lambda: have_state("playing"), "not all cameras play again", 60)


@fault
def broker_ended(scene):
    scene.broker.end()
    pause()
    scene.broker.start()


@fault
def broker_stopped(scene):
    stopped(scene.broker.process)


@fault
def certificate_wrong(scene):
    broker = scene.safe_broker
    broker.end()
    scene.wait_for_message("certificate verify failed", lambda: broker.start(*broker.wrong))
    pause()
    broker.end()
    scene.wait_for_message("output safe: works again", broker.start)


@fault
def reader_stopped(scene):
    process = scene.reader.process
    scene.wait_for_message("output pipe: nothing was taken", lambda: process.send_signal(signal.SIGSTOP))
    assert scene.metric('ccl_watch_output_connected{output="pipe"}') == 0
    pause()
    scene.wait_for_message("output pipe: lines are taken again", lambda: process.send_signal(signal.SIGCONT))


@long_fault
def many_messages(scene):
    """70,000 lines: more than the numbers of MQTT messages."""
    delivered = 'ccl_watch_output_lines_total{output="mqtt"}'
    start = scene.metric(delivered)
    remove = scene.add_camera(f"[camera many]\nuri={ball(9000, 3000)}\nloop=true\nresults=components\n")
    while scene.metric(delivered) < start + 70000:
        time.sleep(1)
    remove()
    wait_for(lambda: scene.metric('ccl_watch_output_queue_lines{output="mqtt"}') < 1000, "lines wait", 60)


@fault
def configuration_reloaded(scene):
    scene.program.process.send_signal(signal.SIGHUP)
    wait_for(scene.program.path.exists, "no file")


@fault
def idle_connections(scene):
    """More clients than may be connected do nothing, and the page answers."""
    with contextlib.ExitStack() as stack:
        for _ in range(random.choice((50, 600))):
            stack.enter_context(socket.create_connection(("127.0.0.1", scene.page), timeout=20))
        with urllib.request.urlopen(f"http://127.0.0.1:{scene.page}/api/cameras", timeout=20) as answer:
            cameras = json.load(answer)["cameras"]
        assert len(cameras) == len(scene.cameras), cameras
        pause()


@fault
def viewers(scene):
    """Some viewers see live pictures of every camera, and others go away before the answer."""
    paths = [f"/api/cameras/{camera.name}/picture?boxes=1&width={random.choice((160, 320, 480))}" for camera in scene.cameras]
    for path in random.sample(2 * paths, len(paths)):
        with socket.create_connection(("127.0.0.1", scene.page), timeout=20) as gone:
            gone.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{scene.page}\r\n\r\n".encode())
    for path in paths:
        with contextlib.suppress(urllib.error.HTTPError), \
                urllib.request.urlopen(f"http://127.0.0.1:{scene.page}{path}", timeout=20) as answer:
            picture = answer.read()
            assert picture[:2] == b"\xff\xd8" and picture[-2:] == b"\xff\xd9", picture[:40]


@fault
def video_viewers(scene):
    """Viewers see the cameras' own video; some do not read it, and most go away without a word."""
    with contextlib.ExitStack() as stack:
        viewers = []
        for camera in random.choices(scene.cameras, k=2 * len(scene.cameras)):
            viewer = stack.enter_context(socket.create_connection(("127.0.0.1", scene.page), timeout=20))
            viewer.sendall(f"GET /api/cameras/{camera.name}/stream HTTP/1.1\r\nHost: 127.0.0.1:{scene.page}\r\n"
                           "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                           "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
            viewers.append(viewer)
        pause()
        for viewer in random.sample(viewers, len(viewers) // 2):
            answer = viewer.recv(1 << 20)
            assert answer.startswith((b"HTTP/1.1 101 ", b"HTTP/1.1 404 ")), answer[:80]  # a camera may be away
            data = answer.partition(b"\r\n\r\n")[2]
            assert b" 404 " in answer[:13] or not data or b'{"type":"video/mp4; codecs=' in data[:40], data[:80]
        pause()


@fault
def endless_description(scene):
    """A camera whose SDP does not end: its connections end, memory stays bounded, and the page answers."""
    with hostile_cameras.HostileCamera(hostile_cameras.endless_sdp) as camera:
        remove = []
        scene.wait_for_message("64 MiB without a frame", lambda: remove.append(scene.add_camera(
            f"[camera endless]\nuri=rtsp://127.0.0.1:{camera.port}/camera\n")))
        assert scene.program.memory() < 1 << 20, scene.program.memory()
        assert scene.get("/healthz") == "ok\n"
        remove[0]()


@fault
def dripping_camera(scene):
    """A camera that answers drop by drop is silent, and no thread is stuck."""
    with hostile_cameras.HostileCamera(hostile_cameras.dripping) as camera:
        remove = []
        scene.wait_for_message("camera drip: silent", lambda: remove.append(scene.add_camera(
            f"[camera drip]\nuri=rtsp://127.0.0.1:{camera.port}/camera\ntimeout=2\nstuck=20\n")))
        pause()
        assert scene.get("/healthz") == "ok\n"
        assert "camera drip: stuck" not in scene.program.log()
        remove[0]()


@fault
def connection_between_key_frames(scene):
    """Another connection to a camera that plays begins between two key frames, and plays, too."""
    remove = []
    scene.wait_for_message("camera between: playing", lambda: remove.append(scene.add_camera(
        f"[camera between]\nuri=rtsp://127.0.0.1:{scene.camera().port}/camera\n")))
    remove[0]()


@fault
def file_renamed(scene):
    scene.old_files.append(folder / f"renamed {len(scene.old_files)}.ndjson")
    with contextlib.suppress(FileNotFoundError):
        scene.program.path.rename(scene.old_files[-1])
    configuration_reloaded(scene)
