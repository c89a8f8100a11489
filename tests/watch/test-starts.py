#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The start of ccl-watch when something is in its way: an address that is busy, a damaged state file, another ccl-watch
with the same files. Cameras run where they can. Prints TAP.

usage: test-starts.py CCL_WATCH
"""
import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys
import time

from watching import Watch, ball, folder, get, tap, wait_for

PROGRAM = sys.argv[1]
watch = functools.partial(Watch, PROGRAM)
CAMERA = ["-s", "pace=true", "-s", "loop=true", "-s", "ccl.min-area=20"]


def camera(name="a"):
    return [f"{name}={ball(100, 20)}", *CAMERA]


def busy_address():
    """the address of the page is busy: the camera runs, and the page comes when the address is free"""
    with socket.create_server(("127.0.0.1", 0)) as other:
        with watch(*camera(), "--http", f"127.0.0.1:{other.getsockname()[1]}") as program:
            program.wait_for_state("playing")
            assert "cannot listen at 127.0.0.1" in program.log(), program.log()
            other.close()
            wait_for(lambda: "web page at" in program.log(), "no page")
            tap.equal(get(program, "/healthz"), (200, "ok\n"))
            tap.equal(program.finish(signal.SIGTERM), 0, "exit status")


def damaged_state():
    """a damaged state file gets another name, is reported, and the configured camera runs; --check only tells"""
    for number, text in enumerate((b"[camera b]\nuri=x\n[camer", b"[camera b]\n" + bytes(100), b"[output x]\nuri=-\n")):
        state = folder / f"state {number}"
        state.write_bytes(text)
        state.chmod(0o600)
        done = subprocess.run([PROGRAM, "--check", *camera(), "--state", state], capture_output=True, text=True, timeout=20)
        tap.equal((done.returncode, state.read_bytes()), (2, text))
        with watch(*camera(), "--state", state) as program:
            program.wait_for_state("playing", "a")
            aside, = folder.glob(f"state {number}.damaged-*")
            tap.equal(aside.read_bytes(), text)
            assert str(aside) in program.log() and not state.exists(), program.log()
            tap.equal(program.finish(signal.SIGTERM), 0, "exit status")


def state_is_no_file():
    """a named pipe or a folder as the state file: status 2 at once"""
    pipe, place = folder / "state pipe", folder / "state folder"
    os.mkfifo(pipe)
    place.mkdir()
    for path in pipe, place:
        done = subprocess.run([PROGRAM, *camera(), "--state", path], capture_output=True, text=True, timeout=10)
        tap.equal(done.returncode, 2)
        assert "is no regular file" in done.stderr, done.stderr


def one_state():
    """a second program with the same state file: status 1 and one line; after the first one has ended it runs"""
    state = folder / "one state"
    with watch(*camera(), "--state", state) as program:
        program.wait_for_state("playing")
        done = subprocess.run([PROGRAM, *camera(), "--state", state], capture_output=True, text=True, timeout=10)
        tap.equal(done.returncode, 1)
        assert "another ccl-watch uses this state file" in done.stderr, done.stderr
        program.finish(signal.SIGKILL)
    with watch(*camera(), "--state", state) as program:
        program.wait_for_state("playing")


def one_folder():
    """a second program with the same folder: its camera runs, it writes nothing there, and says so"""
    media = folder / "one folder"
    with watch(*camera(), "--folder", media, "--http", "127.0.0.1:0") as first:
        first.wait_for_state("playing")
        wait_for(lambda: list(media.glob("a/*.jpg")), "no picture")
        with subprocess.Popen([PROGRAM, *camera("b"), "--folder", str(media), "--http", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as second:
            while '"motion-begin"' not in second.stdout.readline():
                pass
            time.sleep(1)
            second.terminate()
            _, log = second.communicate(timeout=20)
        assert "another ccl-watch uses this folder" in log, log
        assert not list(media.glob("b/*.jpg"))


def one_output():
    """a second program with the same output file waits until the first one has ended, and says so"""
    with watch(*camera()) as first:
        first.wait_for_state("playing")
        other = folder / "second.log"
        with open(other, "w") as log, subprocess.Popen([PROGRAM, *camera("b"), "-o", str(first.path)], stderr=log) as second:
            wait_for(lambda: "another ccl-watch writes to it" in other.read_text(), "it is not told")
            tap.equal(first.lines.frames("b"), [])
            first.finish(signal.SIGTERM)
            wait_for(lambda: first.lines.frames("b"), "the second one does not write")
            second.terminate()
            tap.equal(second.wait(timeout=20), 0)


def reserved_names():
    """no camera may have the name of a file of the history"""
    for name in "events.ndjson", "Traffic.ndjson":
        done = subprocess.run([PROGRAM, "--check", *camera(name)], capture_output=True, text=True, timeout=10)
        tap.equal(done.returncode, 2)
        assert "file of the history" in done.stderr, done.stderr


def impossible_places():
    """--check refuses folders and files that cannot be made, and makes nothing"""
    file = folder / "a file"
    file.write_text("")
    for words in (["--folder", file / "x"], ["--folder", "/dev/null/x"], ["--folder", file],
                  ["--state", folder / "none" / "state"], ["-o", folder / "none" / "lines"], ["-o", folder]):
        done = subprocess.run([PROGRAM, "--check", *camera(), *words], capture_output=True, text=True, timeout=10)
        tap.equal(done.returncode, 2, f"{words} {done.stderr}")
    new = folder / "new" / "deep"
    done = subprocess.run([PROGRAM, "--check", *camera(), "--folder", new], capture_output=True, text=True, timeout=10)
    tap.equal((done.returncode, done.stderr, new.parent.exists()), (0, "", False))


def threads_take_turns():
    """no thread interrupts another one of the program; a policy that the user chose stays"""
    for chosen, expected in (os.SCHED_OTHER, os.SCHED_BATCH), (os.SCHED_IDLE, os.SCHED_IDLE):
        with watch(*camera(), preexec_fn=lambda: os.sched_setscheduler(0, chosen, os.sched_param(0))) as program:
            program.wait_for_state("playing")
            policies = set()
            for thread in os.listdir(f"/proc/{program.process.pid}/task"):
                with contextlib.suppress(ProcessLookupError):
                    policies.add(os.sched_getscheduler(int(thread)))
            tap.equal(policies, {expected})


sys.exit(tap.run(busy_address, damaged_state, state_is_no_file, one_state, one_folder, one_output, reserved_names,
                 impossible_places, threads_take_turns))
