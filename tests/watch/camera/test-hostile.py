#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that send without end, drop by drop or redirections in a circle: memory stays bounded, the state says why, and
other cameras and /healthz go on. Prints TAP.

usage: test-hostile.py CCL_WATCH
"""
import functools
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import hostile_cameras  # noqa: E402
from hostile_cameras import HostileCamera  # noqa: E402
from watching import Watch, ball, folder, get, tap, wait_for  # noqa: E402

watch = functools.partial(Watch, sys.argv[1])
QUICK = ["-s", "retry-min=0.1", "-s", "retry-max=0.2", "-s", "stuck=1", "--http", "127.0.0.1:0"]
MOST = 64 << 20
SLACK = 320 << 20  # that arrives between two checks on a busy machine, and in buffers of the kernel


def bounded(answer, scheme="rtsp", path="/camera"):
    """Returns the details of the states."""
    with HostileCamera(answer) as camera, watch(
            f"a={scheme}://127.0.0.1:{camera.port}{path}", *QUICK, "-s", "timeout=5",
            environment={"MALLOC_PERTURB_": "0"}) as program:  # which would touch all memory that is asked for
        first = 0
        start = time.monotonic()

        def has_ended():
            nonlocal first
            first = max(first, program.memory())
            return program.lines.states("a") or time.monotonic() > start + 9
        wait_for(has_ended, "no state")
        time.sleep(0.5)
        assert first < (MOST + 2 * SLACK) // 1024, f"{first} KiB of memory"
        n, m = camera.n_bytes, max(camera.n_connections, 1)
        assert n / m < MOST + SLACK, f"{n} bytes in {m} connections"
        assert get(program, "/healthz")[0] == 200
        return [line.get("detail", "") for line in program.lines.all() if line.get("event") == "state"]


def endless_sdp():
    """an SDP that does not end: the connection ends after 64 MiB"""
    assert "64 MiB" in bounded(hostile_cameras.endless_sdp)[0]


def endless_headers():
    """headers that do not end, in RTSP and in HTTP"""
    bounded(hostile_cameras.endless_headers)
    bounded(hostile_cameras.endless_http_headers, "http")


def endless_part():
    """a picture of multipart MJPEG that does not end"""
    assert "64 MiB" in bounded(hostile_cameras.endless_part, "http")[0]


def endless_playlist():
    """a playlist of HLS that does not end"""
    bounded(hostile_cameras.endless_playlist, "http", "/list.m3u8")


def redirections():
    """redirections in a circle: after ten, the camera is lost by that name"""
    with HostileCamera(hostile_cameras.redirecting) as camera, watch(
            f"a=rtsp://127.0.0.1:{camera.port}/camera", *QUICK, "-s", "timeout=5", "-s", "retry-max=30", "-s",
            "retry-min=30") as program:
        wait_for(lambda: program.lines.states("a"), "no state")
        state = program.lines.all()[0]
        assert "redirection" in state["detail"], state
        time.sleep(1.5)
        assert camera.n_connections < 30, camera.n_connections


def cameras_of_one_host():
    """redirections by HTTP are counted for each camera of a host, also for two with the same address"""
    with HostileCamera(hostile_cameras.redirecting_http) as camera, watch(
            *(f"{name}=http://127.0.0.1:{camera.port}/{name[0]}?x=1" for name in ("a", "b", "b2")), *QUICK, "-s",
            "timeout=30", "-s", "retry-max=30", "-s", "retry-min=30") as program:
        for name in "a", "b", "b2":
            wait_for(lambda: program.lines.states(name), f"no state of {name}")
        for line in program.lines.all():
            assert "redirection" in line["detail"], line
        assert camera.n_connections < 60, camera.n_connections


def dripping():
    """an answer that comes drop by drop: no thread is stuck, /healthz is 200, and the other camera plays"""
    configuration = folder / "dripping.conf"
    with HostileCamera(hostile_cameras.dripping) as camera:
        configuration.write_text("[cameras]\nretry-min=0.1\nretry-max=0.2\nstuck=4\n"
                                 f"[camera a]\nuri=rtsp://127.0.0.1:{camera.port}/camera\ntimeout=1\n"
                                 f"[camera b]\nuri={ball(200, 20)}\npace=true\nloop=true\n")
        with watch("-c", configuration, "--http", "127.0.0.1:0") as program:
            program.wait_for_state("silent", "a")
            until = time.monotonic() + 3
            while time.monotonic() < until:
                tap.equal(get(program, "/healthz")[0], 200)
                time.sleep(0.2)
            assert "stuck" not in program.lines.states("a"), program.lines.states("a")
            tap.equal(program.lines.states("b"), ["playing"])
            wait_for(lambda: camera.n_connections > 2, "no further connection")


sys.exit(tap.run(endless_sdp, endless_headers, endless_part, endless_playlist, redirections, cameras_of_one_host,
                 dripping))
