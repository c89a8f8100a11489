#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that are added, changed and removed while ccl-watch runs, and its state file. Prints TAP."""
import configparser
import http.client
import os
import pathlib
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/runner"))
import served  # noqa: E402
import tap  # noqa: E402

SECRET = "hunter2secret"
video = served.video("moving", (20, True))
state = served.folder / "state.conf"
configuration = served.folder / "watch.conf"
CONFIGURATION = ("# a comment\n[cameras]\npace=true\nloop=true\n"
                 f"[camera door]\nuri={video}\n[camera yard]\nuri={video}\n")


def start(*words):
    configuration.write_text(CONFIGURATION)
    return served.Served("-c", configuration, "--web-folder", served.folder, "--web-local", *words)


def cameras(server):
    """The cameras' names with their timeouts, as far as they are set."""
    return {camera["name"]: server.get(f"/api/cameras/{camera['name']}")["settings"].get("timeout")
            for camera in server.get("/api/cameras")["cameras"]}


def change(server):
    """Adds a camera with a password, changes one, removes one; returns the expected cameras."""
    uri = f"rtsp://admin:{SECRET}@127.0.0.1:9/stream"
    tap.equal(server.request("/api/cameras/gate", "PUT", {"uri": uri, "timeout": 3})[0], 201)
    tap.equal(server.request("/api/cameras/door", "PATCH", {"timeout": 7})[0], 200)
    tap.equal(server.request("/api/cameras/yard", "DELETE")[0], 204)
    return {"door": "7", "gate": "3"}


def hang_up(server):
    messages = len(server.log)
    server.process.send_signal(signal.SIGHUP)
    served.wait_for(lambda: any("read again" in line for line in server.log[messages:]), "the message")


def survive():
    """with a state file, changes survive SIGHUP, SIGTERM and SIGKILL; the configuration file is not written"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        expected = change(server)
        tap.equal(stat.S_IMODE(state.stat().st_mode), 0o600, "mode")
        hang_up(server)
        tap.equal(cameras(server), expected, "after SIGHUP")
        server.stop(signal.SIGKILL)
    for number in signal.SIGTERM, signal.SIGKILL:
        with start("--state", state) as server:
            tap.equal(cameras(server), expected, f"before {number!r}")
            assert SECRET not in "\n".join(server.log), server.log
            server.stop(number)
    tap.equal(configuration.read_text(), CONFIGURATION)


def undone():
    """a camera that is as configured again is not in the state file, nor is one that was added and removed"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        change(server)
        server.request("/api/cameras/door", "PATCH", {"timeout": None})
        server.request("/api/cameras/gate", "DELETE")
        server.request("/api/cameras/yard", "PUT", {"uri": str(video), "pace": True, "loop": True})
        tap.equal(cameras(server), {"door": None, "yard": None})
        tap.equal(state.read_text().strip(), "")


def edited():
    """SIGHUP reads the state file again: a group that was deleted there is undone"""
    state.unlink(missing_ok=True)
    with start("--state", state) as server:
        change(server)
        state.write_text(f"[camera new]\nuri={video}\ntimeout=5\n[camera yard]\nremoved=true\n")
        hang_up(server)
        tap.equal(cameras(server), {"door": None, "new": "5"})
        state.write_text("[camera new\n")
        server.process.send_signal(signal.SIGHUP)
        served.wait_for(lambda: any("the present configuration stays" in line for line in server.log), "the message")
        tap.equal(cameras(server), {"door": None, "new": "5"})


def without_file():
    """without a state file, changes survive SIGHUP and end with the program"""
    with start() as server:
        expected = change(server)
        hang_up(server)
        tap.equal(cameras(server), expected)
    with start() as server:
        tap.equal(cameras(server), {"door": None, "yard": None})


def refused():
    """a state file that others may read and holds a password, and --check of a wrong one: status 2 and one line"""
    password = f"[camera gate]\nuri=rtsp://admin:{SECRET}@127.0.0.1:9/stream\n"
    configuration.write_text(CONFIGURATION)
    for text, mode, reason in (password, 0o644, "other users may read it"), ("[what]\n", 0o600, "no group"):
        state.write_text(text)
        state.chmod(mode)
        for words in ([], ["--check"]) if mode == 0o644 else (["--check"],):
            done = subprocess.run([served.WATCH, *words, "--http=127.0.0.1:0", "-c", configuration, "--state", state],
                                  capture_output=True, text=True, timeout=20)
            tap.equal((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            assert reason in done.stderr and SECRET not in done.stderr, done.stderr
    state.unlink()


def wrong_camera():
    """a camera of the state file whose video is gone is reported; the others run"""
    state.write_text(f"[camera gone]\nuri={served.folder}/gone.mp4\n[camera door]\nuri={video}\ntimeout=8\n")
    state.chmod(0o600)
    with start("--state", state) as server:
        tap.equal(cameras(server), {"door": "8", "yard": None})
        assert any("gone.mp4" in line for line in server.log), server.log
        server.request("/api/cameras/yard", "DELETE")
        assert "gone.mp4" in state.read_text(), "it is not forgotten"


def not_written():
    """a change that cannot be written is refused and changes nothing"""
    with start("--state", served.folder / "nowhere" / "state.conf") as server:
        for path, method, body in (("gate", "PUT", {"uri": str(video)}), ("door", "PATCH", {"timeout": 7}),
                                   ("yard", "DELETE", None)):
            status, _, answer = server.request(f"/api/cameras/{path}", method, body)
            tap.equal(status, 500, answer)
            assert b"nowhere" in answer, answer
        tap.equal(cameras(server), {"door": None, "yard": None})


def at_the_limit():
    """with as many cameras as the limit of open files allows, present ones can be changed, no other one can be added"""
    with start() as server:
        limit = 64 + 24 + 2  # for everything else, for a connection, for two cameras
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
        tap.equal(server.request("/api/cameras/door", "PATCH", {"timeout": 7})[0], 200)
        tap.equal(server.request("/api/cameras/gate", "PUT", {"uri": str(video)})[0] // 100, 4)
        tap.equal(cameras(server), {"door": "7", "yard": None})


def killed_while_writing():
    """SIGKILL at any moment: the state file is whole and has every change that was answered"""
    for _ in range(4):
        state.unlink(missing_ok=True)
        answered = []
        with start("--state", state) as server:
            killer = threading.Timer(random.uniform(0.1, 0.6), server.process.kill)
            killer.start()
            try:
                for number in range(10000):
                    status, _, _ = server.request("/api/cameras/door", "PATCH", {"timeout": number + 1})
                    tap.equal(status, 200)
                    answered.append(number + 1)
            except (OSError, http.client.HTTPException):
                pass  # it was killed, perhaps in the middle of an answer
            killer.join()
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.read_string(state.read_text() if state.exists() else "[camera door]\ntimeout=0\n")
        found = int(parsed["camera door"]["timeout"])
        last = answered[-1] if answered else 0
        assert found in (last, last + 1), f"{found} in the file, {last} was answered"


sys.exit(tap.run(survive, undone, edited, without_file, refused, wrong_camera, not_written, at_the_limit,
                 killed_while_writing))
