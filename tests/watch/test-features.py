#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every part of ccl-watch for some seconds: cameras that play and fail, all outputs, pictures, clips, the
web server, changes of cameras, SIGHUP, SIGTERM. It is made for the builds with sanitizers, which find
what the other tests cannot see. Prints TAP.

usage: test-features.py CCL_WATCH [KAFKA_MOCK]
"""
import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest.mock

PROGRAM, *MOCK = sys.argv[1:]
# The plugins that ccl-watch needs here. Other ones take long to load under a sanitizer, and some leak.
PLUGINS = ("app avi codectimestamper coreelements isomp4 jpeg libav playback rtp rtpmanager rtsp tcp "
           "typefindfunctions udp videoconvertscale videoparsersbad").split()
SANITIZER_REPORTS = "Sanitizer", "runtime error"


def make_plugin_folder(place):
    stock = subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.strip()
    place.mkdir()
    for name in PLUGINS:
        plugin = pathlib.Path(stock, f"libgst{name}.so")
        if plugin.exists():
            (place / plugin.name).symlink_to(plugin)


# Cameras, brokers and video makers are not instrumented: they have GStreamer as it is installed.
own = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GST_") or name == "LD_PRELOAD"}
from watching import ball, camera, folder, free_port, mosquitto, running, tap, wait_for  # noqa: E402

make_plugin_folder(folder / "plugins")
os.environ["CCL_WATCH"] = PROGRAM
import served  # noqa: E402

videos = [served.video("moving", (10, True)), ball(40, 20)]


def receive(server, received):
    """A TCP server that reads from each client."""
    with contextlib.suppress(OSError):
        while True:
            client = server.accept()[0]
            threading.Thread(target=lambda: received.append(client.recv(100)) or [*iter(lambda: client.recv(65536), b"")],
                             daemon=True).start()


def write_configuration(path, outputs, rtsp):
    path.write_text(
        f"[ccl-watch]\ndevice=cpu\ntoken={'t' * 20}\nfolder={folder}/media\nkeep-days=1\nkeep-bytes=1M\nstate={folder}/state.conf\n"
        "[cameras]\nccl.min-area=20\ntimeout=20\nretry-min=0.2\nretry-max=0.5\nclips=true\nclip-pre=0.2\nclip-post=0.2\n"
        f"[camera door]\nuri={videos[0]}\npace=true\nloop=true\nccltrack.regions=line gate 80,0 80,120\n"
        f"[camera yard]\nuri=rtsp://user:s3cret@127.0.0.1:{rtsp}/camera\nfrozen=0.5\n"
        f"[camera gate]\nuri=rtsp://127.0.0.1:9/camera\nresults=events\n"
        f"[camera short]\nuri={videos[1]}\nresults=components\nmax-fps=10\n" +
        "".join(f"[output {name}]\n{keys}\n" for name, keys in outputs.items()))
    path.chmod(0o600)


def ask(server, *paths):
    """Requests all at the same time; every answer must be one of the program's own."""
    headers = {"Authorization": f"Bearer {'t' * 20}"}
    with concurrent.futures.ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda path: server.request(path, **headers)[0], paths))
    assert all(status < 500 for status in answers), dict(zip(paths, answers))


def use_web(server):
    headers = {"Authorization": f"Bearer {'t' * 20}"}
    for _ in range(2):
        ask(server, "/", "/page.js", "/page.css", "/nothing", "/healthz", "/metrics", "/api/cameras", "/api/cameras/yard",
            "/api/events", "/api/events?kinds=motion-begin&camera=door&limit=3", "/api/outputs",
            "/api/cameras/door/counts?seconds=60&points=20", "/api/cameras/none", "/media/door/none.jpg",
            *[f"/api/cameras/door/picture?width={width}&boxes={boxes}" for width in (40, 80) for boxes in (0, 1)],
            *["/api/cameras/yard/picture?width=60"] * 8)


