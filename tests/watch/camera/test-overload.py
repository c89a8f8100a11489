#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch with more RTSP cameras than the machine can decode. Prints TAP.

usage: test-overload.py CCL_WATCH SLOW_DECODER
"""
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, metric, recorded_cameras, recording, seconds_of, tap, wait_for  # noqa: E402

PROGRAM, SLOW_DECODER = sys.argv[1:3]
N = 4
NAMES = [f"c{i}" for i in range(N)]


def have_state(program, state):
    return all(program.lines.states(name, everything=True)[-1:] == [state] for name in NAMES)


def measure(program, seconds):
    """Per camera, the number of lines of frames in that time, and the age of the last one by the sender's clock."""
    before = len(program.lines.all())
    time.sleep(seconds)
    now = time.time()
    counts, ages = dict.fromkeys(NAMES, 0), {}
    for line in program.lines.all()[before:]:
        if "frame" in line:
            counts[line["source"]] += 1
            if line["utc_from"] == "sender":
                ages[line["source"]] = now - seconds_of(line)
    return counts, ages


def overload():
    """twice as many cameras as can be decoded: they are overloaded, their lines stay young, all get their share"""
    videos = recording("160x120", 4, 1), recording("160x120", 8, 4)
    with recorded_cameras(N, *videos) as (server, port), Watch(
            PROGRAM, *[f"{name}=rtsp://127.0.0.1:{port}/{i}" for i, name in enumerate(NAMES)], "--http", "127.0.0.1:0",
            environment={"LD_PRELOAD": SLOW_DECODER, "FRAME_TIME": "20000"}) as program:
        wait_for(lambda: have_state(program, "overloaded"), "not all cameras are overloaded", 60)
        counts, ages = measure(program, 8)
        # Two seconds is the limit in front of the decoder. Without one, they would be eight seconds old by now.
        assert sorted(ages) == NAMES and max(ages.values()) < 5, f"the last lines are {ages} seconds old"
        assert max(counts.values()) < 4 * min(counts.values()), f"frames: {counts}"
        for name in NAMES:
            assert metric(program, "ccl_watch_late_frames_total", camera=name) > 50
            assert metric(program, "ccl_watch_backlog_seconds", camera=name) < 4
            assert metric(program, "ccl_watch_data_age_seconds", camera=name) < 8
            tap.equal(metric(program, "ccl_watch_camera_state", camera=name, state="overloaded"), 1)
        server.kill()
        wait_for(lambda: have_state(program, "lost"), "not all cameras are lost", 10)
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")


def connects():
    """the backlog of a camera that connects begins with its first packets"""
    backlogs = []
    with recorded_cameras(1, recording("160x120", 8, 4)) as (_, port), Watch(
            PROGRAM, f"c0=rtsp://127.0.0.1:{port}/0", "--http", "127.0.0.1:0") as program:
        wait_for(lambda: backlogs.append(metric(program, "ccl_watch_backlog_seconds", camera="c0")) or program.lines.frames("c0"),
                 "no line")
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")
    assert max(backlogs) < 20, f"at most {max(backlogs)} s"


sys.exit(tap.run(overload, connects))
