#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""ccl-watch notices threads that are stuck, and nothing else, and says so in states, lines and metrics. /healthz speaks of
the program alone, and stays 200.
Prints TAP.

usage: test-health.py CCL_WATCH HUNG_FILES
"""
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from watching import Watch, ball, folder, get, metric, tap, wait_for  # noqa: E402

PROGRAM, HUNG_FILES = sys.argv[1:3]
watch = functools.partial(Watch, PROGRAM, "--http", "127.0.0.1:0")
QUICK = ["-s", "ccl.min-area=20", "-s", "timeout=0.5", "-s", "retry-min=0.1", "-s", "retry-max=0.2", "-s", "stuck=1"]


def is_healthy(program):
    return get(program, "/healthz")[0] == 200


@contextlib.contextmanager
def hung_disk():
    """A video whose disk hangs as long as the second path exists, and the environment for it."""
    video, switch = folder / "hung.avi", folder / "switch"
    shutil.copy(ball(100, 20), video)
    yield video, switch, {"LD_PRELOAD": HUNG_FILES, "HUNG": str(switch)}
    switch.unlink(missing_ok=True)


def stuck_while_playing():
    """a thread that is stuck: the camera's state and the metrics say so, /healthz stays 200; it plays when the disk answers again"""
    with hung_disk() as (video, switch, environment), watch(
            f"a={video}", f"b={ball(100, 20)}", *QUICK, "-s", "pace=true", "-s", "loop=true",
            environment=environment) as program:
        program.wait_for_state("playing", "a")
        program.wait_for_state("playing", "b")
        assert is_healthy(program)
        switch.touch()
        seen = program.wait_for_state("stuck", "a")
        assert is_healthy(program)
        assert metric(program, "ccl_watch_thread_age_seconds", thread="camera a") > 1
        assert metric(program, "ccl_watch_thread_age_seconds", thread="camera b") < 1.5
        tap.equal(metric(program, "ccl_watch_camera_state", camera="a", state="stuck"), 1)
        switch.unlink()
        program.wait_for_state("playing", "a", seen)
        tap.equal(program.lines.states("b"), ["playing"], "states of the other camera")
        tap.equal(program.finish(signal.SIGTERM), 0, "exit status")


def stuck_for_ever():
    """a thread that stays stuck: at most three new ones are started, and SIGTERM ends the program"""
    with hung_disk() as (video, switch, environment):
        switch.touch()
        with watch(f"a={video}", *QUICK, "-s", "stuck=0.5", environment=environment) as program:
            wait_for(lambda: program.log().count("a new one is started") == 3, "not three new threads", 40)
            wait_for(lambda: program.lines.states("a") == ["stuck"] * 4, "the last one is not stuck")
            assert is_healthy(program)
            switch.unlink()
            program.wait_for_state("ended", "a")
            tap.equal(program.finish(), 0, "exit status")
            tap.equal(len(program.lines.frames()), 100, "frames, all of one thread")
        switch.touch()
        with watch(f"a={video}", *QUICK, environment=environment) as program:
            program.wait_for_state("stuck")
            tap.equal(program.finish(signal.SIGTERM, 8), 0, "exit status")


@contextlib.contextmanager
def named_pipe():
    pipe = folder / "pipe.avi"
    os.mkfifo(pipe)
    try:
        yield pipe
    finally:
        pipe.unlink()


def pipe_without_writer():
    """a named pipe to which nobody writes: silent, four attempts, then status 1; no thread is stuck"""
    configuration = folder / "pipe.conf"
    with named_pipe() as pipe:
        configuration.write_text("[cameras]\nretry-min=0.1\nretry-max=0.2\nstuck=1\n"
                                 f"[camera a]\nuri={pipe}\ntimeout=0.5\n[camera b]\nuri={ball(20, 20)}\n")
        with watch("-c", configuration) as program:
            program.wait_for_state("silent", "a")
            assert is_healthy(program)
            tap.equal(program.finish(), 1, "exit status")
            tap.equal(program.lines.states("a"), ["silent"], "states")
            tap.equal(program.lines.states("b"), ["playing", "ended"], "states of the other camera")


def pipe_that_stops():
    """a named pipe whose writer stops in the middle: its frames, then status 1; no thread is stuck"""
    content = ball(100, 20).read_bytes()
    with named_pipe() as pipe, watch(f"a={pipe}", *QUICK) as program, open(pipe, "wb") as writer:
        writer.write(content[:len(content) // 2])
        writer.flush()
        tap.equal(program.finish(), 1, "exit status")
        tap.equal(program.lines.states(), ["playing", "silent"], "states")
        assert len(program.lines.frames()) > 30, "half of the frames"


def full_output():
    """a file that waits for a full output is not stuck"""
    configuration = folder / "full.conf"
    configuration.write_text(f"[cameras]\nstuck=1\ntimeout=0.5\n[camera a]\nuri={ball(1000, 30)}\n"
                             "[output stdout]\nuri=-\nqueue=10\n")
    with watch("-c", configuration, output=False, stdout=subprocess.PIPE) as program:
        def count():
            return metric(program, "ccl_watch_frames_total", camera="a")
        wait_for(lambda: metric(program, "ccl_watch_output_queue_lines", output="stdout") >= 10, "the output is not full")
        time.sleep(1)
        frames = count()
        time.sleep(2.5)
        assert count() == frames < 1000, "it does not wait"
        assert metric(program, "ccl_watch_thread_age_seconds", thread="camera a") < 2
        lines = [json.loads(line) for line in program.process.stdout]
        tap.equal([line["state"] for line in lines if line.get("event") == "state"], ["playing", "ended"], "states")
        tap.equal(len([line for line in lines if "frame" in line]), 1000, "frames")
        tap.equal(program.finish(), 0, "exit status")


def hung_output():
    """an output whose disk hangs: the log and the metrics say so meanwhile, /healthz stays 200; then it goes on"""
    switch, path = folder / "switch", folder / "hung.ndjson"
    configuration = folder / "hung.conf"
    configuration.write_text(f"[camera a]\nuri={ball(100, 20)}\npace=true\nccl.min-area=20\n"
                             f"[output disk]\nuri={path}\nstuck=1\nqueue=20\n[output other]\nuri={folder}/other.ndjson\n")
    with watch("-c", configuration, output=False,
               environment={"LD_PRELOAD": HUNG_FILES, "HUNG": str(switch)}) as program:
        wait_for(lambda: is_healthy(program) and metric(program, "ccl_watch_output_lines_total", output="disk") > 5,
                 "no lines")
        switch.touch()
        wait_for(lambda: metric(program, "ccl_watch_output_connected", output="disk") == 0, "it is connected")
        tap.equal(metric(program, "ccl_watch_output_connected", output="other"), 1, "the other output")
        assert is_healthy(program)
        assert metric(program, "ccl_watch_output_oldest_line_seconds", output="disk") > 1
        wait_for(lambda: re.search("output disk: .* lines were dropped", program.log()), "dropped lines are not reported")
        assert "output disk: nothing was taken for 1 s" in program.log(), program.log()
        switch.unlink()
        tap.equal(program.finish(), 0, "exit status")
        dropped = int(re.findall("output disk: .* lines were dropped, (\\d+) since the start", program.log())[-1])
        tap.equal(len(path.read_text().splitlines()) + dropped, len((folder / "other.ndjson").read_text().splitlines()))


sys.exit(tap.run(hung_output, stuck_while_playing, stuck_for_ever, pipe_without_writer, pipe_that_stops, full_output))