def change_cameras(server):
    headers = {"Authorization": f"Bearer {'t' * 20}"}
    tap.equal(server.request("/api/login", "POST", b"t" * 20)[0], 204)
    tap.equal(server.request("/api/cameras")[0], 401)
    tap.equal(server.request("/api/cameras/new", "PUT", {"uri": str(videos[0]), "pace": True}, **headers)[0], 201)
    tap.equal(server.request("/api/cameras/new", "PATCH", {"ccl.min-area": 30, "results": "events"}, **headers)[0], 200)
    tap.equal(server.request("/api/cameras/new", "PUT", {"uri": "none"}, **headers)[0], 400)
    tap.equal(server.request("/api/cameras/gate", "DELETE", **headers)[0], 204)


def environment():
    """That of ccl-watch, and the settings of its sanitizer."""
    return {**own, "GST_PLUGIN_SYSTEM_PATH_1_0": str(folder / "plugins"), "GST_REGISTRY": str(folder / "registry.bin"),
            "GST_REGISTRY_FORK": "no",  # the scanner is not instrumented
            # AddressSanitizer cannot load a C++ library, libproxy, into a program in C.
            "GIO_USE_PROXY_RESOLVER": "dummy",
            # Without this, the stack of an allocation ends in GLib, which has no frame pointers.
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":fast_unwind_on_malloc=0:malloc_context_size=16"}


def features():
    """all parts of ccl-watch, all at once; a sanitizer has nothing to report"""
    port, received = free_port(), []
    configuration = folder / "features.conf"
    with contextlib.ExitStack() as stack:
        sink = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        threading.Thread(target=receive, args=[sink, received], daemon=True).start()
        outputs = {"file": f"uri={folder}/lines.ndjson\nrotate-size=20k\nrotate-keep=2",
                   "tcp": f"uri=tcp://127.0.0.1:{sink.getsockname()[1]}"}
        if shutil.which("mosquitto"):
            stack.enter_context(mosquitto(port, folder))
            outputs["mqtt"] = f"uri=mqtt://127.0.0.1:{port}/cameras/{{camera}}"
        if MOCK:
            cluster = stack.enter_context(running(*MOCK, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            outputs["kafka"] = f"uri=kafka://{cluster.stdout.readline().strip()}/components"
        process, rtsp = stack.enter_context(camera(PASSWORD="s3cret"))
        write_configuration(configuration, outputs, rtsp)
        with unittest.mock.patch.dict(os.environ, environment()):
            # GStreamer leaks data of plugins that it loads for the first time.
            subprocess.run([PROGRAM, "--check", "-c", configuration], check=True, timeout=120, env={
                **os.environ, "ASAN_OPTIONS": os.environ["ASAN_OPTIONS"] + ":detect_leaks=0:fast_unwind_on_malloc=1"})
            server = stack.enter_context(served.Served("-c", configuration, "--web-folder", served.folder, "-o", "-"))

        def wait(condition, what):
            """Fails as soon as the program has ended, with its log."""
            try:
                wait_for(lambda: condition() or server.process.poll() is not None, what, 60)
                tap.equal(server.process.poll(), None, what)
            except AssertionError as error:
                server.stop(signal.SIGKILL)
                raise AssertionError("\n".join([str(error), *server.log])) from None

        def wait_for_state(name, state):
            wait(lambda: any(line.get("state") == state and line["source"] == name for line in server.lines),
                 f"{name} is not {state}")
        for name, state in (("door", "playing"), ("yard", "playing"), ("gate", "lost"), ("short", "ended")):
            wait_for_state(name, state)
        wait(lambda: server.events("motion-begin"), "no motion")
        use_web(server)
        change_cameras(server)
        for name in "jpg", "mp4":
            wait(lambda name=name: list((folder / "media").glob(f"*/*.{name}")), f"no {name}")
        outputs["file"] = f"uri={folder}/other.ndjson"
        del outputs["tcp"]
        write_configuration(configuration, outputs, rtsp)
        server.process.send_signal(signal.SIGHUP)
        wait(lambda: any("read again" in line for line in server.log), "the configuration is not read again")
        process.kill()
        wait_for_state("yard", "lost")
        use_web(server)
        wait(lambda: "crossed" in {line.get("event") for line in server.lines}, "no line was crossed")
        status = server.stop()
        log = "\n".join(server.log)
        assert not any(word in log for word in SANITIZER_REPORTS), log
        tap.equal(status, 0, log)
    assert received and received[0].startswith(b'{"'), received


sys.exit(tap.run(features))
